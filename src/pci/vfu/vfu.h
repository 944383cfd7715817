/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Serves one software ConnectX (pci.h) to a client that speaks vfio-user, such as QEMU. One thread at a time may be inside; several
 * devices are several of these, each with a thread of its own, so that no client can stall another's device. Descriptors are
 * non-blocking and the only waiting is in vfu_step(), except that a client which shares no memory is waited for, up to wait_ms,
 * while the device reads or writes its memory. SIGPIPE must be ignored.
 */
#ifndef VFU_H
#define VFU_H

#include <stdbool.h>
#include <stdint.h>

#include "hca.h"

struct vfu_config {
	struct hca_config hca;
	bool no_mmap;           /* doorbell pages are not mapped by clients: all writes are seen */
	int wait_ms;            /* for a client's answer to a DMA message; 0: it must have been sent already */
	uint64_t (*now)(void);  /* nanoseconds; NULL: CLOCK_MONOTONIC */
};

struct vfu;
struct pci;

/* NULL with errno. */
struct vfu *vfu_new(const struct vfu_config *config);
/* Closes all descriptors that it has. */
void vfu_free(struct vfu *v);

/* The function that it serves, for control lines (pci_control) while no other thread is inside. */
struct pci *vfu_function(struct vfu *v);

/* Sockets that listen, for clients and for control lines. They become the server's. */
void vfu_listen(struct vfu *v, int fd);
void vfu_listen_control(struct vfu *v, int fd);
/* When it becomes readable, waiting ends. It stays the caller's. */
void vfu_stop_at(struct vfu *v, int fd);

/* A connected client, which becomes the server's. False: there is one already, and this one was closed. */
bool vfu_attach(struct vfu *v, int fd);
bool vfu_attached(const struct vfu *v);

/*
 * Waits until there is something to do, at most timeout_ms (-1: without end), and does it. False: the descriptor of vfu_stop_at()
 * is readable.
 */
bool vfu_step(struct vfu *v, int timeout_ms);

/*
 * A socket that listens at a path, or -1 with errno and a sentence in *why. A socket that nobody listens at any more is replaced;
 * one in use, and what is no socket, is left alone.
 */
int vfu_bind(const char *path, const char **why);

#endif
