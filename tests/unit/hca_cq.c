/* SPDX-License-Identifier: BSD-2-Clause */
#include "dev.h"

static struct prm_box cqc_of(struct cmd *c)
{
	return PRM_SUB(&c->i, create_cq_in, cq_context);
}

static struct prm_box query(struct dev *d, struct cmd *c, uint16_t uid, uint32_t cqn)
{
	CMD(c, QUERY_CQ, uid, query_cq);
	SET(c, query_cq_in, cqn, cqn);
	cmd_ok(d, c);
	return PRM_SUB(&c->o, query_cq_out, cq_context);
}

static void eqns(void **state)
{
	struct dev *d = *state;
	uint32_t eqn, last = 0;

	for (uint32_t v = 0; v < HCA_EQS; v++) {
		assert_true(hca_eqn(d->h, v, &eqn));
		assert_true(eqn > last);
		last = eqn;
	}
	assert_false(hca_eqn(d->h, HCA_EQS, &eqn));
}

static void create_query_destroy(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d), other = new_uid(d);
	uint32_t umem = new_umem(d, uid, 0, 1, MTT_RW), cqn;
	struct prm_box cqc;
	struct cmd c;

	cq_cmd(&c, uid, umem);
	cqc = cqc_of(&c);
	PRM_SET(&cqc, cqc, cq_period, 12);
	PRM_SET(&cqc, cqc, status, 9);
	cmd_ok(d, &c);
	cqn = (uint32_t)OUT(&c, create_cq_out, cqn);
	assert_true(cqn >= CQN_FIRST);
	cqc = query(d, &c, uid, cqn);
	assert_int_equal(PRM_GET(&cqc, cqc, log_cq_size), 4);
	assert_int_equal(PRM_GET(&cqc, cqc, cq_period), 12);
	assert_int_equal(PRM_GET(&cqc, cqc, status), 0);
	assert_int_equal(PRM_GET(&cqc, cqc, st), 0xa);
	CMD(&c, QUERY_CQ, other, query_cq);
	SET(&c, query_cq_in, cqn, cqn);
	cmd_refused(d, &c, SYN_CQ);
	destroy(d, PRM_OP_DESTROY_UMEM, uid, umem, SYN_UMEM_BUSY);
	destroy(d, PRM_OP_DESTROY_CQ, other, cqn, SYN_CQ);
	destroy(d, PRM_OP_DESTROY_CQ, uid, cqn, SYN_OK);
	destroy(d, PRM_OP_DESTROY_UMEM, uid, umem, SYN_OK);
}

/* A doorbell record in a umem of its own holds that one. */
static void doorbell_umem(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d);
	uint32_t umem = new_umem(d, uid, 0, 1, MTT_RW), dbr = new_umem(d, uid, 1, 1, MTT_RW);
	struct prm_box cqc;
	struct cmd c;

	cq_cmd(&c, uid, umem);
	cqc = cqc_of(&c);
	PRM_SET(&cqc, cqc, dbr_umem_id, dbr);
	cmd_ok(d, &c);
	destroy(d, PRM_OP_DESTROY_UMEM, uid, umem, SYN_UMEM_BUSY);
	destroy(d, PRM_OP_DESTROY_UMEM, uid, dbr, SYN_UMEM_BUSY);
	destroy(d, PRM_OP_DESTROY_CQ, uid, (uint32_t)OUT(&c, create_cq_out, cqn), SYN_OK);
	destroy(d, PRM_OP_DESTROY_UMEM, uid, dbr, SYN_OK);
}

/* One field of the context changed. */
static void context(struct dev *d, uint16_t uid, uint32_t umem, uint32_t bit, uint32_t width, uint64_t v, enum syn why)
{
	struct prm_box cqc;
	struct cmd c;

	cq_cmd(&c, uid, umem);
	cqc = cqc_of(&c);
	prm_set(&cqc, bit, width, v);
	cmd_refused(d, &c, why);
}

#define CQC(field) PRM_F_cqc__##field

static void create_refused(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d), other = new_uid(d);
	uint32_t umem = new_umem(d, uid, 0, 1, MTT_RW), ro = new_umem(d, uid, 0, 1, MTT_RO);
	uint32_t foreign = new_umem(d, other, 0, 1, MTT_RW);
	struct prm_box cqc;
	struct cmd c;

	context(d, uid, umem, CQC(apu_cq), 1, SYN_CQ_APU);
	context(d, uid, umem, CQC(log_cq_size), CQ_LOG_SZ_MAX + 1, SYN_CQ_SIZE);
	context(d, uid, umem, CQC(cqe_sz), 3, SYN_CQ_CQE_SZ);
	context(d, uid, umem, CQC(c_eqn_or_apu_element), 0, SYN_CQ_EQN);
	context(d, uid, umem, CQC(c_eqn_or_apu_element), HCA_FIRST_EQN + HCA_EQS, SYN_CQ_EQN);
	context(d, uid, umem, CQC(log_cq_size), 7, SYN_CQ_RANGE);
	context(d, uid, umem, CQC(dbr_umem_valid), 0, SYN_CQ_DBR_UMEM);
	context(d, uid, umem, CQC(dbr_umem_id), foreign, SYN_UMEM);
	context(d, uid, umem, CQC(dbr_umem_id), ro, SYN_CQ_DBR_READ_ONLY);
	context(d, uid, umem, CQC(dbr_addr), PAGE - 7, SYN_CQ_DBR_RANGE);
	context(d, uid, umem, CQC(dbr_addr), UINT64_MAX, SYN_CQ_DBR_RANGE);

	cq_cmd(&c, uid, umem);
	SET(&c, create_cq_in, cq_umem_valid, 0);
	cmd_refused(d, &c, SYN_CQ_UMEM);
	cq_cmd(&c, uid, foreign);
	cmd_refused(d, &c, SYN_UMEM);
	cq_cmd(&c, uid, umem);
	SET(&c, create_cq_in, cq_umem_id, ro);
	cmd_refused(d, &c, SYN_CQ_READ_ONLY);
	cq_cmd(&c, uid, umem);
	SET(&c, create_cq_in, cq_umem_offset, UINT64_MAX);
	cmd_refused(d, &c, SYN_CQ_RANGE);

	/* 64 CQEs of 64 bytes fill the page; of 128 they do not fit. */
	cq_cmd(&c, uid, umem);
	cqc = cqc_of(&c);
	PRM_SET(&cqc, cqc, log_cq_size, 6);
	cmd_ok(d, &c);
	PRM_SET(&cqc, cqc, cqe_sz, 1);
	cmd_refused(d, &c, SYN_CQ_RANGE);

	cq_cmd(&c, uid, umem);
	d->h->tables[OBJ_CQ].next = ID24_LAST + 1;
	cmd_refused(d, &c, SYN_CQ_LIMIT);
}

static void modify_cmd(struct cmd *c, uint16_t uid, uint32_t cqn, uint32_t select)
{
	struct prm_box cqc;

	CMD(c, MODIFY_CQ, uid, modify_cq);
	SET(c, modify_cq_in, cqn, cqn);
	SET(c, modify_cq_in, modify_field_select_resize_field_select, select);
	cqc = PRM_SUB(&c->i, modify_cq_in, cq_context);
	PRM_SET(&cqc, cqc, cq_period, 100);
	PRM_SET(&cqc, cqc, cq_max_count, 200);
	PRM_SET(&cqc, cqc, oi, 1);
	PRM_SET(&cqc, cqc, c_eqn_or_apu_element, 2);
	PRM_SET(&cqc, cqc, cq_period_mode, 1);
	PRM_SET(&cqc, cqc, log_cq_size, 9);
}

static void modify(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d), other = new_uid(d);
	uint32_t cqn = new_cq(d, uid, new_umem(d, uid, 0, 1, MTT_RW));
	struct prm_box cqc;
	struct cmd c;

	modify_cmd(&c, uid, cqn, 0x20);
	cmd_refused(d, &c, SYN_CQ_SELECT);
	modify_cmd(&c, other, cqn, 1);
	cmd_refused(d, &c, SYN_CQ);
	modify_cmd(&c, uid, cqn, 1);
	cmd_op_mod(&c, 2);
	cmd_refused(d, &c, SYN_OP_MOD);
	modify_cmd(&c, uid, cqn, 1);
	cmd_ok(d, &c);
	cqc = query(d, &c, uid, cqn);
	assert_int_equal(PRM_GET(&cqc, cqc, cq_period), 100);
	assert_int_equal(PRM_GET(&cqc, cqc, cq_max_count), 0);
	modify_cmd(&c, uid, cqn, 0x8);
	cqc = PRM_SUB(&c.i, modify_cq_in, cq_context);
	PRM_SET(&cqc, cqc, c_eqn_or_apu_element, 99);
	cmd_refused(d, &c, SYN_CQ_EQN);
	modify_cmd(&c, uid, cqn, 0x1e);
	cmd_ok(d, &c);
	cqc = query(d, &c, uid, cqn);
	assert_int_equal(PRM_GET(&cqc, cqc, cq_max_count), 200);
	assert_int_equal(PRM_GET(&cqc, cqc, oi), 1);
	assert_int_equal(PRM_GET(&cqc, cqc, c_eqn_or_apu_element), 2);
	assert_int_equal(PRM_GET(&cqc, cqc, cq_period_mode), 1);
	assert_int_equal(PRM_GET(&cqc, cqc, log_cq_size), 4);
}

static void resize_cmd(struct cmd *c, uint16_t uid, uint32_t cqn, uint32_t umem, uint32_t log)
{
	struct prm_box cqc;

	CMD(c, MODIFY_CQ, uid, modify_cq);
	cmd_op_mod(c, 1);
	SET(c, modify_cq_in, cqn, cqn);
	SET(c, modify_cq_in, cq_umem_valid, 1);
	SET(c, modify_cq_in, cq_umem_id, umem);
	SET(c, modify_cq_in, modify_field_select_resize_field_select, 7);
	cqc = PRM_SUB(&c->i, modify_cq_in, cq_context);
	PRM_SET(&cqc, cqc, log_cq_size, log);
}

/* The queue moves, and what was the queue ends with a CQE that says so. */
static void resize(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d), other = new_uid(d);
	uint32_t umem = new_umem(d, uid, 0, 1, MTT_RW), larger = new_umem(d, uid, 4, 4, MTT_RW), cqn = new_cq(d, uid, umem);
	struct prm_box cqc;
	struct cmd c;

	resize_cmd(&c, uid, cqn, larger, 8);
	SET(&c, modify_cq_in, modify_field_select_resize_field_select, 9);
	cmd_refused(d, &c, SYN_CQ_RESIZE);
	resize_cmd(&c, uid, cqn, larger, CQ_LOG_SZ_MAX + 1);
	cmd_refused(d, &c, SYN_CQ_SIZE);
	resize_cmd(&c, uid, cqn, larger, 9);
	cmd_refused(d, &c, SYN_CQ_RANGE);
	resize_cmd(&c, uid, cqn, new_umem(d, other, 4, 4, MTT_RW), 8);
	cmd_refused(d, &c, SYN_UMEM);
	resize_cmd(&c, uid, cqn, larger, 8);
	SET(&c, modify_cq_in, cq_umem_valid, 0);
	cmd_refused(d, &c, SYN_CQ_UMEM);
	resize_cmd(&c, uid, cqn, larger, 8);
	d->deny = true;
	cmd_refused(d, &c, SYN_CQ_MEMORY);
	d->deny = false;
	assert_int_equal(d->mem[63], 0);

	resize_cmd(&c, uid, cqn, larger, 6); /* at an offset, and not to the end */
	SET(&c, modify_cq_in, cq_umem_offset, 0x1000);
	cqc = PRM_SUB(&c.i, modify_cq_in, cq_context);
	PRM_SET(&cqc, cqc, cqe_sz, 1);
	PRM_SET(&cqc, cqc, cq_period, 99); /* not among what a resize changes */
	cmd_ok(d, &c);
	assert_int_equal(d->mem[63], 0x50); /* RESIZE_CQ, first pass over the queue */
	cqc = query(d, &c, uid, cqn);
	assert_int_equal(PRM_GET(&cqc, cqc, log_cq_size), 6);
	assert_int_equal(PRM_GET(&cqc, cqc, cqe_sz), 1);
	assert_int_equal(PRM_GET(&cqc, cqc, cq_period), 0);
	assert_int_equal(PRM_GET(&cqc, cqc, producer_counter), 1);
	/* The old umem is not held any more, but by the doorbell record; the new one is. */
	destroy(d, PRM_OP_DESTROY_UMEM, uid, larger, SYN_UMEM_BUSY);
	destroy(d, PRM_OP_DESTROY_UMEM, uid, umem, SYN_UMEM_BUSY);
	/* The second CQE, in the upper half of its 128 bytes. */
	resize_cmd(&c, uid, cqn, umem, 0);
	cmd_ok(d, &c);
	assert_int_equal(d->mem[4 * PAGE + 0x1000 + 128 + 127], 0x50);
	destroy(d, PRM_OP_DESTROY_UMEM, uid, larger, SYN_OK);
	/* In a queue of one CQE each is a pass. */
	d->mem[63] = 0;
	resize_cmd(&c, uid, cqn, umem, 1);
	cmd_ok(d, &c);
	assert_int_equal(d->mem[63], 0x50);
	resize_cmd(&c, uid, cqn, umem, 0);
	cmd_ok(d, &c);
	assert_int_equal(d->mem[127], 0x51);
}

int run_cq_tests(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, dev_setup, dev_teardown)
	const struct CMUnitTest tests[] = { TEST(eqns), TEST(create_query_destroy), TEST(doorbell_umem), TEST(create_refused), TEST(modify), TEST(resize) };

	return cmocka_run_group_tests_name("cq", tests, NULL, NULL);
}
