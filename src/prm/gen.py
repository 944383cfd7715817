#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Turns layouts.tbl and opcodes.tbl into prm_gen.h (field places) and prm_gen.c (the same as data, with names)."""
import sys


def rows(path):
    with open(path, encoding="ascii") as f:
        for no, line in enumerate(f, 1):
            line = line.rstrip("\n")
            if line and not line.startswith("#"):
                yield no, line


def read_layouts(path):
    layouts = {}
    name = None
    for no, line in rows(path):
        cols = line.split("\t")
        if not line.startswith("\t"):
            name = cols[0]
            if name in layouts or int(cols[1]) % 8:
                sys.exit(f"{path}:{no}: {name}: twice, or not a whole number of bytes")
            layouts[name] = (int(cols[1]), [])
            continue
        field, bit, width, count = cols[1], *map(int, cols[2:5])
        nested = cols[5] if len(cols) > 5 else ""
        size = layouts[name][0]
        if count and bit + width * count > size:
            sys.exit(f"{path}:{no}: {name}.{field} ends after its layout")
        layouts[name][1].append((field, bit, width, count, nested))
    return layouts


def main():
    layouts = read_layouts(sys.argv[1])
    opcodes = [line.split("\t") for _, line in rows(sys.argv[2])]
    index = {name: i for i, name in enumerate(layouts)}
    head = "/* Made from layouts.tbl and opcodes.tbl by gen.py. */\n"
    with open(sys.argv[3], "w", encoding="ascii") as h:
        h.write(head + "#ifndef PRM_GEN_H\n#define PRM_GEN_H\n\nenum prm_opcode {\n")
        for value, name in opcodes:
            h.write(f"\tPRM_OP_{name} = {value},\n")
        h.write("};\n\n/* First bit, width: the two arguments that name a field. PRM_SZ_*: bytes. */\n")
        for name, (bits, fields) in layouts.items():
            h.write(f"#define PRM_SZ_{name} {bits // 8}u\n")
            for field, bit, width, count, nested in fields:
                h.write(f"#define PRM_F_{name}__{field.replace('.', '_')} {bit}u, {width}u\n")
        h.write("\n#endif\n")
    with open(sys.argv[4], "w", encoding="ascii") as c:
        c.write(head + '#include "prm.h"\n\n')
        for name, (bits, fields) in layouts.items():
            if not fields:
                continue
            c.write(f"static const struct prm_field fields_{name}[] = {{\n")
            for field, bit, width, count, nested in fields:
                c.write(f'\t{{ "{field}", {bit}, {width}, {count}, {index.get(nested, -1)} }},\n')
            c.write("};\n\n")
        c.write("const struct prm_layout prm_layouts[] = {\n")
        for name, (bits, fields) in layouts.items():
            ref = f"fields_{name}, {len(fields)}" if fields else "0, 0"
            c.write(f'\t{{ "{name}", {bits}, {ref} }},\n')
        c.write(f"}};\nconst unsigned int prm_n_layouts = {len(layouts)};\n\n")
        c.write("const struct prm_name prm_opcodes[] = {\n")
        for value, name in opcodes:
            c.write(f'\t{{ {value}, "{name}" }},\n')
        c.write(f"}};\nconst unsigned int prm_n_opcodes = {len(opcodes)};\n")


main()
