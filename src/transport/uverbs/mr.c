/* SPDX-License-Identifier: BSD-2-Clause */
/* Protection domains and memory regions of verbs: the kernel makes them, and knows what each may be used for. */
#include <rdma/ib_user_verbs.h>

#include "uverbs.h"

bool uverbs_owns_pd(const struct ibv_pd *pd)
{
	return slab_owns(&uverbs_pds, pd);
}

bool uverbs_owns_mr(const struct ibv_mr *mr)
{
	return slab_owns(&uverbs_mrs, mr);
}

/* Of a live handle: 0; else ENOENT, or EBADF: its context is closed. */
static int check(const struct uverbs_child *c, const struct ibv_context *ibv)
{
	return __atomic_load_n(&c->serial, __ATOMIC_ACQUIRE) ? uverbs_check_context(ibv) : ENOENT;
}

struct ibv_pd *uverbs_pd_alloc(struct ibv_context *ibv)
{
	struct ib_uverbs_alloc_pd in = { 0 };
	struct ib_uverbs_alloc_pd_resp out = { 0 };
	struct mlx5_ib_alloc_pd_resp driver = { 0 };
	const struct uverbs_verb v = {
		.command = IB_USER_VERBS_CMD_ALLOC_PD, .in = &in, .inlen = sizeof(in), .out = &out, .outlen = sizeof(out),
		.driver_out = &driver, .driver_outlen = sizeof(driver),
	};
	struct uverbs_pd *pd = NULL;
	int err = uverbs_check_context(ibv);

	if (!err && !(pd = slab_alloc(&uverbs_pds)))
		err = ENOMEM;
	if (!err)
		err = uverbs_verb(ibv, &v);
	if (err) {
		if (pd)
			slab_free(&uverbs_pds, pd);
		errno = err;
		return NULL;
	}
	pd->ibv = (struct ibv_pd){ .context = ibv, .handle = out.pd_handle };
	pd->pdn = driver.pdn;
	uverbs_child_add(uverbs_ctx(ibv), &pd->child, UVERBS_PD, NULL);
	return &pd->ibv;
}

/* A number of the kernel's, given back with a command that has nothing else in it. */
static int end(struct uverbs_child *c, const struct ibv_context *ibv, uint32_t command, uint32_t handle)
{
	const struct uverbs_verb v = { .command = command, .in = &handle, .inlen = sizeof(handle) };
	int err = check(c, ibv);

	if (!err)
		err = uverbs_end_begin(c);
	if (err)
		return err;
	err = uverbs_verb(ibv, &v);
	uverbs_end(c, !err);
	return err;
}

int uverbs_pd_dealloc(struct ibv_pd *ibv)
{
	return end(&((struct uverbs_pd *)ibv)->child, ibv->context, IB_USER_VERBS_CMD_DEALLOC_PD, ibv->handle);
}

int uverbs_pd_number(struct ibv_pd *ibv, uint32_t *pdn)
{
	struct uverbs_pd *pd = (struct uverbs_pd *)ibv;
	int err = check(&pd->child, ibv->context);

	if (!err)
		*pdn = pd->pdn;
	return err;
}

static int reg(const struct ibv_context *ibv, struct ib_uverbs_reg_mr *in, struct ib_uverbs_reg_mr_resp *out)
{
	const struct uverbs_verb v = {
		.command = IB_USER_VERBS_CMD_REG_MR, .in = in, .inlen = sizeof(*in), .out = out, .outlen = sizeof(*out),
	};
	int err = uverbs_verb(ibv, &v);

	/* A kernel before 5.6 refuses what it may ignore: as libibverbs, it is not told then. */
	if (err == EINVAL && in->access_flags & IBV_ACCESS_OPTIONAL_RANGE) {
		in->access_flags &= ~(uint32_t)IBV_ACCESS_OPTIONAL_RANGE;
		err = uverbs_verb(ibv, &v);
	}
	return err;
}

struct ibv_mr *uverbs_mr_reg(struct ibv_pd *ibv, void *addr, size_t len, uint64_t iova, unsigned int access)
{
	struct ib_uverbs_reg_mr in = {
		.start = (uintptr_t)addr, .length = len, .hca_va = iova, .pd_handle = ibv->handle, .access_flags = access,
	};
	struct ib_uverbs_reg_mr_resp out = { 0 };
	struct uverbs_mr *mr = NULL;
	int err = check(&((struct uverbs_pd *)ibv)->child, ibv->context);

	if (!err && !(mr = slab_alloc(&uverbs_mrs)))
		err = ENOMEM;
	if (!err)
		err = reg(ibv->context, &in, &out);
	if (err) {
		if (mr)
			slab_free(&uverbs_mrs, mr);
		errno = err;
		return NULL;
	}
	mr->ibv = (struct ibv_mr){
		.context = ibv->context, .pd = ibv, .addr = addr, .length = len, .handle = out.mr_handle, .lkey = out.lkey,
		.rkey = out.rkey,
	};
	uverbs_child_add(uverbs_ctx(ibv->context), &mr->child, UVERBS_MR, NULL);
	return &mr->ibv;
}

int uverbs_mr_dereg(struct ibv_mr *ibv)
{
	return end(&((struct uverbs_mr *)ibv)->child, ibv->context, IB_USER_VERBS_CMD_DEREG_MR, ibv->handle);
}
