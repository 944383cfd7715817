/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Event channels, and the asynchronous events of verbs. As with completions, the descriptor is the kernel's own: who subscribed
 * to what, and what waits to be read, is all there.
 */
#include <fcntl.h>
#include <unistd.h>

#include "uverbs.h"

#define EVENTS_MAX 16u /* of one call: MAX_NUM_EVENTS of Linux, drivers/infiniband/hw/mlx5/devx.c */

bool uverbs_owns_channel(const struct mlx5dv_devx_event_channel *channel)
{
	return slab_owns(&uverbs_channels, channel);
}

struct mlx5dv_devx_event_channel *uverbs_channel_create(struct ibv_context *ibv, uint32_t flags)
{
	struct uverbs_channel *c = NULL;
	int err = uverbs_check_context(ibv);
	UVERBS_CMD(2) cmd;

	if (!err && !(c = slab_alloc(&uverbs_channels)))
		err = ENOMEM;
	if (!err) {
		cmd.attrs[0] = uverbs_fd(MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_HANDLE, 0);
		cmd.attrs[1] = uverbs_in_u32(MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_FLAGS, flags);
		err = uverbs_ioctl(ibv->cmd_fd, MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD, MLX5_IB_METHOD_DEVX_ASYNC_EVENT_FD_ALLOC,
				   &cmd.hdr, 2);
	}
	if (err) {
		if (c)
			slab_free(&uverbs_channels, c);
		errno = err;
		return NULL;
	}
	c->pub.fd = (int)cmd.attrs[0].data_s64;
	c->context = ibv;
	atomic_store(&c->live, 1);
	return &c->pub;
}

/* A thread that sleeps in get keeps the kernel's file, and sleeps on; the struct stays memory of ours. */
void uverbs_channel_destroy(struct mlx5dv_devx_event_channel *pub)
{
	struct uverbs_channel *c = (struct uverbs_channel *)pub;
	int live = 1, fd = c->pub.fd;

	if (!atomic_compare_exchange_strong(&c->live, &live, 0))
		return;
	c->pub.fd = -1;
	close(fd);
	slab_free(&uverbs_channels, c);
}

/* The kernel looks a handle up in the channel's context: one of another would mean another object there. */
static int check_obj(const struct uverbs_channel *c, const struct mlx5dv_devx_obj *obj)
{
	int err;
	struct ibv_context *ibv = uverbs_obj_context(obj, &err);

	return err ? err : uverbs_ctx(ibv)->tag == uverbs_ctx(c->context)->tag ? 0 : ENOENT;
}

/*
 * Linux 6.1 goes on with a pointer that is not there when the descriptor is no eventfd, and stops: it must not come so far. The
 * errno values are the kernel's.
 */
static int check_eventfd(int fd)
{
	if (fcntl(fd, F_GETFD) < 0)
		return EBADF;
	return uverbs_is_fd(fd, "[eventfd]") || access("/proc/self/fd", F_OK) ? 0 : EINVAL;
}

int uverbs_subscribe(struct mlx5dv_devx_event_channel *pub, struct mlx5dv_devx_obj *obj, const uint16_t *events,
		     size_t bytes, uint64_t cookie, const int *eventfd)
{
	struct uverbs_channel *c = (struct uverbs_channel *)pub;
	UVERBS_CMD(4) cmd;
	unsigned int n = 0;
	int err = atomic_load(&c->live) ? uverbs_check_context(c->context) : EBADF;

	if (!err && obj)
		err = check_obj(c, obj);
	/* The kernel says so too, but reads the whole list first, however little of it there is. */
	if (!err && (!events || bytes < sizeof(*events) || bytes % sizeof(*events) || bytes / sizeof(*events) > EVENTS_MAX))
		err = EINVAL;
	if (!err && eventfd)
		err = check_eventfd(*eventfd);
	if (err)
		return err;
	cmd.attrs[n++] = uverbs_fd(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_HANDLE, pub->fd);
	if (!eventfd) /* the kernel refuses both */
		cmd.attrs[n++] = uverbs_in_u64(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_COOKIE, cookie);
	if (obj)
		cmd.attrs[n++] = uverbs_idr(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_OBJ_HANDLE, ((struct uverbs_obj *)obj)->handle);
	cmd.attrs[n++] = uverbs_in(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_TYPE_NUM_LIST, events, bytes);
	if (eventfd)
		cmd.attrs[n++] = uverbs_in_u32(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_NUM, (uint32_t)*eventfd);
	return uverbs_ioctl(c->context->cmd_fd, MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_SUBSCRIBE_EVENT, &cmd.hdr, n);
}

/* A cookie is always there: the kernel has no shorter record. */
ssize_t uverbs_channel_get(struct mlx5dv_devx_event_channel *channel, struct mlx5dv_devx_async_event_hdr *data, size_t len)
{
	ssize_t n = read(channel->fd, data, len);

	return n < 0 ? -errno : n < (ssize_t)sizeof(*data) ? -EINVAL : n;
}

/*
 * The port's and the device's. An object's event is of one that rdma-core made on this kernel context: its handle is passed on
 * as it came.
 */
int uverbs_async_get(struct ibv_context *ibv, struct ibv_async_event *event)
{
	struct ib_uverbs_async_event_desc desc;
	int err = uverbs_check_context(ibv);
	ssize_t n;

	if (err)
		return err;
	n = read(ibv->async_fd, &desc, sizeof(desc));
	if (n != sizeof(desc))
		return n < 0 ? errno : EIO;
	event->event_type = desc.event_type;
	switch (event->event_type) {
	case IBV_EVENT_PORT_ACTIVE:
	case IBV_EVENT_PORT_ERR:
	case IBV_EVENT_LID_CHANGE:
	case IBV_EVENT_PKEY_CHANGE:
	case IBV_EVENT_SM_CHANGE:
	case IBV_EVENT_CLIENT_REREGISTER:
	case IBV_EVENT_GID_CHANGE:
	case IBV_EVENT_DEVICE_FATAL:
		event->element.port_num = (int)desc.element;
		break;
	default:
		event->element.qp = (struct ibv_qp *)(uintptr_t)desc.element;
	}
	return 0;
}

/* --- Event queues and vectors of programs: libmlx5 too has them for VFIO only. */

bool uverbs_owns_msi(const struct mlx5dv_devx_msi_vector *msi)
{
	return false;
}

struct mlx5dv_devx_msi_vector *uverbs_msi_alloc(struct ibv_context *ctx)
{
	errno = EOPNOTSUPP;
	return NULL;
}

int uverbs_msi_free(struct mlx5dv_devx_msi_vector *msi)
{
	return EOPNOTSUPP;
}

bool uverbs_owns_eq(const struct mlx5dv_devx_eq *eq)
{
	return false;
}

struct mlx5dv_devx_eq *uverbs_eq_create(struct ibv_context *ctx, const void *in, size_t inlen, void *out, size_t outlen)
{
	errno = EOPNOTSUPP;
	return NULL;
}

int uverbs_eq_destroy(struct mlx5dv_devx_eq *eq)
{
	return EOPNOTSUPP;
}
