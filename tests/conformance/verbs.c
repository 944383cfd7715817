/* SPDX-License-Identifier: BSD-2-Clause */
/* The verbs that DEVX programs mix in. */
#include "conf.h"

#define PAGE 4096u
#define CURRENT 1u /* op_mod of QUERY_HCA_CAP: general capabilities as they are now */

static void end_pd(void *p)
{
	CHECK_EQ(ibv_dealloc_pd(p), 0);
}

static void end_mr(void *p)
{
	CHECK_EQ(ibv_dereg_mr(p), 0);
}

static struct ibv_pd *pd_of(struct ibv_context *ctx)
{
	return own(ibv_alloc_pd(ctx), end_pd);
}

static struct ibv_mr *mr_of(struct ibv_pd *pd, void *addr, size_t len, int access)
{
	return own(ibv_reg_mr(pd, addr, len, access), end_mr);
}

static void *general_caps(struct ibv_context *ctx, uint8_t out[SZ(query_hca_cap_out)])
{
	INBOX(in, query_hca_cap_in, QUERY_HCA_CAP);

	set_op_mod(in, CURRENT);
	CHECK_EQ(mlx5dv_devx_general_cmd(ctx, in, sizeof(in), out, SZ(query_hca_cap_out)), 0);
	return IN(out, query_hca_cap_out, capability);
}

CASE(device_tells_its_capabilities, "ibv_query_device(3)", ANY,
     "What ibv_query_device says of limits is what QUERY_HCA_CAP says.")
{
	struct ibv_context *ctx = context();
	uint8_t out[SZ(query_hca_cap_out)];
	struct ibv_device_attr a;
	void *cap = general_caps(ctx, out);

	memset(&a, 0xa5, sizeof(a));
	CHECK_EQ(ibv_query_device(ctx, &a), 0);
	CHECK_EQ(a.node_guid, ibv_get_device_guid(ctx->device));
	CHECK_EQ(a.vendor_id, 0x2c9);
	CHECK(a.fw_ver[0] && memchr(a.fw_ver, 0, sizeof(a.fw_ver)));
	CHECK_EQ(a.max_qp, 1 << GET(cap, cmd_hca_cap, log_max_qp));
	if (is_soft())
		CHECK_EQ(a.max_qp_wr, 1 << GET(cap, cmd_hca_cap, log_max_qp_sz));
	else /* newer kernels take the size of a WQE into account */
		CHECK(a.max_qp_wr > 0 && a.max_qp_wr <= 1 << GET(cap, cmd_hca_cap, log_max_qp_sz));
	CHECK_EQ(a.max_cq, 1 << GET(cap, cmd_hca_cap, log_max_cq));
	CHECK_EQ(a.max_cqe, (1 << GET(cap, cmd_hca_cap, log_max_cq_sz)) - 1);
	CHECK_EQ(a.max_mr, 1 << GET(cap, cmd_hca_cap, log_max_mkey));
	CHECK_EQ(a.max_pd, 1 << GET(cap, cmd_hca_cap, log_max_pd));
	CHECK_EQ(a.max_qp_rd_atom, 1 << GET(cap, cmd_hca_cap, log_max_ra_req_qp));
	CHECK_EQ(a.local_ca_ack_delay, GET(cap, cmd_hca_cap, local_ca_ack_delay));
	CHECK_EQ(a.phys_port_cnt, GET(cap, cmd_hca_cap, num_ports));
}

CASE(extended_attributes_begin_with_the_plain_ones, "ibv_query_device_ex(3)", ANY,
     "ibv_query_device_ex tells what ibv_query_device tells, and the core clock.")
{
	struct ibv_context *ctx = context();
	uint8_t out[SZ(query_hca_cap_out)];
	struct ibv_query_device_ex_input in = { .comp_mask = 1 };
	struct ibv_device_attr_ex ex;
	struct ibv_device_attr a;

	memset(&a, 0, sizeof(a));
	memset(&ex, 0, sizeof(ex));
	CHECK_EQ(ibv_query_device(ctx, &a), 0);
	CHECK_EQ(ibv_query_device_ex(ctx, NULL, &ex), 0);
	CHECK_EQ(ex.orig_attr.max_qp, a.max_qp);
	CHECK_EQ(ex.orig_attr.vendor_part_id, a.vendor_part_id);
	CHECK_EQ(ex.hca_core_clock, GET(general_caps(ctx, out), cmd_hca_cap, device_frequency_khz));
	CHECK_EQ(ex.phys_port_cnt_ex, a.phys_port_cnt);
	CHECK_EQ(ibv_query_device_ex(ctx, &in, &ex), EINVAL);
}

CASE(port_attributes, "ibv_query_port(3)", ANY,
     "Port 1 has a state, a link layer and tables; a port that is not there gives EINVAL.")
{
	struct ibv_context *ctx = context();
	struct ibv_port_attr a;
	struct ibv_device_attr d;

	CHECK_EQ(ibv_query_device(ctx, &d), 0);
	CHECK_EQ(ibv_query_port(ctx, 1, &a), 0);
	CHECK(a.state >= IBV_PORT_DOWN && a.state <= IBV_PORT_ACTIVE_DEFER);
	CHECK(a.link_layer == IBV_LINK_LAYER_ETHERNET || a.link_layer == IBV_LINK_LAYER_INFINIBAND);
	CHECK(a.gid_tbl_len > 0 && a.pkey_tbl_len > 0);
	CHECK(a.max_mtu >= a.active_mtu);
	CHECK_EQ(ibv_query_port(ctx, 0, &a), EINVAL);
	CHECK_EQ(ibv_query_port(ctx, (uint8_t)(d.phys_port_cnt + 1), &a), EINVAL);
}

/* The kernel hears of the link from its interface, some time later. */
static void expect_state(struct ibv_context *ctx, enum ibv_port_state state)
{
	struct ibv_port_attr a;

	for (int ms = 0; ms < PATIENCE_MS; ms += 5) {
		CHECK_EQ(ibv_query_port(ctx, 1, &a), 0);
		if (is_soft() || a.state == state)
			break;
		poll(NULL, 0, 5);
	}
	CHECK_EQ(a.state, state);
}

CASE(port_follows_its_link, "ibv_query_port(3)", CONTROL, "A port whose link is down says so.")
{
	struct ibv_device *dev = soft("");
	struct ibv_context *ctx = open_devx(dev);

	CHECK_EQ(set_port(dev, 0), 0);
	expect_state(ctx, IBV_PORT_DOWN);
	CHECK_EQ(set_port(dev, 1), 0);
	expect_state(ctx, IBV_PORT_ACTIVE);
}

CASE(gids_and_pkeys, "ibv_query_gid(3)", ANY,
     "The first GID is a link-local one, the first pkey the default one; past the tables' ends there is nothing, and that "
     "is -1.")
{
	struct ibv_context *ctx = context();
	struct ibv_port_attr a;
	union ibv_gid gid;
	__be16 pkey = 0;

	CHECK_EQ(ibv_query_port(ctx, 1, &a), 0);
	CHECK_EQ(ibv_query_gid(ctx, 1, 0, &gid), 0);
	CHECK_EQ(be64toh(gid.global.subnet_prefix) >> 48, 0xfe80);
	CHECK_EQ(ibv_query_gid(ctx, 1, a.gid_tbl_len, &gid), -1);
	CHECK_EQ(ibv_query_gid(ctx, 1, -1, &gid), -1);
	CHECK_EQ(ibv_query_pkey(ctx, 1, 0, &pkey), 0);
	CHECK_EQ(be16toh(pkey) & 0x7fff, 0x7fff);
	CHECK_EQ(ibv_query_pkey(ctx, 1, a.pkey_tbl_len, &pkey), -1);
}

CASE(gids_are_the_devices, "ibv_query_gid(3)", SOFT, "GIDs are the device's table of RoCE addresses, to its end.")
{
	struct ibv_context *ctx = open_devx(soft(""));
	struct ibv_port_attr a;
	union ibv_gid gid;
	INBOX(in, query_roce_address_in, QUERY_ROCE_ADDRESS);
	uint8_t out[SZ(query_roce_address_out)];

	CHECK_EQ(ibv_query_port(ctx, 1, &a), 0);
	for (int i = 0; i < a.gid_tbl_len; i++) {
		NOTE("index %d", i);
		SET(in, query_roce_address_in, roce_address_index, i);
		CHECK_EQ(general(ctx, in, sizeof(in), out, sizeof(out)), 0);
		CHECK_EQ(ibv_query_gid(ctx, 1, i, &gid), 0);
		CHECK_MEM(gid.raw, IN(out, query_roce_address_out, roce_address), sizeof(gid.raw));
	}
}

CASE(provider_attributes, "mlx5dv_query_device(3)", ANY,
     "mlx5dv_query_device tells of version-1 CQEs as the capability does, and sets only those bits of comp_mask that were "
     "asked for.")
{
	struct ibv_context *ctx = context();
	uint8_t out[SZ(query_hca_cap_out)];
	struct mlx5dv_context dv = { .comp_mask = MLX5DV_CONTEXT_MASK_STRIDING_RQ | MLX5DV_CONTEXT_MASK_DC_ODP_CAPS };

	CHECK_EQ(mlx5dv_query_device(ctx, &dv), 0);
	CHECK_EQ(!!(dv.flags & MLX5DV_CONTEXT_FLAGS_CQE_V1), GET(general_caps(ctx, out), cmd_hca_cap, cqe_version));
	CHECK_EQ(dv.comp_mask & ~(uint64_t)(MLX5DV_CONTEXT_MASK_STRIDING_RQ | MLX5DV_CONTEXT_MASK_DC_ODP_CAPS), 0);
}

CASE(pd_number_is_the_devices, "mlx5dv_init_obj(3)", ANY,
     "The number of a PD that mlx5dv_init_obj tells can be used in the context's commands.")
{
	struct ibv_context *ctx = context();
	struct ibv_pd *pd = pd_of(ctx);
	uint8_t *mem = zeroed(PAGE), out[SZ(create_mkey_out)];
	struct mlx5dv_devx_umem *umem = reg(ctx, mem, PAGE, IBV_ACCESS_LOCAL_WRITE);
	struct mlx5dv_pd dv = { .comp_mask = UINT64_MAX };
	struct mlx5dv_obj obj = { .pd = { pd, &dv } };
	INBOX(in, create_mkey_in, CREATE_MKEY);
	void *mkc = IN(in, create_mkey_in, memory_key_mkey_entry);

	CHECK_EQ(mlx5dv_init_obj(&obj, MLX5DV_OBJ_PD), 0);
	SET(in, create_mkey_in, mkey_umem_id, umem->umem_id);
	SET(mkc, mkc, access_mode_1_0, 1);
	SET(mkc, mkc, lw, 1);
	SET(mkc, mkc, lr, 1);
	SET(mkc, mkc, qpn, 0xffffff);
	SET(mkc, mkc, pd, dv.pdn);
	SET(mkc, mkc, start_addr, (uintptr_t)mem);
	SET(mkc, mkc, len, PAGE);
	SET(mkc, mkc, log_page_size, 12);
	create(ctx, in, sizeof(in), out, sizeof(out));
}

static int dump(struct rig *r, struct ibv_mr *mr, void *to)
{
	uint8_t in[COUNTER_IN], out[OUTLEN];

	query_inbox(in, r->id, 4);
	SET(in, query_flow_counter_in, dump_to_memory, 1);
	SET(in, query_flow_counter_in, mkey, mr->lkey);
	SET(in, query_flow_counter_in, address, (uintptr_t)to);
	return mlx5dv_devx_obj_query(r->obj, in, sizeof(in), out, sizeof(out));
}

CASE(mr_key_is_for_commands, "ibv_reg_mr(3)", CONTROL,
     "A command writes through the lkey of a memory region of its context, inside the region and no further.")
{
	struct rig r = rig_soft("");
	uint8_t *mem = zeroed(2 * PAGE);
	struct ibv_mr *mr = mr_of(pd_of(r.ctx), mem, PAGE, IBV_ACCESS_LOCAL_WRITE), *ro;

	CHECK_EQ(traffic(r.dev, r.id + 1, 5, 500), 0);
	CHECK_EQ(dump(&r, mr, mem), 0);
	CHECK_EQ(mem[SZ(traffic_counter) + 15] | mem[SZ(traffic_counter) + 14] << 8, 500);
	CHECK_EQ(dump(&r, mr, mem + PAGE - 32), EREMOTEIO);
	CHECK_EQ(mem[PAGE], 0);
	ro = mr_of(mr->pd, mem, PAGE, 0);
	CHECK_NE(ro->lkey, mr->lkey);
	CHECK_EQ(dump(&r, ro, mem), EREMOTEIO);
	disown(mr);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
}

CASE(mr_knows_what_it_is_over, "ibv_reg_mr(3)", ANY,
     "A memory region tells its PD, address, length and keys; other iovas go too.")
{
	struct ibv_pd *pd = pd_of(context());
	uint8_t *mem = zeroed(3 * PAGE);
	uint64_t far_off = ((uintptr_t)mem + 7) % PAGE + (UINT64_C(1) << 40);
	struct ibv_mr *mr = mr_of(pd, mem + 7, PAGE + 9, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ), *moved;

	CHECK(mr->pd == pd && mr->context == pd->context && mr->addr == mem + 7);
	CHECK_EQ(mr->length, PAGE + 9);
	CHECK_NE(mr->lkey, 0);
	moved = own(ibv_reg_mr_iova(pd, mem + 7, 99, far_off, IBV_ACCESS_LOCAL_WRITE), end_mr);
	CHECK_NE(moved->lkey, mr->lkey);
	mr_of(pd, mem, PAGE, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_RELAXED_ORDERING);
}

CASE(mr_refusals, "ibv_reg_mr(3)", ANY,
     "Remote write without local write gives EINVAL, as do an unknown flag and an iova that lies otherwise in its page; "
     "memory that is not there EFAULT.")
{
	struct ibv_pd *pd = pd_of(context());
	uint8_t *mem = zeroed(PAGE);

	CHECK_NULL(ibv_reg_mr(pd, mem, PAGE, IBV_ACCESS_REMOTE_WRITE), EINVAL);
	CHECK_NULL(ibv_reg_mr(pd, mem, PAGE, IBV_ACCESS_REMOTE_ATOMIC), EINVAL);
	CHECK_NULL(ibv_reg_mr(pd, mem, PAGE, 1 << 18), EINVAL);
	CHECK_NULL(ibv_reg_mr_iova(pd, mem, PAGE, (uintptr_t)mem + 1, IBV_ACCESS_LOCAL_WRITE), EINVAL);
	CHECK_NULL(ibv_reg_mr(pd, NULL, PAGE, IBV_ACCESS_LOCAL_WRITE), EFAULT);
}

CASE(pd_in_use_is_ebusy, "ibv_dealloc_pd(3)", ANY, "A PD with memory regions stays: EBUSY.")
{
	struct ibv_context *ctx = context();
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	struct ibv_mr *mr;

	CHECK(pd != NULL);
	mr = ibv_reg_mr(pd, zeroed(PAGE), PAGE, 0);
	CHECK(mr != NULL);
	CHECK_EQ(ibv_dealloc_pd(pd), EBUSY);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	CHECK_EQ(ibv_dealloc_pd(pd), 0);
}

CASE(stale_pd_and_mr, "deviations 17", OURS,
     "A PD or memory region that is gone gives ENOENT; closing the context takes them along.")
{
	struct ibv_context *ctx = context();
	struct ibv_pd *pd = ibv_alloc_pd(ctx), *left;
	struct ibv_mr *mr;
	struct mlx5dv_pd dv;
	struct mlx5dv_obj obj = { .pd = { pd, &dv } };

	CHECK(pd != NULL);
	mr = ibv_reg_mr(pd, zeroed(PAGE), PAGE, 0);
	CHECK(mr != NULL);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	CHECK_EQ(ibv_dereg_mr(mr), ENOENT);
	CHECK_EQ(ibv_dealloc_pd(pd), 0);
	CHECK_EQ(ibv_dealloc_pd(pd), ENOENT);
	CHECK_NULL(ibv_reg_mr(pd, zeroed(PAGE), PAGE, 0), ENOENT);
	CHECK_EQ(mlx5dv_init_obj(&obj, MLX5DV_OBJ_PD), ENOENT);
	left = ibv_alloc_pd(ctx);
	CHECK(left != NULL);
	mr = ibv_reg_mr(left, zeroed(PAGE), PAGE, 0);
	CHECK(mr != NULL);
	CHECK_EQ(close_context(ctx), 0);
	CHECK_NE(ibv_dereg_mr(mr), 0);
	CHECK_NE(ibv_dealloc_pd(left), 0);
	CHECK_NULL(ibv_alloc_pd(ctx), EBADF);
}

CASE(failed_commands_leave_nothing, "devx-abi 4", CONTROL,
     "When the device refuses, the verb fails with the errno of the status and may be repeated.")
{
	struct ibv_device *dev = soft("");
	struct ibv_context *ctx = open_devx(dev);
	uint8_t *mem = zeroed(PAGE);
	struct ibv_pd *pd;
	struct ibv_mr *mr;

	fault(dev, "opcode=0x%x nth=1 status=0x8", PRM_OP_ALLOC_PD);
	CHECK_NULL(ibv_alloc_pd(ctx), ENOMEM);
	pd = ibv_alloc_pd(ctx);
	CHECK(pd != NULL);
	fault(dev, "opcode=0x%x nth=1 status=0x8", PRM_OP_CREATE_MKEY);
	CHECK_NULL(ibv_reg_mr(pd, mem, PAGE, 0), ENOMEM);
	mr = ibv_reg_mr(pd, mem, PAGE, 0);
	CHECK(mr != NULL);
	fault(dev, "opcode=0x%x nth=1 status=0x6", PRM_OP_DESTROY_MKEY);
	CHECK_EQ(ibv_dereg_mr(mr), EBUSY);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	fault(dev, "opcode=0x%x nth=1 status=0x6", PRM_OP_DEALLOC_PD);
	CHECK_EQ(ibv_dealloc_pd(pd), EBUSY);
	CHECK_EQ(ibv_dealloc_pd(pd), 0);
}

CASE(removed_device_is_eio, "devx-abi 4", CONTROL,
     "After the removal of the device, attributes and new objects give EIO; what is there can be given back.")
{
	struct ibv_device *dev = soft("");
	struct ibv_context *ctx = open_devx(dev);
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	struct ibv_device_attr a;
	struct ibv_port_attr p;
	struct ibv_mr *mr;

	CHECK(pd != NULL);
	mr = ibv_reg_mr(pd, zeroed(PAGE), PAGE, 0);
	CHECK(mr != NULL);
	CHECK_EQ(take_away(dev), 0);
	CHECK_EQ(ibv_query_device(ctx, &a), EIO);
	CHECK_EQ(ibv_query_port(ctx, 1, &p), EIO);
	CHECK_NULL(ibv_alloc_pd(ctx), EIO);
	CHECK_NULL(ibv_reg_mr(pd, zeroed(PAGE), PAGE, 0), EIO);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	CHECK_EQ(ibv_dealloc_pd(pd), 0);
}

CASE(port_events_reach_verbs, "odx_soft_port(3)", CONTROL,
     "A port that goes down or up is an asynchronous event of each context.")
{
	struct ibv_device *dev = soft_with_port();
	struct ibv_context *ctx[] = { open_devx(dev), open_devx(dev) };
	struct ibv_async_event ev;

	for (int up = 0; up < 2; up++) {
		CHECK_EQ(set_port(dev, up), 0);
		CHECK_EQ(set_port(dev, up), 0); /* it is so already */
		for (size_t i = 0; i < N_OF(ctx); i++) {
			CHECK(ready(ctx[i]->async_fd, POLLIN, PATIENCE_MS) & POLLIN);
			CHECK_EQ(ibv_get_async_event(ctx[i], &ev), 0);
			CHECK_EQ(ev.event_type, up ? IBV_EVENT_PORT_ACTIVE : IBV_EVENT_PORT_ERR);
			CHECK_EQ(ev.element.port_num, 1);
			ibv_ack_async_event(&ev);
			CHECK_EQ(ready(ctx[i]->async_fd, POLLIN, 0), 0);
		}
	}
}

CASE(removal_is_a_fatal_event, "verified 1", CONTROL, "A removal is the asynchronous event of a fatal error.")
{
	struct ibv_device *dev = soft("");
	struct ibv_context *ctx = open_devx(dev);
	struct ibv_async_event ev;

	CHECK_EQ(take_away(dev), 0);
	CHECK(ready(ctx->async_fd, POLLIN, PATIENCE_MS) & POLLIN);
	CHECK_EQ(ibv_get_async_event(ctx, &ev), 0);
	CHECK_EQ(ev.event_type, IBV_EVENT_DEVICE_FATAL);
	ibv_ack_async_event(&ev);
}

CASE(no_async_event_is_eagain, "ibv_get_async_event(3)", ANY,
     "With O_NONBLOCK, ibv_get_async_event without an event gives -1 and EAGAIN.")
{
	struct ibv_context *ctx = context();
	struct ibv_async_event ev;

	set_nonblock(ctx->async_fd, true);
	errno = 0;
	CHECK_EQ(ibv_get_async_event(ctx, &ev), -1);
	CHECK_EQ(errno, EAGAIN);
}

CASE(commands_on_no_verbs_object, "deviations 3", OURS, "The calls on verbs objects give EINVAL for NULL.")
{
	uint8_t in[64] = { 0 }, out[64];

	CHECK_EQ(mlx5dv_devx_cq_query(NULL, in, sizeof(in), out, sizeof(out)), EINVAL);
	CHECK_EQ(mlx5dv_devx_cq_modify(NULL, in, sizeof(in), out, sizeof(out)), EINVAL);
	CHECK_EQ(mlx5dv_devx_qp_query(NULL, in, sizeof(in), out, sizeof(out)), EINVAL);
	CHECK_EQ(mlx5dv_devx_qp_modify(NULL, in, sizeof(in), out, sizeof(out)), EINVAL);
	CHECK_EQ(mlx5dv_devx_srq_query(NULL, in, sizeof(in), out, sizeof(out)), EINVAL);
	CHECK_EQ(mlx5dv_devx_srq_modify(NULL, in, sizeof(in), out, sizeof(out)), EINVAL);
	CHECK_EQ(mlx5dv_devx_wq_query(NULL, in, sizeof(in), out, sizeof(out)), EINVAL);
	CHECK_EQ(mlx5dv_devx_wq_modify(NULL, in, sizeof(in), out, sizeof(out)), EINVAL);
	CHECK_EQ(mlx5dv_devx_ind_tbl_query(NULL, in, sizeof(in), out, sizeof(out)), EINVAL);
	CHECK_EQ(mlx5dv_devx_ind_tbl_modify(NULL, in, sizeof(in), out, sizeof(out)), EINVAL);
}
