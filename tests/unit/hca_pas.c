/* SPDX-License-Identifier: BSD-2-Clause */
/* Queues as a driver makes them: on a bare device, where lists of pages and addresses say, and with what it lends to programs. */
#include "tests_queues.h"

static void make_qp(struct base *b, struct make *m)
{
	qp_cmd(&m->c, b->uid, b->pd, b->cqn, 0);
	m->ctx = PRM_SUB(&m->c.i, create_qp_in, qpc);
	PRM_SET(&m->ctx, qpc, log_sq_size, 6);
	PRM_SET(&m->ctx, qpc, log_rq_size, 6);
}

static void make_sq_of_tis(struct base *b, struct make *m)
{
	struct prm_box tisc;
	struct cmd c;

	CMD(&c, CREATE_TIS, b->uid, create_tis);
	tisc = PRM_SUB(&c.i, create_tis_in, ctx);
	PRM_SET(&tisc, tisc, transport_domain, b->td);
	cmd_ok(b->d, &c);
	make_sq(b, m, (uint32_t)OUT(&c, create_tis_out, tisn));
}

/* Of the driver's domain, as Linux has it. */
static void make_xrc(struct base *b, struct make *m)
{
	struct base driver = *b;

	driver.uid = 0;
	make_xrc_srq(b, m, new_xrcd(&driver));
}

/* Places in the whole inbox. */
#define IN(layout, field) CTX_PLACE(layout, field)
#define IN2(layout, field, inner, f) CTX_NESTED(layout, field, inner, f)
#define IN3(layout, field, inner, f, most, ff)                                                                       \
	{ CTX_BIT_OF(PRM_F_##layout##__##field) + CTX_BIT_OF(PRM_F_##inner##__##f) + CTX_BIT_OF(PRM_F_##most##__##ff),       \
	  CTX_WIDTH_OF(PRM_F_##most##__##ff) }
#define IN_WQ(layout, field, inner, ff) IN3(layout, field, inner, wq, wq, ff)
#define WQ_PLACES(layout, field, inner)                                                                              \
	.valid = IN_WQ(layout, field, inner, wq_umem_valid), .dbr_valid = IN_WQ(layout, field, inner, dbr_umem_valid),         \
	.dbr = IN_WQ(layout, field, inner, dbr_addr), .log_page = IN_WQ(layout, field, inner, log_wq_pg_sz),                   \
	.offset = IN_WQ(layout, field, inner, page_offset), .log_size = IN_WQ(layout, field, inner, log_wq_sz),                \
	.few = SYN_WQ_PAGES, .align = SYN_WQ_PAGE_ALIGN, .dbr_align = SYN_WQ_DBR_ALIGN, .list = PRM_SZ(layout)

static const struct kind {
	const char *name;
	void (*make)(struct base *b, struct make *m);
	struct ctx_place valid, dbr_valid, dbr, log_page, offset, log_size;
	uint16_t query, destroy, outlen;
	struct ctx_place ctx, shown; /* the contexts in the inbox of create, and in the outbox of query */
	enum syn few, align, dbr_align;
	uint32_t list;
} kinds[] = {
	{ .name = "cq", .make = make_pas_cq, .valid = IN(create_cq_in, cq_umem_valid),
	  .dbr_valid = IN2(create_cq_in, cq_context, cqc, dbr_umem_valid), .dbr = IN2(create_cq_in, cq_context, cqc, dbr_addr),
	  .log_page = IN2(create_cq_in, cq_context, cqc, log_page_size), .offset = IN2(create_cq_in, cq_context, cqc, page_offset),
	  .log_size = IN2(create_cq_in, cq_context, cqc, log_cq_size), .query = PRM_OP_QUERY_CQ, .destroy = PRM_OP_DESTROY_CQ,
	  .outlen = PRM_SZ(query_cq_out), .ctx = IN(create_cq_in, cq_context), .shown = IN(query_cq_out, cq_context),
	  .few = SYN_CQ_PAGES, .align = SYN_CQ_PAGE_ALIGN, .dbr_align = SYN_CQ_DBR_ALIGN, .list = PRM_SZ(create_cq_in) },
	{ .name = "qp", .make = make_qp, .valid = IN(create_qp_in, wq_umem_valid),
	  .dbr_valid = IN2(create_qp_in, qpc, qpc, dbr_umem_valid), .dbr = IN2(create_qp_in, qpc, qpc, dbr_addr),
	  .log_page = IN2(create_qp_in, qpc, qpc, log_page_size), .offset = IN2(create_qp_in, qpc, qpc, page_offset),
	  .log_size = IN2(create_qp_in, qpc, qpc, log_sq_size), .query = PRM_OP_QUERY_QP, .destroy = PRM_OP_DESTROY_QP,
	  .outlen = PRM_SZ(rst2init_qp_in), .ctx = IN(create_qp_in, qpc), .shown = IN(query_qp_out, qpc),
	  .few = SYN_QP_PAGES, .align = SYN_QP_PAGE_ALIGN, .dbr_align = SYN_QP_DBR_ALIGN, .list = PRM_SZ(rst2init_qp_in) },
	{ .name = "rq", .make = make_rq, WQ_PLACES(create_rq_in, ctx, rqc), .query = PRM_OP_QUERY_RQ, .destroy = PRM_OP_DESTROY_RQ,
	  .outlen = PRM_SZ(query_rq_out), .ctx = IN(create_rq_in, ctx), .shown = IN(query_rq_out, rq_context) },
	{ .name = "sq", .make = make_sq_of_tis, WQ_PLACES(create_sq_in, ctx, sqc), .query = PRM_OP_QUERY_SQ, .destroy = PRM_OP_DESTROY_SQ,
	  .outlen = PRM_SZ(query_sq_out), .ctx = IN(create_sq_in, ctx), .shown = IN(query_sq_out, sq_context) },
	{ .name = "rmp", .make = make_rmp, WQ_PLACES(create_rmp_in, ctx, rmpc), .query = PRM_OP_QUERY_RMP, .destroy = PRM_OP_DESTROY_RMP,
	  .outlen = PRM_SZ(query_rmp_out), .ctx = IN(create_rmp_in, ctx), .shown = IN(query_rmp_out, rmp_context) },
	{ .name = "xrq", .make = make_xrq, WQ_PLACES(create_xrq_in, xrq_context, xrqc), .query = PRM_OP_QUERY_XRQ,
	  .destroy = PRM_OP_DESTROY_XRQ, .outlen = PRM_SZ(query_xrq_out), .ctx = IN(create_xrq_in, xrq_context),
	  .shown = IN(query_xrq_out, xrq_context) },
	{ .name = "srq", .make = make_srq, .log_page = IN2(create_srq_in, srq_context_entry, srqc, log_page_size),
	  .offset = IN2(create_srq_in, srq_context_entry, srqc, page_offset),
	  .log_size = IN2(create_srq_in, srq_context_entry, srqc, log_srq_size), .query = PRM_OP_QUERY_SRQ,
	  .destroy = PRM_OP_DESTROY_SRQ, .outlen = PRM_SZ(query_srq_out), .ctx = IN(create_srq_in, srq_context_entry),
	  .shown = IN(query_srq_out, srq_context_entry), .few = SYN_SRQ_PAGES, .align = SYN_SRQ_PAGE_ALIGN,
	  .list = PRM_SZ(create_srq_in) },
	{ .name = "xrc srq", .make = make_xrc, .valid = IN(create_xrc_srq_in, xrc_srq_umem_valid),
	  .log_page = IN2(create_xrc_srq_in, xrc_srq_context_entry, xrc_srqc, log_page_size),
	  .offset = IN2(create_xrc_srq_in, xrc_srq_context_entry, xrc_srqc, page_offset),
	  .log_size = IN2(create_xrc_srq_in, xrc_srq_context_entry, xrc_srqc, log_xrc_srq_size), .query = PRM_OP_QUERY_XRC_SRQ,
	  .destroy = PRM_OP_DESTROY_XRC_SRQ, .outlen = PRM_SZ(query_xrc_srq_out), .ctx = IN(create_xrc_srq_in, xrc_srq_context_entry),
	  .shown = IN(query_xrc_srq_out, xrc_srq_context_entry), .few = SYN_XRC_SRQ_PAGES, .align = SYN_XRC_SRQ_PAGE_ALIGN,
	  .list = PRM_SZ(create_xrc_srq_in) },
};

static void put(struct make *m, struct ctx_place at, uint64_t v)
{
	if (at.width)
		prm_set(&m->c.i, at.bit, at.width, v);
}

static void list_pages(struct make *m, const struct kind *k, uint32_t n, uint64_t first, uint64_t step)
{
	list_pas(&m->c, k->list, n, first, step);
}

static void make_kind(struct base *b, struct make *m, const struct kind *k, unsigned int log_size)
{
	k->make(b, m);
	put(m, k->valid, 0);
	put(m, k->dbr_valid, 0);
	put(m, k->dbr, PAS_DBR);
	put(m, k->log_size, log_size);
}

/* The exponent that makes the queue two pages, as each make_*() has its entries. */
static unsigned int log_two_pages(const struct kind *k)
{
	if (k->make == make_qp)
		return 6; /* and as much for the receive queue */
	return k->make == make_rmp || k->make == make_xrq ? 8 : 7;
}

static void refused_or_gone(struct base *b, struct make *m, const struct kind *k, enum syn why)
{
	if (why == SYN_OK)
		destroy(b->d, k->destroy, b->uid, create_ok(b, m), SYN_OK);
	else
		cmd_refused(b->d, &m->c, why);
}

static void pages(void **state)
{
	struct base b = bare_base(state);

	for (const struct kind *k = kinds; k < kinds + sizeof(kinds) / sizeof(kinds[0]); k++) {
		struct make m;
		unsigned int log_size = log_two_pages(k), offsets = 64, past = 1u << k->offset.width;

		make_kind(&b, &m, k, log_size);
		list_pages(&m, k, PAS_PAGES, MEM_ADDR, PAGE);
		refused_or_gone(&b, &m, k, SYN_OK);
		list_pages(&m, k, PAS_PAGES - 1, MEM_ADDR, PAGE);
		refused_or_gone(&b, &m, k, k->few);
		m.c.inlen = k->list + PAS_PAGES * PRM_SZ(cmd_pas) - 1;
		refused_or_gone(&b, &m, k, k->few);
		list_pages(&m, k, 0, 0, 0);
		refused_or_gone(&b, &m, k, k->few);
		/* Twice as large. A queue pair has two. */
		put(&m, k->log_size, log_size + 1);
		list_pages(&m, k, PAS_PAGES, MEM_ADDR, PAGE);
		refused_or_gone(&b, &m, k, k->few);
		list_pages(&m, k, 2 * PAS_PAGES, MEM_ADDR, PAGE);
		refused_or_gone(&b, &m, k, SYN_OK);
		put(&m, k->log_size, log_size);
		/* It begins inside its first page: one more. */
		put(&m, k->offset, past - 1);
		list_pages(&m, k, PAS_PAGES, MEM_ADDR, PAGE);
		refused_or_gone(&b, &m, k, k->few);
		list_pages(&m, k, PAS_PAGES + 1, MEM_ADDR, PAGE);
		refused_or_gone(&b, &m, k, SYN_OK);
		/* Pages of 16 KiB: the offset is a part of the page, half of it is room enough. */
		put(&m, k->log_page, 2);
		put(&m, k->offset, offsets / 2 - 1);
		list_pages(&m, k, 1, MEM_ADDR, PAGE);
		refused_or_gone(&b, &m, k, SYN_OK);
		list_pages(&m, k, 1, MEM_ADDR + PAGE, PAGE);
		refused_or_gone(&b, &m, k, k->align);
		list_pages(&m, k, 1, MEM_ADDR | 0xfff, PAGE); /* the low bits are not the address's */
		refused_or_gone(&b, &m, k, SYN_OK);
		put(&m, k->offset, 0);
		list_pages(&m, k, 2, MEM_ADDR, PAGE); /* what is listed beyond the queue is not looked at */
		refused_or_gone(&b, &m, k, SYN_OK);
		/* The largest pages. */
		put(&m, k->log_page, 31);
		list_pages(&m, k, 1, 0, 0);
		refused_or_gone(&b, &m, k, SYN_OK);
		put(&m, k->log_page, 0);
		if (!k->dbr.width)
			continue;
		list_pages(&m, k, PAS_PAGES, MEM_ADDR, PAGE);
		put(&m, k->dbr, PAS_DBR + 4);
		refused_or_gone(&b, &m, k, k->dbr_align);
	}
}

static void shown(void **state)
{
	struct base b = bare_base(state);

	for (const struct kind *k = kinds; k < kinds + sizeof(kinds) / sizeof(kinds[0]); k++) {
		struct make m;
		struct cmd c;
		uint32_t id, ctx = k->ctx.bit, show = k->shown.bit;

		make_kind(&b, &m, k, log_two_pages(k));
		put(&m, k->log_page, 1);
		put(&m, k->offset, 3);
		list_pages(&m, k, PAS_PAGES, 2 * PAGE, 2 * PAGE);
		id = create_without_memory(&b, &m);
		cmd_new(&c, k->query, b.uid, PRM_HDR_SZ, k->outlen);
		SET(&c, query_cq_in, cqn, id);
		cmd_ok(b.d, &c);
		assert_int_equal(prm_get(&c.o, show + k->log_page.bit - ctx, k->log_page.width), 1);
		assert_int_equal(prm_get(&c.o, show + k->offset.bit - ctx, k->offset.width), 3);
		assert_int_equal(prm_get(&c.o, show + k->log_size.bit - ctx, k->log_size.width), log_two_pages(k));
		if (k->dbr.width)
			assert_int_equal(prm_get(&c.o, show + k->dbr.bit - ctx, k->dbr.width), PAS_DBR);
		destroy(b.d, k->destroy, b.uid, id, SYN_OK);
	}
}

/* The largest size of pages that an XRC SRQ's field can say is above what an address has bits for. */
static void xrc_page_size(void **state)
{
	struct base b = bare_base(state);
	struct make m;

	make_xrc(&b, &m);
	SET(&m.c, create_xrc_srq_in, xrc_srq_umem_valid, 0);
	PRM_SET(&m.ctx, xrc_srqc, log_page_size, 52);
	m.c.inlen += PRM_SZ(cmd_pas);
	cmd_refused(b.d, &m.c, SYN_XRC_SRQ_PAGE);
	PRM_SET(&m.ctx, xrc_srqc, log_page_size, 51);
	cmd_ok(b.d, &m.c);
}

/* The list of pages lies behind the extension when there is one. */
static void behind_extension(void **state)
{
	struct base b = bare_base(state);
	struct kind k = kinds[1];
	struct make m;

	make_kind(&b, &m, &k, 6);
	SET(&m.c, create_qp_in, qpc_ext, 1);
	list_pages(&m, &k, PAS_PAGES, MEM_ADDR, PAGE);
	cmd_refused(b.d, &m.c, SYN_QP_EXT_LEN);
	k.list = PRM_SZ(create_qp_in);
	make_kind(&b, &m, &k, 6);
	SET(&m.c, create_qp_in, qpc_ext, 1);
	list_pages(&m, &k, PAS_PAGES - 1, MEM_ADDR, PAGE);
	cmd_refused(b.d, &m.c, SYN_QP_PAGES);
	list_pages(&m, &k, PAS_PAGES, MEM_ADDR, PAGE);
	cmd_ok(b.d, &m.c);
}

/* A program's queue names the driver's CQ, and holds it; but it is not the program's. */
static void lent(void **state)
{
	struct base b = bare_base(state), driver = b;
	uint32_t pd = new_pd(b.d, 0), rqn;
	struct make m;

	make_rq(&b, &m);
	create_with(&b, &m, &m.ctx, CTX_BIT_OF(PRM_F_rqc__wq) + CTX_BIT_OF(PRM_F_wq__pd), 24, pd, SYN_PD);
	make_kind(&b, &m, &kinds[2], 7);
	list_pages(&m, &kinds[2], PAS_PAGES, MEM_ADDR, PAGE);
	rqn = create_ok(&b, &m);
	destroy(b.d, PRM_OP_DESTROY_CQ, b.uid, b.cqn, SYN_CQ);
	destroy(b.d, PRM_OP_DESTROY_CQ, 0, b.cqn, SYN_CQ_BUSY);
	destroy(b.d, PRM_OP_DESTROY_RQ, b.other, rqn, SYN_RQ);
	destroy(b.d, PRM_OP_DESTROY_RQ, 0, rqn, SYN_OK);
	/* The driver names what is a program's; programs not what is another's. */
	driver.uid = 0;
	make_kind(&driver, &m, &kinds[2], 7);
	list_pages(&m, &kinds[2], PAS_PAGES, MEM_ADDR, PAGE);
	create_ok(&driver, &m);
	make_kind(&b, &m, &kinds[0], 7);
	list_pages(&m, &kinds[0], PAS_PAGES, MEM_ADDR, PAGE);
	b.cqn = create_ok(&b, &m);
	driver.uid = b.other;
	driver.pd = new_pd(b.d, b.other);
	make_kind(&driver, &m, &kinds[2], 7);
	list_pages(&m, &kinds[2], PAS_PAGES, MEM_ADDR, PAGE);
	create_with(&driver, &m, &m.ctx, PRM_F_rqc__cqn, b.cqn, SYN_CQ);
}

/* A driver's own queue may be in no PD; a program's may not. */
static void without_pd(void **state)
{
	struct base b = bare_base(state);
	struct prm_box wq;
	struct make m;
	uint32_t rqn;

	make_rq(&b, &m);
	m.ctx = PRM_SUB(&m.c.i, create_rq_in, ctx);
	wq = PRM_SUB(&m.ctx, rqc, wq);
	PRM_SET(&wq, wq, pd, 0);
	PRM_SET(&wq, wq, wq_umem_valid, 0);
	PRM_SET(&wq, wq, dbr_umem_valid, 0);
	PRM_SET(&wq, wq, dbr_addr, PAS_DBR);
	list_pas(&m.c, PRM_SZ(create_rq_in), 1, PAGE, PAGE);
	cmd_refused(b.d, &m.c, SYN_PD);
	prm_set(&m.c.i, 16, 16, 0);
	rqn = create_ok(&b, &m);
	destroy(b.d, PRM_OP_DESTROY_RQ, 0, rqn, SYN_OK);
}

int run_pas_tests(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, dev_setup_bare, dev_teardown)
	const struct CMUnitTest tests[] = { TEST(pages), TEST(shown), TEST(xrc_page_size), TEST(behind_extension), TEST(lent), TEST(without_pd) };

	return cmocka_run_group_tests_name("pas", tests, NULL, NULL);
}
