/* SPDX-License-Identifier: BSD-2-Clause */
/* A live table in the terminal. */
#ifndef DEVX_WATCH_H
#define DEVX_WATCH_H

#include "report.h"

/* Reads the whole capture, or until q. The state the capture was left in; FAILED was said on stderr. */
enum capture_state watch_run(struct report *r, uint32_t top);

#endif
