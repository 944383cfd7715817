/* SPDX-License-Identifier: BSD-2-Clause */
/* Flow tables and groups. */
#include <stdlib.h>
#include <string.h>

#include "steer.h"

struct match_field {
	uint32_t section, section_width, bit, width;
};

#define MATCH_MORE(section, layout, field) { PRM_F_fte_match_param__##section, PRM_F_##layout##__##field },
#define MATCH_FIELD(section, layout, field, cap) MATCH_MORE(section, layout, field)
#define MATCH_FIELD_2 MATCH_FIELD
static const struct match_field match_fields[] = {
#include "match_fields.def"
};
#undef MATCH_FIELD
#undef MATCH_FIELD_2
#undef MATCH_MORE

struct steer *steer_new(const void *salt)
{
	struct steer *s = calloc(1, sizeof(*s));
	struct prm_box known, ones;

	if (!s)
		return NULL;
	memset(s->known.byte, 0xff, sizeof(s->known.byte));
	ones = prm_in(s->known.byte, sizeof(s->known.byte));
	prm_copy_defined(prm_layout("fte_match_param"), &ones, 0, PRM_SZ(fte_match_param) * 8, s->defined.byte);
	memset(&s->known, 0, sizeof(s->known));
	known = prm_out(s->known.byte, sizeof(s->known.byte));
	/* Where the device lies in memory is known to nobody outside, and decides only in which bucket an entry lies. */
	s->secret = (uintptr_t)salt * UINT64_C(0x9e3779b97f4a7c15);
	s->seed = s->secret;
	for (size_t i = 0; i < sizeof(match_fields) / sizeof(match_fields[0]); i++) {
		const struct match_field *f = &match_fields[i];

		for (uint32_t done = 0; done < f->width; done += 32) {
			uint32_t n = f->width - done < 32 ? f->width - done : 32;

			prm_set(&known, f->section + f->bit + done, n, UINT32_MAX);
		}
	}
	return s;
}

void steer_clear(struct steer *s)
{
	s->starts.root = NULL;
	memset(s->root, 0, sizeof(s->root));
}

struct hca_obj *steer_find(struct hca *h, enum obj_type type, uint32_t id, uint16_t uid)
{
	struct hca_obj *obj = obj_in_entry(obj_peek(h, type, id));

	return obj && obj->type == type && (obj->uid == uid || !uid) ? obj : NULL;
}

/* Receive tables in the order in which packets look for a first one: each user's, by level, the older first. */
static uint64_t start_key(const struct flow_table *t)
{
	return (uint64_t)t->obj.uid << 40 | (uint64_t)t->level << 32 | t->obj.id;
}

static int start_cmp(const struct tree_node *n, const void *key)
{
	uint64_t at = start_key(TREE_ENTRY(n, struct flow_table, start)), want = *(const uint64_t *)key;

	return (at > want) - (at < want);
}

struct flow_table *steer_first(const struct steer *s, uint32_t uid)
{
	uint64_t key = (uint64_t)uid << 40;
	struct tree_node *n = tree_ceiling(&s->starts, start_cmp, &key);

	return n ? TREE_ENTRY(n, struct flow_table, start) : NULL;
}

/* The table of another vport or e-switch. Of the queries, only that of a table has a bit for one. */
static bool other_function(struct call *c)
{
	switch (c->opcode) {
	case PRM_OP_QUERY_FLOW_TABLE:
		return PRM_GET(&c->in, query_flow_table_in, other_vport);
	case PRM_OP_QUERY_FLOW_GROUP:
	case PRM_OP_QUERY_FLOW_TABLE_ENTRY:
		return false;
	default:
		return PRM_GET(&c->in, set_fte_in, other_vport) || PRM_GET(&c->in, set_fte_in, other_eswitch);
	}
}

/* The places are the same in every layout that names a table. */
enum syn flow_table_named(struct hca *h, struct call *c, struct flow_table **t)
{
	uint32_t type = (uint32_t)PRM_GET(&c->in, set_fte_in, table_type);

	if (other_function(c))
		return SYN_FT_VPORT;
	if (type >= FT_TYPES)
		return SYN_FT_TYPE;
	*t = (struct flow_table *)steer_find(h, OBJ_FLOW_TABLE, (uint32_t)PRM_GET(&c->in, set_fte_in, table_id), c->uid);
	return *t && (*t)->type == type ? SYN_OK : SYN_FT;
}

/* Values of table_miss_action. Linux, include/linux/mlx5/mlx5_ifc.h. */
enum { MISS_DEFAULT = 0, MISS_FORWARD = 1 };

/* The table that a context sends misses to; NULL with SYN_OK: none. */
static enum syn miss_of(struct hca *h, struct call *c, struct prm_box *ctx, uint8_t type, uint8_t level, struct hca_obj **miss)
{
	uint64_t action = PRM_GET(ctx, flow_table_context, table_miss_action);
	uint32_t id = (uint32_t)PRM_GET(ctx, flow_table_context, table_miss_id);
	struct flow_table *to;

	*miss = NULL;
	if (action > MISS_FORWARD)
		return SYN_FT_MISS;
	if (action == MISS_DEFAULT)
		return SYN_OK;
	to = (struct flow_table *)steer_find(h, OBJ_FLOW_TABLE, id, c->uid);
	if (!to || to->type != type)
		return SYN_FT;
	if (to->level <= level)
		return SYN_FT_MISS_LEVEL;
	*miss = &to->obj;
	return SYN_OK;
}

static enum syn create_flow_table(struct hca *h, struct call *c)
{
	struct prm_box ctx = PRM_SUB(&c->in, create_flow_table_in, flow_table_context);
	uint32_t type = (uint32_t)PRM_GET(&c->in, create_flow_table_in, table_type);
	uint64_t level = PRM_GET(&ctx, flow_table_context, level), log = PRM_GET(&ctx, flow_table_context, log_size), key;
	struct flow_table *t;
	struct hca_obj *miss;
	enum syn syn;

	if (PRM_GET(&c->in, create_flow_table_in, other_vport) || PRM_GET(&c->in, create_flow_table_in, other_eswitch))
		return SYN_FT_VPORT;
	if (type >= FT_TYPES)
		return SYN_FT_TYPE;
	if (PRM_GET(&ctx, flow_table_context, sw_owner) || PRM_GET(&ctx, flow_table_context, rtc_valid) ||
	    PRM_GET(&ctx, flow_table_context, termination_table))
		return SYN_FT_MODE;
	if (level > FT_LEVEL_MAX)
		return SYN_FT_LEVEL;
	if (log > FT_LOG_SIZE_MAX)
		return SYN_FT_SIZE;
	syn = miss_of(h, c, &ctx, (uint8_t)type, (uint8_t)level, &miss);
	if (syn != SYN_OK)
		return syn;
	t = (struct flow_table *)obj_new(h, OBJ_FLOW_TABLE, c->uid, &syn);
	if (!t)
		return syn;
	PRM_COPY(&c->in, create_flow_table_in, flow_table_context, t->ctx);
	t->type = (uint8_t)type;
	t->level = (uint8_t)level;
	t->size = 1u << log;
	obj_link(&t->obj, miss);
	key = start_key(t);
	if (type == FT_NIC_RX)
		tree_insert(&h->steer->starts, &t->start, start_cmp, &key, &h->steer->seed);
	PRM_SET(&c->out, create_flow_table_out, table_id, t->obj.id);
	return SYN_OK;
}

static enum syn query_flow_table(struct hca *h, struct call *c)
{
	struct prm_box ctx = PRM_SUB(&c->out, query_flow_table_out, flow_table_context);
	struct flow_table *t;
	enum syn syn = flow_table_named(h, c, &t);

	if (syn == SYN_OK)
		memcpy(ctx.p, t->ctx, sizeof(t->ctx));
	return syn;
}

/* modify_field_select. Linux, include/linux/mlx5/mlx5_ifc.h. */
#define SELECT_MISS_TABLE 0x1u

static enum syn modify_flow_table(struct hca *h, struct call *c)
{
	struct prm_box from = PRM_SUB(&c->in, modify_flow_table_in, flow_table_context), to;
	uint64_t select = PRM_GET(&c->in, modify_flow_table_in, modify_field_select);
	struct flow_table *t;
	struct hca_obj *miss;
	enum syn syn = flow_table_named(h, c, &t);

	if (syn != SYN_OK)
		return syn;
	if (select & ~(uint64_t)SELECT_MISS_TABLE)
		return SYN_SELECT;
	if (!select)
		return SYN_OK;
	syn = miss_of(h, c, &from, t->type, t->level, &miss);
	if (syn != SYN_OK)
		return syn;
	obj_relink(&t->obj, 0, miss);
	to = prm_out(t->ctx, sizeof(t->ctx));
	PRM_SET(&to, flow_table_context, table_miss_action, PRM_GET(&from, flow_table_context, table_miss_action));
	PRM_SET(&to, flow_table_context, table_miss_id, PRM_GET(&from, flow_table_context, table_miss_id));
	return SYN_OK;
}

/* The root goes with its table: Linux destroys its last root so. */
static enum syn destroy_flow_table(struct hca *h, struct call *c)
{
	struct flow_table *t;
	enum syn syn = flow_table_named(h, c, &t);
	uint64_t key;

	if (syn != SYN_OK)
		return syn;
	if (t->obj.refs)
		return SYN_FT_BUSY;
	key = start_key(t);
	if (t->type == FT_NIC_RX)
		tree_remove(&h->steer->starts, &t->start, start_cmp, &key);
	if (h->steer->root[t->type] == t)
		h->steer->root[t->type] = NULL;
	obj_free(h, &t->obj);
	return SYN_OK;
}

/* op_mod 1 goes back to no root at all. */
static enum syn set_flow_table_root(struct hca *h, struct call *c)
{
	uint32_t type = (uint32_t)PRM_GET(&c->in, set_flow_table_root_in, table_type);
	struct flow_table *t = NULL;
	enum syn syn = SYN_OK;

	if (PRM_GET(&c->in, set_flow_table_root_in, table_of_other_vport) ||
	    PRM_GET(&c->in, set_flow_table_root_in, table_eswitch_owner_vhca_id_valid))
		return SYN_FT_VPORT;
	if (PRM_GET(&c->in, set_flow_table_root_in, underlay_qpn))
		return SYN_FT_UNDERLAY;
	if (!c->op_mod)
		syn = flow_table_named(h, c, &t);
	else if (type >= FT_TYPES)
		syn = SYN_FT_TYPE;
	if (syn == SYN_OK)
		h->steer->root[type] = t;
	return syn;
}

/* Sections of fte_match_param that can be enabled: outer, misc, inner, misc 2, misc 3. */
#define CRITERIA_KNOWN 0x1fu
#define SECTION_WORDS (PRM_SZ(fte_match_set_misc) / 8)

static uint64_t words_enabled(uint32_t enable)
{
	uint64_t words = 0;

	for (unsigned int i = 0; i < 5; i++)
		if (enable >> i & 1)
			words |= ((UINT64_C(1) << SECTION_WORDS) - 1) << (i * SECTION_WORDS);
	return words;
}

static enum syn group_check(struct call *c, const struct flow_table *t, uint32_t start, uint32_t end)
{
	struct flow_group *last;

	if (PRM_GET(&c->in, create_flow_group_in, group_type))
		return SYN_FG_TYPE;
	if (PRM_GET(&c->in, create_flow_group_in, match_criteria_enable) & ~(uint64_t)CRITERIA_KNOWN)
		return SYN_FG_CRITERIA;
	if (start > end || end >= t->size)
		return SYN_FG_RANGE;
	/* The last group that begins at or before end is the only one that can reach into the range. */
	last = flow_group_before(t, end);
	return last && last->end >= start ? SYN_FG_OVERLAP : SYN_OK;
}

static enum syn create_flow_group(struct hca *h, struct call *c)
{
	struct prm_box criteria = PRM_SUB(&c->in, create_flow_group_in, match_criteria);
	uint32_t start = (uint32_t)PRM_GET(&c->in, create_flow_group_in, start_flow_index);
	uint32_t end = (uint32_t)PRM_GET(&c->in, create_flow_group_in, end_flow_index);
	uint32_t enable = (uint32_t)PRM_GET(&c->in, create_flow_group_in, match_criteria_enable);
	uint64_t bytes = ((uint64_t)end - start + 1) * sizeof(struct flow_entry *); /* as much as its entries' places may grow to */
	struct flow_table *t;
	struct flow_group *g;
	struct sparse *mask;
	enum syn syn = flow_table_named(h, c, &t);

	if (syn == SYN_OK)
		syn = group_check(c, t, start, end);
	if (syn != SYN_OK)
		return syn;
	mask = sparse_new(h->steer, criteria.p, 0);
	if (!mask)
		return SYN_NO_MEMORY;
	syn = match_unknown(h->steer, mask, mask->present & words_enabled(enable)) ? SYN_FG_FIELD : SYN_OK;
	if (syn == SYN_OK && !obj_affords(h, bytes))
		syn = SYN_MEMORY_LIMIT;
	g = syn == SYN_OK ? (struct flow_group *)obj_new(h, OBJ_FLOW_GROUP, c->uid, &syn) : NULL;
	if (!g) {
		free(mask);
		return syn;
	}
	g->table = t;
	g->start = start;
	g->end = end;
	g->enable = (uint8_t)enable;
	g->mask = mask;
	g->used = mask->present & words_enabled(enable);
	obj_charge(h, &g->obj, bytes);
	obj_link(&g->obj, &t->obj);
	flow_group_insert(h->steer, g);
	PRM_SET(&c->out, create_flow_group_out, group_id, g->obj.id);
	return SYN_OK;
}

/* group_id lies at the same place in query and destroy. */
static enum syn group_named(struct hca *h, struct call *c, struct flow_group **g)
{
	uint32_t id = (uint32_t)PRM_GET(&c->in, destroy_flow_group_in, group_id);
	struct flow_table *t;
	enum syn syn = flow_table_named(h, c, &t);

	if (syn != SYN_OK)
		return syn;
	*g = (struct flow_group *)steer_find(h, OBJ_FLOW_GROUP, id, c->uid);
	return *g && (*g)->table == t ? SYN_OK : SYN_FG;
}

static enum syn query_flow_group(struct hca *h, struct call *c)
{
	struct prm_box criteria = PRM_SUB(&c->out, query_flow_group_out, match_criteria);
	struct flow_group *g;
	enum syn syn = group_named(h, c, &g);

	if (syn != SYN_OK)
		return syn;
	PRM_SET(&c->out, query_flow_group_out, start_flow_index, g->start);
	PRM_SET(&c->out, query_flow_group_out, end_flow_index, g->end);
	PRM_SET(&c->out, query_flow_group_out, match_criteria_enable, g->enable);
	sparse_put(g->mask, criteria.p);
	return SYN_OK;
}

static enum syn destroy_flow_group(struct hca *h, struct call *c)
{
	struct flow_group *g;
	enum syn syn = group_named(h, c, &g);

	if (syn != SYN_OK)
		return syn;
	if (g->obj.refs)
		return SYN_FG_BUSY;
	flow_group_remove(g);
	obj_free(h, &g->obj);
	return SYN_OK;
}

const struct hca_op ops_flow_table[] = {
	OP_ROW(CREATE_FLOW_TABLE, create_flow_table, OP_PLAIN, create_flow_table),
	OP_ROW(QUERY_FLOW_TABLE, query_flow_table, OP_PLAIN, query_flow_table),
	OP_ROW(MODIFY_FLOW_TABLE, modify_flow_table, OP_PLAIN, modify_flow_table),
	OP_ROW(DESTROY_FLOW_TABLE, destroy_flow_table, OP_PLAIN, destroy_flow_table),
	{ PRM_OP_SET_FLOW_TABLE_ROOT, PRM_SZ_set_flow_table_root_in, PRM_SZ_set_flow_table_root_out, 1, OP_DRIVER, OBJ_NONE,
	  0, 0, set_flow_table_root, NULL },
	OP_ROW(CREATE_FLOW_GROUP, create_flow_group, OP_PLAIN, create_flow_group),
	OP_ROW(QUERY_FLOW_GROUP, query_flow_group, OP_PLAIN, query_flow_group),
	OP_ROW(DESTROY_FLOW_GROUP, destroy_flow_group, OP_PLAIN, destroy_flow_group),
	{ 0 },
};
