#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The counters of devx against tshark's reading of the same file, and against what a generated file was made of."""
import collections
import os
import shutil
import struct
import sys
import unittest

import mkcap
import reference
from harness import LOOPBACK, DevxTest, main
from mkcap import EN10MB, IPV4, IPV6, LOOP, NULL, RAW, SLL, SLL2


class AgainstTshark(DevxTest):
    def equal(self, path, *args, soft="seed=7"):
        result, flows = self.counters(path, *args, soft=soft)
        expected, others = reference.count(path)
        self.assertTrue(expected)
        self.maxDiff = None
        self.assertEqual(flows, expected)
        self.assertEqual((result["capture"]["non_ip"], result["capture"]["malformed_ip"]), (others, 0))
        return result

    def test_loopback(self):
        result = self.equal(LOOPBACK)
        protocols = {(f["protocol"], f["ip_version"]) for f in result["top"]}
        self.assertEqual(protocols, {("tcp", 4), ("tcp", 6), ("udp", 4), ("udp", 6), ("icmp", 4), ("icmpv6", 6)})

    def test_latency_jitter_reorder(self):
        self.equal(LOOPBACK, "--in-flight", "1", soft="latency=20us,jitter=5us,reorder,seed=7")

    def test_inline(self):
        self.equal(LOOPBACK, soft="inline")

    def test_ethernet_with_tags_and_others(self):
        frames = []
        for i, packet in enumerate(mkcap.mixed(1, 3000)):
            tags = ((), ((0x8100, 5),), ((0x88A8, 7), (0x8100, 5)), ((0x9100, 7), (0x8100, 5)))[i % 4]
            frames.append(mkcap.eth(packet, tags))
            if i % 50 == 0:
                frames.append(mkcap.eth(bytes.fromhex("0001080006040001") + bytes(20), kind=0x0806))
                frames.append(mkcap.eth(bytes(40), kind=0x88CC))
        # SNAP, padding after a short packet, and a frame of which only the first 60 bytes were captured.
        packet = mkcap.ip4("10.9.0.1", "10.9.0.2", 17, mkcap.ports(5, 6))
        frames.append(mkcap.eth(b"\xaa\xaa\x03\x00\x00\x00\x08\x00" + packet, kind=8 + len(packet)))
        frames.append(mkcap.eth(mkcap.ip4("10.9.0.1", "10.9.0.2", 17, b"") + bytes(26)))
        frames.append((mkcap.eth(packet)[:46], 1514))
        result = self.equal(self.write(mkcap.pcap(EN10MB, frames)))
        self.assertGreater(result["capture"]["non_ip"], 100)
        self.assertGreater(result["flows"], 128, "one bulk of the smallest size must not do")
        self.assertEqual(result["capture"]["link_type"], "EN10MB")

    def test_big_endian_file(self):
        frames = [mkcap.eth(p) for p in mkcap.mixed(2, 300)]
        self.equal(self.write(mkcap.pcap(EN10MB, frames, order=">")))

    def test_link_types(self):
        for dlt in (RAW, IPV4, IPV6, SLL, SLL2, NULL, LOOP):
            with self.subTest(dlt=dlt):
                packets = mkcap.mixed(dlt, 400, four=dlt != IPV6, six=dlt != IPV4)
                self.equal(self.write(mkcap.pcap(dlt, [mkcap.link(dlt, p) for p in packets])))

    def test_null_of_a_big_endian_machine(self):
        frames = [mkcap.link(NULL, p, big_endian=True) for p in mkcap.mixed(3, 200)]
        self.equal(self.write(mkcap.pcap(NULL, frames, order=">")))

    def test_pcapng(self):
        frames = [(i % 2, mkcap.eth(p)) for i, p in enumerate(mkcap.mixed(4, 500))]
        self.equal(self.write(mkcap.pcapng([EN10MB, EN10MB], frames)))


class AgainstTheMaker(DevxTest):
    """Files with many flows: the generator knows what it made."""

    def many(self, flows):
        expected = collections.Counter()
        frames = []
        for i in range(flows):
            src = "10.%d.%d.%d" % struct.unpack("BBB", struct.pack("!I", i)[1:])
            packet = mkcap.ip4(src, "192.0.2.1", 17, mkcap.ports(1000 + i % 7, 53, size=i % 5))
            for _ in range(1 + (i % 100 == 0)):
                frames.append(packet)
                expected[(17, src, 1000 + i % 7, "192.0.2.1", 53)] += 1
        sizes = {flow: 28 + i % 5 for i, flow in enumerate(expected)}
        return self.write(mkcap.pcap(RAW, frames)), {f: [n, n * sizes[f]] for f, n in expected.items()}

    def test_several_bulks_and_queries(self):
        path, expected = self.many(3000)
        for in_flight in (1, 4, 31):
            result, flows = self.counters(path, "--in-flight", str(in_flight))
            self.assertEqual(flows, expected)
            # Bulks of 128, 128, 256, 512, 1024, and 952 of 2048 counters; 3000 / 16 + 1 = 188 counters a query.
            self.assertEqual(result["queries"]["count"], 1 + 1 + 2 + 3 + 6 + 6)
            self.assertEqual(result["queries"]["in_flight"], in_flight)
            self.assertGreater(result["queries"]["p50_ns"], 0)
            self.assertGreaterEqual(result["queries"]["p99_ns"], result["queries"]["p50_ns"])

    def test_more_queries_than_the_budget_holds(self):
        # 127 queries of 8,208 bytes fit into 1 MiB; these are more, all of them allowed in flight.
        path, expected = self.many(70000)
        result, flows = self.counters(path, "--in-flight", "1000", soft="seed=7")
        self.assertEqual(flows, expected)
        self.assertGreater(result["queries"]["count"], 137)

    def test_control_lines_of_no_device(self):
        """They are of a device of the kernel: the software device's counters are never told to another one."""
        if os.path.isdir("/sys/class/infiniband_verbs") and os.listdir("/sys/class/infiniband_verbs"):
            self.skipTest("there is a device")
        path, _ = self.many(10)
        self.assertIn("there is none", self.devx("counters", "--control", os.path.join(self.dir.name, "c"), path, code=1)[1])

    def test_top(self):
        path, expected = self.many(500)
        out, _ = self.devx("counters", "--top", "3", path)
        rows = [line for line in out.splitlines() if " UDP " in line]
        # 10.0.x.0 and 10.0.x.100, ... come twice; the largest of them first, ties in the order of the file.
        self.assertEqual([line.split() for line in rows],
                         [["2", "56", "UDP", f"10.0.{i >> 8}.{i & 255}:{1000 + i % 7}", ">", "192.0.2.1:53"] for i in (0, 100, 200)])
        total = sum(v[1] for v in expected.values())
        self.assertIn(f"Total: 500 flows (3 shown), 505 packets, {total} bytes", out)
        out, _ = self.devx("counters", "--top", "0", path)
        self.assertNotIn("UDP", out)

    def test_standard_input(self):
        path, expected = self.many(10)
        for args in ((), ("-",)):
            with open(path, "rb") as f:
                out, _ = self.devx("counters", *args, stdin=f)
            self.assertIn(f"Total: 10 flows (10 shown), 11 packets, {sum(v[1] for v in expected.values())} bytes", out)

    def test_wire_length_counts(self):
        packet = mkcap.ip4("10.0.0.1", "10.0.0.2", 6, mkcap.ports(1, 2, 6))
        _, flows = self.counters(self.write(mkcap.pcap(RAW, [(packet[:24], 0xFFFFFFFF), (packet[:22], 9000), (packet[:24], 3)])))
        self.assertEqual(flows, {(6, "10.0.0.1", 1, "10.0.0.2", 2): [2, 0xFFFFFFFF + 3], (6, "10.0.0.1", 0, "10.0.0.2", 0): [1, 9000]})


if __name__ == "__main__":
    if not shutil.which("tshark"):
        print("tshark is not there")
        sys.exit(77)
    main()
