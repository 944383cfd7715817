/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes an archive as the kernel takes it for an initramfs ("newc"). */
#ifndef CPIO_H
#define CPIO_H

#include <stdbool.h>
#include <stddef.h>

struct cpio {
	char *data;
	size_t len, size;
	unsigned int inode;
	bool failed; /* out of memory */
};

void cpio_file(struct cpio *c, const char *name, unsigned int mode, const void *data, size_t len);
void cpio_dir(struct cpio *c, const char *name);
void cpio_end(struct cpio *c);
/* Another whole archive after this one: the kernel unpacks both. */
void cpio_append(struct cpio *c, const void *data, size_t len);

#endif
