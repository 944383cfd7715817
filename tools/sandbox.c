/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a guest that takes over the server would have: no capability, no user's rights if it was root, and the few system calls
 * that the loop of vfu.h makes. No file can be opened, no socket made, no program run, no code mapped.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <malloc.h>
#include <seccomp.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "devx.h"
#include "serve.h"

#define NOBODY 65534

static bool cannot(const char *what, int err)
{
	devx_error("cannot %s: %s", what, strerror(err));
	return false;
}

/*
 * Root becomes nobody. In a user namespace that has no nobody, its root, which is nobody special outside, stays and only loses
 * its capabilities.
 */
static bool leave_root(void)
{
	if (geteuid())
		return true;
	if (setresgid(NOBODY, NOBODY, NOBODY))
		return errno == EINVAL ? true : cannot("become another group", errno);
	if (setgroups(0, NULL) && errno != EPERM) /* EPERM: the namespace does not let groups be changed */
		return cannot("leave the groups", errno);
	if (setresuid(NOBODY, NOBODY, NOBODY) && errno != EINVAL)
		return cannot("become another user", errno);
	return true;
}

bool sandbox_privileges(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { { 0 } };

	for (int cap = 0; !prctl(PR_CAPBSET_DROP, cap, 0, 0, 0); cap++)
		;
	if (!leave_root())
		return false;
	if (syscall(SYS_capset, &header, none))
		return cannot("give up capabilities", errno);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return cannot("give up new privileges", errno);
	return true;
}

/* Whatever their arguments. */
static const int allowed[] = {
	/* The loop, its sockets and eventfds. */
	SCMP_SYS(ppoll), SCMP_SYS(poll), SCMP_SYS(accept4), SCMP_SYS(recvmsg), SCMP_SYS(recvfrom), SCMP_SYS(sendmsg),
	SCMP_SYS(sendto), SCMP_SYS(write), SCMP_SYS(close), SCMP_SYS(fstat), SCMP_SYS(newfstatat), SCMP_SYS(fstatfs),
	SCMP_SYS(clock_gettime), SCMP_SYS(restart_syscall),
	/* Memory: of guests, of doorbell pages, of malloc(). */
	SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise), SCMP_SYS(brk), SCMP_SYS(memfd_create), SCMP_SYS(ftruncate),
	/* Threads, and their end. */
	SCMP_SYS(futex), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn), SCMP_SYS(sched_yield), SCMP_SYS(getpid),
	SCMP_SYS(gettid), SCMP_SYS(exit), SCMP_SYS(exit_group),
	SCMP_SYS(sigaltstack), /* of sanitizers */
};

static int add_allowed(scmp_filter_ctx f)
{
	int err = 0;

	for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]) && !err; i++)
		err = seccomp_rule_add(f, SCMP_ACT_ALLOW, allowed[i], 0);
	return err;
}

/* Those that are let through with some arguments only. */
static int add_conditional(scmp_filter_ctx f)
{
	static const int fcntls[] = { F_GETFL, F_SETFL, F_GET_SEALS, F_ADD_SEALS };
	const struct scmp_arg_cmp no_code = SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0), us = SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid(), 0);
	int err = 0;

	for (size_t i = 0; i < sizeof(fcntls) / sizeof(fcntls[0]) && !err; i++)
		err = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 1, SCMP_A1(SCMP_CMP_EQ, (scmp_datum_t)fcntls[i], 0));
	if (!err)
		err = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1, no_code);
	if (!err)
		err = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1, no_code);
	/* Copies of memory that may go away; of no other process. */
	if (!err)
		err = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(process_vm_readv), 1, us);
	if (!err)
		err = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(process_vm_writev), 1, us);
	return err;
}

bool sandbox_filter(void)
{
	scmp_filter_ctx f = seccomp_init(SCMP_ACT_KILL_PROCESS);
	int err = f ? 0 : -ENOMEM;

	mallopt(M_ARENA_MAX, 1); /* for more of them glibc reads files in /sys, and in /proc before it gives memory of one back */
	if (!err)
		err = seccomp_attr_set(f, SCMP_FLTATR_CTL_TSYNC, 1);
	if (!err)
		err = add_allowed(f);
	if (!err)
		err = add_conditional(f);
	if (!err)
		err = seccomp_load(f);
	seccomp_release(f);
	return err ? cannot("load the filter of system calls (seccomp)", -err) : true;
}
