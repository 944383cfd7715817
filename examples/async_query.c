/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks a flow counter for its value without waiting in the call, and waits on the completion's descriptor. */
#include <endian.h>
#include <err.h>
#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <opendevx/soft.h>
#include <poll.h>
#include <stdio.h>

int main(void)
{
	struct ibv_device *dev = odx_soft_create("latency=20us");
	struct ibv_context *ctx = dev ? mlx5dv_open_device(dev, NULL) : NULL;
	struct mlx5dv_devx_cmd_comp *comp = ctx ? mlx5dv_devx_create_cmd_comp(ctx) : NULL;
	__be32 alloc[4] = { htobe32(0x939 << 16) }, made[4], query[8] = { htobe32(0x93b << 16) };
	union { struct mlx5dv_devx_async_cmd_hdr hdr; __be32 dw[2 + 8]; } answer; /* wr_id, then outlen bytes */
	struct mlx5dv_devx_obj *counter;

	if (!comp || !(counter = mlx5dv_devx_obj_create(ctx, alloc, sizeof(alloc), made, sizeof(made))))
		err(1, "setup");
	odx_soft_traffic(dev, be32toh(made[2]), 3, 4500); /* as if packets had passed */
	query[7] = made[2];
	if ((errno = mlx5dv_devx_obj_query_async(counter, query, sizeof(query), 32, 7, comp)))
		err(1, "submit");
	struct pollfd pfd = { .fd = comp->fd, .events = POLLIN };
	if (poll(&pfd, 1, 5000) != 1)
		errx(1, "no answer");
	if ((errno = mlx5dv_devx_get_async_cmd_comp(comp, &answer.hdr, sizeof(answer))))
		err(1, "get");
	printf("query %d: status %u, %u packets, %u octets\n", (int)answer.hdr.wr_id, be32toh(answer.dw[2]) >> 24,
	       be32toh(answer.dw[7]), be32toh(answer.dw[9]));
	mlx5dv_devx_destroy_cmd_comp(comp);
	return mlx5dv_devx_obj_destroy(counter) || ibv_close_device(ctx) || odx_soft_destroy(dev);
}
