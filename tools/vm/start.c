/* SPDX-License-Identifier: BSD-2-Clause */
/* QEMU's arguments, plugging the devices, and the job. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "machine.h"

/* The kernel says nothing on the slow console but what is serious; the rest of its log comes over the port. */
#define KERNEL_LINE "console=ttyS0 quiet panic=-1 oops=panic mitigations=off no_timer_check tsc=reliable"

struct args {
	char *v[192]; /* with 24 devices and shares: 130 */
	unsigned int n;
	bool failed;
};

static void arg(struct args *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void arg(struct args *a, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	if (a->n + 1 >= sizeof(a->v) / sizeof(a->v[0]) || vasprintf(&a->v[a->n], fmt, args) < 0)
		a->failed = true;
	else
		a->v[++a->n] = NULL;
	va_end(args);
}

/* A share of a directory. In QEMU's options a comma is doubled. */
static void share(struct args *a, const char *id, const char *path, bool writable)
{
	char doubled[2 * VM_PATH], *p = doubled;

	for (; *path && p < doubled + sizeof(doubled) - 2; path++) {
		if (*path == ',')
			*p++ = ',';
		*p++ = *path;
	}
	*p = 0;
	arg(a, "-fsdev");
	arg(a, "local,id=%s,path=%s,security_model=none,multidevs=remap%s", id, doubled, writable ? "" : ",readonly=on");
	arg(a, "-device");
	arg(a, "virtio-9p-pci,fsdev=%s,mount_tag=%s", id, id);
}

static void arguments(struct args *a, const struct machine *m, const struct vm_qemu *q, const char *elf, const char *initrd,
		      const char *snapshot, const struct vm_kernel *k)
{
	const struct vm_options *o = m->o;
	static const char *const plain[] = { "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot" };

	for (unsigned int i = 0; i < q->n; i++)
		arg(a, "%s", q->argv[i]);
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		arg(a, "%s", plain[i]);
	arg(a, "-accel");
	arg(a, m->accel == VM_KVM ? "kvm" : "tcg,thread=multi");
	arg(a, "-machine");
	arg(a, "q35,memory-backend=mem,vmport=off,smbus=off,sata=off");
	if (m->accel == VM_KVM) {
		arg(a, "-cpu");
		arg(a, "host");
	}
	arg(a, "-smp");
	arg(a, "%u", o->cpus);
	arg(a, "-m");
	arg(a, "%uM", o->memory_mb);
	arg(a, "-object"); /* shared, or the device's server could not see the guest's memory */
	arg(a, "memory-backend-memfd,id=mem,size=%uM,share=on", o->memory_mb);
	arg(a, "-kernel");
	arg(a, "%s", elf);
	arg(a, "-initrd");
	arg(a, "%s", initrd);
	arg(a, "-append");
	arg(a, KERNEL_LINE);
	for (unsigned int i = 0; i < 3; i++) { /* the descriptors 3, 4, 5 of machine_start() */
		arg(a, "-chardev");
		arg(a, "socket,id=%s,fd=%u", i == 0 ? "link" : i == 1 ? "qmp" : "console", 3 + i);
	}
	arg(a, "-mon");
	arg(a, "chardev=qmp,mode=control");
	arg(a, "-serial");
	arg(a, "chardev:console");
	arg(a, "-device");
	arg(a, "virtio-serial-pci,id=serial,max_ports=%u", VM_MANY + 2);
	arg(a, "-device");
	arg(a, "virtserialport,chardev=link,nr=1,name=" JOB_PORT);
	share(a, JOB_TAG_ROOT, o->root ? o->root : "/", false);
	share(a, JOB_TAG_MODULES, k->modules, false);
	for (unsigned int i = 0; i < o->n_shares; i++) {
		char id[32];

		snprintf(id, sizeof(id), JOB_TAG_SHARE, (int)i);
		share(a, id, o->shares[i], true);
	}
	for (unsigned int i = 0; i < o->devices; i++) {
		arg(a, "-device");
		arg(a, "pcie-root-port,id=port%u,bus=pcie.0,chassis=%u,slot=%u,pref64-reserve=64M", i, i + 1, i + 1);
	}
	if (snapshot) {
		arg(a, "-incoming");
		arg(a, "defer");
	}
}

int machine_start(struct machine *m, const struct vm_qemu *q, const char *elf, const char *initrd, const char *snapshot,
		  const struct vm_kernel *k)
{
	struct args a = { .n = 0 };
	int pair[3][2], out[2], ours[4] = { -1, -1, -1, -1 }, i = 0;
	struct spawn s = { .argv = a.v, .n_fds = 3, .death = SIGKILL };

	arguments(&a, m, q, elf, initrd, snapshot, k);
	while (!a.failed && i < 3 && !socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair[i])) {
		ours[i] = pair[i][0];
		fcntl(ours[i], F_SETFL, O_NONBLOCK);
		s.fds[i] = pair[i][1];
		i++;
	}
	m->link = ours[0];
	m->qmp = ours[1];
	m->console = ours[2];
	if (i == 3 && !pipe2(out, O_CLOEXEC)) {
		m->qemu_out = out[0];
		fcntl(out[0], F_SETFL, O_NONBLOCK);
		s.out = out[1];
		if (q->modules[0]) {
			s.env[0] = "QEMU_MODULE_DIR";
			s.env[1] = q->modules;
		}
		m->qemu = spawn(&s);
		close(out[1]);
	}
	while (i)
		close(pair[--i][1]);
	for (unsigned int j = 0; j < a.n; j++)
		free(a.v[j]);
	if (m->qemu <= 0)
		return machine_fail(m, "cannot start QEMU: %s", strerror(errno));
	return qmp_call(m, "qmp_capabilities", NULL, NULL);
}

/* A port of the guest that leads to the server's control lines. */
static int plug_control(struct machine *m, unsigned int i, unsigned int n)
{
	char path[VM_PATH], id[24], name[64];
	const char *end = m->o->control;

	snprintf(id, sizeof(id), "control%u", i);
	if (n == 1 ? vm_join(path, end ? "%s" : "%s/control", end ? end : m->dir)
		   : vm_join(path, end ? "%s.%u" : "%s/control.%u", end ? end : m->dir, i))
		return machine_fail(m, "the path of the control socket is too long");
	snprintf(name, sizeof(name), n == 1 ? JOB_CONTROL : JOB_CONTROL ".%u", i);
	if (qmp_call(m, "chardev-add", json_pack("{ss s{ss s{s{ss s{ss}} sb}}}", "id", id, "backend", "type", "socket", "data", "addr",
						 "type", "unix", "data", "path", path, "server", 0), NULL))
		return -1;
	return qmp_call(m, "device_add", json_pack("{ss ss ss ss ss si}", "driver", "virtserialport", "id", id, "bus", "serial.0",
						   "chardev", id, "name", name, "nr", (int)i + 2), NULL);
}

int machine_plug(struct machine *m, const char *const sockets[], unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		char id[24], bus[24];

		snprintf(id, sizeof(id), "device%u", i);
		snprintf(bus, sizeof(bus), "port%u", i);
		if (qmp_call(m, "device_add", json_pack("{ss ss ss si s{ss ss}}", "driver", "vfio-user-pci", "id", id, "bus", bus,
							"rombar", 0, "socket", "type", "unix", "path", sockets[i]), NULL))
			return -1;
		if (!m->o->n_connects && plug_control(m, i, n))
			return -1;
	}
	return 0;
}

/* The job's bytes, cut into frames. */
struct parcel {
	struct machine *m;
	char buf[WIRE_MAX];
	uint32_t len;
	size_t total;
};

static void parcel_bytes(struct parcel *p, const char *s, size_t n)
{
	p->total += n;
	while (n) {
		size_t part = sizeof(p->buf) - p->len < n ? sizeof(p->buf) - p->len : n;

		memcpy(p->buf + p->len, s, part);
		p->len += (uint32_t)part;
		s += part;
		n -= part;
		if (p->len == sizeof(p->buf)) {
			wire_put(&p->m->out, WIRE_JOB, 0, p->buf, p->len);
			p->len = 0;
		}
	}
}

static void item(void *arg, char what, const char *value)
{
	parcel_bytes(arg, &what, 1);
	parcel_bytes(arg, value, strlen(value) + 1);
}

/* What tells of the caller's session makes no sense in a machine that has no part of it. With another root, neither do paths. */
static bool passes(const struct vm_options *o, const char *var)
{
	static const char *const session[] = { "DISPLAY=", "WAYLAND_DISPLAY=", "DBUS_", "XDG_RUNTIME_DIR=", "XDG_SESSION", "SSH_",
					       "XAUTHORITY=", "USER=", "LOGNAME=", "HOSTNAME=", "NOTIFY_SOCKET=", "LISTEN_" };
	static const char *const paths[] = { "PATH=", "LD_", "HOME=", "TMPDIR=", "PYTHON", "SHELL=" };

	for (size_t i = 0; i < sizeof(session) / sizeof(session[0]); i++)
		if (!strncmp(var, session[i], strlen(session[i])))
			return false;
	for (size_t i = 0; o->root && i < sizeof(paths) / sizeof(paths[0]); i++)
		if (!strncmp(var, paths[i], strlen(paths[i])))
			return false;
	return true;
}

int machine_job(struct machine *m)
{
	const struct vm_options *o = m->o;
	struct parcel *p = calloc(1, sizeof(*p));
	struct timespec now;
	uint8_t random[64];
	char text[VM_PATH + 64];

	if (!p || getrandom(random, sizeof(random), 0) != sizeof(random)) {
		free(p);
		return machine_fail(m, "cannot make the job: %s", strerror(errno));
	}
	p->m = m;
	for (char **a = o->command; *a; a++)
		item(p, JOB_ARG, *a);
	for (char **e = environ; *e; e++)
		if (passes(o, *e))
			item(p, JOB_ENV, *e);
	item(p, JOB_ENV, "USER=root");
	item(p, JOB_ENV, "LOGNAME=root");
	if (o->root || !getenv("PATH"))
		item(p, JOB_ENV, "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
	if (o->root || !getenv("HOME"))
		item(p, JOB_ENV, "HOME=/root");
	if (getcwd(text, VM_PATH))
		item(p, JOB_CWD, text);
	clock_gettime(CLOCK_REALTIME, &now);
	snprintf(text, sizeof(text), "%lld.%09ld", (long long)now.tv_sec, now.tv_nsec);
	item(p, JOB_TIME, text);
	for (size_t i = 0; i < sizeof(random); i++)
		snprintf(text + 2 * i, 3, "%02x", random[i]);
	item(p, JOB_RANDOM, text);
	item(p, JOB_NAME, "devx-vm");
	snprintf(text, sizeof(text), "%u", o->devices);
	item(p, JOB_DEVICES, text);
	item(p, JOB_CONTROLS, o->n_connects ? "0" : text);
	item(p, JOB_MODULES, "");
	for (unsigned int i = 0; i < o->n_shares; i++) {
		snprintf(text, sizeof(text), JOB_TAG_SHARE " %s", (int)i, o->shares[i]);
		item(p, JOB_SHARE, text);
	}
	relay_job(m, item, p);
	if (p->len)
		wire_put(&m->out, WIRE_JOB, 0, p->buf, p->len);
	wire_put(&m->out, WIRE_JOB, 0, NULL, 0);
	if (p->total >= WIRE_JOB_MAX)
		machine_fail(m, "arguments and environment are longer than %u bytes", WIRE_JOB_MAX);
	free(p);
	return m->failed[0] ? -1 : 0;
}
