/* SPDX-License-Identifier: BSD-2-Clause */
/* Queue pairs: creation, and the state machine. The model has no data path: a queue pair moves nothing. */
#include <string.h>

#include "events.h"
#include "queues.h"

/* st. Linux, include/linux/mlx5/mlx5_ifc.h. */
enum { ST_RC = 0, ST_UC = 1, ST_UD = 2, ST_XRC = 3, ST_DCI = 5, ST_QP1 = 8, ST_REG_UMR = 12 };
#define SERVICES (1u << ST_RC | 1u << ST_UC | 1u << ST_UD | 1u << ST_XRC | 1u << ST_DCI)
#define SERVICES_DRIVER (1u << ST_QP1 | 1u << ST_REG_UMR) /* management packets, and changes of memory keys: a bare device's driver only */
enum { STATE_RST = 0, STATE_INIT = 1, STATE_RTR = 2, STATE_RTS = 3, STATE_SQERR = 4, STATE_ERR = 6 };

/* pm_state after a migration. Linux, include/linux/mlx5/qp.h. */
#define PM_MIGRATED 3u

/* rq_type: a receive queue of its own, one of the SRQ family, or none. Linux, include/linux/mlx5/qp.h. */
enum { RQ_OWN = 0, RQ_SHARED = 1, RQ_NONE = 3 };

#define SQ_BB 64u          /* bytes of a send queue's basic block */
#define RQ_STRIDE_MIN 4    /* log_rq_stride 0 means 16 bytes */

/* opt_param_mask. Linux, include/linux/mlx5/qp.h. */
#define OPT_ALT_PATH (1u << 0)
#define OPT_RRE (1u << 1)
#define OPT_RAE (1u << 2)
#define OPT_RWE (1u << 3)
#define OPT_PKEY (1u << 4)
#define OPT_Q_KEY (1u << 5)
#define OPT_RNR_TIMEOUT (1u << 6)
#define OPT_PRIMARY_PATH (1u << 7)
#define OPT_SRA_MAX (1u << 8)
#define OPT_RRA_MAX (1u << 9)
#define OPT_PM_STATE (1u << 10)
#define OPT_RETRY_COUNT (1u << 12)
#define OPT_RNR_RETRY (1u << 13)
#define OPT_ACK_TIMEOUT (1u << 14)
#define OPT_LAG_AFFINITY (1u << 15)
#define OPT_PORT (1u << 16)
#define OPT_COUNTER_SET (1u << 25)
#define OPT_ACCESS (OPT_RRE | OPT_RAE | OPT_RWE)

/* Its bits 32 and up, in opt_param_mask_95_32. rdma-core, providers/mlx5/mlx5_ifc.h: MLX5_QPC_OPT_MASK_32_*. */
#define OPT32_DCI_CHANNEL 0x1u
#define OPT32_QUEUE_GROUP 0x2u
#define OPT32_UDP_SPORT 0x4u
#define OPT32_MMO 0x8u
#define OPT32_IN_EXT (OPT32_DCI_CHANNEL | OPT32_QUEUE_GROUP | OPT32_MMO) /* whose fields lie in qpc_ext */

/* Links that may change while the queue pair lives: by their place. */
enum { LINK_REQUESTER = 2, LINK_RESPONDER = 3 };

/* What a transition may set. Always: with its opcode. Optional: when opt_param_mask asks for it. */
struct transition {
	uint16_t opcode;
	uint8_t from, to;
	enum syn wrong_state;
	uint32_t always, optional;
	bool path, rtr, rts; /* groups of fields without a bit of their own */
};

static const struct transition transitions[] = {
	{ PRM_OP_RST2INIT_QP, STATE_RST, STATE_INIT, SYN_QP_RST2INIT,
	  OPT_ACCESS | OPT_PKEY | OPT_Q_KEY | OPT_PORT | OPT_PM_STATE | OPT_COUNTER_SET | OPT_LAG_AFFINITY, 0, false, false, false },
	{ PRM_OP_INIT2INIT_QP, STATE_INIT, STATE_INIT, SYN_QP_INIT2INIT,
	  0, OPT_ACCESS | OPT_PKEY | OPT_Q_KEY | OPT_PORT | OPT_COUNTER_SET | OPT_LAG_AFFINITY, false, false, false },
	{ PRM_OP_INIT2RTR_QP, STATE_INIT, STATE_RTR, SYN_QP_INIT2RTR,
	  OPT_PRIMARY_PATH | OPT_RRA_MAX | OPT_RNR_TIMEOUT,
	  OPT_ALT_PATH | OPT_ACCESS | OPT_PKEY | OPT_Q_KEY | OPT_LAG_AFFINITY, true, true, false },
	{ PRM_OP_RTR2RTS_QP, STATE_RTR, STATE_RTS, SYN_QP_RTR2RTS,
	  OPT_SRA_MAX | OPT_RETRY_COUNT | OPT_RNR_RETRY | OPT_ACK_TIMEOUT,
	  OPT_ALT_PATH | OPT_ACCESS | OPT_Q_KEY | OPT_RNR_TIMEOUT | OPT_PM_STATE | OPT_COUNTER_SET, false, false, true },
	{ PRM_OP_RTS2RTS_QP, STATE_RTS, STATE_RTS, SYN_QP_RTS2RTS,
	  0, OPT_ALT_PATH | OPT_ACCESS | OPT_Q_KEY | OPT_RNR_TIMEOUT | OPT_PM_STATE | OPT_COUNTER_SET | OPT_LAG_AFFINITY,
	  false, false, false },
	{ PRM_OP_SQERR2RTS_QP, STATE_SQERR, STATE_RTS, SYN_QP_SQERR2RTS,
	  0, OPT_RWE | OPT_Q_KEY | OPT_RNR_TIMEOUT, false, false, false },
};

static struct prm_box qpc_of(struct qp *qp)
{
	return prm_out(qp->qpc, sizeof(qp->qpc));
}

struct new_qp {
	struct hca_obj *links[QP_LINKS - 1]; /* the q counter comes later */
	uint8_t n;
};

/* The extension behind the qpc of an inbox or outbox; the two lie at the same place. */
static struct prm_box ext_of(struct prm_box *box)
{
	return PRM_SUB(box, rts2rts_qp_in, qpc_data_ext);
}

static bool service_ok(struct hca *h, struct call *c, uint64_t st)
{
	return (SERVICES | (h->cfg.bare && !c->uid ? SERVICES_DRIVER : 0)) >> st & 1;
}

static enum syn context_check(struct hca *h, struct call *c, struct prm_box *qpc)
{
	uint64_t rq_type = PRM_GET(qpc, qpc, rq_type), st = PRM_GET(qpc, qpc, st);
	uint64_t log_channels = PRM_GET(qpc, qpc, log_num_dci_stream_channels);
	struct prm_box ext;

	if (st > ST_REG_UMR || !service_ok(h, c, st))
		return SYN_QP_ST;
	if (rq_type != RQ_OWN && rq_type != RQ_SHARED && rq_type != RQ_NONE)
		return SYN_QP_RQ_TYPE;
	if (PRM_GET(&c->in, create_qp_in, input_qpn))
		return SYN_QP_INPUT_QPN;
	if (log_channels > DCI_LOG_CHANNELS_MAX || (log_channels && st != ST_DCI))
		return SYN_QP_STREAMS;
	if (!PRM_GET(&c->in, create_qp_in, qpc_ext))
		return SYN_OK;
	ext = ext_of(&c->in);
	if (ext.bad)
		return SYN_QP_EXT_LEN;
	return PRM_GET(&ext, qpc_ext, mmo) ? SYN_QP_MMO : SYN_OK;
}

/* A list of pages follows the extension, or stands in its place. */
static uint32_t pages_at(struct prm_box *in)
{
	return PRM_GET(in, create_qp_in, qpc_ext) ? PRM_SZ(create_qp_in) : CTX_BIT_OF(PRM_F_create_qp_in__pas) / 8;
}

/* The work queues lie one behind the other; a queue pair without either needs no memory. */
static enum syn find_places(struct hca *h, struct call *c, struct prm_box *qpc, struct new_qp *new)
{
	bool sq = !PRM_GET(qpc, qpc, no_sq), rq = PRM_GET(qpc, qpc, rq_type) == RQ_OWN;
	uint64_t sq_bytes = SQ_BB << PRM_GET(qpc, qpc, log_sq_size);
	uint64_t rq_bytes = UINT64_C(1) << (PRM_GET(qpc, qpc, log_rq_size) + PRM_GET(qpc, qpc, log_rq_stride) + RQ_STRIDE_MIN);
	const struct queue_part wq = {
		.valid = PRM_GET(&c->in, create_qp_in, wq_umem_valid),
		.id = (uint32_t)PRM_GET(&c->in, create_qp_in, wq_umem_id),
		.offset = PRM_GET(&c->in, create_qp_in, wq_umem_offset),
		.bytes = (sq ? sq_bytes : 0) + (rq ? rq_bytes : 0),
		.not_valid = SYN_QP_UMEM, .range = SYN_QP_RANGE, .read_only = SYN_QP_READ_ONLY,
		.pages = { pages_at(&c->in), (uint8_t)PRM_GET(qpc, qpc, log_page_size), (uint8_t)PRM_GET(qpc, qpc, page_offset),
			   SYN_QP_PAGES, SYN_QP_PAGES, SYN_QP_PAGE_ALIGN },
	};
	const struct queue_part dbr = {
		.valid = PRM_GET(qpc, qpc, dbr_umem_valid),
		.id = (uint32_t)PRM_GET(qpc, qpc, dbr_umem_id),
		.offset = PRM_GET(qpc, qpc, dbr_addr),
		.bytes = DBR_BYTES,
		.not_valid = SYN_QP_DBR_UMEM, .range = SYN_QP_DBR_RANGE, .read_only = SYN_QP_DBR_READ_ONLY,
		.pages = { .unaligned = SYN_QP_DBR_ALIGN },
	};
	enum syn syn;

	if (!sq && !rq)
		return SYN_OK;
	syn = queue_place(h, c, &wq, &new->links[new->n]);
	if (syn != SYN_OK)
		return syn;
	new->n++;
	syn = queue_place(h, c, &dbr, &new->links[new->n]);
	if (syn == SYN_OK)
		new->n++;
	return syn;
}

/* Of an XRC queue pair the packet names the SRQ: it has a domain instead, and an SRQ only if it says so. */
static enum syn find_shared(struct hca *h, struct call *c, struct prm_box *qpc, struct new_qp *new)
{
	uint32_t srqn = (uint32_t)PRM_GET(qpc, qpc, srqn_rmpn_xrqn);
	bool xrc = PRM_GET(qpc, qpc, st) == ST_XRC;
	struct hca_obj *o;

	if (PRM_GET(qpc, qpc, rq_type) == RQ_SHARED && (srqn || !xrc)) {
		o = obj_refer_in_space(h, OBJ_SRQ, srqn, c->uid);
		if (!o)
			return SYN_QP_SRQ;
		new->links[new->n++] = o;
	}
	if (!xrc)
		return SYN_OK;
	o = obj_refer(h, OBJ_XRCD, (uint32_t)PRM_GET(qpc, qpc, xrcd), c->uid);
	if (!o)
		return SYN_XRCD;
	new->links[new->n++] = o;
	return SYN_OK;
}

static enum syn find_parts(struct hca *h, struct call *c, struct prm_box *qpc, struct new_qp *new)
{
	uint32_t pd = (uint32_t)PRM_GET(qpc, qpc, pd);
	struct hca_obj *o = obj_find(h, OBJ_PD, pd, c->uid);
	enum syn syn;

	/* What changes memory keys of all PDs lies in none: so Linux has it (drivers/infiniband/hw/mlx5/qp.c). */
	if (!o && (pd || PRM_GET(qpc, qpc, st) != ST_REG_UMR))
		return SYN_PD;
	new->links[new->n++] = o;
	syn = uar_find(h, c->uid, (uint32_t)PRM_GET(qpc, qpc, uar_page), &new->links[new->n++]);
	if (syn != SYN_OK)
		return syn;
	new->n += 2; /* the queue groups: with a transition */
	if (!PRM_GET(qpc, qpc, no_sq)) {
		o = obj_refer(h, OBJ_CQ, (uint32_t)PRM_GET(qpc, qpc, cqn_snd), c->uid);
		if (!o)
			return SYN_QP_CQ_SND;
		new->links[new->n++] = o;
	}
	if (PRM_GET(qpc, qpc, rq_type) != RQ_NONE) {
		o = obj_refer(h, OBJ_CQ, (uint32_t)PRM_GET(qpc, qpc, cqn_rcv), c->uid);
		if (!o)
			return SYN_QP_CQ_RCV;
		new->links[new->n++] = o;
	}
	syn = find_shared(h, c, qpc, new);
	if (syn != SYN_OK)
		return syn;
	return find_places(h, c, qpc, new);
}

static enum syn create_qp(struct hca *h, struct call *c)
{
	struct prm_box in = PRM_SUB(&c->in, create_qp_in, qpc), qpc;
	struct new_qp new = { .n = 0 };
	struct qp *qp;
	enum syn syn = context_check(h, c, &in);

	if (syn == SYN_OK)
		syn = find_parts(h, c, &in, &new);
	if (syn != SYN_OK)
		return syn;
	qp = (struct qp *)obj_new_range(h, OBJ_QP, c->uid, 0, &syn);
	if (!qp)
		return syn;
	for (unsigned int i = 0; i < new.n; i++)
		obj_link(&qp->obj, new.links[i]);
	qp->n_created_links = new.n;
	qp->st = (uint8_t)PRM_GET(&in, qpc, st);
	PRM_COPY(&c->in, create_qp_in, qpc, qp->qpc);
	qpc = qpc_of(qp);
	PRM_SET(&qpc, qpc, state, STATE_RST);
	/* A q counter comes with a transition, so that only one that exists is ever shown. */
	PRM_SET(&qpc, qpc, counter_set_id, 0);
	memcpy(qp->created, qp->qpc, sizeof(qp->created));
	/* Enhanced connection establishment: the device agrees to all that it is asked for (our choice). */
	qp->ece = qp->created_ece = (uint32_t)PRM_GET(&c->in, create_qp_in, ece);
	PRM_SET(&c->out, create_qp_out, ece, qp->ece);
	PRM_SET(&c->out, create_qp_out, qpn, qp->obj.id);
	return SYN_OK;
}

static uint32_t link_id(const struct qp *qp, unsigned int link)
{
	return qp->obj.links[link] ? qp->obj.links[link]->id : 0;
}

static enum syn query_qp(struct hca *h, struct call *c)
{
	struct prm_box qpc = PRM_SUB(&c->out, query_qp_out, qpc), ext;
	const struct qp *qp = (const struct qp *)c->obj;

	memcpy(qpc.p, qp->qpc, PRM_SZ(qpc));
	PRM_SET(&c->out, query_qp_out, ece, qp->ece);
	if (!PRM_GET(&c->in, query_qp_in, qpc_ext))
		return SYN_OK;
	ext = ext_of(&c->out);
	if (ext.bad)
		return SYN_QP_EXT_OUT;
	PRM_SET(&ext, qpc_ext, dci_stream_channel_id, qp->dci_channel);
	PRM_SET(&ext, qpc_ext, qos_queue_group_id_requester, link_id(qp, LINK_REQUESTER));
	PRM_SET(&ext, qpc_ext, qos_queue_group_id_responder, link_id(qp, LINK_RESPONDER));
	return SYN_OK;
}

static enum syn path_check(const struct transition *t, uint8_t st, struct prm_box *qpc)
{
	struct prm_box path = PRM_SUB(qpc, qpc, primary_address_path);
	uint64_t port = PRM_GET(&path, ads, vhca_port_num), mtu = PRM_GET(qpc, qpc, mtu);

	/* A port of 0 keeps the one that RST2INIT gave. */
	if (port > NUM_PORTS || (!port && t->opcode == PRM_OP_RST2INIT_QP))
		return SYN_QP_PORT;
	if (PRM_GET(&path, ads, pkey_index) >= PKEYS)
		return SYN_QP_PKEY;
	if (t->path && st != ST_UD && PRM_GET(&path, ads, src_addr_index) >= ROCE_ADDRESSES)
		return SYN_QP_GID;
	if (!t->rtr)
		return SYN_OK;
	/* A UD queue pair may leave mtu out. */
	if (mtu > MTU_MAX || (!mtu && st != ST_UD))
		return SYN_QP_MTU;
	if (PRM_GET(qpc, qpc, log_msg_max) > QP_LOG_MSG_MAX)
		return SYN_QP_MSG_MAX;
	return SYN_OK;
}

static enum syn values_check(const struct transition *t, struct qp *qp, struct prm_box *in, uint32_t set)
{
	enum syn syn = SYN_OK;

	if (t->rtr || set & (OPT_PORT | OPT_PKEY))
		syn = path_check(t, qp->st, in);
	if (syn != SYN_OK)
		return syn;
	if (qp->st == ST_RC && set & OPT_RRA_MAX && PRM_GET(in, qpc, log_rra_max) > QP_LOG_RA_MAX)
		return SYN_QP_RRA;
	if (qp->st == ST_RC && set & OPT_SRA_MAX && PRM_GET(in, qpc, log_sra_max) > QP_LOG_RA_MAX)
		return SYN_QP_SRA;
	return SYN_OK;
}

#define COPY(bit, field)                                                                                             \
	do {                                                                                                         \
		if (set & (bit))                                                                                     \
			PRM_SET(to, qpc, field, PRM_GET(in, qpc, field));                                            \
	} while (0)
#define COPY_PATH(bit, field)                                                                                        \
	do {                                                                                                         \
		if (set & (bit))                                                                                     \
			PRM_SET(&to_path, ads, field, PRM_GET(&in_path, ads, field));                                \
	} while (0)

/* The primary path whole, but what RST2INIT gave stays where this one is silent. */
static void copy_path(struct prm_box *to, struct prm_box *in, uint32_t set)
{
	struct prm_box to_path = PRM_SUB(to, qpc, primary_address_path), in_path = PRM_SUB(in, qpc, primary_address_path);
	uint64_t port = PRM_GET(&to_path, ads, vhca_port_num), pkey = PRM_GET(&to_path, ads, pkey_index);

	if (set & OPT_PRIMARY_PATH) {
		prm_copy_defined(prm_layout("ads"), &in_path, 0, PRM_SZ(ads) * 8, to_path.p);
		PRM_SET(&to_path, ads, pkey_index, pkey);
		if (!PRM_GET(&in_path, ads, vhca_port_num))
			PRM_SET(&to_path, ads, vhca_port_num, port);
	}
	COPY_PATH(OPT_PORT, vhca_port_num);
	COPY_PATH(OPT_PKEY, pkey_index);
	COPY_PATH(OPT_ACK_TIMEOUT, ack_timeout);
	if (set & OPT_ALT_PATH) {
		to_path = PRM_SUB(to, qpc, secondary_address_path);
		in_path = PRM_SUB(in, qpc, secondary_address_path);
		prm_copy_defined(prm_layout("ads"), &in_path, 0, PRM_SZ(ads) * 8, to_path.p);
	}
}

static void copy_fields(const struct transition *t, struct prm_box *to, struct prm_box *in, uint32_t set)
{
	copy_path(to, in, set);
	COPY(OPT_RRE, rre);
	COPY(OPT_RAE, rae);
	COPY(OPT_RAE, atomic_mode);
	COPY(OPT_RWE, rwe);
	COPY(OPT_Q_KEY, q_key);
	COPY(OPT_RNR_TIMEOUT, min_rnr_nak);
	COPY(OPT_SRA_MAX, log_sra_max);
	COPY(OPT_RRA_MAX, log_rra_max);
	COPY(OPT_PM_STATE, pm_state);
	COPY(OPT_RETRY_COUNT, retry_count);
	COPY(OPT_RNR_RETRY, rnr_retry);
	COPY(OPT_LAG_AFFINITY, lag_tx_port_affinity);
	COPY(OPT_COUNTER_SET, counter_set_id);
	set = t->rtr ? 1 : 0;
	COPY(1, mtu);
	COPY(1, log_msg_max);
	COPY(1, remote_qpn);
	COPY(1, next_rcv_psn);
	set = t->rts ? 1 : 0;
	COPY(1, next_send_psn);
	COPY(1, log_ack_req_freq);
}
#undef COPY
#undef COPY_PATH

static void link_counter(struct qp *qp, struct hca_obj *counter)
{
	if (qp->obj.n_links > qp->n_created_links)
		obj_unlink_last(&qp->obj);
	if (counter)
		obj_link(&qp->obj, counter);
}

/* What the higher bits of opt_param_mask select. INIT2INIT and RTS2RTS have them; in all other inboxes the bits are reserved. */
struct ext_change {
	uint32_t mask;
	uint16_t channel;
	struct hca_obj *requester, *responder;
};

static enum syn find_group(struct hca *h, struct call *c, uint64_t id, struct hca_obj **group)
{
	*group = id ? queue_group(h, c, (uint32_t)id) : NULL;
	return id && !*group ? SYN_QP_GROUP : SYN_OK;
}

static enum syn ext_check(struct hca *h, struct call *c, struct qp *qp, struct ext_change *change)
{
	struct prm_box qpc = qpc_of(qp), ext;
	enum syn syn;

	*change = (struct ext_change){ .mask = 0 };
	if (c->opcode != PRM_OP_INIT2INIT_QP && c->opcode != PRM_OP_RTS2RTS_QP)
		return SYN_OK;
	change->mask = (uint32_t)PRM_GET(&c->in, rts2rts_qp_in, opt_param_mask_95_32);
	if (!PRM_GET(&c->in, rts2rts_qp_in, qpc_ext))
		return change->mask & OPT32_IN_EXT ? SYN_QP_EXT : SYN_OK;
	ext = ext_of(&c->in);
	if (ext.bad)
		return SYN_QP_EXT_LEN;
	if (change->mask & OPT32_MMO && PRM_GET(&ext, qpc_ext, mmo))
		return SYN_QP_MMO;
	change->channel = (uint16_t)PRM_GET(&ext, qpc_ext, dci_stream_channel_id);
	if (change->mask & OPT32_DCI_CHANNEL &&
	    (qp->st != ST_DCI || change->channel >> PRM_GET(&qpc, qpc, log_num_dci_stream_channels)))
		return SYN_QP_CHANNEL;
	if (!(change->mask & OPT32_QUEUE_GROUP))
		return SYN_OK;
	syn = find_group(h, c, PRM_GET(&ext, qpc_ext, qos_queue_group_id_requester), &change->requester);
	if (syn == SYN_OK)
		syn = find_group(h, c, PRM_GET(&ext, qpc_ext, qos_queue_group_id_responder), &change->responder);
	return syn;
}

static void ext_apply(struct qp *qp, const struct ext_change *change, struct prm_box *to, struct prm_box *in)
{
	struct prm_box to_path = PRM_SUB(to, qpc, primary_address_path), in_path = PRM_SUB(in, qpc, primary_address_path);

	if (change->mask & OPT32_UDP_SPORT)
		PRM_SET(&to_path, ads, udp_sport, PRM_GET(&in_path, ads, udp_sport));
	if (change->mask & OPT32_DCI_CHANNEL)
		qp->dci_channel = change->channel;
	if (change->mask & OPT32_QUEUE_GROUP) {
		obj_relink(&qp->obj, LINK_REQUESTER, change->requester);
		obj_relink(&qp->obj, LINK_RESPONDER, change->responder);
	}
}

/* All inboxes of transitions are alike up to the end of their qpc; and their outboxes, as far as they have an ece. */
static enum syn modify_qp(struct hca *h, struct call *c)
{
	struct qp *qp = (struct qp *)c->obj;
	struct prm_box in = PRM_SUB(&c->in, rst2init_qp_in, qpc), to = qpc_of(qp);
	uint32_t mask = (uint32_t)PRM_GET(&c->in, rst2init_qp_in, opt_param_mask), set, counter_id;
	const struct transition *t = transitions;
	struct hca_obj *counter = NULL;
	struct ext_change ext;
	enum syn syn;

	while (t->opcode != c->opcode)
		t++;
	if (qp->state != t->from)
		return t->wrong_state;
	set = t->always | (mask & t->optional); /* bits that mean nothing in this transition are passed over */
	syn = values_check(t, qp, &in, set);
	if (syn == SYN_OK)
		syn = ext_check(h, c, qp, &ext);
	if (syn != SYN_OK)
		return syn;
	if (set & OPT_COUNTER_SET) {
		counter_id = (uint32_t)PRM_GET(&in, qpc, counter_set_id);
		counter = counter_id ? find_q_counter(h, counter_id, c->uid) : NULL;
		if (counter_id && !counter)
			return SYN_Q_COUNTER;
		link_counter(qp, counter);
	}
	copy_fields(t, &to, &in, set);
	ext_apply(qp, &ext, &to, &in);
	if (c->opcode != PRM_OP_SQERR2RTS_QP) { /* it has no ece; 0 leaves what was agreed on */
		if (PRM_GET(&c->in, rst2init_qp_in, ece))
			qp->ece = (uint32_t)PRM_GET(&c->in, rst2init_qp_in, ece);
		PRM_SET(&c->out, rst2init_qp_out, ece, qp->ece);
	}
	qp->state = t->to;
	PRM_SET(&to, qpc, state, qp->state);
	return SYN_OK;
}

/* From any state. */
static enum syn qp_2err(struct hca *h, struct call *c)
{
	struct qp *qp = (struct qp *)c->obj;
	struct prm_box qpc = qpc_of(qp);

	qp->state = STATE_ERR;
	PRM_SET(&qpc, qpc, state, qp->state);
	return SYN_OK;
}

/* From any state: what transitions set is gone. */
static enum syn qp_2rst(struct hca *h, struct call *c)
{
	struct qp *qp = (struct qp *)c->obj;

	link_counter(qp, NULL);
	obj_relink(&qp->obj, LINK_REQUESTER, NULL);
	obj_relink(&qp->obj, LINK_RESPONDER, NULL);
	qp->dci_channel = 0;
	qp->told_last = false;
	qp->ece = qp->created_ece;
	memcpy(qp->qpc, qp->created, sizeof(qp->qpc));
	qp->state = STATE_RST;
	return SYN_OK;
}

/* Errors take the queue pair to ERR. Nothing happens to one in RST, and one in ERR reports no second error. */
bool qp_event(struct hca_obj *obj, uint8_t event, uint8_t syndrome)
{
	struct qp *qp = (struct qp *)obj;
	struct prm_box qpc = qpc_of(qp);
	bool connected = qp->state == STATE_RTR || qp->state == STATE_RTS || qp->state == STATE_SQERR;

	if (syndrome)
		return false;
	switch (event) {
	case EVENT_COMM_EST: /* a packet arrived before the program moved on from RTR */
		return qp->state == STATE_RTR;
	case EVENT_PATH_MIG_FAILED:
		return connected;
	case EVENT_SRQ_LAST_WQE:
		if (PRM_GET(&qpc, qpc, rq_type) != RQ_SHARED || qp->state != STATE_ERR || qp->told_last)
			return false;
		qp->told_last = true;
		return true;
	case EVENT_PATH_MIG:
		if (connected)
			PRM_SET(&qpc, qpc, pm_state, PM_MIGRATED);
		return connected;
	default:
		if (qp->state == STATE_RST || qp->state == STATE_ERR)
			return false;
		qp->state = STATE_ERR;
		PRM_SET(&qpc, qpc, state, qp->state);
		return true;
	}
}

/* Rows whose layout in the table has an optional extension behind: the shortest box ends with the qpc's part. */
#define QP_IN_MIN PRM_SZ(rst2init_qp_in)
#define QP_ROW(op, in_min, out_min, k, fn)                                                                           \
	{ PRM_OP_##op, in_min, out_min, 0, k, OBJ_QP, OP_PLACE(PRM_F_query_qp_in__qpn), fn, NULL }

const struct hca_op ops_qp[] = {
	{ PRM_OP_CREATE_QP, QP_IN_MIN, PRM_SZ(create_qp_out), 0, OP_PLAIN, OBJ_NONE, 0, 0, create_qp, NULL },
	QP_ROW(QUERY_QP, PRM_SZ(query_qp_in), QP_IN_MIN, OP_ON, query_qp),
	QP_ROW(RST2INIT_QP, QP_IN_MIN, PRM_SZ(rst2init_qp_out), OP_ON, modify_qp),
	QP_ROW(INIT2INIT_QP, QP_IN_MIN, PRM_SZ(init2init_qp_out), OP_ON, modify_qp),
	QP_ROW(INIT2RTR_QP, QP_IN_MIN, PRM_SZ(init2rtr_qp_out), OP_ON, modify_qp),
	QP_ROW(RTR2RTS_QP, QP_IN_MIN, PRM_SZ(rtr2rts_qp_out), OP_ON, modify_qp),
	QP_ROW(RTS2RTS_QP, QP_IN_MIN, PRM_SZ(rts2rts_qp_out), OP_ON, modify_qp),
	QP_ROW(SQERR2RTS_QP, QP_IN_MIN, PRM_SZ(sqerr2rts_qp_out), OP_ON, modify_qp),
	QP_ROW(2ERR_QP, PRM_SZ(qp_2err_in), PRM_SZ(qp_2err_out), OP_ON, qp_2err),
	QP_ROW(2RST_QP, PRM_SZ(qp_2rst_in), PRM_SZ(qp_2rst_out), OP_ON, qp_2rst),
	OP_OBJ_ROW(DESTROY_QP, destroy_qp, OP_DESTROY, OBJ_QP, qpn, NULL),
	{ 0 },
};
