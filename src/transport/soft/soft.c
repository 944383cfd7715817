/* SPDX-License-Identifier: BSD-2-Clause */
#include "device.h"

static bool owns_context(const struct ibv_context *ctx)
{
	return slab_owns(&soft_contexts, (const void *)((uintptr_t)ctx - offsetof(struct soft_context, verbs.context)));
}

static bool owns_umem(const struct mlx5dv_devx_umem *umem)
{
	return slab_owns(&soft_umems, umem);
}

const struct odx_transport_ops odx_soft_transport = {
	.name = "soft",
	.list = soft_list,
	.owns_device = soft_owns_device,
	.device_name = soft_device_name,
	.device_guid = soft_device_guid,
	.open = soft_open,
	.owns_context = owns_context,
	.objs = &soft_objs,
	.owns_umem = owns_umem,
	.comps = &soft_comps,
	.owns_comp = soft_owns_comp,
	.owns_uar = soft_owns_uar,
	.owns_pd = soft_owns_pd,
	.owns_mr = soft_owns_mr,
	.close = soft_close,
	.general_cmd = soft_general_cmd,
	.obj_create = soft_obj_create,
	.obj_query = soft_obj_query,
	.obj_modify = soft_obj_modify,
	.obj_destroy = soft_obj_destroy,
	.query_eqn = soft_query_eqn,
	.umem_reg = soft_umem_reg,
	.umem_dereg = soft_umem_dereg,
	.obj_export_size = SOFT_EXPORT_SIZE,
	.umem_export_size = SOFT_EXPORT_SIZE,
	.obj_export = soft_obj_export,
	.obj_import = soft_obj_import,
	.obj_unimport = soft_obj_unimport,
	.umem_export = soft_umem_export,
	.umem_import = soft_umem_import,
	.umem_unimport = soft_umem_unimport,
	.uar_alloc = soft_uar_alloc,
	.uar_free = soft_uar_free,
	.uar_export = soft_uar_export,
	.query_device = soft_query_device,
	.query_port = soft_query_port,
	.query_gid = soft_query_gid,
	.query_pkey = soft_query_pkey,
	.query_mlx5 = soft_query_mlx5,
	.pd_alloc = soft_pd_alloc,
	.pd_dealloc = soft_pd_dealloc,
	.pd_number = soft_pd_number,
	.mr_reg = soft_mr_reg,
	.mr_dereg = soft_mr_dereg,
	.comp_create = soft_comp_create,
	.comp_destroy = soft_comp_destroy,
	.obj_query_async = soft_obj_query_async,
	.comp_get = soft_comp_get,
	.owns_channel = soft_owns_channel,
	.channel_create = soft_channel_create,
	.channel_destroy = soft_channel_destroy,
	.subscribe = soft_subscribe,
	.event_get = soft_channel_get,
	.async_get = soft_async_get,
	.owns_msi = soft_owns_msi,
	.msi_alloc = soft_msi_alloc,
	.msi_free = soft_msi_free,
	.owns_eq = soft_owns_eq,
	.eq_create = soft_eq_create,
	.eq_destroy = soft_eq_destroy,
};
