/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command queue: 32 entries in guest memory, which a doorbell hands over. A command executes when it is rung and is answered
 * when its time has come: outbox, then the owner bit, then an event if there is a queue for that. What would be answered after the
 * driver's timeout is not executed, and only its entry is answered, because the driver has freed the mailboxes. Guest memory may be
 * slow, where a client reads and writes it for us: the time is taken anew after it was accessed.
 */
#include <stdlib.h>
#include <string.h>

#include "function.h"

/* Linux, drivers/net/ethernet/mellanox/mlx5/core/cmd.c: the only transport of entries. */
#define TYPE_PCI 0x7u

static uint64_t after(uint64_t now, uint64_t ns)
{
	return ns > HCA_NEVER - 1 - now ? HCA_NEVER - 1 : now + ns;
}

/* splitmix64, as the model's. */
static uint64_t random_next(struct pci *p)
{
	uint64_t z = p->rng += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/*
 * The driver's clock runs since before the doorbell came here, so that near the timeout nobody knows whether it still waits. Around it,
 * by this much, nothing is answered: what is earlier is in time, and what is later is late (our choice).
 */
static uint64_t margin(const struct pci *p)
{
	return p->cfg.hca.timeout / 32;
}

static bool too_late(const struct pci *p, const struct slot *s, uint64_t when)
{
	return when > s->start && when - s->start > p->cfg.hca.timeout - margin(p);
}

bool cmdq_too_late(const struct pci *p, const struct slot *s)
{
	return too_late(p, s, p->ops.now(p->host));
}

static uint64_t late_time(const struct pci *p, const struct slot *s)
{
	return after(s->start, after(p->cfg.hca.timeout, margin(p)));
}

static void set_late(struct pci *p, struct slot *s)
{
	uint64_t earliest = late_time(p, s);

	s->late = true;
	s->delivery = DELIVERY_FIRMWARE;
	if (s->due < earliest)
		s->due = earliest;
}

/* Which commands a program may send asynchronously: queries. The driver's own queries are not a program's. */
static bool may_be_held(const struct pci *p, const struct slot *s)
{
	const struct prm_command *cmd = prm_command(s->opcode);

	if (!p->holding)
		return false;
	return p->hold_opcode ? s->opcode == p->hold_opcode : s->uid && cmd && cmd->call == PRM_CALL_QUERY;
}

/* When it is answered, and whether it may execute. */
static void schedule(struct pci *p, struct slot *s, const struct hca_fault *fault)
{
	uint64_t answer = after(p->ops.now(p->host), p->cfg.hca.latency);

	if (p->cfg.hca.jitter)
		answer = after(answer, random_next(p) % (p->cfg.hca.jitter + 1));
	if (fault && fault->kind == HCA_FAULT_DELAY) {
		answer = after(answer, fault->delay);
	} else if (!p->cfg.hca.reorder) { /* answers do not overtake each other */
		if (answer < p->last_due)
			answer = p->last_due;
		p->last_due = answer;
	}
	s->due = answer;
	s->order = p->cfg.hca.reorder ? random_next(p) : ++p->order;
	s->state = SLOT_DUE;
	if (fault && fault->kind == HCA_FAULT_HANG)
		s->state = SLOT_HUNG;
	else if (may_be_held(p, s))
		s->state = SLOT_HELD;
	else if (too_late(p, s, answer))
		set_late(p, s);
}

static void execute(struct pci *p, struct slot *s, const uint8_t *in, uint32_t inlen)
{
	struct prm_box box = prm_in(in, inlen);
	struct hca_fault fault;
	bool hit;

	s->opcode = (uint16_t)PRM_GET(&box, nop_in, opcode);
	s->uid = (uint16_t)PRM_GET(&box, create_cq_in, uid);
	if (s->opcode < sizeof(p->n_opcode) / sizeof(p->n_opcode[0]))
		p->n_opcode[s->opcode]++;
	else
		p->n_unknown++;
	hit = hca_fault_match(p->hca, s->opcode, &fault);
	schedule(p, s, hit ? &fault : NULL);
	if (s->late || s->state == SLOT_HUNG)
		return;
	memset(s->out, 0, INLINE_BYTES);
	if (hit && fault.kind == HCA_FAULT_STATUS)
		hca_fail(s->out, s->outlen, fault.status, fault.syndrome);
	else
		hca_execute(p->hca, in, inlen, s->out, s->outlen);
}

/* An entry that the device cannot take. */
static enum delivery descriptor_check(struct prm_box *d)
{
	static const uint8_t none[3];

	if (PRM_GET(d, cmd_queue_entry, type) != TYPE_PCI)
		return DELIVERY_DESCRIPTOR;
	if (PRM_GET(d, cmd_queue_entry, signature) && mailbox_xor(d->p, ENTRY_BYTES) != 0xff)
		return DELIVERY_SIGNATURE;
	if (memcmp(d->p + 1, none, sizeof(none)) || d->p[62])
		return DELIVERY_RESERVED;
	if (PRM_GET(d, cmd_queue_entry, input_length) < PRM_HDR_SZ || PRM_GET(d, cmd_queue_entry, input_length) > INBOX_MAX)
		return DELIVERY_IN_LENGTH;
	if (PRM_GET(d, cmd_queue_entry, output_length) > OUTBOX_MAX)
		return DELIVERY_OUT_LENGTH;
	return DELIVERY_OK;
}

/* Reads the boxes that the descriptor names, and executes. */
static enum delivery deliver(struct pci *p, struct slot *s)
{
	struct { uint32_t bit, width; } in_high = { PRM_F_cmd_queue_entry__input_mailbox_pointer_63_32 },
		in_low = { PRM_F_cmd_queue_entry__input_mailbox_pointer_31_9 },
		out_high = { PRM_F_cmd_queue_entry__output_mailbox_pointer_63_32 },
		out_low = { PRM_F_cmd_queue_entry__output_mailbox_pointer_31_9 },
		inlined = { PRM_F_cmd_queue_entry__command_input_inline_data };
	struct prm_box d = prm_in(s->descriptor, sizeof(s->descriptor));
	enum delivery why = descriptor_check(&d);
	uint8_t token = (uint8_t)PRM_GET(&d, cmd_queue_entry, token), *in = p->inbox;
	uint32_t inlen;

	if (why)
		return why;
	inlen = (uint32_t)PRM_GET(&d, cmd_queue_entry, input_length);
	s->outlen = (uint32_t)PRM_GET(&d, cmd_queue_entry, output_length);
	if (inlen > sizeof(p->inbox) && !(in = malloc(inlen)))
		return DELIVERY_FIRMWARE;
	memcpy(in, d.p + inlined.bit / 8, INLINE_BYTES);
	why = mailbox_read(p, mailbox_pointer(&d, in_high.bit, in_low.bit), token, in + INLINE_BYTES, inlen - INLINE_BYTES);
	if (!why)
		why = mailbox_find(p, mailbox_pointer(&d, out_high.bit, out_low.bit), token, s);
	if (!why)
		execute(p, s, in, inlen);
	if (in != p->inbox)
		free(in);
	return why;
}

static void ring(struct pci *p, unsigned int i, uint64_t when)
{
	struct slot *s = &p->slots[i];
	struct prm_box d = prm_in(s->descriptor, sizeof(s->descriptor));
	enum delivery why;

	/* What is rung twice, and what the driver does not hand over: there is nothing to do. */
	if (s->state != SLOT_FREE) {
		p->n_ignored++;
		return;
	}
	s->entry = p->queue + ((uint64_t)i << LOG_STRIDE);
	if (!dma_read(p, s->entry, s->descriptor, ENTRY_BYTES) || !PRM_GET(&d, cmd_queue_entry, ownership)) {
		p->n_ignored++;
		return;
	}
	s->start = when;
	s->told = hca_commands_told(p->hca);
	s->late = false;
	s->outlen = 0;
	s->n_blocks = 0;
	s->opcode = s->uid = 0;
	s->delivery = DELIVERY_OK;
	why = deliver(p, s);
	if (why) {
		p->n_failed++;
		s->outlen = s->n_blocks = 0;
		s->delivery = (uint8_t)why;
		schedule(p, s, NULL);
	}
}

void cmdq_ring(struct pci *p, uint32_t slots, uint64_t when)
{
	for (; slots; slots &= slots - 1)
		ring(p, (unsigned int)__builtin_ctz(slots), when);
}

/* Outbox, then what tells of it. Where memory is gone there is nobody to tell. False: it became late, and is answered as that. */
static bool answer(struct pci *p, struct slot *s)
{
	struct { uint32_t bit, width; } inlined = { PRM_F_cmd_queue_entry__command_output_inline_data };
	struct prm_box d = prm_out(s->descriptor, sizeof(s->descriptor));
	uint8_t *at = s->descriptor + inlined.bit / 8, token = (uint8_t)PRM_GET(&d, cmd_queue_entry, token);

	if (!s->late) {
		if (!s->delivery && !mailbox_write(p, s, token))
			s->delivery = DELIVERY_FIRMWARE;
		if (cmdq_too_late(p, s)) {
			set_late(p, s);
			return false;
		}
	}
	p->n_late += s->late;
	memset(at, 0, INLINE_BYTES);
	if (!s->delivery)
		memcpy(at, s->out, s->outlen < INLINE_BYTES ? s->outlen : INLINE_BYTES);
	PRM_SET(&d, cmd_queue_entry, status, s->delivery);
	PRM_SET(&d, cmd_queue_entry, ownership, 0);
	PRM_SET(&d, cmd_queue_entry, signature, 0);
	PRM_SET(&d, cmd_queue_entry, signature, (uint8_t)~mailbox_xor(s->descriptor, ENTRY_BYTES));
	s->state = SLOT_FREE;
	if (dma_write(p, s->entry + inlined.bit / 8, at, ENTRY_BYTES - 1 - inlined.bit / 8))
		dma_write(p, s->entry + ENTRY_BYTES - 1, s->descriptor + ENTRY_BYTES - 1, 1);
	return true;
}

/* The next one whose time has come, or NULL. */
static struct slot *first_due(struct pci *p, uint64_t now)
{
	struct slot *first = NULL;

	for (unsigned int i = 0; i < SLOTS; i++) {
		struct slot *s = &p->slots[i];

		if (s->state == SLOT_DUE && s->due <= now &&
		    (!first || s->due < first->due || (s->due == first->due && s->order < first->order)))
			first = s;
	}
	return first;
}

/*
 * Linux takes the slots of one event in ascending order, so that an event tells of several commands only as long as that is the
 * order in which they end.
 */
void cmdq_due(struct pci *p, uint64_t now)
{
	uint32_t told = 0;
	struct slot *s;

	for (; (s = first_due(p, now)); now = p->ops.now(p->host)) {
		uint32_t bit = UINT32_C(1) << (s - p->slots);

		if (told && (!s->told || told >= bit)) {
			hca_commands_done(p->hca, told);
			told = 0;
		}
		if (answer(p, s) && s->told)
			told |= bit;
	}
	if (told)
		hca_commands_done(p->hca, told);
}

uint64_t cmdq_next(const struct pci *p)
{
	uint64_t next = HCA_NEVER;

	for (unsigned int i = 0; i < SLOTS; i++)
		if (p->slots[i].state == SLOT_DUE && p->slots[i].due < next)
			next = p->slots[i].due;
	return next;
}

void cmdq_abort(struct pci *p)
{
	for (unsigned int i = 0; i < SLOTS; i++)
		p->slots[i].state = SLOT_FREE;
	p->last_due = 0;
}

void cmdq_hold(struct pci *p, uint16_t opcode)
{
	p->holding = true;
	p->hold_opcode = opcode;
	/* What executed and is not answered yet waits too. */
	for (unsigned int i = 0; i < SLOTS; i++) {
		struct slot *s = &p->slots[i];

		if (s->state == SLOT_DUE && !s->late && !s->delivery && may_be_held(p, s))
			s->state = SLOT_HELD;
	}
}

/* The oldest first. */
unsigned int cmdq_release(struct pci *p, uint32_t n, uint64_t now)
{
	unsigned int released = 0;

	if (n == UINT32_MAX)
		p->holding = false;
	for (; released < n; released++) {
		struct slot *first = NULL;

		for (unsigned int i = 0; i < SLOTS; i++) {
			struct slot *s = &p->slots[i];

			if (s->state == SLOT_HELD && (!first || s->start < first->start || (s->start == first->start && s->order < first->order)))
				first = s;
		}
		if (!first)
			break;
		first->state = SLOT_DUE;
		if (first->due < now)
			first->due = now;
		first->order = ++p->order;
		if (too_late(p, first, first->due))
			set_late(p, first);
	}
	return released;
}

/* They were not executed, and are answered when the driver does not wait any more. */
void cmdq_unhang(struct pci *p, uint64_t now)
{
	for (unsigned int i = 0; i < SLOTS; i++) {
		struct slot *s = &p->slots[i];

		if (s->state != SLOT_HUNG)
			continue;
		s->state = SLOT_DUE;
		s->due = now;
		set_late(p, s);
	}
}
