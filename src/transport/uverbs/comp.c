/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Completions: the descriptor is the kernel's own, with its queue, its budget and its errno values. read(2), poll(2) and
 * fcntl(2) on it are the program's as much as ours.
 */
#include <stdio.h>
#include <unistd.h>

#include "uverbs.h"

bool uverbs_is_fd(int fd, const char *kind)
{
	char path[32], name[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = readlink(path, name, sizeof(name) - 1);
	if (n < 0)
		return false;
	name[n] = '\0';
	return !strncmp(name, "anon_inode:", 11) && !strcmp(name + 11, kind);
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

static __attribute__((noinline, cold)) int failed(int err)
{
	errno = err;
	return err;
}

int uverbs_comp_get(struct mlx5dv_devx_cmd_comp *comp, struct mlx5dv_devx_async_cmd_hdr *resp, size_t len)
{
	return read(comp->fd, resp, len) < 0 ? errno : 0;
}

/* What every query sends, when nothing speaks against it. */
static inline int send_query(const struct ibv_context *ibv, const struct uverbs_obj *obj, const void *in, size_t inlen,
			     size_t outlen, uint64_t wr_id, int fd)
{
	UVERBS_CMD(5) cmd;
	int err;

	cmd.attrs[0] = uverbs_idr(MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_HANDLE, obj->handle);
	cmd.attrs[1] = uverbs_in(MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_CMD_IN, in, inlen);
	cmd.attrs[2] = uverbs_fd(MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_FD, fd);
	cmd.attrs[3] = uverbs_in_u64(MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_WR_ID, wr_id);
	cmd.attrs[4] = uverbs_const(MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_OUT_LEN, outlen);
	err = uverbs_ioctl(ibv->cmd_fd, MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_ASYNC_QUERY, &cmd.hdr, 5);
	return err ? failed(err) : 0;
}

/* The first command of its opcode on the object, and whatever is wrong. */
static __attribute__((noinline)) int query_checked(struct mlx5dv_devx_obj *pub, const void *in, size_t inlen, size_t outlen,
						   uint64_t wr_id, struct mlx5dv_devx_cmd_comp *comp)
{
	struct uverbs_obj *obj = (struct uverbs_obj *)pub;
	int err;
	struct ibv_context *ibv = uverbs_obj_context(pub, &err);

	if (!err)
		err = uverbs_check_box(in, inlen);
	if (!err && !uverbs_id_inside(obj, in, inlen))
		err = EINVAL;
	if (!err && comp->fd == -1) /* destroyed; or libmlx5 leaves the attribute out, and the kernel misses it */
		err = slab_owns(&uverbs_comps, comp) ? EBADF : EINVAL;
	return err ? failed(err) : send_query(ibv, obj, in, inlen, outlen, wr_id, comp->fd);
}

/* Checks what query_checked() does, in as few instructions as may be: bench-steps counts them. */
int uverbs_obj_query_async(struct mlx5dv_devx_obj *pub, const void *in, size_t inlen, size_t outlen, uint64_t wr_id,
			   struct mlx5dv_devx_cmd_comp *comp)
{
	struct uverbs_obj *obj = (struct uverbs_obj *)pub;
	struct ibv_context *ibv = __atomic_load_n(&pub->context, __ATOMIC_ACQUIRE);

	if (!ibv || uverbs_check_context(ibv) || uverbs_check_box(in, inlen) || !uverbs_id_seen(obj, in, inlen) || comp->fd == -1)
		return query_checked(pub, in, inlen, outlen, wr_id, comp);
	return send_query(ibv, obj, in, inlen, outlen, wr_id, comp->fd);
}
