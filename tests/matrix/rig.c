/* SPDX-License-Identifier: BSD-2-Clause */
/* Two devices side by side, and one call on one of them. */
#include "matrix.h"

#include <errno.h>
#include <opendevx/soft.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void need(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "matrix: cannot go on: %s: %s\n", what, strerror(errno));
	exit(1);
}

static bool has_handle(int what)
{
	return !recipes[what]->by_call;
}

static struct ibv_context *open_devx(struct ibv_device *dev)
{
	struct mlx5dv_context_attr attr = { .flags = MLX5DV_CONTEXT_FLAGS_DEVX };

	return mlx5dv_open_device(dev, &attr);
}

/* All that any command refers to, so that both devices make them at the same time. */
static void parents(struct kit *k)
{
	for (const struct row *r = rows; r < rows + n_rows; r++)
		need(!kit_parents(k, r->cmd), row_name(r));
}

static void objects(struct kit *k, struct mlx5dv_devx_obj **obj, uint32_t *id)
{
	for (int i = 0; i < RCP_N; i++) {
		obj[i] = has_handle(i) ? kit_create(k, (enum rcp_id)i, &id[i], NULL) : NULL;
		need(obj[i] || !has_handle(i), recipes[i]->name);
	}
}

static void side_open(struct side *s, const char *spec)
{
	memset(s, 0, sizeof(*s));
	s->dev = odx_soft_create(spec);
	need(s->dev, "odx_soft_create");
	s->ctx = open_devx(s->dev);
	s->other = open_devx(s->dev);
	need(s->ctx && s->other, "open");
	need(!kit_open(&s->kit, s->ctx) && !kit_open(&s->foreign, s->other), "kit");
	s->foreign.env.apart = 500;
	s->comp = mlx5dv_devx_create_cmd_comp(s->ctx);
	need(s->comp, "create_cmd_comp");
	parents(&s->kit);
	parents(&s->foreign);
	objects(&s->kit, s->obj, s->id);
	objects(&s->foreign, s->foreign_obj, s->foreign_id);
}

/* Everything can still be given back: nothing bad took a reference or an object away. */
static void side_close(struct side *s)
{
	at("the end");
	for (int i = RCP_N; i-- > 0;) {
		expect(mlx5dv_devx_obj_destroy(s->obj[i]) == 0, "%s is given back", recipes[i]->name);
		expect(mlx5dv_devx_obj_destroy(s->foreign_obj[i]) == 0, "the foreign %s is given back", recipes[i]->name);
	}
	expect(kit_close(&s->kit) == 0, "the shared objects are given back");
	expect(kit_close(&s->foreign) == 0, "the foreign shared objects are given back");
	mlx5dv_devx_destroy_cmd_comp(s->comp);
	expect(ibv_close_device(s->other) == 0 && ibv_close_device(s->ctx) == 0, "the contexts close");
	expect(odx_soft_destroy(s->dev) == 0, "the device is destroyed");
}

void twin_open(struct twin *t, const char *spec)
{
	side_open(&t->bad, spec);
	side_open(&t->good, spec);
}

void twin_close(struct twin *t)
{
	side_close(&t->bad);
	side_close(&t->good);
}

static void same_query(struct twin *t, enum rcp_id i)
{
	static uint8_t bad[KIT_BOX], good[KIT_BOX];
	int err[2];

	if (!recipes[i]->query.opcode)
		return;
	memset(bad, 0, sizeof(bad));
	memset(good, 0, sizeof(good));
	err[0] = kit_query(&t->bad.kit, i, t->bad.obj[i], t->bad.id[i], bad);
	err[1] = kit_query(&t->good.kit, i, t->good.obj[i], t->good.id[i], good);
	expect(!err[0] && !err[1] && !memcmp(bad, good, sizeof(bad)), "%s answers a query as before", recipes[i]->name);
	err[0] = kit_query(&t->bad.foreign, i, t->bad.foreign_obj[i], t->bad.foreign_id[i], bad);
	err[1] = kit_query(&t->good.foreign, i, t->good.foreign_obj[i], t->good.foreign_id[i], good);
	expect(!err[0] && !err[1] && !memcmp(bad, good, sizeof(bad)), "the foreign %s answers a query as before", recipes[i]->name);
}

/* Not counted in made: what is destroyed at once may be made with the same serial again. */
static struct mlx5dv_devx_obj *create_uncounted(struct kit *k, enum rcp_id i, uint32_t *id, void *out)
{
	struct mlx5dv_devx_obj *obj = kit_create(k, i, id, out);

	if (obj)
		k->made[i]--;
	return obj;
}

static void same_next(struct twin *t, enum rcp_id i)
{
	static uint8_t bad[KIT_BOX], good[KIT_BOX];
	uint32_t id[2];
	struct mlx5dv_devx_obj *obj[2];

	memset(bad, 0, sizeof(bad));
	memset(good, 0, sizeof(good));
	obj[0] = create_uncounted(&t->bad.kit, i, &id[0], bad);
	obj[1] = create_uncounted(&t->good.kit, i, &id[1], good);
	expect(obj[0] && obj[1] && !memcmp(bad, good, sizeof(bad)), "the next %s has the same id (0x%x, 0x%x)", recipes[i]->name,
	       (unsigned int)rcp_get(bad, recipes[i]->create.id), (unsigned int)rcp_get(good, recipes[i]->create.id));
	for (int n = 0; n < 2; n++)
		expect(mlx5dv_devx_obj_destroy(obj[n]) == 0, "the next %s is given back", recipes[i]->name);
}

void twin_same(struct twin *t)
{
	for (int i = 0; i < RCP_N; i++) {
		if (!has_handle(i))
			continue;
		same_query(t, (enum rcp_id)i);
		same_next(t, (enum rcp_id)i);
	}
}

static int take_record(struct side *s, struct answer *a, size_t outlen)
{
	static struct {
		uint64_t wr_id;
		uint8_t out[BOX_MAX];
	} rec;
	int err = mlx5dv_devx_get_async_cmd_comp(s->comp, (struct mlx5dv_devx_async_cmd_hdr *)&rec, sizeof(rec));

	if (!err)
		memcpy(a->out, rec.out, outlen);
	return err ? err : a->out[0] ? EREMOTEIO : 0;
}

static int issue(struct side *s, enum call call, struct mlx5dv_devx_obj *obj, void *in, size_t inlen, size_t outlen,
		 struct answer *a)
{
	int err;

	switch (call) {
	case CALL_CREATE:
		a->made = mlx5dv_devx_obj_create(s->ctx, in, inlen, a->out, outlen);
		return a->made ? 0 : errno;
	case CALL_QUERY:
		return mlx5dv_devx_obj_query(obj, in, inlen, a->out, outlen);
	case CALL_MODIFY:
		return mlx5dv_devx_obj_modify(obj, in, inlen, a->out, outlen);
	case CALL_ASYNC:
		err = mlx5dv_devx_obj_query_async(obj, in, inlen, outlen, 1, s->comp);
		return err ? err : take_record(s, a, outlen);
	default:
		return mlx5dv_devx_general_cmd(s->ctx, in, inlen, a->out, outlen);
	}
}

void run(struct side *s, enum call call, struct mlx5dv_devx_obj *obj, const void *in, size_t inlen, size_t outlen, struct answer *a)
{
	uint8_t *copy = malloc(inlen ? inlen : 1); /* to the byte: a sanitizer sees what reads past it */
	size_t watched = outlen + 64 < BOX_MAX ? outlen + 64 : BOX_MAX, kept = watched;
	struct rcp_place syndrome = { 32, 32 };

	need(copy, "memory");
	memcpy(copy, in, inlen);
	memset(a->out, 0xa5, watched);
	a->made = NULL;
	errno = 0;
	a->err = issue(s, call, obj, copy, inlen, outlen, a);
	n_cases++;
	expect(!memcmp(copy, in, inlen), "the inbox is left alone");
	free(copy);
	while (kept && a->out[kept - 1] == 0xa5)
		kept--;
	a->untouched = kept == 0;
	expect(kept <= outlen, "nothing is written past the outbox");
	a->status = a->out[0];
	a->syndrome = (uint32_t)rcp_get(a->out, syndrome);
	a->rest_zero = !a->out[1] && !a->out[2] && !a->out[3];
	for (size_t i = 8; i < outlen && i < BOX_MAX; i++)
		a->rest_zero &= !a->out[i];
}

struct mlx5dv_devx_obj *row_ready(struct side *s, const struct row *r, uint8_t *in)
{
	static uint8_t out[KIT_BOX];
	uint32_t id = 0;

	memset(in, 0, r->cmd->inlen);
	s->scratch = NULL;
	if (r->call == CALL_MODIFY) {
		s->scratch = create_uncounted(&s->kit, r->what, &s->scratch_id, NULL);
		need(s->scratch, "an object to modify");
		for (unsigned int i = 0; i < r->step; i++) {
			int err = kit_modify(&s->kit, r->what, i, s->scratch, s->scratch_id, out);
			int want = recipes[r->what]->modify[i].status ? EREMOTEIO : 0;

			expect(err == want, "step %u of %s works", i, recipes[r->what]->name);
		}
		id = s->scratch_id;
	} else if (r->call == CALL_QUERY || r->call == CALL_ASYNC) {
		id = s->id[r->what];
	}
	rcp_fill(r->cmd, &s->kit.env, id, r->what < RCP_N ? s->kit.made[r->what] : 0, in);
	return s->scratch ? s->scratch : r->what < RCP_N ? s->obj[r->what] : NULL;
}

void row_done(struct side *s, const struct row *r)
{
	if (s->scratch)
		expect(mlx5dv_devx_obj_destroy(s->scratch) == 0, "the object of %s is given back", row_name(r));
	s->scratch = NULL;
}

void unmake(struct answer *a)
{
	if (a->made)
		expect(mlx5dv_devx_obj_destroy(a->made) == 0, "what was made is given back");
	a->made = NULL;
}
