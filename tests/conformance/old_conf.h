/* SPDX-License-Identifier: BSD-2-Clause */
/* What the conformance tests share. They see what a program sees: public headers and libc. */
#ifndef CONF_H
#define CONF_H

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <opendevx/opendevx.h>
#include <opendevx/soft.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define SECOND UINT64_C(1000000000)
#define PATIENCE_MS 20000 /* how long a poll waits before the test gives up */

/* Opcodes, as the field names them. */
enum {
	QUERY_HCA_CAP = 0x100, QUERY_ADAPTER = 0x101, CREATE_CQ = 0x400, CREATE_MKEY = 0x200, NOP = 0x80d, ALLOC_PD = 0x800,
	DEALLOC_PD = 0x801, ALLOC_FLOW_COUNTER = 0x939, DEALLOC_FLOW_COUNTER = 0x93a, QUERY_FLOW_COUNTER = 0x93b,
	ACCESS_REG = 0x805, CREATE_GENERAL_OBJECT = 0xa00, CREATE_UCTX = 0xa04, CREATE_UMEM = 0xa08,
};

#define ABORTED_STATUS 0xfe
#define ABORTED_SYNDROME 0xbadd00de

/* A device, a context on it, a bulk of 128 flow counters and a completion. */
struct rig {
	struct ibv_device *dev;
	struct ibv_context *ctx;
	struct mlx5dv_devx_obj *obj;
	uint32_t id;
	struct mlx5dv_devx_cmd_comp *comp;
};

struct record {
	uint64_t wr_id;
	uint8_t out[65536];
};

struct rig rig_up(const char *spec);
void rig_down(struct rig *r);
/* For a group of tests that share one rig: their state. */
int group_up(void **state);
int group_down(void **state);

struct ibv_context *open_devx(struct ibv_device *dev);

void put16(void *box, size_t byte, uint16_t v);
void put32(void *box, size_t byte, uint32_t v);
void put64(void *box, size_t byte, uint64_t v);
uint32_t get32(const void *box, size_t byte);
uint64_t get64(const void *box, size_t byte);

/* The outbox of every command begins with these. */
uint8_t status_of(const void *out);
uint32_t syndrome_of(const void *out);

/* ALLOC_FLOW_COUNTER: bulk is the bit mask of the PRM (0: one counter, 1: 128, 2: 256 ..). */
struct mlx5dv_devx_obj *counters(struct ibv_context *ctx, uint8_t bulk, uint32_t *id);
struct mlx5dv_devx_obj *alloc_pd(struct ibv_context *ctx, uint32_t *pd);
/* The inbox of a counter query: 32 bytes. */
void query_inbox(uint8_t in[32], uint32_t id, uint32_t n);

/* An asynchronous query of the rig's first counter. */
int submit(struct rig *r, size_t outlen, uint64_t wr_id);
int submit_to(struct rig *r, struct mlx5dv_devx_cmd_comp *comp, size_t outlen, uint64_t wr_id);

int get(struct mlx5dv_devx_cmd_comp *comp, struct record *rec); /* with room for the largest */
/* Waits with poll and gets one; the test fails when none comes. */
void get_ready(struct mlx5dv_devx_cmd_comp *comp, struct record *rec);
void expect_wr(struct mlx5dv_devx_cmd_comp *comp, uint64_t wr_id);
void expect_none(struct mlx5dv_devx_cmd_comp *comp); /* not readable now */
void expect_aborted(const struct record *rec);
short ready(int fd, short events, int timeout_ms);   /* poll's revents */
void set_nonblock(int fd, bool on);

/* A thread that runs fn(arg), and whose sleep can be waited for. */
struct runner {
	pthread_t thread;
	void (*fn)(void *arg);
	void *arg;
	atomic_int tid;
	atomic_bool done;
};

void run(struct runner *t, void (*fn)(void *arg), void *arg);
void wait_asleep(struct runner *t); /* until it sleeps in the kernel */
void join(struct runner *t);

/* A blocking get in a thread of its own. */
struct getter {
	struct runner t;
	struct mlx5dv_devx_cmd_comp *comp;
	struct record rec;
	int err;
};

struct getter *getter_start(struct mlx5dv_devx_cmd_comp *comp);
int getter_end(struct getter *g, uint64_t *wr_id); /* joins and frees; wr_id may be NULL */

#endif
