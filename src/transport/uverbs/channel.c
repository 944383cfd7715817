/* SPDX-License-Identifier: BSD-2-Clause */
/* Event channels, and the asynchronous events of verbs. */
#include "uverbs.h"

bool uverbs_owns_channel(const struct mlx5dv_devx_event_channel *channel)
{
	return false;
}

struct mlx5dv_devx_event_channel *uverbs_channel_create(struct ibv_context *ctx, uint32_t flags)
{
	errno = EOPNOTSUPP;
	return NULL;
}

void uverbs_channel_destroy(struct mlx5dv_devx_event_channel *channel)
{
}

int uverbs_subscribe(struct mlx5dv_devx_event_channel *channel, struct mlx5dv_devx_obj *obj, const uint16_t *events,
		     size_t bytes, uint64_t cookie, const int *eventfd)
{
	return EOPNOTSUPP;
}

ssize_t uverbs_channel_get(struct mlx5dv_devx_event_channel *channel, struct mlx5dv_devx_async_event_hdr *data, size_t len)
{
	return -EOPNOTSUPP;
}

int uverbs_async_get(struct ibv_context *ctx, struct ibv_async_event *event)
{
	return EOPNOTSUPP;
}

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
