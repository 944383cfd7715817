/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stands in for rdma-core's libraries: every name that OpenDEVX passes on, with its version, and each does nothing but note
 * how it was called. Compiled twice, with FAKE_IBVERBS for libibverbs.so.1 and without for libmlx5.so.1.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "fake.h"

#ifdef FAKE_IBVERBS
#define SELF fake_ibverbs
#else
#define SELF fake_mlx5
#endif

struct fake SELF;

static long note(const char *name, long a, long b, long c, long d, long e, long f)
{
	SELF.name = name;
	SELF.calls++;
	SELF.arg[0] = a;
	SELF.arg[1] = b;
	SELF.arg[2] = c;
	SELF.arg[3] = d;
	SELF.arg[4] = e;
	SELF.arg[5] = f;
	if (SELF.err)
		errno = SELF.err;
	return SELF.result;
}

/* No header declares these: all that they take and return fits a register. */
#define NOTE(name)                                                                                                 \
	long name(long a, long b, long c, long d, long e, long f);                                                 \
	long name(long a, long b, long c, long d, long e, long f)                                                  \
	{                                                                                                          \
		return note(#name, a, b, c, d, e, f);                                                              \
	}
#define IBV(version, conv, handle, ret, name, params, args) NOTE(name)
#define MLX(version, conv, handle, ret, name, params, args) NOTE(name)

#ifdef FAKE_IBVERBS

#include "pass_ibverbs.tbl"
NOTE(ibv_get_device_name)
NOTE(ibv_get_device_guid)
NOTE(ibv_open_device)
NOTE(ibv_close_device)
NOTE(ibv_get_async_event)
NOTE(ibv_ack_async_event)
NOTE(ibv_query_device)
NOTE(ibv_query_port)
NOTE(ibv_query_gid)
NOTE(ibv_query_pkey)
NOTE(ibv_alloc_pd)
NOTE(ibv_dealloc_pd)
NOTE(ibv_reg_mr)
NOTE(ibv_reg_mr_iova)
NOTE(ibv_reg_mr_iova2)
NOTE(ibv_dereg_mr)

void **ibv_get_device_list(int *num);
void ibv_free_device_list(void **list);

/* Must be non-NULL: OpenDEVX always asks how many there are. */
void **ibv_get_device_list(int *num)
{
	void **list;

	note("ibv_get_device_list", (long)num, 0, 0, 0, 0, 0);
	if (SELF.err)
		return NULL;
	list = calloc(SELF.n_devices + 1, sizeof(*list));
	for (int i = 0; i < SELF.n_devices; i++)
		list[i] = SELF.devices[i];
	*num = SELF.n_devices;
	SELF.list = list;
	return list;
}

void ibv_free_device_list(void **list)
{
	note("ibv_free_device_list", (long)list, 0, 0, 0, 0, 0);
	if (list == SELF.list)
		free(list);
}

#else

#include "pass_mlx5.tbl"
NOTE(mlx5dv_open_device)
NOTE(mlx5dv_create_mkey)
NOTE(mlx5dv_create_flow)
NOTE(__mlx5dv_create_flow)
NOTE(mlx5dv_reg_dmabuf_mr)
NOTE(mlx5dv_query_device)
NOTE(mlx5dv_devx_alloc_uar)
NOTE(mlx5dv_devx_free_uar)
NOTE(mlx5dv_devx_uar_export_dmabuf_fd)
NOTE(mlx5dv_devx_obj_export)
NOTE(mlx5dv_devx_obj_import)
NOTE(mlx5dv_devx_obj_unimport)
NOTE(mlx5dv_devx_umem_export)
NOTE(mlx5dv_devx_umem_import)
NOTE(mlx5dv_devx_umem_unimport)
NOTE(mlx5dv_devx_cq_query)
NOTE(mlx5dv_devx_cq_modify)
NOTE(mlx5dv_devx_qp_query)
NOTE(mlx5dv_devx_qp_modify)
NOTE(mlx5dv_devx_srq_query)
NOTE(mlx5dv_devx_srq_modify)
NOTE(mlx5dv_devx_wq_query)
NOTE(mlx5dv_devx_wq_modify)
NOTE(mlx5dv_devx_ind_tbl_query)
NOTE(mlx5dv_devx_ind_tbl_modify)
NOTE(mlx5dv_init_obj)
NOTE(mlx5dv_dr_action_create_aso)
NOTE(mlx5dv_devx_alloc_msi_vector)
NOTE(mlx5dv_devx_free_msi_vector)
NOTE(mlx5dv_devx_create_eq)
NOTE(mlx5dv_devx_destroy_eq)
NOTE(mlx5dv_devx_create_event_channel)
NOTE(mlx5dv_devx_destroy_event_channel)
NOTE(mlx5dv_devx_get_event)
NOTE(mlx5dv_devx_subscribe_devx_event)
NOTE(mlx5dv_devx_subscribe_devx_event_fd)
NOTE(mlx5dv_devx_general_cmd)
NOTE(mlx5dv_devx_obj_create)
NOTE(mlx5dv_devx_obj_query)
NOTE(mlx5dv_devx_obj_modify)
NOTE(mlx5dv_devx_obj_destroy)
NOTE(mlx5dv_devx_query_eqn)
NOTE(mlx5dv_devx_umem_reg)
NOTE(mlx5dv_devx_umem_reg_ex)
NOTE(mlx5dv_devx_umem_dereg)
NOTE(mlx5dv_devx_create_cmd_comp)
NOTE(mlx5dv_devx_destroy_cmd_comp)
NOTE(mlx5dv_devx_get_async_cmd_comp)
NOTE(mlx5dv_devx_obj_query_async)

void _mlx5dv_get_export_sizes(uint32_t *sizes, size_t len);

/* More of one kind than OpenDEVX needs, less of the other, and a field that it does not know. */
void _mlx5dv_get_export_sizes(uint32_t *sizes, size_t len)
{
	note("_mlx5dv_get_export_sizes", (long)sizes, (long)len, 0, 0, 0, 0);
	for (size_t i = 0; i < len / sizeof(*sizes); i++)
		sizes[i] = i == 1 ? 4 : 4000;
}

bool mlx5dv_is_supported(void *device);

bool mlx5dv_is_supported(void *device)
{
	note("mlx5dv_is_supported", (long)device, 0, 0, 0, 0, 0);
	return device == SELF.mlx5_device;
}

#endif
