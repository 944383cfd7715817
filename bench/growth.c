/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the millionth object of each type costs to create, against the first ones, and how much memory each holds. Two devices
 * take turns, one with few objects and one with as many as it may have; both give out ids that were never used.
 */
#include "bench.h"

#include <errno.h>
#include <opendevx/soft.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit.h"

#define ROUNDS 31u
#define BATCH 300u
#define FEW_IDS 10000u /* of a type that has no more than so many, those of a batch are given back and taken again */

struct side {
	struct ibv_device *dev;
	struct ibv_context *ctx;
	struct kit kit;
};

static void open_side(struct side *s, enum rcp_id what)
{
	struct mlx5dv_context_attr attr = { .flags = MLX5DV_CONTEXT_FLAGS_DEVX };
	int err;

	s->dev = odx_soft_create("inline,profile=cx7");
	if (!s->dev)
		bench_die("odx_soft_create", errno);
	s->ctx = mlx5dv_open_device(s->dev, &attr);
	if (!s->ctx)
		bench_die("mlx5dv_open_device", errno);
	err = kit_open(&s->kit, s->ctx);
	if (!err)
		err = kit_parents(&s->kit, &recipes[what]->create);
	if (err)
		bench_die(recipes[what]->name, err);
}

/* The context takes its objects along. */
static void close_side(struct side *s)
{
	int err = ibv_close_device(s->ctx);

	if (!err)
		err = odx_soft_destroy(s->dev);
	if (err)
		bench_die("close", err);
	kit_free(&s->kit);
}

/* objs: where they are kept, or NULL. */
static void make(struct side *s, enum rcp_id what, uint32_t n, void **objs)
{
	uint32_t id;

	for (uint32_t i = 0; i < n; i++) {
		void *made = recipes[what]->by_call ? kit_call(&s->kit, what, &id) : kit_create(&s->kit, what, &id, NULL);

		if (!made)
			bench_die(recipes[what]->name, errno);
		if (objs)
			objs[i] = made;
	}
}

static double timed(struct side *s, enum rcp_id what, uint32_t n, bool again)
{
	void *objs[BATCH];
	uint64_t t = bench_ns();

	make(s, what, n, objs);
	t = bench_ns() - t;
	for (uint32_t i = n; again && i-- > 0;)
		if (kit_destroy(what, objs[i]))
			bench_die(recipes[what]->name, EIO);
	if (again)
		s->kit.made[what] -= n; /* numbers that a program chooses come again too */
	return (double)t / n;
}

static void growth(enum rcp_id what)
{
	uint32_t max = recipes[what]->max && recipes[what]->max < bench_scale.objects ? recipes[what]->max : bench_scale.objects;
	bool again = max < FEW_IDS;
	uint32_t batch = again ? max / 2 : max / 2 / ROUNDS, room;
	double ratios[ROUNDS], each;
	struct count before;
	struct side few, many;
	char text[80];

	batch = !batch ? 1 : batch > BATCH ? BATCH : batch;
	room = again ? batch : batch * ROUNDS;
	open_side(&few, what);
	open_side(&many, what);
	before = count_now();
	make(&many, what, max - room, NULL);
	each = (double)(count_now().bytes - before.bytes) / (max - room);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		double a = timed(&few, what, batch, again), b = timed(&many, what, batch, again);

		ratios[i] = b / a;
	}
	snprintf(text, sizeof(text), "the %uth %s : the first", max, recipes[what]->name);
	bench_ratio(text, ratios, ROUNDS, BENCH_AT_MOST, 1.1);
	if (count_works())
		bench_note("%.0f bytes each", each);
	close_side(&few);
	close_side(&many);
}

/* Each type in a process of its own: memory for handles is never given back, so a second type would seem to need none. */
void part_growth(void)
{
	for (int i = 0; i < RCP_N; i++) {
		int status;
		pid_t pid;

		fflush(stdout);
		pid = fork();
		if (pid < 0)
			bench_die("fork", errno);
		if (!pid) {
			growth((enum rcp_id)i);
			exit(0);
		}
		if (waitpid(pid, &status, 0) != pid || status)
			bench_die(recipes[i]->name, ECHILD);
	}
}
