/* SPDX-License-Identifier: BSD-2-Clause */
/* Event channels and asynchronous events: subscriptions as the kernel is asked for them, records as they are read. */
#include "tests.h"

#include <sys/eventfd.h>

static uint8_t alloc[16] = { 0x09, 0x39 };

static void channel_from_create_to_destroy(void **state)
{
	struct ibv_context *ctx = open_one();
	struct mlx5dv_devx_event_channel *ch, *omit;
	unsigned int fds = fake.fds;

	ch = mlx5dv_devx_create_event_channel(ctx, 0);
	assert_non_null(ch);
	assert_int_equal(fake.last.object, 0x1005);
	assert_int_equal(fake.last.method, 0x1000);
	assert_int_equal(fake_attr(0x1001)->data, 0);
	assert_int_equal(fake_attr(0x1001)->len, 4);
	omit = mlx5dv_devx_create_event_channel(ctx, MLX5DV_DEVX_CREATE_EVENT_CHANNEL_FLAGS_OMIT_EV_DATA);
	assert_non_null(omit);
	assert_int_equal(fake_attr(0x1001)->data, 1);
	assert_int_equal(fake.fds, fds + 2);
	assert_null(mlx5dv_devx_create_event_channel(ctx, 2));
	assert_int_equal(errno, EINVAL);
	fake.err = ENOMEM;
	assert_null(mlx5dv_devx_create_event_channel(ctx, 0));
	assert_int_equal(errno, ENOMEM);
	mlx5dv_devx_destroy_event_channel(ch);
	mlx5dv_devx_destroy_event_channel(ch); /* once */
	assert_int_equal(fake.fds, fds + 1);
	assert_int_equal(ibv_close_device(ctx), 0);
	mlx5dv_devx_destroy_event_channel(omit); /* it outlives the context */
	assert_int_equal(fake.fds, 0);
}

static void subscriptions(void **state)
{
	struct ibv_context *ctx = open_one();
	struct mlx5dv_devx_event_channel *ch = mlx5dv_devx_create_event_channel(ctx, 0);
	uint16_t six[6] = { 0, 1, 2, 9, 0x12, 0x1c };
	int efd = eventfd(0, EFD_CLOEXEC);
	struct mlx5dv_devx_obj *obj;
	uint8_t out[16];

	mlx5dv_devx_obj_create(ctx, alloc, sizeof(alloc), out, sizeof(out));
	obj = mlx5dv_devx_obj_create(ctx, alloc, sizeof(alloc), out, sizeof(out));
	assert_int_equal(mlx5dv_devx_subscribe_devx_event(ch, NULL, 2, six, UINT64_C(0xfedcba9876543210)), 0);
	assert_int_equal(fake.last.object, 0x1000);
	assert_int_equal(fake.last.method, 0x1003);
	assert_int_equal(fake.last.n, 3);
	assert_int_equal(fake_attr(0x1000)->data, ch->fd);
	assert_int_equal(fake_attr(0x1002)->len, 2);
	assert_int_equal(fake_attr(0x1004)->data, UINT64_C(0xfedcba9876543210));
	assert_int_equal(mlx5dv_devx_subscribe_devx_event(ch, obj, sizeof(six), six, 7), 0);
	assert_int_equal(fake.last.n, 4);
	assert_int_equal(fake_attr(0x1001)->data, 1);
	assert_int_equal(fake_attr(0x1002)->len, 12);
	assert_memory_equal(fake_attr(0x1002)->bytes, six, sizeof(six));
	assert_int_equal(mlx5dv_devx_subscribe_devx_event_fd(ch, efd, obj, 0x1c), 0);
	assert_int_equal(fake.last.n, 4);
	assert_int_equal(fake_attr(0x1002)->data, 0x1c);
	assert_int_equal(fake_attr(0x1003)->data, efd);
	assert_int_equal(fake_attr(0x1003)->len, 4);
	for (unsigned int i = 0; i < fake.last.n; i++)
		assert_int_not_equal(fake.last.attrs[i].id, 0x1004); /* a cookie beside a descriptor is EINVAL */
	fake.err = EINVAL;
	assert_int_equal(mlx5dv_devx_subscribe_devx_event(ch, obj, 2, six, 7), EINVAL);
	assert_int_equal(errno, EINVAL);
	fake.ioctls = 0;
	assert_int_equal(mlx5dv_devx_subscribe_devx_event(ch, obj, 2, NULL, 7), EINVAL);
	assert_int_equal(mlx5dv_devx_subscribe_devx_event(NULL, obj, 2, six, 7), EINVAL);
	/* More than the kernel takes, and no whole number of events: it would read behind the list. */
	assert_int_equal(mlx5dv_devx_subscribe_devx_event(ch, NULL, 34, six, 7), EINVAL);
	assert_int_equal(mlx5dv_devx_subscribe_devx_event(ch, NULL, UINT16_MAX, six, 7), EINVAL);
	assert_int_equal(mlx5dv_devx_subscribe_devx_event(ch, NULL, 3, six, 7), EINVAL);
	assert_int_equal(mlx5dv_devx_subscribe_devx_event(ch, NULL, 0, six, 7), EINVAL);
	/* No eventfd: Linux 6.1 would not survive it. */
	assert_int_equal(mlx5dv_devx_subscribe_devx_event_fd(ch, STDIN_FILENO, NULL, 9), EINVAL);
	close(efd);
	assert_int_equal(mlx5dv_devx_subscribe_devx_event_fd(ch, efd, NULL, 9), EBADF);
	assert_int_equal(mlx5dv_devx_subscribe_devx_event_fd(ch, -1, NULL, 9), EBADF);
	assert_int_equal(fake.ioctls, 0);
	assert_int_equal(mlx5dv_devx_obj_destroy(obj), 0);
	assert_int_equal(mlx5dv_devx_subscribe_devx_event(ch, obj, 2, six, 7), ENOENT);
	assert_int_equal(ibv_close_device(ctx), 0);
	assert_int_equal(mlx5dv_devx_subscribe_devx_event(ch, NULL, 2, six, 7), EBADF);
	mlx5dv_devx_destroy_event_channel(ch);
	assert_int_equal(mlx5dv_devx_subscribe_devx_event(ch, NULL, 2, six, 7), EBADF);
}

/* The kernel would find another object behind the number, or the same number in another context. */
static void object_of_another_context(void **state)
{
	struct mlx5dv_context_attr attr = { .flags = MLX5DV_CONTEXT_FLAGS_DEVX };
	struct ibv_context *ctx = open_one(), *other = mlx5dv_open_device(first_device(), &attr);
	struct mlx5dv_devx_event_channel *ch = mlx5dv_devx_create_event_channel(ctx, 0);
	uint8_t out[16];
	struct mlx5dv_devx_obj *obj = mlx5dv_devx_obj_create(other, alloc, sizeof(alloc), out, sizeof(out));
	uint16_t event = 0;

	fake.ioctls = 0;
	assert_int_equal(mlx5dv_devx_subscribe_devx_event(ch, obj, 2, &event, 7), ENOENT);
	assert_int_equal(mlx5dv_devx_subscribe_devx_event_fd(ch, STDIN_FILENO, obj, 0), ENOENT);
	assert_int_equal(fake.ioctls, 0);
	mlx5dv_devx_destroy_event_channel(ch);
	assert_int_equal(ibv_close_device(other), 0);
	assert_int_equal(ibv_close_device(ctx), 0);
}

static void records(void **state)
{
	struct ibv_context *ctx = open_one();
	struct mlx5dv_devx_event_channel *ch = mlx5dv_devx_create_event_channel(ctx, 0);
	struct mlx5dv_devx_async_event_hdr *ev = (void *)(uint64_t[16]){ 0 };
	uint8_t record[72] = { 0x88, 0x77, [9] = 9, [71] = 0xee };

	assert_int_equal(mlx5dv_devx_get_event(ch, ev, 128), -1);
	assert_int_equal(errno, EAGAIN);
	fake_record(ch->fd, record, sizeof(record));
	fake_read_error(ch->fd, EOVERFLOW); /* told once, before what is queued */
	assert_int_equal(mlx5dv_devx_get_event(ch, ev, 128), -1);
	assert_int_equal(errno, EOVERFLOW);
	assert_int_equal(mlx5dv_devx_get_event(ch, ev, 71), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(mlx5dv_devx_get_event(ch, ev, 4), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(mlx5dv_devx_get_event(ch, ev, 128), 72);
	assert_int_equal(ev->cookie, 0x7788);
	assert_memory_equal(ev, record, sizeof(record));
	fake_record(ch->fd, record, 8);
	assert_int_equal(mlx5dv_devx_get_event(ch, ev, 8), 8);
	fake_read_error(ch->fd, EIO);
	assert_int_equal(mlx5dv_devx_get_event(ch, ev, 128), -1);
	assert_int_equal(errno, EIO);
	assert_int_equal(mlx5dv_devx_get_event(ch, NULL, 128), -1);
	assert_int_equal(errno, EINVAL);
	mlx5dv_devx_destroy_event_channel(ch);
	assert_int_equal(mlx5dv_devx_get_event(ch, ev, 128), -1);
	assert_int_equal(errno, EBADF);
	assert_int_equal(ibv_close_device(ctx), 0);
}

static void asynchronous(void **state)
{
	struct ibv_context *ctx = open_one();
	struct { uint64_t element; uint32_t type, reserved; } desc = { 1, IBV_EVENT_PORT_ERR, 0 };
	struct ibv_async_event ev;

	assert_int_equal(ibv_get_async_event(ctx, &ev), -1);
	assert_int_equal(errno, EAGAIN);
	fake_record(ctx->async_fd, &desc, sizeof(desc));
	assert_int_equal(ibv_get_async_event(ctx, &ev), 0);
	assert_int_equal(ev.event_type, IBV_EVENT_PORT_ERR);
	assert_int_equal(ev.element.port_num, 1);
	ibv_ack_async_event(&ev);
	desc.element = 0x7fff12345678; /* an object of somebody else's on this kernel context */
	desc.type = IBV_EVENT_QP_FATAL;
	fake_record(ctx->async_fd, &desc, sizeof(desc));
	assert_int_equal(ibv_get_async_event(ctx, &ev), 0);
	assert_int_equal((uintptr_t)ev.element.qp, 0x7fff12345678);
	fake_read_error(ctx->async_fd, EINTR);
	assert_int_equal(ibv_get_async_event(ctx, &ev), -1);
	assert_int_equal(errno, EINTR);
	fake_record(ctx->async_fd, &desc, 8); /* no kernel has it */
	assert_int_equal(ibv_get_async_event(ctx, &ev), -1);
	assert_int_equal(errno, EIO);
	assert_int_equal(ibv_close_device(ctx), 0);
	assert_int_equal(ibv_get_async_event(ctx, &ev), -1);
	assert_int_equal(errno, EBADF);
}

static void queues_are_for_vfio(void **state)
{
	struct ibv_context *ctx = open_one();
	uint8_t box[64] = { 0x03, 0x01 };

	assert_null(mlx5dv_devx_alloc_msi_vector(ctx));
	assert_int_equal(errno, EOPNOTSUPP);
	assert_null(mlx5dv_devx_create_eq(ctx, box, sizeof(box), box, sizeof(box)));
	assert_int_equal(errno, EOPNOTSUPP);
	assert_int_equal(ibv_close_device(ctx), 0);
}

int event_tests(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(channel_from_create_to_destroy), TEST(subscriptions), TEST(object_of_another_context), TEST(records),
		TEST(asynchronous), TEST(queues_are_for_vfio),
	};

	return cmocka_run_group_tests_name("uverbs: events", tests, NULL, NULL);
}
