/* SPDX-License-Identifier: BSD-2-Clause */
#include "bare.h"

void pages_cmd(struct cmd *c, uint64_t first, uint32_t n)
{
	cmd_new(c, PRM_OP_MANAGE_PAGES, 0, PRM_SZ(manage_pages_in) + n * 8, PRM_SZ(manage_pages_out));
	cmd_op_mod(c, 1);
	SET(c, manage_pages_in, input_num_entries, n);
	for (uint32_t i = 0; i < n; i++)
		prm_set(&c->i, PRM_SZ(manage_pages_in) * 8 + i * 64, 64, first + (uint64_t)i * PAGE);
}

void give_pages(struct dev *d, uint64_t first, uint32_t n)
{
	struct cmd c;

	pages_cmd(&c, first, n);
	cmd_ok(d, &c);
}

uint32_t take_pages(struct dev *d, uint32_t n)
{
	struct cmd c;

	cmd_new(&c, PRM_OP_MANAGE_PAGES, 0, PRM_SZ(manage_pages_in), PRM_SZ(manage_pages_out) + n * 8);
	cmd_op_mod(&c, 2);
	SET(&c, manage_pages_in, input_num_entries, n);
	cmd_ok(d, &c);
	return (uint32_t)OUT(&c, manage_pages_out, output_num_entries);
}

int32_t want_pages(struct dev *d, uint16_t op_mod)
{
	struct cmd c;

	CMD(&c, QUERY_PAGES, 0, query_pages);
	cmd_op_mod(&c, op_mod);
	cmd_ok(d, &c);
	return (int32_t)OUT(&c, query_pages_out, num_pages);
}

void enable(struct dev *d)
{
	struct cmd c;

	CMD(&c, ENABLE_HCA, 0, enable_hca);
	cmd_ok(d, &c);
}

void set_up(struct dev *d)
{
	uint32_t boot;
	struct cmd c;

	enable(d);
	boot = (uint32_t)want_pages(d, 1);
	give_pages(d, FIRST_PAGE, boot);
	give_pages(d, FIRST_PAGE + boot * PAGE, (uint32_t)want_pages(d, 2));
	CMD(&c, INIT_HCA, 0, init_hca);
	cmd_ok(d, &c);
}

void tear_down(struct dev *d)
{
	struct cmd c;

	CMD(&c, TEARDOWN_HCA, 0, teardown_hca);
	cmd_ok(d, &c);
	while (take_pages(d, 100))
		continue;
	assert_int_equal(d->h->init->pages.n, 0);
	CMD(&c, DISABLE_HCA, 0, disable_hca);
	cmd_ok(d, &c);
}

void reg_cmd(struct cmd *c, uint16_t id, bool write, uint32_t bytes)
{
	cmd_new(c, PRM_OP_ACCESS_REGISTER, 0, PRM_HDR_SZ + bytes, PRM_HDR_SZ + bytes);
	cmd_op_mod(c, !write);
	SET(c, access_register_in, register_id, id);
}

struct prm_box reg_in(struct cmd *c)
{
	return prm_out(c->in + PRM_HDR_SZ, c->inlen - PRM_HDR_SZ);
}

struct prm_box reg_out(struct cmd *c)
{
	return prm_out(c->out + PRM_HDR_SZ, c->outlen - PRM_HDR_SZ);
}

uint32_t new_eq(struct dev *d, uint32_t page, uint32_t log_size, uint64_t mask, uint32_t vector, uint16_t uid)
{
	struct prm_box eqc;
	struct cmd c;

	cmd_new(&c, PRM_OP_CREATE_EQ, uid, PRM_SZ(create_eq_in) + 8, PRM_SZ(create_eq_out));
	eqc = PRM_SUB(&c.i, create_eq_in, eq_context_entry);
	PRM_SET(&eqc, eqc, log_eq_size, log_size);
	PRM_SET(&eqc, eqc, intr, vector);
	PRM_SET(&c.i, create_eq_in, event_bitmask, mask);
	prm_set(&c.i, PRM_SZ(create_eq_in) * 8, 64, MEM_ADDR + page * PAGE);
	cmd_ok(d, &c);
	return (uint32_t)OUT(&c, create_eq_out, eq_number);
}

struct prm_box eqe_at(struct dev *d, uint32_t page, uint32_t n)
{
	return prm_in(d->mem + page * PAGE + n * 64, 64);
}
