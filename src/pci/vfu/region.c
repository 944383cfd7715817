/* SPDX-License-Identifier: BSD-2-Clause */
/* BAR0 and configuration space: what they are, reading, writing, and the doorbell pages that a client may map. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "server.h"

struct sparse {
	struct vfio_region_info info;
	struct vfio_info_cap_header header;
	uint32_t n_areas, reserved;
	struct vfio_region_sparse_mmap_area area;
};

/*
 * The file is as large as BAR0, so that offsets in it are those in the region; only its end is ours. It cannot shrink: the client
 * has it too.
 */
static int uar_file(void)
{
	int fd = memfd_create("opendevx-uars", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return -1;
	if (ftruncate(fd, (off_t)PCI_BAR0_SIZE) || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)) {
		close(fd);
		return -1;
	}
	return fd;
}

static int map_uars(struct vfu *v, int fd)
{
	int place = v->uars ? MAP_FIXED : 0, kind = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED;
	void *p = mmap(v->uars, PCI_UAR_SIZE, PROT_READ | PROT_WRITE, kind | place, fd, fd < 0 ? 0 : (off_t)PCI_UAR_OFFSET);

	if (p == MAP_FAILED)
		return errno;
	v->uars = p;
	v->uar_fd = fd;
	return 0;
}

int vfu_uars_new(struct vfu *v)
{
	int fd = v->config.no_mmap ? -1 : uar_file(), err;

	if (fd < 0 && !v->config.no_mmap)
		return errno;
	err = map_uars(v, fd);
	if (err && fd >= 0)
		close(fd);
	return err;
}

void vfu_uars_renew(struct vfu *v)
{
	int fd;

	if (!v->uars_given) {
		madvise(v->uars, PCI_UAR_SIZE, v->uar_fd < 0 ? MADV_DONTNEED : MADV_REMOVE);
		return;
	}
	v->uars_given = false;
	close(v->uar_fd);
	fd = uar_file();
	if (!map_uars(v, fd))
		return;
	if (fd >= 0)
		close(fd);
	v->uar_fd = -1; /* it stays mapped here, and nobody gets it any more */
}

static uint64_t region_size(uint32_t region)
{
	return region == PCI_BAR0 ? PCI_BAR0_SIZE : region == PCI_CONFIG ? PCI_CONFIG_SIZE : 0;
}

/* The short answer, when argsz has no room for all, names the room and already has cap_offset: QEMU checks it. */
void vfu_region_info(struct vfu *v, const uint8_t *in, size_t len)
{
	struct sparse r = { .header = { .id = VFIO_REGION_INFO_CAP_SPARSE_MMAP, .version = 1 }, .n_areas = 1,
			    .area = { .offset = PCI_UAR_OFFSET, .size = PCI_UAR_SIZE } };
	struct vfio_region_info *info = &r.info;
	uint32_t room;
	bool caps;

	if (len != sizeof(*info)) {
		vfu_reply_error(v, EINVAL);
		return;
	}
	memcpy(info, in, sizeof(*info));
	room = info->argsz;
	if (room < sizeof(*info) || info->index >= VFIO_PCI_NUM_REGIONS) {
		vfu_reply_error(v, EINVAL);
		return;
	}
	caps = info->index == PCI_BAR0 && v->uar_fd >= 0;
	info->argsz = caps ? sizeof(r) : sizeof(*info);
	info->size = region_size(info->index);
	info->flags = info->size ? VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE : 0;
	info->flags |= caps ? VFIO_REGION_INFO_FLAG_MMAP | VFIO_REGION_INFO_FLAG_CAPS : 0;
	info->cap_offset = caps ? sizeof(*info) : 0;
	info->offset = 0;
	if (caps && room >= sizeof(r)) {
		v->uars_given = true;
		vfu_reply(v, &r, sizeof(r), v->uar_fd);
	} else {
		vfu_reply(v, info, sizeof(*info), -1);
	}
}

static bool inside(uint32_t region, uint64_t offset, uint64_t count)
{
	uint64_t size = region_size(region);

	return count && offset < size && count <= size - offset;
}

void vfu_region_read(struct vfu *v, const uint8_t *in, size_t len)
{
	struct vfu_region_access a;
	/* The request was shorter. Not where replies are put together: the device may send commands of its own meanwhile. */
	uint8_t *data = v->current->bytes + sizeof(struct vfu_header) + sizeof(a), *out = vfu_payload(v);

	if (len != sizeof(a)) {
		vfu_reply_error(v, EINVAL);
		return;
	}
	memcpy(&a, in, sizeof(a));
	if (a.count > VFU_XFER_MAX) {
		vfu_reply_error(v, E2BIG);
		return;
	}
	if (!inside(a.region, a.offset, a.count) ||
	    !pci_read(v->pci, a.region, a.offset, data, a.count, vfu_now(v))) {
		vfu_reply_error(v, EINVAL);
		return;
	}
	memcpy(out, &a, sizeof(a));
	memcpy(out + sizeof(a), data, a.count);
	vfu_reply_built(v, sizeof(a) + a.count);
}

/*
 * Writes are posted, as those of PCI are: the client gets its answer before the device acts on the write. Reads come behind
 * writes, because commands are executed in the order in which they came. So a doorbell never keeps a virtual processor waiting
 * for the device, and a client which executes one command at a time can answer the device's own commands meanwhile.
 */
bool vfu_answer_write(struct vfu *v, const uint8_t *in, size_t len)
{
	struct vfu_region_access a;
	int err = 0;

	if (len < sizeof(a)) {
		vfu_reply_error(v, EINVAL);
		return false;
	}
	memcpy(&a, in, sizeof(a));
	if (a.count > VFU_XFER_MAX)
		err = E2BIG;
	else if (len - sizeof(a) != a.count || !inside(a.region, a.offset, a.count))
		err = EINVAL;
	if (err)
		vfu_reply_error(v, err);
	else
		vfu_reply(v, &a, sizeof(a), -1);
	return !err;
}

void vfu_region_write(struct vfu *v, const uint8_t *in, size_t len)
{
	struct vfu_region_access a;

	if (!vfu_answer_write(v, in, len))
		return;
	memcpy(&a, in, sizeof(a));
	pci_write(v->pci, a.region, a.offset, in + sizeof(a), a.count, v->current->arrived);
}

/* All of its writes, or none. */
bool vfu_answer_multi(struct vfu *v, const uint8_t *in, size_t len)
{
	struct vfu_small_write w;
	uint64_t n = 0;
	bool ok;

	if (len >= sizeof(n))
		memcpy(&n, in, sizeof(n));
	ok = n && (len - sizeof(n)) % sizeof(w) == 0 && n == (len - sizeof(n)) / sizeof(w);
	for (uint64_t i = 0; ok && i < n; i++) {
		memcpy(&w, in + sizeof(n) + i * sizeof(w), sizeof(w));
		ok = w.count <= sizeof(w.data) && inside(w.region, w.offset, w.count);
	}
	if (ok)
		vfu_reply(v, &n, sizeof(n), -1);
	else
		vfu_reply_error(v, EINVAL);
	return ok;
}

void vfu_write_multi(struct vfu *v, const uint8_t *in, size_t len)
{
	struct vfu_small_write w;

	if (!vfu_answer_multi(v, in, len))
		return;
	for (size_t at = sizeof(uint64_t); at < len; at += sizeof(w)) {
		memcpy(&w, in + at, sizeof(w));
		pci_write(v->pci, w.region, w.offset, w.data, w.count, v->current->arrived);
	}
}
