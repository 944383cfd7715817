/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packet pacing: a table of rates, which send queues name by index. Nothing is sent, so that a rate is kept and checked only. Who uses
 * one does not hold it: Linux takes a rate away while a queue that it stops still has its index (drivers/infiniband/hw/mlx5/qp.c).
 */
#include <string.h>

#include "caps.h"
#include "queues.h"

static enum syn set_rate_limit(struct hca *h, struct call *c)
{
	struct prm_box ctx = PRM_SUB(&c->in, set_pp_rate_limit_in, ctx);
	uint64_t index = PRM_GET(&c->in, set_pp_rate_limit_in, rate_limit_index);
	uint32_t rate = (uint32_t)PRM_GET(&ctx, set_pp_rate_limit_context, rate_limit);
	struct rate_limit *r;

	if (!HCA_CAP(h, QOS, qos_cap, packet_pacing))
		return SYN_BAD_OP;
	if (!index || index >= RATE_LIMITS)
		return SYN_RATE_INDEX;
	r = &h->rates[index];
	if (r->rate && c->uid && r->uid != c->uid)
		return SYN_RATE_UID;
	/* 0 takes the entry away. */
	if (rate && (rate < RATE_KBPS_MIN || rate > RATE_KBPS_MAX))
		return SYN_RATE;
	*r = (struct rate_limit){ .rate = rate, .uid = c->uid };
	return SYN_OK;
}

bool rate_limit_exists(const struct hca *h, uint16_t uid, uint32_t index)
{
	const struct rate_limit *r = &h->rates[index < RATE_LIMITS ? index : 0];

	return r->rate && (r->uid == uid || !r->uid || !uid);
}

void rate_limits_clear(struct hca *h)
{
	memset(h->rates, 0, sizeof(h->rates));
}

const struct hca_op ops_pacing[] = {
	OP_ROW(SET_PP_RATE_LIMIT, set_pp_rate_limit, OP_PLAIN, set_rate_limit),
	{ 0 },
};
