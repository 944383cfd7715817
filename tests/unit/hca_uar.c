/* SPDX-License-Identifier: BSD-2-Clause */
/* UARs, and the queues that name them. */
#include "dev.h"

static uint32_t new_uar(struct dev *d, uint16_t uid)
{
	struct cmd c;

	CMD(&c, ALLOC_UAR, uid, alloc_uar);
	cmd_ok(d, &c);
	return (uint32_t)OUT(&c, alloc_uar_out, uar);
}

static void dealloc(struct dev *d, uint16_t uid, uint32_t uar, enum syn why)
{
	destroy(d, PRM_OP_DEALLOC_UAR, uid, uar, why);
}

static void numbers_belong_to_a_uid(void **state)
{
	struct dev *d = *state;
	uint16_t a = new_uid(d), b = new_uid(d);
	uint32_t uar = new_uar(d, a), other = new_uar(d, b);

	assert_int_not_equal(uar, 0);
	assert_int_not_equal(uar, other);
	dealloc(d, b, uar, SYN_UAR);
	dealloc(d, a, 0, SYN_UAR);
	dealloc(d, a, 0xffffff, SYN_UAR);
	dealloc(d, a, uar, SYN_OK);
	dealloc(d, a, uar, SYN_UAR);
	dealloc(d, b, other, SYN_OK);
}

static void a_cq_holds_its_uar(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d), foreign = new_uid(d);
	uint32_t umem = new_umem(d, uid, 0, 1, MTT_RW), uar = new_uar(d, uid), other = new_uar(d, foreign), cqn;
	struct prm_box cqc;
	struct cmd c;

	cq_cmd(&c, uid, umem);
	cqc = PRM_SUB(&c.i, create_cq_in, cq_context);
	PRM_SET(&cqc, cqc, uar_page, other);
	cmd_refused(d, &c, SYN_UAR);
	PRM_SET(&cqc, cqc, uar_page, uar);
	cmd_ok(d, &c);
	cqn = (uint32_t)OUT(&c, create_cq_out, cqn);
	dealloc(d, uid, uar, SYN_UAR_BUSY);
	destroy(d, PRM_OP_DESTROY_CQ, uid, cqn, SYN_OK);
	dealloc(d, uid, uar, SYN_OK);
	cmd_refused(d, &c, SYN_UAR);
}

static void a_qp_holds_its_uar(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d);
	uint32_t umem = new_umem(d, uid, 0, 1, MTT_RW), uar = new_uar(d, uid), pd = new_pd(d, uid);
	uint32_t cqn = new_cq(d, uid, umem), qpn;
	struct prm_box qpc;
	struct cmd c;

	qp_cmd(&c, uid, pd, cqn, umem);
	qpc = PRM_SUB(&c.i, create_qp_in, qpc);
	PRM_SET(&qpc, qpc, uar_page, uar + 1);
	cmd_refused(d, &c, SYN_UAR);
	PRM_SET(&qpc, qpc, uar_page, uar);
	cmd_ok(d, &c);
	qpn = (uint32_t)OUT(&c, create_qp_out, qpn);
	dealloc(d, uid, uar, SYN_UAR_BUSY);
	destroy(d, PRM_OP_DESTROY_QP, uid, qpn, SYN_OK);
	dealloc(d, uid, uar, SYN_OK);
}

/* Every page of the 32 MiB that uar_sz tells, but for the 1 MiB of the function's registers. */
static void as_many_as_the_capability_says(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d);
	struct prm_box cap;
	struct cmd c;
	uint32_t n;

	CMD(&c, QUERY_HCA_CAP, 0, query_hca_cap);
	cmd_ok(d, &c);
	cap = PRM_SUB(&c.o, query_hca_cap_out, capability);
	n = (1u << 20 << PRM_GET(&cap, cmd_hca_cap, uar_sz)) / 4096 - HCA_UAR_FIRST;
	for (uint32_t i = 0; i < n; i++)
		new_uar(d, uid);
	CMD(&c, ALLOC_UAR, uid, alloc_uar);
	cmd_refused(d, &c, SYN_UAR_LIMIT);
	dealloc(d, uid, 777, SYN_OK);
	assert_int_equal(new_uar(d, uid), 777);
}

int run_uar_tests(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, dev_setup, dev_teardown)
	const struct CMUnitTest tests[] = {
		TEST(numbers_belong_to_a_uid), TEST(a_cq_holds_its_uar), TEST(a_qp_holds_its_uar),
		TEST(as_many_as_the_capability_says),
	};

	return cmocka_run_group_tests_name("uar", tests, NULL, NULL);
}
