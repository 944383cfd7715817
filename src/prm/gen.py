#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Turns layouts.tbl, opcodes.tbl and enums.tbl into prm_gen.h (field places) and prm_gen.c (the same as data, with names).
   Other scripts import it for the tables."""
import fnmatch
import sys

CALLS = ["driver", "create", "modify", "query", "destroy", "general"]


def rows(path):
    with open(path, encoding="ascii") as f:
        for no, line in enumerate(f, 1):
            line = line.rstrip("\n")
            if line and not line.startswith("#"):
                yield no, line


def read_layouts(path):
    """name -> (bits, [(field, bit, width, count, nested)])"""
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
    for name, (_, fields) in layouts.items():
        for field in fields:
            if field[4] and field[4] not in layouts:
                sys.exit(f"{path}: {name}.{field[0]} is a {field[4]}, which there is not")
    return dict(sorted(layouts.items()))


def read_place(path, no, call, place, layouts, named):
    if not place:
        return None
    inbox = place[0] == "<" or call != "create"
    if ":" in place:
        return (*map(int, place.split(":")), inbox)
    for field in layouts[named[0 if inbox else 1]][1]:
        if field[0] == place.lstrip("<"):
            return field[1], field[2], inbox
    sys.exit(f"{path}:{no}: {place} is no field")


def read_opcodes(path, layouts):
    """[(value, name, call, other, place, in, out)]: place is (bit, width, of the inbox?); what there is not is None"""
    found = []
    for no, line in rows(path):
        cols = [c if c != "-" else "" for c in line.split("\t")] + [""] * 3
        value, name, call, other, place, boxes = cols[:6]
        boxes = boxes.split() or [name.lower()]
        named = boxes if len(boxes) == 2 else [boxes[0] + "_in", boxes[0] + "_out"]
        if cols[5] and any(n not in layouts for n in named) or call not in CALLS:
            sys.exit(f"{path}:{no}: {name}: no such layout or call")
        named = [n if n in layouts else None for n in named]
        found.append((int(value, 16), name, call, other or None, read_place(path, no, call, place, layouts, named), *named))
    names = {row[1] for row in found}
    if [r[0] for r in found] != sorted({r[0] for r in found}) or any(r[3] and r[3] not in names for r in found):
        sys.exit(f"{path}: out of order, a value twice, or an opcode that there is not")
    return found


def read_enums(path, layouts):
    """name -> (kind, [pattern], [(value, name, [constant], layout or "")])"""
    enums = {}
    name = None
    for no, line in rows(path):
        cols = line.split("\t")
        if not line.startswith("\t"):
            kind, name = cols[0].split(" ")
            if name in enums or kind not in ("enum", "flags", "bits"):
                sys.exit(f"{path}:{no}: {name}: twice, or of no known kind")
            enums[name] = (kind, cols[1].split() if len(cols) > 1 else [], [])
            continue
        value, label, constants = int(cols[1], 16), cols[2], cols[3].split()
        layout = cols[4] if len(cols) > 4 else ""
        if any(label == row[1] for row in enums[name][2]) or layout and layout not in layouts:
            sys.exit(f"{path}:{no}: {label}: twice, or of no known layout")
        enums[name][2].append((value, label, constants, layout))
    return enums


def field_enums(layouts, enums):
    """(layout, field) -> enum"""
    found = {}
    for name, (_, patterns, _) in enums.items():
        for pattern in patterns:
            wanted, _, field = pattern.rpartition(".")
            hits = [lay for lay in fnmatch.filter(layouts, wanted) if any(f[0] == field and not f[4] for f in layouts[lay][1])]
            if not hits:
                sys.exit(f"enums.tbl: {name}: {pattern} is no field")
            for lay in hits:
                found.setdefault((lay, field), name)
    return found


def alternatives(fields):
    """For each field: does it lie over one before it?"""
    seen = []
    for _, bit, width, count, _ in fields:
        end = bit + width * count if count else 1 << 32
        yield any(bit < e and b < end for b, e in seen)
        seen.append((bit, max(end, bit + 1)))


def write_header(path, layouts, opcodes, enums):
    with open(path, "w", encoding="ascii") as h:
        h.write("/* Made from layouts.tbl, opcodes.tbl and enums.tbl by gen.py. */\n")
        h.write("#ifndef PRM_GEN_H\n#define PRM_GEN_H\n\nenum prm_opcode {\n")
        for row in opcodes:
            h.write(f"\tPRM_OP_{row[1]} = 0x{row[0]:x},\n")
        h.write("};\n\n/* Enumerations, as indices into prm_enums. */\nenum prm_enum_index {\n")
        for name in enums:
            h.write(f"\tPRM_ENUM_{name},\n")
        h.write("};\n\n/* First bit, width: the two arguments that name a field. PRM_N_*: how many follow each other. PRM_SZ_*: bytes. */\n")
        for name, (bits, fields) in layouts.items():
            h.write(f"#define PRM_SZ_{name} {bits // 8}u\n")
            for field, bit, width, count, _ in fields:
                field = field.replace('.', '_')
                h.write(f"#define PRM_F_{name}__{field} {bit}u, {width}u\n")
                if count > 1:
                    h.write(f"#define PRM_N_{name}__{field} {count}u\n")
        h.write("\n#endif\n")


def write_layouts(c, layouts, named):
    index = {name: i for i, name in enumerate(layouts)}
    for name, (bits, fields) in layouts.items():
        if not fields:
            continue
        c.write(f"static const struct prm_field fields_{name}[] = {{\n")
        for (field, bit, width, count, nested), alt in zip(fields, alternatives(fields)):
            c.write(f'\t{{ "{field}", {bit}, {width}, {count}, {index.get(nested, -1)}, {named.get((name, field), -1)}, '
                    f'{int(alt)} }},\n')
        c.write("};\n\n")
    c.write("const struct prm_layout prm_layouts[] = {\n")
    for name, (bits, fields) in layouts.items():
        ref = f"fields_{name}, {len(fields)}" if fields else "0, 0"
        union = len(fields) > 1 and all(f[1] == 0 and f[4] for f in fields)
        c.write(f'\t{{ "{name}", {bits}, {ref}, {int(union)} }},\n')
    c.write(f"}};\nconst unsigned int prm_n_layouts = {len(layouts)};\n\n")
    return index


def write_data(path, layouts, opcodes, enums):
    order = {name: i for i, name in enumerate(enums)}
    named = {key: order[name] for key, name in field_enums(layouts, enums).items()}
    value = {row[1]: row[0] for row in opcodes}
    with open(path, "w", encoding="ascii") as c:
        c.write('/* Made from layouts.tbl, opcodes.tbl and enums.tbl by gen.py. */\n#include "prm.h"\n\n')
        index = write_layouts(c, layouts, named)
        for name, (kind, _, values) in enums.items():
            c.write(f"static const struct prm_value values_{name}[] = {{\n")
            for v, label, _, layout in values:
                v = 1 << v if kind == "bits" else v
                c.write(f'\t{{ UINT64_C(0x{v:x}), "{label}", {index.get(layout, -1)} }},\n')
            c.write("};\n\n")
        c.write("const struct prm_enum prm_enums[] = {\n")
        for name, (kind, _, values) in enums.items():
            c.write(f'\t{{ "{name}", values_{name}, {len(values)}, {int(kind != "enum")} }},\n')
        c.write(f"}};\nconst unsigned int prm_n_enums = {len(enums)};\n\n")
        c.write("const struct prm_command prm_opcodes[] = {\n")
        for v, name, call, other, place, box_in, box_out in opcodes:
            bit, width, inbox = place or (0, 0, 0)
            c.write(f'\t{{ 0x{v:x}, 0x{value.get(other, 0):x}, "{name}", PRM_CALL_{call.upper()}, {int(inbox)}, {width}, '
                    f'{bit}, {index.get(box_in, -1)}, {index.get(box_out, -1)} }},\n')
        c.write(f"}};\nconst unsigned int prm_n_opcodes = {len(opcodes)};\n\n")
        if len(opcodes) > 255 or opcodes[-1][0] >= 0x1000:
            sys.exit(f"{sys.argv[2]}: more opcodes, or larger ones, than prm_opcode_at has room for")
        c.write("const uint8_t prm_opcode_at[0x1000] = {\n")
        for i, row in enumerate(opcodes):
            c.write(f"\t[0x{row[0]:x}] = {i + 1},\n")
        c.write("};\n")


def read_all(layouts_path, opcodes_path, enums_path):
    layouts = read_layouts(layouts_path)
    opcodes = read_opcodes(opcodes_path, layouts)
    enums = read_enums(enums_path, layouts)
    headers = [f"{n}.opcode" for n, (_, fields) in layouts.items() if any(f[:3] == ("opcode", 0, 16) for f in fields)]
    enums["opcode"] = ("enum", headers, [(row[0], row[1], ["MLX5_CMD_OP_" + row[1]], "") for row in opcodes])
    return layouts, opcodes, enums


def main():
    layouts, opcodes, enums = read_all(*sys.argv[1:4])
    write_header(sys.argv[4], layouts, opcodes, enums)
    write_data(sys.argv[5], layouts, opcodes, enums)


if __name__ == "__main__":
    main()
