/* SPDX-License-Identifier: BSD-2-Clause */
/* Every command of the model, executed at once and through the queue; then: was each syndrome produced? */
#include <stdlib.h>

#include <stdio.h>

#include "dev.h"

static void every_syndrome(void **state)
{
	unsigned int missing = 0;

	for (int s = 1; s < SYN_COUNT; s++) {
		if (syn_seen[s])
			continue;
		print_error("syndrome %s (0x%06x) was never produced\n", syn_name((enum syn)s), syn_number((enum syn)s));
		missing++;
	}
	assert_int_equal(missing, 0);
}

static void numbers_differ(void **state)
{
	for (int a = 1; a < SYN_COUNT; a++)
		for (int b = 1; b < a; b++)
			assert_int_not_equal(syn_number((enum syn)a), syn_number((enum syn)b));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(every_syndrome), cmocka_unit_test(numbers_differ) };
	int failed = 0;

	/* Under valgrind and TSan once, through the queue. */
	for (int i = getenv("TESTS_BRIEF") ? 1 : 0; i < 2; i++) {
		through_queue = i;
		failed += run_user_tests() + run_counter_tests() + run_mkey_tests() + run_cq_tests() + run_qp_tests() + run_caps_tests() + run_event_tests() + run_eq_tests();
		/* Transport and queues. */
		failed += run_tis_tests() + run_tir_tests() + run_rq_tests() + run_srq_tests() + run_qp_kind_tests();
		failed += run_pas_tests() + run_driver_tests();
		/* Steering. */
		failed += run_flow_tests() + run_reformat_tests() + run_parse_tests() + run_packet_tests() + run_change_tests();

		/* Events and doorbells. */
		failed += run_uar_tests();
		/* A bare device. */
		failed += run_boot_tests() + run_pages_tests() + run_node_tests() + run_port_tests() + run_life_tests();
		/* General objects and commands, quality of service. */
		failed += run_general_tests() + run_general_flow_tests() + run_crypto_tests() + run_virtio_tests();
		failed += run_scheduling_tests() + run_vport_tests();
	}
	return failed + cmocka_run_group_tests_name("syndromes", tests, NULL, NULL) ? 1 : 0;
}
