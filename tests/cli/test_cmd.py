#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""devx cmd and devx caps: commands by name on a software device, chains of them, and nonsense."""
import json
import os
import random
import subprocess

from harness import DEVX, SPEC, DevxTest, main

OK, FAILED, USAGE, INPUT = range(4)
# A CQ and what it needs: a PD, memory, an EQ.
CQ = ("UMEM", "size=65536", ":", "EQN", ":", "CREATE_CQ", "cq_context.log_cq_size=4", "cq_context.c_eqn_or_apu_element=$2.eqn",
      "cq_umem_id=$1.umem_id", "cq_context.dbr_umem_valid=1", "cq_context.dbr_umem_id=$1.umem_id", "cq_context.dbr_addr=0x8000")


class Cmd(DevxTest):
    def steps(self, *words, code=OK):
        out, _ = self.devx("cmd", "--json", *words, code=code)
        return json.loads(out)["steps"]

    def test_text(self):
        out, err = self.devx("cmd", "ALLOC_PD")
        self.assertEqual(err, "")
        self.assertRegex(out, r"^ALLOC_PD \(0x800\) outbox, 16 bytes: OK\n  status = 0 \(OK\)\n  syndrome = 0\n  pd = \d+\n$")
        for name in ("alloc_pd", "0x800", "2048"):
            self.assertEqual(self.devx("cmd", name)[0], out)

    def test_general(self):
        adapter = self.steps("QUERY_ADAPTER")[0]["fields"]["query_adapter_struct"]
        self.assertEqual(adapter["vsd_vendor_id"], 0x15B3)
        page = self.steps("QUERY_HCA_CAP", "op_mod=ROCE_CUR")[0]["fields"]["capability"]["roce_cap"]
        self.assertEqual(page["r_roce_dest_udp_port"], 4791)

    def test_chain(self):
        steps = self.steps(*CQ, ":", "QUERY_CQ", "cqn=$3.cqn", ":", "MODIFY_CQ", "cqn=$3.cqn",
                           "modify_field_select_resize_field_select.modify_field_select.modify_field_select=CQ_PERIOD|CQ_MAX_COUNT",
                           "cq_context.cq_period=17", "cq_context.cq_max_count=5", ":", "QUERY_CQ", "cqn=$3.cqn", ":",
                           "DESTROY_CQ", "cqn=$3.cqn")
        self.assertEqual([s["command"] for s in steps],
                         ["UMEM", "EQN", "CREATE_CQ", "QUERY_CQ", "MODIFY_CQ", "QUERY_CQ", "DESTROY_CQ"])
        before, after = (steps[i]["fields"]["cq_context"] for i in (3, 5))
        self.assertEqual(before["log_cq_size"], 4)
        self.assertEqual(before["dbr_umem_id"], steps[0]["fields"]["umem_id"])
        self.assertEqual((before["cq_period"], before["cq_max_count"]), (0, 0))
        self.assertEqual((after["cq_period"], after["cq_max_count"]), (17, 5))

    def test_range_of_counters(self):
        """A query goes to the bulk that has the id, not to the newest one."""
        out = self.steps("ALLOC_FLOW_COUNTER", "flow_counter_bulk=BULK_128", ":", "ALLOC_FLOW_COUNTER", ":",
                         "QUERY_FLOW_COUNTER", "num_of_counters=2", "flow_counter_id=$1.flow_counter_id")
        self.assertEqual(out[2]["status"], "OK")
        self.steps("ALLOC_FLOW_COUNTER", ":", "QUERY_FLOW_COUNTER", "flow_counter_id=0xfffff", code=FAILED)

    def test_ids_that_are_there_twice(self):
        """A destroy goes to the entry of its table, and to the group of its address, not to the newest of that id."""
        table, drop = ("CREATE_FLOW_TABLE", "flow_table_context.log_size=4", ":"), "flow_context.action=DROP"
        out = self.steps(*table, *table, "CREATE_FLOW_GROUP", "table_id=$1.table_id", ":", "CREATE_FLOW_GROUP", "table_id=$2.table_id", ":",
                         "SET_FLOW_TABLE_ENTRY", "table_id=$1.table_id", drop, "flow_context.group_id=$3.group_id", ":",
                         "SET_FLOW_TABLE_ENTRY", "table_id=$2.table_id", drop, "flow_context.group_id=$4.group_id", ":",
                         "DELETE_FLOW_TABLE_ENTRY", "table_id=$1.table_id", ":",
                         "QUERY_FLOW_TABLE_ENTRY", "table_id=$2.table_id")
        self.assertEqual(out[7]["status"], "OK")
        qp = ("UAR", ":", "CREATE_QP", "qpc.st=UD", "qpc.pd=$4.pd", "qpc.uar_page=$5.page_id", "qpc.cqn_rcv=$3.cqn", "qpc.cqn_snd=$3.cqn",
              "qpc.rq_type=ZERO_LEN_RQ", "qpc.log_sq_size=2", "wq_umem_id=$1.umem_id", "qpc.dbr_umem_id=$1.umem_id", "qpc.dbr_umem_valid=1")
        gid = "multicast_gid=ff0e" + 27 * "0"
        attach = [word for n in "12" for word in (":", "ATTACH_TO_MCG", "qpn=$6.qpn", gid + n)]
        detach = [word for n in "12" for word in (":", "DETACH_FROM_MCG", "qpn=$6.qpn", gid + n)]
        self.assertEqual(len(self.steps(*CQ, ":", "ALLOC_PD", ":", *qp, *attach, *detach)), 10)
        self.steps(*CQ, ":", "ALLOC_PD", ":", *qp, *attach, *detach[:4], *detach[:4], code=FAILED)

    def test_reference_with_a_shift(self):
        """An mkey is its index and a byte of the program's own."""
        mkc = "memory_key_mkey_entry."
        mkey = ("CREATE_MKEY", mkc + "access_mode_1_0=MTT", mkc + "lw=1", mkc + "lr=1", mkc + "pd=$2.pd", mkc + "qpn=0xffffff",
                mkc + "len=8192", mkc + "log_page_size=12", mkc + "translations_octword_size=1", "translations_octword_actual_size=1",
                "mkey_umem_id=$1.umem_id", ":")
        queue = [f"obj.virtio_q_context.{word}" for word in (
            "pd=$2.pd", "virtio_q_type=SPLIT", "event_mode=NO_MSIX", "queue_size=16", "umem_1_id=$1.umem_id", "umem_1_size=65536",
            "umem_2_id=$1.umem_id", "umem_2_size=65536", "umem_3_id=$1.umem_id", "umem_3_size=65536")]
        chain = ("UMEM", "size=65536", ":", "ALLOC_PD", ":", *mkey, "CREATE_GENERAL_OBJECT", "obj_type=VIRTIO_NET_Q", *queue)
        mkey = "obj.virtio_q_context.virtio_q_mkey=$3.mkey_index"
        self.assertEqual(self.steps(*chain, mkey + "<<8")[3]["status"], "OK")
        self.steps(*chain, mkey, code=FAILED)
        for text in ("<<", "<<64", "<<x", "<<-1", "<<8<<8"):
            self.devx("cmd", *chain, mkey + text, code=USAGE)
        self.assertEqual(self.steps("CREATE_GENERAL_OBJECT", "obj_type=MODIFY_HDR_PATTERN", "obj.pattern_length=1",
                                    "obj.pattern_data=100a000800000040")[0]["status"], "OK")

    def test_dry_run(self):
        out, _ = self.devx("cmd", "--dry-run", "CREATE_MKEY", "memory_key_mkey_entry.access_mode_1_0=KLMS",
                           "memory_key_mkey_entry.lw=1", "translations_octword_actual_size=1", "klm_pas_mtt=1,2,0x3")
        self.assertIn("CREATE_MKEY (0x200) inbox, 284 bytes\n", out)
        self.assertIn("  memory_key_mkey_entry.access_mode_1_0 = 2 (KLMS)\n", out)
        out, _ = self.devx("cmd", "--dry-run", "ATTACH_TO_MCG", "qpn=5", "multicast_gid=ff0e::".replace("::", "0000"))
        self.assertIn("multicast_gid = 0xff0e0000" + 24 * "0", out)
        out, _ = self.devx("cmd", "--dry-run", "CREATE_GENERAL_OBJECT", "obj.virtio_q_context.queue_size=64",
                           "obj.virtio_q_context.virtio_q_type=PACKED", "obj_type=VIRTIO_NET_Q")
        self.assertIn("  obj.virtio_q_context.virtio_q_type = 1 (PACKED)\n", out)
        self.assertIn("inbox, 208 bytes\n", out)
        out, _ = self.devx("cmd", "--dry-run", "SET_FLOW_TABLE_ENTRY", "flow_context.destination_list_size=1",
                           "flow_context.destination[0].destination_type=TIR", "flow_context.action=FWD_DEST|COUNT|0x8000",
                           "flow_context.match_value.outer_headers.dmac_47_16=0x01020304")
        self.assertIn("  flow_context.destination[0].destination_type = 2 (TIR)\n", out)
        self.assertIn("  flow_context.action = 0x800c (FWD_DEST|COUNT|0x8000)\n", out)

    def test_bytes_to_the_end_of_the_inbox(self):
        """The length is that of the bytes, however they are written."""
        context = "packet_reformat_context."
        words = ("--dry-run", "ALLOC_PACKET_REFORMAT_CONTEXT", context + "reformat_data=0102")
        for text in ("030405", "0x030405", "03:04-05"):
            out, _ = self.devx("cmd", *words, context + "more_reformat_data=" + text)
            self.assertIn(" inbox, 39 bytes\n", out)
            self.assertIn("more_reformat_data = 0x030405\n", out)
        self.assertIn(" inbox, 65535 bytes\n", self.devx("cmd", *words, context + "more_reformat_data=" + "11" * 65499)[0])
        self.devx("cmd", *words, context + "more_reformat_data=" + "11" * 65500, code=USAGE)
        self.devx("cmd", *words, context + "reformat_data=\x11\x12", code=USAGE)

    def test_outboxes_of_their_own_kind(self):
        """One with data to the end of the box, one that no layout describes, one that the headers begin as an inbox."""
        data = "0102" + "03" * 48
        context = "packet_reformat_context."
        made = self.steps("ALLOC_PACKET_REFORMAT_CONTEXT", context + "reformat_type=L2_TO_VXLAN", context + "reformat_data_size=50",
                          context + "reformat_data=" + data[:4], context + "more_reformat_data=" + data[4:], ":",
                          "QUERY_PACKET_REFORMAT_CONTEXT", "packet_reformat_id=$1.packet_reformat_id")
        shown = made[1]["fields"]["packet_reformat_context"]
        self.assertEqual(len(shown), 1)
        self.assertTrue((shown[0]["reformat_data"] + shown[0]["more_reformat_data"][2:]).startswith("0x" + data))
        action = "actions[0].set_action_in."
        out, _ = self.devx("cmd", "ALLOC_MODIFY_HEADER_CONTEXT", "num_of_actions=1", action + "action_type=SET",
                           action + "field=OUT_IP_TTL", action + "length=8", action + "data=64", ":",
                           "QUERY_MODIFY_HEADER_CONTEXT", "modify_header_id=$1.modify_header_id")
        self.assertIn("no layout is known: OK\n  status = 0 (OK)\n  syndrome = 0\n", out)
        self.assertIn("    0x0010: 100a0008 00000040 ", out)
        element = self.steps("CREATE_SCHEDULING_ELEMENT", "scheduling_hierarchy=NIC", "scheduling_context.element_type=TSAR", ":",
                             "QUERY_SCHEDULING_ELEMENT", "scheduling_hierarchy=NIC", "scheduling_element_id=$1.scheduling_element_id")
        self.assertEqual(element[1]["fields"]["status"], {"value": 0, "name": "OK"})

    def test_what_dry_run_shows_decodes_to_the_same(self):
        words = ["CREATE_QP", "qpc.st=RC", "qpc.pd=7", "qpc.primary_address_path.rgid_rip=00112233445566778899aabbccddeeff",
                 "opt_param_mask=5", "pas=1,2,3"]
        box = json.loads(self.devx("cmd", "--dry-run", "--json", *words)[0])["steps"][0]
        self.assertEqual(box["fields"]["qpc"]["st"], {"value": 0, "name": "RC"})
        self.assertEqual(box["fields"]["qpc"]["primary_address_path"]["rgid_rip"], "0x00112233445566778899aabbccddeeff")
        self.assertEqual(box["fields"]["pas"][:3], [1, 2, 3])
        self.assertEqual((box["undefined"], box["tail"]), ([], []))

    def test_refused_by_the_device(self):
        out, err = self.devx("cmd", "ALLOC_FLOW_COUNTER", "flow_counter_bulk=3", code=FAILED)
        self.assertIn("outbox, 16 bytes: bad parameter, errno EINVAL\n", out)
        self.assertIn("more than one bit set", out)
        self.assertIn("Remote I/O error", err)
        # What comes after is not sent.
        self.assertEqual(len(self.steps("ALLOC_FLOW_COUNTER", "flow_counter_bulk=3", ":", "ALLOC_PD", code=FAILED)), 1)

    def test_refused_by_the_kernel(self):
        _, err = self.devx("cmd", "INIT_HCA", code=FAILED)
        self.assertIn("DEVX carries no such command", err)
        _, err = self.devx("cmd", "QUERY_CQ", "cqn=1", code=FAILED)
        self.assertIn("no step before it is a CREATE_CQ", err)
        _, err = self.devx("cmd", "ALLOC_PD", ":", "DEALLOC_PD", "pd=0xffff", code=FAILED)
        self.assertIn("not that of an object", err)
        _, err = self.devx("cmd", "ALLOC_PD", ":", "CREATE_PSV", "num_psv=1", "pd=$1.pd", ":", "DEALLOC_PD", "pd=$1.pd", code=FAILED)
        self.assertIn("the device refused it, as it does with what is in use", err)
        for words, text in ((("DEALLOC_PD",), "an ALLOC_PD"), (("SET_FLOW_TABLE_ENTRY", "op_mod=1"), "a SET_FLOW_TABLE_ENTRY"),
                            (("CREATE_CQ",), "EQN takes one"), (("CREATE_PSV", "num_psv=2"), "num_psv=1 only"),
                            (("NOP", "op_mod=1"), "the device refused it")):
            self.assertIn(text, self.devx("cmd", *words, code=FAILED)[1])

    def test_outlen(self):
        self.assertEqual(self.steps("--outlen", "100", "ALLOC_PD")[0]["length"], 100)
        _, err = self.devx("cmd", "--outlen", "16", "QUERY_ADAPTER", code=FAILED)
        self.assertIn("Remote I/O", err)
        self.assertIn("--outlen gives the outbox more room", err)
        words = ("ALLOC_FLOW_COUNTER", "flow_counter_bulk=BULK_128", ":", "QUERY_FLOW_COUNTER", "flow_counter_id=$1.flow_counter_id")
        for asked, n in (((), 1), (("num_of_counters=1",), 1), (("num_of_counters=128",), 128)):
            self.assertEqual(len(self.steps(*words, *asked)[1]["fields"]["flow_statistics"]), n)
        self.steps(*words, "num_of_counters=0x3fffffff", code=FAILED)

    def test_near_names(self):
        cases = {
            ("CREATE_CP",): ("CREATE_CQ", "CREATE_QP"), ("ALOC_PD",): ("ALLOC_PD",), ("CREATE_CQ", "cq_contex.st=1"): ("cq_context",),
            ("CREATE_CQ", "cq_context.log_cq_sz=1"): ("log_cq_size",), ("CREATE_CQ", "log_cq_size=1"): ("cq_context.log_cq_size",),
            ("CREATE_QP", "qpc.st=RD"): ("RC",), ("CREATE_GENERAL_OBJECT", "obj_type=VIRTIO"): ("VIRTIO_NET_Q",),
            ("CREATE_GENERAL_OBJECT", "obj_type=DEK", "obj.key_purpos=TLS"): ("key_purpose",),
            ("CREATE_GENERAL_OBJECT", "obj_type=DEK", "key_purpose=TLS"): ("obj.key_purpose",),
            ("CREATE_SCHEDULING_ELEMENT", "scheduling_context.element_attributes.tsar_elements.x=1"): ("tsar",),
            ("CREATE_CQ", "frobnicate=1"): ("cq_context", "cq_umem_id"),
            ("ALLOC_FLOW_COUNTER", "flow_counter_bulk=BULK_129"): ("BULK_128",), ("UMEM", "sise=1"): ("size",),
            ("CREATE_QP", "qpc.mtu=IB_1024"): ("1K_BYTES",), ("CREATE_CQ", "pas[99999999]=1"): ("pas[99999999]", "a list"),
            ("NOP", "--json"): ("options stand before",), ("NOP", "--outlen=20"): ("options stand before",),
        }
        for words, near in cases.items():
            with self.subTest(words=words):
                out, err = self.devx("cmd", *words, code=USAGE)
                self.assertEqual((out, len(err.splitlines())), ("", 1))
                for name in near:
                    self.assertIn(name, err)

    def test_wrong_words(self):
        cases = [
            (), ("",), (":",), ("ALLOC_PD", ":"), (":", "ALLOC_PD"), ("0x10000",), ("0xfff",), ("ALLOC_PD", "pd"), ("ALLOC_PD", "=1"),
            ("ALLOC_PD", "uid=65536"), ("ALLOC_PD", "uid=-1"), ("ALLOC_PD", "uid="), ("ALLOC_PD", "uid=0x"), ("ALLOC_PD", "uid=1x"),
            ("ALLOC_PD", "uid= 1"), ("ALLOC_PD", "opcode=1"), ("ALLOC_PD", "uid[0]=1"), ("CREATE_CQ", "cq_context=1"),
            ("CREATE_CQ", "cq_context.log_cq_size=32"), ("CREATE_CQ", "pas[99999999]=1"), ("CREATE_CQ", "pas[8190]=1"),
            ("CREATE_CQ", "pas[0]=0x10000000000000000"), ("CREATE_CQ", "pas.x=1"), ("CREATE_CQ", "obj.x=1"),
            ("CREATE_GENERAL_OBJECT", "obj.x=1"), ("ATTACH_TO_MCG", "multicast_gid=0x123"), ("ATTACH_TO_MCG", "multicast_gid=zz"),
            ("ATTACH_TO_MCG", "multicast_gid=" + "00" * 17), ("CREATE_CQ", "cq_context.st=FIRED|OK"), ("CREATE_QP", "qpc.pd=$1.pd"),
            ("ALLOC_PD", ":", "CREATE_QP", "qpc.pd=$2.pd"), ("ALLOC_PD", ":", "CREATE_QP", "qpc.pd=$0.pd"), ("ALLOC_PD", "uid=$"),
            ("ALLOC_PD", ":", "CREATE_QP", "qpc.pd=$1"), ("UMEM", "size"), ("UMEM", "size=x"), ("UMEM", "size=99999999999"),
            ("EQN", "vector=4294967296"), ("SUSPEND_QP", "qpn=1"), ("--outlen", "15", "ALLOC_PD"), ("--outlen", "65536", "ALLOC_PD"),
            ("--outlen", "x", "ALLOC_PD"), ("--frob", "ALLOC_PD"), ("--syndromes", "/nonexistent", "ALLOC_PD"),
            ("CREATE_CQ", "pas=" + ",".join("1" * 9000)),
        ]
        for words in cases:
            with self.subTest(words=str(words)[:80]):
                out, err = self.devx("cmd", *words, code=USAGE)
                self.assertEqual((out, len(err.splitlines())), ("", 1))
                # Nothing was done before all words were looked at.
                out, err = self.devx("cmd", "ALLOC_PD", ":", *words, code=USAGE) if words[:1] != ("--",) and words and \
                    not words[0].startswith("-") and "$" not in str(words) else ("", "")
                self.assertEqual(out, "")

    def test_references_that_lead_nowhere(self):
        for words in (("ALLOC_PD", ":", "CREATE_QP", "qpc.pd=$1.pdn"), ("UMEM", ":", "CREATE_QP", "qpc.pd=$1.pd"),
                      ("ALLOC_PD", ":", "CREATE_CQ", "cq_context.log_cq_size=$1.pd", ":", "CREATE_CQ", "cq_umem_id=$1.x"),
                      ("ALLOC_PD", ":", "EQN", "vector=$1.vector")):
            self.assertEqual(self.devx("cmd", *words, code=USAGE)[0], "")  # said before the first one is sent

    def test_any_words(self):
        """Whatever is said, devx says what is wrong or does it: it does not crash."""
        dice = random.Random(11)
        names = ["CREATE_QP", "CREATE_CQ", "QUERY_HCA_CAP", "CREATE_GENERAL_OBJECT", "SET_FLOW_TABLE_ENTRY", "UMEM", "0x93b", "EQN"]
        fields = ["qpc.st", "pas[0]", "pas[7000]", "cq_context.st", "op_mod", "obj_type", "obj.x", "obj.", "[", "]", "a[b]", ".", "..",
                  "flow_context.destination[3].flow_counter_id", "uid", "$1.x", "size", "vector", "", "flow_context.match_value"]
        values = ["1", "0xffffffffffffffff", "RC", "$1.pd", "$1.umem_id", "$9.x", "", "|", "DEK", "A" * 5000, "%s%n", "\xff", "0x", "-1"]
        for _ in range(50):
            words = []
            for _ in range(dice.randrange(1, 4)):
                words += [dice.choice(names)]
                words += [dice.choice(fields) + dice.choice(["=", "=", ""]) + dice.choice(values) for _ in range(dice.randrange(4))]
                words += [":"]
            done = subprocess.run([DEVX, "cmd", *words[:-1]], env=dict(os.environ, OPENDEVX_SOFT=SPEC), stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, timeout=60, check=False)
            self.assertIn(done.returncode, (OK, FAILED, USAGE), words)


class Caps(DevxTest):
    def test_text(self):
        out, err = self.devx("caps")
        self.assertEqual(err, "")
        self.assertIn("\nroce.r_roce_dest_udp_port = 0x12b7 (4791)\n", out)
        self.assertIn("\ngeneral.port_type = 1 (ETH)\n", out)
        self.assertNotIn(" = 0\n", out)
        self.assertIn(" = 0\n", self.devx("caps", "--all")[0])
        self.assertEqual(self.devx("caps", "--max")[0], out)  # the model has one set

    def test_json(self):
        result = json.loads(self.devx("caps", "--json", "--device", "mlx5_soft0")[0])
        self.assertEqual((result["device"], result["values"]), ("mlx5_soft0", "current"))
        self.assertEqual(json.loads(self.devx("caps", "--json", "--max")[0])["values"], "maximum")
        self.assertEqual(result["pages"]["general"]["num_ports"], 1)
        self.assertIn("general_2", result["pages"])

    def test_diff(self):
        out, _ = self.devx("caps", "--diff", "cx7")
        self.assertEqual(out, "mlx5_soft0 and profile cx7 have the same capabilities.\n")
        out, _ = self.devx("caps", "--diff", "cx5")
        self.assertIn("general.device_frequency_khz: 0xf4240 (1000000) -> 0x2625a (156250)\n", out)
        found = json.loads(self.devx("caps", "--diff", "cx5", "--json")[0])
        self.assertEqual((found["device"], found["profile"]), ("mlx5_soft0", "cx5"))
        self.assertIn({"page": "general", "field": "device_frequency_khz", "device": 1000000, "profile": 156250},
                      found["differences"])
        # The other way round.
        out, _ = self.devx("caps", "--diff", "cx7", soft="profile=cx5")
        self.assertIn("general.device_frequency_khz: 0x2625a (156250) -> 0xf4240 (1000000)\n", out)

    def test_nonsense(self):
        for words in (("--diff", "cx9"), ("--diff",), ("--frob",), ("general",), ("--json=x",)):
            out, err = self.devx("caps", *words, code=USAGE)
            self.assertEqual(out, "")
            self.assertNotEqual(err, "")
        for command in ("caps", "cmd"):
            words = ("NOP",) if command == "cmd" else ()
            for args, soft, text in ((("--device", "mlx5_9"), SPEC, "mlx5_9"), ((), "off", "OPENDEVX_SOFT"), ((), "clock=manual", "manual")):
                _, err = self.devx(command, *args, *words, code=FAILED, soft=soft)
                self.assertIn(text, err)

    def test_output_that_cannot_be_written(self):
        for args in (("caps",), ("caps", "--json"), ("caps", "--diff", "cx5"), ("cmd", "NOP"), ("cmd", "--json", "NOP")):
            with open("/dev/full", "wb") as full:
                done = subprocess.run([DEVX, *args], env=dict(os.environ, OPENDEVX_SOFT=SPEC), stdout=full, stderr=subprocess.PIPE,
                                      timeout=60, check=False)
            self.assertEqual(done.returncode, FAILED, args)
            self.assertIn(b"cannot write", done.stderr)
            # Closed: what the library opens next does not become the standard output.
            self.assertIn("cannot write", self.devx(*args, code=FAILED, preexec_fn=lambda: os.close(1))[1])


if __name__ == "__main__":
    main()
