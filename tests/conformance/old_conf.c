/* SPDX-License-Identifier: BSD-2-Clause */
#include "old_conf.h"

#include <sched.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>

void put16(void *box, size_t byte, uint16_t v)
{
	v = htobe16(v);
	memcpy((uint8_t *)box + byte, &v, sizeof(v));
}

void put32(void *box, size_t byte, uint32_t v)
{
	v = htobe32(v);
	memcpy((uint8_t *)box + byte, &v, sizeof(v));
}

void put64(void *box, size_t byte, uint64_t v)
{
	v = htobe64(v);
	memcpy((uint8_t *)box + byte, &v, sizeof(v));
}

uint32_t get32(const void *box, size_t byte)
{
	uint32_t v;

	memcpy(&v, (const uint8_t *)box + byte, sizeof(v));
	return be32toh(v);
}

uint64_t get64(const void *box, size_t byte)
{
	uint64_t v;

	memcpy(&v, (const uint8_t *)box + byte, sizeof(v));
	return be64toh(v);
}

uint8_t status_of(const void *out)
{
	return *(const uint8_t *)out;
}

uint32_t syndrome_of(const void *out)
{
	return get32(out, 4);
}

struct ibv_context *open_devx(struct ibv_device *dev)
{
	struct mlx5dv_context_attr attr = { .flags = MLX5DV_CONTEXT_FLAGS_DEVX };
	struct ibv_context *ctx = mlx5dv_open_device(dev, &attr);

	assert_non_null(ctx);
	return ctx;
}

struct mlx5dv_devx_obj *counters(struct ibv_context *ctx, uint8_t bulk, uint32_t *id)
{
	uint8_t in[16] = { 0 }, out[16] = { 0 };
	struct mlx5dv_devx_obj *obj;

	put16(in, 0, ALLOC_FLOW_COUNTER);
	in[15] = bulk;
	obj = mlx5dv_devx_obj_create(ctx, in, sizeof(in), out, sizeof(out));
	assert_non_null(obj);
	*id = get32(out, 8);
	return obj;
}

struct mlx5dv_devx_obj *alloc_pd(struct ibv_context *ctx, uint32_t *pd)
{
	uint8_t in[16] = { 0 }, out[16] = { 0 };
	struct mlx5dv_devx_obj *obj;

	put16(in, 0, ALLOC_PD);
	obj = mlx5dv_devx_obj_create(ctx, in, sizeof(in), out, sizeof(out));
	assert_non_null(obj);
	*pd = get32(out, 8) & 0xffffff;
	return obj;
}

void query_inbox(uint8_t in[32], uint32_t id, uint32_t n)
{
	memset(in, 0, 32);
	put16(in, 0, QUERY_FLOW_COUNTER);
	put32(in, 24, n);
	put32(in, 28, id);
}

struct rig rig_up(const char *spec)
{
	struct rig r;

	r.dev = odx_soft_create(spec);
	assert_non_null(r.dev);
	r.ctx = open_devx(r.dev);
	r.obj = counters(r.ctx, 1, &r.id);
	r.comp = mlx5dv_devx_create_cmd_comp(r.ctx);
	assert_non_null(r.comp);
	return r;
}

void rig_down(struct rig *r)
{
	mlx5dv_devx_destroy_cmd_comp(r->comp);
	assert_int_equal(mlx5dv_devx_obj_destroy(r->obj), 0);
	assert_int_equal(ibv_close_device(r->ctx), 0);
	assert_int_equal(odx_soft_destroy(r->dev), 0);
}

int submit_to(struct rig *r, struct mlx5dv_devx_cmd_comp *comp, size_t outlen, uint64_t wr_id)
{
	uint8_t in[32];

	query_inbox(in, r->id, 1);
	return mlx5dv_devx_obj_query_async(r->obj, in, sizeof(in), outlen, wr_id, comp);
}

int submit(struct rig *r, size_t outlen, uint64_t wr_id)
{
	return submit_to(r, r->comp, outlen, wr_id);
}

int get(struct mlx5dv_devx_cmd_comp *comp, struct record *rec)
{
	return mlx5dv_devx_get_async_cmd_comp(comp, (struct mlx5dv_devx_async_cmd_hdr *)rec, sizeof(*rec));
}

short ready(int fd, short events, int timeout_ms)
{
	struct pollfd p = { .fd = fd, .events = events };

	assert_true(poll(&p, 1, timeout_ms) >= 0);
	return p.revents;
}

void get_ready(struct mlx5dv_devx_cmd_comp *comp, struct record *rec)
{
	assert_true(ready(comp->fd, POLLIN, PATIENCE_MS) & POLLIN);
	assert_int_equal(get(comp, rec), 0);
}

void expect_wr(struct mlx5dv_devx_cmd_comp *comp, uint64_t wr_id)
{
	struct record rec;

	get_ready(comp, &rec);
	assert_int_equal(rec.wr_id, wr_id);
}

void expect_none(struct mlx5dv_devx_cmd_comp *comp)
{
	assert_int_equal(ready(comp->fd, POLLIN, 0), 0);
}

void expect_aborted(const struct record *rec)
{
	assert_int_equal(status_of(rec->out), ABORTED_STATUS);
	assert_int_equal(syndrome_of(rec->out), ABORTED_SYNDROME);
}

void set_nonblock(int fd, bool on)
{
	int flags = fcntl(fd, F_GETFL);

	assert_true(flags >= 0);
	assert_int_equal(fcntl(fd, F_SETFL, on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK), 0);
}

static void *runner_main(void *arg)
{
	struct runner *t = arg;

	atomic_store(&t->tid, (int)syscall(SYS_gettid));
	t->fn(t->arg);
	atomic_store(&t->done, true);
	return NULL;
}

void run(struct runner *t, void (*fn)(void *arg), void *arg)
{
	t->fn = fn;
	t->arg = arg;
	atomic_init(&t->tid, 0);
	atomic_init(&t->done, false);
	assert_int_equal(pthread_create(&t->thread, NULL, runner_main, t), 0);
}

static char state_of(int tid)
{
	char path[64], text[256] = "", *p;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return '?';
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	p = n > 0 ? strrchr(text, ')') : NULL;
	return p && p[1] == ' ' ? p[2] : '?';
}

/* Asleep on several looks in a row: a thread that only waits for a lock does not look so for long. */
void wait_asleep(struct runner *t)
{
	struct timespec start, now;
	int seen = 0;

	clock_gettime(CLOCK_MONOTONIC, &start);
	while (seen < 20) {
		int tid = atomic_load(&t->tid);

		seen = tid && state_of(tid) == 'S' ? seen + 1 : 0;
		sched_yield();
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (now.tv_sec - start.tv_sec > PATIENCE_MS / 1000 || atomic_load(&t->done))
			break;
	}
	assert_false(atomic_load(&t->done));
	assert_int_equal(seen, 20);
}

void join(struct runner *t)
{
	assert_int_equal(pthread_join(t->thread, NULL), 0);
}

static void getter_main(void *arg)
{
	struct getter *g = arg;

	g->err = get(g->comp, &g->rec);
}

struct getter *getter_start(struct mlx5dv_devx_cmd_comp *comp)
{
	struct getter *g = calloc(1, sizeof(*g));

	assert_non_null(g);
	g->comp = comp;
	run(&g->t, getter_main, g);
	return g;
}

int getter_end(struct getter *g, uint64_t *wr_id)
{
	int err;

	join(&g->t);
	err = g->err;
	if (wr_id)
		*wr_id = g->rec.wr_id;
	free(g);
	return err;
}

int group_up(void **state)
{
	static struct rig r;

	r = rig_up("");
	*state = &r;
	return 0;
}

int group_down(void **state)
{
	rig_down(*state);
	return 0;
}
