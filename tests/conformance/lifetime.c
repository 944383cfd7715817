/* SPDX-License-Identifier: BSD-2-Clause */
/* Destroys, closes and removal while commands are in flight or threads asleep. */
#include "conf.h"

static void destroy_main(void *arg)
{
	mlx5dv_devx_destroy_cmd_comp(arg);
}

static void close_main(void *arg)
{
	CHECK_EQ(ibv_close_device(arg), 0);
}

CASE(destroy_waits_for_commands_in_flight, "devx-abi 5", CONTROL, "Destroying a completion waits for its commands in flight.")
{
	struct rig r = rig_soft("");
	struct mlx5dv_devx_cmd_comp *comp = new_comp(r.ctx);
	struct runner *t;

	hold(r.dev);
	CHECK_EQ(submit_to(&r, comp, OUTLEN, 1), 0);
	disown(comp);
	t = run(destroy_main, comp);
	wait_asleep(t);
	CHECK_EQ(submit_to(&r, comp, OUTLEN, 2), EBADF);
	release(r.dev, 1);
	join(t);
}

CASE(destroy_ends_at_the_timeout_of_held_commands, "devx-abi 5", SOFT,
     "Destroying a completion ends when its commands time out: it never waits for ever.")
{
	struct rig r = rig_soft("clock=manual,timeout=3s");
	struct mlx5dv_devx_cmd_comp *comp = new_comp(r.ctx);
	struct runner *t;

	hold(r.dev);
	CHECK_EQ(submit_to(&r, comp, OUTLEN, 1), 0);
	advance(r.dev, 3 * SECOND - 1); /* the device has seen it now */
	disown(comp);
	t = run(destroy_main, comp);
	wait_asleep(t);
	advance(r.dev, 3 * SECOND);
	join(t);
}

CASE(destroy_drops_unread_records, "devx-abi 5", ANY, "Destroying a completion drops the records that were not read.")
{
	struct rig r = rig();

	for (int i = 0; i < 100; i++)
		CHECK_EQ(submit(&r, 1000, 1), 0);
	destroy_comp(r.comp);
	r.comp = new_comp(r.ctx);
	expect_none(r.comp);
}

CASE(destroy_wakes_sleepers_with_ebadf, "deviations 6", SOFT,
     "Destroying a completion wakes threads that sleep in get with EBADF, and frees nothing under them.")
{
	struct rig r = rig();
	struct mlx5dv_devx_cmd_comp *comp = new_comp(r.ctx);
	struct getter *a = getter_start(comp), *b = getter_start(comp);
	struct record rec;

	wait_asleep(a->t);
	wait_asleep(b->t);
	destroy_comp(comp);
	CHECK_EQ(getter_end(a, NULL), EBADF);
	CHECK_EQ(getter_end(b, NULL), EBADF);
	CHECK_EQ(get(comp, &rec), EBADF);
	mlx5dv_devx_destroy_cmd_comp(comp); /* twice: nothing */
}

CASE(object_destroyed_in_flight_is_delivered_with_data, "devx-abi 5", CONTROL,
     "An object may be destroyed while its query is in flight: the record comes, with data.")
{
	struct rig r = rig_soft("");
	uint32_t id;
	struct mlx5dv_devx_obj *obj = counters(r.ctx, 0, &id);
	struct record rec;
	uint8_t in[COUNTER_IN];

	CHECK_EQ(traffic(r.dev, id, 6, 600), 0);
	hold(r.dev);
	query_inbox(in, id, 1);
	CHECK_EQ(mlx5dv_devx_obj_query_async(obj, in, sizeof(in), OUTLEN, 1, r.comp), 0);
	CHECK_EQ(destroy(obj), 0);
	expect_none(r.comp);
	release(r.dev, UINT32_MAX);
	get_ready(r.comp, &rec);
	CHECK_EQ(status_of(rec.out), 0);
	CHECK_EQ(packets_of(rec.out, 0), 6);
}

CASE(close_of_the_context_waits_and_leaves_a_dead_fd, "devx-abi 5", CONTROL,
     "Closing a context waits for commands in flight; its completions stay open, and are dead.")
{
	struct rig r = rig_soft("");
	struct record rec;
	struct runner *t;

	hold(r.dev);
	CHECK_EQ(submit(&r, OUTLEN, 1), 0);
	disown(r.obj); /* goes with its context */
	disown(r.ctx);
	t = run(close_main, r.ctx);
	wait_asleep(t);
	release(r.dev, UINT32_MAX);
	join(t);
	set_nonblock(r.comp->fd, true);
	expect_wr(r.comp, 1);
	CHECK_EQ(ready(r.comp->fd, POLLIN | POLLRDHUP, 0), POLLIN | POLLRDHUP);
	CHECK_EQ(get(r.comp, &rec), EAGAIN);
	set_nonblock(r.comp->fd, false);
	CHECK_EQ(get(r.comp, &rec), EIO);
}

CASE(removal_loses_nothing, "deviations 2", SOFT,
     "After a removal, queued records stay readable, commands in flight complete as aborted, and only then is the "
     "descriptor dead.")
{
	struct rig r = rig_soft("");
	const short events = POLLIN | POLLRDNORM | POLLRDHUP;
	struct record rec;

	CHECK_EQ(submit(&r, OUTLEN, 1), 0);
	CHECK_EQ(ready(r.comp->fd, POLLIN, PATIENCE_MS), POLLIN);
	hold(r.dev);
	CHECK_EQ(submit(&r, OUTLEN, 2), 0);
	CHECK_EQ(submit(&r, 4, 3), 0);
	CHECK_EQ(submit(&r, 0, 4), 0);
	CHECK_EQ(odx_soft_remove(r.dev), 0);
	CHECK_EQ(ready(r.comp->fd, events, 0), POLLIN | POLLRDNORM);
	expect_wr(r.comp, 1);
	get_ready(r.comp, &rec);
	CHECK_EQ(rec.wr_id, 2);
	expect_aborted(&rec);
	for (size_t i = 8; i < OUTLEN; i++)
		CHECK_EQ(rec.out[i], 0);
	memset(&rec, 0xa5, sizeof(rec));
	get_ready(r.comp, &rec);
	CHECK_EQ(rec.wr_id, 3);
	CHECK_EQ(rec.out[0], ABORTED_STATUS); /* exception 6: as much as fits */
	CHECK_EQ(rec.out[4], 0xa5);
	expect_wr(r.comp, 4);
}

CASE(dead_fd_is_readable_and_rdhup, "devx-abi 5", CONTROL,
     "A dead descriptor is POLLIN and POLLRDNORM, and POLLRDHUP when that is asked for, never POLLHUP or POLLERR; get "
     "gives EIO, or EAGAIN with O_NONBLOCK.")
{
	struct rig r = rig_soft("");
	struct record rec;

	CHECK_EQ(take_away(r.dev), 0);
	CHECK_EQ(ready(r.comp->fd, POLLIN | POLLRDNORM | POLLRDHUP, 0), POLLIN | POLLRDNORM | POLLRDHUP);
	CHECK_EQ(ready(r.comp->fd, POLLIN, 0), POLLIN);
	CHECK_EQ(ready(r.comp->fd, 0, 0), 0);
	CHECK_EQ(get(r.comp, &rec), EIO);
	set_nonblock(r.comp->fd, true);
	CHECK_EQ(get(r.comp, &rec), EAGAIN);
}

CASE(removal_wakes_a_sleeper_with_eio, "devx-abi 5", CONTROL, "A removal wakes threads that sleep in get with EIO.")
{
	struct rig r = rig_soft("");
	struct getter *a = getter_start(r.comp), *b = getter_start(r.comp);

	wait_asleep(a->t);
	wait_asleep(b->t);
	CHECK_EQ(take_away(r.dev), 0);
	CHECK_EQ(getter_end(a, NULL), EIO);
	CHECK_EQ(getter_end(b, NULL), EIO);
}

CASE(calls_after_removal, "devx-abi 5", CONTROL, "After a removal calls give EIO, and destroys 0.")
{
	static char mem[4096];
	struct rig r = rig_soft("");
	struct mlx5dv_devx_umem *umem = reg(r.ctx, mem, sizeof(mem), IBV_ACCESS_LOCAL_WRITE);
	INBOX(in, alloc_flow_counter_in, ALLOC_FLOW_COUNTER);
	uint8_t out[COUNTERS_OUT(1)], query[COUNTER_IN];
	uint32_t eqn;

	CHECK_EQ(take_away(r.dev), 0);
	CHECK_EQ(nop(r.ctx), EIO);
	CHECK_EQ(mlx5dv_devx_query_eqn(r.ctx, 0, &eqn), EIO);
	refuse(r.ctx, in, sizeof(in), out, sizeof(out), EIO);
	query_inbox(query, r.id, 1);
	CHECK_EQ(mlx5dv_devx_obj_query(r.obj, query, sizeof(query), out, sizeof(out)), EIO);
	CHECK_EQ(mlx5dv_devx_obj_modify(r.obj, query, sizeof(query), out, sizeof(out)), EIO);
	CHECK_EQ(submit(&r, OUTLEN, 1), EIO);
	CHECK_NULL(mlx5dv_devx_create_cmd_comp(r.ctx), EIO);
	CHECK_NULL(mlx5dv_devx_umem_reg(r.ctx, mem, sizeof(mem), IBV_ACCESS_LOCAL_WRITE), EIO);
	if (is_soft())
		CHECK_EQ(odx_soft_traffic(r.dev, r.id, 1, 1), EIO);
	CHECK_EQ(dereg(umem), 0);
	CHECK_EQ(destroy(r.obj), 0);
	CHECK_EQ(close_context(r.ctx), 0);
}

CASE(close_after_removal_ends_every_handle, "deviations 17", CONTROL,
     "Closing a context of a removed device ends what the program left, though the device no longer takes it back.")
{
	static char memory[64];
	struct ibv_device *dev = soft("");
	struct ibv_context *ctx = open_devx(dev);
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	struct ibv_mr *mr = ibv_reg_mr(pd, memory, sizeof(memory), 0);

	CHECK(mr);
	CHECK_EQ(take_away(dev), 0);
	CHECK_EQ(ibv_dereg_mr(mr), 0); /* the device, which was not told, still has it, and the PD in use */
	CHECK_EQ(close_context(ctx), 0);
	CHECK_EQ(ibv_dealloc_pd(pd), ENOENT);
}

CASE(quirks_timeout_is_a_zero_record, "devx-abi 5", SOFT,
     "With quirks=kernel, a command without an answer completes with an outbox of zeros.")
{
	struct rig r = rig_soft("quirks=kernel,clock=manual,timeout=1s");
	struct record rec;

	fault(r.dev, "opcode=0x93b nth=1 hang");
	CHECK_EQ(submit(&r, OUTLEN, 6), 0);
	advance(r.dev, SECOND);
	memset(&rec, 0xa5, sizeof(rec));
	get_ready(r.comp, &rec);
	CHECK_EQ(rec.wr_id, 6);
	for (size_t i = 0; i < OUTLEN; i++)
		CHECK_EQ(rec.out[i], 0);
}

CASE(quirks_removal_drops_records, "devx-abi 5", SOFT,
     "With quirks=kernel, a removal drops what was queued and what was in flight.")
{
	struct rig r = rig_soft("quirks=kernel");
	struct record rec;

	CHECK_EQ(submit(&r, OUTLEN, 1), 0);
	CHECK_EQ(ready(r.comp->fd, POLLIN, PATIENCE_MS), POLLIN);
	hold(r.dev);
	CHECK_EQ(submit(&r, OUTLEN, 2), 0);
	CHECK_EQ(odx_soft_remove(r.dev), 0);
	CHECK_EQ(ready(r.comp->fd, POLLIN | POLLRDHUP, PATIENCE_MS), POLLIN | POLLRDHUP);
	CHECK_EQ(get(r.comp, &rec), EIO);
}

CASE(contexts_do_not_see_each_other, "devx-abi 4", OURS,
     "An object of one context does not exist for another, not even by its number: BAD_RES.")
{
	struct ibv_context *one = context(), *other = context();
	INBOX(in, alloc_flow_counter_in, ALLOC_FLOW_COUNTER);
	uint8_t out[SZ(alloc_flow_counter_out)];
	uint32_t pd;

	alloc_pd(one, &pd);
	SET(in, alloc_flow_counter_in, pd, pd);
	refuse(other, in, sizeof(in), out, sizeof(out), EREMOTEIO);
	CHECK_EQ(status_of(out), 5);
	create(one, in, sizeof(in), out, sizeof(out));
}

CASE(devices_do_not_disturb_each_other, "opendevx(7)", SOFT, "Holding or removing one device changes nothing on another.")
{
	struct rig a = rig_soft(""), b = rig_soft("");

	hold(a.dev);
	CHECK_EQ(submit(&a, OUTLEN, 1), 0);
	CHECK_EQ(submit(&b, OUTLEN, 2), 0);
	expect_wr(b.comp, 2);
	expect_none(a.comp);
	CHECK_EQ(submit_to(&a, b.comp, OUTLEN, 3), EBADF);
	CHECK_EQ(odx_soft_remove(a.dev), 0);
	CHECK_EQ(submit(&b, OUTLEN, 4), 0);
	expect_wr(b.comp, 4);
}

CASE(close_and_destroy_may_race, "devx-abi 5", OURS,
     "A context may be closed while other threads destroy its completions: either may come first.")
{
	for (int i = 0; i < 200; i++) {
		struct ibv_context *ctx = context();
		struct mlx5dv_devx_cmd_comp *one = new_comp(ctx), *two = new_comp(ctx);
		struct runner *t;

		disown(ctx);
		t = run(close_main, ctx);
		destroy_comp(one);
		destroy_comp(two);
		join(t);
	}
}
