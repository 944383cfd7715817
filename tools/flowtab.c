/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "flowtab.h"

_Static_assert(sizeof(struct flow_key) == 40, "the key is hashed and compared as bytes");

void flowtab_init(struct flowtab *t)
{
	memset(t, 0, sizeof(*t));
	/* A secret, so that nobody can make a capture whose flows all fall into one slot. */
	if (getrandom(t->secret, sizeof(t->secret), 0) != (ssize_t)sizeof(t->secret))
		t->secret[0] = (uint64_t)time(NULL) ^ (uintptr_t)t;
}

void flowtab_fini(struct flowtab *t)
{
	free(t->flows);
	free(t->slots);
	memset(t, 0, sizeof(*t));
}

static uint64_t rotl(uint64_t x, unsigned int n)
{
	return x << n | x >> (64 - n);
}

static void sip_round(uint64_t v[4])
{
	v[0] += v[1];
	v[1] = rotl(v[1], 13) ^ v[0];
	v[0] = rotl(v[0], 32);
	v[2] += v[3];
	v[3] = rotl(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = rotl(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = rotl(v[1], 17) ^ v[2];
	v[2] = rotl(v[2], 32);
}

/* SipHash-1-3 over the five words of a key; the length is the same for all, so it is left out. */
static uint64_t hash(const struct flowtab *t, const struct flow_key *key)
{
	uint64_t words[5], v[4] = {
		t->secret[0] ^ UINT64_C(0x736f6d6570736575), t->secret[1] ^ UINT64_C(0x646f72616e646f6d),
		t->secret[0] ^ UINT64_C(0x6c7967656e657261), t->secret[1] ^ UINT64_C(0x7465646279746573),
	};

	memcpy(words, key, sizeof(words));
	for (int i = 0; i < 5; i++) {
		v[3] ^= words[i];
		sip_round(v);
		v[0] ^= words[i];
	}
	v[2] ^= 0xff;
	for (int i = 0; i < 3; i++)
		sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* The slot where the key is, or where it belongs. At most half of the slots are used, so there is always a free one. */
static uint32_t find_slot(const struct flowtab *t, const struct flow_key *key)
{
	uint32_t at = (uint32_t)hash(t, key) & (t->n_slots - 1);

	while (t->slots[at] && memcmp(&t->flows[t->slots[at] - 1].key, key, sizeof(*key)))
		at = (at + 1) & (t->n_slots - 1);
	return at;
}

static bool grow(struct flowtab *t)
{
	uint32_t room = t->room ? t->room * 2 : 1024;
	struct flow *flows;
	uint32_t *slots;

	if (room > UINT32_C(1) << 30)
		return false;
	flows = realloc(t->flows, room * sizeof(*flows));
	if (!flows)
		return false;
	t->flows = flows;
	slots = calloc((size_t)room * 2, sizeof(*slots));
	if (!slots)
		return false;
	free(t->slots);
	t->slots = slots;
	t->n_slots = room * 2;
	t->room = room;
	for (uint32_t i = 0; i < t->n; i++)
		t->slots[find_slot(t, &t->flows[i].key)] = i + 1;
	return true;
}

uint32_t flowtab_get(struct flowtab *t, const struct flow_key *key, bool *is_new)
{
	uint32_t at;

	*is_new = false;
	if (t->n == t->room && !grow(t))
		return FLOWTAB_NONE;
	at = find_slot(t, key);
	if (!t->slots[at]) {
		*is_new = true;
		t->flows[t->n] = (struct flow){ .key = *key };
		t->slots[at] = ++t->n;
	}
	return t->slots[at] - 1;
}
