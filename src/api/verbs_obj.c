/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Query and modify commands on objects that verbs made: a completion queue, a queue pair and so on of a context of rdma-core
 * goes to libmlx5. A transport of ours makes no such objects, so that whatever names one of its contexts is refused.
 */
#include <opendevx/opendevx.h>

#include "call.h"

#define VERBS_OBJ(name, type)                                                                                        \
	ODX_EXPORT int name(type *obj, const void *in, size_t inlen, void *out, size_t outlen)                       \
	{                                                                                                            \
		if (!obj)                                                                                            \
			return result(EINVAL);                                                                       \
		if (odx_owns_context(obj->context))                                                                  \
			return result(EOPNOTSUPP);                                                                   \
		NEXT(name, "MLX5_1.8", EINVAL, obj, in, inlen, out, outlen);                                         \
	}

VERBS_OBJ(mlx5dv_devx_cq_query, struct ibv_cq)
VERBS_OBJ(mlx5dv_devx_cq_modify, struct ibv_cq)
VERBS_OBJ(mlx5dv_devx_qp_query, struct ibv_qp)
VERBS_OBJ(mlx5dv_devx_qp_modify, struct ibv_qp)
VERBS_OBJ(mlx5dv_devx_srq_query, struct ibv_srq)
VERBS_OBJ(mlx5dv_devx_srq_modify, struct ibv_srq)
VERBS_OBJ(mlx5dv_devx_wq_query, struct ibv_wq)
VERBS_OBJ(mlx5dv_devx_wq_modify, struct ibv_wq)
VERBS_OBJ(mlx5dv_devx_ind_tbl_query, struct ibv_rwq_ind_table)
VERBS_OBJ(mlx5dv_devx_ind_tbl_modify, struct ibv_rwq_ind_table)
