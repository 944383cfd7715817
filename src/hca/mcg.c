/* SPDX-License-Identifier: BSD-2-Clause */
/* Multicast groups: an attachment of a queue pair to a group is an object that gid and qpn name; a group is there while it has any. */
#include <stdlib.h>
#include <string.h>

#include "queues.h"

#define GID_LEN 16u

enum { ST_UD = 2 };

struct group {
	struct group *next;
	struct attachment *first; /* at most MCG_QP_MAX */
	uint32_t n;
	uint8_t gid[GID_LEN];
};

struct mcg_table {
	struct group **buckets;
	uint32_t n_buckets, n_groups; /* n_buckets: a power of two */
	uint64_t key;                 /* of this device, so that nobody picks gids that meet in a bucket */
};

#define FIRST_BUCKETS 64u

/* Begins with a cache line. */
static struct group **new_buckets(size_t n)
{
	struct group **b = aligned_alloc(64, n * sizeof(*b));

	if (b)
		memset(b, 0, n * sizeof(*b));
	return b;
}

struct mcg_table *mcg_new(uint64_t key)
{
	struct mcg_table *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->key = key;
	t->n_buckets = FIRST_BUCKETS;
	t->buckets = new_buckets(t->n_buckets);
	if (t->buckets)
		return t;
	free(t);
	return NULL;
}

/* The attachments themselves go with the tables of objects. */
void mcg_free(struct mcg_table *t)
{
	if (!t)
		return;
	mcg_clear(t);
	free(t->buckets);
	free(t);
}

void mcg_clear(struct mcg_table *t)
{
	for (uint32_t i = 0; i < t->n_buckets; i++) {
		for (struct group *g = t->buckets[i], *next; g; g = next) {
			next = g->next;
			free(g);
		}
		t->buckets[i] = NULL;
	}
	t->n_groups = 0;
}

static uint64_t mix(uint64_t z)
{
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* Buckets of one cache line, for gids that differ in the last bits only: programs count groups up. */
#define NEAR_BITS 3u
#define NEAR ((1u << NEAR_BITS) - 1)

static struct group **bucket(const struct mcg_table *t, const uint8_t *gid)
{
	struct prm_box b = prm_in(gid, GID_LEN);
	uint64_t low = prm_get(&b, 64, 64);
	uint64_t hash = mix(mix(t->key ^ prm_get(&b, 0, 64)) ^ low >> NEAR_BITS);

	return &t->buckets[(hash << NEAR_BITS | (low & NEAR)) & (t->n_buckets - 1)];
}

/* The place of the pointer to the group; to NULL when there is no such group. */
static struct group **find_group(const struct mcg_table *t, const uint8_t *gid)
{
	struct group **g = bucket(t, gid);

	while (*g && memcmp((*g)->gid, gid, GID_LEN))
		g = &(*g)->next;
	return g;
}

/* The same in the group. */
static struct attachment **find_attachment(struct group *g, const struct hca_obj *qp)
{
	struct attachment **a = &g->first;

	while (*a && (*a)->obj.links[0] != qp)
		a = &(*a)->next;
	return a;
}

/* Twice the buckets; without memory it stays as it is. */
static void grow(struct mcg_table *t)
{
	struct mcg_table big = { new_buckets(2 * (size_t)t->n_buckets), 2 * t->n_buckets, t->n_groups, t->key };

	if (!big.buckets)
		return;
	for (uint32_t i = 0; i < t->n_buckets; i++) {
		for (struct group *g = t->buckets[i], *next; g; g = next) {
			struct group **to = bucket(&big, g->gid);

			next = g->next;
			g->next = *to;
			*to = g;
		}
	}
	free(t->buckets);
	*t = big;
}

static struct group *new_group(struct mcg_table *t, const uint8_t *gid)
{
	struct group *g = calloc(1, sizeof(*g)), **to;

	if (!g)
		return NULL;
	/* Most buckets stay empty: of many groups, each one that is met on the way is a miss of the caches. */
	if (4 * (uint64_t)t->n_groups >= t->n_buckets)
		grow(t);
	memcpy(g->gid, gid, GID_LEN);
	to = bucket(t, gid);
	g->next = *to;
	*to = g;
	t->n_groups++;
	return g;
}

static void drop_if_empty(struct mcg_table *t, const uint8_t *gid)
{
	struct group **at = find_group(t, gid), *g = *at;

	if (g->first)
		return;
	*at = g->next;
	t->n_groups--;
	free(g);
}

/* Both commands name a queue pair and a gid, at the same places. */
static enum syn parts(struct hca *h, struct call *c, struct hca_obj **qp, const uint8_t **gid)
{
	const struct ctx_place at = CTX_PLACE(attach_to_mcg_in, multicast_gid);

	*gid = c->in.p + at.bit / 8;
	*qp = obj_find(h, OBJ_QP, (uint32_t)PRM_GET(&c->in, attach_to_mcg_in, qpn), c->uid);
	if (!*qp)
		return SYN_QP;
	if (((struct qp *)*qp)->st != ST_UD)
		return SYN_MCG_QP;
	return **gid == 0xff ? SYN_OK : SYN_MCG_GID; /* multicast addresses of IPv6 begin so */
}

/* A queue pair that is attached again gets no packet twice, yet it is detached as often (our choice). */
static enum syn attach(struct hca *h, struct call *c)
{
	struct mcg_table *t = h->mcgs;
	const uint8_t *gid;
	struct attachment *a;
	struct hca_obj *qp;
	struct group *g;
	enum syn syn = parts(h, c, &qp, &gid);

	if (syn != SYN_OK)
		return syn;
	g = *find_group(t, gid);
	a = g ? *find_attachment(g, qp) : NULL;
	if (a) {
		a->times++;
		return SYN_OK;
	}
	if (g ? g->n == MCG_QP_MAX : t->n_groups == 1u << MCG_LOG_MAX)
		return SYN_MCG_LIMIT;
	a = (struct attachment *)obj_new(h, OBJ_MCG, c->uid, &syn);
	if (!a)
		return syn;
	if (!g)
		g = new_group(t, gid);
	if (!g) {
		obj_free(h, &a->obj);
		return SYN_NO_MEMORY;
	}
	obj_link(&a->obj, qp);
	a->times = 1;
	a->next = g->first;
	g->first = a;
	g->n++;
	return SYN_OK;
}

static enum syn detach(struct hca *h, struct call *c)
{
	struct attachment **at, *a;
	const uint8_t *gid;
	struct hca_obj *qp;
	struct group *g;
	enum syn syn = parts(h, c, &qp, &gid);

	if (syn != SYN_OK)
		return syn;
	g = *find_group(h->mcgs, gid);
	at = g ? find_attachment(g, qp) : NULL;
	if (!g || !*at)
		return SYN_MCG;
	a = *at;
	if (--a->times)
		return SYN_OK;
	*at = a->next;
	g->n--;
	obj_free(h, &a->obj);
	drop_if_empty(h->mcgs, gid);
	return SYN_OK;
}

const struct hca_op ops_mcg[] = {
	OP_ROW(ATTACH_TO_MCG, attach_to_mcg, OP_PLAIN, attach),
	OP_ROW(DETACH_FROM_MCG, detach_from_mcg, OP_PLAIN, detach),
	{ 0 },
};
