/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One side of the benchmark on a device of the kernel (bench/uverbs.py): the same program over our library and over
 * rdma-core's. It reads lines "WHAT N" from stdin, runs N commands, and answers with the nanoseconds that they took:
 *   sync        queries, one after another
 *   async D     asynchronous queries, D in flight: submit, poll, get
 *   step        N times submit and get, each as its own instructions: the program stops itself by SIGTRAP before the submit, between
 *               the two, and after the get, for whoever traces it
 */
#include <endian.h>
#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "prm_gen.h"

#define OP_IN PRM_SZ_query_flow_counter_in
#define OUT_LEN (PRM_SZ_query_flow_counter_out + PRM_SZ_traffic_counter)
#define WARM_UP 50u

#if defined(__x86_64__)
#define STOP() __asm__ volatile("int3" ::: "memory")
#else
#define STOP() raise(SIGTRAP)
#endif

static struct mlx5dv_devx_obj *counter;
static struct mlx5dv_devx_cmd_comp *comp;
static uint32_t query[OP_IN / 4];

struct record {
	uint64_t wr_id;
	uint8_t out[OUT_LEN];
};

static _Noreturn void die(const char *what, int err)
{
	fprintf(stderr, "bench-uverbs: %s: %s\n", what, strerror(err));
	exit(1);
}

static void open_device(void)
{
	struct mlx5dv_context_attr attr = { .flags = MLX5DV_CONTEXT_FLAGS_DEVX };
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx;
	uint32_t in[PRM_SZ_alloc_flow_counter_in / 4] = { htobe32(PRM_OP_ALLOC_FLOW_COUNTER << 16) };
	uint32_t out[PRM_SZ_alloc_flow_counter_out / 4] = { 0 };

	if (!list || !list[0])
		die("no device", ENODEV);
	ctx = mlx5dv_open_device(list[0], &attr);
	if (!ctx)
		die(ibv_get_device_name(list[0]), errno);
	counter = mlx5dv_devx_obj_create(ctx, in, sizeof(in), out, sizeof(out));
	if (!counter)
		die("a flow counter", errno);
	comp = mlx5dv_devx_create_cmd_comp(ctx);
	if (!comp)
		die("a completion", errno);
	query[0] = htobe32(PRM_OP_QUERY_FLOW_COUNTER << 16);
	query[OP_IN / 4 - 2] = htobe32(1); /* num_of_counters; then the id */
	query[OP_IN / 4 - 1] = out[2];
}

static void submit(uint64_t wr_id)
{
	int err = mlx5dv_devx_obj_query_async(counter, query, sizeof(query), OUT_LEN, wr_id, comp);

	if (err)
		die("submit", err);
}

static void wait_for_one(void)
{
	struct pollfd p = { .fd = comp->fd, .events = POLLIN };

	if (poll(&p, 1, 30000) != 1 || p.revents != POLLIN)
		die("poll", ETIMEDOUT);
}

static void get(struct record *rec)
{
	int err = mlx5dv_devx_get_async_cmd_comp(comp, (struct mlx5dv_devx_async_cmd_hdr *)rec, sizeof(*rec));

	if (err)
		die("get", err);
}

static void check(const struct record *rec, uint64_t wr_id)
{
	if (rec->wr_id != wr_id || rec->out[0])
		die("the answer is not that of the command", EIO);
}

static void run_sync(unsigned int n)
{
	uint8_t out[OUT_LEN];

	for (unsigned int i = 0; i < n; i++) {
		int err = mlx5dv_devx_obj_query(counter, query, sizeof(query), out, sizeof(out));

		if (err)
			die("query", err);
	}
}

/* Answers come in the order of the device: each wr_id once. */
static void run_async(unsigned int n, unsigned int depth)
{
	uint64_t sum = 0;
	struct record rec;

	for (unsigned int i = 0; i < n + depth; i++) {
		if (i >= depth) {
			wait_for_one();
			get(&rec);
			if (rec.out[0])
				die("status", EIO);
			sum += rec.wr_id;
		}
		if (i < n)
			submit(i);
	}
	if (sum != (uint64_t)n * (n - 1) / 2)
		die("answers are missing", EIO);
}

static void run_step(unsigned int n)
{
	struct record rec;

	for (unsigned int i = 0; i < n; i++) {
		STOP();
		submit(i);
		STOP();
		wait_for_one();
		STOP();
		get(&rec);
		STOP();
		check(&rec, i);
	}
}

static void run(const char *what, unsigned int n, unsigned int depth)
{
	if (!strcmp(what, "sync"))
		run_sync(n);
	else if (!strcmp(what, "async"))
		run_async(n, depth);
	else if (!strcmp(what, "step"))
		run_step(n);
	else
		die(what, EINVAL);
}

int main(void)
{
	char line[64], what[16];
	unsigned int n, depth;

	open_device();
	run_sync(WARM_UP);
	run_async(WARM_UP, 1);
	printf("ready\n");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		struct timespec a, b;

		depth = 1;
		if (sscanf(line, "%15s %u %u", what, &n, &depth) < 2 || !n || !depth || depth > n)
			die("the line is not WHAT N [DEPTH]", EINVAL);
		clock_gettime(CLOCK_MONOTONIC, &a);
		run(what, n, depth);
		clock_gettime(CLOCK_MONOTONIC, &b);
		printf("%lld\n", (b.tv_sec - a.tv_sec) * 1000000000ll + b.tv_nsec - a.tv_nsec);
		fflush(stdout);
	}
	return 0;
}
