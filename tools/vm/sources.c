/* SPDX-License-Identifier: BSD-2-Clause */
/* sources.list(5): one line a source, or stanzas of "Key: values". */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "sources.h"
#include "vm.h"

#define DEFAULT_KEYRING "/usr/share/keyrings/debian-archive-keyring.gpg"

/* The next word; false at the end of the line. */
static bool word(const char **p, const char *end, char *buf, size_t size)
{
	size_t n = 0;

	while (*p < end && (**p == ' ' || **p == '\t'))
		(*p)++;
	for (; *p < end && **p != ' ' && **p != '\t'; (*p)++)
		if (n < size - 1)
			buf[n++] = **p;
	buf[n] = 0;
	return n;
}

static bool has_word(const char *p, const char *end, const char *wanted)
{
	char buf[512];

	while (word(&p, end, buf, sizeof(buf)))
		if (!strcmp(buf, wanted))
			return true;
	return false;
}

/* Debian's archive, and not that of its security team, of another distribution or of one vendor. */
static bool is_debian(const char *uri)
{
	size_t n = strlen(uri);

	while (n && uri[n - 1] == '/')
		n--;
	return n > 7 && !strncmp(uri + n - 7, "/debian", 7) && !strchr(uri, '\'') && !strchr(uri, '[');
}

/* "deb [arch=amd64 signed-by=/x.gpg] uri suite main ..." */
static bool one_line(const char *p, const char *end, struct apt_source *s)
{
	char buf[512], key[512] = "";
	const char *close;

	if (!word(&p, end, buf, sizeof(buf)) || strcmp(buf, "deb") || !word(&p, end, buf, sizeof(buf)))
		return false;
	if (buf[0] == '[') {
		p -= strlen(buf) - 1;
		close = memchr(p, ']', (size_t)(end - p));
		if (!close)
			return false;
		while (word(&p, close, buf, sizeof(buf)))
			if (!strncasecmp(buf, "signed-by=", 10) && buf[10] == '/')
				snprintf(key, sizeof(key), "%s", buf + 10);
		p = close + 1;
		if (!word(&p, end, buf, sizeof(buf)))
			return false;
	}
	if (!is_debian(buf) || !has_word(p, end, "main"))
		return false;
	snprintf(s->uri, sizeof(s->uri), "%s", buf);
	snprintf(s->keyring, sizeof(s->keyring), "%s", key);
	return true;
}

struct stanza {
	bool deb, main, off;
	char uri[512], key[512];
};

static void field(struct stanza *st, const char *name, const char *p, const char *end)
{
	char buf[512];

	if (!strcasecmp(name, "types"))
		st->deb |= has_word(p, end, "deb");
	else if (!strcasecmp(name, "components"))
		st->main |= has_word(p, end, "main");
	else if (!strcasecmp(name, "enabled"))
		st->off |= has_word(p, end, "no") || has_word(p, end, "false");
	else if (!strcasecmp(name, "uris"))
		while (word(&p, end, buf, sizeof(buf)))
			if (!st->uri[0] && is_debian(buf))
				memcpy(st->uri, buf, sizeof(buf));
	if (!strcasecmp(name, "signed-by") && word(&p, end, buf, sizeof(buf)) && buf[0] == '/')
		memcpy(st->key, buf, sizeof(buf));
}

static bool complete(const struct stanza *st, struct apt_source *s)
{
	if (!st->deb || !st->main || st->off || !st->uri[0])
		return false;
	memcpy(s->uri, st->uri, sizeof(s->uri));
	memcpy(s->keyring, st->key, sizeof(s->keyring));
	return true;
}

bool sources_parse(const char *text, bool deb822, struct apt_source *s)
{
	struct stanza st = { 0 };
	char name[32] = "";

	for (const char *p = text, *end; *p; p = *end ? end + 1 : end) {
		end = strchrnul(p, '\n');
		if (*p == '#')
			continue;
		if (!deb822) {
			const char *comment = memchr(p, '#', (size_t)(end - p));

			if (one_line(p, comment ? comment : end, s))
				return true;
		} else if (p == end) {
			if (complete(&st, s))
				return true;
			memset(&st, 0, sizeof(st));
			name[0] = 0;
		} else if (*p == ' ' || *p == '\t') { /* goes on with the field before */
			field(&st, name, p, end);
		} else {
			size_t n = strcspn(p, ":\n");

			snprintf(name, sizeof(name), "%.*s", n < sizeof(name) ? (int)n : 0, p);
			if (p[n] == ':')
				field(&st, name, p + n + 1, end);
		}
	}
	return deb822 && complete(&st, s);
}

static bool from_file(const char *path, bool deb822, struct apt_source *s)
{
	size_t n;
	char *text = vm_read_file(path, &n);
	bool found = text && sources_parse(text, deb822, s);

	free(text);
	return found;
}

bool sources_host(struct apt_source *s)
{
	static const char *const places[] = { "/etc/apt/sources.list.d/*.sources", "/etc/apt/sources.list",
					      "/etc/apt/sources.list.d/*.list" };
	bool found = false;

	for (int i = 0; i < 3 && !found; i++) {
		glob_t g;

		if (glob(places[i], 0, NULL, &g))
			continue;
		for (size_t j = 0; j < g.gl_pathc && !found; j++)
			found = from_file(g.gl_pathv[j], i == 0, s);
		globfree(&g);
	}
	/* The key that the host pins may be of its own release only: the archive's keyring has the newer ones too. */
	if (!access(DEFAULT_KEYRING, R_OK))
		snprintf(s->keyring, sizeof(s->keyring), DEFAULT_KEYRING);
	return found;
}
