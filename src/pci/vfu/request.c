/* SPDX-License-Identifier: BSD-2-Clause */
/* The client's commands: the greeting, the device as a whole, and where the others go. */
#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "server.h"

/*
 * What we can take. Less than the client proposed is not needed: these are our limits, not its (the words are those that
 * QEMU and libvfio-user know).
 */
static const char our_version[] = "{\"capabilities\":{\"max_msg_fds\":16,\"max_data_xfer_size\":1048576,\"max_dma_maps\":4096,"
				  "\"pgsizes\":4096,\"write_multiple\":true}}";

/* A limit of the client's: absent is the default; what is no positive number is refused. */
static bool limit(json_t *caps, const char *name, uint64_t absent, uint64_t *value)
{
	json_t *j = json_object_get(caps, name);

	*value = absent;
	if (!j)
		return true;
	if (!json_is_integer(j) || json_integer_value(j) <= 0)
		return false;
	*value = (uint64_t)json_integer_value(j);
	return true;
}

/* Capabilities that are not known are ignored, as the protocol grows by them. */
static bool take_capabilities(struct vfu *v, const char *text, size_t len)
{
	json_t *all = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL), *caps = json_object_get(all, "capabilities");
	uint64_t xfer, fds; /* each message of ours has at most one descriptor, which every client must take */
	bool ok = json_is_object(all) && (!caps || json_is_object(caps)) &&
		  limit(caps, "max_data_xfer_size", VFU_XFER_MAX, &xfer) && limit(caps, "max_msg_fds", 1, &fds);

	if (ok)
		v->dma.xfer_max = xfer < VFU_XFER_MAX ? xfer : VFU_XFER_MAX;
	json_decref(all);
	return ok;
}

static void version(struct vfu *v, const uint8_t *in, size_t len)
{
	uint16_t proposed[2]; /* major, minor */
	const char *text = (const char *)in + sizeof(proposed);
	uint8_t *out = vfu_payload(v);

	if (v->greeted || len < sizeof(proposed)) {
		vfu_reply_error(v, EINVAL);
		return;
	}
	memcpy(proposed, in, sizeof(proposed));
	len -= sizeof(proposed);
	if (proposed[0] != 0) {
		vfu_reply_error(v, ENOTSUP);
		return;
	}
	if (len && (text[len - 1] || memchr(text, 0, len - 1) || !take_capabilities(v, text, len - 1))) {
		vfu_reply_error(v, EINVAL);
		return;
	}
	v->greeted = true;
	memset(out, 0, sizeof(proposed)); /* 0.0: no later minor version is described */
	memcpy(out + sizeof(proposed), our_version, sizeof(our_version));
	vfu_reply_built(v, sizeof(proposed) + sizeof(our_version));
}

static void get_info(struct vfu *v, const uint8_t *in, size_t len)
{
	struct vfu_device_info info;

	if (len != sizeof(info)) {
		vfu_reply_error(v, EINVAL);
		return;
	}
	memcpy(&info, in, sizeof(info));
	if (info.argsz < sizeof(info)) {
		vfu_reply_error(v, EINVAL);
		return;
	}
	info = (struct vfu_device_info){ .argsz = sizeof(info), .flags = VFIO_DEVICE_FLAGS_RESET | VFIO_DEVICE_FLAGS_PCI,
					 .num_regions = VFIO_PCI_NUM_REGIONS, .num_irqs = VFIO_PCI_NUM_IRQS };
	vfu_reply(v, &info, sizeof(info), -1);
}

static void reset(struct vfu *v, const uint8_t *in, size_t len)
{
	if (len) {
		vfu_reply_error(v, EINVAL);
		return;
	}
	pci_reset(v->pci, vfu_now(v));
	vfu_reply(v, NULL, 0, -1);
}

static void (*const handlers[])(struct vfu *v, const uint8_t *in, size_t len) = {
	[VFU_VERSION] = version,
	[VFU_DMA_MAP] = vfu_dma_map,
	[VFU_DMA_UNMAP] = vfu_dma_unmap,
	[VFU_GET_INFO] = get_info,
	[VFU_GET_REGION_INFO] = vfu_region_info,
	[VFU_GET_IRQ_INFO] = vfu_irq_info,
	[VFU_SET_IRQS] = vfu_set_irqs,
	[VFU_REGION_READ] = vfu_region_read,
	[VFU_REGION_WRITE] = vfu_region_write,
	[VFU_RESET] = reset,
	[VFU_WRITE_MULTI] = vfu_write_multi,
};

void vfu_request(struct vfu *v)
{
	struct message *m = v->current;
	unsigned int command = m->header.command;
	bool takes_fds = command == VFU_DMA_MAP || command == VFU_SET_IRQS;

	if (m->lost_fds || (m->n_fds && !takes_fds))
		vfu_reply_error(v, EINVAL);
	else if (command != VFU_VERSION && !v->greeted)
		vfu_reply_error(v, EINVAL);
	else if (command == VFU_GET_REGION_IO_FDS)
		vfu_reply_error(v, EOPNOTSUPP);
	else if (command < sizeof(handlers) / sizeof(handlers[0]) && handlers[command])
		handlers[command](v, m->bytes + sizeof(m->header), m->header.size - sizeof(m->header));
	else
		vfu_reply_error(v, ENOTSUP);
	vfu_close_fds(m->fds, &m->n_fds); /* that the handler did not take */
	m->lost_fds = false;
}
