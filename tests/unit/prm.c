/* SPDX-License-Identifier: BSD-2-Clause */
/* Field access against a bit-by-bit one, and the layout table: against itself, and against one made from public headers. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "prm.h"

static const char *reference; /* prm-layouts.tsv */

static uint64_t slow_get(const uint8_t *p, uint32_t bit, uint32_t width)
{
	uint64_t v = 0;

	for (uint32_t i = bit; i < bit + width; i++)
		v = v << 1 | (p[i / 8] >> (7 - i % 8) & 1);
	return v;
}

static uint64_t cut(uint64_t v, uint32_t width)
{
	return width == 64 ? v : v & ((UINT64_C(1) << width) - 1);
}

static void get_everywhere(void **state)
{
	uint8_t buf[24] = { 0 };
	struct prm_box b = prm_in(buf, sizeof(buf));

	for (size_t i = 0; i < sizeof(buf); i++)
		buf[i] = (uint8_t)(i * 89 + 37);
	for (uint32_t bit = 0; bit <= 128; bit++)
		for (uint32_t width = 1; width <= 64; width++)
			assert_int_equal(prm_get(&b, bit, width), slow_get(buf, bit, width));
	assert_false(b.bad);
}

static void set_everywhere(void **state)
{
	const uint64_t value = UINT64_C(0x9e3779b97f4a7c15);
	uint8_t buf[24], want[24];
	struct prm_box b = prm_out(buf, sizeof(buf));

	for (uint32_t bit = 0; bit <= 128; bit++) {
		for (uint32_t width = 1; width <= 64; width++) {
			for (int fill = 0; fill < 2; fill++) {
				memset(buf, fill ? 0xff : 0, sizeof(buf));
				memcpy(want, buf, sizeof(buf));
				for (uint32_t i = 0; i < width; i++) {
					uint8_t mask = (uint8_t)(0x80u >> (bit + i) % 8);

					want[(bit + i) / 8] &= (uint8_t)~mask;
					if (value >> (width - 1 - i) & 1)
						want[(bit + i) / 8] |= mask;
				}
				prm_set(&b, bit, width, value); /* too wide: cut */
				assert_memory_equal(buf, want, sizeof(buf));
				assert_int_equal(prm_get(&b, bit, width), cut(value, width));
			}
		}
	}
	assert_false(b.bad);
}

static void outside(void **state)
{
	uint8_t buf[16] = { 0xff, [15] = 0xff };
	struct prm_box b = prm_out(buf, 8);

	assert_int_equal(prm_get(&b, 60, 4), 0);
	assert_false(b.bad);
	assert_int_equal(prm_get(&b, 60, 5), 0);
	assert_true(b.bad);
	/* It stays so, and no access does anything any more. */
	assert_int_equal(prm_get(&b, 0, 8), 0);
	prm_set(&b, 0, 8, 0);
	assert_int_equal(buf[0], 0xff);
	b = prm_out(buf, 8);
	prm_set(&b, 64, 1, 1);
	assert_true(b.bad);
	assert_int_equal(buf[8], 0);
	b = prm_out(buf, 8);
	prm_get(&b, UINT32_MAX, 64);
	assert_true(b.bad);
	b = prm_in(buf, 8);
	prm_set(&b, 0, 8, 0);
	assert_true(b.bad);
	assert_int_equal(buf[0], 0xff);
	b = prm_in(NULL, 0);
	assert_int_equal(prm_get(&b, 0, 1), 0);
	assert_true(b.bad);
}

static void nested(void **state)
{
	uint8_t buf[16] = { 0 };
	struct prm_box b = prm_out(buf, sizeof(buf)), s = prm_sub(&b, 32, 64);

	assert_ptr_equal(s.p, buf + 4);
	assert_int_equal(s.len, 8);
	prm_set(&s, 0, 16, 0x1234);
	assert_int_equal(prm_get(&b, 32, 16), 0x1234);
	prm_get(&s, 64, 1);
	assert_true(s.bad);
	assert_false(b.bad);
	b = prm_in(buf, sizeof(buf));
	s = prm_sub(&b, 0, 64);
	assert_true(s.readonly);
	s = prm_sub(&b, 96, 64);
	assert_true(s.bad);
	assert_true(b.bad);
	assert_int_equal(s.len, 0);
	b = prm_in(buf, sizeof(buf));
	s = prm_sub(&b, 4, 8);
	assert_true(b.bad);
}

static void undefined_bits(void **state)
{
	const struct prm_layout *l = prm_layout("create_cq_in");
	uint8_t in[272 + 16] = { 0 };
	struct prm_box b = prm_out(in, sizeof(in));
	struct prm_box cqc = PRM_SUB(&b, create_cq_in, cq_context);

	assert_non_null(l);
	assert_int_equal(prm_first_undefined(l, in, sizeof(in)), -1);
	memset(in, 0xff, 8); /* the header belongs to dispatch */
	memset(in + 272, 0xff, 16); /* the pas list at the end */
	PRM_SET(&cqc, cqc, log_cq_size, 31);
	PRM_SET(&b, create_cq_in, cq_umem_valid, 1);
	assert_int_equal(prm_first_undefined(l, in, sizeof(in)), -1);
	prm_set(&b, 128 + 12, 1, 1); /* between cc and scqe_break_moderation_en of the cqc */
	assert_int_equal(prm_first_undefined(l, in, sizeof(in)), 128 + 12);
	prm_set(&b, 64, 1, 1);
	assert_int_equal(prm_first_undefined(l, in, sizeof(in)), 64);
}

static void commands(void **state)
{
	for (unsigned int i = 0; i < prm_n_opcodes; i++) {
		const struct prm_command *c = &prm_opcodes[i], *o = prm_command(c->other);

		assert_ptr_equal(prm_command(c->value), c);
		switch (c->call) {
		case PRM_CALL_CREATE:
			assert_int_equal(o->call, PRM_CALL_DESTROY);
			assert_int_equal(o->other, c->value);
			/* What destroys an object is made from what created it: both inboxes are known. */
			assert_true(c->in >= 0 && c->out >= 0 && o->in >= 0);
			assert_true(c->id_width && c->id_bit + c->id_width <= prm_layouts[c->id_in_inbox ? c->in : c->out].bits);
			break;
		case PRM_CALL_MODIFY:
		case PRM_CALL_QUERY:
		case PRM_CALL_DESTROY:
			assert_int_equal(o->call, PRM_CALL_CREATE);
			assert_true(c->id_width && c->id_in_inbox);
			break;
		default:
			assert_int_equal(c->other, 0);
			assert_int_equal(c->id_width, 0);
		}
	}
	assert_int_equal(prm_command(PRM_OP_QUERY_FLOW_COUNTER)->id_bit, 224);
}

static void copies_what_is_defined(void **state)
{
	uint8_t in[272] = { 0 }, cqc[64], want[64] = { 0 };
	struct prm_box b = prm_in(in, sizeof(in));
	const struct prm_layout *l = prm_layout("cqc");

	memset(in, 0xff, sizeof(in));
	memset(cqc, 0x5a, sizeof(cqc));
	PRM_COPY(&b, create_cq_in, cq_context, cqc);
	assert_false(b.bad);
	for (unsigned int i = 0; i < l->n_fields; i++)
		for (uint32_t bit = l->fields[i].bit; bit < l->fields[i].bit + l->fields[i].width * l->fields[i].count; bit++)
			want[bit / 8] |= (uint8_t)(0x80u >> bit % 8);
	assert_memory_equal(cqc, want, sizeof(cqc));
	assert_int_equal(cqc[1] & 0x18, 0x10); /* cc, and beside it nothing */
	b = prm_in(in, 40); /* cut: the rest reads as zero */
	PRM_COPY(&b, create_cq_in, cq_context, cqc);
	assert_true(b.bad);
}

static void names(void **state)
{
	for (unsigned int i = 0; i < prm_n_opcodes; i++) {
		assert_string_equal(prm_opcode_name((uint16_t)prm_opcodes[i].value), prm_opcodes[i].name);
		if (i)
			assert_true(prm_opcodes[i].value > prm_opcodes[i - 1].value);
	}
	assert_null(prm_opcode_name(0xffff));
	assert_string_equal(prm_inbox_layout(PRM_OP_CREATE_CQ)->name, "create_cq_in");
	assert_string_equal(prm_inbox_layout(PRM_OP_2ERR_QP)->name, "qp_2err_in");
	assert_string_equal(prm_inbox_layout(PRM_OP_2RST_QP)->name, "qp_2rst_in");
	assert_string_equal(prm_outbox_layout(PRM_OP_QUERY_FLOW_TABLE_ENTRY)->name, "query_fte_out");
	assert_null(prm_inbox_layout(0xffff));
	assert_null(prm_outbox_layout(PRM_OP_MODIFY_XRQ));
	assert_null(prm_command(0));
	assert_string_equal(prm_value(&prm_enums[PRM_ENUM_qpc_state], 3)->name, "RTS");
	assert_null(prm_value(&prm_enums[PRM_ENUM_qpc_state], 0xf));
	assert_string_equal(prm_value(&prm_enums[PRM_ENUM_status], PRM_STAT_LIM_ERR)->name, "LIM_ERR");
	assert_null(prm_layout("no such layout"));
	assert_string_equal(prm_status_name(PRM_STAT_LIM_ERR), "limits exceeded");
	assert_string_equal(prm_status_name(0x77), "unknown status");
	assert_int_equal(prm_status_errno(PRM_STAT_NO_RES_ERR), EAGAIN);
	assert_int_equal(prm_status_errno(0x77), EIO);
}

/* Layouts in which fields lie over each other: unions, and fields that the headers name twice. */
static const char *const overlapping[] = {
	"alias_context", "allow_other_vhca_access_in", "cmd_hca_cap", "cmd_hca_cap_2", "cong_control_roce_ecn_auto", "cqc",
	"create_qp_in", "dest_format_flow_counter_list_auto", "element_attributes", "eth_cntrs_grp_data_layout_auto",
	"event_auto", "field_select_802_1_r_roce_auto", "flow_table_context", "flow_table_fields_supported",
	"flow_table_nic_cap", "flow_table_prop_layout", "ft_fields_support", "ft_fields_support_2", "general_obj_in_cmd_hdr",
	"gre_key", "hca_cap_union", "init2init_qp_in", "ipv6_layout_ipv4_layout_auto", "match_definer", "mcam_reg",
	"mcqi_reg_data", "modify_field_select_resize_field_select_auto", "net_function_params", "odp_cap",
	"page_fault_resume_in_page_fault_info_auto", "ports_control_registers_document", "qp_pas_or_qpc_ext_and_pas",
	"query_qp_out", "set_add_copy_action_in_auto", "stc_param", "virtio_emulation_cap", "wqe_based_flow_table_cap",
};

static bool may_overlap(const char *name)
{
	for (size_t i = 0; i < sizeof(overlapping) / sizeof(overlapping[0]); i++)
		if (!strcmp(overlapping[i], name))
			return true;
	return false;
}

static uint64_t end_of(const struct prm_field *f)
{
	return f->bit + (uint64_t)f->width * f->count;
}

static void table_is_sane(void **state)
{
	for (unsigned int i = 0; i < prm_n_layouts; i++) {
		const struct prm_layout *l = &prm_layouts[i];

		assert_ptr_equal(prm_layout(l->name), l);
		for (unsigned int a = 0; a < l->n_fields; a++) {
			const struct prm_field *f = &l->fields[a];

			if (f->count)
				assert_true(end_of(f) <= l->bits);
			if (f->nested >= 0 && prm_layouts[f->nested].bits && f->width)
				assert_true(f->width <= prm_layouts[f->nested].bits);
			for (unsigned int b = 0; b < a; b++) {
				const struct prm_field *o = &l->fields[b];

				assert_string_not_equal(f->name, o->name);
				if (!f->count || !o->count || o->bit >= end_of(f) || f->bit >= end_of(o))
					continue;
				if (!may_overlap(l->name))
					fail_msg("%s: %s and %s overlap", l->name, f->name, o->name);
			}
		}
	}
}

/* What the reference has and the table leaves out, printed at the end. */
static struct {
	char *text;
	size_t len;
	unsigned int layouts, fields;
} out;

static void left_out(const char *layout, const char *field)
{
	out.text = realloc(out.text, out.len + 256);
	assert_non_null(out.text);
	out.len += (size_t)snprintf(out.text + out.len, 256, " %s%s%s", layout, field ? "." : "", field ? field : "");
	out.layouts += !field;
	out.fields += !!field;
}

/* One field of the reference: a place in the table that it confirms is marked. */
static void check_field(const struct prm_layout *l, const char *line, bool *found)
{
	char name[96];
	unsigned int bit, width, count;

	if (sscanf(line, "\t%95s %u %u %u", name, &bit, &width, &count) != 4)
		fail_msg("cannot read: %s", line);
	for (unsigned int i = 0; i < l->n_fields; i++) {
		const struct prm_field *f = &l->fields[i];

		if (strcmp(f->name, name))
			continue;
		/* A header that gives a list no width says less. */
		if (f->bit == bit && (f->width == width || !width) && (f->count == count || !width))
			found[i] = true;
		return;
	}
	left_out(l->name, name);
}

/* What no public header has, with its reason in layouts.tbl. */
static bool inferred(const struct prm_layout *l, const struct prm_field *f)
{
	static const char *const fields[][2] = {
		{ "create_xrc_srq_in", "xrc_srq_umem_offset" }, { "create_xrc_srq_in", "xrc_srq_umem_id" },
		{ "modify_cq_in", "cq_umem_offset" }, { "modify_cq_in", "cq_umem_id" },
		{ "modify_tir_bitmask", "indirect_table" }, { "query_scheduling_element_out", "status" },
		{ "query_scheduling_element_out", "syndrome" }, { "initial_seg", "cmd_exec_to" }, { "initial_seg", "cmd_q_init_to" },
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (!strcmp(l->name, fields[i][0]) && !strcmp(f->name, fields[i][1]))
			return true;
	return false;
}

static void expect_found(const struct prm_layout *l, const bool *found)
{
	for (unsigned int i = 0; l && i < l->n_fields; i++)
		if (!found[i] && !inferred(l, &l->fields[i]))
			fail_msg("%s.%s (%u, %u) is placed so by no public header", l->name, l->fields[i].name,
				 l->fields[i].bit, l->fields[i].width);
}

static void against_reference(void **state)
{
	FILE *f = fopen(reference, "r");
	const struct prm_layout *l = NULL;
	unsigned int seen = 0;
	bool found[1024] = { false };
	char line[512];

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		char name[80], size[24];

		if (line[0] == '#' || line[0] == '\n')
			continue;
		if (line[0] == '\t') {
			if (l)
				check_field(l, line, found);
			continue;
		}
		expect_found(l, found);
		memset(found, 0, sizeof(found));
		assert_int_equal(sscanf(line, "%79s", name), 1);
		l = prm_layout(name);
		if (!l) {
			left_out(name, NULL);
			continue;
		}
		assert_true(l->n_fields <= sizeof(found) / sizeof(found[0]));
		seen++;
		snprintf(size, sizeof(size), "\t%u:", l->bits);
		if (!strstr(line, size) && (size[0] = ' ', !strstr(line, size)))
			fail_msg("%s: %u bits in no public header: %s", name, l->bits, line);
	}
	expect_found(l, found);
	fclose(f);
	assert_int_equal(seen, prm_n_layouts); /* each layout stands in the reference */
	print_message("%u layouts checked; %u layouts and %u fields of the reference are left out of the table:%s\n", seen,
		      out.layouts, out.fields, out.text ? out.text : "");
	free(out.text);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(get_everywhere), cmocka_unit_test(set_everywhere), cmocka_unit_test(outside),
		cmocka_unit_test(nested), cmocka_unit_test(undefined_bits), cmocka_unit_test(copies_what_is_defined), cmocka_unit_test(names), cmocka_unit_test(commands),
		cmocka_unit_test(table_is_sane), cmocka_unit_test(against_reference),
	};

	if (argc != 2)
		return 2;
	reference = argv[1];
	return cmocka_run_group_tests_name("prm", tests, NULL, NULL);
}
