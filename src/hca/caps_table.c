/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Capabilities by profile. A feature whose commands or data path the model lacks is off in every profile, whatever the
 * real device offers; a limit is the model's own where it has one. "Inferred" marks what no public source states.
 */
#include "caps.h"
#include "events.h"
#include "queues.h"
#include "steer.h"
#include "general.h"
#include "types.h"

#define GEN(field, cx5, cx6dx, cx7, bf3) CAP_ROW(cmd_hca_cap, field, cx5, cx6dx, cx7, bf3)
#define GEN_ALL(field, v) GEN(field, v, v, v, v)
#define GEN2(field, cx5, cx6dx, cx7, bf3) CAP_ROW(cmd_hca_cap_2, field, cx5, cx6dx, cx7, bf3)
#define GEN2_ALL(field, v) GEN2(field, v, v, v, v)
#define ROCE(field, cx5, cx6dx, cx7, bf3) CAP_ROW(roce_cap, field, cx5, cx6dx, cx7, bf3)
#define ROCE_ALL(field, v) ROCE(field, v, v, v, v)
#define ETHERNET_ALL(field, v) CAP_ALL(per_protocol_networking_offload_caps, field, v)
#define LRO_PERIOD(i)                                                                                                \
	CTX_BIT_OF(PRM_F_per_protocol_networking_offload_caps__lro_timer_supported_periods) +                        \
		(i) * CTX_WIDTH_OF(PRM_F_per_protocol_networking_offload_caps__lro_timer_supported_periods),         \
		CTX_WIDTH_OF(PRM_F_per_protocol_networking_offload_caps__lro_timer_supported_periods)
#define EVENT_ALL(field, v) CAP_ALL(device_event_cap, field, v)
#define END { 0, 0, { 0 } }

#define FLOW_COUNTERS (FLOW_COUNTER_LAST - FLOW_COUNTER_FIRST + 1)

/* The definers of Linux' mlx5_ifc.h, by number: 0, 22, 23, 29 to 32, and the one with selectors. */
#define DEFINER_FORMATS                                                                                              \
	(UINT64_C(1) << 0 | UINT64_C(3) << 22 | UINT64_C(0xf) << 29 | UINT64_C(1) << 61)

static const struct cap_row general[] = {
	/*
	 * Sizes. ConnectX-5 and ConnectX-6 print max_qp 262144, max_qp_wr 32768, max_cq and max_mr and max_pd 16777216,
	 * max_cqe 4194303, max_qp_rd_atom 16 (ibv_devinfo in open-mpi/ompi pull request 6137, openucx/ucx issue 8229).
	 * Inferred for ConnectX-7 and BlueField-3. The model holds to each of them; of the 2^24 ids a few low ones are
	 * never given out.
	 */
	GEN_ALL(log_max_qp, QP_LOG_MAX),
	GEN_ALL(log_max_qp_sz, QP_LOG_SZ_MAX),
	GEN_ALL(log_max_cq, 24),
	GEN_ALL(log_max_cq_sz, CQ_LOG_SZ_MAX),
	GEN_ALL(log_max_eq, EQ_LOG_MAX),
	GEN_ALL(log_max_eq_sz, EQ_LOG_SZ_MAX),
	GEN_ALL(log_max_mkey, 24),
	GEN_ALL(log_max_pd, 24),
	GEN_ALL(log_max_ra_req_qp, QP_LOG_RA_MAX),
	GEN_ALL(log_max_ra_res_qp, QP_LOG_RA_MAX),
	GEN_ALL(log_max_msg, QP_LOG_MSG_MAX),
	GEN_ALL(log_max_mrw_sz, 64), /* max_mr_size in the same prints: all of 64 bits */
	GEN_ALL(log_pg_sz, 12),      /* page_size_cap there: from 4 KiB on */

	/* User contexts and umems: what DEVX itself asks for. The model's own numbers, rounded down to a power of two. */
	GEN_ALL(log_max_uctx, 15),
	GEN_ALL(log_max_umem, 23),
	GEN_ALL(uctx_cap, 0x3), /* raw tx, internal device resources: CREATE_UCTX takes both bits */

	/* Flow counters: the model's. Bit n of flow_counter_bulk_alloc: bulks of 128 << n. */
	GEN_ALL(alloc_flow_counter_pd, 1),
	GEN_ALL(flow_counters_dump, 1),
	GEN_ALL(flow_counter_bulk_alloc, 0xff),
	GEN_ALL(log_max_flow_counter_bulk, FLOW_COUNTER_LOG_MAX),
	GEN_ALL(max_flow_counter_31_16, FLOW_COUNTERS >> 16),
	GEN_ALL(max_flow_counter_15_0, FLOW_COUNTERS & 0xffff),

	/* Flow tables on a page of their own. The parsers: Geneve, ICMP, ICMPv6 (Linux, include/linux/mlx5/device.h). */
	GEN_ALL(nic_flow_table, 1),
	GEN_ALL(flex_parser_protocols, 0x308),
	GEN_ALL(log_max_l2_table, L2_LOG_ENTRIES),

	/* Queue pairs, completion queues, q counters: as this model's commands take them. */
	GEN_ALL(rc, 1),
	GEN_ALL(uc, 1),
	GEN_ALL(ud, 1),
	GEN_ALL(rts2rts_qp_counters_set_id, 1),
	GEN_ALL(rtr2rts_qp_counters_set_id, 1),
	GEN_ALL(q_counter_aggregation, 1),
	GEN_ALL(cq_oi, 1),
	GEN_ALL(cq_moderation, 1),
	GEN_ALL(cq_resize, 1),
	GEN_ALL(cq_period_mode_modify, 1),
	GEN_ALL(cq_eq_remap, 1),
	GEN_ALL(cqe_version, 1),
	GEN_ALL(relaxed_ordering_write, 1),
	GEN_ALL(relaxed_ordering_read, 1),

	/*
	 * Transport and queues, as their commands take them. max_srq 8388608, max_srq_wr 32767, max_mcast_grp 2097152 and
	 * max_mcast_qp_attach 240 are printed in openucx/ucx issue 10317; the other sizes are inferred.
	 */
	GEN_ALL(log_max_transport_domain, 24),
	GEN_ALL(log_max_tis, 24),
	GEN_ALL(log_max_tis_per_sq, 0),
	GEN_ALL(modify_tis, 1),
	GEN_ALL(log_max_tir, TIR_LOG_MAX),
	GEN_ALL(log_max_rqt, RQT_LOG_MAX),
	GEN_ALL(log_max_rqt_size, RQT_LOG_SIZE_MAX),
	GEN_ALL(log_max_rq, RQ_LOG_MAX),
	GEN_ALL(log_max_sq, SQ_LOG_MAX),
	GEN_ALL(log_max_rmp, SRQ_LOG_MAX),
	GEN_ALL(log_max_srq, SRQ_LOG_MAX),
	GEN_ALL(log_max_srq_sz, SRQ_LOG_SZ_MAX),
	GEN_ALL(log_max_xrq, SRQ_LOG_MAX),
	GEN_ALL(log_max_xrcd, XRCD_LOG_MAX),
	GEN_ALL(log_max_wq_sz, WQ_LOG_SZ_MAX),
	GEN_ALL(log_min_stride_sz_rq, RQ_LOG_STRIDE_MIN),
	GEN_ALL(log_max_stride_sz_rq, RQ_LOG_STRIDE_MAX),
	GEN_ALL(max_wqe_sz_rq, 1 << RQ_LOG_STRIDE_MAX),
	GEN_ALL(log_min_stride_sz_sq, SQ_LOG_STRIDE),
	GEN_ALL(log_max_stride_sz_sq, SQ_LOG_STRIDE),
	GEN_ALL(striding_rq, 1),
	GEN_ALL(basic_cyclic_rcv_wqe, 1),
	GEN_ALL(mem_rq_rmp, 1),
	GEN_ALL(modify_rq_counter_set_id, 1),
	GEN_ALL(rq_delay_drop, 1),
	GEN_ALL(hairpin, 1),
	GEN_ALL(log_max_hairpin_queues, RQ_LOG_MAX),
	GEN_ALL(log_min_hairpin_wq_data_sz, HAIRPIN_LOG_DATA_MIN),
	GEN_ALL(log_max_hairpin_wq_data_sz, HAIRPIN_LOG_DATA_MAX),
	GEN_ALL(log_max_hairpin_num_packets, HAIRPIN_LOG_PACKETS_MAX),
	GEN_ALL(dct, 1),
	GEN_ALL(xrc, 1),
	GEN_ALL(ece_support, 1),
	GEN_ALL(qpc_extension, 1),
	GEN_ALL(rts2rts_qp_udp_sport, 1),
	GEN_ALL(log_max_dci_stream_channels, DCI_LOG_CHANNELS_MAX),
	GEN_ALL(tag_matching, 1),
	GEN_ALL(log_tag_matching_list_sz, TM_LOG_LIST_MAX),
	GEN_ALL(rndv_offload_rc, 1),
	GEN_ALL(rndv_offload_dc, 1),
	GEN_ALL(log_max_mcg, MCG_LOG_MAX),
	GEN_ALL(max_qp_mcg, MCG_QP_MAX),

	/*
	 * One Ethernet port with RoCE; max_msg_sz 2^30 in such a print. The acknowledge delay is inferred. A pkey_table_size
	 * of 0 means 128.
	 */
	GEN_ALL(roce, 1),
	GEN_ALL(num_ports, NUM_PORTS),
	GEN_ALL(port_type, 1),
	GEN_ALL(pkey_table_size, 0),
	GEN_ALL(local_ca_ack_delay, 16),

	/* UARs of 4 KiB with doorbell registers of 512 bytes: Linux' driver relies on both; the values are inferred. */
	GEN_ALL(uar_4k, 1),
	GEN_ALL(uar_sz, UAR_LOG_MB),
	GEN_ALL(log_bf_reg_size, 9),

	/*
	 * Generations. Clock: hca_core_clock 156250 kHz is printed in openucx/ucx issue 5376 for a device that looks like a
	 * ConnectX-5; 1 GHz for the later ones is inferred. Steering format: 0 is ConnectX-5, 1 ConnectX-6 Dx, 2 ConnectX-7
	 * (rdma-core and DPDK name them so); BlueField-3 having the last is inferred. Time stamps: free running only on
	 * ConnectX-5, both kinds later, inferred.
	 */
	GEN(device_frequency_khz, 156250, 1000000, 1000000, 1000000),
	GEN(steering_format_version, 0, 1, 2, 2),
	GEN(sq_ts_format, 0, 2, 2, 2),
	GEN(rq_ts_format, 0, 2, 2, 2),

	GEN_ALL(event_cap, 1),
	/*
	 * General objects. Which types there are (general_obj_types) is not said here: it comes from their tables, as do the
	 * sources of which device has what.
	 */
	GEN_ALL(qos, 1),
	GEN(query_match_sample_info, 0, 1, 1, 1),
	GEN(match_definer_format_supported, 0, DEFINER_FORMATS, DEFINER_FORMATS, DEFINER_FORMATS),
	GEN(max_num_match_definer, 0, 0xffff, 0xffff, 0xffff),
	GEN(max_geneve_tlv_options, 1, 1, 8, 8), /* inferred, as the next two */
	GEN(max_geneve_tlv_option_data_len, 1, 1, 31, 31),
	GEN(geneve_tlv_sample, 0, 0, 1, 1),
	GEN(crypto, 0, 1, 1, 1),
	GEN(aes_xts, 0, 1, 1, 1),
	GEN(log_max_dek, 0, GEN_LOG_MAX, GEN_LOG_MAX, GEN_LOG_MAX),
	GEN(ipsec_offload, 0, 1, 1, 1),
	GEN(log_max_num_header_modify_argument, 0, GEN_LOG_MAX, GEN_LOG_MAX, GEN_LOG_MAX),
	GEN(log_header_modify_argument_max_alloc, 0, GEN_LOG_RANGE, GEN_LOG_RANGE, GEN_LOG_RANGE),

	/* General commands. PSP's begin with ConnectX-7 (Linux supports it there). */
	GEN_ALL(vport_counters, 1),
	GEN_ALL(nic_receive_steering_discard, 1),
	GEN_ALL(receive_discard_vport_down, 1),
	GEN_ALL(invalid_command_count, 1),
	GEN_ALL(cc_query_allowed, 1),
	GEN_ALL(access_register_user, 1),
	GEN(psp, 0, 0, 1, 1),

	GEN_ALL(hca_cap_2, 1),
	END,
};

static const struct cap_row general_2[] = {
	GEN2_ALL(flow_counter_bulk_log_max_alloc, FLOW_COUNTER_LOG_MAX),
	GEN2_ALL(flow_counter_bulk_log_granularity, 0),
	GEN2_ALL(query_vuid, 1),
	GEN2(log_max_num_reserved_qpn, 0, QP_LOG_MAX, QP_LOG_MAX, QP_LOG_MAX),
	GEN2(log_reserved_qpn_max_alloc, 0, GEN_LOG_RANGE, GEN_LOG_RANGE, GEN_LOG_RANGE),
	GEN2(log_conn_track_max_alloc, 0, GEN_LOG_RANGE, GEN_LOG_RANGE, GEN_LOG_RANGE),
	GEN2(log_max_conn_track_offload, 0, GEN_LOG_MAX, GEN_LOG_MAX, GEN_LOG_MAX),
	END,
};

/* What contexts of TIRs and RQs may ask for. Sizes and periods (of the field's four, in microseconds) are inferred. */
static const struct cap_row ethernet[] = {
	ETHERNET_ALL(vlan_cap, 1),
	ETHERNET_ALL(lro_cap, 1),
	ETHERNET_ALL(lro_min_mss_size, 256),
	{ LRO_PERIOD(0), { 8, 8, 8, 8 } },
	{ LRO_PERIOD(1), { 16, 16, 16, 16 } },
	{ LRO_PERIOD(2), { 32, 32, 32, 32 } },
	{ LRO_PERIOD(3), { 1024, 1024, 1024, 1024 } },
	ETHERNET_ALL(self_lb_en_modifiable, 1),
	ETHERNET_ALL(scatter_fcs, 1),
	ETHERNET_ALL(max_vxlan_udp_ports, VXLAN_PORTS_MAX),
	END,
};

static const struct cap_row roce[] = {
	/* Versions 1 and 2, over IPv4 and IPv6. Linux, include/linux/mlx5/device.h: bits 0 and 2; bits 1 and 2. */
	ROCE_ALL(roce_version, 0x05),
	ROCE_ALL(l3_type, 0x06),
	/* UDP: the assigned port; source ports from the dynamic range. */
	ROCE_ALL(r_roce_dest_udp_port, 4791),
	ROCE_ALL(r_roce_min_src_udp_port, 0xc000),
	ROCE_ALL(r_roce_max_src_udp_port, 0xffff),
	ROCE_ALL(roce_address_table_size, ROCE_ADDRESSES),
	ROCE(qp_ts_format, 0, 2, 2, 2), /* as sq_ts_format and rq_ts_format */
	END,
};

/* What the model raises: 256 bits each, as four numbers of 64, event n in bit n of them. */
static const struct cap_row events[] = {
	CAP_ROW(device_event_cap, user_affiliated_events, EVENTS_AFFILIATED, EVENTS_AFFILIATED_CHANGE,
		EVENTS_AFFILIATED_CHANGE, EVENTS_AFFILIATED_CHANGE),
	EVENT_ALL(user_unaffiliated_events, EVENTS_UNAFFILIATED),
	END,
};

const struct cap_page cap_pages[] = {
	{ CAP_GENERAL, general },
	{ 0x01, ethernet }, /* Ethernet offloads */
	{ 0x02, NULL }, /* on-demand paging */
	{ 0x03, NULL }, /* atomics */
	{ CAP_ROCE, roce },
	{ 0x05, NULL }, /* IPoIB */
	{ 0x06, NULL }, /* enhanced IPoIB */
	{ 0x07, cap_nic_flow_tables },
	{ 0x08, NULL }, /* e-switch flow tables */
	{ 0x09, NULL }, /* e-switch */
	{ CAP_QOS, caps_qos }, /* quality of service */
	{ 0x0d, NULL }, /* debug */
	{ 0x0f, NULL }, /* device memory */
	{ 0x11, NULL }, /* TLS */
	{ CAP_VIRTIO, caps_virtio }, /* virtio emulation */
	{ 0x14, events }, /* device events */
	{ CAP_IPSEC, caps_ipsec }, /* IPsec */
	{ CAP_CRYPTO, caps_crypto }, /* crypto */
	{ CAP_WQE_FLOW, caps_wqe_flow }, /* WQE based flow tables */
	{ CAP_PARSE_GRAPH, caps_parse_graph },
	{ 0x1d, NULL }, /* SHAMPO */
	{ CAP_PSP, caps_psp }, /* PSP */
	{ CAP_MACSEC, caps_macsec }, /* MACsec */
	{ CAP_GENERAL_2, general_2 },
	{ 0x25, NULL }, /* port selection */
	{ 0x26, NULL }, /* advanced virtualization */
	{ 0x28, NULL }, /* advanced RDMA */
};
const unsigned int n_cap_pages = sizeof(cap_pages) / sizeof(cap_pages[0]);
