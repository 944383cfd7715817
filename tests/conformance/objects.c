/* SPDX-License-Identifier: BSD-2-Clause */
#include "objects.h"

static void end_kit(void *p)
{
	struct kit *k = p;

	if (case_failed())
		kit_free(k); /* the context takes the objects along */
	else
		CHECK_EQ(kit_close(k), 0);
}

struct kit *kit_on(struct ibv_context *ctx)
{
	struct kit *k = zeroed(sizeof(*k));

	CHECK_EQ(kit_open(k, ctx), 0);
	return own(k, end_kit);
}

struct mlx5dv_devx_obj *make(struct kit *k, enum rcp_id what, uint32_t *id)
{
	uint8_t *out = zeroed(KIT_BOX);
	struct mlx5dv_devx_obj *obj = kit_create(k, what, id, out);

	if (!obj && errno == EREMOTEIO) {
		if (!is_soft())
			SKIP("the device makes no %s: status 0x%x, syndrome 0x%x", recipes[what]->name, status_of(out), syndrome_of(out));
		NOTE("status 0x%x, syndrome 0x%x", status_of(out), syndrome_of(out));
	}
	return own(obj, end_obj);
}
