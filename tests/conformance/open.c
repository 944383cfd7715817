/* SPDX-License-Identifier: BSD-2-Clause */
/* The front door: lists, names, opening. */
#include "conf.h"

static bool in_list(const struct ibv_device *dev)
{
	int n = -1;
	struct ibv_device **list = ibv_get_device_list(&n);
	bool found = false;

	assert_non_null(list);
	assert_null(list[n]);
	for (int i = 0; i < n; i++)
		found = found || list[i] == dev;
	ibv_free_device_list(list);
	return found;
}

/* design: a created device is in the list until it is destroyed. */
static void created_device_is_listed_until_destroyed(void **state)
{
	struct ibv_device *dev = odx_soft_create("");

	assert_non_null(dev);
	assert_true(in_list(dev));
	assert_int_equal(odx_soft_destroy(dev), 0);
	assert_false(in_list(dev));
}

static void list_takes_no_count_pointer(void **state)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	assert_non_null(list);
	ibv_free_device_list(list);
	ibv_free_device_list(NULL);
}

static void names_and_guids_differ_between_devices(void **state)
{
	struct ibv_device *a = odx_soft_create(""), *b = odx_soft_create("");

	assert_non_null(ibv_get_device_name(a));
	assert_string_equal(ibv_get_device_name(a), a->name);
	assert_string_not_equal(ibv_get_device_name(a), ibv_get_device_name(b));
	assert_true(ibv_get_device_guid(a) != 0);
	assert_true(ibv_get_device_guid(a) != ibv_get_device_guid(b));
	assert_int_equal(odx_soft_destroy(a), 0);
	assert_int_equal(odx_soft_destroy(b), 0);
}

static void soft_device_is_supported(void **state)
{
	struct ibv_device *dev = odx_soft_create("");

	assert_true(mlx5dv_is_supported(dev));
	assert_false(mlx5dv_is_supported(NULL));
	assert_int_equal(odx_soft_destroy(dev), 0);
}

/* devx-abi 2: unknown flags and comp_mask of mlx5dv_open_device give EINVAL. */
static void open_refuses_unknown_flags(void **state)
{
	struct ibv_device *dev = odx_soft_create("");
	struct mlx5dv_context_attr attr = { .flags = 2 };

	errno = 0;
	assert_null(mlx5dv_open_device(dev, &attr));
	assert_int_equal(errno, EINVAL);
	attr.flags = UINT32_MAX;
	assert_null(mlx5dv_open_device(dev, &attr));
	assert_int_equal(errno, EINVAL);
	assert_int_equal(odx_soft_destroy(dev), 0);
}

static void open_refuses_unknown_comp_mask(void **state)
{
	struct ibv_device *dev = odx_soft_create("");
	struct mlx5dv_context_attr attr = { .flags = MLX5DV_CONTEXT_FLAGS_DEVX, .comp_mask = 2 };

	errno = 0;
	assert_null(mlx5dv_open_device(dev, &attr));
	assert_int_equal(errno, EINVAL);
	attr.comp_mask = UINT64_C(1) << 63;
	assert_null(mlx5dv_open_device(dev, &attr));
	assert_int_equal(errno, EINVAL);
	assert_int_equal(odx_soft_destroy(dev), 0);
}

static void open_devx_gives_a_context_of_the_device(void **state)
{
	struct ibv_device *dev = odx_soft_create("");
	struct ibv_context *ctx = open_devx(dev);

	assert_ptr_equal(ctx->device, dev);
	assert_int_equal(ibv_close_device(ctx), 0);
	assert_int_equal(odx_soft_destroy(dev), 0);
}

/* devx-abi 2: libmlx5 asks for DEVX on every open, so that ibv_open_device gives DEVX too. */
static void ibv_open_device_gives_devx(void **state)
{
	struct ibv_device *dev = odx_soft_create("");
	struct ibv_context *ctx = ibv_open_device(dev);
	struct mlx5dv_devx_obj *obj;
	uint32_t id;

	assert_non_null(ctx);
	obj = counters(ctx, 0, &id);
	assert_int_equal(mlx5dv_devx_obj_destroy(obj), 0);
	assert_int_equal(ibv_close_device(ctx), 0);
	assert_int_equal(odx_soft_destroy(dev), 0);
}

/* design: async_fd and cmd_fd of a software context are real descriptors. */
static void context_fds_are_real_and_close_on_exec(void **state)
{
	struct ibv_device *dev = odx_soft_create("");
	struct ibv_context *ctx = open_devx(dev);
	int cmd_fd = ctx->cmd_fd, async_fd = ctx->async_fd;

	assert_int_equal(fcntl(cmd_fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(fcntl(async_fd, F_GETFD), FD_CLOEXEC);
	assert_int_not_equal(cmd_fd, async_fd);
	assert_int_equal(ready(async_fd, POLLIN, 0), 0);
	assert_int_equal(ibv_close_device(ctx), 0);
	assert_int_equal(fcntl(cmd_fd, F_GETFD), -1);
	assert_int_equal(fcntl(async_fd, F_GETFD), -1);
	assert_int_equal(odx_soft_destroy(dev), 0);
}

/* design: context->device stays valid after the list was freed. */
static void device_outlives_its_list(void **state)
{
	struct ibv_device *dev = odx_soft_create("");
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx;

	ibv_free_device_list(list);
	ctx = open_devx(dev);
	assert_non_null(ibv_get_device_name(ctx->device));
	assert_int_equal(ibv_close_device(ctx), 0);
	assert_int_equal(odx_soft_destroy(dev), 0);
}

/* design: NULL to a close or free: 0 or nothing; any other NULL: EINVAL. */
static void null_device_or_context(void **state)
{
	errno = 0;
	assert_null(mlx5dv_open_device(NULL, NULL));
	assert_int_equal(errno, EINVAL);
	errno = 0;
	assert_null(ibv_open_device(NULL));
	assert_int_equal(errno, EINVAL);
	errno = 0;
	assert_null(ibv_get_device_name(NULL));
	assert_int_equal(errno, EINVAL);
	assert_int_equal(ibv_get_device_guid(NULL), 0);
	assert_int_equal(ibv_close_device(NULL), 0);
}

static void destroy_of_an_open_device_is_ebusy(void **state)
{
	struct ibv_device *dev = odx_soft_create("");
	struct ibv_context *ctx = open_devx(dev);

	assert_int_equal(odx_soft_destroy(dev), EBUSY);
	assert_true(in_list(dev));
	assert_int_equal(ibv_close_device(ctx), 0);
	assert_int_equal(odx_soft_destroy(dev), 0);
}

static void destroyed_device_is_enodev(void **state)
{
	struct ibv_device *dev = odx_soft_create("");

	assert_int_equal(odx_soft_destroy(dev), 0);
	assert_int_equal(odx_soft_destroy(dev), ENODEV);
	assert_int_equal(odx_soft_hold(dev), ENODEV);
	assert_int_equal(odx_soft_remove(dev), ENODEV);
	errno = 0;
	assert_null(mlx5dv_open_device(dev, NULL));
	assert_int_equal(errno, ENODEV);
	assert_int_equal(odx_soft_destroy(NULL), 0);
	assert_int_equal(odx_soft_hold(NULL), EINVAL);
}

static void double_close_is_ebadf(void **state)
{
	struct ibv_device *dev = odx_soft_create("");
	struct ibv_context *ctx = open_devx(dev);

	assert_int_equal(ibv_close_device(ctx), 0);
	assert_int_equal(ibv_close_device(ctx), EBADF);
	assert_int_equal(odx_soft_destroy(dev), 0);
}

/* design: freeing a context frees all its objects, newest first, though older ones are referred to by newer ones. */
static void close_frees_what_was_left(void **state)
{
	struct ibv_device *dev = odx_soft_create("");
	uint32_t id, first = 0;

	for (int i = 0; i < 3; i++) {
		struct ibv_context *ctx = open_devx(dev);

		for (int k = 0; k < 100; k++)
			counters(ctx, 0, &id);
		if (i)
			assert_true(id <= first + 128); /* ids do not run away: they were given back */
		else
			first = id;
		assert_int_equal(ibv_close_device(ctx), 0);
	}
	assert_int_equal(odx_soft_destroy(dev), 0);
}

static void bad_specs_give_no_device(void **state)
{
	static const char *const bad[] = {
		"profile=cx4", "latency", "latency=", "latency=1", "latency=1h", "nonsense", "on,on", "latency=1us,latency=1us",
		"inline,latency=1us", "inline,jitter=1us", "inline,reorder", "quirks=windows", "clock=auto", ",", "seed=x",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		errno = 0;
		assert_null(odx_soft_create(bad[i]));
		assert_int_equal(errno, EINVAL);
	}
	errno = 0;
	assert_null(odx_soft_create(NULL));
	assert_int_equal(errno, EINVAL);
	errno = 0;
	assert_null(odx_soft_create("off"));
	assert_int_equal(errno, ENODEV);
}

/* soft.h: the printed spec makes an equal device. */
static void spec_makes_an_equal_device(void **state)
{
	struct ibv_device *a = odx_soft_create("profile=cx7,latency=20us,jitter=5us,reorder,seed=7,timeout=3s,clock=manual"), *b;
	char first[512], second[512];

	assert_non_null(a);
	assert_int_equal(odx_soft_spec(a, first, sizeof(first)), 0);
	b = odx_soft_create(first);
	assert_non_null(b);
	assert_int_equal(odx_soft_spec(b, second, sizeof(second)), 0);
	assert_string_equal(first, second);
	assert_non_null(strstr(first, "seed=7"));
	assert_int_equal(odx_soft_spec(a, NULL, 10), EINVAL);
	assert_int_equal(odx_soft_spec(a, first, 3), ENOSPC);
	assert_int_equal(odx_soft_destroy(a), 0);
	assert_int_equal(odx_soft_destroy(b), 0);
}

static void removed_device_does_not_open(void **state)
{
	struct ibv_device *dev = odx_soft_create("");

	assert_int_equal(odx_soft_remove(dev), 0);
	assert_int_equal(odx_soft_remove(dev), 0);
	errno = 0;
	assert_null(mlx5dv_open_device(dev, NULL));
	assert_int_equal(errno, EIO);
	assert_int_equal(odx_soft_destroy(dev), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(created_device_is_listed_until_destroyed),
		cmocka_unit_test(list_takes_no_count_pointer),
		cmocka_unit_test(names_and_guids_differ_between_devices),
		cmocka_unit_test(soft_device_is_supported),
		cmocka_unit_test(open_refuses_unknown_flags),
		cmocka_unit_test(open_refuses_unknown_comp_mask),
		cmocka_unit_test(open_devx_gives_a_context_of_the_device),
		cmocka_unit_test(ibv_open_device_gives_devx),
		cmocka_unit_test(context_fds_are_real_and_close_on_exec),
		cmocka_unit_test(device_outlives_its_list),
		cmocka_unit_test(null_device_or_context),
		cmocka_unit_test(destroy_of_an_open_device_is_ebusy),
		cmocka_unit_test(destroyed_device_is_enodev),
		cmocka_unit_test(double_close_is_ebadf),
		cmocka_unit_test(close_frees_what_was_left),
		cmocka_unit_test(bad_specs_give_no_device),
		cmocka_unit_test(spec_makes_an_equal_device),
		cmocka_unit_test(removed_device_does_not_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
