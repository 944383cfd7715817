/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What rdma-core 65 exports and the headers that we are built with may be too old to declare, as far as we pass it on. Where
 * they do declare it, the compiler holds these declarations against theirs.
 */
#ifndef ODX_NEWER_H
#define ODX_NEWER_H

#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>

/* An inline of newer headers, which calls the longer name. */
#undef mlx5dv_create_flow

struct ibv_buf;
struct ibv_comp_cntr;
struct ibv_comp_cntr_caps;
struct ibv_comp_cntr_init_attr;
struct ibv_dmah;
struct ibv_dmah_init_attr;
struct ibv_mr_init_attr;
struct ibv_qp_attach_comp_cntr_attr;

int _ibv_query_comp_cntr_caps(struct ibv_context *context, struct ibv_comp_cntr_caps *caps, size_t caps_size);
void *ibv_alloc_buf(struct ibv_pd *pd, size_t size, struct ibv_buf **buf);
struct ibv_dmah *ibv_alloc_dmah(struct ibv_context *context, struct ibv_dmah_init_attr *attr);
struct ibv_comp_cntr *ibv_create_comp_cntr(struct ibv_context *context, struct ibv_comp_cntr_init_attr *cc_attr);
int ibv_dm_export_dmabuf_fd(struct ibv_dm *dm);
int ibv_qp_attach_comp_cntr(struct ibv_qp *qp, struct ibv_comp_cntr *comp_cntr, struct ibv_qp_attach_comp_cntr_attr *attr);
int ibv_query_port_speed(struct ibv_context *context, uint32_t port_num, uint64_t *port_speed);
struct ibv_mr *ibv_reg_buf_mr(struct ibv_pd *pd, struct ibv_buf *buf, void *addr, size_t length, int access);
struct ibv_mr *ibv_reg_mr_ex(struct ibv_pd *pd, struct ibv_mr_init_attr *mr_init_attr);

struct ibv_flow *__mlx5dv_create_flow(struct mlx5dv_flow_matcher *matcher, struct mlx5dv_flow_match_parameters *match_value,
				      size_t num_actions, struct mlx5dv_flow_action_attr actions_attr[], size_t attr_len);
int mlx5dv_get_data_direct_sysfs_path(struct ibv_context *context, char *buf, size_t buf_len);
struct ibv_mr *mlx5dv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd, int access,
				    int mlx5_access);
struct mlx5dv_var *mlx5dv_var_import(struct ibv_context *context, void *data);

#endif
