/* SPDX-License-Identifier: BSD-2-Clause */
/* What the types around queues share: work queues, their states, and the limits that QUERY_HCA_CAP tells too. */
#ifndef HCA_QUEUES_H
#define HCA_QUEUES_H

#include "context.h"
#include "types.h"

#define RQN_FIRST 0x200u
#define RQ_LOG_MAX 23u
#define SQN_FIRST 0x400u
#define SQ_LOG_MAX 23u
#define TIRN_FIRST 0x600u
#define TIR_LOG_MAX 20u
#define RQTN_FIRST 0x800u
#define RQT_LOG_MAX 20u
#define RQT_LOG_SIZE_MAX 11u
/* SRQs, XRC SRQs, RMPs and XRQs together: a queue pair or a DCT names any of them by its number alone. */
#define SRQN_FIRST 0x40u
#define SRQ_LOG_MAX 23u
#define SRQ_LOG_SZ_MAX 15u
#define XRCD_LOG_MAX 23u
#define DCTN_FIRST 0x800000u /* behind all numbers of queue pairs: a packet names either in the same field */
#define DCT_LOG_MAX 18u
#define PSV_LAST ID24_LAST
#define TM_LOG_LIST_MAX 7u
#define MCG_LOG_MAX 21u
#define MCG_QP_MAX 240u

/* Rates of packet pacing, in kbit/s: up to a port's 100 Gbit/s (our choice). */
#define RATE_KBPS_MIN 1u
#define RATE_KBPS_MAX 100000000u

#define WQ_LOG_SZ_MAX 15u
#define RQ_LOG_STRIDE_MIN 4u
#define RQ_LOG_STRIDE_MAX 9u
#define SQ_LOG_STRIDE 6u
#define HAIRPIN_LOG_DATA_MIN 6u
#define HAIRPIN_LOG_DATA_MAX 16u
#define HAIRPIN_LOG_PACKETS_MAX 10u

/* wq_type. Linux, include/linux/mlx5/mlx5_ifc.h. */
enum { WQ_LINKED_LIST = 0, WQ_CYCLIC = 1, WQ_LINKED_LIST_STRIDING = 2, WQ_CYCLIC_STRIDING = 3 };

/* States of RQs, SQs and RMPs alike. Linux, include/linux/mlx5/mlx5_ifc.h. */
enum { QUEUE_RST = 0, QUEUE_RDY = 1, QUEUE_ERR = 3 };

/* What a work queue may be, by the object that holds it. */
struct wq_kind {
	uint8_t types; /* bit n: wq_type n */
	uint8_t log_stride_min, log_stride_max;
};

/* Its links are the queues, in their order: the list is written from them. */
struct rqt {
	struct hca_obj obj;
	uint32_t max_size;
	uint8_t list_type;
};

/* A queue pair in a multicast group. */
struct attachment {
	struct hca_obj obj; /* its one link is the queue pair */
	struct attachment *next;
	uint32_t times;
};

struct mcg_table *mcg_new(uint64_t key); /* NULL: no memory */
void mcg_free(struct mcg_table *t);
void mcg_clear(struct mcg_table *t); /* its groups; the attachments are gone with all objects */

/* An XRQ's context, and behind it the entry that SET_XRQ_DC_PARAMS_ENTRY sets. */
#define XRQ_DC_ENTRY (PRM_SZ(set_xrq_dc_params_entry_in) - PRM_HDR_SZ)

#define WQ_LINKS 4u /* PD, UAR, queue, doorbell record */

/* What a work queue names: checked, and added to the links. */
enum syn wq_check(struct hca *h, struct call *c, struct prm_box *wq, const struct wq_kind *kind, struct ctx_links *links);
/* A hairpin queue lies inside the device: it has sizes only. */
enum syn wq_check_hairpin(struct prm_box *wq);
/* What a program gives for the device's own counters is not kept. */
void wq_made(struct prm_box *wq);
/* A limit below which a shared queue tells that it runs dry. */
bool wq_limit_fits(uint64_t lwm, uint64_t log_size);

/* The event of a limit: told once, until it is set again. lwm: its place in the context. False: none was set. */
bool wq_limit_reached(struct prm_box *ctx, struct ctx_place lwm);

/* May a queue go from one state to the other by a command? */
bool queue_may_go(unsigned int from, unsigned int to);
/* pacing.c: is the entry set, and one that this uid may name? */
bool rate_limit_exists(const struct hca *h, uint16_t uid, uint32_t index);
void rate_limits_clear(struct hca *h);
/* A q counter of this uid, or one of the driver's, that a queue counts in; none for 0. */
enum syn queue_counter(struct hca *h, struct call *c, uint32_t id, struct hca_obj **counter);
/* The leaf of the scheduling tree that a queue sends through; NULL: none of this uid, or no leaf. */
struct hca_obj *queue_group(struct hca *h, struct call *c, uint32_t id);
/* Are time stamps of this format to be had? sq_ts_format and rq_ts_format are the same. */
bool queue_ts_format_ok(struct hca *h, uint64_t format);

#endif
