/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a driver takes a bare device into use and leaves it: ENABLE_HCA, the interface version, pages, capabilities and
 * registers, INIT_HCA; then everything else; TEARDOWN_HCA, pages back, DISABLE_HCA. What comes out of order is refused.
 */
#include <stdlib.h>
#include <string.h>

#include "init.h"
#include "queues.h"
#include "steer.h"
#include "vport.h"

struct init *init_new(void)
{
	struct init *i = calloc(1, sizeof(*i));

	if (i)
		pages_forget(&i->pages);
	return i;
}

void init_free(struct init *i)
{
	if (!i)
		return;
	pages_forget(&i->pages);
	for (unsigned int t = 0; t < CAP_TYPES; t++)
		free(i->caps[t]);
	free(i);
}

/* What may be asked between ENABLE_HCA and INIT_HCA, and after TEARDOWN_HCA. */
static bool before_init(uint16_t opcode)
{
	switch (opcode) {
	case PRM_OP_DISABLE_HCA:
	case PRM_OP_INIT_HCA:
	case PRM_OP_QUERY_ISSI:
	case PRM_OP_SET_ISSI:
	case PRM_OP_QUERY_PAGES:
	case PRM_OP_MANAGE_PAGES:
	case PRM_OP_QUERY_HCA_CAP:
	case PRM_OP_SET_HCA_CAP:
	case PRM_OP_QUERY_ADAPTER:
	case PRM_OP_ACCESS_REGISTER:
	case PRM_OP_SET_DRIVER_VERSION:
	case PRM_OP_NOP:
		return true;
	default:
		return false;
	}
}

/* What may not be asked any more once the device is initialised. */
static bool only_before_init(uint16_t opcode)
{
	return opcode == PRM_OP_DISABLE_HCA || opcode == PRM_OP_INIT_HCA || opcode == PRM_OP_SET_ISSI || opcode == PRM_OP_SET_HCA_CAP;
}

enum syn init_allows(const struct hca *h, uint16_t opcode)
{
	switch (h->init->state) {
	case INIT_DISABLED:
		return opcode == PRM_OP_ENABLE_HCA ? SYN_OK : SYN_NOT_ENABLED;
	case INIT_ENABLED:
		if (opcode == PRM_OP_ENABLE_HCA)
			return SYN_ENABLED;
		return before_init(opcode) ? SYN_OK : SYN_NOT_READY;
	default:
		return opcode == PRM_OP_ENABLE_HCA || only_before_init(opcode) ? SYN_READY : SYN_OK;
	}
}

void init_objects_gone(struct hca *h)
{
	obj_tables_free(h);
	memset(h->tables, 0, sizeof(h->tables));
	memset(h->user_objs, 0, (UID_MAX + 1) * sizeof(*h->user_objs));
	h->user_objs[0] = 1;
	h->n_objs = 0;
	h->charged = 0;
	steer_clear(h->steer);
	mcg_clear(h->mcgs);
	rate_limits_clear(h);
	vport_clear(h);
}

static bool is_this_function(struct call *c)
{
	return !PRM_GET(&c->in, enable_hca_in, function_id);
}

static enum syn enable_hca(struct hca *h, struct call *c)
{
	if (!is_this_function(c))
		return SYN_CAP_FUNCTION;
	h->init->state = INIT_ENABLED;
	return SYN_OK;
}

static void forget(struct hca *h)
{
	pages_forget(&h->init->pages);
	caps_forget(h);
	h->init->issi = 0;
	h->init->state = INIT_DISABLED;
}

/* Pages that the driver did not take back are its own again, as at a reset: there is nothing left that could use them. */
static enum syn disable_hca(struct hca *h, struct call *c)
{
	if (!is_this_function(c))
		return SYN_CAP_FUNCTION;
	forget(h);
	return SYN_OK;
}

static enum syn init_hca(struct hca *h, struct call *c)
{
	if (pages_missing(h))
		return SYN_INIT_PAGES;
	h->init->state = INIT_READY;
	return SYN_OK;
}

/* Linux, include/linux/mlx5/mlx5_ifc.h: MLX5_TEARDOWN_HCA_IN_PROFILE_*. */
enum { TEARDOWN_GRACEFUL = 0, TEARDOWN_FORCE = 1, TEARDOWN_FAST = 2 };

/* Objects that are left go with it, so that a driver which lost track of some gets its pages back (our choice). */
static enum syn teardown_hca(struct hca *h, struct call *c)
{
	uint64_t profile = PRM_GET(&c->in, teardown_hca_in, profile);

	if (profile > TEARDOWN_FORCE)
		return SYN_TEARDOWN; /* fast_teardown is off */
	init_objects_gone(h);
	h->init->pages.asked = h->init->pages.told = false;
	h->init->state = INIT_ENABLED;
	if (profile == TEARDOWN_FORCE)
		forget(h); /* the driver gives no command any more: a machine that goes down, or another kernel that comes */
	return SYN_OK;
}

#define ISSI_MAX 1u

static enum syn set_issi(struct hca *h, struct call *c)
{
	uint64_t issi = PRM_GET(&c->in, set_issi_in, current_issi);

	if (issi > ISSI_MAX)
		return SYN_ISSI;
	h->init->issi = (uint32_t)issi;
	return SYN_OK;
}

/* Text for a management console, which is not there. */
static enum syn set_driver_version(struct hca *h, struct call *c)
{
	return SYN_OK;
}

void hca_reset(struct hca *h)
{
	init_objects_gone(h);
	if (h->init)
		forget(h);
}

void hca_renew(struct hca *h)
{
	hca_reset(h);
	vport_forget(h->vport);
}

const struct hca_op ops_init[] = {
	OP_ROW(ENABLE_HCA, enable_hca, OP_DRIVER, enable_hca),
	OP_ROW(DISABLE_HCA, disable_hca, OP_DRIVER, disable_hca),
	OP_ROW(INIT_HCA, init_hca, OP_DRIVER, init_hca),
	OP_ROW(TEARDOWN_HCA, teardown_hca, OP_DRIVER, teardown_hca),
	OP_ROW(SET_ISSI, set_issi, OP_DRIVER, set_issi),
	OP_ROW(SET_DRIVER_VERSION, set_driver_version, OP_DRIVER, set_driver_version),
	{ 0 },
};
