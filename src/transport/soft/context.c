/* SPDX-License-Identifier: BSD-2-Clause */
/* Contexts: opening and closing a software device, and the commands that name no object. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "device.h"
#include "prm.h"

int soft_check_context(const struct ibv_context *ctx)
{
	const struct soft_context *c = soft_ctx((struct ibv_context *)ctx);

	if (atomic_load(&c->state) != SOFT_LIVE)
		return EBADF;
	return c->fork_gen == soft_fork_gen ? 0 : EIO;
}

int soft_driver_command(struct soft_device *dev, const void *in, uint32_t inlen, void *out, uint32_t outlen)
{
	pthread_mutex_lock(&dev->model);
	soft_pump(dev); /* what was submitted before still finds its objects */
	hca_execute(dev->hca, in, inlen, out, outlen);
	pthread_mutex_unlock(&dev->model);
	return soft_status(out);
}

static int create_uctx(struct soft_device *dev, uint16_t *uid)
{
	uint8_t in[PRM_SZ(create_uctx_in)] = { 0 }, out[PRM_SZ(create_uctx_out)];
	struct prm_box b = prm_out(in, sizeof(in)), o = prm_in(out, sizeof(out));
	int err;

	PRM_SET(&b, create_uctx_in, opcode, PRM_OP_CREATE_UCTX);
	err = soft_driver_command(dev, in, sizeof(in), out, sizeof(out));
	*uid = (uint16_t)PRM_GET(&o, create_uctx_out, uid);
	return err;
}

static void destroy_uctx(struct soft_device *dev, uint16_t uid)
{
	uint8_t in[PRM_SZ(destroy_uctx_in)] = { 0 }, out[PRM_SZ(destroy_uctx_out)];
	struct prm_box b = prm_out(in, sizeof(in));

	PRM_SET(&b, destroy_uctx_in, opcode, PRM_OP_DESTROY_UCTX);
	PRM_SET(&b, destroy_uctx_in, uid, uid);
	soft_driver_command(dev, in, sizeof(in), out, sizeof(out));
}

static int open_fds(struct ibv_context *ibv)
{
	int err = soft_uar_open(soft_ctx(ibv));

	if (err)
		return err;
	err = soft_async_open(soft_ctx(ibv));
	if (err)
		soft_uar_close_fd(soft_ctx(ibv));
	else
		ibv->async_fd = soft_ctx(ibv)->async.q.fd;
	return err;
}

/* The device thread runs while contexts are open. Registry's lock held by neither. */
static int join_device(struct soft_device *dev)
{
	int err = 0;

	pthread_mutex_lock(&soft_registry);
	if (!dev->handle->dev)
		err = ENODEV; /* destroyed meanwhile */
	else if (dev->n_contexts == 0)
		err = soft_worker_start(dev);
	if (!err)
		dev->n_contexts++;
	if (!err && dev->nobody_asked) {
		dev->nobody_asked = false;
		fprintf(stderr,
			"opendevx: no mlx5 device found: opening the software device %s (OPENDEVX_SOFT=on or off chooses)\n",
			dev->handle->ibv.name);
	}
	pthread_mutex_unlock(&soft_registry);
	return err;
}

static void leave_device(struct soft_device *dev)
{
	pthread_mutex_lock(&soft_registry);
	if (--dev->n_contexts == 0)
		soft_worker_stop(dev);
	pthread_mutex_unlock(&soft_registry);
}

static void init_ibv(struct soft_context *ctx, struct soft_device *dev)
{
	soft_verbs_init(&ctx->verbs);
	ctx->verbs.context.device = &dev->handle->ibv;
	ctx->verbs.context.num_comp_vectors = HCA_EQS;
	pthread_mutex_init(&ctx->verbs.context.mutex, NULL);
	pthread_mutex_init(&ctx->lock, NULL);
	soft_uars_init(&ctx->uars);
	ctx->oldest = ctx->newest = NULL;
	ctx->queues = NULL;
	ctx->msis = NULL;
	ctx->dev = dev;
	ctx->serial = soft_serial();
	ctx->fork_gen = soft_fork_gen;
}

/*
 * What an open with these descriptors gives: each must be a user-capability device of the RDMA core, and a software device
 * honours none, so that none can be right.
 */
static int check_fds(const struct odx_open *how)
{
	int flags;

	if (!how->fds)
		return 0;
	flags = fcntl(how->fds[0], F_GETFL);
	return flags < 0 || flags & O_PATH ? EBADF : EINVAL;
}

struct ibv_context *soft_open(struct ibv_device *ibv, const struct odx_open *how)
{
	struct soft_device *dev = NULL;
	struct soft_context *ctx;
	int err = check_fds(how);

	if (!err)
		dev = soft_device_get(ibv, &err);
	if (!dev)
		goto fail;
	err = EIO;
	if (atomic_load(&dev->removed))
		goto put;
	err = ENOMEM;
	ctx = slab_alloc(&soft_contexts);
	if (!ctx)
		goto put;
	init_ibv(ctx, dev);
	err = open_fds(&ctx->verbs.context);
	if (err)
		goto free_ctx;
	err = join_device(dev);
	if (err)
		goto close_fds;
	err = create_uctx(dev, &ctx->uid);
	if (err)
		goto leave;
	atomic_store(&ctx->state, SOFT_LIVE);
	return &ctx->verbs.context;

leave:
	leave_device(dev);
close_fds:
	soft_uar_close_fd(ctx);
	fdq_destroy(&ctx->async.q);
free_ctx:
	slab_free(&soft_contexts, ctx);
put:
	soft_device_put(dev);
fail:
	errno = err;
	return NULL;
}

/*
 * Newest first; what others still refer to goes in a later pass. A device that was removed has nothing to say; and what it does not
 * give back the program loses too, as with the kernel.
 */
static void destroy_children(struct soft_context *ctx)
{
	bool progress = !atomic_load(&ctx->dev->removed), last;
	struct soft_child *c, *older;

	while (ctx->newest) {
		last = !progress;
		progress = false;
		for (c = ctx->newest; c; c = older) {
			uint8_t out[PRM_HDR_SZ];

			older = c->older;
			if (!last && c->kind != SOFT_OBJ_HANDLE && c->kind != SOFT_UMEM_HANDLE &&
			    soft_driver_command(ctx->dev, c->destroy, sizeof(c->destroy), out, sizeof(out)))
				continue;
			soft_child_drop(ctx, c);
			soft_child_bury(ctx->dev, c);
			progress = true;
		}
	}
}

int soft_close(struct ibv_context *ibv)
{
	struct soft_context *ctx = soft_ctx(ibv);
	struct soft_device *dev = ctx->dev;
	int live = SOFT_LIVE;

	if (ctx->fork_gen != soft_fork_gen && atomic_load(&ctx->state) == SOFT_LIVE)
		return EIO;
	if (!atomic_compare_exchange_strong(&ctx->state, &live, SOFT_DEAD))
		return EBADF;
	fdq_destroy(&ctx->async.q);
	fdqs_close(ctx);
	destroy_children(ctx);
	soft_msis_close(ctx);
	soft_uars_close(ctx);
	destroy_uctx(dev, ctx->uid);
	leave_device(dev);
	soft_uar_close_fd(ctx);
	pthread_mutex_destroy(&ctx->lock);
	pthread_mutex_destroy(&ibv->mutex);
	slab_free(&soft_contexts, ctx);
	soft_device_put(dev);
	return 0;
}

int soft_check_boxes(const void *in, size_t inlen, const void *out, size_t outlen)
{
	if (!in || !out || inlen < PRM_HDR_SZ || inlen > PRM_BOX_MAX || outlen < PRM_HDR_SZ || outlen > PRM_BOX_MAX)
		return EINVAL;
	return 0;
}

int soft_general_cmd(struct ibv_context *ibv, const void *in, size_t inlen, void *out, size_t outlen)
{
	struct soft_context *ctx = soft_ctx(ibv);
	int err = soft_check_context(ibv);

	if (err)
		return err;
	if (atomic_load(&ctx->dev->removed))
		return EIO;
	err = soft_check_boxes(in, inlen, out, outlen);
	if (err)
		return err;
	/* Tunnelled commands need a capability that no profile has. */
	if (rules_tunnel_id(in) || !rules_is_general(in))
		return EINVAL;
	err = soft_command(ctx->dev, ctx->uid, in, inlen, out, outlen);
	if (err)
		return err;
	return soft_status(out) ? EREMOTEIO : 0;
}

int soft_query_eqn(struct ibv_context *ibv, uint32_t vector, uint32_t *eqn)
{
	struct soft_device *dev = soft_ctx(ibv)->dev;
	int err = soft_check_context(ibv);
	bool there;

	if (err)
		return err;
	if (atomic_load(&dev->removed))
		return EIO;
	pthread_mutex_lock(&dev->model);
	there = hca_eqn(dev->hca, vector, eqn);
	pthread_mutex_unlock(&dev->model);
	return there ? 0 : EINVAL;
}
