/* SPDX-License-Identifier: BSD-2-Clause */
/* Lengths, headers and pointers. */
#include "matrix.h"

#include <errno.h>
#include <string.h>

#include "prm.h"

static const struct rcp_place OPCODE = { PRM_F_nop_in__opcode }, UID = { 16, 16 }, TUNNEL = { 32, 16 },
			      OP_MOD = { PRM_F_nop_in__op_mod };

static uint8_t in[2 * BOX_MAX];
static struct answer a;

static bool on_object(const struct row *r)
{
	return r->call == CALL_QUERY || r->call == CALL_MODIFY || r->call == CALL_ASYNC;
}

#define MKEY_CHECKED 80 /* the end of the context in CREATE_MKEY's inbox: Linux, devx.c, devx_handle_mkey_create() */

/* What the kernel demands of an inbox before it looks at more than the header; 0 or EINVAL. */
static int kernel_length(const struct row *r, uint32_t len)
{
	if (len < HDR || len >= BOX_MAX)
		return EINVAL;
	if (r->cmd->opcode == PRM_OP_CREATE_MKEY && len < MKEY_CHECKED)
		return EINVAL;
	/* Ours: an inbox that cannot hold its object's id (the kernel reads past it). */
	if (on_object(r) && r->cmd->id.bit + r->cmd->id.width > len * 8)
		return EINVAL;
	return 0;
}

static uint32_t layout_bytes(const char *name)
{
	const struct prm_layout *l = prm_layout(name);

	return l ? l->bits / 8 : HDR;
}

static void in_length(struct twin *t, const struct row *r, uint32_t len)
{
	struct mlx5dv_devx_obj *obj = row_ready(&t->bad, r, in);

	at("%s, inlen %u of %u", row_name(r), len, r->cmd->inlen);
	memset(in + r->cmd->inlen, 0, sizeof(in) - r->cmd->inlen);
	run(&t->bad, r->call, obj, in, len, r->cmd->outlen, &a);
	if (kernel_length(r, len))
		expect_refused(&a, EINVAL);
	else if (len < r->cmd->inlen) /* BAD_INP_LEN; of a list that is cut short, its own refusal */
		expect_device(&a, len < layout_bytes(r->cmd->layout) ? 0x50 : -1);
	else
		expect_good(r, &a);
	unmake(&a);
	row_done(&t->bad, r);
}

static void out_length(struct twin *t, const struct row *r, uint32_t len)
{
	struct mlx5dv_devx_obj *obj = row_ready(&t->bad, r, in);

	/* An asynchronous command has no shortest outbox; one that cannot hold the status shows nothing. */
	if (r->call == CALL_ASYNC && len < HDR) {
		row_done(&t->bad, r);
		return;
	}
	at("%s, outlen %u of %u", row_name(r), len, r->cmd->outlen);
	run(&t->bad, r->call, obj, in, r->cmd->inlen, len, &a);
	if (len < HDR || len >= BOX_MAX)
		expect_refused(&a, EINVAL);
	else if (len < r->cmd->outlen)
		expect_device(&a, 0x51); /* BAD_OUTP_LEN */
	else
		expect_good(r, &a);
	unmake(&a);
	row_done(&t->bad, r);
}

void wrong_lengths(struct twin *t)
{
	for (const struct row *r = rows; r < rows + n_rows; r++) {
		const uint32_t ins[] = { 0, 1, 15, 16, 17, r->cmd->inlen - 1, r->cmd->inlen, r->cmd->inlen + 1, 65535, 65536 };
		const uint32_t outs[] = { 0, 1, 15, 16, 17, r->cmd->outlen - 1, r->cmd->outlen, r->cmd->outlen + 1, 65535, 65536 };

		for (size_t i = 0; i < sizeof(ins) / sizeof(ins[0]); i++) {
			in_length(t, r, ins[i]);
			out_length(t, r, outs[i]);
		}
		twin_same(t);
	}
}

/* op_mod has no meaning there, or only one: another value is the device's to refuse. */
static void op_mod(struct twin *t, const struct row *r, uint16_t value)
{
	struct mlx5dv_devx_obj *obj = row_ready(&t->bad, r, in);

	at("%s, op_mod 0x%x", row_name(r), value);
	rcp_set(in, OP_MOD, value);
	run(&t->bad, r->call, obj, in, r->cmd->inlen, r->cmd->outlen, &a);
	/* The kernel has it in the identity of a general object; SET_FLOW_TABLE_ENTRY creates with 0 only, and modifies with 1. */
	if ((r->cmd->opcode & 0xfffc) == PRM_OP_CREATE_GENERAL_OBJECT && on_object(r))
		expect_refused(&a, EINVAL);
	else if (r->cmd->opcode == PRM_OP_SET_FLOW_TABLE_ENTRY)
		expect_refused(&a, EINVAL);
	else
		expect_device(&a, -1);
	unmake(&a);
	row_done(&t->bad, r);
}

/* The kernel puts the context's own uid there. */
static void uid(struct twin *t, const struct row *r, uint16_t value)
{
	struct mlx5dv_devx_obj *obj = row_ready(&t->bad, r, in);

	at("%s, uid 0x%x", row_name(r), value);
	rcp_set(in, UID, value);
	run(&t->bad, r->call, obj, in, r->cmd->inlen, r->cmd->outlen, &a);
	expect_good(r, &a);
	unmake(&a);
	row_done(&t->bad, r);
}

static void tunnel(struct twin *t, const struct row *r, uint16_t value)
{
	struct mlx5dv_devx_obj *obj = row_ready(&t->bad, r, in);

	at("%s, vhca_tunnel_id 0x%x", row_name(r), value);
	rcp_set(in, TUNNEL, value);
	run(&t->bad, r->call, obj, in, r->cmd->inlen, r->cmd->outlen, &a);
	expect_refused(&a, EINVAL);
	unmake(&a);
	row_done(&t->bad, r);
}

void wrong_headers(struct twin *t)
{
	for (const struct row *r = rows; r < rows + n_rows; r++) {
		op_mod(t, r, 0x7ffe);
		op_mod(t, r, 0xffff);
		uid(t, r, 1);
		uid(t, r, 2); /* the other context's */
		uid(t, r, 0xffff);
		tunnel(t, r, 1);
		tunnel(t, r, 0xffff);
		twin_same(t);
	}
}

static void null_boxes(struct side *s, const struct row *r, struct mlx5dv_devx_obj *obj)
{
	uint8_t out[KIT_BOX];
	size_t inlen = r->cmd->inlen, outlen = r->cmd->outlen;

	n_cases += 3;
	switch (r->call) {
	case CALL_CREATE:
		expect(!mlx5dv_devx_obj_create(NULL, in, inlen, out, outlen) && errno == EINVAL, "no context is EINVAL");
		expect(!mlx5dv_devx_obj_create(s->ctx, NULL, inlen, out, outlen) && errno == EINVAL, "no inbox is EINVAL");
		expect(!mlx5dv_devx_obj_create(s->ctx, in, inlen, NULL, outlen) && errno == EINVAL, "no outbox is EINVAL");
		break;
	case CALL_QUERY:
		expect(mlx5dv_devx_obj_query(NULL, in, inlen, out, outlen) == EINVAL, "no object is EINVAL");
		expect(mlx5dv_devx_obj_query(obj, NULL, inlen, out, outlen) == EINVAL, "no inbox is EINVAL");
		expect(mlx5dv_devx_obj_query(obj, in, inlen, NULL, outlen) == EINVAL, "no outbox is EINVAL");
		break;
	case CALL_MODIFY:
		expect(mlx5dv_devx_obj_modify(NULL, in, inlen, out, outlen) == EINVAL, "no object is EINVAL");
		expect(mlx5dv_devx_obj_modify(obj, NULL, inlen, out, outlen) == EINVAL, "no inbox is EINVAL");
		expect(mlx5dv_devx_obj_modify(obj, in, inlen, NULL, outlen) == EINVAL, "no outbox is EINVAL");
		break;
	case CALL_ASYNC:
		expect(mlx5dv_devx_obj_query_async(NULL, in, inlen, outlen, 1, s->comp) == EINVAL, "no object is EINVAL");
		expect(mlx5dv_devx_obj_query_async(obj, NULL, inlen, outlen, 1, s->comp) == EINVAL, "no inbox is EINVAL");
		expect(mlx5dv_devx_obj_query_async(obj, in, inlen, outlen, 1, NULL) == EINVAL, "no completion is EINVAL");
		break;
	default:
		expect(mlx5dv_devx_general_cmd(NULL, in, inlen, out, outlen) == EINVAL, "no context is EINVAL");
		expect(mlx5dv_devx_general_cmd(s->ctx, NULL, inlen, out, outlen) == EINVAL, "no inbox is EINVAL");
		expect(mlx5dv_devx_general_cmd(s->ctx, in, inlen, NULL, outlen) == EINVAL, "no outbox is EINVAL");
	}
}

void wrong_pointers(struct twin *t)
{
	for (const struct row *r = rows; r < rows + n_rows; r++) {
		struct mlx5dv_devx_obj *obj = row_ready(&t->bad, r, in);

		at("%s, NULL", row_name(r));
		null_boxes(&t->bad, r, obj);
		row_done(&t->bad, r);
	}
	twin_same(t);
}

/* An opcode that the call does not list, with everything else right. */
static void opcode_through(struct twin *t, enum call call, struct mlx5dv_devx_obj *obj, uint16_t opcode)
{
	at("opcode 0x%x through %s", opcode, call_names[call]);
	rcp_set(in, OPCODE, opcode);
	run(&t->bad, call, obj, in, 64, 64, &a);
	expect_refused(&a, EINVAL);
	unmake(&a);
}

void wrong_calls(struct twin *t)
{
	struct rcp_place dw2 = { 64, 32 }, dw7 = { 224, 32 };

	memset(in, 0, sizeof(in));
	for (uint32_t opcode = 0; opcode <= 0xffff; opcode += opcode < 0x1000 ? 1 : 0xfff) {
		if (!kernel_lists(CALL_CREATE, (uint16_t)opcode))
			opcode_through(t, CALL_CREATE, NULL, (uint16_t)opcode);
		if (!kernel_lists(CALL_GENERAL, (uint16_t)opcode))
			opcode_through(t, CALL_GENERAL, NULL, (uint16_t)opcode);
		for (int i = 0; i < RCP_N; i++) {
			if (!t->bad.obj[i])
				continue;
			rcp_set(in, dw2, t->bad.id[i]);
			rcp_set(in, dw7, t->bad.id[i]);
			for (enum call c = CALL_QUERY; c <= CALL_ASYNC; c++)
				if (!kernel_lists(c, (uint16_t)opcode) ||
				    kernel_creator((uint16_t)opcode) != recipes[i]->create.opcode)
					opcode_through(t, c, t->bad.obj[i], (uint16_t)opcode);
			memset(in, 0, 64);
		}
	}
	twin_same(t);
	/* What the kernel takes as a create only with these: CREATE_PSV of one, SET_FLOW_TABLE_ENTRY that does not modify. */
	for (uint32_t n = 0; n < 16; n++) {
		if (n == 1)
			continue;
		rcp_set(in, (struct rcp_place){ PRM_F_create_psv_in__num_psv }, n);
		opcode_through(t, CALL_CREATE, NULL, PRM_OP_CREATE_PSV);
	}
	memset(in, 0, 64);
	rcp_set(in, OP_MOD, 1);
	opcode_through(t, CALL_CREATE, NULL, PRM_OP_SET_FLOW_TABLE_ENTRY);
	twin_same(t);
}
