/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Matching: a group looks a packet up by the words that its mask selects, in one hash table, so the cost is that of the
 * groups of a table and not of their entries. Entries of one masked value lie side by side, the lowest index first.
 */
#include <stdlib.h>
#include <string.h>

#include "steer.h"

struct sparse *sparse_new(const struct steer *st, const uint8_t *bytes, unsigned int more_words)
{
	struct image all;
	struct sparse *s;
	unsigned int n = 0;
	uint64_t present = 0;

	memcpy(all.byte, bytes, sizeof(all.byte));
	for (unsigned int i = 0; i < IMAGE_WORDS; i++) {
		all.word[i] &= st->defined.word[i];
		present |= (uint64_t)(all.word[i] != 0) << i;
		n += all.word[i] != 0;
	}
	s = malloc(sizeof(*s) + (n + more_words) * sizeof(s->word[0]));
	if (!s)
		return NULL;
	s->present = present;
	n = 0;
	for (unsigned int i = 0; i < IMAGE_WORDS; i++)
		if (all.word[i])
			s->word[n++] = all.word[i];
	return s;
}

void sparse_put(const struct sparse *s, uint8_t *bytes)
{
	unsigned int n = 0;

	for (uint64_t left = s->present; left; left &= left - 1)
		memcpy(bytes + (unsigned int)__builtin_ctzll(left) * 8, &s->word[n++], 8);
}

static uint64_t word_of(const struct sparse *s, unsigned int i)
{
	uint64_t bit = UINT64_C(1) << i;

	return s->present & bit ? s->word[__builtin_popcountll(s->present & (bit - 1))] : 0;
}

bool match_unknown(const struct steer *s, const struct sparse *mask, uint64_t used)
{
	for (uint64_t left = used; left; left &= left - 1) {
		unsigned int i = (unsigned int)__builtin_ctzll(left);

		if (word_of(mask, i) & ~s->known.word[i])
			return true;
	}
	return false;
}

static int group_cmp(const struct tree_node *n, const void *key)
{
	uint32_t start = TREE_ENTRY(n, struct flow_group, by_start)->start, want = *(const uint32_t *)key;

	return (start > want) - (start < want);
}

struct flow_group *flow_group_before(const struct flow_table *t, uint32_t index)
{
	struct tree_node *n = tree_floor(&t->groups, group_cmp, &index);

	return n ? TREE_ENTRY(n, struct flow_group, by_start) : NULL;
}

void flow_group_insert(struct steer *s, struct flow_group *g)
{
	struct flow_group *before = flow_group_before(g->table, g->start);

	g->prev = before;
	g->next = before ? before->next : g->table->first;
	if (g->next)
		g->next->prev = g;
	if (before)
		before->next = g;
	else
		g->table->first = g;
	tree_insert(&g->table->groups, &g->by_start, group_cmp, &g->start, &s->seed);
}

void flow_group_remove(struct flow_group *g)
{
	if (g->next)
		g->next->prev = g->prev;
	if (g->prev)
		g->prev->next = g->next;
	else
		g->table->first = g->next;
	tree_remove(&g->table->groups, &g->by_start, group_cmp, &g->start);
}

#define PAGE_BITS 9
#define PAGE_ENTRIES (1u << PAGE_BITS)

static uint32_t n_pages(const struct flow_group *g)
{
	return ((g->end - g->start) >> PAGE_BITS) + 1;
}

struct flow_entry **flow_entry_slot(struct flow_group *g, uint32_t index, bool make)
{
	uint32_t at = index - g->start;
	struct flow_entry ***page;

	if (!g->pages && (!make || !(g->pages = calloc(n_pages(g), sizeof(*g->pages)))))
		return NULL;
	page = &g->pages[at >> PAGE_BITS];
	if (!*page && (!make || !(*page = calloc(PAGE_ENTRIES, sizeof(**page)))))
		return NULL;
	return &(*page)[at & (PAGE_ENTRIES - 1)];
}

void flow_group_fini(struct hca_obj *obj)
{
	struct flow_group *g = (struct flow_group *)obj;

	for (uint32_t i = 0; g->pages && i < n_pages(g); i++)
		free(g->pages[i]);
	free(g->pages);
	free(g->buckets);
	free(g->mask);
}

/* Of all of a group's words in a row. */
static unsigned int key_words(const struct flow_group *g)
{
	return (unsigned int)__builtin_popcountll(g->used);
}

static uint64_t mix(uint64_t a, uint64_t b)
{
	__uint128_t m = (__uint128_t)(a ^ UINT64_C(0xa0761d6478bd642f)) * (b ^ UINT64_C(0xe7037ed1a0b428db));

	return (uint64_t)m ^ (uint64_t)(m >> 64);
}

static uint64_t hash_of(const struct steer *s, const uint64_t *key, unsigned int n)
{
	uint64_t h = s->secret;

	for (unsigned int i = 0; i < n; i++)
		h = mix(h ^ key[i], s->secret + i);
	return mix(h, n);
}

struct wanted {
	uint64_t hash;
	const uint64_t *key;
	unsigned int words;
	uint32_t index;
};

static int entry_cmp(const struct tree_node *n, const void *key)
{
	const struct flow_entry *e = TREE_ENTRY(n, struct flow_entry, node);
	const struct wanted *w = key;
	int c;

	if (e->hash != w->hash)
		return e->hash > w->hash ? 1 : -1;
	c = memcmp(e->key, w->key, w->words * sizeof(*w->key));
	return c ? c : (e->index > w->index) - (e->index < w->index);
}

static struct wanted wanted_of(const struct flow_entry *e)
{
	return (struct wanted){ .hash = e->hash, .key = e->key, .words = key_words(e->group), .index = e->index };
}

#define BUCKETS_FIRST 8u

static void rehash(struct steer *s, struct tree_node *n, struct tree *to, uint32_t mask)
{
	struct tree_node *left, *right;
	struct wanted w;

	if (!n)
		return;
	left = n->child[0];
	right = n->child[1];
	w = wanted_of(TREE_ENTRY(n, struct flow_entry, node));
	tree_insert(&to[w.hash & mask], n, entry_cmp, &w, &s->seed);
	rehash(s, left, to, mask);
	rehash(s, right, to, mask);
}

/* Without memory the buckets stay as they are and only get longer. */
static void grow(struct steer *s, struct flow_group *g)
{
	uint32_t n = g->n_buckets * 2;
	struct tree *to = calloc(n, sizeof(*to));

	if (!to)
		return;
	for (uint32_t i = 0; i < g->n_buckets; i++)
		rehash(s, g->buckets[i].root, to, n - 1);
	free(g->buckets);
	g->buckets = to;
	g->n_buckets = n;
}

uint64_t flow_value_key(const struct steer *s, const struct flow_group *g, struct sparse *value, const uint64_t **out)
{
	uint64_t *key = &value->word[__builtin_popcountll(value->present)], hash;
	unsigned int n = 0, i = 0;

	for (uint64_t left = g->mask->present; left; left &= left - 1, i++) {
		unsigned int at = (unsigned int)__builtin_ctzll(left);

		if (g->used >> at & 1)
			key[n++] = word_of(value, at) & g->mask->word[i];
	}
	*out = key;
	hash = hash_of(s, key, n);
	if (g->buckets)
		__builtin_prefetch(&g->buckets[hash & (g->n_buckets - 1)], 1);
	return hash;
}

bool flow_entry_insert(struct steer *s, struct flow_entry *e)
{
	struct flow_group *g = e->group;
	struct wanted w = wanted_of(e);

	if (!g->buckets) {
		g->buckets = calloc(BUCKETS_FIRST, sizeof(*g->buckets));
		if (!g->buckets)
			return false;
		g->n_buckets = BUCKETS_FIRST;
	}
	/* Most buckets stay empty: of many entries, each one that is met on the way is a miss of the caches. */
	if (4 * (uint64_t)g->n_entries >= g->n_buckets)
		grow(s, g);
	tree_insert(&g->buckets[e->hash & (g->n_buckets - 1)], &e->node, entry_cmp, &w, &s->seed);
	g->n_entries++;
	return true;
}

void flow_entry_remove(struct flow_entry *e)
{
	struct flow_group *g = e->group;
	struct wanted w = wanted_of(e);

	tree_remove(&g->buckets[e->hash & (g->n_buckets - 1)], &e->node, entry_cmp, &w);
	g->n_entries--;
}

struct flow_entry *flow_group_match(const struct steer *s, const struct flow_group *g, const struct image *image)
{
	uint64_t key[IMAGE_WORDS];
	unsigned int n = 0, i = 0;
	struct wanted w = { .key = key };
	struct tree_node *node;
	struct flow_entry *e;

	if (!g->n_entries)
		return NULL;
	for (uint64_t left = g->mask->present; left; left &= left - 1, i++) {
		unsigned int at = (unsigned int)__builtin_ctzll(left);

		if (g->used >> at & 1)
			key[n++] = image->word[at] & g->mask->word[i];
	}
	w.words = n;
	w.hash = hash_of(s, key, n);
	node = tree_ceiling(&g->buckets[w.hash & (g->n_buckets - 1)], entry_cmp, &w);
	e = node ? TREE_ENTRY(node, struct flow_entry, node) : NULL;
	return e && e->hash == w.hash && !memcmp(e->key, key, n * sizeof(*key)) ? e : NULL;
}
