/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The flow tables that count a capture: a first one tells IP version and protocol apart, and each of its six entries leads to
 * a table with one entry for each flow.
 */
#ifndef DEVX_STEERING_H
#define DEVX_STEERING_H

#include <infiniband/mlx5dv.h>
#include <stdbool.h>
#include <stdint.h>

#include "flow.h"

struct steering_class {
	struct mlx5dv_devx_obj *table, *group;
	uint32_t table_id, group_id;
	uint32_t used; /* entries, from index 0 on */
};

#define STEERING_CLASSES 6
#define STEERING_ROOT_OBJS (1 + 2 + STEERING_CLASSES)

struct steering {
	struct mlx5dv_devx_obj *root[STEERING_ROOT_OBJS]; /* in the order of their making */
	uint32_t n_root;
	struct steering_class class[STEERING_CLASSES];
	struct mlx5dv_devx_obj **entries;
	uint32_t n_entries, room;
	uint8_t *frame; /* room for one that is given another link header */
};

/* The device can tell this flow from others by its header fields. It has none for the ports of SCTP. */
bool steering_can(const struct flow_key *key);
/* An entry that counts the flow; the tables are made with the first one. name: the device's. False: said on stderr. */
bool steering_add(struct steering *st, struct ibv_context *ctx, const char *name, const struct flow_key *key, uint32_t counter);
/*
 * The frame arrives at the device, with an Ethernet header in place of what its parser would not look behind.
 * octets: as many as the device has then counted. 0 or an errno value.
 */
int steering_send(struct steering *st, struct ibv_device *dev, int dlt, const uint8_t *frame, size_t caplen,
		  const struct flow_key *key, size_t ip_at, uint64_t *octets);
bool steering_close(struct steering *st, const char *name); /* false: said on stderr */

#endif
