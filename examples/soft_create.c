/* SPDX-License-Identifier: BSD-2-Clause */
/* Two software devices beside whatever the machine has. Each keeps to its own spec. */
#include <err.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <opendevx/soft.h>
#include <stdio.h>

int main(void)
{
	struct ibv_device *a = odx_soft_create("profile=cx5,latency=20us,jitter=5us,reorder,seed=7");
	struct ibv_device *b = odx_soft_create("inline,clock=manual");

	if (!a || !b)
		err(1, "odx_soft_create");
	printf("%s and %s\n", ibv_get_device_name(a), ibv_get_device_name(b));
	if (odx_soft_create("latency=20") || errno != EINVAL) /* no unit: one line on stderr says so */
		errx(1, "a bad spec made a device");
	return odx_soft_destroy(a) || odx_soft_destroy(b);
}
