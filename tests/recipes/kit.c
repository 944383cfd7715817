/* SPDX-License-Identifier: BSD-2-Clause */
#include "kit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int ask_caps(struct kit *k, unsigned int which)
{
	const struct rcp_cmd *cmd = &rcp_caps_cmds[which];
	uint8_t in[KIT_BOX] = { 0 }, out[KIT_BOX];
	int err;

	rcp_fill(cmd, &k->env, 0, 0, in);
	err = mlx5dv_devx_general_cmd(k->ctx, in, cmd->inlen, out, cmd->outlen);
	if (!err)
		rcp_caps_take(&k->caps, which, out);
	return err;
}

bool kit_offers(const struct kit *k, enum rcp_id what)
{
	return rcp_offered(what, &k->caps);
}

int kit_open(struct kit *k, struct ibv_context *ctx)
{
	int err;

	memset(k, 0, sizeof(*k));
	k->ctx = ctx;
	k->mem = aligned_alloc(4096, KIT_MEM);
	if (!k->mem)
		return ENOMEM;
	memset(k->mem, 0, KIT_MEM);
	err = mlx5dv_devx_query_eqn(ctx, 0, &k->env.eqn);
	for (unsigned int i = 0; !err && i < 2; i++)
		err = ask_caps(k, i);
	if (err)
		kit_free(k);
	return err;
}

int kit_close(struct kit *k)
{
	for (int i = RCP_N; i-- > 0;) {
		int err = kit_destroy((enum rcp_id)i, k->shared[i]);

		if (err)
			return err;
		k->shared[i] = NULL;
	}
	kit_free(k);
	return 0;
}

void kit_free(struct kit *k)
{
	free(k->mem);
	k->mem = NULL;
}

void *kit_call(struct kit *k, enum rcp_id what, uint32_t *id)
{
	if (what == RCP_UMEM) {
		struct mlx5dv_devx_umem *u = mlx5dv_devx_umem_reg(k->ctx, k->mem, KIT_MEM, IBV_ACCESS_LOCAL_WRITE);

		*id = u ? u->umem_id : 0;
		return u;
	} else {
		struct mlx5dv_devx_uar *u = mlx5dv_devx_alloc_uar(k->ctx, MLX5DV_UAR_ALLOC_TYPE_BF);

		/* Linux has no BlueFlame to give where write combining does not work, as in a virtual machine. */
		if (!u && errno == EOPNOTSUPP)
			u = mlx5dv_devx_alloc_uar(k->ctx, MLX5DV_UAR_ALLOC_TYPE_NC);

		*id = u ? u->page_id : 0;
		return u;
	}
}

int kit_destroy(enum rcp_id what, void *made)
{
	if (!made)
		return 0; /* libmlx5 has no such courtesy */
	if (what == RCP_UMEM)
		return mlx5dv_devx_umem_dereg(made);
	if (what != RCP_UAR)
		return mlx5dv_devx_obj_destroy(made);
	mlx5dv_devx_free_uar(made);
	return 0;
}

static struct mlx5dv_devx_obj *create(struct kit *k, enum rcp_id what, uint32_t *id, void *out);

static int share(struct kit *k, enum rcp_id what)
{
	if (k->shared[what])
		return 0;
	k->shared[what] = recipes[what]->by_call ? kit_call(k, what, &k->env.id[what]) : create(k, what, &k->env.id[what], NULL);
	return k->shared[what] ? 0 : errno;
}

int kit_parents(struct kit *k, const struct rcp_cmd *cmd)
{
	unsigned int at = 0;
	enum rcp_id parent;
	int err = 0;

	while (!err && (parent = rcp_parent(cmd, &at)) != RCP_N)
		err = share(k, parent);
	return err;
}

static struct mlx5dv_devx_obj *create(struct kit *k, enum rcp_id what, uint32_t *id, void *out)
{
	const struct rcp_cmd *cmd = &recipes[what]->create;
	uint8_t in[KIT_BOX] = { 0 }, own[KIT_BOX];
	struct mlx5dv_devx_obj *obj;
	int err = kit_parents(k, cmd);

	if (err) {
		errno = err;
		return NULL;
	}
	if (!out)
		out = own;
	memset(out, 0, cmd->outlen);
	rcp_fill(cmd, &k->env, 0, k->made[what], in);
	obj = mlx5dv_devx_obj_create(k->ctx, in, cmd->inlen, out, cmd->outlen);
	if (obj) {
		*id = (uint32_t)rcp_get(recipes[what]->named ? in : out, cmd->id);
		k->made[what]++;
	}
	return obj;
}

struct mlx5dv_devx_obj *kit_create(struct kit *k, enum rcp_id what, uint32_t *id, void *out)
{
	if (recipes[what]->shared_first && !k->made[what]) {
		int err = share(k, what);

		if (err) {
			errno = err;
			return NULL;
		}
	}
	return create(k, what, id, out);
}

int kit_query(struct kit *k, enum rcp_id what, struct mlx5dv_devx_obj *obj, uint32_t id, void *out)
{
	const struct rcp_cmd *cmd = &recipes[what]->query;
	uint8_t in[KIT_BOX] = { 0 };
	int err = kit_parents(k, cmd);

	if (err)
		return err;
	rcp_fill(cmd, &k->env, id, 0, in);
	return mlx5dv_devx_obj_query(obj, in, cmd->inlen, out, cmd->outlen);
}

int kit_modify(struct kit *k, enum rcp_id what, unsigned int which, struct mlx5dv_devx_obj *obj, uint32_t id, void *out)
{
	const struct rcp_cmd *cmd = &recipes[what]->modify[which].cmd;
	uint8_t in[KIT_BOX] = { 0 };
	int err = kit_parents(k, cmd);

	if (err)
		return err;
	rcp_fill(cmd, &k->env, id, 0, in);
	return mlx5dv_devx_obj_modify(obj, in, cmd->inlen, out, cmd->outlen);
}
