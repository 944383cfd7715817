/* SPDX-License-Identifier: BSD-2-Clause */
/* Completion queues. Nothing completes on them in this model. */
#include <string.h>

#include "events.h"
#include "types.h"

/* cqe_sz: 64 bytes, 128, 128 with the CQE in the upper half. Linux, include/linux/mlx5/cq.h. */
#define CQE_SZ_MAX 2u
#define CQE_BYTES(sz) ((sz) ? 128u : 64u)

/* Event state: fired, so nothing is armed. */
#define CQ_ST_FIRED 0xau

/* Status. Linux, include/linux/mlx5/cq.h. */
#define CQ_STATUS_OVERFLOW 0x9u
#define CQ_STATUS_WRITE_FAIL 0xau

/* Syndromes of a CQ error: overrun, access violation. Linux, include/linux/mlx4/device.h has the same two; inferred for mlx5. */
#define CQ_SYNDROME_OVERRUN 1u
#define CQ_SYNDROME_ACCESS 2u

/* modify_field_select. Linux, include/linux/mlx5/device.h: period, count, overrun (oi), remap of the EQ, period mode. */
#define MODIFY_PERIOD 0x01u
#define MODIFY_COUNT 0x02u
#define MODIFY_OVERRUN 0x04u
#define MODIFY_EQN 0x08u
#define MODIFY_PERIOD_MODE 0x10u
#define MODIFY_ALL 0x1fu

static enum syn cq_context_check(struct prm_box *ctx)
{
	if (PRM_GET(ctx, cqc, apu_cq))
		return SYN_CQ_APU;
	if (PRM_GET(ctx, cqc, log_cq_size) > CQ_LOG_SZ_MAX)
		return SYN_CQ_SIZE;
	if (PRM_GET(ctx, cqc, cqe_sz) > CQE_SZ_MAX)
		return SYN_CQ_CQE_SZ;
	return SYN_OK;
}

static enum syn create_cq(struct hca *h, struct call *c)
{
	struct prm_box ctx = PRM_SUB(&c->in, create_cq_in, cq_context);
	const struct queue_part buf = {
		.valid = PRM_GET(&c->in, create_cq_in, cq_umem_valid),
		.id = (uint32_t)PRM_GET(&c->in, create_cq_in, cq_umem_id),
		.offset = PRM_GET(&c->in, create_cq_in, cq_umem_offset),
		.bytes = (uint64_t)CQE_BYTES(PRM_GET(&ctx, cqc, cqe_sz)) << PRM_GET(&ctx, cqc, log_cq_size),
		.not_valid = SYN_CQ_UMEM, .range = SYN_CQ_RANGE, .read_only = SYN_CQ_READ_ONLY,
		.pages = { PRM_SZ(create_cq_in), (uint8_t)PRM_GET(&ctx, cqc, log_page_size), (uint8_t)PRM_GET(&ctx, cqc, page_offset),
			   SYN_CQ_PAGES, SYN_CQ_PAGES, SYN_CQ_PAGE_ALIGN },
	};
	const struct queue_part dbr = {
		.valid = PRM_GET(&ctx, cqc, dbr_umem_valid),
		.id = (uint32_t)PRM_GET(&ctx, cqc, dbr_umem_id),
		.offset = PRM_GET(&ctx, cqc, dbr_addr),
		.bytes = DBR_BYTES,
		.not_valid = SYN_CQ_DBR_UMEM, .range = SYN_CQ_DBR_RANGE, .read_only = SYN_CQ_DBR_READ_ONLY,
		.pages = { .unaligned = SYN_CQ_DBR_ALIGN },
	};
	struct hca_obj *buf_umem, *dbr_umem, *uar, *eq;
	struct cq *cq;
	enum syn syn = cq_context_check(&ctx);

	if (syn == SYN_OK)
		syn = queue_place(h, c, &buf, &buf_umem);
	if (syn == SYN_OK)
		syn = queue_place(h, c, &dbr, &dbr_umem);
	if (syn == SYN_OK)
		syn = uar_find(h, c->uid, (uint32_t)PRM_GET(&ctx, cqc, uar_page), &uar);
	if (syn == SYN_OK)
		syn = eq_find(h, c->uid, (uint32_t)PRM_GET(&ctx, cqc, c_eqn_or_apu_element), &eq);
	if (syn != SYN_OK)
		return syn;
	cq = (struct cq *)obj_new(h, OBJ_CQ, c->uid, &syn);
	if (!cq)
		return syn;
	PRM_COPY(&c->in, create_cq_in, cq_context, cq->cqc);
	ctx = prm_out(cq->cqc, sizeof(cq->cqc));
	PRM_SET(&ctx, cqc, status, 0);
	PRM_SET(&ctx, cqc, st, CQ_ST_FIRED);
	PRM_SET(&ctx, cqc, consumer_counter, 0);
	PRM_SET(&ctx, cqc, producer_counter, 0);
	obj_link(&cq->obj, buf_umem);
	obj_link(&cq->obj, dbr_umem);
	obj_link(&cq->obj, uar);
	obj_link(&cq->obj, eq);
	PRM_SET(&c->out, create_cq_out, cqn, cq->obj.id);
	return SYN_OK;
}

static enum syn query_cq(struct hca *h, struct call *c)
{
	struct prm_box ctx = PRM_SUB(&c->out, query_cq_out, cq_context);

	memcpy(ctx.p, ((struct cq *)c->obj)->cqc, PRM_SZ(cqc));
	return SYN_OK;
}

/* op_mod 1, resize, is refused by dispatch: no public layout says where it takes its new umem from. */
static enum syn modify_cq(struct hca *h, struct call *c)
{
	struct prm_box in = PRM_SUB(&c->in, modify_cq_in, cq_context);
	struct prm_box ctx = prm_out(((struct cq *)c->obj)->cqc, PRM_SZ(cqc));
	uint32_t select = (uint32_t)PRM_GET(&c->in, modify_cq_in, modify_field_select_resize_field_select);
	struct hca_obj *eq;
	enum syn syn = SYN_OK;

	if (select & ~MODIFY_ALL)
		return SYN_CQ_SELECT;
	if (select & MODIFY_EQN)
		syn = eq_find(h, c->uid, (uint32_t)PRM_GET(&in, cqc, c_eqn_or_apu_element), &eq);
	if (syn != SYN_OK)
		return syn;
	if (select & MODIFY_EQN)
		obj_relink(c->obj, CQ_LINK_EQ, eq);
#define COPY(bit, field)                                                                                             \
	do {                                                                                                         \
		if (select & (bit))                                                                                  \
			PRM_SET(&ctx, cqc, field, PRM_GET(&in, cqc, field));                                         \
	} while (0)
	COPY(MODIFY_PERIOD, cq_period);
	COPY(MODIFY_COUNT, cq_max_count);
	COPY(MODIFY_OVERRUN, oi);
	COPY(MODIFY_EQN, c_eqn_or_apu_element);
	COPY(MODIFY_PERIOD_MODE, cq_period_mode);
#undef COPY
	return SYN_OK;
}

/* A completion event disarms the CQ; no CQE goes with it, because nothing completes in this model. */
bool cq_event(struct hca_obj *cq, uint8_t event, uint8_t syndrome)
{
	struct prm_box ctx = prm_out(((struct cq *)cq)->cqc, PRM_SZ(cqc));

	if (event == EVENT_CQ_ERROR ? syndrome != CQ_SYNDROME_OVERRUN && syndrome != CQ_SYNDROME_ACCESS : syndrome)
		return false;
	if (PRM_GET(&ctx, cqc, status)) /* in error: it reports nothing any more */
		return false;
	if (event == EVENT_CQ_ERROR)
		PRM_SET(&ctx, cqc, status, syndrome == CQ_SYNDROME_OVERRUN ? CQ_STATUS_OVERFLOW : CQ_STATUS_WRITE_FAIL);
	PRM_SET(&ctx, cqc, st, CQ_ST_FIRED);
	return true;
}

const struct hca_op ops_cq[] = {
	OP_ROW(CREATE_CQ, create_cq, OP_PLAIN, create_cq),
	OP_OBJ_ROW(QUERY_CQ, query_cq, OP_ON, OBJ_CQ, cqn, query_cq),
	OP_OBJ_ROW(MODIFY_CQ, modify_cq, OP_ON, OBJ_CQ, cqn, modify_cq),
	OP_OBJ_ROW(DESTROY_CQ, destroy_cq, OP_DESTROY, OBJ_CQ, cqn, NULL),
	{ 0 },
};
