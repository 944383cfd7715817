/* SPDX-License-Identifier: BSD-2-Clause */
/* Commands that name no object. */
#include "recipes.h"
#include "prm_gen.h"
#include "table.h"

#define OK(op, layout) { { CMD(op, layout), { 0, 0 }, NO_FIELDS }, 0, { 0, 0 }, 0 }
#define REFUSED(op, layout, status) { { CMD(op, layout), { 0, 0 }, NO_FIELDS }, status, { 0, 0 }, 0 }

const struct rcp_modify rcp_general[] = {
	OK(NOP, nop),
	OK(QUERY_HCA_CAP, query_hca_cap),
	OK(QUERY_ADAPTER, query_adapter),
	OK(QUERY_ISSI, query_issi),
	OK(QUERY_VPORT_STATE, query_vport_state),
	OK(QUERY_NIC_VPORT_CONTEXT, query_nic_vport_context),
	OK(QUERY_ROCE_ADDRESS, query_roce_address),
	OK(QUERY_HCA_VPORT_CONTEXT, query_hca_vport_context),
	OK(QUERY_VNIC_ENV, query_vnic_env),
	OK(QUERY_VPORT_COUNTER, query_vport_counter),
	OK(GET_DROPPED_PACKET_LOG, get_dropped_packet_log),
	OK(QUERY_CONG_STATISTICS, query_cong_statistics),
	OK(SYNC_STEERING, sync_steering),
	/* The e-switch is its manager's, and there is no LAG on one port. */
	REFUSED(QUERY_ESW_VPORT_CONTEXT, query_esw_vport_context, BAD_PARAM),
	REFUSED(QUERY_ESW_FUNCTIONS, query_esw_functions, BAD_PARAM),
	REFUSED(QUERY_LAG, query_lag, BAD_PARAM),
	/* Sample 0 does not exist; register 0 cannot be read. */
	REFUSED(QUERY_MATCH_SAMPLE_INFO, query_match_sample_info, BAD_RES),
	REFUSED(ACCESS_REGISTER_USER, access_register, BAD_PARAM),
	/* Congestion control and crypto objects: number 0 is none. */
	REFUSED(QUERY_CONG_STATUS, query_cong_status, BAD_PARAM),
	REFUSED(QUERY_CONG_PARAMS, query_cong_params, BAD_PARAM),
	REFUSED(SYNC_CRYPTO, sync_crypto, BAD_PARAM),
	{ { .opcode = 0 }, 0, { 0, 0 }, 0 },
};
