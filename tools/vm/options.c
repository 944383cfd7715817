/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../devx.h"
#include "vm.h"

#define PLACES 24 /* of the 32 that a q35 has, some are its own, and some of the root, the modules and the serial bus */

enum { LONG = 256, DEVICES, SPEC, FAULT, ROOT, KERNEL, MEMORY, CPUS, CONTROL, NO_SNAPSHOT, ACCEL, VERBOSE, LOG, DIR_, QEMU,
       SERVER, CONNECT, SHARE, BOOT_TIMEOUT, BOOTSTRAP, WITH };

static const struct option options[] = {
	{ "devices", required_argument, NULL, DEVICES },
	{ "spec", required_argument, NULL, SPEC },
	{ "fault", required_argument, NULL, FAULT },
	{ "root", required_argument, NULL, ROOT },
	{ "kernel", required_argument, NULL, KERNEL },
	{ "memory", required_argument, NULL, MEMORY },
	{ "cpus", required_argument, NULL, CPUS },
	{ "control", required_argument, NULL, CONTROL },
	{ "no-snapshot", no_argument, NULL, NO_SNAPSHOT },
	{ "accel", required_argument, NULL, ACCEL },
	{ "verbose", no_argument, NULL, VERBOSE },
	{ "log", required_argument, NULL, LOG },
	{ "dir", required_argument, NULL, DIR_ },
	{ "qemu", required_argument, NULL, QEMU },
	{ "server", required_argument, NULL, SERVER },
	{ "connect", required_argument, NULL, CONNECT },
	{ "share", required_argument, NULL, SHARE },
	{ "boot-timeout", required_argument, NULL, BOOT_TIMEOUT },
	{ "bootstrap", no_argument, NULL, BOOTSTRAP },
	{ "with", required_argument, NULL, WITH },
	{ 0 },
};

static bool number(const char *s, unsigned int least, unsigned int most, unsigned int *out)
{
	char *end;
	unsigned long v;

	errno = 0;
	v = strtoul(s, &end, 10);
	if (*s < '0' || *s > '9' || *end || errno || v < least || v > most)
		return false;
	*out = (unsigned int)v;
	return true;
}

/* "1G", "512M" */
static bool memory(const char *s, unsigned int *mb)
{
	size_t n = strlen(s);
	char digits[16];
	bool giga = n && s[n - 1] == 'G';

	if (!n || n >= sizeof(digits) || (!giga && s[n - 1] != 'M'))
		return false;
	memcpy(digits, s, n - 1);
	digits[n - 1] = 0;
	if (!number(digits, 1, giga ? 1024 : 1 << 20, mb))
		return false;
	*mb *= giga ? 1024 : 1;
	return *mb >= 256;
}

static bool more(const char *list[VM_MANY], unsigned int *n, const char *value)
{
	if (*n == VM_MANY)
		return false;
	list[(*n)++] = value;
	return true;
}

/* False: the value is not one for this option. */
static bool take(struct vm_options *o, int what, const char *value)
{
	switch (what) {
	case DEVICES: return number(value, 0, VM_MANY, &o->devices);
	case SPEC: o->spec = value; return true;
	case FAULT: return more(o->faults, &o->n_faults, value);
	case ROOT: o->root = value; return *value;
	case KERNEL: o->kernel = value; return *value;
	case MEMORY: return memory(value, &o->memory_mb);
	case CPUS: return number(value, 1, 64, &o->cpus);
	case CONTROL: o->control = value; return *value;
	case NO_SNAPSHOT: o->snapshot = false; return true;
	case ACCEL:
		o->accel = !strcmp(value, "tcg") ? VM_TCG : !strcmp(value, "kvm") ? VM_KVM : VM_AUTO;
		return o->accel != VM_AUTO || !strcmp(value, "auto");
	case VERBOSE: o->verbose = true; return true;
	case LOG: o->log = value; return *value;
	case DIR_: o->dir = value; return value[0] == '/';
	case QEMU: o->qemu = value; return *value;
	case SERVER: o->server = value; return *value;
	case CONNECT: return *value && strlen(value) < 108 && more(o->connects, &o->n_connects, value);
	case SHARE: return value[0] == '/' && value[1] && more(o->shares, &o->n_shares, value);
	case BOOT_TIMEOUT: return number(value, 1, 86400, &o->boot_timeout);
	case BOOTSTRAP: o->bootstrap = true; return true;
	case WITH: o->rdma_core = true; return !strcmp(value, "rdma-core");
	default: return false;
	}
}

/* What the value of an option can be, for those that take not any word. */
static const char *values(int what)
{
	switch (what) {
	case DEVICES: return "a number from 0 to 16";
	case CPUS: return "a number from 1 to 64";
	case MEMORY: return "as 512M or 2G, from 256M to 1024G";
	case ACCEL: return "tcg, kvm or auto";
	case DIR_: return "an absolute path";
	case SHARE: return "an absolute path, not that of the root, and given at most 16 times";
	case FAULT: return "given at most 16 times";
	case CONNECT: return "a path of 1 to 107 characters, and given at most 16 times";
	case BOOT_TIMEOUT: return "seconds, from 1 to 86400";
	case WITH: return "rdma-core";
	default: return "not empty";
	}
}

static int usage(const char *what)
{
	devx_error("vm: %s; devx --help shows the usage", what);
	return DEVX_USAGE;
}

static int check(struct vm_options *o, bool devices_said, bool machine_said)
{
	if (o->bootstrap && machine_said)
		return usage("--bootstrap takes --dir, --kernel and --with, and no options of a machine");
	if (o->n_connects && (o->spec || o->n_faults || o->control))
		return usage("--spec, --fault and --control are for a server that is started, not for one that --connect names");
	if (o->n_connects && devices_said && o->devices != o->n_connects)
		return usage("--devices and the number of --connect are not the same");
	if (o->n_connects)
		o->devices = o->n_connects;
	if (!o->devices && (o->spec || o->n_faults || o->control))
		return usage("--spec, --fault and --control say nothing with --devices 0");
	if (o->devices + o->n_shares > PLACES)
		return usage("there are 24 places on the machine's bus: for --devices (or --connect) and --share together");
	if (o->bootstrap && *o->command)
		return usage("--bootstrap takes no command");
	if (!o->bootstrap && o->rdma_core)
		return usage("--with is for --bootstrap");
	if (!o->bootstrap && !*o->command)
		return usage("the command is missing");
	return 0;
}

int vm_parse(struct vm_options *o, int argc, char **argv, int *code)
{
	bool devices_said = false, machine_said = false;
	int opt, index;

	*o = (struct vm_options){ .devices = 1, .cpus = 2, .memory_mb = 1024, .boot_timeout = 300, .snapshot = true };
	/* "+": what follows the command is the command's. */
	while ((opt = getopt_long(argc, argv, "+", options, &index)) != -1) {
		*code = DEVX_USAGE;
		if (opt < LONG)
			return -1;
		devices_said |= opt == DEVICES;
		machine_said |= opt != BOOTSTRAP && opt != DIR_ && opt != KERNEL && opt != WITH && opt != VERBOSE;
		if (!take(o, opt, optarg)) {
			devx_error("vm: --%s cannot be \"%s\": it is %s", options[index].name, optarg, values(opt));
			return -1;
		}
	}
	o->command = argv + optind;
	*code = check(o, devices_said, machine_said);
	return *code ? -1 : 0;
}
