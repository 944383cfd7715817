#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Says what in the kernel's log (stdin) should not be there: dmesg.py ALLOWED..., files of regular expressions, one a line, each
   with its reason after two blanks and a #. Of mlx5 nothing may fail; of the rest of the kernel nothing may be broken."""
import re
import sys

BROKEN = re.compile(r"WARNING:|BUG:|\bOops\b|general protection|Call Trace|cut here|soft lockup|hung_task|blocked for more than|"
                    r"refcount_t|KASAN|UBSAN|list_(add|del) corruption|use-after-free|Kernel panic")
MLX5 = re.compile(r"mlx5|infiniband|uverbs|ib_core")
FAILED = re.compile(r"fail|error|err_|_err|timeout|timed out|leak|invalid|unable|cannot|could not|not supported|bad |corrupt|stuck", re.I)


def allowed(path):
    with open(path, encoding="utf-8") as f:
        for line in f:
            expression, mark, reason = line.rstrip("\n").partition("  # ")
            if not line.startswith("#") and line.strip():
                if not mark or not reason:
                    sys.exit(f"{path}: a line without a reason: {line}")
                yield re.compile(expression)


def main():
    fine = [expression for path in sys.argv[1:] for expression in allowed(path)]
    bad = [line for line in sys.stdin.read().splitlines()
           if (BROKEN.search(line) or MLX5.search(line) and FAILED.search(line)) and not any(f.search(line) for f in fine)]
    print("\n".join(bad))
    sys.exit(1 if bad else 0)


main()
