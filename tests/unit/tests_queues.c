/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests_queues.h"

struct base queues_base(void **state)
{
	struct base b = { .d = *state };

	b.uid = new_uid(b.d);
	b.other = new_uid(b.d);
	b.pd = new_pd(b.d, b.uid);
	b.td = new_td(b.d, b.uid);
	b.umem = new_umem(b.d, b.uid, 0, 2, MTT_RW);
	b.ro = new_umem(b.d, b.uid, 0, 2, MTT_RO);
	b.foreign = new_umem(b.d, b.other, 0, 2, MTT_RW);
	b.cqn = new_cq(b.d, b.uid, b.umem);
	return b;
}

static uint32_t driver_eq(struct dev *d)
{
	struct prm_box eqc;
	struct cmd c;

	CMD(&c, CREATE_EQ, UID_SHARED, create_eq);
	c.inlen += PRM_SZ(cmd_pas);
	eqc = PRM_SUB(&c.i, create_eq_in, eq_context_entry);
	PRM_SET(&eqc, eqc, log_eq_size, 6);
	prm_set(&c.i, PRM_SZ(create_eq_in) * 8, 64, MEM_ADDR);
	cmd_ok(d, &c);
	return (uint32_t)OUT(&c, create_eq_out, eq_number);
}

void make_pas_cq(struct base *b, struct make *m)
{
	CMD(&m->c, CREATE_CQ, b->uid, create_cq);
	m->ctx = PRM_SUB(&m->c.i, create_cq_in, cq_context);
	PRM_SET(&m->ctx, cqc, log_cq_size, 7);
	PRM_SET(&m->ctx, cqc, dbr_addr, PAS_DBR);
	PRM_SET(&m->ctx, cqc, c_eqn_or_apu_element, driver_eq(b->d));
	list_pas(&m->c, PRM_SZ(create_cq_in), PAS_PAGES, MEM_ADDR, PAGE);
}

void list_pas(struct cmd *c, uint32_t list, uint32_t n, uint64_t first, uint64_t step)
{
	c->inlen = list + n * PRM_SZ(cmd_pas);
	for (uint32_t i = 0; i < n; i++)
		prm_set(&c->i, (list + i * PRM_SZ(cmd_pas)) * 8, 64, first + i * step);
}

struct base bare_base(void **state)
{
	struct base b = { .d = *state };
	struct make m;

	make_pas_cq(&b, &m);
	b.cqn = create_ok(&b, &m);
	b.uid = new_uid(b.d);
	b.other = new_uid(b.d);
	b.pd = new_pd(b.d, b.uid);
	b.td = new_td(b.d, b.uid);
	return b;
}

static void make(struct make *m, uint16_t opcode, struct base *b, uint32_t inlen, uint32_t outlen, uint32_t bit, uint32_t width)
{
	cmd_new(&m->c, opcode, b->uid, inlen, outlen);
	m->ctx = prm_sub(&m->c.i, bit, width);
}

#define MAKE(m, op, b, layout, field)                                                                                \
	make(m, PRM_OP_##op, b, PRM_SZ(layout##_in), PRM_SZ(layout##_out), PRM_F_##layout##_in__##field)

/* 64 entries of the stride: a page with strides of 64 bytes. */
static void set_wq(struct base *b, struct prm_box wq, unsigned int type, unsigned int log_stride)
{
	PRM_SET(&wq, wq, wq_type, type);
	PRM_SET(&wq, wq, pd, b->pd);
	PRM_SET(&wq, wq, log_wq_sz, 6);
	PRM_SET(&wq, wq, log_wq_stride, log_stride);
	PRM_SET(&wq, wq, wq_umem_valid, 1);
	PRM_SET(&wq, wq, wq_umem_id, b->umem);
	PRM_SET(&wq, wq, dbr_umem_valid, 1);
	PRM_SET(&wq, wq, dbr_umem_id, b->umem);
	PRM_SET(&wq, wq, dbr_addr, 2 * PAGE - 8);
	PRM_SET(&wq, wq, hw_counter, 0x77);
}

void make_rq(struct base *b, struct make *m)
{
	MAKE(m, CREATE_RQ, b, create_rq, ctx);
	PRM_SET(&m->ctx, rqc, cqn, b->cqn);
	PRM_SET(&m->ctx, rqc, user_index, 0xabcdef);
	set_wq(b, PRM_SUB(&m->ctx, rqc, wq), WQ_CYCLIC, 6);
}

void make_hairpin_rq(struct base *b, struct make *m)
{
	struct prm_box wq;

	MAKE(m, CREATE_RQ, b, create_rq, ctx);
	PRM_SET(&m->ctx, rqc, hairpin, 1);
	PRM_SET(&m->ctx, rqc, hairpin_peer_sq, 0x123);
	wq = PRM_SUB(&m->ctx, rqc, wq);
	PRM_SET(&wq, wq, log_hairpin_data_sz, 14);
	PRM_SET(&wq, wq, log_hairpin_num_packets, 8);
}

void make_sq(struct base *b, struct make *m, uint32_t tisn)
{
	MAKE(m, CREATE_SQ, b, create_sq, ctx);
	PRM_SET(&m->ctx, sqc, cqn, b->cqn);
	PRM_SET(&m->ctx, sqc, tis_lst_sz, 1);
	PRM_SET(&m->ctx, sqc, tis_num_0, tisn);
	set_wq(b, PRM_SUB(&m->ctx, sqc, wq), WQ_CYCLIC, 6);
}

void make_rmp(struct base *b, struct make *m)
{
	MAKE(m, CREATE_RMP, b, create_rmp, ctx);
	PRM_SET(&m->ctx, rmpc, state, QUEUE_RDY);
	set_wq(b, PRM_SUB(&m->ctx, rmpc, wq), WQ_LINKED_LIST, 5);
}

/* 64 entries of 64 bytes: one page. */
void make_srq(struct base *b, struct make *m)
{
	MAKE(m, CREATE_SRQ, b, create_srq, srq_context_entry);
	m->c.inlen += PRM_SZ(cmd_pas);
	PRM_SET(&m->ctx, srqc, pd, b->pd);
	PRM_SET(&m->ctx, srqc, cqn, b->cqn);
	PRM_SET(&m->ctx, srqc, log_srq_size, 6);
	PRM_SET(&m->ctx, srqc, log_rq_stride, 2);
	PRM_SET(&m->ctx, srqc, lwm, 3);
	PRM_SET(&m->ctx, srqc, state, 1);
}

void make_xrc_srq(struct base *b, struct make *m, uint32_t xrcd)
{
	MAKE(m, CREATE_XRC_SRQ, b, create_xrc_srq, xrc_srq_context_entry);
	SET(&m->c, create_xrc_srq_in, xrc_srq_umem_valid, 1);
	SET(&m->c, create_xrc_srq_in, xrc_srq_umem_id, b->umem);
	PRM_SET(&m->ctx, xrc_srqc, pd, b->pd);
	PRM_SET(&m->ctx, xrc_srqc, cqn, b->cqn);
	PRM_SET(&m->ctx, xrc_srqc, xrcd, xrcd);
	PRM_SET(&m->ctx, xrc_srqc, log_xrc_srq_size, 6);
	PRM_SET(&m->ctx, xrc_srqc, log_rq_stride, 2);
	PRM_SET(&m->ctx, xrc_srqc, user_index, 0x55);
}

void make_xrq(struct base *b, struct make *m)
{
	struct prm_box tm;

	MAKE(m, CREATE_XRQ, b, create_xrq, xrq_context);
	PRM_SET(&m->ctx, xrqc, cqn, b->cqn);
	PRM_SET(&m->ctx, xrqc, topology, 1);
	PRM_SET(&m->ctx, xrqc, offload, 1);
	tm = PRM_SUB(&m->ctx, xrqc, tag_matching_topology_context);
	PRM_SET(&tm, tag_matching_topology_context, log_matching_list_sz, 5);
	PRM_SET(&tm, tag_matching_topology_context, sw_phase_cnt, 9);
	set_wq(b, PRM_SUB(&m->ctx, xrqc, wq), WQ_LINKED_LIST, 5);
}

uint32_t create_ok(struct base *b, struct make *m)
{
	cmd_ok(b->d, &m->c);
	return (uint32_t)OUT(&m->c, alloc_pd_out, pd);
}

void create_with(struct base *b, struct make *m, struct prm_box *box, uint32_t bit, uint32_t width, uint64_t v, enum syn why)
{
	uint64_t old = prm_get(box, bit, width);

	prm_set(box, bit, width, v);
	if (why == SYN_OK)
		cmd_ok(b->d, &m->c);
	else
		cmd_refused(b->d, &m->c, why);
	prm_set(box, bit, width, old);
}

uint32_t new_rq(struct base *b)
{
	struct make m;

	make_rq(b, &m);
	return create_ok(b, &m);
}

uint32_t new_td(struct dev *d, uint16_t uid)
{
	struct cmd c;

	CMD(&c, ALLOC_TRANSPORT_DOMAIN, uid, alloc_transport_domain);
	cmd_ok(d, &c);
	return (uint32_t)OUT(&c, alloc_transport_domain_out, transport_domain);
}

uint32_t new_xrcd(struct base *b)
{
	struct cmd c;

	CMD(&c, ALLOC_XRCD, b->uid, alloc_xrcd);
	cmd_ok(b->d, &c);
	return (uint32_t)OUT(&c, alloc_xrcd_out, xrcd);
}

struct prm_box query_ctx_(struct base *b, struct cmd *c, uint16_t opcode, uint32_t id, uint32_t outlen, uint32_t bit, uint32_t width)
{
	cmd_new(c, opcode, b->uid, PRM_HDR_SZ, outlen);
	SET(c, query_rq_in, rqn, id);
	cmd_ok(b->d, c);
	return prm_sub(&c->o, bit, width);
}

void raise_event(struct base *b, uint16_t made_by, uint32_t id, uint8_t event, uint16_t queue)
{
	unsigned int before = b->d->n_events;
	struct prm_box eqe;

	assert_int_equal(hca_event(b->d->h, made_by, 0, id, event, 0), HCA_RAISED);
	assert_int_equal(b->d->n_events, before + 1);
	assert_int_equal(b->d->last_event.type, event);
	assert_true(b->d->last_event.affiliated);
	assert_int_equal(b->d->last_event.obj_type, queue);
	assert_int_equal(b->d->last_event.obj_id, id);
	eqe = prm_in(b->d->last_event.eqe, sizeof(b->d->last_event.eqe));
	b->data = PRM_SUB(&eqe, eqe, event_data);
}

uint32_t create_without_memory(struct base *b, struct make *m)
{
	uint32_t objs = b->d->h->user_objs[b->uid], k = 0;

	do {
		assert_int_equal(b->d->h->user_objs[b->uid], objs);
		fail_alloc = ++k;
		cmd_run(b->d, &m->c);
	} while (!fail_alloc && OUT(&m->c, nop_out, syndrome) == syn_number(SYN_NO_MEMORY));
	assert_true(k > 1);
	fail_alloc = 0;
	assert_int_equal(OUT(&m->c, nop_out, status), PRM_STAT_OK);
	return (uint32_t)OUT(&m->c, alloc_pd_out, pd);
}
