/* SPDX-License-Identifier: BSD-2-Clause */
/* The function as a whole: what the model needs from it, its regions, and its reset. */
#include <stdlib.h>
#include <string.h>

#include "function.h"

/* What a guest's objects may take in this process (our choice). */
#define MEMORY (UINT64_C(1) << 30)

#define UAR_BYTES 4096u
/* Where a UAR page has the doorbells of event queues. rdma-core, mlx5_vfio.h. */
static const uint32_t eq_doorbells[] = { 0x40, 0x48 };

/* A device that is no bus master reaches no memory. */
bool dma_read(struct pci *p, uint64_t addr, void *dst, size_t len)
{
	return config_bus_master(p) && p->ops.read(p->host, addr, dst, len);
}

bool dma_write(struct pci *p, uint64_t addr, const void *src, size_t len)
{
	return config_bus_master(p) && p->ops.write(p->host, addr, src, len);
}

static bool model_read(void *host, uint64_t addr, void *dst, size_t len)
{
	return dma_read(host, addr, dst, len);
}

static bool model_write(void *host, uint64_t addr, const void *src, size_t len)
{
	return dma_write(host, addr, src, len);
}

static void model_event(void *host, const struct hca_event *ev)
{
	/* Event queues have told the driver. */
}

static void model_interrupt(void *host, uint32_t eqn, uint32_t vector)
{
	struct pci *p = host;

	if (vector < PCI_VECTORS)
		p->ops.msix(p->host, vector);
}

static uint32_t model_doorbell(void *host, uint32_t eqn, uint32_t uar_page, uint32_t offset)
{
	struct pci *p = host;
	uint64_t at = (uint64_t)uar_page * UAR_BYTES + offset;
	uint32_t value;

	if (at < PCI_UAR_OFFSET || at + sizeof(value) > PCI_BAR0_SIZE)
		return 0;
	/* A client that has the page mapped may write there now. */
	value = __atomic_load_n((const uint32_t *)(p->cfg.uars + (at - PCI_UAR_OFFSET)), __ATOMIC_RELAXED);
	return __builtin_bswap32(value);
}

static void model_doorbell_clear(void *host, uint32_t uar_page, uint32_t offset)
{
	struct pci *p = host;
	uint64_t at = (uint64_t)uar_page * UAR_BYTES + offset;

	if (at >= PCI_UAR_OFFSET && at + sizeof(uint32_t) <= PCI_BAR0_SIZE)
		__atomic_store_n((uint32_t *)(p->cfg.uars + (at - PCI_UAR_OFFSET)), 0, __ATOMIC_RELAXED);
}

static const struct hca_host model_host = {
	.read = model_read, .write = model_write, .event = model_event, .interrupt = model_interrupt, .doorbell = model_doorbell,
	.doorbell_clear = model_doorbell_clear,
};

void function_restart(struct pci *p)
{
	cmdq_abort(p);
	hca_reset(p->hca);
}

struct pci *pci_new(const struct pci_config *config, const struct pci_host *ops, void *host)
{
	struct pci *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->cfg = *config;
	p->cfg.hca.bare = true;
	if (!p->cfg.hca.memory)
		p->cfg.hca.memory = MEMORY;
	p->cfg.hca.told = !config->mapped;
	p->ops = *ops;
	p->host = host;
	p->rng = config->hca.seed;
	p->hca = hca_new(&p->cfg.hca, &model_host, p);
	if (!p->hca) {
		free(p);
		return NULL;
	}
	p->khz = hca_timer_khz(p->hca);
	config_init(p);
	bar_init(p, 0);
	return p;
}

void pci_free(struct pci *p)
{
	if (!p)
		return;
	hca_free(p->hca);
	free(p);
}

void pci_reset(struct pci *p, uint64_t now)
{
	cmdq_abort(p);
	hca_renew(p->hca);
	config_init(p);
	bar_init(p, now);
	p->ops.reset(p->host);
}

static bool inside(uint32_t region, uint64_t offset, size_t len)
{
	uint64_t size = region == PCI_BAR0 ? PCI_BAR0_SIZE : region == PCI_CONFIG ? PCI_CONFIG_SIZE : 0;

	return offset <= size && len <= size - offset;
}

bool pci_read(struct pci *p, uint32_t region, uint64_t offset, void *dst, size_t len, uint64_t now)
{
	size_t before = 0;

	if (!inside(region, offset, len))
		return false;
	if (region == PCI_CONFIG) {
		memcpy(dst, p->config + offset, len);
		return true;
	}
	if (offset < PCI_UAR_OFFSET) {
		before = len < PCI_UAR_OFFSET - offset ? len : PCI_UAR_OFFSET - offset;
		bar_read(p, offset, dst, before, now);
	}
	if (before < len)
		memcpy((uint8_t *)dst + before, p->cfg.uars + (offset + before - PCI_UAR_OFFSET), len - before);
	return true;
}

/* Doorbells of event queues that this write has whole. */
static void told(struct pci *p, uint64_t offset, size_t len)
{
	uint64_t end = offset + len;

	for (uint64_t page = offset / UAR_BYTES; page * UAR_BYTES < end; page++) {
		for (size_t i = 0; i < sizeof(eq_doorbells) / sizeof(eq_doorbells[0]); i++) {
			uint64_t at = page * UAR_BYTES + eq_doorbells[i];

			if (at >= offset && at + 4 <= end)
				hca_doorbell(p->hca, (uint32_t)page, eq_doorbells[i], model_doorbell(p, 0, (uint32_t)page, eq_doorbells[i]));
		}
	}
}

bool pci_write(struct pci *p, uint32_t region, uint64_t offset, const void *src, size_t len, uint64_t when)
{
	uint64_t now = p->ops.now(p->host);
	size_t before = 0;
	bool reset = false;

	if (!inside(region, offset, len))
		return false;
	if (region == PCI_CONFIG) {
		config_write(p, offset, src, len, &reset);
		if (reset)
			pci_reset(p, now);
		return true;
	}
	if (offset < PCI_UAR_OFFSET) {
		before = len < PCI_UAR_OFFSET - offset ? len : PCI_UAR_OFFSET - offset;
		bar_write(p, offset, src, before, when, now);
	}
	if (before < len) {
		memcpy(p->cfg.uars + (offset + before - PCI_UAR_OFFSET), (const uint8_t *)src + before, len - before);
		if (!p->cfg.mapped)
			told(p, offset + before, len - before);
	}
	pci_due(p, p->ops.now(p->host)); /* a doorbell may have taken its time */
	return true;
}

uint64_t pci_next(struct pci *p)
{
	return cmdq_next(p);
}

void pci_due(struct pci *p, uint64_t now)
{
	cmdq_due(p, now);
}
