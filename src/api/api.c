/* SPDX-License-Identifier: BSD-2-Clause */
/* The registry of transports: who owns a handle. */
#include <opendevx/opendevx.h>

#include "own.h"

const struct odx_transport_ops *const odx_transports[ODX_TRANSPORTS] = { &odx_uverbs_transport, &odx_soft_transport };

#define FIND(owns, handle)                                                                                         \
	for (size_t i = 0; i < ODX_TRANSPORTS; i++)                                                                \
		if (odx_transports[i]->owns(handle))                                                               \
			return odx_transports[i];                                                                    \
	return NULL

const struct odx_transport_ops *odx_device_owner(const struct ibv_device *dev)
{
	FIND(owns_device, dev);
}

const struct odx_transport_ops *odx_context_owner(const struct ibv_context *ctx)
{
	FIND(owns_context, ctx);
}

const struct odx_transport_ops *odx_umem_owner(const struct mlx5dv_devx_umem *umem)
{
	FIND(owns_umem, umem);
}

const struct odx_transport_ops *odx_comp_by_fd(const struct mlx5dv_devx_cmd_comp *comp)
{
	for (size_t i = 0; i < ODX_TRANSPORTS; i++)
		if (odx_transports[i]->owns_comp && odx_transports[i]->owns_comp(comp))
			return odx_transports[i];
	return NULL;
}

const struct odx_transport_ops *odx_msi_owner(const struct mlx5dv_devx_msi_vector *msi)
{
	FIND(owns_msi, msi);
}

const struct odx_transport_ops *odx_eq_owner(const struct mlx5dv_devx_eq *eq)
{
	FIND(owns_eq, eq);
}

const struct odx_transport_ops *odx_channel_owner(const struct mlx5dv_devx_event_channel *channel)
{
	FIND(owns_channel, channel);
}

const struct odx_transport_ops *odx_uar_owner(const struct mlx5dv_devx_uar *uar)
{
	FIND(owns_uar, uar);
}

const struct odx_transport_ops *odx_pd_owner(const struct ibv_pd *pd)
{
	FIND(owns_pd, pd);
}

const struct odx_transport_ops *odx_mr_owner(const struct ibv_mr *mr)
{
	FIND(owns_mr, mr);
}

const struct odx_transport_ops *odx_transport_at(size_t i)
{
	return i < ODX_TRANSPORTS ? odx_transports[i] : NULL;
}

ODX_EXPORT const char *odx_version(void)
{
	return OPENDEVX_VERSION;
}
