/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "device.h"

static struct fdq *all; /* under soft_registry */
static atomic_uint n_all;

/* The program may have closed a descriptor, and the number may be something else's by now. */
static void close_own(int fd, ino_t ino)
{
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) || (st.st_ino == ino && S_ISSOCK(st.st_mode))))
		close(fd);
}

static void close_fds(struct fdq *q)
{
	close_own(q->fd, q->ino);
	close_own(q->reader, q->ino);
	close_own(q->peer, q->peer_ino);
}

static int open_fds(struct fdq *q)
{
	struct stat st, peer;
	int pair[2], err;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return errno;
	q->fd = pair[0];
	q->peer = pair[1];
	q->reader = fcntl(pair[0], F_DUPFD_CLOEXEC, 0);
	if (q->reader < 0 || fstat(q->reader, &st) || fstat(q->peer, &peer)) {
		err = errno;
		if (q->reader >= 0)
			close(q->reader);
		close(pair[0]);
		close(pair[1]);
		q->fd = -1;
		return err;
	}
	q->ino = st.st_ino;
	q->peer_ino = peer.st_ino;
	return 0;
}

static void init(struct fdq *q, const struct fdq_ops *ops, struct soft_context *ctx)
{
	if (!q->has_lock) {
		pthread_mutex_init(&q->lock, NULL);
		pthread_cond_init(&q->idle, NULL);
		q->has_lock = true;
	}
	pthread_mutex_lock(&q->lock);
	q->ops = ops;
	q->fork_gen = soft_fork_gen;
	q->dev = ctx->dev;
	q->ctx = ctx;
	q->in_flight = q->users = 0;
	q->token = q->ending = q->dead = q->destroyed = false;
	pthread_mutex_unlock(&q->lock);
}

int fdq_create(struct fdq *q, const struct fdq_ops *ops, struct soft_context *ctx)
{
	int err;

	q->fd = -1;
	err = open_fds(q);
	if (err)
		return err;
	init(q, ops, ctx);
	pthread_mutex_lock(&soft_registry);
	q->next = all;
	all = q;
	ctx->dev->refs++;
	atomic_fetch_add(&n_all, 1);
	q->sibling = ctx->queues;
	ctx->queues = q;
	pthread_mutex_unlock(&soft_registry);
	return 0;
}

bool fdq_any(void)
{
	return atomic_load(&n_all);
}

struct fdq *fdq_by_fd(int fd, const struct fdq_ops *ops)
{
	struct fdq *q = NULL;
	struct stat st;

	if (!fdq_any() || fd < 0 || fstat(fd, &st) || !S_ISSOCK(st.st_mode))
		return NULL;
	pthread_mutex_lock(&soft_registry);
	for (q = all; q && (q->ino != st.st_ino || q->ops != ops); q = q->next)
		;
	pthread_mutex_unlock(&soft_registry);
	return q;
}

/* After a call that failed: is it worth another try, after a moment? */
static bool wait_for_memory(void)
{
	const struct timespec moment = { .tv_nsec = 1000000 };

	if (errno != ENOBUFS && errno != ENOMEM)
		return false;
	nanosleep(&moment, NULL);
	return true;
}

void fdq_filled(struct fdq *q)
{
	if (q->token || q->dead)
		return;
	/* The socket is empty, so only the kernel's memory can lack. A poller waits for this byte: it must not be lost. */
	while (send(q->peer, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL) != 1) {
		if (!wait_for_memory())
			return;
	}
	q->token = true;
}

static void die(struct fdq *q)
{
	if (q->dead)
		return;
	q->dead = true;
	while (shutdown(q->peer, SHUT_WR) && wait_for_memory())
		;
}

void fdq_emptied(struct fdq *q)
{
	char byte;

	while (q->token && recv(q->reader, &byte, 1, MSG_DONTWAIT) < 0 && wait_for_memory())
		;
	q->token = false;
	if (q->ending && !q->in_flight)
		die(q);
}

void fdq_arrived(struct fdq *q)
{
	if (!q->in_flight)
		pthread_cond_broadcast(&q->idle);
}

void fdq_end(struct fdq *q)
{
	q->ending = true;
	/* As the kernel is: what a removed device, or a closed context, has queued is gone. */
	if (q->dev->spec.kernel_quirks)
		q->ops->drop(q);
	if (q->ops->empty(q) && !q->in_flight)
		die(q);
}

void fdqs_removed(struct soft_device *dev)
{
	pthread_mutex_lock(&soft_registry);
	for (struct fdq *q = all; q; q = q->next) {
		if (q->dev != dev || q->fork_gen != soft_fork_gen)
			continue;
		pthread_mutex_lock(&q->lock);
		fdq_end(q);
		pthread_mutex_unlock(&q->lock);
	}
	pthread_mutex_unlock(&soft_registry);
}

static void wait_in_flight(struct fdq *q)
{
	while (q->in_flight)
		pthread_cond_wait(&q->idle, &q->lock);
}

static void leave(struct fdq *q)
{
	if (--q->users == 0 && q->destroyed)
		pthread_cond_broadcast(&q->idle);
}

void fdqs_close(struct soft_context *ctx)
{
	for (;;) {
		struct fdq *q;

		/* Another thread may be destroying it: as a user it is kept, once its lock was taken while it was listed. */
		pthread_mutex_lock(&soft_registry);
		q = ctx->queues;
		if (q) {
			ctx->queues = q->sibling;
			pthread_mutex_lock(&q->lock);
			q->ctx = NULL;
			q->users++;
		}
		pthread_mutex_unlock(&soft_registry);
		if (!q)
			return;
		wait_in_flight(q);
		fdq_end(q);
		leave(q);
		pthread_mutex_unlock(&q->lock);
	}
}

static void unlist(struct fdq *q)
{
	struct fdq **p;

	pthread_mutex_lock(&soft_registry);
	for (p = q->ctx ? &q->ctx->queues : NULL; p && *p; p = &(*p)->sibling) {
		if (*p == q) {
			*p = q->sibling;
			break;
		}
	}
	for (p = &all; *p; p = &(*p)->next) {
		if (*p == q) {
			*p = q->next;
			atomic_fetch_sub(&n_all, 1);
			break;
		}
	}
	pthread_mutex_unlock(&soft_registry);
}

bool fdq_destroy(struct fdq *q)
{
	if (q->fork_gen != soft_fork_gen)
		return false;
	pthread_mutex_lock(&q->lock);
	if (q->destroyed) {
		pthread_mutex_unlock(&q->lock);
		return false;
	}
	q->destroyed = true; /* nothing is queued, no get begins from here on */
	wait_in_flight(q);
	q->ending = true;
	die(q); /* wakes those who sleep in get */
	while (q->users)
		pthread_cond_wait(&q->idle, &q->lock);
	pthread_mutex_unlock(&q->lock);

	unlist(q);
	if (q->ops->retire)
		q->ops->retire(q);
	pthread_mutex_lock(&q->lock);
	q->ops->fini(q);
	close_fds(q);
	q->fd = -1;
	pthread_mutex_unlock(&q->lock);
	soft_device_put(q->dev);
	return true;
}

/*
 * Sleeps, or not, as the descriptor's O_NONBLOCK says: the kernel's own recv decides, so that flags, signals and restarts are
 * the kernel's. 0: look again; else an errno value.
 */
static int wait_token(struct fdq *q)
{
	char byte;
	ssize_t n = recv(q->reader, &byte, 1, MSG_PEEK);

	if (n > 0)
		return 0;
	if (n < 0)
		return errno;
	return fcntl(q->reader, F_GETFL) & O_NONBLOCK ? EAGAIN : EIO;
}

int fdq_enter(struct fdq *q, struct soft_context **ctx)
{
	int err = 0;

	if (!q || !q->has_lock)
		return EBADF;
	if (q->fork_gen != soft_fork_gen)
		return EIO; /* of the parent: its lock may have been held at the fork */
	pthread_mutex_lock(&q->lock);
	if (q->destroyed || q->fd < 0)
		err = EBADF;
	else
		q->users++;
	*ctx = q->ctx;
	pthread_mutex_unlock(&q->lock);
	return err;
}

void fdq_leave(struct fdq *q)
{
	pthread_mutex_lock(&q->lock);
	leave(q);
	pthread_mutex_unlock(&q->lock);
}

ssize_t fdq_get(struct fdq *q, void *buf, size_t len)
{
	struct soft_context *ctx;
	int slept = 0, err = fdq_enter(q, &ctx);
	ssize_t n;

	if (err)
		return -err;
	pthread_mutex_lock(&q->lock);
	while ((n = q->destroyed ? -EBADF : q->ops->take(q, buf, len)) == -EAGAIN && !slept) {
		pthread_mutex_unlock(&q->lock);
		slept = wait_token(q);
		pthread_mutex_lock(&q->lock);
	}
	if (n == -EAGAIN)
		n = -slept;
	leave(q);
	pthread_mutex_unlock(&q->lock);
	return n;
}
