/* SPDX-License-Identifier: BSD-2-Clause */
/* The page of NIC flow tables. Both types of tables do the same, so the rows are written once, for a place in the page. */
#include "caps.h"
#include "steer.h"

#define PLACE(layout, field) PRM_F_##layout##__##field
#define BIT_OF(...) BIT_OF_(__VA_ARGS__)
#define BIT_OF_(bit, width) (bit)
#define AT_ROW(base, v, ...) AT_ROW_(base, v, __VA_ARGS__)
#define AT_ROW_(base, v, bit, width) { (base) + (bit), width, { v, v, v, v } }
#define NIC(field, v) AT_ROW(0, v, PLACE(flow_table_nic_cap, field))
#define NIC_BIT(field) BIT_OF(PLACE(flow_table_nic_cap, field))
#define PROP(dir, field, v) \
	AT_ROW(NIC_BIT(flow_table_properties_nic_##dir), v, PLACE(flow_table_prop_layout, field))
#define FIELDS_BIT(dir, set) (NIC_BIT(flow_table_properties_nic_##dir) + BIT_OF(PLACE(flow_table_prop_layout, set)))
#define CHANGES_BIT(dir, set) (NIC_BIT(header_modify_nic_##dir) + BIT_OF(PLACE(header_modify_cap_properties, set)))
#define CHANGE(dir, set, field) AT_ROW(CHANGES_BIT(dir, set), 1, PLACE(flow_table_fields_supported, field))

/* copy_action_field_support stays zero: no public source says how it names fields. Copying works for the same ones. */
#define CHANGES(dir, set)                                                                                            \
	CHANGE(dir, set, outer_dmac), CHANGE(dir, set, outer_smac), CHANGE(dir, set, outer_ether_type),                 \
	CHANGE(dir, set, outer_first_vid), CHANGE(dir, set, outer_ipv4_ttl), CHANGE(dir, set, outer_ipv6_hop_limit),    \
	CHANGE(dir, set, outer_sip), CHANGE(dir, set, outer_dip), CHANGE(dir, set, outer_ip_dscp),                      \
	CHANGE(dir, set, outer_ip_ecn), CHANGE(dir, set, outer_udp_sport), CHANGE(dir, set, outer_udp_dport),           \
	CHANGE(dir, set, outer_tcp_sport), CHANGE(dir, set, outer_tcp_dport), CHANGE(dir, set, outer_tcp_flags),        \
	CHANGE(dir, set, metadata_reg_c_0), CHANGE(dir, set, metadata_reg_c_1), CHANGE(dir, set, metadata_reg_c_2),     \
	CHANGE(dir, set, metadata_reg_c_3), CHANGE(dir, set, metadata_reg_c_4), CHANGE(dir, set, metadata_reg_c_5),     \
	CHANGE(dir, set, metadata_reg_c_6), CHANGE(dir, set, metadata_reg_c_7)

#define TABLES(dir)                                                                                                  \
	PROP(dir, ft_support, 1), PROP(dir, flow_tag, 1), PROP(dir, flow_counter, 1), PROP(dir, flow_modify_en, 1),     \
	PROP(dir, modify_root, 1), PROP(dir, identified_miss_table_mode, 1), PROP(dir, flow_table_modify, 1),           \
	PROP(dir, reformat, 1), PROP(dir, decap, 1), PROP(dir, reset_root_to_default, 1),                               \
	PROP(dir, pop_vlan, 1), PROP(dir, push_vlan, 1), PROP(dir, pop_vlan_2, 1), PROP(dir, push_vlan_2, 1),           \
	PROP(dir, reformat_and_vlan_action, 1), PROP(dir, modify_and_vlan_action, 1),                                   \
	PROP(dir, reformat_l3_tunnel_to_l2, 1), PROP(dir, reformat_l2_to_l3_tunnel, 1),                                 \
	PROP(dir, reformat_and_modify_action, 1), PROP(dir, reformat_and_fwd_to_table, 1),                              \
	PROP(dir, reformat_insert, 1), PROP(dir, reformat_remove, 1),                                                   \
	PROP(dir, log_max_ft_size, FT_LOG_SIZE_MAX), PROP(dir, log_max_modify_header_context, 24),                      \
	PROP(dir, max_modify_header_actions, MODIFY_ACTIONS_MAX), PROP(dir, max_ft_level, FT_LEVEL_MAX),                \
	PROP(dir, log_max_ft_num, 24), PROP(dir, log_max_flow_counter, FTE_LOG_COUNTERS),                               \
	PROP(dir, log_max_destination, FTE_LOG_DESTS), PROP(dir, log_max_flow, 24),                                     \
	CHANGES(dir, set_action_field_support), CHANGES(dir, add_action_field_support)

const struct cap_row cap_nic_flow_tables[] = {
	NIC(nic_rx_multi_path_tirs, 1),
	NIC(nic_rx_multi_path_tirs_fts, 1),
	NIC(encap_general_header, 1),
	NIC(log_max_packet_reformat_context, 24),
	NIC(max_encap_header_size, REFORMAT_SIZE_MAX),
	TABLES(receive),
	TABLES(transmit),
	/* Every bit of a field can be masked. */
#define MATCH_MORE(section, layout, field)
#define MATCH_FIELD(section, layout, field, cap)                                                                     \
	AT_ROW(FIELDS_BIT(receive, ft_field_support), 1, PLACE(flow_table_fields_supported, cap)),                      \
	AT_ROW(FIELDS_BIT(receive, ft_field_bitmask_support), 1, PLACE(flow_table_fields_supported, cap)),              \
	AT_ROW(FIELDS_BIT(transmit, ft_field_support), 1, PLACE(flow_table_fields_supported, cap)),                     \
	AT_ROW(FIELDS_BIT(transmit, ft_field_bitmask_support), 1, PLACE(flow_table_fields_supported, cap)),
#define MATCH_FIELD_2(section, layout, field, cap)                                                                   \
	AT_ROW(NIC_BIT(ft_field_support_2_nic_receive), 1, PLACE(flow_table_fields_supported_2, cap)),                  \
	AT_ROW(NIC_BIT(ft_field_bitmask_support_2_nic_receive), 1, PLACE(flow_table_fields_supported_2, cap)),          \
	AT_ROW(NIC_BIT(ft_field_support_2_nic_transmit), 1, PLACE(flow_table_fields_supported_2, cap)),                 \
	AT_ROW(NIC_BIT(ft_field_bitmask_support_2_nic_transmit), 1, PLACE(flow_table_fields_supported_2, cap)),
#include "match_fields.def"
	{ 0, 0, { 0 } },
};
