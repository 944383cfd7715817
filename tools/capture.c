/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture.h"
#include "devx.h"

bool capture_open(struct capture *c, const char *path)
{
	char err[PCAP_ERRBUF_SIZE] = "";
	struct stat st;
	FILE *f;
	const char *link;
	int first;

	memset(c, 0, sizeof(*c));
	c->name = path && strcmp(path, "-") ? path : "standard input";
	f = c->name == path ? fopen(path, "rbe") : stdin;
	if (!f || fstat(fileno(f), &st)) {
		devx_error("%s: %s", c->name, strerror(errno));
		if (f && f != stdin)
			fclose(f);
		return false;
	}
	if (S_ISREG(st.st_mode))
		c->size = (uint64_t)st.st_size;
	if (S_ISDIR(st.st_mode))
		snprintf(err, sizeof(err), "is a directory");
	else if ((first = getc(f)) == EOF) /* a pipe too, of a tcpdump that could not begin */
		snprintf(err, sizeof(err), "%s", ferror(f) ? strerror(errno) : "it is empty: not even a capture's header is there");
	else if (ungetc(first, f) == first)
		c->pcap = pcap_fopen_offline(f, err);
	if (!c->pcap) {
		devx_error("%s: %s", c->name, err);
		if (f != stdin)
			fclose(f);
		return false;
	}
	c->dlt = pcap_datalink(c->pcap);
	link = pcap_datalink_val_to_name(c->dlt);
	if (link)
		snprintf(c->link, sizeof(c->link), "%s", link);
	else
		snprintf(c->link, sizeof(c->link), "link type %d", c->dlt);
	if (!flow_linktype_known(c->dlt)) {
		devx_error("%s: frames of link type %d%s%s are not supported", c->name, c->dlt, link ? ", " : "", link ? link : "");
		capture_close(c);
		return false;
	}
	return true;
}

void capture_close(struct capture *c)
{
	if (c->pcap)
		pcap_close(c->pcap);
	c->pcap = NULL;
}

static bool count(struct capture *c, const struct flow_key *key, const struct session_frame *f, struct flowtab *flows,
		  struct session *s)
{
	bool is_new;
	uint32_t i = flowtab_get(flows, key, &is_new);

	if (i == FLOWTAB_NONE) {
		devx_error("%s: out of memory after %u flows", c->name, flows->n);
		return false;
	}
	if (is_new && !session_flow(s, key, &flows->flows[i].counter))
		return false;
	return session_arrive(s, key, flows->flows[i].counter, f);
}

enum capture_state capture_read(struct capture *c, uint32_t n, struct flowtab *flows, struct session *s)
{
	while (n-- > 0) {
		struct pcap_pkthdr *hdr;
		const u_char *frame;
		struct session_frame f = { .dlt = c->dlt };
		struct flow_key key;
		int got = pcap_next_ex(c->pcap, &hdr, &frame);

		if (got == PCAP_ERROR_BREAK)
			return CAPTURE_END;
		if (got != 1) {
			snprintf(c->broken, sizeof(c->broken), "%s", got == PCAP_ERROR ? pcap_geterr(c->pcap) : "cannot be read");
			return CAPTURE_BROKEN;
		}
		c->frames++;
		c->wire += hdr->len;
		f.data = frame;
		f.caplen = hdr->caplen;
		f.wire = hdr->len;
		switch (flow_parse(c->dlt, frame, hdr->caplen, &key, &f.ip_at)) {
		case FLOW_OK:
			if (!count(c, &key, &f, flows, s))
				return CAPTURE_FAILED;
			break;
		case FLOW_NOT_IP:
			c->not_ip++;
			break;
		case FLOW_MALFORMED:
			c->malformed++;
			break;
		}
	}
	return CAPTURE_MORE;
}

int capture_progress(struct capture *c)
{
	long at = c->size ? ftell(pcap_file(c->pcap)) : -1;

	if (at < 0)
		return -1;
	return (uint64_t)at >= c->size ? 1000 : (int)((uint64_t)at * 1000 / c->size);
}
