/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads that share a context: doorbell registers are never given to two at a time, PDs and memory regions come and go, and an
 * object that each thread has imported is destroyed by exactly one of them, as is an event queue that all of them have.
 */
#include <errno.h>
#include <infiniband/mlx5_api.h>
#define OPENDEVX_EXPORT_SIZES
#include <opendevx/opendevx.h>
#include <opendevx/soft.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 4u
#define ROUNDS 1000u
#define NC_DEDICATED (1u << 31)

#define CHECK(x)                                                                                                     \
	do {                                                                                                         \
		if (!(x)) {                                                                                          \
			fprintf(stderr, "%s:%d: %s (errno %d)\n", __FILE__, __LINE__, #x, errno);                    \
			abort();                                                                                     \
		}                                                                                                    \
	} while (0)

static struct ibv_context *ctx;
static pthread_barrier_t barrier;
static unsigned char exported[256], query[32];
static struct mlx5dv_devx_obj *first;
static atomic_uint destroyed, gone;
static unsigned char pages[THREADS][4096];
static struct mlx5dv_devx_obj *second, *common; /* common: second, imported */
static struct mlx5dv_devx_event_channel *channel; /* subscribed to first */
static struct mlx5dv_devx_msi_vector *vector;
static struct mlx5dv_devx_eq *eq;
static atomic_uint eq_destroyed;

static void registers(uint64_t me)
{
	struct mlx5dv_devx_uar *u[3];

	for (unsigned int i = 0; i < 3; i++) {
		u[i] = mlx5dv_devx_alloc_uar(ctx, i == 2 ? MLX5DV_UAR_ALLOC_TYPE_BF : NC_DEDICATED);
		CHECK(u[i]);
		*(volatile uint64_t *)u[i]->reg_addr = me << 8 | i;
	}
	CHECK(mlx5dv_devx_alloc_uar(ctx, MLX5DV_UAR_ALLOC_TYPE_NC));
	for (unsigned int i = 0; i < 3; i++) {
		CHECK(*(volatile uint64_t *)u[i]->reg_addr == (me << 8 | i)); /* nobody else has it */
		mlx5dv_devx_free_uar(u[i]);
	}
}

static void memory(uint64_t me)
{
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	struct ibv_mr *mr = pd ? ibv_reg_mr(pd, pages[me], sizeof(pages[me]), IBV_ACCESS_LOCAL_WRITE) : NULL;

	CHECK(mr);
	CHECK(ibv_dealloc_pd(pd) == EBUSY);
	CHECK(ibv_dereg_mr(mr) == 0);
	CHECK(ibv_dealloc_pd(pd) == 0);
}

static void shared_object(void)
{
	struct mlx5dv_devx_obj *mine = mlx5dv_devx_obj_import(ctx, exported);
	unsigned char out[32];
	int err;

	if (!mine) {
		CHECK(errno == ENOENT);
		atomic_fetch_add(&gone, 1);
		return;
	}
	err = mlx5dv_devx_obj_query(mine, query, sizeof(query), out, sizeof(out));
	CHECK(err == 0 || err == ENOENT || err == EBUSY);
	do
		err = mlx5dv_devx_obj_destroy(mine);
	while (err == EBUSY); /* another one reads it, or is at it */
	CHECK(err == 0 || err == ENOENT);
	if (!err) {
		atomic_fetch_add(&destroyed, 1);
	} else {
		atomic_fetch_add(&gone, 1);
		mlx5dv_devx_obj_unimport(mine);
	}
}

/* One handle, destroyed by some and given up by others at once: it ends once. */
static void shared_handle(uint64_t me)
{
	int err;

	if (me % 2) {
		mlx5dv_devx_obj_unimport(common);
		return;
	}
	err = mlx5dv_devx_obj_destroy(common);
	CHECK(err == 0 || err == ENOENT || err == EBUSY);
}

/* Of all who destroy the queue, one does. */
static void shared_eq(void)
{
	int err = mlx5dv_devx_destroy_eq(eq);

	CHECK(err == 0 || err == ENOENT || err == EBUSY);
	atomic_fetch_add(&eq_destroyed, !err);
}

static void *thread(void *arg)
{
	uint64_t me = (uintptr_t)arg;

	for (unsigned int i = 0; i < ROUNDS; i++) {
		pthread_barrier_wait(&barrier);
		shared_handle(me);
		pthread_barrier_wait(&barrier); /* its memory may be another one's from here on */
		if (me == i % THREADS)
			mlx5dv_devx_destroy_event_channel(channel); /* while the object goes */
		shared_object();
		shared_eq();
		registers(me);
		memory(me);
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

static void new_object(void)
{
	unsigned char in[16] = { 0x09, 0x39 }, out[16] = { 0 }; /* ALLOC_FLOW_COUNTER */

	first = mlx5dv_devx_obj_create(ctx, in, sizeof(in), out, sizeof(out));
	CHECK(first);
	memset(query, 0, sizeof(query));
	query[0] = 0x09;
	query[1] = 0x3b; /* QUERY_FLOW_COUNTER */
	memcpy(query + 28, out + 8, 4);
	CHECK(mlx5dv_devx_obj_export(first, exported) == 0);
}

static void new_common(void)
{
	unsigned char in[16] = { 0x08, 0x00 }, out[16], bytes[256]; /* ALLOC_PD */

	second = mlx5dv_devx_obj_create(ctx, in, sizeof(in), out, sizeof(out));
	CHECK(second);
	CHECK(mlx5dv_devx_obj_export(second, bytes) == 0);
	common = mlx5dv_devx_obj_import(ctx, bytes);
	CHECK(common);
}

static void end_common(void)
{
	int err = mlx5dv_devx_obj_destroy(second);

	CHECK(err == 0 || err == ENOENT);
	if (err)
		mlx5dv_devx_obj_unimport(second);
}

static void subscribe(void)
{
	uint16_t events[] = { 0 };

	channel = mlx5dv_devx_create_event_channel(ctx, 0);
	CHECK(channel);
	for (uint64_t i = 0; i < 4; i++)
		CHECK(mlx5dv_devx_subscribe_devx_event(channel, first, sizeof(events), events, i) == 0);
}

static void new_eq(void)
{
	unsigned char in[512] = { 0x03, 0x01 }, out[16] = { 0 }; /* CREATE_EQ: 2 entries */

	in[16 + 12] = 1;
	in[16 + 23] = (unsigned char)vector->vector;
	eq = mlx5dv_devx_create_eq(ctx, in, sizeof(in), out, sizeof(out));
	CHECK(eq);
}

int main(void)
{
	struct ibv_device *dev = odx_soft_create("");
	struct mlx5dv_export_sizes sizes;
	pthread_t threads[THREADS];

	ctx = dev ? mlx5dv_open_device(dev, NULL) : NULL;
	mlx5dv_get_export_sizes(&sizes);
	CHECK(ctx && sizes.devx_obj_attrs_size <= sizeof(exported));
	vector = mlx5dv_devx_alloc_msi_vector(ctx);
	CHECK(vector);
	CHECK(pthread_barrier_init(&barrier, NULL, THREADS + 1) == 0);
	for (uintptr_t i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, thread, (void *)i) == 0);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		new_object();
		new_common();
		subscribe();
		new_eq();
		for (unsigned int step = 0; step < 3; step++)
			pthread_barrier_wait(&barrier);
		CHECK(atomic_load(&destroyed) == i + 1);
		CHECK(atomic_load(&gone) == (i + 1) * (THREADS - 1));
		CHECK(atomic_load(&eq_destroyed) == i + 1);
		mlx5dv_devx_obj_unimport(first);
		end_common();
	}
	for (unsigned int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	CHECK(ibv_close_device(ctx) == 0);
	CHECK(odx_soft_destroy(dev) == 0);
	return 0;
}
