# SPDX-License-Identifier: BSD-2-Clause
"""Runs the devx command for the tests. The command's path is the script's first argument."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest

DEVX = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else ""
LOOPBACK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "data", "loopback.pcap")
SPEC = "profile=cx7,seed=7"


# What this was begun with does not matter to what it begins.
signal.signal(signal.SIGHUP, signal.SIG_DFL)


def ignoring():
    """For preexec_fn: as under nohup, and under a parent that does not wait for its children."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)


class DevxTest(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        self.addCleanup(self.dir.cleanup)

    def write(self, data, name="test.pcap"):
        path = os.path.join(self.dir.name, name)
        with open(path, "wb") as f:
            f.write(data)
        return path

    def devx(self, *args, code=0, soft=SPEC, stdin=subprocess.DEVNULL, **more):
        """Runs it, checks the exit code, returns (stdout, stderr)."""
        env = dict(os.environ, OPENDEVX_SOFT=soft)
        done = subprocess.run([DEVX, *args], env=env, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60,
                              check=False, **more)
        out, err = done.stdout.decode(), done.stderr.decode(errors="replace")
        self.assertEqual(done.returncode, code, f"devx {args}: {out}{err}")
        return out, err

    def counters(self, path, *args, code=0, soft=SPEC):
        """The JSON of all flows, as the object itself and as {flow: [packets, bytes]}."""
        out, err = self.devx("counters", "--json", "--top", "all", *args, path, code=code, soft=soft)
        result = json.loads(out)
        flows = {(f["protocol_number"], f["src"], f["src_port"], f["dst"], f["dst_port"]): [f["packets"], f["bytes"]]
                 for f in result["top"]}
        self.assertEqual(len(flows), len(result["top"]), "a flow is listed twice")
        self.assertEqual(len(flows), result["flows"])
        self.assertEqual(sum(v[0] for v in flows.values()), result["packets"])
        self.assertEqual(sum(v[1] for v in flows.values()), result["bytes"])
        capture = result["capture"]
        self.assertEqual(result["packets"] + capture["non_ip"] + capture["malformed_ip"], capture["frames"])
        if not code:
            self.assertEqual(err, "")
        return result, flows


def main():
    unittest.main(verbosity=2)
