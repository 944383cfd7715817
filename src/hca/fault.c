/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>

#include "fault.h"

bool faults_add(struct faults *f, const struct hca_fault *fault)
{
	struct fault_rule *rules = f->n < FAULTS_MAX ? realloc(f->rules, (f->n + 1) * sizeof(*rules)) : NULL;

	if (!rules)
		return false;
	f->rules = rules;
	rules[f->n++] = (struct fault_rule){ .fault = *fault };
	return true;
}

const struct hca_fault *faults_match(struct faults *f, uint16_t opcode)
{
	bool hit = false;
	unsigned int kept = 0;

	for (unsigned int i = 0; i < f->n; i++) {
		struct fault_rule *r = &f->rules[i];
		bool match = r->fault.any_opcode || r->fault.opcode == opcode, spent = false;

		if (match) {
			r->seen++;
			spent = r->fault.nth && r->seen == r->fault.nth;
			if (!hit && (!r->fault.nth || spent)) {
				f->fired = r->fault;
				hit = true;
			}
		}
		if (!spent)
			f->rules[kept++] = *r;
	}
	f->n = kept;
	return hit ? &f->fired : NULL;
}

void faults_free(struct faults *f)
{
	free(f->rules);
	*f = (struct faults){ 0 };
}
