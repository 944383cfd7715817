#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""devx vm without a boot: wrong usage, what is missing, and a machine whose QEMU, guest and server are fakevm.py: streams,
exit codes, failures of each part, signals, and that nothing is left behind."""
import glob
import json
import lzma
import os
import pty
import select
import signal
import socket
import struct
import subprocess
import sys
import time
import unittest

from harness import DEVX, DevxTest, ignoring, main

FAKE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fakevm.py")
MACHINE, USAGE = 125, 2
NEEDED = ["virtio_pci", "virtio_console", "9p", "9pnet_virtio", "overlay", "mlx5_core", "mlx5_ib", "ib_uverbs"]
NEEDS_KVM = unittest.skipUnless(os.access("/dev/kvm", os.R_OK | os.W_OK), "there is no /dev/kvm")


def kernel_image(version="1.2.3"):
    """What looks like a bzImage: a head, a version text, and an ELF file packed with xz."""
    packed = lzma.compress(b"\x7fELF" + bytes(5000), check=lzma.CHECK_CRC32) + bytes(4)
    image = bytearray(10 * 512)
    image[0x1f1] = 4
    image[0x202:0x208] = b"HdrS\x0f\x02"
    image[0x20e:0x210] = struct.pack("<H", 0x400)
    image[0x600:0x600 + len(version) + 2] = version.encode() + b" x"
    image[0x248:0x250] = struct.pack("<II", 5 * 512, len(packed))
    return bytes(image) + packed


class VmTest(DevxTest):
    def setUp(self):
        super().setUp()
        self.kernel = os.path.join(self.dir.name, "kernel")
        self.tmp = os.path.join(self.dir.name, "tmp")
        self.log = os.path.join(self.dir.name, "log")
        os.makedirs(os.path.join(self.kernel, "lib/modules/1.2.3/kernel"))
        os.mkdir(self.tmp)
        self.modules(NEEDED)
        self.write(kernel_image(), "kernel/lib/modules/1.2.3/vmlinuz")
        self.write(b"", "kernel/lib/modules/1.2.3/modules.dep.bin")

    def modules(self, names):
        self.write("".join(f"kernel/x/{n}.ko\n" for n in names).encode(), "kernel/lib/modules/1.2.3/modules.builtin")

    def start(self, *args, fake="echo", command=("cmd", "arg"), env=(), stdin=subprocess.DEVNULL, tcg=True, server=True, **more):
        words = [DEVX, "vm", "--dir", os.path.join(self.dir.name, "private"), "--qemu", FAKE, *(["--server", FAKE] if server else []),
                 "--kernel", self.kernel, "--no-snapshot", *(["--accel", "tcg"] if tcg else []), *args, "--", *command]
        if "snapshot" in fake:
            words.remove("--no-snapshot")
        env = dict(os.environ, FAKE=fake, FAKE_LOG=self.log, TMPDIR=self.tmp, **dict(env))
        more = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more}
        p = subprocess.Popen(words, env=env, stdin=stdin, **more)
        self.addCleanup(p.kill)
        return p

    def run_vm(self, *args, code=0, data=None, **more):
        stdin = subprocess.DEVNULL if data is None else subprocess.PIPE
        p = self.start(*args, stdin=stdin, **more)
        out, err = p.communicate(data, timeout=60)
        self.assertEqual(p.returncode, code, err.decode(errors="replace"))
        self.nothing_left()
        return out, err.decode()

    def logged(self, first):
        if not os.path.exists(self.log):
            return []
        with open(self.log, encoding="utf-8") as f:
            return [line.rstrip("\n").split(" ") for line in f if line.startswith(first + " ") or line.strip() == first]

    def until(self, first):
        for _ in range(600):
            if self.logged(first):
                return
            time.sleep(0.05)
        self.fail(f"no {first} in the log")

    def alive(self, pid):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
                return f.read().rsplit(")", 1)[1].split()[0] != "Z"
        except OSError:
            return False

    def nothing_left(self, wait=0):
        pids = [int(words[1]) for words in self.logged("qemu") + self.logged("server")]
        for _ in range(wait * 20):
            if not any(map(self.alive, pids)) and not os.listdir(self.tmp):
                break
            time.sleep(0.05)
        self.assertEqual([p for p in pids if self.alive(p)], [])
        self.assertEqual(os.listdir(self.tmp), [])


class Streams(VmTest):
    def test_streams_and_code(self):
        data = os.urandom(3_000_000)  # many windows
        out, err = self.run_vm(data=data, code=42, env={"FAKE_CODE": "42"}.items())
        self.assertEqual(out, data)
        self.assertEqual(err, "3000000 bytes\n")

    def test_no_input(self):
        self.assertEqual(self.run_vm(), (b"", "0 bytes\n"))

    def test_job(self):
        self.run_vm("--devices", "2", "--spec", "profile=cx7", "--fault", "nth=1 hang", command=("a b", "", "--c"),
                    env={"ODD": "x=1"}.items(), cwd=self.dir.name)
        job = " ".join(self.logged("job")[0]).split(" ", 1)[1]
        self.assertTrue(job.startswith("aa b a a--c "), job)
        self.assertIn("eODD=x=1", job)
        self.assertIn(f"c{self.dir.name}", job)
        self.assertIn(" n2", job)
        self.assertNotIn("FAKE_NOT", job)
        server = " ".join(self.logged("server")[0])
        for word in ("--count 2", "--spec profile=cx7", "--fault nth=1 hang"):
            self.assertIn(word, server)
        plugged = [json.loads(" ".join(w[1:])) for w in self.logged("qmp")]
        paths = [p["arguments"]["socket"]["path"] for p in plugged if "socket" in p["arguments"]]
        self.assertEqual([p.rsplit("/", 1)[1] for p in paths], ["device.0", "device.1"])
        paths = [p["arguments"]["backend"]["data"]["addr"]["data"]["path"] for p in plugged if "backend" in p["arguments"]]
        self.assertEqual([p.rsplit("/", 1)[1] for p in paths], ["control.0", "control.1"])

    def test_closed_output(self):
        p = self.start(stdin=subprocess.PIPE, fake="echo")
        self.until("up")
        p.stdout.close()
        p.stdin.write(bytes(1000000))
        p.stdin.close()
        self.assertIn("1000000 bytes", p.stderr.read().decode())
        self.assertEqual(p.wait(60), 0)
        p.stderr.close()
        self.nothing_left()

    def terminal(self, slave, what):
        return subprocess.run(["stty", *what], stdin=slave, stdout=subprocess.PIPE, check=True).stdout.decode()

    def test_terminal(self):
        """Raw while the command runs, and as before afterwards; three times ^] ends the machine."""
        master, slave = pty.openpty()
        before = self.terminal(slave, ["-g"])
        p = self.start(stdin=slave, stdout=slave)
        try:
            self.until("up")
            for _ in range(100):
                if " -icanon" in self.terminal(slave, ["-a"]):
                    break
                time.sleep(0.05)
            os.write(master, b"hello\x03")
            got = b""
            while len(got) < 6 and select.select([master], [], [], 30)[0]:
                got += os.read(master, 100)
            self.assertEqual(got, b"hello\x03")
            self.assertIn("w24 80", " ".join(self.logged("job")[0]))
            os.write(master, b"\x1d\x1d\x1d")
            self.assertEqual(p.wait(30), -signal.SIGINT)
            self.assertEqual(self.terminal(slave, ["-g"]), before)
        finally:
            p.kill()
            p.communicate()
            os.close(slave)
            os.close(master)
        self.nothing_left()

    def test_background_of_a_terminal(self):
        """Under timeout(1), say: to make the terminal raw, or to read from it, would stop the program for good."""
        child, master = pty.fork()
        if child == 0:
            code = 99
            try:
                code = self.start(fake="echo", stdin=None, stdout=None, stderr=None, preexec_fn=os.setpgrp).wait(30)
            finally:
                os._exit(code)
        self.addCleanup(os.close, master)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        self.assertNotIn("w24 80", " ".join(self.logged("job")[0]))
        self.nothing_left()


class Failures(VmTest):
    def broken(self, fake, *texts, args=(), **more):
        _, err = self.run_vm(*args, fake=fake, code=MACHINE, **more)
        for text in ("the machine failed", *texts):
            self.assertIn(text, err)
        self.assertNotIn("\x1b", err)
        return err

    def test_parts(self):
        cases = {
            "hang": ("the guest's init did not come in time (--boot-timeout 1)",), "panic": ("kernel stopped", "Kernel panic - not syncing"),
            "version": ("of another version",), "bad-frame": ("no frame", "a line of the kernel"), "early-exit": ("cannot be now",),
            "fail": ("cannot mount the moon",), "flood": ("cannot be now",), "die": ("QEMU ended with exit code 3",),
            "server-dies,hang": ("server ended with exit code 9", "the server is sorry"), "no-plug": ("refuses device_add: no bus",),
        }
        for fake, texts in cases.items():
            with self.subTest(fake=fake):
                self.broken(fake, *texts, args=("--boot-timeout", "1" if fake == "hang" else "30"))
                os.unlink(self.log)

    def test_server_that_refuses(self):
        """Wrong words for the server are wrong usage, and say nothing of KVM or of a snapshot."""
        self.run_vm(fake="snapshot")
        snapshot, = glob.glob(os.path.join(self.dir.name, "private/cache/snapshot-*"))
        for words in (("--spec", "nonsense"), ("--fault", "hang hang")):
            with self.subTest(words=words):
                self.write(b"", "log")
                p = self.start(*words, fake="snapshot", server=False)
                _, err = p.communicate(timeout=60)
                self.assertEqual(p.returncode, USAGE, err)
                self.assertIn(b"server ended with exit code 2", err)
                self.assertTrue(os.path.exists(snapshot))
                self.nothing_left()

    def test_log_file(self):
        path = os.path.join(self.dir.name, "kernel.log")
        self.broken("fail", args=("--log", path))
        with open(path, encoding="utf-8") as f:
            self.assertIn("a line of the kernel", f.read())
        _, err = self.run_vm("--log", "/no/such/file", code=MACHINE)
        self.assertIn("/no/such/file", err)

    def test_signals(self):
        for sig in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            p = self.start(fake="hang")
            self.until("qemu")
            p.send_signal(sig)
            _, err = p.communicate(timeout=30)
            self.assertEqual(p.returncode, -sig)
            self.assertEqual(err, b"")
            self.nothing_left()
            os.unlink(self.log)

    def test_ignored_signals(self):
        p = self.start(fake="hang", preexec_fn=ignoring)
        self.until("qemu")
        p.send_signal(signal.SIGHUP)
        p.send_signal(signal.SIGTERM)
        p.communicate(timeout=30)
        self.assertEqual(p.returncode, -signal.SIGTERM)
        self.nothing_left()
        _, err = self.run_vm(fake="server-dies,hang", code=MACHINE, preexec_fn=ignoring)
        self.assertIn("server ended with exit code 9", err)

    def test_interrupt_goes_to_the_command(self):
        p = self.start(fake="signal", stdin=subprocess.PIPE)
        self.until("up")
        time.sleep(0.2)
        p.send_signal(signal.SIGINT)
        p.communicate(timeout=30)
        self.assertEqual(p.returncode, 128 + signal.SIGINT)
        self.nothing_left()

    def test_second_interrupt_ends(self):
        p = self.start(stdin=subprocess.PIPE)
        self.until("up")
        for _ in range(2):
            time.sleep(0.2)
            p.send_signal(signal.SIGINT)
        self.assertEqual(p.wait(30), -signal.SIGINT)
        p.communicate()
        self.nothing_left()

    def test_killed(self):
        control = os.path.join(self.dir.name, "control")
        p = self.start("--control", control, fake="hang")
        self.until("qemu")
        self.until("server")
        p.kill()
        p.communicate()
        self.nothing_left(wait=10)
        for _ in range(100):
            if not os.path.exists(control):
                break
            time.sleep(0.05)
        self.assertFalse(os.path.exists(control))

    def test_a_file_is_no_control_socket(self):
        path = self.write(b"mine", "precious")
        self.run_vm("--control", path, fake="server-dies,hang", code=MACHINE)
        with open(path, "rb") as f:
            self.assertEqual(f.read(), b"mine")

    def test_control_socket_of_another(self):
        path = os.path.join(self.dir.name, "theirs")
        with socket.socket(socket.AF_UNIX) as theirs:
            theirs.bind(path)
            theirs.listen(1)
            self.run_vm("--control", path, fake="hang", code=MACHINE)  # the server cannot listen there
            self.assertTrue(os.path.exists(path))
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(path)


class Choices(VmTest):
    def snapshots(self):
        return glob.glob(os.path.join(self.dir.name, "private/cache/snapshot-*"))

    def test_snapshot(self):
        self.run_vm(fake="snapshot")
        self.assertEqual(len(self.snapshots()), 1)
        self.run_vm(fake="snapshot")
        first, second = self.logged("qemu")
        self.assertNotIn("-incoming", first)
        self.assertIn("-incoming", second)
        with open(self.snapshots()[0], "w", encoding="utf-8") as f:
            f.write("broken")  # it is made anew
        self.assertEqual(self.run_vm(fake="snapshot")[1], "0 bytes\n")
        self.assertIn("-incoming", self.logged("qemu")[2])
        self.assertNotIn("-incoming", self.logged("qemu")[3])
        with open(self.snapshots()[0], encoding="utf-8") as f:
            self.assertEqual(f.read(), "state")
        self.run_vm("--memory", "512M", fake="snapshot")
        self.assertEqual(len(self.snapshots()), 2)

    def test_no_room_for_a_snapshot(self):
        _, err = self.run_vm("--verbose", fake="snapshot,no-room")
        self.assertIn("the snapshot could not be saved", err)
        self.assertEqual(self.snapshots(), [])

    def test_many(self):
        shares = [os.path.join(self.dir.name, f"share{i}") for i in range(8)]  # there are 24 places on QEMU's bus
        for path in shares:
            os.mkdir(path)
        self.run_vm("--devices", "16", *(word for path in shares for word in ("--share", path)))
        self.assertEqual(sum("pcie-root-port" in word for word in self.logged("qemu")[0]), 16)

    @NEEDS_KVM
    def test_kvm_that_does_not_work(self):
        _, err = self.run_vm("--verbose", fake="kvm-error", tcg=False)
        self.assertIn("KVM does not work here", err)
        _, err = self.run_vm("--verbose", fake="kvm-error", tcg=False)  # is remembered
        self.assertNotIn("KVM does not work here", err)
        self.assertEqual(["kvm" in words for words in self.logged("qemu")], [True, False, False])

    @NEEDS_KVM
    def test_kvm_that_works(self):
        for _ in range(2):
            self.run_vm(tcg=False)
        self.assertEqual(["kvm" in words for words in self.logged("qemu")], [True, True])

    def test_modules_missing(self):
        self.modules([n for n in NEEDED if n not in ("9p", "mlx5_ib")])
        _, err = self.run_vm(code=MACHINE)
        self.assertIn("lacks the modules 9p mlx5_ib", err)

    def test_kernel_missing(self):
        private = os.path.join(self.dir.name, "private")
        _, err = self.run_vm("--kernel", "0.99", code=MACHINE)
        self.assertIn(f"no kernel 0.99, neither in {private}/kernel nor in /boot", err)
        self.assertIn("--bootstrap --kernel 0.99", err)
        self.assertIn("no kernel: neither", self.run_vm("--kernel", self.tmp, code=MACHINE)[1])
        self.assertIn("no Linux kernel", self.run_vm("--kernel", FAKE, code=MACHINE)[1])

    def test_kernel_image(self):
        self.run_vm("--kernel", os.path.join(self.kernel, "lib/modules/1.2.3/vmlinuz"))

    def test_connect(self):
        path = os.path.join(self.dir.name, "sock")
        with socket.socket(socket.AF_UNIX) as s:
            s.bind(path)
            self.run_vm("--connect", path)
        self.assertEqual(self.logged("server"), [])
        os.unlink(path)
        self.assertIn(f"there is no socket {path}", self.run_vm("--connect", path, code=MACHINE)[1])

    def test_old_qemu(self):
        _, err = self.run_vm(code=MACHINE, env={"FAKE_VERSION": "10.0.8 (Debian)"}.items())
        self.assertIn("is version 10.0, and vfio-user-pci came with 10.1", err)
        self.assertIn("--bootstrap", err)
        _, err = self.run_vm(code=MACHINE, fake="no-vfio-user")
        self.assertIn("built without vfio-user-pci", err)
        _, err = self.run_vm("--qemu", "/no/such/qemu", code=MACHINE)
        self.assertIn("--qemu: /no/such/qemu does not run: No such file or directory", err)

    def test_no_qemu(self):
        env = dict(os.environ, PATH="/nowhere", XDG_CACHE_HOME=self.dir.name)
        done = subprocess.run([DEVX, "vm", "true"], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, MACHINE)
        self.assertIn(f"there is no qemu-system-x86_64 in PATH, and {self.dir.name}/opendevx/vm/qemu has none", done.stderr.decode())

    def test_usage(self):
        shares = [word for i in range(17) for word in ("--share", f"/{i}")]
        cases = {("--devices", "99", "x"): '--devices cannot be "99": it is a number from 0 to 16', (): "the command is missing",
                 ("--bootstrap", "x"): "takes no command", ("--frob", "x"): "frob", ("--bootstrap", "--devices", "2"): "no options of a machine",
                 ("--memory", "255M", "x"): "from 256M to 1024G", ("--dir", "here", "x"): "an absolute path",
                 (*shares, "x"): '--share cannot be "/16"', ("--devices", "9", *shares[:32], "x"): "24 places"}
        for args, text in cases.items():
            out, err = self.devx("vm", *args, code=USAGE)
            self.assertEqual(out, "")
            self.assertIn(text, err)
        self.assertIn("no folder", self.run_vm("--root", "/no/such", code=MACHINE)[1])
        self.assertIn("no folder", self.run_vm("--share", "/no/such", code=MACHINE)[1])


if __name__ == "__main__":
    sys.exit(main())
