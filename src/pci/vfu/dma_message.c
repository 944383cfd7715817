/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Guest memory that the client does not share: it reads and writes it for us. The device waits for each answer, at most wait_ms
 * (meanwhile.c has the commands that come in this time). A client that did not answer is not waited for again until it does.
 *
 * QEMU 10.1 to 11.0 have a count of 32 bits in these messages, with data right behind it at offset 28, in a message that is 4 bytes
 * longer than that; QEMU 11.1 and libvfio-user follow the specification, with 64 bits and data at 32. Which one a client is, a
 * write of no bytes tells: the older ones answer with a header alone.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>

#include "server.h"

#define HEAD (sizeof(struct vfu_header) + sizeof(struct vfu_dma_access))
#define SHORT_HEAD (HEAD - sizeof(uint32_t))

static uint64_t real_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Waits for the client, and sends what it would not take before; false: not before the deadline, or the server is to end. */
static bool wait_for(struct vfu *v, short events, uint64_t deadline)
{
	short more = vfu_flush(v) ? 0 : POLLOUT;
	struct pollfd fds[] = { { .fd = v->client, .events = events | more }, { .fd = v->stop_fd, .events = POLLIN } };
	uint64_t now = v->config.wait_ms ? real_ms() : deadline;

	if (now >= deadline)
		return false;
	return (poll(fds, 2, (int)(deadline - now)) > 0 || errno == EINTR) && !fds[1].revents;
}

static bool flush_by(struct vfu *v, uint64_t deadline)
{
	while (!vfu_flush(v))
		if (v->broken || !wait_for(v, POLLOUT, deadline))
			return false;
	return true;
}

/* A client may wait for us while we wait for it. For that it gets less than wait_ms. */
#define PATIENCE_MS 20

/* The reply is in incoming when this is true. */
static bool await_reply(struct vfu *v, uint16_t command, uint64_t deadline)
{
	uint64_t soon = v->config.wait_ms ? real_ms() + PATIENCE_MS : 0;

	while (!v->broken) {
		const struct vfu_header *h = &v->incoming->header;

		switch (vfu_receive(v)) {
		case RECEIVED_END:
			return false;
		case RECEIVED_NOTHING:
			if (wait_for(v, POLLIN, soon < deadline ? soon : deadline))
				break;
			vfu_meanwhile_more(v);
			if (!wait_for(v, POLLIN, deadline)) {
				v->dma.silent = true;
				return false;
			}
			break;
		case RECEIVED_MESSAGE:
			if ((h->flags & VFU_TYPE) == VFU_REPLY) {
				if (h->id == v->dma.last_id && h->command == command)
					return true;
				vfu_drop_incoming(v);
			} else {
				vfu_meanwhile(v);
			}
			if (v->config.wait_ms && real_ms() >= deadline) { /* it says all sorts of things, but does not answer */
				v->dma.silent = true;
				return false;
			}
			break;
		}
	}
	return false;
}

/* Sends head and data as one message and waits for the reply. */
static bool exchange(struct vfu *v, uint16_t command, const struct vfu_dma_access *a, const void *data, size_t len)
{
	bool is_short = v->dma.layout == LAYOUT_SHORT;
	struct vfu_header h = { .id = (uint16_t)(v->dma.last_id + 1), .command = command, .size = (uint32_t)(HEAD + len) };
	uint64_t deadline = (v->config.wait_ms ? real_ms() : 0) + (uint64_t)v->config.wait_ms;

	if (v->client < 0 || v->broken || v->dma.silent)
		return false;
	/* Who does not take replies is waited for once, until it takes them. */
	if (!vfu_flush(v) && (v->dma.deaf || !flush_by(v, deadline))) {
		v->dma.deaf = true;
		return false;
	}
	v->dma.deaf = false;
	memcpy(v->out, &h, sizeof(h));
	memcpy(v->out + sizeof(h), a, sizeof(*a));
	memset(v->out + HEAD + len - sizeof(uint32_t), 0, is_short && len ? sizeof(uint32_t) : 0);
	if (len)
		memcpy(v->out + (is_short ? SHORT_HEAD : HEAD), data, len);
	v->out_at = 0;
	v->out_len = h.size;
	if (!flush_by(v, deadline)) {
		v->broken |= v->out_at > 0; /* half a message cannot be taken back */
		v->out_at = v->out_len = 0;
		return false;
	}
	v->dma.last_id = h.id;
	return await_reply(v, command, deadline);
}

static void learn_layout(struct vfu *v, uint64_t address)
{
	const struct vfu_dma_access a = { .address = address };

	if (v->dma.layout != LAYOUT_UNKNOWN || !exchange(v, VFU_DMA_WRITE, &a, NULL, 0))
		return;
	v->dma.layout = v->incoming->header.flags & VFU_ERROR || v->incoming->header.size > sizeof(struct vfu_header) ?
				LAYOUT_SPEC : LAYOUT_SHORT;
	vfu_drop_incoming(v);
}

static size_t piece(const struct vfu *v, size_t len)
{
	return len < v->dma.xfer_max ? len : (size_t)v->dma.xfer_max;
}

static bool read_piece(struct vfu *v, uint64_t address, void *dst, size_t len)
{
	const struct vfu_dma_access a = { .address = address, .count = len };
	const struct vfu_header *h;
	struct vfu_dma_access back;
	bool ok;

	if (!exchange(v, VFU_DMA_READ, &a, NULL, 0))
		return false;
	h = &v->incoming->header;
	ok = !(h->flags & VFU_ERROR) && h->size == HEAD + len;
	if (ok) {
		memcpy(&back, v->incoming->bytes + sizeof(*h), sizeof(back));
		ok = back.address == address && (uint32_t)back.count == len;
	}
	if (ok)
		memcpy(dst, v->incoming->bytes + (v->dma.layout == LAYOUT_SHORT ? SHORT_HEAD : HEAD), len);
	vfu_drop_incoming(v);
	return ok;
}

bool vfu_message_read(struct vfu *v, uint64_t address, void *dst, size_t len)
{
	learn_layout(v, address);
	for (size_t at = 0; at < len; at += piece(v, len - at))
		if (!read_piece(v, address + at, (uint8_t *)dst + at, piece(v, len - at)))
			return false;
	return true;
}

bool vfu_message_write(struct vfu *v, uint64_t address, const void *src, size_t len)
{
	learn_layout(v, address);
	for (size_t at = 0; at < len; at += piece(v, len - at)) {
		struct vfu_dma_access a = { .address = address + at, .count = piece(v, len - at) };
		bool ok;

		if (!exchange(v, VFU_DMA_WRITE, &a, (const uint8_t *)src + at, (size_t)a.count))
			return false;
		ok = !(v->incoming->header.flags & VFU_ERROR);
		vfu_drop_incoming(v);
		if (!ok)
			return false;
	}
	return true;
}

/* Of what nobody waits for any more: a client that is late is heard again. Others are no harm, and no use. */
void vfu_late_reply(struct vfu *v)
{
	if (v->incoming->header.id == v->dma.last_id)
		v->dma.silent = false;
	vfu_drop_incoming(v);
}
