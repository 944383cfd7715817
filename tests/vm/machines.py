# SPDX-License-Identifier: BSD-2-Clause
"""A machine as that of devx vm, whose guest may begin anew: devx vm ends with its guest. Or its memory is not shared with the server. This side of the port is tools/vm/wire.h
   and job.h, in short."""
import json
import os
import re
import select
import socket
import struct
import subprocess
import time

HELLO, LOG, FAIL, UP, DATA, EOF, CREDIT, EXIT, JOB = range(1, 10)
STDIN, STDOUT = 0, 1
HEAD = struct.Struct("<BBHI")
FDS = (3, 4, 5)  # where QEMU expects link, QMP and console


def command_line(suite, devices, root):
    """QEMU's arguments and the folder of its modules, read off a devx vm that is ended then."""
    vm = subprocess.Popen([suite.devx, "vm", "--dir", suite.folder, "--root", root, "--no-snapshot", "--accel", "tcg", "--devices", str(devices),
                           "--share", suite.out, "--", "sleep", "60"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 60
        while time.monotonic() < until and vm.poll() is None:
            with open(f"/proc/{vm.pid}/task/{vm.pid}/children", encoding="ascii") as f:
                for pid in f.read().split():
                    with open(f"/proc/{pid}/cmdline", encoding="utf-8") as line, open(f"/proc/{pid}/environ", encoding="utf-8") as env:
                        words = line.read().split("\0")[:-1]
                        modules = [v for v in env.read().split("\0") if v.startswith("QEMU_MODULE_DIR=")]
                    if "-no-reboot" in words:
                        return words, dict(v.split("=", 1) for v in modules)
            time.sleep(0.02)
    finally:
        vm.terminate()
        vm.wait()
    raise RuntimeError("devx vm started no QEMU")


class Machine:
    """One QEMU over several boots of its guest. shared: the server sees the guest's memory, else asks QEMU for each piece of it."""

    def __init__(self, suite, sockets, root, log, shared=True):
        words, env = command_line(suite, len(sockets), root)
        if not shared:
            private = [re.sub(r"memory-backend-memfd,(.*),share=on", r"memory-backend-ram,\1", w) for w in words]
            if private == words:
                raise RuntimeError("there is no shared memory among QEMU's arguments")
            words = private
        pairs = [socket.socketpair() for _ in FDS]
        self.link, self.qmp, self.console = (ours for ours, _ in pairs)
        theirs = [fd.fileno() for _, fd in pairs]

        def place():
            for i, fd in enumerate([os.dup2(fd, 100 + i) for i, fd in enumerate(theirs)]):
                os.dup2(fd, FDS[i])

        self.qemu = subprocess.Popen([w for w in words if w != "-no-reboot"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                     stderr=subprocess.DEVNULL, env=dict(os.environ, **env), preexec_fn=place, pass_fds=(*FDS, *theirs))
        for _, fd in pairs:
            fd.close()
        self.buf, self.share = b"", suite.out
        self.log = open(log, "wb", buffering=0)
        self.lines = self.qmp.makefile("rw", encoding="utf-8")
        self.qmp.settimeout(60)
        self.ask("qmp_capabilities")
        self.wait(HELLO, 240)
        for i, path in enumerate(sockets):
            self.ask("device_add", driver="vfio-user-pci", id=f"device{i}", bus=f"port{i}", rombar=0, socket={"type": "unix", "path": path})

    def ask(self, command, **arguments):
        self.lines.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
        self.lines.flush()
        while True:
            answer = json.loads(self.lines.readline())
            if "error" in answer:
                raise RuntimeError(f"{command}: {answer['error']['desc']}")
            if "return" in answer:
                return

    def send(self, kind, data):
        self.link.sendall(HEAD.pack(kind, STDIN, 0, len(data)) + data)

    def frame(self, until):
        """The next one, whatever the console says meanwhile."""
        while True:
            if len(self.buf) >= HEAD.size:
                kind, stream, _, n = HEAD.unpack_from(self.buf)
                if len(self.buf) >= HEAD.size + n:
                    data, self.buf = self.buf[HEAD.size:HEAD.size + n], self.buf[HEAD.size + n:]
                    return kind, stream, data
            left = until - time.monotonic()
            ready = select.select([self.link, self.console], [], [], left)[0] if left > 0 else []
            if not ready:
                raise RuntimeError("nothing more comes from the guest")
            for s in ready:
                some = s.recv(65536)
                if not some:
                    raise RuntimeError("QEMU has ended")
                if s is self.link:
                    self.buf += some
                else:
                    self.log.write(some)

    def wait(self, wanted, seconds):
        """Until a frame of that type, or STDOUT's plan of TAP: what the guest wrote to its standard output before it."""
        until, out = time.monotonic() + seconds, b""
        while True:
            kind, stream, data = self.frame(until)
            if kind == LOG:
                self.log.write(data)
            elif kind == FAIL:
                raise RuntimeError(f"the guest says: {data.decode(errors='replace')}")
            elif kind == DATA and stream == STDOUT:
                out += data
            if kind == wanted and (kind != DATA or b"\n1.." in out and out.endswith(b"\n")):
                return out.decode(errors="replace")

    def run(self, devices, *command):
        """Gives the guest its command."""
        now = f"{time.time():.9f}"
        items = [("a", word) for word in command]
        items += [("e", "PATH=/usr/sbin:/usr/bin:/sbin:/bin"), ("c", "/"), ("t", now), ("r", os.urandom(64).hex()), ("h", "devx-vm"),
                  ("n", str(devices)), ("p", "0"), ("m", ""), ("s", f"share0 {self.share}")]
        self.send(JOB, b"".join(f"{what}{value}\0".encode() for what, value in items))
        self.send(JOB, b"")

    def end(self):
        self.qemu.kill()
        self.qemu.wait()
        for s in (self.link, self.qmp, self.console, self.log):
            s.close()
