/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Types whose object is its context: what create was given is kept, query gives it back, modify copies the fields that its
 * select names. A type is a row of data, with hooks for the rules that are its own.
 */
#ifndef HCA_CONTEXT_H
#define HCA_CONTEXT_H

#include "model.h"

/* The two halves of a field's place, and the place of a field inside a nested layout. */
#define CTX_BIT_(bit, width) (bit)
#define CTX_BIT_OF(...) CTX_BIT_(__VA_ARGS__)
#define CTX_WIDTH_(bit, width) (width)
#define CTX_WIDTH_OF(...) CTX_WIDTH_(__VA_ARGS__)
#define CTX_PLACE(layout, field) { CTX_BIT_OF(PRM_F_##layout##__##field), CTX_WIDTH_OF(PRM_F_##layout##__##field) }
#define CTX_NESTED(layout, field, inner, inner_field)                                                                \
	{ CTX_BIT_OF(PRM_F_##layout##__##field) + CTX_BIT_OF(PRM_F_##inner##__##inner_field),                        \
	  CTX_WIDTH_OF(PRM_F_##inner##__##inner_field) }

/* All elements of a field that is there several times. */
#define CTX_ARRAY(layout, field)                                                                                     \
	{ CTX_BIT_OF(PRM_F_##layout##__##field), CTX_WIDTH_OF(PRM_F_##layout##__##field) * PRM_N_##layout##__##field }

struct ctx_place {
	uint32_t bit, width; /* width 0: there is none */
};

#define CTX_REFS_MAX 8u

/* A field of the context that names another object, of the same uid. Its link is links[i], i its index in the row. */
struct ctx_ref {
	enum obj_type type; /* OBJ_NONE ends the list */
	struct ctx_place at;
	bool optional;    /* zero names none, and the link stays NULL */
	enum syn missing; /* SYN_OK: as the type has it */
};

/* A field that modify copies when its bit of the select is set. A ref among them is looked up and linked anew. */
struct ctx_select {
	uint64_t mask;
	struct ctx_place at;
};

/* The mask of a bit field of a select's own layout. */
#define CTX_MASK(layout, field) (UINT64_C(1) << (PRM_SZ(layout) * 8 - 1 - CTX_BIT_OF(PRM_F_##layout##__##field)))

/* What a check found besides the refs: linked after them, in this order. */
struct ctx_links {
	struct hca_obj *to[CTX_REFS_MAX];
	unsigned int n;
};

struct ctx_obj {
	struct hca_obj obj;
	uint8_t state; /* for types that have one */
	uint8_t ctx[];
};

struct ctx_type {
	enum obj_type type;
	struct ctx_place create, created; /* the context in create's inbox, the id in its outbox */
	struct ctx_place modify, select;  /* the context and the select in modify's inbox */
	struct ctx_place query;           /* the context in query's outbox */
	const struct ctx_ref *refs;       /* at most CTX_REFS_MAX with what check adds; may be NULL */
	const struct ctx_select *selects; /* ended by mask 0; may be NULL */
	/* Hooks; each may be NULL. check and check_modify refuse, and change nothing. */
	enum syn (*check)(struct hca *h, struct call *c, struct prm_box *ctx, struct ctx_links *links);
	void (*made)(struct hca *h, struct call *c, struct ctx_obj *obj);
	enum syn (*check_modify)(struct hca *h, struct call *c, struct ctx_obj *obj, struct prm_box *ctx, uint64_t select);
	void (*modified)(struct hca *h, struct call *c, struct ctx_obj *obj, struct prm_box *ctx, uint64_t select);
	void (*show)(struct hca *h, struct ctx_obj *obj, struct prm_box *ctx); /* query: what the device knows better */
};

#define CTX_SIZE(layout) (sizeof(struct ctx_obj) + PRM_SZ(layout))

/* Rows of a type's commands. The layouts' names are create_x_in and so on. */
#define OP_CTX_CREATE(op, layout, row) OP_CTX_(op, layout, OP_PLAIN, OBJ_NONE, 0, 0, ctx_create, row)
/* Of an object that is nothing but its id: type and created are all that the row has. */
#define OP_CTX_ALLOC(op, layout, row) OP_CTX_(op, layout, OP_PLAIN, OBJ_NONE, 0, 0, ctx_alloc, row)
#define OP_CTX_QUERY(op, layout, type, field, row)                                                                   \
	OP_CTX_(op, layout, OP_ON, type, OP_PLACE(PRM_F_##layout##_in__##field), ctx_query, row)
#define OP_CTX_MODIFY(op, layout, type, field, row)                                                                  \
	OP_CTX_(op, layout, OP_ON, type, OP_PLACE(PRM_F_##layout##_in__##field), ctx_modify, row)
#define OP_CTX_(op, layout, ...) OP_CTX__(op, layout, __VA_ARGS__)
#define OP_CTX__(op, layout, k, t, w, b, fn, row)                                                                    \
	{ PRM_OP_##op, PRM_SZ_##layout##_in, PRM_SZ_##layout##_out, 0, k, t, w, b, fn, row }

enum syn ctx_create(struct hca *h, struct call *c);
enum syn ctx_alloc(struct hca *h, struct call *c);
enum syn ctx_query(struct hca *h, struct call *c);
enum syn ctx_modify(struct hca *h, struct call *c);

/* For checks: an object of the command's uid that must exist, added to the links. */
enum syn ctx_need(struct hca *h, struct call *c, enum obj_type type, uint32_t id, struct ctx_links *links);

static inline struct prm_box ctx_box(const struct ctx_type *t, struct ctx_obj *obj)
{
	return prm_out(obj->ctx, t->create.width / 8);
}

#endif
