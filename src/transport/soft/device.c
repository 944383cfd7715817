/* SPDX-License-Identifier: BSD-2-Clause */
/* Software devices: the one that appears by itself, those that programs make, and their list. */
#include <endian.h>
#include <errno.h>
#include <opendevx/soft.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"

pthread_mutex_t soft_registry = PTHREAD_MUTEX_INITIALIZER;

struct slab soft_handles = SLAB_INIT(struct soft_handle, (size_t)1 << 25);
struct slab soft_contexts = SLAB_INIT(struct soft_context, (size_t)1 << 26);
struct slab soft_objs = SLAB_INIT(struct soft_obj, (size_t)1 << 32);
struct slab soft_umems = SLAB_INIT(struct soft_umem, (size_t)1 << 31);

/* Under soft_registry. */
static struct soft_device *devices;
static unsigned int next_index = 1; /* mlx5_soft0 is the one that appears by itself */
static bool env_read;
static struct soft_device *env_device;
static bool env_beside_real;        /* asked for: also when there is a real one */

static struct soft_device *device_new(const struct spec *spec, unsigned int index)
{
	struct soft_device *dev = calloc(1, sizeof(*dev)), **end;
	struct soft_handle *h = dev ? slab_alloc(&soft_handles) : NULL;
	pthread_condattr_t attr;

	if (!h)
		goto no_memory;
	dev->spec = *spec;
	/* Locally administered EUI-64, so that it meets no real card's. */
	dev->guid = dev->spec.hca.guid = UINT64_C(0x0200de0000000000) | index;
	dev->hca = hca_new(&dev->spec.hca, &soft_host_ops, dev);
	if (!dev->hca) {
		slab_free(&soft_handles, h);
		goto no_memory;
	}
	dev->handle = h;
	dev->fork_gen = soft_fork_gen;
	dev->refs = 1;
	dev->next_due = HCA_NEVER;
	pthread_mutex_init(&dev->model, NULL);
	pthread_mutex_init(&dev->queue_lock, NULL);
	soft_permits_init(dev);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&dev->wake, &attr);
	pthread_condattr_destroy(&attr);
	memset(&h->ibv, 0, sizeof(h->ibv));
	h->ibv.node_type = IBV_NODE_CA;
	h->ibv.transport_type = IBV_TRANSPORT_IB;
	snprintf(h->ibv.name, sizeof(h->ibv.name), "mlx5_soft%u", index);
	snprintf(h->ibv.dev_name, sizeof(h->ibv.dev_name), "uverbs_soft%u", index);
	h->dev = dev;
	for (end = &devices; *end; end = &(*end)->next)
		;
	*end = dev;
	return dev;

no_memory:
	free(dev);
	errno = ENOMEM;
	return NULL;
}

static void unlist(struct soft_device *dev)
{
	for (struct soft_device **p = &devices; *p; p = &(*p)->next) {
		if (*p == dev) {
			*p = dev->next;
			break;
		}
	}
	if (env_device == dev)
		env_device = NULL;
}

static void device_free(struct soft_device *dev)
{
	hca_free(dev->hca);
	pthread_cond_destroy(&dev->wake);
	pthread_mutex_destroy(&dev->queue_lock);
	pthread_mutex_destroy(&dev->model);
	free(dev->umems);
	free(dev->subs.buckets);
	free(dev);
}

void soft_device_put(struct soft_device *dev)
{
	bool last;

	pthread_mutex_lock(&soft_registry);
	last = --dev->refs == 0;
	pthread_mutex_unlock(&soft_registry);
	if (last)
		device_free(dev);
}

bool soft_owns_device(const struct ibv_device *dev)
{
	return slab_owns(&soft_handles, dev);
}

/* The registry's lock is held. */
static struct soft_device *device_of(struct ibv_device *ibv, int *err)
{
	struct soft_device *dev;

	*err = EINVAL;
	if (!ibv)
		return NULL;
	*err = ENODEV;
	if (!soft_owns_device(ibv) || !(dev = ((struct soft_handle *)ibv)->dev))
		return NULL;
	*err = EIO;
	return dev->fork_gen == soft_fork_gen ? dev : NULL;
}

struct soft_device *soft_device_get(struct ibv_device *ibv, int *err)
{
	struct soft_device *dev;

	pthread_mutex_lock(&soft_registry);
	dev = device_of(ibv, err);
	if (dev)
		dev->refs++;
	pthread_mutex_unlock(&soft_registry);
	return dev;
}

/* Read once a process: a device must not change under a running program. */
static void read_environment(void)
{
	const char *text = secure_getenv("OPENDEVX_SOFT");
	struct spec spec;

	if (env_read || soft_fork_init())
		return;
	env_read = true;
	if (spec_parse(text ? text : "", "OPENDEVX_SOFT", &spec) != SPEC_OK)
		return;
	env_device = device_new(&spec, 0);
	if (!env_device) {
		fprintf(stderr, "opendevx: no memory for the software device\n");
		env_read = false; /* perhaps later */
		return;
	}
	env_device->nobody_asked = !text || !*text;
	env_beside_real = !env_device->nobody_asked;
	/* Made by others first or not: it is listed as the oldest. */
	if (devices != env_device) {
		struct soft_device *d = env_device;

		unlist(d);
		d->next = devices;
		devices = env_device = d;
	}
}

int soft_list(struct ibv_device **out, int max, const struct odx_shown *shown)
{
	int n = 0;

	pthread_mutex_lock(&soft_registry);
	read_environment();
	for (struct soft_device *d = devices; d; d = d->next) {
		if (d == env_device && shown->real && !env_beside_real)
			continue;
		if (n < max)
			out[n] = &d->handle->ibv;
		n++;
	}
	pthread_mutex_unlock(&soft_registry);
	return n;
}

void soft_devices_forget(void)
{
	/* Not freed: the parent's threads may have been inside. The list's memory stays reachable through it. */
	static struct soft_device *parents;
	struct soft_device **end = &parents;

	while (*end)
		end = &(*end)->next;
	*end = devices;
	devices = env_device = NULL;
	env_read = false;
}

const char *soft_device_name(struct ibv_device *dev)
{
	return dev->name; /* stays readable after the device went */
}

uint64_t soft_device_guid(struct ibv_device *ibv)
{
	struct soft_device *dev;
	uint64_t guid = 0;
	int err;

	pthread_mutex_lock(&soft_registry);
	dev = device_of(ibv, &err);
	if (dev)
		guid = dev->guid;
	pthread_mutex_unlock(&soft_registry);
	if (!dev)
		errno = err;
	return htobe64(guid);
}

ODX_EXPORT struct ibv_device *odx_soft_create(const char *text)
{
	struct soft_device *dev = NULL;
	struct spec spec;
	enum spec_result r;
	int err;

	if (!text) {
		errno = EINVAL;
		return NULL;
	}
	r = spec_parse(text, "odx_soft_create", &spec);
	if (r != SPEC_OK) {
		errno = r == SPEC_OFF ? ENODEV : EINVAL;
		return NULL;
	}
	err = soft_fork_init();
	if (err) {
		errno = err;
		return NULL;
	}
	pthread_mutex_lock(&soft_registry);
	dev = device_new(&spec, next_index);
	if (dev)
		next_index++;
	pthread_mutex_unlock(&soft_registry);
	return dev ? &dev->handle->ibv : NULL;
}

ODX_EXPORT int odx_soft_destroy(struct ibv_device *ibv)
{
	struct soft_device *dev;
	int err = 0;

	if (!ibv)
		return 0;
	pthread_mutex_lock(&soft_registry);
	dev = device_of(ibv, &err);
	if (dev && dev->n_contexts) {
		err = EBUSY;
		dev = NULL;
	}
	if (dev) {
		unlist(dev);
		dev->handle->dev = NULL;
	}
	pthread_mutex_unlock(&soft_registry);
	if (!dev)
		return err;
	slab_free(&soft_handles, dev->handle);
	soft_device_put(dev);
	return 0;
}
