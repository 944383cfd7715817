/* SPDX-License-Identifier: BSD-2-Clause */
/* Slots, time, hold and fault plans: when commands start and end (schedule.c). What they do is dispatch's. */
#ifndef HCA_SCHED_H
#define HCA_SCHED_H

#include "hca.h"

struct sched;

struct sched *sched_new(void);
void sched_free(struct sched *s);

#endif
