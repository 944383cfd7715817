/* SPDX-License-Identifier: BSD-2-Clause */
/* Texts of syndromes, from tables that a user loads: hostile input. */
#include <stdlib.h>
#include <string.h>

#include "text.h"

#define LINE_MAX 4096u      /* of a table; longer ones are no table */
#define ENTRIES_MAX 1000000u

struct entry {
	uint32_t first, last;
	char *text;
};

/* Looked up from the end: a table that came later goes before. */
struct prm_syndromes {
	struct entry *entries;
	size_t n, room;
};

struct prm_syndromes *prm_syndromes_new(void)
{
	return calloc(1, sizeof(struct prm_syndromes));
}

static void cut(struct prm_syndromes *s, size_t n)
{
	while (s->n > n)
		free(s->entries[--s->n].text);
}

void prm_syndromes_free(struct prm_syndromes *s)
{
	if (!s)
		return;
	cut(s, 0);
	free(s->entries);
	free(s);
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

/* A number of 32 bits, decimal or 0x; false: none is at *p. */
static bool number(const char **p, const char *end, uint32_t *value)
{
	const char *at = *p;
	int base = 10;
	uint64_t v = 0;
	size_t n = 0;

	if (end - at > 2 && at[0] == '0' && (at[1] | 0x20) == 'x') {
		base = 16;
		at += 2;
	}
	for (; at < end && digit(*at) < base; at++, n++) {
		v = v * (unsigned int)base + (unsigned int)digit(*at);
		if (v > UINT32_MAX)
			return false;
	}
	*p = at;
	*value = (uint32_t)v;
	return n != 0;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static const char *add_line(struct prm_syndromes *s, const char *p, const char *end)
{
	struct entry e;

	while (p < end && is_blank(*p))
		p++;
	while (end > p && is_blank(end[-1]))
		end--;
	if (p == end || *p == '#')
		return NULL;
	if (end - p > (ptrdiff_t)LINE_MAX)
		return "the line is too long";
	for (const char *c = p; c < end; c++)
		if ((unsigned char)*c < 0x20 && *c != '\t')
			return "the line has a control character";
	if (!number(&p, end, &e.first))
		return "a line begins with a number of 32 bits";
	e.last = e.first;
	if (p < end && *p == '-') {
		p++;
		if (!number(&p, end, &e.last) || e.last < e.first)
			return "a range is first-last";
	}
	if (p == end || !is_blank(*p))
		return "behind the number come blanks and a text";
	while (is_blank(*p))
		p++;
	if (s->n == ENTRIES_MAX)
		return "the table is too long";
	if (s->n == s->room) {
		size_t room = s->room ? s->room * 2 : 64;
		struct entry *entries = realloc(s->entries, room * sizeof(*entries));

		if (!entries)
			return "out of memory";
		s->entries = entries;
		s->room = room;
	}
	e.text = strndup(p, (size_t)(end - p));
	if (!e.text)
		return "out of memory";
	s->entries[s->n++] = e;
	return NULL;
}

bool prm_syndromes_add(struct prm_syndromes *s, const char *text, size_t len, unsigned int *line, const char **why)
{
	const char *end = text + len;
	size_t before = s->n;

	*line = 0;
	while (text < end) {
		const char *eol = memchr(text, '\n', (size_t)(end - text));

		if (!eol)
			eol = end;
		++*line;
		*why = add_line(s, text, eol);
		if (*why) {
			cut(s, before);
			return false;
		}
		text = eol + (eol < end);
	}
	return true;
}

const char *prm_syndrome(const struct prm_syndromes *s, uint32_t syndrome)
{
	for (size_t i = s ? s->n : 0; i-- > 0;)
		if (syndrome >= s->entries[i].first && syndrome <= s->entries[i].last)
			return s->entries[i].text;
	return NULL;
}
