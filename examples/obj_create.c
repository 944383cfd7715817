/* SPDX-License-Identifier: BSD-2-Clause */
/* Creates a protection domain and destroys it. */
#include <endian.h>
#include <err.h>
#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <opendevx/soft.h>
#include <stdio.h>

int main(void)
{
	struct ibv_device *dev = odx_soft_create("");
	struct ibv_context *ctx = dev ? mlx5dv_open_device(dev, NULL) : NULL;
	__be32 in[4] = { htobe32(0x800 << 16) }, out[4] = { 0 }; /* ALLOC_PD */
	struct mlx5dv_devx_obj *pd;

	if (!ctx)
		err(1, "open");
	pd = mlx5dv_devx_obj_create(ctx, in, sizeof(in), out, sizeof(out));
	if (!pd)
		err(1, "ALLOC_PD: status 0x%x, syndrome 0x%x", be32toh(out[0]) >> 24, be32toh(out[1]));
	printf("pd 0x%x\n", be32toh(out[2]) & 0xffffff);
	errno = mlx5dv_devx_obj_destroy(pd);
	if (errno)
		err(1, "DEALLOC_PD");
	ibv_close_device(ctx);
	odx_soft_destroy(dev);
	return 0;
}
