/* SPDX-License-Identifier: BSD-2-Clause */
/* UARs: their kinds, their pages, their lifetime. */
#include "conf.h"

#include <infiniband/mlx5_api.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define PAGE 4096u
#define NC_DEDICATED (1u << 31)

static void end_uar(void *p)
{
	mlx5dv_devx_free_uar(p);
}

static struct mlx5dv_devx_uar *uar(struct ibv_context *ctx, uint32_t flags)
{
	return own(mlx5dv_devx_alloc_uar(ctx, flags), end_uar);
}

static void free_uar(struct mlx5dv_devx_uar *u)
{
	disown(u);
	mlx5dv_devx_free_uar(u);
}

CASE(register_lies_in_the_page, "devx-abi 3", ANY,
     "Each kind of UAR has a number and a page, reg_addr lies inside the page from base_addr on, and comp_mask is 0.")
{
	static const uint32_t kinds[] = { MLX5DV_UAR_ALLOC_TYPE_NC, NC_DEDICATED, MLX5DV_UAR_ALLOC_TYPE_BF };
	struct ibv_context *ctx = context();

	for (size_t i = 0; i < N_OF(kinds); i++) {
		struct mlx5dv_devx_uar *u = mlx5dv_devx_alloc_uar(ctx, kinds[i]);
		uintptr_t base, at;

		NOTE("flags 0x%x", kinds[i]);
		if (!u && kinds[i] == MLX5DV_UAR_ALLOC_TYPE_BF && errno == EOPNOTSUPP)
			SKIP("no write combining");
		own(u, end_uar);
		base = (uintptr_t)u->base_addr;
		at = (uintptr_t)u->reg_addr;
		CHECK_EQ(base % PAGE, 0);
		CHECK(at >= base && at < base + PAGE);
		CHECK_NE(u->page_id, 0);
		CHECK_EQ(u->comp_mask, 0);
	}
}

CASE(nc_is_one_shared_register, "devx-abi 8", ANY,
     "MLX5DV_UAR_ALLOC_TYPE_NC gives the same register each time, and freeing it changes nothing.")
{
	struct ibv_context *ctx = context();
	struct mlx5dv_devx_uar *a = uar(ctx, MLX5DV_UAR_ALLOC_TYPE_NC);

	CHECK(mlx5dv_devx_alloc_uar(ctx, MLX5DV_UAR_ALLOC_TYPE_NC) == a);
	mlx5dv_devx_free_uar(a);
	CHECK(mlx5dv_devx_alloc_uar(ctx, MLX5DV_UAR_ALLOC_TYPE_NC) == a);
}

CASE(dedicated_registers_differ, "devx-abi 8", ANY,
     "Dedicated registers are each their own, and not the shared one; a freed one is given out again.")
{
	struct mlx5dv_devx_uar *u[9];
	struct ibv_context *ctx = context();
	bool found = false;

	u[0] = uar(ctx, MLX5DV_UAR_ALLOC_TYPE_NC);
	for (size_t i = 1; i < N_OF(u); i++)
		u[i] = uar(ctx, NC_DEDICATED);
	for (size_t i = 0; i < N_OF(u); i++)
		for (size_t j = 0; j < i; j++)
			CHECK(u[i] != u[j] && u[i]->reg_addr != u[j]->reg_addr);
	for (size_t i = 1; i < N_OF(u); i++)
		free_uar(u[i]);
	for (size_t n = 0; n < 2 * N_OF(u); n++) {
		struct mlx5dv_devx_uar *again = uar(ctx, NC_DEDICATED);

		for (size_t i = 1; i < N_OF(u); i++)
			found |= again == u[i];
	}
	CHECK(found);
}

CASE(unknown_flags_are_eopnotsupp, "devx-abi 8", ANY, "A flag that libmlx5 does not know gives EOPNOTSUPP.")
{
	struct ibv_context *ctx = context();

	for (unsigned int bit = 1; bit < 31; bit++) {
		NOTE("bit %u", bit);
		CHECK_NULL(mlx5dv_devx_alloc_uar(ctx, 1u << bit), EOPNOTSUPP);
	}
}

CASE(page_is_memory, "mlx5dv_devx_alloc_uar(3)", ANY, "A doorbell can be written, 8 bytes at a time.")
{
	struct mlx5dv_devx_uar *u = uar(context(), NC_DEDICATED);

	if (!is_soft())
		SKIP("a real device would hear the doorbell");
	*(volatile uint64_t *)u->reg_addr = 0;
}

CASE(page_can_be_mapped_again, "mlx5dv_devx_alloc_uar(3)", OURS,
     "mmap of cmd_fd at mmap_off gives the same page, as secondary processes do it.")
{
	struct ibv_context *ctx = context();
	struct mlx5dv_devx_uar *u = uar(ctx, NC_DEDICATED);
	size_t at = (size_t)((char *)u->reg_addr - (char *)u->base_addr);
	char *p = mmap(NULL, PAGE, is_soft() ? PROT_READ | PROT_WRITE : PROT_WRITE, MAP_SHARED, ctx->cmd_fd, u->mmap_off);

	CHECK(p != MAP_FAILED);
	if (!is_soft()) { /* nobody says what a register reads */
		CHECK_EQ(munmap(p, PAGE), 0);
		return;
	}
	*(volatile uint64_t *)u->reg_addr = UINT64_C(0x1122334455667788);
	CHECK_EQ(*(volatile uint64_t *)(p + at), UINT64_C(0x1122334455667788));
	*(volatile uint64_t *)(p + at) = 0;
	CHECK_EQ(*(volatile uint64_t *)u->reg_addr, 0);
	CHECK_EQ(munmap(p, PAGE), 0);
}

CASE(queue_names_a_uar_of_its_context, "mlx5dv_devx_alloc_uar(3)", OURS,
     "A CQ may name the page of a UAR; one that is not of its context is refused.")
{
	struct ibv_context *ctx = context(), *other = context();
	uint8_t *mem = zeroed(2 * PAGE), out[SZ(create_cq_out)] = { 0 };
	struct mlx5dv_devx_umem *umem = reg(ctx, mem, 2 * PAGE, IBV_ACCESS_LOCAL_WRITE);
	uint32_t eqn;
	INBOX(in, create_cq_in, CREATE_CQ);
	void *cqc = IN(in, create_cq_in, cq_context);

	CHECK_EQ(mlx5dv_devx_query_eqn(ctx, 0, &eqn), 0);
	SET(in, create_cq_in, cq_umem_id, umem->umem_id);
	SET(cqc, cqc, log_cq_size, 4);
	SET(cqc, cqc, c_eqn_or_apu_element, eqn);
	SET(cqc, cqc, dbr_umem_valid, 1);
	SET(cqc, cqc, dbr_umem_id, umem->umem_id);
	SET(cqc, cqc, dbr_addr, PAGE);
	SET(cqc, cqc, uar_page, uar(other, NC_DEDICATED)->page_id);
	refuse(ctx, in, sizeof(in), out, sizeof(out), EREMOTEIO);
	SET(cqc, cqc, uar_page, uar(ctx, NC_DEDICATED)->page_id);
	create(ctx, in, sizeof(in), out, sizeof(out));
}

CASE(failed_command_is_its_errno, "devx-abi 4", CONTROL,
     "When the device refuses a page, the call fails with the errno of the status, and the next one may succeed.")
{
	struct ibv_device *dev = soft("");
	struct ibv_context *ctx = open_devx(dev);

	fault(dev, "opcode=0x%x nth=1 status=0x8", PRM_OP_ALLOC_UAR);
	CHECK_NULL(mlx5dv_devx_alloc_uar(ctx, NC_DEDICATED), ENOMEM);
	uar(ctx, NC_DEDICATED);
}

CASE(pages_end_with_the_bar, "mlx5dv_devx_alloc_uar(3)", SOFT,
     "There are as many pages as uar_sz tells, but for the first MiB, the function's registers; then ENOMEM, and a closed context gives its own back.")
{
	struct ibv_device *dev = soft("");
	struct ibv_context *ctx = open_devx(dev), *again;
	uint8_t out[SZ(query_hca_cap_out)];
	uint32_t pages, n = 0;
	INBOX(in, query_hca_cap_in, QUERY_HCA_CAP);

	set_op_mod(in, 1); /* general capabilities as they are */
	CHECK_EQ(general(ctx, in, sizeof(in), out, sizeof(out)), 0);
	pages = (1u << 20 << GET(IN(out, query_hca_cap_out, capability), cmd_hca_cap, uar_sz)) / PAGE - 256;
	while (mlx5dv_devx_alloc_uar(ctx, NC_DEDICATED))
		n++;
	CHECK_EQ(errno, ENOMEM);
	CHECK(n >= pages);
	CHECK_EQ(n % pages, 0); /* the same number of registers in each */
	again = open_devx(dev);
	CHECK_NULL(mlx5dv_devx_alloc_uar(again, NC_DEDICATED), ENOMEM);
	CHECK_EQ(close_context(ctx), 0);
	uar(again, NC_DEDICATED);
}

static struct rlimit file_size;

static void restore_file_size(void *p)
{
	setrlimit(RLIMIT_FSIZE, p);
}

CASE(file_size_limit_is_no_signal, "mlx5dv_devx_alloc_uar(3)", SOFT,
     "Where the process may not make files so large, a page is ENOMEM.")
{
	struct ibv_context *ctx = open_devx(soft(""));
	struct rlimit none;

	CHECK_EQ(getrlimit(RLIMIT_FSIZE, &file_size), 0);
	none = (struct rlimit){ 0, file_size.rlim_max };
	own(&file_size, restore_file_size);
	fflush(stdout);
	CHECK_EQ(setrlimit(RLIMIT_FSIZE, &none), 0);
	CHECK_NULL(mlx5dv_devx_alloc_uar(ctx, NC_DEDICATED), ENOMEM);
	CHECK_EQ(setrlimit(RLIMIT_FSIZE, &file_size), 0);
	uar(ctx, NC_DEDICATED);
}

CASE(removed_device_is_eio, "devx-abi 4", CONTROL,
     "After the removal of the device there are no more UARs: EIO. Pages stay mapped.")
{
	struct ibv_device *dev = soft("");
	struct ibv_context *ctx = open_devx(dev);
	struct mlx5dv_devx_uar *u = uar(ctx, NC_DEDICATED);

	CHECK_EQ(take_away(dev), 0);
	/* Of the kernel's pages, those that are there go on being handed out: a page has four registers. */
	for (int left = 3; left && !is_soft(); left--)
		CHECK(mlx5dv_devx_alloc_uar(ctx, NC_DEDICATED));
	CHECK_NULL(mlx5dv_devx_alloc_uar(ctx, NC_DEDICATED), EIO);
	*(volatile uint64_t *)u->reg_addr = 1;
}

CASE(free_twice_and_after_close, "deviations 17", OURS,
     "Freeing a UAR again, or after its context was closed, does nothing.")
{
	struct ibv_context *ctx = context();
	struct mlx5dv_devx_uar *u = mlx5dv_devx_alloc_uar(ctx, NC_DEDICATED), *a, *b;

	CHECK(u != NULL);
	mlx5dv_devx_free_uar(u);
	mlx5dv_devx_free_uar(u);
	/* Registers come back in turn: were one in the list twice, two of these were the same. */
	a = mlx5dv_devx_alloc_uar(ctx, NC_DEDICATED);
	for (int i = 0; i < 8; i++) {
		b = mlx5dv_devx_alloc_uar(ctx, NC_DEDICATED);
		CHECK(a && b && a != b);
	}
	u = a;
	CHECK_EQ(close_context(ctx), 0);
	mlx5dv_devx_free_uar(u);
	CHECK_NULL(mlx5dv_devx_alloc_uar(ctx, NC_DEDICATED), EBADF);
}

static void in_child(struct ibv_context *ctx, struct mlx5dv_devx_uar *u)
{
	struct ibv_device_attr a;
	unsigned char resident;

	errno = 0;
	if (mlx5dv_devx_alloc_uar(ctx, NC_DEDICATED) || errno != EIO)
		_exit(1);
	if (ibv_alloc_pd(ctx) || errno != EIO || ibv_query_device(ctx, &a) != EIO)
		_exit(2);
	mlx5dv_devx_free_uar(u);
	/* Asked of the kernel itself: valgrind's own list of mappings still has the page. */
	if (!mincore(u->base_addr, PAGE, &resident) || errno != ENOMEM)
		_exit(3);
	_exit(0);
}

CASE(forked_child_has_no_page, "deviations 26", SOFT, "A forked child has neither the page nor the context: EIO.")
{
	struct ibv_context *ctx = context();
	struct mlx5dv_devx_uar *u = uar(ctx, NC_DEDICATED);
	pid_t pid = fork();
	int status;

	if (!pid)
		in_child(ctx, u);
	CHECK(pid > 0);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
}

#pragma weak mlx5dv_devx_uar_export_dmabuf_fd

CASE(no_dmabuf_of_software, "deviations 26", SOFT,
     "The page of a software device is no memory of a device: no dma-buf, EOPNOTSUPP.")
{
	struct mlx5dv_devx_uar *u = uar(open_devx(soft("")), NC_DEDICATED);

	errno = 0;
	CHECK_EQ(mlx5dv_devx_uar_export_dmabuf_fd(u), -1);
	CHECK_EQ(errno, EOPNOTSUPP);
}

CASE(export_is_a_descriptor_or_minus_one, "devx-abi 8", ANY, "uar_export_dmabuf_fd gives a descriptor, or -1 and errno.")
{
	int fd;

	if (!mlx5dv_devx_uar_export_dmabuf_fd)
		SKIP("the library has no mlx5dv_devx_uar_export_dmabuf_fd");
	errno = 0;
	fd = mlx5dv_devx_uar_export_dmabuf_fd(uar(context(), MLX5DV_UAR_ALLOC_TYPE_NC));
	if (fd >= 0) {
		close(fd);
	} else {
		CHECK_EQ(fd, -1);
		CHECK_EQ(errno, EOPNOTSUPP);
	}
}

CASE(contexts_have_their_own_nc, "devx-abi 8", ANY, "Each context has a shared NC register of its own.")
{
	CHECK(uar(context(), MLX5DV_UAR_ALLOC_TYPE_NC) != uar(context(), MLX5DV_UAR_ALLOC_TYPE_NC));
}

CASE(left_registers_go_with_their_context, "devx-abi 4", ANY, "Registers that are left go with their context.")
{
	for (int i = 0; i < 20; i++) {
		struct ibv_context *ctx = context();

		for (int k = 0; k < 5; k++)
			disown(uar(ctx, MLX5DV_UAR_ALLOC_TYPE_NC));
		CHECK_EQ(close_context(ctx), 0);
	}
}

CASE(number_of_another_file_is_let_alone, "deviations 20", SOFT,
     "When the program closed cmd_fd and its number is another file's, that is neither written nor closed: EBADF.")
{
	struct ibv_context *ctx = open_devx(soft(""));
	int number = ctx->cmd_fd, file = memfd_create("other", MFD_CLOEXEC);
	struct stat before, after;

	CHECK(file >= 0);
	CHECK_EQ(dup2(file, number), number);
	CHECK_EQ(fstat(file, &before), 0);
	CHECK_NULL(mlx5dv_devx_alloc_uar(ctx, NC_DEDICATED), EBADF);
	CHECK_EQ(close_context(ctx), 0);
	CHECK_EQ(fstat(number, &after), 0);
	CHECK_EQ(after.st_ino, before.st_ino);
	CHECK_EQ(after.st_size, 0);
	close(number);
	close(file);
}

CASE(null_arguments, "deviations 3", OURS, "Freeing NULL does nothing; any other NULL gives EINVAL.")
{
	mlx5dv_devx_free_uar(NULL);
	CHECK_NULL(mlx5dv_devx_alloc_uar(NULL, 0), EINVAL);
	errno = 0;
	CHECK_EQ(mlx5dv_devx_uar_export_dmabuf_fd(NULL), -1);
	CHECK_EQ(errno, EINVAL);
}
