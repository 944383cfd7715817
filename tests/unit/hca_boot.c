/* SPDX-License-Identifier: BSD-2-Clause */
/* The life of a driver on a bare device: the order of commands, and what is left when it goes. */
#include "bare.h"
#include "caps.h"
#include "context.h"
#include "events.h"
#include "registers.h"
#include "vport.h"

static void order(void **state)
{
	struct dev *d = *state;
	struct cmd c, pd;

	CMD(&pd, ALLOC_PD, 0, alloc_pd);
	cmd_refused(d, &pd, SYN_NOT_ENABLED);
	CMD(&c, DISABLE_HCA, 0, disable_hca);
	cmd_refused(d, &c, SYN_NOT_ENABLED);
	CMD(&c, ENABLE_HCA, 0, enable_hca);
	SET(&c, enable_hca_in, function_id, 1);
	cmd_refused(d, &c, SYN_CAP_FUNCTION);
	enable(d);
	CMD(&c, ENABLE_HCA, 0, enable_hca);
	cmd_refused(d, &c, SYN_ENABLED);
	cmd_refused(d, &pd, SYN_NOT_READY);
	CMD(&c, TEARDOWN_HCA, 0, teardown_hca);
	cmd_refused(d, &c, SYN_NOT_READY);
	CMD(&c, INIT_HCA, 0, init_hca);
	cmd_refused(d, &c, SYN_INIT_PAGES);
	CMD(&c, DISABLE_HCA, 0, disable_hca);
	SET(&c, enable_hca_in, function_id, 1);
	cmd_refused(d, &c, SYN_CAP_FUNCTION);
	SET(&c, enable_hca_in, function_id, 0);
	cmd_ok(d, &c);
	set_up(d);
	cmd_ok(d, &pd);
	cmd_refused(d, &c, SYN_READY);
	CMD(&c, ENABLE_HCA, 0, enable_hca);
	cmd_refused(d, &c, SYN_READY);
	CMD(&c, INIT_HCA, 0, init_hca);
	cmd_refused(d, &c, SYN_READY);
	CMD(&c, SET_ISSI, 0, set_issi);
	cmd_refused(d, &c, SYN_READY);
	CMD(&c, TEARDOWN_HCA, 0, teardown_hca);
	SET(&c, teardown_hca_in, profile, 2);
	cmd_refused(d, &c, SYN_TEARDOWN);
	tear_down(d);
	cmd_refused(d, &pd, SYN_NOT_ENABLED);
	/* By force it is disabled at once, and needs nothing to be used again. */
	set_up(d);
	SET(&c, teardown_hca_in, profile, 1);
	cmd_ok(d, &c);
	assert_int_equal(OUT(&c, teardown_hca_out, state), 0);
	cmd_refused(d, &pd, SYN_NOT_ENABLED);
	set_up(d);
	cmd_ok(d, &pd);
}

static void issi(void **state)
{
	struct dev *d = *state;
	struct cmd c;

	enable(d);
	CMD(&c, QUERY_ISSI, 0, query_issi);
	cmd_ok(d, &c);
	assert_int_equal(OUT(&c, query_issi_out, current_issi), 0);
	assert_true(OUT(&c, query_issi_out, supported_issi_dw0) & 2);
	CMD(&c, SET_ISSI, 0, set_issi);
	SET(&c, set_issi_in, current_issi, 2);
	cmd_refused(d, &c, SYN_ISSI);
	SET(&c, set_issi_in, current_issi, 1);
	cmd_ok(d, &c);
	CMD(&c, QUERY_ISSI, 0, query_issi);
	cmd_ok(d, &c);
	assert_int_equal(OUT(&c, query_issi_out, current_issi), 1);
	CMD(&c, SET_DRIVER_VERSION, 0, set_driver_version);
	cmd_ok(d, &c);
}

static void query_caps(struct dev *d, struct cmd *c, unsigned int type, bool current)
{
	CMD(c, QUERY_HCA_CAP, 0, query_hca_cap);
	cmd_op_mod(c, (uint16_t)(type << 1 | current));
	cmd_ok(d, c);
}

/* A driver writes the current page back with changes; what it set is current, and what can be stays. */
static void set_caps(void **state)
{
	static struct cmd max, cur, set;
	struct dev *d = *state;
	struct prm_box page;

	enable(d);
	query_caps(d, &max, CAP_GENERAL, false);
	query_caps(d, &cur, CAP_GENERAL, true);
	assert_memory_equal(max.out, cur.out, max.outlen);
	CMD(&set, SET_HCA_CAP, 0, set_hca_cap);
	page = PRM_SUB(&set.i, set_hca_cap_in, capability);
	memcpy(page.p, cur.out + PRM_HDR_SZ, page.len);
	PRM_SET(&page, cmd_hca_cap, log_max_qp, QP_LOG_MAX + 1);
	cmd_refused(d, &set, SYN_CAP_SET_MAX);
	PRM_SET(&page, cmd_hca_cap, log_max_qp, QP_LOG_MAX - 1);
	PRM_SET(&page, cmd_hca_cap, umr_modify_entity_size_disabled, 0);
	fail_alloc = 1;
	cmd_refused(d, &set, SYN_NO_MEMORY);
	fail_alloc = 0;
	cmd_ok(d, &set);
	cmd_ok(d, &set); /* and again */
	query_caps(d, &cur, CAP_GENERAL, true);
	page = PRM_SUB(&cur.o, query_hca_cap_out, capability);
	assert_int_equal(PRM_GET(&page, cmd_hca_cap, log_max_qp), QP_LOG_MAX - 1);
	assert_int_equal(PRM_GET(&page, cmd_hca_cap, umr_modify_entity_size_disabled), 0);
	assert_int_equal(HCA_CAP(d->h, GENERAL, cmd_hca_cap, log_max_qp), QP_LOG_MAX - 1);
	query_caps(d, &cur, CAP_GENERAL, false);
	assert_memory_equal(max.out, cur.out, max.outlen);
	cmd_op_mod(&set, CAP_ROCE << 1);
	cmd_refused(d, &set, SYN_CAP_SET_TYPE);
	cmd_op_mod(&set, 0x7f << 1);
	cmd_refused(d, &set, SYN_CAP_SET_TYPE);
	cmd_op_mod(&set, 0);
	SET(&set, set_hca_cap_in, other_function, 1);
	SET(&set, set_hca_cap_in, function_id, 1);
	cmd_refused(d, &set, SYN_CAP_FUNCTION);
	/* At the next driver's life all is as at the start. */
	CMD(&cur, DISABLE_HCA, 0, disable_hca);
	cmd_ok(d, &cur);
	enable(d);
	query_caps(d, &cur, CAP_GENERAL, true);
	assert_memory_equal(max.out, cur.out, max.outlen);
}

/* The pages of a bare device are the others' with the rows of caps_pci.c over them. */
static void own_caps(void **state)
{
	static const struct hca_host none;
	static struct cmd c;

	for (int p = 0; p < HCA_N_PROFILES; p++) {
		struct hca_config config = { .profile = (enum hca_profile)p, .bare = true, .latency = 1000, .timeout = 1000000000 };
		struct dev d = { .h = hca_new(&config, &none, NULL) };

		assert_non_null(d.h);
		enable(&d);
		for (const struct cap_page *page = cap_pages_bare; page->rows; page++) {
			struct prm_box b;

			query_caps(&d, &c, page->type, true);
			b = PRM_SUB(&c.o, query_hca_cap_out, capability);
			for (const struct cap_row *r = page->rows; r->width; r++) {
				assert_int_equal(prm_get(&b, r->bit, r->width), r->value[p]);
				assert_int_equal(hca_cap(d.h, page->type, r->bit, r->width), r->value[p]);
				for (const struct cap_row *o = page->rows; o < r; o++)
					assert_true(o->bit + o->width <= r->bit || r->bit + r->width <= o->bit);
			}
		}
		hca_free(d.h);
	}
}

static void leftovers(void **state)
{
	struct dev *d = *state;
	uint32_t pd, td;
	uint16_t uid;
	struct cmd c;

	set_up(d);
	uid = new_uid(d);
	pd = new_pd(d, uid);
	new_uid(d);
	CMD(&c, ALLOC_TRANSPORT_DOMAIN, 0, alloc_transport_domain);
	cmd_ok(d, &c);
	td = (uint32_t)OUT(&c, alloc_transport_domain_out, transport_domain);
	CMD(&c, SET_L2_TABLE_ENTRY, 0, set_l2_table_entry);
	cmd_ok(d, &c);
	CMD(&c, ALLOC_FLOW_COUNTER, uid, alloc_flow_counter);
	SET(&c, alloc_flow_counter_in, flow_counter_bulk, 1);
	cmd_ok(d, &c);
	assert_int_equal(d->h->n_objs, 4);
	tear_down(d);
	assert_int_equal(d->h->n_objs, 0);
	set_up(d);
	CMD(&c, ALLOC_PD, uid, alloc_pd);
	cmd_refused(d, &c, SYN_UID);
	destroy(d, PRM_OP_DEALLOC_PD, 0, pd, SYN_PD);
	destroy(d, PRM_OP_DEALLOC_TRANSPORT_DOMAIN, 0, td, SYN_TD);
	assert_int_equal(new_uid(d), uid);
	assert_int_equal(new_pd(d, uid), pd);
	/* A reset in the middle of it all. */
	new_eq(d, 0, 3, UINT64_C(1) << EVENT_PORT_CHANGE, 0, 0);
	hca_reset(d->h);
	assert_int_equal(d->h->n_objs, 0);
	assert_true(hca_port(d->h, 1, false));
	assert_int_equal(d->n_interrupts, 0);
	assert_true(hca_port(d->h, 1, true));
	CMD(&c, ALLOC_PD, 0, alloc_pd);
	cmd_refused(d, &c, SYN_NOT_ENABLED);
	set_up(d);
	tear_down(d);
}

/* Events reach the queues whose mask has them; those of a program's objects the driver's. */
static void driver_events(void **state)
{
	struct dev *d = *state;
	struct prm_box eqe, data;
	uint32_t async, cmd_eq, comp, cq, umem;
	uint16_t uid;
	struct cmd c;

	set_up(d);
	assert_false(hca_commands_done(d->h, 1));
	cmd_eq = new_eq(d, 0, 3, UINT64_C(1) << EVENT_CMD, 0, 0);
	async = new_eq(d, 1, 3, UINT64_C(1) << EVENT_CQ_ERROR | UINT64_C(1) << EVENT_PORT_CHANGE, 0, 0);
	comp = new_eq(d, 2, 3, 0, 1, UID_SHARED);
	assert_true(hca_commands_done(d->h, 0x80000001));
	eqe = eqe_at(d, 0, 0);
	assert_int_equal(PRM_GET(&eqe, eqe, event_type), EVENT_CMD);
	data = PRM_SUB(&eqe, eqe, event_data);
	assert_int_equal(PRM_GET(&data, cmd_inter_comp_event, command_completion_vector), 0x80000001);
	CMD(&c, ALLOC_Q_COUNTER, UID_SHARED, alloc_q_counter);
	cmd_ok(d, &c);
	/* A program may use the shared one only. */
	uid = new_uid(d);
	umem = new_umem(d, uid, 16, 4, MTT_RW);
	cq_cmd(&c, uid, umem);
	data = PRM_SUB(&c.i, create_cq_in, cq_context);
	PRM_SET(&data, cqc, c_eqn_or_apu_element, async);
	cmd_refused(d, &c, SYN_CQ_EQN);
	PRM_SET(&data, cqc, c_eqn_or_apu_element, comp);
	cmd_ok(d, &c);
	cq = (uint32_t)OUT(&c, create_cq_out, cqn);
	assert_int_equal(hca_event(d->h, PRM_OP_CREATE_CQ, 0, cq, EVENT_CQ_ERROR, 1), HCA_RAISED);
	eqe = eqe_at(d, 1, 0);
	assert_int_equal(PRM_GET(&eqe, eqe, event_type), EVENT_CQ_ERROR);
	data = PRM_SUB(&eqe, eqe, event_data);
	assert_int_equal(PRM_GET(&data, cq_error, cqn), cq);
	assert_true(hca_eqn(d->h, 0, &cmd_eq) == false);
	tear_down(d);
}

static struct prm_box read_reg(struct dev *d, struct cmd *c, uint16_t id, uint32_t bytes)
{
	reg_cmd(c, id, false, bytes);
	cmd_ok(d, c);
	return reg_out(c);
}

#define READ_REG(d, c, id, layout) read_reg(d, c, id, PRM_SZ(layout))

static void port_registers(void **state)
{
	struct dev *d = *state;
	struct prm_box r;
	struct cmd c;

	set_up(d);
	new_eq(d, 0, 3, UINT64_C(1) << EVENT_PORT_CHANGE, 0, 0);
	REG_CMD(&c, REG_PAOS, true, paos_reg);
	r = reg_in(&c);
	PRM_SET(&r, paos_reg, local_port, 2);
	cmd_refused(d, &c, SYN_VPORT_PORT);
	PRM_SET(&r, paos_reg, local_port, 1);
	PRM_SET(&r, paos_reg, admin_status, 2);
	cmd_ok(d, &c); /* ase says that the state is not meant */
	assert_true(hca_port_up(d->h, 1));
	PRM_SET(&r, paos_reg, ase, 1);
	PRM_SET(&r, paos_reg, admin_status, 3);
	cmd_refused(d, &c, SYN_REG_PAOS);
	PRM_SET(&r, paos_reg, admin_status, 2);
	cmd_ok(d, &c);
	assert_false(hca_port_up(d->h, 1));
	r = eqe_at(d, 0, 0);
	assert_int_equal(PRM_GET(&r, eqe, event_type), EVENT_PORT_CHANGE);
	assert_int_equal(PRM_GET(&r, eqe, event_sub_type), 1);
	/* The wire alone brings nothing now. */
	assert_true(hca_port(d->h, 1, false));
	assert_true(hca_port(d->h, 1, true));
	r = READ_REG(d, &c, REG_PAOS, paos_reg);
	assert_int_equal(PRM_GET(&r, paos_reg, admin_status), 2);
	assert_int_equal(PRM_GET(&r, paos_reg, oper_status), 2);
	r = eqe_at(d, 0, 1);
	assert_int_equal(PRM_GET(&r, eqe, event_type), 0);
	REG_CMD(&c, REG_PMTU, true, pmtu_reg);
	r = reg_in(&c);
	PRM_SET(&r, pmtu_reg, admin_mtu, PORT_MTU_MAX + 1);
	cmd_refused(d, &c, SYN_REG_MTU);
	PRM_SET(&r, pmtu_reg, admin_mtu, 9000);
	cmd_ok(d, &c);
	r = READ_REG(d, &c, REG_PMTU, pmtu_reg);
	assert_int_equal(PRM_GET(&r, pmtu_reg, oper_mtu), 9000);
	REG_CMD(&c, 0x1234, false, pmtu_reg);
	cmd_refused(d, &c, SYN_REG_NONE);
	tear_down(d);
	set_up(d);
	assert_true(hca_port_up(d->h, 1));
	r = READ_REG(d, &c, REG_PMTU, pmtu_reg);
	assert_int_equal(PRM_GET(&r, pmtu_reg, oper_mtu), VPORT_MTU + L2_OVERHEAD);
}

/* The masks name the registers that can be read, and no others. */
static void masks_tell_the_truth(void **state)
{
	static const struct {
		uint16_t reg, base;
		uint32_t bytes, place, group;
	} masks[] = {
		{ REG_PCAM, 0x5000, PRM_SZ(pcam_reg), CTX_BIT_OF(PRM_F_pcam_reg__port_access_reg_cap_mask_regs_5000_to_507f), 0 },
		{ REG_MCAM, 0x9000, PRM_SZ(mcam_reg), CTX_BIT_OF(PRM_F_mcam_reg__mng_access_reg_cap_mask_access_regs), 0 },
		{ REG_MCAM, 0x9100, PRM_SZ(mcam_reg), CTX_BIT_OF(PRM_F_mcam_reg__mng_access_reg_cap_mask_access_regs2), 2 },
		{ REG_QCAM, 0x4000, PRM_SZ(qcam_reg), CTX_BIT_OF(PRM_F_qcam_reg__qos_access_reg_cap_mask_reg_cap), 0 },
	};
	struct dev *d = *state;
	struct cmd c, one;

	enable(d);
	for (size_t m = 0; m < sizeof(masks) / sizeof(masks[0]); m++) {
		struct prm_box r;

		reg_cmd(&c, masks[m].reg, false, masks[m].bytes);
		r = reg_in(&c);
		PRM_SET(&r, mcam_reg, access_reg_group, masks[m].group);
		cmd_ok(d, &c);
		r = reg_out(&c);
		for (uint16_t i = 0; i < 128; i++) {
			reg_cmd(&one, masks[m].base + i, false, 1024);
			cmd_run(d, &one);
			assert_int_equal(prm_get(&r, masks[m].place + 127 - i, 1),
					 OUT(&one, nop_out, syndrome) != syn_number(SYN_REG_NONE));
		}
	}
}

static void device_registers(void **state)
{
	struct dev *d = *state;
	struct prm_box r;
	struct cmd c;

	enable(d);
	/* How long to wait, of which no time is zero: Linux believes what stands there. */
	r = READ_REG(d, &c, REG_DTOR, dtor_reg);
	for (unsigned int i = 0; i < prm_layout("dtor_reg")->n_fields; i++) {
		const struct prm_field *f = &prm_layout("dtor_reg")->fields[i];

		assert_in_range(prm_get(&r, f->bit, f->width), 1000, 300000);
	}
	REG_CMD(&c, REG_DTOR, true, dtor_reg);
	cmd_refused(d, &c, SYN_REG_WRITE);
	REG_CMD(&c, REG_HOST_ENDIANNESS, true, register_host_endianness);
	r = reg_in(&c);
	PRM_SET(&r, register_host_endianness, he, 1);
	cmd_ok(d, &c);
	r = READ_REG(d, &c, REG_HOST_ENDIANNESS, register_host_endianness);
	assert_int_equal(PRM_GET(&r, register_host_endianness, he), 1);
	reg_cmd(&c, REG_NODE_DESC, true, NODE_DESC_BYTES - 1);
	cmd_refused(d, &c, SYN_IN_LEN);
	reg_cmd(&c, REG_NODE_DESC, true, NODE_DESC_BYTES);
	memcpy(c.in + PRM_HDR_SZ, "a node", 7);
	cmd_ok(d, &c);
	assert_string_equal((char *)c.out + PRM_HDR_SZ, "a node");
	REG_CMD(&c, REG_MCAM, true, mcam_reg);
	cmd_refused(d, &c, SYN_REG_WRITE);
	r = READ_REG(d, &c, REG_PMLP, pmlp_reg);
	assert_int_equal(PRM_GET(&r, pmlp_reg, width), 4);
	REG_CMD(&c, REG_PTYS, false, ptys_reg);
	r = reg_in(&c);
	PRM_SET(&r, ptys_reg, proto_mask, 4);
	cmd_ok(d, &c);
	r = reg_out(&c);
	assert_int_equal(PRM_GET(&r, ptys_reg, ext_eth_proto_oper), 1 << 16); /* 400 Gbit/s: a ConnectX-7 */
	assert_int_equal(PRM_GET(&r, ptys_reg, data_rate_oper), 4000);
}

int run_boot_tests(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, dev_setup_off, dev_teardown)
	const struct CMUnitTest tests[] = { TEST(order), TEST(issi), TEST(set_caps), cmocka_unit_test(own_caps), TEST(leftovers),
					   TEST(driver_events), TEST(port_registers), TEST(masks_tell_the_truth), TEST(device_registers) };

	return cmocka_run_group_tests_name("boot", tests, NULL, NULL);
}
