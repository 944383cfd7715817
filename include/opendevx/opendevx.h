/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * OpenDEVX. The mlx5dv_devx_* calls are declared by the distribution's <infiniband/mlx5dv.h>, which this header includes;
 * what OpenDEVX adds carries the prefix odx_.
 */
#ifndef OPENDEVX_OPENDEVX_H
#define OPENDEVX_OPENDEVX_H

#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

#define OPENDEVX_VERSION_MAJOR 0
#define OPENDEVX_VERSION_MINOR 1
#define OPENDEVX_VERSION_PATCH 0
#define OPENDEVX_VERSION "0.1.0"

/*
 * Calls of libmlx5 that the distribution's header may be too old to declare; one that declares them too does no harm. Each has
 * a manual page.
 */
struct mlx5dv_devx_uar;
int mlx5dv_devx_uar_export_dmabuf_fd(struct mlx5dv_devx_uar *devx_uar);

/* The version of the library that runs, as "major.minor.patch": a static string. Never blocks; any thread. Since 0.1.0. */
const char *odx_version(void);

#ifdef __cplusplus
}
#endif

#endif
