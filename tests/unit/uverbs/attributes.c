/* SPDX-License-Identifier: BSD-2-Clause */
/* What the kernel tells of a device, made into the attributes of verbs and mlx5dv. */
#include "tests.h"

#define DEVICE_RESP 176 /* struct ib_uverbs_query_device_resp, <rdma/ib_user_verbs.h> */

static void put32(uint8_t *p, uint32_t v)
{
	memcpy(p, &v, sizeof(v));
}

static void put64(uint8_t *p, uint64_t v)
{
	memcpy(p, &v, sizeof(v));
}

static uint8_t resp[304], driver[112], caps[4112];

/* QUERY_DEVICE of both kinds, QUERY_PORT, and QUERY_HCA_CAP with one page for all types. */
static int tell(const struct fake_frame *f)
{
	if (f->object == 0x1000 && f->method == 0x1000) {
		assert_memory_equal(fake_attr(0x1000)->bytes, "\x01\x00", 2);
		fake_output(0x1001, caps, sizeof(caps));
	} else if (!f->object && f->method == 2) {
		if (fake_attr(0)->data != 1)
			return EINVAL;
		fake_output(1, resp, sizeof(resp));
	} else if (!f->object && !f->method) {
		fake_output(1, resp, sizeof(resp));
		fake_output(0x1001, driver, sizeof(driver));
	}
	return 0;
}

static void device(void **state)
{
	struct ibv_context *ctx = open_one();
	struct ibv_device_attr attr;

	memset(resp, 0, sizeof(resp));
	put64(resp, UINT64_C(22) << 32 | 35 << 16 | 1002);
	memcpy(resp + 8, "\x0c\x42\xa1\x03\x00\x11\x22\x33", 8);
	put32(resp + 40, 0x2c9);
	put32(resp + 44, 0x101d);
	put32(resp + 52, 131072);
	resp[DEVICE_RESP - 5] = 1; /* phys_port_cnt */
	fake.hook = tell;
	assert_int_equal(ibv_query_device(ctx, &attr), 0);
	assert_int_equal(fake_attr(2)->data, 1);
	assert_int_equal(fake_attr(1)->len, DEVICE_RESP);
	assert_string_equal(attr.fw_ver, "22.35.1002");
	assert_memory_equal(&attr.node_guid, "\x0c\x42\xa1\x03\x00\x11\x22\x33", 8);
	assert_int_equal(attr.vendor_id, 0x2c9);
	assert_int_equal(attr.vendor_part_id, 0x101d);
	assert_int_equal(attr.max_qp, 131072);
	assert_int_equal(attr.phys_port_cnt, 1);
	fake.hook = NULL;
	fake.err = EIO;
	assert_int_equal(ibv_query_device(ctx, &attr), EIO);
	assert_int_equal(ibv_close_device(ctx), 0);
	assert_int_equal(ibv_query_device(ctx, &attr), EBADF);
}

static void device_extended(void **state)
{
	struct ibv_query_device_ex_input input = { .comp_mask = 0 };
	struct { struct ibv_device_attr_ex a; uint8_t newer[16]; } attr;
	struct ibv_context *ctx;
	struct verbs_context *v;

	fake.supports = 1;
	ctx = open_one();
	v = verbs_get_ctx(ctx);
	memset(resp, 0, sizeof(resp));
	memset(driver, 0, sizeof(driver));
	memset(caps, 0, sizeof(caps));
	put32(resp + 52, 4096);
	put32(resp + 180, 304);
	put64(resp + 208, UINT64_C(0x7fffffffffffffff));
	put64(resp + 216, 156250);
	put32(driver + 8, 262144); /* tso_caps.max_tso */
	fake.hook = tell;
	memset(&attr, 0xff, sizeof(attr));
	assert_int_equal(v->query_device_ex(ctx, &input, &attr.a, sizeof(attr)), 0);
	assert_int_equal(attr.a.orig_attr.max_qp, 4096);
	assert_int_equal(attr.a.completion_timestamp_mask, UINT64_C(0x7fffffffffffffff));
	assert_int_equal(attr.a.hca_core_clock, 156250);
	assert_int_equal(attr.a.tso_caps.max_tso, 262144);
	assert_int_equal(attr.newer[15], 0); /* what this library does not know yet */
	input.comp_mask = 1;
	assert_int_equal(v->query_device_ex(ctx, &input, &attr.a, sizeof(attr.a)), EINVAL);
	assert_int_equal(v->query_device_ex(ctx, NULL, &attr.a, 8), EINVAL);
	fake.err = EOPNOTSUPP; /* a driver without the second kind: the first one's */
	assert_int_equal(v->query_device_ex(ctx, NULL, &attr.a, sizeof(attr.a)), 0);
	assert_int_equal(attr.a.orig_attr.max_qp, 4096);
	assert_int_equal(attr.a.hca_core_clock, 0);
	assert_int_equal(ibv_close_device(ctx), 0);
}

static void port(void **state)
{
	struct ibv_context *ctx = open_one();
	struct ibv_port_attr attr;

	memset(resp, 0, sizeof(resp));
	put32(resp, 1 << 16);     /* port_cap_flags */
	put32(resp + 16, 256);    /* gid_tbl_len */
	resp[26] = IBV_PORT_ACTIVE;
	resp[27] = IBV_MTU_4096;
	resp[37] = IBV_LINK_LAYER_ETHERNET;
	fake.hook = tell;
	assert_int_equal(ibv_query_port(ctx, 1, &attr), 0);
	assert_int_equal(attr.state, IBV_PORT_ACTIVE);
	assert_int_equal(attr.gid_tbl_len, 256);
	assert_int_equal(attr.port_cap_flags, 1 << 16);
	assert_int_equal(attr.max_mtu, IBV_MTU_4096);
	assert_int_equal(attr.link_layer, IBV_LINK_LAYER_ETHERNET);
	assert_int_equal(ibv_query_port(ctx, 2, &attr), EINVAL);
	/* Before the ioctl it came by write(). */
	fake.no_verbs = true;
	resp[26] = IBV_PORT_DOWN;
	fake_written_answer(resp, 40);
	assert_int_equal(ibv_query_port(ctx, 3, &attr), 0);
	assert_int_equal(attr.state, IBV_PORT_DOWN);
	assert_int_equal(fake.written[0], 2);
	assert_int_equal(fake.written[16], 3);
	assert_int_equal(ibv_close_device(ctx), 0);
}

static void tables_of_a_port(void **state)
{
	struct ibv_context *ctx = open_one();
	union ibv_gid gid;
	__be16 pkey;

	fake_file("/sys/class/infiniband/mlx5_0/ports/1/gids/0", "fe80:0000:0000:0000:0e42:a1ff:fe11:2233\n");
	fake_file("/sys/class/infiniband/mlx5_0/ports/1/gids/1", "0000:0000:0000:0000:0000:0000:0000:0000\n");
	fake_file("/sys/class/infiniband/mlx5_0/ports/1/gids/2", "nonsense\n");
	fake_file("/sys/class/infiniband/mlx5_0/ports/1/pkeys/0", "0xffff\n");
	fake_file("/sys/class/infiniband/mlx5_0/ports/1/pkeys/1", "0x12345\n");
	assert_int_equal(ibv_query_gid(ctx, 1, 0, &gid), 0);
	assert_memory_equal(gid.raw, "\xfe\x80\0\0\0\0\0\0\x0e\x42\xa1\xff\xfe\x11\x22\x33", 16);
	assert_int_equal(ibv_query_gid(ctx, 1, 1, &gid), 0);
	assert_int_equal(gid.global.interface_id, 0);
	assert_int_equal(ibv_query_gid(ctx, 1, 2, &gid), -1);
	assert_int_equal(errno, EIO);
	assert_int_equal(ibv_query_gid(ctx, 1, 3, &gid), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(ibv_query_gid(ctx, 2, 0, &gid), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(ibv_query_gid(ctx, 1, -1, &gid), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(ibv_query_pkey(ctx, 1, 0, &pkey), 0);
	assert_int_equal(pkey, 0xffff);
	assert_int_equal(ibv_query_pkey(ctx, 1, 1, &pkey), -1);
	assert_int_equal(errno, EIO);
	assert_int_equal(ibv_query_pkey(ctx, 1, 2, &pkey), -1);
	assert_int_equal(errno, EINVAL);
	fake_file("/sys/class/infiniband/mlx5_0/node_guid", NULL); /* the device went */
	assert_int_equal(ibv_query_pkey(ctx, 1, 2, &pkey), -1);
	assert_int_equal(errno, EIO);
	assert_int_equal(ibv_close_device(ctx), 0);
}

/* A capability is a bit of a page, counted from its start: facts: mlx5_ifc.h of Linux. */
static void set_cap(unsigned int bit, unsigned int width, uint32_t value)
{
	for (unsigned int i = 0; i < width; i++)
		if (value >> (width - 1 - i) & 1)
			caps[16 + (bit + i) / 8] |= (uint8_t)(0x80 >> (bit + i) % 8);
}

static void mlx5_attributes(void **state)
{
	struct mlx5dv_context attr = { .comp_mask = ~UINT64_C(0) };
	struct ibv_context *ctx;

	fake.supports = 1;
	ctx = open_one();
	memset(resp, 0, sizeof(resp));
	memset(driver, 0, sizeof(driver));
	memset(caps, 0, sizeof(caps));
	fake.hook = tell;
	assert_int_equal(mlx5dv_query_device(ctx, &attr), 0);
	assert_int_equal(attr.version, 0);
	assert_int_equal(attr.flags, 1 << 8); /* BlueFlame: there are registers */
	/* All but the clocks, which are not mapped, and the ports of a LAG, which is none. */
	assert_int_equal(attr.comp_mask, 0x3fff & ~(MLX5DV_CONTEXT_MASK_CLOCK_INFO_UPDATE | MLX5DV_CONTEXT_MASK_HCA_CORE_CLOCK |
						   MLX5DV_CONTEXT_MASK_NUM_LAG_PORTS));
	assert_int_equal(attr.max_dynamic_bfregs, 1024);
	assert_int_equal(attr.sig_caps.block_prot, 0);
	assert_int_equal(attr.max_wr_memcpy_length, 0);
	set_cap(535, 1, 1); /* sho alone does not do */
	attr.comp_mask = MLX5DV_CONTEXT_MASK_SIGNATURE_OFFLOAD;
	assert_int_equal(mlx5dv_query_device(ctx, &attr), 0);
	assert_int_equal(attr.comp_mask, MLX5DV_CONTEXT_MASK_SIGNATURE_OFFLOAD);
	assert_int_equal(attr.sig_caps.block_size, 0);
	set_cap(1152, 1, 1);  /* sigerr_domain_and_sig_type */
	set_cap(339, 1, 1);   /* dma_mmo_sq */
	set_cap(107, 5, 20);  /* log_dma_mmo_max_size */
	set_cap(636, 4, 2);   /* num_lag_ports */
	attr.comp_mask = MLX5DV_CONTEXT_MASK_SIGNATURE_OFFLOAD | MLX5DV_CONTEXT_MASK_WR_MEMCPY_LENGTH |
			 MLX5DV_CONTEXT_MASK_NUM_LAG_PORTS;
	assert_int_equal(mlx5dv_query_device(ctx, &attr), 0);
	assert_int_equal(attr.sig_caps.block_prot, MLX5DV_SIG_PROT_CAP_T10DIF | MLX5DV_SIG_PROT_CAP_CRC);
	assert_int_equal(attr.sig_caps.crc_type, MLX5DV_SIG_CRC_TYPE_CAP_CRC32);
	assert_int_equal(attr.max_wr_memcpy_length, 1 << 20);
	assert_int_equal(attr.num_lag_ports, 2);
	assert_int_equal(attr.comp_mask, MLX5DV_CONTEXT_MASK_SIGNATURE_OFFLOAD | MLX5DV_CONTEXT_MASK_WR_MEMCPY_LENGTH |
						 MLX5DV_CONTEXT_MASK_NUM_LAG_PORTS);
	put32(driver + 8 + 8 + 16, 64); /* cqe_comp_caps.max_num, after tso_caps and rss_caps */
	attr.comp_mask = MLX5DV_CONTEXT_MASK_CQE_COMPRESION;
	attr.max_dynamic_bfregs = 7; /* not asked for: stays */
	assert_int_equal(mlx5dv_query_device(ctx, &attr), 0);
	assert_int_equal(attr.cqe_comp_caps.max_num, 64);
	assert_int_equal(attr.max_dynamic_bfregs, 7);
	fake.hook = NULL;
	fake.err = EIO;
	assert_int_equal(mlx5dv_query_device(ctx, &attr), EIO);
	assert_int_equal(ibv_close_device(ctx), 0);
}

int attribute_tests(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(device), TEST(device_extended), TEST(port), TEST(tables_of_a_port), TEST(mlx5_attributes),
	};

	return cmocka_run_group_tests_name("uverbs: attributes", tests, NULL, NULL);
}
