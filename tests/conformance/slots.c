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
     "Behind 31 that hang, the one that waited for a slot times out first, then those in descending order, then the next "
     "waiters, a whole timeout each.")
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

/* Half of the slots, rounded up: what commands on general objects may take (devx-abi 5). */
#define PERMITS 16

#define SCHEDULING_ELEMENT 0x26 /* a general object that every profile has */
#define NIC 3

static struct mlx5dv_devx_obj *new_element(struct ibv_context *ctx, uint32_t *id)
{
	uint8_t in[SZ(create_sched_elem_in)] = { 0 }, out[HDR_SZ];
	struct mlx5dv_devx_obj *obj;

	set_opcode(in, PRM_OP_CREATE_GENERAL_OBJECT);
	set_op_mod(in, SCHEDULING_ELEMENT);
	SET(IN(in, create_sched_elem_in, sched_elem), sched_elem, scheduling_hierarchy, NIC);
	obj = create(ctx, in, sizeof(in), out, sizeof(out));
	*id = (uint32_t)GET(out, general_obj_out_cmd_hdr, obj_id);
	return obj;
}

static int query_element(struct mlx5dv_devx_obj *obj, uint32_t id, struct mlx5dv_devx_cmd_comp *comp, uint64_t wr_id)
{
	INBOX(in, general_obj_in_cmd_hdr, QUERY_GENERAL_OBJECT);

	set_op_mod(in, SCHEDULING_ELEMENT);
	SET(in, general_obj_in_cmd_hdr, obj_id, id);
	return mlx5dv_devx_obj_query_async(obj, in, sizeof(in), HDR_SZ + SZ(sched_elem), wr_id, comp);
}

CASE(general_objects_have_16_permits, "devx-abi 5, verified 1", SOFT,
     "Of asynchronous commands on general objects 16 may be in flight on a device, whatever their completions; the next "
     "one gives EBUSY and queues nothing, and other commands go on.")
{
	struct rig r = rig_soft("");
	struct mlx5dv_devx_cmd_comp *other = new_comp(r.ctx);
	uint32_t id;
	struct mlx5dv_devx_obj *obj = new_element(r.ctx, &id);

	hold(r.dev);
	for (uint64_t i = 0; i < PERMITS; i++)
		CHECK_EQ(query_element(obj, id, i % 2 ? other : r.comp, i), 0);
	CHECK_EQ(query_element(obj, id, r.comp, 99), EBUSY);
	CHECK_EQ(query_element(obj, id, other, 99), EBUSY);
	CHECK_EQ(submit(&r, OUTLEN, 100), 0); /* a flow counter */
	CHECK_EQ(nop(r.ctx), 0);
	release(r.dev, 1);
	CHECK_EQ(query_element(obj, id, other, PERMITS), 0); /* the permit came back with the completion */
	CHECK_EQ(query_element(obj, id, other, 99), EBUSY);
	release(r.dev, UINT32_MAX);
	for (uint64_t i = 0; i <= PERMITS; i += 2)
		expect_wr(i < PERMITS ? r.comp : other, i < PERMITS ? i : 1);
	expect_wr(r.comp, 100);
	for (uint64_t i = 3; i < PERMITS; i += 2)
		expect_wr(other, i);
	expect_wr(other, PERMITS);
	expect_none(r.comp);
	expect_none(other);
}

struct maker {
	struct ibv_context *ctx;
	struct mlx5dv_devx_obj *obj;
	uint32_t id;
};

static void maker_main(void *arg)
{
	struct maker *m = arg;

	m->obj = new_element(m->ctx, &m->id);
}

CASE(a_synchronous_one_waits_for_a_permit, "devx-abi 5, verified 1", SOFT,
     "A synchronous command on a general object waits for a permit, and the next that comes back is its own.")
{
	struct rig r = rig_soft("clock=manual");
	struct maker *m = zeroed(sizeof(*m));
	uint32_t id;
	struct mlx5dv_devx_obj *obj = new_element(r.ctx, &id);
	struct runner *t;

	for (unsigned int i = 1; i <= PERMITS + 1; i++)
		fault(r.dev, "opcode=0xa02 nth=%u delay=%us", i, i == 1 ? 1 : 2);
	for (uint64_t i = 0; i < PERMITS; i++)
		CHECK_EQ(query_element(obj, id, r.comp, i), 0);
	m->ctx = r.ctx;
	t = run(maker_main, m);
	wait_asleep(t);
	CHECK(!is_done(t));
	advance(r.dev, SECOND);
	join(t); /* it had the permit, and gave it back */
	CHECK_EQ(query_element(obj, id, r.comp, PERMITS), 0);
	CHECK_EQ(query_element(obj, id, r.comp, 99), EBUSY);
	advance(r.dev, 2 * SECOND);
	for (uint64_t i = 0; i <= PERMITS; i++)
		expect_wr(r.comp, i);
}

CASE(held_permits_stop_no_synchronous_one, "odx_soft_hold(3)", SOFT,
     "While a device holds, synchronous commands on general objects go on, though held ones have all permits; who waited for one "
     "goes on too.")
{
	struct rig r = rig_soft("clock=manual");
	struct maker *m = zeroed(sizeof(*m));
	uint32_t id, other;
	struct mlx5dv_devx_obj *obj = new_element(r.ctx, &id);
	struct runner *t;

	fault(r.dev, "opcode=0xa02 delay=1s");
	for (uint64_t i = 0; i < PERMITS; i++)
		CHECK_EQ(query_element(obj, id, r.comp, i), 0);
	m->ctx = r.ctx;
	t = run(maker_main, m);
	wait_asleep(t);
	hold(r.dev);
	join(t);
	fault(r.dev, "clear");
	CHECK_EQ(destroy(new_element(r.ctx, &other)), 0);
	CHECK_EQ(query_element(obj, id, r.comp, 99), EBUSY);
	release(r.dev, 1);
	CHECK_EQ(query_element(obj, id, r.comp, PERMITS), 0);
	CHECK_EQ(query_element(obj, id, r.comp, 99), EBUSY);
	release(r.dev, UINT32_MAX);
	for (uint64_t i = 0; i <= PERMITS; i++)
		expect_wr(r.comp, i);
}

struct destroyer {
	struct mlx5dv_devx_obj *obj;
	int err;
};

static void destroyer_main(void *arg)
{
	struct destroyer *d = arg;

	d->err = mlx5dv_devx_obj_destroy(d->obj);
}

CASE(removal_frees_those_who_wait_for_a_permit, "devx-abi 5", SOFT,
     "Who waits for a permit of a device that is removed goes on: a destroy succeeds, as on every removed device.")
{
	struct rig r = rig_soft("clock=manual");
	struct destroyer *d = zeroed(sizeof(*d));
	uint32_t id, victim;
	struct mlx5dv_devx_obj *obj = new_element(r.ctx, &id);
	struct runner *t;

	d->obj = new_element(r.ctx, &victim);
	fault(r.dev, "opcode=0xa02 delay=1s");
	for (uint64_t i = 0; i < PERMITS; i++)
		CHECK_EQ(query_element(obj, id, r.comp, i), 0);
	disown(d->obj);
	t = run(destroyer_main, d);
	wait_asleep(t);
	CHECK_EQ(odx_soft_remove(r.dev), 0);
	join(t);
	CHECK_EQ(d->err, 0);
	for (uint64_t i = 0; i < PERMITS; i++) {
		struct record rec;

		get_ready(r.comp, &rec);
		CHECK_EQ(rec.wr_id, i);
		expect_aborted(&rec);
	}
}

CASE(refused_submit_is_not_charged, "devx-abi 5", SOFT,
     "A submit that gives EAGAIN because the slots are stalled takes nothing of the budget.")
{
	struct rig r = hung();
	struct record rec;

	advance(r.dev, SECOND);
	for (uint64_t i = SLOTS; i--;)
		expect_timed_out(&r, i);
	for (int i = 0; i < 40; i++)
		CHECK_EQ(submit(&r, BOX_MAX, 1), EAGAIN);
	fault(r.dev, "clear");
	for (int i = 0; i < 16; i++)
		CHECK_EQ(submit(&r, BOX_MAX, 1), 0);
	CHECK_EQ(submit(&r, BOX_MAX, 1), EAGAIN);
	for (int i = 0; i < 16; i++)
		get_ready(r.comp, &rec);
}
