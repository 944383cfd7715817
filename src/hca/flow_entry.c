/* SPDX-License-Identifier: BSD-2-Clause */
/* Flow table entries. An entry is known by its table and index; its actions are built whole before the old ones go. */
#include <stdlib.h>
#include <string.h>

#include "steer.h"

#define ITEM_SZ PRM_SZ(dest_format)
#define DESTS_MAX (1u << FTE_LOG_DESTS)
#define COUNTERS_MAX (1u << FTE_LOG_COUNTERS)

_Static_assert(PRM_SZ(flow_counter_list) == ITEM_SZ, "destinations and counters form one list");

/* Destination types. Linux, include/linux/mlx5/mlx5_ifc.h. */
enum { DEST_FLOW_TABLE = 1, DEST_TIR = 2 };

/* modify_enable_mask: bits as Linux numbers them, drivers/net/ethernet/mellanox/mlx5/core/fs_core.h and mlx5_ifc.h. */
enum { SET_ACTION = 1 << 0, SET_FLOW_TAG = 1 << 1, SET_DESTS = 1 << 2, SET_COUNTERS = 1 << 3, SET_ALL = 0xf };

#define ACTIONS_KNOWN                                                                                                         \
	(FTE_ALLOW | FTE_DROP | FTE_FWD | FTE_COUNT | FTE_REFORMAT | FTE_DECAP | FTE_MODIFY | FTE_VLAN_POP | FTE_VLAN_PUSH | \
	 FTE_VLAN_POP_2 | FTE_VLAN_PUSH_2)

/* What an entry shall do, as the inbox or the inbox over the old entry says it. */
struct wish {
	uint8_t ctx[FTE_CTX];
	uint8_t list[(DESTS_MAX + COUNTERS_MAX) * ITEM_SZ];
	uint32_t n_dests, n_counters;
};

static struct prm_box ctx_box(struct wish *w)
{
	return prm_out(w->ctx, sizeof(w->ctx));
}

/* The sizes of both lists in an inbox, which has to hold them. */
static enum syn list_sizes(struct call *c, struct prm_box *ctx, uint32_t *dests, uint32_t *counters)
{
	*dests = (uint32_t)PRM_GET(ctx, flow_context, destination_list_size);
	*counters = (uint32_t)PRM_GET(ctx, flow_context, flow_counter_list_size);
	if (*dests > DESTS_MAX)
		return SYN_FTE_DESTS;
	if (*counters > COUNTERS_MAX)
		return SYN_FTE_COUNTERS;
	return (*dests + *counters) * ITEM_SZ > c->in.len - PRM_SZ(set_fte_in) ? SYN_FTE_LIST : SYN_OK;
}

static void take_ctx(struct wish *w, const struct fte_actions *old, struct prm_box *from, uint32_t set)
{
	struct prm_box to = ctx_box(w);

	if (!old) {
		prm_copy_defined(prm_layout("flow_context"), from, 0, FTE_CTX * 8, w->ctx);
		return;
	}
	memcpy(w->ctx, old->ctx, sizeof(w->ctx));
#define COPY(field) PRM_SET(&to, flow_context, field, PRM_GET(from, flow_context, field))
	if (set & SET_ACTION) {
		COPY(action);
		COPY(push_vlan);
		COPY(push_vlan_2);
		COPY(packet_reformat_id);
		COPY(modify_header_id);
	}
	if (set & SET_FLOW_TAG)
		COPY(flow_tag);
	if (set & SET_DESTS)
		COPY(extended_destination);
#undef COPY
}

static enum syn read_wish(struct call *c, const struct fte_actions *old, uint32_t set, struct wish *w)
{
	struct prm_box from = PRM_SUB(&c->in, set_fte_in, flow_context), to = ctx_box(w);
	const uint8_t *list = c->in.p + PRM_SZ(set_fte_in);
	uint32_t dests, counters;
	enum syn syn = list_sizes(c, &from, &dests, &counters);

	if (syn != SYN_OK)
		return syn;
	take_ctx(w, old, &from, set);
	w->n_dests = set & SET_DESTS ? dests : old->n_dests;
	w->n_counters = set & SET_COUNTERS ? counters : old->n_counters;
	/* A list whose action is not asked for counts for nothing. */
	if (!(PRM_GET(&to, flow_context, action) & FTE_FWD))
		w->n_dests = 0;
	if (!(PRM_GET(&to, flow_context, action) & FTE_COUNT))
		w->n_counters = 0;
	for (uint32_t i = 0; i < w->n_dests; i++)
		memcpy(w->list + i * ITEM_SZ, set & SET_DESTS ? list + i * ITEM_SZ : old->item[i].raw, ITEM_SZ);
	for (uint32_t i = 0; i < w->n_counters; i++)
		memcpy(w->list + (w->n_dests + i) * ITEM_SZ,
		       set & SET_COUNTERS ? list + (dests + i) * ITEM_SZ : old->item[old->n_dests + i].raw, ITEM_SZ);
	PRM_SET(&to, flow_context, destination_list_size, w->n_dests);
	PRM_SET(&to, flow_context, flow_counter_list_size, w->n_counters);
	return SYN_OK;
}

static enum syn check_verdict(struct prm_box *ctx, const struct wish *w)
{
	uint32_t action = (uint32_t)PRM_GET(ctx, flow_context, action);
	uint32_t verdict = action & (FTE_ALLOW | FTE_DROP | FTE_FWD);

	if (action & ~(uint32_t)ACTIONS_KNOWN)
		return SYN_FTE_ACTION;
	if (!verdict || verdict & (verdict - 1))
		return SYN_FTE_VERDICT;
	if (action & FTE_FWD && !w->n_dests)
		return SYN_FTE_NO_DEST;
	if (action & FTE_COUNT && !w->n_counters)
		return SYN_FTE_NO_COUNTER;
	if ((action & FTE_VLAN_POP_2 && !(action & FTE_VLAN_POP)) || (action & FTE_VLAN_PUSH_2 && !(action & FTE_VLAN_PUSH)))
		return SYN_FTE_VLAN;
	return PRM_GET(ctx, flow_context, extended_destination) ? SYN_FTE_EXTENDED : SYN_OK;
}

/* At most one table, so that a packet's way does not fork; any number of TIRs. */
static enum syn find_dests(struct hca *h, struct call *c, const struct flow_table *t, const struct wish *w,
			   struct fte_actions *a)
{
	bool table = false;

	for (uint32_t i = 0; i < w->n_dests; i++) {
		struct prm_box d = prm_in(w->list + i * ITEM_SZ, ITEM_SZ);
		uint32_t type = (uint32_t)PRM_GET(&d, dest_format, destination_type);
		uint32_t id = (uint32_t)PRM_GET(&d, dest_format, destination_id);
		struct flow_table *to;

		if (PRM_GET(&d, dest_format, packet_reformat) ||
		    PRM_GET(&d, dest_format, destination_eswitch_owner_vhca_id_valid))
			return SYN_FTE_EXTENDED;
		if (type == DEST_TIR && t->type == FT_NIC_RX) {
			a->item[i].to = steer_find(h, OBJ_TIR, id, c->uid);
			if (!a->item[i].to)
				return SYN_TIR;
			continue;
		}
		if (type != DEST_FLOW_TABLE)
			return SYN_FTE_DEST_TYPE;
		to = (struct flow_table *)steer_find(h, OBJ_FLOW_TABLE, id, c->uid);
		if (!to || to->type != t->type)
			return SYN_FT;
		if (to->level <= t->level)
			return SYN_FTE_LEVEL;
		if (table)
			return SYN_FTE_TABLES;
		table = true;
		a->item[i].to = &to->obj;
	}
	return SYN_OK;
}

static enum syn find_counters(struct hca *h, struct call *c, const struct wish *w, struct hca_obj **found)
{
	for (uint32_t i = 0; i < w->n_counters; i++) {
		struct prm_box b = prm_in(w->list + (w->n_dests + i) * ITEM_SZ, ITEM_SZ);

		found[i] = steer_find(h, OBJ_FLOW_COUNTER, (uint32_t)PRM_GET(&b, flow_counter_list, flow_counter_id), c->uid);
		if (!found[i])
			return SYN_COUNTER;
	}
	return SYN_OK;
}

/* Types of reformat that take headers away need decap_en, the others reformat_en. */
static enum syn find_contexts(struct hca *h, struct call *c, const struct flow_table *t, struct wish *w, struct fte_actions *a)
{
	struct prm_box ctx = ctx_box(w), table = prm_in(t->ctx, sizeof(t->ctx));
	bool decap = a->action & FTE_DECAP, reformat = false;
	uint32_t modify = (uint32_t)PRM_GET(&ctx, flow_context, modify_header_id);
	struct modify_header *m;

	if (a->action & FTE_REFORMAT) {
		a->reformat = steer_find(h, OBJ_REFORMAT, (uint32_t)PRM_GET(&ctx, flow_context, packet_reformat_id), c->uid);
		if (!a->reformat)
			return SYN_REFORMAT;
		if (reformat_removes((struct reformat *)a->reformat))
			decap = true;
		else
			reformat = true;
	}
	if (decap && !PRM_GET(&table, flow_table_context, decap_en))
		return SYN_FTE_DECAP_EN;
	if (reformat && !PRM_GET(&table, flow_table_context, reformat_en))
		return SYN_FTE_REFORMAT_EN;
	if (!(a->action & FTE_MODIFY))
		return SYN_OK;
	m = (struct modify_header *)steer_find(h, OBJ_MODIFY_HEADER, modify, c->uid);
	a->modify = m ? &m->obj : NULL;
	return m && m->table_type == t->type ? SYN_OK : SYN_MODIFY_HEADER;
}

static struct counter *counter_of(struct hca_obj *obj, const uint8_t *raw)
{
	struct flow_counter *fc = (struct flow_counter *)obj;
	struct prm_box b = prm_in(raw, ITEM_SZ);

	return &fc->values[PRM_GET(&b, flow_counter_list, flow_counter_id) - fc->obj.id];
}

/* Objects that the actions keep: as many as there are places in links, some of them NULL. */
static uint32_t links_of(const struct fte_actions *a, struct hca_obj *const *counters, struct hca_obj **links)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < a->n_counters; i++)
		links[n++] = counters[i];
	for (uint32_t i = 0; i < a->n_dests; i++)
		links[n++] = a->item[i].to;
	if (a->reformat)
		links[n++] = a->reformat;
	if (a->modify)
		links[n++] = a->modify;
	return n;
}

#define LINKS_MAX (DESTS_MAX + COUNTERS_MAX + 2)

/* Everything that the wish names, found and checked. */
static enum syn make_actions(struct hca *h, struct call *c, const struct flow_table *t, struct wish *w,
			     struct fte_actions **out, struct hca_obj **links, uint32_t *n_links)
{
	struct prm_box ctx = ctx_box(w);
	struct hca_obj *counters[COUNTERS_MAX];
	struct fte_actions *a;
	enum syn syn = check_verdict(&ctx, w);

	if (syn != SYN_OK)
		return syn;
	a = calloc(1, sizeof(*a) + (w->n_dests + w->n_counters) * sizeof(a->item[0]));
	if (!a)
		return SYN_NO_MEMORY;
	memcpy(a->ctx, w->ctx, sizeof(a->ctx));
	a->action = (uint16_t)PRM_GET(&ctx, flow_context, action);
	a->n_dests = w->n_dests;
	a->n_counters = w->n_counters;
	syn = find_dests(h, c, t, w, a);
	if (syn == SYN_OK)
		syn = find_counters(h, c, w, counters);
	if (syn == SYN_OK)
		syn = find_contexts(h, c, t, w, a);
	if (syn != SYN_OK) {
		free(a);
		return syn;
	}
	for (uint32_t i = 0; i < w->n_dests + w->n_counters; i++) {
		const struct prm_layout *layout = prm_layout(i < w->n_dests ? "dest_format" : "flow_counter_list");
		struct prm_box b = prm_in(w->list + i * ITEM_SZ, ITEM_SZ);

		prm_copy_defined(layout, &b, 0, ITEM_SZ * 8, a->item[i].raw);
	}
	for (uint32_t i = 0; i < w->n_counters; i++)
		a->item[w->n_dests + i].counter = counter_of(counters[i], w->list + (w->n_dests + i) * ITEM_SZ);
	*n_links = links_of(a, counters, links);
	*out = a;
	return SYN_OK;
}

void flow_entry_fini(struct hca_obj *obj)
{
	struct flow_entry *e = (struct flow_entry *)obj;

	free(e->actions);
	free(e->value);
}

/* A new entry, in no group yet, which owns value. NULL: why. */
static struct flow_entry *new_entry(struct hca *h, struct call *c, struct flow_group *g, struct sparse *value,
				    uint32_t n_links, enum syn *why)
{
	struct flow_entry *e = (struct flow_entry *)obj_new_links(h, OBJ_FLOW_ENTRY, c->uid, n_links, why);

	if (!e)
		return NULL;
	e->value = value;
	e->group = g;
	e->index = (uint32_t)PRM_GET(&c->in, set_fte_in, flow_index);
	e->room = n_links + 1;
	return e;
}

static enum syn create_entry(struct hca *h, struct call *c, const struct flow_table *t, struct flow_group *g,
			     struct flow_entry **slot)
{
	struct prm_box ctx = PRM_SUB(&c->in, set_fte_in, flow_context), match = PRM_SUB(&ctx, flow_context, match_value);
	struct hca_obj *links[LINKS_MAX];
	struct fte_actions *actions = NULL;
	struct flow_entry *e = NULL;
	struct sparse *value;
	const uint64_t *key;
	uint64_t hash;
	struct wish w;
	uint32_t n;
	enum syn syn = read_wish(c, NULL, SET_ALL, &w);

	if (syn != SYN_OK)
		return syn;
	value = sparse_new(h->steer, match.p, (unsigned int)__builtin_popcountll(g->used));
	if (!value)
		return SYN_NO_MEMORY;
	hash = flow_value_key(h->steer, g, value, &key); /* its bucket is on the way into the cache while the rest is looked up */
	syn = make_actions(h, c, t, &w, &actions, links, &n);
	if (syn == SYN_OK)
		e = new_entry(h, c, g, value, n, &syn);
	if (!e) {
		free(actions);
		free(value);
		return syn;
	}
	e->actions = actions;
	e->key = key;
	e->hash = hash;
	if (!flow_entry_insert(h->steer, e)) {
		obj_free(h, &e->obj);
		return SYN_NO_MEMORY;
	}
	obj_link(&e->obj, &g->obj);
	for (uint32_t i = 0; i < n; i++)
		obj_link(&e->obj, links[i]);
	*slot = e;
	return SYN_OK;
}

/* The match value stays. */
static enum syn modify_entry(struct hca *h, struct call *c, const struct flow_table *t, struct flow_entry *e)
{
	uint32_t set = (uint32_t)PRM_GET(&c->in, set_fte_in, modify_enable_mask), n;
	struct hca_obj *links[LINKS_MAX];
	struct fte_actions *actions;
	struct wish w;
	enum syn syn;

	if (set & ~(uint32_t)SET_ALL)
		return SYN_SELECT;
	syn = read_wish(c, e->actions, set, &w);
	if (syn == SYN_OK)
		syn = make_actions(h, c, t, &w, &actions, links, &n);
	if (syn != SYN_OK)
		return syn;
	if (n + 1 > e->room) {
		if (!obj_room(&e->obj, n + 1)) {
			free(actions);
			return SYN_NO_MEMORY;
		}
		e->room = n + 1;
	}
	while (e->obj.n_links > 1)
		obj_unlink_last(&e->obj);
	for (uint32_t i = 0; i < n; i++)
		obj_link(&e->obj, links[i]);
	free(e->actions);
	e->actions = actions;
	return SYN_OK;
}

static enum syn set_fte(struct hca *h, struct call *c)
{
	struct prm_box ctx = PRM_SUB(&c->in, set_fte_in, flow_context);
	uint32_t index = (uint32_t)PRM_GET(&c->in, set_fte_in, flow_index);
	struct flow_entry **slot;
	struct flow_group *g;
	struct flow_table *t;
	enum syn syn = flow_table_named(h, c, &t);

	if (syn != SYN_OK)
		return syn;
	if (PRM_GET(&c->in, set_fte_in, ignore_flow_level))
		return SYN_FTE_IGNORE_LEVEL;
	g = flow_group_before(t, index);
	if (!g || index > g->end)
		return SYN_FTE_INDEX;
	if (c->op_mod) {
		slot = flow_entry_slot(g, index, false);
		return slot && *slot ? modify_entry(h, c, t, *slot) : SYN_FTE;
	}
	if (PRM_GET(&ctx, flow_context, group_id) != g->obj.id)
		return SYN_FTE_GROUP;
	slot = flow_entry_slot(g, index, true);
	if (!slot)
		return SYN_NO_MEMORY;
	return *slot ? SYN_FTE_EXISTS : create_entry(h, c, t, g, slot);
}

/* flow_index lies at the same place in query and delete. */
static enum syn entry_named(struct hca *h, struct call *c, struct flow_entry ***slot)
{
	uint32_t index = (uint32_t)PRM_GET(&c->in, delete_fte_in, flow_index);
	struct flow_group *g;
	struct flow_table *t;
	enum syn syn = flow_table_named(h, c, &t);

	if (syn != SYN_OK)
		return syn;
	g = flow_group_before(t, index);
	*slot = g && index <= g->end ? flow_entry_slot(g, index, false) : NULL;
	return *slot && **slot ? SYN_OK : SYN_FTE;
}

static enum syn query_fte(struct hca *h, struct call *c)
{
	struct prm_box ctx = PRM_SUB(&c->out, query_fte_out, flow_context), value = PRM_SUB(&ctx, flow_context, match_value);
	struct flow_entry **slot;
	const struct fte_actions *a;
	enum syn syn = entry_named(h, c, &slot);

	if (syn != SYN_OK)
		return syn;
	a = (*slot)->actions;
	if ((a->n_dests + a->n_counters) * ITEM_SZ > c->out.len - PRM_SZ(query_fte_out))
		return SYN_FTE_OUT;
	memcpy(ctx.p, a->ctx, sizeof(a->ctx));
	sparse_put((*slot)->value, value.p);
	for (uint32_t i = 0; i < a->n_dests + a->n_counters; i++)
		memcpy(c->out.p + PRM_SZ(query_fte_out) + i * ITEM_SZ, a->item[i].raw, ITEM_SZ);
	return SYN_OK;
}

static enum syn delete_fte(struct hca *h, struct call *c)
{
	struct flow_entry **slot;
	enum syn syn = entry_named(h, c, &slot);

	if (syn != SYN_OK)
		return syn;
	flow_entry_remove(*slot);
	obj_free(h, &(*slot)->obj);
	*slot = NULL;
	return SYN_OK;
}

const struct hca_op ops_flow_entry[] = {
	{ PRM_OP_SET_FLOW_TABLE_ENTRY, PRM_SZ_set_fte_in, PRM_SZ_set_fte_out, 1, OP_PLAIN, OBJ_NONE, 0, 0, set_fte, NULL },
	OP_ROW(QUERY_FLOW_TABLE_ENTRY, query_fte, OP_PLAIN, query_fte),
	OP_ROW(DELETE_FLOW_TABLE_ENTRY, delete_fte, OP_PLAIN, delete_fte),
	{ 0 },
};
