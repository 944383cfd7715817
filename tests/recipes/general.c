/* SPDX-License-Identifier: BSD-2-Clause */
/* Commands that name no object. */
#include "recipes.h"
#include "prm_gen.h"
#include "table.h"

const struct rcp_cmd rcp_general[] = {
	{ CMD(NOP, nop), .id = { 0, 0 } },
	{ CMD(QUERY_HCA_CAP, query_hca_cap), .id = { 0, 0 } },
	{ .opcode = 0 },
};
