/* SPDX-License-Identifier: BSD-2-Clause */
/* soft.h: what a test does to a device. */
#include <errno.h>
#include <opendevx/soft.h>
#include <string.h>

#include "device.h"

/* The device with its model locked and up to date; NULL: *err says why. */
static struct soft_device *enter(struct ibv_device *ibv, int *err)
{
	struct soft_device *dev = soft_device_get(ibv, err);

	if (dev) {
		*err = 0;
		pthread_mutex_lock(&dev->model);
		soft_pump(dev);
	}
	return dev;
}

/* What became due by the change is delivered before the call returns. */
static void leave(struct soft_device *dev)
{
	soft_pump(dev);
	pthread_mutex_unlock(&dev->model);
	soft_device_put(dev);
}

ODX_EXPORT int odx_soft_hold(struct ibv_device *ibv)
{
	int err;
	struct soft_device *dev = enter(ibv, &err);

	if (!dev)
		return err;
	hca_hold(dev->hca, soft_now(dev));
	soft_permits_hold(dev, true);
	leave(dev);
	return 0;
}

ODX_EXPORT int odx_soft_release(struct ibv_device *ibv, uint32_t n)
{
	int err;
	struct soft_device *dev = enter(ibv, &err);

	if (!dev)
		return err;
	hca_release(dev->hca, n, soft_now(dev));
	if (n == UINT32_MAX)
		soft_permits_hold(dev, false);
	leave(dev);
	return 0;
}

ODX_EXPORT int odx_soft_remove(struct ibv_device *ibv)
{
	int err;
	struct soft_device *dev = enter(ibv, &err);

	if (!dev)
		return err;
	if (!atomic_exchange(&dev->removed, true)) {
		hca_remove(dev->hca);
		soft_pump(dev);
		soft_async_fatal(dev);
	}
	pthread_mutex_unlock(&dev->model);
	fdqs_removed(dev); /* by a second caller too: it is done when either returns */
	soft_device_put(dev);
	return 0;
}

ODX_EXPORT int odx_soft_fault(struct ibv_device *ibv, const char *rule)
{
	struct hca_fault fault;
	struct soft_device *dev;
	bool clear;
	int err;

	if (!ibv || !rule || !spec_rule_parse(rule, &fault, &clear))
		return EINVAL;
	dev = enter(ibv, &err);
	if (!dev)
		return err;
	if (clear)
		hca_fault_clear(dev->hca, soft_now(dev));
	else if (!hca_fault_add(dev->hca, &fault))
		err = ENOMEM;
	leave(dev);
	return err;
}

ODX_EXPORT int odx_soft_advance(struct ibv_device *ibv, uint64_t ns)
{
	int err;
	struct soft_device *dev = enter(ibv, &err);

	if (!dev)
		return err;
	/* HCA_NEVER is no time, and timeouts must fit after it. */
	if (!dev->spec.manual_clock || ns >= HCA_NEVER / 2 - dev->manual_now)
		err = EINVAL;
	else
		dev->manual_now += ns;
	leave(dev);
	return err;
}

ODX_EXPORT int odx_soft_traffic(struct ibv_device *ibv, uint32_t counter_id, uint64_t packets, uint64_t octets)
{
	int err;
	struct soft_device *dev = enter(ibv, &err);

	if (!dev)
		return err;
	if (atomic_load(&dev->removed))
		err = EIO;
	else if (!hca_traffic(dev->hca, counter_id, packets, octets))
		err = ENOENT;
	leave(dev);
	return err;
}

ODX_EXPORT int odx_soft_packet(struct ibv_device *ibv, const void *frame, size_t len, uint32_t port)
{
	struct hca_packet result;
	struct soft_device *dev;
	int err;

	if (!ibv || !frame || len < HCA_FRAME_MIN || len > HCA_FRAME_MAX)
		return EINVAL;
	dev = enter(ibv, &err);
	if (!dev)
		return err;
	if (atomic_load(&dev->removed))
		err = EIO;
	else if (!hca_packet(dev->hca, frame, len, port, &result))
		err = EINVAL;
	else if (result.link_down)
		err = ENETDOWN;
	leave(dev);
	return err;
}

ODX_EXPORT int odx_soft_port(struct ibv_device *ibv, uint32_t port, int up)
{
	int err;
	struct soft_device *dev = enter(ibv, &err);

	if (!dev)
		return err;
	if (atomic_load(&dev->removed))
		err = EIO;
	else if (!hca_port(dev->hca, port, up))
		err = EINVAL;
	leave(dev);
	return err;
}

ODX_EXPORT int odx_soft_event(struct ibv_device *ibv, struct mlx5dv_devx_obj *obj, uint16_t event, uint8_t syndrome)
{
	/* By what the model says. */
	static const int errors[] = { [HCA_NO_OBJECT] = ENOENT, [HCA_NO_EVENT] = EINVAL, [HCA_NOT_NOW] = EBUSY };
	struct soft_obj *o;
	struct soft_context *ctx;
	struct soft_device *dev;
	int err;

	if (!ibv || !obj)
		return EINVAL;
	if (!slab_owns(&soft_objs, obj))
		return ENOENT;
	err = soft_obj_read_lock(obj, &ctx, &o);
	if (err)
		return err == EBADF ? ENOENT : err;
	dev = enter(ibv, &err);
	if (dev) {
		if (ctx->dev != dev)
			err = ENOENT;
		else if (atomic_load(&dev->removed))
			err = EIO;
		else
			err = errors[hca_event(dev->hca, (uint16_t)(o->key >> 32), (uint16_t)(o->key >> 48),
						   (uint32_t)o->key, event, syndrome)];
		leave(dev);
	}
	soft_obj_read_unlock(o);
	return err;
}

ODX_EXPORT int odx_soft_spec(struct ibv_device *ibv, char *buf, size_t len)
{
	char text[SPEC_MAX];
	struct soft_device *dev;
	size_t n;
	int err;

	if (!buf)
		return EINVAL;
	dev = soft_device_get(ibv, &err);
	if (!dev)
		return err;
	n = spec_print(&dev->spec, text, sizeof(text));
	soft_device_put(dev);
	if (n >= len)
		return ENOSPC;
	memcpy(buf, text, n + 1);
	return 0;
}
