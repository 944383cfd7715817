/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Handles from memory that is never unmapped and never used for anything else: whether a pointer is a handle of ours is a
 * comparison of addresses, and a stale one can be looked at without danger.
 */
#ifndef ODX_SLAB_H
#define ODX_SLAB_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct slab {
	size_t stride;         /* bytes of one handle */
	size_t reserve;        /* bytes of address space wanted; less is taken when there is less */
	pthread_mutex_t lock;
	char *base;            /* read without the lock: set once */
	size_t size;           /* bytes reserved */
	size_t committed;      /* bytes that may be touched; grows only; read without the lock */
	size_t used;           /* bytes ever handed out */
	void **free_head, **free_tail; /* oldest first: a stale handle stays recognisable as long as possible */
};

#define SLAB_INIT(type, room) { .stride = sizeof(type), .reserve = (room), .lock = PTHREAD_MUTEX_INITIALIZER }

/*
 * A handle. A fresh one is zeroed; a reused one is as slab_free() left it, but for the last pointer-sized word, which the slab
 * uses. NULL + errno ENOMEM.
 */
void *slab_alloc(struct slab *s);
void slab_free(struct slab *s, void *p);
/* For any pointer: was it handed out by this slab, now or once? On the way of each command. */
static inline bool slab_owns(const struct slab *s, const void *p)
{
	/* Before there is a base nothing is used; below the base, the difference is larger than any size. */
	uintptr_t at = (uintptr_t)p - (uintptr_t)__atomic_load_n(&s->base, __ATOMIC_ACQUIRE);

	return at < __atomic_load_n(&s->used, __ATOMIC_ACQUIRE) && at % s->stride == 0;
}

/* The same where the stride is a power of two that the compiler knows. */
static inline bool slab_owns_aligned(const struct slab *s, const void *p, size_t stride)
{
	uintptr_t at = (uintptr_t)p - (uintptr_t)__atomic_load_n(&s->base, __ATOMIC_ACQUIRE);

	return at < __atomic_load_n(&s->used, __ATOMIC_ACQUIRE) && !(at & (stride - 1));
}

/* Handles by number: of one that was handed out; and back, NULL when no handle has that number yet. */
uint64_t slab_place(const struct slab *s, const void *p);
void *slab_at(const struct slab *s, uint64_t place);

#endif
