/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The DEVX calls: whose handle is it, and on to its transport. What rdma-core made goes to libmlx5's own function, whose
 * objects have a private form; NULL is refused here, where libmlx5 would crash.
 */
#include <opendevx/opendevx.h>

#include "call.h"

ODX_EXPORT int mlx5dv_devx_general_cmd(struct ibv_context *ctx, const void *in, size_t inlen, void *out, size_t outlen)
{
	const struct odx_transport_ops *t = odx_context_owner(ctx);

	if (t)
		return result(t->general_cmd(ctx, in, inlen, out, outlen));
	if (!ctx)
		return result(EINVAL);
	NEXT(mlx5dv_devx_general_cmd, "MLX5_1.7", EINVAL, ctx, in, inlen, out, outlen);
}

ODX_EXPORT struct mlx5dv_devx_obj *mlx5dv_devx_obj_create(struct ibv_context *ctx, const void *in, size_t inlen, void *out,
							  size_t outlen)
{
	const struct odx_transport_ops *t = odx_context_owner(ctx);

	if (t)
		return t->obj_create(ctx, in, inlen, out, outlen);
	if (!ctx)
		return null_with(EINVAL);
	NEXT(mlx5dv_devx_obj_create, "MLX5_1.7", NULL, ctx, in, inlen, out, outlen);
}

ODX_EXPORT int mlx5dv_devx_obj_query(struct mlx5dv_devx_obj *obj, const void *in, size_t inlen, void *out, size_t outlen)
{
	const struct odx_transport_ops *t = odx_obj_owner(obj);

	if (t)
		return result(t->obj_query(obj, in, inlen, out, outlen));
	if (!obj)
		return result(EINVAL);
	NEXT(mlx5dv_devx_obj_query, "MLX5_1.7", EINVAL, obj, in, inlen, out, outlen);
}

ODX_EXPORT int mlx5dv_devx_obj_modify(struct mlx5dv_devx_obj *obj, const void *in, size_t inlen, void *out, size_t outlen)
{
	const struct odx_transport_ops *t = odx_obj_owner(obj);

	if (t)
		return result(t->obj_modify(obj, in, inlen, out, outlen));
	if (!obj)
		return result(EINVAL);
	NEXT(mlx5dv_devx_obj_modify, "MLX5_1.7", EINVAL, obj, in, inlen, out, outlen);
}

ODX_EXPORT int mlx5dv_devx_obj_destroy(struct mlx5dv_devx_obj *obj)
{
	const struct odx_transport_ops *t = odx_obj_owner(obj);

	if (t)
		return result(t->obj_destroy(obj));
	if (!obj)
		return 0;
	NEXT(mlx5dv_devx_obj_destroy, "MLX5_1.7", EINVAL, obj);
}

ODX_EXPORT int mlx5dv_devx_query_eqn(struct ibv_context *ctx, uint32_t vector, uint32_t *eqn)
{
	const struct odx_transport_ops *t = odx_context_owner(ctx);

	if (t)
		return result(eqn ? t->query_eqn(ctx, vector, eqn) : EINVAL);
	if (!ctx)
		return result(EINVAL);
	NEXT(mlx5dv_devx_query_eqn, "MLX5_1.7", EINVAL, ctx, vector, eqn);
}

ODX_EXPORT struct mlx5dv_devx_umem *mlx5dv_devx_umem_reg(struct ibv_context *ctx, void *addr, size_t size, uint32_t access)
{
	const struct odx_transport_ops *t = odx_context_owner(ctx);
	const struct odx_umem_req req = {
		.addr = addr, .size = size, .access = access, .pgsz_bitmap = ~UINT64_C(0) << 12, .dmabuf_fd = -1,
	};

	if (t)
		return t->umem_reg(ctx, &req);
	if (!ctx)
		return null_with(EINVAL);
	NEXT(mlx5dv_devx_umem_reg, "MLX5_1.7", NULL, ctx, addr, size, access);
}

ODX_EXPORT struct mlx5dv_devx_umem *mlx5dv_devx_umem_reg_ex(struct ibv_context *ctx, struct mlx5dv_devx_umem_in *in)
{
	const struct odx_transport_ops *t = odx_context_owner(ctx);
	struct odx_umem_req req;

	if (!t && ctx)
		NEXT(mlx5dv_devx_umem_reg_ex, "MLX5_1.19", NULL, ctx, in);
	if (!t || !in)
		return null_with(EINVAL);
	if (in->comp_mask & ~(uint64_t)MLX5DV_UMEM_MASK_DMABUF) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	req = (struct odx_umem_req){
		.addr = in->addr, .size = in->size, .access = in->access, .pgsz_bitmap = in->pgsz_bitmap,
		.has_dmabuf = in->comp_mask & MLX5DV_UMEM_MASK_DMABUF,
	};
	if (req.has_dmabuf)
		req.dmabuf_fd = in->dmabuf_fd;
	return t->umem_reg(ctx, &req);
}

ODX_EXPORT int mlx5dv_devx_umem_dereg(struct mlx5dv_devx_umem *umem)
{
	const struct odx_transport_ops *t = odx_umem_owner(umem);

	if (t)
		return result(t->umem_dereg(umem));
	if (!umem)
		return 0;
	NEXT(mlx5dv_devx_umem_dereg, "MLX5_1.7", EINVAL, umem);
}

ODX_EXPORT struct mlx5dv_devx_cmd_comp *mlx5dv_devx_create_cmd_comp(struct ibv_context *ctx)
{
	const struct odx_transport_ops *t = odx_context_owner(ctx);

	if (t)
		return t->comp_create(ctx);
	if (!ctx)
		return null_with(EINVAL);
	NEXT(mlx5dv_devx_create_cmd_comp, "MLX5_1.9", NULL, ctx);
}

ODX_EXPORT void mlx5dv_devx_destroy_cmd_comp(struct mlx5dv_devx_cmd_comp *comp)
{
	const struct odx_transport_ops *t = comp ? odx_comp_owner(comp) : NULL;
	__typeof__(&mlx5dv_devx_destroy_cmd_comp) next;

	if (t) {
		t->comp_destroy(comp);
		return;
	}
	if (!comp)
		return;
	next = (__typeof__(next))odx_next_mlx5("mlx5dv_devx_destroy_cmd_comp", "MLX5_1.9");
	if (next)
		next(comp);
}

/* All but kernel devices, in functions of their own: the way of those needs no register saved. */
static __attribute__((noinline)) int get_else(struct mlx5dv_devx_cmd_comp *comp, struct mlx5dv_devx_async_cmd_hdr *resp,
					      size_t len)
{
	const struct odx_transport_ops *t = comp ? odx_comp_owner(comp) : NULL;

	if (t)
		return result(resp ? t->comp_get(comp, resp, len) : EINVAL);
	if (!comp)
		return result(EINVAL);
	if (resp && !odx_next_mlx5("mlx5dv_devx_get_async_cmd_comp", "MLX5_1.9") && uverbs_is_fd(comp->fd, "[devx_async_cmd]"))
		return uverbs_comp_get(comp, resp, len); /* a struct of the program's own, with a duplicate in it */
	NEXT(mlx5dv_devx_get_async_cmd_comp, "MLX5_1.9", EINVAL, comp, resp, len);
}

ODX_EXPORT int mlx5dv_devx_get_async_cmd_comp(struct mlx5dv_devx_cmd_comp *comp, struct mlx5dv_devx_async_cmd_hdr *resp,
					      size_t len)
{
	if (slab_owns_aligned(&uverbs_comps, comp, ODX_UVERBS_COMP) && resp)
		return uverbs_comp_get(comp, resp, len);
	return get_else(comp, resp, len);
}

static __attribute__((noinline)) int query_async_else(struct mlx5dv_devx_obj *obj, const void *in, size_t inlen, size_t outlen,
						      uint64_t wr_id, struct mlx5dv_devx_cmd_comp *comp)
{
	const struct odx_transport_ops *t = odx_obj_owner(obj);

	if (t)
		return result(comp ? t->obj_query_async(obj, in, inlen, outlen, wr_id, comp) : EINVAL);
	if (!obj || !comp)
		return result(EINVAL);
	NEXT(mlx5dv_devx_obj_query_async, "MLX5_1.9", EINVAL, obj, in, inlen, outlen, wr_id, comp);
}

ODX_EXPORT int mlx5dv_devx_obj_query_async(struct mlx5dv_devx_obj *obj, const void *in, size_t inlen, size_t outlen,
					   uint64_t wr_id, struct mlx5dv_devx_cmd_comp *comp)
{
	if (slab_owns_aligned(&uverbs_objs, obj, ODX_UVERBS_OBJ) && comp)
		return uverbs_obj_query_async(obj, in, inlen, outlen, wr_id, comp);
	return query_async_else(obj, in, inlen, outlen, wr_id, comp);
}
