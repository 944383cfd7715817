/* SPDX-License-Identifier: BSD-2-Clause */
/* General objects with keys in them: keys go in and do not come out. */
#include "dev.h"

enum { DEK = 0x0c, IPSEC = 0x13, IMPORT_KEK = 0x1d, CREDENTIAL = 0x1e, LOGIN = 0x1f, MACSEC = 0x27, INT_KEK = 0x47 };
enum { FOR_TLS = 1, FOR_IPSEC = 2, FOR_AES_XTS = 3, FOR_MACSEC = 4 };

static struct prm_box dek_cmd(struct cmd *c, uint16_t uid, uint32_t pd, unsigned int purpose)
{
	struct prm_box ctx = GEN_NEW(c, uid, DEK, dek); /* the short form */

	PRM_SET(&ctx, dek, pd, pd);
	PRM_SET(&ctx, dek, key_purpose, purpose);
	PRM_SET(&ctx, dek, key_size, 1);
	PRM_SET(&ctx, dek, opaque, 0x1122334455667788);
	memset(ctx.p + 64, 0xee, 128);
	return ctx;
}

static void none_of(const struct prm_box *ctx, uint8_t byte)
{
	for (uint32_t i = 0; i < ctx->len; i++)
		assert_int_not_equal(ctx->p[i], byte);
}

static void deks(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d);
	uint32_t pd = new_pd(d, uid), id;
	struct prm_box ctx, param;
	struct cmd c;

	ctx = dek_cmd(&c, uid, pd, FOR_IPSEC);
	PRM_SET(&ctx, dek, state, 1); /* the device's own */
	id = gen_new(d, &c);
	ctx = GEN_GET(d, &c, uid, DEK, id, dek);
	none_of(&ctx, 0xee);
	assert_int_equal(PRM_GET(&ctx, dek, state), 0);
	assert_int_equal(PRM_GET(&ctx, dek, key_size), 1);
	assert_int_equal(PRM_GET(&ctx, dek, pd), pd);
	assert_true(PRM_GET(&ctx, dek, opaque) == 0x1122334455667788);
	destroy(d, PRM_OP_DEALLOC_PD, uid, pd, SYN_PD_BUSY);

	ctx = dek_cmd(&c, uid, pd + 1, FOR_IPSEC);
	cmd_refused(d, &c, SYN_PD);
	ctx = dek_cmd(&c, uid, pd, FOR_TLS);
	cmd_refused(d, &c, SYN_DEK_PURPOSE);
	ctx = dek_cmd(&c, uid, pd, FOR_IPSEC);
	PRM_SET(&ctx, dek, key_size, 2);
	cmd_refused(d, &c, SYN_DEK_SIZE);
	ctx = GEN_NEW(&c, uid, DEK, encryption_key_obj);
	PRM_SET(&ctx, encryption_key_obj, pd, pd);
	PRM_SET(&ctx, encryption_key_obj, key_purpose, FOR_IPSEC);
	memset(ctx.p + PRM_SZ(dek), 0xee, 32);
	PRM_SET(&ctx, encryption_key_obj, sw_wrapped, 1);
	cmd_refused(d, &c, SYN_DEK_WRAPPED);

	/* A bulk of them, as Linux makes: the key of each is set later. */
	ctx = dek_cmd(&c, uid, pd, FOR_IPSEC);
	param = PRM_SUB(&c.i, general_obj_in_cmd_hdr, op_param_create);
	PRM_SET(&param, general_obj_create_param, log_obj_range, 4);
	id = gen_new(d, &c);
	ctx = GEN_MOD(&c, uid, DEK, id + 3, dek);
	PRM_SET(&ctx, dek, modify_field_select, 1);
	PRM_SET(&ctx, dek, key_purpose, FOR_MACSEC);
	memset(ctx.p + 64, 0xdd, 128);
	cmd_ok(d, &c);
	ctx = GEN_GET(d, &c, uid, DEK, id + 3, dek);
	none_of(&ctx, 0xdd);
	assert_int_equal(PRM_GET(&ctx, dek, key_purpose), FOR_MACSEC);
	assert_int_equal(PRM_GET(&ctx, dek, pd), pd);
	ctx = GEN_GET(d, &c, uid, DEK, id + 2, dek);
	assert_int_equal(PRM_GET(&ctx, dek, key_purpose), FOR_IPSEC);

	/* While one of them is in use another gets its key. */
	ctx = GEN_NEW(&c, uid, IPSEC, ipsec_obj);
	PRM_SET(&ctx, ipsec_obj, dekn, id + 2);
	cmd_ok(d, &c);
	ctx = GEN_MOD(&c, uid, DEK, id + 5, dek);
	PRM_SET(&ctx, dek, modify_field_select, 1);
	PRM_SET(&ctx, dek, key_purpose, FOR_IPSEC);
	cmd_ok(d, &c);
	gen_destroy(d, uid, DEK, id, SYN_GENERAL_BUSY);
}

static uint32_t new_credential(struct dev *d, uint16_t uid)
{
	struct prm_box ctx;
	struct cmd c;

	ctx = GEN_NEW(&c, uid, CREDENTIAL, credential);
	PRM_SET(&ctx, credential, credential_role, 1);
	PRM_SET(&ctx, credential, state, 3);
	memset(ctx.p + 64, 0xcc, 48);
	return gen_new(d, &c);
}

static uint32_t new_import_kek(struct dev *d, uint16_t uid)
{
	struct prm_box ctx;
	struct cmd c;

	ctx = GEN_NEW(&c, uid, IMPORT_KEK, import_kek);
	PRM_SET(&ctx, import_kek, key_size, 1);
	PRM_SET(&ctx, import_kek, state, 3);
	memset(ctx.p + 64, 0xbb, 128);
	return gen_new(d, &c);
}

static struct prm_box login_cmd(struct cmd *c, uint16_t uid, uint32_t credential, uint32_t kek)
{
	struct prm_box ctx = GEN_NEW(c, uid, LOGIN, crypto_login_obj);

	PRM_SET(&ctx, crypto_login_obj, credential_pointer, credential);
	PRM_SET(&ctx, crypto_login_obj, session_import_kek_ptr, kek);
	memset(ctx.p + 64, 0xcc, 48);
	return ctx;
}

static void logins(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d), other = new_uid(d);
	uint32_t pd = new_pd(d, uid), credential = new_credential(d, uid), kek = new_import_kek(d, uid), login;
	struct prm_box ctx;
	struct cmd c;

	ctx = GEN_GET(d, &c, uid, CREDENTIAL, credential, credential);
	none_of(&ctx, 0xcc);
	assert_int_equal(PRM_GET(&ctx, credential, credential_role), 1);
	assert_int_equal(PRM_GET(&ctx, credential, state), 0);
	ctx = GEN_GET(d, &c, uid, IMPORT_KEK, kek, import_kek);
	none_of(&ctx, 0xbb);
	assert_int_equal(PRM_GET(&ctx, import_kek, key_size), 1);

	dek_cmd(&c, uid, pd, FOR_AES_XTS);
	cmd_refused(d, &c, SYN_DEK_LOGIN);
	ctx = login_cmd(&c, uid, credential, kek);
	ctx.p[64 + 47] ^= 1; /* the last byte of the credential */
	cmd_refused(d, &c, SYN_LOGIN_CREDENTIAL);
	login_cmd(&c, uid, credential + 1, kek);
	cmd_refused(d, &c, SYN_CREDENTIAL);
	login_cmd(&c, uid, credential, kek + 1);
	cmd_refused(d, &c, SYN_IMPORT_KEK);
	login_cmd(&c, other, credential, kek);
	cmd_refused(d, &c, SYN_CREDENTIAL);

	ctx = login_cmd(&c, uid, credential, kek);
	PRM_SET(&ctx, crypto_login_obj, state, 1);
	login = gen_new(d, &c);
	ctx = GEN_GET(d, &c, uid, LOGIN, login, crypto_login_obj);
	none_of(&ctx, 0xcc);
	assert_int_equal(PRM_GET(&ctx, crypto_login_obj, state), 0); /* valid */
	assert_int_equal(PRM_GET(&ctx, crypto_login_obj, credential_pointer), credential);
	gen_destroy(d, uid, CREDENTIAL, credential, SYN_GENERAL_BUSY);
	gen_destroy(d, uid, IMPORT_KEK, kek, SYN_GENERAL_BUSY);

	dek_cmd(&c, uid, pd, FOR_AES_XTS);
	cmd_ok(d, &c);
	dek_cmd(&c, other, new_pd(d, other), FOR_AES_XTS);
	cmd_refused(d, &c, SYN_DEK_LOGIN); /* another one's login */
	gen_destroy(d, uid, LOGIN, login, SYN_OK);
	dek_cmd(&c, uid, pd, FOR_AES_XTS);
	cmd_refused(d, &c, SYN_DEK_LOGIN);
	gen_destroy(d, uid, CREDENTIAL, credential, SYN_OK);
	gen_destroy(d, uid, IMPORT_KEK, kek, SYN_OK);
}

static void keks(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d);
	uint32_t pd = new_pd(d, uid), id;
	struct prm_box ctx;
	struct cmd c;

	ctx = GEN_NEW(&c, uid, INT_KEK, int_kek_obj);
	PRM_SET(&ctx, int_kek_obj, pd, pd);
	PRM_SET(&ctx, int_kek_obj, auto_gen, 1);
	PRM_SET(&ctx, int_kek_obj, state, 1);
	memset(ctx.p + 64, 0xee, 128);
	id = gen_new(d, &c);
	destroy(d, PRM_OP_DEALLOC_PD, uid, pd, SYN_PD_BUSY);
	ctx = GEN_GET(d, &c, uid, INT_KEK, id, int_kek_obj);
	none_of(&ctx, 0xee);
	assert_int_equal(PRM_GET(&ctx, int_kek_obj, auto_gen), 1);
	assert_int_equal(PRM_GET(&ctx, int_kek_obj, state), 0);
	ctx = GEN_NEW(&c, uid, INT_KEK, int_kek_obj);
	PRM_SET(&ctx, int_kek_obj, pd, pd);
	PRM_SET(&ctx, int_kek_obj, key_size, 2);
	cmd_refused(d, &c, SYN_KEK_SIZE);
}

static void ipsec(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d);
	uint32_t pd = new_pd(d, uid), dek, xts, id;
	struct prm_box ctx;
	struct cmd c;

	dek_cmd(&c, uid, pd, FOR_IPSEC);
	dek = gen_new(d, &c);
	dek_cmd(&c, uid, pd, FOR_MACSEC);
	xts = gen_new(d, &c);

	ctx = GEN_NEW(&c, uid, IPSEC, ipsec_obj);
	cmd_refused(d, &c, SYN_DEK);
	PRM_SET(&ctx, ipsec_obj, dekn, xts);
	cmd_refused(d, &c, SYN_IPSEC_KEY);
	PRM_SET(&ctx, ipsec_obj, dekn, dek);
	PRM_SET(&ctx, ipsec_obj, full_offload, 1);
	cmd_refused(d, &c, SYN_IPSEC_FULL);
	PRM_SET(&ctx, ipsec_obj, full_offload, 0);
	PRM_SET(&ctx, ipsec_obj, icv_length, 1);
	cmd_refused(d, &c, SYN_IPSEC_ICV);
	PRM_SET(&ctx, ipsec_obj, icv_length, 0);
	PRM_SET(&ctx, ipsec_obj, salt, 0xeeeeeeee);
	PRM_SET(&ctx, ipsec_obj, implicit_iv, 0x0102030405060708);
	id = gen_new(d, &c);
	gen_destroy(d, uid, DEK, dek, SYN_GENERAL_BUSY);

	/* Drivers look here whether the ESN can be modified. */
	ctx = GEN_GET(d, &c, uid, IPSEC, id, ipsec_obj);
	none_of(&ctx, 0xee);
	assert_int_equal(PRM_GET(&ctx, ipsec_obj, modify_field_select), 3);
	assert_true(PRM_GET(&ctx, ipsec_obj, implicit_iv) == 0x0102030405060708);

	ctx = GEN_MOD(&c, uid, IPSEC, id, ipsec_obj);
	PRM_SET(&ctx, ipsec_obj, modify_field_select, 2);
	PRM_SET(&ctx, ipsec_obj, esn_msb, 5);
	cmd_refused(d, &c, SYN_IPSEC_ESN);
	gen_destroy(d, uid, IPSEC, id, SYN_OK);

	ctx = GEN_NEW(&c, uid, IPSEC, ipsec_obj);
	PRM_SET(&ctx, ipsec_obj, dekn, dek);
	PRM_SET(&ctx, ipsec_obj, esn_en, 1);
	PRM_SET(&ctx, ipsec_obj, ipsec_aso_access_pd, pd);
	id = gen_new(d, &c);
	ctx = GEN_MOD(&c, uid, IPSEC, id, ipsec_obj);
	PRM_SET(&ctx, ipsec_obj, modify_field_select, 2);
	PRM_SET(&ctx, ipsec_obj, esn_msb, 5);
	PRM_SET(&ctx, ipsec_obj, esn_overlap, 1);
	PRM_SET(&ctx, ipsec_obj, dekn, xts);
	cmd_ok(d, &c);
	ctx = GEN_GET(d, &c, uid, IPSEC, id, ipsec_obj);
	assert_int_equal(PRM_GET(&ctx, ipsec_obj, esn_msb), 5);
	assert_int_equal(PRM_GET(&ctx, ipsec_obj, esn_overlap), 0);
	assert_int_equal(PRM_GET(&ctx, ipsec_obj, dekn), dek);

	/* A key that is in use does not change. */
	ctx = GEN_MOD(&c, uid, DEK, dek, dek);
	PRM_SET(&ctx, dek, modify_field_select, 1);
	PRM_SET(&ctx, dek, key_purpose, FOR_IPSEC);
	cmd_refused(d, &c, SYN_DEK_USED);
}

static void macsec(void **state)
{
	struct dev *d = *state;
	uint16_t uid = new_uid(d);
	uint32_t pd = new_pd(d, uid), dek, other, id;
	struct prm_box ctx;
	struct cmd c;

	dek_cmd(&c, uid, pd, FOR_MACSEC);
	dek = gen_new(d, &c);
	dek_cmd(&c, uid, pd, FOR_IPSEC);
	other = gen_new(d, &c);
	ctx = GEN_NEW(&c, uid, MACSEC, macsec_offload_obj);
	PRM_SET(&ctx, macsec_offload_obj, dekn, other);
	cmd_refused(d, &c, SYN_MACSEC_KEY);
	PRM_SET(&ctx, macsec_offload_obj, dekn, dek);
	PRM_SET(&ctx, macsec_offload_obj, sci, 0x0102030405060708);
	memset(ctx.p + 48, 0xee, 12); /* salt */
	id = gen_new(d, &c);
	ctx = GEN_GET(d, &c, uid, MACSEC, id, macsec_offload_obj);
	none_of(&ctx, 0xee);
	assert_true(PRM_GET(&ctx, macsec_offload_obj, sci) == 0x0102030405060708);
	ctx = GEN_MOD(&c, uid, MACSEC, id, macsec_offload_obj);
	PRM_SET(&ctx, macsec_offload_obj, modify_field_select, 1);
	cmd_refused(d, &c, SYN_MACSEC_EPN);
	gen_destroy(d, uid, DEK, dek, SYN_GENERAL_BUSY);
	gen_destroy(d, uid, MACSEC, id, SYN_OK);
	gen_destroy(d, uid, DEK, dek, SYN_OK);
}

int run_crypto_tests(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, dev_setup, dev_teardown)
	const struct CMUnitTest tests[] = { TEST(deks), TEST(logins), TEST(keks), TEST(ipsec), TEST(macsec) };

	return cmocka_run_group_tests_name("crypto objects", tests, NULL, NULL);
}
