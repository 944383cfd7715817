/* SPDX-License-Identifier: BSD-2-Clause */
#include "conf.h"
#include "control.h"

static struct {
	struct ibv_device *dev;
	char profile[64]; /* of dev, when it is a software device: "profile=x," */
	bool soft, asked;
} chosen;

/* --- fields --- */

uint64_t get_bits(const void *box, uint32_t bit, uint32_t width)
{
	const uint8_t *p = box;
	uint64_t v = 0;

	for (uint32_t i = bit; i < bit + width; i++)
		v = v << 1 | (p[i / 8] >> (7 - i % 8) & 1);
	return v;
}

void set_bits(void *box, uint32_t bit, uint32_t width, uint64_t value)
{
	uint8_t *p = box;

	for (uint32_t i = bit + width; i-- > bit; value >>= 1)
		p[i / 8] = (uint8_t)((p[i / 8] & ~(0x80 >> i % 8)) | (value & 1) << (7 - i % 8));
}

void *in_box(void *box, uint32_t bit, uint32_t width)
{
	return (uint8_t *)box + bit / 8;
}

void set_opcode(void *in, uint16_t opcode)
{
	SET(in, nop_in, opcode, opcode);
}

void set_uid(void *in, uint16_t uid)
{
	set_bits(in, 16, 16, uid);
}

void set_tunnel(void *in, uint16_t vhca_tunnel_id)
{
	set_bits(in, 32, 16, vhca_tunnel_id);
}

void set_op_mod(void *in, uint16_t op_mod)
{
	SET(in, nop_in, op_mod, op_mod);
}

uint8_t status_of(const void *out)
{
	return (uint8_t)GET(out, nop_out, status);
}

uint32_t syndrome_of(const void *out)
{
	return (uint32_t)GET(out, nop_out, syndrome);
}

/* --- the device under test --- */

bool choose_device(const char *name, const char *soft_spec)
{
	char spec[512], *p;

	if (soft_spec) {
		chosen.asked = true;
		chosen.dev = odx_soft_create ? odx_soft_create(soft_spec) : NULL;
	} else {
		/* Never freed: devices of rdma-core live as long as their list. */
		struct ibv_device **list = ibv_get_device_list(NULL);

		chosen.asked = name;
		for (; list && *list && !chosen.dev; list++)
			if (name ? !strcmp(ibv_get_device_name(*list), name) : mlx5dv_is_supported(*list))
				chosen.dev = *list;
	}
	if (!chosen.dev)
		return false;
	chosen.soft = odx_soft_spec && !odx_soft_spec(chosen.dev, spec, sizeof(spec));
	p = chosen.soft ? strstr(spec, "profile=") : NULL;
	if (p)
		snprintf(chosen.profile, sizeof(chosen.profile), "%.*s,", (int)strcspn(p, ","), p);
	return true;
}

const char *missing(unsigned int needs)
{
	if (needs & OURS && !odx_version)
		return "only OpenDEVX defines this";
	if (needs & CONTROL && controlled())
		return NULL;
	if (!(needs & (SOFT | CONTROL)))
		return chosen.dev ? NULL : "no mlx5 device";
	if (chosen.dev && !chosen.soft)
		return needs & SOFT ? "only for the software device of a process" : "the device cannot be held, removed or made to fail";
	if (!odx_soft_create)
		return "the library has no software device (soft.h)";
	return NULL;
}

struct ibv_device *device(void)
{
	return chosen.dev;
}

bool is_soft(void)
{
	return chosen.soft;
}

bool is_soft_device(struct ibv_device *dev)
{
	return !controlled() || dev != chosen.dev;
}

static void end_control(void *p)
{
	chosen.dev = put_right(p);
}

static void end_device(void *p)
{
	int err = odx_soft_destroy(p);

	if (!case_failed())
		CHECK_EQ(err, 0);
}

struct ibv_device *soft(const char *spec)
{
	char whole[512];

	if (controlled()) {
		if (*spec)
			SKIP("a spec of its own is for the software device of a process: %s", spec);
		return own(device(), end_control);
	}
	snprintf(whole, sizeof(whole), "%s%s", strstr(spec, "profile=") ? "" : chosen.profile, spec);
	if (!*spec && *whole)
		whole[strlen(whole) - 1] = '\0';
	return own(odx_soft_create(whole), end_device);
}

struct ibv_device *soft_with_port(void)
{
	struct ibv_device *dev = soft("");

	if (controlled()) {
		CHECK_EQ(set_port(dev, 1), 0);
		CHECK_EQ(nop(context()), 0); /* the kernel takes events in the order of the device */
	}
	return dev;
}

int soft_destroy(struct ibv_device *dev)
{
	int err = odx_soft_destroy(dev);

	if (!err)
		disown(dev);
	return err;
}

static void end_context(void *p)
{
	int err = ibv_close_device(p);

	if (!case_failed())
		CHECK_EQ(err, 0);
}

struct ibv_context *open_devx(struct ibv_device *dev)
{
	struct mlx5dv_context_attr attr = { .flags = MLX5DV_CONTEXT_FLAGS_DEVX };

	return own(mlx5dv_open_device(dev, &attr), end_context);
}

struct ibv_context *context(void)
{
	return open_devx(device());
}

int close_context(struct ibv_context *ctx)
{
	int err = ibv_close_device(ctx);

	if (!err)
		disown(ctx);
	return err;
}

static void unstick_one(void *dev)
{
	odx_soft_fault(dev, "clear");
	odx_soft_remove(dev);
}

/* A thread of a failed case may wait for what the case would have done. */
void unstick(void)
{
	each_owned(end_device, unstick_one);
	if (controlled())
		release_all();
}

/* --- objects --- */

void end_obj(void *p)
{
	int err = mlx5dv_devx_obj_destroy(p);

	if (!case_failed())
		CHECK_EQ(err, 0);
}

struct mlx5dv_devx_obj *create(struct ibv_context *ctx, const void *in, size_t inlen, void *out, size_t outlen)
{
	struct mlx5dv_devx_obj *obj = mlx5dv_devx_obj_create(ctx, in, inlen, out, outlen);

	if (!obj && errno == EREMOTEIO)
		note("opcode 0x%x, status 0x%x, syndrome 0x%x", (unsigned int)GET(in, nop_in, opcode), status_of(out),
		     syndrome_of(out));
	return own(obj, end_obj);
}

void refuse(struct ibv_context *ctx, const void *in, size_t inlen, void *out, size_t outlen, int err)
{
	struct mlx5dv_devx_obj *obj;

	errno = 0;
	obj = mlx5dv_devx_obj_create(ctx, in, inlen, out, outlen);
	if (obj)
		own(obj, end_obj);
	CHECK(!obj);
	CHECK_EQ(errno, err);
}

int destroy(struct mlx5dv_devx_obj *obj)
{
	int err = mlx5dv_devx_obj_destroy(obj);

	if (!err)
		disown(obj);
	return err;
}

int general(struct ibv_context *ctx, const void *in, size_t inlen, void *out, size_t outlen)
{
	return mlx5dv_devx_general_cmd(ctx, in, inlen, out, outlen);
}

int nop(struct ibv_context *ctx)
{
	INBOX(in, nop_in, NOP);
	uint8_t out[SZ(nop_out)];

	return general(ctx, in, sizeof(in), out, sizeof(out));
}

static void end_comp(void *p)
{
	mlx5dv_devx_destroy_cmd_comp(p);
}

struct mlx5dv_devx_cmd_comp *new_comp(struct ibv_context *ctx)
{
	return own(mlx5dv_devx_create_cmd_comp(ctx), end_comp);
}

void destroy_comp(struct mlx5dv_devx_cmd_comp *comp)
{
	disown(comp);
	mlx5dv_devx_destroy_cmd_comp(comp);
}

static void end_umem(void *p)
{
	int err = mlx5dv_devx_umem_dereg(p);

	if (!case_failed())
		CHECK_EQ(err, 0);
}

struct mlx5dv_devx_umem *reg(struct ibv_context *ctx, void *addr, size_t size, uint32_t access)
{
	return own(mlx5dv_devx_umem_reg(ctx, addr, size, access), end_umem);
}

int dereg(struct mlx5dv_devx_umem *umem)
{
	int err = mlx5dv_devx_umem_dereg(umem);

	if (!err)
		disown(umem);
	return err;
}

struct mlx5dv_devx_obj *counters(struct ibv_context *ctx, uint8_t bulk, uint32_t *id)
{
	INBOX(in, alloc_flow_counter_in, ALLOC_FLOW_COUNTER);
	uint8_t out[SZ(alloc_flow_counter_out)];
	struct mlx5dv_devx_obj *obj;

	SET(in, alloc_flow_counter_in, flow_counter_bulk, bulk);
	obj = create(ctx, in, sizeof(in), out, sizeof(out));
	*id = (uint32_t)GET(out, alloc_flow_counter_out, flow_counter_id);
	return obj;
}

struct mlx5dv_devx_obj *alloc_pd(struct ibv_context *ctx, uint32_t *pd)
{
	INBOX(in, alloc_pd_in, ALLOC_PD);
	uint8_t out[SZ(alloc_pd_out)];
	struct mlx5dv_devx_obj *obj = create(ctx, in, sizeof(in), out, sizeof(out));

	*pd = (uint32_t)GET(out, alloc_pd_out, pd);
	return obj;
}

void query_inbox(uint8_t in[COUNTER_IN], uint32_t id, uint32_t n)
{
	memset(in, 0, COUNTER_IN);
	set_opcode(in, PRM_OP_QUERY_FLOW_COUNTER);
	SET(in, query_flow_counter_in, num_of_counters, n);
	SET(in, query_flow_counter_in, flow_counter_id, id);
}

int query_counters(struct mlx5dv_devx_obj *obj, uint32_t id, uint32_t n, void *out, size_t outlen)
{
	uint8_t in[COUNTER_IN];

	query_inbox(in, id, n);
	return mlx5dv_devx_obj_query(obj, in, sizeof(in), out, outlen);
}

uint64_t packets_of(const void *out, uint32_t i)
{
	return GET((const uint8_t *)out + COUNTERS_OUT(i), traffic_counter, packets);
}

uint64_t octets_of(const void *out, uint32_t i)
{
	return GET((const uint8_t *)out + COUNTERS_OUT(i), traffic_counter, octets);
}

/* --- asynchronous queries --- */

struct rig rig_on(struct ibv_device *dev)
{
	struct rig r = { .dev = dev, .ctx = open_devx(dev) };

	r.obj = counters(r.ctx, 1, &r.id);
	r.comp = new_comp(r.ctx);
	return r;
}

struct rig rig(void)
{
	return rig_on(device());
}

struct rig rig_soft(const char *spec)
{
	return rig_on(soft(spec));
}

int submit_to(struct rig *r, struct mlx5dv_devx_cmd_comp *comp, size_t outlen, uint64_t wr_id)
{
	uint8_t in[COUNTER_IN];

	count_submit();
	query_inbox(in, r->id, 1);
	return mlx5dv_devx_obj_query_async(r->obj, in, sizeof(in), outlen, wr_id, comp);
}

int submit(struct rig *r, size_t outlen, uint64_t wr_id)
{
	return submit_to(r, r->comp, outlen, wr_id);
}

int get_sized(struct mlx5dv_devx_cmd_comp *comp, void *buf, size_t len)
{
	return mlx5dv_devx_get_async_cmd_comp(comp, buf, len);
}

int get(struct mlx5dv_devx_cmd_comp *comp, struct record *rec)
{
	return get_sized(comp, rec, sizeof(*rec));
}

short ready(int fd, short events, int timeout_ms)
{
	struct pollfd p = { .fd = fd, .events = events };

	CHECK(poll(&p, 1, timeout_ms) >= 0);
	return p.revents;
}

void get_ready(struct mlx5dv_devx_cmd_comp *comp, struct record *rec)
{
	CHECK(ready(comp->fd, POLLIN, PATIENCE_MS) & POLLIN);
	CHECK_EQ(get(comp, rec), 0);
}

void expect_wr(struct mlx5dv_devx_cmd_comp *comp, uint64_t wr_id)
{
	struct record rec;

	get_ready(comp, &rec);
	CHECK_EQ(rec.wr_id, wr_id);
}

void expect_none(struct mlx5dv_devx_cmd_comp *comp)
{
	CHECK_EQ(ready(comp->fd, POLLIN, 0), 0);
}

void expect_aborted(const struct record *rec)
{
	CHECK_EQ(status_of(rec->out), ABORTED_STATUS);
	CHECK_EQ(syndrome_of(rec->out), ABORTED_SYNDROME);
}

void set_nonblock(int fd, bool on)
{
	int flags = fcntl(fd, F_GETFL);

	CHECK(flags >= 0);
	CHECK_EQ(fcntl(fd, F_SETFL, on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK), 0);
}

static void getter_main(void *arg)
{
	struct getter *g = arg;

	g->err = get(g->comp, &g->rec);
}

struct getter *getter_start(struct mlx5dv_devx_cmd_comp *comp)
{
	struct getter *g = zeroed(sizeof(*g));

	g->comp = comp;
	g->t = run(getter_main, g);
	return g;
}

int getter_end(struct getter *g, uint64_t *wr_id)
{
	join(g->t);
	if (wr_id)
		*wr_id = g->rec.wr_id;
	return g->err;
}

const struct status_errno status_errnos[N_STATUS_ERRNOS] = {
	{ 0x1, EIO },	  { 0x2, EINVAL },  { 0x3, EINVAL }, { 0x4, EIO },    { 0x5, EINVAL },	{ 0x6, EBUSY },
	{ 0x7, EAGAIN },  { 0x8, ENOMEM },  { 0x9, EINVAL }, { 0xa, EINVAL }, { 0xf, EAGAIN },	{ 0x10, EINVAL },
	{ 0x30, EINVAL }, { 0x40, EINVAL }, { 0x50, EIO },   { 0x51, EIO },   { 0xb, EIO },	{ 0x11, EIO },
	{ 0x7f, EIO },	  { 0xff, EIO },
};
