/* SPDX-License-Identifier: BSD-2-Clause */
/* Guest memory: windows, what they let through, and files that change under us. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "vfu_fake.h"

#define PAGE UINT64_C(4096)
#define RW (VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE)

static struct peer peer, *const p = &peer;

static bool dma_read(uint64_t address, void *dst, size_t len)
{
	return p->fn->ops.read(p->fn->host, address, dst, len);
}

static bool dma_write(uint64_t address, const void *src, size_t len)
{
	return p->fn->ops.write(p->fn->host, address, src, len);
}

static void read_and_write(void **state)
{
	for (int sealed = 0; sealed < 2; sealed++) {
		int fd = memory_file(8 * PAGE, sealed);
		unsigned int before;
		char buf[16] = "";

		peer_open(p, NULL);
		before = open_fds();
		assert_int_equal(map(p, 0x10000, 4 * PAGE, RW, fd, 2 * PAGE), 0);
		assert_int_equal(p->len, 0);
		assert_int_equal(open_fds(), before); /* the mapping is enough */
		assert_int_equal(pwrite(fd, "guest", 5, 3 * (off_t)PAGE), 5);
		assert_true(dma_read(0x11000, buf, 5));
		assert_string_equal(buf, "guest");
		assert_true(dma_write(0x13ffe, "xy", 2));
		assert_int_equal(pread(fd, buf, 2, 6 * (off_t)PAGE - 2), 2);
		assert_memory_equal(buf, "xy", 2);
		assert_true(dma_read(0, buf, 0));
		assert_false(dma_read(0x13fff, buf, 2));
		assert_false(dma_read(0xffff, buf, 2));
		assert_false(dma_read(0x20000, buf, 1));
		assert_false(dma_write(0x14000, "x", 1));
		assert_false(dma_read(UINT64_MAX, buf, 2));
		assert_false(dma_read(0x11000, buf, SIZE_MAX));
		assert_int_equal(unmap(p, 0x10000, 4 * PAGE), 0);
		assert_int_equal(p->len, 24);
		assert_false(dma_read(0x11000, buf, 5));
		/* The next client does not have this one's memory. */
		assert_int_equal(map(p, 0, PAGE, RW, fd, 0), 0);
		close(p->fd);
		run(p);
		assert_false(dma_read(0, buf, 1));
		peer_connect(p);
		peer_close(p);
		close(fd);
	}
}

static void rights(void **state)
{
	int fd = memory_file(8 * PAGE, true), ro, wo;
	char path[64], c;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ro = open(path, O_RDONLY | O_CLOEXEC);
	wo = open(path, O_WRONLY | O_CLOEXEC);
	peer_open(p, NULL);
	assert_int_equal(map(p, 0, PAGE, VFIO_DMA_MAP_FLAG_READ, fd, 0), 0);
	assert_int_equal(map(p, PAGE, PAGE, VFIO_DMA_MAP_FLAG_WRITE, fd, PAGE), 0);
	assert_int_equal(map(p, 2 * PAGE, PAGE, VFIO_DMA_MAP_FLAG_READ, ro, 0), 0);
	assert_int_equal(map(p, 3 * PAGE, PAGE, RW, ro, 0), EACCES);
	assert_int_equal(map(p, 3 * PAGE, PAGE, RW, wo, 0), EACCES);
	assert_true(dma_read(0, &c, 1));
	assert_false(dma_write(0, "x", 1));
	assert_true(dma_write(PAGE, "x", 1));
	assert_false(dma_read(PAGE, &c, 1));
	assert_true(dma_read(2 * PAGE, &c, 1));
	/* Nothing is written when a part may not be. */
	assert_false(dma_write(2 * PAGE - 1, "yz", 2));
	assert_int_equal(pread(fd, &c, 1, 2 * (off_t)PAGE - 1), 1);
	assert_int_equal(c, 0);
	peer_close(p);
	close(fd);
	close(ro);
	close(wo);
}

static void refused(void **state)
{
	static const struct {
		uint64_t address, size, offset;
		uint32_t flags;
		int err;
	} bad[] = {
		{ 0, 0, 0, RW, EINVAL }, { 0, PAGE, 0, 0, EINVAL }, { 0, PAGE, 0, 4, EINVAL }, { 0, PAGE, 0, RW | 8, EINVAL },
		{ 1, PAGE, 0, RW, EINVAL }, { 0, PAGE + 1, 0, RW, EINVAL }, { 0, PAGE, 1, RW, EINVAL },
		{ -PAGE, 2 * PAGE, 0, RW, EINVAL }, { 2 * PAGE, -PAGE, 0, RW, EINVAL }, { 64 * PAGE, 9 * PAGE, 0, RW, EINVAL },
		{ 0, PAGE, 8 * PAGE, RW, EINVAL }, { 0, 2 * PAGE, 7 * PAGE, RW, EINVAL }, { 0, PAGE, -PAGE, RW, EINVAL },
		{ 0, PAGE, UINT64_C(1) << 63, RW, EINVAL }, { 64 * PAGE, UINT64_C(1) << 63, 0, RW, EINVAL },
		/* What is mapped already: [4, 8) and [16, 20) pages. */
		{ 4 * PAGE, 4 * PAGE, 0, RW, EEXIST }, { 3 * PAGE, 2 * PAGE, 0, RW, EEXIST }, { 7 * PAGE, PAGE, 0, RW, EEXIST },
		{ 7 * PAGE, 2 * PAGE, 0, RW, EEXIST }, { 3 * PAGE, 8 * PAGE, 0, RW, EEXIST }, { 15 * PAGE, 2 * PAGE, 0, RW, EEXIST },
		{ 5 * PAGE, PAGE, 0, RW, EEXIST },
	};
	static const char *const no_memory[] = { "/dev/zero", "/dev/null", "/proc/self", "/proc/self/stat" };
	struct vfu_dma_map m = { .argsz = sizeof(m), .flags = RW, .size = PAGE };
	int fd = memory_file(8 * PAGE, false), other, pipes[2];
	unsigned int before;

	peer_open(p, NULL);
	assert_int_equal(map(p, 4 * PAGE, 4 * PAGE, RW, fd, 0), 0);
	assert_int_equal(map(p, 16 * PAGE, 4 * PAGE, RW, -1, 0), 0);
	before = open_fds();
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(map(p, bad[i].address, bad[i].size, bad[i].flags, fd, bad[i].offset), bad[i].err);
	for (size_t i = 0; i < sizeof(no_memory) / sizeof(no_memory[0]); i++) {
		other = open(no_memory[i], O_RDONLY | O_CLOEXEC);
		assert_true(other >= 0);
		assert_int_equal(map(p, 0, PAGE, VFIO_DMA_MAP_FLAG_READ, other, 0), EINVAL);
		close(other);
	}
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(map(p, 0, PAGE, RW, pipes[0], 0), EINVAL);
	close(pipes[0]);
	close(pipes[1]);
	assert_int_equal(call_fds(p, VFU_DMA_MAP, &m, sizeof(m) - 1, &fd, 1), EINVAL);
	assert_int_equal(call_fds(p, VFU_DMA_MAP, &m, sizeof(m) - 8, &fd, 1), EINVAL);
	m.argsz--;
	assert_int_equal(call_fds(p, VFU_DMA_MAP, &m, sizeof(m), &fd, 1), EINVAL);
	m.argsz = sizeof(m);
	assert_int_equal(call_fds(p, VFU_DMA_MAP, &m, sizeof(m), (int[]){ fd, fd }, 2), EINVAL);
	assert_int_equal(open_fds(), before);
	assert_int_equal(map(p, -PAGE, PAGE, RW, fd, 0), 0); /* up to the last address there is */
	assert_true(dma_write(UINT64_MAX, "x", 1));
	assert_false(dma_write(UINT64_MAX, "xy", 2));
	peer_close(p);
	close(fd);
}

static void unmapping(void **state)
{
	struct vfu_dma_unmap m = { .argsz = sizeof(m), .address = PAGE, .size = PAGE };
	int fd = memory_file(8 * PAGE, true);
	char c;

	peer_open(p, NULL);
	for (uint64_t i = 0; i < 8; i++)
		assert_int_equal(map(p, i * PAGE, PAGE, RW, fd, i * PAGE), 0);
	assert_int_equal(unmap(p, 0, 2 * PAGE), ENOENT);
	assert_int_equal(unmap(p, PAGE, 0), ENOENT);
	assert_int_equal(unmap(p, PAGE, PAGE - 1), ENOENT);
	assert_int_equal(unmap(p, PAGE + 1, PAGE), ENOENT);
	assert_int_equal(unmap(p, 8 * PAGE, PAGE), ENOENT);
	assert_int_equal(unmap(p, UINT64_MAX, UINT64_MAX), ENOENT);
	assert_int_equal(call(p, VFU_DMA_UNMAP, &m, sizeof(m) - 1), EINVAL);
	assert_int_equal(call(p, VFU_DMA_UNMAP, &m, 0), EINVAL);
	m.argsz--;
	assert_int_equal(CALL(p, VFU_DMA_UNMAP, &m), EINVAL);
	m.argsz++;
	m.flags = VFIO_DMA_UNMAP_FLAG_GET_DIRTY_BITMAP;
	assert_int_equal(CALL(p, VFU_DMA_UNMAP, &m), EINVAL);
	m.flags = VFIO_DMA_UNMAP_FLAG_ALL;
	assert_int_equal(CALL(p, VFU_DMA_UNMAP, &m), EINVAL);
	assert_true(dma_read(PAGE, &c, 1));
	assert_int_equal(unmap(p, 3 * PAGE, PAGE), 0);
	assert_int_equal(unmap(p, 3 * PAGE, PAGE), ENOENT);
	assert_true(dma_read(2 * PAGE, &c, 1));
	assert_false(dma_read(3 * PAGE, &c, 1));
	assert_true(dma_read(4 * PAGE, &c, 1));
	m.address = m.size = 0;
	assert_int_equal(CALL(p, VFU_DMA_UNMAP, &m), 0);
	assert_false(dma_read(0, &c, 1));
	assert_int_equal(CALL(p, VFU_DMA_UNMAP, &m), 0);
	peer_close(p);
	close(fd);
}

/* One access may span windows that touch. */
static void neighbours(void **state)
{
	int fd = memory_file(8 * PAGE, true);
	char buf[3 * 4096 + 2], back[sizeof(buf)];

	peer_open(p, NULL);
	for (size_t i = 0; i < sizeof(buf); i++)
		buf[i] = (char)(i * 7 + 1);
	assert_int_equal(map(p, 5 * PAGE, 3 * PAGE, RW, fd, 0), 0);
	assert_int_equal(map(p, 2 * PAGE, PAGE, RW, fd, 6 * PAGE), 0);
	assert_int_equal(map(p, 3 * PAGE, 2 * PAGE, RW, fd, 3 * PAGE), 0);
	assert_true(dma_write(3 * PAGE - 1, buf, sizeof(buf)));
	assert_true(dma_read(3 * PAGE - 1, back, sizeof(back)));
	assert_memory_equal(buf, back, sizeof(buf));
	assert_int_equal(unmap(p, 3 * PAGE, 2 * PAGE), 0);
	assert_false(dma_read(3 * PAGE - 1, back, sizeof(back)));
	peer_close(p);
	close(fd);
}

/* A file that is cut after it was mapped answers no; a pointer would end the process. */
static void cut_file(void **state)
{
	int fd = memory_file(4 * PAGE, false);
	char buf[8];

	peer_open(p, NULL);
	assert_int_equal(map(p, 0, 4 * PAGE, RW, fd, 0), 0);
	assert_int_equal(ftruncate(fd, (off_t)PAGE), 0);
	assert_true(dma_write(PAGE - 8, "12345678", 8));
	assert_true(dma_read(PAGE - 8, buf, 8));
	assert_false(dma_read(PAGE, buf, 8));
	assert_false(dma_write(PAGE, buf, 8));
	assert_false(dma_read(PAGE - 4, buf, 8));
	assert_int_equal(ftruncate(fd, 4 * (off_t)PAGE), 0);
	assert_true(dma_read(PAGE, buf, 8));
	peer_close(p);
	close(fd);
}

static void large_windows(void **state)
{
	int fd;
	char c;

	if (getenv("TESTS_BRIEF"))
		skip(); /* valgrind and TSan leave no room for them */
	fd = memory_file(VFU_MAPPED_MAX + PAGE, true);
	peer_open(p, NULL);
	assert_int_equal(map(p, 0, VFU_MAPPED_MAX + PAGE, RW, fd, 0), ENOSPC);
	assert_int_equal(map(p, 0, VFU_MAPPED_MAX - PAGE, RW, fd, 0), 0);
	assert_int_equal(map(p, VFU_MAPPED_MAX, 2 * PAGE, RW, fd, 0), ENOSPC);
	assert_int_equal(map(p, VFU_MAPPED_MAX, PAGE, RW, fd, VFU_MAPPED_MAX), 0);
	assert_int_equal(map(p, 2 * VFU_MAPPED_MAX, 2 * VFU_MAPPED_MAX, RW, -1, 0), 0); /* not in our memory */
	assert_true(dma_read(VFU_MAPPED_MAX - 2 * PAGE, &c, 1));
	assert_int_equal(unmap(p, 0, VFU_MAPPED_MAX - PAGE), 0);
	assert_int_equal(map(p, 0, VFU_MAPPED_MAX - PAGE, RW, fd, 0), 0);
	peer_close(p);
	peer_open(p, NULL); /* nothing of it is left */
	assert_int_equal(map(p, 0, VFU_MAPPED_MAX, RW, fd, 0), 0);
	peer_close(p);
	close(fd);
}

static void many_windows(void **state)
{
	int fd = memory_file(2 * PAGE, true);
	char c;

	peer_open(p, NULL);
	for (uint64_t i = 0; i < VFU_MAPS_MAX; i++) /* from both ends */
		assert_int_equal(map(p, (i % 2 ? 100000 - i : i) * 2 * PAGE, PAGE, RW, i < 8 ? fd : -1, 0), 0);
	assert_int_equal(map(p, PAGE, PAGE, RW, fd, 0), ENOSPC);
	assert_true(dma_read(0, &c, 1));
	assert_true(dma_read((100000 - 7) * 2 * PAGE, &c, 1));
	assert_false(dma_read(PAGE, &c, 1));
	assert_int_equal(unmap(p, 0, PAGE), 0);
	assert_int_equal(map(p, PAGE, PAGE, RW, fd, 0), 0);
	peer_close(p);
	close(fd);
}

const struct CMUnitTest vfu_dma_tests[] = {
	cmocka_unit_test(read_and_write), cmocka_unit_test(rights), cmocka_unit_test(refused), cmocka_unit_test(unmapping),
	cmocka_unit_test(neighbours), cmocka_unit_test(cut_file), cmocka_unit_test(large_windows), cmocka_unit_test(many_windows),
};
const size_t vfu_n_dma_tests = sizeof(vfu_dma_tests) / sizeof(vfu_dma_tests[0]);
