/* SPDX-License-Identifier: BSD-2-Clause */
/* Event channels: who subscribed to what, and the events that wait to be read. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device.h"
#include "prm.h"

#define EVENTS_MAX 16u /* of one call: MAX_NUM_EVENTS of Linux, devx.c */
#define CAP_DEV_EVENT 0x14u

struct record {
	struct record *next;
	uint64_t cookie;
	uint8_t eqe[64];
};

#define COOKIE_BYTES sizeof(uint64_t)
#define RECORD_BYTES (COOKIE_BYTES + sizeof(((struct record *)NULL)->eqe))

struct soft_channel {
	struct fdq q;
	bool omit;                   /* only cookies; set once */
	struct soft_sub_list subs;   /* under the model's lock */
	/* Under the queue's. */
	bool overflow;               /* an event found no memory */
	struct record *head, *tail;  /* oldest first */
	struct soft_sub_list waits;  /* omit: subscriptions with something to tell */
	void *slab_link;
};

enum list { IN_BUCKET, OF_CHANNEL, OF_OBJ, WAITING, N_LISTS };

/* A subscription. Its lists are under the model's lock, but for the one of those that wait: that is under its channel's. */
struct soft_sub {
	struct {
		struct soft_sub *next, **at;
	} list[N_LISTS];
	struct soft_channel *channel;
	struct soft_obj *obj; /* NULL: unaffiliated */
	uint32_t key;         /* event | object type << 16 */
	uint32_t id;
	uint64_t cookie;
	int eventfd;          /* a duplicate of our own, told instead of the channel; -1: none */
	bool waiting;
	bool ended;           /* in no other list any more: goes when it was read */
};

struct slab soft_channels = SLAB_INIT(struct soft_channel, (size_t)1 << 28);

static void add(struct soft_sub_list *l, struct soft_sub *s, enum list which)
{
	if (!l->first)
		l->end = &l->first;
	s->list[which].next = NULL;
	s->list[which].at = l->end;
	*l->end = s;
	l->end = &s->list[which].next;
}

static void take_out(struct soft_sub_list *l, struct soft_sub *s, enum list which)
{
	struct soft_sub *next = s->list[which].next;

	*s->list[which].at = next;
	if (next)
		next->list[which].at = s->list[which].at;
	else
		l->end = s->list[which].at;
}

static bool channel_empty(const struct fdq *q)
{
	const struct soft_channel *c = (const struct soft_channel *)q;

	return !c->head && !c->waits.first;
}

static void pop_record(struct soft_channel *c)
{
	struct record *r = c->head;

	c->head = r->next;
	free(r);
	if (!c->head)
		fdq_emptied(&c->q);
}

static void free_sub(struct soft_sub *s)
{
	if (s->eventfd >= 0)
		close(s->eventfd);
	free(s);
}

static void pop_waiting(struct soft_channel *c, struct soft_sub *s)
{
	take_out(&c->waits, s, WAITING);
	s->waiting = false;
	if (!c->waits.first)
		fdq_emptied(&c->q);
	if (s->ended)
		free_sub(s);
}

/* The order of the answers is the kernel's: an overflow is told first, and once. */
static ssize_t channel_take(struct fdq *q, void *buf, size_t len)
{
	struct soft_channel *c = (struct soft_channel *)q;
	size_t n = c->omit ? COOKIE_BYTES : RECORD_BYTES;

	if (c->overflow) {
		c->overflow = false;
		return -EOVERFLOW;
	}
	if (channel_empty(q))
		return -EAGAIN;
	if (len < n)
		return -EINVAL;
	if (c->omit) {
		memcpy(buf, &c->waits.first->cookie, COOKIE_BYTES);
		pop_waiting(c, c->waits.first);
	} else {
		memcpy(buf, &c->head->cookie, COOKIE_BYTES);
		memcpy((char *)buf + COOKIE_BYTES, c->head->eqe, sizeof(c->head->eqe));
		pop_record(c);
	}
	return (ssize_t)n;
}

static void channel_drop(struct fdq *q)
{
	struct soft_channel *c = (struct soft_channel *)q;

	while (c->head)
		pop_record(c);
	while (c->waits.first)
		pop_waiting(c, c->waits.first);
}

/* --- Subscriptions: model's lock held. */

static struct soft_sub_list *bucket(struct soft_sub_table *t, uint32_t key, uint32_t id)
{
	/* Multiplicative hashing: the ids are dense, the keys are few. */
	uint64_t x = ((uint64_t)key << 32 | id) * UINT64_C(0x9e3779b97f4a7c15);

	return &t->buckets[x >> 32 & (t->n_buckets - 1)];
}

/* Room for n more. False: no memory for the first of them; later ones do with longer chains. */
static bool table_room(struct soft_sub_table *t, uint32_t n)
{
	struct soft_sub_table more = { .n = t->n, .n_buckets = t->n_buckets ? t->n_buckets : 64 };
	struct soft_sub *s, *next;

	while (more.n_buckets < t->n + n && more.n_buckets < 1u << 30)
		more.n_buckets *= 2;
	if (more.n_buckets == t->n_buckets)
		return true;
	more.buckets = calloc(more.n_buckets, sizeof(*more.buckets));
	if (!more.buckets)
		return t->n_buckets;
	for (uint32_t i = 0; i < t->n_buckets; i++) {
		for (s = t->buckets[i].first; s; s = next) {
			next = s->list[IN_BUCKET].next;
			add(bucket(&more, s->key, s->id), s, IN_BUCKET);
		}
	}
	free(t->buckets);
	*t = more;
	return true;
}

/* What is queued stays so when the object goes, as in the kernel: also the cookie of a channel that omits data. */
static void unsubscribe(struct soft_device *dev, struct soft_sub *s)
{
	struct soft_channel *c = s->channel;
	bool waits;

	take_out(bucket(&dev->subs, s->key, s->id), s, IN_BUCKET);
	take_out(&c->subs, s, OF_CHANNEL);
	if (s->obj)
		take_out(&s->obj->subs, s, OF_OBJ);
	dev->subs.n--;
	pthread_mutex_lock(&c->q.lock);
	waits = s->ended = s->waiting;
	pthread_mutex_unlock(&c->q.lock);
	if (!waits)
		free_sub(s);
}

void soft_subs_end(struct soft_device *dev, struct soft_obj *obj)
{
	if (!atomic_load(&obj->watched))
		return; /* it is in nobody else's hands any more: none can come */
	pthread_mutex_lock(&dev->model);
	while (obj->subs.first)
		unsubscribe(dev, obj->subs.first);
	pthread_mutex_unlock(&dev->model);
}

static void channel_retire(struct fdq *q)
{
	struct soft_channel *c = (struct soft_channel *)q;

	pthread_mutex_lock(&q->dev->model);
	while (c->subs.first)
		unsubscribe(q->dev, c->subs.first);
	pthread_mutex_unlock(&q->dev->model);
}

static const struct fdq_ops channel_ops = { channel_empty, channel_take, channel_drop, channel_retire, channel_drop };

static void tell(struct soft_sub *s, const uint8_t *eqe)
{
	struct soft_channel *c = s->channel;
	struct record *r;

	pthread_mutex_lock(&c->q.lock);
	if (c->q.ending || s->waiting)
		goto unlock;
	if (s->eventfd >= 0) {
		soft_eventfd_signal(s->eventfd);
		goto unlock;
	}
	if (c->omit) {
		add(&c->waits, s, WAITING);
		s->waiting = true;
	} else if ((r = malloc(sizeof(*r)))) {
		*r = (struct record){ .cookie = s->cookie };
		memcpy(r->eqe, eqe, sizeof(r->eqe));
		if (c->head)
			c->tail->next = r;
		else
			c->head = r;
		c->tail = r;
	} else {
		c->overflow = true; /* as the kernel: nobody is woken for it */
		goto unlock;
	}
	fdq_filled(&c->q);
unlock:
	pthread_mutex_unlock(&c->q.lock);
}

void soft_channels_event(struct soft_device *dev, const struct hca_event *ev)
{
	uint32_t key = ev->type | (uint32_t)ev->obj_type << 16;

	if (dev->subs.n)
		for (struct soft_sub *s = bucket(&dev->subs, key, ev->obj_id)->first; s; s = s->list[IN_BUCKET].next)
			if (s->key == key && s->id == ev->obj_id && !s->obj == !ev->affiliated)
				tell(s, ev->eqe);
}

/* --- The calls. */

static struct soft_channel *channel_of(const struct mlx5dv_devx_event_channel *pub)
{
	if (slab_owns(&soft_channels, pub))
		return (struct soft_channel *)pub;
	return (struct soft_channel *)fdq_by_fd(pub->fd, &channel_ops);
}

bool soft_owns_channel(const struct mlx5dv_devx_event_channel *pub)
{
	return pub && channel_of(pub);
}

struct mlx5dv_devx_event_channel *soft_channel_create(struct ibv_context *ibv, uint32_t flags)
{
	struct soft_context *ctx = soft_ctx(ibv);
	struct soft_channel *c = NULL;
	int err = soft_check_context(ibv);

	if (!err && atomic_load(&ctx->dev->removed))
		err = EIO;
	if (!err && flags & ~(uint32_t)MLX5DV_DEVX_CREATE_EVENT_CHANNEL_FLAGS_OMIT_EV_DATA)
		err = EINVAL;
	if (!err && !(c = slab_alloc(&soft_channels)))
		err = ENOMEM;
	if (!err) {
		c->omit = flags;
		c->overflow = false;
		c->head = c->tail = NULL;
		c->subs.first = c->waits.first = NULL;
		err = fdq_create(&c->q, &channel_ops, ctx);
	}
	if (!err)
		return &c->q.channel;
	if (c)
		slab_free(&soft_channels, c);
	errno = err;
	return NULL;
}

void soft_channel_destroy(struct mlx5dv_devx_event_channel *pub)
{
	struct soft_channel *c = channel_of(pub);

	/* A duplicate's struct is the program's own. */
	if (c && &c->q.channel == pub && fdq_destroy(&c->q))
		slab_free(&soft_channels, c);
}

ssize_t soft_channel_get(struct mlx5dv_devx_event_channel *pub, struct mlx5dv_devx_async_event_hdr *data, size_t len)
{
	return fdq_get((struct fdq *)channel_of(pub), data, len);
}

/* The events that the device says a program may subscribe to: 4 words, event n in bit n % 64 of word n / 64. */
static void query_events(struct soft_device *dev, bool affiliated, uint64_t valid[4])
{
	uint8_t in[PRM_SZ(query_hca_cap_in)] = { 0 }, out[PRM_SZ(query_hca_cap_out)];
	struct prm_box i = prm_out(in, sizeof(in)), o = prm_in(out, sizeof(out)), page;
	struct { uint32_t bit, width; } at[] = { { PRM_F_device_event_cap__user_unaffiliated_events },
						 { PRM_F_device_event_cap__user_affiliated_events } };

	PRM_SET(&i, query_hca_cap_in, opcode, PRM_OP_QUERY_HCA_CAP);
	PRM_SET(&i, query_hca_cap_in, op_mod, CAP_DEV_EVENT << 1 | 1); /* what is set now */
	hca_execute(dev->hca, in, sizeof(in), out, sizeof(out));
	page = PRM_SUB(&o, query_hca_cap_out, capability);
	for (uint32_t n = 0; n < 4; n++)
		valid[n] = prm_get(&page, at[affiliated].bit + n * 64, at[affiliated].width);
}

static int check_events(struct soft_device *dev, bool affiliated, const uint16_t *events, size_t n)
{
	uint64_t valid[4];

	query_events(dev, affiliated, valid);
	valid[0] |= affiliated; /* completions: every CQ has them */
	for (size_t i = 0; i < n; i++)
		if (events[i] / 64 >= 4 || !(valid[events[i] / 64] >> events[i] % 64 & 1))
			return EINVAL;
	return 0;
}

static int dup_eventfd(int fd, int *copy)
{
	static const char is[] = "anon_inode:[eventfd]";
	char path[32], link[sizeof(is)];
	ssize_t n;

	*copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (*copy < 0)
		return errno;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", *copy);
	n = readlink(path, link, sizeof(link));
	if (n == sizeof(is) - 1 && !memcmp(link, is, sizeof(is) - 1))
		return 0;
	close(*copy);
	return n < 0 && errno == ENOMEM ? ENOMEM : EINVAL;
}

static int new_sub(const struct soft_sub *like, uint16_t event, const int *eventfd, struct soft_sub **sub)
{
	struct soft_sub *s = malloc(sizeof(*s));
	int err = 0;

	if (!s)
		return ENOMEM;
	*s = *like;
	s->eventfd = -1;
	s->key = event;
	if (s->obj) {
		s->key |= (uint32_t)rules_event_object(s->obj->key, event) << 16;
		s->id = (uint32_t)s->obj->key;
	}
	if (eventfd)
		err = dup_eventfd(*eventfd, &s->eventfd);
	if (err)
		free(s);
	else
		*sub = s;
	return err;
}

/* All of the events, or none. Model's lock held. */
static int subscribe_all(struct soft_device *dev, const struct soft_sub *like, const uint16_t *events, size_t n,
			 const int *eventfd)
{
	struct soft_sub *subs[EVENTS_MAX];
	size_t made = 0;
	int err = check_events(dev, like->obj, events, n);

	if (!err && !table_room(&dev->subs, (uint32_t)n))
		err = ENOMEM;
	while (!err && made < n) {
		err = new_sub(like, events[made], eventfd, &subs[made]);
		made += !err;
	}
	for (size_t i = 0; i < made; i++) {
		if (err) {
			free_sub(subs[i]);
			continue;
		}
		add(bucket(&dev->subs, subs[i]->key, subs[i]->id), subs[i], IN_BUCKET);
		add(&like->channel->subs, subs[i], OF_CHANNEL);
		if (like->obj) {
			add(&like->obj->subs, subs[i], OF_OBJ);
			atomic_store(&like->obj->watched, true);
		}
		dev->subs.n++;
	}
	return err;
}

/* The order of the checks is the kernel's: device, channel, object, list, events, memory, eventfd. */
int soft_subscribe(struct mlx5dv_devx_event_channel *pub, struct mlx5dv_devx_obj *obj, const uint16_t *events, size_t bytes,
		   uint64_t cookie, const int *eventfd)
{
	struct soft_sub like = { .channel = channel_of(pub), .cookie = cookie };
	struct soft_context *of_obj = NULL, *ctx;
	struct soft_device *dev;
	int err = fdq_enter((struct fdq *)like.channel, &ctx);

	if (err)
		return err;
	dev = like.channel->q.dev;
	if (atomic_load(&dev->removed))
		err = EIO;
	else if (!ctx)
		err = EBADF; /* its context was closed */
	else if (obj)
		err = soft_obj_read_lock(obj, &of_obj, &like.obj);
	if (err) {
		fdq_leave(&like.channel->q);
		return err;
	}
	if (obj && of_obj != ctx)
		err = ENOENT; /* the kernel looks a handle up in the channel's context */
	else if (!events || bytes < sizeof(*events) || bytes % sizeof(*events) || bytes / sizeof(*events) > EVENTS_MAX)
		err = EINVAL;
	if (!err) {
		pthread_mutex_lock(&dev->model);
		err = subscribe_all(dev, &like, events, bytes / sizeof(*events), eventfd);
		pthread_mutex_unlock(&dev->model);
	}
	if (obj)
		soft_obj_read_unlock(like.obj);
	fdq_leave(&like.channel->q);
	return err;
}
