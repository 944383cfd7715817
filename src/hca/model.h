/* SPDX-License-Identifier: BSD-2-Clause */
/* Inside the model: objects, command handlers, and what they share. */
#ifndef HCA_MODEL_H
#define HCA_MODEL_H

#include "hca.h"
#include "prm.h"

/* Why a command was refused: the table says status, number and text (syndromes.def). SYN_OK is zero. */
enum syn {
	SYN_OK,
#define SYNDROME(name, number, status, text) SYN_##name,
#include "syndromes.def"
#undef SYNDROME
	SYN_COUNT,
};

enum obj_type {
	OBJ_NONE,
	OBJ_PD, OBJ_UMEM, OBJ_MKEY, OBJ_CQ, OBJ_QP, OBJ_Q_COUNTER, OBJ_FLOW_COUNTER,
	/* Transport and queues. */
	OBJ_TD, OBJ_TIS, OBJ_TIR, OBJ_RQT, OBJ_SQ, OBJ_RQ, OBJ_RMP, OBJ_SRQ, OBJ_XRC_SRQ, OBJ_XRCD, OBJ_DCT, OBJ_XRQ, OBJ_MCG,
	OBJ_PSV,
	/* Steering. */
	OBJ_FLOW_TABLE, OBJ_FLOW_GROUP, OBJ_FLOW_ENTRY, OBJ_REFORMAT, OBJ_MODIFY_HEADER, OBJ_VXLAN_PORT, OBJ_L2_ENTRY,
	/* Events and doorbells. */
	OBJ_EQ, OBJ_UAR,
	/* Quality of service. */
	OBJ_SCHED,
	/* General objects. */
	OBJ_METER, OBJ_GENEVE_TLV, OBJ_DEK, OBJ_VIRTIO_NET_Q, OBJ_IPSEC, OBJ_DEFINER, OBJ_VIRTIO_Q_COUNTERS, OBJ_IMPORT_KEK, OBJ_CREDENTIAL,
	OBJ_LOGIN, OBJ_SAMPLER, OBJ_FLEX_NODE, OBJ_MODIFY_ARG, OBJ_METER_ASO, OBJ_HIT_ASO, OBJ_MACSEC, OBJ_CONN_TRACK, OBJ_STC,
	OBJ_RTC, OBJ_STE, OBJ_MODIFY_PATTERN, OBJ_INT_KEK, OBJ_PCIE_CONG, OBJ_AV_QP, OBJ_RESERVED_QPN,
	OBJ_N_TYPES,
};

/*
 * An object: every type begins with one. refs counts the objects that link to it, and refuses its destruction.
 * links are what this one refers to (NULL: a place that is empty now); obj_free() drops them. They lie behind the type's own
 * fields, out of the way of a command that only reads those.
 */
struct hca_obj {
	uint32_t id;
	uint16_t uid;
	uint8_t type;
	bool own_links : 1; /* more than lie behind the object: in memory of their own */
	bool ranged : 1;    /* it covers 1 << log ids (range.c) */
	uint8_t log : 5;
	uint32_t refs;
	uint32_t n_links : 27;
	uint32_t charge : 5; /* 1 << charge bytes of hca_config.memory are its; 0: none */
	struct hca_obj **links;
};

/* What the table of objects needs to know of a type. */
struct obj_class {
	uint32_t size;     /* of the whole struct */
	uint32_t max_links;
	uint32_t first_id;
	uint32_t max_id;
	enum syn missing, busy, limit;
	void (*fini)(struct hca_obj *obj); /* frees what the object owns besides itself; may be NULL */
	enum obj_type space; /* the type whose ids this one takes; OBJ_NONE: it has an id space of its own */
};

struct hca_op;

/* One command while it executes. */
struct call {
	struct prm_box in, out;
	uint16_t opcode, op_mod, uid;
	bool shared;       /* uid said that the object is the driver's, for programs too */
	uint32_t syndrome; /* filled where the number is not a table's: strict */
	struct hca_obj *obj; /* OP_ON and OP_DESTROY: the object that the inbox names */
	const struct hca_op *op;
};

typedef enum syn (*hca_handler)(struct hca *h, struct call *c);

enum op_kind {
	OP_PLAIN,   /* the handler does all */
	OP_ON,      /* the inbox names an object of the command's uid, found before the handler runs */
	OP_DESTROY, /* the same; refused while others refer to it; freed after the handler (which may be NULL) */
	OP_DRIVER,  /* as OP_PLAIN, only for uid 0 */
};

struct hca_op {
	uint16_t opcode;
	uint16_t in_min, out_min; /* bytes */
	uint16_t op_mods;         /* the highest op_mod that is defined; OP_MOD_ANY: the handler checks */
	uint8_t kind, type;       /* type and id place: OP_ON and OP_DESTROY */
	uint8_t id_width;
	uint16_t id_bit;
	hca_handler handler;
	const struct ctx_type *ctx; /* rows of types that are described as data (context.h) */
};

#define OP_MOD_ANY 0xffff
/* A row: the layout names give the sizes, and for objects the field that holds the id. */
#define OP_ROW(op, layout, k, fn) { PRM_OP_##op, PRM_SZ_##layout##_in, PRM_SZ_##layout##_out, 0, k, OBJ_NONE, 0, 0, fn, NULL }
#define OP_OBJ_ROW(op, layout, k, t, field, fn)                                                                      \
	{ PRM_OP_##op, PRM_SZ_##layout##_in, PRM_SZ_##layout##_out, 0, k, t, OP_PLACE(PRM_F_##layout##_in__##field), fn, NULL }
#define OP_PLACE(...) OP_PLACE_(__VA_ARGS__)
#define OP_PLACE_(bit, width) (width), (bit)

/* Tables of rows, one per file of handlers; ended by opcode 0. */
extern const struct hca_op ops_user[], ops_flow_counter[], ops_caps[], ops_mkey[], ops_cq[], ops_qp[], ops_q_counter[];
extern const struct hca_op ops_tis[], ops_tir[], ops_rq[], ops_sq[], ops_srq[], ops_xrq[], ops_dct[], ops_mcg[], ops_psv[], ops_pacing[];
/* Events and doorbells. */
extern const struct hca_op ops_uar[], ops_eq[], ops_registers[], ops_access_reg[], ops_set_caps[], ops_nic_vport[],
	ops_node[];
/* Steering. */
extern const struct hca_op ops_flow_table[], ops_flow_entry[], ops_reformat[], ops_l2[];
/* General objects and commands, quality of service. */
extern const struct hca_op ops_general[], ops_general_flow[], ops_scheduling[], ops_vport[], ops_congestion[],
	ops_user_cmds[];

#define OBJ_PAGE_IDS 512u  /* ids in a page of a table */
#define OBJ_RANGE_LOGS 24u /* the largest range is smaller than 2^24 */

struct obj_table {
	void ***pages;      /* two levels; an entry is an object, or a free id: (next free << 1 | 1) */
	uint32_t n_pages;   /* room in the first level */
	uint32_t next;      /* the lowest id never used */
	uint32_t free_head; /* 0: none; else a free id + 1 */
	uint32_t free_range[OBJ_RANGE_LOGS]; /* types with ranges: the first free one, by log2 of its size; 0: none */
	uint32_t count;
};

struct sched;
struct steer;
struct umem;
struct init;

/* An entry of the table of rates; rate 0: it is free. Entry 0 is never used: it means no limit. */
#define RATE_LIMITS 128u

struct rate_limit {
	uint32_t rate; /* kbit/s */
	uint16_t uid;
};

struct hca {
	struct hca_config cfg;
	struct hca_host ops;
	void *host;
	struct obj_table tables[OBJ_N_TYPES];
	uint32_t *user_objs; /* by uid: 0 when it is free, else 1 and the number of its objects */
	struct vport *vport;
	bool port_down, admin_down; /* the only port: its wire, and what the driver wants of it; events.c */
	uint32_t n_objs;            /* of all types and uids */
	struct init *init;          /* of a bare device, else NULL */
	uint64_t charged; /* of cfg.memory */
	uint32_t inlen;   /* of the command that executes: an object owns at most so much of what is in it */
	uint64_t rng;
	struct sched *sched;
	struct steer *steer;
	const struct hca_op *op_of[0x1000];
	const struct gen_type *gen_of[0x80]; /* general objects that the profile has, by their type */
	struct mcg_table *mcgs; /* multicast groups by gid */
	struct rate_limit rates[RATE_LIMITS];
	uint8_t scratch[65536]; /* the outbox of the command that executes */
};

#define UID_MAX 0xfffe
/* The driver's uid for what programs may name too: Linux gives it to event queues and q counters (MLX5_SHARED_RESOURCE_UID). */
#define UID_SHARED 0xffff

extern const struct obj_class obj_classes[OBJ_N_TYPES];

/* NULL: no such object for this uid. */
struct hca_obj *obj_find(struct hca *h, enum obj_type type, uint32_t id, uint16_t uid);
/*
 * For references. On a bare device a program's object may also name some kinds of the driver's: Linux gives queues of programs
 * its own CQ, SRQ and XRC domain where the program has none (drivers/infiniband/hw/mlx5/{qp,srq}.c), and all completion EQs are its.
 */
struct hca_obj *obj_refer(struct hca *h, enum obj_type type, uint32_t id, uint16_t uid);
/* As obj_find(), of whatever type: any that shares the id space of this one. */
struct hca_obj *obj_find_in_space(struct hca *h, enum obj_type type, uint32_t id, uint16_t uid);
struct hca_obj *obj_refer_in_space(struct hca *h, enum obj_type type, uint32_t id, uint16_t uid);
/* A zeroed object with an id of its own. NULL with *why set: the type's limit, or no memory. */
struct hca_obj *obj_new(struct hca *h, enum obj_type type, uint16_t uid, enum syn *why);
/* With room for so many links more than the class's max_links: their number is the object's, not the type's. */
struct hca_obj *obj_new_links(struct hca *h, enum obj_type type, uint16_t uid, uint32_t more_links, enum syn *why);
void obj_link(struct hca_obj *holder, struct hca_obj *target); /* at most as many as there is room for; target may be NULL */
void obj_relink(struct hca_obj *holder, uint32_t i, struct hca_obj *target); /* links[i] becomes target */
void obj_unlink_last(struct hca_obj *holder);
/* Room for n links, more than the class's max_links; those that are there stay. False: no memory, and nothing changed. */
bool obj_room(struct hca_obj *holder, uint32_t n);
/*
 * hca_config.memory: what an object and what it owns take, counted in powers of two. obj_affords() asks for one that is to be made;
 * obj_charge() raises what a live one has to so many bytes. False: past the limit, and nothing changed.
 */
bool obj_affords(const struct hca *h, uint64_t bytes);
bool obj_charge(struct hca *h, struct hca_obj *obj, uint64_t bytes);
void obj_free(struct hca *h, struct hca_obj *obj);             /* refs is zero; drops its links */
enum obj_type obj_space(enum obj_type type); /* whose table and range of ids it uses */
/* The entry of an id in the type's table, whole range made present first; NULL: no memory, or past max_id. */
void **obj_entry(struct hca *h, enum obj_type type, uint32_t id);
/* The entry as it is; NULL: there is none. */
void **obj_peek(struct hca *h, enum obj_type type, uint32_t id);
/* The object in a table's entry, or NULL when the entry is empty or a free id. */
static inline struct hca_obj *obj_in_entry(void **e)
{
	return !e || !*e || (uintptr_t)*e & 1 ? NULL : *e;
}
void obj_tables_free(struct hca *h);

/* Memory for an object of the type, zeroed but for its links and type, with no id yet. NULL: no memory. */
struct hca_obj *obj_alloc(enum obj_type type, uint16_t uid, uint32_t more_links);

/* A new one is in its place: counts it. */
void obj_count(struct hca *h, const struct hca_obj *obj);

/* range.c: an object that covers 1 << log ids. A type makes all its objects so, or none. NULL: as obj_new(). */
struct hca_obj *obj_new_range(struct hca *h, enum obj_type type, uint16_t uid, unsigned int log, enum syn *why);
void obj_give_range(struct hca *h, struct hca_obj *obj);

/* Memory of a umem, by byte offset; false: outside it, not allowed, or unreachable for the host. */
struct hca_obj *umem_find(struct hca *h, uint32_t id, uint16_t uid);
uint64_t umem_size(const struct hca_obj *umem);
bool umem_read(struct hca *h, const struct hca_obj *umem, uint64_t offset, void *dst, size_t len);
bool umem_write(struct hca *h, const struct hca_obj *umem, uint64_t offset, const void *src, size_t len);
bool umem_writable(const struct hca_obj *umem);

/*
 * Writes through an mkey (index << 8 | tag) at a virtual address, as a command of this uid (mkey.c). check_write asks all
 * that can be asked beforehand: key, range, access.
 */
enum syn mkey_find(struct hca *h, uint32_t mkey, uint16_t uid, struct hca_obj **out); /* key and tag, and it is not free */
enum syn mkey_check_write(struct hca *h, uint32_t mkey, uint16_t uid, uint64_t addr, uint64_t len);
enum syn mkey_write(struct hca *h, uint32_t mkey, uint16_t uid, uint64_t addr, const void *src, size_t len);

/* A q counter of this uid, or one of the driver's own; NULL: none. */
struct hca_obj *find_q_counter(struct hca *h, uint32_t id, uint16_t uid);

/* Deterministic pseudo-random numbers from the config's seed. */
uint64_t hca_random(struct hca *h);

/* Executes one command; in and out do not overlap. out is written whole. */
void hca_run(struct hca *h, const uint8_t *in, uint32_t inlen, uint8_t *out, uint32_t outlen);

#endif
