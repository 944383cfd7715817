/* SPDX-License-Identifier: BSD-2-Clause */
/* Cases that pass, fail, are skipped, hang and crash: selftest.py looks at what the frame makes of them. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"

static int ended;

static void end(void *p)
{
	printf("# end %d\n", *(int *)p);
	ended++;
}

static void end_badly(void *p)
{
	CHECK(!"ended badly");
}

CASE(passes, "a fact", ANY, "Passes.")
{
	CHECK(true);
	CHECK_EQ(2 * 2, 4);
	CHECK_NE(2 * 2, 5);
	CHECK_STR("a", "a");
	CHECK_MEM("ab", "ac", 1);
	CHECK_NULL((errno = ENOENT, (void *)NULL), ENOENT);
}

CASE(fails_by_value, "a fact", ANY, "Fails.")
{
	static int one = 1, two = 2, three = 3;

	own(&one, end);
	own(&two, end);
	own(&three, end);
	disown(&two);
	NOTE("round %d", 7);
	CHECK_EQ(EBUSY, EINVAL);
	printf("# not reached\n");
}

CASE(fails_by_errno, "a fact", ANY, "Fails.")
{
	CHECK_NULL((errno = EIO, (void *)NULL), ENOENT);
}

CASE(fails_by_pointer, "a fact", ANY, "Fails.")
{
	CHECK_NULL(&ended, ENOENT);
}

CASE(fails_by_bytes, "a fact", ANY, "Fails.")
{
	CHECK_MEM("abc", "abd", 3);
}

CASE(fails_by_string, "a fact", ANY, "Fails.")
{
	CHECK_STR("abc", "abd");
}

CASE(fails_by_equality, "a fact", ANY, "Fails.")
{
	CHECK_NE(3, 3);
}

CASE(fails_at_its_end, "a fact", ANY, "Fails.")
{
	own(&ended, end_badly);
}

CASE(leaves_a_descriptor, "a fact", ANY, "Fails.")
{
	CHECK(dup(STDERR_FILENO) >= 0);
}

static void wrong(void *arg)
{
	CHECK_EQ(1, 2);
	CHECK_EQ(3, 4);
}

CASE(fails_in_a_thread, "a fact", ANY, "Fails.")
{
	join(run(wrong, NULL));
	printf("# goes on\n");
}

static void nothing(void *arg)
{
}

CASE(leaves_a_thread, "a fact", ANY, "Passes: it is joined.")
{
	run(nothing, NULL);
}

CASE(skips_itself, "a fact", ANY, "Is skipped.")
{
	own(&ended, end);
	SKIP("no %s", "reason");
}

CASE(misses_something, "a fact", SOFT, "Is skipped.")
{
	CHECK(false);
}

CASE(crashes, "a fact", ANY, "Crashes.")
{
	abort();
}

CASE(hangs, "a fact", ANY, "Hangs.")
{
	pause();
}

static const char *missing(unsigned int needs)
{
	return needs & SOFT ? "nothing soft" : NULL;
}

static void unstick(void)
{
}

int main(int argc, char **argv)
{
	static const struct group groups[] = { { "selftest", "" }, { NULL, NULL } };
	struct session s = { .missing = missing, .unstick = unstick, .timeout_s = 1 };

	s.no_skip = argc > 1 && !strcmp(argv[1], "-n");
	s.filters = (const char *const *)argv + 1 + s.no_skip;
	return run_cases(sorted_cases(groups), &s);
}
