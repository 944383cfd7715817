# SPDX-License-Identifier: BSD-2-Clause
"""Builds frames and capture files for the tests of the devx command."""
import ipaddress
import random
import struct

EN10MB, RAW, NULL, LOOP, SLL, SLL2, IPV4, IPV6 = 1, 101, 0, 108, 113, 276, 228, 229


def ports(sport, dport, proto=17, size=20):
    """A transport header of proto that tshark takes for whole."""
    if proto == 6:
        return struct.pack("!HHIIBBHHH", sport, dport, 1, 1, 0x50, 0x10, 100, 0, 0) + bytes(size)
    if proto == 132:
        return struct.pack("!HHII", sport, dport, 7, 0) + struct.pack("!BBH", 11, 0, 4)  # a COOKIE ACK
    return struct.pack("!HHHH", sport, dport, 8 + size, 0) + bytes(size)


def icmp(body=b""):
    return struct.pack("!BBHHH", 8, 0, 0, 1, 1) + body


def ip4(src, dst, proto, payload, frag=0, options=b"", total=None):
    total = 20 + len(options) + len(payload) if total is None else total
    head = struct.pack("!BBHHHBBH", 0x45 + len(options) // 4, 0, total, 1, frag, 64, proto, 0)
    return head + ipaddress.ip_address(src).packed + ipaddress.ip_address(dst).packed + options + payload


def ip6(src, dst, proto, payload, ext=()):
    """ext: pairs of a header's number and a function from the next number to its bytes."""
    chain = b""
    numbers = [number for number, _ in ext] + [proto]
    for i, (_, make) in enumerate(ext):
        chain += make(numbers[i + 1])
    head = struct.pack("!IHBB", 6 << 28, len(chain) + len(payload), numbers[0], 64)
    return head + ipaddress.ip_address(src).packed + ipaddress.ip_address(dst).packed + chain + payload


HOPOPTS = (0, lambda n: struct.pack("!BB6x", n, 0)[:2] + b"\x01\x04\x00\x00\x00\x00")
DSTOPTS = (60, lambda n: struct.pack("!BB", n, 1) + b"\x01\x0c" + bytes(12))
ROUTING = (43, lambda n: struct.pack("!BBBBI", n, 2, 4, 0, 0) + ipaddress.ip_address("2001:db8::99").packed)
AH = (51, lambda n: struct.pack("!BBHII", n, 4, 0, 1, 1) + bytes(12))


def fragment(offset, more):
    return (44, lambda n: struct.pack("!BBHI", n, 0, offset << 3 | more, 99))


def ethertype(packet):
    return 0x0800 if packet[0] >> 4 == 4 else 0x86DD


def eth(packet, tags=(), kind=None):
    kind = ethertype(packet) if kind is None else kind
    out = bytes.fromhex("020000000001020000000002")
    for tpid, vlan in tags:
        out += struct.pack("!HH", tpid, vlan)
    return out + struct.pack("!H", kind) + packet


def link(dlt, packet, big_endian=False):
    """The packet with the link header of dlt."""
    six = packet[0] >> 4 == 6
    if dlt == EN10MB:
        return eth(packet)
    if dlt == SLL:
        return struct.pack("!HHH8sH", 0, 1, 6, bytes(8), ethertype(packet)) + packet
    if dlt == SLL2:
        return struct.pack("!HHIHBB8s", ethertype(packet), 0, 1, 1, 0, 6, bytes(8)) + packet
    if dlt == NULL:
        return struct.pack(">I" if big_endian else "<I", 30 if six else 2) + packet
    if dlt == LOOP:
        return struct.pack(">I", 24 if six else 2) + packet
    return packet


def pcap(dlt, frames, order="<"):
    """frames: bytes, or pairs of the captured bytes and the length on the wire."""
    out = [struct.pack(order + "IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, dlt)]
    for i, frame in enumerate(frames):
        data, wire = frame if isinstance(frame, tuple) else (frame, len(frame))
        out.append(struct.pack(order + "IIII", 1000 + i // 1000, i % 1000, len(data), wire) + data)
    return b"".join(out)


def block(kind, body):
    body += bytes(-len(body) % 4)
    size = len(body) + 12
    return struct.pack("<II", kind, size) + body + struct.pack("<I", size)


def pcapng(interfaces, frames):
    """interfaces: link types; frames: pairs of an interface's number and its bytes."""
    out = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    for dlt in interfaces:
        out += block(1, struct.pack("<HHI", dlt, 0, 262144))
    for number, data in frames:
        out += block(6, struct.pack("<IIIII", number, 0, 1000, len(data), len(data)) + data)
    return out


def mixed(seed, count, four=True, six=True):
    """IP packets of all kinds that the tool tells apart; few enough flows that they repeat."""
    rng = random.Random(seed)
    for _ in range(count):
        proto = rng.choice((6, 17, 132))
        sport, dport, n = rng.randint(1024, 1030), rng.randint(20000, 20003), rng.randint(1, 4)
        body = ports(sport, dport, proto, rng.randint(4, 60))
        if four and (not six or rng.random() < 0.5):
            src, dst = f"10.0.0.{n}", "10.1.0.1"
            yield rng.choice((
                lambda: ip4(src, dst, proto, body),
                lambda: ip4(src, dst, proto, body, options=bytes([1, 1, 1, 0])),
                lambda: ip4(src, dst, proto, body, frag=0x2000),
                lambda: ip4(src, dst, proto, body, frag=rng.randint(1, 100)),
                lambda: ip4(src, dst, 1, icmp(bytes(8))),
                lambda: ip4(src, dst, 47, bytes(4) + body),
                lambda: ip4(src, dst, 1, struct.pack("!BBHI", 3, 3, 0, 0) + ip4(dst, src, proto, body)),
                lambda: ip4(src, dst, 4, ip4("192.0.2.1", "192.0.2.2", proto, body)),
                lambda: ip4(src, dst, 41, ip6("2001:db8::7", "2001:db8::8", proto, body)),
            ))()
        else:
            src, dst = f"2001:db8::{n}", "2001:db8:1::1"
            yield rng.choice((
                lambda: ip6(src, dst, proto, body),
                lambda: ip6(src, dst, proto, body, (HOPOPTS, DSTOPTS)),
                lambda: ip6(src, dst, proto, body, (HOPOPTS, ROUTING, DSTOPTS)),
                lambda: ip6(src, dst, proto, body, (AH,)),
                lambda: ip6(src, dst, proto, body, (fragment(0, 1),)),
                lambda: ip6(src, dst, proto, body, (DSTOPTS, fragment(rng.randint(1, 100), 0))),
                lambda: ip6(src, dst, 58, icmp(bytes(8))),
                lambda: ip6(src, dst, 59, b""),
            ))()
