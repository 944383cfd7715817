/* SPDX-License-Identifier: BSD-2-Clause */
/* devx vm --bootstrap: QEMU, kernels and a root with rdma-core in a folder of their own. Debian's packages are found and checked
 * by apt-get with an empty world of its own, and unpacked: nothing is installed, no script of a package runs, and no root is
 * needed. What is there is not made again; what is made appears complete, or not at all. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../devx.h"
#include "sources.h"
#include "vm.h"

/* The first release of Debian whose QEMU has vfio-user-pci, and those before it, for their kernels. */
#define SUITE "forky"
static const char *const older_suites[] = { "trixie", "bookworm" };

static const char *const qemu_packages[] = { "qemu-system-x86", "kmod", NULL };
static const char *const root_packages[] = {
	"base-files", "base-passwd", "bash", "coreutils", "dash", "diffutils", "findutils", "grep", "gzip", "hostname", "libc-bin", "login",
	"mawk", "mount", "procps", "sed", "tar", "util-linux", "kmod", "iproute2", "rdma-core", "ibverbs-utils", "ibverbs-providers",
	"infiniband-diags", "libibverbs-dev", "python3", "python3-pyverbs", "python3-scapy", "strace", NULL };

struct boot {
	const struct vm_options *o;
	char dir[VM_PATH], temp[VM_PATH], log[VM_PATH];
	struct apt_source source;
	bool updated;
};

static volatile sig_atomic_t stopped, running;

static void stop(int sig)
{
	stopped = sig;
	if (running > 0)
		kill((pid_t)running, SIGTERM);
}

struct words {
	char *v[96];
	unsigned int n;
};

/* They live until the end of the program: a few kilobytes. */
static void word(struct words *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void word(struct words *w, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	if (w->n + 1 >= sizeof(w->v) / sizeof(w->v[0]) || vasprintf(&w->v[w->n], fmt, args) < 0)
		abort(); /* the lists above are as long as they are */
	w->v[++w->n] = NULL;
	va_end(args);
}

static void free_words(struct words *w)
{
	while (w->n)
		free(w->v[--w->n]);
}

static void show_log(const struct boot *b)
{
	size_t n;
	char *text = vm_read_file(b->log, &n), *p = text + n;
	int lines = 0;

	if (!text)
		return;
	while (p > text && (p[-1] != '\n' || lines++ < 12))
		p--;
	fputs(p, stderr);
	free(text);
}

/* Runs a program in a folder; what it says goes to the log, or its output to *out. */
static int run(const struct boot *b, const char *cwd, struct words *w, FILE **out)
{
	int status = -1, p[2] = { -1, -1 };
	pid_t pid;

	if (stopped || (out && pipe2(p, O_CLOEXEC)))
		return -1;
	pid = fork();
	if (!pid) {
		int log = open(b->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644), null = open("/dev/null", O_RDONLY | O_CLOEXEC);

		signal(SIGINT, SIG_DFL);
		signal(SIGTERM, SIG_DFL);
		dup2(null, STDIN_FILENO);
		dup2(out ? p[1] : log, STDOUT_FILENO);
		dup2(log, STDERR_FILENO);
		setenv("LC_ALL", "C", 1);
		if (!chdir(cwd))
			execvp(w->v[0], w->v);
		fprintf(stderr, "%s: %s\n", w->v[0], strerror(errno));
		_exit(127);
	}
	running = pid;
	if (out) {
		char buf[4096];
		ssize_t n;

		close(p[1]);
		while ((n = read(p[0], buf, sizeof(buf))) > 0 || (n < 0 && errno == EINTR && !stopped))
			if (n > 0)
				fwrite(buf, 1, (size_t)n, *out);
		close(p[0]);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	running = 0;
	if (pid > 0 && !status && !stopped)
		return 0;
	devx_error("vm: %s failed%s", w->v[0], stopped ? ", as it was stopped" : ":");
	if (!stopped)
		show_log(b);
	return -1;
}

/* apt-get or apt-cache in a world that has nothing installed. The host's proxies and certificates hold. */
static void apt(const struct boot *b, struct words *w, const char *program)
{
	static const char *const plain[] = { "APT::Architecture=amd64", "APT::Architectures=amd64", "Acquire::Languages=none",
					     "APT::Install-Recommends=false", "pkgCacheGen::Essential=none", "APT::Sandbox::User=",
					     "Debug::NoLocking=true", "Dir::Etc::sourceparts=/dev/null", "APT::Update::Post-Invoke=",
					     "Acquire::Retries=3", "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false" };

	w->n = 0;
	word(w, "%s", program);
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		word(w, "-o%s", plain[i]);
	word(w, "-oDir::State=%s/apt/state", b->temp);
	word(w, "-oDir::State::status=%s/apt/status", b->temp);
	word(w, "-oDir::Cache=%s/apt/cache", b->temp);
	word(w, "-oDir::Etc::sourcelist=%s/apt/sources.list", b->temp);
}

static int make_world(struct boot *b)
{
	static const char *const folders[] = { "apt/state/lists/partial", "apt/cache/archives/partial" };
	char path[VM_PATH], text[4096];
	size_t n = 0;

	for (size_t i = 0; i < 2; i++)
		if (vm_join(path, "%s/%s", b->temp, folders[i]) || vm_make_path(path))
			return -1;
	if (vm_join(path, "%s/apt/status", b->temp) || vm_write_file(path, "", 0))
		return -1;
	for (int i = -1; i < (b->o->kernel ? 2 : 0); i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "deb [arch=amd64%s%s] %s %s main\n",
				      b->source.keyring[0] ? " signed-by=" : "", b->source.keyring, b->source.uri,
				      i < 0 ? SUITE : older_suites[i]);
	return vm_join(path, "%s/apt/sources.list", b->temp) || vm_write_file(path, text, n) ? -1 : 0;
}

static int update(struct boot *b)
{
	struct words w = { .n = 0 };
	int err;

	if (b->updated)
		return 0;
	printf("reading the lists of %s\n", b->source.uri);
	fflush(stdout);
	if (make_world(b)) {
		devx_error("vm: cannot write in %s: %s", b->temp, strerror(errno));
		return -1;
	}
	apt(b, &w, "apt-get");
	word(&w, "update");
	err = run(b, b->temp, &w, NULL);
	free_words(&w);
	b->updated = !err;
	return err;
}

static unsigned long long sum;

static int add_size(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	sum += (unsigned long long)st->st_blocks * 512;
	return 0;
}

static unsigned int megabytes(const char *path)
{
	sum = 0;
	nftw(path, add_size, 32, FTW_PHYS);
	return (unsigned int)(sum >> 20);
}

static int is_deb(const struct dirent *e)
{
	size_t n = strlen(e->d_name);

	return n > 4 && !strcmp(e->d_name + n - 4, ".deb");
}

/* base-files has the links of /bin and /lib into /usr: first. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
	int x = !strncmp((*a)->d_name, "base-files_", 11), y = !strncmp((*b)->d_name, "base-files_", 11);

	return x != y ? y - x : strcmp((*a)->d_name, (*b)->d_name);
}

/* Unpacks every package in `from` to `to`, and removes it. */
static int unpack(const struct boot *b, const char *from, const char *to)
{
	struct dirent **list;
	struct words w = { .n = 0 };
	char path[VM_PATH];
	int n = scandir(from, &list, is_deb, by_name), err = n > 0 ? 0 : -1;
	unsigned int down = megabytes(from);

	if (n <= 0)
		devx_error("vm: nothing was downloaded to %s", from);
	if (!err)
		err = vm_make_path(to);
	for (int i = 0; i < n; i++) {
		if (!err && !(err = vm_join(path, "%s/%s", from, list[i]->d_name))) {
			word(&w, "dpkg-deb");
			word(&w, "-x");
			word(&w, "%s", path);
			word(&w, "%s", to);
			err = run(b, b->temp, &w, NULL);
			free_words(&w);
			unlink(path);
		}
		free(list[i]);
	}
	if (n >= 0)
		free(list);
	if (!err)
		printf("  %d packages, %u MB downloaded, %u MB unpacked\n", n, down, megabytes(to));
	return err;
}

/* Packages with all that they depend on. */
static int get_tree(struct boot *b, const char *const *packages, const char *to)
{
	struct words w = { .n = 0 };
	char from[VM_PATH];
	int err;

	if (update(b) || vm_join(from, "%s/apt/cache/archives", b->temp))
		return -1;
	apt(b, &w, "apt-get");
	word(&w, "--yes");
	word(&w, "--download-only");
	word(&w, "install");
	while (*packages)
		word(&w, "%s/" SUITE, *packages++);
	err = run(b, b->temp, &w, NULL);
	free_words(&w);
	return err ? -1 : unpack(b, from, to);
}

/* From the temporary folder to its place. */
static int put(const struct boot *b, const char *made, const char *place)
{
	if (!rename(made, place))
		return 0;
	devx_error("vm: cannot rename %s to %s: %s", made, place, strerror(errno));
	return -1;
}

static int get_qemu(struct boot *b)
{
	char place[VM_PATH], made[VM_PATH];
	struct vm_qemu q;
	struct words w = { .n = 0 };
	int err;

	if (vm_join(place, "%s/qemu", b->dir) || vm_join(made, "%s/qemu", b->temp))
		return -1;
	if (!access(place, F_OK)) {
		printf("QEMU is there: %s, %u MB\n", place, megabytes(place));
		return 0;
	}
	puts("QEMU:");
	if (get_tree(b, qemu_packages, made))
		return -1;
	err = vm_private_qemu(made, &q);
	for (unsigned int i = 0; !err && i < q.n; i++)
		word(&w, "%s", q.argv[i]);
	if (!err) {
		word(&w, "-device");
		word(&w, "vfio-user-pci,help");
		setenv("QEMU_MODULE_DIR", q.modules, 1);
		err = run(b, b->temp, &w, NULL);
		unsetenv("QEMU_MODULE_DIR");
	}
	free_words(&w);
	vm_qemu_free(&q);
	if (err)
		devx_error("vm: the QEMU of %s cannot be used", SUITE);
	return err ? -1 : put(b, made, place);
}

/* The names of packages that begin with this, one a line, in new memory. */
static char *names(const struct boot *b, const char *prefix)
{
	struct words w = { .n = 0 };
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);
	int err;

	if (!f)
		return NULL;
	apt(b, &w, "apt-cache");
	word(&w, "pkgnames");
	word(&w, "%s", prefix);
	err = run(b, b->temp, &w, &f);
	free_words(&w);
	if (fclose(f) || err) {
		free(text);
		return NULL;
	}
	return text;
}

/* The newest plain kernel that is wanted. The cloud flavours have no 9p, by which the guest sees the host's tree. */
static int newest_kernel(const char *list, const char *wanted, char version[128])
{
	size_t want = wanted ? strlen(wanted) : 0;

	version[0] = 0;
	for (const char *p = list; *p; p += strcspn(p, "\n") + (p[strcspn(p, "\n")] == '\n')) {
		int n = (int)strcspn(p, "\n"), skip = (int)strlen("linux-image-");
		char v[128];

		if (n - skip >= (int)sizeof(v) || n <= skip + 6 || strncmp(p + n - 6, "-amd64", 6) || p[skip] < '0' || p[skip] > '9')
			continue;
		snprintf(v, sizeof(v), "%.*s", n - skip, p + skip);
		if (strstr(v, "-cloud-") || strstr(v, "-rt-") || (want && strncmp(v, wanted, want)) ||
		    (want && v[want] >= '0' && v[want] <= '9'))
			continue;
		if (strverscmp(v, version) > 0)
			memcpy(version, v, sizeof(v));
	}
	return version[0] ? 0 : -1;
}

/* modules.dep for modprobe: by the private folder's kmod. */
static int index_modules(const struct boot *b, const char *kernel, const char *version)
{
	struct words w = { .n = 0 };
	struct vm_qemu q;
	char path[VM_PATH], root[VM_PATH];
	int err;

	if (vm_join(path, "%s/lib", kernel) || (symlink("usr/lib", path) && errno != EEXIST) || vm_join(root, "%s/qemu", b->dir) ||
	    vm_private_qemu(root, &q))
		return -1;
	word(&w, "%s", q.argv[0]); /* loader, --library-path, libraries */
	word(&w, "--argv0");
	word(&w, "depmod");
	word(&w, "%s", q.argv[1]);
	word(&w, "%s", q.argv[2]);
	word(&w, "%s/usr/bin/kmod", root);
	word(&w, "-b");
	word(&w, "%s", kernel);
	word(&w, "%s", version);
	err = run(b, b->temp, &w, NULL);
	free_words(&w);
	vm_qemu_free(&q);
	return err;
}

static int get_kernel(struct boot *b)
{
	char version[128], place[VM_PATH], made[VM_PATH], from[VM_PATH], name[160];
	char *list = update(b) ? NULL : names(b, "linux-");
	struct words w = { .n = 0 };
	int err = -1;

	if (!list || newest_kernel(list, b->o->kernel, version)) {
		if (list)
			devx_error("vm: the archive has no kernel %s", b->o->kernel ? b->o->kernel : "");
		goto out;
	}
	if (vm_join(place, "%s/kernel/%s", b->dir, version) || vm_join(made, "%s/%s", b->temp, version) ||
	    vm_join(from, "%s/debs", b->temp) || vm_make_path(from))
		goto out;
	if (!access(place, F_OK)) {
		printf("the kernel is there: %s, %u MB\n", place, megabytes(place));
		err = 0;
		goto out;
	}
	printf("kernel %s:\n", version);
	fflush(stdout);
	apt(b, &w, "apt-get");
	word(&w, "download");
	for (int i = 0; i < 3; i++) { /* newer ones are in several packages */
		snprintf(name, sizeof(name), i == 0 ? "linux-image-%s\n" : i == 1 ? "linux-binary-%s\n" : "linux-modules-%s\n", version);
		if (strstr(list, name))
			word(&w, "%.*s", (int)strlen(name) - 1, name);
	}
	err = run(b, from, &w, NULL) || unpack(b, from, made) || index_modules(b, made, version) ||
	      vm_join(from, "%s/kernel", b->dir) || vm_make_path(from) || put(b, made, place) ? -1 : 0;
out:
	free_words(&w);
	free(list);
	return err;
}

/* What the packages' scripts would have made, as far as a guest of ours needs it. */
static int finish_root(const char *root)
{
	static const char *const links[][2] = { { "usr/bin", "bin" },   { "usr/sbin", "sbin" },        { "usr/lib", "lib" },
						{ "usr/lib64", "lib64" }, { "dash", "usr/bin/sh" },      { "mawk", "usr/bin/awk" } };
	static const char *const copies[][2] = { { "usr/share/base-passwd/passwd.master", "etc/passwd" },
						 { "usr/share/base-passwd/group.master", "etc/group" } };
	static const char *const folders[] = { "proc", "sys", "dev", "run", "tmp", "root", "etc" };
	char path[VM_PATH], from[VM_PATH];

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if (vm_join(path, "%s/%s", root, folders[i]) || vm_make_path(path))
			return -1;
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		if (vm_join(path, "%s/%s", root, links[i][1]) || (symlink(links[i][0], path) && errno != EEXIST))
			return -1;
	for (size_t i = 0; i < sizeof(copies) / sizeof(copies[0]); i++) {
		size_t n;
		void *p;
		int err;

		if (vm_join(from, "%s/%s", root, copies[i][0]) || vm_join(path, "%s/%s", root, copies[i][1]))
			return -1;
		p = vm_read_file(from, &n);
		err = p ? vm_write_file(path, p, n) : -1;
		free(p);
		if (err) {
			devx_error("vm: cannot copy %s: %s", from, strerror(errno));
			return -1;
		}
	}
	return 0;
}

static int get_root(struct boot *b)
{
	char place[VM_PATH], made[VM_PATH];

	if (vm_join(place, "%s/root", b->dir) || vm_join(made, "%s/root", b->temp))
		return -1;
	if (!access(place, F_OK)) {
		printf("the root with rdma-core is there: %s, %u MB\n", place, megabytes(place));
		return 0;
	}
	puts("root with rdma-core:");
	fflush(stdout);
	return get_tree(b, root_packages, made) || finish_root(made) ? -1 : put(b, made, place);
}

/* What a run that was killed left behind. The lock says that nobody is at it. */
static void remove_old(const char *dir)
{
	char path[VM_PATH];
	DIR *d = opendir(dir);
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (!strncmp(e->d_name, ".new.", 5) && !vm_join(path, "%s/%s", dir, e->d_name))
			vm_remove_tree(path);
	if (d)
		closedir(d);
}

static int missing_programs(void)
{
	static const char *const programs[] = { "/usr/bin/apt-get", "/usr/bin/apt-cache", "/usr/bin/dpkg-deb" };

	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		if (access(programs[i], X_OK)) {
			devx_error("vm: --bootstrap needs %s, which is not there: it works on Debian", programs[i]);
			return -1;
		}
	return 0;
}

int vm_bootstrap(const struct vm_options *o)
{
	struct boot b = { .o = o };
	struct sigaction act = { .sa_handler = stop }, hup;
	char path[VM_PATH];
	int lock, err;

	if (missing_programs() || vm_folder(o, b.dir) || vm_make_path(b.dir) || vm_join(path, "%s/.lock", b.dir) ||
	    vm_join(b.log, "%s/bootstrap.log", b.dir) || vm_join(b.temp, "%s/.new.%d", b.dir, (int)getpid()))
		return DEVX_FAILED;
	lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (lock < 0 || flock(lock, LOCK_EX | LOCK_NB)) {
		devx_error("vm: %s: %s", path, errno == EWOULDBLOCK ? "another --bootstrap is at work there" : strerror(errno));
		return DEVX_FAILED;
	}
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	if (!sigaction(SIGHUP, NULL, &hup) && hup.sa_handler != SIG_IGN) /* nohup(1) */
		sigaction(SIGHUP, &act, NULL);
	signal(SIGCHLD, SIG_DFL);
	setvbuf(stdout, NULL, _IOLBF, 0);
	unlink(b.log);
	remove_old(b.dir);
	if (!sources_host(&b.source)) {
		devx_error("vm: apt has no source of Debian's main archive, where QEMU and the kernels come from");
		close(lock);
		return DEVX_FAILED;
	}
	err = vm_make_path(b.temp) || get_qemu(&b) || get_kernel(&b) || (o->rdma_core && get_root(&b));
	vm_remove_tree(b.temp);
	close(lock);
	if (!err)
		printf("%s: %u MB altogether\n", b.dir, megabytes(b.dir));
	return err ? DEVX_FAILED : DEVX_OK;
}
