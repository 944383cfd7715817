/* SPDX-License-Identifier: BSD-2-Clause */
/* Which QEMU: the system's, if it has vfio-user-pci, else the private folder's. */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../devx.h"
#include "vm.h"

#define PROGRAM "qemu-system-x86_64"
#define WHY (VM_PATH + 256)
#define OLDEST_MAJOR 10 /* the first release with vfio-user-pci is 10.1 */
#define OLDEST_MINOR 1

bool vm_qemu_version(const char *text, unsigned int *major, unsigned int *minor)
{
	const char *p = strstr(text, "version ");

	return p && sscanf(p, "version %u.%u", major, minor) == 2;
}

static int add(struct vm_qemu *q, const char *word)
{
	if (q->n + 1 >= sizeof(q->argv) / sizeof(q->argv[0]) || !(q->argv[q->n] = strdup(word)))
		return -1;
	q->n++;
	return 0;
}

void vm_qemu_free(struct vm_qemu *q)
{
	while (q->n)
		free(q->argv[--q->n]);
}

/* What the program says to these arguments. Its exit code, or -1. */
static int ask(const struct vm_qemu *q, const char *a, const char *b, char *buf, size_t size)
{
	char *argv[24];
	int p[2], status = -1;
	size_t len = 0;
	ssize_t n;
	pid_t pid;

	memcpy(argv, q->argv, q->n * sizeof(argv[0]));
	argv[q->n] = (char *)a;
	argv[q->n + 1] = (char *)b;
	argv[q->n + 2] = NULL;
	if (pipe2(p, O_CLOEXEC))
		return -1;
	pid = fork();
	if (!pid) {
		dup2(p[1], STDOUT_FILENO);
		dup2(p[1], STDERR_FILENO);
		if (q->modules[0])
			setenv("QEMU_MODULE_DIR", q->modules, 1);
		execvp(argv[0], argv);
		fprintf(stderr, "%s\n", strerror(errno));
		_exit(127);
	}
	close(p[1]);
	while (len < size - 1 && (n = read(p[0], buf + len, size - 1 - len)) > 0)
		len += (size_t)n;
	buf[len] = 0;
	close(p[0]);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Is it one that we can use? What is missing goes to `why`. */
static bool usable(const struct vm_qemu *q, char why[WHY])
{
	unsigned int major, minor;
	char buf[8192];

	if (ask(q, "--version", NULL, buf, sizeof(buf)) || !vm_qemu_version(buf, &major, &minor)) {
		snprintf(why, WHY, "%s does not run: %.*s", q->program, (int)strcspn(buf, "\n") < 100 ? (int)strcspn(buf, "\n") : 100, buf);
		return false;
	}
	if (major < OLDEST_MAJOR || (major == OLDEST_MAJOR && minor < OLDEST_MINOR)) {
		snprintf(why, WHY, "%s is version %u.%u, and vfio-user-pci came with %d.%d", q->program, major, minor, OLDEST_MAJOR,
			 OLDEST_MINOR);
		return false;
	}
	if (!ask(q, "-device", "vfio-user-pci,help", buf, sizeof(buf)))
		return true;
	snprintf(why, WHY, "%s %u.%u was built without vfio-user-pci", q->program, major, minor);
	return false;
}

static bool in_path(const char *name, char path[VM_PATH])
{
	const char *p = getenv("PATH");

	for (; p && *p; p += strcspn(p, ":") + (p[strcspn(p, ":")] == ':'))
		if (!vm_join(path, "%.*s/%s", (int)strcspn(p, ":"), p, name) && !access(path, X_OK))
			return true;
	return false;
}

/* It runs with the loader, the libraries, the modules and the firmware of its own tree, whatever the host has. */
int vm_private_qemu(const char *root, struct vm_qemu *q)
{
	static const char *const firmware[] = { "usr/share/qemu", "usr/share/seabios", "usr/lib/ipxe/qemu" };
	char text[3 * VM_PATH], path[VM_PATH];
	int err;

	memset(q, 0, sizeof(*q));
	if (vm_join(q->program, "%s/usr/bin/" PROGRAM, root) || access(q->program, X_OK) ||
	    vm_join(q->modules, "%s/usr/lib/x86_64-linux-gnu/qemu", root))
		return -1;
	if (vm_join(path, "%s/usr/lib64/ld-linux-x86-64.so.2", root) || access(path, X_OK))
		if (vm_join(path, "%s/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2", root))
			return -1;
	snprintf(text, sizeof(text), "%s/usr/lib/x86_64-linux-gnu:%s/usr/lib:%s/lib/x86_64-linux-gnu", root, root, root);
	err = add(q, path) || add(q, "--library-path") || add(q, text) || add(q, q->program);
	for (size_t i = 0; !err && i < sizeof(firmware) / sizeof(firmware[0]); i++)
		err = vm_join(path, "%s/%s", root, firmware[i]) || add(q, "-L") || add(q, path);
	return err ? -1 : 0;
}

/* A program that was found good is not asked again until it changes: that takes longer than a start from a snapshot. */
static bool known(const char *dir, const struct vm_qemu *q, bool remember)
{
	char path[VM_PATH];

	if (vm_join(path, "%s/cache/qemu-%016llx", dir, (unsigned long long)vm_hash_file(VM_HASH_START, q->program)))
		return false;
	return remember ? !vm_write_file(path, "", 0) : !access(path, F_OK);
}

int vm_find_qemu(const struct vm_options *o, const char *dir, struct vm_qemu *q)
{
	char root[VM_PATH], why[WHY] = "there is no " PROGRAM " in PATH";

	memset(q, 0, sizeof(*q));
	if (o->qemu ? !vm_join(q->program, "%s", o->qemu) : in_path(PROGRAM, q->program)) {
		if (add(q, q->program))
			return -1;
		if (known(dir, q, false))
			return 0;
		if (usable(q, why)) {
			known(dir, q, true);
			return 0;
		}
		vm_qemu_free(q);
	}
	if (!o->qemu && !vm_join(root, "%s/qemu", dir) && !vm_private_qemu(root, q))
		return 0;
	vm_qemu_free(q);
	if (o->qemu) {
		devx_error("vm: --qemu: %s.\n"
			   "      It must be version %d.%d or later with vfio-user-pci; without --qemu, that of devx vm --bootstrap is taken.", why,
			   OLDEST_MAJOR, OLDEST_MINOR);
		return -1;
	}
	devx_error("vm: no QEMU of version %d.%d or later with vfio-user-pci: %s, and %s/qemu has none.\n"
		   "      devx vm --bootstrap puts one there, without root and without touching the system.", OLDEST_MAJOR, OLDEST_MINOR,
		   why, dir);
	return -1;
}
