/* SPDX-License-Identifier: BSD-2-Clause */
#include "bare.h"

bool through_queue;
bool syn_seen[SYN_COUNT];
unsigned int fail_alloc;

static const struct {
	uint32_t number;
	uint8_t status;
	const char *name;
} table[SYN_COUNT] = {
#define SYNDROME(name, number, status, text) [SYN_##name] = { number, PRM_STAT_##status, #name },
#include "syndromes.def"
#undef SYNDROME
};

uint32_t syn_number(enum syn s)
{
	return table[s].number;
}

const char *syn_name(enum syn s)
{
	return table[s].name;
}

/* The linker sends the model's allocations through these. */
void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__real_aligned_alloc(size_t align, size_t size);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_aligned_alloc(size_t align, size_t size);

void *__wrap_aligned_alloc(size_t align, size_t size)
{
	return fail_alloc && !--fail_alloc ? NULL : __real_aligned_alloc(align, size);
}

void *__wrap_malloc(size_t n)
{
	return fail_alloc && !--fail_alloc ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fail_alloc && !--fail_alloc ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
	return fail_alloc && !--fail_alloc ? NULL : __real_realloc(p, size);
}

static bool in_memory(struct dev *d, uint64_t addr, size_t len)
{
	return !d->deny && addr >= MEM_ADDR && addr - MEM_ADDR <= MEM_SIZE && len <= MEM_SIZE - (addr - MEM_ADDR);
}

static bool host_read(void *host, uint64_t addr, void *dst, size_t len)
{
	struct dev *d = host;

	d->n_reads++;
	if (!in_memory(d, addr, len))
		return false;
	memcpy(dst, d->mem + (addr - MEM_ADDR), len);
	return true;
}

static bool host_write(void *host, uint64_t addr, const void *src, size_t len)
{
	struct dev *d = host;

	d->n_writes++;
	if (!in_memory(d, addr, len))
		return false;
	memcpy(d->mem + (addr - MEM_ADDR), src, len);
	return true;
}

static void host_event(void *host, const struct hca_event *ev)
{
	struct dev *d = host;

	d->last_event = *ev;
	d->n_events++;
}

static void host_interrupt(void *host, uint32_t eqn, uint32_t vector)
{
	struct dev *d = host;

	d->last_eqn = eqn;
	d->n_interrupts++;
}

static uint32_t host_doorbell(void *host, uint32_t eqn, uint32_t uar_page, uint32_t offset)
{
	struct dev *d = host;

	return d->doorbells[offset == 0x48];
}

static void host_doorbell_clear(void *host, uint32_t uar_page, uint32_t offset)
{
	struct dev *d = host;

	d->doorbells[offset == 0x48] = 0;
}

static int setup(void **state, bool bare)
{
	static const struct hca_host ops = { host_read, host_write, host_event, host_interrupt, host_doorbell, host_doorbell_clear };
	const struct hca_config config = { .profile = HCA_CX7, .latency = 1000, .timeout = 1000000000, .seed = 1,
					   .guid = DEV_GUID, .bare = bare };
	struct dev *d = calloc(1, sizeof(*d));

	assert_non_null(d);
	d->mem = calloc(1, MEM_SIZE);
	d->h = hca_new(&config, &ops, d);
	assert_non_null(d->mem);
	assert_non_null(d->h);
	*state = d;
	return 0;
}

int dev_setup(void **state)
{
	return setup(state, false);
}

int dev_setup_off(void **state)
{
	return setup(state, true);
}

int dev_setup_bare(void **state)
{
	int err = setup(state, true);

	if (!err)
		set_up(*state);
	return err;
}

int dev_teardown(void **state)
{
	struct dev *d = *state;

	fail_alloc = 0;
	hca_free(d->h);
	free(d->mem);
	free(d);
	return 0;
}

void cmd_new(struct cmd *c, uint16_t opcode, uint16_t uid, uint32_t inlen, uint32_t outlen)
{
	assert_true(inlen <= sizeof(c->in) && outlen <= sizeof(c->out));
	memset(c, 0, sizeof(*c));
	c->inlen = inlen;
	c->outlen = outlen;
	c->i = prm_out(c->in, sizeof(c->in));
	c->o = prm_in(c->out, sizeof(c->out));
	prm_set(&c->i, 0, 16, opcode);
	prm_set(&c->i, 16, 16, uid);
}

void cmd_op_mod(struct cmd *c, uint16_t op_mod)
{
	prm_set(&c->i, 48, 16, op_mod);
}

static void run_queued(struct dev *d, struct cmd *c)
{
	uint32_t room = c->inlen > c->outlen ? c->inlen : c->outlen;
	struct hca_cmd *q = malloc(sizeof(*q) + room);

	assert_non_null(q);
	memset(q, 0, sizeof(*q));
	q->inlen = c->inlen;
	q->outlen = (uint16_t)c->outlen;
	memcpy(q->box, c->in, c->inlen);
	hca_submit(d->h, q, d->now);
	assert_null(hca_due(d->h, d->now)); /* the latency has not passed */
	d->now = hca_next(d->h);
	assert_true(d->now != HCA_NEVER);
	assert_ptr_equal(hca_due(d->h, d->now), q);
	assert_int_equal(q->end, HCA_DONE);
	memcpy(c->out, q->box, c->outlen);
	free(q);
}

#define GUARD 4096 /* bytes after the outbox that are looked at: all of them, each time, took most of the time of the tests */

static bool all_are(const uint8_t *p, size_t n, uint8_t value)
{
	return !n || (p[0] == value && !memcmp(p, p + 1, n - 1));
}

void cmd_run(struct dev *d, struct cmd *c)
{
	size_t end = c->outlen + GUARD < sizeof(c->out) ? c->outlen + GUARD : sizeof(c->out);

	assert_false(c->i.bad);
	memset(c->out, 0xa5, end);
	if (through_queue && !fail_alloc)
		run_queued(d, c);
	else
		hca_execute(d->h, c->in, c->inlen, c->out, c->outlen);
	assert_true(all_are(c->out + c->outlen, end - c->outlen, 0xa5)); /* nothing is written past the outbox */
}

void cmd_ok(struct dev *d, struct cmd *c)
{
	cmd_run(d, c);
	assert_int_equal(OUT(c, nop_out, syndrome), 0);
	assert_int_equal(OUT(c, nop_out, status), PRM_STAT_OK);
}

void cmd_refused(struct dev *d, struct cmd *c, enum syn why)
{
	char text[256];

	cmd_run(d, c);
	assert_int_equal(OUT(c, nop_out, syndrome), table[why].number);
	assert_int_equal(OUT(c, nop_out, status), table[why].status);
	assert_true(hca_syndrome_text(table[why].number, text, sizeof(text)));
	assert_true(c->outlen <= 8 || all_are(c->out + 8, c->outlen - 8, 0));
	syn_seen[why] = true;
}

uint16_t new_uid(struct dev *d)
{
	struct cmd c;

	CMD(&c, CREATE_UCTX, 0, create_uctx);
	cmd_ok(d, &c);
	return (uint16_t)OUT(&c, create_uctx_out, uid);
}

uint32_t new_pd(struct dev *d, uint16_t uid)
{
	struct cmd c;

	CMD(&c, ALLOC_PD, uid, alloc_pd);
	cmd_ok(d, &c);
	return (uint32_t)OUT(&c, alloc_pd_out, pd);
}

uint32_t new_umem(struct dev *d, uint16_t uid, uint32_t first, uint32_t pages, uint32_t flags)
{
	struct prm_box umem;
	struct cmd c;

	CMD(&c, CREATE_UMEM, uid, create_umem);
	umem = PRM_SUB(&c.i, create_umem_in, umem);
	PRM_SET(&umem, umem, num_of_mtt, pages);
	c.inlen += pages * PRM_SZ(mtt);
	for (uint32_t i = 0; i < pages; i++)
		prm_set(&c.i, (PRM_SZ(create_umem_in) + i * PRM_SZ(mtt)) * 8, 64, (MEM_ADDR + (first + i) * PAGE) | flags);
	cmd_ok(d, &c);
	return (uint32_t)OUT(&c, create_umem_out, umem_id);
}

void mkey_cmd(struct cmd *c, uint16_t uid, uint32_t pd, uint32_t umem, uint64_t start, uint64_t len)
{
	struct prm_box mkc;

	CMD(c, CREATE_MKEY, uid, create_mkey);
	SET(c, create_mkey_in, mkey_umem_valid, 1);
	SET(c, create_mkey_in, mkey_umem_id, umem);
	mkc = PRM_SUB(&c->i, create_mkey_in, memory_key_mkey_entry);
	PRM_SET(&mkc, mkc, access_mode_1_0, 1);
	PRM_SET(&mkc, mkc, lw, 1);
	PRM_SET(&mkc, mkc, lr, 1);
	PRM_SET(&mkc, mkc, qpn, 0xffffff);
	PRM_SET(&mkc, mkc, mkey_7_0, 0x5a);
	PRM_SET(&mkc, mkc, pd, pd);
	PRM_SET(&mkc, mkc, start_addr, start);
	PRM_SET(&mkc, mkc, len, len);
}

void cq_cmd(struct cmd *c, uint16_t uid, uint32_t umem)
{
	struct prm_box cqc;

	CMD(c, CREATE_CQ, uid, create_cq);
	SET(c, create_cq_in, cq_umem_valid, 1);
	SET(c, create_cq_in, cq_umem_id, umem);
	cqc = PRM_SUB(&c->i, create_cq_in, cq_context);
	PRM_SET(&cqc, cqc, log_cq_size, 4); /* 1 KiB */
	PRM_SET(&cqc, cqc, c_eqn_or_apu_element, 1);
	PRM_SET(&cqc, cqc, dbr_umem_valid, 1);
	PRM_SET(&cqc, cqc, dbr_umem_id, umem);
	PRM_SET(&cqc, cqc, dbr_addr, 1024);
}

uint32_t new_cq(struct dev *d, uint16_t uid, uint32_t umem)
{
	struct cmd c;

	cq_cmd(&c, uid, umem);
	cmd_ok(d, &c);
	return (uint32_t)OUT(&c, create_cq_out, cqn);
}

void qp_cmd(struct cmd *c, uint16_t uid, uint32_t pd, uint32_t cqn, uint32_t umem)
{
	struct prm_box qpc;

	cmd_new(c, PRM_OP_CREATE_QP, uid, PRM_SZ(rst2init_qp_in), PRM_SZ(create_qp_out));
	SET(c, create_qp_in, wq_umem_valid, 1);
	SET(c, create_qp_in, wq_umem_id, umem);
	qpc = PRM_SUB(&c->i, create_qp_in, qpc);
	PRM_SET(&qpc, qpc, pd, pd);
	PRM_SET(&qpc, qpc, cqn_snd, cqn);
	PRM_SET(&qpc, qpc, cqn_rcv, cqn);
	PRM_SET(&qpc, qpc, log_sq_size, 4); /* 1 KiB */
	PRM_SET(&qpc, qpc, log_rq_size, 4); /* 1 KiB */
	PRM_SET(&qpc, qpc, log_rq_stride, 2);
	PRM_SET(&qpc, qpc, dbr_umem_valid, 1);
	PRM_SET(&qpc, qpc, dbr_umem_id, umem);
	PRM_SET(&qpc, qpc, dbr_addr, 2048);
}

uint32_t new_q_counter(struct dev *d, uint16_t uid)
{
	struct cmd c;

	CMD(&c, ALLOC_Q_COUNTER, uid, alloc_q_counter);
	cmd_ok(d, &c);
	return (uint32_t)OUT(&c, alloc_q_counter_out, counter_set_id);
}

/* All commands of this kind are alike: the id, or for flow counters the first one, stands at byte 8. */
void destroy(struct dev *d, uint16_t opcode, uint16_t uid, uint32_t id, enum syn why)
{
	struct cmd c;

	cmd_new(&c, opcode, uid, PRM_HDR_SZ, PRM_HDR_SZ);
	prm_set(&c.i, 64, 32, id);
	if (why == SYN_OK)
		cmd_ok(d, &c);
	else
		cmd_refused(d, &c, why);
}

struct prm_box gen_cmd(struct cmd *c, uint16_t opcode, uint16_t uid, uint16_t type, uint32_t id, uint32_t bytes)
{
	const uint32_t hdr = PRM_SZ(general_obj_in_cmd_hdr);

	cmd_new(c, opcode, uid, hdr + bytes, hdr + bytes);
	SET(c, general_obj_in_cmd_hdr, obj_type, type);
	SET(c, general_obj_in_cmd_hdr, obj_id, id);
	return prm_out(c->in + hdr, bytes);
}

uint32_t gen_new(struct dev *d, struct cmd *c)
{
	cmd_ok(d, c);
	return (uint32_t)OUT(c, general_obj_out_cmd_hdr, obj_id);
}

struct prm_box gen_get(struct dev *d, struct cmd *c, uint16_t uid, uint16_t type, uint32_t id, uint32_t bytes)
{
	gen_cmd(c, PRM_OP_QUERY_GENERAL_OBJECT, uid, type, id, bytes);
	cmd_ok(d, c);
	return prm_in(c->out + PRM_SZ(general_obj_out_cmd_hdr), bytes);
}

void gen_destroy(struct dev *d, uint16_t uid, uint16_t type, uint32_t id, enum syn why)
{
	struct cmd c;

	gen_cmd(&c, PRM_OP_DESTROY_GENERAL_OBJECT, uid, type, id, 0);
	if (why == SYN_OK)
		cmd_ok(d, &c);
	else
		cmd_refused(d, &c, why);
}
