/* SPDX-License-Identifier: BSD-2-Clause */
/* Which kernel the guest boots, the uncompressed form of it (a third faster to start), and its initramfs. */
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../devx.h"
#include "cpio.h"
#include "job.h"
#include "vm.h"

#define PREPARE_VERSION 1 /* of what this file makes: part of its key */

/* What a guest needs; the first two come first, for the port that tells what goes wrong. */
static const char *const needed[] = { "virtio_pci", "virtio_console", "9p", "9pnet_virtio", "overlay",
				      "mlx5_core",  "mlx5_ib",        "ib_uverbs" };

/* "6.1" wants 6.1.0-50-amd64, and not 6.12. */
static bool is_wanted(const char *version, const char *wanted)
{
	size_t n = wanted ? strlen(wanted) : 0;

	return !n || (!strncmp(version, wanted, n) && !(version[n] >= '0' && version[n] <= '9'));
}

void vm_kernel_in(const char *prefix, const char *wanted, struct vm_kernel *k)
{
	static const char *const places[] = { "lib/modules", "usr/lib/modules" };
	char path[VM_PATH], image[VM_PATH];

	for (int i = 0; i < 2; i++) {
		DIR *dir = vm_join(path, "%s/%s", prefix, places[i]) ? NULL : opendir(path);
		struct dirent *e;

		while (dir && (e = readdir(dir))) {
			const char *v = e->d_name;

			if (v[0] == '.' || strlen(v) >= sizeof(k->version) || !is_wanted(v, wanted) || (k->version[0] && strverscmp(v, k->version) <= 0))
				continue;
			if ((vm_join(image, "%s/boot/vmlinuz-%s", prefix, v) || access(image, R_OK)) &&
			    (vm_join(image, "%s/%s/%s/vmlinuz", prefix, places[i], v) || access(image, R_OK)))
				continue;
			memcpy(k->version, v, strlen(v) + 1);
			memcpy(k->image, image, sizeof(image));
			vm_join(k->modules, "%s/%s/%s", prefix, places[i], v);
		}
		if (dir)
			closedir(dir);
	}
}

static uint32_t le(const uint8_t *p, int n)
{
	uint32_t v = 0;

	while (n--)
		v = v << 8 | p[n];
	return v;
}

/* The setup header of an x86 image (Documentation/arch/x86/boot.rst): magic, version text, where the kernel lies compressed. */
#define HDR_SECTS 0x1f1
#define HDR_MAGIC 0x202
#define HDR_PROTOCOL 0x206
#define HDR_VERSION 0x20e
#define HDR_PAYLOAD 0x248
#define HDR_LENGTH 0x24c

static bool is_image(const uint8_t *p, size_t n)
{
	return n > 0x1000 && !memcmp(p + HDR_MAGIC, "HdrS", 4) && le(p + HDR_PROTOCOL, 2) >= 0x208;
}

void *vm_kernel_elf(const void *image, size_t size, size_t *len)
{
	const uint8_t *p = image;
	size_t at, n;
	void *elf;

	*len = 0;
	errno = ENOEXEC;
	if (!is_image(p, size))
		return NULL;
	at = ((p[HDR_SECTS] ? p[HDR_SECTS] : 4) + 1) * 512 + (size_t)le(p + HDR_PAYLOAD, 4);
	n = le(p + HDR_LENGTH, 4);
	if (at > size || n > size - at || n < 16)
		return NULL;
	/* All but gzip have the length after them, which is no part of the compressed stream. */
	if (p[at] != 0x1f || p[at + 1] != 0x8b)
		n -= 4;
	elf = vm_unpack(p + at, n, len);
	if (elf && (*len < sizeof(Elf64_Ehdr) || memcmp(elf, ELFMAG, SELFMAG))) {
		free(elf);
		elf = NULL;
		errno = ENOEXEC;
	}
	return elf;
}

/* An image that the user names: its modules are found by its version. */
static int from_image(const char *path, struct vm_kernel *k)
{
	static const char *const places[] = { "/../lib/modules", "/../usr/lib/modules", "/..", NULL };
	char dir[VM_PATH], real[PATH_MAX];
	size_t n, at;
	uint8_t *p;

	if (!realpath(path, real) || !(p = vm_read_file(real, &n))) {
		devx_error("vm: cannot read the kernel %s: %s", path, strerror(errno));
		return -1;
	}
	at = is_image(p, n) ? le(p + HDR_VERSION, 2) + 0x200 : n;
	if (at < n && memchr(p + at, ' ', n - at < 128 ? n - at : 128))
		snprintf(k->version, sizeof(k->version), "%.*s", (int)strcspn((char *)p + at, " "), (char *)p + at);
	free(p);
	if (!k->version[0]) {
		devx_error("vm: %s is no Linux kernel for x86-64", path);
		return -1;
	}
	snprintf(k->image, sizeof(k->image), "%s", real);
	*strrchr(real, '/') = 0;
	for (int i = 0; i < 4; i++) {
		const char *place = places[i];

		if (!vm_join(k->modules, "%s%s/%s", place ? real : "", place ? place : "/lib/modules", k->version) &&
		    !vm_join(dir, "%s/kernel", k->modules) && !access(dir, X_OK))
			return 0;
	}
	devx_error("vm: the modules of %s (%s) are neither beside it nor in /lib/modules", path, k->version);
	return -1;
}

int vm_find_kernel(const struct vm_options *o, const char *dir, struct vm_kernel *k)
{
	const char *wanted = o->kernel;
	char path[VM_PATH];
	struct stat st;
	struct dirent *e;
	DIR *d;

	memset(k, 0, sizeof(*k));
	if (wanted && strchr(wanted, '/')) {
		if (stat(wanted, &st) || !S_ISDIR(st.st_mode))
			return from_image(wanted, k);
		vm_kernel_in(wanted, NULL, k);
		if (k->version[0])
			return 0;
		devx_error("vm: %s has no kernel: neither boot/vmlinuz-VERSION nor lib/modules/VERSION/vmlinuz, with modules", wanted);
		return -1;
	}
	d = vm_join(path, "%s/kernel", dir) ? NULL : opendir(path);
	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.' && !vm_join(path, "%s/kernel/%s", dir, e->d_name))
			vm_kernel_in(path, wanted, k);
	if (d)
		closedir(d);
	if (!k->version[0])
		vm_kernel_in("", wanted, k);
	if (k->version[0])
		return 0;
	devx_error("vm: no kernel%s%s, neither in %s/kernel nor in /boot with its modules in /lib/modules: "
		   "devx vm --bootstrap%s%s gets one", wanted ? " " : "", wanted ? wanted : "", dir,
		   wanted ? " --kernel " : "", wanted ? wanted : "");
	return -1;
}

/* Without modules.builtin, a driver inside the kernel shows by its name. */
static bool inside(const void *elf, size_t len, const char *name)
{
	char text[64];
	int n = snprintf(text, sizeof(text), "%c%s", 0, name);

	return memmem(elf, len, text, (size_t)n + 1);
}

/* Every module that is missing, at once. */
static int need_all(struct vm_modules *set, const struct vm_kernel *k, const void *elf, size_t len)
{
	char missing[512] = "";
	int err = 0;

	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		if (vm_modules_find(set, needed[i]))
			err |= vm_modules_need(set, needed[i]);
		else if (!inside(elf, len, needed[i]))
			snprintf(missing + strlen(missing), sizeof(missing) - strlen(missing), " %s", needed[i]);
	}
	if (missing[0])
		devx_error("vm: the kernel %s lacks the modules%s (in %s)", k->version, missing, k->modules);
	return err || missing[0] ? -1 : 0;
}

/* Runs the host's depmod on a tree of links to the kernel's, as older ones write nowhere else than there. */
static int run_depmod(const char *base, const struct vm_kernel *k)
{
	static const char *const links[] = { "kernel", "modules.order", "modules.builtin", "modules.builtin.modinfo" };
	char dir[VM_PATH], from[VM_PATH], to[VM_PATH];
	int status = -1;
	pid_t pid;

	if (vm_join(dir, "%s/lib/modules/%s", base, k->version) || vm_make_path(dir))
		return -1;
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		if (vm_join(from, "%s/%s", k->modules, links[i]) || vm_join(to, "%s/%s", dir, links[i]) || symlink(from, to))
			return -1;
	pid = fork();
	if (!pid) {
		if (!freopen("/dev/null", "w", stderr))
			_exit(127);
		execlp("depmod", "depmod", "-b", base, k->version, NULL);
		execl("/sbin/depmod", "depmod", "-b", base, k->version, NULL);
		_exit(127);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && !status ? 0 : -1;
}

/* modules.dep and its like, for modprobe in the guest, if the kernel's tree has none. It takes a while, and is kept apart. */
static void add_index(struct cpio *c, const struct vm_kernel *k, const char *cache, const char *temp)
{
	static const char *const files[] = { "modules.dep.bin", "modules.alias.bin", "modules.softdep", "modules.dep", "modules.alias",
					     "modules.symbols.bin", "modules.builtin.bin", "modules.builtin.alias.bin" };
	char path[VM_PATH], kept[VM_PATH], base[VM_PATH], name[64];
	unsigned long long key = vm_hash_file(VM_HASH_START, k->modules);
	struct cpio index = { 0 };
	size_t n;
	void *p;

	if (vm_join(path, "%s/modules.dep.bin", k->modules) || !access(path, R_OK) || vm_join(base, "%s/index", temp) ||
	    vm_join(kept, "%s/index-%016llx", cache, key))
		return;
	p = vm_read_file(kept, &n);
	if (!p && !run_depmod(base, k)) {
		cpio_dir(&index, &JOB_INDEX[1]);
		for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
			snprintf(name, sizeof(name), "%s/%s", &JOB_INDEX[1], files[i]);
			p = vm_join(path, "%s/lib/modules/%s/%s", base, k->version, files[i]) ? NULL : vm_read_file(path, &n);
			if (p)
				cpio_file(&index, name, 0644, p, n);
			free(p);
		}
		cpio_end(&index);
		p = index.failed ? NULL : index.data;
		n = index.len;
		if (p)
			vm_write_file(kept, p, n);
		vm_prune(cache, "index-", 6);
	}
	if (p)
		cpio_append(c, p, n);
	free(p);
	vm_remove_tree(base);
}

static int make_initrd(const struct vm_kernel *k, const char *init, struct vm_modules *set, const char *cache,
		       const char *temp, const char *path)
{
	struct cpio c = { 0 };
	char list[65536] = "", name[300];
	size_t n, len = 0;
	void *p = vm_read_file(init, &n);
	int err;

	if (!p) {
		devx_error("vm: cannot read %s: %s", init, strerror(errno));
		return -1;
	}
	cpio_file(&c, "init", 0755, p, n);
	free(p);
	cpio_dir(&c, "modules");
	for (unsigned int i = 0; i < set->n_order; i++) {
		snprintf(name, sizeof(name), "modules/%s.ko", set->order[i]->name);
		cpio_file(&c, name, 0644, set->order[i]->data, set->order[i]->len);
		len += (size_t)snprintf(list + len, len < sizeof(list) ? sizeof(list) - len : 0, "%s.ko\n", set->order[i]->name);
	}
	cpio_file(&c, &JOB_MODULE_LIST[1], 0644, list, len < sizeof(list) ? len : 0);
	cpio_end(&c);
	add_index(&c, k, cache, temp);
	err = c.failed ? -1 : vm_write_file(path, c.data, c.len);
	if (err)
		devx_error("vm: cannot write %s: %s", path, strerror(c.failed ? ENOMEM : errno));
	free(c.data);
	return err;
}

static int make_both(const struct vm_kernel *k, const char *init, const char *cache, const char *temp, const char *elf_path,
		     const char *initrd_path)
{
	struct vm_modules set = { 0 };
	size_t size, len;
	void *image = vm_read_file(k->image, &size), *elf = image ? vm_kernel_elf(image, size, &len) : NULL;
	int err = -1;

	free(image);
	if (!elf) {
		devx_error("vm: cannot unpack the kernel %s: %s", k->image, strerror(errno));
		return -1;
	}
	if (!vm_modules_scan(&set, k->modules) && !need_all(&set, k, elf, len) &&
	    !make_initrd(k, init, &set, cache, temp, initrd_path)) {
		err = vm_write_file(elf_path, elf, len);
		if (err)
			devx_error("vm: cannot write %s: %s", elf_path, strerror(errno));
	}
	vm_modules_free(&set);
	free(elf);
	return err;
}

int vm_prepare(const struct vm_kernel *k, const char *cache, const char *temp, char elf[VM_PATH], char initrd[VM_PATH])
{
	char init[VM_PATH], index[VM_PATH];
	uint64_t key;

	if (vm_find_init(init) || vm_make_path(cache) || vm_join(index, "%s/modules.dep.bin", k->modules))
		return -1;
	key = vm_hash_file(vm_hash_file(VM_HASH_START, k->image), k->modules);
	key = vm_hash_file(vm_hash_file(key + PREPARE_VERSION, init), index);
	if (vm_join(elf, "%s/vmlinux-%016llx", cache, (unsigned long long)key) ||
	    vm_join(initrd, "%s/initrd-%016llx", cache, (unsigned long long)key))
		return -1;
	if (!access(elf, R_OK) && !access(initrd, R_OK)) {
		utimensat(AT_FDCWD, elf, NULL, 0);
		utimensat(AT_FDCWD, initrd, NULL, 0);
		return 0;
	}
	if (make_both(k, init, cache, temp, elf, initrd))
		return -1;
	vm_prune(cache, "vmlinux-", 6);
	vm_prune(cache, "initrd-", 6);
	return 0;
}
