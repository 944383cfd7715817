/* SPDX-License-Identifier: BSD-2-Clause */
/* One command at a time, and 32 in flight. */
#include "bench.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#define IN_FLIGHT 32u

static uint64_t *samples(void)
{
	uint64_t *s = calloc(bench_scale.per_round, sizeof(*s));

	if (!s)
		bench_die("memory", ENOMEM);
	return s;
}

static uint64_t ours_trips(struct ours *o, struct mlx5dv_devx_cmd_comp *c, uint64_t *s)
{
	struct ours_record r;

	for (unsigned int i = 0; i < bench_scale.per_round; i++) {
		uint64_t t = bench_ns();

		ours_submit(o, 0, BENCH_OUT, i, c);
		ours_take(c, &r);
		s[i] = bench_ns() - t;
	}
	return bench_p50(s, bench_scale.per_round);
}

static uint64_t floor_trips(struct floor *f, uint64_t *s)
{
	static const uint8_t in[BENCH_IN];
	struct ours_record r;

	for (unsigned int i = 0; i < bench_scale.per_round; i++) {
		uint64_t t = bench_ns();

		floor_submit(f, in, i);
		bench_poll(floor_fd(f));
		if (!floor_get(f, &r))
			bench_die("the floor lost a record", 0);
		s[i] = bench_ns() - t;
	}
	return bench_p50(s, bench_scale.per_round);
}

static uint64_t inline_trips(uint64_t *s)
{
	for (unsigned int i = 0; i < bench_scale.per_round; i++)
		s[i] = floor_inline_trip();
	return bench_p50(s, bench_scale.per_round);
}

struct pair {
	struct ours o;
	struct mlx5dv_devx_cmd_comp *c;
	struct floor *f;
};

static void pair_open(struct pair *p, bool two_cores, bool nonblocking)
{
	bench_pin(two_cores ? 1 : 0);
	p->f = floor_new();
	ours_open(&p->o, "", 1);
	bench_pin(0);
	p->c = ours_comp(&p->o, nonblocking);
}

static void pair_close(struct pair *p)
{
	mlx5dv_devx_destroy_cmd_comp(p->c);
	ours_close(&p->o);
	floor_free(p->f);
	bench_unpin();
}

static void round_trips(bool two_cores, uint64_t *s)
{
	double ratios[BENCH_ROUNDS_MAX], again[BENCH_ROUNDS_MAX];
	struct pair p;

	pair_open(&p, two_cores, false);
	for (unsigned int i = 0; i < bench_scale.rounds; i++) {
		double floor = (double)floor_trips(p.f, s), ours = (double)ours_trips(&p.o, p.c, s);

		ratios[i] = ours / floor;
		again[i] = (double)floor_trips(p.f, s) / floor;
	}
	bench_ratio(two_cores ? "round trip, p50 : hand-off on two cores, p50" : "round trip, p50 : hand-off on one core, p50",
		    ratios, bench_scale.rounds, BENCH_AT_MOST, 1.25);
	bench_ratio("  noise: the hand-off against itself", again, bench_scale.rounds, BENCH_NO_GOAL, 0);
	pair_close(&p);
}

static void inline_round_trips(uint64_t *s)
{
	double ratios[BENCH_ROUNDS_MAX], again[BENCH_ROUNDS_MAX];
	struct mlx5dv_devx_cmd_comp *c;
	struct ours o;

	ours_open(&o, "inline", 1);
	c = ours_comp(&o, false);
	for (unsigned int i = 0; i < bench_scale.rounds; i++) {
		double floor = (double)inline_trips(s);

		ratios[i] = (double)ours_trips(&o, c, s) / floor;
		again[i] = (double)inline_trips(s) / floor;
	}
	bench_ratio("inline round trip, p50 : write, poll, read, p50", ratios, bench_scale.rounds, BENCH_AT_MOST, 2);
	bench_ratio("  noise: write, poll, read against itself", again, bench_scale.rounds, BENCH_NO_GOAL, 0);
	mlx5dv_devx_destroy_cmd_comp(c);
	ours_close(&o);
}

void part_latency(void)
{
	uint64_t *s = samples();

	round_trips(true, s);
	round_trips(false, s);
	inline_round_trips(s);
	free(s);
}

/* Both sides: wait until readable, take all there is, and submit one for each that was taken. */
static uint64_t ours_stream(struct ours *o, struct mlx5dv_devx_cmd_comp *c, unsigned int total)
{
	unsigned int sent = 0, got = 0;
	struct ours_record r;
	uint64_t t = bench_ns();

	while (sent < IN_FLIGHT && sent < total)
		ours_submit(o, 0, BENCH_OUT, sent++, c);
	while (got < total) {
		bench_poll(c->fd);
		while (ours_try(c, &r)) {
			got++;
			if (sent < total)
				ours_submit(o, 0, BENCH_OUT, sent++, c);
		}
	}
	return bench_ns() - t;
}

static uint64_t floor_stream(struct floor *f, unsigned int total)
{
	static const uint8_t in[BENCH_IN];
	unsigned int sent = 0, got = 0;
	struct ours_record r;
	uint64_t t = bench_ns();

	while (sent < IN_FLIGHT && sent < total)
		floor_submit(f, in, sent++);
	while (got < total) {
		bench_poll(floor_fd(f));
		while (floor_get(f, &r)) {
			got++;
			if (sent < total)
				floor_submit(f, in, sent++);
		}
	}
	return bench_ns() - t;
}

static void streams(bool two_cores)
{
	double ratios[BENCH_ROUNDS_MAX], again[BENCH_ROUNDS_MAX];
	unsigned int total = bench_scale.per_round * 10;
	struct pair p;

	pair_open(&p, two_cores, true);
	for (unsigned int i = 0; i < bench_scale.rounds; i++) {
		double floor = (double)floor_stream(p.f, total);

		ratios[i] = floor / (double)ours_stream(&p.o, p.c, total);
		again[i] = floor / (double)floor_stream(p.f, total);
	}
	bench_ratio(two_cores ? "32 in flight, commands/s : bare queue on two cores" : "32 in flight, commands/s : bare queue on one core",
		    ratios, bench_scale.rounds, BENCH_AT_LEAST, 0.7);
	bench_ratio("  noise: the bare queue against itself", again, bench_scale.rounds, BENCH_NO_GOAL, 0);
	pair_close(&p);
}

void part_throughput(void)
{
	streams(true);
	streams(false);
}
