/* SPDX-License-Identifier: BSD-2-Clause */
/* Whole files in memory, and what is compressed in them. */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "vm.h"

#define LARGEST (512u << 20) /* no kernel or module is, unpacked */

void *vm_read_file(const char *path, size_t *len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	char *p = NULL;
	ssize_t n = 0;

	*len = 0;
	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && (!S_ISREG(st.st_mode) || st.st_size > LARGEST))
		errno = S_ISREG(st.st_mode) ? EFBIG : EINVAL;
	else
		p = malloc((size_t)st.st_size + 1);
	while (p && *len < (size_t)st.st_size && (n = read(fd, p + *len, (size_t)st.st_size - *len)) > 0)
		*len += (size_t)n;
	if (p && n < 0) {
		free(p);
		p = NULL;
	}
	if (p)
		p[*len] = 0;
	close(fd);
	return p;
}

int vm_write_file(const char *path, const void *data, size_t len)
{
	char temp[VM_PATH + 32];
	const char *p = data;
	int fd, err = 0;

	snprintf(temp, sizeof(temp), "%s.%d", path, (int)getpid());
	fd = open(temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return -1;
	while (len && !err) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno != EINTR)
			err = errno;
		if (n > 0) {
			p += n;
			len -= (size_t)n;
		}
	}
	if (close(fd) && !err)
		err = errno;
	if (!err && rename(temp, path))
		err = errno;
	if (err) {
		unlink(temp);
		errno = err;
		return -1;
	}
	return 0;
}

void *vm_unpack(const void *p, size_t n, size_t *len)
{
	struct archive *a = archive_read_new();
	struct archive_entry *entry;
	size_t size = n * 4 + 65536;
	char *out = NULL, *more;
	ssize_t got = -1;

	*len = 0;
	if (a && !archive_read_support_filter_all(a) && !archive_read_support_format_raw(a) &&
	    !archive_read_open_memory(a, p, n) && !archive_read_next_header(a, &entry))
		out = malloc(size);
	while (out && (got = archive_read_data(a, out + *len, size - *len)) > 0) {
		*len += (size_t)got;
		if (*len < size)
			continue;
		size *= 2;
		more = size <= LARGEST ? realloc(out, size) : NULL;
		if (!more) {
			got = -1;
			break;
		}
		out = more;
	}
	archive_read_free(a);
	if (got < 0) {
		free(out);
		out = NULL;
		errno = EINVAL;
	}
	return out;
}
