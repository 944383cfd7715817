/* SPDX-License-Identifier: BSD-2-Clause */
/* The work queue in a context: 16 entries of 64 bytes at the start of the umem, the doorbell record behind. */
#ifndef RECIPES_WQ_H
#define RECIPES_WQ_H

#include "table.h"

#define WQ_AT(layout, ctx, inner, field) NEST(NEST(PRM_F_##layout##__##ctx, PRM_F_##inner##__wq), PRM_F_wq__##field)
#define WQ_SET(layout, ctx, inner, field, v) { WQ_AT(layout, ctx, inner, field), RCP_VALUE, v }
#define WQ_REF(layout, ctx, inner, field, recipe) { WQ_AT(layout, ctx, inner, field), RCP_PARENT, RCP_##recipe }

enum { WQ_CYCLIC = 1 };

#define WQ(layout, ctx, inner)                                                                                       \
	WQ_SET(layout, ctx, inner, wq_type, WQ_CYCLIC), WQ_REF(layout, ctx, inner, pd, PD),                          \
	WQ_SET(layout, ctx, inner, log_wq_sz, 4), WQ_SET(layout, ctx, inner, log_wq_stride, 6),                      \
	WQ_SET(layout, ctx, inner, wq_umem_valid, 1), WQ_REF(layout, ctx, inner, wq_umem_id, UMEM),                  \
	WQ_SET(layout, ctx, inner, dbr_umem_valid, 1), WQ_REF(layout, ctx, inner, dbr_umem_id, UMEM),                \
	WQ_SET(layout, ctx, inner, dbr_addr, 2048)

#endif
