/* SPDX-License-Identifier: BSD-2-Clause */
/* A box as items: which layout, which form of a union, which field under which path. */
#include <string.h>

#include "text.h"

#define DEPTH_MAX 16u /* deeper than any layout nests */
#define PATH_SIZE 512u

struct walk {
	const struct prm_what *what;
	const uint8_t *p;
	uint32_t bits; /* of the box */
	prm_visit visit;
	void *arg;
	bool stopped;
	char path[PATH_SIZE];
};

struct prm_what prm_what_of(const void *in, size_t len)
{
	struct prm_box b = prm_in(in, len);
	struct prm_what what = { .known = true };

	what.opcode = (uint16_t)PRM_GET(&b, general_obj_in_cmd_hdr, opcode);
	what.op_mod = (uint16_t)PRM_GET(&b, general_obj_in_cmd_hdr, obj_type);
	switch (what.opcode) {
	case PRM_OP_CREATE_QP:
		what.qpc_ext = PRM_GET(&b, create_qp_in, qpc_ext);
		break;
	case PRM_OP_QUERY_QP:
		what.qpc_ext = PRM_GET(&b, query_qp_in, qpc_ext);
		break;
	}
	return what;
}

static const struct prm_layout *layout_of(enum prm_enum_index e, uint32_t value)
{
	const struct prm_value *v = prm_value(&prm_enums[e], value);

	return v && v->layout >= 0 ? &prm_layouts[v->layout] : NULL;
}

const struct prm_layout *prm_cap_layout(uint32_t type)
{
	return layout_of(PRM_ENUM_hca_cap_type, type);
}

const struct prm_layout *prm_object_layout(uint32_t type)
{
	return layout_of(PRM_ENUM_general_object_type, type);
}

const struct prm_layout *prm_what_layout(const struct prm_what *what)
{
	const struct prm_layout *l;

	if (!what->known)
		return prm_layout("mbox_out");
	l = what->out ? prm_outbox_layout(what->opcode) : prm_inbox_layout(what->opcode);
	return l || !what->out ? l : prm_layout("mbox_out"); /* every outbox begins so */
}

const struct prm_layout *prm_what_object(const struct prm_what *what)
{
	bool has = false;

	if (what->opcode == PRM_OP_CREATE_GENERAL_OBJECT || what->opcode == PRM_OP_MODIFY_GENERAL_OBJECT)
		has = !what->out;
	else if (what->opcode == PRM_OP_QUERY_GENERAL_OBJECT)
		has = what->out;
	return has && what->known ? prm_object_layout(what->op_mod) : NULL;
}

static uint64_t peek(const struct walk *w, uint32_t bit, uint32_t width)
{
	struct prm_box b = prm_in(w->p, w->bits / 8);

	return prm_get(&b, bit, width);
}

static void give(struct walk *w, struct prm_item *item)
{
	item->path = w->path;
	if (!w->stopped)
		w->stopped = !w->visit(w->arg, item);
}

/* Adds ".name" or ".name[3]" to the path. Returns its former length, which the caller sets again. */
static size_t push(struct walk *w, const char *name, int64_t index)
{
	size_t old = strlen(w->path), n = old, name_len = strlen(name);
	char digits[12];
	unsigned int k = 0;

	if (n + name_len + sizeof(digits) + 3 > PATH_SIZE)
		return old;
	if (n)
		w->path[n++] = '.';
	memcpy(w->path + n, name, name_len);
	n += name_len;
	if (index >= 0) {
		do
			digits[k++] = (char)('0' + index % 10);
		while (index /= 10);
		w->path[n++] = '[';
		while (k)
			w->path[n++] = digits[--k];
		w->path[n++] = ']';
	}
	w->path[n] = 0;
	return old;
}

static void tail(struct walk *w, uint32_t bit, uint32_t end)
{
	struct prm_item item = { .kind = PRM_ITEM_TAIL, .name = "", .index = -1, .offset = bit / 8 };

	if (bit >= end)
		return;
	item.p = w->p + bit / 8;
	item.len = (end - bit) / 8;
	give(w, &item);
}

static bool any_set(const struct walk *w, uint32_t bit, uint32_t end)
{
	for (bit /= 8; bit < end / 8; bit++)
		if (w->p[bit])
			return true;
	return false;
}

static void walk(struct walk *w, const struct prm_layout *l, uint32_t base, uint32_t end, unsigned int depth);

/* One form of a layout in its place, between OPEN and CLOSE. */
static void nested(struct walk *w, const struct prm_layout *l, const char *name, int64_t index, uint32_t bit, uint32_t end,
		   unsigned int depth)
{
	struct prm_item item = { .kind = PRM_ITEM_OPEN, .name = name, .index = index, .offset = bit / 8, .depth = depth };
	size_t old = push(w, name, index);

	give(w, &item);
	walk(w, l, bit, end, depth + 1);
	item.kind = PRM_ITEM_CLOSE;
	give(w, &item);
	w->path[old] = 0;
}

static int member(const struct prm_layout *l, const char *name)
{
	for (unsigned int i = 0; i < l->n_fields; i++)
		if (!strcmp(l->fields[i].name, name))
			return (int)i;
	return -1;
}

/* The form of a union that the box has here. Where nothing says it: the first that defines every bit that is set. */
static int form_of(struct walk *w, const struct prm_layout *l, uint32_t bit, uint32_t end)
{
	if (!strcmp(l->name, "set_add_copy_action_in_auto") && end - bit >= 4) {
		const struct prm_value *v = prm_value(&prm_enums[PRM_ENUM_action_type], peek(w, bit, 4));
		int i = !v ? -1 : !strcmp(v->name, "ADD") ? member(l, "add_action_in") :
			!strcmp(v->name, "COPY") ? member(l, "copy_action_in") : member(l, "set_action_in");

		if (i >= 0)
			return i;
	}
	if (!strcmp(l->name, "modify_field_select_resize_field_select_auto"))
		return member(l, w->what->op_mod == 1 ? "resize_field_select" : "modify_field_select"); /* op_mod 1: RESIZE_CQ */
	for (unsigned int i = 0; i < l->n_fields; i++) {
		const struct prm_layout *form = &prm_layouts[l->fields[i].nested];

		if (prm_undefined(form, w->p + bit / 8, (end - bit) / 8, 0) < 0)
			return (int)i;
	}
	return 0;
}

/* The data of an event, whose type stands before it in the EQE. */
static const struct prm_layout *event_layout(const struct walk *w, uint32_t bit)
{
	struct { uint32_t bit, width; } data = { PRM_F_eqe__event_data }, type = { PRM_F_eqe__event_type };

	return bit < data.bit ? NULL : layout_of(PRM_ENUM_event_type, (uint32_t)peek(w, bit - data.bit + type.bit, type.width));
}

static void walk_union(struct walk *w, const struct prm_layout *l, uint32_t bit, uint32_t end, unsigned int depth)
{
	const struct prm_layout *form = NULL;
	const char *name = NULL;
	int i;

	if (!strcmp(l->name, "hca_cap_union") && w->what->known)
		form = prm_cap_layout(w->what->op_mod >> 1); /* op_mod: twice the type, and one more for the current value */
	else if (!strcmp(l->name, "event_auto"))
		form = event_layout(w, bit);
	for (unsigned int k = 0; form && !name && k < l->n_fields; k++)
		if (&prm_layouts[l->fields[k].nested] == form)
			name = l->fields[k].name;
	if (form && !name)
		name = form->name;
	if (!form) {
		i = form_of(w, l, bit, end);
		form = &prm_layouts[l->fields[i].nested];
		name = l->fields[i].name;
	}
	nested(w, form, name, -1, bit, end, depth);
}

/* The destinations of a flow and then its counters: how many there are of each, and how long, stands in the context. */
static void walk_destinations(struct walk *w, const struct prm_field *f, uint32_t base, uint32_t end, unsigned int depth)
{
	struct { uint32_t bit, width; } dests = { PRM_F_flow_context__destination_list_size },
					counters = { PRM_F_flow_context__flow_counter_list_size },
					extended = { PRM_F_flow_context__extended_destination };
	uint64_t n_dests = peek(w, base + dests.bit, dests.width), n_counters = peek(w, base + counters.bit, counters.width);
	bool ext = peek(w, base + extended.bit, extended.width);
	uint32_t stride = ext ? PRM_SZ(extended_dest_format) * 8 : PRM_SZ(dest_format) * 8, bit = base + f->bit;

	for (uint64_t i = 0; i < n_dests + n_counters && end > bit && end - bit >= stride && !w->stopped; i++, bit += stride) {
		const char *form = i >= n_dests ? "flow_counter_list" : ext ? "extended_dest_format" : "dest_format";

		nested(w, prm_layout(form), f->name, (int64_t)i, bit, bit + stride, depth);
	}
	if (any_set(w, bit, end))
		tail(w, bit, end);
}

/* Fields that lie over others: of two names for one place the first; of two meanings the one that the command says. */
static bool taken(const struct walk *w, const struct prm_layout *l, const struct prm_field *f)
{
	bool ext = w->what && w->what->qpc_ext;

	if (!f->other && f->nested < 0 && f->count)
		return true;
	if (!strcmp(l->name, "general_obj_in_cmd_hdr") && f->nested >= 0)
		return !strcmp(f->name, "op_param.create") == (w->what && w->what->opcode == PRM_OP_CREATE_GENERAL_OBJECT);
	if (!strcmp(l->name, "create_qp_in") || !strcmp(l->name, "query_qp_out")) {
		if (!strcmp(f->name, "pas"))
			return !ext;
		if (f->other)
			return ext && strcmp(f->name, "qpc_pas_list");
	}
	if (!f->other)
		return true;
	for (const struct prm_field *o = l->fields; o < f; o++)
		if (o->bit == f->bit && o->width * o->count == f->width * f->count)
			return false;
	return f->width != 0;
}

static void walk_field(struct walk *w, const struct prm_field *f, int64_t index, uint32_t bit, unsigned int depth)
{
	struct prm_item item = { .name = f->name, .index = index, .offset = bit / 8, .width = f->width, .depth = depth };
	size_t old = push(w, f->name, index);

	item.kind = f->width > 64 ? PRM_ITEM_BYTES : PRM_ITEM_FIELD;
	if (f->width > 64) {
		item.p = w->p + bit / 8;
		item.len = (bit % 8 + f->width + 7) / 8; /* the bytes it lies in */
	} else {
		item.value = peek(w, bit, f->width);
		item.values = f->values >= 0 ? &prm_enums[f->values] : NULL;
	}
	give(w, &item);
	w->path[old] = 0;
}

static void walk_bytes(struct walk *w, const struct prm_field *f, uint32_t bit, uint32_t n, unsigned int depth)
{
	struct prm_item item = { .kind = PRM_ITEM_BYTES, .name = f->name, .index = -1, .offset = bit / 8, .depth = depth };
	size_t old = push(w, f->name, -1);

	item.p = w->p + bit / 8;
	item.len = n;
	if (n)
		give(w, &item);
	w->path[old] = 0;
}

static void walk_elements(struct walk *w, const struct prm_layout *l, const struct prm_field *f, uint32_t base, uint32_t end,
			  unsigned int depth)
{
	const struct prm_layout *n = f->nested >= 0 && prm_layouts[f->nested].n_fields ? &prm_layouts[f->nested] : NULL;
	uint32_t start = base + f->bit, width = f->width, left, count;

	if (start >= end)
		return;
	left = end - start;
	if (n && prm_open_ended(n) && (!f->count || (f->count == 1 && f->bit + width == l->bits))) {
		nested(w, n, f->name, f->count ? -1 : 0, start, end, depth); /* its list goes on to the end of the box */
		return;
	}
	if (!width)
		return;
	count = f->count && f->count <= left / width ? f->count : left / width;
	if (!n && width == 8 && f->count != 1 && start % 8 == 0) {
		walk_bytes(w, f, start, count, depth);
		return;
	}
	for (uint32_t i = 0; i < count && !w->stopped; i++) {
		int64_t index = f->count == 1 ? -1 : (int64_t)i;

		if (n)
			nested(w, n, f->name, index, start + i * width, start + (i + 1) * width, depth);
		else
			walk_field(w, f, index, start + i * width, depth);
	}
	/* Cut off inside an element: what of it is there. */
	if (n && count < f->count && left > count * width)
		nested(w, n, f->name, f->count == 1 ? -1 : (int64_t)count, start + count * width, end, depth);
	if (!f->count && end == w->bits)
		tail(w, start + count * width, end);
}

/* The bits of the dword at bit of the layout that fields cover, those cut off by the end of the box not counted. */
static uint32_t covered(const struct walk *w, const struct prm_layout *l, uint32_t bit, uint32_t have)
{
	uint32_t mask = 0;

	for (unsigned int i = 0; i < l->n_fields && mask != UINT32_MAX; i++) {
		const struct prm_field *f = &l->fields[i];
		uint64_t from = f->bit, to = f->count ? from + (uint64_t)f->width * f->count : UINT64_MAX;

		if (from >= (uint64_t)bit + 32 || to <= bit || !taken(w, l, f))
			continue;
		if (f->nested >= 0 && f->count == 1 && to == l->bits && prm_open_ended(&prm_layouts[f->nested]))
			to = UINT64_MAX;
		if ((f->nested < 0 || !prm_layouts[f->nested].n_fields) && f->width && to > have && to != UINT64_MAX)
			to = from < have ? from + (have - from) / f->width * f->width : from;
		from = from > bit ? from - bit : 0;
		to = to > bit ? to - bit : 0;
		if (from >= 32 || from >= to)
			continue;
		mask |= (UINT32_MAX >> from) & (to < 32 ? ~(UINT32_MAX >> to) : UINT32_MAX);
	}
	return mask;
}

static void walk(struct walk *w, const struct prm_layout *l, uint32_t base, uint32_t end, unsigned int depth)
{
	uint32_t bits = l->bits;

	if (depth >= DEPTH_MAX || base >= end)
		return;
	if (l->is_union) {
		walk_union(w, l, base, end, depth);
		return;
	}
	for (unsigned int i = 0; i < l->n_fields && !w->stopped; i++) {
		const struct prm_field *f = &l->fields[i];

		if (!strcmp(l->name, "flow_context") && !strcmp(f->name, "destination"))
			walk_destinations(w, f, base, end, depth);
		else if (taken(w, l, f))
			walk_elements(w, l, f, base, end, depth);
	}
	if (bits > end - base)
		bits = end - base;
	for (uint32_t at = 0; at < bits && !w->stopped; at += 32) {
		uint32_t n = bits - at < 32 ? bits - at : 32;
		uint32_t set = (uint32_t)peek(w, base + at, n) << (32 - n);
		struct prm_item item = { .kind = PRM_ITEM_UNDEFINED, .name = "", .index = -1, .depth = depth, .width = n };

		item.value = set ? set & ~covered(w, l, at, bits) : 0;
		item.value >>= 32 - n;
		item.offset = (base + at) / 8;
		if (item.value)
			give(w, &item);
	}
	/* A form that is shorter than its union, or an object than its place. */
	if (depth && !prm_open_ended(l) && any_set(w, base + bits, end))
		tail(w, base + bits, end);
}

/* What the ABI cannot carry is not looked at. */
static uint32_t bits_of(size_t len)
{
	return (len < PRM_BOX_MAX ? (uint32_t)len : PRM_BOX_MAX) * 8;
}

void prm_walk(const struct prm_what *what, const void *box, size_t len, prm_visit visit, void *arg)
{
	const struct prm_layout *l = prm_what_layout(what), *obj = prm_what_object(what);
	struct walk w = { .what = what, .p = box, .bits = bits_of(len), .visit = visit, .arg = arg };
	uint32_t end = 0;

	if (l) {
		end = prm_open_ended(l) ? w.bits : l->bits;
		walk(&w, l, 0, w.bits < end || prm_open_ended(l) ? w.bits : end, 0);
	}
	if (obj && w.bits > l->bits) {
		end = l->bits + obj->bits;
		nested(&w, obj, PRM_OBJECT, -1, l->bits, w.bits < end ? w.bits : end, 0);
	}
	tail(&w, end, w.bits);
}

void prm_walk_layout(const struct prm_layout *layout, const void *box, size_t len, prm_visit visit, void *arg)
{
	static const struct prm_what none = { 0 };
	struct walk w = { .what = &none, .p = box, .bits = bits_of(len), .visit = visit, .arg = arg };
	uint32_t end = prm_open_ended(layout) || layout->bits > w.bits ? w.bits : layout->bits;

	walk(&w, layout, 0, end, 0);
	tail(&w, end, w.bits);
}
