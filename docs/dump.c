/* SPDX-License-Identifier: BSD-2-Clause */
/* What commands.py cannot read out of tables: the commands and capability pages that the model has. A line for each. */
#include <stdio.h>

#include "caps.h"

int main(void)
{
	static const struct hca_config config = { .profile = HCA_CX7, .bare = true }; /* it has the driver's commands too */
	static const struct hca_host host = { 0 };
	struct hca *h = hca_new(&config, &host, NULL);

	if (!h)
		return 1;
	for (unsigned int op = 1; op < sizeof(h->op_of) / sizeof(h->op_of[0]); op++)
		if (h->op_of[op])
			printf("op 0x%x %s\n", op, h->op_of[op]->kind == OP_DRIVER ? "driver" : "user");
	for (unsigned int i = 0; i < n_cap_pages; i++)
		printf("cap 0x%x %s\n", cap_pages[i].type, cap_pages[i].rows ? "values" : "off");
	hca_free(h);
	return 0;
}
