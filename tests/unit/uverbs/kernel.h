/* SPDX-License-Identifier: BSD-2-Clause */
/* The fake kernel from inside: its descriptors and handles (fake.c), its methods (methods.c), its tree of files (tree.c). */
#ifndef UVERBS_KERNEL_H
#define UVERBS_KERNEL_H

#include "abi.h"
#include "fake.h"

#define FDS 256
#define HANDLES 256
#define WAITING 64

enum fd_kind { FD_NONE, FD_NODE, FD_CMD, FD_EVENT };

/* By descriptor. */
struct fake_fd {
	enum fd_kind kind;
	int node;                      /* the file of the context that made it; of a node: its own, which duplicates share */
	bool context;                  /* of a node: GET_CONTEXT was */
	unsigned int minor;            /* of a node */
	struct { uint64_t wr_id; size_t outlen; } waiting[WAITING];
	unsigned int n_waiting, n_records;
	int read_err;
	struct { size_t len; uint8_t bytes[FAKE_BYTES]; } records[WAITING];
};
struct fake_handle {
	int node;
	uint16_t object;               /* 0: free */
};
extern struct fake_fd fake_fds[FDS];
extern struct fake_handle fake_handles[HANDLES];
extern char fake_root[];
extern bool fake_inside;               /* the fake's own calls are no one's */

struct attr { uint16_t id, len, flags, zero; uint64_t data; };
struct frame { uint16_t length, object, method, n; uint64_t zero1; uint32_t driver, zero2; struct attr attrs[]; };
extern struct frame *fake_current;
struct attr *fake_attr_of(uint16_t id); /* of the current frame; NULL: it has none */

/* What the driver says of a request; response: 72 bytes. 0 or an errno value. */
int fake_get_context(int fd, const uint8_t *req, size_t len, uint8_t *response);
/* The frame was found right: 0 or an errno value. */
int fake_method(const struct abi_method *m, int fd);
bool fake_lacks(const struct abi_method *m);
void fake_clear_answer(void);

int __real_open64(const char *path, int flags, ...);
int __real_close(int fd);
ssize_t __real_write(int fd, const void *p, size_t n);

#endif
