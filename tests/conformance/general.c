/* SPDX-License-Identifier: BSD-2-Clause */
/* mlx5dv_devx_general_cmd: lengths, opcode list, tunnel id, uid; query_eqn. */
#include "conf.h"

#define ROOM 8192 /* for any outbox */

/* A NOP in boxes of these lengths. */
static int nop_sized(struct ibv_context *ctx, size_t inlen, size_t outlen)
{
	uint8_t *in = zeroed(1 << 17), *out = zeroed(1 << 17);

	set_opcode(in, PRM_OP_NOP);
	NOTE("inlen %zu, outlen %zu", inlen, outlen);
	return general(ctx, in, inlen, out, outlen);
}

CASE(nop_succeeds, "devx-abi 8", ANY, "A command that the device executed gives 0, status 0 and syndrome 0.")
{
	INBOX(in, nop_in, NOP);
	uint8_t out[SZ(nop_out)];

	memset(out, 0xaa, sizeof(out));
	CHECK_EQ(general(context(), in, sizeof(in), out, sizeof(out)), 0);
	CHECK_EQ(status_of(out), 0);
	CHECK_EQ(syndrome_of(out), 0);
}

CASE(inbox_lengths, "devx-abi 3", ANY, "An inbox has 16 to 65535 bytes; others give EINVAL.")
{
	struct ibv_context *ctx = context();

	CHECK_EQ(nop_sized(ctx, 0, HDR_SZ), EINVAL);
	CHECK_EQ(nop_sized(ctx, HDR_SZ - 1, HDR_SZ), EINVAL);
	CHECK_EQ(nop_sized(ctx, HDR_SZ, HDR_SZ), 0);
	CHECK_EQ(nop_sized(ctx, HDR_SZ + 1, HDR_SZ), 0);
	CHECK_EQ(nop_sized(ctx, BOX_MAX, HDR_SZ), 0);
	CHECK_EQ(nop_sized(ctx, BOX_MAX + 1, HDR_SZ), EINVAL);
	CHECK_EQ(nop_sized(ctx, SIZE_MAX, HDR_SZ), EINVAL);
}

CASE(outbox_lengths, "devx-abi 3", ANY, "An outbox has 16 to 65535 bytes; others give EINVAL.")
{
	struct ibv_context *ctx = context();

	CHECK_EQ(nop_sized(ctx, HDR_SZ, 0), EINVAL);
	CHECK_EQ(nop_sized(ctx, HDR_SZ, HDR_SZ - 1), EINVAL);
	CHECK_EQ(nop_sized(ctx, HDR_SZ, HDR_SZ + 1), 0);
	CHECK_EQ(nop_sized(ctx, HDR_SZ, BOX_MAX), 0);
	CHECK_EQ(nop_sized(ctx, HDR_SZ, BOX_MAX + 1), EINVAL);
	CHECK_EQ(nop_sized(ctx, HDR_SZ, SIZE_MAX), EINVAL);
}

CASE(null_arguments, "deviations 3", OURS, "A NULL context, inbox or outbox gives EINVAL.")
{
	struct ibv_context *ctx = context();
	INBOX(in, nop_in, NOP);
	uint8_t out[SZ(nop_out)];

	CHECK_EQ(general(NULL, in, sizeof(in), out, sizeof(out)), EINVAL);
	CHECK_EQ(general(ctx, NULL, sizeof(in), out, sizeof(out)), EINVAL);
	CHECK_EQ(general(ctx, in, sizeof(in), NULL, sizeof(out)), EINVAL);
}

/* The kernel's list. */
static const uint16_t listed[] = {
	PRM_OP_QUERY_HCA_CAP, PRM_OP_QUERY_HCA_VPORT_CONTEXT, PRM_OP_QUERY_ESW_VPORT_CONTEXT, PRM_OP_QUERY_ADAPTER,
	PRM_OP_QUERY_ISSI, PRM_OP_QUERY_VPORT_STATE, PRM_OP_QUERY_NIC_VPORT_CONTEXT, PRM_OP_QUERY_ROCE_ADDRESS,
	PRM_OP_QUERY_VNIC_ENV, PRM_OP_QUERY_VPORT_COUNTER, PRM_OP_GET_DROPPED_PACKET_LOG, PRM_OP_NOP,
	PRM_OP_QUERY_CONG_STATUS, PRM_OP_QUERY_CONG_PARAMS, PRM_OP_QUERY_CONG_STATISTICS, PRM_OP_QUERY_LAG,
	PRM_OP_QUERY_ESW_FUNCTIONS,
};

static bool is_listed(uint32_t opcode)
{
	for (size_t i = 0; i < N_OF(listed); i++)
		if (listed[i] == opcode)
			return true;
	return opcode >= 0xb00 && opcode <= 0xcff;
}

CASE(listed_opcodes_reach_the_device, "devx-abi 4", ANY,
     "The 17 listed opcodes and 0xb00 to 0xcff reach the device: what it does not know or like fails there, with EREMOTEIO "
     "and a status.")
{
	struct ibv_context *ctx = context();
	uint8_t in[64] = { 0 }, *out = zeroed(ROOM);

	for (uint32_t op = 0; op <= UINT16_MAX; op++) {
		int err;

		if (!is_listed(op))
			continue;
		NOTE_OPCODE(op);
		set_opcode(in, (uint16_t)op);
		err = general(ctx, in, sizeof(in), out, ROOM);
		if (err)
			CHECK_EQ(err, EREMOTEIO);
		CHECK_EQ(err == 0, status_of(out) == 0);
	}
}

CASE(unlisted_opcodes_are_einval, "devx-abi 4", ANY,
     "Every opcode that is not listed gives EINVAL, and the outbox stays as it is.")
{
	struct ibv_context *ctx = context();
	uint8_t in[64] = { 0 }, out[64];

	memset(out, 0x5a, sizeof(out));
	for (uint32_t op = 0; op <= UINT16_MAX; op++) {
		if (is_listed(op))
			continue;
		NOTE_OPCODE(op);
		set_opcode(in, (uint16_t)op);
		CHECK_EQ(general(ctx, in, sizeof(in), out, sizeof(out)), EINVAL);
		CHECK_EQ(out[0], 0x5a);
	}
}

CASE(tunnel_id_is_einval, "devx-abi 4", CONTROL, "A tunnelled command gives EINVAL on a device without the capability for it.")
{
	struct ibv_context *ctx = open_devx(soft(""));
	INBOX(in, nop_in, NOP);
	uint8_t out[SZ(nop_out)];

	set_tunnel(in, 1);
	CHECK_EQ(general(ctx, in, sizeof(in), out, sizeof(out)), EINVAL);
	set_tunnel(in, 0xffff);
	CHECK_EQ(general(ctx, in, sizeof(in), out, sizeof(out)), EINVAL);
	set_tunnel(in, 0);
	CHECK_EQ(general(ctx, in, sizeof(in), out, sizeof(out)), 0);
}

CASE(unknown_op_mod_is_eremoteio_with_outbox, "devx-abi 4", ANY,
     "A command that the device refuses gives EREMOTEIO, and the outbox has its status and syndrome.")
{
	INBOX(in, query_hca_cap_in, QUERY_HCA_CAP);
	uint8_t *out = zeroed(ROOM);

	set_op_mod(in, 0xfffe); /* a capability page that no device has */
	CHECK_EQ(general(context(), in, sizeof(in), out, ROOM), EREMOTEIO);
	CHECK_NE(status_of(out), 0);
	CHECK_NE(syndrome_of(out), 0);
}

CASE(firmware_failure_is_eremoteio_with_outbox, "devx-abi 4", CONTROL,
     "Whatever status a command ends with, the call gives EREMOTEIO, and the outbox has that status and its syndrome.")
{
	struct ibv_device *dev = soft("");
	struct ibv_context *ctx = open_devx(dev);
	INBOX(in, nop_in, NOP);
	uint8_t out[SZ(nop_out)];

	for (unsigned int status = 1; status < 0x80; status++) {
		NOTE("status 0x%x", status);
		fault(dev, "opcode=0x80d nth=1 status=0x%x syndrome=0x2c4154", status);
		memset(out, 0, sizeof(out));
		CHECK_EQ(general(ctx, in, sizeof(in), out, sizeof(out)), EREMOTEIO);
		CHECK_EQ(status_of(out), status);
		CHECK_EQ(syndrome_of(out), 0x2c4154);
	}
	CHECK_EQ(general(ctx, in, sizeof(in), out, sizeof(out)), 0);
}

CASE(errno_is_set_beside_the_result, "devx-abi 8", ANY, "A call that gives a positive errno leaves it in errno too.")
{
	struct ibv_context *ctx = context();

	errno = 0;
	CHECK_EQ(nop_sized(ctx, HDR_SZ - 1, HDR_SZ), EINVAL);
	CHECK_EQ(errno, EINVAL);
}

CASE(uid_of_the_inbox_is_overwritten, "devx-abi 4", ANY,
     "The uid of an inbox does not matter: it is the context's. The inbox of the program stays as it is.")
{
	INBOX(in, nop_in, NOP);
	uint8_t out[SZ(nop_out)], copy[SZ(nop_in)];

	set_uid(in, 0x77);
	memcpy(copy, in, sizeof(in));
	CHECK_EQ(general(context(), in, sizeof(in), out, sizeof(out)), 0);
	CHECK_MEM(in, copy, sizeof(in));
}

CASE(stale_context_is_ebadf, "deviations 17", OURS, "Calls on a context that was closed give EBADF.")
{
	struct ibv_context *ctx = context();

	CHECK_EQ(close_context(ctx), 0);
	CHECK_EQ(nop_sized(ctx, HDR_SZ, HDR_SZ), EBADF);
	CHECK_NULL(mlx5dv_devx_create_cmd_comp(ctx), EBADF);
}

CASE(query_eqn_of_each_vector, "devx-abi 3", ANY, "Every completion vector of the context has an EQ number.")
{
	struct ibv_context *ctx = context();

	CHECK(ctx->num_comp_vectors > 0);
	for (int i = 0; i < ctx->num_comp_vectors; i++) {
		uint32_t eqn = 0xdeadbeef;

		CHECK_EQ(mlx5dv_devx_query_eqn(ctx, (uint32_t)i, &eqn), 0);
		CHECK_NE(eqn, 0xdeadbeef);
	}
}

CASE(query_eqn_out_of_range_is_einval, "devx-abi 3", ANY,
     "A vector that the context has not gives EINVAL, ENOENT on older kernels, and no number.")
{
	struct ibv_context *ctx = context();
	uint32_t eqn = 0xdeadbeef;
	int err = mlx5dv_devx_query_eqn(ctx, (uint32_t)ctx->num_comp_vectors, &eqn);

	CHECK(err == EINVAL || err == ENOENT);
	err = mlx5dv_devx_query_eqn(ctx, UINT32_MAX, &eqn);
	CHECK(err == EINVAL || err == ENOENT);
	CHECK_EQ(eqn, 0xdeadbeef);
}

CASE(query_eqn_null, "deviations 3", OURS, "query_eqn gives EINVAL for a NULL context, or no place for the number.")
{
	uint32_t eqn;

	CHECK_EQ(mlx5dv_devx_query_eqn(context(), 0, NULL), EINVAL);
	CHECK_EQ(mlx5dv_devx_query_eqn(NULL, 0, &eqn), EINVAL);
}

CASE(vport_state_follows_the_link, "devx-abi 4", CONTROL, "QUERY_VPORT_STATE tells that the port went down, and up again.")
{
	struct ibv_device *dev = soft("");
	struct ibv_context *ctx = open_devx(dev);
	INBOX(in, query_vport_state_in, QUERY_VPORT_STATE);
	uint8_t out[SZ(query_vport_state_out)];

	for (int up = 0; up < 2; up++) {
		CHECK_EQ(set_port(dev, up), 0);
		CHECK_EQ(general(ctx, in, sizeof(in), out, sizeof(out)), 0);
		CHECK_EQ(GET(out, query_vport_state_out, state), up);
	}
}
