#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What the frame of devx-conformance prints of cases that pass, fail, are skipped, hang and crash: selftest.py PROGRAM"""
import subprocess
import sys

FAILS = {
    "fails_by_value": "EBUSY is 16 (0x10) EBUSY, not EINVAL = 22 (0x16) with round 7",
    "fails_by_errno": "is NULL with errno 5 (EIO), not ENOENT = 2",
    "fails_by_pointer": "&ended is not NULL with ENOENT",
    "fails_by_bytes": 'byte 2 of "abc" is 0x63, not 0x64',
    "fails_by_string": '"abc" is "abc", not "abd"',
    "fails_by_equality": "3 is 3 (0x3), as 3 must not be",
    "fails_at_its_end": 'not so: !"ended badly"',
    "leaves_a_descriptor": "1 descriptors are open that were not before",
    "fails_in_a_thread": "selftest.c:85: 1 is 1 (0x1), not 2 = 2 (0x2)",
}
SKIPS = {"skips_itself": "no reason", "misses_something": "nothing soft"}


def run(*args):
    p = subprocess.run([sys.argv[1], *args], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=60)
    return p.returncode, p.stdout


def main():
    wrong = []

    def check(what, good, out):
        if not good:
            wrong.append(f"{what}:\n{out}")

    code, out = run("selftest.passes", "selftest.leaves_a_thread")
    check("passes", code == 0 and out == "TAP version 13\n1..2\nok 1 - selftest.passes\nok 2 - selftest.leaves_a_thread\n", out)
    # A first case is free to leave descriptors behind.
    for name, text in FAILS.items():
        code, out = run("selftest.passes", "selftest." + name)
        check(name, code == 1 and text in out and f"not ok 2 - selftest.{name}\n# a fact requires: Fails.\n" in out, out)
        if name == "fails_by_value":
            check("owned things", "# end 3\n# end 1\n" in out and "reached" not in out, out)
        if name == "fails_in_a_thread":
            check("a thread goes on", "not 4 = 4 (0x4)" in out and "# goes on" in out, out)
    for name, why in SKIPS.items():
        code, out = run("selftest." + name)
        check(name, code == 0 and f"ok 1 - selftest.{name} # SKIP {why}\n" in out, out)
        code, out = run("-n", "selftest." + name)
        check(name + " -n", code == 1 and f"# skipped: {why}\nnot ok 1 - selftest.{name}\n" in out, out)
    code, out = run("selftest.hangs", "selftest.passes") # the order is that of the file
    check("hangs", code == 1 and out.endswith("ok 1 - selftest.passes\nBail out! selftest.hangs hangs\n"), out)
    code, out = run("selftest.crashes")
    check("crashes", code != 0 and "ok 1" not in out, out)
    code, out = run("selftest.no_such_case")
    check("no case", code == 0 and "1..0 # SKIP" in out, out)
    with open("/dev/full", "w") as full:
        p = subprocess.run([sys.argv[1], "selftest.passes"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    check("full", p.returncode == 1 and "could not be written" in p.stderr, p.stderr)
    print("\n".join(wrong), file=sys.stderr)
    return 1 if wrong else 0


sys.exit(main())
