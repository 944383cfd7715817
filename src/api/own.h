/* SPDX-License-Identifier: BSD-2-Clause */
/* Whose is a handle? Safe for any pointer, NULL and stale ones included: nothing is read through it. */
#ifndef ODX_OWN_H
#define ODX_OWN_H

#include "transport.h"

#define ODX_TRANSPORTS 2
extern const struct odx_transport_ops *const odx_transports[ODX_TRANSPORTS];

/* The transport that made it, or NULL: rdma-core's, or nobody's. */
const struct odx_transport_ops *odx_device_owner(const struct ibv_device *dev);
const struct odx_transport_ops *odx_context_owner(const struct ibv_context *ctx);
const struct odx_transport_ops *odx_umem_owner(const struct mlx5dv_devx_umem *umem);
/* Reads its fd: channels, as completions, are known by it. Not NULL. */
const struct odx_transport_ops *odx_channel_owner(const struct mlx5dv_devx_event_channel *channel);
const struct odx_transport_ops *odx_msi_owner(const struct mlx5dv_devx_msi_vector *msi);
const struct odx_transport_ops *odx_eq_owner(const struct mlx5dv_devx_eq *eq);
const struct odx_transport_ops *odx_uar_owner(const struct mlx5dv_devx_uar *uar);
const struct odx_transport_ops *odx_pd_owner(const struct ibv_pd *pd);
const struct odx_transport_ops *odx_mr_owner(const struct ibv_mr *mr);

/* A struct that is no handle of ours, by its fd: a duplicate's, say. Not NULL. */
const struct odx_transport_ops *odx_comp_by_fd(const struct mlx5dv_devx_cmd_comp *comp);

/* On the way of each command, so in the caller. */
static inline const struct odx_transport_ops *odx_obj_owner(const struct mlx5dv_devx_obj *obj)
{
	for (size_t i = 0; i < ODX_TRANSPORTS; i++)
		if (slab_owns(odx_transports[i]->objs, obj))
			return odx_transports[i];
	return NULL;
}

static inline const struct odx_transport_ops *odx_comp_owner(const struct mlx5dv_devx_cmd_comp *comp)
{
	for (size_t i = 0; i < ODX_TRANSPORTS; i++)
		if (slab_owns(odx_transports[i]->comps, comp))
			return odx_transports[i];
	return odx_comp_by_fd(comp);
}

/* The transports in the order in which their devices are listed; NULL after the last. */
const struct odx_transport_ops *odx_transport_at(size_t i);

#define odx_owns_context(ctx) (odx_context_owner(ctx) != NULL)

#endif
