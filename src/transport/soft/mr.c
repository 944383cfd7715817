/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Protection domains and memory regions of verbs, as commands on the device: ALLOC_PD; CREATE_UMEM and CREATE_MKEY. Both
 * carry the context's uid, so that their numbers and keys can be used in DEVX commands of the same context.
 */
#include <errno.h>

#include "device.h"
#include "prm.h"

#define PAGE 4096u
#define NO_QP 0xffffffu
#define MODE_MTT 1

#define UMEM_ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)
/* What the kernel knows; of the optional range it ignores what it does not. */
#define MR_ACCESS (UMEM_ACCESS | IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND | IBV_ACCESS_ZERO_BASED |                \
		   IBV_ACCESS_ON_DEMAND | IBV_ACCESS_HUGETLB | IBV_ACCESS_OPTIONAL_RANGE)

#define PD_DEAD (-1)

enum { MR_DEAD, MR_LIVE, MR_BUSY };

struct slab soft_pds = SLAB_INIT(struct soft_pd, (size_t)1 << 27);
struct slab soft_mrs = SLAB_INIT(struct soft_mr, (size_t)1 << 31);

bool soft_owns_pd(const struct ibv_pd *pd)
{
	return slab_owns(&soft_pds, pd);
}

bool soft_owns_mr(const struct ibv_mr *mr)
{
	return slab_owns(&soft_mrs, mr);
}

static int check(const struct soft_context *ctx)
{
	int err = soft_check_context(&ctx->verbs.context);

	return err ? err : atomic_load(&ctx->dev->removed) ? EIO : 0;
}

static int alloc_pd(struct soft_context *ctx, struct soft_pd *pd)
{
	uint8_t in[PRM_SZ(alloc_pd_in)] = { 0 }, out[PRM_SZ(alloc_pd_out)] = { 0 };
	struct prm_box b = prm_out(in, sizeof(in)), o = prm_in(out, sizeof(out));
	int err;

	PRM_SET(&b, alloc_pd_in, opcode, PRM_OP_ALLOC_PD);
	err = soft_command(ctx->dev, ctx->uid, in, sizeof(in), out, sizeof(out));
	if (!err)
		err = soft_status(out);
	pd->pdn = (uint32_t)PRM_GET(&o, alloc_pd_out, pd);
	rules_created(rules_creates(in, sizeof(in), pd->child.destroy), out, sizeof(out), pd->child.destroy);
	rules_stamp_uid(pd->child.destroy, ctx->uid);
	return err;
}

struct ibv_pd *soft_pd_alloc(struct ibv_context *ibv)
{
	struct soft_context *ctx = soft_ctx(ibv);
	struct soft_pd *pd = NULL;
	int err = check(ctx);

	if (!err && !(pd = slab_alloc(&soft_pds)))
		err = ENOMEM;
	if (!err)
		err = alloc_pd(ctx, pd);
	if (err) {
		if (pd)
			slab_free(&soft_pds, pd);
		errno = err;
		return NULL;
	}
	pd->ibv.context = ibv;
	pd->ibv.handle = pd->pdn;
	pd->child.kind = SOFT_PD;
	soft_child_add(ctx, &pd->child, NULL, 0);
	atomic_store(&pd->users, 0);
	return &pd->ibv;
}

void soft_pd_bury(struct soft_pd *pd)
{
	atomic_store(&pd->users, PD_DEAD);
	slab_free(&soft_pds, pd);
}

int soft_pd_dealloc(struct ibv_pd *ibv)
{
	struct soft_pd *pd = (struct soft_pd *)ibv;
	struct soft_context *ctx = soft_ctx(ibv->context);
	int users = 0, err;

	if (atomic_load(&pd->users) == PD_DEAD)
		return ENOENT;
	err = soft_check_context(ibv->context);
	if (err)
		return err;
	if (!atomic_compare_exchange_strong(&pd->users, &users, PD_DEAD))
		return users == PD_DEAD ? ENOENT : EBUSY;
	err = soft_child_destroy(ctx, &pd->child);
	if (err) {
		atomic_store(&pd->users, 0);
		return err;
	}
	soft_child_drop(ctx, &pd->child);
	soft_pd_bury(pd);
	return 0;
}

int soft_pd_number(struct ibv_pd *ibv, uint32_t *pdn)
{
	struct soft_pd *pd = (struct soft_pd *)ibv;

	if (atomic_load(&pd->users) == PD_DEAD)
		return ENOENT;
	*pdn = pd->pdn;
	return soft_check_context(ibv->context);
}

static int pd_use(struct soft_pd *pd)
{
	int users = atomic_load(&pd->users);

	do {
		if (users == PD_DEAD)
			return ENOENT;
	} while (!atomic_compare_exchange_weak(&pd->users, &users, users + 1));
	return 0;
}

static void pd_unuse(struct soft_pd *pd)
{
	atomic_fetch_sub(&pd->users, 1);
}

/* As the kernel: ib_check_mr_access, and uverbs wants iova and address to lie alike in their pages. */
static int check_mr(uint64_t addr, uint64_t iova, uint32_t access)
{
	if (access & (IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_REMOTE_WRITE) && !(access & IBV_ACCESS_LOCAL_WRITE))
		return EINVAL;
	if (access & ~(uint32_t)MR_ACCESS || (addr ^ iova) % PAGE)
		return EINVAL;
	return access & (IBV_ACCESS_ON_DEMAND | IBV_ACCESS_ZERO_BASED) ? EOPNOTSUPP : 0;
}

static int create_mkey(struct soft_context *ctx, struct soft_mr *mr, uint64_t iova, uint32_t access)
{
	static atomic_uint tags; /* the low byte of each key is another one, so that a stale key is seen */
	uint8_t in[PRM_SZ(create_mkey_in)] = { 0 }, out[PRM_SZ(create_mkey_out)] = { 0 };
	struct prm_box b = prm_out(in, sizeof(in)), o = prm_in(out, sizeof(out));
	struct prm_box mkc = PRM_SUB(&b, create_mkey_in, memory_key_mkey_entry);
	uint8_t tag = (uint8_t)atomic_fetch_add(&tags, 1);
	int err;

	PRM_SET(&b, create_mkey_in, opcode, PRM_OP_CREATE_MKEY);
	PRM_SET(&b, create_mkey_in, mkey_umem_valid, 1);
	PRM_SET(&b, create_mkey_in, mkey_umem_id, mr->umem->umem_id);
	PRM_SET(&mkc, mkc, access_mode_1_0, MODE_MTT);
	PRM_SET(&mkc, mkc, lr, 1);
	PRM_SET(&mkc, mkc, lw, !!(access & IBV_ACCESS_LOCAL_WRITE));
	PRM_SET(&mkc, mkc, rr, !!(access & IBV_ACCESS_REMOTE_READ));
	PRM_SET(&mkc, mkc, rw, !!(access & IBV_ACCESS_REMOTE_WRITE));
	PRM_SET(&mkc, mkc, a, !!(access & IBV_ACCESS_REMOTE_ATOMIC));
	PRM_SET(&mkc, mkc, umr_en, 1);
	PRM_SET(&mkc, mkc, relaxed_ordering_write, !!(access & IBV_ACCESS_RELAXED_ORDERING));
	PRM_SET(&mkc, mkc, relaxed_ordering_read, !!(access & IBV_ACCESS_RELAXED_ORDERING));
	PRM_SET(&mkc, mkc, qpn, NO_QP);
	PRM_SET(&mkc, mkc, mkey_7_0, tag);
	PRM_SET(&mkc, mkc, pd, mr->pd->pdn);
	PRM_SET(&mkc, mkc, start_addr, iova);
	PRM_SET(&mkc, mkc, len, mr->ibv.length);
	PRM_SET(&mkc, mkc, log_page_size, 12);
	err = soft_command(ctx->dev, ctx->uid, in, sizeof(in), out, sizeof(out));
	if (!err)
		err = soft_status(out);
	mr->ibv.handle = (uint32_t)PRM_GET(&o, create_mkey_out, mkey_index);
	mr->ibv.lkey = mr->ibv.rkey = mr->ibv.handle << 8 | tag;
	rules_created(rules_creates(in, sizeof(in), mr->child.destroy), out, sizeof(out), mr->child.destroy);
	rules_stamp_uid(mr->child.destroy, ctx->uid);
	return err;
}

/* The PD is used. */
static struct soft_mr *reg(struct soft_context *ctx, struct soft_pd *pd, const struct odx_umem_req *req, uint64_t iova,
			   uint32_t access, int *err)
{
	struct soft_mr *mr = slab_alloc(&soft_mrs);

	*err = ENOMEM;
	if (!mr)
		return NULL;
	mr->ibv = (struct ibv_mr){ .context = pd->ibv.context, .pd = &pd->ibv, .addr = req->addr, .length = req->size };
	mr->pd = pd;
	mr->umem = soft_umem_reg(&ctx->verbs.context, req);
	*err = mr->umem ? create_mkey(ctx, mr, iova, access) : errno;
	if (!*err)
		return mr;
	if (mr->umem)
		soft_umem_dereg(mr->umem); /* one that cannot go now goes with the context */
	slab_free(&soft_mrs, mr);
	return NULL;
}

struct ibv_mr *soft_mr_reg(struct ibv_pd *ibv, void *addr, size_t len, uint64_t iova, unsigned int access)
{
	const struct odx_umem_req req = {
		.addr = addr, .size = len, .access = access & UMEM_ACCESS, .pgsz_bitmap = ~UINT64_C(0) << 12, .dmabuf_fd = -1,
	};
	struct soft_pd *pd = (struct soft_pd *)ibv;
	struct soft_context *ctx = soft_ctx(ibv->context);
	struct soft_mr *mr = NULL;
	int err = pd_use(pd);

	if (err)
		goto out;
	err = check(ctx);
	if (!err)
		err = check_mr((uintptr_t)addr, iova, access);
	if (!err)
		mr = reg(ctx, pd, &req, iova, access, &err);
	if (!mr) {
		pd_unuse(pd);
		goto out;
	}
	mr->child.kind = SOFT_MR;
	soft_child_add(ctx, &mr->child, NULL, 0);
	atomic_store(&mr->state, MR_LIVE);
out:
	if (err)
		errno = err;
	return mr ? &mr->ibv : NULL;
}

void soft_mr_bury(struct soft_mr *mr)
{
	atomic_store(&mr->state, MR_DEAD);
	pd_unuse(mr->pd);
	slab_free(&soft_mrs, mr);
}

int soft_mr_dereg(struct ibv_mr *ibv)
{
	struct soft_mr *mr = (struct soft_mr *)ibv;
	struct soft_context *ctx = soft_ctx(ibv->context);
	int state = MR_LIVE, err;

	if (atomic_load(&mr->state) == MR_DEAD)
		return ENOENT;
	err = soft_check_context(ibv->context);
	if (err)
		return err;
	if (!atomic_compare_exchange_strong(&mr->state, &state, MR_BUSY))
		return state == MR_DEAD ? ENOENT : EBUSY;
	err = soft_child_destroy(ctx, &mr->child);
	if (err) {
		atomic_store(&mr->state, MR_LIVE);
		return err;
	}
	soft_umem_dereg(mr->umem);
	soft_child_drop(ctx, &mr->child);
	soft_mr_bury(mr);
	return 0;
}
