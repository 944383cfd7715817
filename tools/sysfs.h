/* SPDX-License-Identifier: BSD-2-Clause */
/* RDMA devices of the kernel, as /sys/class/infiniband shows them. */
#ifndef DEVX_SYSFS_H
#define DEVX_SYSFS_H

#include <stddef.h>

#define SYSFS_ROOT "/sys/class/infiniband"

struct sysfs_device {
	char name[64];
	char driver[64]; /* "" where the device has none that is told */
	char bus[64];    /* its place, as "0000:3b:00.0" */
	char guid[64];
	char fw[64];
};

/*
 * The devices under root, sorted by name; *out is the caller's to free. Their number, or -1 with errno. No such directory is
 * no device. What is no printable ASCII comes as '?'.
 */
int sysfs_scan(const char *root, struct sysfs_device **out);

#endif
