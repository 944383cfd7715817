/* SPDX-License-Identifier: BSD-2-Clause */
/* Registers of the port that a driver's tools use: speeds, flow control, why the link is down, and all groups of counters. */
#include "bare.h"
#include "context.h"
#include "registers.h"
#include "vport.h"

static struct prm_box read_group(struct dev *d, struct cmd *c, unsigned int group, unsigned int prio)
{
	struct prm_box r;

	REG_CMD(c, REG_PPCNT, false, ppcnt_reg);
	r = reg_in(c);
	PRM_SET(&r, ppcnt_reg, grp, group);
	PRM_SET(&r, ppcnt_reg, prio_tc, prio);
	cmd_ok(d, c);
	r = reg_out(c);
	assert_int_equal(PRM_GET(&r, ppcnt_reg, grp), group);
	return PRM_SUB(&r, ppcnt_reg, counter_set);
}

#define LOW(b, layout, field) PRM_GET(b, layout, field##_low)

static void counters(void **state)
{
	static uint8_t frame[9000];
	struct dev *d = *state;
	struct prm_box set;
	struct hca_packet p;
	struct cmd c;

	memset(frame, 0, sizeof(frame)); /* the tests run twice */
	frame[12] = 0x81; /* a VLAN tag of priority 5 */
	frame[14] = 5 << 5;
	assert_true(hca_packet(d->h, frame, 60, 1, &p));
	frame[12] = 0x08;
	assert_true(hca_packet(d->h, frame, 61, 1, &p));
	frame[0] = 1;
	assert_true(hca_packet(d->h, frame, sizeof(frame), 1, &p));
	assert_true(hca_port(d->h, 1, false));
	assert_true(hca_port(d->h, 1, true));
	set = read_group(d, &c, 0x01, 0);
	assert_int_equal(LOW(&set, eth_2863_cntrs_grp_data_layout, if_in_ucast_pkts), 2);
	assert_int_equal(LOW(&set, eth_2863_cntrs_grp_data_layout, if_in_octets), 60 + 61 + 9000);
	set = read_group(d, &c, 0x02, 0);
	assert_int_equal(LOW(&set, eth_2819_cntrs_grp_data_layout, ether_stats_pkts), 3);
	assert_int_equal(LOW(&set, eth_2819_cntrs_grp_data_layout, ether_stats_pkts64octets), 1);
	assert_int_equal(LOW(&set, eth_2819_cntrs_grp_data_layout, ether_stats_pkts65to127octets), 1);
	assert_int_equal(LOW(&set, eth_2819_cntrs_grp_data_layout, ether_stats_pkts8192to10239octets), 1);
	set = read_group(d, &c, 0x03, 0);
	for (uint32_t i = 0; i < set.len; i++)
		assert_int_equal(set.p[i], 0);
	set = read_group(d, &c, 0x10, 5);
	assert_int_equal(LOW(&set, eth_per_prio_grp_data_layout, rx_octets), 60);
	set = read_group(d, &c, 0x10, 0);
	assert_int_equal(LOW(&set, eth_per_prio_grp_data_layout, rx_frames), 2);
	set = read_group(d, &c, 0x12, 0);
	assert_int_equal(PRM_GET(&set, phys_layer_cntrs, link_down_events), 1);
	d->h->vport->link_downs = 300; /* the counter of eight bits stays at its end */
	set = read_group(d, &c, 0x20, 0);
	assert_int_equal(PRM_GET(&set, ib_port_cntrs_grp_data_layout, link_downed_counter), 255);
	set = read_group(d, &c, 0x21, 0);
	assert_int_equal(LOW(&set, ib_ext_port_cntrs_grp_data_layout, port_rcv_data), (60 + 61 + 9000) / 4);
	REG_CMD(&c, REG_PPCNT, false, ppcnt_reg);
	set = reg_in(&c);
	PRM_SET(&set, ppcnt_reg, prio_tc, 8);
	cmd_refused(d, &c, SYN_REG_PRIORITY);
	/* A frame longer than all that are told apart is in none of them. */
	set = read_group(d, &c, 0x02, 0);
	port_counted(d->h->vport, frame, 10240);
	assert_int_equal(LOW(&set, eth_2819_cntrs_grp_data_layout, ether_stats_pkts8192to10239octets), 1);
}

static void speeds(void **state)
{
	struct dev *d = *state;
	struct prm_box w, r;
	struct cmd c, q;

	REG_CMD(&q, REG_PTYS, false, ptys_reg);
	cmd_ok(d, &q); /* not of Ethernet: nothing */
	r = reg_out(&q);
	assert_int_equal(PRM_GET(&r, ptys_reg, ext_eth_proto_capability), 0);
	w = reg_in(&q);
	PRM_SET(&w, ptys_reg, proto_mask, 4);
	REG_CMD(&c, REG_PTYS, true, ptys_reg);
	w = reg_in(&c);
	cmd_refused(d, &c, SYN_REG_PROTO);
	PRM_SET(&w, ptys_reg, proto_mask, 4);
	PRM_SET(&w, ptys_reg, ext_eth_proto_admin, 1 << 16 | 1u << 31);
	cmd_refused(d, &c, SYN_REG_SPEED);
	PRM_SET(&w, ptys_reg, ext_eth_proto_admin, 1 << 12);
	cmd_refused(d, &c, SYN_REG_WIRE);
	PRM_SET(&w, ptys_reg, ext_eth_proto_admin, 1 << 12 | 1 << 16);
	PRM_SET(&w, ptys_reg, an_disable_admin, 1);
	cmd_ok(d, &c);
	cmd_ok(d, &q);
	r = reg_out(&q);
	assert_int_equal(PRM_GET(&r, ptys_reg, ext_eth_proto_admin), 1 << 12 | 1 << 16);
	assert_int_equal(PRM_GET(&r, ptys_reg, eth_proto_admin), 0);
	assert_int_equal(PRM_GET(&r, ptys_reg, an_disable_admin), 1);
	PRM_SET(&w, ptys_reg, ext_eth_proto_admin, 0);
	cmd_ok(d, &c);
	assert_true(hca_port(d->h, 1, false));
	cmd_ok(d, &q);
	r = reg_out(&q);
	assert_int_equal(PRM_GET(&r, ptys_reg, ext_eth_proto_admin), PRM_GET(&r, ptys_reg, ext_eth_proto_capability));
	assert_int_equal(PRM_GET(&r, ptys_reg, ext_eth_proto_oper), 0); /* there is no link */
}

static void flow_control(void **state)
{
	struct dev *d = *state;
	struct prm_box w, r;
	struct cmd c;

	REG_CMD(&c, REG_PFCC, true, pfcc_reg);
	w = reg_in(&c);
	PRM_SET(&w, pfcc_reg, pptx, 1);
	PRM_SET(&w, pfcc_reg, pprx, 1);
	PRM_SET(&w, pfcc_reg, pprx_mask_n, 1);
	PRM_SET(&w, pfcc_reg, pfctx, 0xff);
	PRM_SET(&w, pfcc_reg, prio_mask_tx, 0x0f);
	PRM_SET(&w, pfcc_reg, device_stall_minor_watermark, 9);
	PRM_SET(&w, pfcc_reg, device_stall_critical_watermark, 8);
	PRM_SET(&w, pfcc_reg, critical_stall_mask, 1);
	cmd_ok(d, &c);
	r = reg_out(&c);
	assert_int_equal(PRM_GET(&r, pfcc_reg, pptx), 1);
	assert_int_equal(PRM_GET(&r, pfcc_reg, pprx), 0);
	assert_int_equal(PRM_GET(&r, pfcc_reg, pfctx), 0x0f);
	assert_int_equal(PRM_GET(&r, pfcc_reg, device_stall_minor_watermark), 0);
	assert_int_equal(PRM_GET(&r, pfcc_reg, device_stall_critical_watermark), 8);
	PRM_SET(&w, pfcc_reg, pptx, 0);
	PRM_SET(&w, pfcc_reg, pprx_mask_n, 0);
	PRM_SET(&w, pfcc_reg, prio_mask_tx, 0);
	PRM_SET(&w, pfcc_reg, minor_stall_mask, 1);
	cmd_ok(d, &c);
	r = reg_out(&c);
	assert_int_equal(PRM_GET(&r, pfcc_reg, pptx), 0);
	assert_int_equal(PRM_GET(&r, pfcc_reg, pprx), 1);
	assert_int_equal(PRM_GET(&r, pfcc_reg, pfctx), 0x0f);
	assert_int_equal(PRM_GET(&r, pfcc_reg, device_stall_minor_watermark), 9);
}

static unsigned int reason(struct dev *d)
{
	struct prm_box r, page, code;
	struct cmd c;

	REG_CMD(&c, REG_PDDR, false, pddr_reg);
	r = reg_in(&c);
	cmd_refused(d, &c, SYN_REG_PAGE);
	PRM_SET(&r, pddr_reg, page_select, 1);
	cmd_ok(d, &c);
	r = reg_out(&c);
	page = PRM_SUB(&r, pddr_reg, page_data);
	code = PRM_SUB(&page, pddr_troubleshooting_page, status_opcode);
	return (unsigned int)PRM_GET(&code, pddr_monitor_opcode, monitor_opcode);
}

static void why_down(void **state)
{
	struct dev *d = *state;
	struct prm_box r;
	struct cmd c;

	assert_int_equal(reason(d), 0);
	assert_true(hca_port(d->h, 1, false));
	assert_int_equal(reason(d), 1024);
	port_admin(d->h, false);
	assert_int_equal(reason(d), 1);
	REG_CMD(&c, REG_MCIA, false, mcia_reg);
	cmd_ok(d, &c);
	r = reg_out(&c);
	assert_int_equal(PRM_GET(&r, mcia_reg, status), 1);
}

int run_port_tests(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, dev_setup_bare, dev_teardown)
	const struct CMUnitTest tests[] = { TEST(counters), TEST(speeds), TEST(flow_control), TEST(why_down) };

	return cmocka_run_group_tests_name("port", tests, NULL, NULL);
}
