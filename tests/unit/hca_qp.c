/* SPDX-License-Identifier: BSD-2-Clause */
#include "dev.h"

struct base {
	struct dev *d;
	uint16_t uid;
	uint32_t pd, umem, cqn, qpn;
};

enum { RST, INIT, RTR, RTS, SQERR, ERR = 6 };

#define OPT_RRE 0x2u
#define OPT_COUNTER 0x2000000u

static struct base base(void **state, uint8_t st)
{
	struct base b = { .d = *state };
	struct prm_box qpc;
	struct cmd c;

	b.uid = new_uid(b.d);
	b.pd = new_pd(b.d, b.uid);
	b.umem = new_umem(b.d, b.uid, 0, 1, MTT_RW);
	b.cqn = new_cq(b.d, b.uid, b.umem);
	qp_cmd(&c, b.uid, b.pd, b.cqn, b.umem);
	qpc = PRM_SUB(&c.i, create_qp_in, qpc);
	PRM_SET(&qpc, qpc, st, st);
	PRM_SET(&qpc, qpc, state, 5);
	cmd_ok(b.d, &c);
	b.qpn = (uint32_t)OUT(&c, create_qp_out, qpn);
	assert_true(b.qpn >= QPN_FIRST);
	return b;
}

static struct prm_box query(struct base *b, struct cmd *c)
{
	cmd_new(c, PRM_OP_QUERY_QP, b->uid, PRM_SZ(query_qp_in), PRM_SZ(rst2init_qp_in));
	SET(c, query_qp_in, qpn, b->qpn);
	cmd_ok(b->d, c);
	return PRM_SUB(&c->o, query_qp_out, qpc);
}

static void expect_state(struct base *b, unsigned int want)
{
	struct cmd c;
	struct prm_box qpc = query(b, &c);

	assert_int_equal(PRM_GET(&qpc, qpc, state), want);
}

static struct prm_box path_of(struct prm_box *qpc)
{
	return PRM_SUB(qpc, qpc, primary_address_path);
}

/* A transition with values that are right for all of them. */
static void step_cmd(struct base *b, struct cmd *c, uint16_t opcode, uint32_t opt)
{
	struct prm_box qpc, path;

	cmd_new(c, opcode, b->uid, PRM_SZ(rst2init_qp_in), PRM_SZ(rst2init_qp_out));
	SET(c, rst2init_qp_in, qpn, b->qpn);
	SET(c, rst2init_qp_in, opt_param_mask, opt);
	qpc = PRM_SUB(&c->i, rst2init_qp_in, qpc);
	PRM_SET(&qpc, qpc, mtu, 3);
	PRM_SET(&qpc, qpc, log_msg_max, 30);
	PRM_SET(&qpc, qpc, remote_qpn, 0x123456);
	PRM_SET(&qpc, qpc, next_rcv_psn, 0xabc);
	PRM_SET(&qpc, qpc, next_send_psn, 0xdef);
	PRM_SET(&qpc, qpc, rre, 1);
	PRM_SET(&qpc, qpc, retry_count, 7);
	PRM_SET(&qpc, qpc, rnr_retry, 6);
	PRM_SET(&qpc, qpc, log_rra_max, 4);
	PRM_SET(&qpc, qpc, log_sra_max, 4);
	path = path_of(&qpc);
	PRM_SET(&path, ads, vhca_port_num, 1);
	PRM_SET(&path, ads, src_addr_index, 5);
	PRM_SET(&path, ads, ack_timeout, 14);
}

static void step(struct base *b, uint16_t opcode, uint32_t opt, enum syn why)
{
	struct cmd c;

	step_cmd(b, &c, opcode, opt);
	if (why == SYN_OK)
		cmd_ok(b->d, &c);
	else
		cmd_refused(b->d, &c, why);
}

static void simple_step(struct base *b, uint16_t opcode, enum syn why)
{
	struct cmd c;

	cmd_new(&c, opcode, b->uid, PRM_HDR_SZ, PRM_HDR_SZ);
	SET(&c, qp_2err_in, qpn, b->qpn);
	if (why == SYN_OK)
		cmd_ok(b->d, &c);
	else
		cmd_refused(b->d, &c, why);
}

static void to_rts(struct base *b)
{
	step(b, PRM_OP_RST2INIT_QP, 0, SYN_OK);
	step(b, PRM_OP_INIT2RTR_QP, 0, SYN_OK);
	step(b, PRM_OP_RTR2RTS_QP, 0, SYN_OK);
}

/* Through the life of a queue pair; what each step sets is seen, and not before. */
static void life(void **state)
{
	struct base b = base(state, 0);
	struct prm_box qpc, path;
	struct cmd c;

	qpc = query(&b, &c);
	assert_int_equal(PRM_GET(&qpc, qpc, state), RST);
	assert_int_equal(PRM_GET(&qpc, qpc, cqn_snd), b.cqn);
	step(&b, PRM_OP_RST2INIT_QP, 0, SYN_OK);
	qpc = query(&b, &c);
	path = path_of(&qpc);
	assert_int_equal(PRM_GET(&qpc, qpc, state), INIT);
	assert_int_equal(PRM_GET(&path, ads, vhca_port_num), 1);
	assert_int_equal(PRM_GET(&qpc, qpc, rre), 1);
	assert_int_equal(PRM_GET(&qpc, qpc, mtu), 0);
	assert_int_equal(PRM_GET(&path, ads, src_addr_index), 0);
	step(&b, PRM_OP_INIT2INIT_QP, OPT_RRE, SYN_OK);
	step(&b, PRM_OP_INIT2RTR_QP, 0, SYN_OK);
	qpc = query(&b, &c);
	path = path_of(&qpc);
	assert_int_equal(PRM_GET(&qpc, qpc, state), RTR);
	assert_int_equal(PRM_GET(&qpc, qpc, mtu), 3);
	assert_int_equal(PRM_GET(&qpc, qpc, remote_qpn), 0x123456);
	assert_int_equal(PRM_GET(&qpc, qpc, next_rcv_psn), 0xabc);
	assert_int_equal(PRM_GET(&path, ads, src_addr_index), 5);
	assert_int_equal(PRM_GET(&qpc, qpc, next_send_psn), 0);
	step(&b, PRM_OP_RTR2RTS_QP, 0, SYN_OK);
	qpc = query(&b, &c);
	path = path_of(&qpc);
	assert_int_equal(PRM_GET(&qpc, qpc, state), RTS);
	assert_int_equal(PRM_GET(&qpc, qpc, next_send_psn), 0xdef);
	assert_int_equal(PRM_GET(&qpc, qpc, retry_count), 7);
	assert_int_equal(PRM_GET(&qpc, qpc, rnr_retry), 6);
	assert_int_equal(PRM_GET(&path, ads, ack_timeout), 14);
	step(&b, PRM_OP_RTS2RTS_QP, 0, SYN_OK);
	simple_step(&b, PRM_OP_2ERR_QP, SYN_OK);
	expect_state(&b, ERR);
	simple_step(&b, PRM_OP_2RST_QP, SYN_OK);
	qpc = query(&b, &c);
	assert_int_equal(PRM_GET(&qpc, qpc, state), RST);
	assert_int_equal(PRM_GET(&qpc, qpc, mtu), 0);
	assert_int_equal(PRM_GET(&qpc, qpc, cqn_snd), b.cqn);
	to_rts(&b);
}

/* Each transition from each state. */
static void wrong_state(void **state)
{
	static const struct {
		uint16_t opcode;
		unsigned int from, to;
		enum syn why;
	} steps[] = {
		{ PRM_OP_RST2INIT_QP, RST, INIT, SYN_QP_RST2INIT },     { PRM_OP_INIT2INIT_QP, INIT, INIT, SYN_QP_INIT2INIT },
		{ PRM_OP_INIT2RTR_QP, INIT, RTR, SYN_QP_INIT2RTR },     { PRM_OP_RTR2RTS_QP, RTR, RTS, SYN_QP_RTR2RTS },
		{ PRM_OP_RTS2RTS_QP, RTS, RTS, SYN_QP_RTS2RTS },        { PRM_OP_SQERR2RTS_QP, SQERR, RTS, SYN_QP_SQERR2RTS },
	};
	struct base b = base(state, 0);
	struct qp *qp = (struct qp *)obj_find(b.d->h, OBJ_QP, b.qpn, b.uid);

	for (unsigned int s = RST; s <= ERR; s++) {
		for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
			/* Only errors of a data path lead to SQERR, so no command gets there. */
			qp->state = (uint8_t)s;
			step(&b, steps[i].opcode, 0, s == steps[i].from ? SYN_OK : steps[i].why);
			assert_int_equal(qp->state, s == steps[i].from ? steps[i].to : s);
		}
		qp->state = (uint8_t)s;
		simple_step(&b, PRM_OP_2ERR_QP, SYN_OK);
		assert_int_equal(qp->state, ERR);
		qp->state = (uint8_t)s;
		simple_step(&b, PRM_OP_2RST_QP, SYN_OK);
		assert_int_equal(qp->state, RST);
	}
}

/* A transition with one field of the qpc, or of its path, changed. */
static void field(struct base *b, uint16_t opcode, bool in_path, uint32_t bit, uint32_t width, uint64_t v, enum syn why)
{
	struct prm_box box;
	struct cmd c;

	step_cmd(b, &c, opcode, 0);
	box = PRM_SUB(&c.i, rst2init_qp_in, qpc);
	if (in_path)
		box = path_of(&box);
	prm_set(&box, bit, width, v);
	if (why == SYN_OK)
		cmd_ok(b->d, &c);
	else
		cmd_refused(b->d, &c, why);
}

#define QPC(field) false, PRM_F_qpc__##field
#define ADS(field) true, PRM_F_ads__##field

static void wrong_values(void **state)
{
	struct base b = base(state, 0), ud = base(state, 2);

	field(&b, PRM_OP_RST2INIT_QP, ADS(vhca_port_num), 0, SYN_QP_PORT);
	field(&b, PRM_OP_RST2INIT_QP, ADS(vhca_port_num), 2, SYN_QP_PORT);
	field(&b, PRM_OP_RST2INIT_QP, ADS(pkey_index), PKEYS, SYN_QP_PKEY);
	expect_state(&b, RST);
	field(&b, PRM_OP_RST2INIT_QP, ADS(pkey_index), PKEYS - 1, SYN_OK);
	field(&b, PRM_OP_INIT2RTR_QP, ADS(vhca_port_num), 2, SYN_QP_PORT);
	field(&b, PRM_OP_INIT2RTR_QP, ADS(src_addr_index), ROCE_ADDRESSES, SYN_QP_GID);
	field(&b, PRM_OP_INIT2RTR_QP, QPC(mtu), 0, SYN_QP_MTU);
	field(&b, PRM_OP_INIT2RTR_QP, QPC(mtu), 6, SYN_QP_MTU);
	field(&b, PRM_OP_INIT2RTR_QP, QPC(log_msg_max), 31, SYN_QP_MSG_MAX);
	field(&b, PRM_OP_INIT2RTR_QP, QPC(log_rra_max), 5, SYN_QP_RRA);
	expect_state(&b, INIT);
	field(&b, PRM_OP_INIT2RTR_QP, ADS(vhca_port_num), 0, SYN_OK);
	field(&b, PRM_OP_RTR2RTS_QP, QPC(log_sra_max), 5, SYN_QP_SRA);
	expect_state(&b, RTR);

	/* A UD queue pair has no path. */
	step(&ud, PRM_OP_RST2INIT_QP, 0, SYN_OK);
	field(&ud, PRM_OP_INIT2RTR_QP, QPC(mtu), 6, SYN_QP_MTU);
	field(&ud, PRM_OP_INIT2RTR_QP, QPC(mtu), 0, SYN_OK);
}

static void opt_param_mask(void **state)
{
	struct base b = base(state, 0);
	struct prm_box qpc;
	struct cmd c;

	to_rts(&b);
	field(&b, PRM_OP_RTS2RTS_QP, QPC(rre), 0, SYN_OK); /* not asked for */
	qpc = query(&b, &c);
	assert_int_equal(PRM_GET(&qpc, qpc, rre), 1);
	step_cmd(&b, &c, PRM_OP_RTS2RTS_QP, OPT_RRE);
	qpc = PRM_SUB(&c.i, rts2rts_qp_in, qpc);
	PRM_SET(&qpc, qpc, rre, 0);
	cmd_ok(b.d, &c);
	qpc = query(&b, &c);
	assert_int_equal(PRM_GET(&qpc, qpc, rre), 0);
}

/* Bits of opt_param_mask and the field that each lets through. P: a field of the primary path. */
#define Q(field) { PRM_F_qpc__##field }
#define P(field) { PRM_F_qpc__primary_address_path }, { PRM_F_ads__##field }
static const struct {
	uint16_t opcode;
	uint32_t bit;
	uint32_t place[2], inner[2];
	uint64_t value;
} optional[] = {
	{ PRM_OP_INIT2INIT_QP, 1u << 1, Q(rre), { 0 }, 0 },
	{ PRM_OP_INIT2INIT_QP, 1u << 2, Q(rae), { 0 }, 1 },
	{ PRM_OP_INIT2INIT_QP, 1u << 2, Q(atomic_mode), { 0 }, 3 },
	{ PRM_OP_INIT2INIT_QP, 1u << 3, Q(rwe), { 0 }, 1 },
	{ PRM_OP_INIT2INIT_QP, 1u << 4, P(pkey_index), 9 },
	{ PRM_OP_INIT2INIT_QP, 1u << 5, Q(q_key), { 0 }, 0x11223344 },
	{ PRM_OP_INIT2INIT_QP, 1u << 15, Q(lag_tx_port_affinity), { 0 }, 2 },
	{ PRM_OP_INIT2RTR_QP, 1u << 5, Q(q_key), { 0 }, 0x55667788 },
	{ PRM_OP_INIT2RTR_QP, 1u << 0, Q(secondary_address_path), { PRM_F_ads__rlid }, 0x77 },
	{ PRM_OP_RTR2RTS_QP, 1u << 6, Q(min_rnr_nak), { 0 }, 12 },
	{ PRM_OP_RTR2RTS_QP, 1u << 10, Q(pm_state), { 0 }, 3 },
	{ PRM_OP_RTS2RTS_QP, 1u << 0, Q(secondary_address_path), { PRM_F_ads__rlid }, 0x88 },
	{ PRM_OP_RTS2RTS_QP, 1u << 3, Q(rwe), { 0 }, 0 },
	{ PRM_OP_RTS2RTS_QP, 1u << 6, Q(min_rnr_nak), { 0 }, 21 },
	{ PRM_OP_RTS2RTS_QP, 1u << 10, Q(pm_state), { 0 }, 1 },
	{ PRM_OP_SQERR2RTS_QP, 1u << 5, Q(q_key), { 0 }, 0x99 },
};

static uint64_t seen_value(struct base *b, size_t i)
{
	struct cmd c;
	struct prm_box qpc = query(b, &c);

	if (!optional[i].inner[1])
		return prm_get(&qpc, optional[i].place[0], optional[i].place[1]);
	qpc = prm_sub(&qpc, optional[i].place[0], optional[i].place[1]);
	return prm_get(&qpc, optional[i].inner[0], optional[i].inner[1]);
}

static void each_optional_field(void **state)
{
	struct base b = base(state, 0);
	struct qp *qp = (struct qp *)obj_find(b.d->h, OBJ_QP, b.qpn, b.uid);
	static const uint8_t from[] = { INIT, INIT, RTR, RTS, SQERR };
	static const uint16_t opcodes[] = {
		PRM_OP_INIT2INIT_QP, PRM_OP_INIT2RTR_QP, PRM_OP_RTR2RTS_QP, PRM_OP_RTS2RTS_QP, PRM_OP_SQERR2RTS_QP,
	};
	struct prm_box qpc;
	struct cmd c;

	step(&b, PRM_OP_RST2INIT_QP, 0, SYN_OK);
	for (size_t i = 0; i < sizeof(optional) / sizeof(optional[0]); i++) {
		uint64_t before = seen_value(&b, i);

		assert_int_not_equal(before, optional[i].value);
		for (int asked = 0; asked < 2; asked++) {
			for (size_t k = 0; k < sizeof(opcodes) / sizeof(opcodes[0]); k++)
				if (opcodes[k] == optional[i].opcode)
					qp->state = from[k];
			step_cmd(&b, &c, optional[i].opcode, asked ? optional[i].bit : 0);
			qpc = PRM_SUB(&c.i, rst2init_qp_in, qpc);
			if (optional[i].inner[1]) {
				qpc = prm_sub(&qpc, optional[i].place[0], optional[i].place[1]);
				prm_set(&qpc, optional[i].inner[0], optional[i].inner[1], optional[i].value);
			} else {
				prm_set(&qpc, optional[i].place[0], optional[i].place[1], optional[i].value);
			}
			cmd_ok(b.d, &c);
			assert_int_equal(seen_value(&b, i), asked ? optional[i].value : before);
		}
	}
}

/* INIT2RTR brings a path, yet not the pkey and the port that RST2INIT gave; RTR2RTS brings the timeout. */
static void path_fields(void **state)
{
	struct base b = base(state, 0);
	struct prm_box qpc, path;
	struct cmd c;

	field(&b, PRM_OP_RST2INIT_QP, ADS(pkey_index), 3, SYN_OK);
	field(&b, PRM_OP_INIT2RTR_QP, ADS(vhca_port_num), 0, SYN_OK);
	qpc = query(&b, &c);
	path = path_of(&qpc);
	assert_int_equal(PRM_GET(&path, ads, pkey_index), 3);
	assert_int_equal(PRM_GET(&path, ads, vhca_port_num), 1);
	field(&b, PRM_OP_RTR2RTS_QP, ADS(ack_timeout), 19, SYN_OK);
	qpc = query(&b, &c);
	path = path_of(&qpc);
	assert_int_equal(PRM_GET(&path, ads, ack_timeout), 19);
	assert_int_equal(PRM_GET(&path, ads, src_addr_index), 5);
}

static void counter_step(struct base *b, uint16_t opcode, uint32_t id, enum syn why)
{
	struct prm_box qpc;
	struct cmd c;

	step_cmd(b, &c, opcode, OPT_COUNTER);
	qpc = PRM_SUB(&c.i, rst2init_qp_in, qpc);
	PRM_SET(&qpc, qpc, counter_set_id, id);
	if (why == SYN_OK)
		cmd_ok(b->d, &c);
	else
		cmd_refused(b->d, &c, why);
}

static void counters(void **state)
{
	struct base b = base(state, 0);
	uint16_t other = new_uid(b.d);
	uint32_t first = new_q_counter(b.d, b.uid), foreign = new_q_counter(b.d, other), drivers = new_q_counter(b.d, 0);

	counter_step(&b, PRM_OP_RST2INIT_QP, foreign, SYN_Q_COUNTER);
	counter_step(&b, PRM_OP_RST2INIT_QP, first, SYN_OK);
	destroy(b.d, PRM_OP_DEALLOC_Q_COUNTER, b.uid, first, SYN_Q_COUNTER_BUSY);
	step(&b, PRM_OP_INIT2RTR_QP, 0, SYN_OK);
	counter_step(&b, PRM_OP_RTR2RTS_QP, drivers, SYN_OK);
	destroy(b.d, PRM_OP_DEALLOC_Q_COUNTER, 0, drivers, SYN_Q_COUNTER_BUSY);
	destroy(b.d, PRM_OP_DEALLOC_Q_COUNTER, b.uid, first, SYN_OK);
	simple_step(&b, PRM_OP_2RST_QP, SYN_OK);
	destroy(b.d, PRM_OP_DEALLOC_Q_COUNTER, 0, drivers, SYN_OK);
}

static void create(struct base *b, uint32_t bit, uint32_t width, uint64_t v, enum syn why)
{
	struct cmd c;

	qp_cmd(&c, b->uid, b->pd, b->cqn, b->umem);
	prm_set(&c.i, bit, width, v);
	cmd_refused(b->d, &c, why);
}

static void create_qpc(struct base *b, uint32_t bit, uint32_t width, uint64_t v, enum syn why)
{
	const uint32_t qpc[] = { PRM_F_create_qp_in__qpc };

	create(b, qpc[0] + bit, width, v, why);
}

#define IN(field) PRM_F_create_qp_in__##field
#define C(field) PRM_F_qpc__##field

static void create_refused(void **state)
{
	struct base b = base(state, 0), other = base(state, 0);
	uint32_t ro = new_umem(b.d, b.uid, 0, 1, MTT_RO);
	struct cmd c;

	create_qpc(&b, C(st), 4, SYN_QP_ST);
	create_qpc(&b, C(rq_type), 2, SYN_QP_RQ_TYPE);
	create(&b, IN(input_qpn), 1, SYN_QP_INPUT_QPN);
	create(&b, IN(qpc_ext), 1, SYN_QP_EXT_LEN);
	create_qpc(&b, C(pd), other.pd, SYN_PD);
	create_qpc(&b, C(cqn_snd), other.cqn, SYN_QP_CQ_SND);
	create_qpc(&b, C(cqn_rcv), other.cqn, SYN_QP_CQ_RCV);
	create(&b, IN(wq_umem_valid), 0, SYN_QP_UMEM);
	create(&b, IN(wq_umem_id), other.umem, SYN_UMEM);
	create(&b, IN(wq_umem_id), ro, SYN_QP_READ_ONLY);
	create(&b, IN(wq_umem_offset), PAGE - 2047, SYN_QP_RANGE);
	create_qpc(&b, C(log_sq_size), 15, SYN_QP_RANGE);
	create_qpc(&b, C(dbr_umem_valid), 0, SYN_QP_DBR_UMEM);
	create_qpc(&b, C(dbr_umem_id), ro, SYN_QP_DBR_READ_ONLY);
	create_qpc(&b, C(dbr_umem_id), other.umem, SYN_UMEM);
	create_qpc(&b, C(dbr_addr), PAGE - 7, SYN_QP_DBR_RANGE);
	qp_cmd(&c, b.uid, b.pd, b.cqn, b.umem);
	b.d->h->tables[OBJ_QP].next = QPN_FIRST + (1u << QP_LOG_MAX);
	cmd_refused(b.d, &c, SYN_QP_LIMIT);
}

/* Without queues nothing but a pd is asked for. */
static void no_queues(void **state)
{
	struct base b = base(state, 0);
	struct prm_box qpc;
	struct cmd c;

	qp_cmd(&c, b.uid, b.pd, 0, 0);
	qpc = PRM_SUB(&c.i, create_qp_in, qpc);
	PRM_SET(&qpc, qpc, no_sq, 1);
	PRM_SET(&qpc, qpc, rq_type, 3);
	cmd_ok(b.d, &c);
	/* A receive queue alone needs its own completion queue only. */
	qp_cmd(&c, b.uid, b.pd, 0, b.umem);
	cmd_refused(b.d, &c, SYN_QP_CQ_SND);
	qpc = PRM_SUB(&c.i, create_qp_in, qpc);
	PRM_SET(&qpc, qpc, no_sq, 1);
	cmd_refused(b.d, &c, SYN_QP_CQ_RCV);
	PRM_SET(&qpc, qpc, cqn_rcv, b.cqn);
	cmd_ok(b.d, &c);
}

/* A doorbell record in a umem of its own holds that one. */
static void doorbell_umem(void **state)
{
	struct base b = base(state, 0);
	uint32_t dbr = new_umem(b.d, b.uid, 1, 1, MTT_RW);
	struct prm_box qpc;
	struct cmd c;

	qp_cmd(&c, b.uid, b.pd, b.cqn, b.umem);
	qpc = PRM_SUB(&c.i, create_qp_in, qpc);
	PRM_SET(&qpc, qpc, dbr_umem_id, dbr);
	cmd_ok(b.d, &c);
	destroy(b.d, PRM_OP_DESTROY_UMEM, b.uid, dbr, SYN_UMEM_BUSY);
	destroy(b.d, PRM_OP_DESTROY_QP, b.uid, (uint32_t)OUT(&c, create_qp_out, qpn), SYN_OK);
	destroy(b.d, PRM_OP_DESTROY_UMEM, b.uid, dbr, SYN_OK);
}

static void references(void **state)
{
	struct base b = base(state, 1), other = base(state, 1);
	struct base thief = other;
	struct cmd c;

	thief.qpn = b.qpn;
	step(&thief, PRM_OP_RST2INIT_QP, 0, SYN_QP);
	simple_step(&thief, PRM_OP_2ERR_QP, SYN_QP);
	destroy(b.d, PRM_OP_DESTROY_QP, other.uid, b.qpn, SYN_QP);
	destroy(b.d, PRM_OP_DESTROY_CQ, b.uid, b.cqn, SYN_CQ_BUSY);
	destroy(b.d, PRM_OP_DEALLOC_PD, b.uid, b.pd, SYN_PD_BUSY);
	cmd_new(&c, PRM_OP_QUERY_QP, b.uid, PRM_SZ(query_qp_in), PRM_SZ(rst2init_qp_in));
	SET(&c, query_qp_in, qpn, b.qpn);
	SET(&c, query_qp_in, qpc_ext, 1);
	cmd_refused(b.d, &c, SYN_QP_EXT_OUT);
	step_cmd(&b, &c, PRM_OP_RST2INIT_QP, 0);
	cmd_ok(b.d, &c);
	step_cmd(&b, &c, PRM_OP_INIT2INIT_QP, 0);
	SET(&c, init2init_qp_in, qpc_ext, 1);
	cmd_refused(b.d, &c, SYN_QP_EXT_LEN);
	destroy(b.d, PRM_OP_DESTROY_QP, b.uid, b.qpn, SYN_OK);
	destroy(b.d, PRM_OP_DESTROY_QP, b.uid, b.qpn, SYN_QP);
	destroy(b.d, PRM_OP_DESTROY_CQ, b.uid, b.cqn, SYN_OK);
	destroy(b.d, PRM_OP_DESTROY_UMEM, b.uid, b.umem, SYN_OK);
	destroy(b.d, PRM_OP_DEALLOC_PD, b.uid, b.pd, SYN_OK);
}

int run_qp_tests(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, dev_setup, dev_teardown)
	const struct CMUnitTest tests[] = {
		TEST(life), TEST(wrong_state), TEST(wrong_values), TEST(opt_param_mask), TEST(each_optional_field), TEST(path_fields),
		TEST(counters), TEST(create_refused), TEST(no_queues), TEST(doorbell_umem), TEST(references),
	};

	return cmocka_run_group_tests_name("qp", tests, NULL, NULL);
}
