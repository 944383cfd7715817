/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pages of the host that a bare device is given: QUERY_PAGES, MANAGE_PAGES, and the events that ask for more or give back.
 * An address is looked up by hash, so that giving the same page twice is seen.
 */
#include <stdlib.h>
#include <string.h>

#include "events.h"
#include "init.h"

/* Linux, include/linux/mlx5/mlx5_ifc.h: MLX5_QUERY_PAGES_IN_OP_MOD_*, MLX5_MANAGE_PAGES_IN_OP_MOD_*. */
enum { QUERY_BOOT = 1, QUERY_INIT = 2, QUERY_REGULAR = 3 };
enum { PAGES_CANNOT = 0, PAGES_GIVE = 1, PAGES_TAKE_BACK = 2 };

#define FIRST_ROOM 128u

/* Mixed with where the table lies, which a guest does not know: else it could give addresses that all have one place. */
static uint32_t hash(const struct pages *p, uint64_t addr)
{
	uint64_t z = addr ^ p->secret;

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t)(z ^ z >> 31) & (p->room * 2 - 1);
}

/* The place of an address, or the empty one where it belongs. */
static uint32_t *place(const struct pages *p, uint64_t addr)
{
	uint32_t i = hash(p, addr);

	while (p->places[i] && p->given[p->places[i] - 1] != addr)
		i = (i + 1) & (p->room * 2 - 1);
	return &p->places[i];
}

static bool make_room(struct pages *p, uint32_t n)
{
	uint32_t room = p->room ? p->room : FIRST_ROOM, *places;
	uint64_t *given;

	while (room < n)
		room *= 2;
	if (room == p->room)
		return true;
	places = calloc(room * 2, sizeof(*places));
	given = places ? realloc(p->given, room * sizeof(*given)) : NULL;
	if (!given) {
		free(places);
		return false;
	}
	free(p->places);
	p->places = places;
	p->given = given;
	p->room = room;
	for (uint32_t i = 0; i < p->n; i++)
		*place(p, given[i]) = i + 1;
	return true;
}

/* The last one. Those that follow its place move up, so that a search never meets a gap. */
static uint64_t take_last(struct pages *p)
{
	uint64_t addr = p->given[p->n - 1];
	uint32_t mask = p->room * 2 - 1, hole = (uint32_t)(place(p, addr) - p->places);

	for (uint32_t i = (hole + 1) & mask; p->places[i]; i = (i + 1) & mask) {
		uint32_t home = hash(p, p->given[p->places[i] - 1]);

		if (((i - home) & mask) < ((i - hole) & mask))
			continue;
		p->places[hole] = p->places[i];
		hole = i;
	}
	p->places[hole] = 0;
	p->n--;
	return addr;
}

void pages_forget(struct pages *p)
{
	free(p->given);
	free(p->places);
	*p = (struct pages){ .low = PAGES_LOW, .secret = (uintptr_t)p * UINT64_C(0x9e3779b97f4a7c15) };
}

struct hca_usage hca_usage(const struct hca *h)
{
	return (struct hca_usage){ .objects = h->n_objs, .pages = h->init ? h->init->pages.n : 0, .memory = h->charged };
}

uint32_t pages_in_use(const struct hca *h)
{
	if (h->init->state != INIT_READY)
		return 0;
	return PAGES_OWN + (h->n_objs + OBJECTS_PER_PAGE - 1) / OBJECTS_PER_PAGE;
}

static uint32_t pages_free(const struct hca *h)
{
	uint32_t used = pages_in_use(h);

	return h->init->pages.n > used ? h->init->pages.n - used : 0;
}

bool pages_missing(const struct hca *h)
{
	return h->init->pages.n < PAGES_BOOT + PAGES_INIT;
}

bool pages_allow(const struct hca *h)
{
	return !h->init || pages_free(h) || h->n_objs % OBJECTS_PER_PAGE;
}

static void tell(struct hca *h, int32_t n)
{
	struct hca_event ev;
	struct prm_box data = event_new(&ev, EVENT_PAGE_REQUEST, 0);

	PRM_SET(&data, pages_req_event, num_pages, (uint32_t)n);
	hca_raise(h, &ev, 0);
}

/* What is missing until free pages are as many as they should be at least, in whole steps; negative: what is too much. */
static int32_t wish(const struct hca *h)
{
	uint32_t n = pages_free(h);

	if (n < h->init->pages.low && h->init->pages.n + PAGES_STEP <= PAGES_MAX)
		return PAGES_STEP;
	return n > PAGES_HIGH ? -(int32_t)PAGES_STEP : 0;
}

void pages_watch(struct hca *h)
{
	struct pages *p = &h->init->pages;
	int32_t n = h->init->state == INIT_READY ? wish(h) : 0;

	if (!n || (n > 0 ? p->asked : p->told) || !eqs_hear(h, EVENT_PAGE_REQUEST))
		return;
	*(n > 0 ? &p->asked : &p->told) = true;
	tell(h, n);
}

static enum syn query_pages(struct hca *h, struct call *c)
{
	const struct pages *p = &h->init->pages;
	uint32_t want = PAGES_BOOT;

	if (PRM_GET(&c->in, query_pages_in, function_id))
		return SYN_CAP_FUNCTION;
	if (c->op_mod < QUERY_BOOT || c->op_mod > QUERY_REGULAR)
		return SYN_OP_MOD;
	if (c->op_mod == QUERY_INIT)
		want += PAGES_INIT;
	if (c->op_mod == QUERY_REGULAR)
		want = h->init->state == INIT_READY ? p->n + (uint32_t)wish(h) : p->n;
	/* Only the last one may be negative: what is left over after the boot is told by it. */
	PRM_SET(&c->out, query_pages_out, num_pages, want > p->n || c->op_mod == QUERY_REGULAR ? want - p->n : 0);
	return SYN_OK;
}

static uint64_t entry(struct call *c, uint32_t i)
{
	return prm_get(&c->in, PRM_SZ(manage_pages_in) * 8 + i * 64, 64);
}

/* All of them or none. */
static enum syn give(struct hca *h, struct call *c, uint32_t n)
{
	struct pages *p = &h->init->pages;
	enum syn syn = SYN_OK;
	uint32_t i;

	if (n > (c->in.len - PRM_SZ(manage_pages_in)) / sizeof(uint64_t))
		return SYN_PAGES_LIST;
	if (n > PAGES_MAX - p->n)
		return SYN_PAGES_MANY;
	if (!make_room(p, p->n + n))
		return SYN_NO_MEMORY;
	for (i = 0; i < n && syn == SYN_OK; i++) {
		uint64_t addr = entry(c, i);

		if (!addr || addr % PAGE_BYTES) {
			syn = SYN_PAGES_ADDRESS;
		} else if (*place(p, addr)) {
			syn = SYN_PAGES_TWICE;
		} else {
			p->given[p->n] = addr;
			*place(p, addr) = ++p->n;
		}
	}
	if (syn != SYN_OK) {
		while (--i)
			take_last(p);
		return syn;
	}
	p->asked = p->asked && !n;
	p->low = PAGES_LOW;
	return SYN_OK;
}

static enum syn take_back(struct hca *h, struct call *c, uint32_t n)
{
	struct pages *p = &h->init->pages;
	uint32_t unused = pages_free(h);

	if (n > (c->out.len - PRM_SZ(manage_pages_out)) / sizeof(uint64_t))
		return SYN_PAGES_ROOM;
	if (n > unused)
		n = unused;
	for (uint32_t i = 0; i < n; i++)
		prm_set(&c->out, PRM_SZ(manage_pages_out) * 8 + i * 64, 64, take_last(p));
	PRM_SET(&c->out, manage_pages_out, output_num_entries, n);
	p->told = false;
	return SYN_OK;
}

static enum syn manage_pages(struct hca *h, struct call *c)
{
	uint32_t n = (uint32_t)PRM_GET(&c->in, manage_pages_in, input_num_entries);
	struct pages *p = &h->init->pages;

	if (PRM_GET(&c->in, manage_pages_in, function_id))
		return SYN_CAP_FUNCTION;
	if (c->op_mod == PAGES_GIVE)
		return give(h, c, n);
	if (c->op_mod == PAGES_TAKE_BACK)
		return take_back(h, c, n);
	/* The driver has none now. It is asked again when half of what was free is used, and so on. */
	p->asked = false;
	p->low = pages_free(h) / 2;
	return SYN_OK;
}

const struct hca_op ops_pages[] = {
	{ PRM_OP_QUERY_PAGES, PRM_SZ(query_pages_in), PRM_SZ(query_pages_out), OP_MOD_ANY, OP_DRIVER, OBJ_NONE, 0, 0,
	  query_pages, NULL },
	{ PRM_OP_MANAGE_PAGES, PRM_SZ(manage_pages_in), PRM_SZ(manage_pages_out), PAGES_TAKE_BACK, OP_DRIVER, OBJ_NONE, 0, 0,
	  manage_pages, NULL },
	{ 0 },
};
