/* SPDX-License-Identifier: BSD-2-Clause */
/* What general commands say of the device, and that it agrees with what verbs say; and what a device keeps to itself. */
#include <infiniband/verbs.h>

#include "conf.h"

#define OP_MOD_CURRENT 1 /* of QUERY_HCA_CAP: type << 1, and 1 for the current value */
#define CAP_GENERAL 0x0
#define CAP_GENERAL_2 0x20

static void *capability(struct ibv_context *ctx, unsigned int type, uint8_t *out)
{
	INBOX(in, query_hca_cap_in, QUERY_HCA_CAP);

	set_op_mod(in, (uint16_t)(type << 1 | OP_MOD_CURRENT));
	CHECK_EQ(general(ctx, in, sizeof(in), out, SZ(query_hca_cap_out)), 0);
	return IN(out, query_hca_cap_out, capability);
}

/* Is the general object type there? */
static bool has_type(struct ibv_context *ctx, unsigned int type)
{
	uint8_t *out = zeroed(SZ(query_hca_cap_out));
	uint64_t types;

	if (type < 64)
		types = GET(capability(ctx, CAP_GENERAL, out), cmd_hca_cap, general_obj_types);
	else
		types = GET(capability(ctx, CAP_GENERAL_2, out), cmd_hca_cap_2, general_obj_types_127_64);
	return types >> type % 64 & 1;
}

CASE(roce_addresses_are_the_gids, "devx-abi 4", ANY, "QUERY_ROCE_ADDRESS has the GIDs that ibv_query_gid tells.")
{
	struct ibv_context *ctx = context();

	for (int i = 0; i < 4; i++) {
		uint8_t out[SZ(query_roce_address_out)] = { 0 };
		union ibv_gid gid;
		INBOX(in, query_roce_address_in, QUERY_ROCE_ADDRESS);

		SET(in, query_roce_address_in, roce_address_index, (uint64_t)i);
		if (general(ctx, in, sizeof(in), out, sizeof(out)) == EREMOTEIO)
			SKIP("the device has no RoCE: syndrome 0x%x", syndrome_of(out));
		CHECK_EQ(ibv_query_gid(ctx, 1, i, &gid), 0);
		CHECK_MEM(IN(out, query_roce_address_out, roce_address), &gid, sizeof(gid));
	}
}

static uint64_t vport_state(struct ibv_context *ctx)
{
	uint8_t out[SZ(query_vport_state_out)] = { 0 };
	INBOX(in, query_vport_state_in, QUERY_VPORT_STATE);

	CHECK_EQ(general(ctx, in, sizeof(in), out, sizeof(out)), 0);
	return GET(out, query_vport_state_out, state);
}

CASE(vport_state_is_the_ports, "devx-abi 4", ANY, "QUERY_VPORT_STATE says up exactly when the port is active.")
{
	struct ibv_context *ctx = context();
	struct ibv_port_attr attr;

	CHECK_EQ(ibv_query_port(ctx, 1, &attr), 0);
	CHECK_EQ(vport_state(ctx), attr.state == IBV_PORT_ACTIVE);
}

CASE(vport_state_follows_the_link, "odx_soft_port(3)", CONTROL,
     "QUERY_VPORT_STATE follows a link that goes down and comes up.")
{
	struct rig r = rig_soft("");

	CHECK_EQ(set_port(r.dev, 1), 0);
	CHECK_EQ(vport_state(r.ctx), 1);
	CHECK_EQ(set_port(r.dev, 0), 0);
	CHECK_EQ(vport_state(r.ctx), 0);
	CHECK_EQ(set_port(r.dev, 1), 0);
	CHECK_EQ(vport_state(r.ctx), 1);
}

CASE(node_guid_is_the_devices, "devx-abi 4", ANY, "QUERY_NIC_VPORT_CONTEXT has the GUID that ibv_get_device_guid tells.")
{
	struct ibv_context *ctx = context();
	uint8_t out[SZ(query_nic_vport_context_out)] = { 0 };
	INBOX(in, query_nic_vport_context_in, QUERY_NIC_VPORT_CONTEXT);

	CHECK_EQ(general(ctx, in, sizeof(in), out, sizeof(out)), 0);
	CHECK(GET(IN(out, query_nic_vport_context_out, nic_vport_context), nic_vport_context, node_guid) ==
	      be64toh(ibv_get_device_guid(ctx->device)));
}

CASE(types_without_their_bit_are_refused, "devx-abi 4", ANY,
     "A general object whose type has no bit in general_obj_types is not made: EREMOTEIO, with a status.")
{
	struct ibv_context *ctx = context();
	uint8_t *in = zeroed(4096), *out = zeroed(4096);

	for (unsigned int type = 0; type < 128; type++) {
		if (has_type(ctx, type))
			continue;
		NOTE("type 0x%x", type);
		memset(out, 0, HDR_SZ);
		set_opcode(in, PRM_OP_CREATE_GENERAL_OBJECT);
		set_op_mod(in, (uint16_t)type);
		refuse(ctx, in, 4096, out, 4096, EREMOTEIO);
		CHECK_NE(status_of(out), 0);
	}
}

#define DEK 0x0c
#define FOR_IPSEC 2

CASE(keys_do_not_come_out, "devx-abi 4", ANY, "A query of an encryption key gives its attributes, and zeros for the key.")
{
	struct ibv_context *ctx = context();
	uint8_t *in = zeroed(HDR_SZ + SZ(dek)), *out = zeroed(HDR_SZ + SZ(dek)), *key;
	struct mlx5dv_devx_obj *obj;
	uint32_t pd;

	if (!has_type(ctx, DEK))
		return; /* nothing to keep */
	alloc_pd(ctx, &pd);
	set_opcode(in, PRM_OP_CREATE_GENERAL_OBJECT);
	set_op_mod(in, DEK);
	SET(in + HDR_SZ, dek, pd, pd);
	SET(in + HDR_SZ, dek, key_purpose, FOR_IPSEC);
	SET(in + HDR_SZ, dek, key_size, 1);
	key = IN(in + HDR_SZ, dek, key);
	memset(key, 0xa5, 32);
	obj = create(ctx, in, HDR_SZ + SZ(dek), out, HDR_SZ);
	set_opcode(in, PRM_OP_QUERY_GENERAL_OBJECT);
	SET(in, general_obj_in_cmd_hdr, obj_id, GET(out, general_obj_out_cmd_hdr, obj_id));
	CHECK_EQ(mlx5dv_devx_obj_query(obj, in, HDR_SZ, out, HDR_SZ + SZ(dek)), 0);
	CHECK_EQ(GET(out + HDR_SZ, dek, key_purpose), FOR_IPSEC);
	CHECK_EQ(GET(out + HDR_SZ, dek, key_size), 1);
	for (size_t i = 0; i < HDR_SZ + SZ(dek); i++)
		CHECK_NE(out[i], 0xa5);
}
