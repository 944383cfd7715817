/* SPDX-License-Identifier: BSD-2-Clause */
/* Which flow a captured frame belongs to. Pure functions on a buffer: nothing past caplen is ever read. */
#ifndef DEVX_FLOW_H
#define DEVX_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A flow has a direction. No padding: two keys are equal when their bytes are. */
struct flow_key {
	uint8_t src[16]; /* IPv4: the first four bytes, the rest 0 */
	uint8_t dst[16];
	uint16_t sport;  /* host order; 0 for what has no ports, and for fragments after the first */
	uint16_t dport;
	uint8_t proto;
	uint8_t family;  /* 4 or 6 */
	uint16_t zero;
};

enum flow_result {
	FLOW_OK,
	FLOW_NOT_IP,
	FLOW_MALFORMED, /* IP by its link header, and its own header is wrong or cut */
};

bool flow_linktype_known(int dlt); /* dlt: as pcap_datalink() gives it */
/* ip_at: of FLOW_OK, where the IP header begins. */
enum flow_result flow_parse(int dlt, const uint8_t *frame, size_t caplen, struct flow_key *key, size_t *ip_at);
/* Of a frame that is FLOW_OK: what the parser of a NIC finds the IP header in, an Ethernet header with two usual tags at most. */
bool flow_plain(int dlt, const uint8_t *frame, size_t ip_at);

#define FLOW_TEXT_MAX 128
/* "TCP 127.0.0.1:80 > 127.0.0.1:4000", "ICMP 10.0.0.1 > 10.0.0.2", "TCP [::1]:80 > [::1]:4000" */
void flow_text(const struct flow_key *key, char buf[FLOW_TEXT_MAX]);
void flow_proto_text(uint8_t proto, char buf[16]);
bool flow_has_ports(uint8_t proto);

#endif
