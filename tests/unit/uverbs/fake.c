/* SPDX-License-Identifier: BSD-2-Clause */
#include "fake.h"

#include <ftw.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "abi.h"

#define FDS 256
#define HANDLES 256
#define WAITING 64

extern const char *uverbs_root; /* sysfs.c */

struct fake fake;

enum fd_kind { FD_NONE, FD_NODE, FD_CMD, FD_EVENT };

/* By descriptor. */
static struct fake_fd {
	enum fd_kind kind;
	int node;                      /* the descriptor of the context that made it */
	bool context;                  /* of a node: GET_CONTEXT was */
	unsigned int minor;            /* of a node */
	struct { uint64_t wr_id; size_t outlen; } waiting[WAITING];
	unsigned int n_waiting, n_records;
	struct { size_t len; uint8_t bytes[FAKE_BYTES]; } records[WAITING];
} fds[FDS];

static struct { int node; uint16_t object; } handles[HANDLES]; /* object 0: free */
static char root[] = "/tmp/opendevx-uverbs-XXXXXX";

/* --- the wrapped functions --- */

int __real_ioctl(int fd, unsigned long request, ...);
int __real_open64(const char *path, int flags, ...);
int __real_fstat64(int fd, struct stat64 *st);
int __real_close(int fd);
ssize_t __real_read(int fd, void *p, size_t n);
ssize_t __real_write(int fd, const void *p, size_t n);
void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
int __real_mprotect(void *at, size_t len, int prot);
int __wrap_ioctl(int fd, unsigned long request, ...);
int __wrap_open64(const char *path, int flags, ...);
int __wrap_fstat64(int fd, struct stat64 *st);
int __wrap_close(int fd);
ssize_t __wrap_read(int fd, void *p, size_t n);
ssize_t __wrap_write(int fd, const void *p, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
int __wrap_mprotect(void *at, size_t len, int prot);

static bool inside; /* the fake's own calls are no one's */

/* The call that fails this time? */
static bool fails(int err)
{
	if (inside || !fake.fail_at || ++fake.calls != fake.fail_at)
		return false;
	fake.failed = true;
	errno = err;
	return true;
}

void *__wrap_malloc(size_t n)
{
	fake.allocations += !inside;
	return fails(ENOMEM) ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
	fake.allocations += !inside;
	return fails(ENOMEM) ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
	fake.allocations += !inside;
	return fails(ENOMEM) ? NULL : __real_realloc(p, n);
}

int __wrap_mprotect(void *at, size_t len, int prot)
{
	return fails(ENOMEM) ? -1 : __real_mprotect(at, len, prot);
}

static struct fake_fd *fd_of(int fd)
{
	return fd >= 0 && fd < FDS && fds[fd].kind != FD_NONE ? &fds[fd] : NULL;
}

static int new_fd(enum fd_kind kind, int node)
{
	int fd = eventfd(0, EFD_CLOEXEC);

	assert_in_range(fd, 0, FDS - 1);
	memset(&fds[fd], 0, sizeof(fds[fd]));
	fds[fd].kind = kind;
	fds[fd].node = node;
	fake.fds++;
	return fd;
}

int __wrap_open64(const char *path, int flags, ...)
{
	size_t n = strlen(root);
	int fd;

	if (fails(EMFILE))
		return -1;
	if (strncmp(path, root, n) || strncmp(path + n, "/dev/infiniband/", 16))
		return __real_open64(path, flags);
	assert_int_equal(flags & (O_ACCMODE | O_CLOEXEC), O_RDWR | O_CLOEXEC);
	if (fake.open_errno || access(path, F_OK)) {
		errno = fake.open_errno ? fake.open_errno : errno;
		return -1;
	}
	fd = new_fd(FD_NODE, -1);
	assert_int_equal(sscanf(path + n, "/dev/infiniband/uverbs%u", &fds[fd].minor), 1);
	fds[fd].minor += 192;
	return fd;
}

int __wrap_fstat64(int fd, struct stat64 *st)
{
	if (fails(ENOMEM))
		return -1;
	if (!fd_of(fd))
		return __real_fstat64(fd, st);
	memset(st, 0, sizeof(*st));
	st->st_mode = S_IFCHR | 0666;
	st->st_rdev = makedev(231, fake.wrong_node ? 7 : fds[fd].minor);
	return 0;
}

int __wrap_close(int fd)
{
	struct fake_fd *f = fd_of(fd);

	if (f) {
		fake.fds--;
		for (unsigned int i = 0; i < HANDLES; i++) {
			if (f->kind != FD_NODE || !handles[i].object || handles[i].node != fd)
				continue;
			handles[i].object = 0; /* the kernel cleans up */
			fake.handles--;
		}
		f->kind = FD_NONE;
	}
	return __real_close(fd);
}

ssize_t __wrap_read(int fd, void *p, size_t n)
{
	struct fake_fd *f = fd_of(fd);
	uint64_t count;

	if (fails(EINTR))
		return -1;
	if (!f)
		return __real_read(fd, p, n);
	if (!f->n_records)
		return errno = EAGAIN, -1;
	if (n < f->records[0].len)
		return errno = ENOSPC, -1;
	n = f->records[0].len;
	memcpy(p, f->records[0].bytes, n);
	memmove(f->records, f->records + 1, --f->n_records * sizeof(f->records[0]));
	if (!f->n_records)
		assert_int_equal(__real_read(fd, &count, sizeof(count)), sizeof(count));
	return (ssize_t)n;
}

/* --- contexts --- */

/* What the driver says of a request; response: 72 bytes. */
static int get_context(int fd, const uint8_t *req, size_t len, uint8_t *response)
{
	uint32_t flags = 0, comp_mask = 0, qps = 0x40000, dyn = 1024, length = 72;

	fake.contexts++;
	if (fds[fd].context || (len != 8 && len < 16) || (fake.request_max && len > fake.request_max))
		return EINVAL;
	if (len >= 16) {
		memcpy(&flags, req + 8, 4);
		memcpy(&comp_mask, req + 12, 4);
	}
	if (flags & ~1u || comp_mask)
		return EOPNOTSUPP;
	for (size_t i = 17; i < 24 && i < len; i++)
		if (req[i])
			return EOPNOTSUPP;
	if (flags & 1 && fake.no_devx)
		return EINVAL;
	fds[fd].context = true;
	fake.request_flags = flags;
	fake.request_len = len;
	memset(response, 0, 72);
	memcpy(response, &qps, 4);
	memcpy(response + 40, &length, 4);
	memcpy(response + 64, &dyn, 4);
	return 0;
}

ssize_t __wrap_write(int fd, const void *p, size_t n)
{
	const uint8_t *cmd = p;
	uint8_t response[72], *to;
	uint16_t in_words, out_words;
	uint32_t opcode, async_fd, vectors = (uint32_t)fake.vectors;
	int err;

	if (fails(ENOMEM))
		return -1;
	if (!fd_of(fd))
		return __real_write(fd, p, n);
	fake.writes++;
	assert_in_range(n, 16, sizeof(fake.written));
	memcpy(fake.written, p, n);
	memcpy(&opcode, cmd, 4);
	memcpy(&in_words, cmd + 4, 2);
	memcpy(&out_words, cmd + 6, 2);
	memcpy(&to, cmd + 8, 8);
	if (opcode != 0 || in_words * 4u != n)
		return errno = EINVAL, -1;
	if (out_words * 4u < 8 + sizeof(response))
		return errno = ENOSPC, -1;
	err = get_context(fd, cmd + 16, n - 16, response);
	if (err)
		return errno = err, -1;
	async_fd = (uint32_t)new_fd(FD_EVENT, fd);
	memcpy(to, &async_fd, 4);
	memcpy(to + 4, &vectors, 4);
	memcpy(to + 8, response, sizeof(response));
	return (ssize_t)n;
}

/* --- frames --- */

struct attr { uint16_t id, len, flags, zero; uint64_t data; };
struct frame { uint16_t length, object, method, n; uint64_t zero1; uint32_t driver, zero2; struct attr attrs[]; };

static struct frame *current;

static struct attr *attr_of(uint16_t id)
{
	for (unsigned int i = 0; i < current->n; i++)
		if (current->attrs[i].id == id)
			return &current->attrs[i];
	return NULL;
}

const struct fake_attr *fake_attr(uint16_t id)
{
	for (unsigned int i = 0; i < fake.last.n; i++)
		if (fake.last.attrs[i].id == id)
			return &fake.last.attrs[i];
	fail_msg("no attribute %#x", id);
	return NULL;
}

void fake_output(uint16_t id, const void *p, size_t len)
{
	struct attr *a = attr_of(id);

	if (!a)
		return;
	memcpy((void *)(uintptr_t)a->data, p, len < a->len ? len : a->len);
	a->flags |= 2;
}

/* What the kernel would do with one attribute: 0 or an errno value. What it would misread fails the test. */
static int check_attr(const struct abi_attr *spec, const struct attr *a, struct fake_attr *seen, int node)
{
	assert_int_equal(a->zero, 0);
	assert_int_equal(a->flags, spec->mandatory ? 1 : a->flags & 1);
	switch (spec->kind) {
	case IN:
		if (a->len < spec->min || a->len > spec->max)
			return EINVAL;
		if (a->len <= 8) { /* inline, and what follows is clean */
			memcpy(seen->bytes, &a->data, a->len);
			assert_true(a->len == 8 || !(a->data >> 8 * a->len));
		} else {
			memcpy(seen->bytes, (void *)(uintptr_t)a->data, a->len < FAKE_BYTES ? a->len : FAKE_BYTES);
		}
		return 0;
	case OUT:
		return a->len < spec->min || a->len > spec->max ? EINVAL : 0;
	case CONSTANT:
		assert_int_equal(a->len, 8);
		return a->data < spec->min || a->data > spec->max ? EINVAL : 0;
	case FLAGS:
		assert_true(a->len == 4 || a->len == 8);
		return a->data & ~spec->max ? EINVAL : 0;
	case IDR:
	case IDR_END:
		assert_int_equal(a->len, 0);
		if (a->data >= HANDLES || !handles[a->data].object || handles[a->data].node != node)
			return ENOENT;
		return spec->kind == IDR_END && handles[a->data].object != current->object ? EINVAL : 0;
	case FD:
		assert_int_equal(a->len, 0);
		return !fd_of((int)a->data) || fds[a->data].node != node ? EBADF : 0;
	case RAW_FD:
	case IDR_NEW:
	case FD_NEW:
		assert_int_equal(a->len, 0);
		return 0;
	}
	return 0;
}

static int check_frame(const struct abi_method *m, int node)
{
	unsigned int known = 0, mandatory = 0;
	const struct abi_attr *spec;
	int err;

	for (unsigned int i = 0; i < current->n; i++) {
		const struct attr *a = &current->attrs[i];

		for (spec = m->attrs; spec->kind != NONE && spec->id != a->id; spec++)
			;
		if (spec->kind == NONE)
			fail_msg("%s has no attribute %#x", m->name, a->id);
		if (known & 1u << (spec - m->attrs))
			fail_msg("%s: attribute %#x comes twice", m->name, a->id);
		known |= 1u << (spec - m->attrs);
		err = check_attr(spec, a, &fake.last.attrs[i], node);
		if (err)
			return err;
	}
	for (spec = m->attrs; spec->kind != NONE; spec++)
		if (spec->mandatory)
			mandatory |= 1u << (spec - m->attrs);
	return (known & mandatory) == mandatory ? 0 : EINVAL;
}

/* New handles and descriptors are written before the handler runs, as the kernel does it. */
static void make_new(const struct abi_method *m, int node)
{
	for (const struct abi_attr *spec = m->attrs; spec->kind != NONE; spec++) {
		struct attr *a = attr_of(spec->id);
		unsigned int i = 0;

		if (spec->kind == IDR_NEW) {
			while (handles[i].object)
				i++;
			assert_in_range(i, 0, HANDLES - 1);
			handles[i].object = m->object;
			handles[i].node = node;
			fake.handles++;
			a->data = i;
		} else if (spec->kind == FD_NEW) {
			a->data = (uint64_t)new_fd(m->object == 0x1004 ? FD_CMD : FD_EVENT, node);
		}
	}
}

static void take_back(const struct abi_method *m, enum abi_kind made, enum abi_kind idr)
{
	for (const struct abi_attr *spec = m->attrs; spec->kind != NONE; spec++) {
		struct attr *a = attr_of(spec->id);

		if (spec->kind == idr) {
			handles[a->data].object = 0;
			fake.handles--;
		} else if (spec->kind == made) {
			__wrap_close((int)a->data);
		}
	}
}

/* --- what the methods do --- */

static int do_context(int fd)
{
	uint8_t response[72];
	struct attr *req = attr_of(0x1000), *arr = attr_of(2);
	int err;

	if (!req || !attr_of(0x1001))
		return EINVAL;
	fake.n_fds = arr ? arr->len / 4 : 0;
	err = get_context(fd, (void *)(uintptr_t)req->data, req->len, response);
	if (err)
		return err;
	fake_output(0, &fake.vectors, 4);
	fake_output(0x1001, response, sizeof(response));
	return 0;
}

static void answer_box(uint16_t id)
{
	struct attr *a = attr_of(id);

	memset((void *)(uintptr_t)a->data, 0, a->len);
	fake_output(id, fake.outbox, sizeof(fake.outbox));
}

static int do_async(void)
{
	struct fake_fd *f = &fds[attr_of(0x1002)->data];

	if (f->kind != FD_CMD)
		return EBADF;
	assert_in_range(f->n_waiting, 0, WAITING - 1);
	f->waiting[f->n_waiting].wr_id = attr_of(0x1003)->data;
	f->waiting[f->n_waiting++].outlen = attr_of(0x1004)->data;
	return 0;
}

static int run(const struct abi_method *m, int fd)
{
	uint32_t vec, eqn;
	int err = fake.err;

	fake.err = 0;
	if (err && !fake.outbox_anyway)
		return err;
	if (m->object == 0 && m->method == 3)
		return err ? err : do_context(fd);
	if (m->object == 0x1000 && m->method == 0x1000)
		answer_box(0x1001);
	if (m->object == 0x1000 && m->method == 0x1002 && !err) {
		vec = (uint32_t)attr_of(0x1000)->data;
		eqn = vec + 5;
		if (vec >= (uint32_t)fake.vectors)
			return EINVAL;
		fake_output(0x1001, &eqn, sizeof(eqn));
	}
	if (m->object == 0x1001 && (m->method == 0x1000 || m->method == 0x1002 || m->method == 0x1003))
		answer_box(0x1002);
	if (m->object == 0x1001 && m->method == 0x1004 && !err)
		err = do_async();
	if (!err && fake.hook)
		err = fake.hook(&fake.last);
	return err;
}

static void record_frame(void)
{
	memset(&fake.last, 0, sizeof(fake.last));
	fake.last.object = current->object;
	fake.last.method = current->method;
	fake.last.n = current->n;
	for (unsigned int i = 0; i < current->n; i++) {
		fake.last.attrs[i].id = current->attrs[i].id;
		fake.last.attrs[i].len = current->attrs[i].len;
		fake.last.attrs[i].flags = current->attrs[i].flags;
		fake.last.attrs[i].data = current->attrs[i].data;
	}
}

static int execute(int fd)
{
	const struct abi_method *m;
	int err;

	fake.ioctls++;
	if (fake.no_ioctl)
		return ENOTTY;
	assert_int_equal(current->length, 24 + 16 * current->n);
	assert_int_equal(current->zero1, 0);
	assert_int_equal(current->zero2, 0);
	assert_int_equal(current->driver, 1);
	assert_in_range(current->n, 0, FAKE_ATTRS);
	record_frame();
	for (m = abi_methods; m->name && (m->object != current->object || m->method != current->method); m++)
		;
	if (!m->name || (fake.no_async_event && m->object == 0x10))
		return EPROTONOSUPPORT;
	if (!fds[fd].context && (m->object || m->method != 3))
		return EINVAL;
	if (fake.removed)
		return m->attrs[0].kind == IDR_END ? (take_back(m, NONE, IDR_END), 0) : EIO;
	err = check_frame(m, fd);
	if (!m->object && m->method == 3)
		fake.context_frame = fake.last;
	if (err)
		return err;
	make_new(m, fd);
	err = run(m, fd);
	if (err)
		take_back(m, FD_NEW, IDR_NEW);
	else
		take_back(m, NONE, IDR_END);
	return err;
}

int __wrap_ioctl(int fd, unsigned long request, ...)
{
	va_list ap;
	int err;

	if (fails(ENOMEM))
		return -1;
	va_start(ap, request);
	current = va_arg(ap, struct frame *);
	va_end(ap);
	if (!fd_of(fd) || fds[fd].kind != FD_NODE)
		return __real_ioctl(fd, request, current);
	assert_int_equal(request, 0xc0181b01);
	err = execute(fd);
	current = NULL;
	if (!err)
		return 0;
	errno = err;
	return -1;
}

bool fake_answer(int fd, const void *outbox, size_t len)
{
	struct fake_fd *f = fd_of(fd);
	const uint64_t one = 1;
	uint8_t *rec;

	if (!f || !f->n_waiting)
		return false;
	rec = f->records[f->n_records].bytes;
	memset(rec, 0, FAKE_BYTES);
	memcpy(rec, &f->waiting[0].wr_id, 8);
	f->records[f->n_records].len = 8 + f->waiting[0].outlen;
	assert_in_range(f->records[f->n_records].len, 8, FAKE_BYTES);
	memcpy(rec + 8, outbox, len < f->waiting[0].outlen ? len : f->waiting[0].outlen);
	memmove(f->waiting, f->waiting + 1, --f->n_waiting * sizeof(f->waiting[0]));
	if (!f->n_records++)
		assert_int_equal(__real_write(fd, &one, sizeof(one)), sizeof(one));
	return true;
}

unsigned int fake_waiting(int fd)
{
	return fd_of(fd) ? fd_of(fd)->n_waiting : 0;
}

/* --- the tree --- */

static void make_parents(char *path)
{
	for (char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		mkdir(path, 0700);
		*p = '/';
	}
}

void fake_file(const char *name, const char *text)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s%s", root, name);
	if (!text) {
		assert_int_equal(unlink(path), 0);
		return;
	}
	make_parents(path);
	fd = __real_open64(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(__real_write(fd, text, strlen(text)), strlen(text));
	__real_close(fd);
}

void fake_device(unsigned int index, const char *ibdev, const char *driver, const char *guid)
{
	char name[256], text[64], path[PATH_MAX];

	snprintf(name, sizeof(name), "/sys/class/infiniband_verbs/uverbs%u/ibdev", index);
	snprintf(text, sizeof(text), "%s\n", ibdev);
	fake_file(name, text);
	snprintf(name, sizeof(name), "/sys/class/infiniband_verbs/uverbs%u/abi_version", index);
	fake_file(name, "1\n");
	snprintf(name, sizeof(name), "/sys/class/infiniband_verbs/uverbs%u/dev", index);
	snprintf(text, sizeof(text), "231:%u\n", 192 + index);
	fake_file(name, text);
	snprintf(name, sizeof(name), "/sys/class/infiniband/%s/node_guid", ibdev);
	snprintf(text, sizeof(text), "%s\n", guid);
	fake_file(name, text);
	snprintf(name, sizeof(name), "/sys/class/infiniband/%s/node_type", ibdev);
	fake_file(name, "1: CA\n");
	snprintf(name, sizeof(name), "/sys/class/infiniband/%s/device/modalias", ibdev);
	fake_file(name, "pci:v000015B3d0000101Dsv000015B3sd00000000bc02sc00i00\n");
	snprintf(path, sizeof(path), "%s/sys/class/infiniband/%s/device/driver", root, ibdev);
	snprintf(text, sizeof(text), "../../../bus/pci/drivers/%s", driver ? driver : "mlx5_core");
	assert_int_equal(symlink(text, path), 0);
	snprintf(name, sizeof(name), "/dev/infiniband/uverbs%u", index);
	fake_file(name, "");
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	return remove(path);
}

int fake_setup(void **state)
{
	inside = true;
	memset(&fake, 0, sizeof(fake));
	memset(handles, 0, sizeof(handles));
	fake.vectors = 8;
	memcpy(root + strlen(root) - 6, "XXXXXX", 6);
	if (!mkdtemp(root))
		return -1;
	uverbs_root = root;
	inside = false;
	return 0;
}

int fake_teardown(void **state)
{
	inside = true;
	nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	uverbs_root = "";
	inside = false;
	return fake.fds || fake.handles; /* a test that leaves something behind has failed */
}
