/* SPDX-License-Identifier: BSD-2-Clause */
/* A program that follows the port by the asynchronous events of verbs, and a test that pulls the cable. */
#include <err.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <opendevx/soft.h>
#include <poll.h>
#include <stdio.h>

static void next_event(struct ibv_context *ctx)
{
	struct pollfd pfd = { .fd = ctx->async_fd, .events = POLLIN };
	struct ibv_async_event event;

	if (poll(&pfd, 1, 5000) != 1)
		errx(1, "no event");
	if (ibv_get_async_event(ctx, &event))
		err(1, "ibv_get_async_event");
	if (event.event_type != IBV_EVENT_PORT_ERR && event.event_type != IBV_EVENT_PORT_ACTIVE)
		errx(1, "event %d", event.event_type);
	printf("port %d is %s\n", event.element.port_num, event.event_type == IBV_EVENT_PORT_ACTIVE ? "up" : "down");
	ibv_ack_async_event(&event);
}

int main(void)
{
	struct ibv_device *dev = odx_soft_create("");
	struct ibv_context *ctx = dev ? ibv_open_device(dev) : NULL;

	if (!ctx)
		err(1, "setup");
	for (int up = 0; up <= 1; up++) {
		if ((errno = odx_soft_port(dev, 1, up)))
			err(1, "odx_soft_port");
		next_event(ctx);
	}
	return ibv_close_device(ctx) || odx_soft_destroy(dev);
}
