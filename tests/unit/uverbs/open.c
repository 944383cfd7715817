/* SPDX-License-Identifier: BSD-2-Clause */
/* Discovery, and the ways into a context: new and old kernels, and everything that can be missing. */
#include <endian.h>
#include <opendevx/soft.h>
#include <stdio.h>

#include "tests.h"

#undef ibv_get_device_list

#define GUID "0c42:a103:0011:2233"
#define DEVX_FLAG MLX5DV_CONTEXT_FLAGS_DEVX

struct ibv_device *first_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL), *dev;

	assert_non_null(list);
	dev = list[0];
	ibv_free_device_list(list);
	return dev;
}

static struct ibv_context *open_devx(struct ibv_device *dev)
{
	struct mlx5dv_context_attr attr = { .flags = DEVX_FLAG };

	return mlx5dv_open_device(dev, &attr);
}

struct ibv_context *open_one(void)
{
	struct ibv_context *ctx;

	fake_device(0, "mlx5_0", NULL, GUID);
	ctx = open_devx(first_device());
	assert_non_null(ctx);
	return ctx;
}

static void close_one(struct ibv_context *ctx)
{
	assert_int_equal(ibv_close_device(ctx), 0);
}

static int names(char *to)
{
	int n;
	struct ibv_device **list = ibv_get_device_list(&n);

	assert_non_null(list);
	assert_null(list[n]);
	*to = '\0';
	for (int i = 0; i < n; i++)
		sprintf(to + strlen(to), "%s ", ibv_get_device_name(list[i]));
	ibv_free_device_list(list);
	return n;
}

static void devices_are_found_in_their_order(void **state)
{
	char all[256];
	struct ibv_device *dev;

	fake_device(10, "mlx5_2", NULL, GUID);
	fake_device(2, "mlx5_1", "mlx5_core.sf", GUID);
	fake_device(0, "mlx5_0", NULL, GUID);
	fake_device(1, "rxe0", "rdma_rxe", GUID);
	fake_file("/sys/class/infiniband_verbs/abi_version", "6\n");
	assert_int_equal(names(all), 3);
	assert_string_equal(all, "mlx5_0 mlx5_1 mlx5_2 ");
	dev = first_device();
	assert_string_equal(dev->name, "mlx5_0");
	assert_string_equal(dev->dev_name, "uverbs0");
	assert_string_equal(dev->dev_path, "/sys/class/infiniband_verbs/uverbs0");
	assert_string_equal(dev->ibdev_path, "/sys/class/infiniband/mlx5_0");
	assert_int_equal(dev->node_type, IBV_NODE_CA);
	assert_int_equal(be64toh(ibv_get_device_guid(dev)), 0x0c42a10300112233);
	assert_true(mlx5dv_is_supported(dev));
}

static void a_device_that_comes_back_is_the_same(void **state)
{
	struct ibv_device *dev;
	char all[256];

	fake_device(0, "mlx5_0", NULL, GUID);
	dev = first_device();
	assert_ptr_equal(dev, first_device());
	fake_file("/sys/class/infiniband_verbs/uverbs0/ibdev", NULL);
	names(all);
	assert_null(strstr(all, "mlx5_0 "));
	assert_string_equal(ibv_get_device_name(dev), "mlx5_0");
	fake_file("/sys/class/infiniband_verbs/uverbs0/ibdev", "mlx5_0\n");
	assert_ptr_equal(dev, first_device());
	/* Another card in its place is another device. */
	fake_file("/sys/class/infiniband/mlx5_0/node_guid", "0c42:a103:0011:4444\n");
	assert_ptr_not_equal(dev, first_device());
	assert_int_equal(be64toh(ibv_get_device_guid(dev)), 0x0c42a10300112233);
}

static void what_sysfs_says_is_not_believed_blindly(void **state)
{
	static const struct {
		const char *file, *text;
	} wrong[] = {
		{ "/sys/class/infiniband_verbs/uverbs0/ibdev", "../../../etc\n" },
		{ "/sys/class/infiniband_verbs/uverbs0/ibdev", "\n" },
		{ "/sys/class/infiniband_verbs/uverbs0/ibdev",
		  "a_name_that_is_far_too_long_for_any_device_of_the_kernel_and_for_the_struct\n" },
		{ "/sys/class/infiniband_verbs/uverbs0/abi_version", "2\n" },
		{ "/sys/class/infiniband_verbs/uverbs0/dev", "none\n" },
	};
	char all[256];

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		char name[32];

		snprintf(name, sizeof(name), "mlx5_%zu", i);
		fake_device(0, name, NULL, GUID);
		fake_file(wrong[i].file, wrong[i].text);
		names(all);
		assert_null(strstr(all, name));
	}
}

static void an_open_asks_for_devx_and_dynamic_uars(void **state)
{
	static const uint8_t want[32] = { [8] = 1, [16] = 1, [24] = 3 };
	struct ibv_context *ctx = open_one();

	assert_int_equal(fake.ioctls, 2); /* the context, and its asynchronous events */
	assert_int_equal(fake.writes, 0);
	assert_int_equal(fake.last.object, 0x10);
	fake.last = fake.context_frame;
	assert_int_equal(fake.last.n, 3);
	assert_int_equal(fake_attr(0)->len, 4);
	assert_int_equal(fake_attr(0x1000)->len, 32);
	assert_memory_equal(fake_attr(0x1000)->bytes, want, sizeof(want));
	assert_int_equal(fake_attr(0x1001)->len, 72);
	assert_int_equal(ctx->num_comp_vectors, 8);
	assert_true(ctx->cmd_fd >= 0 && ctx->async_fd >= 0 && ctx->cmd_fd != ctx->async_fd);
	assert_ptr_equal(ctx->device, first_device());
	assert_int_equal(fake.fds, 2);
	close_one(ctx);
	assert_int_equal(fake.fds, 0);
}

static void older_drivers_get_shorter_requests(void **state)
{
	static const size_t lengths[] = { 32, 24, 16 };

	fake_device(0, "mlx5_0", NULL, GUID);
	for (unsigned int i = 0; i < 3; i++) {
		struct ibv_context *ctx;

		fake.contexts = 0;
		fake.request_max = lengths[i];
		ctx = open_devx(first_device());
		assert_non_null(ctx);
		assert_int_equal(fake.contexts, i + 1);
		assert_int_equal(fake.request_len, lengths[i]);
		assert_int_equal(fake.request_flags, 1);
		close_one(ctx);
	}
}

static void kernels_before_the_ioctl_get_a_write(void **state)
{
	static const uint8_t want[16] = { [4] = 12, [6] = 20 }, req[32] = { [8] = 1, [16] = 1, [24] = 3 };
	struct ibv_context *ctx;

	fake.no_ioctl = true;
	ctx = open_one();
	assert_int_equal(fake.writes, 1);
	assert_memory_equal(fake.written, want, 8);
	assert_memory_equal(fake.written + 16, req, sizeof(req));
	assert_int_equal(ctx->num_comp_vectors, 8);
	assert_int_equal(fake.fds, 2); /* the answer brought the second one */
	assert_int_equal(fcntl(ctx->async_fd, F_GETFD), FD_CLOEXEC);
	close_one(ctx);

	fake.request_max = 16;
	ctx = open_devx(first_device());
	assert_non_null(ctx);
	assert_int_equal(fake.written[4], 8); /* words */
	close_one(ctx);

	fake.no_devx = true;
	assert_null(open_devx(first_device()));
	assert_int_equal(errno, EOPNOTSUPP);
	ctx = ibv_open_device(first_device());
	assert_non_null(ctx);
	close_one(ctx);
}

static void firmware_without_devx(void **state)
{
	struct mlx5dv_context_attr none = { 0 };
	struct ibv_context *ctx;

	fake.no_devx = true;
	fake_device(0, "mlx5_0", NULL, GUID);
	assert_null(open_devx(first_device()));
	assert_int_equal(errno, EINVAL);
	assert_int_equal(fake.contexts, 3);
	assert_int_equal(fake.fds, 0);
	ctx = ibv_open_device(first_device());
	assert_non_null(ctx);
	assert_int_equal(fake.request_flags, 0);
	close_one(ctx);
	ctx = mlx5dv_open_device(first_device(), &none);
	assert_non_null(ctx);
	close_one(ctx);
	ctx = mlx5dv_open_device(first_device(), NULL);
	assert_non_null(ctx);
	close_one(ctx);
}

static void what_is_missing_has_an_errno_of_its_own(void **state)
{
	static const int errnos[] = { EACCES, EPERM, ENXIO, EIO, EMFILE };

	fake_device(0, "mlx5_0", NULL, GUID);
	for (size_t i = 0; i < sizeof(errnos) / sizeof(errnos[0]); i++) {
		fake.open_errno = errnos[i];
		assert_null(open_devx(first_device()));
		assert_int_equal(errno, errnos[i]);
	}
	fake.open_errno = 0;
	fake.wrong_node = true;
	assert_null(ibv_open_device(first_device()));
	assert_int_equal(errno, ENODEV);
	assert_int_equal(fake.ioctls, 0); /* another device is not asked anything */
	assert_int_equal(fake.fds, 0);
	fake.wrong_node = false;
	fake.err = EAGAIN; /* the device is not active yet */
	assert_null(open_devx(first_device()));
	assert_int_equal(errno, EAGAIN);
	fake.no_async_event = true;
	assert_null(open_devx(first_device()));
	assert_int_equal(errno, EPROTONOSUPPORT);
	fake_file("/dev/infiniband/uverbs0", NULL);
	assert_null(open_devx(first_device()));
	assert_int_equal(errno, ENOENT);
	assert_int_equal(fake.fds, 0);
}

/* Of newer headers. */
struct fd_arr {
	int *arr;
	uint32_t count;
};

struct context_attr {
	uint32_t flags;
	uint64_t comp_mask;
	struct fd_arr *fds;
};

static void user_capabilities_are_passed_on(void **state)
{
	int caps[3] = { 20, 21, 22 };
	struct fd_arr fds = { .arr = caps, .count = 3 };
	struct context_attr attr = { .flags = DEVX_FLAG, .comp_mask = 1, .fds = &fds };
	struct ibv_context *ctx;

	fake_device(0, "mlx5_0", NULL, GUID);
	ctx = mlx5dv_open_device(first_device(), (struct mlx5dv_context_attr *)&attr);
	assert_non_null(ctx);
	assert_int_equal(fake.n_fds, 3);
	fake.last = fake.context_frame;
	assert_int_equal(fake_attr(2)->len, sizeof(caps));
	assert_memory_equal(fake_attr(2)->bytes, caps, sizeof(caps));
	close_one(ctx);
	fds.count = 1; /* 4 bytes: they lie in the attribute */
	ctx = mlx5dv_open_device(first_device(), (struct mlx5dv_context_attr *)&attr);
	assert_non_null(ctx);
	fake.last = fake.context_frame;
	assert_memory_equal(fake_attr(2)->bytes, caps, sizeof(caps[0]));
	close_one(ctx);
	/* The older way cannot carry them: refused, not forgotten. */
	fake.no_ioctl = true;
	assert_null(mlx5dv_open_device(first_device(), (struct mlx5dv_context_attr *)&attr));
	assert_int_equal(errno, ENOTTY);
	assert_int_equal(fake.writes, 0);
	fds.count = 0;
	assert_null(mlx5dv_open_device(first_device(), (struct mlx5dv_context_attr *)&attr));
	assert_int_equal(errno, EINVAL);
}

static void a_closed_context_is_known(void **state)
{
	struct ibv_context *ctx = open_one();
	uint8_t box[16] = { 8, 0x0d };
	uint32_t eqn;

	close_one(ctx);
	fake.ioctls = 0;
	assert_int_equal(ibv_close_device(ctx), EBADF);
	assert_int_equal(mlx5dv_devx_general_cmd(ctx, box, 16, box, 16), EBADF);
	assert_int_equal(mlx5dv_devx_query_eqn(ctx, 0, &eqn), EBADF);
	assert_null(mlx5dv_devx_obj_create(ctx, box, 16, box, 16));
	assert_int_equal(errno, EBADF);
	assert_null(mlx5dv_devx_create_cmd_comp(ctx));
	assert_int_equal(errno, EBADF);
	assert_int_equal(fake.ioctls, 0);
}

static void soft_control_refuses_kernel_devices(void **state)
{
	struct ibv_device *dev;
	char spec[512];

	fake_device(0, "mlx5_0", NULL, GUID);
	dev = first_device();
	assert_int_equal(odx_soft_destroy(dev), ENODEV);
	assert_int_equal(odx_soft_hold(dev), ENODEV);
	assert_int_equal(odx_soft_release(dev, 1), ENODEV);
	assert_int_equal(odx_soft_remove(dev), ENODEV);
	assert_int_equal(odx_soft_fault(dev, "nth=1 hang"), ENODEV);
	assert_int_equal(odx_soft_advance(dev, 1), ENODEV);
	assert_int_equal(odx_soft_traffic(dev, 0, 1, 1), ENODEV);
	assert_int_equal(odx_soft_port(dev, 1, 0), ENODEV);
	assert_int_equal(odx_soft_spec(dev, spec, sizeof(spec)), ENODEV);
	assert_string_equal(first_device()->name, "mlx5_0");
}

int open_tests(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(devices_are_found_in_their_order),
		TEST(a_device_that_comes_back_is_the_same),
		TEST(what_sysfs_says_is_not_believed_blindly),
		TEST(an_open_asks_for_devx_and_dynamic_uars),
		TEST(older_drivers_get_shorter_requests),
		TEST(kernels_before_the_ioctl_get_a_write),
		TEST(firmware_without_devx),
		TEST(what_is_missing_has_an_errno_of_its_own),
		TEST(user_capabilities_are_passed_on),
		TEST(a_closed_context_is_known),
		TEST(soft_control_refuses_kernel_devices),
	};

	return cmocka_run_group_tests_name("uverbs: open", tests, NULL, NULL);
}
