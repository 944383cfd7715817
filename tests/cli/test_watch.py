#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The live table and the progress bar, in a pseudo-terminal."""
import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import termios
import time

import mkcap
from harness import DEVX, LOOPBACK, SPEC, DevxTest, main

LIMIT = 60


class Terminal:
    """A child with its own terminal; what it writes there is collected."""

    def __init__(self, *args, streams=(0, 1, 2), env=None, rows=30, **more):
        self.master, self.slave = os.openpty()
        self.resize(rows)
        self.text = b""
        given = {name: self.slave for number, name in enumerate(("stdin", "stdout", "stderr")) if number in streams}
        given.update(more)
        self.child = subprocess.Popen([DEVX, *args], **given, start_new_session=True,
                                      preexec_fn=lambda: fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0),
                                      env={**os.environ, "TERM": "xterm", "OPENDEVX_SOFT": SPEC, **(env or {})})

    def resize(self, rows):
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, 120, 0, 0))

    def read(self, deadline):
        if select.select([self.master], [], [], max(0, deadline - time.monotonic()))[0]:
            self.text += os.read(self.master, 65536)
            return True
        return False

    def until(self, pattern, start=0):
        deadline = time.monotonic() + LIMIT
        while not re.search(pattern, self.text[start:], re.S):
            if not self.read(deadline):
                raise AssertionError(f"{pattern} did not come: {self.text[-2000:]}")

    def send(self, keys):
        os.write(self.master, keys)

    def finish(self):
        code = self.child.wait(LIMIT)
        while select.select([self.master], [], [], 0)[0]:
            self.text += os.read(self.master, 65536)
        return code

    def close(self):
        if self.child.poll() is None:
            self.child.kill()
            self.child.wait()
        os.close(self.master)
        os.close(self.slave)


class Watch(DevxTest):
    def terminal(self, *args, **more):
        t = Terminal(*args, **more)
        self.addCleanup(t.close)
        return t

    def test_table_then_quit(self):
        t = self.terminal("counters", "--watch", LOOPBACK)
        t.until(rb"Software device mlx5_soft0.*PACKETS.*TCP .*queries")
        t.until(rb"read to the end")
        t.send(b"x")
        t.send(b"q")
        self.assertEqual(t.finish(), 0)
        self.assertRegex(t.text, rb"(?s)\x1b\[\?1049l.*Device: software device mlx5_soft0.*Total: \d+ flows")

    def test_resize(self):
        t = self.terminal("counters", "--watch", LOOPBACK)
        t.until(rb"read to the end.*p99 [0-9.]+ us")
        seen = len(t.text)
        t.resize(12)
        os.killpg(t.child.pid, signal.SIGWINCH)
        t.until(rb"\x1b\[12;1H\d+ flows|\x1b\[12d\d+ flows", seen)
        t.send(b"q")
        self.assertEqual(t.finish(), 0)

    def big(self):
        return self.write(mkcap.pcap(mkcap.RAW, [mkcap.ip4("10.0.0.1", "10.0.0.2", 17, mkcap.ports(1, 2))] * 50000))

    def test_several_slices(self):
        t = self.terminal("counters", "--watch", self.big())
        t.until(rb"read to the end")
        t.send(b"q")
        self.assertEqual(t.finish(), 0)
        # 50,000 frames in slices of 8,192: seven looks, one query each.
        self.assertRegex(t.text, rb"50000 frames\r?\n(?s:.*)Total: 1 flows \(1 shown\), 50000 packets, 2400000 bytes")
        self.assertIn(b"Queries: 7 asynchronous", t.text)

    def test_quit_before_the_end(self):
        # The capture is longer than what is there, so the end cannot come first.
        data = mkcap.pcap(mkcap.RAW, [mkcap.ip4("10.0.0.1", "10.0.0.2", 17, mkcap.ports(1, 2))] * 9000)
        reader, writer = os.pipe()
        t = self.terminal("counters", "--watch", streams=(1, 2), stdin=reader)
        os.close(reader)
        t.send(b"q")
        try:
            with os.fdopen(writer, "wb") as f:
                f.write(data)
                f.flush()
                self.assertEqual(t.finish(), 0)
        except BrokenPipeError:
            self.assertEqual(t.finish(), 0)
        self.assertIn(b"8192 frames, stopped before its end", t.text)
        self.assertIn(b"8192 packets", t.text)

    def test_broken_capture(self):
        path = self.write(mkcap.pcap(mkcap.RAW, [mkcap.ip4("10.0.0.1", "10.0.0.2", 17, mkcap.ports(1, 2))] * 3)[:-1])
        t = self.terminal("counters", "--watch", path)
        t.until(rb"broken off")
        t.send(b"q")
        self.assertEqual(t.finish(), 4)

    def test_unknown_terminal(self):
        t = self.terminal("counters", "--watch", LOOPBACK, env={"TERM": "no-such-terminal"})
        self.assertEqual(t.finish(), 1)
        self.assertIn(b"cannot use this terminal", t.text)

    def test_terminal_as_input(self):
        t = self.terminal("counters")
        self.assertEqual(t.finish(), 2)
        self.assertIn(b"standard input is a terminal", t.text)


class Progress(DevxTest):
    def test_bar_on_stderr(self):
        """Frames are fed until the bar appears: it comes after half a second, however fast the machine is."""
        reader, writer = os.pipe()
        t = Terminal("counters", streams=(2,), stdin=reader, stdout=subprocess.PIPE)
        self.addCleanup(t.close)
        os.close(reader)
        frames = [mkcap.ip4("10.0.0.1", "10.0.0.2", 17, mkcap.ports(1, 2))] * 512
        header = len(mkcap.pcap(mkcap.RAW, []))
        chunk = mkcap.pcap(mkcap.RAW, frames)
        deadline, sent = time.monotonic() + LIMIT, 512
        with os.fdopen(writer, "wb") as f:
            f.write(chunk)
            while b" frames " not in t.text and time.monotonic() < deadline:
                f.write(chunk[header:])
                sent += 512
                t.read(0)
        out = t.child.stdout.read().decode()
        t.child.stdout.close()
        self.assertEqual(t.finish(), 0)
        self.assertRegex(t.text, rb"\r\d+ frames .*\r\x1b\[K")
        self.assertIn(f"{sent} packets", out)

    def test_no_bar_elsewhere(self):
        _, err = self.devx("counters", LOOPBACK)
        self.assertEqual(err, "")


if __name__ == "__main__":
    main()
