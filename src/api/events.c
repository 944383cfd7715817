/* SPDX-License-Identifier: BSD-2-Clause */
/* Events: DEVX event channels, and the asynchronous events of verbs. Whose handle is it, and on to its transport. */
#include <errno.h>
#include <opendevx/opendevx.h>

#include "next.h"
#include "own.h"

#define NEXT_MLX5(name, version) ((__typeof__(&(name)))odx_next_mlx5(#name, version))
#define NEXT_IBV(name, version) ((__typeof__(&(name)))odx_next_ibverbs(#name, version))

/* The three conventions, errno set in each. */
static int result(int err)
{
	if (err)
		errno = err;
	return err;
}

static ssize_t minus_one(int err)
{
	errno = err;
	return -1;
}

static void *null(int err)
{
	errno = err;
	return NULL;
}

ODX_EXPORT struct mlx5dv_devx_event_channel *mlx5dv_devx_create_event_channel(struct ibv_context *context,
									    enum mlx5dv_devx_create_event_channel_flags flags)
{
	const struct odx_transport_ops *t = odx_context_owner(context);
	__typeof__(&mlx5dv_devx_create_event_channel) next;

	if (t)
		return t->channel_create(context, flags);
	if (!context)
		return null(EINVAL);
	next = NEXT_MLX5(mlx5dv_devx_create_event_channel, "MLX5_1.11");
	return next ? next(context, flags) : null(EINVAL);
}

ODX_EXPORT void mlx5dv_devx_destroy_event_channel(struct mlx5dv_devx_event_channel *event_channel)
{
	const struct odx_transport_ops *t = event_channel ? odx_channel_owner(event_channel) : NULL;
	__typeof__(&mlx5dv_devx_destroy_event_channel) next;

	if (t) {
		t->channel_destroy(event_channel);
		return;
	}
	if (!event_channel)
		return;
	next = NEXT_MLX5(mlx5dv_devx_destroy_event_channel, "MLX5_1.11");
	if (next)
		next(event_channel);
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
	__typeof__(&mlx5dv_devx_subscribe_devx_event) next;
	int err = event_channel ? check_owners(t, obj) : EINVAL;

	if (err)
		return result(err);
	if (t)
		return result(t->subscribe(event_channel, obj, events_num, events_sz, cookie, NULL));
	next = NEXT_MLX5(mlx5dv_devx_subscribe_devx_event, "MLX5_1.11");
	return next ? next(event_channel, obj, events_sz, events_num, cookie) : result(EINVAL);
}

ODX_EXPORT int mlx5dv_devx_subscribe_devx_event_fd(struct mlx5dv_devx_event_channel *event_channel, int fd,
						   struct mlx5dv_devx_obj *obj, uint16_t event_num)
{
	const struct odx_transport_ops *t = event_channel ? odx_channel_owner(event_channel) : NULL;
	__typeof__(&mlx5dv_devx_subscribe_devx_event_fd) next;
	int err = event_channel ? check_owners(t, obj) : EINVAL;

	if (err)
		return result(err);
	if (t)
		return result(t->subscribe(event_channel, obj, &event_num, sizeof(event_num), 0, &fd));
	next = NEXT_MLX5(mlx5dv_devx_subscribe_devx_event_fd, "MLX5_1.11");
	return next ? next(event_channel, fd, obj, event_num) : result(EINVAL);
}

ODX_EXPORT ssize_t mlx5dv_devx_get_event(struct mlx5dv_devx_event_channel *event_channel,
					 struct mlx5dv_devx_async_event_hdr *event_data, size_t event_resp_len)
{
	const struct odx_transport_ops *t = event_channel ? odx_channel_owner(event_channel) : NULL;
	__typeof__(&mlx5dv_devx_get_event) next;
	ssize_t n;

	if (!event_channel || (t && !event_data))
		return minus_one(EINVAL);
	if (t) {
		n = t->event_get(event_channel, event_data, event_resp_len);
		return n < 0 ? minus_one((int)-n) : n;
	}
	next = NEXT_MLX5(mlx5dv_devx_get_event, "MLX5_1.11");
	return next ? next(event_channel, event_data, event_resp_len) : minus_one(EINVAL);
}

ODX_EXPORT int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	const struct odx_transport_ops *t = odx_context_owner(context);
	__typeof__(&ibv_get_async_event) next;
	int err;

	if (!context || (t && !event))
		return (int)minus_one(EINVAL);
	if (t) {
		err = t->async_get(context, event);
		return err ? (int)minus_one(err) : 0;
	}
	next = NEXT_IBV(ibv_get_async_event, "IBVERBS_1.1");
	return next ? next(context, event) : (int)minus_one(EINVAL);
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
	next = NEXT_IBV(ibv_ack_async_event, "IBVERBS_1.1");
	if (next)
		next(event);
}
