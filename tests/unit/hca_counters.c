/* SPDX-License-Identifier: BSD-2-Clause */
/* Flow counters and queue counters. */
#include "dev.h"

static void bulk_cmd(struct cmd *c, uint16_t uid, uint32_t bits, uint32_t log)
{
	CMD(c, ALLOC_FLOW_COUNTER, uid, alloc_flow_counter);
	SET(c, alloc_flow_counter_in, flow_counter_bulk, bits);
	SET(c, alloc_flow_counter_in, flow_counter_bulk_log_size, log);
}

static uint32_t new_bulk(struct dev *d, uint16_t uid, uint32_t bits, uint32_t log)
{
	struct cmd c;

	bulk_cmd(&c, uid, bits, log);
	cmd_ok(d, &c);
	return (uint32_t)OUT(&c, alloc_flow_counter_out, flow_counter_id);
}

static void query_cmd(struct cmd *c, uint16_t uid, uint32_t id, uint32_t n, uint32_t room)
{
	CMD(c, QUERY_FLOW_COUNTER, uid, query_flow_counter);
	SET(c, query_flow_counter_in, flow_counter_id, id);
	SET(c, query_flow_counter_in, num_of_counters, n);
	c->outlen += room * PRM_SZ(traffic_counter);
}

static uint64_t value(struct cmd *c, uint32_t i)
{
	return prm_get(&c->o, (PRM_SZ(query_flow_counter_out) + i * PRM_SZ(traffic_counter)) * 8, 64);
}

static void values(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d), other = new_uid(d);
	uint32_t single = new_bulk(d, uid, 0, 0), bulk = new_bulk(d, uid, 4, 0);
	struct cmd c;

	assert_true(single < bulk || single >= bulk + 512);
	assert_true(hca_traffic(d->h, single, 5, 6));
	assert_true(hca_traffic(d->h, bulk + 511, 7, 8));
	assert_false(hca_traffic(d->h, bulk + 512, 1, 1));
	assert_false(hca_traffic(d->h, UINT32_MAX, 1, 1));

	query_cmd(&c, uid, single, 0, 1);
	cmd_ok(d, &c);
	assert_int_equal(value(&c, 0), 5);
	query_cmd(&c, uid, bulk + 510, 2, 2);
	SET(&c, query_flow_counter_in, clear, 1);
	cmd_ok(d, &c);
	assert_int_equal(value(&c, 0), 0);
	assert_int_equal(value(&c, 1), 7);
	cmd_ok(d, &c);
	assert_int_equal(value(&c, 1), 0);

	query_cmd(&c, uid, bulk + 510, 3, 3);
	cmd_refused(d, &c, SYN_COUNTER_RANGE);
	query_cmd(&c, uid, bulk, 2, 1);
	cmd_refused(d, &c, SYN_COUNTER_OUT);
	query_cmd(&c, other, bulk, 1, 1);
	cmd_refused(d, &c, SYN_COUNTER);
	query_cmd(&c, uid, bulk + 2, 4, 0);
	SET(&c, query_flow_counter_in, dump_to_memory, 1);
	cmd_refused(d, &c, SYN_COUNTER_ALIGN);
	query_cmd(&c, uid, bulk, 4, 0);
	SET(&c, query_flow_counter_in, dump_to_memory, 1);
	cmd_refused(d, &c, SYN_MKEY);

	destroy(d, PRM_OP_DEALLOC_FLOW_COUNTER, uid, bulk + 1, SYN_COUNTER_BASE);
	destroy(d, PRM_OP_DEALLOC_FLOW_COUNTER, other, bulk, SYN_COUNTER);
	destroy(d, PRM_OP_DEALLOC_FLOW_COUNTER, uid, bulk, SYN_OK);
	query_cmd(&c, uid, bulk + 7, 1, 1);
	cmd_refused(d, &c, SYN_COUNTER);
}

static void sizes(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d);
	uint32_t pd = new_pd(d, uid), id;
	struct cmd c;

	bulk_cmd(&c, uid, 3, 0);
	cmd_refused(d, &c, SYN_COUNTER_BULK);
	bulk_cmd(&c, uid, 1, 3);
	cmd_refused(d, &c, SYN_COUNTER_BULK);
	bulk_cmd(&c, uid, 0, FLOW_COUNTER_LOG_MAX + 1);
	cmd_refused(d, &c, SYN_COUNTER_BULK);
	for (uint32_t log = 0; log <= FLOW_COUNTER_LOG_MAX; log += 6) {
		id = new_bulk(d, uid, 0, log);
		assert_int_equal(id % (1u << log), 0);
		assert_true(hca_traffic(d->h, id + (1u << log) - 1, 1, 1));
		destroy(d, PRM_OP_DEALLOC_FLOW_COUNTER, uid, id, SYN_OK);
	}
	bulk_cmd(&c, uid, 1, 0);
	SET(&c, alloc_flow_counter_in, pd, pd + 1);
	cmd_refused(d, &c, SYN_PD);
	SET(&c, alloc_flow_counter_in, pd, pd);
	cmd_ok(d, &c);
	destroy(d, PRM_OP_DEALLOC_PD, uid, pd, SYN_PD_BUSY);
	bulk_cmd(&c, uid, 1, 0);
	for (unsigned int k = 1; k <= 2; k++) {
		fail_alloc = k;
		cmd_refused(d, &c, SYN_NO_MEMORY);
	}
}

static void exhausted(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d);
	uint32_t id;
	struct cmd c;

	d->h->tables[OBJ_FLOW_COUNTER].next = FLOW_COUNTER_LAST + 1 - 128;
	id = new_bulk(d, uid, 1, 0);
	assert_int_equal(id, FLOW_COUNTER_LAST + 1 - 128);
	bulk_cmd(&c, uid, 0, 0);
	cmd_refused(d, &c, SYN_COUNTER_LIMIT);
	destroy(d, PRM_OP_DEALLOC_FLOW_COUNTER, uid, id, SYN_OK);
	assert_int_equal(new_bulk(d, uid, 0, 0), id); /* a range that came back is split */
	bulk_cmd(&c, uid, 1, 0);
	cmd_refused(d, &c, SYN_COUNTER_LIMIT);
}

static void query_q(struct dev *d, uint16_t uid, uint32_t id, enum syn why)
{
	struct cmd c;

	CMD(&c, QUERY_Q_COUNTER, uid, query_q_counter);
	SET(&c, query_q_counter_in, counter_set_id, id);
	SET(&c, query_q_counter_in, clear, 1);
	if (why != SYN_OK) {
		cmd_refused(d, &c, why);
		return;
	}
	cmd_ok(d, &c);
	for (uint32_t i = 8; i < c.outlen; i++)
		assert_int_equal(c.out[i], 0);
}

static void q_counters(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d), other = new_uid(d);
	struct cmd c;
	uint32_t id;

	CMD(&c, ALLOC_Q_COUNTER, uid, alloc_q_counter);
	cmd_ok(d, &c);
	id = (uint32_t)OUT(&c, alloc_q_counter_out, counter_set_id);
	assert_int_not_equal(id, 0);
	query_q(d, uid, id, SYN_OK);
	query_q(d, other, id, SYN_Q_COUNTER);
	query_q(d, uid, 0, SYN_Q_COUNTER);
	destroy(d, PRM_OP_DEALLOC_Q_COUNTER, other, id, SYN_Q_COUNTER);

	CMD(&c, QUERY_Q_COUNTER, uid, query_q_counter);
	SET(&c, query_q_counter_in, aggregate, 1);
	cmd_ok(d, &c);
	SET(&c, query_q_counter_in, other_vport, 1);
	cmd_refused(d, &c, SYN_Q_COUNTER_VPORT);

	/* 255 in all: one is taken. */
	CMD(&c, ALLOC_Q_COUNTER, uid, alloc_q_counter);
	for (int i = 1; i < 255; i++)
		cmd_ok(d, &c);
	cmd_refused(d, &c, SYN_Q_COUNTER_LIMIT);
	assert_int_equal(OUT(&c, nop_out, syndrome), 0x587239);
	destroy(d, PRM_OP_DEALLOC_Q_COUNTER, uid, id, SYN_OK);
	cmd_ok(d, &c);
	assert_int_equal(OUT(&c, alloc_q_counter_out, counter_set_id), id);
}

int run_counter_tests(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, dev_setup, dev_teardown)
	const struct CMUnitTest tests[] = { TEST(values), TEST(sizes), TEST(exhausted), TEST(q_counters) };

	return cmocka_run_group_tests_name("counters", tests, NULL, NULL);
}
