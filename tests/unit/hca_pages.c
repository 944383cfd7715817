/* SPDX-License-Identifier: BSD-2-Clause */
/* Pages that a bare device is given: accounting, requests, and what is refused. */
#include "bare.h"
#include "events.h"
#include "flow.h"

static void refused(void **state)
{
	struct dev *d = *state;
	struct cmd c;

	enable(d);
	CMD(&c, QUERY_PAGES, 0, query_pages);
	cmd_refused(d, &c, SYN_OP_MOD);
	cmd_op_mod(&c, 4);
	cmd_refused(d, &c, SYN_OP_MOD);
	cmd_op_mod(&c, 1);
	SET(&c, query_pages_in, function_id, 1);
	cmd_refused(d, &c, SYN_CAP_FUNCTION);
	pages_cmd(&c, FIRST_PAGE, 3);
	SET(&c, manage_pages_in, function_id, 1);
	cmd_refused(d, &c, SYN_CAP_FUNCTION);
	SET(&c, manage_pages_in, function_id, 0);
	c.inlen--;
	cmd_refused(d, &c, SYN_PAGES_LIST);
	c.inlen++;
	SET(&c, manage_pages_in, input_num_entries, 4);
	cmd_refused(d, &c, SYN_PAGES_LIST);
	pages_cmd(&c, 0, 1);
	cmd_refused(d, &c, SYN_PAGES_ADDRESS);
	pages_cmd(&c, FIRST_PAGE + 8, 1);
	cmd_refused(d, &c, SYN_PAGES_ADDRESS);
	/* One bad page of several: none is taken, and the good ones can be given afterwards. */
	pages_cmd(&c, FIRST_PAGE, 3);
	prm_set(&c.i, PRM_SZ(manage_pages_in) * 8 + 2 * 64, 64, FIRST_PAGE + PAGE);
	cmd_refused(d, &c, SYN_PAGES_TWICE);
	assert_int_equal(d->h->init->pages.n, 0);
	give_pages(d, FIRST_PAGE, 3);
	cmd_refused(d, &c, SYN_PAGES_TWICE);
	cmd_new(&c, PRM_OP_MANAGE_PAGES, 0, PRM_SZ(manage_pages_in), PRM_SZ(manage_pages_out) + 15);
	cmd_op_mod(&c, 2);
	SET(&c, manage_pages_in, input_num_entries, 2);
	cmd_refused(d, &c, SYN_PAGES_ROOM);
	assert_int_equal(take_pages(d, 2), 2);
	assert_int_equal(take_pages(d, 2), 1);
	assert_int_equal(take_pages(d, 2), 0);
	/* No memory: two allocations, and nothing is there after either failed. */
	pages_forget(&d->h->init->pages);
	pages_cmd(&c, FIRST_PAGE, 3);
	for (int i = 1; i <= 2; i++) {
		fail_alloc = (unsigned int)i;
		cmd_refused(d, &c, SYN_NO_MEMORY);
	}
	fail_alloc = 0;
	cmd_ok(d, &c);
}

/* A number of pages that no honest driver gives ends the device's appetite, not its memory. */
static void bounded(void **state)
{
	struct dev *d = *state;
	uint64_t at = FIRST_PAGE;
	struct cmd c;

	enable(d);
	for (uint32_t n = 0; n < PAGES_MAX; n += 512, at += 512 * PAGE)
		give_pages(d, at, 512);
	pages_cmd(&c, at, 1);
	cmd_refused(d, &c, SYN_PAGES_MANY);
	/* Each is found again, in whatever order the table has them. */
	pages_cmd(&c, FIRST_PAGE + 777777 * (uint64_t)PAGE, 0);
	take_pages(d, 1000);
	give_pages(d, at - 512 * PAGE, 512);
	pages_cmd(&c, FIRST_PAGE + 777777 * (uint64_t)PAGE, 1);
	cmd_refused(d, &c, SYN_PAGES_TWICE);
}

/* Given and taken back in a random order of addresses: the table never forgets one, nor keeps one. */
static void table_of_pages(void **state)
{
	struct dev *d = *state;
	uint64_t seed = 5, at[1000];
	struct cmd c;

	enable(d);
	for (int round = 0; round < 3; round++) {
		for (uint32_t i = 0; i < 1000; i++) {
			seed = seed * UINT64_C(6364136223846793005) + 1;
			at[i] = ((seed >> 40) * 1024 + i) * PAGE + PAGE;
			give_pages(d, at[i], 1);
		}
		for (uint32_t i = 0; i < 1000; i++) {
			pages_cmd(&c, at[i], 1);
			cmd_refused(d, &c, SYN_PAGES_TWICE);
		}
		assert_int_equal(take_pages(d, 400), 400); /* the last ones */
		for (uint32_t i = 600; i < 1000; i++)
			give_pages(d, at[i], 1);
		assert_int_equal(take_pages(d, 500) + take_pages(d, 501), 1000);
	}
}

static struct prm_box request(struct dev *d, uint32_t page, uint32_t n)
{
	struct prm_box eqe = eqe_at(d, page, n);

	assert_int_equal(PRM_GET(&eqe, eqe, event_type), EVENT_PAGE_REQUEST);
	return PRM_SUB(&eqe, eqe, event_data);
}

static uint32_t requests(struct dev *d, uint32_t eqn)
{
	return ((struct eq *)obj_find(d->h, OBJ_EQ, eqn, 0))->produced;
}

static void asks_and_gives_back(void **state)
{
	struct dev *d = *state;
	uint32_t eqn, pds[20000], n = 0;
	struct prm_box data;
	struct cmd c;

	set_up(d);
	assert_int_equal(want_pages(d, 3), 0);
	new_pd(d, 0);
	assert_int_equal(d->n_events, 0); /* nobody would hear it */
	assert_int_equal(want_pages(d, 3), PAGES_STEP);
	eqn = new_eq(d, 0, 3, UINT64_C(1) << EVENT_PAGE_REQUEST, 0, 0);
	assert_int_equal(requests(d, eqn), 1);
	data = request(d, 0, 0);
	assert_int_equal(PRM_GET(&data, pages_req_event, num_pages), PAGES_STEP);
	new_pd(d, 0); /* once is enough */
	assert_int_equal(requests(d, eqn), 1);

	/* It has none: asked again when half of the rest is used, and so on, until no page is left. */
	CMD(&c, MANAGE_PAGES, 0, manage_pages);
	cmd_ok(d, &c);
	assert_int_equal(requests(d, eqn), 1);
	while (requests(d, eqn) == 1)
		pds[n++] = new_pd(d, 0);
	assert_int_equal(pages_in_use(d->h), PAGES_OWN + 42); /* of 80 that were free 79 were left, and now fewer than half of these */
	while (d->h->n_objs < PAGES_LOW * OBJECTS_PER_PAGE)
		pds[n++] = new_pd(d, 0);
	CMD(&c, ALLOC_PD, 0, alloc_pd);
	cmd_refused(d, &c, SYN_PAGES);
	CMD(&c, ALLOC_FLOW_COUNTER, 0, alloc_flow_counter); /* of a range, and of an id of the inbox */
	cmd_refused(d, &c, SYN_PAGES);
	CMD(&c, SET_L2_TABLE_ENTRY, 0, set_l2_table_entry);
	cmd_refused(d, &c, SYN_PAGES);

	/* More than was asked for; what is too much is offered, and taken back. */
	give_pages(d, UINT64_C(0x80000000), 500);
	cmd_ok(d, &c);
	data = request(d, 0, requests(d, eqn) - 1);
	assert_int_equal((int32_t)PRM_GET(&data, pages_req_event, num_pages), -(int32_t)PAGES_STEP);
	assert_int_equal(want_pages(d, 3), -(int32_t)PAGES_STEP);
	assert_int_equal(take_pages(d, PAGES_STEP), PAGES_STEP);
	data = request(d, 0, requests(d, eqn) - 1);
	assert_int_equal((int32_t)PRM_GET(&data, pages_req_event, num_pages), -(int32_t)PAGES_STEP);
	/* What is in use stays. */
	take_pages(d, 1000);
	assert_int_equal(d->h->init->pages.n, pages_in_use(d->h));
	while (n)
		destroy(d, PRM_OP_DEALLOC_PD, 0, pds[--n], SYN_OK);
	assert_true(take_pages(d, 1000) > 0);
	tear_down(d);
}

/* However many objects there are, and whatever they own. What is destroyed makes room again. */
static void memory_has_an_end(void **state)
{
	struct dev *d = *state;
	uint32_t pds[300], n = 0, table, umem;
	struct cmd c;

	set_up(d);
	give_pages(d, UINT64_C(0x80000000), 500);
	assert_int_equal(d->h->charged, 0);
	d->h->cfg.memory = 64 << 10;
	CMD(&c, ALLOC_PD, 0, alloc_pd);
	while (cmd_run(d, &c), !c.out[0]) {
		assert_true(n < 300);
		pds[n++] = (uint32_t)OUT(&c, alloc_pd_out, pd);
	}
	assert_in_range(n, 200, 256);
	cmd_refused(d, &c, SYN_MEMORY_LIMIT);
	destroy(d, PRM_OP_DEALLOC_PD, 0, pds[--n], SYN_OK);
	cmd_ok(d, &c);
	pds[n++] = (uint32_t)OUT(&c, alloc_pd_out, pd);
	while (n > 128)
		destroy(d, PRM_OP_DEALLOC_PD, 0, pds[--n], SYN_OK);
	/* Lists, ranges, and places of entries count. */
	umem = new_umem(d, 0, 0, 200, MTT_RW);
	assert_true(d->h->charged >= 128 * 128 + 200 * 8);
	CMD(&c, ALLOC_FLOW_COUNTER, 0, alloc_flow_counter);
	SET(&c, alloc_flow_counter_in, flow_counter_bulk_log_size, 10);
	cmd_refused(d, &c, SYN_MEMORY_LIMIT);
	SET(&c, alloc_flow_counter_in, flow_counter_bulk_log_size, 1);
	cmd_ok(d, &c);
	table = new_table(d, 0, 0, 0);
	group_cmd(&c, 0, table, 0, (1u << LOG_SIZE) - 1);
	d->h->cfg.memory = d->h->charged + (8 << 10);
	cmd_refused(d, &c, SYN_MEMORY_LIMIT);
	d->h->cfg.memory = 1 << 20;
	cmd_ok(d, &c);
	destroy(d, PRM_OP_DESTROY_UMEM, 0, umem, SYN_OK);
	d->h->cfg.memory = 1 << 20;
	hca_reset(d->h);
	assert_int_equal(d->h->charged, 0);
	set_up(d);
	CMD(&c, ALLOC_PD, 0, alloc_pd);
	cmd_ok(d, &c);
}

int run_pages_tests(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, dev_setup_off, dev_teardown)
	const struct CMUnitTest tests[] = { TEST(refused), TEST(bounded), TEST(table_of_pages), TEST(asks_and_gives_back),
		TEST(memory_has_an_end) };

	return cmocka_run_group_tests_name("pages", tests, NULL, NULL);
}
