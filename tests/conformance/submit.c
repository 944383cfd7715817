/* SPDX-License-Identifier: BSD-2-Clause */
/* Submitting asynchronous queries: what is refused, with which error first, and the budget. */
#include "conf.h"

#include <sys/socket.h>

static int query_async(struct rig *r, const void *in, size_t inlen, size_t outlen)
{
	return mlx5dv_devx_obj_query_async(r->obj, in, inlen, outlen, 1, r->comp);
}

CASE(lengths, "devx-abi 5", ANY,
     "A submit takes an inbox of 16 to 65535 bytes and an outlen up to 65535; others give EINVAL, and nothing is queued.")
{
	struct rig r = rig();
	uint8_t *in = zeroed(BOX_MAX + 1);
	struct record rec;

	query_inbox(in, r.id, 1);
	CHECK_EQ(query_async(&r, in, 0, OUTLEN), EINVAL);
	CHECK_EQ(query_async(&r, in, HDR_SZ - 1, OUTLEN), EINVAL);
	CHECK_EQ(query_async(&r, in, BOX_MAX + 1, OUTLEN), EINVAL);
	CHECK_EQ(query_async(&r, in, SIZE_MAX, OUTLEN), EINVAL);
	CHECK_EQ(query_async(&r, in, COUNTER_IN, BOX_MAX + 1), EINVAL);
	CHECK_EQ(query_async(&r, in, COUNTER_IN, SIZE_MAX), EINVAL);
	expect_none(r.comp);
	CHECK_EQ(query_async(&r, in, BOX_MAX, BOX_MAX), 0);
	get_ready(r.comp, &rec);
	CHECK_EQ(status_of(rec.out), 0);
}

CASE(without_the_id_is_einval, "deviations 4", OURS,
     "A submit whose inbox is too short to hold its object's id gives EINVAL.")
{
	struct rig r = rig();
	uint8_t in[COUNTER_IN];

	query_inbox(in, r.id, 1);
	for (size_t len = HDR_SZ; len < sizeof(in); len++)
		CHECK_EQ(query_async(&r, in, len, OUTLEN), EINVAL);
	expect_none(r.comp);
}

CASE(without_a_descriptor_is_einval, "devx-abi 8", ANY, "A completion whose descriptor is -1 gives EINVAL.")
{
	struct rig r = rig();
	struct mlx5dv_devx_cmd_comp no_fd = { .fd = -1 };

	CHECK_EQ(submit_to(&r, &no_fd, OUTLEN, 1), EINVAL);
}

CASE(takes_queries_of_its_object_only, "devx-abi 5", ANY,
     "A submit whose opcode is no query, or whose id is not of the object, gives EINVAL, and nothing is queued.")
{
	struct rig r = rig();
	uint8_t in[COUNTER_IN];

	query_inbox(in, r.id + 128, 1);
	CHECK_EQ(query_async(&r, in, sizeof(in), OUTLEN), EINVAL);
	query_inbox(in, r.id - 1, 1);
	CHECK_EQ(query_async(&r, in, sizeof(in), OUTLEN), EINVAL);
	query_inbox(in, r.id, 1);
	for (uint32_t op = 0; op <= UINT16_MAX; op++) {
		if (op == PRM_OP_QUERY_FLOW_COUNTER)
			continue;
		NOTE_OPCODE(op);
		set_opcode(in, (uint16_t)op);
		CHECK_EQ(query_async(&r, in, sizeof(in), OUTLEN), EINVAL);
	}
	expect_none(r.comp);
	query_inbox(in, r.id + 127, 1);
	CHECK_EQ(query_async(&r, in, sizeof(in), OUTLEN), 0);
	expect_wr(r.comp, 1);
}

CASE(refuses_a_tunnel_id, "devx-abi 5", ANY, "A submit with a vhca_tunnel_id gives EINVAL.")
{
	struct rig r = rig();
	uint8_t in[COUNTER_IN];

	query_inbox(in, r.id, 1);
	set_tunnel(in, 1);
	CHECK_EQ(query_async(&r, in, sizeof(in), OUTLEN), EINVAL);
	expect_none(r.comp);
}

CASE(errors_in_order, "devx-abi 5", ANY,
     "A submit with two faults gives the error of the first: the descriptor, then opcode and id, then the budget.")
{
	struct rig r = rig();
	struct mlx5dv_devx_cmd_comp wrong = { .fd = r.ctx->cmd_fd };
	uint8_t in[COUNTER_IN];
	struct record rec;

	for (int i = 0; i < 16; i++)
		CHECK_EQ(submit(&r, BOX_MAX, 1), 0);
	query_inbox(in, r.id + 128, 1);
	CHECK_EQ(query_async(&r, in, sizeof(in), BOX_MAX), EINVAL);
	CHECK_EQ(mlx5dv_devx_obj_query_async(r.obj, in, sizeof(in), BOX_MAX, 1, &wrong), EBADF);
	query_inbox(in, r.id, 1);
	CHECK_EQ(query_async(&r, in, sizeof(in), BOX_MAX + 1), EINVAL);
	CHECK_EQ(query_async(&r, in, sizeof(in), BOX_MAX), EAGAIN);
	for (int i = 0; i < 16; i++)
		get_ready(r.comp, &rec);
	expect_none(r.comp);
}

CASE(foreign_descriptor_is_ebadf, "devx-abi 5", ANY,
     "A descriptor that is no completion, or that of another context, gives EBADF.")
{
	struct rig r = rig();
	struct mlx5dv_devx_cmd_comp *other = new_comp(open_devx(r.dev)), fake;
	int pair[2];

	CHECK_EQ(submit_to(&r, other, OUTLEN, 1), EBADF);
	fake.fd = r.ctx->cmd_fd;
	CHECK_EQ(submit_to(&r, &fake, OUTLEN, 1), EBADF);
	CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	fake.fd = pair[0];
	CHECK_EQ(submit_to(&r, &fake, OUTLEN, 1), EBADF);
	close(pair[0]);
	close(pair[1]);
	CHECK_EQ(submit_to(&r, &fake, OUTLEN, 1), EBADF); /* not open */
}

CASE(destroyed_completion_is_ebadf, "deviations 17", OURS, "A completion that was destroyed is recognised: EBADF.")
{
	struct rig r = rig();
	struct mlx5dv_devx_cmd_comp *comp = new_comp(r.ctx);
	struct record rec;

	destroy_comp(comp);
	CHECK_EQ(submit_to(&r, comp, OUTLEN, 1), EBADF);
	CHECK_EQ(get(comp, &rec), EBADF);
}

CASE(inbox_is_copied, "devx-abi 5", CONTROL, "When submit returns, the inbox was copied and may be reused.")
{
	struct rig r = rig_soft("");
	uint8_t in[COUNTER_IN];
	struct record rec;

	hold(r.dev);
	query_inbox(in, r.id, 1);
	CHECK_EQ(mlx5dv_devx_obj_query_async(r.obj, in, sizeof(in), OUTLEN, 3, r.comp), 0);
	memset(in, 0xff, sizeof(in));
	release(r.dev, UINT32_MAX);
	get_ready(r.comp, &rec);
	CHECK_EQ(status_of(rec.out), 0);
}

CASE(budget_is_one_mebibyte, "devx-abi 5", ANY,
     "Exactly 1,048,576 bytes of outlen fit a completion, from submit until get, then EAGAIN; an outlen of 0 is free, and "
     "a short get frees nothing.")
{
	struct rig r = rig();
	uint8_t small[8];
	struct record rec;

	for (int i = 0; i < 16; i++)
		CHECK_EQ(submit(&r, BOX_MAX, 1), 0);
	CHECK_EQ(submit(&r, 17, 1), EAGAIN);
	CHECK_EQ(submit(&r, 16, 1), 0);
	CHECK_EQ(submit(&r, 1, 1), EAGAIN);
	CHECK_EQ(submit(&r, 0, 1), 0);
	CHECK(ready(r.comp->fd, POLLIN, PATIENCE_MS) & POLLIN);
	CHECK_EQ(get_sized(r.comp, small, sizeof(small)), ENOSPC);
	CHECK_EQ(submit(&r, 1, 1), EAGAIN);
	get_ready(r.comp, &rec);
	CHECK_EQ(submit(&r, BOX_MAX, 1), 0);
	CHECK_EQ(submit(&r, 1, 1), EAGAIN);
	for (int i = 0; i < 18; i++)
		get_ready(r.comp, &rec);
	expect_none(r.comp);
}

CASE(budgets_are_separate, "devx-abi 5", ANY, "Each completion has a budget of its own.")
{
	struct rig r = rig();
	struct mlx5dv_devx_cmd_comp *other = new_comp(r.ctx);
	struct record rec;

	for (int i = 0; i < 16; i++)
		CHECK_EQ(submit(&r, BOX_MAX, 1), 0);
	CHECK_EQ(submit(&r, BOX_MAX, 1), EAGAIN);
	CHECK_EQ(submit_to(&r, other, BOX_MAX, 1), 0);
	expect_wr(other, 1);
	destroy_comp(other);
	for (int i = 0; i < 16; i++)
		get_ready(r.comp, &rec);
}
