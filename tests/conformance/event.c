/* SPDX-License-Identifier: BSD-2-Clause */
/* Event channels: what may be subscribed to, what a record is, who is told. */
#include "objects.h"

#include <sys/eventfd.h>

/* Event types. Linux, include/linux/mlx5/device.h. */
enum { COMP = 0x0, CQ_ERROR = 0x4, PORT_CHANGE = 0x9, CMD = 0xa, PAGE_REQUEST = 0xb, QP_FATAL = 0x5 };
/* Subtypes of a port change; the CQ error of an overrun. */
enum { PORT_DOWN = 1, PORT_ACTIVE = 4, OVERRUN = 1 };

#define EQE_SZ SZ(eqe)
#define MAX_EVENTS 16u

struct event {
	uint64_t cookie;
	uint8_t eqe[EQE_SZ];
};

#define RECORD_SZ sizeof(struct event)

static void end_channel(void *p)
{
	mlx5dv_devx_destroy_event_channel(p);
}

static struct mlx5dv_devx_event_channel *channel(struct ibv_context *ctx, unsigned int flags)
{
	return own(mlx5dv_devx_create_event_channel(ctx, (enum mlx5dv_devx_create_event_channel_flags)flags), end_channel);
}

static void destroy_channel(struct mlx5dv_devx_event_channel *ch)
{
	disown(ch);
	mlx5dv_devx_destroy_event_channel(ch);
}

static int subscribe(struct mlx5dv_devx_event_channel *ch, struct mlx5dv_devx_obj *obj, uint16_t event, uint64_t cookie)
{
	return mlx5dv_devx_subscribe_devx_event(ch, obj, sizeof(event), &event, cookie);
}

static ssize_t get_event(struct mlx5dv_devx_event_channel *ch, void *buf, size_t len)
{
	errno = 0;
	return mlx5dv_devx_get_event(ch, buf, len);
}

/* The next event must be this one. */
static void expect_event(struct mlx5dv_devx_event_channel *ch, uint8_t type, uint8_t subtype, uint64_t cookie, struct event *ev)
{
	CHECK(ready(ch->fd, POLLIN, PATIENCE_MS) & POLLIN);
	CHECK_EQ(get_event(ch, ev, sizeof(*ev)), RECORD_SZ);
	CHECK_EQ(ev->cookie, cookie);
	CHECK_EQ(GET(ev->eqe, eqe, event_type), type);
	CHECK_EQ(GET(ev->eqe, eqe, event_sub_type), subtype);
}

static void expect_no_event(struct mlx5dv_devx_event_channel *ch)
{
	CHECK_EQ(ready(ch->fd, POLLIN, 0), 0);
}

static void port(struct ibv_device *dev, int up)
{
	CHECK_EQ(set_port(dev, up), 0);
}

CASE(fd_is_cloexec_and_blocking, "devx-abi 6", ANY,
     "The descriptor of a channel has O_CLOEXEC, is blocking, and not readable.")
{
	struct mlx5dv_devx_event_channel *ch = channel(context(), 0);

	CHECK_EQ(fcntl(ch->fd, F_GETFD), FD_CLOEXEC);
	CHECK_EQ(fcntl(ch->fd, F_GETFL) & O_NONBLOCK, 0);
	expect_no_event(ch);
}

CASE(channel_flags, "devx-abi 6", ANY, "A channel has the flag of omitted data or none; any other flag gives EINVAL.")
{
	struct ibv_context *ctx = context();

	channel(ctx, 0);
	channel(ctx, MLX5DV_DEVX_CREATE_EVENT_CHANNEL_FLAGS_OMIT_EV_DATA);
	for (unsigned int bit = 1; bit < 32; bit++) {
		NOTE("flag %u", bit);
		CHECK_NULL(mlx5dv_devx_create_event_channel(ctx, (enum mlx5dv_devx_create_event_channel_flags)(1u << bit)), EINVAL);
	}
}

CASE(empty_nonblocking_get_is_eagain, "devx-abi 6", ANY, "With O_NONBLOCK, get without an event gives -1 and EAGAIN.")
{
	struct mlx5dv_devx_event_channel *ch = channel(context(), 0);
	struct event ev;

	set_nonblock(ch->fd, true);
	CHECK_EQ(get_event(ch, &ev, sizeof(ev)), -1);
	CHECK_EQ(errno, EAGAIN);
}

CASE(record_is_cookie_and_eqe, "devx-abi 6", CONTROL,
     "A record is 72 bytes, as get says: the cookie, host-endian, and the EQE with type at 1, subtype at 3 and data at 32.")
{
	struct ibv_device *dev = soft_with_port();
	struct mlx5dv_devx_event_channel *ch = channel(open_devx(dev), 0);
	const uint64_t cookie = UINT64_C(0x1122334455667788);
	uint8_t buf[80];

	CHECK_EQ(subscribe(ch, NULL, PORT_CHANGE, cookie), 0);
	port(dev, 0);
	memset(buf, 0xa5, sizeof(buf));
	CHECK_EQ(get_event(ch, buf, sizeof(buf)), 72);
	CHECK_MEM(buf, &cookie, sizeof(cookie));
	CHECK_EQ(buf[8 + 1], PORT_CHANGE);
	CHECK_EQ(buf[8 + 3], PORT_DOWN);
	CHECK_EQ(GET(buf + 8 + 32, port_state_change_event, port_num), 1);
	for (size_t i = 72; i < sizeof(buf); i++)
		CHECK_EQ(buf[i], 0xa5);
	expect_no_event(ch);
}

CASE(short_buffer_is_einval_and_keeps_the_event, "devx-abi 6", CONTROL,
     "A buffer that is too small gives -1 and EINVAL, not ENOSPC, and the event stays.")
{
	struct ibv_device *dev = soft("");
	struct mlx5dv_devx_event_channel *ch = channel(open_devx(dev), 0);
	struct event ev;
	uint8_t buf[RECORD_SZ];

	CHECK_EQ(subscribe(ch, NULL, PORT_CHANGE, 1), 0);
	port(dev, 0);
	for (size_t len = 0; len < RECORD_SZ; len++) {
		NOTE("%zu bytes", len);
		CHECK_EQ(get_event(ch, buf, len), -1);
		CHECK_EQ(errno, EINVAL);
	}
	expect_event(ch, PORT_CHANGE, PORT_DOWN, 1, &ev);
}

CASE(omitted_data_is_the_cookie_once, "devx-abi 6", CONTROL,
     "A channel that omits data gives the 8 bytes of the cookie, once until it was read, however many events there were.")
{
	struct ibv_device *dev = soft("");
	struct mlx5dv_devx_event_channel *ch = channel(open_devx(dev), MLX5DV_DEVX_CREATE_EVENT_CHANNEL_FLAGS_OMIT_EV_DATA);
	uint64_t cookie, buf[16];

	CHECK_EQ(subscribe(ch, NULL, PORT_CHANGE, 9), 0);
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 4; i++)
			port(dev, i & 1);
		CHECK(ready(ch->fd, POLLIN, PATIENCE_MS) & POLLIN);
		CHECK_EQ(get_event(ch, &cookie, 7), -1);
		CHECK_EQ(errno, EINVAL);
		CHECK_EQ(get_event(ch, buf, sizeof(buf)), 8);
		CHECK_EQ(buf[0], 9);
		expect_no_event(ch);
	}
}

CASE(omitted_data_is_pending_by_subscription, "devx-abi 6", CONTROL,
     "In a channel that omits data each subscription has a record of its own.")
{
	struct ibv_device *dev = soft("");
	struct mlx5dv_devx_event_channel *ch = channel(open_devx(dev), MLX5DV_DEVX_CREATE_EVENT_CHANNEL_FLAGS_OMIT_EV_DATA);
	uint64_t cookie, sum = 0;

	for (uint64_t i = 1; i <= 3; i++)
		CHECK_EQ(subscribe(ch, NULL, PORT_CHANGE, i), 0);
	port(dev, 0);
	port(dev, 1);
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(get_event(ch, &cookie, sizeof(cookie)), 8);
		sum |= 1u << cookie;
	}
	CHECK_EQ(sum, 1u << 1 | 1u << 2 | 1u << 3); /* in any order */
	expect_no_event(ch);
}

CASE(events_come_in_order, "devx-abi 6", CONTROL, "A channel with data gives every event, in order.")
{
	struct ibv_device *dev = soft("");
	struct mlx5dv_devx_event_channel *ch = channel(open_devx(dev), 0);
	struct event ev;

	CHECK_EQ(subscribe(ch, NULL, PORT_CHANGE, 4), 0);
	for (int i = 0; i < 100; i++)
		port(dev, i & 1);
	for (int i = 0; i < 100; i++)
		expect_event(ch, PORT_CHANGE, i & 1 ? PORT_ACTIVE : PORT_DOWN, 4, &ev);
	expect_no_event(ch);
}

CASE(no_event_before_the_subscription, "devx-abi 6", CONTROL, "What happened before the subscription is not told.")
{
	struct ibv_device *dev = soft("");
	struct mlx5dv_devx_event_channel *ch = channel(open_devx(dev), 0);
	struct event ev;

	port(dev, 0);
	CHECK_EQ(subscribe(ch, NULL, PORT_CHANGE, 4), 0);
	expect_no_event(ch);
	port(dev, 1);
	expect_event(ch, PORT_CHANGE, PORT_ACTIVE, 4, &ev);
}

CASE(list_lengths, "devx-abi 6", ANY,
     "A list has 1 to 16 events, its size in bytes; none, more, or an odd number of bytes gives EINVAL.")
{
	struct mlx5dv_devx_event_channel *ch = channel(context(), 0);
	uint16_t list[MAX_EVENTS + 1];

	for (size_t i = 0; i < N_OF(list); i++)
		list[i] = PORT_CHANGE;
	for (size_t bytes = 0; bytes <= sizeof(list); bytes++) {
		bool good = bytes && !(bytes & 1) && bytes <= MAX_EVENTS * sizeof(list[0]);

		NOTE("%zu bytes", bytes);
		CHECK_EQ(mlx5dv_devx_subscribe_devx_event(ch, NULL, (uint16_t)bytes, list, 0), good ? 0 : EINVAL);
	}
	CHECK_EQ(mlx5dv_devx_subscribe_devx_event(ch, NULL, UINT16_MAX, list, 0), EINVAL);
	CHECK_EQ(mlx5dv_devx_subscribe_devx_event(ch, NULL, UINT16_MAX - 1, list, 0), EINVAL);
}

CASE(each_subscription_delivers, "devx-abi 6", CONTROL, "Who subscribes n times is told n times.")
{
	struct ibv_device *dev = soft("");
	struct mlx5dv_devx_event_channel *ch = channel(open_devx(dev), 0);
	uint16_t twice[] = { PORT_CHANGE, PORT_CHANGE };
	unsigned int n = 0;
	struct event ev;

	for (int i = 0; i < 17; i++)
		CHECK_EQ(subscribe(ch, NULL, PORT_CHANGE, 3), 0);
	CHECK_EQ(mlx5dv_devx_subscribe_devx_event(ch, NULL, sizeof(twice), twice, 3), 0);
	port(dev, 0);
	while (ready(ch->fd, POLLIN, 0)) {
		expect_event(ch, PORT_CHANGE, PORT_DOWN, 3, &ev);
		n++;
	}
	CHECK_EQ(n, 19);
}

CASE(all_or_nothing, "devx-abi 6", CONTROL,
     "A list with an event that is not valid gives EINVAL, and none of it is subscribed to.")
{
	struct ibv_device *dev = soft("");
	struct mlx5dv_devx_event_channel *ch = channel(open_devx(dev), 0);
	uint16_t list[] = { PORT_CHANGE, PORT_CHANGE, CMD };

	CHECK_EQ(mlx5dv_devx_subscribe_devx_event(ch, NULL, sizeof(list), list, 0), EINVAL);
	port(dev, 0);
	expect_no_event(ch);
}

/* What the capabilities allow, or, without them, what the kernel allows. */
struct valid {
	bool legacy;
	uint8_t caps[SZ(device_event_cap)];
};

static struct valid valid(struct ibv_context *ctx)
{
	enum { GENERAL = 0, DEVICE_EVENT = 0x14, CURRENT = 1 }; /* Linux, include/linux/mlx5/device.h */
	INBOX(in, query_hca_cap_in, QUERY_HCA_CAP);
	uint8_t *out = zeroed(SZ(query_hca_cap_out));
	uint8_t *cap = IN(out, query_hca_cap_out, capability);
	struct valid v = { 0 };

	set_op_mod(in, GENERAL << 1 | CURRENT);
	CHECK_EQ(general(ctx, in, sizeof(in), out, SZ(query_hca_cap_out)), 0);
	v.legacy = !GET(cap, cmd_hca_cap, event_cap);
	if (!v.legacy) {
		set_op_mod(in, DEVICE_EVENT << 1 | CURRENT);
		CHECK_EQ(general(ctx, in, sizeof(in), out, SZ(query_hca_cap_out)), 0);
		memcpy(v.caps, cap, sizeof(v.caps));
	}
	return v;
}

static bool bit_of(const uint8_t *caps, uint32_t first, uint32_t width, unsigned int event)
{
	return event < 256 && get_bits(caps, first + event / 64 * width, width) >> event % 64 & 1;
}

CASE(unaffiliated_events_are_those_of_the_capability, "devx-abi 6", ANY,
     "Without an object an event is valid if user_unaffiliated_events has its bit, or, without that capability, the port "
     "change.")
{
	struct ibv_context *ctx = context();
	struct mlx5dv_devx_event_channel *ch = channel(ctx, 0);
	struct valid v = valid(ctx);

	for (unsigned int ev = 0; ev <= UINT16_MAX; ev++) {
		bool good = v.legacy ? ev == PORT_CHANGE : bit_of(v.caps, PRM_F_device_event_cap__user_unaffiliated_events, ev);

		NOTE("event 0x%x", ev);
		CHECK_EQ(subscribe(ch, NULL, (uint16_t)ev, 0), good ? 0 : EINVAL);
	}
}

CASE(affiliated_events_are_those_of_the_capability, "devx-abi 6", ANY,
     "With an object an event is valid if user_affiliated_events has its bit, or, without that capability, if it is in the "
     "kernel's list; event 0 is always.")
{
	static const uint16_t listed[] = { 0x0, 0x1, 0x2, 0x3, 0x4, 0x5, 0x7, 0x10, 0x11, 0x12, 0x13, 0x14, 0x18, 0x1c, 0x1d };
	struct ibv_context *ctx = context();
	struct mlx5dv_devx_event_channel *ch = channel(ctx, 0);
	struct valid v = valid(ctx);
	uint32_t id;
	struct mlx5dv_devx_obj *cq = make(kit_on(ctx), RCP_CQ, &id);

	for (unsigned int ev = 0; ev <= UINT16_MAX; ev++) {
		bool good = ev == COMP;

		for (size_t i = 0; v.legacy && i < N_OF(listed); i++)
			good = good || listed[i] == ev;
		if (!v.legacy)
			good = good || bit_of(v.caps, PRM_F_device_event_cap__user_affiliated_events, ev);
		NOTE("event 0x%x", ev);
		CHECK_EQ(subscribe(ch, cq, (uint16_t)ev, 0), good ? 0 : EINVAL);
	}
}

CASE(driver_events_never_reach_programs, "devx-abi 6", ANY,
     "Command completions and page requests cannot be subscribed to.")
{
	struct ibv_context *ctx = context();
	struct mlx5dv_devx_event_channel *ch = channel(ctx, 0);
	uint32_t id;
	struct mlx5dv_devx_obj *cq = make(kit_on(ctx), RCP_CQ, &id);

	CHECK_EQ(subscribe(ch, NULL, CMD, 0), EINVAL);
	CHECK_EQ(subscribe(ch, NULL, PAGE_REQUEST, 0), EINVAL);
	CHECK_EQ(subscribe(ch, cq, CMD, 0), EINVAL);
	CHECK_EQ(subscribe(ch, cq, PAGE_REQUEST, 0), EINVAL);
}

CASE(event_of_an_object_tells_its_subscribers, "devx-abi 6", CONTROL,
     "An event of an object reaches who subscribed to that object, and nobody who subscribed to another.")
{
	struct ibv_device *dev = soft("");
	struct ibv_context *ctx = open_devx(dev);
	struct mlx5dv_devx_event_channel *ch = channel(ctx, 0);
	struct kit *k = kit_on(ctx);
	uint32_t one_id, two_id;
	struct mlx5dv_devx_obj *one = make(k, RCP_CQ, &one_id), *two = make(k, RCP_CQ, &two_id);
	struct event ev;

	CHECK_EQ(subscribe(ch, one, CQ_ERROR, 1), 0);
	CHECK_EQ(subscribe(ch, two, CQ_ERROR, 2), 0);
	CHECK_EQ(raise_event(dev, two, PRM_OP_CREATE_CQ, two_id, CQ_ERROR, OVERRUN), 0);
	expect_event(ch, CQ_ERROR, 0, 2, &ev);
	CHECK_EQ(GET(IN(ev.eqe, eqe, event_data), cq_error, cqn), two_id);
	CHECK_EQ(GET(IN(ev.eqe, eqe, event_data), cq_error, syndrome), OVERRUN);
	expect_no_event(ch);
	CHECK_EQ(raise_event(dev, one, PRM_OP_CREATE_CQ, one_id, CQ_ERROR, OVERRUN), 0);
	expect_event(ch, CQ_ERROR, 0, 1, &ev);
	CHECK_EQ(GET(IN(ev.eqe, eqe, event_data), cq_error, cqn), one_id);
}

CASE(completion_events_of_a_cq, "devx-abi 6", CONTROL, "Event 0 tells the completions of a CQ that DEVX created.")
{
	struct ibv_device *dev = soft("");
	struct ibv_context *ctx = open_devx(dev);
	struct mlx5dv_devx_event_channel *ch = channel(ctx, 0);
	uint32_t id;
	struct mlx5dv_devx_obj *cq = make(kit_on(ctx), RCP_CQ, &id);
	struct event ev;

	CHECK_EQ(subscribe(ch, cq, COMP, 5), 0);
	CHECK_EQ(raise_event(dev, cq, PRM_OP_CREATE_CQ, id, COMP, 0), 0);
	expect_event(ch, COMP, 0, 5, &ev);
	CHECK_EQ(GET(IN(ev.eqe, eqe, event_data), comp_event, cq_number), id);
}

CASE(event_of_a_qp, "devx-abi 6", CONTROL, "An event of a QP carries its number and the queue type of a QP, 0.")
{
	struct ibv_device *dev = soft("");
	struct ibv_context *ctx = open_devx(dev);
	struct mlx5dv_devx_event_channel *ch = channel(ctx, 0);
	struct kit *k = kit_on(ctx);
	uint8_t *out = zeroed(KIT_BOX);
	uint32_t id;
	struct mlx5dv_devx_obj *qp = make(k, RCP_QP, &id);
	struct event ev;

	CHECK_EQ(kit_modify(k, RCP_QP, 0, qp, id, out), 0); /* to INIT: one in RST has no events */
	CHECK_EQ(subscribe(ch, qp, QP_FATAL, 6), 0);
	CHECK_EQ(raise_event(dev, qp, PRM_OP_CREATE_QP, id, QP_FATAL, 0), 0);
	expect_event(ch, QP_FATAL, 0, 6, &ev);
	CHECK_EQ(GET(IN(ev.eqe, eqe, event_data), qp_events, qpn_rqn_sqn), id);
	CHECK_EQ(GET(IN(ev.eqe, eqe, event_data), qp_events, type), 0);
}

CASE(subscription_ends_with_its_object, "devx-abi 6", ANY, "An object that is subscribed to may be destroyed.")
{
	struct ibv_context *ctx = context();
	struct mlx5dv_devx_event_channel *ch = channel(ctx, 0);
	uint32_t id;
	struct mlx5dv_devx_obj *cq = make(kit_on(ctx), RCP_CQ, &id);

	CHECK_EQ(subscribe(ch, cq, COMP, 1), 0);
	CHECK_EQ(destroy(cq), 0);
	expect_no_event(ch);
}

CASE(queued_event_outlives_its_object, "devx-abi 6", CONTROL, "An event that is queued stays when its object is destroyed.")
{
	struct ibv_device *dev = soft("");
	struct ibv_context *ctx = open_devx(dev);
	struct mlx5dv_devx_event_channel *ch = channel(ctx, 0);
	uint32_t id;
	struct mlx5dv_devx_obj *cq = make(kit_on(ctx), RCP_CQ, &id);
	struct event ev;

	CHECK_EQ(subscribe(ch, cq, CQ_ERROR, 8), 0);
	CHECK_EQ(raise_event(dev, cq, PRM_OP_CREATE_CQ, id, CQ_ERROR, OVERRUN), 0);
	CHECK_EQ(destroy(cq), 0);
	expect_event(ch, CQ_ERROR, 0, 8, &ev);
}

CASE(pending_cookie_outlives_its_object, "devx-abi 6", CONTROL,
     "In a channel that omits data, a cookie that is pending stays when its object is destroyed, and is read once.")
{
	struct ibv_device *dev = soft("");
	struct ibv_context *ctx = open_devx(dev);
	struct mlx5dv_devx_event_channel *ch = channel(ctx, MLX5DV_DEVX_CREATE_EVENT_CHANNEL_FLAGS_OMIT_EV_DATA);
	struct kit *k = kit_on(ctx);
	uint32_t id;
	uint64_t cookie;

	for (uint64_t i = 0; i < 2; i++) {
		struct mlx5dv_devx_obj *cq = make(k, RCP_CQ, &id);

		CHECK_EQ(subscribe(ch, cq, CQ_ERROR, i), 0);
		CHECK_EQ(subscribe(ch, cq, COMP, 99), 0);
		CHECK_EQ(raise_event(dev, cq, PRM_OP_CREATE_CQ, id, CQ_ERROR, OVERRUN), 0);
		CHECK_EQ(destroy(cq), 0);
	}
	CHECK(ready(ch->fd, POLLIN, PATIENCE_MS) & POLLIN);
	CHECK_EQ(get_event(ch, &cookie, sizeof(cookie)), 8);
	CHECK_EQ(cookie, 0);
	destroy_channel(ch); /* with the other one */
}

CASE(object_of_another_context_is_enoent, "devx-abi 6", OURS,
     "An object of another context cannot be subscribed to: ENOENT.")
{
	struct ibv_context *ctx = context();
	uint32_t id;
	struct mlx5dv_devx_obj *cq = make(kit_on(ctx), RCP_CQ, &id);

	CHECK_EQ(subscribe(channel(context(), 0), cq, COMP, 0), ENOENT);
}

CASE(each_context_is_told, "devx-abi 6", CONTROL,
     "An event without an object reaches the channels of every context that subscribed.")
{
	struct ibv_device *dev = soft("");
	struct mlx5dv_devx_event_channel *a = channel(open_devx(dev), 0), *b = channel(open_devx(dev), 0);
	struct event ev;

	CHECK_EQ(subscribe(a, NULL, PORT_CHANGE, 1), 0);
	CHECK_EQ(subscribe(b, NULL, PORT_CHANGE, 2), 0);
	port(dev, 0);
	expect_event(a, PORT_CHANGE, PORT_DOWN, 1, &ev);
	expect_event(b, PORT_CHANGE, PORT_DOWN, 2, &ev);
}

CASE(eventfd_is_signalled_instead, "devx-abi 6", CONTROL,
     "A subscription with an eventfd signals it at each event, and queues nothing.")
{
	struct ibv_device *dev = soft("");
	struct mlx5dv_devx_event_channel *ch = channel(open_devx(dev), 0);
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	eventfd_t n = 0;

	CHECK_EQ(mlx5dv_devx_subscribe_devx_event_fd(ch, fd, NULL, PORT_CHANGE), 0);
	port(dev, 0);
	port(dev, 1);
	CHECK_EQ(eventfd_read(fd, &n), 0);
	CHECK_EQ(n, 2);
	expect_no_event(ch);
	destroy_channel(ch); /* the subscription goes with it */
	port(dev, 0);
	CHECK_EQ(eventfd_read(fd, &n), -1);
	close(fd);
}

CASE(eventfd_checks, "devx-abi 6", ANY,
     "A descriptor that is not open gives EBADF, one that is no eventfd EINVAL; the event must be valid: EINVAL.")
{
	struct mlx5dv_devx_event_channel *ch = channel(context(), 0);
	int fd = eventfd(0, EFD_CLOEXEC), other = open("/dev/null", O_RDONLY | O_CLOEXEC), err[4];

	err[0] = mlx5dv_devx_subscribe_devx_event_fd(ch, fd, NULL, CMD);
	err[1] = mlx5dv_devx_subscribe_devx_event_fd(ch, other, NULL, PORT_CHANGE);
	err[2] = mlx5dv_devx_subscribe_devx_event_fd(ch, fd, NULL, PORT_CHANGE);
	close(fd);
	close(other);
	err[3] = mlx5dv_devx_subscribe_devx_event_fd(ch, fd, NULL, PORT_CHANGE);
	CHECK_EQ(err[0], EINVAL);
	CHECK_EQ(err[1], EINVAL);
	CHECK_EQ(err[2], 0);
	CHECK_EQ(err[3], EBADF);
}

struct reader {
	struct mlx5dv_devx_event_channel *ch;
	struct event ev;
	ssize_t got;
	int err;
};

static void read_main(void *arg)
{
	struct reader *r = arg;

	r->got = get_event(r->ch, &r->ev, sizeof(r->ev));
	r->err = errno;
}

CASE(blocking_get_sleeps_until_an_event_comes, "devx-abi 6", CONTROL, "Without O_NONBLOCK, get sleeps until an event comes.")
{
	struct ibv_device *dev = soft("");
	struct reader *r = zeroed(sizeof(*r));
	struct runner *t;

	r->ch = channel(open_devx(dev), 0);
	CHECK_EQ(subscribe(r->ch, NULL, PORT_CHANGE, 1), 0);
	t = run(read_main, r);
	wait_asleep(t);
	port(dev, 0);
	join(t);
	CHECK_EQ(r->got, RECORD_SZ);
}

CASE(removal_wakes_a_sleeper_with_eio, "devx-abi 6", CONTROL, "A removal wakes a thread that sleeps in get with EIO.")
{
	struct ibv_device *dev = soft("");
	struct reader *r = zeroed(sizeof(*r));
	struct runner *t;

	r->ch = channel(open_devx(dev), 0);
	t = run(read_main, r);
	wait_asleep(t);
	CHECK_EQ(take_away(dev), 0);
	join(t);
	CHECK_EQ(r->got, -1);
	CHECK_EQ(r->err, EIO);
}

CASE(dead_channel, "devx-abi 6", CONTROL,
     "After a removal a channel is POLLIN and POLLRDHUP; get gives EIO, or EAGAIN with O_NONBLOCK; subscribing gives EIO.")
{
	struct ibv_device *dev = soft("");
	struct mlx5dv_devx_event_channel *ch = channel(open_devx(dev), 0);
	struct event ev;

	CHECK_EQ(take_away(dev), 0);
	CHECK_EQ(ready(ch->fd, POLLIN | POLLRDHUP, 0), POLLIN | POLLRDHUP);
	CHECK_EQ(get_event(ch, &ev, sizeof(ev)), -1);
	CHECK_EQ(errno, EIO);
	set_nonblock(ch->fd, true);
	CHECK_EQ(get_event(ch, &ev, sizeof(ev)), -1);
	CHECK_EQ(errno, EAGAIN);
	CHECK_EQ(subscribe(ch, NULL, PORT_CHANGE, 0), EIO);
}

CASE(destroy_never_waits_for_the_device, "devx-abi 6", CONTROL, "Destroying a channel waits for no command.")
{
	struct rig r = rig_soft("");
	struct mlx5dv_devx_event_channel *ch = channel(r.ctx, 0);

	CHECK_EQ(subscribe(ch, NULL, PORT_CHANGE, 1), 0);
	hold(r.dev);
	CHECK_EQ(submit(&r, OUTLEN, 1), 0);
	destroy_channel(ch);
	release(r.dev, UINT32_MAX);
	expect_wr(r.comp, 1);
}

CASE(null_arguments, "deviations 3", OURS, "Destroying a NULL channel does nothing; any other NULL gives EINVAL.")
{
	struct mlx5dv_devx_event_channel *ch = channel(context(), 0);
	uint16_t event = PORT_CHANGE;
	struct event ev;

	mlx5dv_devx_destroy_event_channel(NULL);
	CHECK_NULL(mlx5dv_devx_create_event_channel(NULL, 0), EINVAL);
	CHECK_EQ(mlx5dv_devx_subscribe_devx_event(NULL, NULL, sizeof(event), &event, 0), EINVAL);
	CHECK_EQ(mlx5dv_devx_subscribe_devx_event(ch, NULL, sizeof(event), NULL, 0), EINVAL);
	CHECK_EQ(get_event(NULL, &ev, sizeof(ev)), -1);
	CHECK_EQ(errno, EINVAL);
	CHECK_EQ(get_event(ch, NULL, sizeof(ev)), -1);
	CHECK_EQ(errno, EINVAL);
}
