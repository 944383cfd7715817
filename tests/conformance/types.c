/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The same questions to each type of object, made by the recipes of tests/recipes. A type that gets a recipe gets these
 * cases; what is a type's own is in the files of the types.
 */
#include "conf.h"
#include "objects.h"

static void lives(int what)
{
	const struct recipe *r = recipes[what];
	struct kit *k = kit_on(context());
	uint8_t *out = zeroed(KIT_BOX);
	uint32_t id;
	struct mlx5dv_devx_obj *obj = make(k, what, &id);

	if (r->query.opcode)
		CHECK_EQ(kit_query(k, what, obj, id, out), 0);
	for (unsigned int i = 0; i < RCP_MODIFIES_MAX && r->modify[i].cmd.opcode; i++) {
		const struct rcp_modify *m = &r->modify[i];

		NOTE("opcode 0x%x", m->cmd.opcode);
		memset(out, 0, KIT_BOX);
		CHECK_EQ(kit_modify(k, what, i, obj, id, out), m->status ? EREMOTEIO : 0);
		CHECK_EQ(status_of(out), m->status);
		if (!r->query.opcode || !m->seen.width)
			continue;
		CHECK_EQ(kit_query(k, what, obj, id, out), 0);
		CHECK_EQ(rcp_get(out, m->seen), m->value);
	}
	CHECK_EQ(destroy(obj), 0);
}

#define NAMING_SZ 64u /* what of an inbox tells opcode and object */

/* An inbox of any command with the object's id where the kernel looks for it, or for what it does not know in every place. */
static void name_object(uint8_t *in, const struct recipe *r, uint32_t op, const struct listed_op *row, uint32_t id)
{
	memset(in, 0, NAMING_SZ); /* behind it all is 0 */
	set_opcode(in, (uint16_t)op);
	set_op_mod(in, op == PRM_OP_SET_FLOW_TABLE_ENTRY ? 1 : r->create.op_mod);
	if (row) {
		CHECK(row->bit + row->width <= NAMING_SZ * 8);
		set_bits(in, row->bit, row->width, id);
		return;
	}
	SET(in, general_obj_in_cmd_hdr, obj_id, id);
	SET(in, query_flow_counter_in, flow_counter_id, id);
}

#define LAST_OPCODE 0x1000u /* what is above has no meaning */

/* Of the opcodes that no list has, a type takes one in eight. */
static bool has_turn(uint32_t op, int what)
{
	return op % 8 == (uint32_t)what % 8;
}

static void commands(int what)
{
	const struct recipe *r = recipes[what];
	struct kit *k = kit_on(context());
	uint8_t *in = zeroed(KIT_BOX), *out = zeroed(KIT_BOX);
	uint32_t id;
	struct mlx5dv_devx_obj *obj = make(k, what, &id);

	for (uint32_t op = 0; op <= LAST_OPCODE; op++) {
		const struct listed_op *query = find_op(listed_queries, op), *modify = find_op(listed_modifies, op);
		int err;

		if (!query && !modify && !has_turn(op, what))
			continue;
		NOTE_OPCODE(op);
		name_object(in, r, op, query, id);
		err = mlx5dv_devx_obj_query(obj, in, KIT_BOX, out, KIT_BOX);
		if (!query || query->creator != r->create.opcode)
			CHECK_EQ(err, EINVAL);
		else if (err)
			CHECK_EQ(err, EREMOTEIO);
		name_object(in, r, op, modify, id);
		err = mlx5dv_devx_obj_modify(obj, in, KIT_BOX, out, KIT_BOX);
		if (!modify || modify->creator != r->create.opcode)
			CHECK_EQ(err, EINVAL);
		else if (err)
			CHECK_EQ(err, EREMOTEIO);
	}
}

static void queries(int what)
{
	const struct recipe *r = recipes[what];
	struct ibv_context *ctx = context();
	struct mlx5dv_devx_cmd_comp *comp = new_comp(ctx);
	struct kit *k = kit_on(ctx);
	uint8_t *in = zeroed(KIT_BOX), *out = zeroed(KIT_BOX);
	struct record *rec = zeroed(sizeof(*rec));
	uint32_t id, n;
	struct mlx5dv_devx_obj *obj = make(k, what, &id);

	for (uint32_t op = 0; op <= LAST_OPCODE; op++) {
		const struct listed_op *query = find_op(listed_queries, op);
		bool ours = query && query->creator == r->create.opcode;

		if (!query && !has_turn(op, what))
			continue;
		NOTE_OPCODE(op);
		name_object(in, r, op, query, id);
		CHECK_EQ(mlx5dv_devx_obj_query_async(obj, in, KIT_BOX, KIT_BOX, op, comp), ours ? 0 : EINVAL);
		if (!ours)
			continue;
		n = mlx5dv_devx_obj_query(obj, in, KIT_BOX, out, KIT_BOX) ? HDR_SZ : KIT_BOX;
		get_ready(comp, rec);
		CHECK_EQ(rec->wr_id, op);
		CHECK_MEM(rec->out, out, n); /* what the synchronous query says */
	}
	expect_none(comp);
}

static void other_id(int what)
{
	const struct recipe *r = recipes[what];
	struct kit *k = kit_on(context());
	uint8_t *out = zeroed(KIT_BOX);
	uint32_t one, two;
	struct mlx5dv_devx_obj *a = make(k, what, &one), *b = make(k, what, &two);

	if (!r->query.opcode && !r->modify[0].cmd.opcode)
		return;
	CHECK_NE(one, two);
	if (r->query.opcode) {
		CHECK_EQ(kit_query(k, what, a, two, out), EINVAL);
		CHECK_EQ(kit_query(k, what, b, one, out), EINVAL);
		CHECK_EQ(kit_query(k, what, a, one, out), 0);
	}
	if (r->modify[0].cmd.opcode)
		CHECK_EQ(kit_modify(k, what, 0, a, two, out), EINVAL);
}

static void destroys(int what)
{
	const struct recipe *r = recipes[what];
	struct ibv_device *dev = soft("");
	struct kit *k = kit_on(open_devx(dev));
	uint32_t id;
	struct mlx5dv_devx_obj *obj = make(k, what, &id);

	fault(dev, "opcode=0x%x nth=1 status=0x6", r->destroy.opcode);
	CHECK_EQ(destroy(obj), EBUSY);
	CHECK_EQ(destroy(obj), 0);
	fault(dev, "clear");
}

static void parents_stay(int what)
{
	const struct rcp_cmd *cmd = &recipes[what]->create;
	struct kit *k = kit_on(context());
	unsigned int at = 0;
	enum rcp_id parent;
	uint32_t id;

	make(k, what, &id);
	while ((parent = rcp_parent(cmd, &at)) != RCP_N) {
		if (parent == RCP_UAR) /* its end says nothing */
			continue;
		NOTE("the %s", recipes[parent]->name);
		CHECK_EQ(kit_destroy(parent, k->shared[parent]), EINVAL);
	}
}

static void foreign_parents(int what)
{
	const struct rcp_cmd *cmd = &recipes[what]->create;
	struct kit *mine = kit_on(context()), *other = kit_on(context());
	uint8_t *in = zeroed(KIT_BOX), *out = zeroed(KIT_BOX);
	unsigned int at = 0;
	enum rcp_id parent;
	uint32_t id;

	make(mine, what, &id);
	CHECK_EQ(kit_parents(other, cmd), 0);
	while ((parent = rcp_parent(cmd, &at)) != RCP_N) {
		struct rcp_env env = mine->env;

		NOTE("the %s", recipes[parent]->name);
		env.id[parent] = other->env.id[parent];
		memset(in, 0, KIT_BOX);
		rcp_fill(cmd, &env, 0, 77, in);
		refuse(mine->ctx, in, cmd->inlen, out, cmd->outlen, EREMOTEIO);
		CHECK_NE(status_of(out), 0);
	}
}

static void left_behind(int what)
{
	struct ibv_context *ctx = context();
	struct kit *k = zeroed(sizeof(*k));
	uint32_t id;

	CHECK_EQ(kit_open(k, ctx), 0);
	own(k->mem, free);
	for (int i = 0; i < 3; i++)
		disown(make(k, what, &id));
	CHECK_EQ(close_context(ctx), 0);
}

/* The first one lets a real device say that it makes none. */
static void one_buffer(int what)
{
	const struct rcp_cmd *cmd = &recipes[what]->create;
	struct kit *k = kit_on(context());
	uint8_t *box = zeroed(KIT_BOX);
	uint32_t id;

	CHECK_EQ(destroy(make(k, what, &id)), 0);
	rcp_fill(cmd, &k->env, 0, k->made[what]++, box);
	CHECK_EQ(destroy(own(mlx5dv_devx_obj_create(k->ctx, box, cmd->inlen, box, cmd->outlen), end_obj)), 0);
}

static bool has_parents(const struct recipe *r)
{
	unsigned int at = 0;

	return rcp_parent(&r->create, &at) != RCP_N;
}

static const struct {
	const char *like, *fact, *what; /* TYPE stands for the type */
	unsigned int needs;
	bool parents; /* only for types that refer to something */
	void (*run)(int what);
} questions[] = {
	{ "TYPE_lives", "devx-abi 4", "A TYPE is created and destroyed, and its query shows what its modifies changed.", ANY, false,
	  lives },
	{ "TYPE_takes_its_commands", "devx-abi 4",
	  "A TYPE takes the queries and modifies of the kernel's lists; any other opcode gives EINVAL.", ANY, false, commands },
	{ "TYPE_takes_its_queries_asynchronously", "devx-abi 5",
	  "A TYPE takes the queries of the kernel's list asynchronously, with the same outbox; any other opcode gives EINVAL.",
	  ANY, false, queries },
	{ "TYPE_is_named_by_its_id", "devx-abi 4", "A command on a TYPE that names another one gives EINVAL.", ANY, false, other_id },
	{ "TYPE_is_destroyed_by_its_own_command", "devx-abi 4",
	  "The command that destroys a TYPE is made of the one that created it; refused, the object stays.", SOFT, false, destroys },
	{ "TYPE_takes_one_buffer_for_both_boxes", "devx-abi 3",
	  "The outbox of a TYPE's create may lie where its inbox is; the TYPE is destroyed as any other.", ANY, false, one_buffer },
	{ "TYPE_keeps_what_it_uses", "devx-abi 4",
	  "What a TYPE refers to is not destroyed before it: BAD_RES_STATE, which is EINVAL.", OURS, true, parents_stay },
	{ "TYPE_takes_nothing_of_another_context", "devx-abi 4",
	  "A TYPE that refers to an object of another context is refused by the device.", ANY, true, foreign_parents },
	{ "TYPE_goes_with_its_context", "devx-abi 4",
	  "A TYPE that is left goes when its context is closed, with what it refers to.", ANY, false, left_behind },
};

/* The text with the type's name in the place of TYPE, its blanks replaced. */
static void put_type(char *to, size_t room, const char *text, const char *type, char blank)
{
	const char *at = strstr(text, "TYPE");
	int n = (int)(at - text);

	snprintf(to, room, "%.*s%s%s", n, text, type, at + strlen("TYPE"));
	for (char *p = to + n; p < to + n + strlen(type); p++)
		*p = *p == ' ' ? blank : *p;
}

/* The place of a field of a layout that lies inside another. */
#define INSIDE(...) INSIDE_(__VA_ARGS__)
#define INSIDE_(outer, outer_width, inner, inner_width) (outer) + (inner), inner_width

/* Of which the kernel says that the umem is valid, whatever the program says. */
static const struct forced {
	enum rcp_id what;
	uint32_t bit, width;
} forced[] = {
	{ RCP_CQ, PRM_F_create_cq_in__cq_umem_valid },
	{ RCP_QP, PRM_F_create_qp_in__wq_umem_valid },
	{ RCP_MKEY, PRM_F_create_mkey_in__mkey_umem_valid },
	{ RCP_RQ, INSIDE(INSIDE(PRM_F_create_rq_in__ctx, PRM_F_rqc__wq), PRM_F_wq__wq_umem_valid) },
	{ RCP_SQ, INSIDE(INSIDE(PRM_F_create_sq_in__ctx, PRM_F_sqc__wq), PRM_F_wq__wq_umem_valid) },
	{ RCP_RMP, INSIDE(INSIDE(PRM_F_create_rmp_in__ctx, PRM_F_rmpc__wq), PRM_F_wq__wq_umem_valid) },
	{ RCP_XRC_SRQ, PRM_F_create_xrc_srq_in__xrc_srq_umem_valid },
};

CASE(umem_valid_bit_is_forced_on, "devx-abi 4", ANY,
     "The bit that says that a umem is valid does not matter where DEVX takes nothing else: the object uses the umem.")
{
	struct kit *k = kit_on(context());
	uint8_t *in = zeroed(KIT_BOX), *out = zeroed(KIT_BOX);
	uint32_t id;

	for (const struct forced *f = forced; f < forced + N_OF(forced); f++) {
		const struct rcp_cmd *cmd = &recipes[f->what]->create;

		NOTE("%s", recipes[f->what]->name);
		make(k, f->what, &id);
		memset(in, 0, KIT_BOX);
		rcp_fill(cmd, &k->env, 0, 5, in);
		CHECK_EQ(get_bits(in, f->bit, f->width), 1);
		set_bits(in, f->bit, f->width, 0);
		create(k->ctx, in, cmd->inlen, out, cmd->outlen);
	}
}

#define N_CASES (RCP_N * (int)N_OF(questions))

/* A device without such objects refuses them. Of GENEVE options it may have some, but fewer than a case needs. */
static bool offered(enum rcp_id what)
{
	const struct rcp_cmd *cmd = &recipes[what]->create;
	uint8_t *in = zeroed(KIT_BOX), *out = zeroed(KIT_BOX);
	struct kit *k = kit_on(context());

	if (kit_offers(k, what))
		return true;
	NOTE("the device has no %s", recipes[what]->name);
	rcp_fill(cmd, &k->env, 0, 0, in);
	if (what != RCP_GENEVE_TLV)
		refuse(k->ctx, in, cmd->inlen, out, cmd->outlen, EREMOTEIO);
	return false;
}

static void ask(int n)
{
	if (offered((enum rcp_id)(n / (int)N_OF(questions))))
		questions[n % (int)N_OF(questions)].run(n / (int)N_OF(questions));
}

__attribute__((constructor)) static void add_types(void)
{
	static struct {
		char name[96], what[192];
		struct test_case c;
	} made[RCP_N * N_OF(questions)];

	for (int i = 0; i < N_CASES; i++) {
		const struct recipe *r = recipes[i / (int)N_OF(questions)];
		size_t q = (size_t)i % N_OF(questions);

		if (r->by_call || (questions[q].parents && !has_parents(r)))
			continue;
		put_type(made[i].name, sizeof(made[i].name), questions[q].like, r->name, '_');
		put_type(made[i].what, sizeof(made[i].what), questions[q].what, r->name, ' ');
		made[i].c = (struct test_case){ .file = __FILE__, .name = made[i].name, .fact = questions[q].fact,
						.what = made[i].what, .needs = questions[q].needs, .line = __LINE__,
						.run_on = ask, .arg = i,
						.like = questions[q].like, .like_what = questions[q].what };
		add_case(&made[i].c);
	}
}
