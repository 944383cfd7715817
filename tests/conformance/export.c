/* SPDX-License-Identifier: BSD-2-Clause */
/* Export and import: more than one handle for an object. */
#define OPENDEVX_EXPORT_SIZES
#include "conf.h"

#include <sys/wait.h>

#pragma weak _mlx5dv_get_export_sizes
#pragma weak mlx5dv_devx_obj_export
#pragma weak mlx5dv_devx_obj_import
#pragma weak mlx5dv_devx_obj_unimport
#pragma weak mlx5dv_devx_umem_export
#pragma weak mlx5dv_devx_umem_import
#pragma weak mlx5dv_devx_umem_unimport

#define PAGE 4096u
#define ROOM 256u /* more than any library writes: checked */

static void need_calls(void)
{
	struct mlx5dv_export_sizes sizes;

	if (!_mlx5dv_get_export_sizes)
		SKIP("the library has no export (rdma-core 63)");
	mlx5dv_get_export_sizes(&sizes);
	CHECK(sizes.devx_obj_attrs_size && sizes.devx_obj_attrs_size <= ROOM);
	CHECK(sizes.devx_umem_attrs_size && sizes.devx_umem_attrs_size <= ROOM);
}

static int query(struct mlx5dv_devx_obj *obj, uint32_t id)
{
	uint8_t out[OUTLEN];

	return query_counters(obj, id, 1, out, sizeof(out));
}

static struct mlx5dv_devx_obj *import(struct ibv_context *ctx, struct mlx5dv_devx_obj *obj)
{
	uint8_t data[ROOM];
	struct mlx5dv_devx_obj *other;

	need_calls();
	CHECK_EQ(mlx5dv_devx_obj_export(obj, data), 0);
	other = mlx5dv_devx_obj_import(ctx, data);
	CHECK(other != NULL);
	CHECK(other != obj);
	return other;
}

CASE(sizes_are_enough, "mlx5dv_get_export_sizes(3)", ANY, "Export writes no more than mlx5dv_get_export_sizes says.")
{
	struct mlx5dv_export_sizes sizes;
	struct rig r = rig();
	uint8_t data[ROOM];
	struct mlx5dv_devx_umem *umem = reg(r.ctx, zeroed(PAGE), PAGE, IBV_ACCESS_LOCAL_WRITE);

	need_calls();
	mlx5dv_get_export_sizes(&sizes);
	memset(data, 0xa5, sizeof(data));
	CHECK_EQ(mlx5dv_devx_obj_export(r.obj, data), 0);
	for (size_t i = sizes.devx_obj_attrs_size; i < sizeof(data); i++)
		CHECK_EQ(data[i], 0xa5);
	memset(data, 0xa5, sizeof(data));
	CHECK_EQ(mlx5dv_devx_umem_export(umem, data), 0);
	for (size_t i = sizes.devx_umem_attrs_size; i < sizeof(data); i++)
		CHECK_EQ(data[i], 0xa5);
}

CASE(imported_handle_is_the_same_object, "mlx5dv_devx_obj_import(3)", ANY,
     "An imported handle queries the object, at once and asynchronously; giving it up leaves the object alone.")
{
	struct rig r = rig();
	struct mlx5dv_devx_obj *other = import(r.ctx, r.obj);
	uint8_t in[COUNTER_IN];
	struct record rec;

	CHECK_EQ(query(other, r.id), 0);
	query_inbox(in, r.id, 1);
	CHECK_EQ(mlx5dv_devx_obj_query_async(other, in, sizeof(in), OUTLEN, 77, r.comp), 0);
	get_ready(r.comp, &rec);
	CHECK_EQ(rec.wr_id, 77);
	CHECK_EQ(status_of(rec.out), 0);
	mlx5dv_devx_obj_unimport(other);
	CHECK_EQ(query(r.obj, r.id), 0);
}

CASE(destroyed_through_the_import, "mlx5dv_devx_obj_import(3)", OURS,
     "A destroy through the imported handle ends the object for the first one too: ENOENT, until that is given up.")
{
	struct rig r = rig();
	struct mlx5dv_devx_obj *other = import(r.ctx, r.obj), *third = import(r.ctx, r.obj);
	uint8_t data[ROOM];

	CHECK_EQ(mlx5dv_devx_obj_destroy(other), 0);
	disown(r.obj);
	CHECK_EQ(query(r.obj, r.id), ENOENT);
	CHECK_EQ(query(third, r.id), ENOENT);
	CHECK_EQ(mlx5dv_devx_obj_destroy(r.obj), ENOENT);
	CHECK_EQ(mlx5dv_devx_obj_destroy(third), ENOENT);
	CHECK_EQ(mlx5dv_devx_obj_export(r.obj, data), ENOENT);
	mlx5dv_devx_obj_unimport(third);
	mlx5dv_devx_obj_unimport(r.obj);
	mlx5dv_devx_obj_unimport(r.obj);
}

CASE(destroyed_through_the_first, "mlx5dv_devx_obj_import(3)", OURS,
     "When the exporter destroys the object, an imported handle gives ENOENT, also when its memory holds a new object.")
{
	struct rig r = rig();
	struct mlx5dv_devx_obj *other = import(r.ctx, r.obj);
	uint8_t data[ROOM];
	uint32_t id;

	CHECK_EQ(mlx5dv_devx_obj_export(r.obj, data), 0);
	CHECK_EQ(destroy(r.obj), 0);
	CHECK_EQ(query(other, r.id), ENOENT);
	CHECK_NULL(mlx5dv_devx_obj_import(r.ctx, data), ENOENT);
	for (int i = 0; i < 64; i++)
		counters(r.ctx, 0, &id);
	CHECK_EQ(query(other, r.id), ENOENT);
	CHECK_NULL(mlx5dv_devx_obj_import(r.ctx, data), ENOENT);
	mlx5dv_devx_obj_unimport(other);
}

CASE(first_handle_given_up, "mlx5dv_devx_obj_unimport(3)", OURS,
     "The first handle may be given up while imported ones go on, and the last of them destroys the object.")
{
	struct rig r = rig();
	struct mlx5dv_devx_obj *other = import(r.ctx, r.obj);

	disown(r.obj);
	mlx5dv_devx_obj_unimport(r.obj);
	CHECK_EQ(query(r.obj, r.id), ENOENT);
	CHECK_EQ(query(other, r.id), 0);
	CHECK_EQ(mlx5dv_devx_obj_destroy(other), 0);
	CHECK_EQ(query(other, r.id), ENOENT);
}

CASE(umem_by_two_handles, "mlx5dv_devx_umem_import(3)", OURS,
     "An imported umem has the number of the first; a dereg through either ends it for both.")
{
	struct ibv_context *ctx = context();
	struct mlx5dv_devx_umem *umem = reg(ctx, zeroed(PAGE), PAGE, IBV_ACCESS_LOCAL_WRITE), *other, *third;
	uint8_t data[ROOM];

	need_calls();
	CHECK_EQ(mlx5dv_devx_umem_export(umem, data), 0);
	other = mlx5dv_devx_umem_import(ctx, data);
	third = mlx5dv_devx_umem_import(ctx, data);
	CHECK(other && third);
	CHECK_EQ(other->umem_id, umem->umem_id);
	mlx5dv_devx_umem_unimport(third);
	CHECK_EQ(mlx5dv_devx_umem_dereg(third), ENOENT);
	CHECK_EQ(mlx5dv_devx_umem_dereg(other), 0);
	disown(umem);
	CHECK_EQ(mlx5dv_devx_umem_dereg(umem), ENOENT);
	CHECK_NULL(mlx5dv_devx_umem_import(ctx, data), ENOENT);
	mlx5dv_devx_umem_unimport(umem);
}

CASE(hostile_bytes_are_refused, "mlx5dv_devx_obj_import(3)", OURS,
     "Bytes that no export wrote, with any one bit turned, or of another kind or context, give EINVAL or ENOENT, and no "
     "object.")
{
	struct ibv_context *other = context();
	struct rig r = rig();
	struct mlx5dv_devx_umem *umem = reg(r.ctx, zeroed(PAGE), PAGE, 0);
	uint8_t data[ROOM] = { 0 }, good[ROOM];
	struct mlx5dv_export_sizes sizes;

	need_calls();
	mlx5dv_get_export_sizes(&sizes);
	CHECK_NULL(mlx5dv_devx_obj_import(r.ctx, data), EINVAL);
	memset(data, 0xff, sizeof(data));
	CHECK_NULL(mlx5dv_devx_obj_import(r.ctx, data), EINVAL);
	CHECK_NULL(mlx5dv_devx_umem_import(r.ctx, data), EINVAL);
	CHECK_EQ(mlx5dv_devx_obj_export(r.obj, good), 0);
	CHECK_NULL(mlx5dv_devx_umem_import(r.ctx, good), EINVAL);
	CHECK_NULL(mlx5dv_devx_obj_import(other, good), EINVAL);
	for (uint32_t bit = 0; bit < sizes.devx_obj_attrs_size * 8; bit++) {
		NOTE("bit %u", bit);
		memcpy(data, good, sizeof(data));
		data[bit / 8] ^= 1u << bit % 8;
		errno = 0;
		CHECK(!mlx5dv_devx_obj_import(r.ctx, data));
		CHECK(errno == EINVAL || errno == ENOENT);
	}
	CHECK_EQ(mlx5dv_devx_umem_export(umem, good), 0);
	CHECK_NULL(mlx5dv_devx_obj_import(r.ctx, good), EINVAL);
	CHECK_NULL(mlx5dv_devx_umem_import(other, good), EINVAL);
	for (uint32_t bit = 0; bit < sizes.devx_umem_attrs_size * 8; bit++) {
		NOTE("umem, bit %u", bit);
		memcpy(data, good, sizeof(data));
		data[bit / 8] ^= 1u << bit % 8;
		errno = 0;
		CHECK(!mlx5dv_devx_umem_import(r.ctx, data));
		CHECK(errno == EINVAL || errno == ENOENT);
	}
}

/* A child that makes everything as its parent did: only the process differs. */
static void in_child(const uint8_t *bytes)
{
	struct ibv_device *dev = odx_soft_create("");
	struct ibv_context *ctx = dev ? mlx5dv_open_device(dev, NULL) : NULL;
	uint8_t in[16] = { 0x09, 0x39 }, out[16], copy[ROOM];

	if (!ctx || !mlx5dv_devx_obj_create(ctx, in, sizeof(in), out, sizeof(out)))
		_exit(1);
	memcpy(copy, bytes, sizeof(copy));
	errno = 0;
	_exit(!mlx5dv_devx_obj_import(ctx, copy) && errno == EINVAL ? 0 : 2);
}

CASE(bytes_of_another_process_are_einval, "mlx5dv_devx_obj_import(3)", SOFT,
     "What another process wrote is no export here: EINVAL.")
{
	struct rig r = rig_soft("");
	uint8_t data[ROOM] = { 0 };
	int status;
	pid_t pid;

	need_calls();
	CHECK_EQ(mlx5dv_devx_obj_export(r.obj, data), 0);
	pid = fork();
	if (!pid)
		in_child(data);
	CHECK(pid > 0);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
}

CASE(close_ends_imported_handles, "mlx5dv_devx_obj_import(3)", OURS,
     "Closing the context ends objects and every handle of them; what is left in the program's hands is stale.")
{
	struct ibv_context *ctx = context();
	struct mlx5dv_devx_obj *obj, *other;
	uint8_t data[ROOM];
	uint32_t id;

	obj = counters(ctx, 0, &id);
	other = import(ctx, obj);
	import(ctx, obj);
	CHECK_EQ(mlx5dv_devx_obj_export(obj, data), 0);
	disown(obj);
	mlx5dv_devx_obj_unimport(obj);
	CHECK_EQ(close_context(ctx), 0);
	CHECK_NE(query(other, id), 0);
	mlx5dv_devx_obj_unimport(other);
	CHECK_NULL(mlx5dv_devx_obj_import(ctx, data), EBADF);
}

CASE(null_is_einval, "deviations 3", OURS, "NULL gives EINVAL; unimport of NULL does nothing.")
{
	struct rig r = rig();
	uint8_t data[ROOM];

	CHECK_EQ(mlx5dv_devx_obj_export(NULL, data), EINVAL);
	CHECK_EQ(mlx5dv_devx_obj_export(r.obj, NULL), EINVAL);
	CHECK_EQ(mlx5dv_devx_umem_export(NULL, data), EINVAL);
	CHECK_NULL(mlx5dv_devx_obj_import(NULL, data), EINVAL);
	CHECK_NULL(mlx5dv_devx_obj_import(r.ctx, NULL), EINVAL);
	CHECK_NULL(mlx5dv_devx_umem_import(NULL, data), EINVAL);
	CHECK_NULL(mlx5dv_devx_umem_import(r.ctx, NULL), EINVAL);
	mlx5dv_devx_obj_unimport(NULL);
	mlx5dv_devx_umem_unimport(NULL);
	_mlx5dv_get_export_sizes(NULL, 12);
}
