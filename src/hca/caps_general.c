/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Capability pages around general objects and scheduling. A page says what the objects can be given; that the model has no
 * data path behind them is said where a program would look for it: in the pages of steering, of the Ethernet offloads and of TLS.
 * Limits are the model's own. What begins with which device is in the tables of the types.
 */
#include "caps.h"
#include "general.h"
#include "types.h"

#define END_ROWS { 0, 0, { 0 } }

/* Element types TSAR and queue group; TSARs of types DWRR, round robin and ETS: masks by number. */
#define ELEMENTS (1 << 0 | 1 << 4)
#define TSARS (1 << 0 | 1 << 1 | 1 << 2)

const struct cap_row caps_qos[] = {
	CAP_ALL(qos_cap, flow_meter, 1),
	CAP_ALL(qos_cap, log_max_flow_meter, GEN_LOG_MAX),
	CAP_ALL(qos_cap, nic_sq_scheduling, 1),
	CAP_ALL(qos_cap, nic_bw_share, 1),
	CAP_ALL(qos_cap, nic_rate_limit, 1),
	CAP_ALL(qos_cap, nic_element_type, ELEMENTS),
	CAP_ALL(qos_cap, nic_tsar_type, TSARS),
	CAP_ALL(qos_cap, max_tsar_bw_share, 100),
	CAP_ALL(qos_cap, log_max_qos_nic_queue_group, GEN_LOG_MAX),
	CAP_ROW(qos_cap, log_meter_aso_granularity, 0, 0, 0, 0),
	CAP_ROW(qos_cap, log_meter_aso_max_alloc, 0, GEN_LOG_RANGE, GEN_LOG_RANGE, GEN_LOG_RANGE),
	CAP_ROW(qos_cap, log_max_num_meter_aso, 0, GEN_LOG_MAX, GEN_LOG_MAX, GEN_LOG_MAX),
	END_ROWS,
};

/* Sizes of the three umems are a * entries + b: the model's own numbers. */
const struct cap_row caps_virtio[] = {
	CAP_ROW(virtio_emulation_cap, eth_frame_offload_type, 0, 1, 1, 1),
	CAP_ROW(virtio_emulation_cap, virtio_version_1_0, 0, 1, 1, 1),
	CAP_ROW(virtio_emulation_cap, tso_ipv4, 0, 1, 1, 1),
	CAP_ROW(virtio_emulation_cap, tso_ipv6, 0, 1, 1, 1),
	CAP_ROW(virtio_emulation_cap, tx_csum, 0, 1, 1, 1),
	CAP_ROW(virtio_emulation_cap, rx_csum, 0, 1, 1, 1),
	CAP_ROW(virtio_emulation_cap, event_mode, 0, 0x7, 0x7, 0x7),
	CAP_ROW(virtio_emulation_cap, virtio_queue_type, 0, 0x3, 0x3, 0x3),
	CAP_ROW(virtio_emulation_cap, vnet_modify_ext, 0, 1, 1, 1),
	CAP_ROW(virtio_emulation_cap, virtio_net_q_addr_modify, 0, 1, 1, 1),
	CAP_ROW(virtio_emulation_cap, virtio_q_index_modify, 0, 1, 1, 1),
	CAP_ROW(virtio_emulation_cap, max_num_virtio_queues, 0, ID24_LAST, ID24_LAST, ID24_LAST),
	CAP_ROW(virtio_emulation_cap, freeze_to_rdy_supported, 0, 0, 1, 1), /* inferred */
	CAP_ROW(virtio_emulation_cap, umem_1_buffer_param_a, 0, 16, 16, 16),
	CAP_ROW(virtio_emulation_cap, umem_1_buffer_param_b, 0, 1024, 1024, 1024),
	CAP_ROW(virtio_emulation_cap, umem_2_buffer_param_a, 0, 8, 8, 8),
	CAP_ROW(virtio_emulation_cap, umem_2_buffer_param_b, 0, 512, 512, 512),
	CAP_ROW(virtio_emulation_cap, umem_3_buffer_param_a, 0, 4, 4, 4),
	CAP_ROW(virtio_emulation_cap, umem_3_buffer_param_b, 0, 256, 256, 256),
	END_ROWS,
};

const struct cap_row caps_ipsec[] = {
	CAP_ROW(ipsec_cap, ipsec_crypto_offload, 0, 1, 1, 1),
	CAP_ROW(ipsec_cap, ipsec_esn, 0, 1, 1, 1),
	CAP_ROW(ipsec_cap, ipsec_crypto_esp_aes_gcm_256_encrypt, 0, 1, 1, 1),
	CAP_ROW(ipsec_cap, ipsec_crypto_esp_aes_gcm_128_encrypt, 0, 1, 1, 1),
	CAP_ROW(ipsec_cap, ipsec_crypto_esp_aes_gcm_256_decrypt, 0, 1, 1, 1),
	CAP_ROW(ipsec_cap, ipsec_crypto_esp_aes_gcm_128_decrypt, 0, 1, 1, 1),
	CAP_ROW(ipsec_cap, log_max_ipsec_offload, 0, GEN_LOG_MAX, GEN_LOG_MAX, GEN_LOG_MAX),
	END_ROWS,
};

const struct cap_row caps_crypto[] = {
	CAP_ROW(crypto_caps, wrapped_crypto_operational, 0, 1, 1, 1),
	CAP_ROW(crypto_caps, wrapped_import_method, 0, 0x4, 0x4, 0x4), /* rdma-core: MLX5_CRYPTO_CAPS_WRAPPED_IMPORT_METHOD_AES */
	CAP_ROW(crypto_caps, synchronize_dek, 0, 1, 1, 1),
	CAP_ROW(crypto_caps, int_kek_manual, 0, 0, 1, 1),
	CAP_ROW(crypto_caps, int_kek_auto, 0, 0, 1, 1),
	CAP_ROW(crypto_caps, log_dek_max_alloc, 0, GEN_LOG_RANGE, GEN_LOG_RANGE, GEN_LOG_RANGE),
	CAP_ROW(crypto_caps, log_max_num_deks, 0, GEN_LOG_MAX, GEN_LOG_MAX, GEN_LOG_MAX),
	CAP_ROW(crypto_caps, log_max_num_import_keks, 0, GEN_LOG_MAX, GEN_LOG_MAX, GEN_LOG_MAX),
	CAP_ROW(crypto_caps, log_max_num_creds, 0, GEN_LOG_MAX, GEN_LOG_MAX, GEN_LOG_MAX),
	CAP_ROW(crypto_caps, log_max_num_int_kek, 0, 0, GEN_LOG_MAX, GEN_LOG_MAX),
	END_ROWS,
};

/* Objects of steering by work requests exist; the work requests do not (wqe_based_flow_table_update_cap is off). */
const struct cap_row caps_wqe_flow[] = {
	CAP_ROW(wqe_based_flow_table_cap, log_max_num_ste, 0, GEN_LOG_MAX, GEN_LOG_MAX, GEN_LOG_MAX),
	CAP_ROW(wqe_based_flow_table_cap, log_max_num_stc, 0, GEN_LOG_MAX, GEN_LOG_MAX, GEN_LOG_MAX),
	CAP_ROW(wqe_based_flow_table_cap, log_max_num_rtc, 0, GEN_LOG_MAX, GEN_LOG_MAX, GEN_LOG_MAX),
	CAP_ROW(wqe_based_flow_table_cap, log_max_num_header_modify_pattern, 0, GEN_LOG_MAX, GEN_LOG_MAX, GEN_LOG_MAX),
	CAP_ROW(wqe_based_flow_table_cap, max_header_modify_pattern_length, 0, 64, 64, 64),
	CAP_ROW(wqe_based_flow_table_cap, stc_alloc_log_max, 0, GEN_LOG_RANGE, GEN_LOG_RANGE, GEN_LOG_RANGE),
	CAP_ROW(wqe_based_flow_table_cap, ste_alloc_log_max, 0, GEN_LOG_RANGE, GEN_LOG_RANGE, GEN_LOG_RANGE),
	CAP_ROW(wqe_based_flow_table_cap, rtc_log_depth_max, 0, RTC_LOG_DEPTH, RTC_LOG_DEPTH, RTC_LOG_DEPTH),
	END_ROWS,
};

/*
 * Nodes by their numbers (DPDK, drivers/common/mlx5/mlx5_prm.h: MLX5_GRAPH_ARC_NODE_*): entered from HEAD, MAC, IP, GRE, UDP,
 * MPLS, TCP, VXLAN-GPE, GENEVE, ESP and programmable ones; left to MAC, IP, UDP, TCP and programmable ones. Header lengths and
 * sample offsets are fixed, in a field, or in a bit mask.
 */
#define NODES_IN (UINT32_C(0x7fe) | UINT32_C(1) << 31)
#define NODES_OUT (1u << 2 | 1u << 3 | 1u << 5 | 1u << 7 | UINT32_C(1) << 31)

const struct cap_row caps_parse_graph[] = {
	CAP_ROW(parse_graph_node_cap, node_in, 0, NODES_IN, NODES_IN, NODES_IN),
	CAP_ROW(parse_graph_node_cap, node_out, 0, NODES_OUT, NODES_OUT, NODES_OUT),
	CAP_ROW(parse_graph_node_cap, header_length_mode, 0, 0x7, 0x7, 0x7),
	CAP_ROW(parse_graph_node_cap, sample_offset_mode, 0, 0x7, 0x7, 0x7),
	CAP_ROW(parse_graph_node_cap, max_num_arc_in, 0, 8, 8, 8),
	CAP_ROW(parse_graph_node_cap, max_num_arc_out, 0, 8, 8, 8),
	CAP_ROW(parse_graph_node_cap, max_num_sample, 0, 4, 8, 8),
	CAP_ROW(parse_graph_node_cap, sample_id_in_out, 0, 1, 1, 1),
	CAP_ROW(parse_graph_node_cap, max_base_header_length, 0, 128, 128, 128),
	CAP_ROW(parse_graph_node_cap, max_sample_base_offset, 0, 128, 128, 128),
	CAP_ROW(parse_graph_node_cap, max_next_header_offset, 0, 128, 128, 128),
	CAP_ROW(parse_graph_node_cap, header_length_mask_width, 0, 8, 8, 8),
	END_ROWS,
};

const struct cap_row caps_macsec[] = {
	CAP_ROW(macsec_cap, macsec_epn, 0, 0, 1, 1),
	CAP_ROW(macsec_cap, macsec_crypto_esp_aes_gcm_256_encrypt, 0, 0, 1, 1),
	CAP_ROW(macsec_cap, macsec_crypto_esp_aes_gcm_128_encrypt, 0, 0, 1, 1),
	CAP_ROW(macsec_cap, macsec_crypto_esp_aes_gcm_256_decrypt, 0, 0, 1, 1),
	CAP_ROW(macsec_cap, macsec_crypto_esp_aes_gcm_128_decrypt, 0, 0, 1, 1),
	CAP_ROW(macsec_cap, log_max_macsec_offload, 0, 0, GEN_LOG_MAX, GEN_LOG_MAX),
	END_ROWS,
};

const struct cap_row caps_psp[] = {
	CAP_ROW(psp_cap, psp_crypto_offload, 0, 0, 1, 1),
	CAP_ROW(psp_cap, psp_crypto_esp_aes_gcm_256_encrypt, 0, 0, 1, 1),
	CAP_ROW(psp_cap, psp_crypto_esp_aes_gcm_128_encrypt, 0, 0, 1, 1),
	CAP_ROW(psp_cap, psp_crypto_esp_aes_gcm_256_decrypt, 0, 0, 1, 1),
	CAP_ROW(psp_cap, psp_crypto_esp_aes_gcm_128_decrypt, 0, 0, 1, 1),
	CAP_ROW(psp_cap, log_max_num_of_psp_spi, 0, 0, 31, 31),
	END_ROWS,
};
