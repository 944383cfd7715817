/* SPDX-License-Identifier: BSD-2-Clause */
/* General objects, whose type the commands have as op_mod, and scheduling elements. */
#include "recipes.h"
#include "prm_gen.h"
#include "table.h"

#define HDR PRM_SZ_general_obj_in_cmd_hdr
#define ID { PRM_F_general_obj_in_cmd_hdr__obj_id }
#define CTX(layout, field) NEST(HDR * 8, 0u, PRM_F_##layout##__##field)
#define G(layout, field, v) { CTX(layout, field), RCP_VALUE, v }
#define G_REF(layout, field, recipe) { CTX(layout, field), RCP_PARENT, RCP_##recipe }
#define G_OPT(layout, field, recipe) { CTX(layout, field), RCP_OPTIONAL, RCP_##recipe }

/* bytes: of the context, in its shortest form. The fields of a create come last. */
#define GENERAL(layout, bytes, type, ...)                                                                            \
	.create = { "general_obj_in_cmd_hdr+" #layout, PRM_OP_CREATE_GENERAL_OBJECT, type, HDR + (bytes), HDR,        \
		    { PRM_F_general_obj_out_cmd_hdr__obj_id }, { __VA_ARGS__ } },                                     \
	.query = { "general_obj_in_cmd_hdr", PRM_OP_QUERY_GENERAL_OBJECT, type, HDR, HDR + (bytes), ID, NO_FIELDS },   \
	.destroy = { "general_obj_in_cmd_hdr", PRM_OP_DESTROY_GENERAL_OBJECT, type, HDR, HDR, ID, NO_FIELDS }
#define SIMPLE(layout, type, ...) GENERAL(layout, PRM_SZ_##layout, type, __VA_ARGS__)
/* A modify that selects a bit and sets a field, which a query shows. */
#define MODIFY(layout, bytes, type, select, field, v)                                                                \
	.modify = { { { "general_obj_in_cmd_hdr+" #layout, PRM_OP_MODIFY_GENERAL_OBJECT, type, HDR + (bytes), HDR, ID, \
			{ G(layout, modify_field_select, select), G(layout, field, v) } },                            \
		      0, { CTX(layout, field) }, v } }

const struct recipe rcp_geneve_tlv = {
	.name = "geneve tlv option",
	SIMPLE(geneve_tlv_option, 0x0b, G(geneve_tlv_option, option_data_length, 1), G(geneve_tlv_option, option_class, 0x102)),
	.max = 8,
};

/* The short form. Purposes. Linux, include/linux/mlx5/mlx5_ifc.h; select: lib/crypto.c of its driver. */
#define DEK(purpose)                                                                                                 \
	GENERAL(encryption_key_obj, PRM_SZ_dek, 0x0c, G_REF(encryption_key_obj, pd, PD),                              \
		G(encryption_key_obj, key_purpose, purpose)),                                                        \
	MODIFY(encryption_key_obj, PRM_SZ_dek, 0x0c, 1, key_purpose, purpose)
enum { FOR_IPSEC = 2, FOR_MACSEC = 4 };

const struct recipe rcp_dek = {
	.name = "dek",
	DEK(FOR_IPSEC),
};

const struct recipe rcp_macsec_key = {
	.name = "dek for macsec",
	DEK(FOR_MACSEC),
	.space = RCP_DEK,
	.needs = 0x27,
};

const struct recipe rcp_ipsec = {
	.name = "ipsec offload",
	SIMPLE(ipsec_obj, 0x13, G_REF(ipsec_obj, dekn, DEK), G_OPT(ipsec_obj, ipsec_aso_access_pd, PD), G(ipsec_obj, esn_en, 1)),
	MODIFY(ipsec_obj, PRM_SZ_ipsec_obj, 0x13, 2, esn_msb, 0x77),
};

const struct recipe rcp_macsec = {
	.name = "macsec offload",
	SIMPLE(macsec_offload_obj, 0x27, G_REF(macsec_offload_obj, dekn, MACSEC_KEY),
	       G_OPT(macsec_offload_obj, macsec_aso_access_pd, PD), G(macsec_offload_obj, epn_en, 1)),
	MODIFY(macsec_offload_obj, PRM_SZ_macsec_offload_obj, 0x27, 2, epn_msb, 0x77),
};

const struct recipe rcp_import_kek = {
	.name = "import kek",
	SIMPLE(import_kek, 0x1d, G(import_kek, key_size, 1)),
};

const struct recipe rcp_credential = {
	.name = "credential",
	SIMPLE(credential, 0x1e, G(credential, credential_role, 1)),
};

const struct recipe rcp_login = {
	.name = "login",
	SIMPLE(crypto_login_obj, 0x1f, G_REF(crypto_login_obj, credential_pointer, CREDENTIAL),
	       G_REF(crypto_login_obj, session_import_kek_ptr, IMPORT_KEK)),
	.max = 200,
};

const struct recipe rcp_int_kek = {
	.name = "int kek",
	SIMPLE(int_kek_obj, 0x47, G_REF(int_kek_obj, pd, PD)),
};

/* The format with selectors (MLX5_IFC_DEFINER_FORMAT_ID_SELECT of Linux). */
const struct recipe rcp_definer = {
	.name = "match definer",
	SIMPLE(match_definer, 0x18, G(match_definer, format_id, 0x3d)),
	.max = 60000,
};

const struct recipe rcp_meter = {
	.name = "flow meter",
	SIMPLE(flow_meter, 0x0a, G_REF(flow_meter, destination_table_id, FLOW_TABLE)),
	MODIFY(flow_meter, PRM_SZ_flow_meter, 0x0a, 1, active, 1),
};

/* The short form is rdma-core's and DPDK's. */
const struct recipe rcp_sampler = {
	.name = "flow sampler",
	GENERAL(sampler_obj, PRM_SZ_flow_sampler, 0x20, G_REF(sampler_obj, sample_table_id, FLOW_TABLE),
		G_REF(sampler_obj, default_table_id, FLOW_TABLE), G(sampler_obj, sample_ratio, 2)),
};

/* Entered from UDP (DPDK, drivers/common/mlx5/mlx5_prm.h). */
const struct recipe rcp_flex_node = {
	.name = "flex parser node",
	SIMPLE(parse_graph_flex, 0x22,
	       { NEST(CTX(parse_graph_flex, input_arc), PRM_F_parse_graph_arc__arc_parse_graph_node), RCP_VALUE, 5 }),
};

const struct recipe rcp_modify_arg = {
	.name = "modify header argument",
	SIMPLE(modify_header_arg, 0x23, G_REF(modify_header_arg, access_pd, PD)),
};

const struct recipe rcp_meter_aso = {
	.name = "flow meter aso",
	SIMPLE(flow_meter_aso, 0x24, G_REF(flow_meter_aso, access_pd, PD)),
};

const struct recipe rcp_hit_aso = {
	.name = "flow hit aso",
	SIMPLE(flow_hit_aso, 0x25, G_REF(flow_hit_aso, access_pd, PD)),
};

const struct recipe rcp_conn_track = {
	.name = "connection tracking",
	SIMPLE(conn_track_offload, 0x31, G_REF(conn_track_offload, conn_track_aso_access_pd, PD)),
};

/* Select: DPDK, drivers/common/mlx5/mlx5_prm.h. */
const struct recipe rcp_stc = {
	.name = "stc",
	SIMPLE(stc, 0x40, G(stc, action_type, 1)),
	MODIFY(stc, PRM_SZ_stc, 0x40, 1, action_type, 2),
};

const struct recipe rcp_ste = {
	.name = "ste",
	SIMPLE(ste, 0x42, G(ste, table_type, 1)),
};

const struct recipe rcp_rtc = {
	.name = "rtc",
	SIMPLE(rtc, 0x41, G_REF(rtc, pd, PD), G_REF(rtc, stc_id, STC), G_REF(rtc, ste_table_base_id, STE),
	       G_OPT(rtc, match_definer_0, DEFINER)),
};

const struct recipe rcp_modify_pattern = {
	.name = "modify header pattern",
	SIMPLE(header_modify_pattern_in, 0x43, G(header_modify_pattern_in, pattern_length, 1)),
};

const struct recipe rcp_virtio_counters = {
	.name = "virtio queue counters",
	SIMPLE(virtio_q_counters, 0x1c, { HDR * 8, 0, RCP_VALUE, 0 }),
};

/* 16 entries: the sizes of its umems are what the capabilities of the device ask for at least, rounded up. */
#define VQ(field) NEST(CTX(virtio_net_q, virtio_q_context), PRM_F_virtio_q__##field)
#define VQ_UMEM(n, offset)                                                                                           \
	{ VQ(umem_##n##_id), RCP_PARENT, RCP_UMEM }, { VQ(umem_##n##_size), RCP_VALUE, 2048 },                        \
	{ VQ(umem_##n##_offset), RCP_VALUE, offset }

const struct recipe rcp_virtio_net_q = {
	.name = "virtio net queue",
	SIMPLE(virtio_net_q, 0x0d, { VQ(pd), RCP_PARENT, RCP_PD }, { VQ(virtio_q_mkey), RCP_KEY, RCP_MKEY },
	       { VQ(queue_size), RCP_VALUE, 16 }, VQ_UMEM(1, 0), VQ_UMEM(2, 2048), VQ_UMEM(3, 4096),
	       { VQ(counter_set_id), RCP_OPTIONAL, RCP_VIRTIO_COUNTERS }, G_OPT(virtio_net_q, tisn_or_qpn, TIS)),
	/* To RDY (DPDK, drivers/common/mlx5/mlx5_prm.h). */
	MODIFY(virtio_net_q, PRM_SZ_virtio_net_q, 0x0d, 1, state, 1),
};

const struct recipe rcp_pcie_cong = {
	.name = "pcie congestion event",
	SIMPLE(pcie_cong_event_obj, 0x58, G(pcie_cong_event_obj, inbound_cong_high_threshold, 9)),
	.modify = { { { "general_obj_in_cmd_hdr+pcie_cong_event_obj", PRM_OP_MODIFY_GENERAL_OBJECT, 0x58,
			HDR + PRM_SZ_pcie_cong_event_obj, HDR, ID,
			{ G(pcie_cong_event_obj, modify_select_field, 1), G(pcie_cong_event_obj, inbound_event_en, 1) } },
		      0, { CTX(pcie_cong_event_obj, inbound_event_en) }, 1 } },
};

/* A root of the NIC's hierarchy (3), an arbiter (0). Linux, include/linux/mlx5/mlx5_ifc.h. */
#define NIC 3

const struct recipe rcp_sched_obj = {
	.name = "scheduling object",
	SIMPLE(sched_elem, 0x26, G(sched_elem, scheduling_hierarchy, NIC)),
	.modify = { { { "general_obj_in_cmd_hdr+sched_elem", PRM_OP_MODIFY_GENERAL_OBJECT, 0x26, HDR + PRM_SZ_sched_elem, HDR, ID,
			{ G(sched_elem, modify_field_select, 1), G(sched_elem, scheduling_hierarchy, NIC),
			  { NEST(CTX(sched_elem, sched_context), PRM_F_scheduling_context__bw_share), RCP_VALUE, 9 } } },
		      0, { NEST(CTX(sched_elem, sched_context), PRM_F_scheduling_context__bw_share) }, 9 } },
	.space = RCP_SCHED,
};

#define HIERARCHY(layout) SET(layout, scheduling_hierarchy, NIC)

const struct recipe rcp_sched = {
	.name = "scheduling element",
	.create = { CMD(CREATE_SCHEDULING_ELEMENT, create_scheduling_element),
		    { PRM_F_create_scheduling_element_out__scheduling_element_id }, { HIERARCHY(create_scheduling_element_in) } },
	.query = { CMD(QUERY_SCHEDULING_ELEMENT, query_scheduling_element),
		   { PRM_F_query_scheduling_element_in__scheduling_element_id }, { HIERARCHY(query_scheduling_element_in) } },
	.modify = { { { CMD(MODIFY_SCHEDULING_ELEMENT, modify_scheduling_element),
			{ PRM_F_modify_scheduling_element_in__scheduling_element_id },
			{ HIERARCHY(modify_scheduling_element_in), SET(modify_scheduling_element_in, modify_bitmask, 1),
			  IN(modify_scheduling_element_in, scheduling_context, scheduling_context, bw_share, 9) } },
		      0, PLACE_IN(query_scheduling_element_out, scheduling_context, scheduling_context, bw_share), 9 } },
	/* As Linux builds it. */
	.destroy = { CMD_LEN(DESTROY_SCHEDULING_ELEMENT, destroy_scheduling_element, 16, 16),
		     { PRM_F_destroy_scheduling_element_in__scheduling_element_id }, { HIERARCHY(destroy_scheduling_element_in) } },
};
