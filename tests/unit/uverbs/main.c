/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel transport against a kernel that plays each errno: cmocka groups, one per file. */
#include "tests.h"

int main(void)
{
	return open_tests() + command_tests() + failure_tests() + memory_tests() + event_tests() + attribute_tests() + import_tests();
}
