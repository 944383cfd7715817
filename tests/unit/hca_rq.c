/* SPDX-License-Identifier: BSD-2-Clause */
/* RQs, SQs and RMPs: what they hold, what their contexts may say, and every step of their states. */
#include "events.h"
#include "tests_queues.h"

#define RQC(field) PRM_F_rqc__##field
#define SQC(field) PRM_F_sqc__##field
#define RMPC(field) PRM_F_rmpc__##field
#define WQ(field) PRM_F_wq__##field

static uint32_t new_tis(struct base *b)
{
	struct prm_box ctx;
	struct cmd c;

	CMD(&c, CREATE_TIS, b->uid, create_tis);
	ctx = PRM_SUB(&c.i, create_tis_in, ctx);
	PRM_SET(&ctx, tisc, transport_domain, b->td);
	cmd_ok(b->d, &c);
	return (uint32_t)OUT(&c, create_tis_out, tisn);
}

/* A modify of the queue, from one state to another; what else it shall say is set by the caller. */
static struct prm_box step_cmd(struct base *b, struct cmd *c, uint16_t opcode, uint32_t id, unsigned int from, unsigned int to)
{
	struct prm_box ctx;

	cmd_new(c, opcode, b->uid, PRM_SZ(modify_rq_in), PRM_SZ(modify_rq_out));
	SET(c, modify_rq_in, rqn, id);
	SET(c, modify_rq_in, rq_state, from);
	ctx = PRM_SUB(&c->i, modify_rq_in, ctx);
	PRM_SET(&ctx, rqc, state, to);
	return ctx;
}

static void step(struct base *b, uint16_t opcode, uint32_t id, unsigned int from, unsigned int to, enum syn why)
{
	struct cmd c;

	step_cmd(b, &c, opcode, id, from, to);
	if (why == SYN_OK)
		cmd_ok(b->d, &c);
	else
		cmd_refused(b->d, &c, why);
}

static unsigned int rq_state(struct base *b, uint32_t rqn)
{
	struct cmd c;
	struct prm_box ctx = QUERY_CTX(b, &c, QUERY_RQ, query_rq_out, rq_context, rqn);

	return (unsigned int)PRM_GET(&ctx, rqc, state);
}

static void rq_holds_what_it_names(void **state)
{
	struct base b = queues_base(state);
	struct prm_box ctx, wq;
	struct make m;
	struct cmd c;
	uint32_t rqn, counter = new_q_counter(b.d, b.uid), drivers = new_q_counter(b.d, 0);

	make_rq(&b, &m);
	PRM_SET(&m.ctx, rqc, counter_set_id, counter);
	rqn = create_ok(&b, &m);
	assert_true(rqn >= RQN_FIRST);
	ctx = QUERY_CTX(&b, &c, QUERY_RQ, query_rq_out, rq_context, rqn);
	wq = PRM_SUB(&ctx, rqc, wq);
	assert_int_equal(PRM_GET(&ctx, rqc, user_index), 0xabcdef);
	assert_int_equal(PRM_GET(&ctx, rqc, cqn), b.cqn);
	assert_int_equal(PRM_GET(&wq, wq, log_wq_sz), 6);
	assert_int_equal(PRM_GET(&wq, wq, hw_counter), 0); /* the device's own */
	destroy(b.d, PRM_OP_DESTROY_CQ, b.uid, b.cqn, SYN_CQ_BUSY);
	destroy(b.d, PRM_OP_DEALLOC_PD, b.uid, b.pd, SYN_PD_BUSY);
	destroy(b.d, PRM_OP_DEALLOC_Q_COUNTER, b.uid, counter, SYN_Q_COUNTER_BUSY);
	destroy(b.d, PRM_OP_DESTROY_RQ, b.other, rqn, SYN_RQ);
	destroy(b.d, PRM_OP_DESTROY_SQ, b.uid, rqn, SYN_SQ);

	/* Another counter, one of the driver's: the first is free again. */
	ctx = step_cmd(&b, &c, PRM_OP_MODIFY_RQ, rqn, QUEUE_RST, QUEUE_RDY);
	SET(&c, modify_rq_in, modify_bitmask, 8);
	PRM_SET(&ctx, rqc, counter_set_id, counter + 77);
	cmd_refused(b.d, &c, SYN_Q_COUNTER);
	PRM_SET(&ctx, rqc, counter_set_id, drivers);
	cmd_ok(b.d, &c);
	destroy(b.d, PRM_OP_DEALLOC_Q_COUNTER, b.uid, counter, SYN_OK);
	destroy(b.d, PRM_OP_DEALLOC_Q_COUNTER, 0, drivers, SYN_Q_COUNTER_BUSY);
	destroy(b.d, PRM_OP_DESTROY_RQ, b.uid, rqn, SYN_OK);
	destroy(b.d, PRM_OP_DEALLOC_Q_COUNTER, 0, drivers, SYN_OK);
	destroy(b.d, PRM_OP_DESTROY_CQ, b.uid, b.cqn, SYN_OK);
	destroy(b.d, PRM_OP_DEALLOC_PD, b.uid, b.pd, SYN_OK);
	destroy(b.d, PRM_OP_DESTROY_UMEM, b.uid, b.umem, SYN_OK);
}

static void rq_context(void **state)
{
	struct base b = queues_base(state);
	struct make m;

	make_rq(&b, &m);
	create_with(&b, &m, &m.ctx, RQC(cqn), 1, SYN_CQ);
	create_with(&b, &m, &m.ctx, RQC(state), QUEUE_RDY, SYN_RQ_NEW_STATE);
	create_with(&b, &m, &m.ctx, RQC(ts_format), 3, SYN_RQ_TS_FORMAT);
	create_with(&b, &m, &m.ctx, RQC(ts_format), 2, SYN_OK);
	create_with(&b, &m, &m.ctx, RQC(counter_set_id), 9, SYN_Q_COUNTER);
	create_with(&b, &m, &m.ctx, RQC(mem_rq_type), 2, SYN_RQ_MEM_TYPE);
	create_with(&b, &m, &m.ctx, RQC(mem_rq_type), 1, SYN_RMP);
	b.d->h->cfg.profile = HCA_CX5; /* no real time stamps */
	create_with(&b, &m, &m.ctx, RQC(ts_format), 2, SYN_RQ_TS_FORMAT);
	create_without_memory(&b, &m);
	b.d->h->tables[OBJ_RQ].next = RQN_FIRST + (1u << RQ_LOG_MAX);
	cmd_refused(b.d, &m.c, SYN_RQ_LIMIT);
}

static void work_queue(void **state)
{
	struct base b = queues_base(state);
	struct make m;
	struct prm_box wq;

	make_rq(&b, &m);
	wq = PRM_SUB(&m.ctx, rqc, wq);
	create_with(&b, &m, &wq, WQ(pd), b.pd + 1, SYN_PD);
	create_with(&b, &m, &wq, WQ(uar_page), 5, SYN_UAR);
	create_with(&b, &m, &wq, WQ(wq_type), 4, SYN_WQ_TYPE);
	create_with(&b, &m, &wq, WQ(wq_type), 15, SYN_WQ_TYPE);
	create_with(&b, &m, &wq, WQ(wq_type), 3, SYN_OK);
	create_with(&b, &m, &wq, WQ(log_wq_sz), WQ_LOG_SZ_MAX + 1, SYN_WQ_SIZE);
	create_with(&b, &m, &wq, WQ(log_wq_stride), RQ_LOG_STRIDE_MIN - 1, SYN_WQ_STRIDE);
	create_with(&b, &m, &wq, WQ(log_wq_stride), RQ_LOG_STRIDE_MAX + 1, SYN_WQ_STRIDE);
	create_with(&b, &m, &wq, WQ(end_padding_mode), 2, SYN_WQ_PADDING);
	create_with(&b, &m, &wq, WQ(shampo_enable), 1, SYN_WQ_SHAMPO);
	create_with(&b, &m, &wq, WQ(wq_umem_valid), 0, SYN_WQ_UMEM);
	create_with(&b, &m, &wq, WQ(wq_umem_id), b.foreign, SYN_UMEM);
	create_with(&b, &m, &wq, WQ(wq_umem_id), b.ro, SYN_WQ_READ_ONLY);
	create_with(&b, &m, &wq, WQ(log_wq_sz), 7, SYN_OK);
	create_with(&b, &m, &wq, WQ(log_wq_sz), 8, SYN_WQ_RANGE);
	create_with(&b, &m, &wq, WQ(wq_umem_offset), PAGE, SYN_OK);
	create_with(&b, &m, &wq, WQ(wq_umem_offset), PAGE + 1, SYN_WQ_RANGE);
	create_with(&b, &m, &wq, WQ(wq_umem_offset), UINT64_MAX, SYN_WQ_RANGE);
	create_with(&b, &m, &wq, WQ(dbr_umem_valid), 0, SYN_WQ_DBR_UMEM);
	create_with(&b, &m, &wq, WQ(dbr_umem_id), b.foreign, SYN_UMEM);
	create_with(&b, &m, &wq, WQ(dbr_umem_id), b.ro, SYN_WQ_DBR_READ_ONLY);
	create_with(&b, &m, &wq, WQ(dbr_addr), 2 * PAGE - 7, SYN_WQ_DBR_RANGE);
}

/* From each state each other one, and what is none; and the state that the command believes in. */
static void rq_states(void **state)
{
	static const unsigned int states[] = { QUEUE_RST, QUEUE_RDY, QUEUE_ERR };
	struct base b = queues_base(state);
	uint32_t rqn = new_rq(&b);
	struct ctx_obj *rq = (struct ctx_obj *)obj_find(b.d->h, OBJ_RQ, rqn, b.uid);

	for (int f = 0; f < 3; f++) {
		for (unsigned int to = 0; to < 16; to++) {
			bool may = (to == QUEUE_RST || to == QUEUE_RDY || to == QUEUE_ERR) &&
				   !(states[f] == QUEUE_ERR && to == QUEUE_RDY);

			rq->state = (uint8_t)states[f];
			step(&b, PRM_OP_MODIFY_RQ, rqn, (states[f] + 1) % 4, to, SYN_RQ_STATE);
			step(&b, PRM_OP_MODIFY_RQ, rqn, states[f], to, may ? SYN_OK : SYN_RQ_STEP);
			assert_int_equal(rq->state, may ? to : states[f]);
			if (may)
				assert_int_equal(rq_state(&b, rqn), to);
		}
	}
}

static void rq_select(void **state)
{
	struct base b = queues_base(state);
	uint32_t rqn = new_rq(&b);
	struct prm_box ctx, wq;
	struct cmd c;

	step(&b, PRM_OP_MODIFY_RQ, rqn, QUEUE_RST, QUEUE_RDY, SYN_OK);
	ctx = step_cmd(&b, &c, PRM_OP_MODIFY_RQ, rqn, QUEUE_RDY, QUEUE_RDY);
	PRM_SET(&ctx, rqc, vsd, 1);
	PRM_SET(&ctx, rqc, scatter_fcs, 1);
	PRM_SET(&ctx, rqc, user_index, 5);
	wq = PRM_SUB(&ctx, rqc, wq);
	PRM_SET(&wq, wq, lwm, 65);
	SET(&c, modify_rq_in, modify_bitmask, 0x10);
	cmd_refused(b.d, &c, SYN_SELECT);
	SET(&c, modify_rq_in, modify_bitmask, 0x3);
	cmd_refused(b.d, &c, SYN_RQ_LWM); /* of 64 entries */
	PRM_SET(&wq, wq, lwm, 64);
	cmd_ok(b.d, &c);
	ctx = QUERY_CTX(&b, &c, QUERY_RQ, query_rq_out, rq_context, rqn);
	wq = PRM_SUB(&ctx, rqc, wq);
	assert_int_equal(PRM_GET(&ctx, rqc, vsd), 1);
	assert_int_equal(PRM_GET(&ctx, rqc, scatter_fcs), 0);
	assert_int_equal(PRM_GET(&ctx, rqc, user_index), 0xabcdef);
	assert_int_equal(PRM_GET(&wq, wq, lwm), 64);
}

static void sq_holds_what_it_names(void **state)
{
	struct base b = queues_base(state);
	uint32_t tisn = new_tis(&b), sqn;
	struct prm_box ctx;
	struct make m;
	struct cmd c;

	make_sq(&b, &m, tisn);
	create_with(&b, &m, &m.ctx, SQC(cqn), 1, SYN_CQ);
	create_with(&b, &m, &m.ctx, SQC(state), QUEUE_RDY, SYN_SQ_NEW_STATE);
	create_with(&b, &m, &m.ctx, SQC(ts_format), 3, SYN_SQ_TS_FORMAT);
	create_with(&b, &m, &m.ctx, SQC(tis_num_0), tisn + 1, SYN_TIS);
	create_with(&b, &m, &m.ctx, SQC(tis_lst_sz), 2, SYN_SQ_TIS_LIST);
	create_with(&b, &m, &m.ctx, SQC(packet_pacing_rate_limit_index), 1, SYN_SQ_RATE);
	create_with(&b, &m, &m.ctx, SQC(qos_queue_group_id), 0xfff0, SYN_SQ_QUEUE_GROUP);
	ctx = PRM_SUB(&m.ctx, sqc, wq);
	create_with(&b, &m, &ctx, WQ(wq_type), WQ_LINKED_LIST, SYN_WQ_TYPE);
	create_with(&b, &m, &ctx, WQ(log_wq_stride), SQ_LOG_STRIDE + 1, SYN_WQ_STRIDE);
	create_with(&b, &m, &ctx, WQ(pd), b.pd + 1, SYN_PD);
	sqn = create_ok(&b, &m);
	ctx = QUERY_CTX(&b, &c, QUERY_SQ, query_sq_out, sq_context, sqn);
	assert_int_equal(PRM_GET(&ctx, sqc, tis_num_0), tisn);
	destroy(b.d, PRM_OP_DESTROY_TIS, b.uid, tisn, SYN_TIS_BUSY);
	destroy(b.d, PRM_OP_DESTROY_CQ, b.uid, b.cqn, SYN_CQ_BUSY);
	destroy(b.d, PRM_OP_DESTROY_SQ, b.other, sqn, SYN_SQ);
	destroy(b.d, PRM_OP_DESTROY_SQ, b.uid, sqn, SYN_OK);
	destroy(b.d, PRM_OP_DESTROY_TIS, b.uid, tisn, SYN_OK);
	make_sq(&b, &m, 0);
	PRM_SET(&m.ctx, sqc, tis_lst_sz, 0); /* as queues of hardware steering */
	create_without_memory(&b, &m);
	b.d->h->tables[OBJ_SQ].next = SQN_FIRST + (1u << SQ_LOG_MAX);
	cmd_refused(b.d, &m.c, SYN_SQ_LIMIT);
}

static void sq_states(void **state)
{
	struct base b = queues_base(state);
	struct prm_box ctx;
	struct make m;
	struct cmd c;
	uint32_t sqn;

	make_sq(&b, &m, new_tis(&b));
	sqn = create_ok(&b, &m);
	step(&b, PRM_OP_MODIFY_SQ, sqn, QUEUE_RDY, QUEUE_RDY, SYN_SQ_STATE);
	step(&b, PRM_OP_MODIFY_SQ, sqn, QUEUE_RST, 2, SYN_SQ_STEP);
	step(&b, PRM_OP_MODIFY_SQ, sqn, QUEUE_RST, QUEUE_RST, SYN_OK);
	step(&b, PRM_OP_MODIFY_SQ, sqn, QUEUE_RST, QUEUE_RDY, SYN_OK);
	step(&b, PRM_OP_MODIFY_SQ, sqn, QUEUE_RDY, QUEUE_RDY, SYN_OK);
	step(&b, PRM_OP_MODIFY_SQ, sqn, QUEUE_RDY, QUEUE_ERR, SYN_OK);
	step(&b, PRM_OP_MODIFY_SQ, sqn, QUEUE_ERR, QUEUE_RDY, SYN_SQ_STEP);
	step(&b, PRM_OP_MODIFY_SQ, sqn, QUEUE_ERR, QUEUE_ERR, SYN_OK);
	step(&b, PRM_OP_MODIFY_SQ, sqn, QUEUE_ERR, QUEUE_RST, SYN_OK);
	step(&b, PRM_OP_MODIFY_SQ, sqn, QUEUE_RST, QUEUE_ERR, SYN_OK);
	ctx = QUERY_CTX(&b, &c, QUERY_SQ, query_sq_out, sq_context, sqn);
	assert_int_equal(PRM_GET(&ctx, sqc, state), QUEUE_ERR);

	ctx = step_cmd(&b, &c, PRM_OP_MODIFY_SQ, sqn, QUEUE_ERR, QUEUE_ERR);
	PRM_SET(&ctx, sqc, packet_pacing_rate_limit_index, 1);
	cmd_ok(b.d, &c);
	SET(&c, modify_sq_in, modify_bitmask, 1);
	cmd_refused(b.d, &c, SYN_SQ_RATE);
	SET(&c, modify_sq_in, modify_bitmask, 2);
	cmd_refused(b.d, &c, SYN_SELECT);
	SET(&c, modify_sq_in, modify_bitmask, 4);
	PRM_SET(&ctx, sqc, qos_queue_group_id, 0xfff0);
	cmd_refused(b.d, &c, SYN_SQ_QUEUE_GROUP);
	PRM_SET(&ctx, sqc, qos_queue_group_id, 0);
	cmd_ok(b.d, &c);
}

/* Queues inside the device, bound to each other with the way to RDY, and free again with the way back. */
static void hairpin(void **state)
{
	struct base b = queues_base(state);
	uint32_t rqn, sqn, plain_rq = new_rq(&b), plain_sq;
	struct make rq, sq;
	struct prm_box ctx, wq;
	struct cmd c;

	make_sq(&b, &sq, new_tis(&b));
	plain_sq = create_ok(&b, &sq);
	make_hairpin_rq(&b, &rq);
	wq = PRM_SUB(&rq.ctx, rqc, wq);
	create_with(&b, &rq, &wq, WQ(log_hairpin_data_sz), HAIRPIN_LOG_DATA_MAX + 1, SYN_WQ_HAIRPIN_DATA);
	create_with(&b, &rq, &wq, WQ(log_hairpin_data_sz), HAIRPIN_LOG_DATA_MIN - 1, SYN_WQ_HAIRPIN_DATA);
	create_with(&b, &rq, &wq, WQ(log_hairpin_num_packets), HAIRPIN_LOG_PACKETS_MAX + 1, SYN_WQ_HAIRPIN_PACKETS);
	rqn = create_ok(&b, &rq);
	make_sq(&b, &sq, 0);
	PRM_SET(&sq.ctx, sqc, tis_lst_sz, 0);
	PRM_SET(&sq.ctx, sqc, cqn, 0);
	PRM_SET(&sq.ctx, sqc, hairpin, 1);
	wq = PRM_SUB(&sq.ctx, sqc, wq);
	create_with(&b, &sq, &wq, WQ(log_hairpin_data_sz), 0, SYN_WQ_HAIRPIN_DATA);
	PRM_SET(&wq, wq, log_hairpin_data_sz, 14);
	sqn = create_ok(&b, &sq);

	ctx = QUERY_CTX(&b, &c, QUERY_RQ, query_rq_out, rq_context, rqn);
	assert_int_equal(PRM_GET(&ctx, rqc, hairpin_peer_sq), 0);
	ctx = step_cmd(&b, &c, PRM_OP_MODIFY_RQ, rqn, QUEUE_RST, QUEUE_RDY);
	PRM_SET(&ctx, rqc, hairpin_peer_sq, sqn + 1);
	cmd_refused(b.d, &c, SYN_SQ);
	PRM_SET(&ctx, rqc, hairpin_peer_sq, plain_sq);
	cmd_refused(b.d, &c, SYN_RQ_PEER);
	PRM_SET(&ctx, rqc, hairpin_peer_sq, sqn);
	cmd_ok(b.d, &c);
	ctx = step_cmd(&b, &c, PRM_OP_MODIFY_SQ, sqn, QUEUE_RST, QUEUE_RDY);
	PRM_SET(&ctx, sqc, hairpin_peer_rq, rqn + 1);
	cmd_refused(b.d, &c, SYN_RQ);
	PRM_SET(&ctx, sqc, hairpin_peer_rq, plain_rq);
	cmd_refused(b.d, &c, SYN_SQ_PEER);
	PRM_SET(&ctx, sqc, hairpin_peer_rq, 0x777777);
	PRM_SET(&ctx, sqc, hairpin_peer_vhca, 3); /* another function's queue */
	cmd_ok(b.d, &c);
	ctx = QUERY_CTX(&b, &c, QUERY_SQ, query_sq_out, sq_context, sqn);
	assert_int_equal(PRM_GET(&ctx, sqc, hairpin_peer_rq), 0x777777);
	assert_int_equal(PRM_GET(&ctx, sqc, hairpin_peer_vhca), 3);
	ctx = QUERY_CTX(&b, &c, QUERY_RQ, query_rq_out, rq_context, rqn);
	assert_int_equal(PRM_GET(&ctx, rqc, hairpin_peer_sq), sqn);
	step(&b, PRM_OP_MODIFY_RQ, rqn, QUEUE_RDY, QUEUE_RST, SYN_OK);
	ctx = QUERY_CTX(&b, &c, QUERY_RQ, query_rq_out, rq_context, rqn);
	assert_int_equal(PRM_GET(&ctx, rqc, hairpin_peer_sq), 0);
	step(&b, PRM_OP_MODIFY_SQ, sqn, QUEUE_RDY, QUEUE_ERR, SYN_OK);
	ctx = QUERY_CTX(&b, &c, QUERY_SQ, query_sq_out, sq_context, sqn);
	assert_int_equal(PRM_GET(&ctx, sqc, hairpin_peer_vhca), 0);
	destroy(b.d, PRM_OP_DESTROY_SQ, b.uid, sqn, SYN_OK);
	destroy(b.d, PRM_OP_DESTROY_RQ, b.uid, rqn, SYN_OK);
}

static void queue_errors(void **state)
{
	static const uint8_t errors[] = { EVENT_WQ_CATAS_ERROR, EVENT_WQ_INVAL_REQ_ERROR, EVENT_WQ_ACCESS_ERROR };
	struct base b = queues_base(state);
	uint32_t rqn = new_rq(&b), sqn;
	struct make m;

	make_sq(&b, &m, new_tis(&b));
	sqn = create_ok(&b, &m);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(hca_event(b.d->h, PRM_OP_CREATE_RQ, 0, rqn, errors[i], 0), HCA_NOT_NOW);
		assert_int_equal(hca_event(b.d->h, PRM_OP_CREATE_SQ, 0, sqn, errors[i], 0), HCA_NOT_NOW);
		step(&b, PRM_OP_MODIFY_RQ, rqn, QUEUE_RST, QUEUE_RDY, SYN_OK);
		step(&b, PRM_OP_MODIFY_SQ, sqn, QUEUE_RST, QUEUE_RDY, SYN_OK);
		assert_int_equal(hca_event(b.d->h, PRM_OP_CREATE_RQ, 0, rqn, errors[i], 1), HCA_NOT_NOW);
		raise_event(&b, PRM_OP_CREATE_RQ, rqn, errors[i], 1);
		assert_int_equal(PRM_GET(&b.data, qp_events, type), 1);
		raise_event(&b, PRM_OP_CREATE_SQ, sqn, errors[i], 2);
		assert_int_equal(PRM_GET(&b.data, qp_events, qpn_rqn_sqn), sqn);
		assert_int_equal(rq_state(&b, rqn), QUEUE_ERR);
		step(&b, PRM_OP_MODIFY_RQ, rqn, QUEUE_ERR, QUEUE_RST, SYN_OK);
		step(&b, PRM_OP_MODIFY_SQ, sqn, QUEUE_ERR, QUEUE_RST, SYN_OK);
	}
}

/* Only a queue group takes queues, and it cannot go while it has any. */
static void sq_in_a_group(void **state)
{
	enum { TSAR = 0, GROUP = 4, NIC = 3 };
	struct base b = queues_base(state);
	uint32_t element[2] = { 0 }, sqn;
	struct prm_box ctx;
	struct make m;
	struct cmd c;

	for (int i = 0; i < 2; i++) {
		CMD(&c, CREATE_SCHEDULING_ELEMENT, b.uid, create_scheduling_element);
		SET(&c, create_scheduling_element_in, scheduling_hierarchy, NIC);
		ctx = PRM_SUB(&c.i, create_scheduling_element_in, scheduling_context);
		PRM_SET(&ctx, scheduling_context, element_type, i ? GROUP : TSAR);
		PRM_SET(&ctx, scheduling_context, parent_element_id, element[0]);
		cmd_ok(b.d, &c);
		element[i] = (uint32_t)OUT(&c, create_scheduling_element_out, scheduling_element_id);
	}
	make_sq(&b, &m, new_tis(&b));
	create_with(&b, &m, &m.ctx, SQC(qos_queue_group_id), element[0], SYN_SQ_GROUP_TYPE);
	sqn = create_ok(&b, &m);
	ctx = step_cmd(&b, &c, PRM_OP_MODIFY_SQ, sqn, QUEUE_RST, QUEUE_RST);
	SET(&c, modify_sq_in, modify_bitmask, 4);
	PRM_SET(&ctx, sqc, qos_queue_group_id, element[0]);
	cmd_refused(b.d, &c, SYN_SQ_GROUP_TYPE);
	PRM_SET(&ctx, sqc, qos_queue_group_id, element[1]);
	cmd_ok(b.d, &c);
	CMD(&c, DESTROY_SCHEDULING_ELEMENT, b.uid, destroy_scheduling_element);
	SET(&c, destroy_scheduling_element_in, scheduling_hierarchy, NIC);
	SET(&c, destroy_scheduling_element_in, scheduling_element_id, element[1]);
	cmd_refused(b.d, &c, SYN_GENERAL_BUSY);
	destroy(b.d, PRM_OP_DESTROY_SQ, b.uid, sqn, SYN_OK);
	cmd_ok(b.d, &c);
}

static void rmp_is_shared(void **state)
{
	struct base b = queues_base(state);
	struct make m, rq;
	struct prm_box ctx, wq;
	struct cmd c;
	uint32_t rmpn, rqn;

	make_rmp(&b, &m);
	wq = PRM_SUB(&m.ctx, rmpc, wq);
	create_with(&b, &m, &m.ctx, RMPC(state), QUEUE_RST, SYN_RMP_NEW_STATE);
	create_with(&b, &m, &wq, WQ(lwm), 65, SYN_RMP_LWM);
	create_with(&b, &m, &wq, WQ(pd), b.pd + 1, SYN_PD);
	create_with(&b, &m, &wq, WQ(wq_umem_id), b.ro, SYN_WQ_READ_ONLY);
	rmpn = create_without_memory(&b, &m);
	make_rq(&b, &rq);
	PRM_SET(&rq.ctx, rqc, mem_rq_type, 1);
	PRM_SET(&rq.ctx, rqc, rmpn, rmpn);
	memset(rq.ctx.p + PRM_SZ(rqc) - PRM_SZ(wq), 0, PRM_SZ(wq)); /* it needs no wq of its own */
	rqn = create_ok(&b, &rq);
	destroy(b.d, PRM_OP_DESTROY_RMP, b.uid, rmpn, SYN_RMP_BUSY);
	destroy(b.d, PRM_OP_DESTROY_RQ, b.uid, rqn, SYN_OK);

	step(&b, PRM_OP_MODIFY_RMP, rmpn, QUEUE_ERR, QUEUE_RDY, SYN_RMP_STATE);
	step(&b, PRM_OP_MODIFY_RMP, rmpn, QUEUE_RDY, QUEUE_RST, SYN_RMP_STEP);
	ctx = step_cmd(&b, &c, PRM_OP_MODIFY_RMP, rmpn, QUEUE_RDY, QUEUE_RDY);
	wq = PRM_SUB(&ctx, rmpc, wq);
	PRM_SET(&wq, wq, lwm, 65);
	SET(&c, modify_rq_in, modify_bitmask, 1);
	cmd_refused(b.d, &c, SYN_RMP_LWM);
	PRM_SET(&wq, wq, lwm, 12);
	SET(&c, modify_rq_in, modify_bitmask, 3);
	cmd_refused(b.d, &c, SYN_SELECT);
	SET(&c, modify_rq_in, modify_bitmask, 1);
	cmd_ok(b.d, &c);
	ctx = QUERY_CTX(&b, &c, QUERY_RMP, query_rmp_out, rmp_context, rmpn);
	wq = PRM_SUB(&ctx, rmpc, wq);
	assert_int_equal(PRM_GET(&wq, wq, lwm), 12);
	assert_int_equal(PRM_GET(&ctx, rmpc, state), QUEUE_RDY);
	step(&b, PRM_OP_MODIFY_RMP, rmpn, QUEUE_RDY, QUEUE_ERR, SYN_OK);
	step(&b, PRM_OP_MODIFY_RMP, rmpn, QUEUE_ERR, QUEUE_RDY, SYN_RMP_STEP);
	step(&b, PRM_OP_MODIFY_RMP, rmpn, QUEUE_ERR, QUEUE_ERR, SYN_OK);
	destroy(b.d, PRM_OP_DESTROY_RMP, b.uid, rmpn, SYN_OK);
	destroy(b.d, PRM_OP_DESTROY_RMP, b.uid, rmpn, SYN_RMP);
}

int run_rq_tests(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, dev_setup, dev_teardown)
	const struct CMUnitTest tests[] = {
		TEST(rq_holds_what_it_names), TEST(rq_context), TEST(work_queue), TEST(rq_states), TEST(rq_select),
		TEST(sq_holds_what_it_names), TEST(sq_states), TEST(hairpin), TEST(queue_errors), TEST(sq_in_a_group),
		TEST(rmp_is_shared),
	};

	return cmocka_run_group_tests_name("rq, sq, rmp", tests, NULL, NULL);
}
