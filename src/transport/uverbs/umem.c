/* SPDX-License-Identifier: BSD-2-Clause */
/* umems: memory of the program that the kernel pins and makes known to the device. */
#include "uverbs.h"

/* What umem_reg() allows. A kernel before 5.11 knows no bitmap, and takes any size: it may ignore this one. */
#define ALL_SIZES (~UINT64_C(0) << 12)

static int reg(struct ibv_context *ibv, const struct odx_umem_req *req, struct uverbs_umem *u)
{
	UVERBS_CMD(7) cmd;
	unsigned int n = 0;
	int err;

	cmd.attrs[n++] = uverbs_in_u64(MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR, (uintptr_t)req->addr);
	cmd.attrs[n++] = uverbs_in_u64(MLX5_IB_ATTR_DEVX_UMEM_REG_LEN, req->size);
	cmd.attrs[n++] = uverbs_in_u32(MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS, req->access);
	if (req->has_dmabuf)
		cmd.attrs[n++] = uverbs_fd(MLX5_IB_ATTR_DEVX_UMEM_REG_DMABUF_FD, req->dmabuf_fd);
	cmd.attrs[n] = uverbs_const(MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP, req->pgsz_bitmap);
	if (req->pgsz_bitmap == ALL_SIZES && !req->has_dmabuf)
		cmd.attrs[n] = uverbs_optional(cmd.attrs[n]);
	n++;
	cmd.attrs[n++] = uverbs_out(MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID, &u->pub.pub.umem_id, sizeof(u->pub.pub.umem_id));
	cmd.attrs[n] = uverbs_idr(MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE, 0);
	err = uverbs_ioctl(ibv->cmd_fd, MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_REG, &cmd.hdr, n + 1);
	u->handle = (uint32_t)cmd.attrs[n].data;
	return err;
}

/* Flags, sizes and the memory itself are the kernel's to check. */
struct mlx5dv_devx_umem *uverbs_umem_reg(struct ibv_context *ibv, const struct odx_umem_req *req)
{
	struct uverbs_umem *u = NULL;
	int err = uverbs_check_context(ibv);

	if (!err && req->has_dmabuf && req->dmabuf_fd == -1)
		err = EBADF; /* as libmlx5: to the kernel it would be no attribute at all */
	if (!err && !(u = slab_alloc(&uverbs_umems)))
		err = ENOMEM;
	if (!err)
		err = reg(ibv, req, u);
	if (err) {
		if (u)
			slab_free(&uverbs_umems, u);
		errno = err;
		return NULL;
	}
	uverbs_child_add(uverbs_ctx(ibv), &u->child, UVERBS_UMEM, NULL);
	return &u->pub.pub;
}

int uverbs_umem_dereg(struct mlx5dv_devx_umem *pub)
{
	struct uverbs_umem *u = (struct uverbs_umem *)pub;
	UVERBS_CMD(1) cmd;
	int err;
	struct ibv_context *ibv = uverbs_umem_context(u, &err);

	if (!err)
		err = uverbs_end_begin(&u->child);
	if (err)
		return err;
	cmd.attrs[0] = uverbs_idr(MLX5_IB_ATTR_DEVX_UMEM_DEREG_HANDLE, u->handle);
	err = uverbs_ioctl(ibv->cmd_fd, MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_DEREG, &cmd.hdr, 1);
	uverbs_end(&u->child, !err);
	return err;
}
