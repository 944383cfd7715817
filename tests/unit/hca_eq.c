/* SPDX-License-Identifier: BSD-2-Clause */
/* Event queues of programs: EQEs, owner bits, consumer indexes, and the CQs that name them. */
#include "dev.h"
#include "events.h"

#define VECTOR HCA_EQS /* the first that is a program's */
#define AT 4u          /* the page of the fake memory where the queue lies */

static void eq_cmd(struct cmd *c, uint16_t uid, uint8_t log_size, uint64_t events)
{
	struct { uint32_t bit, width; } mask = { PRM_F_create_eq_in__event_bitmask };
	uint32_t pages = (uint32_t)(((64ull << log_size) + PAGE - 1) / PAGE);
	struct prm_box eqc;

	CMD(c, CREATE_EQ, uid, create_eq);
	c->inlen += pages * 8;
	eqc = PRM_SUB(&c->i, create_eq_in, eq_context_entry);
	PRM_SET(&eqc, eqc, log_eq_size, log_size);
	PRM_SET(&eqc, eqc, intr, VECTOR);
	prm_set(&c->i, mask.bit, mask.width, events);
	for (uint32_t i = 0; i < pages && i < 64; i++)
		prm_set(&c->i, PRM_SZ(create_eq_in) * 8 + i * 64, 64, MEM_ADDR + (AT + i) * PAGE);
}

static uint32_t new_eq(struct dev *d, uint16_t uid, uint8_t log_size, uint64_t events)
{
	struct cmd c;

	eq_cmd(&c, uid, log_size, events);
	cmd_ok(d, &c);
	return (uint32_t)OUT(&c, create_eq_out, eq_number);
}

static const uint8_t *eqe(struct dev *d, uint32_t i)
{
	return d->mem + AT * PAGE + i * 64;
}

static void port(struct dev *d)
{
	assert_true(hca_port(d->h, 1, d->h->port_down));
}

static uint32_t eq_field(struct dev *d, uint16_t uid, uint32_t eqn, uint32_t bit, uint32_t width)
{
	struct prm_box eqc;
	struct cmd c;

	CMD(&c, QUERY_EQ, uid, query_eq);
	SET(&c, query_eq_in, eq_number, eqn);
	cmd_ok(d, &c);
	eqc = PRM_SUB(&c.o, query_eq_out, eq_context_entry);
	return (uint32_t)prm_get(&eqc, bit, width);
}
#define EQ_FIELD(d, uid, eqn, field) eq_field(d, uid, eqn, PRM_F_eqc__##field)

/* Each pass over the queue has the other owner bit, 0 the first: fresh memory must say 1. */
static void owner_bit_tells_the_pass(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d);
	uint32_t eqn = new_eq(d, uid, 2, EVENT_BIT(PORT_CHANGE));

	for (uint32_t i = 0; i < 16; i++) {
		memset(d->mem + AT * PAGE + i % 4 * 64, i / 4 % 2 ? 0 : 0xff, 64);
		d->doorbells[i % 2] = eqn << 24 | i; /* all before are consumed */
		port(d);
		assert_int_equal(eqe(d, i % 4)[1], EVENT_PORT_CHANGE);
		assert_int_equal(eqe(d, i % 4)[3], i % 2 ? 4 : 1);
		assert_int_equal(eqe(d, i % 4)[40], 0x10);
		assert_int_equal(eqe(d, i % 4)[63], i / 4 % 2);
		assert_int_equal(d->n_interrupts, i + 1);
		assert_int_equal(d->last_eqn, eqn);
		assert_int_equal(EQ_FIELD(d, uid, eqn, producer_counter), i + 1);
	}
	assert_int_equal(EQ_FIELD(d, uid, eqn, consumer_counter), 15);
}

static void a_full_queue_fails(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d);
	uint32_t eqn = new_eq(d, uid, 1, EVENT_BIT(PORT_CHANGE));

	port(d);
	port(d);
	d->doorbells[0] = eqn << 24 | 3; /* more than there were: nonsense */
	d->doorbells[1] = eqn << 24;
	port(d);
	assert_int_equal(d->n_interrupts, 2);
	assert_int_equal(EQ_FIELD(d, uid, eqn, status), 0xa);
	assert_int_equal(eqe(d, 0)[3], 1); /* nothing was overwritten */
	d->doorbells[0] = eqn << 24 | 2;
	port(d);
	assert_int_equal(d->n_interrupts, 2);
	destroy(d, PRM_OP_DESTROY_EQ, uid, eqn, SYN_OK);
}

static void overrun_can_be_ignored(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d);
	struct prm_box eqc;
	struct cmd c;

	eq_cmd(&c, uid, 1, EVENT_BIT(PORT_CHANGE));
	eqc = PRM_SUB(&c.i, create_eq_in, eq_context_entry);
	PRM_SET(&eqc, eqc, oi, 1);
	cmd_ok(d, &c);
	for (int i = 0; i < 5; i++)
		port(d);
	assert_int_equal(d->n_interrupts, 5);
}

/* The doorbell of another queue stands where that of ours may have been. */
static void a_hidden_doorbell_is_believed(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d);
	uint32_t eqn = new_eq(d, uid, 1, EVENT_BIT(PORT_CHANGE));

	d->doorbells[0] = (eqn + 1) << 24 | 7;
	for (int i = 0; i < 5; i++)
		port(d);
	assert_int_equal(d->n_interrupts, 5);
	assert_int_equal(EQ_FIELD(d, uid, eqn, status), 0);
}

/* What a former queue of the same number left in the page is not the new one's; a page that another has too is left alone. */
static void a_new_queue_finds_its_doorbells_clear(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d);
	uint32_t eqn = new_eq(d, uid, 2, EVENT_BIT(PORT_CHANGE)), other;

	for (int i = 0; i < 3; i++)
		port(d);
	d->doorbells[0] = eqn << 24 | 2;
	d->doorbells[1] = eqn << 24 | 3;
	assert_int_equal(EQ_FIELD(d, uid, eqn, consumer_counter), 3);
	destroy(d, PRM_OP_DESTROY_EQ, uid, eqn, SYN_OK);
	assert_int_equal(new_eq(d, uid, 2, EVENT_BIT(PORT_CHANGE)), eqn);
	for (int i = 0; i < 3; i++)
		port(d);
	assert_int_equal(EQ_FIELD(d, uid, eqn, consumer_counter), 0);
	d->doorbells[0] = eqn << 24 | 1;
	d->doorbells[1] = eqn << 24 | 3;
	other = new_eq(d, uid, 2, 0);
	assert_int_equal(d->doorbells[0], eqn << 24 | 1);
	assert_int_equal(EQ_FIELD(d, uid, eqn, consumer_counter), 3);
	assert_int_equal(EQ_FIELD(d, uid, other, consumer_counter), 0);
}

static void memory_that_is_gone_fails(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d);
	uint32_t eqn = new_eq(d, uid, 4, EVENT_BIT(PORT_CHANGE));

	d->deny = true;
	port(d);
	d->deny = false;
	port(d);
	assert_int_equal(d->n_interrupts, 0);
	assert_int_equal(d->n_events, 2); /* the host is told all the same */
	assert_int_equal(EQ_FIELD(d, uid, eqn, status), 0xa);
}

static void pages_need_not_be_contiguous(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d);
	uint32_t eqn;
	struct cmd c;

	eq_cmd(&c, uid, 7, EVENT_BIT(PORT_CHANGE)); /* two pages */
	prm_set(&c.i, PRM_SZ(create_eq_in) * 8, 64, MEM_ADDR + (AT + 5) * PAGE);
	cmd_ok(d, &c);
	eqn = (uint32_t)OUT(&c, create_eq_out, eq_number);
	memset(d->mem + AT * PAGE, 0xff, 7 * PAGE);
	for (uint32_t i = 0; i < 65; i++)
		port(d);
	assert_int_equal(eqe(d, 5 * 64)[63], 0);
	assert_int_equal(eqe(d, 5 * 64 + 63)[63], 0);
	assert_int_equal(eqe(d, 64)[63], 0);
	assert_int_equal(eqe(d, 65)[63], 0xff);
	assert_int_equal(eqe(d, 0)[63], 0xff);
	assert_int_equal(EQ_FIELD(d, uid, eqn, producer_counter), 65);
}

/* A mask bit for what happens to others' objects gives nothing. */
static void only_own_objects_events(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d), other = new_uid(d);
	uint32_t umem = new_umem(d, other, 0, 4, MTT_RW), cqn = new_cq(d, other, umem);

	new_eq(d, uid, 4, EVENT_BIT(CQ_ERROR));
	assert_int_equal(hca_event(d->h, PRM_OP_CREATE_CQ, 0, cqn, EVENT_CQ_ERROR, 1), HCA_RAISED);
	assert_int_equal(d->n_interrupts, 0);
	port(d);
	assert_int_equal(d->n_interrupts, 0); /* not in the mask */
	umem = new_umem(d, uid, 0, 4, MTT_RW);
	cqn = new_cq(d, uid, umem);
	assert_int_equal(hca_event(d->h, PRM_OP_CREATE_CQ, 0, cqn, EVENT_CQ_ERROR, 1), HCA_RAISED);
	assert_int_equal(d->n_interrupts, 1);
}

static void a_cq_completes_to_its_eq(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d), other = new_uid(d);
	uint32_t umem = new_umem(d, uid, 0, 4, MTT_RW), eqn = new_eq(d, uid, 4, 0), cqn;
	uint32_t foreign = new_eq(d, other, 4, 1);
	struct prm_box cqc;
	struct cmd c;

	cq_cmd(&c, uid, umem);
	cqc = PRM_SUB(&c.i, create_cq_in, cq_context);
	PRM_SET(&cqc, cqc, c_eqn_or_apu_element, foreign);
	cmd_refused(d, &c, SYN_CQ_EQN);
	PRM_SET(&cqc, cqc, c_eqn_or_apu_element, eqn);
	cmd_ok(d, &c);
	cqn = (uint32_t)OUT(&c, create_cq_out, cqn);
	assert_int_equal(hca_event(d->h, PRM_OP_CREATE_CQ, 0, cqn, EVENT_COMP, 0), HCA_RAISED);
	assert_int_equal(d->n_interrupts, 1);
	assert_int_equal(d->last_eqn, eqn);
	assert_int_equal(eqe(d, 0)[1], EVENT_COMP);
	assert_int_equal(eqe(d, 0)[32 + 27], cqn); /* comp_event */
	destroy(d, PRM_OP_DESTROY_EQ, uid, eqn, SYN_EQ_BUSY);

	/* To one of the driver's, and back. */
	for (int i = 0; i < 2; i++) {
		CMD(&c, MODIFY_CQ, uid, modify_cq);
		SET(&c, modify_cq_in, cqn, cqn);
		SET(&c, modify_cq_in, modify_field_select_resize_field_select, 0x08);
		cqc = PRM_SUB(&c.i, modify_cq_in, cq_context);
		PRM_SET(&cqc, cqc, c_eqn_or_apu_element, i ? eqn : HCA_FIRST_EQN);
		cmd_ok(d, &c);
		assert_int_equal(hca_event(d->h, PRM_OP_CREATE_CQ, 0, cqn, EVENT_COMP, 0), HCA_RAISED);
		assert_int_equal(d->n_interrupts, 1 + i);
	}
	destroy(d, PRM_OP_DESTROY_EQ, uid, eqn, SYN_EQ_BUSY);
	destroy(d, PRM_OP_DESTROY_CQ, uid, cqn, SYN_OK);
	destroy(d, PRM_OP_DESTROY_EQ, uid, eqn, SYN_OK);
	destroy(d, PRM_OP_DESTROY_EQ, uid, eqn, SYN_EQ);
}

static void create_refuses(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d);
	struct prm_box eqc;
	struct cmd c;
	uint32_t n = 0;

#define REFUSED(field, value, why)                                                                                   \
	do {                                                                                                         \
		eq_cmd(&c, uid, 4, 0);                                                                               \
		eqc = PRM_SUB(&c.i, create_eq_in, eq_context_entry);                                                 \
		PRM_SET(&eqc, eqc, field, value);                                                                    \
		cmd_refused(d, &c, why);                                                                             \
	} while (0)
	REFUSED(log_eq_size, EQ_LOG_SZ_MAX + 1, SYN_EQ_SIZE);
	REFUSED(log_eq_size, 31, SYN_EQ_SIZE);
	REFUSED(page_offset, 1, SYN_EQ_OFFSET);
	REFUSED(intr, 0, SYN_EQ_VECTOR);
	REFUSED(intr, HCA_EQS - 1, SYN_EQ_VECTOR);
	REFUSED(intr, HCA_VECTORS, SYN_EQ_VECTOR);
	REFUSED(log_eq_size, 7, SYN_EQ_PAGES);
#undef REFUSED
	eq_cmd(&c, uid, 4, 0);
	c.inlen -= 8;
	cmd_refused(d, &c, SYN_EQ_PAGES);
	for (unsigned int fail = 1; fail <= 3; fail++) { /* the page of the table, the object, its list of pages */
		eq_cmd(&c, uid, 4, 0);
		fail_alloc = fail;
		cmd_refused(d, &c, SYN_NO_MEMORY);
		fail_alloc = 0;
	}
	for (;; n++) {
		eq_cmd(&c, uid, 4, 0);
		cmd_run(d, &c);
		if (OUT(&c, create_eq_out, status))
			break;
		assert_int_equal(OUT(&c, create_eq_out, eq_number), EQN_FIRST + n);
	}
	assert_int_equal(n, EQN_LAST - EQN_FIRST + 1);
	cmd_refused(d, &c, SYN_EQ_LIMIT);
	destroy(d, PRM_OP_DESTROY_EQ, uid, HCA_FIRST_EQN, SYN_EQ); /* the driver's */
}

int run_eq_tests(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(owner_bit_tells_the_pass, dev_setup, dev_teardown),
		cmocka_unit_test_setup_teardown(a_full_queue_fails, dev_setup, dev_teardown),
		cmocka_unit_test_setup_teardown(overrun_can_be_ignored, dev_setup, dev_teardown),
		cmocka_unit_test_setup_teardown(a_hidden_doorbell_is_believed, dev_setup, dev_teardown),
		cmocka_unit_test_setup_teardown(a_new_queue_finds_its_doorbells_clear, dev_setup, dev_teardown),
		cmocka_unit_test_setup_teardown(memory_that_is_gone_fails, dev_setup, dev_teardown),
		cmocka_unit_test_setup_teardown(pages_need_not_be_contiguous, dev_setup, dev_teardown),
		cmocka_unit_test_setup_teardown(only_own_objects_events, dev_setup, dev_teardown),
		cmocka_unit_test_setup_teardown(a_cq_completes_to_its_eq, dev_setup, dev_teardown),
		cmocka_unit_test_setup_teardown(create_refuses, dev_setup, dev_teardown),
	};

	return cmocka_run_group_tests_name("eqs", tests, NULL, NULL);
}
