/* SPDX-License-Identifier: BSD-2-Clause */
/* Queue pairs over shared receive queues, XRC and DC ones; what is agreed on when they connect; and what qpc_ext carries. */
#include "events.h"
#include "tests_queues.h"

enum { RC = 0, UD = 2, XRC = 3, DCI = 5 };

#define QPC(field) PRM_F_qpc__##field
#define QP_IN(field) PRM_F_create_qp_in__##field
#define LONG (PRM_SZ(rst2init_qp_in) + PRM_SZ(qpc_ext))

static void make_qp(struct base *b, struct make *m, unsigned int st, unsigned int rq_type)
{
	qp_cmd(&m->c, b->uid, b->pd, b->cqn, b->umem);
	m->ctx = PRM_SUB(&m->c.i, create_qp_in, qpc);
	PRM_SET(&m->ctx, qpc, st, st);
	PRM_SET(&m->ctx, qpc, rq_type, rq_type);
}

static void simple_step(struct base *b, uint16_t opcode, uint32_t qpn)
{
	struct cmd c;

	cmd_new(&c, opcode, b->uid, PRM_HDR_SZ, PRM_HDR_SZ);
	SET(&c, qp_2rst_in, qpn, qpn);
	cmd_ok(b->d, &c);
}

static void over_shared_queues(void **state)
{
	static const uint16_t destroys[] = { PRM_OP_DESTROY_SRQ, PRM_OP_DESTROY_RMP, PRM_OP_DESTROY_XRQ };
	static const enum syn busy[] = { SYN_SRQ_BUSY, SYN_RMP_BUSY, SYN_XRQ_BUSY };
	struct base b = queues_base(state);
	struct make m;
	uint32_t ids[3];

	make_srq(&b, &m);
	ids[0] = create_ok(&b, &m);
	make_rmp(&b, &m);
	ids[1] = create_ok(&b, &m);
	make_xrq(&b, &m);
	ids[2] = create_ok(&b, &m);
	make_qp(&b, &m, RC, 1);
	create_with(&b, &m, &m.ctx, QPC(rq_type), 2, SYN_QP_RQ_TYPE);
	create_with(&b, &m, &m.ctx, QPC(srqn_rmpn_xrqn), 0, SYN_QP_SRQ);
	create_with(&b, &m, &m.ctx, QPC(srqn_rmpn_xrqn), ids[2] + 1, SYN_QP_SRQ);
	PRM_SET(&m.ctx, qpc, log_rq_size, 15); /* it has no memory of its own for it */
	for (int i = 0; i < 3; i++) {
		uint32_t qpn;

		PRM_SET(&m.ctx, qpc, srqn_rmpn_xrqn, ids[i]);
		create_with(&b, &m, &m.ctx, QPC(cqn_rcv), 0, SYN_QP_CQ_RCV);
		qpn = create_ok(&b, &m);
		assert_int_equal(hca_event(b.d->h, PRM_OP_CREATE_QP, 0, qpn, EVENT_SRQ_LAST_WQE, 0), HCA_NOT_NOW);
		simple_step(&b, PRM_OP_2ERR_QP, qpn);
		raise_event(&b, PRM_OP_CREATE_QP, qpn, EVENT_SRQ_LAST_WQE, 0);
		assert_int_equal(hca_event(b.d->h, PRM_OP_CREATE_QP, 0, qpn, EVENT_SRQ_LAST_WQE, 0), HCA_NOT_NOW);
		simple_step(&b, PRM_OP_2RST_QP, qpn);
		simple_step(&b, PRM_OP_2ERR_QP, qpn);
		raise_event(&b, PRM_OP_CREATE_QP, qpn, EVENT_SRQ_LAST_WQE, 0);
		destroy(b.d, destroys[i], b.uid, ids[i], busy[i]);
		destroy(b.d, PRM_OP_DESTROY_QP, b.uid, qpn, SYN_OK);
		destroy(b.d, destroys[i], b.uid, ids[i], SYN_OK);
	}
}

static void xrc_and_dci(void **state)
{
	struct base b = queues_base(state);
	uint32_t xrcd = new_xrcd(&b), qpn;
	struct make m;

	make_qp(&b, &m, XRC, 1);
	create_with(&b, &m, &m.ctx, QPC(xrcd), xrcd + 1, SYN_XRCD);
	create_with(&b, &m, &m.ctx, QPC(st), 4, SYN_QP_ST);
	create_with(&b, &m, &m.ctx, QPC(st), 6, SYN_QP_ST);
	create_with(&b, &m, &m.ctx, QPC(st), 0xff, SYN_QP_ST);
	PRM_SET(&m.ctx, qpc, xrcd, xrcd);
	create_with(&b, &m, &m.ctx, QPC(srqn_rmpn_xrqn), 0x77, SYN_QP_SRQ);
	qpn = create_ok(&b, &m);
	destroy(b.d, PRM_OP_DEALLOC_XRCD, b.uid, xrcd, SYN_XRCD_BUSY);
	destroy(b.d, PRM_OP_DESTROY_QP, b.uid, qpn, SYN_OK);
	destroy(b.d, PRM_OP_DEALLOC_XRCD, b.uid, xrcd, SYN_OK);

	make_qp(&b, &m, DCI, 3);
	create_with(&b, &m, &m.ctx, QPC(log_num_dci_stream_channels), DCI_LOG_CHANNELS_MAX + 1, SYN_QP_STREAMS);
	PRM_SET(&m.ctx, qpc, log_num_dci_stream_channels, 2);
	create_with(&b, &m, &m.ctx, QPC(st), RC, SYN_QP_STREAMS);
	create_ok(&b, &m);
}

static void step_cmd(struct base *b, struct cmd *c, uint16_t opcode, uint32_t qpn, uint32_t inlen, uint32_t ece)
{
	struct prm_box qpc, path;

	cmd_new(c, opcode, b->uid, inlen, PRM_SZ(rst2init_qp_out));
	SET(c, rst2init_qp_in, qpn, qpn);
	SET(c, rst2init_qp_in, ece, ece);
	qpc = PRM_SUB(&c->i, rst2init_qp_in, qpc);
	path = PRM_SUB(&qpc, qpc, primary_address_path);
	PRM_SET(&path, ads, vhca_port_num, 1);
	PRM_SET(&qpc, qpc, mtu, 1);
}

/* Returns the ece of the answer. */
static uint32_t step(struct base *b, uint16_t opcode, uint32_t qpn, uint32_t ece)
{
	struct cmd c;

	step_cmd(b, &c, opcode, qpn, PRM_SZ(rst2init_qp_in), ece);
	cmd_ok(b->d, &c);
	return (uint32_t)OUT(&c, rst2init_qp_out, ece);
}

static struct prm_box query(struct base *b, struct cmd *c, uint32_t qpn)
{
	cmd_new(c, PRM_OP_QUERY_QP, b->uid, PRM_SZ(query_qp_in), LONG);
	SET(c, query_qp_in, qpn, qpn);
	SET(c, query_qp_in, qpc_ext, 1);
	cmd_ok(b->d, c);
	return PRM_SUB(&c->o, rts2rts_qp_in, qpc_data_ext);
}

static uint32_t to_rts(struct base *b, unsigned int st, unsigned int log_channels)
{
	struct make m;
	uint32_t qpn;

	make_qp(b, &m, st, 3);
	PRM_SET(&m.ctx, qpc, log_num_dci_stream_channels, log_channels);
	qpn = create_ok(b, &m);
	step(b, PRM_OP_RST2INIT_QP, qpn, 0);
	step(b, PRM_OP_INIT2RTR_QP, qpn, 0);
	step(b, PRM_OP_RTR2RTS_QP, qpn, 0);
	return qpn;
}

/* It comes back from the command that set it, from those after it, and from the query; a reset takes it back. */
static void ece(void **state)
{
	struct base b = queues_base(state);
	struct make m;
	struct cmd c;
	uint32_t qpn;

	make_qp(&b, &m, RC, 0);
	SET(&m.c, create_qp_in, ece, 0x10000001);
	qpn = create_ok(&b, &m);
	assert_int_equal(OUT(&m.c, create_qp_out, ece), 0x10000001);
	assert_int_equal(step(&b, PRM_OP_RST2INIT_QP, qpn, 0), 0x10000001);
	assert_int_equal(step(&b, PRM_OP_INIT2RTR_QP, qpn, 0x20000002), 0x20000002);
	assert_int_equal(step(&b, PRM_OP_RTR2RTS_QP, qpn, 0), 0x20000002);
	query(&b, &c, qpn);
	assert_int_equal(OUT(&c, query_qp_out, ece), 0x20000002);
	simple_step(&b, PRM_OP_2RST_QP, qpn);
	query(&b, &c, qpn);
	assert_int_equal(OUT(&c, query_qp_out, ece), 0x10000001);
}

static uint32_t new_element(struct base *b, unsigned int type, uint32_t parent)
{
	enum { NIC = 3 };
	struct prm_box ctx;
	struct cmd c;

	CMD(&c, CREATE_SCHEDULING_ELEMENT, b->uid, create_scheduling_element);
	SET(&c, create_scheduling_element_in, scheduling_hierarchy, NIC);
	ctx = PRM_SUB(&c.i, create_scheduling_element_in, scheduling_context);
	PRM_SET(&ctx, scheduling_context, element_type, type);
	PRM_SET(&ctx, scheduling_context, parent_element_id, parent);
	cmd_ok(b->d, &c);
	return (uint32_t)OUT(&c, create_scheduling_element_out, scheduling_element_id);
}

static struct prm_box ext_cmd(struct base *b, struct cmd *c, uint32_t qpn, uint32_t mask)
{
	step_cmd(b, c, PRM_OP_RTS2RTS_QP, qpn, LONG, 0);
	SET(c, rts2rts_qp_in, qpc_ext, 1);
	SET(c, rts2rts_qp_in, opt_param_mask_95_32, mask);
	return PRM_SUB(&c->i, rts2rts_qp_in, qpc_data_ext);
}

static void ext_fields(void **state)
{
	struct base b = queues_base(state);
	uint32_t root = new_element(&b, 0, 0), group = new_element(&b, 4, root), dci = to_rts(&b, DCI, 2), rc = to_rts(&b, RC, 0);
	struct prm_box ext, qpc, path;
	struct cmd c, q;

	ext = ext_cmd(&b, &c, dci, 1);
	PRM_SET(&ext, qpc_ext, dci_stream_channel_id, 4);
	cmd_refused(b.d, &c, SYN_QP_CHANNEL);
	PRM_SET(&ext, qpc_ext, dci_stream_channel_id, 3);
	SET(&c, rts2rts_qp_in, qpc_ext, 0);
	cmd_refused(b.d, &c, SYN_QP_EXT);
	SET(&c, rts2rts_qp_in, qpc_ext, 1);
	c.inlen--;
	cmd_refused(b.d, &c, SYN_QP_EXT_LEN);
	c.inlen++;
	cmd_ok(b.d, &c);
	SET(&c, rts2rts_qp_in, qpn, rc);
	cmd_refused(b.d, &c, SYN_QP_CHANNEL);
	ext = query(&b, &q, dci);
	assert_int_equal(PRM_GET(&ext, qpc_ext, dci_stream_channel_id), 3);
	q.outlen = LONG - 1;
	cmd_refused(b.d, &q, SYN_QP_EXT_OUT);

	ext = ext_cmd(&b, &c, rc, 2);
	PRM_SET(&ext, qpc_ext, qos_queue_group_id_requester, root);
	cmd_refused(b.d, &c, SYN_QP_GROUP);
	PRM_SET(&ext, qpc_ext, qos_queue_group_id_requester, group);
	PRM_SET(&ext, qpc_ext, qos_queue_group_id_responder, group + 1);
	cmd_refused(b.d, &c, SYN_QP_GROUP);
	assert_int_equal(obj_find(b.d->h, OBJ_SCHED, group, b.uid)->refs, 0);
	PRM_SET(&ext, qpc_ext, qos_queue_group_id_responder, group);
	cmd_ok(b.d, &c);
	assert_int_equal(obj_find(b.d->h, OBJ_SCHED, group, b.uid)->refs, 2);
	ext = query(&b, &q, rc);
	assert_int_equal(PRM_GET(&ext, qpc_ext, qos_queue_group_id_requester), group);
	assert_int_equal(PRM_GET(&ext, qpc_ext, qos_queue_group_id_responder), group);

	/* A source port lies in the qpc itself. */
	step_cmd(&b, &c, PRM_OP_RTS2RTS_QP, rc, PRM_SZ(rst2init_qp_in), 0);
	qpc = PRM_SUB(&c.i, rts2rts_qp_in, qpc);
	path = PRM_SUB(&qpc, qpc, primary_address_path);
	PRM_SET(&path, ads, udp_sport, 0xc123);
	cmd_ok(b.d, &c);
	query(&b, &q, rc);
	qpc = PRM_SUB(&q.o, query_qp_out, qpc);
	path = PRM_SUB(&qpc, qpc, primary_address_path);
	assert_int_equal(PRM_GET(&path, ads, udp_sport), 0);
	SET(&c, rts2rts_qp_in, opt_param_mask_95_32, 4);
	cmd_ok(b.d, &c);
	query(&b, &q, rc);
	qpc = PRM_SUB(&q.o, query_qp_out, qpc);
	path = PRM_SUB(&qpc, qpc, primary_address_path);
	assert_int_equal(PRM_GET(&path, ads, udp_sport), 0xc123);

	simple_step(&b, PRM_OP_2RST_QP, rc);
	assert_int_equal(obj_find(b.d->h, OBJ_SCHED, group, b.uid)->refs, 0);
}

static void ext_of_create(void **state)
{
	struct base b = queues_base(state);
	uint32_t rc = to_rts(&b, RC, 0);
	struct prm_box ext;
	struct make m;
	struct cmd c;

	make_qp(&b, &m, RC, 0);
	create_with(&b, &m, &m.c.i, QP_IN(qpc_ext), 1, SYN_QP_EXT_LEN);
	m.c.inlen = LONG;
	create_with(&b, &m, &m.c.i, QP_IN(qpc_ext), 1, SYN_OK);
	ext = PRM_SUB(&m.c.i, rts2rts_qp_in, qpc_data_ext);
	PRM_SET(&ext, qpc_ext, mmo, 1);
	create_with(&b, &m, &m.c.i, QP_IN(qpc_ext), 1, SYN_QP_MMO);
	create_ok(&b, &m); /* nothing points there */
	ext = ext_cmd(&b, &c, rc, 8);
	cmd_ok(b.d, &c);
	PRM_SET(&ext, qpc_ext, mmo, 1);
	cmd_refused(b.d, &c, SYN_QP_MMO);
}

int run_qp_kind_tests(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, dev_setup, dev_teardown)
	const struct CMUnitTest tests[] = {
		TEST(over_shared_queues), TEST(xrc_and_dci), TEST(ece), TEST(ext_fields), TEST(ext_of_create),
	};

	return cmocka_run_group_tests_name("kinds of qp", tests, NULL, NULL);
}
