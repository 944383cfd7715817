/* SPDX-License-Identifier: BSD-2-Clause */
/* Several handles of one object, and several contexts of ours on one of the kernel. */
#include "tests.h"

#include <opendevx/opendevx.h>
#include <opendevx/soft.h>
#include <pthread.h>
#include <sys/wait.h>

static uint8_t alloc[16] = { 0x09, 0x39 }, query[32] = { 0x09, 0x3b };

static struct mlx5dv_devx_obj *counter(struct ibv_context *ctx)
{
	uint8_t out[16];
	struct mlx5dv_devx_obj *obj = mlx5dv_devx_obj_create(ctx, alloc, sizeof(alloc), out, sizeof(out));

	assert_non_null(obj);
	return obj;
}

static int ask(struct mlx5dv_devx_obj *obj)
{
	uint8_t out[48];

	return mlx5dv_devx_obj_query(obj, query, sizeof(query), out, sizeof(out));
}

static void refused(struct ibv_context *ctx, void *data, int err)
{
	errno = 0;
	assert_null(mlx5dv_devx_obj_import(ctx, data));
	assert_int_equal(errno, err);
}

static void handles_of_one_object(void **state)
{
	struct ibv_context *ctx = open_one();
	struct mlx5dv_devx_obj *first = counter(ctx), *obj = counter(ctx), *again, *third;
	uint8_t data[48], more[48];

	assert_int_equal(mlx5dv_devx_obj_export(obj, data), 0);
	fake.ioctls = 0;
	again = mlx5dv_devx_obj_import(ctx, data);
	assert_non_null(again);
	assert_int_equal(fake.ioctls, 0); /* within the process it is known */
	assert_int_equal(mlx5dv_devx_obj_export(again, more), 0);
	third = mlx5dv_devx_obj_import(ctx, more);
	assert_int_equal(ask(third), 0);
	assert_int_equal(fake_attr(0x1000)->data, 1);
	fake.err = EBUSY;
	assert_int_equal(mlx5dv_devx_obj_destroy(again), EBUSY);
	assert_int_equal(ask(obj), 0);
	assert_int_equal(mlx5dv_devx_obj_destroy(again), 0);
	assert_int_equal(fake.handles, 1);
	/* The number is another object's now: nobody else may reach it by the old handles. */
	again = counter(ctx);
	fake.ioctls = 0;
	assert_int_equal(ask(obj), ENOENT);
	assert_int_equal(ask(third), ENOENT);
	assert_int_equal(mlx5dv_devx_obj_destroy(third), ENOENT);
	assert_int_equal(mlx5dv_devx_obj_destroy(obj), ENOENT);
	refused(ctx, data, ENOENT);
	refused(ctx, more, ENOENT);
	assert_int_equal(mlx5dv_devx_obj_export(obj, data), ENOENT);
	assert_int_equal(fake.ioctls, 0);
	mlx5dv_devx_obj_unimport(third);
	mlx5dv_devx_obj_unimport(obj);
	mlx5dv_devx_obj_unimport(obj);
	assert_int_equal(ask(again), 0);
	assert_int_equal(mlx5dv_devx_obj_destroy(first), 0);
	assert_int_equal(ibv_close_device(ctx), 0);
}

/* What is given up leaves the object alone; the last handle that is left ends it. */
static void given_up(void **state)
{
	struct ibv_context *ctx = open_one();
	struct mlx5dv_devx_obj *obj = counter(ctx), *again;
	uint8_t data[48];

	assert_int_equal(mlx5dv_devx_obj_export(obj, data), 0);
	again = mlx5dv_devx_obj_import(ctx, data);
	fake.ioctls = 0;
	mlx5dv_devx_obj_unimport(obj);
	assert_int_equal(fake.ioctls, 0);
	assert_int_equal(ask(obj), ENOENT);
	assert_int_equal(ask(again), 0);
	assert_int_equal(mlx5dv_devx_obj_destroy(again), 0);
	assert_int_equal(fake.handles, 0);
	again = counter(ctx);
	mlx5dv_devx_obj_unimport(again); /* nobody has it: the context's end is its end */
	assert_int_equal(fake.handles, 1);
	assert_int_equal(ibv_close_device(ctx), 0);
	assert_int_equal(fake.handles, 0);
}

static void umem_by_two_handles(void **state)
{
	static char buf[64];
	struct ibv_context *ctx = open_one();
	struct mlx5dv_devx_umem *umem = mlx5dv_devx_umem_reg(ctx, buf, 64, 1), *again;
	uint8_t data[48];

	umem->umem_id = 0x1234;
	assert_int_equal(mlx5dv_devx_umem_export(umem, data), 0);
	refused(ctx, data, EINVAL); /* of another kind */
	again = mlx5dv_devx_umem_import(ctx, data);
	assert_non_null(again);
	assert_int_equal(again->umem_id, 0x1234);
	assert_int_equal(mlx5dv_devx_umem_dereg(again), 0);
	assert_int_equal(mlx5dv_devx_umem_dereg(umem), ENOENT);
	assert_null(mlx5dv_devx_umem_import(ctx, data));
	assert_int_equal(errno, ENOENT);
	mlx5dv_devx_umem_unimport(umem);
	assert_int_equal(ibv_close_device(ctx), 0);
}

static void hostile_bytes(void **state)
{
	struct mlx5dv_context_attr attr = { .flags = MLX5DV_CONTEXT_FLAGS_DEVX };
	struct ibv_context *ctx = open_one(), *other = mlx5dv_open_device(first_device(), &attr);
	struct mlx5dv_devx_obj *obj = counter(ctx);
	uint8_t data[48];

	assert_int_equal(mlx5dv_devx_obj_export(obj, data), 0);
	for (unsigned int bit = 0; bit < 8 * sizeof(data); bit++) {
		data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		refused(ctx, data, EINVAL);
		data[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	refused(other, data, EINVAL);
	assert_int_equal(ibv_close_device(other), 0);
	refused(other, data, EBADF);
	memset(data, 0, sizeof(data));
	refused(ctx, data, EINVAL);
	assert_int_equal(ibv_close_device(ctx), 0);
}

/* src/transport/uverbs/device.c. A thread may be in the middle of a page when another one forks. */
extern pthread_mutex_t uverbs_uar_pools;
static bool pools_held;

static void at_fork(void)
{
	pools_held = pthread_mutex_trylock(&uverbs_uar_pools) == EBUSY;
	if (!pools_held)
		pthread_mutex_unlock(&uverbs_uar_pools);
}

/* Who is registered first is called last. */
__attribute__((constructor)) static void watch_fork(void)
{
	pthread_atfork(at_fork, NULL, NULL);
}

/* In a child the bytes of its parent are another process's: the kernel is asked whether it has such an object. */
static void bytes_of_another_process(void **state)
{
	struct ibv_context *ctx = open_one();
	struct mlx5dv_devx_obj *obj = counter(ctx), *again;
	uint8_t data[48];
	int status;
	pid_t pid;

	assert_int_equal(mlx5dv_devx_obj_export(obj, data), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid)
		goto parent;
	if (!mlx5dv_devx_alloc_uar(ctx, MLX5DV_UAR_ALLOC_TYPE_BF))
		_exit(5);
	fake.ioctls = 0;
	again = mlx5dv_devx_obj_import(ctx, data);
	if (!again || fake.ioctls != 1 || fake.last.method != 1 || fake_attr(0)->data != 0x1001)
		_exit(1);
	if (ask(again) || mlx5dv_devx_obj_destroy(again))
		_exit(2);
	if (mlx5dv_devx_obj_import(ctx, data) || errno != ENOENT)
		_exit(3);
	fake.no_info_handles = true; /* a kernel without the list: as libmlx5 */
	again = mlx5dv_devx_obj_import(ctx, data);
	if (!again || ask(again) != ENOENT)
		_exit(4);
	_exit(0);
parent:
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_true(pools_held);
	assert_int_equal(ibv_close_device(ctx), 0);
}

/* --- contexts --- */

/* What a program has of rdma-core: a struct of somebody else's, with a descriptor. */
static struct ibv_context foreign(struct ibv_context *opened)
{
	return (struct ibv_context){ .cmd_fd = opened->cmd_fd, .async_fd = -1 };
}

static void context_of_somebody_else(void **state)
{
	struct ibv_context *opened = open_one(), theirs = foreign(opened), *ours, *second;
	unsigned int fds = fake.fds, handles;
	struct mlx5dv_devx_obj *obj, *again;
	struct mlx5dv_devx_uar *uar;
	uint8_t data[48];

	fake.vectors = 5;
	fake.bf_reg_size = 0x100;
	ours = odx_import_context(&theirs);
	assert_non_null(ours);
	assert_int_equal(fake.fds, fds + 2);
	assert_int_equal(fake.last.object, 0x10); /* its own descriptor of events; before: */
	assert_int_equal(ours->num_comp_vectors, 5);
	assert_int_not_equal(ours->cmd_fd, theirs.cmd_fd);
	assert_string_equal(ibv_get_device_name(ours->device), "mlx5_0");
	obj = counter(ours);
	assert_int_equal(ask(obj), 0);
	/* The same kernel context again: exports go both ways, and events too. */
	second = odx_import_context(&theirs);
	assert_int_equal(mlx5dv_devx_obj_export(obj, data), 0);
	again = mlx5dv_devx_obj_import(second, data);
	assert_non_null(again);
	refused(opened, data, EINVAL); /* that it is the same one, nobody told us */
	uar = mlx5dv_devx_alloc_uar(ours, MLX5DV_UAR_ALLOC_TYPE_BF);
	assert_int_equal((char *)mlx5dv_devx_alloc_uar(ours, MLX5DV_UAR_ALLOC_TYPE_BF)->reg_addr - (char *)uar->reg_addr, 0x100);
	handles = fake.handles;
	assert_int_equal(ibv_close_device(ours), 0);
	assert_int_equal(fake.handles, handles - 1); /* the page; the object lives on */
	assert_int_equal(fake.maps, 0);
	assert_int_equal(ask(obj), ENOENT);
	assert_int_equal(ask(again), 0);
	assert_int_equal(ibv_close_device(second), 0);
	assert_int_equal(fake.handles, handles - 1);
	assert_int_equal(fake.fds, fds);
	assert_int_equal(mlx5dv_devx_obj_destroy(counter(opened)), 0);
	assert_int_equal(ibv_close_device(opened), 0);
	assert_int_equal(fake.handles, 0);
}

static void theirs_is_closed_first(void **state)
{
	struct ibv_context *opened = open_one(), *ours;
	struct mlx5dv_devx_obj *obj;
	uint8_t data[48];

	ours = odx_import_context(opened); /* one of our own is as good */
	assert_non_null(ours);
	assert_int_equal(fake.contexts, 1);
	obj = counter(opened);
	assert_int_equal(mlx5dv_devx_obj_export(obj, data), 0);
	assert_int_equal(ibv_close_device(opened), 0);
	assert_int_equal(fake.handles, 1);
	assert_int_equal(ask(obj), ENOENT);
	refused(ours, data, ENOENT); /* the handle that was exported is dead */
	assert_int_equal(mlx5dv_devx_obj_destroy(counter(ours)), 0);
	assert_int_equal(ibv_close_device(ours), 0);
	assert_int_equal(fake.handles, 0);
	assert_int_equal(fake.fds, 0);
	assert_null(odx_import_context(ours));
	assert_int_equal(errno, EBADF);
}

static void import_refused(struct ibv_context *theirs, int err)
{
	unsigned int fds = fake.fds;

	errno = 0;
	assert_null(odx_import_context(theirs));
	assert_int_equal(errno, err);
	assert_int_equal(fake.fds, fds);
}

static void contexts_that_cannot_be_shared(void **state)
{
	struct ibv_context *opened = open_one(), theirs = foreign(opened), *ctx;
	struct ibv_device *soft = odx_soft_create("");

	import_refused(NULL, EINVAL);
	theirs.cmd_fd = -1; /* as of VFIO */
	import_refused(&theirs, EBADF);
	theirs = foreign(opened);
	fake.no_query_context = true;
	import_refused(&theirs, EOPNOTSUPP);
	fake.no_query_context = false;
	fake.no_async_event = true;
	import_refused(&theirs, EPROTONOSUPPORT);
	fake.no_async_event = false;
	fake.removed = true;
	import_refused(&theirs, EIO);
	fake.removed = false;
	fake.wrong_node = true; /* a node that sysfs does not know */
	import_refused(&theirs, ENODEV);
	fake.wrong_node = false;
	theirs.cmd_fd = open("/dev/null", O_RDONLY);
	import_refused(&theirs, ENODEV);
	close(theirs.cmd_fd);
	assert_non_null(soft);
	ctx = ibv_open_device(soft);
	import_refused(ctx, EOPNOTSUPP);
	assert_int_equal(ibv_close_device(ctx), 0);
	assert_int_equal(odx_soft_destroy(soft), 0);
	assert_int_equal(ibv_close_device(opened), 0);
}

int import_tests(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(handles_of_one_object), TEST(given_up), TEST(umem_by_two_handles), TEST(hostile_bytes),
		TEST(bytes_of_another_process), TEST(context_of_somebody_else), TEST(theirs_is_closed_first),
		TEST(contexts_that_cannot_be_shared),
	};

	return cmocka_run_group_tests_name("uverbs: import", tests, NULL, NULL);
}
