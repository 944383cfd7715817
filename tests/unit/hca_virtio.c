/* SPDX-License-Identifier: BSD-2-Clause */
#include "dev.h"
#include "events.h"

enum { VIRTIO_NET_Q = 0x0d, VIRTIO_Q_COUNTERS = 0x1c, RESERVED_QPN = 0x2c, AV_QP = 0x3a, PCIE_CONG = 0x58 };
enum { INIT, RDY, SUSPENDED, ERR };
enum { BY_QP = 1, BY_MSIX = 2 };

struct base {
	uint16_t uid;
	uint32_t pd, umem, mkey;
};

static struct base base(struct dev *d)
{
	struct base b = { .uid = new_uid(d) };
	struct cmd c;

	b.pd = new_pd(d, b.uid);
	b.umem = new_umem(d, b.uid, 0, 4, MTT_RW);
	mkey_cmd(&c, b.uid, b.pd, b.umem, 0, PAGE);
	cmd_ok(d, &c);
	b.mkey = (uint32_t)OUT(&c, create_mkey_out, mkey_index) << 8 | 0x5a;
	return b;
}

/* q: the virtio_q_context inside. */
static struct prm_box queue_cmd(struct cmd *c, const struct base *b, struct prm_box *q)
{
	struct prm_box ctx = GEN_NEW(c, b->uid, VIRTIO_NET_Q, virtio_net_q);

	*q = PRM_SUB(&ctx, virtio_net_q, virtio_q_context);
	PRM_SET(q, virtio_q, queue_size, 64);
	PRM_SET(q, virtio_q, queue_index, 3);
	PRM_SET(q, virtio_q, pd, b->pd);
	PRM_SET(q, virtio_q, virtio_q_mkey, b->mkey);
	PRM_SET(q, virtio_q, umem_1_id, b->umem);
	PRM_SET(q, virtio_q, umem_1_size, 16 * 64 + 1024);
	PRM_SET(q, virtio_q, umem_2_id, b->umem);
	PRM_SET(q, virtio_q, umem_2_size, 8 * 64 + 512);
	PRM_SET(q, virtio_q, umem_2_offset, PAGE);
	PRM_SET(q, virtio_q, umem_3_id, b->umem);
	PRM_SET(q, virtio_q, umem_3_size, 4 * 64 + 256);
	PRM_SET(q, virtio_q, umem_3_offset, 2 * PAGE);
	PRM_SET(q, virtio_q, available_addr, 0x1000);
	PRM_SET(&ctx, virtio_net_q, hw_available_index, 9);
	return ctx;
}

static uint32_t new_queue(struct dev *d, const struct base *b)
{
	struct prm_box q;
	struct cmd c;

	queue_cmd(&c, b, &q);
	return gen_new(d, &c);
}

static void create_refused(void **state)
{
	struct dev *d = *state;
	struct base b = base(d);
	struct prm_box ctx, q;
	struct cmd c;

#define REFUSED(field, v, why)                                                                                       \
	do {                                                                                                         \
		queue_cmd(&c, &b, &q);                                                                               \
		PRM_SET(&q, virtio_q, field, v);                                                                     \
		cmd_refused(d, &c, why);                                                                             \
	} while (0)
	REFUSED(virtio_q_type, 2, SYN_VIRTQ_TYPE);
	REFUSED(event_mode, 3, SYN_VIRTQ_EVENT_MODE);
	REFUSED(full_emulation, 1, SYN_VIRTQ_EMULATION);
	REFUSED(queue_size, 0, SYN_VIRTQ_SIZE);
	REFUSED(queue_size, 48, SYN_VIRTQ_SIZE);
	REFUSED(queue_size, 128, SYN_VIRTQ_UMEM_SIZE);
	REFUSED(pd, b.pd + 1, SYN_PD);
	REFUSED(virtio_q_mkey, b.mkey ^ 1, SYN_MKEY_TAG);
	REFUSED(virtio_q_mkey, b.mkey + 0x100, SYN_MKEY);
	REFUSED(counter_set_id, 1, SYN_VIRTIO_Q_COUNTERS);
	REFUSED(umem_1_id, b.umem + 1, SYN_UMEM);
	REFUSED(umem_2_size, 8 * 64 + 511, SYN_VIRTQ_UMEM_SIZE);
	REFUSED(umem_3_offset, 4 * PAGE - 1, SYN_VIRTQ_UMEM_RANGE);
	REFUSED(umem_3_offset, UINT64_MAX, SYN_VIRTQ_UMEM_RANGE);
	REFUSED(event_mode, BY_QP, SYN_QP);
#undef REFUSED
	ctx = queue_cmd(&c, &b, &q);
	PRM_SET(&ctx, virtio_net_q, state, RDY);
	cmd_refused(d, &c, SYN_VIRTQ_CREATE_STATE);
	ctx = queue_cmd(&c, &b, &q);
	PRM_SET(&ctx, virtio_net_q, tisn_or_qpn, 77);
	cmd_refused(d, &c, SYN_TIS);
	ctx = queue_cmd(&c, &b, &q);
	PRM_SET(&ctx, virtio_net_q, dirty_bitmap_mkey, 77);
	cmd_refused(d, &c, SYN_MKEY);
}

static void refs(void **state)
{
	struct dev *d = *state;
	struct base b = base(d);
	struct prm_box ctx, q;
	uint32_t id, counters, td, tis, cqn, qpn;
	struct cmd c;

	GEN_NEW(&c, b.uid, VIRTIO_Q_COUNTERS, virtio_q_counters);
	counters = gen_new(d, &c);
	CMD(&c, ALLOC_TRANSPORT_DOMAIN, b.uid, alloc_transport_domain);
	cmd_ok(d, &c);
	td = (uint32_t)OUT(&c, alloc_transport_domain_out, transport_domain);
	CMD(&c, CREATE_TIS, b.uid, create_tis);
	ctx = PRM_SUB(&c.i, create_tis_in, ctx);
	PRM_SET(&ctx, tisc, transport_domain, td);
	cmd_ok(d, &c);
	tis = (uint32_t)OUT(&c, create_tis_out, tisn);
	cqn = new_cq(d, b.uid, b.umem);
	qp_cmd(&c, b.uid, b.pd, cqn, b.umem);
	cmd_ok(d, &c);
	qpn = (uint32_t)OUT(&c, create_qp_out, qpn);

	ctx = queue_cmd(&c, &b, &q);
	PRM_SET(&ctx, virtio_net_q, tisn_or_qpn, tis);
	PRM_SET(&q, virtio_q, counter_set_id, counters);
	PRM_SET(&q, virtio_q, event_mode, BY_QP);
	PRM_SET(&q, virtio_q, event_qpn_or_msix, qpn);
	PRM_SET(&q, virtio_q, error_type, 3);
	id = gen_new(d, &c);
	gen_destroy(d, b.uid, VIRTIO_Q_COUNTERS, counters, SYN_GENERAL_BUSY);
	destroy(d, PRM_OP_DESTROY_MKEY, b.uid, b.mkey >> 8, SYN_MKEY_BUSY);
	destroy(d, PRM_OP_DESTROY_TIS, b.uid, tis, SYN_TIS_BUSY);
	destroy(d, PRM_OP_DESTROY_QP, b.uid, qpn, SYN_QP_BUSY);
	ctx = GEN_GET(d, &c, b.uid, VIRTIO_NET_Q, id, virtio_net_q);
	q = PRM_SUB(&ctx, virtio_net_q, virtio_q_context);
	assert_int_equal(PRM_GET(&q, virtio_q, error_type), 0);
	assert_int_equal(PRM_GET(&q, virtio_q, queue_index), 3);
	assert_int_equal(PRM_GET(&ctx, virtio_net_q, hw_available_index), 9);

	/* Another way of events: the QP is free to go. */
	ctx = GEN_MOD(&c, b.uid, VIRTIO_NET_Q, id, virtio_net_q);
	PRM_SET(&ctx, virtio_net_q, modify_field_select, 0x2000);
	q = PRM_SUB(&ctx, virtio_net_q, virtio_q_context);
	PRM_SET(&q, virtio_q, event_mode, BY_MSIX);
	cmd_ok(d, &c);
	destroy(d, PRM_OP_DESTROY_QP, b.uid, qpn, SYN_OK);
	gen_destroy(d, b.uid, VIRTIO_NET_Q, id, SYN_OK);
	destroy(d, PRM_OP_DESTROY_TIS, b.uid, tis, SYN_OK);
	destroy(d, PRM_OP_DESTROY_MKEY, b.uid, b.mkey >> 8, SYN_OK);
}

static void to_state(struct dev *d, const struct base *b, uint32_t id, unsigned int state, enum syn why)
{
	struct prm_box ctx;
	struct cmd c;

	ctx = GEN_MOD(&c, b->uid, VIRTIO_NET_Q, id, virtio_net_q);
	PRM_SET(&ctx, virtio_net_q, modify_field_select, 1);
	PRM_SET(&ctx, virtio_net_q, state, state);
	if (why == SYN_OK)
		cmd_ok(d, &c);
	else
		cmd_refused(d, &c, why);
	if (why != SYN_OK)
		return;
	ctx = GEN_GET(d, &c, b->uid, VIRTIO_NET_Q, id, virtio_net_q);
	assert_int_equal(PRM_GET(&ctx, virtio_net_q, state), state);
}

static void states(void **state)
{
	struct dev *d = *state;
	struct base b = base(d);
	uint32_t id = new_queue(d, &b);

	to_state(d, &b, id, SUSPENDED, SYN_VIRTQ_STATE);
	to_state(d, &b, id, ERR, SYN_VIRTQ_STATE);
	to_state(d, &b, id, RDY, SYN_OK);
	to_state(d, &b, id, INIT, SYN_VIRTQ_STATE);
	to_state(d, &b, id, SUSPENDED, SYN_OK);
	to_state(d, &b, id, INIT, SYN_VIRTQ_STATE);
	to_state(d, &b, id, RDY, SYN_OK); /* freeze_to_rdy_supported */
	to_state(d, &b, id, SUSPENDED, SYN_OK);
	d->h->cfg.profile = HCA_CX6DX;    /* which has it not */
	to_state(d, &b, id, RDY, SYN_VIRTQ_THAW);
	gen_destroy(d, b.uid, VIRTIO_NET_Q, id, SYN_OK);
	to_state(d, &b, id, RDY, SYN_VIRTQ);
}

static void modify(void **state)
{
	struct dev *d = *state;
	struct base b = base(d);
	uint32_t id = new_queue(d, &b);
	struct prm_box ctx, q;
	struct cmd c;

	ctx = GEN_MOD(&c, b.uid, VIRTIO_NET_Q, id, virtio_net_q);
	PRM_SET(&ctx, virtio_net_q, modify_field_select, 0x2);
	cmd_refused(d, &c, SYN_SELECT);
	PRM_SET(&ctx, virtio_net_q, modify_field_select, 0x80 | 0x20);
	PRM_SET(&ctx, virtio_net_q, hw_available_index, 0x123);
	PRM_SET(&ctx, virtio_net_q, hw_used_index, 0x456);
	q = PRM_SUB(&ctx, virtio_net_q, virtio_q_context);
	PRM_SET(&q, virtio_q, queue_period_us, 77);
	PRM_SET(&q, virtio_q, queue_size, 32);
	cmd_ok(d, &c);
	ctx = GEN_GET(d, &c, b.uid, VIRTIO_NET_Q, id, virtio_net_q);
	q = PRM_SUB(&ctx, virtio_net_q, virtio_q_context);
	assert_int_equal(PRM_GET(&ctx, virtio_net_q, hw_available_index), 0x123);
	assert_int_equal(PRM_GET(&ctx, virtio_net_q, hw_used_index), 0);
	assert_int_equal(PRM_GET(&q, virtio_q, queue_period_us), 77);
	assert_int_equal(PRM_GET(&q, virtio_q, queue_size), 64);

	/* A queue that runs keeps what it runs on; the dirty bitmap may be set then. */
	to_state(d, &b, id, RDY, SYN_OK);
	ctx = GEN_MOD(&c, b.uid, VIRTIO_NET_Q, id, virtio_net_q);
	PRM_SET(&ctx, virtio_net_q, modify_field_select, 0x80);
	cmd_refused(d, &c, SYN_VIRTQ_RUNNING);
	PRM_SET(&ctx, virtio_net_q, modify_field_select, 0x8 | 0x10);
	PRM_SET(&ctx, virtio_net_q, dirty_bitmap_mkey, b.mkey);
	PRM_SET(&ctx, virtio_net_q, dirty_bitmap_dump_enable, 1);
	cmd_ok(d, &c);
	PRM_SET(&ctx, virtio_net_q, dirty_bitmap_mkey, b.mkey + 1);
	cmd_refused(d, &c, SYN_MKEY_TAG);
	ctx = GEN_GET(d, &c, b.uid, VIRTIO_NET_Q, id, virtio_net_q);
	assert_int_equal(PRM_GET(&ctx, virtio_net_q, dirty_bitmap_mkey), b.mkey);
}

/* What the device counts is not what a create says. */
static void counters(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d);
	struct prm_box ctx;
	struct cmd c;

	ctx = GEN_NEW(&c, uid, VIRTIO_Q_COUNTERS, virtio_q_counters);
	memset(ctx.p, 0xff, ctx.len);
	ctx = GEN_GET(d, &c, uid, VIRTIO_Q_COUNTERS, gen_new(d, &c), virtio_q_counters);
	for (uint32_t i = 0; i < ctx.len; i++)
		assert_int_equal(ctx.p[i], 0);
}

static void pcie_cong(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d);
	struct prm_box ctx;
	struct cmd c;
	uint32_t id;

	ctx = GEN_NEW(&c, uid, PCIE_CONG, pcie_cong_event_obj);
	PRM_SET(&ctx, pcie_cong_event_obj, inbound_event_en, 1);
	PRM_SET(&ctx, pcie_cong_event_obj, inbound_cong_state, 2);
	PRM_SET(&ctx, pcie_cong_event_obj, inbound_cong_high_threshold, 9000);
	PRM_SET(&ctx, pcie_cong_event_obj, inbound_cong_low_threshold, 7500);
	id = gen_new(d, &c);
	ctx = GEN_MOD(&c, uid, PCIE_CONG, id, pcie_cong_event_obj);
	PRM_SET(&ctx, pcie_cong_event_obj, modify_select_field, 4);
	PRM_SET(&ctx, pcie_cong_event_obj, outbound_cong_low_threshold, 2);
	PRM_SET(&ctx, pcie_cong_event_obj, outbound_cong_high_threshold, 1);
	cmd_refused(d, &c, SYN_PCIE_CONG_THRESHOLD);
	PRM_SET(&ctx, pcie_cong_event_obj, outbound_cong_high_threshold, 3);
	cmd_ok(d, &c);
	ctx = GEN_GET(d, &c, uid, PCIE_CONG, id, pcie_cong_event_obj);
	assert_int_equal(PRM_GET(&ctx, pcie_cong_event_obj, outbound_cong_high_threshold), 3);
	assert_int_equal(PRM_GET(&ctx, pcie_cong_event_obj, inbound_event_en), 1);
	assert_int_equal(PRM_GET(&ctx, pcie_cong_event_obj, inbound_cong_state), 0);
}

static uint32_t new_qp(struct dev *d, const struct base *b, uint32_t cqn)
{
	struct cmd c;

	qp_cmd(&c, b->uid, b->pd, cqn, b->umem);
	cmd_ok(d, &c);
	return (uint32_t)OUT(&c, create_qp_out, qpn);
}

static void address_vectors(void **state)
{
	struct dev *d = *state;
	struct base b = base(d);
	uint32_t qpn = new_qp(d, &b, new_cq(d, b.uid, b.umem)), id;
	struct prm_box ctx, av;
	struct cmd c;

	ctx = GEN_NEW(&c, b.uid, AV_QP, av_qp_mapping);
	PRM_SET(&ctx, av_qp_mapping, qpn, qpn + 1);
	cmd_refused(d, &c, SYN_QP);
	PRM_SET(&ctx, av_qp_mapping, qpn, qpn);
	av = PRM_SUB(&ctx, av_qp_mapping, remote_address_vector);
	PRM_SET(&av, ud_av, src_addr_index, 0x34);
	id = gen_new(d, &c);
	destroy(d, PRM_OP_DESTROY_QP, b.uid, qpn, SYN_QP_BUSY);
	ctx = GEN_GET(d, &c, b.uid, AV_QP, id, av_qp_mapping);
	av = PRM_SUB(&ctx, av_qp_mapping, remote_address_vector);
	assert_int_equal(PRM_GET(&av, ud_av, src_addr_index), 0x34);
	gen_destroy(d, b.uid, AV_QP, id, SYN_OK);
	destroy(d, PRM_OP_DESTROY_QP, b.uid, qpn, SYN_OK);
}

/* Their numbers are QPNs, which no QP gets meanwhile. */
static void reserved_qpns(void **state)
{
	struct dev *d = *state;
	struct base b = base(d);
	uint32_t cqn = new_cq(d, b.uid, b.umem), first = new_qp(d, &b, cqn), reserved, qpn;
	struct prm_box param;
	struct cmd c;

	gen_cmd(&c, PRM_OP_CREATE_GENERAL_OBJECT, b.uid, RESERVED_QPN, 0, 16);
	param = PRM_SUB(&c.i, general_obj_in_cmd_hdr, op_param_create);
	PRM_SET(&param, general_obj_create_param, log_obj_range, 2);
	reserved = gen_new(d, &c);
	assert_true(reserved > first && reserved % 4 == 0);
	for (int i = 0; i < 8; i++) {
		qpn = new_qp(d, &b, cqn);
		assert_true(qpn < reserved || qpn > reserved + 3);
	}
	CMD(&c, QUERY_QP, b.uid, query_qp);
	SET(&c, query_qp_in, qpn, reserved);
	cmd_refused(d, &c, SYN_QP);
	destroy(d, PRM_OP_DESTROY_QP, b.uid, reserved, SYN_QP);
	gen_destroy(d, b.uid, RESERVED_QPN, qpn, SYN_GENERAL);
	gen_destroy(d, b.uid, RESERVED_QPN, reserved, SYN_OK);
	destroy(d, PRM_OP_DESTROY_QP, b.uid, qpn, SYN_OK);
	assert_int_equal(new_qp(d, &b, cqn), qpn);      /* what was given back last is the smallest range */
	assert_int_equal(new_qp(d, &b, cqn), reserved); /* and then one is split */
}

static enum hca_raised changed(struct dev *d, uint16_t type, uint32_t id, uint8_t syndrome)
{
	unsigned int before = d->n_events;
	enum hca_raised raised = hca_event(d->h, PRM_OP_CREATE_GENERAL_OBJECT, type, id, EVENT_OBJECT_CHANGE, syndrome);
	struct prm_box eqe = prm_in(d->last_event.eqe, sizeof(d->last_event.eqe)), data = PRM_SUB(&eqe, eqe, event_data);

	assert_int_equal(d->n_events, before + (raised == HCA_RAISED));
	if (raised == HCA_RAISED) {
		assert_int_equal(d->last_event.type, EVENT_OBJECT_CHANGE);
		assert_int_equal(d->last_event.obj_type, type);
		assert_int_equal(PRM_GET(&data, affiliated_event_header, obj_type), type);
		assert_int_equal(PRM_GET(&data, affiliated_event_header, obj_id), id);
	}
	return raised;
}

static void congestion_changes(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d);
	struct prm_box ctx;
	struct cmd c;
	uint32_t id;

	ctx = GEN_NEW(&c, uid, PCIE_CONG, pcie_cong_event_obj);
	PRM_SET(&ctx, pcie_cong_event_obj, inbound_event_en, 1);
	id = gen_new(d, &c);
	assert_int_equal(changed(d, PCIE_CONG, id, 0), HCA_NOT_NOW); /* it is not congested */
	assert_int_equal(changed(d, PCIE_CONG, id, 2), HCA_NOT_NOW); /* nobody wants to know of that direction */
	assert_int_equal(changed(d, PCIE_CONG, id, 5), HCA_NOT_NOW);
	assert_int_equal(changed(d, PCIE_CONG, id, 3), HCA_RAISED);
	ctx = GEN_GET(d, &c, uid, PCIE_CONG, id, pcie_cong_event_obj);
	assert_int_equal(PRM_GET(&ctx, pcie_cong_event_obj, inbound_cong_state), 7);
	assert_int_equal(PRM_GET(&ctx, pcie_cong_event_obj, outbound_cong_state), 0);
	assert_int_equal(changed(d, PCIE_CONG, id, 1), HCA_NOT_NOW);
	assert_int_equal(changed(d, PCIE_CONG, id, 0), HCA_RAISED);
	ctx = GEN_GET(d, &c, uid, PCIE_CONG, id, pcie_cong_event_obj);
	assert_int_equal(PRM_GET(&ctx, pcie_cong_event_obj, inbound_cong_state), 0);
	assert_int_equal(changed(d, VIRTIO_NET_Q, id, 0), HCA_NO_OBJECT);
	assert_int_equal(changed(d, VIRTIO_Q_COUNTERS, id, 0), HCA_NO_EVENT);
}

static void a_queue_fails(void **state)
{
	struct dev *d = *state;
	struct base b = base(d);
	uint32_t id = new_queue(d, &b);
	struct prm_box ctx;
	struct cmd c;

	assert_int_equal(changed(d, VIRTIO_NET_Q, id, 0), HCA_NOT_NOW);
	to_state(d, &b, id, RDY, SYN_OK);
	assert_int_equal(changed(d, VIRTIO_NET_Q, id, 1), HCA_NOT_NOW); /* it carries no syndrome */
	assert_int_equal(changed(d, VIRTIO_NET_Q, id, 0), HCA_RAISED);
	ctx = GEN_GET(d, &c, b.uid, VIRTIO_NET_Q, id, virtio_net_q);
	assert_int_equal(PRM_GET(&ctx, virtio_net_q, state), ERR);
	assert_int_equal(changed(d, VIRTIO_NET_Q, id, 0), HCA_NOT_NOW);
	to_state(d, &b, id, RDY, SYN_VIRTQ_STATE);
}

int run_virtio_tests(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, dev_setup, dev_teardown)
	const struct CMUnitTest tests[] = {
		TEST(create_refused), TEST(refs), TEST(states), TEST(modify), TEST(counters), TEST(pcie_cong), TEST(address_vectors),
		TEST(reserved_qpns),
		TEST(congestion_changes), TEST(a_queue_fails),
	};

	return cmocka_run_group_tests_name("virtio objects", tests, NULL, NULL);
}
