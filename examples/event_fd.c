/* SPDX-License-Identifier: BSD-2-Clause */
/* Has an eventfd told when a completion queue fails, and makes it fail. */
#include <endian.h>
#include <err.h>
#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <opendevx/soft.h>
#include <stdio.h>
#include <sys/eventfd.h>

#define CQ_ERROR 0x4
static char queue[8192] __attribute__((aligned(4096))); /* 64 CQEs, and behind them the doorbell record */

int main(void)
{
	struct ibv_device *dev = odx_soft_create("");
	struct ibv_context *ctx = dev ? mlx5dv_open_device(dev, NULL) : NULL;
	struct mlx5dv_devx_event_channel *channel = ctx ? mlx5dv_devx_create_event_channel(ctx, 0) : NULL;
	struct mlx5dv_devx_umem *umem = channel ? mlx5dv_devx_umem_reg(ctx, queue, sizeof(queue), 1) : NULL;
	__be32 in[68] = { htobe32(0x400 << 16) }, out[4]; /* CREATE_CQ */
	eventfd_t n;
	uint32_t eqn;

	if (!umem || (errno = mlx5dv_devx_query_eqn(ctx, 0, &eqn)))
		err(1, "setup");
	in[4] = htobe32(1 << 25); /* dbr_umem_valid */
	in[5] = in[22] = htobe32(umem->umem_id);
	in[7] = htobe32(6 << 24); /* log_cq_size */
	in[9] = htobe32(eqn);
	in[19] = htobe32(4096); /* dbr_addr */
	struct mlx5dv_devx_obj *cq = mlx5dv_devx_obj_create(ctx, in, sizeof(in), out, sizeof(out));
	if (!cq)
		err(1, "create");
	int fd = eventfd(0, EFD_CLOEXEC);
	errno = mlx5dv_devx_subscribe_devx_event_fd(channel, fd, cq, CQ_ERROR);
	if (errno || (errno = odx_soft_event(dev, cq, CQ_ERROR, 1)) || eventfd_read(fd, &n))
		err(1, "event");
	printf("the cq failed: %d event\n", (int)n);
	mlx5dv_devx_destroy_event_channel(channel);
	return ibv_close_device(ctx) || odx_soft_destroy(dev);
}
