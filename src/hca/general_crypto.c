/* SPDX-License-Identifier: BSD-2-Clause */
/* General objects that hold keys, and those that use them. Keys go in and never come out. */
#include <string.h>

#include "caps.h"
#include "general.h"

/* Linux, include/linux/mlx5/mlx5_ifc.h: MLX5_GENERAL_OBJECT_TYPE_ENCRYPTION_KEY_*; the others: DPDK, mlx5_prm.h. */
enum { KEY_128, KEY_256 };
enum { FOR_TLS = 1, FOR_IPSEC = 2, FOR_AES_XTS = 3, FOR_MACSEC = 4, FOR_GCM = 5, FOR_PSP = 6 };

#define DEK(field) CTX_PLACE(encryption_key_obj, field)
#define DEK_KEY 0x1 /* Linux, lib/crypto.c selects the key of a DEK that is used again so */

static const struct gen_field dek[] = {
	REF(OBJ_PD, DEK(pd)),
	RO(DEK(state)),
	SECRET(CTX_PLACE(dek, key)),
	SECRET(GEN_ARRAY(encryption_key_obj, sw_wrapped_dek, 8)),
	MAX(KEY_256, SYN_DEK_SIZE, DEK(key_size)),
	MAX(0, SYN_DEK_WRAPPED, DEK(sw_wrapped)),
	MODIFY(DEK_KEY, DEK(key_size)),
	MODIFY(DEK_KEY, DEK(has_keytag)),
	MODIFY(DEK_KEY, DEK(key_purpose)),
	MODIFY(DEK_KEY, DEK(opaque)),
	MODIFY(DEK_KEY, CTX_PLACE(dek, key)),
	FIELDS_END,
};

/* Does the uid have a session? There are few of them at most. */
static bool logged_in(struct hca *h, uint16_t uid)
{
	for (uint32_t id = 1; id <= obj_classes[OBJ_LOGIN].max_id; id++)
		if (obj_find(h, OBJ_LOGIN, id, uid))
			return true;
	return false;
}

/* Keys for storage are imported wrapped (wrapped_import_method says so), and only a login can unwrap them. */
static enum syn check_dek(struct gen_change *c)
{
	/* Of a bulk only the whole is known to be in use, and drivers set the key of one while others are. */
	if (!c->create && !c->obj->log && c->obj->refs)
		return SYN_DEK_USED;
	switch (PRM_GET(&c->next, encryption_key_obj, key_purpose)) {
	case FOR_AES_XTS:
		return logged_in(c->h, c->uid) ? SYN_OK : SYN_DEK_LOGIN;
	case FOR_IPSEC:
		return SYN_OK;
	case FOR_MACSEC:
		return HCA_CAP(c->h, MACSEC, macsec_cap, log_max_macsec_offload) ? SYN_OK : SYN_DEK_PURPOSE;
	default:
		return SYN_DEK_PURPOSE;
	}
}

static const struct gen_field import_kek[] = {
	RO(CTX_PLACE(import_kek, state)),
	SECRET(CTX_PLACE(import_kek, key)),
	MAX(KEY_256, SYN_KEK_SIZE, CTX_PLACE(import_kek, key_size)),
	FIELDS_END,
};

static const struct gen_field int_kek[] = {
	REF(OBJ_PD, CTX_PLACE(int_kek_obj, pd)),
	RO(CTX_PLACE(int_kek_obj, state)),
	SECRET(GEN_ARRAY(int_kek_obj, key, 8)),
	MAX(KEY_256, SYN_KEK_SIZE, CTX_PLACE(int_kek_obj, key_size)),
	FIELDS_END,
};

static const struct gen_field credential[] = {
	RO(CTX_PLACE(credential, state)),
	SECRET(CTX_PLACE(credential, credential)),
	FIELDS_END,
};

static const struct gen_field login[] = {
	REF(OBJ_CREDENTIAL, CTX_PLACE(crypto_login_obj, credential_pointer)),
	REF(OBJ_IMPORT_KEK, CTX_PLACE(crypto_login_obj, session_import_kek_ptr)),
	RO(CTX_PLACE(crypto_login_obj, state)), /* rdma-core: MLX5_CRYPTO_LOGIN_OBJ_STATE_VALID is 0 */
	SECRET(CTX_PLACE(crypto_login, credential)),
	FIELDS_END,
};

/* As good as the credential that it points to. */
static enum syn check_login(struct gen_change *c)
{
	uint32_t id = (uint32_t)PRM_GET(&c->next, crypto_login, credential_pointer);
	struct prm_box known = gen_context(obj_find(c->h, OBJ_CREDENTIAL, id, c->uid), id);
	struct prm_box is = PRM_SUB(&known, credential, credential), said = PRM_SUB(&c->next, crypto_login, credential);

	return memcmp(is.p, said.p, is.len) ? SYN_LOGIN_CREDENTIAL : SYN_OK;
}

/* Is the DEK that dekn names for this? That it exists was seen before. */
static bool dek_is_for(struct gen_change *c, uint64_t dekn, unsigned int purpose)
{
	struct prm_box key = gen_context(obj_find(c->h, OBJ_DEK, (uint32_t)dekn, c->uid), (uint32_t)dekn);

	return PRM_GET(&key, encryption_key_obj, key_purpose) == purpose;
}

/* Linux, include/linux/mlx5/mlx5_ifc.h: MLX5_MODIFY_IPSEC_BITMASK_*, MLX5_MODIFY_MACSEC_BITMASK_*. */
enum { OVERLAP = 0x1, MSB = 0x2 };

#define IPSEC(field) CTX_PLACE(ipsec_obj, field)

/* The salt is part of what RFC 4106 calls keying material, so it is a secret too: our choice. */
static const struct gen_field ipsec[] = {
	REF(OBJ_DEK, IPSEC(dekn)),
	OPT_REF(OBJ_PD, IPSEC(ipsec_aso_access_pd)),
	SECRET(IPSEC(salt)),
	MAX(0, SYN_IPSEC_FULL, IPSEC(full_offload)),
	MAX(0, SYN_IPSEC_ICV, IPSEC(icv_length)), /* 16 bytes: MLX5_IPSEC_OBJECT_ICV_LEN_16B, the only one named */
	MODIFY(OVERLAP, IPSEC(esn_overlap)),
	MODIFY(MSB, IPSEC(esn_msb)),
	FIELDS_END,
};

static enum syn check_ipsec(struct gen_change *c)
{
	if (!dek_is_for(c, PRM_GET(&c->next, ipsec_obj, dekn), FOR_IPSEC))
		return SYN_IPSEC_KEY;
	if (c->select && !PRM_GET(&c->now, ipsec_obj, esn_en))
		return SYN_IPSEC_ESN;
	return SYN_OK;
}

#define MACSEC_F(field) CTX_PLACE(macsec_offload_obj, field)

static const struct gen_field macsec[] = {
	REF(OBJ_DEK, MACSEC_F(dekn)),
	OPT_REF(OBJ_PD, MACSEC_F(macsec_aso_access_pd)),
	SECRET(GEN_ARRAY(macsec_offload_obj, salt, 3)),
	MODIFY(OVERLAP, MACSEC_F(epn_overlap)),
	MODIFY(MSB, MACSEC_F(epn_msb)),
	FIELDS_END,
};

static enum syn check_macsec(struct gen_change *c)
{
	if (!dek_is_for(c, PRM_GET(&c->next, macsec_offload_obj, dekn), FOR_MACSEC))
		return SYN_MACSEC_KEY;
	if (c->select && !PRM_GET(&c->now, macsec_offload_obj, epn_en))
		return SYN_MACSEC_EPN;
	return SYN_OK;
}

/*
 * Which profiles: crypto begins with ConnectX-6 Dx, MACsec with ConnectX-7 (their product briefs); internal KEKs are
 * inferred. The short form of a DEK is rdma-core's and DPDK's.
 */
const struct gen_type gen_crypto[] = {
	{ .type = 0x0c, .obj = OBJ_DEK, .profiles = CX6DX | CX7 | BF3, .log_range = GEN_LOG_RANGE,
	  .layout = "encryption_key_obj", .bytes = PRM_SZ(encryption_key_obj), .min = PRM_SZ(dek), .fields = dek, .check = check_dek },
	{ .type = 0x13, .obj = OBJ_IPSEC, .profiles = CX6DX | CX7 | BF3, GEN_LAYOUT(ipsec_obj), .fields = ipsec,
	  .check = check_ipsec },
	{ .type = 0x1d, .obj = OBJ_IMPORT_KEK, .profiles = CX6DX | CX7 | BF3, GEN_LAYOUT(import_kek), .fields = import_kek },
	{ .type = 0x1e, .obj = OBJ_CREDENTIAL, .profiles = CX6DX | CX7 | BF3, GEN_LAYOUT(credential), .fields = credential },
	{ .type = 0x1f, .obj = OBJ_LOGIN, .profiles = CX6DX | CX7 | BF3, GEN_LAYOUT(crypto_login_obj), .fields = login,
	  .check = check_login },
	{ .type = 0x27, .obj = OBJ_MACSEC, .profiles = CX7 | BF3, GEN_LAYOUT(macsec_offload_obj), .fields = macsec,
	  .check = check_macsec },
	{ .type = 0x47, .obj = OBJ_INT_KEK, .profiles = CX7 | BF3, GEN_LAYOUT(int_kek_obj), .fields = int_kek },
	{ .obj = OBJ_NONE },
};
