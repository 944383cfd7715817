#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Prints what ninja must make for the tests of some suites: targets.py BUILD SUITE..."""
import json
import os
import subprocess
import sys


def introspect(build, what):
    return json.loads(subprocess.run(["meson", "introspect", what, build], stdout=subprocess.PIPE, check=True).stdout)


def main():
    build, suites = os.path.abspath(sys.argv[1]), {f"opendevx:{name}" for name in sys.argv[2:]}
    wanted = {target for test in introspect(build, "--tests") if suites & set(test["suite"]) for target in test["depends"]}
    for target in introspect(build, "--targets"):
        if target["id"] in wanted:
            print(*(os.path.relpath(name, build) for name in target["filename"]))


main()
