/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>

#include "flow.h"

void table_cmd(struct cmd *c, uint16_t uid, uint32_t type, uint32_t level)
{
	struct prm_box ctx;

	CMD(c, CREATE_FLOW_TABLE, uid, create_flow_table);
	SET(c, create_flow_table_in, table_type, type);
	ctx = PRM_SUB(&c->i, create_flow_table_in, flow_table_context);
	PRM_SET(&ctx, flow_table_context, level, level);
	PRM_SET(&ctx, flow_table_context, log_size, LOG_SIZE);
}

uint32_t new_table(struct dev *d, uint16_t uid, uint32_t type, uint32_t level)
{
	struct cmd c;

	table_cmd(&c, uid, type, level);
	cmd_ok(d, &c);
	return (uint32_t)OUT(&c, create_flow_table_out, table_id);
}

void table_end(struct cmd *c, uint16_t uid, uint32_t type, uint32_t table)
{
	CMD(c, DESTROY_FLOW_TABLE, uid, destroy_flow_table);
	SET(c, destroy_flow_table_in, table_type, type);
	SET(c, destroy_flow_table_in, table_id, table);
}

void group_cmd(struct cmd *c, uint16_t uid, uint32_t table, uint32_t start, uint32_t end)
{
	CMD(c, CREATE_FLOW_GROUP, uid, create_flow_group);
	SET(c, create_flow_group_in, table_id, table);
	SET(c, create_flow_group_in, start_flow_index, start);
	SET(c, create_flow_group_in, end_flow_index, end);
	SET(c, create_flow_group_in, match_criteria_enable, 1);
}

uint32_t new_group(struct dev *d, uint16_t uid, uint32_t table, uint32_t start, uint32_t end)
{
	struct cmd c;

	group_cmd(&c, uid, table, start, end);
	cmd_ok(d, &c);
	return (uint32_t)OUT(&c, create_flow_group_out, group_id);
}

void group_end(struct cmd *c, uint16_t uid, uint32_t table, uint32_t group)
{
	CMD(c, DESTROY_FLOW_GROUP, uid, destroy_flow_group);
	SET(c, destroy_flow_group_in, table_id, table);
	SET(c, destroy_flow_group_in, group_id, group);
}

struct prm_box criteria(struct cmd *c, uint32_t section_bit, uint32_t section_width)
{
	struct prm_box all = PRM_SUB(&c->i, create_flow_group_in, match_criteria);

	return prm_sub(&all, section_bit, section_width);
}

void entry_cmd(struct cmd *c, uint16_t uid, uint32_t table, uint32_t group, uint32_t index)
{
	struct prm_box ctx;

	CMD(c, SET_FLOW_TABLE_ENTRY, uid, set_fte);
	SET(c, set_fte_in, table_id, table);
	SET(c, set_fte_in, flow_index, index);
	ctx = entry_ctx(c);
	PRM_SET(&ctx, flow_context, group_id, group);
	entry_action(c, FTE_DROP);
}

struct prm_box entry_ctx(struct cmd *c)
{
	return PRM_SUB(&c->i, set_fte_in, flow_context);
}

struct prm_box entry_value(struct cmd *c, uint32_t section_bit, uint32_t section_width)
{
	struct prm_box ctx = entry_ctx(c), value = PRM_SUB(&ctx, flow_context, match_value);

	return prm_sub(&value, section_bit, section_width);
}

void entry_action(struct cmd *c, uint32_t action)
{
	struct prm_box ctx = entry_ctx(c);

	PRM_SET(&ctx, flow_context, action, action);
}

static struct prm_box next_item(struct cmd *c)
{
	uint8_t *at = c->in + c->inlen;

	c->inlen += PRM_SZ(dest_format);
	c->i = prm_out(c->in, c->inlen);
	return prm_out(at, PRM_SZ(dest_format));
}

void entry_dest(struct cmd *c, uint32_t type, uint32_t id)
{
	struct prm_box item = next_item(c), ctx = entry_ctx(c);

	PRM_SET(&item, dest_format, destination_type, type);
	PRM_SET(&item, dest_format, destination_id, id);
	PRM_SET(&ctx, flow_context, destination_list_size, PRM_GET(&ctx, flow_context, destination_list_size) + 1);
}

void entry_counter(struct cmd *c, uint32_t id)
{
	struct prm_box item = next_item(c), ctx = entry_ctx(c);

	PRM_SET(&item, flow_counter_list, flow_counter_id, id);
	PRM_SET(&ctx, flow_context, flow_counter_list_size, PRM_GET(&ctx, flow_context, flow_counter_list_size) + 1);
}

void entry_end(struct cmd *c, uint16_t uid, uint32_t table, uint32_t index)
{
	CMD(c, DELETE_FLOW_TABLE_ENTRY, uid, delete_fte);
	SET(c, delete_fte_in, table_id, table);
	SET(c, delete_fte_in, flow_index, index);
}

void entry_query(struct cmd *c, uint16_t uid, uint32_t table, uint32_t index, uint32_t items)
{
	CMD(c, QUERY_FLOW_TABLE_ENTRY, uid, query_fte);
	SET(c, query_fte_in, table_id, table);
	SET(c, query_fte_in, flow_index, index);
	c->outlen += items * PRM_SZ(dest_format);
}

uint32_t new_counter(struct dev *d, uint16_t uid)
{
	struct cmd c;

	CMD(&c, ALLOC_FLOW_COUNTER, uid, alloc_flow_counter);
	cmd_ok(d, &c);
	return (uint32_t)OUT(&c, alloc_flow_counter_out, flow_counter_id);
}

uint64_t counted(struct dev *d, uint16_t uid, uint32_t id, bool octets)
{
	struct prm_box value;
	struct cmd c;

	CMD(&c, QUERY_FLOW_COUNTER, uid, query_flow_counter);
	SET(&c, query_flow_counter_in, flow_counter_id, id);
	c.outlen += PRM_SZ(traffic_counter);
	cmd_ok(d, &c);
	value = prm_in(c.out + PRM_SZ(query_flow_counter_out), PRM_SZ(traffic_counter));
	return octets ? PRM_GET(&value, traffic_counter, octets) : PRM_GET(&value, traffic_counter, packets);
}

#define REFORMAT_AT 34u /* where the data of a reformat context begins in its inbox */

void reformat_cmd(struct cmd *c, uint16_t uid, uint32_t type, const void *data, uint32_t size)
{
	struct prm_box ctx;

	cmd_new(c, PRM_OP_ALLOC_PACKET_REFORMAT_CONTEXT, uid, REFORMAT_AT + (data ? size : 0), PRM_SZ(alloc_packet_reformat_context_out));
	ctx = prm_out(c->in + REFORMAT_AT - 6, 6);
	PRM_SET(&ctx, packet_reformat_context_in, reformat_type, type);
	PRM_SET(&ctx, packet_reformat_context_in, reformat_data_size, size);
	if (data)
		memcpy(c->in + REFORMAT_AT, data, size);
}

uint32_t new_reformat(struct dev *d, uint16_t uid, uint32_t type, const void *data, uint32_t size)
{
	struct cmd c;

	reformat_cmd(&c, uid, type, data, size);
	cmd_ok(d, &c);
	return (uint32_t)OUT(&c, alloc_packet_reformat_context_out, packet_reformat_id);
}

void modify_cmd(struct cmd *c, uint16_t uid, uint32_t type)
{
	CMD(c, ALLOC_MODIFY_HEADER_CONTEXT, uid, alloc_modify_header_context);
	SET(c, alloc_modify_header_context_in, table_type, type);
}

static struct prm_box next_action(struct cmd *c, uint32_t type, uint32_t field)
{
	struct prm_box b = prm_out(c->in + c->inlen, PRM_SZ(set_action_in));

	c->inlen += PRM_SZ(set_action_in);
	c->i = prm_out(c->in, c->inlen);
	SET(c, alloc_modify_header_context_in, num_of_actions, PRM_GET(&c->i, alloc_modify_header_context_in, num_of_actions) + 1);
	PRM_SET(&b, set_action_in, action_type, type);
	PRM_SET(&b, set_action_in, field, field);
	return b;
}

void modify_set(struct cmd *c, uint32_t field, uint32_t offset, uint32_t length, uint32_t data)
{
	struct prm_box b = next_action(c, 1, field);

	PRM_SET(&b, set_action_in, offset, offset);
	PRM_SET(&b, set_action_in, length, length);
	PRM_SET(&b, set_action_in, data, data);
}

void modify_add(struct cmd *c, uint32_t field, uint32_t data)
{
	struct prm_box b = next_action(c, 2, field);

	PRM_SET(&b, add_action_in, data, data);
}

void modify_copy(struct cmd *c, uint32_t from, uint32_t from_at, uint32_t length, uint32_t to, uint32_t to_at)
{
	struct prm_box b = next_action(c, 3, from);

	PRM_SET(&b, copy_action_in, src_offset, from_at);
	PRM_SET(&b, copy_action_in, length, length);
	PRM_SET(&b, copy_action_in, dst_field, to);
	PRM_SET(&b, copy_action_in, dst_offset, to_at);
}

uint32_t made_modify(struct dev *d, struct cmd *c)
{
	cmd_ok(d, c);
	return (uint32_t)OUT(c, alloc_modify_header_context_out, modify_header_id);
}

void pkt_raw(struct pkt *p, const char *hex)
{
	unsigned int v;

	for (; *hex; hex += 2) {
		while (*hex == ' ')
			hex++;
		assert_int_equal(sscanf(hex, "%2x", &v), 1);
		p->b[p->n++] = (uint8_t)v;
	}
}

void pkt_eth(struct pkt *p, const char *type)
{
	pkt_raw(p, "0a0000000001 0a0000000002");
	pkt_raw(p, type);
}

uint32_t group_by(struct dev *d, uint16_t uid, uint32_t table, uint32_t start, uint32_t end, uint8_t enable, uint32_t at,
			 uint32_t width)
{
	struct prm_box all;
	struct cmd c;

	group_cmd(&c, uid, table, start, end);
	SET(&c, create_flow_group_in, match_criteria_enable, enable);
	all = PRM_SUB(&c.i, create_flow_group_in, match_criteria);
	prm_set(&all, at, width, UINT64_MAX);
	cmd_ok(d, &c);
	return (uint32_t)OUT(&c, create_flow_group_out, group_id);
}

uint32_t entry_of(struct dev *d, struct cmd *c, uint16_t uid, uint32_t table, uint32_t group, uint32_t index, uint32_t at,
			 uint32_t width, uint64_t value)
{
	struct prm_box ctx, all;

	entry_cmd(c, uid, table, group, index);
	ctx = entry_ctx(c);
	all = PRM_SUB(&ctx, flow_context, match_value);
	prm_set(&all, at, width, value);
	return new_counter(d, uid);
}

uint32_t add_entry(struct dev *d, uint16_t uid, uint32_t table, uint32_t group, uint32_t index, uint32_t at, uint32_t width,
			  uint64_t value)
{
	struct cmd c;
	uint32_t counter = entry_of(d, &c, uid, table, group, index, at, width, value);

	entry_action(&c, FTE_DROP | FTE_COUNT);
	entry_counter(&c, counter);
	cmd_ok(d, &c);
	return counter;
}

void pkt_send(struct dev *d, const struct pkt *p, struct hca_packet *r)
{
	assert_true(hca_packet(d->h, p->b, p->n, 1, r));
}

void pkt_udp(struct pkt *p, const char *dport)
{
	p->n = 0;
	pkt_eth(p, IPV4);
	pkt_raw(p, IP4("11") "1389");
	pkt_raw(p, dport);
	pkt_raw(p, "0000 0000");
}
