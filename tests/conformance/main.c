/* SPDX-License-Identifier: BSD-2-Clause */
/* devx-conformance: how a library and a device behave under the mlx5 DEVX calls, case by case, as TAP. */
#include <fcntl.h>
#include <getopt.h>

#include "conf.h"

static const struct group groups[] = {
	{ "open", "The front door: lists, names, opening" },
	{ "general", "mlx5dv_devx_general_cmd and query_eqn" },
	{ "port", "What the device says of itself" },
	{ "opcodes", "The kernel's lists of opcodes" },
	{ "object", "Objects: create, query, modify, destroy" },
	{ "types", "The same questions to each TYPE of object" },
	{ "umem", "umems" },
	{ "uar", "UARs" },
	{ "eq", "Event queues of the program, and MSI vectors" },
	{ "export", "Export and import of objects and umems" },
	{ "verbs", "The verbs that DEVX programs mix in" },
	{ "submit", "Asynchronous queries: what is refused, and the budget" },
	{ "comp", "Completions: descriptor, readiness, records, passing on" },
	{ "event", "Event channels: subscriptions, records, eventfds" },
	{ "async", "The asynchronous events of verbs" },
	{ "packet", "Frames through the flow tables of a program" },
	{ "lifetime", "Destroys, closes and removal while something goes on" },
	{ "order", "When and in which order commands complete" },
	{ "slots", "Commands that wait for a slot" },
	{ NULL, NULL },
};

static void usage(FILE *to)
{
	fputs("usage: devx-conformance [--device NAME | --soft SPEC] [--control PATH] [--timeout SECONDS] [--no-skip] [CASE ...]\n"
	      "       devx-conformance --list [--markdown] [CASE ...]\n"
	      "\n"
	      "Runs every case, or those that a CASE names: a group, or a shell pattern of group.case. Prints TAP.\n"
	      "\n"
	      "  -d, --device NAME      the device; else the first mlx5 device\n"
	      "  -s, --soft SPEC        a software device of this spec (opendevx(7))\n"
	      "  -c, --control PATH     the control lines of the devx serve behind the device: a socket, or a character device\n"
	      "  -t, --timeout SECONDS  how long one case may take (60)\n"
	      "  -n, --no-skip          a case that is skipped has failed\n"
	      "  -l, --list             the cases, each with its fact and its requirement\n"
	      "  -m, --markdown         the list as docs/conformance.md has it\n"
	      "  -h, --help\n"
	      "  -V, --version\n",
	      to);
}

static const char *device_words(unsigned int needs)
{
	return needs & SOFT ? "software" : needs & CONTROL ? "under control" : needs & OURS ? "any, OpenDEVX" : "any";
}

static void list(const struct test_case *c, const char *const *filters)
{
	for (; c; c = c->next)
		if (is_selected(c, filters))
			printf("%s.%s (%s; device: %s): %s\n", group_of(c), c->name, c->fact, device_words(c->needs),
			       c->what);
}

static const char markdown_head[] =
	"<!-- SPDX-License-Identifier: BSD-2-Clause -->\n"
	"<!-- Made by devx-conformance --markdown. -->\n"
	"# Conformance\n"
	"\n"
	"What `devx-conformance` holds a library and a device to, case by case: group.case runs one of them\n"
	"(see its manual page, and `tests/conformance/README.md` for how to add one).\n"
	"\n"
	"The fact is where the requirement comes from. `devx-abi N` is a section of the notes on the mlx5 DEVX ABI, which were\n"
	"read from Linux, rdma-core and DPDK: 2 getting a context, 3 methods and headers, 4 what the kernel does with a command,\n"
	"5 asynchronous commands, 6 asynchronous events, 7 umems, 8 return values of libmlx5. `verified N` was seen on Linux 7.2.\n"
	"`deviations N` is a line of [deviations.md](deviations.md); the rest are manual pages.\n"
	"\n"
	"The device is any mlx5 device; or one under control, which can be held, removed and made to fail: a software device, or one of\n"
	"the kernel with the control lines of the `devx serve` behind it; or a software device of the process. \"OpenDEVX\" means that\n"
	"only this library defines the behaviour. A case is skipped, with the reason, where these are not there.\n";

/* One that is like it, but for the type, stands before it. */
static bool is_alike_before(const struct test_case *first, const struct test_case *c)
{
	for (; first != c; first = first->next)
		if (first->like && c->like && !strcmp(first->like, c->like))
			return true;
	return false;
}

static void list_markdown(const struct test_case *c, const char *const *filters)
{
	const struct test_case *first = c;
	const struct group *g = NULL;

	fputs(markdown_head, stdout);
	for (; c; c = c->next) {
		if (!is_selected(c, filters) || is_alike_before(first, c))
			continue;
		if (!g || strcmp(g->name, group_of(c))) {
			for (g = groups; strcmp(g->name, group_of(c)); g++)
				;
			printf("\n## %s\n\n%s.\n\n| case | requires | fact | device |\n|---|---|---|---|\n", g->name, g->title);
		}
		printf("| `%s` | %s | %s | %s |\n", c->like ? c->like : c->name, c->like ? c->like_what : c->what, c->fact,
		       device_words(c->needs));
	}
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "device", required_argument, NULL, 'd' }, { "soft", required_argument, NULL, 's' },
		{ "control", required_argument, NULL, 'c' }, { "timeout", required_argument, NULL, 't' }, { "no-skip", no_argument, NULL, 'n' },
		{ "list", no_argument, NULL, 'l' },	     { "markdown", no_argument, NULL, 'm' },
		{ "help", no_argument, NULL, 'h' },	     { "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	struct session session = { .missing = missing, .unstick = unstick, .timeout_s = 60 };
	const char *name = NULL, *spec = NULL, *control = NULL;
	bool listing = false, markdown = false;
	struct test_case *cases = sorted_cases(groups);
	unsigned long seconds;
	char *end;
	int opt;

	/* A closed one would be the next descriptor that a case makes. */
	if (fcntl(STDOUT_FILENO, F_GETFD) < 0) {
		fputs("devx-conformance: the standard output is closed\n", stderr);
		return 2;
	}

	while ((opt = getopt_long(argc, argv, "d:s:c:t:nlmhV", options, NULL)) != -1) {
		switch (opt) {
		case 'd': name = optarg; break;
		case 's': spec = optarg; break;
		case 'c': control = optarg; break;
		case 't':
			seconds = strtoul(optarg, &end, 10);
			if (!seconds || *end || seconds > 86400) {
				fprintf(stderr, "devx-conformance: %s: not a number of seconds from 1 to 86400\n", optarg);
				return 2;
			}
			session.timeout_s = (unsigned int)seconds;
			break;
		case 'n': session.no_skip = true; break;
		case 'l': listing = true; break;
		case 'm': listing = markdown = true; break;
		case 'h': usage(stdout); return written(0);
		case 'V': printf("devx-conformance " OPENDEVX_VERSION "\n"); return written(0);
		default: usage(stderr); return 2;
		}
	}
	if (name && spec) {
		fputs("devx-conformance: --device and --soft exclude each other\n", stderr);
		return 2;
	}
	if (control && spec) {
		fputs("devx-conformance: --control is for a device of the kernel, not for --soft\n", stderr);
		return 2;
	}
	session.filters = (const char *const *)argv + optind;
	for (char **one = argv + optind; *one; one++) {
		const char *const filter[] = { *one, NULL };
		bool any = false;

		for (const struct test_case *c = cases; c; c = c->next)
			any = any || is_selected(c, filter);
		if (!any) {
			fprintf(stderr, "devx-conformance: %s: no case has such a name\n", *one);
			return 2;
		}
	}
	if (listing) {
		(markdown ? list_markdown : list)(cases, session.filters);
		return written(0);
	}
	if (!choose_device(name, spec) && (name || spec)) {
		fprintf(stderr, "devx-conformance: no device: %s\n", name ? name : spec);
		return 2;
	}
	if (control && !control_open(control)) {
		fprintf(stderr, "devx-conformance: --control %s: %s\n", control, strerror(errno));
		return 2;
	}
	return run_cases(cases, &session);
}
