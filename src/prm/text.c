/* SPDX-License-Identifier: BSD-2-Clause */
/* Boxes and values as text. */
#include <errno.h>
#include <string.h>

#include "text.h"

#define INLINE_BYTES 64u /* longer ones are dumped in lines of 16 */

struct text {
	const struct prm_writer *to;
	const struct prm_style *style;
	const struct prm_what *what;
	unsigned int left_out;
};

static void put_n(const struct prm_writer *to, const char *s, size_t n)
{
	if (n)
		to->put(to->arg, s, n);
}

static void put(const struct prm_writer *to, const char *s)
{
	put_n(to, s, strlen(s));
}

/* digits: at least so many. */
static void put_number(const struct prm_writer *to, uint64_t v, unsigned int base, unsigned int digits)
{
	char buf[24];
	unsigned int n = sizeof(buf);

	do
		buf[--n] = "0123456789abcdef"[v % base];
	while ((v /= base) || sizeof(buf) - n < digits);
	put_n(to, buf + n, sizeof(buf) - n);
}

static void put_hex(const struct prm_writer *to, uint64_t v)
{
	if (v > 9)
		put(to, "0x");
	put_number(to, v, 16, 1);
}

struct buf {
	char *p;
	size_t size, len;
};

static void put_buf(void *arg, const char *text, size_t len)
{
	struct buf *b = arg;

	if (b->len < b->size) {
		size_t room = b->size - b->len;

		memcpy(b->p + b->len, text, len < room ? len : room);
	}
	b->len += len;
}

static void end_buf(struct buf *b)
{
	if (b->size)
		b->p[b->len < b->size ? b->len : b->size - 1] = 0;
}

const char *prm_errno_name(int err)
{
	switch (err) {
	case EIO:
		return "EIO";
	case EINVAL:
		return "EINVAL";
	case EBUSY:
		return "EBUSY";
	case EAGAIN:
		return "EAGAIN";
	case ENOMEM:
		return "ENOMEM";
	default:
		return "";
	}
}

/* False: there is no name. Bits without one come as a number. */
static bool put_names(const struct prm_writer *to, uint64_t value, const struct prm_enum *e)
{
	const struct prm_value *v = e ? prm_value(e, value) : NULL;
	uint64_t rest = value;
	bool any = false;

	if (v) {
		put(to, v->name);
		return true;
	}
	if (!e || !e->flags || !value)
		return false;
	for (unsigned int i = 0; i < e->n_values; i++) {
		if (!e->values[i].value || (rest & e->values[i].value) != e->values[i].value)
			continue;
		put(to, any ? "|" : "");
		put(to, e->values[i].name);
		rest &= ~e->values[i].value;
		any = true;
	}
	if (any && rest) {
		put(to, "|");
		put_hex(to, rest);
	}
	return any;
}

void prm_text_names(uint64_t value, const struct prm_enum *values, char *buf, size_t size)
{
	struct buf b = { .p = buf, .size = size };
	const struct prm_writer to = { put_buf, &b };

	put_names(&to, value, values);
	end_buf(&b);
}

void prm_text_value(uint64_t value, const struct prm_enum *values, const struct prm_writer *to)
{
	char names[512];

	prm_text_names(value, values, names, sizeof(names));
	put_hex(to, value);
	if (names[0]) {
		put(to, " (");
		put(to, names);
		put(to, ")");
	} else if (value > 9 && value <= UINT32_MAX) {
		put(to, " (");
		put_number(to, value, 10, 1);
		put(to, ")");
	}
}

static bool all_zero(const uint8_t *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (p[i])
			return false;
	return true;
}

static void put_bytes(const struct prm_writer *to, const uint8_t *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		put_number(to, p[i], 16, 2);
}

/* Lines of 16 bytes; of lines that repeat the one before only the first, then '*'. */
static void dump(const struct prm_writer *to, const uint8_t *p, size_t len, uint32_t offset)
{
	bool starred = false;

	for (size_t i = 0; i < len; i += 16) {
		size_t n = len - i < 16 ? len - i : 16;

		if (i && n == 16 && i + 16 < len && !memcmp(p + i, p + i - 16, 16)) {
			put(to, starred ? "" : "    *\n");
			starred = true;
			continue;
		}
		starred = false;
		put(to, "    0x");
		put_number(to, offset + i, 16, 4);
		put(to, ":");
		for (size_t k = 0; k < n; k++) {
			put(to, k % 4 ? "" : " ");
			put_number(to, p[i + k], 16, 2);
		}
		put(to, "\n");
	}
}

static void text_bytes(struct text *t, const struct prm_item *item)
{
	put(t->to, "  ");
	put(t->to, item->path);
	if (item->len > INLINE_BYTES) {
		put(t->to, " =\n");
		dump(t->to, item->p, item->len, item->offset);
		return;
	}
	put(t->to, " = 0x");
	put_bytes(t->to, item->p, item->len);
	put(t->to, "\n");
}

static void text_field(struct text *t, const struct prm_item *item)
{
	const char *text = NULL;

	put(t->to, "  ");
	put(t->to, item->path);
	put(t->to, " = ");
	if (t->what->out && !item->depth && !strcmp(item->path, "syndrome") && item->value)
		text = prm_syndrome(t->style->syndromes, (uint32_t)item->value);
	if (text) {
		put_hex(t->to, item->value);
		put(t->to, " (");
		put(t->to, text);
		put(t->to, ")");
	} else {
		prm_text_value(item->value, item->values, t->to);
	}
	put(t->to, "\n");
}

static bool text_item(void *arg, const struct prm_item *item)
{
	struct text *t = arg;
	bool minor = (item->depth || item->index >= 0) && !t->style->zeros;

	switch (item->kind) {
	case PRM_ITEM_FIELD:
		if (minor && !item->value)
			t->left_out++;
		else
			text_field(t, item);
		break;
	case PRM_ITEM_BYTES:
		if (minor && all_zero(item->p, item->len))
			t->left_out++;
		else
			text_bytes(t, item);
		break;
	case PRM_ITEM_UNDEFINED:
		put(t->to, "  not defined");
		put(t->to, *item->path ? " in " : "");
		put(t->to, item->path);
		put(t->to, ", dword at 0x");
		put_number(t->to, item->offset, 16, 4);
		put(t->to, ": 0x");
		put_number(t->to, item->value, 16, item->width / 4);
		put(t->to, "\n");
		break;
	case PRM_ITEM_TAIL:
		put(t->to, "  not described, from 0x");
		put_number(t->to, item->offset, 16, 4);
		put(t->to, " on, ");
		put_number(t->to, item->len, 10, 1);
		put(t->to, item->len > 1 && all_zero(item->p, item->len) ? " bytes of 0\n" : item->len == 1 ? " byte:\n" : " bytes:\n");
		if (item->len == 1 || !all_zero(item->p, item->len))
			dump(t->to, item->p, item->len, item->offset);
		break;
	case PRM_ITEM_OPEN:
	case PRM_ITEM_CLOSE:
		break;
	}
	return true;
}

static void put_length(const struct prm_layout *l, size_t len, const struct prm_writer *to)
{
	put_number(to, len, 10, 1);
	put(to, len == 1 ? " byte" : " bytes");
	if (l && len < l->bits / 8) {
		put(to, ", cut off: the layout has ");
		put_number(to, l->bits / 8, 10, 1);
	}
}

static void headline(const struct prm_what *what, const void *box, size_t len, const struct prm_writer *to)
{
	const char *name = prm_opcode_name(what->opcode);
	const struct prm_layout *l = prm_what_layout(what);
	struct prm_box b = prm_in(box, len);

	if (what->known) {
		put(to, name ? name : "unknown command");
		put(to, " (0x");
		put_number(to, what->opcode, 16, 3);
		put(to, what->out ? ") outbox, " : ") inbox, ");
	} else {
		put(to, "outbox of an unknown command, ");
	}
	put_length(l, len, to);
	if (what->known && name && !(what->out ? prm_outbox_layout(what->opcode) : l))
		put(to, ", no layout is known");
	if (what->out && len) {
		uint8_t status = (uint8_t)PRM_GET(&b, general_obj_out_cmd_hdr, status);
		int err = prm_status_errno(status);

		put(to, ": ");
		put(to, prm_status_name(status));
		if (err) {
			put(to, ", errno ");
			put(to, prm_errno_name(err));
		}
	}
	put(to, "\n");
}

static const struct prm_style plain = { 0 };

static void put_left_out(const struct text *t)
{
	if (!t->left_out)
		return;
	put(t->to, "  (");
	put_number(t->to, t->left_out, 10, 1);
	put(t->to, t->left_out == 1 ? " field that is 0 is left out)\n" : " fields that are 0 are left out)\n");
}

void prm_text_layout(const struct prm_layout *layout, const void *box, size_t len, const struct prm_style *style,
		     const struct prm_writer *to)
{
	static const struct prm_what none = { 0 };
	struct text t = { .to = to, .style = style ? style : &plain, .what = &none };

	put(to, layout->name);
	put(to, ", ");
	put_length(layout, len, to);
	put(to, "\n");
	prm_walk_layout(layout, box, len, text_item, &t);
	put_left_out(&t);
}

void prm_text(const struct prm_what *what, const void *box, size_t len, const struct prm_style *style,
	      const struct prm_writer *to)
{
	struct text t = { .to = to, .style = style ? style : &plain, .what = what };

	headline(what, box, len, to);
	prm_walk(what, box, len, text_item, &t);
	put_left_out(&t);
}

size_t prm_text_buf(const struct prm_what *what, const void *box, size_t len, const struct prm_style *style, char *buf,
		    size_t size)
{
	struct buf b = { .p = buf, .size = size };
	const struct prm_writer to = { put_buf, &b };

	prm_text(what, box, len, style, &to);
	end_buf(&b);
	return b.len;
}
