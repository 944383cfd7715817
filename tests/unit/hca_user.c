/* SPDX-License-Identifier: BSD-2-Clause */
/* Dispatch, user contexts, protection domains, umems. */
#include "dev.h"

static void dispatch(void **state)
{
	struct dev *d = *state;
	struct cmd c;

	CMD(&c, NOP, 0, nop);
	cmd_ok(d, &c);
	c.inlen = PRM_HDR_SZ - 1;
	cmd_refused(d, &c, SYN_IN_LEN);
	c.inlen = 0;
	cmd_refused(d, &c, SYN_IN_LEN);
	CMD(&c, NOP, 0, nop);
	c.outlen = PRM_HDR_SZ - 1;
	cmd_refused(d, &c, SYN_OUT_LEN);
	CMD(&c, NOP, 0, nop);
	cmd_op_mod(&c, 1);
	cmd_refused(d, &c, SYN_OP_MOD);
	cmd_new(&c, 0xabc, 0, PRM_HDR_SZ, PRM_HDR_SZ);
	cmd_refused(d, &c, SYN_BAD_OP);
	cmd_new(&c, 0xffff, 0, PRM_HDR_SZ, PRM_HDR_SZ);
	cmd_refused(d, &c, SYN_BAD_OP);
	CMD(&c, NOP, 77, nop);
	cmd_refused(d, &c, SYN_UID);
	CMD(&c, NOP, 0xffff, nop);
	cmd_refused(d, &c, SYN_UID);
	/* Every command with an inbox that lacks its last byte. */
	CMD(&c, CREATE_CQ, 0, create_cq);
	c.inlen--;
	cmd_refused(d, &c, SYN_IN_LEN);
}

static void strict(void **state)
{
	static const struct hca_host none;
	struct hca_config config = { .profile = HCA_CX7, .strict = true };
	struct dev *d = *state;
	char text[128];
	struct cmd c;

	CMD(&c, NOP, 0, nop);
	prm_set(&c.i, 100, 1, 1);
	cmd_ok(d, &c);
	hca_free(d->h);
	d->h = hca_new(&config, &none, d);
	assert_non_null(d->h);
	hca_execute(d->h, c.in, c.inlen, c.out, c.outlen);
	assert_int_equal(OUT(&c, nop_out, status), PRM_STAT_BAD_PARAM_ERR);
	assert_int_equal(OUT(&c, nop_out, syndrome), HCA_STRICT | 100);
	assert_true(hca_syndrome_text(HCA_STRICT | 100, text, sizeof(text)));
	assert_non_null(strstr(text, "byte 12"));
	assert_false(hca_syndrome_text(0x123456, text, sizeof(text)));
	prm_set(&c.i, 100, 1, 0);
	hca_execute(d->h, c.in, c.inlen, c.out, c.outlen);
	assert_int_equal(OUT(&c, nop_out, status), PRM_STAT_OK);
}

static void destroy_uctx(struct dev *d, uint16_t uid, enum syn why)
{
	struct cmd c;

	CMD(&c, DESTROY_UCTX, 0, destroy_uctx);
	SET(&c, destroy_uctx_in, uid, uid);
	if (why == SYN_OK)
		cmd_ok(d, &c);
	else
		cmd_refused(d, &c, why);
}

static void user_contexts(void **state)
{
	struct dev *d = *state;
	uint16_t a = new_uid(d), b = new_uid(d);
	uint32_t pd = new_pd(d, a);
	struct cmd c;

	assert_int_not_equal(a, 0);
	assert_int_not_equal(a, b);
	CMD(&c, CREATE_UCTX, a, create_uctx);
	cmd_refused(d, &c, SYN_PRIVILEGED);
	destroy_uctx(d, a, SYN_UID_OBJECTS);
	destroy(d, PRM_OP_DEALLOC_PD, a, pd, SYN_OK);
	destroy_uctx(d, a, SYN_OK);
	destroy_uctx(d, a, SYN_UID);
	destroy_uctx(d, 0, SYN_UID);
	CMD(&c, NOP, a, nop);
	cmd_refused(d, &c, SYN_UID);
	for (uint32_t uid = 1; uid <= UID_MAX; uid++)
		d->h->user_objs[uid] = 1;
	CMD(&c, CREATE_UCTX, 0, create_uctx);
	cmd_refused(d, &c, SYN_UID_LIMIT);
	destroy_uctx(d, UID_MAX, SYN_OK);
	assert_int_equal(new_uid(d), UID_MAX);
}

static void protection_domains(void **state)
{
	struct dev *d = *state;
	uint16_t a = new_uid(d), b = new_uid(d);
	uint32_t pd = new_pd(d, a);
	struct cmd c;

	assert_int_not_equal(new_pd(d, b), pd);
	destroy(d, PRM_OP_DEALLOC_PD, b, pd, SYN_PD);
	destroy(d, PRM_OP_DEALLOC_PD, 0, pd, SYN_PD);
	destroy(d, PRM_OP_DEALLOC_PD, a, 0xffffff, SYN_PD);
	destroy(d, PRM_OP_DEALLOC_PD, a, pd, SYN_OK);
	destroy(d, PRM_OP_DEALLOC_PD, a, pd, SYN_PD);
	CMD(&c, ALLOC_PD, a, alloc_pd);
	d->h->tables[OBJ_PD].free_head = 0;
	d->h->tables[OBJ_PD].next = 0x1000000;
	cmd_refused(d, &c, SYN_PD_LIMIT);
	d->h->tables[OBJ_PD].next = 0xffffff;
	fail_alloc = 1;
	cmd_refused(d, &c, SYN_NO_MEMORY);
	fail_alloc = 2;
	cmd_refused(d, &c, SYN_NO_MEMORY);
	cmd_ok(d, &c);
	assert_int_equal(OUT(&c, alloc_pd_out, pd), 0xffffff);
}

static void umem_cmd(struct cmd *c, uint16_t uid, uint64_t n, uint32_t log_page_size, uint32_t offset)
{
	struct prm_box umem;

	CMD(c, CREATE_UMEM, uid, create_umem);
	umem = PRM_SUB(&c->i, create_umem_in, umem);
	PRM_SET(&umem, umem, num_of_mtt, n);
	PRM_SET(&umem, umem, log_page_size, log_page_size);
	PRM_SET(&umem, umem, page_offset, offset);
}

static void umem_refused(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d), other = new_uid(d);
	uint32_t umem;
	struct cmd c;

	umem_cmd(&c, uid, 0, 0, 0);
	cmd_refused(d, &c, SYN_UMEM_MTT);
	umem_cmd(&c, uid, 3, 0, 0);
	c.inlen += 2 * PRM_SZ(mtt);
	cmd_refused(d, &c, SYN_UMEM_MTT);
	umem_cmd(&c, uid, UINT64_MAX, 0, 0);
	c.inlen += 2 * PRM_SZ(mtt);
	cmd_refused(d, &c, SYN_UMEM_MTT);
	umem_cmd(&c, uid, 1, 0, PAGE);
	c.inlen += PRM_SZ(mtt);
	cmd_refused(d, &c, SYN_UMEM_PAGE);
	umem_cmd(&c, uid, 1, 0, PAGE - 1);
	c.inlen += PRM_SZ(mtt);
	fail_alloc = 4; /* the table's two levels and the object exist; its MTTs do not */
	cmd_refused(d, &c, SYN_NO_MEMORY);
	cmd_ok(d, &c);
	umem = (uint32_t)OUT(&c, create_umem_out, umem_id);
	assert_int_equal(umem_size(umem_find(d->h, umem, uid)), 1);
	destroy(d, PRM_OP_DESTROY_UMEM, other, umem, SYN_UMEM);
	destroy(d, PRM_OP_DESTROY_UMEM, uid, umem, SYN_OK);
	d->h->tables[OBJ_UMEM].free_head = 0;
	d->h->tables[OBJ_UMEM].next = 0x1000000;
	cmd_refused(d, &c, SYN_UMEM_LIMIT);
}

/* Found by fuzz_hca: log_page_size 31 makes pages of 2^43 bytes, more than a page_offset has bits. */
static void umem_of_the_largest_pages(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d);
	struct cmd c;

	umem_cmd(&c, uid, 1, 31, UINT32_MAX);
	c.inlen += PRM_SZ(mtt);
	cmd_ok(d, &c);
	assert_int_equal(umem_size(umem_find(d->h, (uint32_t)OUT(&c, create_umem_out, umem_id), uid)),
			 (UINT64_C(1) << 43) - UINT32_MAX);
}

/* Two pages that lie apart, in the wrong order, the second one only readable; the umem begins 16 bytes into the first. */
static void umem_access(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d);
	struct hca_obj *u;
	uint8_t buf[PAGE * 2];
	struct cmd c;

	umem_cmd(&c, uid, 2, 0, 16);
	c.inlen += 2 * PRM_SZ(mtt);
	prm_set(&c.i, PRM_SZ(create_umem_in) * 8, 64, (MEM_ADDR + 8 * PAGE) | MTT_RW);
	prm_set(&c.i, PRM_SZ(create_umem_in) * 8 + 64, 64, (MEM_ADDR + 3 * PAGE) | MTT_RO);
	cmd_ok(d, &c);
	u = umem_find(d->h, (uint32_t)OUT(&c, create_umem_out, umem_id), uid);
	assert_int_equal(umem_size(u), 2 * PAGE - 16);
	memset(d->mem + 8 * PAGE, 0x11, PAGE);
	memset(d->mem + 3 * PAGE, 0x22, PAGE);

	assert_true(umem_read(d->h, u, 0, buf, 2 * PAGE - 16));
	assert_int_equal(buf[PAGE - 17], 0x11);
	assert_int_equal(buf[PAGE - 16], 0x22);
	assert_false(umem_read(d->h, u, 0, buf, 2 * PAGE - 15));
	assert_false(umem_read(d->h, u, 2 * PAGE - 16, buf, 1));
	assert_true(umem_read(d->h, u, 2 * PAGE - 16, buf, 0));
	assert_false(umem_read(d->h, u, UINT64_MAX, buf, 2));
	assert_true(umem_write(d->h, u, PAGE - 17, "x", 1));
	assert_int_equal(d->mem[9 * PAGE - 1], 'x');
	assert_false(umem_write(d->h, u, PAGE - 16, "y", 1));
	assert_int_equal(d->mem[3 * PAGE], 0x22);
	d->deny = true;
	assert_false(umem_read(d->h, u, 0, buf, 1));
}

/* Pages in a row are one access of the host. */
static void umem_joins_pages(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d);
	struct hca_obj *u = umem_find(d->h, new_umem(d, uid, 4, 8, MTT_RW), uid);
	uint8_t buf[8 * PAGE];

	assert_true(umem_read(d->h, u, 0, buf, sizeof(buf)));
	assert_int_equal(d->n_reads, 1);
}

int run_user_tests(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, dev_setup, dev_teardown)
	const struct CMUnitTest tests[] = {
		TEST(dispatch), TEST(strict), TEST(user_contexts), TEST(protection_domains), TEST(umem_refused), TEST(umem_access),
		TEST(umem_joins_pages), TEST(umem_of_the_largest_pages),
	};

	return cmocka_run_group_tests_name("user", tests, NULL, NULL);
}
