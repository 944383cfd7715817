/* SPDX-License-Identifier: BSD-2-Clause */
/* Commands of 0xb00 to 0xcff, which a program may give itself: synchronisation, registers, PSP. */
#include <string.h>

#include "caps.h"
#include "context.h"
#include "vport.h"

/* Steering changes are in force when their command ends, so there is nothing to wait for; the same is true of keys. */
static enum syn sync_steering(struct hca *h, struct call *c)
{
	return SYN_OK;
}

/* crypto_type has a bit for each key purpose whose keys shall be flushed (Linux, lib/crypto.c): IPsec, AES-XTS, MACsec. */
#define CRYPTO_TYPES (1u << 2 | 1u << 3 | 1u << 4)

static enum syn sync_crypto(struct hca *h, struct call *c)
{
	uint64_t types = PRM_GET(&c->in, sync_crypto_in, crypto_type);

	if (!HCA_CAP(h, CRYPTO, crypto_caps, synchronize_dek))
		return SYN_BAD_OP;
	return types && !(types & ~(uint64_t)CRYPTO_TYPES) ? SYN_OK : SYN_CRYPTO_TYPE;
}

/* Registers. Linux, include/linux/mlx5/driver.h: MLX5_REG_*; MTUTC and the crypto one: DPDK, drivers/common/mlx5/mlx5_prm.h. */
enum { REG_PMTU = 0x5003, REG_PAOS = 0x5006, REG_PPCNT = 0x5008, REG_MTUTC = 0x9055, REG_CRYPTO = 0xc002 };
enum { REG_WRITE = 0, REG_READ = 1 };
enum { PORT_UP = 1, PORT_DOWN = 2 };

#define L2_OVERHEAD 22u /* header, VLAN tag and checksum, which the MTU of a port includes */

static enum syn read_pmtu(struct hca *h, struct prm_box *in, struct prm_box *out)
{
	PRM_SET(out, pmtu_reg, local_port, NUM_PORTS);
	PRM_SET(out, pmtu_reg, max_mtu, PORT_MTU_MAX);
	PRM_SET(out, pmtu_reg, admin_mtu, VPORT_MTU + L2_OVERHEAD);
	PRM_SET(out, pmtu_reg, oper_mtu, VPORT_MTU + L2_OVERHEAD);
	return SYN_OK;
}

static enum syn read_paos(struct hca *h, struct prm_box *in, struct prm_box *out)
{
	PRM_SET(out, paos_reg, local_port, NUM_PORTS);
	PRM_SET(out, paos_reg, admin_status, h->port_down ? PORT_DOWN : PORT_UP);
	PRM_SET(out, paos_reg, oper_status, h->port_down ? PORT_DOWN : PORT_UP);
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

/* The clock runs freely, from a time that has no name: no UTC. All fields say so by zeros. */
static enum syn read_mtutc(struct hca *h, struct prm_box *in, struct prm_box *out)
{
	return SYN_OK;
}

/* Whether keys are wrapped. The session's own key and credential stay inside. */
static enum syn read_crypto(struct hca *h, struct prm_box *in, struct prm_box *out)
{
	uint64_t on = HCA_CAP(h, CRYPTO, crypto_caps, wrapped_crypto_operational);

	PRM_SET(out, crypto_operational_register, wrapped_crypto_operational, on);
	return on ? SYN_OK : SYN_REG_ID;
}

static const struct reg {
	uint16_t id, bytes;
	bool has_port;
	enum syn (*read)(struct hca *h, struct prm_box *in, struct prm_box *out);
} regs[] = {
	{ REG_PMTU, PRM_SZ(pmtu_reg), true, read_pmtu },
	{ REG_PAOS, PRM_SZ(paos_reg), true, read_paos },
	{ REG_PPCNT, PRM_SZ(ppcnt_reg), true, read_ppcnt },
	{ REG_MTUTC, PRM_SZ(mtutc_reg), false, read_mtutc },
	{ REG_CRYPTO, PRM_SZ(crypto_operational_register), false, read_crypto },
};

/* The data follow the header on both sides; what an inbox leaves out of them is zero. */
static enum syn access_register_user(struct hca *h, struct call *c)
{
	uint64_t id = PRM_GET(&c->in, access_register_in, register_id);
	struct prm_box in = prm_in(c->in.p + PRM_HDR_SZ, c->in.len - PRM_HDR_SZ), out;
	const struct reg *r = regs;

	while (r < regs + sizeof(regs) / sizeof(regs[0]) && r->id != id)
		r++;
	if (r == regs + sizeof(regs) / sizeof(regs[0]))
		return SYN_REG_ID;
	if (c->op_mod == REG_WRITE)
		return SYN_REG_WRITE;
	if (r->has_port && PRM_GET(&in, pmtu_reg, local_port) > NUM_PORTS)
		return SYN_VPORT_PORT;
	if (c->out.len < PRM_HDR_SZ + r->bytes)
		return SYN_OUT_LEN;
	out = prm_out(c->out.p + PRM_HDR_SZ, r->bytes);
	return r->read(h, &in, &out);
}

_Static_assert(CTX_BIT_OF(PRM_F_pmtu_reg__local_port) == CTX_BIT_OF(PRM_F_paos_reg__local_port) &&
	       CTX_BIT_OF(PRM_F_pmtu_reg__local_port) == CTX_BIT_OF(PRM_F_ppcnt_reg__local_port), "every register has its port here");

/*
 * PSP: the receiver names its keys by SPI. The highest bit of an SPI tells which of two master keys it is derived from;
 * rotating forgets the older and makes a new one. How a key is derived is the device's secret: here a mix of the seed.
 */
#define PSP_PHASE 0x80000000u
enum { PSP_KEY_128, PSP_KEY_256 };

static uint64_t psp_word(const struct hca *h, uint32_t spi, unsigned int i)
{
	uint64_t z = h->cfg.seed + h->vport->psp_keys * UINT64_C(0x9e3779b97f4a7c15) + ((uint64_t)spi << 8 | i);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static enum syn psp_gen_spi(struct hca *h, struct call *c)
{
	uint64_t size = PRM_GET(&c->in, psp_gen_spi_in, key_size), n = PRM_GET(&c->in, psp_gen_spi_in, num_of_spi);
	uint32_t phase = h->vport->psp_keys & 1 ? PSP_PHASE : 0;

	if (!HCA_CAP(h, GENERAL, cmd_hca_cap, psp))
		return SYN_BAD_OP;
	if (size > PSP_KEY_256)
		return SYN_PSP_SIZE;
	if (!n || n * PRM_SZ(key_spi) > c->out.len - PRM_SZ(psp_gen_spi_out))
		return SYN_PSP_NUMBER;
	if (n > (PSP_PHASE - 1) - h->vport->psp_spi)
		return SYN_PSP_LIMIT; /* until the master key is rotated */
	for (uint64_t i = 0; i < n; i++) {
		struct prm_box k = prm_out(c->out.p + PRM_SZ(psp_gen_spi_out) + i * PRM_SZ(key_spi), PRM_SZ(key_spi));
		uint32_t spi = ++h->vport->psp_spi | phase;

		PRM_SET(&k, key_spi, spi, spi);
		for (unsigned int w = 0; w < (size == PSP_KEY_256 ? 4 : 2); w++)
			prm_set(&k, CTX_BIT_OF(PRM_F_key_spi__key) + w * 64, 64, psp_word(h, spi, w));
	}
	PRM_SET(&c->out, psp_gen_spi_out, num_of_spi, n);
	return SYN_OK;
}

static enum syn psp_rotate_key(struct hca *h, struct call *c)
{
	if (!HCA_CAP(h, GENERAL, cmd_hca_cap, psp))
		return SYN_BAD_OP;
	h->vport->psp_keys++;
	h->vport->psp_spi = 0;
	return SYN_OK;
}

const struct hca_op ops_user_cmds[] = {
	OP_ROW(SYNC_STEERING, sync_steering, OP_PLAIN, sync_steering),
	{ PRM_OP_ACCESS_REGISTER_USER, PRM_SZ(access_register_in), PRM_SZ(access_register_out), REG_READ, OP_PLAIN, OBJ_NONE, 0, 0,
	  access_register_user, NULL },
	OP_ROW(SYNC_CRYPTO, sync_crypto, OP_PLAIN, sync_crypto),
	OP_ROW(PSP_GEN_SPI, psp_gen_spi, OP_PLAIN, psp_gen_spi),
	OP_ROW(PSP_ROTATE_KEY, psp_rotate_key, OP_PLAIN, psp_rotate_key),
	{ 0 },
};
