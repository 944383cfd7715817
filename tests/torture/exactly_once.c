/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Four threads submit and four get, with random outlen, jitter and reorder: each wr_id ends as exactly one completion or as
 * one refusal. Once undisturbed, once with the device removed in the middle. The number of commands is the argument, or
 * TORTURE_COMMANDS.
 */
#include <errno.h>
#include <fcntl.h>
#include <opendevx/opendevx.h>
#include <opendevx/soft.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define THREADS 4
#define COMPS 4

#define CHECK(x)                                                                                                     \
	do {                                                                                                         \
		if (!(x)) {                                                                                          \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #x);                                      \
			abort();                                                                                     \
		}                                                                                                    \
	} while (0)

static struct ibv_device *dev;
static struct mlx5dv_devx_obj *obj;
static struct mlx5dv_devx_cmd_comp *comps[COMPS];
static uint32_t counter;         /* big-endian, as in the boxes */
static uint64_t total;
static atomic_uchar *seen;       /* by wr_id */
static atomic_ullong submitted, refused, completed;
static atomic_bool all_submitted;
static bool removing;

static uint64_t next_random(uint64_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return *s;
}

static void *submitter(void *arg)
{
	uint64_t rng = 0x9e3779b9 + (uintptr_t)arg;
	uint8_t in[32] = { 0x09, 0x3b };

	memcpy(in + 28, &counter, 4);
	for (uint64_t id = (uintptr_t)arg; id < total; id += THREADS) {
		size_t outlen = next_random(&rng) % 8 ? next_random(&rng) % 129 : next_random(&rng) % 4096;
		int err;

		while ((err = mlx5dv_devx_obj_query_async(obj, in, sizeof(in), outlen, id, comps[next_random(&rng) % COMPS])) ==
		       EAGAIN)
			sched_yield();
		if (err) {
			CHECK(removing && err == EIO);
			CHECK(atomic_fetch_add(&seen[id], 1) == 0);
			atomic_fetch_add(&refused, 1);
		}
		if (atomic_fetch_add(&submitted, 1) + 1 == total / 2 && removing)
			CHECK(odx_soft_remove(dev) == 0);
	}
	return NULL;
}

static void drain(struct mlx5dv_devx_cmd_comp *comp)
{
	struct {
		uint64_t wr_id;
		uint8_t out[4096];
	} rec;
	int err;

	while (!(err = mlx5dv_devx_get_async_cmd_comp(comp, (struct mlx5dv_devx_async_cmd_hdr *)&rec, sizeof(rec)))) {
		CHECK(rec.wr_id < total);
		CHECK(atomic_fetch_add(&seen[rec.wr_id], 1) == 0);
		atomic_fetch_add(&completed, 1);
	}
	CHECK(err == EAGAIN);
}

static void *getter(void *arg)
{
	while (!atomic_load(&all_submitted) || atomic_load(&completed) + atomic_load(&refused) < total) {
		struct pollfd p[COMPS];

		for (int i = 0; i < COMPS; i++)
			p[i] = (struct pollfd){ .fd = comps[i]->fd, .events = POLLIN };
		poll(p, COMPS, 10);
		for (int i = 0; i < COMPS; i++)
			if (p[i].revents)
				drain(comps[i]);
	}
	return NULL;
}

static void round_of(bool with_removal)
{
	struct mlx5dv_context_attr attr = { .flags = MLX5DV_CONTEXT_FLAGS_DEVX };
	pthread_t s[THREADS], g[THREADS];
	struct timespec a, b;
	struct ibv_context *ctx;
	uint8_t in[16] = { 0x09, 0x39 }, out[16];

	removing = with_removal;
	atomic_store(&submitted, 0);
	atomic_store(&refused, 0);
	atomic_store(&completed, 0);
	atomic_store(&all_submitted, false);
	seen = calloc(total, sizeof(*seen));
	dev = odx_soft_create("latency=2us,jitter=5us,reorder,seed=7");
	CHECK(seen && dev);
	ctx = mlx5dv_open_device(dev, &attr);
	CHECK(ctx);
	obj = mlx5dv_devx_obj_create(ctx, in, sizeof(in), out, sizeof(out));
	CHECK(obj);
	memcpy(&counter, out + 8, 4);
	for (int i = 0; i < COMPS; i++) {
		comps[i] = mlx5dv_devx_create_cmd_comp(ctx);
		CHECK(comps[i] && !fcntl(comps[i]->fd, F_SETFL, O_NONBLOCK));
	}
	clock_gettime(CLOCK_MONOTONIC, &a);
	for (uintptr_t i = 0; i < THREADS; i++) {
		CHECK(!pthread_create(&g[i], NULL, getter, NULL));
		CHECK(!pthread_create(&s[i], NULL, submitter, (void *)i));
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(s[i], NULL);
	atomic_store(&all_submitted, true);
	for (int i = 0; i < THREADS; i++)
		pthread_join(g[i], NULL);
	clock_gettime(CLOCK_MONOTONIC, &b);
	for (uint64_t i = 0; i < total; i++)
		CHECK(seen[i] == 1);
	CHECK(atomic_load(&submitted) == total);
	CHECK(atomic_load(&completed) + atomic_load(&refused) == total);
	CHECK(with_removal ? atomic_load(&refused) > 0 : atomic_load(&refused) == 0);
	for (int i = 0; i < COMPS; i++) {
		struct pollfd p = { .fd = comps[i]->fd, .events = POLLIN | POLLRDHUP };

		CHECK(poll(&p, 1, 0) == with_removal);
		CHECK(p.revents == (with_removal ? POLLIN | POLLRDHUP : 0));
		mlx5dv_devx_destroy_cmd_comp(comps[i]);
	}
	CHECK(mlx5dv_devx_obj_destroy(obj) == 0);
	CHECK(ibv_close_device(ctx) == 0);
	CHECK(odx_soft_destroy(dev) == 0);
	free(seen);
	printf("%s: %llu submitted, %llu completed, %llu refused in %.2f s\n", with_removal ? "removal" : "undisturbed",
	       atomic_load(&submitted), atomic_load(&completed), atomic_load(&refused),
	       (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9);
}

int main(int argc, char **argv)
{
	const char *n = argc > 1 ? argv[1] : getenv("TORTURE_COMMANDS");

	total = n ? strtoull(n, NULL, 0) : 1000000;
	round_of(false);
	round_of(true);
	return 0;
}
