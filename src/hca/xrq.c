/* SPDX-License-Identifier: BSD-2-Clause */
/* XRQs: receive queues that are shared between transports, and may match tags. */
#include <string.h>

#include "events.h"
#include "queues.h"

/* state, topology, offload. Linux, include/linux/mlx5/mlx5_ifc.h. */
enum { XRQ_GOOD = 0, XRQ_ERROR = 1 };
enum { TOPOLOGY_NONE = 0, TOPOLOGY_TAG_MATCHING = 1 };
#define OFFLOAD_RNDV 1u

static const struct wq_kind receive_wq = {
	.types = 1 << WQ_LINKED_LIST | 1 << WQ_CYCLIC | 1 << WQ_LINKED_LIST_STRIDING | 1 << WQ_CYCLIC_STRIDING,
	.log_stride_min = RQ_LOG_STRIDE_MIN, .log_stride_max = RQ_LOG_STRIDE_MAX,
};

static const struct ctx_ref refs[] = {
	{ OBJ_CQ, CTX_PLACE(xrqc, cqn), false, SYN_OK },
	{ 0 },
};

static enum syn check(struct hca *h, struct call *c, struct prm_box *ctx, struct ctx_links *links)
{
	struct prm_box wq = PRM_SUB(ctx, xrqc, wq), tm = PRM_SUB(ctx, xrqc, tag_matching_topology_context);
	uint64_t topology = PRM_GET(ctx, xrqc, topology), offload = PRM_GET(ctx, xrqc, offload);
	uint64_t log_list = PRM_GET(&tm, tag_matching_topology_context, log_matching_list_sz);

	if (topology > TOPOLOGY_TAG_MATCHING)
		return SYN_XRQ_TOPOLOGY;
	if (offload > OFFLOAD_RNDV || (offload && topology != TOPOLOGY_TAG_MATCHING))
		return SYN_XRQ_OFFLOAD; /* a rendezvous is begun by a tag that matches */
	if (topology == TOPOLOGY_TAG_MATCHING && (!log_list || log_list > TM_LOG_LIST_MAX))
		return SYN_XRQ_LIST;
	if (!wq_limit_fits(PRM_GET(&wq, wq, lwm), PRM_GET(&wq, wq, log_wq_sz)))
		return SYN_XRQ_LWM;
	return wq_check(h, c, &wq, &receive_wq, links);
}

static void made(struct hca *h, struct call *c, struct ctx_obj *obj)
{
	struct prm_box ctx = prm_out(obj->ctx, PRM_SZ(xrqc)), wq = PRM_SUB(&ctx, xrqc, wq);
	struct prm_box tm = PRM_SUB(&ctx, xrqc, tag_matching_topology_context);

	wq_made(&wq);
	PRM_SET(&ctx, xrqc, state, XRQ_GOOD);
	PRM_SET(&tm, tag_matching_topology_context, append_next_index, 0);
	PRM_SET(&tm, tag_matching_topology_context, sw_phase_cnt, 0);
	PRM_SET(&tm, tag_matching_topology_context, hw_phase_cnt, 0);
}

static const struct ctx_type xrq = {
	.type = OBJ_XRQ,
	.create = CTX_PLACE(create_xrq_in, xrq_context),
	.created = CTX_PLACE(create_xrq_out, xrqn),
	.query = CTX_PLACE(query_xrq_out, xrq_context),
	.refs = refs,
	.check = check, .made = made,
};

/* The entry lies behind the context: it is set by a command of its own. */
static struct prm_box dc_entry(struct hca_obj *obj)
{
	return prm_out(((struct ctx_obj *)obj)->ctx + PRM_SZ(xrqc), XRQ_DC_ENTRY);
}

/* An entry's part of a mailbox. */
static uint8_t *entry_in(const struct prm_box *box)
{
	return box->p + PRM_HDR_SZ;
}

/* How an XRQ that does a rendezvous over DC reads: one entry an XRQ, the last one set (our choice). */
static enum syn set_dc_entry(struct hca *h, struct call *c)
{
	uint64_t mtu = PRM_GET(&c->in, set_xrq_dc_params_entry_in, mtu);

	if (PRM_GET(&c->in, set_xrq_dc_params_entry_in, pkey_table_index) >= PKEYS)
		return SYN_XRQ_PKEY;
	if (!mtu || mtu > MTU_MAX)
		return SYN_XRQ_MTU;
	memcpy(dc_entry(c->obj).p, entry_in(&c->in), XRQ_DC_ENTRY);
	return SYN_OK;
}

/* No public layout says how the outbox looks: like the inbox that set it (our choice). */
static enum syn query_dc_entry(struct hca *h, struct call *c)
{
	memcpy(entry_in(&c->out), dc_entry(c->obj).p, XRQ_DC_ENTRY);
	return SYN_OK;
}

static uint64_t state_of(struct hca_obj *obj)
{
	struct prm_box ctx = prm_out(((struct ctx_obj *)obj)->ctx, PRM_SZ(xrqc));

	return PRM_GET(&ctx, xrqc, state);
}

bool xrq_event(struct hca_obj *obj, uint8_t event, uint8_t syndrome)
{
	struct prm_box ctx = prm_out(((struct ctx_obj *)obj)->ctx, PRM_SZ(xrqc));

	if (syndrome || PRM_GET(&ctx, xrqc, state) != XRQ_GOOD)
		return false;
	if (event == EVENT_SRQ_LIMIT)
		return wq_limit_reached(&ctx, (struct ctx_place)CTX_NESTED(xrqc, wq, wq, lwm));
	PRM_SET(&ctx, xrqc, state, XRQ_ERROR);
	return true;
}

/* What went wrong, no public layout has a place for. */
static enum syn query_error(struct hca *h, struct call *c)
{
	return state_of(c->obj) == XRQ_ERROR ? SYN_OK : SYN_XRQ_GOOD;
}

static enum syn release_error(struct hca *h, struct call *c)
{
	struct prm_box ctx = prm_out(((struct ctx_obj *)c->obj)->ctx, PRM_SZ(xrqc));

	if (state_of(c->obj) != XRQ_ERROR)
		return SYN_XRQ_GOOD;
	PRM_SET(&ctx, xrqc, state, XRQ_GOOD);
	return SYN_OK;
}

/* No public layout says what can be modified, so a command that names anything but its XRQ is not understood. */
static enum syn modify(struct hca *h, struct call *c)
{
	for (uint32_t i = PRM_HDR_SZ - sizeof(uint32_t); i < c->in.len; i++)
		if (c->in.p[i])
			return SYN_XRQ_MODIFY;
	return SYN_OK;
}

/* These name the XRQ where QUERY_XRQ does (Linux, drivers/infiniband/hw/mlx5/devx.c); more of them is not public. */
#define XRQ_ROW(op, in_min, out_min, fn)                                                                             \
	{ PRM_OP_##op, in_min, out_min, 0, OP_ON, OBJ_XRQ, OP_PLACE(PRM_F_query_xrq_in__xrqn), fn, NULL }

const struct hca_op ops_xrq[] = {
	OP_CTX_CREATE(CREATE_XRQ, create_xrq, &xrq),
	OP_CTX_QUERY(QUERY_XRQ, query_xrq, OBJ_XRQ, xrqn, &xrq),
	OP_OBJ_ROW(DESTROY_XRQ, destroy_xrq, OP_DESTROY, OBJ_XRQ, xrqn, NULL),
	OP_OBJ_ROW(SET_XRQ_DC_PARAMS_ENTRY, set_xrq_dc_params_entry, OP_ON, OBJ_XRQ, xrqn, set_dc_entry),
	XRQ_ROW(QUERY_XRQ_DC_PARAMS_ENTRY, PRM_HDR_SZ, PRM_SZ(set_xrq_dc_params_entry_in), query_dc_entry),
	XRQ_ROW(QUERY_XRQ_ERROR_PARAMS, PRM_HDR_SZ, PRM_HDR_SZ, query_error),
	XRQ_ROW(RELEASE_XRQ_ERROR, PRM_HDR_SZ, PRM_HDR_SZ, release_error),
	XRQ_ROW(MODIFY_XRQ, PRM_HDR_SZ, PRM_HDR_SZ, modify),
	{ 0 },
};
