/* SPDX-License-Identifier: BSD-2-Clause */
/* Ids that are not what the command needs: zero, the largest, another object's, another type's, another context's. */
#include "matrix.h"

#include <errno.h>
#include <string.h>

static uint8_t in[BOX_MAX];
static struct answer a;

static uint64_t largest(uint32_t width)
{
	return width >= 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
}

/* A query or a modify whose inbox names another object than the handle: the kernel's to refuse. */
static void named(struct twin *t, const struct row *r, const char *what, uint64_t id)
{
	struct mlx5dv_devx_obj *obj = row_ready(&t->bad, r, in);
	uint64_t own = rcp_get(in, r->cmd->id);

	rcp_set(in, r->cmd->id, id);
	if (rcp_get(in, r->cmd->id) != own) {
		at("%s, its id is %s", row_name(r), what);
		run(&t->bad, r->call, obj, in, r->cmd->inlen, r->cmd->outlen, &a);
		expect_refused(&a, EINVAL);
	}
	row_done(&t->bad, r);
}

/* The right inbox on the handle of another object, of this type or another. */
static void handle(struct twin *t, const struct row *r)
{
	row_ready(&t->bad, r, in);
	for (int i = 0; i < RCP_N; i++) {
		struct mlx5dv_devx_obj *other = t->bad.obj[i];

		if (i == (int)r->what)
			other = r->call == CALL_MODIFY ? t->bad.obj[i] : t->bad.foreign_obj[i];
		if (!other)
			continue;
		at("%s, on the handle of a %s", row_name(r), recipes[i]->name);
		if (r->call == CALL_ASYNC && i == (int)r->what) {
			/* Object and completion of two contexts. */
			run(&t->bad, r->call, other, in, r->cmd->inlen, r->cmd->outlen, &a);
			expect_refused(&a, EBADF);
			continue;
		}
		run(&t->bad, r->call, other, in, r->cmd->inlen, r->cmd->outlen, &a);
		expect_refused(&a, EINVAL);
	}
	row_done(&t->bad, r);
}

static enum rcp_id space(enum rcp_id what)
{
	return recipes[what]->space ? recipes[what]->space : what;
}

/* An id that no object of the recipe has, but one of another kind. */
static uint32_t of_another_type(const struct side *s, enum rcp_id what)
{
	for (int i = 0; i < RCP_N; i++) {
		bool taken = space((enum rcp_id)i) == space(what) || !s->id[i];

		taken |= s->id[i] == s->id[what] || s->id[i] == s->kit.env.id[what];
		taken |= s->id[i] == s->foreign_id[what] || s->id[i] == s->foreign.env.id[what];
		if (!taken)
			return s->id[i];
	}
	return 0;
}

/* What a field refers to, wrong. */
static void referred(struct twin *t, const struct row *r, const struct rcp_field *f, const char *what, uint64_t id)
{
	struct rcp_place place = { f->bit, f->width };
	struct mlx5dv_devx_obj *obj = row_ready(&t->bad, r, in);
	uint64_t own = rcp_get(in, place);

	rcp_set(in, place, id);
	if (rcp_get(in, place) != own && rcp_get(in, place) == id) {
		at("%s, the %s at bit 0x%x is %s (0x%llx)", row_name(r), recipes[f->value]->name, f->bit, what,
		   (unsigned long long)id);
		run(&t->bad, r->call, obj, in, r->cmd->inlen, r->cmd->outlen, &a);
		expect_device(&a, -1);
		unmake(&a);
	}
	row_done(&t->bad, r);
}

static void references(struct twin *t, const struct row *r)
{
	for (const struct rcp_field *f = r->cmd->fields; f < r->cmd->fields + RCP_FIELDS_MAX && f->width; f++) {
		enum rcp_id what = (enum rcp_id)f->value;
		uint32_t other;

		if (f->kind != RCP_PARENT && f->kind != RCP_OPTIONAL && f->kind != RCP_KEY)
			continue;
		if (f->kind != RCP_OPTIONAL)
			referred(t, r, f, "0", 0);
		referred(t, r, f, "the largest", largest(f->width));
		if (f->kind == RCP_KEY) {
			referred(t, r, f, "another context's", t->bad.foreign.env.id[what] << 8 | RCP_MKEY_TAG);
			referred(t, r, f, "of another tag", t->bad.kit.env.id[what] << 8 | (RCP_MKEY_TAG ^ 1));
			continue;
		}
		referred(t, r, f, "another context's", t->bad.foreign.env.id[what]);
		other = of_another_type(&t->bad, what);
		if (other)
			referred(t, r, f, "another type's", other);
	}
}

/* The kernel looks an EQ up before the device does. */
static void eqns(struct twin *t, const struct row *r)
{
	for (const struct rcp_field *f = r->cmd->fields; f < r->cmd->fields + RCP_FIELDS_MAX && f->width; f++) {
		uint64_t wrong[] = { 0, largest(f->width), 0x1000 };

		for (size_t i = 0; f->kind == RCP_EQN && i < sizeof(wrong) / sizeof(wrong[0]); i++) {
			struct mlx5dv_devx_obj *obj = row_ready(&t->bad, r, in);

			at("%s, eqn 0x%llx", row_name(r), (unsigned long long)wrong[i]);
			rcp_set(in, (struct rcp_place){ f->bit, f->width }, wrong[i]);
			run(&t->bad, r->call, obj, in, r->cmd->inlen, r->cmd->outlen, &a);
			expect_refused(&a, ENOENT);
			unmake(&a);
			row_done(&t->bad, r);
		}
	}
}

void wrong_ids(struct twin *t)
{
	for (const struct row *r = rows; r < rows + n_rows; r++) {
		if (r->call == CALL_QUERY || r->call == CALL_MODIFY || r->call == CALL_ASYNC) {
			named(t, r, "0", 0);
			named(t, r, "the largest", largest(r->cmd->id.width));
			named(t, r, "another object's", r->call == CALL_MODIFY ? t->bad.id[r->what] : t->bad.kit.env.id[r->what]);
			named(t, r, "another context's", t->bad.foreign_id[r->what]);
			handle(t, r);
		}
		references(t, r);
		if (r->call == CALL_CREATE)
			eqns(t, r);
		twin_same(t);
	}
}
