/* SPDX-License-Identifier: BSD-2-Clause */
/* What only a driver makes, on a bare device: resized CQs in listed pages, memory keys over listed pages, its own queue pairs. */
#include "tests_queues.h"

static void resize_cmd(struct cmd *c, uint16_t uid, uint32_t cqn, uint32_t log, uint32_t pages, uint64_t first)
{
	struct prm_box cqc;

	CMD(c, MODIFY_CQ, uid, modify_cq);
	cmd_op_mod(c, 1);
	SET(c, modify_cq_in, cqn, cqn);
	SET(c, modify_cq_in, modify_field_select_resize_field_select, 7);
	cqc = PRM_SUB(&c->i, modify_cq_in, cq_context);
	PRM_SET(&cqc, cqc, log_cq_size, log);
	list_pas(c, PRM_SZ(modify_cq_in), pages, first, PAGE);
}

/* The CQE that ends a queue is written where its pages are listed. */
static void resize(void **state)
{
	struct base b = bare_base(state);
	struct prm_box cqc;
	struct make m;
	struct cmd c;
	uint32_t cqn;

	make_pas_cq(&b, &m);
	list_pas(&m.c, PRM_SZ(create_cq_in), PAS_PAGES, MEM_ADDR + 8 * PAGE, PAGE);
	PRM_SET(&m.ctx, cqc, page_offset, 2);
	PRM_SET(&m.ctx, cqc, log_cq_size, 6);
	cqn = create_ok(&b, &m);
	resize_cmd(&c, b.uid, cqn, 7, 1, MEM_ADDR);
	cmd_refused(b.d, &c, SYN_CQ_PAGES);
	resize_cmd(&c, b.uid, cqn, 7, 2, MEM_ADDR + 2 * PAGE);
	b.d->deny = true;
	cmd_refused(b.d, &c, SYN_CQ_MEMORY);
	b.d->deny = false;
	fail_alloc = 1;
	cmd_refused(b.d, &c, SYN_NO_MEMORY);
	fail_alloc = 2;
	cmd_refused(b.d, &c, SYN_NO_MEMORY);
	b.d->h->cfg.memory = 1 << 20;
	b.d->h->charged = b.d->h->cfg.memory;
	cmd_refused(b.d, &c, SYN_MEMORY_LIMIT);
	b.d->h->charged = 0;
	b.d->h->cfg.memory = 0;
	assert_int_equal(b.d->mem[8 * PAGE + 2 * 64 + 63], 0);
	cmd_ok(b.d, &c);
	assert_int_equal(b.d->mem[8 * PAGE + 2 * 64 + 63], 0x50); /* page_offset counts 64ths of a page */
	cqc = QUERY_CTX(&b, &c, QUERY_CQ, query_cq_out, cq_context, cqn);
	assert_int_equal(PRM_GET(&cqc, cqc, log_cq_size), 7);
	assert_int_equal(PRM_GET(&cqc, cqc, page_offset), 0);
	resize_cmd(&c, b.uid, cqn, 1, 1, MEM_ADDR);
	cmd_ok(b.d, &c);
	assert_int_equal(b.d->mem[2 * PAGE + 64 + 63], 0x50);
	destroy(b.d, PRM_OP_DESTROY_CQ, b.uid, cqn, SYN_OK);
}

#define OCTWORD 16u

/* As Linux registers memory: with uid 0, in a PD of the program. */
static struct prm_box pas_mkey(struct cmd *c, uint16_t uid, uint32_t pd, uint32_t octwords, uint64_t start, uint64_t len)
{
	struct prm_box mkc;

	mkey_cmd(c, uid, pd, 0, start, len);
	SET(c, create_mkey_in, mkey_umem_valid, 0);
	SET(c, create_mkey_in, translations_octword_actual_size, octwords);
	mkc = PRM_SUB(&c->i, create_mkey_in, memory_key_mkey_entry);
	PRM_SET(&mkc, mkc, log_page_size, 12);
	list_pas(c, PRM_SZ(create_mkey_in), octwords * 2, MEM_ADDR + 4 * PAGE, 2 * PAGE);
	return mkc;
}

static void mkey_refused(void **state)
{
	struct base b = bare_base(state);
	struct prm_box mkc;
	struct cmd c;

	mkc = pas_mkey(&c, 0, b.pd, 2, 0x10800, 3 * PAGE);
	PRM_SET(&mkc, mkc, log_page_size, 11);
	cmd_refused(b.d, &c, SYN_MKEY_PAGE);
	PRM_SET(&mkc, mkc, log_page_size, 12);
	c.inlen -= OCTWORD;
	cmd_refused(b.d, &c, SYN_MKEY_MTT);
	pas_mkey(&c, 0, b.pd, 2, 0x10800, 4 * PAGE); /* reaches into a fifth page */
	cmd_refused(b.d, &c, SYN_MKEY_PAGES);
	pas_mkey(&c, 0, b.pd, 2, 0x10800, UINT64_MAX);
	cmd_refused(b.d, &c, SYN_MKEY_PAGES);
	mkc = pas_mkey(&c, 0, b.pd, 2, 0x10800, 4 * PAGE - 0x800);
	for (unsigned int k = 1; k <= 3; k++) {
		fail_alloc = k;
		cmd_refused(b.d, &c, SYN_NO_MEMORY);
	}
	cmd_ok(b.d, &c);
	PRM_SET(&mkc, mkc, length64, 1);
	PRM_SET(&mkc, mkc, len, 0);
	cmd_ok(b.d, &c);
}

static enum syn write_through(struct base *b, uint32_t key, uint16_t uid, uint64_t addr, const char *text)
{
	return mkey_write(b->d->h, key, uid, addr, text, strlen(text));
}

/* A page after the other, from inside the first; the program whose PD it lies in may name it, others may not. */
static void mkey_memory(void **state)
{
	struct base b = bare_base(state);
	struct prm_box mkc;
	uint32_t key, counter;
	struct cmd c;

	pas_mkey(&c, 0, b.pd, 1, 0x10ffe, 0x1000);
	cmd_ok(b.d, &c);
	key = (uint32_t)OUT(&c, create_mkey_out, mkey_index) << 8 | 0x5a;
	assert_int_equal(write_through(&b, key, b.uid, 0x10ffe, "abcd"), SYN_OK);
	assert_memory_equal(b.d->mem + 4 * PAGE + 0xffe, "ab", 2);
	assert_memory_equal(b.d->mem + 6 * PAGE, "cd", 2);
	assert_int_equal(write_through(&b, key, 0, 0x11ffd, "z"), SYN_OK);
	assert_int_equal(write_through(&b, key, b.uid, 0x11ffd, "zz"), SYN_MKEY_RANGE);
	assert_int_equal(write_through(&b, key, b.other, 0x10ffe, "a"), SYN_MKEY);
	assert_int_equal(write_through(&b, key ^ 1, b.uid, 0x10ffe, "a"), SYN_MKEY_TAG);
	destroy(b.d, PRM_OP_DESTROY_MKEY, b.uid, key >> 8, SYN_MKEY);
	destroy(b.d, PRM_OP_DEALLOC_PD, b.uid, b.pd, SYN_PD_BUSY);
	destroy(b.d, PRM_OP_DESTROY_MKEY, 0, key >> 8, SYN_OK);
	/* With access of their own, pages say what is allowed. */
	pas_mkey(&c, 0, b.pd, 1, 0x10000, 0x1000);
	SET(&c, create_mkey_in, pg_access, 1);
	cmd_ok(b.d, &c);
	key = (uint32_t)OUT(&c, create_mkey_out, mkey_index) << 8 | 0x5a;
	assert_int_equal(write_through(&b, key, b.uid, 0x10000, "a"), SYN_MKEY_ACCESS);
	list_pas(&c, PRM_SZ(create_mkey_in), 2, (MEM_ADDR + 4 * PAGE) | MTT_RW, PAGE);
	cmd_ok(b.d, &c);
	key = (uint32_t)OUT(&c, create_mkey_out, mkey_index) << 8 | 0x5a;
	assert_int_equal(write_through(&b, key, b.uid, 0x10000, "a"), SYN_OK);
	/* A key that a work request will give its memory, and a free one. */
	pas_mkey(&c, 0, b.pd, 0, 0, 0x1000);
	cmd_ok(b.d, &c);
	key = (uint32_t)OUT(&c, create_mkey_out, mkey_index) << 8 | 0x5a;
	CMD(&c, ALLOC_FLOW_COUNTER, b.uid, alloc_flow_counter);
	cmd_ok(b.d, &c);
	counter = (uint32_t)OUT(&c, alloc_flow_counter_out, flow_counter_id);
	CMD(&c, QUERY_FLOW_COUNTER, b.uid, query_flow_counter);
	SET(&c, query_flow_counter_in, flow_counter_id, counter);
	SET(&c, query_flow_counter_in, dump_to_memory, 1);
	SET(&c, query_flow_counter_in, mkey, key);
	cmd_refused(b.d, &c, SYN_MKEY_EMPTY);
	mkc = pas_mkey(&c, 0, b.pd, 0, 0, 0);
	PRM_SET(&mkc, mkc, free, 1);
	PRM_SET(&mkc, mkc, umr_en, 1);
	cmd_ok(b.d, &c);
	key = (uint32_t)OUT(&c, create_mkey_out, mkey_index);
	assert_int_equal(write_through(&b, key << 8 | 0x5a, 0, 0, "a"), SYN_MKEY_FREE);
	CMD(&c, QUERY_MKEY, 0, query_mkey);
	SET(&c, query_mkey_in, mkey_index, key);
	cmd_ok(b.d, &c);
	mkc = PRM_SUB(&c.o, query_mkey_out, memory_key_mkey_entry);
	assert_int_equal(PRM_GET(&mkc, mkc, free), 1);
	assert_int_equal(PRM_GET(&mkc, mkc, umr_en), 1);
}

enum { ST_RC = 0, ST_QP1 = 8, ST_REG_UMR = 12 };

static void qp_of_st(struct base *b, struct cmd *c, uint16_t uid, unsigned int st)
{
	struct prm_box qpc;

	qp_cmd(c, uid, b->pd, b->cqn, 0);
	SET(c, create_qp_in, wq_umem_valid, 0);
	qpc = PRM_SUB(&c->i, create_qp_in, qpc);
	PRM_SET(&qpc, qpc, st, st);
	PRM_SET(&qpc, qpc, dbr_umem_valid, 0);
	list_pas(c, PRM_SZ(rst2init_qp_in), 1, MEM_ADDR, PAGE);
}

static void step(struct base *b, uint16_t opcode, uint32_t qpn, unsigned int port, unsigned int mtu)
{
	struct prm_box qpc, path;
	struct cmd c;

	cmd_new(&c, opcode, 0, PRM_SZ(rst2init_qp_in), PRM_SZ(rst2init_qp_out));
	SET(&c, rst2init_qp_in, qpn, qpn);
	qpc = PRM_SUB(&c.i, rst2init_qp_in, qpc);
	path = PRM_SUB(&qpc, qpc, primary_address_path);
	PRM_SET(&path, ads, vhca_port_num, port);
	PRM_SET(&qpc, qpc, mtu, mtu);
	cmd_ok(b->d, &c);
}

/* For management packets, and for changes of memory keys: these the driver keeps to itself. */
static void services(void **state)
{
	static const unsigned int sts[] = { ST_QP1, ST_REG_UMR };
	struct base b = bare_base(state);
	struct prm_box qpc;
	struct cmd c;

	for (size_t i = 0; i < sizeof(sts) / sizeof(sts[0]); i++) {
		uint32_t qpn;

		qp_of_st(&b, &c, b.uid, sts[i]);
		cmd_refused(b.d, &c, SYN_QP_ST);
		qp_of_st(&b, &c, 0, sts[i]);
		cmd_ok(b.d, &c);
		qpn = (uint32_t)OUT(&c, create_qp_out, qpn);
		step(&b, PRM_OP_RST2INIT_QP, qpn, 1, 0);
		step(&b, PRM_OP_INIT2RTR_QP, qpn, 0, 5);
		step(&b, PRM_OP_RTR2RTS_QP, qpn, 0, 5);
		cmd_new(&c, PRM_OP_QUERY_QP, 0, PRM_SZ(query_qp_in), PRM_SZ(rst2init_qp_in));
		SET(&c, query_qp_in, qpn, qpn);
		cmd_ok(b.d, &c);
		qpc = PRM_SUB(&c.o, query_qp_out, qpc);
		assert_int_equal(PRM_GET(&qpc, qpc, state), 3);
		assert_int_equal(PRM_GET(&qpc, qpc, st), sts[i]);
	}
	/* The second may lie in no PD. */
	qp_of_st(&b, &c, 0, ST_REG_UMR);
	qpc = PRM_SUB(&c.i, create_qp_in, qpc);
	PRM_SET(&qpc, qpc, pd, 0);
	cmd_ok(b.d, &c);
	destroy(b.d, PRM_OP_DESTROY_QP, 0, (uint32_t)OUT(&c, create_qp_out, qpn), SYN_OK);
	PRM_SET(&qpc, qpc, pd, b.pd + 99);
	cmd_refused(b.d, &c, SYN_PD);
	PRM_SET(&qpc, qpc, pd, 0);
	PRM_SET(&qpc, qpc, st, ST_QP1);
	cmd_refused(b.d, &c, SYN_PD);
	qp_of_st(&b, &c, 0, ST_REG_UMR + 1);
	cmd_refused(b.d, &c, SYN_QP_ST);
	qp_of_st(&b, &c, b.uid, ST_RC);
	cmd_ok(b.d, &c);
}

static void rate_cmd(struct cmd *c, uint16_t uid, uint32_t index, uint32_t rate)
{
	struct prm_box ctx;

	CMD(c, SET_PP_RATE_LIMIT, uid, set_pp_rate_limit);
	SET(c, set_pp_rate_limit_in, rate_limit_index, index);
	ctx = PRM_SUB(&c->i, set_pp_rate_limit_in, ctx);
	PRM_SET(&ctx, set_pp_rate_limit_context, rate_limit, rate);
}

static void make_pas_sq(struct base *b, struct make *m)
{
	struct prm_box wq;

	make_sq(b, m, 0);
	PRM_SET(&m->ctx, sqc, tis_lst_sz, 0);
	wq = PRM_SUB(&m->ctx, sqc, wq);
	PRM_SET(&wq, wq, wq_umem_valid, 0);
	PRM_SET(&wq, wq, dbr_umem_valid, 0);
	list_pas(&m->c, PRM_SZ(create_sq_in), 1, MEM_ADDR, PAGE);
}

/* Rates of the driver's are everybody's, those of a program its own; the one that a queue has may go. */
static void rates(void **state)
{
	struct base b = bare_base(state), other = b;
	struct make m;
	struct cmd c;

	rate_cmd(&c, 0, 0, 100);
	cmd_refused(b.d, &c, SYN_RATE_INDEX);
	rate_cmd(&c, 0, RATE_LIMITS, 100);
	cmd_refused(b.d, &c, SYN_RATE_INDEX);
	rate_cmd(&c, 0, 1, RATE_KBPS_MAX + 1);
	cmd_refused(b.d, &c, SYN_RATE);
	make_pas_sq(&b, &m);
	PRM_SET(&m.ctx, sqc, packet_pacing_rate_limit_index, 1);
	cmd_refused(b.d, &m.c, SYN_SQ_RATE);
	rate_cmd(&c, 0, 1, RATE_KBPS_MAX);
	cmd_ok(b.d, &c);
	cmd_ok(b.d, &m.c);
	rate_cmd(&c, b.uid, 2, 5000);
	cmd_ok(b.d, &c);
	PRM_SET(&m.ctx, sqc, packet_pacing_rate_limit_index, 2);
	cmd_ok(b.d, &m.c);
	rate_cmd(&c, b.other, 2, 0);
	cmd_refused(b.d, &c, SYN_RATE_UID);
	other.uid = b.other;
	other.pd = new_pd(b.d, b.other);
	make_pas_sq(&other, &m);
	PRM_SET(&m.ctx, sqc, packet_pacing_rate_limit_index, 2);
	cmd_refused(b.d, &m.c, SYN_SQ_RATE);
	PRM_SET(&m.ctx, sqc, packet_pacing_rate_limit_index, 1);
	cmd_ok(b.d, &m.c);
	rate_cmd(&c, b.uid, 2, 0);
	cmd_ok(b.d, &c);
	make_pas_sq(&b, &m);
	PRM_SET(&m.ctx, sqc, packet_pacing_rate_limit_index, 2);
	cmd_refused(b.d, &m.c, SYN_SQ_RATE);
}

/* A device in a process has none. */
static void no_rates(void **state)
{
	struct cmd c;

	rate_cmd(&c, 0, 1, 100);
	cmd_refused(*state, &c, SYN_BAD_OP);
}

/* Linux gives a page back while queues name it, in vain, and ends the context when these are gone. */
static void uars_go_with_their_context(void **state)
{
	struct base b = bare_base(state);
	struct make m;
	struct cmd c;
	uint32_t uar, sqn, other;

	CMD(&c, ALLOC_UAR, b.other, alloc_uar);
	cmd_ok(b.d, &c);
	other = OUT(&c, alloc_uar_out, uar);
	CMD(&c, ALLOC_UAR, b.uid, alloc_uar);
	cmd_ok(b.d, &c);
	uar = OUT(&c, alloc_uar_out, uar);
	make_pas_sq(&b, &m);
	m.ctx = PRM_SUB(&m.ctx, sqc, wq);
	PRM_SET(&m.ctx, wq, uar_page, uar);
	sqn = create_ok(&b, &m);
	destroy(b.d, PRM_OP_DEALLOC_UAR, b.uid, uar, SYN_UAR_BUSY);
	destroy(b.d, PRM_OP_DEALLOC_PD, b.uid, b.pd, SYN_PD_BUSY);
	CMD(&c, DESTROY_UCTX, 0, destroy_uctx);
	SET(&c, destroy_uctx_in, uid, b.uid);
	cmd_refused(b.d, &c, SYN_UID_OBJECTS);
	destroy(b.d, PRM_OP_DESTROY_SQ, b.uid, sqn, SYN_OK);
	destroy(b.d, PRM_OP_DEALLOC_PD, b.uid, b.pd, SYN_OK);
	destroy(b.d, PRM_OP_DEALLOC_TRANSPORT_DOMAIN, b.uid, b.td, SYN_OK);
	cmd_ok(b.d, &c);
	destroy(b.d, PRM_OP_DEALLOC_UAR, 0, uar, SYN_UAR);
	destroy(b.d, PRM_OP_DEALLOC_UAR, b.other, other, SYN_OK);
}

int run_driver_tests(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, dev_setup_bare, dev_teardown)
	const struct CMUnitTest tests[] = { TEST(resize), TEST(mkey_refused), TEST(mkey_memory), TEST(services), TEST(rates), TEST(uars_go_with_their_context),
		cmocka_unit_test_setup_teardown(no_rates, dev_setup, dev_teardown) };

	return cmocka_run_group_tests_name("driver", tests, NULL, NULL);
}
