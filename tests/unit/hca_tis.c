/* SPDX-License-Identifier: BSD-2-Clause */
/* Transport domains and TISes; with them, what every type that is a row of data does (context.c). */
#include "tests_queues.h"

static struct prm_box tis_cmd(struct cmd *c, uint16_t uid, uint32_t td)
{
	struct prm_box ctx;

	CMD(c, CREATE_TIS, uid, create_tis);
	ctx = PRM_SUB(&c->i, create_tis_in, ctx);
	PRM_SET(&ctx, tisc, transport_domain, td);
	PRM_SET(&ctx, tisc, prio, 3);
	return ctx;
}

static uint32_t new_tis(struct dev *d, uint16_t uid, uint32_t td)
{
	struct cmd c;

	tis_cmd(&c, uid, td);
	cmd_ok(d, &c);
	return (uint32_t)OUT(&c, create_tis_out, tisn);
}

static struct prm_box query(struct dev *d, struct cmd *c, uint16_t uid, uint32_t tisn)
{
	CMD(c, QUERY_TIS, uid, query_tis);
	SET(c, query_tis_in, tisn, tisn);
	cmd_ok(d, c);
	return PRM_SUB(&c->o, query_tis_out, tis_context);
}

static void refs_keep_and_must_exist(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d), other = new_uid(d);
	uint32_t td = new_td(d, uid), pd = new_pd(d, uid), tisn;
	struct prm_box ctx;
	struct cmd c;

	tis_cmd(&c, uid, 0);
	cmd_refused(d, &c, SYN_TD);
	tis_cmd(&c, other, td);
	cmd_refused(d, &c, SYN_TD);
	ctx = tis_cmd(&c, uid, td);
	PRM_SET(&ctx, tisc, pd, pd + 1);
	cmd_refused(d, &c, SYN_PD);
	PRM_SET(&ctx, tisc, pd, 0);
	PRM_SET(&ctx, tisc, underlay_qpn, 0x80);
	cmd_refused(d, &c, SYN_QP);
	PRM_SET(&ctx, tisc, underlay_qpn, 0);
	PRM_SET(&ctx, tisc, tls_en, 1);
	cmd_refused(d, &c, SYN_TIS_TLS);
	PRM_SET(&ctx, tisc, tls_en, 0);
	PRM_SET(&ctx, tisc, lag_tx_port_affinity, NUM_PORTS + 1);
	cmd_refused(d, &c, SYN_TIS_PORT);
	destroy(d, PRM_OP_DEALLOC_TRANSPORT_DOMAIN, uid, td, SYN_OK); /* nothing of the refused ones holds it */
	td = new_td(d, uid);
	ctx = tis_cmd(&c, uid, td);
	PRM_SET(&ctx, tisc, pd, pd);
	cmd_ok(d, &c);
	tisn = (uint32_t)OUT(&c, create_tis_out, tisn);
	destroy(d, PRM_OP_DEALLOC_TRANSPORT_DOMAIN, uid, td, SYN_TD_BUSY);
	destroy(d, PRM_OP_DEALLOC_PD, uid, pd, SYN_PD_BUSY);
	destroy(d, PRM_OP_DESTROY_TIS, other, tisn, SYN_TIS);
	destroy(d, PRM_OP_DESTROY_TIS, uid, tisn, SYN_OK);
	destroy(d, PRM_OP_DESTROY_TIS, uid, tisn, SYN_TIS);
	destroy(d, PRM_OP_DEALLOC_TRANSPORT_DOMAIN, uid, td, SYN_OK);
	destroy(d, PRM_OP_DEALLOC_PD, uid, pd, SYN_OK);
}

static void modify_copies_what_it_selects(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d);
	uint32_t td = new_td(d, uid), tisn = new_tis(d, uid, td);
	struct prm_box ctx, select;
	struct cmd c, m;

	ctx = query(d, &c, uid, tisn);
	assert_int_equal(PRM_GET(&ctx, tisc, transport_domain), td);
	assert_int_equal(PRM_GET(&ctx, tisc, prio), 3);
	CMD(&m, MODIFY_TIS, uid, modify_tis);
	SET(&m, modify_tis_in, tisn, tisn);
	ctx = PRM_SUB(&m.i, modify_tis_in, ctx);
	PRM_SET(&ctx, tisc, prio, 5);
	PRM_SET(&ctx, tisc, lag_tx_port_affinity, 2);
	PRM_SET(&ctx, tisc, transport_domain, 0xabcdef);
	cmd_ok(d, &m);
	ctx = query(d, &c, uid, tisn);
	assert_int_equal(PRM_GET(&ctx, tisc, prio), 3); /* nothing was selected */
	select = PRM_SUB(&m.i, modify_tis_in, bitmask);
	PRM_SET(&select, modify_tis_bitmask, prio, 1);
	cmd_ok(d, &m);
	ctx = query(d, &c, uid, tisn);
	assert_int_equal(PRM_GET(&ctx, tisc, prio), 5);
	assert_int_equal(PRM_GET(&ctx, tisc, lag_tx_port_affinity), 0);
	assert_int_equal(PRM_GET(&ctx, tisc, transport_domain), td);
	PRM_SET(&select, modify_tis_bitmask, lag_tx_port_affinity, 1);
	cmd_refused(d, &m, SYN_TIS_PORT);
	prm_set(&select, 0, 1, 1);
	cmd_refused(d, &m, SYN_SELECT);
	ctx = query(d, &c, uid, tisn);
	assert_int_equal(PRM_GET(&ctx, tisc, lag_tx_port_affinity), 0);
}

/* What no layout defines is ignored, and does not come back. */
static void undefined_bits_are_not_kept(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d);
	struct prm_box ctx;
	struct cmd c;

	ctx = tis_cmd(&c, uid, new_td(d, uid));
	ctx.p[PRM_SZ(tisc) - 1] = 0xff;
	cmd_ok(d, &c);
	ctx = query(d, &c, uid, (uint32_t)OUT(&c, create_tis_out, tisn));
	assert_int_equal(ctx.p[PRM_SZ(tisc) - 1], 0);
	assert_int_equal(PRM_GET(&ctx, tisc, prio), 3);
}

static void limits(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d);
	uint32_t td = new_td(d, uid);
	struct cmd c;

	tis_cmd(&c, uid, td);
	for (int i = 0; i < 3; i++) { /* directory, page, object: each of the first two stays once it is there */
		fail_alloc = 1;
		cmd_refused(d, &c, SYN_NO_MEMORY);
	}
	fail_alloc = 0;
	cmd_ok(d, &c);
	d->h->tables[OBJ_TIS].next = ID24_LAST + 1;
	cmd_refused(d, &c, SYN_TIS_LIMIT);
	d->h->tables[OBJ_TD].next = ID24_LAST + 1;
	CMD(&c, ALLOC_TRANSPORT_DOMAIN, uid, alloc_transport_domain);
	cmd_refused(d, &c, SYN_TD_LIMIT);
}

int run_tis_tests(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, dev_setup, dev_teardown)
	const struct CMUnitTest tests[] = { TEST(refs_keep_and_must_exist), TEST(modify_copies_what_it_selects),
					   TEST(undefined_bits_are_not_kept), TEST(limits) };

	return cmocka_run_group_tests_name("tis", tests, NULL, NULL);
}
