/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What rdma-core made goes to rdma-core's function, with its arguments and its result as they are. Two stand-ins count the
 * calls. Linked: they are behind OpenDEVX in the link order. LOCAL: they come later, with dlopen(RTLD_LOCAL), as a plugin
 * or a provider of libibverbs brings them.
 */
#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <opendevx/opendevx.h>

#include "fake.h"
#include "table.h"

static struct fake *fake_ibv, *fake_mlx;
static struct ibv_context foreign_ctx;
static struct object foreign_obj = { .context = &foreign_ctx };

static void *foreign(enum kind kind)
{
	return kind == CTX ? (void *)&foreign_ctx : (void *)&foreign_obj;
}

static void reset(void)
{
	*fake_ibv = (struct fake){ 0 };
	*fake_mlx = (struct fake){ 0 };
}

static void pass_one(const struct row *row)
{
	struct fake *fake = row->mlx5 ? fake_mlx : fake_ibv;
	void *handle = foreign(row->kind);
	long arg[6], ret;

	reset();
	fake->result = 0x1234567;
	fake->err = EXDEV;
	for (int i = 0; i < 6; i++)
		arg[i] = 0x11 * (i + 1); /* fits the narrowest type */
	arg[0] = (long)handle;
	errno = 0;
	ret = call(row, handle, arg);
	if (fake->calls != 1 || strcmp(fake->name, row->name))
		fail_msg("%s: %u calls, the last of %s", row->name, fake->calls, fake->name ? fake->name : "nothing");
	for (int i = 0; i < row->n_args; i++)
		if (fake->arg[i] != arg[i])
			fail_msg("%s: argument %d is %lx, not %lx", row->name, i, fake->arg[i], arg[i]);
	if (row->conv != VOID)
		assert_int_equal(ret, 0x1234567);
	assert_int_equal(errno, EXDEV);
}

static void every_call_goes_through(void **state)
{
	for (size_t i = 0; i < N_ROWS; i++)
		pass_one(&rows[i]);
}

/* The rest, by hand: what is checked deeper, the front door, and the asynchronous core. */
#define PASSES(fake, fn, ...)                                                                                      \
	do {                                                                                                       \
		reset();                                                                                           \
		(fake)->result = 0x76543;                                                                          \
		assert_int_equal((long)(uintptr_t)fn(__VA_ARGS__), 0x76543);                                       \
		assert_int_equal((fake)->calls, 1);                                                                \
		assert_string_equal((fake)->name, #fn);                                                            \
	} while (0)
#define ARGS(fake, ...)                                                                                            \
	do {                                                                                                       \
		const long want_[] = { __VA_ARGS__ };                                                              \
		assert_memory_equal((fake)->arg, want_, sizeof(want_));                                            \
	} while (0)

static void deeper_calls_go_through(void **state)
{
	struct mlx5dv_mkey_init_attr mkey = { .pd = (struct ibv_pd *)&foreign_obj };
	struct mlx5dv_flow_action_attr action = { .type = MLX5DV_FLOW_ACTION_COUNTERS_DEVX, .obj = (void *)&foreign_obj };
	struct mlx5dv_pd out;
	struct mlx5dv_obj init = { .pd = { (struct ibv_pd *)&foreign_obj, &out } };
	uint16_t events[2];
	void *o = &foreign_obj;

	PASSES(fake_mlx, mlx5dv_create_mkey, &mkey);
	ARGS(fake_mlx, (long)&mkey);
	PASSES(fake_mlx, mlx5dv_create_flow, o, o, 1, &action);
	ARGS(fake_mlx, (long)o, (long)o, 1, (long)&action);
	PASSES(fake_mlx, __mlx5dv_create_flow, o, o, 1, &action, sizeof(action));
	ARGS(fake_mlx, (long)o, (long)o, 1, (long)&action, sizeof(action));
	PASSES(fake_mlx, mlx5dv_reg_dmabuf_mr, o, 1, 2, 3, 4, 5, 6);
	ARGS(fake_mlx, (long)o, 1, 2, 3, 4, 5);
	PASSES(fake_mlx, mlx5dv_init_obj, &init, MLX5DV_OBJ_PD);
	ARGS(fake_mlx, (long)&init, MLX5DV_OBJ_PD);
	PASSES(fake_mlx, mlx5dv_init_obj, &init, UINT64_C(1) << 40); /* a type that we do not know */
	PASSES(fake_mlx, mlx5dv_dr_action_create_aso, o, o, 2, 3, 4);
	ARGS(fake_mlx, (long)o, (long)o, 2, 3, 4);
	PASSES(fake_mlx, mlx5dv_devx_alloc_msi_vector, &foreign_ctx);
	ARGS(fake_mlx, (long)&foreign_ctx);
	PASSES(fake_mlx, mlx5dv_devx_free_msi_vector, o);
	ARGS(fake_mlx, (long)o);
	PASSES(fake_mlx, mlx5dv_devx_create_eq, &foreign_ctx, o, 1, o, 2);
	ARGS(fake_mlx, (long)&foreign_ctx, (long)o, 1, (long)o, 2);
	PASSES(fake_mlx, mlx5dv_devx_destroy_eq, o);
	ARGS(fake_mlx, (long)o);
	PASSES(fake_mlx, mlx5dv_devx_create_event_channel, &foreign_ctx, 1);
	ARGS(fake_mlx, (long)&foreign_ctx, 1);
	PASSES(fake_mlx, mlx5dv_devx_get_event, o, o, 24);
	ARGS(fake_mlx, (long)o, (long)o, 24);
	PASSES(fake_ibv, ibv_get_async_event, &foreign_ctx, o);
	ARGS(fake_ibv, (long)&foreign_ctx, (long)o);
	reset();
	mlx5dv_devx_destroy_event_channel(o);
	assert_string_equal(fake_mlx->name, "mlx5dv_devx_destroy_event_channel");
	ARGS(fake_mlx, (long)o);
	reset();
	ibv_ack_async_event(o);
	assert_string_equal(fake_ibv->name, "ibv_ack_async_event");
	ARGS(fake_ibv, (long)o);
	PASSES(fake_mlx, mlx5dv_devx_subscribe_devx_event, o, NULL, 4, events, 5);
	ARGS(fake_mlx, (long)o, 0, 4, (long)events, 5);
	PASSES(fake_mlx, mlx5dv_devx_subscribe_devx_event_fd, o, 7, o, 9);
	ARGS(fake_mlx, (long)o, 7, (long)o, 9);
}

static void core_calls_go_through(void **state)
{
	struct mlx5dv_devx_cmd_comp comp = { .fd = -1 };
	struct ibv_context *c = &foreign_ctx;
	uint8_t in[16], out[16];
	void *o = &foreign_obj;
	uint32_t eqn;

	PASSES(fake_mlx, mlx5dv_devx_general_cmd, c, in, 1, out, 2);
	ARGS(fake_mlx, (long)c, (long)in, 1, (long)out, 2);
	PASSES(fake_mlx, mlx5dv_devx_obj_create, c, in, 1, out, 2);
	ARGS(fake_mlx, (long)c, (long)in, 1, (long)out, 2);
	PASSES(fake_mlx, mlx5dv_devx_obj_query, o, in, 1, out, 2);
	ARGS(fake_mlx, (long)o, (long)in, 1, (long)out, 2);
	PASSES(fake_mlx, mlx5dv_devx_obj_modify, o, in, 1, out, 2);
	ARGS(fake_mlx, (long)o, (long)in, 1, (long)out, 2);
	PASSES(fake_mlx, mlx5dv_devx_obj_destroy, o);
	ARGS(fake_mlx, (long)o);
	PASSES(fake_mlx, mlx5dv_devx_query_eqn, c, 3, &eqn);
	ARGS(fake_mlx, (long)c, 3, (long)&eqn);
	PASSES(fake_mlx, mlx5dv_devx_umem_reg, c, in, 1, 2);
	ARGS(fake_mlx, (long)c, (long)in, 1, 2);
	PASSES(fake_mlx, mlx5dv_devx_umem_reg_ex, c, o);
	ARGS(fake_mlx, (long)c, (long)o);
	PASSES(fake_mlx, mlx5dv_devx_umem_dereg, o);
	ARGS(fake_mlx, (long)o);
	PASSES(fake_mlx, mlx5dv_devx_create_cmd_comp, c);
	ARGS(fake_mlx, (long)c);
	PASSES(fake_mlx, mlx5dv_devx_get_async_cmd_comp, &comp, o, 24);
	ARGS(fake_mlx, (long)&comp, (long)o, 24);
	PASSES(fake_mlx, mlx5dv_devx_obj_query_async, o, in, 1, 2, 3, &comp);
	ARGS(fake_mlx, (long)o, (long)in, 1, 2, 3, (long)&comp);
	reset();
	mlx5dv_devx_destroy_cmd_comp(&comp);
	assert_int_equal(fake_mlx->calls, 1);
	assert_string_equal(fake_mlx->name, "mlx5dv_devx_destroy_cmd_comp");
	ARGS(fake_mlx, (long)&comp);
}

static void verbs_go_through(void **state)
{
	struct ibv_context *c = &foreign_ctx;
	void *o = &foreign_obj;
	uint8_t mem[4096];

	PASSES(fake_ibv, ibv_query_device, c, o);
	ARGS(fake_ibv, (long)c, (long)o);
	PASSES(fake_ibv, ibv_query_port, c, 1, o);
	ARGS(fake_ibv, (long)c, 1, (long)o);
	PASSES(fake_ibv, ibv_query_gid, c, 1, 2, o);
	ARGS(fake_ibv, (long)c, 1, 2, (long)o);
	PASSES(fake_ibv, ibv_query_pkey, c, 1, 2, o);
	ARGS(fake_ibv, (long)c, 1, 2, (long)o);
	PASSES(fake_ibv, ibv_alloc_pd, c);
	ARGS(fake_ibv, (long)c);
	PASSES(fake_ibv, ibv_dealloc_pd, o);
	ARGS(fake_ibv, (long)o);
	PASSES(fake_ibv, ibv_reg_mr, o, mem, 2, 3);
	ARGS(fake_ibv, (long)o, (long)mem, 2, 3);
	PASSES(fake_ibv, ibv_reg_mr_iova, o, mem, 2, 3, 4);
	ARGS(fake_ibv, (long)o, (long)mem, 2, 3, 4);
	PASSES(fake_ibv, ibv_reg_mr_iova2, o, mem, 2, 3, 4);
	ARGS(fake_ibv, (long)o, (long)mem, 2, 3, 4);
	PASSES(fake_ibv, ibv_dereg_mr, o);
	ARGS(fake_ibv, (long)o);
	PASSES(fake_mlx, mlx5dv_query_device, c, o);
	ARGS(fake_mlx, (long)c, (long)o);
}

/* Objects of verbs, and UARs. */
static void uars_and_verbs_objects_go_through(void **state)
{
	struct ibv_context *c = &foreign_ctx;
	uint8_t in[16], out[16];
	uint32_t sizes[4];
	void *o = &foreign_obj;

#define BOTH(kind)                                                                                                 \
	do {                                                                                                       \
		PASSES(fake_mlx, mlx5dv_devx_##kind##_query, o, in, 1, out, 2);                                    \
		ARGS(fake_mlx, (long)o, (long)in, 1, (long)out, 2);                                                \
		PASSES(fake_mlx, mlx5dv_devx_##kind##_modify, o, in, 1, out, 2);                                   \
		ARGS(fake_mlx, (long)o, (long)in, 1, (long)out, 2);                                                \
	} while (0)
	BOTH(cq);
	BOTH(qp);
	BOTH(srq);
	BOTH(wq);
	BOTH(ind_tbl);
#undef BOTH
	PASSES(fake_mlx, mlx5dv_devx_obj_export, o, out);
	ARGS(fake_mlx, (long)o, (long)out);
	PASSES(fake_mlx, mlx5dv_devx_obj_import, c, out);
	ARGS(fake_mlx, (long)c, (long)out);
	PASSES(fake_mlx, mlx5dv_devx_umem_export, o, out);
	ARGS(fake_mlx, (long)o, (long)out);
	PASSES(fake_mlx, mlx5dv_devx_umem_import, c, out);
	ARGS(fake_mlx, (long)c, (long)out);
	reset();
	mlx5dv_devx_obj_unimport(o);
	assert_string_equal(fake_mlx->name, "mlx5dv_devx_obj_unimport");
	ARGS(fake_mlx, (long)o);
	reset();
	mlx5dv_devx_umem_unimport(o);
	assert_string_equal(fake_mlx->name, "mlx5dv_devx_umem_unimport");
	ARGS(fake_mlx, (long)o);
	_mlx5dv_get_export_sizes((void *)sizes, sizeof(sizes));
	assert_int_equal(sizes[0], 4000);
	assert_in_range(sizes[1], 5, 1000); /* ours is larger */
	assert_int_equal(sizes[2], 4000);
	assert_int_equal(sizes[3], 4000);
	sizes[1] = 0xa5a5a5a5;
	_mlx5dv_get_export_sizes((void *)sizes, 4); /* a struct of one field */
	assert_int_equal(sizes[1], 0xa5a5a5a5);
	PASSES(fake_mlx, mlx5dv_devx_alloc_uar, c, 5);
	ARGS(fake_mlx, (long)c, 5);
	PASSES(fake_mlx, mlx5dv_devx_uar_export_dmabuf_fd, o);
	ARGS(fake_mlx, (long)o);
	reset();
	mlx5dv_devx_free_uar(o);
	assert_int_equal(fake_mlx->calls, 1);
	assert_string_equal(fake_mlx->name, "mlx5dv_devx_free_uar");
	ARGS(fake_mlx, (long)o);
}

static void front_door_goes_through(void **state)
{
	struct mlx5dv_context_attr attr = { .flags = 0xff }; /* libmlx5's to check */
	struct ibv_device *d = (struct ibv_device *)&foreign_obj;
	struct ibv_device *list[1] = { NULL };

	PASSES(fake_ibv, ibv_get_device_name, d);
	ARGS(fake_ibv, (long)d);
	PASSES(fake_ibv, ibv_get_device_guid, d);
	PASSES(fake_ibv, ibv_open_device, d);
	PASSES(fake_ibv, ibv_close_device, &foreign_ctx);
	ARGS(fake_ibv, (long)&foreign_ctx);
	PASSES(fake_mlx, mlx5dv_open_device, d, &attr);
	ARGS(fake_mlx, (long)d, (long)&attr);
	reset();
	assert_false(mlx5dv_is_supported(d));
	fake_mlx->mlx5_device = d;
	assert_true(mlx5dv_is_supported(d));
	/* A list that we did not make. */
	reset();
	ibv_free_device_list(list);
	assert_int_equal(fake_ibv->calls, 1);
	ARGS(fake_ibv, (long)list);
}

/* Takes a list, wants these devices of rdma-core's first and this many of ours behind them, and frees it. */
static void expect_list(int n_real, int n_ours)
{
	struct ibv_device **list, **again;
	int n = -1;

	list = ibv_get_device_list(&n);
	assert_non_null(list);
	assert_int_equal(n, n_real + n_ours);
	for (int i = 0; i < n_real; i++)
		assert_ptr_equal(list[i], fake_ibv->devices[i]);
	for (int i = n_real; i < n; i++)
		assert_int_equal(strncmp(ibv_get_device_name(list[i]), "mlx5_soft", 9), 0);
	assert_null(list[n]);
	if (fake_ibv->err) { /* there is none of rdma-core's to free */
		fake_ibv->calls = 0;
		ibv_free_device_list(list);
		assert_int_equal(fake_ibv->calls, 0);
		return;
	}
	/* Two lists live at once, freed in the order in which they were made: rdma-core's each exactly once. */
	void **first = fake_ibv->list, **second;

	again = ibv_get_device_list(NULL);
	assert_non_null(again);
	second = fake_ibv->list;
	fake_ibv->list = first;
	fake_ibv->calls = 0;
	ibv_free_device_list(list);
	assert_int_equal(fake_ibv->calls, 1);
	ARGS(fake_ibv, (long)first);
	fake_ibv->list = second;
	ibv_free_device_list(again);
	assert_int_equal(fake_ibv->calls, 2);
	ARGS(fake_ibv, (long)second);
}

static bool asked_for(void)
{
	const char *env = getenv("OPENDEVX_SOFT");

	return env && strcmp(env, "off");
}

static bool switched_off(void)
{
	const char *env = getenv("OPENDEVX_SOFT");

	return env && !strcmp(env, "off");
}

/* The machine that runs this test may have a real card, which hides the device that nobody asked for. */
static bool real_card(void)
{
	glob_t g;
	bool found = false;

	if (glob("/sys/class/infiniband/*/device/driver", 0, NULL, &g))
		return false;
	for (size_t i = 0; i < g.gl_pathc; i++) {
		char *target = realpath(g.gl_pathv[i], NULL);

		found |= target && !strcmp(strrchr(target, '/') + 1, "mlx5_core");
		free(target);
	}
	globfree(&g);
	return found;
}

static void device_list(void **state)
{
	int ours = asked_for() || (!switched_off() && !real_card()) ? 1 : 0, n = -1;
	static char a, b;

	reset();
	expect_list(0, ours);
	fake_ibv->devices[0] = &a;
	fake_ibv->devices[1] = &b;
	fake_ibv->n_devices = 2;
	expect_list(2, ours);
	/* With a real mlx5 device, only what was asked for stands beside it. */
	fake_mlx->mlx5_device = &b;
	expect_list(2, asked_for() ? 1 : 0);
	fake_mlx->mlx5_device = NULL;
	/* No RDMA in the kernel: rdma-core fails, and ours are there all the same. */
	fake_ibv->n_devices = 0;
	fake_ibv->err = ENOSYS;
	if (ours) {
		expect_list(0, ours);
	} else {
		errno = 0;
		assert_null(ibv_get_device_list(&n));
		assert_int_equal(errno, ENOSYS);
		assert_int_equal(n, 0);
	}
}

#ifdef LOCAL

static const char *path_ibv, *path_mlx;

static void nothing_there_yet(void **state)
{
	static const long none[6];

	for (size_t i = 0; i < N_ROWS; i++) {
		errno = 0;
		if (!failed(rows[i].conv, call(&rows[i], foreign(rows[i].kind), none), EOPNOTSUPP))
			fail_msg("%s: errno %d", rows[i].name, errno);
	}
}

static void *lib_ibv, *lib_mlx;

/* libibverbs loads libmlx5 by the name of its provider. */
static void load(void **state)
{
	char dir[] = "/tmp/abi-XXXXXX", provider[64];

	assert_non_null(mkdtemp(dir));
	snprintf(provider, sizeof(provider), "%s/libmlx5-rdmav34.so", dir);
	assert_int_equal(symlink(path_mlx, provider), 0);
	lib_ibv = dlopen(path_ibv, RTLD_NOW | RTLD_LOCAL);
	lib_mlx = dlopen(provider, RTLD_NOW | RTLD_LOCAL);
	unlink(provider);
	rmdir(dir);
	assert_non_null(lib_ibv);
	assert_non_null(lib_mlx);
	fake_ibv = dlsym(lib_ibv, "fake_ibverbs");
	fake_mlx = dlsym(lib_mlx, "fake_mlx5");
	assert_non_null(fake_ibv);
	assert_non_null(fake_mlx);
}

/* What was found once stays callable when the plugin that brought it goes. */
static void unload(void **state)
{
	assert_int_equal(dlclose(lib_ibv), 0);
	assert_int_equal(dlclose(lib_mlx), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_there_yet), cmocka_unit_test(load),
		cmocka_unit_test(every_call_goes_through), cmocka_unit_test(deeper_calls_go_through),
		cmocka_unit_test(core_calls_go_through), cmocka_unit_test(verbs_go_through),
		cmocka_unit_test(uars_and_verbs_objects_go_through), cmocka_unit_test(front_door_goes_through),
		cmocka_unit_test(device_list), cmocka_unit_test(unload), cmocka_unit_test(every_call_goes_through),
	};

	if (argc != 3)
		return 2;
	path_ibv = argv[1];
	path_mlx = argv[2];
	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_call_goes_through), cmocka_unit_test(deeper_calls_go_through),
		cmocka_unit_test(core_calls_go_through), cmocka_unit_test(verbs_go_through),
		cmocka_unit_test(uars_and_verbs_objects_go_through), cmocka_unit_test(front_door_goes_through),
		cmocka_unit_test(device_list),
	};

	fake_ibv = dlsym(RTLD_DEFAULT, "fake_ibverbs");
	fake_mlx = dlsym(RTLD_DEFAULT, "fake_mlx5");
	if (!fake_ibv || !fake_mlx)
		return 2;
	if (!dlsym(RTLD_DEFAULT, "odx_version")) /* the calls would go to the stand-ins directly */
		return 2;
	return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
