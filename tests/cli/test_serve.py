#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""devx serve: what it takes and refuses, what it leaves behind, how little it may do, and a command through all of it."""
import array
import fcntl
import json
import mmap
import os
import re
import signal
import socket
import struct
import subprocess
import time

from harness import DEVX, DevxTest, ignoring, main

PROFILES = {"cx5": ("ConnectX-5", 0x1017), "cx6dx": ("ConnectX-6 Dx", 0x101D), "cx7": ("ConnectX-7", 0x1021), "bf3": ("BlueField-3", 0xA2DC)}
VERSION, DMA_MAP, GET_INFO, REGION_INFO, REGION_READ, REGION_WRITE = 1, 2, 4, 5, 9, 10
BAR0, CONFIG = 0, 7
ENABLE_HCA = 0x104


class Client:
    """As much of a virtual machine as a command needs."""

    def __init__(self, path, capabilities=b""):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(20)
        self.sock.connect(path)
        self.id = 0
        self.call(VERSION, struct.pack("<HH", 0, 0) + capabilities)

    def call(self, command, payload=b"", fds=()):
        self.id += 1
        message = struct.pack("<HHIII", self.id, command, 16 + len(payload), 0, 0) + payload
        sent = self.sock.sendmsg([message], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else [])
        self.sock.sendall(message[sent:])
        head, anc, _, _ = self.sock.recvmsg(16, socket.CMSG_SPACE(4))
        if not head:
            raise EOFError
        number, answered, size, flags, error = struct.unpack("<HHIII", head)
        assert (number, answered, flags & 15) == (self.id, command, 1), head
        body = b""
        while len(body) < size - 16:
            body += self.sock.recv(size - 16 - len(body))
        if error:
            raise OSError(error, os.strerror(error))
        self.fds = [fd for _, _, data in anc for fd in struct.unpack(f"{len(data) // 4}i", data)]
        return body

    def read(self, region, offset, count):
        return self.call(REGION_READ, struct.pack("<QII", offset, region, count))[16:]

    def write(self, region, offset, data):
        self.call(REGION_WRITE, struct.pack("<QII", offset, region, len(data)) + data)

    def ready(self):
        """Memory, and a command queue in it."""
        fd = os.memfd_create("guest")
        os.ftruncate(fd, 65536)
        self.memory = mmap.mmap(fd, 65536)
        self.call(DMA_MAP, struct.pack("<IIQQQ", 32, 3, 0, 0, 65536), [fd])
        os.close(fd)
        self.write(CONFIG, 4, struct.pack("<H", 6))
        while struct.unpack(">I", self.read(BAR0, 0x1FC, 4))[0] >> 31:
            pass
        self.write(BAR0, 0x10, struct.pack(">II", 0, 0))

    def start(self, opcode):
        """An entry of the command queue with its inbox and outbox inside."""
        self.memory[0:64] = struct.pack(">B3xIQIIII16xQIBBBB", 7, 16, 0, opcode << 16, 0, 0, 0, 0, 16, 1, 0, 0, 1)
        self.write(BAR0, 0x18, struct.pack(">I", 1))

    def wait(self):
        """Its outbox: status and syndrome."""
        end = time.monotonic() + 20
        while self.memory[63] & 1:
            assert time.monotonic() < end
            self.read(BAR0, 0x1010, 4)
        return struct.unpack(">B3xI", self.memory[32:40])

    def close(self):
        self.sock.close()


class Serve(DevxTest):
    def setUp(self):
        super().setUp()
        self.path = os.path.join(self.dir.name, "s")
        self.ctl = os.path.join(self.dir.name, "c")
        self.server = None

    def start(self, *args, lines=1, **more):
        self.server = subprocess.Popen([DEVX, "serve", "--socket", self.path, *args], stdin=subprocess.DEVNULL,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)
        self.addCleanup(self.kill, self.server)
        out = [self.server.stdout.readline() for _ in range(lines)]
        if not all(out):
            self.fail(self.server.stderr.read())
        return out

    def kill(self, server):
        server.kill()
        server.wait()
        server.stdout.close()
        server.stderr.close()

    def stop(self, with_signal=signal.SIGTERM, code=0):
        self.server.send_signal(with_signal)
        out, err = self.server.communicate(timeout=30)
        self.assertEqual((self.server.returncode, out, err), (code, "", ""))
        self.assertEqual(os.listdir(self.dir.name), [])

    def child(self):
        with open(f"/proc/{self.server.pid}/task/{self.server.pid}/children") as f:
            pids = f.read().split()
        self.assertEqual(len(pids), 1)
        return int(pids[0])

    def control(self, *lines, path=None):
        sock = socket.socket(socket.AF_UNIX)
        sock.settimeout(20)
        sock.connect(path or self.ctl)
        with sock, sock.makefile("rw") as f:
            answers = []
            for line in lines:
                f.write(line + "\n")
                f.flush()
                answers.append(f.readline().rstrip("\n"))
        return answers

    def refused(self, *args, code=2, socket_option=True):
        options = ["--socket", self.path] if socket_option else []
        out, err = self.devx("serve", *options, *args, code=code)
        self.assertEqual((out, len(err.splitlines())), ("", 1), err)
        return err

    def test_signals(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            line, = self.start()
            self.assertEqual(line, f"serving mlx5 ConnectX-6 Dx (15b3:101d), profile cx6dx, on {self.path}\n")
            client = Client(self.path)
            self.stop(number)
            self.assertEqual(client.sock.recv(1), b"")
            client.close()

    def test_ignored_signals(self):
        self.start(preexec_fn=ignoring)
        self.server.send_signal(signal.SIGHUP)
        os.kill(self.child(), signal.SIGKILL)
        _, err = self.server.communicate(timeout=30)
        self.assertEqual((self.server.returncode, os.listdir(self.dir.name)), (1, []))
        self.assertIn("died of signal 9", err)

    def test_profiles(self):
        for profile, (name, device) in PROFILES.items():
            line, = self.start("--spec", f"profile={profile},latency=5us", "--control", self.ctl)
            self.assertEqual(line, f"serving mlx5 {name} (15b3:{device:04x}), profile {profile}, on {self.path}, "
                                   f"control lines on {self.ctl}\n")
            client = Client(self.path)
            self.assertEqual(client.read(CONFIG, 0, 4), struct.pack("<HH", 0x15B3, device))
            client.close()
            self.stop()

    def test_a_command(self):
        self.start("--control", self.ctl, "--fault", "opcode=0x104 nth=2 status=0x5 syndrome=0x1234")
        client = Client(self.path)
        client.ready()
        client.start(ENABLE_HCA)
        self.assertEqual(client.wait(), (0, 0))
        client.start(ENABLE_HCA)
        self.assertEqual(client.wait(), (5, 0x1234))
        self.assertEqual(self.control("fault opcode=0x104 delay=1ms", "hold 0x104", "what"),
                         ["ok", "ok", self.control("what")[0]])
        self.assertRegex(self.control("what")[0], "^error: ")
        client.start(ENABLE_HCA)
        self.assertIn(" held=1 ", self.control("stat")[0])
        self.assertEqual(self.control("release 1")[0], "ok 1")
        client.wait()
        # The next client finds a device that nobody used.
        client.close()
        client = Client(self.path)
        self.assertEqual(client.read(CONFIG, 4, 2), b"\0\0")
        client.close()
        self.stop()

    def test_doorbell_pages(self):
        for options, fds in (((), 1), (("--no-mmap",), 0)):
            self.start(*options)
            client = Client(self.path)
            info = client.call(REGION_INFO, struct.pack("<IIIIQQ", 64, 0, BAR0, 0, 0, 0))
            self.assertEqual((len(info), len(client.fds)), (64, 1) if fds else (32, 0))
            for fd in client.fds:
                os.close(fd)
            client.close()
            self.stop()

    def test_several(self):
        lines = self.start("--count", "3", "--control", self.ctl, "--spec", "profile=cx7", lines=3)
        self.assertEqual(lines[2], f"serving mlx5 ConnectX-7 (15b3:1021), profile cx7, on {self.path}.2, control lines on {self.ctl}.2\n")
        # One that says half a word, and one that takes no answers: the third has its device all the same.
        half = socket.socket(socket.AF_UNIX)
        half.connect(self.path + ".0")
        half.send(b"\1\0\1\0")
        deaf = Client(self.path + ".1")
        deaf.sock.setblocking(False)
        try:
            while True:
                deaf.sock.send(struct.pack("<HHIIIQII", 1, REGION_READ, 32, 0, 0, 0x100000, BAR0, 4096))
        except BlockingIOError:
            pass
        client = Client(self.path + ".2")
        client.ready()
        client.start(ENABLE_HCA)
        self.assertEqual(client.wait(), (0, 0))
        self.assertIn("0x104=1", self.control("stat", path=self.ctl + ".2")[0])
        self.assertNotIn("0x104", self.control("stat", path=self.ctl + ".1")[0])
        for s in (half, deaf, client):
            s.close()
        self.stop()

    def test_memory(self):
        """Each of many threads takes memory and gives it back, in pieces large and small: the sandbox lets malloc() do that."""
        self.start("--count", "12", lines=12)
        text = json.dumps({"capabilities": {}, "large": ["v" * 60000] * 10, "small": ["v" * 9] * 9000})
        clients = [Client(f"{self.path}.{i}", text.encode() + b"\0") for i in range(12)]
        for client in clients:
            self.assertEqual(client.read(CONFIG, 0, 2), struct.pack("<H", 0x15B3))
            client.close()
        self.stop()

    def test_memory_of_many_threads(self):
        """What malloc() does in a thread, and when much is given back, is what the server may do."""
        self.start("--count", "20", "--control", self.ctl, lines=20)
        for i in range(20):
            socks = [socket.socket(socket.AF_UNIX) for _ in range(6)]  # each takes some 200 KiB
            for sock in socks:
                sock.settimeout(20)
                sock.connect(f"{self.ctl}.{i}")
                sock.send(b"stat\n")
                self.assertTrue(sock.recv(3).startswith(b"ok"))
            for sock in socks:
                sock.close()
        for i in range(20):
            self.assertTrue(self.control("stat", path=f"{self.ctl}.{i}")[0].startswith("ok"))
        self.stop()

    def test_no_privileges(self):
        self.start("--count", "2", lines=2)
        child = self.child()
        with open("/proc/self/uid_map") as f:
            all_users = f.read().split() == ["0", "0", "4294967295"]
        for task in os.listdir(f"/proc/{child}/task"):
            with open(f"/proc/{child}/task/{task}/status") as f:
                status = dict(re.findall(r"^(\w+):[ \t]*(.*?)[ \t]*$", f.read(), re.M))
            self.assertEqual((status["NoNewPrivs"], status["Seccomp"], int(status["CapEff"], 16), int(status["CapPrm"], 16)),
                             ("1", "2", 0, 0))
            if os.geteuid() == 0 and all_users:
                self.assertEqual(status["Uid"].split(), ["65534"] * 4)
                self.assertEqual(status["Groups"], "")
        self.stop()

    def test_stale_socket(self):
        self.start()
        os.kill(self.server.pid, signal.SIGKILL)  # the child goes too, and leaves what it cannot remove
        self.server.wait()
        self.assertTrue(os.path.exists(self.path))
        for _ in range(200):
            with socket.socket(socket.AF_UNIX) as probe:
                if probe.connect_ex(self.path):
                    break
            time.sleep(0.05)  # until the kernel took the child away
        self.start()
        Client(self.path).close()
        self.stop()

    def test_server_dies(self):
        self.start()
        os.kill(self.child(), signal.SIGKILL)
        out, err = self.server.communicate(timeout=30)
        self.assertEqual((self.server.returncode, out), (1, ""))
        self.assertEqual(err, "devx: the server died of signal 9 (Killed)\n")
        self.assertEqual(os.listdir(self.dir.name), [])

    def test_paths(self):
        self.assertIn("in use", self.in_use())
        self.write(b"precious", "s")
        self.assertIn("no socket", self.refused(code=1))
        with open(self.path, "rb") as f:
            self.assertEqual(f.read(), b"precious")
        os.unlink(self.path)
        os.mkdir(self.path)
        self.assertIn("no socket", self.refused(code=1))
        os.rmdir(self.path)
        self.assertIn("107 characters", self.devx("serve", "--socket", "x" * 108, code=1)[1])
        self.assertIn("107 characters", self.devx("serve", "--socket", "x" * 106, "--count", "2", code=1)[1])
        self.assertIn("No such file", self.devx("serve", "--socket", "/nowhere/at/all", code=1)[1])
        # What it made before it failed, it takes away.
        self.assertIn("another socket of this server", self.refused("--control", self.path, code=1))
        self.assertIn("No such file", self.refused("--count", "2", "--control", "/nowhere/at/all", code=1))
        self.assertEqual(os.listdir(self.dir.name), [])

    def in_use(self):
        self.start()
        err = self.refused(code=1)
        Client(self.path).close()  # it was let alone
        self.stop()
        return err

    def test_usage(self):
        for args, word in (((), "--socket"), (("--socket",), "argument")):
            self.assertIn(word, self.refused(*args, socket_option=False))
        for args, words in (
                (("--spec", "off"), "no device"), (("--spec", "inline"), "caller"), (("--spec", "clock=manual"), "clock"),
                (("--spec", "quirks=kernel"), "quirks"), (("--spec", "profile=cx9"), "cx5, cx6dx, cx7 or bf3"),
                (("--count", "0"), "1 to 64"), (("--count", "65"), "1 to 64"), (("--count", "-1"), "1 to 64"), (("--count", "2x"), "1 to 64"),
                (("--count", ""), "1 to 64"), (("--fault", "opcode=0x93b"), "exactly one"), (("--fault", "clear"), "clear"),
                (("--fault", "hang " * 200), "512"), (("--frob",), "frob"), (("more",), "more"), (("--no-mmap=1",), "no-mmap")):
            self.assertIn(words, self.refused(*args))
        self.assertIn("64 times", self.refused(*["--fault", "nth=1 hang"] * 65))

    def test_output_that_cannot_be_written(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([DEVX, "serve", "--socket", self.path], stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE,
                                  timeout=60, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"No space", done.stderr)
        self.assertEqual(os.listdir(self.dir.name), [])

    def test_output_that_nobody_reads(self):
        read, write = os.pipe()
        os.write(write, bytes(fcntl.fcntl(write, fcntl.F_GETPIPE_SZ)))
        server = subprocess.Popen([DEVX, "serve", "--socket", self.path], stdin=subprocess.DEVNULL, stdout=write)
        while not os.path.exists(self.path):
            time.sleep(0.01)
        time.sleep(0.2)  # until it writes, mostly; before that it ends as well
        server.terminate()
        self.assertEqual(server.wait(30), 0)
        self.assertEqual(os.listdir(self.dir.name), [])
        for fd in (read, write):
            os.close(fd)


main()
