/* SPDX-License-Identifier: BSD-2-Clause */
/* A user of the installed library: one command on a software device, then the version on stdout. */
#include <opendevx/opendevx.h>
#include <opendevx/soft.h>
#include <stdio.h>

int main(void)
{
	struct ibv_device *dev = odx_soft_create("");
	struct ibv_context *ctx = dev ? mlx5dv_open_device(dev, NULL) : NULL;
	unsigned char nop[16] = { 0x08, 0x0d }, out[16];

	if (!ctx || mlx5dv_devx_general_cmd(ctx, nop, sizeof(nop), out, sizeof(out)) || ibv_close_device(ctx) ||
	    odx_soft_destroy(dev))
		return 1;
	puts(odx_version());
	return 0;
}
