/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Completions: the descriptor is the kernel's own, with its queue, its budget and its errno values. read(2), poll(2) and
 * fcntl(2) on it are the program's as much as ours.
 */
#include <unistd.h>

#include "uverbs.h"

bool uverbs_owns_comp(const struct mlx5dv_devx_cmd_comp *comp)
{
	return slab_owns(&uverbs_comps, comp);
}

struct mlx5dv_devx_cmd_comp *uverbs_comp_create(struct ibv_context *ibv)
{
	struct uverbs_comp *c = NULL;
	int err = uverbs_check_context(ibv);
	UVERBS_CMD(1) cmd;

	if (!err && !(c = slab_alloc(&uverbs_comps)))
		err = ENOMEM;
	if (!err) {
		cmd.attrs[0] = uverbs_fd(MLX5_IB_ATTR_DEVX_ASYNC_CMD_FD_ALLOC_HANDLE, 0);
		err = uverbs_ioctl(ibv->cmd_fd, MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD, MLX5_IB_METHOD_DEVX_ASYNC_CMD_FD_ALLOC,
				   &cmd.hdr, 1);
	}
	if (err) {
		if (c)
			slab_free(&uverbs_comps, c);
		errno = err;
		return NULL;
	}
	c->pub.fd = (int)cmd.attrs[0].data_s64;
	atomic_store(&c->live, 1);
	return &c->pub;
}

/* A thread that sleeps in get keeps the kernel's file, and sleeps on; the struct stays memory of ours. */
void uverbs_comp_destroy(struct mlx5dv_devx_cmd_comp *pub)
{
	struct uverbs_comp *c = (struct uverbs_comp *)pub;
	int live = 1, fd = c->pub.fd;

	if (!atomic_compare_exchange_strong(&c->live, &live, 0))
		return;
	c->pub.fd = -1;
	close(fd);
	slab_free(&uverbs_comps, c);
}

int uverbs_comp_get(struct mlx5dv_devx_cmd_comp *comp, struct mlx5dv_devx_async_cmd_hdr *resp, size_t len)
{
	return read(comp->fd, resp, len) < 0 ? errno : 0;
}

int uverbs_obj_query_async(struct mlx5dv_devx_obj *obj, const void *in, size_t inlen, size_t outlen, uint64_t wr_id,
			   struct mlx5dv_devx_cmd_comp *comp)
{
	UVERBS_CMD(5) cmd;
	int err;
	struct ibv_context *ibv = uverbs_obj_context(obj, &err);

	if (!err)
		err = uverbs_check_box(in, inlen);
	if (!err && !uverbs_id_inside(in, inlen))
		err = EINVAL;
	if (!err && comp->fd == -1)
		err = uverbs_owns_comp(comp) ? EBADF : EINVAL; /* destroyed; libmlx5 leaves -1 out, and the kernel misses it */
	if (err)
		return err;
	cmd.attrs[0] = uverbs_idr(MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_HANDLE, ((struct uverbs_obj *)obj)->handle);
	cmd.attrs[1] = uverbs_in(MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_CMD_IN, in, inlen);
	cmd.attrs[2] = uverbs_fd(MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_FD, comp->fd);
	cmd.attrs[3] = uverbs_in_u64(MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_WR_ID, wr_id);
	cmd.attrs[4] = uverbs_const(MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_OUT_LEN, outlen);
	return uverbs_ioctl(ibv->cmd_fd, MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_ASYNC_QUERY, &cmd.hdr, 5);
}
