/* SPDX-License-Identifier: BSD-2-Clause */
/* Interrupts. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "vfu_fake.h"

#define FD_TRIGGER (VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER)
#define NONE_TRIGGER (VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_TRIGGER)
#define BOOL_TRIGGER (VFIO_IRQ_SET_DATA_BOOL | VFIO_IRQ_SET_ACTION_TRIGGER)
#define MSIX VFIO_PCI_MSIX_IRQ_INDEX

static struct peer peer, *const p = &peer;

static int set(uint32_t flags, uint32_t index, uint32_t start, uint32_t count, const int *fds, unsigned int n_fds)
{
	const uint32_t m[] = { 20, flags, index, start, count };

	return call_fds(p, VFU_SET_IRQS, m, sizeof(m), fds, n_fds);
}

static uint64_t raised(int fd)
{
	uint64_t n = 0;

	return read(fd, &n, sizeof(n)) == sizeof(n) ? n : 0;
}

static void fire(uint32_t vector)
{
	p->fn->ops.msix(p->fn->host, vector);
}

static void irq_info(void **state)
{
	struct vfio_irq_info q = { .argsz = sizeof(q), .index = MSIX };

	peer_open(p, NULL);
	assert_int_equal(CALL(p, VFU_GET_IRQ_INFO, &q), 0);
	assert_int_equal(p->len, sizeof(q));
	assert_int_equal(p->irq.count, PCI_VECTORS);
	assert_int_equal(p->irq.flags, VFIO_IRQ_INFO_EVENTFD | VFIO_IRQ_INFO_NORESIZE);
	for (q.index = 0; q.index < 5; q.index++) {
		assert_int_equal(CALL(p, VFU_GET_IRQ_INFO, &q), 0);
		assert_int_equal(p->irq.count, q.index == MSIX ? PCI_VECTORS : 0);
		assert_int_equal(p->irq.argsz, sizeof(q));
	}
	assert_int_equal(CALL(p, VFU_GET_IRQ_INFO, &q), EINVAL);
	q.index = MSIX;
	assert_int_equal(call(p, VFU_GET_IRQ_INFO, &q, sizeof(q) - 1), EINVAL);
	assert_int_equal(call_longer(p, VFU_GET_IRQ_INFO, &q, sizeof(q)), EINVAL);
	q.argsz--;
	assert_int_equal(CALL(p, VFU_GET_IRQ_INFO, &q), EINVAL);
	peer_close(p);
}

static void raise_and_replace(void **state)
{
	int a[3], b = eventfd(0, EFD_NONBLOCK);
	unsigned int before;

	for (int i = 0; i < 3; i++)
		a[i] = eventfd(0, EFD_NONBLOCK);
	peer_open(p, NULL);
	before = open_fds();
	assert_int_equal(set(FD_TRIGGER, MSIX, 4, 3, a, 3), 0);
	assert_int_equal(open_fds(), before + 3);
	fire(4);
	fire(6);
	fire(6);
	assert_int_equal(raised(a[0]), 1);
	assert_int_equal(raised(a[1]), 0);
	assert_int_equal(raised(a[2]), 2);
	assert_int_equal(set(FD_TRIGGER, MSIX, 6, 1, &b, 1), 0);
	assert_int_equal(open_fds(), before + 3);
	fire(6);
	assert_int_equal(raised(a[2]), 0);
	assert_int_equal(raised(b), 1);
	/* One goes away; then all. */
	assert_int_equal(set(FD_TRIGGER, MSIX, 4, 1, NULL, 0), 0);
	assert_int_equal(open_fds(), before + 2);
	fire(4);
	assert_int_equal(raised(a[0]), 0);
	assert_int_equal(set(NONE_TRIGGER, MSIX, 0, 0, NULL, 0), 0);
	assert_int_equal(open_fds(), before);
	fire(PCI_VECTORS); /* no such vector */
	fire(UINT32_MAX);
	peer_close(p);
	for (int i = 0; i < 3; i++)
		close(a[i]);
	close(b);
}

/* What was raised without a descriptor comes with it, once, and not to the next client. */
static void pending(void **state)
{
	int fd = eventfd(0, EFD_NONBLOCK);

	peer_open(p, NULL);
	fire(31);
	fire(31);
	assert_int_equal(set(FD_TRIGGER, MSIX, 30, 1, &fd, 1), 0);
	assert_int_equal(raised(fd), 0);
	assert_int_equal(set(FD_TRIGGER, MSIX, 31, 1, &fd, 1), 0);
	assert_int_equal(raised(fd), 1);
	assert_int_equal(set(FD_TRIGGER, MSIX, 31, 1, &fd, 1), 0);
	assert_int_equal(raised(fd), 0);
	assert_int_equal(set(NONE_TRIGGER, MSIX, 0, 0, NULL, 0), 0);
	fire(0);
	fire(1);
	assert_int_equal(set(FD_TRIGGER, MSIX, 0, 1, &fd, 1), 0);
	assert_int_equal(raised(fd), 1);
	assert_int_equal(call(p, VFU_RESET, NULL, 0), 0);
	assert_int_equal(set(FD_TRIGGER, MSIX, 1, 1, &fd, 1), 0);
	assert_int_equal(raised(fd), 0);
	fire(2);
	close(p->fd);
	run(p);
	peer_connect(p);
	greet(p, NULL);
	fire(0);
	assert_int_equal(raised(fd), 0); /* gone with its client */
	assert_int_equal(set(FD_TRIGGER, MSIX, 2, 1, &fd, 1), 0);
	assert_int_equal(raised(fd), 0);
	peer_close(p);
	close(fd);
}

/* A reset that the function does by itself, or that a control line asks for. */
static void nothing_is_pending_after_a_reset(void **state)
{
	int fd = eventfd(0, EFD_NONBLOCK), other = eventfd(0, EFD_NONBLOCK);

	peer_open(p, NULL);
	assert_int_equal(set(FD_TRIGGER, MSIX, 4, 1, &other, 1), 0);
	fire(5);
	pci_reset(p->fn, fake_now);
	assert_int_equal(set(FD_TRIGGER, MSIX, 5, 1, &fd, 1), 0);
	assert_int_equal(raised(fd), 0);
	fire(4); /* descriptors stay */
	fire(5);
	assert_int_equal(raised(other), 1);
	assert_int_equal(raised(fd), 1);
	peer_close(p);
	close(fd);
	close(other);
}

static void by_the_client(void **state)
{
	const struct {
		uint32_t m[5];
		uint8_t on[4];
	} some = { { 24, BOOL_TRIGGER, MSIX, 0, 4 }, { 0, 1, 0, 2 } };
	int fds[4];

	for (int i = 0; i < 4; i++)
		fds[i] = eventfd(0, EFD_NONBLOCK);
	peer_open(p, NULL);
	assert_int_equal(set(FD_TRIGGER, MSIX, 0, 4, fds, 4), 0);
	assert_int_equal(set(NONE_TRIGGER, MSIX, 2, 2, NULL, 0), 0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(raised(fds[i]), i >= 2);
	assert_int_equal(CALL(p, VFU_SET_IRQS, &some), 0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(raised(fds[i]), i % 2);
	assert_int_equal(call(p, VFU_SET_IRQS, &some, 23), EINVAL);
	peer_close(p);
	for (int i = 0; i < 4; i++)
		close(fds[i]);
}

static void refused(void **state)
{
	const uint32_t mask = VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_MASK, small[] = { 19, NONE_TRIGGER, MSIX, 0, 0 };
	int fd = eventfd(0, EFD_NONBLOCK), fds[] = { fd, fd, fd };
	unsigned int before;

	peer_open(p, NULL);
	before = open_fds();
	assert_int_equal(set(FD_TRIGGER, MSIX, 0, PCI_VECTORS + 1, NULL, 0), EINVAL);
	assert_int_equal(set(FD_TRIGGER, MSIX, PCI_VECTORS, 1, &fd, 1), EINVAL);
	assert_int_equal(set(FD_TRIGGER, MSIX, PCI_VECTORS - 1, 2, fds, 2), EINVAL);
	assert_int_equal(set(FD_TRIGGER, MSIX, UINT32_MAX, 2, fds, 2), EINVAL);
	assert_int_equal(set(FD_TRIGGER, MSIX, 1, UINT32_MAX, NULL, 0), EINVAL);
	assert_int_equal(set(FD_TRIGGER, MSIX, 0, 2, fds, 3), EINVAL);
	assert_int_equal(set(FD_TRIGGER, MSIX, 0, 3, fds, 2), EINVAL);
	assert_int_equal(set(FD_TRIGGER, MSIX, 0, 0, NULL, 0), EINVAL);
	assert_int_equal(set(BOOL_TRIGGER, MSIX, 0, 0, NULL, 0), EINVAL);
	assert_int_equal(set(NONE_TRIGGER, MSIX, 1, 0, NULL, 0), EINVAL);
	assert_int_equal(set(NONE_TRIGGER, MSIX, 0, 1, &fd, 1), EINVAL);
	assert_int_equal(set(FD_TRIGGER, 0, 0, 1, &fd, 1), EINVAL);
	assert_int_equal(set(FD_TRIGGER, 5, 0, 1, &fd, 1), EINVAL);
	assert_int_equal(set(NONE_TRIGGER, 5, 0, 0, NULL, 0), EINVAL);
	assert_int_equal(set(NONE_TRIGGER, VFIO_PCI_INTX_IRQ_INDEX, 0, 0, NULL, 0), 0); /* none is off already */
	assert_int_equal(set(0, MSIX, 0, 0, NULL, 0), EINVAL);
	assert_int_equal(set(VFIO_IRQ_SET_DATA_NONE, MSIX, 0, 0, NULL, 0), EINVAL);
	assert_int_equal(set(VFIO_IRQ_SET_ACTION_TRIGGER, MSIX, 0, 0, NULL, 0), EINVAL);
	assert_int_equal(set(NONE_TRIGGER | VFIO_IRQ_SET_DATA_BOOL, MSIX, 0, 0, NULL, 0), EINVAL);
	assert_int_equal(set(NONE_TRIGGER | VFIO_IRQ_SET_ACTION_MASK, MSIX, 0, 0, NULL, 0), EINVAL);
	assert_int_equal(set(NONE_TRIGGER | 64, MSIX, 0, 0, NULL, 0), EINVAL);
	assert_int_equal(set(mask, MSIX, 0, 1, NULL, 0), ENOTSUP);
	assert_int_equal(call(p, VFU_SET_IRQS, small, sizeof(small)), EINVAL);
	assert_int_equal(call(p, VFU_SET_IRQS, small, 19), EINVAL);
	assert_int_equal(call(p, VFU_SET_IRQS, small, 0), EINVAL);
	assert_int_equal(open_fds(), before);
	fire(0);
	assert_int_equal(raised(fd), 0);
	peer_close(p);
	close(fd);
}

/* Nothing that stands behind a descriptor stops the device. */
static void stubborn_descriptors(void **state)
{
	const uint64_t full = UINT64_MAX - 1;
	int blocking = eventfd(0, 0), pipes[2];
	int others[] = { open("/dev/null", O_RDONLY), open("/dev/null", O_RDWR), memory_file(4096, false) };
	unsigned int before;

	peer_open(p, NULL);
	assert_int_equal(write(blocking, &full, sizeof(full)), sizeof(full));
	assert_int_equal(set(FD_TRIGGER, MSIX, 0, 1, &blocking, 1), 0);
	fire(0);
	assert_int_equal(raised(blocking), full);
	/* The flag is the client's as well. */
	assert_int_equal(fcntl(blocking, F_SETFL, 0), 0);
	assert_int_equal(write(blocking, &full, sizeof(full)), sizeof(full));
	alarm(10);
	fire(0);
	alarm(0);
	assert_int_equal(raised(blocking), full);
	/* No eventfds. */
	assert_int_equal(pipe(pipes), 0);
	before = open_fds();
	for (int i = 0; i < 2; i++)
		assert_int_equal(set(FD_TRIGGER, MSIX, 1, 1, &pipes[i], 1), EBADF);
	for (int i = 0; i < 3; i++)
		assert_int_equal(set(FD_TRIGGER, MSIX, 2, 1, &others[i], 1), EBADF);
	assert_int_equal(open_fds(), before);
	peer_close(p);
	close(blocking);
	for (int i = 0; i < 2; i++)
		close(pipes[i]);
	for (int i = 0; i < 3; i++)
		close(others[i]);
}

const struct CMUnitTest vfu_irq_tests[] = {
	cmocka_unit_test(irq_info), cmocka_unit_test(raise_and_replace), cmocka_unit_test(pending),
	cmocka_unit_test(nothing_is_pending_after_a_reset), cmocka_unit_test(by_the_client),
	cmocka_unit_test(refused), cmocka_unit_test(stubborn_descriptors),
};
const size_t vfu_n_irq_tests = sizeof(vfu_irq_tests) / sizeof(vfu_irq_tests[0]);
