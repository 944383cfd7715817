/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory of a dma-buf: a mapping of our own, since the device has no other way to it. The errors are those of the kernel's
 * importer.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "device.h"

#define PAGE 4096u

#ifndef DMA_BUF_MAGIC
#define DMA_BUF_MAGIC 0x444d4142
#endif

int soft_dmabuf_map(int fd, uint64_t offset, size_t size, bool write, struct soft_dmabuf *buf)
{
	uint64_t first = offset & ~(uint64_t)(PAGE - 1);
	struct statfs fs;
	off_t end;

	if (fcntl(fd, F_GETFD) < 0)
		return EBADF;
	if (fstatfs(fd, &fs) || fs.f_type != DMA_BUF_MAGIC)
		return EINVAL;
	end = lseek(fd, 0, SEEK_END);
	if (end < 0 || !size || offset + size < offset || offset + size > (uint64_t)end)
		return EINVAL;
	buf->len = (size_t)(offset - first) + size;
	buf->base = mmap(NULL, buf->len, PROT_READ | (write ? PROT_WRITE : 0), MAP_SHARED, fd, (off_t)first);
	if (buf->base == MAP_FAILED) {
		buf->base = NULL;
		/* Memory that no program can map (a GPU's): a real device could reach it. */
		return errno == ENOMEM || errno == EACCES ? errno : EOPNOTSUPP;
	}
	madvise(buf->base, buf->len, MADV_DONTFORK);
	return 0;
}

void soft_dmabuf_unmap(struct soft_dmabuf *buf)
{
	if (buf->base)
		munmap(buf->base, buf->len);
	buf->base = NULL;
}
