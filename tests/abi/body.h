/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef ABI_BODY_H
#define ABI_BODY_H

/* A program's use of DEVX on the device "mlx5_soft0": 0, or 1 and a line on stderr that says what went wrong. */
int abi_body(void);

#endif
