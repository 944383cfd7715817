/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Completions. The fd is one end of a socket pair; a byte lies in it exactly while records are queued, so readiness is level-
 * triggered and no number of records fills it. The other end is half shut when the completion is dead: POLLIN and POLLRDHUP.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "device.h"
#include "pool.h"
#include "prm.h"

#define BUDGET 1048576u    /* bytes of outlen between submit and get: MAX_ASYNC_BYTES_IN_USE of Linux, devx.c */
#define COMMANDS 1048576u  /* so that commands of outlen 0, which the budget does not see, have a bound too */

struct soft_comp {
	struct mlx5dv_devx_cmd_comp pub; /* fd -1: destroyed */
	unsigned int fork_gen;
	struct soft_comp *next;          /* of all, under the registry's lock */
	struct soft_comp *sibling;       /* of its context, under the registry's lock */
	struct soft_device *dev;
	ino_t ino;                       /* of the socket: a duplicate of the fd is known by it */
	ino_t peer_ino;
	int reader;                      /* a duplicate of our own: the program may close its fd */
	int peer;

	bool has_lock;                   /* lock and cond were initialised once, and stay so: a stale handle may reach them */
	pthread_mutex_t lock;            /* all below */
	pthread_cond_t idle;
	struct soft_context *ctx;        /* NULL: it was closed; written with the registry's lock too */
	struct hca_cmd *head, *tail;     /* records, oldest first */
	uint32_t charged;
	uint32_t in_flight, outstanding; /* outstanding: in flight or queued */
	uint32_t users;                  /* threads inside get, or closing the context */
	bool token;                      /* a byte is in the socket */
	bool ending;                     /* no record will come any more: dead once the queue is empty */
	bool dead;                       /* shut down */
	bool destroyed;
	struct pool pool;
	void *slab_link;
};

struct slab soft_comps = SLAB_INIT(struct soft_comp, (size_t)1 << 28);

static struct soft_comp *all; /* under soft_registry */
static atomic_uint n_all;

static size_t box_size(const struct hca_cmd *cmd)
{
	return cmd->inlen > cmd->outlen ? cmd->inlen : cmd->outlen;
}

/* The program may have closed a descriptor, and the number may be something else's by now. */
static void close_own(int fd, ino_t ino)
{
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) || (st.st_ino == ino && S_ISSOCK(st.st_mode))))
		close(fd);
}

static void close_fds(struct soft_comp *c)
{
	close_own(c->pub.fd, c->ino);
	close_own(c->reader, c->ino);
	close_own(c->peer, c->peer_ino);
}

static int open_fds(struct soft_comp *c)
{
	struct stat st, peer;
	int pair[2], err;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return errno;
	c->pub.fd = pair[0];
	c->peer = pair[1];
	c->reader = fcntl(pair[0], F_DUPFD_CLOEXEC, 0);
	if (c->reader < 0 || fstat(c->reader, &st) || fstat(c->peer, &peer)) {
		err = errno;
		if (c->reader >= 0)
			close(c->reader);
		close(pair[0]);
		close(pair[1]);
		return err;
	}
	c->ino = st.st_ino;
	c->peer_ino = peer.st_ino;
	return 0;
}

static void init_comp(struct soft_comp *c, struct soft_context *ctx)
{
	if (!c->has_lock) {
		pthread_mutex_init(&c->lock, NULL);
		pthread_cond_init(&c->idle, NULL);
		c->has_lock = true;
	}
	pthread_mutex_lock(&c->lock);
	c->fork_gen = soft_fork_gen;
	c->dev = ctx->dev;
	c->ctx = ctx;
	c->head = c->tail = NULL;
	c->charged = c->in_flight = c->outstanding = c->users = 0;
	c->token = c->ending = c->dead = c->destroyed = false;
	c->pool = (struct pool){ .at = NULL };
	pthread_mutex_unlock(&c->lock);
}

struct mlx5dv_devx_cmd_comp *soft_comp_create(struct ibv_context *ibv)
{
	struct soft_context *ctx = soft_ctx(ibv);
	struct soft_comp *c = NULL;
	int err = soft_check_context(ibv);

	if (!err && atomic_load(&ctx->dev->removed))
		err = EIO;
	if (!err && !(c = slab_alloc(&soft_comps)))
		err = ENOMEM;
	if (!err) {
		c->pub.fd = -1;
		err = open_fds(c);
	}
	if (err) {
		if (c)
			slab_free(&soft_comps, c);
		errno = err;
		return NULL;
	}
	init_comp(c, ctx);
	pthread_mutex_lock(&soft_registry);
	c->next = all;
	all = c;
	ctx->dev->refs++;
	atomic_fetch_add(&n_all, 1);
	c->sibling = ctx->comps;
	ctx->comps = c;
	pthread_mutex_unlock(&soft_registry);
	return &c->pub;
}

/* libmlx5 knows a completion by its fd alone, so a program may bring a struct of its own with that fd, or a duplicate. */
static struct soft_comp *by_fd(int fd)
{
	struct soft_comp *c = NULL;
	struct stat st;

	if (!atomic_load(&n_all) || fd < 0 || fstat(fd, &st) || !S_ISSOCK(st.st_mode))
		return NULL;
	pthread_mutex_lock(&soft_registry);
	for (c = all; c && c->ino != st.st_ino; c = c->next)
		;
	pthread_mutex_unlock(&soft_registry);
	return c;
}

static struct soft_comp *comp_of(const struct mlx5dv_devx_cmd_comp *pub)
{
	return slab_owns(&soft_comps, pub) ? (struct soft_comp *)pub : by_fd(pub->fd);
}

bool soft_owns_comp(const struct mlx5dv_devx_cmd_comp *pub)
{
	return pub && comp_of(pub);
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

/* Lock held, here and below. */
static void set_token(struct soft_comp *c)
{
	if (c->token || c->dead)
		return;
	/* The socket is empty, so only the kernel's memory can lack. A poller waits for this byte: it must not be lost. */
	while (send(c->peer, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL) != 1) {
		if (!wait_for_memory())
			return;
	}
	c->token = true;
}

static void take_token(struct soft_comp *c)
{
	char byte;

	while (c->token && recv(c->reader, &byte, 1, MSG_DONTWAIT) < 0 && wait_for_memory())
		;
	c->token = false;
}

static void die(struct soft_comp *c)
{
	if (c->dead)
		return;
	c->dead = true;
	while (shutdown(c->peer, SHUT_WR) && wait_for_memory())
		;
}

static struct hca_cmd *pop(struct soft_comp *c)
{
	struct hca_cmd *r = c->head;

	c->head = r->next;
	c->charged -= r->outlen;
	c->outstanding--;
	if (!c->head) {
		take_token(c);
		if (c->ending && !c->in_flight)
			die(c);
	}
	return r;
}

static void drop_records(struct soft_comp *c)
{
	while (c->head) {
		struct hca_cmd *r = pop(c);

		pool_put(&c->pool, soft_cmd_of(r), box_size(r));
	}
}

/* What the driver gives for a command that the device did not answer. */
static void aborted_outbox(const struct soft_comp *c, struct hca_cmd *cmd)
{
	uint8_t hdr[PRM_HDR_SZ] = { 0 };
	struct prm_box b = prm_out(hdr, sizeof(hdr));

	if (!c->dev->spec.kernel_quirks) {
		PRM_SET(&b, nop_out, status, PRM_STAT_ABORTED);
		PRM_SET(&b, nop_out, syndrome, PRM_SYNDROME_ABORTED);
	}
	memset(cmd->box, 0, cmd->outlen);
	memcpy(cmd->box, hdr, cmd->outlen < sizeof(hdr) ? cmd->outlen : sizeof(hdr));
}

void soft_comp_push(struct soft_comp *c, struct hca_cmd *head, struct hca_cmd *tail, unsigned int n)
{
	for (struct hca_cmd *cmd = head; cmd; cmd = cmd->next)
		if (cmd->end != HCA_DONE)
			aborted_outbox(c, cmd);
	pthread_mutex_lock(&c->lock);
	if (c->head)
		c->tail->next = head;
	else
		c->head = head;
	c->tail = tail;
	c->in_flight -= n;
	/* As the kernel is: what a removed device, or a closed context, has queued is gone. */
	if (c->dev->spec.kernel_quirks && c->ending)
		drop_records(c);
	else
		set_token(c);
	if (!c->in_flight)
		pthread_cond_broadcast(&c->idle);
	pthread_mutex_unlock(&c->lock);
}

/* No more commands: dead at once when nothing is queued or in flight. */
static void end_comp(struct soft_comp *c)
{
	c->ending = true;
	if (c->dev->spec.kernel_quirks)
		drop_records(c);
	if (!c->head && !c->in_flight)
		die(c);
}

void soft_comps_removed(struct soft_device *dev)
{
	pthread_mutex_lock(&soft_registry);
	for (struct soft_comp *c = all; c; c = c->next) {
		if (c->dev != dev || c->fork_gen != soft_fork_gen)
			continue;
		pthread_mutex_lock(&c->lock);
		end_comp(c);
		pthread_mutex_unlock(&c->lock);
	}
	pthread_mutex_unlock(&soft_registry);
}

static void wait_in_flight(struct soft_comp *c)
{
	while (c->in_flight)
		pthread_cond_wait(&c->idle, &c->lock);
}

void soft_comps_close(struct soft_context *ctx)
{
	for (;;) {
		struct soft_comp *c;

		/* Another thread may be destroying it: as a user it is kept, once its lock was taken while it was listed. */
		pthread_mutex_lock(&soft_registry);
		c = ctx->comps;
		if (c) {
			ctx->comps = c->sibling;
			pthread_mutex_lock(&c->lock);
			c->ctx = NULL;
			c->users++;
		}
		pthread_mutex_unlock(&soft_registry);
		if (!c)
			return;
		wait_in_flight(c);
		end_comp(c);
		if (--c->users == 0 && c->destroyed)
			pthread_cond_broadcast(&c->idle);
		pthread_mutex_unlock(&c->lock);
	}
}

static void unlist(struct soft_comp *c)
{
	struct soft_comp **p;

	pthread_mutex_lock(&soft_registry);
	for (p = c->ctx ? &c->ctx->comps : NULL; p && *p; p = &(*p)->sibling) {
		if (*p == c) {
			*p = c->sibling;
			break;
		}
	}
	for (p = &all; *p; p = &(*p)->next) {
		if (*p == c) {
			*p = c->next;
			atomic_fetch_sub(&n_all, 1);
			break;
		}
	}
	pthread_mutex_unlock(&soft_registry);
}

void soft_comp_destroy(struct mlx5dv_devx_cmd_comp *pub)
{
	struct soft_comp *c = comp_of(pub);

	/* A duplicate's struct is the program's own; in a fork child the completion is the parent's. */
	if (!c || &c->pub != pub || c->fork_gen != soft_fork_gen)
		return;
	pthread_mutex_lock(&c->lock);
	if (c->destroyed) {
		pthread_mutex_unlock(&c->lock);
		return;
	}
	c->destroyed = true; /* no submit, no get begins from here on */
	wait_in_flight(c);
	c->ending = true;
	die(c); /* wakes those who sleep in get */
	while (c->users)
		pthread_cond_wait(&c->idle, &c->lock);
	pthread_mutex_unlock(&c->lock);

	unlist(c);
	pthread_mutex_lock(&c->lock);
	close_fds(c);
	c->pub.fd = -1;
	c->head = NULL;
	pool_destroy(&c->pool);
	pthread_mutex_unlock(&c->lock);
	soft_device_put(c->dev);
	slab_free(&soft_comps, c);
}

/* The oldest record to resp, if it fits. EAGAIN: none. Lock held; users counts the caller. */
static int take_record(struct soft_comp *c, struct mlx5dv_devx_async_cmd_hdr *resp, size_t len)
{
	struct hca_cmd *r = c->head;
	struct soft_cmd *cmd;

	if (c->destroyed)
		return EBADF;
	if (!r)
		return EAGAIN;
	cmd = soft_cmd_of(r);
	if (len < sizeof(resp->wr_id) + r->outlen)
		return ENOSPC;
	pop(c);
	memcpy(&resp->wr_id, &cmd->wr_id, sizeof(resp->wr_id));
	memcpy((char *)resp + sizeof(resp->wr_id), r->box, r->outlen);
	pool_put(&c->pool, cmd, box_size(r));
	return 0;
}

/*
 * Sleeps, or not, as the descriptor's O_NONBLOCK says: the kernel's own recv decides, so that flags, signals and restarts are
 * the kernel's. 0: look again.
 */
static int wait_record(struct soft_comp *c)
{
	char byte;
	ssize_t n = recv(c->reader, &byte, 1, MSG_PEEK);

	if (n > 0)
		return 0;
	if (n < 0)
		return errno;
	return fcntl(c->reader, F_GETFL) & O_NONBLOCK ? EAGAIN : EIO;
}

int soft_comp_get(struct mlx5dv_devx_cmd_comp *pub, struct mlx5dv_devx_async_cmd_hdr *resp, size_t len)
{
	struct soft_comp *c = comp_of(pub);
	int err, slept = 0;

	if (!c || !c->has_lock)
		return EBADF;
	if (c->fork_gen != soft_fork_gen)
		return EIO;
	pthread_mutex_lock(&c->lock);
	if (c->destroyed || c->pub.fd < 0) {
		pthread_mutex_unlock(&c->lock);
		return EBADF;
	}
	c->users++;
	while ((err = take_record(c, resp, len)) == EAGAIN && !slept) {
		pthread_mutex_unlock(&c->lock);
		slept = wait_record(c);
		pthread_mutex_lock(&c->lock);
	}
	if (err == EAGAIN)
		err = slept;
	if (--c->users == 0 && c->destroyed)
		pthread_cond_broadcast(&c->idle);
	pthread_mutex_unlock(&c->lock);
	return err;
}

/* Lock held: room in the budget, a device that takes commands, and memory for this one. */
static int charge(struct soft_comp *c, size_t inlen, size_t outlen, struct soft_cmd **cmd)
{
	if (c->charged + outlen > BUDGET)
		return EAGAIN;
	if (c->outstanding >= COMMANDS)
		return ENOMEM;
	if (c->ending)
		return EIO;
	if (atomic_load(&c->dev->stalled))
		return EAGAIN;
	*cmd = pool_get(&c->pool, inlen > outlen ? inlen : outlen);
	if (!*cmd)
		return ENOMEM;
	c->charged += (uint32_t)outlen;
	c->in_flight++;
	c->outstanding++;
	return 0;
}

static int check_query(struct soft_context *ctx, const struct soft_obj *obj, const void *in, size_t inlen, size_t outlen)
{
	if (atomic_load(&ctx->dev->removed))
		return EIO;
	if (!in || inlen < PRM_HDR_SZ || inlen > PRM_BOX_MAX || outlen > PRM_BOX_MAX)
		return EINVAL;
	if (rules_tunnel_id(in) || !rules_is_query(in) || !rules_id_inside(in, inlen) ||
	    !rules_names(in, inlen, obj->key, obj->n_ids))
		return EINVAL;
	return 0;
}

static int submit(struct soft_context *ctx, struct soft_comp *c, const void *in, size_t inlen, size_t outlen, uint64_t wr_id)
{
	struct soft_cmd *cmd = NULL;
	int err;

	pthread_mutex_lock(&c->lock);
	if (c->destroyed || c->ctx != ctx)
		err = EBADF;
	else
		err = charge(c, inlen, outlen, &cmd);
	pthread_mutex_unlock(&c->lock);
	if (err)
		return err;
	cmd->comp = c;
	cmd->wr_id = wr_id;
	cmd->hca.inlen = (uint32_t)inlen;
	cmd->hca.outlen = (uint16_t)outlen;
	cmd->hca.async = 1;
	memcpy(cmd->hca.box, in, inlen);
	rules_stamp_uid(cmd->hca.box, ctx->uid);
	soft_submit(ctx->dev, cmd);
	return 0;
}

/* Is it alive, and of this context? */
static bool comp_fits(struct soft_comp *c, const struct soft_context *ctx)
{
	bool fits;

	pthread_mutex_lock(&c->lock);
	fits = !c->destroyed && c->ctx == ctx;
	pthread_mutex_unlock(&c->lock);
	return fits;
}

/* The order of the checks is the kernel's: device, handles, mailbox, opcode and id, budget, then what the driver says. */
int soft_obj_query_async(struct mlx5dv_devx_obj *pub, const void *in, size_t inlen, size_t outlen, uint64_t wr_id,
			 struct mlx5dv_devx_cmd_comp *comp)
{
	struct soft_comp *c = comp_of(comp);
	struct soft_context *ctx;
	int err = soft_obj_read_lock(pub, &ctx);

	if (err)
		return err;
	if (!c && !atomic_load(&ctx->dev->removed)) {
		err = comp->fd == -1 ? EINVAL : EBADF; /* libmlx5 leaves fd -1 out of its ioctl, and the kernel misses it */
		goto unlock;
	}
	err = EIO;
	if (c && c->fork_gen != soft_fork_gen)
		goto unlock; /* of the parent: its lock may have been held at the fork */
	err = check_query(ctx, (struct soft_obj *)pub, in, inlen, outlen);
	if (err == EINVAL && !comp_fits(c, ctx))
		err = EBADF; /* submit would say so, had it come that far */
	if (!err)
		err = submit(ctx, c, in, inlen, outlen, wr_id);
unlock:
	soft_obj_read_unlock(pub);
	return err;
}
