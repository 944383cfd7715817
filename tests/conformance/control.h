/* SPDX-License-Identifier: BSD-2-Clause */
/* Between the device under test (conf.c) and what is done to it (control.c). */
#ifndef CONTROL_H
#define CONTROL_H

#include <stdarg.h>

#include "conf.h"

bool controlled(void);
bool is_soft_device(struct ibv_device *dev);
/* After a case: nothing fails, is held or gone any more. The device as it is now. */
struct ibv_device *put_right(struct ibv_device *dev);
void release_all(void); /* also: what was to fail does so no more */
void count_submit(void);

#endif
