/* SPDX-License-Identifier: BSD-2-Clause */
/* An inbox out of words: "field=value". */
#ifndef DEVX_BUILD_H
#define DEVX_BUILD_H

#include "text.h"

/* A command that ran, or a resource that a step took: what "$N.field" refers to. */
struct answer {
	struct prm_what what;
	const uint8_t *box; /* NULL: it did not run */
	size_t len;
	const char *word; /* a resource: the name of its one value; else NULL */
	uint32_t value;
};

struct inbox {
	uint8_t *p; /* PRM_BOX_MAX bytes */
	size_t len;
	struct prm_what what;
};

/*
 * Builds it. answers: those of the steps before, n of them; a reference to one that did not run is checked, and 0.
 * False: said on stderr what is wrong.
 */
bool build_inbox(struct inbox *in, const struct prm_command *c, char **words, int n_words, const struct answer *answers,
		 unsigned int n);
/* A number, or a reference; n as above. */
bool build_number(const char *text, uint64_t *value, const struct answer *answers, unsigned int n);
/* The bytes that an outbox has room for, if nobody says more. */
size_t build_outlen(const struct prm_what *what);

#endif
