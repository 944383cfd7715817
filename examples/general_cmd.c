/* SPDX-License-Identifier: BSD-2-Clause */
/* QUERY_HCA_CAP, the general page: how many ports the device has, and how many QPs. */
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
	__be32 in[4] = { htobe32(0x100 << 16), htobe32(1) }; /* op_mod 1: general page, current values */
	__be32 out[4 + 1024];                                /* 16 bytes, and a page of 4,096 */
	const __be32 *page = out + 4;

	if (!ctx)
		err(1, "open");
	errno = mlx5dv_devx_general_cmd(ctx, in, sizeof(in), out, sizeof(out));
	if (errno == EREMOTEIO) /* the device refused: the outbox says why */
		errx(1, "status 0x%x, syndrome 0x%x", be32toh(out[0]) >> 24, be32toh(out[1]));
	if (errno)
		err(1, "QUERY_HCA_CAP");
	printf("%u ports, 2^%u QPs\n", be32toh(page[13]) & 0xff, be32toh(page[4]) & 0x1f);
	ibv_close_device(ctx);
	odx_soft_destroy(dev);
	return 0;
}
