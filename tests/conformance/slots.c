/* SPDX-License-Identifier: BSD-2-Clause */
/* Commands that wait for a slot: 31 execute at a time, and what waits longer than the timeout gives up, one after another. */
#include "old_conf.h"

#define SLOTS 31

/* All slots hold a query that is never answered; wr_ids from 0. */
static struct rig hung(void)
{
	struct rig r = rig_up("clock=manual,timeout=1s");

	assert_int_equal(odx_soft_fault(r.dev, "opcode=0x93b hang"), 0);
	for (uint64_t i = 0; i < SLOTS; i++)
		assert_int_equal(submit(&r, 32, i), 0);
	set_nonblock(r.comp->fd, true);
	return r;
}

static void expect_timed_out(struct rig *r, uint64_t wr_id)
{
	struct record rec;

	get_ready(r->comp, &rec);
	assert_int_equal(rec.wr_id, wr_id);
	expect_aborted(&rec);
}

/* verified.md: behind 31 that hang, the one that waited for a slot first, then the hung ones in descending order; the next
 * waiters a whole timeout each. */
static void slot_waits_are_serial(void **state)
{
	struct rig r = hung();

	for (uint64_t i = SLOTS; i < SLOTS + 3; i++)
		assert_int_equal(submit(&r, 32, i), 0);
	assert_int_equal(odx_soft_advance(r.dev, SECOND - 1), 0);
	expect_none(r.comp);
	assert_int_equal(odx_soft_advance(r.dev, 1), 0);
	expect_timed_out(&r, SLOTS);
	for (uint64_t i = SLOTS; i--;)
		expect_timed_out(&r, i);
	expect_none(r.comp);
	assert_int_equal(odx_soft_advance(r.dev, SECOND), 0);
	expect_timed_out(&r, SLOTS + 1);
	expect_none(r.comp);
	assert_int_equal(odx_soft_advance(r.dev, SECOND), 0);
	expect_timed_out(&r, SLOTS + 2);
	expect_none(r.comp);
	assert_int_equal(submit(&r, 32, 99), EAGAIN); /* every slot is stalled */
	assert_int_equal(odx_soft_fault(r.dev, "clear"), 0);
	assert_int_equal(submit(&r, 32, 99), 0);
	expect_wr(r.comp, 99);
	rig_down(&r);
}

struct sync_nop {
	struct runner t;
	struct ibv_context *ctx;
	int err;
};

static void nop(void *arg)
{
	struct sync_nop *n = arg;
	uint8_t in[16] = { NOP >> 8, NOP & 0xff }, out[16];

	n->err = mlx5dv_devx_general_cmd(n->ctx, in, sizeof(in), out, sizeof(out));
}

/* What a synchronous NOP behind them gives when the timeout has passed. */
static int nop_behind(struct rig *r)
{
	struct sync_nop n = { .ctx = r->ctx };

	run(&n.t, nop, &n);
	wait_asleep(&n.t);
	assert_int_equal(odx_soft_advance(r->dev, SECOND), 0);
	join(&n.t);
	return n.err;
}

/* verified.md: at the head of the queue EBUSY, behind others ECANCELED. */
static void sync_at_the_head_is_ebusy(void **state)
{
	struct rig r = hung();

	assert_int_equal(nop_behind(&r), EBUSY);
	assert_int_equal(odx_soft_fault(r.dev, "clear"), 0);
	rig_down(&r);
}

static void sync_behind_others_is_ecanceled(void **state)
{
	struct rig r = hung();

	for (uint64_t i = 0; i < 9; i++)
		assert_int_equal(submit(&r, 32, SLOTS + i), 0);
	assert_int_equal(nop_behind(&r), ECANCELED);
	assert_int_equal(odx_soft_fault(r.dev, "clear"), 0);
	rig_down(&r);
}

/* A command that is late, but within the timeout, gives its slot to one that waits. */
static void a_freed_slot_starts_the_next(void **state)
{
	struct rig r = rig_up("clock=manual,timeout=1s");

	assert_int_equal(odx_soft_fault(r.dev, "opcode=0x93b nth=1 delay=100ms"), 0);
	for (uint64_t i = 2; i <= SLOTS; i++) {
		char rule[64];

		snprintf(rule, sizeof(rule), "opcode=0x93b nth=%u hang", (unsigned int)i);
		assert_int_equal(odx_soft_fault(r.dev, rule), 0);
	}
	for (uint64_t i = 0; i <= SLOTS; i++)
		assert_int_equal(submit(&r, 32, i), 0);
	expect_none(r.comp);
	assert_int_equal(odx_soft_advance(r.dev, SECOND / 10), 0);
	expect_wr(r.comp, 0);
	expect_wr(r.comp, SLOTS);
	assert_int_equal(odx_soft_fault(r.dev, "clear"), 0);
	assert_int_equal(odx_soft_advance(r.dev, SECOND), 0);
	rig_down(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slot_waits_are_serial),
		cmocka_unit_test(sync_at_the_head_is_ebusy),
		cmocka_unit_test(sync_behind_others_is_ecanceled),
		cmocka_unit_test(a_freed_slot_starts_the_next),
	};

	return cmocka_run_group_tests_name("slots", tests, NULL, NULL);
}
