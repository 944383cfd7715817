/* SPDX-License-Identifier: BSD-2-Clause */
/* One running machine: the processes of it, what they are connected by, and one loop that serves all of it. */
#ifndef MACHINE_H
#define MACHINE_H

#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <sys/types.h>
#include <termios.h>

#include "job.h"
#include "vm.h"
#include "wire.h"

/* The last bytes of what came. */
struct tail {
	char buf[32768];
	size_t at;
	bool wrapped;
};

struct relay {
	struct wire_stream streams[WIRE_STREAMS];
	bool gone[WIRE_STREAMS]; /* ours is closed, by us or by who reads it */
	bool tty, raw;
	struct termios saved;
	unsigned int escapes; /* ^] in a row */
	struct timespec escape_time;
	unsigned int interrupts;
};

struct machine {
	const struct vm_options *o;
	struct timespec begin, boot; /* of all; of this try */
	enum vm_accel accel;
	pid_t qemu, server, janitor;
	int janitor_pipe;
	char dir[64], control[VM_PATH];     /* temporary folder; the server's control socket */
	int signals, link, qmp, console, qemu_out, server_out;
	FILE *log;
	struct tail kernel_log, console_log, qemu_log, server_log;
	struct wire_in in;
	struct wire_out out;
	struct relay relay;
	char *qmp_buf;
	size_t qmp_len;
	json_t *reply; /* of the request that is under way */
	unsigned int request;
	bool stopping;     /* QEMU was told to stop the guest */
	bool saving, unsaved; /* a snapshot; it could not be saved */
	bool refused;         /* our server does not take its options */
	bool migrated, hello, up, running, exited;
	uint32_t status;
	int signal;        /* that ends us */
	char failed[1024]; /* why the machine is of no use any more */
};

/* machine.c */
void machine_init(struct machine *m, const struct vm_options *o);
int machine_fail(struct machine *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Waits until something happens, at most ms, and serves it. -1: the machine failed or a signal ends us. */
int machine_pump(struct machine *m, long ms);
/* Serves the machine until *flag, for so many ms altogether. */
int machine_until(struct machine *m, const bool *flag, long ms, const char *what);
/* Ends every process of this try, and forgets it; the next try may follow. */
void machine_end(struct machine *m);
void machine_close(struct machine *m);
void machine_report(struct machine *m);
void machine_note(const struct machine *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void tail_add(struct tail *t, const char *p, size_t n);
void tail_show(FILE *f, const struct tail *t, const char *title, unsigned int lines);

/* spawn.c */
struct spawn {
	char **argv;
	int fds[8]; /* become 3, 4, ... */
	unsigned int n_fds;
	int out; /* stdout and stderr */
	int death; /* the signal that it gets if we die */
	const char *cwd; /* NULL: ours */
	const char *env[2]; /* name and value */
};

pid_t spawn(const struct spawn *s);
int spawn_janitor(struct machine *m);
int spawn_server(struct machine *m, unsigned int n);
/* Until each socket is there. */
int spawn_wait(struct machine *m, const char *const sockets[], unsigned int n);

/* qmp.c: JSON lines with QEMU. */
int qmp_read(struct machine *m);
/* Takes args. The reply's "return" goes to *ret, if ret; 0, or -1: the machine failed. */
int qmp_call(struct machine *m, const char *what, json_t *args, json_t **ret);

/* relay.c: our standard streams and the command's. */
void relay_start(struct machine *m);
void relay_stop(struct machine *m);
int relay_frame(struct machine *m, const struct wire_frame *f);
/* The streams' part of a poll: fills three, then serves what came. */
void relay_poll(struct machine *m, struct pollfd p[3]);
int relay_serve(struct machine *m, const struct pollfd p[3]);
bool relay_done(const struct machine *m);
void relay_signal(struct machine *m, int sig);
void relay_job(const struct machine *m, void (*item)(void *arg, char what, const char *value), void *arg);

/* start.c: QEMU's arguments, the first seconds, and the job. */
int machine_start(struct machine *m, const struct vm_qemu *q, const char *elf, const char *initrd, const char *snapshot,
		  const struct vm_kernel *k);
int machine_plug(struct machine *m, const char *const sockets[], unsigned int n);
int machine_job(struct machine *m);

/* snapshot.c: the guest as it is when it waits for its job, so that the next one need not boot. */
int snapshot_path(const struct machine *m, const char *cache, const struct vm_qemu *q, const char *elf, const char *initrd,
		  char path[VM_PATH]);
int snapshot_save(struct machine *m, const char *path);
int snapshot_load(struct machine *m, const char *path);

/* accel.c: what is known about KVM on this host since it booted. */
enum vm_accel accel_choose(const struct vm_options *o, const char *cache, bool *trial);
void accel_remember(const char *cache, bool works);

#endif
