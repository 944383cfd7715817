/* SPDX-License-Identifier: BSD-2-Clause */
/* Objects made by recipe through the public API: public headers only, and no test framework. */
#ifndef KIT_H
#define KIT_H

#include <infiniband/mlx5dv.h>
#include <stddef.h>

#include "recipes.h"

#define KIT_MEM 65536u
#define KIT_BOX 16384u /* room for any box of a recipe */

/* A context, and one shared object for each recipe that another refers to. */
struct kit {
	struct ibv_context *ctx;
	void *mem;
	struct rcp_env env;
	struct rcp_caps caps;
	void *shared[RCP_N];    /* struct mlx5dv_devx_obj; umem and UAR are what their names say */
	uint32_t made[RCP_N];   /* how many were ever made: RCP_SERIAL */
};

/* 0 or an errno value. ctx stays the caller's. */
int kit_open(struct kit *k, struct ibv_context *ctx);
/* The device has such objects. */
bool kit_offers(const struct kit *k, enum rcp_id what);
/* Gives the shared objects back, newest first. 0, or an errno value: then what is left may be tried again. */
int kit_close(struct kit *k);
void kit_free(struct kit *k); /* after the context closed, and took the objects along */

/* Makes what the command refers to, where it is not there yet. 0, or an errno value with *out showing the device's answer. */
int kit_parents(struct kit *k, const struct rcp_cmd *cmd);
/* One more umem or UAR, by its call. NULL + errno. */
void *kit_call(struct kit *k, enum rcp_id what, uint32_t *id);
/* Gives back what kit_create or kit_call made. 0 or an errno value; NULL: 0. */
int kit_destroy(enum rcp_id what, void *made);
/* One more object, with its parents; *id is what the outbox says. NULL + errno. out: KIT_BOX bytes, or NULL. */
struct mlx5dv_devx_obj *kit_create(struct kit *k, enum rcp_id what, uint32_t *id, void *out);
/* The command of a recipe on an object. 0 or an errno value; out: KIT_BOX bytes. */
int kit_query(struct kit *k, enum rcp_id what, struct mlx5dv_devx_obj *obj, uint32_t id, void *out);
int kit_modify(struct kit *k, enum rcp_id what, unsigned int which, struct mlx5dv_devx_obj *obj, uint32_t id, void *out);

#endif
