/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls that a software context does not have are refused, each in its function's own way, and so is NULL. */
#include <dlfcn.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <opendevx/soft.h>

#include "table.h"

static struct ibv_device *dev;
static struct ibv_context *ctx;
static struct mlx5dv_devx_obj *obj;

static int setup(void **state)
{
	uint8_t in[16] = { 0x09, 0x39 }, out[16];

	dev = odx_soft_create("");
	ctx = dev ? mlx5dv_open_device(dev, NULL) : NULL;
	obj = ctx ? mlx5dv_devx_obj_create(ctx, in, sizeof(in), out, sizeof(out)) : NULL;
	return obj ? 0 : -1;
}

static int teardown(void **state)
{
	return mlx5dv_devx_obj_destroy(obj) || ibv_close_device(ctx) || odx_soft_destroy(dev);
}

static void check(const struct row *row, void *handle, int err)
{
	static const long none[6];
	long ret;

	errno = 0;
	ret = call(row, handle, none);
	if (!failed(row->conv, ret, err))
		fail_msg("%s gave %ld, errno %d; not %d", row->name, ret, errno, err);
}

static void every_call_on_a_software_device(void **state)
{
	struct object o = { .context = ctx };
	void *handle[] = { [CTX] = ctx, [OBJ] = &o, [QPEX] = &o, [DEV] = dev, [DEVX] = obj };

	for (size_t i = 0; i < N_ROWS; i++)
		if (rows[i].kind != NEVER)
			check(&rows[i], handle[rows[i].kind], EOPNOTSUPP);
}

/* A closed context is still ours: it must not reach rdma-core. */
static void every_call_on_a_closed_context(void **state)
{
	struct ibv_context *closed = ibv_open_device(dev);
	struct object o = { .context = closed };

	assert_non_null(closed);
	assert_int_equal(ibv_close_device(closed), 0);
	for (size_t i = 0; i < N_ROWS; i++) {
		if (rows[i].kind == CTX)
			check(&rows[i], closed, EOPNOTSUPP);
		if (rows[i].kind == OBJ || rows[i].kind == QPEX)
			check(&rows[i], &o, EOPNOTSUPP);
	}
}

static void every_call_on_null(void **state)
{
	static const long none[6];

	for (size_t i = 0; i < N_ROWS; i++) {
		if (rows[i].conv == DEL)
			assert_int_equal((int)call(&rows[i], NULL, none), 0);
		else if (rows[i].conv == VOID)
			call(&rows[i], NULL, none);
		else
			check(&rows[i], NULL, EINVAL);
	}
}

#define REFUSED(call, err)                                                                                         \
	do {                                                                                                       \
		errno = 0;                                                                                         \
		assert_null(call);                                                                                 \
		assert_int_equal(errno, err);                                                                      \
	} while (0)

static void handles_inside_arguments(void **state)
{
	struct object o = { .context = ctx }, foreign = { 0 };
	struct mlx5dv_mkey_init_attr mkey = { .pd = (struct ibv_pd *)&o };
	struct mlx5dv_flow_action_attr action = { .type = MLX5DV_FLOW_ACTION_COUNTERS_DEVX, .obj = obj };
	struct mlx5dv_pd out;
	struct mlx5dv_obj init = { .pd = { (struct ibv_pd *)&o, &out } };
	uint16_t event = 0;

	REFUSED(mlx5dv_create_mkey(&mkey), EOPNOTSUPP);
	REFUSED(mlx5dv_create_mkey(NULL), EINVAL);
	mkey.pd = NULL;
	REFUSED(mlx5dv_create_mkey(&mkey), EINVAL);
	REFUSED(mlx5dv_create_flow((void *)&foreign, NULL, 1, &action), EOPNOTSUPP);
	action.type = MLX5DV_FLOW_ACTION_DEST_DEVX;
	REFUSED(mlx5dv_create_flow((void *)&foreign, NULL, 1, &action), EOPNOTSUPP);
	REFUSED(mlx5dv_create_flow(NULL, NULL, 1, &action), EINVAL);
	REFUSED(mlx5dv_create_flow((void *)&foreign, NULL, 1, NULL), EINVAL);
	REFUSED(mlx5dv_dr_action_create_aso((void *)&foreign, obj, 0, 0, 0), EOPNOTSUPP);
	REFUSED(mlx5dv_dr_action_create_aso((void *)&foreign, NULL, 0, 0, 0), EINVAL);
	assert_int_equal(mlx5dv_init_obj(&init, MLX5DV_OBJ_PD), EOPNOTSUPP);
	assert_int_equal(mlx5dv_init_obj(NULL, MLX5DV_OBJ_PD), EINVAL);
	assert_int_equal(mlx5dv_init_obj(&init, MLX5DV_OBJ_QP), EINVAL);
	assert_int_equal(mlx5dv_devx_subscribe_devx_event((void *)&foreign, obj, 2, &event, 0), ENOENT);
	assert_int_equal(mlx5dv_devx_subscribe_devx_event(NULL, obj, 2, &event, 0), EINVAL);
	assert_int_equal(mlx5dv_devx_subscribe_devx_event_fd((void *)&foreign, 0, obj, 0), ENOENT);
	assert_int_equal(mlx5dv_devx_subscribe_devx_event_fd(NULL, 0, obj, 0), EINVAL);
}

static void events_of_nobody(void **state)
{
	struct mlx5dv_devx_async_event_hdr hdr;
	struct ibv_async_event event = { .event_type = IBV_EVENT_PORT_ERR };

	REFUSED(mlx5dv_devx_create_event_channel(NULL, 0), EINVAL);
	errno = 0;
	assert_int_equal(mlx5dv_devx_get_event(NULL, &hdr, sizeof(hdr)), -1);
	assert_int_equal(errno, EINVAL);
	mlx5dv_devx_destroy_event_channel(NULL);
	errno = 0;
	assert_int_equal(ibv_get_async_event(NULL, &event), -1);
	assert_int_equal(errno, EINVAL);
	errno = 0;
	assert_int_equal(ibv_get_async_event(ctx, NULL), -1);
	assert_int_equal(errno, EINVAL);
	ibv_ack_async_event(NULL);
	ibv_ack_async_event(&event);
}

static void front_door_null(void **state)
{
	REFUSED(ibv_open_device(NULL), EINVAL);
	REFUSED(mlx5dv_open_device(NULL, NULL), EINVAL);
	REFUSED(ibv_get_device_name(NULL), EINVAL);
	errno = 0;
	assert_int_equal(ibv_get_device_guid(NULL), 0);
	assert_int_equal(errno, EINVAL);
	assert_false(mlx5dv_is_supported(NULL));
	assert_int_equal(ibv_close_device(NULL), 0);
	ibv_free_device_list(NULL);
}

/* mlx5dv_context_attr as newer headers have it. */
struct fd_arr {
	int *arr;
	uint32_t count;
};

struct attr {
	uint32_t flags;
	uint64_t comp_mask;
	struct fd_arr *fds;
};

static void open_with(uint32_t flags, uint64_t comp_mask, struct fd_arr *fds, int err)
{
	struct attr a = { .flags = flags, .comp_mask = comp_mask, .fds = fds };
	struct ibv_context *c;

	errno = 0;
	c = mlx5dv_open_device(dev, (struct mlx5dv_context_attr *)&a);
	if (err) {
		assert_null(c);
		assert_int_equal(errno, err);
		return;
	}
	assert_non_null(c);
	assert_ptr_equal(c->device, dev);
	assert_int_equal(ibv_close_device(c), 0);
}

static void open_checks_its_attributes(void **state)
{
	int open_fd = open("/dev/null", O_RDONLY | O_CLOEXEC), path_fd = open("/", O_PATH | O_CLOEXEC);
	int good[] = { open_fd, -1 }, bad[] = { -1 }, path[] = { path_fd };
	struct fd_arr fds;

	assert_true(open_fd >= 0 && path_fd >= 0);
	open_with(0, 0, NULL, 0);
	open_with(MLX5DV_CONTEXT_FLAGS_DEVX, 0, NULL, 0);
	open_with(2, 0, NULL, EINVAL);
	open_with(MLX5DV_CONTEXT_FLAGS_DEVX | 1u << 31, 0, NULL, EINVAL);
	open_with(0, 2, NULL, EINVAL);
	open_with(0, 1ull << 63, NULL, EINVAL);
	open_with(0, 0, (struct fd_arr *)8, 0); /* not looked at without its bit */
	open_with(0, 1, NULL, 0);
	fds = (struct fd_arr){ good, 1 };
	open_with(MLX5DV_CONTEXT_FLAGS_DEVX, 1, &fds, EINVAL);
	fds = (struct fd_arr){ good, 0 };
	open_with(0, 1, &fds, EINVAL);
	fds = (struct fd_arr){ NULL, 1 };
	open_with(0, 1, &fds, EINVAL);
	fds = (struct fd_arr){ bad, 1 };
	open_with(0, 1, &fds, EBADF);
	fds = (struct fd_arr){ path, 1 };
	open_with(0, 1, &fds, EBADF);
	fds = (struct fd_arr){ bad, 16384 }; /* longer than an attribute can be: not read at all */
	open_with(0, 1, &fds, EINVAL);
	close(open_fd);
	close(path_fd);
}

/* The struct of older headers ends before the array. */
static void open_reads_only_the_older_struct(void **state)
{
	struct mlx5dv_context_attr *a = malloc(sizeof(*a)); /* ASan and valgrind see a read behind it */
	struct ibv_context *c;

	assert_non_null(a);
	memset(a, 0, sizeof(*a));
	c = mlx5dv_open_device(dev, a);
	assert_non_null(c);
	assert_int_equal(ibv_close_device(c), 0);
	free(a);
}

static void a_destroyed_device(void **state)
{
	struct ibv_device *gone = odx_soft_create("");
	struct mlx5dv_context_attr devx = { .flags = MLX5DV_CONTEXT_FLAGS_DEVX };

	assert_non_null(gone);
	assert_int_equal(odx_soft_destroy(gone), 0);
	REFUSED(ibv_open_device(gone), ENODEV);
	REFUSED(mlx5dv_open_device(gone, &devx), ENODEV);
	assert_true(mlx5dv_is_supported(gone)); /* still ours: rdma-core must not see it */
	assert_non_null(ibv_get_device_name(gone));
	errno = 0;
	assert_int_equal(ibv_get_device_guid(gone), 0);
	assert_int_equal(errno, ENODEV);
}

/* A pointer that nobody made, with no rdma-core that could know it. */
static void foreign_handles_without_rdma_core(void **state)
{
	struct object o = { 0 };
	void *handle[] = { [CTX] = &o, [OBJ] = &o, [QPEX] = &o, [DEV] = &o, [DEVX] = &o, [NEVER] = &o };

	o.context = (struct ibv_context *)&o;
	for (size_t i = 0; i < N_ROWS; i++)
		check(&rows[i], handle[rows[i].kind], EOPNOTSUPP);
	REFUSED(ibv_open_device((struct ibv_device *)&o), EINVAL);
	REFUSED(mlx5dv_open_device((struct ibv_device *)&o, NULL), EOPNOTSUPP);
	REFUSED(ibv_get_device_name((struct ibv_device *)&o), EINVAL);
	assert_false(mlx5dv_is_supported((struct ibv_device *)&o));
	assert_int_equal(ibv_close_device((struct ibv_context *)&o), EINVAL);
	ibv_free_device_list((struct ibv_device **)&o);
}

static void foreign_channels_without_rdma_core(void **state)
{
	struct mlx5dv_devx_event_channel nobodys = { .fd = -1 };
	struct mlx5dv_devx_async_event_hdr hdr;
	uint16_t port_change = 9;

	errno = 0;
	assert_int_equal(mlx5dv_devx_get_event(&nobodys, &hdr, sizeof(hdr)), -1);
	assert_int_equal(errno, EINVAL);
	mlx5dv_devx_destroy_event_channel(&nobodys);
	assert_int_equal(mlx5dv_devx_subscribe_devx_event(&nobodys, NULL, sizeof(port_change), &port_change, 0), EINVAL);
	assert_int_equal(mlx5dv_devx_subscribe_devx_event_fd(&nobodys, 0, NULL, port_change), EINVAL);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_call_on_a_software_device),
		cmocka_unit_test(every_call_on_a_closed_context),
		cmocka_unit_test(every_call_on_null),
		cmocka_unit_test(handles_inside_arguments),
		cmocka_unit_test(events_of_nobody),
		cmocka_unit_test(front_door_null),
		cmocka_unit_test(open_checks_its_attributes),
		cmocka_unit_test(open_reads_only_the_older_struct),
		cmocka_unit_test(a_destroyed_device),
	};
	const struct CMUnitTest alone[] = {
		cmocka_unit_test(foreign_handles_without_rdma_core),
		cmocka_unit_test(foreign_channels_without_rdma_core),
	};
	bool without = argc > 1 && !strcmp(argv[1], "alone");
	int ret = 0;

	if (without != !dlopen("libmlx5.so.1", RTLD_NOLOAD | RTLD_LAZY))
		return 2;
	ret |= cmocka_run_group_tests(tests, setup, teardown);
	if (without)
		ret |= cmocka_run_group_tests(alone, NULL, NULL);
	return ret;
}
