/* SPDX-License-Identifier: BSD-2-Clause */
/* Flow tables, groups and entries: what they refuse, keep and give back. */
#include "flow.h"

static void query_table(struct cmd *c, uint16_t uid, uint32_t type, uint32_t table)
{
	CMD(c, QUERY_FLOW_TABLE, uid, query_flow_table);
	SET(c, query_flow_table_in, table_type, type);
	SET(c, query_flow_table_in, table_id, table);
}

static void modify_table(struct cmd *c, uint16_t uid, uint32_t table, uint32_t select, uint32_t action, uint32_t miss)
{
	struct prm_box ctx;

	CMD(c, MODIFY_FLOW_TABLE, uid, modify_flow_table);
	SET(c, modify_flow_table_in, table_id, table);
	SET(c, modify_flow_table_in, modify_field_select, select);
	ctx = PRM_SUB(&c->i, modify_flow_table_in, flow_table_context);
	PRM_SET(&ctx, flow_table_context, table_miss_action, action);
	PRM_SET(&ctx, flow_table_context, table_miss_id, miss);
}

static void tables(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d), other = new_uid(d);
	uint32_t low = new_table(d, uid, FT_NIC_RX, 3), high = new_table(d, uid, FT_NIC_RX, 4), tx = new_table(d, uid, FT_NIC_TX, 9);
	struct prm_box ctx;
	struct cmd c;

	query_table(&c, uid, FT_NIC_TX, tx);
	cmd_ok(d, &c);
	ctx = PRM_SUB(&c.o, query_flow_table_out, flow_table_context);
	assert_int_equal(PRM_GET(&ctx, flow_table_context, level), 9);
	assert_int_equal(PRM_GET(&ctx, flow_table_context, log_size), LOG_SIZE);
	query_table(&c, uid, FT_NIC_RX, tx);
	cmd_refused(d, &c, SYN_FT);
	query_table(&c, other, FT_NIC_RX, low);
	cmd_refused(d, &c, SYN_FT);
	query_table(&c, 0, FT_NIC_RX, low); /* the driver reaches all */
	cmd_ok(d, &c);
	query_table(&c, uid, 4, low);
	cmd_refused(d, &c, SYN_FT_TYPE);

	modify_table(&c, uid, low, 1, 1, high);
	cmd_ok(d, &c);
	query_table(&c, uid, FT_NIC_RX, low);
	cmd_ok(d, &c);
	ctx = PRM_SUB(&c.o, query_flow_table_out, flow_table_context);
	assert_int_equal(PRM_GET(&ctx, flow_table_context, table_miss_action), 1);
	assert_int_equal(PRM_GET(&ctx, flow_table_context, table_miss_id), high);
	assert_int_equal(PRM_GET(&ctx, flow_table_context, level), 3);
	table_end(&c, uid, FT_NIC_RX, high);
	cmd_refused(d, &c, SYN_FT_BUSY);
	modify_table(&c, uid, high, 1, 1, low);
	cmd_refused(d, &c, SYN_FT_MISS_LEVEL);
	modify_table(&c, uid, low, 1, 1, tx);
	cmd_refused(d, &c, SYN_FT);
	modify_table(&c, uid, low, 0x8000, 0, 0);
	cmd_refused(d, &c, SYN_SELECT);
	modify_table(&c, uid, low, 1, 2, 0);
	cmd_refused(d, &c, SYN_FT_MISS);
	modify_table(&c, uid, low, 0, 0, 0); /* selects nothing */
	cmd_ok(d, &c);
	table_end(&c, uid, FT_NIC_RX, high);
	cmd_refused(d, &c, SYN_FT_BUSY);
	modify_table(&c, uid, low, 1, 0, 0);
	cmd_ok(d, &c);
	table_end(&c, uid, FT_NIC_RX, high);
	cmd_ok(d, &c);
	table_end(&c, uid, FT_NIC_RX, high);
	cmd_refused(d, &c, SYN_FT);
	table_end(&c, other, FT_NIC_RX, low);
	cmd_refused(d, &c, SYN_FT);
	table_end(&c, uid, FT_NIC_TX, tx);
	cmd_ok(d, &c);
	table_end(&c, uid, FT_NIC_RX, low);
	cmd_ok(d, &c);
}

static void bad_tables(void **state)
{
	static const struct { uint32_t bit, width, value; enum syn why; } bad[] = {
		{ PRM_F_flow_table_context__level, FT_LEVEL_MAX + 1, SYN_FT_LEVEL },
		{ PRM_F_flow_table_context__log_size, FT_LOG_SIZE_MAX + 1, SYN_FT_SIZE },
		{ PRM_F_flow_table_context__sw_owner, 1, SYN_FT_MODE },
		{ PRM_F_flow_table_context__rtc_valid, 1, SYN_FT_MODE },
		{ PRM_F_flow_table_context__termination_table, 1, SYN_FT_MODE },
		{ PRM_F_flow_table_context__table_miss_action, 2, SYN_FT_MISS },
		{ PRM_F_flow_table_context__table_miss_action, 1, SYN_FT }, /* table 0 */
	};
	struct dev *d = *state;
	uint16_t uid = new_uid(d);
	struct prm_box ctx;
	struct cmd c;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		table_cmd(&c, uid, FT_NIC_RX, 0);
		ctx = PRM_SUB(&c.i, create_flow_table_in, flow_table_context);
		prm_set(&ctx, bad[i].bit, bad[i].width, bad[i].value);
		cmd_refused(d, &c, bad[i].why);
	}
	table_cmd(&c, uid, 4, 0);
	cmd_refused(d, &c, SYN_FT_TYPE);
	table_cmd(&c, uid, FT_NIC_RX, 0);
	SET(&c, create_flow_table_in, other_vport, 1);
	cmd_refused(d, &c, SYN_FT_VPORT);
	query_table(&c, uid, FT_NIC_RX, 1);
	SET(&c, query_flow_table_in, other_vport, 1);
	cmd_refused(d, &c, SYN_FT_VPORT);
}

static void root_cmd(struct cmd *c, uint16_t uid, uint16_t op_mod, uint32_t table)
{
	CMD(c, SET_FLOW_TABLE_ROOT, uid, set_flow_table_root);
	cmd_op_mod(c, op_mod);
	SET(c, set_flow_table_root_in, table_id, table);
}

static void roots(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d);
	uint32_t table = new_table(d, 0, FT_NIC_RX, 0);
	struct cmd c;

	root_cmd(&c, uid, 0, table);
	cmd_refused(d, &c, SYN_PRIVILEGED);
	root_cmd(&c, 0, 0, table + 1);
	cmd_refused(d, &c, SYN_FT);
	root_cmd(&c, 0, 0, table);
	SET(&c, set_flow_table_root_in, underlay_qpn, 1);
	cmd_refused(d, &c, SYN_FT_UNDERLAY);
	root_cmd(&c, 0, 0, table);
	SET(&c, set_flow_table_root_in, table_of_other_vport, 1);
	cmd_refused(d, &c, SYN_FT_VPORT);
	root_cmd(&c, 0, 1, 0);
	SET(&c, set_flow_table_root_in, table_type, 7);
	cmd_refused(d, &c, SYN_FT_TYPE);
	root_cmd(&c, 0, 0, table);
	cmd_ok(d, &c);
	assert_int_equal(d->h->steer->root[FT_NIC_RX]->obj.id, table);
	root_cmd(&c, 0, 1, 0);
	cmd_ok(d, &c);
	assert_null(d->h->steer->root[FT_NIC_RX]);
	root_cmd(&c, 0, 0, table);
	cmd_ok(d, &c);
	table_end(&c, 0, FT_NIC_RX, table); /* the root goes with it */
	cmd_ok(d, &c);
	assert_null(d->h->steer->root[FT_NIC_RX]);
}

static void groups(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d), other = new_uid(d);
	uint32_t table = new_table(d, uid, FT_NIC_RX, 0), second = new_table(d, uid, FT_NIC_RX, 0), group;
	struct prm_box mask, shown;
	struct cmd c;

	group_cmd(&c, uid, table, 100, 199);
	mask = CRITERIA(&c, outer_headers);
	PRM_SET(&mask, fte_match_set_lyr_2_4, ethertype, 0xffff);
	prm_set(&c.i, 8191, 1, 1); /* past the last section: ignored, and not kept */
	cmd_ok(d, &c);
	group = (uint32_t)OUT(&c, create_flow_group_out, group_id);
	CMD(&c, QUERY_FLOW_GROUP, uid, query_flow_group);
	SET(&c, query_flow_group_in, table_id, table);
	SET(&c, query_flow_group_in, group_id, group);
	cmd_ok(d, &c);
	assert_int_equal(OUT(&c, query_flow_group_out, start_flow_index), 100);
	assert_int_equal(OUT(&c, query_flow_group_out, end_flow_index), 199);
	assert_int_equal(OUT(&c, query_flow_group_out, match_criteria_enable), 1);
	shown = PRM_SUB(&c.o, query_flow_group_out, match_criteria);
	shown = PRM_SUB(&shown, fte_match_param, outer_headers);
	assert_int_equal(PRM_GET(&shown, fte_match_set_lyr_2_4, ethertype), 0xffff);
	assert_int_equal(prm_get(&c.o, 8191, 1), 0);
	SET(&c, query_flow_group_in, table_id, second);
	cmd_refused(d, &c, SYN_FG);

	static const struct { uint32_t start, end; enum syn why; } ranges[] = {
		{ 100, 199, SYN_FG_OVERLAP }, { 0, 100, SYN_FG_OVERLAP }, { 199, 300, SYN_FG_OVERLAP }, { 120, 130, SYN_FG_OVERLAP },
		{ 0, 1023, SYN_FG_OVERLAP }, { 5, 4, SYN_FG_RANGE }, { 1000, 1024, SYN_FG_RANGE },
		{ 0, 99, SYN_OK }, { 200, 200, SYN_OK }, { 1023, 1023, SYN_OK }, { 201, 1022, SYN_OK }, { 700, 700, SYN_FG_OVERLAP },
	};

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		group_cmd(&c, uid, table, ranges[i].start, ranges[i].end);
		if (ranges[i].why == SYN_OK)
			cmd_ok(d, &c);
		else
			cmd_refused(d, &c, ranges[i].why);
	}
	group_cmd(&c, other, table, 0, 0);
	cmd_refused(d, &c, SYN_FT);
	group_cmd(&c, uid, second, 0, 0);
	SET(&c, create_flow_group_in, group_type, 1);
	cmd_refused(d, &c, SYN_FG_TYPE);
	group_cmd(&c, uid, second, 0, 0);
	SET(&c, create_flow_group_in, match_criteria_enable, 0x20);
	cmd_refused(d, &c, SYN_FG_CRITERIA);
	/* A field that the parser does not have; in a section that is not enabled it does not count. */
	group_cmd(&c, uid, second, 0, 0);
	mask = CRITERIA(&c, misc_parameters);
	PRM_SET(&mask, fte_match_set_misc, source_port, 1);
	cmd_ok(d, &c);
	SET(&c, create_flow_group_in, start_flow_index, 1);
	SET(&c, create_flow_group_in, end_flow_index, 1);
	SET(&c, create_flow_group_in, match_criteria_enable, 2);
	cmd_refused(d, &c, SYN_FG_FIELD);

	table_end(&c, uid, FT_NIC_RX, table);
	cmd_refused(d, &c, SYN_FT_BUSY);
	group_end(&c, uid, second, group);
	cmd_refused(d, &c, SYN_FG);
	group_end(&c, uid, table, group);
	cmd_ok(d, &c);
	group_cmd(&c, uid, table, 150, 199);
	cmd_ok(d, &c);
}

static void entries(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d), other = new_uid(d);
	uint32_t table = new_table(d, uid, FT_NIC_RX, 0), next = new_table(d, uid, FT_NIC_RX, 1);
	uint32_t group = new_group(d, uid, table, 10, 19), counter = new_counter(d, uid);
	struct prm_box ctx, value;
	struct cmd c;

	entry_cmd(&c, uid, table, group, 12);
	ctx = entry_ctx(&c);
	PRM_SET(&ctx, flow_context, flow_tag, 0x1234);
	value = VALUE(&c, outer_headers);
	PRM_SET(&value, fte_match_set_lyr_2_4, smac_15_0, 0xabcd); /* outside the mask, and still shown */
	entry_action(&c, FTE_FWD | FTE_COUNT);
	entry_dest(&c, DEST_TABLE, next);
	entry_counter(&c, counter);
	cmd_ok(d, &c);
	cmd_refused(d, &c, SYN_FTE_EXISTS);
	entry_query(&c, uid, table, 12, 1);
	cmd_refused(d, &c, SYN_FTE_OUT);
	entry_query(&c, uid, table, 12, 2);
	cmd_ok(d, &c);
	ctx = PRM_SUB(&c.o, query_fte_out, flow_context);
	assert_int_equal(PRM_GET(&ctx, flow_context, group_id), group);
	assert_int_equal(PRM_GET(&ctx, flow_context, flow_tag), 0x1234);
	assert_int_equal(PRM_GET(&ctx, flow_context, action), FTE_FWD | FTE_COUNT);
	assert_int_equal(PRM_GET(&ctx, flow_context, destination_list_size), 1);
	assert_int_equal(PRM_GET(&ctx, flow_context, flow_counter_list_size), 1);
	value = PRM_SUB(&ctx, flow_context, match_value);
	value = PRM_SUB(&value, fte_match_param, outer_headers);
	assert_int_equal(PRM_GET(&value, fte_match_set_lyr_2_4, smac_15_0), 0xabcd);
	value = prm_in(c.out + PRM_SZ(query_fte_out), 16);
	assert_int_equal(PRM_GET(&value, dest_format, destination_type), DEST_TABLE);
	assert_int_equal(PRM_GET(&value, dest_format, destination_id), next);
	value = prm_in(c.out + PRM_SZ(query_fte_out) + 8, 8);
	assert_int_equal(PRM_GET(&value, flow_counter_list, flow_counter_id), counter);

	/* Everything that it names stays. */
	destroy(d, PRM_OP_DEALLOC_FLOW_COUNTER, uid, counter, SYN_COUNTER_BUSY);
	table_end(&c, uid, FT_NIC_RX, next);
	cmd_refused(d, &c, SYN_FT_BUSY);
	group_end(&c, uid, table, group);
	cmd_refused(d, &c, SYN_FG_BUSY);
	entry_query(&c, other, table, 12, 0);
	cmd_refused(d, &c, SYN_FT);
	entry_query(&c, uid, table, 13, 0);
	cmd_refused(d, &c, SYN_FTE);
	entry_end(&c, uid, table, 30);
	cmd_refused(d, &c, SYN_FTE);
	entry_end(&c, uid, table, 12);
	cmd_ok(d, &c);
	cmd_refused(d, &c, SYN_FTE);
	destroy(d, PRM_OP_DEALLOC_FLOW_COUNTER, uid, counter, SYN_OK);
	table_end(&c, uid, FT_NIC_RX, next);
	cmd_ok(d, &c);
	group_end(&c, uid, table, group);
	cmd_ok(d, &c);
	entry_cmd(&c, uid, table, group, 12);
	cmd_refused(d, &c, SYN_FTE_INDEX);
}

static void bad_entries(void **state)
{
	static const struct { uint32_t action; enum syn why; } actions[] = {
		{ 0, SYN_FTE_VERDICT }, { FTE_COUNT, SYN_FTE_VERDICT }, { FTE_ALLOW | FTE_DROP, SYN_FTE_VERDICT },
		{ FTE_FWD, SYN_FTE_NO_DEST }, { FTE_DROP | FTE_COUNT, SYN_FTE_NO_COUNTER }, { FTE_DROP | 0x4000, SYN_FTE_ACTION },
		{ FTE_DROP | FTE_VLAN_POP_2, SYN_FTE_VLAN }, { FTE_DROP | FTE_VLAN_PUSH_2, SYN_FTE_VLAN },
		{ FTE_DROP | FTE_DECAP, SYN_FTE_DECAP_EN }, { FTE_DROP | FTE_REFORMAT, SYN_REFORMAT },
		{ FTE_DROP | FTE_MODIFY, SYN_MODIFY_HEADER },
	};
	struct dev *d = *state;
	uint16_t uid = new_uid(d);
	uint32_t table = new_table(d, uid, FT_NIC_RX, 5), same = new_table(d, uid, FT_NIC_RX, 5), a = new_table(d, uid, FT_NIC_RX, 6);
	uint32_t tx = new_table(d, uid, FT_NIC_TX, 7), group = new_group(d, uid, table, 0, 9), fifth = new_group(d, uid, table, 10, 19);
	struct prm_box ctx;
	struct cmd c;

	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
		entry_cmd(&c, uid, table, group, 0);
		entry_action(&c, actions[i].action);
		cmd_refused(d, &c, actions[i].why);
	}
	static const struct { uint32_t type; enum syn why; } types[] = {
		{ 0, SYN_FTE_DEST_TYPE }, { 6, SYN_FTE_DEST_TYPE }, { DEST_TIR, SYN_TIR }, { DEST_TABLE, SYN_FT },
	};
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		entry_cmd(&c, uid, table, group, 0);
		entry_action(&c, FTE_FWD);
		entry_dest(&c, types[i].type, 0xfffff0);
		cmd_refused(d, &c, types[i].why);
	}
	entry_cmd(&c, uid, table, group, 0);
	entry_action(&c, FTE_FWD);
	entry_dest(&c, DEST_TABLE, same);
	cmd_refused(d, &c, SYN_FTE_LEVEL);
	entry_cmd(&c, uid, table, group, 0);
	entry_action(&c, FTE_FWD);
	entry_dest(&c, DEST_TABLE, tx);
	cmd_refused(d, &c, SYN_FT);
	entry_cmd(&c, uid, table, group, 0);
	entry_action(&c, FTE_FWD);
	entry_dest(&c, DEST_TABLE, a);
	entry_dest(&c, DEST_TABLE, a);
	cmd_refused(d, &c, SYN_FTE_TABLES);
	ctx = entry_ctx(&c);
	PRM_SET(&ctx, flow_context, extended_destination, 1);
	cmd_refused(d, &c, SYN_FTE_EXTENDED);
	PRM_SET(&ctx, flow_context, destination_list_size, 3);
	cmd_refused(d, &c, SYN_FTE_LIST);
	PRM_SET(&ctx, flow_context, destination_list_size, (1u << FTE_LOG_DESTS) + 1);
	cmd_refused(d, &c, SYN_FTE_DESTS);
	entry_cmd(&c, uid, table, group, 0);
	entry_action(&c, FTE_DROP | FTE_COUNT);
	entry_counter(&c, 0x100);
	cmd_refused(d, &c, SYN_COUNTER);
	ctx = entry_ctx(&c);
	PRM_SET(&ctx, flow_context, flow_counter_list_size, (1u << FTE_LOG_COUNTERS) + 1);
	cmd_refused(d, &c, SYN_FTE_COUNTERS);
	entry_cmd(&c, uid, table, group, 0);
	SET(&c, set_fte_in, ignore_flow_level, 1);
	cmd_refused(d, &c, SYN_FTE_IGNORE_LEVEL);
	entry_cmd(&c, uid, table, fifth, 0);
	cmd_refused(d, &c, SYN_FTE_GROUP);
	/* Nothing of all that holds anything. */
	group_end(&c, uid, table, group);
	cmd_ok(d, &c);
	table_end(&c, uid, FT_NIC_RX, a);
	cmd_ok(d, &c);
}

static void modify_entry(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d);
	uint32_t table = new_table(d, uid, FT_NIC_RX, 0), next = new_table(d, uid, FT_NIC_RX, 1), last = new_table(d, uid, FT_NIC_RX, 2);
	uint32_t group = new_group(d, uid, table, 0, 9), one = new_counter(d, uid), two = new_counter(d, uid);
	struct prm_box ctx, item;
	struct cmd c;

	entry_cmd(&c, uid, table, group, 4);
	cmd_op_mod(&c, 1);
	cmd_refused(d, &c, SYN_FTE);
	entry_cmd(&c, uid, table, group, 4);
	entry_action(&c, FTE_FWD | FTE_COUNT);
	entry_dest(&c, DEST_TABLE, next);
	entry_counter(&c, one);
	cmd_ok(d, &c);
	/* Counters only: what else the inbox says does not count. */
	entry_cmd(&c, uid, table, group, 4);
	cmd_op_mod(&c, 1);
	SET(&c, set_fte_in, modify_enable_mask, 8);
	entry_counter(&c, one);
	entry_counter(&c, two);
	cmd_ok(d, &c);
	entry_query(&c, uid, table, 4, 3);
	cmd_ok(d, &c);
	ctx = PRM_SUB(&c.o, query_fte_out, flow_context);
	assert_int_equal(PRM_GET(&ctx, flow_context, action), FTE_FWD | FTE_COUNT);
	assert_int_equal(PRM_GET(&ctx, flow_context, destination_list_size), 1);
	assert_int_equal(PRM_GET(&ctx, flow_context, flow_counter_list_size), 2);
	item = prm_in(c.out + PRM_SZ(query_fte_out), 24);
	assert_int_equal(PRM_GET(&item, dest_format, destination_id), next);
	assert_int_equal(prm_get(&item, 64, 32), one);
	assert_int_equal(prm_get(&item, 128, 32), two);
	destroy(d, PRM_OP_DEALLOC_FLOW_COUNTER, uid, two, SYN_COUNTER_BUSY);
	/* A refused change changes nothing. */
	entry_cmd(&c, uid, table, group, 4);
	cmd_op_mod(&c, 1);
	SET(&c, set_fte_in, modify_enable_mask, 4);
	entry_dest(&c, DEST_TABLE, table);
	cmd_refused(d, &c, SYN_FTE_LEVEL);
	SET(&c, set_fte_in, modify_enable_mask, 0x10);
	cmd_refused(d, &c, SYN_SELECT);
	/* Destination and tag; then the action, which lets go of both lists. */
	entry_cmd(&c, uid, table, group, 4);
	cmd_op_mod(&c, 1);
	ctx = entry_ctx(&c);
	PRM_SET(&ctx, flow_context, flow_tag, 7);
	SET(&c, set_fte_in, modify_enable_mask, 6);
	entry_dest(&c, DEST_TABLE, last);
	cmd_ok(d, &c);
	table_end(&c, uid, FT_NIC_RX, next);
	cmd_ok(d, &c);
	table_end(&c, uid, FT_NIC_RX, last);
	cmd_refused(d, &c, SYN_FT_BUSY);
	entry_cmd(&c, uid, table, group, 4);
	cmd_op_mod(&c, 1);
	SET(&c, set_fte_in, modify_enable_mask, 1);
	cmd_ok(d, &c);
	table_end(&c, uid, FT_NIC_RX, last);
	cmd_ok(d, &c);
	destroy(d, PRM_OP_DEALLOC_FLOW_COUNTER, uid, one, SYN_OK);
	destroy(d, PRM_OP_DEALLOC_FLOW_COUNTER, uid, two, SYN_OK);
	entry_query(&c, uid, table, 4, 0);
	cmd_ok(d, &c);
	ctx = PRM_SUB(&c.o, query_fte_out, flow_context);
	assert_int_equal(PRM_GET(&ctx, flow_context, flow_tag), 7);
	assert_int_equal(PRM_GET(&ctx, flow_context, action), FTE_DROP);
	assert_int_equal(PRM_GET(&ctx, flow_context, destination_list_size), 0);
}

/* A group takes every bit of every field that the capabilities promise, and no bit besides. */
static void fields_as_promised(void **state)
{
#define MATCH_MORE(section, layout, field) { PRM_F_fte_match_param__##section, PRM_F_##layout##__##field, NO_CAP },
#define MATCH_FIELD(section, layout, field, cap)                                                                     \
	{ PRM_F_fte_match_param__##section, PRM_F_##layout##__##field, PRM_F_flow_table_nic_cap__flow_table_properties_nic_receive, \
	  PRM_F_flow_table_prop_layout__ft_field_support, PRM_F_flow_table_fields_supported__##cap },
#define MATCH_FIELD_2(section, layout, field, cap)                                                                   \
	{ PRM_F_fte_match_param__##section, PRM_F_##layout##__##field, PRM_F_flow_table_nic_cap__ft_field_support_2_nic_receive, 0, 0, \
	  PRM_F_flow_table_fields_supported_2__##cap },
#define NO_CAP 0, 0, 0, 0, 0, 0
	static const struct { uint32_t section, section_w, bit, width, page, page_w, fields, fields_w, cap, cap_w; } rows[] = {
#include "match_fields.def"
	};
	static uint8_t all[PRM_SZ(fte_match_param)];
	struct dev *d = *state;
	uint16_t uid = new_uid(d);
	uint32_t table = new_table(d, uid, FT_NIC_RX, 0);
	struct prm_box page, known = prm_out(all, sizeof(all));
	struct cmd c;

	memset(all, 0, sizeof(all));
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct prm_box mask;

		CMD(&c, QUERY_HCA_CAP, uid, query_hca_cap);
		cmd_op_mod(&c, 0x07 << 1 | 1);
		cmd_ok(d, &c);
		page = PRM_SUB(&c.o, query_hca_cap_out, capability);
		if (rows[i].cap_w)
			assert_int_equal(prm_get(&page, rows[i].page + rows[i].fields + rows[i].cap, 1), 1);
		group_cmd(&c, uid, table, i, i);
		SET(&c, create_flow_group_in, match_criteria_enable, 0x1f);
		mask = PRM_SUB(&c.i, create_flow_group_in, match_criteria);
		for (uint32_t k = 0; k < rows[i].width; k++) {
			prm_set(&mask, rows[i].section + rows[i].bit + k, 1, 1);
			prm_set(&known, rows[i].section + rows[i].bit + k, 1, 1);
		}
		cmd_ok(d, &c);
	}
	for (uint32_t bit = 0; bit < sizeof(all) * 8; bit++) {
		struct prm_box mask, defined = prm_in(d->h->steer->defined.byte, sizeof(d->h->steer->defined.byte));

		if (prm_get(&known, bit, 1) || !prm_get(&defined, bit, 1) || bit >= 5 * PRM_SZ(fte_match_set_misc) * 8)
			continue;
		group_cmd(&c, uid, table, 500, 500);
		SET(&c, create_flow_group_in, match_criteria_enable, 0x1f);
		mask = PRM_SUB(&c.i, create_flow_group_in, match_criteria);
		prm_set(&mask, bit, 1, 1);
		cmd_refused(d, &c, SYN_FG_FIELD);
	}
}

/* The last ids, so that nobody has to make 2^24 objects. */
static void limits(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d);
	uint32_t table = new_table(d, uid, FT_NIC_RX, 0), group = new_group(d, uid, table, 0, 9);
	static const uint8_t data[4];
	struct cmd c;

	for (int type = OBJ_FLOW_TABLE; type <= OBJ_MODIFY_HEADER; type++)
		d->h->tables[type].next = ID24_LAST + 1;
	table_cmd(&c, uid, FT_NIC_RX, 0);
	cmd_refused(d, &c, SYN_FT_LIMIT);
	group_cmd(&c, uid, table, 10, 10);
	cmd_refused(d, &c, SYN_FG_LIMIT);
	entry_cmd(&c, uid, table, group, 0);
	cmd_refused(d, &c, SYN_FTE_LIMIT);
	reformat_cmd(&c, uid, REFORMAT_L2_TO_VXLAN, data, sizeof(data));
	cmd_refused(d, &c, SYN_REFORMAT_LIMIT);
	modify_cmd(&c, uid, FT_NIC_RX);
	modify_add(&c, 0x0a, 1);
	cmd_refused(d, &c, SYN_MODIFY_HEADER_LIMIT);
}

/* Each allocation of each command fails once; the device goes on as though it had not been asked. */
static void no_memory(void **state)
{
	static const uint8_t data[4];
	struct dev *d = *state;
	uint16_t uid = new_uid(d);
	uint32_t table = new_table(d, uid, FT_NIC_RX, 0), next = new_table(d, uid, FT_NIC_RX, 1), n, counter = new_counter(d, uid);
	struct cmd c;

	for (n = 1;; n++) {
		struct prm_box ctx;

		group_cmd(&c, uid, table, 0, 9);
		ctx = CRITERIA(&c, outer_headers);
		PRM_SET(&ctx, fte_match_set_lyr_2_4, ip_version, 0xf);
		fail_alloc = n;
		cmd_run(d, &c);
		if (!fail_alloc && OUT(&c, nop_out, status)) {
			assert_int_equal(OUT(&c, nop_out, syndrome), syn_number(SYN_NO_MEMORY));
			continue;
		}
		break;
	}
	assert_true(n > 2);
	fail_alloc = 0;
	uint32_t group = (uint32_t)OUT(&c, create_flow_group_out, group_id);

	for (uint16_t modify = 0; modify < 2; modify++) {
		for (n = 1;; n++) {
			entry_cmd(&c, uid, table, group, 3);
			cmd_op_mod(&c, modify);
			SET(&c, set_fte_in, modify_enable_mask, modify ? 0xf : 0);
			if (modify) {
				entry_action(&c, FTE_FWD | FTE_COUNT);
				entry_dest(&c, DEST_TABLE, next);
				entry_counter(&c, counter);
			}
			fail_alloc = n;
			cmd_run(d, &c);
			if (!fail_alloc && OUT(&c, nop_out, status)) {
				assert_int_equal(OUT(&c, nop_out, syndrome), syn_number(SYN_NO_MEMORY));
				continue;
			}
			break;
		}
		assert_true(n > 2);
		fail_alloc = 0;
	}
	for (n = 1;; n++) {
		reformat_cmd(&c, uid, REFORMAT_L2_TO_VXLAN, data, sizeof(data));
		fail_alloc = n;
		cmd_run(d, &c);
		if (fail_alloc || !OUT(&c, nop_out, status))
			break;
	}
	assert_true(n > 2);
	for (n = 1;; n++) {
		modify_cmd(&c, uid, FT_NIC_RX);
		modify_add(&c, 0x0a, 1);
		fail_alloc = n;
		cmd_run(d, &c);
		if (fail_alloc || !OUT(&c, nop_out, status))
			break;
	}
	assert_true(n > 2);
	fail_alloc = 0;
	entry_query(&c, uid, table, 3, 2);
	cmd_ok(d, &c);
	struct prm_box ctx = PRM_SUB(&c.o, query_fte_out, flow_context);

	assert_int_equal(PRM_GET(&ctx, flow_context, action), FTE_FWD | FTE_COUNT);
}

int run_flow_tests(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, dev_setup, dev_teardown)
	const struct CMUnitTest tests[] = { T(tables), T(bad_tables), T(roots), T(groups), T(entries), T(bad_entries), T(modify_entry),
		T(fields_as_promised), T(limits), T(no_memory) };

	return cmocka_run_group_tests_name("flow", tests, NULL, NULL);
}
