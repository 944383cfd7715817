/* SPDX-License-Identifier: BSD-2-Clause */
/* Access to registers, those that say which registers there are, and those of the device as a whole. */
#include <string.h>

#include "caps.h"
#include "context.h"
#include "registers.h"
#include "types.h"
#include "vport.h"

enum { REG_WRITE = 0, REG_READ = 1 };

static const struct reg *const tables[] = { regs_port, regs_device };

static const struct reg *find(uint64_t id)
{
	for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++)
		for (const struct reg *r = tables[t]; r->id; r++)
			if (r->id == id)
				return r;
	return NULL;
}

/* The data follow the header on both sides; what an inbox leaves out of them is zero. A write shows what is there after it. */
static enum syn use_register(struct hca *h, struct call *c, const struct reg *r)
{
	struct prm_box in = prm_in(c->in.p + PRM_HDR_SZ, c->in.len - PRM_HDR_SZ), out;
	enum syn syn = SYN_OK;

	if (r->has_port && PRM_GET(&in, pmtu_reg, local_port) > NUM_PORTS)
		return SYN_VPORT_PORT;
	if (c->op_mod == REG_READ && c->out.len < PRM_HDR_SZ + r->bytes)
		return SYN_OUT_LEN;
	if (c->op_mod == REG_WRITE)
		syn = r->write ? r->write(h, &in) : SYN_REG_WRITE;
	if (syn != SYN_OK || c->out.len < PRM_HDR_SZ + r->bytes)
		return syn;
	out = prm_out(c->out.p + PRM_HDR_SZ, r->bytes);
	return r->read(h, &in, &out);
}

static enum syn access_register_user(struct hca *h, struct call *c)
{
	const struct reg *r = find(PRM_GET(&c->in, access_register_in, register_id));

	if (!r || !r->user)
		return SYN_REG_ID;
	return c->op_mod == REG_WRITE ? SYN_REG_WRITE : use_register(h, c, r);
}

static enum syn access_reg(struct hca *h, struct call *c)
{
	const struct reg *r = find(PRM_GET(&c->in, access_register_in, register_id));

	return r ? use_register(h, c, r) : SYN_REG_NONE;
}

#define SAME_PORT(layout)                                                                                            \
	_Static_assert(CTX_BIT_OF(PRM_F_pmtu_reg__local_port) == CTX_BIT_OF(PRM_F_##layout##__local_port),           \
		       "every register has its port here")
SAME_PORT(paos_reg);
SAME_PORT(ppcnt_reg);
SAME_PORT(ptys_reg);
SAME_PORT(pmlp_reg);
SAME_PORT(pfcc_reg);
SAME_PORT(pddr_reg);

/* A mask of 128 registers from base on: register base + n is bit n, counted from the last. It says what the tables have. */
static void put_mask(struct prm_box *b, uint16_t base)
{
	for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++)
		for (const struct reg *r = tables[t]; r->id; r++)
			if (r->id >= base && r->id < base + 128)
				prm_set(b, 127u - (r->id - base), 1, 1);
}

/* Port registers: one group of them, and one of features. */
static enum syn read_pcam(struct hca *h, struct prm_box *in, struct prm_box *out)
{
	struct prm_box regs = PRM_SUB(out, pcam_reg, port_access_reg_cap_mask_regs_5000_to_507f);
	struct prm_box features = PRM_SUB(out, pcam_reg, feature_cap_mask_enhanced_features);
	uint64_t group = PRM_GET(in, pcam_reg, access_reg_group), feature = PRM_GET(in, pcam_reg, feature_group);

	PRM_SET(out, pcam_reg, access_reg_group, group);
	PRM_SET(out, pcam_reg, feature_group, feature);
	if (!group)
		put_mask(&regs, 0x5000);
	if (!feature)
		PRM_SET(&features, pcam_enhanced_features, ptys_extended_ethernet, port_has_extended_speeds(h));
	return SYN_OK;
}

/* Management registers. Groups as Linux numbers them: include/linux/mlx5/device.h, MLX5_MCAM_REGS_*. No feature is there. */
static enum syn read_mcam(struct hca *h, struct prm_box *in, struct prm_box *out)
{
	static const uint16_t bases[] = { 0x9000, 0x9080, 0x9100, 0x9180 };
	struct prm_box regs = PRM_SUB(out, mcam_reg, mng_access_reg_cap_mask_access_regs);
	uint64_t group = PRM_GET(in, mcam_reg, access_reg_group);

	PRM_SET(out, mcam_reg, access_reg_group, group);
	PRM_SET(out, mcam_reg, feature_group, PRM_GET(in, mcam_reg, feature_group));
	if (group < sizeof(bases) / sizeof(bases[0]))
		put_mask(&regs, bases[group]);
	return SYN_OK;
}

/* Registers of quality of service. */
static enum syn read_qcam(struct hca *h, struct prm_box *in, struct prm_box *out)
{
	struct prm_box regs = PRM_SUB(out, qcam_reg, qos_access_reg_cap_mask_reg_cap);
	uint64_t group = PRM_GET(in, qcam_reg, access_reg_group);

	PRM_SET(out, qcam_reg, access_reg_group, group);
	PRM_SET(out, qcam_reg, feature_group, PRM_GET(in, qcam_reg, feature_group));
	if (!group)
		put_mask(&regs, 0x4000);
	return SYN_OK;
}

/* Text that the driver gives the node, for a subnet manager. */
static enum syn read_node_desc(struct hca *h, struct prm_box *in, struct prm_box *out)
{
	memcpy(out->p, h->vport->node_desc, NODE_DESC_BYTES);
	return SYN_OK;
}

static enum syn write_node_desc(struct hca *h, struct prm_box *in)
{
	if (in->len < NODE_DESC_BYTES)
		return SYN_IN_LEN;
	memcpy(h->vport->node_desc, in->p, NODE_DESC_BYTES);
	return SYN_OK;
}

/* How the host lays out atomic operands in memory: kept, atomics are not there. */
static enum syn read_host_endianness(struct hca *h, struct prm_box *in, struct prm_box *out)
{
	PRM_SET(out, register_host_endianness, he, h->vport->host_endianness);
	return SYN_OK;
}

static enum syn write_host_endianness(struct hca *h, struct prm_box *in)
{
	h->vport->host_endianness = PRM_GET(in, register_host_endianness, he);
	return SYN_OK;
}

/* The clock runs freely, from a time that has no name: no UTC. All fields say so by zeros. */
static enum syn read_mtutc(struct hca *h, struct prm_box *in, struct prm_box *out)
{
	return SYN_OK;
}

/*
 * How long a driver waits for what, which Linux asks for when the initialization segment has timeouts. Its own values (drivers/net/
 * ethernet/mellanox/mlx5/core/lib/tout.c), in milliseconds: to_multiplier 0.
 */
static enum syn read_dtor(struct hca *h, struct prm_box *in, struct prm_box *out)
{
	static const struct {
		uint32_t bit, width, ms;
	} times[] = {
		{ PRM_F_dtor_reg__pcie_toggle_to, 2000 }, { PRM_F_dtor_reg__health_poll_to, 2000 },
		{ PRM_F_dtor_reg__full_crdump_to, 60000 }, { PRM_F_dtor_reg__fw_reset_to, 60000 },
		{ PRM_F_dtor_reg__flush_on_err_to, 2000 }, { PRM_F_dtor_reg__pci_sync_update_to, 5000 },
		{ PRM_F_dtor_reg__tear_down_to, 3000 }, { PRM_F_dtor_reg__fsm_reactivate_to, 5000 },
		{ PRM_F_dtor_reg__reclaim_pages_to, 5000 }, { PRM_F_dtor_reg__reclaim_vfs_pages_to, 120000 },
		{ PRM_F_dtor_reg__reset_unload_to, 300000 },
	};

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		struct prm_box time = prm_sub(out, times[i].bit, times[i].width);

		PRM_SET(&time, default_timeout, to_value, times[i].ms);
	}
	return SYN_OK;
}

/* Whether keys are wrapped. The session's own key and credential stay inside. */
static enum syn read_crypto(struct hca *h, struct prm_box *in, struct prm_box *out)
{
	uint64_t on = HCA_CAP(h, CRYPTO, crypto_caps, wrapped_crypto_operational);

	PRM_SET(out, crypto_operational_register, wrapped_crypto_operational, on);
	return on ? SYN_OK : SYN_REG_ID;
}

const struct reg regs_device[] = {
	{ REG_QCAM, PRM_SZ(qcam_reg), false, false, read_qcam, NULL },
	{ REG_PCAM, PRM_SZ(pcam_reg), false, false, read_pcam, NULL },
	{ REG_MCAM, PRM_SZ(mcam_reg), false, false, read_mcam, NULL },
	{ REG_NODE_DESC, NODE_DESC_BYTES, false, false, read_node_desc, write_node_desc },
	{ REG_HOST_ENDIANNESS, PRM_SZ(register_host_endianness), false, false, read_host_endianness, write_host_endianness },
	{ REG_MTUTC, PRM_SZ(mtutc_reg), false, true, read_mtutc, NULL },
	{ REG_DTOR, PRM_SZ(dtor_reg), false, false, read_dtor, NULL },
	{ REG_CRYPTO, PRM_SZ(crypto_operational_register), false, true, read_crypto, NULL },
	{ 0 },
};

const struct hca_op ops_registers[] = {
	{ PRM_OP_ACCESS_REGISTER_USER, PRM_SZ(access_register_in), PRM_SZ(access_register_out), REG_READ, OP_PLAIN, OBJ_NONE, 0, 0,
	  access_register_user, NULL },
	{ 0 },
};

/* Of a bare device. */
const struct hca_op ops_access_reg[] = {
	{ PRM_OP_ACCESS_REGISTER, PRM_SZ(access_register_in), PRM_SZ(access_register_out), REG_READ, OP_DRIVER, OBJ_NONE, 0, 0,
	  access_reg, NULL },
	{ 0 },
};
