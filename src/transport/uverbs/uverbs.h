/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel transport from inside: devices of the mlx5 driver, reached through /dev/infiniband/uverbsN. Handles come from slabs,
 * as those of the soft transport, so that whose a pointer is and whether it is stale is a comparison. What a completion or an
 * event channel is, its descriptor is: the kernel has all its state.
 *
 * Locks, in the order in which they are taken: uverbs_registry (devices), uverbs_lists (each context's list of handles),
 * uverbs_uar_pools (each context's pages). They, and those of the slabs, are held across a fork.
 * After a fork the child has the parent's contexts as it has its descriptors: it may go on using them, as with libmlx5.
 */
#ifndef UVERBS_UVERBS_H
#define UVERBS_UVERBS_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "ioctl.h"
#include "slab.h"
#include "transport.h"

/* What the program holds as a struct ibv_device. Never freed: a device that comes back has the same. */
struct uverbs_device {
	struct ibv_device ibv;
	dev_t rdev;                  /* of its node */
	uint64_t guid;               /* big-endian */
	struct uverbs_device *next;  /* under the registry's lock */
	void *slab_link;
};

enum uverbs_kind { UVERBS_OBJ, UVERBS_UMEM, UVERBS_PD, UVERBS_MR };

/* What a context's list knows of a handle: the kernel ends what it stands for when the context is closed. */
struct uverbs_child {
	struct uverbs_context *ctx;
	/* Under uverbs_lists. */
	struct uverbs_child *older, *newer;
	struct uverbs_child *alias;         /* the next handle of the same object, in a ring; a single one: itself */
	uint64_t serial;                    /* no two are alike in this process; 0: dead */
	uint8_t kind;
	uint8_t busy;                       /* enum uverbs_busy */
	bool let_go;                        /* given up while the object was being ended through it */
	bool empty;                         /* ended through another handle, and still with the program */
};
/* The object is being ended: through another handle, or through this one. */
enum uverbs_busy { UVERBS_IDLE, UVERBS_BUSY, UVERBS_ENDER };

enum uverbs_state { UVERBS_DEAD, UVERBS_LIVE };

/* uar.c: pages of doorbell registers, and those that wait for a program. */
struct page;
struct uverbs_uar;
struct uverbs_uar_list {
	struct uverbs_uar *first, *last;
};
struct uverbs_uar_pool {
	struct page *pages;          /* under uverbs_uar_pools, which is held across the kernel's calls */
	struct uverbs_uar_list bf, nc;
	struct uverbs_uar *shared;
};

struct uverbs_context {
	struct verbs_context verbs;  /* ends with the program's struct ibv_context */
	atomic_int state;
	bool devx;                   /* it has a uid */
	struct uverbs_device *dev;
	bool imported;               /* others have the kernel's context too (import.c) */
	uint64_t tag;                /* contexts with one tag are one context of the kernel */
	struct mlx5_ib_alloc_ucontext_resp resp;
	struct uverbs_child *oldest, *newest; /* under uverbs_lists */
	struct uverbs_uar_pool uars;
	void *slab_link;
};

struct uverbs_obj {
	struct mlx5dv_devx_obj pub;  /* context NULL: dead */
	uint32_t handle;             /* the kernel's */
	uint32_t opcode;             /* that created it, and the type of a general object above */
	uint64_t seen;               /* by uverbs_id_inside(): the last opcode, and above it how long its inbox must be */
	struct uverbs_child child;
	void *slab_link;
} __attribute__((aligned(ODX_UVERBS_OBJ)));
_Static_assert(sizeof(struct uverbs_obj) == ODX_UVERBS_OBJ, "one handle");

struct uverbs_umem {
	struct odx_umem pub;         /* context NULL: dead */
	uint32_t handle;
	struct uverbs_child child;
	void *slab_link;
};

struct uverbs_pd {
	struct ibv_pd ibv;           /* context NULL: dead; handle: the kernel's */
	uint32_t pdn;
	struct uverbs_child child;
	void *slab_link;
};

struct uverbs_mr {
	struct ibv_mr ibv;           /* context NULL: dead */
	struct uverbs_child child;
	void *slab_link;
};

struct uverbs_comp {
	struct mlx5dv_devx_cmd_comp pub;
	atomic_int live;
	void *slab_link;
} __attribute__((aligned(ODX_UVERBS_COMP)));
_Static_assert(sizeof(struct uverbs_comp) == ODX_UVERBS_COMP, "one handle");

struct uverbs_channel {
	struct mlx5dv_devx_event_channel pub;
	struct ibv_context *context;
	atomic_int live;
	void *slab_link;
};

static inline struct uverbs_context *uverbs_ctx(const struct ibv_context *ctx)
{
	return (struct uverbs_context *)((uintptr_t)ctx - offsetof(struct uverbs_context, verbs.context));
}

/* --- sysfs.c */
/* Before each path of sysfs and /dev: tests that are linked to the static library put a tree of their own there. */
extern const char *uverbs_root;
/* What sysfs says of one uverbs device of the mlx5 driver. */
struct uverbs_found {
	unsigned int index;          /* of uverbsN */
	char ibdev[IBV_SYSFS_NAME_MAX];
	dev_t rdev;
	uint64_t guid;
	enum ibv_node_type node_type;
};
/* Calls each for every device, in the order of their numbers. 0 or an errno value: ENOMEM. */
int uverbs_scan(void (*each)(const struct uverbs_found *f, void *arg), void *arg);
/* A file of the device below its class directory, such as "fw_ver": a line without its end. 0 or an errno value. */
int uverbs_attribute(const struct uverbs_device *dev, const char *name, char *buf, size_t len);
/* The node, opened and held against rdev. A descriptor, or -1 + errno; ENODEV: it is another device's. */
int uverbs_open_node(const struct uverbs_device *dev);

/* --- device.c */
extern pthread_mutex_t uverbs_registry, uverbs_lists, uverbs_uar_pools;
extern struct slab uverbs_devices, uverbs_contexts, uverbs_umems, uverbs_channels, uverbs_uars,
	uverbs_pds, uverbs_mrs;
int uverbs_list(struct ibv_device **out, int max, const struct odx_shown *shown);
bool uverbs_owns_device(const struct ibv_device *dev);
const char *uverbs_device_name(struct ibv_device *dev);
uint64_t uverbs_device_guid(struct ibv_device *dev);
/* The device whose node that is, in the list or not; NULL: there is none of the mlx5 driver, or errno ENOMEM. */
struct uverbs_device *uverbs_device_at(dev_t rdev);

/* --- context.c */
struct uverbs_context *uverbs_context_new(struct uverbs_device *dev); /* memory: NULL + ENOMEM */
struct ibv_context *uverbs_context_begin(struct uverbs_context *ctx); /* its descriptors are open: it is the program's */
int uverbs_open_async(int fd);                                        /* a descriptor, or -1 + errno */
struct ibv_context *uverbs_open(struct ibv_device *dev, const struct odx_open *how);
int uverbs_close(struct ibv_context *ctx);
int uverbs_general_cmd(struct ibv_context *ctx, const void *in, size_t inlen, void *out, size_t outlen);
int uverbs_query_eqn(struct ibv_context *ctx, uint32_t vector, uint32_t *eqn);

/* 0: live; EBADF: closed. */
static inline int uverbs_check_context(const struct ibv_context *ctx)
{
	return atomic_load_explicit(&uverbs_ctx(ctx)->state, memory_order_acquire) == UVERBS_LIVE ? 0 : EBADF;
}

/* What the ABI can carry of a box: 16 to 65,535 bytes. 0 or EINVAL. */
static inline int uverbs_check_box(const void *box, size_t len)
{
	return !box || len < 16 || len > UINT16_MAX ? EINVAL : 0;
}

/* --- child.c */
/*
 * The handle is made and filled in, and becomes the program's. origin: another handle of the same object, with uverbs_lists held;
 * NULL: it is the first.
 */
void uverbs_child_add(struct uverbs_context *ctx, struct uverbs_child *c, enum uverbs_kind kind, struct uverbs_child *origin);
/* The handle is out of its lists, and memory again; uverbs_lists is held. */
void uverbs_child_bury(struct uverbs_child *c);
/*
 * Its object is to be ended through this handle: until uverbs_end() no other may end it, and the kernel's number means what it
 * meant. 0; ENOENT, EBUSY. ended: it was, and all its handles are dead.
 */
int uverbs_end_begin(struct uverbs_child *c);
void uverbs_end(struct uverbs_child *c, bool ended);
void uverbs_unimport(struct uverbs_child *c); /* the handle is given up; the object stays */
void uverbs_children_close(struct uverbs_context *ctx); /* the context closes: all its handles are dead */

/* --- object.c */
struct mlx5dv_devx_obj *uverbs_obj_create(struct ibv_context *ctx, const void *in, size_t inlen, void *out, size_t outlen);
int uverbs_obj_query(struct mlx5dv_devx_obj *obj, const void *in, size_t inlen, void *out, size_t outlen);
int uverbs_obj_modify(struct mlx5dv_devx_obj *obj, const void *in, size_t inlen, void *out, size_t outlen);
int uverbs_obj_destroy(struct mlx5dv_devx_obj *obj);
/* The inbox holds the id that its opcode wants there, as far as the opcode is known, which obj remembers. */
bool uverbs_id_inside(struct uverbs_obj *obj, const void *in, size_t inlen);

/* It is like that one, and so it does. */
static inline bool uverbs_id_seen(const struct uverbs_obj *obj, const void *in, size_t inlen)
{
	uint64_t seen = __atomic_load_n(&obj->seen, __ATOMIC_RELAXED);
	uint16_t opcode; /* as it lies there */

	memcpy(&opcode, in, sizeof(opcode));
	return opcode == (uint16_t)seen && inlen >= seen >> 16;
}

/* The context of a live handle; NULL + *err: ENOENT (dead) or EBADF (its context is closed). */
static inline struct ibv_context *uverbs_obj_context(const struct mlx5dv_devx_obj *obj, int *err)
{
	struct ibv_context *ctx = __atomic_load_n(&obj->context, __ATOMIC_ACQUIRE);

	*err = ctx ? uverbs_check_context(ctx) : ENOENT;
	return *err ? NULL : ctx;
}

/* --- comp.c */
struct mlx5dv_devx_cmd_comp *uverbs_comp_create(struct ibv_context *ctx);
void uverbs_comp_destroy(struct mlx5dv_devx_cmd_comp *comp);

/* --- umem.c */
static inline struct ibv_context *uverbs_umem_context(const struct uverbs_umem *u, int *err)
{
	struct ibv_context *ctx = __atomic_load_n(&u->pub.context, __ATOMIC_ACQUIRE);

	*err = ctx ? uverbs_check_context(ctx) : ENOENT;
	return *err ? NULL : ctx;
}
struct mlx5dv_devx_umem *uverbs_umem_reg(struct ibv_context *ctx, const struct odx_umem_req *req);
int uverbs_umem_dereg(struct mlx5dv_devx_umem *umem);

/* --- import.c */
#define UVERBS_EXPORT 48u /* bytes of either */
uint64_t uverbs_tag(void); /* for a new context of the kernel */
int uverbs_obj_export(struct mlx5dv_devx_obj *obj, void *data);
struct mlx5dv_devx_obj *uverbs_obj_import(struct ibv_context *ctx, const void *data);
void uverbs_obj_unimport(struct mlx5dv_devx_obj *obj);
int uverbs_umem_export(struct mlx5dv_devx_umem *umem, void *data);
struct mlx5dv_devx_umem *uverbs_umem_import(struct ibv_context *ctx, const void *data);
void uverbs_umem_unimport(struct mlx5dv_devx_umem *umem);

/* --- foreign.c */
struct ibv_context *uverbs_import(struct ibv_context *theirs);

/* --- uar.c */
void uverbs_uars_init(struct uverbs_context *ctx);
void uverbs_uars_close(struct uverbs_context *ctx); /* while cmd_fd is still open */
bool uverbs_owns_uar(const struct mlx5dv_devx_uar *uar);
struct mlx5dv_devx_uar *uverbs_uar_alloc(struct ibv_context *ctx, uint32_t flags);
void uverbs_uar_free(struct mlx5dv_devx_uar *uar);
int uverbs_uar_export(struct mlx5dv_devx_uar *uar);

/* --- channel.c */
bool uverbs_owns_channel(const struct mlx5dv_devx_event_channel *channel);
struct mlx5dv_devx_event_channel *uverbs_channel_create(struct ibv_context *ctx, uint32_t flags);
void uverbs_channel_destroy(struct mlx5dv_devx_event_channel *channel);
int uverbs_subscribe(struct mlx5dv_devx_event_channel *channel, struct mlx5dv_devx_obj *obj, const uint16_t *events,
		     size_t bytes, uint64_t cookie, const int *eventfd);
ssize_t uverbs_channel_get(struct mlx5dv_devx_event_channel *channel, struct mlx5dv_devx_async_event_hdr *data, size_t len);
int uverbs_async_get(struct ibv_context *ctx, struct ibv_async_event *event);
/* Event queues and vectors of programs are for the VFIO provider: EOPNOTSUPP. */
bool uverbs_owns_msi(const struct mlx5dv_devx_msi_vector *msi);
struct mlx5dv_devx_msi_vector *uverbs_msi_alloc(struct ibv_context *ctx);
int uverbs_msi_free(struct mlx5dv_devx_msi_vector *msi);
bool uverbs_owns_eq(const struct mlx5dv_devx_eq *eq);
struct mlx5dv_devx_eq *uverbs_eq_create(struct ibv_context *ctx, const void *in, size_t inlen, void *out, size_t outlen);
int uverbs_eq_destroy(struct mlx5dv_devx_eq *eq);

/* --- write.c: commands of verbs that have no ioctl of their own */
struct uverbs_verb {
	uint32_t command;                          /* enum ib_uverbs_write_cmds; IB_USER_VERBS_CMD_FLAG_EXTENDED: of the second kind */
	void *in;                                  /* begins with the address of the response, where the command has one */
	size_t inlen;
	void *out;
	size_t outlen;
	void *driver_out;                          /* NULL: nothing */
	size_t driver_outlen;
};
int uverbs_verb(const struct ibv_context *ctx, const struct uverbs_verb *v);

/* --- verbs.c */
void uverbs_verbs_init(struct verbs_context *v);
int uverbs_query_device(struct ibv_context *ctx, struct ibv_device_attr *attr);
int uverbs_query_port(struct ibv_context *ctx, uint8_t port, struct ibv_port_attr *attr, size_t size);
int uverbs_query_gid(struct ibv_context *ctx, uint8_t port, int index, union ibv_gid *gid);
int uverbs_query_pkey(struct ibv_context *ctx, uint8_t port, int index, __be16 *pkey);
int uverbs_query_mlx5(struct ibv_context *ctx, struct mlx5dv_context *attr);

/* --- mr.c */
bool uverbs_owns_pd(const struct ibv_pd *pd);
bool uverbs_owns_mr(const struct ibv_mr *mr);
struct ibv_pd *uverbs_pd_alloc(struct ibv_context *ctx);
int uverbs_pd_dealloc(struct ibv_pd *pd);
int uverbs_pd_number(struct ibv_pd *pd, uint32_t *pdn);
struct ibv_mr *uverbs_mr_reg(struct ibv_pd *pd, void *addr, size_t len, uint64_t iova, unsigned int access);
int uverbs_mr_dereg(struct ibv_mr *mr);

#endif
