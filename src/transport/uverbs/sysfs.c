/* SPDX-License-Identifier: BSD-2-Clause */
/* What the kernel shows of its devices: /sys/class/infiniband_verbs/uverbsN, and their nodes in /dev/infiniband. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "uverbs.h"

#define CLASS "/sys/class/infiniband_verbs"
#define IB_CLASS "/sys/class/infiniband"
#define MLX5_ABI 1 /* MLX5_IB_UVERBS_ABI_VERSION: another one speaks of other structures */

const char *uverbs_root = "";

/* The first line of a file, without its end; 0 or an errno value. */
static int read_line(const char *path, char *buf, size_t len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = 0;
	ssize_t n;

	if (fd < 0)
		return errno;
	do
		n = read(fd, buf, len - 1);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		err = errno;
	close(fd);
	if (err)
		return err;
	buf[n] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	return 0;
}

static int read_attr(const char *class, const char *device, const char *name, char *buf, size_t len)
{
	char path[PATH_MAX];

	if ((size_t)snprintf(path, sizeof(path), "%s%s/%s/%s", uverbs_root, class, device, name) >= sizeof(path))
		return ENAMETOOLONG;
	return read_line(path, buf, len);
}

int uverbs_attribute(const struct uverbs_device *dev, const char *name, char *buf, size_t len)
{
	return read_attr(IB_CLASS, dev->ibv.name, name, buf, len);
}

/* mlx5_core of a PCI function, mlx5_core.sf of a scalable function. */
static bool is_mlx5(const char *ibdev)
{
	char path[PATH_MAX], target[PATH_MAX];
	const char *base;
	ssize_t n;

	if ((size_t)snprintf(path, sizeof(path), "%s" IB_CLASS "/%s/device/driver", uverbs_root, ibdev) >= sizeof(path))
		return false;
	n = readlink(path, target, sizeof(target) - 1);
	if (n < 0)
		return false;
	target[n] = '\0';
	base = strrchr(target, '/');
	base = base ? base + 1 : target;
	return !strncmp(base, "mlx5_core", 9) && (!base[9] || base[9] == '.');
}

/* "0002:c903:00a1:b2c3", as a big-endian number; 0: it does not parse. */
static uint64_t parse_guid(const char *text)
{
	uint8_t guid[8];
	unsigned int part[4];
	uint64_t v;

	if (sscanf(text, "%4x:%4x:%4x:%4x", &part[0], &part[1], &part[2], &part[3]) != 4)
		return 0;
	for (int i = 0; i < 4; i++) {
		guid[2 * i] = (uint8_t)(part[i] >> 8);
		guid[2 * i + 1] = (uint8_t)part[i];
	}
	memcpy(&v, guid, sizeof(v));
	return v;
}

/* A name that is safe in a path. */
static bool plain(const char *name)
{
	return *name && *name != '.' && !strchr(name, '/');
}

static bool look_at(const char *entry, struct uverbs_found *f)
{
	unsigned int major, minor;
	char line[256], end;

	if (sscanf(entry, "uverbs%u%c", &f->index, &end) != 1)
		return false;
	if (read_attr(CLASS, entry, "ibdev", line, sizeof(line)) || !plain(line) || strlen(line) >= sizeof(f->ibdev))
		return false;
	strcpy(f->ibdev, line);
	if (!is_mlx5(f->ibdev))
		return false;
	if (read_attr(CLASS, entry, "abi_version", line, sizeof(line)) || atoi(line) != MLX5_ABI)
		return false;
	if (read_attr(CLASS, entry, "dev", line, sizeof(line)) || sscanf(line, "%u:%u", &major, &minor) != 2)
		return false;
	f->rdev = makedev(major, minor);
	f->guid = read_attr(IB_CLASS, f->ibdev, "node_guid", line, sizeof(line)) ? 0 : parse_guid(line);
	f->node_type = read_attr(IB_CLASS, f->ibdev, "node_type", line, sizeof(line)) ? IBV_NODE_CA : atoi(line);
	return true;
}

static int by_index(const void *a, const void *b)
{
	const struct uverbs_found *x = a, *y = b;

	return x->index < y->index ? -1 : x->index > y->index;
}

int uverbs_scan(void (*each)(const struct uverbs_found *f, void *arg), void *arg)
{
	struct uverbs_found *all = NULL, *grown;
	size_t n = 0, room = 0;
	char path[PATH_MAX];
	struct dirent *e;
	DIR *dir;

	if ((size_t)snprintf(path, sizeof(path), "%s" CLASS, uverbs_root) >= sizeof(path))
		return ENAMETOOLONG;
	dir = opendir(path);
	if (!dir)
		return errno == ENOMEM || errno == EMFILE || errno == ENFILE ? errno : 0; /* no RDMA in this kernel: no device */
	while ((e = readdir(dir))) {
		if (n == room) {
			room = room ? 2 * room : 8;
			grown = realloc(all, room * sizeof(*all));
			if (!grown) {
				free(all);
				closedir(dir);
				return ENOMEM;
			}
			all = grown;
		}
		if (look_at(e->d_name, &all[n]))
			n++;
	}
	closedir(dir);
	if (n)
		qsort(all, n, sizeof(*all), by_index);
	for (size_t i = 0; i < n; i++)
		each(&all[i], arg);
	free(all);
	return 0;
}

int uverbs_open_node(const struct uverbs_device *dev)
{
	char path[PATH_MAX];
	struct stat st;
	int fd, err = 0;

	if ((size_t)snprintf(path, sizeof(path), "%s/dev/infiniband/%s", uverbs_root, dev->ibv.dev_name) >= sizeof(path))
		return errno = ENAMETOOLONG, -1;
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st))
		err = errno;
	else if (!S_ISCHR(st.st_mode) || st.st_rdev != dev->rdev)
		err = ENODEV;
	if (!err)
		return fd;
	close(fd);
	errno = err;
	return -1;
}
