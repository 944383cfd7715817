/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the capabilities of a bare device differ, which a driver of an operating system initialises and then makes a netdev of.
 * They are set so that it loads whole, and takes no path that needs work requests to be executed: those are not.
 */
#include "caps.h"
#include "queues.h"
#include "types.h"

#define GEN_ALL(field, v) CAP_ALL(cmd_hca_cap, field, v)
#define ETH_ALL(field, v) CAP_ALL(per_protocol_networking_offload_caps, field, v)
#define END { 0, 0, { 0 } }

static const struct cap_row general[] = {
	/* A netdev is made only of a function with these. */
	GEN_ALL(eth_net_offloads, 1),
	GEN_ALL(max_tc, 8),
	GEN_ALL(log_max_current_uc_list, 7),
	GEN_ALL(log_max_current_mc_list, 11),
	GEN_ALL(log_max_vlan_list, 8),

	/*
	 * Memory of programs is registered by a work request that rewrites an mkey, unless the size of an mkey cannot be
	 * changed so: then Linux creates an mkey by a command (drivers/infiniband/hw/mlx5/mlx5_ib.h, mlx5_ib_can_load_pas_with_umr).
	 */
	GEN_ALL(umr_modify_entity_size_disabled, 1),

	/* Which registers there are is asked there (registers.c). */
	GEN_ALL(pcam_reg, 1),
	GEN_ALL(mcam_reg, 1),
	GEN_ALL(qcam_reg, 1),

	/* What a driver needs to build work requests, which the model does not look at. */
	GEN_ALL(max_wqe_sz_sq, 1024),
	GEN_ALL(log_max_klm_list_size, 16),

	/* Commands and profiles of commands that only a driver gives (init.c). */
	GEN_ALL(driver_version, 1),
	GEN_ALL(force_teardown, 1),

	/* The clock counts from the function's start: its time stamps are not those of a day. */
	GEN_ALL(sq_ts_format, 0),
	GEN_ALL(rq_ts_format, 0),

	/* A netdev that finds it encrypts by it. */
	GEN_ALL(psp, 0),

	GEN_ALL(max_qp_cnt, Q_COUNTER_LAST), /* without it Linux has no hw_counters */
	GEN_ALL(max_num_eqs, EQN_LAST - EQN_FIRST + 1),
	GEN_ALL(num_of_uars_per_page, 1),
	END,
};

static const struct cap_row ethernet[] = {
	ETH_ALL(csum_cap, 1),
	ETH_ALL(max_lso_cap, 16), /* log2; without it Linux makes no netdev (drivers/net/ethernet/mellanox/mlx5/core/dev.c) */
	ETH_ALL(rss_ind_tbl_cap, RQT_LOG_SIZE_MAX),
	ETH_ALL(wqe_inline_mode, 2), /* headers need not be in the work request: Linux, include/linux/mlx5/vport.h */
	END,
};

static const struct cap_row roce[] = {
	CAP_ALL(roce_cap, qp_ts_format, 0), /* as above */
	END,
};

/* Rates are kept (pacing.c). */
static const struct cap_row qos[] = {
	CAP_ALL(qos_cap, packet_pacing, 1),
	CAP_ALL(qos_cap, packet_pacing_uid, 1),
	CAP_ALL(qos_cap, packet_pacing_burst_bound, 1),
	CAP_ALL(qos_cap, packet_pacing_typical_size, 1),
	CAP_ALL(qos_cap, packet_pacing_min_rate, RATE_KBPS_MIN),
	CAP_ALL(qos_cap, packet_pacing_max_rate, RATE_KBPS_MAX),
	CAP_ALL(qos_cap, packet_pacing_rate_table_size, RATE_LIMITS),
	END,
};

const struct cap_page cap_pages_bare[] = {
	{ CAP_GENERAL, general },
	{ CAP_ETHERNET, ethernet },
	{ CAP_ROCE, roce },
	{ CAP_QOS, qos },
	{ 0, NULL },
};
