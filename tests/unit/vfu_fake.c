/* SPDX-License-Identifier: BSD-2-Clause */
#include "vfu_fake.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

uint64_t fake_now = 1000;
unsigned int fake_alive;

/* The allocation that fails, counted from 1 on; 0: none. */
unsigned int fail_allocation;

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_reallocarray(void *p, size_t n, size_t size);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_reallocarray(void *p, size_t n, size_t size);

static bool fails(void)
{
	if (!fail_allocation || --fail_allocation)
		return false;
	errno = ENOMEM;
	return true;
}

void *__wrap_malloc(size_t n)
{
	return fails() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_reallocarray(void *p, size_t n, size_t size)
{
	return fails() ? NULL : __real_reallocarray(p, n, size);
}

struct pci *pci_new(const struct pci_config *config, const struct pci_host *ops, void *host)
{
	struct pci *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->config = *config;
	p->ops = *ops;
	p->host = host;
	p->next = HCA_NEVER;
	fake_alive++;
	return p;
}

void pci_free(struct pci *p)
{
	fake_alive--;
	free(p);
}

static uint8_t *place(struct pci *p, uint32_t region, uint64_t offset, size_t len)
{
	uint64_t size = region == PCI_BAR0 ? PCI_BAR0_SIZE : region == PCI_CONFIG ? PCI_CONFIG_SIZE : 0;

	assert_true(len && offset < size && len <= size - offset); /* the server asks for nothing else */
	if (region == PCI_CONFIG)
		return p->space + offset;
	if (offset >= PCI_UAR_OFFSET)
		return p->config.uars + (offset - PCI_UAR_OFFSET);
	return offset + len <= FAKE_BAR ? p->bar + offset : NULL;
}

bool pci_read(struct pci *p, uint32_t region, uint64_t offset, void *dst, size_t len, uint64_t now)
{
	const uint8_t *at = place(p, region, offset, len);

	assert_int_equal(now, fake_now);
	if (at)
		memcpy(dst, at, len);
	return at;
}

bool pci_write(struct pci *p, uint32_t region, uint64_t offset, const void *src, size_t len, uint64_t when)
{
	uint8_t *at = place(p, region, offset, len);

	p->writes++;
	p->written_at = when;
	if (at)
		memcpy(at, src, len);
	if (p->bell && region == PCI_BAR0 && offset == FAKE_DOORBELL)
		p->bell(p);
	return at;
}

void pci_reset(struct pci *p, uint64_t now)
{
	p->resets++;
	p->next = HCA_NEVER;
	p->ops.reset(p->host);
}

uint64_t pci_next(struct pci *p)
{
	return p->next;
}

void pci_due(struct pci *p, uint64_t now)
{
	p->n_due++;
	p->due_at = now;
	p->next = HCA_NEVER;
}

bool pci_control(struct pci *p, const char *line, char *reply, size_t len, uint64_t now)
{
	snprintf(reply, len, "ok %s", line);
	return true;
}

static uint64_t clock_now(void)
{
	return fake_now;
}

static int connect_pair(struct vfu *v)
{
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0);
	assert_true(vfu_attach(v, fds[0]));
	return fds[1];
}

void peer_connect(struct peer *p)
{
	p->fd = connect_pair(p->v);
	p->n_fds = 0;
}

void peer_open(struct peer *p, const struct vfu_config *config)
{
	struct vfu_config c = config ? *config : (struct vfu_config){ 0 };

	memset(p, 0, offsetof(struct peer, data));
	signal(SIGPIPE, SIG_IGN);
	c.now = clock_now;
	p->v = vfu_new(&c);
	assert_non_null(p->v);
	p->fn = vfu_function(p->v);
	p->n_fds = 0;
	peer_connect(p);
	greet(p, NULL);
}

static void drop_fds(struct peer *p)
{
	while (p->n_fds)
		close(p->fds[--p->n_fds]);
}

void peer_close(struct peer *p)
{
	drop_fds(p);
	if (p->fd >= 0)
		close(p->fd);
	vfu_free(p->v);
}

void put_raw(struct peer *p, const void *bytes, size_t len)
{
	assert_int_equal(send(p->fd, bytes, len, MSG_NOSIGNAL), len);
}

void put_fds(struct peer *p, unsigned int command, const void *payload, size_t len, const int *fds, unsigned int n_fds)
{
	struct vfu_header h = { .id = ++p->id, .command = (uint16_t)command, .size = (uint32_t)(sizeof(h) + len) };
	struct iovec iov[] = { { &h, sizeof(h) }, { (void *)payload, len } };
	char control[CMSG_SPACE(300 * sizeof(int))] __attribute__((aligned(8)));
	struct msghdr mh = { .msg_iov = iov, .msg_iovlen = 2 };

	if (n_fds) {
		struct cmsghdr *c;

		memset(control, 0, sizeof(control));
		mh.msg_control = control;
		mh.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
		c = CMSG_FIRSTHDR(&mh);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(n_fds * sizeof(int));
		memcpy(CMSG_DATA(c), fds, n_fds * sizeof(int));
	}
	assert_int_equal(sendmsg(p->fd, &mh, MSG_NOSIGNAL), h.size);
}

void put(struct peer *p, unsigned int command, uint32_t flags, const void *payload, size_t len)
{
	struct vfu_header h = { .id = ++p->id, .command = (uint16_t)command, .size = (uint32_t)(sizeof(h) + len), .flags = flags };

	struct iovec iov[] = { { &h, sizeof(h) }, { (void *)payload, len } };
	struct msghdr mh = { .msg_iov = iov, .msg_iovlen = len ? 2 : 1 };

	assert_int_equal(sendmsg(p->fd, &mh, MSG_NOSIGNAL), h.size);
}

void run(struct peer *p)
{
	for (int i = 0; i < 20; i++)
		assert_true(vfu_step(p->v, 0));
}

bool got(struct peer *p)
{
	char control[CMSG_SPACE(VFU_FDS_MAX * sizeof(int))] __attribute__((aligned(8)));
	struct iovec iov = { &p->h, sizeof(p->h) };
	struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control) };
	ssize_t n = recvmsg(p->fd, &mh, MSG_CMSG_CLOEXEC);

	drop_fds(p);
	if (n <= 0)
		return false;
	assert_int_equal(n, sizeof(p->h));
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&mh); c; c = CMSG_NXTHDR(&mh, c)) {
		p->n_fds = (unsigned int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		memcpy(p->fds, CMSG_DATA(c), p->n_fds * sizeof(int));
	}
	p->len = p->h.size - sizeof(p->h);
	assert_true(p->len <= sizeof(p->data));
	for (size_t at = 0, tries = 0; at < p->len; at += n > 0 ? (size_t)n : 0) {
		n = recv(p->fd, p->data + at, p->len - at, 0);
		if (n <= 0) { /* there was no room for all of it yet */
			assert_true(vfu_step(p->v, 0));
			assert_true(++tries < 10000);
		}
	}
	return true;
}

static int result(struct peer *p, unsigned int command)
{
	run(p);
	assert_true(got(p));
	assert_int_equal(p->h.id, p->id);
	assert_int_equal(p->h.command, command);
	if (p->h.flags == VFU_REPLY) {
		assert_int_equal(p->h.error, 0);
		return 0;
	}
	assert_int_equal(p->h.flags, VFU_REPLY | VFU_ERROR);
	assert_int_equal(p->len, 0);
	assert_int_equal(p->n_fds, 0);
	assert_int_not_equal(p->h.error, 0);
	return (int)p->h.error;
}

int call(struct peer *p, unsigned int command, const void *payload, size_t len)
{
	put(p, command, 0, payload, len);
	return result(p, command);
}

int call_longer(struct peer *p, unsigned int command, const void *payload, size_t len)
{
	uint8_t m[128] = { 0 };

	assert_true(len < sizeof(m));
	memcpy(m, payload, len);
	return call(p, command, m, len + 1);
}

int call_fds(struct peer *p, unsigned int command, const void *payload, size_t len, const int *fds, unsigned int n_fds)
{
	put_fds(p, command, payload, len, fds, n_fds);
	return result(p, command);
}

void greet(struct peer *p, const char *json)
{
	char hello[512] = { 0 };
	size_t len = json ? strlen(json) + 1 : 0;

	if (json)
		memcpy(hello + 4, json, len);
	assert_int_equal(call(p, VFU_VERSION, hello, 4 + len), 0);
}

int map(struct peer *p, uint64_t address, uint64_t size, uint32_t flags, int fd, uint64_t offset)
{
	struct vfu_dma_map m = { .argsz = sizeof(m), .flags = flags, .offset = offset, .address = address, .size = size };

	return call_fds(p, VFU_DMA_MAP, &m, sizeof(m), &fd, fd >= 0);
}

int unmap(struct peer *p, uint64_t address, uint64_t size)
{
	struct vfu_dma_unmap m = { .argsz = sizeof(m), .address = address, .size = size };

	return CALL(p, VFU_DMA_UNMAP, &m);
}

int reg_read(struct peer *p, uint32_t region, uint64_t offset, uint32_t count)
{
	struct vfu_region_access a = { .offset = offset, .region = region, .count = count };

	return CALL(p, VFU_REGION_READ, &a);
}

int reg_write(struct peer *p, uint32_t region, uint64_t offset, const void *data, uint32_t count)
{
	uint8_t m[sizeof(struct vfu_region_access) + 64];
	struct vfu_region_access a = { .offset = offset, .region = region, .count = count };

	assert_true(count <= 64);
	memcpy(m, &a, sizeof(a));
	memcpy(m + sizeof(a), data, count);
	return call(p, VFU_REGION_WRITE, m, sizeof(a) + count);
}

unsigned int open_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned int n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

int memory_file(uint64_t size, bool sealed)
{
	int fd = memfd_create("guest", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	if (sealed)
		assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
	return fd;
}
