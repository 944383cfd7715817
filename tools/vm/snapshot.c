/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "machine.h"

#define SNAPSHOT_VERSION 2 /* of the machine in start.c */

/* The name is made of all that the state of the guest depends on. What is shared is not in it: it is mounted later. */
int snapshot_path(const struct machine *m, const char *cache, const struct vm_qemu *q, const char *elf, const char *initrd,
		  char path[VM_PATH])
{
	const struct vm_options *o = m->o;
	const unsigned int numbers[] = { SNAPSHOT_VERSION, o->cpus, o->memory_mb, o->devices, o->n_shares };
	uint64_t key = vm_hash(VM_HASH_START, numbers, sizeof(numbers));

	for (unsigned int i = 0; i < q->n; i++)
		key = vm_hash_text(key, q->argv[i]);
	key = vm_hash_text(vm_hash_text(vm_hash_file(key, q->program), elf), initrd); /* their names are hashes already */
	return vm_join(path, "%s/snapshot-%016llx", cache, (unsigned long long)key);
}

static int wait_migration(struct machine *m)
{
	return machine_until(m, &m->migrated, 60000, "the snapshot");
}

static int capabilities(struct machine *m)
{
	m->migrated = false;
	m->stopping = true;
	return qmp_call(m, "migrate-set-capabilities",
			json_pack("{s[{ss sb}]}", "capabilities", "capability", "events", "state", 1), NULL);
}

/* QEMU says "completed" or "failed" before it lets the guest go on. */
static int wait_finished(struct machine *m)
{
	for (int i = 0; i < 1000; i++) {
		json_t *ret = NULL;
		const char *status;
		bool done;

		if (qmp_call(m, "query-status", NULL, &ret))
			return -1;
		status = json_string_value(json_object_get(ret, "status"));
		done = status && (!strcmp(status, "postmigrate") || (m->unsaved && !strcmp(status, "paused")));
		json_decref(ret);
		if (done)
			return 0;
		if (machine_pump(m, 5))
			return -1;
	}
	return machine_fail(m, "QEMU does not finish the snapshot");
}

/* The guest goes on after it, also when there was no room for it. */
int snapshot_save(struct machine *m, const char *path)
{
	char temp[VM_PATH + 40], uri[VM_PATH + 64];
	int err;

	if (capabilities(m) || qmp_call(m, "stop", NULL, NULL))
		return -1;
	snprintf(temp, sizeof(temp), "%s.%d", path, (int)getpid());
	snprintf(uri, sizeof(uri), "file:%s", temp);
	m->saving = true;
	err = qmp_call(m, "migrate", json_pack("{ss}", "uri", uri), NULL) || wait_migration(m) ||
	      wait_finished(m);
	m->saving = false;
	m->unsaved = m->unsaved || err || rename(temp, path);
	if (m->unsaved)
		unlink(temp);
	if (err)
		return -1;
	err = qmp_call(m, "cont", NULL, NULL);
	m->stopping = false;
	return err;
}

int snapshot_load(struct machine *m, const char *path)
{
	char uri[VM_PATH + 16];
	int err;

	snprintf(uri, sizeof(uri), "file:%s", path);
	err = capabilities(m) || qmp_call(m, "migrate-incoming", json_pack("{ss}", "uri", uri), NULL) || wait_migration(m);
	if (err)
		return -1;
	utimensat(AT_FDCWD, path, NULL, 0); /* used last */
	return 0;
}
