/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boxtext.h"
#include "devx.h"
#include "json.h"
#include "syndromes_gen.h"

#define TABLE_MAX (16u << 20)

bool box_number(const char *text, uint64_t *value)
{
	bool hex = text[0] == '0' && (text[1] | 0x20) == 'x';
	char *end;

	/* strtoull would take blanks, signs, and octal. */
	if (hex ? !strchr("0123456789abcdefABCDEF", text[2]) || !text[2] : *text < '0' || *text > '9')
		return false;
	errno = 0;
	*value = strtoull(text, &end, hex ? 16 : 10);
	return !errno && !*end;
}

/* One name of an enumeration. */
static bool one_named(const struct prm_enum *e, const char *name, size_t len, uint64_t *value)
{
	for (unsigned int i = 0; i < e->n_values; i++)
		if (!strncasecmp(e->values[i].name, name, len) && !e->values[i].name[len]) {
			*value = e->values[i].value;
			return true;
		}
	return false;
}

bool box_named(const struct prm_enum *e, const char *text, uint64_t *value)
{
	*value = 0;
	for (;;) {
		size_t n = strcspn(text, "|");
		uint64_t v;
		char word[24];

		snprintf(word, sizeof(word), "%.*s", (int)n, text);
		if (!one_named(e, text, n, &v) && !(n < sizeof(word) && box_number(word, &v)))
			return false;
		*value |= v;
		if (!text[n])
			return true;
		if (!e->flags)
			return false;
		text += n + 1;
	}
}

bool box_opcode(const char *text, uint16_t *opcode)
{
	struct near near = { .word = text };
	uint64_t v;
	char hint[256];

	if (box_named(&prm_enums[PRM_ENUM_opcode], text, &v) && v && v <= UINT16_MAX) {
		*opcode = (uint16_t)v;
		return true;
	}
	for (unsigned int i = 0; i < prm_n_opcodes; i++)
		near_try(&near, prm_opcodes[i].name);
	near_text(&near, hint, sizeof(hint));
	devx_error("\"%s\" is no opcode%s", text, hint);
	return false;
}

bool box_op_mod(uint16_t opcode, const char *text, uint16_t *op_mod)
{
	const struct prm_layout *l = prm_inbox_layout(opcode);
	struct near near = { .word = text };
	uint64_t v = UINT64_MAX;
	bool ok = box_number(text, &v);
	char hint[256];

	for (unsigned int i = 0; !ok && l && i < l->n_fields; i++) {
		const struct prm_enum *e = l->fields[i].values < 0 ? NULL : &prm_enums[l->fields[i].values];

		if (l->fields[i].bit != 48 || !e)
			continue;
		ok = box_named(e, text, &v);
		for (unsigned int k = 0; k < e->n_values; k++)
			near_try(&near, e->values[k].name);
	}
	if (ok && v <= UINT16_MAX) {
		*op_mod = (uint16_t)v;
		return true;
	}
	near_text(&near, hint, sizeof(hint));
	devx_error("\"%s\" is no op_mod or obj_type of this command%s", text, hint);
	return false;
}

struct prm_syndromes *box_syndromes_new(void)
{
	struct prm_syndromes *s = prm_syndromes_new();
	unsigned int line;
	const char *why;

	if (!s || prm_syndromes_add(s, builtin_syndromes, sizeof(builtin_syndromes) - 1, &line, &why))
		return s;
	prm_syndromes_free(s);
	return NULL;
}

bool box_syndromes(struct prm_syndromes *s, const char *path)
{
	FILE *f = fopen(path, "re");
	char *text = malloc(TABLE_MAX + 1);
	const char *why = NULL;
	unsigned int line;
	size_t len = 0;
	int err = f ? 0 : errno;

	if (f && text) {
		len = fread(text, 1, TABLE_MAX + 1, f);
		err = ferror(f) ? errno : len > TABLE_MAX ? EFBIG : 0;
	}
	if (f)
		fclose(f);
	if (err || !text)
		devx_error("%s: %s", path, strerror(text ? err : ENOMEM));
	else if (!prm_syndromes_add(s, text, len, &line, &why))
		devx_error("%s:%u: %s", path, line, why);
	err |= !text || why;
	free(text);
	return !err;
}

static void put_stdout(void *arg, const char *text, size_t len)
{
	fwrite(text, 1, len, arg);
}

int box_print(const struct prm_what *what, const void *box, size_t len, const struct prm_syndromes *s, bool zeros)
{
	const struct prm_style style = { .zeros = zeros, .syndromes = s };
	const struct prm_writer to = { put_stdout, stdout };

	prm_text(what, box, len, &style, &to);
	return devx_flush();
}

int box_print_layout(const struct prm_layout *layout, const void *box, size_t len, bool zeros)
{
	const struct prm_style style = { .zeros = zeros };
	const struct prm_writer to = { put_stdout, stdout };

	prm_text_layout(layout, box, len, &style, &to);
	return devx_flush();
}

#define DEPTH 20u

/* The object or list that items go to at each depth. */
struct tree {
	json_t *open[DEPTH];
	unsigned int depth;
	json_t *undefined, *tails;
	bool failed;
};

static void place(struct tree *t, const struct prm_item *item, json_t *value)
{
	json_t *into = t->open[t->depth], *list;

	if (item->index < 0) {
		t->failed |= json_object_set_new(into, item->name, value) != 0;
		return;
	}
	list = json_object_get(into, item->name);
	if (!list) {
		list = json_array();
		t->failed |= json_object_set_new(into, item->name, list) != 0;
	}
	t->failed |= json_array_append_new(list, value) != 0;
}

static json_t *hex_of(const uint8_t *p, size_t len)
{
	char *text = malloc(2 * len + 3);
	json_t *v;

	if (!text)
		return NULL;
	strcpy(text, "0x");
	for (size_t i = 0; i < len; i++)
		snprintf(text + 2 + 2 * i, 3, "%02x", p[i]);
	v = json_string(text);
	free(text);
	return v;
}

/* A number; what JSON's readers cannot hold (2^53 and more), as a string. With names: both. */
static json_t *number_of(const struct prm_item *item)
{
	char names[512], text[24];
	json_t *v;

	snprintf(text, sizeof(text), "0x%" PRIx64, item->value);
	v = item->value >> 53 ? json_string(text) : json_integer((json_int_t)item->value);
	prm_text_names(item->value, item->values, names, sizeof(names));
	return names[0] ? json_pack("{so ss}", "value", v, "name", names) : v;
}

static bool tree_item(void *arg, const struct prm_item *item)
{
	struct tree *t = arg;
	json_t *v;

	switch (item->kind) {
	case PRM_ITEM_FIELD:
		place(t, item, number_of(item));
		break;
	case PRM_ITEM_BYTES:
		place(t, item, hex_of(item->p, item->len));
		break;
	case PRM_ITEM_OPEN:
		v = json_object();
		place(t, item, v);
		if (t->depth + 1 < DEPTH)
			t->open[++t->depth] = v;
		break;
	case PRM_ITEM_CLOSE:
		t->depth--;
		break;
	case PRM_ITEM_UNDEFINED:
		t->failed |= json_array_append_new(t->undefined, json_pack("{ss si sI}", "in", item->path, "offset",
			(int)item->offset, "bits", (json_int_t)item->value)) != 0;
		break;
	case PRM_ITEM_TAIL:
		t->failed |= json_array_append_new(t->tails, json_pack("{si so}", "offset", (int)item->offset, "bytes",
			hex_of(item->p, item->len))) != 0;
		break;
	}
	return !t->failed;
}

static json_t *tree_of(const struct prm_what *what, const struct prm_layout *layout, const void *box, size_t len,
		       json_t *undefined, json_t *tails)
{
	struct tree t = { .open = { json_object() }, .undefined = undefined, .tails = tails };

	if (layout)
		prm_walk_layout(layout, box, len, tree_item, &t);
	else
		prm_walk(what, box, len, tree_item, &t);
	if (!t.failed && t.open[0])
		return t.open[0];
	json_decref(t.open[0]);
	return NULL;
}

json_t *box_json(const struct prm_what *what, const void *box, size_t len, const struct prm_syndromes *s)
{
	json_t *undefined = json_array(), *tails = json_array(), *fields = tree_of(what, NULL, box, len, undefined, tails), *root;
	const char *name = what->known ? prm_opcode_name(what->opcode) : NULL;
	struct prm_box b = prm_in(box, len);
	uint8_t status = (uint8_t)PRM_GET(&b, mbox_out, status);
	const char *syndrome = prm_syndrome(s, (uint32_t)PRM_GET(&b, mbox_out, syndrome));
	char code[8];

	snprintf(code, sizeof(code), "0x%x", what->opcode);
	root = json_pack("{so so ss si so so so}", "command", name ? json_string(name) : json_null(), "opcode",
		what->known ? json_string(code) : json_null(), "box", what->out ? "out" : "in", "length", (int)len, "fields", fields,
		"undefined", undefined, "tail", tails);
	if (root && what->out) {
		json_object_set_new(root, "status", json_string(prm_status_name(status)));
		json_object_set_new(root, "errno", json_string(prm_errno_name(prm_status_errno(status))));
		json_object_set_new(root, "syndrome", syndrome ? devx_json_text(syndrome) : json_null());
	}
	return root;
}

json_t *box_json_one(const struct prm_layout *layout, const void *box, size_t len)
{
	json_t *undefined = json_array(), *tails = json_array(), *fields = tree_of(NULL, layout, box, len, undefined, tails);

	return json_pack("{ss si so so so}", "layout", layout->name, "length", (int)len, "fields", fields, "undefined", undefined,
			 "tail", tails);
}

json_t *box_json_layout(const struct prm_layout *layout, const void *box, size_t len)
{
	json_t *undefined = json_array(), *tails = json_array(), *fields = tree_of(NULL, layout, box, len, undefined, tails);

	json_decref(undefined);
	json_decref(tails);
	return fields;
}
