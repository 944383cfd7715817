/* SPDX-License-Identifier: BSD-2-Clause */
#include <curses.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "devx.h"
#include "watch.h"

#define SLICE 8192u /* frames between two looks at the counters */

static void draw(struct report *r, const char *state)
{
	struct session *s = r->session;
	struct capture *c = r->capture;
	int progress = capture_progress(c);
	int rows, cols;

	getmaxyx(stdscr, rows, cols);
	erase();
	mvprintw(0, 0, "Software device %s (%s)", s->name, s->spec);
	mvprintw(1, 0, "%s: %" PRIu64 " frames", c->name, c->frames);
	if (progress >= 0)
		printw(" (%d%%)", progress / 10);
	printw(", %s. q quits.", state);
	attron(A_BOLD);
	mvprintw(3, 0, "%12s %16s  %s", "PACKETS", "BYTES", "FLOW");
	attroff(A_BOLD);
	for (uint32_t i = 0; i < r->n_top && 4 + (int64_t)i < rows - 2; i++) {
		const struct session_counter *v = &r->values[r->order[i]];
		char text[FLOW_TEXT_MAX];

		flow_text(&r->flows->flows[r->order[i]].key, text);
		mvprintw(4 + (int)i, 0, "%12" PRIu64 " %16" PRIu64 "  %.*s", v->packets, v->octets, cols > 31 ? cols - 31 : 0, text);
	}
	mvprintw(rows - 1, 0, "%u flows, %" PRIu64 " packets, %" PRIu64 " bytes; %" PRIu64 " queries, p50 %.1f us, p99 %.1f us",
		 r->flows->n, r->packets, r->octets, s->n_queries, (double)session_percentile(s, 50) / 1000,
		 (double)session_percentile(s, 99) / 1000);
	refresh();
}

/*
 * True: the user wants to go, or the terminal has gone. The wait is in steps, because curses may miss a resize that comes
 * just before it sleeps and sees it at the next look.
 */
static bool wants_out(struct report *r, const char *state, FILE *keys, bool wait)
{
	timeout(wait ? 250 : 0);
	for (;;) {
		struct pollfd pfd = { .fd = fileno(keys), .events = POLLIN };
		int key = getch();

		if (key == 'q' || key == 'Q')
			return true;
		if (key == KEY_RESIZE)
			draw(r, state);
		if (key != ERR)
			continue;
		if (poll(&pfd, 1, 0) == 1 && pfd.revents & (POLLHUP | POLLERR | POLLNVAL))
			return true;
		if (!wait)
			return false;
	}
}

enum capture_state watch_run(struct report *r, uint32_t top)
{
	enum capture_state state = CAPTURE_MORE;
	bool own_keys = !isatty(STDIN_FILENO), ok = true;
	FILE *keys = own_keys ? fopen("/dev/tty", "re") : stdin;
	SCREEN *screen = keys ? newterm(NULL, stdout, keys) : NULL;

	if (!screen) {
		devx_error("--watch cannot use this terminal");
		if (own_keys && keys)
			fclose(keys);
		return CAPTURE_FAILED;
	}
	cbreak();
	noecho();
	curs_set(0);
	keypad(stdscr, TRUE);
	while (state == CAPTURE_MORE && !r->stopped) {
		state = capture_read(r->capture, SLICE, r->flows, r->session);
		ok = state != CAPTURE_FAILED && report_refresh(r, top);
		if (!ok)
			break;
		draw(r, state == CAPTURE_MORE ? "reading" : state == CAPTURE_END ? "read to the end" : "broken off");
		if (state == CAPTURE_MORE)
			r->stopped = wants_out(r, "reading", keys, false);
	}
	if (ok && !r->stopped)
		wants_out(r, state == CAPTURE_END ? "read to the end" : "broken off", keys, true);
	endwin();
	delscreen(screen);
	if (own_keys)
		fclose(keys);
	return ok ? state : CAPTURE_FAILED;
}
