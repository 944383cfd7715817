/* SPDX-License-Identifier: BSD-2-Clause */
/* mlx5dv_devx_general_cmd: lengths, opcode list, tunnel id, uid (devx-abi 4 and 8). */
#include "old_conf.h"

struct fixture {
	struct ibv_device *dev;
	struct ibv_context *ctx;
};

static int up(void **state)
{
	static struct fixture f;

	f.dev = odx_soft_create("");
	f.ctx = open_devx(f.dev);
	*state = &f;
	return 0;
}

static int down(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(ibv_close_device(f->ctx), 0);
	return odx_soft_destroy(f->dev);
}

static int nop(struct ibv_context *ctx, size_t inlen, size_t outlen)
{
	uint8_t *in = calloc(1, 1 << 17), *out = calloc(1, 1 << 17);
	int err;

	put16(in, 0, NOP);
	err = mlx5dv_devx_general_cmd(ctx, in, inlen, out, outlen);
	free(in);
	free(out);
	return err;
}

static void nop_succeeds(void **state)
{
	struct fixture *f = *state;
	uint8_t in[16] = { 0 }, out[16];

	memset(out, 0xaa, sizeof(out));
	put16(in, 0, NOP);
	assert_int_equal(mlx5dv_devx_general_cmd(f->ctx, in, sizeof(in), out, sizeof(out)), 0);
	assert_int_equal(status_of(out), 0);
	assert_int_equal(syndrome_of(out), 0);
}

/* devx-abi 8: lengths above 65535 are EINVAL without an ioctl, below 16 EINVAL from the kernel. */
static void inbox_lengths(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(nop(f->ctx, 0, 16), EINVAL);
	assert_int_equal(nop(f->ctx, 15, 16), EINVAL);
	assert_int_equal(nop(f->ctx, 16, 16), 0);
	assert_int_equal(nop(f->ctx, 17, 16), 0);
	assert_int_equal(nop(f->ctx, 65535, 16), 0);
	assert_int_equal(nop(f->ctx, 65536, 16), EINVAL);
	assert_int_equal(nop(f->ctx, SIZE_MAX, 16), EINVAL);
}

static void outbox_lengths(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(nop(f->ctx, 16, 0), EINVAL);
	assert_int_equal(nop(f->ctx, 16, 15), EINVAL);
	assert_int_equal(nop(f->ctx, 16, 17), 0);
	assert_int_equal(nop(f->ctx, 16, 65535), 0);
	assert_int_equal(nop(f->ctx, 16, 65536), EINVAL);
	assert_int_equal(nop(f->ctx, 16, SIZE_MAX), EINVAL);
}

static void null_arguments(void **state)
{
	struct fixture *f = *state;
	uint8_t in[16] = { 0 }, out[16];

	put16(in, 0, NOP);
	assert_int_equal(mlx5dv_devx_general_cmd(NULL, in, sizeof(in), out, sizeof(out)), EINVAL);
	assert_int_equal(mlx5dv_devx_general_cmd(f->ctx, NULL, sizeof(in), out, sizeof(out)), EINVAL);
	assert_int_equal(mlx5dv_devx_general_cmd(f->ctx, in, sizeof(in), NULL, sizeof(out)), EINVAL);
}

static int general(struct fixture *f, uint16_t opcode, uint16_t tunnel, uint8_t *out, size_t outlen)
{
	uint8_t in[64] = { 0 };

	put16(in, 0, opcode);
	put16(in, 4, tunnel);
	return mlx5dv_devx_general_cmd(f->ctx, in, sizeof(in), out, outlen);
}

/* devx-abi 4: the general list. What passes the list and the device does not know fails there: EREMOTEIO. */
static void listed_opcodes_reach_the_device(void **state)
{
	static const uint16_t listed[] = {
		0x100, 0x762, 0x752, 0x101, 0x10a, 0x750, 0x754, 0x760, 0x76f, 0x770, 0x80a, 0x80d, 0x822, 0x824, 0x826, 0x842,
		0x740, 0xb00, 0xb0c, 0xbff, 0xcff,
	};
	uint8_t out[8192];

	for (size_t i = 0; i < sizeof(listed) / sizeof(listed[0]); i++) {
		int err = general(*state, listed[i], 0, out, sizeof(out));

		assert_true(err == 0 || err == EREMOTEIO);
		assert_true((err == 0) == (status_of(out) == 0));
	}
}

static void unlisted_opcodes_are_einval(void **state)
{
	static const uint16_t unlisted[] = {
		0, 1, ACCESS_REG, 0xd00, 0xafe, CREATE_GENERAL_OBJECT, QUERY_FLOW_COUNTER, ALLOC_PD, DEALLOC_PD, ALLOC_FLOW_COUNTER,
		DEALLOC_FLOW_COUNTER, CREATE_UCTX, CREATE_UMEM, 0xaff, 0xd01, 0x751, 0x823, 0xffff,
	};
	uint8_t out[64];

	for (size_t i = 0; i < sizeof(unlisted) / sizeof(unlisted[0]); i++) {
		memset(out, 0x5a, sizeof(out));
		assert_int_equal(general(*state, unlisted[i], 0, out, sizeof(out)), EINVAL);
		assert_int_equal(out[0], 0x5a); /* refused before anything happens */
	}
}

/* devx-abi 4: a tunnelled command needs a capability that the device does not have. */
static void tunnel_id_is_einval(void **state)
{
	uint8_t out[64];

	assert_int_equal(general(*state, NOP, 1, out, sizeof(out)), EINVAL);
	assert_int_equal(general(*state, NOP, 0xffff, out, sizeof(out)), EINVAL);
}

/* devx-abi 4: EREMOTEIO with the outbox copied. */
static void firmware_failure_is_eremoteio_with_outbox(void **state)
{
	struct fixture *f = *state;
	uint8_t in[16] = { 0 }, out[16];

	memset(out, 0, sizeof(out));
	put16(in, 0, NOP);
	assert_int_equal(odx_soft_fault(f->dev, "opcode=0x80d nth=1 status=0x5 syndrome=0x2c4154"), 0);
	assert_int_equal(mlx5dv_devx_general_cmd(f->ctx, in, sizeof(in), out, sizeof(out)), EREMOTEIO);
	assert_int_equal(status_of(out), 5);
	assert_int_equal(syndrome_of(out), 0x2c4154);
	assert_int_equal(mlx5dv_devx_general_cmd(f->ctx, in, sizeof(in), out, sizeof(out)), 0);
	assert_int_equal(odx_soft_fault(f->dev, "clear"), 0);
}

/* devx-abi 8: a positive errno, and errno is set too. */
static void errno_is_set_beside_the_result(void **state)
{
	struct fixture *f = *state;

	errno = 0;
	assert_int_equal(nop(f->ctx, 15, 16), EINVAL);
	assert_int_equal(errno, EINVAL);
}

/* devx-abi 4: the kernel overwrites the inbox's uid; the program's own inbox stays as it is. */
static void uid_of_the_inbox_is_overwritten(void **state)
{
	struct fixture *f = *state;
	uint8_t in[16] = { 0 }, out[16], copy[16];

	put16(in, 0, NOP);
	put16(in, 2, 0x77);
	memcpy(copy, in, sizeof(in));
	assert_int_equal(mlx5dv_devx_general_cmd(f->ctx, in, sizeof(in), out, sizeof(out)), 0);
	assert_memory_equal(in, copy, sizeof(in));
}

static void stale_context_is_ebadf(void **state)
{
	struct ibv_device *dev = odx_soft_create("");
	struct ibv_context *ctx = open_devx(dev);

	assert_int_equal(ibv_close_device(ctx), 0);
	assert_int_equal(nop(ctx, 16, 16), EBADF);
	errno = 0;
	assert_null(mlx5dv_devx_create_cmd_comp(ctx));
	assert_int_equal(errno, EBADF);
	assert_int_equal(odx_soft_destroy(dev), 0);
}

/* devx-abi 3: a vector out of range is EINVAL on newer kernels. */
static void query_eqn(void **state)
{
	struct fixture *f = *state;
	uint32_t eqn = 0xdead;

	assert_int_equal(mlx5dv_devx_query_eqn(f->ctx, 0, &eqn), 0);
	assert_int_not_equal(eqn, 0xdead);
	assert_true(f->ctx->num_comp_vectors > 0);
	assert_int_equal(mlx5dv_devx_query_eqn(f->ctx, (uint32_t)f->ctx->num_comp_vectors - 1, &eqn), 0);
	eqn = 0xdead;
	assert_int_equal(mlx5dv_devx_query_eqn(f->ctx, (uint32_t)f->ctx->num_comp_vectors, &eqn), EINVAL);
	assert_int_equal(mlx5dv_devx_query_eqn(f->ctx, UINT32_MAX, &eqn), EINVAL);
	assert_int_equal(eqn, 0xdead);
	assert_int_equal(mlx5dv_devx_query_eqn(f->ctx, 0, NULL), EINVAL);
	assert_int_equal(mlx5dv_devx_query_eqn(NULL, 0, &eqn), EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nop_succeeds),
		cmocka_unit_test(inbox_lengths),
		cmocka_unit_test(outbox_lengths),
		cmocka_unit_test(null_arguments),
		cmocka_unit_test(listed_opcodes_reach_the_device),
		cmocka_unit_test(unlisted_opcodes_are_einval),
		cmocka_unit_test(tunnel_id_is_einval),
		cmocka_unit_test(firmware_failure_is_eremoteio_with_outbox),
		cmocka_unit_test(errno_is_set_beside_the_result),
		cmocka_unit_test(uid_of_the_inbox_is_overwritten),
		cmocka_unit_test(stale_context_is_ebadf),
		cmocka_unit_test(query_eqn),
	};

	return cmocka_run_group_tests(tests, up, down);
}
