/* SPDX-License-Identifier: BSD-2-Clause */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sysfs.h"

/* Keeps what fits, up to the end of the line, and nothing that a terminal would obey. */
static void take(char dst[64], const char *src, size_t n)
{
	size_t i;

	for (i = 0; i < 63 && i < n && src[i] && src[i] != '\n'; i++)
		dst[i] = src[i] >= ' ' && src[i] <= '~' ? src[i] : '?';
	dst[i] = 0;
}

static void read_attr(int dir, const char *name, char dst[64])
{
	char buf[64];
	ssize_t n;
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return;
	n = read(fd, buf, sizeof(buf));
	if (n > 0)
		take(dst, buf, (size_t)n);
	close(fd);
}

/* The last part of where a link leads. */
static void read_link_name(int dir, const char *name, char dst[64])
{
	char buf[1024], *slash;
	ssize_t n = readlinkat(dir, name, buf, sizeof(buf) - 1);

	if (n <= 0)
		return;
	buf[n] = 0;
	slash = strrchr(buf, '/');
	take(dst, slash ? slash + 1 : buf, sizeof(buf));
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct sysfs_device *)a)->name, ((const struct sysfs_device *)b)->name);
}

int sysfs_scan(const char *root, struct sysfs_device **out)
{
	struct sysfs_device *devs = NULL;
	DIR *dir = opendir(root);
	struct dirent *entry;
	int n = 0;

	*out = NULL;
	if (!dir)
		return errno == ENOENT ? 0 : -1;
	while ((entry = readdir(dir))) {
		struct sysfs_device *more;
		int fd;

		if (entry->d_name[0] == '.')
			continue;
		fd = openat(dirfd(dir), entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0) /* not a device, or it has gone meanwhile */
			continue;
		more = realloc(devs, (size_t)(n + 1) * sizeof(*devs));
		if (!more) {
			close(fd);
			closedir(dir);
			free(devs);
			errno = ENOMEM;
			return -1;
		}
		devs = more;
		memset(&devs[n], 0, sizeof(devs[n]));
		take(devs[n].name, entry->d_name, sizeof(entry->d_name));
		read_link_name(fd, "device", devs[n].bus);
		read_link_name(fd, "device/driver", devs[n].driver);
		read_attr(fd, "node_guid", devs[n].guid);
		read_attr(fd, "fw_ver", devs[n].fw);
		close(fd);
		n++;
	}
	closedir(dir);
	if (n)
		qsort(devs, (size_t)n, sizeof(*devs), by_name);
	*out = devs;
	return n;
}
