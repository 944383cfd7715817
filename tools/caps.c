/* SPDX-License-Identifier: BSD-2-Clause */
/* devx caps: what a device can, by name, and what another one can more or less. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <opendevx/opendevx.h>
#include <opendevx/soft.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boxtext.h"
#include "devx.h"
#include "json.h"
#include "opendev.h"

#define PAGE_LEN (PRM_SZ(query_hca_cap_out) - PRM_HDR_SZ)

struct options {
	const char *device, *profile;
	bool json, max, zeros;
};

struct page {
	const struct prm_value *type;
	char name[48];                   /* of the type, in lower case */
	const struct prm_layout *layout; /* NULL: unknown */
	bool has[2];                     /* did the device answer? 0: the device, 1: the profile's */
	uint8_t box[2][PAGE_LEN];
};

struct caps {
	struct options o;
	char name[64];
	struct page *pages;
	unsigned int n;
	struct page *now; /* that is being walked */
	unsigned int shown;
	json_t *list;
};

static bool parse(int argc, char **argv, struct options *o)
{
	static const char *const profiles[] = { "cx5", "cx6dx", "cx7", "bf3" };
	static const struct option options[] = {
		{ "device", required_argument, NULL, 'd' }, { "json", no_argument, NULL, 'j' },
		{ "max", no_argument, NULL, 'm' },          { "all", no_argument, NULL, 'a' },
		{ "diff", required_argument, NULL, 'p' },   { 0 },
	};
	bool known = false;
	int opt;

	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (opt) {
		case 'd':
			o->device = optarg;
			break;
		case 'j':
			o->json = true;
			break;
		case 'm':
			o->max = true;
			break;
		case 'a':
			o->zeros = true;
			break;
		case 'p':
			o->profile = optarg;
			for (unsigned int i = 0; i < sizeof(profiles) / sizeof(profiles[0]); i++)
				known |= !strcmp(profiles[i], optarg);
			if (!known) {
				devx_error("--diff takes a profile: cx5, cx6dx, cx7 or bf3, not \"%s\"", optarg);
				return false;
			}
			break;
		default: /* getopt has said it */
			return false;
		}
	}
	if (optind < argc)
		devx_error("caps takes no argument \"%s\"", argv[optind]);
	return optind == argc;
}

/* The types of which there is a name, each once. */
static bool list_pages(struct caps *c)
{
	const struct prm_enum *e = &prm_enums[PRM_ENUM_hca_cap_type];

	c->pages = calloc(e->n_values, sizeof(*c->pages));
	if (!c->pages) {
		devx_error("out of memory");
		return false;
	}
	for (unsigned int i = 0; i < e->n_values; i++) {
		struct page *p = &c->pages[c->n];

		if (i && e->values[i].value == e->values[i - 1].value)
			continue;
		p->type = &e->values[i];
		p->layout = prm_cap_layout((uint32_t)p->type->value);
		snprintf(p->name, sizeof(p->name), "%s", p->type->name);
		for (char *s = p->name; *s; s++)
			*s = *s >= 'A' && *s <= 'Z' ? (char)(*s | 0x20) : *s;
		c->n++;
	}
	return true;
}

/* False: the device failed. A page that it does not know is none. */
static bool query_pages(struct caps *c, struct ibv_context *ctx, const char *name, unsigned int which)
{
	uint8_t in[PRM_SZ(query_hca_cap_in)] = { 0 }, *out = malloc(PRM_SZ(query_hca_cap_out));
	struct prm_box b = prm_out(in, sizeof(in));
	bool ok = out;

	if (!out)
		devx_error("out of memory");
	for (unsigned int i = 0; ok && i < c->n; i++) {
		struct page *p = &c->pages[i];
		int err;

		PRM_SET(&b, query_hca_cap_in, opcode, PRM_OP_QUERY_HCA_CAP);
		PRM_SET(&b, query_hca_cap_in, op_mod, p->type->value << 1 | !c->o.max);
		memset(out, 0, PRM_SZ(query_hca_cap_out));
		err = mlx5dv_devx_general_cmd(ctx, in, sizeof(in), out, PRM_SZ(query_hca_cap_out));
		p->has[which] = !err;
		if (!err)
			memcpy(p->box[which], out + PRM_HDR_SZ, PAGE_LEN);
		else if (err != EREMOTEIO)
			devx_error("%s: QUERY_HCA_CAP: %s", name, strerror(err));
		ok = !err || err == EREMOTEIO;
	}
	free(out);
	return ok;
}

static bool query_profile(struct caps *c)
{
	struct ibv_device *dev;
	struct ibv_context *ctx;
	char spec[32];
	bool ok;

	snprintf(spec, sizeof(spec), "profile=%s", c->o.profile);
	dev = odx_soft_create(spec);
	ctx = dev ? opendev_context(dev, ibv_get_device_name(dev)) : NULL;
	if (!dev)
		devx_error("cannot make a device of profile %s: %s", c->o.profile, strerror(errno));
	ok = ctx && query_pages(c, ctx, c->o.profile, 1);
	if (ctx)
		ibv_close_device(ctx);
	if (dev)
		odx_soft_destroy(dev);
	return ok;
}

static void put_stdout(void *arg, const char *text, size_t len)
{
	fwrite(text, 1, len, arg);
}

static void put_value(const struct prm_item *item, uint64_t value)
{
	const struct prm_writer to = { put_stdout, stdout };

	prm_text_value(value, item->values, &to);
}

static bool is_set(const struct prm_item *item)
{
	for (size_t i = 0; i < item->len; i++)
		if (item->p[i])
			return true;
	return item->value;
}

static bool show_item(void *arg, const struct prm_item *item)
{
	struct caps *c = arg;

	if ((item->kind != PRM_ITEM_FIELD && item->kind != PRM_ITEM_BYTES) || (!c->o.zeros && !is_set(item)))
		return true;
	printf("%s.%s = ", c->now->name, item->path);
	if (item->kind == PRM_ITEM_FIELD)
		put_value(item, item->value);
	for (size_t i = 0; i < item->len; i++)
		printf("%s%02x", i ? "" : "0x", item->p[i]);
	putchar('\n');
	c->shown++;
	return true;
}

static json_t *json_value(uint64_t v)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%" PRIx64, v);
	return v >> 53 ? json_string(text) : json_integer((json_int_t)v);
}

/* The other device's value stands at the same place. */
static bool diff_item(void *arg, const struct prm_item *item)
{
	struct caps *c = arg;
	struct prm_box other = prm_in(c->now->box[1], PAGE_LEN);
	const struct prm_layout *in;
	struct prm_place place;
	const char *bad;
	uint64_t v;

	if (item->kind != PRM_ITEM_FIELD || !prm_find(c->now->layout, item->path, &place, &bad, &in))
		return true;
	v = prm_get(&other, place.bit, place.width);
	if (v == item->value)
		return true;
	c->shown++;
	if (c->o.json) {
		json_array_append_new(c->list, json_pack("{ss ss so so}", "page", c->now->name, "field", item->path, "device",
			json_value(item->value), "profile", json_value(v)));
		return true;
	}
	printf("%s.%s: ", c->now->name, item->path);
	put_value(item, item->value);
	fputs(" -> ", stdout);
	put_value(item, v);
	putchar('\n');
	return true;
}

static int diff(struct caps *c)
{
	static const char *const has[] = { "not known", "known" };

	c->list = json_array();
	for (unsigned int i = 0; i < c->n; i++) {
		struct page *p = c->now = &c->pages[i];

		if (p->has[0] && p->has[1] && p->layout)
			prm_walk_layout(p->layout, p->box[0], p->layout->bits / 8, diff_item, c);
		if (p->has[0] == p->has[1])
			continue;
		c->shown++;
		if (c->o.json)
			json_array_append_new(c->list, json_pack("{ss sn sb sb}", "page", p->name, "field", "device", p->has[0],
								 "profile", p->has[1]));
		else
			printf("%s: %s -> %s\n", p->name, has[p->has[0]], has[p->has[1]]);
	}
	if (c->o.json)
		return devx_json_print(json_pack("{ss ss sO}", "device", c->name, "profile", c->o.profile, "differences", c->list));
	if (!c->shown)
		printf("%s and profile %s have the same capabilities.\n", c->name, c->o.profile);
	return devx_flush();
}

static int show(struct caps *c)
{
	json_t *pages = json_object();

	for (unsigned int i = 0; i < c->n; i++) {
		struct page *p = c->now = &c->pages[i];

		if (!p->has[0] || !p->layout)
			continue;
		if (c->o.json)
			json_object_set_new(pages, p->name, box_json_layout(p->layout, p->box[0], p->layout->bits / 8));
		else
			prm_walk_layout(p->layout, p->box[0], p->layout->bits / 8, show_item, c);
	}
	if (c->o.json)
		return devx_json_print(json_pack("{ss ss so}", "device", c->name, "values", c->o.max ? "maximum" : "current",
						 "pages", pages));
	json_decref(pages);
	if (!c->shown)
		printf("%s has no capabilities.\n", c->name);
	return devx_flush();
}

int devx_caps(int argc, char **argv)
{
	struct caps c = { 0 };
	struct ibv_context *ctx;
	int code = DEVX_FAILED;

	if (!parse(argc, argv, &c.o))
		return DEVX_USAGE;
	ctx = list_pages(&c) ? opendev(c.o.device, c.name) : NULL;
	if (ctx && query_pages(&c, ctx, c.name, 0) && (!c.o.profile || query_profile(&c)))
		code = c.o.profile ? diff(&c) : show(&c);
	if (ctx)
		ibv_close_device(ctx);
	json_decref(c.list);
	free(c.pages);
	return code;
}
