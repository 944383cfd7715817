/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets on their way through receive tables: which entry matches, and where they end. */
#include "flow.h"
#include "tests_queues.h"

static void order_and_miss(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d);
	uint32_t low = new_table(d, uid, FT_NIC_RX, 2), high = new_table(d, uid, FT_NIC_RX, 3);
	uint32_t g_high = group_by(d, uid, low, 500, 599, 1, DPORT), g_low = group_by(d, uid, low, 100, 199, 1, AT(OUTER, L2_4(ethertype)));
	uint32_t g_next = group_by(d, uid, high, 0, 9, 1, DPORT);
	uint32_t first, second, twice, by_type, missed;
	struct prm_box ctx;
	struct hca_packet r;
	struct pkt p;
	struct cmd c;

	/* Of entries with one value the lowest index wins, in whatever order they came. */
	second = add_entry(d, uid, low, g_high, 550, DPORT, 53);
	first = add_entry(d, uid, low, g_high, 510, DPORT, 53);
	twice = add_entry(d, uid, low, g_high, 560, DPORT, 53);
	pkt_udp(&p, "0035");
	pkt_send(d, &p, &r);
	assert_int_equal(r.walks, 1);
	assert_int_equal(r.dropped, 1);
	assert_int_equal(counted(d, uid, first, false), 1);
	assert_int_equal(counted(d, uid, first, true), p.n);
	assert_int_equal(counted(d, uid, second, false), 0);
	entry_end(&c, uid, low, 510);
	cmd_ok(d, &c);
	pkt_send(d, &p, &r);
	assert_int_equal(counted(d, uid, second, false), 1);
	entry_end(&c, uid, low, 550);
	cmd_ok(d, &c);
	pkt_send(d, &p, &r);
	assert_int_equal(counted(d, uid, twice, false), 1);
	/* A group of lower indices comes first, though it was made later. */
	by_type = add_entry(d, uid, low, g_low, 150, AT(OUTER, L2_4(ethertype)), 0x0800);
	pkt_send(d, &p, &r);
	assert_int_equal(counted(d, uid, by_type, false), 1);
	assert_int_equal(counted(d, uid, twice, false), 1);
	entry_end(&c, uid, low, 150);
	cmd_ok(d, &c);
	/* A miss ends, or goes on where the table says. */
	pkt_udp(&p, "0036");
	pkt_send(d, &p, &r);
	assert_int_equal(r.missed, 1);
	assert_int_equal(r.dropped + r.delivered + r.allowed, 0);
	missed = add_entry(d, uid, high, g_next, 3, DPORT, 54);
	CMD(&c, MODIFY_FLOW_TABLE, uid, modify_flow_table);
	SET(&c, modify_flow_table_in, table_id, low);
	SET(&c, modify_flow_table_in, modify_field_select, 1);
	ctx = PRM_SUB(&c.i, modify_flow_table_in, flow_table_context);
	PRM_SET(&ctx, flow_table_context, table_miss_action, 1);
	PRM_SET(&ctx, flow_table_context, table_miss_id, high);
	cmd_ok(d, &c);
	pkt_send(d, &p, &r);
	assert_int_equal(r.missed, 0);
	assert_int_equal(counted(d, uid, missed, false), 1);
	pkt_udp(&p, "0037");
	pkt_send(d, &p, &r);
	assert_int_equal(r.missed, 1);
}

static void where_it_begins(void **state)
{
	struct dev *d = *state;
	uint16_t one = new_uid(d), two = new_uid(d);
	uint32_t drv = new_table(d, 0, FT_NIC_RX, 0), of_drv = add_entry(d, 0, drv, new_group(d, 0, drv, 0, 0), 0, DPORT, 0);
	uint32_t late = new_table(d, one, FT_NIC_RX, 9), of_late = add_entry(d, one, late, new_group(d, one, late, 0, 0), 0, DPORT, 0);
	uint32_t tx = new_table(d, one, FT_NIC_TX, 0);
	uint32_t table = new_table(d, two, FT_NIC_RX, 64), of_two = add_entry(d, two, table, new_group(d, two, table, 0, 0), 0, DPORT, 0);
	struct hca_packet r;
	struct pkt p;
	struct cmd c;

	assert_true(tx);
	pkt_udp(&p, "0035");
	pkt_send(d, &p, &r);
	assert_int_equal(r.walks, 2); /* each user's first table, the driver's not */
	assert_int_equal(counted(d, one, of_late, false), 1);
	assert_int_equal(counted(d, two, of_two, false), 1);
	assert_int_equal(counted(d, 0, of_drv, false), 0);
	/* A lower level, though younger, comes first; of one level the older. */
	uint32_t lower = new_table(d, one, FT_NIC_RX, 8), same = new_table(d, one, FT_NIC_RX, 8);

	assert_true(same);
	pkt_send(d, &p, &r);
	assert_int_equal(r.missed, 1);
	assert_int_equal(counted(d, one, of_late, false), 1);
	table_end(&c, one, FT_NIC_RX, lower);
	cmd_ok(d, &c);
	table_end(&c, one, FT_NIC_RX, same);
	cmd_ok(d, &c);
	/* The root is the only beginning once there is one. */
	CMD(&c, SET_FLOW_TABLE_ROOT, 0, set_flow_table_root);
	SET(&c, set_flow_table_root_in, table_id, drv);
	cmd_ok(d, &c);
	pkt_send(d, &p, &r);
	assert_int_equal(r.walks, 1);
	assert_int_equal(counted(d, 0, of_drv, false), 1);
	assert_int_equal(counted(d, one, of_late, false), 1);
	cmd_op_mod(&c, 1);
	cmd_ok(d, &c);
	pkt_send(d, &p, &r);
	assert_int_equal(counted(d, one, of_late, false), 2);

	assert_false(hca_packet(d->h, p.b, 13, 1, &r));
	assert_false(hca_packet(d->h, p.b, 65536, 1, &r));
	assert_false(hca_packet(d->h, p.b, p.n, 0, &r));
	assert_false(hca_packet(d->h, p.b, p.n, 2, &r));
}

#define MACS "0a0000000001 0a0000000002"
#define V4 MACS IPV4 IP4("06") TCP

/* Only the ports that were added. */
static void vxlan_ports(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d);
	uint32_t table = new_table(d, uid, FT_NIC_RX, 0), group = group_by(d, uid, table, 0, 9, 2, AT(MISC_1, MISC(vxlan_vni)));
	uint32_t counter = add_entry(d, uid, table, group, 0, AT(MISC_1, MISC(vxlan_vni)), 0x12);
	struct pkt p = { .n = 0 };
	struct hca_packet r;
	struct cmd c;

	pkt_raw(&p, MACS IPV4 IP4("11") UDP("2118") "08000000 00001200" V4);
	pkt_send(d, &p, &r);
	assert_int_equal(r.missed, 1);
	CMD(&c, ADD_VXLAN_UDP_DPORT, uid, add_vxlan_udp_dport);
	SET(&c, add_vxlan_udp_dport_in, vxlan_udp_port, 0x2118);
	cmd_ok(d, &c);
	pkt_send(d, &p, &r);
	assert_int_equal(r.dropped, 1);
	assert_int_equal(counted(d, uid, counter, false), 1);
	CMD(&c, DELETE_VXLAN_UDP_DPORT, uid, delete_vxlan_udp_dport);
	SET(&c, delete_vxlan_udp_dport_in, vxlan_udp_port, 0x2118);
	cmd_ok(d, &c);
	pkt_send(d, &p, &r);
	assert_int_equal(r.missed, 1);
}

/* Many entries, in an order that is none, and half of them away again: each packet meets its own. */
static void many(void **state)
{
	enum { N = 5000 };
	struct dev *d = *state;
	uint16_t uid = new_uid(d);
	uint32_t table, group, counters[4], i;
	struct prm_box ctx;
	struct hca_packet r;
	struct pkt p;
	struct cmd c;

	table_cmd(&c, uid, FT_NIC_RX, 0);
	ctx = PRM_SUB(&c.i, create_flow_table_in, flow_table_context);
	PRM_SET(&ctx, flow_table_context, log_size, 20);
	cmd_ok(d, &c);
	table = (uint32_t)OUT(&c, create_flow_table_out, table_id);
	group = group_by(d, uid, table, 0, (1u << 20) - 1, 1, DPORT);
	for (i = 0; i < 4; i++)
		counters[i] = new_counter(d, uid);
	for (i = 0; i < N; i++) {
		uint32_t port = i * 7919 % N + 1; /* prime to N */

		entry_cmd(&c, uid, table, group, port * 200);
		ctx = VALUE(&c, outer_headers);
		PRM_SET(&ctx, fte_match_set_lyr_2_4, udp_dport, port);
		entry_action(&c, FTE_DROP | FTE_COUNT);
		entry_counter(&c, counters[port % 4]);
		cmd_ok(d, &c);
	}
	for (i = 1; i <= N; i += 2) {
		entry_end(&c, uid, table, i * 200);
		cmd_ok(d, &c);
	}
	pkt_udp(&p, "0000");
	for (i = 1; i <= N; i++) {
		p.b[36] = (uint8_t)(i >> 8);
		p.b[37] = (uint8_t)i;
		pkt_send(d, &p, &r);
		assert_int_equal(r.dropped, i % 2 == 0);
	}
	assert_int_equal(counted(d, uid, counters[0], false), N / 4);
	assert_int_equal(counted(d, uid, counters[2], false), N / 4);
	assert_int_equal(counted(d, uid, counters[1], false), 0);
}

static void allow_and_goto(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d);
	uint32_t table = new_table(d, uid, FT_NIC_RX, 0), next = new_table(d, uid, FT_NIC_RX, 7);
	uint32_t group = group_by(d, uid, table, 0, 9, 1, DPORT), end = group_by(d, uid, next, 0, 9, 1, AT(OUTER, L2_4(ip_version)));
	uint32_t counter;
	struct hca_packet r;
	struct pkt p;
	struct cmd c;

	counter = entry_of(d, &c, uid, table, group, 0, DPORT, 53);
	entry_action(&c, FTE_FWD | FTE_COUNT);
	entry_dest(&c, DEST_TABLE, next);
	entry_counter(&c, counter);
	cmd_ok(d, &c);
	pkt_udp(&p, "0035");
	pkt_send(d, &p, &r);
	assert_int_equal(r.missed, 1);
	assert_int_equal(counted(d, uid, counter, false), 1);
	entry_of(d, &c, uid, next, end, 0, AT(OUTER, L2_4(ip_version)), 4);
	entry_action(&c, FTE_ALLOW);
	cmd_ok(d, &c);
	pkt_send(d, &p, &r);
	assert_int_equal(r.allowed, 1);
	assert_int_equal(r.missed, 0);
	assert_int_equal(counted(d, uid, counter, false), 2);
}

static uint32_t tir_of(struct base *b)
{
	struct prm_box ctx;
	struct cmd c;

	CMD(&c, CREATE_TIR, b->uid, create_tir);
	ctx = PRM_SUB(&c.i, create_tir_in, ctx);
	PRM_SET(&ctx, tirc, inline_rqn, new_rq(b));
	PRM_SET(&ctx, tirc, transport_domain, b->td);
	cmd_ok(b->d, &c);
	return (uint32_t)OUT(&c, create_tir_out, tirn);
}

/* To TIRs and to a table, in the order of the list. Entries of a transmit table have none. */
static void tirs(void **state)
{
	struct base b = queues_base(state);
	uint32_t table = new_table(b.d, b.uid, FT_NIC_RX, 0), next = new_table(b.d, b.uid, FT_NIC_RX, 1), one = tir_of(&b), two = tir_of(&b);
	uint32_t group = group_by(b.d, b.uid, table, 0, 9, 1, DPORT), last = group_by(b.d, b.uid, next, 0, 9, 1, DPORT);
	uint32_t tx = new_table(b.d, b.uid, FT_NIC_TX, 0), tx_group;
	struct hca_packet r;
	struct pkt p;
	struct cmd c;

	entry_of(b.d, &c, b.uid, table, group, 0, DPORT, 53);
	entry_action(&c, FTE_FWD);
	entry_dest(&c, DEST_TIR, two);
	entry_dest(&c, DEST_TABLE, next);
	entry_dest(&c, DEST_TIR, one);
	cmd_ok(b.d, &c);
	pkt_udp(&p, "0035");
	pkt_send(b.d, &p, &r);
	assert_int_equal(r.n_tirs, 2);
	assert_int_equal(r.tirn[0], two);
	assert_int_equal(r.tirn[1], one);
	assert_int_equal(r.delivered, 1);
	assert_int_equal(r.missed, 1); /* the copy that went on */
	entry_of(b.d, &c, b.uid, next, last, 0, DPORT, 53);
	entry_action(&c, FTE_FWD);
	entry_dest(&c, DEST_TIR, one);
	cmd_ok(b.d, &c);
	pkt_send(b.d, &p, &r);
	assert_int_equal(r.n_tirs, 3);
	assert_int_equal(r.missed, 0);
	destroy(b.d, PRM_OP_DESTROY_TIR, b.uid, two, SYN_TIR_BUSY);
	entry_end(&c, b.uid, table, 0);
	cmd_ok(b.d, &c);
	destroy(b.d, PRM_OP_DESTROY_TIR, b.uid, two, SYN_OK);
	destroy(b.d, PRM_OP_DESTROY_TIR, b.uid, one, SYN_TIR_BUSY);

	group_cmd(&c, b.uid, tx, 0, 0);
	SET(&c, create_flow_group_in, table_type, FT_NIC_TX);
	cmd_ok(b.d, &c);
	tx_group = (uint32_t)OUT(&c, create_flow_group_out, group_id);
	entry_cmd(&c, b.uid, tx, tx_group, 0);
	SET(&c, set_fte_in, table_type, FT_NIC_TX);
	entry_action(&c, FTE_FWD);
	entry_dest(&c, DEST_TIR, one);
	cmd_refused(b.d, &c, SYN_FTE_DEST_TYPE);
}

/* More TIRs than the result has room for: all are counted. A link that is down brings nothing. */
static void many_tirs_and_no_link(void **state)
{
	struct base b = queues_base(state);
	uint32_t table = new_table(b.d, b.uid, FT_NIC_RX, 0), next = new_table(b.d, b.uid, FT_NIC_RX, 1), tir = tir_of(&b);
	uint32_t group = group_by(b.d, b.uid, table, 0, 9, 1, DPORT), last = group_by(b.d, b.uid, next, 0, 9, 1, DPORT);
	struct hca_packet r;
	struct pkt p;
	struct cmd c;

	for (int i = 0; i < 2; i++) {
		entry_of(b.d, &c, b.uid, i ? next : table, i ? last : group, 0, DPORT, 53);
		entry_action(&c, FTE_FWD);
		if (!i)
			entry_dest(&c, DEST_TABLE, next);
		for (unsigned int k = 1; k < 1u << FTE_LOG_DESTS; k++)
			entry_dest(&c, DEST_TIR, tir);
		cmd_ok(b.d, &c);
	}
	pkt_udp(&p, "0035");
	pkt_send(b.d, &p, &r);
	assert_int_equal(r.n_tirs, 2 * ((1u << FTE_LOG_DESTS) - 1));
	assert_true(r.n_tirs > HCA_PACKET_TIRS);
	assert_int_equal(r.delivered, 1);
	assert_true(hca_port(b.d->h, 1, false));
	pkt_send(b.d, &p, &r);
	assert_true(r.link_down);
	assert_int_equal(r.walks + r.n_tirs, 0);
}

int run_packet_tests(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, dev_setup, dev_teardown)
	const struct CMUnitTest tests[] = { T(order_and_miss), T(where_it_begins),
		T(vxlan_ports), T(many), T(allow_and_goto), T(tirs), T(many_tirs_and_no_link) };

	return cmocka_run_group_tests_name("packet", tests, NULL, NULL);
}
