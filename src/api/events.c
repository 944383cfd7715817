/* SPDX-License-Identifier: BSD-2-Clause */
/* Events: DEVX event channels, event queues with their vectors, and the asynchronous events of verbs. */
#include <opendevx/opendevx.h>

#include "call.h"

ODX_EXPORT struct mlx5dv_devx_event_channel *mlx5dv_devx_create_event_channel(struct ibv_context *context,
									    enum mlx5dv_devx_create_event_channel_flags flags)
{
	const struct odx_transport_ops *t = odx_context_owner(context);

	if (t)
		return t->channel_create(context, flags);
	if (!context)
		return null_with(EINVAL);
	NEXT(mlx5dv_devx_create_event_channel, "MLX5_1.11", NULL, context, flags);
}

ODX_EXPORT void mlx5dv_devx_destroy_event_channel(struct mlx5dv_devx_event_channel *event_channel)
{
	const struct odx_transport_ops *t = event_channel ? odx_channel_owner(event_channel) : NULL;

	if (t)
		t->channel_destroy(event_channel);
	else if (event_channel)
		NEXT_VOID(mlx5dv_devx_destroy_event_channel, "MLX5_1.11", event_channel);
}

/*
 * Channel and object must have one owner: libmlx5 would take an object of ours for one of its own. ENOENT is what the kernel
 * says of an object that its context does not know.
 */
static int check_owners(const struct odx_transport_ops *t, struct mlx5dv_devx_obj *obj)
{
	return !obj || odx_obj_owner(obj) == t ? 0 : ENOENT;
}

ODX_EXPORT int mlx5dv_devx_subscribe_devx_event(struct mlx5dv_devx_event_channel *event_channel,
						struct mlx5dv_devx_obj *obj, uint16_t events_sz, uint16_t events_num[],
						uint64_t cookie)
{
	const struct odx_transport_ops *t = event_channel ? odx_channel_owner(event_channel) : NULL;
	int err = event_channel ? check_owners(t, obj) : EINVAL;

	if (err)
		return result(err);
	if (t)
		return result(t->subscribe(event_channel, obj, events_num, events_sz, cookie, NULL));
	NEXT(mlx5dv_devx_subscribe_devx_event, "MLX5_1.11", EINVAL, event_channel, obj, events_sz, events_num, cookie);
}

ODX_EXPORT int mlx5dv_devx_subscribe_devx_event_fd(struct mlx5dv_devx_event_channel *event_channel, int fd,
						   struct mlx5dv_devx_obj *obj, uint16_t event_num)
{
	const struct odx_transport_ops *t = event_channel ? odx_channel_owner(event_channel) : NULL;
	int err = event_channel ? check_owners(t, obj) : EINVAL;

	if (err)
		return result(err);
	if (t)
		return result(t->subscribe(event_channel, obj, &event_num, sizeof(event_num), 0, &fd));
	NEXT(mlx5dv_devx_subscribe_devx_event_fd, "MLX5_1.11", EINVAL, event_channel, fd, obj, event_num);
}

ODX_EXPORT ssize_t mlx5dv_devx_get_event(struct mlx5dv_devx_event_channel *event_channel,
					 struct mlx5dv_devx_async_event_hdr *event_data, size_t event_resp_len)
{
	const struct odx_transport_ops *t = event_channel ? odx_channel_owner(event_channel) : NULL;
	ssize_t n;

	if (event_channel && !t && event_data && !odx_next_mlx5("mlx5dv_devx_get_event", "MLX5_1.11") &&
	    uverbs_is_fd(event_channel->fd, "[devx_async_event]"))
		t = &odx_uverbs_transport; /* a struct of the program's own, with a duplicate in it */
	if (!event_channel || (t && !event_data))
		return minus_one(EINVAL);
	if (t) {
		n = t->event_get(event_channel, event_data, event_resp_len);
		return n < 0 ? minus_one((int)-n) : n;
	}
	NEXT(mlx5dv_devx_get_event, "MLX5_1.11", -1, event_channel, event_data, event_resp_len);
}

ODX_EXPORT struct mlx5dv_devx_msi_vector *mlx5dv_devx_alloc_msi_vector(struct ibv_context *ibctx)
{
	const struct odx_transport_ops *t = odx_context_owner(ibctx);

	if (t)
		return t->msi_alloc(ibctx);
	if (!ibctx)
		return null_with(EINVAL);
	NEXT(mlx5dv_devx_alloc_msi_vector, "MLX5_1.23", NULL, ibctx);
}

ODX_EXPORT int mlx5dv_devx_free_msi_vector(struct mlx5dv_devx_msi_vector *msi)
{
	const struct odx_transport_ops *t = odx_msi_owner(msi);

	if (t)
		return result(t->msi_free(msi));
	if (!msi)
		return 0;
	NEXT(mlx5dv_devx_free_msi_vector, "MLX5_1.23", EINVAL, msi);
}

ODX_EXPORT struct mlx5dv_devx_eq *mlx5dv_devx_create_eq(struct ibv_context *ibctx, const void *in, size_t inlen, void *out,
							size_t outlen)
{
	const struct odx_transport_ops *t = odx_context_owner(ibctx);

	if (t)
		return t->eq_create(ibctx, in, inlen, out, outlen);
	if (!ibctx)
		return null_with(EINVAL);
	NEXT(mlx5dv_devx_create_eq, "MLX5_1.23", NULL, ibctx, in, inlen, out, outlen);
}

ODX_EXPORT int mlx5dv_devx_destroy_eq(struct mlx5dv_devx_eq *eq)
{
	const struct odx_transport_ops *t = odx_eq_owner(eq);

	if (t)
		return result(t->eq_destroy(eq));
	if (!eq)
		return 0;
	NEXT(mlx5dv_devx_destroy_eq, "MLX5_1.23", EINVAL, eq);
}

ODX_EXPORT int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	const struct odx_transport_ops *t = odx_context_owner(context);
	int err;

	if (!context || (t && !event))
		return minus_one(EINVAL);
	if (t) {
		err = t->async_get(context, event);
		return err ? minus_one(err) : 0;
	}
	NEXT_IBV(ibv_get_async_event, "IBVERBS_1.1", -1, context, event);
}

/*
 * A port's or a device's event needs no acknowledgement, and a software context has no other. Events of CQs, QPs, SRQs and WQs,
 * which only rdma-core makes, are counted by it.
 */
ODX_EXPORT void ibv_ack_async_event(struct ibv_async_event *event)
{
	__typeof__(&ibv_ack_async_event) next;

	if (!event)
		return;
	next = (__typeof__(next))odx_next_ibverbs("ibv_ack_async_event", "IBVERBS_1.1");
	if (next)
		next(event);
}
