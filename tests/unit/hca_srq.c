/* SPDX-License-Identifier: BSD-2-Clause */
/* The family of shared receive queues, and who receives over them: SRQs, XRC SRQs, XRQs, DCTs; multicast groups and PSVs. */
#include "events.h"
#include "tests_queues.h"

#define SRQC(field) PRM_F_srqc__##field
#define XSRQC(field) PRM_F_xrc_srqc__##field
#define XRQC(field) PRM_F_xrqc__##field
#define DCTC(field) PRM_F_dctc__##field
#define XSRQ_IN(field) PRM_F_create_xrc_srq_in__##field

/* An ARM command: id and limit stand at the same places in all of them. */
static void arm(struct base *b, uint16_t opcode, uint16_t op_mod, uint32_t id, uint32_t lwm, enum syn why)
{
	struct cmd c;

	cmd_new(&c, opcode, b->uid, PRM_SZ(arm_rq_in), PRM_SZ(arm_rq_out));
	cmd_op_mod(&c, op_mod);
	SET(&c, arm_rq_in, srq_number, id);
	SET(&c, arm_rq_in, lwm, lwm);
	if (why == SYN_OK)
		cmd_ok(b->d, &c);
	else
		cmd_refused(b->d, &c, why);
}

static void srq_pages_and_limit(void **state)
{
	struct base b = queues_base(state);
	uint32_t xrcd = new_xrcd(&b), srqn;
	struct prm_box ctx;
	struct make m;
	struct cmd c;

	make_srq(&b, &m);
	create_with(&b, &m, &m.ctx, SRQC(pd), b.pd + 1, SYN_PD);
	create_with(&b, &m, &m.ctx, SRQC(cqn), b.cqn + 1, SYN_CQ);
	create_with(&b, &m, &m.ctx, SRQC(xrcd), xrcd + 1, SYN_XRCD);
	create_with(&b, &m, &m.ctx, SRQC(log_srq_size), 7, SYN_SRQ_PAGES); /* two pages, of which one is listed */
	create_with(&b, &m, &m.ctx, SRQC(page_offset), 1, SYN_SRQ_PAGES);
	create_with(&b, &m, &m.ctx, SRQC(log_page_size), 52, SYN_SRQ_PAGE);
	create_with(&b, &m, &m.ctx, SRQC(lwm), 65, SYN_SRQ_LWM);
	PRM_SET(&m.ctx, srqc, log_page_size, 1); /* 8 KiB: room for both */
	create_with(&b, &m, &m.ctx, SRQC(page_offset), 32, SYN_OK);
	create_with(&b, &m, &m.ctx, SRQC(page_offset), 33, SYN_SRQ_PAGES);
	PRM_SET(&m.ctx, srqc, xrcd, xrcd);
	srqn = create_without_memory(&b, &m);
	ctx = QUERY_CTX(&b, &c, QUERY_SRQ, query_srq_out, srq_context_entry, srqn);
	assert_int_equal(PRM_GET(&ctx, srqc, state), 0);
	assert_int_equal(PRM_GET(&ctx, srqc, lwm), 3);
	destroy(b.d, PRM_OP_DEALLOC_XRCD, b.uid, xrcd, SYN_XRCD_BUSY);

	arm(&b, PRM_OP_ARM_RQ, 1, srqn, 65, SYN_SRQ_LWM);
	arm(&b, PRM_OP_ARM_RQ, 1, srqn + 1, 4, SYN_SRQ);
	arm(&b, PRM_OP_ARM_RQ, 2, srqn, 4, SYN_XRQ);
	arm(&b, PRM_OP_ARM_RQ, 3, srqn, 4, SYN_OP_MOD);
	arm(&b, PRM_OP_ARM_RQ, 1, srqn, 64, SYN_OK);
	ctx = QUERY_CTX(&b, &c, QUERY_SRQ, query_srq_out, srq_context_entry, srqn);
	assert_int_equal(PRM_GET(&ctx, srqc, lwm), 64);
	destroy(b.d, PRM_OP_DESTROY_SRQ, b.other, srqn, SYN_SRQ);
	destroy(b.d, PRM_OP_DESTROY_SRQ, b.uid, srqn, SYN_OK);
	destroy(b.d, PRM_OP_DEALLOC_XRCD, b.uid, xrcd, SYN_OK);
	destroy(b.d, PRM_OP_DEALLOC_XRCD, b.uid, xrcd, SYN_XRCD);
	b.d->h->tables[OBJ_XRCD].next = 1 + (1u << XRCD_LOG_MAX);
	new_xrcd(&b); /* the one that is free again */
	CMD(&c, ALLOC_XRCD, b.uid, alloc_xrcd);
	cmd_refused(b.d, &c, SYN_XRCD_LIMIT);
}

/* The limit is told once for each time that it is set; an error ends it all. */
static void srq_events(void **state)
{
	static const uint16_t made_by[] = { PRM_OP_CREATE_SRQ, PRM_OP_CREATE_XRC_SRQ, PRM_OP_CREATE_RMP };
	static const uint16_t arms[] = { PRM_OP_ARM_RQ, PRM_OP_ARM_XRC_SRQ };
	struct base b = queues_base(state);
	struct prm_box ctx, wq;
	struct make m;
	uint32_t ids[3];

	make_srq(&b, &m);
	PRM_SET(&m.ctx, srqc, lwm, 0);
	ids[0] = create_ok(&b, &m);
	make_xrc_srq(&b, &m, new_xrcd(&b));
	ids[1] = create_ok(&b, &m);
	make_rmp(&b, &m);
	wq = PRM_SUB(&m.ctx, rmpc, wq);
	PRM_SET(&wq, wq, lwm, 7);
	ids[2] = create_ok(&b, &m);
	for (int i = 0; i < 3; i++) {
		if (i < 2) {
			assert_int_equal(hca_event(b.d->h, made_by[i], 0, ids[i], EVENT_SRQ_LIMIT, 0), HCA_NOT_NOW);
			arm(&b, arms[i], 1, ids[i], 7, SYN_OK);
		}
		assert_int_equal(hca_event(b.d->h, made_by[i], 0, ids[i], EVENT_SRQ_LIMIT, 1), HCA_NOT_NOW);
		raise_event(&b, made_by[i], ids[i], EVENT_SRQ_LIMIT, i == 2);
		assert_int_equal(PRM_GET(&b.data, qp_events, qpn_rqn_sqn), ids[i]);
		assert_int_equal(hca_event(b.d->h, made_by[i], 0, ids[i], EVENT_SRQ_LIMIT, 0), HCA_NOT_NOW);
		raise_event(&b, made_by[i], ids[i], EVENT_SRQ_CATAS_ERROR, i == 2);
		assert_int_equal(hca_event(b.d->h, made_by[i], 0, ids[i], EVENT_SRQ_CATAS_ERROR, 0), HCA_NOT_NOW);
		if (i < 2)
			arm(&b, arms[i], 1, ids[i], 7, SYN_OK);
		assert_int_equal(hca_event(b.d->h, made_by[i], 0, ids[i], EVENT_SRQ_LIMIT, 0), HCA_NOT_NOW);
	}
	ctx = QUERY_CTX(&b, &m.c, QUERY_SRQ, query_srq_out, srq_context_entry, ids[0]);
	assert_int_equal(PRM_GET(&ctx, srqc, state), 1);
	ctx = QUERY_CTX(&b, &m.c, QUERY_XRC_SRQ, query_xrc_srq_out, xrc_srq_context_entry, ids[1]);
	assert_int_equal(PRM_GET(&ctx, xrc_srqc, state), 1);
	ctx = QUERY_CTX(&b, &m.c, QUERY_RMP, query_rmp_out, rmp_context, ids[2]);
	assert_int_equal(PRM_GET(&ctx, rmpc, state), QUEUE_ERR);
	/* A number of the family is looked up by what made it. */
	assert_int_equal(hca_event(b.d->h, PRM_OP_CREATE_XRQ, 0, ids[0], EVENT_SRQ_LIMIT, 0), HCA_NO_OBJECT);
}

/* Also a receive queue that is no shared one can be armed. */
static void arm_rq(void **state)
{
	struct base b = queues_base(state);
	uint32_t rqn = new_rq(&b);
	struct prm_box ctx, wq;
	struct cmd c;

	arm(&b, PRM_OP_ARM_RQ, 0, rqn + 1, 1, SYN_RQ);
	arm(&b, PRM_OP_ARM_RQ, 0, rqn, 65, SYN_RQ_LWM);
	arm(&b, PRM_OP_ARM_RQ, 0, rqn, 17, SYN_OK);
	ctx = QUERY_CTX(&b, &c, QUERY_RQ, query_rq_out, rq_context, rqn);
	wq = PRM_SUB(&ctx, rqc, wq);
	assert_int_equal(PRM_GET(&wq, wq, lwm), 17);
	raise_event(&b, PRM_OP_CREATE_RQ, rqn, EVENT_SRQ_LIMIT, 1);
	assert_int_equal(hca_event(b.d->h, PRM_OP_CREATE_RQ, 0, rqn, EVENT_SRQ_LIMIT, 0), HCA_NOT_NOW);
}

static void xrc_srq_in_a_umem(void **state)
{
	struct base b = queues_base(state);
	uint32_t xrcd = new_xrcd(&b), srqn;
	struct prm_box ctx;
	struct make m;
	struct cmd c;

	make_xrc_srq(&b, &m, xrcd);
	create_with(&b, &m, &m.ctx, XSRQC(pd), b.pd + 1, SYN_PD);
	create_with(&b, &m, &m.ctx, XSRQC(cqn), 0, SYN_CQ);
	create_with(&b, &m, &m.ctx, XSRQC(xrcd), 0, SYN_XRCD);
	create_with(&b, &m, &m.ctx, XSRQC(lwm), 65, SYN_XRC_SRQ_LWM);
	create_with(&b, &m, &m.ctx, XSRQC(log_xrc_srq_size), 8, SYN_XRC_SRQ_RANGE);
	create_with(&b, &m, &m.c.i, XSRQ_IN(xrc_srq_umem_valid), 0, SYN_XRC_SRQ_UMEM);
	create_with(&b, &m, &m.c.i, XSRQ_IN(xrc_srq_umem_id), b.foreign, SYN_UMEM);
	create_with(&b, &m, &m.c.i, XSRQ_IN(xrc_srq_umem_id), b.ro, SYN_XRC_SRQ_READ_ONLY);
	create_with(&b, &m, &m.c.i, XSRQ_IN(xrc_srq_umem_offset), PAGE + 1, SYN_XRC_SRQ_RANGE);
	srqn = create_ok(&b, &m);
	ctx = QUERY_CTX(&b, &c, QUERY_XRC_SRQ, query_xrc_srq_out, xrc_srq_context_entry, srqn);
	assert_int_equal(PRM_GET(&ctx, xrc_srqc, user_index), 0x55);
	arm(&b, PRM_OP_ARM_XRC_SRQ, 0, srqn, 9, SYN_OP_MOD);
	arm(&b, PRM_OP_ARM_XRC_SRQ, 1, srqn, 65, SYN_XRC_SRQ_LWM);
	arm(&b, PRM_OP_ARM_XRC_SRQ, 1, srqn, 9, SYN_OK);
	ctx = QUERY_CTX(&b, &c, QUERY_XRC_SRQ, query_xrc_srq_out, xrc_srq_context_entry, srqn);
	assert_int_equal(PRM_GET(&ctx, xrc_srqc, lwm), 9);
	destroy(b.d, PRM_OP_DEALLOC_XRCD, b.uid, xrcd, SYN_XRCD_BUSY);
	destroy(b.d, PRM_OP_DESTROY_XRC_SRQ, b.uid, srqn, SYN_OK);
	PRM_SET(&m.ctx, xrc_srqc, user_index_equal_xrc_srqn, 1);
	srqn = create_ok(&b, &m);
	ctx = QUERY_CTX(&b, &c, QUERY_XRC_SRQ, query_xrc_srq_out, xrc_srq_context_entry, srqn);
	assert_int_equal(PRM_GET(&ctx, xrc_srqc, user_index), srqn);
}

/* One number names one of them, and only by its own commands. */
static void one_id_space(void **state)
{
	static const uint16_t destroys[] = { PRM_OP_DESTROY_SRQ, PRM_OP_DESTROY_XRC_SRQ, PRM_OP_DESTROY_RMP, PRM_OP_DESTROY_XRQ };
	static const enum syn missing[] = { SYN_SRQ, SYN_XRC_SRQ, SYN_RMP, SYN_XRQ };
	struct base b = queues_base(state);
	struct make m;
	uint32_t ids[4];

	make_srq(&b, &m);
	ids[0] = create_ok(&b, &m);
	make_xrc_srq(&b, &m, new_xrcd(&b));
	ids[1] = create_ok(&b, &m);
	make_rmp(&b, &m);
	ids[2] = create_ok(&b, &m);
	make_xrq(&b, &m);
	ids[3] = create_ok(&b, &m);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(ids[i], SRQN_FIRST + i);
		for (int k = 0; k < 4; k++)
			if (k != i)
				destroy(b.d, destroys[k], b.uid, ids[i], missing[k]);
	}
	for (int i = 0; i < 4; i++)
		destroy(b.d, destroys[i], b.uid, ids[i], SYN_OK);
	make_rmp(&b, &m); /* the number of an XRQ goes to the next of whatever type */
	assert_int_equal(create_ok(&b, &m), ids[3]);
	b.d->h->tables[OBJ_SRQ].next = SRQN_FIRST + (1u << SRQ_LOG_MAX);
	for (int i = 0; i < 3; i++)
		create_ok(&b, &m);
	cmd_refused(b.d, &m.c, SYN_SRQ_LIMIT);
}

static void xrq(void **state)
{
	struct base b = queues_base(state);
	struct prm_box ctx, tm, wq;
	struct make m;
	struct cmd c;
	uint32_t xrqn;

	make_xrq(&b, &m);
	tm = PRM_SUB(&m.ctx, xrqc, tag_matching_topology_context);
	wq = PRM_SUB(&m.ctx, xrqc, wq);
	create_with(&b, &m, &m.ctx, XRQC(cqn), 0, SYN_CQ);
	create_with(&b, &m, &m.ctx, XRQC(topology), 2, SYN_XRQ_TOPOLOGY);
	create_with(&b, &m, &m.ctx, XRQC(topology), 0, SYN_XRQ_OFFLOAD);
	create_with(&b, &m, &m.ctx, XRQC(offload), 2, SYN_XRQ_OFFLOAD);
	create_with(&b, &m, &tm, PRM_F_tag_matching_topology_context__log_matching_list_sz, 0, SYN_XRQ_LIST);
	create_with(&b, &m, &tm, PRM_F_tag_matching_topology_context__log_matching_list_sz, TM_LOG_LIST_MAX + 1, SYN_XRQ_LIST);
	create_with(&b, &m, &wq, PRM_F_wq__lwm, 65, SYN_XRQ_LWM);
	create_with(&b, &m, &wq, PRM_F_wq__wq_umem_id, b.ro, SYN_WQ_READ_ONLY);
	xrqn = create_without_memory(&b, &m);
	ctx = QUERY_CTX(&b, &c, QUERY_XRQ, query_xrq_out, xrq_context, xrqn);
	tm = PRM_SUB(&ctx, xrqc, tag_matching_topology_context);
	assert_int_equal(PRM_GET(&tm, tag_matching_topology_context, log_matching_list_sz), 5);
	assert_int_equal(PRM_GET(&tm, tag_matching_topology_context, sw_phase_cnt), 0);
	arm(&b, PRM_OP_ARM_RQ, 2, xrqn, 65, SYN_XRQ_LWM);
	arm(&b, PRM_OP_ARM_RQ, 2, xrqn, 10, SYN_OK);
	ctx = QUERY_CTX(&b, &c, QUERY_XRQ, query_xrq_out, xrq_context, xrqn);
	wq = PRM_SUB(&ctx, xrqc, wq);
	assert_int_equal(PRM_GET(&wq, wq, lwm), 10);
	arm(&b, PRM_OP_ARM_XRQ, 0, xrqn, 11, SYN_OK);
	arm(&b, PRM_OP_ARM_XRQ, 0, xrqn + 1, 11, SYN_XRQ);
	ctx = QUERY_CTX(&b, &c, QUERY_XRQ, query_xrq_out, xrq_context, xrqn);
	wq = PRM_SUB(&ctx, xrqc, wq);
	assert_int_equal(PRM_GET(&wq, wq, lwm), 11);
	raise_event(&b, PRM_OP_CREATE_XRQ, xrqn, EVENT_SRQ_LIMIT, 0);
	destroy(b.d, PRM_OP_DESTROY_XRQ, b.uid, xrqn, SYN_OK);
}

static void simple(struct base *b, struct cmd *c, uint16_t opcode, uint32_t xrqn, uint32_t outlen)
{
	cmd_new(c, opcode, b->uid, PRM_HDR_SZ, outlen);
	SET(c, query_xrq_in, xrqn, xrqn);
}

static void xrq_entry_and_error(void **state)
{
	struct base b = queues_base(state);
	struct prm_box ctx;
	struct make m;
	struct cmd c, q;
	uint32_t xrqn;

	make_xrq(&b, &m);
	xrqn = create_ok(&b, &m);
	CMD(&c, SET_XRQ_DC_PARAMS_ENTRY, b.uid, set_xrq_dc_params_entry);
	SET(&c, set_xrq_dc_params_entry_in, xrqn, xrqn);
	SET(&c, set_xrq_dc_params_entry_in, dc_access_key, 0x1122334455667788);
	SET(&c, set_xrq_dc_params_entry_in, sl, 5);
	cmd_refused(b.d, &c, SYN_XRQ_MTU);
	SET(&c, set_xrq_dc_params_entry_in, mtu, 3);
	SET(&c, set_xrq_dc_params_entry_in, pkey_table_index, PKEYS);
	cmd_refused(b.d, &c, SYN_XRQ_PKEY);
	SET(&c, set_xrq_dc_params_entry_in, pkey_table_index, 0);
	simple(&b, &q, PRM_OP_QUERY_XRQ_DC_PARAMS_ENTRY, xrqn, PRM_SZ(set_xrq_dc_params_entry_in));
	cmd_ok(b.d, &q);
	assert_int_equal(OUT(&q, set_xrq_dc_params_entry_in, mtu), 0);
	cmd_ok(b.d, &c);
	cmd_ok(b.d, &q);
	assert_int_equal(OUT(&q, set_xrq_dc_params_entry_in, mtu), 3);
	assert_int_equal(OUT(&q, set_xrq_dc_params_entry_in, sl), 5);
	assert_int_equal(OUT(&q, set_xrq_dc_params_entry_in, dc_access_key), 0x1122334455667788);
	SET(&c, set_xrq_dc_params_entry_in, xrqn, xrqn + 1);
	cmd_refused(b.d, &c, SYN_XRQ);

	simple(&b, &q, PRM_OP_QUERY_XRQ_ERROR_PARAMS, xrqn, PRM_HDR_SZ);
	cmd_refused(b.d, &q, SYN_XRQ_GOOD);
	simple(&b, &c, PRM_OP_RELEASE_XRQ_ERROR, xrqn, PRM_HDR_SZ);
	cmd_refused(b.d, &c, SYN_XRQ_GOOD);
	raise_event(&b, PRM_OP_CREATE_XRQ, xrqn, EVENT_XRQ_ERROR, 0);
	assert_int_equal(PRM_GET(&b.data, xrq_err_event, xrqn), xrqn);
	assert_int_equal(hca_event(b.d->h, PRM_OP_CREATE_XRQ, 0, xrqn, EVENT_XRQ_ERROR, 0), HCA_NOT_NOW);
	ctx = QUERY_CTX(&b, &m.c, QUERY_XRQ, query_xrq_out, xrq_context, xrqn);
	assert_int_equal(PRM_GET(&ctx, xrqc, state), 1);
	cmd_ok(b.d, &q);
	cmd_ok(b.d, &c);
	ctx = QUERY_CTX(&b, &m.c, QUERY_XRQ, query_xrq_out, xrq_context, xrqn);
	assert_int_equal(PRM_GET(&ctx, xrqc, state), 0);
	cmd_refused(b.d, &c, SYN_XRQ_GOOD);

	simple(&b, &c, PRM_OP_MODIFY_XRQ, xrqn, PRM_HDR_SZ);
	c.inlen = 64;
	cmd_ok(b.d, &c);
	c.in[63] = 1;
	cmd_refused(b.d, &c, SYN_XRQ_MODIFY);
}

static void dct_cmd(struct base *b, struct make *m, uint32_t srqn)
{
	CMD(&m->c, CREATE_DCT, b->uid, create_dct);
	m->ctx = PRM_SUB(&m->c.i, create_dct_in, dct_context_entry);
	PRM_SET(&m->ctx, dctc, pd, b->pd);
	PRM_SET(&m->ctx, dctc, cqn, b->cqn);
	PRM_SET(&m->ctx, dctc, srqn_xrqn, srqn);
	PRM_SET(&m->ctx, dctc, mtu, 3);
	PRM_SET(&m->ctx, dctc, port, 1);
	PRM_SET(&m->ctx, dctc, state, 2);
	PRM_SET(&m->ctx, dctc, dc_access_key, 0x123456789abcdef);
}

static void dct(void **state)
{
	struct base b = queues_base(state);
	uint32_t counter = new_q_counter(b.d, b.uid), srqn, dctn;
	struct prm_box ctx;
	struct make m;
	struct cmd c;

	make_srq(&b, &m);
	srqn = create_ok(&b, &m);
	dct_cmd(&b, &m, srqn);
	create_with(&b, &m, &m.ctx, DCTC(pd), b.pd + 1, SYN_PD);
	create_with(&b, &m, &m.ctx, DCTC(cqn), 0, SYN_CQ);
	create_with(&b, &m, &m.ctx, DCTC(srqn_xrqn), srqn + 1, SYN_DCT_SRQ);
	create_with(&b, &m, &m.ctx, DCTC(mtu), 0, SYN_DCT_MTU);
	create_with(&b, &m, &m.ctx, DCTC(mtu), 6, SYN_DCT_MTU);
	create_with(&b, &m, &m.ctx, DCTC(port), 0, SYN_DCT_PORT);
	create_with(&b, &m, &m.ctx, DCTC(port), 2, SYN_DCT_PORT);
	create_with(&b, &m, &m.ctx, DCTC(pkey_index), PKEYS, SYN_DCT_PKEY);
	create_with(&b, &m, &m.ctx, DCTC(my_addr_index), ROCE_ADDRESSES, SYN_DCT_GID);
	create_with(&b, &m, &m.ctx, DCTC(counter_set_id), counter + 1, SYN_Q_COUNTER);
	PRM_SET(&m.ctx, dctc, counter_set_id, counter);
	PRM_SET(&m.ctx, dctc, ece, 0x30000007);
	dctn = create_without_memory(&b, &m);
	assert_true(dctn >= DCTN_FIRST);
	assert_int_equal(OUT(&m.c, create_dct_out, ece), 0x30000007);
	ctx = QUERY_CTX(&b, &c, QUERY_DCT, query_dct_out, dct_context_entry, dctn);
	assert_int_equal(PRM_GET(&ctx, dctc, state), 0);
	assert_int_equal(PRM_GET(&ctx, dctc, dc_access_key), 0x123456789abcdef);
	destroy(b.d, PRM_OP_DESTROY_SRQ, b.uid, srqn, SYN_SRQ_BUSY);
	destroy(b.d, PRM_OP_DEALLOC_Q_COUNTER, b.uid, counter, SYN_Q_COUNTER_BUSY);

	assert_int_equal(hca_event(b.d->h, PRM_OP_CREATE_DCT, 0, dctn, EVENT_DCT_KEY_VIOLATION, 0), HCA_NOT_NOW);
	simple(&b, &c, PRM_OP_ARM_DCT_FOR_KEY_VIOLATION, dctn, PRM_HDR_SZ);
	cmd_ok(b.d, &c);
	raise_event(&b, PRM_OP_CREATE_DCT, dctn, EVENT_DCT_KEY_VIOLATION, 6);
	assert_int_equal(PRM_GET(&b.data, dct_events, dct_number), dctn);
	assert_int_equal(hca_event(b.d->h, PRM_OP_CREATE_DCT, 0, dctn, EVENT_DCT_KEY_VIOLATION, 0), HCA_NOT_NOW); /* told once */
	ctx = QUERY_CTX(&b, &c, QUERY_DCT, query_dct_out, dct_context_entry, dctn);
	assert_int_equal(PRM_GET(&ctx, dctc, dc_access_key_violation_count), 1);
	simple(&b, &c, PRM_OP_DRAIN_DCT, dctn, PRM_HDR_SZ);
	cmd_ok(b.d, &c);
	assert_int_equal(b.d->last_event.type, EVENT_DCT_DRAINED);
	assert_int_equal(b.d->last_event.obj_id, dctn);
	cmd_refused(b.d, &c, SYN_DCT_STATE);
	assert_int_equal(hca_event(b.d->h, PRM_OP_CREATE_DCT, 0, dctn, EVENT_DCT_DRAINED, 0), HCA_NOT_NOW);
	simple(&b, &c, PRM_OP_ARM_DCT_FOR_KEY_VIOLATION, dctn, PRM_HDR_SZ);
	cmd_refused(b.d, &c, SYN_DCT_STATE);
	ctx = QUERY_CTX(&b, &c, QUERY_DCT, query_dct_out, dct_context_entry, dctn);
	assert_int_equal(PRM_GET(&ctx, dctc, state), 2);
	destroy(b.d, PRM_OP_DESTROY_DCT, b.other, dctn, SYN_DCT);
	destroy(b.d, PRM_OP_DESTROY_DCT, b.uid, dctn, SYN_OK);
	destroy(b.d, PRM_OP_DESTROY_SRQ, b.uid, srqn, SYN_OK);
	destroy(b.d, PRM_OP_DEALLOC_Q_COUNTER, b.uid, counter, SYN_OK);
}

/* It receives over any of the family, and holds what it names. */
static void dct_over_each(void **state)
{
	static const uint16_t destroys[] = { PRM_OP_DESTROY_XRC_SRQ, PRM_OP_DESTROY_RMP, PRM_OP_DESTROY_XRQ };
	static const enum syn busy[] = { SYN_XRC_SRQ_BUSY, SYN_RMP_BUSY, SYN_XRQ_BUSY };
	struct base b = queues_base(state);
	struct make m;
	uint32_t ids[3];

	make_xrc_srq(&b, &m, new_xrcd(&b));
	ids[0] = create_ok(&b, &m);
	make_rmp(&b, &m);
	ids[1] = create_ok(&b, &m);
	make_xrq(&b, &m);
	ids[2] = create_ok(&b, &m);
	for (int i = 0; i < 3; i++) {
		dct_cmd(&b, &m, ids[i]);
		cmd_ok(b.d, &m.c);
		destroy(b.d, destroys[i], b.uid, ids[i], busy[i]);
		destroy(b.d, PRM_OP_DESTROY_DCT, b.uid, (uint32_t)OUT(&m.c, create_dct_out, dctn), SYN_OK);
		destroy(b.d, destroys[i], b.uid, ids[i], SYN_OK);
	}
	make_srq(&b, &m);
	dct_cmd(&b, &m, create_ok(&b, &m));
	b.d->h->tables[OBJ_DCT].next = DCTN_FIRST + (1u << DCT_LOG_MAX);
	cmd_ok(b.d, &m.c); /* the last number that was given back */
	cmd_refused(b.d, &m.c, SYN_DCT_LIMIT);
}

static uint32_t new_qp(struct base *b, unsigned int st)
{
	struct prm_box qpc;
	struct cmd c;

	qp_cmd(&c, b->uid, b->pd, b->cqn, b->umem);
	qpc = PRM_SUB(&c.i, create_qp_in, qpc);
	PRM_SET(&qpc, qpc, st, st);
	cmd_ok(b->d, &c);
	return (uint32_t)OUT(&c, create_qp_out, qpn);
}

/* gid: its first byte, and a number in the last four. */
static void mcg_cmd(struct base *b, struct cmd *c, uint16_t opcode, uint32_t qpn, uint8_t first, uint32_t gid)
{
	cmd_new(c, opcode, b->uid, PRM_SZ(attach_to_mcg_in), PRM_SZ(attach_to_mcg_out));
	SET(c, attach_to_mcg_in, qpn, qpn);
	prm_set(&c->i, CTX_BIT_OF(PRM_F_attach_to_mcg_in__multicast_gid), 8, first);
	prm_set(&c->i, CTX_BIT_OF(PRM_F_attach_to_mcg_in__multicast_gid) + 96, 32, gid);
}

static void mcg(struct base *b, uint16_t opcode, uint32_t qpn, uint32_t gid, enum syn why)
{
	struct cmd c;

	mcg_cmd(b, &c, opcode, qpn, 0xff, gid);
	if (why == SYN_OK)
		cmd_ok(b->d, &c);
	else
		cmd_refused(b->d, &c, why);
}

#define ATTACH PRM_OP_ATTACH_TO_MCG
#define DETACH PRM_OP_DETACH_FROM_MCG

static void multicast(void **state)
{
	struct base b = queues_base(state);
	uint32_t qpn = new_qp(&b, 2), second = new_qp(&b, 2), rc = new_qp(&b, 0);
	struct cmd c;

	mcg(&b, ATTACH, rc, 1, SYN_MCG_QP);
	mcg(&b, ATTACH, 0x7fff, 1, SYN_QP);
	mcg_cmd(&b, &c, ATTACH, qpn, 0xfe, 1);
	cmd_refused(b.d, &c, SYN_MCG_GID);
	mcg(&b, DETACH, qpn, 1, SYN_MCG);
	mcg(&b, ATTACH, qpn, 1, SYN_OK);
	mcg(&b, DETACH, qpn, 2, SYN_MCG);
	mcg(&b, DETACH, second, 1, SYN_MCG);
	destroy(b.d, PRM_OP_DESTROY_QP, b.uid, qpn, SYN_QP_BUSY);
	mcg(&b, ATTACH, second, 1, SYN_OK);
	mcg(&b, ATTACH, qpn, 1, SYN_OK); /* again: detached as often */
	mcg(&b, DETACH, qpn, 1, SYN_OK);
	destroy(b.d, PRM_OP_DESTROY_QP, b.uid, qpn, SYN_QP_BUSY);
	mcg(&b, DETACH, qpn, 1, SYN_OK);
	mcg(&b, DETACH, qpn, 1, SYN_MCG);
	destroy(b.d, PRM_OP_DESTROY_QP, b.uid, qpn, SYN_OK);
	mcg(&b, DETACH, second, 1, SYN_OK);
	destroy(b.d, PRM_OP_DESTROY_QP, b.uid, second, SYN_OK);
	/* Groups that are still there with their members are freed with the device. */
	qpn = new_qp(&b, 2);
	mcg(&b, ATTACH, qpn, 5, SYN_OK);
}

static void multicast_limits(void **state)
{
	struct base b = queues_base(state);
	uint32_t qpn = new_qp(&b, 2), last = 0;
	uint32_t objs = b.d->h->user_objs[b.uid];
	struct cmd c;

	mcg_cmd(&b, &c, ATTACH, qpn, 0xff, 0);
	for (int k = 1; k <= 4; k++) { /* directory, page, object; then the group */
		fail_alloc = k == 4 ? 2 : 1;
		cmd_refused(b.d, &c, SYN_NO_MEMORY);
		assert_int_equal(b.d->h->user_objs[b.uid], objs);
	}
	fail_alloc = 0;
	for (uint32_t gid = 0; gid < 1000; gid++) /* the table of groups grows over these */
		mcg(&b, ATTACH, qpn, gid, SYN_OK);
	for (uint32_t gid = 0; gid < 1000; gid += 3)
		mcg(&b, DETACH, qpn, gid, SYN_OK);
	for (uint32_t gid = 0; gid < 1000; gid++)
		mcg(&b, DETACH, qpn, gid, gid % 3 ? SYN_OK : SYN_MCG);
	for (uint32_t i = 0; i < MCG_QP_MAX; i++) {
		last = new_qp(&b, 2);
		mcg(&b, ATTACH, last, 7, SYN_OK);
	}
	mcg(&b, ATTACH, qpn, 7, SYN_MCG_LIMIT);
	mcg(&b, ATTACH, last, 7, SYN_OK); /* it is there already */
	mcg(&b, ATTACH, qpn, 8, SYN_OK);
}

static void psvs(void **state)
{
	struct base b = queues_base(state);
	uint32_t objs, ids[4];
	struct cmd c;

	CMD(&c, CREATE_PSV, b.uid, create_psv);
	SET(&c, create_psv_in, pd, b.pd);
	cmd_refused(b.d, &c, SYN_PSV_NUMBER);
	SET(&c, create_psv_in, num_psv, 5);
	cmd_refused(b.d, &c, SYN_PSV_NUMBER);
	SET(&c, create_psv_in, num_psv, 1);
	SET(&c, create_psv_in, pd, b.pd + 1);
	cmd_refused(b.d, &c, SYN_PD);
	SET(&c, create_psv_in, pd, b.pd);
	cmd_ok(b.d, &c);
	ids[0] = (uint32_t)OUT(&c, create_psv_out, psv0_index);
	assert_int_equal(OUT(&c, create_psv_out, psv1_index), 0);
	SET(&c, create_psv_in, num_psv, 4);
	objs = b.d->h->user_objs[b.uid];
	for (unsigned int k = 1; k <= 4; k++) { /* all of them, or none */
		fail_alloc = k;
		cmd_refused(b.d, &c, SYN_NO_MEMORY);
		assert_int_equal(b.d->h->user_objs[b.uid], objs);
	}
	cmd_ok(b.d, &c);
	ids[1] = (uint32_t)OUT(&c, create_psv_out, psv1_index);
	ids[2] = (uint32_t)OUT(&c, create_psv_out, psv2_index);
	ids[3] = (uint32_t)OUT(&c, create_psv_out, psv3_index);
	destroy(b.d, PRM_OP_DESTROY_PSV, b.uid, (uint32_t)OUT(&c, create_psv_out, psv0_index), SYN_OK);
	destroy(b.d, PRM_OP_DEALLOC_PD, b.uid, b.pd, SYN_PD_BUSY);
	for (int i = 0; i < 4; i++)
		destroy(b.d, PRM_OP_DESTROY_PSV, b.uid, ids[i], SYN_OK);
	destroy(b.d, PRM_OP_DESTROY_PSV, b.uid, ids[0], SYN_PSV);
	b.d->h->tables[OBJ_PSV].next = ID24_LAST + 1;
	b.d->h->tables[OBJ_PSV].free_head = 0;
	cmd_refused(b.d, &c, SYN_PSV_LIMIT);
}

int run_srq_tests(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, dev_setup, dev_teardown)
	const struct CMUnitTest tests[] = {
		TEST(srq_pages_and_limit), TEST(srq_events), TEST(arm_rq), TEST(xrc_srq_in_a_umem), TEST(one_id_space), TEST(xrq),
		TEST(xrq_entry_and_error), TEST(dct), TEST(dct_over_each), TEST(multicast), TEST(multicast_limits), TEST(psvs),
	};

	return cmocka_run_group_tests_name("srq, xrq, dct, mcg, psv", tests, NULL, NULL);
}
