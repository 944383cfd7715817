/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When commands start and end. A command waits in the pending queue for one of 31 slots, executes when it gets one, and is
 * handed back when its time has come. Events are taken in the order of their times, so that one large step of the clock
 * gives what many small ones give.
 */
#include <stdlib.h>
#include <string.h>

#include "fault.h"
#include "model.h"
#include "schedule.h"

struct queue {
	struct hca_cmd *head, *tail;
};

struct sched {
	struct queue pending;  /* wait for a slot */
	struct queue held;     /* executed, and kept back by hold */
	struct queue ended;    /* ready to be handed back */
	struct hca_cmd *sync;  /* the first synchronous one in pending: the next that may give up; NULL: none */
	uint64_t head_since;   /* when pending's head became the head */
	struct hca_cmd *slots[HCA_SLOTS];
	uint8_t order[HCA_SLOTS]; /* slots in use, by the time at which their commands end */
	unsigned int n_order;
	uint32_t free;         /* bit n: slot n is free */
	uint32_t stalled;      /* timed out and not answered yet */
	uint64_t answer[HCA_SLOTS]; /* when a stalled slot's late answer comes; HCA_NEVER */
	uint64_t last_due;     /* completions without reorder never overtake */
	bool holding, removed;
	struct faults faults;
};

struct sched *sched_new(void)
{
	struct sched *s = calloc(1, sizeof(*s));

	if (s)
		s->free = (1u << HCA_SLOTS) - 1;
	return s;
}

void sched_free(struct sched *s)
{
	if (s)
		faults_free(&s->faults);
	free(s);
}

static void push(struct queue *q, struct hca_cmd *cmd)
{
	cmd->next = NULL;
	if (q->head)
		q->tail->next = cmd;
	else
		q->head = cmd;
	q->tail = cmd;
}

static struct hca_cmd *pop(struct queue *q)
{
	struct hca_cmd *cmd = q->head;

	if (cmd)
		q->head = cmd->next;
	return cmd;
}

static void end(struct sched *s, struct hca_cmd *cmd, enum hca_end how)
{
	cmd->end = how;
	push(&s->ended, cmd);
}

static uint64_t after(uint64_t now, uint64_t ns)
{
	return ns > HCA_NEVER - 1 - now ? HCA_NEVER - 1 : now + ns;
}

/* The inbox becomes the outbox. */
static void execute(struct hca *h, struct hca_cmd *cmd)
{
	hca_run(h, cmd->box, cmd->inlen, h->scratch, cmd->outlen);
	memcpy(cmd->box, h->scratch, cmd->outlen);
	cmd->executed = 1;
}

/*
 * Where a slot that ends at its command's due time belongs in the order. Equal times: as submitted; timed out ones in
 * descending slot order, as Linux delivers them; with reorder at a random place among its equals.
 */
static void insert(struct hca *h, struct sched *s, unsigned int slot)
{
	struct hca_cmd *cmd = s->slots[slot];
	unsigned int at = s->n_order, equals = 0;

	while (at && s->slots[s->order[at - 1]]->due > cmd->due)
		at--;
	while (equals < at && s->slots[s->order[at - 1 - equals]]->due == cmd->due &&
	       (cmd->end == HCA_DONE || s->slots[s->order[at - 1 - equals]]->end == HCA_TIMED_OUT))
		equals++;
	if (cmd->end == HCA_TIMED_OUT)
		while (equals && s->order[at - 1] < slot) {
			at--;
			equals--;
		}
	else if (h->cfg.reorder && equals)
		at -= (unsigned int)(hca_random(h) % (equals + 1));
	memmove(&s->order[at + 1], &s->order[at], s->n_order - at);
	s->order[at] = (uint8_t)slot;
	s->n_order++;
}

/* Gives cmd a slot: it executes now, and its end is known. */
static void start(struct hca *h, struct hca_cmd *cmd, uint64_t now, const struct hca_fault *fault)
{
	struct sched *s = h->sched;
	unsigned int slot = (unsigned int)__builtin_ctz(s->free);
	bool hang = fault && fault->kind == HCA_FAULT_HANG;
	uint64_t answer = after(now, h->cfg.latency);

	s->free &= ~(1u << slot);
	s->slots[slot] = cmd;
	cmd->slot = slot & 0x3f;
	if (h->cfg.jitter)
		answer = after(answer, hca_random(h) % (h->cfg.jitter + 1));
	if (cmd->delay) {
		answer = after(answer, cmd->delay);
	} else if (!hang && !h->cfg.reorder) {
		if (answer < s->last_due)
			answer = s->last_due;
		s->last_due = answer;
	}
	if (hang)
		answer = HCA_NEVER;
	cmd->end = HCA_DONE;
	cmd->due = answer;
	/* What is answered too late does not execute: nobody would know of the object that it made, or took away. */
	if (answer == HCA_NEVER || answer - now > h->cfg.timeout) {
		cmd->end = HCA_TIMED_OUT;
		cmd->due = after(now, h->cfg.timeout);
		s->answer[slot] = answer;
	} else if (!cmd->executed) {
		execute(h, cmd);
	}
	insert(h, s, slot);
}

/* Faults are matched when a command would start to execute; a status rule replaces the execution. */
static const struct hca_fault *match(struct hca *h, struct hca_cmd *cmd)
{
	const struct hca_fault *f = faults_match(&h->sched->faults, cmd->opcode);

	if (f && f->kind == HCA_FAULT_STATUS) {
		hca_fail(cmd->box, cmd->outlen, f->status, f->syndrome);
		cmd->executed = 1;
	}
	if (f && f->kind == HCA_FAULT_DELAY)
		cmd->delay = f->delay & (HCA_DELAY_MAX - 1);
	return f;
}

/*
 * While the device holds: executed, and kept back without a slot. What hangs is never held, because it would not be answered
 * anyway; without a free slot the rule is lost on it.
 */
static void keep(struct hca *h, struct hca_cmd *cmd, uint64_t now)
{
	struct sched *s = h->sched;
	const struct hca_fault *f = match(h, cmd);

	if (f && f->kind == HCA_FAULT_HANG && s->free) {
		start(h, cmd, now, f);
		return;
	}
	if (!cmd->executed)
		execute(h, cmd);
	cmd->due = after(now, h->cfg.timeout);
	push(&s->held, cmd);
}

/* pending's head leaves it. */
static struct hca_cmd *pop_pending(struct sched *s, uint64_t now)
{
	struct hca_cmd *cmd = pop(&s->pending);

	s->head_since = now;
	if (cmd == s->sync)
		for (s->sync = cmd->next; s->sync && s->sync->async; s->sync = s->sync->next)
			;
	return cmd;
}

static void start_pending(struct hca *h, uint64_t now)
{
	struct sched *s = h->sched;

	while (s->pending.head && (s->free || (s->holding && s->pending.head->async))) {
		struct hca_cmd *cmd = pop_pending(s, now);

		if (s->holding && cmd->async)
			keep(h, cmd, now);
		else
			start(h, cmd, now, match(h, cmd));
	}
}

bool hca_stalled(const struct hca *h)
{
	return h->sched->stalled == (1u << HCA_SLOTS) - 1;
}

void hca_submit(struct hca *h, struct hca_cmd *cmd, uint64_t now)
{
	struct sched *s = h->sched;
	struct prm_box in = prm_in(cmd->box, cmd->inlen);

	cmd->opcode = (uint16_t)PRM_GET(&in, nop_in, opcode);
	cmd->executed = 0;
	cmd->delay = 0;
	if (s->removed) {
		end(s, cmd, HCA_ABORTED);
	} else if (s->holding && cmd->async) {
		keep(h, cmd, now);
	} else {
		cmd->due = after(now, h->cfg.timeout); /* while it waits: when a synchronous one gives up */
		if (!s->pending.head)
			s->head_since = now;
		push(&s->pending, cmd);
		if (!cmd->async && !s->sync)
			s->sync = cmd;
		start_pending(h, now);
	}
}

static void free_slot(struct sched *s, unsigned int slot)
{
	s->slots[slot] = NULL;
	s->free |= 1u << slot;
}

/* The first of the slots' commands ends. */
static struct hca_cmd *finish_slot(struct hca *h)
{
	struct sched *s = h->sched;
	unsigned int slot = s->order[0];
	struct hca_cmd *cmd = s->slots[slot];

	memmove(&s->order[0], &s->order[1], --s->n_order);
	if (cmd->end == HCA_TIMED_OUT && s->answer[slot] > cmd->due) {
		s->slots[slot] = NULL;
		s->stalled |= 1u << slot; /* the device still owns it */
	} else {
		free_slot(s, slot);
		start_pending(h, cmd->due);
	}
	return cmd;
}

static uint64_t next_answer(const struct sched *s, unsigned int *slot)
{
	uint64_t t = HCA_NEVER;

	for (uint32_t left = s->stalled; left; left &= left - 1) {
		unsigned int i = (unsigned int)__builtin_ctz(left);

		if (s->answer[i] < t) {
			t = s->answer[i];
			*slot = i;
		}
	}
	return t;
}

/* A synchronous command in the middle of the queue gives up: rare, so it is searched for. */
static struct hca_cmd *give_up(struct sched *s)
{
	struct hca_cmd *cmd = s->sync, *before = s->pending.head;

	while (before->next != cmd)
		before = before->next;
	before->next = cmd->next;
	if (s->pending.tail == cmd)
		s->pending.tail = before;
	for (s->sync = cmd->next; s->sync && s->sync->async; s->sync = s->sync->next)
		;
	return cmd;
}

enum event { EV_NONE, EV_SLOT, EV_ANSWER, EV_HEAD, EV_SYNC, EV_HELD };

static enum event next_event(struct hca *h, uint64_t *time, unsigned int *slot)
{
	struct sched *s = h->sched;
	enum event ev = EV_NONE;
	uint64_t t = HCA_NEVER, x;

#define EARLIER(when, which)                                                                                         \
	do {                                                                                                         \
		x = (when);                                                                                          \
		if (x < t) {                                                                                         \
			t = x;                                                                                       \
			ev = (which);                                                                                \
		}                                                                                                    \
	} while (0)
	/* At the same time: who waits gives up before what hangs times out (seen on Linux 7.2), but takes a slot that gets free. */
	if (s->pending.head && s->n_order && s->slots[s->order[0]]->end == HCA_TIMED_OUT)
		EARLIER(after(s->head_since, h->cfg.timeout), EV_HEAD);
	if (s->n_order)
		EARLIER(s->slots[s->order[0]]->due, EV_SLOT);
	if (s->stalled)
		EARLIER(next_answer(s, slot), EV_ANSWER);
	if (s->pending.head)
		EARLIER(after(s->head_since, h->cfg.timeout), EV_HEAD);
	if (s->sync && s->sync != s->pending.head)
		EARLIER(s->sync->due, EV_SYNC);
	if (s->held.head)
		EARLIER(s->held.head->due, EV_HELD);
#undef EARLIER
	*time = t;
	return ev;
}

struct hca_cmd *hca_due(struct hca *h, uint64_t now)
{
	struct sched *s = h->sched;
	unsigned int slot = 0;
	uint64_t t;

	while (!s->ended.head) {
		enum event ev = next_event(h, &t, &slot);

		if (ev == EV_NONE || t > now)
			return NULL;
		switch (ev) {
		case EV_SLOT:
			return finish_slot(h);
		case EV_ANSWER: /* late: it reaches nobody, but the slot is whole again */
			s->stalled &= ~(1u << slot);
			free_slot(s, slot);
			start_pending(h, t);
			break;
		case EV_HEAD:
			end(s, pop_pending(s, t), HCA_NO_SLOT);
			break;
		case EV_SYNC:
			end(s, give_up(s), HCA_NOT_STARTED);
			break;
		default:
			end(s, pop(&s->held), HCA_TIMED_OUT);
		}
	}
	return pop(&s->ended);
}

uint64_t hca_next(struct hca *h)
{
	unsigned int slot;
	uint64_t t;

	if (h->sched->ended.head)
		return 0;
	next_event(h, &t, &slot);
	return t;
}

void hca_hold(struct hca *h, uint64_t now)
{
	struct sched *s = h->sched;
	unsigned int kept = 0;

	if (s->removed)
		return;
	s->holding = true;
	/* What executes already does not complete either. */
	for (unsigned int i = 0; i < s->n_order; i++) {
		unsigned int slot = s->order[i];
		struct hca_cmd *cmd = s->slots[slot];

		if (!cmd->async || cmd->end != HCA_DONE) {
			s->order[kept++] = (uint8_t)slot;
			continue;
		}
		free_slot(s, slot);
		cmd->delay = 0; /* release is the end of its waiting */
		cmd->due = after(now, h->cfg.timeout);
		push(&s->held, cmd);
	}
	s->n_order = kept;
	start_pending(h, now);
}

void hca_release(struct hca *h, uint32_t n, uint64_t now)
{
	struct sched *s = h->sched;

	if (n == UINT32_MAX)
		s->holding = false;
	for (uint32_t i = 0; (i < n || n == UINT32_MAX) && s->held.head; i++) {
		struct hca_cmd *cmd = pop(&s->held);

		if (cmd->delay && s->free)
			start(h, cmd, now, NULL);
		else
			end(s, cmd, HCA_DONE);
	}
}

void hca_remove(struct hca *h)
{
	struct sched *s = h->sched;

	s->removed = true;
	s->holding = false;
	s->sync = NULL;
	for (unsigned int i = 0; i < s->n_order; i++)
		end(s, s->slots[s->order[i]], HCA_ABORTED);
	s->n_order = 0;
	s->free = (1u << HCA_SLOTS) - 1;
	s->stalled = 0;
	while (s->held.head)
		end(s, pop(&s->held), HCA_ABORTED);
	while (s->pending.head)
		end(s, pop(&s->pending), HCA_ABORTED);
}

bool hca_fault_match(struct hca *h, uint16_t opcode, struct hca_fault *fired)
{
	const struct hca_fault *f = faults_match(&h->sched->faults, opcode);

	if (f)
		*fired = *f;
	return f;
}

bool hca_fault_add(struct hca *h, const struct hca_fault *fault)
{
	return faults_add(&h->sched->faults, fault);
}

/* The rules go, and slots whose commands have timed out get their late answer. */
void hca_fault_clear(struct hca *h, uint64_t now)
{
	struct sched *s = h->sched;

	faults_free(&s->faults);
	for (unsigned int i = 0; i < HCA_SLOTS; i++) {
		if (!(s->stalled & 1u << i) || s->answer[i] != HCA_NEVER)
			continue;
		s->stalled &= ~(1u << i);
		free_slot(s, i);
	}
	/* What still hangs is answered at its timeout, too late for the one who waits. */
	for (unsigned int i = 0; i < s->n_order; i++) {
		struct hca_cmd *cmd = s->slots[s->order[i]];

		if (cmd->end == HCA_TIMED_OUT && s->answer[s->order[i]] == HCA_NEVER)
			s->answer[s->order[i]] = cmd->due;
	}
	start_pending(h, now);
}
