/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Commands of verbs that the kernel numbers as it did before its ioctl: carried by that (INVOKE_WRITE, Linux 5.0), else by
 * write(2). Facts: <rdma/ib_user_verbs.h>.
 */
#include <rdma/ib_user_verbs.h>
#include <unistd.h>

#include "uverbs.h"

#define IN_MAX 64u   /* of the commands here */
#define OUT_MAX 256u

static int by_ioctl(int fd, const struct uverbs_verb *v)
{
	UVERBS_CMD(4) cmd;
	unsigned int n = 0;

	cmd.attrs[n++] = uverbs_const(UVERBS_ATTR_WRITE_CMD, v->command);
	cmd.attrs[n++] = uverbs_in(UVERBS_ATTR_CORE_IN, v->in, v->inlen);
	if (v->out)
		cmd.attrs[n++] = uverbs_out(UVERBS_ATTR_CORE_OUT, v->out, v->outlen);
	if (v->driver_out)
		cmd.attrs[n++] = uverbs_out(UVERBS_ATTR_UHW_OUT, v->driver_out, v->driver_outlen);
	return uverbs_ioctl(fd, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, &cmd.hdr, n);
}

/* The driver's answer follows the core's; the address of both is the first field of the request. */
static int by_write(int fd, const struct uverbs_verb *v)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		uint8_t in[IN_MAX];
	} cmd = { .hdr = { .command = v->command } };
	uint8_t out[OUT_MAX] = { 0 };
	uint64_t response = (uintptr_t)out;
	size_t outlen = v->outlen + v->driver_outlen, len = sizeof(cmd.hdr) + v->inlen;

	if (v->command & IB_USER_VERBS_CMD_FLAG_EXTENDED || v->inlen > IN_MAX || outlen > OUT_MAX)
		return EOPNOTSUPP;
	memcpy(cmd.in, v->in, v->inlen);
	if (v->out)
		memcpy(cmd.in, &response, sizeof(response));
	cmd.hdr.in_words = (uint16_t)(len / 4);
	cmd.hdr.out_words = (uint16_t)(outlen / 4);
	if (write(fd, &cmd, len) != (ssize_t)len)
		return errno;
	if (v->out)
		memcpy(v->out, out, v->outlen);
	if (v->driver_out)
		memcpy(v->driver_out, out + v->outlen, v->driver_outlen);
	return 0;
}

int uverbs_verb(const struct ibv_context *ctx, const struct uverbs_verb *v)
{
	int err = by_ioctl(ctx->cmd_fd, v);

	return err == ENOTTY || err == EPROTONOSUPPORT ? by_write(ctx->cmd_fd, v) : err;
}
