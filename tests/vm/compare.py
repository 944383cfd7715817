# SPDX-License-Identifier: BSD-2-Clause
"""Holds three runs of devx-conformance against each other: on the software device in a process, on the kernel with our library,
   and on the kernel with rdma-core's. Each case must come out the same, or stand in differences.tsv as it came out."""
import fnmatch
import re

CASE = re.compile(r"^(not )?ok \d+ - (\S+)(?: # SKIP (.*))?$")
# What one side cannot be asked: the case is none of its contract.
ONLY_OURS = "only OpenDEVX defines this"


class Verdicts(dict):
    """Case to (verdict, why)."""

    def __init__(self, path):
        super().__init__()
        comments = []
        self.ended = False
        with open(path, encoding="utf-8", errors="replace") as f:
            for line in f:
                m = CASE.match(line.rstrip("\n"))
                if m:
                    self[m[2]] = ("fail", "; ".join(comments)) if m[1] else ("skip", m[3]) if m[3] else ("pass", "")
                    comments = []
                elif line.startswith("# ") and " requires: " not in line:
                    comments.append(line[2:].strip())
                self.ended = self.ended or line == "END\n"


class Known:
    """Lines of differences.tsv: cases (a shell pattern), ours, rdma-core's, and why."""

    def __init__(self, path):
        self.lines, self.used = [], set()
        with open(path, encoding="utf-8") as f:
            for line in f:
                if line.startswith("#") or not line.strip():
                    continue
                fields = line.rstrip("\n").split("\t")
                if len(fields) != 4 or not fields[3]:
                    raise ValueError(f"{path}: not CASE OURS THEIRS WHY between tabs: {line}")
                self.lines.append(fields)

    def find(self, case, ours, theirs):
        for i, (pattern, a, b, why) in enumerate(self.lines):
            if fnmatch.fnmatchcase(case, pattern) and (a, b) == (ours, theirs):
                self.used.add(i)
                return why
        return None

    def stale(self):
        return ["\t".join(line) for i, line in enumerate(self.lines) if i not in self.used]


def expected(soft, ours, theirs):
    """What needs no line: the same everywhere, or a question that is not for this side."""
    if soft[0] != "pass":
        return False
    if ours[0] == "skip" and theirs[0] == "skip":
        return ours[1] == theirs[1] or theirs[1] == ONLY_OURS
    return ours[0] == "pass" and (theirs[0] == "pass" or theirs == ("skip", ONLY_OURS))


def compare(case, soft, ours, theirs, known):
    """Calls case(name, good, why, skip) for each; returns how many were the same, known to differ, and asked of neither."""
    counts = {"same": 0, "known": 0, "neither": 0}
    gone = ("missing", "")
    for name in soft:
        a, b = ours.get(name, gone), theirs.get(name, gone)
        verdict = f"software device: {soft[name][0]}\nours: {' '.join(a)}\nrdma-core's: {' '.join(b)}"
        good = expected(soft[name], a, b)
        why = None if good else known.find(name, a[0], b[0])
        if not good and why is None:
            verdict += f"\nits line would be: {name}\t{a[0]}\t{b[0]}\tWHY"
        skip = f"{a[1]}" if a[0] == b[0] == "skip" else ""
        counts["neither" if skip else "same" if good else "known"] += good or why is not None
        case(f"conformance: {name}", good or why is not None, verdict, skip)
    for line in known.stale():
        case(f"conformance: a difference that is none any more: {line}", False, "take the line out of differences.tsv")
    return counts
