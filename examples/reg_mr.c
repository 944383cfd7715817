/* SPDX-License-Identifier: BSD-2-Clause */
/* A protection domain and a memory region of verbs, whose number and key DEVX commands may use. */
#include <err.h>
#include <infiniband/mlx5dv.h>
#include <opendevx/soft.h>
#include <stdio.h>

static char page[4096];

int main(void)
{
	struct ibv_device *dev = odx_soft_create("");
	struct ibv_context *ctx = dev ? mlx5dv_open_device(dev, NULL) : NULL;
	struct ibv_pd *pd = ctx ? ibv_alloc_pd(ctx) : NULL;
	struct ibv_mr *mr = pd ? ibv_reg_mr(pd, page, sizeof(page), IBV_ACCESS_LOCAL_WRITE) : NULL;
	struct mlx5dv_pd number;
	struct mlx5dv_obj obj = { .pd = { .in = pd, .out = &number } };

	if (!mr)
		err(1, "setup");
	if (mlx5dv_init_obj(&obj, MLX5DV_OBJ_PD))
		err(1, "mlx5dv_init_obj");
	printf("pd %u, lkey 0x%x\n", number.pdn, mr->lkey);
	if (ibv_dereg_mr(mr) || ibv_dealloc_pd(pd))
		err(1, "teardown");
	ibv_close_device(ctx);
	odx_soft_destroy(dev);
	return 0;
}
