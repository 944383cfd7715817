/* SPDX-License-Identifier: BSD-2-Clause */
/* Events that the model raises, and what they do to its state. */
#include "dev.h"
#include "events.h"

struct rig {
	uint16_t uid;
	uint32_t umem, pd, cqn, qpn;
};

static struct rig rig_new(struct dev *d)
{
	struct rig r = { .uid = new_uid(d) };
	struct cmd c;

	r.umem = new_umem(d, r.uid, 0, 4, MTT_RW);
	r.pd = new_pd(d, r.uid);
	r.cqn = new_cq(d, r.uid, r.umem);
	qp_cmd(&c, r.uid, r.pd, r.cqn, r.umem);
	cmd_ok(d, &c);
	r.qpn = (uint32_t)OUT(&c, create_qp_out, qpn);
	return r;
}

/* The last event's EQE, with its type checked. */
static struct prm_box last_eqe(struct dev *d, uint8_t type)
{
	struct prm_box eqe = prm_in(d->last_event.eqe, sizeof(d->last_event.eqe));

	assert_int_equal(d->last_event.type, type);
	assert_int_equal(d->last_event.eqe[1], type); /* where a program finds it */
	return PRM_SUB(&eqe, eqe, event_data);
}

static void port_goes_down_and_comes_up(void **state)
{
	struct dev *d = *state;
	struct prm_box data;

	assert_true(hca_port(d->h, 1, true)); /* it is */
	assert_int_equal(d->n_events, 0);
	assert_true(hca_port(d->h, 1, false));
	assert_true(d->h->port_down);
	assert_int_equal(d->n_events, 1);
	assert_false(d->last_event.affiliated);
	data = last_eqe(d, EVENT_PORT_CHANGE);
	assert_int_equal(PRM_GET(&data, port_state_change_event, port_num), 1);
	assert_int_equal(d->last_event.eqe[3], 1);
	assert_true(hca_port(d->h, 1, true));
	assert_false(d->h->port_down);
	assert_int_equal(d->n_events, 2);
	assert_int_equal(d->last_event.eqe[3], 4);
	assert_false(hca_port(d->h, 0, false));
	assert_false(hca_port(d->h, NUM_PORTS + 1, false));
	assert_int_equal(d->n_events, 2);
}

static uint32_t cq_status(struct dev *d, const struct rig *r, uint32_t *st)
{
	struct prm_box cqc;
	struct cmd c;

	CMD(&c, QUERY_CQ, r->uid, query_cq);
	SET(&c, query_cq_in, cqn, r->cqn);
	cmd_ok(d, &c);
	cqc = PRM_SUB(&c.o, query_cq_out, cq_context);
	*st = (uint32_t)PRM_GET(&cqc, cqc, st);
	return (uint32_t)PRM_GET(&cqc, cqc, status);
}

static void cq_error_stays_with_the_cq(void **state)
{
	static const uint32_t status[] = { [1] = 0x9, [2] = 0xa };
	struct dev *d = *state;
	struct prm_box data;
	uint32_t st;

	for (uint8_t syndrome = 1; syndrome <= 2; syndrome++) {
		struct rig r = rig_new(d);
		unsigned int before = d->n_events;

		assert_int_equal(hca_event(d->h, PRM_OP_CREATE_CQ, 0, r.cqn, EVENT_CQ_ERROR, 0), HCA_NOT_NOW);
		assert_int_equal(hca_event(d->h, PRM_OP_CREATE_CQ, 0, r.cqn, EVENT_CQ_ERROR, 3), HCA_NOT_NOW);
		assert_int_equal(cq_status(d, &r, &st), 0);
		assert_int_equal(d->n_events, before);
		assert_int_equal(hca_event(d->h, PRM_OP_CREATE_CQ, 0, r.cqn, EVENT_CQ_ERROR, syndrome), HCA_RAISED);
		assert_int_equal(cq_status(d, &r, &st), status[syndrome]);
		data = last_eqe(d, EVENT_CQ_ERROR);
		assert_int_equal(PRM_GET(&data, cq_error, cqn), r.cqn);
		assert_int_equal(PRM_GET(&data, cq_error, syndrome), syndrome);
		assert_true(d->last_event.affiliated);
		assert_int_equal(d->last_event.obj_type, 0);
		assert_int_equal(d->last_event.obj_id, r.cqn);
		assert_int_equal(hca_event(d->h, PRM_OP_CREATE_CQ, 0, r.cqn, EVENT_CQ_ERROR, syndrome), HCA_NOT_NOW);
		assert_int_equal(hca_event(d->h, PRM_OP_CREATE_CQ, 0, r.cqn, EVENT_COMP, 0), HCA_NOT_NOW);
		assert_int_equal(d->n_events, before + 1);
	}
}

static void completion_event_disarms(void **state)
{
	struct dev *d = *state;
	struct rig r = rig_new(d);
	struct prm_box data;
	uint32_t st;

	assert_int_equal(hca_event(d->h, PRM_OP_CREATE_CQ, 0, r.cqn, EVENT_COMP, 1), HCA_NOT_NOW); /* it carries no syndrome */
	assert_int_equal(hca_event(d->h, PRM_OP_CREATE_CQ, 0, r.cqn, EVENT_COMP, 0), HCA_RAISED);
	assert_int_equal(cq_status(d, &r, &st), 0);
	assert_int_equal(st, 0xa);
	data = last_eqe(d, EVENT_COMP);
	assert_int_equal(PRM_GET(&data, comp_event, cq_number), r.cqn);
}

static struct prm_box query_qp(struct dev *d, const struct rig *r, struct cmd *c)
{
	cmd_new(c, PRM_OP_QUERY_QP, r->uid, PRM_SZ(query_qp_in), PRM_SZ(query_qp_out));
	SET(c, query_qp_in, qpn, r->qpn);
	cmd_ok(d, c);
	return PRM_SUB(&c->o, query_qp_out, qpc);
}

static void to_state(struct dev *d, const struct rig *r, uint8_t state)
{
	static const uint16_t steps[] = { PRM_OP_RST2INIT_QP, PRM_OP_INIT2RTR_QP, PRM_OP_RTR2RTS_QP };
	struct prm_box qpc, path;
	struct cmd c;

	for (uint8_t i = 0; i < state; i++) {
		cmd_new(&c, steps[i], r->uid, PRM_SZ(rst2init_qp_in), PRM_SZ(rst2init_qp_out));
		SET(&c, rst2init_qp_in, qpn, r->qpn);
		qpc = PRM_SUB(&c.i, rst2init_qp_in, qpc);
		path = PRM_SUB(&qpc, qpc, primary_address_path);
		PRM_SET(&path, ads, vhca_port_num, 1);
		PRM_SET(&qpc, qpc, mtu, 1);
		cmd_ok(d, &c);
	}
}

static enum hca_raised qp(struct dev *d, const struct rig *r, uint16_t event)
{
	unsigned int before = d->n_events;
	enum hca_raised raised = hca_event(d->h, PRM_OP_CREATE_QP, 0, r->qpn, event, 0);

	assert_int_equal(d->n_events, before + (raised == HCA_RAISED));
	if (raised == HCA_RAISED) {
		struct prm_box data = last_eqe(d, (uint8_t)event);

		assert_int_equal(PRM_GET(&data, qp_events, type), 0);
		assert_int_equal(PRM_GET(&data, qp_events, qpn_rqn_sqn), r->qpn);
		assert_int_equal(d->last_event.obj_type, 0);
	}
	return raised;
}

static void qp_errors_lead_to_err(void **state)
{
	static const uint16_t errors[] = { EVENT_WQ_CATAS_ERROR, EVENT_WQ_INVAL_REQ_ERROR, EVENT_WQ_ACCESS_ERROR };
	struct dev *d = *state;

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		for (uint8_t st = 1; st <= 3; st++) {
			struct rig r = rig_new(d);
			struct prm_box qpc;
			struct cmd c;

			assert_int_equal(qp(d, &r, errors[i]), HCA_NOT_NOW);
			to_state(d, &r, st);
			assert_int_equal(hca_event(d->h, PRM_OP_CREATE_QP, 0, r.qpn, errors[i], 1), HCA_NOT_NOW);
			assert_int_equal(qp(d, &r, errors[i]), HCA_RAISED);
			qpc = query_qp(d, &r, &c);
			assert_int_equal(PRM_GET(&qpc, qpc, state), 6);
			assert_int_equal(qp(d, &r, errors[i]), HCA_NOT_NOW);
		}
	}
}

static void qp_paths_and_connections(void **state)
{
	struct dev *d = *state;
	struct rig r = rig_new(d);
	struct prm_box qpc;
	struct cmd c;

	to_state(d, &r, 1);
	assert_int_equal(qp(d, &r, EVENT_COMM_EST), HCA_NOT_NOW);
	assert_int_equal(qp(d, &r, EVENT_PATH_MIG), HCA_NOT_NOW);
	assert_int_equal(qp(d, &r, EVENT_PATH_MIG_FAILED), HCA_NOT_NOW);
	r = rig_new(d);
	to_state(d, &r, 2);
	assert_int_equal(qp(d, &r, EVENT_COMM_EST), HCA_RAISED);
	r = rig_new(d);
	to_state(d, &r, 3);
	assert_int_equal(qp(d, &r, EVENT_COMM_EST), HCA_NOT_NOW);
	assert_int_equal(qp(d, &r, EVENT_PATH_MIG_FAILED), HCA_RAISED);
	qpc = query_qp(d, &r, &c);
	assert_int_equal(PRM_GET(&qpc, qpc, pm_state), 0);
	assert_int_equal(qp(d, &r, EVENT_PATH_MIG), HCA_RAISED);
	qpc = query_qp(d, &r, &c);
	assert_int_equal(PRM_GET(&qpc, qpc, pm_state), 3);
	assert_int_equal(PRM_GET(&qpc, qpc, state), 3);
}

static void what_there_is_not(void **state)
{
	struct dev *d = *state;
	struct rig r = rig_new(d);

	assert_int_equal(hca_event(d->h, PRM_OP_CREATE_CQ, 0, r.cqn + 1, EVENT_CQ_ERROR, 1), HCA_NO_OBJECT);
	assert_int_equal(hca_event(d->h, PRM_OP_CREATE_CQ, 0, UINT32_MAX, EVENT_CQ_ERROR, 1), HCA_NO_OBJECT);
	assert_int_equal(hca_event(d->h, PRM_OP_CREATE_CQ, 0, r.cqn, EVENT_WQ_CATAS_ERROR, 0), HCA_NO_EVENT);
	assert_int_equal(hca_event(d->h, PRM_OP_CREATE_QP, 0, r.qpn, EVENT_CQ_ERROR, 1), HCA_NO_EVENT);
	assert_int_equal(hca_event(d->h, PRM_OP_CREATE_QP, 0, r.qpn, EVENT_PORT_CHANGE, 0), HCA_NO_EVENT);
	assert_int_equal(hca_event(d->h, PRM_OP_ALLOC_PD, 0, r.pd, EVENT_CQ_ERROR, 0), HCA_NO_EVENT);
	assert_int_equal(hca_event(d->h, PRM_OP_CREATE_QP, 0, r.qpn, 0x104, 0), HCA_NO_EVENT);
	assert_int_equal(d->n_events, 0);
}

/* A program may subscribe to exactly what some object, or the port, can raise. */
static void capabilities_tell_what_can_happen(void **state)
{
	static const uint16_t general_types[] = { 0x0d, 0x58 };
	static const uint16_t makers[] = {
		PRM_OP_CREATE_CQ, PRM_OP_CREATE_QP, PRM_OP_CREATE_RQ, PRM_OP_CREATE_SQ, PRM_OP_CREATE_RMP, PRM_OP_CREATE_SRQ,
		PRM_OP_CREATE_XRC_SRQ, PRM_OP_CREATE_XRQ, PRM_OP_CREATE_DCT,
	};
	struct { uint32_t bit, width; } affiliated = { PRM_F_device_event_cap__user_affiliated_events };
	struct { uint32_t bit, width; } alone = { PRM_F_device_event_cap__user_unaffiliated_events };
	struct dev *d = *state;
	struct prm_box page, general;
	struct cmd c;

	CMD(&c, QUERY_HCA_CAP, 0, query_hca_cap);
	cmd_op_mod(&c, 1);
	cmd_ok(d, &c);
	general = PRM_SUB(&c.o, query_hca_cap_out, capability);
	assert_int_equal(PRM_GET(&general, cmd_hca_cap, event_cap), 1);
	cmd_op_mod(&c, 0x14 << 1 | 1);
	cmd_ok(d, &c);
	page = PRM_SUB(&c.o, query_hca_cap_out, capability);
	for (uint16_t event = 1; event < 256; event++) {
		uint32_t at = event / 64 * 64 + 63 - event % 64;
		bool can = false;

		for (size_t i = 0; i < sizeof(makers) / sizeof(makers[0]); i++)
			can |= hca_event(d->h, makers[i], 0, 0, event, 0) != HCA_NO_EVENT;
		for (size_t i = 0; i < sizeof(general_types) / sizeof(general_types[0]); i++)
			can |= hca_event(d->h, PRM_OP_CREATE_GENERAL_OBJECT, general_types[i], 0, event, 0) != HCA_NO_EVENT;
		assert_int_equal(prm_get(&page, affiliated.bit + at, 1), can);
		assert_int_equal(prm_get(&page, alone.bit + at, 1), event == EVENT_PORT_CHANGE);
	}
}

int run_event_tests(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(port_goes_down_and_comes_up, dev_setup, dev_teardown),
		cmocka_unit_test_setup_teardown(cq_error_stays_with_the_cq, dev_setup, dev_teardown),
		cmocka_unit_test_setup_teardown(completion_event_disarms, dev_setup, dev_teardown),
		cmocka_unit_test_setup_teardown(qp_errors_lead_to_err, dev_setup, dev_teardown),
		cmocka_unit_test_setup_teardown(qp_paths_and_connections, dev_setup, dev_teardown),
		cmocka_unit_test_setup_teardown(what_there_is_not, dev_setup, dev_teardown),
		cmocka_unit_test_setup_teardown(capabilities_tell_what_can_happen, dev_setup, dev_teardown),
	};

	return cmocka_run_group_tests_name("events", tests, NULL, NULL);
}
