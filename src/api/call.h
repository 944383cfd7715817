/* SPDX-License-Identifier: BSD-2-Clause */
/* What every exported call shares: how it passes on what is not ours, and how it fails. */
#ifndef ODX_CALL_H
#define ODX_CALL_H

#include <errno.h>
#include <stddef.h>

#include "next.h"
#include "own.h"

/* libmlx5's definition of this function; when there is none, the handle is nobody's. */
#define NEXT(name, version, none, ...) NEXT_OF(odx_next_mlx5, name, version, none, __VA_ARGS__)
/* The same in libibverbs. */
#define NEXT_IBV(name, version, none, ...) NEXT_OF(odx_next_ibverbs, name, version, none, __VA_ARGS__)
#define NEXT_OF(find, name, version, none, ...)                                                                      \
	do {                                                                                                         \
		__typeof__(&(name)) next_ = (__typeof__(&(name)))find(#name, version);                               \
		if (next_)                                                                                           \
			return next_(__VA_ARGS__);                                                                   \
		errno = EINVAL;                                                                                      \
		return none;                                                                                         \
	} while (0)
/* For a function that returns nothing. */
#define NEXT_VOID(name, version, ...)                                                                                \
	do {                                                                                                         \
		__typeof__(&(name)) next_ = (__typeof__(&(name)))odx_next_mlx5(#name, version);                      \
		if (next_)                                                                                           \
			next_(__VA_ARGS__);                                                                          \
		else                                                                                                 \
			errno = EINVAL;                                                                              \
	} while (0)

/* libmlx5's ioctl leaves errno set beside the returned value; programs print it. */
static inline int result(int err)
{
	if (err)
		errno = err;
	return err;
}

/* The other way to fail: -1 with errno. */
static inline int minus_one(int err)
{
	errno = err;
	return -1;
}

/* NULL with errno. */
static inline void *null_with(int err)
{
	errno = err;
	return NULL;
}

#endif
