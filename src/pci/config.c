/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Configuration space: an endpoint with power management, PCI Express and MSI-X, one BAR, and no interrupt pin. Offsets and bits
 * are the PCI specifications' (linux/pci_regs.h has them too).
 */
#include <string.h>

#include "function.h"

#define COMMAND 0x04u
#define COMMAND_MASTER 0x4u
#define COMMAND_WRITABLE 0x0547u /* I/O, memory, master, parity, SERR, INTx off */
#define STATUS_CAPABILITIES 0x10u
#define CACHE_LINE 0x0cu
#define BAR0_LOW 0x10u
#define BAR0_HIGH 0x14u
#define SUBSYSTEM 0x2cu
#define CAPABILITIES 0x34u
#define INTERRUPT_LINE 0x3cu

#define CAP_PM 0x40u
#define PM_CONTROL (CAP_PM + 4)
#define PM_NO_SOFT_RESET 0x8u
#define CAP_EXP 0x60u
#define EXP_CONTROL (CAP_EXP + 8)
#define EXP_FLR 0x80u /* in the byte at EXP_CONTROL + 1 */
#define EXP_LINK_CONTROL (CAP_EXP + 0x10)
#define EXP_CONTROL2 (CAP_EXP + 0x28)
#define EXP_LINK_CONTROL2 (CAP_EXP + 0x30)
#define CAP_MSIX 0x9cu
#define MSIX_CONTROL (CAP_MSIX + 2)
#define MSIX_WRITABLE 0xc000u /* enable, function mask */

static const uint16_t device_ids[HCA_N_PROFILES] = {
	[HCA_CX5] = 0x1017, [HCA_CX6DX] = 0x101d, [HCA_CX7] = 0x1021, [HCA_BF3] = 0xa2dc,
};

static void put16(uint8_t *at, uint16_t v)
{
	at[0] = (uint8_t)v;
	at[1] = (uint8_t)(v >> 8);
}

static void put32(uint8_t *at, uint32_t v)
{
	put16(at, (uint16_t)v);
	put16(at + 2, (uint16_t)(v >> 16));
}

/* What a write changes; all else is read-only. */
static const struct {
	uint16_t at;
	uint32_t mask;
} writable[] = {
	{ COMMAND, COMMAND_WRITABLE },
	{ CACHE_LINE, 0xff },
	{ BAR0_LOW, (uint32_t)~(PCI_BAR0_SIZE - 1) },
	{ BAR0_HIGH, UINT32_MAX },
	{ INTERRUPT_LINE, 0xff },
	{ PM_CONTROL, 0x3 },
	{ EXP_CONTROL, 0x7fff },
	{ EXP_LINK_CONTROL, 0x1cb },
	{ EXP_CONTROL2, 0x3ff },
	{ EXP_LINK_CONTROL2, 0xffff },
	{ CAP_MSIX, (uint32_t)MSIX_WRITABLE << 16 },
};

static void express_init(uint8_t *cap)
{
	cap[0] = 0x10;
	cap[1] = CAP_MSIX;
	put16(cap + 2, 0x0002);      /* version 2, endpoint */
	put32(cap + 4, 0x10008fe2);  /* function level reset, extended tags, payloads of 512 bytes */
	put16(cap + 8, 0x2810);      /* reads of 512 bytes, no snoop, relaxed order */
	put32(cap + 0xc, 0x0003f103); /* 8 GT/s, 16 lanes */
	put16(cap + 0x12, 0x1103);
	put32(cap + 0x24, 0x1f);     /* completion timeouts: ranges and disabling */
	put32(cap + 0x2c, 0x0000000e); /* 2.5 to 8 GT/s */
	put16(cap + 0x30, 0x0003);
}

void config_init(struct pci *p)
{
	uint8_t *c = p->config;

	memset(c, 0, sizeof(p->config));
	put16(c, 0x15b3);
	put16(c + 2, device_ids[p->cfg.hca.profile]);
	put16(c + 6, STATUS_CAPABILITIES);
	put32(c + 8, 0x02000000); /* an Ethernet controller, revision 0 */
	put32(c + BAR0_LOW, 0xc); /* 64 bits, prefetchable */
	put16(c + SUBSYSTEM, 0x15b3);
	put16(c + SUBSYSTEM + 2, device_ids[p->cfg.hca.profile]);
	c[CAPABILITIES] = CAP_EXP;
	express_init(c + CAP_EXP);
	c[CAP_MSIX] = 0x11;
	c[CAP_MSIX + 1] = CAP_PM;
	put16(c + MSIX_CONTROL, PCI_VECTORS - 1);
	put32(c + CAP_MSIX + 4, MSIX_TABLE);
	put32(c + CAP_MSIX + 8, MSIX_PBA);
	c[CAP_PM] = 0x01;
	put16(c + CAP_PM + 2, 0x0003);
	put16(c + PM_CONTROL, PM_NO_SOFT_RESET);
}

static uint8_t mask_of(uint64_t offset)
{
	for (size_t i = 0; i < sizeof(writable) / sizeof(writable[0]); i++)
		if (offset - writable[i].at < 4)
			return (uint8_t)(writable[i].mask >> (offset - writable[i].at) * 8);
	return 0;
}

void config_write(struct pci *p, uint64_t offset, const uint8_t *src, size_t len, bool *reset)
{
	for (size_t i = 0; i < len; i++, offset++) {
		uint8_t mask = mask_of(offset);

		p->config[offset] = (uint8_t)((p->config[offset] & ~mask) | (src[i] & mask));
		*reset |= offset == EXP_CONTROL + 1 && src[i] & EXP_FLR;
	}
}

bool config_bus_master(const struct pci *p)
{
	return p->config[COMMAND] & COMMAND_MASTER;
}
