#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""run.py BUILD OUT FOLDER [PART...]: the VM suite (README.md), or some of its parts. BUILD has the programs, OUT gets the logs and
   results.tap, FOLDER is that of `devx vm --bootstrap`. run.py --known PART...: fails if one is not the name of a part."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

import compare
import machines
from suite import BOOT_LIMIT, Guest, Server, Suite, tail

PROFILES = ("cx5", "cx6dx", "cx7", "bf3")
KERNELS = {"6.1": 2, "6.12": 2}  # of Debian's stable releases: with so many devices; the newest has one of each profile
BUILT = ("tools/devx", "tests/conformance/devx-conformance", "tests/abi/devx-conformance-rdma", "bench/bench-uverbs",
         "bench/bench-uverbs-rdma", "bench/bench-steps", "tests/vm/hung", "tests/vm/hung-rdma", "src/api/libopendevx.so.0")
RDMA_TABLE = "docs/rdma-core-tests.tsv"
RDMA_TESTS = "/usr/share/doc/rdma-core/tests"
RDMA_MODULES = ("test_mlx5_devx", "test_mlx5_devx_async_events", "test_mlx5_uar", "test_mlx5_var", "test_mlx5_pp", "test_mlx5_query_port",
                "test_mlx5_huge_page", "test_device", "test_pd", "test_mr", "test_cq", "test_mlx5_cq", "test_qp", "test_addr",
                "test_parent_domain")
TIMEOUT = "timeout=3s"   # of the guest's commands, where one is to hang
KERNEL_LIMIT = 900       # seconds; a minute or two where nothing else runs
MACHINE_LIMIT = 1200     # a dozen starts
BENCH_TRIES = 3          # a ratio far off is measured again
RATIO_FAR, RATIO_GOAL, STEPS_GOAL = 1.10, 1.03, 0.80


def stage(s):
    """What the guests run, in a folder that they see at the same path; what an earlier run left is gone."""
    for name in os.listdir(s.out):
        if name != "results.tap" and os.path.isfile(os.path.join(s.out, name)):
            os.unlink(os.path.join(s.out, name))
    shutil.rmtree(s.stage, ignore_errors=True)
    shutil.copytree(os.path.join(s.top, "tests/vm"), s.stage)
    for name in ("bench/uverbs.py", RDMA_TABLE):
        shutil.copy(os.path.join(s.top, name), s.stage)
    for name in BUILT:
        shutil.copy(os.path.join(s.build, name), s.stage)


def script(s, name, *words):
    return [os.path.join(s.stage, "guest", name), *map(str, words)]


def result(s, name):
    """A file that a guest wrote."""
    path = os.path.join(s.out, name)
    if os.path.exists(path):
        with open(path, encoding="utf-8", errors="replace") as f:
            return f.read()
    return ""


def old_kernels(s):
    for kernel, count in KERNELS.items():
        name = "kernel-" + kernel
        g = Guest(s, name, script(s, "kernel.sh", count), KERNEL_LIMIT, kernel=kernel, root=s.root, options=("--devices", str(count)))
        s.tap(name, g.out, g.code, g.log)


def new_kernel(s):
    name = "kernel-new"
    servers = [Server(s, "profile-" + p, "--spec", "profile=" + p) for p in PROFILES]
    connect = [word for server in servers for word in ("--connect", server.socket)]
    g = Guest(s, name, script(s, "kernel.sh", len(PROFILES)), KERNEL_LIMIT, root=s.root, options=connect)
    s.tap(name, g.out, g.code, g.log)
    for profile, server in zip(PROFILES, servers):
        s.case(f"{name}: the server of {profile} ends cleanly", server.end())


def boots(s, name, count, hows, shared=True):
    """One machine, a boot for each way to end it: the cards are as new each time."""
    servers = [Server(s, f"{name}-{i}") for i in range(count)]
    log = os.path.join(s.out, name + ".log")
    m = None
    try:
        m = machines.Machine(s, [server.socket for server in servers], s.root, log, shared)
        for n, how in enumerate(hows):
            if n:
                m.wait(machines.HELLO, BOOT_LIMIT)
            m.run(count, *script(s, "reboot.sh", count, how))
            m.wait(machines.UP, BOOT_LIMIT)
            s.tap(f"{name}: boot {n + 1}", m.wait(machines.DATA, BOOT_LIMIT), 0, log)
            m.send(machines.DATA, b"go on\n")
        m.wait(machines.EXIT, 60)
    finally:
        if m:
            m.end()
        s.case(f"{name}: the servers end cleanly", all([server.end() for server in servers]))


def reboot(s):
    boots(s, "reboot", 2, ("orderly", "at once", "end"))


def messages(s):
    boots(s, "messages", 1, ("orderly", "end"), shared=False)


def served(s, name, command, limit, *options):
    """A guest on a device whose control lines the guest's programs write to their standard output (relay.py)."""
    server = Server(s, name, *options)
    g = Guest(s, name, command, limit, root=s.root, options=("--connect", server.socket), answer=server.say)
    s.case(f"{name}: the server ends cleanly", server.end(), tail(os.path.join(s.out, name + ".server")))
    return g


def quiet(s, name, g):
    """The last line of the guest's script is about its kernel's log."""
    text = result(s, name + ".dmesg").strip()
    s.case(f"{name}: nothing broken in the kernel's log", g.code == 0 and os.path.exists(os.path.join(s.out, name + ".dmesg")) and not text, text + "\n" + tail(g.log))


def conformance(s):
    name = "conformance"
    soft = os.path.join(s.out, name + ".soft.tap")
    with open(soft, "w", encoding="utf-8") as f:
        subprocess.run([os.path.join(s.stage, "devx-conformance"), "--soft", "on"], stdout=f, stderr=subprocess.DEVNULL, timeout=300, check=False,
                       env=dict(os.environ, LD_LIBRARY_PATH=s.stage))
    g = served(s, name, script(s, "conformance.sh", s.out), 1200)
    runs = [compare.Verdicts(os.path.join(s.out, f"{name}.{side}.tap")) for side in ("soft", "ours", "rdma")]
    s.case(f"{name}: ours comes to its end", runs[1].ended, tail(g.log))
    s.case(f"{name}: rdma-core's comes to its end", runs[2].ended, tail(g.log))
    counts = compare.compare(s.case, *runs, compare.Known(os.path.join(s.top, "tests/vm/differences.tsv")))
    print(f"   {counts['same']} cases come out the same, {counts['known']} differ for a known reason, {counts['neither']} need what no kernel has")
    quiet(s, name, g)


def table(path):
    """Test to (result, reason)."""
    with open(path, encoding="utf-8") as f:
        lines = [line.rstrip("\n").split("\t") for line in f if not line.startswith("#")]
    return {test: (verdict, why) for test, verdict, why in lines}


def rdma_core(s):
    """The table only grows: what passed passes, and what passes now is entered."""
    name = "rdma-core"
    g = Guest(s, name, script(s, "rdma_tests.sh", s.out, RDMA_TESTS, os.path.join(s.stage, os.path.basename(RDMA_TABLE)), *RDMA_MODULES), 1200, root=s.root)
    text = result(s, name + ".results")
    now = {f[0]: (f[1], f[2]) for f in (line.split("\t") for line in text.splitlines()) if len(f) == 3}
    was = table(os.path.join(s.top, RDMA_TABLE))
    with open(os.path.join(s.out, name + "-tests.tsv"), "w", encoding="utf-8") as f:  # what docs/rdma-core-tests.tsv would be
        f.writelines(f"{test}\t{verdict}\t{why}\n" for test, (verdict, why) in sorted(now.items()))
    s.case(f"{name}: the tests come to their end", text.endswith("END\n"), text[-500:] + tail(g.log))
    for test in sorted(set(now) | set(was)):
        a, b = was.get(test, ("not entered", "")), now.get(test, ("missing", ""))
        s.case(f"{name}: {test}", a[0] == b[0], f"docs/rdma-core-tests.tsv has: {a[0]}, {a[1]}\nnow: {b[0]}, {b[1]}",
               skip=f"{a[0]}: {a[1]}" if a[0] != "passed" and a[0] == b[0] else "")
    totals = {v: sum(r[0] == v for r in now.values()) for v in ("passed", "failed", "skipped")}
    print(f"   rdma-core's tests: {totals}")
    quiet(s, name, g)


def expected_hung(s):
    """The rows of the table in docs/hung.md: what is seen, with rdma-core's, with ours."""
    with open(os.path.join(s.top, "docs/hung.md"), encoding="utf-8") as f:
        rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in f if line.startswith("| ")]
    return {row[0]: row[1:3] for row in rows[1:] if len(row) >= 3}


def hung(s):
    rows = expected_hung(s)
    for side, column in (("rdma", 0), ("ours", 1)):
        name = "hung-" + side
        g = served(s, name, script(s, "hung.sh", s.out, side), 240, "--spec", TIMEOUT)
        seen = dict(line.split("\t", 1) for line in result(s, name + ".seen").splitlines() if "\t" in line)
        s.case(f"{name}: comes to its end", result(s, name + ".seen").endswith("END\n"), tail(g.log))
        for what in {**rows, **seen}:
            wanted = rows.get(what, ["not in docs/hung.md"] * 2)[column]
            s.case(f"{name}: {what}", seen.get(what) in re.split(r" or ", wanted), f"seen: {seen.get(what)}\ndocs/hung.md has: {wanted}")
        quiet(s, name, g)


def counters(s):
    """On this machine's own tree: the numbers are those of the software device in a process, and those that the card has."""
    name = "counters"
    sys.path.insert(0, os.path.join(s.top, "tests/cli"))
    import mkcap  # the frames of the tests of devx

    capture = os.path.join(s.out, name + ".pcap")
    with open(capture, "wb") as f:
        f.write(mkcap.pcap(mkcap.EN10MB, [mkcap.eth(packet) for packet in mkcap.mixed(1, 2000)]))
    line = [os.path.join(s.stage, "devx"), "counters", "--json", "--top", "all"]
    library = "LD_LIBRARY_PATH=" + s.stage
    soft = subprocess.run(["env", library, "OPENDEVX_SOFT=on", *line, capture], capture_output=True, text=True, timeout=120, check=False)
    told = []
    server = Server(s, name)

    def answer(text):
        told.append(text.split())
        return server.say(text)

    relay = ["env", library, *script(s, "relay.py", os.path.join(s.out, name + ".json"))]
    g = Guest(s, name, [*relay, *line, capture, "--control"], 300, options=("--connect", server.socket), answer=answer)
    s.case(f"{name}: the server ends cleanly", server.end())
    kernel, alone = json.loads(result(s, name + ".json") or "{}"), json.loads(soft.stdout or "{}")
    s.case(f"{name}: devx counters runs in the guest", g.code == 0 and kernel.get("flows", 0) > 0, g.err + tail(g.log))
    s.case(f"{name}: the flows are those of the device in a process", all(kernel.get(k) == alone.get(k) for k in ("flows", "packets", "bytes", "top")),
           f"{kernel.get('flows')} and {alone.get('flows')} flows, {soft.stderr}")
    packets = [int(words[2]) for words in told if words[:1] == ["traffic"]]
    s.case(f"{name}: each counter was told its frames", len(packets) == kernel.get("flows") and sum(packets) == kernel.get("packets"),
           f"{len(packets)} lines of traffic for {sum(packets)} packets")


def machine(s):
    """What devx vm promises of itself, on this machine's own tree."""
    log = os.path.join(s.out, "machine.log")
    with open(log, "w", encoding="utf-8") as err:
        p = subprocess.Popen([os.path.join(s.stage, "boot.sh"), s.devx, s.folder], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=err,
                             text=True, errors="replace", start_new_session=True)
        limit = threading.Timer(MACHINE_LIMIT, os.killpg, (p.pid, signal.SIGKILL))
        limit.start()
        out = p.communicate()[0]  # all that it said, also when it came to no end
        limit.cancel()
    print("".join(f"   {line[2:]}\n" for line in out.splitlines() if line.startswith("# first start")), end="")
    s.tap("machine", out, p.returncode, log)


def bench(s):
    """Measured again where a ratio is far off: the machine may have had other work."""
    best = {}
    for attempt in range(BENCH_TRIES):
        name = f"bench-{attempt}"
        g = Guest(s, name, script(s, "bench.sh", s.stage), 400, root=s.root)
        rows = [line.split("\t") for line in g.out.splitlines()]
        for what, ratio, *rest in (row for row in rows if len(row) == 6):
            if what not in best or float(ratio) < best[what][0]:
                best[what] = (float(ratio), rest)
        if len(best) == 5 and all(r <= RATIO_GOAL for what, (r, _) in best.items() if what != "instructions"):
            break
    for what in ("sync query", "round trip", "16 in flight", "31 in flight"):
        ratio, rest = best.get(what, (9.0, ["", "", "", ""]))
        goal = "" if ratio <= RATIO_GOAL else f", misses the goal of {RATIO_GOAL}"
        print(f"   {what}: ours : rdma-core's {ratio:.3f} ({rest[0]} to {rest[1]}), {rest[2]} and {rest[3]} ns{goal}")
        s.case(f"bench: {what}", ratio <= RATIO_FAR, f"ratio {ratio} after {BENCH_TRIES} runs")
    ratio, rest = best.get("instructions", (9.0, ["", "", "", ""]))
    print(f"   instructions: {ratio:.3f}: submit {rest[0]} and get {rest[1]} of ours, {rest[2]} and {rest[3]} of rdma-core's")
    s.case("bench: instructions of a submit and a get", ratio <= STEPS_GOAL, f"ratio {ratio}, more than {STEPS_GOAL}")


PARTS = {"old-kernels": old_kernels, "new-kernel": new_kernel, "reboot": reboot, "messages": messages, "conformance": conformance,
         "rdma-core": rdma_core, "hung": hung, "counters": counters, "machine": machine, "bench": bench}


def main():
    if sys.argv[1] == "--known":  # is each word the name of a part?
        unknown = [part for part in sys.argv[2:] if part not in PARTS]
        sys.exit(f"{unknown[0]}: the parts are {', '.join(PARTS)}" if unknown else 0)
    build, out, folder = map(os.path.abspath, sys.argv[1:4])
    s = Suite(os.path.abspath(os.path.join(os.path.dirname(__file__), "../..")), build, out, folder)
    s.root = os.environ.get("OPENDEVX_VM_ROOT") or os.path.join(folder, "root")
    wanted = sys.argv[4:] or list(PARTS)
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
