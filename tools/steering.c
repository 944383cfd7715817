/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <netinet/in.h>
#include <opendevx/soft.h>
#include <stdlib.h>
#include <string.h>

#include "devx.h"
#include "prm.h"
#include "steering.h"

#define LOG_ENTRIES 24u /* of the table of a class: what a software device has */
#define ETH_HEADER 14u
#define FRAME_MAX 65535u

/* Actions and destination types. Linux, include/linux/mlx5/mlx5_ifc.h, MLX5_FLOW_CONTEXT_*. */
enum { ACTION_DROP = 0x2, ACTION_FWD = 0x4, ACTION_COUNT = 0x8, DEST_TABLE = 1 };

enum class { V4_TCP, V4_UDP, V4_OTHER, V6_TCP, V6_UDP, V6_OTHER };

static enum class class_of(const struct flow_key *key)
{
	enum class first = key->family == 4 ? V4_TCP : V6_TCP;

	return first + (key->proto == IPPROTO_TCP ? V4_TCP : key->proto == IPPROTO_UDP ? V4_UDP : V4_OTHER);
}

bool steering_can(const struct flow_key *key)
{
	return !flow_has_ports(key->proto) || key->proto == IPPROTO_TCP || key->proto == IPPROTO_UDP;
}

/* The family of calls says of a refusal only EREMOTEIO; the rest is in the outbox. */
static struct mlx5dv_devx_obj *create(struct ibv_context *ctx, const char *name, const char *what, const void *in, size_t inlen,
				      void *out, size_t outlen)
{
	struct mlx5dv_devx_obj *obj = mlx5dv_devx_obj_create(ctx, in, inlen, out, outlen);
	struct prm_box b = prm_in(out, outlen);
	uint8_t status = (uint8_t)PRM_GET(&b, nop_out, status);

	if (obj)
		return obj;
	if (errno != EREMOTEIO)
		devx_error("%s: no %s: %s", name, what, strerror(errno));
	else
		devx_error("%s: no %s: status 0x%x (%s), syndrome 0x%x", name, what, status, prm_status_name(status),
			   (unsigned int)PRM_GET(&b, nop_out, syndrome));
	return NULL;
}

static struct mlx5dv_devx_obj *make_table(struct ibv_context *ctx, const char *name, uint32_t level, uint32_t log_size,
					  uint32_t *id)
{
	uint8_t in[PRM_SZ(create_flow_table_in)] = { 0 }, out[PRM_SZ(create_flow_table_out)] = { 0 };
	struct prm_box b = prm_out(in, sizeof(in)), o = prm_in(out, sizeof(out));
	struct prm_box table = PRM_SUB(&b, create_flow_table_in, flow_table_context);
	struct mlx5dv_devx_obj *obj;

	PRM_SET(&b, create_flow_table_in, opcode, PRM_OP_CREATE_FLOW_TABLE);
	PRM_SET(&table, flow_table_context, level, level);
	PRM_SET(&table, flow_table_context, log_size, log_size);
	obj = create(ctx, name, "flow table", in, sizeof(in), out, sizeof(out));
	*id = (uint32_t)PRM_GET(&o, create_flow_table_out, table_id);
	return obj;
}

/* What a group compares, all bits of each. */
enum { BY_VERSION = 1, BY_PROTOCOL = 2, BY_ADDRESSES = 4, BY_TCP_PORTS = 8, BY_UDP_PORTS = 16 };

static struct mlx5dv_devx_obj *make_group(struct ibv_context *ctx, const char *name, uint32_t table, uint32_t start,
					  uint32_t end, unsigned int by, uint32_t *id)
{
	uint8_t in[PRM_SZ(create_flow_group_in)] = { 0 }, out[PRM_SZ(create_flow_group_out)] = { 0 };
	struct prm_box b = prm_out(in, sizeof(in)), o = prm_in(out, sizeof(out)), addr;
	struct prm_box mask = PRM_SUB(&b, create_flow_group_in, match_criteria);
	struct prm_box outer = PRM_SUB(&mask, fte_match_param, outer_headers);
	struct mlx5dv_devx_obj *obj;

	PRM_SET(&b, create_flow_group_in, opcode, PRM_OP_CREATE_FLOW_GROUP);
	PRM_SET(&b, create_flow_group_in, table_id, table);
	PRM_SET(&b, create_flow_group_in, start_flow_index, start);
	PRM_SET(&b, create_flow_group_in, end_flow_index, end);
	PRM_SET(&b, create_flow_group_in, match_criteria_enable, 1); /* outer headers */
	if (by & BY_VERSION)
		PRM_SET(&outer, fte_match_set_lyr_2_4, ip_version, UINT64_MAX);
	if (by & BY_PROTOCOL)
		PRM_SET(&outer, fte_match_set_lyr_2_4, ip_protocol, UINT64_MAX);
	if (by & BY_ADDRESSES) {
		addr = PRM_SUB(&outer, fte_match_set_lyr_2_4, src_ipv4_src_ipv6);
		memset(addr.p, 0xff, addr.len);
		addr = PRM_SUB(&outer, fte_match_set_lyr_2_4, dst_ipv4_dst_ipv6);
		memset(addr.p, 0xff, addr.len);
	}
	if (by & BY_TCP_PORTS) {
		PRM_SET(&outer, fte_match_set_lyr_2_4, tcp_sport, UINT64_MAX);
		PRM_SET(&outer, fte_match_set_lyr_2_4, tcp_dport, UINT64_MAX);
	}
	if (by & BY_UDP_PORTS) {
		PRM_SET(&outer, fte_match_set_lyr_2_4, udp_sport, UINT64_MAX);
		PRM_SET(&outer, fte_match_set_lyr_2_4, udp_dport, UINT64_MAX);
	}
	obj = create(ctx, name, "flow group", in, sizeof(in), out, sizeof(out));
	*id = (uint32_t)PRM_GET(&o, create_flow_group_out, group_id);
	return obj;
}

/* An entry's inbox. One item follows it: a destination or a counter. */
struct entry {
	uint8_t in[PRM_SZ(set_fte_in) + PRM_SZ(dest_format)];
	struct prm_box b, ctx, outer, item;
};

static void begin_entry(struct entry *e, uint32_t table, uint32_t group, uint32_t index, uint32_t action)
{
	struct prm_box value;

	memset(e->in, 0, sizeof(e->in));
	e->b = prm_out(e->in, sizeof(e->in));
	e->ctx = PRM_SUB(&e->b, set_fte_in, flow_context);
	value = PRM_SUB(&e->ctx, flow_context, match_value);
	e->outer = PRM_SUB(&value, fte_match_param, outer_headers);
	e->item = prm_out(e->in + PRM_SZ(set_fte_in), PRM_SZ(dest_format));
	PRM_SET(&e->b, set_fte_in, opcode, PRM_OP_SET_FLOW_TABLE_ENTRY);
	PRM_SET(&e->b, set_fte_in, table_id, table);
	PRM_SET(&e->b, set_fte_in, flow_index, index);
	PRM_SET(&e->ctx, flow_context, group_id, group);
	PRM_SET(&e->ctx, flow_context, action, action);
}

static struct mlx5dv_devx_obj *end_entry(struct entry *e, struct ibv_context *ctx, const char *name)
{
	uint8_t out[PRM_SZ(set_fte_out)] = { 0 };

	return create(ctx, name, "further flow table entry", e->in, sizeof(e->in), out, sizeof(out));
}

static bool make_class(struct steering *st, struct ibv_context *ctx, const char *name, enum class class)
{
	static const unsigned int by[] = { BY_TCP_PORTS, BY_UDP_PORTS, BY_PROTOCOL };
	struct steering_class *c = &st->class[class];

	c->table = make_table(ctx, name, 1, LOG_ENTRIES, &c->table_id);
	if (!c->table)
		return false;
	c->group = make_group(ctx, name, c->table_id, 0, (1u << LOG_ENTRIES) - 1, BY_ADDRESSES | by[class % 3], &c->group_id);
	return c->group != NULL;
}

/* The entry of the first table that leads to a class: TCP and UDP by version and protocol, what is left by version. */
static struct mlx5dv_devx_obj *make_way(struct steering *st, struct ibv_context *ctx, const char *name, uint32_t table,
					const uint32_t groups[2], enum class class)
{
	static const uint8_t protocols[] = { IPPROTO_TCP, IPPROTO_UDP, 0 };
	bool other = class % 3 == V4_OTHER;
	uint32_t index = other ? 4 + class / 3 : class / 3 * 2 + class % 3;
	struct entry e;

	begin_entry(&e, table, groups[other], index, ACTION_FWD);
	PRM_SET(&e.outer, fte_match_set_lyr_2_4, ip_version, class < V6_TCP ? 4 : 6);
	PRM_SET(&e.outer, fte_match_set_lyr_2_4, ip_protocol, protocols[class % 3]);
	PRM_SET(&e.ctx, flow_context, destination_list_size, 1);
	PRM_SET(&e.item, dest_format, destination_type, DEST_TABLE);
	PRM_SET(&e.item, dest_format, destination_id, st->class[class].table_id);
	return end_entry(&e, ctx, name);
}

static bool make_root(struct steering *st, struct ibv_context *ctx, const char *name)
{
	uint32_t table, groups[2];

	st->frame = malloc(FRAME_MAX);
	if (!st->frame) {
		devx_error("out of memory");
		return false;
	}
	st->root[st->n_root] = make_table(ctx, name, 0, 3, &table);
	if (!st->root[st->n_root])
		return false;
	st->n_root++;
	for (unsigned int i = 0; i < 2; i++) {
		st->root[st->n_root] = make_group(ctx, name, table, i ? 4 : 0, i ? 5 : 3,
						  i ? BY_VERSION : BY_VERSION | BY_PROTOCOL, &groups[i]);
		if (!st->root[st->n_root])
			return false;
		st->n_root++;
	}
	for (enum class class = V4_TCP; class <= V6_OTHER; class++) {
		if (!make_class(st, ctx, name, class))
			return false;
		st->root[st->n_root] = make_way(st, ctx, name, table, groups, class);
		if (!st->root[st->n_root])
			return false;
		st->n_root++;
	}
	return true;
}

static void match_flow(struct prm_box *outer, const struct flow_key *key)
{
	struct prm_box src = PRM_SUB(outer, fte_match_set_lyr_2_4, src_ipv4_src_ipv6);
	struct prm_box dst = PRM_SUB(outer, fte_match_set_lyr_2_4, dst_ipv4_dst_ipv6);

	if (key->family == 4) { /* at the end of the place */
		src = PRM_SUB(&src, ipv4_layout, ipv4);
		dst = PRM_SUB(&dst, ipv4_layout, ipv4);
	}
	memcpy(src.p, key->src, src.len);
	memcpy(dst.p, key->dst, dst.len);
	PRM_SET(outer, fte_match_set_lyr_2_4, ip_version, key->family);
	PRM_SET(outer, fte_match_set_lyr_2_4, ip_protocol, key->proto);
	if (key->proto == IPPROTO_TCP) {
		PRM_SET(outer, fte_match_set_lyr_2_4, tcp_sport, key->sport);
		PRM_SET(outer, fte_match_set_lyr_2_4, tcp_dport, key->dport);
	} else if (key->proto == IPPROTO_UDP) {
		PRM_SET(outer, fte_match_set_lyr_2_4, udp_sport, key->sport);
		PRM_SET(outer, fte_match_set_lyr_2_4, udp_dport, key->dport);
	}
}

bool steering_add(struct steering *st, struct ibv_context *ctx, const char *name, const struct flow_key *key, uint32_t counter)
{
	struct steering_class *c = &st->class[class_of(key)];
	struct entry e;

	if (!st->frame && !make_root(st, ctx, name))
		return false;
	if (st->n_entries == st->room) {
		uint32_t room = st->room ? st->room * 2 : 256;
		struct mlx5dv_devx_obj **entries = realloc(st->entries, room * sizeof(*entries));

		if (!entries) {
			devx_error("out of memory");
			return false;
		}
		st->entries = entries;
		st->room = room;
	}
	begin_entry(&e, c->table_id, c->group_id, c->used, ACTION_DROP | ACTION_COUNT);
	match_flow(&e.outer, key);
	PRM_SET(&e.ctx, flow_context, flow_counter_list_size, 1);
	PRM_SET(&e.item, flow_counter_list, flow_counter_id, counter);
	st->entries[st->n_entries] = end_entry(&e, ctx, name);
	if (!st->entries[st->n_entries])
		return false;
	st->n_entries++;
	c->used++;
	return true;
}

int steering_send(struct steering *st, struct ibv_device *dev, int dlt, const uint8_t *frame, size_t caplen,
		  const struct flow_key *key, size_t ip_at, uint64_t *octets)
{
	size_t len = caplen < FRAME_MAX ? caplen : FRAME_MAX;

	if (!flow_plain(dlt, frame, ip_at)) {
		static const uint8_t types[2][2] = { { 0x08, 0x00 }, { 0x86, 0xdd } };

		len = caplen - ip_at < FRAME_MAX - ETH_HEADER ? caplen - ip_at : FRAME_MAX - ETH_HEADER;
		memset(st->frame, 0, ETH_HEADER - 2);
		memcpy(st->frame + ETH_HEADER - 2, types[key->family == 6], 2);
		memcpy(st->frame + ETH_HEADER, frame + ip_at, len);
		len += ETH_HEADER;
		frame = st->frame;
	}
	*octets = len;
	return odx_soft_packet(dev, frame, len, 1);
}

static bool give_back(struct mlx5dv_devx_obj *obj, const char *name, bool ok)
{
	int err = obj ? mlx5dv_devx_obj_destroy(obj) : 0;

	if (err && ok)
		devx_error("%s: cannot give back a flow table, a group or an entry: %s", name, strerror(err));
	return ok && !err;
}

bool steering_close(struct steering *st, const char *name)
{
	bool ok = true;

	for (uint32_t i = st->n_entries; i-- > 0;)
		ok = give_back(st->entries[i], name, ok);
	for (uint32_t i = st->n_root; i-- > 0;)
		ok = give_back(st->root[i], name, ok);
	for (unsigned int i = 0; i < STEERING_CLASSES; i++) {
		ok = give_back(st->class[i].group, name, ok);
		ok = give_back(st->class[i].table, name, ok);
	}
	free(st->entries);
	free(st->frame);
	memset(st, 0, sizeof(*st));
	return ok;
}
