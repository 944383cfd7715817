/* SPDX-License-Identifier: BSD-2-Clause */
#include "dev.h"

struct base {
	uint16_t uid;
	uint32_t pd, umem;
};

static struct base base(struct dev *d)
{
	struct base b = { .uid = new_uid(d) };

	b.pd = new_pd(d, b.uid);
	b.umem = new_umem(d, b.uid, 2, 4, MTT_RW);
	return b;
}

static struct prm_box mkc_of(struct cmd *c)
{
	return PRM_SUB(&c->i, create_mkey_in, memory_key_mkey_entry);
}

static void create_query_destroy(void **state)
{
	struct dev *d = *state;
	struct base b = base(d);
	struct prm_box mkc;
	struct cmd c, q;
	uint32_t index;

	mkey_cmd(&c, b.uid, b.pd, b.umem, 0x7000, 4 * PAGE);
	cmd_ok(d, &c);
	index = (uint32_t)OUT(&c, create_mkey_out, mkey_index);
	assert_true(index >= MKEY_FIRST);

	CMD(&q, QUERY_MKEY, b.uid, query_mkey);
	SET(&q, query_mkey_in, mkey_index, index);
	cmd_ok(d, &q);
	mkc = mkc_of(&c);
	assert_memory_equal(q.out + 16, mkc.p, PRM_SZ(mkc));

	destroy(d, PRM_OP_DEALLOC_PD, b.uid, b.pd, SYN_PD_BUSY);
	destroy(d, PRM_OP_DESTROY_UMEM, b.uid, b.umem, SYN_UMEM_BUSY);
	destroy(d, PRM_OP_DESTROY_MKEY, b.uid, index, SYN_OK);
	destroy(d, PRM_OP_DESTROY_MKEY, b.uid, index, SYN_MKEY);
	cmd_refused(d, &q, SYN_MKEY);
	destroy(d, PRM_OP_DEALLOC_PD, b.uid, b.pd, SYN_OK);
	destroy(d, PRM_OP_DESTROY_UMEM, b.uid, b.umem, SYN_OK);
}

static void create_refused(void **state)
{
	struct dev *d = *state;
	struct base b = base(d), other = base(d);
	struct prm_box mkc;
	struct cmd c;

	mkey_cmd(&c, b.uid, b.pd, b.umem, 0, PAGE);
	mkc = mkc_of(&c);
	PRM_SET(&mkc, mkc, access_mode_4_2, 1);
	cmd_refused(d, &c, SYN_MKEY_MODE);

	mkey_cmd(&c, b.uid, b.pd, b.umem, 0, PAGE);
	mkc = mkc_of(&c);
	PRM_SET(&mkc, mkc, access_mode_1_0, 0);
	cmd_refused(d, &c, SYN_MKEY_PA);

	mkey_cmd(&c, b.uid, other.pd, b.umem, 0, PAGE);
	cmd_refused(d, &c, SYN_PD);
	mkey_cmd(&c, b.uid, b.pd, other.umem, 0, PAGE);
	cmd_refused(d, &c, SYN_UMEM);

	mkey_cmd(&c, b.uid, b.pd, b.umem, 0, PAGE);
	SET(&c, create_mkey_in, mkey_umem_valid, 0);
	cmd_refused(d, &c, SYN_MKEY_UMEM);

	/* The umem has four pages. */
	mkey_cmd(&c, b.uid, b.pd, b.umem, 0, 4 * PAGE + 1);
	cmd_refused(d, &c, SYN_UMEM_RANGE);
	mkey_cmd(&c, b.uid, b.pd, b.umem, 0, 4 * PAGE);
	SET(&c, create_mkey_in, mkey_umem_offset, 1);
	cmd_refused(d, &c, SYN_UMEM_RANGE);
	mkey_cmd(&c, b.uid, b.pd, b.umem, 0, 0);
	SET(&c, create_mkey_in, mkey_umem_offset, UINT64_MAX);
	cmd_refused(d, &c, SYN_UMEM_RANGE);
	mkey_cmd(&c, b.uid, b.pd, b.umem, 0, UINT64_MAX);
	SET(&c, create_mkey_in, mkey_umem_offset, PAGE);
	cmd_refused(d, &c, SYN_UMEM_RANGE);

	mkey_cmd(&c, b.uid, b.pd, b.umem, 0, PAGE);
	d->h->tables[OBJ_MKEY].next = ID24_LAST + 1;
	cmd_refused(d, &c, SYN_MKEY_LIMIT);
	d->h->tables[OBJ_MKEY].next = ID24_LAST;
	cmd_ok(d, &c);
	assert_int_equal(OUT(&c, create_mkey_out, mkey_index), ID24_LAST);
	cmd_refused(d, &c, SYN_MKEY_LIMIT);
}

static uint32_t new_key(struct dev *d, struct cmd *c)
{
	cmd_ok(d, c);
	return (uint32_t)OUT(c, create_mkey_out, mkey_index) << 8 | 0x5a;
}

/* What a write through a key says; a counter's values are what is written. */
static void writes(struct dev *d, uint16_t uid, uint32_t counter, uint32_t mkey, uint64_t addr, enum syn why)
{
	unsigned int before = d->n_writes;
	struct cmd c;

	CMD(&c, QUERY_FLOW_COUNTER, uid, query_flow_counter);
	SET(&c, query_flow_counter_in, dump_to_memory, 1);
	SET(&c, query_flow_counter_in, flow_counter_id, counter);
	SET(&c, query_flow_counter_in, num_of_counters, 2);
	SET(&c, query_flow_counter_in, mkey, mkey);
	SET(&c, query_flow_counter_in, address, addr);
	if (why == SYN_OK)
		cmd_ok(d, &c);
	else
		cmd_refused(d, &c, why);
	/* Only a host that refuses is asked at all. */
	if (why != SYN_OK && why != SYN_MEMORY)
		assert_int_equal(d->n_writes, before);
}

static uint32_t new_bulk(struct dev *d, uint16_t uid)
{
	struct cmd c;

	CMD(&c, ALLOC_FLOW_COUNTER, uid, alloc_flow_counter);
	SET(&c, alloc_flow_counter_in, flow_counter_bulk, 1);
	cmd_ok(d, &c);
	return (uint32_t)OUT(&c, alloc_flow_counter_out, flow_counter_id);
}

static void write_bounds(void **state)
{
	struct dev *d = *state;
	struct base b = base(d);
	uint16_t stranger = new_uid(d);
	uint32_t counter = new_bulk(d, b.uid), key;
	struct cmd c;

	/* Two counters are 32 bytes. The key begins 0x100 bytes into the umem and ends with it. */
	mkey_cmd(&c, b.uid, b.pd, b.umem, 0x7000, 4 * PAGE - 0x100);
	SET(&c, create_mkey_in, mkey_umem_offset, 0x100);
	key = new_key(d, &c);
	assert_true(hca_traffic(d->h, counter + 1, 7, 0x1234));

	writes(d, b.uid, counter, key, 0x7000, SYN_OK);
	assert_int_equal(d->mem[2 * PAGE + 0x100 + 16 + 7], 7);
	assert_int_equal(d->mem[2 * PAGE + 0x100 + 24 + 6], 0x12);
	assert_int_equal(d->mem[2 * PAGE + 0x100 + 24 + 7], 0x34);
	writes(d, b.uid, counter, key, 0x7000 + 4 * PAGE - 0x100 - 32, SYN_OK);
	assert_int_equal(d->mem[6 * PAGE - 16 + 7], 7);
	assert_int_equal(d->mem[6 * PAGE - 1], 0x34);
	assert_int_equal(d->mem[6 * PAGE], 0);
	writes(d, b.uid, counter, key, 0x7000 + 4 * PAGE - 0x100 - 31, SYN_MKEY_RANGE);
	writes(d, b.uid, counter, key, 0x6fff, SYN_MKEY_RANGE);
	writes(d, b.uid, counter, key, UINT64_MAX, SYN_MKEY_RANGE);
	writes(d, b.uid, counter, key ^ 1, 0x7000, SYN_MKEY_TAG);
	writes(d, b.uid, counter, key + 0x100, 0x7000, SYN_MKEY);
	writes(d, stranger, new_bulk(d, stranger), key, 0x7000, SYN_MKEY);
	d->deny = true;
	writes(d, b.uid, counter, key, 0x7000, SYN_MEMORY);
}

static void write_access(void **state)
{
	struct dev *d = *state;
	struct base b = base(d);
	uint32_t counter = new_bulk(d, b.uid), key;
	struct prm_box mkc;
	struct cmd c;

	mkey_cmd(&c, b.uid, b.pd, b.umem, 0, PAGE);
	mkc = mkc_of(&c);
	PRM_SET(&mkc, mkc, free, 1);
	writes(d, b.uid, counter, new_key(d, &c), 0, SYN_MKEY_FREE);

	mkey_cmd(&c, b.uid, b.pd, b.umem, 0, PAGE);
	mkc = mkc_of(&c);
	PRM_SET(&mkc, mkc, lw, 0);
	writes(d, b.uid, counter, new_key(d, &c), 0, SYN_MKEY_ACCESS);

	mkey_cmd(&c, b.uid, b.pd, new_umem(d, b.uid, 0, 1, MTT_RO), 0, PAGE);
	writes(d, b.uid, counter, new_key(d, &c), 0, SYN_MKEY_ACCESS);

	/* A key of all lengths ends with its umem. */
	mkey_cmd(&c, b.uid, b.pd, b.umem, 0x1000, 0);
	mkc = mkc_of(&c);
	PRM_SET(&mkc, mkc, length64, 1);
	SET(&c, create_mkey_in, mkey_umem_offset, PAGE);
	key = new_key(d, &c);
	writes(d, b.uid, counter, key, 0x1000 + 3 * PAGE - 32, SYN_OK);
	writes(d, b.uid, counter, key, 0x1000 + 3 * PAGE - 31, SYN_MKEY_RANGE);
	writes(d, b.uid, counter, key, 0xfff, SYN_MKEY_RANGE);
	writes(d, b.uid, counter, key, UINT64_MAX - 8, SYN_MKEY_RANGE);
}

static void indirect(void **state)
{
	struct dev *d = *state;
	struct base b = base(d);
	uint32_t counter = new_bulk(d, b.uid);
	struct prm_box mkc;
	struct cmd c;

	for (unsigned int mode = 2; mode <= 3; mode++) {
		mkey_cmd(&c, b.uid, b.pd, 0, 0, PAGE);
		mkc = mkc_of(&c);
		PRM_SET(&mkc, mkc, access_mode_1_0, mode);
		SET(&c, create_mkey_in, mkey_umem_valid, 0);
		SET(&c, create_mkey_in, translations_octword_actual_size, 4);
		cmd_refused(d, &c, SYN_MKEY_KLM);
		c.inlen += 64;
		writes(d, b.uid, counter, new_key(d, &c), 0, SYN_MKEY_INDIRECT);
	}
}

/* The driver's keys reach device addresses themselves. */
static void physical(void **state)
{
	struct dev *d = *state;
	uint32_t pd = new_pd(d, 0), counter = new_bulk(d, 0), key;
	struct prm_box mkc;
	struct cmd c;

	mkey_cmd(&c, 0, pd, 0, 0, 0);
	mkc = mkc_of(&c);
	PRM_SET(&mkc, mkc, access_mode_1_0, 0);
	PRM_SET(&mkc, mkc, length64, 1);
	key = new_key(d, &c);
	assert_true(hca_traffic(d->h, counter, 3, 4));
	writes(d, 0, counter, key, MEM_ADDR + 0x40, SYN_OK);
	assert_int_equal(d->mem[0x47], 3);
	writes(d, 0, counter, key, MEM_ADDR - 1, SYN_MEMORY);
	writes(d, 0, counter, key, UINT64_MAX, SYN_MKEY_RANGE);
}

int run_mkey_tests(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, dev_setup, dev_teardown)
	const struct CMUnitTest tests[] = {
		TEST(create_query_destroy), TEST(create_refused), TEST(write_bounds), TEST(write_access), TEST(indirect), TEST(physical),
	};

	return cmocka_run_group_tests_name("mkey", tests, NULL, NULL);
}
