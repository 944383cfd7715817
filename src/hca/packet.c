/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A packet's way through the receive tables. It begins at the root that the driver set; without one, in each user context's
 * first table (the lowest level, of these the oldest), as though the driver steered a copy to everyone who asks. Levels only
 * rise, and an entry names one table at most, so every way ends.
 */
#include <string.h>

#include "steer.h"
#include "vport.h"

static struct flow_entry *match(const struct steer *s, const struct flow_table *t, const struct image *image)
{
	struct flow_entry *e = NULL;

	for (const struct flow_group *g = t->first; g && !e; g = g->next)
		e = flow_group_match(s, g, image);
	return e;
}

static void deliver(struct hca_packet *r, uint32_t tirn)
{
	if (r->n_tirs < HCA_PACKET_TIRS)
		r->tirn[r->n_tirs] = tirn;
	r->n_tirs++;
}

#define CHANGES (FTE_DECAP | FTE_REFORMAT | FTE_MODIFY | FTE_VLAN_POP | FTE_VLAN_PUSH)

/* What an entry does to the packet. The table to go on with; NULL: here it ended. */
static struct flow_table *act(struct hca *h, struct frame *f, const struct fte_actions *a, struct hca_packet *r)
{
	struct flow_table *next = NULL;

	/* Counters see the packet as it came to the entry. */
	for (uint32_t i = a->n_dests; i < a->n_dests + a->n_counters; i++) {
		a->item[i].counter->packets++;
		a->item[i].counter->octets += f->total;
	}
	if (a->action & FTE_DROP || (a->action & CHANGES && !frame_change(h, f, a))) {
		r->dropped++;
		return NULL;
	}
	if (a->action & FTE_ALLOW) {
		r->allowed++;
		return NULL;
	}
	for (uint32_t i = 0; i < a->n_dests; i++) {
		if (a->item[i].to->type == OBJ_FLOW_TABLE)
			next = (struct flow_table *)a->item[i].to;
		else
			deliver(r, a->item[i].to->id);
	}
	return next;
}

static void walk(struct hca *h, const struct flow_table *t, const uint8_t *data, uint32_t len, struct hca_packet *r)
{
	const uint32_t tirs = r->n_tirs;
	struct frame f;

	f.p = data;
	f.len = f.total = len;
	memset(f.regs, 0, sizeof(f.regs));
	frame_parse(h, &f);
	r->walks++;
	while (t) {
		struct flow_entry *e = match(h->steer, t, &f.image);

		if (e) {
			t = act(h, &f, e->actions, r);
		} else {
			t = (const struct flow_table *)t->obj.links[0];
			r->missed += !t;
		}
	}
	r->delivered += r->n_tirs > tirs;
}

bool hca_packet(struct hca *h, const void *frame, size_t len, uint32_t port, struct hca_packet *r)
{
	const struct steer *s = h->steer;
	struct flow_table *t;

	memset(r, 0, sizeof(*r));
	if (len < HCA_FRAME_MIN || len > HCA_FRAME_MAX || !port || port > NUM_PORTS)
		return false;
	r->link_down = !hca_port_up(h, port);
	if (!r->link_down && s->root[FT_NIC_RX]) {
		walk(h, s->root[FT_NIC_RX], frame, (uint32_t)len, r);
	} else if (!r->link_down) {
		for (t = steer_first(s, 1); t; t = steer_first(s, t->obj.uid + 1u))
			walk(h, t, frame, (uint32_t)len, r);
	}
	vport_received(h, frame, (uint32_t)len, r->dropped + r->missed);
	return true;
}
