/* SPDX-License-Identifier: BSD-2-Clause */
/* QUERY_HCA_CAP, SET_HCA_CAP of a bare device, and QUERY_ADAPTER. */
#include <stdlib.h>
#include <string.h>

#include "caps.h"
#include "general.h"
#include "init.h"
#include "types.h"

/* NULL: no such page. cap_pages_bare has few, and ends with one without rows. */
static const struct cap_page *page_of(uint64_t type)
{
	for (unsigned int i = 0; i < n_cap_pages; i++)
		if (cap_pages[i].type == type)
			return &cap_pages[i];
	return NULL;
}

static const struct cap_row *bare_rows(const struct hca *h, uint64_t type)
{
	const struct cap_page *p = cap_pages_bare;

	while (p->rows && p->type != type)
		p++;
	return h->init ? p->rows : NULL;
}

static const struct cap_row *row_at(const struct cap_row *rows, uint32_t bit, uint32_t width)
{
	for (const struct cap_row *row = rows; row && row->width; row++)
		if (row->bit == bit && row->width == width)
			return row;
	return NULL;
}

uint64_t hca_cap(const struct hca *h, uint8_t type, uint32_t bit, uint32_t width)
{
	const struct cap_page *page = page_of(type);
	const struct cap_row *row = row_at(bare_rows(h, type), bit, width);

	if (h->init && h->init->caps[type]) {
		struct prm_box set = prm_in(h->init->caps[type], CAP_PAGE_BYTES);

		return prm_get(&set, bit, width);
	}
	if (!row && page)
		row = row_at(page->rows, bit, width);
	return row ? row->value[h->cfg.profile] : 0;
}

static void put_rows(const struct hca *h, const struct cap_row *rows, struct prm_box *to)
{
	for (const struct cap_row *row = rows; row && row->width; row++)
		prm_set(to, row->bit, row->width, row->value[h->cfg.profile]);
}

/* The maximum: what this device can do. */
static void put_page(const struct hca *h, const struct cap_page *page, struct prm_box *to)
{
	put_rows(h, page->rows, to);
	if (page->type == CAP_GENERAL)
		PRM_SET(to, cmd_hca_cap, general_obj_types, gen_type_bits(h, 0));
	if (page->type == CAP_GENERAL_2)
		PRM_SET(to, cmd_hca_cap_2, general_obj_types_127_64, gen_type_bits(h, 64));
	put_rows(h, bare_rows(h, page->type), to);
}

/* Bit 0 of op_mod. */
enum { CAP_MAX = 0, CAP_CURRENT = 1 };

uint32_t hca_timer_khz(const struct hca *h)
{
	return (uint32_t)HCA_CAP(h, GENERAL, cmd_hca_cap, device_frequency_khz);
}

static enum syn query_hca_cap(struct hca *h, struct call *c)
{
	struct prm_box to = PRM_SUB(&c->out, query_hca_cap_out, capability);
	const struct cap_page *page = page_of(c->op_mod >> 1);

	if (PRM_GET(&c->in, query_hca_cap_in, other_function) && PRM_GET(&c->in, query_hca_cap_in, function_id))
		return SYN_CAP_FUNCTION;
	if (!page)
		return SYN_CAP_TYPE;
	if ((c->op_mod & 1) == CAP_CURRENT && h->init && h->init->caps[page->type])
		memcpy(to.p, h->init->caps[page->type], CAP_PAGE_BYTES);
	else
		put_page(h, page, &to);
	return SYN_OK;
}

/* A row of the page that is set above what it is at most; bits beyond the rows are not there, and not looked at. */
static enum syn set_rows(const struct hca *h, const struct cap_row *rows, const struct cap_row *before, struct prm_box *from,
			 struct prm_box *to)
{
	for (const struct cap_row *row = rows; row && row->width; row++) {
		uint64_t value = prm_get(from, row->bit, row->width);

		if (row_at(before, row->bit, row->width))
			continue;
		if (value > row->value[h->cfg.profile])
			return SYN_CAP_SET_MAX;
		prm_set(to, row->bit, row->width, value);
	}
	return SYN_OK;
}

/* The pages that Linux sets (drivers/net/ethernet/mellanox/mlx5/core/main.c, set_hca_cap). */
static bool settable(uint64_t type)
{
	return type == CAP_GENERAL || type == CAP_GENERAL_2 || type == CAP_ODP || type == CAP_ATOMIC || type == CAP_PORT_SELECTION;
}

static enum syn set_hca_cap(struct hca *h, struct call *c)
{
	struct prm_box from = PRM_SUB(&c->in, set_hca_cap_in, capability), to;
	const struct cap_page *page = page_of(c->op_mod >> 1);
	const struct cap_row *bare = page ? bare_rows(h, page->type) : NULL;
	uint8_t *set;
	enum syn syn;

	if (PRM_GET(&c->in, set_hca_cap_in, other_function) && PRM_GET(&c->in, set_hca_cap_in, function_id))
		return SYN_CAP_FUNCTION;
	if (!page || !settable(page->type))
		return SYN_CAP_SET_TYPE;
	set = calloc(1, CAP_PAGE_BYTES);
	if (!set)
		return SYN_NO_MEMORY;
	to = prm_out(set, CAP_PAGE_BYTES);
	put_page(h, page, &to); /* for what comes from elsewhere than rows */
	syn = set_rows(h, bare, NULL, &from, &to);
	if (syn == SYN_OK)
		syn = set_rows(h, page->rows, bare, &from, &to);
	if (syn != SYN_OK) {
		free(set);
		return syn;
	}
	free(h->init->caps[page->type]);
	h->init->caps[page->type] = set;
	return SYN_OK;
}

void caps_forget(struct hca *h)
{
	for (unsigned int t = 0; t < CAP_TYPES; t++) {
		free(h->init->caps[t]);
		h->init->caps[t] = NULL;
	}
}

_Static_assert(PRM_SZ(hca_cap_union) == CAP_PAGE_BYTES, "a page of capabilities");

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

/* Of a bare device. */
const struct hca_op ops_set_caps[] = {
	{ PRM_OP_SET_HCA_CAP, PRM_SZ(set_hca_cap_in), PRM_SZ(set_hca_cap_out), OP_MOD_ANY, OP_DRIVER, OBJ_NONE, 0, 0,
	  set_hca_cap, NULL },
	{ 0 },
};
