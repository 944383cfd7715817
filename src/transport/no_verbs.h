/* SPDX-License-Identifier: BSD-2-Clause */
/* A verbs context of a transport, in which no verb does anything yet. */
#ifndef NO_VERBS_H
#define NO_VERBS_H

#include <infiniband/verbs.h>

void no_verbs(struct verbs_context *v);

#endif
