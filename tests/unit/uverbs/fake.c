/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel.h"

#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

struct fake fake;
struct fake_fd fake_fds[FDS];
struct fake_handle fake_handles[HANDLES];
struct frame *fake_current;
bool fake_inside;

static uint8_t verb_answer[256]; /* of a write() */
static size_t verb_answer_len;
static int n_files;

/* --- the wrapped functions --- */

int __real_fstat64(int fd, struct stat64 *st);
ssize_t __real_readlink(const char *path, char *buf, size_t len);
ssize_t __real_read(int fd, void *p, size_t n);
void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
int __real_mprotect(void *at, size_t len, int prot);
int __real_fcntl64(int fd, int cmd, ...);
void *__real_mmap64(void *at, size_t len, int prot, int flags, int fd, off_t offset);
int __real_munmap(void *at, size_t len);
int __wrap_uverbs_syscall(int fd, void *frame);
int __wrap_open64(const char *path, int flags, ...);
int __wrap_fstat64(int fd, struct stat64 *st);
ssize_t __wrap_readlink(const char *path, char *buf, size_t len);
int __wrap_close(int fd);
ssize_t __wrap_read(int fd, void *p, size_t n);
ssize_t __wrap_write(int fd, const void *p, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
int __wrap_mprotect(void *at, size_t len, int prot);
int __wrap_fcntl64(int fd, int cmd, ...);
void *__wrap_mmap64(void *at, size_t len, int prot, int flags, int fd, off_t offset);
int __wrap_munmap(void *at, size_t len);

/* The call that fails this time? */
static bool fails(int err)
{
	if (fake_inside || !fake.fail_at || ++fake.calls != fake.fail_at)
		return false;
	fake.failed = true;
	errno = err;
	return true;
}

void *__wrap_malloc(size_t n)
{
	fake.allocations += !fake_inside;
	return fails(ENOMEM) ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
	fake.allocations += !fake_inside;
	return fails(ENOMEM) ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
	fake.allocations += !fake_inside;
	return fails(ENOMEM) ? NULL : __real_realloc(p, n);
}

int __wrap_mprotect(void *at, size_t len, int prot)
{
	return fails(ENOMEM) ? -1 : __real_mprotect(at, len, prot);
}

static struct fake_fd *fd_of(int fd)
{
	return fd >= 0 && fd < FDS && fake_fds[fd].kind != FD_NONE ? &fake_fds[fd] : NULL;
}

static int new_fd(enum fd_kind kind, int node)
{
	int fd = eventfd(0, EFD_CLOEXEC);

	assert_in_range(fd, 0, FDS - 1);
	memset(&fake_fds[fd], 0, sizeof(fake_fds[fd]));
	fake_fds[fd].kind = kind;
	fake_fds[fd].node = node;
	fake.fds++;
	return fd;
}

int __wrap_open64(const char *path, int flags, ...)
{
	size_t n = strlen(fake_root);
	int fd;

	if (fails(EMFILE))
		return -1;
	if (strncmp(path, fake_root, n) || strncmp(path + n, "/dev/infiniband/", 16))
		return __real_open64(path, flags);
	assert_int_equal(flags & (O_ACCMODE | O_CLOEXEC), O_RDWR | O_CLOEXEC);
	if (fake.open_errno || access(path, F_OK)) {
		errno = fake.open_errno ? fake.open_errno : errno;
		return -1;
	}
	fd = new_fd(FD_NODE, ++n_files);
	assert_int_equal(sscanf(path + n, "/dev/infiniband/uverbs%u", &fake_fds[fd].minor), 1);
	fake_fds[fd].minor += 192;
	return fd;
}

/* Descriptors have names in /proc. */
ssize_t __wrap_readlink(const char *path, char *buf, size_t len)
{
	static const char *const names[] = { [FD_CMD] = "anon_inode:[devx_async_cmd]", [FD_EVENT] = "anon_inode:[devx_async_event]" };
	int fd;

	if (fails(ENOMEM))
		return -1;
	if (sscanf(path, "/proc/self/fd/%d", &fd) != 1 || !fd_of(fd) || !names[fake_fds[fd].kind])
		return __real_readlink(path, buf, len);
	return snprintf(buf, len, "%s", names[fake_fds[fd].kind]);
}

int __wrap_fstat64(int fd, struct stat64 *st)
{
	if (fails(ENOMEM))
		return -1;
	if (!fd_of(fd))
		return __real_fstat64(fd, st);
	memset(st, 0, sizeof(*st));
	st->st_mode = S_IFCHR | 0666;
	st->st_rdev = makedev(231, fake.wrong_node ? 7 : fake_fds[fd].minor);
	return 0;
}

int __wrap_close(int fd)
{
	struct fake_fd *f = fd_of(fd);
	bool last = true;

	if (f) {
		fake.fds--;
		for (int i = 0; i < FDS; i++)
			if (i != fd && fake_fds[i].kind == FD_NODE && fake_fds[i].node == f->node)
				last = false;
		for (unsigned int i = 0; i < HANDLES; i++) {
			if (f->kind != FD_NODE || !last || !fake_handles[i].object || fake_handles[i].node != f->node)
				continue;
			fake_handles[i].object = 0; /* the kernel cleans up */
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
	if (f->read_err) {
		errno = f->read_err;
		f->read_err = 0;
		return -1;
	}
	if (!f->n_records)
		return errno = EAGAIN, -1;
	if (n < f->records[0].len)
		return errno = f->kind == FD_CMD ? ENOSPC : EINVAL, -1;
	n = f->records[0].len;
	memcpy(p, f->records[0].bytes, n);
	memmove(f->records, f->records + 1, --f->n_records * sizeof(f->records[0]));
	if (!f->n_records)
		assert_int_equal(__real_read(fd, &count, sizeof(count)), sizeof(count));
	return (ssize_t)n;
}

/* A duplicate is the same file. */
int __wrap_fcntl64(int fd, int cmd, ...)
{
	va_list ap;
	long arg;
	int copy;

	va_start(ap, cmd);
	arg = va_arg(ap, long);
	va_end(ap);
	if (!fd_of(fd) || fake_fds[fd].kind != FD_NODE)
		return __real_fcntl64(fd, cmd, arg);
	assert_int_equal(cmd, F_DUPFD_CLOEXEC);
	if (fails(EMFILE))
		return -1;
	copy = new_fd(FD_NODE, fake_fds[fd].node);
	fake_fds[copy].context = fake_fds[fd].context;
	fake_fds[copy].minor = fake_fds[fd].minor;
	return copy;
}

/* A page of registers: memory that may be written. */
void *__wrap_mmap64(void *at, size_t len, int prot, int flags, int fd, off_t offset)
{
	if (!fd_of(fd))
		return __real_mmap64(at, len, prot, flags, fd, offset);
	if (fails(ENOMEM))
		return MAP_FAILED;
	assert_int_equal(prot, PROT_WRITE);
	assert_int_equal(flags, MAP_SHARED);
	assert_int_equal(fake_fds[fd].kind, FD_NODE);
	fake.maps++;
	fake.map_offset = (uint64_t)offset;
	return __real_mmap64(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

int __wrap_munmap(void *at, size_t len)
{
	fake.maps -= !fake_inside && fake.maps > 0;
	return __real_munmap(at, len);
}

/* --- contexts --- */

/* What the driver says of a request; response: 72 bytes. */
int fake_get_context(int fd, const uint8_t *req, size_t len, uint8_t *response)
{
	uint32_t flags = 0, comp_mask = 0, qps = 0x40000, dyn = 1024, length = 72;

	fake.contexts++;
	if (fake_fds[fd].context || (len != 8 && len < 16) || (fake.request_max && len > fake.request_max))
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
	fake_fds[fd].context = true;
	fake.request_flags = flags;
	fake.request_len = len;
	memset(response, 0, 72);
	memcpy(response, &qps, 4);
	memcpy(response + 4, &fake.bf_reg_size, 4);
	memcpy(response + 40, &length, 4);
	response[45] = (uint8_t)fake.supports;
	memcpy(response + 60, &fake.uars_per_page, 4);
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
	assert_in_range(n, 12, sizeof(fake.written));
	memset(fake.written, 0, sizeof(fake.written));
	memcpy(fake.written, p, n);
	memcpy(&opcode, cmd, 4);
	memcpy(&in_words, cmd + 4, 2);
	memcpy(&out_words, cmd + 6, 2);
	memcpy(&to, fake.written + 8, 8);
	if (in_words * 4u != n)
		return errno = EINVAL, -1;
	if (opcode && fake_fds[fd].context) {
		if (out_words * 4u < verb_answer_len)
			return errno = ENOSPC, -1;
		if (verb_answer_len)
			memcpy(to, verb_answer, verb_answer_len);
		return (ssize_t)n;
	}
	if (opcode)
		return errno = EINVAL, -1;
	if (out_words * 4u < 8 + sizeof(response))
		return errno = ENOSPC, -1;
	err = fake_get_context(fd, cmd + 16, n - 16, response);
	if (err)
		return errno = err, -1;
	async_fd = (uint32_t)new_fd(FD_EVENT, fake_fds[fd].node);
	memcpy(to, &async_fd, 4);
	memcpy(to + 4, &vectors, 4);
	memcpy(to + 8, response, sizeof(response));
	return (ssize_t)n;
}

/* --- frames --- */

struct attr *fake_attr_of(uint16_t id)
{
	for (unsigned int i = 0; i < fake_current->n; i++)
		if (fake_current->attrs[i].id == id)
			return &fake_current->attrs[i];
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
	struct attr *a = fake_attr_of(id);

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
		if (a->data >= HANDLES || !fake_handles[a->data].object || fake_handles[a->data].node != node)
			return ENOENT;
		return spec->kind == IDR_END && fake_handles[a->data].object != fake_current->object ? EINVAL : 0;
	case FD:
		assert_int_equal(a->len, 0);
		return !fd_of((int)a->data) || fake_fds[a->data].node != node ? EBADF : 0;
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

	for (unsigned int i = 0; i < fake_current->n; i++) {
		const struct attr *a = &fake_current->attrs[i];

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
		struct attr *a = fake_attr_of(spec->id);
		unsigned int i = 0;

		if (spec->kind == IDR_NEW) {
			while (fake_handles[i].object)
				i++;
			assert_in_range(i, 0, HANDLES - 1);
			fake_handles[i].object = m->object;
			fake_handles[i].node = node;
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
		struct attr *a = fake_attr_of(spec->id);

		if (spec->kind == idr) {
			fake_handles[a->data].object = 0;
			fake.handles--;
		} else if (spec->kind == made) {
			__wrap_close((int)a->data);
		}
	}
}

static void record_frame(void)
{
	memset(&fake.last, 0, sizeof(fake.last));
	fake.last.object = fake_current->object;
	fake.last.method = fake_current->method;
	fake.last.n = fake_current->n;
	for (unsigned int i = 0; i < fake_current->n; i++) {
		fake.last.attrs[i].id = fake_current->attrs[i].id;
		fake.last.attrs[i].len = fake_current->attrs[i].len;
		fake.last.attrs[i].flags = fake_current->attrs[i].flags;
		fake.last.attrs[i].data = fake_current->attrs[i].data;
	}
}

static int execute(int fd)
{
	const struct abi_method *m;
	int err;

	fake.ioctls++;
	if (fake.no_ioctl)
		return ENOTTY;
	assert_int_equal(fake_current->length, 24 + 16 * fake_current->n);
	assert_int_equal(fake_current->zero1, 0);
	assert_int_equal(fake_current->zero2, 0);
	assert_int_equal(fake_current->driver, 1);
	assert_in_range(fake_current->n, 0, FAKE_ATTRS);
	record_frame();
	for (m = abi_methods; m->name && (m->object != fake_current->object || m->method != fake_current->method); m++)
		;
	if (!m->name || fake_lacks(m))
		return EPROTONOSUPPORT;
	if (!fake_fds[fd].context && (m->object || m->method != 3))
		return EINVAL;
	if (fake.removed)
		return m->attrs[0].kind == IDR_END ? (take_back(m, NONE, IDR_END), 0) : EIO;
	err = check_frame(m, fake_fds[fd].node);
	if (!m->object && m->method == 3)
		fake.context_frame = fake.last;
	if (err)
		return err;
	make_new(m, fake_fds[fd].node);
	err = fake_method(m, fd);
	if (err)
		take_back(m, FD_NEW, IDR_NEW);
	else
		take_back(m, NONE, IDR_END);
	return err;
}

int __wrap_uverbs_syscall(int fd, void *frame)
{
	int err;

	if (fails(ENOMEM))
		return errno;
	if (!fd_of(fd) || fake_fds[fd].kind != FD_NODE)
		return __real_fcntl64(fd, F_GETFD) < 0 ? EBADF : ENOTTY;
	fake_current = frame;
	err = execute(fd);
	fake_current = NULL;
	return err;
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

void fake_record(int fd, const void *p, size_t len)
{
	struct fake_fd *f = fd_of(fd);
	const uint64_t one = 1;

	assert_non_null(f);
	assert_in_range(f->n_records, 0, WAITING - 1);
	assert_in_range(len, 1, FAKE_BYTES);
	memcpy(f->records[f->n_records].bytes, p, len);
	f->records[f->n_records].len = len;
	if (!f->n_records++)
		assert_int_equal(__real_write(fd, &one, sizeof(one)), sizeof(one));
}

void fake_read_error(int fd, int err)
{
	fd_of(fd)->read_err = err;
}

void fake_written_answer(const void *p, size_t len)
{
	assert_in_range(len, 0, sizeof(verb_answer));
	if (len)
		memcpy(verb_answer, p, len);
	verb_answer_len = len;
}

void fake_clear_answer(void)
{
	verb_answer_len = 0;
}
