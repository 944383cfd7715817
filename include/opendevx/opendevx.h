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

/* The version of the library that runs, as "major.minor.patch": a static string. Never blocks; any thread. Since 0.1.0. */
const char *odx_version(void);

#ifdef __cplusplus
}
#endif

#endif
