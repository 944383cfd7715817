/* SPDX-License-Identifier: BSD-2-Clause */
/* Registers of the port: its state, MTU, speeds, lanes, flow control. */
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
	bool all = !v->legacy_admin && !v->ext_admin;

	PRM_SET(out, ptys_reg, local_port, NUM_PORTS);
	PRM_SET(out, ptys_reg, proto_mask, PRM_GET(in, ptys_reg, proto_mask));
	if (!(PRM_GET(in, ptys_reg, proto_mask) & PROTO_ETHERNET))
		return SYN_OK; /* it is not an InfiniBand port */
	PRM_SET(out, ptys_reg, an_disable_cap, 1);
	PRM_SET(out, ptys_reg, an_disable_admin, v->an_disabled);
	PRM_SET(out, ptys_reg, eth_proto_capability, s->legacy);
	PRM_SET(out, ptys_reg, ext_eth_proto_capability, s->ext);
	PRM_SET(out, ptys_reg, eth_proto_admin, all ? s->legacy : v->legacy_admin);
	PRM_SET(out, ptys_reg, ext_eth_proto_admin, all ? s->ext : v->ext_admin);
	if (!port_is_up(h))
		return SYN_OK;
	PRM_SET(out, ptys_reg, an_status, AN_COMPLETE);
	PRM_SET(out, ptys_reg, eth_proto_oper, s->legacy_oper);
	PRM_SET(out, ptys_reg, ext_eth_proto_oper, s->ext_oper);
	PRM_SET(out, ptys_reg, lane_rate_oper, s->rate);
	PRM_SET(out, ptys_reg, data_rate_oper, s->rate * 4 / 10);
	return SYN_OK;
}

/*
 * What the link may be set to: all (zero) or some of what the device can do. The wire has one speed, so that must be among them
 * (our choice); then nothing of the link changes.
 */
static enum syn write_ptys(struct hca *h, struct prm_box *in)
{
	const struct speed *s = &speeds[h->cfg.profile];
	uint32_t legacy = (uint32_t)PRM_GET(in, ptys_reg, eth_proto_admin), ext = (uint32_t)PRM_GET(in, ptys_reg, ext_eth_proto_admin);

	if (PRM_GET(in, ptys_reg, proto_mask) != PROTO_ETHERNET)
		return SYN_REG_PROTO;
	if (legacy & ~s->legacy || ext & ~s->ext)
		return SYN_REG_SPEED;
	if ((legacy || ext) && !(legacy & s->legacy_oper) && !(ext & s->ext_oper))
		return SYN_REG_WIRE;
	h->vport->legacy_admin = legacy;
	h->vport->ext_admin = ext;
	h->vport->an_disabled = PRM_GET(in, ptys_reg, an_disable_admin);
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

/* Flow control: masks say what of it is meant. It is kept; there is no traffic that could be paused. */
static enum syn read_pfcc(struct hca *h, struct prm_box *in, struct prm_box *out)
{
	struct prm_box now = prm_in(h->vport->pfcc, sizeof(h->vport->pfcc));

	prm_copy(out, 0, &now, 0, PRM_SZ(pfcc_reg) * 8);
	PRM_SET(out, pfcc_reg, local_port, NUM_PORTS);
	return SYN_OK;
}

static enum syn write_pfcc(struct hca *h, struct prm_box *in)
{
	struct prm_box now = prm_out(h->vport->pfcc, sizeof(h->vport->pfcc));
	uint64_t tx = PRM_GET(in, pfcc_reg, prio_mask_tx), rx = PRM_GET(in, pfcc_reg, prio_mask_rx);

	if (!PRM_GET(in, pfcc_reg, pptx_mask_n))
		PRM_SET(&now, pfcc_reg, pptx, PRM_GET(in, pfcc_reg, pptx));
	if (!PRM_GET(in, pfcc_reg, pprx_mask_n))
		PRM_SET(&now, pfcc_reg, pprx, PRM_GET(in, pfcc_reg, pprx));
	if (PRM_GET(in, pfcc_reg, minor_stall_mask))
		PRM_SET(&now, pfcc_reg, device_stall_minor_watermark, PRM_GET(in, pfcc_reg, device_stall_minor_watermark));
	if (PRM_GET(in, pfcc_reg, critical_stall_mask))
		PRM_SET(&now, pfcc_reg, device_stall_critical_watermark, PRM_GET(in, pfcc_reg, device_stall_critical_watermark));
	PRM_SET(&now, pfcc_reg, pfctx, (PRM_GET(in, pfcc_reg, pfctx) & tx) | (PRM_GET(&now, pfcc_reg, pfctx) & ~tx));
	PRM_SET(&now, pfcc_reg, pfcrx, (PRM_GET(in, pfcc_reg, pfcrx) & rx) | (PRM_GET(&now, pfcc_reg, pfcrx) & ~rx));
	return SYN_OK;
}

/* Why the link is down. Linux, drivers/net/ethernet/mellanox/mlxsw/spectrum_ethtool.c names the codes. */
enum { PDDR_TROUBLESHOOTING = 1 };
enum { PDDR_NO_ISSUE = 0, PDDR_CLOSED = 1, PDDR_UNPLUGGED = 1024 };

static enum syn read_pddr(struct hca *h, struct prm_box *in, struct prm_box *out)
{
	struct prm_box page = PRM_SUB(out, pddr_reg, page_data), code = PRM_SUB(&page, pddr_troubleshooting_page, status_opcode);

	if (PRM_GET(in, pddr_reg, page_select) != PDDR_TROUBLESHOOTING)
		return SYN_REG_PAGE;
	PRM_SET(out, pddr_reg, local_port, NUM_PORTS);
	PRM_SET(out, pddr_reg, page_select, PDDR_TROUBLESHOOTING);
	PRM_SET(&code, pddr_monitor_opcode, monitor_opcode,
		h->admin_down ? PDDR_CLOSED : h->port_down ? PDDR_UNPLUGGED : PDDR_NO_ISSUE);
	return SYN_OK;
}

/* The module has no memory to read. Linux, drivers/net/ethernet/mellanox/mlxsw/reg.h: MLXSW_REG_MCIA_STATUS_*. */
#define MCIA_NO_EEPROM 1u

static enum syn read_mcia(struct hca *h, struct prm_box *in, struct prm_box *out)
{
	PRM_SET(out, mcia_reg, module, PRM_GET(in, mcia_reg, module));
	PRM_SET(out, mcia_reg, status, MCIA_NO_EEPROM);
	return SYN_OK;
}

const struct reg regs_port[] = {
	{ REG_PMLP, PRM_SZ(pmlp_reg), true, false, read_pmlp, NULL },
	{ REG_PMTU, PRM_SZ(pmtu_reg), true, true, read_pmtu, write_pmtu },
	{ REG_PTYS, PRM_SZ(ptys_reg), true, false, read_ptys, write_ptys },
	{ REG_PAOS, PRM_SZ(paos_reg), true, true, read_paos, write_paos },
	{ REG_PFCC, PRM_SZ(pfcc_reg), true, false, read_pfcc, write_pfcc },
	{ REG_PDDR, PRM_SZ(pddr_reg), true, false, read_pddr, NULL },
	{ REG_MCIA, PRM_SZ(mcia_reg), false, false, read_mcia, NULL },
	{ REG_PPCNT, PRM_SZ(ppcnt_reg), true, true, read_ppcnt, NULL },
	{ 0 },
};
