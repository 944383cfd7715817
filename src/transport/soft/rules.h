/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the kernel's DEVX layer lets pass (drivers/infiniband/hw/mlx5/devx.c of Linux): which opcodes belong to which call, and
 * how an inbox names its object. The soft transport stands where the kernel stands, so it asks the same.
 */
#ifndef SOFT_RULES_H
#define SOFT_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An object's identity: (create opcode | general object type << 16) << 32 | firmware id. */
bool rules_is_general(const uint8_t *in);
bool rules_is_create(const uint8_t *in);
#define RULES_DESTROY_MAX 64u /* as the kernel's: the longest is that of a flow table entry */
/*
 * The object's key, and the inbox that will destroy it, as far as the inbox that creates tells: asked before the command, because
 * a program may have the outbox in the same place. After a successful create the outbox tells the rest.
 */
uint64_t rules_creates(const uint8_t *in, size_t inlen, uint8_t destroy[RULES_DESTROY_MAX]);
uint64_t rules_created(uint64_t key, const uint8_t *out, size_t outlen, uint8_t destroy[RULES_DESTROY_MAX]);
/* Is the opcode a query (or a modify), and does the inbox name the object of that key? */
bool rules_is_query(const uint8_t *in);
bool rules_is_modify(const uint8_t *in);
bool rules_names(const uint8_t *in, size_t inlen, uint64_t key, uint32_t counters);
/* How many ids a flow counter object covers; 1 for everything else. */
uint32_t rules_span(const uint8_t *in);
/* The inbox is long enough to hold what the checks above read. */
bool rules_id_inside(const uint8_t *in, size_t inlen);
/* Sets what the kernel forces on in an inbox that creates or modifies: *_umem_valid. Only when the inbox holds the bit. */
void rules_force_umem(uint8_t *in, size_t inlen);
/* The one inbox whose length the kernel checks beyond its header: CREATE_MKEY's, up to the end of its context. */
bool rules_create_len_ok(const uint8_t *in, size_t inlen);
/* CREATE_CQ that is not for an APU, with its context inside the inbox: the EQN that it names. */
bool rules_cq_eqn(const uint8_t *in, size_t inlen, uint32_t *eqn);

/* How Linux tells the kinds of objects of an event apart (devx.c, get_dec_obj_type). */
uint16_t rules_event_object(uint64_t key, uint16_t event);

uint16_t rules_tunnel_id(const uint8_t *in);
void rules_stamp_uid(uint8_t *in, uint16_t uid);

#endif
