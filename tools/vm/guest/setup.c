/* SPDX-License-Identifier: BSD-2-Clause */
/* Clock, network and file systems of the guest, after it got its job: none of it is in the snapshot. */
#include <errno.h>
#include <fcntl.h>
#include <linux/random.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "guest.h"

#define P9_OPTIONS "trans=virtio,version=9p2000.L,msize=512000,"

/* Of <linux/mount.h>, which older C libraries do not go with. */
#define TREE_CLONE 1
#define MOVE_FROM_FD 4

void guest_mount(struct guest *g, const char *what, const char *where, const char *type, unsigned long flags, const char *options)
{
	if (mount(what, where, type, flags, options))
		guest_fail(g, "cannot mount %s (%s) at %s: %s", what, type, where, strerror(errno));
}

/* As far as the tree may be written to: where it cannot, the mount that follows says so. */
static void make_path(const char *path, mode_t mode)
{
	char part[4096];

	for (const char *p = path; (p = strchr(p + 1, '/'));) {
		snprintf(part, sizeof(part), "%.*s", (int)(p - path), path);
		mkdir(part, 0755);
	}
	mkdir(path, mode);
}

static int hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* A guest from a snapshot has the time and the randomness of the day it was taken. */
void guest_clock(struct guest *g)
{
	struct { /* rand_pool_info, whose bytes have no number */
		int entropy_count, buf_size;
		uint8_t bytes[64];
	} pool = { 0 };
	struct timespec now = { 0 };
	long long sec;
	long ns;
	int fd, n = 0;

	if (g->job.time && sscanf(g->job.time, "%lld.%ld", &sec, &ns) == 2) {
		now.tv_sec = (time_t)sec;
		now.tv_nsec = ns;
		if (clock_settime(CLOCK_REALTIME, &now))
			guest_fail(g, "cannot set the clock: %s", strerror(errno));
	}
	for (const char *p = g->job.random; p && hex(p[0]) >= 0 && hex(p[1]) >= 0 && n < 64; p += 2)
		pool.bytes[n++] = (uint8_t)(hex(p[0]) << 4 | hex(p[1]));
	pool.buf_size = n;
	pool.entropy_count = n * 8;
	fd = open("/dev/urandom", O_WRONLY | O_CLOEXEC);
	if (fd < 0 || ioctl(fd, RNDADDENTROPY, &pool) || ioctl(fd, RNDRESEEDCRNG))
		guest_fail(g, "cannot seed the random numbers: %s", strerror(errno));
	close(fd);
}

void guest_network(struct guest *g)
{
	struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (g->job.name)
		sethostname(g->job.name, strlen(g->job.name));
	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &lo))
		guest_fail(g, "cannot bring the loopback up: %s", strerror(errno));
	close(fd);
}

/* The tree of modules as a mount of its own, which finds its place when the root is there. -1: none. */
static int modules_tree(struct guest *g)
{
	const char *tree = "/tree";
	int fd;

	if (!g->job.modules)
		return -1;
	mkdir("/tree", 0755);
	guest_mount(g, JOB_TAG_MODULES, "/tree", "9p", MS_RDONLY, P9_OPTIONS "cache=loose");
	if (!access(JOB_INDEX, F_OK)) {
		mkdir("/indexed", 0755);
		guest_mount(g, "modules", "/indexed", "overlay", MS_RDONLY, "lowerdir=" JOB_INDEX ":/tree");
		tree = "/indexed";
	}
	fd = (int)syscall(SYS_open_tree, AT_FDCWD, tree, TREE_CLONE | O_CLOEXEC);
	if (fd < 0)
		guest_fail(g, "cannot pick the tree of modules up: %s", strerror(errno));
	return fd;
}

static void mount_modules(struct guest *g, int tree)
{
	struct utsname uts;
	char path[200];

	uname(&uts);
	snprintf(path, sizeof(path), "/lib/modules/%s", uts.release);
	make_path(path, 0755);
	if (syscall(SYS_move_mount, tree, "", AT_FDCWD, path, MOVE_FROM_FD))
		guest_fail(g, "cannot mount the modules at %s: %s", path, strerror(errno));
	close(tree);
}

/* What is the machine's own, over what the host's tree has there. */
static void own_mounts(struct guest *g)
{
	static const struct {
		const char *where, *type, *options;
		unsigned long flags;
		mode_t mode;
	} own[] = {
		{ "/proc", "proc", NULL, MS_NOSUID | MS_NODEV | MS_NOEXEC, 0555 },
		{ "/sys", "sysfs", NULL, MS_NOSUID | MS_NODEV | MS_NOEXEC, 0555 },
		{ "/dev", "devtmpfs", NULL, MS_NOSUID, 0755 },
		{ "/dev/pts", "devpts", "gid=5,mode=620,ptmxmode=666", MS_NOSUID | MS_NOEXEC, 0755 },
		{ "/dev/shm", "tmpfs", "mode=1777", MS_NOSUID | MS_NODEV, 01777 },
		{ "/run", "tmpfs", "mode=755", MS_NOSUID | MS_NODEV, 0755 },
	};
	static const char *const links[][2] = { { "/proc/self/fd", "/dev/fd" },       { "/proc/self/fd/0", "/dev/stdin" },
						{ "/proc/self/fd/1", "/dev/stdout" }, { "/proc/self/fd/2", "/dev/stderr" } };

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		make_path(own[i].where, own[i].mode);
		guest_mount(g, own[i].type, own[i].where, own[i].type, own[i].flags, own[i].options);
	}
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		if (symlink(links[i][0], links[i][1]) && errno != EEXIST)
			guest_fail(g, "cannot make %s: %s", links[i][1], strerror(errno));
	mkdir("/run/lock", 01777);
	mount("debugfs", "/sys/kernel/debug", "debugfs", 0, NULL); /* if the kernel has them */
	mount("tracefs", "/sys/kernel/tracing", "tracefs", 0, NULL);
	if (access("/tmp", F_OK)) {
		make_path("/tmp", 01777);
		chmod("/tmp", 01777);
	}
}

void guest_root(struct guest *g)
{
	int tree = modules_tree(g);

	mkdir("/lower", 0755);
	mkdir("/rw", 0755);
	mkdir("/root", 0755);
	/* Nobody but this guest reads the tree through this server: what was read once may be kept. */
	guest_mount(g, JOB_TAG_ROOT, "/lower", "9p", MS_RDONLY, P9_OPTIONS "cache=loose");
	guest_mount(g, "rw", "/rw", "tmpfs", 0, "mode=755,size=75%");
	mkdir("/rw/up", 0755);
	mkdir("/rw/work", 0755);
	guest_mount(g, "root", "/root", "overlay", 0, "lowerdir=/lower,upperdir=/rw/up,workdir=/rw/work");
	/* As switch_root does it, so that the command is not seen as chrooted and may have user namespaces. */
	if (chdir("/root") || mount(".", "/", NULL, MS_MOVE, NULL) || chroot(".") || chdir("/"))
		guest_fail(g, "cannot change to the root: %s", strerror(errno));
	own_mounts(g);
	if (tree >= 0)
		mount_modules(g, tree);
	for (unsigned int i = 0; i < g->job.n_shares; i++) {
		char tag[32];
		const char *path = strchr(g->job.shares[i], ' ');

		if (!path++)
			guest_fail(g, "a share without a path");
		snprintf(tag, sizeof(tag), "%.*s", (int)(path - 1 - g->job.shares[i]), g->job.shares[i]);
		make_path(path, 0755);
		guest_mount(g, tag, path, "9p", 0, P9_OPTIONS "cache=none");
	}
}
