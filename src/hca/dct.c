/* SPDX-License-Identifier: BSD-2-Clause */
/* Dynamically connected targets. */
#include "events.h"
#include "queues.h"

/* state. Linux, include/linux/mlx5/mlx5_ifc.h. */
enum { DCT_ACTIVE = 0, DCT_DRAINING = 1, DCT_DRAINED = 2 };

static const struct ctx_ref refs[] = {
	{ OBJ_PD, CTX_PLACE(dctc, pd), false, SYN_OK },
	{ OBJ_CQ, CTX_PLACE(dctc, cqn), false, SYN_OK },
	{ 0 },
};

static enum syn check(struct hca *h, struct call *c, struct prm_box *ctx, struct ctx_links *links)
{
	uint64_t mtu = PRM_GET(ctx, dctc, mtu), port = PRM_GET(ctx, dctc, port);
	struct hca_obj *srq = obj_refer_in_space(h, OBJ_SRQ, (uint32_t)PRM_GET(ctx, dctc, srqn_xrqn), c->uid);

	if (!srq)
		return SYN_DCT_SRQ;
	links->to[links->n++] = srq;
	if (!mtu || mtu > MTU_MAX)
		return SYN_DCT_MTU;
	if (!port || port > NUM_PORTS)
		return SYN_DCT_PORT;
	if (PRM_GET(ctx, dctc, pkey_index) >= PKEYS)
		return SYN_DCT_PKEY;
	if (PRM_GET(ctx, dctc, my_addr_index) >= ROCE_ADDRESSES)
		return SYN_DCT_GID;
	return queue_counter(h, c, (uint32_t)PRM_GET(ctx, dctc, counter_set_id), &links->to[links->n++]);
}

static void made(struct hca *h, struct call *c, struct ctx_obj *obj)
{
	struct prm_box ctx = prm_out(obj->ctx, PRM_SZ(dctc));

	PRM_SET(&ctx, dctc, state, DCT_ACTIVE);
	PRM_SET(&ctx, dctc, dc_access_key_violation_count, 0);
	PRM_SET(&c->out, create_dct_out, ece, PRM_GET(&ctx, dctc, ece));
}

static const struct ctx_type dct = {
	.type = OBJ_DCT,
	.create = CTX_PLACE(create_dct_in, dct_context_entry),
	.created = CTX_PLACE(create_dct_out, dctn),
	.query = CTX_PLACE(query_dct_out, dct_context_entry),
	.refs = refs,
	.check = check, .made = made,
};

static enum syn active(struct ctx_obj *obj)
{
	struct prm_box ctx = prm_out(obj->ctx, PRM_SZ(dctc));

	return PRM_GET(&ctx, dctc, state) == DCT_ACTIVE ? SYN_OK : SYN_DCT_STATE;
}

/* Whether a violation of the access key is told, once. The state of the DCT itself stands in its context. */
enum { KEY_SILENT = 0, KEY_ARMED = 1 };

/* A drained DCT takes no packets, so none violates its key. */
bool dct_event(struct hca_obj *obj, uint8_t event, uint8_t syndrome)
{
	struct ctx_obj *target = (struct ctx_obj *)obj;
	struct prm_box ctx = prm_out(target->ctx, PRM_SZ(dctc));

	if (syndrome || active(target) != SYN_OK || (event == EVENT_DCT_KEY_VIOLATION && target->state != KEY_ARMED))
		return false;
	if (event == EVENT_DCT_DRAINED) {
		PRM_SET(&ctx, dctc, state, DCT_DRAINED);
		return true;
	}
	PRM_SET(&ctx, dctc, dc_access_key_violation_count, PRM_GET(&ctx, dctc, dc_access_key_violation_count) + 1);
	target->state = KEY_SILENT;
	return true;
}

/* Nothing is connected, so it is drained at once. */
static enum syn drain(struct hca *h, struct call *c)
{
	if (!dct_event(c->obj, EVENT_DCT_DRAINED, 0))
		return SYN_DCT_STATE;
	hca_raise_on(h, c->obj, EVENT_DCT_DRAINED);
	return SYN_OK;
}

static enum syn arm(struct hca *h, struct call *c)
{
	struct ctx_obj *target = (struct ctx_obj *)c->obj;
	enum syn syn = active(target);

	if (syn == SYN_OK)
		target->state = KEY_ARMED;
	return syn;
}

/* Linux calls the layout arm_dct, the opcode ARM_DCT_FOR_KEY_VIOLATION. */
const struct hca_op ops_dct[] = {
	OP_CTX_CREATE(CREATE_DCT, create_dct, &dct),
	OP_CTX_QUERY(QUERY_DCT, query_dct, OBJ_DCT, dctn, &dct),
	OP_OBJ_ROW(DESTROY_DCT, destroy_dct, OP_DESTROY, OBJ_DCT, dctn, NULL),
	OP_OBJ_ROW(DRAIN_DCT, drain_dct, OP_ON, OBJ_DCT, dctn, drain),
	OP_OBJ_ROW(ARM_DCT_FOR_KEY_VIOLATION, arm_dct, OP_ON, OBJ_DCT, dct_number, arm),
	{ 0 },
};
