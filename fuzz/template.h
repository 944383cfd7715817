/* SPDX-License-Identifier: BSD-2-Clause */
/* Inboxes that the model accepts, for the fuzzer to spoil: random bytes alone seldom get past the first check. */
#ifndef FUZZ_TEMPLATE_H
#define FUZZ_TEMPLATE_H

#include "hca.h"
#include "prm.h"
#include "recipes.h"

/* One live object of each recipe that a command has needed, of uid 0. */
struct live {
	struct rcp_env env;
	struct rcp_caps caps;
	bool tried[RCP_N];
};

/* Every command of every recipe, one after the other; the driver's own come last. n: how many. */
const struct rcp_cmd *template_command(unsigned int i);
unsigned int template_commands(void);
/* The layout of its inbox, or of the part behind the first (A+B); *base: where that begins. NULL: none is known. */
const struct prm_layout *template_layout(const struct rcp_cmd *cmd, bool second, uint32_t *base);
/*
 * Fills a zeroed inbox with what the device accepts, as far as it is long enough; makes what it refers to. mem: an address
 * that may be registered.
 */
void template_fill(struct hca *h, const struct rcp_cmd *cmd, struct prm_box *in, struct live *live, uint64_t mem,
		   uint32_t serial);
/* mem: two pages for the umem of the others. */
void template_begin(struct hca *h, struct live *live, uint64_t mem);

#endif
