/* SPDX-License-Identifier: BSD-2-Clause */
#include "model.h"

enum syn mkey_check_write(struct hca *h, uint32_t mkey, uint16_t uid, uint64_t addr, uint64_t len)
{
	return SYN_MKEY;
}

enum syn mkey_write(struct hca *h, uint32_t mkey, uint16_t uid, uint64_t addr, const void *src, size_t len)
{
	return SYN_MKEY;
}
