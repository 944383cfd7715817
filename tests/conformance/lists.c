/* SPDX-License-Identifier: BSD-2-Clause */
/* Linux, drivers/infiniband/hw/mlx5/devx.c: the opcodes that pass for a query and a modify, and where it reads their id. */
#include "conf.h"

const struct listed_op listed_queries[] = {
	{ PRM_OP_QUERY_GENERAL_OBJECT, PRM_OP_CREATE_GENERAL_OBJECT, PRM_F_general_obj_in_cmd_hdr__obj_id },
	{ PRM_OP_QUERY_MKEY, PRM_OP_CREATE_MKEY, PRM_F_query_mkey_in__mkey_index },
	{ PRM_OP_QUERY_CQ, PRM_OP_CREATE_CQ, PRM_F_query_cq_in__cqn },
	{ PRM_OP_QUERY_RMP, PRM_OP_CREATE_RMP, PRM_F_query_rmp_in__rmpn },
	{ PRM_OP_QUERY_SQ, PRM_OP_CREATE_SQ, PRM_F_query_sq_in__sqn },
	{ PRM_OP_QUERY_RQ, PRM_OP_CREATE_RQ, PRM_F_query_rq_in__rqn },
	{ PRM_OP_QUERY_RQT, PRM_OP_CREATE_RQT, PRM_F_query_rqt_in__rqtn },
	{ PRM_OP_QUERY_TIR, PRM_OP_CREATE_TIR, PRM_F_query_tir_in__tirn },
	{ PRM_OP_QUERY_TIS, PRM_OP_CREATE_TIS, PRM_F_query_tis_in__tisn },
	{ PRM_OP_QUERY_Q_COUNTER, PRM_OP_ALLOC_Q_COUNTER, PRM_F_query_q_counter_in__counter_set_id },
	{ PRM_OP_QUERY_FLOW_TABLE, PRM_OP_CREATE_FLOW_TABLE, PRM_F_query_flow_table_in__table_id },
	{ PRM_OP_QUERY_FLOW_GROUP, PRM_OP_CREATE_FLOW_GROUP, PRM_F_query_flow_group_in__group_id },
	{ PRM_OP_QUERY_FLOW_TABLE_ENTRY, PRM_OP_SET_FLOW_TABLE_ENTRY, PRM_F_query_fte_in__flow_index },
	{ PRM_OP_QUERY_FLOW_COUNTER, PRM_OP_ALLOC_FLOW_COUNTER, PRM_F_query_flow_counter_in__flow_counter_id },
	{ PRM_OP_QUERY_MODIFY_HEADER_CONTEXT, PRM_OP_ALLOC_MODIFY_HEADER_CONTEXT,
	  PRM_F_query_modify_header_context_in__modify_header_id },
	{ PRM_OP_QUERY_SCHEDULING_ELEMENT, PRM_OP_CREATE_SCHEDULING_ELEMENT,
	  PRM_F_query_scheduling_element_in__scheduling_element_id },
	{ PRM_OP_QUERY_L2_TABLE_ENTRY, PRM_OP_SET_L2_TABLE_ENTRY, PRM_F_query_l2_table_entry_in__table_index },
	{ PRM_OP_QUERY_QP, PRM_OP_CREATE_QP, PRM_F_query_qp_in__qpn },
	{ PRM_OP_QUERY_SRQ, PRM_OP_CREATE_SRQ, PRM_F_query_srq_in__srqn },
	{ PRM_OP_QUERY_XRC_SRQ, PRM_OP_CREATE_XRC_SRQ, PRM_F_query_xrc_srq_in__xrc_srqn },
	{ PRM_OP_QUERY_DCT, PRM_OP_CREATE_DCT, PRM_F_query_dct_in__dctn },
	{ PRM_OP_QUERY_XRQ, PRM_OP_CREATE_XRQ, PRM_F_query_xrq_in__xrqn },
	{ PRM_OP_QUERY_XRQ_DC_PARAMS_ENTRY, PRM_OP_CREATE_XRQ, PRM_F_query_xrq_in__xrqn }, /* no public layout: as the others */
	{ PRM_OP_QUERY_XRQ_ERROR_PARAMS, PRM_OP_CREATE_XRQ, PRM_F_query_xrq_in__xrqn },
	{ PRM_OP_QUERY_PACKET_REFORMAT_CONTEXT, PRM_OP_ALLOC_PACKET_REFORMAT_CONTEXT,
	  PRM_F_query_packet_reformat_context_in__packet_reformat_id },
	{ .opcode = 0 },
};

const struct listed_op listed_modifies[] = {
	{ PRM_OP_MODIFY_GENERAL_OBJECT, PRM_OP_CREATE_GENERAL_OBJECT, PRM_F_general_obj_in_cmd_hdr__obj_id },
	{ PRM_OP_MODIFY_CQ, PRM_OP_CREATE_CQ, PRM_F_modify_cq_in__cqn },
	{ PRM_OP_MODIFY_RMP, PRM_OP_CREATE_RMP, PRM_F_modify_rmp_in__rmpn },
	{ PRM_OP_MODIFY_SQ, PRM_OP_CREATE_SQ, PRM_F_modify_sq_in__sqn },
	{ PRM_OP_MODIFY_RQ, PRM_OP_CREATE_RQ, PRM_F_modify_rq_in__rqn },
	{ PRM_OP_MODIFY_RQT, PRM_OP_CREATE_RQT, PRM_F_modify_rqt_in__rqtn },
	{ PRM_OP_MODIFY_TIR, PRM_OP_CREATE_TIR, PRM_F_modify_tir_in__tirn },
	{ PRM_OP_MODIFY_TIS, PRM_OP_CREATE_TIS, PRM_F_modify_tis_in__tisn },
	{ PRM_OP_MODIFY_FLOW_TABLE, PRM_OP_CREATE_FLOW_TABLE, PRM_F_modify_flow_table_in__table_id },
	{ PRM_OP_MODIFY_SCHEDULING_ELEMENT, PRM_OP_CREATE_SCHEDULING_ELEMENT,
	  PRM_F_modify_scheduling_element_in__scheduling_element_id },
	{ PRM_OP_ADD_VXLAN_UDP_DPORT, PRM_OP_ADD_VXLAN_UDP_DPORT, PRM_F_add_vxlan_udp_dport_in__vxlan_udp_port },
	{ PRM_OP_SET_L2_TABLE_ENTRY, PRM_OP_SET_L2_TABLE_ENTRY, PRM_F_set_l2_table_entry_in__table_index },
	{ PRM_OP_SET_FLOW_TABLE_ENTRY, PRM_OP_SET_FLOW_TABLE_ENTRY, PRM_F_set_fte_in__flow_index },
	{ PRM_OP_RST2INIT_QP, PRM_OP_CREATE_QP, PRM_F_rst2init_qp_in__qpn },
	{ PRM_OP_INIT2RTR_QP, PRM_OP_CREATE_QP, PRM_F_init2rtr_qp_in__qpn },
	{ PRM_OP_RTR2RTS_QP, PRM_OP_CREATE_QP, PRM_F_rtr2rts_qp_in__qpn },
	{ PRM_OP_RTS2RTS_QP, PRM_OP_CREATE_QP, PRM_F_rts2rts_qp_in__qpn },
	{ PRM_OP_SQERR2RTS_QP, PRM_OP_CREATE_QP, PRM_F_sqerr2rts_qp_in__qpn },
	{ PRM_OP_2ERR_QP, PRM_OP_CREATE_QP, PRM_F_qp_2err_in__qpn },
	{ PRM_OP_2RST_QP, PRM_OP_CREATE_QP, PRM_F_qp_2rst_in__qpn },
	{ PRM_OP_INIT2INIT_QP, PRM_OP_CREATE_QP, PRM_F_init2init_qp_in__qpn },
	{ PRM_OP_ARM_XRC_SRQ, PRM_OP_CREATE_XRC_SRQ, PRM_F_arm_xrc_srq_in__xrc_srqn },
	{ PRM_OP_ARM_RQ, PRM_OP_CREATE_RQ, PRM_F_arm_rq_in__srq_number },
	{ PRM_OP_ARM_DCT_FOR_KEY_VIOLATION, PRM_OP_CREATE_DCT, PRM_F_arm_dct_in__dct_number },
	{ PRM_OP_ARM_XRQ, PRM_OP_CREATE_XRQ, PRM_F_arm_xrq_in__xrqn },
	{ PRM_OP_SET_XRQ_DC_PARAMS_ENTRY, PRM_OP_CREATE_XRQ, PRM_F_arm_xrq_in__xrqn }, /* no public layout: as the others */
	{ PRM_OP_RELEASE_XRQ_ERROR, PRM_OP_CREATE_XRQ, PRM_F_arm_xrq_in__xrqn },
	{ PRM_OP_MODIFY_XRQ, PRM_OP_CREATE_XRQ, PRM_F_arm_xrq_in__xrqn },
	{ .opcode = 0 },
};

const struct listed_op *find_op(const struct listed_op *list, uint32_t opcode)
{
	for (; list->opcode; list++)
		if (list->opcode == opcode)
			return list;
	return NULL;
}
