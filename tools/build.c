/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boxtext.h"
#include "build.h"
#include "devx.h"

#define OPEN_ROOM 256u /* of an outbox that ends in a list of any length, or that nobody describes */
#define PATH_MAX_LEN 256u

/* "$2.cqn", "$1.capability.cmd_hca_cap.log_max_cq": a field of the second step's outbox. */
static bool answered(const char *text, uint64_t *value, const struct answer *answers, unsigned int n)
{
	const char *dot = strchr(text, '.'), *bad = text;
	const struct prm_layout *l, *in;
	struct prm_place place;
	const struct answer *a;
	struct prm_box b;
	uint64_t step = 0;
	char number[12];

	*value = 0;
	snprintf(number, sizeof(number), "%.*s", dot ? (int)(dot - text - 1) : 0, text + 1);
	if (!dot || !box_number(number, &step) || !step || step > n) {
		devx_error("\"%s\" refers to no step before this one: $1.field is a field of the first one's outbox", text);
		return false;
	}
	a = &answers[step - 1];
	if (a->word) {
		*value = a->value;
		if (!strcmp(dot + 1, a->word))
			return true;
		devx_error("\"%s\": step %" PRIu64 " has only \"%s\"", text, step, a->word);
		return false;
	}
	l = prm_what_layout(&a->what);
	if (!strncmp(dot + 1, PRM_OBJECT ".", 4) && prm_what_object(&a->what)) {
		l = prm_what_object(&a->what);
		dot += 4;
		b = a->len > PRM_HDR_SZ ? prm_in(a->box + PRM_HDR_SZ, a->len - PRM_HDR_SZ) : prm_in(NULL, 0);
	} else {
		b = prm_in(a->box, a->len);
	}
	if (!l || !prm_find(l, dot + 1, &place, &bad, &in) || place.width > 64 || place.count != 1) {
		devx_error("\"%s\": the outbox of step %" PRIu64 " has no such value", text, step);
		return false;
	}
	if (!a->box)
		return true;
	*value = prm_get(&b, place.bit, place.width);
	if (b.bad)
		devx_error("\"%s\": the outbox of step %" PRIu64 " is too short", text, step);
	return !b.bad;
}

/* With "<<8" behind it: an mkey is its index and 8 bits more. */
static bool reference(const char *text, uint64_t *value, const struct answer *answers, unsigned int n)
{
	const char *shift = strstr(text, "<<");
	char word[PATH_MAX_LEN];
	uint64_t bits = 0;

	snprintf(word, sizeof(word), "%.*s", shift ? (int)(shift - text) : (int)strlen(text), text);
	if (shift && (!box_number(shift + 2, &bits) || bits > 63)) {
		devx_error("\"%s\": behind << stands a number of bits, 0 to 63", text);
		return false;
	}
	if (!answered(word, value, answers, n))
		return false;
	if (bits && *value >> (64 - bits)) {
		devx_error("\"%s\": 0x%" PRIx64 " does not fit 64 bits then", text, *value);
		return false;
	}
	*value <<= bits;
	return true;
}

bool build_number(const char *text, uint64_t *value, const struct answer *answers, unsigned int n)
{
	if (*text == '$')
		return reference(text, value, answers, n);
	if (box_number(text, value))
		return true;
	devx_error("\"%s\" is no number", text);
	return false;
}

/* "; there are "RC", "UC" ..." for a name that is near none. */
static void list_values(const struct prm_enum *e, char *buf, size_t size)
{
	size_t len = 0;

	for (unsigned int i = 0; i < e->n_values && i < 6 && len < size; i++)
		len += (size_t)snprintf(buf + len, size - len, "%s\"%s\"", i ? ", " : "; there are ", e->values[i].name);
	if (e->n_values > 6 && len < size)
		snprintf(buf + len, size - len, " and %u more", e->n_values - 6);
}

static bool read_value(const char *text, const struct prm_field *f, uint64_t *value, const struct answer *answers,
		       unsigned int n)
{
	const struct prm_enum *e = f->values >= 0 ? &prm_enums[f->values] : NULL;
	struct near near = { .word = text };
	char hint[256];

	if (*text == '$') {
		if (!reference(text, value, answers, n))
			return false;
	} else if (!box_number(text, value) && !(e && box_named(e, text, value))) {
		for (unsigned int i = 0; e && i < e->n_values; i++)
			near_try(&near, e->values[i].name);
		near_text(&near, hint, sizeof(hint));
		if (e && !hint[0])
			list_values(e, hint, sizeof(hint));
		devx_error("%s: \"%s\" is no number%s%s", f->name, text, e ? ", and no name of a value" : "", hint);
		return false;
	}
	if (f->width < 64 && *value >> f->width) {
		devx_error("%s: 0x%" PRIx64 " does not fit its %u bit%s", f->name, *value, f->width, f->width == 1 ? "" : "s");
		return false;
	}
	return true;
}

static int digit(char c)
{
	static const char digits[] = "0123456789abcdef0123456789ABCDEF";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) % 16 : -1;
}

/* Hex digits, with or without 0x; colons and dashes may stand between bytes. */
static bool set_bytes(struct prm_box *b, const struct prm_place *p, const char *text, uint32_t *set)
{
	uint32_t room = p->width > 64 ? p->width / 8 : p->count ? p->count : b->len - p->bit / 8, n = 0;
	const char *at = text[0] == '0' && (text[1] | 0x20) == 'x' ? text + 2 : text;

	for (; *at; at += 2, n++) {
		if (n && strchr(":-", *at))
			at++;
		if (digit(at[0]) < 0 || digit(at[1]) < 0) {
			devx_error("%s takes bytes as hex digits, two each, not \"%s\"", p->field->name, text);
			return false;
		}
		if (n >= room) {
			devx_error("%s: more than %u bytes do not fit", p->field->name, room);
			return false;
		}
		prm_set(b, p->bit + n * 8, 8, (uint64_t)(digit(at[0]) << 4 | digit(at[1])));
	}
	*set = n;
	/* Short ones such as GIDs are told whole; long ones may be a list of few things, and zeros. */
	if (p->width > 64 && n != room && (p->width <= 512 || !n)) {
		devx_error("%s takes %u bytes, not %u", p->field->name, room, n);
		return false;
	}
	return true;
}

/* The path of a field of that name, however deep it is. False: there is none. */
static bool deep(const struct prm_layout *l, const char *name, char *path, size_t room, unsigned int depth)
{
	for (unsigned int i = 0; i < l->n_fields; i++)
		if (depth && !strcmp(l->fields[i].name, name)) {
			snprintf(path, room, "%s", name);
			return true;
		}
	for (unsigned int i = 0; i < l->n_fields && depth < 5; i++) {
		const struct prm_field *f = &l->fields[i];
		int n = snprintf(path, room, "%s%s.", f->name, f->count == 1 ? "" : "[0]");

		if (f->nested >= 0 && n > 0 && (size_t)n < room &&
		    deep(&prm_layouts[f->nested], name, path + n, room - (size_t)n, depth + 1))
			return true;
	}
	return false;
}

/* "; it has "a", "b" ..." for a name that is near none. */
static void list_fields(const struct prm_layout *l, char *buf, size_t size)
{
	size_t len = 0;

	unsigned int from = l->n_fields > 1 && !strcmp(l->fields[0].name, "opcode"), n = l->n_fields - from; /* no word sets that */

	for (unsigned int i = 0; i < n && i < 6 && len < size; i++)
		len += (size_t)snprintf(buf + len, size - len, "%s\"%s\"", i ? ", " : "; it has ", l->fields[from + i].name);
	if (n > 6 && len < size)
		snprintf(buf + len, size - len, " and %u more", n - 6);
}

/* A field that there is, with something behind it that does not suit it. */
static void say_wrong_use(const struct prm_field *f, const struct prm_layout *at, const char *rest)
{
	if (f->count > 1)
		devx_error("\"%s%s\" of %s: it is a list, %s[0] to %s[%u]", f->name, rest, at->name, f->name, f->name, f->count - 1);
	else if (f->count != 1)
		devx_error("\"%s%s\" of %s: it is a list, %s[0] and on as far as a command reaches", f->name, rest, at->name, f->name);
	else
		devx_error("\"%s%s\" of %s: it is %s", f->name, rest, at->name,
			   f->nested >= 0 ? "no list, and has fields" : "one value");
}

static void say_unknown(const struct inbox *in, const char *word, const char *bad, const struct prm_layout *at)
{
	size_t len = strcspn(bad, ".[=");
	const struct prm_layout *obj = prm_what_object(&in->what), *l = prm_what_layout(&in->what);
	const size_t prefix = strlen(PRM_OBJECT ".");
	char name[128], path[PATH_MAX_LEN] = "", hint[512];
	struct near near = { .word = name };

	snprintf(name, sizeof(name), "%.*s", (int)len, bad);
	for (unsigned int i = 0; i < at->n_fields; i++)
		near_try(&near, at->fields[i].name);
	if (at == l && obj)
		near_try(&near, PRM_OBJECT);
	near_text(&near, hint, sizeof(hint));
	if (!hint[0])
		list_fields(at, hint, sizeof(hint));
	/* A name that a context inside has: the whole path helps more than what looks alike. */
	if ((!near.best[0] || near.distance[0]) && bad == word) {
		bool found = deep(l, name, path, sizeof(path), 0);

		if (!found && obj) {
			strcpy(path, PRM_OBJECT ".");
			found = deep(obj, name, path + prefix, sizeof(path) - prefix, 1);
		}
		if (found)
			snprintf(hint, sizeof(hint), "; did you mean \"%s\"?", path);
	}
	for (unsigned int i = 0; i < at->n_fields; i++)
		if (!strcmp(at->fields[i].name, name)) {
			say_wrong_use(&at->fields[i], at, bad + len);
			return;
		}
	devx_error("%s has no field \"%s\"%s", at->name, name, hint);
}

/* Grows to hold what was set. */
static void reach(struct inbox *in, uint64_t bits)
{
	if (in->len * 8 < bits)
		in->len = (size_t)((bits + 7) / 8);
}

/* One value, or several for the elements of a list, between commas. */
static bool set_field(struct inbox *in, uint32_t base, const struct prm_place *p, char *value, const struct answer *answers,
		      unsigned int n)
{
	struct prm_box b = prm_out(in->p + base / 8, PRM_BOX_MAX - base / 8);
	uint32_t i = 0, n_bytes;
	char *next;

	if (p->field->nested >= 0 && prm_layouts[p->field->nested].n_fields) {
		devx_error("%s has fields of its own: %s.field=value", p->field->name, p->field->name);
		return false;
	}
	if (p->width > 64 || (p->width == 8 && p->count != 1)) {
		if (!set_bytes(&b, p, value, &n_bytes))
			return false;
		reach(in, base + p->bit + n_bytes * 8);
		return true;
	}
	for (; value; value = next, i++) {
		uint64_t v;

		next = p->count == 1 ? NULL : strchr(value, ',');
		if (next)
			*next++ = 0;
		if (p->count && i >= p->count) {
			devx_error("%s has only %u elements", p->field->name, p->count);
			return false;
		}
		if (!read_value(value, p->field, &v, answers, n))
			return false;
		prm_set(&b, p->bit + i * p->width, p->width, v);
		if (b.bad) {
			devx_error("%s lies past the %u bytes that a command can have", p->field->name, PRM_BOX_MAX);
			return false;
		}
		reach(in, base + p->bit + (uint64_t)(i + 1) * p->width);
		reach(in, base + p->end);
	}
	return true;
}

static bool set_word(struct inbox *in, const char *word, const struct answer *answers, unsigned int n)
{
	bool in_obj = !strncmp(word, PRM_OBJECT ".", 4);
	const struct prm_layout *l = in_obj ? prm_what_object(&in->what) : prm_what_layout(&in->what), *at;
	char *copy = strdup(in_obj ? word + 4 : word), *value = copy ? strchr(copy, '=') : NULL;
	struct prm_place place;
	const char *bad;
	bool ok = false;

	if (!copy) {
		devx_error("out of memory");
	} else if (!value) {
		devx_error("\"%s\" is not field=value%s", word, *word == '-' ? ": options stand before the opcode" : "");
	} else if (*word == '-') {
		devx_error("\"%s\" is no field: options stand before the opcode", word);
	} else if (!l) {
		devx_error("\"%s\": %s", word, in_obj ? "no object is known for this obj_type" : "no layout of this command is known");
	} else {
		*value++ = 0;
		if (!prm_find(l, copy, &place, &bad, &at))
			say_unknown(in, copy, bad, at);
		else if (!in_obj && place.bit == 0)
			devx_error("the opcode is what the command says, and no field to set");
		else
			ok = set_field(in, in_obj ? PRM_HDR_SZ * 8 : 0, &place, value, answers, n);
	}
	free(copy);
	return ok;
}

bool build_inbox(struct inbox *in, const struct prm_command *c, char **words, int n_words, const struct answer *answers,
		 unsigned int n)
{
	const struct prm_layout *l = prm_inbox_layout(c->value), *obj;
	struct prm_box b = prm_out(in->p, PRM_BOX_MAX);

	memset(in->p, 0, PRM_BOX_MAX);
	PRM_SET(&b, general_obj_in_cmd_hdr, opcode, c->value);
	in->what = prm_what_of(in->p, PRM_HDR_SZ);
	in->len = l && l->bits / 8 > PRM_HDR_SZ ? l->bits / 8 : PRM_HDR_SZ;
	/* The object's layout is known when the header is: its fields come last, wherever they stand. */
	for (int pass = 0; pass < 2; pass++) {
		for (int i = 0; i < n_words; i++) {
			int when = strncmp(words[i], PRM_OBJECT ".", 4) ? 0 : 1;

			if (when == pass && !set_word(in, words[i], answers, n))
				return false;
			in->what = prm_what_of(in->p, in->len); /* for what is said of the next word */
		}
		in->what = prm_what_of(in->p, in->len);
		obj = prm_what_object(&in->what);
		if (obj)
			reach(in, PRM_HDR_SZ * 8 + obj->bits);
	}
	return true;
}

size_t build_outlen(const struct prm_what *what)
{
	struct prm_what out = *what;
	const struct prm_layout *l, *obj;
	size_t len = PRM_HDR_SZ;

	out.out = true;
	l = prm_what_layout(&out);
	obj = prm_what_object(&out);
	if (l && l->bits / 8 > len)
		len = l->bits / 8;
	if ((l && prm_open_ended(l)) || !prm_outbox_layout(out.opcode))
		len += OPEN_ROOM;
	return obj ? len + obj->bits / 8 : len;
}
