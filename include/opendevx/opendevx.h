/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * OpenDEVX. The mlx5dv_devx_* calls are declared by the distribution's <infiniband/mlx5dv.h>, which this header includes;
 * what OpenDEVX adds carries the prefix odx_.
 */
#ifndef OPENDEVX_OPENDEVX_H
#define OPENDEVX_OPENDEVX_H

#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <stddef.h>
#include <stdint.h>

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
int mlx5dv_devx_uar_export_dmabuf_fd(struct mlx5dv_devx_uar *devx_uar);

int mlx5dv_devx_obj_export(struct mlx5dv_devx_obj *obj, void *data);
struct mlx5dv_devx_obj *mlx5dv_devx_obj_import(struct ibv_context *context, void *data);
void mlx5dv_devx_obj_unimport(struct mlx5dv_devx_obj *obj);
int mlx5dv_devx_umem_export(struct mlx5dv_devx_umem *umem, void *data);
struct mlx5dv_devx_umem *mlx5dv_devx_umem_import(struct ibv_context *context, void *data);
void mlx5dv_devx_umem_unimport(struct mlx5dv_devx_umem *umem);

struct mlx5dv_export_sizes;
void _mlx5dv_get_export_sizes(struct mlx5dv_export_sizes *sizes, size_t sizes_len);

/* A header that has the struct must not meet it twice: define this where <infiniband/mlx5dv.h> is older than rdma-core 63. */
#ifdef OPENDEVX_EXPORT_SIZES
struct mlx5dv_export_sizes {
	uint32_t var_attrs_size;
	uint32_t devx_umem_attrs_size;
	uint32_t devx_obj_attrs_size;
};

static inline void mlx5dv_get_export_sizes(struct mlx5dv_export_sizes *sizes)
{
	_mlx5dv_get_export_sizes(sizes, sizeof(*sizes));
}
#endif

/*
 * A context of OpenDEVX on the kernel context that theirs is: rdma-core's, or one of OpenDEVX's own. Every call of mlx5dv_devx_*
 * and odx_* then works on it directly, with the same uid and the same numbers of the device, while theirs stays rdma-core's in
 * all. Each is closed by itself, in any order; objects live until both are. NULL + errno; EOPNOTSUPP: a software context, which
 * needs none, or a kernel before 5.9. odx_import_context(3). Since 0.1.0.
 */
struct ibv_context *odx_import_context(struct ibv_context *theirs);

/* The version of the library that runs, as "major.minor.patch": a static string. Never blocks; any thread. Since 0.1.0. */
const char *odx_version(void);

#ifdef __cplusplus
}
#endif

#endif
