/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes down a flow counter, makes a second handle of what was written, and destroys the counter through that. */
#define OPENDEVX_EXPORT_SIZES /* for headers that are older than rdma-core 63 */
#include <err.h>
#include <errno.h>
#include <opendevx/opendevx.h>
#include <opendevx/soft.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
	unsigned char in[16] = { 0x09, 0x39 }, out[16] = { 0 }; /* ALLOC_FLOW_COUNTER */
	struct ibv_device *dev = odx_soft_create("");
	struct ibv_context *ctx = dev ? mlx5dv_open_device(dev, NULL) : NULL;
	struct mlx5dv_devx_obj *obj = ctx ? mlx5dv_devx_obj_create(ctx, in, sizeof(in), out, sizeof(out)) : NULL, *other;
	struct mlx5dv_export_sizes sizes;
	void *data;

	mlx5dv_get_export_sizes(&sizes);
	data = malloc(sizes.devx_obj_attrs_size);
	if (!obj || !data)
		err(1, "setup");
	if ((errno = mlx5dv_devx_obj_export(obj, data)))
		err(1, "mlx5dv_devx_obj_export");
	other = mlx5dv_devx_obj_import(ctx, data);
	if (!other)
		err(1, "mlx5dv_devx_obj_import");
	printf("%u bytes name the counter\n", sizes.devx_obj_attrs_size);
	if ((errno = mlx5dv_devx_obj_destroy(other)))
		err(1, "mlx5dv_devx_obj_destroy");
	mlx5dv_devx_obj_unimport(obj); /* the object is gone, and this handle too now */
	free(data);
	ibv_close_device(ctx);
	odx_soft_destroy(dev);
	return 0;
}
