/* SPDX-License-Identifier: BSD-2-Clause */
/* Export and import of objects and umems. */
#include "uverbs.h"

int uverbs_obj_export(struct mlx5dv_devx_obj *obj, void *data)
{
	return EOPNOTSUPP;
}

struct mlx5dv_devx_obj *uverbs_obj_import(struct ibv_context *ctx, const void *data)
{
	errno = EOPNOTSUPP;
	return NULL;
}

void uverbs_obj_unimport(struct mlx5dv_devx_obj *obj)
{
}

int uverbs_umem_export(struct mlx5dv_devx_umem *umem, void *data)
{
	return EOPNOTSUPP;
}

struct mlx5dv_devx_umem *uverbs_umem_import(struct ibv_context *ctx, const void *data)
{
	errno = EOPNOTSUPP;
	return NULL;
}

void uverbs_umem_unimport(struct mlx5dv_devx_umem *umem)
{
}
