/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the host's apt gets Debian from. */
#ifndef SOURCES_H
#define SOURCES_H

#include <stdbool.h>

struct apt_source {
	char uri[512], keyring[512]; /* no keyring: apt's own are asked */
};

/* The first source of Debian's main archive in a sources.list, or in a deb822 file. False: none. */
bool sources_parse(const char *text, bool deb822, struct apt_source *s);
/* That of this host. False: it has none. */
bool sources_host(struct apt_source *s);

#endif
