/* SPDX-License-Identifier: BSD-2-Clause */
/* What decode, cmd and caps share: boxes printed and as JSON, opcodes by name, syndromes. */
#ifndef DEVX_BOXTEXT_H
#define DEVX_BOXTEXT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text.h"

/* With the table of the software device in it. NULL: no memory. */
struct prm_syndromes *box_syndromes_new(void);
/* Adds the table in a file. These say on stderr what is wrong. */
bool box_syndromes(struct prm_syndromes *s, const char *path);
bool box_opcode(const char *text, uint16_t *opcode); /* by name, in any case, or by number */
bool box_op_mod(uint16_t opcode, const char *text, uint16_t *op_mod);

/* Returns an exit code. */
int box_print(const struct prm_what *what, const void *box, size_t len, const struct prm_syndromes *s, bool zeros);
/* All of a box; NULL: no memory. */
json_t *box_json(const struct prm_what *what, const void *box, size_t len, const struct prm_syndromes *s);
/* The same for one layout; the second has its fields alone. */
int box_print_layout(const struct prm_layout *layout, const void *box, size_t len, bool zeros);
json_t *box_json_one(const struct prm_layout *layout, const void *box, size_t len);
json_t *box_json_layout(const struct prm_layout *layout, const void *box, size_t len);

/* A number, decimal or 0x; false: text is none, or does not fit 64 bits. */
bool box_number(const char *text, uint64_t *value);
/* A value by its name, in any case; flags joined by '|'. false: a word of it is unknown. */
bool box_named(const struct prm_enum *e, const char *text, uint64_t *value);

/* The candidates nearest to a word that is none of them: for "did you mean". */
struct near {
	const char *word;
	const char *best[3];
	unsigned int distance[3];
};

void near_try(struct near *n, const char *candidate);
/* ", did you mean \"a\", \"b\" or \"c\"?" to buf; "" when nothing is near. */
void near_text(const struct near *n, char *buf, size_t size);

#endif
