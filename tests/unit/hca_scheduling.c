/* SPDX-License-Identifier: BSD-2-Clause */
#include "dev.h"

enum { E_SWITCH = 2, NIC = 3 };
enum { TSAR = 0, VPORT = 1, QUEUE_GROUP = 4 };

#define SCHEDULING_ELEMENT 0x26

static struct prm_box element_cmd(struct cmd *c, uint16_t uid, unsigned int type, uint32_t parent)
{
	struct prm_box ctx;

	CMD(c, CREATE_SCHEDULING_ELEMENT, uid, create_scheduling_element);
	SET(c, create_scheduling_element_in, scheduling_hierarchy, NIC);
	ctx = PRM_SUB(&c->i, create_scheduling_element_in, scheduling_context);
	PRM_SET(&ctx, scheduling_context, element_type, type);
	PRM_SET(&ctx, scheduling_context, parent_element_id, parent);
	PRM_SET(&ctx, scheduling_context, bw_share, 7);
	PRM_SET(&ctx, scheduling_context, max_average_bw, 1000);
	return ctx;
}

static uint32_t new_element(struct dev *d, uint16_t uid, unsigned int type, uint32_t parent)
{
	struct cmd c;

	element_cmd(&c, uid, type, parent);
	cmd_ok(d, &c);
	return (uint32_t)OUT(&c, create_scheduling_element_out, scheduling_element_id);
}

static struct prm_box query(struct dev *d, struct cmd *c, uint16_t uid, uint32_t id)
{
	CMD(c, QUERY_SCHEDULING_ELEMENT, uid, query_scheduling_element);
	SET(c, query_scheduling_element_in, scheduling_hierarchy, NIC);
	SET(c, query_scheduling_element_in, scheduling_element_id, id);
	cmd_ok(d, c);
	return PRM_SUB(&c->o, query_scheduling_element_out, scheduling_context);
}

/* The inbox that Linux builds: 16 bytes, shorter than the layout. */
static void destroys(struct dev *d, uint16_t uid, unsigned int hierarchy, uint32_t id, enum syn why)
{
	struct cmd c;

	cmd_new(&c, PRM_OP_DESTROY_SCHEDULING_ELEMENT, uid, PRM_HDR_SZ, PRM_HDR_SZ);
	SET(&c, destroy_scheduling_element_in, scheduling_hierarchy, hierarchy);
	SET(&c, destroy_scheduling_element_in, scheduling_element_id, id);
	if (why == SYN_OK)
		cmd_ok(d, &c);
	else
		cmd_refused(d, &c, why);
}

static void a_tree(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d), other = new_uid(d);
	uint32_t root = new_element(d, uid, TSAR, 0), node = new_element(d, uid, TSAR, root);
	uint32_t leaf = new_element(d, uid, QUEUE_GROUP, node);
	struct prm_box ctx;
	struct cmd c;

	ctx = query(d, &c, uid, leaf);
	assert_int_equal(PRM_GET(&ctx, scheduling_context, element_type), QUEUE_GROUP);
	assert_int_equal(PRM_GET(&ctx, scheduling_context, parent_element_id), node);
	assert_int_equal(PRM_GET(&ctx, scheduling_context, bw_share), 7);
	assert_int_equal(PRM_GET(&ctx, scheduling_context, max_average_bw), 1000);

	destroys(d, uid, NIC, root, SYN_GENERAL_BUSY);
	destroys(d, uid, NIC, node, SYN_GENERAL_BUSY);
	destroys(d, other, NIC, leaf, SYN_SCHED);
	destroys(d, uid, E_SWITCH, leaf, SYN_SCHED_HIERARCHY);
	destroys(d, uid, NIC, leaf, SYN_OK);
	destroys(d, uid, NIC, leaf, SYN_SCHED);
	destroys(d, uid, NIC, node, SYN_OK);
	destroys(d, uid, NIC, root, SYN_OK);
}

static void create_refused(void **state)
{
	static const uint8_t no_tsars[] = { 3, 15, 16, 64, 65, 255 };
	struct dev *d = *state;
	uint16_t uid = new_uid(d);
	uint32_t root = new_element(d, uid, TSAR, 0), leaf = new_element(d, uid, QUEUE_GROUP, root);
	struct prm_box ctx, attr;
	struct cmd c;

	element_cmd(&c, uid, TSAR, 0);
	SET(&c, create_scheduling_element_in, scheduling_hierarchy, E_SWITCH);
	cmd_refused(d, &c, SYN_SCHED_HIERARCHY);
	element_cmd(&c, uid, VPORT, root);
	cmd_refused(d, &c, SYN_SCHED_TYPE);
	element_cmd(&c, uid, 0xff, root);
	cmd_refused(d, &c, SYN_SCHED_TYPE);
	element_cmd(&c, uid, QUEUE_GROUP, 0);
	cmd_refused(d, &c, SYN_SCHED_ROOT);
	element_cmd(&c, uid, QUEUE_GROUP, leaf);
	cmd_refused(d, &c, SYN_SCHED_PARENT);
	element_cmd(&c, uid, QUEUE_GROUP, leaf + 1);
	cmd_refused(d, &c, SYN_SCHED);
	element_cmd(&c, new_uid(d), QUEUE_GROUP, root);
	cmd_refused(d, &c, SYN_SCHED);
	ctx = element_cmd(&c, uid, TSAR, 0);
	PRM_SET(&ctx, scheduling_context, bw_share, 101);
	cmd_refused(d, &c, SYN_SCHED_SHARE);
	for (size_t i = 0; i < sizeof(no_tsars) / sizeof(no_tsars[0]); i++) {
		ctx = element_cmd(&c, uid, TSAR, 0);
		attr = PRM_SUB(&ctx, scheduling_context, element_attributes);
		PRM_SET(&attr, tsar_element, tsar_type, no_tsars[i]);
		cmd_refused(d, &c, SYN_SCHED_TSAR);
	}
}

static struct prm_box modify_cmd(struct cmd *c, uint16_t uid, uint32_t id, uint32_t mask)
{
	CMD(c, MODIFY_SCHEDULING_ELEMENT, uid, modify_scheduling_element);
	SET(c, modify_scheduling_element_in, scheduling_hierarchy, NIC);
	SET(c, modify_scheduling_element_in, scheduling_element_id, id);
	SET(c, modify_scheduling_element_in, modify_bitmask, mask);
	return PRM_SUB(&c->i, modify_scheduling_element_in, scheduling_context);
}

static void modify(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d);
	uint32_t id = new_element(d, uid, TSAR, 0);
	struct prm_box ctx;
	struct cmd c;

	ctx = modify_cmd(&c, uid, id, 2);
	PRM_SET(&ctx, scheduling_context, bw_share, 50);
	PRM_SET(&ctx, scheduling_context, max_average_bw, 9);
	PRM_SET(&ctx, scheduling_context, element_type, QUEUE_GROUP);
	cmd_ok(d, &c);
	ctx = query(d, &c, uid, id);
	assert_int_equal(PRM_GET(&ctx, scheduling_context, bw_share), 7);
	assert_int_equal(PRM_GET(&ctx, scheduling_context, max_average_bw), 9);
	assert_int_equal(PRM_GET(&ctx, scheduling_context, element_type), TSAR);

	modify_cmd(&c, uid, id, 4);
	cmd_refused(d, &c, SYN_SELECT);
	ctx = modify_cmd(&c, uid, id, 1);
	PRM_SET(&ctx, scheduling_context, bw_share, 101);
	cmd_refused(d, &c, SYN_SCHED_SHARE);
	PRM_SET(&ctx, scheduling_context, bw_share, 100);
	cmd_ok(d, &c);
	SET(&c, modify_scheduling_element_in, scheduling_hierarchy, E_SWITCH);
	cmd_refused(d, &c, SYN_SCHED_HIERARCHY);
	CMD(&c, QUERY_SCHEDULING_ELEMENT, uid, query_scheduling_element);
	SET(&c, query_scheduling_element_in, scheduling_element_id, id);
	cmd_refused(d, &c, SYN_SCHED_HIERARCHY);
}

/* The two families of commands make and see the same elements. */
static void as_general_objects(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d);
	uint32_t root = new_element(d, uid, TSAR, 0), leaf;
	struct prm_box elem, ctx;
	struct cmd c;

	elem = GEN_NEW(&c, uid, SCHEDULING_ELEMENT, sched_elem);
	PRM_SET(&elem, sched_elem, scheduling_hierarchy, NIC);
	ctx = PRM_SUB(&elem, sched_elem, sched_context);
	PRM_SET(&ctx, sched_context, element_type, QUEUE_GROUP);
	PRM_SET(&ctx, sched_context, parent_element_id, root);
	leaf = gen_new(d, &c);
	assert_int_not_equal(leaf, root);
	ctx = query(d, &c, uid, leaf);
	assert_int_equal(PRM_GET(&ctx, scheduling_context, parent_element_id), root);
	gen_destroy(d, uid, SCHEDULING_ELEMENT, root, SYN_GENERAL_BUSY);

	elem = GEN_MOD(&c, uid, SCHEDULING_ELEMENT, root, sched_elem);
	PRM_SET(&elem, sched_elem, modify_field_select, 1);
	ctx = PRM_SUB(&elem, sched_elem, sched_context);
	PRM_SET(&ctx, sched_context, bw_share, 33);
	cmd_ok(d, &c);
	elem = GEN_GET(d, &c, uid, SCHEDULING_ELEMENT, root, sched_elem);
	ctx = PRM_SUB(&elem, sched_elem, sched_context);
	assert_int_equal(PRM_GET(&ctx, sched_context, bw_share), 33);
	destroys(d, uid, NIC, leaf, SYN_OK);
	gen_destroy(d, uid, SCHEDULING_ELEMENT, root, SYN_OK);
}

int run_scheduling_tests(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, dev_setup, dev_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_tree), TEST(create_refused), TEST(modify), TEST(as_general_objects),
	};

	return cmocka_run_group_tests_name("scheduling elements", tests, NULL, NULL);
}
