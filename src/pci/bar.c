/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * BAR0 before the doorbell pages: the initialization segment, with the health buffer and the timer, and the MSI-X table. Registers
 * are big-endian. What is not a register reads 0.
 */
#include <string.h>

#include "function.h"

#define CMDIF_REV 5u

/* Versions that such devices run with (our choice): major and minor; the sub-minor is the same for all. */
static const struct {
	uint16_t major, minor;
} firmware[HCA_N_PROFILES] = {
	[HCA_CX5] = { 16, 35 }, [HCA_CX6DX] = { 22, 35 }, [HCA_CX7] = { 28, 35 }, [HCA_BF3] = { 32, 35 },
};

#define FIRMWARE_SUB 4030u

/* States of the NIC interface. Linux, drivers/net/ethernet/mellanox/mlx5/core/mlx5_core.h. */
#define NIC_FULL 0u
#define NIC_DISABLED 1u
#define NIC_NO_DRAM 2u
#define NIC_BITS 0x7u /* three, of which the layout shows two */
#define NIC_SHIFT 8u

/* The driver starts while the bit is set, and waits. */
#define INITIALIZING_NS UINT64_C(1000000)
#define HEALTH_NS UINT64_C(100000000) /* the health counter moves so often; Linux looks every two seconds */

/* Timeouts of more than that are told in seconds. */
#define TIMEOUT_MS_MAX 0xfffffu
#define TIMEOUT_SECONDS 1u
#define TIMEOUT_DEFAULT (UINT64_C(60) * 1000000000)
#define Q_INIT_MS 2000u /* Linux' own value */

/* MSI-X: every vector is masked. */
#define MSIX_VECTOR_CONTROL 12u

static void set_timeout(struct prm_box to, uint64_t ms)
{
	bool seconds = ms > TIMEOUT_MS_MAX;

	PRM_SET(&to, default_timeout, to_multiplier, seconds ? TIMEOUT_SECONDS : 0);
	PRM_SET(&to, default_timeout, to_value, seconds ? (ms + 999) / 1000 : ms);
}

void bar_init(struct pci *p, uint64_t now)
{
	struct prm_box seg = prm_out(p->seg, sizeof(p->seg)), health;
	uint16_t major = firmware[p->cfg.hca.profile].major, minor = firmware[p->cfg.hca.profile].minor;

	memset(p->seg, 0, sizeof(p->seg));
	memset(p->msix, 0, sizeof(p->msix));
	for (uint32_t v = 0; v < PCI_VECTORS; v++)
		p->msix[v * MSIX_ENTRY + MSIX_VECTOR_CONTROL] = 1;
	PRM_SET(&seg, initial_seg, fw_rev_major, major);
	PRM_SET(&seg, initial_seg, fw_rev_minor, minor);
	PRM_SET(&seg, initial_seg, fw_rev_subminor, FIRMWARE_SUB);
	PRM_SET(&seg, initial_seg, cmd_interface_rev, CMDIF_REV);
	PRM_SET(&seg, initial_seg, log_cmdq_size, LOG_SLOTS);
	PRM_SET(&seg, initial_seg, log_cmdq_stride, LOG_STRIDE);
	health = PRM_SUB(&seg, initial_seg, health_buffer);
	PRM_SET(&health, health_buffer, fw_version, (uint32_t)major << 24 | (uint32_t)minor << 16 | FIRMWARE_SUB);
	PRM_SET(&health, health_buffer, hw_id, 0x20c); /* our choice */
	/* Drivers have 60 s by themselves. They read both or none. */
	if (p->cfg.hca.timeout != TIMEOUT_DEFAULT) {
		set_timeout(PRM_SUB(&seg, initial_seg, cmd_exec_to), (p->cfg.hca.timeout + 999999) / 1000000);
		set_timeout(PRM_SUB(&seg, initial_seg, cmd_q_init_to), Q_INIT_MS);
	}
	p->queue = 0;
	p->nic_state = NIC_FULL;
	p->fatal = 0;
	p->ready = now + INITIALIZING_NS;
}

/* What changes by itself. */
static void refresh(struct pci *p, uint64_t now)
{
	struct prm_box seg = prm_out(p->seg, sizeof(p->seg)), health = PRM_SUB(&seg, initial_seg, health_buffer);
	uint64_t ticks = (uint64_t)((unsigned __int128)now * p->khz / 1000000);

	PRM_SET(&seg, initial_seg, cmdq_phy_addr_63_32, p->queue >> 32);
	PRM_SET(&seg, initial_seg, cmdq_phy_addr_31_12, p->queue >> 12);
	PRM_SET(&seg, initial_seg, nic_interface, p->nic_state);
	PRM_SET(&seg, initial_seg, initializing, now < p->ready);
	PRM_SET(&seg, initial_seg, internal_timer_h, ticks >> 32);
	PRM_SET(&seg, initial_seg, internal_timer_l, ticks);
	PRM_SET(&seg, initial_seg, health_counter, now / HEALTH_NS);
	PRM_SET(&seg, initial_seg, health_syndrome, p->fatal);
	PRM_SET(&health, health_buffer, synd, p->fatal);
	PRM_SET(&health, health_buffer, rfr, p->fatal != 0); /* a reset is wanted: only then is it fatal to Linux */
}

/* Copies what [offset, offset + len) and the area at base have in common. */
static void copy_out(uint64_t offset, uint8_t *dst, size_t len, const uint8_t *area, uint64_t base, size_t size)
{
	uint64_t from = offset > base ? offset : base, to = offset + len < base + size ? offset + len : base + size;

	if (from < to)
		memcpy(dst + (from - offset), area + (from - base), to - from);
}

void bar_read(struct pci *p, uint64_t offset, uint8_t *dst, size_t len, uint64_t now)
{
	memset(dst, 0, len);
	if (offset < SEG_BYTES) {
		refresh(p, now);
		copy_out(offset, dst, len, p->seg, 0, sizeof(p->seg));
	}
	copy_out(offset, dst, len, p->msix, MSIX_TABLE, sizeof(p->msix));
}

/*
 * The driver tells where its queue is, or switches the interface off (Linux does both here), which is the end of all that it had made; a
 * request to reset the firmware is taken as that. After it, or after a fatal error, the device starts over with a new queue.
 */
static void queue_low(struct pci *p, uint32_t value)
{
	uint8_t state = value >> NIC_SHIFT & NIC_BITS;
	bool over = p->nic_state != NIC_FULL || p->fatal;

	if (state != NIC_FULL) {
		if (p->nic_state == NIC_FULL)
			function_restart(p);
		p->nic_state = state == NIC_NO_DRAM ? NIC_NO_DRAM : NIC_DISABLED;
		return;
	}
	if (over) {
		function_restart(p);
		p->fatal = 0;
		p->nic_state = NIC_FULL;
	}
	cmdq_abort(p);
	p->queue = (p->queue & ~UINT64_C(0xffffffff)) | (value & ~0xfffu);
}

static void seg_write(struct pci *p, uint32_t at, uint32_t value, uint64_t when, uint64_t now)
{
	switch (at) {
	case SEG_QUEUE_HIGH:
		p->queue = (p->queue & 0xffffffff) | (uint64_t)value << 32;
		break;
	case SEG_QUEUE_LOW:
		queue_low(p, value);
		break;
	case SEG_DOORBELL:
		if (now >= p->ready && !p->fatal && p->nic_state == NIC_FULL)
			cmdq_ring(p, value, when);
		else
			p->n_ignored++;
		break;
	}
}

void bar_write(struct pci *p, uint64_t offset, const uint8_t *src, size_t len, uint64_t when, uint64_t now)
{
	/* Registers whole: of one that is written in part, the other bytes are as they read. */
	for (uint32_t at = SEG_QUEUE_HIGH; at <= SEG_DOORBELL; at += 4) {
		uint8_t bytes[4];

		if (offset >= at + sizeof(bytes) || offset + len <= at)
			continue;
		refresh(p, now);
		memcpy(bytes, p->seg + at, sizeof(bytes));
		for (uint32_t i = 0; i < sizeof(bytes); i++)
			if (at + i >= offset && at + i < offset + len)
				bytes[i] = src[at + i - offset];
		seg_write(p, at, (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3], when, now);
	}
	for (size_t i = 0; i < len && offset + i < MSIX_TABLE + sizeof(p->msix); i++)
		if (offset + i >= MSIX_TABLE)
			p->msix[offset + i - MSIX_TABLE] = src[i];
}
