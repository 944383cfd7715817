/* SPDX-License-Identifier: BSD-2-Clause */
#include <sys/mman.h>

#include "device.h"
#include "pool.h"

#define FIRST_CHUNK (16u << 10)
#define LAST_CHUNK (256u << 10)

struct pool_chunk {
	struct pool_chunk *next;
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

static bool grow(struct pool *p, size_t need)
{
	size_t size = p->next_chunk ? p->next_chunk : FIRST_CHUNK;
	struct pool_chunk *c;

	while (size < need + sizeof(*c))
		size *= 2;
	c = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (c == MAP_FAILED)
		return false;
	c->next = p->chunks;
	c->size = size;
	p->chunks = c;
	p->at = (char *)(c + 1);
	p->end = (char *)c + size;
	if (size < LAST_CHUNK)
		p->next_chunk = size * 2;
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
	while (p->chunks) {
		struct pool_chunk *c = p->chunks;

		p->chunks = c->next;
		munmap(c, c->size);
	}
	*p = (struct pool){ .at = NULL };
}
