/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The model's window into this process. A device address is (umem slot << 40 | offset), so that an access finds its umem in one
 * step and is held against its exact bytes; the copy itself is the kernel's, which answers EFAULT where a pointer would kill.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "device.h"

#define SLOT_SHIFT 40
#define PAGE 4096u

/* Where the bytes of [iova, iova + len) lie in this process. */
struct place {
	void *p; /* NULL: not in one umem, or not allowed */
	bool special;
};

static struct place locate(struct soft_device *dev, uint64_t iova, size_t len, bool write)
{
	uint64_t slot = iova >> SLOT_SHIFT, at = iova & ((UINT64_C(1) << SLOT_SHIFT) - 1);
	const struct soft_umem_slot *u;

	if (slot >= dev->n_umems)
		return (struct place){ 0 };
	u = &dev->umems[slot];
	at -= u->addr % PAGE; /* wraps when it lies before the first byte, and then fails below */
	if (!u->len || at > u->len || len > u->len - at || (write && !u->writable))
		return (struct place){ 0 };
	return (struct place){ (void *)(uintptr_t)(u->addr + at), u->special };
}

/*
 * Between processes the kernel takes hold of pages on the remote side, which a dma-buf's mapping may not have (udmabuf maps
 * bare frames since Linux 6.12), and copies as any system call does on the local one. Both answer EFAULT; so a dma-buf is
 * the local side, and the other direction is asked for.
 */
static bool host_read(void *host, uint64_t addr, void *dst, size_t len)
{
	struct place src = locate(host, addr, len, false);
	struct iovec ours = { dst, len }, theirs = { src.p, len };

	if (!src.p)
		return false;
	if (src.special)
		return process_vm_writev(getpid(), &theirs, 1, &ours, 1, 0) == (ssize_t)len;
	return process_vm_readv(getpid(), &ours, 1, &theirs, 1, 0) == (ssize_t)len;
}

static bool host_write(void *host, uint64_t addr, const void *src, size_t len)
{
	struct place dst = locate(host, addr, len, true);
	struct iovec ours = { (void *)src, len }, theirs = { dst.p, len };

	if (!dst.p)
		return false;
	if (dst.special)
		return process_vm_readv(getpid(), &theirs, 1, &ours, 1, 0) == (ssize_t)len;
	return process_vm_writev(getpid(), &ours, 1, &theirs, 1, 0) == (ssize_t)len;
}

static void host_event(void *host, const struct hca_event *ev)
{
	soft_channels_event(host, ev);
	soft_async_event(host, ev);
}

const struct hca_host soft_host_ops = { host_read, host_write, host_event, soft_interrupt, soft_doorbell, NULL };

/* Model's lock held, here and below. */
int soft_umem_map(struct soft_device *dev, const struct soft_umem_slot *memory, uint32_t *slot)
{
	if (!dev->free_umem) {
		uint32_t n = dev->n_umems ? dev->n_umems * 2 : 16;
		struct soft_umem_slot *more;

		if (n > 1u << (64 - SLOT_SHIFT - 1) || !(more = realloc(dev->umems, n * sizeof(*more))))
			return ENOMEM;
		for (uint32_t i = dev->n_umems; i < n; i++)
			more[i] = (struct soft_umem_slot){ .next_free = i + 1 < n ? i + 2 : 0 };
		dev->free_umem = dev->n_umems + 1;
		dev->umems = more;
		dev->n_umems = n;
	}
	*slot = dev->free_umem - 1;
	dev->free_umem = dev->umems[*slot].next_free;
	dev->umems[*slot] = *memory;
	return 0;
}

void soft_umem_unmap(struct soft_device *dev, uint32_t slot)
{
	dev->umems[slot] = (struct soft_umem_slot){ .next_free = dev->free_umem };
	dev->free_umem = slot + 1;
}

uint64_t soft_umem_iova(uint32_t slot)
{
	return (uint64_t)slot << SLOT_SHIFT;
}
