#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Makes the loopback traffic of loopback.pcap: TCP, UDP and echo exchanges over IPv4 and IPv6, all with this machine."""
import os
import socket
import struct
import threading


def tcp(family, addr, clients, size):
    with socket.create_server((addr, 0), family=family) as server:
        port = server.getsockname()[1]

        def serve():
            for _ in range(clients):
                conn, _ = server.accept()
                with conn:
                    while data := conn.recv(4096):
                        conn.sendall(data[: len(data) // 2])

        thread = threading.Thread(target=serve)
        thread.start()
        for n in range(clients):
            with socket.create_connection((addr, port)) as conn:
                conn.sendall(b"x" * (size * (n + 1)))
                conn.shutdown(socket.SHUT_WR)
                while conn.recv(4096):
                    pass
        thread.join()


def udp(family, addr, clients, size):
    with socket.socket(family, socket.SOCK_DGRAM) as server:
        server.bind((addr, 0))
        for n in range(clients):
            with socket.socket(family, socket.SOCK_DGRAM) as client:
                client.connect(server.getsockname()[:2])
                for _ in range(n + 1):
                    client.send(b"y" * size)
                    data, peer = server.recvfrom(65536)
                    server.sendto(data[:32], peer)
                    client.recv(65536)


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def echo(family, addr, count):
    """Echo requests by hand (needs CAP_NET_RAW); the kernel answers, and fills in the checksum of ICMPv6."""
    proto, kind = (socket.IPPROTO_ICMP, 8) if family == socket.AF_INET else (socket.IPPROTO_ICMPV6, 128)
    with socket.socket(family, socket.SOCK_RAW, proto) as raw:
        raw.settimeout(5)
        for seq in range(count):
            head = struct.pack("!BBHHH", kind, 0, 0, os.getpid() & 0xFFFF, seq)
            body = bytes(range(48))
            head = head[:2] + struct.pack("!H", checksum(head + body)) + head[4:]
            raw.sendto(head + body, (addr, 0))
            raw.recv(4096)


for family, addr in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
    tcp(family, addr, 5, 700)
    udp(family, addr, 6, 200)
    echo(family, addr, 4)
