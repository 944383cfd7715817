/* SPDX-License-Identifier: BSD-2-Clause */
/* Takes a doorbell register of its own, rings it, and gives it back. */
#include <err.h>
#include <errno.h>
#include <infiniband/mlx5_api.h>
#include <infiniband/mlx5dv.h>
#include <opendevx/opendevx.h>
#include <opendevx/soft.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
	struct ibv_device *dev = odx_soft_create("");
	struct ibv_context *ctx = dev ? mlx5dv_open_device(dev, NULL) : NULL;
	struct mlx5dv_devx_uar *uar = ctx ? mlx5dv_devx_alloc_uar(ctx, MLX5DV_UAR_ALLOC_TYPE_BF) : NULL;
	int fd;

	if (!uar)
		err(1, "mlx5dv_devx_alloc_uar");
	printf("UAR %u, register at byte 0x%x of its page\n", uar->page_id,
	       (unsigned int)((char *)uar->reg_addr - (char *)uar->base_addr));
	*(volatile uint64_t *)uar->reg_addr = 0; /* a queue that was created with page_id would look at this */
	fd = mlx5dv_devx_uar_export_dmabuf_fd(uar);
	if (fd >= 0)
		close(fd);
	else if (errno != EOPNOTSUPP) /* what a software device says */
		err(1, "mlx5dv_devx_uar_export_dmabuf_fd");
	mlx5dv_devx_free_uar(uar);
	ibv_close_device(ctx);
	odx_soft_destroy(dev);
	return 0;
}
