/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * UARs. A page is one that the device gave (ALLOC_UAR), mapped from the memory behind the context's cmd_fd, so that another
 * process that has the descriptor can map it too, as programs do with the kernel's. Registers are handed out as libmlx5 does
 * it: one shared register for NC, else the oldest free one of its kind; pages go when the context closes.
 */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/mlx5_api.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device.h"
#include "prm.h"

#define UAR_PAGE 4096u
/* Registers start here; of two kinds, so far apart and so many to a page. rdma-core, providers/mlx5/mlx5.h and mlx5_ifc.h. */
#define REGISTERS 0x800u
#define BF_STRIDE 0x200u /* log_bf_reg_size of the profiles */
#define BF_PER_PAGE 2u
#define NC_STRIDE 0x100u
#define NC_PER_PAGE 4u

#ifndef MLX5DV_UAR_ALLOC_TYPE_NC_DEDICATED
#define MLX5DV_UAR_ALLOC_TYPE_NC_DEDICATED (1u << 31) /* in newer headers */
#endif

struct soft_uar_page {
	struct soft_uar_page *next;
	void *base;
	uint32_t id;
	off_t offset;
	struct soft_uar *regs[NC_PER_PAGE];
	unsigned int n_regs;
};

struct slab soft_uars = SLAB_INIT(struct soft_uar, (size_t)1 << 27);

/* Grows with the pages; never shrinks, so that no mapping can lose its memory. */
int soft_uar_open(struct soft_context *ctx)
{
	int fd = memfd_create("opendevx", MFD_CLOEXEC | MFD_ALLOW_SEALING), err;
	struct stat st;

	if (fd < 0)
		return errno;
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL) || fstat(fd, &st)) {
		err = errno;
		close(fd);
		return err;
	}
	ctx->verbs.context.cmd_fd = fd;
	ctx->cmd_dev = st.st_dev;
	ctx->cmd_ino = st.st_ino;
	return 0;
}

/* 0; EBADF: it is another file's, or nobody's; else what fstat says. */
static int check_fd(const struct soft_context *ctx)
{
	struct stat st;

	if (fstat(ctx->verbs.context.cmd_fd, &st))
		return errno;
	return st.st_dev == ctx->cmd_dev && st.st_ino == ctx->cmd_ino ? 0 : EBADF;
}

void soft_uar_close_fd(struct soft_context *ctx)
{
	if (check_fd(ctx) != EBADF)
		close(ctx->verbs.context.cmd_fd);
}

void soft_uars_init(struct soft_uar_pool *u)
{
	*u = (struct soft_uar_pool){ .lock = PTHREAD_MUTEX_INITIALIZER };
}

bool soft_owns_uar(const struct mlx5dv_devx_uar *uar)
{
	return slab_owns(&soft_uars, uar);
}

static void put_last(struct soft_uar_list *l, struct soft_uar *r)
{
	r->next = NULL;
	if (l->first)
		l->last->next = r;
	else
		l->first = r;
	l->last = r;
}

static struct soft_uar *take_first(struct soft_uar_list *l)
{
	struct soft_uar *r = l->first;

	if (r)
		l->first = r->next;
	return r;
}

static void free_registers(struct soft_uar_page *p)
{
	while (p->n_regs) {
		struct soft_uar *r = p->regs[--p->n_regs];

		__atomic_store_n(&r->pub.context, NULL, __ATOMIC_RELEASE);
		slab_free(&soft_uars, r);
	}
}

/* A file may not grow past RLIMIT_FSIZE: the kernel would send SIGXFSZ. */
static int map_page(struct soft_context *ctx, struct soft_uar_page *p)
{
	int fd = ctx->verbs.context.cmd_fd, err = check_fd(ctx);
	struct rlimit limit;

	if (err)
		return err;
	if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur < (rlim_t)p->offset + UAR_PAGE)
		return ENOMEM;
	if (lseek(fd, 0, SEEK_END) < p->offset + (off_t)UAR_PAGE && ftruncate(fd, p->offset + UAR_PAGE))
		return errno == EINTR ? ENOMEM : errno;
	p->base = mmap(NULL, UAR_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, p->offset);
	if (p->base == MAP_FAILED)
		return errno;
	madvise(p->base, UAR_PAGE, MADV_DONTFORK); /* a child must not ring the doorbells of its parent */
	return 0;
}

static int alloc_command(struct soft_context *ctx, uint32_t *id)
{
	uint8_t in[PRM_SZ(alloc_uar_in)] = { 0 }, out[PRM_SZ(alloc_uar_out)] = { 0 };
	struct prm_box b = prm_out(in, sizeof(in)), o = prm_in(out, sizeof(out));
	int err;

	PRM_SET(&b, alloc_uar_in, opcode, PRM_OP_ALLOC_UAR);
	err = soft_command(ctx->dev, ctx->uid, in, sizeof(in), out, sizeof(out));
	if (!err)
		err = soft_status(out);
	*id = (uint32_t)PRM_GET(&o, alloc_uar_out, uar);
	return err;
}

static void dealloc_command(struct soft_context *ctx, uint32_t id)
{
	uint8_t in[PRM_SZ(dealloc_uar_in)] = { 0 }, out[PRM_SZ(dealloc_uar_out)];
	struct prm_box b = prm_out(in, sizeof(in));

	PRM_SET(&b, dealloc_uar_in, opcode, PRM_OP_DEALLOC_UAR);
	PRM_SET(&b, dealloc_uar_in, uar, id);
	rules_stamp_uid(in, ctx->uid);
	soft_driver_command(ctx->dev, in, sizeof(in), out, sizeof(out));
}

static bool add_registers(struct soft_context *ctx, struct soft_uar_page *p, bool nc)
{
	for (unsigned int i = 0; i < (nc ? NC_PER_PAGE : BF_PER_PAGE); i++) {
		struct soft_uar *r = slab_alloc(&soft_uars);

		if (!r)
			return false;
		r->page = p;
		r->offset = REGISTERS + i * (nc ? NC_STRIDE : BF_STRIDE);
		r->nc = nc;
		r->held = r->shared = false;
		__atomic_store_n(&r->pub.context, &ctx->verbs.context, __ATOMIC_RELEASE);
		p->regs[p->n_regs++] = r;
	}
	return true;
}

/* A new page, its registers appended to the pool's list. The command comes last: after it there is nothing that can fail. */
static int add_page(struct soft_context *ctx, bool nc)
{
	struct soft_uar_pool *u = &ctx->uars;
	struct soft_uar_page *p = calloc(1, sizeof(*p));
	int err = ENOMEM;

	if (!p)
		return ENOMEM;
	if (!add_registers(ctx, p, nc))
		goto free;
	p->offset = (off_t)u->n_pages * UAR_PAGE;
	err = map_page(ctx, p);
	if (err)
		goto free;
	err = alloc_command(ctx, &p->id);
	if (err) {
		munmap(p->base, UAR_PAGE);
		goto free;
	}
	p->next = u->pages;
	u->pages = p;
	u->n_pages++;
	for (unsigned int i = 0; i < p->n_regs; i++)
		put_last(nc ? &u->nc : &u->bf, p->regs[i]);
	return 0;

free:
	free_registers(p);
	free(p);
	return err;
}

/* The register for a program; NULL: *err. The pool's lock is held. */
static struct soft_uar *get(struct soft_context *ctx, uint32_t flags, int *err)
{
	struct soft_uar_pool *u = &ctx->uars;
	bool shared = flags & MLX5DV_UAR_ALLOC_TYPE_NC, nc = flags != MLX5DV_UAR_ALLOC_TYPE_BF;
	struct soft_uar_list *l = nc ? &u->nc : &u->bf;
	struct soft_uar *r;

	*err = 0;
	if (shared && u->shared)
		return u->shared;
	if (!l->first)
		*err = add_page(ctx, nc);
	if (*err)
		return NULL;
	r = take_first(l);
	r->held = true;
	r->shared = shared;
	if (shared)
		u->shared = r;
	return r;
}

static void show(struct soft_uar *r)
{
	r->pub.pub = (struct mlx5dv_devx_uar){
		.reg_addr = (char *)r->page->base + r->offset, .base_addr = r->page->base,
		.page_id = r->page->id, .mmap_off = r->page->offset,
	};
}

struct mlx5dv_devx_uar *soft_uar_alloc(struct ibv_context *ibv, uint32_t flags)
{
	struct soft_context *ctx = soft_ctx(ibv);
	struct soft_uar *r = NULL;
	int err = soft_check_context(ibv);

	if (!err && atomic_load(&ctx->dev->removed))
		err = EIO;
	if (!err && flags & ~(MLX5DV_UAR_ALLOC_TYPE_NC | MLX5DV_UAR_ALLOC_TYPE_NC_DEDICATED))
		err = EOPNOTSUPP;
	if (!err) {
		pthread_mutex_lock(&ctx->uars.lock);
		r = get(ctx, flags, &err);
		if (r)
			show(r);
		pthread_mutex_unlock(&ctx->uars.lock);
	}
	if (r)
		return &r->pub.pub;
	errno = err;
	return NULL;
}

/* Of a register that the program holds; NULL: it does not, or its context is closed or a fork parent's. */
static struct soft_context *holder(struct soft_uar *r)
{
	struct ibv_context *ibv = __atomic_load_n(&r->pub.context, __ATOMIC_ACQUIRE);

	return ibv && !soft_check_context(ibv) ? soft_ctx(ibv) : NULL;
}

void soft_uar_free(struct mlx5dv_devx_uar *pub)
{
	struct soft_uar *r = (struct soft_uar *)pub;
	struct soft_context *ctx = holder(r);

	if (!ctx)
		return;
	pthread_mutex_lock(&ctx->uars.lock);
	if (r->held && !r->shared) {
		r->held = false;
		put_last(r->nc ? &ctx->uars.nc : &ctx->uars.bf, r);
	}
	pthread_mutex_unlock(&ctx->uars.lock);
}

/* The page is memory of this process: there is nothing that another device could reach by a dma-buf. */
uint8_t *soft_uar_base(struct soft_context *ctx, uint32_t page_id)
{
	struct soft_uar_page *p;

	pthread_mutex_lock(&ctx->uars.lock);
	for (p = ctx->uars.pages; p && p->id != page_id; p = p->next)
		;
	pthread_mutex_unlock(&ctx->uars.lock);
	return p ? p->base : NULL;
}

int soft_uar_export(struct mlx5dv_devx_uar *pub)
{
	errno = holder((struct soft_uar *)pub) ? EOPNOTSUPP : EBADF;
	return -1;
}

/* The context closes; what used the pages is gone. Registers that the program still holds die with them. */
void soft_uars_close(struct soft_context *ctx)
{
	struct soft_uar_pool *u = &ctx->uars;

	for (struct soft_uar_page *p = u->pages, *next; p; p = next) {
		next = p->next;
		munmap(p->base, UAR_PAGE);
		dealloc_command(ctx, p->id);
		free_registers(p);
		free(p);
	}
	pthread_mutex_destroy(&u->lock);
}
