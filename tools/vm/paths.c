/* SPDX-License-Identifier: BSD-2-Clause */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../devx.h"
#include "vm.h"

int vm_join(char path[VM_PATH], const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(path, VM_PATH, fmt, args);
	va_end(args);
	if (n >= 0 && n < VM_PATH)
		return 0;
	devx_error("vm: a path is longer than %d bytes: %.60s...", VM_PATH, path);
	return -1;
}

int vm_make_path(const char *path)
{
	char part[VM_PATH];

	for (const char *p = path;; p++) {
		p = strchrnul(p + 1, '/');
		snprintf(part, sizeof(part), "%.*s", (int)(p - path), path);
		if (mkdir(part, 0755) && errno != EEXIST) {
			devx_error("vm: cannot make %s: %s", part, strerror(errno));
			return -1;
		}
		if (!*p)
			return 0;
	}
}

int vm_folder(const struct vm_options *o, char dir[VM_PATH])
{
	const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	if (o->dir)
		return vm_join(dir, "%s", o->dir);
	if (base && base[0] == '/')
		return vm_join(dir, "%s/opendevx/vm", base);
	if (home && home[0] == '/')
		return vm_join(dir, "%s/.cache/opendevx/vm", home);
	devx_error("vm: neither XDG_CACHE_HOME nor HOME says where the private folder is: give --dir");
	return -1;
}

/* In the build tree beside this program, in an installation in its libexec folder. */
int vm_find_init(char path[VM_PATH])
{
	static const char *const places[] = { "vm/devx-vm-init", "devx-vm-init", "../libexec/opendevx/devx-vm-init" };
	char self[VM_PATH];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	self[n < 0 ? 0 : n] = 0;
	slash = strrchr(self, '/');
	if (slash)
		*slash = 0;
	for (size_t i = 0; slash && i < sizeof(places) / sizeof(places[0]); i++)
		if (!vm_join(path, "%s/%s", self, places[i]) && !access(path, R_OK))
			return 0;
	if (!vm_join(path, "%s/opendevx/devx-vm-init", LIBEXECDIR) && !access(path, R_OK))
		return 0;
	devx_error("vm: the guest's init, devx-vm-init, is neither in %s/opendevx nor beside this program", LIBEXECDIR);
	return -1;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	if (type == FTW_DP)
		return rmdir(path);
	return unlink(path);
}

int vm_remove_tree(const char *path)
{
	if (!nftw(path, remove_one, 32, FTW_DEPTH | FTW_PHYS) || errno == ENOENT)
		return 0;
	devx_error("vm: cannot remove %s: %s", path, strerror(errno));
	return -1;
}

struct found {
	char name[256];
	struct timespec used;
};

static int by_use(const void *a, const void *b)
{
	const struct timespec *x = &((const struct found *)a)->used, *y = &((const struct found *)b)->used;

	if (x->tv_sec != y->tv_sec)
		return x->tv_sec < y->tv_sec ? 1 : -1;
	return x->tv_nsec < y->tv_nsec ? 1 : x->tv_nsec > y->tv_nsec ? -1 : 0;
}

void vm_prune(const char *dir, const char *prefix, unsigned int keep)
{
	struct found found[64];
	DIR *d = opendir(dir);
	struct dirent *e;
	struct stat st;
	unsigned int n = 0;

	while (d && n < 64 && (e = readdir(d)))
		if (!strncmp(e->d_name, prefix, strlen(prefix)) && !fstatat(dirfd(d), e->d_name, &st, 0)) {
			snprintf(found[n].name, sizeof(found[n].name), "%s", e->d_name);
			found[n++].used = st.st_mtim;
		}
	if (n > keep) {
		qsort(found, n, sizeof(found[0]), by_use);
		for (unsigned int i = keep; i < n; i++)
			unlinkat(dirfd(d), found[i].name, 0);
	}
	if (d)
		closedir(d);
}

/* FNV-1a: it tells apart what nobody forges. */
uint64_t vm_hash(uint64_t h, const void *data, size_t len)
{
	const uint8_t *p = data;

	while (len--)
		h = (h ^ *p++) * 0x100000001b3ull;
	return h;
}

uint64_t vm_hash_text(uint64_t h, const char *s)
{
	return vm_hash(h, s, strlen(s) + 1);
}

uint64_t vm_hash_file(uint64_t h, const char *path)
{
	struct stat st;
	long long id[5] = { 0 };

	if (!stat(path, &st)) {
		id[0] = st.st_size;
		id[1] = st.st_mtim.tv_sec;
		id[2] = st.st_mtim.tv_nsec;
		id[3] = (long long)st.st_ino;
		id[4] = (long long)st.st_dev;
	}
	return vm_hash(vm_hash_text(h, path), id, sizeof(id));
}

long vm_ms_since(const struct timespec *then)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - then->tv_sec) * 1000 + (now.tv_nsec - then->tv_nsec) / 1000000;
}
