/* SPDX-License-Identifier: BSD-2-Clause */
/* What the model needs from whoever embeds it. Time is handed to the model's own calls (hca.h): it never asks for it. */
#ifndef HCA_HOST_H
#define HCA_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An event, as the device writes it into event queues, and whom it concerns. */
struct hca_event {
	uint8_t eqe[64];
	uint8_t type;
	bool affiliated;   /* with an object, which the two below name as Linux does (devx.c, get_event_obj_type) */
	uint16_t obj_type;
	uint32_t obj_id;
};

struct hca_host {
	/* Memory at a device address (an MTT's). False: not there, or not allowed; then nothing may be assumed of dst. */
	bool (*read)(void *host, uint64_t addr, void *dst, size_t len);
	bool (*write)(void *host, uint64_t addr, const void *src, size_t len);

	/* None of these may call the model. */
	void (*event)(void *host, const struct hca_event *ev);
	/* Event queues: an EQE was written; and what stands at an offset of the UAR page that the queue names. */
	void (*interrupt)(void *host, uint32_t eqn, uint32_t vector);
	uint32_t (*doorbell)(void *host, uint32_t eqn, uint32_t uar_page, uint32_t offset);
	/* Puts 0 there, for a new queue that has the page for itself. NULL: the page is not the host's to write. */
	void (*doorbell_clear)(void *host, uint32_t uar_page, uint32_t offset);
};

#endif
