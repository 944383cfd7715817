/* SPDX-License-Identifier: BSD-2-Clause */
/* General objects that steering refers to: parsers, definers, meters and other ASO objects, samplers, header modify parts. */
#include "caps.h"
#include "general.h"
#include "steer.h"
#include "types.h"

/* Types whose fields are just kept. */
static const struct gen_field none[] = { FIELDS_END };

#define GENEVE(field) CTX_PLACE(geneve_tlv_option, field)

static const struct gen_field geneve_tlv[] = {
	RO(GENEVE(geneve_sample_field_id)),
	MAX(0, SYN_GENEVE_OFFSET, GENEVE(sample_offset_valid)), /* geneve_tlv_option_offset is off */
	FIELDS_END,
};

static enum syn check_geneve_tlv(struct gen_change *c)
{
	uint64_t len = PRM_GET(&c->next, geneve_tlv_option, option_data_length);

	if (!len || len > HCA_CAP(c->h, GENERAL, cmd_hca_cap, max_geneve_tlv_option_data_len))
		return SYN_GENEVE_LENGTH;
	if (PRM_GET(&c->next, geneve_tlv_option, sample_id_valid) && !HCA_CAP(c->h, GENERAL, cmd_hca_cap, geneve_tlv_sample))
		return SYN_GENEVE_SAMPLE;
	if (c->h->tables[OBJ_GENEVE_TLV].count >= HCA_CAP(c->h, GENERAL, cmd_hca_cap, max_geneve_tlv_options))
		return SYN_GENERAL_LIMIT;
	return SYN_OK;
}

/*
 * Samples are known by a number, which is how match fields and modify header actions name them. The numbers are ours: what
 * they belong to, the object and the sample in it.
 */
#define SAMPLE_GENEVE 0x10000000u
#define SAMPLE_FLEX 0x20000000u
#define FLEX_SAMPLES 8u
#define FLEX_ARCS 8u

static uint32_t flex_sample_id(uint32_t node, unsigned int i)
{
	return SAMPLE_FLEX | node * FLEX_SAMPLES | i;
}

static void show_geneve_tlv(struct hca *h, struct hca_obj *obj, struct prm_box *ctx)
{
	if (PRM_GET(ctx, geneve_tlv_option, sample_id_valid))
		PRM_SET(ctx, geneve_tlv_option, geneve_sample_field_id, SAMPLE_GENEVE | obj->id);
}

/* The i-th of an array of nested layouts: the table's place is that of the first. */
static struct prm_box element(struct prm_box *b, unsigned int i, uint32_t bit, uint32_t width)
{
	return prm_sub(b, bit + i * width, width);
}

static enum syn check_samples(struct gen_change *c)
{
	uint64_t modes = HCA_CAP(c->h, PARSE_GRAPH, parse_graph_node_cap, sample_offset_mode), n = 0;

	for (unsigned int i = 0; i < FLEX_SAMPLES; i++) {
		struct prm_box s = element(&c->next, i, PRM_F_parse_graph_flex__sample_table);

		if (!PRM_GET(&s, parse_graph_flow_match_sample, flow_match_sample_en))
			continue;
		n++;
		if (!(modes >> PRM_GET(&s, parse_graph_flow_match_sample, flow_match_sample_offset_mode) & 1))
			return SYN_FLEX_SAMPLE_MODE;
		if (PRM_GET(&s, parse_graph_flow_match_sample, flow_match_sample_field_base_offset) >
		    HCA_CAP(c->h, PARSE_GRAPH, parse_graph_node_cap, max_sample_base_offset))
			return SYN_FLEX_SAMPLE_OFFSET;
	}
	return n > HCA_CAP(c->h, PARSE_GRAPH, parse_graph_node_cap, max_num_sample) ? SYN_FLEX_SAMPLES : SYN_OK;
}

/* DPDK, drivers/common/mlx5/mlx5_prm.h: MLX5_GRAPH_ARC_NODE_*. */
enum { NODE_NULL = 0, NODE_PROGRAMMABLE = 0x1f };

/* Arcs of one direction: known nodes, or programmable ones that exist and stay while they are linked. */
static enum syn check_arcs(struct gen_change *c, uint32_t bit, uint32_t width, uint64_t nodes, unsigned int *n)
{
	*n = 0;
	for (unsigned int i = 0; i < FLEX_ARCS; i++) {
		struct prm_box arc = element(&c->next, i, bit, width);
		uint64_t node = PRM_GET(&arc, parse_graph_arc, arc_parse_graph_node);
		struct hca_obj *to;

		if (node == NODE_NULL)
			continue;
		if (node > NODE_PROGRAMMABLE || !(nodes >> node & 1))
			return SYN_FLEX_NODE;
		(*n)++;
		if (node != NODE_PROGRAMMABLE)
			continue;
		to = obj_find(c->h, OBJ_FLEX_NODE, (uint32_t)PRM_GET(&arc, parse_graph_arc, parse_graph_node_handle), c->uid);
		if (!to)
			return SYN_FLEX_HANDLE;
		gen_refer(c, to);
	}
	return SYN_OK;
}

/* A node that no arc enters would never be parsed. */
static enum syn check_flex(struct gen_change *c)
{
	uint64_t modes = HCA_CAP(c->h, PARSE_GRAPH, parse_graph_node_cap, header_length_mode);
	unsigned int in = 0, out;
	enum syn syn = check_samples(c);

	if (syn == SYN_OK)
		syn = check_arcs(c, PRM_F_parse_graph_flex__input_arc,
				 HCA_CAP(c->h, PARSE_GRAPH, parse_graph_node_cap, node_in), &in);
	if (syn == SYN_OK)
		syn = check_arcs(c, PRM_F_parse_graph_flex__output_arc,
				 HCA_CAP(c->h, PARSE_GRAPH, parse_graph_node_cap, node_out), &out);
	if (syn != SYN_OK)
		return syn;
	if (!in)
		return SYN_FLEX_ARC;
	if (!(modes >> PRM_GET(&c->next, parse_graph_flex, header_length_mode) & 1))
		return SYN_FLEX_LENGTH_MODE;
	if (PRM_GET(&c->next, parse_graph_flex, header_length_base_value) >
	    HCA_CAP(c->h, PARSE_GRAPH, parse_graph_node_cap, max_base_header_length))
		return SYN_FLEX_LENGTH;
	return SYN_OK;
}

static void show_flex(struct hca *h, struct hca_obj *obj, struct prm_box *ctx)
{
	for (unsigned int i = 0; i < FLEX_SAMPLES; i++) {
		struct prm_box s = element(ctx, i, PRM_F_parse_graph_flex__sample_table);
		bool on = PRM_GET(&s, parse_graph_flow_match_sample, flow_match_sample_en);

		PRM_SET(&s, parse_graph_flow_match_sample, flow_match_sample_field_id, on ? flex_sample_id(obj->id, i) : 0);
	}
}

/* Does the uid have this sample? */
static bool sample_exists(struct hca *h, uint16_t uid, uint32_t sample)
{
	uint32_t in = sample & (SAMPLE_GENEVE - 1);
	struct hca_obj *obj;
	struct prm_box ctx;

	if ((sample & ~(SAMPLE_GENEVE - 1)) == SAMPLE_GENEVE) {
		obj = obj_find(h, OBJ_GENEVE_TLV, in, uid);
		if (!obj)
			return false;
		ctx = gen_context(obj, in);
		return PRM_GET(&ctx, geneve_tlv_option, sample_id_valid);
	}
	obj = (sample & ~(SAMPLE_GENEVE - 1)) == SAMPLE_FLEX ? obj_find(h, OBJ_FLEX_NODE, in / FLEX_SAMPLES, uid) : NULL;
	if (!obj)
		return false;
	ctx = gen_context(obj, obj->id);
	ctx = element(&ctx, in % FLEX_SAMPLES, PRM_F_parse_graph_flex__sample_table);
	return PRM_GET(&ctx, parse_graph_flow_match_sample, flow_match_sample_en);
}

/*
 * How a definer and a modify header action select a sample. No source says which numbers a device gives: ours are the
 * programmable sample's place among those of its node, from a base that no documented selector has.
 */
#define SAMPLE_SELECT_DW 0x80u
#define SAMPLE_MODIFY_FIELD 0x800u

static enum syn query_match_sample_info(struct hca *h, struct call *c)
{
	uint32_t sample = (uint32_t)PRM_GET(&c->in, query_match_sample_info_in, sample_field_id);
	uint32_t place = sample % FLEX_SAMPLES;

	if (!HCA_CAP(h, GENERAL, cmd_hca_cap, query_match_sample_info))
		return SYN_BAD_OP;
	if (!sample_exists(h, c->uid, sample))
		return SYN_SAMPLE;
	PRM_SET(&c->out, query_match_sample_info_out, modify_field_id, SAMPLE_MODIFY_FIELD + place);
	PRM_SET(&c->out, query_match_sample_info_out, field_format_select_dw, SAMPLE_SELECT_DW + place);
	PRM_SET(&c->out, query_match_sample_info_out, ok_bit_format_select_dw, SAMPLE_SELECT_DW + FLEX_SAMPLES);
	PRM_SET(&c->out, query_match_sample_info_out, ok_bit_offset, place);
	return SYN_OK;
}

const struct hca_op ops_general_flow[] = {
	OP_ROW(QUERY_MATCH_SAMPLE_INFO, query_match_sample_info, OP_PLAIN, query_match_sample_info),
	{ 0 },
};

/* Linux, include/linux/mlx5/mlx5_ifc.h: MLX5_IFC_DEFINER_FORMAT_ID_SELECT. Only this one has selectors. */
#define FORMAT_SELECT 0x3du


static enum syn check_definer(struct gen_change *c)
{
	uint64_t format = PRM_GET(&c->next, match_definer, format_id), selectors = 0;

	if (format > 63 || !(HCA_CAP(c->h, GENERAL, cmd_hca_cap, match_definer_format_supported) >> format & 1))
		return SYN_DEFINER_FORMAT;
	for (uint32_t bit = CTX_BIT_OF(PRM_F_match_definer__format_select_dw3);
	     bit < CTX_BIT_OF(PRM_F_match_definer__match_mask); bit += 64)
		selectors |= prm_get(&c->next, bit, 64);
	return selectors && format != FORMAT_SELECT ? SYN_DEFINER_SELECTOR : SYN_OK;
}

/* What an ASO object holds changes by work requests, not by commands. */
static const struct gen_field meter_aso[] = { REF(OBJ_PD, CTX_PLACE(flow_meter_aso, access_pd)), FIELDS_END };
static const struct gen_field hit_aso[] = { REF(OBJ_PD, CTX_PLACE(flow_hit_aso, access_pd)), FIELDS_END };
static const struct gen_field conn_track[] = { REF(OBJ_PD, CTX_PLACE(conn_track_offload, conn_track_aso_access_pd)), FIELDS_END };
static const struct gen_field modify_arg[] = { REF(OBJ_PD, CTX_PLACE(modify_header_arg, access_pd)), FIELDS_END };

static enum syn check_pattern(struct gen_change *c)
{
	uint64_t n = PRM_GET(&c->next, header_modify_pattern_in, pattern_length);

	return n && n <= HCA_CAP(c->h, WQE_FLOW, wqe_based_flow_table_cap, max_header_modify_pattern_length) ?
		       SYN_OK : SYN_PATTERN_LENGTH;
}

/* Flow tables of the table_type that the object says. */
static bool is_table(struct gen_change *c, uint64_t id, uint64_t type)
{
	struct flow_table *t = (struct flow_table *)obj_find(c->h, OBJ_FLOW_TABLE, (uint32_t)id, c->uid);

	return t && t->type == type;
}

#define SAMPLER(field) CTX_PLACE(sampler_obj, field)

static const struct gen_field sampler[] = {
	REF(OBJ_FLOW_TABLE, SAMPLER(sample_table_id)),
	REF(OBJ_FLOW_TABLE, SAMPLER(default_table_id)),
	RO(SAMPLER(sw_steering_icm_address_rx)),
	RO(SAMPLER(sw_steering_icm_address_tx)),
	FIELDS_END,
};

/* One of so many packets: zero is no ratio. */
static enum syn check_sampler(struct gen_change *c)
{
	uint64_t type = PRM_GET(&c->next, sampler_obj, table_type);

	if (!is_table(c, PRM_GET(&c->next, sampler_obj, sample_table_id), type) ||
	    !is_table(c, PRM_GET(&c->next, sampler_obj, default_table_id), type))
		return SYN_FT;
	return PRM_GET(&c->next, sampler_obj, sample_ratio) ? SYN_OK : SYN_SAMPLER_RATIO;
}

/* DPDK, drivers/common/mlx5/mlx5_prm.h: MLX5_FLOW_METER_OBJ_MODIFY_FIELD_*. */
enum { METER_ACTIVE = 0x1, METER_CBS = 0x2, METER_CIR = 0x4, METER_EBS = 0x8, METER_EIR = 0x10 };

#define METER(field) CTX_PLACE(flow_meter, field)
#define PARAM(field) CTX_NESTED(flow_meter, flow_meter_params, flow_meter_parameters, field)

static const struct gen_field meter[] = {
	REF(OBJ_FLOW_TABLE, METER(destination_table_id)),
	RO(METER(sw_steering_icm_address_rx)),
	RO(METER(sw_steering_icm_address_tx)),
	MODIFY(METER_ACTIVE, METER(active)),
	MODIFY(METER_CBS, PARAM(cbs_exponent)),
	MODIFY(METER_CBS, PARAM(cbs_mantissa)),
	MODIFY(METER_CIR, PARAM(cir_exponent)),
	MODIFY(METER_CIR, PARAM(cir_mantissa)),
	MODIFY(METER_EBS, PARAM(ebs_exponent)),
	MODIFY(METER_EBS, PARAM(ebs_mantissa)),
	MODIFY(METER_EIR, PARAM(eir_exponent)),
	MODIFY(METER_EIR, PARAM(eir_mantissa)),
	FIELDS_END,
};

static enum syn check_meter(struct gen_change *c)
{
	return is_table(c, PRM_GET(&c->next, flow_meter, destination_table_id), PRM_GET(&c->next, flow_meter, table_type)) ?
		       SYN_OK : SYN_FT;
}

/* DPDK, drivers/common/mlx5/mlx5_prm.h: MLX5_IFC_MODIFY_STC_FIELD_SELECT_NEW_STC. */
#define NEW_STC 0x1

static const struct gen_field stc[] = {
	MODIFY(NEW_STC, CTX_PLACE(stc, reparse_mode)),
	MODIFY(NEW_STC, CTX_PLACE(stc, ste_action_offset)),
	MODIFY(NEW_STC, CTX_PLACE(stc, action_type)),
	MODIFY(NEW_STC, CTX_PLACE(stc, stc_param)),
	FIELDS_END,
};

static const struct gen_field rtc[] = {
	REF(OBJ_PD, CTX_PLACE(rtc, pd)),
	REF(OBJ_STC, CTX_PLACE(rtc, stc_id)),
	REF(OBJ_STE, CTX_PLACE(rtc, ste_table_base_id)),
	OPT_REF(OBJ_DEFINER, CTX_PLACE(rtc, match_definer_0)),
	OPT_REF(OBJ_DEFINER, CTX_PLACE(rtc, match_definer_1)),
	OPT_REF(OBJ_FLOW_TABLE, CTX_PLACE(rtc, miss_flow_table_id)),
	MAX(RTC_LOG_DEPTH, SYN_RTC_DEPTH, CTX_PLACE(rtc, log_depth)),
	FIELDS_END,
};

/*
 * Which profiles: ASO objects, definers and steering by work requests begin with ConnectX-6 Dx (DPDK, doc/guides/nics/mlx5.rst,
 * and rdma-core's checks of steering formats); options, samplers and the first kind of meter are older. The rest is inferred.
 */
const struct gen_type gen_flow[] = {
	{ .type = 0x0a, .obj = OBJ_METER, .profiles = ALL_PROFILES, GEN_LAYOUT(flow_meter), .fields = meter, .check = check_meter },
	{ .type = 0x0b, .obj = OBJ_GENEVE_TLV, .profiles = ALL_PROFILES, GEN_LAYOUT(geneve_tlv_option), .fields = geneve_tlv,
	  .check = check_geneve_tlv, .show = show_geneve_tlv },
	{ .type = 0x18, .obj = OBJ_DEFINER, .profiles = CX6DX | CX7 | BF3, GEN_LAYOUT(match_definer), .fields = none,
	  .check = check_definer },
	{ .type = 0x20, .obj = OBJ_SAMPLER, .profiles = ALL_PROFILES, .layout = "sampler_obj", .bytes = PRM_SZ(sampler_obj),
	  .min = PRM_SZ(flow_sampler), .fields = sampler, .check = check_sampler },
	{ .type = 0x22, .obj = OBJ_FLEX_NODE, .profiles = CX6DX | CX7 | BF3, GEN_LAYOUT(parse_graph_flex),
	  .fields = none, .check = check_flex, .show = show_flex },
	{ .type = 0x23, .obj = OBJ_MODIFY_ARG, .profiles = CX6DX | CX7 | BF3, .log_range = GEN_LOG_RANGE,
	  GEN_LAYOUT(modify_header_arg), .no_select = true, .fields = modify_arg },
	{ .type = 0x24, .obj = OBJ_METER_ASO, .profiles = CX6DX | CX7 | BF3, .log_range = GEN_LOG_RANGE,
	  GEN_LAYOUT(flow_meter_aso), .fields = meter_aso },
	{ .type = 0x25, .obj = OBJ_HIT_ASO, .profiles = CX6DX | CX7 | BF3, .log_range = GEN_LOG_RANGE, GEN_LAYOUT(flow_hit_aso),
	  .fields = hit_aso },
	{ .type = 0x31, .obj = OBJ_CONN_TRACK, .profiles = CX6DX | CX7 | BF3, .log_range = GEN_LOG_RANGE,
	  GEN_LAYOUT(conn_track_offload), .fields = conn_track },
	{ .type = 0x40, .obj = OBJ_STC, .profiles = CX6DX | CX7 | BF3, .log_range = GEN_LOG_RANGE, GEN_LAYOUT(stc),
	  .fields = stc },
	{ .type = 0x41, .obj = OBJ_RTC, .profiles = CX6DX | CX7 | BF3, GEN_LAYOUT(rtc), .fields = rtc },
	{ .type = 0x42, .obj = OBJ_STE, .profiles = CX6DX | CX7 | BF3, .log_range = GEN_LOG_RANGE, GEN_LAYOUT(ste),
	  .fields = none },
	{ .type = 0x43, .obj = OBJ_MODIFY_PATTERN, .profiles = CX6DX | CX7 | BF3, GEN_LAYOUT(header_modify_pattern_in),
	  .fields = none, .check = check_pattern },
	{ .obj = OBJ_NONE },
};
