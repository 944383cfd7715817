#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Counts the results of one `meson test` run: tally.py testlog.json passed|failed. No log: one failure."""
import json
import sys

GOOD = {"OK", "EXPECTEDFAIL"}
NEITHER = {"SKIP"}


def main():
    counts = {"passed": 0, "failed": 0}
    try:
        with open(sys.argv[1], encoding="utf-8") as f:
            for line in f:
                result = json.loads(line)["result"]
                if result in GOOD:
                    counts["passed"] += 1
                elif result not in NEITHER:
                    counts["failed"] += 1
    except FileNotFoundError:
        counts["failed"] = 1
    print(counts[sys.argv[2]])


main()
