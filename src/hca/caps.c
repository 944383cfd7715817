/* SPDX-License-Identifier: BSD-2-Clause */
/* QUERY_HCA_CAP and QUERY_ADAPTER. */
#include <string.h>

#include "caps.h"
#include "general.h"
#include "types.h"

static const struct cap_row *rows_of(uint8_t type)
{
	for (unsigned int i = 0; i < n_cap_pages; i++)
		if (cap_pages[i].type == type)
			return cap_pages[i].rows;
	return NULL;
}

uint64_t hca_cap(const struct hca *h, uint8_t page, uint32_t bit, uint32_t width)
{
	for (const struct cap_row *row = rows_of(page); row && row->width; row++)
		if (row->bit == bit && row->width == width)
			return row->value[h->cfg.profile];
	return 0;
}

static enum syn query_hca_cap(struct hca *h, struct call *c)
{
	struct prm_box page = PRM_SUB(&c->out, query_hca_cap_out, capability);
	unsigned int i = 0;

	if (PRM_GET(&c->in, query_hca_cap_in, other_function) && PRM_GET(&c->in, query_hca_cap_in, function_id))
		return SYN_CAP_FUNCTION;
	/* Bit 0 of op_mod asks for the current value or the maximum: the same here, nothing can be set. */
	while (i < n_cap_pages && cap_pages[i].type != c->op_mod >> 1)
		i++;
	if (i == n_cap_pages)
		return SYN_CAP_TYPE;
	for (const struct cap_row *row = cap_pages[i].rows; row && row->width; row++)
		prm_set(&page, row->bit, row->width, row->value[h->cfg.profile]);
	if (cap_pages[i].type == CAP_GENERAL)
		PRM_SET(&page, cmd_hca_cap, general_obj_types, gen_type_bits(h, 0));
	if (cap_pages[i].type == CAP_GENERAL_2)
		PRM_SET(&page, cmd_hca_cap_2, general_obj_types_127_64, gen_type_bits(h, 64));
	return SYN_OK;
}

/* Mellanox' IEEE and PCI vendor ids, and a PSID that no board has. */
#define IEEE_VENDOR 0x0002c9u
#define PCI_VENDOR 0x15b3u

static const char psids[HCA_N_PROFILES][16] = {
	[HCA_CX5] = "ODX0000000CX5", [HCA_CX6DX] = "ODX0000000CX6DX", [HCA_CX7] = "ODX0000000CX7", [HCA_BF3] = "ODX0000000BF3",
};

static enum syn query_adapter(struct hca *h, struct call *c)
{
	struct prm_box a = PRM_SUB(&c->out, query_adapter_out, query_adapter_struct);
	struct { uint32_t bit, width; } psid = { PRM_F_query_adapter_param_block__vsd_contd_psid };

	PRM_SET(&a, query_adapter_param_block, ieee_vendor_id, IEEE_VENDOR);
	PRM_SET(&a, query_adapter_param_block, vsd_vendor_id, PCI_VENDOR);
	memcpy(a.p + psid.bit / 8, psids[h->cfg.profile], sizeof(psids[0]));
	return SYN_OK;
}

const struct hca_op ops_caps[] = {
	{ PRM_OP_QUERY_HCA_CAP, PRM_SZ(query_hca_cap_in), PRM_SZ(query_hca_cap_out), OP_MOD_ANY, OP_PLAIN, OBJ_NONE, 0, 0,
	  query_hca_cap, NULL },
	OP_ROW(QUERY_ADAPTER, query_adapter, OP_PLAIN, query_adapter),
	{ 0 },
};
