#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Counts the results of one `meson test` run: tally.py testlog.json passed|failed. No log: one failure.
   Of a test that prints TAP each case counts."""
import json
import re
import sys

GOOD = {"OK", "EXPECTEDFAIL"}
NEITHER = {"SKIP"}
CASE = re.compile(r"^(not )?ok \d+(?!.*# SKIP)", re.M)


def cases(test):
    """What passed and what failed inside one test; one at least failed when the whole did."""
    results = [bool(m[1]) for m in CASE.finditer(test.get("stdout", ""))]
    bad = sum(results)
    if test["result"] not in GOOD and test["result"] not in NEITHER:
        bad = max(bad, 1)
    return len(results) - sum(results), bad


def main():
    counts = {"passed": 0, "failed": 0}
    try:
        with open(sys.argv[1], encoding="utf-8") as f:
            for line in f:
                test = json.loads(line)
                if test.get("stdout", "").startswith("TAP version"):
                    good, bad = cases(test)
                else:
                    good, bad = test["result"] in GOOD, test["result"] not in GOOD | NEITHER
                counts["passed"] += good
                counts["failed"] += bad
    except FileNotFoundError:
        counts["failed"] = 1
    print(counts[sys.argv[2]])


main()
