/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The software ConnectX as a PCI function: configuration space, BAR0 with its initialization segment, command queue and
 * doorbell pages, MSI-X. Like the model it knows no threads, descriptors or clocks: whoever serves it (vfu/) serialises the
 * calls, brings the time in nanoseconds, which never goes back, and memory. What a guest writes is hostile: nothing that it does
 * reaches memory but through the host's functions, ends the process, or lets memory grow without bound.
 */
#ifndef PCI_H
#define PCI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hca.h"

/* Regions, by the numbers that VFIO gives them. */
#define PCI_BAR0 0u
#define PCI_CONFIG 7u
#define PCI_BAR0_SIZE (UINT64_C(32) << 20)
#define PCI_CONFIG_SIZE 4096u
#define PCI_VECTORS HCA_VECTORS

/* Doorbell pages: the end of BAR0, in memory that a client may map; the start, up to there, is always trapped. */
#define PCI_UAR_OFFSET (HCA_UAR_FIRST * UINT64_C(4096))
#define PCI_UAR_SIZE (PCI_BAR0_SIZE - PCI_UAR_OFFSET)

struct pci_host {
	/* Guest memory. False: not there or not allowed; then nothing may be assumed of dst. */
	bool (*read)(void *host, uint64_t addr, void *dst, size_t len);
	bool (*write)(void *host, uint64_t addr, const void *src, size_t len);
	void (*msix)(void *host, uint32_t vector);
	/* The time, of the same clock as that of the calls: read() and write() may wait long. */
	uint64_t (*now)(void *host);
	void (*reset)(void *host); /* pci_reset(): vectors that were raised before concern nobody any more */
	/* None of these calls the function back, but that pci_read() may be called while read() or write() waits. */
};

struct pci_config {
	struct hca_config hca; /* bare and told are set by the function */
	/*
	 * PCI_UAR_SIZE bytes of the server's, which live as long as the function. mapped: the client may write there unseen; else
	 * each write comes through pci_write(), and EQs are armed exactly.
	 */
	uint8_t *uars;
	bool mapped;
};

struct pci;

/* NULL: no memory. */
struct pci *pci_new(const struct pci_config *config, const struct pci_host *ops, void *host);
void pci_free(struct pci *p);

/*
 * False: no such region, or outside it. Any length and alignment are taken; registers are 4 bytes, big-endian as the PRM has them.
 * when: a write came then, though it may be executed only now; since then a driver waits for what its doorbell hands over.
 */
bool pci_read(struct pci *p, uint32_t region, uint64_t offset, void *dst, size_t len, uint64_t now);
bool pci_write(struct pci *p, uint32_t region, uint64_t offset, const void *src, size_t len, uint64_t when);
/* Function level reset, also when a client left: all objects are gone, and the registers are as at power-on. Fault rules and hold stay. */
void pci_reset(struct pci *p, uint64_t now);

/* When pci_due() has something to do; HCA_NEVER. It answers the commands whose time has come. */
uint64_t pci_next(struct pci *p);
void pci_due(struct pci *p, uint64_t now);

/*
 * One line of the control socket (docs/serve.md): "fault RULE", "hold", "release N", "traffic COUNTER PACKETS OCTETS", "port up",
 * and so on. The reply is one line: "ok", "ok ..." or "error: ...". False: it did not do it.
 */
bool pci_control(struct pci *p, const char *line, char *reply, size_t len, uint64_t now);

#endif
