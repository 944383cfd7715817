/* SPDX-License-Identifier: BSD-2-Clause */
/* Protection domains, memory, completion queues, counters. */
#include "recipes.h"
#include "prm_gen.h"
#include "table.h"

const struct recipe rcp_pd = {
	.name = "pd",
	.create = { CMD(ALLOC_PD, alloc_pd), { PRM_F_alloc_pd_out__pd }, NO_FIELDS },
	.destroy = { CMD(DEALLOC_PD, dealloc_pd), { PRM_F_dealloc_pd_in__pd }, NO_FIELDS },
};

const struct recipe rcp_uar = {
	.name = "uar",
	.by_call = true,
	.create = { CMD(ALLOC_UAR, alloc_uar), { PRM_F_alloc_uar_out__uar }, NO_FIELDS },
	.destroy = { CMD(DEALLOC_UAR, dealloc_uar), { PRM_F_dealloc_uar_in__uar }, NO_FIELDS },
	.max = 8000,
};

const struct recipe rcp_umem = {
	.name = "umem",
	.by_call = true,
	.create = { CMD_LEN(CREATE_UMEM, create_umem, PRM_SZ_create_umem_in + 2 * PRM_SZ_mtt, PRM_SZ_create_umem_out),
		    { PRM_F_create_umem_out__umem_id },
		    { IN(create_umem_in, umem, umem, num_of_mtt, 2),
		      { PRM_SZ_create_umem_in * 8, 2 * PRM_SZ_mtt * 8, RCP_MTTS, 0 } } },
	.destroy = { CMD(DESTROY_UMEM, destroy_umem), { PRM_F_destroy_umem_in__umem_id }, NO_FIELDS },
};

const struct recipe rcp_mkey = {
	.name = "mkey",
	.create = { CMD(CREATE_MKEY, create_mkey), { PRM_F_create_mkey_out__mkey_index },
		    { SET(create_mkey_in, mkey_umem_valid, 1), REF(create_mkey_in, mkey_umem_id, UMEM),
		      IN(create_mkey_in, memory_key_mkey_entry, mkc, access_mode_1_0, 1),
		      IN(create_mkey_in, memory_key_mkey_entry, mkc, lw, 1),
		      IN(create_mkey_in, memory_key_mkey_entry, mkc, lr, 1),
		      IN(create_mkey_in, memory_key_mkey_entry, mkc, mkey_7_0, RCP_MKEY_TAG),
		      IN_REF(create_mkey_in, memory_key_mkey_entry, mkc, pd, PD),
		      IN(create_mkey_in, memory_key_mkey_entry, mkc, len, 4096) } },
	.query = { CMD(QUERY_MKEY, query_mkey), { PRM_F_query_mkey_in__mkey_index }, NO_FIELDS },
	.destroy = { CMD(DESTROY_MKEY, destroy_mkey), { PRM_F_destroy_mkey_in__mkey_index }, NO_FIELDS },
};

const struct recipe rcp_cq = {
	.name = "cq",
	.create = { CMD(CREATE_CQ, create_cq), { PRM_F_create_cq_out__cqn },
		    { SET(create_cq_in, cq_umem_valid, 1), REF(create_cq_in, cq_umem_id, UMEM),
		      IN(create_cq_in, cq_context, cqc, log_cq_size, 4),
		      IN_KIND(create_cq_in, cq_context, cqc, c_eqn_or_apu_element, RCP_EQN),
		      IN_OPT(create_cq_in, cq_context, cqc, uar_page, UAR),
		      IN(create_cq_in, cq_context, cqc, dbr_umem_valid, 1),
		      IN_REF(create_cq_in, cq_context, cqc, dbr_umem_id, UMEM),
		      IN(create_cq_in, cq_context, cqc, dbr_addr, 1024) } },
	.query = { CMD(QUERY_CQ, query_cq), { PRM_F_query_cq_in__cqn }, NO_FIELDS },
	.modify = { { { CMD(MODIFY_CQ, modify_cq), { PRM_F_modify_cq_in__cqn },
			/* Period and count (Linux, include/linux/mlx5/device.h). */
			{ SET(modify_cq_in, cq_umem_valid, 1), SET(modify_cq_in, modify_field_select_resize_field_select, 3),
			  IN(modify_cq_in, cq_context, cqc, cq_period, 0x123),
			  IN(modify_cq_in, cq_context, cqc, cq_max_count, 0x4567) } },
		      0, PLACE_IN(query_cq_out, cq_context, cqc, cq_max_count), 0x4567 } },
	.destroy = { CMD(DESTROY_CQ, destroy_cq), { PRM_F_destroy_cq_in__cqn }, NO_FIELDS },
};

const struct recipe rcp_q_counter = {
	.name = "q counter",
	.create = { CMD(ALLOC_Q_COUNTER, alloc_q_counter), { PRM_F_alloc_q_counter_out__counter_set_id }, NO_FIELDS },
	.query = { CMD(QUERY_Q_COUNTER, query_q_counter), { PRM_F_query_q_counter_in__counter_set_id }, NO_FIELDS },
	.destroy = { CMD(DEALLOC_Q_COUNTER, dealloc_q_counter), { PRM_F_dealloc_q_counter_in__counter_set_id }, NO_FIELDS },
	.max = 200,
};

const struct recipe rcp_flow_counter = {
	.name = "flow counter",
	.create = { CMD(ALLOC_FLOW_COUNTER, alloc_flow_counter), { PRM_F_alloc_flow_counter_out__flow_counter_id },
		    { { PRM_F_alloc_flow_counter_in__pd, RCP_OPTIONAL, RCP_PD } } },
	/* The outbox holds one counter. */
	.query = { CMD_LEN(QUERY_FLOW_COUNTER, query_flow_counter, PRM_SZ_query_flow_counter_in,
			   PRM_SZ_query_flow_counter_out + PRM_SZ_traffic_counter), { PRM_F_query_flow_counter_in__flow_counter_id },
		   { SET(query_flow_counter_in, num_of_counters, 1) } },
	.destroy = { CMD(DEALLOC_FLOW_COUNTER, dealloc_flow_counter),
		     { PRM_F_dealloc_flow_counter_in__flow_counter_id }, NO_FIELDS },
};
