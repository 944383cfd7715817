/* SPDX-License-Identifier: BSD-2-Clause */
/* Waits for changes of the port on an event channel: 8 bytes of cookie, and the event as the device wrote it. */
#include <err.h>
#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <opendevx/soft.h>
#include <poll.h>
#include <stdio.h>

#define PORT_CHANGE 0x9

int main(void)
{
	struct ibv_device *dev = odx_soft_create("");
	struct ibv_context *ctx = dev ? mlx5dv_open_device(dev, NULL) : NULL;
	struct mlx5dv_devx_event_channel *channel = ctx ? mlx5dv_devx_create_event_channel(ctx, 0) : NULL;
	union { struct mlx5dv_devx_async_event_hdr hdr; unsigned char bytes[8 + 64]; } event;
	uint16_t events[] = { PORT_CHANGE };

	if (!channel)
		err(1, "setup");
	if ((errno = mlx5dv_devx_subscribe_devx_event(channel, NULL, sizeof(events), events, 7)))
		err(1, "subscribe");
	odx_soft_port(dev, 1, 0); /* as if the cable had been pulled */
	struct pollfd pfd = { .fd = channel->fd, .events = POLLIN };
	if (poll(&pfd, 1, 5000) != 1)
		errx(1, "no event");
	if (mlx5dv_devx_get_event(channel, &event.hdr, sizeof(event)) != sizeof(event))
		err(1, "get");
	printf("cookie %d: event 0x%x, subtype 0x%x, port %u\n", (int)event.hdr.cookie, event.bytes[8 + 1],
	       event.bytes[8 + 3], event.bytes[8 + 32 + 8] >> 4);
	mlx5dv_devx_destroy_event_channel(channel);
	return ibv_close_device(ctx) || odx_soft_destroy(dev);
}
