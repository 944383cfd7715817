/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <opendevx/soft.h>
#include <stdlib.h>
#include <string.h>

enum { ALLOC_FLOW_COUNTER = 0x939, QUERY_FLOW_COUNTER = 0x93b };

void ours_open(struct ours *o, const char *spec, unsigned int n_counters)
{
	struct mlx5dv_context_attr attr = { .flags = MLX5DV_CONTEXT_FLAGS_DEVX };
	uint32_t in[4] = { htobe32(ALLOC_FLOW_COUNTER << 16) }, out[4];

	o->dev = odx_soft_create(spec);
	if (!o->dev)
		bench_die("odx_soft_create", errno);
	o->ctx = mlx5dv_open_device(o->dev, &attr);
	if (!o->ctx)
		bench_die("mlx5dv_open_device", errno);
	o->n = n_counters;
	o->objs = calloc(n_counters, sizeof(*o->objs));
	o->ids = calloc(n_counters, sizeof(*o->ids));
	if (!o->objs || !o->ids)
		bench_die("memory", ENOMEM);
	for (unsigned int i = 0; i < n_counters; i++) {
		o->objs[i] = mlx5dv_devx_obj_create(o->ctx, in, sizeof(in), out, sizeof(out));
		if (!o->objs[i])
			bench_die("mlx5dv_devx_obj_create", errno);
		o->ids[i] = out[2];
	}
}

void ours_close(struct ours *o)
{
	int err = ibv_close_device(o->ctx);

	if (!err)
		err = odx_soft_destroy(o->dev);
	if (err)
		bench_die("close", err);
	free(o->objs);
	free(o->ids);
}

struct mlx5dv_devx_cmd_comp *ours_comp(struct ours *o, bool nonblocking)
{
	struct mlx5dv_devx_cmd_comp *c = mlx5dv_devx_create_cmd_comp(o->ctx);

	if (!c)
		bench_die("mlx5dv_devx_create_cmd_comp", errno);
	if (nonblocking && fcntl(c->fd, F_SETFL, fcntl(c->fd, F_GETFL) | O_NONBLOCK))
		bench_die("fcntl", errno);
	return c;
}

void ours_submit(struct ours *o, unsigned int which, size_t outlen, uint64_t wr_id, struct mlx5dv_devx_cmd_comp *c)
{
	uint32_t in[BENCH_IN / 4] = { htobe32(QUERY_FLOW_COUNTER << 16) };
	int err;

	in[7] = o->ids[which];
	err = mlx5dv_devx_obj_query_async(o->objs[which], in, sizeof(in), outlen, wr_id, c);
	if (err)
		bench_die("mlx5dv_devx_obj_query_async", err);
}

bool ours_try(struct mlx5dv_devx_cmd_comp *c, struct ours_record *r)
{
	int err = mlx5dv_devx_get_async_cmd_comp(c, (struct mlx5dv_devx_async_cmd_hdr *)r, sizeof(*r));

	if (err == EAGAIN)
		return false;
	if (err)
		bench_die("mlx5dv_devx_get_async_cmd_comp", err);
	if (r->out[0])
		bench_die("a command failed", EREMOTEIO);
	return true;
}

void ours_take(struct mlx5dv_devx_cmd_comp *c, struct ours_record *r)
{
	bench_poll(c->fd);
	if (!ours_try(c, r))
		bench_die("readable, and no record", EAGAIN);
}
