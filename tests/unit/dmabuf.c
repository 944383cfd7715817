/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * umems over dma-bufs. "fake": a memfd passes for one, because fstatfs is told to say so. "real": udmabuf's, where the kernel
 * has it; else the test is skipped (77).
 */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/mlx5dv.h>
#include <linux/magic.h>
#include <linux/udmabuf.h>
#include <opendevx/soft.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cmocka.h>

#include "prm.h"

#define PAGE 4096u
#define PAGES 4u
#define IS_DMABUF 0x444d4142 /* DMA_BUF_MAGIC of newer headers */
#define TAG 0x42

static bool fake;
static struct ibv_device *dev;
static struct ibv_context *ctx;

int __real_fstatfs64(int fd, struct statfs *fs);
int __wrap_fstatfs64(int fd, struct statfs *fs);

int __wrap_fstatfs64(int fd, struct statfs *fs)
{
	int ret = __real_fstatfs64(fd, fs);
	char name[64] = "", path[64];

	if (ret || !fake)
		return ret;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (readlink(path, name, sizeof(name) - 1) > 0 && strstr(name, "memfd:buffer"))
		fs->f_type = IS_DMABUF;
	return 0;
}

/* A dma-buf of four pages, and the memory that it is over. */
static int new_buffer(uint8_t **mem)
{
	int fd = memfd_create("buffer", MFD_CLOEXEC | MFD_ALLOW_SEALING), ctl, buf;
	struct udmabuf_create create = { .memfd = (uint32_t)fd, .size = PAGES * PAGE };

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, PAGES * PAGE), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	*mem = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(*mem != MAP_FAILED);
	if (fake)
		return fd;
	ctl = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
	buf = ioctl(ctl, UDMABUF_CREATE, &create);
	assert_true(buf >= 0);
	close(ctl);
	close(fd);
	return buf;
}

static struct mlx5dv_devx_umem *reg(int fd, uint64_t offset, size_t size, uint32_t access)
{
	struct mlx5dv_devx_umem_in in = {
		.addr = (void *)(uintptr_t)offset, .size = size, .access = access, .pgsz_bitmap = UINT64_MAX << 12,
		.comp_mask = MLX5DV_UMEM_MASK_DMABUF, .dmabuf_fd = fd,
	};

	errno = 0;
	return mlx5dv_devx_umem_reg_ex(ctx, &in);
}

static void refused(int fd, uint64_t offset, size_t size, uint32_t access, int err)
{
	assert_null(reg(fd, offset, size, access));
	assert_int_equal(errno, err);
}

static void ranges(void **state)
{
	struct mlx5dv_devx_umem *umem;
	uint8_t *mem;
	int fd = new_buffer(&mem);

	refused(fd, 0, 0, 0, EINVAL);
	refused(fd, 0, PAGES * PAGE + 1, 0, EINVAL);
	refused(fd, PAGES * PAGE, 1, 0, EINVAL);
	refused(fd, UINT64_MAX, 2, 0, EINVAL);
	refused(fd, UINT64_MAX - PAGE + 1, PAGE, 0, EINVAL);
	refused(fd, 0, PAGE, 1u << 30, EINVAL);
	umem = reg(fd, PAGE + 5, 2 * PAGE, IBV_ACCESS_LOCAL_WRITE);
	assert_non_null(umem);
	assert_int_equal(mlx5dv_devx_umem_dereg(umem), 0);
	umem = reg(fd, 0, PAGES * PAGE, 0);
	assert_non_null(umem);
	assert_int_equal(mlx5dv_devx_umem_dereg(umem), 0);
	close(fd);
	refused(fd, 0, PAGE, 0, EBADF);
	munmap(mem, PAGES * PAGE);
}

static void what_is_no_dmabuf(void **state)
{
	int fd = memfd_create("other", MFD_CLOEXEC), null = open("/dev/null", O_RDWR | O_CLOEXEC);

	assert_int_equal(ftruncate(fd, PAGE), 0);
	refused(fd, 0, PAGE, 0, EINVAL);
	refused(null, 0, PAGE, 0, EINVAL);
	refused(-1, 0, PAGE, 0, EBADF);
	close(fd);
	close(null);
}

static struct mlx5dv_devx_obj *create(const uint8_t *in, size_t inlen, uint8_t out[16])
{
	struct mlx5dv_devx_obj *obj;

	memset(out, 0, 16);
	obj = mlx5dv_devx_obj_create(ctx, in, inlen, out, 16);
	assert_non_null(obj);
	return obj;
}

/* An mkey over the umem, from address 0 on. */
static struct mlx5dv_devx_obj *mkey_over(struct mlx5dv_devx_umem *umem, uint32_t pd, size_t len, uint32_t *key)
{
	uint8_t in[PRM_SZ(create_mkey_in)] = { 0 }, out[16];
	struct prm_box b = prm_out(in, sizeof(in)), o = prm_in(out, sizeof(out));
	struct prm_box mkc = PRM_SUB(&b, create_mkey_in, memory_key_mkey_entry);
	struct mlx5dv_devx_obj *obj;

	PRM_SET(&b, create_mkey_in, opcode, PRM_OP_CREATE_MKEY);
	PRM_SET(&b, create_mkey_in, mkey_umem_id, umem->umem_id);
	PRM_SET(&mkc, mkc, access_mode_1_0, 1);
	PRM_SET(&mkc, mkc, lw, 1);
	PRM_SET(&mkc, mkc, qpn, 0xffffff);
	PRM_SET(&mkc, mkc, mkey_7_0, TAG);
	PRM_SET(&mkc, mkc, pd, pd);
	PRM_SET(&mkc, mkc, len, len);
	obj = create(in, sizeof(in), out);
	*key = (uint32_t)PRM_GET(&o, create_mkey_out, mkey_index) << 8 | TAG;
	return obj;
}

static int dump(struct mlx5dv_devx_obj *obj, uint32_t id, uint32_t key, uint64_t addr)
{
	uint8_t in[PRM_SZ(query_flow_counter_in)] = { 0 }, out[PRM_SZ(query_flow_counter_out) + PRM_SZ(traffic_counter)];
	struct prm_box b = prm_out(in, sizeof(in));

	PRM_SET(&b, query_flow_counter_in, opcode, PRM_OP_QUERY_FLOW_COUNTER);
	PRM_SET(&b, query_flow_counter_in, mkey, key);
	PRM_SET(&b, query_flow_counter_in, address, addr);
	PRM_SET(&b, query_flow_counter_in, dump_to_memory, 1);
	PRM_SET(&b, query_flow_counter_in, num_of_counters, 4);
	PRM_SET(&b, query_flow_counter_in, flow_counter_id, id);
	return mlx5dv_devx_obj_query(obj, in, sizeof(in), out, sizeof(out));
}

/* The device writes into the buffer: from its offset on, past the close of the descriptor, and not through a read-only umem. */
static void the_device_writes_into_it(void **state)
{
	uint8_t alloc[PRM_SZ(alloc_flow_counter_in)] = { 0 }, pd_in[PRM_SZ(alloc_pd_in)] = { 0 }, out[16], *mem;
	struct prm_box a = prm_out(alloc, sizeof(alloc)), p = prm_out(pd_in, sizeof(pd_in)), o = prm_in(out, sizeof(out));
	struct mlx5dv_devx_obj *obj, *pd_obj, *mkey, *ro_mkey;
	struct mlx5dv_devx_umem *umem, *ro;
	uint32_t id, pd, key, ro_key;
	int fd = new_buffer(&mem);

	PRM_SET(&a, alloc_flow_counter_in, opcode, PRM_OP_ALLOC_FLOW_COUNTER);
	PRM_SET(&a, alloc_flow_counter_in, flow_counter_bulk, 1);
	obj = create(alloc, sizeof(alloc), out);
	id = (uint32_t)PRM_GET(&o, alloc_flow_counter_out, flow_counter_id);
	PRM_SET(&p, alloc_pd_in, opcode, PRM_OP_ALLOC_PD);
	pd_obj = create(pd_in, sizeof(pd_in), out);
	pd = (uint32_t)PRM_GET(&o, alloc_pd_out, pd);
	umem = reg(fd, PAGE + 8, 2 * PAGE, IBV_ACCESS_LOCAL_WRITE);
	ro = reg(fd, 0, PAGE, 0);
	assert_non_null(umem);
	assert_non_null(ro);
	close(fd);
	mkey = mkey_over(umem, pd, 2 * PAGE, &key);
	ro_mkey = mkey_over(ro, pd, PAGE, &ro_key);
	assert_int_equal(odx_soft_traffic(dev, id + 1, 3, 0x1234), 0);
	memset(mem, 0xa5, PAGES * PAGE);
	assert_int_equal(dump(obj, id, key, PAGE - 40), 0); /* across the border of a page */
	mem += PAGE + 8;
	assert_int_equal(mem[PAGE - 41], 0xa5);
	assert_int_equal(mem[PAGE - 40], 0);
	assert_int_equal(mem[PAGE - 40 + 16 + 14] << 8 | mem[PAGE - 40 + 16 + 15], 0x1234);
	assert_int_equal(mem[PAGE - 40 + 64], 0xa5);
	assert_int_equal(dump(obj, id, key, 2 * PAGE - 63), EREMOTEIO);
	assert_int_equal(dump(obj, id, ro_key, 0), EREMOTEIO);
	mem -= PAGE + 8;
	assert_int_equal(mem[0], 0xa5);
	assert_int_equal(mlx5dv_devx_umem_dereg(umem), EINVAL); /* the mkey is over it */
	assert_int_equal(mlx5dv_devx_obj_destroy(mkey), 0);
	assert_int_equal(mlx5dv_devx_obj_destroy(ro_mkey), 0);
	assert_int_equal(mlx5dv_devx_umem_dereg(umem), 0);
	assert_int_equal(mlx5dv_devx_obj_destroy(pd_obj), 0);
	assert_int_equal(mlx5dv_devx_obj_destroy(obj), 0);
	munmap(mem, PAGES * PAGE);
	/* ro goes with the context. */
}

static int up(void **state)
{
	dev = odx_soft_create("");
	ctx = dev ? mlx5dv_open_device(dev, NULL) : NULL;
	return ctx ? 0 : -1;
}

static int down(void **state)
{
	return ibv_close_device(ctx) || odx_soft_destroy(dev);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranges), cmocka_unit_test(what_is_no_dmabuf), cmocka_unit_test(the_device_writes_into_it),
	};

	fake = argc > 1 && !strcmp(argv[1], "fake");
	if (!fake && access("/dev/udmabuf", R_OK | W_OK)) {
		puts("this kernel has no /dev/udmabuf, or not for us");
		return 77;
	}
	return cmocka_run_group_tests(tests, up, down);
}
