/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fails each allocation and each system call of one whole run in turn, until a run passes in which none failed. Each run checks
 * that an error has a sensible errno, that no completion is lost or doubled, and that memory and descriptors are given back.
 * The linker wraps the functions, so that only calls of the library and of this file are met.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <opendevx/opendevx.h>
#include <opendevx/soft.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "kit.h"

#define COMMANDS 40u

#define CHECK(x)                                                                                                     \
	do {                                                                                                         \
		if (!(x)) {                                                                                          \
			fprintf(stderr, "%s:%d: %s (failing %s, number %u)\n", __FILE__, __LINE__, #x, failing,      \
				fail_at);                                                                            \
			abort();                                                                                     \
		}                                                                                                    \
	} while (0)

static const char *failing = "none";
static unsigned int fail_at;
static atomic_uint calls;
static atomic_bool armed;
static atomic_long blocks;   /* of the heap, held by the library */
static atomic_long mappings; /* likewise */
#define KEPT 11              /* the address space of each kind of handle that is used is reserved once, and stays */

/* The call that is this run's? */
static bool fail(const char *name)
{
	if (!atomic_load(&armed) || atomic_fetch_add(&calls, 1) + 1 != fail_at)
		return false;
	failing = name;
	return true;
}

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__real_aligned_alloc(size_t align, size_t n);
void __real_free(void *p);
void *__real_mmap64(void *at, size_t len, int prot, int flags, int fd, off_t off);
int __real_munmap(void *at, size_t len);
int __real_fcntl64(int fd, int cmd, ...);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
void *__wrap_aligned_alloc(size_t align, size_t n);
void __wrap_free(void *p);
void *__wrap_mmap64(void *at, size_t len, int prot, int flags, int fd, off_t off);
int __wrap_munmap(void *at, size_t len);
int __wrap_fcntl64(int fd, int cmd, ...);

void *__wrap_malloc(size_t n)
{
	void *p = fail("malloc") ? NULL : __real_malloc(n);

	if (!p)
		errno = ENOMEM;
	atomic_fetch_add(&blocks, p != NULL);
	return p;
}

void *__wrap_calloc(size_t n, size_t size)
{
	void *p = fail("calloc") ? NULL : __real_calloc(n, size);

	if (!p)
		errno = ENOMEM;
	atomic_fetch_add(&blocks, p != NULL);
	return p;
}

void *__wrap_aligned_alloc(size_t align, size_t n)
{
	void *p = fail("aligned_alloc") ? NULL : __real_aligned_alloc(align, n);

	if (!p)
		errno = ENOMEM;
	atomic_fetch_add(&blocks, p != NULL);
	return p;
}

void *__wrap_realloc(void *old, size_t n)
{
	void *p = fail("realloc") ? NULL : __real_realloc(old, n);

	if (!p)
		errno = ENOMEM;
	atomic_fetch_add(&blocks, p && !old);
	return p;
}

void __wrap_free(void *p)
{
	atomic_fetch_sub(&blocks, p != NULL);
	__real_free(p);
}

void *__wrap_mmap64(void *at, size_t len, int prot, int flags, int fd, off_t off)
{
	void *p;

	if (fail("mmap")) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	p = __real_mmap64(at, len, prot, flags, fd, off);
	atomic_fetch_add(&mappings, p != MAP_FAILED);
	return p;
}

int __wrap_munmap(void *at, size_t len)
{
	atomic_fetch_sub(&mappings, 1);
	return __real_munmap(at, len);
}

int __wrap_fcntl64(int fd, int cmd, ...)
{
	va_list ap;
	long arg;

	va_start(ap, cmd);
	arg = va_arg(ap, long);
	va_end(ap);
	if (fail("fcntl")) {
		errno = EMFILE;
		return -1;
	}
	return __real_fcntl64(fd, cmd, arg);
}

/* type name(parameters), its arguments, what it returns when it fails, and the errno of that. */
#define WRAP(type, name, params, args, bad, err)                                                                     \
	type __real_##name params;                                                                                   \
	type __wrap_##name params;                                                                                   \
	type __wrap_##name params                                                                                    \
	{                                                                                                            \
		if (fail(#name)) {                                                                                   \
			errno = (err);                                                                               \
			return bad;                                                                                  \
		}                                                                                                    \
		return __real_##name args;                                                                           \
	}

WRAP(int, mprotect, (void *at, size_t len, int prot), (at, len, prot), -1, ENOMEM)
WRAP(int, pthread_create, (pthread_t *t, const pthread_attr_t *a, void *(*fn)(void *), void *arg), (t, a, fn, arg), EAGAIN, 0)
WRAP(int, socketpair, (int d, int type, int p, int sv[2]), (d, type, p, sv), -1, EMFILE)
WRAP(int, fstat64, (int fd, struct stat *st), (fd, st), -1, ENOMEM)
WRAP(int, eventfd, (unsigned int n, int flags), (n, flags), -1, EMFILE)
WRAP(ssize_t, send, (int fd, const void *p, size_t n, int flags), (fd, p, n, flags), -1, ENOBUFS)
WRAP(ssize_t, recv, (int fd, void *p, size_t n, int flags), (fd, p, n, flags), -1, ENOMEM)
WRAP(int, shutdown, (int fd, int how), (fd, how), -1, ENOBUFS)
WRAP(int, memfd_create, (const char *name, unsigned int flags), (name, flags), -1, EMFILE)
WRAP(int, ftruncate64, (int fd, off_t len), (fd, len), -1, ENOMEM)
WRAP(ssize_t, readlink, (const char *path, char *buf, size_t n), (path, buf, n), -1, ENOMEM)
WRAP(int, poll, (struct pollfd *p, nfds_t n, int ms), (p, n, ms), -1, ENOMEM)
WRAP(FILE *, fopen64, (const char *path, const char *mode), (path, mode), NULL, EMFILE)

static unsigned int open_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int n = 0;

	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static bool sensible(int err)
{
	return err == ENOMEM || err == EMFILE || err == EAGAIN || err == EREMOTEIO || err == ENOBUFS;
}

struct run {
	struct ibv_device *dev;
	struct ibv_context *ctx;
	struct mlx5dv_devx_umem *umem;
	struct mlx5dv_devx_obj *obj;
	struct mlx5dv_devx_cmd_comp *comp;
	struct mlx5dv_devx_uar *uar;
	struct mlx5dv_devx_obj *other; /* obj, imported */
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct kit kit;
	struct mlx5dv_devx_obj *each[RCP_N]; /* an object of each type */
	struct mlx5dv_devx_event_channel *channel, *omit;
	struct mlx5dv_devx_msi_vector *msi;
	struct mlx5dv_devx_eq *eq;
	int eventfd;
	bool events; /* all of them came */
	unsigned int submitted, got, made;
	unsigned char seen[COMMANDS];
};

static void submit_all(struct run *r, uint32_t id)
{
	uint8_t in[32] = { 0x09, 0x3b };

	memcpy(in + 28, &id, 4);
	for (uint64_t i = 0; i < COMMANDS; i++) {
		int err = mlx5dv_devx_obj_query_async(r->obj, in, sizeof(in), i * 700, i, r->comp);

		CHECK(!err || sensible(err));
		if (err)
			r->seen[i] = 1; /* refused */
		else
			r->submitted++;
	}
}

/* Readiness must not be lost: each record is waited for with poll. */
static void get_all(struct run *r)
{
	static struct {
		uint64_t wr_id;
		uint8_t out[65536];
	} rec;

	while (r->got < r->submitted) {
		struct pollfd p = { .fd = r->comp->fd, .events = POLLIN };
		int err;

		CHECK(__real_poll(&p, 1, 10000) == 1);
		CHECK(p.revents == POLLIN);
		err = mlx5dv_devx_get_async_cmd_comp(r->comp, (struct mlx5dv_devx_async_cmd_hdr *)&rec, sizeof(rec));
		if (err) {
			CHECK(sensible(err));
			continue;
		}
		CHECK(rec.wr_id < COMMANDS && r->seen[rec.wr_id]++ == 0);
		r->got++;
	}
	for (unsigned int i = 0; i < COMMANDS; i++)
		CHECK(r->seen[i] == 1);
}

#define MAKE(what)                                                                                                   \
	do {                                                                                                         \
		errno = 0;                                                                                           \
		if (!(what)) {                                                                                       \
			CHECK(sensible(errno));                                                                      \
			return;                                                                                      \
		}                                                                                                    \
	} while (0)

/* Every object, asked and changed; parents come by themselves. False: something failed. */
static bool make_each(struct run *r)
{
	for (int i = 0; i < RCP_N; i++) {
		static uint8_t out[KIT_BOX];
		uint32_t id;
		int err = 0;

		if (recipes[i]->by_call) { /* made as others' parent */
			r->made++;
			continue;
		}
		r->each[i] = kit_create(&r->kit, (enum rcp_id)i, &id, out);
		if (!r->each[i]) {
			CHECK(sensible(errno));
			return false;
		}
		if (recipes[i]->query.opcode)
			err = kit_query(&r->kit, (enum rcp_id)i, r->each[i], id, out);
		CHECK(!err || sensible(err));
		for (unsigned int m = 0; !err && recipes[i]->modify[m].cmd.opcode; m++) {
			err = kit_modify(&r->kit, (enum rcp_id)i, m, r->each[i], id, out);
			CHECK(!err || sensible(err));
			if (err == EREMOTEIO && out[0] == recipes[i]->modify[m].status)
				err = 0;
		}
		if (err)
			return false;
		r->made++;
	}
	return true;
}

/* What is queued, without waiting: how many records of that size; *lost: some found no memory, and it was told. */
static unsigned int drain(struct mlx5dv_devx_event_channel *channel, ssize_t size, bool *lost)
{
	union { struct mlx5dv_devx_async_event_hdr hdr; uint8_t bytes[72]; } event;
	unsigned int n = 0;

	CHECK(__real_fcntl64(channel->fd, F_SETFL, O_NONBLOCK) == 0);
	for (;;) {
		ssize_t got = mlx5dv_devx_get_event(channel, &event.hdr, sizeof(event));

		if (got < 0 && errno == EAGAIN)
			return n;
		CHECK(got == size || (got < 0 && (errno == EOVERFLOW || sensible(errno))));
		*lost = *lost || (got < 0 && errno == EOVERFLOW);
		n += got == size;
	}
}

static unsigned int drain_async(struct ibv_context *ctx)
{
	struct ibv_async_event event;
	unsigned int n = 0;

	CHECK(__real_fcntl64(ctx->async_fd, F_SETFL, O_NONBLOCK) == 0);
	for (;;) {
		if (!ibv_get_async_event(ctx, &event))
			n++;
		else if (errno == EAGAIN)
			return n;
		else
			CHECK(sensible(errno));
	}
}

#define EVENTS 4u

/* Subscriptions are all or nothing; an event that is lost is told as lost. */
static void events(struct run *r)
{
	uint16_t port_change = 9, completion = 0;
	uint8_t in[272] = { 0x03, 0x01 }, out[16];
	struct mlx5dv_devx_obj *cq = r->each[RCP_CQ];
	bool lost = false;
	unsigned int n;
	uint64_t value;

	MAKE(r->channel = mlx5dv_devx_create_event_channel(r->ctx, 0));
	MAKE(r->omit = mlx5dv_devx_create_event_channel(r->ctx, MLX5DV_DEVX_CREATE_EVENT_CHANNEL_FLAGS_OMIT_EV_DATA));
	MAKE(mlx5dv_devx_subscribe_devx_event(r->channel, NULL, 2, &port_change, 7) == 0);
	MAKE(mlx5dv_devx_subscribe_devx_event(r->channel, cq, 2, &completion, 8) == 0);
	MAKE(mlx5dv_devx_subscribe_devx_event(r->omit, NULL, 2, &port_change, 9) == 0);
	MAKE(mlx5dv_devx_subscribe_devx_event_fd(r->channel, r->eventfd, cq, completion) == 0);
	MAKE(r->msi = mlx5dv_devx_alloc_msi_vector(r->ctx));
	in[16 + 12] = 4; /* log_eq_size */
	in[16 + 23] = (uint8_t)r->msi->vector;
	in[88 + 6] = 1 << 1; /* port change */
	MAKE(r->eq = mlx5dv_devx_create_eq(r->ctx, in, sizeof(in), out, sizeof(out)));
	for (unsigned int i = 0; i < EVENTS; i++) {
		CHECK(odx_soft_port(r->dev, 1, i & 1) == 0);
		CHECK(odx_soft_event(r->dev, cq, completion, 0) == 0);
	}
	n = drain(r->channel, 72, &lost);
	CHECK(lost ? n < 2 * EVENTS : n == 2 * EVENTS);
	CHECK(drain(r->omit, 8, &lost) == 1);
	CHECK(read(r->eventfd, &value, sizeof(value)) == sizeof(value) && value == EVENTS);
	CHECK(read(r->msi->fd, &value, sizeof(value)) == sizeof(value) && value == EVENTS);
	n = drain_async(r->ctx);
	CHECK(n <= EVENTS);
	r->events = n == EVENTS && !lost;
}

static void work(struct run *r, const char *spec, void *mem)
{
	uint8_t in[64] = { 0x09, 0x39 }, out[16], exported[256];
	uint32_t id;

	in[15] = 1;
	MAKE(r->dev = odx_soft_create(spec));
	MAKE(r->ctx = mlx5dv_open_device(r->dev, NULL));
	MAKE(r->umem = mlx5dv_devx_umem_reg(r->ctx, mem, 8192, 1));
	MAKE(r->obj = mlx5dv_devx_obj_create(r->ctx, in, 16, out, sizeof(out)));
	memcpy(&id, out + 8, 4);
	MAKE(mlx5dv_devx_obj_export(r->obj, exported) == 0);
	MAKE(r->other = mlx5dv_devx_obj_import(r->ctx, exported));
	MAKE(r->uar = mlx5dv_devx_alloc_uar(r->ctx, 0));
	MAKE(r->pd = ibv_alloc_pd(r->ctx));
	MAKE(r->mr = ibv_reg_mr(r->pd, mem, 8192, 1));
	MAKE((errno = kit_open(&r->kit, r->ctx)) == 0);
	if (!make_each(r))
		return;
	events(r);
	if (!r->eq) /* nothing more may fail in this run */
		return;
	MAKE(r->comp = mlx5dv_devx_create_cmd_comp(r->ctx));
	submit_all(r, id);
	get_all(r);
}

/* What a destroy gives while something fails may be repeated. */
static void undo(struct run *r)
{
	int err;

	mlx5dv_devx_destroy_cmd_comp(r->comp);
	mlx5dv_devx_destroy_event_channel(r->channel);
	mlx5dv_devx_destroy_event_channel(r->omit);
	while (r->eq && (err = mlx5dv_devx_destroy_eq(r->eq)))
		CHECK(sensible(err));
	CHECK(mlx5dv_devx_free_msi_vector(r->msi) == 0);
	for (int i = RCP_N; i-- > 0;)
		while ((err = mlx5dv_devx_obj_destroy(r->each[i])))
			CHECK(sensible(err));
	while (r->kit.ctx && (err = kit_close(&r->kit)))
		CHECK(sensible(err));
	while (r->mr && (err = ibv_dereg_mr(r->mr)))
		CHECK(sensible(err));
	while (r->pd && (err = ibv_dealloc_pd(r->pd)))
		CHECK(sensible(err));
	mlx5dv_devx_free_uar(r->uar);
	mlx5dv_devx_obj_unimport(r->other);
	while (r->obj && (err = mlx5dv_devx_obj_destroy(r->obj)))
		CHECK(sensible(err));
	while (r->umem && (err = mlx5dv_devx_umem_dereg(r->umem)))
		CHECK(sensible(err));
	CHECK(ibv_close_device(r->ctx) == 0);
	CHECK(odx_soft_destroy(r->dev) == 0);
}

/* How many calls failed in turn. inline makes the calls the same in each run; the device thread is how programs run. */
static unsigned int fail_each(const char *spec, void *mem)
{
	unsigned int fds = open_fds();

	for (fail_at = 1;; fail_at++) {
		long before = atomic_load(&blocks);
		struct run r = { .eventfd = __real_eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) };

		failing = "none";
		atomic_store(&calls, 0);
		atomic_store(&armed, true);
		work(&r, spec, mem);
		undo(&r);
		atomic_store(&armed, false);
		close(r.eventfd);
		CHECK(atomic_load(&blocks) == before);
		CHECK(atomic_load(&mappings) <= KEPT);
		CHECK(open_fds() == fds);
		if (atomic_load(&calls) < fail_at) {
			CHECK(r.got == COMMANDS && r.made == RCP_N && r.events);
			CHECK(atomic_load(&mappings) == KEPT);
			return fail_at - 1;
		}
	}
}

int main(void)
{
	void *mem = aligned_alloc(4096, 8192);
	unsigned int n;

	CHECK(mem);
	memset(mem, 0, 8192);
	n = fail_each("inline,profile=cx7", mem);
	n += fail_each("seed=5,profile=cx7", mem);
	printf("%u calls failed in turn\n", n);
	free(mem);
	return 0;
}
