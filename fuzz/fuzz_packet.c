/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A frame on its way through receive tables. The input begins with what the tables are made of: masks, values that are cut out
 * of the frame's own fields so that entries match, actions, headers to put on. The frame is what is left of it.
 * Checked: the packet goes where a search through all entries of the first table says; its way ends exactly once.
 */
#include <string.h>

#include "fuzz.h"
#include "steer.h"

#define TABLES 3u
#define GROUPS 3u
#define ENTRIES 2u /* of a group */
#define FRAME_MAX 2048u

struct reader {
	const uint8_t *p;
	size_t left;
};

struct world {
	struct hca *h;
	struct reader in;
	struct image seen; /* of the frame as it arrives */
	uint32_t table[TABLES];
	struct { uint64_t mask[IMAGE_WORDS], value[IMAGE_WORDS]; bool there; uint32_t counter; } rule[GROUPS * ENTRIES]; /* of table 0 */
	uint8_t box[2048], out[1024];
};

static uint32_t take(struct world *w, unsigned int bytes)
{
	uint32_t v = 0;

	while (bytes-- && w->in.left) {
		v = v << 8 | *w->in.p++;
		w->in.left--;
	}
	return v;
}

static struct prm_box inbox(struct world *w, uint16_t opcode, uint32_t len)
{
	struct prm_box b = prm_out(w->box, len);

	memset(w->box, 0, len);
	PRM_SET(&b, nop_in, opcode, opcode);
	prm_set(&b, 16, 16, 1); /* uid */
	return b;
}

/* The object's id, which all outboxes have at one place; 0: refused. */
static uint32_t run(struct world *w, struct prm_box *b)
{
	struct prm_box out = prm_in(w->out, sizeof(w->out));

	hca_execute(w->h, b->p, b->len, w->out, sizeof(w->out));
	return PRM_GET(&out, nop_out, status) ? 0 : (uint32_t)prm_get(&out, 64, 32) | 1u << 31;
}

static uint32_t make_table(struct world *w, uint32_t level)
{
	struct prm_box b = inbox(w, PRM_OP_CREATE_FLOW_TABLE, PRM_SZ(create_flow_table_in));
	struct prm_box ctx = PRM_SUB(&b, create_flow_table_in, flow_table_context);

	PRM_SET(&ctx, flow_table_context, level, level);
	PRM_SET(&ctx, flow_table_context, log_size, 8);
	PRM_SET(&ctx, flow_table_context, reformat_en, 1);
	PRM_SET(&ctx, flow_table_context, decap_en, 1);
	if (level + 1 < TABLES) { /* made before: tables come from the highest level down */
		PRM_SET(&ctx, flow_table_context, table_miss_action, 1);
		PRM_SET(&ctx, flow_table_context, table_miss_id, w->table[level + 1]);
	}
	return run(w, &b) & 0xffffff;
}

/* A few bytes of the mask, where the parser has fields. */
static uint32_t make_group(struct world *w, uint32_t level, uint32_t n)
{
	struct prm_box b = inbox(w, PRM_OP_CREATE_FLOW_GROUP, PRM_SZ(create_flow_group_in));
	struct prm_box mask = PRM_SUB(&b, create_flow_group_in, match_criteria);
	uint32_t enable = take(w, 1) & 0x1f;

	for (unsigned int i = take(w, 1) % 8; i > 0; i--) {
		unsigned int at = take(w, 2) % (5 * PRM_SZ(fte_match_set_misc));

		mask.p[at] = (uint8_t)(take(w, 1) & w->h->steer->known.byte[at]);
	}
	PRM_SET(&b, create_flow_group_in, table_id, w->table[level]);
	PRM_SET(&b, create_flow_group_in, start_flow_index, n * 16);
	PRM_SET(&b, create_flow_group_in, end_flow_index, n * 16 + 15);
	PRM_SET(&b, create_flow_group_in, match_criteria_enable, enable);
	for (unsigned int i = 0; !level && i < ENTRIES; i++)
		for (unsigned int k = 0; k < PRM_SZ(fte_match_param); k++)
			if (enable >> (k / PRM_SZ(fte_match_set_misc)) & 1)
				((uint8_t *)w->rule[n * ENTRIES + i].mask)[k] = mask.p[k];
	return run(w, &b) & 0xffffff;
}

static uint32_t make_context(struct world *w)
{
	struct prm_box b = inbox(w, PRM_OP_ALLOC_PACKET_REFORMAT_CONTEXT, 34 + 64), ctx = prm_out(w->box + 28, 6);

	PRM_SET(&ctx, packet_reformat_context_in, reformat_type, take(w, 1) % 0x11);
	PRM_SET(&ctx, packet_reformat_context_in, reformat_param_0, take(w, 1));
	PRM_SET(&ctx, packet_reformat_context_in, reformat_param_1, take(w, 1));
	PRM_SET(&ctx, packet_reformat_context_in, reformat_data_size, take(w, 1));
	for (unsigned int i = take(w, 1) % 32; i > 0; i--)
		w->box[34 + take(w, 1) % 64] = (uint8_t)take(w, 1);
	return run(w, &b) & 0x7fffffff;
}

static uint32_t make_modify(struct world *w)
{
	uint32_t n = 1 + take(w, 1) % 4;
	struct prm_box b = inbox(w, PRM_OP_ALLOC_MODIFY_HEADER_CONTEXT, PRM_SZ(alloc_modify_header_context_in) + n * 8);

	PRM_SET(&b, alloc_modify_header_context_in, num_of_actions, n);
	for (uint32_t i = 0; i < n; i++) {
		struct prm_box a = prm_out(b.p + PRM_SZ(alloc_modify_header_context_in) + i * 8, 8);

		prm_set(&a, 0, 4, 1 + take(w, 1) % 3);
		prm_set(&a, 4, 12, take(w, 1));
		prm_set(&a, 16, 16, take(w, 2));
		prm_set(&a, 32, 32, take(w, 4));
	}
	return run(w, &b) & 0x7fffffff;
}

static uint32_t make_counter(struct world *w)
{
	struct prm_box b = inbox(w, PRM_OP_ALLOC_FLOW_COUNTER, PRM_SZ(alloc_flow_counter_in));

	return run(w, &b) & 0x7fffffff;
}

static void make_entry(struct world *w, uint32_t level, uint32_t group, uint32_t index, uint32_t rule)
{
	uint32_t action = take(w, 2), reformat = make_context(w), modify = make_modify(w), counter = make_counter(w);
	struct prm_box b = inbox(w, PRM_OP_SET_FLOW_TABLE_ENTRY, PRM_SZ(set_fte_in) + 16), ctx, value, item;
	bool last = level + 1 == TABLES;
	uint8_t *raw = w->box + PRM_SZ(set_fte_in);

	ctx = PRM_SUB(&b, set_fte_in, flow_context);
	value = PRM_SUB(&ctx, flow_context, match_value);
	memcpy(value.p, w->seen.byte, sizeof(w->seen.byte));
	if (take(w, 1) & 1)
		value.p[take(w, 2) % sizeof(w->seen.byte)] ^= (uint8_t)take(w, 1);
	action &= FTE_REFORMAT | FTE_DECAP | FTE_MODIFY | FTE_VLAN_POP | FTE_VLAN_PUSH | FTE_VLAN_POP_2 | FTE_VLAN_PUSH_2;
	action |= FTE_COUNT | (last ? FTE_DROP : FTE_FWD);
	PRM_SET(&b, set_fte_in, table_id, w->table[level]);
	PRM_SET(&b, set_fte_in, flow_index, index);
	PRM_SET(&ctx, flow_context, group_id, group);
	PRM_SET(&ctx, flow_context, action, action);
	PRM_SET(&ctx, flow_context, push_vlan, 0x81000000u | take(w, 2));
	PRM_SET(&ctx, flow_context, push_vlan_2, 0x88a80000u | take(w, 2));
	PRM_SET(&ctx, flow_context, packet_reformat_id, reformat);
	PRM_SET(&ctx, flow_context, modify_header_id, modify);
	PRM_SET(&ctx, flow_context, flow_counter_list_size, 1);
	if (!last) {
		item = prm_out(raw, 8);
		PRM_SET(&ctx, flow_context, destination_list_size, 1);
		PRM_SET(&item, dest_format, destination_type, 1);
		PRM_SET(&item, dest_format, destination_id, w->table[level + 1]);
		raw += 8;
	}
	item = prm_out(raw, 8);
	PRM_SET(&item, flow_counter_list, flow_counter_id, counter);
	if (!level)
		memcpy(w->rule[rule].value, value.p, sizeof(w->rule[rule].value));
	if (run(w, &b) && !level) {
		w->rule[rule].there = true;
		w->rule[rule].counter = counter;
	}
}

static bool rule_matches(const struct world *w, uint32_t rule)
{
	for (unsigned int i = 0; i < IMAGE_WORDS; i++)
		if ((w->seen.word[i] ^ w->rule[rule].value[i]) & w->rule[rule].mask[i])
			return false;
	return w->rule[rule].there;
}

static void check_first(struct world *w, size_t len)
{
	bool found = false;

	for (uint32_t i = 0; i < GROUPS * ENTRIES; i++) {
		struct flow_counter *fc;
		uint64_t want = !found && rule_matches(w, i);

		if (!w->rule[i].there)
			continue;
		fc = (struct flow_counter *)obj_find(w->h, OBJ_FLOW_COUNTER, w->rule[i].counter, 1);
		FUZZ_CHECK(fc && fc->values->packets == want && fc->values->octets == want * len);
		found = found || want;
	}
}

static bool iana_port(const void *arg, uint16_t port)
{
	return port == 4789;
}

static void tables(struct world *w)
{
	struct prm_box b = inbox(w, PRM_OP_CREATE_UCTX, PRM_SZ(create_uctx_in));

	prm_set(&b, 16, 16, 0);
	FUZZ_CHECK(run(w, &b));
	for (uint32_t level = TABLES; level-- > 0;)
		w->table[level] = make_table(w, level);
	for (uint32_t level = 0; level < TABLES; level++) {
		for (uint32_t g = 0; g < GROUPS; g++) {
			uint32_t group = make_group(w, level, g);

			for (uint32_t e = 0; e < ENTRIES; e++)
				make_entry(w, level, group, g * 16 + e, g * ENTRIES + e);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct hca_config config = { .profile = HCA_CX7, .timeout = 1000000000 };
	static const struct hca_host none;
	static const uint32_t regs[METADATA_REGS];
	size_t len = size / 2 < FRAME_MAX ? size / 2 : FRAME_MAX;
	struct world *w = calloc(1, sizeof(*w));
	uint8_t *frame = malloc(len ? len : 1);
	struct hca_packet result;
	struct parsed parsed;

	FUZZ_CHECK(w && frame);
	memcpy(frame, data, len); /* to the byte, so that a sanitizer sees what strays */
	w->in = (struct reader){ .p = data + len, .left = size - len };
	w->h = hca_new(&config, &none, NULL);
	FUZZ_CHECK(w->h);
	parse_frame(frame, len, regs, iana_port, NULL, &parsed, &w->seen);
	for (unsigned int i = 0; i < IMAGE_WORDS; i++)
		FUZZ_CHECK(!(w->seen.word[i] & ~w->h->steer->known.word[i])); /* the parser fills what can be matched, no more */
	tables(w);
	FUZZ_CHECK(hca_packet(w->h, frame, len, 1, &result) == (len >= HCA_FRAME_MIN));
	if (len >= HCA_FRAME_MIN) {
		FUZZ_CHECK(result.walks == 1 && result.dropped + result.missed == 1 && !result.delivered && !result.allowed);
		check_first(w, len);
	}
	hca_free(w->h);
	free(frame);
	free(w);
	return 0;
}
