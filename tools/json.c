/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "devx.h"
#include "json.h"

json_t *devx_json_text(const char *s)
{
	json_t *v = json_string(s);
	char *copy;

	if (v)
		return v;
	copy = strdup(s);
	if (!copy)
		return NULL;
	for (char *p = copy; *p; p++)
		if ((unsigned char)*p >= 0x80)
			*p = '?';
	v = json_string(copy);
	free(copy);
	return v;
}

int devx_flush(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return DEVX_OK;
	devx_error("cannot write the output: %s", strerror(errno));
	return DEVX_FAILED;
}

int devx_json_print(json_t *root)
{
	if (!root) {
		devx_error("out of memory");
		return DEVX_FAILED;
	}
	json_dumpf(root, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(root);
	return devx_flush();
}
