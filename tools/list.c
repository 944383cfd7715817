/* SPDX-License-Identifier: BSD-2-Clause */
/* devx list: the kernel's devices by our own scan, the software ones from the library. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <opendevx/opendevx.h>
#include <opendevx/soft.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "devx.h"
#include "json.h"
#include "sysfs.h"

struct soft_entry {
	char name[64];
	char spec[512];
	char seed[32];
	uint64_t guid;
};

/* The value of "seed=" in a spec. */
static void find_seed(const char *spec, char *buf, size_t len)
{
	const char *at = strncmp(spec, "seed=", 5) ? strstr(spec, ",seed=") : spec;

	at = at ? strchr(at, '=') + 1 : "";
	snprintf(buf, len, "%.*s", (int)strcspn(at, ","), at);
}

static int soft_devices(struct soft_entry **out)
{
	struct ibv_device **list;
	int n = 0, count = 0;

	*out = NULL;
	errno = 0;
	list = ibv_get_device_list(&n);
	if (!list)
		return errno && errno != ENOSYS ? -1 : 0; /* ENOSYS: rdma-core, in a kernel without RDMA */
	*out = calloc((size_t)n + 1, sizeof(**out));
	for (int i = 0; *out && i < n; i++) {
		struct soft_entry *e = &(*out)[count];
		const char *name = ibv_get_device_name(list[i]);

		if (!name || odx_soft_spec(list[i], e->spec, sizeof(e->spec)))
			continue; /* the kernel's: the scan has it */
		snprintf(e->name, sizeof(e->name), "%s", name);
		find_seed(e->spec, e->seed, sizeof(e->seed));
		e->guid = be64toh(ibv_get_device_guid(list[i]));
		count++;
	}
	ibv_free_device_list(list);
	if (*out)
		return count;
	errno = ENOMEM;
	return -1;
}

static int print_json(const struct sysfs_device *kernel, int n_kernel, const struct soft_entry *soft, int n_soft)
{
	json_t *all = json_array();

	for (int i = 0; i < n_kernel; i++)
		json_array_append_new(all, json_pack("{ss ss so so so so}", "name", kernel[i].name, "kind", "kernel",
			"driver", kernel[i].driver[0] ? json_string(kernel[i].driver) : json_null(),
			"bus", kernel[i].bus[0] ? json_string(kernel[i].bus) : json_null(),
			"node_guid", kernel[i].guid[0] ? json_string(kernel[i].guid) : json_null(),
			"firmware", kernel[i].fw[0] ? json_string(kernel[i].fw) : json_null()));
	for (int i = 0; i < n_soft; i++) {
		char guid[32];

		snprintf(guid, sizeof(guid), "%04x:%04x:%04x:%04x", (unsigned int)(soft[i].guid >> 48),
			 (unsigned int)(soft[i].guid >> 32) & 0xffff, (unsigned int)(soft[i].guid >> 16) & 0xffff,
			 (unsigned int)soft[i].guid & 0xffff);
		json_array_append_new(all, json_pack("{ss ss ss ss ss}", "name", soft[i].name, "kind", "software",
			"node_guid", guid, "spec", soft[i].spec, "seed", soft[i].seed));
	}
	return devx_json_print(json_pack("{so}", "devices", all));
}

static int print_text(const struct sysfs_device *kernel, int n_kernel, const struct soft_entry *soft, int n_soft)
{
	for (int i = 0; i < n_kernel; i++) {
		const struct sysfs_device *k = &kernel[i];

		printf("%-16s kernel device, driver %s", k->name, k->driver[0] ? k->driver : "unknown");
		if (k->bus[0])
			printf(", at %s", k->bus);
		if (k->guid[0])
			printf(", GUID %s", k->guid);
		if (k->fw[0])
			printf(", firmware %s", k->fw);
		putchar('\n');
	}
	for (int i = 0; i < n_soft; i++)
		printf("%-16s software ConnectX in this process (%s), seed %s\n", soft[i].name, soft[i].spec, soft[i].seed);
	if (!n_kernel && !n_soft)
		puts("No devices.");
	return devx_flush();
}

int devx_list(int argc, char **argv)
{
	static const struct option options[] = { { "json", no_argument, NULL, 'j' }, { 0 } };
	struct sysfs_device *kernel = NULL;
	struct soft_entry *soft = NULL;
	int n_kernel, n_soft, opt, code = DEVX_FAILED;
	bool json = false;

	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (opt != 'j')
			return DEVX_USAGE;
		json = true;
	}
	if (optind < argc) {
		devx_error("list takes no argument \"%s\"", argv[optind]);
		return DEVX_USAGE;
	}
	n_kernel = sysfs_scan(SYSFS_ROOT, &kernel);
	if (n_kernel < 0)
		devx_error("%s: %s", SYSFS_ROOT, strerror(errno));
	n_soft = soft_devices(&soft);
	if (n_soft < 0)
		devx_error("cannot list the software devices: %s", strerror(errno));
	if (n_kernel >= 0 && n_soft >= 0)
		code = json ? print_json(kernel, n_kernel, soft, n_soft) : print_text(kernel, n_kernel, soft, n_soft);
	free(kernel);
	free(soft);
	return code;
}
