/* SPDX-License-Identifier: BSD-2-Clause */
/* Send queues: with memory of their own, or hairpin. */
#include "events.h"
#include "queues.h"

/* Its basic blocks are 64 bytes, and follow each other. */
static const struct wq_kind send_wq = {
	.types = 1 << WQ_CYCLIC, .log_stride_min = SQ_LOG_STRIDE, .log_stride_max = SQ_LOG_STRIDE,
};

/* modify_bitmask. DPDK, drivers/common/mlx5/mlx5_prm.h; rdma-core, providers/mlx5/mlx5_ifc.h. */
#define SQ_SELECT_RATE 0x1u
#define SQ_SELECT_QUEUE_GROUP 0x4u

static const struct ctx_ref refs[] = {
	{ OBJ_SCHED, CTX_PLACE(sqc, qos_queue_group_id), true, SYN_SQ_QUEUE_GROUP },
	{ 0 },
};

static enum syn group_check(struct hca *h, struct call *c, struct prm_box *ctx)
{
	uint32_t id = (uint32_t)PRM_GET(ctx, sqc, qos_queue_group_id);

	return id && !queue_group(h, c, id) ? SYN_SQ_GROUP_TYPE : SYN_OK;
}

static bool rate_ok(struct hca *h, struct call *c, struct prm_box *ctx)
{
	uint32_t index = (uint32_t)PRM_GET(ctx, sqc, packet_pacing_rate_limit_index);

	return !index || rate_limit_exists(h, c->uid, index);
}

static enum syn check(struct hca *h, struct call *c, struct prm_box *ctx, struct ctx_links *links)
{
	struct prm_box wq = PRM_SUB(ctx, sqc, wq);
	uint64_t tises = PRM_GET(ctx, sqc, tis_lst_sz);
	enum syn syn = group_check(h, c, ctx);

	if (syn != SYN_OK)
		return syn;
	if (PRM_GET(ctx, sqc, state) != QUEUE_RST)
		return SYN_SQ_NEW_STATE;
	if (!queue_ts_format_ok(h, PRM_GET(ctx, sqc, ts_format)))
		return SYN_SQ_TS_FORMAT;
	if (!rate_ok(h, c, ctx))
		return SYN_SQ_RATE;
	/* The context has room for one TIS; queues that steering sends from have none (rdma-core and DPDK make such). */
	if (tises > 1)
		return SYN_SQ_TIS_LIST;
	if (tises)
		syn = ctx_need(h, c, OBJ_TIS, (uint32_t)PRM_GET(ctx, sqc, tis_num_0), links);
	if (syn == SYN_OK && PRM_GET(ctx, sqc, hairpin))
		return wq_check_hairpin(&wq);
	if (syn == SYN_OK)
		syn = ctx_need(h, c, OBJ_CQ, (uint32_t)PRM_GET(ctx, sqc, cqn), links);
	return syn == SYN_OK ? wq_check(h, c, &wq, &send_wq, links) : syn;
}

static void made(struct hca *h, struct call *c, struct ctx_obj *obj)
{
	struct prm_box ctx = prm_out(obj->ctx, PRM_SZ(sqc)), wq = PRM_SUB(&ctx, sqc, wq);

	wq_made(&wq);
	PRM_SET(&ctx, sqc, hairpin_peer_rq, 0);
	PRM_SET(&ctx, sqc, hairpin_peer_vhca, 0);
}

/* As of an RQ (rq.c). */
static enum syn check_peer(struct hca *h, struct call *c, struct ctx_obj *obj, struct prm_box *to)
{
	struct prm_box ctx = prm_out(obj->ctx, PRM_SZ(sqc)), peer;
	struct ctx_obj *rq;

	if (!PRM_GET(&ctx, sqc, hairpin) || PRM_GET(to, sqc, hairpin_peer_vhca))
		return SYN_OK;
	rq = (struct ctx_obj *)obj_find(h, OBJ_RQ, (uint32_t)PRM_GET(to, sqc, hairpin_peer_rq), c->uid);
	if (!rq)
		return SYN_RQ;
	peer = prm_out(rq->ctx, PRM_SZ(rqc));
	return PRM_GET(&peer, rqc, hairpin) ? SYN_OK : SYN_SQ_PEER;
}

static enum syn check_modify(struct hca *h, struct call *c, struct ctx_obj *obj, struct prm_box *to, uint64_t select)
{
	uint8_t next = (uint8_t)PRM_GET(to, sqc, state);
	enum syn syn;

	if (PRM_GET(&c->in, modify_sq_in, sq_state) != obj->state)
		return SYN_SQ_STATE;
	if (!queue_may_go(obj->state, next))
		return SYN_SQ_STEP;
	if (select & SQ_SELECT_RATE && !rate_ok(h, c, to))
		return SYN_SQ_RATE;
	syn = select & SQ_SELECT_QUEUE_GROUP ? group_check(h, c, to) : SYN_OK;
	if (syn != SYN_OK)
		return syn;
	return obj->state == QUEUE_RST && next == QUEUE_RDY ? check_peer(h, c, obj, to) : SYN_OK;
}

static void modified(struct hca *h, struct call *c, struct ctx_obj *obj, struct prm_box *to, uint64_t select)
{
	struct prm_box ctx = prm_out(obj->ctx, PRM_SZ(sqc));
	uint8_t next = (uint8_t)PRM_GET(to, sqc, state);

	if (PRM_GET(&ctx, sqc, hairpin) && next != obj->state) {
		bool bound = next == QUEUE_RDY;

		PRM_SET(&ctx, sqc, hairpin_peer_rq, bound ? PRM_GET(to, sqc, hairpin_peer_rq) : 0);
		PRM_SET(&ctx, sqc, hairpin_peer_vhca, bound ? PRM_GET(to, sqc, hairpin_peer_vhca) : 0);
	}
	obj->state = next;
	PRM_SET(&ctx, sqc, state, next);
}

/* An error stops a queue that runs. */
bool sq_event(struct hca_obj *obj, uint8_t event, uint8_t syndrome)
{
	struct ctx_obj *sq = (struct ctx_obj *)obj;
	struct prm_box ctx = prm_out(sq->ctx, PRM_SZ(sqc));

	if (syndrome || sq->state != QUEUE_RDY)
		return false;
	sq->state = QUEUE_ERR;
	PRM_SET(&ctx, sqc, state, sq->state);
	return true;
}

static const struct ctx_select selects[] = {
	{ SQ_SELECT_RATE, CTX_PLACE(sqc, packet_pacing_rate_limit_index) },
	{ SQ_SELECT_QUEUE_GROUP, CTX_PLACE(sqc, qos_queue_group_id) },
	{ 0 },
};

static const struct ctx_type sq = {
	.type = OBJ_SQ,
	.create = CTX_PLACE(create_sq_in, ctx),
	.created = CTX_PLACE(create_sq_out, sqn),
	.modify = CTX_PLACE(modify_sq_in, ctx),
	.select = CTX_PLACE(modify_sq_in, modify_bitmask),
	.query = CTX_PLACE(query_sq_out, sq_context),
	.refs = refs,
	.selects = selects,
	.check = check, .made = made, .check_modify = check_modify, .modified = modified,
};

const struct hca_op ops_sq[] = {
	OP_CTX_CREATE(CREATE_SQ, create_sq, &sq),
	OP_CTX_QUERY(QUERY_SQ, query_sq, OBJ_SQ, sqn, &sq),
	OP_CTX_MODIFY(MODIFY_SQ, modify_sq, OBJ_SQ, sqn, &sq),
	OP_OBJ_ROW(DESTROY_SQ, destroy_sq, OP_DESTROY, OBJ_SQ, sqn, NULL),
	{ 0 },
};
