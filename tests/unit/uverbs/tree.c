/* SPDX-License-Identifier: BSD-2-Clause */
/* The files of the fake kernel: sysfs and /dev. */
#include "kernel.h"

#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

extern const char *uverbs_root; /* sysfs.c */

char fake_root[] = "/tmp/opendevx-uverbs-XXXXXX";

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

	snprintf(path, sizeof(path), "%s%s", fake_root, name);
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
	snprintf(path, sizeof(path), "%s/sys/class/infiniband/%s/device/driver", fake_root, ibdev);
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
	fake_inside = true;
	memset(&fake, 0, sizeof(fake));
	memset(fake_handles, 0, sizeof(fake_handles));
	fake.vectors = 8;
	fake.bf_reg_size = 0x200;
	fake.uars_per_page = 1;
	fake_clear_answer();
	memcpy(fake_root + strlen(fake_root) - 6, "XXXXXX", 6);
	if (!mkdtemp(fake_root))
		return -1;
	uverbs_root = fake_root;
	fake_inside = false;
	return 0;
}

int fake_teardown(void **state)
{
	fake_inside = true;
	nftw(fake_root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	uverbs_root = "";
	fake_inside = false;
	return fake.fds || fake.handles; /* a test that leaves something behind has failed */
}
