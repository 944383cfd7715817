/* SPDX-License-Identifier: BSD-2-Clause */
#include "body.h"

int main(void)
{
	return abi_body();
}
