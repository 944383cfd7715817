/* SPDX-License-Identifier: BSD-2-Clause */
#include "matrix.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *const call_names[N_CALLS] = {
	[CALL_CREATE] = "obj_create", [CALL_QUERY] = "obj_query", [CALL_MODIFY] = "obj_modify", [CALL_ASYNC] = "obj_query_async",
	[CALL_GENERAL] = "general_cmd",
};

struct row rows[ROWS_MAX];
unsigned int n_rows, n_cases, n_bad;

static char where[256];

void at(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(where, sizeof(where), format, ap);
	va_end(ap);
}

void expect(bool ok, const char *format, ...)
{
	va_list ap;

	if (ok)
		return;
	if (n_bad++ >= 50)
		return;
	printf("%s: not so: ", where);
	va_start(ap, format);
	vprintf(format, ap);
	va_end(ap);
	printf("\n");
}

void expect_refused(const struct answer *a, int err)
{
	expect(a->err == err, "refused with errno %d; it was %d, status 0x%x", err, a->err, a->untouched ? 0 : a->status);
	expect(a->untouched, "the outbox is untouched");
}

void expect_device(const struct answer *a, int status)
{
	expect(a->err == EREMOTEIO, "refused by the device; errno was %d", a->err);
	if (a->err != EREMOTEIO)
		return;
	expect(a->status && (status < 0 || a->status == status), "status 0x%x; it was 0x%x", status, a->status);
	expect(a->syndrome != 0, "there is a syndrome");
	expect(a->rest_zero, "the rest of the outbox is zero");
}

void expect_good(const struct row *r, const struct answer *a)
{
	if (r->status) {
		expect_device(a, r->status);
		return;
	}
	expect(a->err == 0, "it succeeds; errno was %d, status 0x%x, syndrome 0x%x", a->err, a->status, a->syndrome);
	expect(a->err || !a->status, "status is 0");
}

static void add(enum rcp_id what, enum call call, const struct rcp_cmd *cmd, unsigned int step, uint8_t status)
{
	expect(n_rows < ROWS_MAX, "there is room for every row");
	if (cmd->opcode && n_rows < ROWS_MAX)
		rows[n_rows++] = (struct row){ what, call, cmd, step, status };
}

void rows_make(void)
{
	for (int i = 0; i < RCP_N; i++) {
		if (recipes[i]->by_call) /* its command is the driver's: wrong_destroys */
			continue;
		add((enum rcp_id)i, CALL_CREATE, &recipes[i]->create, 0, 0);
		add((enum rcp_id)i, CALL_QUERY, &recipes[i]->query, 0, 0);
		add((enum rcp_id)i, CALL_ASYNC, &recipes[i]->query, 0, 0);
		for (unsigned int m = 0; m < RCP_MODIFIES_MAX; m++)
			add((enum rcp_id)i, CALL_MODIFY, &recipes[i]->modify[m].cmd, m, recipes[i]->modify[m].status);
		for (unsigned int m = 0; m < RCP_QUERIES_MAX; m++) {
			add((enum rcp_id)i, CALL_QUERY, &recipes[i]->more[m].cmd, 0, recipes[i]->more[m].status);
			add((enum rcp_id)i, CALL_ASYNC, &recipes[i]->more[m].cmd, 0, recipes[i]->more[m].status);
		}
	}
	for (unsigned int i = 0; rcp_general[i].cmd.opcode; i++)
		add(RCP_N, CALL_GENERAL, &rcp_general[i].cmd, 0, rcp_general[i].status);
}

const char *row_name(const struct row *r)
{
	static char name[128];

	snprintf(name, sizeof(name), "%s through %s", r->cmd->layout, call_names[r->call]);
	return name;
}

static void part(const char *name, void (*fn)(struct twin *t), struct twin *t)
{
	unsigned int cases = n_cases, bad = n_bad;

	fn(t);
	printf("%s: %u cases, %u wrong\n", name, n_cases - cases, n_bad - bad);
	fflush(stdout);
}

static void bits_strict(struct twin *t)
{
	undefined_bits(t, true);
}

static void bits_ignored(struct twin *t)
{
	undefined_bits(t, false);
}

static void lives(struct twin *t)
{
	wrong_lives();
}

static void destroys(struct twin *t)
{
	wrong_destroys();
}

int main(void)
{
	static struct twin t;

	rows_make();
	twin_open(&t, "inline,profile=cx7");
	part("lengths", wrong_lengths, &t);
	part("headers", wrong_headers, &t);
	part("ids", wrong_ids, &t);
	part("calls", wrong_calls, &t);
	part("pointers", wrong_pointers, &t);
	part("undefined bits, ignored", bits_ignored, &t);
	twin_close(&t);
	fclose(stderr); /* strict says there what it refuses, each time */
	twin_open(&t, "inline,strict,profile=cx7");
	part("undefined bits, strict", bits_strict, &t);
	twin_close(&t);
	part("ends of lives", lives, NULL);
	part("destroys", destroys, NULL);
	printf("%u rows, %u cases, %u wrong\n", n_rows, n_cases, n_bad);
	return n_bad != 0;
}
