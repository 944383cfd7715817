/* SPDX-License-Identifier: BSD-2-Clause */
/* umems, UARs, protection domains and memory regions: each frame, each errno, and what a handle is worth afterwards. */
#include "tests.h"

#include <opendevx/opendevx.h>

#ifndef MLX5DV_UAR_ALLOC_TYPE_NC_DEDICATED
#define MLX5DV_UAR_ALLOC_TYPE_NC_DEDICATED (1u << 31)
#endif

#define ALL_SIZES (~UINT64_C(0) << 12)

static char buf[8192];
static uint32_t next_id;

static bool has_attr(uint16_t id)
{
	for (unsigned int i = 0; i < fake.last.n; i++)
		if (fake.last.attrs[i].id == id)
			return true;
	return false;
}

static void check_u64(uint16_t id, uint64_t value)
{
	const struct fake_attr *a = fake_attr(id);

	assert_int_equal(a->len, 8);
	assert_int_equal(a->data, value);
}

static int give_umem_id(const struct fake_frame *f)
{
	if (f->object == 0x1002 && f->method == 0x1000)
		fake_output(0x1004, &next_id, 4);
	return 0;
}

static void umem_plain(void **state)
{
	struct ibv_context *ctx = open_one();
	struct mlx5dv_devx_umem *umem, *other;

	fake.hook = give_umem_id;
	next_id = 0x4711;
	other = mlx5dv_devx_umem_reg(ctx, buf, 16, 0); /* handle 0 */
	umem = mlx5dv_devx_umem_reg(ctx, buf + 3, 5000, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
	assert_non_null(umem);
	assert_int_equal(umem->umem_id, 0x4711);
	assert_int_equal(fake.last.object, 0x1002);
	assert_int_equal(fake.last.method, 0x1000);
	assert_int_equal(fake.last.n, 6);
	check_u64(0x1001, (uintptr_t)buf + 3);
	check_u64(0x1002, 5000);
	assert_int_equal(fake_attr(0x1003)->data, 5);
	check_u64(0x1005, ALL_SIZES);
	assert_int_equal(fake_attr(0x1005)->flags, 0); /* a kernel that knows no bitmap may ignore it */
	assert_int_equal(fake.handles, 2);
	fake.err = EBUSY;
	assert_int_equal(mlx5dv_devx_umem_dereg(umem), EBUSY);
	assert_int_equal(errno, EBUSY);
	assert_int_equal(mlx5dv_devx_umem_dereg(umem), 0);
	assert_int_equal(fake.last.method, 0x1001);
	assert_int_equal(fake_attr(0x1000)->data, 1);
	fake.ioctls = 0;
	assert_int_equal(mlx5dv_devx_umem_dereg(umem), ENOENT);
	assert_int_equal(fake.ioctls, 0);
	assert_int_equal(mlx5dv_devx_umem_dereg(other), 0);
	assert_int_equal(fake.handles, 0);
	assert_int_equal(ibv_close_device(ctx), 0);
}

static void umem_extended(void **state)
{
	struct ibv_context *ctx = open_one();
	struct mlx5dv_devx_umem_in in = { .addr = buf, .size = 4096, .access = 1 << 20, .pgsz_bitmap = 1 << 12 };
	struct mlx5dv_devx_umem *umem = mlx5dv_devx_umem_reg_ex(ctx, &in);

	assert_non_null(umem);
	check_u64(0x1005, 1 << 12);
	assert_int_equal(fake_attr(0x1005)->flags, 1);
	assert_false(has_attr(0x1006));
	assert_int_equal(mlx5dv_devx_umem_dereg(umem), 0);
	in = (struct mlx5dv_devx_umem_in){ .addr = (void *)0x1000, .size = 4096, .pgsz_bitmap = ALL_SIZES,
					   .comp_mask = MLX5DV_UMEM_MASK_DMABUF, .dmabuf_fd = 33 };
	umem = mlx5dv_devx_umem_reg_ex(ctx, &in);
	assert_non_null(umem);
	assert_int_equal(fake_attr(0x1006)->data, 33);
	assert_int_equal(fake_attr(0x1006)->len, 0);
	assert_int_equal(fake_attr(0x1005)->flags, 1); /* for a dma-buf the bitmap was there from the first */
	check_u64(0x1001, 0x1000);
	assert_int_equal(mlx5dv_devx_umem_dereg(umem), 0);
	fake.ioctls = 0;
	in.dmabuf_fd = -1;
	assert_null(mlx5dv_devx_umem_reg_ex(ctx, &in));
	assert_int_equal(errno, EBADF);
	in.comp_mask = 2;
	assert_null(mlx5dv_devx_umem_reg_ex(ctx, &in));
	assert_int_equal(errno, EOPNOTSUPP);
	assert_int_equal(fake.ioctls, 0);
	assert_int_equal(ibv_close_device(ctx), 0);
}

static void umem_errnos_come_as_they_are(void **state)
{
	static const int errnos[] = { EINVAL, EFAULT, ENOMEM, EPERM, EBUSY, EIO, EAGAIN, EOPNOTSUPP };
	struct ibv_context *ctx = open_one();
	struct mlx5dv_devx_umem *umem;

	for (size_t i = 0; i < sizeof(errnos) / sizeof(errnos[0]); i++) {
		fake.err = errnos[i];
		assert_null(mlx5dv_devx_umem_reg(ctx, buf, 64, 1));
		assert_int_equal(errno, errnos[i]);
	}
	assert_null(mlx5dv_devx_umem_reg(ctx, buf, 64, 8)); /* unknown flags are the kernel's to refuse */
	assert_int_equal(errno, EINVAL);
	assert_int_equal(fake.handles, 0);
	umem = mlx5dv_devx_umem_reg(ctx, buf, 64, 1);
	assert_int_equal(ibv_close_device(ctx), 0);
	assert_int_equal(mlx5dv_devx_umem_dereg(umem), ENOENT); /* it died with its context */
	assert_null(mlx5dv_devx_umem_reg(ctx, buf, 64, 1));
	assert_int_equal(errno, EBADF);
}

static size_t reg_at(const struct mlx5dv_devx_uar *u)
{
	return (size_t)((char *)u->reg_addr - (char *)u->base_addr);
}

static struct mlx5dv_devx_uar *uar(struct ibv_context *ctx, uint32_t flags)
{
	struct mlx5dv_devx_uar *u = mlx5dv_devx_alloc_uar(ctx, flags);

	assert_non_null(u);
	assert_int_equal(u->comp_mask, 0);
	return u;
}

static void uar_of_each_kind(void **state)
{
	struct ibv_context *ctx = open_one();
	struct mlx5dv_devx_uar *bf[3], *nc, *own[5];

	bf[0] = uar(ctx, MLX5DV_UAR_ALLOC_TYPE_BF); /* handle 0 */
	assert_int_equal(fake.last.object, 0x1008);
	assert_int_equal(fake.last.method, 0x1000);
	assert_int_equal(fake.last.n, 5);
	check_u64(0x1001, 0);
	assert_int_equal(fake.map_offset, 0x900000);
	assert_int_equal(bf[0]->mmap_off, 0x900000);
	assert_int_equal(bf[0]->page_id, 0x20);
	assert_int_equal(reg_at(bf[0]), 0x800);
	bf[1] = uar(ctx, MLX5DV_UAR_ALLOC_TYPE_BF);
	assert_ptr_equal(bf[1]->base_addr, bf[0]->base_addr);
	assert_int_equal(reg_at(bf[1]), 0xa00); /* bf_reg_size further */
	assert_int_equal(fake.maps, 1);
	bf[2] = uar(ctx, MLX5DV_UAR_ALLOC_TYPE_BF);
	assert_int_equal(fake.maps, 2);
	assert_int_equal(bf[2]->page_id, 0x30);
	nc = uar(ctx, MLX5DV_UAR_ALLOC_TYPE_NC);
	check_u64(0x1001, 1);
	assert_int_equal(reg_at(nc), 0x800);
	assert_ptr_equal(uar(ctx, MLX5DV_UAR_ALLOC_TYPE_NC), nc);
	for (unsigned int i = 0; i < 5; i++) {
		own[i] = uar(ctx, MLX5DV_UAR_ALLOC_TYPE_NC_DEDICATED);
		assert_int_equal(reg_at(own[i]), 0x800 + i % 4 * 0x100);
		assert_ptr_not_equal(own[i]->base_addr, nc->base_addr); /* that page is the shared one's */
	}
	assert_int_equal(fake.maps, 5);
	/* The oldest free one comes back; the shared one is never free. */
	mlx5dv_devx_free_uar(nc);
	mlx5dv_devx_free_uar(bf[1]);
	mlx5dv_devx_free_uar(bf[0]);
	mlx5dv_devx_free_uar(bf[0]);
	uar(ctx, MLX5DV_UAR_ALLOC_TYPE_BF); /* the fourth register */
	assert_ptr_equal(uar(ctx, MLX5DV_UAR_ALLOC_TYPE_BF), bf[1]);
	assert_ptr_equal(uar(ctx, MLX5DV_UAR_ALLOC_TYPE_BF), bf[0]);
	assert_int_equal(fake.maps, 5);
	*(volatile uint64_t *)bf[0]->reg_addr = 1;
	fake.ioctls = 0;
	assert_null(mlx5dv_devx_alloc_uar(ctx, 2));
	assert_int_equal(errno, EOPNOTSUPP);
	assert_int_equal(fake.ioctls, 0);
	assert_int_equal(ibv_close_device(ctx), 0);
	assert_int_equal(fake.ioctls, 0); /* the kernel ends the pages, after what uses them */
	assert_int_equal(fake.maps, 0);
	assert_int_equal(fake.handles, 0);
	mlx5dv_devx_free_uar(bf[0]); /* stale: nothing */
}

/* A machine with pages of 16 KiB has four of the device's in one of its own; each register names its own. */
static void uar_in_large_pages(void **state)
{
	struct mlx5dv_devx_uar *u = NULL;
	struct ibv_context *ctx;

	fake.uars_per_page = 4;
	ctx = open_one();
	for (unsigned int i = 0; i < 8; i++) {
		u = uar(ctx, MLX5DV_UAR_ALLOC_TYPE_BF);
		assert_int_equal(u->page_id, 0x20 + i / 2);
		assert_int_equal(reg_at(u), i / 2 * 0x1000 + 0x800 + i % 2 * 0x200);
		assert_int_equal(u->mmap_off, 0x900000);
	}
	assert_int_equal(fake.maps, 1);
	assert_int_equal(ibv_close_device(ctx), 0);
}

static void uar_refused(void **state)
{
	struct ibv_context *ctx = open_one();
	struct mlx5dv_devx_uar *u;
	int fd;

	fake.no_uar = true; /* Linux before 5.7 */
	assert_null(mlx5dv_devx_alloc_uar(ctx, MLX5DV_UAR_ALLOC_TYPE_NC));
	assert_int_equal(errno, EOPNOTSUPP);
	fake.no_uar = false;
	fake.err = ENOSPC;
	assert_null(mlx5dv_devx_alloc_uar(ctx, MLX5DV_UAR_ALLOC_TYPE_BF));
	assert_int_equal(errno, ENOSPC);
	assert_int_equal(fake.handles, 0);
	assert_int_equal(fake.maps, 0);
	u = uar(ctx, MLX5DV_UAR_ALLOC_TYPE_BF);
	fd = mlx5dv_devx_uar_export_dmabuf_fd(u);
	assert_true(fd >= 0);
	assert_int_equal(fake.last.object, 0x12);
	check_u64(1, 0x900000);
	close(fd);
	fake.err = EPROTONOSUPPORT;
	assert_int_equal(mlx5dv_devx_uar_export_dmabuf_fd(u), -1);
	assert_int_equal(errno, EPROTONOSUPPORT);
	assert_int_equal(ibv_close_device(ctx), 0);
	assert_int_equal(mlx5dv_devx_uar_export_dmabuf_fd(u), -1);
	assert_int_equal(errno, EBADF);
	assert_null(mlx5dv_devx_alloc_uar(ctx, MLX5DV_UAR_ALLOC_TYPE_BF));
	assert_int_equal(errno, EBADF);
}

/* --- verbs --- */

static uint32_t answer[3];

static int give_answer(const struct fake_frame *f)
{
	static const uint32_t pdn = 0x77;

	if (f->object == 0 && f->method == 0) {
		fake_output(1, answer, sizeof(answer));
		fake_output(0x1001, &pdn, sizeof(pdn));
	}
	return 0;
}

static void domain_and_regions(void **state)
{
	struct ibv_context *ctx = open_one();
	struct mlx5dv_pd out = { .comp_mask = 0 };
	struct mlx5dv_obj obj = { .pd = { .out = &out } };
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	uint64_t request[5];
	uint32_t small[2];

	fake.hook = give_answer;
	answer[0] = 9;
	pd = ibv_alloc_pd(ctx);
	assert_non_null(pd);
	check_u64(2, 3); /* ALLOC_PD */
	assert_int_equal(fake_attr(0)->len, 8);
	assert_int_equal(fake_attr(1)->len, 4);
	assert_int_equal(fake_attr(0x1001)->len, 4);
	assert_ptr_equal(pd->context, ctx);
	assert_int_equal(pd->handle, 9);
	obj.pd.in = pd;
	assert_int_equal(mlx5dv_init_obj(&obj, MLX5DV_OBJ_PD), 0);
	assert_int_equal(out.pdn, 0x77);
	memcpy(answer, (uint32_t[]){ 5, 0x1234, 0x5678 }, sizeof(answer));
	mr = ibv_reg_mr_iova2(pd, buf + 1, 77, 0x9001, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_RELAXED_ORDERING);
	assert_non_null(mr);
	check_u64(2, 9); /* REG_MR */
	assert_int_equal(fake_attr(0)->len, 40);
	memcpy(request, fake_attr(0)->bytes, sizeof(request));
	assert_int_equal(request[1], (uintptr_t)buf + 1);
	assert_int_equal(request[2], 77);
	assert_int_equal(request[3], 0x9001);
	memcpy(small, &request[4], sizeof(small));
	assert_int_equal(small[0], 9);
	assert_int_equal(small[1], 1 | 1 << 20);
	assert_int_equal(mr->lkey, 0x1234);
	assert_int_equal(mr->rkey, 0x5678);
	assert_int_equal(mr->handle, 5);
	assert_ptr_equal(mr->addr, buf + 1);
	assert_int_equal(mr->length, 77);
	assert_ptr_equal(mr->pd, pd);
	fake.err = EBUSY; /* the kernel counts what uses a domain */
	assert_int_equal(ibv_dealloc_pd(pd), EBUSY);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	check_u64(2, 13);
	assert_int_equal(fake_attr(0)->len, 4);
	assert_int_equal(fake_attr(0)->data, 5);
	assert_int_equal(ibv_dereg_mr(mr), ENOENT);
	assert_int_equal(ibv_dealloc_pd(pd), 0);
	check_u64(2, 4);
	assert_int_equal(fake_attr(0)->data, 9);
	assert_int_equal(ibv_dealloc_pd(pd), ENOENT);
	assert_null(ibv_reg_mr(pd, buf, 1, 0));
	assert_int_equal(errno, ENOENT);
	assert_int_equal(mlx5dv_init_obj(&obj, MLX5DV_OBJ_PD), ENOENT);
	assert_int_equal(ibv_close_device(ctx), 0);
}

static int refuse_optional(const struct fake_frame *f)
{
	uint32_t access;

	memcpy(&access, fake_attr(0)->bytes + 36, sizeof(access));
	return access >> 20 ? EINVAL : give_answer(f);
}

/* A kernel before 5.6 does not know what it may ignore. */
static void optional_access_is_optional(void **state)
{
	struct ibv_context *ctx = open_one();
	struct ibv_pd *pd;
	struct ibv_mr *mr;

	fake.hook = give_answer;
	pd = ibv_alloc_pd(ctx);
	fake.hook = refuse_optional;
	mr = ibv_reg_mr_iova2(pd, buf, 64, 0, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_RELAXED_ORDERING);
	assert_non_null(mr);
	fake.hook = NULL;
	fake.err = EINVAL;
	assert_null(ibv_reg_mr(pd, buf, 64, IBV_ACCESS_REMOTE_WRITE));
	assert_int_equal(errno, EINVAL);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	assert_int_equal(ibv_close_device(ctx), 0); /* the domain goes with it */
	assert_int_equal(ibv_dealloc_pd(pd), ENOENT);
}

/* The same commands on a kernel before 5.0. */
static void verbs_by_write(void **state)
{
	struct ibv_context *ctx = open_one();
	uint32_t words[4], old[2] = { 21, 0x99 };
	struct mlx5dv_pd out = { .comp_mask = 0 };
	struct mlx5dv_obj obj = { .pd = { .out = &out } };
	struct ibv_pd *pd;
	struct ibv_mr *mr;

	fake.no_verbs = true;
	fake_written_answer(old, sizeof(old));
	pd = ibv_alloc_pd(ctx);
	assert_non_null(pd);
	assert_int_equal(pd->handle, 21);
	memcpy(words, fake.written, 8);
	assert_int_equal(words[0], 3);
	assert_int_equal(words[1], 4 | 2 << 16); /* in and out, in words */
	obj.pd.in = pd;
	assert_int_equal(mlx5dv_init_obj(&obj, MLX5DV_OBJ_PD), 0);
	assert_int_equal(out.pdn, 0x99);
	fake_written_answer((uint32_t[]){ 7, 8, 9 }, 12);
	mr = ibv_reg_mr(pd, buf, 99, 0);
	assert_non_null(mr);
	assert_int_equal(mr->lkey, 8);
	assert_int_equal(mr->rkey, 9);
	memcpy(words, fake.written + 40, 8); /* after header, response, start, length, iova */
	assert_int_equal(words[0], 21);
	fake_written_answer(NULL, 0);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	memcpy(words, fake.written, 12);
	assert_int_equal(words[0], 13);
	assert_int_equal(words[1], 3);
	assert_int_equal(words[2], 7);
	assert_int_equal(ibv_dealloc_pd(pd), 0);
	assert_int_equal(ibv_close_device(ctx), 0);
}

int memory_tests(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(umem_plain), TEST(umem_extended), TEST(umem_errnos_come_as_they_are), TEST(uar_of_each_kind),
		TEST(uar_in_large_pages), TEST(uar_refused), TEST(domain_and_regions), TEST(optional_access_is_optional),
		TEST(verbs_by_write),
	};

	return cmocka_run_group_tests_name("uverbs: memory", tests, NULL, NULL);
}
