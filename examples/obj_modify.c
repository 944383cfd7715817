/* SPDX-License-Identifier: BSD-2-Clause */
/* A completion queue in a umem, and then another interrupt moderation for it. */
#include <endian.h>
#include <err.h>
#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <opendevx/soft.h>

static char memory[8192] __attribute__((aligned(4096))); /* 64 CQEs of 64 bytes; the doorbell record behind them */

int main(void)
{
	struct ibv_device *dev = odx_soft_create("");
	struct ibv_context *ctx = dev ? mlx5dv_open_device(dev, NULL) : NULL;
	struct mlx5dv_devx_umem *umem =
		ctx ? mlx5dv_devx_umem_reg(ctx, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE) : NULL;
	__be32 create[68] = { htobe32(0x400 << 16) }, modify[68] = { htobe32(0x403 << 16) }, out[4] = { 0 };
	struct mlx5dv_devx_obj *cq;
	uint32_t eqn;

	if (!umem || mlx5dv_devx_query_eqn(ctx, 0, &eqn))
		err(1, "open, umem or EQN");
	create[4] = htobe32(1 << 25);                        /* dbr_umem_valid */
	create[5] = create[22] = htobe32(umem->umem_id);     /* dbr_umem_id, cq_umem_id */
	create[7] = htobe32(6 << 24);                        /* log_cq_size */
	create[9] = htobe32(eqn);
	create[19] = htobe32(4096);                          /* dbr_addr, as an offset in its umem */
	create[23] = htobe32(1u << 31);                      /* cq_umem_valid */
	cq = mlx5dv_devx_obj_create(ctx, create, sizeof(create), out, sizeof(out));
	if (!cq)
		err(1, "CREATE_CQ: syndrome 0x%x", be32toh(out[1]));
	modify[2] = out[2];             /* cqn */
	modify[3] = htobe32(3);         /* modify_field_select: cq_period, cq_max_count */
	modify[8] = htobe32(16 << 16 | 32);
	errno = mlx5dv_devx_obj_modify(cq, modify, sizeof(modify), out, sizeof(out));
	if (errno)
		err(1, "MODIFY_CQ: syndrome 0x%x", be32toh(out[1]));
	return mlx5dv_devx_obj_destroy(cq) || mlx5dv_devx_umem_dereg(umem) || ibv_close_device(ctx) || odx_soft_destroy(dev);
}
