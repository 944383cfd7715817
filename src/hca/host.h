/* SPDX-License-Identifier: BSD-2-Clause */
/* What the model needs from whoever embeds it. Time is handed to the model's own calls (hca.h): it never asks for it. */
#ifndef HCA_HOST_H
#define HCA_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hca_host {
	/* Memory at a device address (an MTT's). False: not there, or not allowed; then nothing may be assumed of dst. */
	bool (*read)(void *host, uint64_t addr, void *dst, size_t len);
	bool (*write)(void *host, uint64_t addr, const void *src, size_t len);
};

#endif
