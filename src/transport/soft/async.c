/* SPDX-License-Identifier: BSD-2-Clause */
/* The asynchronous events of verbs, one queue for each context: the port's, and the end of the device. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "prm.h"

/* Linux, include/linux/mlx5/device.h. */
#define EVENT_PORT_CHANGE 0x09u
#define SUBTYPE_PORT_ACTIVE 0x4u

struct soft_async_event {
	struct soft_async_event *next;
	enum ibv_event_type type;
	int port;
};

static bool async_empty(const struct fdq *q)
{
	const struct soft_async *a = (const struct soft_async *)q;

	return !a->head && !a->fatal;
}

/* The end of the device comes last, and needs no memory: it is not lost. */
static ssize_t async_take(struct fdq *q, void *buf, size_t len)
{
	struct soft_async *a = (struct soft_async *)q;
	struct ibv_async_event ev = { .event_type = IBV_EVENT_DEVICE_FATAL };
	struct soft_async_event *e = a->head;

	if (async_empty(q))
		return -EAGAIN;
	if (e) {
		ev.event_type = e->type;
		ev.element.port_num = e->port;
		a->head = e->next;
		free(e);
	} else {
		a->fatal = false;
	}
	memcpy(buf, &ev, sizeof(ev));
	if (async_empty(q))
		fdq_emptied(q);
	return sizeof(ev);
}

/* With quirks=kernel too: the kernel keeps these when the device goes (seen on Linux 7.2). */
static void async_drop(struct fdq *q)
{
}

static void async_retire(struct fdq *q)
{
	struct soft_async **p;

	pthread_mutex_lock(&q->dev->model);
	for (p = &q->dev->asyncs; &(*p)->q != q; p = &(*p)->next)
		;
	*p = (*p)->next;
	pthread_mutex_unlock(&q->dev->model);
}

static void async_fini(struct fdq *q)
{
	struct soft_async *a = (struct soft_async *)q;

	while (a->head) {
		struct soft_async_event *e = a->head;

		a->head = e->next;
		free(e);
	}
	a->fatal = false;
}

static const struct fdq_ops async_ops = { async_empty, async_take, async_drop, async_retire, async_fini };

int soft_async_open(struct soft_context *ctx)
{
	struct soft_async *a = &ctx->async;
	int err;

	a->head = a->tail = NULL;
	a->fatal = false;
	err = fdq_create(&a->q, &async_ops, ctx);
	if (err)
		return err;
	pthread_mutex_lock(&ctx->dev->model);
	a->next = ctx->dev->asyncs;
	ctx->dev->asyncs = a;
	pthread_mutex_unlock(&ctx->dev->model);
	return 0;
}

/* Without memory the event is lost, as it is in the kernel. */
static void push(struct soft_async *a, enum ibv_event_type type, int port)
{
	struct soft_async_event *e = malloc(sizeof(*e));

	if (!e)
		return;
	*e = (struct soft_async_event){ .type = type, .port = port };
	pthread_mutex_lock(&a->q.lock);
	if (a->head)
		a->tail->next = e;
	else
		a->head = e;
	a->tail = e;
	fdq_filled(&a->q);
	pthread_mutex_unlock(&a->q.lock);
}

void soft_async_event(struct soft_device *dev, const struct hca_event *ev)
{
	struct prm_box eqe = prm_in(ev->eqe, sizeof(ev->eqe)), data = PRM_SUB(&eqe, eqe, event_data);
	bool up = PRM_GET(&eqe, eqe, event_sub_type) == SUBTYPE_PORT_ACTIVE;

	if (ev->type == EVENT_PORT_CHANGE)
		for (struct soft_async *a = dev->asyncs; a; a = a->next)
			push(a, up ? IBV_EVENT_PORT_ACTIVE : IBV_EVENT_PORT_ERR,
			     (int)PRM_GET(&data, port_state_change_event, port_num));
}

void soft_async_fatal(struct soft_device *dev)
{
	for (struct soft_async *a = dev->asyncs; a; a = a->next) {
		pthread_mutex_lock(&a->q.lock);
		a->fatal = true;
		fdq_filled(&a->q);
		pthread_mutex_unlock(&a->q.lock);
	}
}

int soft_async_get(struct ibv_context *ibv, struct ibv_async_event *event)
{
	ssize_t n = fdq_get(&soft_ctx(ibv)->async.q, event, sizeof(*event));

	return n < 0 ? (int)-n : 0;
}
