/* SPDX-License-Identifier: BSD-2-Clause */
/* Process 1 of the guest: loads modules, says hello, and waits for its job. Here the snapshot is taken: until the job comes
 * nothing is sent, so that each machine that begins from the snapshot begins between two frames. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest.h"

#define LOG_WAITING 65536 /* bytes for the port above which the log waits */

void guest_off(void)
{
	sync();
	reboot(RB_POWER_OFF);
	_exit(1);
}

/* The port is not blocking, as the loops are to go on; who has nothing else to do waits here. */
static void flush_all(struct guest *g)
{
	while (wire_waiting(&g->out)) {
		struct pollfd fd = { .fd = g->port, .events = POLLOUT };

		guest_flush(g);
		if (wire_waiting(&g->out))
			poll(&fd, 1, 1000);
	}
}

void guest_flush(struct guest *g)
{
	if (wire_flush(&g->out, g->port))
		guest_off();
}

void guest_fail(struct guest *g, const char *fmt, ...)
{
	char text[512];
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (g->port >= 0) {
		guest_log(g);
		wire_put(&g->out, WIRE_FAIL, 0, text, (uint32_t)(n < (int)sizeof(text) ? n : (int)sizeof(text) - 1));
		flush_all(g);
		pause();
	}
	/* Nobody to tell but the console. */
	dprintf(g->kmsg, "<2>devx vm: %s\n", text);
	guest_off();
}

void guest_receive(struct guest *g)
{
	size_t room;
	uint8_t *p = wire_space(&g->in, &room);
	ssize_t n = read(g->port, p, room);

	if (n > 0)
		wire_came(&g->in, (size_t)n);
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		guest_off();
}

/* "prio,sequence,microseconds,flags;text", then lines of properties that begin with a blank (Documentation/ABI/testing/dev-kmsg). */
void guest_log(struct guest *g)
{
	char rec[8192], line[8300];

	while (wire_waiting(&g->out) < LOG_WAITING) {
		ssize_t n = read(g->kmsg, rec, sizeof(rec) - 1);
		unsigned long long us;
		char *text;
		int len;

		if (n < 0 && errno == EPIPE)
			continue; /* overwritten before we came */
		if (n <= 0)
			return;
		rec[n] = 0;
		text = strchr(rec, ';');
		if (!text || sscanf(rec, "%*u,%*u,%llu", &us) != 1)
			continue;
		text[1 + strcspn(text + 1, "\n")] = 0;
		if (g->job.text && strstr(text, "mlx5_core") && strstr(text, "probe") && strstr(text, "failed with error"))
			snprintf(g->probe, sizeof(g->probe), "%s", text + 1); /* in drivers/base/dd.c since ever */
		len = snprintf(line, sizeof(line), "[%5llu.%06llu] %s\n", us / 1000000, us % 1000000, text + 1);
		wire_put(&g->out, WIRE_LOG, 0, line, (uint32_t)len);
	}
}

/* Loads what the list names, in its order, and removes the files: the snapshot need not have them. */
static void load_modules(struct guest *g, char *failed, size_t size)
{
	char line[256], path[300];
	FILE *list = fopen(JOB_MODULE_LIST, "re");

	failed[0] = 0;
	if (!list)
		return;
	while (fgets(line, sizeof(line), list)) {
		int fd;

		line[strcspn(line, "\n")] = 0;
		snprintf(path, sizeof(path), "/modules/%s", line);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if ((fd < 0 || syscall(SYS_finit_module, fd, "", 0)) && errno != EEXIST && !failed[0])
			snprintf(failed, size, "the kernel did not take its module %s: %s", line, strerror(errno));
		close(fd);
		unlink(path);
	}
	fclose(list);
}

/* Calls f for each virtio port that has a name. */
static void each_port(void (*f)(void *arg, const char *name, const char *node), void *arg)
{
	char path[300], name[64];
	DIR *dir = opendir("/sys/class/virtio-ports");
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		FILE *file;

		snprintf(path, sizeof(path), "/sys/class/virtio-ports/%s/name", e->d_name);
		file = e->d_name[0] == '.' ? NULL : fopen(path, "re");
		if (file && fgets(name, sizeof(name), file)) {
			name[strcspn(name, "\n")] = 0;
			f(arg, name, e->d_name);
		}
		if (file)
			fclose(file);
	}
	if (dir)
		closedir(dir);
}

static void open_port(void *arg, const char *name, const char *node)
{
	struct guest *g = arg;
	char path[300];

	snprintf(path, sizeof(path), "/dev/%s", node);
	if (g->port < 0 && !strcmp(name, JOB_PORT))
		g->port = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
}

/* The ports of the control lines get the names that udev would give them. */
static void link_control(void *arg, const char *name, const char *node)
{
	char path[128], to[300];

	if (strncmp(name, JOB_CONTROL, strlen(JOB_CONTROL)) || strchr(name, '/'))
		return;
	mkdir("/dev/virtio-ports", 0755);
	snprintf(path, sizeof(path), "/dev/virtio-ports/%s", name);
	snprintf(to, sizeof(to), "../%s", node);
	if (!symlink(to, path) || errno == EEXIST)
		++*(unsigned int *)arg;
}

static unsigned int link_controls(void)
{
	unsigned int n = 0;

	each_port(link_control, &n);
	return n;
}

static void wait_port(struct guest *g)
{
	for (int i = 0; i < 500; i++) {
		struct pollfd fd = { .fd = g->uevents, .events = POLLIN };
		char drop[4096];

		each_port(open_port, g);
		if (g->port >= 0)
			return;
		if (poll(&fd, 1, 20) > 0)
			while (recv(g->uevents, drop, sizeof(drop), MSG_DONTWAIT) > 0)
				;
	}
	guest_fail(g, "there is no virtio port named " JOB_PORT);
}

/* Sorts the job's strings. They come from the host, which is trusted as the giver of all that runs here. */
static void parse_job(struct guest *g)
{
	struct job *j = &g->job;
	size_t count = 2, args = 0, envs = 0;

	for (size_t i = 0; i < j->len; i++)
		count += !j->text[i];
	j->argv = calloc(count, sizeof(char *));
	j->env = calloc(count, sizeof(char *));
	if (!j->argv || !j->env)
		guest_fail(g, "no memory for the job");
	j->cwd = "/";
	for (char *p = j->text; p < j->text + j->len; p += strlen(p) + 1)
		switch (p[0]) {
		case JOB_ARG: j->argv[args++] = p + 1; break;
		case JOB_ENV: j->env[envs++] = p + 1; break;
		case JOB_CWD: j->cwd = p + 1; break;
		case JOB_TIME: j->time = p + 1; break;
		case JOB_RANDOM: j->random = p + 1; break;
		case JOB_NAME: j->name = p + 1; break;
		case JOB_DEVICES: j->devices = (unsigned int)atoi(p + 1); break;
		case JOB_CONTROLS: j->controls = (unsigned int)atoi(p + 1); break;
		case JOB_TTY: j->tty = p + 1; break;
		case JOB_STDERR: j->own_stderr = true; break;
		case JOB_MODULES: j->modules = true; break;
		case JOB_SHARE:
			if (j->n_shares < GUEST_SHARES)
				j->shares[j->n_shares++] = p + 1;
			break;
		default: guest_fail(g, "the job has an item '%c', which this init does not know", p[0]);
		}
	if (!args)
		guest_fail(g, "the job has no command");
}

static void wait_job(struct guest *g)
{
	struct job *j = &g->job;

	for (;;) {
		struct pollfd fd = { .fd = g->port, .events = POLLIN };
		struct wire_frame f;
		char *more;
		int what;

		while ((what = wire_next(&g->in, &f)) > 0) {
			if (f.type != WIRE_JOB)
				guest_fail(g, "a frame of type %d instead of the job", f.type);
			if (!f.len) {
				parse_job(g);
				return;
			}
			more = j->len + f.len < WIRE_JOB_MAX ? realloc(j->text, j->len + f.len + 1) : NULL;
			if (!more)
				guest_fail(g, "the job is too large");
			j->text = more;
			memcpy(j->text + j->len, f.data, f.len);
			j->len += f.len;
			j->text[j->len] = 0;
		}
		if (what < 0)
			guest_fail(g, "the host sent no frame");
		if (poll(&fd, 1, -1) > 0)
			guest_receive(g);
	}
}

static unsigned int count_verbs(void)
{
	DIR *dir = opendir("/dev/infiniband");
	struct dirent *e;
	unsigned int n = 0;

	while (dir && (e = readdir(dir)))
		n += !strncmp(e->d_name, "uverbs", 6);
	if (dir)
		closedir(dir);
	return n;
}

/* The host bounds the time; a driver that did not take its device needs none. */
static void wait_devices(struct guest *g)
{
	while (count_verbs() < g->job.devices || link_controls() < g->job.controls) {
		struct pollfd fds[] = { { .fd = g->uevents, .events = POLLIN }, { .fd = g->kmsg, .events = POLLIN } };
		char drop[4096];

		guest_log(g);
		if (g->probe[0])
			guest_fail(g, "%s", g->probe);
		guest_flush(g);
		poll(fds, 2, 100);
		while (recv(g->uevents, drop, sizeof(drop), MSG_DONTWAIT) > 0)
			;
	}
}

/* The kernel asks for modules by running a program in its own root, which has only us: the guest's modprobe is in the guest's. */
static int kernel_wants_module(char **argv)
{
	if (chroot("/proc/1/root") || chdir("/"))
		return 1;
	argv[0] = (char *)"modprobe";
	execv("/sbin/modprobe", argv);
	execv("/usr/sbin/modprobe", argv);
	return 1;
}

int main(int argc, char **argv)
{
	static struct guest guest = { .port = -1, .kmsg = -1 };
	struct guest *g = &guest;
	struct sockaddr_nl nl = { .nl_family = AF_NETLINK, .nl_groups = 1 };
	char failed[512];
	int status, fd;

	if (getpid() != 1)
		return kernel_wants_module(argv);
	mkdir("/dev", 0755);
	mkdir("/proc", 0755);
	mkdir("/sys", 0755);
	guest_mount(g, "dev", "/dev", "devtmpfs", MS_NOSUID, NULL);
	fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd < 3)
		fd = dup(fd);
	close(fd);
	g->kmsg = open("/dev/kmsg", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	guest_mount(g, "proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
	guest_mount(g, "sys", "/sys", "sysfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
	fd = open("/proc/sys/kernel/modprobe", O_WRONLY | O_CLOEXEC);
	if (fd >= 0 && write(fd, "/init", 5) == 5)
		close(fd);
	signal(SIGPIPE, SIG_IGN);
	g->uevents = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_KOBJECT_UEVENT);
	if (g->uevents < 0 || bind(g->uevents, (struct sockaddr *)&nl, sizeof(nl)))
		guest_fail(g, "no uevents: %s", strerror(errno));
	load_modules(g, failed, sizeof(failed));
	wait_port(g);
	if (failed[0])
		guest_fail(g, "%s", failed);
	guest_log(g);
	wire_put32(&g->out, WIRE_HELLO, 0, WIRE_VERSION);
	flush_all(g);
	wait_job(g);
	guest_clock(g);
	guest_network(g);
	guest_root(g);
	wait_devices(g);
	wire_put(&g->out, WIRE_UP, 0, NULL, 0);
	status = guest_run(g);
	guest_log(g);
	wire_put32(&g->out, WIRE_EXIT, 0, (uint32_t)status);
	flush_all(g);
	for (;;)
		pause(); /* the host ends the machine, when it has written all */
}
