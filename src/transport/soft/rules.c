/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "prm.h"
#include "rules.h"

static uint32_t field(const uint8_t *in, size_t len, uint32_t bit, uint32_t width)
{
	struct prm_box b = prm_in(in, len);

	return (uint32_t)prm_get(&b, bit, width);
}

static uint16_t opcode_of(const uint8_t *in)
{
	return (uint16_t)field(in, PRM_HDR_SZ, PRM_F_general_obj_in_cmd_hdr__opcode);
}

uint16_t rules_tunnel_id(const uint8_t *in)
{
	return (uint16_t)field(in, PRM_HDR_SZ, PRM_F_general_obj_in_cmd_hdr__vhca_tunnel_id);
}

static uint16_t op_mod(const uint8_t *in)
{
	return (uint16_t)field(in, PRM_HDR_SZ, PRM_F_general_obj_in_cmd_hdr__obj_type);
}

void rules_stamp_uid(uint8_t *in, uint16_t uid)
{
	struct prm_box b = prm_out(in, PRM_HDR_SZ);

	PRM_SET(&b, general_obj_in_cmd_hdr, uid, uid);
}

static enum prm_call call_of(const uint8_t *in)
{
	const struct prm_command *c = prm_command(opcode_of(in));

	/* SET_FLOW_TABLE_ENTRY creates with op_mod 0 and modifies with 1. */
	if (c && c->value == PRM_OP_SET_FLOW_TABLE_ENTRY && op_mod(in))
		return op_mod(in) == 1 ? PRM_CALL_MODIFY : PRM_CALL_DRIVER;
	return c ? c->call : PRM_CALL_DRIVER;
}

bool rules_is_general(const uint8_t *in)
{
	uint16_t op = opcode_of(in);

	return call_of(in) == PRM_CALL_GENERAL || (op >= 0xb00 && op <= 0xcff);
}

bool rules_is_create(const uint8_t *in)
{
	if (opcode_of(in) == PRM_OP_CREATE_PSV)
		return field(in, PRM_HDR_SZ, PRM_F_create_psv_in__num_psv) == 1;
	return call_of(in) == PRM_CALL_CREATE;
}

bool rules_is_query(const uint8_t *in)
{
	return call_of(in) == PRM_CALL_QUERY;
}

bool rules_is_modify(const uint8_t *in)
{
	uint16_t op = opcode_of(in);

	/* These two pass as both. */
	return call_of(in) == PRM_CALL_MODIFY || op == PRM_OP_ADD_VXLAN_UDP_DPORT || op == PRM_OP_SET_L2_TABLE_ENTRY;
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

/* What the inbox of a create and the one that destroys have under one name: the table of a flow group, and the like. */
static void copy_fields(const struct prm_layout *from, struct prm_box *in, const struct prm_layout *to, struct prm_box *out)
{
	for (unsigned int i = 0; i < to->n_fields; i++) {
		const struct prm_field *t = &to->fields[i], *f = NULL;

		for (unsigned int k = 0; k < from->n_fields && t->nested < 0 && t->bit >= 64; k++) /* the header is its own */
			if (!strcmp(from->fields[k].name, t->name))
				f = &from->fields[k];
		for (uint32_t k = 0; f && f->width == t->width && k < t->count && k < f->count; k++)
			prm_set(out, t->bit + k * t->width, t->width, prm_get(in, f->bit + k * f->width, f->width));
	}
}

uint64_t rules_creates(const uint8_t *in, size_t inlen, uint8_t destroy[RULES_DESTROY_MAX])
{
	const struct prm_command *c = prm_command(opcode_of(in)), *end = prm_command(c->other);
	struct prm_box b = prm_in(in, inlen), d = prm_out(destroy, RULES_DESTROY_MAX);
	uint32_t type = c->value == PRM_OP_CREATE_GENERAL_OBJECT ? op_mod(in) : 0;
	uint32_t id = c->id_in_inbox ? field(in, inlen, c->id_bit, c->id_width) : 0;

	memset(destroy, 0, RULES_DESTROY_MAX);
	copy_fields(&prm_layouts[c->in], &b, &prm_layouts[end->in], &d);
	PRM_SET(&d, general_obj_in_cmd_hdr, opcode, end->value);
	PRM_SET(&d, general_obj_in_cmd_hdr, obj_type, type);
	prm_set(&d, end->id_bit, end->id_width, id);
	return ((uint64_t)c->value | (uint64_t)type << 16) << 32 | id;
}

uint64_t rules_created(uint64_t key, const uint8_t *out, size_t outlen, uint8_t destroy[RULES_DESTROY_MAX])
{
	const struct prm_command *c = prm_command((uint16_t)(key >> 32)), *end = prm_command(c->other);
	struct prm_box d = prm_out(destroy, RULES_DESTROY_MAX);
	uint32_t id;

	if (c->id_in_inbox)
		return key;
	id = field(out, outlen, c->id_bit, c->id_width);
	prm_set(&d, end->id_bit, end->id_width, id);
	return key | id;
}

bool rules_id_inside(const uint8_t *in, size_t inlen)
{
	const struct prm_command *c = prm_command(opcode_of(in));

	return c && c->id_width && (size_t)(c->id_bit + c->id_width) <= inlen * 8;
}

bool rules_names(const uint8_t *in, size_t inlen, uint64_t key, uint32_t counters)
{
	const struct prm_command *c = prm_command(opcode_of(in));
	uint16_t creator = c->call == PRM_CALL_CREATE ? c->value : c->other;
	uint32_t type = creator == PRM_OP_CREATE_GENERAL_OBJECT ? op_mod(in) : 0;
	uint32_t id = field(in, inlen, c->id_bit, c->id_width);

	if (((uint64_t)creator | (uint64_t)type << 16) != key >> 32)
		return false;
	return id - (uint32_t)key < counters;
}

static void force_wq(struct prm_box wq)
{
	PRM_SET(&wq, wq, dbr_umem_valid, 1);
	PRM_SET(&wq, wq, wq_umem_valid, 1);
}

void rules_force_umem(uint8_t *in, size_t inlen)
{
	struct prm_box b = prm_out(in, inlen), ctx;
	uint32_t mode;

	switch (opcode_of(in)) {
	case PRM_OP_CREATE_CQ:
		PRM_SET(&b, create_cq_in, cq_umem_valid, 1);
		ctx = PRM_SUB(&b, create_cq_in, cq_context);
		PRM_SET(&ctx, cqc, dbr_umem_valid, 1);
		break;
	case PRM_OP_MODIFY_CQ:
		PRM_SET(&b, modify_cq_in, cq_umem_valid, 1);
		break;
	case PRM_OP_CREATE_QP:
		PRM_SET(&b, create_qp_in, wq_umem_valid, 1);
		ctx = PRM_SUB(&b, create_qp_in, qpc);
		PRM_SET(&ctx, qpc, dbr_umem_valid, 1);
		break;
	case PRM_OP_CREATE_RQ:
		ctx = PRM_SUB(&b, create_rq_in, ctx);
		force_wq(PRM_SUB(&ctx, rqc, wq));
		break;
	case PRM_OP_CREATE_SQ:
		ctx = PRM_SUB(&b, create_sq_in, ctx);
		force_wq(PRM_SUB(&ctx, sqc, wq));
		break;
	case PRM_OP_CREATE_RMP:
		ctx = PRM_SUB(&b, create_rmp_in, ctx);
		force_wq(PRM_SUB(&ctx, rmpc, wq));
		break;
	case PRM_OP_CREATE_XRQ:
		ctx = PRM_SUB(&b, create_xrq_in, xrq_context);
		force_wq(PRM_SUB(&ctx, xrqc, wq));
		break;
	case PRM_OP_CREATE_XRC_SRQ:
		PRM_SET(&b, create_xrc_srq_in, xrc_srq_umem_valid, 1);
		ctx = PRM_SUB(&b, create_xrc_srq_in, xrc_srq_context_entry);
		PRM_SET(&ctx, xrc_srqc, dbr_umem_valid, 1);
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
	static const uint32_t field[] = { PRM_F_create_mkey_in__memory_key_mkey_entry };

	return opcode_of(in) != PRM_OP_CREATE_MKEY || inlen >= (field[0] + field[1]) / 8;
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

/* The events whose objects are told apart by the kind of queue. Linux, devx.c, is_legacy_obj_event_num. */
static const uint8_t queue_events[] = {
	0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x07, 0x10, 0x11, 0x12, 0x13, 0x14, 0x18, 0x1c, 0x1d,
};

/* The kind of queue (MLX5_EVENT_QUEUE_TYPE_*), and the object's type in other events (MLX5_OBJ_TYPE_*). Linux, mlx5_ifc.h. */
static const struct {
	uint16_t opcode, queue, type;
} event_objects[] = {
	{ PRM_OP_CREATE_MKEY, 0, 0xff01 },    { PRM_OP_CREATE_QP, 0, 0xff02 },  { PRM_OP_CREATE_PSV, 0, 0xff03 },
	{ PRM_OP_CREATE_RMP, 1, 0xff04 },     { PRM_OP_CREATE_XRC_SRQ, 0, 0xff05 },
	{ PRM_OP_CREATE_RQ, 1, 0xff06 },      { PRM_OP_CREATE_SQ, 2, 0xff07 },  { PRM_OP_CREATE_TIR, 0, 0xff08 },
	{ PRM_OP_CREATE_TIS, 0, 0xff09 },     { PRM_OP_CREATE_DCT, 6, 0xff0a }, { PRM_OP_CREATE_XRQ, 0, 0xff0b },
	{ PRM_OP_CREATE_RQT, 0, 0xff0e },     { PRM_OP_ALLOC_FLOW_COUNTER, 0, 0xff0f },
	{ PRM_OP_CREATE_CQ, 0, 0xff10 },
};

uint16_t rules_event_object(uint64_t key, uint16_t event)
{
	uint16_t opcode = (uint16_t)(key >> 32);
	bool queue = event <= UINT8_MAX && memchr(queue_events, event, sizeof(queue_events));

	if (opcode == PRM_OP_CREATE_GENERAL_OBJECT)
		return queue ? 0 : (uint16_t)(key >> 48);
	for (size_t i = 0; i < sizeof(event_objects) / sizeof(event_objects[0]); i++)
		if (event_objects[i].opcode == opcode)
			return queue ? event_objects[i].queue : event_objects[i].type;
	return 0;
}
