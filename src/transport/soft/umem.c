/* SPDX-License-Identifier: BSD-2-Clause */
/* umems: the program's memory, made known to the device. The kernel's checks first, then CREATE_UMEM as the kernel builds it. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "device.h"
#include "prm.h"

#define PAGE_SHIFT 12
#define PAGE (UINT64_C(1) << PAGE_SHIFT)
#define MAX_LEN ((UINT64_C(1) << 40) - 2 * PAGE) /* a slot of memory.c */
#define MAX_MTTS 4000u                         /* more memory than that many pages: larger pages */

#define ACCESS_RELAXED_ORDERING (1u << 20)
#define ACCESS_ALLOWED                                                                                                   \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | ACCESS_RELAXED_ORDERING)

/* Is [addr, end) mapped, with the permissions that pinning would ask for? 0, EFAULT, or the errno of reading the map. */
static int check_mapped(uint64_t addr, uint64_t end, bool write)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];
	int err = EFAULT;

	if (!maps)
		return errno == ENOMEM || errno == EMFILE || errno == ENFILE ? ENOMEM : EFAULT;
	while (err && fgets(line, sizeof(line), maps)) {
		uint64_t from, to;
		char perm[5];

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &from, &to, perm) != 3 || to <= addr)
			continue;
		if (from > addr || (write ? perm[1] != 'w' : perm[0] != 'r'))
			break;
		addr = to;
		if (addr >= end)
			err = 0;
	}
	fclose(maps);
	return err;
}

static unsigned int ceil_log2(uint64_t v)
{
	return v <= 1 ? 0 : 64 - (unsigned int)__builtin_clzll(v - 1);
}

/* Is there a page size that the caller allows and the range fits? Facts: devx.c, devx_umem_find_best_pgsize of Linux. */
static bool page_size_fits(const struct odx_umem_req *req)
{
	unsigned int top = ceil_log2(req->size);
	uint64_t at = (uintptr_t)req->addr | req->size;

	if (top < PAGE_SHIFT)
		top = PAGE_SHIFT;
	for (unsigned int n = PAGE_SHIFT; n <= top; n++)
		if (req->pgsz_bitmap >> n & 1 && (n == PAGE_SHIFT || !(at & ((UINT64_C(1) << n) - 1))))
			return true;
	return false;
}

/* Everything but the memory itself. */
static int check_request(const struct odx_umem_req *req)
{
	uint64_t addr = (uintptr_t)req->addr;

	if (req->access & ~(uint32_t)ACCESS_ALLOWED)
		return EINVAL;
	if (req->access & IBV_ACCESS_REMOTE_WRITE && !(req->access & IBV_ACCESS_LOCAL_WRITE))
		return EINVAL;
	if (req->has_dmabuf && fcntl(req->dmabuf_fd, F_GETFD) < 0)
		return EBADF;
	if (!req->size || addr + req->size < addr)
		return EINVAL;
	if (req->size > MAX_LEN)
		return ENOMEM;
	return page_size_fits(req) ? 0 : EINVAL;
}

static int create_umem(struct soft_context *ctx, struct soft_umem *u, const struct odx_umem_req *req)
{
	uint32_t offset = (uint32_t)((uintptr_t)req->addr % PAGE);
	unsigned int shift = PAGE_SHIFT;
	uint64_t pages = (offset + req->size + PAGE - 1) >> shift;
	uint8_t out[PRM_SZ(create_umem_out)] = { 0 }, *in;
	struct prm_box b, um, o = prm_in(out, sizeof(out)), d = prm_out(u->child.destroy, sizeof(u->child.destroy));
	bool write = req->access & IBV_ACCESS_LOCAL_WRITE;
	size_t inlen;
	int err;

	while (pages > MAX_MTTS)
		pages = (offset + req->size + (UINT64_C(1) << (shift + 1)) - 1) >> (shift + 1), shift++;
	inlen = PRM_SZ(create_umem_in) + pages * PRM_SZ(mtt);
	in = calloc(1, inlen);
	if (!in)
		return ENOMEM;
	b = prm_out(in, inlen);
	um = PRM_SUB(&b, create_umem_in, umem);
	PRM_SET(&b, create_umem_in, opcode, PRM_OP_CREATE_UMEM);
	PRM_SET(&um, umem, log_page_size, shift - PAGE_SHIFT);
	PRM_SET(&um, umem, page_offset, offset);
	PRM_SET(&um, umem, num_of_mtt, pages);
	/* Low bits: wr_en, rd_en. */
	for (uint64_t i = 0; i < pages; i++)
		prm_set(&b, (uint32_t)(PRM_SZ(create_umem_in) + i * PRM_SZ(mtt)) * 8, 64,
			(soft_umem_iova(u->slot) + (i << shift)) | (write ? 3 : 1));
	err = soft_command(ctx->dev, ctx->uid, in, inlen, out, sizeof(out));
	free(in);
	if (!err)
		err = soft_status(out);
	if (err)
		return err;
	u->pub.pub.umem_id = (uint32_t)PRM_GET(&o, create_umem_out, umem_id);
	memset(u->child.destroy, 0, sizeof(u->child.destroy));
	PRM_SET(&d, destroy_umem_in, opcode, PRM_OP_DESTROY_UMEM);
	PRM_SET(&d, destroy_umem_in, umem_id, u->pub.pub.umem_id);
	rules_stamp_uid(u->child.destroy, ctx->uid);
	return 0;
}

/* The memory, found and checked, in a slot. Of a dma-buf, addr is the offset. */
static int map(struct soft_device *dev, struct soft_umem *u, const struct odx_umem_req *req)
{
	struct soft_umem_slot memory = {
		.addr = (uintptr_t)req->addr, .len = req->size, .writable = req->access & IBV_ACCESS_LOCAL_WRITE,
		.special = req->has_dmabuf,
	};
	int err;

	u->dmabuf.base = NULL;
	if (req->has_dmabuf)
		err = soft_dmabuf_map(req->dmabuf_fd, memory.addr, memory.len, memory.writable, &u->dmabuf);
	else
		err = check_mapped(memory.addr, memory.addr + memory.len, memory.writable);
	if (err)
		return err;
	if (req->has_dmabuf)
		memory.addr = (uintptr_t)u->dmabuf.base + memory.addr % PAGE;
	pthread_mutex_lock(&dev->model);
	err = soft_umem_map(dev, &memory, &u->slot);
	pthread_mutex_unlock(&dev->model);
	if (err)
		soft_dmabuf_unmap(&u->dmabuf);
	return err;
}

static void unmap(struct soft_device *dev, struct soft_umem *u)
{
	pthread_mutex_lock(&dev->model);
	soft_umem_unmap(dev, u->slot);
	pthread_mutex_unlock(&dev->model);
	soft_dmabuf_unmap(&u->dmabuf);
}

struct mlx5dv_devx_umem *soft_umem_reg(struct ibv_context *ibv, const struct odx_umem_req *req)
{
	struct soft_context *ctx = soft_ctx(ibv);
	struct soft_umem *u = NULL;
	int err = soft_check_context(ibv);

	if (!err && atomic_load(&ctx->dev->removed))
		err = EIO;
	if (!err)
		err = check_request(req);
	if (err)
		goto fail;
	err = ENOMEM;
	u = slab_alloc(&soft_umems);
	if (!u)
		goto fail;
	err = map(ctx->dev, u, req);
	if (err)
		goto fail;
	err = create_umem(ctx, u, req);
	if (err) {
		unmap(ctx->dev, u);
		goto fail;
	}
	u->child.kind = SOFT_UMEM;
	atomic_store(&u->busy, 0);
	soft_child_add(ctx, &u->child, NULL, 0);
	__atomic_store_n(&u->pub.context, ibv, __ATOMIC_RELEASE);
	return &u->pub.pub;

fail:
	if (u)
		slab_free(&soft_umems, u);
	errno = err;
	return NULL;
}

void soft_umem_release(struct soft_device *dev, struct soft_umem *u)
{
	unmap(dev, u);
}

int soft_umem_real(struct mlx5dv_devx_umem *pub, struct soft_context **ctx, struct soft_umem **umem)
{
	struct soft_umem *handle = (struct soft_umem *)pub;
	struct ibv_context *ibv = __atomic_load_n(&handle->pub.context, __ATOMIC_ACQUIRE);
	struct soft_child *real;
	int err;

	if (!ibv)
		return ENOENT;
	err = soft_check_context(ibv);
	if (err)
		return err;
	real = soft_child_real(&handle->child);
	if (!real)
		return ENOENT;
	*ctx = soft_ctx(ibv);
	*umem = (struct soft_umem *)((char *)real - offsetof(struct soft_umem, child));
	return 0;
}

int soft_umem_dereg(struct mlx5dv_devx_umem *pub)
{
	struct soft_umem *u, *again;
	struct soft_context *ctx;
	int idle = 0, err = soft_umem_real(pub, &ctx, &u);

	if (err)
		return err;
	if (!atomic_compare_exchange_strong(&u->busy, &idle, 1))
		return EBUSY;
	err = soft_umem_real(pub, &ctx, &again); /* another thread may have been faster */
	if (!err && again != u)
		err = ENOENT;
	if (!err)
		err = soft_child_destroy(ctx, &u->child);
	if (err)
		atomic_store(&u->busy, 0);
	else
		soft_child_end(ctx, &((struct soft_umem *)pub)->child, &u->child); /* busy it stays */
	return err;
}
