/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench-steps N PROGRAM: counts the instructions that bench-uverbs executes in user space for a submit and a get, N times,
 * one by one: a trap flag counts the same on every machine. Prints "submit S get G", the medians.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST 1000

static pid_t child;

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "bench-steps: %s: %s\n", what, strerror(errno));
	if (child > 0)
		kill(child, SIGKILL);
	exit(1);
}

/* Continues by request; true when the program stopped itself, false for one step. Signals of others reach it. */
static bool go(enum __ptrace_request request)
{
	int pass = 0, status;
	siginfo_t info;

	for (;;) {
		if (ptrace(request, child, NULL, (void *)(intptr_t)pass))
			die("ptrace");
		if (waitpid(child, &status, 0) != child)
			die("waitpid");
		if (!WIFSTOPPED(status)) {
			errno = ECHILD;
			die("the program ended");
		}
		if (WSTOPSIG(status) == SIGTRAP)
			break;
		pass = WSTOPSIG(status);
	}
	if (ptrace(PTRACE_GETSIGINFO, child, NULL, &info))
		die("PTRACE_GETSIGINFO");
	return info.si_code == SI_KERNEL; /* int3; a step says TRAP_TRACE, and TRAP_BRKPT behind a system call */
}

/* The steps up to the next stop, which is an instruction itself. */
static unsigned int steps(void)
{
	unsigned int n = 0;

	while (!go(PTRACE_SINGLESTEP))
		n++;
	return n;
}

static int by_value(const void *a, const void *b)
{
	unsigned int x = *(const unsigned int *)a, y = *(const unsigned int *)b;

	return (x > y) - (x < y);
}

static void start(char **argv, int n)
{
	int to[2], from[2];
	char c = 0;

	if (pipe(to) || pipe(from))
		die("pipe");
	child = fork();
	if (child < 0)
		die("fork");
	if (!child) {
		dup2(to[0], STDIN_FILENO);
		dup2(from[1], STDOUT_FILENO);
		close(to[0]);
		close(to[1]);
		close(from[0]);
		close(from[1]);
		execv(argv[0], argv);
		perror(argv[0]);
		_exit(127);
	}
	close(to[0]);
	close(from[1]);
	while (c != '\n') /* "ready" */
		if (read(from[0], &c, 1) != 1)
			die("the program is not ready");
	if (ptrace(PTRACE_SEIZE, child, NULL, NULL))
		die("PTRACE_SEIZE");
	if (dprintf(to[1], "step %d\n", n) < 0)
		die("write");
}

/* It runs, and stops itself the first time. */
static void first_stop(void)
{
	int status;

	if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP)
		die("the first stop");
}

int main(int argc, char **argv)
{
	static unsigned int submits[MOST], gets[MOST];
	int n = argc > 2 ? atoi(argv[1]) : 0;

	if (n < 1 || n > MOST) {
		fprintf(stderr, "usage: bench-steps N PROGRAM, N up to %d\n", MOST);
		return 2;
	}
	start(argv + 2, n);
	first_stop();
	for (int i = 0; i < n; i++) {
		submits[i] = steps();
		while (!go(PTRACE_CONT))
			;
		gets[i] = steps();
		while (i < n - 1 && !go(PTRACE_CONT))
			;
	}
	kill(child, SIGKILL);
	qsort(submits, (size_t)n, sizeof(*submits), by_value);
	qsort(gets, (size_t)n, sizeof(*gets), by_value);
	printf("submit %u get %u\n", submits[n / 2], gets[n / 2]);
	return 0;
}
