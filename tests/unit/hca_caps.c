/* SPDX-License-Identifier: BSD-2-Clause */
#include "caps.h"
#include "dev.h"

static void cap_cmd(struct cmd *c, unsigned int type, bool current)
{
	CMD(c, QUERY_HCA_CAP, 0, query_hca_cap);
	cmd_op_mod(c, (uint16_t)(type << 1 | current));
}

static struct prm_box page_of(struct cmd *c)
{
	return PRM_SUB(&c->o, query_hca_cap_out, capability);
}

static void refused(void **state)
{
	struct dev *d = *state;
	struct cmd c;

	cap_cmd(&c, 0x7f, true);
	cmd_refused(d, &c, SYN_CAP_TYPE);
	cap_cmd(&c, 0x7fff, true);
	cmd_refused(d, &c, SYN_CAP_TYPE);
	cap_cmd(&c, 0, true);
	c.outlen--;
	cmd_refused(d, &c, SYN_OUT_LEN);
	cap_cmd(&c, 0, true);
	SET(&c, query_hca_cap_in, other_function, 1);
	cmd_ok(d, &c); /* function 0 is this one */
	SET(&c, query_hca_cap_in, function_id, 1);
	cmd_refused(d, &c, SYN_CAP_FUNCTION);
}

/* Every row of every page reads back, for each profile, and rows of a page do not overlap. */
static void rows(void **state)
{
	static const struct hca_host none;
	static uint8_t cur[4096];
	struct cmd c;
	struct prm_box page;

	for (int p = 0; p < HCA_N_PROFILES; p++) {
		struct hca_config config = { .profile = (enum hca_profile)p, .latency = 1000, .timeout = 1000000000 };
		struct dev d = { .h = hca_new(&config, &none, NULL) };

		assert_non_null(d.h);
		for (unsigned int i = 0; i < n_cap_pages; i++) {
			cap_cmd(&c, cap_pages[i].type, true);
			cmd_ok(&d, &c);
			page = page_of(&c);
			memcpy(cur, page.p, sizeof(cur));
			for (const struct cap_row *r = cap_pages[i].rows; r && r->width; r++) {
				assert_int_equal(prm_get(&page, r->bit, r->width), r->value[p]);
				for (const struct cap_row *o = cap_pages[i].rows; o < r; o++)
					assert_true(o->bit + o->width <= r->bit || r->bit + r->width <= o->bit);
			}
			cap_cmd(&c, cap_pages[i].type, false);
			cmd_ok(&d, &c);
			assert_memory_equal(page_of(&c).p, cur, sizeof(cur)); /* maximum and current are the same */
		}
		hca_free(d.h);
	}
}

/* What programs ask for before they use DEVX, and what would send them into paths that the model lacks. */
static void promises(void **state)
{
	struct dev *d = *state;
	struct prm_box page;
	uint64_t bulks;
	struct cmd c;

	cap_cmd(&c, 0, true);
	cmd_ok(d, &c);
	page = page_of(&c);
	assert_true(PRM_GET(&page, cmd_hca_cap, log_max_uctx) > 0);
	assert_true(1u << PRM_GET(&page, cmd_hca_cap, log_max_uctx) <= UID_MAX);
	assert_true(PRM_GET(&page, cmd_hca_cap, log_max_umem) > 0);
	assert_int_equal(PRM_GET(&page, cmd_hca_cap, nic_flow_table), 1);
	assert_int_equal(PRM_GET(&page, cmd_hca_cap, cq_resize), 1);
	assert_int_equal(PRM_GET(&page, cmd_hca_cap, max_flow_counter_31_16) << 16 |
			 PRM_GET(&page, cmd_hca_cap, max_flow_counter_15_0), FLOW_COUNTER_LAST - FLOW_COUNTER_FIRST + 1);
	bulks = PRM_GET(&page, cmd_hca_cap, flow_counter_bulk_alloc);
	/* Each bulk that the mask offers is given. */
	for (unsigned int bit = 0; bit < 8; bit++) {
		assert_true(bulks & 1u << bit);
		CMD(&c, ALLOC_FLOW_COUNTER, 0, alloc_flow_counter);
		SET(&c, alloc_flow_counter_in, flow_counter_bulk, 1u << bit);
		cmd_ok(d, &c);
	}
}

static void adapter(void **state)
{
	struct dev *d = *state;
	struct prm_box a;
	struct cmd c;

	CMD(&c, QUERY_ADAPTER, 0, query_adapter);
	cmd_ok(d, &c);
	a = PRM_SUB(&c.o, query_adapter_out, query_adapter_struct);
	assert_int_equal(PRM_GET(&a, query_adapter_param_block, ieee_vendor_id), 0x2c9);
	assert_int_equal(PRM_GET(&a, query_adapter_param_block, vsd_vendor_id), 0x15b3);
	assert_memory_equal(a.p + 1920 / 8, "ODX0000000CX7\0\0\0", 16);
}

int run_caps_tests(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, dev_setup, dev_teardown)
	const struct CMUnitTest tests[] = { TEST(refused), cmocka_unit_test(rows), TEST(promises), TEST(adapter) };

	return cmocka_run_group_tests_name("caps", tests, NULL, NULL);
}
