/* SPDX-License-Identifier: BSD-2-Clause */
/* The process that serves the devices, a thread for each, and can do nothing else. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "devx.h"
#include "pci.h"
#include "serve.h"
#include "vfu.h"

/* Passed twice: when all threads run, whose beginning makes system calls of its own, and when nothing more is allowed. */
static pthread_barrier_t start;

static void *run(void *v)
{
	pthread_barrier_wait(&start);
	pthread_barrier_wait(&start);
	while (vfu_step(v, -1))
		;
	return NULL;
}

/*
 * Locally administered, as the software devices of the library have it, but beside theirs, and not the same for two servers:
 * devices of both may meet in one guest. A server at the same path has the same again.
 */
static uint64_t guid(const struct serve *s, unsigned int i)
{
	uint32_t hash = 2166136261u; /* FNV-1a */

	for (const char *c = s->devices[0].socket; *c; c++)
		hash = (hash ^ (uint8_t)*c) * 16777619u;
	return UINT64_C(0x0200de0000000000) | (uint64_t)(0x8000 | ((hash ^ hash >> 16) & 0x7fff)) << 8 | i;
}

static struct vfu *make(const struct serve *s, unsigned int i, int stop)
{
	struct vfu_config config = { .hca = s->spec.hca, .no_mmap = s->no_mmap, .wait_ms = 2000 };
	const struct serve_device *d = &s->devices[i];
	struct vfu *v;

	config.hca.guid = guid(s, i);
	config.hca.seed += i; /* devices of one server do not march in step */
	v = vfu_new(&config);
	if (!v) {
		devx_error("cannot make a device: %s", strerror(errno));
		return NULL;
	}
	vfu_stop_at(v, stop);
	vfu_listen(v, d->socket_fd);
	if (d->control_fd >= 0)
		vfu_listen_control(v, d->control_fd);
	for (unsigned int f = 0; f < s->n_faults; f++) {
		char line[SPEC_MAX + 16], reply[256];

		snprintf(line, sizeof(line), "fault %s", s->faults[f]);
		if (!pci_control(vfu_function(v), line, reply, sizeof(reply), 0)) {
			devx_error("--fault \"%s\": %s", s->faults[f], reply);
			return NULL;
		}
	}
	return v;
}

/* What stands in configuration space, so that the line tells what a guest sees. */
static void describe(const struct serve *s, unsigned int i, struct vfu *v, char *line, size_t len)
{
	static const char *const names[HCA_N_PROFILES] = {
		[HCA_CX5] = "ConnectX-5", [HCA_CX6DX] = "ConnectX-6 Dx", [HCA_CX7] = "ConnectX-7", [HCA_BF3] = "BlueField-3",
	};
	const struct serve_device *d = &s->devices[i];
	uint8_t id[4] = { 0 };

	pci_read(vfu_function(v), PCI_CONFIG, 0, id, sizeof(id), 0);
	snprintf(line, len, "serving mlx5 %s (%02x%02x:%02x%02x), profile %s, on %s%s%s\n", names[s->spec.hca.profile], id[1], id[0],
		 id[3], id[2], hca_profile_name(s->spec.hca.profile), d->socket, *d->control ? ", control lines on " : "", d->control);
}

/* False: it cannot be written. Who asks us to end while nobody reads need not wait for a reader. */
static bool say(const char *text, int stop, bool *stopped)
{
	for (size_t len = strlen(text); len;) {
		struct pollfd p[2] = { { .fd = STDOUT_FILENO, .events = POLLOUT }, { .fd = stop, .events = POLLIN } };
		ssize_t n;

		if (poll(p, 2, -1) < 0)
			continue;
		*stopped = p[1].revents;
		if (*stopped)
			return true;
		n = write(STDOUT_FILENO, text, len);
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return false;
		text += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
	return true;
}

int serve_devices(const struct serve *s, int stop)
{
	static char lines[SERVE_MAX][512];
	pthread_t threads[SERVE_MAX];
	bool stopped = false;
	struct vfu *v;
	int err = 0;

	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_TIMERSLACK, 1000); /* answers after microseconds come when they are due */
	pthread_barrier_init(&start, NULL, s->n + 1);
	if (!sandbox_privileges())
		return DEVX_FAILED;
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* not before: changing users clears it */
	for (unsigned int i = 0; i < s->n; i++) {
		v = make(s, i, stop);
		if (!v)
			return DEVX_FAILED;
		describe(s, i, v, lines[i], sizeof(lines[i]));
		err = pthread_create(&threads[i], NULL, run, v);
		if (err) {
			devx_error("cannot start a thread: %s", strerror(err));
			return DEVX_FAILED;
		}
	}
	pthread_barrier_wait(&start);
	if (!sandbox_filter())
		return DEVX_FAILED;
	for (unsigned int i = 0; i < s->n && !stopped; i++) {
		if (!say(lines[i], stop, &stopped)) {
			devx_error("standard output: %s", strerror(errno));
			return DEVX_FAILED;
		}
	}
	if (stopped)
		return DEVX_OK;
	pthread_barrier_wait(&start);
	for (unsigned int i = 0; i < s->n; i++)
		pthread_join(threads[i], NULL);
	return DEVX_OK;
}
