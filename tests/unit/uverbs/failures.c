/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each call of the heap and of the system fails in turn, through a whole run from the list of devices to the close, until a run
 * passes in which none did. An error has an errno, nothing is left open, and what was refused can be done again.
 */
#include "tests.h"

#include <opendevx/opendevx.h>

static uint8_t alloc[16] = { 0x09, 0x39 }, query[32] = { 0x09, 0x3b }, nop[16] = { 0x08, 0x0d };

/* Did the call fail with reason? One that did is done once more, and must work. */
#define TWICE(call)                                                                                                            \
	do {                                                                                                                   \
		errno = 0;                                                                                                     \
		if (!(call)) {                                                                                                 \
			assert_true(fake.failed);                                                                              \
			assert_true(errno > 0);                                                                                \
			assert_true(call);                                                                                     \
		}                                                                                                              \
	} while (0)

/* What cannot be read of a device is a device that is not there. */
static struct ibv_device *find(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL), *dev = NULL;

	if (!list)
		return NULL;
	for (int i = 0; list[i]; i++)
		if (!strcmp(list[i]->name, "mlx5_0"))
			dev = list[i];
	ibv_free_device_list(list);
	if (!dev)
		errno = ENOENT;
	return dev;
}

/* What lives beside commands. */
static void more(struct ibv_context *ctx)
{
	static char memory[64];
	struct mlx5dv_devx_event_channel *ch;
	struct mlx5dv_devx_umem *umem, *again;
	struct mlx5dv_devx_uar *uar;
	struct mlx5dv_context mlx5 = { .comp_mask = ~UINT64_C(0) };
	unsigned int maps = fake.maps;
	struct ibv_device_attr attr;
	struct ibv_port_attr port;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	uint16_t event = 9;
	uint8_t data[48];

	TWICE((umem = mlx5dv_devx_umem_reg(ctx, memory, sizeof(memory), 1)) != NULL);
	TWICE(!mlx5dv_devx_umem_export(umem, data));
	TWICE((again = mlx5dv_devx_umem_import(ctx, data)) != NULL);
	TWICE(!mlx5dv_devx_umem_dereg(again));
	mlx5dv_devx_umem_unimport(umem);
	TWICE((uar = mlx5dv_devx_alloc_uar(ctx, MLX5DV_UAR_ALLOC_TYPE_BF)) != NULL);
	TWICE((uar = mlx5dv_devx_alloc_uar(ctx, MLX5DV_UAR_ALLOC_TYPE_NC)) != NULL);
	assert_int_equal(fake.maps, maps + 2);
	TWICE((ch = mlx5dv_devx_create_event_channel(ctx, 0)) != NULL);
	TWICE(!mlx5dv_devx_subscribe_devx_event(ch, NULL, 2, &event, 1));
	mlx5dv_devx_destroy_event_channel(ch);
	TWICE((pd = ibv_alloc_pd(ctx)) != NULL);
	TWICE((mr = ibv_reg_mr(pd, memory, sizeof(memory), 0)) != NULL);
	TWICE(!ibv_dereg_mr(mr));
	TWICE(!ibv_dealloc_pd(pd));
	TWICE(!ibv_query_device(ctx, &attr));
	TWICE(!ibv_query_port(ctx, 1, &port));
	TWICE(!mlx5dv_query_device(ctx, &mlx5));
}

static void one_run(void)
{
	struct mlx5dv_context_attr attr = { .flags = MLX5DV_CONTEXT_FLAGS_DEVX };
	struct ibv_device *dev;
	struct ibv_context *ctx, *ours;
	struct mlx5dv_devx_obj *obj;
	struct mlx5dv_devx_cmd_comp *comp;
	uint8_t out[32], rec[40];
	uint32_t eqn;

	TWICE((dev = find()) != NULL);
	TWICE((ctx = mlx5dv_open_device(dev, &attr)) != NULL);
	TWICE((obj = mlx5dv_devx_obj_create(ctx, alloc, sizeof(alloc), out, sizeof(out))) != NULL);
	TWICE((comp = mlx5dv_devx_create_cmd_comp(ctx)) != NULL);
	TWICE(!mlx5dv_devx_general_cmd(ctx, nop, sizeof(nop), out, sizeof(out)));
	TWICE(!mlx5dv_devx_query_eqn(ctx, 1, &eqn));
	TWICE(!mlx5dv_devx_obj_query(obj, query, sizeof(query), out, sizeof(out)));
	TWICE(!mlx5dv_devx_obj_query_async(obj, query, sizeof(query), 32, 5, comp));
	assert_int_equal(fake_waiting(comp->fd), 1);
	assert_true(fake_answer(comp->fd, out, sizeof(out)));
	TWICE(!mlx5dv_devx_get_async_cmd_comp(comp, (void *)rec, sizeof(rec)));
	TWICE(!mlx5dv_devx_obj_destroy(obj));
	mlx5dv_devx_destroy_cmd_comp(comp);
	more(ctx);
	TWICE((ours = odx_import_context(ctx)) != NULL);
	more(ours);
	TWICE(!ibv_close_device(ours));
	TWICE(!ibv_close_device(ctx));
	assert_int_equal(fake.maps, 0);
	assert_int_equal(fake.fds, 0);
	assert_int_equal(fake.handles, 0);
}

static void each_call_fails_in_turn(void **state)
{
	fake_device(0, "mlx5_0", NULL, "0c42:a103:0011:2233");
	fake_device(1, "mlx5_1", NULL, "0c42:a103:0011:2234");
	for (unsigned int n = 1;; n++) {
		fake.fail_at = n;
		fake.calls = 0;
		fake.failed = false;
		one_run();
		if (!fake.failed) {
			assert_true(n > 20);
			return;
		}
	}
}

int failure_tests(void)
{
	static const struct CMUnitTest tests[] = { TEST(each_call_fails_in_turn) };

	return cmocka_run_group_tests_name("uverbs: failures", tests, NULL, NULL);
}
