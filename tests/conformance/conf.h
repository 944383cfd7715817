/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the cases share: the device under test, and things made on it that the case owns. They see what a program sees:
 * public headers, libc, and the generated numbers that say where a field lies in a mailbox.
 */
#ifndef CONF_H
#define CONF_H

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <opendevx/opendevx.h>
#include <opendevx/soft.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "prm_gen.h"

/* Other libraries have none of these: a case that needs them says SOFT, or OURS. */
#pragma weak odx_soft_create
#pragma weak odx_soft_destroy
#pragma weak odx_soft_hold
#pragma weak odx_soft_release
#pragma weak odx_soft_remove
#pragma weak odx_soft_fault
#pragma weak odx_soft_advance
#pragma weak odx_soft_traffic
#pragma weak odx_soft_spec
#pragma weak odx_soft_packet
#pragma weak odx_soft_port
#pragma weak odx_soft_event
#pragma weak odx_version

#define SECOND UINT64_C(1000000000)
#define PATIENCE_MS 20000 /* how long a poll waits before the case fails */
#define BOX_MAX 65535u    /* the largest mailbox (devx-abi 3) */
#define HDR_SZ 16u        /* the smallest */
#define SLOTS 31          /* commands that execute at a time (devx-abi 5) */

/* What the Linux driver writes for a command that was never answered. */
#define ABORTED_STATUS 0xfe
#define ABORTED_SYNDROME 0xbadd00de

/* Fields by name: GET(out, query_flow_counter_out, status); IN(box, layout, field) is where a nested layout begins. */
#define GET(box, layout, field) get_bits((box), PRM_F_##layout##__##field)
#define SET(box, layout, field, value) set_bits_((box), (value), PRM_F_##layout##__##field)
#define IN(box, layout, field) in_box((box), PRM_F_##layout##__##field)
#define SZ(layout) PRM_SZ_##layout
/* A zeroed inbox with its opcode. */
#define INBOX(name, layout, op)                                                                                        \
	uint8_t name[SZ(layout)] = { 0 };                                                                              \
	set_opcode(name, PRM_OP_##op)

uint64_t get_bits(const void *box, uint32_t bit, uint32_t width);
void set_bits(void *box, uint32_t bit, uint32_t width, uint64_t value);
static inline void set_bits_(void *box, uint64_t value, uint32_t bit, uint32_t width)
{
	set_bits(box, bit, width, value);
}
void *in_box(void *box, uint32_t bit, uint32_t width);

/* What every inbox and outbox begins with (devx-abi 3). */
void set_opcode(void *in, uint16_t opcode);
void set_uid(void *in, uint16_t uid);
void set_tunnel(void *in, uint16_t vhca_tunnel_id);
void set_op_mod(void *in, uint16_t op_mod);
uint8_t status_of(const void *out);
uint32_t syndrome_of(const void *out);

/* Before choose_device(): the socket or character device by which whoever serves the device under test is told. False: errno. */
bool control_open(const char *path);
/* Chooses the device under test: by name, or the first mlx5 device. True: there is one. */
bool choose_device(const char *name, const char *soft_spec);
const char *missing(unsigned int needs);
void unstick(void);

struct ibv_device *device(void);              /* the one under test */
bool is_soft(void);                           /* it is a software device */
/* One of the case's own, with the profile of the one under test; or that one itself, if it is under control and the spec is "". */
struct ibv_device *soft(const char *spec);
struct ibv_device *soft_with_port(void); /* soft(""), and what comes of a port's coming up is over */
struct ibv_context *context(void);            /* a DEVX context on device() */
struct ibv_context *open_devx(struct ibv_device *dev);
int close_context(struct ibv_context *ctx);   /* ibv_close_device; on success the case owns it no more */
int soft_destroy(struct ibv_device *dev);     /* odx_soft_destroy, likewise */
void fault(struct ibv_device *dev, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void hold(struct ibv_device *dev);
void release(struct ibv_device *dev, uint32_t n);
void advance(struct ibv_device *dev, uint64_t ns);
/* As odx_soft_port() of port 1, odx_soft_traffic(), odx_soft_event() and odx_soft_remove(). made_by: the opcode that made obj. */
int set_port(struct ibv_device *dev, int up);
int traffic(struct ibv_device *dev, uint32_t counter, uint64_t packets, uint64_t octets);
int raise_event(struct ibv_device *dev, struct mlx5dv_devx_obj *obj, uint16_t made_by, uint32_t id, uint16_t event, uint8_t syndrome);
int take_away(struct ibv_device *dev);

void end_obj(void *obj); /* for own(): destroys it */
/* Must succeed; the case owns the object. */
struct mlx5dv_devx_obj *create(struct ibv_context *ctx, const void *in, size_t inlen, void *out, size_t outlen);
/* Must fail so. For EREMOTEIO see the outbox. */
void refuse(struct ibv_context *ctx, const void *in, size_t inlen, void *out, size_t outlen, int err);
int destroy(struct mlx5dv_devx_obj *obj);     /* mlx5dv_devx_obj_destroy; on success the case owns it no more */
int general(struct ibv_context *ctx, const void *in, size_t inlen, void *out, size_t outlen);
int nop(struct ibv_context *ctx); /* a synchronous command: when it returns, the device has seen what was submitted before */
struct mlx5dv_devx_cmd_comp *new_comp(struct ibv_context *ctx);
void destroy_comp(struct mlx5dv_devx_cmd_comp *comp);
struct mlx5dv_devx_umem *reg(struct ibv_context *ctx, void *addr, size_t size, uint32_t access);
int dereg(struct mlx5dv_devx_umem *umem);

/*
 * The kernel's lists, written from its behaviour: a query or modify, what creates its object, and where its inbox has the
 * object's id.
 */
struct listed_op {
	uint16_t opcode, creator;
	uint32_t bit, width;
};

extern const struct listed_op listed_queries[], listed_modifies[]; /* ended by opcode 0 */
const struct listed_op *find_op(const struct listed_op *list, uint32_t opcode); /* NULL: not listed */

/* ALLOC_FLOW_COUNTER: bulk is the bit mask of the PRM (0: one counter, 1: 128, 2: 256 ..). */
struct mlx5dv_devx_obj *counters(struct ibv_context *ctx, uint8_t bulk, uint32_t *id);
struct mlx5dv_devx_obj *alloc_pd(struct ibv_context *ctx, uint32_t *pd);
/* The inbox of a query of n counters from id; without clear and dump. */
#define COUNTER_IN SZ(query_flow_counter_in)
void query_inbox(uint8_t in[COUNTER_IN], uint32_t id, uint32_t n);
int query_counters(struct mlx5dv_devx_obj *obj, uint32_t id, uint32_t n, void *out, size_t outlen);
#define COUNTERS_OUT(n) (SZ(query_flow_counter_out) + (n) * SZ(traffic_counter)) /* the outbox of n counters */
uint64_t packets_of(const void *out, uint32_t i);
uint64_t octets_of(const void *out, uint32_t i);

/* A context, a bulk of 128 flow counters and a completion, all owned by the case. */
struct rig {
	struct ibv_device *dev;
	struct ibv_context *ctx;
	struct mlx5dv_devx_obj *obj;
	uint32_t id;
	struct mlx5dv_devx_cmd_comp *comp;
};

struct rig rig(void);                  /* on device() */
struct rig rig_soft(const char *spec); /* on one of the case's own */
struct rig rig_on(struct ibv_device *dev);

struct record {
	uint64_t wr_id;
	uint8_t out[65536];
};

/* An asynchronous query of the rig's first counter. */
#define OUTLEN COUNTERS_OUT(1)
int submit(struct rig *r, size_t outlen, uint64_t wr_id);
int submit_to(struct rig *r, struct mlx5dv_devx_cmd_comp *comp, size_t outlen, uint64_t wr_id);

int get(struct mlx5dv_devx_cmd_comp *comp, struct record *rec); /* with room for the largest */
int get_sized(struct mlx5dv_devx_cmd_comp *comp, void *buf, size_t len);
/* Waits with poll and gets one; the case fails when none comes. */
void get_ready(struct mlx5dv_devx_cmd_comp *comp, struct record *rec);
void expect_wr(struct mlx5dv_devx_cmd_comp *comp, uint64_t wr_id);
void expect_none(struct mlx5dv_devx_cmd_comp *comp); /* not readable now */
void expect_aborted(const struct record *rec);
short ready(int fd, short events, int timeout_ms);   /* poll's revents */
void set_nonblock(int fd, bool on);

/* A blocking get in a thread of its own. */
struct getter {
	struct runner *t;
	struct mlx5dv_devx_cmd_comp *comp;
	struct record rec;
	int err;
};

struct getter *getter_start(struct mlx5dv_devx_cmd_comp *comp);
int getter_end(struct getter *g, uint64_t *wr_id); /* joins; wr_id may be NULL */

/* What a call without an outbox makes of a command's status; devx-abi 4. */
#define N_STATUS_ERRNOS 20u
extern const struct status_errno {
	uint8_t status;
	int err;
} status_errnos[N_STATUS_ERRNOS];

#endif
