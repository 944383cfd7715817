/* SPDX-License-Identifier: BSD-2-Clause */
/* What QUERY_HCA_CAP answers: pages of rows, a value for each profile. */
#ifndef HCA_CAPS_H
#define HCA_CAPS_H

#include "model.h"

struct cap_row {
	uint16_t bit;
	uint8_t width; /* 0 ends a table */
	uint64_t value[HCA_N_PROFILES];
};

struct cap_page {
	uint8_t type;
	const struct cap_row *rows; /* NULL: a page of zeros, all its features are off */
};

extern const struct cap_page cap_pages[];
extern const unsigned int n_cap_pages;
extern const struct cap_row cap_nic_flow_tables[]; /* caps_flow.c */

#endif
