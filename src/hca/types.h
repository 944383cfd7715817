/* SPDX-License-Identifier: BSD-2-Clause */
/* The objects that hold more than their header. */
#ifndef HCA_TYPES_H
#define HCA_TYPES_H

#include "model.h"

/* The low bits of an MTT say what the device may do (seen on Linux 7.2: 3 for a writable umem). */
#define MTT_READ 1u
#define MTT_WRITE 2u

struct umem {
	struct hca_obj obj;
	uint64_t *mtt; /* device addresses of the pages, with the access bits in the low ones */
	uint64_t n_mtt;
	uint64_t page_offset;
	uint8_t page_shift;
};

void umem_fini(struct hca_obj *obj);
void cq_fini(struct hca_obj *obj);
void mkey_fini(struct hca_obj *obj);

struct counter {
	uint64_t packets, octets;
};

/* Ids are given in ranges that are a power of two long and aligned to it, so bulks start at multiples of 4 (and 128). */
#define FLOW_COUNTER_FIRST 0x100u
#define FLOW_COUNTER_LAST 0xffffffu
#define FLOW_COUNTER_LOG_MAX 18 /* the largest flow_counter_bulk_log_size */

/* With its header one cache line, for a single counter. */
struct flow_counter {
	struct hca_obj obj;
	uint32_t n;
	struct counter *values; /* a single counter's is inside */
	struct counter one;
};

_Static_assert(sizeof(struct flow_counter) <= 64, "a query of a single counter touches one cache line of it");

void flow_counter_fini(struct hca_obj *obj);

struct mkey {
	struct hca_obj obj;
	struct hca_obj *umem; /* NULL: not over a umem */
	bool own_umem;        /* it is the key's list of pages, and nobody else knows it */
	uint64_t start, len, umem_offset;
	uint8_t mode, tag;
	bool length64, free, lw;
	uint8_t mkc[PRM_SZ(mkc)];
};

#define CQ_LINKS 4u /* queue, doorbell record, UAR, EQ of a program */
#define CQ_LINK_QUEUE 0u
#define CQ_LINK_EQ 3u

struct cq {
	struct hca_obj obj;
	struct hca_obj *pages; /* what a list of pages told, as a umem of its own; NULL: it lies in the linked one, from offset on */
	uint64_t offset;
	uint8_t cqc[PRM_SZ(cqc)];
};

#define QP_LINKS 11u /* PD, UAR, two queue groups, two CQs, SRQ, XRC domain, queue, doorbell record, q counter */

struct qp {
	struct hca_obj obj;
	uint8_t state, st;
	uint8_t n_created_links; /* a q counter that a transition set is linked after these */
	uint8_t qpc[PRM_SZ(qpc)];
	uint8_t created[PRM_SZ(qpc)]; /* what 2RST goes back to */
	uint32_t ece, created_ece;
	uint16_t dci_channel;
	bool told_last; /* that it took the last entry from its shared receive queue, since it is in ERR */
};

struct eq {
	struct hca_obj obj;
	uint64_t *pages;
	uint64_t events[4]; /* event n in bit n % 64 of word n / 64 */
	uint32_t produced, consumed;
	uint8_t log_size, page_shift;
	bool shared; /* the driver's, for completion queues of programs too */
	bool armed; /* of a bare device that is told of doorbells: the next EQE interrupts */
	uint8_t eqc[PRM_SZ(eqc)];
};

void eq_fini(struct hca_obj *obj);

/* Limits, which QUERY_HCA_CAP tells too. */
#define CQ_LOG_SZ_MAX 22u
#define QP_LOG_SZ_MAX 15u
#define DCI_LOG_CHANNELS_MAX 4u /* our choice */
#define QP_LOG_MSG_MAX 30u
#define QP_LOG_RA_MAX 4u      /* outstanding reads and atomics, either way */
#define MTU_MAX 5u            /* 4096 bytes: Linux, include/linux/mlx5/mlx5_ifc.h */
#define EQ_LOG_SZ_MAX 22u
#define EQ_LOG_MAX 7u         /* of the 251 that have no fixed use */
#define EQN_FIRST (HCA_FIRST_EQN + HCA_EQS)
#define EQN_LAST 0xffu
#define NUM_PORTS 1u
#define PKEYS 128u
#define ROCE_ADDRESSES 255u
#define MKEY_FIRST 0x100u
#define CQN_FIRST 0x80u
#define QPN_FIRST 0x80u       /* above the special ones */
#define QP_LOG_MAX 18u
#define ID24_LAST 0xffffffu
#define Q_COUNTER_LAST 0xffu  /* 0 means none */
#define UAR_LOG_MB 5u         /* of all pages: so large is a BAR of 32 MiB (our choice) */
#define UAR_FIRST HCA_UAR_FIRST
#define UAR_LAST ((1u << (UAR_LOG_MB + 20 - 12)) - 1)

/* A list of pages in an inbox, from this byte on, with what its refusals are called. */
struct queue_pages {
	uint32_t list;
	uint8_t log_page_size, page_offset; /* as contexts have them */
	enum syn size, few, unaligned;
};

/* A part of a queue. valid: it lies in a umem; else in pages, or, if there is no list, at an address, which is the offset. */
struct queue_part {
	bool valid;
	uint32_t id;
	uint64_t offset, bytes;
	enum syn not_valid, range, read_only;
	struct queue_pages pages;
};

#define DBR_BYTES 8u

/* umem: NULL when it lies in none, as only a bare device allows. */
enum syn queue_place(struct hca *h, struct call *c, const struct queue_part *part, struct hca_obj **umem);
/* Is the list there for so many bytes, and does each page begin where a page may? */
enum syn queue_pages(struct call *c, const struct queue_pages *pages, uint64_t bytes);
/* Such a list that is right, as a umem that only its holder knows and drops. NULL: no memory. */
struct hca_obj *umem_of_pages(struct call *c, const struct queue_pages *pages, uint64_t bytes);
/* The same of n entries from a byte of the inbox on. own_access: each tells what is allowed there; else all is. */
struct hca_obj *umem_of_list(struct call *c, uint32_t list, uint64_t n, unsigned int page_shift, uint64_t page_offset, bool own_access);
void umem_drop(struct hca_obj *umem); /* may be NULL */

/*
 * The UAR that a context names in uar_page. 0 gives NULL (our choice: a queue that no doorbell is rung for needs none, and no
 * page has that number).
 */
enum syn uar_find(struct hca *h, uint16_t uid, uint32_t page, struct hca_obj **uar);

#endif
