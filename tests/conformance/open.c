/* SPDX-License-Identifier: BSD-2-Clause */
/* The front door: lists, names, opening. */
#include "conf.h"

static bool in_list(const struct ibv_device *dev)
{
	int n = -1;
	struct ibv_device **list = ibv_get_device_list(&n);
	bool found = false, ends;

	CHECK(list);
	ends = n >= 0 && !list[n];
	for (int i = 0; i < n; i++)
		found = found || list[i] == dev;
	ibv_free_device_list(list);
	CHECK(ends);
	return found;
}

CASE(device_is_in_the_list, "ibv_get_device_list(3)", ANY,
     "A list has as many devices as it says, ends with NULL, and has the device.")
{
	CHECK(in_list(device()));
}

CASE(created_device_is_listed_until_destroyed, "odx_soft_create(3)", SOFT,
     "A created device is in the list until it is destroyed.")
{
	struct ibv_device *dev = soft("");

	CHECK(in_list(dev));
	CHECK_EQ(soft_destroy(dev), 0);
	CHECK(!in_list(dev));
}

CASE(list_takes_no_count_pointer, "ibv_get_device_list(3)", ANY, "The pointer to the number of devices may be NULL.")
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	CHECK(list);
	ibv_free_device_list(list);
}

CASE(free_of_no_list_does_nothing, "deviations 3", OURS, "Freeing a NULL list does nothing.")
{
	ibv_free_device_list(NULL);
}

CASE(name_and_guid, "ibv_get_device_name(3)", ANY, "A device has a name, which is also in its struct, and a GUID.")
{
	CHECK(ibv_get_device_name(device()));
	CHECK_STR(ibv_get_device_name(device()), device()->name);
	CHECK(ibv_get_device_guid(device()) != 0);
}

CASE(names_and_guids_differ_between_devices, "odx_soft_create(3)", SOFT, "No two devices have the same name or GUID.")
{
	struct ibv_device *a = soft(""), *b = soft("");

	CHECK_STR(ibv_get_device_name(a), a->name);
	CHECK(strcmp(ibv_get_device_name(a), ibv_get_device_name(b)));
	CHECK(ibv_get_device_guid(a) != 0);
	CHECK(ibv_get_device_guid(a) != ibv_get_device_guid(b));
}

CASE(device_is_supported, "mlx5dv_is_supported(3)", ANY, "An mlx5 device is supported.")
{
	CHECK(mlx5dv_is_supported(device()));
}

CASE(null_device_is_not_supported, "deviations 3", OURS, "NULL is no supported device.")
{
	CHECK(!mlx5dv_is_supported(NULL));
}

CASE(open_refuses_unknown_flags, "devx-abi 2", ANY, "Unknown flags of mlx5dv_open_device give EINVAL.")
{
	struct mlx5dv_context_attr attr = { 0 };

	for (int bit = 1; bit < 32; bit++) {
		attr.flags = 1u << bit;
		NOTE("flags 0x%x", attr.flags);
		CHECK_NULL(mlx5dv_open_device(device(), &attr), EINVAL);
	}
	attr.flags = UINT32_MAX;
	CHECK_NULL(mlx5dv_open_device(device(), &attr), EINVAL);
}

CASE(open_refuses_unknown_comp_mask, "devx-abi 2", ANY, "An unknown comp_mask of mlx5dv_open_device gives EINVAL.")
{
	struct mlx5dv_context_attr attr = { .flags = MLX5DV_CONTEXT_FLAGS_DEVX };

	for (int bit = 1; bit < 64; bit++) {
		attr.comp_mask = UINT64_C(1) << bit;
		NOTE("comp_mask bit %d", bit);
		CHECK_NULL(mlx5dv_open_device(device(), &attr), EINVAL);
	}
}

CASE(open_devx_gives_a_context_of_the_device, "devx-abi 2", ANY,
     "mlx5dv_open_device with the DEVX flag gives a context of the device.")
{
	struct ibv_context *ctx = context();

	CHECK(ctx->device == device());
	CHECK_EQ(close_context(ctx), 0);
}

CASE(ibv_open_device_gives_devx, "devx-abi 2", ANY, "ibv_open_device gives a context that can do DEVX too.")
{
	struct ibv_context *ctx = ibv_open_device(device());
	struct mlx5dv_devx_obj *obj = NULL;
	INBOX(in, alloc_pd_in, ALLOC_PD);
	uint8_t out[SZ(alloc_pd_out)];

	CHECK(ctx);
	obj = mlx5dv_devx_obj_create(ctx, in, sizeof(in), out, sizeof(out));
	CHECK(obj);
	CHECK_EQ(mlx5dv_devx_obj_destroy(obj), 0);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

CASE(context_fds_are_real_and_close_on_exec, "devx-abi 2", ANY,
     "cmd_fd and async_fd of a context are two descriptors with O_CLOEXEC that are closed with it.")
{
	struct ibv_context *ctx = context();
	int cmd_fd = ctx->cmd_fd, async_fd = ctx->async_fd;

	CHECK_EQ(fcntl(cmd_fd, F_GETFD), FD_CLOEXEC);
	CHECK_EQ(fcntl(async_fd, F_GETFD), FD_CLOEXEC);
	CHECK_NE(cmd_fd, async_fd);
	CHECK_EQ(ready(async_fd, POLLIN, 0), 0);
	CHECK_EQ(close_context(ctx), 0);
	CHECK_EQ(fcntl(cmd_fd, F_GETFD), -1);
	CHECK_EQ(fcntl(async_fd, F_GETFD), -1);
}

CASE(device_outlives_its_list, "ibv_free_device_list(3)", ANY,
     "A context that was opened keeps its device when the list it came from is freed.")
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = NULL;

	for (int i = 0; list[i] && !ctx; i++)
		if (!strcmp(ibv_get_device_name(list[i]), ibv_get_device_name(device())))
			ctx = open_devx(list[i]);
	ibv_free_device_list(list);
	CHECK(ctx);
	CHECK_STR(ibv_get_device_name(ctx->device), ibv_get_device_name(device()));
}

CASE(contexts_are_many, "devx-abi 2", ANY, "A device may be opened many times; each open gives a context of its own.")
{
	struct ibv_context *ctx[16];

	for (size_t i = 0; i < N_OF(ctx); i++) {
		ctx[i] = context();
		for (size_t k = 0; k < i; k++)
			CHECK(ctx[k] != ctx[i] && ctx[k]->cmd_fd != ctx[i]->cmd_fd);
	}
	for (size_t i = 0; i < N_OF(ctx); i++)
		CHECK_EQ(nop(ctx[i]), 0);
}

CASE(null_device_or_context, "deviations 3", OURS, "NULL to a close gives 0; any other NULL gives EINVAL.")
{
	CHECK_NULL(mlx5dv_open_device(NULL, NULL), EINVAL);
	CHECK_NULL(ibv_open_device(NULL), EINVAL);
	CHECK_NULL(ibv_get_device_name(NULL), EINVAL);
	CHECK_EQ(ibv_get_device_guid(NULL), 0);
	CHECK_EQ(ibv_close_device(NULL), 0);
}

CASE(destroy_of_an_open_device_is_ebusy, "odx_soft_destroy(3)", SOFT,
     "A device with open contexts is not destroyed: EBUSY.")
{
	struct ibv_device *dev = soft("");

	open_devx(dev);
	CHECK_EQ(soft_destroy(dev), EBUSY);
	CHECK(in_list(dev));
}

CASE(destroyed_device_is_enodev, "deviations 17", SOFT, "Calls on a destroyed software device give ENODEV.")
{
	struct ibv_device *dev = soft("");

	CHECK_EQ(soft_destroy(dev), 0);
	CHECK_EQ(odx_soft_destroy(dev), ENODEV);
	CHECK_EQ(odx_soft_hold(dev), ENODEV);
	CHECK_EQ(odx_soft_remove(dev), ENODEV);
	CHECK_NULL(mlx5dv_open_device(dev, NULL), ENODEV);
	CHECK_EQ(odx_soft_destroy(NULL), 0);
	CHECK_EQ(odx_soft_hold(NULL), EINVAL);
}

CASE(double_close_is_ebadf, "deviations 17", OURS, "A context that was closed is recognised: EBADF.")
{
	struct ibv_context *ctx = context();

	CHECK_EQ(close_context(ctx), 0);
	CHECK_EQ(ibv_close_device(ctx), EBADF);
}

CASE(close_frees_what_was_left, "devx-abi 4", ANY, "Closing a context destroys the objects that are left on it.")
{
	uint32_t id, first = 0;

	for (int i = 0; i < 3; i++) {
		struct ibv_context *ctx = context();

		for (int k = 0; k < 100; k++)
			disown(counters(ctx, 0, &id));
		if (i)
			CHECK(id <= first + 128); /* ids do not run away: they were given back */
		else
			first = id;
		CHECK_EQ(close_context(ctx), 0);
	}
}

CASE(bad_specs_give_no_device, "opendevx(7)", SOFT,
     "A spec that does not parse gives no device and EINVAL; off gives ENODEV.")
{
	static const char *const bad[] = {
		"profile=cx4", "latency", "latency=", "latency=1", "latency=1h", "nonsense", "on,on", "latency=1us,latency=1us",
		"inline,latency=1us", "inline,jitter=1us", "inline,reorder", "quirks=windows", "clock=auto", ",", "seed=x",
	};

	for (size_t i = 0; i < N_OF(bad); i++) {
		NOTE("%s", bad[i]);
		CHECK_NULL(odx_soft_create(bad[i]), EINVAL);
	}
	CHECK_NULL(odx_soft_create(NULL), EINVAL);
	CHECK_NULL(odx_soft_create("off"), ENODEV);
}

CASE(spec_makes_an_equal_device, "odx_soft_spec(3)", SOFT, "The spec that a device prints makes an equal device.")
{
	struct ibv_device *a = soft("profile=cx7,latency=20us,jitter=5us,reorder,seed=7,timeout=3s,clock=manual");
	char first[512], second[512];

	CHECK_EQ(odx_soft_spec(a, first, sizeof(first)), 0);
	CHECK_EQ(odx_soft_spec(soft(first), second, sizeof(second)), 0);
	CHECK_STR(first, second);
	CHECK(strstr(first, "seed=7"));
	CHECK_EQ(odx_soft_spec(a, NULL, 10), EINVAL);
	CHECK_EQ(odx_soft_spec(a, first, 3), ENOSPC);
}

CASE(removed_device_does_not_open, "odx_soft_remove(3)", SOFT,
     "A removed device does not open: EIO. Removing it twice changes nothing.")
{
	struct ibv_device *dev = soft("");

	CHECK_EQ(odx_soft_remove(dev), 0);
	CHECK_EQ(odx_soft_remove(dev), 0);
	CHECK_NULL(mlx5dv_open_device(dev, NULL), EIO);
}
