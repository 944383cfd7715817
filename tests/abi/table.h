/* SPDX-License-Identifier: BSD-2-Clause */
/* The exports that pass on what is not ours, as data: from the tables that define them. */
#ifndef ABI_TABLE_H
#define ABI_TABLE_H

#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>

#include "newer.h"

#undef ibv_query_port
#undef ibv_reg_mr
#undef ibv_reg_mr_iova

enum conv { PTR, ERR, M1, NEG, ZERO, DEL, VOID };
enum kind { CTX, OBJ, QPEX, DEV, DEVX, NEVER };

struct row {
	const char *name;
	void (*fn)(void);
	enum conv conv;
	enum kind kind;
	bool mlx5;
	int n_args;
};

#define CTX(h) CTX
#define OBJ(h) OBJ
#define QPEX(h) QPEX
#define DEV(h) DEV
#define DEVX(h) DEVX
#define NEVER(h) NEVER
#define COUNT(...) COUNT_(__VA_ARGS__, 6, 5, 4, 3, 2, 1, 0)
#define COUNT_(a, b, c, d, e, f, n, ...) n
#define IBV(version, conv, handle, ret, name, params, args) \
	{ #name, (void (*)(void))name, conv, handle, false, COUNT args },
#define MLX(version, conv, handle, ret, name, params, args) \
	{ #name, (void (*)(void))name, conv, handle, true, COUNT args },

static const struct row rows[] = {
#include "pass_ibverbs.tbl"
#include "pass_mlx5.tbl"
};

#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

#undef CTX
#undef OBJ
#undef QPEX
#undef DEV
#undef DEVX
#undef NEVER

/* An object of rdma-core, as far as it is public: the context comes first. */
struct object {
	struct ibv_context *context;
	char rest[1024];
};

/* Every argument and result of these functions fits a register. */
static inline long call(const struct row *row, void *handle, const long arg[6])
{
	return ((long (*)(long, long, long, long, long, long))row->fn)((long)handle, arg[1], arg[2], arg[3], arg[4], arg[5]);
}

/* Did it fail with err, in its own way? */
static inline bool failed(enum conv conv, long ret, int err)
{
	switch (conv) {
	case PTR:
		return !ret && errno == err;
	case ZERO:
		return !(int)ret && errno == err;
	case ERR:
	case DEL:
		return (int)ret == err && errno == err;
	case M1:
		return (int)ret == -1 && errno == err;
	case NEG:
		return ret == -err && errno == err;
	case VOID:
		return errno == err;
	}
	return false;
}

#endif
