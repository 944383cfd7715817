/* SPDX-License-Identifier: BSD-2-Clause */
/* TIRs and RQTs. */
#include "tests_queues.h"

#define TIRC(field) PRM_F_tirc__##field
#define RQTC(field) PRM_F_rqtc__##field

#define LIST_MAX 8u

/* A command whose context is an rqtc with a list behind it. */
static struct prm_box list_cmd(struct base *b, struct cmd *c, uint16_t opcode, const uint32_t *rqns, uint32_t n)
{
	struct prm_box ctx;

	cmd_new(c, opcode, b->uid, PRM_SZ(create_rqt_in) + n * PRM_SZ(rq_num), PRM_SZ(create_rqt_out));
	ctx = prm_out(c->in + PRM_SZ(create_rqt_in) - PRM_SZ(rqtc), PRM_SZ(rqtc) + LIST_MAX * PRM_SZ(rq_num));
	PRM_SET(&ctx, rqtc, rqt_actual_size, n);
	for (uint32_t i = 0; i < n; i++) {
		struct prm_box e = prm_out(ctx.p + PRM_SZ(rqtc) + i * PRM_SZ(rq_num), PRM_SZ(rq_num));

		PRM_SET(&e, rq_num, rq_num, rqns[i]);
	}
	return ctx;
}

static struct prm_box rqt_cmd(struct base *b, struct make *m, const uint32_t *rqns, uint32_t n)
{
	m->ctx = list_cmd(b, &m->c, PRM_OP_CREATE_RQT, rqns, n);
	PRM_SET(&m->ctx, rqtc, rqt_max_size, LIST_MAX);
	return m->ctx;
}

static uint32_t new_rqt(struct base *b, const uint32_t *rqns, uint32_t n)
{
	struct make m;

	rqt_cmd(b, &m, rqns, n);
	return create_ok(b, &m);
}

static void expect_list(struct base *b, uint32_t rqtn, const uint32_t *rqns, uint32_t n)
{
	struct cmd c;
	struct prm_box ctx = query_ctx_(b, &c, PRM_OP_QUERY_RQT, rqtn, PRM_SZ(query_rqt_out) + LIST_MAX * PRM_SZ(rq_num),
					PRM_F_query_rqt_out__rqt_context);

	assert_int_equal(PRM_GET(&ctx, rqtc, rqt_actual_size), n);
	assert_int_equal(PRM_GET(&ctx, rqtc, rqt_max_size), LIST_MAX);
	for (uint32_t i = 0; i < LIST_MAX; i++) {
		struct prm_box e = prm_in(ctx.p + PRM_SZ(rqtc) + i * PRM_SZ(rq_num), PRM_SZ(rq_num));

		assert_int_equal(PRM_GET(&e, rq_num, rq_num), i < n ? rqns[i] : 0);
	}
}

static void rqt_lists_queues(void **state)
{
	struct base b = queues_base(state);
	uint32_t rqs[3] = { new_rq(&b), new_rq(&b), new_rq(&b) }, rqtn;
	const uint32_t first[] = { rqs[0], rqs[1], rqs[0], rqs[1] }, second[] = { rqs[2] };
	struct prm_box ctx;
	struct cmd c;

	rqtn = new_rqt(&b, first, 4);
	assert_true(rqtn >= RQTN_FIRST);
	expect_list(&b, rqtn, first, 4);
	destroy(b.d, PRM_OP_DESTROY_RQ, b.uid, rqs[0], SYN_RQ_BUSY);
	destroy(b.d, PRM_OP_DESTROY_RQ, b.uid, rqs[2], SYN_OK);
	ctx = list_cmd(&b, &c, PRM_OP_MODIFY_RQT, second, 1);
	SET(&c, modify_rqt_in, rqtn, rqtn);
	cmd_ok(b.d, &c); /* nothing is selected */
	SET(&c, modify_rqt_in, bitmask, 1);
	cmd_refused(b.d, &c, SYN_RQ);
	SET(&c, modify_rqt_in, bitmask, 3);
	cmd_refused(b.d, &c, SYN_SELECT);
	expect_list(&b, rqtn, first, 4);
	SET(&c, modify_rqt_in, bitmask, 1);
	prm_set(&ctx, RQTC(rq_num), rqs[1]);
	cmd_ok(b.d, &c);
	expect_list(&b, rqtn, &rqs[1], 1);
	destroy(b.d, PRM_OP_DESTROY_RQ, b.uid, rqs[0], SYN_OK);
	destroy(b.d, PRM_OP_DESTROY_RQ, b.uid, rqs[1], SYN_RQ_BUSY);
	destroy(b.d, PRM_OP_DESTROY_RQT, b.other, rqtn, SYN_RQT);
	destroy(b.d, PRM_OP_DESTROY_RQT, b.uid, rqtn, SYN_OK);
	destroy(b.d, PRM_OP_DESTROY_RQ, b.uid, rqs[1], SYN_OK);
}

static void rqt_sizes(void **state)
{
	struct base b = queues_base(state);
	uint32_t rqs[LIST_MAX], rqtn;
	struct prm_box ctx;
	struct make m;
	struct cmd c;

	for (uint32_t i = 0; i < LIST_MAX; i++)
		rqs[i] = i ? rqs[0] : new_rq(&b);
	ctx = rqt_cmd(&b, &m, rqs, 4);
	create_with(&b, &m, &ctx, RQTC(rqt_max_size), 0, SYN_RQT_MAX_SIZE);
	create_with(&b, &m, &ctx, RQTC(rqt_max_size), 6, SYN_RQT_MAX_SIZE);
	create_with(&b, &m, &ctx, RQTC(rqt_max_size), 2u << RQT_LOG_SIZE_MAX, SYN_RQT_MAX_SIZE);
	create_with(&b, &m, &ctx, RQTC(rqt_max_size), 1u << RQT_LOG_SIZE_MAX, SYN_OK);
	create_with(&b, &m, &ctx, RQTC(rqt_max_size), 2, SYN_RQT_SIZE);
	create_with(&b, &m, &ctx, RQTC(rqt_actual_size), 0, SYN_RQT_SIZE);
	create_with(&b, &m, &ctx, RQTC(rqt_actual_size), 3, SYN_RQT_SIZE);
	create_with(&b, &m, &ctx, RQTC(rqt_actual_size), 8, SYN_RQT_IN_LEN);
	create_with(&b, &m, &ctx, RQTC(list_q_type), 2, SYN_RQT_LIST_TYPE);
	create_with(&b, &m, &ctx, RQTC(rq_vhca_id_format), 1, SYN_RQT_VHCA);
	rqtn = create_without_memory(&b, &m);
	list_cmd(&b, &c, PRM_OP_MODIFY_RQT, rqs, 8); /* up to the maximum, not past it */
	SET(&c, modify_rqt_in, rqtn, rqtn);
	SET(&c, modify_rqt_in, bitmask, 1);
	cmd_ok(b.d, &c);
	expect_list(&b, rqtn, rqs, 8);
	ctx = prm_out(c.in + PRM_SZ(create_rqt_in) - PRM_SZ(rqtc), PRM_SZ(rqtc));
	PRM_SET(&ctx, rqtc, rqt_actual_size, 16);
	cmd_refused(b.d, &c, SYN_RQT_SIZE);
	cmd_new(&c, PRM_OP_QUERY_RQT, b.uid, PRM_HDR_SZ, PRM_SZ(query_rqt_out) + 7 * PRM_SZ(rq_num));
	SET(&c, query_rqt_in, rqtn, rqtn);
	cmd_refused(b.d, &c, SYN_RQT_OUT_LEN);
	b.d->h->tables[OBJ_RQT].next = RQTN_FIRST + (1u << RQT_LOG_MAX);
	cmd_refused(b.d, &m.c, SYN_RQT_LIMIT);
}

/* The same over virtio net queues, which only their own list may name. */
static void rqt_of_virtio_queues(void **state)
{
	struct base b = queues_base(state);
	uint32_t rqn = new_rq(&b), q, rqtn;
	struct prm_box ctx, virtio;
	struct make m;
	struct cmd c;

	mkey_cmd(&c, b.uid, b.pd, b.umem, 0, PAGE);
	cmd_ok(b.d, &c);
	q = (uint32_t)OUT(&c, create_mkey_out, mkey_index) << 8 | 0x5a;
	ctx = GEN_NEW(&c, b.uid, 0x0d, virtio_net_q);
	virtio = PRM_SUB(&ctx, virtio_net_q, virtio_q_context);
	PRM_SET(&virtio, virtio_q, queue_size, 8);
	PRM_SET(&virtio, virtio_q, pd, b.pd);
	PRM_SET(&virtio, virtio_q, virtio_q_mkey, q);
	PRM_SET(&virtio, virtio_q, umem_1_id, b.umem);
	PRM_SET(&virtio, virtio_q, umem_1_size, 2048);
	PRM_SET(&virtio, virtio_q, umem_2_id, b.umem);
	PRM_SET(&virtio, virtio_q, umem_2_size, 2048);
	PRM_SET(&virtio, virtio_q, umem_3_id, b.umem);
	PRM_SET(&virtio, virtio_q, umem_3_size, 2048);
	q = gen_new(b.d, &c);
	ctx = rqt_cmd(&b, &m, &q, 1);
	create_with(&b, &m, &ctx, RQTC(list_q_type), 0, SYN_RQ);
	PRM_SET(&ctx, rqtc, list_q_type, 1);
	create_with(&b, &m, &ctx, RQTC(rq_num), rqn, SYN_VIRTQ);
	rqtn = create_ok(&b, &m);
	expect_list(&b, rqtn, &q, 1);
	ctx = query_ctx_(&b, &c, PRM_OP_QUERY_RQT, rqtn, PRM_SZ(query_rqt_out) + PRM_SZ(rq_num), PRM_F_query_rqt_out__rqt_context);
	assert_int_equal(PRM_GET(&ctx, rqtc, list_q_type), 1);
	assert_int_equal(obj_find(b.d->h, OBJ_VIRTIO_NET_Q, q, b.uid)->refs, 1);
	destroy(b.d, PRM_OP_DESTROY_RQT, b.uid, rqtn, SYN_OK);
	assert_int_equal(obj_find(b.d->h, OBJ_VIRTIO_NET_Q, q, b.uid)->refs, 0);
}

static void tir_cmd(struct base *b, struct make *m, uint32_t disp_type, uint32_t id)
{
	CMD(&m->c, CREATE_TIR, b->uid, create_tir);
	m->ctx = PRM_SUB(&m->c.i, create_tir_in, ctx);
	PRM_SET(&m->ctx, tirc, transport_domain, b->td);
	PRM_SET(&m->ctx, tirc, disp_type, disp_type);
	PRM_SET(&m->ctx, tirc, rx_hash_fn, 2);
	if (disp_type)
		PRM_SET(&m->ctx, tirc, indirect_table, id);
	else
		PRM_SET(&m->ctx, tirc, inline_rqn, id);
}

static void tir_holds_what_it_names(void **state)
{
	struct base b = queues_base(state);
	uint32_t rqn = new_rq(&b), rqtn = new_rqt(&b, &rqn, 1), direct, indirect;
	struct make m;

	tir_cmd(&b, &m, 0, rqn);
	create_with(&b, &m, &m.ctx, TIRC(transport_domain), b.td + 1, SYN_TD);
	create_with(&b, &m, &m.ctx, TIRC(inline_rqn), rqn + 1, SYN_RQ);
	create_with(&b, &m, &m.ctx, TIRC(disp_type), 1, SYN_RQT);
	create_with(&b, &m, &m.ctx, TIRC(disp_type), 2, SYN_TIR_DISP_TYPE);
	create_with(&b, &m, &m.ctx, TIRC(rx_hash_fn), 3, SYN_TIR_HASH);
	create_with(&b, &m, &m.ctx, TIRC(rx_hash_field_selector_outer), 0x20, SYN_TIR_FIELDS);
	create_with(&b, &m, &m.ctx, TIRC(rx_hash_field_selector_inner), 0x20000000, SYN_TIR_FIELDS);
	create_with(&b, &m, &m.ctx, TIRC(tls_en), 1, SYN_TIR_TLS);
	create_with(&b, &m, &m.ctx, TIRC(packet_merge_mask), 4, SYN_TIR_MERGE);
	direct = create_without_memory(&b, &m);
	assert_true(direct >= TIRN_FIRST);
	tir_cmd(&b, &m, 1, rqtn);
	indirect = create_ok(&b, &m);
	destroy(b.d, PRM_OP_DESTROY_RQT, b.uid, rqtn, SYN_RQT_BUSY);
	destroy(b.d, PRM_OP_DESTROY_TIR, b.uid, indirect, SYN_OK);
	destroy(b.d, PRM_OP_DESTROY_RQT, b.uid, rqtn, SYN_OK);
	destroy(b.d, PRM_OP_DESTROY_RQ, b.uid, rqn, SYN_RQ_BUSY);
	destroy(b.d, PRM_OP_DEALLOC_TRANSPORT_DOMAIN, b.uid, b.td, SYN_TD_BUSY);
	destroy(b.d, PRM_OP_DESTROY_TIR, b.other, direct, SYN_TIR);
	obj_find(b.d->h, OBJ_TIR, direct, b.uid)->refs++; /* as an entry of a flow table does */
	destroy(b.d, PRM_OP_DESTROY_TIR, b.uid, direct, SYN_TIR_BUSY);
	obj_find(b.d->h, OBJ_TIR, direct, b.uid)->refs--;
	destroy(b.d, PRM_OP_DESTROY_TIR, b.uid, direct, SYN_OK);
	destroy(b.d, PRM_OP_DESTROY_RQ, b.uid, rqn, SYN_OK);
	destroy(b.d, PRM_OP_DEALLOC_TRANSPORT_DOMAIN, b.uid, b.td, SYN_OK);
	b.d->h->tables[OBJ_TIR].next = TIRN_FIRST + (1u << TIR_LOG_MAX);
	b.d->h->tables[OBJ_TIR].free_head = 0;
	b.td = new_td(b.d, b.uid);
	tir_cmd(&b, &m, 0, new_rq(&b));
	cmd_refused(b.d, &m.c, SYN_TIR_LIMIT);
}

/* Each bit of the select: the fields that it names, and no other. */
static void tir_modify(void **state)
{
	static const struct {
		uint64_t select;
		struct ctx_place at;
	} fields[] = {
		{ 0x01, CTX_PLACE(tirc, lro_timeout_period_usecs) }, { 0x01, CTX_PLACE(tirc, packet_merge_mask) },
		{ 0x01, CTX_PLACE(tirc, lro_max_ip_payload_size) },  { 0x04, CTX_PLACE(tirc, rx_hash_symmetric) },
		{ 0x04, CTX_PLACE(tirc, rx_hash_fn) },               { 0x04, CTX_PLACE(tirc, rx_hash_toeplitz_key) },
		{ 0x04, CTX_PLACE(tirc, rx_hash_field_selector_outer) },
		{ 0x04, CTX_PLACE(tirc, rx_hash_field_selector_inner) }, { 0x10, CTX_PLACE(tirc, self_lb_block) },
	};
	struct base b = queues_base(state);
	uint32_t rqn = new_rq(&b), rqtn = new_rqt(&b, &rqn, 1), other = new_rqt(&b, &rqn, 1), tirn, direct;
	struct prm_box ctx, seen;
	struct make m;
	struct cmd c, q;

	tir_cmd(&b, &m, 0, rqn);
	direct = create_ok(&b, &m);
	for (uint64_t select = 1; select <= 0x10; select <<= 1) {
		if (select == 8)
			continue;
		tir_cmd(&b, &m, 1, rqtn);
		tirn = create_ok(&b, &m);
		CMD(&c, MODIFY_TIR, b.uid, modify_tir);
		SET(&c, modify_tir_in, tirn, tirn);
		SET(&c, modify_tir_in, bitmask, select);
		ctx = PRM_SUB(&c.i, modify_tir_in, ctx);
		for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
			prm_set(&ctx, fields[i].at.bit, fields[i].at.width, 1);
		prm_set(&ctx, CTX_BIT_OF(TIRC(rx_hash_toeplitz_key)) + 9 * 32, 32, 0xfeed);
		PRM_SET(&ctx, tirc, indirect_table, other);
		PRM_SET(&ctx, tirc, transport_domain, 0x99);
		cmd_ok(b.d, &c);
		seen = QUERY_CTX(&b, &q, QUERY_TIR, query_tir_out, tir_context, tirn);
		for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
			assert_int_equal(prm_get(&seen, fields[i].at.bit, fields[i].at.width),
					 fields[i].select == select ? 1 : prm_get(&m.ctx, fields[i].at.bit, fields[i].at.width));
		assert_int_equal(prm_get(&seen, CTX_BIT_OF(TIRC(rx_hash_toeplitz_key)) + 9 * 32, 32), select == 4 ? 0xfeed : 0);
		assert_int_equal(PRM_GET(&seen, tirc, indirect_table), select == 2 ? other : rqtn);
		assert_int_equal(PRM_GET(&seen, tirc, transport_domain), b.td);
		destroy(b.d, PRM_OP_DESTROY_RQT, b.uid, select == 2 ? other : rqtn, SYN_RQT_BUSY);
		destroy(b.d, PRM_OP_DESTROY_TIR, b.uid, tirn, SYN_OK);
	}
	tir_cmd(&b, &m, 1, rqtn);
	tirn = create_ok(&b, &m);
	SET(&c, modify_tir_in, tirn, tirn);
	SET(&c, modify_tir_in, bitmask, 8);
	cmd_refused(b.d, &c, SYN_SELECT);
	SET(&c, modify_tir_in, bitmask, 2);
	PRM_SET(&ctx, tirc, indirect_table, other + 1);
	cmd_refused(b.d, &c, SYN_RQT);
	PRM_SET(&ctx, tirc, indirect_table, other);
	SET(&c, modify_tir_in, bitmask, 6);
	PRM_SET(&ctx, tirc, rx_hash_fn, 7);
	cmd_refused(b.d, &c, SYN_TIR_HASH);
	SET(&c, modify_tir_in, bitmask, 3);
	PRM_SET(&ctx, tirc, packet_merge_mask, 8);
	cmd_refused(b.d, &c, SYN_TIR_MERGE);
	destroy(b.d, PRM_OP_DESTROY_RQT, b.uid, other, SYN_OK); /* no refused command took it */
	SET(&c, modify_tir_in, tirn, direct);
	SET(&c, modify_tir_in, bitmask, 2);
	cmd_refused(b.d, &c, SYN_TIR_DIRECT);
}

int run_tir_tests(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, dev_setup, dev_teardown)
	const struct CMUnitTest tests[] = {
		TEST(rqt_lists_queues), TEST(rqt_sizes), TEST(rqt_of_virtio_queues), TEST(tir_holds_what_it_names), TEST(tir_modify),
	};

	return cmocka_run_group_tests_name("tir, rqt", tests, NULL, NULL);
}
