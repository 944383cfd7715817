/* SPDX-License-Identifier: BSD-2-Clause */
/* Inside the function: its registers, its command queue, and what the files share. */
#ifndef PCI_FUNCTION_H
#define PCI_FUNCTION_H

#include "pci.h"
#include "prm.h"

#define SLOTS 32u
#define LOG_SLOTS 5u
#define LOG_STRIDE 6u
#define ENTRY_BYTES 64u
#define INLINE_BYTES 16u
#define BLOCK_DATA 512u
#define BLOCK_BYTES PRM_SZ(cmd_if_box)
/* The longest boxes. The inbox has room for the pages of 4 GiB, each of 4 KiB: more than Linux asks for at a time (our choice). */
#define INBOX_MAX ((8u << 20) + 4096u)
#define OUTBOX_MAX 65536u
#define OUT_BLOCKS ((OUTBOX_MAX - INLINE_BYTES + BLOCK_DATA - 1) / BLOCK_DATA)

/* Registers at the start of BAR0, of which the initialization segment is the first part. */
#define SEG_BYTES 0x2000u
#define SEG_QUEUE_HIGH 0x10u
#define SEG_QUEUE_LOW 0x14u
#define SEG_DOORBELL 0x18u
/* As lspci shows them of real ones. */
#define MSIX_TABLE 0x2000u
#define MSIX_PBA 0x3000u
#define MSIX_ENTRY 16u

/* How the command interface failed to deliver a command. Linux, drivers/net/ethernet/mellanox/mlx5/core/cmd.c. */
enum delivery {
	DELIVERY_OK = 0x0,
	DELIVERY_SIGNATURE = 0x1,
	DELIVERY_TOKEN = 0x2,
	DELIVERY_BLOCK_NUMBER = 0x3,
	DELIVERY_OUT_POINTER = 0x4,
	DELIVERY_IN_POINTER = 0x5,
	DELIVERY_FIRMWARE = 0x6,
	DELIVERY_IN_LENGTH = 0x7,
	DELIVERY_OUT_LENGTH = 0x8,
	DELIVERY_RESERVED = 0x9,
	DELIVERY_DESCRIPTOR = 0x10,
};

enum slot_state {
	SLOT_FREE,
	SLOT_DUE,  /* is answered at its time */
	SLOT_HELD, /* waits for a release */
	SLOT_HUNG, /* waits until the rules are cleared, or for a reset */
};

struct slot {
	uint8_t state, delivery;
	bool told;      /* its end is an event: it was rung when there was a command EQ */
	bool late;      /* its answer comes too late to be one */
	uint16_t opcode, uid;
	uint64_t start, due;
	uint64_t order; /* among those of one time */
	uint64_t entry; /* where the driver has it */
	uint32_t outlen;
	unsigned int n_blocks;
	uint8_t descriptor[ENTRY_BYTES]; /* as it was read */
	uint64_t blocks[OUT_BLOCKS];     /* where the output mailboxes lie */
	uint64_t blocks_end;             /* what the last of them names as its next */
	uint8_t out[OUTBOX_MAX];
};

struct pci {
	struct pci_config cfg;
	struct pci_host ops;
	void *host;
	struct hca *hca;
	uint8_t config[PCI_CONFIG_SIZE];
	uint8_t seg[SEG_BYTES];
	uint8_t msix[PCI_VECTORS * MSIX_ENTRY];
	uint32_t khz;         /* of the internal timer */
	uint64_t queue;       /* the command queue's address */
	uint8_t nic_state;
	uint8_t fatal;        /* the health syndrome; 0: well */
	uint64_t ready;       /* when the initializing bit clears */
	struct slot slots[SLOTS];
	uint64_t order, last_due, rng;
	bool holding;
	uint16_t hold_opcode; /* 0: what programs may send asynchronously */
	uint8_t inbox[OUTBOX_MAX]; /* longer ones are allocated while they execute */
	/* What "stat" tells, since the start. */
	uint64_t n_opcode[0x1000], n_unknown, n_ignored, n_late, n_failed;
};

/* config.c: as at power-on; then reads and writes. *reset: the write asks for a function level reset. */
void config_init(struct pci *p);
void config_write(struct pci *p, uint64_t offset, const uint8_t *src, size_t len, bool *reset);
bool config_bus_master(const struct pci *p);

/* bar.c: what lies before the doorbell pages. */
void bar_init(struct pci *p, uint64_t now);
void bar_read(struct pci *p, uint64_t offset, uint8_t *dst, size_t len, uint64_t now);
void bar_write(struct pci *p, uint64_t offset, const uint8_t *src, size_t len, uint64_t when, uint64_t now);

/* function.c: objects and commands are gone. */
void function_restart(struct pci *p);
bool dma_read(struct pci *p, uint64_t addr, void *dst, size_t len);
bool dma_write(struct pci *p, uint64_t addr, const void *src, size_t len);

/* cmdq.c */
void cmdq_ring(struct pci *p, uint32_t slots, uint64_t when);
void cmdq_due(struct pci *p, uint64_t now);
bool cmdq_too_late(const struct pci *p, const struct slot *s); /* to be answered now */
uint64_t cmdq_next(const struct pci *p);
void cmdq_abort(struct pci *p); /* without an answer */
void cmdq_hold(struct pci *p, uint16_t opcode);
unsigned int cmdq_release(struct pci *p, uint32_t n, uint64_t now);
void cmdq_unhang(struct pci *p, uint64_t now);

/* mailbox.c: the rest of an inbox, after the inline bytes; where an outbox goes; and the outbox there, false: not all of it. */
enum delivery mailbox_read(struct pci *p, uint64_t addr, uint8_t token, uint8_t *dst, uint32_t len);
enum delivery mailbox_find(struct pci *p, uint64_t addr, uint8_t token, struct slot *s);
bool mailbox_write(struct pci *p, const struct slot *s, uint8_t token);
uint8_t mailbox_xor(const uint8_t *p, size_t len); /* of all bytes: 0xff where a signature is right */
uint64_t mailbox_pointer(struct prm_box *b, uint32_t high_bit, uint32_t low_bit);

#endif
