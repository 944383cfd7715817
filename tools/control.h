/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The control lines of a device that another process serves (devx serve): a socket, or in a virtual machine a character device
 * such as /dev/virtio-ports/org.opendevx.control. A line is answered by a line that begins with "ok" or "error".
 */
#ifndef DEVX_CONTROL_H
#define DEVX_CONTROL_H

#include <stdbool.h>
#include <stddef.h>

#define CONTROL_WINDOW 32u     /* lines under way, so that not each of them costs a round trip */
#define CONTROL_PATIENCE 10000 /* ms until an answer is missed */

struct control {
	const char *path;
	int fd;
	bool socket;
	unsigned int n_unanswered;
	size_t n_out, n_in;
	char out[CONTROL_WINDOW * 128]; /* lines to send */
	char in[512];                   /* of an answer that is not complete yet */
};

/* These say on stderr what failed. */
bool control_open(struct control *c, const char *path);
/* line: without its end, at most 126 bytes. It may be sent, and its answer be looked at, by a later call only. */
bool control_line(struct control *c, const char *line);
bool control_flush(struct control *c); /* everything is sent and answered */
void control_close(struct control *c); /* also after a control_open() that failed */

#endif
