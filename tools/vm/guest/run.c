/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs the command and passes its streams. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "guest.h"

#define OUT_WAITING (1u << 20) /* bytes for the port above which the command waits */
#define LINGER_MS 1000         /* what the command left behind may write so long */

struct run {
	struct guest *g;
	pid_t pid;
	int fds[WIRE_STREAMS]; /* our ends; -1: closed. With a terminal, 0 and 1 are its master */
	struct wire_stream streams[WIRE_STREAMS];
	int signals, status;
	bool exited;
	struct timespec quiet; /* since when the command is gone and nothing came or could come */
	int kills;
};

static void winsize(int fd, unsigned int rows, unsigned int cols)
{
	struct winsize size = { .ws_row = (unsigned short)rows, .ws_col = (unsigned short)cols };

	ioctl(fd, TIOCSWINSZ, &size);
}

/* In the child: never returns. As env(1): 127 if there is no such program, 126 if it cannot be run. */
static void become(struct job *j, const int fds[WIRE_STREAMS], bool tty)
{
	struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };
	sigset_t none;
	int code;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	setsid();
	if (tty)
		ioctl(fds[WIRE_STDIN], TIOCSCTTY, 0);
	for (int i = 0; i < WIRE_STREAMS; i++)
		dup2(fds[i], i);
	setrlimit(RLIMIT_MEMLOCK, &all);
	if (chdir(j->cwd) && chdir("/"))
		_exit(126);
	environ = j->env;
	execvp(j->argv[0], j->argv);
	code = errno == ENOENT ? 127 : 126;
	dprintf(STDERR_FILENO, "devx vm: %s: %s\n", j->argv[0], strerror(errno));
	_exit(code);
}

static void start(struct run *r)
{
	struct guest *g = r->g;
	struct job *j = &g->job;
	unsigned int rows = 24, cols = 80;
	int theirs[WIRE_STREAMS], master, slave, p[2];

	for (int i = 0; i < WIRE_STREAMS; i++) {
		if (j->tty && !(i == WIRE_STDERR && j->own_stderr))
			continue;
		if (pipe2(p, O_CLOEXEC))
			guest_fail(g, "no pipe: %s", strerror(errno));
		r->fds[i] = p[i == WIRE_STDIN];
		theirs[i] = p[i != WIRE_STDIN];
	}
	if (j->tty) {
		sscanf(j->tty, "%u %u", &rows, &cols);
		if (openpty(&master, &slave, NULL, NULL, NULL))
			guest_fail(g, "no terminal: %s", strerror(errno));
		fcntl(master, F_SETFD, FD_CLOEXEC);
		fcntl(slave, F_SETFD, FD_CLOEXEC);
		winsize(master, rows, cols);
		r->fds[WIRE_STDIN] = r->fds[WIRE_STDOUT] = master;
		theirs[WIRE_STDIN] = theirs[WIRE_STDOUT] = slave;
		if (!j->own_stderr) {
			theirs[WIRE_STDERR] = slave;
			r->fds[WIRE_STDERR] = -1;
		}
	}
	r->pid = fork();
	if (r->pid < 0)
		guest_fail(g, "no process: %s", strerror(errno));
	if (!r->pid)
		become(j, theirs, j->tty);
	for (int i = 0; i < WIRE_STREAMS; i++) {
		close(theirs[i]);
		if (r->fds[i] >= 0)
			fcntl(r->fds[i], F_SETFL, O_NONBLOCK);
		r->streams[i].credit = i == WIRE_STDIN ? 0 : WIRE_WINDOW;
	}
}

static void close_stdin(struct run *r)
{
	if (r->fds[WIRE_STDIN] < 0)
		return;
	if (!r->g->job.tty)
		close(r->fds[WIRE_STDIN]);
	r->fds[WIRE_STDIN] = -1;
}

static void frame(struct run *r, const struct wire_frame *f)
{
	struct wire_stream *s = &r->streams[f->stream];
	int bad = 0;

	switch (f->type) {
	case WIRE_DATA:
		bad = f->stream != WIRE_STDIN || wire_keep(s, f);
		break;
	case WIRE_EOF:
		s->ended = true;
		break;
	case WIRE_CREDIT:
		bad = f->stream == WIRE_STDIN || wire_credit(s, f);
		break;
	case WIRE_SIGNAL:
		if (f->len == 4 && !r->exited)
			kill(-r->pid, (int)wire_get32(f->data));
		break;
	case WIRE_SIZE:
		if (f->len == 8 && r->g->job.tty)
			winsize(r->fds[WIRE_STDOUT], wire_get32(f->data), wire_get32(f->data + 4));
		break;
	default:
		bad = 1;
	}
	if (bad)
		guest_fail(r->g, "the host sent a wrong frame of type %d", f->type);
	if (r->fds[WIRE_STDIN] < 0)
		wire_drop(&r->streams[WIRE_STDIN], WIRE_STDIN, &r->g->out);
}

static void reap(struct run *r)
{
	struct signalfd_siginfo drop;
	int status;
	pid_t pid;

	while (read(r->signals, &drop, sizeof(drop)) > 0)
		;
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		if (pid == r->pid) {
			r->exited = true;
			r->status = status;
			clock_gettime(CLOCK_MONOTONIC, &r->quiet);
			close_stdin(r);
		}
}

/* An output stream that can be read, or has ended. */
static void output(struct run *r, unsigned int i)
{
	long n = wire_pass(&r->streams[i], i, r->fds[i], &r->g->out);

	/* EIO is how a terminal ends whose last user is gone. */
	if (n > 0)
		clock_gettime(CLOCK_MONOTONIC, &r->quiet);
	if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)))
		return;
	if (n < 0) {
		wire_put(&r->g->out, WIRE_EOF, i, NULL, 0);
		r->streams[i].ended = true;
	}
	close(r->fds[i]);
	r->fds[i] = -1;
}

/* Kept input, and the end of it: a terminal is told by its own character, a pipe by closing. */
static void input(struct run *r)
{
	struct wire_stream *s = &r->streams[WIRE_STDIN];

	if (s->have && wire_deliver(s, WIRE_STDIN, r->fds[WIRE_STDIN], s->have, &r->g->out)) {
		close_stdin(r);
		wire_drop(s, WIRE_STDIN, &r->g->out);
	}
	if (s->ended && !s->have && r->fds[WIRE_STDIN] >= 0 && !r->g->job.tty)
		close_stdin(r);
}

/* The machine ends with its command: what it left in the background may finish its words, and no more. False: nothing of it
 * will come. While the host does not take what is there, nobody is late. */
static bool linger(struct run *r)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	for (int i = WIRE_STDOUT; i <= WIRE_STDERR; i++)
		if (r->fds[i] >= 0 && !r->streams[i].credit)
			r->quiet = now;
	if (wire_waiting(&r->g->out))
		r->quiet = now;
	if ((now.tv_sec - r->quiet.tv_sec) * 1000 + (now.tv_nsec - r->quiet.tv_nsec) / 1000000 < LINGER_MS)
		return true;
	r->quiet = now;
	kill(-1, SIGKILL);
	return r->kills++ < 3;
}

/* One round. What can write without waiting, reads without waiting. */
static void turn(struct run *r)
{
	struct guest *g = r->g;
	bool room = wire_waiting(&g->out) < OUT_WAITING;
	struct pollfd p[6] = {
		{ .fd = g->port, .events = (short)(POLLIN | (wire_waiting(&g->out) ? POLLOUT : 0)) },
		{ .fd = r->signals, .events = POLLIN },
		{ .fd = wire_waiting(&g->out) ? -1 : g->kmsg, .events = POLLIN },
		{ .fd = r->streams[WIRE_STDIN].have ? r->fds[WIRE_STDIN] : -1, .events = POLLOUT },
		{ .fd = room && r->streams[WIRE_STDOUT].credit ? r->fds[WIRE_STDOUT] : -1, .events = POLLIN },
		{ .fd = room && r->streams[WIRE_STDERR].credit ? r->fds[WIRE_STDERR] : -1, .events = POLLIN },
	};
	struct wire_frame f;
	int what;

	if (poll(p, 6, r->exited ? 100 : -1) < 0)
		return;
	if (p[0].revents & ~POLLOUT)
		guest_receive(g);
	while ((what = wire_next(&g->in, &f)) > 0)
		frame(r, &f);
	if (what < 0)
		guest_fail(g, "the host sent no frame");
	if (r->fds[WIRE_STDIN] >= 0)
		input(r);
	for (unsigned int i = WIRE_STDOUT; i <= WIRE_STDERR; i++)
		if (p[3 + i].revents && r->fds[i] >= 0)
			output(r, i);
	if (p[1].revents)
		reap(r);
	if (p[2].revents)
		guest_log(g);
	guest_flush(g);
}

int guest_run(struct guest *g)
{
	static struct run run;
	struct run *r = &run;
	sigset_t chld;

	r->g = g;
	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	sigprocmask(SIG_BLOCK, &chld, NULL);
	r->signals = signalfd(-1, &chld, SFD_CLOEXEC | SFD_NONBLOCK);
	if (r->signals < 0)
		guest_fail(g, "no signalfd: %s", strerror(errno));
	start(r);
	while (!r->exited || r->fds[WIRE_STDOUT] >= 0 || r->fds[WIRE_STDERR] >= 0) {
		turn(r);
		if (r->exited && !linger(r))
			break;
	}
	return r->status;
}
