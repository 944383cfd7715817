/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where queues and doorbell records lie: in umems; or, on a bare device, whose driver translates for its programs, where a list
 * of pages in the inbox and an address say. Where those lead is not looked at, as nothing of this model ever goes there.
 */
#include "types.h"

/* page_offset counts in 64ths of a page, log_page_size in pages of 4 KiB. Linux, drivers/infiniband/hw/mlx5/{cq,qp,srq}.c. */
#define LOG_OFFSETS 6u
#define LOG_PAGE_MIN 12u
#define PA_MASK (~UINT64_C(0xfff)) /* the low bits of an entry are not part of its address */

static enum syn in_umem(struct hca *h, struct call *c, const struct queue_part *p, struct hca_obj **umem)
{
	struct hca_obj *u = umem_find(h, p->id, c->uid);

	if (!u)
		return SYN_UMEM;
	if (p->offset > umem_size(u) || p->bytes > umem_size(u) - p->offset)
		return p->range;
	if (!umem_writable(u))
		return p->read_only;
	*umem = u;
	return SYN_OK;
}

enum syn queue_pages(struct call *c, const struct queue_pages *p, uint64_t bytes)
{
	unsigned int log_page = p->log_page_size + LOG_PAGE_MIN;
	uint64_t offset, n;

	if (log_page >= 64)
		return p->size;
	offset = (uint64_t)p->page_offset << (log_page - LOG_OFFSETS);
	if (bytes + offset < bytes)
		return p->few;
	n = ((bytes + offset - 1) >> log_page) + 1;
	if (c->in.len < p->list || n > (c->in.len - p->list) / PRM_SZ(cmd_pas))
		return p->few;
	for (uint64_t i = 0; i < n; i++)
		if (prm_get(&c->in, (uint32_t)(p->list + i * PRM_SZ(cmd_pas)) * 8, 64) & PA_MASK & ((UINT64_C(1) << log_page) - 1))
			return p->unaligned;
	return SYN_OK;
}

enum syn queue_place(struct hca *h, struct call *c, const struct queue_part *p, struct hca_obj **umem)
{
	*umem = NULL;
	if (p->valid)
		return in_umem(h, c, p, umem);
	if (!h->cfg.bare)
		return p->not_valid;
	if (p->pages.list)
		return queue_pages(c, &p->pages, p->bytes);
	return p->offset % DBR_BYTES ? p->pages.unaligned : SYN_OK;
}
