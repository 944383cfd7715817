/* SPDX-License-Identifier: BSD-2-Clause */
/* devx vm: what reads foreign bytes. Frames and streams of the guest, modules, images, apt's sources, versions, options. */
#include <archive.h>
#include <archive_entry.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "devx.h"
#include "cpio.h"
#include "sources.h"
#include "vm.h"
#include "wire.h"

/* What the parts under test say; the last line is looked at. */
static char said[4096];

void devx_error(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(said, sizeof(said), fmt, args);
	va_end(args);
}

static void push(struct wire_in *in, const void *data, size_t n)
{
	size_t room;
	uint8_t *p = wire_space(in, &room);

	assert_true(n <= room);
	memcpy(p, data, n);
	wire_came(in, n);
}

static void frames_in_pieces(void **state)
{
	static struct wire_in in;
	struct wire_out out = { 0 };
	struct wire_frame f;
	static uint8_t big[WIRE_MAX];
	unsigned int got = 0;

	memset(&in, 0, sizeof(in));
	memset(big, 7, sizeof(big));
	wire_put(&out, WIRE_DATA, WIRE_STDOUT, "hello", 5);
	wire_put(&out, WIRE_EOF, WIRE_STDERR, NULL, 0);
	wire_put(&out, WIRE_DATA, WIRE_STDIN, big, sizeof(big));
	wire_put32(&out, WIRE_EXIT, 0, 0x01020304);
	for (size_t i = 0; i < out.to; i++) { /* byte by byte */
		push(&in, out.buf + i, 1);
		while (wire_next(&in, &f) == 1)
			switch (got++) {
			case 0:
				assert_int_equal(f.type, WIRE_DATA);
				assert_int_equal(f.stream, WIRE_STDOUT);
				assert_int_equal(f.len, 5);
				assert_memory_equal(f.data, "hello", 5);
				break;
			case 1:
				assert_int_equal(f.type, WIRE_EOF);
				assert_int_equal(f.len, 0);
				break;
			case 2:
				assert_int_equal(f.len, sizeof(big));
				assert_memory_equal(f.data, big, sizeof(big));
				break;
			default:
				assert_int_equal(f.type, WIRE_EXIT);
				assert_int_equal(wire_get32(f.data), 0x01020304);
			}
	}
	assert_int_equal(got, 4);
	assert_int_equal(wire_next(&in, &f), 0);
	free(out.buf);
}

static void no_frames(void **state)
{
	static const uint8_t bad[][WIRE_HEAD] = {
		{ 0, 0, 0, 0, 0, 0, 0, 0 },                    /* no type */
		{ WIRE_TYPES, 0, 0, 0, 0, 0, 0, 0 },           /* an unknown one */
		{ WIRE_DATA, WIRE_STREAMS, 0, 0, 0, 0, 0, 0 }, /* an unknown stream */
		{ WIRE_DATA, 0, 1, 0, 0, 0, 0, 0 },            /* reserved */
		{ WIRE_DATA, 0, 0, 0x80, 0, 0, 0, 0 },
		{ WIRE_DATA, 0, 0, 0, 1, 0, 1, 0 },            /* longer than WIRE_MAX by one */
		{ WIRE_DATA, 0, 0, 0, 0xff, 0xff, 0xff, 0xff },
	};
	static struct wire_in in;
	struct wire_frame f;
	size_t room;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		memset(&in, 0, sizeof(in));
		push(&in, bad[i], WIRE_HEAD);
		errno = 0;
		assert_int_equal(wire_next(&in, &f), -1);
		assert_int_equal(errno, EPROTO);
	}
	/* The longest one leaves room for more, whatever came with it: reading never stands still. */
	memset(&in, 0, sizeof(in));
	push(&in, (uint8_t[]){ WIRE_DATA, 0, 0, 0, 0, 0, 1, 0 }, WIRE_HEAD);
	assert_int_equal(wire_next(&in, &f), 0);
	wire_space(&in, &room);
	assert_true(room > WIRE_MAX);
}

static struct wire_frame data_frame(const void *data, uint32_t len)
{
	return (struct wire_frame){ .type = WIRE_DATA, .stream = WIRE_STDOUT, .len = len, .data = data };
}

/* A guest cannot make us keep more than a window, nor go on after its end. */
static void windows(void **state)
{
	static uint8_t big[WIRE_MAX];
	struct wire_frame f = data_frame(big, WIRE_MAX), one = data_frame(big, 1), last;
	struct wire_stream s = { 0 };
	struct wire_out out = { 0 };
	static struct wire_in in;
	int null = open("/dev/null", O_WRONLY);
	uint32_t credit = 0;

	for (int i = 0; i < WIRE_WINDOW / WIRE_MAX; i++)
		assert_int_equal(wire_keep(&s, &f), 0);
	assert_int_equal(wire_keep(&s, &one), -1);
	assert_int_equal(s.have, WIRE_WINDOW);
	/* What is delivered comes back as credit, all of it, and not in crumbs. */
	while (s.have)
		assert_int_equal(wire_deliver(&s, WIRE_STDOUT, null, 4096, &out), 0);
	memset(&in, 0, sizeof(in));
	push(&in, out.buf, out.to);
	for (int n = 0; wire_next(&in, &last) == 1; n++) {
		assert_int_equal(last.type, WIRE_CREDIT);
		assert_true(n < 8);
		credit += wire_get32(last.data);
	}
	assert_int_equal(credit, WIRE_WINDOW);
	assert_int_equal(wire_keep(&s, &f), 0);
	wire_drop(&s, WIRE_STDOUT, &out);
	assert_int_equal(s.have, 0);
	s.ended = true;
	assert_int_equal(wire_keep(&s, &one), -1);
	close(null);
	free(s.buf);
	free(out.buf);
}

static void credits(void **state)
{
	struct wire_stream s = { .credit = WIRE_WINDOW - 4 };
	uint8_t four[4] = { 4 }, five[4] = { 5 }, all[4] = { 255, 255, 255, 255 };
	struct wire_frame f = { .type = WIRE_CREDIT, .len = 4, .data = five };
	struct wire_out out = { 0 };
	int p[2];

	assert_int_equal(wire_credit(&s, &f), -1);
	f.data = all;
	assert_int_equal(wire_credit(&s, &f), -1);
	f.data = four;
	f.len = 3;
	assert_int_equal(wire_credit(&s, &f), -1);
	f.len = 4;
	assert_int_equal(wire_credit(&s, &f), 0);
	assert_int_equal(s.credit, WIRE_WINDOW);
	/* Without credit nothing is read: it would look like the end. */
	assert_int_equal(pipe(p), 0);
	assert_int_equal(write(p[1], "abcdef", 6), 6);
	s.credit = 0;
	assert_int_equal(wire_pass(&s, 0, p[0], &out), -1);
	assert_int_equal(errno, EAGAIN);
	s.credit = 4;
	assert_int_equal(wire_pass(&s, 0, p[0], &out), 4);
	assert_int_equal(s.credit, 0);
	s.credit = 4;
	assert_int_equal(wire_pass(&s, 0, p[0], &out), 2);
	close(p[1]);
	assert_false(s.ended);
	assert_int_equal(wire_pass(&s, 0, p[0], &out), 0);
	assert_true(s.ended);
	close(p[0]);
	free(out.buf);
}

/* A module: a head, two sections, their names. */
struct ko {
	Elf64_Ehdr eh;
	Elf64_Shdr sh[3];
	char info[64], names[32];
};

static struct ko make_ko(void)
{
	struct ko ko = { .info = "license=GPL\0depends=a,b\0depends=\0softdep=pre: c", .names = "\0.modinfo\0.shstrtab" };

	memcpy(ko.eh.e_ident, ELFMAG, SELFMAG);
	ko.eh.e_ident[EI_CLASS] = ELFCLASS64;
	ko.eh.e_shentsize = sizeof(Elf64_Shdr);
	ko.eh.e_shoff = offsetof(struct ko, sh);
	ko.eh.e_shnum = 3;
	ko.eh.e_shstrndx = 2;
	ko.sh[1] = (Elf64_Shdr){ .sh_type = SHT_PROGBITS, .sh_name = 1, .sh_offset = offsetof(struct ko, info), .sh_size = 64 };
	ko.sh[2] = (Elf64_Shdr){ .sh_type = SHT_STRTAB, .sh_name = 10, .sh_offset = offsetof(struct ko, names), .sh_size = 32 };
	return ko;
}

static int collect(void *arg, const char *value)
{
	strcat(arg, value);
	strcat(arg, ";");
	return 0;
}

static void modinfo(void **state)
{
	struct ko ko = make_ko(), bad;
	char got[128] = "";

	assert_int_equal(vm_modinfo(&ko, sizeof(ko), "depends", collect, got), 0);
	assert_string_equal(got, "a,b;;");
	got[0] = 0;
	assert_int_equal(vm_modinfo(&ko, sizeof(ko), "softdep", collect, got), 0);
	assert_string_equal(got, "pre: c;");
	got[0] = 0;
	assert_int_equal(vm_modinfo(&ko, sizeof(ko), "depend", collect, got), 0);
	assert_string_equal(got, "");
	/* Every length that is too short, and every byte of the head and the sections changed: nothing outside is read. */
	for (size_t n = 0; n < sizeof(ko); n++) {
		void *p = malloc(n ? n : 1);

		memcpy(p, &ko, n);
		got[0] = 0;
		vm_modinfo(p, n, "depends", collect, got);
		free(p);
	}
	for (size_t i = 0; i < offsetof(struct ko, info); i++)
		for (int v = 0; v < 256; v += 51) {
			void *p = malloc(sizeof(bad));

			bad = ko;
			((uint8_t *)&bad)[i] = (uint8_t)(v ^ 0x80);
			memcpy(p, &bad, sizeof(bad));
			got[0] = 0;
			vm_modinfo(p, sizeof(bad), "depends", collect, got);
			free(p);
		}
	assert_int_equal(vm_modinfo("#!/bin/sh\n", 10, "depends", collect, got), -1);
}

static char dir[] = "/tmp/devx-unit-vm.XXXXXX";

static int make_dir(void **state)
{
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	return vm_remove_tree(dir);
}

static void put_module(const char *name, const char *depends, const char *soft)
{
	struct ko ko = make_ko();
	char path[VM_PATH];

	memset(ko.info, 0, sizeof(ko.info));
	snprintf(ko.info, sizeof(ko.info), "depends=%s%csoftdep=pre: %s", depends, 0, soft);
	vm_join(path, "%s/kernel/%s", dir, name);
	assert_int_equal(vm_write_file(path, &ko, sizeof(ko)), 0);
}

static void order(void **state)
{
	struct vm_modules set;
	char path[VM_PATH];

	vm_join(path, "%s/kernel", dir);
	assert_int_equal(vm_make_path(path), 0);
	put_module("top-one.ko", "mid_a,mid_b", "nowhere soft");
	put_module("mid_a.ko", "low", "");
	put_module("mid_b.ko", "low,inside", "");
	put_module("low.ko", "", "");
	put_module("soft.ko", "", "");
	put_module("lone.ko", "missing", "");
	put_module("README", "", "");
	vm_join(path, "%s/modules.builtin", dir);
	assert_int_equal(vm_write_file(path, "kernel/fs/inside.ko\n", 20), 0);
	assert_int_equal(vm_modules_scan(&set, dir), 0);
	assert_int_equal(set.n, 7);
	assert_non_null(vm_modules_find(&set, "top_one"));
	assert_non_null(vm_modules_find(&set, "top-one"));
	assert_null(vm_modules_find(&set, "README"));
	assert_int_equal(vm_modules_need(&set, "top_one"), 0);
	assert_int_equal(vm_modules_need(&set, "low"), 0); /* is there already */
	assert_int_equal(set.n_order, 5);
	assert_string_equal(set.order[0]->name, "soft");
	assert_string_equal(set.order[1]->name, "low");
	assert_string_equal(set.order[2]->name, "mid_a");
	assert_string_equal(set.order[3]->name, "mid_b");
	assert_string_equal(set.order[4]->name, "top_one");
	assert_int_equal(vm_modules_need(&set, "lone"), -1);
	vm_modules_free(&set);
}

/* What came out of a kernel image must be the ELF file that went in; a cut or changed image is refused. */
static void image(void **state)
{
	static uint8_t elf[70000], img[5000];
	static const uint8_t zeros[4];
	char path[VM_PATH], cmd[2 * VM_PATH];
	uint8_t *packed, *back;
	size_t n, len;

	memcpy(elf, ELFMAG, SELFMAG);
	for (size_t i = SELFMAG; i < sizeof(elf); i++)
		elf[i] = (uint8_t)(i >> 8);
	vm_join(path, "%s/elf", dir);
	assert_int_equal(vm_write_file(path, elf, sizeof(elf)), 0);
	snprintf(cmd, sizeof(cmd), "xz -k --check=crc32 %s/elf", dir);
	assert_int_equal(system(cmd), 0);
	vm_join(path, "%s/elf.xz", dir);
	packed = vm_read_file(path, &n);
	assert_non_null(packed);
	assert_true(n < sizeof(img) - 0x1000 - 4);
	memset(img, 0, sizeof(img));
	memcpy(img + 0x202, "HdrS\x0f\x02", 6);
	img[0x1f1] = 4; /* setup sectors: the payload begins behind five */
	img[0x249] = 2; /* and 512 bytes further */
	img[0x24c] = (uint8_t)(n + 4);
	img[0x24d] = (uint8_t)((n + 4) >> 8);
	memcpy(img + 6 * 512, packed, n);
	memcpy(img + 6 * 512 + n, zeros, 4);
	back = vm_kernel_elf(img, sizeof(img), &len);
	assert_non_null(back);
	assert_int_equal(len, sizeof(elf));
	assert_memory_equal(back, elf, sizeof(elf));
	free(back);
	assert_null(vm_kernel_elf(img, 6 * 512 + n, &len)); /* too short; then no image; then a payload that is none */
	img[0x202]++;
	assert_null(vm_kernel_elf(img, sizeof(img), &len));
	img[0x202]--;
	img[6 * 512 + 100] ^= 0xff;
	assert_null(vm_kernel_elf(img, sizeof(img), &len));
	free(packed);
}

/* As libarchive reads it: another's understanding of the format. */
static void archive(void **state)
{
	static const char *const names[] = { "init", "modules", "modules/a.ko" };
	struct cpio c = { 0 }, more = { 0 };
	struct archive *a = archive_read_new();
	struct archive_entry *e;
	char buf[16];

	cpio_file(&c, "init", 0755, "#!", 2);
	cpio_dir(&c, "modules");
	cpio_file(&c, "modules/a.ko", 0644, "abcde", 5);
	cpio_end(&c);
	cpio_file(&more, "later", 0644, "", 0);
	cpio_end(&more);
	assert_false(c.failed);
	assert_int_equal(c.len % 4, 0);
	archive_read_support_format_cpio(a);
	assert_int_equal(archive_read_open_memory(a, c.data, c.len), ARCHIVE_OK);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(archive_read_next_header(a, &e), ARCHIVE_OK);
		assert_string_equal(archive_entry_pathname(e), names[i]);
		assert_int_equal(archive_entry_filetype(e), i == 1 ? AE_IFDIR : AE_IFREG);
		assert_int_equal(archive_entry_perm(e), i < 2 ? 0755 : 0644);
	}
	assert_int_equal(archive_read_data(a, buf, sizeof(buf)), 5);
	assert_memory_equal(buf, "abcde", 5);
	assert_int_equal(archive_read_next_header(a, &e), ARCHIVE_EOF);
	archive_read_free(a);
	cpio_append(&c, more.data, more.len);
	assert_memory_equal(c.data + c.len - more.len, more.data, more.len);
	free(more.data);
	free(c.data);
}

static void check_source(const char *text, bool deb822, const char *uri, const char *keyring)
{
	struct apt_source s = { .uri = "" };
	bool found = sources_parse(text, deb822, &s);

	if (found != !!uri)
		fail_msg("%s in: %s", found ? "a source" : "no source", text);
	if (!uri)
		return;
	assert_string_equal(s.uri, uri);
	assert_string_equal(s.keyring, keyring);
}

static void sources(void **state)
{
	check_source("deb http://a.org/debian bookworm main\n", false, "http://a.org/debian", "");
	check_source("# deb http://no.org/debian bookworm main\n\n  \ndeb-src http://no.org/debian x main\n"
		     "deb http://security.org/debian-security x main\ndeb [ arch=amd64,i386 signed-by=/k.gpg ] https://a.org/debian/ x "
		     "contrib main # y", false, "https://a.org/debian/", "/k.gpg");
	check_source("deb [signed-by=/k.gpg] http://a.org/debian x main", false, "http://a.org/debian", "/k.gpg");
	check_source("deb http://a.org/debian x contrib\n", false, NULL, NULL);
	check_source("deb [broken http://a.org/debian x main\n", false, NULL, NULL);
	check_source("deb http://a.org/ubuntu x main\ndeb", false, NULL, NULL);
	check_source("", false, NULL, NULL);
	check_source("", true, NULL, NULL);
	check_source("Types: deb\nURIs: http://a.org/debian\nSuites: x\nComponents: main\nSigned-By: /k.gpg\n", true, "http://a.org/debian",
		     "/k.gpg");
	check_source("Types: deb\nURIs: http://v.com\nSuites: x\nComponents: main\nSigned-By: /v.gpg\n\n# c\ntypes: deb deb-src\n"
		     "uris: http://b.org/ubuntu\n http://a.org/debian/\ncomponents: contrib\n main", true, "http://a.org/debian/", "");
	check_source("Types: deb\nEnabled: no\nURIs: http://a.org/debian\nComponents: main\n", true, NULL, NULL);
	check_source("Types: deb-src\nURIs: http://a.org/debian\nComponents: main\n", true, NULL, NULL);
	check_source("Types: deb\nComponents: main\n\nURIs: http://a.org/debian\n", true, NULL, NULL);
	check_source(":\n::::\n \n", true, NULL, NULL);
}

static void versions(void **state)
{
	unsigned int major = 0, minor = 0;

	assert_true(vm_qemu_version("QEMU emulator version 10.0.8 (Debian 1:10.0.8+ds)", &major, &minor));
	assert_int_equal(major, 10);
	assert_int_equal(minor, 0);
	assert_false(vm_qemu_version("command not found", &major, &minor));
	assert_false(vm_qemu_version("version x.y", &major, &minor));
}

/* The exit code of these options, 0 if they are taken. */
static int parse(struct vm_options *o, const char *const *words)
{
	static char *argv[24]; /* the options point into it */
	int argc = 1, code = 0;

	argv[0] = (char *)"devx vm";
	while (*words)
		argv[argc++] = (char *)*words++;
	argv[argc] = NULL;
	optind = 0;
	opterr = 0;
	said[0] = 0;
	return vm_parse(o, argc, argv, &code) ? code : 0;
}
#define PARSE(o, ...) parse(o, (const char *const[]){ __VA_ARGS__, NULL })

static void options(void **state)
{
	struct vm_options o;

	assert_int_equal(PARSE(&o, "--devices", "2", "--memory", "2G", "--cpus", "4", "--accel", "kvm", "--fault", "a", "--fault", "b",
			       "--kernel", "6.1", "ls", "--verbose"), 0);
	assert_int_equal(o.devices, 2);
	assert_int_equal(o.memory_mb, 2048);
	assert_int_equal(o.cpus, 4);
	assert_int_equal(o.accel, VM_KVM);
	assert_int_equal(o.n_faults, 2);
	assert_string_equal(o.command[0], "ls");
	assert_string_equal(o.command[1], "--verbose"); /* the command's own */
	assert_false(o.verbose);
	assert_true(o.snapshot);
	assert_int_equal(PARSE(&o, "--connect", "/a", "--connect", "/b", "--", "-x"), 0);
	assert_int_equal(o.devices, 2);
	assert_string_equal(o.command[0], "-x");
	assert_int_equal(PARSE(&o, "--bootstrap", "--with", "rdma-core", "--kernel", "6.1", "--dir", "/x"), 0);
	assert_true(o.bootstrap && o.rdma_core);
}

static void wrong_options(void **state)
{
	static const char *const wrong[][6] = {
		{ NULL }, { "--frob", "x" }, { "--devices", "17", "x" }, { "--devices", "-1", "x" }, { "--devices", "1x", "x" },
		{ "--memory", "1", "x" }, { "--memory", "G", "x" }, { "--memory", "99999999999G", "x" }, { "--memory", "100M", "x" },
		{ "--memory", "1T", "x" }, { "--cpus", "0", "x" }, { "--accel", "hvf", "x" }, { "--dir", "relative", "x" },
		{ "--share", "relative", "x" }, { "--share", "/", "x" }, { "--boot-timeout", "0", "x" }, { "--kernel", "", "x" },
		{ "--devices", "2", "--connect", "/a", "x" }, { "--connect", "/a", "--spec", "b", "x" }, { "--bootstrap", "x" },
		{ "--with", "rdma-core", "x" }, { "--bootstrap", "--with", "x" }, { "--devices", "0", "--fault", "x", "x" }, { "--spec" },
	};
	struct vm_options o;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		int code = parse(&o, wrong[i]);

		if (code != DEVX_USAGE)
			fail_msg("%s %s: code %d", wrong[i][0], wrong[i][1], code);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_in_pieces), cmocka_unit_test(no_frames), cmocka_unit_test(windows), cmocka_unit_test(credits),
		cmocka_unit_test(modinfo), cmocka_unit_test_setup_teardown(order, make_dir, NULL),
		cmocka_unit_test_setup_teardown(image, NULL, NULL), cmocka_unit_test_setup_teardown(archive, NULL, remove_dir),
		cmocka_unit_test(sources), cmocka_unit_test(versions), cmocka_unit_test(options), cmocka_unit_test(wrong_options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
