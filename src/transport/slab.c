/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "slab.h"

#define STEP (64u << 10) /* bytes committed at a time */

static void **link_of(const struct slab *s, void *p)
{
	return (void **)((char *)p + s->stride - sizeof(void *));
}

/*
 * Address space only: pages become memory when they are committed. Under RLIMIT_AS no more than a 64th of the limit, because
 * the rest is the program's; less than wanted is better than none.
 */
static bool reserve(struct slab *s)
{
	size_t want = s->reserve;
	struct rlimit limit;

	if (!getrlimit(RLIMIT_AS, &limit) && limit.rlim_cur != RLIM_INFINITY)
		while (want > STEP && want > limit.rlim_cur / 64)
			want /= 2;
	for (size_t size = want; size >= STEP; size /= 2) {
		void *p = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (p != MAP_FAILED) {
			s->size = size;
			__atomic_store_n(&s->base, p, __ATOMIC_RELEASE);
			return true;
		}
	}
	return false;
}

static bool commit(struct slab *s)
{
	if (s->size - s->committed < STEP)
		return false;
	if (mprotect(s->base + s->committed, STEP, PROT_READ | PROT_WRITE))
		return false;
	__atomic_store_n(&s->committed, s->committed + STEP, __ATOMIC_RELEASE);
	return true;
}

void *slab_alloc(struct slab *s)
{
	void *p = NULL;

	pthread_mutex_lock(&s->lock);
	if (s->free_head) {
		p = (char *)s->free_head - s->stride + sizeof(void *);
		s->free_head = *s->free_head;
	} else if ((s->base || reserve(s)) && (s->used + s->stride <= s->committed || commit(s))) {
		p = s->base + s->used;
		__atomic_store_n(&s->used, s->used + s->stride, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&s->lock);
	if (!p)
		errno = ENOMEM;
	return p;
}

void slab_free(struct slab *s, void *p)
{
	void **link = link_of(s, p);

	*link = NULL;
	pthread_mutex_lock(&s->lock);
	if (s->free_head)
		*s->free_tail = link;
	else
		s->free_head = link;
	s->free_tail = link;
	pthread_mutex_unlock(&s->lock);
}

uint64_t slab_place(const struct slab *s, const void *p)
{
	return (uint64_t)((const char *)p - s->base) / s->stride;
}

void *slab_at(const struct slab *s, uint64_t place)
{
	char *base = __atomic_load_n(&s->base, __ATOMIC_ACQUIRE);

	return base && place < __atomic_load_n(&s->used, __ATOMIC_ACQUIRE) / s->stride ? base + place * s->stride : NULL;
}
