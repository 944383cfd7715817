/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The frame of devx-conformance: cases that register themselves, checks that end the case, what a case owns and is ended
 * for it, threads, skips. It knows nothing of DEVX.
 */
#ifndef HARNESS_H
#define HARNESS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define N_OF(array) (sizeof(array) / sizeof((array)[0]))

/* What a case cannot do without; where it is missing the case is skipped and says so. */
enum {
	ANY = 0,
	SOFT = 1,    /* a software device of the case's own: soft.h */
	OURS = 2,    /* OpenDEVX: what libmlx5 leaves undefined */
	CONTROL = 4, /* a device that can be held, removed and made to fail: a software one, or one under control */
};

struct test_case {
	const char *file, *name, *fact, *what;
	unsigned int needs, line;
	void (*run)(void);
	void (*run_on)(int arg); /* instead of run: a case that is made in a loop, by a constructor */
	int arg;
	const char *like, *like_what; /* what cases that differ in their arg only have in common, for the documents */
	long place;                         /* among the others */
	struct test_case *next;
};

void add_case(struct test_case *c);

/*
 * One behaviour: CASE(what_it_shows, "devx-abi 5", SOFT, "The sentence that a library must satisfy.") { body }
 * Its full name is that of the file, a dot, and what_it_shows.
 */
#define CASE(name_, fact_, needs_, what_)                                                                              \
	static void case_##name_(void);                                                                                \
	static struct test_case info_##name_ = { .file = __FILE__, .name = #name_, .fact = fact_, .what = what_,       \
						 .needs = needs_, .line = __LINE__, .run = case_##name_ };             \
	__attribute__((constructor)) static void add_##name_(void)                                                     \
	{                                                                                                              \
		add_case(&info_##name_);                                                                               \
	}                                                                                                              \
	static void case_##name_(void)

/*
 * Checks. A failed one prints the place and the values, and in the thread of the case ends it; in another thread the case
 * fails and goes on. A wanted value that is written as a name like EINVAL is shown by name.
 */
#define CHECK(cond) check_true((cond) ? true : false, #cond, __FILE__, __LINE__)
#define CHECK_EQ(a, b) check_eq((int64_t)(a), (int64_t)(b), #a, #b, __FILE__, __LINE__)
#define CHECK_NE(a, b) check_ne((int64_t)(a), (int64_t)(b), #a, #b, __FILE__, __LINE__)
#define CHECK_STR(a, b) check_str((a), (b), #a, __FILE__, __LINE__)
#define CHECK_MEM(a, b, n) check_mem((a), (b), (n), #a, __FILE__, __LINE__)
/* A call that gives a pointer: must give NULL with this errno. */
#define CHECK_NULL(call, err) (errno = 0, check_null((call), (err), #call, #err, __FILE__, __LINE__))
/* Within the braces of a loop: a failed check also tells of these. */
#define NOTE(...) note(__VA_ARGS__)
#define NOTE_OPCODE(op) note_opcode(op) /* the same, for loops over thousands of them */
#define SKIP(...) skip_case(__VA_ARGS__)

void check_true(bool cond, const char *text, const char *file, int line);
void check_eq(int64_t a, int64_t b, const char *ta, const char *tb, const char *file, int line);
void check_ne(int64_t a, int64_t b, const char *ta, const char *tb, const char *file, int line);
void check_str(const char *a, const char *b, const char *text, const char *file, int line);
void check_mem(const void *a, const void *b, size_t n, const char *text, const char *file, int line);
void check_null(const void *p, int err, const char *text, const char *terr, const char *file, int line);
/* Said with the next failed check; replaces what was said before, and ends with the case. */
void note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void note_opcode(uint32_t opcode);
_Noreturn void skip_case(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
bool case_failed(void);

/*
 * What a case owns is ended, newest first, when the case ends, however it ends. own() fails the case for NULL and returns p;
 * disown() says that the case ended it itself. An end may check.
 */
void *own(void *p, void (*end)(void *p));
void disown(void *p);
/* Calls f for everything owned with this end. */
void each_owned(void (*end)(void *p), void (*f)(void *p));
void *zeroed(size_t n); /* memory that the case owns */

/* A thread that runs fn(arg), and whose sleep can be waited for. The case owns it until it is joined. */
struct runner {
	pthread_t thread;
	void (*fn)(void *arg);
	void *arg;
	atomic_int tid;
	atomic_bool done;
};

struct runner *run(void (*fn)(void *arg), void *arg);
void wait_asleep(struct runner *t); /* until it sleeps in the kernel; fails when it ends instead */
void join(struct runner *t);
bool is_done(struct runner *t);

struct session {
	const char *(*missing)(unsigned int needs); /* why a case with these needs cannot run, or NULL */
	void (*unstick)(void);                      /* before the threads of a failed case are joined */
	const char *const *filters;                 /* shell patterns of full names, or names of groups; NULL-terminated */
	unsigned int timeout_s;                     /* of one case */
	bool no_skip;                               /* a skipped case is a failure */
};

/* The cases, sorted by group as in groups[] and then as they stand in their file. */
struct group {
	const char *name, *title;
};

struct test_case *sorted_cases(const struct group *groups);
const char *group_of(const struct test_case *c); /* the file's name without its ending */
bool is_selected(const struct test_case *c, const char *const *filters);
/* Runs and prints TAP. 0: all passed or were skipped; 1. */
int run_cases(const struct test_case *cases, const struct session *s);
/* The exit code: code, or 1 and a line on stderr when not all of the output could be written. */
int written(int code);

#endif
