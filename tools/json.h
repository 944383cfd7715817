/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DEVX_JSON_H
#define DEVX_JSON_H

#include <jansson.h>

/* A string of any bytes: what is not UTF-8 is told with '?'. */
json_t *devx_json_text(const char *s);
/* Prints and frees it. Returns an exit code; NULL is out of memory. */
int devx_json_print(json_t *root);
/* Were all bytes of stdout taken? Says so if not. */
int devx_flush(void);

#endif
