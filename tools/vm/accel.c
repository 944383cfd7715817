/* SPDX-License-Identifier: BSD-2-Clause */
/* KVM or TCG. That /dev/kvm exists says little: some hosts offer one that stops the guest in its first second. So the first
 * boot with it is a trial, and its verdict holds until the host boots again. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machine.h"

static void verdict_path(const char *cache, char path[VM_PATH], char boot[64])
{
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");

	boot[0] = 0;
	if (f && !fgets(boot, 64, f))
		boot[0] = 0;
	if (f)
		fclose(f);
	boot[strcspn(boot, "\n")] = 0;
	if (vm_join(path, "%s/kvm-verdict", cache))
		path[0] = 0;
}

enum vm_accel accel_choose(const struct vm_options *o, const char *cache, bool *trial)
{
	char path[VM_PATH], boot[64], line[128] = "";
	size_t n;
	FILE *f;

	*trial = false;
	if (o->accel != VM_AUTO)
		return o->accel;
	if (access("/dev/kvm", R_OK | W_OK))
		return VM_TCG;
	verdict_path(cache, path, boot);
	n = strlen(boot);
	f = fopen(path, "re");
	if (f && !fgets(line, sizeof(line), f))
		line[0] = 0;
	if (f)
		fclose(f);
	*trial = !n || strncmp(line, boot, n) || line[n] != ' ';
	return !*trial && !strncmp(line + n, " broken", 7) ? VM_TCG : VM_KVM;
}

void accel_remember(const char *cache, bool works)
{
	char path[VM_PATH], boot[64], line[128];

	verdict_path(cache, path, boot);
	snprintf(line, sizeof(line), "%s %s\n", boot, works ? "works" : "broken");
	if (path[0])
		vm_write_file(path, line, strlen(line)); /* if not, the next one tries again */
}
