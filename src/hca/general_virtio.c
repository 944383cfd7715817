/* SPDX-License-Identifier: BSD-2-Clause */
/* General objects around queues: virtio net queues and their counters, what QPs are for; and the PCIe congestion event. */
#include "caps.h"
#include "events.h"
#include "general.h"
#include "types.h"

/* DPDK, drivers/common/mlx5/mlx5_prm.h: MLX5_VIRTQ_STATE_*, MLX5_VIRTQ_MODIFY_TYPE_*, MLX5_VIRTQ_EVENT_MODE_*. */
enum { INIT, RDY, SUSPENDED, ERR };
enum { SPLIT, PACKED };
enum { NO_MSIX, BY_QP, BY_MSIX };
enum {
	STATE = 0x1,
	DIRTY_PARAMS = 0x8,
	DIRTY_ENABLE = 0x10,
	PERIOD = 0x20,
	ADDR = 0x40,
	AVAIL_INDEX = 0x80,
	USED_INDEX = 0x100,
	Q_TYPE = 0x200,
	VERSION_1_0 = 0x400,
	Q_MKEY = 0x800,
	FEATURES = 0x1000,
	EVENT_MODE = 0x2000,
};

#define RUNNING_MAY (STATE | DIRTY_PARAMS | DIRTY_ENABLE | PERIOD)

#define VQ(field) CTX_PLACE(virtio_net_q, field)
#define CTX(field) CTX_NESTED(virtio_net_q, virtio_q_context, virtio_q, field)

static const struct gen_field net_q[] = {
	REF(OBJ_PD, CTX(pd)),
	KEY(CTX(virtio_q_mkey)),
	OPT_REF(OBJ_TIS, VQ(tisn_or_qpn)),
	OPT_REF(OBJ_VIRTIO_Q_COUNTERS, CTX(counter_set_id)),
	OPT_KEY(VQ(dirty_bitmap_mkey)),
	RO(CTX(error_type)),
	MAX(PACKED, SYN_VIRTQ_TYPE, CTX(virtio_q_type)),
	MAX(BY_MSIX, SYN_VIRTQ_EVENT_MODE, CTX(event_mode)),
	MAX(0, SYN_VIRTQ_EMULATION, CTX(full_emulation)),
	MODIFY(STATE, VQ(state)),
	MODIFY(DIRTY_PARAMS, VQ(dirty_bitmap_mkey)),
	MODIFY(DIRTY_PARAMS, VQ(dirty_bitmap_size)),
	MODIFY(DIRTY_PARAMS, VQ(dirty_bitmap_addr)),
	MODIFY(DIRTY_PARAMS, VQ(vhost_log_page)),
	MODIFY(DIRTY_ENABLE, VQ(dirty_bitmap_dump_enable)),
	MODIFY(PERIOD, CTX(queue_period_mode)),
	MODIFY(PERIOD, CTX(queue_period_us)),
	MODIFY(PERIOD, CTX(queue_max_count)),
	MODIFY(ADDR, CTX(desc_addr)),
	MODIFY(ADDR, CTX(used_addr)),
	MODIFY(ADDR, CTX(available_addr)),
	MODIFY(AVAIL_INDEX, VQ(hw_available_index)),
	MODIFY(USED_INDEX, VQ(hw_used_index)),
	MODIFY(Q_TYPE, CTX(virtio_q_type)),
	MODIFY(VERSION_1_0, CTX(virtio_version_1_0)),
	MODIFY(Q_MKEY, CTX(virtio_q_mkey)),
	MODIFY(FEATURES, VQ(tso_ipv4)),
	MODIFY(FEATURES, VQ(tso_ipv6)),
	MODIFY(FEATURES, VQ(tx_csum)),
	MODIFY(FEATURES, VQ(rx_csum)),
	MODIFY(EVENT_MODE, CTX(event_mode)),
	MODIFY(EVENT_MODE, CTX(event_qpn_or_msix)),
	FIELDS_END,
};

/*
 * From where to where (Linux, drivers/vdpa/mlx5/net/mlx5_vnet.c, is_valid_state_change): a suspended queue runs again only
 * where the device can thaw it. No program sets ERR.
 */
static enum syn check_state(struct gen_change *c)
{
	uint64_t from, to = PRM_GET(&c->next, virtio_net_q, state);

	if (c->create)
		return to == INIT ? SYN_OK : SYN_VIRTQ_CREATE_STATE;
	from = PRM_GET(&c->now, virtio_net_q, state);
	if (c->select & ~(uint64_t)RUNNING_MAY && from != INIT && from != SUSPENDED)
		return SYN_VIRTQ_RUNNING;
	if (!(c->select & STATE) || (from == INIT && to == RDY) || (from == RDY && to == SUSPENDED))
		return SYN_OK;
	if (from == SUSPENDED && to == RDY)
		return HCA_CAP(c->h, VIRTIO, virtio_emulation_cap, freeze_to_rdy_supported) ? SYN_OK : SYN_VIRTQ_THAW;
	return SYN_VIRTQ_STATE;
}

/* One of the three umems of the device's own use: its least size is a line over the queue's size. */
static enum syn check_umem(struct gen_change *c, uint64_t id, uint64_t offset, uint64_t size, uint64_t least)
{
	struct hca_obj *umem = umem_find(c->h, (uint32_t)id, c->uid);

	if (!umem)
		return SYN_UMEM;
	if (size < least)
		return SYN_VIRTQ_UMEM_SIZE;
	if (offset > umem_size(umem) || size > umem_size(umem) - offset)
		return SYN_VIRTQ_UMEM_RANGE;
	gen_refer(c, umem);
	return SYN_OK;
}

#define CHECK_UMEM(c, q, n, entries)                                                                                 \
	check_umem(c, PRM_GET(q, virtio_q, umem_##n##_id), PRM_GET(q, virtio_q, umem_##n##_offset),                  \
		   PRM_GET(q, virtio_q, umem_##n##_size),                                                            \
		   HCA_CAP((c)->h, VIRTIO, virtio_emulation_cap, umem_##n##_buffer_param_a) * (entries) +            \
		   HCA_CAP((c)->h, VIRTIO, virtio_emulation_cap, umem_##n##_buffer_param_b))

static enum syn check_net_q(struct gen_change *c)
{
	struct prm_box q = PRM_SUB(&c->next, virtio_net_q, virtio_q_context);
	uint64_t entries = PRM_GET(&q, virtio_q, queue_size);
	enum syn syn = check_state(c);

	if (syn == SYN_OK && (!entries || entries & (entries - 1)))
		syn = SYN_VIRTQ_SIZE;
	if (syn == SYN_OK)
		syn = CHECK_UMEM(c, &q, 1, entries);
	if (syn == SYN_OK)
		syn = CHECK_UMEM(c, &q, 2, entries);
	if (syn == SYN_OK)
		syn = CHECK_UMEM(c, &q, 3, entries);
	if (syn == SYN_OK && PRM_GET(&q, virtio_q, event_mode) == BY_QP) {
		struct hca_obj *qp = obj_find(c->h, OBJ_QP, (uint32_t)PRM_GET(&q, virtio_q, event_qpn_or_msix), c->uid);

		if (!qp)
			return SYN_QP;
		gen_refer(c, qp);
	}
	return syn;
}

/* Nothing moves through the queues of this model: they count nothing, whatever a create says. */
static const struct gen_field counters[] = {
	RO(CTX_PLACE(virtio_q_counters, received_desc)),
	RO(CTX_PLACE(virtio_q_counters, completed_desc)),
	RO(CTX_PLACE(virtio_q_counters, error_cqes)),
	RO(CTX_PLACE(virtio_q_counters, bad_desc_errors)),
	RO(CTX_PLACE(virtio_q_counters, exceed_max_chain)),
	RO(CTX_PLACE(virtio_q_counters, invalid_buffer)),
	FIELDS_END,
};

/* Linux, include/linux/mlx5/mlx5_ifc.h: MLX5_PCIE_CONG_EVENT_MOD_*. The bus of this model is congested when an event says so. */
enum { EVENT_EN = 0x1, THRESHOLDS = 0x4 };

#define CONG(field) CTX_PLACE(pcie_cong_event_obj, field)

static const struct gen_field pcie_cong[] = {
	RO(CONG(inbound_cong_state)),
	RO(CONG(outbound_cong_state)),
	MODIFY(EVENT_EN, CONG(inbound_event_en)),
	MODIFY(EVENT_EN, CONG(outbound_event_en)),
	MODIFY(THRESHOLDS, CONG(inbound_cong_low_threshold)),
	MODIFY(THRESHOLDS, CONG(inbound_cong_high_threshold)),
	MODIFY(THRESHOLDS, CONG(outbound_cong_low_threshold)),
	MODIFY(THRESHOLDS, CONG(outbound_cong_high_threshold)),
	FIELDS_END,
};

static enum syn check_pcie_cong(struct gen_change *c)
{
	struct prm_box *n = &c->next;

	if (PRM_GET(n, pcie_cong_event_obj, inbound_cong_low_threshold) >
		    PRM_GET(n, pcie_cong_event_obj, inbound_cong_high_threshold) ||
	    PRM_GET(n, pcie_cong_event_obj, outbound_cong_low_threshold) >
		    PRM_GET(n, pcie_cong_event_obj, outbound_cong_high_threshold))
		return SYN_PCIE_CONG_THRESHOLD;
	return SYN_OK;
}

/* Where a QP sends to, set apart from it (rdma-core, mlx5dv_map_ah_to_qp()). */
static const struct gen_field av_qp[] = { REF(OBJ_QP, CTX_PLACE(av_qp_mapping, qpn)), FIELDS_END };

/* QPNs that no QP gets: of the same numbers (rdma-core, mlx5dv_reserved_qpn_alloc()). The context has no fields. */
static const struct gen_field reserved_qpn[] = { FIELDS_END };

/* Only the device itself takes a queue to ERR, and only one that runs. */
bool virtq_event(struct hca_obj *obj, uint8_t event, uint8_t syndrome)
{
	struct prm_box ctx = prm_out(((struct general *)obj)->contexts, PRM_SZ(virtio_net_q));

	if (syndrome || PRM_GET(&ctx, virtio_net_q, state) != RDY)
		return false;
	PRM_SET(&ctx, virtio_net_q, state, ERR);
	return true;
}

/* Linux, drivers/net/ethernet/mellanox/mlx5/core/en/pcie_cong_event.c. */
#define CONG_HIGH 7u

/* now: which directions are congested from now on, bit 0 inbound, bit 1 outbound; those whose event is enabled change. */
bool pcie_cong_event(struct hca_obj *obj, uint8_t event, uint8_t now)
{
	struct prm_box ctx = prm_out(((struct general *)obj)->contexts, PRM_SZ(pcie_cong_event_obj));
	uint64_t in = PRM_GET(&ctx, pcie_cong_event_obj, inbound_cong_state);
	uint64_t out = PRM_GET(&ctx, pcie_cong_event_obj, outbound_cong_state);
	uint64_t new_in = now & 1 ? CONG_HIGH : 0, new_out = now & 2 ? CONG_HIGH : 0;

	if (!PRM_GET(&ctx, pcie_cong_event_obj, inbound_event_en))
		new_in = in;
	if (!PRM_GET(&ctx, pcie_cong_event_obj, outbound_event_en))
		new_out = out;
	if (now > 3 || (new_in == in && new_out == out))
		return false;
	PRM_SET(&ctx, pcie_cong_event_obj, inbound_cong_state, new_in);
	PRM_SET(&ctx, pcie_cong_event_obj, outbound_cong_state, new_out);
	return true;
}

/* Which profiles: virtio offload begins with ConnectX-6 Dx (DPDK, doc/guides/vdpadevs/mlx5.rst); the others are inferred. */
const struct gen_type gen_virtio[] = {
	{ .type = 0x0d, .obj = OBJ_VIRTIO_NET_Q, .profiles = CX6DX | CX7 | BF3, GEN_LAYOUT(virtio_net_q), .fields = net_q,
	  .check = check_net_q },
	{ .type = 0x1c, .obj = OBJ_VIRTIO_Q_COUNTERS, .profiles = CX6DX | CX7 | BF3, GEN_LAYOUT(virtio_q_counters),
	  .fields = counters },
	{ .type = 0x58, .obj = OBJ_PCIE_CONG, .profiles = CX7 | BF3, GEN_LAYOUT(pcie_cong_event_obj), .fields = pcie_cong,
	  .check = check_pcie_cong },
	{ .type = 0x3a, .obj = OBJ_AV_QP, .profiles = CX7 | BF3, GEN_LAYOUT(av_qp_mapping), .fields = av_qp },
	{ .type = 0x2c, .obj = OBJ_RESERVED_QPN, .profiles = CX6DX | CX7 | BF3, .log_range = GEN_LOG_RANGE,
	  GEN_LAYOUT(reserved_qpn), .no_select = true, .fields = reserved_qpn },
	{ .obj = OBJ_NONE },
};
