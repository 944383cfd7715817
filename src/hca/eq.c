/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Event queues of programs. The device writes EQEs into memory that the create command lists, and has the owner bit of each
 * pass over the queue differ from the last one's. What a program has consumed it writes into its UAR. Where nobody tells the
 * device of a write there it looks when a queue seems full, and each EQE interrupts, armed or not: a program is woken too often
 * rather than not at all. Where it is told (hca_doorbell()), an armed queue interrupts once.
 */
#include <stdlib.h>
#include <string.h>

#include "events.h"
#include "types.h"

/* Status and state. Linux, include/linux/mlx5/eq.h and mlx5_ifc.h. */
#define EQ_STATUS_WRITE_FAILURE 0xau
#define EQ_ST_FIRED 0xau

#define EQE_BYTES 64u
#define EQE_TAIL 4u /* signature and owner: written last */

/* Doorbells in the UAR page, each eqn << 24 | consumer index: one that arms, one that does not. rdma-core, mlx5_vfio.h. */
#define DOORBELL_ARM 0x40u
static const uint32_t doorbells[] = { DOORBELL_ARM, 0x48 };
#define CONSUMER_MASK 0xffffffu

static uint32_t entries(const struct eq *eq)
{
	return 1u << eq->log_size;
}

static enum syn context_check(struct call *c, struct prm_box *eqc)
{
	uint64_t log = PRM_GET(eqc, eqc, log_eq_size), bytes = (uint64_t)EQE_BYTES << log;
	uint64_t page = UINT64_C(4096) << PRM_GET(eqc, eqc, log_page_size);
	uint64_t pages = (bytes + page - 1) / page;

	if (log > EQ_LOG_SZ_MAX)
		return SYN_EQ_SIZE;
	if (PRM_GET(eqc, eqc, page_offset))
		return SYN_EQ_OFFSET;
	if (PRM_GET(eqc, eqc, intr) >= HCA_VECTORS || (c->uid && PRM_GET(eqc, eqc, intr) < HCA_EQS))
		return SYN_EQ_VECTOR;
	if ((c->in.len - PRM_SZ(create_eq_in)) / sizeof(uint64_t) < pages)
		return SYN_EQ_PAGES;
	return SYN_OK;
}

static uint32_t uar_page(struct eq *eq)
{
	struct prm_box eqc = prm_out(eq->eqc, sizeof(eq->eqc));

	return (uint32_t)PRM_GET(&eqc, eqc, uar_page);
}

/*
 * What a former queue of that number left in the page would be taken for the new one's consumer index. The doorbells of a page
 * that others have too are theirs, and stay.
 */
static void clear_doorbells(struct hca *h, struct eq *eq)
{
	uint32_t left = h->tables[OBJ_EQ].count;

	if (!h->ops.doorbell_clear)
		return;
	for (uint32_t id = EQN_FIRST; left && id <= EQN_LAST; id++) {
		struct eq *other = (struct eq *)obj_in_entry(obj_peek(h, OBJ_EQ, id));

		left -= other != NULL;
		if (other && other != eq && uar_page(other) == uar_page(eq))
			return;
	}
	for (size_t i = 0; i < sizeof(doorbells) / sizeof(doorbells[0]); i++)
		h->ops.doorbell_clear(h->host, uar_page(eq), doorbells[i]);
}

static enum syn create_eq(struct hca *h, struct call *c)
{
	struct prm_box in = PRM_SUB(&c->in, create_eq_in, eq_context_entry), eqc;
	struct { uint32_t bit, width; } mask = { PRM_F_create_eq_in__event_bitmask };
	enum syn syn = context_check(c, &in);
	struct hca_obj *uar;
	struct eq *eq;
	uint32_t n;

	if (syn == SYN_OK)
		syn = uar_find(h, c->uid, (uint32_t)PRM_GET(&in, eqc, uar_page), &uar);
	if (syn != SYN_OK)
		return syn;
	eq = (struct eq *)obj_new(h, OBJ_EQ, c->uid, &syn);
	if (!eq)
		return syn;
	eq->shared = c->shared;
	eq->page_shift = (uint8_t)(12 + PRM_GET(&in, eqc, log_page_size));
	eq->log_size = (uint8_t)PRM_GET(&in, eqc, log_eq_size);
	n = (uint32_t)((((uint64_t)EQE_BYTES << eq->log_size) + (UINT64_C(1) << eq->page_shift) - 1) >> eq->page_shift);
	eq->pages = malloc(n * sizeof(*eq->pages));
	if (!eq->pages) {
		obj_free(h, &eq->obj);
		return SYN_NO_MEMORY;
	}
	for (uint32_t i = 0; i < n; i++)
		eq->pages[i] = prm_get(&c->in, PRM_SZ(create_eq_in) * 8 + i * 64, 64);
	for (uint32_t i = 0; i < 4; i++)
		eq->events[i] = prm_get(&c->in, mask.bit + i * mask.width, mask.width);
	PRM_COPY(&c->in, create_eq_in, eq_context_entry, eq->eqc);
	eqc = prm_out(eq->eqc, sizeof(eq->eqc));
	PRM_SET(&eqc, eqc, status, 0);
	PRM_SET(&eqc, eqc, st, EQ_ST_FIRED);
	obj_link(&eq->obj, uar);
	clear_doorbells(h, eq);
	PRM_SET(&c->out, create_eq_out, eq_number, eq->obj.id);
	return SYN_OK;
}

void eq_fini(struct hca_obj *obj)
{
	free(((struct eq *)obj)->pages);
}

static void interrupt(struct hca *h, struct eq *eq)
{
	struct prm_box eqc = prm_out(eq->eqc, sizeof(eq->eqc));

	h->ops.interrupt(h->host, eq->obj.id, (uint32_t)PRM_GET(&eqc, eqc, intr));
}

/* The doorbell's value: eqn << 24 | consumer index. An armed queue that has more than was consumed interrupts at once. */
void hca_doorbell(struct hca *h, uint32_t page, uint32_t offset, uint32_t value)
{
	struct eq *eq = (struct eq *)obj_in_entry(obj_peek(h, OBJ_EQ, value >> 24));

	if (!eq || uar_page(eq) != page || (offset != doorbells[0] && offset != doorbells[1]))
		return;
	if (((value - eq->consumed) & CONSUMER_MASK) <= eq->produced - eq->consumed)
		eq->consumed += (value - eq->consumed) & CONSUMER_MASK;
	if (offset != DOORBELL_ARM)
		return;
	eq->armed = eq->produced == eq->consumed;
	if (!eq->armed)
		interrupt(h, eq);
}

/* Takes over what the program wrote as its consumer index; values that cannot be are passed over. */
static bool look(struct hca *h, struct eq *eq)
{
	bool hidden = false;

	for (size_t i = 0; i < sizeof(doorbells) / sizeof(doorbells[0]); i++) {
		uint32_t value = h->ops.doorbell(h->host, eq->obj.id, uar_page(eq), doorbells[i]);
		uint32_t step = (value - eq->consumed) & CONSUMER_MASK;

		if (value >> 24 != eq->obj.id)
			hidden |= value != 0;
		else if (step <= eq->produced - eq->consumed)
			eq->consumed += step;
	}
	return hidden;
}

/*
 * Room for one more? Queues that share a UAR share its doorbells, so that the write of one hides that of another: then the program
 * is believed to have consumed all.
 */
static bool has_room(struct hca *h, struct eq *eq)
{
	struct prm_box eqc = prm_out(eq->eqc, sizeof(eq->eqc));
	bool hidden;

	if (eq->produced - eq->consumed < entries(eq))
		return true;
	if (h->cfg.told)
		return PRM_GET(&eqc, eqc, oi);
	hidden = look(h, eq);
	if (eq->produced - eq->consumed < entries(eq))
		return true;
	if (!hidden && !PRM_GET(&eqc, eqc, oi))
		return false;
	eq->consumed = eq->produced;
	return true;
}

static bool put(struct hca *h, struct eq *eq, const uint8_t *event)
{
	uint64_t at = (uint64_t)(eq->produced & (entries(eq) - 1)) * EQE_BYTES;
	uint64_t addr = (eq->pages[at >> eq->page_shift] & ~UINT64_C(0xfff)) + (at & ((UINT64_C(1) << eq->page_shift) - 1));
	uint8_t bytes[EQE_BYTES];
	struct prm_box eqe = prm_out(bytes, sizeof(bytes));

	if (!has_room(h, eq))
		return false;
	memcpy(bytes, event, sizeof(bytes));
	PRM_SET(&eqe, eqe, owner, eq->produced >> eq->log_size & 1);
	return h->ops.write(h->host, addr, bytes, EQE_BYTES - EQE_TAIL) &&
	       h->ops.write(h->host, addr + EQE_BYTES - EQE_TAIL, bytes + EQE_BYTES - EQE_TAIL, EQE_TAIL);
}

/* An overrun, or memory that is gone, is the end of the queue: it gets no event any more. */
void eq_event(struct hca *h, struct hca_obj *obj, const uint8_t *event)
{
	struct eq *eq = (struct eq *)obj;
	struct prm_box eqc = prm_out(eq->eqc, sizeof(eq->eqc));

	if (PRM_GET(&eqc, eqc, status))
		return;
	if (!put(h, eq, event)) {
		PRM_SET(&eqc, eqc, status, EQ_STATUS_WRITE_FAILURE);
		return;
	}
	eq->produced++;
	PRM_SET(&eqc, eqc, producer_counter, eq->produced & CONSUMER_MASK);
	if (!h->cfg.told || eq->armed)
		interrupt(h, eq);
	eq->armed = false;
}

void eqs_event(struct hca *h, const struct hca_event *ev, uint16_t uid)
{
	uint32_t left = h->tables[OBJ_EQ].count;

	for (uint32_t id = EQN_FIRST; left && id <= EQN_LAST; id++) {
		struct hca_obj *obj = obj_in_entry(obj_peek(h, OBJ_EQ, id));
		struct eq *eq = (struct eq *)obj;

		left -= obj != NULL;
		/* A driver hears what concerns its programs too, and tells them. */
		if (obj && (!ev->affiliated || obj->uid == uid || (h->cfg.bare && !obj->uid)) && eq->events[ev->type / 64] >> ev->type % 64 & 1)
			eq_event(h, obj, ev->eqe);
	}
}

/* The driver's queue that hears of these events, with an id of at least from; NULL: there is none. */
static struct hca_obj *driver_eq(struct hca *h, uint8_t type, uint32_t from)
{
	uint32_t left = h->tables[OBJ_EQ].count; /* on the way of each command: no further than the last queue */

	for (uint32_t id = EQN_FIRST; left && id <= EQN_LAST; id++) {
		struct hca_obj *obj = obj_in_entry(obj_peek(h, OBJ_EQ, id));

		if (obj && id >= from && !obj->uid && ((struct eq *)obj)->events[type / 64] >> type % 64 & 1)
			return obj;
		left -= obj != NULL;
	}
	return NULL;
}

bool eqs_hear(struct hca *h, uint8_t type)
{
	return driver_eq(h, type, EQN_FIRST);
}

bool hca_commands_told(struct hca *h)
{
	return eqs_hear(h, EVENT_CMD);
}

bool hca_commands_done(struct hca *h, uint32_t slots)
{
	struct hca_event ev;
	struct prm_box data = event_new(&ev, EVENT_CMD, 0);
	struct hca_obj *eq = driver_eq(h, EVENT_CMD, EQN_FIRST);
	bool told = eq;

	PRM_SET(&data, cmd_inter_comp_event, command_completion_vector, slots);
	for (; eq; eq = driver_eq(h, EVENT_CMD, eq->id + 1))
		eq_event(h, eq, ev.eqe);
	return told;
}

static enum syn query_eq(struct hca *h, struct call *c)
{
	struct eq *eq = (struct eq *)c->obj;
	struct prm_box to = PRM_SUB(&c->out, query_eq_out, eq_context_entry), eqc = prm_out(eq->eqc, sizeof(eq->eqc));

	if (!h->cfg.told)
		look(h, eq);
	PRM_SET(&eqc, eqc, consumer_counter, eq->consumed & CONSUMER_MASK);
	memcpy(to.p, eq->eqc, sizeof(eq->eqc));
	PRM_SET(&c->out, query_eq_out, event_bitmask, eq->events[0]);
	return SYN_OK;
}

bool hca_eqn(struct hca *h, uint32_t vector, uint32_t *eqn)
{
	if (vector >= HCA_EQS || h->cfg.bare)
		return false;
	*eqn = HCA_FIRST_EQN + vector;
	return true;
}

enum syn eq_find(struct hca *h, uint16_t uid, uint32_t eqn, struct hca_obj **eq)
{
	*eq = NULL;
	if (!h->cfg.bare && eqn >= HCA_FIRST_EQN && eqn - HCA_FIRST_EQN < HCA_EQS)
		return SYN_OK;
	*eq = obj_refer(h, OBJ_EQ, eqn, uid);
	if (*eq && (*eq)->uid != uid && !((struct eq *)*eq)->shared)
		*eq = NULL; /* the driver's own affairs */
	return *eq ? SYN_OK : SYN_CQ_EQN;
}

const struct hca_op ops_eq[] = {
	OP_ROW(CREATE_EQ, create_eq, OP_PLAIN, create_eq),
	OP_OBJ_ROW(QUERY_EQ, query_eq, OP_ON, OBJ_EQ, eq_number, query_eq),
	OP_OBJ_ROW(DESTROY_EQ, destroy_eq, OP_DESTROY, OBJ_EQ, eq_number, NULL),
	{ 0 },
};
