/* SPDX-License-Identifier: BSD-2-Clause */
/* Configuration space, the registers at the start of BAR0, and the doorbell pages. */
#include "driver.h"

static void it_is_the_device_of_its_profile(void **state)
{
	static const uint32_t ids[HCA_N_PROFILES] = { 0x101715b3, 0x101d15b3, 0x102115b3, 0xa2dc15b3 };
	static const uint32_t majors[HCA_N_PROFILES] = { 16, 22, 28, 32 };
	struct driver *d = *state;

	for (unsigned int profile = 0; profile < HCA_N_PROFILES; profile++) {
		struct hca_config hca = default_config;

		hca.profile = profile;
		driver_start(d, &hca, false);
		assert_int_equal(conf(d, 0), ids[profile]);
		assert_int_equal(conf(d, 8), 0x02000000);
		assert_int_equal(reg(d, 0) & 0xffff, majors[profile]);
		assert_int_equal(reg(d, 4) >> 16, 5);
	}
}

static void capabilities_are_a_chain(void **state)
{
	struct driver *d = *state;
	unsigned int seen = 0;

	assert_true(conf(d, 4) >> 16 & 0x10);
	for (uint32_t at = conf(d, 0x34) & 0xff, n = 0; at; at = conf(d, at) >> 8 & 0xff) {
		assert_true(n++ < 10);
		seen |= 1u << (conf(d, at) & 0xff);
		if ((conf(d, at) & 0xff) == 0x11) {
			assert_int_equal(conf(d, at) >> 16, PCI_VECTORS - 1);
			assert_int_equal(conf(d, at + 4) & 7, 0); /* BAR0 */
			conf_set(d, at, 0xffffffff);
			assert_int_equal(conf(d, at) >> 16, 0xc000 | (PCI_VECTORS - 1));
		}
	}
	assert_int_equal(seen, 1u << 1 | 1u << 0x10 | 1u << 0x11);
}

static void bars_tell_their_size(void **state)
{
	struct driver *d = *state;

	for (uint32_t bar = 0x10; bar < 0x28; bar += 4)
		conf_set(d, bar, 0xffffffff);
	assert_int_equal(conf(d, 0x10), 0xfe00000c);
	assert_int_equal(conf(d, 0x14), 0xffffffff);
	for (uint32_t bar = 0x18; bar < 0x28; bar += 4)
		assert_int_equal(conf(d, bar), 0);
	conf_set(d, 0x10, 0x12345678);
	assert_int_equal(conf(d, 0x10), 0x1200000c);
}

/* What is not writable stays, also when all is written at once. */
static void the_rest_is_read_only(void **state)
{
	struct driver *d = *state;
	uint8_t before[PCI_CONFIG_SIZE], ones[PCI_CONFIG_SIZE], after[PCI_CONFIG_SIZE];
	static const uint8_t places[] = { 0, 1, 2, 3, 6, 7, 8, 9, 10, 11, 14, 15, 0x2c, 0x2d, 0x30, 0x34, 0x3d };

	memset(ones, 0xff, sizeof(ones));
	ones[0x69] = 0x7f; /* not a reset */
	assert_true(pci_read(d->p, PCI_CONFIG, 0, before, sizeof(before), d->now));
	assert_true(pci_write(d->p, PCI_CONFIG, 0, ones, sizeof(ones), d->now));
	assert_true(pci_read(d->p, PCI_CONFIG, 0, after, sizeof(after), d->now));
	for (size_t i = 0; i < sizeof(places); i++)
		assert_int_equal(before[places[i]], after[places[i]]);
	assert_memory_equal(before + 0x100, after + 0x100, sizeof(before) - 0x100);
	assert_int_equal(after[4] | after[5] << 8, 0x547);
}

static void regions_have_ends(void **state)
{
	struct driver *d = *state;
	uint8_t b[8] = { 0 };

	assert_true(pci_read(d->p, PCI_CONFIG, PCI_CONFIG_SIZE - 8, b, 8, d->now));
	assert_true(pci_read(d->p, PCI_CONFIG, PCI_CONFIG_SIZE, b, 0, d->now));
	assert_false(pci_read(d->p, PCI_CONFIG, PCI_CONFIG_SIZE - 7, b, 8, d->now));
	assert_true(pci_write(d->p, PCI_BAR0, PCI_BAR0_SIZE - 8, b, 8, d->now));
	assert_false(pci_write(d->p, PCI_BAR0, PCI_BAR0_SIZE - 7, b, 8, d->now));
	assert_false(pci_read(d->p, PCI_BAR0, UINT64_MAX, b, 2, d->now));
	assert_false(pci_read(d->p, PCI_BAR0, 8, b, SIZE_MAX, d->now));
	for (uint32_t region = 1; region < 12; region++)
		if (region != PCI_CONFIG)
			assert_false(pci_read(d->p, region, 0, b, 1, d->now) || pci_write(d->p, region, 0, b, 1, d->now));
}

/* Any length and alignment: bytes of what whole registers read. */
static void reads_may_be_of_any_shape(void **state)
{
	struct driver *d = *state;
	uint8_t all[0x4000], part[64];

	bring_up(d);
	assert_true(pci_read(d->p, PCI_BAR0, 0, all, sizeof(all), d->now));
	for (uint32_t at = 0; at < sizeof(all) - 64; at += 61) {
		for (uint32_t len = 1; len <= 64; len += 7) {
			assert_true(pci_read(d->p, PCI_BAR0, at, part, len, d->now));
			assert_memory_equal(part, all + at, len);
		}
	}
	assert_true(pci_read(d->p, PCI_BAR0, PCI_UAR_OFFSET - 2, part, 4, d->now));
}

static void the_queue_keeps_its_size(void **state)
{
	struct driver *d = *state;
	uint8_t bytes[8] = { 0, 0, 0, 9, 0xab, 0xcd, 0xe0, 0x13 };

	assert_int_equal(reg(d, 0x14) & 0xff, 5 << 4 | 6);
	assert_true(pci_write(d->p, PCI_BAR0, 0x10, bytes, sizeof(bytes), d->now));
	assert_int_equal(reg(d, 0x10), 9);
	assert_int_equal(reg(d, 0x14), 0xabcde000 | 5 << 4 | 6);
	/* A byte of a register changes that byte. */
	assert_true(pci_write(d->p, PCI_BAR0, 0x14, bytes + 3, 1, d->now));
	assert_int_equal(reg(d, 0x14), 0x09cde000 | 5 << 4 | 6);
}

static void timers_move(void **state)
{
	struct driver *d = *state;
	uint64_t before = (uint64_t)reg(d, 0x1000) << 32 | reg(d, 0x1004);
	uint32_t beat = reg(d, 0x1010);

	step(d, 2 * SEC);
	assert_int_equal(((uint64_t)reg(d, 0x1000) << 32 | reg(d, 0x1004)) - before, UINT64_C(2000000000)); /* 1 GHz */
	assert_int_equal(reg(d, 0x1010), beat + 20);
	d->now = UINT64_C(1) << 62;
	reg(d, 0x1000);
}

/* Linux has 60 s by itself; any other timeout it must hear of. */
static void the_timeout_is_told(void **state)
{
	static const struct {
		uint64_t ns;
		uint32_t told;
	} cases[] = {
		{ 60 * SEC, 0 }, { 2 * SEC, 2000 }, { 1, 1 }, { 61 * SEC, 61000 }, { 86400 * SEC, 1u << 29 | 86400 },
		{ 1500 * MS, 1500 }, { 1048576 * MS, 1u << 29 | 1049 },
	};
	struct driver *d = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hca_config hca = default_config;

		hca.timeout = cases[i].ns;
		driver_start(d, &hca, false);
		assert_int_equal(reg(d, 0xff8), cases[i].told);
		assert_int_equal(reg(d, 0xffc) != 0, cases[i].told != 0);
	}
}

static void the_msix_table_is_memory(void **state)
{
	struct driver *d = *state;
	uint8_t in[PCI_VECTORS * 16], out[sizeof(in) + 8];

	for (uint32_t v = 0; v < PCI_VECTORS; v++)
		assert_int_equal(reg(d, 0x2000 + v * 16 + 12), 0x01000000); /* masked; little-endian */
	for (size_t i = 0; i < sizeof(in); i++)
		in[i] = (uint8_t)(i * 7);
	assert_true(pci_write(d->p, PCI_BAR0, 0x2000, in, sizeof(in), d->now));
	assert_true(pci_read(d->p, PCI_BAR0, 0x2000, out, sizeof(out), d->now));
	assert_memory_equal(in, out, sizeof(in));
	assert_int_equal(out[sizeof(in)], 0);
	reg_set(d, 0x3000, 0xffffffff);
	assert_int_equal(reg(d, 0x3000), 0);
}

static void doorbell_pages_are_memory(void **state)
{
	struct driver *d = *state;
	uint8_t in[8192], out[8192];

	for (size_t i = 0; i < sizeof(in); i++)
		in[i] = (uint8_t)(i * 11);
	/* Across the border of the registers, and at the end. */
	assert_true(pci_write(d->p, PCI_BAR0, PCI_UAR_OFFSET - 4096, in, sizeof(in), d->now));
	assert_memory_equal(d->config.uars, in + 4096, 4096);
	assert_true(pci_read(d->p, PCI_BAR0, PCI_UAR_OFFSET - 4096, out, sizeof(out), d->now));
	assert_memory_equal(out + 4096, in + 4096, 4096);
	assert_int_equal(out[4095], 0);
	assert_true(pci_write(d->p, PCI_BAR0, PCI_BAR0_SIZE - sizeof(in), in, sizeof(in), d->now));
	assert_memory_equal(d->config.uars + PCI_UAR_SIZE - sizeof(in), in, sizeof(in));
}

static void a_reset_is_a_power_on(void **state)
{
	struct driver *d = *state;
	uint8_t before[PCI_CONFIG_SIZE], after[PCI_CONFIG_SIZE], bar[0x3000], bar_after[0x3000];
	uint64_t start = d->now;
	struct sent s;

	assert_true(pci_read(d->p, PCI_CONFIG, 0, before, sizeof(before), d->now));
	pci_reset(d->p, d->now);
	assert_true(pci_read(d->p, PCI_BAR0, 0, bar, sizeof(bar), d->now));
	for (int how = 0; how < 3; how++) {
		bring_up(d);
		control(d, "fault opcode=0x80d status=0x6", "ok");
		control(d, "fatal 0x1", "ok");
		reg_set(d, 0x2000, 0x55);
		d->n_resets = 0;
		if (how == 2)
			control(d, "reset", "ok");
		else if (how)
			pci_reset(d->p, d->now);
		else
			conf_set(d, 0x68, 0x8000); /* device control: initiate function level reset */
		assert_int_equal(d->n_resets, 1);
		assert_true(pci_read(d->p, PCI_CONFIG, 0, after, sizeof(after), d->now));
		assert_memory_equal(before, after, sizeof(before));
		d->now = start + (d->now - start); /* the counter's time only */
		assert_true(pci_read(d->p, PCI_BAR0, 0, bar_after, sizeof(bar_after), d->now));
		assert_memory_equal(bar, bar_after, 0x1000);
		assert_memory_equal(bar + 0x2000, bar_after + 0x2000, 0x1000);
		/* It starts for a moment, and is as before; rules stay. */
		assert_true(reg(d, 0x1fc) >> 31);
		bring_up(d);
		s = send_nop(d, 0);
		assert_int_equal(s.entry[32], 6);
		control(d, "fault clear", "ok");
		pci_reset(d->p, d->now);
	}
}

int run_pci_registers_tests(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, driver_setup, driver_teardown)
	const struct CMUnitTest tests[] = {
		TEST(it_is_the_device_of_its_profile), TEST(capabilities_are_a_chain), TEST(bars_tell_their_size),
		TEST(the_rest_is_read_only), TEST(regions_have_ends), TEST(reads_may_be_of_any_shape), TEST(the_queue_keeps_its_size),
		TEST(timers_move), TEST(the_timeout_is_told), TEST(the_msix_table_is_memory), TEST(doorbell_pages_are_memory),
		TEST(a_reset_is_a_power_on),
	};

	return cmocka_run_group_tests_name("pci registers", tests, NULL, NULL);
}
