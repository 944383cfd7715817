/* SPDX-License-Identifier: BSD-2-Clause */
/* Queue pairs, and the way through their states. */
#include "recipes.h"
#include "prm_gen.h"
#include "table.h"

/* A box without the extension of the context that its layout may have. */
#define QP_BOX PRM_SZ_rst2init_qp_in
#define QPC(field, v) IN(rst2init_qp_in, qpc, qpc, field, v)
#define PATH(field, v)                                                                                               \
	{ NEST(NEST(PRM_F_rst2init_qp_in__qpc, PRM_F_qpc__primary_address_path), PRM_F_ads__##field), RCP_VALUE, v }
/* All inboxes of transitions are alike up to the end of their qpc. */
#define TRANSITION(op, layout) CMD_LEN(op, layout, QP_BOX, PRM_SZ_rst2init_qp_out), { PRM_F_rst2init_qp_in__qpn }
#define SHOWS(field, v) PLACE_IN(query_qp_out, qpc, qpc, field), v

/* st. Linux, include/linux/mlx5/qp.h. */
enum { RC = 0, UD = 2 };

#define QP_CREATE(type)                                                                                              \
	{ CMD_LEN(CREATE_QP, create_qp, QP_BOX, PRM_SZ_create_qp_out), { PRM_F_create_qp_out__qpn },                 \
	  { SET(create_qp_in, wq_umem_valid, 1), REF(create_qp_in, wq_umem_id, UMEM), IN(create_qp_in, qpc, qpc, st, type), \
	    IN_REF(create_qp_in, qpc, qpc, pd, PD), IN_REF(create_qp_in, qpc, qpc, cqn_snd, CQ),                      \
	    IN_REF(create_qp_in, qpc, qpc, cqn_rcv, CQ), IN(create_qp_in, qpc, qpc, log_sq_size, 4),                  \
	    IN(create_qp_in, qpc, qpc, log_rq_size, 4), IN(create_qp_in, qpc, qpc, log_rq_stride, 2),                 \
	    IN_OPT(create_qp_in, qpc, qpc, uar_page, UAR), IN(create_qp_in, qpc, qpc, dbr_umem_valid, 1),             \
	    IN_REF(create_qp_in, qpc, qpc, dbr_umem_id, UMEM), IN(create_qp_in, qpc, qpc, dbr_addr, 2048) } }

/* States of a qpc, and optional parameters. Linux, include/linux/mlx5/qp.h. */
enum { INIT = 1, RTR = 2, RTS = 3, ERR = 6 };
enum { OPT_Q_KEY = 1 << 5 };

const struct recipe rcp_qp = {
	.name = "qp",
	.create = QP_CREATE(RC),
	.query = { CMD_LEN(QUERY_QP, query_qp, PRM_SZ_query_qp_in, QP_BOX), { PRM_F_query_qp_in__qpn }, NO_FIELDS },
	.modify = {
		{ { TRANSITION(RST2INIT_QP, rst2init_qp), { PATH(vhca_port_num, 1) } }, 0, SHOWS(state, INIT) },
		{ { TRANSITION(INIT2INIT_QP, init2init_qp), { SET(rst2init_qp_in, opt_param_mask, OPT_Q_KEY), QPC(q_key, 0x1234) } },
		  0, SHOWS(q_key, 0x1234) },
		{ { TRANSITION(INIT2RTR_QP, init2rtr_qp),
		    { QPC(mtu, 3), QPC(log_msg_max, 30), QPC(remote_qpn, 0x99), PATH(vhca_port_num, 1) } }, 0, SHOWS(state, RTR) },
		{ { TRANSITION(RTR2RTS_QP, rtr2rts_qp), { QPC(retry_count, 7), QPC(rnr_retry, 6) } }, 0, SHOWS(state, RTS) },
		{ { TRANSITION(RTS2RTS_QP, rts2rts_qp), { SET(rst2init_qp_in, opt_param_mask, OPT_Q_KEY), QPC(q_key, 0x5678) } },
		  0, SHOWS(q_key, 0x5678) },
		/* Nothing puts a queue pair into SQERR: there is no data path. */
		{ { TRANSITION(SQERR2RTS_QP, sqerr2rts_qp), NO_FIELDS }, BAD_QP_STATE, SHOWS(state, RTS) },
		{ { CMD(2ERR_QP, qp_2err), { PRM_F_qp_2err_in__qpn }, NO_FIELDS },
		  0, SHOWS(state, ERR) },
		{ { CMD(2RST_QP, qp_2rst), { PRM_F_qp_2rst_in__qpn }, NO_FIELDS },
		  0, SHOWS(state, 0) },
	},
	.destroy = { CMD(DESTROY_QP, destroy_qp), { PRM_F_destroy_qp_in__qpn }, NO_FIELDS },
	.max = 250000,
};

/* What multicast groups take. */
const struct recipe rcp_ud_qp = {
	.name = "ud qp",
	.create = QP_CREATE(UD),
	.query = { CMD_LEN(QUERY_QP, query_qp, PRM_SZ_query_qp_in, QP_BOX), { PRM_F_query_qp_in__qpn }, NO_FIELDS },
	.destroy = { CMD(DESTROY_QP, destroy_qp), { PRM_F_destroy_qp_in__qpn }, NO_FIELDS },
	.space = RCP_QP,
	.max = 250000,
};

/* A gid of its own for each: multicast addresses of IPv6 begin with ff. It has no id. */
#define MCG_FIELDS(layout)                                                                                           \
	{ REF(layout, qpn, UD_QP), { GID_AT(layout, 0), 8, RCP_VALUE, 0xff }, { GID_AT(layout, 12), 32, RCP_SERIAL, 1 } }
#define GID_AT(layout, byte) FIRST(PRM_F_##layout##__multicast_gid) + (byte) * 8

const struct recipe rcp_mcg = {
	.name = "multicast attachment",
	.create = { CMD(ATTACH_TO_MCG, attach_to_mcg), { 0, 0 }, MCG_FIELDS(attach_to_mcg_in) },
	.destroy = { CMD(DETACH_FROM_MCG, detach_from_mcg), { 0, 0 }, MCG_FIELDS(detach_from_mcg_in) },
};
