/* SPDX-License-Identifier: BSD-2-Clause */
/* The ABI as data: which attributes a method has, and what each may carry. */
#ifndef UVERBS_ABI_H
#define UVERBS_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum abi_kind { NONE, IN, OUT, CONSTANT, FLAGS, IDR, IDR_NEW, IDR_END, FD, FD_NEW, RAW_FD };

struct abi_method {
	uint16_t object, method;
	const char *name;
	struct abi_attr {
		uint16_t id;
		uint8_t kind;
		uint64_t min, max; /* bytes; of CONSTANT: values; of FLAGS, max: the bits */
		bool mandatory;
	} attrs[8];
};

extern const struct abi_method abi_methods[]; /* ended by a NULL name */

#endif
