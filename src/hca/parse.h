/* SPDX-License-Identifier: BSD-2-Clause */
/* What the device's parser sees of a frame: an fte_match_param filled with its values, and where the headers lie. */
#ifndef HCA_PARSE_H
#define HCA_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "prm.h"

#define IMAGE_WORDS (PRM_SZ(fte_match_param) / 8)
#define METADATA_REGS 8u /* metadata_reg_c_0 to 7 */

/* Bytes in the order of the layout; looked at by words, whose byte order does not matter to masks and equality. */
struct image {
	union {
		uint64_t word[IMAGE_WORDS];
		uint8_t byte[IMAGE_WORDS * 8];
	};
};

#define ETH_HEADER 14u
#define VLAN_HEADER 4u

/* One Ethernet, IP and transport header each, by their offset in the frame. */
struct layers {
	uint32_t ip, l4;   /* valid when version and has_l4 say so */
	uint32_t end;      /* of the bytes that belong to the packet: what follows is padding of the link */
	uint8_t n_vlans;
	uint8_t version;   /* 4, 6, or 0: not IP */
	uint8_t proto;     /* of l4: the last of the IPv6 headers that is none of the extensions */
	bool has_l4;       /* not a later fragment, and not cut before */
};

enum tunnel { TUNNEL_NONE, TUNNEL_ETHERNET, TUNNEL_IP };

struct parsed {
	struct layers outer, inner;
	enum tunnel tunnel; /* what follows at inner_at */
	uint32_t inner_at;
};

/* Which UDP ports carry VXLAN. */
typedef bool (*parse_vxlan_port)(const void *arg, uint16_t port);

/* image is written whole. Nothing outside frame is read. regs: the metadata registers of the packet. */
void parse_frame(const uint8_t *frame, size_t len, const uint32_t regs[METADATA_REGS], parse_vxlan_port vxlan, const void *arg,
		 struct parsed *p, struct image *image);

#endif
