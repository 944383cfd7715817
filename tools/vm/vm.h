/* SPDX-License-Identifier: BSD-2-Clause */
/* devx vm: what its parts share. */
#ifndef VM_H
#define VM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* Exit codes besides the command's own, as env(1) has them; docs/vm.md lists them. */
enum { VM_MACHINE = 125, VM_CANNOT_RUN = 126, VM_NOT_FOUND = 127 };

enum vm_accel { VM_AUTO, VM_TCG, VM_KVM };

#define VM_PATH 4096
#define VM_MANY 16 /* devices, fault rules, shares */

struct vm_options {
	unsigned int devices, cpus, memory_mb, boot_timeout;
	const char *spec, *root, *kernel, *control, *log, *dir, *qemu, *server;
	const char *faults[VM_MANY], *connects[VM_MANY], *shares[VM_MANY];
	unsigned int n_faults, n_connects, n_shares;
	bool snapshot, verbose, bootstrap, rdma_core;
	enum vm_accel accel;
	char **command;
};

/* Sets every option. 0, or the exit code: usage, or help was shown. */
int vm_parse(struct vm_options *o, int argc, char **argv, int *code);

int vm_main(const struct vm_options *o);
int vm_bootstrap(const struct vm_options *o);

/* paths.c: the private folder, what is in it, and what lies beside this program. 0, or -1 with the reason on stderr. */
int vm_folder(const struct vm_options *o, char dir[VM_PATH]);
int vm_make_path(const char *path);
int vm_find_init(char path[VM_PATH]);
int vm_remove_tree(const char *path);
int vm_join(char path[VM_PATH], const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Keeps the `keep` files that were used last of those with this prefix. */
void vm_prune(const char *dir, const char *prefix, unsigned int keep);

/* A number for what something was made of. */
uint64_t vm_hash(uint64_t h, const void *data, size_t len);
uint64_t vm_hash_text(uint64_t h, const char *s);
uint64_t vm_hash_file(uint64_t h, const char *path); /* path, size, times: not the contents */
#define VM_HASH_START 0xcbf29ce484222325ull

long vm_ms_since(const struct timespec *then);

/* files.c: whole files, and what is compressed in them. NULL with errno. */
void *vm_read_file(const char *path, size_t *len);
int vm_write_file(const char *path, const void *data, size_t len); /* complete or not at all */
/* What is at p, unpacked if it is compressed (xz, zstd, gzip, ...), in new memory. */
void *vm_unpack(const void *p, size_t n, size_t *len);

/* kernel.c */
struct vm_kernel {
	char version[128];
	char image[VM_PATH];
	char modules[VM_PATH]; /* the folder with its `kernel` folder */
};

int vm_find_kernel(const struct vm_options *o, const char *dir, struct vm_kernel *k);
/* Every kernel unpacked below prefix that is newer than *k and wanted (NULL: any) replaces it. */
void vm_kernel_in(const char *prefix, const char *wanted, struct vm_kernel *k);
/* The uncompressed kernel out of an image. NULL with errno. */
void *vm_kernel_elf(const void *image, size_t size, size_t *len);
/* Makes, or finds, the uncompressed kernel and the initramfs of it in the cache folder. */
int vm_prepare(const struct vm_kernel *k, const char *cache, const char *temp, char elf[VM_PATH], char initrd[VM_PATH]);

/* modules.c */
struct vm_module {
	char *name, *path; /* no path: the kernel has it inside */
	void *data;        /* unpacked, once it is needed */
	size_t len;
};

struct vm_modules {
	struct vm_module *all; /* every module of the tree, by name */
	size_t n;
	struct vm_module *order[512]; /* those needed, each after what it depends on */
	unsigned int n_order;
};

/* The values of one key in a module's .modinfo section: calls f for each. -1 if it is no module. */
int vm_modinfo(const void *ko, size_t len, const char *key, int (*f)(void *arg, const char *value), void *arg);
int vm_modules_scan(struct vm_modules *set, const char *tree);
/* Puts what `name` needs and itself into the order. -1: the reason is on stderr. */
int vm_modules_need(struct vm_modules *set, const char *name);
struct vm_module *vm_modules_find(struct vm_modules *set, const char *name);
void vm_modules_free(struct vm_modules *set);

/* qemu.c */
struct vm_qemu {
	char program[VM_PATH]; /* the binary itself, for the snapshot's key */
	char *argv[16];        /* how it is started: a loader and its options may come before */
	char modules[VM_PATH]; /* QEMU_MODULE_DIR, or "" */
	unsigned int n;
};

int vm_find_qemu(const struct vm_options *o, const char *dir, struct vm_qemu *q);
void vm_qemu_free(struct vm_qemu *q);
/* A version such as "QEMU emulator version 10.0.8 (Debian ...)"; false if there is none. */
bool vm_qemu_version(const char *text, unsigned int *major, unsigned int *minor);
/* The private folder's QEMU below root. */
int vm_private_qemu(const char *root, struct vm_qemu *q);

#endif
