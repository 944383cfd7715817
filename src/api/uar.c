/* SPDX-License-Identifier: BSD-2-Clause */
/* UARs. */
#include <opendevx/opendevx.h>

#include "call.h"

ODX_EXPORT struct mlx5dv_devx_uar *mlx5dv_devx_alloc_uar(struct ibv_context *context, uint32_t flags)
{
	const struct odx_transport_ops *t = odx_context_owner(context);

	if (t)
		return t->uar_alloc(context, flags);
	if (!context)
		return null_with(EINVAL);
	NEXT(mlx5dv_devx_alloc_uar, "MLX5_1.7", NULL, context, flags);
}

ODX_EXPORT void mlx5dv_devx_free_uar(struct mlx5dv_devx_uar *devx_uar)
{
	const struct odx_transport_ops *t = odx_uar_owner(devx_uar);

	if (t)
		t->uar_free(devx_uar);
	else if (devx_uar)
		NEXT_VOID(mlx5dv_devx_free_uar, "MLX5_1.7", devx_uar);
}

ODX_EXPORT int mlx5dv_devx_uar_export_dmabuf_fd(struct mlx5dv_devx_uar *devx_uar)
{
	const struct odx_transport_ops *t = odx_uar_owner(devx_uar);

	if (t)
		return t->uar_export(devx_uar);
	if (!devx_uar)
		return minus_one(EINVAL);
	NEXT(mlx5dv_devx_uar_export_dmabuf_fd, "MLX5_1.26", -1, devx_uar);
}
