/* SPDX-License-Identifier: BSD-2-Clause */
/* UARs: numbers of doorbell pages. What a page holds is the embedder's. */
#include "types.h"

static enum syn alloc_uar(struct hca *h, struct call *c)
{
	enum syn why;
	struct hca_obj *uar = obj_new(h, OBJ_UAR, c->uid, &why);

	if (!uar)
		return why;
	PRM_SET(&c->out, alloc_uar_out, uar, uar->id);
	return SYN_OK;
}

enum syn uar_find(struct hca *h, uint16_t uid, uint32_t page, struct hca_obj **uar)
{
	*uar = page ? obj_find(h, OBJ_UAR, page, uid) : NULL;
	return page && !*uar ? SYN_UAR : SYN_OK;
}

const struct hca_op ops_uar[] = {
	OP_ROW(ALLOC_UAR, alloc_uar, OP_PLAIN, alloc_uar),
	OP_OBJ_ROW(DEALLOC_UAR, dealloc_uar, OP_DESTROY, OBJ_UAR, uar, NULL),
	{ 0 },
};
