/* SPDX-License-Identifier: BSD-2-Clause */
/* Guest memory that the client does not share: the server asks for it by messages, and what happens meanwhile. */
#include <errno.h>
#include <sys/socket.h>
#include <time.h>
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

/* A reply to a command of the server's, before the server sent it: it does not wait in these tests. */
static void reply(uint16_t id, unsigned int command, uint32_t flags, const void *payload, size_t len)
{
	uint16_t was = p->id;

	p->id = (uint16_t)(id - 1);
	put(p, command, VFU_REPLY | flags, payload, len);
	p->id = was;
}

static struct {
	struct vfu_dma_access a;
	char data[64];
} out;

static void reply_write(uint16_t id, size_t len)
{
	reply(id, VFU_DMA_WRITE, 0, &out.a, len);
}

static void reply_read(uint16_t id, uint64_t address, const char *data, bool is_short)
{
	size_t n = strlen(data);

	memset(&out, 0, sizeof(out));
	out.a = (struct vfu_dma_access){ address, n };
	memcpy((uint8_t *)&out + (is_short ? 12 : 16), data, n);
	reply(id, VFU_DMA_READ, 0, &out, 16 + n);
}

static void by_message(void **state)
{
	static const size_t write_replies[] = { 16, 12 };
	char buf[8] = "";

	for (int i = 0; i < 2; i++) {
		peer_open(p, NULL);
		assert_int_equal(map(p, 0x8000, 2 * PAGE, RW, -1, 0), 0);
		reply_write(1, write_replies[i]);
		reply_read(2, 0x8010, "guest", false);
		reply_write(3, write_replies[i]);
		assert_true(dma_read(0x8010, buf, 5));
		assert_string_equal(buf, "guest");
		assert_true(dma_write(0x9000, "abc", 3));
		/* How a client lays out these messages is asked first. */
		assert_true(got(p));
		assert_int_equal(p->h.command, VFU_DMA_WRITE);
		assert_int_equal(p->h.flags, VFU_COMMAND);
		assert_int_equal(p->dma.count, 0);
		assert_true(got(p));
		assert_int_equal(p->h.command, VFU_DMA_READ);
		assert_int_equal(p->dma.address, 0x8010);
		assert_int_equal(p->dma.count, 5);
		assert_int_equal(p->len, 16);
		assert_true(got(p));
		assert_int_equal(p->dma.address, 0x9000);
		assert_int_equal(p->dma.count, 3);
		assert_int_equal(p->len, 19);
		assert_memory_equal(p->data + 16, "abc", 3);
		assert_false(got(p));
		peer_close(p);
	}
}

/* As QEMU before 11.1 has it. */
static void short_layout(void **state)
{
	char buf[8] = "";

	peer_open(p, NULL);
	assert_int_equal(map(p, 0x8000, PAGE, RW, -1, 0), 0);
	reply_write(1, 0);
	reply_read(2, 0x8010, "guest", true);
	reply_write(3, 0);
	assert_true(dma_read(0x8010, buf, 5));
	assert_string_equal(buf, "guest");
	assert_true(dma_write(0x8020, "abc", 3));
	assert_true(got(p));
	assert_true(got(p));
	assert_int_equal(p->len, 16);
	assert_true(got(p));
	assert_int_equal(p->len, 16 + 3);
	assert_memory_equal(p->data, "\x20\x80\0\0\0\0\0\0\3\0\0\0" "abc\0\0\0\0", 19);
	peer_close(p);
}

static void wrong_answers(void **state)
{
	char buf[8] = "";

	peer_open(p, NULL);
	assert_int_equal(map(p, 0, PAGE, RW, -1, 0), 0);
	reply_write(1, 16);
	reply(2, VFU_DMA_READ, VFU_ERROR, NULL, 0);
	assert_false(dma_read(0, buf, 4));
	reply_read(3, 0, "12345", false); /* too long */
	assert_false(dma_read(0, buf, 4));
	reply_read(4, 0, "123", false);
	assert_false(dma_read(0, buf, 4));
	reply_read(5, 1, "1234", false); /* of another address */
	assert_false(dma_read(0, buf, 4));
	reply(6, VFU_DMA_READ, 0, NULL, 0);
	assert_false(dma_read(0, buf, 4));
	reply(7, VFU_DMA_WRITE, VFU_ERROR, NULL, 0);
	assert_false(dma_write(0, "x", 1));
	assert_string_equal(buf, "");
	/* Replies of another number or command are no answers. */
	reply_read(9, 0, "1234", false);
	reply(8, VFU_DMA_WRITE, 0, NULL, 0);
	reply_read(8, 0, "abcd", false);
	assert_true(dma_read(0, buf, 4));
	assert_string_equal(buf, "abcd");
	run(p);
	assert_true(vfu_attached(p->v));
	peer_close(p);
}

/* Who did not answer is not waited for again, until the answer comes. */
static void silence(void **state)
{
	char buf[8] = "";

	peer_open(p, NULL);
	assert_int_equal(map(p, 0, PAGE, RW, -1, 0), 0);
	reply_write(1, 16);
	assert_false(dma_read(0, buf, 4));
	assert_false(dma_read(0, buf, 4));
	assert_false(dma_write(0, buf, 4));
	assert_true(got(p));
	assert_true(got(p));
	assert_int_equal(p->h.command, VFU_DMA_READ);
	assert_false(got(p)); /* nothing was asked twice */
	assert_int_equal(call(p, VFU_RESET, NULL, 0), 0); /* it goes on otherwise */
	reply_read(2, 0, "late", false);
	run(p);
	reply_read(3, 0, "1234", false);
	assert_true(dma_read(0, buf, 4));
	assert_string_equal(buf, "1234");
	peer_close(p);
}

/* Commands between a question and its answer: writes are answered at once, and executed in their turn. */
static void bell_reads(struct pci *fn)
{
	fn->bar[0x40] = dma_read(0, fn->bar + 0x80, 4);
}

static void put_write(uint64_t offset, char byte)
{
	uint8_t m[17] = { 0 };

	memcpy(m, &(struct vfu_region_access){ .offset = offset, .count = 1 }, 16);
	m[16] = (uint8_t)byte;
	put(p, VFU_REGION_WRITE, 0, m, sizeof(m));
}

static void heard(unsigned int command, uint32_t flags)
{
	assert_true(got(p));
	assert_int_equal(p->h.command, command);
	assert_int_equal(p->h.flags, flags);
}

static void commands_meanwhile(void **state)
{
	struct vfu_dma_unmap un = { .argsz = sizeof(un), .size = PAGE };
	int fd = memory_file(PAGE, true);
	struct vfu_dma_map m = { .argsz = sizeof(m), .flags = RW, .address = PAGE, .size = PAGE };

	peer_open(p, NULL);
	assert_int_equal(map(p, 0, PAGE, RW, -1, 0), 0);
	p->fn->bell = bell_reads;
	put_write(FAKE_DOORBELL, 1);
	put_fds(p, VFU_DMA_MAP, &m, sizeof(m), &fd, 1);
	put_write(0x80, 'z');
	reply_write(1, 16);
	put(p, VFU_DMA_UNMAP, 0, &un, sizeof(un));
	put_write(0x81, 'y');
	reply_read(2, 0, "abcd", false);
	run(p);
	assert_int_equal(p->fn->bar[0x40], 1);
	assert_memory_equal(p->fn->bar + 0x80, "zycd", 4);
	heard(VFU_REGION_WRITE, VFU_REPLY);
	heard(VFU_DMA_WRITE, VFU_COMMAND);
	heard(VFU_DMA_MAP, VFU_REPLY);
	heard(VFU_REGION_WRITE, VFU_REPLY);
	heard(VFU_DMA_READ, VFU_COMMAND);
	heard(VFU_REGION_WRITE, VFU_REPLY);
	heard(VFU_DMA_UNMAP, VFU_REPLY);
	assert_false(got(p));
	assert_false(dma_read(0, p->data, 1));
	assert_true(dma_read(PAGE, p->data, 1));
	peer_close(p);
	close(fd);
}

/*
 * A client that answers one thing at a time, and waits for a read itself, is helped: at once when nothing came before the read,
 * and before what did when it does not answer.
 */
static void reads_meanwhile(void **state)
{
	struct vfu_region_access a = { .offset = 0x90, .count = 1 };

	peer_open(p, NULL);
	assert_int_equal(map(p, 0, PAGE, RW, -1, 0), 0);
	p->fn->bell = bell_reads;
	p->fn->bar[0x90] = 'o';
	put_write(FAKE_DOORBELL, 1);
	put(p, VFU_REGION_READ, 0, &a, sizeof(a));
	reply_write(1, 16);
	put_write(0x90, 'n');
	put(p, VFU_REGION_READ, 0, &a, sizeof(a));
	put(p, VFU_RESET, 0, NULL, 0);
	run(p);
	assert_int_equal(p->fn->bar[0x40], 0);
	heard(VFU_REGION_WRITE, VFU_REPLY);
	heard(VFU_DMA_WRITE, VFU_COMMAND);
	heard(VFU_REGION_READ, VFU_REPLY);
	assert_int_equal(p->data[16], 'o');
	heard(VFU_DMA_READ, VFU_COMMAND);
	heard(VFU_REGION_WRITE, VFU_REPLY);
	heard(VFU_REGION_READ, VFU_REPLY);
	assert_int_equal(p->data[16], 'o');
	heard(VFU_RESET, VFU_REPLY);
	assert_false(got(p));
	assert_int_equal(p->fn->bar[0x90], 'n');
	assert_int_equal(p->fn->resets, 1);
	/* What is wrong is refused as ever. */
	reply(2, VFU_DMA_READ, VFU_ERROR, NULL, 0);
	run(p);
	put_write(FAKE_DOORBELL, 1);
	put_write(PCI_BAR0_SIZE, 1);
	put(p, VFU_WRITE_MULTI, 0, NULL, 0);
	put(p, 99, 0, NULL, 0);
	reply_read(3, 0, "abcd", false);
	run(p);
	heard(VFU_REGION_WRITE, VFU_REPLY);
	heard(VFU_DMA_READ, VFU_COMMAND);
	heard(VFU_REGION_WRITE, VFU_REPLY | VFU_ERROR);
	heard(VFU_WRITE_MULTI, VFU_REPLY | VFU_ERROR);
	heard(99, VFU_REPLY | VFU_ERROR);
	assert_int_equal(p->fn->bar[0x40], 1);
	peer_close(p);
}

/* A write that waited tells when it came, all of its parts the same; the clock has gone on. */
static uint64_t bells_at[4];
static unsigned int n_bells;

static void slow_bell(struct pci *fn)
{
	uint64_t before = fn->ops.now(fn->host);
	char buf[4];

	assert_true(before == fake_now && n_bells < 4);
	bells_at[n_bells++] = fn->written_at;
	dma_read(0, buf, 4);
	fake_now += 500;
	assert_int_equal(fn->ops.now(fn->host), before + 500);
}

static void arrival_meanwhile(void **state)
{
	uint64_t start = fake_now;
	struct {
		uint64_t n;
		struct vfu_small_write w[2];
	} m = { .n = 2 };

	peer_open(p, NULL);
	assert_int_equal(map(p, 0, PAGE, RW, -1, 0), 0);
	for (int i = 0; i < 2; i++)
		m.w[i] = (struct vfu_small_write){ .offset = FAKE_DOORBELL, .count = 1 };
	p->fn->bell = slow_bell;
	n_bells = 0;
	put_write(FAKE_DOORBELL, 1);
	reply_write(1, 16);
	put_write(FAKE_DOORBELL, 1);
	put(p, VFU_WRITE_MULTI, 0, &m, sizeof(m));
	reply_read(2, 0, "abcd", false);
	run(p);
	assert_int_equal(n_bells, 4);
	assert_int_equal(fake_now, start + 2000);
	for (int i = 0; i < 4; i++)
		assert_int_equal(bells_at[i], start);
	/* One that does not wait comes now. */
	n_bells = 0;
	put_write(FAKE_DOORBELL, 1);
	run(p);
	assert_int_equal(bells_at[0], start + 2000);
	peer_close(p);
}

static uint64_t real_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* A client that is not understood, while the device asks for memory outside of its commands, is hung up on with nothing else to do. */
static void nonsense_meanwhile(void **state)
{
	struct vfu_header nonsense = { .size = 1 };
	uint64_t before;
	char buf[4];

	peer_open(p, NULL);
	assert_int_equal(map(p, 0, PAGE, RW, -1, 0), 0);
	put_raw(p, &nonsense, sizeof(nonsense));
	assert_false(dma_read(0, buf, 4));
	assert_true(vfu_attached(p->v));
	before = real_ms();
	assert_true(vfu_step(p->v, 2000));
	assert_true(real_ms() - before < 1500);
	assert_false(vfu_attached(p->v));
	/* Then it waits as before. */
	before = real_ms();
	assert_true(vfu_step(p->v, 50));
	assert_true(real_ms() - before >= 49);
	peer_close(p);
}

/* Windows that go while their memory is asked for; the rest of the access is refused. */
static void unmapped_meanwhile(void **state)
{
	struct vfu_dma_unmap un = { .argsz = sizeof(un), .address = PAGE, .size = PAGE };
	char buf[2 * 4096];

	peer_open(p, NULL);
	assert_int_equal(map(p, 0, PAGE, RW, -1, 0), 0);
	assert_int_equal(map(p, PAGE, PAGE, RW, -1, 0), 0);
	reply_write(1, 16);
	put(p, VFU_DMA_UNMAP, 0, &un, sizeof(un));
	reply_read(2, 4092, "abcd", false);
	assert_false(dma_read(4092, buf, 8));
	assert_memory_equal(buf, "abcd", 4);
	heard(VFU_DMA_WRITE, VFU_COMMAND);
	heard(VFU_DMA_READ, VFU_COMMAND);
	heard(VFU_DMA_UNMAP, VFU_REPLY);
	assert_false(got(p));
	peer_close(p);
}

/* A bounded number of them, of bytes and of descriptors. */
static void too_much_meanwhile(void **state)
{
	int fds[16];
	unsigned int before;

	for (int i = 0; i < 16; i++)
		fds[i] = STDERR_FILENO;
	peer_open(p, NULL);
	before = open_fds();
	assert_int_equal(map(p, 0, PAGE, RW, -1, 0), 0);
	p->fn->bell = bell_reads;
	put_write(FAKE_DOORBELL, 1);
	for (int i = 0; i < 5; i++)
		put_fds(p, VFU_RESET, NULL, 0, fds, 16);
	reply_write(1, 16);
	reply_read(2, 0, "abcd", false);
	run(p);
	assert_int_equal(p->fn->bar[0x40], 0);
	assert_false(vfu_attached(p->v));
	assert_int_equal(open_fds(), before - 1);
	peer_close(p);
}

static void no_memory(void **state)
{
	int fd = memory_file(64 * PAGE, true);
	unsigned int before;

	peer_open(p, NULL);
	before = open_fds();
	fail_allocation = 1;
	assert_int_equal(map(p, 0, PAGE, RW, fd, 0), ENOMEM);
	for (uint64_t i = 0; i < 32; i++)
		assert_int_equal(map(p, i * PAGE, PAGE, RW, i ? fd : -1, 0), 0);
	fail_allocation = 1;
	assert_int_equal(map(p, 32 * PAGE, PAGE, RW, fd, 0), ENOMEM);
	assert_int_equal(map(p, 32 * PAGE, PAGE, RW, fd, 0), 0);
	assert_int_equal(open_fds(), before);
	/* No room for a command that comes while the device waits: it hangs up. */
	p->fn->bell = bell_reads;
	put_write(FAKE_DOORBELL, 1);
	put(p, VFU_RESET, 0, NULL, 0);
	fail_allocation = 1;
	run(p);
	assert_false(vfu_attached(p->v));
	assert_int_equal(fail_allocation, 0);
	peer_close(p);
	close(fd);
}

/* Who takes no replies is not waited for twice. */
static void deaf(void **state)
{
	struct vfu_region_access a = { .offset = PCI_UAR_OFFSET, .count = VFU_XFER_MAX };
	char buf[4];

	peer_open(p, NULL);
	assert_int_equal(map(p, 0, PAGE, RW, -1, 0), 0);
	put(p, VFU_REGION_READ, 0, &a, sizeof(a));
	assert_true(vfu_step(p->v, 0));
	assert_false(dma_read(0, buf, 4));
	assert_false(dma_read(0, buf, 4));
	for (int i = 0; i < 100; i++) {
		while (recv(p->fd, p->data, sizeof(p->data), 0) > 0)
			;
		assert_true(vfu_step(p->v, 0));
	}
	reply_write(1, 16);
	reply_read(2, 0, "abcd", false);
	assert_true(dma_read(0, buf, 4));
	peer_close(p);
}

static void hang_up_meanwhile(void **state)
{
	peer_open(p, NULL);
	assert_int_equal(map(p, 0, PAGE, RW, -1, 0), 0);
	p->fn->bell = bell_reads;
	put_write(FAKE_DOORBELL, 1);
	put(p, VFU_RESET, 0, NULL, 0);
	reply_write(1, 16);
	close(p->fd);
	p->fd = -1;
	run(p);
	assert_false(vfu_attached(p->v));
	assert_int_equal(p->fn->bar[0x40], 0);
	assert_int_equal(p->fn->resets, 1); /* its own was never executed */
	peer_close(p);
}

/* No more in one message than the client takes. */
static void pieces(void **state)
{
	static const char *const parts[] = { "abcd", "efgh", "ij" };
	char buf[11] = "";

	peer_open(p, NULL);
	close(p->fd);
	run(p);
	peer_connect(p);
	greet(p, "{\"capabilities\":{\"max_data_xfer_size\":4}}");
	assert_int_equal(map(p, 0, PAGE, RW, -1, 0), 0);
	reply_write(1, 16);
	for (uint16_t i = 0; i < 3; i++)
		reply_read((uint16_t)(2 + i), 0x20 + i * 4u, parts[i], false);
	for (uint16_t i = 5; i < 8; i++)
		reply_write(i, 16);
	assert_true(dma_read(0x20, buf, 10));
	assert_string_equal(buf, "abcdefghij");
	assert_true(dma_write(0x40, buf, 10));
	for (int i = 0; i < 7; i++)
		assert_true(got(p));
	assert_int_equal(p->dma.address, 0x48);
	assert_int_equal(p->dma.count, 2);
	assert_memory_equal(p->data + 16, "ij", 2);
	peer_close(p);
}

const struct CMUnitTest vfu_dma_message_tests[] = {
	cmocka_unit_test(by_message), cmocka_unit_test(short_layout), cmocka_unit_test(wrong_answers),
	cmocka_unit_test(silence), cmocka_unit_test(commands_meanwhile), cmocka_unit_test(reads_meanwhile),
	cmocka_unit_test(unmapped_meanwhile), cmocka_unit_test(too_much_meanwhile), cmocka_unit_test(hang_up_meanwhile),
	cmocka_unit_test(pieces), cmocka_unit_test(no_memory), cmocka_unit_test(deaf),
	cmocka_unit_test(arrival_meanwhile), cmocka_unit_test(nonsense_meanwhile),
};
const size_t vfu_n_dma_message_tests = sizeof(vfu_dma_message_tests) / sizeof(vfu_dma_message_tests[0]);
