#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Makes commands.md from the model's own tables: its rows of commands, its syndromes, its capability pages.
   --check: fails when the file is not what would be made."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = ROOT / "docs" / "commands.md"
GROUPS = ["user", "mkey", "cq", "qp", "q_counter", "flow_counter", "caps"]
KINDS = {"OP_DRIVER": "the driver only (uid 0)"}


def opcodes():
    table = {}
    for line in (ROOT / "src/prm/opcodes.tbl").read_text().splitlines():
        if line and not line.startswith("#"):
            value, name = line.split("\t")
            table[name] = int(value, 16)
    return table


def command_rows(name):
    text = (ROOT / "src/hca" / f"{name}.c").read_text()
    body = re.search(rf"const struct hca_op ops_{name}\[\] = {{\n(.*?)\n}};", text, re.S).group(1)
    for row in re.findall(r"^\t(?:OP_ROW|OP_OBJ_ROW|QP_ROW|{)\s*\(?\s*(?:PRM_OP_)?(\w+),(.*?)(?=^\t\S|\Z)", body, re.S | re.M):
        kind = re.search(r"OP_(?:PLAIN|ON|DESTROY|DRIVER)\b", row[1])
        yield row[0], KINDS.get(kind.group(0), "any user context")


def syndromes():
    text = (ROOT / "src/hca/syndromes.def").read_text()
    found = re.findall(r'^SYNDROME\((\w+), (0x[0-9a-f]+), (\w+), "(.*)"\)$', text, re.M)
    if len(found) != len(re.findall(r"^SYNDROME\(", text, re.M)):
        sys.exit("syndromes.def has a row that does not fit the pattern")
    return found


def statuses():
    text = (ROOT / "src/prm/prm.h").read_text()
    return {n: int(v, 16) for n, v in re.findall(r"PRM_STAT_(\w+) = (0x[0-9a-f]+)", text)}


def cap_pages():
    text = (ROOT / "src/hca/caps_table.c").read_text()
    rows = re.findall(r"^\t{ (0x[0-9a-f]+), (\w+) },(?: /\* (.*) \*/)?$", text, re.M)
    names = {"general": "general", "general_2": "general 2", "roce": "RoCE"}
    return [(value, note or names[table], table != "NULL") for value, table, note in rows]


def make():
    op, status = opcodes(), statuses()
    out = ["<!-- SPDX-License-Identifier: BSD-2-Clause -->", "<!-- Made by docs/commands.py: change the model's tables, not this file. -->",
           "# Commands and syndromes of the software device", "",
           "Every command that the model executes, and every reason for which it refuses one. A refused command changes no object,",
           "and its outbox holds only the status and the syndrome. Any other opcode is refused with `BAD_OP`.", "",
           "## Commands", "", "| opcode | command | who may send it |", "|---|---|---|"]
    rows = sorted((op[name], name, who) for group in GROUPS for name, who in command_rows(group))
    out += [f"| 0x{value:03x} | {name} | {who} |" for value, name, who in rows]
    out += ["", "## Capability pages", "",
            "`QUERY_HCA_CAP` answers for these types, the same for the current values and the maximum. A page that says \"all off\"",
            "is zeros: the model has none of its features.", "", "| type | page | content |", "|---|---|---|"]
    out += [f"| {value} | {name} | {'values by profile' if filled else 'all off'} |" for value, name, filled in cap_pages()]
    out += ["", "## Syndromes", "",
            "Numbers are stable. They are the model's own, except `Q_COUNTER_LIMIT`, which DPDK knows by its number.",
            "With `strict`, a set bit of the inbox that no layout defines is refused with `BAD_PARAM_ERR` and the syndrome",
            "0x0d500000 plus the offset of the bit.", "", "| syndrome | name | status | meaning |", "|---|---|---|---|"]
    out += [f"| {number} | {name} | 0x{status[st]:x} {st} | {text} |"
            for name, number, st, text in sorted(syndromes(), key=lambda s: int(s[1], 16))]
    return "\n".join(out) + "\n"


def main():
    text = make()
    if sys.argv[1:] == ["--check"]:
        if not OUT.exists() or OUT.read_text() != text:
            sys.exit("docs/commands.md is out of date: run docs/commands.py")
    else:
        OUT.write_text(text)


main()
