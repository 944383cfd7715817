/* SPDX-License-Identifier: BSD-2-Clause */
/* Specs and fault rules. The first byte chooses; what a spec prints as must parse to the same. */
#include <string.h>

#include "fuzz.h"
#include "spec.h"

static void spec(const char *text)
{
	struct spec a, b;
	char first[SPEC_MAX], second[SPEC_MAX];

	if (spec_parse(text, "fuzz", &a) != SPEC_OK)
		return;
	FUZZ_CHECK(spec_print(&a, first, sizeof(first)) < sizeof(first));
	FUZZ_CHECK(spec_parse(first, "fuzz", &b) == SPEC_OK);
	FUZZ_CHECK(spec_print(&b, second, sizeof(second)) < sizeof(second));
	FUZZ_CHECK(!strcmp(first, second));
	FUZZ_CHECK(a.hca.profile < HCA_N_PROFILES);
	FUZZ_CHECK(a.hca.latency == b.hca.latency && a.hca.jitter == b.hca.jitter && a.hca.timeout == b.hca.timeout);
	FUZZ_CHECK(a.hca.seed == b.hca.seed && a.hca.reorder == b.hca.reorder && a.hca.strict == b.hca.strict);
	FUZZ_CHECK(a.inline_cmds == b.inline_cmds && a.manual_clock == b.manual_clock && a.kernel_quirks == b.kernel_quirks);
	FUZZ_CHECK(!a.inline_cmds || (!a.hca.latency && !a.hca.jitter && !a.hca.reorder));
}

static void rule(const char *text)
{
	struct hca_fault f;
	bool clear = false;

	memset(&f, 0, sizeof(f));
	if (spec_rule_parse(text, &f, &clear) && !clear)
		FUZZ_CHECK(f.kind <= HCA_FAULT_DELAY && f.delay < HCA_DELAY_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text;

	if (!size)
		return 0;
	text = malloc(size); /* one byte chooses, one ends the string: exactly as long as it must be */
	if (!text)
		return 0;
	memcpy(text, data + 1, size - 1);
	text[size - 1] = 0;
	if (data[0] & 1)
		rule(text);
	else
		spec(text);
	free(text);
	return 0;
}
