/* SPDX-License-Identifier: BSD-2-Clause */
/* Allocations on the hot path, and what a queued completion costs in memory. */
#include "bench.h"

#include <opendevx/soft.h>
#include <stdio.h>

#define BUDGET 1048576u

static void fill_and_drain(struct ours *o, struct mlx5dv_devx_cmd_comp *c, unsigned int n)
{
	struct ours_record r;

	for (unsigned int i = 0; i < n; i++)
		ours_submit(o, i % o->n, BENCH_OUT, i, c);
	for (unsigned int i = 0; i < n; i++)
		ours_take(c, &r);
}

static void allocations(const char *spec, const char *what)
{
	struct ours o;
	struct mlx5dv_devx_cmd_comp *c;
	struct count before;
	uint64_t calls;

	ours_open(&o, spec, 16);
	c = ours_comp(&o, false);
	fill_and_drain(&o, c, 1000);
	before = count_now();
	for (unsigned int i = 0; i < bench_scale.rounds; i++)
		fill_and_drain(&o, c, i % 1000 + 1);
	calls = count_now().calls - before.calls;
	bench_count(what, (double)calls, "calls", 0);
	mlx5dv_devx_destroy_cmd_comp(c);
	ours_close(&o);
}

void part_allocations(void)
{
	if (!count_works()) {
		bench_note("allocations are not counted under a sanitizer");
		return;
	}
	allocations("", "allocations past the high-water mark");
	allocations("inline", "  the same, inline");
}

/* Held commands have executed: they are completions that wait. */
static void queued(struct ours *o, unsigned int outlen)
{
	struct mlx5dv_devx_cmd_comp *c = ours_comp(o, false);
	unsigned int n = BUDGET / outlen;
	struct count before = count_now();
	char what[80];
	double each;

	for (unsigned int i = 0; i < n; i++)
		ours_submit(o, 0, outlen, i, c);
	each = (double)(count_now().bytes - before.bytes) / n;
	snprintf(what, sizeof(what), "bytes per queued completion, outlen %u, %u of them", outlen, n);
	bench_count(what, each, "bytes", outlen + 64.0);
	if (odx_soft_release(o->dev, UINT32_MAX))
		bench_die("odx_soft_release", 0);
	mlx5dv_devx_destroy_cmd_comp(c);
}

void part_memory(void)
{
	static const unsigned int outlens[] = { 16, 32, 64, 512, 4096 };
	struct ours o;

	if (!count_works()) {
		bench_note("memory is not counted under a sanitizer");
		return;
	}
	ours_open(&o, "", 1);
	for (size_t i = 0; i < sizeof(outlens) / sizeof(outlens[0]); i++)
		queued(&o, outlens[i]);
	ours_close(&o);
}
