/* SPDX-License-Identifier: BSD-2-Clause */
/* The program's definitions stand before the C library's, for the shared library's calls too. */
#include "bench.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_uint_fast64_t calls;
static atomic_int_fast64_t bytes;

struct count count_now(void)
{
	return (struct count){ .calls = atomic_load(&calls), .bytes = atomic_load(&bytes) };
}

#ifdef __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#endif

#ifdef SANITIZED
bool count_works(void)
{
	return false;
}
#else
bool count_works(void)
{
	return true;
}

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t m);
extern void *__libc_realloc(void *p, size_t n);
extern void *__libc_memalign(size_t align, size_t n);
extern void __libc_free(void *p);

static void *counted(void *p)
{
	atomic_fetch_add(&calls, 1);
	if (p)
		atomic_fetch_add(&bytes, (int64_t)malloc_usable_size(p));
	return p;
}

static void uncounted(void *p)
{
	if (p)
		atomic_fetch_sub(&bytes, (int64_t)malloc_usable_size(p));
}

void *malloc(size_t n)
{
	return counted(__libc_malloc(n));
}

void *calloc(size_t n, size_t m)
{
	return counted(__libc_calloc(n, m));
}

void *realloc(void *p, size_t n)
{
	uncounted(p);
	return counted(__libc_realloc(p, n));
}

void *aligned_alloc(size_t align, size_t n)
{
	return counted(__libc_memalign(align, n));
}

void free(void *p)
{
	uncounted(p);
	__libc_free(p);
}

void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
	atomic_fetch_add(&calls, 1);
	if (prot != PROT_NONE) /* address space alone is not memory */
		atomic_fetch_add(&bytes, (int64_t)len);
	return (void *)syscall(SYS_mmap, addr, len, prot, flags, fd, off);
}

/* Address space that was reserved becomes memory. */
int mprotect(void *addr, size_t len, int prot)
{
	atomic_fetch_add(&calls, 1);
	if (prot != PROT_NONE)
		atomic_fetch_add(&bytes, (int64_t)len);
	return (int)syscall(SYS_mprotect, addr, len, prot);
}

int munmap(void *addr, size_t len)
{
	atomic_fetch_sub(&bytes, (int64_t)len);
	return (int)syscall(SYS_munmap, addr, len);
}
#endif
