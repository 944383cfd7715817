/* SPDX-License-Identifier: BSD-2-Clause */
/* Registers of the port: its state, MTU, speeds, lanes and counters. */
#include <string.h>

#include "context.h"
#include "registers.h"
#include "types.h"
#include "vport.h"

enum { PORT_UP = 1, PORT_DOWN = 2 };

static enum syn read_pmtu(struct hca *h, struct prm_box *in, struct prm_box *out)
{
	PRM_SET(out, pmtu_reg, local_port, NUM_PORTS);
	PRM_SET(out, pmtu_reg, max_mtu, PORT_MTU_MAX);
	PRM_SET(out, pmtu_reg, admin_mtu, h->vport->port_mtu);
	PRM_SET(out, pmtu_reg, oper_mtu, h->vport->port_mtu);
	return SYN_OK;
}

static enum syn write_pmtu(struct hca *h, struct prm_box *in)
{
	uint64_t mtu = PRM_GET(in, pmtu_reg, admin_mtu);

	if (mtu < PORT_MTU_MIN || mtu > PORT_MTU_MAX)
		return SYN_REG_MTU;
	h->vport->port_mtu = (uint16_t)mtu;
	return SYN_OK;
}

static enum syn read_paos(struct hca *h, struct prm_box *in, struct prm_box *out)
{
	PRM_SET(out, paos_reg, local_port, NUM_PORTS);
	PRM_SET(out, paos_reg, admin_status, h->admin_down ? PORT_DOWN : PORT_UP);
	PRM_SET(out, paos_reg, oper_status, port_is_up(h) ? PORT_UP : PORT_DOWN);
	return SYN_OK;
}

static enum syn write_paos(struct hca *h, struct prm_box *in)
{
	uint64_t status = PRM_GET(in, paos_reg, admin_status);

	if (!PRM_GET(in, paos_reg, ase)) /* then the state is not what is meant */
		return SYN_OK;
	if (status != PORT_UP && status != PORT_DOWN)
		return SYN_REG_PAOS;
	port_admin(h, status == PORT_UP);
	return SYN_OK;
}

/* Link modes. Linux, include/linux/mlx5/port.h: enum mlx5e_link_mode and mlx5e_ext_link_mode. */
#define LEGACY_100G (UINT32_C(0xf) << 20) /* four lanes: CR4, SR4, KR4, LR4 */
#define LEGACY_SLOWER (1u << 27 | 1u << 28 | 1u << 29 | 1u << 6 | 1u << 7 | 1u << 12 | 1u << 13 | UINT32_C(3) << 30)
#define EXT_SLOWER (1u << 4 | 1u << 5 | 1u << 6 | 1u << 7 | 1u << 8 | 1u << 9 | 1u << 10)
#define EXT_200G (1u << 12)
#define EXT_400G (1u << 16)
#define PROTO_ETHERNET 4u
#define AN_COMPLETE 1u

/* What the link runs at, as the profile's device would: four lanes of 25, 50 or 100 Gbit/s. Speeds of the device: inferred. */
static const struct speed {
	uint32_t legacy, ext; /* that it can run at */
	uint32_t legacy_oper, ext_oper;
	uint32_t rate;        /* in units of 10 Mbit/s, a lane */
} speeds[HCA_N_PROFILES] = {
	[HCA_CX5] = { LEGACY_100G | LEGACY_SLOWER, 0, 1u << 20, 0, 2500 },
	[HCA_CX6DX] = { LEGACY_100G | LEGACY_SLOWER, EXT_SLOWER | EXT_200G, 0, EXT_200G, 5000 },
	[HCA_CX7] = { LEGACY_100G | LEGACY_SLOWER, EXT_SLOWER | 1u << 11 | EXT_200G | EXT_400G, 0, EXT_400G, 10000 },
	[HCA_BF3] = { LEGACY_100G | LEGACY_SLOWER, EXT_SLOWER | 1u << 11 | EXT_200G | EXT_400G, 0, EXT_400G, 10000 },
};

bool port_has_extended_speeds(const struct hca *h)
{
	return speeds[h->cfg.profile].ext;
}

static enum syn read_ptys(struct hca *h, struct prm_box *in, struct prm_box *out)
{
	const struct speed *s = &speeds[h->cfg.profile];
	const struct vport *v = h->vport;
	bool up = port_is_up(h);

	PRM_SET(out, ptys_reg, local_port, NUM_PORTS);
	PRM_SET(out, ptys_reg, proto_mask, PRM_GET(in, ptys_reg, proto_mask));
	if (!(PRM_GET(in, ptys_reg, proto_mask) & PROTO_ETHERNET))
		return SYN_OK; /* it is not an InfiniBand port */
	PRM_SET(out, ptys_reg, an_disable_cap, 1);
	PRM_SET(out, ptys_reg, an_disable_admin, v->an_disabled);
	PRM_SET(out, ptys_reg, eth_proto_capability, s->legacy);
	PRM_SET(out, ptys_reg, ext_eth_proto_capability, s->ext);
	PRM_SET(out, ptys_reg, eth_proto_admin, v->legacy_off ? 0 : s->legacy);
	PRM_SET(out, ptys_reg, ext_eth_proto_admin, v->ext_admin ? v->ext_admin : s->ext);
	if (!up)
		return SYN_OK;
	PRM_SET(out, ptys_reg, an_status, AN_COMPLETE);
	PRM_SET(out, ptys_reg, eth_proto_oper, s->legacy_oper);
	PRM_SET(out, ptys_reg, ext_eth_proto_oper, s->ext_oper);
	PRM_SET(out, ptys_reg, lane_rate_oper, s->rate);
	PRM_SET(out, ptys_reg, data_rate_oper, s->rate * 4 / 10);
	return SYN_OK;
}

#define LANES 4u

static enum syn read_pmlp(struct hca *h, struct prm_box *in, struct prm_box *out)
{
	PRM_SET(out, pmlp_reg, local_port, NUM_PORTS);
	PRM_SET(out, pmlp_reg, width, LANES);
	for (uint32_t lane = 0; lane < LANES; lane++) /* the module (0) in the low byte, its lane above */
		prm_set(out, CTX_BIT_OF(PRM_F_pmlp_reg__lane0_module_mapping) + lane * 32, 32, lane << 16);
	return SYN_OK;
}

/* Only the group of IEEE 802.3 counters, and of it what comes from the wire. */
static enum syn read_ppcnt(struct hca *h, struct prm_box *in, struct prm_box *out)
{
	struct prm_box set = PRM_SUB(out, ppcnt_reg, counter_set);
	const struct counter *rx = h->vport->rx;
	uint64_t frames = 0, octets = 0;

	if (PRM_GET(in, ppcnt_reg, grp))
		return SYN_REG_GROUP;
	if (PRM_GET(in, ppcnt_reg, clr))
		return SYN_REG_WRITE;
	for (int i = 0; i < RX_KINDS; i++) {
		frames += rx[i].packets;
		octets += rx[i].octets;
	}
	PRM_SET(out, ppcnt_reg, local_port, NUM_PORTS);
	PRM_SET(&set, eth_802_3_cntrs_grp_data_layout, a_frames_received_ok_high, frames >> 32);
	PRM_SET(&set, eth_802_3_cntrs_grp_data_layout, a_frames_received_ok_low, frames & 0xffffffff);
	PRM_SET(&set, eth_802_3_cntrs_grp_data_layout, a_octets_received_ok_high, octets >> 32);
	PRM_SET(&set, eth_802_3_cntrs_grp_data_layout, a_octets_received_ok_low, octets & 0xffffffff);
	PRM_SET(&set, eth_802_3_cntrs_grp_data_layout, a_multicast_frames_received_ok_high, rx[RX_MULTICAST].packets >> 32);
	PRM_SET(&set, eth_802_3_cntrs_grp_data_layout, a_multicast_frames_received_ok_low, rx[RX_MULTICAST].packets & 0xffffffff);
	PRM_SET(&set, eth_802_3_cntrs_grp_data_layout, a_broadcast_frames_received_ok_high, rx[RX_BROADCAST].packets >> 32);
	PRM_SET(&set, eth_802_3_cntrs_grp_data_layout, a_broadcast_frames_received_ok_low, rx[RX_BROADCAST].packets & 0xffffffff);
	return SYN_OK;
}

const struct reg regs_port[] = {
	{ REG_PMLP, PRM_SZ(pmlp_reg), true, false, read_pmlp, NULL },
	{ REG_PMTU, PRM_SZ(pmtu_reg), true, true, read_pmtu, write_pmtu },
	{ REG_PTYS, PRM_SZ(ptys_reg), true, false, read_ptys, NULL },
	{ REG_PAOS, PRM_SZ(paos_reg), true, true, read_paos, write_paos },
	{ REG_PPCNT, PRM_SZ(ppcnt_reg), true, true, read_ppcnt, NULL },
	{ 0 },
};
