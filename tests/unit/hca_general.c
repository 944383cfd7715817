/* SPDX-License-Identifier: BSD-2-Clause */
/* What all general objects have in common: types by profile, ids, ranges, references. */
#include "dev.h"

enum { DEK = 0xc, VIRTIO_Q_COUNTERS = 0x1c, METER_ASO = 0x24, CONN_TRACK = 0x31, STC = 0x40, PATTERN = 0x43 };

#define RANGE(c, log)                                                                                                \
	do {                                                                                                         \
		struct prm_box p_ = PRM_SUB(&(c)->i, general_obj_in_cmd_hdr, op_param_create);                       \
		PRM_SET(&p_, general_obj_create_param, log_obj_range, log);                                          \
	} while (0)
#define OFFSET(c, n)                                                                                                 \
	do {                                                                                                         \
		struct prm_box p_ = PRM_SUB(&(c)->i, general_obj_in_cmd_hdr, op_param_query);                        \
		PRM_SET(&p_, general_obj_query_param, obj_offset, n);                                                \
	} while (0)

static uint64_t types_of(struct dev *d, bool high)
{
	struct cmd c;
	struct prm_box page;

	CMD(&c, QUERY_HCA_CAP, 0, query_hca_cap);
	cmd_op_mod(&c, high ? 0x20 << 1 | 1 : 1);
	cmd_ok(d, &c);
	page = PRM_SUB(&c.o, query_hca_cap_out, capability);
	return high ? PRM_GET(&page, cmd_hca_cap_2, general_obj_types_127_64) : PRM_GET(&page, cmd_hca_cap, general_obj_types);
}

/* In every profile: a type is known to all four commands if and only if its bit is set. */
static void types_are_what_the_capabilities_say(void **state)
{
	static const struct hca_host none;
	uint64_t before = 0;
	struct cmd c;

	for (int p = 0; p < HCA_N_PROFILES; p++) {
		struct hca_config config = { .profile = (enum hca_profile)p, .latency = 1000, .timeout = 1000000000 };
		struct dev d = { .h = hca_new(&config, &none, NULL) };
		uint64_t low = types_of(&d, false), high = types_of(&d, true);

		for (uint16_t type = 0; type < 0x84; type++) {
			bool there = type < 128 && (type < 64 ? low : high) >> type % 64 & 1;

			for (uint16_t op = PRM_OP_CREATE_GENERAL_OBJECT; op <= PRM_OP_DESTROY_GENERAL_OBJECT; op++) {
				gen_cmd(&c, op, 0, type, 1, 1024);
				if (!there) {
					cmd_refused(&d, &c, SYN_GENERAL_TYPE);
					continue;
				}
				cmd_run(&d, &c);
				assert_int_not_equal(OUT(&c, nop_out, syndrome), syn_number(SYN_GENERAL_TYPE));
			}
		}
		gen_cmd(&c, PRM_OP_CREATE_GENERAL_OBJECT, 0, 0xff15, 0, PRM_SZ(alias_context));
		cmd_refused(&d, &c, SYN_GENERAL_TYPE); /* aliases of flow tables */
		assert_int_equal(before & ~low, 0); /* a later device has what an earlier one had */
		before = low;
		hca_free(d.h);
	}
	assert_int_not_equal(before, 0);
}

static uint32_t new_meter(struct dev *d, uint16_t uid, uint32_t pd, uint32_t log)
{
	struct cmd c;
	struct prm_box ctx = GEN_NEW(&c, uid, METER_ASO, flow_meter_aso);

	PRM_SET(&ctx, flow_meter_aso, access_pd, pd);
	RANGE(&c, log);
	return gen_new(d, &c);
}

static void named_by_type_id_and_uid(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d), other = new_uid(d);
	uint32_t id, pd = new_pd(d, uid), counters;
	struct cmd c;

	GEN_NEW(&c, uid, VIRTIO_Q_COUNTERS, virtio_q_counters);
	counters = gen_new(d, &c);
	id = new_meter(d, uid, pd, 0);
	id = new_meter(d, uid, pd, 0);
	assert_int_not_equal(id, counters); /* ids count by type: this one is the second */
	gen_cmd(&c, PRM_OP_QUERY_GENERAL_OBJECT, uid, VIRTIO_Q_COUNTERS, id, PRM_SZ(virtio_q_counters));
	cmd_refused(d, &c, SYN_VIRTIO_Q_COUNTERS);
	gen_cmd(&c, PRM_OP_QUERY_GENERAL_OBJECT, other, METER_ASO, id, PRM_SZ(flow_meter_aso));
	cmd_refused(d, &c, SYN_GENERAL);
	gen_destroy(d, other, METER_ASO, id, SYN_GENERAL);
	gen_destroy(d, uid, METER_ASO, id, SYN_OK);
	gen_destroy(d, uid, METER_ASO, id, SYN_GENERAL);
	gen_destroy(d, uid, METER_ASO, 0, SYN_GENERAL);
	gen_destroy(d, uid, METER_ASO, UINT32_MAX, SYN_GENERAL);
}

static void lengths(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d);
	uint32_t id = new_meter(d, uid, new_pd(d, uid), 0);
	struct cmd c;

	GEN_NEW(&c, uid, METER_ASO, flow_meter_aso);
	c.inlen--;
	cmd_refused(d, &c, SYN_IN_LEN);
	GEN_NEW(&c, uid, METER_ASO, flow_meter_aso);
	c.outlen = PRM_HDR_SZ - 1;
	cmd_refused(d, &c, SYN_OUT_LEN);
	gen_cmd(&c, PRM_OP_QUERY_GENERAL_OBJECT, uid, METER_ASO, id, PRM_SZ(flow_meter_aso));
	c.outlen--;
	cmd_refused(d, &c, SYN_OUT_LEN);
	gen_cmd(&c, PRM_OP_QUERY_GENERAL_OBJECT, uid, METER_ASO, id, PRM_SZ(flow_meter_aso) + 100);
	cmd_ok(d, &c); /* a longer one is filled with zeros */
	GEN_NEW(&c, uid, STC, stc);
	id = gen_new(d, &c);
	GEN_MOD(&c, uid, STC, id, stc);
	c.inlen--;
	cmd_refused(d, &c, SYN_IN_LEN);
}

static void what_is_referred_to_stays(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d), other = new_uid(d);
	uint32_t pd = new_pd(d, uid), id;
	struct prm_box ctx;
	struct cmd c;

	ctx = GEN_NEW(&c, uid, METER_ASO, flow_meter_aso);
	PRM_SET(&ctx, flow_meter_aso, access_pd, new_pd(d, other));
	cmd_refused(d, &c, SYN_PD);
	id = new_meter(d, uid, pd, 2);
	destroy(d, PRM_OP_DEALLOC_PD, uid, pd, SYN_PD_BUSY);
	gen_destroy(d, uid, METER_ASO, id, SYN_OK);
	destroy(d, PRM_OP_DEALLOC_PD, uid, pd, SYN_OK);
}

/* A range is one object under many ids, each with a context of its own. */
static void ranges(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d);
	uint32_t pd = new_pd(d, uid), id, meter;
	struct prm_box ctx;
	struct cmd c;

	GEN_NEW(&c, uid, STC, stc);
	RANGE(&c, 3);
	id = gen_new(d, &c);
	assert_int_equal(id % 8, 0);
	ctx = GEN_MOD(&c, uid, STC, id, stc);
	OFFSET(&c, 5);
	PRM_SET(&ctx, stc, modify_field_select, 1);
	PRM_SET(&ctx, stc, action_type, 0x12);
	cmd_ok(d, &c);
	ctx = GEN_GET(d, &c, uid, STC, id, stc);
	assert_int_equal(PRM_GET(&ctx, stc, action_type), 0);
	ctx = GEN_GET(d, &c, uid, STC, id + 5, stc);
	assert_int_equal(PRM_GET(&ctx, stc, action_type), 0x12);
	gen_cmd(&c, PRM_OP_QUERY_GENERAL_OBJECT, uid, STC, id + 4, PRM_SZ(stc));
	OFFSET(&c, 1);
	cmd_ok(d, &c);
	ctx = prm_in(c.out + PRM_HDR_SZ, PRM_SZ(stc));
	assert_int_equal(PRM_GET(&ctx, stc, action_type), 0x12);
	OFFSET(&c, 4);
	cmd_refused(d, &c, SYN_GENERAL_OFFSET);
	OFFSET(&c, 0x7fffffff);
	cmd_refused(d, &c, SYN_GENERAL_OFFSET);
	gen_destroy(d, uid, STC, id + 1, SYN_GENERAL_BASE);
	gen_destroy(d, uid, STC, id, SYN_OK);
	gen_destroy(d, uid, STC, id + 7, SYN_STC);

	/* Where no id can come to differ from another they share what they say. */
	meter = new_meter(d, uid, pd, 12);
	ctx = GEN_GET(d, &c, uid, METER_ASO, meter + 4095, flow_meter_aso);
	assert_int_equal(PRM_GET(&ctx, flow_meter_aso, access_pd), pd);

	ctx = GEN_NEW(&c, uid, METER_ASO, flow_meter_aso);
	PRM_SET(&ctx, flow_meter_aso, access_pd, pd);
	RANGE(&c, 13);
	cmd_refused(d, &c, SYN_GENERAL_RANGE);
	GEN_NEW(&c, uid, VIRTIO_Q_COUNTERS, virtio_q_counters);
	RANGE(&c, 1);
	cmd_refused(d, &c, SYN_GENERAL_RANGE);
}

static void aliases(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d);
	struct prm_box param;
	struct cmd c;
	uint32_t id;

	GEN_NEW(&c, uid, VIRTIO_Q_COUNTERS, virtio_q_counters);
	id = gen_new(d, &c);
	param = PRM_SUB(&c.i, general_obj_in_cmd_hdr, op_param_create);
	PRM_SET(&param, general_obj_create_param, alias_object, 1);
	cmd_refused(d, &c, SYN_GENERAL_ALIAS);
	gen_cmd(&c, PRM_OP_QUERY_GENERAL_OBJECT, uid, VIRTIO_Q_COUNTERS, id, PRM_SZ(virtio_q_counters));
	param = PRM_SUB(&c.i, general_obj_in_cmd_hdr, op_param_query);
	PRM_SET(&param, general_obj_query_param, alias_object, 1);
	cmd_refused(d, &c, SYN_GENERAL_ALIAS);
}

static void modify_select(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d);
	uint32_t id, meter = new_meter(d, uid, new_pd(d, uid), 0);
	struct prm_box ctx;
	struct cmd c;

	GEN_MOD(&c, uid, METER_ASO, meter, flow_meter_aso);
	cmd_refused(d, &c, SYN_GENERAL_FIXED);
	ctx = GEN_NEW(&c, uid, STC, stc);
	PRM_SET(&ctx, stc, modify_field_select, UINT64_MAX);
	PRM_SET(&ctx, stc, table_type, 4);
	ctx.p[127] = 0xff; /* of no field */
	id = gen_new(d, &c);
	ctx = GEN_MOD(&c, uid, STC, id, stc);
	PRM_SET(&ctx, stc, modify_field_select, 2);
	cmd_refused(d, &c, SYN_SELECT);
	PRM_SET(&ctx, stc, modify_field_select, 0);
	PRM_SET(&ctx, stc, action_type, 7);
	cmd_ok(d, &c);
	ctx = GEN_GET(d, &c, uid, STC, id, stc);
	assert_int_equal(PRM_GET(&ctx, stc, action_type), 0);
	assert_int_equal(PRM_GET(&ctx, stc, table_type), 4);
	assert_int_equal(PRM_GET(&ctx, stc, modify_field_select), 1); /* what may be selected */
	assert_int_equal(ctx.p[127], 0);
}

static void limits(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d);
	uint32_t pd = new_pd(d, uid);
	struct prm_box ctx;
	struct cmd c;

	ctx = GEN_NEW(&c, uid, METER_ASO, flow_meter_aso);
	PRM_SET(&ctx, flow_meter_aso, access_pd, pd);
	d->h->tables[OBJ_METER_ASO].next = ID24_LAST;
	cmd_ok(d, &c);
	assert_int_equal(OUT(&c, general_obj_out_cmd_hdr, obj_id), ID24_LAST);
	cmd_refused(d, &c, SYN_GENERAL_LIMIT);

	/* Whatever allocation fails, nothing is left behind. */
	for (unsigned int k = 1; k <= 6; k++) {
		uint32_t objs = d->h->user_objs[uid];

		GEN_NEW(&c, uid, STC, stc);
		RANGE(&c, 4);
		fail_alloc = k;
		cmd_run(d, &c);
		if (fail_alloc) { /* it did not come to that many */
			fail_alloc = 0;
			assert_true(k > 2);
			return;
		}
		assert_int_equal(OUT(&c, nop_out, syndrome), syn_number(SYN_NO_MEMORY));
		assert_int_equal(d->h->user_objs[uid], objs);
	}
	fail();
}

static void strict(void **state)
{
	static const struct hca_host none;
	struct hca_config config = { .profile = HCA_CX7, .latency = 1000, .timeout = 1000000000, .strict = true };
	struct dev d = { .h = hca_new(&config, &none, NULL) };
	struct prm_box ctx;
	struct cmd c;

	ctx = GEN_NEW(&c, 0, STC, stc);
	PRM_SET(&ctx, stc, action_type, 7);
	cmd_ok(&d, &c);
	ctx.p[127] = 1;
	cmd_run(&d, &c);
	assert_int_equal(OUT(&c, nop_out, syndrome), HCA_STRICT | ((PRM_HDR_SZ + 128) * 8 - 1));
	hca_free(d.h);
}

int run_general_tests(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, dev_setup, dev_teardown)
	const struct CMUnitTest tests[] = {
		TEST(types_are_what_the_capabilities_say), TEST(named_by_type_id_and_uid), TEST(lengths),
		TEST(what_is_referred_to_stays), TEST(ranges), TEST(aliases), TEST(modify_select), TEST(limits), TEST(strict),
	};

	return cmocka_run_group_tests_name("general objects", tests, NULL, NULL);
}
