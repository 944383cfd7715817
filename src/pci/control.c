/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines of the control socket: what a test does to the device beside the guest. A line is a name and words behind it; numbers are decimal,
 * or hexadecimal after 0x. docs/serve.md describes each.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "function.h"
#include "spec.h"

#define PORT 1u /* the only one */

struct line {
	struct pci *p;
	const char *at; /* what is left of it */
	char *reply;
	size_t room;
	uint64_t now;
};

__attribute__((format(printf, 2, 3))) static bool ok(struct line *l, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(l->reply, l->room, format, args);
	va_end(args);
	return true;
}

static bool error(struct line *l, const char *why)
{
	snprintf(l->reply, l->room, "error: %s", why);
	return false;
}

static void skip(struct line *l)
{
	l->at += strspn(l->at, " \t\r\n");
}

static bool at_end(struct line *l)
{
	skip(l);
	return !*l->at;
}

/* Takes the next word if it is this one. */
static bool word(struct line *l, const char *name)
{
	size_t n = strlen(name);

	skip(l);
	if (strncmp(l->at, name, n) || !strchr(" \t\r\n", l->at[n]))
		return false;
	l->at += n;
	return true;
}

static int digit(char c, int base)
{
	int d = c >= '0' && c <= '9' ? c - '0' : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : base;

	return d < base ? d : -1;
}

static bool number(struct line *l, uint64_t max, uint64_t *v)
{
	const char *s;
	int base = 10, d;

	skip(l);
	s = l->at;
	if (s[0] == '0' && (s[1] | 0x20) == 'x') {
		base = 16;
		s += 2;
	}
	if (digit(*s, base) < 0)
		return false;
	for (*v = 0; (d = digit(*s, base)) >= 0; s++) {
		if (*v > (max - (unsigned int)d) / (unsigned int)base)
			return false;
		*v = *v * (unsigned int)base + (unsigned int)d;
	}
	if (!strchr(" \t\r\n:", *s))
		return false;
	l->at = s;
	return true;
}

static bool do_fault(struct line *l)
{
	struct hca_fault fault;
	char why[200];
	bool clear;

	skip(l);
	if (!spec_rule_parse_to(l->at, &fault, &clear, why, sizeof(why)))
		return error(l, why);
	if (clear) {
		hca_fault_clear(l->p->hca, l->now);
		cmdq_unhang(l->p, l->now);
	} else if (!hca_fault_add(l->p->hca, &fault)) {
		return error(l, "no memory, or too many rules");
	}
	return ok(l, "ok");
}

static bool do_hold(struct line *l)
{
	uint64_t opcode = 0;

	if (!at_end(l) && (!number(l, UINT16_MAX, &opcode) || !opcode || !at_end(l)))
		return error(l, "hold, or hold OPCODE");
	cmdq_hold(l->p, (uint16_t)opcode);
	return ok(l, "ok");
}

static bool do_release(struct line *l)
{
	uint64_t n = UINT32_MAX;

	if ((!word(l, "all") && !number(l, UINT32_MAX - 1, &n)) || !at_end(l))
		return error(l, "release N, or release all");
	return ok(l, "ok %u", cmdq_release(l->p, (uint32_t)n, l->now));
}

static bool do_traffic(struct line *l)
{
	uint64_t id, packets, octets;

	if (!number(l, UINT32_MAX, &id) || !number(l, UINT64_MAX, &packets) || !number(l, UINT64_MAX, &octets) || !at_end(l))
		return error(l, "traffic COUNTER PACKETS OCTETS");
	return hca_traffic(l->p->hca, (uint32_t)id, packets, octets) ? ok(l, "ok") : error(l, "no such counter");
}

static bool do_counter(struct line *l)
{
	uint8_t in[PRM_SZ(query_flow_counter_in)] = { 0 }, out[PRM_SZ(query_flow_counter_out) + PRM_SZ(traffic_counter)];
	struct prm_box i = prm_out(in, sizeof(in)), o = prm_out(out, sizeof(out)), value;
	uint64_t id;

	if (!number(l, UINT32_MAX, &id) || !at_end(l))
		return error(l, "counter ID");
	PRM_SET(&i, query_flow_counter_in, opcode, PRM_OP_QUERY_FLOW_COUNTER);
	PRM_SET(&i, query_flow_counter_in, flow_counter_id, id);
	hca_execute(l->p->hca, in, sizeof(in), out, sizeof(out));
	if (PRM_GET(&o, query_flow_counter_out, status))
		return error(l, "no such counter");
	value = PRM_SUB(&o, query_flow_counter_out, flow_statistics);
	return ok(l, "ok packets=%" PRIu64 " octets=%" PRIu64, PRM_GET(&value, traffic_counter, packets),
		  PRM_GET(&value, traffic_counter, octets));
}

static bool do_packet(struct line *l)
{
	uint8_t *frame = l->p->inbox; /* free while no command executes */
	struct hca_packet r;
	size_t n = 0;

	skip(l);
	for (; digit(l->at[0], 16) >= 0 && digit(l->at[1], 16) >= 0 && n < HCA_FRAME_MAX; l->at += 2)
		frame[n++] = (uint8_t)(digit(l->at[0], 16) << 4 | digit(l->at[1], 16));
	if (!at_end(l) || !hca_packet(l->p->hca, frame, n, PORT, &r))
		return error(l, "packet HEX, of 14 to 65535 bytes");
	if (r.link_down)
		return error(l, "the link is down");
	return ok(l, "ok delivered=%u tirs=%u dropped=%u missed=%u", r.delivered, r.n_tirs, r.dropped, r.missed);
}

static bool do_port(struct line *l)
{
	bool up = word(l, "up");

	if ((!up && !word(l, "down")) || !at_end(l))
		return error(l, "port up, or port down");
	hca_port(l->p->hca, PORT, up);
	return ok(l, "ok");
}

static bool do_event(struct line *l)
{
	static const char *const errors[] = {
		[HCA_NO_OBJECT] = "no such object", [HCA_NO_EVENT] = "such objects have no such event",
		[HCA_NOT_NOW] = "not in the state of the object, or no such syndrome",
	};
	uint64_t made_by, type = 0, id, event, syndrome = 0;
	enum hca_raised raised;

	if (!number(l, UINT16_MAX, &made_by) || (*l->at == ':' && (l->at++, !number(l, UINT16_MAX, &type))) ||
	    !number(l, UINT32_MAX, &id) || !number(l, UINT16_MAX, &event) ||
	    (!at_end(l) && (!number(l, UINT8_MAX, &syndrome) || !at_end(l))))
		return error(l, "event CREATE-OPCODE[:TYPE] ID EVENT [SYNDROME]");
	raised = hca_event(l->p->hca, (uint16_t)made_by, (uint16_t)type, (uint32_t)id, (uint16_t)event, (uint8_t)syndrome);
	return raised == HCA_RAISED ? ok(l, "ok") : error(l, errors[raised]);
}

/* Nothing is answered any more, as by firmware that has stopped. */
static bool do_fatal(struct line *l)
{
	uint64_t syndrome;

	if (!number(l, UINT8_MAX, &syndrome) || !syndrome || !at_end(l))
		return error(l, "fatal SYNDROME, of 1 to 255");
	cmdq_abort(l->p);
	l->p->fatal = (uint8_t)syndrome;
	return ok(l, "ok");
}

static bool do_stat(struct line *l)
{
	unsigned int in_flight = 0, held = 0, hung = 0;
	const struct pci *p = l->p;
	struct hca_usage u = hca_usage(p->hca);
	int n;

	if (!at_end(l))
		return error(l, "stat stands alone");
	for (unsigned int i = 0; i < SLOTS; i++) {
		in_flight += p->slots[i].state != SLOT_FREE;
		held += p->slots[i].state == SLOT_HELD;
		hung += p->slots[i].state == SLOT_HUNG;
	}
	n = snprintf(l->reply, l->room, "ok inflight=%u held=%u hung=%u late=%" PRIu64 " failed=%" PRIu64 " ignored=%" PRIu64 " unknown=%" PRIu64
		     " objects=%u pages=%u memory=%" PRIu64, in_flight, held, hung, p->n_late, p->n_failed, p->n_ignored, p->n_unknown,
		     u.objects, u.pages, u.memory);
	for (size_t op = 0; op < sizeof(p->n_opcode) / sizeof(p->n_opcode[0]) && n >= 0 && (size_t)n < l->room; op++)
		if (p->n_opcode[op])
			n += snprintf(l->reply + n, l->room - (size_t)n, " 0x%zx=%" PRIu64, op, p->n_opcode[op]);
	return true;
}

static bool do_reset(struct line *l)
{
	if (!at_end(l))
		return error(l, "reset stands alone");
	pci_reset(l->p, l->now);
	return ok(l, "ok");
}

static const struct {
	const char *name;
	bool (*run)(struct line *l);
} lines[] = {
	{ "fault", do_fault }, { "hold", do_hold }, { "release", do_release }, { "traffic", do_traffic }, { "counter", do_counter },
	{ "packet", do_packet }, { "port", do_port }, { "event", do_event }, { "fatal", do_fatal }, { "stat", do_stat },
	{ "reset", do_reset },
};

bool pci_control(struct pci *p, const char *text, char *reply, size_t len, uint64_t now)
{
	struct line l = { p, text, reply, len, now };

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		if (word(&l, lines[i].name)) {
			bool done = lines[i].run(&l);

			pci_due(p, now);
			return done;
		}
	}
	return error(&l, "unknown word: fault, hold, release, traffic, counter, packet, port, event, fatal, stat or reset");
}
