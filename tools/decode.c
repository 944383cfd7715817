/* SPDX-License-Identifier: BSD-2-Clause */
/* devx decode: an inbox or outbox, as hex or binary, by the names of its fields. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "boxtext.h"
#include "devx.h"
#include "hex.h"
#include "json.h"

#define INPUT_MAX (1u << 20) /* text takes several characters a byte; more than this is no command */

struct options {
	const char *file;
	bool json, zeros;
	enum { GUESS_FORM, HEX, BINARY } form;
	enum { GUESS_SIDE, IN, OUT } side;
	bool has_opcode;
	uint16_t opcode, op_mod;
	const struct prm_layout *layout; /* it is no command's box, but this */
	struct prm_syndromes *syndromes;
};

static bool find_layout(const char *name, const struct prm_layout **layout)
{
	struct near near = { .word = name };
	char hint[256];

	*layout = prm_layout(name);
	if (*layout)
		return true;
	for (unsigned int i = 0; i < prm_n_layouts; i++)
		near_try(&near, prm_layouts[i].name);
	near_text(&near, hint, sizeof(hint));
	devx_error("\"%s\" is no layout%s", name, hint);
	return false;
}

static bool parse(int argc, char **argv, struct options *o)
{
	static const struct option options[] = {
		{ "in", no_argument, NULL, 'i' },           { "out", no_argument, NULL, 'o' },
		{ "opcode", required_argument, NULL, 'c' }, { "op-mod", required_argument, NULL, 'm' },
		{ "json", no_argument, NULL, 'j' },         { "all", no_argument, NULL, 'a' },
		{ "hex", no_argument, NULL, 'h' },          { "binary", no_argument, NULL, 'b' },
		{ "syndromes", required_argument, NULL, 's' }, { "layout", required_argument, NULL, 'l' },
		{ 0 },
	};
	const char *op_mod = NULL;
	bool both = false;
	int opt;

	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (opt) {
		case 'i':
			both |= o->side == OUT;
			o->side = IN;
			break;
		case 'o':
			both |= o->side == IN;
			o->side = OUT;
			break;
		case 'c':
			if (!box_opcode(optarg, &o->opcode))
				return false;
			o->has_opcode = true;
			break;
		case 'm':
			op_mod = optarg;
			break;
		case 'j':
			o->json = true;
			break;
		case 'a':
			o->zeros = true;
			break;
		case 'h':
			both |= o->form == BINARY;
			o->form = HEX;
			break;
		case 'b':
			both |= o->form == HEX;
			o->form = BINARY;
			break;
		case 'l':
			if (!find_layout(optarg, &o->layout))
				return false;
			break;
		case 's':
			if (!box_syndromes(o->syndromes, optarg))
				return false;
			break;
		default: /* getopt has said it */
			return false;
		}
	}
	if (both) {
		devx_error("--in and --out exclude each other, and so do --hex and --binary");
		return false;
	}
	if (op_mod && !o->has_opcode) {
		devx_error("--op-mod says nothing without --opcode");
		return false;
	}
	if (op_mod && !box_op_mod(o->opcode, op_mod, &o->op_mod))
		return false;
	if (o->layout && (o->side != GUESS_SIDE || o->has_opcode)) {
		devx_error("--layout excludes --in, --out and --opcode");
		return false;
	}
	if (argc - optind > 1) {
		devx_error("decode takes one FILE; \"%s\" is one too many", argv[optind + 1]);
		return false;
	}
	o->file = argv[optind];
	if ((!o->file || !strcmp(o->file, "-")) && isatty(STDIN_FILENO)) {
		devx_error("no FILE, and standard input is a terminal");
		return false;
	}
	return true;
}

/* NULL: said why. */
static char *read_input(const char *path, const char **name, size_t *len)
{
	bool std = !path || !strcmp(path, "-");
	FILE *f = std ? stdin : fopen(path, "rbe");
	char *p = malloc(INPUT_MAX + 1);
	int err = errno;

	*name = std ? "standard input" : path;
	if (f && p) {
		*len = fread(p, 1, INPUT_MAX + 1, f);
		err = ferror(f) ? errno : *len > INPUT_MAX ? EFBIG : 0;
	}
	if (f && !std)
		fclose(f);
	if (f && p && !err)
		return p;
	devx_error("%s: %s", *name, strerror(f && !p ? ENOMEM : err));
	free(p);
	return NULL;
}

/*
 * The first word of an inbox is a known opcode. An outbox begins with its status and three bytes of zero, which is an opcode
 * too where a status has its number (0x0500): then the next word tells, for an inbox has no tunnel id as a rule, and the
 * outbox of a failed command a syndrome.
 */
static struct prm_what guess(const struct options *o, const uint8_t *p, size_t len, bool *guessed)
{
	struct prm_what in = prm_what_of(p, len), out = { .out = true, .known = o->has_opcode, .opcode = o->opcode };
	bool is_in = o->side == IN;

	*guessed = o->side == GUESS_SIDE;
	out.op_mod = o->op_mod;
	if (*guessed) {
		is_in = prm_command(in.opcode) && (!o->has_opcode || o->opcode == in.opcode);
		if (is_in && len >= 8 && !p[1] && !p[2] && !p[3] && (p[4] || p[5]))
			is_in = false;
	}
	return is_in ? in : out;
}

static int print_json(const struct prm_what *what, const uint8_t *p, size_t len, const struct options *o, const char *form,
		      bool guessed)
{
	json_t *root = o->layout ? box_json_one(o->layout, p, len) : box_json(what, p, len, o->syndromes);

	if (root) {
		json_object_set_new(root, "encoding", json_string(form));
		json_object_set_new(root, "guessed", json_boolean(guessed));
	}
	return devx_json_print(root);
}

static int decode(const struct options *o, const char *name, const char *input, size_t input_len, uint8_t *box)
{
	bool text = o->form == HEX || (o->form == GUESS_FORM && hex_is_text(input, input_len)), guessed;
	size_t len = input_len;
	struct prm_what what;

	if (text) {
		unsigned int line;
		const char *why;

		if (!hex_read(input, input_len, box, PRM_BOX_MAX, &len, &line, &why)) {
			devx_error("%s:%u: %s", name, line, why);
			return DEVX_INPUT;
		}
	} else if (len > PRM_BOX_MAX) {
		devx_error("%s: longer than the %u bytes that a command can have", name, PRM_BOX_MAX);
		return DEVX_INPUT;
	} else {
		memcpy(box, input, len);
	}
	if (!len) {
		devx_error("%s: there is nothing in it", name);
		return DEVX_INPUT;
	}
	what = guess(o, box, len, &guessed);
	guessed &= !o->layout;
	if (!o->json && o->layout && o->form == GUESS_FORM)
		fprintf(stderr, "devx: taken as %s\n", text ? "hex" : "binary");
	else if (!o->json && (guessed || o->form == GUESS_FORM))
		fprintf(stderr, "devx: taken as %s, an %s\n", text ? "hex" : "binary",
			what.out ? "outbox (--in: an inbox)" : "inbox (--out: an outbox)");
	if (o->json)
		return print_json(&what, box, len, o, text ? "hex" : "binary", guessed);
	if (o->layout)
		return box_print_layout(o->layout, box, len, o->zeros);
	return box_print(&what, box, len, o->syndromes, o->zeros);
}

int devx_decode(int argc, char **argv)
{
	struct options o = { .syndromes = box_syndromes_new() };
	uint8_t *box = malloc(PRM_BOX_MAX);
	const char *name;
	char *input;
	size_t len = 0;
	int code = DEVX_USAGE;

	if (!box || !o.syndromes) {
		devx_error("out of memory");
		code = DEVX_FAILED;
	} else if (parse(argc, argv, &o)) {
		input = read_input(o.file, &name, &len);
		code = input ? decode(&o, name, input, len, box) : DEVX_INPUT;
		free(input);
	}
	prm_syndromes_free(o.syndromes);
	free(box);
	return code;
}
