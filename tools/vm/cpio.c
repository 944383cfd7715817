/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cpio.h"

static void put(struct cpio *c, const void *data, size_t len)
{
	size_t padded = (len + 3) & ~(size_t)3;

	if (c->len + padded > c->size) {
		size_t size = (c->len + padded) * 2;
		char *more = c->failed ? NULL : realloc(c->data, size);

		if (!more) {
			c->failed = true;
			return;
		}
		c->data = more;
		c->size = size;
	}
	if (len)
		memcpy(c->data + c->len, data, len);
	memset(c->data + c->len + len, 0, padded - len);
	c->len += padded;
}

/* Head and name together are padded, then the data are. */
static void entry(struct cpio *c, const char *name, unsigned int mode, const void *data, size_t len)
{
	char head[112 + 512];
	int n = snprintf(head, sizeof(head), "070701%08x%08x%08x%08x%08x%08x%08zx%08x%08x%08x%08x%08x%08x%.511s", ++c->inode, mode,
			 0, 0, 1, 0, len, 0, 0, 0, 0, (unsigned int)strlen(name) + 1, 0, name);

	put(c, head, (size_t)n + 1);
	put(c, data, len);
}

void cpio_file(struct cpio *c, const char *name, unsigned int mode, const void *data, size_t len)
{
	entry(c, name, S_IFREG | mode, data, len);
}

void cpio_dir(struct cpio *c, const char *name)
{
	entry(c, name, S_IFDIR | 0755, NULL, 0);
}

void cpio_end(struct cpio *c)
{
	entry(c, "TRAILER!!!", 0, NULL, 0);
}

void cpio_append(struct cpio *c, const void *data, size_t len)
{
	put(c, data, len);
}
