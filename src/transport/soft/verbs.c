/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The attributes that verbs tell of a software device: what the Linux driver makes of the same capabilities (facts:
 * drivers/infiniband/hw/mlx5/main.c). What verbs of this device cannot make (queues, address handles, memory windows) shows
 * as what the capability says where there is one, else as 0. And the functions behind the inlines of <infiniband/verbs.h>.
 */
#include <endian.h>
#include <errno.h>
#include <opendevx/opendevx.h>
#include <string.h>

#include "device.h"
#include "no_verbs.h"
#include "prm.h"

#define CAP_GENERAL 0x00 /* types of QUERY_HCA_CAP: Linux, include/linux/mlx5/device.h */
#define CAP_ROCE 0x04

#define FLAGS_BLUEFLAME (1u << 8) /* MLX5DV_CONTEXT_FLAGS_BLUEFLAME of newer headers */

#define PORT 1
#define WIDTH_4X 2      /* enum ib_port_width of Linux */
#define SPEED_EDR 32    /* enum ib_port_speed of Linux: 25 Gbit/s a lane */
#define SPEED_NDR 128   /* 100 Gbit/s a lane */
#define PHYS_DISABLED 3 /* enum ib_port_phys_state of Linux */
#define PHYS_LINK_UP 5
#define PORT_CM_SUP (1u << 16)
#define PKEY_DEFAULT 0xffff
#define CORE_CLOCK_MASK UINT64_C(0x7fffffffffffffff)
#define SGE_RD_MAX 30   /* MLX5_MAX_SGE_RD of Linux */
#define SEG 16          /* bytes of a control, remote address and data segment */
#define SQ_DESC_MAX 512

/* As the PCI ids of the real devices (Linux, drivers/net/ethernet/mellanox/mlx5/core/main.c), and the speed of a lane. */
static const struct {
	uint32_t part_id;
	uint8_t speed;
} profiles[HCA_N_PROFILES] = {
	[HCA_CX5] = { 0x1017, SPEED_EDR },
	[HCA_CX6DX] = { 0x101d, SPEED_EDR },
	[HCA_CX7] = { 0x1021, SPEED_NDR },
	[HCA_BF3] = { 0xa2dc, SPEED_NDR },
};

struct caps {
	uint8_t out[PRM_SZ(query_hca_cap_out)];
	struct prm_box box;
};

static int query_caps(struct soft_device *dev, uint16_t type, struct caps *c)
{
	uint8_t in[PRM_SZ(query_hca_cap_in)] = { 0 };
	struct prm_box b = prm_out(in, sizeof(in)), o = prm_in(c->out, sizeof(c->out));
	int err;

	PRM_SET(&b, query_hca_cap_in, opcode, PRM_OP_QUERY_HCA_CAP);
	PRM_SET(&b, query_hca_cap_in, op_mod, type << 1 | 1); /* the current values */
	err = soft_driver_command(dev, in, sizeof(in), c->out, sizeof(c->out));
	c->box = PRM_SUB(&o, query_hca_cap_out, capability);
	return err;
}

#define CAP(field) PRM_GET(&c->box, cmd_hca_cap, field)
#define LOG_CAP(field) (CAP(field) < 31 ? 1 << CAP(field) : INT32_MAX)

static uint32_t query_vendor(struct soft_device *dev)
{
	uint8_t in[PRM_SZ(query_adapter_in)] = { 0 }, out[PRM_SZ(query_adapter_out)] = { 0 };
	struct prm_box b = prm_out(in, sizeof(in)), o = prm_in(out, sizeof(out));
	struct prm_box a = PRM_SUB(&o, query_adapter_out, query_adapter_struct);

	PRM_SET(&b, query_adapter_in, opcode, PRM_OP_QUERY_ADAPTER);
	soft_driver_command(dev, in, sizeof(in), out, sizeof(out));
	return (uint32_t)PRM_GET(&a, query_adapter_param_block, ieee_vendor_id);
}

/* Live, of this process, and the device is there. */
static int check_device(const struct ibv_context *ibv)
{
	int err = soft_check_context(ibv);

	return err ? err : atomic_load(&soft_ctx((struct ibv_context *)ibv)->dev->removed) ? EIO : 0;
}

static unsigned int cap_flags(struct caps *c)
{
	unsigned int flags = IBV_DEVICE_CHANGE_PHY_PORT | IBV_DEVICE_PORT_ACTIVE_EVENT | IBV_DEVICE_SYS_IMAGE_GUID |
			     IBV_DEVICE_RC_RNR_NAK_GEN;

	if (CAP(pkv))
		flags |= IBV_DEVICE_BAD_PKEY_CNTR;
	if (CAP(qkv))
		flags |= IBV_DEVICE_BAD_QKEY_CNTR;
	if (CAP(apm))
		flags |= IBV_DEVICE_AUTO_PATH_MIG;
	if (CAP(xrc))
		flags |= IBV_DEVICE_XRC;
	return flags;
}

static void queue_limits(struct caps *c, struct ibv_device_attr *a)
{
	int rq_sg = (int)(CAP(max_wqe_sz_rq) / SEG);
	int sq_desc = (int)(CAP(max_wqe_sz_sq) < SQ_DESC_MAX ? CAP(max_wqe_sz_sq) : SQ_DESC_MAX);
	int sq_sg = sq_desc > 2 * SEG ? (sq_desc - 2 * SEG) / SEG : 0;

	a->max_sge = rq_sg < sq_sg ? rq_sg : sq_sg;
	a->max_sge_rd = a->max_sge < SGE_RD_MAX ? a->max_sge : SGE_RD_MAX;
	a->max_qp = LOG_CAP(log_max_qp);
	a->max_qp_wr = LOG_CAP(log_max_qp_sz);
	a->max_cq = LOG_CAP(log_max_cq);
	a->max_cqe = LOG_CAP(log_max_cq_sz) - 1;
	a->max_qp_rd_atom = LOG_CAP(log_max_ra_req_qp);
	a->max_qp_init_rd_atom = LOG_CAP(log_max_ra_res_qp);
	a->max_res_rd_atom = a->max_qp_rd_atom * a->max_qp;
	if (CAP(log_max_srq)) {
		a->max_srq = LOG_CAP(log_max_srq);
		a->max_srq_wr = LOG_CAP(log_max_srq_sz) - 1;
		a->max_srq_sge = rq_sg ? rq_sg - 1 : 0;
	}
	if (CAP(log_max_mcg)) {
		a->max_mcast_grp = LOG_CAP(log_max_mcg);
		a->max_mcast_qp_attach = (int)CAP(max_qp_mcg);
		a->max_total_mcast_qp_attach = a->max_mcast_grp * a->max_mcast_qp_attach;
	}
}

static void fill_device(struct soft_device *dev, struct caps *c, struct ibv_device_attr *a)
{
	memset(a, 0, sizeof(*a));
	strcpy(a->fw_ver, OPENDEVX_VERSION);
	a->node_guid = a->sys_image_guid = htobe64(dev->guid);
	a->max_mr_size = UINT64_MAX;
	a->page_size_cap = UINT64_MAX << CAP(log_pg_sz);
	a->vendor_id = query_vendor(dev);
	a->vendor_part_id = profiles[dev->spec.hca.profile].part_id;
	a->device_cap_flags = cap_flags(c);
	a->max_mr = LOG_CAP(log_max_mkey);
	a->max_pd = LOG_CAP(log_max_pd);
	a->atomic_cap = IBV_ATOMIC_NONE;
	a->max_pkeys = (uint16_t)(128 << CAP(pkey_table_size));
	a->local_ca_ack_delay = (uint8_t)CAP(local_ca_ack_delay);
	a->phys_port_cnt = (uint8_t)CAP(num_ports);
	queue_limits(c, a);
}

int soft_query_device(struct ibv_context *ibv, struct ibv_device_attr *attr)
{
	struct soft_device *dev = soft_ctx(ibv)->dev;
	struct caps c;
	int err = check_device(ibv);

	if (!err)
		err = query_caps(dev, CAP_GENERAL, &c);
	if (!err)
		fill_device(dev, &c, attr);
	return err;
}

static int query_device_ex(struct ibv_context *ibv, const struct ibv_query_device_ex_input *input,
			   struct ibv_device_attr_ex *attr, size_t size)
{
	struct soft_device *dev = soft_ctx(ibv)->dev;
	struct ibv_device_attr_ex full = { .comp_mask = 0 };
	struct caps all, *c = &all;
	int err = check_device(ibv);

	if (err)
		return err;
	if ((input && input->comp_mask) || size < offsetof(struct ibv_device_attr_ex, odp_caps))
		return EINVAL;
	err = query_caps(dev, CAP_GENERAL, c);
	if (err)
		return err;
	fill_device(dev, c, &full.orig_attr);
	full.completion_timestamp_mask = CORE_CLOCK_MASK;
	full.hca_core_clock = CAP(device_frequency_khz);
	full.device_cap_flags_ex = full.orig_attr.device_cap_flags;
	full.phys_port_cnt_ex = full.orig_attr.phys_port_cnt;
	/* A program of newer headers has a longer struct: what we do not know is 0. */
	memset(attr, 0, size);
	memcpy(attr, &full, size < sizeof(full) ? size : sizeof(full));
	return 0;
}

static int roce_gids(struct soft_device *dev, int *n)
{
	struct caps all, *c = &all;
	int err = query_caps(dev, CAP_ROCE, c);

	*n = err ? 0 : (int)PRM_GET(&c->box, roce_cap, roce_address_table_size);
	return err;
}

int soft_query_port(struct ibv_context *ibv, uint8_t port, struct ibv_port_attr *attr, size_t size)
{
	struct soft_device *dev = soft_ctx(ibv)->dev;
	struct ibv_port_attr full = {
		.max_mtu = IBV_MTU_4096, .active_mtu = IBV_MTU_1024, /* as with a netdev MTU of 1500 */
		.port_cap_flags = PORT_CM_SUP, .pkey_tbl_len = 1, .max_vl_num = 1,
		.active_width = WIDTH_4X, .active_speed = profiles[dev->spec.hca.profile].speed,
		.link_layer = IBV_LINK_LAYER_ETHERNET,
	};
	struct caps all, *c = &all;
	int err = check_device(ibv);
	bool up;

	if (!err && port != PORT)
		err = EINVAL;
	if (!err)
		err = query_caps(dev, CAP_GENERAL, c);
	if (err)
		return err;
	pthread_mutex_lock(&dev->model);
	up = hca_port_up(dev->hca, port);
	pthread_mutex_unlock(&dev->model);
	full.state = up ? IBV_PORT_ACTIVE : IBV_PORT_DOWN;
	full.phys_state = up ? PHYS_LINK_UP : PHYS_DISABLED;
	full.max_msg_sz = 1u << CAP(log_max_msg);
	err = roce_gids(dev, &full.gid_tbl_len);
	if (err)
		return err;
	memset(attr, 0, size);
	memcpy(attr, &full, size < sizeof(full) ? size : sizeof(full));
	return 0;
}

/* A GID is the address of the RoCE table's entry; entries that are not set are zero. */
int soft_query_gid(struct ibv_context *ibv, uint8_t port, int index, union ibv_gid *gid)
{
	uint8_t in[PRM_SZ(query_roce_address_in)] = { 0 }, out[PRM_SZ(query_roce_address_out)];
	struct prm_box b = prm_out(in, sizeof(in)), o = prm_in(out, sizeof(out));
	struct soft_device *dev = soft_ctx(ibv)->dev;
	int err = check_device(ibv), n;

	if (!err)
		err = roce_gids(dev, &n);
	if (!err && (port != PORT || index < 0 || index >= n))
		err = EINVAL;
	if (err)
		return err;
	PRM_SET(&b, query_roce_address_in, opcode, PRM_OP_QUERY_ROCE_ADDRESS);
	PRM_SET(&b, query_roce_address_in, roce_address_index, (uint32_t)index);
	err = soft_driver_command(dev, in, sizeof(in), out, sizeof(out));
	if (!err)
		memcpy(gid, PRM_SUB(&o, query_roce_address_out, roce_address).p, sizeof(*gid)); /* source_l3_address */
	return err;
}

int soft_query_pkey(struct ibv_context *ibv, uint8_t port, int index, __be16 *pkey)
{
	int err = check_device(ibv);

	if (!err && (port != PORT || index))
		err = EINVAL;
	if (!err)
		*pkey = htobe16(PKEY_DEFAULT);
	return err;
}

/*
 * As libmlx5: what the program asks for in comp_mask is filled in, and comp_mask says what was. Fields of newer headers
 * stay as they are.
 */
int soft_query_mlx5(struct ibv_context *ibv, struct mlx5dv_context *attr)
{
	uint64_t asked = attr->comp_mask;
	struct caps all, *c = &all;
	int err = check_device(ibv);

	if (!err)
		err = query_caps(soft_ctx(ibv)->dev, CAP_GENERAL, c);
	if (err)
		return err;
	attr->version = 0;
	attr->flags = (CAP(cqe_version) ? MLX5DV_CONTEXT_FLAGS_CQE_V1 : 0) |
		      (CAP(log_bf_reg_size) ? FLAGS_BLUEFLAME : 0);
	attr->comp_mask = 0;
	/* Offloads that the device has not: told, as zeros. The clock page and LAG are not there at all. */
#define NONE(bit, field)                                                                                             \
	do {                                                                                                         \
		if (asked & (bit)) {                                                                                 \
			memset(&attr->field, 0, sizeof(attr->field));                                                \
			attr->comp_mask |= (bit);                                                                    \
		}                                                                                                    \
	} while (0)
	NONE(MLX5DV_CONTEXT_MASK_CQE_COMPRESION, cqe_comp_caps);
	NONE(MLX5DV_CONTEXT_MASK_SWP, sw_parsing_caps);
	NONE(MLX5DV_CONTEXT_MASK_STRIDING_RQ, striding_rq_caps);
	NONE(MLX5DV_CONTEXT_MASK_TUNNEL_OFFLOADS, tunnel_offloads_caps);
	NONE(MLX5DV_CONTEXT_MASK_DYN_BFREGS, max_dynamic_bfregs); /* of the kind before UAR objects */
	NONE(MLX5DV_CONTEXT_MASK_FLOW_ACTION_FLAGS, flow_action_flags);
	NONE(MLX5DV_CONTEXT_MASK_DC_ODP_CAPS, dc_odp_caps);
	NONE(MLX5DV_CONTEXT_MASK_SIGNATURE_OFFLOAD, sig_caps);
	NONE(MLX5DV_CONTEXT_MASK_DCI_STREAMS, dci_streams_caps);
	NONE(MLX5DV_CONTEXT_MASK_WR_MEMCPY_LENGTH, max_wr_memcpy_length);
	NONE(MLX5DV_CONTEXT_MASK_CRYPTO_OFFLOAD, crypto_caps);
#undef NONE
	return 0;
}

void soft_verbs_init(struct verbs_context *v)
{
	no_verbs(v);
	v->query_port = soft_query_port;
	v->query_device_ex = query_device_ex;
}
