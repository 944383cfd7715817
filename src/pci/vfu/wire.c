/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bytes of the socket to messages, and back. Each message is read for itself, so that descriptors are those of the message in
 * whose bytes they came. There is one reply at a time: what comes behind waits in the socket until the client took it.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server.h"

void vfu_close_fds(int *fds, unsigned int *n)
{
	while (*n)
		close(fds[--*n]);
}

static void take_fds(struct message *m, struct msghdr *mh)
{
	if (mh->msg_flags & MSG_CTRUNC)
		m->lost_fds = true; /* the kernel closed them */
	for (struct cmsghdr *c = CMSG_FIRSTHDR(mh); c; c = CMSG_NXTHDR(mh, c)) {
		size_t n;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < n; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof(fd), sizeof(fd));
			if (m->n_fds < VFU_FDS_MAX) {
				m->fds[m->n_fds++] = fd;
			} else {
				close(fd);
				m->lost_fds = true;
			}
		}
	}
}

/* 1: up to want bytes are there; 0: not yet; -1: the end. */
static int fill(struct vfu *v, size_t want)
{
	struct message *m = v->incoming;
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(VFU_FDS_MAX * sizeof(int))];
	} control;

	while (m->have < want) {
		struct iovec iov = { m->bytes + m->have, want - m->have };
		struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.buf,
				     .msg_controllen = sizeof(control.buf) };
		ssize_t n = recvmsg(v->client, &mh, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : -1;
		take_fds(m, &mh);
		if (!n)
			return -1;
		m->have += (size_t)n;
	}
	return 1;
}

enum received vfu_receive(struct vfu *v)
{
	const struct vfu_header *h = &v->incoming->header;
	int r = fill(v, sizeof(*h));

	if (r > 0 && (h->size < sizeof(*h) || h->size > VFU_MSG_MAX || (h->flags & VFU_TYPE) > VFU_REPLY))
		r = -1; /* where the next one begins is not known */
	if (r > 0)
		r = fill(v, h->size);
	if (r < 0) {
		v->broken = true;
		return RECEIVED_END;
	}
	if (!r)
		return RECEIVED_NOTHING;
	v->incoming->arrived = vfu_now(v);
	return RECEIVED_MESSAGE;
}

bool vfu_flush(struct vfu *v)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(int))];
	} control;

	while (v->out_at < v->out_len) {
		struct iovec iov = { v->out + v->out_at, v->out_len - v->out_at };
		struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1 };
		ssize_t n;

		if (v->out_fd >= 0) {
			struct cmsghdr *c;

			memset(&control, 0, sizeof(control));
			mh.msg_control = control.buf;
			mh.msg_controllen = sizeof(control.buf);
			c = CMSG_FIRSTHDR(&mh);
			c->cmsg_level = SOL_SOCKET;
			c->cmsg_type = SCM_RIGHTS;
			c->cmsg_len = CMSG_LEN(sizeof(int));
			memcpy(CMSG_DATA(c), &v->out_fd, sizeof(int));
		}
		n = sendmsg(v->client, &mh, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			v->broken |= errno != EAGAIN;
			return false;
		}
		v->out_fd = -1;
		v->out_at += (size_t)n;
	}
	return !v->broken;
}

uint8_t *vfu_payload(struct vfu *v)
{
	return v->out + sizeof(struct vfu_header);
}

static void send_reply(struct vfu *v, size_t len, uint32_t flags, int err)
{
	const struct vfu_header *cmd = &v->current->header;
	struct vfu_header h = { .id = cmd->id, .command = cmd->command, .size = (uint32_t)(sizeof(h) + len),
				.flags = VFU_REPLY | flags, .error = (uint32_t)err };

	if (cmd->flags & VFU_NO_REPLY)
		return;
	memcpy(v->out, &h, sizeof(h));
	v->out_at = 0;
	v->out_len = h.size;
	vfu_flush(v);
}

void vfu_reply_built(struct vfu *v, size_t len)
{
	send_reply(v, len, 0, 0);
}

void vfu_reply(struct vfu *v, const void *payload, size_t len, int fd)
{
	if (v->current->header.flags & VFU_NO_REPLY)
		return;
	if (len)
		memcpy(vfu_payload(v), payload, len);
	v->out_fd = fd;
	send_reply(v, len, 0, 0);
}

void vfu_reply_error(struct vfu *v, int err)
{
	send_reply(v, 0, VFU_ERROR, err);
}

void vfu_drop_incoming(struct vfu *v)
{
	vfu_close_fds(v->incoming->fds, &v->incoming->n_fds);
	v->incoming->have = 0;
	v->incoming->lost_fds = false;
}

/* The client is gone, or is not understood: the device is as at power-on for the next one. */
void vfu_detach(struct vfu *v)
{
	if (v->client < 0)
		return;
	close(v->client);
	v->client = -1;
	vfu_drop_incoming(v);
	while (vfu_dequeue(v))
		vfu_close_fds(v->current->fds, &v->current->n_fds);
	v->out_at = v->out_len = 0;
	v->out_fd = -1;
	vfu_dma_clear(&v->dma);
	vfu_irq_clear(&v->irqs);
	pci_reset(v->pci, vfu_now(v));
	vfu_uars_renew(v);
}
