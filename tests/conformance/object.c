/* SPDX-License-Identifier: BSD-2-Clause */
/* DEVX objects: create, query, modify, destroy (devx-abi 4 and 8). */
#include "old_conf.h"

#include <stdio.h>

static void expect_create_fails(struct ibv_context *ctx, const void *in, size_t inlen, void *out, size_t outlen, int err)
{
	errno = 0;
	assert_null(mlx5dv_devx_obj_create(ctx, in, inlen, out, outlen));
	assert_int_equal(errno, err);
}

static void create_fills_the_outbox(void **state)
{
	struct rig *r = *state;
	uint8_t in[16] = { 0 }, out[16] = { 0 };
	struct mlx5dv_devx_obj *obj;

	put16(in, 0, ALLOC_FLOW_COUNTER);
	obj = mlx5dv_devx_obj_create(r->ctx, in, sizeof(in), out, sizeof(out));
	assert_non_null(obj);
	assert_int_equal(status_of(out), 0);
	assert_int_not_equal(get32(out, 8), 0);
	assert_int_equal(mlx5dv_devx_obj_destroy(obj), 0);
}

static void create_lengths(void **state)
{
	struct rig *r = *state;
	uint8_t *in = calloc(1, 65536), *out = calloc(1, 65536);
	struct mlx5dv_devx_obj *obj;

	put16(in, 0, ALLOC_FLOW_COUNTER);
	expect_create_fails(r->ctx, in, 0, out, 16, EINVAL);
	expect_create_fails(r->ctx, in, 15, out, 16, EINVAL);
	expect_create_fails(r->ctx, in, 65536, out, 16, EINVAL);
	expect_create_fails(r->ctx, in, 16, out, 0, EINVAL);
	expect_create_fails(r->ctx, in, 16, out, 15, EINVAL);
	expect_create_fails(r->ctx, in, 16, out, 65536, EINVAL);
	obj = mlx5dv_devx_obj_create(r->ctx, in, 65535, out, 65535);
	assert_non_null(obj);
	assert_int_equal(mlx5dv_devx_obj_destroy(obj), 0);
	free(in);
	free(out);
}

/* devx-abi 4: only creating opcodes; SET_FLOW_TABLE_ENTRY with op_mod 0, CREATE_PSV with one psv. */
static void create_refuses_other_opcodes(void **state)
{
	static const uint16_t others[] = { 0, NOP, QUERY_FLOW_COUNTER, DEALLOC_FLOW_COUNTER, 0xa01, 0xa02, 0xa03, CREATE_UCTX,
					   CREATE_UMEM, QUERY_HCA_CAP, 0x301, 0xffff };
	struct rig *r = *state;
	uint8_t in[64] = { 0 }, out[64];

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		put16(in, 0, others[i]);
		expect_create_fails(r->ctx, in, sizeof(in), out, sizeof(out), EINVAL);
	}
	put16(in, 0, 0x936);
	put16(in, 6, 1);
	expect_create_fails(r->ctx, in, sizeof(in), out, sizeof(out), EINVAL);
	put16(in, 6, 0);
	put16(in, 0, 0x600);
	in[8] = 2 << 4;
	expect_create_fails(r->ctx, in, sizeof(in), out, sizeof(out), EINVAL);
}

static void create_refuses_a_tunnel_id(void **state)
{
	struct rig *r = *state;
	uint8_t in[16] = { 0 }, out[16];

	put16(in, 0, ALLOC_PD);
	put16(in, 4, 1);
	expect_create_fails(r->ctx, in, sizeof(in), out, sizeof(out), EINVAL);
}

/* devx-abi 4: only CREATE_MKEY's inbox length is checked beyond 16 bytes. */
static void create_mkey_inbox_is_checked_whole(void **state)
{
	struct rig *r = *state;
	uint8_t in[272] = { 0 }, out[16];

	put16(in, 0, CREATE_MKEY);
	expect_create_fails(r->ctx, in, 16, out, sizeof(out), EINVAL);
	expect_create_fails(r->ctx, in, 271, out, sizeof(out), EINVAL);
}

/* devx-abi 4: a failed create is NULL with EREMOTEIO, and the outbox says why. */
static void failed_create_is_eremoteio_with_outbox(void **state)
{
	struct rig *r = *state;
	uint8_t in[16] = { 0 }, out[16] = { 0 };

	put16(in, 0, ALLOC_FLOW_COUNTER);
	in[15] = 3; /* design: exactly one bit */
	expect_create_fails(r->ctx, in, sizeof(in), out, sizeof(out), EREMOTEIO);
	assert_int_equal(status_of(out), 3);
	assert_int_not_equal(syndrome_of(out), 0);
}

static int query(struct mlx5dv_devx_obj *obj, uint32_t id, uint32_t n, void *out, size_t outlen)
{
	uint8_t in[32];

	query_inbox(in, id, n);
	return mlx5dv_devx_obj_query(obj, in, sizeof(in), out, outlen);
}

static void query_reads_a_counter(void **state)
{
	struct rig *r = *state;
	uint8_t out[32];

	assert_int_equal(odx_soft_traffic(r->dev, r->id, 3, 300), 0);
	assert_int_equal(query(r->obj, r->id, 1, out, sizeof(out)), 0);
	assert_int_equal(get64(out, 16), 3);
	assert_int_equal(get64(out, 24), 300);
}

/* devx-abi 4: any id in [base, base + bulk). */
static void query_takes_any_counter_of_the_bulk(void **state)
{
	struct rig *r = *state;
	uint8_t out[16 + 128 * 16];

	assert_int_equal(odx_soft_traffic(r->dev, r->id + 127, 1, 64), 0);
	assert_int_equal(query(r->obj, r->id + 127, 1, out, 32), 0);
	assert_int_equal(get64(out, 24), 64);
	assert_int_equal(query(r->obj, r->id + 128, 1, out, 32), EINVAL);
	assert_int_equal(query(r->obj, r->id - 1, 1, out, 32), EINVAL);
	assert_int_equal(query(r->obj, r->id, 128, out, sizeof(out)), 0);
	assert_int_equal(get64(out, 16 + 127 * 16 + 8), 64);
	/* A range that leaves the bulk passes the kernel's check of its first id, and the device refuses it. */
	assert_int_equal(query(r->obj, r->id + 1, 128, out, sizeof(out)), EREMOTEIO);
	assert_int_not_equal(status_of(out), 0);
}

static void query_checks_object_id_and_opcode(void **state)
{
	struct rig *r = *state;
	uint32_t other_id, pd;
	struct mlx5dv_devx_obj *other = counters(r->ctx, 0, &other_id), *pd_obj = alloc_pd(r->ctx, &pd);
	uint8_t in[32] = { 0 }, out[64];

	assert_int_equal(query(r->obj, other_id, 1, out, 32), EINVAL);
	assert_int_equal(query(other, r->id, 1, out, 32), EINVAL);
	assert_int_equal(query(pd_obj, r->id, 1, out, 32), EINVAL);
	put16(in, 0, 0x201); /* QUERY_MKEY with the counter's id */
	put32(in, 8, r->id);
	assert_int_equal(mlx5dv_devx_obj_query(r->obj, in, sizeof(in), out, sizeof(out)), EINVAL);
	for (uint16_t op = DEALLOC_FLOW_COUNTER; op >= ALLOC_FLOW_COUNTER; op--) {
		put16(in, 0, op);
		put32(in, 28, r->id);
		assert_int_equal(mlx5dv_devx_obj_query(r->obj, in, sizeof(in), out, sizeof(out)), EINVAL);
	}
	put16(in, 0, QUERY_FLOW_COUNTER);
	put16(in, 4, 9); /* tunnel */
	assert_int_equal(mlx5dv_devx_obj_query(r->obj, in, sizeof(in), out, sizeof(out)), EINVAL);
	assert_int_equal(mlx5dv_devx_obj_destroy(other), 0);
	assert_int_equal(mlx5dv_devx_obj_destroy(pd_obj), 0);
}

/* design, exception 3: an inbox too short to hold its object's id is EINVAL. */
static void query_lengths(void **state)
{
	struct rig *r = *state;
	uint8_t *in = calloc(1, 65536), *out = calloc(1, 65536);

	query_inbox(in, r->id, 1);
	assert_int_equal(mlx5dv_devx_obj_query(r->obj, in, 0, out, 32), EINVAL);
	assert_int_equal(mlx5dv_devx_obj_query(r->obj, in, 15, out, 32), EINVAL);
	assert_int_equal(mlx5dv_devx_obj_query(r->obj, in, 16, out, 32), EINVAL);
	assert_int_equal(mlx5dv_devx_obj_query(r->obj, in, 31, out, 32), EINVAL);
	assert_int_equal(mlx5dv_devx_obj_query(r->obj, in, 65536, out, 32), EINVAL);
	assert_int_equal(mlx5dv_devx_obj_query(r->obj, in, 32, out, 15), EINVAL);
	assert_int_equal(mlx5dv_devx_obj_query(r->obj, in, 32, out, 65536), EINVAL);
	assert_int_equal(mlx5dv_devx_obj_query(r->obj, in, 65535, out, 65535), 0);
	/* Long enough for the ABI, too short for one counter: the device says BAD_OUTP_LEN. */
	assert_int_equal(mlx5dv_devx_obj_query(r->obj, in, 32, out, 16), EREMOTEIO);
	assert_int_equal(status_of(out), 0x51);
	free(in);
	free(out);
}

static void modify_refuses_what_is_no_modify(void **state)
{
	struct rig *r = *state;
	uint8_t in[64] = { 0 }, out[64];

	put32(in, 28, r->id);
	put32(in, 8, r->id);
	for (uint16_t op = ALLOC_FLOW_COUNTER; op <= QUERY_FLOW_COUNTER; op++) {
		put16(in, 0, op);
		assert_int_equal(mlx5dv_devx_obj_modify(r->obj, in, sizeof(in), out, sizeof(out)), EINVAL);
	}
	put16(in, 0, 0x403); /* MODIFY_CQ: another type's */
	assert_int_equal(mlx5dv_devx_obj_modify(r->obj, in, sizeof(in), out, sizeof(out)), EINVAL);
	put16(in, 0, 0x50c); /* SQD2RTS_QP is in no list */
	assert_int_equal(mlx5dv_devx_obj_modify(r->obj, in, sizeof(in), out, sizeof(out)), EINVAL);
}

/* devx-abi 4: destroys map the firmware's status to an errno; the object stays usable. */
static void failed_destroy_maps_the_status(void **state)
{
	static const struct {
		uint8_t status;
		int err;
	} map[] = {
		{ 0x1, EIO }, { 0x2, EINVAL }, { 0x3, EINVAL }, { 0x4, EIO }, { 0x5, EINVAL }, { 0x6, EBUSY }, { 0x7, EAGAIN },
		{ 0x8, ENOMEM }, { 0x9, EINVAL }, { 0xa, EINVAL }, { 0xf, EAGAIN }, { 0x10, EINVAL }, { 0x30, EINVAL },
		{ 0x40, EINVAL }, { 0x50, EIO }, { 0x51, EIO }, { 0x7f, EIO },
	};
	struct rig *r = *state;
	uint32_t id;
	struct mlx5dv_devx_obj *obj = counters(r->ctx, 0, &id);
	uint8_t out[32];
	char rule[64];

	for (size_t i = 0; i < sizeof(map) / sizeof(map[0]); i++) {
		snprintf(rule, sizeof(rule), "opcode=0x93a nth=1 status=0x%x", map[i].status);
		assert_int_equal(odx_soft_fault(r->dev, rule), 0);
		assert_int_equal(mlx5dv_devx_obj_destroy(obj), map[i].err);
		assert_int_equal(query(obj, id, 1, out, sizeof(out)), 0);
		assert_int_equal(odx_soft_fault(r->dev, "clear"), 0);
	}
	assert_int_equal(mlx5dv_devx_obj_destroy(obj), 0);
}

/* design: a stale handle is refused. */
static void destroyed_object_is_enoent(void **state)
{
	struct rig *r = *state;
	uint32_t id;
	struct mlx5dv_devx_obj *obj = counters(r->ctx, 0, &id);
	uint8_t in[32], out[32];

	query_inbox(in, id, 1);
	assert_int_equal(mlx5dv_devx_obj_destroy(obj), 0);
	assert_int_equal(mlx5dv_devx_obj_destroy(obj), ENOENT);
	assert_int_equal(mlx5dv_devx_obj_query(obj, in, sizeof(in), out, sizeof(out)), ENOENT);
	assert_int_equal(mlx5dv_devx_obj_modify(obj, in, sizeof(in), out, sizeof(out)), ENOENT);
	assert_int_equal(mlx5dv_devx_obj_query_async(obj, in, sizeof(in), 32, 1, r->comp), ENOENT);
	expect_none(r->comp);
}

static void null_arguments(void **state)
{
	struct rig *r = *state;
	uint8_t in[32], out[32];

	query_inbox(in, r->id, 1);
	assert_int_equal(mlx5dv_devx_obj_destroy(NULL), 0);
	assert_int_equal(mlx5dv_devx_obj_query(NULL, in, sizeof(in), out, sizeof(out)), EINVAL);
	assert_int_equal(mlx5dv_devx_obj_query(r->obj, NULL, sizeof(in), out, sizeof(out)), EINVAL);
	assert_int_equal(mlx5dv_devx_obj_query(r->obj, in, sizeof(in), NULL, sizeof(out)), EINVAL);
	assert_int_equal(mlx5dv_devx_obj_modify(NULL, in, sizeof(in), out, sizeof(out)), EINVAL);
	assert_int_equal(mlx5dv_devx_obj_modify(r->obj, NULL, sizeof(in), out, sizeof(out)), EINVAL);
	assert_int_equal(mlx5dv_devx_obj_query_async(NULL, in, sizeof(in), 32, 1, r->comp), EINVAL);
	assert_int_equal(mlx5dv_devx_obj_query_async(r->obj, NULL, sizeof(in), 32, 1, r->comp), EINVAL);
	assert_int_equal(mlx5dv_devx_obj_query_async(r->obj, in, sizeof(in), 32, 1, NULL), EINVAL);
	expect_create_fails(NULL, in, 32, out, 32, EINVAL);
	put16(in, 0, ALLOC_FLOW_COUNTER);
	expect_create_fails(r->ctx, NULL, 16, out, 16, EINVAL);
	expect_create_fails(r->ctx, in, 16, NULL, 16, EINVAL);
}

/* An object in use cannot be destroyed. BAD_RES_STATE is EINVAL. */
static void pd_in_use_cannot_be_destroyed(void **state)
{
	struct rig *r = *state;
	uint32_t pd;
	struct mlx5dv_devx_obj *pd_obj = alloc_pd(r->ctx, &pd), *counter;
	uint8_t in[16] = { 0 }, out[16];

	put16(in, 0, ALLOC_FLOW_COUNTER);
	put32(in, 8, pd);
	counter = mlx5dv_devx_obj_create(r->ctx, in, sizeof(in), out, sizeof(out));
	if (!counter) /* a profile may not take a pd: alloc_flow_counter_pd */
		skip();
	assert_int_equal(mlx5dv_devx_obj_destroy(pd_obj), EINVAL);
	assert_int_equal(mlx5dv_devx_obj_destroy(counter), 0);
	assert_int_equal(mlx5dv_devx_obj_destroy(pd_obj), 0);
}

static void query_with_clear_reads_and_zeroes(void **state)
{
	struct rig *r = *state;
	uint32_t id;
	struct mlx5dv_devx_obj *obj = counters(r->ctx, 0, &id);
	uint8_t in[32], out[32];

	assert_int_equal(odx_soft_traffic(r->dev, id, 5, 500), 0);
	query_inbox(in, id, 1);
	in[24] |= 0x80;
	assert_int_equal(mlx5dv_devx_obj_query(obj, in, sizeof(in), out, sizeof(out)), 0);
	assert_int_equal(get64(out, 16), 5);
	assert_int_equal(query(obj, id, 1, out, sizeof(out)), 0);
	assert_int_equal(get64(out, 16), 0);
	assert_int_equal(get64(out, 24), 0);
	assert_int_equal(mlx5dv_devx_obj_destroy(obj), 0);
	assert_int_equal(odx_soft_traffic(r->dev, id, 1, 1), ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(create_fills_the_outbox),
		cmocka_unit_test(create_lengths),
		cmocka_unit_test(create_refuses_other_opcodes),
		cmocka_unit_test(create_refuses_a_tunnel_id),
		cmocka_unit_test(create_mkey_inbox_is_checked_whole),
		cmocka_unit_test(failed_create_is_eremoteio_with_outbox),
		cmocka_unit_test(query_reads_a_counter),
		cmocka_unit_test(query_takes_any_counter_of_the_bulk),
		cmocka_unit_test(query_checks_object_id_and_opcode),
		cmocka_unit_test(query_lengths),
		cmocka_unit_test(modify_refuses_what_is_no_modify),
		cmocka_unit_test(failed_destroy_maps_the_status),
		cmocka_unit_test(destroyed_object_is_enoent),
		cmocka_unit_test(null_arguments),
		cmocka_unit_test(pd_in_use_cannot_be_destroyed),
		cmocka_unit_test(query_with_clear_reads_and_zeroes),
	};

	return cmocka_run_group_tests(tests, group_up, group_down);
}
