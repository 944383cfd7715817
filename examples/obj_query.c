/* SPDX-License-Identifier: BSD-2-Clause */
/* A flow counter, traffic on it, and its value. */
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
	__be32 alloc[4] = { htobe32(0x939 << 16) }, made[4];  /* ALLOC_FLOW_COUNTER */
	__be32 query[8] = { htobe32(0x93b << 16) }, value[8]; /* QUERY_FLOW_COUNTER */
	struct mlx5dv_devx_obj *counter;

	if (!ctx || !(counter = mlx5dv_devx_obj_create(ctx, alloc, sizeof(alloc), made, sizeof(made))))
		err(1, "open or ALLOC_FLOW_COUNTER");
	errno = odx_soft_traffic(dev, be32toh(made[2]), 3, 4500); /* 3 packets of 1,500 bytes */
	if (errno)
		err(1, "odx_soft_traffic");
	query[7] = made[2]; /* flow_counter_id */
	errno = mlx5dv_devx_obj_query(counter, query, sizeof(query), value, sizeof(value));
	if (errno)
		err(1, "QUERY_FLOW_COUNTER");
	printf("%u packets, %u octets\n", be32toh(value[5]), be32toh(value[7])); /* the low halves */
	mlx5dv_devx_obj_destroy(counter);
	ibv_close_device(ctx);
	odx_soft_destroy(dev);
	return 0;
}
