/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls that a software context does not have are refused, each in its function's own way, and so is NULL. */
#include <dlfcn.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <opendevx/opendevx.h>
#include <opendevx/soft.h>

#include "table.h"

static struct ibv_device *dev;
static struct ibv_context *ctx;
static struct mlx5dv_devx_obj *obj;

static int setup(void **state)
{
	uint8_t in[16] = { 0x09, 0x39 }, out[16];

	dev = odx_soft_create("");
	ctx = dev ? mlx5dv_open_device(dev, NULL) : NULL;
	obj = ctx ? mlx5dv_devx_obj_create(ctx, in, sizeof(in), out, sizeof(out)) : NULL;
	return obj ? 0 : -1;
}

static int teardown(void **state)
{
	return mlx5dv_devx_obj_destroy(obj) || ibv_close_device(ctx) || odx_soft_destroy(dev);
}

static void check(const struct row *row, void *handle, int err)
{
	static const long none[6];
	long ret;

	errno = 0;
	ret = call(row, handle, none);
	if (!failed(row->conv, ret, err))
		fail_msg("%s gave %ld, errno %d; not %d", row->name, ret, errno, err);
}

static void every_call_on_a_software_device(void **state)
{
	struct object o = { .context = ctx };
	void *handle[] = { [CTX] = ctx, [OBJ] = &o, [QPEX] = &o, [DEV] = dev, [DEVX] = obj };

	for (size_t i = 0; i < N_ROWS; i++)
		if (rows[i].kind != NEVER)
			check(&rows[i], handle[rows[i].kind], EOPNOTSUPP);
}

/* A closed context is still ours: it must not reach rdma-core. */
static void every_call_on_a_closed_context(void **state)
{
	struct ibv_context *closed = ibv_open_device(dev);
	struct object o = { .context = closed };

	assert_non_null(closed);
	assert_int_equal(ibv_close_device(closed), 0);
	for (size_t i = 0; i < N_ROWS; i++) {
		if (rows[i].kind == CTX)
			check(&rows[i], closed, EOPNOTSUPP);
		if (rows[i].kind == OBJ || rows[i].kind == QPEX)
			check(&rows[i], &o, EOPNOTSUPP);
	}
}

static void every_call_on_null(void **state)
{
	static const long none[6];

	for (size_t i = 0; i < N_ROWS; i++) {
		if (rows[i].conv == DEL)
			assert_int_equal((int)call(&rows[i], NULL, none), 0);
		else if (rows[i].conv == VOID)
			call(&rows[i], NULL, none);
		else
			check(&rows[i], NULL, EINVAL);
	}
}

#define REFUSED(call, err)                                                                                         \
	do {                                                                                                       \
		errno = 0;                                                                                         \
		assert_null(call);                                                                                 \
		assert_int_equal(errno, err);                                                                      \
	} while (0)

static void handles_inside_arguments(void **state)
{
	struct object o = { .context = ctx }, foreign = { 0 };
	struct mlx5dv_mkey_init_attr mkey = { .pd = (struct ibv_pd *)&o };
	struct mlx5dv_flow_action_attr action = { .type = MLX5DV_FLOW_ACTION_COUNTERS_DEVX, .obj = obj };
	struct mlx5dv_pd out;
	struct mlx5dv_obj init = { .pd = { (struct ibv_pd *)&o, &out } };
	uint16_t event = 0;

	REFUSED(mlx5dv_create_mkey(&mkey), EOPNOTSUPP);
	REFUSED(mlx5dv_create_mkey(NULL), EINVAL);
	mkey.pd = NULL;
	REFUSED(mlx5dv_create_mkey(&mkey), EINVAL);
	REFUSED(mlx5dv_create_flow((void *)&foreign, NULL, 1, &action), EOPNOTSUPP);
	action.type = MLX5DV_FLOW_ACTION_DEST_DEVX;
	REFUSED(mlx5dv_create_flow((void *)&foreign, NULL, 1, &action), EOPNOTSUPP);
	REFUSED(__mlx5dv_create_flow((void *)&foreign, NULL, 1, &action, sizeof(action)), EOPNOTSUPP);
	REFUSED(__mlx5dv_create_flow((void *)&foreign, NULL, 1, &action, sizeof(action) - 1), EINVAL);
	REFUSED(__mlx5dv_create_flow((void *)&foreign, NULL, 1, NULL, sizeof(action)), EINVAL);
	REFUSED(__mlx5dv_create_flow(NULL, NULL, 1, &action, sizeof(action)), EINVAL);
	REFUSED(mlx5dv_create_flow(NULL, NULL, 1, &action), EINVAL);
	REFUSED(mlx5dv_create_flow((void *)&foreign, NULL, 1, NULL), EINVAL);
	REFUSED(mlx5dv_dr_action_create_aso((void *)&foreign, obj, 0, 0, 0), EOPNOTSUPP);
	REFUSED(mlx5dv_dr_action_create_aso((void *)&foreign, NULL, 0, 0, 0), EINVAL);
	assert_int_equal(mlx5dv_init_obj(&init, MLX5DV_OBJ_PD), EOPNOTSUPP);
	assert_int_equal(mlx5dv_init_obj(NULL, MLX5DV_OBJ_PD), EINVAL);
	assert_int_equal(mlx5dv_init_obj(&init, MLX5DV_OBJ_QP), EINVAL);
	assert_int_equal(mlx5dv_devx_subscribe_devx_event((void *)&foreign, obj, 2, &event, 0), ENOENT);
	assert_int_equal(mlx5dv_devx_subscribe_devx_event(NULL, obj, 2, &event, 0), EINVAL);
	assert_int_equal(mlx5dv_devx_subscribe_devx_event_fd((void *)&foreign, 0, obj, 0), ENOENT);
	assert_int_equal(mlx5dv_devx_subscribe_devx_event_fd(NULL, 0, obj, 0), EINVAL);
}

static void events_of_nobody(void **state)
{
	struct mlx5dv_devx_async_event_hdr hdr;
	struct ibv_async_event event = { .event_type = IBV_EVENT_PORT_ERR };

	REFUSED(mlx5dv_devx_create_event_channel(NULL, 0), EINVAL);
	REFUSED(mlx5dv_devx_alloc_msi_vector(NULL), EINVAL);
	REFUSED(mlx5dv_devx_create_eq(NULL, NULL, 0, NULL, 0), EINVAL);
	assert_int_equal(mlx5dv_devx_free_msi_vector(NULL), 0);
	assert_int_equal(mlx5dv_devx_destroy_eq(NULL), 0);
	errno = 0;
	assert_int_equal(mlx5dv_devx_get_event(NULL, &hdr, sizeof(hdr)), -1);
	assert_int_equal(errno, EINVAL);
	mlx5dv_devx_destroy_event_channel(NULL);
	errno = 0;
	assert_int_equal(ibv_get_async_event(NULL, &event), -1);
	assert_int_equal(errno, EINVAL);
	errno = 0;
	assert_int_equal(ibv_get_async_event(ctx, NULL), -1);
	assert_int_equal(errno, EINVAL);
	ibv_ack_async_event(NULL);
	ibv_ack_async_event(&event);
}

/* The inlines of verbs.h go through functions of the context: a handle that names it and that nobody made. */
static void inlines_on_made_up_handles(void **state)
{
	struct object o = { .context = ctx };
	void *h = &o;
	struct ibv_send_wr send = { 0 }, *bad_send = NULL;
	struct ibv_recv_wr recv = { 0 }, *bad_recv = NULL;
	struct ibv_ops_wr *bad_op;
	struct ibv_mw_bind bind = { 0 };
	struct ibv_wc wc;
	struct ibv_mw mw = { .context = ctx };
	struct ibv_flow flow = { .context = ctx };
	struct ibv_mr mr = { 0 };
	uint32_t n;

	REFUSED(ibv_alloc_mw(h, IBV_MW_TYPE_1), EOPNOTSUPP);
	assert_int_equal(ibv_dealloc_mw(h), EOPNOTSUPP);
	bind.bind_info.mr = &mr;
	bind.bind_info.length = 0;
	assert_int_equal(ctx->ops.bind_mw(h, &mw, &bind), EOPNOTSUPP);
	errno = 0;
	assert_int_equal(ibv_poll_cq(h, 1, &wc), -1);
	assert_int_equal(errno, EOPNOTSUPP);
	assert_int_equal(ibv_req_notify_cq(h, 0), EOPNOTSUPP);
	assert_int_equal(ibv_post_send(h, &send, &bad_send), EOPNOTSUPP);
	assert_ptr_equal(bad_send, &send);
	assert_int_equal(ibv_post_recv(h, &recv, &bad_recv), EOPNOTSUPP);
	assert_ptr_equal(bad_recv, &recv);
	bad_recv = NULL;
	assert_int_equal(ibv_post_srq_recv(h, &recv, &bad_recv), EOPNOTSUPP);
	assert_ptr_equal(bad_recv, &recv);
	assert_int_equal(ibv_close_xrcd(h), EOPNOTSUPP);
	assert_int_equal(ibv_post_srq_ops(h, NULL, &bad_op), EOPNOTSUPP);
	assert_int_equal(ibv_get_srq_num(h, &n), EOPNOTSUPP);
	assert_int_equal(ibv_modify_cq(h, NULL), EOPNOTSUPP);
	assert_int_equal(ibv_modify_qp_rate_limit(h, NULL), EOPNOTSUPP);
	assert_int_equal(ibv_dealloc_td(h), EOPNOTSUPP);
	assert_int_equal(ibv_free_dm(h), EOPNOTSUPP);
	assert_int_equal(ibv_destroy_wq(h), EOPNOTSUPP);
	assert_int_equal(ibv_modify_wq(h, NULL), EOPNOTSUPP);
	assert_int_equal(ibv_destroy_rwq_ind_table(h), EOPNOTSUPP);
	assert_int_equal(ibv_destroy_flow(&flow), EOPNOTSUPP);
	assert_int_equal(ibv_destroy_flow_action(h), EOPNOTSUPP);
	assert_int_equal(ibv_modify_flow_action_esp(h, NULL), EOPNOTSUPP);
	assert_int_equal(ibv_destroy_counters(h), EOPNOTSUPP);
	assert_int_equal(ibv_read_counters(h, NULL, 0, 0), EOPNOTSUPP);
	assert_int_equal(ibv_attach_counters_point_flow(h, NULL, NULL), EOPNOTSUPP);
	assert_int_equal(ibv_advise_mr(h, 0, 0, NULL, 0), EOPNOTSUPP);
}

static void inlines_on_the_context(void **state)
{
	struct ibv_srq_init_attr_ex srq_attr = { .comp_mask = IBV_SRQ_INIT_ATTR_TYPE, .srq_type = IBV_SRQT_XRC };
	struct ibv_qp_init_attr_ex qp_attr = { .comp_mask = IBV_QP_INIT_ATTR_CREATE_FLAGS };
	struct ibv_parent_domain_init_attr domain = { 0 };
	struct ibv_counters_init_attr counters = { 0 };
	struct ibv_rwq_ind_table_init_attr table = { 0 };
	struct ibv_flow_attr flow = { 0 };
	struct ibv_td_init_attr td = { 0 };
	struct ibv_alloc_dm_attr dm = { 0 };
	struct ibv_cq_init_attr_ex cq = { .cqe = 1 };
	struct ibv_xrcd_init_attr xrcd = { 0 };
	struct ibv_wq_init_attr wq = { 0 };
	struct ibv_values_ex values = { .comp_mask = IBV_VALUES_MASK_RAW_CLOCK };
	struct object o = { .context = ctx };

	REFUSED(ibv_open_xrcd(ctx, &xrcd), EOPNOTSUPP);
	REFUSED(ibv_create_cq_ex(ctx, &cq), EOPNOTSUPP);
	REFUSED(ibv_create_srq_ex(ctx, &srq_attr), EOPNOTSUPP);
	REFUSED(ibv_create_qp_ex(ctx, &qp_attr), EOPNOTSUPP);
	REFUSED(ibv_alloc_td(ctx, &td), EOPNOTSUPP);
	REFUSED(ibv_alloc_parent_domain(ctx, &domain), EOPNOTSUPP);
	REFUSED(ibv_open_qp(ctx, NULL), EOPNOTSUPP);
	REFUSED(ibv_create_wq(ctx, &wq), EOPNOTSUPP);
	REFUSED(ibv_create_rwq_ind_table(ctx, &table), EOPNOTSUPP);
	REFUSED(ibv_create_counters(ctx, &counters), EOPNOTSUPP);
	REFUSED(ibv_alloc_dm(ctx, &dm), EOPNOTSUPP);
	REFUSED(ibv_reg_dm_mr((void *)&o, (void *)&o, 0, 1, 0), EOPNOTSUPP);
	REFUSED(ibv_alloc_null_mr((void *)&o), EOPNOTSUPP);
	REFUSED(ibv_create_flow_action_esp(ctx, NULL), EOPNOTSUPP);
	REFUSED(ibv_create_flow((void *)&o, &flow), EOPNOTSUPP);
	assert_int_equal(ibv_query_rt_values_ex(ctx, &values), EOPNOTSUPP);
}

/* Objects of verbs that a context of ours cannot have made: commands on them, and what ends them. */
static void objects_that_nobody_made(void **state)
{
	struct object o = { .context = ctx };
	uint8_t box[16] = { 0 };
	void *h = &o;

#define BOTH(kind)                                                                                                 \
	do {                                                                                                       \
		assert_int_equal(mlx5dv_devx_##kind##_query(h, box, 16, box, 16), EOPNOTSUPP);                     \
		assert_int_equal(mlx5dv_devx_##kind##_modify(h, box, 16, box, 16), EOPNOTSUPP);                    \
		assert_int_equal(mlx5dv_devx_##kind##_query(NULL, box, 16, box, 16), EINVAL);                      \
		assert_int_equal(mlx5dv_devx_##kind##_modify(NULL, box, 16, box, 16), EINVAL);                     \
	} while (0)
	BOTH(cq);
	BOTH(qp);
	BOTH(srq);
	BOTH(wq);
	BOTH(ind_tbl);
#undef BOTH
	assert_int_equal(ibv_dealloc_pd(h), EINVAL);
	assert_int_equal(ibv_dereg_mr(h), EINVAL);
	REFUSED(ibv_reg_mr(h, box, 16, 0), EINVAL);
	REFUSED(ibv_reg_mr_iova(h, box, 16, 0, 0), EINVAL);
	REFUSED(ibv_reg_mr_iova2(h, box, 16, 0, 0), EINVAL);
	REFUSED(mlx5dv_reg_dmabuf_mr(h, 0, 16, 0, -1, 0, 0), EOPNOTSUPP);
}

static void verbs_and_uars_on_null(void **state)
{
	uint8_t mem[16];

	assert_int_equal(ibv_query_device(NULL, NULL), EINVAL);
	assert_int_equal(ibv_query_device(ctx, NULL), EINVAL);
	assert_int_equal((ibv_query_port)(NULL, 1, (void *)mem), EINVAL);
	assert_int_equal((ibv_query_port)(ctx, 1, NULL), EINVAL);
	assert_int_equal(ibv_query_gid(NULL, 1, 0, (void *)mem), -1);
	assert_int_equal(ibv_query_gid(ctx, 1, 0, NULL), -1);
	assert_int_equal(ibv_query_pkey(NULL, 1, 0, (void *)mem), -1);
	assert_int_equal(ibv_query_pkey(ctx, 1, 0, NULL), -1);
	assert_int_equal(mlx5dv_query_device(NULL, NULL), EINVAL);
	assert_int_equal(mlx5dv_query_device(ctx, NULL), EINVAL);
	REFUSED(ibv_alloc_pd(NULL), EINVAL);
	assert_int_equal(ibv_dealloc_pd(NULL), 0);
	assert_int_equal(ibv_dereg_mr(NULL), 0);
	REFUSED(ibv_reg_mr(NULL, mem, 16, 0), EINVAL);
	REFUSED(ibv_reg_mr_iova(NULL, mem, 16, 0, 0), EINVAL);
	REFUSED(ibv_reg_mr_iova2(NULL, mem, 16, 0, 0), EINVAL);
	REFUSED(mlx5dv_reg_dmabuf_mr(NULL, 0, 16, 0, -1, 0, 0), EINVAL);
	REFUSED(mlx5dv_devx_alloc_uar(NULL, 0), EINVAL);
	mlx5dv_devx_free_uar(NULL);
	errno = 0;
	assert_int_equal(mlx5dv_devx_uar_export_dmabuf_fd(NULL), -1);
	assert_int_equal(errno, EINVAL);
}

/* The symbol of old binaries: their struct ends before the fields that newer headers added. */
static void old_port_query_writes_no_more(void **state)
{
	union {
		struct ibv_port_attr attr;
		uint8_t bytes[sizeof(struct ibv_port_attr)];
	} old;

	memset(&old, 0xa5, sizeof(old));
	assert_int_equal((ibv_query_port)(ctx, 1, (struct _compat_ibv_port_attr *)&old), 0);
	assert_int_equal(old.attr.state, IBV_PORT_ACTIVE);
	assert_int_equal(old.attr.link_layer, IBV_LINK_LAYER_ETHERNET);
	assert_int_equal(old.attr.flags, 0);
	for (size_t i = offsetof(struct ibv_port_attr, port_cap_flags2); i < sizeof(old); i++)
		assert_int_equal(old.bytes[i], 0xa5);
}

static void front_door_null(void **state)
{
	REFUSED(ibv_open_device(NULL), EINVAL);
	REFUSED(mlx5dv_open_device(NULL, NULL), EINVAL);
	REFUSED(ibv_get_device_name(NULL), EINVAL);
	errno = 0;
	assert_int_equal(ibv_get_device_guid(NULL), 0);
	assert_int_equal(errno, EINVAL);
	assert_false(mlx5dv_is_supported(NULL));
	assert_int_equal(ibv_close_device(NULL), 0);
	ibv_free_device_list(NULL);
}

/* mlx5dv_context_attr as newer headers have it. */
struct fd_arr {
	int *arr;
	uint32_t count;
};

struct attr {
	uint32_t flags;
	uint64_t comp_mask;
	struct fd_arr *fds;
};

static void open_with(uint32_t flags, uint64_t comp_mask, struct fd_arr *fds, int err)
{
	struct attr a = { .flags = flags, .comp_mask = comp_mask, .fds = fds };
	struct ibv_context *c;

	errno = 0;
	c = mlx5dv_open_device(dev, (struct mlx5dv_context_attr *)&a);
	if (err) {
		assert_null(c);
		assert_int_equal(errno, err);
		return;
	}
	assert_non_null(c);
	assert_ptr_equal(c->device, dev);
	assert_int_equal(ibv_close_device(c), 0);
}

static void open_checks_its_attributes(void **state)
{
	int open_fd = open("/dev/null", O_RDONLY | O_CLOEXEC), path_fd = open("/", O_PATH | O_CLOEXEC);
	int good[] = { open_fd, -1 }, bad[] = { -1 }, path[] = { path_fd };
	struct fd_arr fds;

	assert_true(open_fd >= 0 && path_fd >= 0);
	open_with(0, 0, NULL, 0);
	open_with(MLX5DV_CONTEXT_FLAGS_DEVX, 0, NULL, 0);
	open_with(2, 0, NULL, EINVAL);
	open_with(MLX5DV_CONTEXT_FLAGS_DEVX | 1u << 31, 0, NULL, EINVAL);
	open_with(0, 2, NULL, EINVAL);
	open_with(0, 1ull << 63, NULL, EINVAL);
	open_with(0, 0, (struct fd_arr *)8, 0); /* not looked at without its bit */
	open_with(0, 1, NULL, 0);
	fds = (struct fd_arr){ good, 1 };
	open_with(MLX5DV_CONTEXT_FLAGS_DEVX, 1, &fds, EINVAL);
	fds = (struct fd_arr){ good, 0 };
	open_with(0, 1, &fds, EINVAL);
	fds = (struct fd_arr){ NULL, 1 };
	open_with(0, 1, &fds, EINVAL);
	fds = (struct fd_arr){ bad, 1 };
	open_with(0, 1, &fds, EBADF);
	fds = (struct fd_arr){ path, 1 };
	open_with(0, 1, &fds, EBADF);
	fds = (struct fd_arr){ bad, 16384 }; /* longer than an attribute can be: not read at all */
	open_with(0, 1, &fds, EINVAL);
	close(open_fd);
	close(path_fd);
}

/* The struct of older headers ends before the array. */
static void open_reads_only_the_older_struct(void **state)
{
	struct mlx5dv_context_attr *a = malloc(sizeof(*a)); /* ASan and valgrind see a read behind it */
	struct ibv_context *c;

	assert_non_null(a);
	memset(a, 0, sizeof(*a));
	c = mlx5dv_open_device(dev, a);
	assert_non_null(c);
	assert_int_equal(ibv_close_device(c), 0);
	free(a);
}

static void a_destroyed_device(void **state)
{
	struct ibv_device *gone = odx_soft_create("");
	struct mlx5dv_context_attr devx = { .flags = MLX5DV_CONTEXT_FLAGS_DEVX };

	assert_non_null(gone);
	assert_int_equal(odx_soft_destroy(gone), 0);
	REFUSED(ibv_open_device(gone), ENODEV);
	REFUSED(mlx5dv_open_device(gone, &devx), ENODEV);
	assert_true(mlx5dv_is_supported(gone)); /* still ours: rdma-core must not see it */
	assert_non_null(ibv_get_device_name(gone));
	errno = 0;
	assert_int_equal(ibv_get_device_guid(gone), 0);
	assert_int_equal(errno, ENODEV);
}

/* A pointer that nobody made, with no rdma-core that could know it. */
static void foreign_handles_without_rdma_core(void **state)
{
	struct object o = { 0 };
	void *handle[] = { [CTX] = &o, [OBJ] = &o, [QPEX] = &o, [DEV] = &o, [DEVX] = &o, [NEVER] = &o };

	o.context = (struct ibv_context *)&o;
	for (size_t i = 0; i < N_ROWS; i++)
		check(&rows[i], handle[rows[i].kind], EOPNOTSUPP);
	REFUSED(ibv_open_device((struct ibv_device *)&o), EINVAL);
	REFUSED(mlx5dv_open_device((struct ibv_device *)&o, NULL), EOPNOTSUPP);
	REFUSED(ibv_get_device_name((struct ibv_device *)&o), EINVAL);
	assert_false(mlx5dv_is_supported((struct ibv_device *)&o));
	assert_int_equal(ibv_close_device((struct ibv_context *)&o), EINVAL);
	ibv_free_device_list((struct ibv_device **)&o);
}

static void foreign_channels_without_rdma_core(void **state)
{
	struct mlx5dv_devx_event_channel nobodys = { .fd = -1 };
	struct mlx5dv_devx_async_event_hdr hdr;
	uint16_t port_change = 9;

	errno = 0;
	assert_int_equal(mlx5dv_devx_get_event(&nobodys, &hdr, sizeof(hdr)), -1);
	assert_int_equal(errno, EINVAL);
	mlx5dv_devx_destroy_event_channel(&nobodys);
	assert_int_equal(mlx5dv_devx_free_msi_vector((void *)&nobodys), EINVAL);
	assert_int_equal(mlx5dv_devx_destroy_eq((void *)&nobodys), EINVAL);
	assert_int_equal(mlx5dv_devx_subscribe_devx_event(&nobodys, NULL, sizeof(port_change), &port_change, 0), EINVAL);
	assert_int_equal(mlx5dv_devx_subscribe_devx_event_fd(&nobodys, 0, NULL, port_change), EINVAL);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_call_on_a_software_device),
		cmocka_unit_test(every_call_on_a_closed_context),
		cmocka_unit_test(every_call_on_null),
		cmocka_unit_test(handles_inside_arguments),
		cmocka_unit_test(events_of_nobody),
		cmocka_unit_test(inlines_on_made_up_handles),
		cmocka_unit_test(inlines_on_the_context),
		cmocka_unit_test(objects_that_nobody_made),
		cmocka_unit_test(verbs_and_uars_on_null),
		cmocka_unit_test(old_port_query_writes_no_more),
		cmocka_unit_test(front_door_null),
		cmocka_unit_test(open_checks_its_attributes),
		cmocka_unit_test(open_reads_only_the_older_struct),
		cmocka_unit_test(a_destroyed_device),
	};
	const struct CMUnitTest alone[] = {
		cmocka_unit_test(foreign_handles_without_rdma_core),
		cmocka_unit_test(foreign_channels_without_rdma_core),
	};
	bool without = argc > 1 && !strcmp(argv[1], "alone");
	int ret = 0;

	if (without != !dlopen("libmlx5.so.1", RTLD_NOLOAD | RTLD_LAZY))
		return 2;
	ret |= cmocka_run_group_tests(tests, setup, teardown);
	if (without)
		ret |= cmocka_run_group_tests(alone, NULL, NULL);
	return ret;
}
