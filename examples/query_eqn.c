/* SPDX-License-Identifier: BSD-2-Clause */
/* The number of the event queue behind each completion vector. */
#include <err.h>
#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <opendevx/soft.h>
#include <stdio.h>

int main(void)
{
	struct ibv_device *dev = odx_soft_create("");
	struct ibv_context *ctx = dev ? mlx5dv_open_device(dev, NULL) : NULL;
	uint32_t eqn;

	if (!ctx)
		err(1, "open");
	for (int v = 0; v < ctx->num_comp_vectors; v++) {
		errno = mlx5dv_devx_query_eqn(ctx, v, &eqn);
		if (errno)
			err(1, "vector %d", v);
		printf("vector %d: EQN %u\n", v, eqn);
	}
	ibv_close_device(ctx);
	odx_soft_destroy(dev);
	return 0;
}
