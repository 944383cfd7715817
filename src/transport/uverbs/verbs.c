/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the kernel tells verbs of a device: attributes by its commands, tables of a port by sysfs. Facts: <rdma/ib_user_verbs.h>,
 * <rdma/mlx5-abi.h>, and rdma-core's providers/mlx5 for what libmlx5 makes of them. And the functions behind the inlines of
 * <infiniband/verbs.h>: verbs objects other than PDs and MRs are not made here, as on a software device.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <rdma/ib_user_verbs.h>
#include <stdio.h>

#include "no_verbs.h"
#include "prm.h"
#include "uverbs.h"

#define CAP_GENERAL 0x00 /* types of QUERY_HCA_CAP: Linux, include/linux/mlx5/device.h */
#define CAP_ODP 0x02
#define CAP_ATOMIC 0x03
#define CAP_CRYPTO 0x1a

#define FLAGS_BLUEFLAME (1u << 8) /* MLX5DV_CONTEXT_FLAGS_BLUEFLAME of newer headers */
#define CRYPTO_IMPORT_AES (1u << 2) /* MLX5_CRYPTO_CAPS_WRAPPED_IMPORT_METHOD_AES of rdma-core */
#define DMA_MMO_MAX (UINT64_C(1) << 31) /* where the device does not say: rdma-core, providers/mlx5/mlx5.h */

/* QUERY_DEVICE of the second kind, with what the driver adds. */
struct device_resp {
	struct ib_uverbs_ex_query_device_resp core;
	struct mlx5_ib_query_device_resp driver;
};

static int query_base(const struct ibv_context *ibv, struct ib_uverbs_query_device_resp *resp)
{
	struct ib_uverbs_query_device in = { 0 };
	const struct uverbs_verb v = {
		.command = IB_USER_VERBS_CMD_QUERY_DEVICE, .in = &in, .inlen = sizeof(in), .out = resp, .outlen = sizeof(*resp),
	};

	memset(resp, 0, sizeof(*resp));
	return uverbs_verb(ibv, &v);
}

static int query_full(const struct ibv_context *ibv, struct device_resp *resp)
{
	const struct mlx5_ib_alloc_ucontext_resp *c = &uverbs_ctx(ibv)->resp;
	struct ib_uverbs_ex_query_device in = { 0 };
	struct uverbs_verb v = {
		.command = IB_USER_VERBS_EX_CMD_QUERY_DEVICE | IB_USER_VERBS_CMD_FLAG_EXTENDED, .in = &in, .inlen = sizeof(in),
		.out = &resp->core, .outlen = sizeof(resp->core),
	};
	int err;

	memset(resp, 0, sizeof(*resp));
	if (c->cmds_supp_uhw & MLX5_USER_CMDS_SUPP_UHW_QUERY_DEVICE) {
		v.driver_out = &resp->driver;
		v.driver_outlen = sizeof(resp->driver);
	}
	err = uverbs_verb(ibv, &v);
	return err == EOPNOTSUPP ? query_base(ibv, &resp->core.base) : err; /* the rest is unknown: zeros */
}

static void fill_device(const struct ib_uverbs_query_device_resp *r, struct ibv_device_attr *a)
{
	memset(a, 0, sizeof(*a));
	snprintf(a->fw_ver, sizeof(a->fw_ver), "%u.%u.%04u", (unsigned int)(r->fw_ver >> 32 & 0xffff),
		 (unsigned int)(r->fw_ver >> 16 & 0xffff), (unsigned int)(r->fw_ver & 0xffff));
	a->node_guid = r->node_guid;
	a->sys_image_guid = r->sys_image_guid;
	a->max_mr_size = r->max_mr_size;
	a->page_size_cap = r->page_size_cap;
	a->vendor_id = r->vendor_id;
	a->vendor_part_id = r->vendor_part_id;
	a->hw_ver = r->hw_ver;
	a->max_qp = (int)r->max_qp;
	a->max_qp_wr = (int)r->max_qp_wr;
	a->device_cap_flags = r->device_cap_flags;
	a->max_sge = (int)r->max_sge;
	a->max_sge_rd = (int)r->max_sge_rd;
	a->max_cq = (int)r->max_cq;
	a->max_cqe = (int)r->max_cqe;
	a->max_mr = (int)r->max_mr;
	a->max_pd = (int)r->max_pd;
	a->max_qp_rd_atom = (int)r->max_qp_rd_atom;
	a->max_ee_rd_atom = (int)r->max_ee_rd_atom;
	a->max_res_rd_atom = (int)r->max_res_rd_atom;
	a->max_qp_init_rd_atom = (int)r->max_qp_init_rd_atom;
	a->max_ee_init_rd_atom = (int)r->max_ee_init_rd_atom;
	a->atomic_cap = r->atomic_cap;
	a->max_ee = (int)r->max_ee;
	a->max_rdd = (int)r->max_rdd;
	a->max_mw = (int)r->max_mw;
	a->max_raw_ipv6_qp = (int)r->max_raw_ipv6_qp;
	a->max_raw_ethy_qp = (int)r->max_raw_ethy_qp;
	a->max_mcast_grp = (int)r->max_mcast_grp;
	a->max_mcast_qp_attach = (int)r->max_mcast_qp_attach;
	a->max_total_mcast_qp_attach = (int)r->max_total_mcast_qp_attach;
	a->max_ah = (int)r->max_ah;
	a->max_fmr = (int)r->max_fmr;
	a->max_map_per_fmr = (int)r->max_map_per_fmr;
	a->max_srq = (int)r->max_srq;
	a->max_srq_wr = (int)r->max_srq_wr;
	a->max_srq_sge = (int)r->max_srq_sge;
	a->max_pkeys = r->max_pkeys;
	a->local_ca_ack_delay = r->local_ca_ack_delay;
	a->phys_port_cnt = r->phys_port_cnt;
}

int uverbs_query_device(struct ibv_context *ibv, struct ibv_device_attr *attr)
{
	struct ib_uverbs_query_device_resp resp;
	int err = uverbs_check_context(ibv);

	if (!err)
		err = query_base(ibv, &resp);
	if (!err)
		fill_device(&resp, attr);
	return err;
}

struct caps {
	uint8_t out[PRM_SZ(query_hca_cap_out)];
	struct prm_box box;
};

/* The current values; zeros where the device has none of that type. */
static void query_caps(struct ibv_context *ibv, uint16_t type, struct caps *c)
{
	uint8_t in[PRM_SZ(query_hca_cap_in)] = { 0 };
	struct prm_box b = prm_out(in, sizeof(in)), o = prm_in(c->out, sizeof(c->out));

	memset(c->out, 0, sizeof(c->out));
	PRM_SET(&b, query_hca_cap_in, opcode, PRM_OP_QUERY_HCA_CAP);
	PRM_SET(&b, query_hca_cap_in, op_mod, (uint32_t)type << 1 | 1);
	if (uverbs_general_cmd(ibv, in, sizeof(in), c->out, sizeof(c->out)))
		memset(c->out, 0, sizeof(c->out));
	c->box = PRM_SUB(&o, query_hca_cap_out, capability);
}

static void fill_ex(struct ibv_context *ibv, const struct device_resp *r, struct ibv_device_attr_ex *a)
{
	struct caps atomic;

	fill_device(&r->core.base, &a->orig_attr);
	a->odp_caps.general_caps = r->core.odp_caps.general_caps;
	a->odp_caps.per_transport_caps.rc_odp_caps = r->core.odp_caps.per_transport_caps.rc_odp_caps;
	a->odp_caps.per_transport_caps.uc_odp_caps = r->core.odp_caps.per_transport_caps.uc_odp_caps;
	a->odp_caps.per_transport_caps.ud_odp_caps = r->core.odp_caps.per_transport_caps.ud_odp_caps;
	a->completion_timestamp_mask = r->core.timestamp_mask;
	a->hca_core_clock = r->core.hca_core_clock;
	a->device_cap_flags_ex = r->core.device_cap_flags_ex ? r->core.device_cap_flags_ex : a->orig_attr.device_cap_flags;
	a->tso_caps.max_tso = r->driver.tso_caps.max_tso;
	a->tso_caps.supported_qpts = r->driver.tso_caps.supported_qpts;
	a->rss_caps.supported_qpts = r->core.rss_caps.supported_qpts;
	a->rss_caps.max_rwq_indirection_tables = r->core.rss_caps.max_rwq_indirection_tables;
	a->rss_caps.max_rwq_indirection_table_size = r->core.rss_caps.max_rwq_indirection_table_size;
	a->rss_caps.rx_hash_fields_mask = r->driver.rss_caps.rx_hash_fields_mask;
	a->rss_caps.rx_hash_function = r->driver.rss_caps.rx_hash_function;
	a->max_wq_type_rq = r->core.max_wq_type_rq;
	a->packet_pacing_caps.qp_rate_limit_min = r->driver.packet_pacing_caps.qp_rate_limit_min;
	a->packet_pacing_caps.qp_rate_limit_max = r->driver.packet_pacing_caps.qp_rate_limit_max;
	a->packet_pacing_caps.supported_qpts = r->driver.packet_pacing_caps.supported_qpts;
	a->raw_packet_caps = r->core.raw_packet_caps;
	a->tm_caps.max_rndv_hdr_size = r->core.tm_caps.max_rndv_hdr_size;
	a->tm_caps.max_num_tags = r->core.tm_caps.max_num_tags;
	a->tm_caps.flags = r->core.tm_caps.flags;
	a->tm_caps.max_ops = r->core.tm_caps.max_ops;
	a->tm_caps.max_sge = r->core.tm_caps.max_sge;
	a->cq_mod_caps.max_cq_count = r->core.cq_moderation_caps.max_cq_moderation_count;
	a->cq_mod_caps.max_cq_period = r->core.cq_moderation_caps.max_cq_moderation_period;
	a->max_dm_size = r->core.max_dm_size;
	a->xrc_odp_caps = r->core.xrc_odp_caps;
	a->phys_port_cnt_ex = a->orig_attr.phys_port_cnt;
	query_caps(ibv, CAP_ATOMIC, &atomic);
	a->pci_atomic_caps.fetch_add = (uint16_t)PRM_GET(&atomic.box, atomic_caps, fetch_add_pci_atomic);
	a->pci_atomic_caps.swap = (uint16_t)PRM_GET(&atomic.box, atomic_caps, swap_pci_atomic);
	a->pci_atomic_caps.compare_swap = (uint16_t)PRM_GET(&atomic.box, atomic_caps, compare_swap_pci_atomic);
}

static int query_device_ex(struct ibv_context *ibv, const struct ibv_query_device_ex_input *input,
			   struct ibv_device_attr_ex *attr, size_t size)
{
	struct ibv_device_attr_ex full = { .comp_mask = 0 };
	struct device_resp resp;
	int err = uverbs_check_context(ibv);

	if (!err && ((input && input->comp_mask) || size < offsetof(struct ibv_device_attr_ex, odp_caps)))
		err = EINVAL;
	if (!err)
		err = query_full(ibv, &resp);
	if (err)
		return err;
	fill_ex(ibv, &resp, &full);
	/* A program of newer headers has a longer struct: what we do not know is 0. */
	memset(attr, 0, size);
	memcpy(attr, &full, size < sizeof(full) ? size : sizeof(full));
	return 0;
}

static void fill_port(const struct ib_uverbs_query_port_resp *r, struct ibv_port_attr *a)
{
	*a = (struct ibv_port_attr){
		.state = r->state, .max_mtu = r->max_mtu, .active_mtu = r->active_mtu, .gid_tbl_len = (int)r->gid_tbl_len,
		.port_cap_flags = r->port_cap_flags, .max_msg_sz = r->max_msg_sz, .bad_pkey_cntr = r->bad_pkey_cntr,
		.qkey_viol_cntr = r->qkey_viol_cntr, .pkey_tbl_len = r->pkey_tbl_len, .lid = r->lid, .sm_lid = r->sm_lid,
		.lmc = r->lmc, .max_vl_num = r->max_vl_num, .sm_sl = r->sm_sl, .subnet_timeout = r->subnet_timeout,
		.init_type_reply = r->init_type_reply, .active_width = r->active_width, .active_speed = r->active_speed,
		.phys_state = r->phys_state, .link_layer = r->link_layer, .flags = r->flags,
	};
}

/* By the method of its own, which alone tells port_cap_flags2; else as older kernels have it. */
static int query_port_kernel(const struct ibv_context *ibv, uint8_t port, struct ibv_port_attr *attr)
{
	struct ib_uverbs_query_port_resp_ex resp = { 0 };
	struct ib_uverbs_query_port in = { .port_num = port };
	const struct uverbs_verb v = {
		.command = IB_USER_VERBS_CMD_QUERY_PORT, .in = &in, .inlen = sizeof(in),
		.out = &resp.legacy_resp, .outlen = sizeof(resp.legacy_resp),
	};
	UVERBS_CMD(2) cmd;
	int err;

	cmd.attrs[0] = uverbs_const(UVERBS_ATTR_QUERY_PORT_PORT_NUM, port);
	cmd.attrs[1] = uverbs_out(UVERBS_ATTR_QUERY_PORT_RESP, &resp, sizeof(resp));
	err = uverbs_ioctl(ibv->cmd_fd, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT, &cmd.hdr, 2);
	if (err == ENOTTY || err == EPROTONOSUPPORT)
		err = uverbs_verb(ibv, &v);
	if (err)
		return err;
	fill_port(&resp.legacy_resp, attr);
	attr->port_cap_flags2 = resp.port_cap_flags2;
	return 0;
}

int uverbs_query_port(struct ibv_context *ibv, uint8_t port, struct ibv_port_attr *attr, size_t size)
{
	struct ibv_port_attr full;
	int err = uverbs_check_context(ibv);

	if (!err)
		err = query_port_kernel(ibv, port, &full);
	if (err)
		return err;
	memset(attr, 0, size);
	memcpy(attr, &full, size < sizeof(full) ? size : sizeof(full));
	return 0;
}

/* A line of a port's table. No such port or index: EINVAL; a device that went has no tables: EIO, as its commands say. */
static int port_line(const struct ibv_context *ibv, const char *table, uint8_t port, int index, char *line, size_t len)
{
	const struct uverbs_device *dev = uverbs_ctx(ibv)->dev;
	char name[64], other[64];
	int err = uverbs_check_context(ibv);

	if (err)
		return err;
	snprintf(name, sizeof(name), "ports/%u/%s/%d", port, table, index);
	err = uverbs_attribute(dev, name, line, len);
	if (err == ENOENT)
		err = uverbs_attribute(dev, "node_guid", other, sizeof(other)) ? EIO : EINVAL;
	return err;
}

/* Eight groups of four digits, which is an IPv6 address too. Entries that are not set are zero. */
int uverbs_query_gid(struct ibv_context *ibv, uint8_t port, int index, union ibv_gid *gid)
{
	union ibv_gid found;
	char line[64];
	int err = port_line(ibv, "gids", port, index, line, sizeof(line));

	if (!err && inet_pton(AF_INET6, line, found.raw) != 1)
		err = EIO;
	if (!err)
		*gid = found;
	return err;
}

int uverbs_query_pkey(struct ibv_context *ibv, uint8_t port, int index, __be16 *pkey)
{
	unsigned int value;
	char line[16];
	int err = port_line(ibv, "pkeys", port, index, line, sizeof(line));

	if (!err && (sscanf(line, "%x", &value) != 1 || value > UINT16_MAX))
		err = EIO;
	if (!err)
		*pkey = htobe16((uint16_t)value);
	return err;
}

/* --- mlx5dv_query_device: as libmlx5 tells it. */

#define CAP(field) PRM_GET(&c->box, cmd_hca_cap, field)

static struct mlx5dv_sig_caps sig_caps(struct caps *c)
{
	struct mlx5dv_sig_caps s = { 0 };

	if (!CAP(sho) || !CAP(sigerr_domain_and_sig_type))
		return s;
	s.block_prot = MLX5DV_SIG_PROT_CAP_T10DIF | MLX5DV_SIG_PROT_CAP_CRC;
	s.block_size = MLX5DV_BLOCK_SIZE_CAP_512 | MLX5DV_BLOCK_SIZE_CAP_520 | MLX5DV_BLOCK_SIZE_CAP_4096 |
		       MLX5DV_BLOCK_SIZE_CAP_4160 | (CAP(sig_block_4048) ? MLX5DV_BLOCK_SIZE_CAP_4048 : 0);
	s.t10dif_bg = MLX5DV_SIG_T10DIF_BG_CAP_CRC | MLX5DV_SIG_T10DIF_BG_CAP_CSUM;
	s.crc_type = (uint16_t)(MLX5DV_SIG_CRC_TYPE_CAP_CRC32 | (CAP(sig_crc32c) ? MLX5DV_SIG_CRC_TYPE_CAP_CRC32C : 0) |
				(CAP(sig_crc64_xp10) ? MLX5DV_SIG_CRC_TYPE_CAP_CRC64_XP10 : 0));
	return s;
}

static struct mlx5dv_crypto_caps crypto_caps(struct ibv_context *ibv, struct caps *c)
{
	struct mlx5dv_crypto_caps k = { 0 };
	struct caps more;

	if (CAP(aes_xts_single_block_le_tweak))
		k.crypto_engines |= MLX5DV_CRYPTO_ENGINES_CAP_AES_XTS_SINGLE_BLOCK;
	if (CAP(aes_xts_multi_block_be_tweak))
		k.crypto_engines |= MLX5DV_CRYPTO_ENGINES_CAP_AES_XTS_SINGLE_BLOCK | MLX5DV_CRYPTO_ENGINES_CAP_AES_XTS_MULTI_BLOCK;
	if (!CAP(crypto))
		return k;
	query_caps(ibv, CAP_CRYPTO, &more);
	k.flags = MLX5DV_CRYPTO_CAPS_CRYPTO;
	if (PRM_GET(&more.box, crypto_caps, wrapped_crypto_operational))
		k.flags |= MLX5DV_CRYPTO_CAPS_WRAPPED_CRYPTO_OPERATIONAL;
	if (PRM_GET(&more.box, crypto_caps, wrapped_crypto_going_to_commissioning))
		k.flags |= MLX5DV_CRYPTO_CAPS_WRAPPED_CRYPTO_GOING_TO_COMMISSIONING;
	if (PRM_GET(&more.box, crypto_caps, wrapped_import_method) & CRYPTO_IMPORT_AES)
		k.wrapped_import_method = MLX5DV_CRYPTO_WRAPPED_IMPORT_METHOD_CAP_AES_XTS;
	k.log_max_num_deks = (uint8_t)PRM_GET(&more.box, crypto_caps, log_max_num_deks);
	k.failed_selftests = (uint16_t)PRM_GET(&more.box, crypto_caps, failed_selftests);
	return k;
}

static uint32_t dc_odp_caps(struct ibv_context *ibv)
{
	struct caps odp;
	struct prm_box dc;

	query_caps(ibv, CAP_ODP, &odp);
	dc = PRM_SUB(&odp.box, odp_cap, dc_odp_caps);
#define ODP(field, bit) (PRM_GET(&dc, odp_per_transport_service_cap, field) ? (bit) : 0)
	return ODP(send, IBV_ODP_SUPPORT_SEND) | ODP(receive, IBV_ODP_SUPPORT_RECV) | ODP(write, IBV_ODP_SUPPORT_WRITE) |
	       ODP(read, IBV_ODP_SUPPORT_READ) | ODP(atomic, IBV_ODP_SUPPORT_ATOMIC) | ODP(srq_receive, IBV_ODP_SUPPORT_SRQ_RECV);
#undef ODP
}

static uint64_t flags_of(const struct uverbs_context *ctx, const struct mlx5_ib_query_device_resp *r)
{
	const struct {
		bool set;
		uint64_t flag;
	} all[] = {
		{ ctx->resp.cqe_version == 1, MLX5DV_CONTEXT_FLAGS_CQE_V1 },
		{ r->mlx5_ib_support_multi_pkt_send_wqes & MLX5_IB_ALLOW_MPW, MLX5DV_CONTEXT_FLAGS_MPW_ALLOWED },
		{ r->mlx5_ib_support_multi_pkt_send_wqes & MLX5_IB_SUPPORT_EMPW, MLX5DV_CONTEXT_FLAGS_ENHANCED_MPW },
		{ r->flags & MLX5_IB_QUERY_DEV_RESP_FLAGS_CQE_128B_COMP, MLX5DV_CONTEXT_FLAGS_CQE_128B_COMP },
		{ r->flags & MLX5_IB_QUERY_DEV_RESP_FLAGS_CQE_128B_PAD, MLX5DV_CONTEXT_FLAGS_CQE_128B_PAD },
		{ r->flags & MLX5_IB_QUERY_DEV_RESP_PACKET_BASED_CREDIT_MODE, MLX5DV_CONTEXT_FLAGS_PACKET_BASED_CREDIT_MODE },
		{ ctx->resp.comp_mask & MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_REAL_TIME_TS, MLX5DV_CONTEXT_FLAGS_REAL_TIME_TS },
		{ ctx->resp.bf_reg_size, FLAGS_BLUEFLAME },
	};
	uint64_t flags = 0;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		flags |= all[i].set ? all[i].flag : 0;
	return flags;
}

/*
 * What the program asks for in comp_mask is filled in, and comp_mask says what was. Fields of newer headers stay as they are;
 * the pages of clocks are not mapped.
 */
static void fill_mlx5(struct ibv_context *ibv, const struct mlx5_ib_query_device_resp *r, struct mlx5dv_context *a)
{
	const struct uverbs_context *ctx = uverbs_ctx(ibv);
	const uint64_t asked = a->comp_mask;
	uint64_t mmo;
	struct caps general, *c = &general;

	query_caps(ibv, CAP_GENERAL, c);
	a->version = 0;
	a->flags = flags_of(ctx, r);
	a->comp_mask = 0;
#define TELL(bit, field, ...)                                                                                          \
	do {                                                                                                           \
		if (asked & (bit)) {                                                                                   \
			a->field = __VA_ARGS__;                                                                        \
			a->comp_mask |= (bit);                                                                         \
		}                                                                                                      \
	} while (0)
	TELL(MLX5DV_CONTEXT_MASK_CQE_COMPRESION, cqe_comp_caps,
	     (struct mlx5dv_cqe_comp_caps){ r->cqe_comp_caps.max_num, r->cqe_comp_caps.supported_format });
	TELL(MLX5DV_CONTEXT_MASK_SWP, sw_parsing_caps,
	     (struct mlx5dv_sw_parsing_caps){ r->sw_parsing_caps.sw_parsing_offloads, r->sw_parsing_caps.supported_qpts });
	TELL(MLX5DV_CONTEXT_MASK_STRIDING_RQ, striding_rq_caps,
	     (struct mlx5dv_striding_rq_caps){
		     r->striding_rq_caps.min_single_stride_log_num_of_bytes, r->striding_rq_caps.max_single_stride_log_num_of_bytes,
		     r->striding_rq_caps.min_single_wqe_log_num_of_strides, r->striding_rq_caps.max_single_wqe_log_num_of_strides,
		     r->striding_rq_caps.supported_qpts });
	TELL(MLX5DV_CONTEXT_MASK_TUNNEL_OFFLOADS, tunnel_offloads_caps, r->tunnel_offloads_caps);
	TELL(MLX5DV_CONTEXT_MASK_DCI_STREAMS, dci_streams_caps,
	     (struct mlx5dv_dci_streams_caps){ r->dci_streams_caps.max_log_num_concurent, r->dci_streams_caps.max_log_num_errored });
	TELL(MLX5DV_CONTEXT_MASK_DYN_BFREGS, max_dynamic_bfregs, ctx->resp.num_dyn_bfregs);
	TELL(MLX5DV_CONTEXT_MASK_FLOW_ACTION_FLAGS, flow_action_flags, ctx->resp.flow_action_flags);
	TELL(MLX5DV_CONTEXT_MASK_DC_ODP_CAPS, dc_odp_caps, dc_odp_caps(ibv));
	if (CAP(num_lag_ports))
		TELL(MLX5DV_CONTEXT_MASK_NUM_LAG_PORTS, num_lag_ports, (uint8_t)CAP(num_lag_ports));
	TELL(MLX5DV_CONTEXT_MASK_SIGNATURE_OFFLOAD, sig_caps, sig_caps(c));
	mmo = CAP(log_dma_mmo_max_size) ? UINT64_C(1) << CAP(log_dma_mmo_max_size) : DMA_MMO_MAX;
	TELL(MLX5DV_CONTEXT_MASK_WR_MEMCPY_LENGTH, max_wr_memcpy_length, CAP(dma_mmo_sq) || CAP(dma_mmo_qp) ? mmo : 0);
	TELL(MLX5DV_CONTEXT_MASK_CRYPTO_OFFLOAD, crypto_caps, crypto_caps(ibv, c));
#undef TELL
}

int uverbs_query_mlx5(struct ibv_context *ibv, struct mlx5dv_context *attr)
{
	struct device_resp resp;
	int err = uverbs_check_context(ibv);

	if (!err)
		err = query_full(ibv, &resp);
	if (!err)
		fill_mlx5(ibv, &resp.driver, attr);
	return err;
}

void uverbs_verbs_init(struct verbs_context *v)
{
	no_verbs(v);
	v->query_port = uverbs_query_port;
	v->query_device_ex = query_device_ex;
}
