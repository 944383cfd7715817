/* SPDX-License-Identifier: BSD-2-Clause */
/* Export and import of objects and umems. What one library wrote down, only it can read back: the context tells which. */
#include <opendevx/opendevx.h>
#include <string.h>

#include "call.h"

ODX_EXPORT int mlx5dv_devx_obj_export(struct mlx5dv_devx_obj *obj, void *data)
{
	const struct odx_transport_ops *t = odx_obj_owner(obj);

	if (!obj || !data)
		return result(EINVAL);
	if (t)
		return result(t->obj_export(obj, data));
	NEXT(mlx5dv_devx_obj_export, "MLX5_1.27", EINVAL, obj, data);
}

ODX_EXPORT struct mlx5dv_devx_obj *mlx5dv_devx_obj_import(struct ibv_context *context, void *data)
{
	const struct odx_transport_ops *t = odx_context_owner(context);

	if (!context || !data)
		return null_with(EINVAL);
	if (t)
		return t->obj_import(context, data);
	NEXT(mlx5dv_devx_obj_import, "MLX5_1.27", NULL, context, data);
}

ODX_EXPORT void mlx5dv_devx_obj_unimport(struct mlx5dv_devx_obj *obj)
{
	const struct odx_transport_ops *t = odx_obj_owner(obj);

	if (t)
		t->obj_unimport(obj);
	else if (obj)
		NEXT_VOID(mlx5dv_devx_obj_unimport, "MLX5_1.27", obj);
}

ODX_EXPORT int mlx5dv_devx_umem_export(struct mlx5dv_devx_umem *umem, void *data)
{
	const struct odx_transport_ops *t = odx_umem_owner(umem);

	if (!umem || !data)
		return result(EINVAL);
	if (t)
		return result(t->umem_export(umem, data));
	NEXT(mlx5dv_devx_umem_export, "MLX5_1.27", EINVAL, umem, data);
}

ODX_EXPORT struct mlx5dv_devx_umem *mlx5dv_devx_umem_import(struct ibv_context *context, void *data)
{
	const struct odx_transport_ops *t = odx_context_owner(context);

	if (!context || !data)
		return null_with(EINVAL);
	if (t)
		return t->umem_import(context, data);
	NEXT(mlx5dv_devx_umem_import, "MLX5_1.27", NULL, context, data);
}

ODX_EXPORT void mlx5dv_devx_umem_unimport(struct mlx5dv_devx_umem *umem)
{
	const struct odx_transport_ops *t = odx_umem_owner(umem);

	if (t)
		t->umem_unimport(umem);
	else if (umem)
		NEXT_VOID(mlx5dv_devx_umem_unimport, "MLX5_1.27", umem);
}

/* The struct as rdma-core 63 to 65 have it. */
struct sizes {
	uint32_t var, umem, obj;
};

static void at_least(uint32_t *have, uint32_t want)
{
	if (*have < want)
		*have = want;
}

/* Which library a program's context belongs to is not known here: what suffices for each of them. */
ODX_EXPORT void _mlx5dv_get_export_sizes(struct mlx5dv_export_sizes *out, size_t len)
{
	__typeof__(&_mlx5dv_get_export_sizes) next = (__typeof__(&_mlx5dv_get_export_sizes))odx_next_mlx5(
		"_mlx5dv_get_export_sizes", "MLX5_1.27");
	const struct odx_transport_ops *t;
	struct sizes s = { 0 };
	size_t ours = len < sizeof(s) ? len : sizeof(s);

	if (!out)
		return;
	if (next)
		next(out, len);
	else
		memset(out, 0, len);
	memcpy(&s, out, ours);
	for (size_t i = 0; (t = odx_transport_at(i)); i++) {
		at_least(&s.umem, t->umem_export_size);
		at_least(&s.obj, t->obj_export_size);
	}
	memcpy(out, &s, ours);
}
