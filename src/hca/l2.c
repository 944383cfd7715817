/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the driver's own tables hold: UDP ports of VXLAN, and the addresses that the L2 table sends to this function. Both
 * kinds name their objects by the port or the index that the inbox brings. Setting an entry of the L2 table anew changes it.
 */
#include <string.h>

#include "init.h"
#include "steer.h"

/* The NIC takes this one for VXLAN by itself (Linux, drivers/net/ethernet/mellanox/mlx5/core/lib/vxlan.c). */
#define VXLAN_PORT_IANA 4789u

bool vxlan_port_known(const void *arg, uint16_t port)
{
	struct hca *h = (struct hca *)arg;

	return port == VXLAN_PORT_IANA || (h->tables[OBJ_VXLAN_PORT].count && obj_in_entry(obj_peek(h, OBJ_VXLAN_PORT, port)));
}

/* Ids are the inbox's, so none is ever taken from the table's own supply. */
static struct hca_obj *place(struct hca *h, enum obj_type type, uint16_t uid, uint32_t id, enum syn *why)
{
	void **entry = pages_allow(h) ? obj_entry(h, type, id) : NULL;
	struct hca_obj *obj = entry ? obj_alloc(type, uid, 0) : NULL;

	*why = obj ? SYN_OK : pages_allow(h) ? SYN_NO_MEMORY : SYN_PAGES;
	if (!obj)
		return NULL;
	obj->id = id;
	*entry = obj;
	obj_count(h, obj);
	return obj;
}

static enum syn add_vxlan_port(struct hca *h, struct call *c)
{
	uint32_t port = (uint32_t)PRM_GET(&c->in, add_vxlan_udp_dport_in, vxlan_udp_port);
	enum syn syn;

	if (obj_in_entry(obj_peek(h, OBJ_VXLAN_PORT, port)))
		return SYN_VXLAN_TAKEN;
	if (h->tables[OBJ_VXLAN_PORT].count == VXLAN_PORTS_MAX)
		return SYN_VXLAN_LIMIT;
	place(h, OBJ_VXLAN_PORT, c->uid, port, &syn);
	return syn;
}

static enum syn set_l2_entry(struct hca *h, struct call *c)
{
	uint32_t index = (uint32_t)PRM_GET(&c->in, set_l2_table_entry_in, table_index);
	struct l2_entry *e;
	enum syn syn;

	if (PRM_GET(&c->in, set_l2_table_entry_in, silent_mode_valid))
		return SYN_L2_SILENT;
	if (index >> L2_LOG_ENTRIES)
		return SYN_L2_INDEX;
	e = (struct l2_entry *)obj_in_entry(obj_peek(h, OBJ_L2_ENTRY, index));
	if (e && e->obj.uid != c->uid)
		return SYN_L2_TAKEN;
	if (!e)
		e = (struct l2_entry *)place(h, OBJ_L2_ENTRY, c->uid, index, &syn);
	if (!e)
		return syn;
	memcpy(e->in, c->in.p, sizeof(e->in));
	return SYN_OK;
}

static enum syn query_l2_entry(struct hca *h, struct call *c)
{
	struct prm_box e = prm_in(((struct l2_entry *)c->obj)->in, PRM_SZ(set_l2_table_entry_in));
	struct prm_box from = PRM_SUB(&e, set_l2_table_entry_in, mac_address);
	struct prm_box to = PRM_SUB(&c->out, query_l2_table_entry_out, mac_address);

	PRM_SET(&c->out, query_l2_table_entry_out, vlan_valid, PRM_GET(&e, set_l2_table_entry_in, vlan_valid));
	PRM_SET(&c->out, query_l2_table_entry_out, vlan, PRM_GET(&e, set_l2_table_entry_in, vlan));
	PRM_SET(&to, mac_address_layout, mac_addr_47_32, PRM_GET(&from, mac_address_layout, mac_addr_47_32));
	PRM_SET(&to, mac_address_layout, mac_addr_31_0, PRM_GET(&from, mac_address_layout, mac_addr_31_0));
	return SYN_OK;
}

const struct hca_op ops_l2[] = {
	OP_ROW(ADD_VXLAN_UDP_DPORT, add_vxlan_udp_dport, OP_PLAIN, add_vxlan_port),
	OP_OBJ_ROW(DELETE_VXLAN_UDP_DPORT, delete_vxlan_udp_dport, OP_DESTROY, OBJ_VXLAN_PORT, vxlan_udp_port, NULL),
	OP_ROW(SET_L2_TABLE_ENTRY, set_l2_table_entry, OP_PLAIN, set_l2_entry),
	OP_OBJ_ROW(QUERY_L2_TABLE_ENTRY, query_l2_table_entry, OP_ON, OBJ_L2_ENTRY, table_index, query_l2_entry),
	OP_OBJ_ROW(DELETE_L2_TABLE_ENTRY, delete_l2_table_entry, OP_DESTROY, OBJ_L2_ENTRY, table_index, NULL),
	{ 0 },
};
