/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * General objects: create, query, modify and destroy, the same for all their types. What differs is in the tables
 * (general_*.c). A range (log_obj_range) is one object with a context for each of its ids.
 */
#include <stdlib.h>
#include <string.h>

#include "general.h"

#define HDR PRM_SZ(general_obj_in_cmd_hdr)
#define SELECT_BITS 64u /* modify_field_select: the first field of the contexts that have one */

_Static_assert(HDR == PRM_SZ(general_obj_out_cmd_hdr), "contexts begin at the same place in both boxes");

static const struct gen_type *const tables[] = { gen_flow, gen_crypto, gen_virtio, gen_qos };

void gen_init(struct hca *h)
{
	for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++)
		for (const struct gen_type *row = tables[t]; row->obj != OBJ_NONE; row++)
			if (row->profiles & 1u << h->cfg.profile)
				h->gen_of[row->type] = row;
}

uint64_t gen_type_bits(const struct hca *h, unsigned int from)
{
	uint64_t bits = 0;

	for (unsigned int i = 0; i < 64; i++)
		if (h->gen_of[from + i])
			bits |= UINT64_C(1) << i;
	return bits;
}

void gen_fini(struct hca_obj *obj)
{
	struct general *g = (struct general *)obj;

	if (g->contexts != g->one)
		free(g->contexts);
}

static void clear_fields(const struct gen_type *type, struct prm_box *ctx, enum gen_rule rule)
{
	static const uint8_t zero[GEN_BYTES_MAX];
	struct prm_box zeros = prm_in(zero, sizeof(zero));

	for (const struct gen_field *f = type->fields; f->rule != GEN_END; f++)
		if (f->rule == rule)
			prm_copy(ctx, f->at.bit, &zeros, 0, f->at.width);
}

static uint64_t selectable(const struct gen_type *type)
{
	uint64_t bits = 0;

	for (const struct gen_field *f = type->fields; f->rule != GEN_END; f++)
		if (f->rule == GEN_MODIFY)
			bits |= f->arg;
	return bits;
}

/* One field of the context to come; what it refers to becomes a target. */
static enum syn check_field(struct gen_change *c, const struct gen_field *f)
{
	uint64_t v = f->at.width <= 64 ? prm_get(&c->next, f->at.bit, f->at.width) : 0;
	struct hca_obj *obj;
	enum syn syn = SYN_OK;

	switch (f->rule) {
	case GEN_MAX:
		return v > f->arg ? f->syn : SYN_OK;
	case GEN_OPT_REF:
	case GEN_OPT_KEY:
		if (!v)
			return SYN_OK;
		/* fall through */
	case GEN_REF:
	case GEN_KEY:
		break;
	default:
		return SYN_OK;
	}
	if (f->obj == OBJ_MKEY)
		syn = mkey_find(c->h, (uint32_t)v, c->uid, &obj);
	else if (!(obj = obj_find(c->h, f->obj, (uint32_t)v, c->uid)))
		syn = obj_classes[f->obj].missing;
	if (syn == SYN_OK)
		gen_refer(c, obj);
	return syn;
}

static enum syn check_change(struct gen_change *c)
{
	enum syn syn = SYN_OK;

	for (const struct gen_field *f = c->type->fields; f->rule != GEN_END && syn == SYN_OK; f++)
		syn = check_field(c, f);
	if (syn == SYN_OK && c->type->check)
		syn = c->type->check(c);
	return syn;
}

void gen_refer(struct gen_change *c, struct hca_obj *obj)
{
	c->targets[c->n_targets++] = obj;
}

static void link_targets(struct hca_obj *obj, const struct gen_change *c)
{
	while (obj->n_links)
		obj_unlink_last(obj);
	for (unsigned int i = 0; i < c->n_targets; i++)
		obj_link(obj, c->targets[i]);
}

static const struct gen_type *type_of(const struct hca *h, const struct call *c)
{
	return c->op_mod < GEN_TYPES ? h->gen_of[c->op_mod] : NULL;
}

const struct prm_layout *gen_layout(const struct hca *h, const struct call *c)
{
	const struct gen_type *type = type_of(h, c);

	if (!type || (c->opcode != PRM_OP_CREATE_GENERAL_OBJECT && c->opcode != PRM_OP_MODIFY_GENERAL_OBJECT))
		return NULL;
	return prm_layout(type->layout);
}

struct prm_box gen_context(struct hca_obj *obj, uint32_t id)
{
	struct general *g = (struct general *)obj;
	size_t bytes = obj_classes[obj->type].size - sizeof(*g);

	return prm_out(g->contexts + (g->contexts == g->one ? 0 : id - obj->id) * bytes, bytes);
}

/* Contexts of all ids of a new object: one for all where none can come to differ. False: no memory. */
static bool fill(struct hca_obj *obj, const struct gen_type *type, const struct prm_box *ctx)
{
	struct general *g = (struct general *)obj;
	uint32_t n = selectable(type) ? 1u << obj->log : 1;

	g->contexts = n > 1 ? malloc((size_t)n * ctx->len) : g->one;
	if (!g->contexts)
		return false;
	for (uint32_t i = 0; i < n; i++)
		memcpy(g->contexts + (size_t)i * ctx->len, ctx->p, ctx->len);
	return true;
}

enum syn gen_create(struct hca *h, struct call *c, const struct gen_type *type, struct prm_box in, uint8_t log, uint32_t *id)
{
	uint8_t buf[GEN_BYTES_MAX];
	struct gen_change ch = { .h = h, .type = type, .uid = c->uid, .log = log, .create = true, .in = in };
	struct hca_obj *obj;
	enum syn syn;

	if (in.len < type->min)
		return SYN_IN_LEN;
	ch.next = prm_out(buf, type->bytes);
	prm_copy_defined(prm_layout(type->layout), &in, 0, type->bytes * 8u, buf); /* zeros where it is the short form */
	if (!type->no_select)
		prm_set(&ch.next, 0, SELECT_BITS, 0);
	clear_fields(type, &ch.next, GEN_RO);
	syn = check_change(&ch);
	if (syn != SYN_OK)
		return syn;
	obj = obj_new_range(h, type->obj, c->uid, log, &syn);
	if (!obj)
		return syn;
	if (!fill(obj, type, &ch.next)) {
		obj_free(h, obj);
		return SYN_NO_MEMORY;
	}
	link_targets(obj, &ch);
	*id = obj->id;
	return SYN_OK;
}

static enum syn create(struct hca *h, struct call *c)
{
	const struct gen_type *type = type_of(h, c);
	struct prm_box param = PRM_SUB(&c->in, general_obj_in_cmd_hdr, op_param_create);
	uint32_t log = (uint32_t)PRM_GET(&param, general_obj_create_param, log_obj_range), id;
	enum syn syn;

	if (!type)
		return SYN_GENERAL_TYPE;
	if (PRM_GET(&param, general_obj_create_param, alias_object))
		return SYN_GENERAL_ALIAS;
	if (log > type->log_range)
		return SYN_GENERAL_RANGE;
	syn = gen_create(h, c, type, prm_in(c->in.p + HDR, c->in.len - HDR), (uint8_t)log, &id);
	if (syn == SYN_OK)
		PRM_SET(&c->out, general_obj_out_cmd_hdr, obj_id, id);
	return syn;
}

/* The object that the inbox names; *id: the one of its range that is meant. */
static enum syn find(struct hca *h, struct call *c, const struct gen_type *type, uint32_t *id)
{
	if (!type)
		return SYN_GENERAL_TYPE;
	*id = (uint32_t)PRM_GET(&c->in, general_obj_in_cmd_hdr, obj_id);
	c->obj = obj_find(h, type->obj, *id, c->uid);
	if (!c->obj)
		return obj_classes[type->obj].missing;
	return SYN_OK;
}

/* An object of a range is named by its own id, or by another one's and its distance from there. */
static enum syn find_one(struct hca *h, struct call *c, const struct gen_type *type, uint32_t *id)
{
	enum syn syn = find(h, c, type, id);
	struct prm_box param;
	uint32_t offset;

	if (syn != SYN_OK)
		return syn;
	param = PRM_SUB(&c->in, general_obj_in_cmd_hdr, op_param_query);
	if (PRM_GET(&param, general_obj_query_param, alias_object))
		return SYN_GENERAL_ALIAS;
	offset = (uint32_t)PRM_GET(&param, general_obj_query_param, obj_offset);
	if (offset >= (1u << c->obj->log) - (*id - c->obj->id))
		return SYN_GENERAL_OFFSET;
	*id += offset;
	return SYN_OK;
}

void gen_query(struct hca *h, const struct gen_type *type, struct hca_obj *obj, uint32_t id, struct prm_box out)
{
	struct prm_box ctx = gen_context(obj, id);
	uint8_t buf[GEN_BYTES_MAX];

	memcpy(buf, ctx.p, ctx.len);
	ctx.p = buf;
	clear_fields(type, &ctx, GEN_SECRET);
	if (type->show)
		type->show(h, obj, &ctx);
	/* What a modify may select: drivers ask so (Linux, drivers/net/ethernet/mellanox/mlx5/core/en_accel/ipsec_offload.c). */
	if (!type->no_select)
		prm_set(&ctx, 0, SELECT_BITS, selectable(type));
	memcpy(out.p, buf, out.len < ctx.len ? out.len : ctx.len);
}

static enum syn query(struct hca *h, struct call *c)
{
	const struct gen_type *type = type_of(h, c);
	uint32_t id;
	enum syn syn = find_one(h, c, type, &id);

	if (syn == SYN_OK && c->out.len < HDR + type->min)
		return SYN_OUT_LEN;
	if (syn == SYN_OK)
		gen_query(h, type, c->obj, id, prm_out(c->out.p + HDR, c->out.len - HDR));
	return syn;
}

enum syn gen_modify(struct hca *h, const struct gen_type *type, struct hca_obj *obj, uint32_t id, struct prm_box in,
		    uint64_t select)
{
	uint8_t buf[GEN_BYTES_MAX];
	struct gen_change ch = { .h = h, .type = type, .uid = obj->uid, .obj = obj, .in = in, .select = select };
	enum syn syn;

	if (select & ~selectable(type))
		return SYN_SELECT;
	ch.now = gen_context(obj, id);
	ch.next = prm_out(buf, ch.now.len);
	memcpy(buf, ch.now.p, ch.now.len);
	for (const struct gen_field *f = type->fields; f->rule != GEN_END; f++)
		if (f->rule == GEN_MODIFY && f->arg & select)
			prm_copy(&ch.next, f->at.bit, &ch.in, f->at.bit, f->at.width);
	if (ch.in.bad)
		return SYN_IN_LEN; /* the short form, and a field of the long one selected */
	syn = check_change(&ch);
	if (syn != SYN_OK)
		return syn;
	link_targets(obj, &ch);
	memcpy(ch.now.p, buf, ch.now.len);
	return SYN_OK;
}

static enum syn modify(struct hca *h, struct call *c)
{
	const struct gen_type *type = type_of(h, c);
	uint32_t id;
	struct prm_box in;
	enum syn syn = find_one(h, c, type, &id);

	if (syn != SYN_OK)
		return syn;
	if (!selectable(type))
		return SYN_GENERAL_FIXED;
	if (c->in.len < HDR + type->min)
		return SYN_IN_LEN;
	in = prm_in(c->in.p + HDR, c->in.len - HDR);
	return gen_modify(h, type, c->obj, id, in, prm_get(&in, 0, SELECT_BITS));
}

static enum syn destroy(struct hca *h, struct call *c)
{
	const struct gen_type *type = type_of(h, c);
	uint32_t id;
	enum syn syn = find(h, c, type, &id);

	if (syn != SYN_OK)
		return syn;
	if (id != c->obj->id)
		return SYN_GENERAL_BASE;
	if (c->obj->refs)
		return obj_classes[type->obj].busy;
	obj_free(h, c->obj);
	return SYN_OK;
}

/* op_mod is the object's type here. */
#define ROW(op, fn) { PRM_OP_##op, HDR, HDR, OP_MOD_ANY, OP_PLAIN, OBJ_NONE, 0, 0, fn, NULL }

const struct hca_op ops_general[] = {
	ROW(CREATE_GENERAL_OBJECT, create),
	ROW(MODIFY_GENERAL_OBJECT, modify),
	ROW(QUERY_GENERAL_OBJECT, query),
	ROW(DESTROY_GENERAL_OBJECT, destroy),
	{ 0 },
};
