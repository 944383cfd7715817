/* SPDX-License-Identifier: BSD-2-Clause */
/* Registers a page of memory with the device. */
#include <err.h>
#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <opendevx/soft.h>
#include <stdio.h>

static char page[4096] __attribute__((aligned(4096)));

int main(void)
{
	struct ibv_device *dev = odx_soft_create("");
	struct ibv_context *ctx = dev ? mlx5dv_open_device(dev, NULL) : NULL;
	struct mlx5dv_devx_umem *umem;

	if (!ctx)
		err(1, "open");
	umem = mlx5dv_devx_umem_reg(ctx, page, sizeof(page), IBV_ACCESS_LOCAL_WRITE);
	if (!umem)
		err(1, "mlx5dv_devx_umem_reg");
	printf("umem %u\n", umem->umem_id);
	errno = mlx5dv_devx_umem_dereg(umem); /* only now may the page be given back */
	if (errno)
		err(1, "mlx5dv_devx_umem_dereg");
	ibv_close_device(ctx);
	odx_soft_destroy(dev);
	return 0;
}
