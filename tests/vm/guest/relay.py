#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""In a guest: the control lines of a program, which writes them to a socket, go to the standard output, and their answers come
   from the standard input: whoever started the guest passes them on. relay.py OUT PROGRAM [WORD...]: runs the program with the
   socket's path as its last word; its output goes to the file OUT."""
import os
import socket
import subprocess
import sys
import tempfile
import threading


def serve(server):
    """One connection after another: lines out, lines in."""
    while True:
        connection, _ = server.accept()
        # One file for each way: a single one drops lines that came ahead when it is written to.
        with connection, connection.makefile("r", encoding="utf-8") as lines, connection.makefile("w", encoding="utf-8") as f:
            for line in lines:
                sys.stdout.write(line)
                sys.stdout.flush()
                answer = sys.stdin.readline()
                if not answer:
                    return
                try:
                    f.write(answer)
                    f.flush()
                except BrokenPipeError:  # the program ended while it waited
                    break


def begin():
    """The path of the socket."""
    path = os.path.join(tempfile.mkdtemp(), "control")
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen()
    threading.Thread(target=serve, args=(server,), daemon=True).start()
    return path


def main():
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        sys.exit(subprocess.run([*sys.argv[2:], begin()], stdout=out, check=False).returncode)


if __name__ == "__main__":
    main()
