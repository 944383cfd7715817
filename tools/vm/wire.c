/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "wire.h"

uint32_t wire_get32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void set32(uint8_t *p, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

uint8_t *wire_space(struct wire_in *in, size_t *len)
{
	if (in->from) {
		memmove(in->buf, in->buf + in->from, in->to - in->from);
		in->to -= in->from;
		in->from = 0;
	}
	*len = sizeof(in->buf) - in->to;
	return in->buf + in->to;
}

void wire_came(struct wire_in *in, size_t len)
{
	in->to += len;
}

int wire_next(struct wire_in *in, struct wire_frame *frame)
{
	const uint8_t *p = in->buf + in->from;
	size_t have = in->to - in->from;
	uint32_t len;

	if (have < WIRE_HEAD)
		return 0;
	len = wire_get32(p + 4);
	if (!p[0] || p[0] >= WIRE_TYPES || p[1] >= WIRE_STREAMS || p[2] || p[3] || len > WIRE_MAX) {
		errno = EPROTO;
		return -1;
	}
	if (have < WIRE_HEAD + len)
		return 0;
	*frame = (struct wire_frame){ .type = p[0], .stream = p[1], .len = len, .data = p + WIRE_HEAD };
	in->from += WIRE_HEAD + len;
	return 1;
}

void wire_put(struct wire_out *out, enum wire_type type, unsigned int stream, const void *data, uint32_t len)
{
	size_t need = WIRE_HEAD + (size_t)len;
	uint8_t *p;

	if (out->failed)
		return;
	if (out->from && out->to + need > out->size) {
		memmove(out->buf, out->buf + out->from, out->to - out->from);
		out->to -= out->from;
		out->from = 0;
	}
	if (out->to + need > out->size) {
		size_t size = (out->to + need) * 2;

		p = realloc(out->buf, size);
		if (!p) {
			out->failed = true;
			return;
		}
		out->buf = p;
		out->size = size;
	}
	p = out->buf + out->to;
	p[0] = (uint8_t)type;
	p[1] = (uint8_t)stream;
	p[2] = p[3] = 0;
	set32(p + 4, len);
	if (len)
		memcpy(p + WIRE_HEAD, data, len);
	out->to += need;
}

void wire_put32(struct wire_out *out, enum wire_type type, unsigned int stream, uint32_t value)
{
	uint8_t b[4];

	set32(b, value);
	wire_put(out, type, stream, b, sizeof(b));
}

int wire_flush(struct wire_out *out, int fd)
{
	if (out->failed) {
		errno = ENOMEM;
		return -1;
	}
	while (out->from < out->to) {
		ssize_t n = write(fd, out->buf + out->from, out->to - out->from);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : -1;
		out->from += (size_t)n;
	}
	out->from = out->to = 0;
	return 0;
}

int wire_keep(struct wire_stream *s, const struct wire_frame *frame)
{
	if (s->ended || s->have + s->owed + frame->len > WIRE_WINDOW) {
		errno = EPROTO;
		return -1;
	}
	if (!s->buf && !(s->buf = malloc(WIRE_WINDOW)))
		return -1;
	if (s->from + s->have + frame->len > WIRE_WINDOW) {
		memmove(s->buf, s->buf + s->from, s->have);
		s->from = 0;
	}
	memcpy(s->buf + s->from + s->have, frame->data, frame->len);
	s->have += frame->len;
	return 0;
}

/* Not for every few bytes; but always when nothing is left, or both sides would wait. */
static void give_credit(struct wire_stream *s, unsigned int stream, struct wire_out *out)
{
	if (!s->owed || s->ended || (s->have && s->owed < WIRE_WINDOW / 4))
		return;
	wire_put32(out, WIRE_CREDIT, stream, s->owed);
	s->owed = 0;
}

int wire_deliver(struct wire_stream *s, unsigned int stream, int fd, size_t most, struct wire_out *out)
{
	ssize_t n = write(fd, s->buf + s->from, s->have < most ? s->have : most);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -1;
	s->from += (uint32_t)n;
	s->have -= (uint32_t)n;
	s->owed += (uint32_t)n;
	if (!s->have)
		s->from = 0;
	give_credit(s, stream, out);
	return 0;
}

void wire_drop(struct wire_stream *s, unsigned int stream, struct wire_out *out)
{
	s->owed += s->have;
	s->have = s->from = 0;
	give_credit(s, stream, out);
}

int wire_credit(struct wire_stream *s, const struct wire_frame *frame)
{
	uint32_t more = frame->len == 4 ? wire_get32(frame->data) : UINT32_MAX;

	if (more > WIRE_WINDOW || s->credit + more > WIRE_WINDOW) {
		errno = EPROTO;
		return -1;
	}
	s->credit += more;
	return 0;
}

long wire_pass(struct wire_stream *s, unsigned int stream, int fd, struct wire_out *out)
{
	uint8_t buf[WIRE_MAX];
	ssize_t n;

	if (!s->credit) { /* to read nothing would look like the end */
		errno = EAGAIN;
		return -1;
	}
	n = read(fd, buf, s->credit < sizeof(buf) ? s->credit : sizeof(buf));
	if (n > 0) {
		wire_put(out, WIRE_DATA, stream, buf, (uint32_t)n);
		s->credit -= (uint32_t)n;
	} else if (n == 0) {
		wire_put(out, WIRE_EOF, stream, NULL, 0);
		s->ended = true;
	}
	return n;
}
