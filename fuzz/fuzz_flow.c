/* SPDX-License-Identifier: BSD-2-Clause */
/* A frame of a capture. The first byte chooses the link type. */
#include <string.h>

#include "flow.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const int types[] = { 0, 1, 12, 14, 101, 108, 113, 228, 229, 276 };
	struct flow_key key;
	char text[FLOW_TEXT_MAX];
	uint8_t *frame;
	size_t ip_at;
	int dlt;

	if (!size)
		return 0;
	dlt = types[data[0] % (sizeof(types) / sizeof(types[0]))];
	if (!flow_linktype_known(dlt))
		return 0;
	frame = malloc(size > 1 ? size - 1 : 1);
	if (!frame)
		return 0;
	memcpy(frame, data + 1, size - 1);
	memset(&key, 0xa5, sizeof(key));
	if (flow_parse(dlt, frame, size - 1, &key, &ip_at) == FLOW_OK) {
		FUZZ_CHECK(ip_at + 20 <= size - 1);
		FUZZ_CHECK(!flow_plain(dlt, frame, ip_at) || (ip_at >= 14 && ip_at <= 22));
		FUZZ_CHECK(key.family == 4 || key.family == 6);
		FUZZ_CHECK(!key.zero);
		FUZZ_CHECK(flow_has_ports(key.proto) || (!key.sport && !key.dport));
		flow_text(&key, text);
		FUZZ_CHECK(memchr(text, 0, sizeof(text)));
	}
	free(frame);
	return 0;
}
