/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A device that can be held, removed and made to fail: a software one of this process, by soft.h; or the one under test, of
 * the kernel, by the control lines of the `devx serve` behind it, and by sysfs.
 */
#include <glob.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>

#include "control.h"

static struct {
	const char *path;
	FILE *to, *from;
	char pci[128];               /* the function in sysfs, when it was removed */
	unsigned long submitted;     /* while holding */
	unsigned long released;
} ctl;

/* A socket, or a character device such as a virtio port. -1 with errno. */
static int connect_to(const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	struct stat st;
	int fd;

	if (stat(path, &st))
		return -1;
	if (!S_ISSOCK(st.st_mode))
		return open(path, O_RDWR | O_CLOEXEC | O_NOCTTY);
	if (strlen(path) >= sizeof(addr.sun_path))
		return errno = ENAMETOOLONG, -1;
	strcpy(addr.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&addr, sizeof(addr))) {
		close(fd);
		return -1;
	}
	return fd;
}

bool control_open(const char *path)
{
	int fd = connect_to(path), other = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);

	ctl.path = path;
	ctl.to = fd < 0 ? NULL : fdopen(fd, "w");
	ctl.from = other < 0 ? NULL : fdopen(other, "r");
	return ctl.to && ctl.from;
}

bool controlled(void)
{
	return ctl.to;
}

/* One line and its answer, as far as there is room for it. False: the other side did not do it. */
static bool ask(char *reply, size_t len, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static bool ask(char *reply, size_t len, const char *fmt, ...)
{
	static char *line;
	static size_t room;
	va_list ap;

	va_start(ap, fmt);
	vfprintf(ctl.to, fmt, ap);
	va_end(ap);
	if (fputc('\n', ctl.to) == EOF || fflush(ctl.to) || getline(&line, &room, ctl.from) < 0) {
		printf("Bail out! %s: the control ended\n", ctl.path);
		fflush(stdout);
		_exit(1);
	}
	snprintf(reply, len, "%.*s", (int)strcspn(line, "\n"), line);
	return !strncmp(reply, "ok", 2);
}

#define TELL(...)                                                                                                      \
	({                                                                                                             \
		char reply_[1024];                                                                                     \
		bool done_ = ask(reply_, sizeof(reply_), __VA_ARGS__);                                                 \
                                                                                                                       \
		if (!done_)                                                                                            \
			printf("# control: %s\n", reply_);                                                             \
		done_;                                                                                                 \
	})

static void nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
}

/* --- what cases do to a device --- */

void fault(struct ibv_device *dev, const char *fmt, ...)
{
	char rule[128];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(rule, sizeof(rule), fmt, ap);
	va_end(ap);
	if (is_soft_device(dev))
		CHECK_EQ(odx_soft_fault(dev, rule), 0);
	else
		CHECK(TELL("fault %s", rule));
}

/* The device cannot tell whether the kernel waits for an answer: the queries of counters are those that cases submit. */
void hold(struct ibv_device *dev)
{
	if (is_soft_device(dev)) {
		CHECK_EQ(odx_soft_hold(dev), 0);
		return;
	}
	CHECK(TELL("hold 0x%x", PRM_OP_QUERY_FLOW_COUNTER));
	ctl.submitted = ctl.released = 0;
}

void count_submit(void)
{
	ctl.submitted++;
}

/* The kernel hands commands over when it gets to it. */
static void wait_held(unsigned long n)
{
	for (int i = 0; i < PATIENCE_MS / 2; i++) {
		char reply[1024];
		const char *held;

		CHECK(ask(reply, sizeof(reply), "stat"));
		held = strstr(reply, "held=");
		CHECK(held);
		if (strtoul(held + 5, NULL, 10) >= n)
			return;
		nap();
	}
	CHECK(!"the device does not hold what was submitted");
}

void release(struct ibv_device *dev, uint32_t n)
{
	unsigned long there = ctl.submitted - ctl.released;

	if (is_soft_device(dev)) {
		CHECK_EQ(odx_soft_release(dev, n), 0);
		return;
	}
	if (there > SLOTS)
		there = SLOTS;
	wait_held(n < there ? n : there);
	if (n == UINT32_MAX)
		CHECK(TELL("release all"));
	else
		CHECK(TELL("release %u", n));
	ctl.released += n < there ? n : there;
}

void advance(struct ibv_device *dev, uint64_t ns)
{
	CHECK_EQ(odx_soft_advance(dev, ns), 0);
}

/* The kernel shows a port as up only while its interface is; that has an up of its own, which may take long and is done once. */
static void interface_up(struct ibv_device *dev)
{
	char pattern[256];
	struct ifreq r = { .ifr_name = "" };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	glob_t found;

	snprintf(pattern, sizeof(pattern), "/sys/class/infiniband/%s/device/net/*", ibv_get_device_name(dev));
	CHECK(fd >= 0);
	if (!glob(pattern, 0, NULL, &found)) {
		snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", strrchr(found.gl_pathv[0], '/') + 1);
		globfree(&found);
		if (!ioctl(fd, SIOCGIFFLAGS, &r) && !(r.ifr_flags & IFF_UP)) {
			r.ifr_flags |= IFF_UP;
			if (ioctl(fd, SIOCSIFFLAGS, &r))
				printf("# %s does not come up: errno %d\n", r.ifr_name, errno);
		}
	}
	close(fd);
}

int set_port(struct ibv_device *dev, int up)
{
	if (is_soft_device(dev))
		return odx_soft_port(dev, 1, up);
	interface_up(dev);
	return TELL("port %s", up ? "up" : "down") ? 0 : EIO;
}

int traffic(struct ibv_device *dev, uint32_t counter, uint64_t packets, uint64_t octets)
{
	if (is_soft_device(dev))
		return odx_soft_traffic(dev, counter, packets, octets);
	return TELL("traffic %u %llu %llu", counter, (unsigned long long)packets, (unsigned long long)octets) ? 0 : EIO;
}

int raise_event(struct ibv_device *dev, struct mlx5dv_devx_obj *obj, uint16_t made_by, uint32_t id, uint16_t event, uint8_t syndrome)
{
	if (is_soft_device(dev))
		return odx_soft_event(dev, obj, event, syndrome);
	return TELL("event 0x%x %u %u %u", made_by, id, event, syndrome) ? 0 : EIO;
}

/* --- removal, and the way back --- */

static bool write_file(const char *dir, const char *name)
{
	char path[256];
	int fd;
	bool done;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	done = fd >= 0 && write(fd, "1", 1) == 1;
	if (fd >= 0)
		close(fd);
	return done;
}

static bool may_remove(void)
{
	return !access("/sys/bus/pci/rescan", W_OK);
}

int take_away(struct ibv_device *dev)
{
	char link[256], path[512];

	if (is_soft_device(dev))
		return odx_soft_remove(dev);
	if (!may_remove())
		SKIP("only root may remove a function");
	snprintf(link, sizeof(link), "/sys/class/infiniband/%s/device", ibv_get_device_name(dev));
	if (!realpath(link, path) || strlen(path) >= sizeof(ctl.pci))
		return ENODEV;
	strcpy(ctl.pci, path);
	return write_file(ctl.pci, "remove") ? 0 : EIO;
}

/* The function comes back under its old address, and its verbs device under a name of the driver's choice. */
static struct ibv_device *find_again(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL); /* kept: devices of rdma-core live as long as their list */

	for (; list && *list; list++) {
		char link[256], path[512];

		snprintf(link, sizeof(link), "/sys/class/infiniband/%s/device", ibv_get_device_name(*list));
		if (realpath(link, path) && !strcmp(path, ctl.pci) && mlx5dv_is_supported(*list))
			return *list;
	}
	return NULL;
}

static struct ibv_device *bring_back(void)
{
	struct ibv_device *dev = NULL;

	CHECK(write_file("/sys/bus/pci", "rescan"));
	for (int i = 0; i < PATIENCE_MS / 2 && !(dev = find_again()); i++)
		nap();
	ctl.pci[0] = '\0';
	CHECK(dev);
	return dev;
}

void release_all(void)
{
	TELL("fault clear");
	TELL("release all");
}

struct ibv_device *put_right(struct ibv_device *dev)
{
	release_all();
	if (ctl.pci[0])
		dev = bring_back();
	TELL("port up");
	return dev;
}
