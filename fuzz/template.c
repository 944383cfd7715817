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
	for (unsigned int i = 0; rcp_general[i].opcode; i++)
		add(&rcp_general[i], RCP_N);
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

/* The id that the command names; a create names none. */
static uint32_t self_of(const struct rcp_cmd *cmd, const struct live *l)
{
	for (unsigned int i = 0; i < template_commands(); i++)
		if (all[i] == cmd && of[i] != RCP_N && cmd != &recipes[of[i]]->create)
			return l->env.id[of[i]];
	return 0;
}

void template_fill(const struct rcp_cmd *cmd, struct prm_box *in, const struct live *l, uint64_t mem, uint32_t serial)
{
	uint8_t box[BOX_MAX] = { 0 };
	struct rcp_env env = l->env;

	FUZZ_CHECK(cmd->inlen <= sizeof(box));
	env.mem = mem;
	rcp_fill(cmd, &env, self_of(cmd, l), serial, box);
	/* What the kernel forces on is the program's business here: a recipe sets it. */
	memcpy(in->p, box, in->len < cmd->inlen ? in->len : cmd->inlen);
}

static uint32_t make(struct hca *h, const struct rcp_cmd *cmd, bool named, const struct live *l)
{
	uint8_t in[BOX_MAX] = { 0 }, out[BOX_MAX];

	rcp_fill(cmd, &l->env, 0, 0, in);
	hca_execute(h, in, cmd->inlen, out, cmd->outlen);
	FUZZ_CHECK(!out[0]); /* the recipes are right */
	return (uint32_t)rcp_get(named ? in : out, cmd->id);
}

static void ask_caps(struct hca *h, const struct live *l, struct rcp_caps *caps, unsigned int which)
{
	const struct rcp_cmd *cmd = &rcp_caps_cmds[which];
	uint8_t in[BOX_MAX] = { 0 }, out[BOX_MAX];

	rcp_fill(cmd, &l->env, 0, 0, in);
	hca_execute(h, in, cmd->inlen, out, cmd->outlen);
	FUZZ_CHECK(!out[0]);
	rcp_caps_take(caps, which, out);
}

/* Parents come before what refers to them. */
void template_setup(struct hca *h, struct live *l, uint64_t mem)
{
	struct rcp_caps caps;

	memset(l, 0, sizeof(*l));
	l->env.eqn = HCA_FIRST_EQN;
	l->env.mem = mem;
	for (unsigned int i = 0; i < 2; i++)
		ask_caps(h, l, &caps, i);
	for (int i = 0; i < RCP_N; i++)
		if (rcp_offered((enum rcp_id)i, &caps))
			l->env.id[i] = make(h, &recipes[i]->create, recipes[i]->named, l);
}
