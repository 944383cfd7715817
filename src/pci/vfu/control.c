/* SPDX-License-Identifier: BSD-2-Clause */
/* The control socket: lines in, one line back for each. Who does not read its answers is not read either. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server.h"

void vfu_control_close(struct control *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
}

/* False: it was closed. */
static bool flush(struct control *c)
{
	while (c->out_at < c->out_len) {
		ssize_t n = send(c->fd, c->out + c->out_at, c->out_len - c->out_at, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return true;
		if (n < 0) {
			vfu_control_close(c);
			return false;
		}
		c->out_at += (size_t)n;
	}
	if (c->closing) {
		vfu_control_close(c);
		return false;
	}
	return true;
}

static void answer(struct control *c, const char *text)
{
	size_t len = strnlen(text, sizeof(c->out) - 1);

	memmove(c->out, text, len);
	for (size_t i = 0; i < len; i++)
		if (c->out[i] == '\n')
			c->out[i] = ' '; /* one line, whatever it tells */
	c->out[len] = '\n';
	c->out_at = 0;
	c->out_len = len + 1;
}

void vfu_control_accept(struct vfu *v)
{
	int fd = accept4(v->control_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	static const char full[] = "error: too many control connections\n";
	struct control *c = v->controls;

	if (fd < 0) {
		if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
			v->accept_after = vfu_now(v) + ACCEPT_PAUSE;
		return;
	}
	while (c < v->controls + CONTROL_CLIENTS && c->fd >= 0)
		c++;
	if (c == v->controls + CONTROL_CLIENTS) {
		if (send(fd, full, sizeof(full) - 1, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
			errno = 0; /* it finds out */
		close(fd);
		return;
	}
	c->fd = fd;
	c->closing = false;
	c->have = c->out_at = c->out_len = 0;
}

static void execute(struct vfu *v, struct control *c, size_t len)
{
	char reply[CONTROL_LINE] = "";

	c->line[len] = 0;
	if (len && c->line[len - 1] == '\r')
		c->line[len - 1] = 0;
	if (memchr(c->line, 0, len - (len && !c->line[len - 1]))) {
		answer(c, "error: a line has no NUL in it");
		return;
	}
	pci_control(v->pci, c->line, reply, sizeof(reply), vfu_now(v));
	answer(c, reply);
}

/* One line, if it is there; false: not. */
static bool next_line(struct vfu *v, struct control *c)
{
	char *end = memchr(c->line, '\n', c->have);
	size_t len;

	if (!end) {
		if (c->have < sizeof(c->line))
			return false;
		answer(c, "error: the line is too long");
		c->closing = true; /* what follows would be read as lines of their own */
		c->have = 0;
		return true;
	}
	len = (size_t)(end - c->line);
	execute(v, c, len);
	c->have -= len + 1;
	memmove(c->line, end + 1, c->have);
	return true;
}

void vfu_control_serve(struct vfu *v, struct control *c)
{
	int reads = 0;

	for (;;) {
		ssize_t n;

		/* Lines that wait for an answer to be taken are looked at again when it was. */
		if (!flush(c) || c->out_at < c->out_len)
			return;
		if (next_line(v, c))
			continue;
		if (reads++ == 8)
			return; /* others have their turn */
		n = recv(c->fd, c->line + c->have, sizeof(c->line) - c->have, MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n <= 0) {
			vfu_control_close(c);
			return;
		}
		c->have += (size_t)n;
	}
}
