/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A queue behind a descriptor, which is what completions, event channels and the asynchronous events of a context have in
 * common. The fd is one end of a socket pair; a byte lies in it exactly while something is queued, so readiness is level-
 * triggered and no number of records fills it. The other end is half shut when the queue is dead: POLLIN and POLLRDHUP.
 */
#ifndef SOFT_FDQ_H
#define SOFT_FDQ_H

#include <pthread.h>
#include <sys/types.h>

#include "transport.h"

struct fdq;
struct soft_context;
struct soft_device;

/* What a kind of queue does with its records; its lock is held. */
struct fdq_ops {
	bool (*empty)(const struct fdq *q);
	ssize_t (*take)(struct fdq *q, void *buf, size_t len); /* the oldest: its bytes, or a negative errno; -EAGAIN: none */
	void (*drop)(struct fdq *q);                           /* all that is queued */
	void (*retire)(struct fdq *q);                         /* without the lock: being destroyed, nobody is inside; may be NULL */
	void (*fini)(struct fdq *q);                           /* the last thing before the descriptors are closed */
};

struct fdq {
	union { /* what the program holds; -1: destroyed */
		int fd;
		struct mlx5dv_devx_cmd_comp comp;
		struct mlx5dv_devx_event_channel channel;
	};
	const struct fdq_ops *ops;
	unsigned int fork_gen;
	struct fdq *next;                /* of all, under the registry's lock */
	struct fdq *sibling;             /* of its context, under the registry's lock */
	struct soft_device *dev;
	ino_t ino;                       /* of the socket: a duplicate of the fd is known by it */
	ino_t peer_ino;
	int reader;                      /* a duplicate of our own: the program may close its fd */
	int peer;

	bool has_lock;                   /* lock and cond were initialised once, and stay so: a stale handle may reach them */
	pthread_mutex_t lock;            /* all below, and the records */
	pthread_cond_t idle;
	struct soft_context *ctx;        /* NULL: it was closed; written with the registry's lock too */
	uint32_t in_flight;              /* records that are still to come */
	uint32_t users;                  /* threads inside get, or closing the context */
	bool token;                      /* a byte is in the socket */
	bool ending;                     /* nothing more will be queued but what is in flight: dead once it is empty */
	bool dead;                       /* shut down */
	bool destroyed;
};

/* Makes the descriptors, empty, and lists it; the device gets a reference. 0 or an errno value, with nothing left behind. */
int fdq_create(struct fdq *q, const struct fdq_ops *ops, struct soft_context *ctx);
/* Any thread; others may be inside. False: another call does it, or it is of a fork parent; the memory is not the caller's. */
bool fdq_destroy(struct fdq *q);
/* libmlx5 knows these handles by their fd alone, so a program may bring a struct of its own with that fd, or a duplicate. */
struct fdq *fdq_by_fd(int fd, const struct fdq_ops *ops);
bool fdq_any(void); /* is there one at all? */

/* The oldest record, waited for as the descriptor's O_NONBLOCK says. Its bytes, or a negative errno value. */
ssize_t fdq_get(struct fdq *q, void *buf, size_t len);

/*
 * Keeps it from being destroyed until fdq_leave(), by a caller who does not wait meanwhile. *ctx: NULL when its context was
 * closed. 0, or EBADF, EIO.
 */
int fdq_enter(struct fdq *q, struct soft_context **ctx);
void fdq_leave(struct fdq *q);

/* Lock held: something is queued; or nothing any more. */
void fdq_filled(struct fdq *q);
void fdq_emptied(struct fdq *q);
void fdq_end(struct fdq *q);     /* ending: dead at once when nothing is queued or in flight */
void fdq_arrived(struct fdq *q); /* after a change of in_flight */

void fdqs_close(struct soft_context *ctx);  /* the context goes: waits for what is in flight */
void fdqs_removed(struct soft_device *dev); /* the device went: dead once read empty */

#endif
