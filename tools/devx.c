/* SPDX-License-Identifier: BSD-2-Clause */
#include <opendevx/opendevx.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "devx.h"
#include "json.h"

static const char help[] =
	"usage: devx list [--json]\n"
	"       devx counters [--device NAME] [--in-flight N] [--top N] [--json | --watch] [FILE]\n"
	"       devx help | --help | --version\n"
	"\n"
	"list      shows the RDMA devices of the kernel, and the software devices of this library.\n"
	"counters  gives every flow of a packet capture a flow counter on a software device, puts the frames on the\n"
	"          counters, and reads them back with asynchronous queries. FILE is a pcap or pcapng file; without it,\n"
	"          or with \"-\", the capture comes from standard input.\n"
	"  --device NAME   the device (default: the first software device)\n"
	"  --in-flight N   queries in flight at a time (default 4, at most 65536)\n"
	"  --top N         flows to show, largest first (default 10), or \"all\"\n"
	"  --json          the result as JSON\n"
	"  --watch         a live table in the terminal; q quits\n"
	"\n"
	"The environment variable OPENDEVX_SOFT says which software device there is: off, on, or a spec such as\n"
	"\"profile=cx7,latency=20us,seed=7\".\n"
	"\n"
	"exit codes: 0 done; 1 the device, a command or the output failed; 2 wrong usage; 3 the capture cannot be read;\n"
	"            4 the capture broke off: what was read before is counted and shown\n";

void devx_error(const char *fmt, ...)
{
	va_list args;

	fputs("devx: ", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
}

int main(int argc, char **argv)
{
	/* getopt_long() begins its messages with argv[0]. */
	static char list_name[] = "devx list", counters_name[] = "devx counters", decode_name[] = "devx decode";
	const char *what = argc > 1 ? argv[1] : NULL;

	if (!what) {
		fputs(help, stderr);
		return DEVX_USAGE;
	}
	if (!strcmp(what, "list")) {
		argv[1] = list_name;
		return devx_list(argc - 1, argv + 1);
	}
	if (!strcmp(what, "counters")) {
		argv[1] = counters_name;
		return devx_counters(argc - 1, argv + 1);
	}
	if (!strcmp(what, "decode")) {
		argv[1] = decode_name;
		return devx_decode(argc - 1, argv + 1);
	}
	if (!strcmp(what, "help") || !strcmp(what, "--help") || !strcmp(what, "-h")) {
		fputs(help, stdout);
		return devx_flush();
	}
	if (!strcmp(what, "--version")) {
		printf("devx %s (library %s)\n", OPENDEVX_VERSION, odx_version());
		return devx_flush();
	}
	devx_error("\"%s\" is not a command; devx --help lists them", what);
	return DEVX_USAGE;
}
