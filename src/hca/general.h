/* SPDX-License-Identifier: BSD-2-Clause */
/* General objects (0xa00 to 0xa03): what the tables of their types say. */
#ifndef HCA_GENERAL_H
#define HCA_GENERAL_H

#include "context.h"

/* Links of a general object: references of its context. */
#define GEN_LINKS 16u
#define GEN_TYPES 0x80u
/* log2 of how many there can be, and of how many one create can make. */
#define GEN_LOG_MAX 24u
#define GEN_LOG_RANGE 12u
#define DEFINER_LOG_MAX 16u
#define LOGIN_LOG_MAX 8u
#define RTC_LOG_DEPTH 20u
/* The largest context of any type. */
#define GEN_BYTES_MAX 1024u

/* The contexts follow the object, or are a block of their own when it is a range. */
struct general {
	struct hca_obj obj;
	uint8_t *contexts;
	uint8_t one[];
};

/* What is true of a field besides that it is stored and comes back. */
enum gen_rule {
	GEN_END,
	GEN_RO,      /* the device's: what an inbox says there is not looked at */
	GEN_SECRET,  /* kept, and answered as zeros */
	GEN_REF,     /* names an object of the command's uid, which cannot go meanwhile */
	GEN_OPT_REF, /* the same, unless it is zero */
	GEN_KEY,     /* names an mkey with its tag: index << 8 | tag */
	GEN_OPT_KEY,
	GEN_MAX,     /* arg is the largest value */
	GEN_MODIFY,  /* arg: the bit of modify_field_select that a modify sets it by */
};

struct gen_field {
	uint8_t rule, obj; /* obj: enum obj_type */
	uint16_t syn;      /* enum syn */
	uint32_t arg;
	struct ctx_place at;
};

/* What a create or a modify is about to make of an object. Nothing has changed when the type's own check sees it. */
struct gen_change {
	struct hca *h;
	const struct gen_type *type;
	uint16_t uid;
	uint8_t log;         /* create: log2 of the number of objects */
	bool create;
	const struct hca_obj *obj; /* modify */
	uint64_t select;
	struct prm_box in;   /* the context in the inbox */
	struct prm_box now;  /* modify: as it is */
	struct prm_box next; /* as it will be */
	struct hca_obj *targets[GEN_LINKS]; /* what it will refer to; a check may add some */
	unsigned int n_targets;
};

struct gen_type {
	uint16_t type;        /* as commands name it */
	uint8_t obj;          /* enum obj_type */
	uint8_t profiles;     /* bit n: profile n has it */
	uint8_t log_range;    /* the largest log_obj_range; 0: only single ones. A ref of ranges cannot be modified */
	const char *layout;   /* of the context */
	uint16_t bytes;
	uint16_t min;         /* of it in a box, at least; some sources know a shorter form */
	bool no_select;       /* the context does not begin with modify_field_select */
	const struct gen_field *fields;
	enum syn (*check)(struct gen_change *c);                 /* may be NULL, as the others */
	void (*show)(struct hca *h, struct hca_obj *obj, struct prm_box *ctx); /* a query: what is not kept in the context */
};

#define CX5 (1u << HCA_CX5)
#define CX6DX (1u << HCA_CX6DX)
#define CX7 (1u << HCA_CX7)
#define BF3 (1u << HCA_BF3)
#define ALL_PROFILES (CX5 | CX6DX | CX7 | BF3)

#define RO(...) { GEN_RO, OBJ_NONE, SYN_OK, 0, __VA_ARGS__ }
#define SECRET(...) { GEN_SECRET, OBJ_NONE, SYN_OK, 0, __VA_ARGS__ }
#define REF(obj, ...) { GEN_REF, obj, SYN_OK, 0, __VA_ARGS__ }
#define OPT_REF(obj, ...) { GEN_OPT_REF, obj, SYN_OK, 0, __VA_ARGS__ }
#define KEY(...) { GEN_KEY, OBJ_MKEY, SYN_OK, 0, __VA_ARGS__ }
#define OPT_KEY(...) { GEN_OPT_KEY, OBJ_MKEY, SYN_OK, 0, __VA_ARGS__ }
#define MAX(max, syn, ...) { GEN_MAX, OBJ_NONE, syn, max, __VA_ARGS__ }
#define MODIFY(select, ...) { GEN_MODIFY, OBJ_NONE, SYN_OK, select, __VA_ARGS__ }
/* A whole array. */
#define GEN_ARRAY(layout, field, n) { CTX_BIT_OF(PRM_F_##layout##__##field), (n) * CTX_WIDTH_OF(PRM_F_##layout##__##field) }
/* A type whose context has one form. */
#define GEN_LAYOUT(l) .layout = #l, .bytes = PRM_SZ(l), .min = PRM_SZ(l)
/* Its class. Nobody needs to tell apart why general objects of one type or another are in use, or at an end. */
#define GEN_CLASS(layout, links, log, missing)                                                                       \
	{ sizeof(struct general) + PRM_SZ(layout), links, 1, (uint32_t)((UINT64_C(1) << (log)) - 1), missing,         \
	  SYN_GENERAL_BUSY, SYN_GENERAL_LIMIT, gen_fini, OBJ_NONE }
#define FIELDS_END { GEN_END, OBJ_NONE, SYN_OK, 0, { 0, 0 } }

/* Tables of types, ended by an obj of OBJ_NONE. */
extern const struct gen_type gen_flow[], gen_crypto[], gen_virtio[], gen_qos[];

void gen_refer(struct gen_change *c, struct hca_obj *obj);
/*
 * The same for other commands that make such an object; in and out are contexts. Whoever calls has found the object, and
 * checked the length of out.
 */
enum syn gen_create(struct hca *h, struct call *c, const struct gen_type *type, struct prm_box in, uint8_t log, uint32_t *id);
enum syn gen_modify(struct hca *h, const struct gen_type *type, struct hca_obj *obj, uint32_t id, struct prm_box in,
		    uint64_t select);
void gen_query(struct hca *h, const struct gen_type *type, struct hca_obj *obj, uint32_t id, struct prm_box out);
/* The layout of the context in this inbox; NULL: it has none, or names no type. */
const struct prm_layout *gen_layout(const struct hca *h, const struct call *c);
/* The context of an object: id may lie anywhere in the range of obj. */
struct prm_box gen_context(struct hca_obj *obj, uint32_t id);
/* For the capabilities: bit n stands for type n (from 0), or for type 64 + n (from 64). */
uint64_t gen_type_bits(const struct hca *h, unsigned int from);
void gen_init(struct hca *h);
void gen_fini(struct hca_obj *obj);

#endif
