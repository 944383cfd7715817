/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared receive queues, basic and XRC, XRC domains, and the arming of their limits. */
#include "events.h"
#include "queues.h"

/* state. Linux, include/linux/mlx5/mlx5_ifc.h. */
enum { SRQ_GOOD = 0, SRQ_ERROR = 1 };

/* log_rq_stride 0 means 16 bytes. */
#define LOG_STRIDE_MIN 4u

static const struct ctx_type xrcd = { .type = OBJ_XRCD, .created = CTX_PLACE(alloc_xrcd_out, xrcd) };

/* A basic SRQ completes on its queue pairs' CQs; Linux' driver names one, and an XRC domain, all the same. */
static const struct ctx_ref srq_refs[] = {
	{ OBJ_PD, CTX_PLACE(srqc, pd), false, SYN_OK },
	{ OBJ_CQ, CTX_PLACE(srqc, cqn), true, SYN_OK },
	{ OBJ_XRCD, CTX_PLACE(srqc, xrcd), true, SYN_OK },
	{ 0 },
};

/* A basic SRQ lies where the page list in its inbox says: its layout knows no umem. */
static enum syn check_srq(struct hca *h, struct call *c, struct prm_box *ctx, struct ctx_links *links)
{
	const struct queue_pages pages = {
		PRM_SZ(create_srq_in), (uint8_t)PRM_GET(ctx, srqc, log_page_size), (uint8_t)PRM_GET(ctx, srqc, page_offset),
		SYN_SRQ_PAGE, SYN_SRQ_PAGES, SYN_SRQ_PAGE_ALIGN,
	};
	uint64_t bytes = UINT64_C(1) << (PRM_GET(ctx, srqc, log_srq_size) + PRM_GET(ctx, srqc, log_rq_stride) + LOG_STRIDE_MIN);
	enum syn syn = queue_pages(c, &pages, bytes);

	if (syn != SYN_OK)
		return syn;
	return wq_limit_fits(PRM_GET(ctx, srqc, lwm), PRM_GET(ctx, srqc, log_srq_size)) ? SYN_OK : SYN_SRQ_LWM;
}

static void made_srq(struct hca *h, struct call *c, struct ctx_obj *obj)
{
	struct prm_box ctx = prm_out(obj->ctx, PRM_SZ(srqc));

	PRM_SET(&ctx, srqc, state, SRQ_GOOD);
	PRM_SET(&ctx, srqc, wqe_cnt, 0);
}

/* An SRQ in error stays so, and tells no more. */
bool srq_event(struct hca_obj *obj, uint8_t event, uint8_t syndrome)
{
	struct prm_box ctx = prm_out(((struct ctx_obj *)obj)->ctx, PRM_SZ(srqc));

	if (syndrome || PRM_GET(&ctx, srqc, state) != SRQ_GOOD)
		return false;
	if (event == EVENT_SRQ_LIMIT)
		return wq_limit_reached(&ctx, (struct ctx_place)CTX_PLACE(srqc, lwm));
	PRM_SET(&ctx, srqc, state, SRQ_ERROR);
	return true;
}

static const struct ctx_type srq = {
	.type = OBJ_SRQ,
	.create = CTX_PLACE(create_srq_in, srq_context_entry),
	.created = CTX_PLACE(create_srq_out, srqn),
	.query = CTX_PLACE(query_srq_out, srq_context_entry),
	.refs = srq_refs,
	.check = check_srq, .made = made_srq,
};

static const struct ctx_ref xrc_refs[] = {
	{ OBJ_PD, CTX_PLACE(xrc_srqc, pd), false, SYN_OK },
	{ OBJ_CQ, CTX_PLACE(xrc_srqc, cqn), false, SYN_OK },
	{ OBJ_XRCD, CTX_PLACE(xrc_srqc, xrcd), false, SYN_OK },
	{ 0 },
};

/* Which umem the doorbell record lies in, no public layout says: it is not looked at. */
static enum syn check_xrc_srq(struct hca *h, struct call *c, struct prm_box *ctx, struct ctx_links *links)
{
	const uint64_t log_size = PRM_GET(ctx, xrc_srqc, log_xrc_srq_size);
	const struct queue_part queue = {
		.valid = PRM_GET(&c->in, create_xrc_srq_in, xrc_srq_umem_valid),
		.id = (uint32_t)PRM_GET(&c->in, create_xrc_srq_in, xrc_srq_umem_id),
		.offset = PRM_GET(&c->in, create_xrc_srq_in, xrc_srq_umem_offset),
		.bytes = UINT64_C(1) << (log_size + PRM_GET(ctx, xrc_srqc, log_rq_stride) + LOG_STRIDE_MIN),
		.not_valid = SYN_XRC_SRQ_UMEM, .range = SYN_XRC_SRQ_RANGE, .read_only = SYN_XRC_SRQ_READ_ONLY,
		.pages = { PRM_SZ(create_xrc_srq_in), (uint8_t)PRM_GET(ctx, xrc_srqc, log_page_size),
			   (uint8_t)PRM_GET(ctx, xrc_srqc, page_offset), SYN_XRC_SRQ_PAGE, SYN_XRC_SRQ_PAGES, SYN_XRC_SRQ_PAGE_ALIGN },
	};
	enum syn syn;

	if (!wq_limit_fits(PRM_GET(ctx, xrc_srqc, lwm), log_size))
		return SYN_XRC_SRQ_LWM;
	syn = queue_place(h, c, &queue, &links->to[links->n]);
	if (syn == SYN_OK)
		links->n++;
	return syn;
}

static void made_xrc_srq(struct hca *h, struct call *c, struct ctx_obj *obj)
{
	struct prm_box ctx = prm_out(obj->ctx, PRM_SZ(xrc_srqc));

	PRM_SET(&ctx, xrc_srqc, state, SRQ_GOOD);
	PRM_SET(&ctx, xrc_srqc, wqe_cnt, 0);
	if (PRM_GET(&ctx, xrc_srqc, user_index_equal_xrc_srqn))
		PRM_SET(&ctx, xrc_srqc, user_index, obj->obj.id);
}

bool xrc_srq_event(struct hca_obj *obj, uint8_t event, uint8_t syndrome)
{
	struct prm_box ctx = prm_out(((struct ctx_obj *)obj)->ctx, PRM_SZ(xrc_srqc));

	if (syndrome || PRM_GET(&ctx, xrc_srqc, state) != SRQ_GOOD)
		return false;
	if (event == EVENT_SRQ_LIMIT)
		return wq_limit_reached(&ctx, (struct ctx_place)CTX_PLACE(xrc_srqc, lwm));
	PRM_SET(&ctx, xrc_srqc, state, SRQ_ERROR);
	return true;
}

static const struct ctx_type xrc_srq = {
	.type = OBJ_XRC_SRQ,
	.create = CTX_PLACE(create_xrc_srq_in, xrc_srq_context_entry),
	.created = CTX_PLACE(create_xrc_srq_out, xrc_srqn),
	.query = CTX_PLACE(query_xrc_srq_out, xrc_srq_context_entry),
	.refs = xrc_refs,
	.check = check_xrc_srq, .made = made_xrc_srq,
};

/* op_mod of ARM_RQ. Linux, include/linux/mlx5/mlx5_ifc.h. 0, a receive queue itself, is our choice. */
enum { ARM_RQ = 0, ARM_SRQ = 1, ARM_XRQ = 2 };

/* The place of the limit in the contexts that ARM_RQ reaches, and of the size that bounds it. */
static const struct {
	enum obj_type type;
	struct ctx_place lwm, log_size;
	uint32_t context;
	enum syn too_high;
} armed[] = {
	[ARM_RQ] = { OBJ_RQ, CTX_NESTED(rqc, wq, wq, lwm), CTX_NESTED(rqc, wq, wq, log_wq_sz), PRM_SZ(rqc), SYN_RQ_LWM },
	[ARM_SRQ] = { OBJ_SRQ, CTX_PLACE(srqc, lwm), CTX_PLACE(srqc, log_srq_size), PRM_SZ(srqc), SYN_SRQ_LWM },
	[ARM_XRQ] = { OBJ_XRQ, CTX_NESTED(xrqc, wq, wq, lwm), CTX_NESTED(xrqc, wq, wq, log_wq_sz), PRM_SZ(xrqc), SYN_XRQ_LWM },
};

static enum syn arm(struct hca *h, struct call *c, unsigned int kind, uint32_t id, uint64_t lwm)
{
	struct ctx_obj *obj = (struct ctx_obj *)obj_find(h, armed[kind].type, id, c->uid);
	struct prm_box ctx;

	if (!obj)
		return obj_classes[armed[kind].type].missing;
	ctx = prm_out(obj->ctx, armed[kind].context);
	if (!wq_limit_fits(lwm, prm_get(&ctx, armed[kind].log_size.bit, armed[kind].log_size.width)))
		return armed[kind].too_high;
	prm_set(&ctx, armed[kind].lwm.bit, armed[kind].lwm.width, lwm);
	return SYN_OK;
}

static enum syn arm_rq(struct hca *h, struct call *c)
{
	return arm(h, c, c->op_mod, (uint32_t)PRM_GET(&c->in, arm_rq_in, srq_number), PRM_GET(&c->in, arm_rq_in, lwm));
}

static enum syn arm_xrq(struct hca *h, struct call *c)
{
	return arm(h, c, ARM_XRQ, (uint32_t)PRM_GET(&c->in, arm_xrq_in, xrqn), PRM_GET(&c->in, arm_xrq_in, lwm));
}

/* op_mod 1 is an XRC SRQ (Linux, include/linux/mlx5/mlx5_ifc.h); nothing else is defined. */
#define ARM_XRC_SRQ_OP_MOD 1u

static enum syn arm_xrc_srq(struct hca *h, struct call *c)
{
	struct ctx_obj *obj = (struct ctx_obj *)c->obj;
	struct prm_box ctx = prm_out(obj->ctx, PRM_SZ(xrc_srqc));
	uint64_t lwm = PRM_GET(&c->in, arm_xrc_srq_in, lwm);

	if (c->op_mod != ARM_XRC_SRQ_OP_MOD)
		return SYN_OP_MOD;
	if (!wq_limit_fits(lwm, PRM_GET(&ctx, xrc_srqc, log_xrc_srq_size)))
		return SYN_XRC_SRQ_LWM;
	PRM_SET(&ctx, xrc_srqc, lwm, lwm);
	return SYN_OK;
}

const struct hca_op ops_srq[] = {
	OP_CTX_ALLOC(ALLOC_XRCD, alloc_xrcd, &xrcd),
	OP_OBJ_ROW(DEALLOC_XRCD, dealloc_xrcd, OP_DESTROY, OBJ_XRCD, xrcd, NULL),
	OP_CTX_CREATE(CREATE_SRQ, create_srq, &srq),
	OP_CTX_QUERY(QUERY_SRQ, query_srq, OBJ_SRQ, srqn, &srq),
	OP_OBJ_ROW(DESTROY_SRQ, destroy_srq, OP_DESTROY, OBJ_SRQ, srqn, NULL),
	OP_CTX_CREATE(CREATE_XRC_SRQ, create_xrc_srq, &xrc_srq),
	OP_CTX_QUERY(QUERY_XRC_SRQ, query_xrc_srq, OBJ_XRC_SRQ, xrc_srqn, &xrc_srq),
	OP_OBJ_ROW(DESTROY_XRC_SRQ, destroy_xrc_srq, OP_DESTROY, OBJ_XRC_SRQ, xrc_srqn, NULL),
	{ PRM_OP_ARM_RQ, PRM_SZ(arm_rq_in), PRM_SZ(arm_rq_out), ARM_XRQ, OP_PLAIN, OBJ_NONE, 0, 0, arm_rq, NULL },
	{ PRM_OP_ARM_XRC_SRQ, PRM_SZ(arm_xrc_srq_in), PRM_SZ(arm_xrc_srq_out), OP_MOD_ANY, OP_ON, OBJ_XRC_SRQ,
	  OP_PLACE(PRM_F_arm_xrc_srq_in__xrc_srqn), arm_xrc_srq, NULL },
	OP_ROW(ARM_XRQ, arm_xrq, OP_PLAIN, arm_xrq),
	{ 0 },
};
