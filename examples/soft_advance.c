/* SPDX-License-Identifier: BSD-2-Clause */
/* A device whose time the test moves: an answer that takes 10 ms, and no waiting. */
#include <endian.h>
#include <err.h>
#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <opendevx/soft.h>
#include <poll.h>

int main(void)
{
	struct ibv_device *dev = odx_soft_create("clock=manual");
	struct ibv_context *ctx = dev ? mlx5dv_open_device(dev, NULL) : NULL;
	struct mlx5dv_devx_cmd_comp *comp = ctx ? mlx5dv_devx_create_cmd_comp(ctx) : NULL;
	__be32 alloc[4] = { htobe32(0x939 << 16) }, made[4], query[8] = { htobe32(0x93b << 16) };
	struct mlx5dv_devx_obj *counter;

	if (!comp || !(counter = mlx5dv_devx_obj_create(ctx, alloc, sizeof(alloc), made, sizeof(made))))
		err(1, "setup");
	query[7] = made[2];
	odx_soft_fault(dev, "opcode=0x93b delay=10ms");
	if ((errno = mlx5dv_devx_obj_query_async(counter, query, sizeof(query), 32, 1, comp)))
		err(1, "submit");
	struct pollfd pfd = { .fd = comp->fd, .events = POLLIN };
	odx_soft_advance(dev, 9999999);
	if (poll(&pfd, 1, 0) != 0)
		errx(1, "the answer came early");
	odx_soft_advance(dev, 1);
	if (poll(&pfd, 1, 0) != 1)
		errx(1, "the answer is late");
	mlx5dv_devx_destroy_cmd_comp(comp);
	return mlx5dv_devx_obj_destroy(counter) || ibv_close_device(ctx) || odx_soft_destroy(dev);
}
