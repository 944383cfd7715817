/* SPDX-License-Identifier: BSD-2-Clause */
/* DEVX objects: create, query, modify, destroy. */
#include "conf.h"

CASE(create_fills_the_outbox, "devx-abi 8", ANY, "A create gives an object, and an outbox with status 0 and its id.")
{
	INBOX(in, alloc_flow_counter_in, ALLOC_FLOW_COUNTER);
	uint8_t out[SZ(alloc_flow_counter_out)];

	memset(out, 0xaa, sizeof(out));
	SET(out, alloc_flow_counter_out, flow_counter_id, 0);
	create(context(), in, sizeof(in), out, sizeof(out));
	CHECK_EQ(status_of(out), 0);
	CHECK_NE(GET(out, alloc_flow_counter_out, flow_counter_id), 0);
}

CASE(create_lengths, "devx-abi 3", ANY, "Boxes of a create have 16 to 65535 bytes; others give NULL and EINVAL.")
{
	struct ibv_context *ctx = context();
	uint8_t *in = zeroed(BOX_MAX + 1), *out = zeroed(BOX_MAX + 1);

	set_opcode(in, PRM_OP_ALLOC_FLOW_COUNTER);
	refuse(ctx, in, 0, out, HDR_SZ, EINVAL);
	refuse(ctx, in, HDR_SZ - 1, out, HDR_SZ, EINVAL);
	refuse(ctx, in, BOX_MAX + 1, out, HDR_SZ, EINVAL);
	refuse(ctx, in, HDR_SZ, out, 0, EINVAL);
	refuse(ctx, in, HDR_SZ, out, HDR_SZ - 1, EINVAL);
	refuse(ctx, in, HDR_SZ, out, BOX_MAX + 1, EINVAL);
	create(ctx, in, BOX_MAX, out, BOX_MAX);
}

CASE(create_refuses_a_tunnel_id, "devx-abi 4", ANY, "A create with a vhca_tunnel_id gives EINVAL.")
{
	INBOX(in, alloc_pd_in, ALLOC_PD);
	uint8_t out[SZ(alloc_pd_out)];

	set_tunnel(in, 1);
	refuse(context(), in, sizeof(in), out, sizeof(out), EINVAL);
}

CASE(create_mkey_inbox_holds_its_context, "devx-abi 4", ANY,
     "The inbox of CREATE_MKEY must hold its context, 80 bytes: EINVAL; of other creates only 16 bytes are checked. The rest is the "
     "device's to miss.")
{
	struct ibv_context *ctx = context();
	INBOX(in, create_mkey_in, CREATE_MKEY);
	uint8_t out[SZ(create_mkey_out)];

	refuse(ctx, in, HDR_SZ, out, sizeof(out), EINVAL);
	refuse(ctx, in, 79, out, sizeof(out), EINVAL);
	refuse(ctx, in, 80, out, sizeof(out), EREMOTEIO);
	refuse(ctx, in, sizeof(in) - 1, out, sizeof(out), EREMOTEIO);
}

CASE(failed_create_is_eremoteio_with_outbox, "devx-abi 4", CONTROL,
     "A create that the device refuses is NULL with EREMOTEIO, and the outbox has status and syndrome.")
{
	struct ibv_device *dev = soft("");
	struct ibv_context *ctx = open_devx(dev);
	INBOX(in, alloc_flow_counter_in, ALLOC_FLOW_COUNTER);
	uint8_t out[SZ(alloc_flow_counter_out)] = { 0 };

	fault(dev, "opcode=0x939 nth=1 status=0x8 syndrome=0x123456");
	refuse(ctx, in, sizeof(in), out, sizeof(out), EREMOTEIO);
	CHECK_EQ(status_of(out), 8);
	CHECK_EQ(syndrome_of(out), 0x123456);
}

CASE(two_bulk_bits_are_bad_param, "deviations 18", OURS, "flow_counter_bulk with two bits set is refused with BAD_PARAM.")
{
	INBOX(in, alloc_flow_counter_in, ALLOC_FLOW_COUNTER);
	uint8_t out[SZ(alloc_flow_counter_out)] = { 0 };

	SET(in, alloc_flow_counter_in, flow_counter_bulk, 3);
	refuse(context(), in, sizeof(in), out, sizeof(out), EREMOTEIO);
	CHECK_EQ(status_of(out), 3);
	CHECK_NE(syndrome_of(out), 0);
}

CASE(query_reads_a_counter, "devx-abi 4", CONTROL, "A query of a counter gives the packets and octets that it counted.")
{
	struct rig r = rig_soft("");
	uint8_t out[COUNTERS_OUT(1)];

	CHECK_EQ(traffic(r.dev, r.id, 3, 300), 0);
	CHECK_EQ(query_counters(r.obj, r.id, 1, out, sizeof(out)), 0);
	CHECK_EQ(packets_of(out, 0), 3);
	CHECK_EQ(octets_of(out, 0), 300);
}

CASE(query_takes_any_counter_of_the_bulk, "devx-abi 4", ANY,
     "QUERY_FLOW_COUNTER accepts any id in [base, base + bulk), and no other.")
{
	struct rig r = rig();
	uint8_t out[COUNTERS_OUT(128)];

	CHECK_EQ(query_counters(r.obj, r.id + 127, 1, out, COUNTERS_OUT(1)), 0);
	CHECK_EQ(query_counters(r.obj, r.id + 128, 1, out, COUNTERS_OUT(1)), EINVAL);
	CHECK_EQ(query_counters(r.obj, r.id - 1, 1, out, COUNTERS_OUT(1)), EINVAL);
	CHECK_EQ(query_counters(r.obj, r.id, 128, out, sizeof(out)), 0);
}

CASE(range_past_the_bulk_fails_in_the_device, "devx-abi 4", ANY,
     "A range of counters that leaves the bulk passes the kernel, which looks at its first id only, and the device refuses "
     "it.")
{
	struct rig r = rig();
	uint8_t out[COUNTERS_OUT(128)] = { 0 };

	CHECK_EQ(query_counters(r.obj, r.id + 1, 128, out, sizeof(out)), EREMOTEIO);
	CHECK_NE(status_of(out), 0);
}

CASE(bulk_query_reads_each_counter, "devx-abi 4", CONTROL, "A query of a whole bulk gives each counter's values at its place.")
{
	struct rig r = rig_soft("");
	uint8_t out[COUNTERS_OUT(128)];

	CHECK_EQ(traffic(r.dev, r.id + 127, 1, 64), 0);
	CHECK_EQ(query_counters(r.obj, r.id + 127, 1, out, COUNTERS_OUT(1)), 0);
	CHECK_EQ(octets_of(out, 0), 64);
	CHECK_EQ(query_counters(r.obj, r.id, 128, out, sizeof(out)), 0);
	for (uint32_t i = 0; i < 128; i++)
		CHECK_EQ(octets_of(out, i), i == 127 ? 64 : 0);
}

CASE(query_of_another_object_is_einval, "devx-abi 4", ANY,
     "A query whose id or opcode is not that of the object gives EINVAL, even if both objects are the context's.")
{
	struct rig r = rig();
	uint32_t other_id, pd;
	struct mlx5dv_devx_obj *other = counters(r.ctx, 0, &other_id), *pd_obj = alloc_pd(r.ctx, &pd);
	INBOX(mkey, query_mkey_in, QUERY_MKEY);
	uint8_t out[COUNTERS_OUT(1)], big[SZ(query_mkey_out)];

	CHECK_EQ(query_counters(r.obj, other_id, 1, out, sizeof(out)), EINVAL);
	CHECK_EQ(query_counters(other, r.id, 1, out, sizeof(out)), EINVAL);
	CHECK_EQ(query_counters(pd_obj, r.id, 1, out, sizeof(out)), EINVAL);
	CHECK_EQ(query_counters(pd_obj, pd, 1, out, sizeof(out)), EINVAL);
	SET(mkey, query_mkey_in, mkey_index, r.id);
	CHECK_EQ(mlx5dv_devx_obj_query(r.obj, mkey, sizeof(mkey), big, sizeof(big)), EINVAL);
}

CASE(query_refuses_a_tunnel_id, "devx-abi 4", ANY, "A query or modify with a vhca_tunnel_id gives EINVAL.")
{
	struct rig r = rig();
	uint8_t in[COUNTER_IN], out[COUNTERS_OUT(1)];

	query_inbox(in, r.id, 1);
	CHECK_EQ(mlx5dv_devx_obj_query(r.obj, in, sizeof(in), out, sizeof(out)), 0);
	set_tunnel(in, 9);
	CHECK_EQ(mlx5dv_devx_obj_query(r.obj, in, sizeof(in), out, sizeof(out)), EINVAL);
	CHECK_EQ(mlx5dv_devx_obj_modify(r.obj, in, sizeof(in), out, sizeof(out)), EINVAL);
}

CASE(query_lengths, "devx-abi 3", ANY, "Boxes of a query have 16 to 65535 bytes; others give EINVAL.")
{
	struct rig r = rig();
	uint8_t *in = zeroed(BOX_MAX + 1), *out = zeroed(BOX_MAX + 1);
	size_t inlen = COUNTER_IN, outlen = COUNTERS_OUT(1);

	query_inbox(in, r.id, 1);
	CHECK_EQ(mlx5dv_devx_obj_query(r.obj, in, 0, out, outlen), EINVAL);
	CHECK_EQ(mlx5dv_devx_obj_query(r.obj, in, HDR_SZ - 1, out, outlen), EINVAL);
	CHECK_EQ(mlx5dv_devx_obj_query(r.obj, in, BOX_MAX + 1, out, outlen), EINVAL);
	CHECK_EQ(mlx5dv_devx_obj_query(r.obj, in, inlen, out, 0), EINVAL);
	CHECK_EQ(mlx5dv_devx_obj_query(r.obj, in, inlen, out, HDR_SZ - 1), EINVAL);
	CHECK_EQ(mlx5dv_devx_obj_query(r.obj, in, inlen, out, BOX_MAX + 1), EINVAL);
	CHECK_EQ(mlx5dv_devx_obj_query(r.obj, in, BOX_MAX, out, BOX_MAX), 0);
}

CASE(inbox_without_the_id_is_einval, "deviations 4", OURS,
     "An inbox that is too short to hold its object's id gives EINVAL.")
{
	struct rig r = rig();
	uint8_t in[COUNTER_IN], out[COUNTERS_OUT(1)];

	query_inbox(in, r.id, 1);
	for (size_t len = HDR_SZ; len < sizeof(in); len++)
		CHECK_EQ(mlx5dv_devx_obj_query(r.obj, in, len, out, sizeof(out)), EINVAL);
}

CASE(short_outbox_fails_in_the_device, "devx-abi 4", ANY,
     "An outbox that is long enough for the ABI and too short for the answer: EREMOTEIO and BAD_OUTP_LEN.")
{
	struct rig r = rig();
	uint8_t out[HDR_SZ] = { 0 };

	CHECK_EQ(query_counters(r.obj, r.id, 1, out, sizeof(out)), EREMOTEIO);
	CHECK_EQ(status_of(out), 0x51);
}

CASE(failed_query_and_modify_are_eremoteio_with_outbox, "devx-abi 4", CONTROL,
     "A query or modify that the device refuses gives EREMOTEIO, and the outbox has status and syndrome.")
{
	struct rig r = rig_soft("");
	uint8_t out[COUNTERS_OUT(1)];

	for (unsigned int status = 1; status < 0x80; status++) {
		NOTE("status 0x%x", status);
		fault(r.dev, "opcode=0x93b nth=1 status=0x%x syndrome=0x%x", status, status << 8);
		CHECK_EQ(query_counters(r.obj, r.id, 1, out, sizeof(out)), EREMOTEIO);
		CHECK_EQ(status_of(out), status);
		CHECK_EQ(syndrome_of(out), status << 8);
	}
}

CASE(failed_destroy_maps_the_status, "devx-abi 4", CONTROL,
     "A destroy that the device refuses gives the errno of its status, and the object stays usable.")
{
	struct rig r = rig_soft("");
	uint32_t id;
	struct mlx5dv_devx_obj *obj = counters(r.ctx, 0, &id);
	uint8_t out[COUNTERS_OUT(1)];

	for (size_t i = 0; i < N_STATUS_ERRNOS; i++) {
		NOTE("status 0x%x", status_errnos[i].status);
		fault(r.dev, "opcode=0x93a nth=1 status=0x%x", status_errnos[i].status);
		CHECK_EQ(destroy(obj), status_errnos[i].err);
		CHECK_EQ(query_counters(obj, id, 1, out, sizeof(out)), 0);
	}
	CHECK_EQ(destroy(obj), 0);
}

CASE(destroyed_object_is_enoent, "deviations 17", OURS, "Calls on an object that was destroyed give ENOENT.")
{
	struct rig r = rig();
	uint32_t id;
	struct mlx5dv_devx_obj *obj = counters(r.ctx, 0, &id);
	uint8_t in[COUNTER_IN], out[COUNTERS_OUT(1)];

	query_inbox(in, id, 1);
	CHECK_EQ(destroy(obj), 0);
	CHECK_EQ(mlx5dv_devx_obj_destroy(obj), ENOENT);
	CHECK_EQ(mlx5dv_devx_obj_query(obj, in, sizeof(in), out, sizeof(out)), ENOENT);
	CHECK_EQ(mlx5dv_devx_obj_modify(obj, in, sizeof(in), out, sizeof(out)), ENOENT);
	CHECK_EQ(mlx5dv_devx_obj_query_async(obj, in, sizeof(in), OUTLEN, 1, r.comp), ENOENT);
	expect_none(r.comp);
}

CASE(null_arguments, "deviations 3", OURS, "Destroying NULL gives 0; any other NULL gives EINVAL.")
{
	struct rig r = rig();
	uint8_t in[COUNTER_IN], out[COUNTERS_OUT(1)];

	query_inbox(in, r.id, 1);
	CHECK_EQ(mlx5dv_devx_obj_destroy(NULL), 0);
	CHECK_EQ(mlx5dv_devx_obj_query(NULL, in, sizeof(in), out, sizeof(out)), EINVAL);
	CHECK_EQ(mlx5dv_devx_obj_query(r.obj, NULL, sizeof(in), out, sizeof(out)), EINVAL);
	CHECK_EQ(mlx5dv_devx_obj_query(r.obj, in, sizeof(in), NULL, sizeof(out)), EINVAL);
	CHECK_EQ(mlx5dv_devx_obj_modify(NULL, in, sizeof(in), out, sizeof(out)), EINVAL);
	CHECK_EQ(mlx5dv_devx_obj_modify(r.obj, NULL, sizeof(in), out, sizeof(out)), EINVAL);
	CHECK_EQ(mlx5dv_devx_obj_modify(r.obj, in, sizeof(in), NULL, sizeof(out)), EINVAL);
	CHECK_EQ(mlx5dv_devx_obj_query_async(NULL, in, sizeof(in), OUTLEN, 1, r.comp), EINVAL);
	CHECK_EQ(mlx5dv_devx_obj_query_async(r.obj, NULL, sizeof(in), OUTLEN, 1, r.comp), EINVAL);
	CHECK_EQ(mlx5dv_devx_obj_query_async(r.obj, in, sizeof(in), OUTLEN, 1, NULL), EINVAL);
	refuse(NULL, in, sizeof(in), out, sizeof(out), EINVAL);
	set_opcode(in, PRM_OP_ALLOC_FLOW_COUNTER);
	refuse(r.ctx, NULL, HDR_SZ, out, HDR_SZ, EINVAL);
	refuse(r.ctx, in, HDR_SZ, NULL, HDR_SZ, EINVAL);
}

CASE(pd_in_use_cannot_be_destroyed, "devx-abi 4", OURS,
     "An object that another one uses is not destroyed: BAD_RES_STATE is EINVAL.")
{
	struct ibv_context *ctx = context();
	uint32_t pd;
	struct mlx5dv_devx_obj *pd_obj = alloc_pd(ctx, &pd), *counter;
	INBOX(in, alloc_flow_counter_in, ALLOC_FLOW_COUNTER);
	uint8_t out[SZ(alloc_flow_counter_out)];

	SET(in, alloc_flow_counter_in, pd, pd);
	counter = create(ctx, in, sizeof(in), out, sizeof(out));
	CHECK_EQ(destroy(pd_obj), EINVAL);
	CHECK_EQ(destroy(counter), 0);
	CHECK_EQ(destroy(pd_obj), 0);
}

CASE(query_with_clear_reads_and_zeroes, "devx-abi 4", CONTROL,
     "A query with clear gives the values and sets the counter to zero.")
{
	struct rig r = rig_soft("");
	uint32_t id;
	struct mlx5dv_devx_obj *obj = counters(r.ctx, 0, &id);
	uint8_t in[COUNTER_IN], out[COUNTERS_OUT(1)];

	CHECK_EQ(traffic(r.dev, id, 5, 500), 0);
	query_inbox(in, id, 1);
	SET(in, query_flow_counter_in, clear, 1);
	CHECK_EQ(mlx5dv_devx_obj_query(obj, in, sizeof(in), out, sizeof(out)), 0);
	CHECK_EQ(packets_of(out, 0), 5);
	CHECK_EQ(query_counters(obj, id, 1, out, sizeof(out)), 0);
	CHECK_EQ(packets_of(out, 0), 0);
	CHECK_EQ(octets_of(out, 0), 0);
	CHECK_EQ(destroy(obj), 0);
	if (is_soft())
		CHECK_EQ(odx_soft_traffic(r.dev, id, 1, 1), ENOENT);
}

CASE(unknown_eq_of_a_cq_is_enoent, "devx-abi 4", CONTROL,
     "CREATE_CQ with an EQ number that does not exist gives ENOENT, and the device gets no command.")
{
	struct ibv_device *dev = soft("");
	struct ibv_context *ctx = open_devx(dev);
	INBOX(in, create_cq_in, CREATE_CQ);
	uint8_t out[SZ(create_cq_out)] = { 0 };
	uint32_t eqn;

	fault(dev, "opcode=0x400 nth=1 status=0x8");
	SET(IN(in, create_cq_in, cq_context), cqc, c_eqn_or_apu_element, 0xff);
	refuse(ctx, in, sizeof(in), out, sizeof(out), ENOENT);
	CHECK_EQ(mlx5dv_devx_query_eqn(ctx, 0, &eqn), 0);
	SET(IN(in, create_cq_in, cq_context), cqc, c_eqn_or_apu_element, eqn);
	refuse(ctx, in, sizeof(in), out, sizeof(out), EREMOTEIO);
	CHECK_EQ(status_of(out), 8); /* the first that the device got */
}
