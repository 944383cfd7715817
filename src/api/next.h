/* SPDX-License-Identifier: BSD-2-Clause */
/* The next definition of a symbol: rdma-core's, when it is in the process, however it was loaded. */
#ifndef ODX_NEXT_H
#define ODX_NEXT_H

/*
 * NULL: rdma-core is not there now. Found by RTLD_NEXT, else in a library that is loaded already (RTLD_LOCAL). Asked anew
 * until it is there: a plugin may bring it at any time. version: "IBVERBS_1.1", "MLX5_1.7".
 */
void *odx_next_ibverbs(const char *name, const char *version);
void *odx_next_mlx5(const char *name, const char *version);

#endif
