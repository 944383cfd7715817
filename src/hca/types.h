/* SPDX-License-Identifier: BSD-2-Clause */
/* The objects that hold more than their header. */
#ifndef HCA_TYPES_H
#define HCA_TYPES_H

#include "model.h"

struct umem {
	struct hca_obj obj;
	uint64_t *mtt; /* device addresses of the pages, with the access bits in the low ones */
	uint64_t n_mtt;
	uint32_t page_offset;
	uint8_t page_shift;
};

void umem_fini(struct hca_obj *obj);

struct counter {
	uint64_t packets, octets;
};

/* Ids are given in ranges that are a power of two long and aligned to it, so bulks start at multiples of 4 (and 128). */
#define FLOW_COUNTER_FIRST 0x100u
#define FLOW_COUNTER_LAST 0xffffffu
#define FLOW_COUNTER_LOG_MAX 18 /* the largest flow_counter_bulk_log_size */

struct flow_counter {
	struct hca_obj obj;
	uint32_t n;
	uint8_t log;
	struct counter *values; /* a single counter's is inside */
	struct counter one;
};

void flow_counter_fini(struct hca_obj *obj);

#endif
