/* SPDX-License-Identifier: BSD-2-Clause */
/* Transport domains and what sends or receives in them. */
#include "recipes.h"
#include "prm_gen.h"
#include "table.h"

const struct recipe rcp_td = {
	.name = "transport domain",
	.create = { CMD(ALLOC_TRANSPORT_DOMAIN, alloc_transport_domain), { PRM_F_alloc_transport_domain_out__transport_domain }, NO_FIELDS },
	.destroy = { CMD(DEALLOC_TRANSPORT_DOMAIN, dealloc_transport_domain),
		     { PRM_F_dealloc_transport_domain_in__transport_domain }, NO_FIELDS },
};

const struct recipe rcp_tis = {
	.name = "tis",
	.create = { CMD(CREATE_TIS, create_tis), { PRM_F_create_tis_out__tisn },
		    { IN_REF(create_tis_in, ctx, tisc, transport_domain, TD), IN_OPT(create_tis_in, ctx, tisc, pd, PD),
		      IN(create_tis_in, ctx, tisc, prio, 3) } },
	.query = { CMD(QUERY_TIS, query_tis), { PRM_F_query_tis_in__tisn }, NO_FIELDS },
	.modify = { { { CMD(MODIFY_TIS, modify_tis), { PRM_F_modify_tis_in__tisn },
			{ IN(modify_tis_in, bitmask, modify_tis_bitmask, prio, 1), IN(modify_tis_in, ctx, tisc, prio, 5) } },
		      0, PLACE_IN(query_tis_out, tis_context, tisc, prio), 5 } },
	.destroy = { CMD(DESTROY_TIS, destroy_tis), { PRM_F_destroy_tis_in__tisn }, NO_FIELDS },
};
