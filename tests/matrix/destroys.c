/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The commands that a program cannot send itself, on the model: every destroy as the kernel builds it, and umems. Wrong
 * lengths, ids, uids, header fields and bits; destroying what is in use, and twice.
 */
#include "matrix.h"

#include <stdlib.h>
#include <string.h>

#include "hca.h"
#include "prm.h"

#define MEM 0x100000u

static struct hca *h;
static uint16_t uids[2];
static struct rcp_env env[2];
static uint8_t in[BOX_MAX], out[BOX_MAX];

static bool no_memory(void *host, uint64_t addr, void *dst, size_t len)
{
	return false;
}

static bool no_write(void *host, uint64_t addr, const void *src, size_t len)
{
	return false;
}

static void no_event(void *host_, const struct hca_event *ev)
{
}

static void no_interrupt(void *host_, uint32_t eqn, uint32_t vector)
{
}

static uint32_t no_doorbell(void *host_, uint32_t eqn, uint32_t uar_page, uint32_t offset)
{
	return 0;
}

static const struct hca_host host = { .read = no_memory, .write = no_write, .event = no_event, .interrupt = no_interrupt,
	.doorbell = no_doorbell };

/* Status; the rest of the outbox is looked at too. */
static int command(uint32_t inlen, uint32_t outlen, int want)
{
	struct rcp_place syndrome = { 32, 32 };
	bool zero = true;

	memset(out, 0xa5, outlen + 64);
	hca_execute(h, in, inlen, out, outlen);
	n_cases++;
	for (uint32_t i = outlen; i < outlen + 64; i++)
		zero &= out[i] == 0xa5;
	expect(zero, "nothing is written past the outbox");
	expect(want < 0 ? out[0] != 0 : out[0] == want, "status 0x%x; it was 0x%x", want, out[0]);
	for (uint32_t i = 8; out[0] && i < outlen; i++)
		zero &= !out[i];
	expect(zero, "a refusal leaves the outbox zero");
	expect(!out[0] == !rcp_get(out, syndrome), "there is a syndrome exactly with a status");
	return out[0];
}

static void fill(const struct rcp_cmd *cmd, int who, uint32_t self, uint32_t serial)
{
	memset(in, 0, cmd->inlen);
	rcp_fill(cmd, &env[who], self, serial, in);
	rcp_set(in, (struct rcp_place){ 16, 16 }, uids[who]);
}

static uint32_t make(enum rcp_id what, int who, uint32_t serial);

static void parents(const struct rcp_cmd *cmd, int who)
{
	unsigned int i = 0;
	enum rcp_id p;

	while ((p = rcp_parent(cmd, &i)) != RCP_N)
		if (!env[who].id[p])
			env[who].id[p] = make(p, who, 0);
}

static uint32_t make(enum rcp_id what, int who, uint32_t serial)
{
	const struct rcp_cmd *cmd = &recipes[what]->create;

	parents(cmd, who);
	fill(cmd, who, 0, serial);
	command(cmd->inlen, cmd->outlen, 0);
	return (uint32_t)rcp_get(recipes[what]->named ? in : out, cmd->id);
}

static void new_user(int who)
{
	memset(in, 0, HDR);
	rcp_set(in, (struct rcp_place){ PRM_F_nop_in__opcode }, PRM_OP_CREATE_UCTX);
	command(PRM_SZ_create_uctx_in, PRM_SZ_create_uctx_out, 0);
	uids[who] = (uint16_t)rcp_get(out, (struct rcp_place){ PRM_F_create_uctx_out__uid });
	memset(&env[who], 0, sizeof(env[who]));
	env[who].eqn = HCA_FIRST_EQN;
	env[who].mem = MEM;
	env[who].apart = who * 500u;
}

static void lengths(enum rcp_id what, uint32_t id)
{
	const struct rcp_cmd *d = &recipes[what]->destroy;

	for (uint32_t len = 0; len < d->inlen; len++) {
		at("%s, inlen %u", d->layout, len);
		fill(d, 0, id, 1);
		command(len, d->outlen, 0x50);
	}
	for (uint32_t len = 0; len < d->outlen; len++) {
		at("%s, outlen %u", d->layout, len);
		fill(d, 0, id, 1);
		memset(out, 0, sizeof(out));
		hca_execute(h, in, d->inlen, out, len);
		n_cases++;
		expect(!len || out[0] == 0x51, "status 0x51; it was 0x%x", out[0]);
	}
}

static void ids(enum rcp_id what, uint32_t id, uint32_t foreign)
{
	const struct rcp_cmd *d = &recipes[what]->destroy;
	uint64_t wrong[] = { 0, (UINT64_C(1) << d->id.width) - 1, id + 1000, foreign };

	for (size_t i = 0; d->id.width && i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		at("%s, id 0x%llx", d->layout, (unsigned long long)wrong[i]);
		fill(d, 0, id, 1);
		rcp_set(in, d->id, wrong[i]);
		command(d->inlen, d->outlen, -1);
	}
	at("%s, the other's uid", d->layout);
	fill(d, 0, id, 1);
	rcp_set(in, (struct rcp_place){ 16, 16 }, uids[1]);
	command(d->inlen, d->outlen, -1);
	at("%s, no uid of any context", d->layout);
	rcp_set(in, (struct rcp_place){ 16, 16 }, 0x7777);
	command(d->inlen, d->outlen, -1);
	at("%s, uid 0xffff", d->layout);
	rcp_set(in, (struct rcp_place){ 16, 16 }, 0xffff);
	command(d->inlen, d->outlen, -1);
	at("%s, op_mod", d->layout);
	fill(d, 0, id, 1);
	rcp_set(in, (struct rcp_place){ PRM_F_nop_in__op_mod }, 0x7ffe);
	command(d->inlen, d->outlen, -1);
}

/* While another object refers to it. */
static void in_use(void)
{
	for (int i = 0; i < RCP_N; i++) {
		const struct rcp_cmd *d = &recipes[i]->destroy;

		if (!env[0].id[i])
			continue;
		at("%s, in use", d->layout);
		fill(d, 0, env[0].id[i], 0);
		command(d->inlen, d->outlen, -1);
	}
}

void wrong_destroys(void)
{
	struct hca_config cfg = { .timeout = 1000, .profile = HCA_CX7 }; /* it has all types */
	uint32_t id[RCP_N], foreign[RCP_N];

	h = hca_new(&cfg, &host, NULL);
	expect(h != NULL, "there is a model");
	for (int who = 0; who < 2; who++)
		new_user(who);
	for (int i = 0; i < RCP_N; i++) {
		at("%s, made for destroys", recipes[i]->name);
		id[i] = make((enum rcp_id)i, 0, 1);
		foreign[i] = make((enum rcp_id)i, 1, 2);
	}
	in_use();
	for (int i = RCP_N; i-- > 0;) {
		const struct rcp_cmd *d = &recipes[i]->destroy;

		if (!d->opcode)
			continue;
		lengths((enum rcp_id)i, id[i]);
		ids((enum rcp_id)i, id[i], foreign[i]);
		at("%s", d->layout);
		fill(d, 0, id[i], 1);
		command(d->inlen, d->outlen, 0);
		at("%s, twice", d->layout);
		fill(d, 0, id[i], 1);
		command(d->inlen, d->outlen, -1);
		at("%s, made again", recipes[i]->name);
		expect(make((enum rcp_id)i, 0, 1) == id[i], "the id that was given back comes next");
		fill(d, 0, id[i], 1);
		command(d->inlen, d->outlen, 0);
		fill(d, 1, foreign[i], 2);
		at("%s of the other context", d->layout);
		command(d->inlen, d->outlen, 0);
	}
	hca_free(h);
}
