/* SPDX-License-Identifier: BSD-2-Clause */
/* Events: which ones this device raises, on what, and what they do to it (events.c); event queues (eq.c). */
#ifndef HCA_EVENTS_H
#define HCA_EVENTS_H

#include "model.h"

/* Event types. Linux, include/linux/mlx5/device.h, enum mlx5_event. */
enum {
	EVENT_COMP = 0x00,
	EVENT_PATH_MIG = 0x01,
	EVENT_COMM_EST = 0x02,
	EVENT_CQ_ERROR = 0x04,
	EVENT_WQ_CATAS_ERROR = 0x05,
	EVENT_PATH_MIG_FAILED = 0x07,
	EVENT_PORT_CHANGE = 0x09,
	EVENT_CMD = 0x0a,
	EVENT_PAGE_REQUEST = 0x0b,
	EVENT_WQ_INVAL_REQ_ERROR = 0x10,
	EVENT_WQ_ACCESS_ERROR = 0x11,
	EVENT_SRQ_CATAS_ERROR = 0x12,
	EVENT_SRQ_LAST_WQE = 0x13,
	EVENT_SRQ_LIMIT = 0x14,
	EVENT_XRQ_ERROR = 0x18,
	EVENT_DCT_DRAINED = 0x1c,
	EVENT_DCT_KEY_VIOLATION = 0x1d,
	EVENT_OBJECT_CHANGE = 0x27,
};

/* What device_event_cap offers: bit n of the first 64 is event n. Event 0 needs no bit: it is every CQ's. */
#define EVENT_BIT(name) (UINT64_C(1) << EVENT_##name)
#define EVENTS_AFFILIATED                                                                                            \
	(EVENT_BIT(PATH_MIG) | EVENT_BIT(COMM_EST) | EVENT_BIT(CQ_ERROR) | EVENT_BIT(WQ_CATAS_ERROR) |               \
	 EVENT_BIT(PATH_MIG_FAILED) | EVENT_BIT(WQ_INVAL_REQ_ERROR) | EVENT_BIT(WQ_ACCESS_ERROR) |                   \
	 EVENT_BIT(SRQ_CATAS_ERROR) | EVENT_BIT(SRQ_LAST_WQE) | EVENT_BIT(SRQ_LIMIT) | EVENT_BIT(XRQ_ERROR) |        \
	 EVENT_BIT(DCT_DRAINED) | EVENT_BIT(DCT_KEY_VIOLATION))
/* Of the profiles that have a general object which changes by itself. */
#define EVENTS_AFFILIATED_CHANGE (EVENTS_AFFILIATED | EVENT_BIT(OBJECT_CHANGE))
#define EVENTS_UNAFFILIATED EVENT_BIT(PORT_CHANGE)

/* An EQE with type and subtype; the rest of ev is the caller's. */
struct prm_box event_new(struct hca_event *ev, uint8_t type, uint8_t subtype);
/* To the event queues that want it, of this uid if it is affiliated, and to the host. */
void hca_raise(struct hca *h, const struct hca_event *ev, uint16_t uid);
/* What a command did to the object and its type has an event for: as hca_event, but for the effect. */
void hca_raise_on(struct hca *h, const struct hca_obj *obj, uint8_t event);

/* To the queues whose mask has the event, of this uid if it is affiliated; and to one queue (eq.c). */
void eqs_event(struct hca *h, const struct hca_event *ev, uint16_t uid);
void eq_event(struct hca *h, struct hca_obj *eq, const uint8_t *event);
/* Does one of the driver's queues want it? */
bool eqs_hear(struct hca *h, uint8_t type);
/* The EQ that a CQ names: NULL for one of the driver's. SYN_CQ_EQN: neither such a one nor one of this uid's. */
enum syn eq_find(struct hca *h, uint16_t uid, uint32_t eqn, struct hca_obj **eq);

/* What the event does to the object; false: the object's state, or the syndrome, does not allow it, and nothing changed. */
bool cq_event(struct hca_obj *cq, uint8_t event, uint8_t syndrome); /* cq.c */
bool qp_event(struct hca_obj *qp, uint8_t event, uint8_t syndrome); /* qp.c */
bool rq_event(struct hca_obj *rq, uint8_t event, uint8_t syndrome);           /* rq.c */
bool rmp_event(struct hca_obj *rmp, uint8_t event, uint8_t syndrome);         /* rq.c */
bool sq_event(struct hca_obj *sq, uint8_t event, uint8_t syndrome);           /* sq.c */
bool srq_event(struct hca_obj *srq, uint8_t event, uint8_t syndrome);         /* srq.c */
bool xrc_srq_event(struct hca_obj *xrc_srq, uint8_t event, uint8_t syndrome); /* srq.c */
bool xrq_event(struct hca_obj *xrq, uint8_t event, uint8_t syndrome);         /* xrq.c */
bool dct_event(struct hca_obj *dct, uint8_t event, uint8_t syndrome);         /* dct.c */
bool virtq_event(struct hca_obj *virtq, uint8_t event, uint8_t syndrome);     /* general_virtio.c */
bool pcie_cong_event(struct hca_obj *cong, uint8_t event, uint8_t syndrome);  /* general_virtio.c */

#endif
