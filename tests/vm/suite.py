# SPDX-License-Identifier: BSD-2-Clause
"""What the parts of the VM suite share: results, guests, servers."""
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time

CASE = re.compile(r"^(not )?ok \d+ - (.*?)( # SKIP .*)?$")
PLAN = re.compile(r"^1\.\.(\d+)")
LOG_END = 30      # lines of a log that a failure shows
BOOT_LIMIT = 240  # seconds: a machine with other work boots slowly


class Suite:
    """Where things are, and what came out: results.tap in the output folder."""

    def __init__(self, top, build, out, folder):
        self.top, self.build, self.out, self.folder = top, build, out, folder
        self.devx = os.path.join(build, "tools/devx")
        self.stage = os.path.join(out, "stage")
        self.passed = self.failed = self.skipped = 0
        os.makedirs(out, exist_ok=True)
        self.file = open(os.path.join(out, "results.tap"), "w", encoding="utf-8")

    def case(self, name, good, why="", skip=""):
        number = self.passed + self.failed + self.skipped + 1
        self.passed += good and not skip
        self.failed += not good
        self.skipped += bool(good and skip)
        self.file.write(f"{'' if good else 'not '}ok {number} - {name}{' # SKIP ' + skip if skip else ''}\n")
        if not good:
            text = "\n".join(f"# {line}" for line in why.splitlines())
            print(f"FAILED: {name}\n{text}" if text else f"FAILED: {name}", flush=True)
            self.file.write(text + "\n")
        self.file.flush()
        return good

    def tap(self, name, text, code, log):
        """Takes the cases of a program that printed TAP; one that is not all there, or ended badly for no case, has failed."""
        cases, comments, bad = [], [], 0
        for line in text.splitlines():
            m = CASE.match(line)
            if m:
                cases.append(m)
                self.case(f"{name}: {m[2]}", not m[1], skip=(m[3] or "").removeprefix(" # SKIP "),
                          why="\n".join(comments))
                bad += bool(m[1])
                comments = []
            elif line.startswith("#"):
                comments.append(line[2:])
        plan = [int(m[1]) for m in map(PLAN.match, text.splitlines()) if m]
        whole = plan == [len(cases)] and (code == 0 or bad)
        self.case(f"{name}: ends", whole, f"exit code {code}, {len(cases)} cases, plan {plan}\n" + "\n".join(comments) + "\n" + tail(log))
        if bad:
            print(tail(log), flush=True)
        return whole and not bad

    def end(self):
        number = self.passed + self.failed + self.skipped
        self.file.write(f"1..{number}\n")
        self.file.close()
        return self.failed == 0 and self.passed > 0


def tail(path, lines=LOG_END):
    try:
        with open(path, encoding="utf-8", errors="replace") as f:
            return f"-- end of {path}\n" + "".join(f.readlines()[-lines:])
    except OSError as e:
        return str(e)


class Guest:
    """One boot: the command's output and exit code. kernel: a version for devx vm; root: "" for this machine's own tree. answer:
       the command's output is lines, each of which gets one for its input."""

    def __init__(self, suite, name, command, timeout, kernel="", root="", options=(), answer=None):
        self.log = os.path.join(suite.out, name + ".log")
        self.started = time.monotonic()
        line = [suite.devx, "vm", "--dir", suite.folder, "--share", suite.out, "--log", self.log,
                "--boot-timeout", str(BOOT_LIMIT), *options]
        line += ["--kernel", kernel] if kernel else []
        line += ["--root", root] if root else []
        self.p = subprocess.Popen([*line, "--", *command], stdin=subprocess.PIPE if answer else subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True)
        limit = threading.Timer(timeout, self.end)
        limit.start()
        self.out = self.pass_on(answer) if answer else ""
        out, self.err = self.p.communicate()
        self.out += out
        limit.cancel()
        if time.monotonic() - self.started >= timeout:
            self.err += f"\nno end after {timeout} s"
        self.code = self.p.returncode
        self.seconds = time.monotonic() - self.started
        with open(os.path.join(suite.out, name + ".out"), "w", encoding="utf-8") as f:
            f.write(self.out)
        with open(self.log, "a", encoding="utf-8", errors="replace") as f:
            f.write(f"\n-- stderr of devx vm\n{self.err}\n-- exit code {self.code}, {self.seconds:.1f} s\n")
        print(f"   {name}: {self.seconds:.0f} s", flush=True)

    def pass_on(self, answer):
        said = []
        for line in self.p.stdout:
            reply = answer(line)
            said.append(f"{line.rstrip()} -> {reply}\n")
            try:
                self.p.stdin.write(reply + "\n")
                self.p.stdin.flush()
            except BrokenPipeError:
                break
        return "".join(said)

    def end(self):
        for how in (signal.SIGTERM, signal.SIGKILL):
            if self.p.poll() is None:
                os.killpg(self.p.pid, how)
            try:
                self.p.wait(15)
                return
            except subprocess.TimeoutExpired:
                pass


class Server:
    """devx serve with its socket, and a control socket that answers line by line."""

    def __init__(self, suite, name, *options):
        self.socket, self.control = (os.path.join(suite.out, f"{name}.{kind}") for kind in ("sock", "control"))
        for path in (self.socket, self.control):
            if os.path.exists(path):
                os.unlink(path)
        self.log = open(os.path.join(suite.out, name + ".server"), "w", encoding="utf-8")
        self.p = subprocess.Popen([suite.devx, "serve", "--socket", self.socket, "--control", self.control, *options],
                                  stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        self.connection = None
        until = time.monotonic() + 20
        while not (os.path.exists(self.socket) and os.path.exists(self.control)):
            if self.p.poll() is not None or time.monotonic() > until:
                sys.exit(f"devx serve does not start: {tail(self.log.name)}")
            time.sleep(0.05)

    def say(self, line):
        if not self.connection:
            s = socket.socket(socket.AF_UNIX)
            s.connect(self.control)
            s.settimeout(30)
            self.connection = s.makefile("rw", encoding="utf-8")
        self.connection.write(line.rstrip("\n") + "\n")
        self.connection.flush()
        return self.connection.readline().rstrip("\n")

    def end(self):
        """True: it was still there, and ended as it should."""
        alive = self.p.poll() is None
        self.p.terminate()
        try:
            code = self.p.wait(10)
        except subprocess.TimeoutExpired:
            self.p.kill()
            code = self.p.wait()
        self.log.close()
        return alive and code == 0
