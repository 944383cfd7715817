# SPDX-License-Identifier: BSD-2-Clause
"""The flows of a capture as tshark reads it: a count that shares nothing with the devx command."""
import collections
import ipaddress
import subprocess

FIELDS = ("frame.len frame.protocols ip.src ip.dst ip.proto ip.frag_offset ipv6.src ipv6.dst ipv6.nxt ipv6.hopopts.nxt "
          "ipv6.routing.nxt ipv6.dstopts.nxt ipv6.fraghdr.nxt ipv6.fraghdr.offset ah.next_header tcp.srcport tcp.dstport "
          "udp.srcport udp.dstport sctp.srcport sctp.dstport").split()
EXTENSIONS = {0: "ipv6.hopopts.nxt", 43: "ipv6.routing.nxt", 60: "ipv6.dstopts.nxt", 44: "ipv6.fraghdr.nxt",
              51: "ah.next_header"}
PORTS = {6: "tcp", 17: "udp", 132: "sctp"}


def number(text):
    return int(text, 0)


def flow_of(row):
    """(proto, src, sport, dst, dport), or None for a frame that is not IP."""
    layers = row["frame.protocols"][0].split(":")
    outer = next((layer for layer in layers if layer in ("ip", "ipv6")), None)
    if outer is None:
        return None
    src, dst = (str(ipaddress.ip_address(row[f"{outer}.{way}"][0])) for way in ("src", "dst"))
    if outer == "ip":
        proto, later = number(row["ip.proto"][0]), number(row["ip.frag_offset"][0]) != 0
    else:
        proto, later = number(row["ipv6.nxt"][0]), False
        left = {name: list(row[name]) for name in EXTENSIONS.values()}
        while proto in EXTENSIONS and left[EXTENSIONS[proto]] and not later:
            later = proto == 44 and number(row["ipv6.fraghdr.offset"][0]) != 0
            proto = number(left[EXTENSIONS[proto]].pop(0))
    sport = dport = 0
    if proto in PORTS and not later and row[f"{PORTS[proto]}.srcport"]:
        sport, dport = (number(row[f"{PORTS[proto]}.{way}port"][0]) for way in ("src", "dst"))
    return proto, src, sport, dst, dport


def count(path):
    """({flow: [packets, bytes]}, frames that are not IP)"""
    command = ["tshark", "-n", "-r", path, "-o", "ip.defragment:FALSE", "-o", "ipv6.defragment:FALSE", "-T", "fields",
               "-E", "separator=/t", "-E", "occurrence=a", "-E", "aggregator=;"]
    for field in FIELDS:
        command += ["-e", field]
    lines = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout.splitlines()
    flows, others = collections.defaultdict(lambda: [0, 0]), 0
    for line in lines:
        row = {name: [v for v in value.split(";") if v] for name, value in zip(FIELDS, line.split("\t"))}
        flow = flow_of(row)
        if flow is None:
            others += 1
            continue
        flows[flow][0] += 1
        flows[flow][1] += number(row["frame.len"][0])
    return dict(flows), others
