/* SPDX-License-Identifier: BSD-2-Clause */
/* What the device's parser sees of frames, whole and cut anywhere. */
#include "flow.h"

static bool is_vxlan(const void *arg, uint16_t port)
{
	return port == *(const uint16_t *)arg;
}

static const uint16_t vxlan = 4789;

static void parse(const struct pkt *p, uint32_t len, struct parsed *out, struct image *image)
{
	static const uint32_t regs[METADATA_REGS] = { [3] = 0xabcd };
	uint8_t *exact = malloc(len ? len : 1); /* to the byte, so that a sanitizer sees what strays */

	assert_non_null(exact);
	memcpy(exact, p->b, len);
	parse_frame(exact, len, regs, is_vxlan, &vxlan, out, image);
	free(exact);
}

static uint64_t seen(struct image *image, uint32_t section, uint32_t section_width, uint32_t bit, uint32_t width)
{
	struct prm_box b = prm_in(image->byte, sizeof(image->byte));

	assert_true(bit + width <= section_width);
	if (width > 64) {
		bit += width - 32; /* the last 32 bits of an address */
		width = 32;
	}
	return prm_get(&b, section + bit, width);
}

#define SEEN(section, field) seen(&image, section, field)

static void parser(void **state)
{
	struct parsed out;
	struct image image;
	struct pkt p = { .n = 0 };

	pkt_eth(&p, "88a8 6064 8100 2123");
	pkt_raw(&p, IPV4 IP4("06") TCP);
	parse(&p, p.n, &out, &image);
	assert_int_equal(SEEN(OUTER, L2_4(dmac_47_16)), 0x0a000000);
	assert_int_equal(SEEN(OUTER, L2_4(dmac_15_0)), 1);
	assert_int_equal(SEEN(OUTER, L2_4(smac_15_0)), 2);
	assert_int_equal(SEEN(OUTER, L2_4(ethertype)), 0x0800);
	assert_int_equal(SEEN(OUTER, L2_4(svlan_tag)), 1);
	assert_int_equal(SEEN(OUTER, L2_4(cvlan_tag)), 0);
	assert_int_equal(SEEN(OUTER, L2_4(first_prio)), 3);
	assert_int_equal(SEEN(OUTER, L2_4(first_vid)), 0x064);
	assert_int_equal(SEEN(MISC_1, MISC(outer_second_cvlan_tag)), 1);
	assert_int_equal(SEEN(MISC_1, MISC(outer_second_vid)), 0x123);
	assert_int_equal(SEEN(MISC_1, MISC(outer_second_prio)), 1);
	assert_int_equal(SEEN(OUTER, L2_4(ip_version)), 4);
	assert_int_equal(SEEN(OUTER, L2_4(ip_dscp)), 0x19);
	assert_int_equal(SEEN(OUTER, L2_4(ip_ecn)), 2);
	assert_int_equal(SEEN(OUTER, L2_4(ttl_hoplimit)), 0x40);
	assert_int_equal(SEEN(OUTER, L2_4(ip_protocol)), 6);
	assert_int_equal(SEEN(OUTER, L2_4(src_ipv4_src_ipv6)), 0xc0000201);
	assert_int_equal(SEEN(OUTER, L2_4(dst_ipv4_dst_ipv6)), 0xc0000202);
	assert_int_equal(SEEN(OUTER, L2_4(tcp_sport)), 0x1388);
	assert_int_equal(SEEN(OUTER, L2_4(tcp_dport)), 0x50);
	assert_int_equal(SEEN(OUTER, L2_4(tcp_flags)), 0x112);
	assert_int_equal(SEEN(OUTER, L2_4(udp_sport)), 0);
	assert_int_equal(SEEN(OUTER, L2_4(l4_type)), 1);
	assert_int_equal(SEEN(PRM_F_fte_match_param__misc_parameters_2, PRM_F_fte_match_set_misc2__metadata_reg_c_3), 0xabcd);
	assert_int_equal(out.outer.n_vlans, 2);
	assert_int_equal(out.outer.ip, 22);
	assert_int_equal(out.outer.l4, 42);
	/* Every cut of it is parsed without a read past its end, and never shows more than there is. */
	for (uint32_t len = 0; len < p.n; len++) {
		parse(&p, len, &out, &image);
		assert_int_equal(SEEN(OUTER, L2_4(tcp_dport)), len < 46 ? 0 : 0x50);
		assert_int_equal(SEEN(OUTER, L2_4(ip_version)), len < 42 ? 0 : 4);
	}
}

static void parser_ipv6(void **state)
{
	struct parsed out;
	struct image image;
	struct pkt p = { .n = 0 };

	pkt_eth(&p, IPV6);
	pkt_raw(&p, IP6("00") "3c00000000000000" "2c00000000000000" "1100000000000000" UDP("0035"));
	parse(&p, p.n, &out, &image);
	assert_int_equal(SEEN(OUTER, L2_4(ip_version)), 6);
	assert_int_equal(SEEN(OUTER, L2_4(ip_protocol)), 17);
	assert_int_equal(SEEN(OUTER, L2_4(frag)), 1);
	assert_int_equal(SEEN(OUTER, L2_4(udp_dport)), 0x35);
	assert_int_equal(SEEN(OUTER, L2_4(src_ipv4_src_ipv6)), 1);
	assert_int_equal(SEEN(OUTER, L2_4(ttl_hoplimit)), 0xff);
	assert_int_equal(SEEN(OUTER, L2_4(ip_dscp)), 0x2a);
	assert_int_equal(SEEN(OUTER, L2_4(ip_ecn)), 3);
	assert_int_equal(SEEN(MISC_1, MISC(outer_ipv6_flow_label)), 0xcdef1);
	for (uint32_t len = 0; len < p.n; len++)
		parse(&p, len, &out, &image);
	/* A fragment after the first has no ports. */
	p.n = 0;
	pkt_eth(&p, IPV6);
	pkt_raw(&p, IP6("2c") "1100000800000000" UDP("0035"));
	parse(&p, p.n, &out, &image);
	assert_int_equal(SEEN(OUTER, L2_4(ip_protocol)), 17);
	assert_int_equal(SEEN(OUTER, L2_4(udp_dport)), 0);
	assert_false(out.outer.has_l4);
	p.n = 0;
	pkt_eth(&p, IPV6);
	pkt_raw(&p, IP6("3a") "8000 0000 12345678");
	parse(&p, p.n, &out, &image);
	assert_int_equal(SEEN(MISC_3, PRM_F_fte_match_set_misc3__icmpv6_type), 0x80);
	assert_int_equal(SEEN(MISC_3, PRM_F_fte_match_set_misc3__icmpv6_header_data), 0x12345678);
	assert_int_equal(SEEN(OUTER, L2_4(l4_type_ext)), 3);
}

static void parser_tunnels(void **state)
{
	struct parsed out;
	struct image image;
	struct pkt p = { .n = 0 };

	pkt_eth(&p, IPV4);
	pkt_raw(&p, IP4("11") UDP("12b5") "08000000 00abcd00");
	pkt_eth(&p, "8100 0007" IPV4);
	pkt_raw(&p, IP4("06") TCP);
	parse(&p, p.n, &out, &image);
	assert_int_equal(out.tunnel, TUNNEL_ETHERNET);
	assert_int_equal(out.inner_at, 14 + 20 + 8 + 8);
	assert_int_equal(SEEN(MISC_1, MISC(vxlan_vni)), 0xabcd);
	assert_int_equal(SEEN(OUTER, L2_4(udp_dport)), 4789);
	assert_int_equal(SEEN(INNER, L2_4(first_vid)), 7);
	assert_int_equal(SEEN(INNER, L2_4(tcp_dport)), 0x50);
	assert_int_equal(SEEN(OUTER, L2_4(tcp_dport)), 0);
	for (uint32_t len = 0; len < p.n; len++)
		parse(&p, len, &out, &image);

	p.n = 0;
	pkt_eth(&p, IPV4);
	pkt_raw(&p, IP4("2f") "b000 0800 00000000 11223344 00000001" IP4("11") UDP("0035"));
	parse(&p, p.n, &out, &image);
	assert_int_equal(out.tunnel, TUNNEL_IP);
	assert_int_equal(SEEN(MISC_1, MISC(gre_c_present)), 1);
	assert_int_equal(SEEN(MISC_1, MISC(gre_k_present)), 1);
	assert_int_equal(SEEN(MISC_1, MISC(gre_s_present)), 1);
	assert_int_equal(SEEN(MISC_1, MISC(gre_protocol)), 0x0800);
	assert_int_equal(SEEN(MISC_1, MISC(gre_key)), 0x11223344);
	assert_int_equal(SEEN(INNER, L2_4(udp_dport)), 0x35);
	for (uint32_t len = 0; len < p.n; len++)
		parse(&p, len, &out, &image);

	p.n = 0;
	pkt_eth(&p, IPV6);
	pkt_raw(&p, IP6("11") UDP("17c1") "0180 6558 00beef00 00000000");
	pkt_eth(&p, IPV6);
	pkt_raw(&p, IP6("3a") "8000 0000 00000000");
	parse(&p, p.n, &out, &image);
	assert_int_equal(out.tunnel, TUNNEL_ETHERNET);
	assert_int_equal(SEEN(MISC_1, MISC(geneve_vni)), 0xbeef);
	assert_int_equal(SEEN(MISC_1, MISC(geneve_oam)), 1);
	assert_int_equal(SEEN(MISC_1, MISC(geneve_opt_len)), 1);
	assert_int_equal(SEEN(MISC_1, MISC(geneve_protocol_type)), 0x6558);
	assert_int_equal(SEEN(INNER, L2_4(ip_protocol)), 58);
	assert_int_equal(SEEN(MISC_1, MISC(inner_ipv6_flow_label)), 0xcdef1);

	p.n = 0;
	pkt_eth(&p, IPV4);
	pkt_raw(&p, IP4("11") UDP("12b7") "0a000000 00123456 00000000");
	parse(&p, p.n, &out, &image);
	assert_int_equal(out.tunnel, TUNNEL_NONE);
	assert_int_equal(SEEN(MISC_1, MISC(bth_opcode)), 0x0a);
	assert_int_equal(SEEN(MISC_1, MISC(bth_dst_qp)), 0x123456);

	p.n = 0;
	pkt_eth(&p, IPV4);
	pkt_raw(&p, IP4("32") "aabbccdd 00000001");
	parse(&p, p.n, &out, &image);
	assert_int_equal(SEEN(MISC_1, MISC(outer_esp_spi)), 0xaabbccdd);
	p.n = 0;
	pkt_eth(&p, "0010"); /* a length: LLC */
	pkt_raw(&p, IP4("06") TCP);
	parse(&p, p.n, &out, &image);
	assert_int_equal(SEEN(OUTER, L2_4(ethertype)), 0);
	assert_int_equal(out.outer.version, 0);
}

int run_parse_tests(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(parser), cmocka_unit_test(parser_ipv6), cmocka_unit_test(parser_tunnels) };

	return cmocka_run_group_tests_name("parse", tests, NULL, NULL);
}
