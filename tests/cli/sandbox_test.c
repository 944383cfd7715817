/* SPDX-License-Identifier: BSD-2-Clause */
/* The sandbox of devx serve: each call that a guest which took over the server would like ends the process; what serving needs works. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "devx.h"
#include "serve.h"

void devx_error(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
}

static int in_sandbox(void (*body)(void))
{
	const struct rlimit no_core = { 0 };
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		setrlimit(RLIMIT_CORE, &no_core);
		if (!sandbox_privileges() || !sandbox_filter())
			_exit(100);
		body();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void do_open(void)
{
	open("/etc/passwd", O_RDONLY);
}

static void do_unlink(void)
{
	unlink("/tmp/nothing-of-that-name");
}

static void do_socket(void)
{
	socket(AF_INET, SOCK_STREAM, 0);
}

static void do_connect(void)
{
	connect(0, NULL, 0);
}

static void do_execute(void)
{
	execl("/bin/true", "true", NULL);
}

static void do_fork(void)
{
	fork();
}

static void do_kill(void)
{
	kill(getppid(), 0);
}

static void do_ptrace(void)
{
	ptrace(PTRACE_ATTACH, 1, NULL, NULL);
}

static void do_code(void)
{
	mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void do_more_code(void)
{
	static char page[8192];

	mprotect((void *)(((uintptr_t)page + 4095) & ~(uintptr_t)4095), 4096, PROT_READ | PROT_WRITE | PROT_EXEC);
}

static void do_other_memory(void)
{
	char c;
	struct iovec ours = { &c, 1 }, theirs = { &c, 1 };

	process_vm_readv(1, &ours, 1, &theirs, 1, 0);
}

static void do_owner(void)
{
	fcntl(0, F_SETOWN, 1);
}

static void do_privileges(void)
{
	prctl(PR_SET_DUMPABLE, 1);
}

static void do_user(void)
{
	if (setuid(0))
		return;
}

static void do_ioctl(void)
{
	isatty(0);
}

static void (*const forbidden[])(void) = {
	do_open, do_unlink, do_socket, do_connect, do_execute, do_fork, do_kill, do_ptrace, do_code, do_more_code, do_other_memory,
	do_owner, do_privileges, do_user, do_ioctl,
};

static void forbidden_calls(void **state)
{
	for (size_t i = 0; i < sizeof(forbidden) / sizeof(forbidden[0]); i++) {
		int status = in_sandbox(forbidden[i]);

		if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGSYS)
			fail_msg("call %zu: status 0x%x", i, status);
	}
}

/* Descriptors are made before; here a socket pair's and an eventfd. */
static int pair[2], event;

static void check(bool ok, int code)
{
	if (!ok)
		_exit(code);
}

static void what_serving_does(void)
{
	char c = 'x', d = 0, *p;
	uint64_t one = 1;
	struct statfs fs;
	struct iovec ours = { &d, 1 }, theirs = { &c, 1 };
	int fd;

	check(send(pair[0], &c, 1, MSG_DONTWAIT) == 1 && recv(pair[1], &d, 1, MSG_DONTWAIT) == 1, 1);
	check(!fstatfs(event, &fs) && !fcntl(event, F_SETFL, fcntl(event, F_GETFL)), 7);
	check(write(event, &one, sizeof(one)) == sizeof(one), 2);
	check(process_vm_readv(getpid(), &ours, 1, &theirs, 1, 0) == 1, 3);
	fd = memfd_create("x", MFD_ALLOW_SEALING);
	check(fd >= 0 && !ftruncate(fd, 8192) && !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 4);
	p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	check(p != MAP_FAILED && !madvise(p, 8192, MADV_REMOVE) && !munmap(p, 8192) && !close(fd), 5);
	p = malloc(1 << 20);
	check(p != NULL, 6);
	free(p);
}

static void allowed_calls(void **state)
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	event = eventfd(0, EFD_NONBLOCK);
	assert_int_equal(in_sandbox(what_serving_does), 0);
	close(pair[0]);
	close(pair[1]);
	close(event);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(forbidden_calls), cmocka_unit_test(allowed_calls) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
