/* SPDX-License-Identifier: BSD-2-Clause */
/* Inboxes that the model accepts, for the fuzzer to spoil: random bytes alone seldom get past the first check. */
#ifndef FUZZ_TEMPLATE_H
#define FUZZ_TEMPLATE_H

#include "hca.h"
#include "prm.h"

#define TEMPLATE_TAG 0x5au

/* One live object of each type, of uid 0. */
struct live {
	uint32_t pd, umem, mkey, cqn, qpn, counter_set, flow_counter;
};

/* Fills in from its layout what the opcode needs; in is zeroed and holds the opcode. mem: an address that may be registered. */
void template_fill(uint16_t opcode, struct prm_box *in, const struct live *live, uint64_t mem);
/* Makes the objects. */
void template_setup(struct hca *h, struct live *live, uint64_t mem);

#endif
