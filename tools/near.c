/* SPDX-License-Identifier: BSD-2-Clause */
/* The words nearest to one that is unknown. */
#include <stdio.h>
#include <string.h>

#include "boxtext.h"

#define WORD_MAX 64u

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/* Letters to change, add, take out or swap with their neighbour (Damerau-Levenshtein, each place edited once). */
static unsigned int distance(const char *a, const char *b)
{
	unsigned int rows[3][WORD_MAX + 1], *before = rows[0], *last = rows[1], *row = rows[2];
	size_t n = strnlen(a, WORD_MAX), m = strnlen(b, WORD_MAX);

	for (unsigned int k = 0; k <= m; k++)
		last[k] = k;
	for (size_t i = 1; i <= n; i++) {
		unsigned int *spare = before;

		row[0] = (unsigned int)i;
		for (size_t k = 1; k <= m; k++) {
			bool same = lower(a[i - 1]) == lower(b[k - 1]);

			row[k] = least(least(last[k], row[k - 1]) + 1, last[k - 1] + !same);
			if (i > 1 && k > 1 && lower(a[i - 1]) == lower(b[k - 2]) && lower(a[i - 2]) == lower(b[k - 1]))
				row[k] = least(row[k], before[k - 2] + 1);
		}
		before = last;
		last = row;
		row = spare;
	}
	return last[m];
}

void near_try(struct near *n, const char *candidate)
{
	unsigned int d = distance(n->word, candidate), k = 3;

	/* A word that is a part of the other one is nearer than its length says. */
	if ((strlen(n->word) >= 3 && strcasestr(candidate, n->word)) || (strlen(candidate) >= 3 && strcasestr(n->word, candidate)))
		d = least(d, 1);
	if (d > 1 + strlen(n->word) / 3)
		return;
	for (unsigned int i = 0; i < 3; i++)
		if (n->best[i] && !strcmp(n->best[i], candidate))
			return;
	while (k && (!n->best[k - 1] || n->distance[k - 1] > d))
		k--;
	for (unsigned int i = 2; i > k && k < 3; i--) {
		n->best[i] = n->best[i - 1];
		n->distance[i] = n->distance[i - 1];
	}
	if (k < 3) {
		n->best[k] = candidate;
		n->distance[k] = d;
	}
}

void near_text(const struct near *n, char *buf, size_t size)
{
	const char *const *b = n->best;

	if (!b[0])
		snprintf(buf, size, "%s", "");
	else if (!b[1])
		snprintf(buf, size, "; did you mean \"%s\"?", b[0]);
	else if (!b[2])
		snprintf(buf, size, "; did you mean \"%s\" or \"%s\"?", b[0], b[1]);
	else
		snprintf(buf, size, "; did you mean \"%s\", \"%s\" or \"%s\"?", b[0], b[1], b[2]);
}
