/* SPDX-License-Identifier: BSD-2-Clause */
#include "recipes.h"
#include "prm_gen.h"
#include "table.h"

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
	case RCP_KEY:
		rcp_set(in, at, (uint64_t)env->id[f->value] << 8 | RCP_MKEY_TAG);
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

		if (f->kind == RCP_PARENT || f->kind == RCP_OPTIONAL || f->kind == RCP_KEY)
			return (enum rcp_id)f->value;
	}
	return RCP_N;
}

/* The current values of the general page and of its second part (0x20). Linux, include/linux/mlx5/device.h. */
const struct rcp_cmd rcp_caps_cmds[2] = {
	{ "query_hca_cap_in", PRM_OP_QUERY_HCA_CAP, 0x00 << 1 | 1, PRM_SZ_query_hca_cap_in, PRM_SZ_query_hca_cap_out,
	  { 0, 0 }, NO_FIELDS },
	{ "query_hca_cap_in", PRM_OP_QUERY_HCA_CAP, 0x20 << 1 | 1, PRM_SZ_query_hca_cap_in, PRM_SZ_query_hca_cap_out,
	  { 0, 0 }, NO_FIELDS },
};

void rcp_caps_take(struct rcp_caps *caps, unsigned int which, const void *out)
{
	const struct rcp_place low = PLACE_IN(query_hca_cap_out, capability, cmd_hca_cap, general_obj_types);
	const struct rcp_place high = PLACE_IN(query_hca_cap_out, capability, cmd_hca_cap_2, general_obj_types_127_64);
	const struct rcp_place geneve = PLACE_IN(query_hca_cap_out, capability, cmd_hca_cap, max_geneve_tlv_options);

	caps->types[which] = rcp_get(out, which ? high : low);
	if (!which)
		caps->geneve_tlv = (uint32_t)rcp_get(out, geneve);
}

static bool has_type(const struct rcp_caps *caps, uint16_t type)
{
	return type < 128 && caps->types[type / 64] >> type % 64 & 1;
}

bool rcp_offered(enum rcp_id what, const struct rcp_caps *caps)
{
	const struct recipe *r = recipes[what];
	unsigned int at = 0;
	enum rcp_id parent;

	if (r->create.opcode == PRM_OP_CREATE_GENERAL_OBJECT && !has_type(caps, r->create.op_mod))
		return false;
	if (r->needs && !has_type(caps, r->needs))
		return false;
	if (what == RCP_GENEVE_TLV && caps->geneve_tlv < r->max)
		return false;
	while ((parent = rcp_parent(&r->create, &at)) != RCP_N)
		if (!rcp_offered(parent, caps))
			return false;
	return true;
}
