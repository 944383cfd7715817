/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "fuzz.h"
#include "template.h"

#define BOX_MAX 16384u

/* Not a program's, but the model takes them. */
static const struct rcp_cmd drivers[] = {
	{ .layout = "create_uctx_in", .opcode = PRM_OP_CREATE_UCTX, .inlen = PRM_SZ_create_uctx_in,
	  .outlen = PRM_SZ_create_uctx_out },
	{ .layout = "destroy_uctx_in", .opcode = PRM_OP_DESTROY_UCTX, .inlen = PRM_SZ_destroy_uctx_in,
	  .outlen = PRM_SZ_destroy_uctx_out, .fields = { { PRM_F_destroy_uctx_in__uid, RCP_VALUE, 1 } } },
};

static const struct rcp_cmd *all[RCP_N * (RCP_MODIFIES_MAX + RCP_QUERIES_MAX + 3) + 64];
static enum rcp_id of[sizeof(all) / sizeof(all[0])]; /* the recipe of each; RCP_N: none */
static unsigned int n_all;

static void add(const struct rcp_cmd *cmd, enum rcp_id what)
{
	if (!cmd->opcode)
		return;
	FUZZ_CHECK(n_all < sizeof(all) / sizeof(all[0]));
	of[n_all] = what;
	all[n_all++] = cmd;
}

static void collect(void)
{
	for (int i = 0; i < RCP_N; i++) {
		add(&recipes[i]->create, (enum rcp_id)i);
		add(&recipes[i]->query, (enum rcp_id)i);
		add(&recipes[i]->destroy, (enum rcp_id)i);
		for (unsigned int m = 0; m < RCP_MODIFIES_MAX; m++)
			add(&recipes[i]->modify[m].cmd, (enum rcp_id)i);
		for (unsigned int m = 0; m < RCP_QUERIES_MAX; m++)
			add(&recipes[i]->more[m].cmd, (enum rcp_id)i);
	}
	for (unsigned int i = 0; rcp_general[i].cmd.opcode; i++)
		add(&rcp_general[i].cmd, RCP_N);
	for (unsigned int i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++)
		add(&drivers[i], RCP_N);
}

unsigned int template_commands(void)
{
	if (!n_all)
		collect();
	return n_all;
}

const struct rcp_cmd *template_command(unsigned int i)
{
	return all[i % template_commands()];
}

const struct prm_layout *template_layout(const struct rcp_cmd *cmd, bool second, uint32_t *base)
{
	const char *plus = strchr(cmd->layout, '+');
	const struct prm_layout *l;
	char name[96];

	snprintf(name, sizeof(name), "%.*s", plus ? (int)(plus - cmd->layout) : (int)sizeof(name) - 1, cmd->layout);
	l = prm_layout(name);
	if (!plus || !second)
		return l;
	*base = l->bits / 8;
	return prm_layout(plus + 1);
}

/* The recipe whose object the command names; RCP_N: none, as of a create. */
static enum rcp_id named_by(const struct rcp_cmd *cmd)
{
	for (unsigned int i = 0; i < template_commands(); i++)
		if (all[i] == cmd)
			return of[i] == RCP_N || cmd == &recipes[of[i]]->create ? RCP_N : of[i];
	return RCP_N;
}

static void need(struct hca *h, struct live *l, enum rcp_id what);

static void need_parents(struct hca *h, struct live *l, const struct rcp_cmd *cmd)
{
	unsigned int at = 0;
	enum rcp_id parent;

	while ((parent = rcp_parent(cmd, &at)) != RCP_N)
		need(h, l, parent);
}

/* Made once, and not again when the input has destroyed it. What the input did may be in the way: then there is none. */
static void need(struct hca *h, struct live *l, enum rcp_id what)
{
	const struct rcp_cmd *cmd = &recipes[what]->create;
	uint8_t in[BOX_MAX], out[BOX_MAX];

	if (l->tried[what] || !rcp_offered(what, &l->caps))
		return;
	l->tried[what] = true;
	need_parents(h, l, cmd);
	memset(in, 0, cmd->inlen);
	rcp_fill(cmd, &l->env, 0, 0, in);
	hca_execute(h, in, cmd->inlen, out, cmd->outlen);
	if (!out[0])
		l->env.id[what] = (uint32_t)rcp_get(recipes[what]->named ? in : out, cmd->id);
}

void template_fill(struct hca *h, const struct rcp_cmd *cmd, struct prm_box *in, struct live *l, uint64_t mem, uint32_t serial)
{
	enum rcp_id self = named_by(cmd);
	uint8_t box[BOX_MAX];
	struct rcp_env env;

	FUZZ_CHECK(cmd->inlen <= sizeof(box));
	need_parents(h, l, cmd);
	if (self != RCP_N)
		need(h, l, self);
	env = l->env;
	env.mem = mem;
	memset(box, 0, cmd->inlen);
	rcp_fill(cmd, &env, self != RCP_N ? env.id[self] : 0, serial, box);
	memcpy(in->p, box, in->len < cmd->inlen ? in->len : cmd->inlen);
}

static void ask_caps(struct hca *h, struct live *l, unsigned int which)
{
	const struct rcp_cmd *cmd = &rcp_caps_cmds[which];
	uint8_t in[BOX_MAX] = { 0 }, out[BOX_MAX];

	rcp_fill(cmd, &l->env, 0, 0, in);
	hca_execute(h, in, cmd->inlen, out, cmd->outlen);
	FUZZ_CHECK(!out[0]);
	rcp_caps_take(&l->caps, which, out);
}

void template_begin(struct hca *h, struct live *l, uint64_t mem)
{
	memset(l, 0, sizeof(*l));
	l->env.eqn = HCA_FIRST_EQN;
	l->env.mem = mem;
	for (unsigned int i = 0; i < 2; i++)
		ask_caps(h, l, i);
}
