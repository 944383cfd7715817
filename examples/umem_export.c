/* SPDX-License-Identifier: BSD-2-Clause */
/* A second handle for registered memory, given up again: the registration stays. */
#define OPENDEVX_EXPORT_SIZES /* for headers that are older than rdma-core 63 */
#include <err.h>
#include <errno.h>
#include <opendevx/opendevx.h>
#include <opendevx/soft.h>
#include <stdio.h>
#include <stdlib.h>

static char page[4096] __attribute__((aligned(4096)));

int main(void)
{
	struct ibv_device *dev = odx_soft_create("");
	struct ibv_context *ctx = dev ? mlx5dv_open_device(dev, NULL) : NULL;
	struct mlx5dv_devx_umem *umem = ctx ? mlx5dv_devx_umem_reg(ctx, page, sizeof(page), 0) : NULL, *other;
	struct mlx5dv_export_sizes sizes;
	void *data;

	mlx5dv_get_export_sizes(&sizes);
	data = malloc(sizes.devx_umem_attrs_size);
	if (!umem || !data)
		err(1, "setup");
	if ((errno = mlx5dv_devx_umem_export(umem, data)))
		err(1, "mlx5dv_devx_umem_export");
	other = mlx5dv_devx_umem_import(ctx, data);
	if (!other)
		err(1, "mlx5dv_devx_umem_import");
	printf("umem %u, and umem %u\n", umem->umem_id, other->umem_id);
	mlx5dv_devx_umem_unimport(other);
	free(data);
	mlx5dv_devx_umem_dereg(umem);
	ibv_close_device(ctx);
	odx_soft_destroy(dev);
	return 0;
}
