/* SPDX-License-Identifier: BSD-2-Clause */
/* devx cmd: commands by name, their inboxes by field names, several in one context. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "boxtext.h"
#include "build.h"
#include "devx.h"
#include "json.h"
#include "opendev.h"

enum kind { COMMAND, UMEM, UAR, EQN };

#define KEY_END 32u /* of the bytes that name an object in the inboxes that create and destroy it */

/* What is no command: memory, a doorbell page, an EQ's number. value: the word that takes a number, and its least and most. */
static const struct resource {
	const char *name, *answer, *words[3];
	uint64_t max[3];
} resources[] = {
	[UMEM] = { "UMEM", "umem_id", { "size", "access" }, { UINT64_C(1) << 30, UINT32_MAX } },
	[UAR] = { "UAR", "page_id", { "flags" }, { UINT32_MAX } },
	[EQN] = { "EQN", "eqn", { "vector" }, { UINT32_MAX } },
};

struct step {
	enum kind kind;
	const struct prm_command *c;
	char **words;
	int n_words;
	struct mlx5dv_devx_obj *obj;   /* that it created */
	struct mlx5dv_devx_umem *umem;
	struct mlx5dv_devx_uar *uar;
	void *memory;
	size_t memory_len;
	uint32_t id;                   /* of obj */
	uint16_t obj_type;
	uint8_t key[KEY_END];          /* the begin of the inbox that created obj */
	bool destroys;                 /* an earlier step has the id, and the device was asked */
	uint8_t *out;
};

struct cmd {
	struct ibv_context *ctx;
	char name[64];
	const char *device;
	bool json, zeros, dry;
	size_t outlen;
	struct step *steps;
	struct answer *answers;
	unsigned int n;
	struct inbox in;
	struct prm_syndromes *syndromes;
	json_t *list;
};

static bool parse(int argc, char **argv, struct cmd *c)
{
	static const struct option options[] = {
		{ "device", required_argument, NULL, 'd' },    { "json", no_argument, NULL, 'j' },
		{ "all", no_argument, NULL, 'a' },             { "outlen", required_argument, NULL, 'o' },
		{ "syndromes", required_argument, NULL, 's' }, { "dry-run", no_argument, NULL, 'n' },
		{ 0 },
	};
	uint64_t v;
	int opt;

	while ((opt = getopt_long(argc, argv, "+", options, NULL)) != -1) {
		switch (opt) {
		case 'd':
			c->device = optarg;
			break;
		case 'j':
			c->json = true;
			break;
		case 'a':
			c->zeros = true;
			break;
		case 'o':
			if (!box_number(optarg, &v) || v < PRM_HDR_SZ || v > PRM_BOX_MAX) {
				devx_error("--outlen takes a number from %u to %u, not \"%s\"", PRM_HDR_SZ, PRM_BOX_MAX, optarg);
				return false;
			}
			c->outlen = v;
			break;
		case 's':
			if (!box_syndromes(c->syndromes, optarg))
				return false;
			break;
		case 'n':
			c->dry = true;
			break;
		default: /* getopt has said it */
			return false;
		}
	}
	if (optind == argc)
		devx_error("cmd takes an OPCODE and field=value words; docs/commands.md lists the commands");
	return optind < argc;
}

static bool read_step(struct step *s, char **words, int n)
{
	uint16_t opcode;

	s->words = words + 1;
	s->n_words = n - 1;
	if (!n) {
		devx_error("a step between colons is empty");
		return false;
	}
	for (enum kind k = UMEM; k <= EQN; k++)
		if (!strcasecmp(words[0], resources[k].name)) {
			s->kind = k;
			return true;
		}
	if (!box_opcode(words[0], &opcode))
		return false;
	s->c = prm_command(opcode);
	if (!s->c)
		devx_error("0x%x is no opcode of a known command", opcode);
	return s->c;
}

/* Splits the words at ":" into steps. */
static bool read_steps(struct cmd *c, int argc, char **argv)
{
	int from = 0;

	c->steps = calloc((size_t)argc + 1, sizeof(*c->steps));
	c->answers = calloc((size_t)argc + 1, sizeof(*c->answers));
	c->in.p = malloc(PRM_BOX_MAX);
	if (!c->steps || !c->answers || !c->in.p) {
		devx_error("out of memory");
		return false;
	}
	for (int i = 0; i <= argc; i++) {
		if (i < argc && strcmp(argv[i], ":"))
			continue;
		if (!read_step(&c->steps[c->n], argv + from, i - from))
			return false;
		c->n++;
		from = i + 1;
	}
	return true;
}

static bool read_resource(const struct step *s, uint64_t values[3], const struct answer *answers, unsigned int n)
{
	const struct resource *r = &resources[s->kind];

	values[0] = s->kind == UMEM ? 4096 : 0;
	values[1] = s->kind == UMEM ? IBV_ACCESS_LOCAL_WRITE : 0;
	for (int i = 0; i < s->n_words; i++) {
		size_t len = strcspn(s->words[i], "=");
		unsigned int k = 0;

		while (r->words[k] && (strlen(r->words[k]) != len || strncmp(r->words[k], s->words[i], len)))
			k++;
		if (!r->words[k] || !s->words[i][len]) {
			devx_error("%s takes %s=N%s%s%s, not \"%s\"", r->name, r->words[0], r->words[1] ? " and " : "",
				   r->words[1] ? r->words[1] : "", r->words[1] ? "=N" : "", s->words[i]);
			return false;
		}
		if (!build_number(s->words[i] + len + 1, &values[k], answers, n))
			return false;
		if (values[k] > r->max[k]) {
			devx_error("%s: %s is too large", r->name, r->words[k]);
			return false;
		}
	}
	return true;
}

/* Every word of every step, before anything is done. */
static bool check_steps(struct cmd *c)
{
	uint64_t values[3];

	for (unsigned int i = 0; i < c->n; i++) {
		struct step *s = &c->steps[i];

		if (s->kind == COMMAND ? !build_inbox(&c->in, s->c, s->words, s->n_words, c->answers, i) :
					 !read_resource(s, values, c->answers, i))
			return false;
		/* What later steps can refer to. */
		if (s->kind == COMMAND)
			c->answers[i].what = c->in.what;
		else
			c->answers[i].word = resources[s->kind].answer;
		c->answers[i].what.out = true;
	}
	return true;
}

static bool take_resource(struct cmd *c, struct step *s, struct answer *a)
{
	const struct resource *r = &resources[s->kind];
	uint64_t v[3] = { 0 };
	int err = 0;

	if (!read_resource(s, v, c->answers, (unsigned int)(s - c->steps)))
		return false;
	switch (s->kind) {
	case UMEM:
		s->memory_len = v[0];
		s->memory = mmap(NULL, v[0], PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (s->memory != MAP_FAILED)
			s->umem = mlx5dv_devx_umem_reg(c->ctx, s->memory, v[0], (uint32_t)v[1]);
		else
			s->memory = NULL;
		err = s->umem ? 0 : errno;
		a->value = s->umem ? s->umem->umem_id : 0;
		break;
	case UAR:
		s->uar = mlx5dv_devx_alloc_uar(c->ctx, (uint32_t)v[0]);
		err = s->uar ? 0 : errno;
		a->value = s->uar ? s->uar->page_id : 0;
		break;
	default:
		err = mlx5dv_devx_query_eqn(c->ctx, (uint32_t)v[0], &a->value);
	}
	a->word = r->answer;
	if (err)
		devx_error("%s: %s: %s", c->name, r->name, strerror(err));
	else if (c->json)
		json_array_append_new(c->list, json_pack("{ss s{sI}}", "command", r->name, "fields", r->answer,
							 (json_int_t)a->value));
	else
		printf("%s\n  %s = 0x%x (%u)\n", r->name, r->answer, a->value, a->value);
	return !err;
}

static uint32_t field(const uint8_t *p, size_t len, uint32_t bit, uint32_t width)
{
	struct prm_box b = prm_in(p, len);

	return (uint32_t)prm_get(&b, bit, width);
}

/* SET_FLOW_TABLE_ENTRY creates and modifies. */
static uint16_t creator_of(const struct prm_command *c)
{
	return c->call == PRM_CALL_CREATE ? c->value : c->other;
}

/* An id out of the inbox can be there several times: of an entry in each table, of a QP for each group that it joins. */
static bool same_key(const struct cmd *c, const struct step *o)
{
	size_t end = o->c->value == PRM_OP_ATTACH_TO_MCG ? KEY_END : 24; /* behind that the creation says more */

	return !o->c->id_in_inbox || !memcmp(o->key + 8, c->in.p + 8, end - 8);
}

/*
 * A command about an object goes through the handle of one that an earlier step created: the library, as the kernel, knows
 * which ids are whose, and refuses with EINVAL what is not.
 */
static int on_object(struct cmd *c, struct step *s, enum prm_call call, size_t outlen, bool *tried)
{
	uint16_t creator = creator_of(s->c);
	uint32_t id = field(c->in.p, c->in.len, s->c->id_bit, s->c->id_width);
	int err = EINVAL;

	for (struct step *o = s; o-- > c->steps && err == EINVAL;) {
		if (!o->obj || o->c->value != creator)
			continue;
		*tried = true;
		if (call == PRM_CALL_QUERY) {
			err = mlx5dv_devx_obj_query(o->obj, c->in.p, c->in.len, s->out, outlen);
		} else if (call == PRM_CALL_MODIFY) {
			err = mlx5dv_devx_obj_modify(o->obj, c->in.p, c->in.len, s->out, outlen);
		} else if (o->id == id && same_key(c, o) &&
			   (creator != PRM_OP_CREATE_GENERAL_OBJECT || o->obj_type == c->in.what.op_mod)) {
			s->destroys = true;
			err = mlx5dv_devx_obj_destroy(o->obj);
			if (!err)
				o->obj = NULL;
			break;
		}
	}
	return err;
}

static int create(struct cmd *c, struct step *s, size_t outlen)
{
	s->obj = mlx5dv_devx_obj_create(c->ctx, c->in.p, c->in.len, s->out, outlen);
	if (!s->obj)
		return errno;
	s->obj_type = c->in.what.op_mod;
	memcpy(s->key, c->in.p, KEY_END);
	s->id = s->c->id_in_inbox ? field(c->in.p, c->in.len, s->c->id_bit, s->c->id_width) :
				    field(s->out, outlen, s->c->id_bit, s->c->id_width);
	return 0;
}

static int send(struct cmd *c, struct step *s, size_t outlen, bool *tried)
{
	enum prm_call call = s->c->call;

	*tried = true;
	/* SET_FLOW_TABLE_ENTRY creates with op_mod 0 and modifies with 1. */
	if (s->c->value == PRM_OP_SET_FLOW_TABLE_ENTRY && c->in.what.op_mod)
		call = PRM_CALL_MODIFY;
	switch (call) {
	case PRM_CALL_CREATE:
		return create(c, s, outlen);
	case PRM_CALL_MODIFY:
	case PRM_CALL_QUERY:
	case PRM_CALL_DESTROY:
		*tried = false;
		return on_object(c, s, call, outlen, tried);
	default: /* the driver's own too: who refuses it is the kernel */
		return mlx5dv_devx_general_cmd(c->ctx, c->in.p, c->in.len, s->out, outlen);
	}
}

static void show(struct cmd *c, const struct prm_what *what, const uint8_t *box, size_t len)
{
	json_t *v;

	if (!c->json) {
		box_print(what, box, len, c->syndromes, c->zeros);
		return;
	}
	v = box_json(what, box, len, c->syndromes);
	json_array_append_new(c->list, v);
}

/* What the error number says here, where it is not plain. */
static const char *why(const struct step *s, int err)
{
	const struct prm_command *c = s->c;

	if (err == EREMOTEIO && s->out[0] == PRM_STAT_BAD_OUTP_LEN_ERR)
		return " (the device refused it: --outlen gives the outbox more room)";
	if (err == EREMOTEIO)
		return " (the device refused it: its outbox says why)";
	if (err == ENOENT && c->value == PRM_OP_CREATE_CQ)
		return " (no EQ has the number in cq_context.c_eqn_or_apu_element: EQN takes one)";
	if (err != EINVAL)
		return "";
	if (c->value == PRM_OP_CREATE_PSV)
		return " (DEVX carries it with num_psv=1 only)";
	if (s->destroys)
		return " (the device refused it, as it does with what is in use; a destroy has no outbox to say so)";
	if (c->call == PRM_CALL_DRIVER)
		return " (DEVX carries no such command)";
	return c->call == PRM_CALL_GENERAL || c->call == PRM_CALL_CREATE ? "" :
		" (the id is not that of an object of this kind from a step before)";
}

/* As many counters as the query asks for; every other list has some room. */
static size_t default_outlen(const struct inbox *in)
{
	struct prm_box b = prm_in(in->p, in->len);
	uint64_t n = PRM_GET(&b, query_flow_counter_in, num_of_counters);
	size_t len;

	if (in->what.opcode != PRM_OP_QUERY_FLOW_COUNTER)
		return build_outlen(&in->what);
	len = PRM_SZ(query_flow_counter_out) + (n ? n : 1) * PRM_SZ(traffic_counter);
	return len < PRM_BOX_MAX ? len : PRM_BOX_MAX;
}

static bool run_command(struct cmd *c, struct step *s, struct answer *a)
{
	size_t outlen;
	bool tried;
	int err;

	if (!build_inbox(&c->in, s->c, s->words, s->n_words, c->answers, (unsigned int)(s - c->steps)))
		return false;
	if (c->dry) {
		show(c, &c->in.what, c->in.p, c->in.len);
		return true;
	}
	outlen = c->outlen ? c->outlen : default_outlen(&c->in);
	s->out = calloc(1, outlen);
	if (!s->out) {
		devx_error("out of memory");
		return false;
	}
	err = send(c, s, outlen, &tried);
	*a = (struct answer){ .what = c->in.what, .box = s->out, .len = outlen };
	a->what.out = true;
	if (!tried) {
		const char *creator = prm_opcode_name(creator_of(s->c));

		devx_error("%s: no step before it is %s %s: a command about an object goes through the handle of its creation",
			   s->c->name, *creator == 'A' ? "an" : "a", creator);
		return false;
	}
	if (!err || err == EREMOTEIO)
		show(c, &a->what, s->out, outlen);
	if (err)
		devx_error("%s: %s: %s%s", c->name, s->c->name, strerror(err), why(s, err));
	return !err;
}

/* Newest first; what is left of a failed chain too. */
static bool clean_up(struct cmd *c)
{
	bool ok = true;

	for (unsigned int i = c->n; i-- > 0;) {
		struct step *s = &c->steps[i];
		int err = s->obj ? mlx5dv_devx_obj_destroy(s->obj) : s->umem ? mlx5dv_devx_umem_dereg(s->umem) : 0;

		if (err)
			devx_error("%s: what step %u made cannot be destroyed: %s", c->name, i + 1, strerror(err));
		ok = ok && !err;
		if (s->uar)
			mlx5dv_devx_free_uar(s->uar);
		if (s->memory)
			munmap(s->memory, s->memory_len);
		free(s->out);
	}
	if (c->ctx && ibv_close_device(c->ctx)) {
		devx_error("%s: cannot be closed: %s", c->name, strerror(errno));
		ok = false;
	}
	return ok;
}

static int run(struct cmd *c)
{
	bool ok = true;
	int code;

	if (!c->dry && !(c->ctx = opendev(c->device, c->name)))
		return DEVX_FAILED;
	c->list = json_array();
	for (unsigned int i = 0; i < c->n && ok; i++) {
		if (c->steps[i].kind == COMMAND)
			ok = run_command(c, &c->steps[i], &c->answers[i]);
		else if (!c->dry)
			ok = take_resource(c, &c->steps[i], &c->answers[i]);
	}
	code = c->json ? devx_json_print(json_pack("{sO}", "steps", c->list)) : devx_flush();
	return ok ? code : DEVX_FAILED;
}

int devx_cmd(int argc, char **argv)
{
	struct cmd c = { .syndromes = box_syndromes_new() };
	int code = DEVX_USAGE;

	if (!c.syndromes) {
		devx_error("out of memory");
		return DEVX_FAILED;
	}
	if (parse(argc, argv, &c) && read_steps(&c, argc - optind, argv + optind) && check_steps(&c))
		code = run(&c);
	if (!clean_up(&c) && code == DEVX_OK)
		code = DEVX_FAILED;
	json_decref(c.list);
	prm_syndromes_free(c.syndromes);
	free(c.steps);
	free(c.answers);
	free(c.in.p);
	return code;
}
