/* SPDX-License-Identifier: BSD-2-Clause */
/* Which OpenDEVX runs, and which one the program was built for. */
#include <opendevx/opendevx.h>
#include <stdio.h>

int main(void)
{
	printf("built for %s, runs with %s\n", OPENDEVX_VERSION, odx_version());
	return 0;
}
