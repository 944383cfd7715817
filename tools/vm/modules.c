/* SPDX-License-Identifier: BSD-2-Clause */
/* Which modules a kernel needs for our devices, and in which order they are loaded. What a module depends on is in its own
 * .modinfo section: so a tree needs no modules.dep, which packages make only when they are installed. */
#include <elf.h>
#include <errno.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../devx.h"
#include "vm.h"

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct vm_module *)a)->name, ((const struct vm_module *)b)->name);
}

/* "/x/virtio-rng.ko.xz" is the module virtio_rng. NULL: no module's file. */
static char *module_name(const char *file)
{
	const char *dot = strstr(file, ".ko");
	char *name;

	if (!dot || (dot[3] && dot[3] != '.'))
		return NULL;
	name = strndup(file, (size_t)(dot - file));
	for (char *p = name; p && *p; p++)
		if (*p == '-')
			*p = '_';
	return name;
}

static int add(struct vm_modules *set, size_t *room, char *name, const char *path)
{
	struct vm_module *more;

	if (set->n == *room) {
		more = realloc(set->all, (*room = *room * 2 + 256) * sizeof(*more));
		if (!more)
			return -1;
		set->all = more;
	}
	set->all[set->n] = (struct vm_module){ .name = name, .path = path ? strdup(path) : NULL };
	if (!name || (path && !set->all[set->n].path))
		return -1;
	set->n++;
	return 0;
}

/* modules.builtin: a line "kernel/fs/fuse/fuse.ko" for each that the kernel has inside. */
static int add_builtin(struct vm_modules *set, size_t *room, const char *tree)
{
	char path[VM_PATH], line[1024], *name;
	FILE *f;

	if (vm_join(path, "%s/modules.builtin", tree))
		return -1;
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		char *slash = strrchr(line, '/');

		line[strcspn(line, "\n")] = 0;
		name = module_name(slash ? slash + 1 : line);
		if (name && add(set, room, name, NULL)) {
			fclose(f);
			return -1;
		}
	}
	if (f)
		fclose(f);
	return 0;
}

int vm_modules_scan(struct vm_modules *set, const char *tree)
{
	char top[VM_PATH], *paths[] = { top, NULL };
	size_t room = 0;
	FTSENT *e;
	FTS *fts;
	int err;

	memset(set, 0, sizeof(*set));
	if (vm_join(top, "%s/kernel", tree))
		return -1;
	fts = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR | FTS_NOSTAT, NULL);
	err = fts ? 0 : -1;
	while (!err && (e = fts_read(fts))) {
		char *name = e->fts_info == FTS_F || e->fts_info == FTS_NSOK ? module_name(e->fts_name) : NULL;

		if (name)
			err = add(set, &room, name, e->fts_path);
	}
	if (fts)
		fts_close(fts);
	if (!err)
		err = add_builtin(set, &room, tree);
	if (err) {
		devx_error("vm: cannot read the modules in %s: %s", tree, strerror(errno));
		vm_modules_free(set);
		return -1;
	}
	if (set->n)
		qsort(set->all, set->n, sizeof(*set->all), by_name);
	return 0;
}

struct vm_module *vm_modules_find(struct vm_modules *set, const char *name)
{
	char *plain = module_name(name), *with = NULL;
	struct vm_module key, *found = NULL;

	if (!plain && asprintf(&with, "%s.ko", name) > 0)
		plain = module_name(with);
	free(with);
	key.name = plain;
	if (plain && set->n)
		found = bsearch(&key, set->all, set->n, sizeof(key), by_name);
	free(plain);
	return found;
}

int vm_modinfo(const void *ko, size_t len, const char *key, int (*f)(void *arg, const char *value), void *arg)
{
	const Elf64_Ehdr *eh = ko;
	const Elf64_Shdr *sh;
	const char *base = ko;
	size_t n = strlen(key);

	if (len < sizeof(*eh) || memcmp(eh->e_ident, ELFMAG, SELFMAG) || eh->e_ident[EI_CLASS] != ELFCLASS64 ||
	    eh->e_shentsize != sizeof(*sh) || eh->e_shoff > len || eh->e_shnum > (len - eh->e_shoff) / sizeof(*sh) ||
	    eh->e_shstrndx >= eh->e_shnum || eh->e_shoff % 8)
		return -1;
	sh = (const void *)(base + eh->e_shoff);
	for (int i = 0; i < eh->e_shnum; i++)
		if (sh[i].sh_type != SHT_NOBITS && (sh[i].sh_offset > len || sh[i].sh_size > len - sh[i].sh_offset))
			return -1;
	for (int i = 0; i < eh->e_shnum; i++) {
		const Elf64_Shdr *names = &sh[eh->e_shstrndx];
		const char *p = base + sh[i].sh_offset, *end = p + sh[i].sh_size;

		if (sh[i].sh_type == SHT_NOBITS || names->sh_type == SHT_NOBITS || sh[i].sh_name >= names->sh_size ||
		    strncmp(base + names->sh_offset + sh[i].sh_name, ".modinfo", names->sh_size - sh[i].sh_name))
			continue;
		for (; p < end; p += strnlen(p, (size_t)(end - p)) + 1)
			if (memchr(p, 0, (size_t)(end - p)) && !strncmp(p, key, n) && p[n] == '=' && f(arg, p + n + 1))
				return -1;
		return 0;
	}
	return -1;
}

/* `maybe`: what is not there is no mistake. */
static int need(struct vm_modules *set, const char *name, bool maybe);

static int need_list(void *arg, const char *value)
{
	char name[256];

	for (const char *p = value; *p; p += strcspn(p, ",") + (p[strcspn(p, ",")] == ',')) {
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(p, ","), p);
		if (name[0] && need(arg, name, false))
			return -1;
	}
	return 0;
}

/* "pre: a b post: c" */
static int need_soft(void *arg, const char *value)
{
	bool pre = false;
	char name[256];

	for (const char *p = value + strspn(value, " "); *p; p += strcspn(p, " "), p += strspn(p, " ")) {
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(p, " "), p);
		if (strchr(name, ':'))
			pre = !strcmp(name, "pre:");
		else if (pre && need(arg, name, true))
			return -1;
	}
	return 0;
}

static int load(struct vm_module *m)
{
	size_t n;
	void *file = vm_read_file(m->path, &n);

	m->data = file ? vm_unpack(file, n, &m->len) : NULL;
	free(file);
	if (m->data)
		return 0;
	devx_error("vm: cannot read %s: %s", m->path, strerror(errno));
	return -1;
}

static int need(struct vm_modules *set, const char *name, bool maybe)
{
	struct vm_module *m = vm_modules_find(set, name);

	if (!m && maybe)
		return 0;
	if (!m) {
		devx_error("vm: the kernel has no module %s", name);
		return -1;
	}
	if (!m->path || m->data) /* built in; or in the order, or on the way there */
		return 0;
	if (load(m))
		return -1;
	if (vm_modinfo(m->data, m->len, "softdep", need_soft, set) ||
	    vm_modinfo(m->data, m->len, "depends", need_list, set)) {
		devx_error("vm: %s cannot be used: it is no module, or one that it needs is missing", m->path);
		return -1;
	}
	if (set->n_order == sizeof(set->order) / sizeof(set->order[0])) {
		devx_error("vm: %s depends on too many modules", name);
		return -1;
	}
	set->order[set->n_order++] = m;
	return 0;
}

int vm_modules_need(struct vm_modules *set, const char *name)
{
	return need(set, name, false);
}

void vm_modules_free(struct vm_modules *set)
{
	for (size_t i = 0; i < set->n; i++) {
		free(set->all[i].name);
		free(set->all[i].path);
		free(set->all[i].data);
	}
	free(set->all);
	memset(set, 0, sizeof(*set));
}
