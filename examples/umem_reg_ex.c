/* SPDX-License-Identifier: BSD-2-Clause */
/* Registers a page for reading only, and lets the kernel use pages of 4 KiB and of 64 KiB. */
#include <err.h>
#include <infiniband/mlx5dv.h>
#include <opendevx/soft.h>
#include <stdio.h>

static char page[4096] __attribute__((aligned(4096)));

int main(void)
{
	struct mlx5dv_devx_umem_in in = {
		.addr = page, .size = sizeof(page), .access = 0, .pgsz_bitmap = 1 << 12 | 1 << 16,
	};
	struct ibv_device *dev = odx_soft_create("");
	struct ibv_context *ctx = dev ? mlx5dv_open_device(dev, NULL) : NULL;
	struct mlx5dv_devx_umem *umem = ctx ? mlx5dv_devx_umem_reg_ex(ctx, &in) : NULL;

	if (!umem)
		err(1, "mlx5dv_devx_umem_reg_ex");
	printf("umem %u\n", umem->umem_id);
	mlx5dv_devx_umem_dereg(umem);
	ibv_close_device(ctx);
	odx_soft_destroy(dev);
	return 0;
}
