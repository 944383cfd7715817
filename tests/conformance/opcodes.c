/* SPDX-License-Identifier: BSD-2-Clause */
/* Which opcodes pass for a create, a modify, a query and an asynchronous query: the kernel's lists, in full. */
#include "conf.h"

#define ROOM 4096 /* for any inbox or outbox here */

static const uint16_t creating[] = {
	PRM_OP_CREATE_GENERAL_OBJECT, PRM_OP_CREATE_MKEY, PRM_OP_CREATE_CQ, PRM_OP_ALLOC_PD, PRM_OP_ALLOC_TRANSPORT_DOMAIN,
	PRM_OP_CREATE_RMP, PRM_OP_CREATE_SQ, PRM_OP_CREATE_RQ, PRM_OP_CREATE_RQT, PRM_OP_CREATE_TIR, PRM_OP_CREATE_TIS,
	PRM_OP_ALLOC_Q_COUNTER, PRM_OP_CREATE_FLOW_TABLE, PRM_OP_CREATE_FLOW_GROUP, PRM_OP_SET_FLOW_TABLE_ENTRY,
	PRM_OP_ALLOC_FLOW_COUNTER, PRM_OP_ALLOC_PACKET_REFORMAT_CONTEXT, PRM_OP_ALLOC_MODIFY_HEADER_CONTEXT,
	PRM_OP_CREATE_SCHEDULING_ELEMENT, PRM_OP_ADD_VXLAN_UDP_DPORT, PRM_OP_SET_L2_TABLE_ENTRY, PRM_OP_CREATE_QP,
	PRM_OP_CREATE_SRQ, PRM_OP_CREATE_XRC_SRQ, PRM_OP_CREATE_DCT, PRM_OP_CREATE_XRQ, PRM_OP_ATTACH_TO_MCG,
	PRM_OP_ALLOC_XRCD, PRM_OP_CREATE_PSV,
};

static bool in_list(const uint16_t *list, size_t n, uint32_t opcode)
{
	for (size_t i = 0; i < n; i++)
		if (list[i] == opcode)
			return true;
	return false;
}

CASE(creating_opcodes_reach_the_device, "devx-abi 4", ANY,
     "Each of the 29 creating opcodes reaches the device: it makes an object, or fails there with EREMOTEIO and a status.")
{
	struct ibv_context *ctx = context();
	uint8_t *in = zeroed(ROOM), *out = zeroed(ROOM);

	for (size_t i = 0; i < N_OF(creating); i++) {
		struct mlx5dv_devx_obj *obj;

		NOTE("opcode 0x%x", creating[i]);
		memset(in, 0, ROOM);
		set_opcode(in, creating[i]);
		if (creating[i] == PRM_OP_CREATE_PSV)
			SET(in, create_psv_in, num_psv, 1);
		if (creating[i] == PRM_OP_CREATE_CQ) { /* the kernel looks the EQ number up first */
			uint32_t eqn;

			CHECK_EQ(mlx5dv_devx_query_eqn(ctx, 0, &eqn), 0);
			SET(IN(in, create_cq_in, cq_context), cqc, c_eqn_or_apu_element, eqn);
		}
		errno = 0;
		obj = mlx5dv_devx_obj_create(ctx, in, ROOM, out, ROOM);
		if (obj) {
			CHECK_EQ(status_of(out), 0);
			CHECK_EQ(mlx5dv_devx_obj_destroy(obj), 0);
		} else {
			CHECK_EQ(errno, EREMOTEIO);
			CHECK_NE(status_of(out), 0);
		}
	}
}

CASE(no_other_opcode_creates, "devx-abi 4", ANY,
     "A create with any other opcode gives EINVAL, and the outbox stays as it is.")
{
	struct ibv_context *ctx = context();
	uint8_t in[64] = { 0 }, out[64];

	memset(out, 0x5a, sizeof(out));
	for (uint32_t op = 0; op <= UINT16_MAX; op++) {
		if (in_list(creating, N_OF(creating), op))
			continue;
		NOTE_OPCODE(op);
		set_opcode(in, (uint16_t)op);
		refuse(ctx, in, sizeof(in), out, sizeof(out), EINVAL);
		CHECK_EQ(out[0], 0x5a);
	}
}

CASE(flow_table_entry_is_created_with_op_mod_0_only, "devx-abi 4", ANY,
     "SET_FLOW_TABLE_ENTRY creates with op_mod 0 only; others give EINVAL.")
{
	struct ibv_context *ctx = context();
	INBOX(in, set_fte_in, SET_FLOW_TABLE_ENTRY);
	uint8_t out[SZ(set_fte_out)];

	for (unsigned int op_mod = 1; op_mod <= UINT16_MAX; op_mod++) {
		NOTE("op_mod 0x%x", op_mod);
		set_op_mod(in, (uint16_t)op_mod);
		refuse(ctx, in, sizeof(in), out, sizeof(out), EINVAL);
	}
}

CASE(psv_is_created_alone, "devx-abi 4", ANY, "CREATE_PSV makes one PSV; any other number of them gives EINVAL.")
{
	struct ibv_context *ctx = context();
	INBOX(in, create_psv_in, CREATE_PSV);
	uint8_t out[SZ(create_psv_out)];

	for (unsigned int n = 0; n < 16; n++) {
		SET(in, create_psv_in, num_psv, n);
		NOTE("num_psv %u", n);
		if (n != 1)
			refuse(ctx, in, sizeof(in), out, sizeof(out), EINVAL);
	}
}
