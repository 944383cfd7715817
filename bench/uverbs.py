#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""uverbs.py OURS THEIRS STEPS [ROUNDS]: the benchmark on a device of the kernel. Two builds of one program (uverbs.c), over our
   library and over rdma-core's, take turns many times; a figure is the median of the rounds' ratios. STEPS counts the
   instructions of each. Lines: what, ratio, lowest and highest quarter, nanoseconds of ours and theirs per command; between tabs."""
import statistics
import subprocess
import sys

WORK = {  # what, the line for the program, commands of a round
    "sync query": ("sync {n}", 150),
    "round trip": ("async {n} 1", 150),
    "16 in flight": ("async {n} 16", 400),
    "31 in flight": ("async {n} 31", 400),
}
STEPS = 20


class Side:
    def __init__(self, program):
        self.p = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.p.stdout.readline() != "ready\n":
            sys.exit(f"{program} is not ready")

    def run(self, line):
        self.p.stdin.write(line + "\n")
        self.p.stdin.flush()
        return int(self.p.stdout.readline())

    def end(self):
        self.p.stdin.close()
        if self.p.wait():
            sys.exit("a side failed")


def steps(program, tool):
    words = subprocess.run([tool, str(STEPS), program], check=True, capture_output=True, text=True).stdout.split()
    return int(words[1]), int(words[3])


def main():
    ours, theirs = Side(sys.argv[1]), Side(sys.argv[2])
    rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 40
    for what, (line, n) in WORK.items():
        line = line.format(n=n)
        times = []
        for i in range(rounds):
            first, second = (ours, theirs) if i % 2 else (theirs, ours)
            a, b = first.run(line), second.run(line)
            times.append((a, b) if i % 2 else (b, a))
        ratios = [a / b for a, b in times]
        low, median, high = statistics.quantiles(ratios, n=4)
        print(f"{what}\t{median:.3f}\t{low:.3f}\t{high:.3f}\t{statistics.median(t[0] for t in times) / n:.0f}"
              f"\t{statistics.median(t[1] for t in times) / n:.0f}", flush=True)
    ours.end()
    theirs.end()
    (s1, g1), (s2, g2) = steps(sys.argv[1], sys.argv[3]), steps(sys.argv[2], sys.argv[3])
    print(f"instructions\t{(s1 + g1) / (s2 + g2):.3f}\t{s1}\t{g1}\t{s2}\t{g2}", flush=True)


main()
