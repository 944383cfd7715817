/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The benchmark. Each figure is a ratio of two sides that take turns within one run, many times; what is printed is the
 * median of the rounds' ratios and how far the middle half of them spreads.
 */
#ifndef BENCH_H
#define BENCH_H

#include <infiniband/mlx5dv.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BENCH_ROUNDS_MAX 1000
#define BENCH_IN 32u  /* QUERY_FLOW_COUNTER with one counter */
#define BENCH_OUT 32u

struct bench_scale {
	unsigned int rounds;
	unsigned int per_round; /* commands of each side in a round */
	unsigned int objects;
	unsigned int in_flight;
};

/* --- bench.c */
extern struct bench_scale bench_scale;
uint64_t bench_ns(void);
void bench_die(const char *what, int err) __attribute__((noreturn));
double bench_median(double *v, unsigned int n); /* sorts v */
uint64_t bench_p50(uint64_t *v, unsigned int n); /* sorts v */
/* One line: the median of n rounds' ratios against the goal. */
enum bench_goal { BENCH_AT_MOST, BENCH_AT_LEAST, BENCH_NO_GOAL };
void bench_ratio(const char *what, double *ratios, unsigned int n, enum bench_goal kind, double goal);
void bench_count(const char *what, double value, const char *unit, double at_most);
void bench_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* --- floor.c: what the figures are measured against: no device, no checks, only the hand-off that cannot be avoided */
struct floor;
struct floor *floor_new(void);
void floor_free(struct floor *f);
int floor_fd(const struct floor *f);
void floor_submit(struct floor *f, const void *in, uint64_t wr_id);
bool floor_get(struct floor *f, void *record); /* false: none */
uint64_t floor_inline_trip(void);              /* ns of one write, poll and read of a byte on a socket pair */

/* --- ours.c: a software device with counters */
struct ours {
	struct ibv_device *dev;
	struct ibv_context *ctx;
	struct mlx5dv_devx_obj **objs;
	uint32_t *ids;
	unsigned int n;
};

struct ours_record {
	uint64_t wr_id;
	uint8_t out[BENCH_OUT];
};

void ours_open(struct ours *o, const char *spec, unsigned int n_counters);
void ours_close(struct ours *o);
struct mlx5dv_devx_cmd_comp *ours_comp(struct ours *o, bool nonblocking);
void ours_submit(struct ours *o, unsigned int which, size_t outlen, uint64_t wr_id, struct mlx5dv_devx_cmd_comp *c);
/* Polls, then takes one; dies when it is not a success. */
void ours_take(struct mlx5dv_devx_cmd_comp *c, struct ours_record *r);
bool ours_try(struct mlx5dv_devx_cmd_comp *c, struct ours_record *r); /* false: none now */
void bench_poll(int fd);

/* --- count.c: allocations of the whole process, counted by standing in for the C library's functions */
struct count {
	uint64_t calls;
	int64_t bytes; /* held now, as asked for */
};

bool count_works(void); /* false under a sanitizer, which has its own */
struct count count_now(void);

/* --- parts */
void part_latency(void);
void part_throughput(void);
void part_cost(void);
void part_memory(void);
void part_allocations(void);
void part_growth(void);

/*
 * Where the scheduler puts two threads changes a hand-off several times over, so both sides are put in the same place: the nth CPU
 * that the process may use (the last when there are fewer). Threads that are born meanwhile stay there.
 */
void bench_pin(unsigned int n);
void bench_unpin(void);

#endif
