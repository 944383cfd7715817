/* SPDX-License-Identifier: BSD-2-Clause */
/* devx serve: what its parts share. */
#ifndef DEVX_SERVE_H
#define DEVX_SERVE_H

#include <stdbool.h>
#include <sys/types.h>

#include "spec.h"

#define SERVE_MAX 64

/* A device to be served. */
struct serve_device {
	char socket[108], control[108]; /* paths; control may be empty */
	int socket_fd, control_fd;      /* that listen there */
	ino_t socket_ino, control_ino;
};

struct serve {
	struct spec spec;
	bool no_mmap;
	const char *faults[64];
	unsigned int n_faults, n;
	struct serve_device devices[SERVE_MAX];
};

/*
 * The process that serves: with all descriptors in place, until stop is readable. It writes one line for each device to standard
 * output when clients can come. Returns the exit code.
 */
int serve_devices(const struct serve *s, int stop);

/* Gives up every privilege, for this thread and those that it makes. False: said on stderr. */
bool sandbox_privileges(void);
/* From here on, all threads can only do what serving needs; anything else ends the process. False: as above. */
bool sandbox_filter(void);

#endif
