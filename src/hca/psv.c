/* SPDX-License-Identifier: BSD-2-Clause */
/* Protection signature values: up to four with one command, each an object of its own. */
#include "queues.h"

#define PSVS_MAX 4u

static const struct ctx_place indices[PSVS_MAX] = {
	CTX_PLACE(create_psv_out, psv0_index), CTX_PLACE(create_psv_out, psv1_index),
	CTX_PLACE(create_psv_out, psv2_index), CTX_PLACE(create_psv_out, psv3_index),
};

static enum syn create_psv(struct hca *h, struct call *c)
{
	struct hca_obj *pd = obj_find(h, OBJ_PD, (uint32_t)PRM_GET(&c->in, create_psv_in, pd), c->uid), *psv[PSVS_MAX];
	uint64_t n = PRM_GET(&c->in, create_psv_in, num_psv);
	enum syn syn = SYN_OK;

	if (!n || n > PSVS_MAX)
		return SYN_PSV_NUMBER;
	if (!pd)
		return SYN_PD;
	for (uint64_t i = 0; i < n; i++) {
		psv[i] = obj_new(h, OBJ_PSV, c->uid, &syn);
		if (!psv[i]) {
			while (i-- > 0)
				obj_free(h, psv[i]);
			return syn;
		}
		obj_link(psv[i], pd);
		prm_set(&c->out, indices[i].bit, indices[i].width, psv[i]->id);
	}
	return SYN_OK;
}

const struct hca_op ops_psv[] = {
	OP_ROW(CREATE_PSV, create_psv, OP_PLAIN, create_psv),
	OP_OBJ_ROW(DESTROY_PSV, destroy_psv, OP_DESTROY, OBJ_PSV, psvn, NULL),
	{ 0 },
};
