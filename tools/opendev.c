/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <opendevx/opendevx.h>
#include <opendevx/soft.h>
#include <stdio.h>
#include <string.h>

#include "devx.h"
#include "opendev.h"

/* What mlx5dv_open_device(3) says of each errno of a kernel device, as far as there is something to be done about it. */
static void say_why(const struct ibv_device *dev, const char *name, int err)
{
	static const struct {
		int err;
		const char *why;
	} all[] = {
		{ ENOENT, "it has no node there: is ib_uverbs loaded, and does the container have the node?" },
		{ EACCES, "this user may not read and write it" },
		{ EPERM, "it is of another network namespace, or kept from this container" },
		{ ENODEV, "that is another device's node" },
		{ ENXIO, "no driver is behind it" },
		{ EINVAL, "the driver or the firmware has no DEVX" },
		{ EOPNOTSUPP, "the kernel has no DEVX: it came with Linux 4.19" },
		{ EIO, "the device was removed" },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i].err == err) {
			devx_error("cannot open %s (/dev/infiniband/%s): %s: %s", name, dev->dev_name, strerror(err), all[i].why);
			return;
		}
	devx_error("cannot open %s: %s", name, strerror(err));
}

struct ibv_context *opendev_context(struct ibv_device *dev, const char *name)
{
	struct mlx5dv_context_attr attr = { .flags = MLX5DV_CONTEXT_FLAGS_DEVX };
	struct ibv_context *ctx;
	char spec[512] = "";

	if (!odx_soft_spec(dev, spec, sizeof(spec)) && strstr(spec, "clock=manual")) {
		devx_error("%s has clock=manual: its commands would wait for ever, because devx does not move its time", name);
		return NULL;
	}
	ctx = mlx5dv_open_device(dev, &attr);
	if (!ctx && spec[0])
		devx_error("cannot open %s: %s", name, strerror(errno));
	else if (!ctx)
		say_why(dev, name, errno);
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
