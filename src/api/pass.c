/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every other export of libibverbs and libmlx5 that can meet a software device. A call on something that a transport of
 * ours made answers EOPNOTSUPP; any other call goes to rdma-core's function as it came. The old IBVERBS_1.0 and MLX5_1.0
 * forms of names that have a newer one are left to rdma-core.
 *
 * Left out, because nothing that they take can be ours: objects that only rdma-core makes and that a software context
 * refuses to make (mlx5dv_mkey, flow matcher, steering anchor, dek, crypto login object, var, pp, scheduling nodes and
 * leaves, mlx5dv_qp_ex, DMA handles, buffers and completion counters of ibv_*, and all of mlx5dv_dr_* but what takes a
 * context, a QP or a DEVX object), ibv_import_device (a descriptor), mlx5dv_get_vfio_device_list, and names that take
 * plain values.
 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#include "newer.h"
#include "next.h"
#include "own.h"

#undef ibv_query_port
#undef ibv_reg_mr
#undef ibv_reg_mr_iova

/* Whose: does the handle belong to a transport of ours? It is not NULL. */
#define OWN_CTX(h) odx_owns_context(h)
#define OWN_OBJ(h) odx_owns_context((h)->context)
#define OWN_QPEX(h) odx_owns_context((h)->qp_base.context)
#define OWN_DEV(h) (odx_device_owner(h) != NULL)
#define OWN_DEVX(h) (odx_obj_owner(h) != NULL)
#define OWN_NEVER(h) false
#define HANDLE_CTX(h) (h)
#define HANDLE_OBJ(h) (h)
#define HANDLE_QPEX(h) (h)
#define HANDLE_DEV(h) (h)
#define HANDLE_DEVX(h) (h)
#define HANDLE_NEVER(h) (h)

/* How a family fails: a NULL pointer, a positive errno value, -1, a negative errno value, 0, nothing. errno is set always. */
#define FAIL_PTR(e) return errno = (e), NULL
#define FAIL_ERR(e) return errno = (e)
#define FAIL_M1(e) return errno = (e), -1
#define FAIL_NEG(e) return errno = (e), -(e)
#define FAIL_ZERO(e) return errno = (e), 0
#define FAIL_DEL(e) FAIL_ERR(e)
#define FAIL_VOID(e) do { errno = (e); return; } while (0)
/* What NULL gives: nothing happens in a destroy, dereg or free; else EINVAL. */
#define NULL_PTR FAIL_PTR(EINVAL)
#define NULL_ERR FAIL_ERR(EINVAL)
#define NULL_M1 FAIL_M1(EINVAL)
#define NULL_NEG FAIL_NEG(EINVAL)
#define NULL_ZERO FAIL_ZERO(EINVAL)
#define NULL_DEL return 0
#define NULL_VOID return
/* A function that returns nothing cannot return a value. */
#define CALL_PTR return
#define CALL_ERR return
#define CALL_M1 return
#define CALL_NEG return
#define CALL_ZERO return
#define CALL_DEL return
#define CALL_VOID

#define PASS(next, version, conv, handle, ret, name, params, args)                                                 \
	ODX_EXPORT ret name params                                                                                 \
	{                                                                                                          \
		__typeof__(&name) next_fn;                                                                         \
                                                                                                                   \
		if (!HANDLE_##handle)                                                                              \
			NULL_##conv;                                                                               \
		if (OWN_##handle)                                                                                  \
			FAIL_##conv(EOPNOTSUPP);                                                                   \
		next_fn = (__typeof__(&name))next(#name, version);                                                 \
		if (!next_fn)                                                                                      \
			FAIL_##conv(EOPNOTSUPP);                                                                   \
		CALL_##conv next_fn args;                                                                          \
	}

#define IBV(version, conv, handle, ret, name, params, args) PASS(odx_next_ibverbs, version, conv, handle, ret, name, params, args)
#define MLX(version, conv, handle, ret, name, params, args) PASS(odx_next_mlx5, version, conv, handle, ret, name, params, args)

#include "pass_ibverbs.tbl"
#include "pass_mlx5.tbl"

/* What is ours lies deeper, or not in the first argument. */

#define NEXT_MLX5(name, version) ((__typeof__(&name))odx_next_mlx5(#name, version))

ODX_EXPORT struct mlx5dv_mkey *mlx5dv_create_mkey(struct mlx5dv_mkey_init_attr *mkey_init_attr)
{
	__typeof__(&mlx5dv_create_mkey) next_fn;

	if (!mkey_init_attr || !mkey_init_attr->pd)
		FAIL_PTR(EINVAL);
	if (odx_owns_context(mkey_init_attr->pd->context))
		FAIL_PTR(EOPNOTSUPP);
	next_fn = NEXT_MLX5(mlx5dv_create_mkey, "MLX5_1.10");
	if (!next_fn)
		FAIL_PTR(EOPNOTSUPP);
	return next_fn(mkey_init_attr);
}

/* Does one of the actions name an object of ours? An attribute is stride bytes long: newer headers have longer ones. */
static bool actions_own(const struct mlx5dv_flow_action_attr *attr, size_t n, size_t stride)
{
	for (; n; n--, attr = (const struct mlx5dv_flow_action_attr *)((const char *)attr + stride))
		if ((attr->type == MLX5DV_FLOW_ACTION_DEST_DEVX || attr->type == MLX5DV_FLOW_ACTION_COUNTERS_DEVX) &&
		    odx_obj_owner(attr->obj))
			return true;
	return false;
}

/* What the first form of the struct ends with. */
#define ACTION_MIN (offsetof(struct mlx5dv_flow_action_attr, obj) + sizeof(void *))

ODX_EXPORT struct ibv_flow *mlx5dv_create_flow(struct mlx5dv_flow_matcher *matcher,
					       struct mlx5dv_flow_match_parameters *match_value, size_t num_actions,
					       struct mlx5dv_flow_action_attr actions_attr[])
{
	__typeof__(&mlx5dv_create_flow) next_fn;

	if (!matcher || (num_actions && !actions_attr))
		FAIL_PTR(EINVAL);
	if (actions_own(actions_attr, num_actions, ACTION_MIN))
		FAIL_PTR(EOPNOTSUPP);
	next_fn = NEXT_MLX5(mlx5dv_create_flow, "MLX5_1.6");
	if (!next_fn)
		FAIL_PTR(EOPNOTSUPP);
	return next_fn(matcher, match_value, num_actions, actions_attr);
}

ODX_EXPORT struct ibv_flow *__mlx5dv_create_flow(struct mlx5dv_flow_matcher *matcher,
						 struct mlx5dv_flow_match_parameters *match_value, size_t num_actions,
						 struct mlx5dv_flow_action_attr actions_attr[], size_t attr_len)
{
	__typeof__(&__mlx5dv_create_flow) next_fn;

	if (!matcher || (num_actions && (!actions_attr || attr_len < ACTION_MIN)))
		FAIL_PTR(EINVAL);
	if (actions_own(actions_attr, num_actions, attr_len))
		FAIL_PTR(EOPNOTSUPP);
	next_fn = NEXT_MLX5(__mlx5dv_create_flow, "MLX5_1.25.1");
	if (!next_fn)
		FAIL_PTR(EOPNOTSUPP);
	return next_fn(matcher, match_value, num_actions, actions_attr, attr_len);
}

/* Seven arguments: the tables' rows have six at most. */
ODX_EXPORT struct ibv_mr *mlx5dv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd,
					       int access, int mlx5_access)
{
	__typeof__(&mlx5dv_reg_dmabuf_mr) next_fn;

	if (!pd)
		FAIL_PTR(EINVAL);
	if (odx_owns_context(pd->context))
		FAIL_PTR(EOPNOTSUPP);
	next_fn = NEXT_MLX5(mlx5dv_reg_dmabuf_mr, "MLX5_1.25");
	if (!next_fn)
		FAIL_PTR(EOPNOTSUPP);
	return next_fn(pd, offset, length, iova, fd, access, mlx5_access);
}

/* Newer headers have the DEVX object behind the PD of struct mlx5dv_obj: it is there only when its bit says so. */
#define OBJ_DEVX (1u << 7)
#define DEVX_IN(obj) (*(struct mlx5dv_devx_obj **)(&(obj)->pd + 1))

/* Of ours there are PDs only. Some of the objects may be ours and others not: then none is filled in. */
ODX_EXPORT int mlx5dv_init_obj(struct mlx5dv_obj *obj, uint64_t obj_type)
{
	const struct odx_transport_ops *t;
	__typeof__(&mlx5dv_init_obj) next_fn;

	if (!obj)
		FAIL_ERR(EINVAL);
#define CHECK(bit, field)                                                                                          \
	if (obj_type & (bit)) {                                                                                    \
		if (!obj->field.in || !obj->field.out)                                                             \
			FAIL_ERR(EINVAL);                                                                          \
		if (odx_owns_context(obj->field.in->context))                                                      \
			FAIL_ERR(EOPNOTSUPP);                                                                      \
	}
	CHECK(MLX5DV_OBJ_QP, qp)
	CHECK(MLX5DV_OBJ_CQ, cq)
	CHECK(MLX5DV_OBJ_SRQ, srq)
	CHECK(MLX5DV_OBJ_RWQ, rwq)
	CHECK(MLX5DV_OBJ_DM, dm)
	CHECK(MLX5DV_OBJ_AH, ah)
	t = obj_type & MLX5DV_OBJ_PD ? odx_pd_owner(obj->pd.in) : NULL;
	if (t && obj->pd.out && obj_type == MLX5DV_OBJ_PD) {
		int err = t->pd_number(obj->pd.in, &obj->pd.out->pdn);

		if (err)
			FAIL_ERR(err);
		obj->pd.out->comp_mask = 0;
		return 0;
	}
	CHECK(MLX5DV_OBJ_PD, pd)
#undef CHECK
	if (obj_type & OBJ_DEVX && odx_obj_owner(DEVX_IN(obj)))
		FAIL_ERR(EOPNOTSUPP);
	next_fn = NEXT_MLX5(mlx5dv_init_obj, "MLX5_1.2");
	if (!next_fn)
		FAIL_ERR(EOPNOTSUPP);
	return next_fn(obj, obj_type);
}

ODX_EXPORT struct mlx5dv_dr_action *mlx5dv_dr_action_create_aso(struct mlx5dv_dr_domain *domain,
								struct mlx5dv_devx_obj *devx_obj, uint32_t offset,
								uint32_t flags, uint8_t return_reg_c)
{
	__typeof__(&mlx5dv_dr_action_create_aso) next_fn;

	if (!domain || !devx_obj)
		FAIL_PTR(EINVAL);
	if (odx_obj_owner(devx_obj))
		FAIL_PTR(EOPNOTSUPP);
	next_fn = NEXT_MLX5(mlx5dv_dr_action_create_aso, "MLX5_1.17");
	if (!next_fn)
		FAIL_PTR(EOPNOTSUPP);
	return next_fn(domain, devx_obj, offset, flags, return_reg_c);
}
