/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machine.h"

#define QMP_MAX (1u << 20)

/* An event tells what happens to the guest without us. */
static int event(struct machine *m, const char *name, json_t *msg)
{
	const char *status = json_string_value(json_object_get(json_object_get(msg, "data"), "status"));

	if (!strcmp(name, "MIGRATION") && status) {
		m->unsaved |= m->saving && !strcmp(status, "failed");
		if (!strcmp(status, "failed") && !m->saving)
			return machine_fail(m, "QEMU could not read the snapshot");
		m->migrated |= m->unsaved || !strcmp(status, "completed");
	}
	if (!strcmp(name, "STOP") && !m->stopping)
		return machine_fail(m, "QEMU stopped the guest by an error of its own");
	return 0;
}

static int message(struct machine *m, const char *line, size_t len)
{
	json_t *msg = json_loadb(line, len, 0, NULL);
	const char *name = json_string_value(json_object_get(msg, "event"));
	int err = 0;

	if (!msg)
		err = machine_fail(m, "QEMU's monitor says no JSON: %.*s", (int)(len < 100 ? len : 100), line);
	else if (name)
		err = event(m, name, msg);
	else if (json_integer_value(json_object_get(msg, "id")) == (json_int_t)m->request && !m->reply)
		m->reply = json_incref(msg);
	json_decref(msg);
	return err;
}

int qmp_read(struct machine *m)
{
	char *end, *buf = realloc(m->qmp_buf, m->qmp_len + 4096);
	ssize_t n;

	if (!buf || m->qmp_len > QMP_MAX)
		return machine_fail(m, "QEMU's monitor says too much");
	m->qmp_buf = buf;
	n = read(m->qmp, buf + m->qmp_len, 4096);
	if (n < 0 && errno == EAGAIN)
		return 0;
	if (n <= 0) {
		close(m->qmp);
		m->qmp = -1;
		return 0;
	}
	m->qmp_len += (size_t)n;
	while ((end = memchr(m->qmp_buf, '\n', m->qmp_len))) {
		size_t len = (size_t)(end - m->qmp_buf) + 1;

		if (len > 2 && message(m, m->qmp_buf, len))
			return -1;
		m->qmp_len -= len;
		memmove(m->qmp_buf, m->qmp_buf + len, m->qmp_len);
	}
	return 0;
}

int qmp_call(struct machine *m, const char *what, json_t *args, json_t **ret)
{
	json_t *req = json_pack("{ss si so}", "execute", what, "id", (int)++m->request, "arguments", args ? args : json_object());
	char *text = req ? json_dumps(req, JSON_COMPACT) : NULL;
	size_t len = text ? strlen(text) : 0;
	struct timespec begin;
	json_t *error;
	int err = -1;

	json_decref(req);
	json_decref(m->reply);
	m->reply = NULL;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	/* A request is shorter than any socket's buffer. */
	if (!text || m->qmp < 0 || write(m->qmp, text, len) != (ssize_t)len) {
		free(text);
		return machine_fail(m, "cannot ask QEMU for %s", what);
	}
	free(text);
	while (!m->reply) {
		long left = 60000 - vm_ms_since(&begin);

		if (left <= 0)
			return machine_fail(m, "QEMU does not answer to %s", what);
		if (machine_pump(m, left))
			return -1;
	}
	error = json_object_get(m->reply, "error");
	if (error)
		machine_fail(m, "QEMU refuses %s: %s", what, json_string_value(json_object_get(error, "desc")));
	else
		err = 0;
	if (!err && ret)
		*ret = json_incref(json_object_get(m->reply, "return"));
	json_decref(m->reply);
	m->reply = NULL;
	return err;
}
