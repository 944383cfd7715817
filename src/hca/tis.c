/* SPDX-License-Identifier: BSD-2-Clause */
/* Transport domains, and transport interface sends. */
#include "context.h"
#include "types.h"

static const struct ctx_type td = { .type = OBJ_TD, .created = CTX_PLACE(alloc_transport_domain_out, transport_domain) };

/* A TIS for TLS also names a PD (Linux, drivers/net/ethernet/mellanox/mlx5/core/en_accel/ktls_tx.c). */
static const struct ctx_ref refs[] = {
	{ OBJ_TD, CTX_PLACE(tisc, transport_domain), false, SYN_OK },
	{ OBJ_QP, CTX_PLACE(tisc, underlay_qpn), true, SYN_OK },
	{ OBJ_PD, CTX_PLACE(tisc, pd), true, SYN_OK },
	{ 0 },
};

static const struct ctx_select selects[] = {
	{ CTX_MASK(modify_tis_bitmask, prio), CTX_PLACE(tisc, prio) },
	{ CTX_MASK(modify_tis_bitmask, lag_tx_port_affinity), CTX_PLACE(tisc, lag_tx_port_affinity) },
	{ CTX_MASK(modify_tis_bitmask, strict_lag_tx_port_affinity), CTX_PLACE(tisc, strict_lag_tx_port_affinity) },
	{ 0 },
};

/* An affinity of 0 leaves the port to the device. There is no TLS (tls_tx is 0), so that nothing is kept that a driver relied on. */
static enum syn affinity_check(struct prm_box *ctx)
{
	return PRM_GET(ctx, tisc, lag_tx_port_affinity) > NUM_PORTS ? SYN_TIS_PORT : SYN_OK;
}

static enum syn check(struct hca *h, struct call *c, struct prm_box *ctx, struct ctx_links *links)
{
	return PRM_GET(ctx, tisc, tls_en) ? SYN_TIS_TLS : affinity_check(ctx);
}

static enum syn check_modify(struct hca *h, struct call *c, struct ctx_obj *obj, struct prm_box *to, uint64_t select)
{
	return select & CTX_MASK(modify_tis_bitmask, lag_tx_port_affinity) ? affinity_check(to) : SYN_OK;
}

static const struct ctx_type tis = {
	.type = OBJ_TIS,
	.create = CTX_PLACE(create_tis_in, ctx),
	.created = CTX_PLACE(create_tis_out, tisn),
	.modify = CTX_PLACE(modify_tis_in, ctx),
	.select = CTX_PLACE(modify_tis_in, bitmask),
	.query = CTX_PLACE(query_tis_out, tis_context),
	.refs = refs,
	.selects = selects,
	.check = check, .check_modify = check_modify,
};

const struct hca_op ops_tis[] = {
	OP_CTX_ALLOC(ALLOC_TRANSPORT_DOMAIN, alloc_transport_domain, &td),
	OP_OBJ_ROW(DEALLOC_TRANSPORT_DOMAIN, dealloc_transport_domain, OP_DESTROY, OBJ_TD, transport_domain, NULL),
	OP_CTX_CREATE(CREATE_TIS, create_tis, &tis),
	OP_CTX_QUERY(QUERY_TIS, query_tis, OBJ_TIS, tisn, &tis),
	OP_CTX_MODIFY(MODIFY_TIS, modify_tis, OBJ_TIS, tisn, &tis),
	OP_OBJ_ROW(DESTROY_TIS, destroy_tis, OP_DESTROY, OBJ_TIS, tisn, NULL),
	{ 0 },
};
