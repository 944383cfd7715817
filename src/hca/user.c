/* SPDX-License-Identifier: BSD-2-Clause */
/* User contexts, protection domains, umems, and NOP. */
#include <stdlib.h>

#include "context.h"
#include "types.h"

static enum syn create_uctx(struct hca *h, struct call *c)
{
	for (uint32_t uid = 1; uid <= UID_MAX; uid++) {
		if (h->user_objs[uid])
			continue;
		h->user_objs[uid] = 1;
		PRM_SET(&c->out, create_uctx_out, uid, uid);
		return SYN_OK;
	}
	return SYN_UID_LIMIT;
}

/*
 * Of a driver's program. Linux takes a UAR page back while queues of the program may still name it, does not look whether that
 * worked (drivers/infiniband/hw/mlx5/main.c, mlx5_ib_mmap_free), and destroys those queues later: what is left goes here (our choice).
 */
static void free_uars(struct hca *h, uint16_t uid)
{
	for (uint32_t id = UAR_FIRST; id < h->tables[OBJ_UAR].next; id++) {
		struct hca_obj *uar = obj_in_entry(obj_peek(h, OBJ_UAR, id));

		if (uar && uar->uid == uid && !uar->refs)
			obj_free(h, uar);
	}
}

static enum syn destroy_uctx(struct hca *h, struct call *c)
{
	uint32_t uid = (uint32_t)PRM_GET(&c->in, destroy_uctx_in, uid);

	if (!uid || uid > UID_MAX || !h->user_objs[uid])
		return SYN_UID;
	if (h->cfg.bare && h->user_objs[uid] > 1)
		free_uars(h, (uint16_t)uid);
	if (h->user_objs[uid] > 1)
		return SYN_UID_OBJECTS;
	h->user_objs[uid] = 0;
	return SYN_OK;
}

static const struct ctx_type pd = { .type = OBJ_PD, .created = CTX_PLACE(alloc_pd_out, pd) };

static enum syn nop(struct hca *h, struct call *c)
{
	return SYN_OK;
}

#define MTT_FLAGS 0xfffu

void umem_fini(struct hca_obj *obj)
{
	free(((struct umem *)obj)->mtt);
}

static enum syn create_umem(struct hca *h, struct call *c)
{
	struct prm_box ctx = PRM_SUB(&c->in, create_umem_in, umem);
	uint64_t n = PRM_GET(&ctx, umem, num_of_mtt);
	uint8_t shift = (uint8_t)(PRM_GET(&ctx, umem, log_page_size) + 12);
	uint32_t offset = (uint32_t)PRM_GET(&ctx, umem, page_offset);
	uint32_t room = (c->in.len - PRM_SZ(create_umem_in)) / PRM_SZ(mtt);
	struct umem *u;
	enum syn why;

	if (!n || n > room)
		return SYN_UMEM_MTT;
	if ((uint64_t)offset >> shift || n << shift >> shift != n)
		return SYN_UMEM_PAGE;
	u = (struct umem *)obj_new(h, OBJ_UMEM, c->uid, &why);
	if (!u)
		return why;
	u->mtt = malloc(n * sizeof(*u->mtt));
	if (!u->mtt) {
		obj_free(h, &u->obj);
		return SYN_NO_MEMORY;
	}
	u->n_mtt = n;
	u->page_shift = shift;
	u->page_offset = offset;
	for (uint64_t i = 0; i < n; i++)
		u->mtt[i] = prm_get(&c->in, (uint32_t)(PRM_SZ(create_umem_in) + i * PRM_SZ(mtt)) * 8, 64);
	PRM_SET(&c->out, create_umem_out, umem_id, u->obj.id);
	return SYN_OK;
}

struct hca_obj *umem_find(struct hca *h, uint32_t id, uint16_t uid)
{
	return obj_find(h, OBJ_UMEM, id, uid);
}

uint64_t umem_size(const struct hca_obj *obj)
{
	const struct umem *u = (const struct umem *)obj;

	return (u->n_mtt << u->page_shift) - u->page_offset;
}

bool umem_writable(const struct hca_obj *obj)
{
	const struct umem *u = (const struct umem *)obj;

	return u->mtt[0] & MTT_WRITE;
}

/* One of the two buffers is NULL: it tells the direction. Pages that follow each other are one access. */
static bool umem_access(struct hca *h, const struct hca_obj *obj, uint64_t offset, uint8_t *dst, const uint8_t *src, size_t len)
{
	const struct umem *u = (const struct umem *)obj;
	uint64_t size = umem_size(obj), page = UINT64_C(1) << u->page_shift;

	if (offset > size || len > size - offset)
		return false;
	offset += u->page_offset;
	while (len) {
		uint64_t i = offset >> u->page_shift, first = i;
		uint64_t n = page - (offset & (page - 1));

		while (n < len && i + 1 < u->n_mtt && u->mtt[i + 1] == u->mtt[i] + page) {
			n += page;
			i++;
		}
		if (n > len)
			n = len;
		uint64_t addr = (u->mtt[first] & ~(uint64_t)MTT_FLAGS) + (offset & (page - 1));

		if (!(u->mtt[first] & (src ? MTT_WRITE : MTT_READ)))
			return false;
		if (src ? !h->ops.write(h->host, addr, src, n) : !h->ops.read(h->host, addr, dst, n))
			return false;
		offset += n;
		len -= n;
		if (src)
			src += n;
		else
			dst += n;
	}
	return true;
}

bool umem_read(struct hca *h, const struct hca_obj *umem, uint64_t offset, void *dst, size_t len)
{
	return umem_access(h, umem, offset, dst, NULL, len);
}

bool umem_write(struct hca *h, const struct hca_obj *umem, uint64_t offset, const void *src, size_t len)
{
	return umem_access(h, umem, offset, NULL, src, len);
}

const struct hca_op ops_user[] = {
	OP_ROW(CREATE_UCTX, create_uctx, OP_DRIVER, create_uctx),
	OP_ROW(DESTROY_UCTX, destroy_uctx, OP_DRIVER, destroy_uctx),
	OP_CTX_ALLOC(ALLOC_PD, alloc_pd, &pd),
	OP_OBJ_ROW(DEALLOC_PD, dealloc_pd, OP_DESTROY, OBJ_PD, pd, NULL),
	OP_ROW(CREATE_UMEM, create_umem, OP_PLAIN, create_umem),
	OP_OBJ_ROW(DESTROY_UMEM, destroy_umem, OP_DESTROY, OBJ_UMEM, umem_id, NULL),
	OP_ROW(NOP, nop, OP_PLAIN, nop),
	{ 0 },
};
