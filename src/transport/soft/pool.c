/* SPDX-License-Identifier: BSD-2-Clause */
#include <sys/mman.h>

#include "device.h"
#include "pool.h"

#define CHUNK ((size_t)8 << 20) /* address space reserved at a time */
#define PAGE ((size_t)4096)

/* At the start of each chunk but the first: what to unmap besides. */
struct pool_chunk {
	char *base;
	size_t size;
};

/* The class of a box, and how many bytes the class holds. */
static unsigned int class_of(size_t box, size_t *bytes)
{
	unsigned int log, eighth;

	if (box <= 512) {
		*bytes = (box + 15) & ~(size_t)15;
		return box ? (unsigned int)(*bytes / 16) - 1 : 0;
	}
	log = 63 - (unsigned int)__builtin_clzll(box - 1); /* 512 << (log - 9) < box <= twice that */
	eighth = (unsigned int)((box - 1) >> (log - 3)) & 7;
	*bytes = ((size_t)1 << log) + ((size_t)(eighth + 1) << (log - 3));
	return POOL_FINE + (log - 9) * 8 + eighth;
}

static size_t pages(size_t bytes)
{
	return (bytes + PAGE - 1) & ~(PAGE - 1);
}

/* Address space for one more chunk. Less than wanted is better than none (RLIMIT_AS). */
static bool reserve(struct pool *p, size_t need)
{
	size_t header = p->base ? sizeof(struct pool_chunk) : 0, first = pages(need + header);

	for (size_t size = CHUNK; size >= first; size /= 2) {
		char *base = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (base == MAP_FAILED)
			continue;
		if (mprotect(base, first, PROT_READ | PROT_WRITE)) {
			munmap(base, size);
			return false;
		}
		if (header)
			*(struct pool_chunk *)base = (struct pool_chunk){ .base = p->base, .size = p->size };
		p->base = base;
		p->size = size;
		p->at = base + header;
		p->end = base + first;
		p->n_chunks++;
		return true;
	}
	return false;
}

/*
 * Commands lie without gaps: a chunk grows where it is, by no more than the command needs, in pages. It happens only below the
 * high-water mark, so that many small steps cost little over time and nothing lies idle.
 */
static bool grow(struct pool *p, size_t need)
{
	size_t committed = (size_t)(p->end - p->base), step = pages(need - (size_t)(p->end - p->at));

	if (p->size - committed < step)
		return reserve(p, need);
	if (mprotect(p->end, step, PROT_READ | PROT_WRITE))
		return false;
	p->end += step;
	return true;
}

struct soft_cmd *pool_get(struct pool *p, size_t box)
{
	size_t bytes, need;
	unsigned int class = class_of(box, &bytes);
	struct soft_cmd *cmd = p->free[class];

	if (cmd) {
		p->free[class] = (struct soft_cmd *)cmd->hca.next;
		return cmd;
	}
	need = sizeof(*cmd) + (bytes ? bytes : 16);
	if ((size_t)(p->end - p->at) < need && !grow(p, need))
		return NULL;
	cmd = (struct soft_cmd *)p->at;
	p->at += need;
	return cmd;
}

void pool_put(struct pool *p, struct soft_cmd *cmd, size_t box)
{
	size_t bytes;
	unsigned int class = class_of(box, &bytes);

	cmd->hca.next = (struct hca_cmd *)p->free[class];
	p->free[class] = cmd;
}

void pool_destroy(struct pool *p)
{
	while (p->n_chunks) {
		struct pool_chunk older = { .base = NULL };

		if (--p->n_chunks)
			older = *(struct pool_chunk *)p->base;
		munmap(p->base, p->size);
		p->base = older.base;
		p->size = older.size;
	}
	*p = (struct pool){ .at = NULL };
}
