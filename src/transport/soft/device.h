/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The soft transport from inside. Locks, in the order in which they are taken:
 *   soft_registry (devices, queues by fd) > context->lock, context->uars.lock > device->model
 *   > the lock of a queue (fdq.h) > device->queue_lock
 */
#ifndef SOFT_DEVICE_H
#define SOFT_DEVICE_H

#include <pthread.h>
#include <stdatomic.h>

#include "fdq.h"
#include "hca.h"
#include "rules.h"
#include "slab.h"
#include "spec.h"
#include "transport.h"

struct soft_device;
struct soft_comp;
struct soft_context;

/* What the program holds as a struct ibv_device; stays when the device is destroyed. */
struct soft_handle {
	struct ibv_device ibv;
	struct soft_device *dev; /* NULL: destroyed */
	void *slab_link;
};

struct soft_umem_slot {
	uint64_t addr;
	uint64_t len;
	bool writable;
	bool special; /* of a dma-buf */
	uint32_t next_free; /* index + 1 */
};

/* Event subscriptions (channel.c), in the order in which they were made. */
struct soft_sub;
struct soft_sub_list {
	struct soft_sub *first, **end; /* end means something only when there is a first */
};

/* By event, kind of object and id. */
struct soft_sub_table {
	struct soft_sub_list *buckets;
	uint32_t n, n_buckets;
};

/* Of one context: what ibv_get_async_event() reads (async.c). */
struct soft_async_event;
struct soft_async {
	struct fdq q;
	struct soft_async_event *head, *tail; /* under the queue's lock, as fatal */
	bool fatal;
	struct soft_async *next;              /* of the device, under the model's lock */
};

#define SOFT_EQNS 256u /* eq_number has 8 bits */

struct soft_device {
	struct soft_device *next;     /* in the registry's list, oldest first */
	struct soft_handle *handle;
	struct spec spec;
	unsigned int fork_gen;        /* of the process that made it */
	uint64_t guid;
	bool nobody_asked;            /* appeared by itself: its first open is announced */
	unsigned int n_contexts;      /* under the registry's lock, as refs */
	unsigned int refs;            /* handle, contexts, queues */

	pthread_mutex_t model;        /* hca, umems, waiters, manual_now, subscriptions */
	struct hca *hca;
	uint64_t manual_now;
	struct soft_umem_slot *umems;
	uint32_t n_umems, free_umem;
	struct soft_sub_table subs;
	struct soft_async *asyncs;
	struct soft_eq *eqs[SOFT_EQNS];
	uint64_t vectors;             /* MSI vectors in use, by number */

	pthread_mutex_t queue_lock;   /* all below */
	pthread_cond_t wake;
	struct hca_cmd *queue_head, *queue_tail; /* submitted, and not yet seen by the model */
	uint64_t next_due;            /* when the model has something to say; HCA_NEVER */
	int permits;                  /* throttle.c: how many are free; below 0 where the device held some and others went on */
	bool permits_held;
	struct soft_waiter *first_waiting, *last_waiting; /* for one */
	bool sleeping, stop;
	pthread_t thread;             /* runs while contexts are open */

	atomic_bool removed;
	atomic_bool stalled;          /* hca_stalled(), for those who do not hold the model's lock */
};

enum soft_state { SOFT_DEAD, SOFT_LIVE };

struct soft_uar_page;

/* A doorbell register inside a UAR page; programs hold it as a struct mlx5dv_devx_uar. */
struct soft_uar {
	struct odx_uar pub;         /* context NULL: dead */
	struct soft_uar_page *page;
	uint32_t offset;            /* in it */
	bool nc;
	bool held, shared;          /* with the program; the context's one of the shared kind */
	struct soft_uar *next;      /* of the registers that wait for the next program */
	void *slab_link;
};

struct soft_uar_list {
	struct soft_uar *first, *last;
};

struct soft_uar_pool {
	pthread_mutex_t lock;                    /* comes after context->lock, before device->model; held across commands */
	struct soft_uar_page *pages;
	uint32_t n_pages;
	struct soft_uar_list bf, nc;
	struct soft_uar *shared;
};

struct soft_context {
	struct verbs_context verbs;              /* ends with the program's struct ibv_context */
	atomic_int state;
	unsigned int fork_gen;
	struct soft_device *dev;
	uint16_t uid;
	uint64_t serial;                         /* no two are alike in this process */
	pthread_mutex_t lock;                    /* the list of children; let_go and gone of each */
	struct soft_child *oldest, *newest;      /* objects and umems in the order of their creation */
	struct fdq *queues;                      /* under the registry's lock */
	struct soft_async async;                 /* verbs.context.async_fd is its descriptor */
	struct soft_uar_pool uars;
	dev_t cmd_dev;                           /* of the file behind cmd_fd: the program may close that, and its number come again */
	ino_t cmd_ino;
	struct soft_msi *msis;                   /* under the model's lock */
	void *slab_link;
};

/* SOFT_..._HANDLE: an imported handle, or one that is left of an object which was destroyed through another. */
enum soft_kind { SOFT_OBJ, SOFT_UMEM, SOFT_PD, SOFT_MR, SOFT_OBJ_HANDLE, SOFT_UMEM_HANDLE, SOFT_EQ };

/* What a context's list knows of an object. destroy is the inbox that ends it. */
struct soft_child {
	struct soft_child *origin; /* of an imported handle: the object's first one */
	uint64_t origin_serial;    /* when that is no longer its serial, the object is gone */
	uint64_t serial;           /* no two are alike in this process; 0: dead */
	uint8_t kind;
	bool let_go;               /* the program gave up the first handle, and the object lives on */
	bool gone;                 /* destroyed through another handle */
	struct soft_child *older, *newer;
	uint8_t destroy[RULES_DESTROY_MAX];
};

struct soft_obj {
	struct mlx5dv_devx_obj pub; /* context NULL: dead */
	uint64_t key;               /* rules.h: which commands may name it */
	uint32_t n_ids;             /* how many ids it covers: a bulk of flow counters has many */
	atomic_int lock;            /* users; -1: being destroyed. As the kernel's: nobody waits */
	struct soft_child child;
	struct soft_sub_list subs;  /* to its events; under the model's lock */
	atomic_bool watched;        /* there was one at any time */
	void *slab_link;
};

struct soft_dmabuf {
	void *base; /* NULL: nothing is mapped */
	size_t len;
};

struct soft_umem {
	struct odx_umem pub;        /* context NULL: dead */
	struct soft_child child;
	struct soft_dmabuf dmabuf;  /* where its memory is one */
	uint32_t slot;
	atomic_int busy;            /* being taken away */
	void *slab_link;
};

struct soft_pd {
	struct ibv_pd ibv;
	uint32_t pdn;
	atomic_int users;           /* memory regions; -1: dead, or being taken away */
	struct soft_child child;
	void *slab_link;
};

struct soft_mr {
	struct ibv_mr ibv;
	struct soft_pd *pd;
	struct mlx5dv_devx_umem *umem;
	atomic_int state;
	struct soft_child child;
	void *slab_link;
};

struct soft_msi {
	struct mlx5dv_devx_msi_vector pub;
	struct ibv_context *context; /* NULL: dead */
	int fd;                      /* a duplicate of our own */
	uint32_t users;              /* event queues; under the model's lock */
	struct soft_msi *next;       /* of its context, under the model's lock */
	void *slab_link;
};

struct soft_eq {
	struct mlx5dv_devx_eq pub;
	struct ibv_context *context; /* NULL: dead */
	struct soft_msi *msi;
	uint8_t *uar;                /* the page of its doorbells; NULL: none */
	uint32_t eqn;
	uint32_t slot;
	size_t bytes;
	atomic_int busy;             /* being taken away */
	struct soft_child child;
	void *slab_link;
};

/* A synchronous command waits on one of these, under the model's lock. */
struct soft_waiter {
	struct soft_waiter *next; /* among those who wait for a permit, under the queue's lock */
	pthread_cond_t cond;
	bool done;
};

/* A command in flight, and afterwards the record of its completion. */
struct soft_cmd {
	union {
		struct soft_comp *comp;     /* async */
		struct soft_waiter *waiter;
	};
	uint64_t wr_id;
	struct hca_cmd hca; /* ends with the box */
};

static inline struct soft_cmd *soft_cmd_of(struct hca_cmd *cmd)
{
	return (struct soft_cmd *)((char *)cmd - offsetof(struct soft_cmd, hca));
}

static inline struct soft_context *soft_ctx(struct ibv_context *ctx)
{
	return (struct soft_context *)((char *)ctx - offsetof(struct soft_context, verbs.context));
}

/* --- fork.c: contexts and devices belong to the process that made them. */
extern unsigned int soft_fork_gen;
int soft_fork_init(void); /* once; later calls are cheap. 0 or an errno value */

/* --- device.c */
extern pthread_mutex_t soft_registry;
extern struct slab soft_handles, soft_contexts, soft_objs, soft_umems, soft_comps, soft_channels, soft_uars, soft_msis,
	soft_eqs, soft_pds, soft_mrs;

struct soft_device *soft_device_get(struct ibv_device *dev, int *err); /* with a reference; NULL: *err */
void soft_device_put(struct soft_device *dev);
void soft_devices_forget(void); /* in a fork child: the parent's are not listed any more */
int soft_list(struct ibv_device **out, int max, const struct odx_shown *shown);
bool soft_owns_device(const struct ibv_device *dev);
const char *soft_device_name(struct ibv_device *dev);
uint64_t soft_device_guid(struct ibv_device *dev);

/* --- throttle.c: permits, of which some commands need one */
void soft_permits_init(struct soft_device *dev);
bool soft_wants_permit(uint16_t opcode);
bool soft_permit_try(struct soft_device *dev);  /* false: there is none */
void soft_permit_wait(struct soft_device *dev); /* no lock held */
void soft_permit_back(struct soft_device *dev);
void soft_permits_hold(struct soft_device *dev, bool hold); /* from now on nobody waits, or again */

/* --- worker.c: commands into the model and out of it */
int soft_worker_start(struct soft_device *dev);  /* 0 or an errno value */
void soft_worker_stop(struct soft_device *dev);
void soft_submit(struct soft_device *dev, struct soft_cmd *cmd);
/* Model's lock held: what was submitted goes in, what is due comes out and is delivered. */
void soft_pump(struct soft_device *dev);
uint64_t soft_now(struct soft_device *dev);      /* model's lock held */
/*
 * One synchronous command. in is copied with uid stamped into it; out may be NULL when outlen is 0. 0: it executed, whatever
 * its status; else what the driver says: ETIMEDOUT, EBUSY, ECANCELED, EAGAIN, EIO, ENOMEM.
 */
int soft_command(struct soft_device *dev, uint16_t uid, const void *in, size_t inlen, void *out, size_t outlen);
int soft_status(const void *out); /* errno of an outbox's status */

/* --- memory.c: the model's window into this process */
extern const struct hca_host soft_host_ops;
/* memory has all but the place in the list of free slots. */
int soft_umem_map(struct soft_device *dev, const struct soft_umem_slot *memory, uint32_t *slot);
void soft_umem_unmap(struct soft_device *dev, uint32_t slot);
uint64_t soft_umem_iova(uint32_t slot);

/* --- context.c */
struct ibv_context *soft_open(struct ibv_device *dev, const struct odx_open *how);
int soft_close(struct ibv_context *ctx);
/* 0: live and of this process. EBADF: closed; EIO: of a fork parent. */
int soft_check_context(const struct ibv_context *ctx);
/* What the kernel's ABI demands of both boxes: 16 to 65,535 bytes. 0 or EINVAL. */
int soft_check_boxes(const void *in, size_t inlen, const void *out, size_t outlen);
/* A command of the driver itself: no slot, no fault rule, no time. The errno of its status. */
int soft_driver_command(struct soft_device *dev, const void *in, uint32_t inlen, void *out, uint32_t outlen);
int soft_general_cmd(struct ibv_context *ctx, const void *in, size_t inlen, void *out, size_t outlen);
int soft_query_eqn(struct ibv_context *ctx, uint32_t vector, uint32_t *eqn);

/* --- object.c */
/* origin and its serial: of an imported handle; else NULL and 0. */
void soft_child_add(struct soft_context *ctx, struct soft_child *c, struct soft_child *origin, uint64_t origin_serial);
/* The command that ends it, when the device is still there. 0 or an errno value. */
int soft_child_destroy(struct soft_context *ctx, struct soft_child *c);
void soft_child_drop(struct soft_context *ctx, struct soft_child *c);
void soft_child_unlink(struct soft_context *ctx, struct soft_child *c);  /* the same; ctx->lock is held */
void soft_child_release(struct soft_device *dev, struct soft_child *c);  /* the model has forgotten it: so does the rest */
void soft_child_bury(struct soft_device *dev, struct soft_child *c);     /* and it is in no list */
struct mlx5dv_devx_obj *soft_obj_create(struct ibv_context *ctx, const void *in, size_t inlen, void *out, size_t outlen);
int soft_obj_query(struct mlx5dv_devx_obj *obj, const void *in, size_t inlen, void *out, size_t outlen);
int soft_obj_modify(struct mlx5dv_devx_obj *obj, const void *in, size_t inlen, void *out, size_t outlen);
int soft_obj_destroy(struct mlx5dv_devx_obj *obj);
/* Takes what the handle stands for as a reader, as the kernel does for the length of a call. */
int soft_obj_read_lock(struct mlx5dv_devx_obj *handle, struct soft_context **ctx, struct soft_obj **obj);
void soft_obj_read_unlock(struct soft_obj *obj);

/* --- umem.c */
struct mlx5dv_devx_umem *soft_umem_reg(struct ibv_context *ctx, const struct odx_umem_req *req);
int soft_umem_dereg(struct mlx5dv_devx_umem *umem);
/* What the handle stands for; 0 or an errno value. */
int soft_umem_real(struct mlx5dv_devx_umem *handle, struct soft_context **ctx, struct soft_umem **umem);
void soft_umem_release(struct soft_device *dev, struct soft_umem *u);

/* --- comp.c */
struct mlx5dv_devx_cmd_comp *soft_comp_create(struct ibv_context *ctx);
void soft_comp_destroy(struct mlx5dv_devx_cmd_comp *comp);
int soft_comp_get(struct mlx5dv_devx_cmd_comp *comp, struct mlx5dv_devx_async_cmd_hdr *resp, size_t len);
bool soft_owns_comp(const struct mlx5dv_devx_cmd_comp *comp);
int soft_obj_query_async(struct mlx5dv_devx_obj *obj, const void *in, size_t inlen, size_t outlen, uint64_t wr_id,
			 struct mlx5dv_devx_cmd_comp *comp);
/* A chain (by hca.next) of n ended commands of one completion. */
void soft_comp_push(struct soft_comp *c, struct hca_cmd *head, struct hca_cmd *tail, unsigned int n);

/* --- channel.c */
bool soft_owns_channel(const struct mlx5dv_devx_event_channel *channel);
struct mlx5dv_devx_event_channel *soft_channel_create(struct ibv_context *ctx, uint32_t flags);
void soft_channel_destroy(struct mlx5dv_devx_event_channel *channel);
/* bytes: of the list. eventfd: NULL: the channel is told. */
int soft_subscribe(struct mlx5dv_devx_event_channel *channel, struct mlx5dv_devx_obj *obj, const uint16_t *events, size_t bytes,
		   uint64_t cookie, const int *eventfd);
ssize_t soft_channel_get(struct mlx5dv_devx_event_channel *channel, struct mlx5dv_devx_async_event_hdr *data, size_t len);
void soft_subs_end(struct soft_device *dev, struct soft_obj *obj); /* the object goes */
/* The model's lock is held. */
void soft_channels_event(struct soft_device *dev, const struct hca_event *ev);

/* --- eq.c */
bool soft_owns_msi(const struct mlx5dv_devx_msi_vector *msi);
struct mlx5dv_devx_msi_vector *soft_msi_alloc(struct ibv_context *ctx);
int soft_msi_free(struct mlx5dv_devx_msi_vector *msi);
void soft_msis_close(struct soft_context *ctx);
bool soft_owns_eq(const struct mlx5dv_devx_eq *eq);
struct mlx5dv_devx_eq *soft_eq_create(struct ibv_context *ctx, const void *in, size_t inlen, void *out, size_t outlen);
int soft_eq_destroy(struct mlx5dv_devx_eq *eq);
void soft_eq_bury(struct soft_device *dev, struct soft_eq *eq);
bool soft_eq_is(struct soft_context *ctx, uint32_t eqn); /* is it an event queue of this context? */
void soft_eventfd_signal(int fd); /* one that is full is full of news already, and writing to it would block: it is left alone */
/* Of the model's host; its lock is held. */
void soft_interrupt(void *host, uint32_t eqn, uint32_t vector);
uint32_t soft_doorbell(void *host, uint32_t eqn, uint32_t uar_page, uint32_t offset);

/* --- async.c */
int soft_async_open(struct soft_context *ctx); /* 0 or an errno value; fdq_destroy() ends it */
int soft_async_get(struct ibv_context *ctx, struct ibv_async_event *event);
/* The model's lock is held. */
void soft_async_event(struct soft_device *dev, const struct hca_event *ev);
void soft_async_fatal(struct soft_device *dev);

/* --- dmabuf.c: size bytes from offset on, mapped from the page that offset lies in; 0 or an errno value */
int soft_dmabuf_map(int fd, uint64_t offset, size_t size, bool write, struct soft_dmabuf *buf);
void soft_dmabuf_unmap(struct soft_dmabuf *buf);

/* --- export.c */
#define SOFT_EXPORT_SIZE 48u /* what an export writes */
uint64_t soft_serial(void);
/* What a live handle stands for: itself, or the object that it was imported from; NULL: that is gone. */
struct soft_child *soft_child_real(struct soft_child *c);
/* The object was destroyed through this handle (which may be real itself): buries what nobody holds any more. */
void soft_child_end(struct soft_context *ctx, struct soft_child *handle, struct soft_child *real);
int soft_obj_export(struct mlx5dv_devx_obj *obj, void *data);
struct mlx5dv_devx_obj *soft_obj_import(struct ibv_context *ctx, const void *data);
void soft_obj_unimport(struct mlx5dv_devx_obj *obj);
int soft_umem_export(struct mlx5dv_devx_umem *umem, void *data);
struct mlx5dv_devx_umem *soft_umem_import(struct ibv_context *ctx, const void *data);
void soft_umem_unimport(struct mlx5dv_devx_umem *umem);

/* --- uar.c: pages of doorbell registers, mapped from the memory behind the context's cmd_fd */
int soft_uar_open(struct soft_context *ctx);      /* the memory and its cmd_fd; 0 or an errno value */
void soft_uar_close_fd(struct soft_context *ctx); /* unless the number is another file's by now */
void soft_uars_init(struct soft_uar_pool *u);
void soft_uars_close(struct soft_context *ctx);
bool soft_owns_uar(const struct mlx5dv_devx_uar *uar);
struct mlx5dv_devx_uar *soft_uar_alloc(struct ibv_context *ctx, uint32_t flags);
void soft_uar_free(struct mlx5dv_devx_uar *uar);
int soft_uar_export(struct mlx5dv_devx_uar *uar);
uint8_t *soft_uar_base(struct soft_context *ctx, uint32_t page_id); /* NULL: no page of this context */

/* --- mr.c: protection domains and memory regions */
bool soft_owns_pd(const struct ibv_pd *pd);
bool soft_owns_mr(const struct ibv_mr *mr);
struct ibv_pd *soft_pd_alloc(struct ibv_context *ctx);
int soft_pd_dealloc(struct ibv_pd *pd);
int soft_pd_number(struct ibv_pd *pd, uint32_t *pdn);
void soft_pd_bury(struct soft_pd *pd);
struct ibv_mr *soft_mr_reg(struct ibv_pd *pd, void *addr, size_t len, uint64_t iova, unsigned int access);
int soft_mr_dereg(struct ibv_mr *mr);
void soft_mr_bury(struct soft_mr *mr);

/* --- verbs.c: attributes, and what the inline functions of <infiniband/verbs.h> call */
int soft_query_device(struct ibv_context *ctx, struct ibv_device_attr *attr);
/* attr has room for size bytes, of which those that this library does not know become 0. */
int soft_query_port(struct ibv_context *ctx, uint8_t port, struct ibv_port_attr *attr, size_t size);
int soft_query_gid(struct ibv_context *ctx, uint8_t port, int index, union ibv_gid *gid);
int soft_query_pkey(struct ibv_context *ctx, uint8_t port, int index, __be16 *pkey);
int soft_query_mlx5(struct ibv_context *ctx, struct mlx5dv_context *attr);
void soft_verbs_init(struct verbs_context *v);

#endif
