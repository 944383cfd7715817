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
	{ 0xa00, 0xa03, CREATE, AT_DW2_32 }, { 0x200, 0x202, CREATE, AT_DW2_24 }, { 0x400, 0x401, CREATE, AT_DW2_24 },
	{ 0x800, 0x801, CREATE, AT_DW2_24 }, { 0x816, 0x817, CREATE, AT_DW2_24 }, { 0x90c, 0x90e, CREATE, AT_DW2_24 },
	{ 0x904, 0x906, CREATE, AT_DW2_24 }, { 0x908, 0x90a, CREATE, AT_DW2_24 }, { 0x916, 0x918, CREATE, AT_DW2_24 },
	{ 0x900, 0x902, CREATE, AT_DW2_24 }, { 0x912, 0x914, CREATE, AT_DW2_24 }, { 0x771, 0x772, CREATE, AT_DW2_24 },
	{ 0x930, 0x931, CREATE, AT_DW2_24 }, { 0x933, 0x934, CREATE, AT_DW2_24 }, { 0x936, 0x938, CREATE, AT_DW2_24 },
	{ 0x939, 0x93a, CREATE, AT_DW2_32 }, { 0x93d, 0x93e, CREATE, AT_DW2_32 }, { 0x940, 0x941, CREATE, AT_DW2_32 },
	{ 0x782, 0x783, CREATE, AT_DW2_24 }, { 0x827, 0x828, CREATE, AT_DW2_24 }, { 0x829, 0x82b, CREATE, AT_DW2_24 },
	{ 0x500, 0x501, CREATE, AT_DW2_24 }, { 0x700, 0x701, CREATE, AT_DW2_24 }, { 0x705, 0x706, CREATE, AT_DW2_24 },
	{ 0x710, 0x711, CREATE, AT_DW2_24 }, { 0x717, 0x718, CREATE, AT_DW2_24 }, { 0x806, 0x807, CREATE, AT_DW2_24 },
	{ 0x80e, 0x80f, CREATE, AT_DW2_24 }, { 0x600, 0x601, CREATE, AT_DW2_24 },

	{ 0xa01, 0xa00, MODIFY, AT_DW2_32 }, { 0x403, 0x400, MODIFY, AT_DW2_24 }, { 0x90d, 0x90c, MODIFY, AT_DW2_24 },
	{ 0x905, 0x904, MODIFY, AT_DW2_24 }, { 0x909, 0x908, MODIFY, AT_DW2_24 }, { 0x917, 0x916, MODIFY, AT_DW2_24 },
	{ 0x901, 0x900, MODIFY, AT_DW2_24 }, { 0x913, 0x912, MODIFY, AT_DW2_24 }, { 0x93c, 0x930, MODIFY, AT_DW2_24 },
	{ 0x785, 0x782, MODIFY, AT_DW2_24 }, { 0x502, 0x500, MODIFY, AT_DW2_24 }, { 0x503, 0x500, MODIFY, AT_DW2_24 },
	{ 0x504, 0x500, MODIFY, AT_DW2_24 }, { 0x505, 0x500, MODIFY, AT_DW2_24 }, { 0x506, 0x500, MODIFY, AT_DW2_24 },
	{ 0x507, 0x500, MODIFY, AT_DW2_24 }, { 0x50a, 0x500, MODIFY, AT_DW2_24 }, { 0x50e, 0x500, MODIFY, AT_DW2_24 },
	{ 0x708, 0x705, MODIFY, AT_DW2_24 }, { 0x703, 0x700, MODIFY, AT_DW2_24 }, { 0x714, 0x710, MODIFY, AT_DW2_24 },
	{ 0x71a, 0x717, MODIFY, AT_DW2_24 }, { 0x726, 0x717, MODIFY, AT_DW2_24 }, { 0x729, 0x717, MODIFY, AT_DW2_24 },
	{ 0x72a, 0x717, MODIFY, AT_DW2_24 },

	{ 0xa02, 0xa00, QUERY, AT_DW2_32 }, { 0x201, 0x200, QUERY, AT_DW2_24 }, { 0x402, 0x400, QUERY, AT_DW2_24 },
	{ 0x90f, 0x90c, QUERY, AT_DW2_24 }, { 0x907, 0x904, QUERY, AT_DW2_24 }, { 0x90b, 0x908, QUERY, AT_DW2_24 },
	{ 0x919, 0x916, QUERY, AT_DW2_24 }, { 0x903, 0x900, QUERY, AT_DW2_24 }, { 0x915, 0x912, QUERY, AT_DW2_24 },
	{ 0x773, 0x771, QUERY, AT_DW7_8 }, { 0x93b, 0x939, QUERY, AT_DW7_32 }, { 0x942, 0x940, QUERY, AT_DW2_32 },
	{ 0x784, 0x782, QUERY, AT_DW2_24 }, { 0x50b, 0x500, QUERY, AT_DW2_24 }, { 0x702, 0x700, QUERY, AT_DW2_24 },
	{ 0x707, 0x705, QUERY, AT_DW2_24 }, { 0x713, 0x710, QUERY, AT_DW2_24 }, { 0x719, 0x717, QUERY, AT_DW2_24 },
	{ 0x725, 0x717, QUERY, AT_DW2_24 }, { 0x727, 0x717, QUERY, AT_DW2_24 }, { 0x93f, 0x93d, QUERY, AT_DW2_32 },
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

uint16_t rules_opcode(const uint8_t *in)
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
	uint16_t op = rules_opcode(in);

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (rules[i].opcode == op && rules[i].what & what)
			return &rules[i];
	return NULL;
}

bool rules_is_general(const uint8_t *in)
{
	uint16_t op = rules_opcode(in);

	for (size_t i = 0; i < sizeof(general) / sizeof(general[0]); i++)
		if (general[i] == op)
			return true;
	return op >= 0xb00 && op <= 0xcff;
}

bool rules_is_create(const uint8_t *in)
{
	uint16_t op = rules_opcode(in);

	if (op == 0x936) /* SET_FLOW_TABLE_ENTRY creates with op_mod 0 and modifies with 1 */
		return op_mod(in) == 0;
	if (op == 0x600) /* CREATE_PSV: num_psv */
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

	if (rules_opcode(in) != PRM_OP_ALLOC_FLOW_COUNTER)
		return 1;
	log = field(in, PRM_HDR_SZ, PRM_F_alloc_flow_counter_in__flow_counter_bulk_log_size);
	bulk = field(in, PRM_HDR_SZ, PRM_F_alloc_flow_counter_in__flow_counter_bulk);
	return bulk ? 128 * bulk : 1u << log;
}

uint64_t rules_created(const uint8_t *in, const uint8_t *out, size_t outlen, uint8_t destroy[16])
{
	const struct rule *r = find(in, CREATE);
	struct prm_box d = prm_out(destroy, 16);
	uint32_t type = r->opcode == 0xa00 ? op_mod(in) : 0;
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
	uint32_t type = r->other == 0xa00 ? op_mod(in) : 0;
	uint32_t id = field(in, inlen, places[r->place].bit, places[r->place].width);

	if (((uint64_t)r->other | (uint64_t)type << 16) != key >> 32)
		return false;
	return id - (uint32_t)key < counters;
}

void rules_force_umem(uint8_t *in, size_t inlen)
{
	struct prm_box b = prm_out(in, inlen);
	uint32_t mode;

	switch (rules_opcode(in)) {
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
	return rules_opcode(in) != PRM_OP_CREATE_MKEY || inlen >= PRM_SZ(create_mkey_in);
}

bool rules_cq_eqn(const uint8_t *in, size_t inlen, uint32_t *eqn)
{
	struct prm_box b = prm_in(in, inlen), cqc;

	if (rules_opcode(in) != PRM_OP_CREATE_CQ)
		return false;
	cqc = PRM_SUB(&b, create_cq_in, cq_context);
	*eqn = (uint32_t)PRM_GET(&cqc, cqc, c_eqn_or_apu_element);
	return !cqc.bad && !PRM_GET(&cqc, cqc, apu_cq);
}
