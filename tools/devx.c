/* SPDX-License-Identifier: BSD-2-Clause */
#include <fcntl.h>
#include <opendevx/opendevx.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "devx.h"
#include "json.h"

static const char help[] =
	"usage: devx list [--json]\n"
	"       devx caps [--device NAME] [--max] [--all] [--json] [--diff PROFILE]\n"
	"       devx cmd [--device NAME] [--all] [--json] [--outlen N] [--syndromes FILE] [--dry-run]\n"
	"                OPCODE [FIELD=VALUE]... [: OPCODE [FIELD=VALUE]...]...\n"
	"       devx decode [--in | --out] [--opcode OPCODE] [--op-mod N] [--layout NAME] [--hex | --binary]\n"
	"                   [--all] [--json] [--syndromes FILE] [FILE]\n"
	"       devx counters [--device NAME] [--control PATH] [--in-flight N] [--top N] [--json | --watch] [FILE]\n"
	"       devx serve --socket PATH [--spec SPEC] [--count N] [--fault RULE]... [--control PATH] [--no-mmap]\n"
	"       devx vm [--devices N] [--spec SPEC] [--fault RULE]... [--control PATH] [--server PROGRAM] [--connect SOCKET]...\n"
	"               [--root DIR] [--share DIR]... [--kernel VERSION|PATH] [--memory SIZE] [--cpus N] [--accel tcg|kvm|auto]\n"
	"               [--qemu PROGRAM] [--dir DIR] [--no-snapshot] [--boot-timeout SECONDS] [--log FILE] [--verbose]\n"
	"               [--] COMMAND [ARGUMENT]...\n"
	"       devx vm --bootstrap [--dir DIR] [--kernel VERSION] [--with rdma-core]\n"
	"       devx help | --help | --version\n"
	"\n"
	"list      shows the RDMA devices of the kernel, and the software devices of this library.\n"
	"caps      shows the capabilities of a device by name.\n"
	"  --max           the maximum values instead of the current ones\n"
	"  --all           also those that are 0\n"
	"  --diff PROFILE  only what a software device of that profile (cx5, cx6dx, cx7, bf3) has otherwise\n"
	"cmd       sends a command and shows its outbox. Fields are named by paths such as cq_context.log_cq_size or pas[0];\n"
	"          a value is a number, a name, or hex bytes. More commands follow after colons, in the same context: $1.cqn\n"
	"          is a field of the first one's outbox. UMEM size=N, UAR and EQN take memory, a doorbell page and an EQ's\n"
	"          number. Everything is given back at the end.\n"
	"  --outlen N      the length of the outbox\n"
	"  --dry-run       only shows the inbox\n"
	"  --all           also the fields of contexts that are 0\n"
	"  --syndromes FILE   texts for syndromes: lines of a number, or first-last, and a text\n"
	"decode    shows an inbox or outbox from FILE or standard input: hex as xxd, hexdump, od, a kernel or C have it, or binary.\n"
	"  --in, --out, --hex, --binary   what it is, instead of a guess\n"
	"  --opcode, --op-mod   of the inbox that an outbox answers\n"
	"  --layout NAME   it is no box but a part, such as eqe, cqc or roce_cap\n"
	"counters  gives every flow of a packet capture a flow counter on a device, puts the frames on the\n"
	"          counters, and reads them back with asynchronous queries. FILE is a pcap or pcapng file; without it,\n"
	"          or with \"-\", the capture comes from standard input.\n"
	"  --device NAME   the device (default: the first software device)\n"
	"  --control PATH  the control lines of a device that devx serve serves: its counters count the frames\n"
	"  --in-flight N   queries in flight at a time (default 4, at most 65536)\n"
	"  --top N         flows to show, largest first (default 10), or \"all\"\n"
	"  --json          the result as JSON\n"
	"  --watch         a live table in the terminal; q quits\n"
	"serve     serves software ConnectX cards to virtual machines by vfio-user, until SIGTERM, SIGINT or SIGHUP.\n"
	"  --socket PATH   where clients connect; with --count, PATH.0, PATH.1, ...\n"
	"  --spec SPEC     what cards they are, as in OPENDEVX_SOFT\n"
	"  --count N       so many cards (default 1, at most 64)\n"
	"  --fault RULE    a fault rule, such as \"opcode=0x93b nth=3 hang\"\n"
	"  --control PATH  a socket that takes lines such as fault, hold, release, traffic\n"
	"  --no-mmap       guests do not map doorbell pages, and each write to one is seen\n"
	"vm        boots a machine with software ConnectX devices and the kernel's own drivers, and runs a command in it. Its root\n"
	"          is this machine's, writable without a trace. docs/vm.md says more.\n"
	"  --devices N     devices (default 1)\n"
	"  --spec, --fault, --control   of the server that is started for them: devx serve\n"
	"  --server PROGRAM, --connect SOCKET   another one, or one that runs already\n"
	"  --root DIR      another root\n"
	"  --share DIR     the guest writes to this folder itself\n"
	"  --kernel WHICH  the newest one of a version such as 6.1, a kernel image, or an unpacked package\n"
	"  --dir DIR       the private folder (default: opendevx/vm in the cache folder)\n"
	"  --log FILE      the log of the guest's kernel\n"
	"  --bootstrap     puts QEMU and a kernel into the private folder; with rdma-core, a root that has it\n"
	"\n"
	"The environment variable OPENDEVX_SOFT says which software device there is: off, on, or a spec such as\n"
	"\"profile=cx7,latency=20us,seed=7\". OPENDEVX_CONTROL is as --control, for the kernel's devices.\n"
	"\n"
	"exit codes: 0 done; 1 the device, a command or the output failed; 2 wrong usage; 3 the input cannot be read;\n"
	"            4 the capture broke off: what was read before is counted and shown. devx vm: the command's own;\n"
	"            125 the machine failed, 126 the command cannot be run, 127 there is no such command\n";

void devx_error(const char *fmt, ...)
{
	va_list args;

	fputs("devx: ", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
}

static const struct {
	const char *name;
	char title[16]; /* getopt_long() begins its messages with argv[0] */
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "list", "devx list", devx_list },       { "caps", "devx caps", devx_caps }, { "cmd", "devx cmd", devx_cmd },
	{ "decode", "devx decode", devx_decode }, { "counters", "devx counters", devx_counters },
	{ "serve", "devx serve", devx_serve },
	{ "vm", "devx vm", devx_vm },
};

/* A closed standard descriptor would be the next one that the library opens, and the output would go there. */
static void fill_standard(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		/* The other way round than it is used: reading or writing still says that nothing is there. */
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			exit(DEVX_FAILED);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : NULL;
	static char title[16];

	fill_standard();
	if (argc > 2 && (!strcmp(argv[2], "--help") || !strcmp(argv[2], "-h")))
		what = argv[2]; /* the help is one for all */
	if (!what) {
		fputs(help, stderr);
		return DEVX_USAGE;
	}
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(what, commands[i].name)) {
			memcpy(title, commands[i].title, sizeof(title));
			argv[1] = title;
			return commands[i].run(argc - 1, argv + 1);
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
