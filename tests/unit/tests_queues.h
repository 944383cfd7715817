/* SPDX-License-Identifier: BSD-2-Clause */
/* What tests of queues begin with, and the inboxes of their creation, right as they are and to be changed. */
#ifndef TEST_QUEUES_H
#define TEST_QUEUES_H

#include "dev.h"
#include "queues.h"

struct base {
	struct dev *d;
	uint16_t uid, other; /* all below is uid's; other has nothing */
	uint32_t pd, td, cqn, umem, ro, foreign; /* umem: two pages; ro: the same, read only; foreign: other's */
	struct prm_box data; /* of the last event */
};

struct base queues_base(void **state);

/* Of a bare device: the CQ is the driver's, as Linux gives one to queues of programs that need none; there are no umems. */
struct base bare_base(void **state);

/* A command, and the context inside its inbox. */
struct make {
	struct cmd c;
	struct prm_box ctx;
};

/* n entries behind the fixed part of an inbox, pages every step bytes from the first on; the inbox ends with them. */
void list_pas(struct cmd *c, uint32_t list, uint32_t n, uint64_t first, uint64_t step);
/* A CQ of two listed pages, on an EQ of the driver. */
#define PAS_PAGES 2u
#define PAS_DBR 0x7000u
void make_pas_cq(struct base *b, struct make *m);

void make_rq(struct base *b, struct make *m);
void make_hairpin_rq(struct base *b, struct make *m);
void make_sq(struct base *b, struct make *m, uint32_t tisn);
void make_rmp(struct base *b, struct make *m);
void make_srq(struct base *b, struct make *m);
void make_xrc_srq(struct base *b, struct make *m, uint32_t xrcd);
void make_xrq(struct base *b, struct make *m);

/* All creates answer alike, ALLOC_PD and its kind too: the id stands in the low 24 bits at byte 8. */
uint32_t create_ok(struct base *b, struct make *m);
/* With one field of a box changed and put back after. */
void create_with(struct base *b, struct make *m, struct prm_box *box, uint32_t bit, uint32_t width, uint64_t v, enum syn why);
uint32_t new_rq(struct base *b);
uint32_t new_td(struct dev *d, uint16_t uid);
uint32_t new_xrcd(struct base *b);
/* The context that a query shows. */
#define QUERY_CTX(b, c, op, layout, field, id) query_ctx_(b, c, PRM_OP_##op, id, PRM_SZ(layout), PRM_F_##layout##__##field)
struct prm_box query_ctx_(struct base *b, struct cmd *c, uint16_t opcode, uint32_t id, uint32_t outlen, uint32_t bit, uint32_t width);
/* The embedder's way to an event on the object; queue: its kind as Linux tells them apart. What it says is in b->data. */
void raise_event(struct base *b, uint16_t made_by, uint32_t id, uint8_t event, uint16_t queue);
/* Each allocation of a create fails once: refused, and nothing is left behind; then it works. */
uint32_t create_without_memory(struct base *b, struct make *m);

#endif
