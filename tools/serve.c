/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * devx serve: software ConnectX cards for virtual machines. This process makes the sockets and takes them away; a child of it
 * serves (serve_run.c), and has no way to the file system, nor anything else to lose.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "devx.h"
#include "serve.h"
#include "vfu.h"

/* For devices to end in; they do nothing that takes time. */
#define PATIENCE 5

static bool count_option(const char *text, unsigned int *n)
{
	char *end;
	unsigned long v;

	errno = 0;
	v = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || v < 1 || v > SERVE_MAX) {
		devx_error("--count must be a number from 1 to %d, not \"%s\"", SERVE_MAX, text);
		return false;
	}
	*n = (unsigned int)v;
	return true;
}

static bool spec_option(const char *text, struct spec *spec)
{
	const char *wrong = NULL;

	switch (spec_parse(text, "--spec", spec)) {
	case SPEC_BAD:
		return false; /* it said why */
	case SPEC_OFF:
		wrong = "off is no device to serve";
		break;
	case SPEC_OK:
		if (spec->inline_cmds)
			wrong = "inline is for programs that call the device themselves; the commands of a guest have no caller here";
		else if (spec->manual_clock)
			wrong = "clock=manual cannot be: a guest has a clock of its own, which does not stop";
		else if (spec->kernel_quirks)
			wrong = "quirks=kernel plays a kernel's behaviour; here the guest has a kernel";
		break;
	}
	if (wrong)
		devx_error("--spec: %s", wrong);
	return !wrong;
}

static bool fault_option(const char *text, struct serve *s)
{
	struct hca_fault fault;
	bool clear;

	if (s->n_faults == sizeof(s->faults) / sizeof(s->faults[0])) {
		devx_error("--fault may be given %u times", s->n_faults);
		return false;
	}
	if (strlen(text) > SPEC_MAX) {
		devx_error("--fault: a rule has at most %d characters", SPEC_MAX);
		return false;
	}
	if (!spec_rule_parse(text, &fault, &clear))
		return false;
	if (clear) {
		devx_error("--fault clear: there is nothing to clear yet");
		return false;
	}
	s->faults[s->n_faults++] = text;
	return true;
}

static bool parse(int argc, char **argv, struct serve *s, const char **path, const char **control)
{
	static const struct option options[] = {
		{ "socket", required_argument, NULL, 's' }, { "spec", required_argument, NULL, 'p' },
		{ "count", required_argument, NULL, 'n' },  { "fault", required_argument, NULL, 'f' },
		{ "control", required_argument, NULL, 'c' }, { "no-mmap", no_argument, NULL, 'm' }, { 0 },
	};
	const char *spec = "";
	int opt;

	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		bool ok = true;

		if (opt == 's')
			*path = optarg;
		else if (opt == 'p')
			spec = optarg;
		else if (opt == 'n')
			ok = count_option(optarg, &s->n);
		else if (opt == 'f')
			ok = fault_option(optarg, s);
		else if (opt == 'c')
			*control = optarg;
		else if (opt == 'm')
			s->no_mmap = true;
		else
			ok = false; /* getopt_long() said why */
		if (!ok)
			return false;
	}
	if (optind < argc) {
		devx_error("serve takes no argument \"%s\"", argv[optind]);
		return false;
	}
	if (!*path) {
		devx_error("serve needs --socket PATH");
		return false;
	}
	return spec_option(spec, &s->spec);
}

/* Removes what still is the socket that was made. */
static void remove_socket(const char *path, ino_t ino)
{
	struct stat st;

	if (!lstat(path, &st) && S_ISSOCK(st.st_mode) && st.st_ino == ino)
		unlink(path);
}

static void remove_sockets(const struct serve *s)
{
	for (unsigned int i = 0; i < s->n; i++) {
		const struct serve_device *d = &s->devices[i];

		if (d->socket_fd >= 0)
			remove_socket(d->socket, d->socket_ino);
		if (d->control_fd >= 0)
			remove_socket(d->control, d->control_ino);
	}
}

static bool is_ours(const struct serve *s, const char *place)
{
	struct stat st;

	if (lstat(place, &st))
		return false;
	for (unsigned int i = 0; i < s->n; i++) {
		const struct serve_device *d = &s->devices[i];

		if ((d->socket_fd >= 0 && d->socket_ino == st.st_ino) || (d->control_fd >= 0 && d->control_ino == st.st_ino))
			return true;
	}
	return false;
}

static bool make_socket(const struct serve *s, unsigned int i, const char *path, char place[108], int *fd, ino_t *ino)
{
	char suffix[8] = "";
	const char *why;
	struct stat st;

	if (s->n > 1)
		snprintf(suffix, sizeof(suffix), ".%u", i);
	if (strlen(path) + strlen(suffix) >= 108) {
		devx_error("%s%s: the path of a socket has at most 107 characters", path, suffix);
		return false;
	}
	strcpy(place, path);
	strcat(place, suffix);
	*fd = vfu_bind(place, &why);
	if (*fd < 0) {
		devx_error("%s: %s", place, is_ours(s, place) ? "is the path of another socket of this server" : why);
		return false;
	}
	*ino = lstat(place, &st) ? 0 : st.st_ino;
	return true;
}

static bool make_sockets(struct serve *s, const char *path, const char *control)
{
	for (unsigned int i = 0; i < s->n; i++) {
		struct serve_device *d = &s->devices[i];

		if (!make_socket(s, i, path, d->socket, &d->socket_fd, &d->socket_ino))
			return false;
		if (control && !make_socket(s, i, control, d->control, &d->control_fd, &d->control_ino))
			return false;
	}
	return true;
}

/* Each guest brings descriptors: interrupts, and what it sends. */
static void raise_limit(void)
{
	struct rlimit r;

	if (!getrlimit(RLIMIT_NOFILE, &r)) {
		r.rlim_cur = r.rlim_max;
		setrlimit(RLIMIT_NOFILE, &r);
	}
}

static int ended(int status)
{
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	devx_error("the server died of signal %d (%s)%s", WTERMSIG(status), strsignal(WTERMSIG(status)),
		   WTERMSIG(status) == SIGSYS ? ": it made a system call that it may not make" : "");
	return DEVX_FAILED;
}

/* Until the child has ended, or a signal says that it shall. */
static int watch(pid_t child, int stop, const sigset_t *signals)
{
	const struct timespec patience = { .tv_sec = PATIENCE };
	bool asked = false;
	int status;

	for (;;) {
		int sig = asked ? sigtimedwait(signals, NULL, &patience) : sigwaitinfo(signals, NULL);

		if (sig == SIGCHLD) {
			if (waitpid(child, &status, WNOHANG) == child)
				return ended(status);
		} else if (sig > 0) {
			if (!asked)
				close(stop);
			asked = true;
		} else if (errno == EAGAIN) { /* it is stuck; nothing of it is worth keeping */
			kill(child, SIGKILL);
			waitpid(child, &status, 0);
			devx_error("the server did not end and was killed");
			return DEVX_FAILED;
		}
	}
}

static int run(struct serve *s, const sigset_t *signals)
{
	int stop[2];
	pid_t child;

	if (pipe2(stop, O_CLOEXEC) || (child = fork()) < 0) {
		devx_error("cannot start the server: %s", strerror(errno));
		return DEVX_FAILED;
	}
	if (!child) {
		close(stop[1]);
		_exit(serve_devices(s, stop[0]));
	}
	close(stop[0]);
	/* Clients that come after the child's end are to find nobody. */
	for (unsigned int i = 0; i < s->n; i++) {
		close(s->devices[i].socket_fd);
		if (s->devices[i].control_fd >= 0)
			close(s->devices[i].control_fd);
	}
	return watch(child, stop[1], signals);
}

int devx_serve(int argc, char **argv)
{
	static struct serve s = { .n = 1 };
	const char *path = NULL, *control = NULL;
	int code = DEVX_FAILED;
	struct sigaction hup;
	sigset_t signals;

	for (unsigned int i = 0; i < SERVE_MAX; i++)
		s.devices[i].socket_fd = s.devices[i].control_fd = -1;
	if (!parse(argc, argv, &s, &path, &control))
		return DEVX_USAGE;
	raise_limit();
	/* Before there is a socket that would be left behind. */
	signal(SIGCHLD, SIG_DFL); /* who began us may ignore it: then no end of a child would be told */
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	if (!sigaction(SIGHUP, NULL, &hup) && hup.sa_handler != SIG_IGN) /* nohup(1) */
		sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	if (make_sockets(&s, path, control))
		code = run(&s, &signals);
	remove_sockets(&s);
	return code;
}
