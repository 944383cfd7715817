/* SPDX-License-Identifier: BSD-2-Clause */
/* The search for rdma-core's definitions, from several threads at once: all find the same, and never one of ours. */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "next.h"

struct name {
	const char *name;
	const char *version;
	void *(*next)(const char *name, const char *version);
};

#define IBV(version, conv, handle, ret, name, params, args) { #name, version, odx_next_ibverbs },
#define MLX(version, conv, handle, ret, name, params, args) { #name, version, odx_next_mlx5 },
static const struct name names[] = {
#include "pass_ibverbs.tbl"
#include "pass_mlx5.tbl"
};

#define N (sizeof(names) / sizeof(names[0]))
#define THREADS 4

static void *found[THREADS][N];
static pthread_barrier_t start;

static void *look(void *arg)
{
	size_t me = (uintptr_t)arg;

	pthread_barrier_wait(&start);
	for (size_t i = 0; i < N; i++) {
		size_t at = me % 2 ? N - 1 - i : i;

		found[me][at] = names[at].next(names[at].name, names[at].version);
	}
	return NULL;
}

static void threads_find_the_same(void **state)
{
	pthread_t t[THREADS];

	assert_int_equal(pthread_barrier_init(&start, NULL, THREADS), 0);
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&t[i], NULL, look, (void *)i), 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(t[i], NULL), 0);
	for (size_t i = 0; i < N; i++) {
		Dl_info info;

		assert_non_null(found[0][i]);
		assert_true(dladdr(found[0][i], &info));
		assert_non_null(strstr(info.dli_fname, names[i].next == odx_next_mlx5 ? "libmlx5.so" : "libibverbs.so"));
		assert_string_equal(info.dli_sname, names[i].name);
		for (int k = 1; k < THREADS; k++)
			assert_ptr_equal(found[k][i], found[0][i]);
		assert_ptr_equal(names[i].next(names[i].name, names[i].version), found[0][i]);
	}
}

static void wrong_names_and_versions_are_not_found(void **state)
{
	assert_null(odx_next_ibverbs("ibv_alloc_pd", "IBVERBS_1.5"));
	assert_null(odx_next_ibverbs("ibv_no_such_call", "IBVERBS_1.1"));
	assert_null(odx_next_mlx5("mlx5dv_open_device", "MLX5_1.0"));
	assert_non_null(odx_next_mlx5("mlx5dv_open_device", "MLX5_1.7"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_find_the_same),
		cmocka_unit_test(wrong_names_and_versions_are_not_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
