/* SPDX-License-Identifier: BSD-2-Clause */
/* The system call, and what the compiler can check of the frame that ioctl.h builds. */
#include "ioctl.h"

#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "inline attributes have their low bytes first");
_Static_assert(RDMA_VERBS_IOCTL == 0xc0181b01, "the number of the ioctl");
_Static_assert(sizeof(struct ib_uverbs_ioctl_hdr) == 24 && sizeof(struct ib_uverbs_attr) == 16, "the frame");
_Static_assert(sizeof(struct uverbs_hdr) == sizeof(struct ib_uverbs_ioctl_hdr) &&
	       offsetof(UVERBS_CMD(1), attrs) == offsetof(struct ib_uverbs_ioctl_hdr, attrs) &&
	       offsetof(struct uverbs_hdr, num_attrs) == offsetof(struct ib_uverbs_ioctl_hdr, num_attrs) &&
	       offsetof(struct uverbs_hdr, reserved1) == offsetof(struct ib_uverbs_ioctl_hdr, reserved1) &&
	       offsetof(struct uverbs_hdr, driver_id) == offsetof(struct ib_uverbs_ioctl_hdr, driver_id), "the header");
_Static_assert(RDMA_DRIVER_MLX5 == 1, "the driver");
_Static_assert(sizeof(struct mlx5_ib_alloc_ucontext_req_v2) == 32, "the request of a context");

int uverbs_syscall(int fd, struct uverbs_hdr *hdr)
{
#ifdef __x86_64__
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "0"((long)SYS_ioctl), "D"((long)fd), "S"((long)RDMA_VERBS_IOCTL), "d"(hdr)
			 : "rcx", "r11", "memory");
	return (int)-result; /* this ioctl gives 0 or a negative errno value, nothing else */
#else
	return syscall(SYS_ioctl, fd, RDMA_VERBS_IOCTL, hdr) ? errno : 0;
#endif
}
