/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Command layouts: checked access to fields by name, and names of things. Bits count from the most significant bit of the
 * first big-endian dword, as in the PRM.
 */
#ifndef PRM_H
#define PRM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "prm_gen.h"

/* A mailbox, or a context inside one. An access past its end reads 0, writes nothing and sets bad, which stays set. */
struct prm_box {
	uint8_t *p;
	uint32_t len;
	bool bad;
	bool readonly;
};

struct prm_field {
	const char *name;
	uint32_t bit;
	uint32_t width;
	uint32_t count; /* 0: as many as fit */
	int nested;     /* index into prm_layouts, or -1 */
	int values;     /* index into prm_enums, or -1 */
	bool other;     /* lies over a field before it: a second name, or another meaning */
};

/* Sorted by name. */
struct prm_layout {
	const char *name;
	uint32_t bits;
	const struct prm_field *fields;
	unsigned int n_fields;
	bool is_union;  /* each field is one form of the whole */
};

struct prm_value {
	uint64_t value;
	const char *name;
	int layout;     /* of the object or capability page that it means: an index into prm_layouts, or -1 */
};

struct prm_enum {
	const char *name;
	const struct prm_value *values; /* by value; of equal ones the first is the usual name */
	unsigned int n_values;
	bool flags;     /* values are masks, and a field holds any of them */
};

/* The call of the DEVX family that carries a command. Linux, drivers/infiniband/hw/mlx5/devx.c. */
enum prm_call {
	PRM_CALL_DRIVER, /* none: the command is the driver's own */
	PRM_CALL_CREATE,
	PRM_CALL_MODIFY,
	PRM_CALL_QUERY,
	PRM_CALL_DESTROY,
	PRM_CALL_GENERAL,
};

/* Sorted by value. */
struct prm_command {
	uint16_t value;
	uint16_t other;    /* of a create, what destroys; of modify, query and destroy, what creates; else 0 */
	const char *name;
	uint8_t call;      /* enum prm_call */
	bool id_in_inbox;  /* else in the outbox: most creates */
	uint8_t id_width;  /* where the box holds the id of the object; 0: it is about none */
	uint16_t id_bit;
	int16_t in, out;   /* indices into prm_layouts, or -1 */
};

extern const struct prm_layout prm_layouts[];
extern const unsigned int prm_n_layouts;
extern const struct prm_enum prm_enums[]; /* by enum prm_enum_index */
extern const unsigned int prm_n_enums;
extern const struct prm_command prm_opcodes[];
extern const unsigned int prm_n_opcodes;
extern const uint8_t prm_opcode_at[0x1000]; /* by opcode: its place in prm_opcodes and 1; 0: unknown */

/* Command status in an outbox. Linux, include/linux/mlx5/device.h. */
enum prm_status {
	PRM_STAT_OK = 0x0,
	PRM_STAT_INT_ERR = 0x1,
	PRM_STAT_BAD_OP_ERR = 0x2,
	PRM_STAT_BAD_PARAM_ERR = 0x3,
	PRM_STAT_BAD_SYS_STATE_ERR = 0x4,
	PRM_STAT_BAD_RES_ERR = 0x5,
	PRM_STAT_RES_BUSY = 0x6,
	PRM_STAT_NOT_READY = 0x7,
	PRM_STAT_LIM_ERR = 0x8,
	PRM_STAT_BAD_RES_STATE_ERR = 0x9,
	PRM_STAT_IX_ERR = 0xa,
	PRM_STAT_NO_RES_ERR = 0xf,
	PRM_STAT_BAD_QP_STATE_ERR = 0x10,
	PRM_STAT_BAD_PKT_ERR = 0x30,
	PRM_STAT_BAD_SIZE_OUTS_CQES_ERR = 0x40,
	PRM_STAT_BAD_INP_LEN_ERR = 0x50,
	PRM_STAT_BAD_OUTP_LEN_ERR = 0x51,
	/* What the Linux driver writes for a command that the device never answered. */
	PRM_STAT_ABORTED = 0xfe,
};

#define PRM_SYNDROME_ABORTED 0xbadd00deu
#define PRM_HDR_SZ 16u       /* the smallest inbox and outbox */
#define PRM_BOX_MAX 65535u   /* the largest that the kernel's ABI carries */

static inline struct prm_box prm_in(const void *p, size_t len)
{
	return (struct prm_box){ .p = (uint8_t *)p, .len = (uint32_t)len, .readonly = true };
}

static inline struct prm_box prm_out(void *p, size_t len)
{
	return (struct prm_box){ .p = p, .len = (uint32_t)len };
}

/* width: 1 to 64. A value that does not fit is cut to width. */
uint64_t prm_get(struct prm_box *b, uint32_t bit, uint32_t width);
void prm_set(struct prm_box *b, uint32_t bit, uint32_t width, uint64_t value);
/* Bits of one box to another, at places of their own. */
void prm_copy(struct prm_box *to, uint32_t to_bit, struct prm_box *from, uint32_t from_bit, uint32_t width);
/* The box of a nested layout; empty and bad when it does not lie inside b whole. Mark the parent too: prm_sub does. */
struct prm_box prm_sub(struct prm_box *b, uint32_t bit, uint32_t width);

#define PRM_GET(b, layout, field) prm_get((b), PRM_F_##layout##__##field)
#define PRM_SET(b, layout, field, value) prm_set_((b), (value), PRM_F_##layout##__##field)
#define PRM_SUB(b, layout, field) prm_sub((b), PRM_F_##layout##__##field)
#define PRM_SZ(layout) PRM_SZ_##layout

static inline void prm_set_(struct prm_box *b, uint64_t value, uint32_t bit, uint32_t width)
{
	prm_set(b, bit, width, value);
}

const struct prm_layout *prm_layout(const char *name);          /* NULL: no such layout */
const struct prm_command *prm_command(uint16_t opcode);         /* NULL: unknown */
const char *prm_opcode_name(uint16_t opcode);                   /* NULL: unknown */
const char *prm_status_name(uint8_t status);                    /* "unknown status" when unknown */
int prm_status_errno(uint8_t status);                           /* what the Linux driver makes of a status */
/* The layout of a command's inbox or outbox, by opcode; NULL when the table has none. */
const struct prm_layout *prm_inbox_layout(uint16_t opcode);
const struct prm_layout *prm_outbox_layout(uint16_t opcode);
/* The first name of a value; NULL: it has none. */
const struct prm_value *prm_value(const struct prm_enum *e, uint64_t value);
/* Does a layout end in a list of any length (the MTTs of a umem), its own or a nested layout's? */
bool prm_open_ended(const struct prm_layout *layout);
/* The first bit, from that byte on, that is set and that no field of the layout covers; -1 when there is none. */
int64_t prm_undefined(const struct prm_layout *layout, const void *box, size_t len, size_t from);
/* The same for an inbox, whose header belongs to dispatch. */
int64_t prm_first_undefined(const struct prm_layout *layout, const void *in, size_t len);
/*
 * Copies the part of a box that begins at bit and is width bits long (both whole bytes): the bits that the layout defines,
 * and zero for the others, as a device that ignores them keeps it.
 */
void prm_copy_defined(const struct prm_layout *layout, struct prm_box *box, uint32_t bit, uint32_t width, uint8_t *dst);
#define PRM_COPY(b, layout, field, dst) prm_copy_part_((b), prm_layout(#layout), (dst), PRM_F_##layout##__##field)

static inline void prm_copy_part_(struct prm_box *b, const struct prm_layout *layout, uint8_t *dst, uint32_t bit, uint32_t width)
{
	prm_copy_defined(layout, b, bit, width, dst);
}

#endif
