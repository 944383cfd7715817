/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What commands say of the function's virtual port: the only one, of a function that manages no e-switch and no other
 * function. Its port is Ethernet with RoCE.
 */
#include <stdlib.h>
#include <string.h>

#include "caps.h"
#include "context.h"
#include "init.h"
#include "vport.h"

/* RoCE versions and L3 types. Linux, include/linux/mlx5/mlx5_ifc.h: MLX5_ROCE_VERSION_*, MLX5_ROCE_L3_TYPE_*. */
enum { ROCE_V1 = 0, ROCE_V2 = 2 };
enum { L3_IPV4 = 0, L3_IPV6 = 1 };

/* States of a link. Linux: MLX5_QUERY_VPORT_STATE_OUT_STATE_*; IB's enum ib_port_state, and its physical states. */
enum { STATE_DOWN = 0, STATE_UP = 1, ADMIN_DOWN = 0, ADMIN_AUTO = 2 };
enum { IB_DOWN = 1, IB_ACTIVE = 4, PHYS_DISABLED = 3, PHYS_LINK_UP = 5 };

uint64_t mac_of_guid(uint64_t guid)
{
	return guid >> 40 << 24 | (guid & 0xffffff);
}

uint64_t hca_mac(const struct hca *h)
{
	return mac_of_guid(h->cfg.guid);
}

/* The first two RoCE addresses are link-local, made of the GUID: versions 1 and 2, as a driver sets them for its netdev. */
static void set_link_local(struct vport *v, const struct hca_config *cfg, uint32_t i, unsigned int version)
{
	struct prm_box a = prm_out(v->roce[i], sizeof(v->roce[i]));
	uint64_t guid = cfg->guid, mac = mac_of_guid(guid);

	prm_set(&a, 0, 64, UINT64_C(0xfe80) << 48); /* source_l3_address is an array of bytes */
	prm_set(&a, 64, 64, guid);
	PRM_SET(&a, roce_addr_layout, source_mac_47_32, mac >> 32);
	PRM_SET(&a, roce_addr_layout, source_mac_31_0, mac & 0xffffffff);
	PRM_SET(&a, roce_addr_layout, roce_l3_type, L3_IPV6);
	PRM_SET(&a, roce_addr_layout, roce_version, version);
}

static void start(struct vport *v, const struct hca_config *cfg)
{
	nic_vport_start(v, cfg);
	v->admin_state = ADMIN_AUTO;
	v->port_mtu = VPORT_MTU + L2_OVERHEAD;
	if (cfg->bare)
		return; /* the driver sets them */
	set_link_local(v, cfg, 0, ROCE_V1);
	set_link_local(v, cfg, 1, ROCE_V2);
}

struct vport *vport_new(const struct hca_config *cfg)
{
	struct vport *v = calloc(1, sizeof(*v));

	if (v)
		start(v, cfg);
	return v;
}

void vport_clear(struct hca *h)
{
	struct vport *v = h->vport;

	memset(v->roce, 0, sizeof(v->roce));
	memset(v->node_desc, 0, sizeof(v->node_desc));
	v->host_endianness = v->an_disabled = false;
	v->legacy_admin = v->ext_admin = 0;
	memset(v->pfcc, 0, sizeof(v->pfcc));
	h->admin_down = false;
	start(v, &h->cfg);
}

void vport_forget(struct vport *v)
{
	memset(v->rx, 0, sizeof(v->rx));
	memset(v->rx_prio, 0, sizeof(v->rx_prio));
	memset(v->rx_sizes, 0, sizeof(v->rx_sizes));
	memset(v->dropped, 0, sizeof(v->dropped));
	v->link_downs = v->steering_discards = v->down_discards = v->psp_keys = 0;
	v->invalid_commands = v->psp_spi = 0;
}

void vport_free(struct vport *v)
{
	for (int i = 0; v && i < NIC_LISTS; i++)
		free(v->lists[i].entries);
	free(v);
}

void vport_received(struct hca *h, const uint8_t *frame, uint32_t len, uint32_t discards)
{
	struct vport *v = h->vport;
	struct counter *c = &v->rx[RX_UNICAST];
	static const uint8_t broadcast[6] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };

	if (!port_is_up(h) || v->admin_state == ADMIN_DOWN) {
		v->down_discards++;
		return;
	}
	if (!memcmp(frame, broadcast, sizeof(broadcast)))
		c = &v->rx[RX_BROADCAST];
	else if (frame[0] & 1)
		c = &v->rx[RX_MULTICAST];
	c->packets++;
	c->octets += len;
	port_counted(v, frame, len);
	v->steering_discards += discards;
	if (!discards)
		return;
	memset(v->dropped, 0, sizeof(v->dropped));
	memcpy(v->dropped, frame, len < sizeof(v->dropped) ? len : sizeof(v->dropped));
}

enum syn vport_own(struct call *c, bool has_port)
{
	if (PRM_GET(&c->in, query_vport_counter_in, other_vport) && PRM_GET(&c->in, query_vport_counter_in, vport_number))
		return SYN_VPORT_OTHER;
	if (has_port && PRM_GET(&c->in, query_vport_counter_in, port_num) > NUM_PORTS)
		return SYN_VPORT_PORT;
	return SYN_OK;
}

#define SAME_PLACE(layout, field)                                                                                    \
	_Static_assert(CTX_BIT_OF(PRM_F_##layout##__##field) == CTX_BIT_OF(PRM_F_query_vport_counter_in__##field),   \
		       "vport_own reads both")
SAME_PLACE(query_hca_vport_context_in, other_vport);
SAME_PLACE(query_hca_vport_context_in, vport_number);
SAME_PLACE(query_hca_vport_context_in, port_num);
SAME_PLACE(query_vport_state_in, other_vport);
SAME_PLACE(query_vport_state_in, vport_number);
SAME_PLACE(query_nic_vport_context_in, other_vport);
SAME_PLACE(query_nic_vport_context_in, vport_number);
SAME_PLACE(modify_nic_vport_context_in, other_vport);
SAME_PLACE(modify_nic_vport_context_in, vport_number);
SAME_PLACE(query_hca_vport_pkey_in, other_vport);
SAME_PLACE(query_hca_vport_pkey_in, vport_number);
SAME_PLACE(query_hca_vport_pkey_in, port_num);
SAME_PLACE(query_hca_vport_gid_in, other_vport);
SAME_PLACE(query_hca_vport_gid_in, vport_number);
SAME_PLACE(query_hca_vport_gid_in, port_num);
SAME_PLACE(modify_vport_state_in, other_vport);
SAME_PLACE(modify_vport_state_in, vport_number);
SAME_PLACE(query_vnic_env_in, other_vport);
SAME_PLACE(query_vnic_env_in, vport_number);

static enum syn query_hca_vport_context(struct hca *h, struct call *c)
{
	struct prm_box ctx = PRM_SUB(&c->out, query_hca_vport_context_out, hca_vport_context);
	enum syn syn = vport_own(c, true);

	if (syn != SYN_OK)
		return syn;
	PRM_SET(&ctx, hca_vport_context, grh_required, 1); /* there is no RoCE without */
	PRM_SET(&ctx, hca_vport_context, port_state, port_is_up(h) ? IB_ACTIVE : IB_DOWN);
	PRM_SET(&ctx, hca_vport_context, vport_state, port_is_up(h) ? IB_ACTIVE : IB_DOWN);
	PRM_SET(&ctx, hca_vport_context, port_physical_state, port_is_up(h) ? PHYS_LINK_UP : PHYS_DISABLED);
	PRM_SET(&ctx, hca_vport_context, system_image_guid, h->cfg.guid);
	PRM_SET(&ctx, hca_vport_context, port_guid, h->cfg.guid);
	PRM_SET(&ctx, hca_vport_context, node_guid, h->cfg.guid);
	return SYN_OK;
}

/* What only the e-switch's manager may ask, which eswitch_manager says this function is not. */
static enum syn not_manager(struct hca *h, struct call *c)
{
	return SYN_ESWITCH;
}

/* op_mod: of the vnic, of a port of the e-switch, of the uplink. The uplink of a function without e-switch is its own port. */
enum { OF_VNIC, OF_ESW_VPORT, OF_UPLINK };

static enum syn query_vport_state(struct hca *h, struct call *c)
{
	enum syn syn = vport_own(c, false);

	if (syn != SYN_OK)
		return syn;
	if (c->op_mod == OF_ESW_VPORT)
		return SYN_ESWITCH;
	PRM_SET(&c->out, query_vport_state_out, admin_state, h->vport->admin_state);
	PRM_SET(&c->out, query_vport_state_out, state, port_is_up(h) && h->vport->admin_state != ADMIN_DOWN ? STATE_UP : STATE_DOWN);
	return SYN_OK;
}

/* Of the vport itself, which has no traffic when it is down; the port is PAOS' (registers.c). */
static enum syn modify_vport_state(struct hca *h, struct call *c)
{
	uint64_t state = PRM_GET(&c->in, modify_vport_state_in, admin_state);
	enum syn syn = vport_own(c, false);

	if (syn != SYN_OK)
		return syn;
	if (c->op_mod == OF_ESW_VPORT)
		return SYN_ESWITCH;
	if (state > ADMIN_AUTO)
		return SYN_VPORT_STATE;
	h->vport->admin_state = (uint8_t)state;
	return SYN_OK;
}

static enum syn roce_address(struct hca *h, struct call *c, uint8_t **at)
{
	uint32_t i = (uint32_t)PRM_GET(&c->in, query_roce_address_in, roce_address_index);

	if (i >= ROCE_ADDRESSES)
		return SYN_ROCE_INDEX;
	if (PRM_GET(&c->in, query_roce_address_in, vhca_port_num) > NUM_PORTS)
		return SYN_VPORT_PORT;
	*at = h->vport->roce[i];
	return SYN_OK;
}

static enum syn query_roce_address(struct hca *h, struct call *c)
{
	struct prm_box to = PRM_SUB(&c->out, query_roce_address_out, roce_address);
	uint8_t *from;
	enum syn syn = roce_address(h, c, &from);

	if (syn == SYN_OK)
		memcpy(to.p, from, PRM_SZ(roce_addr_layout));
	return syn;
}

static enum syn set_roce_address(struct hca *h, struct call *c)
{
	struct prm_box a = PRM_SUB(&c->in, set_roce_address_in, roce_address);
	uint64_t version = PRM_GET(&a, roce_addr_layout, roce_version);
	uint8_t *to;
	enum syn syn = roce_address(h, c, &to);

	if (syn != SYN_OK)
		return syn;
	if (version != ROCE_V1 && version != ROCE_V2)
		return SYN_ROCE_VERSION;
	if (PRM_GET(&a, roce_addr_layout, roce_l3_type) > L3_IPV6)
		return SYN_ROCE_L3;
	PRM_COPY(&c->in, set_roce_address_in, roce_address, to);
	return SYN_OK;
}

static enum syn query_vnic_env(struct hca *h, struct call *c)
{
	struct prm_box env = PRM_SUB(&c->out, query_vnic_env_out, vport_env);
	enum syn syn = vport_own(c, false);

	if (syn != SYN_OK)
		return syn;
	PRM_SET(&env, vnic_diagnostic_statistics, nic_receive_steering_discard, h->vport->steering_discards);
	PRM_SET(&env, vnic_diagnostic_statistics, receive_discard_vport_down, h->vport->down_discards);
	PRM_SET(&env, vnic_diagnostic_statistics, invalid_command, h->vport->invalid_commands);
	return SYN_OK;
}

static void put_traffic(struct prm_box b, const struct counter *v)
{
	PRM_SET(&b, traffic_counter, packets, v->packets);
	PRM_SET(&b, traffic_counter, octets, v->octets);
}

static enum syn query_vport_counter(struct hca *h, struct call *c)
{
	struct counter *rx = h->vport->rx;
	enum syn syn = vport_own(c, true);

	if (syn != SYN_OK)
		return syn;
	put_traffic(PRM_SUB(&c->out, query_vport_counter_out, received_eth_unicast), &rx[RX_UNICAST]);
	put_traffic(PRM_SUB(&c->out, query_vport_counter_out, received_eth_multicast), &rx[RX_MULTICAST]);
	put_traffic(PRM_SUB(&c->out, query_vport_counter_out, received_eth_broadcast), &rx[RX_BROADCAST]);
	if (PRM_GET(&c->in, query_vport_counter_in, clear))
		memset(rx, 0, sizeof(h->vport->rx));
	return SYN_OK;
}

/* The log is of one packet, the last that steering dropped. */
static enum syn get_dropped_packet_log(struct hca *h, struct call *c)
{
	memcpy(c->out.p + CTX_BIT_OF(PRM_F_get_dropped_packet_log_out__packet_headers_log) / 8, h->vport->dropped, DROPPED_HEADERS);
	return SYN_OK;
}

/* Interface versions: 1 is current, and the one that every driver since 2014 asks for. */
static enum syn query_issi(struct hca *h, struct call *c)
{
	PRM_SET(&c->out, query_issi_out, current_issi, h->init ? h->init->issi : 1);
	PRM_SET(&c->out, query_issi_out, supported_issi_dw0, 1 << 0 | 1 << 1);
	return SYN_OK;
}

static enum syn query_lag(struct hca *h, struct call *c)
{
	return SYN_LAG; /* of one port; lag_master is off */
}

#define VUID_SZ 128u /* an array of 1024 bits */

/* Names this function among all that there are: text. */
static enum syn query_vuid(struct hca *h, struct call *c)
{
	static const char digits[] = "0123456789abcdef";
	char *to = (char *)c->out.p + PRM_SZ(query_vuid_out);

	if (PRM_GET(&c->in, query_vuid_in, vhca_id) || PRM_GET(&c->in, query_vuid_in, data_direct))
		return SYN_VUID_FUNCTION;
	if (c->out.len < PRM_SZ(query_vuid_out) + VUID_SZ)
		return SYN_OUT_LEN;
	PRM_SET(&c->out, query_vuid_out, num_of_entries, 1);
	memcpy(to, "ODX", 3);
	for (unsigned int i = 0; i < 16; i++)
		to[3 + i] = digits[h->cfg.guid >> (60 - 4 * i) & 0xf];
	return SYN_OK;
}

const struct hca_op ops_vport[] = {
	OP_ROW(QUERY_HCA_VPORT_CONTEXT, query_hca_vport_context, OP_PLAIN, query_hca_vport_context),
	OP_ROW(QUERY_ESW_VPORT_CONTEXT, query_esw_vport_context, OP_PLAIN, not_manager),
	OP_ROW(QUERY_ESW_FUNCTIONS, query_esw_functions, OP_PLAIN, not_manager),
	{ PRM_OP_MODIFY_VPORT_STATE, PRM_SZ(modify_vport_state_in), PRM_SZ(modify_vport_state_out), OF_UPLINK, OP_DRIVER, OBJ_NONE, 0, 0,
	  modify_vport_state, NULL },
	{ PRM_OP_QUERY_VPORT_STATE, PRM_SZ(query_vport_state_in), PRM_SZ(query_vport_state_out), OF_UPLINK, OP_PLAIN, OBJ_NONE, 0, 0,
	  query_vport_state, NULL },
	OP_ROW(QUERY_ROCE_ADDRESS, query_roce_address, OP_PLAIN, query_roce_address),
	OP_ROW(SET_ROCE_ADDRESS, set_roce_address, OP_DRIVER, set_roce_address),
	OP_ROW(QUERY_VNIC_ENV, query_vnic_env, OP_PLAIN, query_vnic_env),
	OP_ROW(QUERY_VPORT_COUNTER, query_vport_counter, OP_PLAIN, query_vport_counter),
	OP_ROW(GET_DROPPED_PACKET_LOG, get_dropped_packet_log, OP_PLAIN, get_dropped_packet_log),
	OP_ROW(QUERY_ISSI, query_issi, OP_PLAIN, query_issi),
	OP_ROW(QUERY_LAG, query_lag, OP_PLAIN, query_lag),
	OP_ROW(QUERY_VUID, query_vuid, OP_PLAIN, query_vuid),
	{ 0 },
};
