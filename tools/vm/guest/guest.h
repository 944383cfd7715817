/* SPDX-License-Identifier: BSD-2-Clause */
/* The init of `devx vm`'s guest. It is static and alone in its initramfs: the user space comes from the host later. */
#ifndef GUEST_H
#define GUEST_H

#include <sys/types.h>

#include "../job.h"
#include "../wire.h"

#define GUEST_SHARES 16

struct job {
	char *text; /* as it came; what follows points into it */
	size_t len;
	char **argv, **env;
	const char *cwd, *time, *random, *name, *tty, *shares[GUEST_SHARES];
	unsigned int n_shares, devices, controls;
	bool own_stderr, modules;
};

struct guest {
	int port, kmsg, uevents;
	struct wire_in in;
	struct wire_out out;
	struct job job;
	char probe[256]; /* what the kernel says of a device that its driver did not take */
};

/* What went wrong goes to the host, which ends the machine. */
void guest_fail(struct guest *g, const char *fmt, ...) __attribute__((noreturn, format(printf, 2, 3)));
/* Sends the kernel's log as far as it came, if not too much waits already. */
void guest_log(struct guest *g);
void guest_flush(struct guest *g);
/* Reads from the port; ends the machine when the host is gone. */
void guest_receive(struct guest *g);
void guest_off(void) __attribute__((noreturn));

/* setup.c: what every Linux program expects to find. */
void guest_mount(struct guest *g, const char *what, const char *where, const char *type, unsigned long flags, const char *options);
void guest_clock(struct guest *g);
void guest_network(struct guest *g);
void guest_root(struct guest *g);

/* run.c: the command. Returns its wait status, after all its output is with the host. */
int guest_run(struct guest *g);

#endif
