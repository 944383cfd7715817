/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every command with every kind of wrong in it, made from the layout table and the recipes. Two devices get the same good
 * commands; one gets the bad ones besides. As long as nothing bad changes anything, both answer alike to the last bit.
 * What a bad command answers is derived by rule (lists.c: what the kernel lets pass), never recorded.
 */
#ifndef MATRIX_H
#define MATRIX_H

#include <infiniband/mlx5dv.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kit.h"
#include "recipes.h"

#define BOX_MAX 65536u
#define HDR 16u

/* The calls that carry a command. */
enum call { CALL_CREATE, CALL_QUERY, CALL_MODIFY, CALL_ASYNC, CALL_GENERAL, N_CALLS };
extern const char *const call_names[N_CALLS];

/* One command of the matrix. */
struct row {
	enum rcp_id what; /* RCP_N: of no object */
	enum call call;
	const struct rcp_cmd *cmd;
	unsigned int step; /* of a modify: how many come before it */
	uint8_t status;    /* that the device answers to the good one */
};

#define ROWS_MAX 512
extern struct row rows[ROWS_MAX];
extern unsigned int n_rows;
void rows_make(void);
const char *row_name(const struct row *r); /* of the last call only */

/* A device with a context, an object of each kind, and a second context, whose objects are foreign to the first. */
struct side {
	struct ibv_device *dev;
	struct ibv_context *ctx, *other;
	struct kit kit, foreign;
	struct mlx5dv_devx_cmd_comp *comp;
	struct mlx5dv_devx_obj *obj[RCP_N], *foreign_obj[RCP_N];
	uint32_t id[RCP_N], foreign_id[RCP_N];
	struct mlx5dv_devx_obj *scratch; /* of the row that runs: what a modify changes */
	uint32_t scratch_id;
};

struct twin {
	struct side bad, good;
};

void twin_open(struct twin *t, const char *spec);
void twin_close(struct twin *t);
/* Nothing differs: queries of all objects, ids that are given next. */
void twin_same(struct twin *t);

/* What a call gave. */
struct answer {
	int err;
	uint8_t status;
	uint32_t syndrome;
	bool rest_zero; /* of the outbox, past status and syndrome */
	bool untouched; /* the outbox is as it was */
	struct mlx5dv_devx_obj *made;
	uint8_t out[BOX_MAX];
};

/* The call with exactly these boxes; a comes back filled. Nothing past the outbox may change, nothing in the inbox. */
void run(struct side *s, enum call call, struct mlx5dv_devx_obj *obj, const void *in, size_t inlen, size_t outlen, struct answer *a);
/* The inbox of a row that a device accepts; its objects are made. Returns the object that it works on. */
struct mlx5dv_devx_obj *row_ready(struct side *s, const struct row *r, uint8_t *in);
void row_done(struct side *s, const struct row *r); /* the object is given back, when the row had its own */
/* Undoes a create that succeeded, and says so in the count of objects ever made. */
void unmake(struct answer *a);

/* Checks. They say where they are, count, and go on. */
extern unsigned int n_cases, n_bad;
void at(const char *format, ...) __attribute__((format(printf, 1, 2))); /* names the case that follows */
void expect(bool ok, const char *format, ...) __attribute__((format(printf, 2, 3)));
void expect_refused(const struct answer *a, int err);          /* before the device: the outbox is untouched */
void expect_device(const struct answer *a, int status);        /* by the device; -1: any status but 0 */
void expect_good(const struct row *r, const struct answer *a);

/* lists.c: what facts/devx-abi.md, section 4, says of the kernel, written down once more for the matrix. */
bool kernel_lists(enum call call, uint16_t opcode);
uint16_t kernel_creator(uint16_t opcode); /* of the object that a query or a modify is for; 0 */

/* Kinds of wrong. */
void wrong_lengths(struct twin *t);
void wrong_headers(struct twin *t);
void wrong_ids(struct twin *t);
void wrong_calls(struct twin *t);
void wrong_pointers(struct twin *t);
void wrong_lives(void);
void undefined_bits(struct twin *t, bool strict);
void wrong_destroys(void);

#endif
