#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The software device's syndromes as a table that devx reads (devx(1)): syndromes.py syndromes.def OUTPUT"""
import re
import sys


def read(path):
    """[(name, number, status, text)]"""
    with open(path, encoding="ascii") as f:
        text = f.read()
    found = re.findall(r'^SYNDROME\((\w+), (0x[0-9a-f]+), (\w+),\s*"(.*)"\)$', text, re.M)
    if len(found) != len(re.findall(r"^SYNDROME\(", text, re.M)):
        sys.exit(f"{path} has a row that does not fit the pattern")
    return [(name, int(number, 16), status, text) for name, number, status, text in found]


def main():
    with open(sys.argv[2], "w", encoding="ascii") as f:
        f.write("# The syndromes of OpenDEVX's software device.\n")
        for _, number, _, text in read(sys.argv[1]):
            f.write(f"0x{number:x}\t{text}\n")
        f.write("0xd500000-0xd5fffff\tstrict: a bit of the inbox is set and not defined; the low 20 bits are its number\n")


if __name__ == "__main__":
    main()
