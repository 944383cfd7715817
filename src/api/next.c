/* SPDX-License-Identifier: BSD-2-Clause */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "next.h"

/*
 * What was found, hashed by name. A slot is written once and never changes, so that readers take no lock, and a fork in the
 * middle of a lookup leaves nothing locked in the child. Two threads may both store the same name: it does no harm.
 */
#define SLOTS 512 /* more than twice the names that this library passes on */

enum { FREE, BUSY, READY };

struct found {
	atomic_int state;
	const char *name;
	const char *version;
	void *fn;
};

static struct found table[SLOTS];

static unsigned int hash(const char *s)
{
	uint32_t h = 2166136261u;

	while (*s)
		h = (h ^ (unsigned char)*s++) * 16777619u;
	return h % SLOTS;
}

static void *cached(unsigned int at, const char *name, const char *version)
{
	for (unsigned int i = 0; i < SLOTS; i++, at = (at + 1) % SLOTS) {
		int state = atomic_load_explicit(&table[at].state, memory_order_acquire);

		if (state == FREE)
			return NULL;
		if (state == READY && !strcmp(table[at].name, name) && !strcmp(table[at].version, version))
			return table[at].fn;
	}
	return NULL;
}

static void remember(unsigned int at, const char *name, const char *version, void *fn)
{
	for (unsigned int i = 0; i < SLOTS; i++, at = (at + 1) % SLOTS) {
		int was = FREE;

		if (!atomic_compare_exchange_strong(&table[at].state, &was, BUSY))
			continue;
		table[at].name = name;
		table[at].version = version;
		table[at].fn = fn;
		atomic_store_explicit(&table[at].state, READY, memory_order_release);
		return;
	}
}

/* The object that a function lives in, so that it stays while we remember the function. False: it may go at any time. */
static bool pin(void *fn)
{
	Dl_info info;

	return dladdr(fn, &info) && info.dli_fname &&
	       dlopen(info.dli_fname, RTLD_NOLOAD | RTLD_NODELETE | RTLD_LAZY) != NULL;
}

/* A definition in the object that we are in is our own, and would call itself for ever. */
static bool is_ours(void *fn)
{
	Dl_info a, b;

	return dladdr(fn, &a) && dladdr((void *)table, &b) && a.dli_fbase == b.dli_fbase;
}

static void *look(const char *soname, const char *name, const char *version)
{
	void *fn = dlvsym(RTLD_NEXT, name, version);
	void *lib;

	if (fn && !is_ours(fn))
		return fn;
	lib = dlopen(soname, RTLD_NOLOAD | RTLD_LAZY);
	if (!lib)
		return NULL;
	fn = dlvsym(lib, name, version);
	dlclose(lib); /* the caller pins what it remembers */
	return fn && !is_ours(fn) ? fn : NULL;
}

static void *next(const char *soname, const char *name, const char *version)
{
	unsigned int at = hash(name);
	void *fn = cached(at, name, version);
	int saved = errno;

	if (fn)
		return fn;
	fn = look(soname, name, version);
	if (fn && pin(fn))
		remember(at, name, version, fn);
	errno = saved;
	return fn;
}

void *odx_next_ibverbs(const char *name, const char *version)
{
	return next("libibverbs.so.1", name, version);
}

void *odx_next_mlx5(const char *name, const char *version)
{
	return next("libmlx5.so.1", name, version);
}
