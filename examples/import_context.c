/* SPDX-License-Identifier: BSD-2-Clause */
/* A library that is given a context, of rdma-core or not, and sends its own commands beside it. */
#include <err.h>
#include <errno.h>
#include <opendevx/opendevx.h>
#include <stdio.h>

/* Runs NOP in the context. */
static void send_nop(struct ibv_context *theirs)
{
	struct ibv_context *ours = odx_import_context(theirs);
	unsigned char in[16] = { 0x08, 0x0d }, out[16] = { 0 };
	int code;

	if (!ours && errno != EOPNOTSUPP)
		err(1, "odx_import_context");
	/* A software context takes the calls itself. */
	code = mlx5dv_devx_general_cmd(ours ? ours : theirs, in, sizeof(in), out, sizeof(out));
	printf("NOP through %s: %d, status 0x%x\n", ours ? "a context of our own" : "the context", code, out[0]);
	if (code)
		errx(1, "NOP failed");
	if (ours)
		ibv_close_device(ours); /* theirs stays open */
}

int main(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct mlx5dv_context_attr attr = { .flags = MLX5DV_CONTEXT_FLAGS_DEVX };
	struct ibv_context *ctx = NULL;

	for (int i = 0; list && list[i] && !ctx; i++)
		if (mlx5dv_is_supported(list[i]))
			ctx = mlx5dv_open_device(list[i], &attr);
	if (!ctx)
		err(1, "no mlx5 device could be opened");
	ibv_free_device_list(list);
	send_nop(ctx);
	return ibv_close_device(ctx);
}
