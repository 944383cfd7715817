/* SPDX-License-Identifier: BSD-2-Clause */
/* Holds answers back: nothing can be read until the test says so. */
#include <endian.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/mlx5dv.h>
#include <opendevx/soft.h>

int main(void)
{
	struct ibv_device *dev = odx_soft_create("");
	struct ibv_context *ctx = dev ? mlx5dv_open_device(dev, NULL) : NULL;
	struct mlx5dv_devx_cmd_comp *comp = ctx ? mlx5dv_devx_create_cmd_comp(ctx) : NULL;
	__be32 alloc[4] = { htobe32(0x939 << 16) }, made[4], query[8] = { htobe32(0x93b << 16) };
	union { struct mlx5dv_devx_async_cmd_hdr hdr; char room[8 + 32]; } answer;
	struct mlx5dv_devx_obj *counter;

	if (!comp || !(counter = mlx5dv_devx_obj_create(ctx, alloc, sizeof(alloc), made, sizeof(made))))
		err(1, "setup");
	fcntl(comp->fd, F_SETFL, O_NONBLOCK);
	query[7] = made[2];
	odx_soft_hold(dev);
	for (uint64_t i = 0; i < 2; i++)
		if ((errno = mlx5dv_devx_obj_query_async(counter, query, sizeof(query), 32, i, comp)))
			err(1, "submit");
	if (mlx5dv_devx_get_async_cmd_comp(comp, &answer.hdr, sizeof(answer)) != EAGAIN)
		errx(1, "an answer came while the device held");
	odx_soft_release(dev, 1); /* the oldest; it can be read now */
	if (mlx5dv_devx_get_async_cmd_comp(comp, &answer.hdr, sizeof(answer)) || answer.hdr.wr_id != 0)
		errx(1, "the first answer is missing");
	odx_soft_release(dev, UINT32_MAX); /* the others, and holding ends */
	if (mlx5dv_devx_get_async_cmd_comp(comp, &answer.hdr, sizeof(answer)) || answer.hdr.wr_id != 1)
		errx(1, "the second answer is missing");
	mlx5dv_devx_destroy_cmd_comp(comp);
	return mlx5dv_devx_obj_destroy(counter) || ibv_close_device(ctx) || odx_soft_destroy(dev);
}
