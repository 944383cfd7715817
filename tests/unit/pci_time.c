/* SPDX-License-Identifier: BSD-2-Clause */
/* When commands end: latency, order, faults, hold, timeouts, resets; and the lines of the control socket. */
#include "driver.h"

#define HDR 16u

static struct sent put_query(struct driver *d, unsigned int slot, uint16_t uid, uint32_t outlen)
{
	uint8_t in[PRM_SZ(query_flow_counter_in)] = { PRM_OP_QUERY_FLOW_COUNTER >> 8, PRM_OP_QUERY_FLOW_COUNTER & 0xff };

	in[2] = (uint8_t)(uid >> 8);
	in[3] = (uint8_t)uid;
	return put(d, slot, in, sizeof(in), outlen);
}

static struct sent send_query(struct driver *d, unsigned int slot, uint16_t uid, uint32_t outlen)
{
	struct sent s = put_query(d, slot, uid, outlen);

	ring(d, UINT32_C(1) << slot);
	return s;
}

static void start(struct driver *d, uint64_t latency, uint64_t timeout, bool reorder)
{
	struct hca_config hca = default_config;

	hca.latency = latency;
	hca.timeout = timeout;
	hca.reorder = reorder;
	memset(d->mem, 0, MEM_SIZE);
	d->next_box = 0;
	driver_start(d, &hca, false);
	bring_up(d);
}

static void latency_passes(void **state)
{
	struct driver *d = *state;
	struct sent s;

	start(d, 5 * MS, 60 * SEC, false);
	assert_int_equal(pci_next(d->p), HCA_NEVER);
	s = send_nop(d, 4);
	assert_int_equal(pci_next(d->p), d->now + 5 * MS);
	step(d, 5 * MS - 1);
	assert_true(owned_by_device(&s));
	step(d, 1);
	assert_int_equal(delivery(&s), 0);
	assert_int_equal(pci_next(d->p), HCA_NEVER);
}

/* In the order of ringing, whatever jitter does; an event tells of several only as long as their slots ascend. */
static void order_is_kept(void **state)
{
	struct driver *d = *state;
	struct hca_config hca = default_config;
	uint32_t bits[8];

	hca.latency = MS;
	hca.jitter = 50 * MS;
	driver_start(d, &hca, false);
	bring_up(d);
	command_eq(d);
	for (unsigned int i = 0; i < 8; i++) {
		bits[i] = UINT32_C(1) << (i * 13 % 32);
		send_nop(d, i * 13 % 32);
		step(d, 100000);
	}
	/* All that is due at once, when the server comes late. */
	d->now += SEC;
	pci_due(d->p, d->now);
	assert_int_equal(next_eqe(d), bits[0] | bits[1] | bits[2]); /* 0, 13, 26 */
	assert_int_equal(next_eqe(d), bits[3] | bits[4]);           /* 7, 20 */
	assert_int_equal(next_eqe(d), bits[5] | bits[6] | bits[7]); /* 1, 14, 27 */
	assert_int_equal(next_eqe(d), 0);
}

static void reorder_is_random_and_the_same_again(void **state)
{
	struct driver *d = *state;
	uint32_t first[32], n[2] = { 0, 0 };
	bool sorted = true;

	for (int pass = 0; pass < 2; pass++) {
		uint32_t all = 0, eqe;

		start(d, MS, 60 * SEC, true);
		command_eq(d);
		for (unsigned int i = 0; i < 32; i++)
			put_nop(d, i);
		ring(d, UINT32_MAX);
		step(d, MS);
		while ((eqe = next_eqe(d))) {
			if (pass)
				assert_int_equal(first[n[1]], eqe);
			first[n[pass]++] = eqe;
			assert_int_equal(all & eqe, 0);
			all |= eqe;
			sorted &= all == eqe;
		}
		assert_int_equal(all, UINT32_MAX);
	}
	assert_false(sorted);
	assert_int_equal(n[0], n[1]);
}

static void rules_fire(void **state)
{
	struct driver *d = *state;
	struct sent s, other;

	start(d, 0, 60 * SEC, false);
	control(d, "fault opcode=0x80d nth=2 status=0x5 syndrome=0x1234", "ok");
	assert_int_equal(send_nop(d, 0).entry[32], 0);
	s = send_nop(d, 0);
	assert_int_equal(delivery(&s), 0);
	assert_int_equal(s.entry[32], 5);
	assert_int_equal(s.entry[38] << 8 | s.entry[39], 0x1234);
	assert_int_equal(send_nop(d, 0).entry[32], 0);

	control(d, "fault opcode=0x80d nth=1 delay=1s", "ok");
	s = send_nop(d, 0);
	other = send_nop(d, 1); /* overtakes */
	assert_int_equal(delivery(&other), 0);
	step(d, SEC - 1);
	assert_true(owned_by_device(&s));
	step(d, 1);
	assert_int_equal(delivery(&s), 0);

	control(d, "fault opcode=0x80d nth=1 hang", "ok");
	s = send_nop(d, 31);
	for (unsigned int i = 0; i < 31; i++) {
		other = send_nop(d, i);
		assert_int_equal(delivery(&other), 0);
	}
	ring(d, 1u << 31); /* again: nothing */
	step(d, 1000 * SEC);
	assert_true(owned_by_device(&s));
	control(d, "stat", "ok inflight=1 held=0 hung=1 late=0 failed=0 ignored=1 ");
	control(d, "fault clear", "ok");
	assert_int_equal(delivery(&s), 6);
	control(d, "stat", "ok inflight=0 held=0 hung=0 late=1 ");
}

static void rules_have_an_end(void **state)
{
	struct driver *d = *state;

	start(d, 0, 60 * SEC, false);
	for (unsigned int i = 0; i < 4096; i++)
		control(d, "fault opcode=0xfff hang", "ok");
	control(d, "fault opcode=0xfff hang", "error: ");
	control(d, "fault clear", "ok");
	control(d, "fault opcode=0xfff hang", "ok");
}

/*
 * The driver has given the mailboxes back: they are somebody else's. Only the entry is answered, not as a success, and what is known
 * to be late beforehand does not happen.
 */
static void late_answers_spare_the_mailboxes(void **state)
{
	struct driver *d = *state;
	uint8_t in[HDR] = { PRM_OP_ALLOC_PD >> 8, PRM_OP_ALLOC_PD & 0xff }, out[HDR];
	struct prm_box o = prm_out(out, sizeof(out));
	uint32_t before;
	struct sent s;

	start(d, 0, 2 * SEC, false);
	run(d, in, sizeof(in), out, sizeof(out));
	before = (uint32_t)PRM_GET(&o, alloc_pd_out, pd);
	control(d, "fault opcode=0x800 nth=1 delay=3s", "ok");
	s = put(d, 0, in, sizeof(in), 1600);
	for (unsigned int i = 0; i < 4; i++)
		memset(block(d, s.out_boxes, i), 0xbb, 576);
	ring(d, 1);
	assert_int_equal(delivery(&s), 2); /* the token in what was overwritten: so it must not be, while it is handed over */
	s = put(d, 0, in, sizeof(in), 1600);
	control(d, "fault opcode=0x800 nth=1 delay=3s", "ok");
	ring(d, 1);
	for (unsigned int i = 0; i < 4; i++)
		memset(block(d, s.out_boxes, i), 0xbb, 576);
	step(d, 3 * SEC - 1);
	assert_true(owned_by_device(&s));
	step(d, 1);
	assert_int_equal(delivery(&s), 6);
	for (unsigned int i = 0; i < 4; i++)
		for (unsigned int b = 0; b < 576; b++)
			assert_int_equal(block(d, s.out_boxes, i)[b], 0xbb);
	control(d, "fault clear", "ok");
	run(d, in, sizeof(in), out, sizeof(out));
	assert_int_equal(PRM_GET(&o, alloc_pd_out, pd), before + 1);
}

/* Near the timeout nobody knows whether the driver still waits. */
static void nothing_is_answered_around_the_timeout(void **state)
{
	static const struct {
		const char *rule;
		uint64_t at;
		uint8_t want;
	} cases[] = {
		{ "fault nth=1 delay=1900ms", 1900 * MS, 0 },
		{ "fault nth=1 delay=1990ms", 2000 * MS + 62500000, 6 },
		{ "fault nth=1 delay=2010ms", 2000 * MS + 62500000, 6 },
		{ "fault nth=1 delay=2100ms", 2100 * MS, 6 },
	};
	struct driver *d = *state;

	start(d, 0, 2 * SEC, false);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sent s;

		control(d, cases[i].rule, "ok");
		s = send_nop(d, 0);
		step(d, cases[i].at - 1);
		assert_true(owned_by_device(&s));
		step(d, 1);
		assert_int_equal(delivery(&s), cases[i].want);
	}
}

/* The server itself comes too late. */
static void a_late_server_spares_the_mailboxes(void **state)
{
	struct driver *d = *state;
	struct sent s;

	start(d, MS, 2 * SEC, false);
	s = send_query(d, 0, 0, 600);
	memset(block(d, s.out_boxes, 0), 0xbb, 576);
	d->now += 2 * SEC;
	pci_due(d->p, d->now);
	assert_true(owned_by_device(&s));
	step(d, SEC);
	assert_int_equal(delivery(&s), 6);
	assert_int_equal(block(d, s.out_boxes, 0)[0], 0xbb);
}

static void spoil(struct driver *d, const struct sent *s, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		memset(block(d, s->out_boxes, i), 0xbb, 576);
}

static bool spared(struct driver *d, const struct sent *s, unsigned int i)
{
	const uint8_t *b = block(d, s->out_boxes, i);

	for (unsigned int k = 0; k < 576; k++)
		if (b[k] != 0xbb)
			return false;
	return true;
}

/* Memory is slow, and the time passes while the device writes: an outbox of several blocks, and commands that are due together. */
static void slow_writes_spare_the_mailboxes(void **state)
{
	struct driver *d = *state;
	struct sent s, other;

	start(d, MS, 2 * SEC, false);
	s = send_query(d, 0, 0, 1600);
	spoil(d, &s, 4);
	d->write_ns = 700 * MS;
	step(d, MS);
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(spared(d, &s, i), i == 3); /* before 1 ms, 701 ms, 1401 ms; not before 2101 ms */
	assert_int_equal(delivery(&s), 6);
	control(d, "stat", "ok inflight=0 held=0 hung=0 late=1 ");
	d->write_ns = 0;

	s = send_query(d, 0, 0, 528);
	other = send_query(d, 1, 0, 528);
	spoil(d, &s, 1);
	spoil(d, &other, 1);
	d->write_ns = 900 * MS; /* a block, and the entry in two parts */
	step(d, MS);
	d->write_ns = 0;
	assert_int_equal(delivery(&s), 0);
	assert_false(spared(d, &s, 0));
	assert_int_equal(delivery(&other), 6);
	assert_true(spared(d, &other, 0));
	control(d, "stat", "ok inflight=0 held=0 hung=0 late=2 ");

	/* It becomes late with its last block: nothing is answered around the timeout. */
	s = send_query(d, 0, 0, 528);
	d->write_ns = 2 * SEC;
	d->now += MS;
	pci_due(d->p, d->now);
	d->write_ns = 0;
	assert_true(owned_by_device(&s));
	step(d, 62500000 - MS - 1);
	assert_true(owned_by_device(&s));
	step(d, 1);
	assert_int_equal(delivery(&s), 6);
}

/* The same while a doorbell fetches commands: what became late by that is not executed. */
static void slow_reads_spare_the_mailboxes(void **state)
{
	struct driver *d = *state;
	uint8_t in[HDR] = { PRM_OP_ALLOC_PD >> 8, PRM_OP_ALLOC_PD & 0xff }, out[HDR];
	struct prm_box o = prm_out(out, sizeof(out));
	struct sent s, other;
	uint32_t before;

	start(d, 0, 2 * SEC, false);
	run(d, in, sizeof(in), out, sizeof(out));
	before = (uint32_t)PRM_GET(&o, alloc_pd_out, pd);
	s = put_nop(d, 0);
	other = put(d, 1, in, sizeof(in), 1600);
	d->read_ns = 400 * MS;
	ring(d, 3);
	d->read_ns = 0;
	assert_int_equal(delivery(&other), 6);
	assert_int_equal(delivery(&s), 6); /* the bell was of both, and memory took 2.4 s */
	for (unsigned int i = 0; i < 4; i++)
		for (unsigned int k = 0; k < 512; k++)
			assert_int_equal(block(d, other.out_boxes, i)[k], 0);
	run(d, in, sizeof(in), out, sizeof(out));
	assert_int_equal(PRM_GET(&o, alloc_pd_out, pd), before + 1);
}

/* A doorbell that waited: its driver waits since it came. Other times do not go back. */
static void timeouts_run_from_when_the_bell_came(void **state)
{
	struct driver *d = *state;
	uint32_t bell = __builtin_bswap32(1);
	struct sent s;

	start(d, MS, 2 * SEC, false);
	for (int late = 0; late < 2; late++) {
		s = put_query(d, 0, 0, 528);
		spoil(d, &s, 0);
		assert_true(pci_write(d->p, PCI_BAR0, 0x18, &bell, sizeof(bell), d->now - SEC - (late ? 940 : 930) * MS));
		assert_true(owned_by_device(&s));
		assert_int_equal(pci_next(d->p), d->now + (late ? 122500000 : MS));
		step(d, SEC);
		assert_int_equal(delivery(&s), late ? 6 : 0);
	}
	/* Ready now, which it was not when the bell came. */
	pci_reset(d->p, d->now);
	conf_set(d, 4, 6);
	reg_set(d, 0x10, (MEM_ADDR + QUEUE_AT) >> 32);
	reg_set(d, 0x14, (uint32_t)(MEM_ADDR + QUEUE_AT));
	step(d, MS);
	s = put_nop(d, 0);
	assert_true(pci_write(d->p, PCI_BAR0, 0x18, &bell, sizeof(bell), d->now - MS));
	step(d, MS);
	assert_false(owned_by_device(&s));
}

static void hold_keeps_queries_of_programs(void **state)
{
	struct driver *d = *state;
	struct sent a, b, c, own;

	start(d, 0, 60 * SEC, false);
	control(d, "hold", "ok");
	a = send_query(d, 3, 1, 32);
	b = send_query(d, 1, 1, 32);
	own = send_query(d, 2, 0, 32);
	assert_int_equal(delivery(&own), 0);
	own = send_nop(d, 2);
	assert_int_equal(delivery(&own), 0);
	step(d, SEC);
	assert_true(owned_by_device(&a) && owned_by_device(&b));
	control(d, "release 1", "ok 1");
	assert_int_equal(delivery(&a), 0);
	assert_true(owned_by_device(&b));
	control(d, "release 5", "ok 1");
	assert_int_equal(delivery(&b), 0);
	c = send_query(d, 1, 1, 32);
	assert_true(owned_by_device(&c));
	control(d, "release all", "ok 1");
	assert_int_equal(delivery(&c), 0);
	c = send_query(d, 1, 1, 32);
	assert_int_equal(delivery(&c), 0);
	/* One opcode, whoever sends it. */
	control(d, "hold 0x80d", "ok");
	own = send_nop(d, 2);
	c = send_query(d, 1, 1, 32);
	assert_int_equal(delivery(&c), 0);
	assert_true(owned_by_device(&own));
	/* Past its timeout it is late. */
	step(d, 100 * SEC);
	control(d, "release all", "ok 1");
	assert_int_equal(delivery(&own), 6);
}

static void hold_takes_what_is_on_its_way(void **state)
{
	struct driver *d = *state;
	struct sent a;

	start(d, MS, 60 * SEC, false);
	a = send_query(d, 3, 1, 32);
	control(d, "hold", "ok");
	step(d, SEC);
	assert_true(owned_by_device(&a));
	control(d, "release all", "ok 1");
	assert_int_equal(delivery(&a), 0);
}

static void a_reset_forgets_what_is_in_flight(void **state)
{
	struct driver *d = *state;
	struct sent s[3];

	for (int how = 0; how < 3; how++) {
		start(d, MS, 60 * SEC, false);
		control(d, "fault opcode=0x80d nth=1 hang", "ok");
		control(d, "hold", "ok");
		s[0] = send_nop(d, 0);
		s[1] = send_query(d, 1, 1, 32);
		s[2] = send_nop(d, 2);
		if (how == 0)
			pci_reset(d->p, d->now);
		else if (how == 1)
			control(d, "reset", "ok");
		else
			reg_set(d, 0x14, (uint32_t)MEM_ADDR | 1 << 8);
		assert_int_equal(pci_next(d->p), HCA_NEVER);
		step(d, 100 * SEC);
		for (int i = 0; i < 3; i++)
			assert_true(owned_by_device(&s[i]));
		control(d, "fault clear", "ok");
		bring_up(d);
		/* It still holds. */
		s[1] = send_query(d, 1, 1, 32);
		step(d, MS);
		assert_true(owned_by_device(&s[1]));
		control(d, "release all", "ok 1");
		for (int i = 0; i < 3; i++) {
			s[i] = send_nop(d, i);
			step(d, MS);
			assert_int_equal(delivery(&s[i]), 0);
		}
	}
}

static void counters_count(void **state)
{
	struct driver *d = *state;
	uint8_t in[HDR] = { PRM_OP_ALLOC_FLOW_COUNTER >> 8, PRM_OP_ALLOC_FLOW_COUNTER & 0xff }, out[HDR];
	struct prm_box o = prm_out(out, sizeof(out));
	char line[64];
	uint32_t id;

	start(d, 0, 60 * SEC, false);
	run(d, in, sizeof(in), out, sizeof(out));
	id = (uint32_t)PRM_GET(&o, alloc_flow_counter_out, flow_counter_id);
	snprintf(line, sizeof(line), "traffic %u 7 0x100", id);
	control(d, line, "ok");
	snprintf(line, sizeof(line), "counter %u", id);
	control(d, line, "ok packets=7 octets=256");
	control(d, "counter 1", "error: no such counter");
	control(d, "traffic 1 1 1", "error: no such counter");
}

static void statistics_have_opcodes(void **state)
{
	struct driver *d = *state;
	uint8_t in[HDR] = { PRM_OP_ALLOC_PD >> 8, PRM_OP_ALLOC_PD & 0xff }, out[HDR];
	char reply[4096], small[24];

	start(d, 0, 60 * SEC, false);
	for (unsigned int i = 0; i < 3; i++)
		send_nop(d, i);
	assert_true(pci_control(d->p, "stat\n", reply, sizeof(reply), d->now));
	assert_non_null(strstr(reply, " 0x80d=3"));
	assert_non_null(strstr(reply, " objects=0 pages="));
	assert_null(strstr(reply, " pages=0"));
	assert_non_null(strstr(reply, " memory=0 "));
	run(d, in, sizeof(in), out, sizeof(out));
	assert_true(pci_control(d->p, "stat", reply, sizeof(reply), d->now));
	assert_non_null(strstr(reply, " objects=1 pages="));
	assert_null(strstr(reply, " memory=0 "));
	assert_true(pci_control(d->p, "stat", small, sizeof(small), d->now));
	assert_int_equal(strlen(small), sizeof(small) - 1);
}

static void lines_are_checked(void **state)
{
	static const char *const bad[] = {
		"", " ", "nothing", "holds", "hold 0", "hold x", "hold 0x10000", "hold 1 2", "release", "release x", "release 1 2",
		"release 4294967295", "traffic", "traffic 1 2", "traffic 1 2 3 4", "traffic 1 2 18446744073709551616", "counter",
		"counter 0x", "counter 4294967296", "packet", "packet 00", "packet 0011223344556677889900112", "packet zz", "port",
		"port 1", "port up down", "event", "event 0x400 1", "event 0x400 1 4 256", "event 0x400:z 1 4", "event 0x400 1 4 1 1",
		"fatal", "fatal 0", "fatal 256", "stat 1", "reset now", "fault", "fault hang hang", "fault nonsense", "fault clear clear",
	};
	struct driver *d = *state;

	start(d, 0, 60 * SEC, false);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		control(d, bad[i], "error: ");
	control(d, "fault opcode=0x80d delay=1", "error: value is not allowed: 'delay=1' at character 14");
	control(d, "  port  down ", "ok");
	control(d, "packet 00112233445566778899aabb0800", "error: the link is down");
	control(d, "port up\r\n", "ok");
	control(d, "packet 00112233445566778899aabb0800", "ok delivered=0 tirs=0 dropped=0");
	control(d, "event 0x400 1 4 1", "error: no such object");
	control(d, "event 0x400 1 0x60", "error: such objects have no such event");
	control(d, "event 0xa00:0x0d 1 0x27", "error: no such object");
}

int run_pci_time_tests(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, driver_setup, driver_teardown)
	const struct CMUnitTest tests[] = {
		TEST(latency_passes), TEST(order_is_kept), TEST(reorder_is_random_and_the_same_again), TEST(rules_fire), TEST(rules_have_an_end),
		TEST(late_answers_spare_the_mailboxes), TEST(nothing_is_answered_around_the_timeout),
		TEST(a_late_server_spares_the_mailboxes), TEST(slow_writes_spare_the_mailboxes), TEST(slow_reads_spare_the_mailboxes),
		TEST(timeouts_run_from_when_the_bell_came), TEST(hold_keeps_queries_of_programs), TEST(hold_takes_what_is_on_its_way),
		TEST(a_reset_forgets_what_is_in_flight), TEST(counters_count), TEST(statistics_have_opcodes), TEST(lines_are_checked),
	};

	return cmocka_run_group_tests_name("pci time", tests, NULL, NULL);
}
