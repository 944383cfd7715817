/* SPDX-License-Identifier: BSD-2-Clause */
/* umems: memory of the program that the kernel pins and makes known to the device. */
#include "uverbs.h"

void uverbs_umem_bury(struct uverbs_child *c)
{
}

struct mlx5dv_devx_umem *uverbs_umem_reg(struct ibv_context *ctx, const struct odx_umem_req *req)
{
	errno = EOPNOTSUPP;
	return NULL;
}

int uverbs_umem_dereg(struct mlx5dv_devx_umem *umem)
{
	return EOPNOTSUPP;
}
