/* SPDX-License-Identifier: BSD-2-Clause */
/* Verbs on a context of the kernel. */
#include "uverbs.h"

void uverbs_verbs_init(struct verbs_context *v)
{
}

void uverbs_pd_bury(struct uverbs_child *c)
{
}

void uverbs_mr_bury(struct uverbs_child *c)
{
}

bool uverbs_owns_pd(const struct ibv_pd *pd)
{
	return false;
}

bool uverbs_owns_mr(const struct ibv_mr *mr)
{
	return false;
}

int uverbs_query_device(struct ibv_context *ctx, struct ibv_device_attr *attr)
{
	return EOPNOTSUPP;
}

int uverbs_query_port(struct ibv_context *ctx, uint8_t port, struct ibv_port_attr *attr, size_t size)
{
	return EOPNOTSUPP;
}

int uverbs_query_gid(struct ibv_context *ctx, uint8_t port, int index, union ibv_gid *gid)
{
	return EOPNOTSUPP;
}

int uverbs_query_pkey(struct ibv_context *ctx, uint8_t port, int index, __be16 *pkey)
{
	return EOPNOTSUPP;
}

int uverbs_query_mlx5(struct ibv_context *ctx, struct mlx5dv_context *attr)
{
	return EOPNOTSUPP;
}

struct ibv_pd *uverbs_pd_alloc(struct ibv_context *ctx)
{
	errno = EOPNOTSUPP;
	return NULL;
}

int uverbs_pd_dealloc(struct ibv_pd *pd)
{
	return EOPNOTSUPP;
}

int uverbs_pd_number(struct ibv_pd *pd, uint32_t *pdn)
{
	return EOPNOTSUPP;
}

struct ibv_mr *uverbs_mr_reg(struct ibv_pd *pd, void *addr, size_t len, uint64_t iova, unsigned int access)
{
	errno = EOPNOTSUPP;
	return NULL;
}

int uverbs_mr_dereg(struct ibv_mr *mr)
{
	return EOPNOTSUPP;
}
