/* SPDX-License-Identifier: BSD-2-Clause */
/* Each message right, each message wrong, and messages in pieces. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "vfu_fake.h"

static struct peer peer, *const p = &peer;

static int hello(struct peer *q, const void *payload, size_t len)
{
	return call(q, VFU_VERSION, payload, len);
}

static int hello_json(const char *json)
{
	char m[512] = { 0 };
	int err;

	close(p->fd);
	run(p);
	peer_connect(p);
	memcpy(m + 4, json, strlen(json));
	err = hello(p, m, 4 + strlen(json) + 1);
	if (err)
		return err;
	assert_memory_equal(p->data, "\0\0\0\0{\"capabilities\":", 20);
	assert_int_equal(p->data[p->len - 1], 0);
	return 0;
}

static void version(void **state)
{
	static const uint16_t major[] = { 1, 0 }, minor[] = { 0, 7 };
	uint32_t zero = 0;

	peer_open(p, NULL);
	assert_int_equal(hello_json("{}"), 0);
	assert_int_equal(hello_json("{\"capabilities\":{}}"), 0);
	assert_int_equal(hello_json("{\"capabilities\":{\"max_msg_fds\":16,\"migration\":{\"pgsize\":4096},\"new\":[1]},\"other\":1}"), 0);
	assert_int_equal(hello(p, &zero, 4), EINVAL); /* once is enough */
	assert_int_equal(hello_json(""), EINVAL);
	assert_int_equal(hello_json("[]"), EINVAL);
	assert_int_equal(hello_json("{"), EINVAL);
	assert_int_equal(hello_json("{\"capabilities\":1}"), EINVAL);
	assert_int_equal(hello_json("{\"capabilities\":{\"max_msg_fds\":0}}"), EINVAL);
	assert_int_equal(hello_json("{\"capabilities\":{\"max_data_xfer_size\":-1}}"), EINVAL);
	assert_int_equal(hello_json("{\"capabilities\":{\"max_data_xfer_size\":\"1\"}}"), EINVAL);
	assert_int_equal(hello(p, "\0\0\0\0{}", 6), EINVAL);   /* no NUL */
	assert_int_equal(hello(p, "\0\0\0\0{}\0\0", 8), EINVAL); /* two */
	assert_int_equal(hello(p, "\0\0\0", 3), EINVAL);
	assert_int_equal(hello(p, major, 4), ENOTSUP);
	assert_int_equal(call(p, VFU_GET_INFO, &zero, 4), EINVAL); /* not before the greeting */
	assert_int_equal(hello(p, minor, 4), 0);
	assert_memory_equal(p->data, "\0\0\0\0", 4);
	peer_close(p);
}

static void info(void **state)
{
	struct vfu_device_info q = { .argsz = sizeof(q) };

	peer_open(p, NULL);
	assert_int_equal(CALL(p, VFU_GET_INFO, &q), 0);
	assert_int_equal(p->len, sizeof(q));
	assert_int_equal(p->info.argsz, sizeof(q));
	assert_int_equal(p->info.flags, VFIO_DEVICE_FLAGS_PCI | VFIO_DEVICE_FLAGS_RESET);
	assert_int_equal(p->info.num_regions, 9);
	assert_int_equal(p->info.num_irqs, 5);
	assert_int_equal(call(p, VFU_GET_INFO, &q, sizeof(q) - 1), EINVAL);
	assert_int_equal(call(p, VFU_GET_INFO, &q, 0), EINVAL);
	q.argsz--;
	assert_int_equal(CALL(p, VFU_GET_INFO, &q), EINVAL);
	peer_close(p);
}

static void region_info(void **state)
{
	struct vfio_region_info q = { .argsz = sizeof(q) };

	peer_open(p, NULL);
	assert_int_equal(CALL(p, VFU_GET_REGION_INFO, &q), 0);
	/* The short answer: no capability, no descriptor, but where the capability would be. */
	assert_int_equal(p->len, sizeof(q));
	assert_int_equal(p->n_fds, 0);
	assert_int_equal(p->region.argsz, 64);
	assert_int_equal(p->region.cap_offset, 32);
	assert_int_equal(p->region.flags, 15);
	assert_int_equal(p->region.size, PCI_BAR0_SIZE);
	q.argsz = 63;
	assert_int_equal(CALL(p, VFU_GET_REGION_INFO, &q), 0);
	assert_int_equal(p->len, sizeof(q));
	assert_int_equal(p->n_fds, 0);
	q.argsz = 64;
	assert_int_equal(CALL(p, VFU_GET_REGION_INFO, &q), 0);
	assert_int_equal(p->len, 64);
	assert_int_equal(p->n_fds, 1);
	assert_memory_equal(p->data + 32, "\1\0\1\0\0\0\0\0\1\0\0\0\0\0\0\0", 16);
	assert_int_equal(*(uint64_t *)(p->data + 48), PCI_UAR_OFFSET);
	assert_int_equal(*(uint64_t *)(p->data + 56), PCI_UAR_SIZE);
	q.index = PCI_CONFIG;
	assert_int_equal(CALL(p, VFU_GET_REGION_INFO, &q), 0);
	assert_int_equal(p->len, sizeof(q));
	assert_int_equal(p->region.size, 4096);
	assert_int_equal(p->region.flags, 3);
	assert_int_equal(p->region.argsz, 32);
	q.index = 6;
	assert_int_equal(CALL(p, VFU_GET_REGION_INFO, &q), 0);
	assert_int_equal(p->region.size, 0);
	assert_int_equal(p->region.flags, 0);
	q.index = 9;
	assert_int_equal(CALL(p, VFU_GET_REGION_INFO, &q), EINVAL);
	q.index = 0;
	q.argsz = 31;
	assert_int_equal(CALL(p, VFU_GET_REGION_INFO, &q), EINVAL);
	q.argsz = 64;
	assert_int_equal(call_longer(p, VFU_GET_REGION_INFO, &q, sizeof(q)), EINVAL);
	assert_int_equal(call(p, VFU_GET_REGION_INFO, &q, sizeof(q) - 1), EINVAL);
	peer_close(p);
}

/* The pages are the function's own; the file behind them cannot be cut. */
static void mapped_uars(void **state)
{
	struct vfio_region_info q = { .argsz = 64 };
	uint32_t *page;

	peer_open(p, NULL);
	assert_true(p->fn->config.mapped);
	assert_int_equal(CALL(p, VFU_GET_REGION_INFO, &q), 0);
	assert_int_equal(p->n_fds, 1);
	page = mmap(NULL, PCI_UAR_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, p->fds[0], (off_t)PCI_UAR_OFFSET);
	assert_ptr_not_equal(page, MAP_FAILED);
	assert_int_not_equal(ftruncate(p->fds[0], 0), 0);
	page[16] = 0x12345678;
	assert_int_equal(*(uint32_t *)(p->fn->config.uars + 64), 0x12345678);
	assert_int_equal(reg_read(p, PCI_BAR0, PCI_UAR_OFFSET + 64, 4), 0);
	assert_int_equal(*(uint32_t *)(p->data + 16), 0x12345678);
	/* The next client has other pages, and clean ones. */
	close(p->fd);
	run(p);
	assert_int_equal(p->fn->resets, 1);
	peer_connect(p);
	greet(p, NULL);
	page[17] = 5;
	assert_int_equal(*(uint32_t *)(p->fn->config.uars + 64), 0);
	assert_int_equal(*(uint32_t *)(p->fn->config.uars + 68), 0);
	munmap(page, PCI_UAR_SIZE);
	peer_close(p);
}

static void no_mmap(void **state)
{
	struct vfio_region_info q = { .argsz = 64 };

	peer_open(p, &(struct vfu_config){ .no_mmap = true });
	assert_false(p->fn->config.mapped);
	assert_int_equal(CALL(p, VFU_GET_REGION_INFO, &q), 0);
	assert_int_equal(p->n_fds, 0);
	assert_int_equal(p->region.flags, 3);
	assert_int_equal(p->region.cap_offset, 0);
	assert_int_equal(p->region.argsz, 32);
	assert_int_equal(reg_write(p, PCI_BAR0, PCI_UAR_OFFSET + 8, "abcd", 4), 0);
	assert_memory_equal(p->fn->config.uars + 8, "abcd", 4);
	close(p->fd);
	run(p);
	assert_memory_equal(p->fn->config.uars + 8, "\0\0\0\0", 4);
	peer_connect(p);
	peer_close(p);
}

static void region_access(void **state)
{
	static const struct {
		uint32_t region;
		uint64_t offset;
		uint32_t count;
		int err;
	} bad[] = {
		{ PCI_CONFIG, 4096, 1, EINVAL }, { PCI_CONFIG, 4095, 2, EINVAL }, { PCI_CONFIG, 0, 4097, EINVAL },
		{ PCI_CONFIG, UINT64_MAX, 1, EINVAL }, { PCI_CONFIG, UINT64_MAX - 3, 4, EINVAL }, { PCI_CONFIG, 0, 0, EINVAL },
		{ PCI_BAR0, PCI_BAR0_SIZE, 4, EINVAL }, { PCI_BAR0, PCI_BAR0_SIZE - 1, 2, EINVAL }, { 1, 0, 4, EINVAL },
		{ 8, 0, 4, EINVAL }, { 9, 0, 4, EINVAL }, { UINT32_MAX, 0, 4, EINVAL }, { PCI_BAR0, 0, VFU_XFER_MAX + 1, E2BIG },
		{ PCI_BAR0, 0, UINT32_MAX, E2BIG },
	};
	uint8_t m[40] = { 0 };

	peer_open(p, NULL);
	assert_int_equal(reg_write(p, PCI_BAR0, 3, "hello", 5), 0);
	assert_int_equal(p->len, 16);
	assert_int_equal(p->access.count, 5);
	assert_int_equal(reg_read(p, PCI_BAR0, 2, 7), 0);
	assert_int_equal(p->len, 16 + 7);
	assert_int_equal(p->access.offset, 2);
	assert_memory_equal(p->data + 16, "\0hello", 7);
	assert_int_equal(reg_write(p, PCI_CONFIG, 4095, "x", 1), 0);
	assert_int_equal(p->fn->space[4095], 'x');
	assert_int_equal(reg_read(p, PCI_BAR0, FAKE_BAR, 4), EINVAL); /* the function says no */
	assert_int_equal(reg_read(p, PCI_BAR0, PCI_BAR0_SIZE - VFU_XFER_MAX, VFU_XFER_MAX), 0);
	assert_int_equal(p->len, 16 + VFU_XFER_MAX);
	p->fn->writes = 0;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct vfu_region_access a = { .offset = bad[i].offset, .region = bad[i].region, .count = bad[i].count };

		assert_int_equal(reg_read(p, bad[i].region, bad[i].offset, bad[i].count), bad[i].err);
		memcpy(m, &a, sizeof(a));
		assert_int_equal(call(p, VFU_REGION_WRITE, m, sizeof(a) + (a.count < 8 ? a.count : 0)), bad[i].err);
	}
	memcpy(m, &(struct vfu_region_access){ .count = 4 }, 16);
	assert_int_equal(call(p, VFU_REGION_WRITE, m, 16 + 3), EINVAL);
	assert_int_equal(call(p, VFU_REGION_WRITE, m, 16 + 5), EINVAL);
	assert_int_equal(call(p, VFU_REGION_WRITE, m, 15), EINVAL);
	assert_int_equal(call(p, VFU_REGION_READ, m, 15), EINVAL);
	assert_int_equal(call(p, VFU_REGION_READ, m, 17), EINVAL);
	assert_int_equal(call(p, VFU_REGION_READ, m, 0), EINVAL);
	assert_int_equal(p->fn->writes, 0);
	peer_close(p);
}

/* The answer is on its way when the device acts, and what comes behind sees what it did. */
static void bell_reads_client(struct pci *fn)
{
	assert_true(got(p));
	assert_int_equal(p->h.command, VFU_REGION_WRITE);
	fn->bar[0x100] = 0x5a;
}

static void posted(void **state)
{
	uint8_t m[20] = { FAKE_DOORBELL };
	struct vfu_region_access a = { .offset = 0x100, .count = 1 };

	peer_open(p, NULL);
	p->fn->bell = bell_reads_client;
	m[12] = 4;
	put(p, VFU_REGION_WRITE, 0, m, sizeof(m));
	put(p, VFU_REGION_READ, 0, &a, sizeof(a));
	run(p);
	assert_true(got(p));
	assert_int_equal(p->h.command, VFU_REGION_READ);
	assert_int_equal(p->data[16], 0x5a);
	/* And with no reply wanted. */
	p->fn->bell = NULL;
	m[0] = 0;
	m[16] = 0x77;
	put(p, VFU_REGION_WRITE, VFU_NO_REPLY, m, sizeof(m));
	put(p, VFU_REGION_WRITE, VFU_NO_REPLY, m, 3); /* nor of an error */
	run(p);
	assert_false(got(p));
	assert_int_equal(p->fn->bar[0], 0x77);
	peer_close(p);
}

static void write_multi(void **state)
{
	struct {
		uint64_t n;
		struct vfu_small_write w[3];
	} m = { 3, { { 0x20, PCI_BAR0, 4, "abcd" }, { 0x28, PCI_BAR0, 8, "12345678" }, { 7, PCI_CONFIG, 1, "z" } } };

	peer_open(p, NULL);
	assert_int_equal(CALL(p, VFU_WRITE_MULTI, &m), 0);
	assert_int_equal(p->len, 8);
	assert_int_equal(p->data[0], 3);
	assert_memory_equal(p->fn->bar + 0x20, "abcd\0\0\0\00012345678", 16);
	assert_int_equal(p->fn->space[7], 'z');
	p->fn->writes = 0;
	m.n = 2;
	assert_int_equal(CALL(p, VFU_WRITE_MULTI, &m), EINVAL);
	m.n = 3 + (UINT64_C(1) << 61);
	assert_int_equal(CALL(p, VFU_WRITE_MULTI, &m), EINVAL);
	m.n = 0;
	assert_int_equal(call(p, VFU_WRITE_MULTI, &m, 8), EINVAL);
	m.n = 3;
	assert_int_equal(call(p, VFU_WRITE_MULTI, &m, 7), EINVAL);
	assert_int_equal(call(p, VFU_WRITE_MULTI, &m, sizeof(m) - 1), EINVAL);
	m.w[2].count = 9;
	assert_int_equal(CALL(p, VFU_WRITE_MULTI, &m), EINVAL);
	m.w[2].count = 0;
	assert_int_equal(CALL(p, VFU_WRITE_MULTI, &m), EINVAL);
	m.w[2] = (struct vfu_small_write){ 4093, PCI_CONFIG, 4, "" };
	assert_int_equal(CALL(p, VFU_WRITE_MULTI, &m), EINVAL);
	assert_int_equal(p->fn->writes, 0); /* all or none */
	peer_close(p);
}

static void reset(void **state)
{
	peer_open(p, NULL);
	assert_int_equal(call(p, VFU_RESET, NULL, 0), 0);
	assert_int_equal(p->fn->resets, 1);
	assert_int_equal(call(p, VFU_RESET, "x", 1), EINVAL);
	assert_int_equal(p->fn->resets, 1);
	peer_close(p);
}

static void unknown_commands(void **state)
{
	static const uint16_t unknown[] = { 0, VFU_DMA_READ, VFU_DMA_WRITE, 14, 16, 17, 18, 19, 0xffff };

	peer_open(p, NULL);
	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
		assert_int_equal(call(p, unknown[i], "12345678", 8), ENOTSUP);
	assert_int_equal(call(p, VFU_GET_REGION_IO_FDS, "1234567812345678", 16), EOPNOTSUPP);
	/* A reply that nobody asked for is nothing. */
	put(p, VFU_DMA_READ, VFU_REPLY, "12345678", 8);
	run(p);
	assert_false(got(p));
	assert_int_equal(call(p, VFU_RESET, NULL, 0), 0);
	peer_close(p);
}

static void in_pieces(void **state)
{
	struct vfu_device_info q = { .argsz = sizeof(q) };
	struct vfu_header h = { .id = 77, .command = VFU_GET_INFO, .size = sizeof(h) + sizeof(q) };
	uint8_t m[2 * (sizeof(h) + sizeof(q))];

	memcpy(m, &h, sizeof(h));
	memcpy(m + sizeof(h), &q, sizeof(q));
	memcpy(m + sizeof(m) / 2, m, sizeof(m) / 2);
	peer_open(p, NULL);
	for (size_t i = 0; i < sizeof(m) / 2; i++) {
		run(p);
		assert_false(got(p));
		put_raw(p, m + i, 1);
	}
	run(p);
	assert_true(got(p));
	assert_int_equal(p->h.id, 77);
	put_raw(p, m, sizeof(m)); /* and two at once */
	run(p);
	assert_true(got(p));
	assert_true(got(p));
	assert_false(got(p));
	peer_close(p);
}

static void not_understood(void **state)
{
	static const struct vfu_header bad[] = {
		{ .command = VFU_RESET, .size = 15 }, { .command = VFU_RESET, .size = 0 },
		{ .command = VFU_RESET, .size = VFU_MSG_MAX + 1 }, { .command = VFU_RESET, .size = UINT32_MAX },
		{ .command = VFU_RESET, .size = 16, .flags = 2 }, { .command = VFU_RESET, .size = 16, .flags = 15 },
	};

	peer_open(p, NULL);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		put_raw(p, &bad[i], sizeof(bad[i]));
		run(p);
		assert_false(vfu_attached(p->v)); /* hung up: where the next message begins is not known */
		assert_int_equal(p->fn->resets, i + 1);
		close(p->fd);
		peer_connect(p);
	}
	greet(p, NULL);
	peer_close(p);
}

static void vanishing(void **state)
{
	struct vfu_header h = { .command = VFU_RESET, .size = 100 };

	peer_open(p, NULL);
	for (size_t n = 0; n <= sizeof(h); n += 8) {
		if (n)
			put_raw(p, &h, n);
		run(p);
		close(p->fd);
		run(p);
		assert_false(vfu_attached(p->v));
		peer_connect(p);
	}
	assert_int_equal(p->fn->resets, 3);
	/* With replies that it never reads. */
	for (int i = 0; i < 100; i++)
		put(p, VFU_RESET, 0, NULL, 0);
	close(p->fd);
	run(p);
	assert_false(vfu_attached(p->v));
	peer_connect(p);
	greet(p, NULL);
	peer_close(p);
}

/* No more is read from a client that does not take its replies; nothing is lost. */
static void unread_replies(void **state)
{
	struct vfu_region_access a = { .offset = PCI_UAR_OFFSET, .count = 100000 };
	unsigned int sent = 0, replies = 0;

	peer_open(p, NULL);
	for (; sent < 60; sent++)
		put(p, VFU_REGION_READ, 0, &a, sizeof(a));
	put(p, VFU_RESET, 0, NULL, 0);
	run(p);
	run(p);
	assert_int_equal(p->fn->resets, 0);
	for (unsigned int tries = 0; replies < sent; tries++) {
		assert_true(tries < 10000);
		/* The end of a reply may not be there yet; so look at its beginning alone first. */
		if (recv(p->fd, &p->h, sizeof(p->h), 0) == sizeof(p->h)) {
			for (size_t at = 0; at < 16 + 100000;) {
				ssize_t n = recv(p->fd, p->data + at, 16 + 100000 - at, 0);

				if (n > 0)
					at += (size_t)n;
				else
					assert_true(vfu_step(p->v, 0));
			}
			assert_int_equal(p->h.command, VFU_REGION_READ);
			replies++;
		}
		vfu_step(p->v, 0);
	}
	run(p);
	assert_true(got(p));
	assert_int_equal(p->h.command, VFU_RESET);
	assert_int_equal(p->fn->resets, 1);
	peer_close(p);
}

static void descriptors(void **state)
{
	struct vfu_device_info q = { .argsz = sizeof(q) };
	struct vfu_dma_map m = { .argsz = sizeof(m), .flags = 3, .size = 4096 };
	unsigned int before;
	int fds[253];

	peer_open(p, NULL);
	for (int i = 0; i < 253; i++)
		fds[i] = STDERR_FILENO;
	before = open_fds();
	assert_int_equal(call_fds(p, VFU_GET_INFO, &q, sizeof(q), fds, 1), EINVAL);
	assert_int_equal(call_fds(p, VFU_DMA_MAP, &m, sizeof(m), fds, 2), EINVAL);
	assert_int_equal(call_fds(p, VFU_DMA_MAP, &m, sizeof(m), fds, 16), EINVAL);
	assert_int_equal(call_fds(p, VFU_DMA_MAP, &m, sizeof(m), fds, 17), EINVAL);
	assert_int_equal(call_fds(p, VFU_DMA_MAP, &m, sizeof(m), fds, 65), EINVAL);
	assert_int_equal(call_fds(p, VFU_DMA_MAP, &m, sizeof(m), fds, 253), EINVAL);
	assert_int_equal(call_fds(p, 0x99, NULL, 0, fds, 5), EINVAL);
	assert_int_equal(open_fds(), before);
	/* With an unfinished message, and with one that is not understood. */
	put_fds(p, VFU_RESET, &q, sizeof(q), fds, 3);
	run(p);
	assert_true(got(p));
	assert_int_equal(open_fds(), before);
	peer_close(p);
}

static void no_memory(void **state)
{
	const struct vfu_config config = { 0 };
	unsigned int before = open_fds(), n = 0;
	struct vfu *v = NULL;

	while (!v) {
		fail_allocation = ++n;
		errno = 0;
		v = vfu_new(&config);
		assert_true(v || errno == ENOMEM);
		assert_int_equal(fake_alive, v ? 1 : 0);
		assert_true(v || open_fds() == before);
	}
	assert_int_equal(n, 7); /* six were asked for */
	fail_allocation = 0;
	vfu_free(v);
	assert_int_equal(open_fds(), before);
	assert_int_equal(fake_alive, 0);
}

const struct CMUnitTest vfu_message_tests[] = {
	cmocka_unit_test(version), cmocka_unit_test(info), cmocka_unit_test(region_info), cmocka_unit_test(mapped_uars),
	cmocka_unit_test(no_mmap), cmocka_unit_test(region_access), cmocka_unit_test(posted), cmocka_unit_test(write_multi),
	cmocka_unit_test(reset), cmocka_unit_test(unknown_commands), cmocka_unit_test(in_pieces), cmocka_unit_test(not_understood),
	cmocka_unit_test(vanishing), cmocka_unit_test(unread_replies), cmocka_unit_test(descriptors), cmocka_unit_test(no_memory),
};
const size_t vfu_n_message_tests = sizeof(vfu_message_tests) / sizeof(vfu_message_tests[0]);
