/* SPDX-License-Identifier: BSD-2-Clause */
/* Transport domains and what sends or receives in them. */
#include "recipes.h"
#include "prm_gen.h"
#include "wq.h"

/* States of RQs, SQs and RMPs. Linux, include/linux/mlx5/mlx5_ifc.h. */
enum { RST = 0, RDY = 1, ERR = 3 };

const struct recipe rcp_td = {
	.name = "transport domain",
	.create = { CMD(ALLOC_TRANSPORT_DOMAIN, alloc_transport_domain),
		    { PRM_F_alloc_transport_domain_out__transport_domain }, NO_FIELDS },
	.destroy = { CMD(DEALLOC_TRANSPORT_DOMAIN, dealloc_transport_domain),
		     { PRM_F_dealloc_transport_domain_in__transport_domain }, NO_FIELDS },
};

const struct recipe rcp_tis = {
	.name = "tis",
	.create = { CMD(CREATE_TIS, create_tis), { PRM_F_create_tis_out__tisn },
		    { IN_REF(create_tis_in, ctx, tisc, transport_domain, TD), IN_OPT(create_tis_in, ctx, tisc, pd, PD),
		      IN(create_tis_in, ctx, tisc, prio, 3) } },
	.query = { CMD(QUERY_TIS, query_tis), { PRM_F_query_tis_in__tisn }, NO_FIELDS },
	.modify = { { { CMD(MODIFY_TIS, modify_tis), { PRM_F_modify_tis_in__tisn },
			{ IN(modify_tis_in, bitmask, modify_tis_bitmask, prio, 1), IN(modify_tis_in, ctx, tisc, prio, 5) } },
		      0, PLACE_IN(query_tis_out, tis_context, tisc, prio), 5 } },
	.destroy = { CMD(DESTROY_TIS, destroy_tis), { PRM_F_destroy_tis_in__tisn }, NO_FIELDS },
};

const struct recipe rcp_rq = {
	.name = "rq",
	.create = { CMD(CREATE_RQ, create_rq), { PRM_F_create_rq_out__rqn },
		    { IN_REF(create_rq_in, ctx, rqc, cqn, CQ), IN_OPT(create_rq_in, ctx, rqc, counter_set_id, Q_COUNTER),
		      IN(create_rq_in, ctx, rqc, user_index, 0xabcdef), WQ(create_rq_in, ctx, rqc) } },
	.query = { CMD(QUERY_RQ, query_rq), { PRM_F_query_rq_in__rqn }, NO_FIELDS },
	.modify = {
		{ { CMD(MODIFY_RQ, modify_rq), { PRM_F_modify_rq_in__rqn },
		    { SET(modify_rq_in, rq_state, RST), IN(modify_rq_in, ctx, rqc, state, RDY) } },
		  0, PLACE_IN(query_rq_out, rq_context, rqc, state), RDY },
		{ { CMD(ARM_RQ, arm_rq), { PRM_F_arm_rq_in__srq_number }, { SET(arm_rq_in, lwm, 7) } },
		  0, { WQ_AT(query_rq_out, rq_context, rqc, lwm) }, 7 },
	},
	.destroy = { CMD(DESTROY_RQ, destroy_rq), { PRM_F_destroy_rq_in__rqn }, NO_FIELDS },
};

const struct recipe rcp_sq = {
	.name = "sq",
	.create = { CMD(CREATE_SQ, create_sq), { PRM_F_create_sq_out__sqn },
		    { IN_REF(create_sq_in, ctx, sqc, cqn, CQ), IN(create_sq_in, ctx, sqc, tis_lst_sz, 1),
		      IN_REF(create_sq_in, ctx, sqc, tis_num_0, TIS), WQ(create_sq_in, ctx, sqc) } },
	.query = { CMD(QUERY_SQ, query_sq), { PRM_F_query_sq_in__sqn }, NO_FIELDS },
	.modify = { { { CMD(MODIFY_SQ, modify_sq), { PRM_F_modify_sq_in__sqn },
			{ SET(modify_sq_in, sq_state, RST), IN(modify_sq_in, ctx, sqc, state, RDY) } },
		      0, PLACE_IN(query_sq_out, sq_context, sqc, state), RDY } },
	.destroy = { CMD(DESTROY_SQ, destroy_sq), { PRM_F_destroy_sq_in__sqn }, NO_FIELDS },
};

const struct recipe rcp_rmp = {
	.name = "rmp",
	.create = { CMD(CREATE_RMP, create_rmp), { PRM_F_create_rmp_out__rmpn },
		    { IN(create_rmp_in, ctx, rmpc, state, RDY), WQ(create_rmp_in, ctx, rmpc) } },
	.query = { CMD(QUERY_RMP, query_rmp), { PRM_F_query_rmp_in__rmpn }, NO_FIELDS },
	.modify = { { { CMD(MODIFY_RMP, modify_rmp), { PRM_F_modify_rmp_in__rmpn },
			{ SET(modify_rmp_in, rmp_state, RDY), IN(modify_rmp_in, ctx, rmpc, state, ERR) } },
		      0, PLACE_IN(query_rmp_out, rmp_context, rmpc, state), ERR } },
	.destroy = { CMD(DESTROY_RMP, destroy_rmp), { PRM_F_destroy_rmp_in__rmpn }, NO_FIELDS },
	.space = RCP_SRQ,
};

/* Room for two queues; it begins with one twice. */
#define RQ_NUM(layout, ctx) NEST(NEST(PRM_F_##layout##__##ctx, PRM_F_rqtc__rq_num), PRM_F_rq_num__rq_num)
#define RQ_LIST(layout, ctx)                                                                                         \
	{ RQ_NUM(layout, ctx), RCP_PARENT, RCP_RQ },                                                                 \
	{ NEST(RQ_NUM(layout, ctx), PRM_SZ_rq_num * 8, 24u), RCP_PARENT, RCP_RQ }
#define RQT_LEN(layout) (PRM_SZ_##layout + 2 * PRM_SZ_rq_num)

const struct recipe rcp_rqt = {
	.name = "rqt",
	.create = { CMD_LEN(CREATE_RQT, create_rqt, RQT_LEN(create_rqt_in), PRM_SZ_create_rqt_out), { PRM_F_create_rqt_out__rqtn },
		    { IN(create_rqt_in, rqt_context, rqtc, rqt_max_size, 4), IN(create_rqt_in, rqt_context, rqtc, rqt_actual_size, 2),
		      RQ_LIST(create_rqt_in, rqt_context) } },
	.query = { CMD_LEN(QUERY_RQT, query_rqt, PRM_SZ_query_rqt_in, RQT_LEN(query_rqt_out)), { PRM_F_query_rqt_in__rqtn },
		   NO_FIELDS },
	.modify = { { { CMD_LEN(MODIFY_RQT, modify_rqt, PRM_SZ_modify_rqt_in + PRM_SZ_rq_num, PRM_SZ_modify_rqt_out),
			{ PRM_F_modify_rqt_in__rqtn },
			{ IN(modify_rqt_in, bitmask, rqt_bitmask, rqn_list, 1),
			  IN(modify_rqt_in, ctx, rqtc, rqt_actual_size, 1),
			  { RQ_NUM(modify_rqt_in, ctx), RCP_PARENT, RCP_RQ } } },
		      0, PLACE_IN(query_rqt_out, rqt_context, rqtc, rqt_actual_size), 1 } },
	.destroy = { CMD(DESTROY_RQT, destroy_rqt), { PRM_F_destroy_rqt_in__rqtn }, NO_FIELDS },
	.max = 1000000,
};

const struct recipe rcp_tir = {
	.name = "tir",
	.create = { CMD(CREATE_TIR, create_tir), { PRM_F_create_tir_out__tirn },
		    { IN_REF(create_tir_in, ctx, tirc, transport_domain, TD), IN_REF(create_tir_in, ctx, tirc, inline_rqn, RQ) } },
	.query = { CMD(QUERY_TIR, query_tir), { PRM_F_query_tir_in__tirn }, NO_FIELDS },
	.modify = { { { CMD(MODIFY_TIR, modify_tir), { PRM_F_modify_tir_in__tirn },
			{ IN(modify_tir_in, bitmask, modify_tir_bitmask, self_lb_en, 1),
			  IN(modify_tir_in, ctx, tirc, self_lb_block, 3) } },
		      0, PLACE_IN(query_tir_out, tir_context, tirc, self_lb_block), 3 } },
	.destroy = { CMD(DESTROY_TIR, destroy_tir), { PRM_F_destroy_tir_in__tirn }, NO_FIELDS },
	.max = 1000000,
};

const struct recipe rcp_psv = {
	.name = "psv",
	.create = { CMD(CREATE_PSV, create_psv), { PRM_F_create_psv_out__psv0_index },
		    { SET(create_psv_in, num_psv, 1), REF(create_psv_in, pd, PD) } },
	.destroy = { CMD(DESTROY_PSV, destroy_psv), { PRM_F_destroy_psv_in__psvn }, NO_FIELDS },
};
