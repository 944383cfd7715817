/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * UARs: pages of doorbell registers, which the kernel gives and maps. Registers are handed out as libmlx5 does it: one shared
 * register of its own page for NC, else the oldest free one of its kind; pages go when the context closes. Facts: rdma-core,
 * providers/mlx5/verbs.c.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "uverbs.h"

/* A page of the device has registers of two kinds, from here on, so far apart (BlueFlame: as the kernel says) and so many. */
#define DEVICE_PAGE 0x1000u
#define REGISTERS 0x800u
#define BF_PER_UAR 2u
#define NC_STRIDE 0x100u
#define NC_PER_UAR 4u
#define UARS_MAX 16u /* of the device's in one page of a machine with large ones: 64 KiB */

#ifndef MLX5DV_UAR_ALLOC_TYPE_NC_DEDICATED
#define MLX5DV_UAR_ALLOC_TYPE_NC_DEDICATED (1u << 31) /* in newer headers */
#endif

/* Of the RDMA core, newer than the headers of Debian 13: include/uapi/rdma/ib_user_ioctl_cmds.h of Linux 7.2. */
#define OBJECT_DMABUF 18
#define METHOD_DMABUF_ALLOC 0
#define ATTR_ALLOC_DMABUF_HANDLE 0
#define ATTR_ALLOC_DMABUF_PGOFF 1

struct page {
	struct page *next;
	char *base;
	uint32_t length;
	uint32_t id;
	uint32_t handle;
	uint64_t offset; /* in cmd_fd */
	struct uverbs_uar *regs[UARS_MAX * NC_PER_UAR];
	unsigned int n_regs;
};

/* A register; programs hold it as a struct mlx5dv_devx_uar. */
struct uverbs_uar {
	struct odx_uar pub;      /* context NULL: dead */
	struct page *page;
	uint32_t offset;         /* in it */
	bool nc;
	bool held, shared;       /* with the program; the context's one of the shared kind */
	struct uverbs_uar *next; /* of those that wait for the next program */
	void *slab_link;
};

struct slab uverbs_uars = SLAB_INIT(struct uverbs_uar, (size_t)1 << 27);

void uverbs_uars_init(struct uverbs_context *ctx)
{
	ctx->uars = (struct uverbs_uar_pool){ 0 };
}

bool uverbs_owns_uar(const struct mlx5dv_devx_uar *uar)
{
	return slab_owns(&uverbs_uars, uar);
}

static void put_last(struct uverbs_uar_list *l, struct uverbs_uar *r)
{
	r->next = NULL;
	if (l->first)
		l->last->next = r;
	else
		l->first = r;
	l->last = r;
}

static struct uverbs_uar *take_first(struct uverbs_uar_list *l)
{
	struct uverbs_uar *r = l->first;

	if (r)
		l->first = r->next;
	return r;
}

static int alloc_page(int fd, bool nc, struct page *p)
{
	UVERBS_CMD(5) cmd;
	int err;

	cmd.attrs[0] = uverbs_idr(MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, 0);
	cmd.attrs[1] = uverbs_const(MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE,
				    nc ? MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC : MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF);
	cmd.attrs[2] = uverbs_out(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, &p->offset, sizeof(p->offset));
	cmd.attrs[3] = uverbs_out(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, &p->length, sizeof(p->length));
	cmd.attrs[4] = uverbs_out(MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, &p->id, sizeof(p->id));
	err = uverbs_ioctl(fd, MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_ALLOC, &cmd.hdr, 5);
	p->handle = (uint32_t)cmd.attrs[0].data;
	return err == EPROTONOSUPPORT ? EOPNOTSUPP : err; /* Linux before 5.7 has no such object */
}

static void destroy_page(int fd, const struct page *p)
{
	UVERBS_CMD(1) cmd;

	cmd.attrs[0] = uverbs_idr(MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE, p->handle);
	uverbs_ioctl(fd, MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_DESTROY, &cmd.hdr, 1);
}

static void free_registers(struct page *p)
{
	while (p->n_regs) {
		struct uverbs_uar *r = p->regs[--p->n_regs];

		__atomic_store_n(&r->pub.context, NULL, __ATOMIC_RELEASE);
		slab_free(&uverbs_uars, r);
	}
}

static bool add_register(struct uverbs_context *ctx, struct page *p, bool nc, uint32_t offset)
{
	struct uverbs_uar *r = slab_alloc(&uverbs_uars);

	if (!r)
		return false;
	r->page = p;
	r->offset = offset;
	r->nc = nc;
	r->held = r->shared = false;
	__atomic_store_n(&r->pub.context, &ctx->verbs.context, __ATOMIC_RELEASE);
	p->regs[p->n_regs++] = r;
	return true;
}

/* Registers of one kind; the shared one is alone in its page. */
static bool add_registers(struct uverbs_context *ctx, struct page *p, bool nc, bool shared)
{
	uint32_t n_uars = shared || !ctx->resp.num_uars_per_page ? 1 : ctx->resp.num_uars_per_page;
	uint32_t stride = nc ? NC_STRIDE : ctx->resp.bf_reg_size;
	uint32_t per_uar = shared || !stride ? 1 : nc ? NC_PER_UAR : BF_PER_UAR;

	for (uint32_t u = 0; u < n_uars && u < UARS_MAX; u++)
		for (uint32_t i = 0; i < per_uar; i++)
			if (!add_register(ctx, p, nc, u * DEVICE_PAGE + REGISTERS + i * stride))
				return false;
	return true;
}

/* A new page, its registers appended to list. */
static int add_page(struct uverbs_context *ctx, bool nc, bool shared, struct uverbs_uar_list *list)
{
	int fd = ctx->verbs.context.cmd_fd, err = ENOMEM;
	struct page *p = calloc(1, sizeof(*p));

	if (!p)
		return ENOMEM;
	if (!add_registers(ctx, p, nc, shared))
		goto free;
	err = alloc_page(fd, nc, p);
	if (err)
		goto free;
	p->base = mmap(NULL, p->length, PROT_WRITE, MAP_SHARED, fd, (off_t)p->offset);
	if (p->base == MAP_FAILED) {
		err = errno;
		destroy_page(fd, p);
		goto free;
	}
	p->next = ctx->uars.pages;
	ctx->uars.pages = p;
	for (unsigned int i = 0; i < p->n_regs; i++)
		put_last(list, p->regs[i]);
	return 0;

free:
	free_registers(p);
	free(p);
	return err;
}

/* The register for a program; NULL: *err. uverbs_uar_pools is held. */
static struct uverbs_uar *get(struct uverbs_context *ctx, uint32_t flags, int *err)
{
	struct uverbs_uar_pool *pool = &ctx->uars;
	bool shared = flags & MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC, nc = flags != MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF;
	struct uverbs_uar_list alone = { 0 }, *list = shared ? &alone : nc ? &pool->nc : &pool->bf;
	struct uverbs_uar *r;

	*err = 0;
	if (shared && pool->shared)
		return pool->shared;
	if (!list->first)
		*err = add_page(ctx, nc, shared, list);
	if (*err)
		return NULL;
	r = take_first(list);
	r->held = true;
	r->shared = shared;
	if (shared)
		pool->shared = r;
	return r;
}

static void show(struct uverbs_uar *r)
{
	const struct page *p = r->page;

	r->pub.pub = (struct mlx5dv_devx_uar){
		.reg_addr = p->base + r->offset, .base_addr = p->base, .page_id = p->id + r->offset / DEVICE_PAGE,
		.mmap_off = (off_t)p->offset,
	};
}

struct mlx5dv_devx_uar *uverbs_uar_alloc(struct ibv_context *ibv, uint32_t flags)
{
	struct uverbs_context *ctx = uverbs_ctx(ibv);
	struct uverbs_uar *r = NULL;
	int err = uverbs_check_context(ibv);

	if (!err && flags & ~(MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC | MLX5DV_UAR_ALLOC_TYPE_NC_DEDICATED))
		err = EOPNOTSUPP;
	if (!err) {
		pthread_mutex_lock(&uverbs_uar_pools);
		r = get(ctx, flags, &err);
		if (r)
			show(r);
		pthread_mutex_unlock(&uverbs_uar_pools);
	}
	if (r)
		return &r->pub.pub;
	errno = err;
	return NULL;
}

/* Of a register whose context is open; NULL: it is not. */
static struct uverbs_context *holder(struct uverbs_uar *r)
{
	struct ibv_context *ibv = __atomic_load_n(&r->pub.context, __ATOMIC_ACQUIRE);

	return ibv && !uverbs_check_context(ibv) ? uverbs_ctx(ibv) : NULL;
}

void uverbs_uar_free(struct mlx5dv_devx_uar *pub)
{
	struct uverbs_uar *r = (struct uverbs_uar *)pub;
	struct uverbs_context *ctx = holder(r);

	if (!ctx)
		return;
	pthread_mutex_lock(&uverbs_uar_pools);
	if (r->held && !r->shared) {
		r->held = false;
		put_last(r->nc ? &ctx->uars.nc : &ctx->uars.bf, r);
	}
	pthread_mutex_unlock(&uverbs_uar_pools);
}

/* The kernel makes a dma-buf of what its offset in cmd_fd maps. */
int uverbs_uar_export(struct mlx5dv_devx_uar *pub)
{
	struct uverbs_uar *r = (struct uverbs_uar *)pub;
	struct uverbs_context *ctx = holder(r);
	UVERBS_CMD(2) cmd;
	int err = EBADF;

	if (ctx) {
		cmd.attrs[0] = uverbs_fd(ATTR_ALLOC_DMABUF_HANDLE, 0);
		cmd.attrs[1] = uverbs_in_u64(ATTR_ALLOC_DMABUF_PGOFF, r->page->offset);
		err = uverbs_ioctl(ctx->verbs.context.cmd_fd, OBJECT_DMABUF, METHOD_DMABUF_ALLOC, &cmd.hdr, 2);
	}
	if (!err)
		return (int)cmd.attrs[0].data_s64;
	errno = err;
	return -1;
}

/*
 * The context closes. Registers that the program still holds die with the pages. What the kernel has of them ends with its
 * context, after the objects that ring them; of a shared one, it ends here if nothing uses it.
 */
void uverbs_uars_close(struct uverbs_context *ctx)
{
	for (struct page *p = ctx->uars.pages, *next; p; p = next) {
		next = p->next;
		munmap(p->base, p->length);
		if (ctx->imported)
			destroy_page(ctx->verbs.context.cmd_fd, p);
		free_registers(p);
		free(p);
	}
}
