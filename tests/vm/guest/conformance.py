#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""In a guest: conformance.py OUT PROGRAM [OPTION...] runs devx-conformance to the end, whatever a case does to it: after one that
   hangs or crashes it goes on with the next. Its lines go to the file OUT; control lines as relay.py has them."""
import re
import subprocess
import sys

import relay

STOPPED = re.compile(r"^Bail out! (\S+) (.*)")
LIMIT = 90  # seconds of a case


def names(program):
    lines = subprocess.run([program, "--list"], check=True, capture_output=True, text=True).stdout.splitlines()
    return [line.split(" ", 1)[0] for line in lines]


def run(command, cases, log):
    """Runs these cases. Which did not come to an end, and why; None: all did."""
    done = 0
    with subprocess.Popen([*command, "--timeout", str(LIMIT), *cases], stdout=subprocess.PIPE, text=True) as p:
        for line in p.stdout:
            log.write(line)
            log.flush()
            m = STOPPED.match(line)
            if m and m[1] in cases:
                p.wait()
                return m[1], m[2]
            done += line.startswith(("ok ", "not ok "))
    return None if done == len(cases) else (cases[done], f"ended with {p.returncode}")


def main():
    path, command = sys.argv[1], sys.argv[2:]
    control = relay.begin()
    left = names(command[0])
    with open(path, "w", encoding="utf-8") as log:
        while left:
            stopped = run([*command, "--control", control], left, log)
            if not stopped:
                break
            log.write(f"not ok 0 - {stopped[0]}\n# {stopped[1]}\n")
            left = left[left.index(stopped[0]) + 1:]
        log.write("END\n")


main()
