/* SPDX-License-Identifier: BSD-2-Clause */
/* Completion queues. Nothing completes on them in this model, but for the CQE that ends one that is resized. */
#include <string.h>

#include "context.h"
#include "events.h"
#include "types.h"

/* cqe_sz: 64 bytes, 128, 128 with the CQE in the upper half. Linux, include/linux/mlx5/cq.h. */
#define CQE_SZ_MAX 2u
#define CQE_BYTES(sz) ((sz) ? 128u : 64u)

/* Event state: fired, so nothing is armed. */
#define CQ_ST_FIRED 0xau
#define CQ_COUNTER_MASK 0xffffffu

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

/* The queue of a context, whose place the inbox tells: the same for create and resize. */
static struct queue_part buffer(struct call *c, struct prm_box *ctx)
{
	return (struct queue_part){
		.valid = PRM_GET(&c->in, create_cq_in, cq_umem_valid),
		.id = (uint32_t)PRM_GET(&c->in, create_cq_in, cq_umem_id),
		.offset = PRM_GET(&c->in, create_cq_in, cq_umem_offset),
		.bytes = (uint64_t)CQE_BYTES(PRM_GET(ctx, cqc, cqe_sz)) << PRM_GET(ctx, cqc, log_cq_size),
		.not_valid = SYN_CQ_UMEM, .range = SYN_CQ_RANGE, .read_only = SYN_CQ_READ_ONLY,
		.pages = { PRM_SZ(create_cq_in), (uint8_t)PRM_GET(ctx, cqc, log_page_size), (uint8_t)PRM_GET(ctx, cqc, page_offset),
			   SYN_CQ_PAGES, SYN_CQ_PAGES, SYN_CQ_PAGE_ALIGN },
	};
}

_Static_assert(CTX_BIT_OF(PRM_F_create_cq_in__cq_umem_valid) == CTX_BIT_OF(PRM_F_modify_cq_in__cq_umem_valid) &&
	       CTX_BIT_OF(PRM_F_create_cq_in__cq_umem_id) == CTX_BIT_OF(PRM_F_modify_cq_in__cq_umem_id) &&
	       CTX_BIT_OF(PRM_F_create_cq_in__cq_umem_offset) == CTX_BIT_OF(PRM_F_modify_cq_in__cq_umem_offset) &&
	       PRM_SZ(create_cq_in) == PRM_SZ(modify_cq_in), "resize tells the place of the queue as create does");

void cq_fini(struct hca_obj *obj)
{
	umem_drop(((struct cq *)obj)->pages);
}

static enum syn create_cq(struct hca *h, struct call *c)
{
	struct prm_box ctx = PRM_SUB(&c->in, create_cq_in, cq_context);
	const struct queue_part buf = buffer(c, &ctx);
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
	cq->offset = buf.offset;
	if (!buf_umem && !(cq->pages = umem_of_pages(c, &buf.pages, buf.bytes))) {
		obj_free(h, &cq->obj);
		return SYN_NO_MEMORY;
	}
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

/*
 * Where the old queue ends stands a CQE that says so, for who reads on in the new one; it counts. Linux,
 * include/linux/mlx5/device.h: its opcode, and the byte that this shares with the owner bit.
 */
#define CQE64 64u
#define CQE_OP_OWN 63u
#define CQE_RESIZE_CQ 5u

static bool write_resize_cqe(struct hca *h, struct cq *cq, struct prm_box *ctx)
{
	uint64_t log = PRM_GET(ctx, cqc, log_cq_size), producer = PRM_GET(ctx, cqc, producer_counter);
	uint64_t bytes = CQE_BYTES(PRM_GET(ctx, cqc, cqe_sz)), at = (producer & ((UINT64_C(1) << log) - 1)) * bytes + bytes - CQE64;
	uint8_t cqe[CQE64] = { [CQE_OP_OWN] = (uint8_t)(CQE_RESIZE_CQ << 4 | (producer >> log & 1)) };

	if (cq->pages)
		return umem_write(h, cq->pages, at, cqe, sizeof(cqe));
	return umem_write(h, cq->obj.links[CQ_LINK_QUEUE], cq->offset + at, cqe, sizeof(cqe));
}

/* resize_field_select. Linux, include/linux/mlx5/cq.h. The size of a CQE, which has no bit, goes with the size. */
#define RESIZE_LOG_SIZE 0x1u
#define RESIZE_PAGE_OFFSET 0x2u
#define RESIZE_PAGE_SIZE 0x4u
#define RESIZE_ALL 0x7u

#define COPY(bit, to, in, field)                                                                                     \
	do {                                                                                                         \
		if (select & (bit))                                                                                  \
			PRM_SET(to, cqc, field, PRM_GET(in, cqc, field));                                            \
	} while (0)

static enum syn resize_cq(struct hca *h, struct call *c)
{
	struct prm_box in = PRM_SUB(&c->in, modify_cq_in, cq_context), ctx, next;
	uint32_t select = (uint32_t)PRM_GET(&c->in, modify_cq_in, modify_field_select_resize_field_select);
	struct cq *cq = (struct cq *)c->obj;
	struct hca_obj *umem, *pages = NULL;
	uint8_t cqc[PRM_SZ(cqc)];
	struct queue_part buf;
	enum syn syn;

	if (select & ~RESIZE_ALL)
		return SYN_CQ_RESIZE;
	memcpy(cqc, cq->cqc, sizeof(cqc));
	ctx = prm_out(cq->cqc, sizeof(cq->cqc));
	next = prm_out(cqc, sizeof(cqc));
	COPY(RESIZE_LOG_SIZE, &next, &in, log_cq_size);
	COPY(RESIZE_LOG_SIZE, &next, &in, cqe_sz);
	COPY(RESIZE_PAGE_OFFSET, &next, &in, page_offset);
	COPY(RESIZE_PAGE_SIZE, &next, &in, log_page_size);
	buf = buffer(c, &next);
	syn = cq_context_check(&next);
	if (syn == SYN_OK)
		syn = queue_place(h, c, &buf, &umem);
	if (syn != SYN_OK)
		return syn;
	if (!obj_charge(h, &cq->obj, sizeof(*cq) + h->inlen)) /* before the list is there, not when it is */
		return SYN_MEMORY_LIMIT;
	if (!umem && !(pages = umem_of_pages(c, &buf.pages, buf.bytes)))
		return SYN_NO_MEMORY;
	if (!write_resize_cqe(h, cq, &ctx)) {
		umem_drop(pages);
		return SYN_CQ_MEMORY;
	}
	PRM_SET(&next, cqc, producer_counter, (PRM_GET(&ctx, cqc, producer_counter) + 1) & CQ_COUNTER_MASK);
	memcpy(cq->cqc, cqc, sizeof(cqc));
	obj_relink(&cq->obj, CQ_LINK_QUEUE, umem);
	umem_drop(cq->pages);
	cq->pages = pages;
	cq->offset = buf.offset;
	return SYN_OK;
}

#define OP_MOD_RESIZE 1u

static enum syn modify_cq(struct hca *h, struct call *c)
{
	struct prm_box in = PRM_SUB(&c->in, modify_cq_in, cq_context);
	struct prm_box ctx = prm_out(((struct cq *)c->obj)->cqc, PRM_SZ(cqc));
	uint32_t select = (uint32_t)PRM_GET(&c->in, modify_cq_in, modify_field_select_resize_field_select);
	struct hca_obj *eq;
	enum syn syn = SYN_OK;

	if (c->op_mod == OP_MOD_RESIZE)
		return resize_cq(h, c);
	if (select & ~MODIFY_ALL)
		return SYN_CQ_SELECT;
	if (select & MODIFY_EQN)
		syn = eq_find(h, c->uid, (uint32_t)PRM_GET(&in, cqc, c_eqn_or_apu_element), &eq);
	if (syn != SYN_OK)
		return syn;
	if (select & MODIFY_EQN)
		obj_relink(c->obj, CQ_LINK_EQ, eq);
	COPY(MODIFY_PERIOD, &ctx, &in, cq_period);
	COPY(MODIFY_COUNT, &ctx, &in, cq_max_count);
	COPY(MODIFY_OVERRUN, &ctx, &in, oi);
	COPY(MODIFY_EQN, &ctx, &in, c_eqn_or_apu_element);
	COPY(MODIFY_PERIOD_MODE, &ctx, &in, cq_period_mode);
	return SYN_OK;
}
#undef COPY

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
	{ PRM_OP_MODIFY_CQ, PRM_SZ(modify_cq_in), PRM_SZ(modify_cq_out), OP_MOD_RESIZE, OP_ON, OBJ_CQ,
	  OP_PLACE(PRM_F_modify_cq_in__cqn), modify_cq, NULL },
	OP_OBJ_ROW(DESTROY_CQ, destroy_cq, OP_DESTROY, OBJ_CQ, cqn, NULL),
	{ 0 },
};
