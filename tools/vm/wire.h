/* SPDX-License-Identifier: BSD-2-Clause */
/* What host and guest of `devx vm` say to each other over one virtio port: frames of a head of 8 bytes and at most WIRE_MAX
 * bytes. Both sides use this; the other side is not trusted. */
#ifndef WIRE_H
#define WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum wire_type {
	WIRE_HELLO = 1, /* guest: init runs and waits for its job; the data is WIRE_VERSION */
	WIRE_LOG,       /* guest: lines of the kernel's log */
	WIRE_FAIL,      /* guest: the machine cannot do it; the data is the reason */
	WIRE_UP,        /* guest: the devices are there, the command starts */
	WIRE_DATA,      /* of a stream */
	WIRE_EOF,       /* of a stream */
	WIRE_CREDIT,    /* so many more bytes of a stream may be sent (u32) */
	WIRE_EXIT,      /* guest: the command's wait status (u32), after all its output */
	WIRE_JOB,       /* host: a part of the job; an empty one ends it */
	WIRE_SIGNAL,    /* host: a signal for the command (u32) */
	WIRE_SIZE,      /* host: the terminal has so many rows and columns (u32 each) */
	WIRE_TYPES
};

enum { WIRE_STDIN, WIRE_STDOUT, WIRE_STDERR, WIRE_STREAMS };

#define WIRE_VERSION 1
#define WIRE_HEAD 8
#define WIRE_MAX 65536
#define WIRE_WINDOW (4 * WIRE_MAX) /* bytes of a stream under way, before the first credit */
#define WIRE_JOB_MAX (8u << 20)    /* arguments and environment: more than execve() takes */

struct wire_frame {
	enum wire_type type;
	unsigned int stream;
	uint32_t len;
	const uint8_t *data;
};

/* Bytes that came, frames that they make. */
struct wire_in {
	uint8_t buf[2 * (WIRE_HEAD + WIRE_MAX)];
	size_t from, to;
};

/* Where the next bytes go, and how many may come: never 0 after wire_next() said 0. */
uint8_t *wire_space(struct wire_in *in, size_t *len);
void wire_came(struct wire_in *in, size_t len);
/* 1: a frame, whose data stays until wire_space(). 0: more bytes are needed. -1: nonsense (EPROTO). */
int wire_next(struct wire_in *in, struct wire_frame *frame);

/* Bytes that wait for the port. */
struct wire_out {
	uint8_t *buf;
	size_t from, to, size;
	bool failed; /* no memory: frames are lost, so the link is over */
};

void wire_put(struct wire_out *out, enum wire_type type, unsigned int stream, const void *data, uint32_t len);
void wire_put32(struct wire_out *out, enum wire_type type, unsigned int stream, uint32_t value);
/* Writes what the descriptor takes. 0, or -1 with errno; EAGAIN is no error. */
int wire_flush(struct wire_out *out, int fd);
static inline size_t wire_waiting(const struct wire_out *out)
{
	return out->to - out->from;
}

uint32_t wire_get32(const uint8_t *p);

/* The sender's and the receiver's account of a stream. */
struct wire_stream {
	uint32_t credit;   /* sender: may be sent */
	uint32_t owed;     /* receiver: delivered, and not yet told */
	uint32_t have;     /* receiver: bytes in buf from `from` on */
	uint32_t from;
	bool ended;        /* sender: EOF is sent; receiver: EOF came */
	uint8_t *buf;      /* receiver: WIRE_WINDOW bytes */
};

/* Receiver: keeps the data of a frame. -1 if the other side sent more than it might, or after its EOF (EPROTO). */
int wire_keep(struct wire_stream *s, const struct wire_frame *frame);
/* Receiver: writes at most `most` kept bytes to fd, and gives credit. 0, or -1 with errno. */
int wire_deliver(struct wire_stream *s, unsigned int stream, int fd, size_t most, struct wire_out *out);
/* Receiver: nobody reads any more; what comes is dropped, and credit given for it. */
void wire_drop(struct wire_stream *s, unsigned int stream, struct wire_out *out);
/* Sender: takes credit. -1 if it is more than a window (EPROTO). */
int wire_credit(struct wire_stream *s, const struct wire_frame *frame);
/* Sender: reads from fd what the credit allows and sends it. The bytes read; 0 at the end, which is sent too; -1 with errno. */
long wire_pass(struct wire_stream *s, unsigned int stream, int fd, struct wire_out *out);

#endif
