/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Congestion control: on for RoCE on every priority, with the parameters of a card as it comes (mlxconfig prints them as
 * ROCE_CC_PRIO_MASK_P1, RPG_TIME_RESET_P1 and so on), which cc_modify_allowed says cannot be changed. Nothing is sent, so
 * nothing is counted.
 */
#include "context.h"

/* Protocols. Linux, drivers/infiniband/hw/mlx5/cong.c: enum mlx5_ib_cong_node_type. */
enum { PROTO_RP = 1, PROTO_NP = 2 };

static enum syn query_cong_status(struct hca *h, struct call *c)
{
	uint64_t proto = PRM_GET(&c->in, query_cong_status_in, cong_protocol);

	if (proto != PROTO_RP && proto != PROTO_NP)
		return SYN_CONG_PROTOCOL;
	if (PRM_GET(&c->in, query_cong_status_in, priority) > 7)
		return SYN_CONG_PRIORITY;
	PRM_SET(&c->out, query_cong_status_out, enable, 1);
	return SYN_OK;
}

static void reaction_point(struct prm_box p)
{
	PRM_SET(&p, cong_control_r_roce_ecn_rp, clamp_tgt_rate_after_time_inc, 1);
	PRM_SET(&p, cong_control_r_roce_ecn_rp, rpg_time_reset, 300);
	PRM_SET(&p, cong_control_r_roce_ecn_rp, rpg_byte_reset, 32767);
	PRM_SET(&p, cong_control_r_roce_ecn_rp, rpg_threshold, 1);
	PRM_SET(&p, cong_control_r_roce_ecn_rp, rpg_ai_rate, 5);
	PRM_SET(&p, cong_control_r_roce_ecn_rp, rpg_hai_rate, 50);
	PRM_SET(&p, cong_control_r_roce_ecn_rp, rpg_gd, 11);
	PRM_SET(&p, cong_control_r_roce_ecn_rp, rpg_min_dec_fac, 50);
	PRM_SET(&p, cong_control_r_roce_ecn_rp, rpg_min_rate, 1);
	PRM_SET(&p, cong_control_r_roce_ecn_rp, dce_tcp_g, 1019);
	PRM_SET(&p, cong_control_r_roce_ecn_rp, dce_tcp_rtt, 1);
	PRM_SET(&p, cong_control_r_roce_ecn_rp, rate_reduce_monitor_period, 4);
	PRM_SET(&p, cong_control_r_roce_ecn_rp, initial_alpha_value, 1023);
}

static void notification_point(struct prm_box p)
{
	PRM_SET(&p, cong_control_r_roce_ecn_np, min_time_between_cnps, 4);
	PRM_SET(&p, cong_control_r_roce_ecn_np, cnp_dscp, 48);
	PRM_SET(&p, cong_control_r_roce_ecn_np, cnp_802p_prio, 6);
}

static enum syn query_cong_params(struct hca *h, struct call *c)
{
	struct prm_box p = PRM_SUB(&c->out, query_cong_params_out, congestion_parameters);

	switch (PRM_GET(&c->in, query_cong_params_in, cong_protocol)) {
	case PROTO_RP:
		reaction_point(p);
		return SYN_OK;
	case PROTO_NP:
		notification_point(p);
		return SYN_OK;
	default:
		return SYN_CONG_PROTOCOL;
	}
}

static enum syn query_cong_statistics(struct hca *h, struct call *c)
{
	return SYN_OK;
}

const struct hca_op ops_congestion[] = {
	OP_ROW(QUERY_CONG_STATUS, query_cong_status, OP_PLAIN, query_cong_status),
	OP_ROW(QUERY_CONG_PARAMS, query_cong_params, OP_PLAIN, query_cong_params),
	OP_ROW(QUERY_CONG_STATISTICS, query_cong_statistics, OP_PLAIN, query_cong_statistics),
	{ 0 },
};
