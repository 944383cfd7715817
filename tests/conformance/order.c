/* SPDX-License-Identifier: BSD-2-Clause */
/* When and in which order commands complete: hold, manual clock, latency, faults, slots (soft.h and design). */
#include "old_conf.h"

#define SLOTS 31

/* A synchronous command: when it returns, the device has seen what was submitted before. */
static int nop(struct ibv_context *ctx)
{
	uint8_t in[16] = { 0 }, out[16];

	put16(in, 0, NOP);
	return mlx5dv_devx_general_cmd(ctx, in, sizeof(in), out, sizeof(out));
}

static void hold_keeps_back_and_release_counts(void **state)
{
	struct rig r = rig_up("");

	assert_int_equal(odx_soft_hold(r.dev), 0);
	for (uint64_t i = 0; i < 100; i++)
		assert_int_equal(submit(&r, 32, i), 0);
	assert_int_equal(nop(r.ctx), 0); /* synchronous ones go on */
	expect_none(r.comp);
	assert_int_equal(odx_soft_release(r.dev, 0), 0);
	expect_none(r.comp);
	assert_int_equal(odx_soft_release(r.dev, 3), 0);
	for (uint64_t i = 0; i < 3; i++) {
		assert_int_equal(ready(r.comp->fd, POLLIN, 0), POLLIN); /* readable when the call returned */
		expect_wr(r.comp, i);
	}
	expect_none(r.comp);
	assert_int_equal(odx_soft_release(r.dev, 1000), 0); /* fewer than n: all, and holding goes on */
	for (uint64_t i = 3; i < 100; i++)
		expect_wr(r.comp, i);
	assert_int_equal(submit(&r, 32, 100), 0);
	assert_int_equal(nop(r.ctx), 0);
	expect_none(r.comp);
	assert_int_equal(odx_soft_release(r.dev, UINT32_MAX), 0);
	expect_wr(r.comp, 100);
	assert_int_equal(submit(&r, 32, 101), 0);
	expect_wr(r.comp, 101);
	rig_down(&r);
}


/* delay=: the command is late by that much; others pass it. */
static void manual_clock_moves_only_by_advance(void **state)
{
	struct rig r = rig_up("clock=manual");

	assert_int_equal(odx_soft_fault(r.dev, "opcode=0x93b nth=1 delay=5ms"), 0);
	assert_int_equal(submit(&r, 32, 1), 0);
	assert_int_equal(submit(&r, 32, 2), 0);
	expect_wr(r.comp, 2);
	assert_int_equal(odx_soft_advance(r.dev, 4999999), 0);
	expect_none(r.comp);
	assert_int_equal(odx_soft_advance(r.dev, 1), 0);
	assert_int_equal(ready(r.comp->fd, POLLIN, 0), POLLIN);
	expect_wr(r.comp, 1);
	assert_int_equal(odx_soft_advance(r.dev, UINT64_MAX), EINVAL);
	rig_down(&r);
}

static void advance_needs_a_manual_clock(void **state)
{
	struct rig r = rig_up("");

	assert_int_equal(odx_soft_advance(r.dev, 1), EINVAL);
	rig_down(&r);
}

static void jitter_never_overtakes(void **state)
{
	struct rig r = rig_up("latency=10us,jitter=200us,seed=3");

	for (uint64_t i = 0; i < 1000; i++)
		assert_int_equal(submit(&r, 32, i), 0);
	for (uint64_t i = 0; i < 1000; i++)
		expect_wr(r.comp, i);
	rig_down(&r);
}

static void reorder_changes_the_order_and_loses_nothing(void **state)
{
	struct rig r = rig_up("latency=100us,jitter=200us,reorder,seed=3");
	bool seen[1000] = { false }, changed = false;
	struct record rec;

	for (uint64_t i = 0; i < 1000; i++)
		assert_int_equal(submit(&r, 32, i), 0);
	for (uint64_t i = 0; i < 1000; i++) {
		get_ready(r.comp, &rec);
		assert_true(rec.wr_id < 1000);
		assert_false(seen[rec.wr_id]);
		seen[rec.wr_id] = true;
		changed = changed || rec.wr_id != i;
	}
	assert_true(changed);
	rig_down(&r);
}

/* design, exception 1: a timeout is a record with status 0xfe and syndrome 0xbadd00de; hang delays nobody else. */
static void hang_ends_as_aborted_at_the_timeout(void **state)
{
	struct rig r = rig_up("clock=manual,timeout=2s");
	struct record rec;

	assert_int_equal(odx_soft_fault(r.dev, "opcode=0x93b nth=2 hang"), 0);
	for (uint64_t i = 1; i <= 3; i++)
		assert_int_equal(submit(&r, 32, i), 0);
	expect_wr(r.comp, 1);
	expect_wr(r.comp, 3);
	assert_int_equal(odx_soft_advance(r.dev, 2 * SECOND - 1), 0);
	expect_none(r.comp);
	assert_int_equal(odx_soft_advance(r.dev, 1), 0);
	get_ready(r.comp, &rec);
	assert_int_equal(rec.wr_id, 2);
	expect_aborted(&rec);
	rig_down(&r);
}

/* A synchronous call that hangs returns ETIMEDOUT. */
static void synchronous_hang_is_etimedout(void **state)
{
	struct rig r = rig_up("timeout=10ms");

	assert_int_equal(odx_soft_fault(r.dev, "opcode=0x80d nth=1 hang"), 0);
	assert_int_equal(nop(r.ctx), ETIMEDOUT);
	assert_int_equal(nop(r.ctx), 0);
	rig_down(&r);
}

/* devx-abi 5: with every slot timed out, submits, calls, creates and destroys are EAGAIN; late answers heal it. */
static void stalled_slots_are_eagain_until_cleared(void **state)
{
	struct rig r = rig_up("clock=manual,timeout=1s");
	struct record rec;
	uint8_t in[16] = { 0 }, out[16];

	assert_int_equal(odx_soft_fault(r.dev, "opcode=0x93b hang"), 0);
	for (uint64_t i = 0; i < SLOTS; i++)
		assert_int_equal(submit(&r, 32, i), 0);
	assert_int_equal(odx_soft_advance(r.dev, SECOND), 0);
	/* devx-abi 5: timed out ones come in descending slot order. */
	for (uint64_t i = SLOTS; i--;) {
		get_ready(r.comp, &rec);
		assert_int_equal(rec.wr_id, i);
		expect_aborted(&rec);
	}
	assert_int_equal(submit(&r, 32, 1), EAGAIN);
	assert_int_equal(nop(r.ctx), EAGAIN);
	put16(in, 0, ALLOC_FLOW_COUNTER);
	errno = 0;
	assert_null(mlx5dv_devx_obj_create(r.ctx, in, sizeof(in), out, sizeof(out)));
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(mlx5dv_devx_obj_destroy(r.obj), EAGAIN);
	expect_none(r.comp);
	assert_int_equal(odx_soft_fault(r.dev, "clear"), 0);
	assert_int_equal(submit(&r, 32, 2), 0);
	expect_wr(r.comp, 2);
	rig_down(&r);
}

/* devx-abi 5: more than 31 queue without an error; the first in the queue gives up after one timeout. */
static void thirty_second_command_waits_for_a_slot(void **state)
{
	struct rig r = rig_up("clock=manual,timeout=1s");
	struct record rec;

	assert_int_equal(odx_soft_fault(r.dev, "opcode=0x93b delay=900ms"), 0);
	for (uint64_t i = 0; i < SLOTS + 1; i++)
		assert_int_equal(submit(&r, 32, i), 0);
	assert_int_equal(odx_soft_advance(r.dev, 900000000), 0);
	for (uint64_t i = 0; i < SLOTS; i++)
		expect_wr(r.comp, i);
	expect_none(r.comp);
	assert_int_equal(odx_soft_advance(r.dev, 900000000), 0);
	get_ready(r.comp, &rec);
	assert_int_equal(rec.wr_id, SLOTS);
	assert_int_equal(status_of(rec.out), 0);
	rig_down(&r);
}

static void fault_rules_count_from_when_they_are_set(void **state)
{
	struct rig r = rig_up("");
	struct record rec;

	assert_int_equal(submit(&r, 32, 0), 0);
	expect_wr(r.comp, 0);
	assert_int_equal(odx_soft_fault(r.dev, "opcode=0x93b nth=3 status=0x8"), 0);
	for (uint64_t i = 1; i <= 6; i++) {
		assert_int_equal(submit(&r, 32, i), 0);
		get_ready(r.comp, &rec);
		assert_int_equal(status_of(rec.out), i == 3 ? 8 : 0);
	}
	rig_down(&r);
}

static void bad_fault_rules_change_nothing(void **state)
{
	static const char *const bad[] = { "", "opcode=0x93b", "nth=0 hang", "status=0", "hang delay=1ms", "clear hang", "hang hang",
					   "opcode=0x10000 hang", "syndrome=1 hang", "what" };
	struct rig r = rig_up("");

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(odx_soft_fault(r.dev, bad[i]), EINVAL);
	assert_int_equal(odx_soft_fault(r.dev, NULL), EINVAL);
	assert_int_equal(odx_soft_fault(NULL, "hang"), EINVAL);
	assert_int_equal(submit(&r, 32, 1), 0);
	expect_wr(r.comp, 1);
	rig_down(&r);
}

/* inline: the completion is there when submit returns; hold works. */
static void inline_completes_in_submit(void **state)
{
	struct rig r = rig_up("inline");

	for (uint64_t i = 0; i < 100; i++) {
		assert_int_equal(submit(&r, 32, i), 0);
		assert_int_equal(ready(r.comp->fd, POLLIN, 0), POLLIN);
		expect_wr(r.comp, i);
	}
	assert_int_equal(odx_soft_hold(r.dev), 0);
	assert_int_equal(submit(&r, 32, 7), 0);
	expect_none(r.comp);
	assert_int_equal(odx_soft_release(r.dev, 1), 0);
	expect_wr(r.comp, 7);
	rig_down(&r);
}

/* The list of pages at the end of CREATE_UMEM belongs to its layout, however long it is. */
static void strict_lets_umems_pass(void **state)
{
	static char mem[5 * 4096];
	struct rig strict = rig_up("strict");
	struct mlx5dv_devx_umem *umem = mlx5dv_devx_umem_reg(strict.ctx, mem, sizeof(mem), IBV_ACCESS_LOCAL_WRITE);

	assert_non_null(umem);
	assert_int_equal(mlx5dv_devx_umem_dereg(umem), 0);
	rig_down(&strict);
}

/* strict: set bits that no layout defines are refused; without it they are ignored. */
static void strict_refuses_undefined_bits(void **state)
{
	struct rig plain = rig_up(""), strict = rig_up("strict");
	uint8_t in[32], out[32];

	query_inbox(in, plain.id, 1);
	in[9] = 1;
	assert_int_equal(mlx5dv_devx_obj_query(plain.obj, in, sizeof(in), out, sizeof(out)), 0);
	query_inbox(in, strict.id, 1);
	assert_int_equal(mlx5dv_devx_obj_query(strict.obj, in, sizeof(in), out, sizeof(out)), 0);
	in[9] = 1;
	assert_int_equal(mlx5dv_devx_obj_query(strict.obj, in, sizeof(in), out, sizeof(out)), EREMOTEIO);
	assert_int_equal(status_of(out), 3);
	assert_int_not_equal(syndrome_of(out), 0);
	rig_down(&plain);
	rig_down(&strict);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hold_keeps_back_and_release_counts),
		cmocka_unit_test(manual_clock_moves_only_by_advance),
		cmocka_unit_test(advance_needs_a_manual_clock),
		cmocka_unit_test(jitter_never_overtakes),
		cmocka_unit_test(reorder_changes_the_order_and_loses_nothing),
		cmocka_unit_test(hang_ends_as_aborted_at_the_timeout),
		cmocka_unit_test(synchronous_hang_is_etimedout),
		cmocka_unit_test(stalled_slots_are_eagain_until_cleared),
		cmocka_unit_test(thirty_second_command_waits_for_a_slot),
		cmocka_unit_test(fault_rules_count_from_when_they_are_set),
		cmocka_unit_test(bad_fault_rules_change_nothing),
		cmocka_unit_test(inline_completes_in_submit),
		cmocka_unit_test(strict_refuses_undefined_bits),
		cmocka_unit_test(strict_lets_umems_pass),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
