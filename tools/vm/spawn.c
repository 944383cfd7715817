/* SPDX-License-Identifier: BSD-2-Clause */
/* Processes that do not outlive us, and one that does for a moment: the janitor, which removes what we could not. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "../devx.h"
#include "machine.h"

#define FIRST_FD 3

static void child(const struct spawn *s, pid_t parent)
{
	sigset_t none;
	int high[8], null;

	prctl(PR_SET_PDEATHSIG, s->death);
	if (getppid() != parent)
		_exit(1);
	setpgid(0, 0); /* the terminal's Ctrl-C is for us alone */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	null = open("/dev/null", O_RDWR);
	for (unsigned int i = 0; i < s->n_fds; i++)
		high[i] = fcntl(s->fds[i], F_DUPFD_CLOEXEC, 100);
	dup2(null, STDIN_FILENO);
	dup2(s->out >= 0 ? s->out : null, STDOUT_FILENO);
	dup2(STDOUT_FILENO, STDERR_FILENO);
	for (unsigned int i = 0; i < s->n_fds; i++)
		dup2(high[i], FIRST_FD + (int)i);
	if (s->env[0])
		setenv(s->env[0], s->env[1], 1);
	if (!s->cwd || !chdir(s->cwd))
		execvp(s->argv[0], s->argv);
	fprintf(stderr, "%s: %s\n", s->argv[0], strerror(errno));
	_exit(127);
}

pid_t spawn(const struct spawn *s)
{
	pid_t parent = getpid(), pid = fork();

	if (!pid)
		child(s, parent);
	return pid;
}

static int control_path(const struct vm_options *o, unsigned int i, char path[VM_PATH])
{
	return vm_join(path, o->devices == 1 ? "%s" : "%s.%u", o->control, i);
}

/* Somebody listens there: it is not the socket of a server that we are still to start. */
static bool in_use(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), r = -1;

	if (fd >= 0 && strlen(path) < sizeof(a.sun_path)) {
		memcpy(a.sun_path, path, strlen(path) + 1);
		r = connect(fd, (const struct sockaddr *)&a, sizeof(a));
	}
	r = !r || (errno != ECONNREFUSED && errno != ENOENT);
	if (fd >= 0)
		close(fd);
	return r;
}

/* A process that waits for our end, whatever that is, and removes the temporary folder. */
int spawn_janitor(struct machine *m)
{
	const char *base = getenv("TMPDIR");
	char path[VM_PATH];
	bool theirs[VM_MANY] = { false };
	struct stat st;
	int p[2];
	char c;

	for (unsigned int i = 0; m->o->control && i < m->o->devices; i++)
		theirs[i] = control_path(m->o, i, path) || in_use(path);
	/* A socket's path has at most 107 bytes. */
	snprintf(m->dir, sizeof(m->dir), "%s/devx-vm.XXXXXX", base && base[0] == '/' && strlen(base) < 40 ? base : "/tmp");
	if (pipe2(p, O_CLOEXEC) || !mkdtemp(m->dir)) {
		m->dir[0] = 0;
		return machine_fail(m, "cannot make a temporary folder: %s", strerror(errno));
	}
	m->janitor = fork();
	if (m->janitor < 0)
		return machine_fail(m, "cannot fork: %s", strerror(errno));
	if (!m->janitor) {
		setsid();
		if (dup2(p[0], 0) >= 0) {
			closefrom(1);
			while (read(0, &c, 1) < 0 && errno == EINTR)
				;
		}
		vm_remove_tree(m->dir);
		for (unsigned int i = 0; m->o->control && i < m->o->devices; i++) { /* of a server that could not */
			if (!theirs[i] && !control_path(m->o, i, path) && !lstat(path, &st) && S_ISSOCK(st.st_mode))
				unlink(path);
		}
		_exit(0);
	}
	close(p[0]);
	m->janitor_pipe = p[1];
	return 0;
}

int spawn_wait(struct machine *m, const char *const sockets[], unsigned int n)
{
	struct timespec begin;
	struct stat st;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (unsigned int i = 0; i < n;) {
		if (!stat(sockets[i], &st) && S_ISSOCK(st.st_mode)) {
			i++;
			continue;
		}
		if (vm_ms_since(&begin) > 10000)
			return machine_fail(m, m->o->n_connects ? "there is no socket %s, and none came within 10 seconds"
							       : "the device's server made no socket %s within 10 seconds", sockets[i]);
		if (machine_pump(m, 10))
			return -1;
	}
	return 0;
}

/* In new memory, as it is from wherever we are; a program without a slash is looked for in PATH. */
static char *absolute(const char *path, bool program)
{
	char cwd[VM_PATH], *text = NULL;

	if (path[0] == '/' || (program && !strchr(path, '/')))
		return strdup(path);
	if (!getcwd(cwd, sizeof(cwd)) || asprintf(&text, "%s/%s", cwd, path) < 0)
		return NULL;
	return text;
}

/* In its folder, so that the sockets' names, from which the devices have their GUIDs, are the same each time. */
int spawn_server(struct machine *m, unsigned int n)
{
	const struct vm_options *o = m->o;
	char count[16], *argv[16 + 2 * VM_MANY], *program = absolute(o->server ? o->server : "/proc/self/exe", true);
	char *control = absolute(o->control ? o->control : m->dir, false);
	struct spawn s = { .argv = argv, .death = SIGTERM, .cwd = m->dir };
	unsigned int a = 0;
	int p[2];

	snprintf(count, sizeof(count), "%u", n);
	argv[a++] = program;
	argv[a++] = (char *)"serve";
	argv[a++] = (char *)"--socket";
	argv[a++] = (char *)"device";
	argv[a++] = (char *)"--count";
	argv[a++] = count;
	argv[a++] = (char *)"--control"; /* for the guest, if for nobody else */
	argv[a++] = o->control ? control : (char *)"control";
	if (o->spec) {
		argv[a++] = (char *)"--spec";
		argv[a++] = (char *)o->spec;
	}
	for (unsigned int i = 0; i < o->n_faults; i++) {
		argv[a++] = (char *)"--fault";
		argv[a++] = (char *)o->faults[i];
	}
	argv[a] = NULL;
	if (program && control && !pipe2(p, O_CLOEXEC)) {
		s.out = p[1];
		m->server = spawn(&s);
		m->server_out = p[0];
		fcntl(p[0], F_SETFL, O_NONBLOCK);
		close(p[1]);
	}
	free(program);
	free(control);
	if (m->server <= 0)
		return machine_fail(m, "cannot start the device's server: %s", strerror(errno));
	return 0;
}
