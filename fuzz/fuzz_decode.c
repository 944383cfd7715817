/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Boxes as text, and the texts that devx reads. The first byte chooses: an inbox; an outbox of the opcode and op_mod in the
 * next four bytes; hex; a table of syndromes; a path into the layout of an opcode.
 */
#include <string.h>

#include "fuzz.h"
#include "hex.h"
#include "text.h"

struct seen {
	const uint8_t *box;
	size_t len;
	int depth;
};

/* Nothing is shown that lies outside the box. */
static bool inside(void *arg, const struct prm_item *item)
{
	struct seen *s = arg;

	FUZZ_CHECK(item->path && item->name && strlen(item->path) < 512);
	switch (item->kind) {
	case PRM_ITEM_OPEN:
		s->depth++;
		break;
	case PRM_ITEM_CLOSE:
		FUZZ_CHECK(--s->depth >= 0);
		break;
	case PRM_ITEM_BYTES:
	case PRM_ITEM_TAIL:
		FUZZ_CHECK(item->len && item->p == s->box + item->offset && item->offset + item->len <= s->len);
		break;
	case PRM_ITEM_FIELD:
	case PRM_ITEM_UNDEFINED:
		FUZZ_CHECK(item->width >= 1 && item->width <= 64 && item->offset * 8ull + item->width <= s->len * 8ull + 7);
		FUZZ_CHECK(item->width == 64 || !(item->value >> item->width));
		break;
	}
	return true;
}

static void count(void *arg, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		FUZZ_CHECK(text[i] == '\n' || (text[i] >= 0x20 && text[i] < 0x7f));
	*(size_t *)arg += len;
}

static void box(const struct prm_what *what, const uint8_t *p, size_t len)
{
	struct seen s = { p, len, 0 };
	struct prm_style style = { .zeros = len & 1 };
	size_t total = 0;
	const struct prm_writer to = { count, &total };
	char buf[100];

	prm_walk(what, p, len, inside, &s);
	FUZZ_CHECK(!s.depth);
	prm_text(what, p, len, &style, &to);
	FUZZ_CHECK(prm_text_buf(what, p, len, &style, buf, sizeof(buf)) == total);
	FUZZ_CHECK(strlen(buf) == (total < sizeof(buf) ? total : sizeof(buf) - 1));
}

static void hex(const uint8_t *p, size_t len)
{
	uint8_t *out = malloc(300);
	unsigned int line;
	const char *why;
	size_t n;

	if (hex_read((const char *)p, len, out, 300, &n, &line, &why))
		FUZZ_CHECK(n <= 300);
	else
		FUZZ_CHECK(why && line);
	hex_is_text(p, len);
	free(out);
}

static void table(const uint8_t *p, size_t len)
{
	struct prm_syndromes *s = prm_syndromes_new();
	unsigned int line;
	const char *why = NULL;

	if (prm_syndromes_add(s, (const char *)p, len, &line, &why))
		FUZZ_CHECK(!why);
	else
		FUZZ_CHECK(why && line);
	for (uint32_t i = 0; i < 20; i++)
		prm_syndrome(s, i);
	prm_syndromes_free(s);
}

static void path(uint16_t opcode, const uint8_t *p, size_t len)
{
	const struct prm_layout *l = prm_inbox_layout(opcode), *in;
	struct prm_place place;
	const char *bad;
	char *text = strndup((const char *)p, len);

	if (l && prm_find(l, text, &place, &bad, &in)) {
		FUZZ_CHECK(place.bit + place.width <= PRM_BOX_MAX * 8u && place.end <= PRM_BOX_MAX * 8u);
		FUZZ_CHECK(place.end >= place.bit + place.width && place.field && place.layout);
	} else if (l) {
		FUZZ_CHECK(bad >= text && bad <= text + strlen(text) && in);
	}
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct prm_what what = { .out = true };
	uint8_t *p;

	if (size < 5)
		return 0;
	p = malloc(size - 5 + 1);
	if (!p)
		return 0;
	memcpy(p, data + 5, size - 5);
	p = realloc(p, size > 5 ? size - 5 : 1); /* exactly as long as it must be */
	what.opcode = (uint16_t)(data[1] << 8 | data[2]);
	what.op_mod = (uint16_t)(data[3] << 8 | data[4]);
	what.known = data[0] & 0x80;
	what.qpc_ext = data[0] & 0x40;
	switch (data[0] % 5) {
	case 0:
		what = prm_what_of(p, size - 5);
		box(&what, p, size - 5);
		break;
	case 1:
		box(&what, p, size - 5);
		break;
	case 2:
		hex(p, size - 5);
		break;
	case 3:
		table(p, size - 5);
		break;
	case 4:
		path(what.opcode, p, size - 5);
		break;
	}
	free(p);
	return 0;
}
