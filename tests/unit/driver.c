/* SPDX-License-Identifier: BSD-2-Clause */
#include "driver.h"

const struct hca_config default_config = { .profile = HCA_CX6DX, .timeout = 60 * SEC, .seed = 1, .guid = 0x0200de0000000007 };

unsigned int fail_alloc;

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);

static bool fails(void)
{
	return fail_alloc && !--fail_alloc;
}

void *__wrap_malloc(size_t n)
{
	return fails() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

static bool inside(uint64_t addr, size_t len)
{
	return addr >= MEM_ADDR && addr - MEM_ADDR <= MEM_SIZE && len <= MEM_SIZE - (addr - MEM_ADDR);
}

static bool host_read(void *host, uint64_t addr, void *dst, size_t len)
{
	struct driver *d = host;

	d->n_reads++;
	d->now += d->read_ns;
	if (!inside(addr, len))
		return false;
	memcpy(dst, d->mem + (addr - MEM_ADDR), len);
	return true;
}

static void note(struct driver *d, uint64_t addr, size_t len)
{
	if (d->n_log < sizeof(d->log) / sizeof(d->log[0])) {
		d->log[d->n_log].addr = addr;
		d->log[d->n_log++].len = len;
	}
}

static bool host_write(void *host, uint64_t addr, const void *src, size_t len)
{
	struct driver *d = host;

	note(d, addr, len);
	d->n_writes++;
	d->now += d->write_ns;
	if (d->deny_writes || !inside(addr, len))
		return false;
	memcpy(d->mem + (addr - MEM_ADDR), src, len);
	return true;
}

static void host_msix(void *host, uint32_t vector)
{
	struct driver *d = host;

	assert_in_range(vector, 0, PCI_VECTORS - 1);
	d->n_msix[vector]++;
	note(d, 0, 0);
}

static uint64_t host_now(void *host)
{
	const struct driver *d = host;

	return d->now;
}

static void host_reset(void *host)
{
	struct driver *d = host;

	d->n_resets++;
}

const struct pci_host driver_host = { .read = host_read, .write = host_write, .msix = host_msix, .now = host_now, .reset = host_reset };

void driver_start(struct driver *d, const struct hca_config *hca, bool mapped)
{
	pci_free(d->p);
	d->config.hca = *hca;
	d->config.mapped = mapped;
	d->p = pci_new(&d->config, &driver_host, d);
	assert_non_null(d->p);
	d->now = SEC;
	d->eqn = d->eq_ci = 0;
}

int driver_setup(void **state)
{
	struct driver *d = calloc(1, sizeof(*d));

	d->mem = calloc(1, MEM_SIZE);
	d->config.uars = calloc(1, PCI_UAR_SIZE);
	*state = d;
	driver_start(d, &default_config, false);
	return 0;
}

int driver_teardown(void **state)
{
	struct driver *d = *state;

	pci_free(d->p);
	free(d->config.uars);
	free(d->mem);
	free(d);
	return 0;
}

uint32_t reg(struct driver *d, uint32_t offset)
{
	uint32_t v;

	assert_true(pci_read(d->p, PCI_BAR0, offset, &v, sizeof(v), d->now));
	return __builtin_bswap32(v);
}

void reg_set(struct driver *d, uint32_t offset, uint32_t value)
{
	uint32_t v = __builtin_bswap32(value);

	assert_true(pci_write(d->p, PCI_BAR0, offset, &v, sizeof(v), d->now));
}

uint32_t conf(struct driver *d, uint32_t offset)
{
	uint32_t v;

	assert_true(pci_read(d->p, PCI_CONFIG, offset, &v, sizeof(v), d->now));
	return v;
}

void conf_set(struct driver *d, uint32_t offset, uint32_t value)
{
	assert_true(pci_write(d->p, PCI_CONFIG, offset, &value, sizeof(value), d->now));
}

void ring(struct driver *d, uint32_t slots)
{
	reg_set(d, 0x18, slots);
}

/* Stops at each time at which something is due, as a server does. */
void step(struct driver *d, uint64_t ns)
{
	uint64_t end = d->now + ns;

	while (pci_next(d->p) <= end) {
		if (pci_next(d->p) > d->now)
			d->now = pci_next(d->p);
		pci_due(d->p, d->now);
	}
	d->now = end;
}

static void put_be(uint8_t *at, uint64_t v, unsigned int bytes)
{
	while (bytes--) {
		at[bytes] = (uint8_t)v;
		v >>= 8;
	}
}

uint8_t *block(struct driver *d, uint64_t boxes, unsigned int n)
{
	return d->mem + (boxes - MEM_ADDR) + n * BOX_STEP;
}

/* A chain for what does not fit inline; its first block's address, or 0. */
static uint64_t chain(struct driver *d, uint32_t len, uint8_t token)
{
	unsigned int n = len > 16 ? (len - 16 + 511) / 512 : 0;
	uint64_t at = MEM_ADDR + BOXES_AT + d->next_box * BOX_STEP;

	for (unsigned int i = 0; i < n; i++) {
		uint8_t *b = block(d, at, i);

		memset(b, 0, 576);
		put_be(b + 560, i + 1 < n ? at + (i + 1) * BOX_STEP : 0, 8);
		put_be(b + 568, i, 4);
		b[573] = token;
	}
	d->next_box += n;
	assert_true(BOXES_AT + d->next_box * BOX_STEP <= MEM_SIZE);
	return n ? at : 0;
}

struct sent put(struct driver *d, unsigned int slot, const void *in, uint32_t inlen, uint32_t outlen)
{
	struct sent s = { .slot = slot, .inlen = inlen, .outlen = outlen, .token = ++d->token ? d->token : ++d->token };

	s.entry = d->mem + QUEUE_AT + slot * 64;
	s.in_boxes = chain(d, inlen, s.token);
	s.out_boxes = chain(d, outlen, s.token);
	for (uint32_t done = 16; done < inlen; done += 512)
		memcpy(block(d, s.in_boxes, (done - 16) / 512), (const uint8_t *)in + done, inlen - done < 512 ? inlen - done : 512);
	memset(s.entry, 0, 64);
	s.entry[0] = 7;
	put_be(s.entry + 4, inlen, 4);
	put_be(s.entry + 8, s.in_boxes, 8);
	memcpy(s.entry + 16, in, inlen < 16 ? inlen : 16);
	put_be(s.entry + 48, s.out_boxes, 8);
	put_be(s.entry + 56, outlen, 4);
	s.entry[60] = s.token;
	s.entry[63] = 1;
	sign(d, &s, false);
	return s;
}

static uint8_t xor8(const uint8_t *p, size_t len)
{
	uint8_t x = 0;

	while (len--)
		x ^= *p++;
	return x;
}

static void sign_chain(struct driver *d, uint64_t boxes, uint32_t len)
{
	for (uint32_t done = 16; done < len; done += 512) {
		uint8_t *b = block(d, boxes, (done - 16) / 512);

		b[574] = b[575] = 0;
		b[574] = (uint8_t)~xor8(b + 512, 62);
		b[575] = (uint8_t)~xor8(b, 575);
	}
}

void sign(struct driver *d, const struct sent *s, bool blocks)
{
	s->entry[61] = 0;
	s->entry[61] = (uint8_t)~xor8(s->entry, 64);
	if (blocks) {
		sign_chain(d, s->in_boxes, s->inlen);
		sign_chain(d, s->out_boxes, s->outlen);
	}
}

struct sent put_nop(struct driver *d, unsigned int slot)
{
	uint8_t in[16] = { PRM_OP_NOP >> 8, PRM_OP_NOP & 0xff };

	return put(d, slot, in, sizeof(in), 16);
}

struct sent send_nop(struct driver *d, unsigned int slot)
{
	struct sent s = put_nop(d, slot);

	ring(d, UINT32_C(1) << slot);
	return s;
}

bool owned_by_device(const struct sent *s)
{
	return s->entry[63] & 1;
}

uint8_t delivery(const struct sent *s)
{
	assert_false(owned_by_device(s));
	return s->entry[63] >> 1;
}

void get(struct driver *d, const struct sent *s, void *out)
{
	uint8_t *to = out;

	assert_int_equal(delivery(s), 0);
	assert_int_equal(xor8(s->entry, 64), 0xff);
	memcpy(to, s->entry + 32, s->outlen < 16 ? s->outlen : 16);
	for (uint32_t done = 16; done < s->outlen; done += 512) {
		uint8_t *b = block(d, s->out_boxes, (done - 16) / 512);

		assert_int_equal(xor8(b + 512, 63), 0xff);
		assert_int_equal(xor8(b, 576), 0xff);
		memcpy(to + done, b, s->outlen - done < 512 ? s->outlen - done : 512);
	}
}

void run(struct driver *d, const void *in, uint32_t inlen, void *out, uint32_t outlen)
{
	struct sent s;

	d->next_box = 0;
	s = put(d, 0, in, inlen, outlen);
	ring(d, 1);
	for (unsigned int i = 0; owned_by_device(&s) && i < 10; i++)
		step(d, SEC);
	get(d, &s, out);
}

void control(struct driver *d, const char *line, const char *want)
{
	char reply[4096];
	bool ok = pci_control(d->p, line, reply, sizeof(reply), d->now);

	if (strncmp(reply, want, strlen(want)))
		fail_msg("%s: %s, not %s", line, reply, want);
	assert_int_equal(ok, !strncmp(reply, "ok", 2));
}

static void simple(struct driver *d, uint16_t opcode, uint16_t op_mod, uint8_t out[16])
{
	uint8_t in[PRM_SZ(init_hca_in)] = { (uint8_t)(opcode >> 8), (uint8_t)opcode, 0, 0, 0, 0, 0, (uint8_t)op_mod }; /* the longest */

	run(d, in, sizeof(in), out, 16);
	assert_int_equal(out[0], 0);
}

/* As many as the device wants for its boot (1), or to be initialised (2). */
static void give_pages(struct driver *d, uint16_t which)
{
	static uint8_t in[PRM_SZ(manage_pages_in) + 1024 * 8];
	uint8_t out[16];
	struct prm_box i = prm_out(in, sizeof(in)), o = prm_out(out, sizeof(out));
	uint32_t n;

	simple(d, PRM_OP_QUERY_PAGES, which, out);
	n = (uint32_t)PRM_GET(&o, query_pages_out, num_pages);
	assert_in_range(n, 1, 1024);
	PRM_SET(&i, manage_pages_in, opcode, PRM_OP_MANAGE_PAGES);
	PRM_SET(&i, manage_pages_in, op_mod, 1);
	PRM_SET(&i, manage_pages_in, input_num_entries, n);
	for (uint32_t k = 0; k < n; k++)
		prm_set(&i, (PRM_SZ(manage_pages_in) + k * 8) * 8, 64, FAR + ((which * 1024u + k) << 12));
	run(d, in, PRM_SZ(manage_pages_in) + n * 8, out, sizeof(out));
	assert_int_equal(out[0], 0);
}

void bring_up(struct driver *d)
{
	uint8_t out[16];

	conf_set(d, 4, conf(d, 4) | 6);
	while (reg(d, 0x1fc) >> 31)
		step(d, MS);
	reg_set(d, 0x10, (MEM_ADDR + QUEUE_AT) >> 32);
	reg_set(d, 0x14, (uint32_t)(MEM_ADDR + QUEUE_AT));
	simple(d, PRM_OP_ENABLE_HCA, 0, out);
	give_pages(d, 1);
	give_pages(d, 2);
	simple(d, PRM_OP_INIT_HCA, 0, out);
}

void command_eq(struct driver *d)
{
	uint8_t in[PRM_SZ(create_eq_in) + 8] = { 0 }, out[PRM_SZ(create_eq_out)];
	struct prm_box i = prm_out(in, sizeof(in)), o = prm_out(out, sizeof(out)), eqc = PRM_SUB(&i, create_eq_in, eq_context_entry);
	struct { uint32_t bit, width; } mask = { PRM_F_create_eq_in__event_bitmask };
	uint8_t uar_in[16] = { PRM_OP_ALLOC_UAR >> 8, PRM_OP_ALLOC_UAR & 0xff }, uar_out[16];
	struct prm_box u = prm_out(uar_out, sizeof(uar_out));

	run(d, uar_in, sizeof(uar_in), uar_out, sizeof(uar_out));
	assert_int_equal(uar_out[0], 0);
	PRM_SET(&i, create_eq_in, opcode, PRM_OP_CREATE_EQ);
	PRM_SET(&eqc, eqc, log_eq_size, 6);
	PRM_SET(&eqc, eqc, intr, 3);
	PRM_SET(&eqc, eqc, uar_page, PRM_GET(&u, alloc_uar_out, uar));
	prm_set(&i, mask.bit, 64, UINT64_C(1) << 0x0a);
	prm_set(&i, PRM_SZ(create_eq_in) * 8, 64, MEM_ADDR + EQ_AT);
	for (unsigned int e = 0; e < 64; e++)
		d->mem[EQ_AT + e * 64 + 63] = 1;
	run(d, in, sizeof(in), out, sizeof(out));
	assert_int_equal(out[0], 0);
	d->eqn = (uint32_t)PRM_GET(&o, create_eq_out, eq_number);
	d->eq_ci = 0;
	reg_set(d, (uint32_t)PRM_GET(&u, alloc_uar_out, uar) * 4096 + 0x40, d->eqn << 24);
}

uint32_t next_eqe(struct driver *d)
{
	uint8_t *eqe = d->mem + EQ_AT + (d->eq_ci & 63) * 64;
	struct prm_box b = prm_in(eqe, 64), data = PRM_SUB(&b, eqe, event_data);

	if ((eqe[63] & 1) != (d->eq_ci >> 6 & 1))
		return 0;
	assert_int_equal(PRM_GET(&b, eqe, event_type), 0x0a);
	d->eq_ci++;
	reg_set(d, (uint32_t)PCI_UAR_OFFSET + 0x40, d->eqn << 24 | (d->eq_ci & 0xffffff));
	return (uint32_t)PRM_GET(&data, cmd_inter_comp_event, command_completion_vector);
}
