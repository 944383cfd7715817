/* SPDX-License-Identifier: BSD-2-Clause */
/* UARs: numbers of doorbell pages. What a page holds is the embedder's. */
#include "context.h"
#include "types.h"

static const struct ctx_type row = { .type = OBJ_UAR, .created = CTX_PLACE(alloc_uar_out, uar) };

enum syn uar_find(struct hca *h, uint16_t uid, uint32_t page, struct hca_obj **uar)
{
	*uar = page ? obj_refer(h, OBJ_UAR, page, uid) : NULL;
	return page && !*uar ? SYN_UAR : SYN_OK;
}

const struct hca_op ops_uar[] = {
	OP_CTX_ALLOC(ALLOC_UAR, alloc_uar, &row),
	OP_OBJ_ROW(DEALLOC_UAR, dealloc_uar, OP_DESTROY, OBJ_UAR, uar, NULL),
	{ 0 },
};
