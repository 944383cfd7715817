/* SPDX-License-Identifier: BSD-2-Clause */
/* Objects of any type by the recipes of tests/recipes, owned by the case. */
#ifndef OBJECTS_H
#define OBJECTS_H

#include "conf.h"
#include "kit.h"

struct kit *kit_on(struct ibv_context *ctx);
/* One more object. A device that is real need not have the type: then the case is skipped. */
struct mlx5dv_devx_obj *make(struct kit *k, enum rcp_id what, uint32_t *id);

#endif
