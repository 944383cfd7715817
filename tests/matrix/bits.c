/* SPDX-License-Identifier: BSD-2-Clause */
/* Every bit of an inbox that no layout defines: with strict the device names it, else it does as if it were 0. */
#include "matrix.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "prm.h"

#define HEADER_BITS 64u /* opcode, uid, tunnel id, op_mod: the kernel's and the dispatch's */

static uint8_t in[BOX_MAX], defined[BOX_MAX], out_defined[BOX_MAX];
static struct answer a;

static void mark(uint8_t *map, uint32_t bit, uint32_t bits, uint32_t end)
{
	for (; bits && bit < end; bit++, bits--)
		map[bit / 8] |= (uint8_t)(0x80u >> bit % 8);
}

/* The bits of a layout at base that mean something, up to end. A list of any length takes all that follows. */
static void mark_layout(uint8_t *map, const struct prm_layout *l, uint32_t base, uint32_t end)
{
	for (unsigned int i = 0; i < l->n_fields; i++) {
		const struct prm_field *f = &l->fields[i];
		const struct prm_layout *inner = f->nested >= 0 ? &prm_layouts[f->nested] : NULL;
		uint32_t bit = base + f->bit;

		for (uint32_t n = 0; bit < end && (!f->count || n < f->count); n++, bit += f->width) {
			if (!f->width || (!f->count && !inner)) {
				mark(map, bit, end - bit, end);
				break;
			}
			if (inner && inner->n_fields)
				mark_layout(map, inner, bit, end);
			else
				mark(map, bit, f->width, end);
		}
	}
}

/*
 * A mask of what a modify changes. Its undefined bits ask for something that the device does not know, which it may refuse:
 * passing them over would be a change that silently did not happen.
 */
static bool selects(const char *name, uint32_t bit)
{
	const struct prm_layout *l = prm_layout(name);

	for (unsigned int i = 0; l && i < l->n_fields; i++) {
		const struct prm_field *f = &l->fields[i];

		if (f->nested >= 0 && strstr(prm_layouts[f->nested].name, "bitmask") && bit >= f->bit && bit < f->bit + f->width)
			return true;
	}
	return false;
}

/* Layouts one behind the other: A+B. */
static void map_of(uint8_t *map, const char *names, uint32_t len)
{
	uint32_t base = 0;

	memset(map, 0, len);
	while (*names) {
		size_t n = strcspn(names, "+");
		char name[96] = { 0 };
		const struct prm_layout *l;

		memcpy(name, names, n < sizeof(name) ? n : sizeof(name) - 1);
		l = prm_layout(name);
		expect(l != NULL, "layout %s is in the table", name);
		if (l)
			mark_layout(map, l, base, len * 8);
		base += l ? l->bits : 0;
		names += n + (names[n] == '+');
	}
}

/* The outbox of the query of a recipe. */
static void map_outbox(const struct recipe *r)
{
	const char *in_name = r->query.layout, *context = strchr(r->create.layout, '+');
	char name[128];

	if (context)
		snprintf(name, sizeof(name), "general_obj_out_cmd_hdr%s", context);
	else
		snprintf(name, sizeof(name), "%.*sout", (int)strlen(in_name) - 2, in_name); /* .._in */
	if (context || prm_layout(name)) /* else no public source has it, and all counts */
		map_of(out_defined, name, r->query.outlen);
}

static bool is_defined(uint32_t bit)
{
	return defined[bit / 8] & 0x80u >> bit % 8;
}

static void strict_bit(struct twin *t, const struct row *r, struct mlx5dv_devx_obj *obj, uint32_t bit)
{
	at("%s, strict, bit 0x%x", row_name(r), bit);
	in[bit / 8] ^= (uint8_t)(0x80u >> bit % 8);
	run(&t->bad, r->call, obj, in, r->cmd->inlen, r->cmd->outlen, &a);
	expect_device(&a, 3); /* BAD_PARAM */
	expect(a.err != EREMOTEIO || a.syndrome == (0x0d500000u | bit), "the syndrome names the bit; it was 0x%x", a.syndrome);
	unmake(&a);
	in[bit / 8] ^= (uint8_t)(0x80u >> bit % 8);
}

static void row_strict(struct twin *t, const struct row *r)
{
	struct mlx5dv_devx_obj *obj = row_ready(&t->bad, r, in);

	for (uint32_t bit = HEADER_BITS; bit < r->cmd->inlen * 8; bit++)
		if (!is_defined(bit))
			strict_bit(t, r, obj, bit);
	at("%s, strict, nothing undefined", row_name(r));
	run(&t->bad, r->call, obj, in, r->cmd->inlen, r->cmd->outlen, &a);
	expect_good(r, &a);
	unmake(&a);
	row_done(&t->bad, r);
}

/* What the object that the row made or changed answers to a query, undefined bits left out. */
static void look(struct twin *t, const struct row *r, uint8_t *seen)
{
	uint32_t id;
	struct mlx5dv_devx_obj *obj = r->call == CALL_CREATE ? a.made : t->bad.scratch;

	memset(seen, 0, KIT_BOX);
	if (r->what == RCP_N || !obj || !recipes[r->what]->query.opcode)
		return;
	id = r->call != CALL_CREATE ? t->bad.scratch_id : (uint32_t)rcp_get(recipes[r->what]->named ? in : a.out, r->cmd->id);
	expect(!kit_query(&t->bad.kit, r->what, obj, id, seen), "it answers a query");
	for (uint32_t i = 0; i < recipes[r->what]->query.outlen; i++)
		seen[i] &= out_defined[i];
}

/* The row once, with a bit set or (0) without. False: the device refused to change what it does not know. */
static bool once(struct twin *t, const struct row *r, uint32_t bit, uint8_t *out, uint8_t *seen)
{
	struct mlx5dv_devx_obj *obj = row_ready(&t->bad, r, in);
	bool unknown;

	at("%s, bit 0x%x", row_name(r), bit);
	in[bit / 8] ^= (uint8_t)(bit ? 0x80u >> bit % 8 : 0);
	run(&t->bad, r->call, obj, in, r->cmd->inlen, r->cmd->outlen, &a);
	unknown = a.err == EREMOTEIO && selects(r->cmd->layout, bit);
	if (unknown)
		expect_device(&a, -1);
	else
		expect_good(r, &a);
	memcpy(out, a.out, r->cmd->outlen);
	look(t, r, seen);
	unmake(&a);
	row_done(&t->bad, r);
	return !unknown;
}

static void row_ignored(struct twin *t, const struct row *r)
{
	static uint8_t out[2][KIT_BOX], seen[2][KIT_BOX];

	memset(out_defined, 0xff, sizeof(out_defined));
	if (r->what < RCP_N && recipes[r->what]->query.opcode)
		map_outbox(recipes[r->what]);
	once(t, r, 0, out[0], seen[0]);
	for (uint32_t bit = HEADER_BITS; bit < r->cmd->inlen * 8; bit++) {
		if (is_defined(bit))
			continue;
		if (!once(t, r, bit, out[1], seen[1]))
			continue;
		expect(!memcmp(out[0], out[1], r->cmd->outlen), "the outbox is the same");
		expect(!memcmp(seen[0], seen[1], KIT_BOX), "a query shows the same");
	}
}

void undefined_bits(struct twin *t, bool strict)
{
	for (const struct row *r = rows; r < rows + n_rows; r++) {
		if (r->cmd->layout[0] == '?')
			continue;
		at("%s", row_name(r));
		map_of(defined, r->cmd->layout, r->cmd->inlen);
		if (strict)
			row_strict(t, r);
		else
			row_ignored(t, r);
		twin_same(t);
	}
}
