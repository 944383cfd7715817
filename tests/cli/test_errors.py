#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Broken files, wrong usage, missing devices: what devx says and the exit code."""
import json
import os
import re
import struct
import subprocess

import mkcap
from harness import DEVX, LOOPBACK, SPEC, DevxTest, main
from mkcap import EN10MB, IPV4, IPV6, RAW

FAILED, USAGE, INPUT, PARTIAL = 1, 2, 3, 4


class Captures(DevxTest):
    def frames(self, n):
        return [mkcap.eth(mkcap.ip4("10.0.0.1", "10.0.0.2", 17, mkcap.ports(1, 2))) for _ in range(n)]

    def refused(self, path, *reason):
        out, err = self.devx("counters", path, code=INPUT)
        self.assertEqual(out, "")
        for text in (path, *reason):
            self.assertIn(text, err)
        self.assertEqual(len(err.splitlines()), 1)

    def test_no_such_file(self):
        self.refused(os.path.join(self.dir.name, "none.pcap"), "No such file")

    def test_directory(self):
        self.refused(self.dir.name, "is a directory")

    def test_empty_file(self):
        self.refused(self.write(b""), "empty")
        self.assertIn("empty", self.devx("counters", code=INPUT)[1])  # /dev/null

    def test_no_capture(self):
        self.refused(self.write(b"This is no capture at all, whatever its name says.\n" * 9), "unknown file format")

    def test_cut_in_the_file_header(self):
        self.refused(self.write(mkcap.pcap(EN10MB, [])[:20]), "truncated")

    def test_cut_in_the_first_frame(self):
        self.refused(self.write(mkcap.pcap(EN10MB, self.frames(1))[:-1]), "truncated")

    def test_unknown_link_type(self):
        self.refused(self.write(mkcap.pcap(127, [bytes(40)])), "link type", "127")

    def test_pcapng_of_mixed_link_types(self):
        path = self.write(mkcap.pcapng([EN10MB, RAW], [(0, self.frames(1)[0])]))
        self.refused(path, "interface")

    def test_cut_later(self):
        path = self.write(mkcap.pcap(EN10MB, self.frames(7))[:-5])
        out, err = self.devx("counters", path, code=PARTIAL)
        self.assertIn("6 frames, broken off", out)
        self.assertIn("Total: 1 flows (1 shown), 6 packets, 372 bytes", out)
        self.assertIn(f"{path}: broken off after 6 frames, which were counted: truncated", err)
        result, flows = self.counters(path, code=PARTIAL)
        self.assertEqual(flows, {(17, "10.0.0.1", 1, "10.0.0.2", 2): [6, 372]})
        self.assertFalse(result["capture"]["complete"])
        self.assertIn("truncated", result["capture"]["error"])

    def test_nonsense_in_the_middle(self):
        data = mkcap.pcap(EN10MB, self.frames(3)) + struct.pack("<IIII", 0, 0, 0x7FFFFFFF, 60) + bytes(100)
        _, err = self.devx("counters", self.write(data), code=PARTIAL)
        self.assertIn("broken off after 3 frames", err)

    def test_no_frames(self):
        result, flows = self.counters(self.write(mkcap.pcap(EN10MB, [])))
        self.assertEqual((flows, result["capture"]["frames"], result["queries"]["count"]), ({}, 0, 0))
        out, _ = self.devx("counters", self.write(mkcap.pcap(EN10MB, [])))
        self.assertIn("Total: 0 flows (0 shown), 0 packets, 0 bytes", out)
        self.assertNotIn("p50", out)

    def test_no_ip(self):
        frames = [mkcap.eth(bytes(46), kind=kind) for kind in (0x0806, 0x88CC, 0x8863, 100)] + [b"", b"x", bytes(13)]
        result, flows = self.counters(self.write(mkcap.pcap(EN10MB, frames)))
        self.assertEqual((flows, result["capture"]["non_ip"]), ({}, 7))

    def test_wrong_ip_headers(self):
        good4 = mkcap.ip4("10.0.0.1", "10.0.0.2", 17, mkcap.ports(1, 2))
        good6 = mkcap.ip6("2001:db8::1", "2001:db8::2", 17, mkcap.ports(1, 2))
        wrong = [good4[:19], b"\x44" + good4[1:], b"\x65" + good4[1:], good4[:2] + b"\x00\x13" + good4[4:], b""]
        result, flows = self.counters(self.write(mkcap.pcap(IPV4, wrong + [good4])))
        self.assertEqual((result["capture"]["malformed_ip"], len(flows)), (5, 1))
        result, flows = self.counters(self.write(mkcap.pcap(IPV6, [good6[:39], b"\x45" + good6[1:], good6])))
        self.assertEqual((result["capture"]["malformed_ip"], len(flows)), (2, 1))

    def test_name_that_is_no_utf8(self):
        path = os.path.join(os.fsencode(self.dir.name), b"\xff\xfe.pcap")
        with open(path, "wb") as f:
            f.write(mkcap.pcap(EN10MB, self.frames(2)))
        out, _ = self.devx("counters", "--json", path)
        self.assertTrue(json.loads(out)["capture"]["file"].endswith("??.pcap"))


class Usage(DevxTest):
    def test_wrong_usage(self):
        cases = {
            (): "usage:", ("frobnicate",): "frobnicate", ("counters", "--frob"): "--frob", ("list", "--frob"): "--frob",
            ("list", "extra"): "extra", ("counters", LOOPBACK, "extra"): "extra", ("counters", "--top"): "--top",
            ("counters", "--json=yes", LOOPBACK): "--json", ("counters", "--watch", "--json", LOOPBACK): "exclude",
            ("counters", "--watch", LOOPBACK): "terminal",
        }
        for value in ("0", "65537", "-1", "4x", "", " 4", "99999999999999999999"):
            cases["counters", "--in-flight", value, LOOPBACK] = "--in-flight"
        for value in ("-1", "4294967296", "ten", "+3", ""):
            cases["counters", "--top", value, LOOPBACK] = "--top"
        for args, text in cases.items():
            with self.subTest(args=args):
                out, err = self.devx(*args, code=USAGE)
                self.assertEqual(out, "")
                self.assertIn(text, err)

    def test_help(self):
        outs = {self.devx(*args)[0] for args in (("help",), ("--help",), ("-h",), ("cmd", "--help"), ("list", "-h"))}
        self.assertEqual(len(outs), 1)
        out = outs.pop()
        for text in ("list", "counters", "--device", "--in-flight", "--top", "--json", "--watch", "--version", "OPENDEVX_SOFT"):
            self.assertIn(text, out)
        for code in range(5):
            self.assertRegex(out, rf"[: ]{code} [a-z]")

    def test_version(self):
        out, _ = self.devx("--version")
        self.assertRegex(out, r"^devx \d+\.\d+\.\d+ \(library \d+\.\d+\.\d+\)\n$")

    def test_output_that_cannot_be_written(self):
        for args in (("counters", LOOPBACK), ("counters", "--json", LOOPBACK), ("list",), ("list", "--json"), ("--help",),
                     ("--version",)):
            with open("/dev/full", "wb") as full:
                done = subprocess.run([DEVX, *args], env=dict(os.environ, OPENDEVX_SOFT=SPEC), stdout=full,
                                      stderr=subprocess.PIPE, timeout=60, check=False)
            self.assertEqual(done.returncode, FAILED, args)
            self.assertIn(b"cannot write", done.stderr)


class Devices(DevxTest):
    def test_off(self):
        out, err = self.devx("counters", LOOPBACK, code=FAILED, soft="off")
        self.assertEqual(out, "")
        self.assertIn("no software device", err)
        self.assertIn("OPENDEVX_SOFT", err)

    def test_bad_spec(self):
        _, err = self.devx("counters", LOOPBACK, code=FAILED, soft="profile=cx7,frob=1")
        self.assertIn("frob", err)
        self.assertIn("13", err, "the position of the word")
        self.assertIn("no software device", err)

    def test_manual_clock(self):
        _, err = self.devx("counters", LOOPBACK, code=FAILED, soft="clock=manual")
        self.assertIn("clock=manual", err)

    def test_device_by_name(self):
        out, _ = self.devx("counters", "--device", "mlx5_soft0", LOOPBACK)
        self.assertRegex(out, r"^Device: software device mlx5_soft0 \(profile=cx7,.*seed=7\)\n")
        _, err = self.devx("counters", "--device", "mlx5_9", LOOPBACK, code=FAILED)
        self.assertIn("mlx5_9", err)

    def test_every_profile(self):
        for profile in ("cx5", "cx6dx", "cx7", "bf3"):
            result, _ = self.counters(LOOPBACK, soft=f"profile={profile},seed=99")
            self.assertEqual(result["device"]["name"], "mlx5_soft0")
            self.assertEqual(result["device"]["kind"], "software")
            self.assertRegex(result["device"]["spec"], rf"profile={profile},.*seed=99")

    def test_nobody_asked_is_said(self):
        env = {k: v for k, v in os.environ.items() if k != "OPENDEVX_SOFT"}
        if os.path.isdir("/sys/class/infiniband") and os.listdir("/sys/class/infiniband"):
            self.skipTest("the machine has devices of its own")
        done = subprocess.run([DEVX, "counters", LOOPBACK], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60,
                              check=True)
        self.assertIn(b"software device mlx5_soft0", done.stdout)
        self.assertEqual(len(done.stderr.splitlines()), 1)

    def test_list(self):
        out, _ = self.devx("list")
        line = next(line for line in out.splitlines() if line.startswith("mlx5_soft0"))
        self.assertRegex(line, r"software ConnectX.*profile=cx7,.*seed 7$")
        out, _ = self.devx("list", "--json")
        soft = [d for d in json.loads(out)["devices"] if d["kind"] == "software"]
        self.assertEqual(len(soft), 1)
        self.assertEqual((soft[0]["name"], soft[0]["seed"]), ("mlx5_soft0", "7"))
        self.assertIn("profile=cx7", soft[0]["spec"])
        self.assertTrue(re.fullmatch(r"([0-9a-f]{4}:){3}[0-9a-f]{4}", soft[0]["node_guid"]))

    def test_list_off(self):
        out, _ = self.devx("list", soft="off")
        self.assertNotIn("software", out)
        out, _ = self.devx("list", "--json", soft="off")
        self.assertEqual([d for d in json.loads(out)["devices"] if d["kind"] == "software"], [])


if __name__ == "__main__":
    main()
