/* SPDX-License-Identifier: BSD-2-Clause */
/* Flow counters: single ones and bulks, which are ranges of ids (range.c). */
#include <stdlib.h>

#include "types.h"

static unsigned int log2_of(uint32_t n)
{
	return 31 - (unsigned int)__builtin_clz(n);
}

/* log2 of the number of counters that the inbox asks for; -1: not a size that the device offers. */
static int wanted_log(struct call *c)
{
	uint32_t bulk = (uint32_t)PRM_GET(&c->in, alloc_flow_counter_in, flow_counter_bulk);
	uint32_t log = (uint32_t)PRM_GET(&c->in, alloc_flow_counter_in, flow_counter_bulk_log_size);

	if (!bulk)
		return log > FLOW_COUNTER_LOG_MAX ? -1 : (int)log;
	if (log || bulk & (bulk - 1))
		return -1;
	return 7 + (int)log2_of(bulk); /* bit n: 128 * 2^n */
}

void flow_counter_fini(struct hca_obj *obj)
{
	struct flow_counter *fc = (struct flow_counter *)obj;

	if (fc->values != &fc->one)
		free(fc->values);
}

static enum syn alloc_flow_counter(struct hca *h, struct call *c)
{
	uint32_t pdn = (uint32_t)PRM_GET(&c->in, alloc_flow_counter_in, pd);
	struct hca_obj *pd = pdn ? obj_find(h, OBJ_PD, pdn, c->uid) : NULL;
	int log = wanted_log(c);
	struct flow_counter *fc;
	enum syn why;

	if (log < 0)
		return SYN_COUNTER_BULK;
	if (pdn && !pd)
		return SYN_PD;
	fc = (struct flow_counter *)obj_new_range(h, OBJ_FLOW_COUNTER, c->uid, (unsigned int)log, &why);
	if (!fc)
		return why;
	fc->n = 1u << log;
	fc->values = log ? calloc(fc->n, sizeof(*fc->values)) : &fc->one;
	if (!fc->values) {
		obj_free(h, &fc->obj);
		return SYN_NO_MEMORY;
	}
	if (pd)
		obj_link(&fc->obj, pd);
	PRM_SET(&c->out, alloc_flow_counter_out, flow_counter_id, fc->obj.id);
	return SYN_OK;
}

static enum syn dealloc_flow_counter(struct hca *h, struct call *c)
{
	return PRM_GET(&c->in, dealloc_flow_counter_in, flow_counter_id) == c->obj->id ? SYN_OK : SYN_COUNTER_BASE;
}

#define STAT_SZ PRM_SZ(traffic_counter)

static void put_counter(struct prm_box *b, const struct counter *v)
{
	PRM_SET(b, traffic_counter, packets, v->packets);
	PRM_SET(b, traffic_counter, octets, v->octets);
}

/* To memory in pieces, so that no bulk needs a buffer of its own size. */
static enum syn dump(struct hca *h, struct call *c, const struct counter *v, uint32_t n)
{
	uint32_t mkey = (uint32_t)PRM_GET(&c->in, query_flow_counter_in, mkey);
	uint64_t addr = PRM_GET(&c->in, query_flow_counter_in, address);
	uint8_t buf[256 * STAT_SZ];

	/* The whole range first: a refused command writes nothing. */
	enum syn syn = mkey_check_write(h, mkey, c->uid, addr, (uint64_t)n * STAT_SZ);

	while (syn == SYN_OK && n) {
		uint32_t part = n < 256 ? n : 256;

		for (uint32_t i = 0; i < part; i++) {
			struct prm_box b = prm_out(buf + i * STAT_SZ, STAT_SZ);

			put_counter(&b, &v[i]);
		}
		syn = mkey_write(h, mkey, c->uid, addr, buf, part * STAT_SZ);
		addr += part * STAT_SZ;
		v += part;
		n -= part;
	}
	return syn;
}

static enum syn query_flow_counter(struct hca *h, struct call *c)
{
	struct flow_counter *fc = (struct flow_counter *)c->obj;
	uint32_t first = (uint32_t)PRM_GET(&c->in, query_flow_counter_in, flow_counter_id);
	uint32_t n = (uint32_t)PRM_GET(&c->in, query_flow_counter_in, num_of_counters);
	uint32_t at = first - fc->obj.id;
	enum syn syn;

	if (!n)
		n = 1;
	if (n > fc->n - at)
		return SYN_COUNTER_RANGE;
	if (PRM_GET(&c->in, query_flow_counter_in, dump_to_memory)) {
		/* The firmware's rule that DPDK met: commit e1293b10de. */
		if (first % 4)
			return SYN_COUNTER_ALIGN;
		syn = dump(h, c, &fc->values[at], n);
		if (syn != SYN_OK)
			return syn;
	} else {
		if ((c->out.len - PRM_SZ(query_flow_counter_out)) / STAT_SZ < n)
			return SYN_COUNTER_OUT;
		for (uint32_t i = 0; i < n; i++) {
			struct prm_box b = prm_out(c->out.p + PRM_SZ(query_flow_counter_out) + i * STAT_SZ, STAT_SZ);

			put_counter(&b, &fc->values[at + i]);
		}
	}
	if (PRM_GET(&c->in, query_flow_counter_in, clear))
		for (uint32_t i = 0; i < n; i++)
			fc->values[at + i] = (struct counter){ 0 };
	return SYN_OK;
}

bool hca_traffic(struct hca *h, uint32_t id, uint64_t packets, uint64_t octets)
{
	struct flow_counter *fc = (struct flow_counter *)obj_in_entry(obj_peek(h, OBJ_FLOW_COUNTER, id));

	if (!fc)
		return false;
	fc->values[id - fc->obj.id].packets += packets;
	fc->values[id - fc->obj.id].octets += octets;
	return true;
}

const struct hca_op ops_flow_counter[] = {
	OP_ROW(ALLOC_FLOW_COUNTER, alloc_flow_counter, OP_PLAIN, alloc_flow_counter),
	OP_OBJ_ROW(QUERY_FLOW_COUNTER, query_flow_counter, OP_ON, OBJ_FLOW_COUNTER, flow_counter_id, query_flow_counter),
	OP_OBJ_ROW(DEALLOC_FLOW_COUNTER, dealloc_flow_counter, OP_DESTROY, OBJ_FLOW_COUNTER, flow_counter_id,
		   dealloc_flow_counter),
	{ 0 },
};
