/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A whole inbox or outbox by the names of its fields: as items for a visitor, as text, and a field's place by its path. Boxes
 * are hostile: nothing outside them is read, whatever they claim.
 */
#ifndef PRM_TEXT_H
#define PRM_TEXT_H

#include "prm.h"

/* What a box is. An outbox does not say it: it is what its inbox was. */
struct prm_what {
	bool out;
	bool known;      /* false: an outbox whose inbox nobody knows; it has only the common header */
	bool qpc_ext;    /* the inbox asked for a QP with its extension, which moves the page list */
	uint16_t opcode;
	uint16_t op_mod; /* or obj_type: says which object or capability page there is */
};

/* What an inbox is; what.out = true then describes its outbox. Shorter than a header: whatever its bytes say. */
struct prm_what prm_what_of(const void *in, size_t len);
/* The layout of the box; NULL: none is known. */
const struct prm_layout *prm_what_layout(const struct prm_what *what);
/* The layout of the object behind the header of a general object's box; NULL: none, or none is known. */
const struct prm_layout *prm_what_object(const struct prm_what *what);
#define PRM_OBJECT "obj" /* the first word of the paths of its fields */
/* The layout of a capability page or general object; NULL: none is known. */
const struct prm_layout *prm_cap_layout(uint32_t type);
const struct prm_layout *prm_object_layout(uint32_t type);

enum prm_item_kind {
	PRM_ITEM_FIELD,     /* value, width */
	PRM_ITEM_BYTES,     /* p, len: a list of bytes, or a field wider than 64 bits */
	PRM_ITEM_OPEN,      /* a nested layout begins; its items follow */
	PRM_ITEM_CLOSE,
	PRM_ITEM_UNDEFINED, /* value: the bits of the dword at offset that are set and that no field covers */
	PRM_ITEM_TAIL,      /* p, len: bytes behind the layout, or all of them when there is none */
};

struct prm_item {
	enum prm_item_kind kind;
	unsigned int depth;            /* 0: of the box itself */
	const char *path;              /* "cq_context.log_cq_size", "pas[3]"; of UNDEFINED the layout's, may be "" */
	const char *name;              /* the last word of the path, without an index */
	int64_t index;                 /* in a list; -1: there is no list */
	uint32_t offset;               /* bytes from the start of the box */
	uint32_t width;
	uint64_t value;
	const struct prm_enum *values; /* FIELD: names, or NULL */
	const uint8_t *p;
	size_t len;
};

/* False ends the walk. The item lives only as long as the call. */
typedef bool (*prm_visit)(void *arg, const struct prm_item *item);
void prm_walk(const struct prm_what *what, const void *box, size_t len, prm_visit visit, void *arg);
/* The same for one layout, such as a capability page. */
void prm_walk_layout(const struct prm_layout *layout, const void *box, size_t len, prm_visit visit, void *arg);

/* A field by its path. False: there is none; then *bad is the first word of the path that is wrong, and *in its layout. */
struct prm_place {
	const struct prm_layout *layout; /* that has the field */
	const struct prm_field *field;
	uint32_t bit, width;             /* of one element, from the start of the box */
	uint32_t count;                  /* elements from there on: more than one for a list without index; 0: as many as fit */
	uint32_t end;                    /* bits that a box has that holds it whole, with the list elements that it lies in */
};

bool prm_find(const struct prm_layout *layout, const char *path, struct prm_place *place, const char **bad,
	      const struct prm_layout **in);

/* Texts of syndromes: tables that the user loads. */
struct prm_syndromes;
struct prm_syndromes *prm_syndromes_new(void);
void prm_syndromes_free(struct prm_syndromes *s);
/*
 * Adds a table; its entries go before those of earlier ones. A line: a number or first-last, decimal or 0x, blanks, and the
 * text; # begins a comment line. False with the line (from 1) and the reason: nothing was added.
 */
bool prm_syndromes_add(struct prm_syndromes *s, const char *text, size_t len, unsigned int *line, const char **why);
const char *prm_syndrome(const struct prm_syndromes *s, uint32_t syndrome); /* NULL: unknown; s may be NULL */

/* Where text goes, in pieces that do not end in a NUL. */
struct prm_writer {
	void (*put)(void *arg, const char *text, size_t len);
	void *arg;
};

struct prm_style {
	bool zeros; /* print also the fields inside contexts and the list elements that are 0 */
	const struct prm_syndromes *syndromes;
};

/* A headline, and a line for each field. style may be NULL. */
void prm_text(const struct prm_what *what, const void *box, size_t len, const struct prm_style *style,
	      const struct prm_writer *to);
/* One layout, such as a capability page or an EQE. */
void prm_text_layout(const struct prm_layout *layout, const void *box, size_t len, const struct prm_style *style,
		     const struct prm_writer *to);
/* The first, cut to size and ended by a NUL; size may be 0. Returns the length of the whole text. */
size_t prm_text_buf(const struct prm_what *what, const void *box, size_t len, const struct prm_style *style, char *buf,
		    size_t size);
/* A value with its names: "3 (RTS)", "0xc (FWD_DEST|COUNT)". values may be NULL. */
void prm_text_value(uint64_t value, const struct prm_enum *values, const struct prm_writer *to);
/* The names alone: "RTS", "FWD_DEST|COUNT|0x8000". "": it has none. */
void prm_text_names(uint64_t value, const struct prm_enum *values, char *buf, size_t size);
const char *prm_errno_name(int err); /* of those that statuses turn into; "" for 0 and others */

#endif
