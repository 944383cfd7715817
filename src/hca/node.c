/* SPDX-License-Identifier: BSD-2-Clause */
/* What InfiniBand's side of a driver asks of an Ethernet port: partition key, GID, management datagrams, special keys. */
#include <string.h>

#include "context.h"
#include "types.h"
#include "vport.h"

#define PKEY_DEFAULT 0xffffu /* full membership of the default partition: the only one that RoCE has */
#define ALL_PKEYS 0xffffu    /* as pkey_index: the whole table */

static enum syn query_hca_vport_pkey(struct hca *h, struct call *c)
{
	uint64_t index = PRM_GET(&c->in, query_hca_vport_pkey_in, pkey_index);
	uint32_t n = index == ALL_PKEYS ? PKEYS : 1;
	struct prm_box first;
	enum syn syn = vport_own(c, true);

	if (syn != SYN_OK)
		return syn;
	if (index >= PKEYS && index != ALL_PKEYS)
		return SYN_PKEY_INDEX;
	if (c->out.len < PRM_SZ(query_hca_vport_pkey_out) + n * PRM_SZ(pkey))
		return SYN_OUT_LEN;
	if (index && index != ALL_PKEYS)
		return SYN_OK;
	first = prm_out(c->out.p + PRM_SZ(query_hca_vport_pkey_out), PRM_SZ(pkey));
	PRM_SET(&first, pkey, pkey, PKEY_DEFAULT);
	return SYN_OK;
}

/* The port's own, link-local; those of RoCE are in the table of addresses. */
static enum syn query_hca_vport_gid(struct hca *h, struct call *c)
{
	const uint32_t at = PRM_SZ(query_hca_vport_gid_out);
	enum syn syn = vport_own(c, true);

	if (syn != SYN_OK)
		return syn;
	if (PRM_GET(&c->in, query_hca_vport_gid_in, gid_index))
		return SYN_GID_INDEX;
	if (c->out.len < at + PRM_SZ(array128_auto))
		return SYN_OUT_LEN;
	PRM_SET(&c->out, query_hca_vport_gid_out, gids_num, 1);
	prm_set(&c->out, at * 8, 64, UINT64_C(0xfe80) << 48);
	prm_set(&c->out, at * 8 + 64, 64, h->cfg.guid);
	return SYN_OK;
}

/*
 * Management datagrams go to agents that an Ethernet port does not have: each is answered with its own header, as a response
 * whose status says that the attribute is not supported (InfiniBand specification, volume 1, 13.4.7).
 */
#define MAD_BYTES 256u
#define MAD_METHOD 3u  /* the byte */
#define MAD_STATUS 4u  /* the first of two */
#define MAD_RESPONSE 0x80u
#define MAD_UNSUPPORTED 0x0cu
#define MAD_IGNORE_KEYS 3u /* op_mod: masks of checks that the agents would leave out */

static enum syn mad_ifc(struct hca *h, struct call *c)
{
	struct { uint32_t bit, width; } in = { PRM_F_mad_ifc_in__mad }, out = { PRM_F_mad_ifc_out__response_mad_packet };
	uint8_t *mad = c->out.p + out.bit / 8;

	if (!PRM_GET(&c->in, mad_ifc_in, port) || PRM_GET(&c->in, mad_ifc_in, port) > NUM_PORTS)
		return SYN_VPORT_PORT;
	memcpy(mad, c->in.p + in.bit / 8, MAD_BYTES);
	mad[MAD_METHOD] |= MAD_RESPONSE;
	mad[MAD_STATUS] = 0;
	mad[MAD_STATUS + 1] = MAD_UNSUPPORTED;
	return SYN_OK;
}

/* Keys below the first mkey that is given out: reserved ones, which nothing here reads memory through. */
#define SPECIAL_KEY(n) ((uint64_t)(n) << 8)
_Static_assert(MKEY_FIRST > 5, "special keys are no mkeys");

static enum syn query_special_contexts(struct hca *h, struct call *c)
{
	PRM_SET(&c->out, query_special_contexts_out, resd_lkey, SPECIAL_KEY(1));
	PRM_SET(&c->out, query_special_contexts_out, null_mkey, SPECIAL_KEY(2));
	PRM_SET(&c->out, query_special_contexts_out, dump_fill_mkey, SPECIAL_KEY(3));
	PRM_SET(&c->out, query_special_contexts_out, terminate_scatter_list_mkey, SPECIAL_KEY(4));
	PRM_SET(&c->out, query_special_contexts_out, repeated_mkey, SPECIAL_KEY(5));
	return SYN_OK;
}

const struct hca_op ops_node[] = {
	OP_ROW(QUERY_HCA_VPORT_PKEY, query_hca_vport_pkey, OP_DRIVER, query_hca_vport_pkey),
	OP_ROW(QUERY_HCA_VPORT_GID, query_hca_vport_gid, OP_DRIVER, query_hca_vport_gid),
	{ PRM_OP_MAD_IFC, PRM_SZ(mad_ifc_in), PRM_SZ(mad_ifc_out), MAD_IGNORE_KEYS, OP_DRIVER, OBJ_NONE, 0, 0, mad_ifc, NULL },
	OP_ROW(QUERY_SPECIAL_CONTEXTS, query_special_contexts, OP_DRIVER, query_special_contexts),
	{ 0 },
};
