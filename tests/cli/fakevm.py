#!/usr/bin/python3 -IS
# SPDX-License-Identifier: BSD-2-Clause
"""Stands for QEMU and the guest's init, or for the device's server: fakevm.py ARGUMENTS as these get them.
   FAKE names what it does; everything that it is given goes to the file FAKE_LOG."""
import json
import os
import socket
import struct
import sys
import time

FAKE = os.environ.get("FAKE", "echo").split(",")
HELLO, LOG, FAIL, UP, DATA, EOF, CREDIT, EXIT, JOB, SIGNAL, SIZE = range(1, 12)


def note(*words):
    with open(os.environ["FAKE_LOG"], "a", encoding="utf-8") as f:
        print(*words, file=f, flush=True)


def serve():
    path, count = sys.argv[sys.argv.index("--socket") + 1], int(sys.argv[sys.argv.index("--count") + 1])
    socks = []
    note("server", os.getpid(), *sys.argv[1:])
    for place in (path, sys.argv[sys.argv.index("--control") + 1]):
        for i in range(count):
            socks.append(socket.socket(socket.AF_UNIX))
            socks[-1].bind(place if count == 1 else f"{place}.{i}")
    if "server-dies" in FAKE:
        print("the server is sorry", flush=True)
        time.sleep(0.3)
        sys.exit(9)
    time.sleep(600)


class Guest:
    def __init__(self):
        self.link, self.qmp, self.console = (socket.socket(fileno=fd) for fd in (3, 4, 5))
        self.buf, self.job, self.saved = b"", b"", False

    def send(self, kind, data=b"", stream=0):
        self.link.sendall(struct.pack("<BBHI", kind, stream, 0, len(data)) + data)

    def frame(self):
        while len(self.buf) < 8 or len(self.buf) < 8 + struct.unpack("<I", self.buf[4:8])[0]:
            more = self.link.recv(65536)
            if not more:
                sys.exit(0)
            self.buf += more
        n = 8 + struct.unpack("<I", self.buf[4:8])[0]
        data, self.buf = self.buf[:n], self.buf[n:]
        return data[0], data[1], data[8:]

    def event(self, name, **data):
        self.qmp.sendall(json.dumps({"event": name, "data": data}).encode() + b"\n")

    def monitor(self, until):
        """Answers QEMU's monitor until this request has come."""
        lines = b""
        while True:
            more = self.qmp.recv(65536)
            if not more:
                sys.exit(0)
            lines += more
            while True:
                try:
                    req, end = json.JSONDecoder().raw_decode(lines.decode())
                except ValueError:
                    break
                lines = lines[end:].lstrip()
                self.request(req)
                if req["execute"] == until:
                    return

    def request(self, req):
        what, answer = req["execute"], {}
        note("qmp", json.dumps(req))
        if what == "query-status":
            answer = {"status": "paused" if "no-room" in FAKE else "postmigrate"}
        if what == "device_add" and "no-plug" in FAKE:
            self.qmp.sendall(json.dumps({"error": {"class": "x", "desc": "no bus"}, "id": req["id"]}).encode() + b"\r\n")
            return
        self.qmp.sendall(json.dumps({"return": answer, "id": req["id"]}).encode() + b"\r\n")
        if what in ("migrate", "migrate-incoming"):
            path = req["arguments"]["uri"][len("file:"):]
            if what == "migrate":
                self.saved = True
                with open(path, "w", encoding="utf-8") as f:
                    f.write("" if "no-room" in FAKE else "state")
            with open(path, encoding="utf-8") as f:
                self.event("MIGRATION", status="completed" if f.read() == "state" else "failed")

    def boot(self):
        self.qmp.sendall(b'{"QMP": {}}\r\n')
        self.monitor("qmp_capabilities")
        if "kvm-error" in FAKE and "kvm" in sys.argv:
            self.event("STOP")
            time.sleep(600)
        if "hang" in FAKE:
            time.sleep(600)
        if "panic" in FAKE:
            self.console.sendall(b"Kernel panic - not syncing: \x1b[31mtest\n" + b"[    1.0]  a_long_trace+0x1/0x2\n" * 80)
            sys.exit(0)
        if "-incoming" not in sys.argv:
            self.send(HELLO, struct.pack("<I", 2 if "version" in FAKE else 1))
        self.monitor("cont")
        if self.saved:  # that was to go on behind the snapshot
            self.monitor("cont")
        while True:
            kind, _, data = self.frame()
            assert kind == JOB
            if not data:
                break
            self.job += data
        note("job", *[s.decode() for s in self.job.split(b"\0") if s[:1] not in b"r"])

    def run(self):
        self.boot()
        self.send(LOG, b"[    1.0] a line of the kernel\n")
        if "bad-frame" in FAKE:
            self.link.sendall(b"\xff" * 100)
            time.sleep(600)
        if "early-exit" in FAKE:
            self.send(EXIT, bytes(4))
            time.sleep(600)
        if "fail" in FAKE:
            self.send(FAIL, b"cannot mount the moon")
            time.sleep(600)
        self.send(UP)
        note("up")
        while "flood" in FAKE:  # sooner or later more than a window: less is written out than comes in
            self.send(DATA, bytes(65536), 1)
        if "die" in FAKE:
            os._exit(3)
        if "signal" in FAKE:
            while True:
                kind, _, data = self.frame()
                if kind == SIGNAL:
                    self.send(EXIT, data)
        echoed = 0
        while True:
            kind, stream, data = self.frame()
            if kind == DATA:
                assert stream == 0
                echoed += len(data)
                self.send(DATA, data, 1)
            if kind == CREDIT:  # what the host could write, it may send anew
                self.send(CREDIT, data, 0)
            if kind == EOF:
                break
        self.send(DATA, b"%d bytes\n" % echoed, 2)
        self.send(EXIT, struct.pack("<I", int(os.environ.get("FAKE_CODE", "0")) << 8))
        time.sleep(600)  # QEMU is ended by its parent


def main():
    if "--version" in sys.argv:
        print("QEMU emulator version", os.environ.get("FAKE_VERSION", "11.1.0"))
    elif sys.argv[1:3] == ["-device", "vfio-user-pci,help"]:
        sys.exit(1 if "no-vfio-user" in FAKE else 0)
    elif sys.argv[1] == "serve":
        serve()
    else:
        note("qemu", os.getpid(), *sys.argv[1:])
        Guest().run()


main()
