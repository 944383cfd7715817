/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What entries do to a frame. The first change copies its first part into the frame's own room; what lies behind is never
 * looked at, only its length counts. Offsets come from the parser, which saw that the headers are there.
 */
#include <string.h>

#include "steer.h"

/* Types of modify header actions. Linux, include/linux/mlx5/mlx5_ifc.h. */
enum { ACTION_SET = 1, ACTION_ADD = 2, ACTION_COPY = 3 };

enum where { IN_ETH, IN_TYPE, IN_VLAN, IN_IPV4, IN_IPV6, IN_IP, IN_TCP, IN_UDP, IN_REG };

enum { PROTO_TCP = 6, PROTO_UDP = 17 };

/*
 * Fields by their number in MLX5_ACTION_IN_FIELD_* of Linux' mlx5_ifc.h; IP_ECN as rdma-core has it. bit: from the start of
 * the header. IP_DSCP and IP_ECN: of the IPv4 header; in IPv6 they lie four bits earlier.
 */
static const struct field {
	uint8_t id, where, width;
	uint16_t bit;
} fields[] = {
	{ 0x01, IN_ETH, 32, 48 },    { 0x02, IN_ETH, 16, 80 },                                                     /* source */
	{ 0x03, IN_TYPE, 16, 0 },    { 0x04, IN_ETH, 32, 0 },     { 0x05, IN_ETH, 16, 32 },                    /* destination */
	{ 0x06, IN_IP, 6, 8 },       { 0x73, IN_IP, 2, 14 },      { 0x0a, IN_IPV4, 8, 64 },  { 0x47, IN_IPV6, 8, 56 },
	{ 0x07, IN_TCP, 9, 103 },    { 0x08, IN_TCP, 16, 0 },     { 0x09, IN_TCP, 16, 16 },
	{ 0x59, IN_TCP, 32, 32 },    { 0x5b, IN_TCP, 32, 64 },    { 0x0b, IN_UDP, 16, 0 },   { 0x0c, IN_UDP, 16, 16 },
	{ 0x0d, IN_IPV6, 32, 64 },   { 0x0e, IN_IPV6, 32, 96 },   { 0x0f, IN_IPV6, 32, 128 }, { 0x10, IN_IPV6, 32, 160 },
	{ 0x11, IN_IPV6, 32, 192 },  { 0x12, IN_IPV6, 32, 224 },  { 0x13, IN_IPV6, 32, 256 }, { 0x14, IN_IPV6, 32, 288 },
	{ 0x15, IN_IPV4, 32, 96 },   { 0x16, IN_IPV4, 32, 128 },  { 0x17, IN_VLAN, 12, 4 },
	{ 0x51, IN_REG, 32, 0 },     { 0x52, IN_REG, 32, 1 },     { 0x53, IN_REG, 32, 2 },   { 0x54, IN_REG, 32, 3 },
	{ 0x55, IN_REG, 32, 4 },     { 0x56, IN_REG, 32, 5 },     { 0x57, IN_REG, 32, 6 },   { 0x58, IN_REG, 32, 7 },
};

static const struct field *field_of(uint64_t id)
{
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (fields[i].id == id)
			return &fields[i];
	return NULL;
}

/* 0 stands for all of 32 bits. */
static uint32_t length_of(uint64_t length)
{
	return length ? (uint32_t)length : 32;
}

static bool fits(const struct field *f, uint64_t offset, uint32_t length)
{
	return offset + length <= f->width;
}

enum syn modify_action_check(const uint8_t action[8])
{
	struct prm_box b = prm_in(action, PRM_SZ(set_action_in));
	const struct field *f = field_of(PRM_GET(&b, set_action_in, field)), *to;
	uint32_t length = length_of(PRM_GET(&b, set_action_in, length));

	switch (PRM_GET(&b, set_action_in, action_type)) {
	case ACTION_SET:
		if (!f)
			return SYN_MODIFY_FIELD;
		if (!fits(f, PRM_GET(&b, set_action_in, offset), length) ||
		    PRM_GET(&b, set_action_in, data) >> (length - 1) > 1)
			return SYN_MODIFY_RANGE;
		return SYN_OK;
	case ACTION_ADD:
		return f ? SYN_OK : SYN_MODIFY_FIELD;
	case ACTION_COPY:
		to = field_of(PRM_GET(&b, copy_action_in, dst_field));
		if (!f || !to)
			return SYN_MODIFY_FIELD;
		return fits(f, PRM_GET(&b, copy_action_in, src_offset), length) &&
				       fits(to, PRM_GET(&b, copy_action_in, dst_offset), length) ? SYN_OK : SYN_MODIFY_RANGE;
	default:
		return SYN_MODIFY_TYPE;
	}
}

/* What the layout of its type defines. */
void modify_action_copy(const uint8_t action[8], uint8_t to[8])
{
	static const char *const layouts[] = {
		[ACTION_SET] = "set_action_in", [ACTION_ADD] = "add_action_in", [ACTION_COPY] = "copy_action_in",
	};
	struct prm_box b = prm_in(action, PRM_SZ(set_action_in));

	prm_copy_defined(prm_layout(layouts[PRM_GET(&b, set_action_in, action_type)]), &b, 0, PRM_SZ(set_action_in) * 8, to);
}

void frame_parse(struct hca *h, struct frame *f)
{
	parse_frame(f->p, f->len, f->regs, vxlan_port_known, h, &f->parsed, &f->image);
}

static void own(struct frame *f)
{
	if (f->p >= f->own && f->p < f->own + sizeof(f->own))
		return;
	f->len = f->len < FRAME_WINDOW ? f->len : FRAME_WINDOW;
	memcpy(f->own + FRAME_HEADROOM, f->p, f->len);
	f->p = f->own + FRAME_HEADROOM;
}

static uint8_t *bytes(struct frame *f)
{
	return f->own + (f->p - f->own);
}

/* Takes n bytes away at an offset. */
static bool cut(struct frame *f, uint32_t at, uint32_t n)
{
	own(f);
	if (at > f->len || n > f->len - at)
		return false;
	memmove(bytes(f) + n, bytes(f), at);
	f->p += n;
	f->len -= n;
	f->total -= n;
	return true;
}

/* Puts n bytes in at an offset. Headroom lasts for every level of tables. */
static bool put(struct frame *f, uint32_t at, const uint8_t *data, uint32_t n)
{
	own(f);
	if (at > f->len || n > (size_t)(f->p - f->own))
		return false;
	f->p -= n;
	memmove(bytes(f), bytes(f) + n, at);
	memcpy(bytes(f) + at, data, n);
	f->len += n;
	f->total += n;
	return true;
}

/* First bit of a field in the frame; false: the frame has no such header. */
static bool locate(const struct frame *f, const struct field *field, uint32_t *bit)
{
	const struct layers *l = &f->parsed.outer;
	uint32_t tags = l->n_vlans * VLAN_HEADER, at = 0;
	bool there = f->len >= ETH_HEADER + tags;

	switch ((enum where)field->where) {
	case IN_ETH:
	case IN_REG:
		break;
	case IN_TYPE:
		at = ETH_HEADER - 2 + tags;
		break;
	case IN_VLAN:
		at = ETH_HEADER;
		there = there && l->n_vlans;
		break;
	case IN_IPV4:
	case IN_IPV6:
		at = l->ip;
		there = l->version == (field->where == IN_IPV4 ? 4 : 6);
		break;
	case IN_IP:
		at = l->ip;
		there = l->version;
		break;
	case IN_TCP:
	case IN_UDP:
		at = l->l4;
		there = l->has_l4 && l->proto == (field->where == IN_TCP ? PROTO_TCP : PROTO_UDP);
		break;
	}
	*bit = at * 8 + field->bit - (field->where == IN_IP && l->version == 6 ? 4 : 0);
	return there && *bit + field->width <= f->len * 8;
}

static uint64_t get_field(struct frame *f, const struct field *field, bool *there)
{
	struct prm_box b = prm_in(f->p, f->len);
	uint32_t bit;

	*there = field->where == IN_REG || locate(f, field, &bit);
	if (!*there)
		return 0;
	return field->where == IN_REG ? f->regs[field->bit] : prm_get(&b, bit, field->width);
}

static void set_field(struct frame *f, const struct field *field, uint64_t value)
{
	struct prm_box b;
	uint32_t bit;

	if (field->where == IN_REG) {
		f->regs[field->bit] = (uint32_t)value;
		return;
	}
	own(f);
	b = prm_out(bytes(f), f->len);
	if (locate(f, field, &bit))
		prm_set(&b, bit, field->width, value);
}

static uint64_t ones(uint32_t n)
{
	return (UINT64_C(1) << n) - 1;
}

/* A field that the frame lacks is left out. */
static void modify_one(struct frame *f, const uint8_t *action)
{
	struct prm_box b = prm_in(action, PRM_SZ(set_action_in));
	const struct field *field = field_of(PRM_GET(&b, set_action_in, field)), *to;
	uint32_t length = length_of(PRM_GET(&b, set_action_in, length)), offset;
	bool there, to_there;
	uint64_t old = get_field(f, field, &there), value;

	if (!there)
		return;
	switch (PRM_GET(&b, set_action_in, action_type)) {
	case ACTION_SET:
		offset = (uint32_t)PRM_GET(&b, set_action_in, offset);
		value = PRM_GET(&b, set_action_in, data) << offset;
		set_field(f, field, (old & ~(ones(length) << offset)) | value);
		break;
	case ACTION_ADD:
		set_field(f, field, (old + PRM_GET(&b, add_action_in, data)) & ones(field->width));
		break;
	default:
		value = old >> PRM_GET(&b, copy_action_in, src_offset) & ones(length);
		offset = (uint32_t)PRM_GET(&b, copy_action_in, dst_offset);
		to = field_of(PRM_GET(&b, copy_action_in, dst_field));
		old = get_field(f, to, &to_there);
		if (to_there)
			set_field(f, to, (old & ~(ones(length) << offset)) | value << offset);
	}
}

static bool pop_vlan(struct hca *h, struct frame *f)
{
	if (!f->parsed.outer.n_vlans || !cut(f, ETH_HEADER - 2, VLAN_HEADER))
		return false;
	frame_parse(h, f);
	return true;
}

/* The tag's bytes as they stand in the context: type, then control information. */
static bool push_vlan(struct frame *f, const uint8_t *tag)
{
	return put(f, ETH_HEADER - 2, tag, VLAN_HEADER);
}

static bool anchor_at(const struct frame *f, uint8_t anchor, uint32_t *at)
{
	const struct layers *l = &f->parsed.outer;

	switch (anchor) {
	case ANCHOR_MAC:
		*at = 0;
		return true;
	case ANCHOR_VLAN: /* the first tag's type */
		*at = ETH_HEADER - 2;
		return l->n_vlans;
	case ANCHOR_IP:
		*at = l->ip;
		return l->version;
	default:
		*at = l->l4;
		return l->has_l4 && (l->proto == PROTO_TCP || l->proto == PROTO_UDP);
	}
}

/* Everything up to the inner packet goes; the context's Ethernet header comes in its place. */
static bool l3_tunnel_to_l2(struct frame *f, const struct reformat *r)
{
	static const uint8_t types[2][2] = { { 0x08, 0x00 }, { 0x86, 0xdd } };
	bool six = f->parsed.inner.version == 6;

	if (f->parsed.tunnel != TUNNEL_IP || !cut(f, 0, f->parsed.inner_at) || !put(f, 0, reformat_data(r), r->size))
		return false;
	/* The type says what the inner packet is, whatever the context has there. */
	memcpy(bytes(f) + r->size - 2, types[six], 2);
	return true;
}

static bool take_away(struct frame *f, const struct reformat *r)
{
	uint32_t at;

	if (r->type == REFORMAT_L3_TUNNEL_TO_L2)
		return l3_tunnel_to_l2(f, r);
	return anchor_at(f, r->anchor, &at) && cut(f, at + r->offset, r->size);
}

static bool put_in_front(struct frame *f, const struct reformat *r)
{
	uint32_t at = 0;

	if (r->type == REFORMAT_L2_TO_L3_TUNNEL && !cut(f, 0, ETH_HEADER + f->parsed.outer.n_vlans * VLAN_HEADER))
		return false;
	if (r->type == REFORMAT_INSERT_HDR && !anchor_at(f, r->anchor, &at))
		return false;
	return put(f, at + (r->type == REFORMAT_INSERT_HDR ? r->offset : 0), reformat_data(r), r->size);
}

/* Our choice of order: take headers away, change what is left, put headers on. */
bool frame_change(struct hca *h, struct frame *f, const struct fte_actions *a)
{
	const struct reformat *r = (const struct reformat *)a->reformat;
	const struct modify_header *m = (const struct modify_header *)a->modify;
	struct prm_box ctx = prm_in(a->ctx, sizeof(a->ctx)), tag = PRM_SUB(&ctx, flow_context, push_vlan);
	struct prm_box tag_2 = PRM_SUB(&ctx, flow_context, push_vlan_2);

	if (a->action & FTE_DECAP && (f->parsed.tunnel != TUNNEL_ETHERNET || !cut(f, 0, f->parsed.inner_at)))
		return false;
	if (a->action & FTE_DECAP)
		frame_parse(h, f);
	if (r && reformat_removes(r)) {
		if (!take_away(f, r))
			return false;
		frame_parse(h, f);
	}
	if ((a->action & FTE_VLAN_POP && !pop_vlan(h, f)) || (a->action & FTE_VLAN_POP_2 && !pop_vlan(h, f)))
		return false;
	for (unsigned int i = 0; m && i < m->n; i++)
		modify_one(f, m->actions + i * PRM_SZ(set_action_in));
	if (m)
		frame_parse(h, f);
	/* The second of two tags goes on first: the other one then stands before it. */
	if (a->action & FTE_VLAN_PUSH_2 && !push_vlan(f, tag_2.p))
		return false;
	if (a->action & FTE_VLAN_PUSH && !push_vlan(f, tag.p))
		return false;
	if (a->action & FTE_VLAN_PUSH)
		frame_parse(h, f);
	if (!r || reformat_removes(r))
		return true;
	if (!put_in_front(f, r))
		return false;
	frame_parse(h, f);
	return true;
}
