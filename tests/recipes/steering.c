/* SPDX-License-Identifier: BSD-2-Clause */
/* Flow tables, groups and entries, what entries do to packets, and the driver's tables of addresses and ports. */
#include "recipes.h"
#include "prm_gen.h"
#include "table.h"

/* Receive tables: table_type 0. A recipe leaves it. */
#define LOG_SIZE 24

const struct recipe rcp_flow_table = {
	.name = "flow table",
	.create = { CMD(CREATE_FLOW_TABLE, create_flow_table), { PRM_F_create_flow_table_out__table_id },
		    { IN(create_flow_table_in, flow_table_context, flow_table_context, log_size, LOG_SIZE),
		      IN(create_flow_table_in, flow_table_context, flow_table_context, level, 3) } },
	.query = { CMD(QUERY_FLOW_TABLE, query_flow_table), { PRM_F_query_flow_table_in__table_id }, NO_FIELDS },
	/* Misses go to a table of a higher level. */
	.modify = { { { CMD(MODIFY_FLOW_TABLE, modify_flow_table), { PRM_F_modify_flow_table_in__table_id },
			{ SET(modify_flow_table_in, modify_field_select, 1),
			  IN(modify_flow_table_in, flow_table_context, flow_table_context, table_miss_action, 1),
			  IN_REF(modify_flow_table_in, flow_table_context, flow_table_context, table_miss_id, MISS_TABLE) } },
		      0, PLACE_IN(query_flow_table_out, flow_table_context, flow_table_context, table_miss_action), 1 } },
	.destroy = { CMD(DESTROY_FLOW_TABLE, destroy_flow_table), { PRM_F_destroy_flow_table_in__table_id }, NO_FIELDS },
};

const struct recipe rcp_miss_table = {
	.name = "flow table for misses",
	.create = { CMD(CREATE_FLOW_TABLE, create_flow_table), { PRM_F_create_flow_table_out__table_id },
		    { IN(create_flow_table_in, flow_table_context, flow_table_context, log_size, 4),
		      IN(create_flow_table_in, flow_table_context, flow_table_context, level, 4) } },
	.query = { CMD(QUERY_FLOW_TABLE, query_flow_table), { PRM_F_query_flow_table_in__table_id }, NO_FIELDS },
	.destroy = { CMD(DESTROY_FLOW_TABLE, destroy_flow_table), { PRM_F_destroy_flow_table_in__table_id }, NO_FIELDS },
	.space = RCP_FLOW_TABLE,
};

/* The first group has room for entries, the others for one each, behind it. */
#define WIDE (1u << 20)

/* The upper half of the destination address: what groups match on. */
#define DMAC_AT(layout, criteria)                                                                                    \
	NEST(NEST(criteria, PRM_F_fte_match_param__outer_headers), PRM_F_fte_match_set_lyr_2_4__dmac_47_16)

const struct recipe rcp_flow_group = {
	.name = "flow group",
	.shared_first = true,
	.create = { CMD(CREATE_FLOW_GROUP, create_flow_group), { PRM_F_create_flow_group_out__group_id },
		    { REF(create_flow_group_in, table_id, FLOW_TABLE),
		      { PRM_F_create_flow_group_in__start_flow_index, RCP_LATER, WIDE },
		      { PRM_F_create_flow_group_in__end_flow_index, RCP_LATER, WIDE },
		      { PRM_F_create_flow_group_in__end_flow_index, RCP_FIRST, WIDE - 1 },
		      SET(create_flow_group_in, match_criteria_enable, 1),
		      { DMAC_AT(create_flow_group_in, PRM_F_create_flow_group_in__match_criteria), RCP_VALUE, 0xffffffff } } },
	.query = { CMD(QUERY_FLOW_GROUP, query_flow_group), { PRM_F_query_flow_group_in__group_id },
		   { REF(query_flow_group_in, table_id, FLOW_TABLE) } },
	.destroy = { CMD(DESTROY_FLOW_GROUP, destroy_flow_group), { PRM_F_destroy_flow_group_in__group_id },
		     { REF(destroy_flow_group_in, table_id, FLOW_TABLE) } },
};

/* Actions of an entry. Linux, include/linux/mlx5/mlx5_ifc.h. */
enum { ACTION_ALLOW = 1, ACTION_DROP = 2, ACTION_COUNT = 8 };

#define FTE_LEN(layout) (PRM_SZ_##layout + PRM_SZ_flow_counter_list)
#define FTE_COMMON(act)                                                                                              \
	REF(set_fte_in, table_id, FLOW_TABLE), IN(set_fte_in, flow_context, flow_context, action, act),               \
	IN(set_fte_in, flow_context, flow_context, flow_counter_list_size, 1),                                       \
	{ NEST(PRM_SZ_set_fte_in * 8, 0u, PRM_F_flow_counter_list__flow_counter_id), RCP_PARENT, RCP_FLOW_COUNTER }

/* The program says the index. Each matches another address, and drops and counts. */
const struct recipe rcp_flow_entry = {
	.name = "flow entry",
	.create = { CMD_LEN(SET_FLOW_TABLE_ENTRY, set_fte, FTE_LEN(set_fte_in), PRM_SZ_set_fte_out), { PRM_F_set_fte_in__flow_index },
		    { FTE_COMMON(ACTION_DROP | ACTION_COUNT), { PRM_F_set_fte_in__flow_index, RCP_SERIAL, 1 },
		      IN_REF(set_fte_in, flow_context, flow_context, group_id, FLOW_GROUP),
		      { DMAC_AT(set_fte_in, NEST(PRM_F_set_fte_in__flow_context, PRM_F_flow_context__match_value)),
			RCP_SERIAL, 0x02000000 } } },
	.query = { CMD_LEN(QUERY_FLOW_TABLE_ENTRY, query_fte, PRM_SZ_query_fte_in, FTE_LEN(query_fte_out)),
		   { PRM_F_query_fte_in__flow_index }, { REF(query_fte_in, table_id, FLOW_TABLE) } },
	/* op_mod 1; the mask: action, counters. */
	.modify = { { { "set_fte_in", PRM_OP_SET_FLOW_TABLE_ENTRY, 1, FTE_LEN(set_fte_in), PRM_SZ_set_fte_out,
			{ PRM_F_set_fte_in__flow_index },
			{ FTE_COMMON(ACTION_ALLOW | ACTION_COUNT), SET(set_fte_in, modify_enable_mask, 1 | 8) } },
		      0, PLACE_IN(query_fte_out, flow_context, flow_context, action), ACTION_ALLOW | ACTION_COUNT } },
	.destroy = { CMD(DELETE_FLOW_TABLE_ENTRY, delete_fte), { PRM_F_delete_fte_in__flow_index },
		     { REF(delete_fte_in, table_id, FLOW_TABLE) } },
	.named = true,
};

/* 16 bytes put before a packet: type 2. Linux, include/linux/mlx5/mlx5_ifc.h. */
#define REFORMAT(field) \
	NEST(PRM_F_alloc_packet_reformat_context_in__packet_reformat_context, PRM_F_packet_reformat_context_in__##field)
#define REFORMAT_BYTES 16
#define REFORMAT_LEN(context) ((FIRST(context) + FIRST(PRM_F_packet_reformat_context_in__reformat_data)) / 8 + REFORMAT_BYTES)

const struct recipe rcp_reformat = {
	.name = "packet reformat context",
	.create = { CMD_LEN(ALLOC_PACKET_REFORMAT_CONTEXT, alloc_packet_reformat_context,
			    REFORMAT_LEN(PRM_F_alloc_packet_reformat_context_in__packet_reformat_context),
			    PRM_SZ_alloc_packet_reformat_context_out),
		    { PRM_F_alloc_packet_reformat_context_out__packet_reformat_id },
		    { { REFORMAT(reformat_type), RCP_VALUE, 2 }, { REFORMAT(reformat_data_size), RCP_VALUE, REFORMAT_BYTES } } },
	.query = { CMD_LEN(QUERY_PACKET_REFORMAT_CONTEXT, query_packet_reformat_context, PRM_SZ_query_packet_reformat_context_in,
			   REFORMAT_LEN(PRM_F_query_packet_reformat_context_out__packet_reformat_context)),
		   { PRM_F_query_packet_reformat_context_in__packet_reformat_id }, NO_FIELDS },
	.destroy = { CMD(DEALLOC_PACKET_REFORMAT_CONTEXT, dealloc_packet_reformat_context),
		     { PRM_F_dealloc_packet_reformat_context_in__packet_reformat_id }, NO_FIELDS },
};

/* One action: set (1) the upper half of the destination address (field 4). Linux, include/linux/mlx5/mlx5_ifc.h. */
#define ACTION(field) NEST(PRM_SZ_alloc_modify_header_context_in * 8, 0u, PRM_F_set_action_in__##field)
#define ACTIONS_LEN (PRM_SZ_alloc_modify_header_context_in + PRM_SZ_set_action_in)

const struct recipe rcp_modify_header = {
	.name = "modify header context",
	.create = { CMD_LEN(ALLOC_MODIFY_HEADER_CONTEXT, alloc_modify_header_context, ACTIONS_LEN,
			    PRM_SZ_alloc_modify_header_context_out),
		    { PRM_F_alloc_modify_header_context_out__modify_header_id },
		    { SET(alloc_modify_header_context_in, num_of_actions, 1), { ACTION(action_type), RCP_VALUE, 1 },
		      { ACTION(field), RCP_VALUE, 4 }, { ACTION(data), RCP_VALUE, 0x02aabbcc } } },
	.query = { CMD_LEN(QUERY_MODIFY_HEADER_CONTEXT, query_modify_header_context, PRM_SZ_query_modify_header_context_in,
			   ACTIONS_LEN),
		   { PRM_F_query_modify_header_context_in__modify_header_id }, NO_FIELDS },
	.destroy = { CMD(DEALLOC_MODIFY_HEADER_CONTEXT, dealloc_modify_header_context),
		     { PRM_F_dealloc_modify_header_context_in__modify_header_id }, NO_FIELDS },
};

const struct recipe rcp_vxlan_port = {
	.name = "vxlan port",
	.create = { CMD(ADD_VXLAN_UDP_DPORT, add_vxlan_udp_dport), { PRM_F_add_vxlan_udp_dport_in__vxlan_udp_port },
		    { { PRM_F_add_vxlan_udp_dport_in__vxlan_udp_port, RCP_SERIAL, 5000 } } },
	.destroy = { CMD(DELETE_VXLAN_UDP_DPORT, delete_vxlan_udp_dport), { PRM_F_delete_vxlan_udp_dport_in__vxlan_udp_port },
		     NO_FIELDS },
	.named = true,
	.max = 60,
};

const struct recipe rcp_l2_entry = {
	.name = "l2 table entry",
	.create = { CMD(SET_L2_TABLE_ENTRY, set_l2_table_entry), { PRM_F_set_l2_table_entry_in__table_index },
		    { { PRM_F_set_l2_table_entry_in__table_index, RCP_SERIAL, 1 },
		      IN(set_l2_table_entry_in, mac_address, mac_address_layout, mac_addr_31_0, 0x12345678) } },
	.query = { CMD(QUERY_L2_TABLE_ENTRY, query_l2_table_entry), { PRM_F_query_l2_table_entry_in__table_index }, NO_FIELDS },
	.destroy = { CMD(DELETE_L2_TABLE_ENTRY, delete_l2_table_entry), { PRM_F_delete_l2_table_entry_in__table_index }, NO_FIELDS },
	.named = true,
	.max = 1000,
};
