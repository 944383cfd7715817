/* SPDX-License-Identifier: BSD-2-Clause */
/* What a driver sets and asks of its vport and port: NIC vport context, state, pkeys, GIDs, management datagrams. */
#include "bare.h"
#include "vport.h"

enum { UC, MC, VLAN };

static void modify_cmd(struct cmd *c, uint32_t entries)
{
	cmd_new(c, PRM_OP_MODIFY_NIC_VPORT_CONTEXT, 0, PRM_SZ(modify_nic_vport_context_in) + entries * 8,
		PRM_SZ(modify_nic_vport_context_out));
}

static struct prm_box ctx_of(struct cmd *c)
{
	return PRM_SUB(&c->i, modify_nic_vport_context_in, nic_vport_context);
}

static struct prm_box select_of(struct cmd *c)
{
	return PRM_SUB(&c->i, modify_nic_vport_context_in, field_select);
}

static struct prm_box query(struct dev *d, struct cmd *c, unsigned int list, uint32_t entries)
{
	cmd_new(c, PRM_OP_QUERY_NIC_VPORT_CONTEXT, 0, PRM_SZ(query_nic_vport_context_in),
		PRM_SZ(query_nic_vport_context_out) + entries * 8);
	SET(c, query_nic_vport_context_in, allowed_list_type, list);
	cmd_ok(d, c);
	return PRM_SUB(&c->o, query_nic_vport_context_out, nic_vport_context);
}

static void fields(void **state)
{
	struct dev *d = *state;
	struct prm_box ctx, select;
	struct cmd c, q;

	ctx = query(d, &q, UC, 0);
	assert_int_equal(PRM_GET(&ctx, nic_vport_context, roce_en), 0);
	assert_int_equal(PRM_GET(&ctx, nic_vport_context, mtu), VPORT_MTU);
	modify_cmd(&c, 0);
	SET(&c, query_nic_vport_context_in, other_vport, 1);
	SET(&c, query_nic_vport_context_in, vport_number, 1);
	cmd_refused(d, &c, SYN_VPORT_OTHER);
	SET(&c, query_nic_vport_context_in, vport_number, 0);
	ctx = ctx_of(&c);
	select = select_of(&c);
	PRM_SET(&ctx, nic_vport_context, roce_en, 1);
	PRM_SET(&ctx, nic_vport_context, mtu, PORT_MTU_MAX + 1);
	PRM_SET(&ctx, nic_vport_context, promisc_mc, 1);
	PRM_SET(&ctx, nic_vport_context, node_guid, 77);
	PRM_SET(&select, modify_nic_vport_field_select, roce_en, 1);
	PRM_SET(&select, modify_nic_vport_field_select, min_inline, 1);
	cmd_refused(d, &c, SYN_SELECT);
	PRM_SET(&select, modify_nic_vport_field_select, min_inline, 0);
	PRM_SET(&select, modify_nic_vport_field_select, mtu, 1);
	cmd_refused(d, &c, SYN_REG_MTU);
	ctx = query(d, &q, UC, 0);
	assert_int_equal(PRM_GET(&ctx, nic_vport_context, roce_en), 0);
	ctx = ctx_of(&c);
	PRM_SET(&ctx, nic_vport_context, mtu, 9000);
	PRM_SET(&select, modify_nic_vport_field_select, promisc, 1);
	cmd_ok(d, &c);
	ctx = query(d, &q, UC, 0);
	assert_int_equal(PRM_GET(&ctx, nic_vport_context, roce_en), 1);
	assert_int_equal(PRM_GET(&ctx, nic_vport_context, mtu), 9000);
	assert_int_equal(PRM_GET(&ctx, nic_vport_context, promisc_mc), 1);
	assert_int_equal(PRM_GET(&ctx, nic_vport_context, promisc_uc), 0);
	assert_true(PRM_GET(&ctx, nic_vport_context, node_guid) == DEV_GUID); /* it was not selected */
	/* The next driver finds it as it was at first. */
	tear_down(d);
	set_up(d);
	ctx = query(d, &q, UC, 0);
	assert_int_equal(PRM_GET(&ctx, nic_vport_context, roce_en), 0);
	assert_int_equal(PRM_GET(&ctx, nic_vport_context, mtu), VPORT_MTU);
}

static void lists(void **state)
{
	struct dev *d = *state;
	struct prm_box ctx, select;
	struct cmd c, q;

	modify_cmd(&c, 129);
	ctx = ctx_of(&c);
	select = select_of(&c);
	PRM_SET(&select, modify_nic_vport_field_select, addresses_list, 1);
	PRM_SET(&ctx, nic_vport_context, allowed_list_type, 3);
	cmd_refused(d, &c, SYN_VPORT_LIST);
	PRM_SET(&ctx, nic_vport_context, allowed_list_type, UC);
	PRM_SET(&ctx, nic_vport_context, allowed_list_size, 129);
	cmd_refused(d, &c, SYN_VPORT_LIST_SIZE);
	PRM_SET(&ctx, nic_vport_context, allowed_list_type, MC);
	PRM_SET(&ctx, nic_vport_context, allowed_list_size, 130);
	cmd_refused(d, &c, SYN_VPORT_LIST_ROOM);
	for (uint32_t i = 0; i < 129; i++)
		prm_set(&c.i, PRM_SZ(modify_nic_vport_context_in) * 8 + i * 64, 64, 0x100 + i);
	PRM_SET(&ctx, nic_vport_context, allowed_list_size, 129);
	fail_alloc = 1;
	cmd_refused(d, &c, SYN_NO_MEMORY);
	fail_alloc = 0;
	cmd_ok(d, &c);
	PRM_SET(&ctx, nic_vport_context, allowed_list_type, UC);
	PRM_SET(&ctx, nic_vport_context, allowed_list_size, 128);
	cmd_ok(d, &c);
	PRM_SET(&ctx, nic_vport_context, allowed_list_size, 2);
	cmd_ok(d, &c); /* it replaces the list */
	ctx = query(d, &q, UC, 10);
	assert_int_equal(PRM_GET(&ctx, nic_vport_context, allowed_list_size), 2);
	assert_int_equal(prm_get(&q.o, PRM_SZ(query_nic_vport_context_out) * 8 + 64, 64), 0x101);
	ctx = query(d, &q, MC, 3); /* as many as there is room for */
	assert_int_equal(PRM_GET(&ctx, nic_vport_context, allowed_list_size), 3);
	ctx = query(d, &q, VLAN, 3);
	assert_int_equal(PRM_GET(&ctx, nic_vport_context, allowed_list_size), 0);
	ctx = ctx_of(&c);
	PRM_SET(&ctx, nic_vport_context, allowed_list_size, 0);
	cmd_ok(d, &c);
	ctx = query(d, &q, UC, 3);
	assert_int_equal(PRM_GET(&ctx, nic_vport_context, allowed_list_size), 0);
}

static void vport_state(void **state)
{
	struct dev *d = *state;
	uint8_t frame[64] = { 0 };
	struct hca_packet p;
	struct cmd c, q;

	CMD(&q, QUERY_VPORT_STATE, 0, query_vport_state);
	cmd_ok(d, &q);
	assert_int_equal(OUT(&q, query_vport_state_out, admin_state), 2);
	assert_int_equal(OUT(&q, query_vport_state_out, state), 1);
	CMD(&c, MODIFY_VPORT_STATE, 0, modify_vport_state);
	SET(&c, modify_vport_state_in, admin_state, 3);
	cmd_refused(d, &c, SYN_VPORT_STATE);
	SET(&c, modify_vport_state_in, admin_state, 0);
	cmd_op_mod(&c, 1);
	cmd_refused(d, &c, SYN_ESWITCH);
	cmd_op_mod(&c, 0);
	cmd_ok(d, &c);
	cmd_ok(d, &q);
	assert_int_equal(OUT(&q, query_vport_state_out, admin_state), 0);
	assert_int_equal(OUT(&q, query_vport_state_out, state), 0);
	assert_true(hca_packet(d->h, frame, sizeof(frame), 1, &p));
	assert_int_equal(d->h->vport->down_discards, 1);
	SET(&c, modify_vport_state_in, admin_state, 1);
	cmd_ok(d, &c);
	cmd_ok(d, &q);
	assert_int_equal(OUT(&q, query_vport_state_out, state), 1);
}

static void pkeys_and_gids(void **state)
{
	struct dev *d = *state;
	const uint32_t at = PRM_SZ(query_hca_vport_pkey_out);
	struct cmd c;

	cmd_new(&c, PRM_OP_QUERY_HCA_VPORT_PKEY, 0, PRM_SZ(query_hca_vport_pkey_in), at + 4);
	SET(&c, query_hca_vport_pkey_in, port_num, 2);
	cmd_refused(d, &c, SYN_VPORT_PORT);
	SET(&c, query_hca_vport_pkey_in, port_num, 1);
	cmd_ok(d, &c);
	assert_int_equal(prm_get(&c.o, at * 8, 32), 0xffff);
	SET(&c, query_hca_vport_pkey_in, pkey_index, 127);
	cmd_ok(d, &c);
	assert_int_equal(prm_get(&c.o, at * 8, 32), 0);
	SET(&c, query_hca_vport_pkey_in, pkey_index, 128);
	cmd_refused(d, &c, SYN_PKEY_INDEX);
	SET(&c, query_hca_vport_pkey_in, pkey_index, 0xffff);
	cmd_refused(d, &c, SYN_OUT_LEN);
	cmd_new(&c, PRM_OP_QUERY_HCA_VPORT_PKEY, 0, PRM_SZ(query_hca_vport_pkey_in), at + 128 * 4);
	SET(&c, query_hca_vport_pkey_in, pkey_index, 0xffff);
	cmd_ok(d, &c);
	assert_int_equal(prm_get(&c.o, at * 8, 32), 0xffff);
	assert_int_equal(prm_get(&c.o, at * 8 + 32, 32), 0);

	cmd_new(&c, PRM_OP_QUERY_HCA_VPORT_GID, 0, PRM_SZ(query_hca_vport_gid_in), PRM_SZ(query_hca_vport_gid_out) + 16);
	cmd_ok(d, &c);
	assert_int_equal(OUT(&c, query_hca_vport_gid_out, gids_num), 1);
	assert_true(prm_get(&c.o, PRM_SZ(query_hca_vport_gid_out) * 8 + 64, 64) == DEV_GUID);
	c.outlen--;
	cmd_refused(d, &c, SYN_OUT_LEN);
	SET(&c, query_hca_vport_gid_in, gid_index, 1);
	cmd_refused(d, &c, SYN_GID_INDEX);
	SET(&c, query_hca_vport_gid_in, other_vport, 1);
	SET(&c, query_hca_vport_gid_in, vport_number, 1);
	cmd_refused(d, &c, SYN_VPORT_OTHER);
}

static void datagrams_and_keys(void **state)
{
	struct dev *d = *state;
	struct cmd c;

	CMD(&c, MAD_IFC, 0, mad_ifc);
	cmd_op_mod(&c, 3);
	cmd_refused(d, &c, SYN_VPORT_PORT);
	SET(&c, mad_ifc_in, port, 1);
	c.in[16 + 3] = 1;  /* Get */
	c.in[16 + 17] = 9; /* some attribute */
	cmd_ok(d, &c);
	assert_int_equal(c.out[16 + 3], 0x81);
	assert_int_equal(c.out[16 + 5], 0x0c);
	assert_int_equal(c.out[16 + 17], 9);
	CMD(&c, QUERY_SPECIAL_CONTEXTS, 0, query_special_contexts);
	cmd_ok(d, &c);
	assert_true(OUT(&c, query_special_contexts_out, null_mkey) >> 8 < MKEY_FIRST);
	assert_int_not_equal(OUT(&c, query_special_contexts_out, null_mkey), OUT(&c, query_special_contexts_out, resd_lkey));
}

int run_node_tests(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, dev_setup_bare, dev_teardown)
	const struct CMUnitTest tests[] = { TEST(fields), TEST(lists), TEST(vport_state), TEST(pkeys_and_gids),
					   TEST(datagrams_and_keys) };

	return cmocka_run_group_tests_name("node", tests, NULL, NULL);
}
