/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "spec.h"

/* A day: longer times are slips of the pen, and their sums still fit 64 bits. */
#define TIME_MAX_NS (UINT64_C(86400) * 1000000000)

struct word {
	const char *at;
	size_t len;
	const char *value; /* after '=', or NULL */
	size_t value_len;
};

struct text {
	const char *start, *where;
	char *message; /* NULL: stderr hears of it */
	size_t room;
};

static bool bad(const struct text *t, const struct word *w, const char *why)
{
	int len = w->len > 60 ? 60 : (int)w->len;
	size_t at = (size_t)(w->at - t->start) + 1;

	if (t->message)
		snprintf(t->message, t->room, "%s: '%.*s' at character %zu", why, len, w->at, at);
	else
		fprintf(stderr, "opendevx: %s: %s: '%.*s' at character %zu\n", t->where, why, len, w->at, at);
	return false;
}

static bool is(const struct word *w, const char *name)
{
	return w->value == NULL && w->len == strlen(name) && !memcmp(w->at, name, w->len);
}

static bool key_is(const struct word *w, const char *name)
{
	size_t n = strlen(name);

	return w->value && (size_t)(w->value - w->at) == n + 1 && !memcmp(w->at, name, n);
}

static struct word next_word(const char **p, const char *separators)
{
	struct word w = { .at = *p, .len = strcspn(*p, separators) };
	const char *eq = memchr(w.at, '=', w.len);

	if (eq) {
		w.value = eq + 1;
		w.value_len = w.len - (size_t)(eq + 1 - w.at);
	}
	*p += w.len;
	return w;
}

/* Decimal, or hexadecimal after 0x. Stops at the first other character; false: no digits, or above max. */
static bool number(const char **p, const char *end, uint64_t max, uint64_t *v)
{
	bool hex = end - *p > 2 && (*p)[0] == '0' && ((*p)[1] == 'x' || (*p)[1] == 'X');
	const char *s = *p + (hex ? 2 : 0), *first = s;
	uint64_t base = hex ? 16 : 10;

	for (*v = 0; s < end; s++) {
		unsigned int d;

		if (*s >= '0' && *s <= '9')
			d = (unsigned int)(*s - '0');
		else if (hex && (*s | 0x20) >= 'a' && (*s | 0x20) <= 'f')
			d = (unsigned int)((*s | 0x20) - 'a') + 10;
		else
			break;
		if (*v > (max - d) / base)
			return false;
		*v = *v * base + d;
	}
	*p = s;
	return s > first;
}

static bool whole_number(const struct word *w, uint64_t max, uint64_t *v)
{
	const char *p = w->value, *end = w->value + w->value_len;

	return number(&p, end, max, v) && p == end;
}

static bool duration(const struct word *w, uint64_t *ns)
{
	static const struct {
		const char *unit;
		uint64_t ns;
	} units[] = { { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 } };
	const char *p = w->value, *end = w->value + w->value_len;
	uint64_t v;

	if (!number(&p, end, TIME_MAX_NS, &v))
		return false;
	if (p == end && v == 0) {
		*ns = 0;
		return true;
	}
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		size_t n = strlen(units[i].unit);

		if ((size_t)(end - p) == n && !memcmp(p, units[i].unit, n)) {
			*ns = v * units[i].ns;
			return v <= TIME_MAX_NS / units[i].ns;
		}
	}
	return false;
}

static bool profile(const struct word *w, enum hca_profile *out)
{
	for (int i = 0; i < HCA_N_PROFILES; i++) {
		const char *name = hca_profile_name(i);

		if (w->value_len == strlen(name) && !memcmp(w->value, name, w->value_len)) {
			*out = i;
			return true;
		}
	}
	return false;
}

enum key { K_PROFILE, K_LATENCY, K_JITTER, K_TIMEOUT, K_SEED, K_REORDER, K_INLINE, K_STRICT, K_QUIRKS, K_CLOCK, K_N };

static const struct {
	const char *name;
	bool has_value;
	const char *want;
} keys[K_N] = {
	[K_PROFILE] = { "profile", true, "profile must be cx5, cx6dx, cx7 or bf3" },
	[K_LATENCY] = { "latency", true, "latency must be a time such as 20us (ns, us, ms, s; at most a day)" },
	[K_JITTER] = { "jitter", true, "jitter must be a time such as 5us (ns, us, ms, s; at most a day)" },
	[K_TIMEOUT] = { "timeout", true, "timeout must be a time above 0 such as 60s (ns, us, ms, s; at most a day)" },
	[K_SEED] = { "seed", true, "seed must be a number below 2^64" },
	[K_REORDER] = { "reorder", false, "reorder takes no value" },
	[K_INLINE] = { "inline", false, "inline takes no value" },
	[K_STRICT] = { "strict", false, "strict takes no value" },
	[K_QUIRKS] = { "quirks", true, "quirks must be kernel" },
	[K_CLOCK] = { "clock", true, "clock must be manual" },
};

static bool value_is(const struct word *w, const char *want)
{
	return w->value_len == strlen(want) && !memcmp(w->value, want, w->value_len);
}

static bool take(enum key k, const struct word *w, struct spec *s)
{
	switch (k) {
	case K_PROFILE:
		return profile(w, &s->hca.profile);
	case K_LATENCY:
		return duration(w, &s->hca.latency);
	case K_JITTER:
		return duration(w, &s->hca.jitter);
	case K_TIMEOUT:
		return duration(w, &s->hca.timeout) && s->hca.timeout;
	case K_SEED:
		return whole_number(w, UINT64_MAX, &s->hca.seed);
	case K_REORDER:
		return s->hca.reorder = true;
	case K_INLINE:
		return s->inline_cmds = true;
	case K_STRICT:
		return s->hca.strict = true;
	case K_QUIRKS:
		return s->kernel_quirks = value_is(w, "kernel");
	default:
		return s->manual_clock = value_is(w, "manual");
	}
}

static int find_key(const struct word *w)
{
	size_t n = w->value ? (size_t)(w->value - w->at) - 1 : w->len;

	for (int k = 0; k < K_N; k++)
		if (strlen(keys[k].name) == n && !memcmp(keys[k].name, w->at, n))
			return k;
	return -1;
}

static bool parse_words(const struct text *t, struct spec *s)
{
	const struct word *timing = NULL;
	struct word words[K_N];
	bool seen[K_N] = { false };
	const char *p = t->start;

	for (;;) {
		struct word w = next_word(&p, ",");
		int k = find_key(&w);

		if (k < 0)
			return bad(t, &w, w.len ? "unknown word in the spec (opendevx(7) has all; on and off stand alone)" :
				   "empty word in the spec");
		if (seen[k])
			return bad(t, &w, "given twice");
		if (keys[k].has_value != (w.value != NULL) || !take(k, &w, s))
			return bad(t, &w, keys[k].want);
		seen[k] = true;
		words[k] = w;
		if (!*p)
			break;
		p++;
	}
	for (enum key k = K_LATENCY; k <= K_REORDER; k++)
		if (seen[k] && (k == K_LATENCY || k == K_JITTER || k == K_REORDER) && !timing)
			timing = &words[k];
	if (seen[K_INLINE] && timing)
		return bad(t, timing, "cannot go with inline");
	return true;
}

enum spec_result spec_parse(const char *text, const char *where, struct spec *spec)
{
	const struct text t = { text, where, NULL, 0 };

	*spec = (struct spec){
		.hca = { .profile = HCA_CX6DX, .timeout = UINT64_C(60) * 1000000000, .seed = 1 },
	};
	if (!strcmp(text, "off"))
		return SPEC_OFF;
	if (!*text || !strcmp(text, "on"))
		return SPEC_OK;
	return parse_words(&t, spec) ? SPEC_OK : SPEC_BAD;
}

/* In the largest unit that tells it exactly. */
static const char *time_text(uint64_t ns, char buf[32])
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	size_t unit = 0;

	for (; unit < 3 && ns && ns % 1000 == 0; unit++)
		ns /= 1000;
	snprintf(buf, 32, "%" PRIu64 "%s", ns, ns ? units[unit] : "");
	return buf;
}

size_t spec_print(const struct spec *s, char *buf, size_t len)
{
	char timing[96] = "", a[32], b[32];

	if (!s->inline_cmds)
		snprintf(timing, sizeof(timing), "latency=%s,jitter=%s,", time_text(s->hca.latency, a),
			 time_text(s->hca.jitter, b));
	return (size_t)snprintf(buf, len, "profile=%s,%stimeout=%s,seed=%" PRIu64 "%s%s%s%s%s",
				hca_profile_name(s->hca.profile), timing, time_text(s->hca.timeout, a), s->hca.seed,
				s->hca.reorder ? ",reorder" : "", s->inline_cmds ? ",inline" : "",
				s->hca.strict ? ",strict" : "", s->kernel_quirks ? ",quirks=kernel" : "",
				s->manual_clock ? ",clock=manual" : "");
}

/* Each word may stand once; which ones did. */
struct rule_words {
	bool opcode, nth, status, syndrome, hang, delay, clear;
};

static bool rule_word(const struct text *t, const struct word *w, struct rule_words *seen, struct hca_fault *f)
{
	uint64_t v = 0;
	bool *slot, ok = true;

	if (key_is(w, "opcode")) {
		slot = &seen->opcode;
		ok = whole_number(w, UINT16_MAX, &v);
		f->opcode = (uint16_t)v;
	} else if (key_is(w, "nth")) {
		slot = &seen->nth;
		ok = whole_number(w, UINT64_MAX, &f->nth) && f->nth;
	} else if (key_is(w, "status")) {
		slot = &seen->status;
		ok = whole_number(w, UINT8_MAX, &v) && v;
		f->status = (uint8_t)v;
	} else if (key_is(w, "syndrome")) {
		slot = &seen->syndrome;
		ok = whole_number(w, UINT32_MAX, &v);
		f->syndrome = (uint32_t)v;
	} else if (key_is(w, "delay")) {
		slot = &seen->delay;
		ok = duration(w, &f->delay) && f->delay && f->delay < HCA_DELAY_MAX;
	} else if (is(w, "hang")) {
		slot = &seen->hang;
	} else if (is(w, "clear")) {
		slot = &seen->clear;
	} else {
		return bad(t, w, "unknown word in the rule");
	}
	if (!ok)
		return bad(t, w, "value is not allowed");
	if (*slot)
		return bad(t, w, "given twice");
	*slot = true;
	return true;
}

bool spec_rule_parse_to(const char *text, struct hca_fault *fault, bool *clear, char *message, size_t room)
{
	const struct text t = { text, "fault rule", message, room };
	struct rule_words seen = { false };
	struct word whole = { .at = text, .len = strlen(text) };
	const char *p = text;

	*fault = (struct hca_fault){ 0 };
	for (;;) {
		p += strspn(p, " \t");
		if (!*p)
			break;
		struct word w = next_word(&p, " \t");

		if (!rule_word(&t, &w, &seen, fault))
			return false;
	}
	*clear = seen.clear;
	if (seen.clear)
		return seen.opcode || seen.nth || seen.status || seen.syndrome || seen.hang || seen.delay ?
			       bad(&t, &whole, "clear stands alone") : true;
	if (seen.status + seen.hang + seen.delay != 1)
		return bad(&t, &whole, "needs exactly one of status=, hang, delay=");
	if (seen.syndrome && !seen.status)
		return bad(&t, &whole, "syndrome= needs status=");
	fault->any_opcode = !seen.opcode;
	fault->kind = seen.hang ? HCA_FAULT_HANG : seen.delay ? HCA_FAULT_DELAY : HCA_FAULT_STATUS;
	return true;
}

bool spec_rule_parse(const char *text, struct hca_fault *fault, bool *clear)
{
	return spec_rule_parse_to(text, fault, clear, NULL, 0);
}
