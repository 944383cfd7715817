/* SPDX-License-Identifier: BSD-2-Clause */
/* Frames through the receive tables of a program: what is counted, where a frame begins, and what is no frame. */
#include "conf.h"

/* Actions and destination types of entries. Linux, include/linux/mlx5/mlx5_ifc.h. */
enum { ALLOW = 0x1, DROP = 0x2, FWD = 0x4, COUNT = 0x8, TO_TABLE = 1 };

#define FRAME_SZ 64u

static uint32_t table(struct ibv_context *ctx, uint32_t level)
{
	INBOX(in, create_flow_table_in, CREATE_FLOW_TABLE);
	uint8_t out[SZ(create_flow_table_out)];
	void *context = IN(in, create_flow_table_in, flow_table_context);

	SET(context, flow_table_context, level, level);
	SET(context, flow_table_context, log_size, 4);
	create(ctx, in, sizeof(in), out, sizeof(out));
	return (uint32_t)GET(out, create_flow_table_out, table_id);
}

/* All of the table, by Ethernet type. */
static uint32_t group(struct ibv_context *ctx, uint32_t table_id)
{
	INBOX(in, create_flow_group_in, CREATE_FLOW_GROUP);
	uint8_t out[SZ(create_flow_group_out)];
	void *mask = IN(IN(in, create_flow_group_in, match_criteria), fte_match_param, outer_headers);

	SET(in, create_flow_group_in, table_id, table_id);
	SET(in, create_flow_group_in, end_flow_index, 15);
	SET(in, create_flow_group_in, match_criteria_enable, 1);
	SET(mask, fte_match_set_lyr_2_4, ethertype, 0xffff);
	create(ctx, in, sizeof(in), out, sizeof(out));
	return (uint32_t)GET(out, create_flow_group_out, group_id);
}

#define ENTRY_SZ (SZ(set_fte_in) + 2 * SZ(dest_format))

/* to: a table, or 0; counter: its id, or 0. */
static void entry_inbox(uint8_t in[ENTRY_SZ], uint32_t table_id, uint32_t group_id, uint32_t index, uint16_t type, uint32_t action,
			uint32_t to, uint32_t counter)
{
	uint8_t *item = in + SZ(set_fte_in);
	void *ctx = IN(in, set_fte_in, flow_context);
	void *value = IN(IN(ctx, flow_context, match_value), fte_match_param, outer_headers);

	memset(in, 0, ENTRY_SZ);
	set_opcode(in, PRM_OP_SET_FLOW_TABLE_ENTRY);
	SET(in, set_fte_in, table_id, table_id);
	SET(in, set_fte_in, flow_index, index);
	SET(ctx, flow_context, group_id, group_id);
	SET(ctx, flow_context, action, action | (to ? FWD : 0) | (counter ? COUNT : 0));
	SET(value, fte_match_set_lyr_2_4, ethertype, type);
	if (to) {
		SET(ctx, flow_context, destination_list_size, 1);
		SET(item, dest_format, destination_type, TO_TABLE);
		SET(item, dest_format, destination_id, to);
		item += SZ(dest_format);
	}
	if (counter) {
		SET(ctx, flow_context, flow_counter_list_size, 1);
		SET(item, flow_counter_list, flow_counter_id, counter);
	}
}

static struct mlx5dv_devx_obj *entry(struct ibv_context *ctx, uint32_t table_id, uint32_t group_id, uint32_t index, uint16_t type,
				     uint32_t action, uint32_t to, uint32_t counter)
{
	uint8_t in[ENTRY_SZ], out[SZ(set_fte_out)];

	entry_inbox(in, table_id, group_id, index, type, action, to, counter);
	return create(ctx, in, sizeof(in), out, sizeof(out));
}

static void send(struct ibv_device *dev, uint16_t type)
{
	uint8_t frame[FRAME_SZ] = { [12] = (uint8_t)(type >> 8), [13] = (uint8_t)type };

	CHECK_EQ(odx_soft_packet(dev, frame, sizeof(frame), 1), 0);
}

static void expect_counter(struct mlx5dv_devx_obj *obj, uint32_t id, uint64_t packets)
{
	uint8_t out[COUNTERS_OUT(1)];

	CHECK_EQ(query_counters(obj, id, 1, out, sizeof(out)), 0);
	CHECK_EQ(packets_of(out, 0), packets);
	CHECK_EQ(octets_of(out, 0), packets * FRAME_SZ);
}

CASE(entry_counts_what_it_matches, "odx_soft_packet(3)", SOFT,
     "A frame that matches an entry is counted by the entry's counter, with all its bytes; another is not.")
{
	struct rig r = rig_soft("");
	uint32_t t = table(r.ctx, 0), g = group(r.ctx, t);

	entry(r.ctx, t, g, 0, 0x88b5, DROP, 0, r.id + 3);
	for (int i = 0; i < 3; i++)
		send(r.dev, 0x88b5);
	send(r.dev, 0x88b6);
	expect_counter(r.obj, r.id + 3, 3);
	expect_counter(r.obj, r.id, 0);
}

CASE(lowest_index_wins, "odx_soft_packet(3)", SOFT,
     "Of entries that match, the one of the lowest index does, whichever was made first.")
{
	struct rig r = rig_soft("");
	uint32_t t = table(r.ctx, 0), g = group(r.ctx, t);
	struct mlx5dv_devx_obj *first;

	entry(r.ctx, t, g, 9, 0x88b5, DROP, 0, r.id + 9);
	first = entry(r.ctx, t, g, 4, 0x88b5, DROP, 0, r.id + 4);
	send(r.dev, 0x88b5);
	expect_counter(r.obj, r.id + 4, 1);
	CHECK_EQ(destroy(first), 0);
	send(r.dev, 0x88b5);
	expect_counter(r.obj, r.id + 4, 1);
	expect_counter(r.obj, r.id + 9, 1);
}

CASE(entry_sends_on_to_a_table, "odx_soft_packet(3)", SOFT,
     "An entry sends a frame on to a table of a higher level, and counts it too; a table of no higher level is refused.")
{
	struct rig r = rig_soft("");
	uint32_t t = table(r.ctx, 1), next = table(r.ctx, 2), g = group(r.ctx, t), g_next = group(r.ctx, next);
	uint8_t in[ENTRY_SZ], out[SZ(set_fte_out)];

	entry_inbox(in, next, g_next, 0, 0x88b5, 0, t, 0);
	refuse(r.ctx, in, sizeof(in), out, sizeof(out), EREMOTEIO);
	entry(r.ctx, t, g, 0, 0x88b5, 0, next, r.id);
	entry(r.ctx, next, g_next, 0, 0x88b5, ALLOW, 0, r.id + 1);
	send(r.dev, 0x88b5);
	expect_counter(r.obj, r.id, 1);
	expect_counter(r.obj, r.id + 1, 1);
}

CASE(miss_goes_where_the_table_says, "odx_soft_packet(3)", SOFT,
     "A frame that nothing matches goes to the table that MODIFY_FLOW_TABLE has set for misses.")
{
	struct rig r = rig_soft("");
	uint32_t next = table(r.ctx, 2), g_next = group(r.ctx, next);
	INBOX(in, create_flow_table_in, CREATE_FLOW_TABLE);
	INBOX(modify, modify_flow_table_in, MODIFY_FLOW_TABLE);
	uint8_t out[SZ(create_flow_table_out)], modified[SZ(modify_flow_table_out)];
	struct mlx5dv_devx_obj *t = create(r.ctx, in, sizeof(in), out, sizeof(out));
	void *context = IN(modify, modify_flow_table_in, flow_table_context);

	entry(r.ctx, next, g_next, 0, 0x88b5, DROP, 0, r.id);
	send(r.dev, 0x88b5);
	expect_counter(r.obj, r.id, 0);
	SET(modify, modify_flow_table_in, table_id, GET(out, create_flow_table_out, table_id));
	SET(modify, modify_flow_table_in, modify_field_select, 1);
	SET(context, flow_table_context, table_miss_action, 1);
	SET(context, flow_table_context, table_miss_id, next);
	CHECK_EQ(mlx5dv_devx_obj_modify(t, modify, sizeof(modify), modified, sizeof(modified)), 0);
	send(r.dev, 0x88b5);
	expect_counter(r.obj, r.id, 1);
}

CASE(entry_is_modified, "odx_soft_packet(3)", SOFT,
     "SET_FLOW_TABLE_ENTRY with op_mod 1 changes the counter of an entry in use.")
{
	struct rig r = rig_soft("");
	uint32_t t = table(r.ctx, 0), g = group(r.ctx, t);
	struct mlx5dv_devx_obj *obj = entry(r.ctx, t, g, 5, 0x88b5, DROP, 0, r.id);
	uint8_t in[ENTRY_SZ], out[SZ(set_fte_out)];

	send(r.dev, 0x88b5);
	entry_inbox(in, t, g, 5, 0, DROP, 0, r.id + 1);
	set_op_mod(in, 1);
	SET(in, set_fte_in, modify_enable_mask, 1 << 3); /* the counters */
	CHECK_EQ(mlx5dv_devx_obj_modify(obj, in, sizeof(in), out, sizeof(out)), 0);
	send(r.dev, 0x88b5);
	expect_counter(r.obj, r.id, 1);
	expect_counter(r.obj, r.id + 1, 1);
}

CASE(every_context_sees_the_frame, "odx_soft_packet(3)", SOFT,
     "Without a root table each context has the frame in its own first table: that of the lowest level.")
{
	struct rig a = rig_soft(""), b = rig_on(a.dev);
	uint32_t high = table(a.ctx, 4), g_high = group(a.ctx, high), low, g_low, other;

	entry(a.ctx, high, g_high, 0, 0x88b5, DROP, 0, a.id);
	other = table(b.ctx, 9);
	entry(b.ctx, other, group(b.ctx, other), 0, 0x88b5, DROP, 0, b.id);
	send(a.dev, 0x88b5);
	expect_counter(a.obj, a.id, 1);
	expect_counter(b.obj, b.id, 1);
	low = table(a.ctx, 3);
	g_low = group(a.ctx, low);
	entry(a.ctx, low, g_low, 0, 0x88b5, DROP, 0, a.id + 1);
	send(a.dev, 0x88b5);
	expect_counter(a.obj, a.id, 1);
	expect_counter(a.obj, a.id + 1, 1);
	expect_counter(b.obj, b.id, 2);
}

CASE(entry_holds_its_counter, "odx_soft_packet(3)", SOFT,
     "A counter that an entry counts on cannot be destroyed; it can once the entry is gone.")
{
	struct rig r = rig_soft("");
	uint32_t t = table(r.ctx, 0), g = group(r.ctx, t), id;
	struct mlx5dv_devx_obj *counter = counters(r.ctx, 0, &id), *obj = entry(r.ctx, t, g, 0, 0x88b5, DROP, 0, id);

	CHECK_EQ(destroy(counter), EINVAL);
	CHECK_EQ(destroy(obj), 0);
	CHECK_EQ(destroy(counter), 0);
}

CASE(what_is_no_frame, "odx_soft_packet(3)", SOFT,
     "No device, no frame, lengths below 14 and above 65,535, and ports other than 1 give EINVAL; a port without a link "
     "ENETDOWN; a removed device EIO.")
{
	static const uint8_t frame[65536];
	struct ibv_device *dev = soft("");

	CHECK_EQ(odx_soft_packet(NULL, frame, 64, 1), EINVAL);
	CHECK_EQ(odx_soft_packet(dev, NULL, 64, 1), EINVAL);
	CHECK_EQ(odx_soft_packet(dev, frame, 13, 1), EINVAL);
	CHECK_EQ(odx_soft_packet(dev, frame, 65536, 1), EINVAL);
	CHECK_EQ(odx_soft_packet(dev, frame, 64, 0), EINVAL);
	CHECK_EQ(odx_soft_packet(dev, frame, 64, 2), EINVAL);
	CHECK_EQ(odx_soft_packet(dev, frame, 14, 1), 0);
	CHECK_EQ(odx_soft_packet(dev, frame, 65535, 1), 0);
	CHECK_EQ(odx_soft_port(dev, 1, 0), 0);
	CHECK_EQ(odx_soft_packet(dev, frame, 64, 1), ENETDOWN);
	CHECK_EQ(odx_soft_port(dev, 1, 1), 0);
	CHECK_EQ(odx_soft_packet(dev, frame, 64, 1), 0);
	CHECK_EQ(odx_soft_remove(dev), 0);
	CHECK_EQ(odx_soft_packet(dev, frame, 64, 1), EIO);
}
