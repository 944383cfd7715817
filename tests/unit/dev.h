/* SPDX-License-Identifier: BSD-2-Clause */
/* A device over a piece of fake memory, and commands to it whose refusals are counted by syndrome. */
#ifndef TEST_DEV_H
#define TEST_DEV_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model.h"
#include "types.h"

#define MEM_ADDR 0x100000u /* device address of the fake memory */
#define MEM_SIZE 0x100000u
#define PAGE 4096u
#define DEV_GUID UINT64_C(0x0200de0000000007)
#define MTT_RW 3u
#define MTT_RO 1u

struct dev {
	struct hca *h;
	uint8_t *mem;
	bool deny; /* the host refuses every access */
	unsigned int n_reads, n_writes;
	unsigned int n_events;
	struct hca_event last_event;
	unsigned int n_interrupts;
	uint32_t last_eqn, doorbells[2];
	uint64_t now;
};

struct cmd {
	uint8_t in[8192], out[8192];
	uint32_t inlen, outlen;
	struct prm_box i, o;
};

/* Tests run twice: commands executed at once, and through the queue. */
extern bool through_queue;
extern bool syn_seen[SYN_COUNT];
/* The k-th allocation from now on fails, once; 0: none does. */
extern unsigned int fail_alloc;

int dev_setup(void **state);
int dev_setup_off(void **state);  /* bare, as at power-on */
int dev_setup_bare(void **state); /* the same, initialised by a driver */
int dev_teardown(void **state);

void cmd_new(struct cmd *c, uint16_t opcode, uint16_t uid, uint32_t inlen, uint32_t outlen);
void cmd_op_mod(struct cmd *c, uint16_t op_mod);
void cmd_run(struct dev *d, struct cmd *c);
void cmd_ok(struct dev *d, struct cmd *c);
void cmd_refused(struct dev *d, struct cmd *c, enum syn why);
uint32_t syn_number(enum syn s);
const char *syn_name(enum syn s);

#define SET(c, layout, field, v) PRM_SET(&(c)->i, layout, field, v)
#define OUT(c, layout, field) PRM_GET(&(c)->o, layout, field)
#define CMD(c, op, uid, layout) cmd_new(c, PRM_OP_##op, uid, PRM_SZ(layout##_in), PRM_SZ(layout##_out))

uint16_t new_uid(struct dev *d);
uint32_t new_pd(struct dev *d, uint16_t uid);
/* Pages from page first of the fake memory on, in a row. */
uint32_t new_umem(struct dev *d, uint16_t uid, uint32_t first, uint32_t pages, uint32_t flags);
/* Their inboxes, ready to run and to be changed before. */
void mkey_cmd(struct cmd *c, uint16_t uid, uint32_t pd, uint32_t umem, uint64_t start, uint64_t len);
void cq_cmd(struct cmd *c, uint16_t uid, uint32_t umem);
void qp_cmd(struct cmd *c, uint16_t uid, uint32_t pd, uint32_t cqn, uint32_t umem);
uint32_t new_cq(struct dev *d, uint16_t uid, uint32_t umem);
uint32_t new_q_counter(struct dev *d, uint16_t uid);
void destroy(struct dev *d, uint16_t opcode, uint16_t uid, uint32_t id, enum syn why);

/* General objects: an inbox, of which the context is returned; boxes have room for contexts of this many bytes. */
struct prm_box gen_cmd(struct cmd *c, uint16_t opcode, uint16_t uid, uint16_t type, uint32_t id, uint32_t bytes);
uint32_t gen_new(struct dev *d, struct cmd *c);
/* Queries into c and returns the context. */
struct prm_box gen_get(struct dev *d, struct cmd *c, uint16_t uid, uint16_t type, uint32_t id, uint32_t bytes);
void gen_destroy(struct dev *d, uint16_t uid, uint16_t type, uint32_t id, enum syn why);
#define GEN_NEW(c, uid, type, layout) gen_cmd(c, PRM_OP_CREATE_GENERAL_OBJECT, uid, type, 0, PRM_SZ(layout))
#define GEN_MOD(c, uid, type, id, layout) gen_cmd(c, PRM_OP_MODIFY_GENERAL_OBJECT, uid, type, id, PRM_SZ(layout))
#define GEN_GET(d, c, uid, type, id, layout) gen_get(d, c, uid, type, id, PRM_SZ(layout))

int run_user_tests(void);
int run_counter_tests(void);
int run_mkey_tests(void);
int run_cq_tests(void);
int run_qp_tests(void);
int run_caps_tests(void);
int run_event_tests(void);
int run_eq_tests(void);
/* Transport and queues. */
int run_tis_tests(void);
int run_tir_tests(void);
int run_rq_tests(void);
int run_srq_tests(void);
int run_qp_kind_tests(void);
int run_pas_tests(void);
int run_driver_tests(void);
/* Steering. */
int run_flow_tests(void);
int run_reformat_tests(void);
int run_parse_tests(void);
int run_packet_tests(void);
int run_change_tests(void);

/* Events and doorbells. */
int run_uar_tests(void);
int run_boot_tests(void);
int run_pages_tests(void);
int run_node_tests(void);
int run_port_tests(void);
int run_life_tests(void);
/* General objects and commands, quality of service. */
int run_general_tests(void);
int run_general_flow_tests(void);
int run_crypto_tests(void);
int run_virtio_tests(void);
int run_scheduling_tests(void);
int run_vport_tests(void);

#endif
