/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The device model behind hca.h. The input is a small program: commands whose inboxes are built field by field from the
 * layout tables, with ids of what earlier commands made, and steps of time, hold, release, faults and removal between them.
 * Checked: every command comes back exactly once, nothing is written past an outbox, and memory is reached only through
 * pages that some CREATE_UMEM named. Boxes are allocated to the byte, so that AddressSanitizer sees what strays.
 */
#include <string.h>

#include "fuzz.h"
#include "hca.h"
#include "prm.h"
#include "template.h"

#define MEM_BASE UINT64_C(0x100000)
#define MEM_SIZE 0x10000u
#define PAGE 0x1000u
#define BOX_MAX 8192u
#define STEPS_MAX 400
#define IDS 32
#define PAGES 256

struct reader {
	const uint8_t *p;
	size_t left;
};

struct flying {
	uint8_t *before; /* the inbox as submitted */
	struct hca_cmd *cmd;
	struct flying *next;
};

struct world {
	struct hca *h;
	struct reader in;
	uint64_t now;
	struct flying *inside;
	uint32_t ids[IDS]; /* what commands answered in the place where ids are */
	unsigned int n_ids;
	struct {
		uint64_t addr, size;
	} pages[PAGES];        /* that a CREATE_UMEM named */
	unsigned int n_pages;
	bool many_pages;       /* more than fit: not told apart any more */
	uint8_t *mem;
	struct live live;
	uint32_t serial;
};

static uint64_t take(struct world *w, unsigned int bytes)
{
	uint64_t v = 0;

	while (bytes-- && w->in.left) {
		v = v << 8 | *w->in.p++;
		w->in.left--;
	}
	return v;
}

static bool named(const struct world *w, uint64_t addr)
{
	for (unsigned int i = 0; i < w->n_pages; i++)
		if (addr - w->pages[i].addr < w->pages[i].size)
			return true;
	return w->many_pages;
}

static void check_reached(const struct world *w, uint64_t addr, size_t len)
{
	FUZZ_CHECK(!len || (named(w, addr) && named(w, addr + (len - 1))));
}

static bool inside_memory(uint64_t addr, size_t len)
{
	return addr >= MEM_BASE && addr - MEM_BASE <= MEM_SIZE && len <= MEM_SIZE - (addr - MEM_BASE);
}

static bool host_read(void *host, uint64_t addr, void *dst, size_t len)
{
	struct world *w = host;

	check_reached(w, addr, len);
	if (!inside_memory(addr, len))
		return false;
	memcpy(dst, w->mem + (addr - MEM_BASE), len);
	return true;
}

static bool host_write(void *host, uint64_t addr, const void *src, size_t len)
{
	struct world *w = host;

	check_reached(w, addr, len);
	if (!inside_memory(addr, len))
		return false;
	memcpy(w->mem + (addr - MEM_BASE), src, len);
	return true;
}

static void host_event(void *host, const struct hca_event *ev)
{
}

static void no_interrupt(void *host_, uint32_t eqn, uint32_t vector)
{
}

static uint32_t no_doorbell(void *host_, uint32_t eqn, uint32_t uar_page, uint32_t offset)
{
	return 0;
}

static const struct hca_host host_ops = { .read = host_read, .write = host_write, .event = host_event,
	.interrupt = no_interrupt, .doorbell = no_doorbell };

/* A command of a recipe, or *opcode: any that has a name, or any number at all. */
static const struct rcp_cmd *choose_command(struct world *w, uint16_t *opcode)
{
	const struct rcp_cmd *cmd = NULL;
	uint8_t b = (uint8_t)take(w, 1);

	if (b < 232)
		cmd = template_command((unsigned int)take(w, 1) | (b & 1) << 8);
	else if (b < 250)
		*opcode = (uint16_t)prm_opcodes[take(w, 2) % prm_n_opcodes].value;
	else
		*opcode = (uint16_t)take(w, 2);
	if (cmd)
		*opcode = cmd->opcode;
	return cmd;
}

static uint64_t choose_value(struct world *w)
{
	uint8_t b = (uint8_t)take(w, 1);
	uint32_t id = w->ids[(b >> 3) % IDS];

	switch (b & 7) {
	case 0:
		return take(w, 1);
	case 1:
		return take(w, 4);
	case 2:
		return take(w, 8);
	case 3:
	case 4:
		return id;
	case 5: /* an mkey of that index */
		return (uint64_t)id << 8 | take(w, 1);
	case 6:
		return (MEM_BASE + take(w, 1) % 32 * PAGE) | (b >> 3 & 3);
	default:
		return UINT64_C(1) << (take(w, 1) & 63);
	}
}

/* Sets fields of the layout, going down into nested contexts as the input says. */
static void set_field(struct world *w, const struct prm_layout *l, struct prm_box *b, unsigned int depth)
{
	const struct prm_field *f = &l->fields[take(w, 1) % l->n_fields];
	uint32_t bit = f->bit;

	if (f->count != 1)
		bit += (uint32_t)take(w, 1) % 8 * f->width;
	if (f->nested >= 0 && depth < 4) {
		struct prm_box sub = { .p = b->p + (bit / 8 < b->len ? bit / 8 : b->len),
				       .len = bit / 8 < b->len ? b->len - bit / 8 : 0 };

		set_field(w, &prm_layouts[f->nested], &sub, depth + 1);
		return;
	}
	if (f->width <= 64)
		prm_set(b, bit, f->width, choose_value(w));
}

static uint32_t choose_length(struct world *w, const struct prm_layout *l)
{
	uint8_t b = (uint8_t)take(w, 1);

	if (b < 160)
		return (l ? l->bits / 8 : 16) + b % 8 * 8;
	if (b < 200)
		return b - 160;
	return (uint32_t)take(w, 2) % BOX_MAX;
}

static struct hca_cmd *build(struct world *w)
{
	uint16_t opcode;
	const struct rcp_cmd *recipe = choose_command(w, &opcode);
	uint32_t base = 0; /* bytes */
	const struct prm_layout *l = recipe ? template_layout(recipe, take(w, 1) & 3, &base) : prm_inbox_layout(opcode);
	uint32_t inlen = choose_length(w, l), outlen = (uint32_t)take(w, 1) * 4;
	uint8_t flags = (uint8_t)take(w, 1);
	bool ready = recipe && !(flags & 32); /* starts from an inbox that would be accepted */
	unsigned int n_fields = (unsigned int)take(w, 1) % 32;
	uint32_t box;
	struct hca_cmd *cmd;
	struct prm_box b, fields;

	if (ready) {
		inlen = recipe->inlen;
		outlen = BOX_MAX;
		n_fields %= 4;
	}
	box = inlen > outlen ? inlen : outlen;
	cmd = calloc(1, sizeof(*cmd) + box);

	FUZZ_CHECK(cmd);
	if (flags & 64 && !ready)
		outlen = outlen * 9 % 65536;
	if (outlen > box)
		outlen = box;
	cmd->inlen = inlen;
	cmd->outlen = (uint16_t)outlen;
	cmd->async = flags & 1;
	b = prm_out(cmd->box, inlen);
	prm_set(&b, 0, 16, opcode);
	if (ready)
		template_fill(w->h, recipe, &b, &w->live, MEM_BASE + (flags >> 6) * 2 * PAGE, ++w->serial);
	prm_set(&b, 16, 16, flags & 2 ? 1 + (flags >> 2 & 3) : 0); /* a uid */
	fields = prm_out(cmd->box + (base < inlen ? base : inlen), base < inlen ? inlen - base : 0);
	while (n_fields-- && w->in.left && l && l->n_fields)
		set_field(w, l, &fields, 0);
	return cmd;
}

/* Before a command executes: what it might register. Names more than the model may take, never less. */
static void note_pages(struct world *w, const struct hca_cmd *cmd)
{
	struct prm_box in = prm_in(cmd->box, cmd->inlen), ctx;
	uint64_t size;

	if (prm_get(&in, 0, 16) != PRM_OP_CREATE_UMEM)
		return;
	ctx = PRM_SUB(&in, create_umem_in, umem);
	size = UINT64_C(1) << (12 + PRM_GET(&ctx, umem, log_page_size));
	for (uint32_t at = PRM_SZ(create_umem_in); at + 8 <= cmd->inlen; at += 8) {
		if (w->n_pages == PAGES) {
			w->many_pages = true;
			return;
		}
		w->pages[w->n_pages].addr = prm_get(&in, at * 8, 64) & ~(uint64_t)(PAGE - 1);
		w->pages[w->n_pages++].size = size;
	}
}

static void note_id(struct world *w, const uint8_t *out, uint32_t outlen)
{
	struct prm_box b = prm_in(out, outlen);

	if (outlen >= 12 && !out[0])
		w->ids[w->n_ids++ % IDS] = (uint32_t)prm_get(&b, 64, 32);
}

static void submit(struct world *w)
{
	struct hca_cmd *cmd = build(w);
	struct flying *f = calloc(1, sizeof(*f));

	FUZZ_CHECK(f);
	f->before = malloc(cmd->inlen ? cmd->inlen : 1);
	FUZZ_CHECK(f->before);
	memcpy(f->before, cmd->box, cmd->inlen);
	f->cmd = cmd;
	f->next = w->inside;
	w->inside = f;
	note_pages(w, cmd);
	hca_submit(w->h, cmd, w->now);
}

static void execute(struct world *w)
{
	struct hca_cmd *cmd = build(w);
	uint8_t *out = malloc(cmd->outlen ? cmd->outlen : 1), *in = malloc(cmd->inlen ? cmd->inlen : 1);

	FUZZ_CHECK(out && in);
	memcpy(in, cmd->box, cmd->inlen);
	note_pages(w, cmd);
	hca_execute(w->h, in, cmd->inlen, out, cmd->outlen);
	FUZZ_CHECK(!memcmp(in, cmd->box, cmd->inlen));
	note_id(w, out, cmd->outlen);
	free(out);
	free(in);
	free(cmd);
}

static void came_back(struct world *w, struct hca_cmd *cmd)
{
	struct flying **p = &w->inside, *f;

	while (*p && (*p)->cmd != cmd)
		p = &(*p)->next;
	FUZZ_CHECK(*p); /* it was inside, and has not come back before */
	f = *p;
	*p = f->next;
	FUZZ_CHECK(cmd->end <= HCA_ABORTED);
	if (cmd->inlen > cmd->outlen)
		FUZZ_CHECK(!memcmp(cmd->box + cmd->outlen, f->before + cmd->outlen, cmd->inlen - cmd->outlen));
	if (cmd->end == HCA_DONE)
		note_id(w, cmd->box, cmd->outlen);
	free(f->before);
	free(f);
	free(cmd);
}

static void drain(struct world *w)
{
	struct hca_cmd *cmd;

	while ((cmd = hca_due(w->h, w->now)))
		came_back(w, cmd);
	FUZZ_CHECK(hca_next(w->h) > w->now);
}

static void add_fault(struct world *w)
{
	uint8_t b = (uint8_t)take(w, 1);
	struct hca_fault f = { .any_opcode = b & 1, .nth = b >> 1 & 3, .kind = (b >> 3) % 3 };

	if (!f.any_opcode)
		choose_command(w, &f.opcode);
	if (f.kind == HCA_FAULT_STATUS) {
		f.status = (uint8_t)take(w, 1);
		f.syndrome = (uint32_t)take(w, 4);
	} else if (f.kind == HCA_FAULT_DELAY) {
		f.delay = take(w, 3);
	}
	FUZZ_CHECK(hca_fault_add(w->h, &f));
}

static void step(struct world *w)
{
	uint8_t b = (uint8_t)take(w, 1);

	if (b < 120) {
		submit(w);
		if (b & 1)
			drain(w);
	} else if (b < 180) {
		execute(w);
	} else if (b < 210) {
		w->now += take(w, 3);
		drain(w);
	} else if (b < 220) {
		hca_hold(w->h, w->now);
	} else if (b < 232) {
		hca_release(w->h, b & 1 ? UINT32_MAX : (uint32_t)take(w, 1), w->now);
	} else if (b < 242) {
		add_fault(w);
	} else if (b < 246) {
		hca_fault_clear(w->h, w->now);
	} else if (b < 254) {
		hca_traffic(w->h, w->ids[b % IDS] + (uint32_t)take(w, 1), take(w, 8), take(w, 8));
	} else if (b == 254) {
		hca_stalled(w->h);
		w->now += UINT64_C(1) << 40;
		drain(w);
	} else {
		hca_remove(w->h);
		drain(w);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct world *w = calloc(1, sizeof(*w));
	struct hca_config cfg = { .timeout = 100000 };
	uint8_t b;

	FUZZ_CHECK(w);
	w->mem = calloc(1, MEM_SIZE);
	FUZZ_CHECK(w->mem);
	w->in = (struct reader){ data, size };
	b = (uint8_t)take(w, 1);
	cfg.profile = b % HCA_N_PROFILES;
	cfg.reorder = b & 4;
	cfg.strict = b & 8;
	cfg.latency = b & 16 ? 1000 : 0;
	cfg.jitter = b & 32 ? 500 : 0;
	w->h = hca_new(&cfg, &host_ops, w);
	FUZZ_CHECK(w->h);
	/* The pages that the template's umem names. */
	w->pages[w->n_pages].addr = MEM_BASE;
	w->pages[w->n_pages++].size = 2 * PAGE;
	template_begin(w->h, &w->live, MEM_BASE);
	for (int i = 0; i < STEPS_MAX && w->in.left; i++)
		step(w);
	hca_release(w->h, UINT32_MAX, w->now);
	if (b & 64)
		hca_remove(w->h);
	while (hca_next(w->h) != HCA_NEVER) {
		if (hca_next(w->h) > w->now)
			w->now = hca_next(w->h);
		drain(w);
	}
	FUZZ_CHECK(!w->inside);
	hca_free(w->h);
	free(w->mem);
	free(w);
	return 0;
}
