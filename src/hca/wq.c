/* SPDX-License-Identifier: BSD-2-Clause */
/* Work queues, as RQs, SQs, RMPs and XRQs hold them: what their contexts may say, and where they lie. */
#include "caps.h"
#include "general.h"
#include "queues.h"

/* end_padding_mode: as it comes, or aligned. Linux, include/linux/mlx5/mlx5_ifc.h. */
#define PADDING_MAX 1u

static enum syn context_check(struct prm_box *wq, const struct wq_kind *kind)
{
	uint64_t stride = PRM_GET(wq, wq, log_wq_stride);

	if (!(kind->types >> PRM_GET(wq, wq, wq_type) & 1))
		return SYN_WQ_TYPE;
	if (PRM_GET(wq, wq, log_wq_sz) > WQ_LOG_SZ_MAX)
		return SYN_WQ_SIZE;
	if (stride < kind->log_stride_min || stride > kind->log_stride_max)
		return SYN_WQ_STRIDE;
	if (PRM_GET(wq, wq, end_padding_mode) > PADDING_MAX)
		return SYN_WQ_PADDING;
	if (PRM_GET(wq, wq, shampo_enable))
		return SYN_WQ_SHAMPO;
	return SYN_OK;
}

static enum syn add_place(struct hca *h, struct call *c, const struct queue_part *part, struct ctx_links *links)
{
	enum syn syn = queue_place(h, c, part, &links->to[links->n]);

	if (syn == SYN_OK)
		links->n++;
	return syn;
}

/* Linux leaves it 0 where a queue of its own reads and writes no memory, as its drop RQ. Such a queue names none. */
static enum syn pd_check(struct hca *h, struct call *c, uint32_t pd, struct ctx_links *links)
{
	if (pd || c->uid || !h->cfg.bare)
		return ctx_need(h, c, OBJ_PD, pd, links);
	links->to[links->n++] = NULL;
	return SYN_OK;
}

enum syn wq_check(struct hca *h, struct call *c, struct prm_box *wq, const struct wq_kind *kind, struct ctx_links *links)
{
	const struct queue_part queue = {
		.valid = PRM_GET(wq, wq, wq_umem_valid),
		.id = (uint32_t)PRM_GET(wq, wq, wq_umem_id),
		.offset = PRM_GET(wq, wq, wq_umem_offset),
		.bytes = UINT64_C(1) << (PRM_GET(wq, wq, log_wq_sz) + PRM_GET(wq, wq, log_wq_stride)),
		.not_valid = SYN_WQ_UMEM, .range = SYN_WQ_RANGE, .read_only = SYN_WQ_READ_ONLY,
		.pages = { (uint32_t)(wq->p + PRM_SZ(wq) - c->in.p), (uint8_t)PRM_GET(wq, wq, log_wq_pg_sz),
			   (uint8_t)PRM_GET(wq, wq, page_offset), SYN_WQ_PAGES, SYN_WQ_PAGES, SYN_WQ_PAGE_ALIGN },
	};
	const struct queue_part dbr = {
		.valid = PRM_GET(wq, wq, dbr_umem_valid),
		.id = (uint32_t)PRM_GET(wq, wq, dbr_umem_id),
		.offset = PRM_GET(wq, wq, dbr_addr),
		.bytes = DBR_BYTES,
		.not_valid = SYN_WQ_DBR_UMEM, .range = SYN_WQ_DBR_RANGE, .read_only = SYN_WQ_DBR_READ_ONLY,
		.pages = { .unaligned = SYN_WQ_DBR_ALIGN },
	};
	enum syn syn = context_check(wq, kind);

	if (syn == SYN_OK)
		syn = pd_check(h, c, (uint32_t)PRM_GET(wq, wq, pd), links);
	if (syn == SYN_OK)
		syn = uar_find(h, c->uid, (uint32_t)PRM_GET(wq, wq, uar_page), &links->to[links->n++]);
	if (syn == SYN_OK)
		syn = add_place(h, c, &queue, links);
	if (syn == SYN_OK)
		syn = add_place(h, c, &dbr, links);
	return syn;
}

enum syn wq_check_hairpin(struct prm_box *wq)
{
	uint64_t data = PRM_GET(wq, wq, log_hairpin_data_sz);

	if (data < HAIRPIN_LOG_DATA_MIN || data > HAIRPIN_LOG_DATA_MAX)
		return SYN_WQ_HAIRPIN_DATA;
	if (PRM_GET(wq, wq, log_hairpin_num_packets) > HAIRPIN_LOG_PACKETS_MAX)
		return SYN_WQ_HAIRPIN_PACKETS;
	return SYN_OK;
}

void wq_made(struct prm_box *wq)
{
	PRM_SET(wq, wq, hw_counter, 0);
	PRM_SET(wq, wq, sw_counter, 0);
}

bool wq_limit_fits(uint64_t lwm, uint64_t log_size)
{
	return lwm <= UINT64_C(1) << log_size;
}

bool wq_limit_reached(struct prm_box *ctx, struct ctx_place lwm)
{
	if (!prm_get(ctx, lwm.bit, lwm.width))
		return false;
	prm_set(ctx, lwm.bit, lwm.width, 0);
	return true;
}

/*
 * Linux' driver sends each of these but one for raw packet queue pairs (drivers/infiniband/hw/mlx5/qp.c). From ERR the way
 * to RDY leads over RST.
 */
bool queue_may_go(unsigned int from, unsigned int to)
{
	if (to != QUEUE_RST && to != QUEUE_RDY && to != QUEUE_ERR)
		return false;
	return !(from == QUEUE_ERR && to == QUEUE_RDY);
}

enum syn queue_counter(struct hca *h, struct call *c, uint32_t id, struct hca_obj **counter)
{
	*counter = id ? find_q_counter(h, id, c->uid) : NULL;
	return id && !*counter ? SYN_Q_COUNTER : SYN_OK;
}

/* Only leaves send. Linux, include/linux/mlx5/mlx5_ifc.h: SCHEDULING_CONTEXT_ELEMENT_TYPE_QUEUE_GROUP. */
#define QUEUE_GROUP 4u

struct hca_obj *queue_group(struct hca *h, struct call *c, uint32_t id)
{
	struct hca_obj *obj = obj_find(h, OBJ_SCHED, id, c->uid);
	struct prm_box element, sched;

	if (!obj)
		return NULL;
	element = gen_context(obj, id);
	sched = PRM_SUB(&element, sched_elem, sched_context);
	return PRM_GET(&sched, scheduling_context, element_type) == QUEUE_GROUP ? obj : NULL;
}

/* ts_format. Linux, include/linux/mlx5/mlx5_ifc.h. */
enum { TS_FREE_RUNNING = 0, TS_DEFAULT = 1, TS_REAL_TIME = 2 };

bool queue_ts_format_ok(struct hca *h, uint64_t format)
{
	return format <= (HCA_CAP(h, GENERAL, cmd_hca_cap, rq_ts_format) ? TS_REAL_TIME : TS_DEFAULT);
}
