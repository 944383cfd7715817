/* SPDX-License-Identifier: BSD-2-Clause */
/* When and in which order commands complete: hold, manual clock, latency, faults, slots. */
#include "conf.h"

CASE(hold_keeps_back_and_release_counts, "odx_soft_hold(3)", SOFT,
     "A held device completes no asynchronous command, and synchronous ones go on; a release completes the n oldest.")
{
	struct rig r = rig_soft("");

	hold(r.dev);
	for (uint64_t i = 0; i < 100; i++)
		CHECK_EQ(submit(&r, OUTLEN, i), 0);
	CHECK_EQ(nop(r.ctx), 0); /* synchronous ones go on */
	expect_none(r.comp);
	release(r.dev, 0);
	expect_none(r.comp);
	release(r.dev, 3);
	for (uint64_t i = 0; i < 3; i++) {
		CHECK_EQ(ready(r.comp->fd, POLLIN, 0), POLLIN); /* readable when the call returned */
		expect_wr(r.comp, i);
	}
	expect_none(r.comp);
	release(r.dev, 1000); /* fewer than n: all, and holding goes on */
	for (uint64_t i = 3; i < 100; i++)
		expect_wr(r.comp, i);
	CHECK_EQ(submit(&r, OUTLEN, 100), 0);
	CHECK_EQ(nop(r.ctx), 0);
	expect_none(r.comp);
	release(r.dev, UINT32_MAX);
	expect_wr(r.comp, 100);
	CHECK_EQ(submit(&r, OUTLEN, 101), 0);
	expect_wr(r.comp, 101);
}

CASE(manual_clock_moves_only_by_advance, "odx_soft_advance(3)", SOFT,
     "With clock=manual, time moves only by advance: a delayed command comes when its time has come, and others pass it.")
{
	struct rig r = rig_soft("clock=manual");

	fault(r.dev, "opcode=0x93b nth=1 delay=5ms");
	CHECK_EQ(submit(&r, OUTLEN, 1), 0);
	CHECK_EQ(submit(&r, OUTLEN, 2), 0);
	expect_wr(r.comp, 2);
	advance(r.dev, 4999999);
	expect_none(r.comp);
	advance(r.dev, 1);
	CHECK_EQ(ready(r.comp->fd, POLLIN, 0), POLLIN);
	expect_wr(r.comp, 1);
	CHECK_EQ(odx_soft_advance(r.dev, UINT64_MAX), EINVAL);
}

CASE(advance_needs_a_manual_clock, "odx_soft_advance(3)", SOFT,
     "Advance gives EINVAL on a device whose clock is not manual.")
{
	struct rig r = rig_soft("");

	CHECK_EQ(odx_soft_advance(r.dev, 1), EINVAL);
}

CASE(jitter_never_overtakes, "opendevx(7)", SOFT,
     "Without reorder, completions come in the order of submission, whatever the jitter.")
{
	struct rig r = rig_soft("latency=10us,jitter=200us,seed=3");

	for (uint64_t i = 0; i < 1000; i++)
		CHECK_EQ(submit(&r, OUTLEN, i), 0);
	for (uint64_t i = 0; i < 1000; i++)
		expect_wr(r.comp, i);
}

CASE(reorder_changes_the_order_and_loses_nothing, "devx-abi 5", SOFT,
     "The order is that of completion, not of submission, and each command completes once.")
{
	struct rig r = rig_soft("latency=100us,jitter=200us,reorder,seed=3");
	bool seen[1000] = { false }, changed = false;
	struct record rec;

	for (uint64_t i = 0; i < 1000; i++)
		CHECK_EQ(submit(&r, OUTLEN, i), 0);
	for (uint64_t i = 0; i < 1000; i++) {
		get_ready(r.comp, &rec);
		CHECK(rec.wr_id < 1000);
		CHECK(!seen[rec.wr_id]);
		seen[rec.wr_id] = true;
		changed = changed || rec.wr_id != i;
	}
	CHECK(changed);
}

CASE(hang_ends_as_aborted_at_the_timeout, "deviations 1", SOFT,
     "A command without an answer completes at the timeout, with status 0xfe and syndrome 0xbadd00de, and delays nobody "
     "else.")
{
	struct rig r = rig_soft("clock=manual,timeout=2s");
	struct record rec;

	fault(r.dev, "opcode=0x93b nth=2 hang");
	for (uint64_t i = 1; i <= 3; i++)
		CHECK_EQ(submit(&r, OUTLEN, i), 0);
	expect_wr(r.comp, 1);
	expect_wr(r.comp, 3);
	advance(r.dev, 2 * SECOND - 1);
	expect_none(r.comp);
	advance(r.dev, 1);
	get_ready(r.comp, &rec);
	CHECK_EQ(rec.wr_id, 2);
	expect_aborted(&rec);
}

CASE(synchronous_hang_is_etimedout, "devx-abi 4", SOFT, "A synchronous command without an answer gives ETIMEDOUT.")
{
	struct rig r = rig_soft("timeout=10ms");

	fault(r.dev, "opcode=0x80d nth=1 hang");
	CHECK_EQ(nop(r.ctx), ETIMEDOUT);
	CHECK_EQ(nop(r.ctx), 0);
}

CASE(late_commands_change_nothing, "odx_soft_fault(3)", SOFT,
     "A command that would be answered after its timeout is not executed: a create leaves nothing behind, and what a destroy "
     "should end can be destroyed later.")
{
	struct ibv_context *ctx = open_devx(soft("timeout=10ms"));
	uint8_t in[HDR_SZ] = { 0 }, out[HDR_SZ];
	struct mlx5dv_devx_obj *pd;
	uint32_t id, next;

	pd = alloc_pd(ctx, &id);
	fault(ctx->device, "delay=1s");
	set_opcode(in, PRM_OP_ALLOC_PD);
	refuse(ctx, in, sizeof(in), out, sizeof(out), ETIMEDOUT);
	CHECK_EQ(mlx5dv_devx_obj_destroy(pd), ETIMEDOUT);
	fault(ctx->device, "clear");
	alloc_pd(ctx, &next);
	CHECK_EQ(next, id + 1);
	CHECK_EQ(destroy(pd), 0);
}

CASE(stalled_slots_are_eagain_until_cleared, "devx-abi 5", SOFT,
     "Timed out commands complete in descending order; with every slot stalled, submits, calls, creates and destroys give "
     "EAGAIN until late answers heal it.")
{
	struct rig r = rig_soft("clock=manual,timeout=1s");
	struct record rec;
	INBOX(in, alloc_flow_counter_in, ALLOC_FLOW_COUNTER);
	uint8_t out[SZ(alloc_flow_counter_out)];

	fault(r.dev, "opcode=0x93b hang");
	for (uint64_t i = 0; i < SLOTS; i++)
		CHECK_EQ(submit(&r, OUTLEN, i), 0);
	advance(r.dev, SECOND);
	/* devx-abi 5: timed out ones come in descending slot order. */
	for (uint64_t i = SLOTS; i--;) {
		get_ready(r.comp, &rec);
		CHECK_EQ(rec.wr_id, i);
		expect_aborted(&rec);
	}
	CHECK_EQ(submit(&r, OUTLEN, 1), EAGAIN);
	CHECK_EQ(nop(r.ctx), EAGAIN);
	refuse(r.ctx, in, sizeof(in), out, sizeof(out), EAGAIN);
	CHECK_EQ(destroy(r.obj), EAGAIN);
	expect_none(r.comp);
	fault(r.dev, "clear");
	CHECK_EQ(submit(&r, OUTLEN, 2), 0);
	expect_wr(r.comp, 2);
}

CASE(thirty_second_command_waits_for_a_slot, "devx-abi 5", SOFT,
     "More than 31 commands queue without an error, and wait for a slot.")
{
	struct rig r = rig_soft("clock=manual,timeout=1s");
	struct record rec;

	fault(r.dev, "opcode=0x93b delay=900ms");
	for (uint64_t i = 0; i < SLOTS + 1; i++)
		CHECK_EQ(submit(&r, OUTLEN, i), 0);
	advance(r.dev, 900000000);
	for (uint64_t i = 0; i < SLOTS; i++)
		expect_wr(r.comp, i);
	expect_none(r.comp);
	advance(r.dev, 900000000);
	get_ready(r.comp, &rec);
	CHECK_EQ(rec.wr_id, SLOTS);
	CHECK_EQ(status_of(rec.out), 0);
}

CASE(fault_rules_count_from_when_they_are_set, "odx_soft_fault(3)", CONTROL,
     "A rule counts from when it is set, and with nth fires once.")
{
	struct rig r = rig_soft("");
	struct record rec;

	CHECK_EQ(submit(&r, OUTLEN, 0), 0);
	expect_wr(r.comp, 0);
	fault(r.dev, "opcode=0x93b nth=3 status=0x8");
	for (uint64_t i = 1; i <= 6; i++) {
		CHECK_EQ(submit(&r, OUTLEN, i), 0);
		get_ready(r.comp, &rec);
		CHECK_EQ(status_of(rec.out), i == 3 ? 8 : 0);
	}
}

CASE(bad_fault_rules_change_nothing, "odx_soft_fault(3)", SOFT,
     "A rule that does not parse gives EINVAL and changes nothing.")
{
	static const char *const bad[] = { "", "opcode=0x93b", "nth=0 hang", "status=0", "hang delay=1ms", "clear hang", "hang hang",
					   "opcode=0x10000 hang", "syndrome=1 hang", "what" };
	struct rig r = rig_soft("");

	for (size_t i = 0; i < N_OF(bad); i++)
		CHECK_EQ(odx_soft_fault(r.dev, bad[i]), EINVAL);
	CHECK_EQ(odx_soft_fault(r.dev, NULL), EINVAL);
	CHECK_EQ(odx_soft_fault(NULL, "hang"), EINVAL);
	CHECK_EQ(submit(&r, OUTLEN, 1), 0);
	expect_wr(r.comp, 1);
}

CASE(inline_completes_in_submit, "opendevx(7)", SOFT,
     "On an inline device the completion is there when submit returns, unless it is held.")
{
	struct rig r = rig_soft("inline");

	for (uint64_t i = 0; i < 100; i++) {
		CHECK_EQ(submit(&r, OUTLEN, i), 0);
		CHECK_EQ(ready(r.comp->fd, POLLIN, 0), POLLIN);
		expect_wr(r.comp, i);
	}
	hold(r.dev);
	CHECK_EQ(submit(&r, OUTLEN, 7), 0);
	expect_none(r.comp);
	release(r.dev, 1);
	expect_wr(r.comp, 7);
}

CASE(strict_lets_umems_pass, "opendevx(7)", SOFT, "A strict device accepts a list of pages of any length.")
{
	static char mem[5 * 4096];

	CHECK_EQ(dereg(reg(open_devx(soft("strict")), mem, sizeof(mem), IBV_ACCESS_LOCAL_WRITE)), 0);
}

CASE(strict_refuses_undefined_bits, "opendevx(7)", SOFT,
     "A strict device refuses bits that no layout defines, with BAD_PARAM; any other ignores them.")
{
	struct rig plain = rig_soft(""), strict = rig_soft("strict");
	uint8_t in[COUNTER_IN], out[COUNTERS_OUT(1)];

	query_inbox(in, plain.id, 1);
	in[9] = 1; /* of no field */
	CHECK_EQ(mlx5dv_devx_obj_query(plain.obj, in, sizeof(in), out, sizeof(out)), 0);
	query_inbox(in, strict.id, 1);
	CHECK_EQ(mlx5dv_devx_obj_query(strict.obj, in, sizeof(in), out, sizeof(out)), 0);
	in[9] = 1;
	CHECK_EQ(mlx5dv_devx_obj_query(strict.obj, in, sizeof(in), out, sizeof(out)), EREMOTEIO);
	CHECK_EQ(status_of(out), 3);
	CHECK_NE(syndrome_of(out), 0);
}
