/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef UVERBS_TESTS_H
#define UVERBS_TESTS_H

#include "fake.h"

int open_tests(void);
int command_tests(void);
int failure_tests(void);
int memory_tests(void);
int event_tests(void);
int attribute_tests(void);
int import_tests(void);

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, fake_setup, fake_teardown)

/* The first device of the list. */
struct ibv_device *first_device(void);
/* A DEVX context on a new device mlx5_0. */
struct ibv_context *open_one(void);

#endif
