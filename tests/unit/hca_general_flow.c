/* SPDX-License-Identifier: BSD-2-Clause */
/* General objects of steering. */
#include "flow.h"

enum {
	METER = 0x0a, GENEVE_TLV = 0x0b, DEFINER = 0x18, SAMPLER = 0x20, FLEX = 0x22, MODIFY_ARG = 0x23, METER_ASO = 0x24, HIT_ASO = 0x25, CONN_TRACK = 0x31,
	STC = 0x40, RTC = 0x41, STE = 0x42, PATTERN = 0x43,
};
enum { UDP = 0x5, IP = 0x3, PROGRAMMABLE = 0x1f };

static struct prm_box geneve_cmd(struct cmd *c, uint16_t uid)
{
	struct prm_box ctx = GEN_NEW(c, uid, GENEVE_TLV, geneve_tlv_option);

	PRM_SET(&ctx, geneve_tlv_option, option_class, 0x107);
	PRM_SET(&ctx, geneve_tlv_option, option_type, 3);
	PRM_SET(&ctx, geneve_tlv_option, option_data_length, 2);
	return ctx;
}

static struct prm_box sample_info(struct cmd *c, uint16_t uid, uint32_t id)
{
	CMD(c, QUERY_MATCH_SAMPLE_INFO, uid, query_match_sample_info);
	SET(c, query_match_sample_info_in, sample_field_id, id);
	return c->o;
}

static void geneve_options(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d);
	uint32_t id, sample;
	struct prm_box ctx;
	struct cmd c;

	ctx = geneve_cmd(&c, uid);
	PRM_SET(&ctx, geneve_tlv_option, option_data_length, 0);
	cmd_refused(d, &c, SYN_GENEVE_LENGTH);
	ctx = geneve_cmd(&c, uid);
	PRM_SET(&ctx, geneve_tlv_option, sample_offset_valid, 1);
	cmd_refused(d, &c, SYN_GENEVE_OFFSET);

	/* Without sample_id_valid there is no sample, whatever a create says. */
	ctx = geneve_cmd(&c, uid);
	PRM_SET(&ctx, geneve_tlv_option, geneve_sample_field_id, 0x1234);
	id = gen_new(d, &c);
	ctx = GEN_GET(d, &c, uid, GENEVE_TLV, id, geneve_tlv_option);
	assert_int_equal(PRM_GET(&ctx, geneve_tlv_option, geneve_sample_field_id), 0);
	assert_int_equal(PRM_GET(&ctx, geneve_tlv_option, option_class), 0x107);

	ctx = geneve_cmd(&c, uid);
	PRM_SET(&ctx, geneve_tlv_option, sample_id_valid, 1);
	id = gen_new(d, &c);
	ctx = GEN_GET(d, &c, uid, GENEVE_TLV, id, geneve_tlv_option);
	sample = (uint32_t)PRM_GET(&ctx, geneve_tlv_option, geneve_sample_field_id);
	assert_int_not_equal(sample, 0);
	sample_info(&c, uid, sample);
	cmd_ok(d, &c);
	sample_info(&c, uid, sample - 1); /* of the option that has none */
	cmd_refused(d, &c, SYN_SAMPLE);

	/* There are eight in all. */
	geneve_cmd(&c, uid);
	for (int i = 2; i < 8; i++)
		cmd_ok(d, &c);
	cmd_refused(d, &c, SYN_GENERAL_LIMIT);
	gen_destroy(d, uid, GENEVE_TLV, id, SYN_OK);
	geneve_cmd(&c, uid);
	cmd_ok(d, &c);
	sample_info(&c, uid, sample);
	cmd_refused(d, &c, SYN_SAMPLE);

	d->h->cfg.profile = HCA_CX6DX;
	ctx = geneve_cmd(&c, uid);
	cmd_refused(d, &c, SYN_GENEVE_LENGTH);
	PRM_SET(&ctx, geneve_tlv_option, option_data_length, 1);
	PRM_SET(&ctx, geneve_tlv_option, sample_id_valid, 1);
	cmd_refused(d, &c, SYN_GENEVE_SAMPLE);
}

#define PLACED(b, i, layout, field) placed(b, i, PRM_F_##layout##__##field)

static struct prm_box placed(struct prm_box *b, unsigned int i, uint32_t bit, uint32_t width)
{
	return prm_sub(b, bit + i * width, width);
}

/* After UDP, with one sample at place 2. */
static struct prm_box flex_cmd(struct cmd *c, uint16_t uid)
{
	struct prm_box ctx = GEN_NEW(c, uid, FLEX, parse_graph_flex), sub;

	PRM_SET(&ctx, parse_graph_flex, header_length_base_value, 8);
	sub = PLACED(&ctx, 0, parse_graph_flex, input_arc);
	PRM_SET(&sub, parse_graph_arc, arc_parse_graph_node, UDP);
	PRM_SET(&sub, parse_graph_arc, compare_condition_value, 4444);
	sub = PLACED(&ctx, 2, parse_graph_flex, sample_table);
	PRM_SET(&sub, parse_graph_flow_match_sample, flow_match_sample_en, 1);
	PRM_SET(&sub, parse_graph_flow_match_sample, flow_match_sample_field_base_offset, 4);
	return ctx;
}

static void flex_nodes(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d), other = new_uid(d);
	uint32_t id, after, sample;
	struct prm_box ctx, sub;
	struct cmd c;

	flex_cmd(&c, uid);
	id = gen_new(d, &c);
	ctx = GEN_GET(d, &c, uid, FLEX, id, parse_graph_flex);
	sub = PLACED(&ctx, 0, parse_graph_flex, sample_table);
	assert_int_equal(PRM_GET(&sub, parse_graph_flow_match_sample, flow_match_sample_field_id), 0);
	sub = PLACED(&ctx, 2, parse_graph_flex, sample_table);
	sample = (uint32_t)PRM_GET(&sub, parse_graph_flow_match_sample, flow_match_sample_field_id);
	assert_int_not_equal(sample, 0);
	sub = PLACED(&ctx, 0, parse_graph_flex, input_arc);
	assert_int_equal(PRM_GET(&sub, parse_graph_arc, compare_condition_value), 4444);

	sample_info(&c, uid, sample);
	cmd_ok(d, &c);
	assert_int_not_equal(OUT(&c, query_match_sample_info_out, field_format_select_dw), 0);
	sample_info(&c, uid, sample + 1);
	cmd_refused(d, &c, SYN_SAMPLE);
	sample_info(&c, other, sample);
	cmd_refused(d, &c, SYN_SAMPLE);
	sample_info(&c, uid, 0);
	cmd_refused(d, &c, SYN_SAMPLE);

	/* A node after this one keeps it. */
	ctx = flex_cmd(&c, uid);
	sub = PLACED(&ctx, 1, parse_graph_flex, input_arc);
	PRM_SET(&sub, parse_graph_arc, arc_parse_graph_node, PROGRAMMABLE);
	PRM_SET(&sub, parse_graph_arc, parse_graph_node_handle, id + 1);
	cmd_refused(d, &c, SYN_FLEX_HANDLE);
	PRM_SET(&sub, parse_graph_arc, parse_graph_node_handle, id);
	after = gen_new(d, &c);
	gen_destroy(d, uid, FLEX, id, SYN_GENERAL_BUSY);
	gen_destroy(d, uid, FLEX, after, SYN_OK);
	gen_destroy(d, uid, FLEX, id, SYN_OK);

	d->h->cfg.profile = HCA_CX5;
	sample_info(&c, uid, sample);
	cmd_refused(d, &c, SYN_BAD_OP);
}

static void flex_refused(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d);
	struct prm_box ctx, sub;
	struct cmd c;

	ctx = flex_cmd(&c, uid);
	sub = PLACED(&ctx, 0, parse_graph_flex, input_arc);
	PRM_SET(&sub, parse_graph_arc, arc_parse_graph_node, 0);
	cmd_refused(d, &c, SYN_FLEX_ARC);
	PRM_SET(&sub, parse_graph_arc, arc_parse_graph_node, 0xb);
	cmd_refused(d, &c, SYN_FLEX_NODE);
	PRM_SET(&sub, parse_graph_arc, arc_parse_graph_node, 0xff);
	cmd_refused(d, &c, SYN_FLEX_NODE);

	ctx = flex_cmd(&c, uid);
	PRM_SET(&ctx, parse_graph_flex, header_length_mode, 3);
	cmd_refused(d, &c, SYN_FLEX_LENGTH_MODE);
	ctx = flex_cmd(&c, uid);
	PRM_SET(&ctx, parse_graph_flex, header_length_base_value, 129);
	cmd_refused(d, &c, SYN_FLEX_LENGTH);
	ctx = flex_cmd(&c, uid);
	sub = PLACED(&ctx, 2, parse_graph_flex, sample_table);
	PRM_SET(&sub, parse_graph_flow_match_sample, flow_match_sample_offset_mode, 3);
	cmd_refused(d, &c, SYN_FLEX_SAMPLE_MODE);
	PRM_SET(&sub, parse_graph_flow_match_sample, flow_match_sample_offset_mode, 2);
	PRM_SET(&sub, parse_graph_flow_match_sample, flow_match_sample_field_base_offset, 129);
	cmd_refused(d, &c, SYN_FLEX_SAMPLE_OFFSET);
	PRM_SET(&sub, parse_graph_flow_match_sample, flow_match_sample_field_base_offset, 128);
	cmd_ok(d, &c);

	d->h->cfg.profile = HCA_CX6DX; /* four samples */
	ctx = flex_cmd(&c, uid);
	for (unsigned int i = 3; i < 7; i++) {
		if (i == 6)
			cmd_ok(d, &c);
		sub = PLACED(&ctx, i, parse_graph_flex, sample_table);
		PRM_SET(&sub, parse_graph_flow_match_sample, flow_match_sample_en, 1);
	}
	cmd_refused(d, &c, SYN_FLEX_SAMPLES);
}

static void definers(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d);
	struct prm_box ctx;
	struct cmd c;
	uint32_t id;

	ctx = GEN_NEW(&c, uid, DEFINER, match_definer);
	PRM_SET(&ctx, match_definer, format_id, 1);
	cmd_refused(d, &c, SYN_DEFINER_FORMAT);
	PRM_SET(&ctx, match_definer, format_id, 0xffff);
	cmd_refused(d, &c, SYN_DEFINER_FORMAT);
	PRM_SET(&ctx, match_definer, format_id, 22);
	PRM_SET(&ctx, match_definer, format_select_byte4, 1);
	cmd_refused(d, &c, SYN_DEFINER_SELECTOR);
	PRM_SET(&ctx, match_definer, format_id, 61);
	memset(ctx.p + 64, 0xff, 64);
	id = gen_new(d, &c);
	ctx = GEN_GET(d, &c, uid, DEFINER, id, match_definer);
	assert_int_equal(PRM_GET(&ctx, match_definer, format_select_byte4), 1);
	assert_int_equal(ctx.p[127], 0xff);
	GEN_MOD(&c, uid, DEFINER, id, match_definer);
	cmd_refused(d, &c, SYN_GENERAL_FIXED);
}

/* One object, whose PD stays, and whose words come back. */
static void pd_owned(struct dev *d, uint16_t uid, uint16_t type, uint32_t bytes, uint32_t pd_bit, uint32_t data)
{
	uint32_t pd = new_pd(d, uid), id;
	struct prm_box ctx;
	struct cmd c;

	ctx = gen_cmd(&c, PRM_OP_CREATE_GENERAL_OBJECT, uid, type, 0, bytes);
	cmd_refused(d, &c, SYN_PD);
	prm_set(&ctx, pd_bit, 24, pd);
	if (data)
		prm_set(&ctx, data, 8, 0x55);
	id = gen_new(d, &c);
	destroy(d, PRM_OP_DEALLOC_PD, uid, pd, SYN_PD_BUSY);
	ctx = gen_get(d, &c, uid, type, id, bytes);
	assert_int_equal(prm_get(&ctx, pd_bit, 24), pd);
	if (data)
		assert_int_equal(prm_get(&ctx, data, 8), 0x55);
	gen_destroy(d, uid, type, id, SYN_OK);
	destroy(d, PRM_OP_DEALLOC_PD, uid, pd, SYN_OK);
}

#define BIT_(bit, width) (bit)
#define BIT(...) BIT_(__VA_ARGS__)

static void aso_objects(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d);

	pd_owned(d, uid, METER_ASO, PRM_SZ(flow_meter_aso), BIT(PRM_F_flow_meter_aso__access_pd),
		 BIT(PRM_F_flow_meter_aso__parameters));
	pd_owned(d, uid, HIT_ASO, PRM_SZ(flow_hit_aso), BIT(PRM_F_flow_hit_aso__access_pd), BIT(PRM_F_flow_hit_aso__flag));
	pd_owned(d, uid, CONN_TRACK, PRM_SZ(conn_track_offload), BIT(PRM_F_conn_track_offload__conn_track_aso_access_pd),
		 BIT(PRM_F_conn_track_offload__conn_track_aso) + BIT(PRM_F_conn_track_aso__last_seq));
	pd_owned(d, uid, MODIFY_ARG, PRM_SZ(modify_header_arg), BIT(PRM_F_modify_header_arg__access_pd), 0);
}

static void patterns(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d);
	struct prm_box ctx;
	struct cmd c;

	ctx = GEN_NEW(&c, uid, PATTERN, header_modify_pattern_in);
	cmd_refused(d, &c, SYN_PATTERN_LENGTH);
	PRM_SET(&ctx, header_modify_pattern_in, pattern_length, 65);
	cmd_refused(d, &c, SYN_PATTERN_LENGTH);
	PRM_SET(&ctx, header_modify_pattern_in, pattern_length, 64);
	ctx.p[ctx.len - 1] = 0x5a;
	ctx = GEN_GET(d, &c, uid, PATTERN, gen_new(d, &c), header_modify_pattern_in);
	assert_int_equal(ctx.p[ctx.len - 1], 0x5a);
	assert_int_equal(PRM_GET(&ctx, header_modify_pattern_in, pattern_length), 64);
}

static void destroy_table(struct dev *d, uint16_t uid, uint32_t table, enum syn why)
{
	struct cmd c;

	table_end(&c, uid, FT_NIC_RX, table);
	if (why == SYN_OK)
		cmd_ok(d, &c);
	else
		cmd_refused(d, &c, why);
}

static void samplers(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d);
	uint32_t a = new_table(d, uid, FT_NIC_RX, 1), b = new_table(d, uid, FT_NIC_RX, 1), tx = new_table(d, uid, FT_NIC_TX, 1), id;
	struct prm_box ctx;
	struct cmd c;

	ctx = GEN_NEW(&c, uid, SAMPLER, flow_sampler); /* the short form */
	PRM_SET(&ctx, flow_sampler, sample_table_id, a);
	cmd_refused(d, &c, SYN_FT);
	PRM_SET(&ctx, flow_sampler, default_table_id, tx);
	cmd_refused(d, &c, SYN_FT); /* of another type */
	PRM_SET(&ctx, flow_sampler, default_table_id, b);
	cmd_refused(d, &c, SYN_SAMPLER_RATIO);
	PRM_SET(&ctx, flow_sampler, sample_ratio, 100);
	PRM_SET(&ctx, flow_sampler, sw_steering_icm_address_rx, 77);
	id = gen_new(d, &c);
	destroy_table(d, uid, a, SYN_FT_BUSY);
	destroy_table(d, uid, b, SYN_FT_BUSY);
	ctx = GEN_GET(d, &c, uid, SAMPLER, id, flow_sampler);
	assert_int_equal(PRM_GET(&ctx, flow_sampler, sample_ratio), 100);
	assert_int_equal(PRM_GET(&ctx, flow_sampler, sw_steering_icm_address_rx), 0);
	gen_destroy(d, uid, SAMPLER, id, SYN_OK);
	destroy_table(d, uid, a, SYN_OK);
}

static void meters(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d);
	uint32_t table = new_table(d, uid, FT_NIC_RX, 1), id;
	struct prm_box ctx, p;
	struct cmd c;

	ctx = GEN_NEW(&c, uid, METER, flow_meter);
	PRM_SET(&ctx, flow_meter, destination_table_id, table);
	PRM_SET(&ctx, flow_meter, table_type, FT_NIC_TX);
	cmd_refused(d, &c, SYN_FT);
	PRM_SET(&ctx, flow_meter, table_type, FT_NIC_RX);
	PRM_SET(&ctx, flow_meter, active, 1);
	p = PRM_SUB(&ctx, flow_meter, flow_meter_params);
	PRM_SET(&p, flow_meter_parameters, cir_mantissa, 9);
	id = gen_new(d, &c);
	destroy_table(d, uid, table, SYN_FT_BUSY);
	ctx = GEN_MOD(&c, uid, METER, id, flow_meter);
	PRM_SET(&ctx, flow_meter, modify_field_select, 0x2);
	p = PRM_SUB(&ctx, flow_meter, flow_meter_params);
	PRM_SET(&p, flow_meter_parameters, cbs_mantissa, 5);
	PRM_SET(&p, flow_meter_parameters, cir_mantissa, 6);
	cmd_ok(d, &c);
	PRM_SET(&ctx, flow_meter, modify_field_select, 0x20);
	cmd_refused(d, &c, SYN_SELECT);
	ctx = GEN_GET(d, &c, uid, METER, id, flow_meter);
	p = PRM_SUB(&ctx, flow_meter, flow_meter_params);
	assert_int_equal(PRM_GET(&p, flow_meter_parameters, cbs_mantissa), 5);
	assert_int_equal(PRM_GET(&p, flow_meter_parameters, cir_mantissa), 9);
	assert_int_equal(PRM_GET(&ctx, flow_meter, active), 1);
}

static void rule_tables(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d);
	uint32_t pd = new_pd(d, uid), table = new_table(d, uid, FT_NIC_RX, 1), stc, ste, definer, id;
	struct prm_box ctx;
	struct cmd c;

	GEN_NEW(&c, uid, STC, stc);
	stc = gen_new(d, &c);
	GEN_NEW(&c, uid, STE, ste);
	ste = gen_new(d, &c);
	ctx = GEN_NEW(&c, uid, DEFINER, match_definer);
	definer = gen_new(d, &c);

	ctx = GEN_NEW(&c, uid, RTC, rtc);
	PRM_SET(&ctx, rtc, pd, pd);
	cmd_refused(d, &c, SYN_STC);
	PRM_SET(&ctx, rtc, stc_id, stc);
	cmd_refused(d, &c, SYN_STE);
	PRM_SET(&ctx, rtc, ste_table_base_id, ste);
	PRM_SET(&ctx, rtc, match_definer_0, definer + 1);
	cmd_refused(d, &c, SYN_DEFINER);
	PRM_SET(&ctx, rtc, match_definer_0, definer);
	PRM_SET(&ctx, rtc, log_depth, 21);
	cmd_refused(d, &c, SYN_RTC_DEPTH);
	PRM_SET(&ctx, rtc, log_depth, 20);
	PRM_SET(&ctx, rtc, miss_flow_table_id, table + 1);
	cmd_refused(d, &c, SYN_FT);
	PRM_SET(&ctx, rtc, miss_flow_table_id, table);
	id = gen_new(d, &c);
	gen_destroy(d, uid, STC, stc, SYN_GENERAL_BUSY);
	gen_destroy(d, uid, STE, ste, SYN_GENERAL_BUSY);
	gen_destroy(d, uid, DEFINER, definer, SYN_GENERAL_BUSY);
	gen_destroy(d, uid, RTC, id, SYN_OK);
	gen_destroy(d, uid, STC, stc, SYN_OK);
	gen_destroy(d, uid, STE, ste, SYN_OK);
	gen_destroy(d, uid, DEFINER, definer, SYN_OK);
}

int run_general_flow_tests(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, dev_setup, dev_teardown)
	const struct CMUnitTest tests[] = {
		TEST(geneve_options), TEST(flex_nodes), TEST(flex_refused), TEST(definers), TEST(aso_objects), TEST(patterns),
		TEST(samplers), TEST(meters), TEST(rule_tables),
	};

	return cmocka_run_group_tests_name("steering objects", tests, NULL, NULL);
}
