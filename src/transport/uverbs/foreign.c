/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Contexts that somebody else opened, rdma-core first of all: the kernel's context is what its descriptor is, so that a duplicate
 * makes it ours too. Each side has its own handles; numbers of the device mean the same on both.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "uverbs.h"

/* Contexts of ours that were made from one context of theirs share a tag; those of uverbs_tag() have not this bit. */
#define FOREIGN (UINT64_C(1) << 63)

/* What the kernel said when they opened it: Linux 5.9. */
static int query_context(int fd, struct mlx5_ib_alloc_ucontext_resp *resp, uint32_t *vectors)
{
	UVERBS_CMD(2) cmd;
	int err;

	memset(resp, 0, sizeof(*resp));
	cmd.attrs[0] = uverbs_out(UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS, vectors, sizeof(*vectors));
	cmd.attrs[1] = uverbs_out(MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX, resp, sizeof(*resp));
	err = uverbs_ioctl(fd, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT, &cmd.hdr, 2);
	return err == EPROTONOSUPPORT ? EOPNOTSUPP : err;
}

static struct uverbs_device *device_of(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return NULL;
	if (S_ISCHR(st.st_mode))
		return uverbs_device_at(st.st_rdev);
	errno = ENODEV;
	return NULL;
}

/* 0 or an errno value; async_fd is open then. */
static int connect_shared(struct uverbs_context *ctx, int fd)
{
	struct ibv_context *ibv = &ctx->verbs.context;
	uint32_t vectors = 0;
	int err = query_context(fd, &ctx->resp, &vectors);

	if (err)
		return err;
	ibv->async_fd = uverbs_open_async(fd);
	if (ibv->async_fd < 0)
		return errno;
	ibv->cmd_fd = fd;
	ibv->num_comp_vectors = (int)vectors;
	return 0;
}

struct ibv_context *uverbs_import(struct ibv_context *theirs)
{
	bool ours = slab_owns(&uverbs_contexts, uverbs_ctx(theirs));
	struct uverbs_context *ctx = NULL;
	struct uverbs_device *dev;
	int fd, err = ours ? uverbs_check_context(theirs) : 0;

	if (err)
		return errno = err, NULL;
	fd = fcntl(theirs->cmd_fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return NULL;
	dev = device_of(fd);
	if (!dev || !(ctx = uverbs_context_new(dev)))
		err = errno;
	if (!err)
		err = connect_shared(ctx, fd);
	if (err) {
		if (ctx)
			slab_free(&uverbs_contexts, ctx);
		close(fd);
		return errno = err, NULL;
	}
	ctx->imported = true;
	ctx->devx = true; /* if theirs has no uid, the kernel says so with each command */
	ctx->tag = ours ? uverbs_ctx(theirs)->tag : FOREIGN | (uintptr_t)theirs;
	return uverbs_context_begin(ctx);
}
