/* SPDX-License-Identifier: BSD-2-Clause */
/* The vfio-user server over a socket pair, with a function that only remembers. */
#include "vfu_fake.h"

int main(void)
{
	int bad = 0;

	bad += _cmocka_run_group_tests("messages", vfu_message_tests, vfu_n_message_tests, NULL, NULL);
	bad += _cmocka_run_group_tests("dma", vfu_dma_tests, vfu_n_dma_tests, NULL, NULL);
	bad += _cmocka_run_group_tests("dma by message", vfu_dma_message_tests, vfu_n_dma_message_tests, NULL, NULL);
	bad += _cmocka_run_group_tests("irq", vfu_irq_tests, vfu_n_irq_tests, NULL, NULL);
	bad += _cmocka_run_group_tests("server", vfu_server_tests, vfu_n_server_tests, NULL, NULL);
	return bad;
}
