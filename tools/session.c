/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <opendevx/opendevx.h>
#include <opendevx/soft.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "devx.h"
#include "opendev.h"
#include "prm.h"
#include "session.h"

#define BULK_SMALLEST 128u
#define BULK_LARGEST 16384u /* bit 7 of flow_counter_bulk */

/* A query in flight; its number is the wr_id. */
struct session_slot {
	uint64_t start;
	uint32_t base;  /* of its counters in the session */
	uint32_t first; /* their first id */
	uint32_t n;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static size_t outlen_of(uint32_t n)
{
	return PRM_SZ(query_flow_counter_out) + (size_t)n * PRM_SZ(traffic_counter);
}

/* Frames can be put on a software device of this process, and on one that has control lines. */
static bool takes_frames(struct session *s, struct ibv_device *dev, const char **control, const char *env)
{
	if (!odx_soft_spec(dev, s->spec, sizeof(s->spec)))
		return true;
	s->spec[0] = 0;
	if (!*control)
		*control = env;
	return *control && mlx5dv_is_supported(dev);
}

static bool find_device(struct session *s, struct ibv_device **list, int n, const char *wanted, const char **control,
			const char *env)
{
	/* Control lines are of a device that the kernel drives: without a name, that is what is meant. */
	const bool kernel_first = !wanted && (*control || env), kernel_only = !wanted && *control;

	for (int pass = !kernel_first; pass < (kernel_only ? 1 : 2); pass++)
		for (int i = 0; i < n; i++) {
			const char *name = ibv_get_device_name(list[i]);

			if (!name || (wanted && strcmp(name, wanted)) ||
			    (!pass && !odx_soft_spec(list[i], s->spec, sizeof(s->spec))))
				continue;
			if (takes_frames(s, list[i], control, env)) {
				s->dev = list[i];
				snprintf(s->name, sizeof(s->name), "%s", name);
				return true;
			}
			if (wanted && mlx5dv_is_supported(list[i])) {
				devx_error("%s is not a software device of this process: its frames need the control of devx serve "
					   "(--control, or OPENDEVX_CONTROL)", name);
				return false;
			}
		}
	if (wanted)
		devx_error("no mlx5 device is called \"%s\"; devx list shows them", wanted);
	else if (kernel_only)
		devx_error("--control is for a device of the kernel, and there is none");
	else
		devx_error("no software device; see OPENDEVX_SOFT in devx(1) (it may be \"off\", or not parse), and --control for "
			   "a device of devx serve");
	return false;
}

static bool open_device(struct session *s, const char *wanted, const char **control, const char *env)
{
	struct ibv_device **list;
	int n = 0;

	errno = 0;
	list = ibv_get_device_list(&n);
	if (!list) {
		devx_error("cannot list the devices: %s", strerror(errno));
		return false;
	}
	if (find_device(s, list, n, wanted, control, env))
		s->ctx = opendev_context(s->dev, s->name);
	ibv_free_device_list(list);
	return s->ctx != NULL;
}

bool session_open(struct session *s, const char *device, uint32_t in_flight, const char *control, const char *env)
{
	int flags;

	memset(s, 0, sizeof(*s));
	s->control.fd = -1;
	s->in_flight = in_flight;
	if (!open_device(s, device, &control, env) || (control && !control_open(&s->control, control)))
		return false;
	s->slots = calloc(in_flight, sizeof(*s->slots));
	s->free_slots = calloc(in_flight, sizeof(*s->free_slots));
	s->samples = calloc(SESSION_SAMPLES * 2, sizeof(*s->samples));
	s->resp = malloc(sizeof(struct mlx5dv_devx_async_cmd_hdr) + outlen_of(SESSION_PER_QUERY));
	if (!s->slots || !s->free_slots || !s->samples || !s->resp) {
		devx_error("out of memory");
		return false;
	}
	for (uint32_t i = 0; i < in_flight; i++)
		s->free_slots[s->n_free++] = i;
	s->comp = mlx5dv_devx_create_cmd_comp(s->ctx);
	if (!s->comp) {
		devx_error("%s: cannot make a command completion: %s", s->name, strerror(errno));
		return false;
	}
	flags = fcntl(s->comp->fd, F_GETFL);
	if (flags < 0 || fcntl(s->comp->fd, F_SETFL, flags | O_NONBLOCK)) {
		devx_error("%s: cannot set O_NONBLOCK: %s", s->name, strerror(errno));
		return false;
	}
	return true;
}

bool session_close(struct session *s)
{
	bool ok = true;

	/* The completion first: it waits for the queries that are still in flight. */
	if (s->comp)
		mlx5dv_devx_destroy_cmd_comp(s->comp);
	ok = steering_close(&s->steering, s->name); /* entries hold their counters */
	for (uint32_t i = s->n_bulks; i-- > 0;) {
		int err = mlx5dv_devx_obj_destroy(s->bulks[i].obj);

		if (err && ok)
			devx_error("%s: cannot give back the counters from 0x%x: %s", s->name, s->bulks[i].first, strerror(err));
		ok = ok && !err;
	}
	if (s->ctx && ibv_close_device(s->ctx)) {
		devx_error("%s: cannot be closed: %s", s->name, strerror(errno));
		ok = false;
	}
	control_close(&s->control);
	free(s->told);
	free(s->bulks);
	free(s->slots);
	free(s->free_slots);
	free(s->samples);
	free(s->resp);
	memset(s, 0, sizeof(*s));
	return ok;
}

/* As many counters again as there are, so that few bulks serve any number of flows and few counters lie idle. */
static bool add_bulk(struct session *s)
{
	uint32_t size = s->n_counters < BULK_SMALLEST ? BULK_SMALLEST : s->n_counters;
	uint8_t in[PRM_SZ(alloc_flow_counter_in)] = { 0 }, out[PRM_SZ(alloc_flow_counter_out)] = { 0 };
	struct prm_box ib = prm_out(in, sizeof(in)), ob = prm_in(out, sizeof(out));
	struct session_bulk *bulks = realloc(s->bulks, (s->n_bulks + 1) * sizeof(*bulks));
	struct mlx5dv_devx_obj *obj;
	uint32_t bits = 1;

	if (!bulks) {
		devx_error("out of memory");
		return false;
	}
	s->bulks = bulks;
	while (BULK_SMALLEST * bits < size && BULK_SMALLEST * bits < BULK_LARGEST)
		bits *= 2; /* bit n asks for 128 * 2^n counters */
	PRM_SET(&ib, alloc_flow_counter_in, opcode, PRM_OP_ALLOC_FLOW_COUNTER);
	PRM_SET(&ib, alloc_flow_counter_in, flow_counter_bulk, bits);
	obj = mlx5dv_devx_obj_create(s->ctx, in, sizeof(in), out, sizeof(out));
	if (!obj) {
		uint8_t status = (uint8_t)PRM_GET(&ob, alloc_flow_counter_out, status);

		if (errno != EREMOTEIO) /* the outbox says nothing: the device did not answer */
			devx_error("%s: no further %u flow counters after %u: %s", s->name, BULK_SMALLEST * bits, s->n_counters,
				   strerror(errno));
		else
			devx_error("%s: no further %u flow counters after %u: %s (status 0x%x, %s; syndrome 0x%x)", s->name,
				   BULK_SMALLEST * bits, s->n_counters, strerror(errno), status, prm_status_name(status),
				   (unsigned int)PRM_GET(&ob, alloc_flow_counter_out, syndrome));
		return false;
	}
	s->bulks[s->n_bulks++] = (struct session_bulk){
		.obj = obj,
		.first = (uint32_t)PRM_GET(&ob, alloc_flow_counter_out, flow_counter_id),
		.size = BULK_SMALLEST * bits,
		.base = s->n_counters,
	};
	return true;
}

bool session_take(struct session *s, uint32_t *id)
{
	struct session_bulk *b;

	if ((!s->n_bulks || s->bulks[s->n_bulks - 1].used == s->bulks[s->n_bulks - 1].size) && !add_bulk(s))
		return false;
	b = &s->bulks[s->n_bulks - 1];
	*id = b->first + b->used++;
	s->n_counters++;
	return true;
}

/* The number of a counter in the session. */
static uint32_t number_of(const struct session *s, uint32_t id)
{
	uint32_t i = s->n_bulks;

	while (i && (id < s->bulks[i - 1].first || id - s->bulks[i - 1].first >= s->bulks[i - 1].used))
		i--;
	return i ? s->bulks[i - 1].base + id - s->bulks[i - 1].first : UINT32_MAX;
}

/* Frames are told to the control when the counters are read: a line for each counter, not for each frame. */
static bool note(struct session *s, uint32_t id, uint64_t octets)
{
	uint32_t at = number_of(s, id);

	if (at == UINT32_MAX) {
		devx_error("%s: counter 0x%x is not one of this session", s->name, id);
		return false;
	}
	if (at >= s->told_room) {
		uint32_t room = s->n_counters + s->n_counters / 2 + 64;
		struct session_counter *told = realloc(s->told, room * sizeof(*told));

		if (!told) {
			devx_error("out of memory");
			return false;
		}
		memset(told + s->told_room, 0, (room - s->told_room) * sizeof(*told));
		s->told = told;
		s->told_room = room;
	}
	s->told[at].packets++;
	s->told[at].octets += octets;
	return true;
}

static bool tell(struct session *s, const struct session_bulk *b)
{
	for (uint32_t i = 0; i < b->used && b->base + i < s->told_room; i++) {
		struct session_counter *t = &s->told[b->base + i];
		char line[96];

		if (!t->packets)
			continue;
		snprintf(line, sizeof(line), "traffic %u %" PRIu64 " %" PRIu64, b->first + i, t->packets, t->octets);
		if (!control_line(&s->control, line))
			return false;
		*t = (struct session_counter){ 0 };
	}
	return true;
}

bool session_traffic(struct session *s, uint32_t id, uint64_t octets)
{
	int err;

	if (s->control.path)
		return note(s, id, octets);
	err = odx_soft_traffic(s->dev, id, 1, octets);
	if (err)
		devx_error("%s: a frame for counter 0x%x was refused: %s", s->name, id, strerror(err));
	return !err;
}

/* What the control counts, it counts without flow tables. */
static bool has_entry(const struct session *s, const struct flow_key *key)
{
	return !s->control.path && steering_can(key);
}

bool session_flow(struct session *s, const struct flow_key *key, uint32_t *id)
{
	return session_take(s, id) && (!has_entry(s, key) || steering_add(&s->steering, s->ctx, s->name, key, *id));
}

bool session_arrive(struct session *s, const struct flow_key *key, uint32_t id, const struct session_frame *f)
{
	uint64_t octets;
	int err;

	if (!has_entry(s, key))
		return session_traffic(s, id, f->wire);
	err = steering_send(&s->steering, s->dev, f->dlt, f->data, f->caplen, key, f->ip_at, &octets);
	/* What was not captured, or is a header of the device's own liking: counters wrap, so less is added as well as more. */
	if (!err && octets != f->wire)
		err = odx_soft_traffic(s->dev, id, 0, f->wire - octets);
	if (err)
		devx_error("%s: a frame was refused: %s", s->name, strerror(err));
	return !err;
}

/* Takes one completion, waiting for it. */
static bool reap(struct session *s, struct session_counter *values)
{
	struct mlx5dv_devx_async_cmd_hdr *resp = s->resp;
	const size_t room = outlen_of(SESSION_PER_QUERY);
	struct session_slot *slot;
	struct prm_box out;
	uint8_t status;
	int err;

	while ((err = mlx5dv_devx_get_async_cmd_comp(s->comp, resp, sizeof(*resp) + room)) == EAGAIN) {
		struct pollfd pfd = { .fd = s->comp->fd, .events = POLLIN | POLLRDHUP };

		if (poll(&pfd, 1, -1) < 0 && errno != EINTR) {
			devx_error("poll: %s", strerror(errno));
			return false;
		}
		/* Queued records come first: only an empty queue of a dead device ends the wait. */
		if (pfd.revents & POLLRDHUP &&
		    (err = mlx5dv_devx_get_async_cmd_comp(s->comp, resp, sizeof(*resp) + room)) != 0) {
			devx_error("%s was removed", s->name);
			return false;
		}
		if (pfd.revents & POLLRDHUP)
			break;
	}
	if (err || resp->wr_id >= s->in_flight) {
		devx_error("%s: a completion could not be read: %s", s->name, err ? strerror(err) : "unknown wr_id");
		return false;
	}
	slot = &s->slots[resp->wr_id];
	s->samples[s->n_samples++ % SESSION_SAMPLES] = now_ns() - slot->start;
	out = prm_in(resp->out_data, outlen_of(slot->n));
	status = (uint8_t)PRM_GET(&out, query_flow_counter_out, status);
	if (status != PRM_STAT_OK) {
		devx_error("%s: the query of counters 0x%x to 0x%x failed: status 0x%x (%s), syndrome 0x%x", s->name, slot->first,
			   slot->first + slot->n - 1, status, prm_status_name(status),
			   (unsigned int)PRM_GET(&out, query_flow_counter_out, syndrome));
		return false;
	}
	for (uint32_t i = 0; i < slot->n; i++) {
		struct prm_box one = prm_in(resp->out_data + outlen_of(i), PRM_SZ(traffic_counter));

		values[slot->base + i].packets = PRM_GET(&one, traffic_counter, packets);
		values[slot->base + i].octets = PRM_GET(&one, traffic_counter, octets);
	}
	s->free_slots[s->n_free++] = (uint32_t)resp->wr_id;
	return true;
}

static bool submit(struct session *s, const struct session_bulk *b, uint32_t at, uint32_t n, struct session_counter *values)
{
	uint8_t in[PRM_SZ(query_flow_counter_in)] = { 0 };
	struct prm_box ib = prm_out(in, sizeof(in));
	struct session_slot *slot;
	uint32_t wr_id;
	int err;

	while (!s->n_free)
		if (!reap(s, values))
			return false;
	PRM_SET(&ib, query_flow_counter_in, opcode, PRM_OP_QUERY_FLOW_COUNTER);
	PRM_SET(&ib, query_flow_counter_in, num_of_counters, n);
	PRM_SET(&ib, query_flow_counter_in, flow_counter_id, b->first + at);
	wr_id = s->free_slots[--s->n_free];
	slot = &s->slots[wr_id];
	*slot = (struct session_slot){ .base = b->base + at, .first = b->first + at, .n = n };
	for (;;) {
		slot->start = now_ns();
		err = mlx5dv_devx_obj_query_async(b->obj, in, sizeof(in), outlen_of(n), wr_id, s->comp);
		/* The completion's budget is spent: reading a record gives its part back. */
		if (err != EAGAIN || s->n_free + 1 == s->in_flight)
			break;
		if (!reap(s, values))
			return false;
	}
	if (err) {
		devx_error("%s: a query was refused: %s", s->name, strerror(err));
		return false;
	}
	s->n_queries++;
	return true;
}

/* Few counters are spread over 16 queries or so too, so that some are in flight while others are answered. */
static uint32_t per_query(const struct session *s)
{
	uint32_t n = s->n_counters / 16 + 1;

	return n < SESSION_PER_QUERY ? n : SESSION_PER_QUERY;
}

bool session_read(struct session *s, struct session_counter *values)
{
	uint32_t n = per_query(s);

	if (s->control.path) {
		for (uint32_t i = 0; i < s->n_bulks; i++)
			if (!tell(s, &s->bulks[i]))
				return false;
		if (!control_flush(&s->control))
			return false;
	}
	for (uint32_t i = 0; i < s->n_bulks; i++)
		for (uint32_t at = 0; at < s->bulks[i].used; at += n) {
			uint32_t left = s->bulks[i].used - at;

			if (!submit(s, &s->bulks[i], at, left < n ? left : n, values))
				return false;
		}
	while (s->n_free < s->in_flight)
		if (!reap(s, values))
			return false;
	return true;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

uint64_t session_percentile(struct session *s, unsigned int p)
{
	size_t n = s->n_samples < SESSION_SAMPLES ? (size_t)s->n_samples : SESSION_SAMPLES;
	size_t rank = (n * p + 99) / 100; /* nearest rank */

	if (!n)
		return 0;
	memcpy(s->samples + SESSION_SAMPLES, s->samples, n * sizeof(*s->samples));
	qsort(s->samples + SESSION_SAMPLES, n, sizeof(*s->samples), by_value);
	return s->samples[SESSION_SAMPLES + (rank ? rank - 1 : 0)];
}
