/* SPDX-License-Identifier: BSD-2-Clause */
/* Receive queues: with memory of their own, on an RMP, or hairpin. And RMPs, the memory that receive queues share. */
#include "events.h"
#include "queues.h"

static const struct wq_kind receive_wq = {
	.types = 1 << WQ_LINKED_LIST | 1 << WQ_CYCLIC | 1 << WQ_LINKED_LIST_STRIDING | 1 << WQ_CYCLIC_STRIDING,
	.log_stride_min = RQ_LOG_STRIDE_MIN, .log_stride_max = RQ_LOG_STRIDE_MAX,
};

/* mem_rq_type. Linux, include/linux/mlx5/mlx5_ifc.h. */
enum { RQ_INLINE = 0, RQ_RMP = 1 };

/* modify_bitmask. Linux, include/linux/mlx5/mlx5_ifc.h; lwm: DPDK, drivers/common/mlx5/mlx5_prm.h. */
#define RQ_SELECT_LWM 0x1u
#define RQ_SELECT_VSD 0x2u
#define RQ_SELECT_SCATTER_FCS 0x4u
#define RQ_SELECT_COUNTER 0x8u

/* The place of the q counter's link, that a modify changes: the first. */
#define RQ_LINK_COUNTER 0u

static enum syn check_rq(struct hca *h, struct call *c, struct prm_box *ctx, struct ctx_links *links)
{
	struct prm_box wq = PRM_SUB(ctx, rqc, wq);
	enum syn syn;

	if (PRM_GET(ctx, rqc, state) != QUEUE_RST)
		return SYN_RQ_NEW_STATE;
	if (!queue_ts_format_ok(h, PRM_GET(ctx, rqc, ts_format)))
		return SYN_RQ_TS_FORMAT;
	syn = queue_counter(h, c, (uint32_t)PRM_GET(ctx, rqc, counter_set_id), &links->to[links->n++]);
	if (syn != SYN_OK)
		return syn;
	if (PRM_GET(ctx, rqc, hairpin))
		return wq_check_hairpin(&wq);
	syn = ctx_need(h, c, OBJ_CQ, (uint32_t)PRM_GET(ctx, rqc, cqn), links);
	if (syn != SYN_OK)
		return syn;
	switch (PRM_GET(ctx, rqc, mem_rq_type)) {
	case RQ_INLINE:
		return wq_check(h, c, &wq, &receive_wq, links);
	case RQ_RMP:
		return ctx_need(h, c, OBJ_RMP, (uint32_t)PRM_GET(ctx, rqc, rmpn), links);
	default:
		return SYN_RQ_MEM_TYPE;
	}
}

static void made_rq(struct hca *h, struct call *c, struct ctx_obj *obj)
{
	struct prm_box ctx = prm_out(obj->ctx, PRM_SZ(rqc)), wq = PRM_SUB(&ctx, rqc, wq);

	wq_made(&wq);
	PRM_SET(&ctx, rqc, hairpin_peer_sq, 0);
	PRM_SET(&ctx, rqc, hairpin_peer_vhca, 0);
}

/* A hairpin queue gets its peer with the way to RDY. Peers do not hold each other: both could never be destroyed. */
static enum syn check_peer(struct hca *h, struct call *c, struct ctx_obj *obj, struct prm_box *to)
{
	struct prm_box ctx = prm_out(obj->ctx, PRM_SZ(rqc)), peer;
	struct ctx_obj *sq;

	if (!PRM_GET(&ctx, rqc, hairpin) || PRM_GET(to, rqc, hairpin_peer_vhca))
		return SYN_OK; /* queues of another function are not ours to look up */
	sq = (struct ctx_obj *)obj_find(h, OBJ_SQ, (uint32_t)PRM_GET(to, rqc, hairpin_peer_sq), c->uid);
	if (!sq)
		return SYN_SQ;
	peer = prm_out(sq->ctx, PRM_SZ(sqc));
	return PRM_GET(&peer, sqc, hairpin) ? SYN_OK : SYN_RQ_PEER;
}

static enum syn check_modify_rq(struct hca *h, struct call *c, struct ctx_obj *obj, struct prm_box *to, uint64_t select)
{
	struct prm_box ctx = prm_out(obj->ctx, PRM_SZ(rqc)), wq = PRM_SUB(&ctx, rqc, wq), to_wq = PRM_SUB(to, rqc, wq);
	uint8_t next = (uint8_t)PRM_GET(to, rqc, state);
	struct hca_obj *counter;

	if (PRM_GET(&c->in, modify_rq_in, rq_state) != obj->state)
		return SYN_RQ_STATE;
	if (!queue_may_go(obj->state, next))
		return SYN_RQ_STEP;
	if (select & RQ_SELECT_LWM && !wq_limit_fits(PRM_GET(&to_wq, wq, lwm), PRM_GET(&wq, wq, log_wq_sz)))
		return SYN_RQ_LWM;
	if (select & RQ_SELECT_COUNTER &&
	    queue_counter(h, c, (uint32_t)PRM_GET(to, rqc, counter_set_id), &counter) != SYN_OK)
		return SYN_Q_COUNTER;
	return obj->state == QUEUE_RST && next == QUEUE_RDY ? check_peer(h, c, obj, to) : SYN_OK;
}

static void modified_rq(struct hca *h, struct call *c, struct ctx_obj *obj, struct prm_box *to, uint64_t select)
{
	struct prm_box ctx = prm_out(obj->ctx, PRM_SZ(rqc));
	uint8_t next = (uint8_t)PRM_GET(to, rqc, state);
	struct hca_obj *counter = NULL;

	if (select & RQ_SELECT_COUNTER) {
		queue_counter(h, c, (uint32_t)PRM_GET(to, rqc, counter_set_id), &counter);
		obj_relink(&obj->obj, RQ_LINK_COUNTER, counter);
	}
	if (PRM_GET(&ctx, rqc, hairpin) && next != obj->state) {
		bool bound = next == QUEUE_RDY;

		PRM_SET(&ctx, rqc, hairpin_peer_sq, bound ? PRM_GET(to, rqc, hairpin_peer_sq) : 0);
		PRM_SET(&ctx, rqc, hairpin_peer_vhca, bound ? PRM_GET(to, rqc, hairpin_peer_vhca) : 0);
	}
	obj->state = next;
	PRM_SET(&ctx, rqc, state, next);
}

/* An error stops a queue that runs. */
bool rq_event(struct hca_obj *obj, uint8_t event, uint8_t syndrome)
{
	struct ctx_obj *rq = (struct ctx_obj *)obj;
	struct prm_box ctx = prm_out(rq->ctx, PRM_SZ(rqc));

	if (syndrome)
		return false;
	if (event == EVENT_SRQ_LIMIT)
		return wq_limit_reached(&ctx, (struct ctx_place)CTX_NESTED(rqc, wq, wq, lwm));
	if (rq->state != QUEUE_RDY)
		return false;
	rq->state = QUEUE_ERR;
	PRM_SET(&ctx, rqc, state, rq->state);
	return true;
}

static const struct ctx_select rq_selects[] = {
	{ RQ_SELECT_LWM, CTX_NESTED(rqc, wq, wq, lwm) },
	{ RQ_SELECT_VSD, CTX_PLACE(rqc, vsd) },
	{ RQ_SELECT_SCATTER_FCS, CTX_PLACE(rqc, scatter_fcs) },
	{ RQ_SELECT_COUNTER, CTX_PLACE(rqc, counter_set_id) },
	{ 0 },
};

static const struct ctx_type rq = {
	.type = OBJ_RQ,
	.create = CTX_PLACE(create_rq_in, ctx),
	.created = CTX_PLACE(create_rq_out, rqn),
	.modify = CTX_PLACE(modify_rq_in, ctx),
	.select = CTX_PLACE(modify_rq_in, modify_bitmask),
	.query = CTX_PLACE(query_rq_out, rq_context),
	.selects = rq_selects,
	.check = check_rq, .made = made_rq, .check_modify = check_modify_rq, .modified = modified_rq,
};

/* An RMP is born ready (Linux, drivers/infiniband/hw/mlx5/srq_cmd.c, asks for just that). */
static enum syn check_rmp(struct hca *h, struct call *c, struct prm_box *ctx, struct ctx_links *links)
{
	struct prm_box wq = PRM_SUB(ctx, rmpc, wq);

	if (PRM_GET(ctx, rmpc, state) != QUEUE_RDY)
		return SYN_RMP_NEW_STATE;
	if (!wq_limit_fits(PRM_GET(&wq, wq, lwm), PRM_GET(&wq, wq, log_wq_sz)))
		return SYN_RMP_LWM;
	return wq_check(h, c, &wq, &receive_wq, links);
}

static void made_rmp(struct hca *h, struct call *c, struct ctx_obj *obj)
{
	struct prm_box ctx = prm_out(obj->ctx, PRM_SZ(rmpc)), wq = PRM_SUB(&ctx, rmpc, wq);

	obj->state = QUEUE_RDY;
	wq_made(&wq);
}

/* There is no RST, so nothing leads out of ERR but the end (our choice). */
static enum syn check_modify_rmp(struct hca *h, struct call *c, struct ctx_obj *obj, struct prm_box *to, uint64_t select)
{
	struct prm_box ctx = prm_out(obj->ctx, PRM_SZ(rmpc)), wq = PRM_SUB(&ctx, rmpc, wq), to_wq = PRM_SUB(to, rmpc, wq);
	uint8_t next = (uint8_t)PRM_GET(to, rmpc, state);

	if (PRM_GET(&c->in, modify_rmp_in, rmp_state) != obj->state)
		return SYN_RMP_STATE;
	if (next == QUEUE_RST || !queue_may_go(obj->state, next))
		return SYN_RMP_STEP;
	if (select && !wq_limit_fits(PRM_GET(&to_wq, wq, lwm), PRM_GET(&wq, wq, log_wq_sz)))
		return SYN_RMP_LWM;
	return SYN_OK;
}

static void modified_rmp(struct hca *h, struct call *c, struct ctx_obj *obj, struct prm_box *to, uint64_t select)
{
	struct prm_box ctx = prm_out(obj->ctx, PRM_SZ(rmpc));

	obj->state = (uint8_t)PRM_GET(to, rmpc, state);
	PRM_SET(&ctx, rmpc, state, obj->state);
}

bool rmp_event(struct hca_obj *obj, uint8_t event, uint8_t syndrome)
{
	struct ctx_obj *rmp = (struct ctx_obj *)obj;
	struct prm_box ctx = prm_out(rmp->ctx, PRM_SZ(rmpc));

	if (syndrome || rmp->state != QUEUE_RDY)
		return false;
	if (event == EVENT_SRQ_LIMIT)
		return wq_limit_reached(&ctx, (struct ctx_place)CTX_NESTED(rmpc, wq, wq, lwm));
	rmp->state = QUEUE_ERR;
	PRM_SET(&ctx, rmpc, state, rmp->state);
	return true;
}

static const struct ctx_select rmp_selects[] = {
	{ CTX_MASK(rmp_bitmask, lwm), CTX_NESTED(rmpc, wq, wq, lwm) },
	{ 0 },
};

static const struct ctx_type rmp = {
	.type = OBJ_RMP,
	.create = CTX_PLACE(create_rmp_in, ctx),
	.created = CTX_PLACE(create_rmp_out, rmpn),
	.modify = CTX_PLACE(modify_rmp_in, ctx),
	.select = CTX_PLACE(modify_rmp_in, bitmask),
	.query = CTX_PLACE(query_rmp_out, rmp_context),
	.selects = rmp_selects,
	.check = check_rmp, .made = made_rmp, .check_modify = check_modify_rmp, .modified = modified_rmp,
};

const struct hca_op ops_rq[] = {
	OP_CTX_CREATE(CREATE_RQ, create_rq, &rq),
	OP_CTX_QUERY(QUERY_RQ, query_rq, OBJ_RQ, rqn, &rq),
	OP_CTX_MODIFY(MODIFY_RQ, modify_rq, OBJ_RQ, rqn, &rq),
	OP_OBJ_ROW(DESTROY_RQ, destroy_rq, OP_DESTROY, OBJ_RQ, rqn, NULL),
	OP_CTX_CREATE(CREATE_RMP, create_rmp, &rmp),
	OP_CTX_QUERY(QUERY_RMP, query_rmp, OBJ_RMP, rmpn, &rmp),
	OP_CTX_MODIFY(MODIFY_RMP, modify_rmp, OBJ_RMP, rmpn, &rmp),
	OP_OBJ_ROW(DESTROY_RMP, destroy_rmp, OP_DESTROY, OBJ_RMP, rmpn, NULL),
	{ 0 },
};
