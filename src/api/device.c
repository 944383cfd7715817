/* SPDX-License-Identifier: BSD-2-Clause */
/* The front door: devices of rdma-core, when it is in the process, and then those of our transports. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <opendevx/opendevx.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "next.h"
#include "own.h"

#undef ibv_get_device_list

#define NEXT_IBV(name, version) ((__typeof__(&name))odx_next_ibverbs(#name, version))
#define NEXT_MLX5(name, version) ((__typeof__(&name))odx_next_mlx5(#name, version))

/* Of the newer headers: the descriptors of user capabilities that an open may bring. */
#define ATTR_MASK_FD_ARRAY (1ull << 0)

struct fd_arr {
	int *arr;
	uint32_t count;
};

struct context_attr {
	uint32_t flags;
	uint64_t comp_mask;
	struct fd_arr *fds; /* there only when the mask says so: the older struct ends before it */
};

/* The lists that we made and that the program has not freed, and rdma-core's list inside each of them. */
struct list {
	struct list *next;
	struct ibv_device **real;
	struct ibv_device *all[];
};

static struct list *lists;
static pthread_mutex_t lists_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

static void lock_lists(void)
{
	pthread_mutex_lock(&lists_lock);
}

static void unlock_lists(void)
{
	pthread_mutex_unlock(&lists_lock);
}

static void watch_fork(void)
{
	pthread_atfork(lock_lists, unlock_lists, unlock_lists);
}

/* An mlx5 device that rdma-core does not show us (it is not in the process, say) is real all the same. */
static bool sysfs_has_mlx5(void)
{
	DIR *dir = opendir("/sys/class/infiniband");
	struct dirent *e;
	bool found = false;

	if (!dir)
		return false;
	while (!found && (e = readdir(dir))) {
		char path[PATH_MAX], target[PATH_MAX];
		const char *base;
		ssize_t n;

		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/sys/class/infiniband/%s/device/driver", e->d_name);
		n = readlink(path, target, sizeof(target) - 1);
		if (n < 0)
			continue;
		target[n] = 0;
		base = strrchr(target, '/');
		found = !strncmp(base ? base + 1 : target, "mlx5_core", strlen("mlx5_core")); /* mlx5_core.sf too */
	}
	closedir(dir);
	return found;
}

static bool have_real_mlx5(struct ibv_device **real, int n)
{
	__typeof__(&mlx5dv_is_supported) is_supported = NEXT_MLX5(mlx5dv_is_supported, "MLX5_1.8");

	for (int i = 0; is_supported && i < n; i++)
		if (is_supported(real[i]))
			return true;
	return sysfs_has_mlx5();
}

static void free_real(struct ibv_device **real)
{
	__typeof__(&ibv_free_device_list) next_fn = NEXT_IBV(ibv_free_device_list, "IBVERBS_1.1");

	if (real && next_fn)
		next_fn(real);
}

/* The transports' devices in one block with a header. Devices come and go meanwhile: ask until all of them fit. */
static struct list *make_list(struct ibv_device **real, int n_real, int *n_all)
{
	const struct odx_shown shown = { .devices = real, .n = n_real, .real = have_real_mlx5(real, n_real) };
	int room = 8;

	for (;;) {
		struct list *l = malloc(sizeof(*l) + ((size_t)n_real + room + 1) * sizeof(l->all[0]));
		const struct odx_transport_ops *t;
		int n = 0;

		if (!l)
			return NULL; /* errno is malloc's */
		for (size_t i = 0; (t = odx_transport_at(i)); i++) {
			int at = n < room ? n : room, got = t->list(l->all + n_real + at, room - at, &shown);

			if (got < 0) {
				free(l);
				errno = -got;
				return NULL;
			}
			n += got;
		}
		if (n <= room) {
			if (n_real)
				memcpy(l->all, real, n_real * sizeof(real[0]));
			l->all[n_real + n] = NULL;
			l->real = real;
			*n_all = n_real + n;
			return l;
		}
		free(l);
		room = 2 * n;
	}
}

ODX_EXPORT struct ibv_device **ibv_get_device_list(int *num_devices)
{
	__typeof__(&ibv_get_device_list) next_fn = NEXT_IBV(ibv_get_device_list, "IBVERBS_1.1");
	struct ibv_device **real = NULL;
	int n_real = 0, n_all, real_errno = 0;
	struct list *l;

	if (num_devices)
		*num_devices = 0;
	if (next_fn) {
		real = next_fn(&n_real);
		if (!real) {
			real_errno = errno;
			n_real = 0;
		}
	}
	l = make_list(real, n_real, &n_all);
	if (!l) {
		real_errno = errno;
		free_real(real);
		errno = real_errno;
		return NULL;
	}
	if (!n_all && real_errno) { /* nothing of ours to show: the failure is the answer */
		free(l);
		errno = real_errno;
		return NULL;
	}
	pthread_once(&fork_once, watch_fork);
	lock_lists();
	l->next = lists;
	lists = l;
	unlock_lists();
	if (num_devices)
		*num_devices = n_all;
	return l->all;
}

ODX_EXPORT void ibv_free_device_list(struct ibv_device **list)
{
	struct list **at, *l;

	if (!list)
		return;
	pthread_once(&fork_once, watch_fork);
	lock_lists();
	for (at = &lists; *at && (*at)->all != list; at = &(*at)->next)
		;
	l = *at;
	if (l)
		*at = l->next;
	unlock_lists();
	free_real(l ? l->real : list);
	free(l);
}

ODX_EXPORT const char *ibv_get_device_name(struct ibv_device *device)
{
	const struct odx_transport_ops *owner = odx_device_owner(device);
	__typeof__(&ibv_get_device_name) next_fn;

	if (!device)
		return errno = EINVAL, NULL;
	if (owner)
		return owner->device_name(device);
	next_fn = NEXT_IBV(ibv_get_device_name, "IBVERBS_1.1");
	if (!next_fn)
		return errno = EINVAL, NULL;
	return next_fn(device);
}

ODX_EXPORT __be64 ibv_get_device_guid(struct ibv_device *device)
{
	const struct odx_transport_ops *owner = odx_device_owner(device);
	__typeof__(&ibv_get_device_guid) next_fn;

	if (!device)
		return errno = EINVAL, 0;
	if (owner)
		return owner->device_guid(device);
	next_fn = NEXT_IBV(ibv_get_device_guid, "IBVERBS_1.1");
	if (!next_fn)
		return errno = EINVAL, 0;
	return next_fn(device);
}

ODX_EXPORT struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	const struct odx_transport_ops *owner = odx_device_owner(device);
	const struct odx_open how = { .devx = false };
	__typeof__(&ibv_open_device) next_fn;

	if (!device)
		return errno = EINVAL, NULL;
	if (owner)
		return owner->open(device, &how);
	next_fn = NEXT_IBV(ibv_open_device, "IBVERBS_1.1");
	if (!next_fn)
		return errno = EINVAL, NULL;
	return next_fn(device);
}

ODX_EXPORT int ibv_close_device(struct ibv_context *context)
{
	const struct odx_transport_ops *owner = odx_context_owner(context);
	__typeof__(&ibv_close_device) next_fn;

	if (!context)
		return 0;
	if (owner)
		return owner->close(context);
	next_fn = NEXT_IBV(ibv_close_device, "IBVERBS_1.1");
	if (!next_fn)
		return errno = EINVAL;
	return next_fn(context);
}

ODX_EXPORT bool mlx5dv_is_supported(struct ibv_device *device)
{
	__typeof__(&mlx5dv_is_supported) next_fn;

	if (!device)
		return false;
	if (odx_device_owner(device))
		return true;
	next_fn = NEXT_MLX5(mlx5dv_is_supported, "MLX5_1.8");
	return next_fn && next_fn(device);
}

/* libmlx5 sends no array when fds is NULL, and at most 65,535 bytes; the kernel wants at least one descriptor. */
static int check_fds(const struct fd_arr *fds, struct odx_open *how)
{
	if (!fds)
		return 0;
	if (!fds->arr || !fds->count || fds->count > UINT16_MAX / sizeof(fds->arr[0]))
		return EINVAL;
	how->fds = fds->arr;
	how->n_fds = fds->count;
	return 0;
}

static int check_attr(const struct context_attr *attr, struct odx_open *how)
{
	*how = (struct odx_open){ .devx = attr && attr->flags & MLX5DV_CONTEXT_FLAGS_DEVX };
	if (!attr)
		return 0;
	if (attr->flags & ~(uint32_t)MLX5DV_CONTEXT_FLAGS_DEVX || attr->comp_mask & ~ATTR_MASK_FD_ARRAY)
		return EINVAL;
	return attr->comp_mask & ATTR_MASK_FD_ARRAY ? check_fds(attr->fds, how) : 0;
}

ODX_EXPORT struct ibv_context *mlx5dv_open_device(struct ibv_device *device, struct mlx5dv_context_attr *attr)
{
	const struct odx_transport_ops *owner = odx_device_owner(device);
	__typeof__(&mlx5dv_open_device) next_fn;
	struct odx_open how;
	int err;

	if (!device)
		return errno = EINVAL, NULL;
	if (owner) {
		err = check_attr((const struct context_attr *)attr, &how);
		if (err)
			return errno = err, NULL;
		return owner->open(device, &how);
	}
	next_fn = NEXT_MLX5(mlx5dv_open_device, "MLX5_1.7");
	if (!next_fn)
		return errno = EOPNOTSUPP, NULL;
	return next_fn(device, attr);
}

/* A context of a transport that has none to share has none to gain: it takes every call itself. */
ODX_EXPORT struct ibv_context *odx_import_context(struct ibv_context *theirs)
{
	const struct odx_transport_ops *t = odx_context_owner(theirs);

	if (!theirs)
		return errno = EINVAL, NULL;
	for (size_t i = 0; !t && (t = odx_transport_at(i)); i++)
		if (!t->import)
			t = NULL;
	if (!t || !t->import)
		return errno = EOPNOTSUPP, NULL;
	return t->import(theirs);
}
