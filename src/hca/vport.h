/* SPDX-License-Identifier: BSD-2-Clause */
/* This function's port on the wire: addresses, state and counters, which many commands show (vport.c, registers.c). */
#ifndef HCA_VPORT_H
#define HCA_VPORT_H

#include "types.h"

#define DROPPED_HEADERS 128u /* bytes of the last packet that was dropped */

#define NODE_DESC_BYTES 64u
#define PRIORITIES 8u
#define RX_SIZES 10u

enum { RX_UNICAST, RX_MULTICAST, RX_BROADCAST, RX_KINDS };

/* Addresses or VLANs that the driver wants, as it gave them. */
#define NIC_LISTS 3

struct nic_list {
	uint8_t *entries;
	uint32_t n;
};

struct vport {
	uint8_t roce[ROCE_ADDRESSES][PRM_SZ(roce_addr_layout)];
	struct counter rx[RX_KINDS];
	struct counter rx_prio[PRIORITIES]; /* by the outer VLAN tag; 0 without one */
	uint64_t rx_sizes[RX_SIZES];        /* port_counters.c */
	uint64_t link_downs;
	uint64_t steering_discards; /* walks of packets that ended in a drop, or nowhere */
	uint64_t down_discards;     /* packets that came while the link was down */
	uint32_t invalid_commands;  /* with an opcode that the device has not */
	uint8_t dropped[DROPPED_HEADERS];
	uint64_t psp_keys;          /* how often the PSP master key was rotated */
	uint8_t nic[PRM_SZ(nic_vport_context)]; /* nic_vport.c */
	struct nic_list lists[NIC_LISTS];
	uint8_t admin_state;
	uint16_t port_mtu;
	bool host_endianness;
	bool an_disabled;  /* PTYS: the next two are zero where all that the device can do is allowed */
	uint32_t legacy_admin, ext_admin;
	uint8_t pfcc[PRM_SZ(pfcc_reg)];
	uint8_t node_desc[NODE_DESC_BYTES];
	uint32_t psp_spi;           /* the last that was given; without its highest bit, which tells the master key */
};

struct vport *vport_new(const struct hca_config *cfg); /* NULL: no memory */
/* What a driver set is as at the start; the counters stay. */
void vport_clear(struct hca *h);
/* The counters are as at the start. */
void vport_forget(struct vport *v);
/* The MAC address is the GUID without the two bytes in its middle. */
uint64_t hca_mac(const struct hca *h);
uint64_t mac_of_guid(uint64_t guid);
void vport_free(struct vport *v);
void nic_vport_start(struct vport *v, const struct hca_config *cfg);
/* Is it this function's own vport that a command speaks of? The layouts have the fields at the same places. */
enum syn vport_own(struct call *c, bool has_port);
/* A packet from the wire, which the steering has seen, or was not shown because the link is down. */
void vport_received(struct hca *h, const uint8_t *frame, uint32_t len, uint32_t discards);

/* MTU of the port, with header, VLAN tag and checksum; and of the function's netdev as long as no driver sets it. */
#define L2_OVERHEAD 22u
#define PORT_MTU_MIN 68u
#define PORT_MTU_MAX 10240u
#define VPORT_MTU 1500u

/* The link is up when the wire is (hca_port()) and the driver has not taken the port down (events.c). */
bool port_is_up(const struct hca *h);
void port_admin(struct hca *h, bool up);
void port_counted(struct vport *v, const uint8_t *frame, uint32_t len); /* port_counters.c: a frame that came */
bool port_has_extended_speeds(const struct hca *h); /* port_regs.c */

#endif
