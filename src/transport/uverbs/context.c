/* SPDX-License-Identifier: BSD-2-Clause */
/* Contexts: opening and closing a device of the kernel, and the commands that name no object. */
#include <rdma/ib_user_verbs.h>
#include <unistd.h>

#include "uverbs.h"

/* One way to ask for a context. */
struct request {
	struct mlx5_ib_alloc_ucontext_req_v2 req;
	size_t len;                  /* of req that the kernel shall see */
	const int *fds;              /* user capabilities */
	uint32_t n_fds;
	uint32_t vectors;
	int async_fd;                /* -1: this way gave none */
	bool old;                    /* the kernel has no ioctl for it: older than 5.6 */
	struct mlx5_ib_alloc_ucontext_resp *resp;
};

static int context_by_ioctl(int fd, struct request *r)
{
	UVERBS_CMD(4) cmd;
	unsigned int n = 0;

	cmd.attrs[n++] = uverbs_out(UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, &r->vectors, sizeof(r->vectors));
	cmd.attrs[n++] = uverbs_in(UVERBS_ATTR_UHW_IN, &r->req, r->len);
	cmd.attrs[n++] = uverbs_out(UVERBS_ATTR_UHW_OUT, r->resp, sizeof(*r->resp));
	if (r->n_fds)
		cmd.attrs[n++] = uverbs_in(ATTR_GET_CONTEXT_FD_ARR, r->fds, r->n_fds * sizeof(r->fds[0]));
	return uverbs_ioctl(fd, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT, &cmd.hdr, n);
}

/* The command of kernels before the ioctl. It makes the descriptor of asynchronous events too. */
static int context_by_write(int fd, struct request *r)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		uint64_t response; /* struct ib_uverbs_get_context */
		struct mlx5_ib_alloc_ucontext_req_v2 req;
	} cmd;
	struct {
		uint32_t async_fd, num_comp_vectors; /* struct ib_uverbs_get_context_resp */
		struct mlx5_ib_alloc_ucontext_resp resp;
	} resp;
	size_t len = sizeof(cmd) - sizeof(cmd.req) + r->len;

	_Static_assert(sizeof(cmd) == 48 && sizeof(resp.resp) % 4 == 0, "as the kernel counts them");
	memset(&resp, 0, sizeof(resp));
	cmd.hdr.command = IB_USER_VERBS_CMD_GET_CONTEXT;
	cmd.hdr.in_words = (uint16_t)(len / 4);
	cmd.hdr.out_words = sizeof(resp) / 4;
	cmd.response = (uintptr_t)&resp;
	cmd.req = r->req;
	if (write(fd, &cmd, len) != (ssize_t)len)
		return errno;
	r->vectors = resp.num_comp_vectors;
	r->async_fd = (int)resp.async_fd;
	*r->resp = resp.resp;
	return 0;
}

/* The lengths that older and older drivers know; each shorter one lacks what they have not heard of. */
static const size_t lengths[] = {
	sizeof(struct mlx5_ib_alloc_ucontext_req_v2),
	offsetof(struct mlx5_ib_alloc_ucontext_req_v2, lib_caps),
	offsetof(struct mlx5_ib_alloc_ucontext_req_v2, max_cqe_version),
};

static int get_context(int fd, struct request *r, bool devx)
{
	int err = EINVAL;

	r->req.flags = devx ? MLX5_IB_ALLOC_UCTX_DEVX : 0;
	for (size_t i = 0; (err == EINVAL || err == EOPNOTSUPP) && i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		r->len = lengths[i];
		memset(r->resp, 0, sizeof(*r->resp));
		err = context_by_ioctl(fd, r);
		if ((err == ENOTTY || err == EPROTONOSUPPORT) && !r->n_fds) {
			r->old = true;
			err = context_by_write(fd, r);
		}
	}
	return err;
}

/* The descriptor of asynchronous events: without it a context works, but for ibv_get_async_event(). */
int uverbs_open_async(int fd)
{
	UVERBS_CMD(1) cmd;
	int err;

	cmd.attrs[0] = uverbs_fd(UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, 0);
	err = uverbs_ioctl(fd, UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC, &cmd.hdr, 1);
	if (err)
		return errno = err, -1;
	return (int)cmd.attrs[0].data_s64;
}

/* 0 or an errno value; then nothing is open. */
static int connect_kernel(struct uverbs_context *ctx, const struct odx_open *how)
{
	struct ibv_context *ibv = &ctx->verbs.context;
	struct request r = {
		.req = { .max_cqe_version = 1, .lib_caps = MLX5_LIB_CAP_4K_UAR | MLX5_LIB_CAP_DYN_UAR },
		.fds = how->fds, .n_fds = how->n_fds, .async_fd = -1, .resp = &ctx->resp,
	};
	int err;

	ibv->cmd_fd = uverbs_open_node(ctx->dev);
	if (ibv->cmd_fd < 0)
		return errno;
	err = get_context(ibv->cmd_fd, &r, true);
	ctx->devx = !err;
	/* Before 4.19 the flag is EINVAL, as it is later when the firmware has no DEVX. Our choice, to tell them apart. */
	if (err == EINVAL && r.old)
		err = EOPNOTSUPP;
	if (err && !how->devx)
		err = get_context(ibv->cmd_fd, &r, false);
	if (!err && r.async_fd < 0) {
		r.async_fd = uverbs_open_async(ibv->cmd_fd);
		if (r.async_fd < 0)
			err = errno;
	}
	if (err) {
		close(ibv->cmd_fd);
		return err;
	}
	ibv->async_fd = r.async_fd;
	ibv->num_comp_vectors = (int)r.vectors;
	return 0;
}

struct uverbs_context *uverbs_context_new(struct uverbs_device *dev)
{
	struct uverbs_context *ctx = slab_alloc(&uverbs_contexts);

	if (!ctx)
		return NULL;
	uverbs_verbs_init(&ctx->verbs);
	ctx->dev = dev;
	ctx->verbs.context.device = &dev->ibv;
	ctx->oldest = ctx->newest = NULL;
	return ctx;
}

struct ibv_context *uverbs_context_begin(struct uverbs_context *ctx)
{
	pthread_mutex_init(&ctx->verbs.context.mutex, NULL);
	uverbs_uars_init(ctx);
	atomic_store_explicit(&ctx->state, UVERBS_LIVE, memory_order_release);
	return &ctx->verbs.context;
}

struct ibv_context *uverbs_open(struct ibv_device *ibv, const struct odx_open *how)
{
	struct uverbs_context *ctx = uverbs_context_new((struct uverbs_device *)ibv);
	int err;

	if (!ctx)
		return NULL;
	ctx->imported = false;
	ctx->tag = uverbs_tag();
	err = connect_kernel(ctx, how);
	if (!err)
		return uverbs_context_begin(ctx);
	slab_free(&uverbs_contexts, ctx);
	errno = err;
	return NULL;
}

/* The kernel ends whatever is left of the context with its descriptor: commands in flight are waited for. */
int uverbs_close(struct ibv_context *ibv)
{
	struct uverbs_context *ctx = uverbs_ctx(ibv);
	int live = UVERBS_LIVE;

	if (!atomic_compare_exchange_strong(&ctx->state, &live, UVERBS_DEAD))
		return EBADF;
	uverbs_uars_close(ctx);
	uverbs_children_close(ctx);
	close(ibv->async_fd);
	close(ibv->cmd_fd);
	pthread_mutex_destroy(&ibv->mutex);
	slab_free(&uverbs_contexts, ctx);
	return 0;
}

int uverbs_general_cmd(struct ibv_context *ibv, const void *in, size_t inlen, void *out, size_t outlen)
{
	UVERBS_CMD(2) cmd;
	int err = uverbs_check_context(ibv);

	if (!err)
		err = uverbs_check_box(in, inlen);
	if (!err)
		err = uverbs_check_box(out, outlen);
	if (err)
		return err;
	cmd.attrs[0] = uverbs_in(MLX5_IB_ATTR_DEVX_OTHER_CMD_IN, in, inlen);
	cmd.attrs[1] = uverbs_out(MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT, out, outlen);
	return uverbs_ioctl(ibv->cmd_fd, MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_OTHER, &cmd.hdr, 2);
}

int uverbs_query_eqn(struct ibv_context *ibv, uint32_t vector, uint32_t *eqn)
{
	UVERBS_CMD(2) cmd;
	int err = uverbs_check_context(ibv);

	if (err)
		return err;
	cmd.attrs[0] = uverbs_in_u32(MLX5_IB_ATTR_DEVX_QUERY_EQN_USER_VEC, vector);
	cmd.attrs[1] = uverbs_out(MLX5_IB_ATTR_DEVX_QUERY_EQN_DEV_EQN, eqn, sizeof(*eqn));
	return uverbs_ioctl(ibv->cmd_fd, MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_QUERY_EQN, &cmd.hdr, 2);
}
