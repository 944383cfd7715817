/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "control.h"
#include "devx.h"

static int open_socket(const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd, err;

	if (strlen(path) >= sizeof(addr.sun_path))
		return errno = ENAMETOOLONG, -1;
	strcpy(addr.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	if (connect(fd, (struct sockaddr *)&addr, sizeof(addr))) {
		err = errno;
		close(fd);
		return errno = err, -1;
	}
	return fd;
}

bool control_open(struct control *c, const char *path)
{
	struct stat st;

	*c = (struct control){ .path = path, .fd = -1 };
	if (stat(path, &st)) {
		devx_error("--control %s: %s", path, strerror(errno));
		return false;
	}
	if (!S_ISSOCK(st.st_mode) && !S_ISCHR(st.st_mode)) {
		devx_error("--control %s: neither a socket nor a character device", path);
		return false;
	}
	c->socket = S_ISSOCK(st.st_mode);
	c->fd = c->socket ? open_socket(path) : open(path, O_RDWR | O_CLOEXEC | O_NOCTTY);
	if (c->fd < 0)
		devx_error("--control %s: %s", path, strerror(errno));
	return c->fd >= 0;
}

static bool await(struct control *c, short events)
{
	struct pollfd pfd = { .fd = c->fd, .events = events };
	int n;

	do
		n = poll(&pfd, 1, CONTROL_PATIENCE);
	while (n < 0 && errno == EINTR);
	if (!n)
		devx_error("%s: no answer in %d seconds", c->path, CONTROL_PATIENCE / 1000);
	else if (n < 0)
		devx_error("poll: %s", strerror(errno));
	return n > 0;
}

/* A peer that hung up is an error to tell, not a signal. */
static ssize_t put(struct control *c, const char *p, size_t len)
{
	return c->socket ? send(c->fd, p, len, MSG_NOSIGNAL) : write(c->fd, p, len);
}

static bool send_lines(struct control *c)
{
	size_t done = 0;

	while (done < c->n_out) {
		ssize_t n = await(c, POLLOUT) ? put(c, c->out + done, c->n_out - done) : -2;

		if (n == -2)
			return false;
		if (n > 0) {
			done += (size_t)n;
		} else if (errno != EINTR && errno != EAGAIN) {
			devx_error("%s: %s", c->path, strerror(errno));
			return false;
		}
	}
	c->n_out = 0;
	return true;
}

/* The first line of what was read, taken out; false: it is not whole, or no answer. */
static bool take_answer(struct control *c, bool *bad)
{
	char *end = memchr(c->in, '\n', c->n_in);
	size_t len = end ? (size_t)(end - c->in) : 0;

	*bad = false;
	if (!end)
		return false;
	*end = 0;
	if (strncmp(c->in, "ok", 2)) {
		devx_error("%s: %s", c->path, c->in);
		*bad = true;
	}
	c->n_in -= len + 1;
	memmove(c->in, end + 1, c->n_in);
	return true;
}

static bool read_answers(struct control *c)
{
	bool bad;

	while (c->n_unanswered) {
		ssize_t n;

		if (take_answer(c, &bad)) {
			c->n_unanswered--;
			if (bad)
				return false;
			continue;
		}
		if (c->n_in == sizeof(c->in)) {
			devx_error("%s: an answer without an end: is it the control of devx serve?", c->path);
			return false;
		}
		if (!await(c, POLLIN))
			return false;
		n = read(c->fd, c->in + c->n_in, sizeof(c->in) - c->n_in);
		if (n > 0) {
			c->n_in += (size_t)n;
		} else if (!n || (errno != EINTR && errno != EAGAIN)) {
			devx_error("%s: %s", c->path, n ? strerror(errno) : "closed by the other side");
			return false;
		}
	}
	return true;
}

bool control_flush(struct control *c)
{
	return send_lines(c) && read_answers(c);
}

bool control_line(struct control *c, const char *line)
{
	size_t len = strlen(line);

	memcpy(c->out + c->n_out, line, len);
	c->out[c->n_out + len] = '\n';
	c->n_out += len + 1;
	return ++c->n_unanswered < CONTROL_WINDOW || control_flush(c);
}

void control_close(struct control *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
}
