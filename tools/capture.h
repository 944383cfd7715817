/* SPDX-License-Identifier: BSD-2-Clause */
/* A capture file, read into the flow counters of a device. */
#ifndef DEVX_CAPTURE_H
#define DEVX_CAPTURE_H

#include <pcap/pcap.h>

#include "flowtab.h"
#include "session.h"

struct capture {
	pcap_t *pcap;
	const char *name;  /* for messages */
	char link[64];
	int dlt;
	uint64_t size;     /* of the file; 0: not known */
	uint64_t frames;
	uint64_t wire;     /* octets of all frames */
	uint64_t not_ip;
	uint64_t malformed;
	char broken[PCAP_ERRBUF_SIZE]; /* why it ended early; "" */
};

enum capture_state { CAPTURE_MORE, CAPTURE_END, CAPTURE_BROKEN, CAPTURE_FAILED };

/* path NULL or "-": stdin. False: said on stderr. */
bool capture_open(struct capture *c, const char *path);
void capture_close(struct capture *c);
/* Up to n frames, onto the device. FAILED is the device's or memory's doing, and was said. */
enum capture_state capture_read(struct capture *c, uint32_t n, struct flowtab *flows, struct session *s);
/* How much of the file was read, 0 to 1000; -1: not known. */
int capture_progress(struct capture *c);

#endif
