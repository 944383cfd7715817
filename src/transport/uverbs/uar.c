/* SPDX-License-Identifier: BSD-2-Clause */
/* UARs: pages of doorbell registers. */
#include "uverbs.h"

void uverbs_uars_init(struct uverbs_context *ctx)
{
}

void uverbs_uars_close(struct uverbs_context *ctx)
{
}

bool uverbs_owns_uar(const struct mlx5dv_devx_uar *uar)
{
	return false;
}

struct mlx5dv_devx_uar *uverbs_uar_alloc(struct ibv_context *ctx, uint32_t flags)
{
	errno = EOPNOTSUPP;
	return NULL;
}

void uverbs_uar_free(struct mlx5dv_devx_uar *uar)
{
}

int uverbs_uar_export(struct mlx5dv_devx_uar *uar)
{
	errno = EOPNOTSUPP;
	return -1;
}
