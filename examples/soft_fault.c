/* SPDX-License-Identifier: BSD-2-Clause */
/* The second NOP from now fails, with a status and a syndrome of the test's choice. */
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
	__be32 nop[4] = { htobe32(0x80d << 16) }, out[4];

	if (!ctx)
		err(1, "open");
	errno = odx_soft_fault(dev, "opcode=0x80d nth=2 status=0x5 syndrome=0x2c4154");
	if (errno)
		err(1, "odx_soft_fault");
	for (int i = 1; i <= 3; i++) {
		int rc = mlx5dv_devx_general_cmd(ctx, nop, sizeof(nop), out, sizeof(out));

		printf("NOP %d: status 0x%x, syndrome 0x%x\n", i, be32toh(out[0]) >> 24, be32toh(out[1]));
		if (rc != (i == 2 ? EREMOTEIO : 0))
			errx(1, "NOP %d gave %d", i, rc);
	}
	odx_soft_fault(dev, "clear");
	return ibv_close_device(ctx) || odx_soft_destroy(dev);
}
