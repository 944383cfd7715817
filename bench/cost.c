/* SPDX-License-Identifier: BSD-2-Clause */
/* What a command costs when there are many objects, and when many commands are in flight. */
#include "bench.h"

#include <errno.h>
#include <opendevx/soft.h>
#include <stdlib.h>
#include <time.h>

#define COMPS 4u

struct cost {
	double wall, device; /* ns per command; device: all threads but the one that submits */
};

static uint64_t cpu_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static uint64_t device_ns(void)
{
	return cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_ns(CLOCK_THREAD_CPUTIME_ID);
}

static unsigned int dice(unsigned int n)
{
	static uint64_t state = 1;

	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned int)((state >> 33) % n);
}

/* n commands on random objects. held: they are all in flight before the first completes; else `depth` at a time. */
static struct cost measure(struct ours *o, struct mlx5dv_devx_cmd_comp **c, unsigned int n, unsigned int depth, bool held)
{
	struct ours_record r;
	uint64_t t = bench_ns(), d = device_ns();

	for (unsigned int done = 0; done < n; done += depth) {
		if (held && odx_soft_hold(o->dev))
			bench_die("odx_soft_hold", EIO);
		for (unsigned int i = 0; i < depth; i++)
			ours_submit(o, o->n == 1 ? 0 : dice(o->n), BENCH_OUT, i, c[i % COMPS]);
		if (held && odx_soft_release(o->dev, UINT32_MAX))
			bench_die("odx_soft_release", EIO);
		for (unsigned int i = 0; i < depth; i++)
			ours_take(c[i % COMPS], &r);
	}
	return (struct cost){ (double)(bench_ns() - t) / n, (double)(device_ns() - d) / n };
}

static void open_comps(struct ours *o, struct mlx5dv_devx_cmd_comp **c)
{
	for (unsigned int i = 0; i < COMPS; i++)
		c[i] = ours_comp(o, false);
}

static void close_comps(struct mlx5dv_devx_cmd_comp **c)
{
	for (unsigned int i = 0; i < COMPS; i++)
		mlx5dv_devx_destroy_cmd_comp(c[i]);
}

static void many_objects(void)
{
	double wall[BENCH_ROUNDS_MAX], device[BENCH_ROUNDS_MAX], trip_wall[BENCH_ROUNDS_MAX], trip_device[BENCH_ROUNDS_MAX];
	struct mlx5dv_devx_cmd_comp *c_one[COMPS], *c_many[COMPS];
	struct ours one, many;

	bench_pin(1);
	ours_open(&one, "", 1);
	ours_open(&many, "", bench_scale.objects);
	bench_pin(0);
	open_comps(&one, c_one);
	open_comps(&many, c_many);
	for (unsigned int i = 0; i < bench_scale.rounds; i++) {
		unsigned int n = bench_scale.per_round * 8;
		struct cost a = measure(&one, c_one, n, n, false), b = measure(&many, c_many, n, n, false);

		wall[i] = b.wall / a.wall;
		device[i] = b.device / a.device;
		n = bench_scale.per_round;
		a = measure(&one, c_one, n, 1, false);
		b = measure(&many, c_many, n, 1, false);
		trip_wall[i] = b.wall / a.wall;
		trip_device[i] = b.device / a.device;
	}
	bench_ratio("cost of a command, 1,000,000 objects : 1, one at a time", trip_wall, bench_scale.rounds, BENCH_AT_MOST, 1.1);
	bench_ratio("  the device's share of it", trip_device, bench_scale.rounds, BENCH_AT_MOST, 1.1);
	bench_ratio("cost of a command, 1,000,000 objects : 1, in a burst", wall, bench_scale.rounds, BENCH_AT_MOST, 1.1);
	bench_ratio("  the device's share of it", device, bench_scale.rounds, BENCH_AT_MOST, 1.1);
	close_comps(c_one);
	close_comps(c_many);
	ours_close(&one);
	ours_close(&many);
	bench_unpin();
}

static void many_in_flight(void)
{
	double one_wall[BENCH_ROUNDS_MAX], one_device[BENCH_ROUNDS_MAX], wall[BENCH_ROUNDS_MAX], device[BENCH_ROUNDS_MAX];
	struct mlx5dv_devx_cmd_comp *c[COMPS];
	unsigned int rounds = bench_scale.rounds / 3 ? bench_scale.rounds / 3 : 1, n = bench_scale.in_flight;
	struct ours o;

	ours_open(&o, "", 1);
	open_comps(&o, c);
	for (unsigned int i = 0; i < rounds; i++) {
		struct cost a = measure(&o, c, bench_scale.per_round, 1, false), b = measure(&o, c, n, n, true);
		struct cost k = measure(&o, c, n, n / 100, true);

		one_wall[i] = b.wall / a.wall;
		one_device[i] = b.device / a.device;
		wall[i] = b.wall / k.wall;
		device[i] = b.device / k.device;
	}
	bench_ratio("cost of a command, 100,000 in flight : 1, whole", one_wall, rounds, BENCH_AT_MOST, 1.1);
	bench_ratio("  the device's share of it", one_device, rounds, BENCH_AT_MOST, 1.1);
	bench_ratio("cost of a command, 100,000 in flight : 1,000, whole", wall, rounds, BENCH_NO_GOAL, 0);
	bench_ratio("  the device's share of it", device, rounds, BENCH_NO_GOAL, 0);
	close_comps(c);
	ours_close(&o);
}

void part_cost(void)
{
	many_objects();
	many_in_flight();
}
