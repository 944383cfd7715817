/* SPDX-License-Identifier: BSD-2-Clause */
/* Commands about the function's port, and those that a program gives itself (0xb00 on). */
#include "dev.h"
#include "vport.h"

#define GUID DEV_GUID
#define MAC UINT64_C(0x0200de000007) /* of that GUID */

#define SUB_OUT(c, layout, field) PRM_SUB(&(c)->o, layout, field)

/* What all queries of the vport refuse: another vport, and another port where they name one. */
static void others(void **state)
{
	struct dev *d = *state;
	struct cmd c;

#define OTHER(op, layout)                                                                                            \
	do {                                                                                                         \
		CMD(&c, op, 0, layout);                                                                              \
		SET(&c, layout##_in, other_vport, 1);                                                                \
		cmd_ok(d, &c); /* vport 0 is this one */                                                             \
		SET(&c, layout##_in, vport_number, 1);                                                               \
		cmd_refused(d, &c, SYN_VPORT_OTHER);                                                                 \
	} while (0)
	OTHER(QUERY_HCA_VPORT_CONTEXT, query_hca_vport_context);
	OTHER(QUERY_VPORT_STATE, query_vport_state);
	OTHER(QUERY_NIC_VPORT_CONTEXT, query_nic_vport_context);
	OTHER(QUERY_VNIC_ENV, query_vnic_env);
	OTHER(QUERY_VPORT_COUNTER, query_vport_counter);
#undef OTHER
	CMD(&c, QUERY_HCA_VPORT_CONTEXT, 0, query_hca_vport_context);
	SET(&c, query_hca_vport_context_in, port_num, 2);
	cmd_refused(d, &c, SYN_VPORT_PORT);
	CMD(&c, QUERY_VPORT_COUNTER, 0, query_vport_counter);
	SET(&c, query_vport_counter_in, port_num, 2);
	cmd_refused(d, &c, SYN_VPORT_PORT);

	/* What is its manager's alone. */
	CMD(&c, QUERY_ESW_VPORT_CONTEXT, 0, query_esw_vport_context);
	cmd_refused(d, &c, SYN_ESWITCH);
	CMD(&c, QUERY_ESW_FUNCTIONS, 0, query_esw_functions);
	cmd_refused(d, &c, SYN_ESWITCH);
	CMD(&c, QUERY_VPORT_STATE, 0, query_vport_state);
	cmd_op_mod(&c, 1);
	cmd_refused(d, &c, SYN_ESWITCH);
	CMD(&c, QUERY_LAG, 0, query_lag);
	cmd_refused(d, &c, SYN_LAG);
}

static uint64_t link_of(struct dev *d, unsigned int op_mod)
{
	struct cmd c;

	CMD(&c, QUERY_VPORT_STATE, 0, query_vport_state);
	cmd_op_mod(&c, (uint16_t)op_mod);
	cmd_ok(d, &c);
	return OUT(&c, query_vport_state_out, state);
}

static void read_reg(struct dev *d, struct cmd *c, uint32_t id, uint32_t bytes)
{
	cmd_new(c, PRM_OP_ACCESS_REGISTER_USER, new_uid(d), PRM_HDR_SZ + bytes, PRM_HDR_SZ + bytes);
	cmd_op_mod(c, 1);
	SET(c, access_register_in, register_id, id);
}

/* One link, seen the same from everywhere. */
static void link_state(void **state)
{
	struct dev *d = *state;
	struct prm_box ctx;
	struct cmd c;

	for (unsigned int up = 2; up--;) {
		assert_true(hca_port(d->h, 1, up));
		assert_int_equal(link_of(d, 0), up);
		assert_int_equal(link_of(d, 2), up);
		CMD(&c, QUERY_HCA_VPORT_CONTEXT, 0, query_hca_vport_context);
		cmd_ok(d, &c);
		ctx = SUB_OUT(&c, query_hca_vport_context_out, hca_vport_context);
		assert_int_equal(PRM_GET(&ctx, hca_vport_context, port_state), up ? 4 : 1);
		assert_true(PRM_GET(&ctx, hca_vport_context, port_guid) == GUID);
		read_reg(d, &c, 0x5006, PRM_SZ(paos_reg));
		cmd_ok(d, &c);
		ctx = prm_in(c.out + PRM_HDR_SZ, PRM_SZ(paos_reg));
		assert_int_equal(PRM_GET(&ctx, paos_reg, oper_status), up ? 1 : 2);
	}
}

static void nic_vport_context(void **state)
{
	struct dev *d = *state;
	struct prm_box ctx, mac;
	struct cmd c;

	cmd_new(&c, PRM_OP_QUERY_NIC_VPORT_CONTEXT, 0, PRM_SZ(query_nic_vport_context_in), PRM_SZ(query_nic_vport_context_out) + 8);
	cmd_ok(d, &c);
	ctx = SUB_OUT(&c, query_nic_vport_context_out, nic_vport_context);
	mac = PRM_SUB(&ctx, nic_vport_context, permanent_address);
	assert_true((PRM_GET(&mac, mac_address_layout, mac_addr_47_32) << 32 | PRM_GET(&mac, mac_address_layout, mac_addr_31_0)) == MAC);
	assert_true(PRM_GET(&ctx, nic_vport_context, node_guid) == GUID);
	assert_int_equal(PRM_GET(&ctx, nic_vport_context, roce_en), 1);
	assert_int_equal(PRM_GET(&ctx, nic_vport_context, allowed_list_size), 1);
	mac = prm_in(c.out + PRM_SZ(query_nic_vport_context_out), 8);
	assert_true((PRM_GET(&mac, mac_address_layout, mac_addr_47_32) << 32 | PRM_GET(&mac, mac_address_layout, mac_addr_31_0)) == MAC);

	c.outlen -= 8; /* no room for the list */
	cmd_ok(d, &c);
	ctx = SUB_OUT(&c, query_nic_vport_context_out, nic_vport_context);
	assert_int_equal(PRM_GET(&ctx, nic_vport_context, allowed_list_size), 0);
	c.outlen += 8;
	SET(&c, query_nic_vport_context_in, allowed_list_type, 2);
	cmd_ok(d, &c);
	ctx = SUB_OUT(&c, query_nic_vport_context_out, nic_vport_context);
	assert_int_equal(PRM_GET(&ctx, nic_vport_context, allowed_list_size), 0);
	SET(&c, query_nic_vport_context_in, allowed_list_type, 3);
	cmd_refused(d, &c, SYN_VPORT_LIST);
}

static struct prm_box set_address(struct cmd *c, uint16_t uid, uint32_t index)
{
	struct prm_box a;

	CMD(c, SET_ROCE_ADDRESS, uid, set_roce_address);
	SET(c, set_roce_address_in, roce_address_index, index);
	a = PRM_SUB(&c->i, set_roce_address_in, roce_address);
	PRM_SET(&a, roce_addr_layout, roce_version, 2);
	a.p[0] = 0x20;
	return a;
}

static void roce_addresses(void **state)
{
	struct dev *d = *state;
	struct prm_box a;
	struct cmd c;

	for (uint32_t i = 0; i < 3; i++) {
		CMD(&c, QUERY_ROCE_ADDRESS, new_uid(d), query_roce_address);
		SET(&c, query_roce_address_in, roce_address_index, i);
		cmd_ok(d, &c);
		a = SUB_OUT(&c, query_roce_address_out, roce_address);
		assert_int_equal(a.p[0], i < 2 ? 0xfe : 0);
		assert_true(prm_get(&a, 64, 64) == (i < 2 ? GUID : 0));
		assert_int_equal(PRM_GET(&a, roce_addr_layout, roce_version), i == 1 ? 2 : 0);
	}
	SET(&c, query_roce_address_in, roce_address_index, ROCE_ADDRESSES);
	cmd_refused(d, &c, SYN_ROCE_INDEX);
	SET(&c, query_roce_address_in, vhca_port_num, 2);
	SET(&c, query_roce_address_in, roce_address_index, 0);
	cmd_refused(d, &c, SYN_VPORT_PORT);

	set_address(&c, new_uid(d), 5);
	cmd_refused(d, &c, SYN_PRIVILEGED);
	set_address(&c, 0, ROCE_ADDRESSES);
	cmd_refused(d, &c, SYN_ROCE_INDEX);
	a = set_address(&c, 0, 5);
	PRM_SET(&a, roce_addr_layout, roce_version, 1);
	cmd_refused(d, &c, SYN_ROCE_VERSION);
	a = set_address(&c, 0, 5);
	PRM_SET(&a, roce_addr_layout, roce_l3_type, 2);
	cmd_refused(d, &c, SYN_ROCE_L3);
	set_address(&c, 0, 5);
	cmd_ok(d, &c);
	CMD(&c, QUERY_ROCE_ADDRESS, 0, query_roce_address);
	SET(&c, query_roce_address_in, roce_address_index, 5);
	cmd_ok(d, &c);
	a = SUB_OUT(&c, query_roce_address_out, roce_address);
	assert_int_equal(a.p[0], 0x20);
}

static uint64_t packets(struct dev *d, struct cmd *c, uint32_t bit, uint32_t width)
{
	struct prm_box t;

	CMD(c, QUERY_VPORT_COUNTER, 0, query_vport_counter);
	cmd_ok(d, c);
	t = prm_sub(&c->o, bit, width);
	return PRM_GET(&t, traffic_counter, packets);
}

#define PACKETS(d, c, field) packets(d, c, PRM_F_query_vport_counter_out__##field)

static struct prm_box vnic_env(struct dev *d, struct cmd *c)
{
	CMD(c, QUERY_VNIC_ENV, 0, query_vnic_env);
	cmd_ok(d, c);
	return SUB_OUT(c, query_vnic_env_out, vport_env);
}

static void counters(void **state)
{
	struct dev *d = *state;
	uint8_t frame[60] = { 0x02, 0, 0, 0, 0, 1 };
	struct hca_packet r;
	struct prm_box env, reg, set;
	struct cmd c;
	uint64_t invalid;

	assert_true(hca_packet(d->h, frame, sizeof(frame), 1, &r));
	frame[0] = 0x01;
	assert_true(hca_packet(d->h, frame, sizeof(frame), 1, &r));
	memset(frame, 0xff, 6);
	assert_true(hca_packet(d->h, frame, sizeof(frame), 1, &r));
	assert_true(hca_packet(d->h, frame, sizeof(frame), 1, &r));
	assert_true(hca_port(d->h, 1, false));
	assert_true(hca_packet(d->h, frame, sizeof(frame), 1, &r));
	assert_int_equal(r.walks, 0);
	assert_int_equal(PACKETS(d, &c, received_eth_unicast), 1);
	assert_int_equal(PACKETS(d, &c, received_eth_multicast), 1);
	assert_int_equal(PACKETS(d, &c, received_eth_broadcast), 2);
	assert_int_equal(PACKETS(d, &c, transmitted_eth_unicast), 0);
	env = vnic_env(d, &c);
	assert_int_equal(PRM_GET(&env, vnic_diagnostic_statistics, receive_discard_vport_down), 1);
	assert_int_equal(PRM_GET(&env, vnic_diagnostic_statistics, nic_receive_steering_discard), 0);
	invalid = PRM_GET(&env, vnic_diagnostic_statistics, invalid_command);

	read_reg(d, &c, 0x5008, PRM_SZ(ppcnt_reg));
	cmd_ok(d, &c);
	reg = prm_in(c.out + PRM_HDR_SZ, PRM_SZ(ppcnt_reg));
	set = PRM_SUB(&reg, ppcnt_reg, counter_set);
	assert_int_equal(PRM_GET(&set, eth_802_3_cntrs_grp_data_layout, a_frames_received_ok_low), 4);
	assert_int_equal(PRM_GET(&set, eth_802_3_cntrs_grp_data_layout, a_octets_received_ok_low), 240);
	assert_int_equal(PRM_GET(&set, eth_802_3_cntrs_grp_data_layout, a_broadcast_frames_received_ok_low), 2);

	CMD(&c, QUERY_VPORT_COUNTER, 0, query_vport_counter);
	SET(&c, query_vport_counter_in, clear, 1);
	cmd_ok(d, &c);
	assert_int_equal(PACKETS(d, &c, received_eth_unicast), 0);

	cmd_new(&c, 0xb0d, 0, PRM_HDR_SZ, PRM_HDR_SZ); /* QUERY_VHCA_STATE: vhca_state is off */
	cmd_refused(d, &c, SYN_BAD_OP);
	env = vnic_env(d, &c);
	assert_int_equal(PRM_GET(&env, vnic_diagnostic_statistics, invalid_command), invalid + 1);
}

/* The log has the last packet that was dropped. */
static void dropped_packet(void **state)
{
	struct dev *d = *state;
	uint8_t frame[200];
	struct prm_box env;
	struct cmd c;

	memset(frame, 0x42, sizeof(frame));
	CMD(&c, GET_DROPPED_PACKET_LOG, 0, get_dropped_packet_log);
	cmd_ok(d, &c);
	assert_int_equal(c.out[16], 0);
	vport_received(d->h, frame, sizeof(frame), 1);
	memset(frame, 0x44, sizeof(frame));
	vport_received(d->h, frame, sizeof(frame), 0);
	cmd_ok(d, &c);
	for (unsigned int i = 0; i < DROPPED_HEADERS; i++)
		assert_int_equal(c.out[16 + i], 0x42);
	assert_int_equal(c.out[16 + DROPPED_HEADERS], 0);
	env = vnic_env(d, &c);
	assert_int_equal(PRM_GET(&env, vnic_diagnostic_statistics, nic_receive_steering_discard), 1);
	vport_received(d->h, frame, 14, 1); /* a short one leaves nothing of the long one */
	CMD(&c, GET_DROPPED_PACKET_LOG, 0, get_dropped_packet_log);
	cmd_ok(d, &c);
	assert_int_equal(c.out[16 + 13], 0x44);
	assert_int_equal(c.out[16 + 14], 0);
}

/* Who gets the device next sees nothing of what was counted, nor of the packet that was dropped; a reset alone keeps it. */
static void renewed(void **state)
{
	struct dev *d = *state;
	uint8_t frame[200];
	struct prm_box env;
	struct cmd c;

	memset(frame, 0x42, sizeof(frame));
	vport_received(d->h, frame, sizeof(frame), 1);
	cmd_new(&c, 0x0fff, 0, 16, 16);
	cmd_run(d, &c);
	d->h->vport->psp_spi = 7;
	for (unsigned int gone = 0; gone < 2; gone++) {
		if (gone)
			hca_renew(d->h);
		else
			hca_reset(d->h);
		env = vnic_env(d, &c);
		assert_int_equal(PRM_GET(&env, vnic_diagnostic_statistics, nic_receive_steering_discard), !gone);
		assert_int_equal(PRM_GET(&env, vnic_diagnostic_statistics, invalid_command), !gone);
		CMD(&c, GET_DROPPED_PACKET_LOG, 0, get_dropped_packet_log);
		cmd_ok(d, &c);
		assert_int_equal(c.out[16], gone ? 0 : 0x42);
		assert_int_equal(d->h->vport->psp_spi, gone ? 0 : 7);
		assert_int_equal(d->h->vport->rx[RX_UNICAST].packets, !gone);
	}
}

static void what_is_there(void **state)
{
	struct dev *d = *state;
	struct cmd c;

	CMD(&c, QUERY_ISSI, 0, query_issi);
	cmd_ok(d, &c);
	assert_int_equal(OUT(&c, query_issi_out, current_issi), 1);
	assert_true(OUT(&c, query_issi_out, supported_issi_dw0) & 2);
	cmd_new(&c, PRM_OP_QUERY_VUID, 0, PRM_SZ(query_vuid_in), PRM_SZ(query_vuid_out) + 128);
	cmd_ok(d, &c);
	assert_int_equal(OUT(&c, query_vuid_out, num_of_entries), 1);
	assert_memory_equal(c.out + PRM_SZ(query_vuid_out), "ODX0200de0000000007\0", 20);
	c.outlen--;
	cmd_refused(d, &c, SYN_OUT_LEN);
	c.outlen++;
	SET(&c, query_vuid_in, vhca_id, 1);
	cmd_refused(d, &c, SYN_VUID_FUNCTION);
	CMD(&c, SYNC_STEERING, new_uid(d), sync_steering);
	cmd_ok(d, &c);
}

static void congestion(void **state)
{
	struct dev *d = *state;
	struct prm_box p;
	struct cmd c;

	CMD(&c, QUERY_CONG_STATUS, 0, query_cong_status);
	cmd_refused(d, &c, SYN_CONG_PROTOCOL);
	SET(&c, query_cong_status_in, cong_protocol, 2);
	SET(&c, query_cong_status_in, priority, 8);
	cmd_refused(d, &c, SYN_CONG_PRIORITY);
	SET(&c, query_cong_status_in, priority, 7);
	cmd_ok(d, &c);
	assert_int_equal(OUT(&c, query_cong_status_out, enable), 1);

	CMD(&c, QUERY_CONG_PARAMS, 0, query_cong_params);
	cmd_refused(d, &c, SYN_CONG_PROTOCOL);
	SET(&c, query_cong_params_in, cong_protocol, 1);
	cmd_ok(d, &c);
	p = SUB_OUT(&c, query_cong_params_out, congestion_parameters);
	assert_int_equal(PRM_GET(&p, cong_control_r_roce_ecn_rp, rpg_byte_reset), 32767);
	SET(&c, query_cong_params_in, cong_protocol, 2);
	cmd_ok(d, &c);
	p = SUB_OUT(&c, query_cong_params_out, congestion_parameters);
	assert_int_equal(PRM_GET(&p, cong_control_r_roce_ecn_np, cnp_dscp), 48);
	CMD(&c, QUERY_CONG_STATISTICS, 0, query_cong_statistics);
	cmd_ok(d, &c);
	assert_int_equal(OUT(&c, query_cong_statistics_out, np_cnp_sent_low), 0);
}

static void registers(void **state)
{
	struct dev *d = *state;
	struct prm_box reg;
	struct cmd c;

	read_reg(d, &c, 0x5003, PRM_SZ(pmtu_reg));
	cmd_ok(d, &c);
	reg = prm_in(c.out + PRM_HDR_SZ, PRM_SZ(pmtu_reg));
	assert_true(PRM_GET(&reg, pmtu_reg, oper_mtu) > 1500);
	reg = prm_out(c.in + PRM_HDR_SZ, PRM_SZ(pmtu_reg));
	PRM_SET(&reg, pmtu_reg, local_port, 2);
	cmd_refused(d, &c, SYN_VPORT_PORT);
	read_reg(d, &c, 0x5003, PRM_SZ(pmtu_reg));
	c.inlen = PRM_HDR_SZ; /* without data: the only port */
	cmd_ok(d, &c);
	cmd_op_mod(&c, 0);
	cmd_refused(d, &c, SYN_REG_WRITE);
	cmd_op_mod(&c, 1);
	c.outlen--;
	cmd_refused(d, &c, SYN_OUT_LEN);
	read_reg(d, &c, 0x5008, PRM_SZ(ppcnt_reg));
	reg = prm_out(c.in + PRM_HDR_SZ, PRM_SZ(ppcnt_reg));
	PRM_SET(&reg, ppcnt_reg, grp, 0x13);
	cmd_refused(d, &c, SYN_REG_GROUP);
	PRM_SET(&reg, ppcnt_reg, grp, 0);
	PRM_SET(&reg, ppcnt_reg, clr, 1);
	cmd_refused(d, &c, SYN_REG_WRITE);
	read_reg(d, &c, 0x9055, PRM_SZ(mtutc_reg));
	cmd_ok(d, &c);
	read_reg(d, &c, 0xc002, PRM_SZ(crypto_operational_register));
	cmd_ok(d, &c);
	reg = prm_in(c.out + PRM_HDR_SZ, PRM_SZ(crypto_operational_register));
	assert_int_equal(PRM_GET(&reg, crypto_operational_register, wrapped_crypto_operational), 1);
	d->h->cfg.profile = HCA_CX5;
	cmd_refused(d, &c, SYN_REG_ID);
	read_reg(d, &c, 0x5004, 512); /* PTYS: not a user's here */
	cmd_refused(d, &c, SYN_REG_ID);
}

static void sync_crypto(void **state)
{
	struct dev *d = *state;
	struct cmd c;

	CMD(&c, SYNC_CRYPTO, new_uid(d), sync_crypto);
	cmd_refused(d, &c, SYN_CRYPTO_TYPE);
	SET(&c, sync_crypto_in, crypto_type, 1 << 1); /* TLS */
	cmd_refused(d, &c, SYN_CRYPTO_TYPE);
	SET(&c, sync_crypto_in, crypto_type, 1 << 0);
	cmd_ok(d, &c);
	SET(&c, sync_crypto_in, crypto_type, 1 << 2);
	cmd_ok(d, &c);
	d->h->cfg.profile = HCA_CX5;
	cmd_refused(d, &c, SYN_BAD_OP);
}

static void spi_cmd(struct cmd *c, uint16_t uid, unsigned int size, uint32_t n)
{
	cmd_new(c, PRM_OP_PSP_GEN_SPI, uid, PRM_SZ(psp_gen_spi_in), PRM_SZ(psp_gen_spi_out) + n * PRM_SZ(key_spi));
	SET(c, psp_gen_spi_in, key_size, size);
	SET(c, psp_gen_spi_in, num_of_spi, n);
}

static void psp(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d);
	struct prm_box k;
	uint8_t key[32];
	uint32_t spi;
	struct cmd c;

	spi_cmd(&c, uid, 1, 2);
	cmd_ok(d, &c);
	k = prm_in(c.out + PRM_SZ(psp_gen_spi_out), PRM_SZ(key_spi));
	spi = (uint32_t)PRM_GET(&k, key_spi, spi);
	memcpy(key, k.p + 16, sizeof(key));
	k = prm_in(c.out + PRM_SZ(psp_gen_spi_out) + PRM_SZ(key_spi), PRM_SZ(key_spi));
	assert_int_not_equal(PRM_GET(&k, key_spi, spi), spi);
	assert_memory_not_equal(k.p + 16, key, sizeof(key));
	assert_false(spi >> 31);

	spi_cmd(&c, uid, 0, 1);
	cmd_ok(d, &c);
	for (unsigned int i = 0; i < 16; i++)
		assert_int_equal(c.out[PRM_SZ(psp_gen_spi_out) + 16 + 16 + i], 0); /* 128 bits are half of the room */
	SET(&c, psp_gen_spi_in, key_size, 2);
	cmd_refused(d, &c, SYN_PSP_SIZE);
	spi_cmd(&c, uid, 0, 1);
	SET(&c, psp_gen_spi_in, num_of_spi, 2);
	cmd_refused(d, &c, SYN_PSP_NUMBER);
	SET(&c, psp_gen_spi_in, num_of_spi, 0);
	cmd_refused(d, &c, SYN_PSP_NUMBER);

	/* A new master key: the other half of the SPIs, and other keys. */
	CMD(&c, PSP_ROTATE_KEY, uid, psp_rotate_key);
	cmd_ok(d, &c);
	spi_cmd(&c, uid, 1, 1);
	cmd_ok(d, &c);
	k = prm_in(c.out + PRM_SZ(psp_gen_spi_out), PRM_SZ(key_spi));
	assert_int_equal(PRM_GET(&k, key_spi, spi), 0x80000000 | spi);
	assert_memory_not_equal(k.p + 16, key, sizeof(key));
	d->h->vport->psp_spi = 0x7fffffff;
	cmd_refused(d, &c, SYN_PSP_LIMIT);
	CMD(&c, PSP_ROTATE_KEY, uid, psp_rotate_key);
	cmd_ok(d, &c);
	spi_cmd(&c, uid, 1, 1);
	cmd_ok(d, &c);

	d->h->cfg.profile = HCA_CX6DX;
	cmd_refused(d, &c, SYN_BAD_OP);
	CMD(&c, PSP_ROTATE_KEY, uid, psp_rotate_key);
	cmd_refused(d, &c, SYN_BAD_OP);
}

int run_vport_tests(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, dev_setup, dev_teardown)
	const struct CMUnitTest tests[] = {
		TEST(others), TEST(link_state), TEST(nic_vport_context), TEST(roce_addresses), TEST(counters), TEST(dropped_packet), TEST(renewed),
		TEST(what_is_there), TEST(congestion), TEST(registers), TEST(sync_crypto), TEST(psp),
	};

	return cmocka_run_group_tests_name("vport and user commands", tests, NULL, NULL);
}
