/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A DEVX program as one writes it for rdma-core: it is compiled and linked against rdma-core and knows nothing of OpenDEVX.
 * In between it calls verbs, some of which a software context does not have.
 */
#include <endian.h>
#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "body.h"

#define CHECK(cond)                                                                                                \
	do {                                                                                                       \
		if (!(cond)) {                                                                                     \
			fprintf(stderr, "%s:%d: %s (errno %d)\n", __FILE__, __LINE__, #cond, errno);               \
			return 1;                                                                                  \
		}                                                                                                  \
	} while (0)

enum { NOP = 0x80d, QUERY_HCA_CAP = 0x100, ALLOC_FLOW_COUNTER = 0x939, QUERY_FLOW_COUNTER = 0x93b };

/* Boxes are big-endian: the opcode in bytes 0-1, op_mod in 6-7. */
static void put16(uint8_t *at, uint16_t v)
{
	at[0] = v >> 8;
	at[1] = v;
}

static void put32(uint8_t *at, uint32_t v)
{
	put16(at, v >> 16);
	put16(at + 2, v);
}

static uint32_t get32(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | at[1] << 16 | at[2] << 8 | at[3];
}

static struct ibv_context *open_soft(void)
{
	struct mlx5dv_context_attr attr = { .flags = MLX5DV_CONTEXT_FLAGS_DEVX };
	struct ibv_context *ctx = NULL;
	struct ibv_device **list;
	int n = -1;

	list = ibv_get_device_list(&n);
	if (!list)
		return NULL;
	for (int i = 0; i < n; i++)
		if (!strcmp(ibv_get_device_name(list[i]), "mlx5_soft0") && mlx5dv_is_supported(list[i]) &&
		    ibv_get_device_guid(list[i]))
			ctx = mlx5dv_open_device(list[i], &attr);
	ibv_free_device_list(list);
	return ctx;
}

/* What a program asks before it begins. */
static int ask(struct ibv_context *ctx)
{
	struct ibv_device_attr_ex attr_ex;
	struct ibv_device_attr attr;
	struct ibv_port_attr port;
	struct mlx5dv_context dv = { 0 };
	union ibv_gid gid;
	__be16 pkey;

	CHECK(ibv_query_device(ctx, &attr) == 0 && attr.vendor_id == 0x2c9);
	CHECK(ibv_query_device_ex(ctx, NULL, &attr_ex) == 0 && !memcmp(&attr_ex.orig_attr, &attr, sizeof(attr)));
	CHECK(ibv_query_port(ctx, 1, &port) == 0 && port.state == IBV_PORT_ACTIVE);
	CHECK(ibv_query_port(ctx, 2, &port) == EINVAL);
	CHECK(ibv_query_gid(ctx, 1, 0, &gid) == 0 && gid.raw[0] == 0xfe);
	CHECK(ibv_query_pkey(ctx, 1, 0, &pkey) == 0 && pkey == 0xffff);
	CHECK(mlx5dv_query_device(ctx, &dv) == 0 && dv.flags & MLX5DV_CONTEXT_FLAGS_CQE_V1);
	return 0;
}

/* What a program mixes in: memory and doorbells work, queues are refused, and nothing crashes. */
static int verbs_between(struct ibv_context *ctx)
{
	struct ibv_cq_init_attr_ex cq_attr = { .cqe = 1 };
	static uint8_t mem[4096];
	struct mlx5dv_pd pdn = { 0 };
	struct mlx5dv_obj init = { .pd = { .out = &pdn } };
	struct mlx5dv_devx_uar *uar;
	struct ibv_pd *pd;
	struct ibv_mr *mr;

	CHECK((pd = ibv_alloc_pd(ctx)));
	init.pd.in = pd;
	CHECK(mlx5dv_init_obj(&init, MLX5DV_OBJ_PD) == 0 && pdn.pdn);
	CHECK((mr = ibv_reg_mr(pd, mem, sizeof(mem), IBV_ACCESS_LOCAL_WRITE)));
	CHECK(ibv_dealloc_pd(pd) == EBUSY);
	CHECK(ibv_dereg_mr(mr) == 0);
	CHECK((mr = ibv_reg_mr(pd, mem, sizeof(mem), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_RELAXED_ORDERING)));
	CHECK(ibv_dereg_mr(mr) == 0);
	CHECK(ibv_dealloc_pd(pd) == 0);
	CHECK((uar = mlx5dv_devx_alloc_uar(ctx, 0)));
	*(volatile uint64_t *)uar->reg_addr = 1;
	mlx5dv_devx_free_uar(uar);
	errno = 0;
	CHECK(!ibv_create_cq(ctx, 16, NULL, NULL, 0) && errno == EOPNOTSUPP);
	errno = 0;
	CHECK(!ibv_create_cq_ex(ctx, &cq_attr) && errno == EOPNOTSUPP);
	return 0;
}

static int query_counter(struct mlx5dv_devx_obj *obj, uint32_t id, struct mlx5dv_devx_cmd_comp *comp)
{
	union {
		struct mlx5dv_devx_async_cmd_hdr hdr;
		uint8_t bytes[sizeof(struct mlx5dv_devx_async_cmd_hdr) + 32];
	} got;
	uint8_t in[32] = { 0 }, *out = got.bytes + sizeof(got.hdr);
	struct pollfd p = { .fd = comp->fd, .events = POLLIN };

	put16(in, QUERY_FLOW_COUNTER);
	put32(in + 28, id);
	memset(&got, 0xaa, sizeof(got));
	CHECK(mlx5dv_devx_obj_query_async(obj, in, sizeof(in), 32, 0x1122334455667788, comp) == 0);
	CHECK(poll(&p, 1, 60000) == 1 && p.revents == POLLIN);
	CHECK(mlx5dv_devx_get_async_cmd_comp(comp, &got.hdr, sizeof(got)) == 0);
	CHECK(got.hdr.wr_id == 0x1122334455667788);
	CHECK(out[0] == 0 && get32(out + 4) == 0);
	for (int i = 16; i < 32; i++) /* a new counter has counted nothing */
		CHECK(out[i] == 0);
	return 0;
}

int abi_body(void)
{
	uint8_t in[16] = { 0 }, out[16] = { 0 }, cap_in[16] = { 0 }, cap_out[16 + 4096] = { 0 };
	struct mlx5dv_devx_cmd_comp *comp;
	struct mlx5dv_devx_obj *obj;
	struct ibv_context *ctx;

	ctx = open_soft();
	CHECK(ctx);
	put16(in, NOP);
	CHECK(mlx5dv_devx_general_cmd(ctx, in, sizeof(in), out, sizeof(out)) == 0);
	put16(cap_in, QUERY_HCA_CAP);
	put16(cap_in + 6, 1); /* general capabilities, current */
	CHECK(mlx5dv_devx_general_cmd(ctx, cap_in, sizeof(cap_in), cap_out, sizeof(cap_out)) == 0 && !cap_out[0]);

	if (ask(ctx) || verbs_between(ctx))
		return 1;

	memset(in, 0, sizeof(in));
	put16(in, ALLOC_FLOW_COUNTER);
	obj = mlx5dv_devx_obj_create(ctx, in, sizeof(in), out, sizeof(out));
	CHECK(obj);
	comp = mlx5dv_devx_create_cmd_comp(ctx);
	CHECK(comp);
	if (query_counter(obj, get32(out + 8), comp) || verbs_between(ctx) || query_counter(obj, get32(out + 8), comp))
		return 1;
	mlx5dv_devx_destroy_cmd_comp(comp);
	CHECK(mlx5dv_devx_obj_destroy(obj) == 0);
	CHECK(ibv_close_device(ctx) == 0);
	return 0;
}
