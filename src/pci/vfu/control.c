/* SPDX-License-Identifier: BSD-2-Clause */
/* The control socket: lines in, one line back for each. Who does not read its answers is not read either. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server.h"

void vfu_control_close(struct control *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
	c->more = false;
	free(c->line);
	free(c->out);
	c->line = c->out = NULL;
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

/* What stands in out. */
static void answer_built(struct control *c)
{
	size_t len = strnlen(c->out, CONTROL_REPLY - 1);

	for (size_t i = 0; i < len; i++)
		if (c->out[i] == '\n')
			c->out[i] = ' '; /* one line, whatever it tells */
	c->out[len] = '\n';
	c->out_at = 0;
	c->out_len = len + 1;
}

static void answer(struct control *c, const char *text)
{
	memcpy(c->out, text, strlen(text) + 1);
	answer_built(c);
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
	if (c < v->controls + CONTROL_CLIENTS) {
		c->line = malloc(CONTROL_LINE);
		c->out = malloc(CONTROL_REPLY);
	}
	if (c == v->controls + CONTROL_CLIENTS || !c->line || !c->out) {
		if (send(fd, full, sizeof(full) - 1, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
			errno = 0; /* it finds out */
		close(fd);
		if (c < v->controls + CONTROL_CLIENTS)
			vfu_control_close(c);
		return;
	}
	c->fd = fd;
	c->closing = c->more = false;
	c->at = c->have = c->out_at = c->out_len = 0;
}

static void execute(struct vfu *v, struct control *c, char *text, size_t len)
{
	if (len && text[len - 1] == '\r')
		len--;
	text[len] = 0;
	if (memchr(text, 0, len)) {
		answer(c, "error: a line has no NUL in it");
		return;
	}
	c->out[0] = 0;
	pci_control(v->pci, text, c->out, CONTROL_REPLY, vfu_now(v));
	answer_built(c);
}

/* One line, if it is there; false: not. */
static bool next_line(struct vfu *v, struct control *c)
{
	char *text = c->line + c->at, *end = memchr(text, '\n', c->have - c->at);

	if (end) {
		c->at += (size_t)(end - text) + 1;
		execute(v, c, text, (size_t)(end - text));
		return true;
	}
	c->have -= c->at;
	memmove(c->line, text, c->have);
	c->at = 0;
	if (c->have < CONTROL_LINE)
		return false;
	answer(c, "error: the line is too long");
	c->closing = true; /* what follows would be read as lines of their own */
	c->have = 0;
	return true;
}

/* After so many lines, the device and the others have their turn. */
void vfu_control_serve(struct vfu *v, struct control *c)
{
	c->more = false;
	for (int i = 0; i < 64; i++) {
		ssize_t n;

		/* Lines that wait for an answer to be taken are looked at again when it was. */
		if (!flush(c) || c->out_at < c->out_len)
			return;
		if (next_line(v, c))
			continue;
		n = recv(c->fd, c->line + c->have, CONTROL_LINE - c->have, MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n <= 0) {
			vfu_control_close(c);
			return;
		}
		c->have += (size_t)n;
	}
	c->more = true;
}
