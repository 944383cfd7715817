/* SPDX-License-Identifier: BSD-2-Clause */
#include "uverbs.h"

static bool owns_context(const struct ibv_context *ctx)
{
	return slab_owns(&uverbs_contexts, uverbs_ctx(ctx));
}

static bool owns_umem(const struct mlx5dv_devx_umem *umem)
{
	return slab_owns(&uverbs_umems, umem);
}

const struct odx_transport_ops odx_uverbs_transport = {
	.name = "uverbs",
	.list = uverbs_list,
	.owns_device = uverbs_owns_device,
	.device_name = uverbs_device_name,
	.device_guid = uverbs_device_guid,
	.open = uverbs_open,
	.import = uverbs_import,
	.owns_context = owns_context,
	.objs = &uverbs_objs,
	.owns_umem = owns_umem,
	.comps = &uverbs_comps,
	.owns_uar = uverbs_owns_uar,
	.owns_pd = uverbs_owns_pd,
	.owns_mr = uverbs_owns_mr,
	.close = uverbs_close,
	.general_cmd = uverbs_general_cmd,
	.obj_create = uverbs_obj_create,
	.obj_query = uverbs_obj_query,
	.obj_modify = uverbs_obj_modify,
	.obj_destroy = uverbs_obj_destroy,
	.query_eqn = uverbs_query_eqn,
	.umem_reg = uverbs_umem_reg,
	.umem_dereg = uverbs_umem_dereg,
	.obj_export_size = UVERBS_EXPORT,
	.umem_export_size = UVERBS_EXPORT,
	.obj_export = uverbs_obj_export,
	.obj_import = uverbs_obj_import,
	.obj_unimport = uverbs_obj_unimport,
	.umem_export = uverbs_umem_export,
	.umem_import = uverbs_umem_import,
	.umem_unimport = uverbs_umem_unimport,
	.uar_alloc = uverbs_uar_alloc,
	.uar_free = uverbs_uar_free,
	.uar_export = uverbs_uar_export,
	.query_device = uverbs_query_device,
	.query_port = uverbs_query_port,
	.query_gid = uverbs_query_gid,
	.query_pkey = uverbs_query_pkey,
	.query_mlx5 = uverbs_query_mlx5,
	.pd_alloc = uverbs_pd_alloc,
	.pd_dealloc = uverbs_pd_dealloc,
	.pd_number = uverbs_pd_number,
	.mr_reg = uverbs_mr_reg,
	.mr_dereg = uverbs_mr_dereg,
	.comp_create = uverbs_comp_create,
	.comp_destroy = uverbs_comp_destroy,
	.obj_query_async = uverbs_obj_query_async,
	.comp_get = uverbs_comp_get,
	.owns_channel = uverbs_owns_channel,
	.channel_create = uverbs_channel_create,
	.channel_destroy = uverbs_channel_destroy,
	.subscribe = uverbs_subscribe,
	.event_get = uverbs_channel_get,
	.async_get = uverbs_async_get,
	.owns_msi = uverbs_owns_msi,
	.msi_alloc = uverbs_msi_alloc,
	.msi_free = uverbs_msi_free,
	.owns_eq = uverbs_owns_eq,
	.eq_create = uverbs_eq_create,
	.eq_destroy = uverbs_eq_destroy,
};
