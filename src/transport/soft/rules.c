/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "prm.h"
#include "rules.h"

enum { CREATE = 1, MODIFY = 2, QUERY = 4 };

/* Where an inbox keeps the id of its object. Bits from the start of the inbox. */
enum place { AT_DW2_24, AT_DW2_32, AT_DW7_32, AT_DW7_8 };

static const struct {
	uint16_t bit, width;
} places[] = {
	[AT_DW2_24] = { 72, 24 },
	[AT_DW2_32] = { 64, 32 },
	[AT_DW7_32] = { 224, 32 },
	[AT_DW7_8] = { 248, 8 },
};

/* other: the destroying opcode of a create, the creating one of a query or modify. */
static const struct rule {
	uint16_t opcode, other;
	uint8_t what, place;
} rules[] = {
	{ PRM_OP_CREATE_GENERAL_OBJECT, PRM_OP_DESTROY_GENERAL_OBJECT, CREATE, AT_DW2_32 },
	{ PRM_OP_CREATE_MKEY, PRM_OP_DESTROY_MKEY, CREATE, AT_DW2_24 },
	{ PRM_OP_CREATE_CQ, PRM_OP_DESTROY_CQ, CREATE, AT_DW2_24 },
	{ PRM_OP_ALLOC_PD, PRM_OP_DEALLOC_PD, CREATE, AT_DW2_24 },
	{ PRM_OP_ALLOC_TRANSPORT_DOMAIN, PRM_OP_DEALLOC_TRANSPORT_DOMAIN, CREATE, AT_DW2_24 },
	{ PRM_OP_CREATE_RMP, PRM_OP_DESTROY_RMP, CREATE, AT_DW2_24 },
	{ PRM_OP_CREATE_SQ, PRM_OP_DESTROY_SQ, CREATE, AT_DW2_24 },
	{ PRM_OP_CREATE_RQ, PRM_OP_DESTROY_RQ, CREATE, AT_DW2_24 },
	{ PRM_OP_CREATE_RQT, PRM_OP_DESTROY_RQT, CREATE, AT_DW2_24 },
	{ PRM_OP_CREATE_TIR, PRM_OP_DESTROY_TIR, CREATE, AT_DW2_24 },
	{ PRM_OP_CREATE_TIS, PRM_OP_DESTROY_TIS, CREATE, AT_DW2_24 },
	{ PRM_OP_ALLOC_Q_COUNTER, PRM_OP_DEALLOC_Q_COUNTER, CREATE, AT_DW2_24 },
	{ PRM_OP_CREATE_FLOW_TABLE, PRM_OP_DESTROY_FLOW_TABLE, CREATE, AT_DW2_24 },
	{ PRM_OP_CREATE_FLOW_GROUP, PRM_OP_DESTROY_FLOW_GROUP, CREATE, AT_DW2_24 },
	{ PRM_OP_SET_FLOW_TABLE_ENTRY, PRM_OP_DELETE_FLOW_TABLE_ENTRY, CREATE, AT_DW2_24 },
	{ PRM_OP_ALLOC_FLOW_COUNTER, PRM_OP_DEALLOC_FLOW_COUNTER, CREATE, AT_DW2_32 },
	{ PRM_OP_ALLOC_PACKET_REFORMAT_CONTEXT, PRM_OP_DEALLOC_PACKET_REFORMAT_CONTEXT, CREATE, AT_DW2_32 },
	{ PRM_OP_ALLOC_MODIFY_HEADER_CONTEXT, PRM_OP_DEALLOC_MODIFY_HEADER_CONTEXT, CREATE, AT_DW2_32 },
	{ PRM_OP_CREATE_SCHEDULING_ELEMENT, PRM_OP_DESTROY_SCHEDULING_ELEMENT, CREATE, AT_DW2_24 },
	{ PRM_OP_ADD_VXLAN_UDP_DPORT, PRM_OP_DELETE_VXLAN_UDP_DPORT, CREATE, AT_DW2_24 },
	{ PRM_OP_SET_L2_TABLE_ENTRY, PRM_OP_DELETE_L2_TABLE_ENTRY, CREATE, AT_DW2_24 },
	{ PRM_OP_CREATE_QP, PRM_OP_DESTROY_QP, CREATE, AT_DW2_24 },
	{ PRM_OP_CREATE_SRQ, PRM_OP_DESTROY_SRQ, CREATE, AT_DW2_24 },
	{ PRM_OP_CREATE_XRC_SRQ, PRM_OP_DESTROY_XRC_SRQ, CREATE, AT_DW2_24 },
	{ PRM_OP_CREATE_DCT, PRM_OP_DESTROY_DCT, CREATE, AT_DW2_24 },
	{ PRM_OP_CREATE_XRQ, PRM_OP_DESTROY_XRQ, CREATE, AT_DW2_24 },
	{ PRM_OP_ATTACH_TO_MCG, PRM_OP_DETACH_FROM_MCG, CREATE, AT_DW2_24 },
	{ PRM_OP_ALLOC_XRCD, PRM_OP_DEALLOC_XRCD, CREATE, AT_DW2_24 },
	{ PRM_OP_CREATE_PSV, PRM_OP_DESTROY_PSV, CREATE, AT_DW2_24 },

	{ PRM_OP_MODIFY_GENERAL_OBJECT, PRM_OP_CREATE_GENERAL_OBJECT, MODIFY, AT_DW2_32 },
	{ PRM_OP_MODIFY_CQ, PRM_OP_CREATE_CQ, MODIFY, AT_DW2_24 },
	{ PRM_OP_MODIFY_RMP, PRM_OP_CREATE_RMP, MODIFY, AT_DW2_24 },
	{ PRM_OP_MODIFY_SQ, PRM_OP_CREATE_SQ, MODIFY, AT_DW2_24 },
	{ PRM_OP_MODIFY_RQ, PRM_OP_CREATE_RQ, MODIFY, AT_DW2_24 },
	{ PRM_OP_MODIFY_RQT, PRM_OP_CREATE_RQT, MODIFY, AT_DW2_24 },
	{ PRM_OP_MODIFY_TIR, PRM_OP_CREATE_TIR, MODIFY, AT_DW2_24 },
	{ PRM_OP_MODIFY_TIS, PRM_OP_CREATE_TIS, MODIFY, AT_DW2_24 },
	{ PRM_OP_MODIFY_FLOW_TABLE, PRM_OP_CREATE_FLOW_TABLE, MODIFY, AT_DW2_24 },
	{ PRM_OP_MODIFY_SCHEDULING_ELEMENT, PRM_OP_CREATE_SCHEDULING_ELEMENT, MODIFY, AT_DW2_24 },
	{ PRM_OP_RST2INIT_QP, PRM_OP_CREATE_QP, MODIFY, AT_DW2_24 },
	{ PRM_OP_INIT2RTR_QP, PRM_OP_CREATE_QP, MODIFY, AT_DW2_24 },
	{ PRM_OP_RTR2RTS_QP, PRM_OP_CREATE_QP, MODIFY, AT_DW2_24 },
	{ PRM_OP_RTS2RTS_QP, PRM_OP_CREATE_QP, MODIFY, AT_DW2_24 },
	{ PRM_OP_SQERR2RTS_QP, PRM_OP_CREATE_QP, MODIFY, AT_DW2_24 },
	{ PRM_OP_2ERR_QP, PRM_OP_CREATE_QP, MODIFY, AT_DW2_24 },
	{ PRM_OP_2RST_QP, PRM_OP_CREATE_QP, MODIFY, AT_DW2_24 },
	{ PRM_OP_INIT2INIT_QP, PRM_OP_CREATE_QP, MODIFY, AT_DW2_24 },
	{ PRM_OP_ARM_XRC_SRQ, PRM_OP_CREATE_XRC_SRQ, MODIFY, AT_DW2_24 },
	{ PRM_OP_ARM_RQ, PRM_OP_CREATE_SRQ, MODIFY, AT_DW2_24 },
	{ PRM_OP_ARM_DCT_FOR_KEY_VIOLATION, PRM_OP_CREATE_DCT, MODIFY, AT_DW2_24 },
	{ PRM_OP_ARM_XRQ, PRM_OP_CREATE_XRQ, MODIFY, AT_DW2_24 },
	{ PRM_OP_SET_XRQ_DC_PARAMS_ENTRY, PRM_OP_CREATE_XRQ, MODIFY, AT_DW2_24 },
	{ PRM_OP_RELEASE_XRQ_ERROR, PRM_OP_CREATE_XRQ, MODIFY, AT_DW2_24 },
	{ PRM_OP_MODIFY_XRQ, PRM_OP_CREATE_XRQ, MODIFY, AT_DW2_24 },

	{ PRM_OP_QUERY_GENERAL_OBJECT, PRM_OP_CREATE_GENERAL_OBJECT, QUERY, AT_DW2_32 },
	{ PRM_OP_QUERY_MKEY, PRM_OP_CREATE_MKEY, QUERY, AT_DW2_24 },
	{ PRM_OP_QUERY_CQ, PRM_OP_CREATE_CQ, QUERY, AT_DW2_24 },
	{ PRM_OP_QUERY_RMP, PRM_OP_CREATE_RMP, QUERY, AT_DW2_24 },
	{ PRM_OP_QUERY_SQ, PRM_OP_CREATE_SQ, QUERY, AT_DW2_24 },
	{ PRM_OP_QUERY_RQ, PRM_OP_CREATE_RQ, QUERY, AT_DW2_24 },
	{ PRM_OP_QUERY_RQT, PRM_OP_CREATE_RQT, QUERY, AT_DW2_24 },
	{ PRM_OP_QUERY_TIR, PRM_OP_CREATE_TIR, QUERY, AT_DW2_24 },
	{ PRM_OP_QUERY_TIS, PRM_OP_CREATE_TIS, QUERY, AT_DW2_24 },
	{ PRM_OP_QUERY_Q_COUNTER, PRM_OP_ALLOC_Q_COUNTER, QUERY, AT_DW7_8 },
	{ PRM_OP_QUERY_FLOW_COUNTER, PRM_OP_ALLOC_FLOW_COUNTER, QUERY, AT_DW7_32 },
	{ PRM_OP_QUERY_MODIFY_HEADER_CONTEXT, PRM_OP_ALLOC_MODIFY_HEADER_CONTEXT, QUERY, AT_DW2_32 },
	{ PRM_OP_QUERY_SCHEDULING_ELEMENT, PRM_OP_CREATE_SCHEDULING_ELEMENT, QUERY, AT_DW2_24 },
	{ PRM_OP_QUERY_QP, PRM_OP_CREATE_QP, QUERY, AT_DW2_24 },
	{ PRM_OP_QUERY_SRQ, PRM_OP_CREATE_SRQ, QUERY, AT_DW2_24 },
	{ PRM_OP_QUERY_XRC_SRQ, PRM_OP_CREATE_XRC_SRQ, QUERY, AT_DW2_24 },
	{ PRM_OP_QUERY_DCT, PRM_OP_CREATE_DCT, QUERY, AT_DW2_24 },
	{ PRM_OP_QUERY_XRQ, PRM_OP_CREATE_XRQ, QUERY, AT_DW2_24 },
	{ PRM_OP_QUERY_XRQ_DC_PARAMS_ENTRY, PRM_OP_CREATE_XRQ, QUERY, AT_DW2_24 },
	{ PRM_OP_QUERY_XRQ_ERROR_PARAMS, PRM_OP_CREATE_XRQ, QUERY, AT_DW2_24 },
	{ PRM_OP_QUERY_PACKET_REFORMAT_CONTEXT, PRM_OP_ALLOC_PACKET_REFORMAT_CONTEXT, QUERY, AT_DW2_32 },
};

static const uint16_t general[] = {
	PRM_OP_QUERY_HCA_CAP, PRM_OP_QUERY_HCA_VPORT_CONTEXT, PRM_OP_QUERY_ESW_VPORT_CONTEXT, PRM_OP_QUERY_ADAPTER,
	PRM_OP_QUERY_ISSI, PRM_OP_QUERY_VPORT_STATE, PRM_OP_QUERY_NIC_VPORT_CONTEXT, PRM_OP_QUERY_ROCE_ADDRESS,
	PRM_OP_QUERY_VNIC_ENV, PRM_OP_QUERY_VPORT_COUNTER, PRM_OP_GET_DROPPED_PACKET_LOG, PRM_OP_NOP,
	PRM_OP_QUERY_CONG_STATUS, PRM_OP_QUERY_CONG_PARAMS, PRM_OP_QUERY_CONG_STATISTICS, PRM_OP_QUERY_LAG,
	PRM_OP_QUERY_ESW_FUNCTIONS,
};

static uint32_t field(const uint8_t *in, size_t len, uint32_t bit, uint32_t width)
{
	struct prm_box b = prm_in(in, len);

	return (uint32_t)prm_get(&b, bit, width);
}

static uint16_t opcode_of(const uint8_t *in)
{
	return (uint16_t)field(in, PRM_HDR_SZ, 0, 16);
}

uint16_t rules_tunnel_id(const uint8_t *in)
{
	return (uint16_t)field(in, PRM_HDR_SZ, 32, 16);
}

static uint16_t op_mod(const uint8_t *in)
{
	return (uint16_t)field(in, PRM_HDR_SZ, 48, 16);
}

void rules_stamp_uid(uint8_t *in, uint16_t uid)
{
	struct prm_box b = prm_out(in, PRM_HDR_SZ);

	prm_set(&b, 16, 16, uid);
}

static const struct rule *find(const uint8_t *in, uint8_t what)
{
	uint16_t op = opcode_of(in);

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (rules[i].opcode == op && rules[i].what & what)
			return &rules[i];
	return NULL;
}

bool rules_is_general(const uint8_t *in)
{
	uint16_t op = opcode_of(in);

	for (size_t i = 0; i < sizeof(general) / sizeof(general[0]); i++)
		if (general[i] == op)
			return true;
	return op >= 0xb00 && op <= 0xcff;
}

bool rules_is_create(const uint8_t *in)
{
	uint16_t op = opcode_of(in);

	if (op == PRM_OP_SET_FLOW_TABLE_ENTRY) /* SET_FLOW_TABLE_ENTRY creates with op_mod 0 and modifies with 1 */
		return op_mod(in) == 0;
	if (op == PRM_OP_CREATE_PSV) /* CREATE_PSV: num_psv */
		return field(in, PRM_HDR_SZ, 64, 4) == 1;
	return find(in, CREATE) != NULL;
}

bool rules_is_query(const uint8_t *in)
{
	return find(in, QUERY) != NULL;
}

bool rules_is_modify(const uint8_t *in)
{
	return find(in, MODIFY) != NULL;
}

uint32_t rules_span(const uint8_t *in)
{
	uint32_t bulk, log;

	if (opcode_of(in) != PRM_OP_ALLOC_FLOW_COUNTER)
		return 1;
	log = field(in, PRM_HDR_SZ, PRM_F_alloc_flow_counter_in__flow_counter_bulk_log_size);
	bulk = field(in, PRM_HDR_SZ, PRM_F_alloc_flow_counter_in__flow_counter_bulk);
	return bulk ? 128 * bulk : 1u << log;
}

uint64_t rules_created(const uint8_t *in, const uint8_t *out, size_t outlen, uint8_t destroy[16])
{
	const struct rule *r = find(in, CREATE);
	struct prm_box d = prm_out(destroy, 16);
	uint32_t type = r->opcode == PRM_OP_CREATE_GENERAL_OBJECT ? op_mod(in) : 0;
	/* ALLOC_Q_COUNTER answers in the low byte, which the 24 bits include. */
	uint32_t id = field(out, outlen, places[r->place].bit, places[r->place].width);

	memset(destroy, 0, 16);
	prm_set(&d, 0, 16, r->other);
	prm_set(&d, 48, 16, type);
	prm_set(&d, places[r->place].bit, places[r->place].width, id);
	return ((uint64_t)r->opcode | (uint64_t)type << 16) << 32 | id;
}

bool rules_id_inside(const uint8_t *in, size_t inlen)
{
	const struct rule *r = find(in, QUERY | MODIFY);

	return r && (size_t)(places[r->place].bit + places[r->place].width) <= inlen * 8;
}

bool rules_names(const uint8_t *in, size_t inlen, uint64_t key, uint32_t counters)
{
	const struct rule *r = find(in, QUERY | MODIFY);
	uint32_t type = r->other == PRM_OP_CREATE_GENERAL_OBJECT ? op_mod(in) : 0;
	uint32_t id = field(in, inlen, places[r->place].bit, places[r->place].width);

	if (((uint64_t)r->other | (uint64_t)type << 16) != key >> 32)
		return false;
	return id - (uint32_t)key < counters;
}

void rules_force_umem(uint8_t *in, size_t inlen)
{
	struct prm_box b = prm_out(in, inlen);
	uint32_t mode;

	switch (opcode_of(in)) {
	case PRM_OP_CREATE_CQ:
		PRM_SET(&b, create_cq_in, cq_umem_valid, 1);
		break;
	case PRM_OP_MODIFY_CQ:
		PRM_SET(&b, modify_cq_in, cq_umem_valid, 1);
		break;
	case PRM_OP_CREATE_QP:
		PRM_SET(&b, create_qp_in, wq_umem_valid, 1);
		break;
	case PRM_OP_CREATE_MKEY: {
		struct prm_box mkc = PRM_SUB(&b, create_mkey_in, memory_key_mkey_entry);

		mode = (uint32_t)PRM_GET(&mkc, mkc, access_mode_1_0) | (uint32_t)PRM_GET(&mkc, mkc, access_mode_4_2) << 2;
		if (mode != 2 && mode != 3) /* KLM, KSM */
			PRM_SET(&b, create_mkey_in, mkey_umem_valid, 1);
		break;
	}
	}
}

bool rules_create_len_ok(const uint8_t *in, size_t inlen)
{
	return opcode_of(in) != PRM_OP_CREATE_MKEY || inlen >= PRM_SZ(create_mkey_in);
}

bool rules_cq_eqn(const uint8_t *in, size_t inlen, uint32_t *eqn)
{
	struct prm_box b = prm_in(in, inlen), cqc;

	if (opcode_of(in) != PRM_OP_CREATE_CQ)
		return false;
	cqc = PRM_SUB(&b, create_cq_in, cq_context);
	*eqn = (uint32_t)PRM_GET(&cqc, cqc, c_eqn_or_apu_element);
	return !cqc.bad && !PRM_GET(&cqc, cqc, apu_cq);
}
