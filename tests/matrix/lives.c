/* SPDX-License-Identifier: BSD-2-Clause */
/* Handles past their end: destroyed twice, used after, used after their context closed. */
#include "matrix.h"

#include <errno.h>
#include <opendevx/soft.h>
#include <string.h>

static uint8_t in[BOX_MAX];
static struct answer a;

/* Every command of the recipe on a handle that is dead. */
static void all_refused(struct twin *t, enum rcp_id what, struct mlx5dv_devx_obj *obj, uint32_t id, int err)
{
	for (const struct row *r = rows; r < rows + n_rows; r++) {
		if (r->what != what || r->call == CALL_CREATE)
			continue;
		at("%s on a dead %s", row_name(r), recipes[what]->name);
		memset(in, 0, r->cmd->inlen);
		rcp_fill(r->cmd, &t->bad.kit.env, id, 0, in);
		run(&t->bad, r->call, obj, in, r->cmd->inlen, r->cmd->outlen, &a);
		expect_refused(&a, err);
	}
}

static void destroyed_twice(struct twin *t)
{
	for (int i = 0; i < RCP_N; i++) {
		uint32_t id;
		struct mlx5dv_devx_obj *obj = recipes[i]->by_call ? NULL : kit_create(&t->bad.kit, (enum rcp_id)i, &id, NULL);

		if (!obj)
			continue;
		t->bad.kit.made[i]--;
		at("%s, destroyed twice", recipes[i]->name);
		n_cases++;
		expect(mlx5dv_devx_obj_destroy(obj) == 0, "the first destroy works");
		expect(mlx5dv_devx_obj_destroy(obj) == ENOENT, "the second is ENOENT");
		all_refused(t, (enum rcp_id)i, obj, id, ENOENT);
	}
	twin_same(t);
}

/* A program may not destroy by command: no call lists those opcodes. */
static void destroyed_by_command(struct twin *t)
{
	for (int i = 0; i < RCP_N; i++) {
		if (!recipes[i]->destroy.opcode)
			continue;
		memset(in, 0, recipes[i]->destroy.inlen);
		rcp_fill(&recipes[i]->destroy, &t->bad.kit.env, t->bad.id[i], 0, in);
		for (enum call c = 0; c < N_CALLS; c++) {
			at("%s through %s", recipes[i]->destroy.layout, call_names[c]);
			run(&t->bad, c, t->bad.obj[i] ? t->bad.obj[i] : t->bad.obj[RCP_PD], in, recipes[i]->destroy.inlen, HDR, &a);
			expect_refused(&a, EINVAL);
			unmake(&a);
		}
	}
	twin_same(t);
}

/* The context closes over its objects, which it takes along. */
static void closed(void)
{
	static struct twin t;
	struct mlx5dv_context_attr attr = { .flags = MLX5DV_CONTEXT_FLAGS_DEVX };
	struct mlx5dv_devx_obj *obj[RCP_N];
	uint32_t id[RCP_N], eqn;
	uint8_t out[64];

	memset(&t, 0, sizeof(t));
	t.bad.dev = odx_soft_create("inline,profile=cx7");
	at("a context that closed");
	expect(t.bad.dev && (t.bad.ctx = mlx5dv_open_device(t.bad.dev, &attr)), "it opens");
	expect(!kit_open(&t.bad.kit, t.bad.ctx), "it has a kit");
	for (int i = 0; i < RCP_N; i++)
		obj[i] = recipes[i]->by_call ? NULL : kit_create(&t.bad.kit, (enum rcp_id)i, &id[i], NULL);
	/* A completion of another context, still open: the dead object is what is refused. */
	t.bad.other = mlx5dv_open_device(t.bad.dev, &attr);
	t.bad.comp = mlx5dv_devx_create_cmd_comp(t.bad.other);
	expect(t.bad.comp && !ibv_close_device(t.bad.ctx), "it closes with all its objects");
	for (int i = 0; i < RCP_N; i++) {
		if (!obj[i])
			continue;
		all_refused(&t, (enum rcp_id)i, obj[i], id[i], ENOENT);
		at("a %s of a context that closed", recipes[i]->name);
		expect(mlx5dv_devx_obj_destroy(obj[i]) == ENOENT, "its destroy is ENOENT");
		memset(in, 0, recipes[i]->create.inlen);
		rcp_fill(&recipes[i]->create, &t.bad.kit.env, 0, 0, in);
		run(&t.bad, CALL_CREATE, NULL, in, recipes[i]->create.inlen, recipes[i]->create.outlen, &a);
		expect_refused(&a, EBADF);
	}
	at("a context that closed");
	expect(mlx5dv_devx_umem_dereg(t.bad.kit.shared[RCP_UMEM]) == ENOENT, "its umem is gone");
	expect(mlx5dv_devx_query_eqn(t.bad.ctx, 0, &eqn) == EBADF, "query_eqn is EBADF");
	memset(in, 0, 64);
	rcp_set(in, (struct rcp_place){ 0, 16 }, 0x80d); /* NOP */
	expect(mlx5dv_devx_general_cmd(t.bad.ctx, in, 16, out, 16) == EBADF, "general_cmd is EBADF");
	expect(ibv_close_device(t.bad.ctx) == EBADF, "a second close is EBADF");
	mlx5dv_devx_destroy_cmd_comp(t.bad.comp);
	expect(!ibv_close_device(t.bad.other) && !odx_soft_destroy(t.bad.dev), "the device had nothing left");
	kit_free(&t.bad.kit);
}

void wrong_lives(void)
{
	static struct twin t;

	twin_open(&t, "inline,profile=cx7");
	destroyed_twice(&t);
	destroyed_by_command(&t);
	twin_close(&t);
	closed();
}
