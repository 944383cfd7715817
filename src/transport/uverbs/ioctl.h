/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Commands to the RDMA core of the kernel: a header and its attributes, on the stack of the caller. Facts: the uapi headers
 * <rdma/rdma_user_ioctl_cmds.h>, <rdma/ib_user_ioctl_cmds.h> and <rdma/mlx5_user_ioctl_cmds.h> of Linux.
 */
#ifndef UVERBS_IOCTL_H
#define UVERBS_IOCTL_H

#include <errno.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/mlx5-abi.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdint.h>
#include <string.h>

/* Younger than the headers of Debian 12: include/uapi/rdma/ib_user_ioctl_cmds.h of Linux 6.15. */
#define ATTR_GET_CONTEXT_FD_ARR 2

/* struct ib_uverbs_ioctl_hdr without its open end, which nothing could follow. */
struct uverbs_hdr {
	uint16_t length, object_id, method_id, num_attrs;
	uint64_t reserved1;
	uint32_t driver_id, reserved2;
};

/* A command with room for n attributes: UVERBS_CMD(3) cmd; */
#define UVERBS_CMD(n)                                                                                                  \
	struct {                                                                                                       \
		struct uverbs_hdr hdr;                                                                                 \
		struct ib_uverbs_attr attrs[n];                                                                        \
	}

#define UVERBS_ATTR(id, length, ...)                                                                                   \
	((struct ib_uverbs_attr){ .attr_id = (uint16_t)(id), .len = (uint16_t)(length),                                \
				  .flags = UVERBS_ATTR_F_MANDATORY, __VA_ARGS__ })

/* Bytes that the kernel reads: up to 8 of them lie in the attribute itself. At most 65,535. */
static inline struct ib_uverbs_attr uverbs_in(uint16_t id, const void *p, size_t len)
{
	struct ib_uverbs_attr a = UVERBS_ATTR(id, len, .data = 0);

	if (len <= sizeof(a.data))
		memcpy(&a.data, p, len);
	else
		a.data = (uintptr_t)p;
	return a;
}

static inline struct ib_uverbs_attr uverbs_in_u32(uint16_t id, uint32_t v)
{
	return UVERBS_ATTR(id, sizeof(v), .data = v); /* little-endian hosts: checked in ioctl.c */
}

static inline struct ib_uverbs_attr uverbs_in_u64(uint16_t id, uint64_t v)
{
	return UVERBS_ATTR(id, sizeof(v), .data = v);
}

/* Room that the kernel writes to: always by address. */
static inline struct ib_uverbs_attr uverbs_out(uint16_t id, void *p, size_t len)
{
	return UVERBS_ATTR(id, len, .data = (uintptr_t)p);
}

/* A constant: 8 bytes, whatever its type. */
static inline struct ib_uverbs_attr uverbs_const(uint16_t id, uint64_t v)
{
	return UVERBS_ATTR(id, sizeof(v), .data = v);
}

/* The handle of an object; or 0, where the kernel writes that of a new one. */
static inline struct ib_uverbs_attr uverbs_idr(uint16_t id, uint32_t handle)
{
	return UVERBS_ATTR(id, 0, .data = handle);
}

/* A descriptor; or 0, where the kernel writes a new one. */
static inline struct ib_uverbs_attr uverbs_fd(uint16_t id, int fd)
{
	return UVERBS_ATTR(id, 0, .data_s64 = fd);
}

/* An attribute that an older kernel may ignore. */
static inline struct ib_uverbs_attr uverbs_optional(struct ib_uverbs_attr a)
{
	a.flags &= (uint16_t)~UVERBS_ATTR_F_MANDATORY;
	return a;
}

/*
 * The system call itself: 0 or an errno value. Not the C library's function, which takes its arguments from a list and puts
 * what fails into errno: this is on the way of each command.
 */
int uverbs_syscall(int fd, struct uverbs_hdr *hdr);

/* 0 or an errno value. The attributes behind hdr have been written; n of them count. */
static inline int uverbs_ioctl(int fd, uint16_t object, uint16_t method, struct uverbs_hdr *hdr, unsigned int n)
{
	*hdr = (struct uverbs_hdr){
		.length = (uint16_t)(sizeof(*hdr) + n * sizeof(struct ib_uverbs_attr)), .object_id = object,
		.method_id = method, .num_attrs = (uint16_t)n, .driver_id = RDMA_DRIVER_MLX5,
	};
	return uverbs_syscall(fd, hdr);
}

#endif
