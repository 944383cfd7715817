/* SPDX-License-Identifier: BSD-2-Clause */
/* The command queue: what is delivered, what is refused and how, and that nothing else is touched. */
#include "driver.h"

#define HDR 16u

static void nop_in(uint8_t *in, uint32_t len)
{
	memset(in, 0, len);
	in[0] = PRM_OP_NOP >> 8;
	in[1] = PRM_OP_NOP & 0xff;
}

static void a_command_is_polled(void **state)
{
	struct driver *d = *state;
	uint8_t in[HDR] = { PRM_OP_ALLOC_PD >> 8, PRM_OP_ALLOC_PD & 0xff }, out[HDR];
	struct prm_box o = prm_out(out, sizeof(out));
	uint32_t first;

	bring_up(d);
	run(d, in, sizeof(in), out, sizeof(out));
	assert_int_equal(out[0], 0);
	first = (uint32_t)PRM_GET(&o, alloc_pd_out, pd);
	run(d, in, sizeof(in), out, sizeof(out));
	assert_int_not_equal(PRM_GET(&o, alloc_pd_out, pd), first);
	for (unsigned int v = 0; v < PCI_VECTORS; v++)
		assert_int_equal(d->n_msix[v], 0);
}

/* What the model refuses is delivered all the same. */
static void a_refusal_has_a_status_and_a_syndrome(void **state)
{
	struct driver *d = *state;
	uint8_t in[HDR] = { 0x0f, 0xee }, out[HDR];

	bring_up(d);
	run(d, in, sizeof(in), out, sizeof(out));
	assert_int_equal(out[0], PRM_STAT_BAD_OP_ERR);
	assert_int_not_equal(out[4] | out[5] | out[6] | out[7], 0);
}

/* Around the ends of the inline part and of blocks, up to the longest. */
static void boxes_have_any_length(void **state)
{
	static const uint32_t lengths[] = { 16, 17, 31, 527, 528, 529, 1040, 1041, 4112, BOX_MAX };
	struct driver *d = *state;
	uint8_t *in = malloc(BOX_MAX), *out = malloc(BOX_MAX + 1);

	bring_up(d);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		for (size_t o = 0; o < sizeof(lengths) / sizeof(lengths[0]); o++) {
			nop_in(in, lengths[i]);
			memset(out, 0xee, BOX_MAX + 1);
			run(d, in, lengths[i], out, lengths[o]);
			assert_int_equal(out[0], 0);
			assert_int_equal(out[lengths[o] - 1], 0);
			assert_int_equal(out[lengths[o]], 0xee);
		}
	}
	run(d, in, 16, out, BOX_MAX + 1);
	/* Shorter than any outbox: a command refuses it, and only so much is written. */
	for (uint32_t len = 0; len < 16; len += 5) {
		memset(out, 0xee, 16);
		run(d, in, 16, out, len);
		assert_int_equal(out[len], 0xee);
		assert_true(!len || out[0] == PRM_STAT_BAD_OUTP_LEN_ERR);
	}
	free(in);
	free(out);
}

/* Every byte of both boxes goes through: of a context that is kept and queried. */
static void contents_are_whole(void **state)
{
	struct driver *d = *state;
	uint8_t in[PRM_SZ(query_hca_cap_in)] = { PRM_OP_QUERY_HCA_CAP >> 8, PRM_OP_QUERY_HCA_CAP & 0xff, [7] = 1 };
	uint8_t out[PRM_SZ(query_hca_cap_out)], again[PRM_SZ(query_hca_cap_out)];
	struct prm_box o = prm_out(out, sizeof(out)), cap;
	struct sent s;

	bring_up(d);
	run(d, in, sizeof(in), out, sizeof(out));
	assert_int_equal(out[0], 0);
	cap = PRM_SUB(&o, query_hca_cap_out, capability);
	assert_int_equal(PRM_GET(&cap, cmd_hca_cap, uar_sz), 5);
	assert_int_equal(PRM_GET(&cap, cmd_hca_cap, device_frequency_khz), 1000000);
	/* What lies in the output mailboxes before does not show. */
	d->next_box = 0;
	s = put(d, 5, in, sizeof(in), sizeof(again));
	for (unsigned int i = 0; i * 512 + 16 < sizeof(again); i++)
		memset(block(d, s.out_boxes, i), 0xff, 512);
	ring(d, 1u << 5);
	get(d, &s, again);
	assert_memory_equal(out, again, sizeof(out));
}

/* Longer than what a program may send: the driver's lists of pages are. */
static void an_inbox_may_be_long(void **state)
{
	enum { N = 50000 };
	const uint32_t inlen = PRM_SZ(create_umem_in) + N * 8;
	struct driver *d = *state;
	uint8_t *in = calloc(1, inlen), out[PRM_SZ(create_umem_out)];
	struct prm_box i = prm_out(in, inlen), umem = PRM_SUB(&i, create_umem_in, umem);
	struct sent s;

	bring_up(d);
	PRM_SET(&i, create_umem_in, opcode, PRM_OP_CREATE_UMEM);
	PRM_SET(&umem, umem, num_of_mtt, N);
	run(d, in, inlen, out, sizeof(out));
	assert_int_equal(out[0], 0);
	/* One more than there are in it: all of them came. */
	PRM_SET(&umem, umem, num_of_mtt, N + 1);
	run(d, in, inlen, out, sizeof(out));
	assert_int_equal(out[0], PRM_STAT_BAD_PARAM_ERR);
	/* No memory for it. */
	d->next_box = 0;
	s = put(d, 3, in, inlen, sizeof(out));
	fail_alloc = 1;
	ring(d, 1u << 3);
	assert_int_equal(fail_alloc, 0);
	assert_int_equal(delivery(&s), 6);
	free(in);
}

static void no_memory_for_the_function(void **state)
{
	struct driver *d = *state;
	struct pci *p;
	unsigned int k = 1;

	for (;; k++) {
		fail_alloc = k;
		p = pci_new(&d->config, &driver_host, d);
		if (p)
			break;
	}
	assert_true(k > 2);
	fail_alloc = 0;
	pci_free(p);
	pci_free(NULL);
}

static void every_slot_works(void **state)
{
	struct driver *d = *state;
	struct sent s[32];

	bring_up(d);
	for (unsigned int i = 0; i < 32; i++)
		assert_int_equal(delivery(&(struct sent){ .entry = send_nop(d, i).entry }), 0);
	for (unsigned int i = 0; i < 32; i++)
		s[i] = put_nop(d, i);
	ring(d, UINT32_MAX);
	for (unsigned int i = 0; i < 32; i++)
		assert_int_equal(delivery(&s[i]), 0);
}

/* One change to a command, and how its delivery fails then. */
struct spoil {
	void (*spoil)(struct driver *d, struct sent *s);
	uint8_t want;
	bool resign;
};

static void type(struct driver *d, struct sent *s) { s->entry[0] = 6; }
static void reserved(struct driver *d, struct sent *s) { s->entry[2] = 1; }
static void reserved_end(struct driver *d, struct sent *s) { s->entry[62] = 0x80; }
static void signature(struct driver *d, struct sent *s) { s->entry[61] ^= 1; }
static void no_signature(struct driver *d, struct sent *s) { s->entry[61] = 0; }
static void in_short(struct driver *d, struct sent *s) { s->entry[4] = s->entry[5] = s->entry[6] = 0, s->entry[7] = 15; }
static void in_none(struct driver *d, struct sent *s) { memset(s->entry + 4, 0, 4); }
static void in_long(struct driver *d, struct sent *s) { s->entry[4] = 0x80; }
static void in_past_limit(struct driver *d, struct sent *s) { memcpy(s->entry + 4, (uint8_t[]){ 0, 0x80, 0x10, 1 }, 4); }
static void in_past_chain(struct driver *d, struct sent *s) { s->entry[6] = 0xff; }
static void out_long(struct driver *d, struct sent *s) { memcpy(s->entry + 56, (uint8_t[]){ 0, 1, 0, 1 }, 4); }
static void out_huge(struct driver *d, struct sent *s) { s->entry[56] = 0xff; }
static void out_past_chain(struct driver *d, struct sent *s) { s->entry[58] = 0xff; }
static void in_align(struct driver *d, struct sent *s) { s->entry[15] |= 0x10; }
static void out_align(struct driver *d, struct sent *s) { s->entry[54] |= 0x1; }
static void in_null(struct driver *d, struct sent *s) { memset(s->entry + 8, 0, 8); }
static void out_null(struct driver *d, struct sent *s) { memset(s->entry + 48, 0, 8); }
static void in_far(struct driver *d, struct sent *s) { s->entry[8] = 0x77; }
static void out_far(struct driver *d, struct sent *s) { s->entry[48] = 0x77; }
static void in_token(struct driver *d, struct sent *s) { block(d, s->in_boxes, 1)[573]++; }
static void out_token(struct driver *d, struct sent *s) { block(d, s->out_boxes, 1)[573]++; }
static void entry_token(struct driver *d, struct sent *s) { s->entry[60]++; }
static void in_number(struct driver *d, struct sent *s) { block(d, s->in_boxes, 1)[571] = 2; }
static void out_number(struct driver *d, struct sent *s) { block(d, s->out_boxes, 2)[568] = 1; }
static void in_next_align(struct driver *d, struct sent *s) { block(d, s->in_boxes, 0)[566] ^= 2; }
static void out_next_align(struct driver *d, struct sent *s) { block(d, s->out_boxes, 0)[567] = 1; }
static void in_loop(struct driver *d, struct sent *s) { memcpy(block(d, s->in_boxes, 1) + 560, s->entry + 8, 8); }
static void out_loop(struct driver *d, struct sent *s) { memcpy(block(d, s->out_boxes, 1) + 560, s->entry + 48, 8); }
static void in_block_signature(struct driver *d, struct sent *s) { sign(d, s, true), block(d, s->in_boxes, 1)[7] ^= 4; }
static void in_control_signature(struct driver *d, struct sent *s) { sign(d, s, true), block(d, s->in_boxes, 1)[574] ^= 4; }
static void out_control_signature(struct driver *d, struct sent *s) { sign(d, s, true), block(d, s->out_boxes, 1)[520] ^= 4; }
static void signed_all(struct driver *d, struct sent *s) { sign(d, s, true); }
static void longer_chain(struct driver *d, struct sent *s) { s->entry[58] = 0x02; }

static void each_delivery_error(void **state)
{
	static const struct spoil cases[] = {
		{ type, 0x10, true }, { reserved, 0x9, true }, { reserved_end, 0x9, true }, { signature, 0x1, false },
		{ no_signature, 0, false }, { in_short, 0x7, true }, { in_none, 0x7, true }, { in_long, 0x7, true },
		{ in_past_limit, 0x7, true }, { in_past_chain, 0x7, true }, { out_long, 0x8, true }, { out_huge, 0x8, true },
		{ out_past_chain, 0x8, true }, { in_align, 0x5, true }, { out_align, 0x4, true }, { in_null, 0x7, true },
		{ out_null, 0x8, true }, { in_far, 0x6, true }, { out_far, 0x6, true }, { in_token, 0x2, false },
		{ out_token, 0x2, false }, { entry_token, 0x2, true }, { in_number, 0x3, false }, { out_number, 0x3, false },
		{ in_next_align, 0x5, false }, { out_next_align, 0x4, false }, { in_loop, 0x3, false }, { out_loop, 0x3, false },
		{ in_block_signature, 0x1, false }, { in_control_signature, 0x1, false }, { out_control_signature, 0x1, false },
		{ signed_all, 0, false }, { longer_chain, 0, true },
	};
	struct driver *d = *state;
	uint8_t in[1600] = { PRM_OP_NOP >> 8, PRM_OP_NOP & 0xff }, before[64];

	bring_up(d);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sent s;
		unsigned int reads;

		d->next_box = 0;
		s = put(d, (unsigned int)i % 32, in, sizeof(in), 1600);
		memset(block(d, s.out_boxes, 0), 0xaa, 512);
		cases[i].spoil(d, &s);
		if (cases[i].resign)
			sign(d, &s, false);
		memcpy(before, s.entry, sizeof(before));
		reads = d->n_reads;
		ring(d, UINT32_C(1) << i % 32);
		if (delivery(&s) != cases[i].want)
			fail_msg("case %zu: delivery %u, not %u", i, delivery(&s), cases[i].want);
		assert_true(d->n_reads - reads <= 1 + 4 + 4); /* the entry, and each block once */
		/* An undelivered command leaves mailboxes and the driver's half of the entry as they were. */
		assert_int_equal(block(d, s.out_boxes, 0)[0], cases[i].want ? 0xaa : 0);
		assert_memory_equal(before, s.entry, 32);
		assert_memory_equal(before + 48, s.entry + 48, 13);
		for (unsigned int b = 32; b < 48; b++)
			assert_int_equal(s.entry[b], 0);
		/* The next one works. */
		assert_int_equal(delivery(&(struct sent){ .entry = send_nop(d, 3).entry }), 0);
	}
	control(d, "stat", "ok inflight=0 held=0 hung=0 late=0 failed=30 ");
}

/* A chain that is longer than the outbox stays a chain. */
static void the_rest_of_a_chain_stays(void **state)
{
	struct driver *d = *state;
	uint8_t in[HDR], last[576];
	struct sent s;

	bring_up(d);
	nop_in(in, sizeof(in));
	s = put(d, 0, in, sizeof(in), 1600);
	memcpy(s.entry + 56, (uint8_t[]){ 0, 0, 2, 16 }, 4); /* the first block only */
	sign(d, &s, false);
	memcpy(last, block(d, s.out_boxes, 1), sizeof(last));
	ring(d, 1);
	assert_int_equal(delivery(&s), 0);
	assert_memory_equal(last, block(d, s.out_boxes, 1), sizeof(last));
	assert_int_equal(block(d, s.out_boxes, 0)[566] << 8 | block(d, s.out_boxes, 0)[567], (s.out_boxes + BOX_STEP) & 0xffff);
}

/* Memory that refuses the outbox. */
static void unwritable_mailboxes_fail_the_delivery(void **state)
{
	struct driver *d = *state;
	uint8_t in[HDR];
	struct sent s;

	bring_up(d);
	nop_in(in, sizeof(in));
	s = put(d, 0, in, sizeof(in), 600);
	d->deny_writes = true;
	ring(d, 1);
	assert_true(owned_by_device(&s)); /* nobody can be told */
	d->deny_writes = false;
	assert_int_equal(delivery(&(struct sent){ .entry = send_nop(d, 0).entry }), 0);
}

static void what_is_not_handed_over_is_left(void **state)
{
	struct driver *d = *state;
	struct sent s;

	/* No bus master, no queue. */
	s = send_nop(d, 0);
	assert_true(owned_by_device(&s));
	bring_up(d);
	conf_set(d, 4, 2);
	s = send_nop(d, 0);
	assert_true(owned_by_device(&s));
	conf_set(d, 4, 6);
	/* The driver's own entry. */
	s = put_nop(d, 1);
	s.entry[63] = 0;
	sign(d, &s, false);
	memset(s.entry + 32, 0x55, 16);
	ring(d, 1u << 1);
	assert_int_equal(s.entry[32], 0x55);
	/* A queue where no memory is. */
	reg_set(d, 0x10, FAR >> 32);
	ring(d, UINT32_MAX);
	reg_set(d, 0x10, MEM_ADDR >> 32);
	s = send_nop(d, 2);
	assert_int_equal(delivery(&s), 0);
	control(d, "stat", "ok inflight=0 held=0 hung=0 late=0 failed=0 ignored=35 ");
}

static void events_tell_the_slots(void **state)
{
	struct driver *d = *state;
	struct sent s[4];

	bring_up(d);
	command_eq(d);
	assert_int_equal(next_eqe(d), 0); /* of the command that made it: it was polled */
	s[0] = send_nop(d, 9);
	assert_int_equal(d->n_msix[3], 1);
	assert_int_equal(next_eqe(d), 1u << 9);
	assert_int_equal(delivery(&s[0]), 0);
	for (unsigned int i = 0; i < 4; i++)
		s[i] = put_nop(d, 8 + i * 3);
	ring(d, 1u << 8 | 1u << 11 | 1u << 14 | 1u << 17);
	assert_int_equal(next_eqe(d), 1u << 8 | 1u << 11 | 1u << 14 | 1u << 17);
	assert_int_equal(next_eqe(d), 0);
	assert_int_equal(d->n_msix[3], 2);
	/* Around the queue several times. */
	for (unsigned int i = 0; i < 300; i++) {
		send_nop(d, i % 32);
		assert_int_equal(next_eqe(d), UINT32_C(1) << i % 32);
	}
	assert_int_equal(d->n_msix[3], 302);
}

/* Who sees the owner bit sees the outbox; who is interrupted sees both. */
static void the_outbox_comes_before_its_news(void **state)
{
	struct driver *d = *state;
	uint8_t in[HDR];
	struct sent s;
	unsigned int n = 0;

	bring_up(d);
	command_eq(d);
	nop_in(in, sizeof(in));
	s = put(d, 4, in, sizeof(in), 1600);
	d->n_log = 0;
	ring(d, 1u << 4);
	for (unsigned int i = 0; i < 4; i++, n++) {
		assert_int_equal(d->log[n].addr, s.out_boxes + i * BOX_STEP);
		assert_int_equal(d->log[n].len, 576);
	}
	assert_int_equal(d->log[n].addr, MEM_ADDR + QUEUE_AT + 4 * 64 + 32);
	assert_int_equal(d->log[n++].len, 31);
	assert_int_equal(d->log[n].addr, MEM_ADDR + QUEUE_AT + 4 * 64 + 63);
	assert_int_equal(d->log[n++].len, 1);
	for (; n + 1 < d->n_log; n++)
		assert_in_range(d->log[n].addr, MEM_ADDR + EQ_AT, MEM_ADDR + EQ_AT + 63);
	assert_int_equal(d->log[n].addr, 0);
	assert_int_equal(n + 1, d->n_log);
}

/* A queue that is not armed gets events, and no interrupt. */
static void an_unarmed_queue_does_not_interrupt(void **state)
{
	struct driver *d = *state;

	bring_up(d);
	command_eq(d);
	send_nop(d, 0);
	send_nop(d, 1);
	assert_int_equal(d->n_msix[3], 1);
	assert_int_equal(next_eqe(d), 1);
	assert_int_equal(d->n_msix[3], 2); /* it was armed with one more inside */
	assert_int_equal(next_eqe(d), 2);
	assert_int_equal(d->n_msix[3], 2);
}

/* A client that has the pages mapped: each event interrupts. */
static void a_mapped_page_tells_nothing(void **state)
{
	struct driver *d = *state;

	driver_start(d, &default_config, true);
	bring_up(d);
	command_eq(d);
	for (unsigned int i = 0; i < 200; i++) {
		send_nop(d, i % 32);
		assert_int_equal(d->n_msix[3], i + 1);
		assert_int_equal(next_eqe(d), UINT32_C(1) << i % 32);
	}
}

static uint32_t consumer(struct driver *d)
{
	uint8_t in[PRM_SZ(query_eq_in)] = { 0 }, out[PRM_SZ(query_eq_out)];
	struct prm_box i = prm_out(in, sizeof(in)), o = prm_out(out, sizeof(out)), eqc = PRM_SUB(&o, query_eq_out, eq_context_entry);

	PRM_SET(&i, query_eq_in, opcode, PRM_OP_QUERY_EQ);
	PRM_SET(&i, query_eq_in, eq_number, d->eqn);
	run(d, in, sizeof(in), out, sizeof(out));
	assert_int_equal(out[0], 0);
	return (uint32_t)PRM_GET(&eqc, eqc, consumer_counter);
}

/* A doorbell of before the reset is no consumer index of a queue that has the same number and page. */
static void doorbells_do_not_outlive_their_queue(void **state)
{
	struct driver *d = *state;
	uint32_t eqn;

	for (int mapped = 0; mapped < 2; mapped++) {
		driver_start(d, &default_config, mapped);
		for (uint32_t round = 0; round < 2; round++) {
			bring_up(d);
			eqn = d->eqn;
			command_eq(d);
			assert_true(!round || d->eqn == eqn);
			for (int i = 0; i < 3; i++)
				send_nop(d, 0);
			assert_int_equal(consumer(d), 0);
			reg_set(d, (uint32_t)PCI_UAR_OFFSET + 0x48, d->eqn << 24 | 2);
			assert_int_equal(consumer(d), 2);
			conf_set(d, 0x68, 0x8000);
		}
	}
}

/* Switching the interface off is the end of everything; a new queue begins anew. */
static void switched_off(void **state)
{
	struct driver *d = *state;
	uint8_t in[HDR] = { PRM_OP_ALLOC_PD >> 8, PRM_OP_ALLOC_PD & 0xff }, out[HDR];
	struct prm_box o = prm_out(out, sizeof(out));
	uint32_t first;
	struct sent s;

	for (uint32_t how = 1; how < 8; how++) {
		bring_up(d);
		run(d, in, sizeof(in), out, sizeof(out));
		first = (uint32_t)PRM_GET(&o, alloc_pd_out, pd);
		reg_set(d, 0x14, (uint32_t)MEM_ADDR | how << 8);
		assert_int_equal(reg(d, 0x14) >> 8 & 7, how == 2 ? 2 : 1);
		s = send_nop(d, 0);
		assert_true(owned_by_device(&s));
		bring_up(d);
		assert_int_equal(reg(d, 0x14) >> 8 & 7, 0);
		run(d, in, sizeof(in), out, sizeof(out));
		assert_int_equal(PRM_GET(&o, alloc_pd_out, pd), first);
		pci_reset(d->p, d->now);
	}
}

static void a_fatal_error_shows_and_stops(void **state)
{
	struct driver *d = *state;
	struct sent s;

	bring_up(d);
	assert_int_equal(reg(d, 0x23c), 0);
	control(d, "fatal 0x8", "ok");
	assert_int_equal(reg(d, 0x23c) >> 16 & 0xff, 8);
	assert_int_equal(reg(d, 0x238) >> 31, 1);
	s = send_nop(d, 0);
	step(d, 100 * SEC);
	assert_true(owned_by_device(&s));
	/* The driver starts over. */
	bring_up(d);
	assert_int_equal(reg(d, 0x23c), 0);
	s = send_nop(d, 0);
	assert_int_equal(delivery(&s), 0);
	control(d, "fatal 255", "ok");
	pci_reset(d->p, d->now);
	assert_int_equal(reg(d, 0x23c) | reg(d, 0x238), 0);
}

int run_pci_commands_tests(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, driver_setup, driver_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_command_is_polled), TEST(a_refusal_has_a_status_and_a_syndrome), TEST(boxes_have_any_length),
		TEST(contents_are_whole), TEST(an_inbox_may_be_long), TEST(no_memory_for_the_function), TEST(every_slot_works), TEST(each_delivery_error), TEST(the_rest_of_a_chain_stays),
		TEST(unwritable_mailboxes_fail_the_delivery), TEST(what_is_not_handed_over_is_left), TEST(events_tell_the_slots), TEST(the_outbox_comes_before_its_news),
		TEST(an_unarmed_queue_does_not_interrupt), TEST(a_mapped_page_tells_nothing), TEST(doorbells_do_not_outlive_their_queue), TEST(switched_off),
		TEST(a_fatal_error_shows_and_stops),
	};

	return cmocka_run_group_tests_name("pci commands", tests, NULL, NULL);
}
