/* SPDX-License-Identifier: BSD-2-Clause */
/* What devx counters found, for people and for programs. */
#ifndef DEVX_REPORT_H
#define DEVX_REPORT_H

#include "capture.h"

struct report {
	struct capture *capture;
	struct session *session;
	struct flowtab *flows;
	struct session_counter *values; /* as read from the device, by flow */
	uint32_t *order;                /* flow numbers, largest first: the first n_top are sorted */
	uint32_t n_top;
	uint64_t packets, octets;       /* sums of values */
	bool stopped;                   /* the user ended it before the capture's end */
};

/* Reads all counters and ranks the flows. top: how many at most. False: said on stderr. */
bool report_refresh(struct report *r, uint32_t top);
void report_fini(struct report *r);

/* Both return an exit code. */
int report_text(struct report *r);
int report_json(struct report *r);

#endif
