/* SPDX-License-Identifier: BSD-2-Clause */
/* All flows of a capture, numbered from 0 in the order of their first frame. */
#ifndef DEVX_FLOWTAB_H
#define DEVX_FLOWTAB_H

#include "flow.h"

#define FLOWTAB_NONE UINT32_MAX

struct flow {
	struct flow_key key;
	uint32_t counter; /* its counter's id on the device */
};

struct flowtab {
	struct flow *flows;
	uint32_t n, room;
	uint32_t *slots; /* flow number + 1; 0: free */
	uint32_t n_slots;
	uint64_t secret[2];
};

void flowtab_init(struct flowtab *t);
void flowtab_fini(struct flowtab *t);
/* The flow's number. is_new: it was added now. FLOWTAB_NONE: no memory, or 2^30 flows. */
uint32_t flowtab_get(struct flowtab *t, const struct flow_key *key, bool *is_new);

#endif
