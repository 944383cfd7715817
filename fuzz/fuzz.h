/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Holds whatever NDEBUG says. */
#define FUZZ_CHECK(x)                                                                                                \
	do {                                                                                                         \
		if (!(x)) {                                                                                          \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #x);                              \
			abort();                                                                                     \
		}                                                                                                    \
	} while (0)

#endif
