/* SPDX-License-Identifier: BSD-2-Clause */
/* The device as a whole, and the dispatch of one command: every refusal is decided before anything changes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "general.h"
#include "init.h"
#include "model.h"
#include "queues.h"
#include "schedule.h"
#include "steer.h"
#include "types.h"
#include "vport.h"

#define LAST_OF(first, log) ((first) + (1u << (log)) - 1)

/* A busy of SYN_OK: nothing refers to objects of this type. */
const struct obj_class obj_classes[OBJ_N_TYPES] = {
	[OBJ_PD] = { sizeof(struct hca_obj), 0, 1, 0xffffff, SYN_PD, SYN_PD_BUSY, SYN_PD_LIMIT, NULL, OBJ_NONE },
	[OBJ_UMEM] = { sizeof(struct umem), 0, 1, 0xffffff, SYN_UMEM, SYN_UMEM_BUSY, SYN_UMEM_LIMIT, umem_fini, OBJ_NONE },
	[OBJ_MKEY] = { sizeof(struct mkey), 2, MKEY_FIRST, ID24_LAST, SYN_MKEY, SYN_MKEY_BUSY, SYN_MKEY_LIMIT, mkey_fini, OBJ_NONE },
	[OBJ_CQ] = { sizeof(struct cq), CQ_LINKS, CQN_FIRST, ID24_LAST, SYN_CQ, SYN_CQ_BUSY, SYN_CQ_LIMIT, cq_fini, OBJ_NONE },
	[OBJ_QP] = { sizeof(struct qp), QP_LINKS, QPN_FIRST, LAST_OF(QPN_FIRST, QP_LOG_MAX), SYN_QP, SYN_QP_BUSY, SYN_QP_LIMIT, NULL, OBJ_NONE },
	[OBJ_Q_COUNTER] = { sizeof(struct hca_obj), 0, 1, Q_COUNTER_LAST, SYN_Q_COUNTER, SYN_Q_COUNTER_BUSY,
			    SYN_Q_COUNTER_LIMIT, NULL, OBJ_NONE },
	[OBJ_FLOW_COUNTER] = { sizeof(struct flow_counter), 1, FLOW_COUNTER_FIRST, FLOW_COUNTER_LAST, SYN_COUNTER,
			       SYN_COUNTER_BUSY, SYN_COUNTER_LIMIT, flow_counter_fini, OBJ_NONE },

	/* Transport and queues. */
	[OBJ_TD] = { sizeof(struct hca_obj), 0, 1, ID24_LAST, SYN_TD, SYN_TD_BUSY, SYN_TD_LIMIT, NULL, OBJ_NONE },
	[OBJ_TIS] = { CTX_SIZE(tisc), 3, 1, ID24_LAST, SYN_TIS, SYN_TIS_BUSY, SYN_TIS_LIMIT, NULL, OBJ_NONE },
	[OBJ_TIR] = { CTX_SIZE(tirc), 2, TIRN_FIRST, LAST_OF(TIRN_FIRST, TIR_LOG_MAX), SYN_TIR, SYN_TIR_BUSY, SYN_TIR_LIMIT, NULL,
		      OBJ_NONE },
	[OBJ_RQT] = { sizeof(struct rqt), 0, RQTN_FIRST, LAST_OF(RQTN_FIRST, RQT_LOG_MAX), SYN_RQT, SYN_RQT_BUSY, SYN_RQT_LIMIT,
		      NULL, OBJ_NONE },
	[OBJ_SQ] = { CTX_SIZE(sqc), WQ_LINKS + 3, SQN_FIRST, LAST_OF(SQN_FIRST, SQ_LOG_MAX), SYN_SQ, SYN_OK, SYN_SQ_LIMIT, NULL, OBJ_NONE },
	[OBJ_RQ] = { CTX_SIZE(rqc), WQ_LINKS + 2, RQN_FIRST, LAST_OF(RQN_FIRST, RQ_LOG_MAX), SYN_RQ, SYN_RQ_BUSY, SYN_RQ_LIMIT, NULL, OBJ_NONE },
	[OBJ_SRQ] = { CTX_SIZE(srqc), 3, SRQN_FIRST, LAST_OF(SRQN_FIRST, SRQ_LOG_MAX), SYN_SRQ, SYN_SRQ_BUSY, SYN_SRQ_LIMIT, NULL,
		      OBJ_NONE },
	[OBJ_XRC_SRQ] = { CTX_SIZE(xrc_srqc), 4, 0, 0, SYN_XRC_SRQ, SYN_XRC_SRQ_BUSY, SYN_SRQ_LIMIT, NULL, OBJ_SRQ },
	[OBJ_RMP] = { CTX_SIZE(rmpc), WQ_LINKS, 0, 0, SYN_RMP, SYN_RMP_BUSY, SYN_SRQ_LIMIT, NULL, OBJ_SRQ },
	[OBJ_XRQ] = { CTX_SIZE(xrqc) + XRQ_DC_ENTRY, WQ_LINKS + 1, 0, 0, SYN_XRQ, SYN_XRQ_BUSY, SYN_SRQ_LIMIT, NULL, OBJ_SRQ },
	[OBJ_XRCD] = { sizeof(struct hca_obj), 0, 1, LAST_OF(1, XRCD_LOG_MAX), SYN_XRCD, SYN_XRCD_BUSY, SYN_XRCD_LIMIT, NULL, OBJ_NONE },
	[OBJ_DCT] = { CTX_SIZE(dctc), 4, DCTN_FIRST, LAST_OF(DCTN_FIRST, DCT_LOG_MAX), SYN_DCT, SYN_OK, SYN_DCT_LIMIT, NULL, OBJ_NONE },
	[OBJ_MCG] = { sizeof(struct attachment), 1, 1, ID24_LAST, SYN_MCG, SYN_OK, SYN_MCG_LIMIT, NULL, OBJ_NONE },
	[OBJ_PSV] = { sizeof(struct hca_obj), 1, 1, ID24_LAST, SYN_PSV, SYN_OK, SYN_PSV_LIMIT, NULL, OBJ_NONE },

	/* Steering. Entries have ids of their own, which nobody sees. */
	[OBJ_FLOW_TABLE] = { sizeof(struct flow_table), 1, 1, ID24_LAST, SYN_FT, SYN_FT_BUSY, SYN_FT_LIMIT, NULL, OBJ_NONE },
	[OBJ_FLOW_GROUP] = { sizeof(struct flow_group), 1, 1, ID24_LAST, SYN_FG, SYN_FG_BUSY, SYN_FG_LIMIT, flow_group_fini, OBJ_NONE },
	[OBJ_FLOW_ENTRY] = { sizeof(struct flow_entry), 1, 1, ID24_LAST, SYN_FTE, SYN_OK, SYN_FTE_LIMIT, flow_entry_fini, OBJ_NONE },
	[OBJ_REFORMAT] = { sizeof(struct reformat), 0, 1, ID24_LAST, SYN_REFORMAT, SYN_REFORMAT_BUSY, SYN_REFORMAT_LIMIT,
			   reformat_fini, OBJ_NONE },
	[OBJ_MODIFY_HEADER] = { sizeof(struct modify_header), 0, 1, ID24_LAST, SYN_MODIFY_HEADER, SYN_MODIFY_HEADER_BUSY,
				SYN_MODIFY_HEADER_LIMIT, modify_header_fini, OBJ_NONE },
	[OBJ_VXLAN_PORT] = { sizeof(struct hca_obj), 0, 0, 0xffff, SYN_VXLAN_PORT, SYN_OK, SYN_VXLAN_LIMIT, NULL, OBJ_NONE },
	[OBJ_L2_ENTRY] = { sizeof(struct l2_entry), 0, 0, (1u << L2_LOG_ENTRIES) - 1, SYN_L2_ENTRY, SYN_OK, SYN_OK, NULL, OBJ_NONE },

	/* Events and doorbells. */
	[OBJ_UAR] = { sizeof(struct hca_obj), 0, UAR_FIRST, UAR_LAST, SYN_UAR, SYN_UAR_BUSY, SYN_UAR_LIMIT, NULL, OBJ_NONE },
	[OBJ_EQ] = { sizeof(struct eq), 1, EQN_FIRST, EQN_LAST, SYN_EQ, SYN_EQ_BUSY, SYN_EQ_LIMIT, eq_fini, OBJ_NONE },

	/* Quality of service. */
	[OBJ_SCHED] = GEN_CLASS(sched_elem, 1, GEN_LOG_MAX, SYN_SCHED),

	/* General objects. */
	[OBJ_METER] = GEN_CLASS(flow_meter, 1, GEN_LOG_MAX, SYN_GENERAL),
	[OBJ_GENEVE_TLV] = GEN_CLASS(geneve_tlv_option, 0, GEN_LOG_MAX, SYN_GENERAL),
	[OBJ_DEK] = GEN_CLASS(encryption_key_obj, 1, GEN_LOG_MAX, SYN_DEK),
	[OBJ_VIRTIO_NET_Q] = GEN_CLASS(virtio_net_q, 9, GEN_LOG_MAX, SYN_VIRTQ),
	[OBJ_IPSEC] = GEN_CLASS(ipsec_obj, 2, GEN_LOG_MAX, SYN_GENERAL),
	[OBJ_DEFINER] = GEN_CLASS(match_definer, 0, DEFINER_LOG_MAX, SYN_DEFINER),
	[OBJ_VIRTIO_Q_COUNTERS] = GEN_CLASS(virtio_q_counters, 0, GEN_LOG_MAX, SYN_VIRTIO_Q_COUNTERS),
	[OBJ_IMPORT_KEK] = GEN_CLASS(import_kek, 0, GEN_LOG_MAX, SYN_IMPORT_KEK),
	[OBJ_CREDENTIAL] = GEN_CLASS(credential, 0, GEN_LOG_MAX, SYN_CREDENTIAL),
	[OBJ_LOGIN] = GEN_CLASS(crypto_login_obj, 2, LOGIN_LOG_MAX, SYN_GENERAL),
	[OBJ_SAMPLER] = GEN_CLASS(sampler_obj, 2, GEN_LOG_MAX, SYN_GENERAL),
	[OBJ_FLEX_NODE] = GEN_CLASS(parse_graph_flex, 16, GEN_LOG_MAX, SYN_GENERAL),
	[OBJ_MODIFY_ARG] = GEN_CLASS(modify_header_arg, 1, GEN_LOG_MAX, SYN_GENERAL),
	[OBJ_METER_ASO] = GEN_CLASS(flow_meter_aso, 1, GEN_LOG_MAX, SYN_GENERAL),
	[OBJ_HIT_ASO] = GEN_CLASS(flow_hit_aso, 1, GEN_LOG_MAX, SYN_GENERAL),
	[OBJ_MACSEC] = GEN_CLASS(macsec_offload_obj, 2, GEN_LOG_MAX, SYN_GENERAL),
	[OBJ_CONN_TRACK] = GEN_CLASS(conn_track_offload, 1, GEN_LOG_MAX, SYN_GENERAL),
	[OBJ_STC] = GEN_CLASS(stc, 0, GEN_LOG_MAX, SYN_STC),
	[OBJ_RTC] = GEN_CLASS(rtc, 6, GEN_LOG_MAX, SYN_GENERAL),
	[OBJ_STE] = GEN_CLASS(ste, 0, GEN_LOG_MAX, SYN_STE),
	[OBJ_MODIFY_PATTERN] = GEN_CLASS(header_modify_pattern_in, 0, GEN_LOG_MAX, SYN_GENERAL),
	[OBJ_INT_KEK] = GEN_CLASS(int_kek_obj, 1, GEN_LOG_MAX, SYN_GENERAL),
	[OBJ_PCIE_CONG] = GEN_CLASS(pcie_cong_event_obj, 0, GEN_LOG_MAX, SYN_GENERAL),
	[OBJ_AV_QP] = GEN_CLASS(av_qp_mapping, 1, GEN_LOG_MAX, SYN_GENERAL),
	[OBJ_RESERVED_QPN] = { sizeof(struct general) + PRM_SZ(reserved_qpn), 0, 0, 0, SYN_GENERAL, SYN_GENERAL_BUSY, SYN_GENERAL_LIMIT,
			       gen_fini, OBJ_QP },
};

static const struct {
	uint32_t number;
	uint8_t status;
	const char *text;
} syndromes[SYN_COUNT] = {
#define SYNDROME(name, number, status, text) [SYN_##name] = { number, PRM_STAT_##status, text },
#include "syndromes.def"
#undef SYNDROME
};

static const struct hca_op *const op_tables[] = {
	ops_user, ops_flow_counter, ops_caps, ops_mkey, ops_cq, ops_qp, ops_q_counter,
	/* Transport and queues. */
	ops_tis, ops_tir, ops_rq, ops_sq, ops_srq, ops_xrq, ops_dct, ops_mcg, ops_psv, ops_pacing,
	/* Steering. */
	ops_flow_table, ops_flow_entry, ops_reformat, ops_l2,
	/* Events and doorbells. */
	ops_uar, ops_eq, ops_registers,

	/* General objects and commands, quality of service. */
	ops_general, ops_general_flow, ops_scheduling, ops_vport, ops_nic_vport, ops_node, ops_congestion, ops_user_cmds,
};

/* Of a bare device besides. */
static const struct hca_op *const bare_tables[] = { ops_init, ops_pages, ops_access_reg, ops_set_caps };

static const char *const profile_names[HCA_N_PROFILES] = {
	[HCA_CX5] = "cx5", [HCA_CX6DX] = "cx6dx", [HCA_CX7] = "cx7", [HCA_BF3] = "bf3",
};

const char *hca_profile_name(enum hca_profile p)
{
	return profile_names[p];
}

bool hca_syndrome_text(uint32_t syndrome, char *buf, size_t len)
{
	if (HCA_IS_STRICT(syndrome)) {
		uint32_t bit = syndrome & 0xfffff;

		snprintf(buf, len, "strict: bit 0x%x (byte %u, mask 0x%02x) of the inbox is set and not defined", bit, bit / 8,
			 0x80u >> bit % 8);
		return true;
	}
	for (int i = 1; i < SYN_COUNT; i++) {
		if (syndromes[i].number == syndrome) {
			snprintf(buf, len, "%s", syndromes[i].text);
			return true;
		}
	}
	return false;
}

/* splitmix64: small, and the same everywhere. */
uint64_t hca_random(struct hca *h)
{
	uint64_t z = h->rng += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static void add_ops(struct hca *h, const struct hca_op *ops)
{
	for (const struct hca_op *op = ops; op->opcode; op++)
		h->op_of[op->opcode] = op;
}

struct hca *hca_new(const struct hca_config *config, const struct hca_host *ops, void *host)
{
	struct hca *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->cfg = *config;
	h->ops = *ops;
	h->host = host;
	h->rng = config->seed;
	h->sched = sched_new();
	h->user_objs = calloc(UID_MAX + 1, sizeof(*h->user_objs));
	h->steer = steer_new(h);
	h->vport = vport_new(config);
	h->mcgs = mcg_new(config->seed);
	if (config->bare)
		h->init = init_new();
	if (!h->sched || !h->user_objs || !h->steer || !h->vport || !h->mcgs || (config->bare && !h->init)) {
		hca_free(h);
		return NULL;
	}
	h->user_objs[0] = 1; /* the driver's own */
	for (size_t t = 0; t < sizeof(op_tables) / sizeof(op_tables[0]); t++)
		add_ops(h, op_tables[t]);
	for (size_t t = 0; h->init && t < sizeof(bare_tables) / sizeof(bare_tables[0]); t++)
		add_ops(h, bare_tables[t]);
	gen_init(h);
	return h;
}

void hca_free(struct hca *h)
{
	if (!h)
		return;
	obj_tables_free(h);
	sched_free(h->sched);
	free(h->steer);
	vport_free(h->vport);
	mcg_free(h->mcgs);
	free(h->user_objs);
	init_free(h->init);
	free(h);
}

static enum syn find_object(struct hca *h, const struct hca_op *op, struct call *c)
{
	const struct obj_class *class = &obj_classes[op->type];

	c->obj = obj_find(h, op->type, (uint32_t)prm_get(&c->in, op->id_bit, op->id_width), c->uid);
	if (!c->obj)
		return class->missing;
	if (op->kind == OP_DESTROY && c->obj->refs)
		return class->busy;
	return SYN_OK;
}

/* For strict: the first bit of the inbox that is set and not defined, or -1. A general object's context has its type's layout. */
static int64_t undefined_bit(struct hca *h, struct call *c)
{
	const struct prm_layout *layout = prm_inbox_layout(c->opcode), *inner = gen_layout(h, c);
	uint32_t len = inner ? PRM_SZ(general_obj_in_cmd_hdr) : c->in.len;
	int64_t bit = layout ? prm_first_undefined(layout, c->in.p, len) : -1;

	if (bit < 0 && inner) {
		bit = prm_undefined(inner, c->in.p + len, c->in.len - len, 0);
		bit += bit < 0 ? 0 : len * 8;
	}
	return bit;
}

/* What can be refused before any handler runs. */
static enum syn check(struct hca *h, const struct hca_op *op, struct call *c)
{
	enum syn syn;

	if (c->in.len < op->in_min)
		return SYN_IN_LEN;
	if (c->out.len < op->out_min)
		return SYN_OUT_LEN;
	if (op->op_mods != OP_MOD_ANY && c->op_mod > op->op_mods)
		return SYN_OP_MOD;
	if (c->uid > UID_MAX || !h->user_objs[c->uid])
		return SYN_UID;
	if (op->kind == OP_DRIVER && c->uid)
		return SYN_PRIVILEGED;
	syn = h->init ? init_allows(h, c->opcode) : SYN_OK;
	if (syn != SYN_OK)
		return syn;
	if (h->cfg.strict) {
		int64_t bit = undefined_bit(h, c);

		if (bit >= 0) {
			c->syndrome = HCA_STRICT | (uint32_t)bit;
			return SYN_OP_MOD; /* for its status, BAD_PARAM */
		}
	}
	if (op->kind == OP_ON || op->kind == OP_DESTROY)
		return find_object(h, op, c);
	return SYN_OK;
}

#define PREFETCH 16u

/* Three walks, so that each one's loads overlap: inboxes, table entries, objects. */
void hca_prefetch(struct hca *h, const struct hca_cmd *cmds, unsigned int n)
{
	void **entries[PREFETCH];
	const struct hca_cmd *cmd;
	unsigned int i;

	if (n > PREFETCH)
		n = PREFETCH;
	for (cmd = cmds, i = 0; i < n; cmd = cmd->next, i++)
		__builtin_prefetch(cmd->box);
	for (cmd = cmds, i = 0; i < n; cmd = cmd->next, i++) {
		struct prm_box in = prm_in(cmd->box, cmd->inlen);
		uint16_t opcode = (uint16_t)PRM_GET(&in, nop_in, opcode);
		const struct hca_op *op = opcode < 0x1000 ? h->op_of[opcode] : NULL;

		entries[i] = op && op->id_width ?
				     obj_peek(h, op->type, (uint32_t)prm_get(&in, op->id_bit, op->id_width)) : NULL;
		if (entries[i])
			__builtin_prefetch(entries[i]);
	}
	for (i = 0; i < n; i++)
		if (obj_in_entry(entries[i]))
			__builtin_prefetch(*entries[i]);
}

static enum syn execute(struct hca *h, struct call *c)
{
	const struct hca_op *op = c->opcode < 0x1000 ? h->op_of[c->opcode] : NULL;
	enum syn syn;

	if (!op) {
		h->vport->invalid_commands++;
		return SYN_BAD_OP;
	}
	c->op = op;
	syn = check(h, op, c);
	if (syn == SYN_OK && op->handler)
		syn = op->handler(h, c);
	if (syn == SYN_OK && op->kind == OP_DESTROY)
		obj_free(h, c->obj);
	else if (syn == SYN_OK && op->kind == OP_ON) /* it may own other things now than those that it was made of */
		obj_charge(h, c->obj, obj_classes[c->obj->type].size + h->inlen);
	if (h->init)
		pages_watch(h);
	return syn;
}

static void put_status(uint8_t *out, uint32_t outlen, uint8_t status, uint32_t syndrome)
{
	uint8_t hdr[PRM_HDR_SZ] = { 0 };
	struct prm_box b = prm_out(hdr, sizeof(hdr));

	PRM_SET(&b, nop_out, status, status);
	PRM_SET(&b, nop_out, syndrome, syndrome);
	memcpy(out, hdr, outlen < sizeof(hdr) ? outlen : sizeof(hdr));
}

/* in and out may not overlap. out is written whole. */
void hca_run(struct hca *h, const uint8_t *in, uint32_t inlen, uint8_t *out, uint32_t outlen)
{
	struct call c = { .in = prm_in(in, inlen), .out = prm_out(out, outlen) };
	enum syn syn = SYN_IN_LEN;

	h->inlen = inlen;
	memset(out, 0, outlen);
	if (inlen >= PRM_HDR_SZ) {
		c.opcode = (uint16_t)PRM_GET(&c.in, nop_in, opcode);
		c.op_mod = (uint16_t)PRM_GET(&c.in, nop_in, op_mod);
		c.uid = (uint16_t)prm_get(&c.in, 16, 16);
		c.shared = h->init && c.uid == UID_SHARED;
		if (c.shared)
			c.uid = 0;
		syn = execute(h, &c);
	}
	if (syn == SYN_OK)
		return;
	memset(out, 0, outlen);
	put_status(out, outlen, syndromes[syn].status, c.syndrome ? c.syndrome : syndromes[syn].number);
}

void hca_execute(struct hca *h, const void *in, uint32_t inlen, void *out, uint32_t outlen)
{
	hca_run(h, in, inlen, out, outlen);
}

void hca_fail(uint8_t *out, uint32_t outlen, uint8_t status, uint32_t syndrome)
{
	memset(out, 0, outlen);
	put_status(out, outlen, status, syndrome);
}
