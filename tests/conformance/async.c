/* SPDX-License-Identifier: BSD-2-Clause */
/* The asynchronous events of verbs: the port's, and the end of the device. */
#include "conf.h"

static void port(struct ibv_device *dev, int up)
{
	CHECK_EQ(set_port(dev, up), 0);
}

CASE(each_context_is_told_of_the_port, "ibv_get_async_event(3)", CONTROL,
     "Each context is told by verbs that the port went down and came up, in order, through its async_fd.")
{
	struct ibv_device *dev = soft_with_port();
	struct ibv_context *ctx[2] = { open_devx(dev), open_devx(dev) };
	struct ibv_async_event ev;

	port(dev, 0);
	port(dev, 0); /* no change */
	port(dev, 1);
	for (size_t i = 0; i < N_OF(ctx); i++) {
		for (int up = 0; up <= 1; up++) {
			CHECK_EQ(ready(ctx[i]->async_fd, POLLIN, PATIENCE_MS), POLLIN);
			CHECK_EQ(ibv_get_async_event(ctx[i], &ev), 0);
			CHECK_EQ(ev.event_type, up ? IBV_EVENT_PORT_ACTIVE : IBV_EVENT_PORT_ERR);
			CHECK_EQ(ev.element.port_num, 1);
			ibv_ack_async_event(&ev);
		}
		CHECK_EQ(ready(ctx[i]->async_fd, POLLIN, 0), 0);
		set_nonblock(ctx[i]->async_fd, true);
		CHECK_EQ(ibv_get_async_event(ctx[i], &ev), -1);
		CHECK_EQ(errno, EAGAIN);
	}
}

CASE(removal_is_the_last_event, "verified 1", CONTROL,
     "A removal gives IBV_EVENT_DEVICE_FATAL, after the events before it; then EIO, or EAGAIN with O_NONBLOCK.")
{
	struct ibv_device *dev = soft("");
	struct ibv_context *ctx = open_devx(dev);
	struct ibv_async_event ev;

	port(dev, 0);
	CHECK_EQ(take_away(dev), 0);
	CHECK_EQ(ibv_get_async_event(ctx, &ev), 0);
	CHECK_EQ(ev.event_type, IBV_EVENT_PORT_ERR);
	CHECK_EQ(ibv_get_async_event(ctx, &ev), 0);
	CHECK_EQ(ev.event_type, IBV_EVENT_DEVICE_FATAL);
	ibv_ack_async_event(&ev);
	CHECK_EQ(ibv_get_async_event(ctx, &ev), -1);
	CHECK_EQ(errno, EIO);
	set_nonblock(ctx->async_fd, true);
	CHECK_EQ(ibv_get_async_event(ctx, &ev), -1);
	CHECK_EQ(errno, EAGAIN);
	if (is_soft())
		CHECK_EQ(odx_soft_port(dev, 1, 1), EIO);
}

struct async_sleeper {
	struct ibv_context *ctx;
	int ret, err;
};

static void sleep_in_get(void *arg)
{
	struct async_sleeper *s = arg;
	struct ibv_async_event ev;

	s->ret = ibv_get_async_event(s->ctx, &ev);
	s->err = errno;
}

CASE(close_wakes_a_sleeper, "deviations 6", SOFT,
     "Closing a context wakes a thread that sleeps in ibv_get_async_event with EBADF.")
{
	struct async_sleeper s = { .ctx = context() };
	struct runner *t = run(sleep_in_get, &s);

	wait_asleep(t);
	CHECK_EQ(close_context(s.ctx), 0);
	join(t);
	CHECK_EQ(s.ret, -1);
	CHECK_EQ(s.err, EBADF);
}

CASE(soft_port_checks, "odx_soft_port(3)", SOFT, "Ports that are not there give EINVAL, and NULL too.")
{
	struct ibv_device *dev = soft("");

	CHECK_EQ(odx_soft_port(dev, 0, 0), EINVAL);
	CHECK_EQ(odx_soft_port(dev, 2, 0), EINVAL);
	CHECK_EQ(odx_soft_port(NULL, 1, 0), EINVAL);
	CHECK_EQ(odx_soft_event(dev, NULL, 0, 0), EINVAL);
}
