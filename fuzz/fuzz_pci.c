/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The PCI function behind pci.h, with a hostile guest: writes to registers, configuration space and doorbell pages, guest memory that
 * changes at any time, commands that are well formed or spoiled, control lines, resets, and steps of time. Checked: nothing falls due
 * twice or is left due; mailboxes are written only while a driver could still wait; ids of vectors are in range; each region's ends
 * hold. That nothing outside is reached is AddressSanitizer's part: guest memory is allocated to the byte.
 */
#include <string.h>

#include "function.h"
#include "fuzz.h"
#include "template.h"

#define MEM_BASE UINT64_C(0x100000)
#define MEM_SIZE 0x18000u
#define QUEUE MEM_BASE
#define EQ_PAGE (MEM_BASE + 0x1000)
#define SCRATCH (MEM_BASE + 0x2000)  /* pages for objects */
#define BOXES (MEM_BASE + 0x10000)   /* mailboxes, 1 KiB apart */
#define N_BOXES 32u
#define BLOCK_STEP 1024u
#define MEMORY (UINT64_C(64) << 20)
#define TIMEOUT UINT64_C(1000000)
#define STEPS_MAX 32
#define IDS 32u
#define BOX_MAX 16384u

struct world {
	struct pci *p;
	const uint8_t *in;
	size_t left;
	uint64_t now;
	uint8_t *mem;
	uint64_t rung;      /* the last time at which a doorbell was written */
	uint64_t dirty_low, dirty_high;
	uint32_t ids[IDS], n_ids, eqn, uar;
	struct live live, *fresh; /* fresh: what each input begins with, by the function */
	uint32_t serial;
	uint8_t token;
};

static uint64_t take(struct world *w, unsigned int bytes)
{
	uint64_t v = 0;

	while (bytes-- && w->left) {
		v = v << 8 | *w->in++;
		w->left--;
	}
	return v;
}

static bool inside(uint64_t addr, size_t len)
{
	return addr >= MEM_BASE && addr - MEM_BASE <= MEM_SIZE && len <= MEM_SIZE - (addr - MEM_BASE);
}

static bool host_read(void *host, uint64_t addr, void *dst, size_t len)
{
	struct world *w = host;

	if (!inside(addr, len))
		return false;
	memcpy(dst, w->mem + (addr - MEM_BASE), len);
	return true;
}

static bool host_write(void *host, uint64_t addr, const void *src, size_t len)
{
	struct world *w = host;

	/* A mailbox: nothing else is written so. */
	FUZZ_CHECK(len != BLOCK_BYTES || w->now - w->rung <= TIMEOUT);
	if (!inside(addr, len))
		return false;
	memcpy(w->mem + (addr - MEM_BASE), src, len);
	return true;
}

static void host_msix(void *host, uint32_t vector)
{
	FUZZ_CHECK(vector < PCI_VECTORS);
}

static uint64_t host_now(void *host)
{
	const struct world *w = host;

	return w->now;
}

static void host_reset(void *host)
{
}

static void put_be(uint8_t *at, uint64_t v, unsigned int bytes)
{
	while (bytes--) {
		at[bytes] = (uint8_t)v;
		v >>= 8;
	}
}

static void reg_set(struct world *w, uint64_t offset, uint32_t value)
{
	uint8_t bytes[4];

	put_be(bytes, value, 4);
	if (offset == SEG_DOORBELL)
		w->rung = w->now;
	FUZZ_CHECK(pci_write(w->p, PCI_BAR0, offset, bytes, sizeof(bytes), w->now));
}

/* A chain of mailboxes with what follows the first 16 bytes. */
static uint64_t chain(struct world *w, unsigned int *next, const uint8_t *box, uint32_t len)
{
	uint64_t first = BOXES + (uint64_t)*next % N_BOXES * BLOCK_STEP;

	for (uint32_t done = INLINE_BYTES, i = 0; done < len && i < N_BOXES; done += BLOCK_DATA, i++, (*next)++) {
		uint8_t *b = w->mem + (BOXES - MEM_BASE) + *next % N_BOXES * BLOCK_STEP;

		memset(b, 0, BLOCK_BYTES);
		if (box)
			memcpy(b, box + done, len - done < BLOCK_DATA ? len - done : BLOCK_DATA);
		if (done + BLOCK_DATA < len)
			put_be(b + 560, BOXES + (uint64_t)(*next + 1) % N_BOXES * BLOCK_STEP, 8);
		put_be(b + 568, i, 4);
		b[573] = w->token;
	}
	return len > INLINE_BYTES ? first : 0;
}

static uint8_t *put_entry(struct world *w, unsigned int slot, const uint8_t *box, uint32_t inlen, uint32_t outlen, unsigned int at)
{
	uint8_t *e = w->mem + slot * ENTRY_BYTES;

	w->token++;
	memset(e, 0, ENTRY_BYTES);
	e[0] = 7;
	put_be(e + 4, inlen, 4);
	put_be(e + 8, chain(w, &at, box, inlen), 8);
	memcpy(e + 16, box, inlen < INLINE_BYTES ? inlen : INLINE_BYTES);
	put_be(e + 48, chain(w, &at, NULL, outlen), 8);
	put_be(e + 56, outlen, 4);
	e[60] = w->token;
	e[63] = 1;
	return e;
}

static void note_id(struct world *w, const uint8_t *out)
{
	struct prm_box b = prm_in(out, INLINE_BYTES);

	if (!out[0])
		w->ids[w->n_ids++ % IDS] = (uint32_t)prm_get(&b, 64, 32);
}

static uint64_t choose_value(struct world *w)
{
	uint8_t b = (uint8_t)take(w, 1);

	switch (b & 7) {
	case 0:
		return take(w, 1);
	case 1:
		return take(w, 4);
	case 2:
		return take(w, 8);
	case 3:
	case 4:
		return w->ids[b >> 3];
	case 5:
		return (uint64_t)w->ids[b >> 3] << 8 | take(w, 1);
	case 6:
		return SCRATCH + take(w, 1) % 14 * 4096;
	default:
		return UINT64_C(1) << (take(w, 1) & 63);
	}
}

static void set_field(struct world *w, const struct prm_layout *l, struct prm_box *b, unsigned int depth)
{
	const struct prm_field *f = &l->fields[take(w, 1) % l->n_fields];
	uint32_t bit = f->bit + (f->count != 1 ? (uint32_t)take(w, 1) % 8 * f->width : 0);

	if (f->nested >= 0 && depth < 4) {
		uint32_t at = bit / 8 < b->len ? bit / 8 : b->len;
		struct prm_box sub = { .p = b->p + at, .len = b->len - at };

		set_field(w, &prm_layouts[f->nested], &sub, depth + 1);
	} else if (f->width <= 64) {
		prm_set(b, bit, f->width, choose_value(w));
	}
}

/* A recipe's command, or any opcode that has a layout: the driver's own are among these. */
static void command(struct world *w)
{
	static uint8_t box[BOX_MAX];
	uint8_t flags = (uint8_t)take(w, 1);
	unsigned int slot = (unsigned int)take(w, 1) % SLOTS, at = (unsigned int)take(w, 1), n_fields = flags >> 4 & 3;
	const struct rcp_cmd *recipe = flags & 1 ? template_command((unsigned int)take(w, 2)) : NULL;
	uint16_t opcode = recipe ? recipe->opcode : (uint16_t)prm_opcodes[take(w, 2) % prm_n_opcodes].value;
	const struct prm_layout *l = prm_inbox_layout(opcode);
	uint32_t inlen = recipe ? recipe->inlen : (l ? l->bits / 8 : 16) + (uint32_t)take(w, 1) * 8, outlen = 16;
	struct prm_box b;
	uint8_t *entry;

	outlen += flags & 32 ? (uint32_t)take(w, 1) * 64 : recipe ? recipe->outlen : 48;
	if (inlen > sizeof(box))
		inlen = sizeof(box);
	memset(box, 0, inlen);
	b = prm_out(box, inlen);
	prm_set(&b, 0, 16, opcode);
	if (recipe)
		template_fill(w->p->hca, recipe, &b, &w->live, SCRATCH + (flags >> 6) * 8192u, ++w->serial);
	if (flags & 8)
		prm_set(&b, 16, 16, take(w, 1) & 3);
	while (n_fields-- && l && l->n_fields)
		set_field(w, l, &b, 0);
	if (flags & 4)
		inlen = outlen;
	if (inlen > sizeof(box))
		inlen = sizeof(box);
	entry = put_entry(w, slot, box, inlen, outlen, at);
	if (flags & 2) { /* spoils a byte of the entry, or of a mailbox */
		uint64_t where = take(w, 2);
		uint8_t *byte = where & 0x8000 ? entry + where % ENTRY_BYTES : w->mem + (BOXES - MEM_BASE) + (where % (N_BOXES * BLOCK_STEP));

		*byte ^= (uint8_t)take(w, 1);
	}
	reg_set(w, SEG_DOORBELL, UINT32_C(1) << slot);
	if (!(entry[63] & 1))
		note_id(w, entry + 32);
}

static void bar(struct world *w)
{
	static const uint32_t usual[] = { SEG_QUEUE_HIGH, SEG_QUEUE_LOW, SEG_DOORBELL, MSIX_TABLE, MSIX_PBA, 0x1fc };
	uint8_t b = (uint8_t)take(w, 1), bytes[64];
	uint64_t offset = b & 1 ? usual[(b >> 1) % 6] : b & 2 ? take(w, 4) : (uint64_t)w->uar * 4096 + (b & 4 ? 0x40 : 0x48);
	size_t len = b & 8 ? 4 : take(w, 1) % sizeof(bytes);
	bool fits = offset <= PCI_BAR0_SIZE && len <= PCI_BAR0_SIZE - offset;

	if (b & 16) {
		FUZZ_CHECK(pci_read(w->p, PCI_BAR0, offset, bytes, len, w->now) == fits);
		return;
	}
	for (size_t i = 0; i < len; i++)
		bytes[i] = (uint8_t)take(w, 1);
	if (b & 32 && len >= 4)
		bytes[0] = (uint8_t)w->eqn;
	w->rung = w->now;
	FUZZ_CHECK(pci_write(w->p, PCI_BAR0, offset, bytes, len, w->now) == fits);
}

static void config_space(struct world *w)
{
	uint8_t bytes[16];
	uint64_t offset = take(w, 2) & 0x1fff;
	size_t len = take(w, 1) % sizeof(bytes);
	bool fits = offset <= PCI_CONFIG_SIZE && len <= PCI_CONFIG_SIZE - offset;

	FUZZ_CHECK(pci_read(w->p, PCI_CONFIG, offset, bytes, len, w->now) == fits);
	for (size_t i = 0; i < len; i++)
		bytes[i] = (uint8_t)take(w, 1);
	FUZZ_CHECK(pci_write(w->p, PCI_CONFIG, offset, bytes, len, w->now) == fits);
}

static void control(struct world *w)
{
	static const char *const lines[] = {
		"hold", "hold %u", "release %u", "release all", "fault hang", "fault nth=%u hang", "fault delay=%uus", "fault clear",
		"fault opcode=%u status=1", "traffic %u %u %u", "counter %u", "packet %08x%08x%08x%08x", "port up", "port down",
		"event %u %u %u", "event 0xa00:%u %u %u", "fatal %u", "reset", "stat", "%s",
	};
	char text[80], line[80], reply[64], full[8192];
	uint32_t a = (uint32_t)choose_value(w), b = (uint32_t)choose_value(w), c = (uint32_t)choose_value(w);
	size_t n = 0, which = take(w, 1) % (sizeof(lines) / sizeof(lines[0]));
	bool done;

	if (strstr(lines[which], "%s")) {
		while (n < sizeof(text) - 1 && w->left)
			text[n++] = (char)(take(w, 1) & 0x7f);
		text[n] = 0;
		snprintf(line, sizeof(line), "%s", text);
	} else {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
		snprintf(line, sizeof(line), lines[which], a, b, c, a);
#pragma GCC diagnostic pop
	}
	done = pci_control(w->p, line, a & 1 ? reply : full, a & 1 ? sizeof(reply) : sizeof(full), w->now);
	FUZZ_CHECK(done == !strncmp(a & 1 ? reply : full, "ok", 2));
}

static void pass(struct world *w, uint64_t ns)
{
	w->now += ns;
	pci_due(w->p, w->now);
	FUZZ_CHECK(pci_next(w->p) > w->now);
}

static void run(struct world *w, const uint8_t *box, uint32_t inlen, uint8_t out[INLINE_BYTES])
{
	uint8_t *e = put_entry(w, 0, box, inlen, INLINE_BYTES, 0);

	reg_set(w, SEG_DOORBELL, 1);
	pass(w, 2000);
	FUZZ_CHECK(!e[63] && !e[32]);
	memcpy(out, e + 32, INLINE_BYTES);
}

static void simple(struct world *w, uint16_t opcode, uint16_t op_mod, uint8_t out[INLINE_BYTES])
{
	uint8_t box[PRM_SZ(init_hca_in)] = { (uint8_t)(opcode >> 8), (uint8_t)opcode, 0, 0, 0, 0, 0, (uint8_t)op_mod };

	run(w, box, sizeof(box), out);
}

static void give_pages(struct world *w, uint16_t which)
{
	static uint8_t box[PRM_SZ(manage_pages_in) + 1024 * 8];
	uint8_t out[INLINE_BYTES];
	struct prm_box i = prm_out(box, sizeof(box)), o = prm_out(out, sizeof(out));
	uint32_t n;

	simple(w, PRM_OP_QUERY_PAGES, which, out);
	n = (uint32_t)PRM_GET(&o, query_pages_out, num_pages);
	FUZZ_CHECK(n <= 1024);
	PRM_SET(&i, manage_pages_in, opcode, PRM_OP_MANAGE_PAGES);
	PRM_SET(&i, manage_pages_in, op_mod, 1);
	PRM_SET(&i, manage_pages_in, input_num_entries, n);
	for (uint32_t k = 0; k < n; k++) {
		uint64_t page = __builtin_bswap64((UINT64_C(1) << 40) + ((which * 1024u + k) << 12));

		memcpy(box + PRM_SZ(manage_pages_in) + k * sizeof(page), &page, sizeof(page));
	}
	run(w, box, PRM_SZ(manage_pages_in) + n * 8, out);
}

/* What a driver does first, up to the command EQ. */
static void bring_up(struct world *w)
{
	uint8_t box[PRM_SZ(create_eq_in) + 8] = { 0 }, out[INLINE_BYTES], master[] = { 6, 0 };
	struct prm_box i = prm_out(box, sizeof(box)), o = prm_out(out, sizeof(out)), eqc = PRM_SUB(&i, create_eq_in, eq_context_entry);
	struct { uint32_t bit, width; } mask = { PRM_F_create_eq_in__event_bitmask };

	pci_write(w->p, PCI_CONFIG, 4, master, sizeof(master), w->now);
	reg_set(w, SEG_QUEUE_HIGH, QUEUE >> 32);
	reg_set(w, SEG_QUEUE_LOW, (uint32_t)QUEUE);
	simple(w, PRM_OP_ENABLE_HCA, 0, out);
	give_pages(w, 1);
	give_pages(w, 2);
	simple(w, PRM_OP_INIT_HCA, 0, out);
	simple(w, PRM_OP_ALLOC_UAR, 0, out);
	w->uar = (uint32_t)PRM_GET(&o, alloc_uar_out, uar);
	PRM_SET(&i, create_eq_in, opcode, PRM_OP_CREATE_EQ);
	PRM_SET(&eqc, eqc, log_eq_size, 5);
	PRM_SET(&eqc, eqc, uar_page, w->uar);
	prm_set(&i, mask.bit, 64, UINT64_MAX);
	prm_set(&i, PRM_SZ(create_eq_in) * 8, 64, EQ_PAGE);
	run(w, box, sizeof(box), out);
	w->eqn = (uint32_t)PRM_GET(&o, create_eq_out, eq_number);
	if (!w->fresh->env.mem)
		template_begin(w->p->hca, w->fresh, SCRATCH);
	w->live = *w->fresh;
	w->live.env.eqn = w->eqn;
}

static void step(struct world *w)
{
	uint8_t b = (uint8_t)take(w, 1);

	if (b < 120)
		command(w);
	else if (b < 160)
		bar(w);
	else if (b < 170)
		config_space(w);
	else if (b < 190)
		control(w);
	else if (b < 220)
		pass(w, take(w, 3));
	else if (b < 235)
		w->mem[take(w, 3) % MEM_SIZE] = (uint8_t)take(w, 1);
	else if (b < 250)
		reg_set(w, SEG_DOORBELL, (uint32_t)take(w, 4));
	else if (b < 252)
		pci_reset(w->p, w->now);
	else
		pass(w, UINT64_C(1) << 36);
}

/* One function of each configuration for all inputs: it is the reset that makes it new. */
static struct pci *function_of(struct world *w, unsigned int which)
{
	static const struct pci_host ops = { .read = host_read, .write = host_write, .msix = host_msix, .now = host_now, .reset = host_reset };
	static struct pci *functions[32];
	static struct live fresh[32];
	static uint8_t *uars;
	struct pci_config config = { .mapped = which & 16 };

	if (!uars)
		uars = calloc(1, PCI_UAR_SIZE);
	FUZZ_CHECK(uars);
	config.uars = uars;
	config.hca.profile = which % HCA_N_PROFILES;
	config.hca.timeout = TIMEOUT;
	config.hca.reorder = which & 4;
	config.hca.latency = which & 8 ? 1000 : 0;
	config.hca.jitter = which & 8 ? 500 : 0;
	config.hca.memory = MEMORY;
	if (!functions[which])
		functions[which] = pci_new(&config, &ops, w);
	FUZZ_CHECK(functions[which]);
	functions[which]->host = w;
	w->fresh = &fresh[which];
	functions[which]->rng = functions[which]->order = 0;
	return functions[which];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct world *w;
	uint8_t *mem = w ? w->mem : malloc(MEM_SIZE);
	char reply[64];
	uint8_t b;

	if (!w)
		w = malloc(sizeof(*w));
	FUZZ_CHECK(w && mem);
	memset(w, 0, sizeof(*w));
	memset(mem, 0, MEM_SIZE);
	w->mem = mem;
	w->in = data;
	w->left = size;
	w->now = 10000000;
	b = (uint8_t)take(w, 1);
	w->p = function_of(w, b & 31);
	if (b < 224)
		bring_up(w);
	for (int i = 0; i < STEPS_MAX && w->left; i++)
		step(w);
	pass(w, UINT64_C(1) << 40);
	FUZZ_CHECK(hca_usage(w->p->hca).memory <= MEMORY);
	FUZZ_CHECK(pci_control(w->p, "fault clear", reply, sizeof(reply), w->now));
	FUZZ_CHECK(pci_control(w->p, "release all", reply, sizeof(reply), w->now));
	pci_reset(w->p, 0); /* as new, for the next input; and nothing of this one is left in memory */
	return 0;
}
