/* SPDX-License-Identifier: BSD-2-Clause */
/* A device, its flow counters in bulks, and reading them back asynchronously. */
#ifndef DEVX_SESSION_H
#define DEVX_SESSION_H

#include <infiniband/mlx5dv.h>
#include <stdbool.h>
#include <stdint.h>

#include "control.h"
#include "steering.h"

#define SESSION_SAMPLES 65536u /* the newest times are kept */
#define SESSION_PER_QUERY 512u /* counters in one query at most: an outbox of 8,208 bytes */

struct session_counter {
	uint64_t packets;
	uint64_t octets;
};

struct session_bulk {
	struct mlx5dv_devx_obj *obj;
	uint32_t first; /* id of its first counter */
	uint32_t size;
	uint32_t used;
	uint32_t base;  /* number of its first counter in the session */
};

struct session_slot;

struct session {
	struct ibv_device *dev;
	struct ibv_context *ctx;
	struct mlx5dv_devx_cmd_comp *comp;
	char name[64];
	char spec[512];                   /* empty: a kernel device */
	struct steering steering;
	struct control control;           /* where the frames are told; path NULL: the device is in this process */
	struct session_counter *told;     /* by counter: frames that are not told yet */
	uint32_t told_room;
	struct session_bulk *bulks;
	uint32_t n_bulks, n_counters;
	uint32_t in_flight;
	struct session_slot *slots;
	uint32_t *free_slots;
	uint32_t n_free;
	void *resp;          /* one record */
	uint64_t n_queries;
	uint64_t *samples;   /* ns from submit to completion; the second half is room for sorting them */
	uint64_t n_samples;  /* ever taken */
};

/*
 * These say on stderr what failed. device: a name, or NULL for the first that frames can be put on: a software device, or with a
 * control a kernel device. control: the control lines of the device, or NULL; env: the same, of use for kernel devices only.
 */
bool session_open(struct session *s, const char *device, uint32_t in_flight, const char *control, const char *env);
/* Frees all; also after a session_open() that failed. False: an object could not be destroyed. */
bool session_close(struct session *s);

/* The next counter's id. */
bool session_take(struct session *s, uint32_t *id);
bool session_traffic(struct session *s, uint32_t id, uint64_t octets);

/* A frame of a capture: what flow_parse() says of it, and its length on the wire. */
struct session_frame {
	const uint8_t *data;
	size_t caplen, ip_at;
	uint32_t wire;
	int dlt;
};

/* The next counter for a flow, with a flow table entry where the device can match it. */
bool session_flow(struct session *s, const struct flow_key *key, uint32_t *id);
/* The frame arrives at the device, and counts with its length on the wire, whatever part of it was captured. */
bool session_arrive(struct session *s, const struct flow_key *key, uint32_t id, const struct session_frame *f);
/* All counters that were taken, in that order; values has room for n_counters. */
bool session_read(struct session *s, struct session_counter *values);

/* ns; p: 0 to 100. 0 when nothing was measured. */
uint64_t session_percentile(struct session *s, unsigned int p);

#endif
