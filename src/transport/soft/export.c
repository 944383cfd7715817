/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * More than one handle for an object: export writes down which object of which context it is, import makes another handle of
 * it. The bytes come from the program, and are believed only as far as they name something alive: nothing is read through
 * them. A handle that is given up (unimport) leaves the object alone; a destroy through one handle ends the object for all.
 */
#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "device.h"

#define MAGIC 0x3158444fu /* "ODX1" as little-endian bytes: the first form */

struct exported {
	uint32_t magic;
	uint16_t size;
	uint16_t kind;    /* enum soft_kind */
	uint64_t process; /* a random number of the process, and its id: a forked child has the number too */
	uint64_t pid;
	uint64_t context; /* its serial */
	uint64_t serial;  /* the object's */
	uint64_t place;   /* of its handle among all */
};

_Static_assert(sizeof(struct exported) == SOFT_EXPORT_SIZE, "programs are told how much memory to have");

static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint64_t process;
static atomic_uint_fast64_t last_serial;

static void draw(void)
{
	/* Without random numbers at hand: an address, which the kernel draws too. */
	if (getrandom(&process, sizeof(process), GRND_NONBLOCK) != sizeof(process))
		process = (uintptr_t)&process;
}

uint64_t soft_serial(void)
{
	return atomic_fetch_add(&last_serial, 1) + 1;
}

struct soft_child *soft_child_real(struct soft_child *c)
{
	struct soft_child *o = __atomic_load_n(&c->origin, __ATOMIC_ACQUIRE);

	if (!o)
		return __atomic_load_n(&c->let_go, __ATOMIC_RELAXED) || __atomic_load_n(&c->gone, __ATOMIC_RELAXED) ? NULL : c;
	if (__atomic_load_n(&o->serial, __ATOMIC_ACQUIRE) != __atomic_load_n(&c->origin_serial, __ATOMIC_RELAXED) ||
	    __atomic_load_n(&o->gone, __ATOMIC_RELAXED))
		return NULL;
	return o;
}

static bool is_handle(const struct soft_child *c)
{
	return c->kind == SOFT_OBJ_HANDLE || c->kind == SOFT_UMEM_HANDLE;
}

void soft_child_end(struct soft_context *ctx, struct soft_child *handle, struct soft_child *real)
{
	struct soft_child *first = NULL;

	pthread_mutex_lock(&ctx->lock);
	if (handle == real || real->let_go) {
		first = real;
		soft_child_unlink(ctx, real);
	} else {
		/* The program still holds the first handle: it stays, empty, until it is given up. */
		soft_child_release(ctx->dev, real);
		__atomic_store_n(&real->kind, real->kind == SOFT_OBJ ? SOFT_OBJ_HANDLE : SOFT_UMEM_HANDLE, __ATOMIC_RELAXED);
		__atomic_store_n(&real->gone, true, __ATOMIC_RELAXED);
	}
	if (handle != real && handle->serial) { /* another thread may have given it up meanwhile */
		soft_child_unlink(ctx, handle);
		soft_child_bury(ctx->dev, handle);
	}
	if (first)
		soft_child_bury(ctx->dev, first);
	pthread_mutex_unlock(&ctx->lock);
}

/* c's program handle is given up. */
static void give_up(struct soft_context *ctx, struct soft_child *c)
{
	pthread_mutex_lock(&ctx->lock);
	if (c->serial && is_handle(c)) {
		soft_child_unlink(ctx, c);
		soft_child_bury(ctx->dev, c);
	} else if (c->serial) {
		__atomic_store_n(&c->let_go, true, __ATOMIC_RELAXED);
	}
	pthread_mutex_unlock(&ctx->lock);
}

static void write_down(const struct soft_context *ctx, const struct soft_child *real, uint64_t place, void *data)
{
	struct exported e = {
		.magic = MAGIC, .size = sizeof(e), .kind = real->kind, .pid = (uint64_t)getpid(), .context = ctx->serial,
		.serial = real->serial, .place = place,
	};

	pthread_once(&once, draw);
	e.process = process;
	memcpy(data, &e, sizeof(e));
}

/* 0: of this context; *place and *serial are still to be looked at. */
static int read_back(const struct soft_context *ctx, enum soft_kind kind, const void *data, uint64_t *place, uint64_t *serial)
{
	struct exported e;

	pthread_once(&once, draw);
	memcpy(&e, data, sizeof(e));
	if (e.magic != MAGIC || e.size != sizeof(e) || e.kind != kind || e.process != process || e.pid != (uint64_t)getpid() ||
	    e.context != ctx->serial || !e.serial)
		return EINVAL;
	*place = e.place;
	*serial = e.serial;
	return 0;
}

/* It may die at any time: who goes on finds out at the next call. */
static bool is_alive(struct soft_child *c, enum soft_kind kind, uint64_t serial)
{
	return __atomic_load_n(&c->serial, __ATOMIC_ACQUIRE) == serial && __atomic_load_n(&c->kind, __ATOMIC_RELAXED) == kind;
}

static int check(struct soft_context *ctx)
{
	int err = soft_check_context(&ctx->verbs.context);

	return err ? err : atomic_load(&ctx->dev->removed) ? EIO : 0;
}

int soft_obj_export(struct mlx5dv_devx_obj *pub, void *data)
{
	struct soft_context *ctx;
	struct soft_obj *obj;
	int err = soft_obj_read_lock(pub, &ctx, &obj);

	if (err)
		return err;
	write_down(ctx, &obj->child, slab_place(&soft_objs, obj), data);
	soft_obj_read_unlock(obj);
	return 0;
}

struct mlx5dv_devx_obj *soft_obj_import(struct ibv_context *ibv, const void *data)
{
	struct soft_context *ctx = soft_ctx(ibv);
	uint64_t place, serial;
	struct soft_obj *real, *obj;
	int err = check(ctx);

	if (!err)
		err = read_back(ctx, SOFT_OBJ, data, &place, &serial);
	if (err)
		goto fail;
	real = slab_at(&soft_objs, place);
	err = ENOENT;
	if (!real || !is_alive(&real->child, SOFT_OBJ, serial))
		goto fail;
	obj = slab_alloc(&soft_objs);
	if (!obj)
		return NULL;
	obj->child.kind = SOFT_OBJ_HANDLE;
	soft_child_add(ctx, &obj->child, &real->child, serial);
	__atomic_store_n(&obj->pub.context, ibv, __ATOMIC_RELEASE);
	return &obj->pub;

fail:
	errno = err;
	return NULL;
}

void soft_obj_unimport(struct mlx5dv_devx_obj *pub)
{
	struct ibv_context *ibv = __atomic_load_n(&pub->context, __ATOMIC_ACQUIRE);

	if (ibv && !soft_check_context(ibv))
		give_up(soft_ctx(ibv), &((struct soft_obj *)pub)->child);
}

int soft_umem_export(struct mlx5dv_devx_umem *pub, void *data)
{
	struct soft_context *ctx;
	struct soft_umem *u;
	int err = soft_umem_real(pub, &ctx, &u);

	if (!err)
		write_down(ctx, &u->child, slab_place(&soft_umems, u), data);
	return err;
}

struct mlx5dv_devx_umem *soft_umem_import(struct ibv_context *ibv, const void *data)
{
	struct soft_context *ctx = soft_ctx(ibv);
	uint64_t place, serial;
	struct soft_umem *real, *u;
	int err = check(ctx);

	if (!err)
		err = read_back(ctx, SOFT_UMEM, data, &place, &serial);
	if (err)
		goto fail;
	real = slab_at(&soft_umems, place);
	err = ENOENT;
	if (!real || !is_alive(&real->child, SOFT_UMEM, serial))
		goto fail;
	u = slab_alloc(&soft_umems);
	if (!u)
		return NULL;
	u->pub.pub.umem_id = real->pub.pub.umem_id;
	u->child.kind = SOFT_UMEM_HANDLE;
	soft_child_add(ctx, &u->child, &real->child, serial);
	__atomic_store_n(&u->pub.context, ibv, __ATOMIC_RELEASE);
	return &u->pub.pub;

fail:
	errno = err;
	return NULL;
}

void soft_umem_unimport(struct mlx5dv_devx_umem *pub)
{
	struct soft_umem *u = (struct soft_umem *)pub;
	struct ibv_context *ibv = __atomic_load_n(&u->pub.context, __ATOMIC_ACQUIRE);

	if (ibv && !soft_check_context(ibv))
		give_up(soft_ctx(ibv), &u->child);
}
