/* SPDX-License-Identifier: BSD-2-Clause */
/* The scan of kernel devices, on a made-up tree. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "sysfs.h"

static char root[64];

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

static int setup(void **state)
{
	strcpy(root, "/tmp/devx-sysfs-XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int teardown(void **state)
{
	return nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static const char *at(const char *path)
{
	static char buf[256];

	snprintf(buf, sizeof(buf), "%s/%s", root, path);
	return buf;
}

static void dir(const char *path)
{
	assert_int_equal(mkdir(at(path), 0755), 0);
}

static void file(const char *path, const char *text)
{
	FILE *f = fopen(at(path), "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* As the kernel lays it out: the class holds links to device directories, whose "device" leads to the bus. */
static void devices_are_told(void **state)
{
	char target[160];
	struct sysfs_device *devs;

	dir("bus");
	dir("bus/0000:3b:00.0");
	dir("bus/mlx5_core");
	assert_int_equal(symlink("../mlx5_core", at("bus/0000:3b:00.0/driver")), 0);
	dir("devices");
	dir("devices/mlx5_0");
	snprintf(target, sizeof(target), "%s/bus/0000:3b:00.0", root);
	assert_int_equal(symlink(target, at("devices/mlx5_0/device")), 0);
	file("devices/mlx5_0/node_guid", "0200:0000:0000:0001\n");
	file("devices/mlx5_0/fw_ver", "28.40.1000\n");
	dir("class");
	assert_int_equal(symlink("../devices/mlx5_0", at("class/mlx5_0")), 0);
	dir("class/bare0");
	file("class/no-device", "a file");
	dir("class/.hidden");
	assert_int_equal(symlink("../nowhere", at("class/dangling")), 0);

	assert_int_equal(sysfs_scan(at("class"), &devs), 2);
	assert_string_equal(devs[0].name, "bare0");
	assert_string_equal(devs[0].driver, "");
	assert_string_equal(devs[0].guid, "");
	assert_string_equal(devs[1].name, "mlx5_0");
	assert_string_equal(devs[1].driver, "mlx5_core");
	assert_string_equal(devs[1].bus, "0000:3b:00.0");
	assert_string_equal(devs[1].guid, "0200:0000:0000:0001");
	assert_string_equal(devs[1].fw, "28.40.1000");
	free(devs);
}

static void what_no_terminal_should_see(void **state)
{
	char longer[300];
	struct sysfs_device *devs;

	dir("class");
	dir("class/rxe\033[2J");
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = 0;
	file("class/rxe\033[2J/fw_ver", longer);
	file("class/rxe\033[2J/node_guid", "\a\xff\n");
	assert_int_equal(sysfs_scan(at("class"), &devs), 1);
	assert_string_equal(devs[0].name, "rxe?[2J");
	assert_string_equal(devs[0].guid, "??");
	assert_int_equal(strlen(devs[0].fw), 63);
	free(devs);
}

static void no_directory_is_no_device(void **state)
{
	struct sysfs_device *devs;

	assert_int_equal(sysfs_scan(at("none"), &devs), 0);
	assert_null(devs);
	file("file", "");
	assert_int_equal(sysfs_scan(at("file"), &devs), -1);
	assert_int_equal(errno, ENOTDIR);
	dir("empty");
	assert_int_equal(sysfs_scan(at("empty"), &devs), 0);
	assert_null(devs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(devices_are_told, setup, teardown),
		cmocka_unit_test_setup_teardown(what_no_terminal_should_see, setup, teardown),
		cmocka_unit_test_setup_teardown(no_directory_is_no_device, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
