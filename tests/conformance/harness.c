/* SPDX-License-Identifier: BSD-2-Clause */
#include "harness.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define ASLEEP_S 20 /* how long a thread may take to fall asleep, or to end when it should */
#define ASLEEP_LOOKS 20

enum { ENDED = 1, SKIPPED };

struct owned {
	void *p;
	void (*end)(void *p);
	struct owned *next;
};

static struct test_case *registered;

static struct {
	const struct test_case *c;
	pthread_t thread;
	pid_t pid;
	jmp_buf leave;
	struct owned *owned; /* under lock: a thread of the case may make things too */
	pthread_mutex_t lock;
	const struct session *session;
	char full_name[160];
	char note[256];
	int64_t opcode; /* or -1 */
	char why_skipped[256];
} now = { .lock = PTHREAD_MUTEX_INITIALIZER };
static atomic_bool failed;

void add_case(struct test_case *c)
{
	c->next = registered;
	registered = c;
}

/* --- failing and skipping --- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool in_case_thread(void)
{
	return pthread_equal(pthread_self(), now.thread);
}

static void fail_at(const char *file, int line, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void fail_at(const char *file, int line, const char *fmt, ...)
{
	char text[768];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (now.opcode >= 0)
		note("opcode 0x%llx", (unsigned long long)now.opcode);
	printf("# %s:%d: %s%s%s\n", base_name(file), line, text, now.note[0] ? " with " : "", now.note);
	fflush(stdout);
	if (getpid() != now.pid) /* a forked child must not run the rest of the cases */
		_exit(99);
	atomic_store(&failed, true);
	if (in_case_thread())
		longjmp(now.leave, ENDED);
}

void check_true(bool cond, const char *text, const char *file, int line)
{
	if (!cond)
		fail_at(file, line, "not so: %s", text);
}

/* "EINVAL" where the wanted value was written as such a name, or is the 0 beside which they stand. */
static const char *as_errno(int64_t v, const char *wanted)
{
	const char *name = wanted[0] == 'E' || !strcmp(wanted, "0") ? strerrorname_np((int)v) : NULL;

	return v > 0 && v < 4096 && name ? name : "";
}

void check_eq(int64_t a, int64_t b, const char *ta, const char *tb, const char *file, int line)
{
	if (a == b)
		return;
	fail_at(file, line, "%s is %lld (0x%llx)%s%s, not %s = %lld (0x%llx)", ta, (long long)a, (unsigned long long)a,
		*as_errno(a, tb) ? " " : "", as_errno(a, tb), tb, (long long)b, (unsigned long long)b);
}

void check_ne(int64_t a, int64_t b, const char *ta, const char *tb, const char *file, int line)
{
	if (a == b)
		fail_at(file, line, "%s is %lld (0x%llx), as %s must not be", ta, (long long)a, (unsigned long long)a, tb);
}

void check_str(const char *a, const char *b, const char *text, const char *file, int line)
{
	if (!a || strcmp(a, b))
		fail_at(file, line, "%s is \"%s\", not \"%s\"", text, a ? a : "(NULL)", b);
}

void check_mem(const void *a, const void *b, size_t n, const char *text, const char *file, int line)
{
	const uint8_t *x = a, *y = b;

	for (size_t i = 0; i < n; i++)
		if (x[i] != y[i])
			fail_at(file, line, "byte %zu of %s is 0x%02x, not 0x%02x", i, text, x[i], y[i]);
}

void check_null(const void *p, int err, const char *text, const char *terr, const char *file, int line)
{
	int got = errno;

	if (p)
		fail_at(file, line, "%s is not NULL with %s", text, terr);
	else if (got != err)
		fail_at(file, line, "%s is NULL with errno %d (%s), not %s = %d", text, got, as_errno(got, "E"), terr, err);
}

void note(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(now.note, sizeof(now.note), fmt, ap);
	va_end(ap);
	now.opcode = -1;
}

void note_opcode(uint32_t opcode)
{
	now.opcode = opcode;
}

_Noreturn void skip_case(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(now.why_skipped, sizeof(now.why_skipped), fmt, ap);
	va_end(ap);
	longjmp(now.leave, SKIPPED);
}

bool case_failed(void)
{
	return atomic_load(&failed);
}

/* --- what the case owns --- */

void *own(void *p, void (*end)(void *p))
{
	struct owned *o;

	if (!p) {
		fail_at(__FILE__, __LINE__, "something could not be made: errno %d (%s)", errno, as_errno(errno, "E"));
		return NULL; /* in another thread than the case's */
	}
	o = malloc(sizeof(*o));
	if (!o)
		abort();
	pthread_mutex_lock(&now.lock);
	*o = (struct owned){ p, end, now.owned };
	now.owned = o;
	pthread_mutex_unlock(&now.lock);
	return p;
}

void disown(void *p)
{
	struct owned **at, *o;

	pthread_mutex_lock(&now.lock);
	for (at = &now.owned; *at && (*at)->p != p; at = &(*at)->next)
		;
	o = *at;
	if (o)
		*at = o->next;
	pthread_mutex_unlock(&now.lock);
	free(o);
}

void each_owned(void (*end)(void *p), void (*f)(void *p))
{
	pthread_mutex_lock(&now.lock);
	for (struct owned *o = now.owned; o; o = o->next)
		if (o->end == end)
			f(o->p);
	pthread_mutex_unlock(&now.lock);
}

void *zeroed(size_t n)
{
	return own(calloc(1, n ? n : 1), free);
}

static struct owned *take_newest(void)
{
	struct owned *o;

	pthread_mutex_lock(&now.lock);
	o = now.owned;
	if (o)
		now.owned = o->next;
	pthread_mutex_unlock(&now.lock);
	return o;
}

static void end_owned(void)
{
	struct owned *o;

	while ((o = take_newest())) {
		if (!setjmp(now.leave))
			o->end(o->p);
		free(o);
	}
}

/* --- threads --- */

static void *runner_main(void *arg)
{
	struct runner *t = arg;

	atomic_store(&t->tid, (int)syscall(SYS_gettid));
	t->fn(t->arg);
	atomic_store(&t->done, true);
	return NULL;
}

/* It uses what the case has on its stack or owns: nothing can go on when it does not end. */
static void end_runner(void *p)
{
	struct runner *t = p;
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += ASLEEP_S;
	if (pthread_timedjoin_np(t->thread, NULL, &until)) {
		printf("Bail out! %s: a thread does not end\n", now.full_name);
		fflush(stdout);
		_exit(1);
	}
	free(t);
}

struct runner *run(void (*fn)(void *arg), void *arg)
{
	struct runner *t = calloc(1, sizeof(*t));

	if (!t)
		abort();
	t->fn = fn;
	t->arg = arg;
	CHECK_EQ(pthread_create(&t->thread, NULL, runner_main, t), 0);
	return own(t, end_runner);
}

static char state_of(int tid)
{
	char path[64], text[256] = "", *p;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return '?';
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	p = n > 0 ? strrchr(text, ')') : NULL;
	return p && p[1] == ' ' ? p[2] : '?';
}

/* Asleep on several looks in a row: a thread that only waits for a lock does not look so for long. */
void wait_asleep(struct runner *t)
{
	struct timespec start, t_now;
	int seen = 0;

	clock_gettime(CLOCK_MONOTONIC, &start);
	while (seen < ASLEEP_LOOKS) {
		int tid = atomic_load(&t->tid);
		char state = tid ? state_of(tid) : '?';

		seen = state == 'S' || state == 'D' ? seen + 1 : 0; /* D: the kernel waits for the device */
		sched_yield();
		clock_gettime(CLOCK_MONOTONIC, &t_now);
		if (t_now.tv_sec - start.tv_sec > ASLEEP_S || atomic_load(&t->done))
			break;
	}
	CHECK(!atomic_load(&t->done));
	CHECK_EQ(seen, ASLEEP_LOOKS);
}

void join(struct runner *t)
{
	disown(t);
	end_runner(t);
}

bool is_done(struct runner *t)
{
	return atomic_load(&t->done);
}

/* --- running --- */

static void say(const char *a, const char *b)
{
	char line[256];
	int n = snprintf(line, sizeof(line), "Bail out! %s %s\n", a, b);

	if (write(STDOUT_FILENO, line, n > 0 ? (size_t)n : 0) < 0)
		_exit(2);
}

static void on_hang(int sig)
{
	say(now.full_name, "hangs");
	_exit(1);
}

static void on_crash(int sig)
{
	char text[32];

	snprintf(text, sizeof(text), "died of signal %d", sig);
	say(now.full_name, text);
	signal(sig, SIG_DFL);
	raise(sig);
}

static void watch(void)
{
	static const int crashes[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT };

	signal(SIGALRM, on_hang);
	for (size_t i = 0; i < N_OF(crashes); i++) {
		struct sigaction sa;

		/* A sanitizer that has its own says more. */
		if (!sigaction(crashes[i], NULL, &sa) && sa.sa_handler == SIG_DFL)
			signal(crashes[i], on_crash);
	}
}

static unsigned int open_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n;
}

static int run_body(const struct test_case *c)
{
	int how = setjmp(now.leave);

	if (!how) {
		if (c->run_on)
			c->run_on(c->arg);
		else
			c->run();
	}
	return how;
}

static bool run_case(const struct test_case *c, unsigned int number, const struct session *s)
{
	unsigned int fds = open_descriptors();
	const char *missing = s->missing(c->needs);
	int how = SKIPPED;

	now.c = c;
	now.note[0] = now.why_skipped[0] = '\0';
	now.opcode = -1;
	snprintf(now.full_name, sizeof(now.full_name), "%s.%s", group_of(c), c->name);
	atomic_store(&failed, false);
	alarm(s->timeout_s);
	if (missing)
		snprintf(now.why_skipped, sizeof(now.why_skipped), "%s", missing);
	else
		how = run_body(c);
	now.note[0] = '\0';
	now.opcode = -1;
	if (case_failed())
		s->unstick();
	end_owned();
	/* The first case starts what stays, and a failed one may leave behind what it will. */
	if (!case_failed() && how != SKIPPED && number > 1 && open_descriptors() != fds) {
		printf("# %u descriptors are open that were not before\n", open_descriptors() - fds);
		atomic_store(&failed, true);
	}
	alarm(0);
	if (how == SKIPPED && s->no_skip && !case_failed()) {
		printf("# skipped: %s\n", now.why_skipped);
		atomic_store(&failed, true);
	}
	printf("%sok %u - %s", case_failed() ? "not " : "", number, now.full_name);
	if (how == SKIPPED && !case_failed())
		printf(" # SKIP %s", now.why_skipped);
	printf("\n");
	if (case_failed())
		printf("# %s requires: %s\n", c->fact, c->what);
	fflush(stdout);
	return !case_failed();
}

int written(int code)
{
	/* A closed one too: nobody reads it, and a result that is lost is no success. */
	if (!fflush(stdout) && !ferror(stdout))
		return code;
	fprintf(stderr, "%s: the output could not be written\n", program_invocation_short_name);
	return code ? code : 1;
}

int run_cases(const struct test_case *cases, const struct session *s)
{
	unsigned int n = 0, number = 0;
	bool good = true;

	for (const struct test_case *c = cases; c; c = c->next)
		n += is_selected(c, s->filters);
	printf("TAP version 13\n1..%u%s\n", n, n ? "" : " # SKIP no case has such a name");
	fflush(stdout);
	now.thread = pthread_self();
	now.pid = getpid();
	now.session = s;
	watch();
	for (const struct test_case *c = cases; c; c = c->next)
		if (is_selected(c, s->filters))
			good &= run_case(c, ++number, s);
	return written(good ? 0 : 1);
}

/* --- the list --- */

const char *group_of(const struct test_case *c)
{
	static char name[64];
	const char *base = base_name(c->file), *dot = strchr(base, '.');

	snprintf(name, sizeof(name), "%.*s", dot ? (int)(dot - base) : (int)strlen(base), base);
	return name;
}

bool is_selected(const struct test_case *c, const char *const *filters)
{
	char full[160];

	if (!filters || !*filters)
		return true;
	snprintf(full, sizeof(full), "%s.%s", group_of(c), c->name);
	for (; *filters; filters++)
		if (!strcmp(*filters, group_of(c)) || !fnmatch(*filters, full, 0))
			return true;
	return false;
}

static const struct group *groups_by;

static long place(const struct test_case *c)
{
	const char *group = group_of(c);
	long i = 0;

	while (groups_by[i].name && strcmp(groups_by[i].name, group))
		i++;
	if (!groups_by[i].name) {
		fprintf(stderr, "devx-conformance: %s: a group without a title\n", c->file);
		abort();
	}
	return i * 100000 + (long)c->line;
}

struct test_case *sorted_cases(const struct group *groups)
{
	struct test_case *sorted = NULL;

	groups_by = groups;
	while (registered) {
		struct test_case *c = registered, **at = &sorted;

		registered = c->next;
		c->place = place(c);
		while (*at && (*at)->place < c->place)
			at = &(*at)->next;
		c->next = *at;
		*at = c;
	}
	registered = sorted;
	return sorted;
}
