/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables of objects: an id finds its object in two loads, however many there are. */
#include <stdlib.h>
#include <string.h>

#include "init.h"
#include "model.h"

/* The directory grows with the highest id, so that a device with few objects is small and soon made. */
static bool grow(struct obj_table *t, uint32_t page)
{
	uint32_t n = page < t->n_pages * 2 ? t->n_pages * 2 : page + 1;
	void ***pages = realloc(t->pages, n * sizeof(*pages));

	if (!pages)
		return false;
	memset(pages + t->n_pages, 0, (n - t->n_pages) * sizeof(*pages));
	t->pages = pages;
	t->n_pages = n;
	return true;
}

/* The type whose table and whose range of ids this one uses. */
enum obj_type obj_space(enum obj_type type)
{
	return obj_classes[type].space ? obj_classes[type].space : type;
}

/* Which page an id is on. Ids begin at the type's first, which may be high; a lower one gives a page that is not there. */
static uint32_t page_of(enum obj_type space, uint32_t id)
{
	return id / OBJ_PAGE_IDS - obj_classes[space].first_id / OBJ_PAGE_IDS;
}

void **obj_entry(struct hca *h, enum obj_type type, uint32_t id)
{
	enum obj_type space = obj_space(type);
	struct obj_table *t = &h->tables[space];
	uint32_t at = page_of(space, id);

	if (id < obj_classes[space].first_id || id > obj_classes[space].max_id || (at >= t->n_pages && !grow(t, at)))
		return NULL;
	if (!t->pages[at] && !(t->pages[at] = calloc(OBJ_PAGE_IDS, sizeof(**t->pages))))
		return NULL;
	return &t->pages[at][id % OBJ_PAGE_IDS];
}

void **obj_peek(struct hca *h, enum obj_type type, uint32_t id)
{
	enum obj_type space = obj_space(type);
	const struct obj_table *t = &h->tables[space];
	uint32_t at = page_of(space, id);
	void **page = at < t->n_pages ? t->pages[at] : NULL;

	return page ? &page[id % OBJ_PAGE_IDS] : NULL;
}

struct hca_obj *obj_find_in_space(struct hca *h, enum obj_type type, uint32_t id, uint16_t uid)
{
	struct hca_obj *obj = obj_in_entry(obj_peek(h, type, id));

	/* A driver acts for its programs: Linux registers memory of one with uid 0 in a PD of the program's uid. */
	return obj && (obj->uid == uid || (!uid && h->cfg.bare)) ? obj : NULL;
}

struct hca_obj *obj_find(struct hca *h, enum obj_type type, uint32_t id, uint16_t uid)
{
	struct hca_obj *obj = obj_find_in_space(h, type, id, uid);

	return obj && obj->type == type ? obj : NULL;
}

static bool lent(const struct hca_obj *obj)
{
	return obj->type == OBJ_CQ || obj->type == OBJ_XRCD || obj->type == OBJ_EQ || obj->type == OBJ_UAR || obj_space(obj->type) == OBJ_SRQ;
}

struct hca_obj *obj_refer_in_space(struct hca *h, enum obj_type type, uint32_t id, uint16_t uid)
{
	struct hca_obj *obj = obj_in_entry(obj_peek(h, type, id));

	return obj && h->cfg.bare && !obj->uid && lent(obj) ? obj : obj_find_in_space(h, type, id, uid);
}

struct hca_obj *obj_refer(struct hca *h, enum obj_type type, uint32_t id, uint16_t uid)
{
	struct hca_obj *obj = obj_refer_in_space(h, type, id, uid);

	return obj && obj->type == type ? obj : NULL;
}

#define CACHE_LINE 64u

/* On a cache line of its own: among a million objects a command touches one, so it should cost one miss. */
struct hca_obj *obj_alloc(enum obj_type type, uint16_t uid, uint32_t more_links)
{
	const struct obj_class *class = &obj_classes[type];
	size_t links = (class->size + sizeof(void *) - 1) & ~(sizeof(void *) - 1);
	size_t size = links + ((size_t)class->max_links + more_links) * sizeof(void *);
	struct hca_obj *obj = aligned_alloc(CACHE_LINE, (size + CACHE_LINE - 1) & ~(size_t)(CACHE_LINE - 1));

	if (!obj)
		return NULL;
	memset(obj, 0, size);
	obj->uid = uid;
	obj->type = (uint8_t)type;
	obj->links = (struct hca_obj **)((char *)obj + links);
	return obj;
}

/* With what tables and indexes take for it. */
#define OVERHEAD 128u
#define CHARGE_MAX 31u

static unsigned int charge_of(uint64_t bytes)
{
	return bytes > UINT64_C(1) << CHARGE_MAX ? CHARGE_MAX + 1 : 64 - (unsigned int)__builtin_clzll(bytes - 1);
}

bool obj_affords(const struct hca *h, uint64_t bytes)
{
	unsigned int charge = charge_of(bytes + OVERHEAD);

	return !h->cfg.memory || (charge <= CHARGE_MAX && UINT64_C(1) << charge <= h->cfg.memory && h->charged <= h->cfg.memory - (UINT64_C(1) << charge));
}

bool obj_charge(struct hca *h, struct hca_obj *obj, uint64_t bytes)
{
	unsigned int charge = charge_of(bytes + OVERHEAD);

	if (!h->cfg.memory || charge <= obj->charge)
		return true;
	if (!obj_affords(h, bytes))
		return false;
	h->charged += (UINT64_C(1) << charge) - (obj->charge ? UINT64_C(1) << obj->charge : 0);
	obj->charge = charge & 0x1f;
	return true;
}

void obj_count(struct hca *h, const struct hca_obj *obj)
{
	h->tables[obj_space(obj->type)].count++;
	h->user_objs[obj->uid]++;
	h->n_objs++;
}

struct hca_obj *obj_new_links(struct hca *h, enum obj_type type, uint16_t uid, uint32_t more_links, enum syn *why)
{
	const struct obj_class *class = &obj_classes[type], *space = &obj_classes[obj_space(type)];
	struct obj_table *t = &h->tables[obj_space(type)];
	uint64_t bytes = class->size + ((uint64_t)class->max_links + more_links) * sizeof(void *) + h->inlen;
	struct hca_obj *obj;
	uint32_t id;
	void **entry;

	*why = SYN_PAGES;
	if (!pages_allow(h))
		return NULL;
	*why = SYN_MEMORY_LIMIT;
	if (!obj_affords(h, bytes))
		return NULL;
	*why = SYN_NO_MEMORY;
	if (!t->free_head && (t->next ? t->next : space->first_id) > space->max_id) {
		*why = class->limit;
		return NULL;
	}
	if (!t->next)
		t->next = space->first_id;
	id = t->free_head ? t->free_head - 1 : t->next;
	entry = obj_entry(h, type, id);
	obj = obj_alloc(type, uid, more_links);
	if (!entry || !obj) {
		free(obj);
		return NULL;
	}
	if (t->free_head)
		t->free_head = (uint32_t)((uintptr_t)*entry >> 1);
	else
		t->next++;
	*entry = obj;
	obj->id = id;
	obj_charge(h, obj, bytes);
	obj_count(h, obj);
	*why = SYN_OK;
	return obj;
}

struct hca_obj *obj_new(struct hca *h, enum obj_type type, uint16_t uid, enum syn *why)
{
	return obj_new_links(h, type, uid, 0, why);
}

void obj_link(struct hca_obj *holder, struct hca_obj *target)
{
	holder->links[holder->n_links++] = target;
	if (target)
		target->refs++;
}

void obj_unlink_last(struct hca_obj *holder)
{
	struct hca_obj *target = holder->links[--holder->n_links];

	if (target)
		target->refs--;
}

void obj_relink(struct hca_obj *holder, uint32_t i, struct hca_obj *target)
{
	if (target)
		target->refs++;
	if (holder->links[i])
		holder->links[i]->refs--;
	holder->links[i] = target;
}

bool obj_room(struct hca_obj *holder, uint32_t n)
{
	struct hca_obj **links = malloc(n * sizeof(*links));

	if (!links)
		return false;
	memcpy(links, holder->links, holder->n_links * sizeof(*links));
	if (holder->own_links)
		free(holder->links);
	holder->links = links;
	holder->own_links = true;
	return true;
}

static void obj_discard(struct hca_obj *obj)
{
	if (obj->own_links)
		free(obj->links);
	if (obj_classes[obj->type].fini)
		obj_classes[obj->type].fini(obj);
	free(obj);
}

void obj_free(struct hca *h, struct hca_obj *obj)
{
	struct obj_table *t = &h->tables[obj_space(obj->type)];

	while (obj->n_links)
		obj_unlink_last(obj);
	if (obj->ranged) {
		obj_give_range(h, obj);
	} else {
		*obj_entry(h, obj->type, obj->id) = (void *)((uintptr_t)t->free_head << 1 | 1);
		t->free_head = obj->id + 1;
	}
	t->count--;
	h->user_objs[obj->uid]--;
	h->n_objs--;
	h->charged -= obj->charge ? UINT64_C(1) << obj->charge : 0;
	obj_discard(obj);
}

static void table_free(struct obj_table *t, enum obj_type space)
{
	uint32_t id = obj_classes[space].first_id;

	/* Until none is left. A range stands in many entries: the first one frees it, and the others are passed over. */
	while (t->count) {
		void **page = t->pages[page_of(space, id)];
		struct hca_obj *obj = page ? obj_in_entry(&page[id % OBJ_PAGE_IDS]) : NULL;

		if (!page)
			id += OBJ_PAGE_IDS - id % OBJ_PAGE_IDS;
		else
			id += obj ? 1u << obj->log : 1;
		if (obj) {
			obj_discard(obj);
			t->count--;
		}
	}
	for (uint32_t p = 0; p < t->n_pages; p++)
		free(t->pages[p]);
	free(t->pages);
}

void obj_tables_free(struct hca *h)
{
	for (int type = 0; type < OBJ_N_TYPES; type++)
		table_free(&h->tables[type], (enum obj_type)type);
}
