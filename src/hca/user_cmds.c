/* SPDX-License-Identifier: BSD-2-Clause */
/* Commands of 0xb00 to 0xcff, which a program may give itself: synchronisation, PSP. */
#include "caps.h"
#include "context.h"
#include "vport.h"

/* Steering changes are in force when their command ends, so there is nothing to wait for; the same is true of keys. */
static enum syn sync_steering(struct hca *h, struct call *c)
{
	return SYN_OK;
}

/* crypto_type has a bit for each key purpose whose keys shall be flushed (Linux, lib/crypto.c): all, IPsec, AES-XTS, MACsec. */
#define CRYPTO_TYPES (1u << 0 | 1u << 2 | 1u << 3 | 1u << 4)

static enum syn sync_crypto(struct hca *h, struct call *c)
{
	uint64_t types = PRM_GET(&c->in, sync_crypto_in, crypto_type);

	if (!HCA_CAP(h, CRYPTO, crypto_caps, synchronize_dek))
		return SYN_BAD_OP;
	return types && !(types & ~(uint64_t)CRYPTO_TYPES) ? SYN_OK : SYN_CRYPTO_TYPE;
}

/*
 * PSP: the receiver names its keys by SPI. The highest bit of an SPI tells which of two master keys it is derived from;
 * rotating forgets the older and makes a new one. How a key is derived is the device's secret: here a mix of the seed.
 */
#define PSP_PHASE 0x80000000u
enum { PSP_KEY_128, PSP_KEY_256 };

static uint64_t psp_word(const struct hca *h, uint32_t spi, unsigned int i)
{
	uint64_t z = h->cfg.seed + h->vport->psp_keys * UINT64_C(0x9e3779b97f4a7c15) + ((uint64_t)spi << 8 | i);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static enum syn psp_gen_spi(struct hca *h, struct call *c)
{
	uint64_t size = PRM_GET(&c->in, psp_gen_spi_in, key_size), n = PRM_GET(&c->in, psp_gen_spi_in, num_of_spi);
	uint32_t phase = h->vport->psp_keys & 1 ? PSP_PHASE : 0;

	if (!HCA_CAP(h, GENERAL, cmd_hca_cap, psp))
		return SYN_BAD_OP;
	if (size > PSP_KEY_256)
		return SYN_PSP_SIZE;
	if (!n || n * PRM_SZ(key_spi) > c->out.len - PRM_SZ(psp_gen_spi_out))
		return SYN_PSP_NUMBER;
	if (n > (PSP_PHASE - 1) - h->vport->psp_spi)
		return SYN_PSP_LIMIT; /* until the master key is rotated */
	for (uint64_t i = 0; i < n; i++) {
		struct prm_box k = prm_out(c->out.p + PRM_SZ(psp_gen_spi_out) + i * PRM_SZ(key_spi), PRM_SZ(key_spi));
		uint32_t spi = ++h->vport->psp_spi | phase;

		PRM_SET(&k, key_spi, spi, spi);
		for (unsigned int w = 0; w < (size == PSP_KEY_256 ? 4 : 2); w++)
			prm_set(&k, CTX_BIT_OF(PRM_F_key_spi__key) + w * 64, 64, psp_word(h, spi, w));
	}
	PRM_SET(&c->out, psp_gen_spi_out, num_of_spi, n);
	return SYN_OK;
}

static enum syn psp_rotate_key(struct hca *h, struct call *c)
{
	if (!HCA_CAP(h, GENERAL, cmd_hca_cap, psp))
		return SYN_BAD_OP;
	h->vport->psp_keys++;
	h->vport->psp_spi = 0;
	return SYN_OK;
}

const struct hca_op ops_user_cmds[] = {
	OP_ROW(SYNC_STEERING, sync_steering, OP_PLAIN, sync_steering),
	OP_ROW(SYNC_CRYPTO, sync_crypto, OP_PLAIN, sync_crypto),
	OP_ROW(PSP_GEN_SPI, psp_gen_spi, OP_PLAIN, psp_gen_spi),
	OP_ROW(PSP_ROTATE_KEY, psp_rotate_key, OP_PLAIN, psp_rotate_key),
	{ 0 },
};
