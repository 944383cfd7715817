/* SPDX-License-Identifier: BSD-2-Clause */
/* What the parts of the devx command share. */
#ifndef DEVX_H
#define DEVX_H

/* Exit codes; devx(1) and --help list them. */
enum {
	DEVX_OK = 0,
	DEVX_FAILED = 1,  /* no device, a command failed, output could not be written */
	DEVX_USAGE = 2,
	DEVX_INPUT = 3,   /* the capture, or the box, cannot be read at all */
	DEVX_PARTIAL = 4, /* the capture broke off: what was read before is counted */
};

/* One line on stderr, after "devx: ". */
void devx_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* A subcommand: argv[0] is its name. Returns the exit code. */
int devx_list(int argc, char **argv);
int devx_counters(int argc, char **argv);
int devx_decode(int argc, char **argv);
int devx_cmd(int argc, char **argv);
int devx_caps(int argc, char **argv);
int devx_serve(int argc, char **argv);
int devx_vm(int argc, char **argv);

#endif
