/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where queues and doorbell records lie: in umems; or, on a bare device, whose driver translates for its programs, where a list
 * of pages in the inbox and an address say.
 */
#include <stdlib.h>

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

static unsigned int log_page(const struct queue_pages *p)
{
	return p->log_page_size + LOG_PAGE_MIN;
}

static uint64_t first_offset(const struct queue_pages *p)
{
	return (uint64_t)p->page_offset << (log_page(p) - LOG_OFFSETS);
}

static uint64_t n_pages(const struct queue_pages *p, uint64_t bytes)
{
	return ((bytes + first_offset(p) - 1) >> log_page(p)) + 1;
}

static uint64_t entry(struct call *c, const struct queue_pages *p, uint64_t i)
{
	return prm_get(&c->in, (uint32_t)(p->list + i * PRM_SZ(cmd_pas)) * 8, 64) & PA_MASK;
}

enum syn queue_pages(struct call *c, const struct queue_pages *p, uint64_t bytes)
{
	uint64_t n;

	if (log_page(p) >= 64)
		return p->size;
	if (bytes + first_offset(p) < bytes)
		return p->few;
	n = n_pages(p, bytes);
	if (c->in.len < p->list || n > (c->in.len - p->list) / PRM_SZ(cmd_pas))
		return p->few;
	for (uint64_t i = 0; i < n; i++)
		if (entry(c, p, i) & ((UINT64_C(1) << log_page(p)) - 1))
			return p->unaligned;
	return SYN_OK;
}

struct hca_obj *umem_of_list(struct call *c, uint32_t list, uint64_t n, unsigned int page_shift, uint64_t page_offset, bool own_access)
{
	struct umem *u = (struct umem *)obj_alloc(OBJ_UMEM, c->uid, 0);

	if (!u)
		return NULL;
	u->n_mtt = n;
	u->page_shift = (uint8_t)page_shift;
	u->page_offset = page_offset;
	u->mtt = malloc(n * sizeof(*u->mtt));
	if (!u->mtt) {
		umem_drop(&u->obj);
		return NULL;
	}
	for (uint64_t i = 0; i < n; i++) {
		u->mtt[i] = prm_get(&c->in, (uint32_t)(list + i * PRM_SZ(cmd_pas)) * 8, 64);
		if (!own_access)
			u->mtt[i] |= MTT_READ | MTT_WRITE;
	}
	return &u->obj;
}

struct hca_obj *umem_of_pages(struct call *c, const struct queue_pages *p, uint64_t bytes)
{
	return umem_of_list(c, p->list, n_pages(p, bytes), log_page(p), first_offset(p), false);
}

void umem_drop(struct hca_obj *umem)
{
	if (umem)
		umem_fini(umem);
	free(umem);
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
