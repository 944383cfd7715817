/* SPDX-License-Identifier: BSD-2-Clause */
/* Captured bytes are hostile: every read goes through have(), which knows how many are left. */
#include <arpa/inet.h>
#include <pcap/dlt.h>
#include <stdio.h>
#include <string.h>

#include "flow.h"

#define ETH_IPV4 0x0800u
#define ETH_IPV6 0x86ddu
#define ETH_MIN 0x0600u /* below: a length, and LLC follows */

/* What is left of the frame. */
struct cut {
	const uint8_t *p;
	size_t len;
	const uint8_t **ip; /* where the IP header was found */
};

static bool have(const struct cut *c, size_t n)
{
	return c->len >= n;
}

static void skip(struct cut *c, size_t n)
{
	c->p += n;
	c->len -= n;
}

static unsigned int be16(const uint8_t *p)
{
	return (unsigned int)p[0] << 8 | p[1];
}

bool flow_linktype_known(int dlt)
{
	switch (dlt) {
	case DLT_EN10MB:
	case DLT_RAW:
	case DLT_IPV4:
	case DLT_IPV6:
	case DLT_LINUX_SLL:
	case DLT_LINUX_SLL2:
	case DLT_NULL:
	case DLT_LOOP:
		return true;
	default:
		return false;
	}
}

bool flow_has_ports(uint8_t proto)
{
	return proto == IPPROTO_TCP || proto == IPPROTO_UDP || proto == IPPROTO_SCTP;
}

/* The ports are the first two words of all three protocols. Cut before them: the flow without ports. */
static void take_ports(struct cut c, struct flow_key *key)
{
	if (!flow_has_ports(key->proto) || !have(&c, 4))
		return;
	key->sport = (uint16_t)be16(c.p);
	key->dport = (uint16_t)be16(c.p + 2);
}

static enum flow_result parse_ipv4(struct cut c, struct flow_key *key)
{
	size_t header, total;

	*c.ip = c.p;
	if (!have(&c, 20) || c.p[0] >> 4 != 4)
		return FLOW_MALFORMED;
	header = (size_t)(c.p[0] & 0xf) * 4;
	total = be16(c.p + 2);
	/* 0: segmentation was left to the NIC, and the length was not known when the frame was captured. */
	if (header < 20 || (total && total < header))
		return FLOW_MALFORMED;
	key->family = 4;
	key->proto = c.p[9];
	memcpy(key->src, c.p + 12, 4);
	memcpy(key->dst, c.p + 16, 4);
	if (be16(c.p + 6) & 0x1fff) /* a fragment after the first */
		return FLOW_OK;
	if (total && total < c.len)
		c.len = total; /* what follows is padding of the link */
	if (have(&c, header)) {
		skip(&c, header);
		take_ports(c, key);
	}
	return FLOW_OK;
}

/* Walks the extension headers. key->proto ends as the first that is none of them, as far as the capture goes. */
static void walk_ipv6(struct cut c, unsigned int next, struct flow_key *key)
{
	for (;;) {
		size_t size;

		key->proto = (uint8_t)next;
		switch (next) {
		case IPPROTO_HOPOPTS:
		case IPPROTO_ROUTING:
		case IPPROTO_DSTOPTS:
		case IPPROTO_MH:
		case 139: /* HIP */
		case 140: /* Shim6 */
			if (!have(&c, 2))
				return;
			size = ((size_t)c.p[1] + 1) * 8;
			break;
		case IPPROTO_AH:
			if (!have(&c, 2))
				return;
			size = ((size_t)c.p[1] + 2) * 4;
			break;
		case IPPROTO_FRAGMENT:
			if (!have(&c, 8))
				return;
			if (be16(c.p + 2) & 0xfff8) {
				key->proto = c.p[0];
				return;
			}
			size = 8;
			break;
		default:
			take_ports(c, key);
			return;
		}
		next = c.p[0];
		if (!have(&c, size)) {
			key->proto = (uint8_t)next;
			return;
		}
		skip(&c, size);
	}
}

static enum flow_result parse_ipv6(struct cut c, struct flow_key *key)
{
	unsigned int next;
	size_t payload;

	*c.ip = c.p;
	if (!have(&c, 40) || c.p[0] >> 4 != 6)
		return FLOW_MALFORMED;
	payload = be16(c.p + 4);
	next = c.p[6];
	key->family = 6;
	memcpy(key->src, c.p + 8, 16);
	memcpy(key->dst, c.p + 24, 16);
	skip(&c, 40);
	if (payload && payload < c.len) /* 0: a jumbogram, or a length not known yet */
		c.len = payload;
	walk_ipv6(c, next, key);
	return FLOW_OK;
}

/* From an Ethernet type: tags are walked, however many. */
static enum flow_result parse_ethertype(struct cut c, unsigned int type, struct flow_key *key)
{
	while (type == 0x8100 || type == 0x88a8 || type == 0x9100 || type == 0x9200) {
		if (!have(&c, 4))
			return FLOW_NOT_IP;
		type = be16(c.p + 2);
		skip(&c, 4);
	}
	if (type < ETH_MIN) { /* a length, then LLC: only SNAP with no organisation carries Ethernet types */
		static const uint8_t snap[6] = { 0xaa, 0xaa, 3, 0, 0, 0 };

		if (!have(&c, 8) || memcmp(c.p, snap, sizeof(snap)))
			return FLOW_NOT_IP;
		type = be16(c.p + 6);
		skip(&c, 8);
	}
	if (type == ETH_IPV4)
		return parse_ipv4(c, key);
	if (type == ETH_IPV6)
		return parse_ipv6(c, key);
	return FLOW_NOT_IP;
}

static enum flow_result parse_raw(struct cut c, struct flow_key *key)
{
	if (have(&c, 1) && c.p[0] >> 4 == 4)
		return parse_ipv4(c, key);
	if (have(&c, 1) && c.p[0] >> 4 == 6)
		return parse_ipv6(c, key);
	return FLOW_NOT_IP;
}

/* The address family of the machine that captured, in its byte order (NULL) or in the network's (LOOP). */
static enum flow_result parse_loopback(struct cut c, bool network_order, struct flow_key *key)
{
	uint32_t family;

	if (!have(&c, 4))
		return FLOW_NOT_IP;
	family = (uint32_t)be16(c.p) << 16 | be16(c.p + 2);
	if (!network_order && family > 0xffff)
		family = __builtin_bswap32(family);
	skip(&c, 4);
	switch (family) {
	case 2:
		return parse_ipv4(c, key);
	case 10: /* Linux */
	case 24: /* NetBSD, OpenBSD */
	case 28: /* FreeBSD */
	case 30: /* macOS */
		return parse_ipv6(c, key);
	default:
		return FLOW_NOT_IP;
	}
}

/* A link header of a fixed size, with an Ethernet type at a fixed place. */
static enum flow_result parse_link(struct cut c, size_t size, size_t type_at, struct flow_key *key)
{
	unsigned int type;

	if (!have(&c, size))
		return FLOW_NOT_IP;
	type = be16(c.p + type_at);
	skip(&c, size);
	return parse_ethertype(c, type, key);
}

static enum flow_result parse(int dlt, struct cut c, struct flow_key *key)
{
	switch (dlt) {
	case DLT_EN10MB:
		return parse_link(c, 14, 12, key);
	case DLT_LINUX_SLL:
		return parse_link(c, 16, 14, key);
	case DLT_LINUX_SLL2:
		return parse_link(c, 20, 0, key);
	case DLT_RAW:
		return parse_raw(c, key);
	case DLT_IPV4:
		return parse_ipv4(c, key);
	case DLT_IPV6:
		return parse_ipv6(c, key);
	case DLT_NULL:
		return parse_loopback(c, false, key);
	case DLT_LOOP:
		return parse_loopback(c, true, key);
	default:
		return FLOW_NOT_IP;
	}
}

enum flow_result flow_parse(int dlt, const uint8_t *frame, size_t caplen, struct flow_key *key, size_t *ip_at)
{
	const uint8_t *ip = frame;
	enum flow_result result;

	memset(key, 0, sizeof(*key));
	result = parse(dlt, (struct cut){ .p = frame, .len = caplen, .ip = &ip }, key);
	*ip_at = (size_t)(ip - frame);
	return result;
}

bool flow_plain(int dlt, const uint8_t *frame, size_t ip_at)
{
	unsigned int type;
	size_t at = 12;

	if (dlt != DLT_EN10MB)
		return false;
	for (type = be16(frame + at); (type == 0x8100 || type == 0x88a8) && at < 12 + 2 * 4; type = be16(frame + at))
		at += 4;
	return at + 2 == ip_at;
}

void flow_proto_text(uint8_t proto, char buf[16])
{
	const char *name = NULL;

	switch (proto) {
	case IPPROTO_TCP: name = "TCP"; break;
	case IPPROTO_UDP: name = "UDP"; break;
	case IPPROTO_SCTP: name = "SCTP"; break;
	case IPPROTO_ICMP: name = "ICMP"; break;
	case IPPROTO_ICMPV6: name = "ICMPv6"; break;
	case IPPROTO_IGMP: name = "IGMP"; break;
	case IPPROTO_GRE: name = "GRE"; break;
	case IPPROTO_ESP: name = "ESP"; break;
	}
	if (name)
		snprintf(buf, 16, "%s", name);
	else
		snprintf(buf, 16, "IP/%u", proto);
}

void flow_text(const struct flow_key *key, char buf[FLOW_TEXT_MAX])
{
	char src[INET6_ADDRSTRLEN], dst[INET6_ADDRSTRLEN], proto[16];
	int af = key->family == 4 ? AF_INET : AF_INET6;

	inet_ntop(af, key->src, src, sizeof(src));
	inet_ntop(af, key->dst, dst, sizeof(dst));
	flow_proto_text(key->proto, proto);
	if (!flow_has_ports(key->proto))
		snprintf(buf, FLOW_TEXT_MAX, "%s %s > %s", proto, src, dst);
	else if (key->family == 4)
		snprintf(buf, FLOW_TEXT_MAX, "%s %s:%u > %s:%u", proto, src, key->sport, dst, key->dport);
	else
		snprintf(buf, FLOW_TEXT_MAX, "%s [%s]:%u > [%s]:%u", proto, src, key->sport, dst, key->dport);
}
