/* SPDX-License-Identifier: BSD-2-Clause */
/* The loop: clients come and go, their messages are executed, timers of the device fire, control lines are answered. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "server.h"

/* Messages, or answers of the device, between two looks at everything else. */
#define BURST 64

enum { POLL_STOP, POLL_LISTEN, POLL_CLIENT, POLL_CONTROL, POLL_CONTROLS, POLL_N = POLL_CONTROLS + CONTROL_CLIENTS };

uint64_t vfu_now(const struct vfu *v)
{
	struct timespec t;

	if (v->config.now)
		return v->config.now();
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void raise_msix(void *host, uint32_t vector)
{
	struct vfu *v = host;

	vfu_irq_raise(&v->irqs, vector);
}

static uint64_t host_now(void *host)
{
	return vfu_now(host);
}

static void forget_msix(void *host)
{
	struct vfu *v = host;

	vfu_irq_forget(&v->irqs);
}

static const struct pci_host host_ops = {
	.read = vfu_dma_read, .write = vfu_dma_write, .msix = raise_msix, .now = host_now, .reset = forget_msix,
};

struct vfu *vfu_new(const struct vfu_config *config)
{
	struct vfu *v = calloc(1, sizeof(*v));
	struct pci_config pc = { .hca = config->hca, .mapped = !config->no_mmap };
	int err = ENOMEM;

	if (!v)
		return NULL;
	v->config = *config;
	v->listen_fd = v->control_fd = v->stop_fd = v->client = v->uar_fd = v->out_fd = -1;
	v->pid = getpid();
	json_object_seed(0); /* reads a device, which a sandbox may not let it do later */
	v->queue_end = &v->queue;
	vfu_irq_init(&v->irqs);
	for (int i = 0; i < CONTROL_CLIENTS; i++)
		v->controls[i].fd = -1;
	v->current = malloc(sizeof(*v->current));
	v->incoming = malloc(sizeof(*v->incoming));
	v->spare = malloc(sizeof(*v->spare));
	v->out = malloc(VFU_MSG_MAX);
	if (!v->current || !v->incoming || !v->spare || !v->out)
		goto fail;
	/* Not the bytes: most of these megabytes are never touched. */
	v->current->have = v->incoming->have = v->spare->have = 0;
	v->current->n_fds = v->incoming->n_fds = v->spare->n_fds = 0;
	v->current->lost_fds = v->incoming->lost_fds = v->spare->lost_fds = false;
	err = vfu_uars_new(v);
	if (err)
		goto fail;
	pc.uars = v->uars;
	v->pci = pci_new(&pc, &host_ops, v);
	if (v->pci)
		return v;
	err = ENOMEM;
fail:
	vfu_free(v);
	errno = err;
	return NULL;
}

static void shut(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void vfu_free(struct vfu *v)
{
	if (!v)
		return;
	vfu_detach(v);
	for (int i = 0; i < CONTROL_CLIENTS; i++)
		vfu_control_close(&v->controls[i]);
	if (v->pci)
		pci_free(v->pci);
	vfu_irq_clear(&v->irqs);
	if (v->uars)
		munmap(v->uars, PCI_UAR_SIZE);
	shut(&v->uar_fd);
	shut(&v->listen_fd);
	shut(&v->control_fd);
	free(v->current);
	free(v->incoming);
	free(v->spare);
	free(v->out);
	free(v);
}

struct pci *vfu_function(struct vfu *v)
{
	return v->pci;
}

void vfu_listen(struct vfu *v, int fd)
{
	shut(&v->listen_fd);
	v->listen_fd = fd;
}

void vfu_listen_control(struct vfu *v, int fd)
{
	shut(&v->control_fd);
	v->control_fd = fd;
}

void vfu_stop_at(struct vfu *v, int fd)
{
	v->stop_fd = fd;
}

bool vfu_attached(const struct vfu *v)
{
	return v->client >= 0;
}

bool vfu_attach(struct vfu *v, int fd)
{
	if (v->client >= 0) {
		close(fd);
		return false;
	}
	v->client = fd;
	v->greeted = v->broken = false;
	v->dma.xfer_max = VFU_XFER_MAX;
	v->dma.last_id = 0;
	v->dma.silent = v->dma.deaf = false;
	v->dma.layout = LAYOUT_UNKNOWN;
	return true;
}

static void answer_due(struct vfu *v)
{
	for (int i = 0; i < BURST; i++) {
		uint64_t next = pci_next(v->pci), now;

		if (next == HCA_NEVER)
			return;
		now = vfu_now(v);
		if (next > now)
			return;
		pci_due(v->pci, now);
	}
}

/* True: nothing is left to do for the client, as far as it said. */
static bool serve_client(struct vfu *v)
{
	for (int i = 0; i < BURST; i++) {
		enum received r = RECEIVED_MESSAGE;

		if (!vfu_flush(v))
			break;
		if (!vfu_dequeue(v)) {
			struct message *m = v->incoming;

			r = vfu_receive(v);
			if (r == RECEIVED_NOTHING)
				return true;
			if (r == RECEIVED_END)
				break;
			if ((m->header.flags & VFU_TYPE) == VFU_REPLY) {
				vfu_late_reply(v);
				continue;
			}
			v->incoming = v->current;
			v->current = m;
			v->incoming->have = 0;
		}
		vfu_request(v);
		answer_due(v);
		if (v->broken)
			break;
	}
	if (v->broken)
		vfu_detach(v);
	return v->client < 0;
}

static void accept_client(struct vfu *v)
{
	int fd = accept4(v->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd >= 0)
		vfu_attach(v, fd); /* a second one at a time is hung up on: it shall not wait without end */
	else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
		v->accept_after = vfu_now(v) + ACCEPT_PAUSE;
}

static void poll_set(struct vfu *v, struct pollfd *fds, bool pause)
{
	bool out = v->out_at < v->out_len;

	fds[POLL_STOP] = (struct pollfd){ .fd = v->stop_fd, .events = POLLIN };
	fds[POLL_LISTEN] = (struct pollfd){ .fd = pause ? -1 : v->listen_fd, .events = POLLIN };
	fds[POLL_CLIENT] = (struct pollfd){ .fd = v->client, .events = out ? POLLOUT : POLLIN };
	fds[POLL_CONTROL] = (struct pollfd){ .fd = pause ? -1 : v->control_fd, .events = POLLIN };
	for (int i = 0; i < CONTROL_CLIENTS; i++) {
		const struct control *c = &v->controls[i];

		fds[POLL_CONTROLS + i] = (struct pollfd){ .fd = c->fd, .events = c->out_at < c->out_len ? POLLOUT : POLLIN };
	}
}

static void wait_for_any(struct vfu *v, struct pollfd *fds, int timeout_ms)
{
	uint64_t now = vfu_now(v), until = pci_next(v->pci), wait = timeout_ms < 0 ? UINT64_MAX : (uint64_t)timeout_ms * 1000000;
	bool pause = v->accept_after > now;
	struct timespec t;

	poll_set(v, fds, pause);
	if (pause && until > v->accept_after)
		until = v->accept_after;
	if (until != HCA_NEVER)
		wait = until <= now ? 0 : until - now < wait ? until - now : wait;
	/* What a control line made the device ask for may have brought these; a client that is gone stays broken. */
	if (v->client >= 0 && (v->broken || (v->queue && v->out_at == v->out_len)))
		wait = 0;
	for (int i = 0; i < CONTROL_CLIENTS; i++)
		if (v->controls[i].more)
			wait = 0;
	t.tv_sec = (time_t)(wait / 1000000000);
	t.tv_nsec = (long)(wait % 1000000000);
	if (ppoll(fds, POLL_N, wait == UINT64_MAX ? NULL : &t, NULL) <= 0)
		for (int i = 0; i < POLL_N; i++)
			fds[i].revents = 0;
}

bool vfu_step(struct vfu *v, int timeout_ms)
{
	struct pollfd fds[POLL_N];
	bool idle = true;

	wait_for_any(v, fds, timeout_ms);
	answer_due(v);
	if (v->client >= 0 && (fds[POLL_CLIENT].revents || v->queue || v->broken))
		idle = serve_client(v);
	/* Only when the client has nothing more to say: one that hung up makes way for the next. */
	if (fds[POLL_LISTEN].revents && idle)
		accept_client(v);
	for (int i = 0; i < CONTROL_CLIENTS; i++)
		if (fds[POLL_CONTROLS + i].revents || v->controls[i].more)
			vfu_control_serve(v, &v->controls[i]);
	if (fds[POLL_CONTROL].revents)
		vfu_control_accept(v);
	return !fds[POLL_STOP].revents;
}

/* 1: somebody listens there; 0: nobody does; -1: it cannot be told (errno). */
static int in_use(const struct sockaddr_un *a)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), r;

	if (fd < 0)
		return -1;
	r = connect(fd, (const struct sockaddr *)a, sizeof(*a));
	if (r && errno == ECONNREFUSED)
		r = 0;
	else
		r = !r || errno == EAGAIN ? 1 : -1; /* EAGAIN: its backlog is full */
	close(fd);
	return r;
}

static int clear_path(const struct sockaddr_un *a, const char **why)
{
	struct stat st;
	int r;

	if (lstat(a->sun_path, &st))
		return errno == ENOENT ? 0 : -1;
	if (!S_ISSOCK(st.st_mode)) {
		*why = "there is something that is no socket";
		errno = EEXIST;
		return -1;
	}
	r = in_use(a);
	if (r > 0) {
		*why = "the socket is in use: another server listens there";
		errno = EADDRINUSE;
	}
	return r ? -1 : unlink(a->sun_path);
}

int vfu_bind(const char *path, const char **why)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd;

	*why = NULL;
	if (!*path || strlen(path) >= sizeof(a.sun_path)) {
		*why = "the path of a socket has 1 to 107 characters";
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(a.sun_path, path, strlen(path) + 1);
	if (clear_path(&a, why))
		goto fail;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		goto fail;
	if (!bind(fd, (struct sockaddr *)&a, sizeof(a)) && !listen(fd, 8))
		return fd;
	close(fd);
fail:
	if (!*why)
		*why = strerror(errno);
	return -1;
}
