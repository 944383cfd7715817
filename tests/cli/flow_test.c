/* SPDX-License-Identifier: BSD-2-Clause */
/* The frame parser on frames cut at every length, each ending where memory ends, and on bytes at random; the flow table. */
#include <pcap/dlt.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "flowtab.h"

static const int dlts[] = { DLT_EN10MB, DLT_RAW, DLT_IPV4, DLT_IPV6, DLT_LINUX_SLL, DLT_LINUX_SLL2, DLT_NULL, DLT_LOOP };
#define N_DLTS (sizeof(dlts) / sizeof(dlts[0]))

/* Ethernet, QinQ, IPv6 with hop-by-hop, destination and fragment headers (the first fragment), UDP 1000 > 53. */
static const uint8_t long_frame[] = {
	2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0xa8, 0, 7, 0x81, 0, 0, 5, 0x86, 0xdd,
	0x60, 0, 0, 0, 0, 40, 0, 64,
	0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2,
	60, 0, 1, 4, 0, 0, 0, 0,
	44, 0, 1, 4, 0, 0, 0, 0,
	17, 0, 0, 1, 0, 0, 0, 9,
	0x03, 0xe8, 0, 53, 0, 16, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8,
};
#define IPV6_AT 22
#define FRAGMENT_AT (IPV6_AT + 40 + 16)
#define UDP_AT (FRAGMENT_AT + 8)

static const uint8_t ipv4[] = {
	0x46, 0, 0, 28, 0, 1, 0x20, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 1, 1, 1, 0, 0, 80, 0x1f, 0x90,
};

/* A page that is followed by one that nobody may touch. */
static uint8_t *guard_end;

static int setup(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *p = mmap(NULL, page * 2, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || mprotect(p + page, page, PROT_NONE))
		return -1;
	guard_end = p + page;
	return 0;
}

static enum flow_result parse(int dlt, const uint8_t *frame, size_t len, struct flow_key *key)
{
	size_t ip_at;

	memcpy(guard_end - len, frame, len);
	return flow_parse(dlt, guard_end - len, len, key, &ip_at);
}

static void every_cut_of_a_long_frame(void **state)
{
	for (size_t len = 0; len <= sizeof(long_frame); len++) {
		struct flow_key key;
		enum flow_result want = len < IPV6_AT ? FLOW_NOT_IP : len < IPV6_AT + 40 ? FLOW_MALFORMED : FLOW_OK;

		assert_int_equal(parse(DLT_EN10MB, long_frame, len, &key), want);
		if (want != FLOW_OK)
			continue;
		assert_int_equal(key.family, 6);
		assert_memory_equal(key.src, long_frame + IPV6_AT + 8, 16);
		assert_memory_equal(key.dst, long_frame + IPV6_AT + 24, 16);
		if (len >= UDP_AT)
			assert_int_equal(key.proto, 17);
		assert_int_equal(key.sport, len >= UDP_AT + 4 ? 1000 : 0);
		assert_int_equal(key.dport, len >= UDP_AT + 4 ? 53 : 0);
	}
}

static void every_cut_of_ipv4(void **state)
{
	for (size_t len = 0; len <= sizeof(ipv4); len++) {
		struct flow_key key;

		assert_int_equal(parse(DLT_IPV4, ipv4, len, &key), len < 20 ? FLOW_MALFORMED : FLOW_OK);
		if (len < 20)
			continue;
		assert_int_equal(key.proto, 6);
		assert_int_equal(key.sport, len >= 28 ? 80 : 0);
		assert_int_equal(key.dport, len >= 28 ? 8080 : 0);
	}
}

static void later_fragments_have_no_ports(void **state)
{
	uint8_t frame[sizeof(long_frame)], packet[sizeof(ipv4)];
	struct flow_key key;

	memcpy(frame, long_frame, sizeof(frame));
	frame[FRAGMENT_AT + 3] = 8;
	assert_int_equal(parse(DLT_EN10MB, frame, sizeof(frame), &key), FLOW_OK);
	assert_int_equal(key.proto, 17);
	assert_int_equal(key.sport | key.dport, 0);
	memcpy(packet, ipv4, sizeof(packet));
	packet[7] = 1;
	assert_int_equal(parse(DLT_IPV4, packet, sizeof(packet), &key), FLOW_OK);
	assert_int_equal(key.proto, 6);
	assert_int_equal(key.sport | key.dport, 0);
}

static void padding_is_not_ports(void **state)
{
	uint8_t packet[sizeof(ipv4)];
	struct flow_key key;

	memcpy(packet, ipv4, sizeof(packet));
	packet[3] = 24; /* the packet ends with its header */
	assert_int_equal(parse(DLT_RAW, packet, sizeof(packet), &key), FLOW_OK);
	assert_int_equal(key.sport | key.dport, 0);
	packet[3] = 0; /* the length was left to the NIC */
	assert_int_equal(parse(DLT_RAW, packet, sizeof(packet), &key), FLOW_OK);
	assert_int_equal(key.sport, 80);
	packet[3] = 23;
	assert_int_equal(parse(DLT_RAW, packet, sizeof(packet), &key), FLOW_MALFORMED);
}

/* Plausible bytes at random: mostly the long frame or the packet, with some bytes changed. */
static void random_bytes_stay_inside(void **state)
{
	unsigned int seed = 7, results[3] = { 0 };

	for (int round = 0; round < 200000; round++) {
		int dlt = dlts[(size_t)rand_r(&seed) % N_DLTS];
		bool eth = dlt == DLT_EN10MB;
		const uint8_t *from = eth ? long_frame : dlt == DLT_IPV4 ? ipv4 : long_frame + IPV6_AT;
		size_t room = eth ? sizeof(long_frame) : dlt == DLT_IPV4 ? sizeof(ipv4) : sizeof(long_frame) - IPV6_AT;
		size_t len = (size_t)rand_r(&seed) % (room + 1);
		struct flow_key key, again;
		enum flow_result r;
		size_t ip_at;

		memcpy(guard_end - len, from, len);
		for (int n = rand_r(&seed) % 6; n > 0 && len; n--)
			guard_end[-1 - rand_r(&seed) % (int)len] = (uint8_t)rand_r(&seed);
		memset(&key, 0xff, sizeof(key));
		r = flow_parse(dlt, guard_end - len, len, &key, &ip_at);
		results[r]++;
		assert_int_equal(flow_parse(dlt, guard_end - len, len, &again, &ip_at), r);
		assert_memory_equal(&key, &again, sizeof(key)); /* nothing of it is left as it was */
		if (r == FLOW_OK) {
			char text[FLOW_TEXT_MAX];

			assert_true(key.family == 4 || key.family == 6);
			assert_true(ip_at + 20 <= len);
			flow_text(&key, text);
			assert_true(strstr(text, " > "));
		}
	}
	assert_true(results[FLOW_OK] > 1000 && results[FLOW_NOT_IP] > 1000 && results[FLOW_MALFORMED] > 1000);
}

static void link_types(void **state)
{
	struct flow_key key;
	size_t ip_at;

	for (size_t i = 0; i < N_DLTS; i++)
		assert_true(flow_linktype_known(dlts[i]));
	assert_false(flow_linktype_known(DLT_IEEE802_11_RADIO));
	assert_int_equal(flow_parse(DLT_IEEE802_11_RADIO, ipv4, sizeof(ipv4), &key, &ip_at), FLOW_NOT_IP);
}

static void texts(void **state)
{
	struct flow_key key;
	char text[FLOW_TEXT_MAX];

	parse(DLT_IPV4, ipv4, sizeof(ipv4), &key);
	flow_text(&key, text);
	assert_string_equal(text, "TCP 10.0.0.1:80 > 10.0.0.2:8080");
	parse(DLT_EN10MB, long_frame, sizeof(long_frame), &key);
	flow_text(&key, text);
	assert_string_equal(text, "UDP [2001:db8::1]:1000 > [2001:db8::2]:53");
	key.proto = 58;
	flow_text(&key, text);
	assert_string_equal(text, "ICMPv6 2001:db8::1 > 2001:db8::2");
	key.proto = 253;
	flow_text(&key, text);
	assert_string_equal(text, "IP/253 2001:db8::1 > 2001:db8::2");
}

static void table_numbers_flows_in_order(void **state)
{
	struct flowtab t;
	bool is_new;

	flowtab_init(&t);
	for (int pass = 0; pass < 2; pass++)
		for (uint32_t i = 0; i < 100000; i++) {
			struct flow_key key = { .family = 4, .proto = 17, .sport = (uint16_t)i };

			memcpy(key.dst, &i, sizeof(i));
			assert_int_equal(flowtab_get(&t, &key, &is_new), i);
			assert_int_equal(is_new, !pass);
		}
	assert_int_equal(t.n, 100000);
	flowtab_fini(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_cut_of_a_long_frame), cmocka_unit_test(every_cut_of_ipv4),
		cmocka_unit_test(later_fragments_have_no_ports), cmocka_unit_test(padding_is_not_ports),
		cmocka_unit_test(random_bytes_stay_inside), cmocka_unit_test(link_types),
		cmocka_unit_test(texts), cmocka_unit_test(table_numbers_flows_in_order),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
