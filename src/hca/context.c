/* SPDX-License-Identifier: BSD-2-Clause */
/* create, query and modify of types that are rows of data. Everything is looked up and checked before anything changes. */
#include <string.h>

#include "context.h"

static struct prm_box sub(struct prm_box *b, const struct ctx_place *at)
{
	return prm_sub(b, at->bit, at->width);
}

/* The object that a ref of this context names; NULL with SYN_OK: none. */
static enum syn follow(struct hca *h, struct call *c, const struct ctx_ref *ref, struct prm_box *ctx, struct hca_obj **to)
{
	uint32_t id = (uint32_t)prm_get(ctx, ref->at.bit, ref->at.width);

	*to = NULL;
	if (!id && ref->optional)
		return SYN_OK;
	*to = obj_refer(h, ref->type, id, c->uid);
	if (*to)
		return SYN_OK;
	return ref->missing ? ref->missing : obj_classes[ref->type].missing;
}

enum syn ctx_need(struct hca *h, struct call *c, enum obj_type type, uint32_t id, struct ctx_links *links)
{
	struct hca_obj *to = obj_refer(h, type, id, c->uid);

	if (!to)
		return obj_classes[type].missing;
	links->to[links->n++] = to;
	return SYN_OK;
}

enum syn ctx_create(struct hca *h, struct call *c)
{
	const struct ctx_type *t = c->op->ctx;
	struct prm_box ctx = sub(&c->in, &t->create);
	struct ctx_links links = { .n = 0 };
	struct ctx_obj *obj;
	enum syn syn = SYN_OK;

	for (const struct ctx_ref *ref = t->refs; syn == SYN_OK && ref && ref->type; ref++)
		syn = follow(h, c, ref, &ctx, &links.to[links.n++]);
	if (syn == SYN_OK && t->check)
		syn = t->check(h, c, &ctx, &links);
	if (syn != SYN_OK)
		return syn;
	obj = (struct ctx_obj *)obj_new(h, t->type, c->uid, &syn);
	if (!obj)
		return syn;
	prm_copy_defined(prm_inbox_layout(c->opcode), &c->in, t->create.bit, t->create.width, obj->ctx);
	for (unsigned int i = 0; i < links.n; i++)
		obj_link(&obj->obj, links.to[i]);
	if (t->made)
		t->made(h, c, obj);
	prm_set(&c->out, t->created.bit, t->created.width, obj->obj.id);
	return SYN_OK;
}

enum syn ctx_alloc(struct hca *h, struct call *c)
{
	const struct ctx_type *t = c->op->ctx;
	enum syn why;
	struct hca_obj *obj = obj_new(h, t->type, c->uid, &why);

	if (obj)
		prm_set(&c->out, t->created.bit, t->created.width, obj->id);
	return why;
}

enum syn ctx_query(struct hca *h, struct call *c)
{
	const struct ctx_type *t = c->op->ctx;
	struct ctx_obj *obj = (struct ctx_obj *)c->obj;
	struct prm_box ctx = sub(&c->out, &t->query);

	memcpy(ctx.p, obj->ctx, ctx.len);
	if (t->show)
		t->show(h, obj, &ctx);
	return SYN_OK;
}

/* The refs that the select touches: found into links, by their index. */
static enum syn follow_selected(struct hca *h, struct call *c, struct prm_box *ctx, uint64_t select, struct hca_obj **to)
{
	const struct ctx_type *t = c->op->ctx;
	enum syn syn = SYN_OK;

	for (unsigned int i = 0; syn == SYN_OK && t->refs && t->refs[i].type; i++)
		for (const struct ctx_select *s = t->selects; s->mask; s++)
			if (syn == SYN_OK && select & s->mask && s->at.bit == t->refs[i].at.bit)
				syn = follow(h, c, &t->refs[i], ctx, &to[i]);
	return syn;
}

static void relink_selected(struct call *c, uint64_t select, struct hca_obj *const *to)
{
	const struct ctx_type *t = c->op->ctx;

	for (unsigned int i = 0; t->refs && t->refs[i].type; i++)
		for (const struct ctx_select *s = t->selects; s->mask; s++)
			if (select & s->mask && s->at.bit == t->refs[i].at.bit)
				obj_relink(c->obj, i, to[i]);
}

enum syn ctx_modify(struct hca *h, struct call *c)
{
	const struct ctx_type *t = c->op->ctx;
	struct ctx_obj *obj = (struct ctx_obj *)c->obj;
	struct prm_box from = sub(&c->in, &t->modify), to = ctx_box(t, obj);
	uint64_t select = prm_get(&c->in, t->select.bit, t->select.width), known = 0;
	struct hca_obj *targets[CTX_REFS_MAX];
	enum syn syn;

	for (const struct ctx_select *s = t->selects; s->mask; s++)
		known |= s->mask;
	if (select & ~known)
		return SYN_SELECT;
	syn = follow_selected(h, c, &from, select, targets);
	if (syn == SYN_OK && t->check_modify)
		syn = t->check_modify(h, c, obj, &from, select);
	if (syn != SYN_OK)
		return syn;
	relink_selected(c, select, targets);
	for (const struct ctx_select *s = t->selects; s->mask; s++)
		if (select & s->mask)
			prm_copy(&to, s->at.bit, &from, s->at.bit, s->at.width);
	if (t->modified)
		t->modified(h, c, obj, &from, select);
	return SYN_OK;
}
