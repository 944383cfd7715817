/* SPDX-License-Identifier: BSD-2-Clause */
/* devx counters: a capture's flows, counted by flow counters of the device. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "devx.h"
#include "watch.h"

#define IN_FLIGHT_DEFAULT 4u
#define IN_FLIGHT_MAX 65536u
#define TOP_DEFAULT 10u

struct options {
	const char *file;
	const char *device;
	const char *control;
	uint32_t top;
	uint32_t in_flight;
	bool json;
	bool watch;
};

/* False: text is no decimal number from min to max. */
static bool number(const char *text, uint32_t min, uint32_t max, uint32_t *value)
{
	unsigned long long v;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	v = strtoull(text, &end, 10);
	if (errno || *end || v < min || v > max)
		return false;
	*value = (uint32_t)v;
	return true;
}

static bool parse(int argc, char **argv, struct options *o)
{
	static const struct option options[] = {
		{ "control", required_argument, NULL, 'c' },   { "device", required_argument, NULL, 'd' },
		{ "in-flight", required_argument, NULL, 'i' }, { "json", no_argument, NULL, 'j' },
		{ "top", required_argument, NULL, 't' },       { "watch", no_argument, NULL, 'w' },
		{ 0 },
	};
	int opt;

	*o = (struct options){ .top = TOP_DEFAULT, .in_flight = IN_FLIGHT_DEFAULT };
	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (opt) {
		case 'c':
			o->control = optarg;
			break;
		case 'd':
			o->device = optarg;
			break;
		case 'i':
			if (!number(optarg, 1, IN_FLIGHT_MAX, &o->in_flight)) {
				devx_error("--in-flight takes a number from 1 to %u, not \"%s\"", IN_FLIGHT_MAX, optarg);
				return false;
			}
			break;
		case 'j':
			o->json = true;
			break;
		case 't':
			if (!strcmp(optarg, "all")) {
				o->top = UINT32_MAX;
			} else if (!number(optarg, 0, UINT32_MAX, &o->top)) {
				devx_error("--top takes a number or \"all\", not \"%s\"", optarg);
				return false;
			}
			break;
		case 'w':
			o->watch = true;
			break;
		default: /* getopt has said it */
			return false;
		}
	}
	if (argc - optind > 1) {
		devx_error("counters takes one FILE; \"%s\" is one too many", argv[optind + 1]);
		return false;
	}
	o->file = argv[optind];
	if (o->watch && o->json) {
		devx_error("--watch and --json exclude each other");
		return false;
	}
	if (o->watch && !isatty(STDOUT_FILENO)) {
		devx_error("--watch needs a terminal as standard output");
		return false;
	}
	if ((!o->file || !strcmp(o->file, "-")) && isatty(STDIN_FILENO)) {
		devx_error("no FILE, and standard input is a terminal");
		return false;
	}
	return true;
}

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* One line on stderr that is drawn anew; only when reading takes long enough to wonder. */
static void progress(struct capture *c, bool *drawn)
{
	static const char full[] = "########################################";
	int at = capture_progress(c);

	if (at >= 0)
		fprintf(stderr, "\r[%-40.*s] %3d%%  %" PRIu64 " frames ", at * 40 / 1000, full, at / 10, c->frames);
	else
		fprintf(stderr, "\r%" PRIu64 " frames ", c->frames);
	fflush(stderr);
	*drawn = true;
}

static enum capture_state read_all(struct report *r, uint32_t top)
{
	const bool tty = isatty(STDERR_FILENO);
	double next = seconds() + 0.5;
	enum capture_state state;
	bool drawn = false;

	while ((state = capture_read(r->capture, 4096, r->flows, r->session)) == CAPTURE_MORE)
		if (tty && seconds() >= next) {
			progress(r->capture, &drawn);
			next = seconds() + 0.1;
		}
	if (drawn)
		fputs("\r\033[K", stderr);
	return state == CAPTURE_FAILED || !report_refresh(r, top) ? CAPTURE_FAILED : state;
}

/* Set and empty is as good as not set. */
static const char *control_env(void)
{
	const char *path = secure_getenv("OPENDEVX_CONTROL");

	return path && *path ? path : NULL;
}

int devx_counters(int argc, char **argv)
{
	struct capture capture = { 0 };
	struct session session = { 0 };
	struct flowtab flows;
	struct report r = { .capture = &capture, .session = &session, .flows = &flows };
	enum capture_state state = CAPTURE_FAILED;
	struct options o;
	int code = DEVX_FAILED;

	if (!parse(argc, argv, &o))
		return DEVX_USAGE;
	if (!capture_open(&capture, o.file))
		return DEVX_INPUT;
	flowtab_init(&flows);
	if (session_open(&session, o.device, o.in_flight, o.control, control_env()))
		state = o.watch ? watch_run(&r, o.top) : read_all(&r, o.top);
	if (state == CAPTURE_BROKEN && !capture.frames) {
		devx_error("%s: %s", capture.name, capture.broken);
		code = DEVX_INPUT;
	} else if (state != CAPTURE_FAILED) {
		code = o.json ? report_json(&r) : report_text(&r);
		if (state == CAPTURE_BROKEN)
			devx_error("%s: broken off after %" PRIu64 " frames, which were counted: %s", capture.name, capture.frames,
				   capture.broken);
		if (state == CAPTURE_BROKEN && code == DEVX_OK)
			code = DEVX_PARTIAL;
	}
	report_fini(&r);
	flowtab_fini(&flows);
	capture_close(&capture);
	if (!session_close(&session) && code == DEVX_OK)
		code = DEVX_FAILED;
	return code;
}
