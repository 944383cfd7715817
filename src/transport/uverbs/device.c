/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's mlx5 devices as a program sees them. */
#include <stdio.h>

#include "uverbs.h"

pthread_mutex_t uverbs_registry = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t uverbs_lists = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t uverbs_uar_pools = PTHREAD_MUTEX_INITIALIZER;

struct slab uverbs_devices = SLAB_INIT(struct uverbs_device, (size_t)1 << 25);
struct slab uverbs_contexts = SLAB_INIT(struct uverbs_context, (size_t)1 << 26);
struct slab uverbs_objs = SLAB_INIT(struct uverbs_obj, (size_t)1 << 32);
struct slab uverbs_umems = SLAB_INIT(struct uverbs_umem, (size_t)1 << 31);
struct slab uverbs_pds = SLAB_INIT(struct uverbs_pd, (size_t)1 << 27);
struct slab uverbs_mrs = SLAB_INIT(struct uverbs_mr, (size_t)1 << 31);
struct slab uverbs_comps = SLAB_INIT(struct uverbs_comp, (size_t)1 << 26);
struct slab uverbs_channels = SLAB_INIT(struct uverbs_channel, (size_t)1 << 26);

static struct uverbs_device *devices, **last = &devices; /* under uverbs_registry */

/* --- fork: a child must find no lock that a thread of the parent held. */

static struct slab *const slabs[] = {
	&uverbs_devices, &uverbs_contexts, &uverbs_objs, &uverbs_umems, &uverbs_comps, &uverbs_channels,
	&uverbs_uars, &uverbs_pds, &uverbs_mrs,
};
#define N_SLABS (sizeof(slabs) / sizeof(slabs[0]))

static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

static void before_fork(void)
{
	pthread_mutex_lock(&uverbs_registry);
	pthread_mutex_lock(&uverbs_lists);
	pthread_mutex_lock(&uverbs_uar_pools);
	for (size_t i = 0; i < N_SLABS; i++)
		pthread_mutex_lock(&slabs[i]->lock);
}

static void after_fork(void)
{
	for (size_t i = N_SLABS; i--;)
		pthread_mutex_unlock(&slabs[i]->lock);
	pthread_mutex_unlock(&uverbs_uar_pools);
	pthread_mutex_unlock(&uverbs_lists);
	pthread_mutex_unlock(&uverbs_registry);
}

static void watch_fork(void)
{
	pthread_atfork(before_fork, after_fork, after_fork);
}

/* --- the list */

/* Registry's lock held. NULL: no memory. */
static struct uverbs_device *device_for(const struct uverbs_found *f)
{
	struct uverbs_device *d;

	for (d = devices; d; d = d->next)
		if (d->rdev == f->rdev && d->guid == f->guid && !strcmp(d->ibv.name, f->ibdev))
			return d;
	d = slab_alloc(&uverbs_devices);
	if (!d)
		return NULL;
	d->ibv.node_type = f->node_type;
	d->ibv.transport_type = IBV_TRANSPORT_IB;
	snprintf(d->ibv.name, sizeof(d->ibv.name), "%s", f->ibdev);
	snprintf(d->ibv.dev_name, sizeof(d->ibv.dev_name), "uverbs%u", f->index);
	snprintf(d->ibv.dev_path, sizeof(d->ibv.dev_path), "/sys/class/infiniband_verbs/%s", d->ibv.dev_name);
	snprintf(d->ibv.ibdev_path, sizeof(d->ibv.ibdev_path), "/sys/class/infiniband/%s", d->ibv.name);
	d->rdev = f->rdev;
	d->guid = f->guid;
	*last = d;
	last = &d->next;
	return d;
}

struct listing {
	struct ibv_device **out;
	int n, max, err;
	const struct odx_shown *shown;
};

static void list_one(const struct uverbs_found *f, void *arg)
{
	struct listing *l = arg;
	struct uverbs_device *d;

	for (int i = 0; i < l->shown->n; i++)
		if (!strcmp(l->shown->devices[i]->name, f->ibdev))
			return; /* rdma-core's, and stays so */
	d = device_for(f);
	if (!d) {
		l->err = ENOMEM;
		return;
	}
	if (l->n < l->max)
		l->out[l->n] = &d->ibv;
	l->n++;
}

int uverbs_list(struct ibv_device **out, int max, const struct odx_shown *shown)
{
	struct listing l = { .out = out, .max = max, .shown = shown };
	int err;

	pthread_once(&fork_once, watch_fork);
	pthread_mutex_lock(&uverbs_registry);
	err = uverbs_scan(list_one, &l);
	pthread_mutex_unlock(&uverbs_registry);
	return err ? -err : l.err ? -l.err : l.n;
}

bool uverbs_owns_device(const struct ibv_device *dev)
{
	return slab_owns(&uverbs_devices, dev);
}

const char *uverbs_device_name(struct ibv_device *dev)
{
	return dev->name;
}

uint64_t uverbs_device_guid(struct ibv_device *dev)
{
	return ((struct uverbs_device *)dev)->guid;
}

struct sought {
	dev_t rdev;
	struct uverbs_device *found;
	int err;
};

static void seek(const struct uverbs_found *f, void *arg)
{
	struct sought *s = arg;

	if (f->rdev != s->rdev)
		return;
	s->found = device_for(f);
	s->err = s->found ? 0 : ENOMEM;
}

struct uverbs_device *uverbs_device_at(dev_t rdev)
{
	struct sought s = { .rdev = rdev, .err = ENODEV };
	int err;

	pthread_once(&fork_once, watch_fork);
	pthread_mutex_lock(&uverbs_registry);
	err = uverbs_scan(seek, &s);
	pthread_mutex_unlock(&uverbs_registry);
	if (!s.found)
		errno = err ? err : s.err;
	return s.found;
}
