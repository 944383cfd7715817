#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Holds the values in src/prm/enums.tbl and opcodes.tbl against the constants of the public headers (tests/data), and lists
   the constants that no table names. constants.py SOURCE-ROOT"""
import pathlib
import sys

ROOT = pathlib.Path(sys.argv[1])
sys.path.append(str(ROOT / "src" / "prm"))
sys.dont_write_bytecode = True

import gen  # noqa: E402

bad = []
known = {}
for line in (ROOT / "tests/data/prm-constants.tsv").read_text().splitlines():
    if not line.startswith("#"):
        name, value, _ = line.split("\t")
        known.setdefault(name, set()).add(int(value, 16))  # sources may differ: each of their values will do

layouts, opcodes, enums = gen.read_all(*(ROOT / "src/prm" / f"{n}.tbl" for n in ("layouts", "opcodes", "enums")))
named = set()
for enum, (kind, _, values) in enums.items():
    for value, label, constants, _ in values:
        for constant in constants:
            named.add(constant)
            # Aliases of DPDK and rdma-core that opcodes.tbl has without a constant of that very name are left to the layouts.
            if constant == "-" or (enum == "opcode" and constant not in known):
                continue
            if value not in known.get(constant, ()):
                bad.append(f"{enum}.{label} is 0x{value:x}: {constant} is {known.get(constant, 'no constant')}")

unsaid = {"-", *("MLX5_CMD_OP_" + row[1] for row in opcodes)}
if len(known) < 1600 or len(named & set(known)) < 1200:
    bad.append("too few constants are held against the reference to be right")
# A field has room for each of its values.
for (layout, field), enum in gen.field_enums(layouts, enums).items():
    kind, _, values = enums[enum]
    for _, _, width, _, _ in (f for f in layouts[layout][1] if f[0] == field):
        worst = max((1 << v if kind == "bits" else v) for v, _, _, _ in values)
        if width < 64 and worst >> width:
            bad.append(f"{layout}.{field} has {width} bits, {enum} has 0x{worst:x}")
left = sorted(set(known) - named - unsaid)
print(f"{len(named & set(known))} constants checked in {len(enums)} enumerations; {len(left)} are in no table:")
print(" ".join(left))
print("\n".join(bad), file=sys.stderr)
sys.exit(bool(bad))
