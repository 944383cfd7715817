#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A text file as a C string: embed.py FILE NAME OUTPUT"""
import json
import sys

with open(sys.argv[1], encoding="ascii") as f, open(sys.argv[3], "w", encoding="ascii") as out:
    out.write(f"/* Made from {sys.argv[1].rpartition('/')[2]} by embed.py. */\nstatic const char {sys.argv[2]}[] =\n")
    out.writelines(f"\t{json.dumps(line)}\n" for line in f)
    out.write("\t;\n")
