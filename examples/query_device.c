/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks a device and its first port what they are. */
#include <err.h>
#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <opendevx/soft.h>
#include <stdio.h>

int main(void)
{
	struct ibv_device *dev = odx_soft_create("");
	struct ibv_context *ctx = dev ? mlx5dv_open_device(dev, NULL) : NULL;
	struct mlx5dv_context provider = { 0 };
	struct ibv_device_attr_ex more;
	struct ibv_device_attr attr;
	struct ibv_port_attr port;
	union ibv_gid gid;
	__be16 pkey;

	if (!ctx)
		err(1, "setup");
	if ((errno = ibv_query_device(ctx, &attr)) || (errno = ibv_query_device_ex(ctx, NULL, &more)) ||
	    (errno = ibv_query_port(ctx, 1, &port)) || (errno = mlx5dv_query_device(ctx, &provider)))
		err(1, "query");
	if (ibv_query_gid(ctx, 1, 0, &gid) || ibv_query_pkey(ctx, 1, 0, &pkey))
		err(1, "query");
	printf("firmware %s, part 0x%x, %d queue pairs, clock %u kHz\n", attr.fw_ver, attr.vendor_part_id, attr.max_qp,
	       (unsigned int)more.hca_core_clock);
	printf("port 1 %s, gid %02x%02x::, flags 0x%x\n", port.state == IBV_PORT_ACTIVE ? "is active" : "is not active",
	       gid.raw[0], gid.raw[1], (unsigned int)provider.flags);
	ibv_close_device(ctx);
	odx_soft_destroy(dev);
	return 0;
}
