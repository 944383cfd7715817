/* SPDX-License-Identifier: BSD-2-Clause */
/* A field by its path: "cq_context.log_cq_size", "pas[3]", "flow_context.destination[0].destination_id". */
#include <string.h>

#include "text.h"

/* The field whose name path begins with, whole; of several the longest (some names have a dot). */
static const struct prm_field *match(const struct prm_layout *l, const char *path, size_t *len)
{
	const struct prm_field *best = NULL;

	*len = 0;
	for (unsigned int i = 0; i < l->n_fields; i++) {
		size_t n = strlen(l->fields[i].name);

		if (n > *len && !strncmp(l->fields[i].name, path, n) && strchr(".[", path[n])) {
			best = &l->fields[i];
			*len = n;
		}
	}
	return best;
}

/* "[12]" at *at; false: something else that begins so. -1 where there is no index. */
static bool read_index(const char **at, int64_t *index)
{
	const char *p = *at;

	*index = -1;
	if (*p != '[')
		return true;
	*index = 0;
	for (p++; *p >= '0' && *p <= '9' && *index < 0x100000; p++)
		*index = *index * 10 + *p - '0';
	if (*p != ']' || p[-1] == '[' || (p[1] && p[1] != '.'))
		return false;
	*at = p + 1;
	return true;
}

/* A flow's destinations and counters have forms of one length, which the table's union is not (walk.c). */
static const struct prm_layout *destination(const struct prm_layout *l, const struct prm_field *f, const char *rest,
					    uint32_t *width)
{
	static const char *const forms[] = { "dest_format", "flow_counter_list" };
	size_t len;

	if (strcmp(l->name, "flow_context") || strcmp(f->name, "destination") || *rest != '.')
		return NULL;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		const struct prm_layout *form = prm_layout(forms[i]);

		if (match(form, rest + 1, &len)) {
			*width = form->bits;
			return form;
		}
	}
	return NULL;
}

bool prm_find(const struct prm_layout *layout, const char *path, struct prm_place *place, const char **bad,
	      const struct prm_layout **in)
{
	const struct prm_layout *l = layout;
	uint64_t base = 0, end = 0;

	for (;;) {
		size_t len;
		const struct prm_field *f = match(l, path, &len);
		const struct prm_layout *next;
		const char *rest = path + len;
		uint32_t width;
		int64_t index;

		*bad = path;
		*in = l;
		if (!f || !read_index(&rest, &index) || (index >= 0 && (f->count == 1 || (f->count && index >= f->count))))
			return false;
		width = f->width;
		next = destination(l, f, rest, &width);
		if (!next && f->nested >= 0)
			next = &prm_layouts[f->nested];
		base += f->bit + (index > 0 ? (uint64_t)index * width : 0);
		if (base + width > PRM_BOX_MAX * 8u)
			return false;
		if (end < base + width)
			end = base + width;
		if (!*rest) {
			*place = (struct prm_place){ .layout = l, .field = f, .bit = (uint32_t)base, .width = width };
			place->count = index >= 0 ? 1 : f->count;
			place->end = (uint32_t)end;
			return true;
		}
		if (*rest != '.' || !next || (index < 0 && f->count != 1))
			return false;
		l = next;
		path = rest + 1;
	}
}
