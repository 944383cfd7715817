#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The completion for bash: test_completion.py DEVX COMPLETION"""
import re
import shutil
import subprocess
import sys
import unittest

COMPLETION = sys.argv.pop(2)
from harness import DevxTest, main  # noqa: E402


@unittest.skipUnless(shutil.which("bash"), "there is no bash")
class Completion(DevxTest):
    def complete(self, line):
        script = 'source "$1"; COMP_LINE=$2 COMP_POINT=${#2}; _devx; [ ${#COMPREPLY[@]} = 0 ] || printf "%s\\n" "${COMPREPLY[@]}"'
        done = subprocess.run(["bash", "--norc", "-c", script, "x", COMPLETION, line], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=60, check=False)
        self.assertEqual(done.stderr.decode(), "", line)
        return done.stdout.decode().split()

    def test_words(self):
        cases = {
            "devx c": {"caps", "cmd", "counters"}, "devx --v": {"--version"}, "devx cmd CREATE_C": {"CREATE_CQ"},
            "devx cmd create_c": {"CREATE_CQ"}, "devx caps --d": {"--device", "--diff"}, "devx caps --diff cx": {"cx5", "cx6dx", "cx7"},
            "devx decode --opcode ALLOC_P": {"ALLOC_PD", "ALLOC_PACKET_REFORMAT_CONTEXT"}, "devx cmd U": {"UMEM", "UAR"},
            "devx cmd CREATE_CQ cq_c": {"cq_context."}, "devx cmd CREATE_CQ pa": {"pas["},
            "devx cmd CREATE_CQ cq_context.log_": {"cq_context.log_cq_size=", "cq_context.log_page_size="},
            "devx cmd CREATE_QP qpc.st=D": {"DCI"}, "devx cmd ALLOC_PD : CREATE_QP qpc.primary_address_path.rgid":
            {"qpc.primary_address_path.rgid_rip="}, "devx cmd --json --outlen 100 UMEM s": {"size="},
            "devx cmd CREATE_GENERAL_OBJECT obj_type=VIRTIO_NET_Q ob": {"obj_type=", "obj_id=", "obj."},
            "devx cmd CREATE_GENERAL_OBJECT obj_type=0xd obj.virtio_q_context.virtio_q_t": {"obj.virtio_q_context.virtio_q_type="},
            "devx cmd SET_FLOW_TABLE_ENTRY flow_context.destination[0].destination_t":
            {"flow_context.destination[0].destination_type="},
            "devx cmd QUERY_HCA_CAP op_mod=ROCE": {"ROCE_CUR", "ROCE_MAX"}, "devx frob ": set(), "devx cmd FROB x": set(),
            "devx vm --accel t": {"tcg"}, "devx vm --with ": {"rdma-core"}, "devx vm --memory ": set(),
            "devx cmd CREATE_CQ x.y.z": set(), "devx cmd CREATE_CQ cq_context.st=": {"ARMED"},
        }
        for line, want in cases.items():
            with self.subTest(line=line):
                got = set(self.complete(line))
                self.assertTrue(want <= got if line.endswith("st=") else want == got, got)

    def test_options_are_those_of_the_help(self):
        text = self.devx("help")[0].split("\n\n")[0] + "\n\n"
        for command in ("list", "caps", "cmd", "decode", "counters", "serve", "vm"):
            usage = " ".join(re.findall(rf"devx {command} (.*?)(?=\n       devx|\n\n)", text, re.S))
            self.assertEqual(set(self.complete(f"devx {command} --")), set(re.findall(r"--[a-z-]+", usage)))

    def test_what_it_offers_is_taken(self):
        """Each field of some commands, as the completion has it, is one that devx cmd sets."""
        for opcode in ("CREATE_CQ", "CREATE_TIR", "ALLOC_FLOW_COUNTER", "MODIFY_SQ", "CREATE_FLOW_GROUP"):
            queue, words = [""], []
            while queue:
                path = queue.pop()
                for word in self.complete(f"devx cmd {opcode} {path}"):
                    if word.endswith("."):
                        queue.append(word)
                    elif word.endswith("="):
                        words.append(word + "0")
            words = [w if "multicast" not in w and "rgid" not in w else w[:-1] for w in words]
            self.assertGreater(len(words), 2)
            plain = [w for w in words if not re.search(r"(toeplitz_key|ipv[46])", w)]
            self.devx("cmd", "--dry-run", opcode, *plain)


if __name__ == "__main__":
    main()
