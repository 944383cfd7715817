/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Commands that come while the device waits for the client to read or write its memory. The function is in the middle of
 * something then, and must not be called but to read registers; and QEMU may be in the middle of something too: its processors hold
 * the lock that its answer needs, until they have theirs. So
 *   - writes are answered at once, and executed later: they are posted anyway (a doorbell's timeout runs from its arrival on);
 *   - a reset waits;
 *   - everything else is executed at once, or, when something waits that came before it, if the client does not answer soon.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "server.h"

static bool must_wait(unsigned int command)
{
	return command == VFU_REGION_WRITE || command == VFU_WRITE_MULTI || command == VFU_RESET || command == VFU_VERSION;
}

/* For the time of a command: m is current. */
static void execute(struct vfu *v, struct message *m)
{
	struct message *outer = v->current;

	v->current = m;
	vfu_request(v);
	v->current = outer;
}

static bool answer_write(struct vfu *v, struct message *m)
{
	const uint8_t *in = m->bytes + sizeof(m->header);
	struct message *outer = v->current;
	size_t len = m->header.size - sizeof(m->header);
	bool ok;

	v->current = m;
	ok = m->header.command == VFU_REGION_WRITE ? vfu_answer_write(v, in, len) : vfu_answer_multi(v, in, len);
	v->current = outer;
	m->header.flags |= VFU_NO_REPLY;
	return ok;
}

static bool enqueue(struct vfu *v, struct message *m)
{
	size_t size = m->header.size;
	struct queued *q;

	if (v->n_queued >= QUEUE_MAX || v->queued_bytes + size > QUEUE_BYTES_MAX || v->queued_fds + m->n_fds > QUEUE_FDS_MAX)
		return false;
	q = malloc(offsetof(struct queued, header) + size);
	if (!q)
		return false;
	q->next = NULL;
	q->arrived = m->arrived;
	q->n_fds = m->n_fds;
	q->lost_fds = m->lost_fds;
	memcpy(q->fds, m->fds, sizeof(q->fds));
	memcpy(&q->header, m->bytes, size);
	*v->queue_end = q;
	v->queue_end = &q->next;
	v->n_queued++;
	v->queued_fds += m->n_fds;
	v->queued_bytes += size;
	m->n_fds = 0;
	return true;
}

/* Out of the queue and into m. */
static void take(struct vfu *v, struct queued **at, struct message *m)
{
	struct queued *q = *at;

	*at = q->next;
	if (v->queue_end == &q->next)
		v->queue_end = at;
	v->n_queued--;
	v->queued_fds -= q->n_fds;
	v->queued_bytes -= q->header.size;
	m->arrived = q->arrived;
	m->n_fds = q->n_fds;
	m->lost_fds = q->lost_fds;
	memcpy(m->fds, q->fds, sizeof(m->fds));
	memcpy(m->bytes, &q->header, q->header.size);
	free(q);
}

bool vfu_dequeue(struct vfu *v)
{
	if (!v->queue)
		return false;
	take(v, &v->queue, v->current);
	return true;
}

void vfu_meanwhile(struct vfu *v)
{
	struct message *m = v->incoming;
	unsigned int command = m->header.command;
	bool can_answer = vfu_flush(v), write = command == VFU_REGION_WRITE || command == VFU_WRITE_MULTI, done = false;

	v->incoming = v->spare;
	v->spare = m;
	v->incoming->have = 0;
	if (can_answer && !v->queue && !must_wait(command)) {
		execute(v, m);
		done = true;
	} else if (can_answer && write && v->greeted && !m->n_fds && !m->lost_fds) {
		done = !answer_write(v, m);
	}
	if (!done && !enqueue(v, m))
		v->broken = true;
	vfu_close_fds(m->fds, &m->n_fds);
	m->lost_fds = false;
}

void vfu_meanwhile_more(struct vfu *v)
{
	for (struct queued **at = &v->queue; *at && vfu_flush(v);) {
		if (must_wait((*at)->header.command)) {
			at = &(*at)->next;
			continue;
		}
		take(v, at, v->spare);
		execute(v, v->spare);
	}
}
