/* SPDX-License-Identifier: BSD-2-Clause */
/* What QUERY_HCA_CAP answers: pages of rows, a value for each profile. */
#ifndef HCA_CAPS_H
#define HCA_CAPS_H

#include "model.h"

struct cap_row {
	uint16_t bit;
	uint8_t width; /* 0 ends a table */
	uint64_t value[HCA_N_PROFILES];
};

struct cap_page {
	uint8_t type;
	const struct cap_row *rows; /* NULL: a page of zeros, all its features are off */
};

/* Types as Linux numbers them (include/linux/mlx5/device.h); 0x1b and 0x1c as rdma-core and DPDK do. */
enum {
	CAP_GENERAL = 0x00,
	CAP_ETHERNET = 0x01,
	CAP_ODP = 0x02,
	CAP_ATOMIC = 0x03,
	CAP_ROCE = 0x04,
	CAP_FLOW_TABLE = 0x07,
	CAP_QOS = 0x0c,
	CAP_VIRTIO = 0x13,
	CAP_IPSEC = 0x15,
	CAP_CRYPTO = 0x1a,
	CAP_WQE_FLOW = 0x1b,
	CAP_PARSE_GRAPH = 0x1c,
	CAP_PSP = 0x1e,
	CAP_MACSEC = 0x1f,
	CAP_GENERAL_2 = 0x20,
	CAP_PORT_SELECTION = 0x25,
};

/* What a page says at a field's first bit: the model asks its own capabilities, so that the two cannot differ. */
uint64_t hca_cap(const struct hca *h, uint8_t page, uint32_t bit, uint32_t width);
#define HCA_CAP(h, page, layout, field) hca_cap(h, CAP_##page, PRM_F_##layout##__##field)

#define CAP_ROW__(bit, width, a, b, c, d) { bit, width, { a, b, c, d } }
#define CAP_ROW_(...) CAP_ROW__(__VA_ARGS__)
/* A value for each of cx5, cx6dx, cx7, bf3; or the same for all. */
#define CAP_ROW(layout, field, cx5, cx6dx, cx7, bf3) CAP_ROW_(PRM_F_##layout##__##field, cx5, cx6dx, cx7, bf3)
#define CAP_ALL(layout, field, v) CAP_ROW(layout, field, v, v, v, v)

extern const struct cap_row caps_qos[], caps_virtio[], caps_ipsec[], caps_crypto[], caps_wqe_flow[], caps_parse_graph[],
	caps_macsec[], caps_psp[];
/* What differs in a bare device, in pages that cap_pages has too: rows that come before the others of their page (caps_pci.c). */
extern const struct cap_page cap_pages_bare[];
extern const struct cap_page cap_pages[];
extern const unsigned int n_cap_pages;
extern const struct cap_row cap_nic_flow_tables[]; /* caps_flow.c */

#endif
