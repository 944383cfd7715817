/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "devx.h"
#include "json.h"
#include "report.h"

/* Most bytes first, then most packets, then the flow that was seen first. */
static int by_size(const void *a, const void *b, void *arg)
{
	const struct session_counter *v = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (v[x].octets != v[y].octets)
		return v[x].octets < v[y].octets ? 1 : -1;
	if (v[x].packets != v[y].packets)
		return v[x].packets < v[y].packets ? 1 : -1;
	return (x > y) - (x < y);
}

bool report_refresh(struct report *r, uint32_t top)
{
	uint32_t n = r->flows->n;
	size_t room = n ? n : 1;
	struct session_counter *values = realloc(r->values, room * sizeof(*values));
	uint32_t *order;

	if (values)
		r->values = values;
	order = realloc(r->order, room * sizeof(*order));
	if (order)
		r->order = order;
	if (!values || !order) {
		devx_error("out of memory");
		return false;
	}
	/* So that a value that no query brought cannot pass for one. */
	memset(values, 0, room * sizeof(*values));
	if (!session_read(r->session, values))
		return false;
	r->packets = r->octets = 0;
	for (uint32_t i = 0; i < n; i++) {
		order[i] = i;
		r->packets += values[i].packets;
		r->octets += values[i].octets;
	}
	if (r->packets != r->capture->frames - r->capture->not_ip - r->capture->malformed) {
		devx_error("%s: the device counted %" PRIu64 " of %" PRIu64 " frames", r->session->name, r->packets,
			   r->capture->frames - r->capture->not_ip - r->capture->malformed);
		return false;
	}
	qsort_r(order, n, sizeof(*order), by_size, values);
	r->n_top = top < n ? top : n;
	return true;
}

void report_fini(struct report *r)
{
	free(r->values);
	free(r->order);
}

int report_text(struct report *r)
{
	struct capture *c = r->capture;

	if (r->session->spec[0])
		printf("Device: software device %s (%s)\n", r->session->name, r->session->spec);
	else
		printf("Device: kernel device %s (frames by %s)\n", r->session->name, r->session->control.path);
	printf("Capture: %s, %s, %" PRIu64 " frames%s\n\n", c->name, c->link, c->frames,
	       c->broken[0] ? ", broken off" : r->stopped ? ", stopped before its end" : "");
	if (r->n_top) {
		printf("%12s %16s  %s\n", "PACKETS", "BYTES", "FLOW");
		for (uint32_t i = 0; i < r->n_top; i++) {
			const struct session_counter *v = &r->values[r->order[i]];
			char text[FLOW_TEXT_MAX];

			flow_text(&r->flows->flows[r->order[i]].key, text);
			printf("%12" PRIu64 " %16" PRIu64 "  %s\n", v->packets, v->octets, text);
		}
		putchar('\n');
	}
	printf("Total: %u flows (%u shown), %" PRIu64 " packets, %" PRIu64 " bytes\n", r->flows->n, r->n_top, r->packets, r->octets);
	printf("Not counted: %" PRIu64 " non-IP frames, %" PRIu64 " with a wrong or cut IP header\n", c->not_ip, c->malformed);
	printf("Queries: %" PRIu64 " asynchronous, at most %u in flight", r->session->n_queries, r->session->in_flight);
	if (r->session->n_samples)
		printf("; submit to completion p50 %.1f us, p99 %.1f us", (double)session_percentile(r->session, 50) / 1000,
		       (double)session_percentile(r->session, 99) / 1000);
	putchar('\n');
	return devx_flush();
}

static json_t *flow_json(const struct flow_key *key, const struct session_counter *v)
{
	char src[INET6_ADDRSTRLEN], dst[INET6_ADDRSTRLEN], proto[16];
	int af = key->family == 4 ? AF_INET : AF_INET6;

	inet_ntop(af, key->src, src, sizeof(src));
	inet_ntop(af, key->dst, dst, sizeof(dst));
	flow_proto_text(key->proto, proto);
	for (char *p = proto; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	return json_pack("{si ss si ss si ss si sI sI}", "ip_version", key->family, "protocol", proto, "protocol_number", key->proto,
			 "src", src, "src_port", key->sport, "dst", dst, "dst_port", key->dport,
			 "packets", (json_int_t)v->packets, "bytes", (json_int_t)v->octets);
}

int report_json(struct report *r)
{
	struct capture *c = r->capture;
	struct session *s = r->session;
	json_t *top = json_array();

	for (uint32_t i = 0; i < r->n_top; i++)
		json_array_append_new(top, flow_json(&r->flows->flows[r->order[i]].key, &r->values[r->order[i]]));
	return devx_json_print(json_pack(
		"{s{ss ss so so} s{so ss sI sI sI sI sb so} sI sI sI s{sI si sI sI sI} so}",
		"device", "name", s->name, "kind", s->spec[0] ? "software" : "kernel", "spec", s->spec[0] ? json_string(s->spec) : json_null(),
		"control", s->control.path ? devx_json_text(s->control.path) : json_null(),
		"capture", "file", devx_json_text(c->name), "link_type", c->link, "frames", (json_int_t)c->frames,
		"bytes", (json_int_t)c->wire, "non_ip", (json_int_t)c->not_ip, "malformed_ip", (json_int_t)c->malformed,
		"complete", !c->broken[0], "error", c->broken[0] ? devx_json_text(c->broken) : json_null(),
		"flows", (json_int_t)r->flows->n, "packets", (json_int_t)r->packets, "bytes", (json_int_t)r->octets,
		"queries", "count", (json_int_t)s->n_queries, "in_flight", (int)s->in_flight,
		"measured", (json_int_t)(s->n_samples < SESSION_SAMPLES ? s->n_samples : SESSION_SAMPLES),
		"p50_ns", (json_int_t)session_percentile(s, 50), "p99_ns", (json_int_t)session_percentile(s, 99),
		"top", top));
}
