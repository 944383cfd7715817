/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "prm.h"

static bool inside(struct prm_box *b, uint32_t bit, uint64_t width)
{
	if (!b->bad && (uint64_t)bit + width <= (uint64_t)b->len * 8)
		return true;
	b->bad = true;
	return false;
}

uint64_t prm_get(struct prm_box *b, uint32_t bit, uint32_t width)
{
	uint64_t v = 0;
	uint32_t first = bit / 8, last = (bit + width - 1) / 8;

	if (!inside(b, bit, width))
		return 0;
	if (width > 56 && bit % 8) { /* nine bytes: no field of the PRM lies so, but a caller may ask */
		uint64_t high = prm_get(b, bit, 32);
		return high << (width - 32) | prm_get(b, bit + 32, width - 32);
	}
	for (uint32_t i = first; i <= last; i++)
		v = v << 8 | b->p[i];
	v >>= 7 - (bit + width - 1) % 8;
	return width == 64 ? v : v & ((UINT64_C(1) << width) - 1);
}

void prm_set(struct prm_box *b, uint32_t bit, uint32_t width, uint64_t value)
{
	if (b->readonly)
		b->bad = true;
	if (!inside(b, bit, width))
		return;
	/* From the field's last byte to its first, each with the part of the value that falls into it. */
	while (width) {
		uint32_t end = bit + width, byte = (end - 1) / 8;
		uint32_t shift = 7 - (end - 1) % 8;
		uint32_t n = 8 - shift < width ? 8 - shift : width;
		uint8_t mask = (uint8_t)(((1u << n) - 1) << shift);

		b->p[byte] = (uint8_t)((b->p[byte] & ~mask) | ((uint8_t)(value << shift) & mask));
		value >>= n;
		width -= n;
	}
}

void prm_copy(struct prm_box *to, uint32_t to_bit, struct prm_box *from, uint32_t from_bit, uint32_t width)
{
	for (uint32_t n; width; to_bit += n, from_bit += n, width -= n) {
		n = width < 64 ? width : 64;
		prm_set(to, to_bit, n, prm_get(from, from_bit, n));
	}
}

struct prm_box prm_sub(struct prm_box *b, uint32_t bit, uint32_t width)
{
	if (bit % 8 || width % 8 || !inside(b, bit, width)) {
		b->bad = true;
		return (struct prm_box){ .bad = true };
	}
	return (struct prm_box){ .p = b->p + bit / 8, .len = width / 8, .readonly = b->readonly };
}

const struct prm_layout *prm_layout(const char *name)
{
	unsigned int low = 0, high = prm_n_layouts;

	while (low < high) {
		unsigned int mid = (low + high) / 2;
		int order = strcmp(prm_layouts[mid].name, name);

		if (!order)
			return &prm_layouts[mid];
		if (order < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

/* On the way of every command, and more than once: no search. */
const struct prm_command *prm_command(uint16_t opcode)
{
	unsigned int at = opcode < sizeof(prm_opcode_at) ? prm_opcode_at[opcode] : 0;

	return at ? &prm_opcodes[at - 1] : NULL;
}

const char *prm_opcode_name(uint16_t opcode)
{
	const struct prm_command *c = prm_command(opcode);

	return c ? c->name : NULL;
}

const struct prm_layout *prm_inbox_layout(uint16_t opcode)
{
	const struct prm_command *c = prm_command(opcode);

	return c && c->in >= 0 ? &prm_layouts[c->in] : NULL;
}

const struct prm_layout *prm_outbox_layout(uint16_t opcode)
{
	const struct prm_command *c = prm_command(opcode);

	return c && c->out >= 0 ? &prm_layouts[c->out] : NULL;
}

const struct prm_value *prm_value(const struct prm_enum *e, uint64_t value)
{
	for (unsigned int i = 0; i < e->n_values; i++)
		if (e->values[i].value == value)
			return &e->values[i];
	return NULL;
}

/* Names as in the PRM; errno values as mlx5_cmd_status_to_err of Linux gives them. */
static const struct {
	uint8_t status;
	int err;
	const char *name;
} statuses[] = {
	{ PRM_STAT_OK, 0, "OK" },
	{ PRM_STAT_INT_ERR, EIO, "internal error" },
	{ PRM_STAT_BAD_OP_ERR, EINVAL, "bad operation" },
	{ PRM_STAT_BAD_PARAM_ERR, EINVAL, "bad parameter" },
	{ PRM_STAT_BAD_SYS_STATE_ERR, EIO, "bad system state" },
	{ PRM_STAT_BAD_RES_ERR, EINVAL, "bad resource" },
	{ PRM_STAT_RES_BUSY, EBUSY, "resource busy" },
	{ PRM_STAT_NOT_READY, EAGAIN, "not ready" },
	{ PRM_STAT_LIM_ERR, ENOMEM, "limits exceeded" },
	{ PRM_STAT_BAD_RES_STATE_ERR, EINVAL, "bad resource state" },
	{ PRM_STAT_IX_ERR, EINVAL, "bad index" },
	{ PRM_STAT_NO_RES_ERR, EAGAIN, "no resources" },
	{ PRM_STAT_BAD_QP_STATE_ERR, EINVAL, "bad QP state" },
	{ PRM_STAT_BAD_PKT_ERR, EINVAL, "bad packet" },
	{ PRM_STAT_BAD_SIZE_OUTS_CQES_ERR, EINVAL, "bad size, outstanding CQEs" },
	{ PRM_STAT_BAD_INP_LEN_ERR, EIO, "bad input length" },
	{ PRM_STAT_BAD_OUTP_LEN_ERR, EIO, "bad output length" },
	{ PRM_STAT_ABORTED, EIO, "aborted by the driver" },
};

#define N_STATUSES (sizeof(statuses) / sizeof(statuses[0]))

const char *prm_status_name(uint8_t status)
{
	for (size_t i = 0; i < N_STATUSES; i++)
		if (statuses[i].status == status)
			return statuses[i].name;
	return "unknown status";
}

int prm_status_errno(uint8_t status)
{
	for (size_t i = 0; i < N_STATUSES; i++)
		if (statuses[i].status == status)
			return statuses[i].err;
	return EIO;
}

bool prm_open_ended(const struct prm_layout *l)
{
	for (unsigned int i = 0; i < l->n_fields; i++) {
		const struct prm_field *f = &l->fields[i];

		if (!f->count || (f->nested >= 0 && f->count == 1 && f->bit + f->width == l->bits &&
				  prm_open_ended(&prm_layouts[f->nested])))
			return true;
	}
	return false;
}

/* One bit of an inbox against a layout; nested layouts are entered, a variable tail is all defined. */
static bool defined_in(const struct prm_layout *l, uint32_t bit)
{
	for (unsigned int i = 0; i < l->n_fields; i++) {
		const struct prm_field *f = &l->fields[i];
		uint64_t width = f->width ? f->width : 1;
		uint64_t end = f->count ? f->bit + width * f->count : UINT64_MAX;

		if (f->nested >= 0 && f->count == 1 && end == l->bits && prm_open_ended(&prm_layouts[f->nested]))
			width = end = UINT64_MAX;
		if (bit < f->bit || bit >= end)
			continue;
		if (f->nested < 0 || !prm_layouts[f->nested].n_fields)
			return true;
		if (defined_in(&prm_layouts[f->nested], (uint32_t)((bit - f->bit) % width)))
			return true;
	}
	return false;
}

int64_t prm_undefined(const struct prm_layout *layout, const void *box, size_t len, size_t from)
{
	const uint8_t *p = box;

	for (size_t byte = from; byte < len; byte++) {
		if (!p[byte])
			continue;
		for (uint32_t i = 0; i < 8; i++)
			if (p[byte] & 0x80u >> i && !defined_in(layout, (uint32_t)byte * 8 + i))
				return (int64_t)byte * 8 + i;
	}
	return -1;
}

int64_t prm_first_undefined(const struct prm_layout *layout, const void *in, size_t len)
{
	return prm_undefined(layout, in, len, 8); /* behind the header: opcode, uid, tunnel id, op_mod */
}

/* A run of bits of the box to the same place of dst, which stands for the box from bit `from` on. */
static void copy_run(struct prm_box *box, struct prm_box *dst, uint64_t bit, uint64_t width, uint32_t from)
{
	for (uint32_t n; width; bit += n, width -= n) {
		n = width < 64 ? (uint32_t)width : 64;
		prm_set(dst, (uint32_t)bit - from, n, prm_get(box, (uint32_t)bit, n));
	}
}

static void copy_fields(const struct prm_layout *l, uint32_t base, struct prm_box *box, struct prm_box *dst, uint32_t from)
{
	const uint64_t end = (uint64_t)from + dst->len * 8;

	for (unsigned int i = 0; i < l->n_fields; i++) {
		const struct prm_field *f = &l->fields[i];
		bool enter = f->nested >= 0 && prm_layouts[f->nested].n_fields;

		for (uint32_t k = 0; k < f->count; k++) {
			uint64_t a = (uint64_t)base + f->bit + (uint64_t)k * f->width, b = a + f->width;

			if (b <= from || a >= end)
				continue;
			if (enter)
				copy_fields(&prm_layouts[f->nested], (uint32_t)a, box, dst, from);
			else
				copy_run(box, dst, a < from ? from : a, (b < end ? b : end) - (a < from ? from : a), from);
		}
	}
}

void prm_copy_defined(const struct prm_layout *layout, struct prm_box *box, uint32_t bit, uint32_t width, uint8_t *dst)
{
	struct prm_box to = prm_out(dst, width / 8);

	memset(dst, 0, width / 8);
	copy_fields(layout, 0, box, &to, bit);
}
