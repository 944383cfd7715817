/* SPDX-License-Identifier: BSD-2-Clause */
/* A function that remembers what the server did with it, and a client at the other end of a socket pair. */
#ifndef VFU_FAKE_H
#define VFU_FAKE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "pci.h"
#include "proto.h"
#include "vfu.h"

#define FAKE_BAR 0x2000u   /* what it remembers of BAR0's start */
#define FAKE_DOORBELL 0x18u /* a write there calls bell */

struct pci {
	struct pci_config config;
	struct pci_host ops;
	void *host;
	uint8_t bar[FAKE_BAR], space[PCI_CONFIG_SIZE];
	unsigned int writes, resets;
	uint64_t next, due_at, written_at;
	unsigned int n_due;
	void (*bell)(struct pci *p);
};

extern uint64_t fake_now;       /* the clock */
extern unsigned int fail_allocation; /* the first, second, ... of those to come; 0: none */
extern unsigned int fake_alive; /* functions */

struct peer {
	struct vfu *v;
	struct pci *fn;
	int fd;
	uint16_t id;
	/* The last reply. */
	struct vfu_header h;
	union {
		uint8_t data[VFU_MSG_MAX];
		struct vfu_device_info info;
		struct vfio_region_info region;
		struct vfio_irq_info irq;
		struct vfu_region_access access;
		struct vfu_dma_access dma;
	};
	size_t len;
	int fds[VFU_FDS_MAX];
	unsigned int n_fds;
};

/* A server with a client, which has said hello. */
void peer_open(struct peer *p, const struct vfu_config *config);
void peer_connect(struct peer *p); /* another client, which has said nothing */
void peer_close(struct peer *p);
void greet(struct peer *p, const char *json);

/* Sends a message, with no server at work. */
void put(struct peer *p, unsigned int command, uint32_t flags, const void *payload, size_t len);
void put_fds(struct peer *p, unsigned int command, const void *payload, size_t len, const int *fds, unsigned int n_fds);
void put_raw(struct peer *p, const void *bytes, size_t len);
void run(struct peer *p); /* the server, until it has nothing to do */
bool got(struct peer *p); /* a message from the server */

/* Sends a command, and returns the error of its reply. */
int call(struct peer *p, unsigned int command, const void *payload, size_t len);
int call_longer(struct peer *p, unsigned int command, const void *payload, size_t len); /* by a byte */
int call_fds(struct peer *p, unsigned int command, const void *payload, size_t len, const int *fds, unsigned int n_fds);
#define CALL(p, command, payload) call(p, command, payload, sizeof(*(payload)))

int map(struct peer *p, uint64_t address, uint64_t size, uint32_t flags, int fd, uint64_t offset);
int unmap(struct peer *p, uint64_t address, uint64_t size);
int reg_read(struct peer *p, uint32_t region, uint64_t offset, uint32_t count);
int reg_write(struct peer *p, uint32_t region, uint64_t offset, const void *data, uint32_t count);
unsigned int open_fds(void);
int memory_file(uint64_t size, bool sealed);

extern const struct CMUnitTest vfu_message_tests[], vfu_dma_tests[], vfu_dma_message_tests[], vfu_irq_tests[], vfu_server_tests[];
extern const size_t vfu_n_message_tests, vfu_n_dma_tests, vfu_n_dma_message_tests, vfu_n_irq_tests, vfu_n_server_tests;

#endif
