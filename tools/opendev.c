/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <opendevx/opendevx.h>
#include <opendevx/soft.h>
#include <stdio.h>
#include <string.h>

#include "devx.h"
#include "opendev.h"

struct ibv_context *opendev_context(struct ibv_device *dev, const char *name)
{
	struct mlx5dv_context_attr attr = { .flags = MLX5DV_CONTEXT_FLAGS_DEVX };
	struct ibv_context *ctx;
	char spec[512];

	if (!odx_soft_spec(dev, spec, sizeof(spec)) && strstr(spec, "clock=manual")) {
		devx_error("%s has clock=manual: its commands would wait for ever, because devx does not move its time", name);
		return NULL;
	}
	ctx = mlx5dv_open_device(dev, &attr);
	if (!ctx)
		devx_error("cannot open %s: %s", name, strerror(errno));
	return ctx;
}

struct ibv_context *opendev(const char *wanted, char name[64])
{
	struct ibv_context *ctx = NULL;
	struct ibv_device **list;
	int n = 0, i = 0;

	errno = 0;
	list = ibv_get_device_list(&n);
	if (!list) {
		devx_error("cannot list the devices: %s", strerror(errno));
		return NULL;
	}
	while (i < n && (wanted ? strcmp(ibv_get_device_name(list[i]), wanted) != 0 : !mlx5dv_is_supported(list[i])))
		i++;
	if (i < n) {
		snprintf(name, 64, "%s", ibv_get_device_name(list[i]));
		ctx = opendev_context(list[i], name);
	} else if (wanted) {
		devx_error("no device is called \"%s\"; devx list shows them", wanted);
	} else {
		devx_error("no device takes commands; see OPENDEVX_SOFT in devx(1) (it may be \"off\", or not parse)");
	}
	ibv_free_device_list(list);
	return ctx;
}
