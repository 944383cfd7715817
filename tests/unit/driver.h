/* SPDX-License-Identifier: BSD-2-Clause */
/* What a driver does with the function: guest memory, the command queue, mailboxes, event queues. Time is stepped. */
#ifndef TEST_DRIVER_H
#define TEST_DRIVER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pci.h"
#include "prm.h"

#define MEM_ADDR UINT64_C(0x123400000)
#define MEM_SIZE 0x100000u
#define QUEUE_AT 0x0u      /* in guest memory, as the places below */
#define EQ_AT 0x1000u      /* a page for each EQ */
#define BOXES_AT 0x10000u  /* mailboxes, 1 KiB apart */
#define BOX_STEP 1024u
#define FAR UINT64_C(0x7700000000) /* where there is no memory */

#define MS UINT64_C(1000000)
#define SEC (1000 * MS)
#define BOX_MAX 65535u

struct driver {
	struct pci *p;
	struct pci_config config;
	uint8_t *mem;
	uint8_t token;
	uint64_t now, read_ns, write_ns; /* what an access of the device to memory takes */
	unsigned int n_msix[PCI_VECTORS], n_reads, n_writes, n_resets;
	unsigned int next_box;
	struct {
		uint64_t addr; /* 0: an interrupt */
		size_t len;
	} log[64];     /* what the device wrote, the oldest first, since n_log was 0 */
	unsigned int n_log;
	bool deny_writes;
	uint32_t eqn, eq_ci;
};

/* A command in a slot: where its boxes lie. */
struct sent {
	unsigned int slot;
	uint32_t inlen, outlen;
	uint64_t in_boxes, out_boxes; /* 0: none */
	uint8_t token;
	uint8_t *entry;
};

extern const struct hca_config default_config;
extern const struct pci_host driver_host;
extern unsigned int fail_alloc; /* the k-th allocation from now on fails, once; 0: none does */
int driver_setup(void **state);
int driver_teardown(void **state);
void driver_start(struct driver *d, const struct hca_config *hca, bool mapped); /* after driver_setup: with another config */

uint32_t reg(struct driver *d, uint32_t offset);
void reg_set(struct driver *d, uint32_t offset, uint32_t value);
uint32_t conf(struct driver *d, uint32_t offset);
void conf_set(struct driver *d, uint32_t offset, uint32_t value);
void ring(struct driver *d, uint32_t slots);
void step(struct driver *d, uint64_t ns);

/* Fills a slot with a command and what it needs in mailboxes, which begin at the next free place; it is not rung. */
struct sent put(struct driver *d, unsigned int slot, const void *in, uint32_t inlen, uint32_t outlen);
struct sent put_nop(struct driver *d, unsigned int slot);
struct sent send_nop(struct driver *d, unsigned int slot);
uint8_t *block(struct driver *d, uint64_t boxes, unsigned int n);
void sign(struct driver *d, const struct sent *s, bool blocks);
bool owned_by_device(const struct sent *s);
uint8_t delivery(const struct sent *s);
/* The outbox, of a command that has ended well. */
void get(struct driver *d, const struct sent *s, void *out);
/* All of it in slot 0; a refusal is a test's failure. */
void run(struct driver *d, const void *in, uint32_t inlen, void *out, uint32_t outlen);
void control(struct driver *d, const char *line, const char *want);

void bring_up(struct driver *d); /* bus master, command queue, from ENABLE_HCA to INIT_HCA */
void command_eq(struct driver *d);
/* The slots that the next EQE tells; 0: there is none. It is consumed, and the EQ armed. */
uint32_t next_eqe(struct driver *d);

int run_pci_registers_tests(void);
int run_pci_commands_tests(void);
int run_pci_time_tests(void);

#endif
