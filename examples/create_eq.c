/* SPDX-License-Identifier: BSD-2-Clause */
/* An event queue of the program's own: the port's changes as EQEs in memory, and a descriptor that says when. */
#include <endian.h>
#include <err.h>
#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <opendevx/soft.h>
#include <poll.h>
#include <stdio.h>

#define LOG_EQES 7

int main(void)
{
	struct ibv_device *dev = odx_soft_create("");
	struct ibv_context *ctx = dev ? mlx5dv_open_device(dev, NULL) : NULL;
	struct mlx5dv_devx_uar *uar = ctx ? mlx5dv_devx_alloc_uar(ctx, MLX5DV_UAR_ALLOC_TYPE_NC) : NULL;
	struct mlx5dv_devx_msi_vector *msi = uar ? mlx5dv_devx_alloc_msi_vector(ctx) : NULL;
	__be32 in[68] = { htobe32(0x301 << 16) }, out[4]; /* CREATE_EQ */

	if (!msi)
		err(1, "setup");
	in[7] = htobe32(LOG_EQES << 24 | uar->page_id);
	in[9] = htobe32(msi->vector); /* intr */
	in[23] = htobe32(1 << 0x9);   /* event_bitmask: port change */
	struct mlx5dv_devx_eq *eq = mlx5dv_devx_create_eq(ctx, in, sizeof(in), out, sizeof(out));
	if (!eq)
		err(1, "create");
	odx_soft_port(dev, 1, 0);
	struct pollfd pfd = { .fd = msi->fd, .events = POLLIN };
	if (poll(&pfd, 1, 5000) != 1)
		errx(1, "no interrupt");
	unsigned char *eqe = eq->vaddr;
	for (uint32_t n = 0; (__atomic_load_n(&eqe[63], __ATOMIC_ACQUIRE) & 1) == (n >> LOG_EQES & 1); eqe += 64) {
		printf("event 0x%x, subtype 0x%x\n", eqe[1], eqe[3]);
		*(volatile __be32 *)((char *)uar->base_addr + 0x40) = htobe32(be32toh(out[2]) << 24 | ++n); /* arm */
	}
	return mlx5dv_devx_destroy_eq(eq) || mlx5dv_devx_free_msi_vector(msi) || ibv_close_device(ctx) || odx_soft_destroy(dev);
}
