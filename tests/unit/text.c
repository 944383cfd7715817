/* SPDX-License-Identifier: BSD-2-Clause */
/* Boxes as text: nothing is lost, nothing outside is read, paths lead to what they name; and tables of syndromes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "text.h"

static const char *text_of(const struct prm_what *what, const void *box, size_t len, const struct prm_style *style)
{
	static char buf[1 << 20];

	assert_true(prm_text_buf(what, box, len, style, buf, sizeof(buf)) < sizeof(buf));
	return buf;
}

static void has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no \"%s\" in:\n%s", part, text);
}

static void inbox(void **state)
{
	uint8_t in[PRM_SZ(create_cq_in) + 20] = { 0 };
	struct prm_box b = prm_out(in, sizeof(in)), cqc = PRM_SUB(&b, create_cq_in, cq_context);
	struct prm_what what;

	PRM_SET(&b, create_cq_in, opcode, PRM_OP_CREATE_CQ);
	PRM_SET(&b, create_cq_in, cq_umem_id, 12);
	PRM_SET(&cqc, cqc, log_cq_size, 4);
	PRM_SET(&cqc, cqc, cqe_sz, 1);
	prm_set(&b, PRM_SZ(create_cq_in) * 8 + 64, 64, 0x1234000);
	in[sizeof(in) - 1] = 0x5a;
	prm_set(&b, 128 + 12, 1, 1); /* no field */
	assert_false(b.bad || cqc.bad);
	what = prm_what_of(in, sizeof(in));
	assert_string_equal(text_of(&what, in, sizeof(in), NULL),
		"CREATE_CQ (0x400) inbox, 292 bytes\n"
		"  opcode = 0x400 (CREATE_CQ)\n"
		"  uid = 0\n"
		"  op_mod = 0\n"
		"  cq_context.cqe_sz = 1 (128_BYTES)\n"
		"  cq_context.log_cq_size = 4\n"
		"  not defined in cq_context, dword at 0x0010: 0x00080000\n"
		"  cq_umem_offset = 0\n"
		"  cq_umem_id = 0xc (12)\n"
		"  cq_umem_valid = 0\n"
		"  pas[1] = 0x1234000 (19087360)\n"
		"  not described, from 0x0120 on, 4 bytes:\n"
		"    0x0120: 0000005a\n"
		"  (33 fields that are 0 are left out)\n");
	has(text_of(&what, in, 20, NULL), "CREATE_CQ (0x400) inbox, 20 bytes, cut off: the layout has 272\n");
	has(text_of(&what, in, sizeof(in), &(struct prm_style){ .zeros = true }), "  cq_context.cqe_comp_en = 0\n");
	in[0] = 0x7f;
	what = prm_what_of(in, sizeof(in));
	has(text_of(&what, in, sizeof(in), NULL), "unknown command (0x7f00) inbox, 292 bytes\n"
		"  not described, from 0x0000 on, 292 bytes:\n");
	has(text_of(&what, in, sizeof(in), NULL), "    *\n");
}

static void outbox(void **state)
{
	uint8_t in[16] = { 0 }, out[64] = { 0 };
	struct prm_box i = prm_out(in, sizeof(in)), o = prm_out(out, sizeof(out));
	struct prm_syndromes *s = prm_syndromes_new();
	struct prm_style style = { .syndromes = s };
	struct prm_what what;
	unsigned int line;
	const char *why;

	assert_true(prm_syndromes_add(s, "0x2c4154 the qp is gone\n", 24, &line, &why));
	PRM_SET(&i, alloc_flow_counter_in, opcode, PRM_OP_ALLOC_FLOW_COUNTER);
	PRM_SET(&o, alloc_flow_counter_out, status, PRM_STAT_NO_RES_ERR);
	PRM_SET(&o, alloc_flow_counter_out, syndrome, 0x2c4154);
	PRM_SET(&o, alloc_flow_counter_out, flow_counter_id, 7);
	what = prm_what_of(in, sizeof(in));
	what.out = true;
	assert_string_equal(text_of(&what, out, 16, &style),
		"ALLOC_FLOW_COUNTER (0x939) outbox, 16 bytes: no resources, errno EAGAIN\n"
		"  status = 0xf (NO_RES_ERR)\n"
		"  syndrome = 0x2c4154 (the qp is gone)\n"
		"  flow_counter_id = 7\n");
	has(text_of(&what, out, sizeof(out), &style), "  not described, from 0x0010 on, 48 bytes of 0\n");
	has(text_of(&what, out, 3, &style), "outbox, 3 bytes, cut off: the layout has 16: no resources, errno EAGAIN\n  status = 0xf");
	what.known = false;
	has(text_of(&what, out, 16, &style), "outbox of an unknown command, 16 bytes: no resources, errno EAGAIN\n");
	out[0] = 0;
	has(text_of(&what, out, 16, &style), "16 bytes: OK\n");
	assert_int_equal(prm_text_buf(&what, out, 0, &style, NULL, 0),
			 strlen("outbox of an unknown command, 0 bytes, cut off: the layout has 16\n"));
	prm_syndromes_free(s);
}

struct wanted {
	const char *path;
	uint64_t value;
};

static bool looks_for(void *arg, const struct prm_item *item)
{
	struct wanted *w = arg;

	if (item->kind == PRM_ITEM_FIELD && !strcmp(w->path, item->path))
		w->value = item->value;
	return true;
}

static void chosen_forms(void **state)
{
	uint8_t box[4112] = { 0 };
	struct prm_box b = prm_out(box, sizeof(box)), sub, leaf;
	struct prm_what what = { .out = true, .known = true, .opcode = PRM_OP_QUERY_HCA_CAP, .op_mod = 0x4 << 1 | 1 };
	struct wanted dct = { "event_data.dct_events.dct_number", 0 };

	/* A capability page is that of the type. */
	sub = PRM_SUB(&b, query_hca_cap_out, capability);
	PRM_SET(&sub, roce_cap, r_roce_dest_udp_port, 4791);
	PRM_SET(&sub, roce_cap, l3_type, 6);
	has(text_of(&what, box, sizeof(box), NULL), "  capability.roce_cap.r_roce_dest_udp_port = 0x12b7 (4791)\n");
	has(text_of(&what, box, sizeof(box), NULL), "l3_type = 6 (IPV4|IPV6)\n");
	what.op_mod = 0x20 << 1;
	has(text_of(&what, box, sizeof(box), NULL), "  capability.cmd_hca_cap_2.");
	/* What an event carries is that of its type. */
	memset(box, 0, sizeof(box));
	PRM_SET(&b, eqe, event_type, 0x1c);
	sub = PRM_SUB(&b, eqe, event_data);
	PRM_SET(&sub, dct_events, dct_number, 3);
	prm_walk_layout(prm_layout("eqe"), box, PRM_SZ(eqe), looks_for, &dct);
	assert_int_equal(dct.value, 3);
	/* A general object is that of obj_type. */
	memset(box, 0, sizeof(box));
	PRM_SET(&b, general_obj_in_cmd_hdr, opcode, PRM_OP_CREATE_GENERAL_OBJECT);
	PRM_SET(&b, general_obj_in_cmd_hdr, obj_type, 0xd);
	sub = PRM_SUB(&b, create_virtq_in, virtq);
	PRM_SET(&sub, virtio_net_q, modify_field_select, 0x11);
	what = prm_what_of(box, PRM_SZ(create_virtq_in));
	has(text_of(&what, box, PRM_SZ(create_virtq_in), NULL), "  obj.modify_field_select = 0x11 (STATE|DIRTY_BITMAP_DUMP_ENABLE)\n");
	has(text_of(&what, box, PRM_SZ(create_virtq_in), NULL), "  obj_type = 0xd (VIRTIO_NET_Q)\n");
	/* Destinations come before counters, as many as the context says, of 8 bytes. */
	memset(box, 0, sizeof(box));
	PRM_SET(&b, set_fte_in, opcode, PRM_OP_SET_FLOW_TABLE_ENTRY);
	sub = prm_out(box + 64, PRM_SZ(flow_context) + 24);
	PRM_SET(&sub, flow_context, destination_list_size, 2);
	PRM_SET(&sub, flow_context, flow_counter_list_size, 1);
	leaf = prm_out(box + 64 + PRM_SZ(flow_context), 8);
	PRM_SET(&leaf, dest_format, destination_type, 2);
	PRM_SET(&leaf, dest_format, destination_id, 5);
	leaf = prm_out(box + 64 + PRM_SZ(flow_context) + 16, 8);
	PRM_SET(&leaf, flow_counter_list, flow_counter_id, 9);
	what = prm_what_of(box, 900);
	has(text_of(&what, box, 900, NULL), "  flow_context.destination[0].destination_type = 2 (TIR)\n");
	has(text_of(&what, box, 900, NULL), "  flow_context.destination[2].flow_counter_id = 9\n");
}

/* Marks what a walk shows of a box of ones. */
struct shown {
	const struct prm_layout *layout;
	const uint8_t *box;
	size_t len;
	uint8_t *bits;
	unsigned int fields;
};

static void mark(struct shown *s, uint64_t bit, uint64_t n)
{
	assert_true(bit + n <= s->len * 8);
	for (uint64_t i = bit; i < bit + n; i++)
		s->bits[i / 8] |= (uint8_t)(0x80u >> i % 8);
}

static bool shows(void *arg, const struct prm_item *item)
{
	struct shown *s = arg;
	const struct prm_layout *in;
	struct prm_place place;
	const char *bad;

	switch (item->kind) {
	case PRM_ITEM_FIELD:
		/* The path leads to the very bits. */
		if (!prm_find(s->layout, item->path, &place, &bad, &in))
			fail_msg("%s: %s is not found, from %s on", s->layout->name, item->path, bad);
		assert_int_equal(place.width, item->width);
		assert_int_equal(place.bit / 8, item->offset);
		assert_int_equal(item->value, item->width == 64 ? UINT64_MAX : (UINT64_C(1) << item->width) - 1);
		mark(s, place.bit, place.width);
		s->fields++;
		break;
	case PRM_ITEM_UNDEFINED:
		for (uint32_t i = 0; i < item->width; i++)
			if (item->value >> (item->width - 1 - i) & 1)
				mark(s, item->offset * 8 + i, 1);
		break;
	case PRM_ITEM_BYTES:
	case PRM_ITEM_TAIL:
		assert_ptr_equal(item->p, s->box + item->offset);
		mark(s, item->offset * 8, item->len * 8);
		break;
	default:
		break;
	}
	return true;
}

/* Every layout, whole, cut at any byte, and longer than it is: each bit of a box of ones is shown, none outside it. */
static void nothing_is_lost(void **state)
{
	for (unsigned int i = 0; i < prm_n_layouts; i++) {
		const struct prm_layout *l = &prm_layouts[i];
		uint32_t step = (l->bits > 8192 ? 511 : l->bits > 1024 ? 61 : 7) * (getenv("TESTS_BRIEF") ? 8 : 1);

		for (size_t len = 0; len <= l->bits / 8 + 40; len += len % 4 ? 1 : step) {
			struct shown s = { .layout = l, .len = len, .bits = calloc(1, len + 1) };
			uint8_t *box = malloc(len + !len);

			memset(box, 0xff, len);
			s.box = box;
			prm_walk_layout(l, box, len, shows, &s);
			for (size_t k = 0; k < len; k++)
				if (s.bits[k] != 0xff)
					fail_msg("%s of %zu bytes: byte 0x%zx, bits 0x%02x are lost", l->name, len, k,
						 (unsigned int)(uint8_t)~s.bits[k]);
			free(box);
			free(s.bits);
		}
	}
}

static bool stop_at_third(void *arg, const struct prm_item *item)
{
	return ++*(unsigned int *)arg < 3;
}

static void a_visitor_can_stop(void **state)
{
	uint8_t box[PRM_SZ(create_cq_in)] = { 4 };
	struct prm_what what = prm_what_of(box, sizeof(box));
	unsigned int n = 0;

	prm_walk(&what, box, sizeof(box), stop_at_third, &n);
	assert_int_equal(n, 3);
}

static void paths(void **state)
{
	const struct prm_layout *l = prm_layout("create_cq_in"), *in;
	struct prm_place p;
	const char *bad;

	assert_true(prm_find(l, "cq_context.log_cq_size", &p, &bad, &in));
	assert_string_equal(p.layout->name, "cqc");
	assert_int_equal(p.count, 1);
	assert_true(prm_find(l, "pas[3]", &p, &bad, &in));
	assert_int_equal(p.bit, PRM_SZ(create_cq_in) * 8 + 3 * 64);
	assert_true(prm_find(l, "pas", &p, &bad, &in));
	assert_int_equal(p.count, 0);
	assert_false(prm_find(l, "cq_context.log_cq_sise", &p, &bad, &in));
	assert_string_equal(bad, "log_cq_sise");
	assert_string_equal(in->name, "cqc");
	static const char *const wrong[] = {
		"", ".", "cq_context.", "cq_context..st", "cq_context[0].st", "pas[", "pas[]", "pas[x]", "pas[-1]", "pas[0]x", "pas[0].x",
		"pas[99999999999]", "pas[8192]", "opcode.x", "opcode[0]", "opcodex", "cq_contextst", "pas.0",
	};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (prm_find(l, wrong[i], &p, &bad, &in))
			fail_msg("\"%s\" was found", wrong[i]);
	assert_true(prm_find(prm_layout("general_obj_in_cmd_hdr"), "op_param.create.log_obj_range", &p, &bad, &in));
	assert_int_equal(p.bit, 96 + 3);
}

static void values(void **state)
{
	char buf[64];

	prm_text_names(0xc, &prm_enums[PRM_ENUM_flow_action], buf, sizeof(buf));
	assert_string_equal(buf, "FWD_DEST|COUNT");
	prm_text_names(0x8008, &prm_enums[PRM_ENUM_flow_action], buf, sizeof(buf));
	assert_string_equal(buf, "COUNT|0x8000");
	prm_text_names(0xc, &prm_enums[PRM_ENUM_flow_action], buf, 5);
	assert_string_equal(buf, "FWD_");
	prm_text_names(0x8000, &prm_enums[PRM_ENUM_flow_action], buf, sizeof(buf));
	assert_string_equal(buf, "");
	prm_text_names(0x0c, &prm_enums[PRM_ENUM_qpc_state], buf, sizeof(buf));
	assert_string_equal(buf, "");
	/* bits, not masks: SRC_IP is bit 0. */
	prm_text_names(0x3, &prm_enums[PRM_ENUM_rx_hash_fields], buf, sizeof(buf));
	assert_string_equal(buf, "SRC_IP|DST_IP");
	for (unsigned int i = 0; i < prm_n_enums; i++)
		for (unsigned int k = 1; k < prm_enums[i].n_values; k++)
			assert_true(prm_enums[i].values[k].value >= prm_enums[i].values[k - 1].value);
}

static void syndromes(void **state)
{
	static const char good[] = "# ours\n\n 0x10 ten and six \r\n17\tseventeen\n0x20-0x2f a range\n4294967295 last";
	static const struct { const char *text; unsigned int line; } wrong[] = {
		{ "x y", 1 }, { "1", 1 }, { "1 a\n0x", 2 }, { "1 a\n\n4294967296 b", 3 }, { "-1 a", 1 }, { "5-4 a", 1 }, { "5- a", 1 },
		{ "0x1g a", 1 }, { "1a", 1 }, { "1 a\x01" "b", 1 }, { "1 a\x1b[31m", 1 }, { "99999999999999999999999999 a", 1 },
	};
	struct prm_syndromes *s = prm_syndromes_new();
	char *big = malloc(6000);
	unsigned int line;
	const char *why;

	assert_true(prm_syndromes_add(s, good, sizeof(good) - 1, &line, &why));
	assert_string_equal(prm_syndrome(s, 0x10), "ten and six");
	assert_string_equal(prm_syndrome(s, 17), "seventeen");
	assert_string_equal(prm_syndrome(s, 0x2f), "a range");
	assert_string_equal(prm_syndrome(s, UINT32_MAX), "last");
	assert_null(prm_syndrome(s, 0x30));
	assert_null(prm_syndrome(NULL, 0x10));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		why = NULL;
		assert_false(prm_syndromes_add(s, wrong[i].text, strlen(wrong[i].text), &line, &why));
		assert_int_equal(line, wrong[i].line);
		assert_non_null(why);
		assert_null(prm_syndrome(s, 1)); /* what came before the wrong line was not added */
	}
	/* The later table goes before; a zero byte is no text; a line has a length. */
	assert_true(prm_syndromes_add(s, "16 new", 6, &line, &why));
	assert_string_equal(prm_syndrome(s, 16), "new");
	assert_false(prm_syndromes_add(s, "1 a\0b", 5, &line, &why));
	memset(big, 'a', 6000);
	big[0] = '1';
	big[1] = ' ';
	assert_false(prm_syndromes_add(s, big, 6000, &line, &why));
	free(big);
	prm_syndromes_free(s);
	prm_syndromes_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inbox), cmocka_unit_test(outbox), cmocka_unit_test(chosen_forms), cmocka_unit_test(nothing_is_lost),
		cmocka_unit_test(a_visitor_can_stop), cmocka_unit_test(paths), cmocka_unit_test(values), cmocka_unit_test(syndromes),
	};

	return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
