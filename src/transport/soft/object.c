/* SPDX-License-Identifier: BSD-2-Clause */
/* DEVX objects: create, query, modify, destroy. Locks are the kernel's: users share, destroy excludes, nobody waits. */
#include <errno.h>
#include <string.h>

#include "device.h"
#include "prm.h"

void soft_child_add(struct soft_context *ctx, struct soft_child *c, struct soft_child *origin, uint64_t origin_serial)
{
	pthread_mutex_lock(&ctx->lock);
	/* Who still has a stale handle of this memory may be looking. */
	__atomic_store_n(&c->origin_serial, origin_serial, __ATOMIC_RELAXED);
	__atomic_store_n(&c->origin, origin, __ATOMIC_RELEASE);
	__atomic_store_n(&c->let_go, false, __ATOMIC_RELAXED);
	__atomic_store_n(&c->gone, false, __ATOMIC_RELAXED);
	__atomic_store_n(&c->serial, soft_serial(), __ATOMIC_RELEASE);
	c->older = ctx->newest;
	c->newer = NULL;
	if (ctx->newest)
		ctx->newest->newer = c;
	else
		ctx->oldest = c;
	ctx->newest = c;
	pthread_mutex_unlock(&ctx->lock);
}

void soft_child_unlink(struct soft_context *ctx, struct soft_child *c)
{
	__atomic_store_n(&c->serial, 0, __ATOMIC_RELEASE);
	if (c->older)
		c->older->newer = c->newer;
	else
		ctx->oldest = c->newer;
	if (c->newer)
		c->newer->older = c->older;
	else
		ctx->newest = c->older;
}

void soft_child_drop(struct soft_context *ctx, struct soft_child *c)
{
	pthread_mutex_lock(&ctx->lock);
	soft_child_unlink(ctx, c);
	pthread_mutex_unlock(&ctx->lock);
}

#define OF(type, c) ((struct type *)((char *)(c) - offsetof(struct type, child)))

void soft_child_release(struct soft_device *dev, struct soft_child *c)
{
	if (c->kind == SOFT_OBJ)
		soft_subs_end(dev, OF(soft_obj, c));
	else if (c->kind == SOFT_UMEM)
		soft_umem_release(dev, OF(soft_umem, c));
}

static void bury_obj(struct soft_obj *obj)
{
	__atomic_store_n(&obj->pub.context, NULL, __ATOMIC_RELEASE);
	slab_free(&soft_objs, obj);
}

static void bury_umem(struct soft_umem *u)
{
	__atomic_store_n(&u->pub.context, NULL, __ATOMIC_RELEASE);
	slab_free(&soft_umems, u);
}

void soft_child_bury(struct soft_device *dev, struct soft_child *c)
{
	soft_child_release(dev, c);
	switch ((enum soft_kind)c->kind) {
	case SOFT_OBJ:
	case SOFT_OBJ_HANDLE:
		bury_obj(OF(soft_obj, c));
		break;
	case SOFT_UMEM:
	case SOFT_UMEM_HANDLE:
		bury_umem(OF(soft_umem, c));
		break;
	case SOFT_PD:
		soft_pd_bury(OF(soft_pd, c));
		break;
	case SOFT_MR:
		soft_mr_bury(OF(soft_mr, c));
		break;
	case SOFT_EQ:
		soft_eq_bury(dev, OF(soft_eq, c));
		break;
	}
}

/* The kernel's destroys succeed on a device that is gone. */
int soft_child_destroy(struct soft_context *ctx, struct soft_child *c)
{
	uint8_t out[PRM_HDR_SZ] = { 0 };
	int err;

	if (atomic_load(&ctx->dev->removed))
		return 0;
	err = soft_command(ctx->dev, ctx->uid, c->destroy, sizeof(c->destroy), out, sizeof(out));
	if (!err)
		err = soft_status(out);
	return err == EIO && atomic_load(&ctx->dev->removed) ? 0 : err;
}

/* What a handle stands for. A stale handle has no context. */
static int object_of(struct mlx5dv_devx_obj *pub, struct soft_context **ctx, struct soft_obj **obj)
{
	struct ibv_context *ibv = __atomic_load_n(&pub->context, __ATOMIC_ACQUIRE);
	struct soft_child *real;
	int err;

	if (!ibv)
		return ENOENT;
	err = soft_check_context(ibv);
	if (err)
		return err;
	real = soft_child_real(&((struct soft_obj *)pub)->child);
	if (!real)
		return ENOENT;
	*ctx = soft_ctx(ibv);
	*obj = OF(soft_obj, real);
	return 0;
}

/* The object may die between the look at it and the lock, so it is looked at again. */
int soft_obj_read_lock(struct mlx5dv_devx_obj *pub, struct soft_context **ctx, struct soft_obj **obj)
{
	struct soft_obj *again;
	int users, err = object_of(pub, ctx, obj);

	if (err)
		return err;
	users = atomic_load(&(*obj)->lock);
	do {
		if (users < 0)
			return EBUSY;
	} while (!atomic_compare_exchange_weak(&(*obj)->lock, &users, users + 1));
	err = object_of(pub, ctx, &again);
	if (!err && again != *obj)
		err = ENOENT;
	if (err)
		soft_obj_read_unlock(*obj);
	return err;
}

void soft_obj_read_unlock(struct soft_obj *obj)
{
	atomic_fetch_sub(&obj->lock, 1);
}

/* The kernel looks the EQN of a new CQ up among its own, before the firmware sees the command; those of the program are ours. */
static int check_eqn(struct soft_context *ctx, const void *in, size_t inlen)
{
	struct soft_device *dev = ctx->dev;
	uint32_t eqn, known;
	bool found = false;

	if (!rules_cq_eqn(in, inlen, &eqn))
		return 0;
	pthread_mutex_lock(&dev->model);
	for (uint32_t v = 0; !found && hca_eqn(dev->hca, v, &known); v++)
		found = known == eqn;
	pthread_mutex_unlock(&dev->model);
	return found || soft_eq_is(ctx, eqn) ? 0 : ENOENT;
}

/* What the kernel refuses of an inbox that creates; 0 or an errno value. */
static int check_create(struct soft_context *ctx, const void *in, size_t inlen)
{
	if (rules_tunnel_id(in) || !rules_is_create(in) || !rules_create_len_ok(in, inlen))
		return EINVAL;
	return check_eqn(ctx, in, inlen);
}

static struct mlx5dv_devx_obj *fail(int err)
{
	errno = err;
	return NULL;
}

struct mlx5dv_devx_obj *soft_obj_create(struct ibv_context *ibv, const void *in, size_t inlen, void *out, size_t outlen)
{
	struct soft_context *ctx = soft_ctx(ibv);
	struct soft_obj *obj;
	int err = soft_check_context(ibv);

	if (err)
		return fail(err);
	if (atomic_load(&ctx->dev->removed))
		return fail(EIO);
	err = soft_check_boxes(in, inlen, out, outlen);
	if (!err)
		err = check_create(ctx, in, inlen);
	if (err)
		return fail(err);
	obj = slab_alloc(&soft_objs); /* first: after the command there must be nothing that can fail */
	if (!obj)
		return NULL;
	obj->key = rules_creates(in, inlen, obj->child.destroy);
	obj->n_ids = rules_span(in);
	err = soft_command(ctx->dev, ctx->uid, in, inlen, out, outlen);
	if (!err && soft_status(out))
		err = EREMOTEIO;
	if (err) {
		slab_free(&soft_objs, obj);
		return fail(err);
	}
	obj->key = rules_created(obj->key, out, outlen, obj->child.destroy);
	rules_stamp_uid(obj->child.destroy, ctx->uid);
	obj->child.kind = SOFT_OBJ;
	obj->subs.first = NULL;
	atomic_store(&obj->watched, false);
	atomic_store(&obj->lock, 0);
	soft_child_add(ctx, &obj->child, NULL, 0);
	__atomic_store_n(&obj->pub.context, ibv, __ATOMIC_RELEASE);
	return &obj->pub;
}

static int command_on(struct mlx5dv_devx_obj *pub, bool (*is)(const uint8_t *), const void *in, size_t inlen, void *out,
		      size_t outlen)
{
	struct soft_context *ctx;
	struct soft_obj *obj;
	int err = soft_obj_read_lock(pub, &ctx, &obj);

	if (err)
		return err;
	err = EIO;
	if (atomic_load(&ctx->dev->removed))
		goto unlock;
	err = soft_check_boxes(in, inlen, out, outlen);
	if (err)
		goto unlock;
	err = EINVAL;
	if (rules_tunnel_id(in) || !is(in) || !rules_id_inside(in, inlen) || !rules_names(in, inlen, obj->key, obj->n_ids))
		goto unlock;
	err = soft_command(ctx->dev, ctx->uid, in, inlen, out, outlen);
	if (!err && soft_status(out))
		err = EREMOTEIO;
unlock:
	soft_obj_read_unlock(obj);
	return err;
}

int soft_obj_query(struct mlx5dv_devx_obj *obj, const void *in, size_t inlen, void *out, size_t outlen)
{
	return command_on(obj, rules_is_query, in, inlen, out, outlen);
}

int soft_obj_modify(struct mlx5dv_devx_obj *obj, const void *in, size_t inlen, void *out, size_t outlen)
{
	return command_on(obj, rules_is_modify, in, inlen, out, outlen);
}

int soft_obj_destroy(struct mlx5dv_devx_obj *pub)
{
	struct soft_obj *obj, *again;
	struct soft_context *ctx;
	int free_lock = 0, err = object_of(pub, &ctx, &obj);

	if (err)
		return err;
	if (!atomic_compare_exchange_strong(&obj->lock, &free_lock, -1))
		return EBUSY;
	err = object_of(pub, &ctx, &again); /* another thread may have been faster */
	if (!err && again != obj)
		err = ENOENT;
	if (!err)
		err = soft_child_destroy(ctx, &obj->child);
	if (err)
		atomic_store(&obj->lock, 0);
	else
		soft_child_end(ctx, &((struct soft_obj *)pub)->child, &obj->child); /* the lock stays with the dead */
	return err;
}
