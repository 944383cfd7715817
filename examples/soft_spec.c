/* SPDX-License-Identifier: BSD-2-Clause */
/* A failing run with random timing is made again by the spec that it prints. */
#include <err.h>
#include <errno.h>
#include <opendevx/soft.h>
#include <stdio.h>

int main(void)
{
	struct ibv_device *dev = odx_soft_create("jitter=5us,seed=42"), *again;
	char spec[512];

	if (!dev)
		err(1, "odx_soft_create");
	errno = odx_soft_spec(dev, spec, sizeof(spec));
	if (errno)
		err(1, "odx_soft_spec");
	puts(spec);
	again = odx_soft_create(spec);
	if (!again)
		err(1, "odx_soft_create");
	return odx_soft_destroy(dev) || odx_soft_destroy(again);
}
