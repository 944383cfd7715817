/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The least that an asynchronous command on a second thread can cost: a mutex queue there, a mutex queue back, and a byte in
 * a socket pair while records are queued. Records are as large as the commands that they stand for.
 */
#include "bench.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct record {
	struct record *next;
	uint64_t wr_id;
	uint8_t box[BENCH_IN];
};

struct queue {
	pthread_mutex_t lock;
	struct record *head, *tail;
};

struct floor {
	struct queue there, back;
	pthread_cond_t wake;
	bool sleeping, stop;
	struct record *free;
	struct record *all;
	int fd[2];
	pthread_t thread;
};

#define RECORDS 64

static void push(struct queue *q, struct record *head, struct record *tail)
{
	if (q->head)
		q->tail->next = head;
	else
		q->head = head;
	q->tail = tail;
}

/* One after the other, as a device executes: the answer is another record of the same size. */
static struct record *execute(struct record *head)
{
	struct record *tail = head;
	uint8_t out[BENCH_OUT];

	for (struct record *r = head; r; r = r->next) {
		memset(out, 0, sizeof(out));
		memcpy(out, &r->wr_id, sizeof(r->wr_id));
		memcpy(r->box, out, sizeof(out));
		tail = r;
	}
	return tail;
}

static void *serve(void *arg)
{
	struct floor *f = arg;

	for (;;) {
		struct record *head, *tail;
		bool stop;

		pthread_mutex_lock(&f->there.lock);
		while (!f->there.head && !f->stop) {
			f->sleeping = true;
			pthread_cond_wait(&f->wake, &f->there.lock);
		}
		f->sleeping = false;
		head = f->there.head;
		f->there.head = NULL;
		stop = f->stop;
		pthread_mutex_unlock(&f->there.lock);
		if (stop)
			return NULL;
		tail = execute(head);
		pthread_mutex_lock(&f->back.lock);
		if (!f->back.head && send(f->fd[1], "", 1, MSG_DONTWAIT | MSG_NOSIGNAL) != 1)
			bench_die("send", errno);
		push(&f->back, head, tail);
		pthread_mutex_unlock(&f->back.lock);
	}
}

struct floor *floor_new(void)
{
	struct floor *f = calloc(1, sizeof(*f));
	int err;

	if (!f || !(f->all = calloc(RECORDS, sizeof(*f->all))))
		bench_die("memory", ENOMEM);
	for (int i = 0; i < RECORDS; i++) {
		f->all[i].next = f->free;
		f->free = &f->all[i];
	}
	pthread_mutex_init(&f->there.lock, NULL);
	pthread_mutex_init(&f->back.lock, NULL);
	pthread_cond_init(&f->wake, NULL);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, f->fd))
		bench_die("socketpair", errno);
	err = pthread_create(&f->thread, NULL, serve, f);
	if (err)
		bench_die("thread", err);
	return f;
}

void floor_free(struct floor *f)
{
	pthread_mutex_lock(&f->there.lock);
	f->stop = true;
	pthread_cond_signal(&f->wake);
	pthread_mutex_unlock(&f->there.lock);
	pthread_join(f->thread, NULL);
	close(f->fd[0]);
	close(f->fd[1]);
	pthread_cond_destroy(&f->wake);
	pthread_mutex_destroy(&f->there.lock);
	pthread_mutex_destroy(&f->back.lock);
	free(f->all);
	free(f);
}

int floor_fd(const struct floor *f)
{
	return f->fd[0];
}

void floor_submit(struct floor *f, const void *in, uint64_t wr_id)
{
	struct record *r = f->free; /* never more in flight than there are */
	bool wake;

	f->free = r->next;
	r->next = NULL;
	r->wr_id = wr_id;
	memcpy(r->box, in, BENCH_IN);
	pthread_mutex_lock(&f->there.lock);
	push(&f->there, r, r);
	wake = f->sleeping;
	f->sleeping = false;
	if (wake)
		pthread_cond_signal(&f->wake);
	pthread_mutex_unlock(&f->there.lock);
}

bool floor_get(struct floor *f, void *to)
{
	struct ours_record *out = to;
	struct record *r;
	char byte;

	pthread_mutex_lock(&f->back.lock);
	r = f->back.head;
	if (r) {
		f->back.head = r->next;
		if (!r->next && recv(f->fd[0], &byte, 1, MSG_DONTWAIT) != 1)
			bench_die("recv", errno);
	}
	pthread_mutex_unlock(&f->back.lock);
	if (!r)
		return false;
	out->wr_id = r->wr_id;
	memcpy(out->out, r->box, BENCH_OUT);
	r->next = f->free;
	f->free = r;
	return true;
}

uint64_t floor_inline_trip(void)
{
	static int fd[2] = { -1, -1 };
	uint64_t t;
	char byte = 0;

	if (fd[0] < 0 && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd))
		bench_die("socketpair", errno);
	t = bench_ns();
	if (write(fd[1], &byte, 1) != 1)
		bench_die("write", errno);
	bench_poll(fd[0]);
	if (read(fd[0], &byte, 1) != 1)
		bench_die("read", errno);
	return bench_ns() - t;
}
