/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory for the commands of one completion. What was once taken is kept until the completion is destroyed, so that past the
 * high-water mark nothing is allocated. The completion's lock guards it.
 */
#ifndef SOFT_POOL_H
#define SOFT_POOL_H

#include <stddef.h>

struct soft_cmd;

#define POOL_FINE 32u   /* classes of 16 bytes up to 512, then eight to a doubling, up to 64 KiB */
#define POOL_CLASSES (POOL_FINE + 7 * 8)

struct pool {
	struct soft_cmd *free[POOL_CLASSES];
	char *base;        /* the newest chunk of address space */
	size_t size;
	unsigned int n_chunks;
	char *at, *end;    /* what is left of the newest chunk's memory */
};

/* A command with room for box bytes (at most 65,536); NULL: no memory. Not zeroed. */
struct soft_cmd *pool_get(struct pool *p, size_t box);
void pool_put(struct pool *p, struct soft_cmd *cmd, size_t box); /* the same box */
void pool_destroy(struct pool *p);

#endif
