/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "hex.h"

struct reader {
	uint8_t *out;
	size_t max, n;
	size_t last;      /* where the bytes of the last line with bytes begin */
	unsigned int unit; /* bytes of an element of a list of 0x numbers; 0: plain digits */
	bool offsets;     /* lines begin with them */
	bool repeat;      /* hexdump's '*': the last line goes on to the next offset */
	const char *why;
};

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'))
		return (c | 0x20) - 'a' + 10;
	return -1;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

bool hex_is_text(const void *p, size_t len)
{
	const uint8_t *b = p;

	for (size_t i = 0; i < len; i++)
		if (b[i] >= 0x7f || (b[i] < 0x20 && !strchr("\t\n\r\f", b[i])) || !b[i])
			return false;
	return true;
}

static bool fail(struct reader *r, const char *why)
{
	r->why = why;
	return false;
}

static size_t digits_of(const char *p, const char *end)
{
	const char *at = p;

	while (at < end && digit(*at) >= 0)
		at++;
	return (size_t)(at - p);
}

static bool add(struct reader *r, uint8_t byte)
{
	if (r->n == r->max)
		return fail(r, "there are more bytes than a command can have");
	r->out[r->n++] = byte;
	return true;
}

/* Digits, two a byte. */
static bool add_digits(struct reader *r, const char *p, size_t n)
{
	if (n % 2)
		return fail(r, "an odd number of hex digits");
	for (size_t i = 0; i < n; i += 2)
		if (!add(r, (uint8_t)(digit(p[i]) << 4 | digit(p[i + 1]))))
			return false;
	return true;
}

/* Fills up to an offset with repetitions of the last line, as '*' says. */
static bool fill(struct reader *r, size_t offset)
{
	size_t from = r->last, len = r->n - from;

	r->repeat = false;
	if (!len || offset < r->n || offset > r->max)
		return fail(r, "an offset does not fit behind '*'");
	for (size_t i = 0; r->n < offset; i++)
		if (!add(r, r->out[from + i % len]))
			return false;
	return true;
}

/* Digits that begin a line, read as its offset; false: they are none. alone: it may stand there without bytes. */
static bool offset_of(bool alone, const char *p, const char *end, size_t digits, size_t *value)
{
	const char *rest = p + digits;

	*value = 0;
	if (digits < 3 || digits > 16)
		return false;
	for (size_t i = 0; i < digits; i++)
		*value = *value << 4 | (size_t)digit(p[i]);
	if (rest < end && *rest == ':')
		return true;
	/* Without a colon: six digits and more, followed by groups of another length. */
	while (rest < end && is_blank(*rest))
		rest++;
	return digits >= 6 && (rest == end ? alone : digits_of(rest, end) != digits);
}

/* A line of a dump: its groups up to the column of characters. swap: pairs as a little-endian machine has them in a word. */
static bool dump_line(struct reader *r, const char *p, const char *end, bool colon, bool swap)
{
	const char *from = p;
	size_t before = r->n;

	while (p < end) {
		size_t n;

		for (from = p; p < end && is_blank(*p); p++)
			;
		if (p == end || *p == '|' || *p == '>')
			break;
		/* xxd: two blanks stand before the characters. */
		if (colon && r->n > before && p - from >= 2)
			break;
		n = digits_of(p, end);
		if (!n || (p + n < end && !is_blank(p[n])))
			return fail(r, "something in it is not hex");
		if (!add_digits(r, p, n))
			return false;
		if (swap) {
			uint8_t high = r->out[r->n - 1];

			r->out[r->n - 1] = r->out[r->n - 2];
			r->out[r->n - 2] = high;
		}
		p += n;
	}
	if (r->n > before)
		r->last = before;
	return true;
}

/* hexdump without -C: an offset of seven digits, and groups of four, all of them. */
static bool is_words(const char *p, const char *end, size_t digits)
{
	bool any = false;

	if (digits != 7)
		return false;
	for (p += digits; p < end;) {
		size_t n;

		while (p < end && is_blank(*p))
			p++;
		n = digits_of(p, end);
		if (n != 4 && p < end)
			return false;
		any = any || n == 4;
		p += n;
	}
	return any;
}

/* What a kernel log puts before a line of mlx5_core: "[  123.456789] cmd[0]: ". */
static const char *behind_log(const char *p, const char *end)
{
	const char *at = p;

	if (at < end && *at == '[') {
		for (at++; at < end && (is_blank(*at) || *at == '.' || (*at >= '0' && *at <= '9')); at++)
			;
		if (at == end || *at != ']')
			return p;
		for (at++; at < end && is_blank(*at); at++)
			;
	}
	if (end - at > 4 && !memcmp(at, "cmd[", 4)) {
		for (at += 4; at < end && *at >= '0' && *at <= '9'; at++)
			;
		if (end - at < 2 || memcmp(at, "]:", 2))
			return p;
		for (at += 2; at < end && is_blank(*at); at++)
			;
	}
	return at;
}

static bool plain_line(struct reader *r, const char *p, const char *end)
{
	size_t digits, offset;

	p = behind_log(p, end);
	digits = digits_of(p, end);
	if (end - p == 1 && *p == '*' && r->offsets) {
		r->repeat = true;
		return true;
	}
	if (offset_of(r->offsets, p, end, digits, &offset) && (offset == r->n || r->repeat || (r->offsets && offset >= r->n)) &&
	    (r->offsets || !r->n)) {
		const char *rest = p + digits;
		bool colon = rest < end && *rest == ':';

		r->offsets = true;
		if (r->repeat && !fill(r, offset))
			return false;
		if (offset != r->n && rest + colon < end)
			return fail(r, "its offset does not follow the line before");
		return dump_line(r, rest + colon, end, colon, is_words(p, end, digits));
	}
	if (r->offsets)
		return fail(r, "it has no offset, as the lines before have");
	return dump_line(r, p, end, false, false);
}

/* 0x numbers, decimal ones, and \x escapes, with what stands between them in C. */
static bool list_line(struct reader *r, const char *p, const char *end)
{
	while (p < end) {
		uint64_t v = 0;
		size_t n;

		if (is_blank(*p) || strchr(",;\"'(){}", *p)) {
			p++;
			continue;
		}
		if ((end - p > 2 && *p == '0' && (p[1] | 0x20) == 'x') || (end - p > 2 && *p == '\\' && p[1] == 'x')) {
			p += 2;
			n = digits_of(p, end);
			if (!n || n > r->unit * 2)
				return fail(r, "a number after 0x is missing or too long");
			for (size_t i = 0; i < n; i++)
				v = v << 4 | (uint64_t)digit(p[i]);
		} else {
			for (n = 0; p + n < end && p[n] >= '0' && p[n] <= '9' && v < UINT64_MAX / 10 - 9; n++)
				v = v * 10 + (uint64_t)(p[n] - '0');
			if (!n || (r->unit < 8 && v >> r->unit * 8))
				return fail(r, "something in it is no number of the list");
		}
		p += n;
		if (p < end && !is_blank(*p) && !strchr(",;\"'(){}\\uUlL", *p))
			return fail(r, "something in it is no number of the list");
		while (p < end && strchr("uUlL", *p))
			p++;
		for (unsigned int i = r->unit; i-- > 0;)
			if (!add(r, (uint8_t)(v >> i * 8)))
				return false;
	}
	return true;
}

/* The bytes of the longest 0x number or \x escape, as 1, 2, 4 or 8: all elements of an array are that long. 0: none is. */
static unsigned int unit_of(const char *p, const char *end)
{
	size_t longest = 0;

	for (; end - p > 2; p++) {
		size_t n;

		if (!((*p == '0' || *p == '\\') && (p[1] | 0x20) == 'x'))
			continue;
		n = digits_of(p + 2, end);
		if (n > longest)
			longest = n;
	}
	return longest > 8 ? 8 : longest > 4 ? 4 : longest > 2 ? 2 : longest ? 1 : 0;
}

bool hex_read(const char *text, size_t len, uint8_t *out, size_t max, size_t *n, unsigned int *line,
	      const char **why)
{
	struct reader r = { .out = out, .max = max };
	const char *end = text + len, *open, *p = text;
	bool ok = true;

	*line = 1;
	r.unit = unit_of(text, end);
	/* A C array: what stands before its brace is a declaration. */
	open = r.unit ? memchr(text, '{', len) : NULL;
	for (; open && p < open; p++)
		*line += *p == '\n';
	if (open) {
		const char *close = memchr(open, '}', (size_t)(end - open));

		p = open + 1;
		end = close ? close : end;
	}
	for (--*line; p < end && ok;) {
		const char *eol = memchr(p, '\n', (size_t)(end - p)), *from = p;

		if (!eol)
			eol = end;
		++*line;
		p = eol + (eol < end);
		while (eol > from && is_blank(eol[-1]))
			eol--;
		while (from < eol && is_blank(*from))
			from++;
		if (from < eol && *from != '#')
			ok = r.unit ? list_line(&r, from, eol) : plain_line(&r, from, eol);
	}
	if (ok && r.repeat)
		ok = fail(&r, "nothing follows '*'");
	*n = r.n;
	*why = r.why;
	return ok;
}
