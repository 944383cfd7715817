/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Handles: the list that a context has of them, and the ring of those that mean one object. The kernel gives the number of an
 * object that ended to the next one, so that whoever ends an object must be alone with it, and the other handles of it die with it.
 */
#include "uverbs.h"

static uint64_t serials = 1; /* under uverbs_lists */

static void set_context(struct uverbs_child *c, struct ibv_context *ibv)
{
	struct ibv_context **at = NULL;

	switch ((enum uverbs_kind)c->kind) {
	case UVERBS_OBJ:
		at = &((struct uverbs_obj *)((char *)c - offsetof(struct uverbs_obj, child)))->pub.context;
		break;
	case UVERBS_UMEM:
		at = &((struct uverbs_umem *)((char *)c - offsetof(struct uverbs_umem, child)))->pub.context;
		break;
	case UVERBS_PD: /* the program's: names it still when the PD is gone */
	case UVERBS_MR:
		return;
	}
	__atomic_store_n(at, ibv, __ATOMIC_RELEASE);
}

static void give_back(struct uverbs_child *c)
{
	switch ((enum uverbs_kind)c->kind) {
	case UVERBS_OBJ:
		slab_free(&uverbs_objs, (char *)c - offsetof(struct uverbs_obj, child));
		break;
	case UVERBS_UMEM:
		slab_free(&uverbs_umems, (char *)c - offsetof(struct uverbs_umem, child));
		break;
	case UVERBS_PD:
		slab_free(&uverbs_pds, (char *)c - offsetof(struct uverbs_pd, child));
		break;
	case UVERBS_MR:
		slab_free(&uverbs_mrs, (char *)c - offsetof(struct uverbs_mr, child));
		break;
	}
}

void uverbs_child_add(struct uverbs_context *ctx, struct uverbs_child *c, enum uverbs_kind kind, struct uverbs_child *origin)
{
	if (!origin)
		pthread_mutex_lock(&uverbs_lists);
	c->ctx = ctx;
	c->kind = (uint8_t)kind;
	c->busy = origin && origin->busy ? UVERBS_BUSY : UVERBS_IDLE;
	c->let_go = c->empty = false;
	c->alias = origin ? origin->alias : c;
	if (origin)
		origin->alias = c;
	__atomic_store_n(&c->serial, serials++, __ATOMIC_RELEASE);
	c->older = ctx->newest;
	c->newer = NULL;
	if (ctx->newest)
		ctx->newest->newer = c;
	else
		ctx->oldest = c;
	ctx->newest = c;
	set_context(c, &ctx->verbs.context);
	if (!origin)
		pthread_mutex_unlock(&uverbs_lists);
}

/* Out of the lists. */
static void unlink_child(struct uverbs_child *c)
{
	struct uverbs_child *before = c;

	__atomic_store_n(&c->serial, 0, __ATOMIC_RELEASE);
	if (c->older)
		c->older->newer = c->newer;
	else
		c->ctx->oldest = c->newer;
	if (c->newer)
		c->newer->older = c->older;
	else
		c->ctx->newest = c->older;
	while (before->alias != c)
		before = before->alias;
	before->alias = c->alias;
	c->alias = c;
	set_context(c, NULL);
}

void uverbs_child_bury(struct uverbs_child *c)
{
	unlink_child(c);
	give_back(c);
}

int uverbs_end_begin(struct uverbs_child *c)
{
	struct uverbs_child *a = c;
	int err;

	pthread_mutex_lock(&uverbs_lists);
	err = !c->serial ? ENOENT : c->busy ? EBUSY : 0;
	if (!err) {
		for (a = c->alias; a != c; a = a->alias)
			a->busy = UVERBS_BUSY;
		c->busy = UVERBS_ENDER;
	}
	pthread_mutex_unlock(&uverbs_lists);
	return err;
}

void uverbs_end(struct uverbs_child *c, bool ended)
{
	pthread_mutex_lock(&uverbs_lists);
	while (c->alias != c && ended) {
		struct uverbs_child *other = c->alias;

		unlink_child(other);
		other->empty = true; /* until the program gives it up */
	}
	for (struct uverbs_child *a = c->alias; a != c; a = a->alias)
		a->busy = UVERBS_IDLE;
	c->busy = UVERBS_IDLE;
	if (c->serial && (ended || c->let_go)) /* else its context was closed meanwhile */
		uverbs_child_bury(c);
	pthread_mutex_unlock(&uverbs_lists);
}

void uverbs_unimport(struct uverbs_child *c)
{
	pthread_mutex_lock(&uverbs_lists);
	if (c->empty) {
		c->empty = false;
		give_back(c);
	} else if (c->serial && c->busy == UVERBS_ENDER) {
		c->let_go = true;
	} else if (c->serial) {
		uverbs_child_bury(c);
	}
	pthread_mutex_unlock(&uverbs_lists);
}

void uverbs_children_close(struct uverbs_context *ctx)
{
	pthread_mutex_lock(&uverbs_lists);
	while (ctx->newest)
		uverbs_child_bury(ctx->newest);
	pthread_mutex_unlock(&uverbs_lists);
}
