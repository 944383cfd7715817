/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared receive queues of all kinds, and the targets of dynamic connections, which receive on them. */
#include "recipes.h"
#include "prm_gen.h"
#include "wq.h"

const struct recipe rcp_xrcd = {
	.name = "xrcd",
	.create = { CMD(ALLOC_XRCD, alloc_xrcd), { PRM_F_alloc_xrcd_out__xrcd }, NO_FIELDS },
	.destroy = { CMD(DEALLOC_XRCD, dealloc_xrcd), { PRM_F_dealloc_xrcd_in__xrcd }, NO_FIELDS },
};

/* 16 entries of 64 bytes: its inbox lists one page. */
const struct recipe rcp_srq = {
	.name = "srq",
	.create = { CMD_LEN(CREATE_SRQ, create_srq, PRM_SZ_create_srq_in + PRM_SZ_cmd_pas, PRM_SZ_create_srq_out),
		    { PRM_F_create_srq_out__srqn },
		    { IN_REF(create_srq_in, srq_context_entry, srqc, pd, PD), IN_OPT(create_srq_in, srq_context_entry, srqc, cqn, CQ),
		      IN_OPT(create_srq_in, srq_context_entry, srqc, xrcd, XRCD),
		      IN(create_srq_in, srq_context_entry, srqc, log_srq_size, 4),
		      IN(create_srq_in, srq_context_entry, srqc, log_rq_stride, 2) } },
	.query = { CMD(QUERY_SRQ, query_srq), { PRM_F_query_srq_in__srqn }, NO_FIELDS },
	.destroy = { CMD(DESTROY_SRQ, destroy_srq), { PRM_F_destroy_srq_in__srqn }, NO_FIELDS },
};

const struct recipe rcp_xrc_srq = {
	.name = "xrc srq",
	.create = { CMD(CREATE_XRC_SRQ, create_xrc_srq), { PRM_F_create_xrc_srq_out__xrc_srqn },
		    { SET(create_xrc_srq_in, xrc_srq_umem_valid, 1), REF(create_xrc_srq_in, xrc_srq_umem_id, UMEM),
		      IN(create_xrc_srq_in, xrc_srq_context_entry, xrc_srqc, dbr_umem_valid, 1),
		      IN_REF(create_xrc_srq_in, xrc_srq_context_entry, xrc_srqc, pd, PD),
		      IN_REF(create_xrc_srq_in, xrc_srq_context_entry, xrc_srqc, cqn, CQ),
		      IN_REF(create_xrc_srq_in, xrc_srq_context_entry, xrc_srqc, xrcd, XRCD),
		      IN(create_xrc_srq_in, xrc_srq_context_entry, xrc_srqc, log_xrc_srq_size, 4),
		      IN(create_xrc_srq_in, xrc_srq_context_entry, xrc_srqc, log_rq_stride, 2) } },
	.query = { CMD(QUERY_XRC_SRQ, query_xrc_srq), { PRM_F_query_xrc_srq_in__xrc_srqn }, NO_FIELDS },
	/* op_mod 1 is an XRC SRQ. Linux, include/linux/mlx5/mlx5_ifc.h. */
	.modify = { { { "arm_xrc_srq_in", PRM_OP_ARM_XRC_SRQ, 1, PRM_SZ_arm_xrc_srq_in, PRM_SZ_arm_xrc_srq_out,
			{ PRM_F_arm_xrc_srq_in__xrc_srqn }, { SET(arm_xrc_srq_in, lwm, 7) } },
		      0, PLACE_IN(query_xrc_srq_out, xrc_srq_context_entry, xrc_srqc, lwm), 7 } },
	.destroy = { CMD(DESTROY_XRC_SRQ, destroy_xrc_srq), { PRM_F_destroy_xrc_srq_in__xrc_srqn }, NO_FIELDS },
	.space = RCP_SRQ,
};

/* These name the XRQ where QUERY_XRQ does; more of them is not public. */
#define XRQ_CMD(op, out) "?" #op, PRM_OP_##op, 0, PRM_SZ_query_xrq_in, out, { PRM_F_query_xrq_in__xrqn }, NO_FIELDS

const struct recipe rcp_xrq = {
	.name = "xrq",
	.create = { CMD(CREATE_XRQ, create_xrq), { PRM_F_create_xrq_out__xrqn },
		    { IN_REF(create_xrq_in, xrq_context, xrqc, cqn, CQ), WQ(create_xrq_in, xrq_context, xrqc) } },
	.query = { CMD(QUERY_XRQ, query_xrq), { PRM_F_query_xrq_in__xrqn }, NO_FIELDS },
	.modify = {
		{ { CMD(ARM_XRQ, arm_xrq), { PRM_F_arm_xrq_in__xrqn }, { SET(arm_xrq_in, lwm, 7) } },
		  0, { WQ_AT(query_xrq_out, xrq_context, xrqc, lwm) }, 7 },
		{ { CMD(SET_XRQ_DC_PARAMS_ENTRY, set_xrq_dc_params_entry), { PRM_F_set_xrq_dc_params_entry_in__xrqn },
		    { SET(set_xrq_dc_params_entry_in, mtu, 3), SET(set_xrq_dc_params_entry_in, ack_timeout, 14) } },
		  0, { 0, 0 }, 0 },
		{ { XRQ_CMD(MODIFY_XRQ, 16) }, 0, { 0, 0 }, 0 },
		{ { XRQ_CMD(RELEASE_XRQ_ERROR, 16) }, BAD_RES_STATE, { 0, 0 }, 0 }, /* there is none: no data path */
	},
	.more = {
		{ { XRQ_CMD(QUERY_XRQ_DC_PARAMS_ENTRY, PRM_SZ_set_xrq_dc_params_entry_in) }, 0, { 0, 0 }, 0 },
		{ { XRQ_CMD(QUERY_XRQ_ERROR_PARAMS, 16) }, BAD_RES_STATE, { 0, 0 }, 0 },
	},
	.destroy = { CMD(DESTROY_XRQ, destroy_xrq), { PRM_F_destroy_xrq_in__xrqn }, NO_FIELDS },
	.space = RCP_SRQ,
};

const struct recipe rcp_dct = {
	.name = "dct",
	.create = { CMD(CREATE_DCT, create_dct), { PRM_F_create_dct_out__dctn },
		    { IN_REF(create_dct_in, dct_context_entry, dctc, pd, PD), IN_REF(create_dct_in, dct_context_entry, dctc, cqn, CQ),
		      IN_REF(create_dct_in, dct_context_entry, dctc, srqn_xrqn, SRQ),
		      IN_OPT(create_dct_in, dct_context_entry, dctc, counter_set_id, Q_COUNTER),
		      IN(create_dct_in, dct_context_entry, dctc, mtu, 3), IN(create_dct_in, dct_context_entry, dctc, port, 1) } },
	.query = { CMD(QUERY_DCT, query_dct), { PRM_F_query_dct_in__dctn }, NO_FIELDS },
	.modify = { { { CMD(ARM_DCT_FOR_KEY_VIOLATION, arm_dct), { PRM_F_arm_dct_in__dct_number }, NO_FIELDS }, 0, { 0, 0 }, 0 } },
	.destroy = { CMD(DESTROY_DCT, destroy_dct), { PRM_F_destroy_dct_in__dctn }, NO_FIELDS },
	.max = 250000,
};
