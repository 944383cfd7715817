/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The vfio-user server, with the function and the model behind it, over a socket pair. The input is what a client does: messages,
 * well formed or not, with descriptors; replies to the server's own; memory files that are cut; time; hanging up and coming again.
 * Checked: each command is answered once, unless the server hung up; what the server says is well formed; no descriptor
 * stays behind. The server is made once; a client that leaves takes all its traces with it.
 */
#include <fcntl.h>
#include <linux/memfd.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz.h"
#include "pci.h"
#include "proto.h"
#include "vfu.h"

#define PAGE UINT64_C(4096)
#define GUEST (16 * PAGE)
#define STEPS_MAX 48
#define AWAITED 4096u
/* Above all descriptors of ours: the server's begin here, and none may be left in the end. */
enum { F_EVENT, F_SEALED, F_PLAIN, F_NULL, F_SOCKET, F_N };

struct reader {
	const uint8_t *p;
	size_t left;
};

static struct {
	struct vfu *v;
	int fds[F_N];
	uint8_t *guest; /* the sealed file */
	bool dirty;     /* somebody may have written there */
	uint64_t now;
	int first_free;
} world;

/* One execution. */
struct client {
	struct reader in;
	int fd;
	uint16_t id, awaited_id[AWAITED], awaited_command[AWAITED];
	unsigned int asked, answered;
	bool framed; /* all that was sent so far were whole messages */
	uint8_t buf[1 << 16];
	uint8_t out[1 << 15]; /* not sent yet */
	size_t out_len;
	size_t have, skip; /* skip: of a message that is too long for buf */
	uint16_t dma_id; /* of the server's last command */
	uint64_t dma_address;
};

static uint64_t clock_now(void)
{
	return world.now;
}

static int memory_file(unsigned int seals)
{
	int fd = memfd_create("guest", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	FUZZ_CHECK(fd >= 0 && !ftruncate(fd, GUEST) && !fcntl(fd, F_ADD_SEALS, seals));
	return fd;
}

static void make_world(void)
{
	const struct vfu_config config = { .hca = { .profile = HCA_CX6DX, .timeout = 1000000, .seed = 1, .guid = 1 }, .now = clock_now };
	int pair[2];

	signal(SIGPIPE, SIG_IGN);
	world.fds[F_EVENT] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	world.fds[F_SEALED] = memory_file(F_SEAL_SHRINK);
	world.fds[F_PLAIN] = memory_file(0);
	world.fds[F_NULL] = open("/dev/null", O_RDWR | O_CLOEXEC);
	FUZZ_CHECK(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
	world.fds[F_SOCKET] = pair[0];
	world.guest = mmap(NULL, GUEST, PROT_READ | PROT_WRITE, MAP_SHARED, world.fds[F_SEALED], 0);
	FUZZ_CHECK(world.guest != MAP_FAILED);
	world.now = 1;
	world.v = vfu_new(&config);
	FUZZ_CHECK(world.v);
}

static int free_descriptor(void)
{
	int fd = dup(STDIN_FILENO);

	FUZZ_CHECK(fd >= 0);
	close(fd);
	return fd;
}

static uint64_t take(struct client *c, unsigned int bytes)
{
	uint64_t v = 0;

	while (bytes-- && c->in.left) {
		v = v << 8 | *c->in.p++;
		c->in.left--;
	}
	return v;
}

/* Numbers that mean something here, or any. */
static uint64_t number(struct client *c)
{
	static const uint64_t some[] = {
		0, 1, 2, 3, 4, 8, 16, 0x18, 32, 64, 576, PAGE, PAGE - 1, 2 * PAGE, 4 * PAGE, 8 * PAGE, GUEST, GUEST + PAGE, 0x10, 0x14,
		PCI_UAR_OFFSET, PCI_UAR_SIZE, PCI_BAR0_SIZE, PCI_BAR0_SIZE - 4, VFU_XFER_MAX, VFU_XFER_MAX + 1, VFU_MSG_MAX,
		UINT32_MAX, UINT64_MAX, UINT64_MAX - 4095, UINT64_C(1) << 63, UINT64_C(1) << 32, 0x1fc, 0x1000,
	};
	uint8_t b = (uint8_t)take(c, 1);

	if (b < 2 * sizeof(some) / sizeof(some[0]))
		return some[b / 2];
	if (b < 160)
		return take(c, 1);
	if (b < 200)
		return take(c, 1) * PAGE;
	return take(c, b < 240 ? 4 : 8);
}

static void check_message(struct client *c, const struct vfu_header *h)
{
	FUZZ_CHECK(h->size >= sizeof(*h) && h->size <= VFU_MSG_MAX);
	if ((h->flags & VFU_TYPE) == VFU_COMMAND) {
		FUZZ_CHECK((h->command == VFU_DMA_READ || h->command == VFU_DMA_WRITE) && h->size >= 32);
		c->dma_id = h->id;
	} else if (c->framed) {
		unsigned int i = c->answered; /* most come in order */

		while (i < c->asked && (h->id != c->awaited_id[i % AWAITED] || h->command != c->awaited_command[i % AWAITED]))
			i++;
		FUZZ_CHECK(i < c->asked);
		for (; i > c->answered; i--) {
			c->awaited_id[i % AWAITED] = c->awaited_id[(i - 1) % AWAITED];
			c->awaited_command[i % AWAITED] = c->awaited_command[(i - 1) % AWAITED];
		}
		FUZZ_CHECK((h->flags & ~VFU_ERROR) == VFU_REPLY && !(h->flags & VFU_ERROR) == !h->error);
		FUZZ_CHECK(!h->error || h->size == sizeof(*h));
		c->answered++;
	}
}

/* The messages that begin in buf. */
static void check_messages(struct client *c)
{
	const uint8_t *p = c->buf;
	struct vfu_header h;

	while (c->have) {
		size_t n = c->skip < c->have ? c->skip : c->have;

		p += n;
		c->have -= n;
		c->skip -= n;
		if (c->have < sizeof(h))
			break;
		memcpy(&h, p, sizeof(h));
		check_message(c, &h);
		if ((h.flags & VFU_TYPE) == VFU_COMMAND && c->have >= sizeof(h) + 8)
			memcpy(&c->dma_address, p + sizeof(h), 8);
		c->skip = h.size;
	}
	memmove(c->buf, p, c->have);
}

/* What the server says; true: so much that it may have waited to say more. */
static bool hear(struct client *c)
{
	size_t heard = 0;
	char control[CMSG_SPACE(VFU_FDS_MAX * sizeof(int))] __attribute__((aligned(8)));

	for (;;) {
		struct iovec iov = { c->buf + c->have, sizeof(c->buf) - c->have };
		struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control) };
		ssize_t n = recvmsg(c->fd, &mh, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
		struct cmsghdr *m = n > 0 ? CMSG_FIRSTHDR(&mh) : NULL;

		if (m) { /* one descriptor at most is ever sent */
			int fd;

			FUZZ_CHECK(m->cmsg_len == CMSG_LEN(sizeof(fd)));
			memcpy(&fd, CMSG_DATA(m), sizeof(fd));
			close(fd);
		}
		if (n <= 0)
			return heard > 1 << 15;
		heard += (size_t)n;
		c->have += (size_t)n;
		check_messages(c);
	}
}

static void flush(struct client *c)
{
	if (c->out_len && send(c->fd, c->out, c->out_len, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)c->out_len)
		c->framed = false; /* it hung up, or does not read */
	c->out_len = 0;
}

/* The server, until it waits. */
static void work(struct client *c)
{
	flush(c);
	do
		FUZZ_CHECK(vfu_step(world.v, 0));
	while (hear(c));
	if (c->framed && vfu_attached(world.v))
		FUZZ_CHECK(c->answered == c->asked);
}

static void send_bytes(struct client *c, const void *p, size_t len)
{
	if (c->out_len + len > sizeof(c->out))
		flush(c);
	memcpy(c->out + c->out_len, p, len);
	c->out_len += len;
}

static void send_fds(struct client *c, struct iovec *iov, uint8_t fd_word)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(20 * sizeof(int))];
	} control;
	struct msghdr mh = { .msg_iov = iov, .msg_iovlen = iov[1].iov_len ? 2 : 1, .msg_control = &control };
	unsigned int n_fds = fd_word < 200 ? 1 : fd_word < 254 ? 1 + fd_word % 4 : 18;
	int fds[20];

	world.dirty = true;
	memset(&control, 0, sizeof(control));
	for (unsigned int i = 0; i < n_fds; i++)
		fds[i] = world.fds[(fd_word + i) % F_N];
	mh.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
	control.head = (struct cmsghdr){ .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(n_fds * sizeof(int)) };
	memcpy(CMSG_DATA(&control.head), fds, n_fds * sizeof(int));
	flush(c);
	if (sendmsg(c->fd, &mh, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)(iov[0].iov_len + iov[1].iov_len))
		c->framed = false;
}

static void send_message(struct client *c, struct vfu_header *h, const uint8_t *payload, size_t len, uint8_t fd_word)
{
	if (fd_word >= 128) {
		send_fds(c, (struct iovec[]){ { h, sizeof(*h) }, { (void *)payload, len } }, fd_word);
	} else {
		send_bytes(c, h, sizeof(*h));
		send_bytes(c, payload, len);
	}
	if ((h->flags & VFU_TYPE) == VFU_COMMAND && !(h->flags & VFU_NO_REPLY)) {
		c->awaited_id[c->asked % AWAITED] = h->id;
		c->awaited_command[c->asked++ % AWAITED] = h->command;
	}
}

static void put(uint8_t *m, size_t *len, uint64_t value, unsigned int bytes)
{
	memcpy(m + *len, &value, bytes);
	*len += bytes;
}

/* The payload of a command as it should be, but for the numbers in it. */
static size_t payload(struct client *c, unsigned int command, uint8_t *m)
{
	size_t len = 0, count;

	switch (command) {
	case VFU_VERSION:
		put(m, &len, 0, 4);
		count = take(c, 1);
		for (size_t i = 0; i < count; i++)
			put(m, &len, take(c, 1), 1);
		if (count)
			put(m, &len, 0, 1);
		break;
	case VFU_DMA_MAP:
		put(m, &len, 32, 4);
		put(m, &len, take(c, 1) & 3, 4);
		for (int i = 0; i < 3; i++)
			put(m, &len, number(c), 8);
		break;
	case VFU_DMA_UNMAP:
		put(m, &len, 24, 4);
		put(m, &len, take(c, 1) & 2, 4);
		put(m, &len, number(c), 8);
		put(m, &len, number(c), 8);
		break;
	case VFU_GET_REGION_INFO:
		put(m, &len, take(c, 1), 4);
		put(m, &len, 0, 4);
		put(m, &len, take(c, 1), 8);
		put(m, &len, 0, 8);
		put(m, &len, 0, 8);
		break;
	case VFU_GET_INFO:
	case VFU_GET_IRQ_INFO:
		put(m, &len, 16, 8);
		put(m, &len, take(c, 1), 8);
		break;
	case VFU_SET_IRQS:
		put(m, &len, 20, 4);
		put(m, &len, take(c, 1), 4);
		put(m, &len, VFIO_PCI_MSIX_IRQ_INDEX, 4);
		put(m, &len, take(c, 1), 4);
		put(m, &len, take(c, 1), 4);
		break;
	case VFU_REGION_READ:
	case VFU_REGION_WRITE:
		put(m, &len, number(c), 8);
		put(m, &len, take(c, 1) & 7, 4);
		count = command == VFU_REGION_READ ? number(c) : take(c, 1) & 15;
		put(m, &len, count, 4);
		for (size_t i = 0; command == VFU_REGION_WRITE && i < count; i++)
			put(m, &len, take(c, 1), 1);
		break;
	case VFU_WRITE_MULTI:
		count = take(c, 1) & 7;
		put(m, &len, count, 8);
		for (size_t i = 0; i < count; i++) {
			put(m, &len, number(c), 8);
			put(m, &len, take(c, 1) & 7, 4);
			put(m, &len, take(c, 1) & 15, 4);
			put(m, &len, take(c, 8), 8);
		}
		break;
	default:
		break;
	}
	return len;
}

static void command(struct client *c, bool whole)
{
	uint8_t m[1024] = { 0 }, b = (uint8_t)take(c, 1);
	struct vfu_header h = { .id = ++c->id, .command = b % 20, .flags = b & 128 ? VFU_NO_REPLY : 0 };
	size_t len = payload(c, h.command, m);

	if (!whole) { /* longer or shorter, other numbers in the header */
		len = take(c, 1) * 2;
		for (size_t i = 0; i < len; i++)
			m[i] ^= (uint8_t)take(c, 1);
		h.command = (uint16_t)take(c, 1);
	}
	h.size = (uint32_t)(sizeof(h) + len);
	send_message(c, &h, m, len, (uint8_t)take(c, 1));
}

/* What the server may be waiting for, or not. */
static void reply(struct client *c)
{
	uint8_t m[sizeof(struct vfu_dma_access) + 256] = { 0 }, b = (uint8_t)take(c, 1);
	struct vfu_header h = { .id = (uint16_t)(c->dma_id + (b & 1)), .command = b & 2 ? VFU_DMA_READ : VFU_DMA_WRITE,
				.flags = VFU_REPLY };
	size_t count = take(c, 1), len = b & 4 ? 0 : 16;
	uint64_t address = b & 8 ? number(c) : c->dma_address;

	memcpy(m, &address, 8);
	memcpy(m + 8, &count, 8);
	if (b & 2 && len)
		for (size_t i = 0; i < count; i++)
			m[len++] = (uint8_t)take(c, 1);
	if (b & 16)
		h.flags |= VFU_ERROR;
	h.size = (uint32_t)(sizeof(h) + len);
	send_message(c, &h, m, len, 0);
}

static void raw(struct client *c)
{
	uint8_t m[64];
	size_t len = 1 + take(c, 1) % sizeof(m);

	for (size_t i = 0; i < len; i++)
		m[i] = (uint8_t)take(c, 1);
	c->framed = false;
	send_bytes(c, m, len);
}

static void dial(struct client *c)
{
	int pair[2];

	FUZZ_CHECK(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair));
	FUZZ_CHECK(vfu_attach(world.v, pair[0]));
	c->fd = pair[1];
	c->framed = true;
	c->asked = c->answered = 0;
	c->have = c->skip = c->out_len = 0;
}

static void hang_up(struct client *c)
{
	flush(c);
	close(c->fd);
	for (int i = 0; i < 100 && vfu_attached(world.v); i++)
		vfu_step(world.v, 0);
	FUZZ_CHECK(!vfu_attached(world.v));
}

/* The word of send_fds() for one of them. */
static uint8_t one_fd(unsigned int which)
{
	return (uint8_t)(130 - 130 % F_N + which);
}

/* A client that a driver could be behind: memory, a command queue at its start, and the right to use it. */
static void settle(struct client *c, uint8_t how)
{
	const uint32_t hello = 0, master = 6, queue[2] = { 0, 0 };
	struct vfu_dma_map map = { .argsz = sizeof(map), .flags = 3, .size = 8 * PAGE };
	struct vfu_header h = { .id = ++c->id, .command = VFU_VERSION, .size = sizeof(h) + sizeof(hello) };
	uint8_t m[32] = { 0 };

	send_message(c, &h, (const uint8_t *)&hello, sizeof(hello), 0);
	h = (struct vfu_header){ .id = ++c->id, .command = VFU_DMA_MAP, .size = sizeof(h) + sizeof(map) };
	send_message(c, &h, (const uint8_t *)&map, sizeof(map), how & 2 ? 0 : one_fd(how & 4 ? F_PLAIN : F_SEALED));
	for (int i = 0; i < 2; i++) {
		struct vfu_region_access a = { .offset = i ? 0x10 : 4, .region = i ? PCI_BAR0 : PCI_CONFIG, .count = i ? 8 : 2 };

		memcpy(m, &a, sizeof(a));
		memcpy(m + sizeof(a), i ? (const void *)queue : &master, a.count);
		h = (struct vfu_header){ .id = ++c->id, .command = VFU_REGION_WRITE, .size = (uint32_t)(sizeof(h) + sizeof(a)) + a.count };
		send_message(c, &h, m, sizeof(a) + a.count, 0);
	}
}

static void step(struct client *c)
{
	uint8_t b = (uint8_t)take(c, 1);

	if (b < 120) {
		command(c, true);
	} else if (b < 140) {
		command(c, false);
	} else if (b < 160) {
		reply(c);
	} else if (b < 166) {
		raw(c);
	} else if (b < 200) {
		size_t at = take(c, 2) % (GUEST - 16);

		world.dirty = true;
		for (int i = 0; i < 16; i++)
			world.guest[at + (size_t)i] = (uint8_t)take(c, 1);
	} else if (b < 206) {
		world.dirty = true;
		FUZZ_CHECK(!ftruncate(world.fds[F_PLAIN], (off_t)(take(c, 1) % 17 * PAGE)));
	} else if (b < 220) {
		world.now += take(c, 3);
	} else if (b < 224) {
		hang_up(c);
		dial(c);
	} else {
		work(c);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct client c;
	uint8_t how;

	if (!world.v)
		make_world();
	if (world.dirty) {
		memset(world.guest, 0, GUEST);
		FUZZ_CHECK(!ftruncate(world.fds[F_PLAIN], 0) && !ftruncate(world.fds[F_PLAIN], (off_t)GUEST));
		world.dirty = false;
	}
	world.now = 1;
	c.in = (struct reader){ data, size };
	c.id = c.dma_id = 0;
	c.dma_address = 0;
	world.first_free = free_descriptor();
	dial(&c);
	how = (uint8_t)take(&c, 1);
	if (how & 1)
		settle(&c, how);
	for (int i = 0; i < STEPS_MAX && c.in.left; i++)
		step(&c);
	work(&c);
	hang_up(&c);
	/* A fresh file for doorbell pages may have taken the place of the old. */
	FUZZ_CHECK(free_descriptor() <= world.first_free + 1);
	return 0;
}
