/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Guest memory: the windows that the client told of, and copies from and to them.
 *
 * A client may cut the file behind a window at any time, and a plain access would then end the process by SIGBUS. A memfd that
 * is sealed against shrinking, as QEMU's is, cannot be cut: there, and only there, copies are plain. Elsewhere the kernel copies
 * (process_vm_readv on ourselves), and answers EFAULT. Measured for 64 bytes: 5 ns against more than 1 us. A handler of SIGBUS
 * would make both fast, and is global to the process: not worth its risk for memory that no client of note shares that way.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>

#include "server.h"

#ifdef __SANITIZE_THREAD__ /* gcc's does not follow fences. What these order is shared with a guest, which it does not see. */
#pragma GCC diagnostic ignored "-Wtsan"
#endif

#define ACCESS_FLAGS ((uint32_t)(VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE))

/* The first window that ends at or behind the address; dma->n: none. */
static unsigned int find(const struct dma *dma, uint64_t address)
{
	unsigned int low = 0, high = dma->n;

	while (low < high) {
		unsigned int mid = low + (high - low) / 2;

		if (dma->windows[mid].last < address)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void unmap(struct dma *dma, struct window *w)
{
	if (w->p)
		munmap(w->p, w->mapped);
	dma->mapped -= w->mapped;
}

void vfu_dma_clear(struct dma *dma)
{
	while (dma->n)
		unmap(dma, &dma->windows[--dma->n]);
	free(dma->windows);
	dma->windows = NULL;
	dma->room = 0;
}

static bool make_room(struct dma *dma)
{
	unsigned int room = dma->room ? dma->room * 2 : 32;
	struct window *more;

	if (dma->n < dma->room)
		return true;
	more = reallocarray(dma->windows, room, sizeof(*more));
	if (!more)
		return false;
	dma->windows = more;
	dma->room = room;
	return true;
}

/*
 * Maps what the client sent; an errno. Devices, pipes and the like are no memory, and mapping them might do anything; a file
 * of FUSE may be the client's own, and reading it last as long as it likes.
 */
static int map_file(struct window *w, int fd, const struct vfu_dma_map *map)
{
	int prot = (w->readable ? PROT_READ : 0) | (w->writable ? PROT_WRITE : 0);
	int seals = fcntl(fd, F_GET_SEALS); /* before its size: that may only be believed if it could not shrink since */
	struct statfs fs;
	struct stat st;
	void *p;

	if (fstat(fd, &st) || fstatfs(fd, &fs))
		return errno;
	if (!S_ISREG(st.st_mode) || fs.f_type == FUSE_SUPER_MAGIC)
		return EINVAL;
	if (map->offset > (uint64_t)st.st_size || map->size > (uint64_t)st.st_size - map->offset)
		return EINVAL;
	w->mapped = map->size;
	if (fs.f_type == HUGETLBFS_MAGIC)
		w->mapped = (map->size + (uint64_t)fs.f_bsize - 1) & ~((uint64_t)fs.f_bsize - 1);
	p = mmap(NULL, w->mapped, prot, MAP_SHARED | MAP_NORESERVE, fd, (off_t)map->offset);
	if (p == MAP_FAILED)
		return errno;
	w->p = p;
	/* A huge page may be missing all the same: then SIGBUS comes in spite of the seal. */
	w->sealed = fs.f_type == TMPFS_MAGIC && seals >= 0 && seals & F_SEAL_SHRINK;
	return 0;
}

static int map_check(const struct vfu_dma_map *map, unsigned int n_fds)
{
	if (map->argsz < sizeof(*map) || map->flags & ~ACCESS_FLAGS || !(map->flags & ACCESS_FLAGS) || n_fds > 1)
		return EINVAL;
	if (!map->size || (map->address | map->size | map->offset) % VFU_PAGE || map->address + (map->size - 1) < map->address)
		return EINVAL;
	if (map->offset > INT64_MAX || map->size > INT64_MAX - map->offset)
		return n_fds ? EINVAL : 0;
	return 0;
}

void vfu_dma_map(struct vfu *v, const uint8_t *in, size_t len)
{
	struct dma *dma = &v->dma;
	struct vfu_dma_map map;
	struct window w = { 0 };
	unsigned int at;
	int err;

	if (len != sizeof(map)) {
		vfu_reply_error(v, EINVAL);
		return;
	}
	memcpy(&map, in, sizeof(map));
	w.address = map.address;
	w.last = map.address + (map.size - 1);
	w.readable = map.flags & VFIO_DMA_MAP_FLAG_READ;
	w.writable = map.flags & VFIO_DMA_MAP_FLAG_WRITE;
	at = find(dma, w.address);
	err = map_check(&map, v->current->n_fds);
	if (!err && at < dma->n && dma->windows[at].address <= w.last)
		err = EEXIST;
	if (!err && dma->n >= VFU_MAPS_MAX)
		err = ENOSPC;
	if (!err && v->current->n_fds && (dma->mapped > VFU_MAPPED_MAX || map.size > VFU_MAPPED_MAX - dma->mapped))
		err = ENOSPC;
	if (!err && !make_room(dma))
		err = ENOMEM;
	if (!err && v->current->n_fds)
		err = map_file(&w, v->current->fds[0], &map);
	if (err) {
		vfu_reply_error(v, err);
		return;
	}
	memmove(&dma->windows[at + 1], &dma->windows[at], (dma->n - at) * sizeof(w));
	dma->windows[at] = w;
	dma->n++;
	dma->mapped += w.mapped;
	vfu_reply(v, NULL, 0, -1);
}

void vfu_dma_unmap(struct vfu *v, const uint8_t *in, size_t len)
{
	struct dma *dma = &v->dma;
	struct vfu_dma_unmap un;
	unsigned int at;

	if (len != sizeof(un)) {
		vfu_reply_error(v, EINVAL);
		return;
	}
	memcpy(&un, in, sizeof(un));
	if (un.argsz < sizeof(un) || un.flags & ~(uint32_t)VFIO_DMA_UNMAP_FLAG_ALL) {
		vfu_reply_error(v, EINVAL);
		return;
	}
	if (un.flags) { /* as the kernel has it: all, and nothing named */
		if (un.address || un.size) {
			vfu_reply_error(v, EINVAL);
			return;
		}
		vfu_dma_clear(dma);
		vfu_reply(v, &un, sizeof(un), -1);
		return;
	}
	at = find(dma, un.address);
	if (!un.size || at == dma->n || dma->windows[at].address != un.address ||
	    dma->windows[at].last - dma->windows[at].address != un.size - 1) {
		vfu_reply_error(v, ENOENT);
		return;
	}
	unmap(dma, &dma->windows[at]);
	memmove(&dma->windows[at], &dma->windows[at + 1], (--dma->n - at) * sizeof(*dma->windows));
	vfu_reply(v, &un, sizeof(un), -1);
}

/* All of it lies in windows, one behind the other, and may be accessed so. */
static bool allowed(const struct dma *dma, uint64_t address, size_t len, bool write)
{
	uint64_t last = address + (len - 1);

	if (last < address)
		return false;
	for (unsigned int i = find(dma, address); i < dma->n; i++) {
		const struct window *w = &dma->windows[i];

		if (w->address > address || !(write ? w->writable : w->readable))
			return false;
		if (w->last >= last)
			return true;
		address = w->last + 1;
	}
	return false;
}

static bool copy_from(struct vfu *v, const struct window *w, uint64_t at, void *dst, size_t len)
{
	struct iovec ours = { dst, len }, theirs = { w->p + at, len };

	if (!w->p)
		return vfu_message_read(v, w->address + at, dst, len);
	if (!w->sealed)
		return process_vm_readv(v->pid, &ours, 1, &theirs, 1, 0) == (ssize_t)len;
	memcpy(dst, w->p + at, len);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return true;
}

static bool copy_to(struct vfu *v, const struct window *w, uint64_t at, const void *src, size_t len)
{
	struct iovec ours = { (void *)src, len }, theirs = { w->p + at, len };

	if (!w->p)
		return vfu_message_write(v, w->address + at, src, len);
	if (!w->sealed)
		return process_vm_writev(v->pid, &ours, 1, &theirs, 1, 0) == (ssize_t)len;
	/* What was written before is seen before: entries, then the bit that hands them over. */
	__atomic_thread_fence(__ATOMIC_RELEASE);
	memcpy(w->p + at, src, len);
	return true;
}

/* Of what is allowed, the part in one window; a copy of it, because windows may come and go while a message is waited for. */
static struct window first_part(const struct dma *dma, uint64_t address, size_t len, size_t *n)
{
	struct window w = dma->windows[find(dma, address)];
	uint64_t left = w.last - address;

	*n = left < len - 1 ? (size_t)left + 1 : len;
	return w;
}

bool vfu_dma_read(void *v_, uint64_t address, void *dst, size_t len)
{
	struct vfu *v = v_;
	size_t n;

	for (uint8_t *p = dst; len; p += n, len -= n, address += n) {
		struct window w;

		if (!allowed(&v->dma, address, len, false))
			return false;
		w = first_part(&v->dma, address, len, &n);
		if (!copy_from(v, &w, address - w.address, p, n))
			return false;
	}
	return true;
}

bool vfu_dma_write(void *v_, uint64_t address, const void *src, size_t len)
{
	struct vfu *v = v_;
	size_t n;

	for (const uint8_t *p = src; len; p += n, len -= n, address += n) {
		struct window w;

		if (!allowed(&v->dma, address, len, true))
			return false;
		w = first_part(&v->dma, address, len, &n);
		if (!copy_to(v, &w, address - w.address, p, n))
			return false;
	}
	return true;
}
