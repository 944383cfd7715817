/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The vfio-user protocol on the wire (QEMU, docs/interop/vfio-user.rst). Its structures are those of <linux/vfio.h> behind a
 * header; everything is in the byte order of the host. Names of ours, numbers of the protocol.
 */
#ifndef VFU_PROTO_H
#define VFU_PROTO_H

#include <linux/vfio.h>
#include <stdint.h>

enum {
	VFU_VERSION = 1,
	VFU_DMA_MAP = 2,
	VFU_DMA_UNMAP = 3,
	VFU_GET_INFO = 4,
	VFU_GET_REGION_INFO = 5,
	VFU_GET_REGION_IO_FDS = 6,
	VFU_GET_IRQ_INFO = 7,
	VFU_SET_IRQS = 8,
	VFU_REGION_READ = 9,
	VFU_REGION_WRITE = 10,
	VFU_DMA_READ = 11,
	VFU_DMA_WRITE = 12,
	VFU_RESET = 13,
	VFU_WRITE_MULTI = 15,
};

/* Flags of a header. */
#define VFU_TYPE 0xfu
#define VFU_COMMAND 0u
#define VFU_REPLY 1u
#define VFU_NO_REPLY 0x10u
#define VFU_ERROR 0x20u

struct vfu_header {
	uint16_t id, command;
	uint32_t size; /* of the whole message */
	uint32_t flags, error;
};

struct vfu_dma_map {
	uint32_t argsz, flags; /* VFIO_DMA_MAP_FLAG_* */
	uint64_t offset, address, size;
};

struct vfu_dma_unmap {
	uint32_t argsz, flags; /* VFIO_DMA_UNMAP_FLAG_* */
	uint64_t address, size;
};

/* The part of struct vfio_device_info that is on the wire. */
struct vfu_device_info {
	uint32_t argsz, flags, num_regions, num_irqs;
};

/* Also the head of the data in a reply to VFU_REGION_READ, and in a VFU_REGION_WRITE. */
struct vfu_region_access {
	uint64_t offset;
	uint32_t region, count;
};

/* Of the server's own commands: VFU_DMA_READ and VFU_DMA_WRITE. */
struct vfu_dma_access {
	uint64_t address, count;
};

/* One write of VFU_WRITE_MULTI, behind the number of them (64 bits). */
struct vfu_small_write {
	uint64_t offset;
	uint32_t region, count;
	uint8_t data[8];
};

/* What one transfer carries at most, either way: the default of the protocol, and all that QEMU wants. */
#define VFU_XFER_MAX (1u << 20)
/* QEMU refuses a server that takes more than 16 descriptors at a time. */
#define VFU_FDS_MAX 16
/* Windows of DMA memory; a guest of QEMU has about twenty. */
#define VFU_MAPS_MAX 4096u
/* Bytes of them that are mapped, at most: files may be larger than they have memory, and other devices' threads need addresses. */
#define VFU_MAPPED_MAX (UINT64_C(1) << 40)
#define VFU_PAGE 4096u
#define VFU_MSG_MAX (sizeof(struct vfu_header) + sizeof(struct vfu_region_access) + VFU_XFER_MAX)

#endif
