/* SPDX-License-Identifier: BSD-2-Clause */
/* Packet reformat contexts and modify header contexts. */
#include <stdlib.h>
#include <string.h>

#include "steer.h"

#define FIRST_BIT(...) FIRST_BIT_(__VA_ARGS__)
#define FIRST_BIT_(bit, width) (bit)

/* Where the data of a context begins, in the context and in the inbox: an inbox without data ends there. */
#define DATA_AT (FIRST_BIT(PRM_F_packet_reformat_context_in__reformat_data) / 8)
#define IN_DATA_AT (FIRST_BIT(PRM_F_alloc_packet_reformat_context_in__packet_reformat_context) / 8 + DATA_AT)
#define OUT_CTX_AT (FIRST_BIT(PRM_F_query_packet_reformat_context_out__packet_reformat_context) / 8)

void reformat_fini(struct hca_obj *obj)
{
	free(((struct reformat *)obj)->ctx);
}

bool reformat_removes(const struct reformat *r)
{
	return r->type == REFORMAT_L3_TUNNEL_TO_L2 || r->type == REFORMAT_REMOVE_HDR;
}

static bool anchor_known(uint64_t anchor)
{
	return anchor == ANCHOR_MAC || anchor == ANCHOR_VLAN || anchor == ANCHOR_IP || anchor == ANCHOR_TCP_UDP;
}

/* How many bytes of data follow in the inbox. */
static enum syn reformat_check(struct call *c, struct prm_box *ctx, uint32_t *data)
{
	uint32_t size = (uint32_t)PRM_GET(ctx, packet_reformat_context_in, reformat_data_size);

	*data = size;
	switch (PRM_GET(ctx, packet_reformat_context_in, reformat_type)) {
	case REFORMAT_L2_TO_VXLAN:
	case REFORMAT_L2_TO_NVGRE:
	case REFORMAT_L2_TO_L2_TUNNEL:
	case REFORMAT_L2_TO_L3_TUNNEL:
		break;
	case REFORMAT_L3_TUNNEL_TO_L2: /* an Ethernet header, with a tag or without */
		if (size != ETH_HEADER && size != ETH_HEADER + VLAN_HEADER)
			return SYN_REFORMAT_SIZE;
		break;
	case REFORMAT_REMOVE_HDR:
		*data = 0;
		/* fall through */
	case REFORMAT_INSERT_HDR:
		if (!anchor_known(PRM_GET(ctx, packet_reformat_context_in, reformat_param_0)))
			return SYN_REFORMAT_ANCHOR;
		break;
	default:
		return SYN_REFORMAT_TYPE;
	}
	if (!size || size > REFORMAT_SIZE_MAX)
		return SYN_REFORMAT_SIZE;
	return *data > c->in.len - IN_DATA_AT ? SYN_REFORMAT_DATA : SYN_OK;
}

static enum syn alloc_reformat(struct hca *h, struct call *c)
{
	struct prm_box ctx = prm_in(c->in.p + IN_DATA_AT - DATA_AT, DATA_AT);
	struct reformat *r;
	uint32_t data;
	uint8_t *copy;
	enum syn syn = reformat_check(c, &ctx, &data);

	if (syn != SYN_OK)
		return syn;
	copy = malloc(DATA_AT + data);
	if (!copy)
		return SYN_NO_MEMORY;
	r = (struct reformat *)obj_new(h, OBJ_REFORMAT, c->uid, &syn);
	if (!r) {
		free(copy);
		return syn;
	}
	prm_copy_defined(prm_layout("packet_reformat_context_in"), &ctx, 0, DATA_AT * 8, copy);
	memcpy(copy + DATA_AT, ctx.p + DATA_AT, data);
	r->ctx = copy;
	r->n_data = data;
	r->type = (uint8_t)PRM_GET(&ctx, packet_reformat_context_in, reformat_type);
	r->anchor = (uint8_t)PRM_GET(&ctx, packet_reformat_context_in, reformat_param_0);
	r->offset = (uint8_t)PRM_GET(&ctx, packet_reformat_context_in, reformat_param_1);
	r->size = (uint16_t)PRM_GET(&ctx, packet_reformat_context_in, reformat_data_size);
	PRM_SET(&c->out, alloc_packet_reformat_context_out, packet_reformat_id, r->obj.id);
	return SYN_OK;
}

const uint8_t *reformat_data(const struct reformat *r)
{
	return r->ctx + DATA_AT;
}

static enum syn query_reformat(struct hca *h, struct call *c)
{
	struct reformat *r = (struct reformat *)c->obj;

	if (DATA_AT + r->n_data > c->out.len - OUT_CTX_AT)
		return SYN_REFORMAT_OUT;
	memcpy(c->out.p + OUT_CTX_AT, r->ctx, DATA_AT + r->n_data);
	return SYN_OK;
}

#define ACTION_SZ PRM_SZ(set_action_in)
#define ACTIONS_AT PRM_SZ(alloc_modify_header_context_in)

void modify_header_fini(struct hca_obj *obj)
{
	free(((struct modify_header *)obj)->actions);
}

static enum syn alloc_modify_header(struct hca *h, struct call *c)
{
	uint64_t type = PRM_GET(&c->in, alloc_modify_header_context_in, table_type);
	uint32_t n = (uint32_t)PRM_GET(&c->in, alloc_modify_header_context_in, num_of_actions);
	struct modify_header *m;
	uint8_t *actions;
	enum syn syn = SYN_OK;

	if (type >= FT_TYPES)
		return SYN_FT_TYPE;
	if (!n || n > MODIFY_ACTIONS_MAX || n * ACTION_SZ > c->in.len - ACTIONS_AT)
		return SYN_MODIFY_ACTIONS;
	for (uint32_t i = 0; syn == SYN_OK && i < n; i++)
		syn = modify_action_check(c->in.p + ACTIONS_AT + i * ACTION_SZ);
	if (syn != SYN_OK)
		return syn;
	actions = malloc(n * ACTION_SZ);
	if (!actions)
		return SYN_NO_MEMORY;
	m = (struct modify_header *)obj_new(h, OBJ_MODIFY_HEADER, c->uid, &syn);
	if (!m) {
		free(actions);
		return syn;
	}
	for (uint32_t i = 0; i < n; i++)
		modify_action_copy(c->in.p + ACTIONS_AT + i * ACTION_SZ, actions + i * ACTION_SZ);
	m->table_type = (uint8_t)type;
	m->n = (uint8_t)n;
	m->actions = actions;
	PRM_SET(&c->out, alloc_modify_header_context_out, modify_header_id, m->obj.id);
	return SYN_OK;
}

/* No public source has the outbox: our choice is that what the allocating inbox says lies where it lay there. */
static enum syn query_modify_header(struct hca *h, struct call *c)
{
	struct modify_header *m = (struct modify_header *)c->obj;

	if (m->n * ACTION_SZ > c->out.len - ACTIONS_AT)
		return SYN_MODIFY_OUT;
	PRM_SET(&c->out, alloc_modify_header_context_in, table_type, m->table_type);
	PRM_SET(&c->out, alloc_modify_header_context_in, num_of_actions, m->n);
	memcpy(c->out.p + ACTIONS_AT, m->actions, m->n * ACTION_SZ);
	return SYN_OK;
}

const struct hca_op ops_reformat[] = {
	{ PRM_OP_ALLOC_PACKET_REFORMAT_CONTEXT, IN_DATA_AT, PRM_SZ_alloc_packet_reformat_context_out, 0, OP_PLAIN, OBJ_NONE,
	  0, 0, alloc_reformat, NULL },
	OP_OBJ_ROW(QUERY_PACKET_REFORMAT_CONTEXT, query_packet_reformat_context, OP_ON, OBJ_REFORMAT, packet_reformat_id,
		   query_reformat),
	OP_OBJ_ROW(DEALLOC_PACKET_REFORMAT_CONTEXT, dealloc_packet_reformat_context, OP_DESTROY, OBJ_REFORMAT,
		   packet_reformat_id, NULL),
	OP_ROW(ALLOC_MODIFY_HEADER_CONTEXT, alloc_modify_header_context, OP_PLAIN, alloc_modify_header),
	{ PRM_OP_QUERY_MODIFY_HEADER_CONTEXT, PRM_SZ_query_modify_header_context_in, ACTIONS_AT, 0, OP_ON, OBJ_MODIFY_HEADER,
	  OP_PLACE(PRM_F_query_modify_header_context_in__modify_header_id), query_modify_header, NULL },
	OP_OBJ_ROW(DEALLOC_MODIFY_HEADER_CONTEXT, dealloc_modify_header_context, OP_DESTROY, OBJ_MODIFY_HEADER,
		   modify_header_id, NULL),
	{ 0 },
};
