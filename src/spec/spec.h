/* SPDX-License-Identifier: BSD-2-Clause */
/* The grammar of OPENDEVX_SOFT and of fault rules: text in, checked values out. */
#ifndef SPEC_H
#define SPEC_H

#include <stdbool.h>
#include <stddef.h>

#include "hca.h"

struct spec {
	struct hca_config hca;
	bool inline_cmds;   /* commands run in the thread that submits them */
	bool manual_clock;
	bool kernel_quirks; /* design exceptions 1 and 2 off: failures look as the kernel shows them */
};

#define SPEC_MAX 512

enum spec_result { SPEC_OK, SPEC_OFF, SPEC_BAD };

/* SPEC_BAD: one line on stderr has named the word and its position. where names the source in that line. */
enum spec_result spec_parse(const char *text, const char *where, struct spec *spec);
/* The whole spec as text that parses to the same; returns the length that it needs. */
size_t spec_print(const struct spec *spec, char *buf, size_t len);

/* False: as above, one line on stderr. clear is set for "clear". */
bool spec_rule_parse(const char *text, struct hca_fault *fault, bool *clear);
/* The same, but what stderr would hear is put into message, as far as there is room. */
bool spec_rule_parse_to(const char *text, struct hca_fault *fault, bool *clear, char *message, size_t room);

#endif
