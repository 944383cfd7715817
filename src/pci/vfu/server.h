/* SPDX-License-Identifier: BSD-2-Clause */
/* What the parts of the server share. */
#ifndef VFU_SERVER_H
#define VFU_SERVER_H

#include <stddef.h>
#include <sys/types.h>

#include "pci.h"
#include "proto.h"
#include "vfu.h"

/* After accept() found no descriptor left; nothing says when there is one again. */
#define ACCEPT_PAUSE UINT64_C(100000000)

#define CONTROL_CLIENTS 16
#define CONTROL_LINE (144u << 10) /* the longest frame there is, in hexadecimal */
#define CONTROL_REPLY (64u << 10)

/* A message, received so far or completely. */
struct message {
	size_t have;
	uint64_t arrived; /* completely */
	int fds[VFU_FDS_MAX];
	unsigned int n_fds;
	bool lost_fds; /* more came than it may have */
	union {
		struct vfu_header header;
		uint8_t bytes[VFU_MSG_MAX];
	};
};

/*
 * One that waits until the device is done with what it does. More than these, while the client owes an answer, are refused by
 * hanging up.
 */
#define QUEUE_MAX 1024u
#define QUEUE_BYTES_MAX (4u << 20)
#define QUEUE_FDS_MAX 64u

struct queued {
	struct queued *next;
	uint64_t arrived;
	unsigned int n_fds;
	bool lost_fds;
	int fds[VFU_FDS_MAX];
	struct vfu_header header; /* and the rest of the message */
};

/* A window of guest memory. */
struct window {
	uint64_t address, last; /* first and last byte */
	uint8_t *p;             /* NULL: by messages */
	size_t mapped;          /* bytes at p: in huge pages, more than the window */
	bool readable, writable;
	bool sealed;            /* cannot shrink under us: plain copies are safe */
};

struct dma {
	struct window *windows; /* by address, disjoint */
	unsigned int n, room;
	uint64_t mapped;        /* bytes, of all */
	uint64_t xfer_max;      /* that the client takes */
	uint16_t last_id;
	bool silent;            /* it did not answer that in time: no more waiting until it does */
	bool deaf;              /* it did not take a reply in time: as above, until it does */
	enum { LAYOUT_UNKNOWN, LAYOUT_SPEC, LAYOUT_SHORT } layout; /* dma_message.c */
};

struct irqs {
	int fd[PCI_VECTORS];         /* -1: none */
	uint32_t pending[(PCI_VECTORS + 31) / 32];
};

struct control {
	int fd; /* -1: free */
	bool closing, more; /* more: it was not looked at all that came */
	size_t at, have;    /* in line: what was not executed yet */
	size_t out_len, out_at;
	char *line, *out;
};

struct vfu {
	struct pci *pci;
	struct vfu_config config;
	int listen_fd, control_fd, stop_fd, client;
	pid_t pid;
	uint64_t accept_after; /* there were no descriptors left */

	/* Doorbell pages. */
	uint8_t *uars;
	int uar_fd;      /* -1: they are not for mapping */
	bool uars_given; /* the client has them */

	/* The connection. */
	bool greeted, broken;
	struct message *current, *incoming, *spare; /* being executed, and being received */
	struct queued *queue, **queue_end;
	unsigned int n_queued, queued_fds;
	size_t queued_bytes;
	uint8_t *out;
	size_t out_len, out_at;
	int out_fd; /* goes with the first byte; not ours to close */

	struct dma dma;
	struct irqs irqs;
	struct control controls[CONTROL_CLIENTS];
};

uint64_t vfu_now(const struct vfu *v);

/* wire.c: bytes to messages and back. */
enum received { RECEIVED_NOTHING, RECEIVED_MESSAGE, RECEIVED_END };
enum received vfu_receive(struct vfu *v); /* into incoming, complete or in part */
void vfu_close_fds(int *fds, unsigned int *n);
/* The reply to current, which is only its header when err is not 0. */
void vfu_reply(struct vfu *v, const void *payload, size_t len, int fd);
void vfu_reply_error(struct vfu *v, int err);
/* Payload of a reply is put together here, up to VFU_MSG_MAX - sizeof(struct vfu_header) bytes. */
uint8_t *vfu_payload(struct vfu *v);
void vfu_reply_built(struct vfu *v, size_t len);
bool vfu_flush(struct vfu *v); /* false: not all was taken yet, or the connection is broken */
void vfu_drop_incoming(struct vfu *v);
void vfu_detach(struct vfu *v);

/* meanwhile.c: commands that come while the device waits for a reply. */
void vfu_meanwhile(struct vfu *v);      /* incoming is one: executes it, or puts it into the queue */
void vfu_meanwhile_more(struct vfu *v); /* the client is slow: executes what can be, also before others */
bool vfu_dequeue(struct vfu *v);        /* the oldest becomes current; false: none */

/* request.c: executes current, a command. */
void vfu_request(struct vfu *v);

/* region.c */
int vfu_uars_new(struct vfu *v);
void vfu_uars_renew(struct vfu *v); /* so that a client that left has no part in them */
void vfu_region_info(struct vfu *v, const uint8_t *in, size_t len);
void vfu_region_read(struct vfu *v, const uint8_t *in, size_t len);
void vfu_region_write(struct vfu *v, const uint8_t *in, size_t len);
void vfu_write_multi(struct vfu *v, const uint8_t *in, size_t len);
/* The answers to these two come before they are executed; false: it is a refusal, and there is nothing to execute. */
bool vfu_answer_write(struct vfu *v, const uint8_t *in, size_t len);
bool vfu_answer_multi(struct vfu *v, const uint8_t *in, size_t len);

/* irq.c */
void vfu_irq_init(struct irqs *irqs);
void vfu_irq_clear(struct irqs *irqs);
void vfu_irq_forget(struct irqs *irqs); /* what is pending; the descriptors stay */
void vfu_irq_raise(struct irqs *irqs, uint32_t vector);
void vfu_irq_info(struct vfu *v, const uint8_t *in, size_t len);
void vfu_set_irqs(struct vfu *v, const uint8_t *in, size_t len);

/* dma.c */
void vfu_dma_map(struct vfu *v, const uint8_t *in, size_t len);
void vfu_dma_unmap(struct vfu *v, const uint8_t *in, size_t len);
void vfu_dma_clear(struct dma *dma);
bool vfu_dma_read(void *v, uint64_t address, void *dst, size_t len);
bool vfu_dma_write(void *v, uint64_t address, const void *src, size_t len);

/* dma_message.c: the same by messages to the client, inside one window. */
bool vfu_message_read(struct vfu *v, uint64_t address, void *dst, size_t len);
bool vfu_message_write(struct vfu *v, uint64_t address, const void *src, size_t len);
void vfu_late_reply(struct vfu *v); /* incoming is a reply that nobody waits for */

/* control.c */
void vfu_control_accept(struct vfu *v);
void vfu_control_serve(struct vfu *v, struct control *c);
void vfu_control_close(struct control *c);

#endif
