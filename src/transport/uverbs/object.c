/* SPDX-License-Identifier: BSD-2-Clause */
/* DEVX objects. The kernel knows what each is, which commands may name it, and what ends it; a handle here is its number. */
#include "prm.h"
#include "uverbs.h"

bool uverbs_id_inside(struct uverbs_obj *obj, const void *in, size_t inlen)
{
	const uint8_t *p = in;
	const struct prm_command *c = prm_command((uint16_t)(p[0] << 8 | p[1]));
	size_t need = c ? (c->id_bit + c->id_width + 7u) / 8 : 0;
	uint16_t opcode;

	if (inlen < need)
		return false;
	memcpy(&opcode, in, sizeof(opcode));
	__atomic_store_n(&obj->seen, (uint64_t)need << 16 | opcode, __ATOMIC_RELAXED);
	return true;
}

struct mlx5dv_devx_obj *uverbs_obj_create(struct ibv_context *ibv, const void *in, size_t inlen, void *out, size_t outlen)
{
	struct uverbs_obj *obj = NULL;
	int err = uverbs_check_context(ibv);
	UVERBS_CMD(3) cmd;

	if (!err)
		err = uverbs_check_box(in, inlen);
	if (!err)
		err = uverbs_check_box(out, outlen);
	if (err)
		goto fail;
	obj = slab_alloc(&uverbs_objs); /* first: after the command there must be nothing that can fail */
	if (!obj)
		return NULL;
	obj->opcode = (uint32_t)(((const uint8_t *)in)[0] << 8 | ((const uint8_t *)in)[1]); /* before out, which may lie there */
	cmd.attrs[0] = uverbs_idr(MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE, 0);
	cmd.attrs[1] = uverbs_in(MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN, in, inlen);
	cmd.attrs[2] = uverbs_out(MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT, out, outlen);
	err = uverbs_ioctl(ibv->cmd_fd, MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_CREATE, &cmd.hdr, 3);
	if (err)
		goto fail;
	obj->handle = (uint32_t)cmd.attrs[0].data;
	uverbs_child_add(uverbs_ctx(ibv), &obj->child, UVERBS_OBJ, NULL);
	return &obj->pub;

fail:
	if (obj)
		slab_free(&uverbs_objs, obj);
	errno = err;
	return NULL;
}

/* Query and modify have the same attributes, with the same numbers. */
static int command_on(struct mlx5dv_devx_obj *obj, uint16_t method, const void *in, size_t inlen, void *out, size_t outlen)
{
	UVERBS_CMD(3) cmd;
	int err;
	struct ibv_context *ibv = uverbs_obj_context(obj, &err);

	if (!err)
		err = uverbs_check_box(in, inlen);
	if (!err)
		err = uverbs_check_box(out, outlen);
	if (!err && !uverbs_id_seen((struct uverbs_obj *)obj, in, inlen) && !uverbs_id_inside((struct uverbs_obj *)obj, in, inlen))
		err = EINVAL;
	if (err)
		return err;
	cmd.attrs[0] = uverbs_idr(MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE, ((struct uverbs_obj *)obj)->handle);
	cmd.attrs[1] = uverbs_in(MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN, in, inlen);
	cmd.attrs[2] = uverbs_out(MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT, out, outlen);
	return uverbs_ioctl(ibv->cmd_fd, MLX5_IB_OBJECT_DEVX_OBJ, method, &cmd.hdr, 3);
}

int uverbs_obj_query(struct mlx5dv_devx_obj *obj, const void *in, size_t inlen, void *out, size_t outlen)
{
	return command_on(obj, MLX5_IB_METHOD_DEVX_OBJ_QUERY, in, inlen, out, outlen);
}

int uverbs_obj_modify(struct mlx5dv_devx_obj *obj, const void *in, size_t inlen, void *out, size_t outlen)
{
	_Static_assert((int)MLX5_IB_ATTR_DEVX_OBJ_MODIFY_HANDLE == (int)MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE &&
		       (int)MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_IN == (int)MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN &&
		       (int)MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_OUT == (int)MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT, "command_on()");

	return command_on(obj, MLX5_IB_METHOD_DEVX_OBJ_MODIFY, in, inlen, out, outlen);
}

/* Its number is free for another object once the kernel has ended it: two threads must not both ask. */
int uverbs_obj_destroy(struct mlx5dv_devx_obj *pub)
{
	struct uverbs_obj *obj = (struct uverbs_obj *)pub;
	UVERBS_CMD(1) cmd;
	int err;
	struct ibv_context *ibv = uverbs_obj_context(pub, &err);

	if (!err)
		err = uverbs_end_begin(&obj->child);
	if (err)
		return err;
	cmd.attrs[0] = uverbs_idr(MLX5_IB_ATTR_DEVX_OBJ_DESTROY_HANDLE, obj->handle);
	err = uverbs_ioctl(ibv->cmd_fd, MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_DESTROY, &cmd.hdr, 1);
	uverbs_end(&obj->child, !err);
	return err;
}
