/* SPDX-License-Identifier: BSD-2-Clause */
/* Queries a completion queue that verbs made by a command. A software device makes none, and says so. */
#include <err.h>
#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <opendevx/soft.h>
#include <stdio.h>

int main(void)
{
	unsigned char in[16] = { 0x04, 0x02 }, out[16 + 64 + 192] = { 0 }; /* QUERY_CQ: header, context, addresses */
	struct ibv_device *dev = odx_soft_create("");
	struct ibv_context *ctx = dev ? ibv_open_device(dev) : NULL;
	struct ibv_cq *cq = ctx ? ibv_create_cq(ctx, 16, NULL, NULL, 0) : NULL;
	struct mlx5dv_cq number;
	struct mlx5dv_obj obj = { .cq = { .in = cq, .out = &number } };

	if (!ctx || (!cq && errno != EOPNOTSUPP))
		err(1, "setup");
	if (!cq) {
		puts("this device makes no completion queues for verbs");
	} else {
		if (mlx5dv_init_obj(&obj, MLX5DV_OBJ_CQ))
			err(1, "mlx5dv_init_obj");
		in[9] = number.cqn >> 16 & 0xff;
		in[10] = number.cqn >> 8 & 0xff;
		in[11] = number.cqn & 0xff;
		if ((errno = mlx5dv_devx_cq_query(cq, in, sizeof(in), out, sizeof(out))))
			err(1, "mlx5dv_devx_cq_query");
		printf("CQ %u, log size %u\n", number.cqn, out[16 + 12] & 0x1f);
		ibv_destroy_cq(cq);
	}
	ibv_close_device(ctx);
	odx_soft_destroy(dev);
	return 0;
}
