/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * More than one handle for an object: export writes down which object of which context it is, import makes another handle of
 * it. Between processes that share a context's descriptor the kernel's number is all there is, as with libmlx5; within one, the
 * bytes are believed only as far as they name something alive, and all handles of an object end with it.
 */
#include <sys/random.h>
#include <unistd.h>

#include "uverbs.h"

#define MAGIC 0x4b58444fu /* "ODXK" as little-endian bytes: the first form */

struct exported {
	uint32_t magic;
	uint16_t size;
	uint16_t kind;    /* enum uverbs_kind */
	uint32_t handle;  /* the kernel's */
	uint32_t id;      /* of a umem: the device's; of an object: the opcode that made it */
	uint64_t process; /* who wrote it */
	uint64_t tag;     /* of the context */
	uint64_t serial;  /* the handle's */
	uint32_t place;   /* of it among all */
	uint32_t sum;     /* of all above */
};

_Static_assert(sizeof(struct exported) == UVERBS_EXPORT, "programs are told how much memory to have");

static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint64_t drawn;
static atomic_uint_fast64_t tags = 1;

static void draw(void)
{
	/* Without random numbers at hand: an address, which the kernel draws too. */
	if (getrandom(&drawn, sizeof(drawn), GRND_NONBLOCK) != sizeof(drawn))
		drawn = (uintptr_t)&drawn;
}

/* A random number of the process, and its id: a forked child has the number too. */
static uint64_t this_process(void)
{
	pthread_once(&once, draw);
	return drawn ^ (uint64_t)getpid() * UINT64_C(0x9e3779b97f4a7c15);
}

uint64_t uverbs_tag(void)
{
	return atomic_fetch_add(&tags, 1);
}

/* Against accidents, not against intent: FNV-1a, to which each byte matters. */
static uint32_t sum(const struct exported *e)
{
	const uint8_t *p = (const uint8_t *)e;
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < offsetof(struct exported, sum); i++)
		h = (h ^ p[i]) * UINT64_C(0x100000001b3);
	return (uint32_t)(h ^ h >> 32);
}

static void write_down(const struct uverbs_child *c, uint32_t handle, uint32_t id, uint64_t place, void *data)
{
	struct exported e = {
		.magic = MAGIC, .size = sizeof(e), .kind = c->kind, .handle = handle, .id = id, .process = this_process(),
		.tag = c->ctx->tag, .serial = c->serial, .place = (uint32_t)place,
	};

	e.sum = sum(&e);
	memcpy(data, &e, sizeof(e));
}

#define LIST_MAX 4096u

/*
 * Does the kernel's context have an object of that number? A context with more objects than the list holds is given the benefit
 * of the doubt, and so is a kernel that has no such list: as libmlx5.
 */
static int check_kernel(const struct ibv_context *ibv, uint16_t object, uint32_t handle)
{
	uint32_t list[LIST_MAX], total = 0;
	UVERBS_CMD(3) cmd;
	int err;

	cmd.attrs[0] = uverbs_const(UVERBS_ATTR_INFO_OBJECT_ID, object);
	cmd.attrs[1] = uverbs_out(UVERBS_ATTR_INFO_TOTAL_HANDLES, &total, sizeof(total));
	cmd.attrs[2] = uverbs_out(UVERBS_ATTR_INFO_HANDLES_LIST, list, sizeof(list));
	err = uverbs_ioctl(ibv->cmd_fd, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INFO_HANDLES, &cmd.hdr, 3);
	if (err == EPROTONOSUPPORT)
		return 0;
	if (err)
		return err;
	for (uint32_t i = 0; i < total && i < LIST_MAX; i++)
		if (list[i] == handle)
			return 0;
	return total < LIST_MAX ? ENOENT : 0;
}

static bool of_this_process(const struct exported *e)
{
	return e->process == this_process();
}

/* 0: it is an export for this context; of another process, also something that the kernel knows. */
static int read_back(const struct ibv_context *ibv, enum uverbs_kind kind, const void *data, struct exported *e)
{
	int err = uverbs_check_context(ibv);

	if (err)
		return err;
	memcpy(e, data, sizeof(*e));
	if (e->magic != MAGIC || e->size != sizeof(*e) || e->kind != kind || e->sum != sum(e) || !e->serial)
		return EINVAL;
	if (of_this_process(e))
		return e->tag == uverbs_ctx(ibv)->tag ? 0 : EINVAL;
	return check_kernel(ibv, kind == UVERBS_OBJ ? MLX5_IB_OBJECT_DEVX_OBJ : MLX5_IB_OBJECT_DEVX_UMEM, e->handle);
}

/* Adds the new handle c; origin: what the place names, or NULL. 0 or ENOENT. */
static int add(struct ibv_context *ibv, struct uverbs_child *c, enum uverbs_kind kind, const struct exported *e,
	       struct uverbs_child *origin)
{
	int err = 0;

	if (!of_this_process(e)) {
		uverbs_child_add(uverbs_ctx(ibv), c, kind, NULL);
		return 0;
	}
	pthread_mutex_lock(&uverbs_lists);
	if (!origin || origin->serial != e->serial)
		err = ENOENT;
	else
		uverbs_child_add(uverbs_ctx(ibv), c, kind, origin);
	pthread_mutex_unlock(&uverbs_lists);
	return err;
}

int uverbs_obj_export(struct mlx5dv_devx_obj *pub, void *data)
{
	struct uverbs_obj *obj = (struct uverbs_obj *)pub;
	int err;

	if (uverbs_obj_context(pub, &err))
		write_down(&obj->child, obj->handle, obj->opcode, slab_place(&uverbs_objs, obj), data);
	return err;
}

struct mlx5dv_devx_obj *uverbs_obj_import(struct ibv_context *ibv, const void *data)
{
	struct uverbs_obj *obj = NULL, *origin;
	struct exported e;
	int err = read_back(ibv, UVERBS_OBJ, data, &e);

	if (!err && !(obj = slab_alloc(&uverbs_objs)))
		err = ENOMEM;
	if (!err) {
		obj->handle = e.handle;
		obj->opcode = e.id;
		origin = slab_at(&uverbs_objs, e.place);
		err = add(ibv, &obj->child, UVERBS_OBJ, &e, origin ? &origin->child : NULL);
	}
	if (!err)
		return &obj->pub;
	if (obj)
		slab_free(&uverbs_objs, obj);
	errno = err;
	return NULL;
}

void uverbs_obj_unimport(struct mlx5dv_devx_obj *obj)
{
	uverbs_unimport(&((struct uverbs_obj *)obj)->child);
}

int uverbs_umem_export(struct mlx5dv_devx_umem *pub, void *data)
{
	struct uverbs_umem *u = (struct uverbs_umem *)pub;
	int err;

	if (uverbs_umem_context(u, &err))
		write_down(&u->child, u->handle, pub->umem_id, slab_place(&uverbs_umems, u), data);
	return err;
}

struct mlx5dv_devx_umem *uverbs_umem_import(struct ibv_context *ibv, const void *data)
{
	struct uverbs_umem *u = NULL, *origin;
	struct exported e;
	int err = read_back(ibv, UVERBS_UMEM, data, &e);

	if (!err && !(u = slab_alloc(&uverbs_umems)))
		err = ENOMEM;
	if (!err) {
		u->handle = e.handle;
		u->pub.pub.umem_id = e.id;
		origin = slab_at(&uverbs_umems, e.place);
		err = add(ibv, &u->child, UVERBS_UMEM, &e, origin ? &origin->child : NULL);
	}
	if (!err)
		return &u->pub.pub;
	if (u)
		slab_free(&uverbs_umems, u);
	errno = err;
	return NULL;
}

void uverbs_umem_unimport(struct mlx5dv_devx_umem *umem)
{
	uverbs_unimport(&((struct uverbs_umem *)umem)->child);
}
