/* SPDX-License-Identifier: BSD-2-Clause */
/* Queue counters. The model moves no packets through queues, so what they count stays zero. */
#include "context.h"
#include "types.h"

/* A device's own counters (uid 0) may be used by all: programs take over the number that the driver chose. */
struct hca_obj *find_q_counter(struct hca *h, uint32_t id, uint16_t uid)
{
	struct hca_obj *q = obj_find(h, OBJ_Q_COUNTER, id, uid);

	if (!q)
		q = obj_find(h, OBJ_Q_COUNTER, id, 0); /* which, of a driver, sees those of all programs */
	return q && (q->uid == uid || !q->uid || !uid) ? q : NULL;
}

static const struct ctx_type q_counter = { .type = OBJ_Q_COUNTER, .created = CTX_PLACE(alloc_q_counter_out, counter_set_id) };

/* aggregate asks for the sum over all counters: no id, then. The outbox comes zeroed, and clear leaves it so. */
static enum syn query_q_counter(struct hca *h, struct call *c)
{
	if (PRM_GET(&c->in, query_q_counter_in, other_vport))
		return SYN_Q_COUNTER_VPORT;
	if (PRM_GET(&c->in, query_q_counter_in, aggregate))
		return SYN_OK;
	if (!obj_find(h, OBJ_Q_COUNTER, (uint32_t)PRM_GET(&c->in, query_q_counter_in, counter_set_id), c->uid))
		return SYN_Q_COUNTER;
	return SYN_OK;
}

const struct hca_op ops_q_counter[] = {
	OP_CTX_ALLOC(ALLOC_Q_COUNTER, alloc_q_counter, &q_counter),
	OP_ROW(QUERY_Q_COUNTER, query_q_counter, OP_PLAIN, query_q_counter),
	OP_OBJ_ROW(DEALLOC_Q_COUNTER, dealloc_q_counter, OP_DESTROY, OBJ_Q_COUNTER, counter_set_id, NULL),
	{ 0 },
};
