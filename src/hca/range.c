/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Objects that cover a range of ids: a power of two of them, aligned to it. A range stands in the object table under each of
 * its ids, so that any of them finds the object in the same two loads. What was given back is kept by size, and a larger
 * range is split for a smaller one. Types that share an id space all make ranges, or none does.
 */
#include <stdlib.h>

#include "init.h"
#include "model.h"

static void keep(struct hca *h, enum obj_type type, uint32_t id, unsigned int log)
{
	struct obj_table *t = &h->tables[obj_space(type)];

	*obj_entry(h, type, id) = (void *)((uintptr_t)t->free_range[log] << 1 | 1);
	t->free_range[log] = id;
}

static uint32_t take_kept(struct hca *h, enum obj_type type, unsigned int log)
{
	struct obj_table *t = &h->tables[obj_space(type)];
	uint32_t id = t->free_range[log];

	t->free_range[log] = (uint32_t)((uintptr_t)*obj_entry(h, type, id) >> 1);
	return id;
}

/* From those never used. Every entry must exist before the range is handed out; what alignment skips is kept. 0: *why. */
static uint32_t take_new(struct hca *h, enum obj_type type, unsigned int log, enum syn *why)
{
	const struct obj_class *space = &obj_classes[obj_space(type)];
	struct obj_table *t = &h->tables[obj_space(type)];
	uint32_t n = 1u << log, id;

	if (!t->next)
		t->next = space->first_id;
	id = (t->next + n - 1) & ~(n - 1);
	*why = obj_classes[type].limit;
	if (id > space->max_id || n - 1 > space->max_id - id)
		return 0;
	*why = SYN_NO_MEMORY;
	for (uint32_t i = t->next; i < id + n; i += OBJ_PAGE_IDS - i % OBJ_PAGE_IDS)
		if (!obj_entry(h, type, i))
			return 0;
	while (t->next < id) {
		unsigned int gap = (unsigned int)__builtin_ctz(t->next);

		keep(h, type, t->next, gap);
		t->next += 1u << gap;
	}
	t->next = id + n;
	return id;
}

static uint32_t take(struct hca *h, enum obj_type type, unsigned int log, enum syn *why)
{
	unsigned int have = log;
	uint32_t id;

	while (have < OBJ_RANGE_LOGS && !h->tables[obj_space(type)].free_range[have])
		have++;
	if (have == OBJ_RANGE_LOGS)
		return take_new(h, type, log, why);
	id = take_kept(h, type, have);
	while (have > log) {
		have--;
		keep(h, type, id + (1u << have), have);
	}
	return id;
}

struct hca_obj *obj_new_range(struct hca *h, enum obj_type type, uint16_t uid, unsigned int log, enum syn *why)
{
	uint64_t bytes = ((uint64_t)obj_classes[type].size << log) + h->inlen;
	struct hca_obj *obj = NULL;

	*why = !pages_allow(h) ? SYN_PAGES : !obj_affords(h, bytes) ? SYN_MEMORY_LIMIT : SYN_NO_MEMORY;
	if (*why == SYN_NO_MEMORY)
		obj = obj_alloc(type, uid, 0);
	if (!obj)
		return NULL;
	obj->id = take(h, type, log, why);
	if (!obj->id) {
		free(obj);
		return NULL;
	}
	obj->ranged = true;
	obj->log = log & 0x1f;
	for (uint32_t i = 0; i < 1u << log; i++)
		*obj_entry(h, type, obj->id + i) = obj;
	obj_charge(h, obj, bytes);
	obj_count(h, obj);
	*why = SYN_OK;
	return obj;
}

void obj_give_range(struct hca *h, struct hca_obj *obj)
{
	for (uint32_t i = 0; i < 1u << obj->log; i++)
		*obj_entry(h, obj->type, obj->id + i) = NULL;
	keep(h, obj->type, obj->id, obj->log);
}
