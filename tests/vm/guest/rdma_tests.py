#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""In a guest: rdma_tests.py FOLDER SECONDS TABLE MODULE... runs rdma-core's own tests (pyverbs), unmodified, from the folder where the
   distribution has them. Each test has a process of its own, which may take so many seconds, or four times as many if TABLE has it
   as passed (a slow machine must not make it fail), so that none can hang or crash the others. A line per test: its name, passed, failed or skipped, and why; between tabs."""
import gzip
import os
import random
import shutil
import signal
import sys
import tempfile
import traceback
import unittest


def unpack(source, target):
    os.makedirs(target)
    for name in os.listdir(source):
        path = os.path.join(source, name)
        if name.endswith(".py.gz"):
            with gzip.open(path) as packed, open(os.path.join(target, name[:-3]), "wb") as f:
                shutil.copyfileobj(packed, f)
        elif name.endswith(".py"):
            shutil.copy(path, target)


class Told(unittest.TestResult):
    """What became of one test, in a line."""
    told = "failed\tno result"

    def addSuccess(self, test):
        self.told = "passed\t"

    def addSkip(self, test, reason):
        self.told = "skipped\t" + reason

    def addError(self, test, err):
        where = [f for f in traceback.extract_tb(err[2]) if "unittest" not in f.filename][-1]
        self.told = f"failed\t{err[0].__name__}: {err[1]} ({os.path.basename(where.filename)}: {where.name})"

    def addFailure(self, test, err):
        self.addError(test, err)


def each(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from each(test)
        else:
            yield test


def run(test, seconds):
    ours, theirs = os.pipe()
    pid = os.fork()
    if not pid:
        os.setpgid(0, 0)
        signal.alarm(seconds)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        result = Told()
        random.seed(test.id())  # they choose attributes by chance: the same ones each time
        try:
            test.run(result)
        except BaseException as e:  # what unittest lets through ends this process only
            result.told = f"failed\t{type(e).__name__}: {e}"
        os.write(theirs, " ".join(result.told.split(" ")).replace("\n", " ").encode()[:400])
        os._exit(0)
    os.close(theirs)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    try:
        os.killpg(pid, signal.SIGKILL)  # the processes that a test began
    except ProcessLookupError:
        pass
    os.set_blocking(ours, False)
    try:
        told = os.read(ours, 1000).decode(errors="replace")
    except BlockingIOError:
        told = ""
    os.close(ours)
    if status == -signal.SIGALRM:
        return f"failed\tno end after {seconds} s"
    return told or f"failed\tdied: {status}"


def main():
    source, seconds, table, modules = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4:]
    with open(table, encoding="utf-8") as f:
        good = {line.split("\t")[0] for line in f if "\tpassed\t" in line}
    top = tempfile.mkdtemp()
    unpack(source, top + "/tests")
    sys.path[:0] = [top, top + "/tests"]
    sys.argv[1:] = ["--dev", "mlx5_0", "--gid", "0"]  # named, so that the port need not be up
    from args_parser import parser  # of the tests; their own runner does the same
    parser.parse_args()
    print("READY", flush=True)
    for module in modules:
        try:
            suite = unittest.defaultTestLoader.loadTestsFromName("tests." + module)
        except Exception as e:
            print(f"{module}\tfailed\t{type(e).__name__}: {e}", flush=True)
            continue
        for test in each(suite):
            name = test.id().removeprefix("tests.")
            print(f"{name}\t{run(test, seconds * 4 if name in good else seconds)}", flush=True)
    print("END", flush=True)


main()
