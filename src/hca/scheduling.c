/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scheduling elements: a tree of arbiters (TSAR) with queue groups as its leaves. Made by commands of their own, or as general
 * objects, whose context is laid out like the inbox of those commands; either way they are the same elements.
 */
#include "caps.h"
#include "general.h"

_Static_assert(CTX_BIT_OF(PRM_F_sched_elem__scheduling_hierarchy) ==
		       CTX_BIT_OF(PRM_F_create_scheduling_element_in__scheduling_hierarchy) &&
	       CTX_BIT_OF(PRM_F_sched_elem__sched_context) ==
		       CTX_BIT_OF(PRM_F_create_scheduling_element_in__scheduling_context) &&
	       CTX_BIT_OF(PRM_F_sched_elem__sched_context) ==
		       CTX_BIT_OF(PRM_F_modify_scheduling_element_in__scheduling_context) &&
	       CTX_BIT_OF(PRM_F_sched_elem__sched_context) ==
		       CTX_BIT_OF(PRM_F_query_scheduling_element_out__scheduling_context) &&
	       PRM_SZ(sched_elem) == PRM_SZ(create_scheduling_element_in), "an inbox is a context");

/* Linux, include/linux/mlx5/mlx5_ifc.h: SCHEDULING_HIERARCHY_*, SCHEDULING_CONTEXT_ELEMENT_TYPE_*, and the bits of modify. */
enum { E_SWITCH = 2, NIC = 3 };
enum { TSAR = 0, VPORT = 1, VPORT_TC = 2, PARA_VPORT_TC = 3, QUEUE_GROUP = 4, RATE_LIMIT = 5 };
enum { BW_SHARE = 0x1, MAX_AVERAGE_BW = 0x2 };

#define CTX(field) CTX_NESTED(sched_elem, sched_context, scheduling_context, field)

static const struct gen_field fields[] = {
	OPT_REF(OBJ_SCHED, CTX(parent_element_id)),
	MODIFY(BW_SHARE, CTX(bw_share)),
	MODIFY(MAX_AVERAGE_BW, CTX(max_average_bw)),
	FIELDS_END,
};

static enum syn check_element(struct gen_change *c)
{
	struct prm_box ctx = PRM_SUB(&c->next, sched_elem, sched_context), above;
	struct prm_box attr = PRM_SUB(&ctx, scheduling_context, element_attributes);
	uint64_t type = PRM_GET(&ctx, scheduling_context, element_type);
	uint32_t parent = (uint32_t)PRM_GET(&ctx, scheduling_context, parent_element_id);
	uint64_t tsar = PRM_GET(&attr, tsar_element, tsar_type); /* may be more than the capability has bits */

	/* The e-switch is its manager's, which this function is not. */
	if (PRM_GET(&c->next, sched_elem, scheduling_hierarchy) != NIC)
		return SYN_SCHED_HIERARCHY;
	if (type > RATE_LIMIT || !(HCA_CAP(c->h, QOS, qos_cap, nic_element_type) >> type & 1))
		return SYN_SCHED_TYPE;
	if (type == TSAR && (tsar >= 16 || !(HCA_CAP(c->h, QOS, qos_cap, nic_tsar_type) >> tsar & 1)))
		return SYN_SCHED_TSAR;
	if (PRM_GET(&ctx, scheduling_context, bw_share) > HCA_CAP(c->h, QOS, qos_cap, max_tsar_bw_share))
		return SYN_SCHED_SHARE;
	if (!parent)
		return type == TSAR ? SYN_OK : SYN_SCHED_ROOT;
	above = gen_context(obj_find(c->h, OBJ_SCHED, parent, c->uid), parent);
	above = PRM_SUB(&above, sched_elem, sched_context);
	return PRM_GET(&above, scheduling_context, element_type) == TSAR ? SYN_OK : SYN_SCHED_PARENT;
}

/* As a general object, rdma-core's mlx5dv_sched_node_create() makes them. */
const struct gen_type gen_qos[] = {
	{ .type = 0x26, .obj = OBJ_SCHED, .profiles = ALL_PROFILES, GEN_LAYOUT(sched_elem), .fields = fields,
	  .check = check_element },
	{ .obj = OBJ_NONE },
};

static enum syn create(struct hca *h, struct call *c)
{
	uint32_t id;
	enum syn syn = gen_create(h, c, gen_qos, c->in, 0, &id);

	if (syn == SYN_OK)
		PRM_SET(&c->out, create_scheduling_element_out, scheduling_element_id, id);
	return syn;
}

static enum syn query(struct hca *h, struct call *c)
{
	uint64_t hierarchy = PRM_GET(&c->in, query_scheduling_element_in, scheduling_hierarchy);
	struct prm_box to = PRM_SUB(&c->out, query_scheduling_element_out, scheduling_context);
	struct prm_box ctx = gen_context(c->obj, c->obj->id);

	if (hierarchy != NIC)
		return SYN_SCHED_HIERARCHY;
	ctx = PRM_SUB(&ctx, sched_elem, sched_context);
	prm_copy(&to, 0, &ctx, 0, ctx.len * 8);
	return SYN_OK;
}

static enum syn modify(struct hca *h, struct call *c)
{
	if (PRM_GET(&c->in, modify_scheduling_element_in, scheduling_hierarchy) != NIC)
		return SYN_SCHED_HIERARCHY;
	return gen_modify(h, gen_qos, c->obj, c->obj->id, c->in, PRM_GET(&c->in, modify_scheduling_element_in, modify_bitmask));
}

static enum syn destroy(struct hca *h, struct call *c)
{
	return PRM_GET(&c->in, destroy_scheduling_element_in, scheduling_hierarchy) == NIC ? SYN_OK : SYN_SCHED_HIERARCHY;
}

/* The destroy that Linux builds is 16 bytes long, shorter than the layout, and enough. */
const struct hca_op ops_scheduling[] = {
	OP_ROW(CREATE_SCHEDULING_ELEMENT, create_scheduling_element, OP_PLAIN, create),
	OP_OBJ_ROW(QUERY_SCHEDULING_ELEMENT, query_scheduling_element, OP_ON, OBJ_SCHED, scheduling_element_id, query),
	OP_OBJ_ROW(MODIFY_SCHEDULING_ELEMENT, modify_scheduling_element, OP_ON, OBJ_SCHED, scheduling_element_id, modify),
	{ PRM_OP_DESTROY_SCHEDULING_ELEMENT, PRM_HDR_SZ, PRM_HDR_SZ, 0, OP_DESTROY, OBJ_SCHED,
	  OP_PLACE(PRM_F_destroy_scheduling_element_in__scheduling_element_id), destroy, NULL },
	{ 0 },
};
