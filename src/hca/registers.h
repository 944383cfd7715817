/* SPDX-License-Identifier: BSD-2-Clause */
/* Registers, which ACCESS_REG and ACCESS_REGISTER_USER read and write: a table of rows (registers.c, port_regs.c). */
#ifndef HCA_REGISTERS_H
#define HCA_REGISTERS_H

#include "model.h"

/* Linux, include/linux/mlx5/driver.h: MLX5_REG_*; MTUTC and the crypto one: DPDK, drivers/common/mlx5/mlx5_prm.h. */
enum {
	REG_PMLP = 0x5002,
	REG_PMTU = 0x5003,
	REG_PTYS = 0x5004,
	REG_PAOS = 0x5006,
	REG_PFCC = 0x5007,
	REG_PPCNT = 0x5008,
	REG_PDDR = 0x5031,
	REG_PCAM = 0x507f,
	REG_QCAM = 0x4019,
	REG_NODE_DESC = 0x6001,
	REG_HOST_ENDIANNESS = 0x7004,
	REG_MCIA = 0x9014,
	REG_MTUTC = 0x9055,
	REG_MCAM = 0x907f,
	REG_CRYPTO = 0xc002,
	REG_DTOR = 0xc00e,
};

struct reg {
	uint16_t id, bytes;
	bool has_port; /* local_port, at the same place in all of them */
	bool user;     /* programs may read it */
	enum syn (*read)(struct hca *h, struct prm_box *in, struct prm_box *out);
	enum syn (*write)(struct hca *h, struct prm_box *in); /* NULL: it can only be read */
};

enum syn read_ppcnt(struct hca *h, struct prm_box *in, struct prm_box *out); /* port_counters.c */

/* Tables of rows, ended by id 0. */
extern const struct reg regs_port[], regs_device[];

#endif
