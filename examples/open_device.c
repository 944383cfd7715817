/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens the first mlx5 device. The context stays valid when the list is freed. */
#include <err.h>
#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <stdio.h>

int main(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = NULL;

	if (!list)
		err(1, "ibv_get_device_list");
	for (int i = 0; list[i] && !ctx; i++)
		if (mlx5dv_is_supported(list[i]))
			ctx = ibv_open_device(list[i]);
	ibv_free_device_list(list);
	if (!ctx)
		errx(1, "no mlx5 device could be opened");
	printf("opened %s\n", ibv_get_device_name(ctx->device));
	errno = ibv_close_device(ctx);
	if (errno)
		err(1, "ibv_close_device");
	return 0;
}
