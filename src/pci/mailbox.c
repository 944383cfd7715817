/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Mailboxes: what does not fit the command queue entry follows in blocks of 512 bytes, each of which names the next one. A block
 * is read once: what is checked is what is used, whatever the guest writes meanwhile.
 */
#include <string.h>

#include "function.h"

/* Of the addresses of blocks these bits are zero: a descriptor's, and a block's next one. */
#define FIRST_ALIGN 511u
#define NEXT_ALIGN 1023u

/* The control part, behind the data; the last two of its bytes are the signatures. */
#define CONTROL_BYTES (BLOCK_BYTES - BLOCK_DATA)

uint8_t mailbox_xor(const uint8_t *p, size_t len)
{
	uint64_t x = 0, word;

	for (; len >= sizeof(word); p += sizeof(word), len -= sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		x ^= word;
	}
	while (len--)
		x ^= *p++;
	x ^= x >> 32;
	x ^= x >> 16;
	return (uint8_t)(x ^ x >> 8);
}

/* The layout leaves out the low bits, which must be zero. */
uint64_t mailbox_pointer(struct prm_box *b, uint32_t high_bit, uint32_t low_bit)
{
	return prm_get(b, high_bit, 32) << 32 | prm_get(b, low_bit, 32);
}

static uint64_t next_of(struct prm_box *b)
{
	struct { uint32_t bit, width; } high = { PRM_F_cmd_if_box__next_pointer_63_32 }, low = { PRM_F_cmd_if_box__next_pointer_31_10 };

	return mailbox_pointer(b, high.bit, low.bit);
}

/* Linux fills the signatures of blocks only when it is asked to, and checks them only then: both of zero are none. */
static bool signed_right(struct prm_box *b, bool whole)
{
	if (!PRM_GET(b, cmd_if_box, ctrl_signature) && !PRM_GET(b, cmd_if_box, signature))
		return true;
	return mailbox_xor(b->p + BLOCK_DATA, CONTROL_BYTES - 1) == 0xff && (!whole || mailbox_xor(b->p, BLOCK_BYTES) == 0xff);
}

/* One block of a chain, or only its control part, to where it belongs in block. */
static enum delivery fetch(struct pci *p, uint64_t addr, uint32_t number, uint8_t token, bool whole, bool in, uint8_t *block)
{
	uint32_t from = whole ? 0 : BLOCK_DATA;
	struct prm_box b = prm_in(block, BLOCK_BYTES);

	if (!addr)
		return in ? DELIVERY_IN_LENGTH : DELIVERY_OUT_LENGTH; /* the chain is too short */
	if (addr & (number ? NEXT_ALIGN : FIRST_ALIGN))
		return in ? DELIVERY_IN_POINTER : DELIVERY_OUT_POINTER;
	if (!dma_read(p, addr + from, block + from, BLOCK_BYTES - from))
		return DELIVERY_FIRMWARE;
	if (PRM_GET(&b, cmd_if_box, token) != token)
		return DELIVERY_TOKEN;
	if (PRM_GET(&b, cmd_if_box, block_number) != number)
		return DELIVERY_BLOCK_NUMBER;
	return signed_right(&b, whole) ? DELIVERY_OK : DELIVERY_SIGNATURE;
}

enum delivery mailbox_read(struct pci *p, uint64_t addr, uint8_t token, uint8_t *dst, uint32_t len)
{
	uint8_t block[BLOCK_BYTES] = { 0 };
	struct prm_box b = prm_in(block, sizeof(block));

	for (uint32_t done = 0, number = 0; done < len; number++) {
		uint32_t n = len - done < BLOCK_DATA ? len - done : BLOCK_DATA;
		enum delivery why = fetch(p, addr, number, token, true, true, block);

		if (why)
			return why;
		memcpy(dst + done, block, n);
		done += n;
		addr = next_of(&b);
	}
	return DELIVERY_OK;
}

enum delivery mailbox_find(struct pci *p, uint64_t addr, uint8_t token, struct slot *s)
{
	uint8_t block[BLOCK_BYTES] = { 0 };
	struct prm_box b = prm_in(block, sizeof(block));

	s->n_blocks = 0;
	for (uint32_t done = INLINE_BYTES; done < s->outlen; done += BLOCK_DATA) {
		enum delivery why = fetch(p, addr, s->n_blocks, token, false, false, block);

		if (why)
			return why;
		s->blocks[s->n_blocks++] = addr;
		addr = s->blocks_end = next_of(&b);
	}
	return DELIVERY_OK;
}

/*
 * Whole blocks, with what they had said when they were found, and signatures: a driver that checks them checks all of it. Each
 * only as long as the driver waits for sure: afterwards they are somebody else's.
 */
bool mailbox_write(struct pci *p, const struct slot *s, uint8_t token)
{
	for (unsigned int i = 0; i < s->n_blocks; i++) {
		uint32_t done = INLINE_BYTES + i * BLOCK_DATA;
		uint32_t n = s->outlen - done < BLOCK_DATA ? s->outlen - done : BLOCK_DATA;
		uint64_t next = i + 1 < s->n_blocks ? s->blocks[i + 1] : s->blocks_end;
		uint8_t block[BLOCK_BYTES] = { 0 };
		struct prm_box b = prm_out(block, sizeof(block));

		memcpy(block, s->out + done, n);
		PRM_SET(&b, cmd_if_box, next_pointer_63_32, next >> 32);
		PRM_SET(&b, cmd_if_box, next_pointer_31_10, next >> 10);
		PRM_SET(&b, cmd_if_box, block_number, i);
		PRM_SET(&b, cmd_if_box, token, token);
		PRM_SET(&b, cmd_if_box, ctrl_signature, (uint8_t)~mailbox_xor(block + BLOCK_DATA, CONTROL_BYTES - 1));
		PRM_SET(&b, cmd_if_box, signature, (uint8_t)~mailbox_xor(block, BLOCK_BYTES));
		if (cmdq_too_late(p, s) || !dma_write(p, s->blocks[i], block, sizeof(block)))
			return false;
	}
	return true;
}
