/* SPDX-License-Identifier: BSD-2-Clause */
/* Commands that wait for a slot: 31 execute at a time, and what waits longer than the timeout gives up, one after another. */
#include "conf.h"

/* All slots hold a query that is never answered; wr_ids from 0. */
static struct rig hung(void)
{
	struct rig r = rig_soft("clock=manual,timeout=1s");

	fault(r.dev, "opcode=0x93b hang");
	for (uint64_t i = 0; i < SLOTS; i++)
		CHECK_EQ(submit(&r, OUTLEN, i), 0);
	set_nonblock(r.comp->fd, true);
	return r;
}

static void expect_timed_out(struct rig *r, uint64_t wr_id)
{
	struct record rec;

	get_ready(r->comp, &rec);
	CHECK_EQ(rec.wr_id, wr_id);
	expect_aborted(&rec);
}

CASE(slot_waits_are_serial, "verified 1", SOFT,
     "Behind 31 that hang, the one that waited for a slot times out first, then those in descending order, then the "
     "next waiters, a whole timeout each.")
{
	struct rig r = hung();

	for (uint64_t i = SLOTS; i < SLOTS + 3; i++)
		CHECK_EQ(submit(&r, OUTLEN, i), 0);
	advance(r.dev, SECOND - 1);
	expect_none(r.comp);
	advance(r.dev, 1);
	expect_timed_out(&r, SLOTS);
	for (uint64_t i = SLOTS; i--;)
		expect_timed_out(&r, i);
	expect_none(r.comp);
	advance(r.dev, SECOND);
	expect_timed_out(&r, SLOTS + 1);
	expect_none(r.comp);
	advance(r.dev, SECOND);
	expect_timed_out(&r, SLOTS + 2);
	expect_none(r.comp);
	CHECK_EQ(submit(&r, OUTLEN, 99), EAGAIN); /* every slot is stalled */
	fault(r.dev, "clear");
	CHECK_EQ(submit(&r, OUTLEN, 99), 0);
	expect_wr(r.comp, 99);
}

struct sync_nop {
	struct ibv_context *ctx;
	int err;
};

static void nop_main(void *arg)
{
	struct sync_nop *n = arg;

	n->err = nop(n->ctx);
}

/* What a synchronous NOP behind them gives when the timeout has passed. */
static int nop_behind(struct rig *r)
{
	struct sync_nop *n = zeroed(sizeof(*n));
	struct runner *t;

	n->ctx = r->ctx;
	t = run(nop_main, n);
	wait_asleep(t);
	advance(r->dev, SECOND);
	join(t);
	return n->err;
}

CASE(sync_at_the_head_is_ebusy, "verified 1", SOFT,
     "A synchronous command that waits for a slot at the head of the queue gives EBUSY at the timeout.")
{
	struct rig r = hung();

	CHECK_EQ(nop_behind(&r), EBUSY);
	fault(r.dev, "clear");
}

CASE(sync_behind_others_is_ecanceled, "verified 1", SOFT,
     "A synchronous command that waits behind others gives ECANCELED at the timeout.")
{
	struct rig r = hung();

	for (uint64_t i = 0; i < 9; i++)
		CHECK_EQ(submit(&r, OUTLEN, SLOTS + i), 0);
	CHECK_EQ(nop_behind(&r), ECANCELED);
	fault(r.dev, "clear");
}

CASE(a_freed_slot_starts_the_next, "devx-abi 5", SOFT,
     "A command that is late gives its slot to the one that waits when it completes.")
{
	struct rig r = rig_soft("clock=manual,timeout=1s");

	fault(r.dev, "opcode=0x93b nth=1 delay=100ms");
	for (unsigned int i = 2; i <= SLOTS; i++)
		fault(r.dev, "opcode=0x93b nth=%u hang", i);
	for (uint64_t i = 0; i <= SLOTS; i++)
		CHECK_EQ(submit(&r, OUTLEN, i), 0);
	expect_none(r.comp);
	advance(r.dev, SECOND / 10);
	expect_wr(r.comp, 0);
	expect_wr(r.comp, SLOTS);
	fault(r.dev, "clear");
	advance(r.dev, SECOND);
}
