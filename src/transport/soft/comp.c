/* SPDX-License-Identifier: BSD-2-Clause */
/* Completions: commands in flight, their budget, and the records that they become. */
#include <errno.h>
#include <string.h>

#include "device.h"
#include "pool.h"
#include "prm.h"

#define BUDGET 1048576u    /* bytes of outlen between submit and get: MAX_ASYNC_BYTES_IN_USE of Linux, devx.c */
#define COMMANDS 1048576u  /* so that commands of outlen 0, which the budget does not see, have a bound too */

struct soft_comp {
	struct fdq q;                    /* its lock guards all below */
	struct hca_cmd *head, *tail;     /* records, oldest first */
	uint32_t charged;
	uint32_t outstanding;            /* in flight or queued */
	struct pool pool;
	void *slab_link;
};

struct slab soft_comps = SLAB_INIT(struct soft_comp, (size_t)1 << 28);

static size_t box_size(const struct hca_cmd *cmd)
{
	return cmd->inlen > cmd->outlen ? cmd->inlen : cmd->outlen;
}

static struct hca_cmd *pop(struct soft_comp *c)
{
	struct hca_cmd *r = c->head;

	c->head = r->next;
	c->charged -= r->outlen;
	c->outstanding--;
	if (!c->head)
		fdq_emptied(&c->q);
	return r;
}

static bool comp_empty(const struct fdq *q)
{
	return !((const struct soft_comp *)q)->head;
}

/* The oldest record, if it fits. */
static ssize_t comp_take(struct fdq *q, void *resp, size_t len)
{
	struct soft_comp *c = (struct soft_comp *)q;
	struct hca_cmd *r = c->head;
	struct soft_cmd *cmd;
	size_t n;

	if (!r)
		return -EAGAIN;
	cmd = soft_cmd_of(r);
	n = sizeof(cmd->wr_id) + r->outlen;
	if (len < n)
		return -ENOSPC;
	pop(c);
	memcpy(resp, &cmd->wr_id, sizeof(cmd->wr_id));
	memcpy((char *)resp + sizeof(cmd->wr_id), r->box, r->outlen);
	pool_put(&c->pool, cmd, box_size(r));
	return (ssize_t)n;
}

static void comp_drop(struct fdq *q)
{
	struct soft_comp *c = (struct soft_comp *)q;

	while (c->head) {
		struct hca_cmd *r = pop(c);

		pool_put(&c->pool, soft_cmd_of(r), box_size(r));
	}
}

static void comp_fini(struct fdq *q)
{
	struct soft_comp *c = (struct soft_comp *)q;

	c->head = NULL;
	pool_destroy(&c->pool);
}

static const struct fdq_ops comp_ops = { comp_empty, comp_take, comp_drop, NULL, comp_fini };

struct mlx5dv_devx_cmd_comp *soft_comp_create(struct ibv_context *ibv)
{
	struct soft_context *ctx = soft_ctx(ibv);
	struct soft_comp *c = NULL;
	int err = soft_check_context(ibv);

	if (!err && atomic_load(&ctx->dev->removed))
		err = EIO;
	if (!err && !(c = slab_alloc(&soft_comps)))
		err = ENOMEM;
	if (!err) {
		c->head = c->tail = NULL;
		c->charged = c->outstanding = 0;
		c->pool = (struct pool){ .at = NULL };
		err = fdq_create(&c->q, &comp_ops, ctx);
	}
	if (!err)
		return &c->q.comp;
	if (c)
		slab_free(&soft_comps, c);
	errno = err;
	return NULL;
}

static struct soft_comp *comp_of(const struct mlx5dv_devx_cmd_comp *pub)
{
	return slab_owns(&soft_comps, pub) ? (struct soft_comp *)pub : (struct soft_comp *)fdq_by_fd(pub->fd, &comp_ops);
}

bool soft_owns_comp(const struct mlx5dv_devx_cmd_comp *pub)
{
	return pub && comp_of(pub);
}

/* What the driver gives for a command that the device did not answer. */
static void aborted_outbox(const struct soft_comp *c, struct hca_cmd *cmd)
{
	uint8_t hdr[PRM_HDR_SZ] = { 0 };
	struct prm_box b = prm_out(hdr, sizeof(hdr));

	if (!c->q.dev->spec.kernel_quirks) {
		PRM_SET(&b, nop_out, status, PRM_STAT_ABORTED);
		PRM_SET(&b, nop_out, syndrome, PRM_SYNDROME_ABORTED);
	}
	memset(cmd->box, 0, cmd->outlen);
	memcpy(cmd->box, hdr, cmd->outlen < sizeof(hdr) ? cmd->outlen : sizeof(hdr));
}

void soft_comp_push(struct soft_comp *c, struct hca_cmd *head, struct hca_cmd *tail, unsigned int n)
{
	for (struct hca_cmd *cmd = head; cmd; cmd = cmd->next)
		if (cmd->end != HCA_DONE)
			aborted_outbox(c, cmd);
	pthread_mutex_lock(&c->q.lock);
	if (c->head)
		c->tail->next = head;
	else
		c->head = head;
	c->tail = tail;
	c->q.in_flight -= n;
	/* As the kernel is: what a removed device, or a closed context, has queued is gone. */
	if (c->q.dev->spec.kernel_quirks && c->q.ending)
		comp_drop(&c->q);
	else
		fdq_filled(&c->q);
	fdq_arrived(&c->q);
	pthread_mutex_unlock(&c->q.lock);
}

void soft_comp_destroy(struct mlx5dv_devx_cmd_comp *pub)
{
	struct soft_comp *c = comp_of(pub);

	/* A duplicate's struct is the program's own. */
	if (c && &c->q.comp == pub && fdq_destroy(&c->q))
		slab_free(&soft_comps, c);
}

int soft_comp_get(struct mlx5dv_devx_cmd_comp *pub, struct mlx5dv_devx_async_cmd_hdr *resp, size_t len)
{
	ssize_t n = fdq_get((struct fdq *)comp_of(pub), resp, len);

	return n < 0 ? (int)-n : 0;
}

/* Lock held: room in the budget, a device that takes commands, and memory for this one. */
static int charge(struct soft_comp *c, size_t inlen, size_t outlen, bool permit, struct soft_cmd **cmd)
{
	int err = 0;

	if (c->charged + outlen > BUDGET)
		return EAGAIN;
	if (c->outstanding >= COMMANDS)
		return ENOMEM;
	if (c->q.ending)
		return EIO;
	if (permit && !soft_permit_try(c->q.dev))
		return EBUSY;
	if (atomic_load(&c->q.dev->stalled))
		err = EAGAIN;
	else if (!(*cmd = pool_get(&c->pool, inlen > outlen ? inlen : outlen)))
		err = ENOMEM;
	if (err) {
		if (permit)
			soft_permit_back(c->q.dev);
		return err;
	}
	c->charged += (uint32_t)outlen;
	c->q.in_flight++;
	c->outstanding++;
	return 0;
}

static int check_query(struct soft_context *ctx, const struct soft_obj *obj, const void *in, size_t inlen, size_t outlen)
{
	if (atomic_load(&ctx->dev->removed))
		return EIO;
	if (!in || inlen < PRM_HDR_SZ || inlen > PRM_BOX_MAX || outlen > PRM_BOX_MAX)
		return EINVAL;
	if (rules_tunnel_id(in) || !rules_is_query(in) || !rules_id_inside(in, inlen) ||
	    !rules_names(in, inlen, obj->key, obj->n_ids))
		return EINVAL;
	return 0;
}

static int submit(struct soft_context *ctx, struct soft_comp *c, const void *in, size_t inlen, size_t outlen, uint64_t wr_id)
{
	struct prm_box b = prm_in(in, inlen);
	uint16_t opcode = (uint16_t)PRM_GET(&b, nop_in, opcode);
	struct soft_cmd *cmd = NULL;
	int err;

	pthread_mutex_lock(&c->q.lock);
	if (c->q.destroyed || c->q.ctx != ctx)
		err = EBADF;
	else
		err = charge(c, inlen, outlen, soft_wants_permit(opcode), &cmd);
	pthread_mutex_unlock(&c->q.lock);
	if (err)
		return err;
	cmd->comp = c;
	cmd->wr_id = wr_id;
	cmd->hca.inlen = (uint32_t)inlen;
	cmd->hca.outlen = (uint16_t)outlen;
	cmd->hca.async = 1;
	memcpy(cmd->hca.box, in, inlen);
	rules_stamp_uid(cmd->hca.box, ctx->uid);
	soft_submit(ctx->dev, cmd);
	return 0;
}

/* Is it alive, and of this context? */
static bool comp_fits(struct soft_comp *c, const struct soft_context *ctx)
{
	bool fits;

	pthread_mutex_lock(&c->q.lock);
	fits = !c->q.destroyed && c->q.ctx == ctx;
	pthread_mutex_unlock(&c->q.lock);
	return fits;
}

/* The order of the checks is the kernel's: device, handles, mailbox, opcode and id, budget, then what the driver says. */
int soft_obj_query_async(struct mlx5dv_devx_obj *pub, const void *in, size_t inlen, size_t outlen, uint64_t wr_id,
			 struct mlx5dv_devx_cmd_comp *comp)
{
	struct soft_comp *c = comp_of(comp);
	struct soft_context *ctx;
	struct soft_obj *obj;
	int err = soft_obj_read_lock(pub, &ctx, &obj);

	if (err)
		return err;
	if (!c && !atomic_load(&ctx->dev->removed)) {
		err = comp->fd == -1 ? EINVAL : EBADF; /* libmlx5 leaves fd -1 out of its ioctl, and the kernel misses it */
		goto unlock;
	}
	err = EIO;
	if (c && c->q.fork_gen != soft_fork_gen)
		goto unlock; /* of the parent: its lock may have been held at the fork */
	err = check_query(ctx, obj, in, inlen, outlen);
	if (err == EINVAL && !comp_fits(c, ctx))
		err = EBADF; /* submit would say so, had it come that far */
	if (!err)
		err = submit(ctx, c, in, inlen, outlen, wr_id);
unlock:
	soft_obj_read_unlock(obj);
	return err;
}
