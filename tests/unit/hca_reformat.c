/* SPDX-License-Identifier: BSD-2-Clause */
/* Reformat and modify header contexts, VXLAN ports, the L2 table: what they refuse, keep and give back. */
#include "flow.h"

static void query_by_id(struct cmd *c, uint16_t opcode, uint16_t uid, uint32_t id, uint32_t outlen)
{
	cmd_new(c, opcode, uid, 32, outlen);
	prm_set(&c->i, 64, 32, id);
}

static void reformats(void **state)
{
	static const uint8_t data[REFORMAT_SIZE_MAX + 1] = { 1, 2, 3 };
	struct dev *d = *state;
	uint16_t uid = new_uid(d), other = new_uid(d);
	uint32_t id = new_reformat(d, uid, REFORMAT_L2_TO_L2_TUNNEL, data, 50), table, plain, group;
	struct prm_box ctx;
	struct cmd c;

	query_by_id(&c, PRM_OP_QUERY_PACKET_REFORMAT_CONTEXT, uid, id, 28 + 6 + 49);
	cmd_refused(d, &c, SYN_REFORMAT_OUT);
	c.outlen++;
	cmd_ok(d, &c);
	ctx = prm_in(c.out + 28, 6);
	assert_int_equal(PRM_GET(&ctx, packet_reformat_context_in, reformat_type), REFORMAT_L2_TO_L2_TUNNEL);
	assert_int_equal(PRM_GET(&ctx, packet_reformat_context_in, reformat_data_size), 50);
	assert_memory_equal(c.out + 34, data, 50);
	query_by_id(&c, PRM_OP_QUERY_PACKET_REFORMAT_CONTEXT, other, id, 128);
	cmd_refused(d, &c, SYN_REFORMAT);

	reformat_cmd(&c, uid, 5, data, 4);
	cmd_refused(d, &c, SYN_REFORMAT_TYPE);
	reformat_cmd(&c, uid, REFORMAT_L2_TO_VXLAN, data, 0);
	cmd_refused(d, &c, SYN_REFORMAT_SIZE);
	reformat_cmd(&c, uid, REFORMAT_L2_TO_NVGRE, data, sizeof(data));
	cmd_refused(d, &c, SYN_REFORMAT_SIZE);
	reformat_cmd(&c, uid, REFORMAT_L3_TUNNEL_TO_L2, data, 15);
	cmd_refused(d, &c, SYN_REFORMAT_SIZE);
	reformat_cmd(&c, uid, REFORMAT_INSERT_HDR, data, 4);
	cmd_refused(d, &c, SYN_REFORMAT_ANCHOR);
	reformat_cmd(&c, uid, REFORMAT_L2_TO_L3_TUNNEL, data, 20);
	c.inlen--;
	cmd_refused(d, &c, SYN_REFORMAT_DATA);
	reformat_cmd(&c, uid, REFORMAT_REMOVE_HDR, NULL, 4); /* without data */
	ctx = prm_out(c.in + 28, 6);
	PRM_SET(&ctx, packet_reformat_context_in, reformat_param_0, ANCHOR_IP);
	cmd_ok(d, &c);

	/* An entry needs a table that allows it, and holds it. */
	plain = new_table(d, uid, FT_NIC_TX, 0);
	table_cmd(&c, uid, FT_NIC_TX, 0);
	ctx = PRM_SUB(&c.i, create_flow_table_in, flow_table_context);
	PRM_SET(&ctx, flow_table_context, reformat_en, 1);
	cmd_ok(d, &c);
	table = (uint32_t)OUT(&c, create_flow_table_out, table_id);
	for (int allowed = 0; allowed < 2; allowed++) {
		group_cmd(&c, uid, allowed ? table : plain, 0, 0);
		SET(&c, create_flow_group_in, table_type, FT_NIC_TX);
		cmd_ok(d, &c);
		group = (uint32_t)OUT(&c, create_flow_group_out, group_id);
		entry_cmd(&c, uid, allowed ? table : plain, group, 0);
		SET(&c, set_fte_in, table_type, FT_NIC_TX);
		entry_action(&c, FTE_ALLOW | FTE_REFORMAT);
		ctx = entry_ctx(&c);
		PRM_SET(&ctx, flow_context, packet_reformat_id, id);
		if (allowed)
			cmd_ok(d, &c);
		else
			cmd_refused(d, &c, SYN_FTE_REFORMAT_EN);
	}
	destroy(d, PRM_OP_DEALLOC_PACKET_REFORMAT_CONTEXT, uid, id, SYN_REFORMAT_BUSY);
	entry_end(&c, uid, table, 0);
	SET(&c, delete_fte_in, table_type, FT_NIC_TX);
	cmd_ok(d, &c);
	destroy(d, PRM_OP_DEALLOC_PACKET_REFORMAT_CONTEXT, uid, id, SYN_OK);
	destroy(d, PRM_OP_DEALLOC_PACKET_REFORMAT_CONTEXT, uid, id, SYN_REFORMAT);
}

static void modify_headers(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d);
	uint32_t id, table = new_table(d, uid, FT_NIC_RX, 0), group = new_group(d, uid, table, 0, 9);
	struct prm_box ctx;
	struct cmd c;

	modify_cmd(&c, uid, FT_NIC_RX);
	cmd_refused(d, &c, SYN_MODIFY_ACTIONS);
	modify_set(&c, 0x0c, 0, 16, 4242);
	modify_add(&c, 0x0a, 0xff);
	modify_copy(&c, 0x51, 8, 16, 0x0b, 0);
	id = made_modify(d, &c);
	query_by_id(&c, PRM_OP_QUERY_MODIFY_HEADER_CONTEXT, uid, id, 16 + 23);
	cmd_refused(d, &c, SYN_MODIFY_OUT);
	c.outlen++;
	cmd_ok(d, &c);
	assert_int_equal(OUT(&c, alloc_modify_header_context_in, num_of_actions), 3);
	ctx = prm_in(c.out + 16, 8);
	assert_int_equal(PRM_GET(&ctx, set_action_in, field), 0x0c);
	assert_int_equal(PRM_GET(&ctx, set_action_in, data), 4242);
	ctx = prm_in(c.out + 32, 8);
	assert_int_equal(PRM_GET(&ctx, copy_action_in, dst_field), 0x0b);

	modify_cmd(&c, uid, 4);
	modify_set(&c, 0x0c, 0, 16, 1);
	cmd_refused(d, &c, SYN_FT_TYPE);
	SET(&c, alloc_modify_header_context_in, table_type, 0);
	SET(&c, alloc_modify_header_context_in, num_of_actions, 2);
	cmd_refused(d, &c, SYN_MODIFY_ACTIONS);
	static const struct { uint32_t kind, field, at, length, data; enum syn why; } bad[] = {
		{ 1, 0x1fe, 0, 8, 1, SYN_MODIFY_FIELD }, { 1, 0x0c, 1, 16, 1, SYN_MODIFY_RANGE }, { 1, 0x0c, 0, 0, 1, SYN_MODIFY_RANGE },
		{ 1, 0x0c, 0, 4, 16, SYN_MODIFY_RANGE }, { 2, 0x1fe, 0, 0, 1, SYN_MODIFY_FIELD }, { 3, 0x1fe, 0, 8, 0x0c, SYN_MODIFY_FIELD },
		{ 3, 0x0c, 0, 8, 0x1fe, SYN_MODIFY_FIELD }, { 3, 0x0c, 9, 8, 0x51, SYN_MODIFY_RANGE }, { 3, 0x51, 9, 17, 0x0c, SYN_MODIFY_RANGE },
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		modify_cmd(&c, uid, FT_NIC_RX);
		if (bad[i].kind == 1)
			modify_set(&c, bad[i].field, bad[i].at, bad[i].length, bad[i].data);
		else if (bad[i].kind == 2)
			modify_add(&c, bad[i].field, bad[i].data);
		else
			modify_copy(&c, bad[i].field, bad[i].at, bad[i].length, bad[i].data, 0);
		cmd_refused(d, &c, bad[i].why);
	}
	modify_cmd(&c, uid, FT_NIC_RX);
	modify_set(&c, 0x0c, 0, 16, 1);
	prm_set(&c.i, 128, 4, 9);
	cmd_refused(d, &c, SYN_MODIFY_TYPE);

	modify_cmd(&c, uid, FT_NIC_TX);
	modify_set(&c, 0x0c, 0, 16, 1);
	uint32_t tx = made_modify(d, &c);

	entry_cmd(&c, uid, table, group, 0);
	entry_action(&c, FTE_DROP | FTE_MODIFY);
	ctx = entry_ctx(&c);
	PRM_SET(&ctx, flow_context, modify_header_id, tx);
	cmd_refused(d, &c, SYN_MODIFY_HEADER);
	PRM_SET(&ctx, flow_context, modify_header_id, id);
	cmd_ok(d, &c);
	destroy(d, PRM_OP_DEALLOC_MODIFY_HEADER_CONTEXT, uid, tx, SYN_OK);
	destroy(d, PRM_OP_DEALLOC_MODIFY_HEADER_CONTEXT, uid, id, SYN_MODIFY_HEADER_BUSY);
	entry_end(&c, uid, table, 0);
	cmd_ok(d, &c);
	destroy(d, PRM_OP_DEALLOC_MODIFY_HEADER_CONTEXT, uid, id, SYN_OK);
	destroy(d, PRM_OP_DEALLOC_MODIFY_HEADER_CONTEXT, uid, id, SYN_MODIFY_HEADER);
}

static void vxlan_and_l2(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d), other = new_uid(d);
	struct prm_box mac;
	struct cmd c;

	for (uint32_t i = 0; i <= VXLAN_PORTS_MAX; i++) {
		CMD(&c, ADD_VXLAN_UDP_DPORT, uid, add_vxlan_udp_dport);
		SET(&c, add_vxlan_udp_dport_in, vxlan_udp_port, 8472 + i);
		if (i == VXLAN_PORTS_MAX) {
			cmd_refused(d, &c, SYN_VXLAN_LIMIT);
		} else {
			cmd_ok(d, &c);
			cmd_refused(d, &c, SYN_VXLAN_TAKEN);
		}
	}
	for (int own = 0; own < 2; own++) {
		CMD(&c, DELETE_VXLAN_UDP_DPORT, own ? uid : other, delete_vxlan_udp_dport);
		SET(&c, delete_vxlan_udp_dport_in, vxlan_udp_port, 8472);
		if (own)
			cmd_ok(d, &c);
		else
			cmd_refused(d, &c, SYN_VXLAN_PORT);
	}
	cmd_refused(d, &c, SYN_VXLAN_PORT);
	CMD(&c, ADD_VXLAN_UDP_DPORT, other, add_vxlan_udp_dport);
	SET(&c, add_vxlan_udp_dport_in, vxlan_udp_port, 8472);
	cmd_ok(d, &c);

	CMD(&c, SET_L2_TABLE_ENTRY, uid, set_l2_table_entry);
	SET(&c, set_l2_table_entry_in, table_index, 1u << L2_LOG_ENTRIES);
	cmd_refused(d, &c, SYN_L2_INDEX);
	SET(&c, set_l2_table_entry_in, table_index, 5);
	SET(&c, set_l2_table_entry_in, silent_mode_valid, 1);
	cmd_refused(d, &c, SYN_L2_SILENT);
	SET(&c, set_l2_table_entry_in, silent_mode_valid, 0);
	mac = PRM_SUB(&c.i, set_l2_table_entry_in, mac_address);
	for (uint32_t i = 1; i < 3; i++) { /* set, then changed */
		PRM_SET(&mac, mac_address_layout, mac_addr_47_32, 0x0200 + i);
		PRM_SET(&mac, mac_address_layout, mac_addr_31_0, i);
		SET(&c, set_l2_table_entry_in, vlan_valid, 1);
		SET(&c, set_l2_table_entry_in, vlan, 100 + i);
		cmd_ok(d, &c);
	}
	prm_set(&c.i, 16, 16, other);
	cmd_refused(d, &c, SYN_L2_TAKEN);
	CMD(&c, QUERY_L2_TABLE_ENTRY, uid, query_l2_table_entry);
	SET(&c, query_l2_table_entry_in, table_index, 5);
	cmd_ok(d, &c);
	mac = PRM_SUB(&c.o, query_l2_table_entry_out, mac_address);
	assert_int_equal(PRM_GET(&mac, mac_address_layout, mac_addr_47_32), 0x0202);
	assert_int_equal(PRM_GET(&mac, mac_address_layout, mac_addr_31_0), 2);
	assert_int_equal(OUT(&c, query_l2_table_entry_out, vlan_valid), 1);
	assert_int_equal(OUT(&c, query_l2_table_entry_out, vlan), 102);
	CMD(&c, DELETE_L2_TABLE_ENTRY, uid, delete_l2_table_entry);
	SET(&c, delete_l2_table_entry_in, table_index, 5);
	cmd_ok(d, &c);
	cmd_refused(d, &c, SYN_L2_ENTRY);
}

int run_reformat_tests(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, dev_setup, dev_teardown)
	const struct CMUnitTest tests[] = { T(reformats), T(modify_headers), T(vxlan_and_l2) };

	return cmocka_run_group_tests_name("reformat", tests, NULL, NULL);
}
