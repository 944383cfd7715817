/* SPDX-License-Identifier: BSD-2-Clause */
#include "recipes.h"
#include "prm_gen.h"

const struct recipe *const recipes[RCP_N] = {
#define RCP(upper, lower) &rcp_##lower,
	RCP_LIST
#undef RCP
};

uint64_t rcp_get(const void *box, struct rcp_place place)
{
	const uint8_t *p = box;
	uint64_t v = 0;

	for (uint32_t i = place.bit; i < place.bit + place.width; i++)
		v = v << 1 | (p[i / 8] >> (7 - i % 8) & 1);
	return v;
}

void rcp_set(void *box, struct rcp_place place, uint64_t value)
{
	uint8_t *p = box;

	for (uint32_t i = place.bit + place.width; i-- > place.bit; value >>= 1)
		p[i / 8] = (uint8_t)((p[i / 8] & ~(0x80u >> i % 8)) | (value & 1 ? 0x80u >> i % 8 : 0));
}

static void fill_field(const struct rcp_field *f, const struct rcp_env *env, uint32_t serial, void *in)
{
	struct rcp_place at = { f->bit, f->width };

	switch (f->kind) {
	case RCP_VALUE:
		rcp_set(in, at, f->value);
		break;
	case RCP_PARENT:
	case RCP_OPTIONAL:
		rcp_set(in, at, env->id[f->value]);
		break;
	case RCP_SERIAL:
		rcp_set(in, at, f->value + env->apart + serial);
		break;
	case RCP_FIRST:
		if (!serial)
			rcp_set(in, at, f->value);
		break;
	case RCP_LATER:
		if (serial)
			rcp_set(in, at, f->value + serial);
		break;
	case RCP_EQN:
		rcp_set(in, at, env->eqn);
		break;
	case RCP_MTTS:
		for (uint32_t i = 0; i < f->width / 64; i++) /* low bits: readable and writable */
			rcp_set(in, (struct rcp_place){ f->bit + i * 64, 64 }, (env->mem + i * 4096) | 3);
		break;
	}
}

void rcp_fill(const struct rcp_cmd *cmd, const struct rcp_env *env, uint32_t self, uint32_t serial, void *in)
{
	rcp_set(in, (struct rcp_place){ PRM_F_nop_in__opcode }, cmd->opcode);
	rcp_set(in, (struct rcp_place){ PRM_F_nop_in__op_mod }, cmd->op_mod);
	for (const struct rcp_field *f = cmd->fields; f < cmd->fields + RCP_FIELDS_MAX && f->width; f++)
		fill_field(f, env, serial, in);
	if (self)
		rcp_set(in, cmd->id, self);
}

enum rcp_id rcp_parent(const struct rcp_cmd *cmd, unsigned int *at)
{
	while (*at < RCP_FIELDS_MAX && cmd->fields[*at].width) {
		const struct rcp_field *f = &cmd->fields[(*at)++];

		if (f->kind == RCP_PARENT || f->kind == RCP_OPTIONAL)
			return (enum rcp_id)f->value;
	}
	return RCP_N;
}
