/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How to make each object that a DEVX program can create, as data: the inboxes of create, query, modify and destroy, with the
 * objects that they refer to. Field places are the generated constants of src/prm; nothing here calls into the library, so
 * that the same table serves tests through the public API (kit.h) and those that hold the model itself.
 */
#ifndef RECIPES_H
#define RECIPES_H

#include <stdbool.h>
#include <stdint.h>

/* Parents before what refers to them. */
#define RCP_LIST \
	RCP(PD, pd) RCP(UMEM, umem) RCP(UAR, uar) RCP(MKEY, mkey) RCP(CQ, cq) RCP(Q_COUNTER, q_counter) \
	RCP(FLOW_COUNTER, flow_counter) RCP(QP, qp) RCP(TD, td) RCP(TIS, tis) RCP(RQ, rq) RCP(SQ, sq) \
	RCP(RMP, rmp) RCP(RQT, rqt) RCP(TIR, tir) RCP(XRCD, xrcd) RCP(SRQ, srq) RCP(XRC_SRQ, xrc_srq) \
	RCP(XRQ, xrq) RCP(DCT, dct) RCP(PSV, psv) RCP(UD_QP, ud_qp) RCP(MCG, mcg) RCP(FLOW_TABLE, flow_table) \
	RCP(MISS_TABLE, miss_table) RCP(FLOW_GROUP, flow_group) RCP(FLOW_ENTRY, flow_entry) \
	RCP(REFORMAT, reformat) RCP(MODIFY_HEADER, modify_header) RCP(VXLAN_PORT, vxlan_port) \
	RCP(L2_ENTRY, l2_entry) RCP(GENEVE_TLV, geneve_tlv) RCP(DEK, dek) RCP(MACSEC_KEY, macsec_key) \
	RCP(IPSEC, ipsec) RCP(MACSEC, macsec) RCP(IMPORT_KEK, import_kek) RCP(CREDENTIAL, credential) \
	RCP(LOGIN, login) RCP(INT_KEK, int_kek) RCP(DEFINER, definer) RCP(METER, meter) RCP(SAMPLER, sampler) \
	RCP(FLEX_NODE, flex_node) RCP(MODIFY_ARG, modify_arg) RCP(METER_ASO, meter_aso) RCP(HIT_ASO, hit_aso) \
	RCP(CONN_TRACK, conn_track) RCP(STC, stc) RCP(STE, ste) RCP(RTC, rtc) \
	RCP(MODIFY_PATTERN, modify_pattern) RCP(VIRTIO_COUNTERS, virtio_counters) \
	RCP(VIRTIO_NET_Q, virtio_net_q) RCP(PCIE_CONG, pcie_cong) RCP(SCHED, sched) RCP(SCHED_OBJ, sched_obj)

enum rcp_id {
#define RCP(upper, lower) RCP_##upper,
	RCP_LIST
#undef RCP
	RCP_N,
};

/* What a field is filled with. */
enum rcp_kind {
	RCP_VALUE,    /* value, as it stands */
	RCP_PARENT,   /* the id of the shared object of recipe `value`: the device must refuse any other */
	RCP_OPTIONAL, /* the same, where 0 means none */
	RCP_KEY,      /* of the shared mkey, with its tag */
	RCP_SERIAL,   /* value + how many were made before: what must differ between objects */
	RCP_FIRST,    /* value, only in the first one made */
	RCP_LATER,    /* as RCP_SERIAL, in all others */
	RCP_EQN,      /* the number of the first completion EQ */
	RCP_MTTS,     /* the addresses of two pages of memory, from here on: umems that are made by command */
};

/* Bits from the start of a box, as PRM_F_* name them. width 0: none. */
struct rcp_place {
	uint32_t bit, width;
};

struct rcp_field {
	uint32_t bit, width;
	enum rcp_kind kind;
	uint64_t value;
};

#define RCP_FIELDS_MAX 24
#define RCP_MKEY_TAG 0x5au

struct rcp_cmd {
	const char *layout;      /* of the inbox, by name; A+B: one behind the other; ?NAME: no public source has it */
	uint16_t opcode, op_mod;
	uint32_t inlen, outlen;  /* the shortest that a device takes */
	struct rcp_place id;     /* of the object: create has it in the outbox (but see named), the others in the inbox */
	struct rcp_field fields[RCP_FIELDS_MAX]; /* ended by width 0 */
};

/* A modifying command, with what a query shows after it. They apply one after the other. */
struct rcp_modify {
	struct rcp_cmd cmd;
	uint8_t status;        /* that the device answers; 0 */
	struct rcp_place seen; /* in the query's outbox */
	uint64_t value;
};

#define RCP_MODIFIES_MAX 10
#define RCP_QUERIES_MAX 3

struct recipe {
	const char *name;
	bool named;            /* the create's inbox, not its outbox, has the id: the program chooses it */
	bool shared_first;     /* the shared object is not like the others, and is made first */
	bool by_call;          /* a program has a call of its own for it and may not send the command: umem, UAR */
	struct rcp_cmd create, query, destroy; /* opcode 0: there is none */
	struct rcp_modify modify[RCP_MODIFIES_MAX]; /* ended by opcode 0 */
	struct rcp_modify more[RCP_QUERIES_MAX];    /* other queries, likewise; they show nothing of interest */
	enum rcp_id space;     /* the recipe whose ids these are of the same kind as; 0: its own */
	uint16_t needs;        /* a type of general objects besides its own; 0: none */
	uint32_t max;          /* as many as a device has ids for, rounded down; 0: a million at least */
};

#define RCP(upper, lower) extern const struct recipe rcp_##lower;
RCP_LIST
#undef RCP
extern const struct recipe *const recipes[RCP_N];

/* Commands that name no object, with the status that a device answers; ended by opcode 0. */
extern const struct rcp_modify rcp_general[];

/* What a device says it can do: the answers to both of these. */
extern const struct rcp_cmd rcp_caps_cmds[2];
struct rcp_caps {
	uint64_t types[2];   /* of general objects: bit n stands for type n, or 64 + n */
	uint32_t geneve_tlv; /* how many there can be */
};
void rcp_caps_take(struct rcp_caps *caps, unsigned int which, const void *out);
/* Has such a device the object, and all that it refers to? */
bool rcp_offered(enum rcp_id what, const struct rcp_caps *caps);

/* What the fields refer to. */
struct rcp_env {
	uint32_t id[RCP_N];
	uint32_t eqn;
	uint32_t apart; /* added to serials: two contexts on a device, where a number is the whole device's */
	uint64_t mem;
};

/* in: zeroed, of cmd->inlen bytes at least. self: the object's id, where the inbox names it. */
void rcp_fill(const struct rcp_cmd *cmd, const struct rcp_env *env, uint32_t self, uint32_t serial, void *in);
/* The next recipe that a command refers to; at: 0 at first. RCP_N: no more. */
enum rcp_id rcp_parent(const struct rcp_cmd *cmd, unsigned int *at);

uint64_t rcp_get(const void *box, struct rcp_place place);
void rcp_set(void *box, struct rcp_place place, uint64_t value);

#endif
