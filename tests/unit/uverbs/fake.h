/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A kernel with mlx5 devices, as far as the kernel transport meets it: a tree of sysfs and /dev in a temporary folder, and behind
 * the wrapped system calls the ABI of the RDMA core, written from its description (devx-abi 1 to 5) and not from the headers that
 * the transport is built with. Every frame is checked byte for byte; what the kernel would refuse, it refuses, and what it would
 * misread fails the test.
 */
#ifndef UVERBS_FAKE_H
#define UVERBS_FAKE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <string.h>
#include <unistd.h>

#define FAKE_ATTRS 16
#define FAKE_BYTES 512 /* of what a pointer leads to */

/* A frame as it came, and the bytes that its attributes carried or led to. */
struct fake_frame {
	uint16_t object, method;
	unsigned int n;
	struct fake_attr {
		uint16_t id, len, flags;
		uint64_t data;
		uint8_t bytes[FAKE_BYTES]; /* of input, as far as they fit */
	} attrs[FAKE_ATTRS];
};

struct fake {
	/* What the kernel is like. */
	bool no_ioctl;                 /* older than the ioctl: GET_CONTEXT comes by write() */
	bool no_async_event;           /* it has the ioctl, but not this object */
	bool no_devx;                  /* the firmware has not: EINVAL for the flag */
	size_t request_max;            /* the longest request of a context that it knows; 0: any */
	int open_errno;
	bool wrong_node;               /* the node is another device's */
	bool removed;                  /* the device: ioctls give EIO, destroys succeed */
	bool no_uar, no_query_context, no_info_handles, no_verbs; /* it lacks these methods: EPROTONOSUPPORT */
	uint32_t bf_reg_size, uars_per_page, supports; /* of the answer to GET_CONTEXT; supports: commands with a driver's part */
	int vectors;

	/* The next command. */
	int err;                       /* what the ioctl of the next command fails with; 0: nothing */
	bool outbox_anyway;            /* and the outbox is written all the same */
	uint8_t outbox[64];            /* what the device answers: the first bytes, the rest is zero */

	/* What happened. */
	struct fake_frame last, context_frame; /* of the last command; of the last GET_CONTEXT */
	unsigned int ioctls, contexts, writes;
	uint8_t written[64];           /* the last write() */
	unsigned int handles, fds;     /* that are open */
	unsigned int maps;             /* of descriptors of the kernel */
	uint64_t map_offset;           /* the last one's */
	uint32_t request_flags;        /* of the last context that came about */
	size_t request_len;
	unsigned int n_fds;

	/* Called when a frame was found right: more outputs; nonzero: errno of the ioctl. */
	int (*hook)(const struct fake_frame *f);

	/* The nth call (counted from 1) of any wrapped function fails; 0: none. */
	unsigned int fail_at, calls;
	bool failed;
	unsigned int allocations;      /* calls of the heap's functions by the library */
};

extern struct fake fake;

/* A new kernel, with nothing in /sys and /dev; and its end. */
int fake_setup(void **state);
int fake_teardown(void **state);
/* A device: /sys/class/infiniband_verbs/uverbsN with its ibdev; driver NULL: "mlx5_core". */
void fake_device(unsigned int index, const char *ibdev, const char *driver, const char *guid);
void fake_file(const char *path, const char *text); /* below the root; text NULL: goes away */
/* The attribute of the last frame; fails the test when it is not there. */
const struct fake_attr *fake_attr(uint16_t id);
/* What an output attribute gets; to be called by a hook. Marks it valid. */
void fake_output(uint16_t id, const void *p, size_t len);
/* The device answers the oldest asynchronous command of the descriptor with this outbox. False: there was none. */
bool fake_answer(int fd, const void *outbox, size_t len);
unsigned int fake_waiting(int fd);
/* A record for the descriptor of an event channel, or of asynchronous events. err: the next read gives that, once, before. */
void fake_record(int fd, const void *p, size_t len);
void fake_read_error(int fd, int err);
/* A write() of verbs after GET_CONTEXT: what it answers with, and where. */
void fake_written_answer(const void *p, size_t len);

#endif
