/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Event channels from many threads: a port that flaps, readers, subscribers, and destroys of channels and of objects that
 * are subscribed to. Nobody hangs, nothing is freed under anyone, and each event is told exactly once to each subscription.
 */
#include <errno.h>
#include <opendevx/opendevx.h>
#include <opendevx/soft.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(x)                                                                                                     \
	do {                                                                                                         \
		if (!(x)) {                                                                                          \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #x);                                      \
			abort();                                                                                     \
		}                                                                                                    \
	} while (0)

#define FLAPS 2000u
#define READERS 3
#define ROUNDS 200

static struct ibv_device *dev;
static struct ibv_context *ctx;
static struct mlx5dv_devx_event_channel *steady;
static atomic_uint told;
static atomic_bool over;

typedef union {
	struct mlx5dv_devx_async_event_hdr hdr;
	uint8_t bytes[72];
} event_t;

static uint16_t port_change = 9, completion = 0;

static void *flap(void *arg)
{
	for (unsigned int i = 0; i < FLAPS; i++)
		CHECK(odx_soft_port(dev, 1, i & 1) == 0);
	atomic_store(&over, true);
	return NULL;
}

/* Sleeps in get until the channel is destroyed. */
static void *read_steady(void *arg)
{
	event_t event;

	for (;;) {
		ssize_t n = mlx5dv_devx_get_event(steady, &event.hdr, sizeof(event));

		if (n < 0) {
			CHECK(errno == EBADF);
			return NULL;
		}
		CHECK(n == 72 && event.hdr.cookie == 1 && event.bytes[8 + 1] == port_change);
		atomic_fetch_add(&told, 1);
	}
}

static void *read_until_destroyed(void *arg)
{
	event_t event;

	while (mlx5dv_devx_get_event(arg, &event.hdr, sizeof(event)) > 0)
		;
	CHECK(errno == EBADF);
	return NULL;
}

static struct mlx5dv_devx_obj *new_counter(void)
{
	uint8_t in[16] = { 0x09, 0x39 }, out[16];
	struct mlx5dv_devx_obj *obj;

	in[15] = 1;
	CHECK((obj = mlx5dv_devx_obj_create(ctx, in, sizeof(in), out, sizeof(out))));
	return obj;
}

/*
 * A channel comes, is subscribed to, read by a thread, and goes while events arrive and the reader sleeps. Nobody else makes
 * channels meanwhile: the reader may come late, and must find this one dead.
 */
static void *come_and_go(void *arg)
{
	for (int i = 0; i < ROUNDS || !atomic_load(&over); i++) {
		struct mlx5dv_devx_event_channel *c = mlx5dv_devx_create_event_channel(ctx, i & 1);
		struct mlx5dv_devx_obj *obj = new_counter();
		pthread_t reader;

		CHECK(c);
		CHECK(mlx5dv_devx_subscribe_devx_event(c, obj, sizeof(completion), &completion, 2) == 0);
		CHECK(mlx5dv_devx_subscribe_devx_event(c, NULL, sizeof(port_change), &port_change, 2) == 0);
		CHECK(pthread_create(&reader, NULL, read_until_destroyed, c) == 0);
		CHECK(mlx5dv_devx_subscribe_devx_event(c, NULL, sizeof(port_change), &port_change, 3) == 0);
		mlx5dv_devx_destroy_event_channel(c);
		CHECK(pthread_join(reader, NULL) == 0);
		CHECK(mlx5dv_devx_obj_destroy(obj) == 0); /* its subscription went before it */
	}
	return NULL;
}

/* Objects go while they are subscribed to, and while events on them are raised. */
static void *objects(void *arg)
{
	for (int i = 0; i < ROUNDS || !atomic_load(&over); i++) {
		struct mlx5dv_devx_obj *obj = new_counter();

		CHECK(mlx5dv_devx_subscribe_devx_event(steady, obj, sizeof(completion), &completion, 4) == 0);
		CHECK(odx_soft_event(dev, obj, completion, 0) == EINVAL); /* a flow counter completes nothing */
		CHECK(mlx5dv_devx_obj_destroy(obj) == 0);
	}
	return NULL;
}

int main(void)
{
	pthread_t readers[READERS], workers[3];
	struct ibv_async_event async;
	unsigned int n = 0;

	CHECK((dev = odx_soft_create("")));
	CHECK((ctx = mlx5dv_open_device(dev, NULL)));
	CHECK((steady = mlx5dv_devx_create_event_channel(ctx, 0)));
	CHECK(mlx5dv_devx_subscribe_devx_event(steady, NULL, sizeof(port_change), &port_change, 1) == 0);
	for (int i = 0; i < READERS; i++)
		CHECK(pthread_create(&readers[i], NULL, read_steady, NULL) == 0);
	CHECK(pthread_create(&workers[0], NULL, flap, NULL) == 0);
	CHECK(pthread_create(&workers[1], NULL, come_and_go, NULL) == 0);
	CHECK(pthread_create(&workers[2], NULL, objects, NULL) == 0);
	for (int i = 0; i < 3; i++)
		CHECK(pthread_join(workers[i], NULL) == 0);
	while (n < FLAPS) { /* the port was up: every flap is a change */
		CHECK(ibv_get_async_event(ctx, &async) == 0);
		CHECK(async.event_type == (n & 1 ? IBV_EVENT_PORT_ACTIVE : IBV_EVENT_PORT_ERR));
		ibv_ack_async_event(&async);
		n++;
	}
	while (atomic_load(&told) < FLAPS)
		sched_yield();
	mlx5dv_devx_destroy_event_channel(steady);
	for (int i = 0; i < READERS; i++)
		CHECK(pthread_join(readers[i], NULL) == 0);
	CHECK(atomic_load(&told) == FLAPS);
	CHECK(ibv_close_device(ctx) == 0);
	CHECK(odx_soft_destroy(dev) == 0);
	return 0;
}
