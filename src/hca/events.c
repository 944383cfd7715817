/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events. The model has no data path, so that most of what raises one on a real device cannot happen here: the embedder asks
 * for it, and the device does to the object what the event reports, and reports it.
 */
#include <string.h>

#include "events.h"
#include "types.h"
#include "vport.h"

/* Subtypes of a port change. Linux, include/linux/mlx5/device.h. */
#define PORT_DOWN 0x1u
#define PORT_ACTIVE 0x4u

/* Which work queue number an event carries. Linux, include/linux/mlx5/mlx5_ifc.h: MLX5_EVENT_QUEUE_TYPE_*; SRQs have none. */
enum { QUEUE_QP = 0, QUEUE_NONE = 0, QUEUE_RQ = 1, QUEUE_SQ = 2, QUEUE_DCT = 6 };

/* General objects that change by themselves, by type: they are told apart by it. */
enum { VIRTIO_NET_Q = 0x0d, PCIE_CONG = 0x58 };

/*
 * Events by object: which create command makes the object, and how Linux tells the kinds of objects of an event apart
 * (drivers/infiniband/hw/mlx5/devx.c, get_event_obj_type: for these the queue type, and 0 for a CQ or an XRQ). An RMP counts as an RQ
 * there (get_legacy_obj_type).
 */
static const struct row {
	uint8_t event;
	uint16_t made_by;
	enum obj_type type;
	uint16_t obj_type;
	bool (*effect)(struct hca_obj *obj, uint8_t event, uint8_t syndrome);
} rows[] = {
	{ EVENT_COMP, PRM_OP_CREATE_CQ, OBJ_CQ, 0, cq_event },
	{ EVENT_CQ_ERROR, PRM_OP_CREATE_CQ, OBJ_CQ, 0, cq_event },
	{ EVENT_PATH_MIG, PRM_OP_CREATE_QP, OBJ_QP, QUEUE_QP, qp_event },
	{ EVENT_PATH_MIG_FAILED, PRM_OP_CREATE_QP, OBJ_QP, QUEUE_QP, qp_event },
	{ EVENT_COMM_EST, PRM_OP_CREATE_QP, OBJ_QP, QUEUE_QP, qp_event },
	{ EVENT_WQ_CATAS_ERROR, PRM_OP_CREATE_QP, OBJ_QP, QUEUE_QP, qp_event },
	{ EVENT_WQ_INVAL_REQ_ERROR, PRM_OP_CREATE_QP, OBJ_QP, QUEUE_QP, qp_event },
	{ EVENT_WQ_ACCESS_ERROR, PRM_OP_CREATE_QP, OBJ_QP, QUEUE_QP, qp_event },
	{ EVENT_SRQ_LAST_WQE, PRM_OP_CREATE_QP, OBJ_QP, QUEUE_QP, qp_event },
	{ EVENT_WQ_CATAS_ERROR, PRM_OP_CREATE_RQ, OBJ_RQ, QUEUE_RQ, rq_event },
	{ EVENT_WQ_INVAL_REQ_ERROR, PRM_OP_CREATE_RQ, OBJ_RQ, QUEUE_RQ, rq_event },
	{ EVENT_WQ_ACCESS_ERROR, PRM_OP_CREATE_RQ, OBJ_RQ, QUEUE_RQ, rq_event },
	{ EVENT_SRQ_LIMIT, PRM_OP_CREATE_RQ, OBJ_RQ, QUEUE_RQ, rq_event },
	{ EVENT_WQ_CATAS_ERROR, PRM_OP_CREATE_SQ, OBJ_SQ, QUEUE_SQ, sq_event },
	{ EVENT_WQ_INVAL_REQ_ERROR, PRM_OP_CREATE_SQ, OBJ_SQ, QUEUE_SQ, sq_event },
	{ EVENT_WQ_ACCESS_ERROR, PRM_OP_CREATE_SQ, OBJ_SQ, QUEUE_SQ, sq_event },
	{ EVENT_SRQ_LIMIT, PRM_OP_CREATE_RMP, OBJ_RMP, QUEUE_RQ, rmp_event },
	{ EVENT_SRQ_CATAS_ERROR, PRM_OP_CREATE_RMP, OBJ_RMP, QUEUE_RQ, rmp_event },
	{ EVENT_SRQ_LIMIT, PRM_OP_CREATE_SRQ, OBJ_SRQ, QUEUE_NONE, srq_event },
	{ EVENT_SRQ_CATAS_ERROR, PRM_OP_CREATE_SRQ, OBJ_SRQ, QUEUE_NONE, srq_event },
	{ EVENT_SRQ_LIMIT, PRM_OP_CREATE_XRC_SRQ, OBJ_XRC_SRQ, QUEUE_NONE, xrc_srq_event },
	{ EVENT_SRQ_CATAS_ERROR, PRM_OP_CREATE_XRC_SRQ, OBJ_XRC_SRQ, QUEUE_NONE, xrc_srq_event },
	{ EVENT_SRQ_LIMIT, PRM_OP_CREATE_XRQ, OBJ_XRQ, QUEUE_NONE, xrq_event },
	{ EVENT_XRQ_ERROR, PRM_OP_CREATE_XRQ, OBJ_XRQ, QUEUE_NONE, xrq_event },
	{ EVENT_DCT_DRAINED, PRM_OP_CREATE_DCT, OBJ_DCT, QUEUE_DCT, dct_event },
	{ EVENT_DCT_KEY_VIOLATION, PRM_OP_CREATE_DCT, OBJ_DCT, QUEUE_DCT, dct_event },
	{ EVENT_OBJECT_CHANGE, PRM_OP_CREATE_GENERAL_OBJECT, OBJ_VIRTIO_NET_Q, VIRTIO_NET_Q, virtq_event },
	{ EVENT_OBJECT_CHANGE, PRM_OP_CREATE_GENERAL_OBJECT, OBJ_PCIE_CONG, PCIE_CONG, pcie_cong_event },
};

struct prm_box event_new(struct hca_event *ev, uint8_t type, uint8_t subtype)
{
	struct prm_box eqe;

	*ev = (struct hca_event){ .type = type };
	eqe = prm_out(ev->eqe, sizeof(ev->eqe));
	PRM_SET(&eqe, eqe, event_type, type);
	PRM_SET(&eqe, eqe, event_sub_type, subtype);
	return PRM_SUB(&eqe, eqe, event_data);
}

void hca_raise(struct hca *h, const struct hca_event *ev, uint16_t uid)
{
	if (ev->type != EVENT_COMP)
		eqs_event(h, ev, uid);
	h->ops.event(h->host, ev);
}

bool hca_port_up(const struct hca *h, uint32_t port)
{
	return port && port <= NUM_PORTS && port_is_up(h);
}

bool port_is_up(const struct hca *h)
{
	return !h->port_down && !h->admin_down;
}

/* After a change of either: tells of it if the link is now up, and was not, or the other way round. */
static void port_changed(struct hca *h, bool was_up)
{
	struct hca_event ev;
	struct prm_box data;

	if (port_is_up(h) == was_up)
		return;
	h->vport->link_downs += was_up;
	data = event_new(&ev, EVENT_PORT_CHANGE, was_up ? PORT_DOWN : PORT_ACTIVE);
	PRM_SET(&data, port_state_change_event, port_num, NUM_PORTS);
	hca_raise(h, &ev, 0);
}

bool hca_port(struct hca *h, uint32_t port, bool up)
{
	bool was_up = port_is_up(h);

	if (!port || port > NUM_PORTS)
		return false;
	h->port_down = !up;
	port_changed(h, was_up);
	return true;
}

void port_admin(struct hca *h, bool up)
{
	bool was_up = port_is_up(h);

	h->admin_down = !up;
	port_changed(h, was_up);
}

/* What the event says of its object: a layout by event type. */
static void describe(struct prm_box *data, const struct row *row, uint32_t id, uint8_t syndrome)
{
	switch (row->event) {
	case EVENT_COMP:
		PRM_SET(data, comp_event, cq_number, id);
		break;
	case EVENT_CQ_ERROR:
		PRM_SET(data, cq_error, cqn, id);
		PRM_SET(data, cq_error, syndrome, syndrome);
		break;
	case EVENT_XRQ_ERROR:
		PRM_SET(data, xrq_err_event, xrqn, id);
		break;
	case EVENT_DCT_DRAINED:
	case EVENT_DCT_KEY_VIOLATION:
		PRM_SET(data, dct_events, dct_number, id);
		break;
	case EVENT_OBJECT_CHANGE:
		PRM_SET(data, affiliated_event_header, obj_type, row->obj_type);
		PRM_SET(data, affiliated_event_header, obj_id, id);
		break;
	default:
		PRM_SET(data, qp_events, type, row->obj_type);
		PRM_SET(data, qp_events, qpn_rqn_sqn, id);
	}
}

static void raise_row(struct hca *h, const struct row *row, const struct hca_obj *obj, uint8_t syndrome)
{
	struct hca_event ev;
	struct prm_box data = event_new(&ev, row->event, 0);

	ev.affiliated = true;
	ev.obj_type = row->obj_type;
	ev.obj_id = obj->id;
	describe(&data, row, obj->id, syndrome);
	if (row->event == EVENT_COMP && obj->links[CQ_LINK_EQ]) /* it names its queue; masks are for the others */
		eq_event(h, obj->links[CQ_LINK_EQ], ev.eqe);
	hca_raise(h, &ev, obj->uid);
}

void hca_raise_on(struct hca *h, const struct hca_obj *obj, uint8_t event)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].event == event && rows[i].type == obj->type)
			raise_row(h, &rows[i], obj, 0);
}

enum hca_raised hca_event(struct hca *h, uint16_t made_by, uint16_t type, uint32_t id, uint16_t event, uint8_t syndrome)
{
	struct hca_obj *obj;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *row = &rows[i];

		if (row->event != event || row->made_by != made_by ||
		    (made_by == PRM_OP_CREATE_GENERAL_OBJECT && row->obj_type != type))
			continue;
		obj = obj_in_entry(obj_peek(h, row->type, id));
		if (!obj || obj->type != row->type)
			return HCA_NO_OBJECT;
		if (!row->effect(obj, row->event, syndrome))
			return HCA_NOT_NOW;
		raise_row(h, row, obj, syndrome);
		return HCA_RAISED;
	}
	return HCA_NO_EVENT;
}
