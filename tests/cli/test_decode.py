#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""devx decode: real boxes in every form, and nonsense."""
import json
import os
import random
import subprocess

from harness import DEVX, DevxTest, main

OK, FAILED, USAGE, INPUT = range(4)


def words(*values):
    return b"".join(v.to_bytes(4, "big") for v in values)


# ALLOC_FLOW_COUNTER of a bulk of 256, and its outbox.
ALLOC = words(0x09390003, 0, 0, 0x02)
ALLOCATED = words(0, 0, 0x100, 0)
REFUSED = words(0x0F000000, 0x000D0302, 0, 0)


class Decode(DevxTest):
    def decode(self, data, *args, code=OK):
        path = self.write(data if isinstance(data, bytes) else data.encode(), "box")
        return self.devx("decode", *args, path, code=code)

    def test_forms(self):
        want, _ = self.decode(ALLOC.hex(), "--in")
        self.assertTrue(want.startswith("ALLOC_FLOW_COUNTER (0x939) inbox, 16 bytes\n  opcode = 0x939 (ALLOC_FLOW_COUNTER)\n"))
        self.assertIn("\n  flow_counter_bulk = 2 (BULK_256)\n", want)
        text = ", ".join(f"0x{b:02x}" for b in ALLOC)
        for form in (ALLOC, text, "__u8 in[16] = { " + text + " };", "00000000: " + ALLOC.hex(" ", 2) + "  ................",
                     ", ".join("0x" + ALLOC[i:i + 4].hex() for i in range(0, 16, 4))):
            with self.subTest(form=form):
                out, err = self.decode(form)
                self.assertEqual(out, want)
                self.assertIn("taken as " + ("binary" if form is ALLOC else "hex"), err)
                self.assertIn("an inbox", err)
        _, err = self.decode(ALLOC, "--binary", "--in")
        self.assertEqual(err, "")

    def test_standard_input(self):
        done = subprocess.run([DEVX, "decode"], input=ALLOC.hex().encode(), stdout=subprocess.PIPE, check=True,
                              stderr=subprocess.DEVNULL, timeout=60)
        self.assertIn(b"flow_counter_bulk", done.stdout)

    def test_outbox(self):
        out, err = self.decode(ALLOCATED.hex())
        self.assertTrue(out.startswith("outbox of an unknown command, 16 bytes: OK\n"))
        self.assertIn("an outbox", err)
        for opcode in ("ALLOC_FLOW_COUNTER", "alloc_flow_counter", "0x939", "2361"):
            out, _ = self.decode(ALLOCATED.hex(), "--opcode", opcode)
            self.assertIn("\n  flow_counter_id = 0x100 (256)\n", out)
        out, _ = self.decode(REFUSED.hex(), "--opcode", "ALLOC_FLOW_COUNTER")
        self.assertIn("outbox, 16 bytes: no resources, errno EAGAIN\n", out)
        self.assertIn("\n  syndrome = 0xd0302 (no flow counters are left)\n", out)
        # A status that reads as an opcode too: 0x0500 is CREATE_QP.
        out, err = self.decode(words(0x05000000, 0x000D0100, 0, 0).hex())
        self.assertIn("bad resource, errno EINVAL\n", out)
        self.assertIn("an outbox", err)
        out, _ = self.decode(words(0x05000000, 0, 0, 0).hex())
        self.assertTrue(out.startswith("CREATE_QP"))

    def test_capability_page(self):
        page = bytearray(16 + 4096)
        page[16 + 4 * 4] = 15
        out, _ = self.decode(bytes(page), "--out", "--opcode", "QUERY_HCA_CAP", "--op-mod", "GENERAL_CUR")
        self.assertIn("\n  capability.cmd_hca_cap.log_max_srq_sz = 0xf (15)\n", out)

    def test_undefined_bits_and_tail(self):
        out, _ = self.decode((ALLOC[:8] + words(0x80000000) + ALLOC[12:] + b"\x01\x02").hex())
        self.assertIn("\n  not defined, dword at 0x0008: 0x80000000\n", out)
        self.assertIn("\n  not described, from 0x0010 on, 2 bytes:\n    0x0010: 0102\n", out)

    def test_all(self):
        few, _ = self.decode(words(0x04000000).hex() + "00" * 300, "--in")
        many, _ = self.decode(words(0x04000000).hex() + "00" * 300, "--in", "--all")
        self.assertIn("fields that are 0 are left out", few)
        self.assertIn("cq_context.log_cq_size = 0\n", many)
        self.assertNotIn("left out", many)

    def test_json(self):
        out, err = self.decode(REFUSED.hex(), "--json", "--opcode", "ALLOC_FLOW_COUNTER")
        box = json.loads(out)
        self.assertEqual(err, "")
        self.assertEqual((box["command"], box["opcode"], box["box"], box["length"]), ("ALLOC_FLOW_COUNTER", "0x939", "out", 16))
        self.assertEqual((box["status"], box["errno"], box["syndrome"]), ("no resources", "EAGAIN", "no flow counters are left"))
        self.assertEqual(box["fields"]["status"], {"value": 15, "name": "NO_RES_ERR"})
        self.assertEqual((box["encoding"], box["guessed"]), ("hex", True))
        qp = json.loads(self.decode(words(0x05000000).hex() + "00" * 300 + "ff", "--json", "--in")[0])
        self.assertEqual(qp["fields"]["qpc"]["primary_address_path"]["rgid_rip"], "0x" + "00" * 16)
        self.assertEqual(qp["fields"]["pas"][3], 0)
        self.assertEqual(qp["tail"], [{"offset": 304, "bytes": "0xff"}])

    def test_layout(self):
        eqe = bytearray(64)
        eqe[1], eqe[3] = 9, 4
        eqe[32 + 8] = 0x10
        out, err = self.decode(bytes(eqe), "--layout", "eqe")
        self.assertIn("taken as binary\n", err)
        self.assertTrue(out.startswith("eqe, 64 bytes\n  event_type = 9 (PORT_CHANGE)\n"))
        self.assertIn("\n  event_data.port_state_change_event.port_num = 1\n", out)
        event = json.loads(self.decode(eqe.hex(), "--layout", "eqe", "--json")[0])
        self.assertEqual((event["layout"], event["fields"]["event_type"]["name"]), ("eqe", "PORT_CHANGE"))
        for args, text in ((("--layout", "ege"), "eqe"), (("--layout", "eqe", "--in"), "excludes"), (("--layout",), "no layout"),
                           (("--in", "--out"), "exclude"), (("--binary", "--hex"), "exclude")):
            self.assertIn(text, self.decode(bytes(eqe), *args, code=USAGE)[1])

    def test_syndromes(self):
        table = self.write(b"# mine\n0x0d0302\tthe counters went for a walk\n", "table")
        out, _ = self.decode(REFUSED.hex(), "--out", "--syndromes", table)
        self.assertIn("(the counters went for a walk)", out)
        bad = self.write(b"0x0d0302 fine\nnonsense\n", "bad")
        _, err = self.decode(REFUSED.hex(), "--syndromes", bad, code=USAGE)
        self.assertIn(f"{bad}:2: ", err)
        _, err = self.decode(REFUSED.hex(), "--syndromes", os.path.join(self.dir.name, "none"), code=USAGE)
        self.assertIn("No such file", err)

    def test_wrong_usage(self):
        cases = {("--opcode", "CREATE_CP"): "CREATE_CQ", ("--opcode", "0x10000"): "no opcode", ("--opcode", ""): "no opcode",
                 ("--op-mod", "1"): "--opcode", ("--opcode", "QUERY_HCA_CAP", "--op-mod", "FROB"): "FROB",
                 ("--opcode", "QUERY_HCA_CAP", "--op-mod", "GENERAL"): "GENERAL_CUR",
                 ("--opcode", "-1"): "no opcode", ("--frob",): "--frob", ("more",): "one too many"}
        for args, text in cases.items():
            with self.subTest(args=args):
                out, err = self.decode(ALLOC.hex(), *args, code=USAGE)
                self.assertEqual(out, "")
                self.assertIn(text, err)

    def test_nonsense(self):
        for data, text in ((b"", "nothing in it"), (b"hello, world\n", ":1: "), (b"04 00\n04 0x\n", ":"), (b"0400 0\n", "odd"),
                           (bytes(70000), "65535"), (b"00" * 70000, "more bytes"), (b" " * 2000000, "too large")):
            out, err = self.decode(data, code=INPUT)
            self.assertEqual(out, "")
            self.assertIn(text, err)
            self.assertEqual(len(err.splitlines()), 1)
        self.devx("decode", self.dir.name, code=INPUT)
        self.devx("decode", os.path.join(self.dir.name, "none"), code=INPUT)

    def test_any_bytes(self):
        """Whatever the bytes are, they are shown, and the JSON is JSON."""
        dice = random.Random(7)
        for _ in range(20):
            data = dice.randbytes(dice.choice([1, 2, 15, 16, 17, 100, 700, 5000]))
            if dice.random() < 0.7:
                data = dice.choice([0x100, 0x200, 0x400, 0x500, 0x936, 0xA00, 0xA01, 0x907, 0x940]).to_bytes(2, "big") + data
            for args in ((), ("--out", "--opcode", "QUERY_HCA_CAP", "--op-mod", str(dice.randrange(90))), ("--all",)):
                self.decode(data, "--binary", *args)
            box = json.loads(self.decode(data, "--binary", "--json")[0])
            self.assertEqual(box["length"], len(data))

    def test_output_that_cannot_be_written(self):
        path = self.write(ALLOC.hex().encode())
        for args in ((), ("--json",)):
            with open("/dev/full", "wb") as full:
                done = subprocess.run([DEVX, "decode", *args, path], stdout=full, stderr=subprocess.PIPE, timeout=60, check=False)
            self.assertEqual(done.returncode, FAILED)
            self.assertIn(b"cannot write", done.stderr)


if __name__ == "__main__":
    main()
