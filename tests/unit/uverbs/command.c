/* SPDX-License-Identifier: BSD-2-Clause */
/* Commands on a context of the kernel: each frame byte for byte, each errno as it comes, and handles that are dead. */
#include "tests.h"

static const int errnos[] = { EINVAL, EIO, ENOMEM, EAGAIN, EBUSY, ENXIO, ETIMEDOUT, ECANCELED, ENOLINK, EFAULT };
#define N_ERRNOS (sizeof(errnos) / sizeof(errnos[0]))

static uint8_t nop[16] = { 0x08, 0x0d };
static uint8_t alloc[16] = { 0x09, 0x39 };                              /* ALLOC_FLOW_COUNTER */
static uint8_t query[32] = { 0x09, 0x3b, [28] = 0x12, 0x34, 0x56, 0x78 }; /* QUERY_FLOW_COUNTER */

static struct mlx5dv_devx_obj *counter(struct ibv_context *ctx)
{
	uint8_t out[16];
	struct mlx5dv_devx_obj *obj = mlx5dv_devx_obj_create(ctx, alloc, sizeof(alloc), out, sizeof(out));

	assert_non_null(obj);
	return obj;
}

static void close_all(struct ibv_context *ctx)
{
	assert_int_equal(ibv_close_device(ctx), 0);
}

static void check_box(uint16_t id, const void *p, size_t len)
{
	assert_int_equal(fake_attr(id)->len, len);
	assert_int_equal(fake_attr(id)->data, (uintptr_t)p);
}

static void general_command(void **state)
{
	struct ibv_context *ctx = open_one();
	static uint8_t big[65536];
	uint8_t out[64];

	memcpy(fake.outbox, "\0\0\0\0\1\2\3\4answer..", 16);
	assert_int_equal(mlx5dv_devx_general_cmd(ctx, nop, sizeof(nop), out, sizeof(out)), 0);
	assert_int_equal(fake.last.object, 0x1000);
	assert_int_equal(fake.last.method, 0x1000);
	assert_int_equal(fake.last.n, 2);
	check_box(0x1000, nop, sizeof(nop));
	check_box(0x1001, out, sizeof(out));
	assert_memory_equal(out + 8, "answer..", 8);
	memcpy(big, nop, sizeof(nop));
	assert_int_equal(mlx5dv_devx_general_cmd(ctx, big, 65535, big, 65535), 0);
	fake.ioctls = 0;
	assert_int_equal(mlx5dv_devx_general_cmd(ctx, big, 65536, out, 16), EINVAL);
	assert_int_equal(mlx5dv_devx_general_cmd(ctx, big, 16, big, 65536), EINVAL);
	assert_int_equal(mlx5dv_devx_general_cmd(ctx, nop, 15, out, 16), EINVAL);
	assert_int_equal(mlx5dv_devx_general_cmd(ctx, nop, 8, out, 16), EINVAL);
	assert_int_equal(mlx5dv_devx_general_cmd(ctx, nop, 16, out, 15), EINVAL);
	assert_int_equal(mlx5dv_devx_general_cmd(ctx, NULL, 16, out, 16), EINVAL);
	assert_int_equal(mlx5dv_devx_general_cmd(ctx, nop, 16, NULL, 16), EINVAL);
	assert_int_equal(fake.ioctls, 0);
	close_all(ctx);
}

static void errnos_come_as_they_are(void **state)
{
	struct ibv_context *ctx = open_one();
	struct mlx5dv_devx_obj *obj = counter(ctx);
	struct mlx5dv_devx_cmd_comp *comp = mlx5dv_devx_create_cmd_comp(ctx);
	uint8_t out[48];
	uint32_t eqn = 77;

	assert_non_null(comp);
	for (size_t i = 0; i < N_ERRNOS; i++) {
		int err = errnos[i];

#define REFUSED(call)                                                                                                          \
	do {                                                                                                                   \
		fake.err = err;                                                                                                \
		errno = 0;                                                                                                     \
		assert_int_equal(call, err);                                                                                   \
		assert_int_equal(errno, err);                                                                                  \
	} while (0)
		REFUSED(mlx5dv_devx_general_cmd(ctx, nop, sizeof(nop), out, sizeof(out)));
		REFUSED(mlx5dv_devx_query_eqn(ctx, 0, &eqn));
		REFUSED(mlx5dv_devx_obj_query(obj, query, sizeof(query), out, sizeof(out)));
		REFUSED(mlx5dv_devx_obj_modify(obj, query, sizeof(query), out, sizeof(out)));
		REFUSED(mlx5dv_devx_obj_query_async(obj, query, sizeof(query), 32, 1, comp));
		REFUSED(mlx5dv_devx_obj_destroy(obj)); /* and it lives on */
		fake.err = err;
		assert_null(mlx5dv_devx_obj_create(ctx, alloc, sizeof(alloc), out, sizeof(out)));
		assert_int_equal(errno, err);
		fake.err = err;
		assert_null(mlx5dv_devx_create_cmd_comp(ctx));
		assert_int_equal(errno, err);
	}
	assert_int_equal(eqn, 77);
	assert_int_equal(fake.handles, 1);
	assert_int_equal(mlx5dv_devx_obj_destroy(obj), 0);
	mlx5dv_devx_destroy_cmd_comp(comp);
	close_all(ctx);
}

static void failure_of_the_firmware_brings_the_outbox(void **state)
{
	struct ibv_context *ctx = open_one();
	struct mlx5dv_devx_obj *obj = counter(ctx);
	uint8_t out[48];

	memcpy(fake.outbox, "\x03\0\0\0\x12\x34\x56\x78", 8);
	fake.outbox_anyway = true;
	fake.err = EREMOTEIO;
	assert_int_equal(mlx5dv_devx_general_cmd(ctx, nop, sizeof(nop), out, sizeof(out)), EREMOTEIO);
	assert_memory_equal(out, fake.outbox, 8);
	memset(out, 0, sizeof(out));
	fake.err = EREMOTEIO;
	assert_null(mlx5dv_devx_obj_create(ctx, alloc, sizeof(alloc), out, sizeof(out)));
	assert_int_equal(errno, EREMOTEIO);
	assert_memory_equal(out, fake.outbox, 8);
	memset(out, 0, sizeof(out));
	fake.err = EREMOTEIO;
	assert_int_equal(mlx5dv_devx_obj_query(obj, query, sizeof(query), out, sizeof(out)), EREMOTEIO);
	assert_memory_equal(out, fake.outbox, 8);
	fake.outbox_anyway = false;
	assert_int_equal(mlx5dv_devx_obj_destroy(obj), 0);
	close_all(ctx);
}

static void eq_numbers(void **state)
{
	struct ibv_context *ctx = open_one();
	uint32_t eqn;

	assert_int_equal(mlx5dv_devx_query_eqn(ctx, 3, &eqn), 0);
	assert_int_equal(eqn, 8);
	assert_int_equal(fake.last.object, 0x1000);
	assert_int_equal(fake.last.method, 0x1002);
	assert_int_equal(fake_attr(0x1000)->data, 3);
	check_box(0x1001, &eqn, 4);
	assert_int_equal(mlx5dv_devx_query_eqn(ctx, 8, &eqn), EINVAL);
	assert_int_equal(mlx5dv_devx_query_eqn(ctx, 0, NULL), EINVAL);
	close_all(ctx);
}

static void object_from_create_to_destroy(void **state)
{
	struct ibv_context *ctx = open_one();
	struct mlx5dv_devx_obj *first = counter(ctx), *obj; /* the first has handle 0, which is a handle as any other */
	uint8_t out[48], modify[32] = { 0x09, 0x3c };

	obj = mlx5dv_devx_obj_create(ctx, alloc, sizeof(alloc), out, sizeof(out));
	assert_int_equal(fake.last.object, 0x1001);
	assert_int_equal(fake.last.method, 0x1000);
	assert_int_equal(fake.last.n, 3);
	check_box(0x1001, alloc, sizeof(alloc));
	check_box(0x1002, out, sizeof(out));
	assert_ptr_equal(*(struct ibv_context **)obj, ctx);

	assert_int_equal(mlx5dv_devx_obj_query(obj, query, sizeof(query), out, sizeof(out)), 0);
	assert_int_equal(fake.last.method, 0x1003);
	assert_int_equal(fake_attr(0x1000)->data, 1);
	check_box(0x1001, query, sizeof(query));
	check_box(0x1002, out, sizeof(out));
	assert_int_equal(mlx5dv_devx_obj_modify(first, modify, sizeof(modify), out, sizeof(out)), 0);
	assert_int_equal(fake.last.method, 0x1002);
	assert_int_equal(fake_attr(0x1000)->data, 0);
	check_box(0x1001, modify, sizeof(modify));
	check_box(0x1002, out, sizeof(out));

	assert_int_equal(mlx5dv_devx_obj_destroy(obj), 0);
	assert_int_equal(fake.last.method, 0x1001);
	assert_int_equal(fake_attr(0x1000)->data, 1);
	assert_int_equal(fake.handles, 1);
	fake.ioctls = 0;
	assert_int_equal(mlx5dv_devx_obj_destroy(obj), ENOENT);
	assert_int_equal(mlx5dv_devx_obj_query(obj, query, sizeof(query), out, sizeof(out)), ENOENT);
	assert_int_equal(mlx5dv_devx_obj_modify(obj, query, sizeof(query), out, sizeof(out)), ENOENT);
	assert_int_equal(fake.ioctls, 0);
	close_all(ctx); /* the first is left to the kernel */
	assert_int_equal(mlx5dv_devx_obj_query(first, query, sizeof(query), out, sizeof(out)), ENOENT);
}

static void an_inbox_without_its_id_is_refused(void **state)
{
	struct ibv_context *ctx = open_one();
	struct mlx5dv_devx_obj *obj = counter(ctx);
	struct mlx5dv_devx_cmd_comp *comp = mlx5dv_devx_create_cmd_comp(ctx);
	uint8_t out[48], unknown[16] = { 0x0f, 0xff };

	fake.ioctls = 0;
	for (size_t len = 16; len < 32; len++) {
		assert_int_equal(mlx5dv_devx_obj_query(obj, query, len, out, sizeof(out)), EINVAL);
		assert_int_equal(mlx5dv_devx_obj_query_async(obj, query, len, 16, 1, comp), EINVAL);
	}
	assert_int_equal(fake.ioctls, 0);
	/* What we do not know the kernel may. */
	assert_int_equal(mlx5dv_devx_obj_query(obj, unknown, 16, out, sizeof(out)), 0);
	assert_int_equal(fake.ioctls, 1);
	mlx5dv_devx_destroy_cmd_comp(comp);
	close_all(ctx);
}

static void asynchronous_query(void **state)
{
	struct ibv_context *ctx = open_one();
	struct mlx5dv_devx_obj *obj = counter(ctx);
	struct mlx5dv_devx_cmd_comp *comp = mlx5dv_devx_create_cmd_comp(ctx), other;
	struct {
		uint64_t wr_id;
		uint8_t out[48];
	} rec;

	assert_int_equal(fake.last.object, 0x1004);
	assert_int_equal(mlx5dv_devx_obj_query_async(obj, query, sizeof(query), 32, UINT64_C(0x1122334455667788), comp), 0);
	assert_int_equal(fake.last.object, 0x1001);
	assert_int_equal(fake.last.method, 0x1004);
	assert_int_equal(fake.last.n, 5);
	assert_int_equal(fake_attr(0x1000)->data, 0);
	check_box(0x1001, query, sizeof(query));
	assert_int_equal(fake_attr(0x1002)->data, comp->fd);
	assert_int_equal(fake_attr(0x1003)->data, UINT64_C(0x1122334455667788));
	assert_int_equal(fake_attr(0x1003)->len, 8);
	assert_int_equal(fake_attr(0x1004)->data, 32);
	for (unsigned int i = 0; i < 5; i++)
		assert_int_equal(fake.last.attrs[i].id, 0x1000 + i);

	assert_int_equal(mlx5dv_devx_get_async_cmd_comp(comp, (void *)&rec, sizeof(rec)), EAGAIN);
	assert_true(fake_answer(comp->fd, "\0\0\0\0\0\0\0\0counters", 16));
	memset(&rec, 0xa5, sizeof(rec));
	assert_int_equal(mlx5dv_devx_get_async_cmd_comp(comp, (void *)&rec, 39), ENOSPC);
	assert_int_equal(rec.wr_id, UINT64_C(0xa5a5a5a5a5a5a5a5));
	assert_int_equal(mlx5dv_devx_get_async_cmd_comp(comp, (void *)&rec, 0), ENOSPC);
	assert_int_equal(mlx5dv_devx_get_async_cmd_comp(comp, (void *)&rec, sizeof(rec)), 0);
	assert_int_equal(rec.wr_id, UINT64_C(0x1122334455667788));
	assert_memory_equal(rec.out + 8, "counters", 8);
	assert_int_equal(rec.out[32], 0xa5);

	/* A struct of the program's own with that descriptor is as good. */
	other.fd = comp->fd;
	assert_int_equal(mlx5dv_devx_obj_query_async(obj, query, sizeof(query), 16, 2, &other), 0);
	assert_int_equal(mlx5dv_devx_obj_query_async(obj, query, sizeof(query), 65535, 2, comp), 0);
	assert_int_equal(mlx5dv_devx_obj_query_async(obj, query, sizeof(query), 65536, 2, comp), EINVAL);
	assert_int_equal(mlx5dv_devx_obj_query_async(obj, query, 15, 16, 2, comp), EINVAL);
	assert_int_equal(mlx5dv_devx_obj_query_async(obj, NULL, 32, 16, 2, comp), EINVAL);
	assert_true(fake_answer(comp->fd, "\0\0\0\0\0\0\0\0counters", 16));
	assert_int_equal(mlx5dv_devx_get_async_cmd_comp(&other, (void *)&rec, sizeof(rec)), 0);
	assert_int_equal(rec.wr_id, 2);
	assert_int_equal(mlx5dv_devx_get_async_cmd_comp(&other, (void *)&rec, sizeof(rec)), EAGAIN);
	assert_int_equal(mlx5dv_devx_get_async_cmd_comp(&other, NULL, sizeof(rec)), EINVAL);
	other.fd = ctx->async_fd; /* and another kind of descriptor is none */
	assert_int_equal(mlx5dv_devx_get_async_cmd_comp(&other, (void *)&rec, sizeof(rec)), EINVAL);
	other.fd = -1;
	assert_int_equal(mlx5dv_devx_get_async_cmd_comp(&other, (void *)&rec, sizeof(rec)), EINVAL);
	assert_int_equal(mlx5dv_devx_obj_query_async(obj, query, sizeof(query), 16, 2, &other), EINVAL);
	other.fd = ctx->cmd_fd;
	assert_int_equal(mlx5dv_devx_obj_query_async(obj, query, sizeof(query), 16, 2, &other), EBADF);
	assert_int_equal(mlx5dv_devx_get_async_cmd_comp(comp, NULL, sizeof(rec)), EINVAL);
	assert_int_equal(fake_waiting(comp->fd), 1);
	mlx5dv_devx_destroy_cmd_comp(comp);
	assert_int_equal(mlx5dv_devx_obj_query_async(obj, query, sizeof(query), 16, 2, comp), EBADF);
	assert_int_equal(mlx5dv_devx_get_async_cmd_comp(comp, (void *)&rec, sizeof(rec)), EBADF);
	mlx5dv_devx_destroy_cmd_comp(comp); /* again: nothing */
	close_all(ctx);
}

static void a_destroyed_completion_closes_no_foreign_descriptor(void **state)
{
	struct ibv_context *ctx = open_one();
	struct mlx5dv_devx_cmd_comp *comp = mlx5dv_devx_create_cmd_comp(ctx);
	int fd = comp->fd, again;

	mlx5dv_devx_destroy_cmd_comp(comp);
	again = dup(ctx->cmd_fd);
	assert_int_equal(again, fd);
	mlx5dv_devx_destroy_cmd_comp(comp);
	assert_int_equal(fcntl(again, F_GETFD), 0);
	assert_int_equal(close(again), 0);
	close_all(ctx);
}

static void foreign_handles(void **state)
{
	struct ibv_context *ctx = open_one(), *two;
	struct mlx5dv_devx_obj *obj = counter(ctx);
	struct mlx5dv_devx_cmd_comp *comp;
	struct { struct ibv_context *context; } made_up = { ctx };

	two = mlx5dv_open_device(ctx->device, &(struct mlx5dv_context_attr){ .flags = MLX5DV_CONTEXT_FLAGS_DEVX });
	assert_non_null(two);
	comp = mlx5dv_devx_create_cmd_comp(two);
	assert_int_equal(mlx5dv_devx_obj_query_async(obj, query, sizeof(query), 16, 2, comp), EBADF);
	fake.ioctls = 0;
	assert_int_equal(mlx5dv_devx_obj_destroy((void *)&made_up), EINVAL);
	assert_int_equal(mlx5dv_devx_obj_destroy((void *)((char *)obj + 8)), EINVAL);
	assert_int_equal(fake.ioctls, 0);
	mlx5dv_devx_destroy_cmd_comp(comp);
	close_all(two);
	close_all(ctx);
}

static void a_removed_device(void **state)
{
	struct ibv_context *ctx = open_one();
	struct mlx5dv_devx_obj *obj = counter(ctx);
	uint8_t out[48];

	fake.removed = true;
	assert_int_equal(mlx5dv_devx_general_cmd(ctx, nop, sizeof(nop), out, sizeof(out)), EIO);
	assert_int_equal(mlx5dv_devx_obj_query(obj, query, sizeof(query), out, sizeof(out)), EIO);
	assert_null(mlx5dv_devx_obj_create(ctx, alloc, sizeof(alloc), out, sizeof(out)));
	assert_int_equal(errno, EIO);
	assert_int_equal(mlx5dv_devx_obj_destroy(obj), 0);
	close_all(ctx);
}

static void no_heap_once_a_context_is_there(void **state)
{
	struct ibv_context *ctx = open_one();
	struct mlx5dv_devx_cmd_comp *comp = mlx5dv_devx_create_cmd_comp(ctx);
	uint8_t out[48], rec[56];
	uint32_t eqn;

	fake.allocations = 0;
	for (int i = 0; i < 100; i++) {
		struct mlx5dv_devx_obj *obj = counter(ctx);

		assert_int_equal(mlx5dv_devx_general_cmd(ctx, nop, sizeof(nop), out, sizeof(out)), 0);
		assert_int_equal(mlx5dv_devx_query_eqn(ctx, 0, &eqn), 0);
		assert_int_equal(mlx5dv_devx_obj_query(obj, query, sizeof(query), out, sizeof(out)), 0);
		assert_int_equal(mlx5dv_devx_obj_query_async(obj, query, sizeof(query), 48, 1, comp), 0);
		assert_true(fake_answer(comp->fd, out, sizeof(out)));
		assert_int_equal(mlx5dv_devx_get_async_cmd_comp(comp, (void *)rec, sizeof(rec)), 0);
		assert_int_equal(mlx5dv_devx_obj_destroy(obj), 0);
	}
	assert_int_equal(fake.allocations, 0);
	mlx5dv_devx_destroy_cmd_comp(comp);
	close_all(ctx);
}

int command_tests(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(general_command),
		TEST(errnos_come_as_they_are),
		TEST(failure_of_the_firmware_brings_the_outbox),
		TEST(eq_numbers),
		TEST(object_from_create_to_destroy),
		TEST(an_inbox_without_its_id_is_refused),
		TEST(asynchronous_query),
		TEST(a_destroyed_completion_closes_no_foreign_descriptor),
		TEST(foreign_handles),
		TEST(a_removed_device),
		TEST(no_heap_once_a_context_is_there),
	};

	return cmocka_run_group_tests_name("uverbs: commands", tests, NULL, NULL);
}
