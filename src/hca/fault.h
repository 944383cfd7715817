/* SPDX-License-Identifier: BSD-2-Clause */
/* Fault rules: which command fails, hangs or is late. They count, and never roll dice, so that a run can be run again. */
#ifndef HCA_FAULT_H
#define HCA_FAULT_H

#include "hca.h"

struct fault_rule {
	struct hca_fault fault;
	uint64_t seen;
};

struct faults {
	struct fault_rule *rules;
	unsigned int n;
	struct hca_fault fired; /* what faults_match() last returned */
};

#define FAULTS_MAX 4096u /* our choice: each command is held against all of them */

bool faults_add(struct faults *f, const struct hca_fault *fault); /* false: no memory, or too many */
/*
 * Counts the command in every rule; the first rule that fires, in the order in which they were set, or NULL. Valid until the next
 * call. A rule that can fire no more is dropped, so that a long test does not slow down.
 */
const struct hca_fault *faults_match(struct faults *f, uint16_t opcode);
void faults_free(struct faults *f);

#endif
