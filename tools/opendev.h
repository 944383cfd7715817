/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DEVX_OPENDEV_H
#define DEVX_OPENDEV_H

#include <infiniband/mlx5dv.h>

/* A context for commands on a device: by name, or (NULL) of the first that can. name: room for 64. NULL: said why on stderr. */
struct ibv_context *opendev(const char *wanted, char name[64]);
/* The same for a device at hand. */
struct ibv_context *opendev_context(struct ibv_device *dev, const char *name);

#endif
