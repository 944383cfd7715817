/* SPDX-License-Identifier: BSD-2-Clause */
/* What entries do to packets: later tables see it. */
#include "flow.h"

/*
 * A first table whose only entry changes every packet and sends it on; in the second one an entry for each of the values
 * that a field may then have.
 */
struct change {
	struct dev *d;
	uint16_t uid;
	uint32_t first, second, group, next_group;
	struct cmd c;
	struct pkt p;
};

static void change_begin(struct change *t, struct dev *d, uint8_t enable, uint32_t at, uint32_t width)
{
	struct prm_box ctx;
	struct cmd c;

	t->d = d;
	t->uid = new_uid(d);
	t->p.n = 0;
	table_cmd(&c, t->uid, FT_NIC_RX, 0);
	ctx = PRM_SUB(&c.i, create_flow_table_in, flow_table_context);
	PRM_SET(&ctx, flow_table_context, reformat_en, 1);
	PRM_SET(&ctx, flow_table_context, decap_en, 1);
	cmd_ok(d, &c);
	t->first = (uint32_t)OUT(&c, create_flow_table_out, table_id);
	t->second = new_table(d, t->uid, FT_NIC_RX, 1);
	t->group = new_group(d, t->uid, t->first, 0, 0);
	t->next_group = group_by(d, t->uid, t->second, 0, 99, enable, at, width);
	entry_cmd(&t->c, t->uid, t->first, t->group, 0);
}

/* Sends the packet on with that action. False: it was lost. octets: of the packet as the second table sees it. */
static bool change_end(struct change *t, uint32_t action, uint32_t at, uint32_t width, uint64_t value, uint64_t *octets)
{
	uint32_t counter = add_entry(t->d, t->uid, t->second, t->next_group, 0, at, width, value);
	struct hca_packet r;

	entry_action(&t->c, action | FTE_FWD);
	entry_dest(&t->c, DEST_TABLE, t->second);
	cmd_ok(t->d, &t->c);
	pkt_send(t->d, &t->p, &r);
	assert_int_equal(r.walks, 1);
	*octets = counted(t->d, t->uid, counter, true);
	/* Away again, so that the next one is alone. */
	entry_end(&t->c, t->uid, t->first, 0);
	cmd_ok(t->d, &t->c);
	group_end(&t->c, t->uid, t->first, t->group);
	cmd_ok(t->d, &t->c);
	table_end(&t->c, t->uid, FT_NIC_RX, t->first);
	cmd_ok(t->d, &t->c);
	entry_end(&t->c, t->uid, t->second, 0);
	cmd_ok(t->d, &t->c);
	group_end(&t->c, t->uid, t->second, t->next_group);
	cmd_ok(t->d, &t->c);
	table_end(&t->c, t->uid, FT_NIC_RX, t->second);
	cmd_ok(t->d, &t->c);
	if (counted(t->d, t->uid, counter, false) == 1)
		return true;
	assert_int_equal(r.dropped + r.missed, 1);
	return false;
}

static void vlan_actions(void **state)
{
	struct dev *d = *state;
	struct prm_box ctx, tag;
	struct change t;
	uint64_t octets;

	change_begin(&t, d, 1, AT(OUTER, L2_4(first_vid)));
	pkt_udp(&t.p, "0035");
	ctx = entry_ctx(&t.c);
	tag = PRM_SUB(&ctx, flow_context, push_vlan);
	PRM_SET(&tag, vlan, ethtype, 0x8100);
	PRM_SET(&tag, vlan, vid, 77);
	assert_true(change_end(&t, FTE_VLAN_PUSH, AT(OUTER, L2_4(first_vid)), 77, &octets));
	assert_int_equal(octets, t.p.n + 4);

	change_begin(&t, d, 2, AT(MISC_1, MISC(outer_second_vid)));
	pkt_udp(&t.p, "0035");
	ctx = entry_ctx(&t.c);
	tag = PRM_SUB(&ctx, flow_context, push_vlan);
	PRM_SET(&tag, vlan, ethtype, 0x88a8);
	PRM_SET(&tag, vlan, vid, 77);
	tag = PRM_SUB(&ctx, flow_context, push_vlan_2);
	PRM_SET(&tag, vlan, ethtype, 0x8100);
	PRM_SET(&tag, vlan, vid, 78);
	assert_true(change_end(&t, FTE_VLAN_PUSH | FTE_VLAN_PUSH_2, AT(MISC_1, MISC(outer_second_vid)), 78, &octets));
	assert_int_equal(octets, t.p.n + 8);

	for (int tags = 0; tags < 3; tags++) {
		change_begin(&t, d, 1, AT(OUTER, L2_4(first_vid)));
		pkt_eth(&t.p, tags == 2 ? "88a8 0005 8100 0006" : tags ? "8100 0006" : "");
		pkt_raw(&t.p, IPV4 IP4("11") UDP("0035"));
		assert_int_equal(change_end(&t, FTE_VLAN_POP, AT(OUTER, L2_4(first_vid)), tags == 2 ? 6 : 0, &octets), tags > 0);
		if (tags)
			assert_int_equal(octets, t.p.n - 4);
	}
	change_begin(&t, d, 1, AT(OUTER, L2_4(udp_dport)));
	pkt_eth(&t.p, "88a8 0005 8100 0006");
	pkt_raw(&t.p, IPV4 IP4("11") UDP("0035"));
	assert_true(change_end(&t, FTE_VLAN_POP | FTE_VLAN_POP_2, AT(OUTER, L2_4(udp_dport)), 0x35, &octets));
	assert_int_equal(octets, t.p.n - 8);
}

static bool modified(struct dev *d, struct cmd *modify, const char *packet, uint8_t enable, uint32_t at, uint32_t width, uint64_t value)
{
	struct prm_box ctx;
	struct change t;
	uint64_t octets;
	uint32_t id;

	change_begin(&t, d, enable, at, width);
	pkt_raw(&t.p, packet);
	prm_set(&modify->i, 16, 16, t.uid);
	id = made_modify(d, modify);
	ctx = entry_ctx(&t.c);
	PRM_SET(&ctx, flow_context, modify_header_id, id);
	return change_end(&t, FTE_MODIFY, at, width, value, &octets) && octets == t.p.n;
}

static void modify_actions(void **state)
{
#define V4 "0a0000000001 0a0000000002" IPV4 IP4("06") TCP
/* The last 32 bits of an address. */
#define LAST_32(bit, width) (bit) + 96, 32
#define LAST_32_(...) LAST_32(__VA_ARGS__)
#define SRC_32 LAST_32_(AT(OUTER, L2_4(src_ipv4_src_ipv6)))
#define DST_32 LAST_32_(AT(OUTER, L2_4(dst_ipv4_dst_ipv6)))
#define V6 "0a0000000001 0a0000000002" IPV6 IP6("11") UDP("0035")
	static const struct {
		uint32_t kind, field, offset, length, data;
		const char *packet;
		uint32_t at, width;
		uint64_t value;
	} cases[] = {
		{ 1, 0x01, 0, 0, 0x11223344, V4, AT(OUTER, L2_4(smac_47_16)), 0x11223344 },
		{ 1, 0x02, 0, 16, 0x1122, V4, AT(OUTER, L2_4(smac_15_0)), 0x1122 },
		{ 1, 0x04, 8, 8, 0xee, V4, AT(OUTER, L2_4(dmac_47_16)), 0x0a00ee00 },
		{ 1, 0x05, 0, 16, 0x1122, V4, AT(OUTER, L2_4(dmac_15_0)), 0x1122 },
		{ 1, 0x03, 0, 16, 0x1234, V4, AT(OUTER, L2_4(ethertype)), 0x1234 },
		{ 1, 0x06, 0, 6, 0x3f, V4, AT(OUTER, L2_4(ip_dscp)), 0x3f },
		{ 1, 0x06, 0, 6, 0x15, V6, AT(OUTER, L2_4(ip_dscp)), 0x15 },
		{ 1, 0x73, 0, 2, 1, V6, AT(OUTER, L2_4(ip_ecn)), 1 },
		{ 1, 0x07, 0, 9, 0x101, V4, AT(OUTER, L2_4(tcp_flags)), 0x101 },
		{ 1, 0x08, 0, 16, 1, V4, AT(OUTER, L2_4(tcp_sport)), 1 },
		{ 2, 0x09, 0, 0, 0xffff, V4, AT(OUTER, L2_4(tcp_dport)), 0x4f }, /* one less: a port has 16 bits */
		{ 2, 0x0a, 0, 0, 0xffffffff, V4, AT(OUTER, L2_4(ttl_hoplimit)), 0x3f },
		{ 2, 0x47, 0, 0, 1, V6, AT(OUTER, L2_4(ttl_hoplimit)), 0 },
		{ 1, 0x0b, 0, 16, 7, V6, AT(OUTER, L2_4(udp_sport)), 7 },
		{ 1, 0x0c, 4, 4, 0xf, V6, AT(OUTER, L2_4(udp_dport)), 0xf5 },
		{ 1, 0x15, 0, 0, 0x0a000001, V4, SRC_32, 0x0a000001 },
		{ 1, 0x16, 0, 0, 0x0a000001, V4, DST_32, 0x0a000001 },
		{ 1, 0x10, 0, 0, 0xabcdef01, V6, SRC_32, 0xabcdef01 },
		{ 1, 0x14, 0, 0, 0xabcdef01, V6, DST_32, 0xabcdef01 },
		/* What the packet does not have is left alone. */
		{ 1, 0x0c, 0, 16, 9, V4, AT(OUTER, L2_4(tcp_dport)), 0x50 },
		{ 1, 0x17, 0, 12, 9, V4, AT(OUTER, L2_4(first_vid)), 0 },
		{ 1, 0x17, 0, 12, 9, "0a0000000001 0a0000000002 8100e001" IPV4 IP4("06") TCP, AT(OUTER, L2_4(first_vid)), 9 },
		{ 1, 0x54, 0, 0, 0xcafe, V4, AT(PRM_F_fte_match_param__misc_parameters_2, PRM_F_fte_match_set_misc2__metadata_reg_c_3), 0xcafe },
	};
	struct dev *d = *state;
	struct cmd c;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		modify_cmd(&c, 0, FT_NIC_RX);
		if (cases[i].kind == 1)
			modify_set(&c, cases[i].field, cases[i].offset, cases[i].length, cases[i].data);
		else
			modify_add(&c, cases[i].field, cases[i].data);
		assert_true(modified(d, &c, cases[i].packet, cases[i].field == 0x54 ? 8 : 1, cases[i].at, cases[i].width, cases[i].value));
	}
	/* Copies, one after the other: a port to a register, and part of it back into another port. */
	modify_cmd(&c, 0, FT_NIC_RX);
	modify_copy(&c, 0x08, 0, 16, 0x51, 8);
	modify_copy(&c, 0x51, 8, 8, 0x09, 8);
	assert_true(modified(d, &c, V4, 1, AT(OUTER, L2_4(tcp_dport)), 0x8850));
}

static bool reformatted(struct dev *d, uint32_t type, uint32_t anchor, uint32_t offset, const char *data, uint32_t size,
			const char *packet, uint8_t enable, uint32_t at, uint32_t width, uint64_t value, int grown)
{
	struct prm_box ctx;
	struct pkt bytes = { .n = 0 };
	struct change t;
	uint64_t octets;
	struct cmd c;
	bool there;

	change_begin(&t, d, enable, at, width);
	pkt_raw(&t.p, packet);
	if (data)
		pkt_raw(&bytes, data);
	reformat_cmd(&c, t.uid, type, data ? bytes.b : NULL, data ? bytes.n : size);
	ctx = prm_out(c.in + 28, 6);
	PRM_SET(&ctx, packet_reformat_context_in, reformat_param_0, anchor);
	PRM_SET(&ctx, packet_reformat_context_in, reformat_param_1, offset);
	cmd_ok(d, &c);
	ctx = entry_ctx(&t.c);
	PRM_SET(&ctx, flow_context, packet_reformat_id, OUT(&c, alloc_packet_reformat_context_out, packet_reformat_id));
	there = change_end(&t, FTE_REFORMAT, at, width, value, &octets);
	if (there)
		assert_int_equal(octets, (int)t.p.n + grown);
	return there;
}

#define MACS "0a0000000001 0a0000000002"
#define VXLAN_OUT MACS IPV4 IP4("11") UDP("12b5") "08000000 00001200"

static void reformat_actions(void **state)
{
	struct dev *d = *state;
	struct change t;
	uint64_t octets;

	assert_true(reformatted(d, REFORMAT_L2_TO_L2_TUNNEL, 0, 0, VXLAN_OUT, 0, V4, 2, AT(MISC_1, MISC(vxlan_vni)), 0x12, 50));
	assert_true(reformatted(d, REFORMAT_L2_TO_L3_TUNNEL, 0, 0, MACS IPV4 IP4("2f") "0000 0800", 0, "0a0000000001 0a0000000002 8100e001"
				IPV4 IP4("06") TCP, 4, AT(INNER, L2_4(tcp_dport)), 0x50, 38 - 18));
	assert_true(reformatted(d, REFORMAT_L3_TUNNEL_TO_L2, 0, 0, MACS "0000", 0, MACS IPV4 IP4("2f") "0000 86dd" IP6("11") UDP("0035"), 1,
				AT(OUTER, L2_4(udp_dport)), 0x35, 14 - 38));
	assert_false(reformatted(d, REFORMAT_L3_TUNNEL_TO_L2, 0, 0, MACS "0000", 0, V4, 1, AT(OUTER, L2_4(tcp_dport)), 0x50, 0));
	/* A tag behind the addresses, as Linux' bridge offload inserts it, and away again. */
	assert_true(reformatted(d, REFORMAT_INSERT_HDR, ANCHOR_MAC, 12, "8100 0055", 0, V4, 1, AT(OUTER, L2_4(first_vid)), 0x55, 4));
	assert_true(reformatted(d, REFORMAT_REMOVE_HDR, ANCHOR_MAC, 12, NULL, 4, MACS "8100 0055" IPV4 IP4("06") TCP, 1,
				AT(OUTER, L2_4(tcp_dport)), 0x50, -4));
	assert_true(reformatted(d, REFORMAT_REMOVE_HDR, ANCHOR_VLAN, 0, NULL, 4, MACS "8100 0055" IPV4 IP4("06") TCP, 1,
				AT(OUTER, L2_4(first_vid)), 0, -4));
	assert_true(reformatted(d, REFORMAT_REMOVE_HDR, ANCHOR_TCP_UDP, 0, NULL, 2, V4, 1, AT(OUTER, L2_4(tcp_sport)), 0x50, -2));
	assert_true(reformatted(d, REFORMAT_REMOVE_HDR, ANCHOR_IP, 0, NULL, 20, V4, 1, AT(OUTER, L2_4(tcp_sport)), 0, -20));
	assert_false(reformatted(d, REFORMAT_REMOVE_HDR, ANCHOR_VLAN, 0, NULL, 4, V4, 1, AT(OUTER, L2_4(tcp_sport)), 0x1388, 0));
	assert_false(reformatted(d, REFORMAT_REMOVE_HDR, ANCHOR_IP, 0, NULL, 100, V4, 1, AT(OUTER, L2_4(tcp_sport)), 0x1388, 0));

	change_begin(&t, d, 1, AT(OUTER, L2_4(tcp_dport)));
	pkt_raw(&t.p, VXLAN_OUT V4);
	assert_true(change_end(&t, FTE_DECAP, AT(OUTER, L2_4(tcp_dport)), 0x50, &octets));
	assert_int_equal(octets, t.p.n - 50);
	change_begin(&t, d, 1, AT(OUTER, L2_4(tcp_dport)));
	pkt_raw(&t.p, V4);
	assert_false(change_end(&t, FTE_DECAP, AT(OUTER, L2_4(tcp_dport)), 0x50, &octets));
}

int run_change_tests(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, dev_setup, dev_teardown)
	const struct CMUnitTest tests[] = { T(vlan_actions), T(modify_actions), T(reformat_actions) };

	return cmocka_run_group_tests_name("change", tests, NULL, NULL);
}
