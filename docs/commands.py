#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Makes commands.md from the tables of commands, layouts and syndromes, and from what the model has (dump.c).
   commands.py DUMP [--check]: with --check it fails when the file is not what would be made."""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = ROOT / "docs" / "commands.md"
sys.path += [str(ROOT / "src" / "prm"), str(ROOT / "src" / "hca")]
sys.dont_write_bytecode = True

import gen  # noqa: E402
import syndromes  # noqa: E402

CALLS = {"create": "obj_create", "modify": "obj_modify", "query": "obj_query", "destroy": "obj_destroy",
         "general": "general_cmd", "driver": "-"}
HAS = {"user": "yes", "driver": "for the driver (uid 0)", None: "-"}


def box(layouts, name):
    return f"`{name}` ({layouts[name][0] // 8})" if name else "-"


def table(heads, rows):
    return ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)] + ["| " + " | ".join(row) + " |" for row in rows]


def commands(layouts, opcodes, has):
    for value, name, call, other, _, box_in, box_out in opcodes:
        calls = CALLS[call]
        if name == "SET_FLOW_TABLE_ENTRY":
            calls = "obj_create, obj_modify"
        if call == "query":
            calls += "(_async)"
        yield f"0x{value:03x}", name, calls, HAS[has.get(value)], box(layouts, box_in), box(layouts, box_out)


def values(layouts, enum, last):
    seen = set()
    for value, name, _, layout in enum[2]:
        if value not in seen:
            seen.add(value)
            yield (f"0x{value:02x}", name, box(layouts, layout)) + last(value)


def make(dump):
    layouts, opcodes, enums = gen.read_all(*(ROOT / "src/prm" / f"{n}.tbl" for n in ("layouts", "opcodes", "enums")))
    lines = [line.split() for line in subprocess.run([dump], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()]
    has = {int(line[1], 16): line[2] for line in lines if line[0] == "op"}
    caps = {int(line[1], 16): line[2] for line in lines if line[0] == "cap"}
    status = {label: value for value, label, _, _ in enums["status"][2]}
    # A model's command without a name here would be left out of the page.
    if not has or not set(has) <= {row[0] for row in opcodes}:
        sys.exit("the model has a command that opcodes.tbl does not name")
    out = ["<!-- SPDX-License-Identifier: BSD-2-Clause -->",
           "<!-- Made by docs/commands.py (ninja commands-md): change the tables, not this file. -->",
           "# Commands and syndromes", "",
           "Every command that public sources name: the call of DEVX that carries it, as Linux lets it through; whether the",
           "software device executes it (any other opcode is refused with `BAD_OP`); and its layouts in `layouts.tbl`",
           "with their sizes in bytes. A refused command changes no object, and its outbox holds only the status and the syndrome.", "",
           "`devx cmd` sends any of them by the names of their fields, and `devx decode` prints one.", "",
           "## Commands", ""]
    out += table(["opcode", "command", "mlx5dv_devx_", "software device", "inbox", "outbox"],
                 commands(layouts, opcodes, has))
    out += ["", "## General objects", "",
            "What `CREATE_GENERAL_OBJECT` and its siblings carry after their header, by `obj_type`.", ""]
    out += table(["type", "object", "layout"], values(layouts, enums["general_object_type"], lambda v: ()))
    out += ["", "## Capability pages", "",
            "`QUERY_HCA_CAP` answers for these types, the same for the current values and the maximum. A page that says \"all",
            "off\" is zeros: the model has none of its features. \"-\": the software device refuses the type.", ""]
    pages = {"values": "values by profile", "off": "all off", None: "-"}
    out += table(["type", "page", "layout", "software device"],
                 values(layouts, enums["hca_cap_type"], lambda v: (pages[caps.get(v)],)))
    out += ["", "## Syndromes of the software device", "",
            "Numbers are stable. They are the model's own, except `Q_COUNTER_LIMIT`, which DPDK knows by its number.",
            "With `strict`, a set bit of the inbox that no layout defines is refused with `BAD_PARAM_ERR` and the syndrome",
            "0x0d500000 plus the offset of the bit.", ""]
    out += table(["syndrome", "name", "status", "meaning"],
                 ((f"0x{number:06x}", name, f"0x{status[st]:x} {st}", text)
                  for name, number, st, text in sorted(syndromes.read(ROOT / "src/hca/syndromes.def"), key=lambda s: s[1])))
    return "\n".join(out) + "\n"


def main():
    text = make(sys.argv[1])
    if sys.argv[2:] == ["--check"]:
        if not OUT.exists() or OUT.read_text() != text:
            sys.exit("docs/commands.md is out of date: run ninja commands-md in the build folder")
    else:
        OUT.write_text(text)


main()
