/* SPDX-License-Identifier: BSD-2-Clause */
/* devx vm: boots a machine with software ConnectX devices, and runs a command in it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../devx.h"
#include "machine.h"

#define TRIAL_MS 6000 /* KVM that works needs one second to boot */

struct plan {
	struct vm_qemu qemu;
	struct vm_kernel kernel;
	char cache[VM_PATH], elf[VM_PATH], initrd[VM_PATH], snapshot[VM_PATH];
	char socket_text[VM_MANY][108];
	const char *sockets[VM_MANY];
};

static long left(const struct machine *m)
{
	long ms = (long)m->o->boot_timeout * 1000 - vm_ms_since(&m->boot);

	return ms > 0 ? ms : 0;
}

/* Another try may follow: what the last one said of itself is kept in the logs only. */
static void again(struct machine *m, const char *why)
{
	machine_note(m, "%s: %s", why, m->failed);
	machine_end(m);
	m->failed[0] = 0;
	clock_gettime(CLOCK_MONOTONIC, &m->boot);
}

/* Our server is gone: that says nothing of the accelerator or the snapshot, and another boot would have no devices either. */
static bool no_server(const struct machine *m)
{
	return m->o->devices && !m->o->n_connects && m->server <= 0;
}

/* From the snapshot, if there is one. 1: there is none that can be used. */
static int resume(struct machine *m, const struct plan *p)
{
	if (!p->snapshot[0] || access(p->snapshot, R_OK))
		return 1;
	if (!machine_start(m, &p->qemu, p->elf, p->initrd, p->snapshot, &p->kernel) && !snapshot_load(m, p->snapshot)) {
		machine_note(m, "the snapshot is read");
		return 0;
	}
	if (m->signal || no_server(m))
		return -1;
	unlink(p->snapshot);
	again(m, "the snapshot is of no use");
	return 1;
}

static int boot(struct machine *m, const struct plan *p, long ms)
{
	if (machine_start(m, &p->qemu, p->elf, p->initrd, NULL, &p->kernel))
		return -1;
	if (machine_until(m, &m->hello, ms, "the guest's init"))
		return -1;
	machine_note(m, "the guest's init is there");
	return 0;
}

/* A guest that waits for its job. */
static int get_guest(struct machine *m, struct plan *p)
{
	bool trial;
	int err;

	m->accel = accel_choose(m->o, p->cache, &trial);
	if (trial) {
		err = boot(m, p, left(m) < TRIAL_MS ? left(m) : TRIAL_MS);
		if (m->signal || no_server(m))
			return -1;
		accel_remember(p->cache, !err);
		if (!err)
			return 0;
		again(m, "KVM does not work here, TCG is taken until the host boots again");
		m->accel = VM_TCG;
	}
	/* The state under KVM depends on the host's processor, and booting is fast there. */
	if (!m->o->snapshot || m->accel == VM_KVM ||
	    snapshot_path(m, p->cache, &p->qemu, p->elf, p->initrd, p->snapshot))
		p->snapshot[0] = 0;
	err = resume(m, p);
	if (err <= 0)
		return err;
	if (boot(m, p, left(m)))
		return -1;
	if (!p->snapshot[0])
		return 0;
	if (snapshot_save(m, p->snapshot))
		return -1;
	vm_prune(p->cache, "snapshot-", 6);
	machine_note(m, m->unsaved ? "the snapshot could not be saved" : "a snapshot is saved for the next time");
	return 0;
}

static int run(struct machine *m, struct plan *p)
{
	const struct vm_options *o = m->o;

	clock_gettime(CLOCK_MONOTONIC, &m->boot);
	if (o->devices && !o->n_connects && spawn_server(m, o->devices))
		return -1;
	if (get_guest(m, p) || spawn_wait(m, p->sockets, o->devices) || machine_plug(m, p->sockets, o->devices))
		return -1;
	machine_note(m, "%u device%s plugged", o->devices, o->devices == 1 ? "" : "s");
	if (machine_job(m))
		return -1;
	if (qmp_call(m, "cont", NULL, NULL)) /* of a snapshot; who runs already goes on */
		return -1;
	m->stopping = false;
	if (machine_until(m, &m->up, left(m), o->devices ? "the verbs device" : "the guest's root"))
		return -1;
	machine_note(m, "the command starts");
	relay_start(m);
	while (!relay_done(m))
		if (machine_pump(m, -1))
			return -1;
	relay_stop(m);
	machine_note(m, "the command has ended");
	return 0;
}

static int plan(struct plan *p, const struct vm_options *o, const char *temp)
{
	char dir[VM_PATH];

	if (vm_folder(o, dir) || vm_join(p->cache, "%s/cache", dir) || vm_make_path(p->cache) || vm_find_qemu(o, dir, &p->qemu) ||
	    vm_find_kernel(o, dir, &p->kernel))
		return -1;
	return vm_prepare(&p->kernel, p->cache, temp, p->elf, p->initrd);
}

static int checked(const struct vm_options *o)
{
	struct stat st;

	if (o->root && (stat(o->root, &st) || !S_ISDIR(st.st_mode))) {
		devx_error("vm: --root %s is no folder", o->root);
		return -1;
	}
	for (unsigned int i = 0; i < o->n_shares; i++)
		if (stat(o->shares[i], &st) || !S_ISDIR(st.st_mode)) {
			devx_error("vm: --share %s is no folder", o->shares[i]);
			return -1;
		}
	return 0;
}

static void name_sockets(struct plan *p, const struct machine *m)
{
	const struct vm_options *o = m->o;

	for (unsigned int i = 0; i < o->devices; i++) {
		if (o->devices == 1)
			snprintf(p->socket_text[i], sizeof(p->socket_text[i]), "%s/device", m->dir);
		else
			snprintf(p->socket_text[i], sizeof(p->socket_text[i]), "%s/device.%u", m->dir, i);
		p->sockets[i] = o->n_connects ? o->connects[i] : p->socket_text[i];
	}
}

/* As if we had not caught it. */
static void end_by(int sig)
{
	sigset_t set;

	signal(sig, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, sig);
	raise(sig);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

/* A terminal of which we are in the background, as under timeout(1): to change it or to read from it would stop us for good. */
static void no_terminal(void)
{
	pid_t front = tcgetpgrp(STDIN_FILENO);
	int null;

	if (front <= 0 || front == getpgrp())
		return;
	null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (null >= 0 && dup2(null, STDIN_FILENO) == STDIN_FILENO)
		close(null);
}

static int vm_in(struct machine *m, struct plan *p)
{
	const struct vm_options *o = m->o;
	int code = VM_MACHINE, err;

	no_terminal();
	m->relay.tty = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	m->log = o->log ? fopen(o->log, "we") : NULL;
	if (o->log && !m->log) {
		devx_error("vm: cannot write %s: %s", o->log, strerror(errno));
		return code;
	}
	err = spawn_janitor(m);
	if (!err && plan(p, o, m->dir))
		return code;
	name_sockets(p, m);
	if (!err)
		err = run(m, p);
	machine_end(m);
	if (err && !m->signal)
		machine_report(m);
	if (m->refused)
		code = DEVX_USAGE;
	else if (!err)
		code = WIFEXITED(m->status) ? WEXITSTATUS(m->status) : 128 + WTERMSIG(m->status);
	return code;
}

int vm_main(const struct vm_options *o)
{
	struct plan *p = calloc(1, sizeof(*p));
	struct machine *m = calloc(1, sizeof(*m));
	int code = VM_MACHINE;

	if (p && m && !checked(o)) {
		machine_init(m, o);
		code = vm_in(m, p);
		machine_close(m);
		if (m->signal)
			end_by(m->signal);
	}
	if (p)
		vm_qemu_free(&p->qemu);
	free(p);
	free(m);
	return code;
}

int devx_vm(int argc, char **argv)
{
	struct vm_options o;
	int code;

	if (vm_parse(&o, argc, argv, &code))
		return code;
	return o.bootstrap ? vm_bootstrap(&o) : vm_main(&o);
}
