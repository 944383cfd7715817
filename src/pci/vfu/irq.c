/* SPDX-License-Identifier: BSD-2-Clause */
/* Interrupts: a descriptor for each MSI-X vector, written to when the device raises it. */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "server.h"

#define SET_HEAD offsetof(struct vfio_irq_set, data)
#define DATA_FLAGS ((uint32_t)VFIO_IRQ_SET_DATA_TYPE_MASK)
#define ACTION_FLAGS ((uint32_t)VFIO_IRQ_SET_ACTION_TYPE_MASK)

void vfu_irq_init(struct irqs *irqs)
{
	for (uint32_t i = 0; i < PCI_VECTORS; i++)
		irqs->fd[i] = -1;
	memset(irqs->pending, 0, sizeof(irqs->pending));
}

static void drop(struct irqs *irqs, uint32_t vector)
{
	if (irqs->fd[vector] >= 0)
		close(irqs->fd[vector]);
	irqs->fd[vector] = -1;
}

void vfu_irq_forget(struct irqs *irqs)
{
	memset(irqs->pending, 0, sizeof(irqs->pending));
}

void vfu_irq_clear(struct irqs *irqs)
{
	for (uint32_t i = 0; i < PCI_VECTORS; i++)
		drop(irqs, i);
	vfu_irq_forget(irqs);
}

/*
 * Writing must never block, but the flag is the client's too, which can clear it at any time. A flag of the single write would be
 * better, but eventfds take no RWF_NOWAIT (EOPNOTSUPP, Linux 6.18).
 */
static bool nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
		return false;
	return flags & O_NONBLOCK || !fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

/* Without a descriptor it stays pending, as a vector does that is masked. */
void vfu_irq_raise(struct irqs *irqs, uint32_t vector)
{
	const uint64_t one = 1;

	if (vector >= PCI_VECTORS)
		return;
	if (irqs->fd[vector] < 0) {
		irqs->pending[vector / 32] |= UINT32_C(1) << vector % 32;
		return;
	}
	/* EAGAIN: it is full, so the client has yet to read what it was told. Other failures are descriptors of its choice. */
	if (!nonblocking(irqs->fd[vector]) || write(irqs->fd[vector], &one, sizeof(one)) < 0)
		return;
}

static void assign(struct irqs *irqs, uint32_t vector, int fd)
{
	uint32_t bit = UINT32_C(1) << vector % 32;

	drop(irqs, vector);
	irqs->fd[vector] = fd;
	if (!(irqs->pending[vector / 32] & bit))
		return;
	irqs->pending[vector / 32] &= ~bit;
	vfu_irq_raise(irqs, vector);
}

void vfu_irq_info(struct vfu *v, const uint8_t *in, size_t len)
{
	struct vfio_irq_info info;
	bool msix;

	if (len != sizeof(info)) {
		vfu_reply_error(v, EINVAL);
		return;
	}
	memcpy(&info, in, sizeof(info));
	if (info.argsz < sizeof(info) || info.index >= VFIO_PCI_NUM_IRQS) {
		vfu_reply_error(v, EINVAL);
		return;
	}
	msix = info.index == VFIO_PCI_MSIX_IRQ_INDEX;
	info.argsz = sizeof(info);
	info.flags = msix ? VFIO_IRQ_INFO_EVENTFD | VFIO_IRQ_INFO_NORESIZE : 0;
	info.count = msix ? PCI_VECTORS : 0;
	vfu_reply(v, &info, sizeof(info), -1);
}

static bool one_bit(uint32_t bits)
{
	return bits && !(bits & (bits - 1));
}

/* 0, or why the message is refused. Only triggers are known: no vector can be masked this way (VFIO_IRQ_INFO_MASKABLE). */
static int check(const struct vfio_irq_set *set, size_t len, unsigned int n_fds)
{
	uint32_t count = set->index == VFIO_PCI_MSIX_IRQ_INDEX ? PCI_VECTORS : 0, data = set->flags & DATA_FLAGS;
	size_t wanted = SET_HEAD + (data == VFIO_IRQ_SET_DATA_BOOL ? set->count : 0);

	if (set->flags & ~(DATA_FLAGS | ACTION_FLAGS) || !one_bit(data) || !one_bit(set->flags & ACTION_FLAGS))
		return EINVAL;
	if (set->index >= VFIO_PCI_NUM_IRQS || set->start > count || set->count > count - set->start)
		return EINVAL;
	if (set->argsz < wanted || len != wanted)
		return EINVAL;
	if (!(set->flags & VFIO_IRQ_SET_ACTION_TRIGGER))
		return ENOTSUP;
	if (!set->count && (set->start || data != VFIO_IRQ_SET_DATA_NONE))
		return EINVAL;
	if (n_fds && (data != VFIO_IRQ_SET_DATA_EVENTFD || n_fds != set->count))
		return EINVAL;
	return 0;
}

/* eventfds are anonymous inodes. Writing to a file, such as one of FUSE, could take as long as the client likes. */
static bool all_eventfds(const struct message *m)
{
	struct statfs fs;

	for (unsigned int i = 0; i < m->n_fds; i++)
		if (fstatfs(m->fds[i], &fs) || fs.f_type != ANON_INODE_FS_MAGIC || !nonblocking(m->fds[i]))
			return false;
	return true;
}

void vfu_set_irqs(struct vfu *v, const uint8_t *in, size_t len)
{
	struct message *m = v->current;
	struct vfio_irq_set set;
	int err;

	if (len < SET_HEAD) {
		vfu_reply_error(v, EINVAL);
		return;
	}
	memcpy(&set, in, SET_HEAD);
	err = check(&set, len, m->n_fds);
	if (!err && !all_eventfds(m))
		err = EBADF;
	if (err) {
		vfu_reply_error(v, err);
		return;
	}
	if (!set.count && set.index == VFIO_PCI_MSIX_IRQ_INDEX)
		for (uint32_t i = 0; i < PCI_VECTORS; i++)
			drop(&v->irqs, i);
	for (uint32_t i = 0; i < set.count; i++) {
		if (!(set.flags & VFIO_IRQ_SET_DATA_EVENTFD)) {
			if (set.flags & VFIO_IRQ_SET_DATA_NONE || in[SET_HEAD + i])
				vfu_irq_raise(&v->irqs, set.start + i);
		} else if (m->n_fds) {
			assign(&v->irqs, set.start + i, m->fds[i]);
		} else {
			drop(&v->irqs, set.start + i);
		}
	}
	if (set.flags & VFIO_IRQ_SET_DATA_EVENTFD)
		m->n_fds = 0;
	vfu_reply(v, NULL, 0, -1);
}
