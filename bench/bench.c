/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct bench_scale bench_scale = { .rounds = 100, .per_round = 1000, .objects = 1000000, .in_flight = 100000 };
static const struct bench_scale quick = { .rounds = 3, .per_round = 20, .objects = 100, .in_flight = 400 };

static const struct {
	const char *name;
	void (*run)(void);
} parts[] = {
	{ "latency", part_latency },
	{ "throughput", part_throughput },
	{ "allocations", part_allocations },
	{ "memory", part_memory },
	{ "cost", part_cost },
	{ "growth", part_growth },
};

#define N_PARTS (sizeof(parts) / sizeof(parts[0]))

uint64_t bench_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

void bench_die(const char *what, int err)
{
	fprintf(stderr, "bench: %s: %s\n", what, strerror(err));
	exit(1);
}

static int by_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int by_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

double bench_median(double *v, unsigned int n)
{
	qsort(v, n, sizeof(*v), by_double);
	return v[n / 2];
}

uint64_t bench_p50(uint64_t *v, unsigned int n)
{
	qsort(v, n, sizeof(*v), by_u64);
	return v[n / 2];
}

void bench_ratio(const char *what, double *ratios, unsigned int n, enum bench_goal kind, double goal)
{
	double median = bench_median(ratios, n);
	bool reached = kind == BENCH_AT_MOST ? median <= goal : median >= goal;

	printf("%-52s %7.3f  (middle half %.3f to %.3f)", what, median, ratios[n / 4], ratios[n * 3 / 4]);
	if (kind != BENCH_NO_GOAL)
		printf("  goal %s %.2f: %s", kind == BENCH_AT_MOST ? "<=" : ">=", goal, reached ? "reached" : "missed");
	printf("\n");
	fflush(stdout);
}

void bench_count(const char *what, double value, const char *unit, double at_most)
{
	printf("%-52s %7.3f  %s  goal <= %g: %s\n", what, value, unit, at_most, value <= at_most ? "reached" : "missed");
	fflush(stdout);
}

void bench_note(const char *format, ...)
{
	va_list ap;

	printf("    ");
	va_start(ap, format);
	vprintf(format, ap);
	va_end(ap);
	printf("\n");
}

void bench_poll(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	if (poll(&p, 1, 60000) != 1)
		bench_die("nothing within a minute", 0);
}

static cpu_set_t all_cpus;
static bool pinned;

void bench_pin(unsigned int n)
{
	cpu_set_t set;
	int last = 0, err;

	if (!pinned && sched_getaffinity(0, sizeof(all_cpus), &all_cpus))
		bench_die("sched_getaffinity", errno);
	pinned = true;
	for (int i = 0; i < CPU_SETSIZE; i++) {
		if (!CPU_ISSET((size_t)i, &all_cpus))
			continue;
		last = i;
		if (!n--)
			break;
	}
	CPU_ZERO(&set);
	CPU_SET((size_t)last, &set);
	err = pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
	if (err)
		bench_die("pthread_setaffinity_np", err);
}

void bench_unpin(void)
{
	pinned = false;
	pthread_setaffinity_np(pthread_self(), sizeof(all_cpus), &all_cpus);
}

static bool run_named(const char *name)
{
	for (size_t i = 0; i < N_PARTS; i++) {
		if (!strcmp(name, parts[i].name)) {
			parts[i].run();
			return true;
		}
	}
	return false;
}

int main(int argc, char **argv)
{
	int i = 1;

	if (i < argc && !strcmp(argv[i], "--quick")) {
		bench_scale = quick;
		i++;
	}
	if (i == argc)
		for (size_t p = 0; p < N_PARTS; p++)
			parts[p].run();
	for (; i < argc; i++) {
		if (!run_named(argv[i])) {
			fprintf(stderr, "usage: bench [--quick] [latency|throughput|allocations|memory|cost|growth]...\n");
			return 2;
		}
	}
	return 0;
}
