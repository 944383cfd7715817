/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory keys: over a umem or, on a bare device, a list of pages (MTT), over other keys (KLM and KSM: kept, not walked), and over
 * device addresses (driver).
 */
#include <string.h>

#include "types.h"

enum { MODE_PA = 0, MODE_MTT = 1, MODE_KLM = 2, MODE_KSM = 3 };

#define OCTWORD 16u

/* The umem behind an MTT key, checked. */
struct key_pages {
	uint64_t n, offset;
	uint8_t shift;
};

static enum syn mkey_umem(struct hca *h, struct call *c, struct prm_box *mkc, struct hca_obj **umem)
{
	uint64_t offset = PRM_GET(&c->in, create_mkey_in, mkey_umem_offset), size;
	uint64_t len = PRM_GET(mkc, mkc, len);

	*umem = umem_find(h, (uint32_t)PRM_GET(&c->in, create_mkey_in, mkey_umem_id), c->uid);
	if (!*umem)
		return SYN_UMEM;
	/*
	 * The number of translations in the inbox is not looked at: programs count them by their own page size, by the
	 * umem's, or leave the field zero, and the umem has the truth.
	 */
	size = umem_size(*umem);
	if (offset > size || (!PRM_GET(mkc, mkc, length64) && len > size - offset))
		return SYN_UMEM_RANGE;
	return SYN_OK;
}

#define LOG_PAGE_MIN 12u
#define MTTS_PER_OCTWORD 2u

/*
 * A list of pages in the inbox. None at all makes a key that work requests give its memory, or that is free: Linux has both
 * (drivers/infiniband/hw/mlx5/mr.c).
 */
static enum syn mkey_pages(struct call *c, struct prm_box *mkc, struct key_pages *pages)
{
	uint64_t octwords = PRM_GET(&c->in, create_mkey_in, translations_octword_actual_size);
	uint64_t len = PRM_GET(mkc, mkc, len), last;

	*pages = (struct key_pages){ .n = octwords * MTTS_PER_OCTWORD, .shift = (uint8_t)PRM_GET(mkc, mkc, log_page_size) };
	if (!octwords)
		return SYN_OK;
	if (octwords * OCTWORD > c->in.len - PRM_SZ(create_mkey_in))
		return SYN_MKEY_MTT;
	if (pages->shift < LOG_PAGE_MIN)
		return SYN_MKEY_PAGE;
	pages->offset = PRM_GET(mkc, mkc, start_addr) & ((UINT64_C(1) << pages->shift) - 1);
	last = pages->offset + len - 1;
	if (!PRM_GET(mkc, mkc, length64) && len && (last < pages->offset || last >> pages->shift >= pages->n))
		return SYN_MKEY_PAGES;
	return SYN_OK;
}

void mkey_fini(struct hca_obj *obj)
{
	struct mkey *m = (struct mkey *)obj;

	if (m->own_umem)
		umem_drop(m->umem);
}

static enum syn create_mkey(struct hca *h, struct call *c)
{
	struct prm_box mkc = PRM_SUB(&c->in, create_mkey_in, memory_key_mkey_entry);
	uint8_t mode = (uint8_t)(PRM_GET(&mkc, mkc, access_mode_4_2) << 2 | PRM_GET(&mkc, mkc, access_mode_1_0));
	struct hca_obj *pd = obj_find(h, OBJ_PD, (uint32_t)PRM_GET(&mkc, mkc, pd), c->uid), *umem = NULL;
	uint64_t octwords = PRM_GET(&c->in, create_mkey_in, translations_octword_actual_size);
	struct key_pages pages = { .n = 0 };
	struct mkey *m;
	enum syn syn;

	if (mode > MODE_KSM)
		return SYN_MKEY_MODE;
	if (mode == MODE_PA && c->uid)
		return SYN_MKEY_PA;
	if (!pd)
		return SYN_PD;
	if (mode == MODE_MTT) {
		if (PRM_GET(&c->in, create_mkey_in, mkey_umem_valid))
			syn = mkey_umem(h, c, &mkc, &umem);
		else
			syn = h->cfg.bare ? mkey_pages(c, &mkc, &pages) : SYN_MKEY_UMEM;
		if (syn != SYN_OK)
			return syn;
	} else if (mode != MODE_PA && octwords * OCTWORD > c->in.len - PRM_SZ(create_mkey_in)) {
		return SYN_MKEY_KLM;
	}
	m = (struct mkey *)obj_new(h, OBJ_MKEY, c->uid, &syn);
	if (!m)
		return syn;
	if (pages.n) {
		m->umem = umem_of_list(c, PRM_SZ(create_mkey_in), pages.n, pages.shift, pages.offset,
				       PRM_GET(&c->in, create_mkey_in, pg_access));
		m->own_umem = true;
		if (!m->umem) {
			obj_free(h, &m->obj);
			return SYN_NO_MEMORY;
		}
	}
	PRM_COPY(&c->in, create_mkey_in, memory_key_mkey_entry, m->mkc);
	m->mode = mode;
	m->tag = (uint8_t)PRM_GET(&mkc, mkc, mkey_7_0);
	m->start = PRM_GET(&mkc, mkc, start_addr);
	m->len = PRM_GET(&mkc, mkc, len);
	m->length64 = PRM_GET(&mkc, mkc, length64);
	m->free = PRM_GET(&mkc, mkc, free);
	m->lw = PRM_GET(&mkc, mkc, lw);
	obj_link(&m->obj, pd);
	if (umem) {
		obj_link(&m->obj, umem);
		m->umem = umem;
		m->umem_offset = PRM_GET(&c->in, create_mkey_in, mkey_umem_offset);
	}
	PRM_SET(&c->out, create_mkey_out, mkey_index, m->obj.id);
	return SYN_OK;
}

static enum syn query_mkey(struct hca *h, struct call *c)
{
	struct prm_box mkc = PRM_SUB(&c->out, query_mkey_out, memory_key_mkey_entry);

	memcpy(mkc.p, ((struct mkey *)c->obj)->mkc, PRM_SZ(mkc));
	return SYN_OK;
}

enum syn mkey_find(struct hca *h, uint32_t key, uint16_t uid, struct hca_obj **out)
{
	struct mkey *m = (struct mkey *)obj_find(h, OBJ_MKEY, key >> 8, h->cfg.bare ? 0 : uid);

	/* Keys that a driver makes for its programs are uid 0's, and lie in their PDs. */
	if (!m || (uid && m->obj.uid != uid && (m->obj.uid || m->obj.links[0]->uid != uid)))
		return SYN_MKEY;
	if (m->tag != (key & 0xff))
		return SYN_MKEY_TAG;
	if (m->free)
		return SYN_MKEY_FREE;
	*out = &m->obj;
	return SYN_OK;
}

static enum syn find_writable(struct hca *h, uint32_t key, uint16_t uid, uint64_t addr, uint64_t len, struct mkey **out)
{
	struct hca_obj *obj;
	enum syn syn = mkey_find(h, key, uid, &obj);
	struct mkey *m;
	uint64_t at;

	if (syn != SYN_OK)
		return syn;
	m = (struct mkey *)obj;
	if (m->mode == MODE_KLM || m->mode == MODE_KSM)
		return SYN_MKEY_INDIRECT;
	if (m->mode == MODE_MTT && !m->umem)
		return SYN_MKEY_EMPTY;
	if (!m->lw || (m->umem && !umem_writable(m->umem)))
		return SYN_MKEY_ACCESS;
	at = addr - m->start;
	if (m->length64 ? addr + len < addr : addr < m->start || at > m->len || len > m->len - at)
		return SYN_MKEY_RANGE;
	/* A key without a length still ends where its umem does. */
	if (m->umem && m->length64 &&
	    (addr < m->start || at > umem_size(m->umem) - m->umem_offset || len > umem_size(m->umem) - m->umem_offset - at))
		return SYN_MKEY_RANGE;
	*out = m;
	return SYN_OK;
}

enum syn mkey_check_write(struct hca *h, uint32_t mkey, uint16_t uid, uint64_t addr, uint64_t len)
{
	struct mkey *m;

	return find_writable(h, mkey, uid, addr, len, &m);
}

enum syn mkey_write(struct hca *h, uint32_t mkey, uint16_t uid, uint64_t addr, const void *src, size_t len)
{
	struct mkey *m;
	enum syn syn = find_writable(h, mkey, uid, addr, len, &m);

	if (syn != SYN_OK)
		return syn;
	if (m->umem ? umem_write(h, m->umem, m->umem_offset + (addr - m->start), src, len) : h->ops.write(h->host, addr, src, len))
		return SYN_OK;
	return SYN_MEMORY;
}

const struct hca_op ops_mkey[] = {
	OP_ROW(CREATE_MKEY, create_mkey, OP_PLAIN, create_mkey),
	OP_OBJ_ROW(QUERY_MKEY, query_mkey, OP_ON, OBJ_MKEY, mkey_index, query_mkey),
	OP_OBJ_ROW(DESTROY_MKEY, destroy_mkey, OP_DESTROY, OBJ_MKEY, mkey_index, NULL),
	{ 0 },
};
