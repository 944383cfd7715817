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
#define RCP_LIST                                                                                                     \
	RCP(PD, pd) RCP(UMEM, umem) RCP(UAR, uar) RCP(MKEY, mkey) RCP(CQ, cq) RCP(Q_COUNTER, q_counter) RCP(FLOW_COUNTER, flow_counter) \
	RCP(QP, qp) RCP(TD, td) RCP(TIS, tis)

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
	RCP_SERIAL,   /* value + how many were made before: what must differ between objects */
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
	const char *layout;      /* of the inbox, by name */
	uint16_t opcode, op_mod;
	uint32_t inlen, outlen;  /* the shortest that a device takes */
	struct rcp_place id;     /* of the object: create has it in the outbox, the others in the inbox */
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

struct recipe {
	const char *name;
	bool by_call;          /* a program has a call of its own for it and may not send the command: umem, UAR */
	struct rcp_cmd create, query, destroy; /* opcode 0: there is none */
	struct rcp_modify modify[RCP_MODIFIES_MAX]; /* ended by opcode 0 */
	uint32_t max;          /* as many as a device has ids for, rounded down; 0: a million at least */
};

#define RCP(upper, lower) extern const struct recipe rcp_##lower;
RCP_LIST
#undef RCP
extern const struct recipe *const recipes[RCP_N];

/* Commands that name no object, as a device accepts them; ended by opcode 0. */
extern const struct rcp_cmd rcp_general[];

/* What the fields refer to. */
struct rcp_env {
	uint32_t id[RCP_N];
	uint32_t eqn;
	uint64_t mem;
};

/* in: zeroed, of cmd->inlen bytes at least. self: the object's id, where the inbox names it. */
void rcp_fill(const struct rcp_cmd *cmd, const struct rcp_env *env, uint32_t self, uint32_t serial, void *in);
/* The next recipe that a command refers to; at: 0 at first. RCP_N: no more. */
enum rcp_id rcp_parent(const struct rcp_cmd *cmd, unsigned int *at);

uint64_t rcp_get(const void *box, struct rcp_place place);
void rcp_set(void *box, struct rcp_place place, uint64_t value);

#endif
