/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../devx.h"
#include "machine.h"

void tail_add(struct tail *t, const char *p, size_t n)
{
	if (n > sizeof(t->buf)) {
		p += n - sizeof(t->buf);
		n = sizeof(t->buf);
	}
	while (n) {
		size_t part = sizeof(t->buf) - t->at < n ? sizeof(t->buf) - t->at : n;

		memcpy(t->buf + t->at, p, part);
		p += part;
		n -= part;
		t->at += part;
		if (t->at == sizeof(t->buf)) {
			t->at = 0;
			t->wrapped = true;
		}
	}
}

/* The last lines, with nothing in them that a terminal would obey: the guest wrote them. */
void tail_show(FILE *f, const struct tail *t, const char *title, unsigned int lines)
{
	size_t n = t->wrapped ? sizeof(t->buf) : t->at, from = t->wrapped ? t->at : 0, first = n;

	while (n && t->buf[(from + n - 1) % sizeof(t->buf)] == '\n')
		n--;
	for (first = n; first && lines; first--)
		if (t->buf[(from + first - 1) % sizeof(t->buf)] == '\n' && !--lines)
			break;
	if (!n)
		return;
	fprintf(f, "--- %s:\n", title);
	for (; first < n; first++) {
		char c = t->buf[(from + first) % sizeof(t->buf)];

		if (c != '\r')
			fputc(c == '\n' || c == '\t' || (c >= ' ' && c <= '~') ? c : '?', f);
	}
	fputs("\n---\n", f);
}

void machine_init(struct machine *m, const struct vm_options *o)
{
	static const int caught[] = { SIGINT, SIGTERM, SIGQUIT, SIGCHLD, SIGWINCH };
	struct sigaction hup;
	sigset_t set;

	memset(m, 0, sizeof(*m));
	m->o = o;
	m->link = m->qmp = m->console = m->qemu_out = m->server_out = m->janitor_pipe = -1;
	clock_gettime(CLOCK_MONOTONIC, &m->begin);
	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(caught) / sizeof(caught[0]); i++)
		sigaddset(&set, caught[i]);
	if (!sigaction(SIGHUP, NULL, &hup) && hup.sa_handler != SIG_IGN) /* nohup(1) */
		sigaddset(&set, SIGHUP);
	signal(SIGCHLD, SIG_DFL); /* who began us may ignore it: then no end of a child would be told */
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	m->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int machine_fail(struct machine *m, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	if (!m->failed[0])
		vsnprintf(m->failed, sizeof(m->failed), fmt, args);
	va_end(args);
	return -1;
}

void machine_note(const struct machine *m, const char *fmt, ...)
{
	va_list args;

	if (!m->o->verbose)
		return;
	fprintf(stderr, "devx vm: %6.3f s: ", (double)vm_ms_since(&m->begin) / 1000);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputs(m->relay.raw ? "\r\n" : "\n", stderr);
}

static void kernel_log(struct machine *m, const struct wire_frame *f)
{
	tail_add(&m->kernel_log, (const char *)f->data, f->len);
	if (m->log)
		fwrite(f->data, 1, f->len, m->log);
	if (!m->o->verbose)
		return;
	for (uint32_t i = 0; i < f->len; i++) {
		if (f->data[i] == '\n' && m->relay.raw)
			fputc('\r', stderr);
		fputc(f->data[i] == '\n' || (f->data[i] >= ' ' && f->data[i] <= '~') ? f->data[i] : '?', stderr);
	}
}

static int frame(struct machine *m, const struct wire_frame *f)
{
	switch (f->type) {
	case WIRE_HELLO:
		if (f->len != 4 || wire_get32(f->data) != WIRE_VERSION)
			return machine_fail(m, "the guest's init is of another version");
		m->hello = true;
		return 0;
	case WIRE_LOG:
		kernel_log(m, f);
		return 0;
	case WIRE_FAIL:
		return machine_fail(m, "the guest says: %.*s", (int)strnlen((const char *)f->data, f->len), (const char *)f->data);
	case WIRE_UP:
		m->up = true;
		return 0;
	case WIRE_EXIT:
		if (f->len != 4 || !m->up)
			break;
		m->exited = true;
		m->status = wire_get32(f->data);
		return 0;
	default:
		if (m->up && !relay_frame(m, f))
			return 0;
	}
	return machine_fail(m, "the guest sent a frame of type %d that cannot be now", f->type);
}

static int read_link(struct machine *m)
{
	struct wire_frame f;
	size_t room;
	uint8_t *p = wire_space(&m->in, &room);
	ssize_t n = read(m->link, p, room);
	int what = 0;

	if (n == 0 || (n < 0 && errno != EAGAIN)) {
		close(m->link);
		m->link = -1; /* what QEMU's end means is told by its exit */
		return 0;
	}
	if (n > 0)
		wire_came(&m->in, (size_t)n);
	while (!m->exited && (what = wire_next(&m->in, &f)) > 0)
		if (frame(m, &f))
			return -1;
	return what < 0 ? machine_fail(m, "the guest sent what is no frame") : 0;
}

/* Reads what a process says. The descriptor is closed at its end. */
static void read_tail(int *fd, struct tail *t)
{
	char buf[4096];
	ssize_t n = read(*fd, buf, sizeof(buf));

	if (n > 0) {
		tail_add(t, buf, (size_t)n);
	} else if (n == 0 || errno != EAGAIN) {
		close(*fd);
		*fd = -1;
	}
}

static void drain(int *fd, struct tail *t)
{
	struct pollfd p = { .fd = *fd, .events = POLLIN };

	while (*fd >= 0 && poll(&p, 1, 0) > 0)
		read_tail(fd, t);
}

static const char *how(int status, char buf[64])
{
	if (WIFSIGNALED(status))
		snprintf(buf, 64, "was killed by signal %d", WTERMSIG(status));
	else
		snprintf(buf, 64, "ended with exit code %d", WEXITSTATUS(status));
	return buf;
}

static int child_ended(struct machine *m)
{
	char buf[64];
	int status;

	if (m->server > 0 && waitpid(m->server, &status, WNOHANG) == m->server) {
		m->server = 0;
		drain(&m->server_out, &m->server_log);
		m->refused = !m->up && !m->o->server && WIFEXITED(status) && WEXITSTATUS(status) == DEVX_USAGE;
		return machine_fail(m, "the device's server %s", how(status, buf));
	}
	if (m->qemu > 0 && waitpid(m->qemu, &status, WNOHANG) == m->qemu) {
		m->qemu = 0;
		while (m->link >= 0 && !m->exited && !m->failed[0])
			read_link(m); /* QEMU is gone: the end is near */
		drain(&m->console, &m->console_log);
		drain(&m->qemu_out, &m->qemu_log);
		if (!m->exited)
			return machine_fail(m, status ? "QEMU %s" : "the guest's kernel stopped (QEMU %s)", how(status, buf));
	}
	return 0;
}

static int read_signals(struct machine *m)
{
	struct signalfd_siginfo info;

	while (read(m->signals, &info, sizeof(info)) == sizeof(info)) {
		int sig = (int)info.ssi_signo;

		if (sig == SIGCHLD) {
			if (child_ended(m))
				return -1;
		} else if (sig == SIGWINCH || (sig == SIGINT && m->running && !m->relay.interrupts++)) {
			relay_signal(m, sig);
		} else {
			m->signal = sig;
			return -1;
		}
	}
	return 0;
}

/* A guest that takes nothing is not heard either: each of its frames may need an answer. The job is less than this. */
#define OUT_WAITING (2 * WIRE_JOB_MAX)

int machine_pump(struct machine *m, long ms)
{
	size_t waiting = wire_waiting(&m->out);
	struct pollfd p[9] = {
		{ .fd = m->signals, .events = POLLIN },
		{ .fd = m->link, .events = (short)((waiting < OUT_WAITING ? POLLIN : 0) | (waiting ? POLLOUT : 0)) },
		{ .fd = m->qmp, .events = POLLIN },
		{ .fd = m->console, .events = POLLIN },
		{ .fd = m->qemu_out, .events = POLLIN },
		{ .fd = m->server_out, .events = POLLIN },
	};

	if (m->failed[0] || m->signal)
		return -1;
	relay_poll(m, p + 6);
	if (poll(p, 9, (int)ms) < 0 && errno != EINTR)
		return machine_fail(m, "poll: %s", strerror(errno));
	if (p[3].revents)
		read_tail(&m->console, &m->console_log);
	if (p[4].revents)
		read_tail(&m->qemu_out, &m->qemu_log);
	if (p[5].revents)
		read_tail(&m->server_out, &m->server_log);
	if (p[1].revents & ~POLLOUT && m->link >= 0 && read_link(m))
		return -1;
	if (p[2].revents && qmp_read(m))
		return -1;
	if (p[0].revents && read_signals(m))
		return -1;
	if (relay_serve(m, p + 6))
		return -1;
	if (m->link >= 0 && wire_flush(&m->out, m->link) && errno != EPIPE)
		return machine_fail(m, "the link to the guest: %s", strerror(errno));
	return 0;
}

int machine_until(struct machine *m, const bool *flag, long ms, const char *what)
{
	struct timespec begin;
	long left;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	while (!*flag) {
		left = ms - vm_ms_since(&begin);
		if (left <= 0)
			return machine_fail(m, "%s did not come in time (--boot-timeout %u)", what, m->o->boot_timeout);
		if (machine_pump(m, left))
			return -1;
	}
	return 0;
}

static void end_process(pid_t *pid, int sig)
{
	if (*pid <= 0)
		return;
	kill(*pid, sig);
	if (sig != SIGKILL)
		for (int i = 0; i < 50 && waitpid(*pid, NULL, WNOHANG) == 0; i++)
			poll(NULL, 0, i < 10 ? 2 : 20);
	kill(*pid, SIGKILL);
	waitpid(*pid, NULL, 0);
	*pid = 0;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void machine_end(struct machine *m)
{
	relay_stop(m);
	end_process(&m->qemu, SIGKILL); /* nothing of it is kept */
	drain(&m->console, &m->console_log);
	drain(&m->qemu_out, &m->qemu_log);
	close_fd(&m->link);
	close_fd(&m->qmp);
	close_fd(&m->console);
	close_fd(&m->qemu_out);
	memset(&m->in, 0, sizeof(m->in));
	free(m->out.buf);
	memset(&m->out, 0, sizeof(m->out));
	free(m->qmp_buf);
	m->qmp_buf = NULL;
	m->qmp_len = 0;
	json_decref(m->reply);
	m->reply = NULL;
	m->hello = m->up = m->running = m->stopping = m->migrated = m->saving = m->unsaved = false;
}

void machine_close(struct machine *m)
{
	machine_end(m);
	end_process(&m->server, SIGTERM);
	drain(&m->server_out, &m->server_log);
	close_fd(&m->server_out);
	close_fd(&m->janitor_pipe); /* it removes what is left */
	if (m->janitor > 0)
		waitpid(m->janitor, NULL, 0);
	close_fd(&m->signals);
	if (m->log && fclose(m->log))
		devx_error("vm: cannot write %s: %s", m->o->log, strerror(errno));
	m->log = NULL;
	for (int i = 0; i < WIRE_STREAMS; i++)
		free(m->relay.streams[i].buf);
}

void machine_report(struct machine *m)
{
	devx_error("vm: the machine failed: %s", m->failed);
	tail_show(stderr, &m->kernel_log, "the guest's kernel", 25);
	/* An oops and the panic after it: the reason is in the first line of them. */
	tail_show(stderr, &m->console_log, "the guest's console", 120);
	tail_show(stderr, &m->qemu_log, "QEMU", 10);
	tail_show(stderr, &m->server_log, "the device's server", 10);
	if (m->log)
		tail_show(m->log, &m->console_log, "the console", UINT_MAX);
}
