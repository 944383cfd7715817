/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens a software device for DEVX. On a kernel device the flag makes the open fail when DEVX is not there. */
#include <err.h>
#include <infiniband/mlx5dv.h>
#include <opendevx/soft.h>
#include <stdio.h>

int main(void)
{
	struct mlx5dv_context_attr attr = { .flags = MLX5DV_CONTEXT_FLAGS_DEVX };
	struct ibv_device *dev = odx_soft_create("profile=cx7");
	struct ibv_context *ctx = dev ? mlx5dv_open_device(dev, &attr) : NULL;

	if (!ctx)
		err(1, "open");
	printf("opened %s, %d completion vectors\n", ibv_get_device_name(dev), ctx->num_comp_vectors);
	ibv_close_device(ctx);
	odx_soft_destroy(dev);
	return 0;
}
