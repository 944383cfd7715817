/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The context of the function's own NIC vport: what a driver sets of it, and the lists of addresses that it wants. Nothing
 * filters by them here: a packet meets the flow tables, whatever its address.
 */
#include <stdlib.h>
#include <string.h>

#include "caps.h"
#include "context.h"
#include "vport.h"

/* Kinds of lists. Linux, include/linux/mlx5/device.h: MLX5_NVPRT_LIST_TYPE_*. */
enum { LIST_UC, LIST_MC, LIST_VLAN };

#define ENTRY_BYTES 8u
_Static_assert(PRM_SZ(mac_address_layout) == ENTRY_BYTES && PRM_SZ(vlan_layout) == ENTRY_BYTES, "entries of all lists");

static void put_mac(struct prm_box *b, uint64_t mac)
{
	PRM_SET(b, mac_address_layout, mac_addr_47_32, mac >> 32);
	PRM_SET(b, mac_address_layout, mac_addr_31_0, mac & 0xffffffff);
}

void nic_vport_start(struct vport *v, const struct hca_config *cfg)
{
	struct prm_box nic = prm_out(v->nic, sizeof(v->nic)), mac;

	memset(v->nic, 0, sizeof(v->nic));
	for (int i = 0; i < NIC_LISTS; i++) {
		free(v->lists[i].entries);
		v->lists[i].entries = NULL;
		v->lists[i].n = 0;
	}
	PRM_SET(&nic, nic_vport_context, roce_en, !cfg->bare); /* else the driver switches it on */
	PRM_SET(&nic, nic_vport_context, mtu, VPORT_MTU);
	PRM_SET(&nic, nic_vport_context, system_image_guid, cfg->guid);
	PRM_SET(&nic, nic_vport_context, port_guid, cfg->guid);
	PRM_SET(&nic, nic_vport_context, node_guid, cfg->guid);
	mac = PRM_SUB(&nic, nic_vport_context, permanent_address);
	put_mac(&mac, mac_of_guid(cfg->guid));
}

static enum syn query_nic_vport_context(struct hca *h, struct call *c)
{
	struct prm_box ctx = PRM_SUB(&c->out, query_nic_vport_context_out, nic_vport_context), own;
	uint64_t type = PRM_GET(&c->in, query_nic_vport_context_in, allowed_list_type);
	const uint32_t at = PRM_SZ(query_nic_vport_context_out);
	const struct nic_list *list = &h->vport->lists[type % NIC_LISTS];
	uint32_t n = list->n, room = (c->out.len - at) / ENTRY_BYTES;
	enum syn syn = vport_own(c, false);

	if (syn != SYN_OK)
		return syn;
	if (type > LIST_VLAN)
		return SYN_VPORT_LIST;
	memcpy(ctx.p, h->vport->nic, sizeof(h->vport->nic));
	/* The list follows the context, as far as there is room. Without a driver it is the function's own address. */
	if (n > room)
		n = room;
	if (n)
		memcpy(c->out.p + at, list->entries, n * ENTRY_BYTES);
	if (!h->cfg.bare && type == LIST_UC && room) {
		n = 1;
		own = prm_out(c->out.p + at, ENTRY_BYTES);
		put_mac(&own, hca_mac(h));
	}
	PRM_SET(&ctx, nic_vport_context, allowed_list_type, type);
	PRM_SET(&ctx, nic_vport_context, allowed_list_size, n);
	return SYN_OK;
}

/* What a bit of field_select sets. min_inline and affiliation are not among them: nothing is required, and the port is alone. */
#define FIELD(bit, field) { CTX_MASK(modify_nic_vport_field_select, bit), CTX_PLACE(nic_vport_context, field) }
static const struct ctx_select fields[] = {
	FIELD(roce_en, roce_en),
	FIELD(permanent_address, permanent_address),
	FIELD(promisc, promisc_uc),
	FIELD(promisc, promisc_mc),
	FIELD(promisc, promisc_all),
	FIELD(change_event, arm_change_event),
	FIELD(change_event, event_on_mtu),
	FIELD(change_event, event_on_promisc_change),
	FIELD(change_event, event_on_vlan_change),
	FIELD(change_event, event_on_mc_address_change),
	FIELD(change_event, event_on_uc_address_change),
	FIELD(mtu, mtu),
	FIELD(port_guid, port_guid),
	FIELD(node_guid, node_guid),
	FIELD(disable_uc_local_lb, disable_uc_local_lb),
	FIELD(disable_mc_local_lb, disable_mc_local_lb),
	{ 0 },
};
#define ADDRESSES CTX_MASK(modify_nic_vport_field_select, addresses_list)

static enum syn check_list(struct hca *h, struct call *c, struct prm_box *ctx)
{
	uint64_t type = PRM_GET(ctx, nic_vport_context, allowed_list_type), n = PRM_GET(ctx, nic_vport_context, allowed_list_size);
	const uint64_t logs[NIC_LISTS] = {
		[LIST_UC] = HCA_CAP(h, GENERAL, cmd_hca_cap, log_max_current_uc_list),
		[LIST_MC] = HCA_CAP(h, GENERAL, cmd_hca_cap, log_max_current_mc_list),
		[LIST_VLAN] = HCA_CAP(h, GENERAL, cmd_hca_cap, log_max_vlan_list),
	};

	if (type > LIST_VLAN)
		return SYN_VPORT_LIST;
	if (n >> logs[type] && n != UINT64_C(1) << logs[type])
		return SYN_VPORT_LIST_SIZE;
	return n > (c->in.len - PRM_SZ(modify_nic_vport_context_in)) / ENTRY_BYTES ? SYN_VPORT_LIST_ROOM : SYN_OK;
}

static enum syn set_list(struct hca *h, struct call *c, struct prm_box *ctx)
{
	struct nic_list *list = &h->vport->lists[PRM_GET(ctx, nic_vport_context, allowed_list_type)];
	uint32_t n = (uint32_t)PRM_GET(ctx, nic_vport_context, allowed_list_size);
	uint8_t *entries = n ? malloc(n * ENTRY_BYTES) : NULL;

	if (n && !entries)
		return SYN_NO_MEMORY;
	if (n)
		memcpy(entries, c->in.p + PRM_SZ(modify_nic_vport_context_in), n * ENTRY_BYTES);
	free(list->entries);
	list->entries = entries;
	list->n = n;
	return SYN_OK;
}

static enum syn modify_nic_vport_context(struct hca *h, struct call *c)
{
	struct prm_box ctx = PRM_SUB(&c->in, modify_nic_vport_context_in, nic_vport_context);
	struct prm_box nic = prm_out(h->vport->nic, sizeof(h->vport->nic));
	uint64_t select = PRM_GET(&c->in, modify_nic_vport_context_in, field_select), known = ADDRESSES;
	uint64_t mtu = PRM_GET(&ctx, nic_vport_context, mtu);
	enum syn syn = vport_own(c, false);

	for (const struct ctx_select *f = fields; f->mask; f++)
		known |= f->mask;
	if (syn == SYN_OK && select & ~known)
		syn = SYN_SELECT;
	if (syn == SYN_OK && select & CTX_MASK(modify_nic_vport_field_select, mtu) && (mtu < PORT_MTU_MIN || mtu > PORT_MTU_MAX))
		syn = SYN_REG_MTU;
	if (syn == SYN_OK && select & ADDRESSES)
		syn = check_list(h, c, &ctx);
	if (syn == SYN_OK && select & ADDRESSES)
		syn = set_list(h, c, &ctx);
	if (syn != SYN_OK)
		return syn;
	for (const struct ctx_select *f = fields; f->mask; f++)
		if (select & f->mask)
			prm_copy(&nic, f->at.bit, &ctx, f->at.bit, f->at.width);
	return SYN_OK;
}

const struct hca_op ops_nic_vport[] = {
	OP_ROW(QUERY_NIC_VPORT_CONTEXT, query_nic_vport_context, OP_PLAIN, query_nic_vport_context),
	OP_ROW(MODIFY_NIC_VPORT_CONTEXT, modify_nic_vport_context, OP_DRIVER, modify_nic_vport_context),
	{ 0 },
};
