/* SPDX-License-Identifier: BSD-2-Clause */
/* umems: access flags, sizes, memory that is not there. */
#include "conf.h"

#include <sys/mman.h>

#define PAGE 4096u
#define PAGES 4

static void end_pages(void *p)
{
	munmap(p, PAGES * PAGE);
}

/* Four pages, and one behind them that is not mapped. */
static uint8_t *pages(void)
{
	uint8_t *mem = mmap(NULL, (PAGES + 1) * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(mem != MAP_FAILED);
	own(mem, end_pages);
	CHECK_EQ(munmap(mem + PAGES * PAGE, PAGE), 0);
	return mem;
}

/* Memory of the case whose address is a multiple of align. */
static uint8_t *aligned(size_t size, size_t align)
{
	return own(aligned_alloc(align, size), free);
}

static int try_reg(struct ibv_context *ctx, void *addr, size_t size, uint32_t access)
{
	struct mlx5dv_devx_umem *umem;

	errno = 0;
	umem = mlx5dv_devx_umem_reg(ctx, addr, size, access);
	if (!umem)
		return errno;
	CHECK_EQ(mlx5dv_devx_umem_dereg(umem), 0);
	return 0;
}

static int try_reg_ex(struct ibv_context *ctx, void *addr, size_t size, uint64_t bitmap, uint64_t comp_mask, int dmabuf_fd)
{
	struct mlx5dv_devx_umem_in in = { .addr = addr, .size = size, .access = IBV_ACCESS_LOCAL_WRITE, .pgsz_bitmap = bitmap,
					  .comp_mask = comp_mask, .dmabuf_fd = dmabuf_fd };
	struct mlx5dv_devx_umem *umem;

	errno = 0;
	umem = mlx5dv_devx_umem_reg_ex(ctx, &in);
	if (!umem)
		return errno;
	CHECK_EQ(mlx5dv_devx_umem_dereg(umem), 0);
	return 0;
}

CASE(access_flags, "devx-abi 7", ANY,
     "Local write, remote write, remote read and relaxed ordering are accepted, and none of them; any other flag gives "
     "EINVAL, as does remote write without local write.")
{
	const uint32_t good = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_RELAXED_ORDERING;
	struct ibv_context *ctx = context();
	uint8_t *mem = pages();

	for (uint32_t low = 0; low < 8; low++) {
		int err = low & IBV_ACCESS_REMOTE_WRITE && !(low & IBV_ACCESS_LOCAL_WRITE) ? EINVAL : 0;

		NOTE("access 0x%x", low);
		CHECK_EQ(try_reg(ctx, mem, PAGE, low), err);
		CHECK_EQ(try_reg(ctx, mem, PAGE, low | IBV_ACCESS_RELAXED_ORDERING), err);
	}
	for (uint32_t bit = 1; bit; bit <<= 1) {
		NOTE("access 0x%x", bit);
		if (!(good & bit))
			CHECK_EQ(try_reg(ctx, mem, PAGE, IBV_ACCESS_LOCAL_WRITE | bit), EINVAL);
	}
}

CASE(umem_has_an_id, "devx-abi 7", ANY, "A umem gets an id, and two umems of the same memory have two.")
{
	struct ibv_context *ctx = context();
	uint8_t *mem = pages();
	struct mlx5dv_devx_umem *a = reg(ctx, mem, PAGE, IBV_ACCESS_LOCAL_WRITE), *b = reg(ctx, mem, PAGE, IBV_ACCESS_LOCAL_WRITE);

	CHECK_NE(a->umem_id, b->umem_id);
}

CASE(any_address_and_size, "devx-abi 7", ANY, "A umem may begin and end anywhere.")
{
	struct ibv_context *ctx = context();
	uint8_t *mem = pages();

	CHECK_EQ(try_reg(ctx, mem + 3, 1, IBV_ACCESS_LOCAL_WRITE), 0);
	CHECK_EQ(try_reg(ctx, mem + 16, 12000, IBV_ACCESS_LOCAL_WRITE), 0);
	CHECK_EQ(try_reg(ctx, mem, PAGES * PAGE, IBV_ACCESS_LOCAL_WRITE), 0);
}

CASE(no_bytes_or_wrap_is_einval, "devx-abi 7", ANY, "A umem of no bytes, or one whose end wraps around, gives EINVAL.")
{
	struct ibv_context *ctx = context();
	uint8_t *mem = pages();

	CHECK_EQ(try_reg(ctx, mem, 0, IBV_ACCESS_LOCAL_WRITE), EINVAL);
	CHECK_EQ(try_reg(ctx, mem, SIZE_MAX, IBV_ACCESS_LOCAL_WRITE), EINVAL);
	CHECK_EQ(try_reg(ctx, mem, SIZE_MAX - (uintptr_t)mem + 1, IBV_ACCESS_LOCAL_WRITE), EINVAL);
}

CASE(memory_that_is_not_there_is_efault, "devx-abi 7", ANY,
     "Memory that is not mapped, all of it or its last byte, gives EFAULT.")
{
	struct ibv_context *ctx = context();
	uint8_t *mem = pages();

	CHECK_EQ(try_reg(ctx, mem, PAGES * PAGE + 1, IBV_ACCESS_LOCAL_WRITE), EFAULT);
	CHECK_EQ(try_reg(ctx, mem + PAGES * PAGE, PAGE, 0), EFAULT);
	CHECK_EQ(try_reg(ctx, NULL, PAGE, 0), EFAULT);
}

CASE(read_only_memory_is_efault_for_writing, "devx-abi 7", ANY,
     "Memory that may not be written gives EFAULT with local write, and is a umem without it.")
{
	struct ibv_context *ctx = context();
	uint8_t *mem = pages();

	CHECK_EQ(mprotect(mem + PAGE, PAGE, PROT_READ), 0);
	CHECK_EQ(try_reg(ctx, mem, 2 * PAGE, IBV_ACCESS_LOCAL_WRITE), EFAULT);
	CHECK_EQ(try_reg(ctx, mem, 2 * PAGE, 0), 0);
}

CASE(page_size_bitmap, "devx-abi 7", ANY,
     "A bitmap of page sizes must have one from 4 KiB to what the length asks for: EINVAL.")
{
	struct ibv_context *ctx = context();
	uint8_t *mem = pages();

	CHECK_EQ(try_reg_ex(ctx, mem, PAGE, 0, 0, -1), EINVAL);
	CHECK_EQ(try_reg_ex(ctx, mem, PAGE, 1u << 11, 0, -1), EINVAL);
	CHECK_EQ(try_reg_ex(ctx, mem, PAGE, 1u << 12, 0, -1), 0);
	CHECK_EQ(try_reg_ex(ctx, mem, PAGE, UINT64_MAX, 0, -1), 0);
	CHECK_EQ(try_reg_ex(ctx, mem, PAGE, UINT64_C(1) << 40, 0, -1), EINVAL);
}

CASE(large_pages_need_alignment, "devx-abi 7", ANY,
     "A page size above 4 KiB asks for an address that is a multiple of it; a smaller one of the bitmap does else, or "
     "EINVAL.")
{
	const uint64_t only_64k = UINT64_C(1) << 16, or_4k = only_64k | 1u << 12;
	struct ibv_context *ctx = context();
	uint8_t *mem = aligned(4 * 65536, 65536);

	if (!is_soft())
		SKIP("where the pages lie in the machine's memory decides");
	CHECK_EQ(try_reg_ex(ctx, mem, 65536, only_64k, 0, -1), 0);
	CHECK_EQ(try_reg_ex(ctx, mem, 2 * 65536, only_64k, 0, -1), 0);
	CHECK_EQ(try_reg_ex(ctx, mem + PAGE, 65536, only_64k, 0, -1), EINVAL);
	CHECK_EQ(try_reg_ex(ctx, mem + PAGE, 65536, or_4k, 0, -1), 0);
	CHECK_EQ(try_reg_ex(ctx, mem, 65536 + PAGE, only_64k, 0, -1), EINVAL);
	CHECK_EQ(try_reg_ex(ctx, mem, 65536 + PAGE, or_4k, 0, -1), 0);
}

CASE(unknown_comp_mask_is_eopnotsupp, "devx-abi 8", ANY, "An unknown comp_mask of umem_reg_ex gives EOPNOTSUPP.")
{
	struct ibv_context *ctx = context();
	uint8_t *mem = pages();

	for (int bit = 1; bit < 64; bit++) {
		NOTE("bit %d", bit);
		CHECK_EQ(try_reg_ex(ctx, mem, PAGE, 1u << 12, UINT64_C(1) << bit, -1), EOPNOTSUPP);
	}
}

CASE(no_dmabuf_is_ebadf, "devx-abi 8", ANY, "A dma-buf descriptor of -1 gives EBADF.")
{
	CHECK_EQ(try_reg_ex(context(), pages(), PAGE, 1u << 12, MLX5DV_UMEM_MASK_DMABUF, -1), EBADF);
}

CASE(other_descriptors_are_no_dmabuf, "devx-abi 7", ANY,
     "A descriptor that is open and no dma-buf gives EINVAL, one that is closed EBADF.")
{
	struct ibv_context *ctx = context();
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC), err[2];

	CHECK(fd >= 0);
	err[0] = try_reg_ex(ctx, NULL, PAGE, 1u << 12, MLX5DV_UMEM_MASK_DMABUF, fd);
	close(fd);
	err[1] = try_reg_ex(ctx, NULL, PAGE, 1u << 12, MLX5DV_UMEM_MASK_DMABUF, fd);
	CHECK_EQ(err[0], EINVAL);
	CHECK_EQ(err[1], EBADF);
}

CASE(null_arguments, "deviations 3", OURS, "Deregistering NULL gives 0; any other NULL gives EINVAL.")
{
	CHECK_EQ(mlx5dv_devx_umem_dereg(NULL), 0);
	CHECK_NULL(mlx5dv_devx_umem_reg(NULL, pages(), PAGE, IBV_ACCESS_LOCAL_WRITE), EINVAL);
	CHECK_NULL(mlx5dv_devx_umem_reg_ex(context(), NULL), EINVAL);
}

CASE(deregistered_umem_is_enoent, "deviations 17", OURS, "A umem that was deregistered is recognised: ENOENT.")
{
	struct mlx5dv_devx_umem *umem = reg(context(), pages(), PAGE, IBV_ACCESS_LOCAL_WRITE);

	CHECK_EQ(dereg(umem), 0);
	CHECK_EQ(mlx5dv_devx_umem_dereg(umem), ENOENT);
}

CASE(failed_dereg_maps_the_status_and_may_be_repeated, "devx-abi 4", CONTROL,
     "A dereg that the device refuses gives the errno of its status, and the umem stays; it can be tried again.")
{
	struct ibv_device *dev = soft("");
	struct mlx5dv_devx_umem *umem = reg(open_devx(dev), pages(), PAGE, IBV_ACCESS_LOCAL_WRITE);

	fault(dev, "opcode=0xa0a nth=1 status=6");
	CHECK_EQ(dereg(umem), EBUSY);
	fault(dev, "opcode=0xa0a nth=1 status=9");
	CHECK_EQ(dereg(umem), EINVAL);
	CHECK_EQ(dereg(umem), 0);
}

CASE(failed_reg_maps_the_status, "devx-abi 7", CONTROL,
     "A registration that the device refuses gives NULL and the errno of its status.")
{
	struct ibv_device *dev = soft("");
	struct ibv_context *ctx = open_devx(dev);
	uint8_t *mem = pages();

	for (size_t i = 0; i < N_STATUS_ERRNOS; i++) {
		NOTE("status 0x%x", status_errnos[i].status);
		fault(dev, "opcode=0xa08 nth=1 status=0x%x", status_errnos[i].status);
		CHECK_EQ(try_reg(ctx, mem, PAGE, IBV_ACCESS_LOCAL_WRITE), status_errnos[i].err);
	}
	CHECK_EQ(try_reg(ctx, mem, PAGE, IBV_ACCESS_LOCAL_WRITE), 0);
}

#define TAG 0x42 /* the key's low byte: the program's own */

/* An mkey over all four pages. */
static struct mlx5dv_devx_obj *make_mkey(struct ibv_context *ctx, struct mlx5dv_devx_umem *umem, uint8_t *mem, uint32_t pd,
					 uint32_t *key)
{
	INBOX(in, create_mkey_in, CREATE_MKEY);
	uint8_t out[SZ(create_mkey_out)], *mkc = IN(in, create_mkey_in, memory_key_mkey_entry);
	struct mlx5dv_devx_obj *obj;

	SET(mkc, mkc, lw, 1);
	SET(mkc, mkc, lr, 1);
	SET(mkc, mkc, access_mode_1_0, 1); /* MTT. Linux, include/linux/mlx5/mlx5_ifc.h */
	SET(mkc, mkc, qpn, 0xffffff);      /* any */
	SET(mkc, mkc, mkey_7_0, TAG);
	SET(mkc, mkc, pd, pd);
	SET(mkc, mkc, start_addr, (uintptr_t)mem);
	SET(mkc, mkc, len, PAGES * PAGE);
	SET(mkc, mkc, log_page_size, 12);
	SET(in, create_mkey_in, mkey_umem_id, umem->umem_id);
	obj = create(ctx, in, sizeof(in), out, sizeof(out));
	*key = (uint32_t)GET(out, create_mkey_out, mkey_index) << 8 | TAG;
	return obj;
}

struct dump_rig {
	struct rig r;
	struct mlx5dv_devx_umem *umem;
	struct mlx5dv_devx_obj *mkey;
	uint8_t *mem;
	uint32_t key;
};

static struct dump_rig dump_rig(void)
{
	struct dump_rig d = { .mem = pages() };
	uint32_t pd;

	d.r = rig_soft("");
	d.umem = reg(d.r.ctx, d.mem, PAGES * PAGE, IBV_ACCESS_LOCAL_WRITE);
	alloc_pd(d.r.ctx, &pd);
	d.mkey = make_mkey(d.r.ctx, d.umem, d.mem, pd, &d.key);
	memset(d.mem, 0xa5, PAGES * PAGE);
	return d;
}

/* A query of four counters that the device writes to memory. */
static int dump(struct dump_rig *d, uint32_t id, uint32_t key, void *addr)
{
	uint8_t in[COUNTER_IN], out[HDR_SZ];
	int err;

	query_inbox(in, id, 4);
	SET(in, query_flow_counter_in, mkey, key);
	SET(in, query_flow_counter_in, address, (uintptr_t)addr);
	SET(in, query_flow_counter_in, dump_to_memory, 1);
	err = mlx5dv_devx_obj_query(d->r.obj, in, sizeof(in), out, sizeof(out));
	CHECK_EQ(err == EREMOTEIO, status_of(out) != 0);
	CHECK_EQ(err == EREMOTEIO, syndrome_of(out) != 0);
	return err;
}

CASE(device_writes_through_an_mkey, "devx-abi 7", CONTROL,
     "The device writes to the memory of a umem, at the address that the command gives, across pages, and nothing around "
     "it.")
{
	struct dump_rig d = dump_rig();
	uint8_t *at = d.mem + PAGE - 2 * SZ(traffic_counter);

	CHECK_EQ(traffic(d.r.dev, d.r.id + 3, 9, 900), 0);
	CHECK_EQ(dump(&d, d.r.id, d.key, at), 0);
	CHECK_EQ(GET(at, traffic_counter, packets), 0);
	CHECK_EQ(GET(at + 3 * SZ(traffic_counter), traffic_counter, packets), 9);
	CHECK_EQ(GET(at + 3 * SZ(traffic_counter), traffic_counter, octets), 900);
	CHECK_EQ(at[-1], 0xa5);
	CHECK_EQ(at[4 * SZ(traffic_counter)], 0xa5);
}

CASE(device_writes_only_what_is_registered, "devx-abi 7", SOFT,
     "A command whose key, alignment or range is wrong fails in the device and writes nothing.")
{
	struct dump_rig d = dump_rig();

	CHECK_EQ(dump(&d, d.r.id + 1, d.key, d.mem), EREMOTEIO); /* not a multiple of 4 */
	CHECK_EQ(d.mem[0], 0xa5);
	CHECK_EQ(dump(&d, d.r.id, d.key ^ 1, d.mem), EREMOTEIO);
	CHECK_EQ(dump(&d, d.r.id, d.key, d.mem + PAGES * PAGE - 63), EREMOTEIO);
	for (size_t i = 0; i < PAGES * PAGE; i++)
		CHECK_EQ(d.mem[i], 0xa5);
}

CASE(unmapped_memory_fails_the_command, "deviations 12", SOFT,
     "Memory of a umem that was unmapped gives a command that fails, never a signal.")
{
	struct dump_rig d = dump_rig();
	uint8_t *last = d.mem + (PAGES - 1) * PAGE;

	CHECK_EQ(munmap(last, PAGE), 0);
	CHECK_EQ(dump(&d, d.r.id, d.key, last), EREMOTEIO);
	CHECK(mmap(last, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == last);
}

CASE(umem_in_use_is_not_deregistered, "devx-abi 7", OURS,
     "A umem that an mkey uses stays: the device refuses, with BAD_RES_STATE, which is EINVAL.")
{
	struct ibv_context *ctx = context();
	uint8_t *mem = pages();
	struct mlx5dv_devx_umem *umem = reg(ctx, mem, PAGES * PAGE, IBV_ACCESS_LOCAL_WRITE);
	struct mlx5dv_devx_obj *mkey;
	uint32_t pd, key;

	alloc_pd(ctx, &pd);
	mkey = make_mkey(ctx, umem, mem, pd, &key);
	CHECK_EQ(dereg(umem), EINVAL);
	CHECK_EQ(destroy(mkey), 0);
	CHECK_EQ(dereg(umem), 0);
}
