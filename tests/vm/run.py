#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""run.py BUILD OUT FOLDER [PART...]: the VM suite (README.md), or some of its parts. BUILD has the programs, OUT gets the logs and
   results.tap, FOLDER is that of `devx vm --bootstrap`."""
import os
import shutil
import sys
import time

from suite import Guest, Server, Suite

PROFILES = ("cx5", "cx6dx", "cx7", "bf3")
KERNELS = {"6.1": 2, "6.12": 2}  # of Debian's stable releases: with so many devices; the newest has one of each profile
BUILT = ("tools/devx", "tests/conformance/devx-conformance", "tests/abi/devx-conformance-rdma", "bench/bench-uverbs",
         "bench/bench-uverbs-rdma", "bench/bench-steps", "src/api/libopendevx.so.0")


def stage(s):
    """What the guests run, in a folder that they see at the same path."""
    shutil.rmtree(s.stage, ignore_errors=True)
    shutil.copytree(os.path.join(s.top, "tests/vm"), s.stage)
    shutil.copy(os.path.join(s.top, "bench/uverbs.py"), s.stage)
    for name in BUILT:
        shutil.copy(os.path.join(s.build, name), s.stage)


def script(s, name, *words):
    return [os.path.join(s.stage, "guest", name), *map(str, words)]


def old_kernels(s):
    for kernel, count in KERNELS.items():
        name = "kernel-" + kernel
        g = Guest(s, name, script(s, "kernel.sh", count), 420, kernel=kernel, root=s.root, options=("--devices", str(count)))
        s.tap(name, g.out, g.code, g.log)


def new_kernel(s):
    name = "kernel-new"
    servers = [Server(s, "profile-" + p, "--spec", "profile=" + p) for p in PROFILES]
    connect = [word for server in servers for word in ("--connect", server.socket)]
    g = Guest(s, name, script(s, "kernel.sh", len(PROFILES)), 420, root=s.root, options=connect)
    s.tap(name, g.out, g.code, g.log)
    for profile, server in zip(PROFILES, servers):
        s.case(f"{name}: the server of {profile} ends cleanly", server.end())


PARTS = {"old-kernels": old_kernels, "new-kernel": new_kernel}


def main():
    build, out, folder = map(os.path.abspath, sys.argv[1:4])
    s = Suite(os.path.abspath(os.path.join(os.path.dirname(__file__), "../..")), build, out, folder)
    s.root = os.environ.get("OPENDEVX_VM_ROOT") or os.path.join(folder, "root")
    wanted = sys.argv[4:] or list(PARTS)
    unknown = [part for part in wanted if part not in PARTS]
    if unknown:
        sys.exit(f"run.py: {unknown[0]}: the parts are {', '.join(PARTS)}")
    stage(s)
    for part in wanted:
        print(f"== vm: {part}", flush=True)
        begin = time.monotonic()
        try:
            PARTS[part](s)
        except Exception as e:  # the other parts still run
            s.case(f"{part}: runs", False, f"{type(e).__name__}: {e}")
        print(f"== vm: {part}: {time.monotonic() - begin:.0f} s", flush=True)
    sys.exit(0 if s.end() else 1)


main()
