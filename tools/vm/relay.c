/* SPDX-License-Identifier: BSD-2-Clause */
/* Our standard streams and those of the command. Ours are shared with who knows whom: they are never made non-blocking, but
 * polled, and a pipe that polls writable takes PIPE_BUF bytes. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <unistd.h>

#include "machine.h"

#define ESCAPE 0x1d /* ^], three times within a second: ends the machine, as in other programs that give the terminal away */

void relay_start(struct machine *m)
{
	struct relay *r = &m->relay;
	struct termios raw;

	r->streams[WIRE_STDIN].credit = WIRE_WINDOW;
	m->running = true;
	if (!r->tty || tcgetattr(STDIN_FILENO, &r->saved))
		return;
	raw = r->saved;
	cfmakeraw(&raw);
	r->raw = !tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
}

void relay_stop(struct machine *m)
{
	if (m->relay.raw)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &m->relay.saved);
	m->relay.raw = false;
}

void relay_job(const struct machine *m, void (*item)(void *arg, char what, const char *value), void *arg)
{
	struct winsize size;
	char text[32];

	if (!m->relay.tty)
		return;
	if (ioctl(STDIN_FILENO, TIOCGWINSZ, &size) || !size.ws_row || !size.ws_col) /* some terminals do not know */
		size = (struct winsize){ .ws_row = 24, .ws_col = 80 };
	snprintf(text, sizeof(text), "%u %u", size.ws_row, size.ws_col);
	item(arg, JOB_TTY, text);
	if (!isatty(STDERR_FILENO))
		item(arg, JOB_STDERR, "");
}

void relay_signal(struct machine *m, int sig)
{
	struct winsize size;
	uint8_t b[8] = { 0 };

	if (sig != SIGWINCH) {
		wire_put32(&m->out, WIRE_SIGNAL, 0, (uint32_t)sig);
	} else if (m->running && m->relay.tty && !ioctl(STDIN_FILENO, TIOCGWINSZ, &size)) {
		b[0] = (uint8_t)size.ws_row;
		b[1] = (uint8_t)(size.ws_row >> 8);
		b[4] = (uint8_t)size.ws_col;
		b[5] = (uint8_t)(size.ws_col >> 8);
		wire_put(&m->out, WIRE_SIZE, 0, b, sizeof(b));
	}
}

int relay_frame(struct machine *m, const struct wire_frame *f)
{
	struct wire_stream *s = &m->relay.streams[f->stream];

	if (f->type == WIRE_CREDIT && f->stream == WIRE_STDIN)
		return wire_credit(s, f);
	if (f->stream == WIRE_STDIN)
		return -1;
	if (f->type == WIRE_EOF) {
		s->ended = true;
		return 0;
	}
	if (f->type != WIRE_DATA || wire_keep(s, f))
		return -1;
	if (m->relay.gone[f->stream])
		wire_drop(s, f->stream, &m->out);
	return 0;
}

void relay_poll(struct machine *m, struct pollfd p[3])
{
	struct relay *r = &m->relay;
	const struct wire_stream *in = &r->streams[WIRE_STDIN];
	bool read_more = m->running && !m->exited && !in->ended && in->credit && wire_waiting(&m->out) < WIRE_WINDOW;

	p[0] = (struct pollfd){ .fd = read_more ? STDIN_FILENO : -1, .events = POLLIN };
	for (int i = WIRE_STDOUT; i <= WIRE_STDERR; i++)
		p[i] = (struct pollfd){ .fd = r->streams[i].have && !r->gone[i] ? i : -1, .events = POLLOUT };
}

/* True: the user wants the machine to end. */
static bool escaped(struct relay *r, const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (p[i] != ESCAPE) {
			r->escapes = 0;
			continue;
		}
		if (!r->escapes++ || vm_ms_since(&r->escape_time) > 1000) {
			r->escapes = 1;
			clock_gettime(CLOCK_MONOTONIC, &r->escape_time);
		}
		if (r->escapes == 3)
			return true;
	}
	return false;
}

static int input(struct machine *m)
{
	struct relay *r = &m->relay;
	struct wire_stream *s = &r->streams[WIRE_STDIN];
	size_t before = wire_waiting(&m->out);
	long n = wire_pass(s, WIRE_STDIN, STDIN_FILENO, &m->out);

	if (n < 0 && errno != EAGAIN && errno != EINTR) { /* a closed or strange stdin has an end */
		wire_put(&m->out, WIRE_EOF, WIRE_STDIN, NULL, 0);
		s->ended = true;
	}
	if (n > 0 && r->raw && !m->out.failed && escaped(r, m->out.buf + m->out.from + before + WIRE_HEAD, (size_t)n)) {
		m->signal = SIGINT;
		return -1;
	}
	return 0;
}

int relay_serve(struct machine *m, const struct pollfd p[3])
{
	struct relay *r = &m->relay;

	if (p[0].revents && input(m))
		return -1;
	for (unsigned int i = WIRE_STDOUT; i <= WIRE_STDERR; i++) {
		if (!p[i].revents || wire_deliver(&r->streams[i], i, (int)i, PIPE_BUF, &m->out) == 0)
			continue;
		/* Nobody reads: the command is told as it would be here. */
		if (errno != EPIPE)
			return machine_fail(m, "cannot write the command's output: %s", strerror(errno));
		r->gone[i] = true;
		wire_drop(&r->streams[i], i, &m->out);
		wire_put32(&m->out, WIRE_SIGNAL, 0, SIGPIPE);
	}
	return 0;
}

bool relay_done(const struct machine *m)
{
	for (int i = WIRE_STDOUT; i <= WIRE_STDERR; i++)
		if (m->relay.streams[i].have && !m->relay.gone[i])
			return false;
	return m->exited;
}
