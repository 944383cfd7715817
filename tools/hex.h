/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes out of text: what xxd, hexdump, od and kernels print, plain digits, and C arrays. */
#ifndef DEVX_HEX_H
#define DEVX_HEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Could it be text at all? False: it is binary. */
bool hex_is_text(const void *p, size_t len);
/*
 * Reads the text's bytes to out, which has room for max. False with the line (from 1) and the reason. What takes more than a
 * byte (0x04000000, the words of a kernel's dump) has the most significant one first; hexdump without -C swaps pairs.
 */
bool hex_read(const char *text, size_t len, uint8_t *out, size_t max, size_t *n, unsigned int *line, const char **why);

#endif
