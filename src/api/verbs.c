/* SPDX-License-Identifier: BSD-2-Clause */
/* The verbs that DEVX programs mix in: attributes of device and port, protection domains, memory regions. */
#include <opendevx/opendevx.h>
#include <string.h>

#include "call.h"

#undef ibv_query_port
#undef ibv_reg_mr
#undef ibv_reg_mr_iova

/* What the symbol ibv_query_port fills in: struct ibv_port_attr up to flags; the inline zeroes what newer headers added. */
#define OLD_PORT_ATTR offsetof(struct ibv_port_attr, port_cap_flags2)

ODX_EXPORT int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *device_attr)
{
	const struct odx_transport_ops *t = odx_context_owner(context);

	if (t)
		return result(device_attr ? t->query_device(context, device_attr) : EINVAL);
	if (!context)
		return result(EINVAL);
	NEXT_IBV(ibv_query_device, "IBVERBS_1.1", EINVAL, context, device_attr);
}

ODX_EXPORT int ibv_query_port(struct ibv_context *context, uint8_t port_num, struct _compat_ibv_port_attr *port_attr)
{
	const struct odx_transport_ops *t = odx_context_owner(context);

	if (t)
		return result(port_attr ? t->query_port(context, port_num, (struct ibv_port_attr *)port_attr, OLD_PORT_ATTR) :
				    EINVAL);
	if (!context)
		return result(EINVAL);
	NEXT_IBV(ibv_query_port, "IBVERBS_1.1", EINVAL, context, port_num, port_attr);
}

ODX_EXPORT int ibv_query_gid(struct ibv_context *context, uint8_t port_num, int index, union ibv_gid *gid)
{
	const struct odx_transport_ops *t = odx_context_owner(context);
	int err;

	if (t) {
		err = gid ? t->query_gid(context, port_num, index, gid) : EINVAL;
		return err ? minus_one(err) : 0;
	}
	if (!context)
		return minus_one(EINVAL);
	NEXT_IBV(ibv_query_gid, "IBVERBS_1.1", -1, context, port_num, index, gid);
}

ODX_EXPORT int ibv_query_pkey(struct ibv_context *context, uint8_t port_num, int index, __be16 *pkey)
{
	const struct odx_transport_ops *t = odx_context_owner(context);
	int err;

	if (t) {
		err = pkey ? t->query_pkey(context, port_num, index, pkey) : EINVAL;
		return err ? minus_one(err) : 0;
	}
	if (!context)
		return minus_one(EINVAL);
	NEXT_IBV(ibv_query_pkey, "IBVERBS_1.1", -1, context, port_num, index, pkey);
}

ODX_EXPORT struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	const struct odx_transport_ops *t = odx_context_owner(context);

	if (t)
		return t->pd_alloc(context);
	if (!context)
		return null_with(EINVAL);
	NEXT_IBV(ibv_alloc_pd, "IBVERBS_1.1", NULL, context);
}

ODX_EXPORT int ibv_dealloc_pd(struct ibv_pd *pd)
{
	const struct odx_transport_ops *t = odx_pd_owner(pd);

	if (t)
		return result(t->pd_dealloc(pd));
	if (!pd)
		return 0;
	if (odx_owns_context(pd->context)) /* nothing that its context made */
		return result(EINVAL);
	NEXT_IBV(ibv_dealloc_pd, "IBVERBS_1.1", EINVAL, pd);
}

ODX_EXPORT struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	const struct odx_transport_ops *t = odx_pd_owner(pd);

	if (t)
		return t->mr_reg(pd, addr, length, (uintptr_t)addr, (unsigned int)access);
	if (!pd || odx_owns_context(pd->context))
		return null_with(EINVAL);
	NEXT_IBV(ibv_reg_mr, "IBVERBS_1.1", NULL, pd, addr, length, access);
}

ODX_EXPORT struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, int access)
{
	const struct odx_transport_ops *t = odx_pd_owner(pd);

	if (t)
		return t->mr_reg(pd, addr, length, iova, (unsigned int)access);
	if (!pd || odx_owns_context(pd->context))
		return null_with(EINVAL);
	NEXT_IBV(ibv_reg_mr_iova, "IBVERBS_1.7", NULL, pd, addr, length, iova, access);
}

ODX_EXPORT struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned int access)
{
	const struct odx_transport_ops *t = odx_pd_owner(pd);

	if (t)
		return t->mr_reg(pd, addr, length, iova, access);
	if (!pd || odx_owns_context(pd->context))
		return null_with(EINVAL);
	NEXT_IBV(ibv_reg_mr_iova2, "IBVERBS_1.8", NULL, pd, addr, length, iova, access);
}

ODX_EXPORT int ibv_dereg_mr(struct ibv_mr *mr)
{
	const struct odx_transport_ops *t = odx_mr_owner(mr);

	if (t)
		return result(t->mr_dereg(mr));
	if (!mr)
		return 0;
	if (odx_owns_context(mr->context))
		return result(EINVAL);
	NEXT_IBV(ibv_dereg_mr, "IBVERBS_1.1", EINVAL, mr);
}

ODX_EXPORT int mlx5dv_query_device(struct ibv_context *ctx_in, struct mlx5dv_context *attrs_out)
{
	const struct odx_transport_ops *t = odx_context_owner(ctx_in);

	if (t)
		return result(attrs_out ? t->query_mlx5(ctx_in, attrs_out) : EINVAL);
	if (!ctx_in)
		return result(EINVAL);
	NEXT(mlx5dv_query_device, "MLX5_1.0", EINVAL, ctx_in, attrs_out);
}
