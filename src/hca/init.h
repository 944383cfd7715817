/* SPDX-License-Identifier: BSD-2-Clause */
/* What only a bare device has: the states that a driver takes it through (init.c), the pages that it is given (pages.c). */
#ifndef HCA_INIT_H
#define HCA_INIT_H

#include "model.h"

enum init_state { INIT_DISABLED, INIT_ENABLED, INIT_READY };

/*
 * Pages, of 4 KiB. The device has no use for their content: it counts them as a real one does. Our choice of numbers: some for
 * the boot and for INIT_HCA, then one for each 64 objects. When few are free it asks for more, when many are it gives some
 * back. The free ones last for 5,000 objects, which is how many a program may make while the driver answers.
 */
#define PAGE_BYTES 4096u
#define PAGES_BOOT 16u
#define PAGES_INIT 128u      /* besides those of the boot */
#define PAGES_OWN 64u        /* of both, in use from INIT_HCA on */
#define OBJECTS_PER_PAGE 64u
#define PAGES_LOW 80u        /* fewer free ones: more are asked for */
#define PAGES_STEP 64u       /* as many at a time */
#define PAGES_HIGH (PAGES_LOW + 2 * PAGES_STEP) /* more free ones: a step is given back */
#define PAGES_MAX (1u << 20) /* 4 GiB; more are not taken */

struct pages {
	uint64_t *given;  /* in the order of giving */
	uint32_t *places; /* hash table over them: index in given and 1; 0: empty */
	uint64_t secret;  /* of their hash */
	uint32_t n, room; /* room for given; places has twice as many */
	uint32_t low;     /* as PAGES_LOW; halved each time that the driver has none to give */
	bool asked, told; /* an event asked for pages, or told of ones to give back, and no answer came yet */
};

#define CAP_TYPES 0x40u

struct init {
	enum init_state state;
	uint32_t issi;
	struct pages pages;
	uint8_t *caps[CAP_TYPES]; /* pages that the driver has set, by type */
};

#define CAP_PAGE_BYTES 4096u

struct init *init_new(void); /* NULL: no memory */
void init_free(struct init *i);

extern const struct hca_op ops_init[], ops_pages[];

/* May this command be given in the state that the device is in? */
enum syn init_allows(const struct hca *h, uint16_t opcode);
/* All objects are gone, and what a driver set is as at the start. */
void init_objects_gone(struct hca *h);

/* caps.c: they are at their maximum again. */
void caps_forget(struct hca *h);
void pages_forget(struct pages *p);
uint32_t pages_in_use(const struct hca *h);
bool pages_missing(const struct hca *h); /* for INIT_HCA */
/* Is there a page for one more object? Always, where a device is not bare. */
bool pages_allow(const struct hca *h);
/* After a command: asks for pages, or offers some, by an event. */
void pages_watch(struct hca *h);

#endif
