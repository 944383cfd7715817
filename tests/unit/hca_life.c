/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A driver's whole life, in the order in which Linux 7.2 gives the commands: load, a netdev, a verbs device, a program,
 * unload. Then the same again, as after a reload.
 */
#include "bare.h"
#include "caps.h"
#include "context.h"
#include "events.h"
#include "flow.h"
#include "registers.h"
#include "tests_queues.h"
#include "vport.h"

struct life {
	struct dev *d;
	struct base b; /* for the creates of tests_queues.h: the driver's own objects */
	struct { uint16_t opcode, uid; uint32_t id; } made[128];
	unsigned int n;
	uint32_t table, group;
	uint32_t async, comp, tisn, tirn;
};

static void keep(struct life *l, uint16_t opcode, uint16_t uid, uint32_t id)
{
	assert_true(l->n < sizeof(l->made) / sizeof(l->made[0]));
	l->made[l->n].opcode = opcode;
	l->made[l->n].uid = uid;
	l->made[l->n++].id = id;
}

/* All creates answer alike: the id stands in the low 24 bits at byte 8. */
static uint32_t make(struct life *l, struct cmd *c, uint16_t destroy_op)
{
	uint16_t uid = (uint16_t)prm_get(&c->i, 16, 16);
	uint32_t id;

	cmd_ok(l->d, c);
	id = (uint32_t)OUT(c, alloc_pd_out, pd);
	keep(l, destroy_op, uid == UID_SHARED ? 0 : uid, id);
	return id;
}

static uint32_t alloc(struct life *l, uint16_t opcode, uint16_t uid, uint16_t destroy_op)
{
	struct cmd c;

	cmd_new(&c, opcode, uid, PRM_HDR_SZ, PRM_HDR_SZ);
	return make(l, &c, destroy_op);
}

/* Newest first, until so many are left. */
static void unmake(struct life *l, unsigned int left)
{
	while (l->n > left) {
		l->n--;
		destroy(l->d, l->made[l->n].opcode, l->made[l->n].uid, l->made[l->n].id, SYN_OK);
	}
}

static void caps(struct life *l)
{
	static const uint8_t pages[] = { CAP_GENERAL, CAP_GENERAL_2, CAP_ETHERNET, CAP_ROCE, CAP_FLOW_TABLE, CAP_QOS, CAP_ATOMIC };
	static struct cmd q, set;
	struct prm_box from, to;

	CMD(&q, QUERY_HCA_CAP, 0, query_hca_cap);
	cmd_op_mod(&q, 1);
	cmd_ok(l->d, &q);
	from = PRM_SUB(&q.o, query_hca_cap_out, capability);
	assert_int_equal(PRM_GET(&from, cmd_hca_cap, eth_net_offloads), 1);
	CMD(&set, SET_HCA_CAP, 0, set_hca_cap);
	to = PRM_SUB(&set.i, set_hca_cap_in, capability);
	memcpy(to.p, from.p, to.len);
	PRM_SET(&to, cmd_hca_cap, log_uar_page_sz, 4); /* of a host with pages of 64 KiB: taken, and not looked at */
	cmd_ok(l->d, &set);
	for (size_t i = 0; i < sizeof(pages); i++) {
		cmd_op_mod(&q, (uint16_t)(pages[i] << 1 | 1));
		cmd_ok(l->d, &q);
	}
}

static void load_core(struct life *l)
{
	struct cmd c;
	uint32_t boot;

	enable(l->d);
	CMD(&c, QUERY_ISSI, 0, query_issi);
	cmd_ok(l->d, &c);
	assert_int_equal(OUT(&c, query_issi_out, current_issi), 0);
	CMD(&c, SET_ISSI, 0, set_issi);
	SET(&c, set_issi_in, current_issi, 1);
	cmd_ok(l->d, &c);
	boot = (uint32_t)want_pages(l->d, 1);
	give_pages(l->d, FIRST_PAGE, boot);
	REG_CMD(&c, REG_HOST_ENDIANNESS, true, register_host_endianness);
	cmd_ok(l->d, &c);
	caps(l);
	give_pages(l->d, FIRST_PAGE + boot * PAGE, (uint32_t)want_pages(l->d, 2));
	CMD(&c, INIT_HCA, 0, init_hca);
	cmd_ok(l->d, &c);
	CMD(&c, QUERY_ADAPTER, 0, query_adapter);
	cmd_ok(l->d, &c);
	CMD(&c, SET_DRIVER_VERSION, 0, set_driver_version);
	cmd_ok(l->d, &c);
	alloc(l, PRM_OP_ALLOC_UAR, 0, PRM_OP_DEALLOC_UAR);
	keep(l, PRM_OP_DESTROY_EQ, 0, new_eq(l->d, 8, 5, UINT64_C(1) << EVENT_CMD, 0, 0));
	l->async = new_eq(l->d, 9, 5, 0x1f02be, 0, 0); /* the mask of Linux 7.2 */
	keep(l, PRM_OP_DESTROY_EQ, 0, l->async);
	keep(l, PRM_OP_DESTROY_EQ, 0, new_eq(l->d, 10, 5, UINT64_C(1) << EVENT_PAGE_REQUEST, 0, 0));
	assert_true(hca_commands_done(l->d->h, 1));
}

/* What was asked for by an event is given, as by Linux' worker. */
static void answer_page_request(struct life *l)
{
	struct prm_box eqe = eqe_at(l->d, 10, 0), data = PRM_SUB(&eqe, eqe, event_data);

	assert_int_equal(PRM_GET(&eqe, eqe, event_type), EVENT_PAGE_REQUEST);
	give_pages(l->d, UINT64_C(0x90000000), (uint32_t)PRM_GET(&data, pages_req_event, num_pages));
}

static void resources(struct life *l)
{
	struct prm_box ctx;
	struct cmd c;

	l->b.d = l->d;
	l->b.pd = alloc(l, PRM_OP_ALLOC_PD, 0, PRM_OP_DEALLOC_PD);
	l->b.td = alloc(l, PRM_OP_ALLOC_TRANSPORT_DOMAIN, 0, PRM_OP_DEALLOC_TRANSPORT_DOMAIN);
	CMD(&c, CREATE_MKEY, 0, create_mkey);
	ctx = PRM_SUB(&c.i, create_mkey_in, memory_key_mkey_entry);
	PRM_SET(&ctx, mkc, pd, l->b.pd);
	PRM_SET(&ctx, mkc, length64, 1);
	make(l, &c, PRM_OP_DESTROY_MKEY);
	for (uint32_t i = 0; i < 8; i++) {
		CMD(&c, CREATE_TIS, 0, create_tis);
		ctx = PRM_SUB(&c.i, create_tis_in, ctx);
		PRM_SET(&ctx, tisc, transport_domain, l->b.td);
		PRM_SET(&ctx, tisc, prio, i << 1);
		l->tisn = make(l, &c, PRM_OP_DESTROY_TIS);
	}
	alloc(l, PRM_OP_ALLOC_Q_COUNTER, 0, PRM_OP_DEALLOC_Q_COUNTER);
	alloc(l, PRM_OP_ALLOC_Q_COUNTER, UID_SHARED, PRM_OP_DEALLOC_Q_COUNTER);
	l->comp = new_eq(l->d, 11, 5, 0, 1, UID_SHARED);
	keep(l, PRM_OP_DESTROY_EQ, 0, l->comp);
}

static uint32_t cq(struct life *l, uint16_t uid)
{
	struct prm_box ctx;
	struct cmd c;

	CMD(&c, CREATE_CQ, uid, create_cq);
	ctx = PRM_SUB(&c.i, create_cq_in, cq_context);
	PRM_SET(&ctx, cqc, dbr_addr, PAS_DBR);
	PRM_SET(&ctx, cqc, c_eqn_or_apu_element, l->comp);
	list_pas(&c, PRM_SZ(create_cq_in), 1, MEM_ADDR, PAGE);
	return make(l, &c, PRM_OP_DESTROY_CQ);
}

/* The queue lies in memory of the driver, which it lists. */
static void listed(struct prm_box wq, struct cmd *c, uint32_t at)
{
	PRM_SET(&wq, wq, wq_umem_valid, 0);
	PRM_SET(&wq, wq, dbr_umem_valid, 0);
	PRM_SET(&wq, wq, dbr_addr, PAS_DBR);
	list_pas(c, at, 1, MEM_ADDR, PAGE);
}

static uint32_t rqt(struct life *l, uint32_t rqn)
{
	struct prm_box ctx;
	struct cmd c;

	cmd_new(&c, PRM_OP_CREATE_RQT, 0, PRM_SZ(create_rqt_in) + 4, PRM_SZ(create_rqt_out));
	ctx = PRM_SUB(&c.i, create_rqt_in, rqt_context);
	PRM_SET(&ctx, rqtc, rqt_max_size, 1);
	PRM_SET(&ctx, rqtc, rqt_actual_size, 1);
	prm_set(&c.i, PRM_SZ(create_rqt_in) * 8, 32, rqn);
	return make(l, &c, PRM_OP_DESTROY_RQT);
}

/* A drop queue, tables over it, and packets sent to it by flow tables. */
static void netdev(struct life *l)
{
	struct prm_box ctx;
	struct make m;
	struct cmd c;
	uint32_t rqn;

	l->b.cqn = cq(l, 0);
	make_rq(&l->b, &m);
	listed(PRM_SUB(&m.ctx, rqc, wq), &m.c, PRM_SZ(create_rq_in));
	rqn = make(l, &m.c, PRM_OP_DESTROY_RQ);
	CMD(&c, MODIFY_RQ, 0, modify_rq);
	SET(&c, modify_rq_in, rqn, rqn);
	ctx = PRM_SUB(&c.i, modify_rq_in, ctx);
	PRM_SET(&ctx, rqc, state, 1);
	cmd_ok(l->d, &c);
	for (uint32_t i = 0; i < 10; i++) {
		CMD(&c, CREATE_TIR, 0, create_tir);
		ctx = PRM_SUB(&c.i, create_tir_in, ctx);
		PRM_SET(&ctx, tirc, transport_domain, l->b.td);
		PRM_SET(&ctx, tirc, disp_type, 1);
		PRM_SET(&ctx, tirc, indirect_table, rqt(l, rqn));
		l->tirn = make(l, &c, PRM_OP_DESTROY_TIR);
	}
	l->table = new_table(l->d, 0, 0, 56);
	CMD(&c, SET_FLOW_TABLE_ROOT, 0, set_flow_table_root);
	SET(&c, set_flow_table_root_in, table_id, l->table);
	cmd_ok(l->d, &c);
	l->group = new_group(l->d, 0, l->table, 0, 3);
	entry_cmd(&c, 0, l->table, l->group, 0);
	entry_action(&c, 4); /* forward */
	entry_dest(&c, DEST_TIR, l->tirn);
	cmd_ok(l->d, &c);
	REG_CMD(&c, REG_PAOS, true, paos_reg);
	ctx = reg_in(&c);
	PRM_SET(&ctx, paos_reg, local_port, 1);
	PRM_SET(&ctx, paos_reg, ase, 1);
	PRM_SET(&ctx, paos_reg, admin_status, 1);
	cmd_ok(l->d, &c);
}

static void packets_reach_the_netdev(struct life *l)
{
	static const uint8_t frame[64] = { 2 };
	struct hca_packet p;

	assert_true(hca_packet(l->d->h, frame, sizeof(frame), 1, &p));
	assert_int_equal(p.delivered, 1);
	assert_int_equal(p.tirn[0], l->tirn);
}

static void unmake_tables(struct life *l)
{
	struct cmd c;

	entry_end(&c, 0, l->table, 0);
	cmd_ok(l->d, &c);
	group_end(&c, 0, l->table, l->group);
	cmd_ok(l->d, &c);
	table_end(&c, 0, 0, l->table);
	cmd_ok(l->d, &c);
}

static void verbs(struct life *l)
{
	struct prm_box ctx;
	struct cmd c;

	CMD(&c, MODIFY_NIC_VPORT_CONTEXT, 0, modify_nic_vport_context);
	ctx = PRM_SUB(&c.i, modify_nic_vport_context_in, field_select);
	PRM_SET(&ctx, modify_nic_vport_field_select, roce_en, 1);
	ctx = PRM_SUB(&c.i, modify_nic_vport_context_in, nic_vport_context);
	PRM_SET(&ctx, nic_vport_context, roce_en, 1);
	cmd_ok(l->d, &c);
	alloc(l, PRM_OP_ALLOC_XRCD, 0, PRM_OP_DEALLOC_XRCD);
	keep(l, PRM_OP_DESTROY_UCTX, 0, new_uid(l->d));
	CMD(&c, SET_ROCE_ADDRESS, 0, set_roce_address);
	cmd_ok(l->d, &c);
	cq(l, 0);
}

/* A program: a user context of its own, whose objects name what the driver lends. */
static void program(struct life *l)
{
	uint16_t uid = new_uid(l->d);
	unsigned int before = l->n;
	uint32_t cqn;

	keep(l, PRM_OP_DESTROY_UCTX, 0, uid);
	alloc(l, PRM_OP_ALLOC_UAR, uid, PRM_OP_DEALLOC_UAR);
	alloc(l, PRM_OP_ALLOC_PD, uid, PRM_OP_DEALLOC_PD);
	cqn = cq(l, uid);
	assert_int_equal(hca_event(l->d->h, PRM_OP_CREATE_CQ, 0, cqn, EVENT_CQ_ERROR, 1), HCA_RAISED);
	unmake(l, before);
}

static void one_life(struct dev *d)
{
	struct life l = { .d = d };

	memset(d->mem, 0, MEM_SIZE);
	load_core(&l);
	resources(&l);
	answer_page_request(&l);
	netdev(&l);
	packets_reach_the_netdev(&l);
	verbs(&l);
	program(&l);
	assert_true(pages_in_use(d->h) > PAGES_OWN);
	unmake_tables(&l);
	unmake(&l, 0);
	assert_int_equal(d->h->n_objs, 0);
	tear_down(d);
}

static void twice(void **state)
{
	one_life(*state);
	one_life(*state);
}

/* A driver that goes in the middle, by a reset of the function; and the next one. */
static void cut_short(void **state)
{
	struct life l = { .d = *state };

	load_core(&l);
	resources(&l);
	netdev(&l);
	hca_reset(l.d->h);
	assert_int_equal(l.d->h->n_objs, 0);
	one_life(*state);
}

int run_life_tests(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, dev_setup_off, dev_teardown)
	const struct CMUnitTest tests[] = { TEST(twice), TEST(cut_short) };

	return cmocka_run_group_tests_name("life", tests, NULL, NULL);
}
