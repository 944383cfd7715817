/* SPDX-License-Identifier: BSD-2-Clause */
/* The PCI function, with a driver that is a few functions. */
#include "driver.h"

int main(void)
{
	return run_pci_registers_tests() + run_pci_commands_tests() + run_pci_time_tests() ? 1 : 0;
}
