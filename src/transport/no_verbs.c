/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "no_verbs.h"

/*
 * What inlines call without asking whether it is there: a software context makes nothing of what these take, so that only a
 * handle that was made up can come here. All others are NULL, and their inlines answer EOPNOTSUPP.
 */
static int no_poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	errno = EOPNOTSUPP;
	return -1;
}

static int no_req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	return EOPNOTSUPP;
}

static int no_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	*bad_wr = wr;
	return EOPNOTSUPP;
}

static int no_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	*bad_wr = wr;
	return EOPNOTSUPP;
}

static int no_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	*bad_wr = wr;
	return EOPNOTSUPP;
}

static int no_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
	return EOPNOTSUPP;
}

static int no_dealloc_mw(struct ibv_mw *mw)
{
	return EOPNOTSUPP;
}

static int no_close_xrcd(struct ibv_xrcd *xrcd)
{
	return EOPNOTSUPP;
}

void no_verbs(struct verbs_context *v)
{
	memset(v, 0, sizeof(*v));
	v->sz = sizeof(*v); /* programs of newer headers see what is not there yet as NULL */
	v->close_xrcd = no_close_xrcd;
	v->context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	v->context.ops.poll_cq = no_poll_cq;
	v->context.ops.req_notify_cq = no_req_notify_cq;
	v->context.ops.post_send = no_post_send;
	v->context.ops.post_recv = no_post_recv;
	v->context.ops.post_srq_recv = no_post_srq_recv;
	v->context.ops.bind_mw = no_bind_mw;
	v->context.ops.dealloc_mw = no_dealloc_mw;
}
