/* SPDX-License-Identifier: BSD-2-Clause */
/* Surprise removal: calls fail with EIO, destroys succeed, and the completion's descriptor tells. */
#define _GNU_SOURCE /* POLLRDHUP */
#include <endian.h>
#include <err.h>
#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <opendevx/soft.h>
#include <poll.h>

int main(void)
{
	struct ibv_device *dev = odx_soft_create("");
	struct ibv_context *ctx = dev ? mlx5dv_open_device(dev, NULL) : NULL;
	struct mlx5dv_devx_cmd_comp *comp = ctx ? mlx5dv_devx_create_cmd_comp(ctx) : NULL;
	__be32 nop[4] = { htobe32(0x80d << 16) }, out[4];

	if (!comp)
		err(1, "setup");
	errno = odx_soft_remove(dev);
	if (errno)
		err(1, "odx_soft_remove");
	if (mlx5dv_devx_general_cmd(ctx, nop, sizeof(nop), out, sizeof(out)) != EIO)
		errx(1, "a removed device answered");
	struct pollfd pfd = { .fd = comp->fd, .events = POLLIN | POLLRDHUP };
	if (poll(&pfd, 1, 0) != 1 || pfd.revents != (POLLIN | POLLRDHUP))
		errx(1, "the descriptor is not dead");
	mlx5dv_devx_destroy_cmd_comp(comp);
	return ibv_close_device(ctx) || odx_soft_destroy(dev);
}
