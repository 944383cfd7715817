/* SPDX-License-Identifier: BSD-2-Clause */
/* Destroys, closes and removal while commands are in flight or threads asleep (devx-abi 5; design, exceptions 1, 2 and 5). */
#include "old_conf.h"

static void destroy_main(void *arg)
{
	mlx5dv_devx_destroy_cmd_comp(arg);
}

static void close_main(void *arg)
{
	assert_int_equal(ibv_close_device(arg), 0);
}

/* Destroy waits for commands in flight. */
static void destroy_waits_for_commands_in_flight(void **state)
{
	struct rig r = rig_up("");
	struct mlx5dv_devx_cmd_comp *comp = mlx5dv_devx_create_cmd_comp(r.ctx);
	struct runner t;

	assert_int_equal(odx_soft_hold(r.dev), 0);
	assert_int_equal(submit_to(&r, comp, 32, 1), 0);
	run(&t, destroy_main, comp);
	wait_asleep(&t);
	assert_int_equal(submit_to(&r, comp, 32, 2), EBADF);
	assert_int_equal(odx_soft_release(r.dev, 1), 0);
	join(&t);
	rig_down(&r);
}

/* design: the timeout runs for held commands too, so that a destroy never waits for ever. */
static void destroy_ends_at_the_timeout_of_held_commands(void **state)
{
	struct rig r = rig_up("clock=manual,timeout=3s");
	struct mlx5dv_devx_cmd_comp *comp = mlx5dv_devx_create_cmd_comp(r.ctx);
	struct runner t;

	assert_int_equal(odx_soft_hold(r.dev), 0);
	assert_int_equal(submit_to(&r, comp, 32, 1), 0);
	assert_int_equal(odx_soft_advance(r.dev, 3 * SECOND - 1), 0); /* the device has seen it now */
	run(&t, destroy_main, comp);
	wait_asleep(&t);
	assert_int_equal(odx_soft_advance(r.dev, 3 * SECOND), 0);
	join(&t);
	rig_down(&r);
}

static void destroy_drops_unread_records(void **state)
{
	struct rig r = rig_up("");

	for (int i = 0; i < 100; i++)
		assert_int_equal(submit(&r, 1000, 1), 0);
	rig_down(&r);
}

/* design, exception 5: a thread that sleeps in get is woken with EBADF. */
static void destroy_wakes_sleepers_with_ebadf(void **state)
{
	struct rig r = rig_up("");
	struct mlx5dv_devx_cmd_comp *comp = mlx5dv_devx_create_cmd_comp(r.ctx);
	struct getter *a = getter_start(comp), *b = getter_start(comp);
	struct record rec;

	wait_asleep(&a->t);
	wait_asleep(&b->t);
	mlx5dv_devx_destroy_cmd_comp(comp);
	assert_int_equal(getter_end(a, NULL), EBADF);
	assert_int_equal(getter_end(b, NULL), EBADF);
	assert_int_equal(get(comp, &rec), EBADF);
	mlx5dv_devx_destroy_cmd_comp(comp); /* twice: nothing */
	rig_down(&r);
}

/* devx-abi 5: an object may be destroyed while its query is in flight: delivered with data. */
static void object_destroyed_in_flight_is_delivered_with_data(void **state)
{
	struct rig r = rig_up("");
	uint32_t id;
	struct mlx5dv_devx_obj *obj = counters(r.ctx, 0, &id);
	struct record rec;
	uint8_t in[32];

	assert_int_equal(odx_soft_traffic(r.dev, id, 6, 600), 0);
	assert_int_equal(odx_soft_hold(r.dev), 0);
	query_inbox(in, id, 1);
	assert_int_equal(mlx5dv_devx_obj_query_async(obj, in, 32, 32, 1, r.comp), 0);
	assert_int_equal(mlx5dv_devx_obj_destroy(obj), 0);
	expect_none(r.comp);
	assert_int_equal(odx_soft_release(r.dev, UINT32_MAX), 0);
	get_ready(r.comp, &rec);
	assert_int_equal(status_of(rec.out), 0);
	assert_int_equal(get64(rec.out, 16), 6);
	rig_down(&r);
}

/* devx-abi 5: context closed first: the descriptor stays open but dead; its destroy is cheap. */
static void close_of_the_context_waits_and_leaves_a_dead_fd(void **state)
{
	struct rig r = rig_up("");
	struct record rec;
	struct runner t;

	assert_int_equal(odx_soft_hold(r.dev), 0);
	assert_int_equal(submit(&r, 32, 1), 0);
	run(&t, close_main, r.ctx);
	wait_asleep(&t);
	assert_int_equal(odx_soft_release(r.dev, UINT32_MAX), 0);
	join(&t);
	set_nonblock(r.comp->fd, true);
	expect_wr(r.comp, 1);
	assert_int_equal(ready(r.comp->fd, POLLIN | POLLRDHUP, 0), POLLIN | POLLRDHUP);
	assert_int_equal(get(r.comp, &rec), EAGAIN);
	set_nonblock(r.comp->fd, false);
	assert_int_equal(get(r.comp, &rec), EIO);
	mlx5dv_devx_destroy_cmd_comp(r.comp);
	assert_int_equal(odx_soft_destroy(r.dev), 0);
}

/* design, exceptions 1 and 2: queued records stay readable, commands in flight are aborted, only then is the fd dead. */
static void removal_loses_nothing(void **state)
{
	struct rig r = rig_up("");
	const short events = POLLIN | POLLRDNORM | POLLRDHUP;
	struct record rec;

	assert_int_equal(submit(&r, 32, 1), 0);
	assert_int_equal(ready(r.comp->fd, POLLIN, PATIENCE_MS), POLLIN);
	assert_int_equal(odx_soft_hold(r.dev), 0);
	assert_int_equal(submit(&r, 32, 2), 0);
	assert_int_equal(submit(&r, 4, 3), 0);
	assert_int_equal(submit(&r, 0, 4), 0);
	assert_int_equal(odx_soft_remove(r.dev), 0);
	assert_int_equal(ready(r.comp->fd, events, 0), POLLIN | POLLRDNORM);
	expect_wr(r.comp, 1);
	get_ready(r.comp, &rec);
	assert_int_equal(rec.wr_id, 2);
	expect_aborted(&rec);
	for (size_t i = 8; i < 32; i++)
		assert_int_equal(rec.out[i], 0);
	memset(&rec, 0xa5, sizeof(rec));
	get_ready(r.comp, &rec);
	assert_int_equal(rec.wr_id, 3);
	assert_int_equal(rec.out[0], ABORTED_STATUS); /* exception 6: as much as fits */
	assert_int_equal(rec.out[4], 0xa5);
	expect_wr(r.comp, 4);
	rig_down(&r);
}

/* devx-abi 5: dead: POLLIN | POLLRDNORM, POLLRDHUP when asked, never POLLHUP or POLLERR. */
static void dead_fd_is_readable_and_rdhup(void **state)
{
	struct rig r = rig_up("");
	struct record rec;

	assert_int_equal(odx_soft_remove(r.dev), 0);
	assert_int_equal(ready(r.comp->fd, POLLIN | POLLRDNORM | POLLRDHUP, 0), POLLIN | POLLRDNORM | POLLRDHUP);
	assert_int_equal(ready(r.comp->fd, POLLIN, 0), POLLIN);
	assert_int_equal(ready(r.comp->fd, 0, 0), 0);
	assert_int_equal(get(r.comp, &rec), EIO);
	set_nonblock(r.comp->fd, true);
	assert_int_equal(get(r.comp, &rec), EAGAIN);
	rig_down(&r);
}

static void removal_wakes_a_sleeper_with_eio(void **state)
{
	struct rig r = rig_up("");
	struct getter *a = getter_start(r.comp), *b = getter_start(r.comp);

	wait_asleep(&a->t);
	wait_asleep(&b->t);
	assert_int_equal(odx_soft_remove(r.dev), 0);
	assert_int_equal(getter_end(a, NULL), EIO);
	assert_int_equal(getter_end(b, NULL), EIO);
	rig_down(&r);
}

/* devx-abi 5: after removal calls are EIO, destroys 0. */
static void calls_after_removal(void **state)
{
	struct rig r = rig_up("");
	uint8_t in[32] = { 0 }, out[32];
	void *mem = aligned_alloc(4096, 4096);
	struct mlx5dv_devx_umem *umem = mlx5dv_devx_umem_reg(r.ctx, mem, 4096, 1);
	uint32_t eqn;

	assert_non_null(umem);
	assert_int_equal(odx_soft_remove(r.dev), 0);
	put16(in, 0, NOP);
	assert_int_equal(mlx5dv_devx_general_cmd(r.ctx, in, 16, out, 16), EIO);
	assert_int_equal(mlx5dv_devx_query_eqn(r.ctx, 0, &eqn), EIO);
	put16(in, 0, ALLOC_FLOW_COUNTER);
	errno = 0;
	assert_null(mlx5dv_devx_obj_create(r.ctx, in, 16, out, 16));
	assert_int_equal(errno, EIO);
	query_inbox(in, r.id, 1);
	assert_int_equal(mlx5dv_devx_obj_query(r.obj, in, 32, out, 32), EIO);
	assert_int_equal(mlx5dv_devx_obj_modify(r.obj, in, 32, out, 32), EIO);
	assert_int_equal(submit(&r, 32, 1), EIO);
	errno = 0;
	assert_null(mlx5dv_devx_create_cmd_comp(r.ctx));
	assert_int_equal(errno, EIO);
	errno = 0;
	assert_null(mlx5dv_devx_umem_reg(r.ctx, mem, 4096, 1));
	assert_int_equal(errno, EIO);
	assert_int_equal(odx_soft_traffic(r.dev, r.id, 1, 1), EIO);
	assert_int_equal(mlx5dv_devx_umem_dereg(umem), 0);
	free(mem);
	rig_down(&r);
}

/* quirks=kernel: a command that the driver failed looks like success: zeros. */
static void quirks_timeout_is_a_zero_record(void **state)
{
	struct rig r = rig_up("quirks=kernel,clock=manual,timeout=1s");
	struct record rec;

	assert_int_equal(odx_soft_fault(r.dev, "opcode=0x93b nth=1 hang"), 0);
	assert_int_equal(submit(&r, 32, 6), 0);
	assert_int_equal(odx_soft_advance(r.dev, SECOND), 0);
	memset(&rec, 0xa5, sizeof(rec));
	get_ready(r.comp, &rec);
	assert_int_equal(rec.wr_id, 6);
	for (size_t i = 0; i < 32; i++)
		assert_int_equal(rec.out[i], 0);
	rig_down(&r);
}

/* quirks=kernel: removal drops what was queued and what was in flight. */
static void quirks_removal_drops_records(void **state)
{
	struct rig r = rig_up("quirks=kernel");
	struct record rec;

	assert_int_equal(submit(&r, 32, 1), 0);
	assert_int_equal(ready(r.comp->fd, POLLIN, PATIENCE_MS), POLLIN);
	assert_int_equal(odx_soft_hold(r.dev), 0);
	assert_int_equal(submit(&r, 32, 2), 0);
	assert_int_equal(odx_soft_remove(r.dev), 0);
	assert_int_equal(ready(r.comp->fd, POLLIN | POLLRDHUP, PATIENCE_MS), POLLIN | POLLRDHUP);
	assert_int_equal(get(r.comp, &rec), EIO);
	rig_down(&r);
}

/* Two contexts: an object of one does not exist for the other, not even by its number. */
static void contexts_do_not_see_each_other(void **state)
{
	struct rig r = rig_up("");
	struct ibv_context *ctx = open_devx(r.dev);
	uint32_t pd;
	struct mlx5dv_devx_obj *pd_obj = alloc_pd(r.ctx, &pd);
	uint8_t in[16] = { 0 }, out[16] = { 0 };

	put16(in, 0, ALLOC_FLOW_COUNTER);
	put32(in, 8, pd);
	errno = 0;
	assert_null(mlx5dv_devx_obj_create(ctx, in, sizeof(in), out, sizeof(out)));
	assert_int_equal(errno, EREMOTEIO);
	assert_int_equal(status_of(out), 5);
	assert_int_equal(ibv_close_device(ctx), 0);
	assert_int_equal(mlx5dv_devx_obj_destroy(pd_obj), 0);
	rig_down(&r);
}

/* Removal, holds and faults are one device's. */
static void devices_do_not_disturb_each_other(void **state)
{
	struct rig a = rig_up(""), b = rig_up("");

	assert_int_equal(odx_soft_hold(a.dev), 0);
	assert_int_equal(submit(&a, 32, 1), 0);
	assert_int_equal(submit(&b, 32, 2), 0);
	expect_wr(b.comp, 2);
	expect_none(a.comp);
	assert_int_equal(submit_to(&a, b.comp, 32, 3), EBADF);
	assert_int_equal(odx_soft_remove(a.dev), 0);
	assert_int_equal(submit(&b, 32, 4), 0);
	expect_wr(b.comp, 4);
	rig_down(&a);
	rig_down(&b);
}

static void close_context(void *arg)
{
	assert_int_equal(ibv_close_device(arg), 0);
}

/* Either may come first: a completion outlives its context, and a context its completions. */
static void close_and_destroy_may_race(void **state)
{
	struct ibv_device *dev = odx_soft_create("");

	for (int i = 0; i < 200; i++) {
		struct ibv_context *ctx = open_devx(dev);
		struct mlx5dv_devx_cmd_comp *one = mlx5dv_devx_create_cmd_comp(ctx), *two = mlx5dv_devx_create_cmd_comp(ctx);
		struct runner t;

		assert_non_null(one);
		assert_non_null(two);
		run(&t, close_context, ctx);
		mlx5dv_devx_destroy_cmd_comp(one);
		mlx5dv_devx_destroy_cmd_comp(two);
		join(&t);
	}
	assert_int_equal(odx_soft_destroy(dev), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(close_and_destroy_may_race),
		cmocka_unit_test(destroy_waits_for_commands_in_flight),
		cmocka_unit_test(destroy_ends_at_the_timeout_of_held_commands),
		cmocka_unit_test(destroy_drops_unread_records),
		cmocka_unit_test(destroy_wakes_sleepers_with_ebadf),
		cmocka_unit_test(object_destroyed_in_flight_is_delivered_with_data),
		cmocka_unit_test(close_of_the_context_waits_and_leaves_a_dead_fd),
		cmocka_unit_test(removal_loses_nothing),
		cmocka_unit_test(dead_fd_is_readable_and_rdhup),
		cmocka_unit_test(removal_wakes_a_sleeper_with_eio),
		cmocka_unit_test(calls_after_removal),
		cmocka_unit_test(quirks_timeout_is_a_zero_record),
		cmocka_unit_test(quirks_removal_drops_records),
		cmocka_unit_test(contexts_do_not_see_each_other),
		cmocka_unit_test(devices_do_not_disturb_each_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
