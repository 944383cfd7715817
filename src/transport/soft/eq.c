/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Event queues of programs, and the MSI vectors that tell of them. As in rdma-core's VFIO provider, which is the only other one
 * that has them, the library brings the memory of the queue, and a vector is an eventfd.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "device.h"
#include "prm.h"

#define PAGE 4096u
#define EQE_BYTES 64u
#define LOG_ANY_DEVICE 22u /* of entries: more no profile has, and memory need not be filled for what is refused */

struct slab soft_msis = SLAB_INIT(struct soft_msi, (size_t)1 << 24);
struct slab soft_eqs = SLAB_INIT(struct soft_eq, (size_t)1 << 24);

bool soft_owns_msi(const struct mlx5dv_devx_msi_vector *msi)
{
	return slab_owns(&soft_msis, msi);
}

bool soft_owns_eq(const struct mlx5dv_devx_eq *eq)
{
	return slab_owns(&soft_eqs, eq);
}

void soft_eventfd_signal(int fd)
{
	const uint64_t one = 1;
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	while (poll(&p, 1, 0) < 0 && (errno == EINTR || errno == ENOMEM))
		;
	while (p.revents & POLLOUT && write(fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

/* --- What the model asks for; its lock is held. */

void soft_interrupt(void *host, uint32_t eqn, uint32_t vector)
{
	struct soft_eq *eq = ((struct soft_device *)host)->eqs[eqn];

	if (eq)
		soft_eventfd_signal(eq->msi->fd);
}

uint32_t soft_doorbell(void *host, uint32_t eqn, uint32_t uar_page, uint32_t offset)
{
	struct soft_eq *eq = ((struct soft_device *)host)->eqs[eqn];
	uint32_t value = 0;
	struct prm_box b = prm_in(&value, sizeof(value));
	struct iovec to = { &value, sizeof(value) }, from = { eq ? eq->uar + offset : NULL, sizeof(value) };

	/* The kernel copies: the program may have unmapped the page. */
	if (eq && eq->uar)
		process_vm_readv(getpid(), &to, 1, &from, 1, 0);
	return (uint32_t)prm_get(&b, 0, 32); /* big-endian, as the program wrote it */
}

/* --- Vectors. */

static int check(const struct soft_context *ctx)
{
	int err = soft_check_context(&ctx->verbs.context);

	return err ? err : atomic_load(&ctx->dev->removed) ? EIO : 0;
}

static int open_vector(struct soft_msi *msi)
{
	msi->pub.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (msi->pub.fd < 0)
		return errno;
	msi->fd = fcntl(msi->pub.fd, F_DUPFD_CLOEXEC, 0);
	if (msi->fd >= 0)
		return 0;
	int err = errno;

	close(msi->pub.fd);
	return err;
}

static void close_vector(struct soft_msi *msi)
{
	close(msi->fd);
	close(msi->pub.fd);
	msi->pub.fd = -1;
}

/* The lowest free one is taken. */
static int take_vector(struct soft_context *ctx, struct soft_msi *msi)
{
	struct soft_device *dev = ctx->dev;
	int err = ENOSPC;

	pthread_mutex_lock(&dev->model);
	for (int v = HCA_EQS; err && v < (int)HCA_VECTORS; v++) {
		if (dev->vectors >> v & 1)
			continue;
		dev->vectors |= UINT64_C(1) << v;
		msi->pub.vector = v;
		msi->users = 0;
		msi->next = ctx->msis;
		ctx->msis = msi;
		__atomic_store_n(&msi->context, &ctx->verbs.context, __ATOMIC_RELEASE);
		err = 0;
	}
	pthread_mutex_unlock(&dev->model);
	return err;
}

struct mlx5dv_devx_msi_vector *soft_msi_alloc(struct ibv_context *ibv)
{
	struct soft_context *ctx = soft_ctx(ibv);
	struct soft_msi *msi = NULL;
	int err = check(ctx);

	if (!err && !(msi = slab_alloc(&soft_msis)))
		err = ENOMEM;
	if (!err)
		err = open_vector(msi);
	if (!err) {
		err = take_vector(ctx, msi);
		if (!err)
			return &msi->pub;
		close_vector(msi);
	}
	if (msi)
		slab_free(&soft_msis, msi);
	errno = err;
	return NULL;
}

/* Model's lock held: it is in no list any more. */
static void bury_msi(struct soft_device *dev, struct soft_msi *msi)
{
	dev->vectors &= ~(UINT64_C(1) << msi->pub.vector);
	close_vector(msi);
	__atomic_store_n(&msi->context, NULL, __ATOMIC_RELEASE);
	slab_free(&soft_msis, msi);
}

int soft_msi_free(struct mlx5dv_devx_msi_vector *pub)
{
	struct soft_msi *msi = (struct soft_msi *)pub, **p;
	struct ibv_context *ibv = __atomic_load_n(&msi->context, __ATOMIC_ACQUIRE);
	int err = ibv ? soft_check_context(ibv) : ENOENT;
	struct soft_context *ctx;

	if (err)
		return err;
	ctx = soft_ctx(ibv);
	pthread_mutex_lock(&ctx->dev->model);
	for (p = &ctx->msis; *p && *p != msi; p = &(*p)->next)
		;
	if (!*p) /* another thread was faster */
		err = ENOENT;
	else if (msi->users)
		err = EBUSY;
	if (!err) {
		*p = msi->next;
		bury_msi(ctx->dev, msi);
	}
	pthread_mutex_unlock(&ctx->dev->model);
	return err;
}

/* The context closes; its event queues are gone. */
void soft_msis_close(struct soft_context *ctx)
{
	pthread_mutex_lock(&ctx->dev->model);
	while (ctx->msis) {
		struct soft_msi *msi = ctx->msis;

		ctx->msis = msi->next;
		bury_msi(ctx->dev, msi);
	}
	pthread_mutex_unlock(&ctx->dev->model);
}

/* --- Queues. */

/* Counts a user of the context's vector; NULL: it has none of that number. */
static struct soft_msi *hold_vector(struct soft_context *ctx, uint32_t vector)
{
	struct soft_msi *msi;

	pthread_mutex_lock(&ctx->dev->model);
	for (msi = ctx->msis; msi && (uint32_t)msi->pub.vector != vector; msi = msi->next)
		;
	if (msi)
		msi->users++;
	pthread_mutex_unlock(&ctx->dev->model);
	return msi;
}

/* Memory for the queue, where the device may write; every EQE says that it was not written yet: owner 1. */
static int bring_memory(struct soft_device *dev, struct soft_eq *eq, uint32_t log_size)
{
	struct soft_umem_slot memory;
	void *p;
	int err;

	eq->bytes = log_size > LOG_ANY_DEVICE ? 0 : (size_t)EQE_BYTES << log_size;
	if (eq->bytes < PAGE)
		eq->bytes = PAGE;
	p = mmap(NULL, eq->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return errno;
	for (size_t at = 0; at < eq->bytes; at += EQE_BYTES) {
		struct prm_box eqe = prm_out((char *)p + at, EQE_BYTES);

		PRM_SET(&eqe, eqe, owner, 1);
	}
	eq->pub.vaddr = p;
	memory = (struct soft_umem_slot){ .addr = (uintptr_t)p, .len = eq->bytes, .writable = true };
	pthread_mutex_lock(&dev->model);
	err = soft_umem_map(dev, &memory, &eq->slot);
	pthread_mutex_unlock(&dev->model);
	if (err)
		munmap(p, eq->bytes);
	return err;
}

/* Gives back what create brought, once the device does not know the queue any more. */
static void take_back(struct soft_device *dev, struct soft_eq *eq)
{
	pthread_mutex_lock(&dev->model);
	soft_umem_unmap(dev, eq->slot);
	eq->msi->users--;
	pthread_mutex_unlock(&dev->model);
	munmap(eq->pub.vaddr, eq->bytes);
}

/* One page holds the whole queue: its memory is contiguous for this device. */
static int create_command(struct soft_context *ctx, struct soft_eq *eq, const void *in, void *out, size_t outlen)
{
	uint8_t box[PRM_SZ(create_eq_in) + sizeof(uint64_t)];
	struct prm_box b = prm_out(box, sizeof(box)), eqc = PRM_SUB(&b, create_eq_in, eq_context_entry);
	int err;

	memcpy(box, in, PRM_SZ(create_eq_in));
	PRM_SET(&eqc, eqc, log_page_size, __builtin_ctzll(eq->bytes / PAGE));
	prm_set(&b, PRM_SZ(create_eq_in) * 8, 64, soft_umem_iova(eq->slot));
	err = soft_command(ctx->dev, ctx->uid, box, sizeof(box), out, outlen);
	return !err && soft_status(out) ? EREMOTEIO : err;
}

static void made(struct soft_context *ctx, struct soft_eq *eq, const void *out, size_t outlen)
{
	struct prm_box o = prm_in(out, outlen), d = prm_out(eq->child.destroy, sizeof(eq->child.destroy)), first;

	memset(eq->child.destroy, 0, sizeof(eq->child.destroy));
	eq->eqn = (uint32_t)PRM_GET(&o, create_eq_out, eq_number);
	PRM_SET(&d, destroy_eq_in, opcode, PRM_OP_DESTROY_EQ);
	PRM_SET(&d, destroy_eq_in, eq_number, eq->eqn);
	rules_stamp_uid(eq->child.destroy, ctx->uid);
	eq->child.kind = SOFT_EQ;
	atomic_store(&eq->busy, 0);
	__atomic_store_n(&eq->context, &ctx->verbs.context, __ATOMIC_RELEASE);
	pthread_mutex_lock(&ctx->dev->model);
	ctx->dev->eqs[eq->eqn] = eq;
	first = prm_in(eq->pub.vaddr, EQE_BYTES);
	if (!PRM_GET(&first, eqe, owner)) /* an event was faster than this */
		soft_eventfd_signal(eq->msi->fd);
	pthread_mutex_unlock(&ctx->dev->model);
	soft_child_add(ctx, &eq->child, NULL, 0);
}

static int create(struct soft_context *ctx, struct soft_eq *eq, const void *in, void *out, size_t outlen)
{
	struct prm_box b = prm_in(in, PRM_SZ(create_eq_in)), eqc = PRM_SUB(&b, create_eq_in, eq_context_entry);
	int err;

	eq->uar = soft_uar_base(ctx, (uint32_t)PRM_GET(&eqc, eqc, uar_page));
	eq->msi = hold_vector(ctx, (uint32_t)PRM_GET(&eqc, eqc, intr));
	if (!eq->msi)
		return EINVAL;
	err = bring_memory(ctx->dev, eq, (uint32_t)PRM_GET(&eqc, eqc, log_eq_size));
	if (err) {
		pthread_mutex_lock(&ctx->dev->model);
		eq->msi->users--;
		pthread_mutex_unlock(&ctx->dev->model);
		return err;
	}
	err = create_command(ctx, eq, in, out, outlen);
	if (err)
		take_back(ctx->dev, eq);
	return err;
}

struct mlx5dv_devx_eq *soft_eq_create(struct ibv_context *ibv, const void *in, size_t inlen, void *out, size_t outlen)
{
	struct soft_context *ctx = soft_ctx(ibv);
	struct prm_box b = prm_in(in, inlen);
	struct soft_eq *eq = NULL;
	int err = check(ctx);

	if (!err)
		err = soft_check_boxes(in, inlen, out, outlen);
	if (!err && (inlen < PRM_SZ(create_eq_in) || rules_tunnel_id(in) ||
		     PRM_GET(&b, create_eq_in, opcode) != PRM_OP_CREATE_EQ))
		err = EINVAL;
	if (!err && !(eq = slab_alloc(&soft_eqs)))
		err = ENOMEM;
	if (!err)
		err = create(ctx, eq, in, out, outlen);
	if (err) {
		if (eq)
			slab_free(&soft_eqs, eq);
		errno = err;
		return NULL;
	}
	made(ctx, eq, out, outlen);
	return &eq->pub;
}

void soft_eq_bury(struct soft_device *dev, struct soft_eq *eq)
{
	pthread_mutex_lock(&dev->model);
	dev->eqs[eq->eqn] = NULL;
	pthread_mutex_unlock(&dev->model);
	take_back(dev, eq);
	__atomic_store_n(&eq->context, NULL, __ATOMIC_RELEASE);
	slab_free(&soft_eqs, eq);
}

int soft_eq_destroy(struct mlx5dv_devx_eq *pub)
{
	struct soft_eq *eq = (struct soft_eq *)pub;
	struct ibv_context *ibv = __atomic_load_n(&eq->context, __ATOMIC_ACQUIRE);
	int idle = 0, err = ibv ? soft_check_context(ibv) : ENOENT;
	struct soft_context *ctx;

	if (err)
		return err;
	ctx = soft_ctx(ibv);
	if (!atomic_compare_exchange_strong(&eq->busy, &idle, 1))
		return EBUSY;
	if (!__atomic_load_n(&eq->context, __ATOMIC_ACQUIRE))
		err = ENOENT;
	else
		err = soft_child_destroy(ctx, &eq->child);
	if (err) {
		atomic_store(&eq->busy, 0);
		return err;
	}
	soft_child_drop(ctx, &eq->child);
	soft_eq_bury(ctx->dev, eq); /* busy it stays */
	return 0;
}

bool soft_eq_is(struct soft_context *ctx, uint32_t eqn)
{
	struct soft_device *dev = ctx->dev;
	bool is;

	pthread_mutex_lock(&dev->model);
	is = eqn < SOFT_EQNS && dev->eqs[eqn] && dev->eqs[eqn]->context == &ctx->verbs.context;
	pthread_mutex_unlock(&dev->model);
	return is;
}
