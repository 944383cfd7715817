/* SPDX-License-Identifier: BSD-2-Clause */
/* umems: access flags, sizes, memory that is not there (devx-abi 7). */
#include "old_conf.h"

#include <sys/mman.h>

#define PAGE 4096u

struct fixture {
	struct ibv_device *dev;
	struct ibv_context *ctx;
	uint8_t *mem; /* four pages, and one behind them that is not mapped */
};

static int up(void **state)
{
	static struct fixture f;

	f.dev = odx_soft_create("");
	f.ctx = open_devx(f.dev);
	f.mem = mmap(NULL, 5 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(f.mem != MAP_FAILED);
	assert_int_equal(munmap(f.mem + 4 * PAGE, PAGE), 0);
	*state = &f;
	return 0;
}

static int down(void **state)
{
	struct fixture *f = *state;

	munmap(f->mem, 4 * PAGE);
	assert_int_equal(ibv_close_device(f->ctx), 0);
	return odx_soft_destroy(f->dev);
}

static int reg(struct fixture *f, void *addr, size_t size, uint32_t access)
{
	struct mlx5dv_devx_umem *umem;

	errno = 0;
	umem = mlx5dv_devx_umem_reg(f->ctx, addr, size, access);
	if (!umem)
		return errno;
	assert_int_equal(mlx5dv_devx_umem_dereg(umem), 0);
	return 0;
}

static int reg_ex(struct fixture *f, uint64_t bitmap, size_t size, uint64_t comp_mask)
{
	struct mlx5dv_devx_umem_in in = { .addr = f->mem, .size = size, .access = 1, .pgsz_bitmap = bitmap, .comp_mask = comp_mask,
					  .dmabuf_fd = -1 };
	struct mlx5dv_devx_umem *umem;

	errno = 0;
	umem = mlx5dv_devx_umem_reg_ex(f->ctx, &in);
	if (!umem)
		return errno;
	assert_int_equal(mlx5dv_devx_umem_dereg(umem), 0);
	return 0;
}

static void access_flags(void **state)
{
	static const uint32_t good[] = { 0, 1, 3, 4, 5, 7, 1u << 20 }, bad[] = { 2, 6, 8, 16, 32, 64, 1u << 21, 1u << 31 };
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_int_equal(reg(f, f->mem, PAGE, good[i]), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(reg(f, f->mem, PAGE, bad[i]), EINVAL);
}

static void sizes_and_wrap(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(reg(f, f->mem, 0, 1), EINVAL);
	assert_int_equal(reg(f, f->mem, SIZE_MAX, 1), EINVAL);
	assert_int_equal(reg(f, f->mem + 3, 1, 1), 0);
	assert_int_equal(reg(f, f->mem + 16, 12000, 1), 0);
	assert_int_equal(reg(f, f->mem, 4 * PAGE, 1), 0);
}

static void memory_that_is_not_there_is_efault(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(reg(f, f->mem, 4 * PAGE + 1, 1), EFAULT);
	assert_int_equal(reg(f, f->mem + 4 * PAGE, PAGE, 0), EFAULT);
	assert_int_equal(reg(f, NULL, PAGE, 0), EFAULT);
}

static void read_only_memory_is_efault_for_writing(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(mprotect(f->mem + PAGE, PAGE, PROT_READ), 0);
	assert_int_equal(reg(f, f->mem, 2 * PAGE, 1), EFAULT);
	assert_int_equal(reg(f, f->mem, 2 * PAGE, 0), 0);
	assert_int_equal(mprotect(f->mem + PAGE, PAGE, PROT_READ | PROT_WRITE), 0);
}

static void page_size_bitmap(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(reg_ex(f, 0, PAGE, 0), EINVAL);
	assert_int_equal(reg_ex(f, 1u << 11, PAGE, 0), EINVAL);
	assert_int_equal(reg_ex(f, 1u << 12, PAGE, 0), 0);
	assert_int_equal(reg_ex(f, UINT64_MAX, PAGE, 0), 0);
	assert_int_equal(reg_ex(f, UINT64_C(1) << 40, PAGE, 0), EINVAL);
}

static void unknown_comp_mask_and_bad_dmabuf(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(reg_ex(f, 1u << 12, PAGE, 2), EOPNOTSUPP);
	assert_int_equal(reg_ex(f, 1u << 12, PAGE, MLX5DV_UMEM_MASK_DMABUF), EBADF);
}

static void null_and_stale(void **state)
{
	struct fixture *f = *state;
	struct mlx5dv_devx_umem *umem = mlx5dv_devx_umem_reg(f->ctx, f->mem, PAGE, 1);

	assert_non_null(umem);
	assert_int_equal(mlx5dv_devx_umem_dereg(umem), 0);
	assert_int_equal(mlx5dv_devx_umem_dereg(umem), ENOENT);
	assert_int_equal(mlx5dv_devx_umem_dereg(NULL), 0);
	errno = 0;
	assert_null(mlx5dv_devx_umem_reg(NULL, f->mem, PAGE, 1));
	assert_int_equal(errno, EINVAL);
	errno = 0;
	assert_null(mlx5dv_devx_umem_reg_ex(f->ctx, NULL));
	assert_int_equal(errno, EINVAL);
}

static void failed_dereg_maps_the_status_and_may_be_repeated(void **state)
{
	struct fixture *f = *state;
	struct mlx5dv_devx_umem *umem = mlx5dv_devx_umem_reg(f->ctx, f->mem, PAGE, 1);

	assert_int_equal(odx_soft_fault(f->dev, "opcode=0xa0a nth=1 status=6"), 0);
	assert_int_equal(mlx5dv_devx_umem_dereg(umem), EBUSY);
	assert_int_equal(mlx5dv_devx_umem_dereg(umem), 0);
	assert_int_equal(odx_soft_fault(f->dev, "opcode=0xa08 nth=1 status=8"), 0);
	assert_int_equal(reg(f, f->mem, PAGE, 1), ENOMEM);
	assert_int_equal(odx_soft_fault(f->dev, "clear"), 0);
}

/* CREATE_MKEY over a whole umem; the key is (index << 8 | tag). */
static struct mlx5dv_devx_obj *make_mkey(struct fixture *f, struct mlx5dv_devx_umem *umem, uint32_t pd, uint32_t *key)
{
	uint8_t in[272] = { 0 }, out[16] = { 0 };
	struct mlx5dv_devx_obj *obj;

	put16(in, 0, CREATE_MKEY);
	put32(in, 16, 1u << 11 | 1u << 10 | 1u << 8); /* local write and read; MTT */
	put32(in, 20, 0xffffff42);                                     /* no QP; tag 0x42 */
	put32(in, 28, pd);
	put64(in, 32, (uintptr_t)f->mem);
	put64(in, 40, 4 * PAGE);
	put32(in, 72, 12); /* log_page_size */
	put32(in, 100, umem->umem_id);
	obj = mlx5dv_devx_obj_create(f->ctx, in, sizeof(in), out, sizeof(out));
	assert_non_null(obj);
	*key = (get32(out, 8) & 0xffffff) << 8 | 0x42;
	return obj;
}

static int dump(struct fixture *f, struct mlx5dv_devx_obj *obj, uint32_t id, uint32_t key, void *addr, uint8_t *out)
{
	uint8_t in[32];

	query_inbox(in, id, 4);
	put32(in, 12, key);
	put64(in, 16, (uintptr_t)addr);
	in[24] |= 0x40; /* dump_to_memory */
	return mlx5dv_devx_obj_query(obj, in, sizeof(in), out, 16);
}

/* design: a umem whose memory the program unmapped gives a command status, never a signal; nor does one past its end. */
static void dump_to_memory_writes_only_what_is_registered(void **state)
{
	struct fixture *f = *state;
	struct mlx5dv_devx_umem *umem = mlx5dv_devx_umem_reg(f->ctx, f->mem, 4 * PAGE, 1);
	uint32_t pd, key, id;
	struct mlx5dv_devx_obj *pd_obj = alloc_pd(f->ctx, &pd), *mkey = make_mkey(f, umem, pd, &key);
	struct mlx5dv_devx_obj *obj = counters(f->ctx, 1, &id);
	uint8_t out[16];

	assert_int_equal(odx_soft_traffic(f->dev, id + 3, 9, 900), 0);
	memset(f->mem, 0xa5, 4 * PAGE);
	assert_int_equal(dump(f, obj, id, key, f->mem + PAGE - 32, out), 0); /* across a page border */
	assert_int_equal(get64(f->mem, PAGE - 32), 0);
	assert_int_equal(get64(f->mem, PAGE + 16), 9);
	assert_int_equal(get64(f->mem, PAGE + 24), 900);
	assert_int_equal(f->mem[PAGE - 33], 0xa5);
	assert_int_equal(f->mem[PAGE + 32], 0xa5);
	assert_int_equal(dump(f, obj, id + 1, key, f->mem, out), EREMOTEIO); /* not a multiple of 4 */
	assert_int_equal(f->mem[0], 0xa5);
	assert_int_equal(dump(f, obj, id, key ^ 1, f->mem, out), EREMOTEIO);
	assert_int_equal(dump(f, obj, id, key, f->mem + 4 * PAGE - 63, out), EREMOTEIO);
	assert_int_equal(f->mem[4 * PAGE - 1], 0xa5);
	assert_int_equal(munmap(f->mem + 3 * PAGE, PAGE), 0);
	assert_int_equal(dump(f, obj, id, key, f->mem + 3 * PAGE, out), EREMOTEIO);
	assert_int_not_equal(status_of(out), 0);
	assert_int_not_equal(syndrome_of(out), 0);
	assert_ptr_equal(mmap(f->mem + 3 * PAGE, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
			 f->mem + 3 * PAGE);
	assert_int_equal(mlx5dv_devx_umem_dereg(umem), EINVAL); /* in use by the mkey */
	assert_int_equal(mlx5dv_devx_obj_destroy(mkey), 0);
	assert_int_equal(mlx5dv_devx_umem_dereg(umem), 0);
	assert_int_equal(mlx5dv_devx_obj_destroy(obj), 0);
	assert_int_equal(mlx5dv_devx_obj_destroy(pd_obj), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(access_flags),
		cmocka_unit_test(sizes_and_wrap),
		cmocka_unit_test(memory_that_is_not_there_is_efault),
		cmocka_unit_test(read_only_memory_is_efault_for_writing),
		cmocka_unit_test(page_size_bitmap),
		cmocka_unit_test(unknown_comp_mask_and_bad_dmabuf),
		cmocka_unit_test(null_and_stale),
		cmocka_unit_test(dump_to_memory_writes_only_what_is_registered),
		cmocka_unit_test(failed_dereg_maps_the_status_and_may_be_repeated),
	};

	return cmocka_run_group_tests(tests, up, down);
}
