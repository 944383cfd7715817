/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parser. Frames are foreign bytes: every header is asked for by take(), which knows how many are left. Up to two VLAN
 * tags, IP with the extension headers that programs meet, TCP, UDP, ICMP, ESP, and tunnels by VXLAN, Geneve and GRE with one
 * inner packet. Fields of what the frame lacks are zero.
 */
#include <string.h>

#include "parse.h"

#define TYPE_IPV4 0x0800u
#define TYPE_IPV6 0x86ddu
#define TYPE_CVLAN 0x8100u
#define TYPE_SVLAN 0x88a8u
#define TYPE_ETHERNET 0x6558u /* in GRE and Geneve */
#define TYPE_MIN 0x0600u      /* below: a length */

enum { IP_HOPOPTS = 0, IP_ICMP = 1, IP_TCP = 6, IP_UDP = 17, IP_ROUTING = 43, IP_FRAGMENT = 44, IP_GRE = 47, IP_ESP = 50,
       IP_AH = 51, IP_ICMPV6 = 58, IP_DSTOPTS = 60, IP_MOBILITY = 135, IP_HIP = 139, IP_SHIM6 = 140 };

enum { PORT_GENEVE = 6081, PORT_ROCE = 4791 };

/* l4_type and l4_type_ext. Linux, include/linux/mlx5/mlx5_ifc.h. */
enum { L4_NONE = 0, L4_TCP = 1, L4_UDP = 2, L4_ICMP = 3 };

struct field {
	uint32_t bit, width;
};

#define FIELD(layout, name) { PRM_F_##layout##__##name }

/* Where the sections that are not fte_match_set_lyr_2_4 keep what belongs to the outer and to the inner headers. */
static const struct side {
	struct field l2_4, second_prio, second_cfi, second_vid, second_cvlan, second_svlan, flow_label, esp_spi;
} sides[2] = {
	{ FIELD(fte_match_param, outer_headers), FIELD(fte_match_set_misc, outer_second_prio),
	  FIELD(fte_match_set_misc, outer_second_cfi), FIELD(fte_match_set_misc, outer_second_vid),
	  FIELD(fte_match_set_misc, outer_second_cvlan_tag), FIELD(fte_match_set_misc, outer_second_svlan_tag),
	  FIELD(fte_match_set_misc, outer_ipv6_flow_label), FIELD(fte_match_set_misc, outer_esp_spi) },
	{ FIELD(fte_match_param, inner_headers), FIELD(fte_match_set_misc, inner_second_prio),
	  FIELD(fte_match_set_misc, inner_second_cfi), FIELD(fte_match_set_misc, inner_second_vid),
	  FIELD(fte_match_set_misc, inner_second_cvlan_tag), FIELD(fte_match_set_misc, inner_second_svlan_tag),
	  FIELD(fte_match_set_misc, inner_ipv6_flow_label), FIELD(fte_match_set_misc, inner_esp_spi) },
};

struct walk {
	const uint8_t *frame;
	uint32_t at, end;
	struct prm_box set;  /* fte_match_set_lyr_2_4 of this side */
	struct prm_box misc, misc3;
	const struct side *side;
	struct layers *l;
};

#define PUT(w, name, value) PRM_SET(&(w)->set, fte_match_set_lyr_2_4, name, value)
#define PUT_MISC(w, name, value) PRM_SET(&(w)->misc, fte_match_set_misc, name, value)
#define PUT_SIDE(w, name, value) prm_set(&(w)->misc, (w)->side->name.bit, (w)->side->name.width, value)

/* The next n bytes, as a box; NULL: the frame ends before. */
static const uint8_t *take(struct walk *w, uint32_t n)
{
	const uint8_t *p = w->frame + w->at;

	if (w->end - w->at < n)
		return NULL;
	w->at += n;
	return p;
}

static uint32_t be16(const uint8_t *p)
{
	return (uint32_t)p[0] << 8 | p[1];
}

static uint32_t be24(const uint8_t *p)
{
	return be16(p) << 8 | p[2];
}

static uint32_t be32(const uint8_t *p)
{
	return be16(p) << 16 | be16(p + 2);
}

static void put_bytes(struct prm_box *b, uint32_t bit, uint32_t width, const uint8_t *src)
{
	struct prm_box to = prm_sub(b, bit, width);

	memcpy(to.p, src, to.len);
}

static void first_vlan(struct walk *w, uint32_t type, const uint8_t *tag)
{
	uint32_t tci = be16(tag);

	PUT(w, first_prio, tci >> 13);
	PUT(w, first_cfi, tci >> 12 & 1);
	PUT(w, first_vid, tci & 0xfff);
	if (type == TYPE_CVLAN)
		PUT(w, cvlan_tag, 1);
	else
		PUT(w, svlan_tag, 1);
}

static void second_vlan(struct walk *w, uint32_t type, const uint8_t *tag)
{
	uint32_t tci = be16(tag);

	PUT_SIDE(w, second_prio, tci >> 13);
	PUT_SIDE(w, second_cfi, tci >> 12 & 1);
	PUT_SIDE(w, second_vid, tci & 0xfff);
	if (type == TYPE_CVLAN)
		PUT_SIDE(w, second_cvlan, 1);
	else
		PUT_SIDE(w, second_svlan, 1);
}

/* The Ethernet type behind the tags; 0 when there is none. ethertype is matched behind the tags too. */
static uint32_t ethernet(struct walk *w)
{
	const uint8_t *h = take(w, ETH_HEADER), *tag;
	uint32_t type;

	if (!h)
		return 0;
	put_bytes(&w->set, PRM_F_fte_match_set_lyr_2_4__dmac_47_16, h);
	PUT(w, dmac_15_0, be16(h + 4));
	put_bytes(&w->set, PRM_F_fte_match_set_lyr_2_4__smac_47_16, h + 6);
	PUT(w, smac_15_0, be16(h + 10));
	type = be16(h + 12);
	while ((type == TYPE_CVLAN || type == TYPE_SVLAN) && w->l->n_vlans < 2 && (tag = take(w, VLAN_HEADER))) {
		if (w->l->n_vlans++)
			second_vlan(w, type, tag);
		else
			first_vlan(w, type, tag);
		type = be16(tag + 2);
	}
	if (type < TYPE_MIN)
		return 0;
	PUT(w, ethertype, type);
	return type;
}

/* What every IP header has. The transport header follows when the walk is where it begins. */
static void ip_common(struct walk *w, uint8_t version, uint32_t class, uint8_t ttl)
{
	w->l->version = version;
	PUT(w, ip_version, version);
	PUT(w, ip_dscp, class >> 2);
	PUT(w, ip_ecn, class & 3);
	PUT(w, ttl_hoplimit, ttl);
}

static void ipv4(struct walk *w)
{
	struct prm_box addr;
	const uint8_t *h = take(w, 20);
	uint32_t header, total;

	if (!h || h[0] >> 4 != 4)
		return;
	header = (h[0] & 0xfu) * 4;
	total = be16(h + 2);
	/* 0: segmentation was left to the NIC. */
	if (header < 20 || (total && total < header))
		return;
	w->l->ip = w->at - 20;
	ip_common(w, 4, h[1], h[8]);
	w->l->proto = h[9];
	PUT(w, ip_protocol, h[9]);
	addr = PRM_SUB(&w->set, fte_match_set_lyr_2_4, src_ipv4_src_ipv6);
	put_bytes(&addr, PRM_F_ipv4_layout__ipv4, h + 12);
	addr = PRM_SUB(&w->set, fte_match_set_lyr_2_4, dst_ipv4_dst_ipv6);
	put_bytes(&addr, PRM_F_ipv4_layout__ipv4, h + 16);
	if (total && total < w->end - w->l->ip)
		w->end = w->l->ip + total;
	PUT(w, frag, (be16(h + 6) & 0x3fff) != 0); /* more fragments, or an offset */
	w->l->has_l4 = !(be16(h + 6) & 0x1fff) && take(w, header - 20);
}

/* Walks the extension headers. proto ends as the first that is none of them, as far as the frame goes. */
static void ipv6_extensions(struct walk *w, uint8_t next)
{
	for (;;) {
		const uint8_t *h = NULL;
		uint32_t size;

		w->l->proto = next;
		switch (next) {
		case IP_HOPOPTS:
		case IP_ROUTING:
		case IP_DSTOPTS:
		case IP_MOBILITY:
		case IP_HIP:
		case IP_SHIM6:
			if (w->end - w->at >= 2)
				h = w->frame + w->at;
			size = h ? (h[1] + 1u) * 8 : 0;
			break;
		case IP_AH:
			if (w->end - w->at >= 2)
				h = w->frame + w->at;
			size = h ? (h[1] + 2u) * 4 : 0;
			break;
		case IP_FRAGMENT:
			if (w->end - w->at < 8)
				return;
			h = w->frame + w->at;
			PUT(w, frag, 1);
			if (be16(h + 2) & 0xfff8) { /* not the first */
				w->l->proto = h[0];
				return;
			}
			size = 8;
			break;
		default:
			w->l->has_l4 = true;
			return;
		}
		if (!h)
			return;
		next = h[0];
		if (!take(w, size)) {
			w->l->proto = next;
			return;
		}
	}
}

static void ipv6(struct walk *w)
{
	const uint8_t *h = take(w, 40);
	uint32_t payload;

	if (!h || h[0] >> 4 != 6)
		return;
	w->l->ip = w->at - 40;
	payload = be16(h + 4);
	ip_common(w, 6, be16(h) >> 4 & 0xff, h[7]);
	PUT_SIDE(w, flow_label, be24(h + 1) & 0xfffff);
	put_bytes(&w->set, PRM_F_fte_match_set_lyr_2_4__src_ipv4_src_ipv6, h + 8);
	put_bytes(&w->set, PRM_F_fte_match_set_lyr_2_4__dst_ipv4_dst_ipv6, h + 24);
	if (payload && payload < w->end - w->at) /* 0: a jumbogram, or a length not known yet */
		w->end = w->at + payload;
	ipv6_extensions(w, h[6]);
	PUT(w, ip_protocol, w->l->proto);
}

/* The walk stays at the header; ports of a header that is cut behind them still count. */
static void transport(struct walk *w)
{
	const uint8_t *h = w->frame + w->at;
	uint32_t left = w->end - w->at;

	w->l->l4 = w->at;
	switch (w->l->proto) {
	case IP_TCP:
		if (left < 4)
			break;
		PUT(w, tcp_sport, be16(h));
		PUT(w, tcp_dport, be16(h + 2));
		PUT(w, l4_type, L4_TCP);
		PUT(w, l4_type_ext, L4_TCP);
		if (left >= 14)
			PUT(w, tcp_flags, be16(h + 12) & 0x1ff);
		return;
	case IP_UDP:
		if (left < 4)
			break;
		PUT(w, udp_sport, be16(h));
		PUT(w, udp_dport, be16(h + 2));
		PUT(w, l4_type, L4_UDP);
		PUT(w, l4_type_ext, L4_UDP);
		return;
	case IP_ICMP:
	case IP_ICMPV6:
		PUT(w, l4_type_ext, L4_ICMP);
		return;
	case IP_ESP:
		if (left >= 4)
			PUT_SIDE(w, esp_spi, be32(h));
		return;
	default:
		return;
	}
	w->l->has_l4 = false; /* cut inside the ports */
}

static void ip(struct walk *w, uint32_t type)
{
	if (type == TYPE_IPV4)
		ipv4(w);
	else if (type == TYPE_IPV6)
		ipv6(w);
	if (w->l->version && w->l->has_l4)
		transport(w);
	w->l->end = w->end;
}

/* Only outer ICMP is told apart: misc3 has no place for more. */
static void icmp(struct walk *w)
{
	const uint8_t *h = w->frame + w->at;

	if (w->end - w->at < 8)
		return;
	if (w->l->proto == IP_ICMP) {
		PRM_SET(&w->misc3, fte_match_set_misc3, icmp_type, h[0]);
		PRM_SET(&w->misc3, fte_match_set_misc3, icmp_code, h[1]);
		PRM_SET(&w->misc3, fte_match_set_misc3, icmp_header_data, be32(h + 4));
	} else {
		PRM_SET(&w->misc3, fte_match_set_misc3, icmpv6_type, h[0]);
		PRM_SET(&w->misc3, fte_match_set_misc3, icmpv6_code, h[1]);
		PRM_SET(&w->misc3, fte_match_set_misc3, icmpv6_header_data, be32(h + 4));
	}
}

/* The Ethernet type of what a tunnel carries; TYPE_ETHERNET: a whole frame. 0: no tunnel. */
static uint32_t gre(struct walk *w)
{
	const uint8_t *h = take(w, 4), *key;
	uint32_t flags, type;

	if (!h || (h[1] & 7)) /* version 0 */
		return 0;
	flags = h[0];
	type = be16(h + 2);
	PUT_MISC(w, gre_c_present, flags >> 7 & 1);
	PUT_MISC(w, gre_k_present, flags >> 5 & 1);
	PUT_MISC(w, gre_s_present, flags >> 4 & 1);
	PUT_MISC(w, gre_protocol, type);
	if (flags & 0x80 && !take(w, 4)) /* checksum */
		return 0;
	if (flags & 0x20) {
		key = take(w, 4);
		if (!key)
			return 0;
		put_bytes(&w->misc, PRM_F_fte_match_set_misc__gre_key, key);
	}
	return flags & 0x10 && !take(w, 4) ? 0 : type; /* sequence number */
}

static uint32_t geneve(struct walk *w)
{
	const uint8_t *h = take(w, 8);
	uint32_t options, type;

	if (!h || h[0] >> 6) /* version 0 */
		return 0;
	options = h[0] & 0x3f;
	type = be16(h + 2);
	PUT_MISC(w, geneve_opt_len, options);
	PUT_MISC(w, geneve_oam, h[1] >> 7);
	PUT_MISC(w, geneve_protocol_type, type);
	PUT_MISC(w, geneve_vni, be24(h + 4));
	return take(w, options * 4) ? type : 0;
}

static uint32_t over_udp(struct walk *w, parse_vxlan_port vxlan, const void *arg)
{
	const uint8_t *udp = take(w, 8), *h;
	uint16_t port = udp ? (uint16_t)be16(udp + 2) : 0;

	if (!udp)
		return 0;
	if (port == PORT_GENEVE)
		return geneve(w);
	if (port == PORT_ROCE) {
		h = take(w, 12);
		if (h) {
			PUT_MISC(w, bth_opcode, h[0]);
			PUT_MISC(w, bth_dst_qp, be24(h + 5));
		}
		return 0;
	}
	if (!vxlan(arg, port))
		return 0;
	h = take(w, 8);
	if (!h)
		return 0;
	PUT_MISC(w, vxlan_vni, be24(h + 4));
	return TYPE_ETHERNET;
}

static uint32_t behind_transport(struct walk *w, parse_vxlan_port vxlan, const void *arg)
{
	switch (w->l->proto) {
	case IP_ICMP:
	case IP_ICMPV6:
		icmp(w);
		return 0;
	case IP_GRE:
		return gre(w);
	case IP_UDP:
		return over_udp(w, vxlan, arg);
	default:
		return 0;
	}
}

static const struct field reg_fields[METADATA_REGS] = {
	FIELD(fte_match_set_misc2, metadata_reg_c_0), FIELD(fte_match_set_misc2, metadata_reg_c_1),
	FIELD(fte_match_set_misc2, metadata_reg_c_2), FIELD(fte_match_set_misc2, metadata_reg_c_3),
	FIELD(fte_match_set_misc2, metadata_reg_c_4), FIELD(fte_match_set_misc2, metadata_reg_c_5),
	FIELD(fte_match_set_misc2, metadata_reg_c_6), FIELD(fte_match_set_misc2, metadata_reg_c_7),
};

void parse_frame(const uint8_t *frame, size_t len, const uint32_t regs[METADATA_REGS], parse_vxlan_port vxlan, const void *arg,
		 struct parsed *p, struct image *image)
{
	struct prm_box all = prm_out(image->byte, sizeof(image->byte));
	struct prm_box misc2 = PRM_SUB(&all, fte_match_param, misc_parameters_2);
	struct walk w = {
		.frame = frame, .end = (uint32_t)len, .side = &sides[0], .l = &p->outer,
		.set = prm_sub(&all, sides[0].l2_4.bit, sides[0].l2_4.width),
		.misc = PRM_SUB(&all, fte_match_param, misc_parameters),
		.misc3 = PRM_SUB(&all, fte_match_param, misc_parameters_3),
	};
	uint32_t type;

	memset(image, 0, sizeof(*image));
	memset(p, 0, sizeof(*p));
	for (unsigned int i = 0; i < METADATA_REGS; i++)
		if (regs[i])
			prm_set(&misc2, reg_fields[i].bit, reg_fields[i].width, regs[i]);
	ip(&w, ethernet(&w));
	if (!p->outer.has_l4)
		return;
	type = behind_transport(&w, vxlan, arg);
	if (type != TYPE_ETHERNET && type != TYPE_IPV4 && type != TYPE_IPV6)
		return;
	p->tunnel = type == TYPE_ETHERNET ? TUNNEL_ETHERNET : TUNNEL_IP;
	p->inner_at = w.at;
	w.side = &sides[1];
	w.l = &p->inner;
	w.set = prm_sub(&all, sides[1].l2_4.bit, sides[1].l2_4.width);
	if (type == TYPE_ETHERNET)
		ip(&w, ethernet(&w));
	else {
		PRM_SET(&w.set, fte_match_set_lyr_2_4, ethertype, type);
		ip(&w, type);
	}
}
