/* SPDX-License-Identifier: BSD-2-Clause */
/* TIRs, where received packets are spread over queues, and RQTs, the lists of queues that they are spread over. */
#include <string.h>

#include "queues.h"

/* disp_type: to one queue, over a table. Linux, include/linux/mlx5/mlx5_ifc.h. */
enum { TIR_DIRECT = 0, TIR_INDIRECT = 1 };

/* rx_hash_fn: none, XOR8, Toeplitz; selected_fields: addresses, ports, SPI; both as Linux has them (mlx5_ifc.h). */
#define HASH_FN_MAX 2u
#define HASH_FIELDS 0x1fu
/* packet_merge_mask: LRO of IPv4 and IPv6. */
#define MERGE_LRO 0x3u

#define TIR_SELECT_TABLE CTX_MASK(modify_tir_bitmask, indirect_table)

static const struct ctx_ref tir_refs[] = {
	{ OBJ_TD, CTX_PLACE(tirc, transport_domain), false, SYN_OK },
	{ 0 },
};
/* The link behind those: the queue, or the table. */
#define TIR_LINK_TARGET 1u

static bool fields_ok(struct prm_box *hash)
{
	return !(PRM_GET(hash, rx_hash_field_select, selected_fields) & ~(uint64_t)HASH_FIELDS);
}

static enum syn hash_check(struct prm_box *ctx)
{
	struct prm_box outer = PRM_SUB(ctx, tirc, rx_hash_field_selector_outer);
	struct prm_box inner = PRM_SUB(ctx, tirc, rx_hash_field_selector_inner);

	if (PRM_GET(ctx, tirc, rx_hash_fn) > HASH_FN_MAX)
		return SYN_TIR_HASH;
	return fields_ok(&outer) && fields_ok(&inner) ? SYN_OK : SYN_TIR_FIELDS;
}

static enum syn check_tir(struct hca *h, struct call *c, struct prm_box *ctx, struct ctx_links *links)
{
	enum syn syn;

	if (PRM_GET(ctx, tirc, tls_en))
		return SYN_TIR_TLS;
	if (PRM_GET(ctx, tirc, packet_merge_mask) & ~(uint64_t)MERGE_LRO)
		return SYN_TIR_MERGE;
	syn = hash_check(ctx);
	if (syn != SYN_OK)
		return syn;
	switch (PRM_GET(ctx, tirc, disp_type)) {
	case TIR_DIRECT:
		return ctx_need(h, c, OBJ_RQ, (uint32_t)PRM_GET(ctx, tirc, inline_rqn), links);
	case TIR_INDIRECT:
		return ctx_need(h, c, OBJ_RQT, (uint32_t)PRM_GET(ctx, tirc, indirect_table), links);
	default:
		return SYN_TIR_DISP_TYPE;
	}
}

/* Only a TIR that spreads has a table to change (our choice). */
static enum syn check_modify_tir(struct hca *h, struct call *c, struct ctx_obj *obj, struct prm_box *to, uint64_t select)
{
	struct prm_box ctx = prm_out(obj->ctx, PRM_SZ(tirc));

	if (select & CTX_MASK(modify_tir_bitmask, packet_merge) && PRM_GET(to, tirc, packet_merge_mask) & ~(uint64_t)MERGE_LRO)
		return SYN_TIR_MERGE;
	if (select & TIR_SELECT_TABLE) {
		if (PRM_GET(&ctx, tirc, disp_type) != TIR_INDIRECT)
			return SYN_TIR_DIRECT;
		if (!obj_find(h, OBJ_RQT, (uint32_t)PRM_GET(to, tirc, indirect_table), c->uid))
			return SYN_RQT;
	}
	return select & CTX_MASK(modify_tir_bitmask, hash) ? hash_check(to) : SYN_OK;
}

static void modified_tir(struct hca *h, struct call *c, struct ctx_obj *obj, struct prm_box *to, uint64_t select)
{
	if (select & TIR_SELECT_TABLE)
		obj_relink(&obj->obj, TIR_LINK_TARGET,
			   obj_find(h, OBJ_RQT, (uint32_t)PRM_GET(to, tirc, indirect_table), c->uid));
}

static const struct ctx_select tir_selects[] = {
	{ CTX_MASK(modify_tir_bitmask, packet_merge), CTX_PLACE(tirc, lro_timeout_period_usecs) },
	{ CTX_MASK(modify_tir_bitmask, packet_merge), CTX_PLACE(tirc, packet_merge_mask) },
	{ CTX_MASK(modify_tir_bitmask, packet_merge), CTX_PLACE(tirc, lro_max_ip_payload_size) },
	{ TIR_SELECT_TABLE, CTX_PLACE(tirc, indirect_table) },
	{ CTX_MASK(modify_tir_bitmask, hash), CTX_PLACE(tirc, rx_hash_symmetric) },
	{ CTX_MASK(modify_tir_bitmask, hash), CTX_PLACE(tirc, rx_hash_fn) },
	{ CTX_MASK(modify_tir_bitmask, hash), CTX_ARRAY(tirc, rx_hash_toeplitz_key) },
	{ CTX_MASK(modify_tir_bitmask, hash), CTX_PLACE(tirc, rx_hash_field_selector_outer) },
	{ CTX_MASK(modify_tir_bitmask, hash), CTX_PLACE(tirc, rx_hash_field_selector_inner) },
	{ CTX_MASK(modify_tir_bitmask, self_lb_en), CTX_PLACE(tirc, self_lb_block) },
	{ 0 },
};

static const struct ctx_type tir = {
	.type = OBJ_TIR,
	.create = CTX_PLACE(create_tir_in, ctx),
	.created = CTX_PLACE(create_tir_out, tirn),
	.modify = CTX_PLACE(modify_tir_in, ctx),
	.select = CTX_PLACE(modify_tir_in, bitmask),
	.query = CTX_PLACE(query_tir_out, tir_context),
	.refs = tir_refs,
	.selects = tir_selects,
	.check = check_tir, .check_modify = check_modify_tir, .modified = modified_tir,
};

/* list_q_type: receive queues, virtio net queues. DPDK, drivers/common/mlx5/mlx5_prm.h. */
static const enum obj_type list_types[] = { OBJ_RQ, OBJ_VIRTIO_NET_Q };
#define LIST_TYPES (sizeof(list_types) / sizeof(list_types[0]))

static bool power_of_two(uint64_t n)
{
	return n && !(n & (n - 1));
}

static uint32_t entry_bit(uint32_t i)
{
	const struct ctx_place first = CTX_PLACE(rqtc, rq_num), number = CTX_PLACE(rq_num, rq_num);

	return first.bit + i * first.width + number.bit;
}

static struct hca_obj *entry(struct hca *h, struct call *c, struct prm_box *list, uint32_t i)
{
	const struct ctx_place number = CTX_PLACE(rq_num, rq_num);
	enum obj_type type = list_types[PRM_GET(list, rqtc, list_q_type)];

	return obj_find(h, type, (uint32_t)prm_get(list, entry_bit(i), number.width), c->uid);
}

/* The box from a context on to the end of its mailbox, so that it takes in the list behind it. */
static struct prm_box to_end(const struct prm_box *b, uint32_t bit)
{
	return b->readonly ? prm_in(b->p + bit / 8, b->len - bit / 8) : prm_out(b->p + bit / 8, b->len - bit / 8);
}

/* All of the list that a create or modify brings: so many queues, each of which exists. Sizes: powers of two (our choice). */
static enum syn check_list(struct hca *h, struct call *c, struct prm_box *ctx, uint32_t max_size)
{
	uint32_t n = (uint32_t)PRM_GET(ctx, rqtc, rqt_actual_size);

	if (PRM_GET(ctx, rqtc, list_q_type) >= LIST_TYPES)
		return SYN_RQT_LIST_TYPE;
	if (PRM_GET(ctx, rqtc, rq_vhca_id_format))
		return SYN_RQT_VHCA;
	if (!power_of_two(n) || n > max_size)
		return SYN_RQT_SIZE;
	if ((uint64_t)n * PRM_SZ(rq_num) > ctx->len - PRM_SZ(rqtc))
		return SYN_RQT_IN_LEN;
	for (uint32_t i = 0; i < n; i++)
		if (!entry(h, c, ctx, i))
			return obj_classes[list_types[PRM_GET(ctx, rqtc, list_q_type)]].missing;
	return SYN_OK;
}

static void link_list(struct hca *h, struct call *c, struct rqt *rqt, struct prm_box *ctx)
{
	uint32_t n = (uint32_t)PRM_GET(ctx, rqtc, rqt_actual_size);

	rqt->list_type = (uint8_t)PRM_GET(ctx, rqtc, list_q_type);
	while (rqt->obj.n_links)
		obj_unlink_last(&rqt->obj);
	for (uint32_t i = 0; i < n; i++)
		obj_link(&rqt->obj, entry(h, c, ctx, i));
}

static enum syn create_rqt(struct hca *h, struct call *c)
{
	const struct ctx_place at = CTX_PLACE(create_rqt_in, rqt_context);
	struct prm_box ctx = to_end(&c->in, at.bit);
	uint32_t max_size = (uint32_t)PRM_GET(&ctx, rqtc, rqt_max_size);
	struct rqt *rqt;
	enum syn syn;

	if (!power_of_two(max_size) || max_size > 1u << RQT_LOG_SIZE_MAX)
		return SYN_RQT_MAX_SIZE;
	syn = check_list(h, c, &ctx, max_size);
	if (syn != SYN_OK)
		return syn;
	rqt = (struct rqt *)obj_new_links(h, OBJ_RQT, c->uid, max_size, &syn);
	if (!rqt)
		return syn;
	rqt->max_size = max_size;
	link_list(h, c, rqt, &ctx);
	PRM_SET(&c->out, create_rqt_out, rqtn, rqt->obj.id);
	return SYN_OK;
}

static enum syn query_rqt(struct hca *h, struct call *c)
{
	const struct ctx_place at = CTX_PLACE(query_rqt_out, rqt_context), number = CTX_PLACE(rq_num, rq_num);
	const struct rqt *rqt = (const struct rqt *)c->obj;
	struct prm_box ctx = to_end(&c->out, at.bit);

	if ((uint64_t)rqt->obj.n_links * PRM_SZ(rq_num) > ctx.len - PRM_SZ(rqtc))
		return SYN_RQT_OUT_LEN;
	PRM_SET(&ctx, rqtc, list_q_type, rqt->list_type);
	PRM_SET(&ctx, rqtc, rqt_max_size, rqt->max_size);
	PRM_SET(&ctx, rqtc, rqt_actual_size, rqt->obj.n_links);
	for (uint32_t i = 0; i < rqt->obj.n_links; i++)
		prm_set(&ctx, entry_bit(i), number.width, rqt->obj.links[i]->id);
	return SYN_OK;
}

static enum syn modify_rqt(struct hca *h, struct call *c)
{
	const struct ctx_place at = CTX_PLACE(modify_rqt_in, ctx);
	struct prm_box ctx = to_end(&c->in, at.bit);
	uint64_t select = PRM_GET(&c->in, modify_rqt_in, bitmask);
	struct rqt *rqt = (struct rqt *)c->obj;
	enum syn syn;

	if (select & ~CTX_MASK(rqt_bitmask, rqn_list))
		return SYN_SELECT;
	if (!select)
		return SYN_OK;
	syn = check_list(h, c, &ctx, rqt->max_size);
	if (syn == SYN_OK)
		link_list(h, c, rqt, &ctx);
	return syn;
}

const struct hca_op ops_tir[] = {
	OP_CTX_CREATE(CREATE_TIR, create_tir, &tir),
	OP_CTX_QUERY(QUERY_TIR, query_tir, OBJ_TIR, tirn, &tir),
	OP_CTX_MODIFY(MODIFY_TIR, modify_tir, OBJ_TIR, tirn, &tir),
	OP_OBJ_ROW(DESTROY_TIR, destroy_tir, OP_DESTROY, OBJ_TIR, tirn, NULL),
	OP_ROW(CREATE_RQT, create_rqt, OP_PLAIN, create_rqt),
	OP_OBJ_ROW(QUERY_RQT, query_rqt, OP_ON, OBJ_RQT, rqtn, query_rqt),
	OP_OBJ_ROW(MODIFY_RQT, modify_rqt, OP_ON, OBJ_RQT, rqtn, modify_rqt),
	OP_OBJ_ROW(DESTROY_RQT, destroy_rqt, OP_DESTROY, OBJ_RQT, rqtn, NULL),
	{ 0 },
};
