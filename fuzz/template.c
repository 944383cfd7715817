/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "fuzz.h"
#include "template.h"

static void umem(struct prm_box *in, uint64_t mem)
{
	struct prm_box um = PRM_SUB(in, create_umem_in, umem);

	PRM_SET(&um, umem, num_of_mtt, 2);
	for (uint32_t i = 0; i < 2; i++)
		prm_set(in, (PRM_SZ(create_umem_in) + i * PRM_SZ(mtt)) * 8, 64, (mem + i * 4096) | 3);
}

static void mkey(struct prm_box *in, const struct live *l)
{
	struct prm_box mkc = PRM_SUB(in, create_mkey_in, memory_key_mkey_entry);

	PRM_SET(in, create_mkey_in, mkey_umem_valid, 1);
	PRM_SET(in, create_mkey_in, mkey_umem_id, l->umem);
	PRM_SET(&mkc, mkc, access_mode_1_0, 1);
	PRM_SET(&mkc, mkc, lw, 1);
	PRM_SET(&mkc, mkc, lr, 1);
	PRM_SET(&mkc, mkc, mkey_7_0, TEMPLATE_TAG);
	PRM_SET(&mkc, mkc, pd, l->pd);
	PRM_SET(&mkc, mkc, len, 8192);
}

static void cq(struct prm_box *in, const struct live *l)
{
	struct prm_box cqc = PRM_SUB(in, create_cq_in, cq_context);

	PRM_SET(in, create_cq_in, cq_umem_valid, 1);
	PRM_SET(in, create_cq_in, cq_umem_id, l->umem);
	PRM_SET(&cqc, cqc, log_cq_size, 4);
	PRM_SET(&cqc, cqc, c_eqn_or_apu_element, 1);
	PRM_SET(&cqc, cqc, dbr_umem_valid, 1);
	PRM_SET(&cqc, cqc, dbr_umem_id, l->umem);
	PRM_SET(&cqc, cqc, dbr_addr, 1024);
}

static void qp(struct prm_box *in, const struct live *l)
{
	struct prm_box qpc = PRM_SUB(in, create_qp_in, qpc);

	PRM_SET(in, create_qp_in, wq_umem_valid, 1);
	PRM_SET(in, create_qp_in, wq_umem_id, l->umem);
	PRM_SET(&qpc, qpc, pd, l->pd);
	PRM_SET(&qpc, qpc, cqn_snd, l->cqn);
	PRM_SET(&qpc, qpc, cqn_rcv, l->cqn);
	PRM_SET(&qpc, qpc, log_sq_size, 4);
	PRM_SET(&qpc, qpc, log_rq_size, 4);
	PRM_SET(&qpc, qpc, log_rq_stride, 2);
	PRM_SET(&qpc, qpc, dbr_umem_valid, 1);
	PRM_SET(&qpc, qpc, dbr_umem_id, l->umem);
	PRM_SET(&qpc, qpc, dbr_addr, 2048);
}

/* All transitions of a QP that carry a context share its place. */
static void transition(struct prm_box *in, const struct live *l)
{
	struct prm_box qpc = PRM_SUB(in, rst2init_qp_in, qpc), path = PRM_SUB(&qpc, qpc, primary_address_path);

	PRM_SET(in, rst2init_qp_in, qpn, l->qpn);
	PRM_SET(&qpc, qpc, mtu, 3);
	PRM_SET(&qpc, qpc, log_msg_max, 30);
	PRM_SET(&qpc, qpc, retry_count, 7);
	PRM_SET(&qpc, qpc, rnr_retry, 6);
	PRM_SET(&path, ads, vhca_port_num, 1);
	PRM_SET(&path, ads, ack_timeout, 14);
}

static void query_counters(struct prm_box *in, const struct live *l)
{
	PRM_SET(in, query_flow_counter_in, flow_counter_id, l->flow_counter);
	PRM_SET(in, query_flow_counter_in, num_of_counters, 128);
	PRM_SET(in, query_flow_counter_in, dump_to_memory, 1);
	PRM_SET(in, query_flow_counter_in, mkey, (uint64_t)l->mkey << 8 | TEMPLATE_TAG);
}

void template_fill(uint16_t opcode, struct prm_box *in, const struct live *l, uint64_t mem)
{
	switch (opcode) {
	case PRM_OP_CREATE_UMEM:
		umem(in, mem);
		break;
	case PRM_OP_CREATE_MKEY:
		mkey(in, l);
		break;
	case PRM_OP_QUERY_MKEY:
	case PRM_OP_DESTROY_MKEY:
		PRM_SET(in, query_mkey_in, mkey_index, l->mkey);
		break;
	case PRM_OP_CREATE_CQ:
		cq(in, l);
		break;
	case PRM_OP_QUERY_CQ:
	case PRM_OP_MODIFY_CQ:
	case PRM_OP_DESTROY_CQ:
		PRM_SET(in, query_cq_in, cqn, l->cqn);
		break;
	case PRM_OP_CREATE_QP:
		qp(in, l);
		break;
	case PRM_OP_QUERY_QP:
	case PRM_OP_DESTROY_QP:
	case PRM_OP_2ERR_QP:
	case PRM_OP_2RST_QP:
		PRM_SET(in, query_qp_in, qpn, l->qpn);
		break;
	case PRM_OP_RST2INIT_QP:
	case PRM_OP_INIT2INIT_QP:
	case PRM_OP_INIT2RTR_QP:
	case PRM_OP_RTR2RTS_QP:
	case PRM_OP_RTS2RTS_QP:
		transition(in, l);
		break;
	case PRM_OP_QUERY_FLOW_COUNTER:
		query_counters(in, l);
		break;
	case PRM_OP_DEALLOC_FLOW_COUNTER:
		PRM_SET(in, dealloc_flow_counter_in, flow_counter_id, l->flow_counter);
		break;
	case PRM_OP_ALLOC_FLOW_COUNTER:
		PRM_SET(in, alloc_flow_counter_in, flow_counter_bulk, 1);
		break;
	case PRM_OP_QUERY_Q_COUNTER:
		PRM_SET(in, query_q_counter_in, counter_set_id, l->counter_set);
		break;
	case PRM_OP_DEALLOC_Q_COUNTER:
		PRM_SET(in, dealloc_q_counter_in, counter_set_id, l->counter_set);
		break;
	}
	in->bad = false; /* a box too short for its template is one more thing to try */
}

/* The id that the answer holds, in the low bits of its third dword. */
static uint32_t make(struct hca *h, uint16_t opcode, const struct live *l, uint64_t mem)
{
	uint8_t in[4096] = { 0 }, out[64];
	struct prm_box i = prm_out(in, sizeof(in)), o = prm_in(out, sizeof(out));

	prm_set(&i, 0, 16, opcode);
	template_fill(opcode, &i, l, mem);
	hca_execute(h, in, sizeof(in), out, sizeof(out));
	FUZZ_CHECK(!out[0]); /* the templates are right */
	return (uint32_t)prm_get(&o, 64, 32);
}

void template_setup(struct hca *h, struct live *l, uint64_t mem)
{
	memset(l, 0, sizeof(*l));
	l->pd = make(h, PRM_OP_ALLOC_PD, l, mem);
	l->umem = make(h, PRM_OP_CREATE_UMEM, l, mem);
	l->mkey = make(h, PRM_OP_CREATE_MKEY, l, mem);
	l->cqn = make(h, PRM_OP_CREATE_CQ, l, mem);
	l->qpn = make(h, PRM_OP_CREATE_QP, l, mem);
	l->counter_set = make(h, PRM_OP_ALLOC_Q_COUNTER, l, mem);
	l->flow_counter = make(h, PRM_OP_ALLOC_FLOW_COUNTER, l, mem);
}
