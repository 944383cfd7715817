/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a transport gives the API. The API has checked for NULL and for foreign handles before it calls; everything else
 * (lengths, opcodes, ids, state) is the transport's, because the kernel does it on the kernel transport.
 * Conventions are the family's: a pointer or NULL with errno, or 0 or a positive errno value.
 */
#ifndef ODX_TRANSPORT_H
#define ODX_TRANSPORT_H

#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#include "slab.h"

#define ODX_EXPORT __attribute__((visibility("default")))

/* The objects that the API sees begin as libmlx5's do: with their context. */
struct mlx5dv_devx_obj {
	struct ibv_context *context;
};

struct odx_umem {
	struct mlx5dv_devx_umem pub;
	struct ibv_context *context;
};

struct odx_uar {
	struct mlx5dv_devx_uar pub;
	struct ibv_context *context;
};

struct odx_umem_req {
	void *addr;
	size_t size;
	uint32_t access;
	uint64_t pgsz_bitmap; /* as the caller gave it; plain umem_reg: all >= 4 KiB */
	bool has_dmabuf;
	int dmabuf_fd;
};

/* What the program sees already. */
struct odx_shown {
	struct ibv_device **devices; /* rdma-core's */
	int n;
	bool real;                   /* a real mlx5 device is there, shown or not */
};

/* How a device is opened. */
struct odx_open {
	bool devx;      /* without DEVX it shall fail */
	const int *fds; /* of user capabilities; NULL: none */
	uint32_t n_fds;
};

struct odx_transport_ops {
	const char *name;

	/* Devices. list writes up to max and returns how many there are, or a negative errno value. */
	int (*list)(struct ibv_device **out, int max, const struct odx_shown *shown);
	bool (*owns_device)(const struct ibv_device *dev);    /* any pointer; destroyed devices of ours too */
	const char *(*device_name)(struct ibv_device *dev);   /* also of one that was destroyed */
	uint64_t (*device_guid)(struct ibv_device *dev);      /* big-endian; 0 + errno */
	struct ibv_context *(*open)(struct ibv_device *dev, const struct odx_open *how);
	/* A context of this transport on the kernel context that theirs is: rdma-core's, or its own. NULL: it has none to share. */
	struct ibv_context *(*import)(struct ibv_context *theirs);

	/* Ownership, for any pointer at all; true for stale ones too. */
	bool (*owns_context)(const struct ibv_context *ctx);
	const struct slab *objs; /* where objects come from: whose one is, is asked with each command */
	bool (*owns_umem)(const struct mlx5dv_devx_umem *umem);
	const struct slab *comps;
	bool (*owns_comp)(const struct mlx5dv_devx_cmd_comp *comp); /* of none of the slabs: by its fd; NULL: none is */
	bool (*owns_uar)(const struct mlx5dv_devx_uar *uar);
	bool (*owns_pd)(const struct ibv_pd *pd);
	bool (*owns_mr)(const struct ibv_mr *mr);

	int (*close)(struct ibv_context *ctx);
	int (*general_cmd)(struct ibv_context *ctx, const void *in, size_t inlen, void *out, size_t outlen);
	struct mlx5dv_devx_obj *(*obj_create)(struct ibv_context *ctx, const void *in, size_t inlen, void *out, size_t outlen);
	int (*obj_query)(struct mlx5dv_devx_obj *obj, const void *in, size_t inlen, void *out, size_t outlen);
	int (*obj_modify)(struct mlx5dv_devx_obj *obj, const void *in, size_t inlen, void *out, size_t outlen);
	int (*obj_destroy)(struct mlx5dv_devx_obj *obj);
	int (*query_eqn)(struct ibv_context *ctx, uint32_t vector, uint32_t *eqn);
	struct mlx5dv_devx_umem *(*umem_reg)(struct ibv_context *ctx, const struct odx_umem_req *req);
	int (*umem_dereg)(struct mlx5dv_devx_umem *umem);

	/* Export and import. The sizes are those of what export writes. */
	uint32_t obj_export_size, umem_export_size;
	int (*obj_export)(struct mlx5dv_devx_obj *obj, void *data);
	struct mlx5dv_devx_obj *(*obj_import)(struct ibv_context *ctx, const void *data);
	void (*obj_unimport)(struct mlx5dv_devx_obj *obj);
	int (*umem_export)(struct mlx5dv_devx_umem *umem, void *data);
	struct mlx5dv_devx_umem *(*umem_import)(struct ibv_context *ctx, const void *data);
	void (*umem_unimport)(struct mlx5dv_devx_umem *umem);

	struct mlx5dv_devx_uar *(*uar_alloc)(struct ibv_context *ctx, uint32_t flags);
	void (*uar_free)(struct mlx5dv_devx_uar *uar);
	int (*uar_export)(struct mlx5dv_devx_uar *uar); /* a descriptor, or -1 + errno */

	/* Verbs. Errors are errno values here, whatever the verb makes of them. */
	int (*query_device)(struct ibv_context *ctx, struct ibv_device_attr *attr);
	int (*query_port)(struct ibv_context *ctx, uint8_t port, struct ibv_port_attr *attr, size_t size);
	int (*query_gid)(struct ibv_context *ctx, uint8_t port, int index, union ibv_gid *gid);
	int (*query_pkey)(struct ibv_context *ctx, uint8_t port, int index, __be16 *pkey);
	int (*query_mlx5)(struct ibv_context *ctx, struct mlx5dv_context *attr);
	struct ibv_pd *(*pd_alloc)(struct ibv_context *ctx);
	int (*pd_dealloc)(struct ibv_pd *pd);
	int (*pd_number)(struct ibv_pd *pd, uint32_t *pdn);
	struct ibv_mr *(*mr_reg)(struct ibv_pd *pd, void *addr, size_t len, uint64_t iova, unsigned int access);
	int (*mr_dereg)(struct ibv_mr *mr);

	struct mlx5dv_devx_cmd_comp *(*comp_create)(struct ibv_context *ctx);
	void (*comp_destroy)(struct mlx5dv_devx_cmd_comp *comp);
	int (*obj_query_async)(struct mlx5dv_devx_obj *obj, const void *in, size_t inlen, size_t outlen, uint64_t wr_id,
			       struct mlx5dv_devx_cmd_comp *comp);
	int (*comp_get)(struct mlx5dv_devx_cmd_comp *comp, struct mlx5dv_devx_async_cmd_hdr *resp, size_t len);

	/* Events. obj is of the same transport, or NULL; bytes: of the list; eventfd: NULL: the channel is told. */
	bool (*owns_channel)(const struct mlx5dv_devx_event_channel *channel);
	struct mlx5dv_devx_event_channel *(*channel_create)(struct ibv_context *ctx, uint32_t flags);
	void (*channel_destroy)(struct mlx5dv_devx_event_channel *channel);
	int (*subscribe)(struct mlx5dv_devx_event_channel *channel, struct mlx5dv_devx_obj *obj, const uint16_t *events,
			 size_t bytes, uint64_t cookie, const int *eventfd);
	/* Bytes, or a negative errno value. */
	ssize_t (*event_get)(struct mlx5dv_devx_event_channel *channel, struct mlx5dv_devx_async_event_hdr *data, size_t len);
	int (*async_get)(struct ibv_context *ctx, struct ibv_async_event *event);

	/* Event queues of programs, and their vectors. */
	bool (*owns_msi)(const struct mlx5dv_devx_msi_vector *msi);
	struct mlx5dv_devx_msi_vector *(*msi_alloc)(struct ibv_context *ctx);
	int (*msi_free)(struct mlx5dv_devx_msi_vector *msi);
	bool (*owns_eq)(const struct mlx5dv_devx_eq *eq);
	struct mlx5dv_devx_eq *(*eq_create)(struct ibv_context *ctx, const void *in, size_t inlen, void *out, size_t outlen);
	int (*eq_destroy)(struct mlx5dv_devx_eq *eq);
};

extern const struct odx_transport_ops odx_soft_transport, odx_uverbs_transport;

/*
 * What a program of a kernel device does for each command goes past the table: whose the handle is, and on, with the registers as
 * they came. Both functions leave errno set when they fail.
 */
#define ODX_UVERBS_OBJ 128 /* bytes of a handle */
#define ODX_UVERBS_COMP 32
extern struct slab uverbs_objs, uverbs_comps;
int uverbs_obj_query_async(struct mlx5dv_devx_obj *obj, const void *in, size_t inlen, size_t outlen, uint64_t wr_id,
			   struct mlx5dv_devx_cmd_comp *comp);
int uverbs_comp_get(struct mlx5dv_devx_cmd_comp *comp, struct mlx5dv_devx_async_cmd_hdr *resp, size_t len);
/* The descriptor is one of the kernel's: "[devx_async_cmd]" or "[devx_async_event]". */
bool uverbs_is_fd(int fd, const char *kind);

#endif
