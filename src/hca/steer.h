/* SPDX-License-Identifier: BSD-2-Clause */
/* Flow steering: tables, groups and entries, and what a packet meets on its way through them. */
#ifndef HCA_STEER_H
#define HCA_STEER_H

#include "parse.h"
#include "tree.h"
#include "types.h"

/* Limits and features, which QUERY_HCA_CAP tells too. The numbers are the model's own. */
#define FT_TYPES 2u           /* NIC receive and transmit */
#define FT_LEVEL_MAX 127u /* Linux 7.2 has a table of its own at level 68 */
#define FT_LOG_SIZE_MAX 24u
#define FTE_LOG_DESTS 5u
#define FTE_LOG_COUNTERS 3u
#define REFORMAT_SIZE_MAX 128u
#define MODIFY_ACTIONS_MAX 32u
#define VXLAN_PORTS_MAX 64u
#define L2_LOG_ENTRIES 10u

/* Table types. Linux, include/linux/mlx5/mlx5_ifc.h. */
enum { FT_NIC_RX = 0, FT_NIC_TX = 1 };

/* Actions of an entry. Linux, include/linux/mlx5/mlx5_ifc.h, MLX5_FLOW_CONTEXT_ACTION_*. */
enum fte_action {
	FTE_ALLOW = 0x1, FTE_DROP = 0x2, FTE_FWD = 0x4, FTE_COUNT = 0x8, FTE_REFORMAT = 0x10, FTE_DECAP = 0x20,
	FTE_MODIFY = 0x40, FTE_VLAN_POP = 0x80, FTE_VLAN_PUSH = 0x100, FTE_VLAN_POP_2 = 0x400, FTE_VLAN_PUSH_2 = 0x800,
};

/* The words of an fte_match_param that are not zero, so that a value costs what it says. Bit i of present: word i. */
struct sparse {
	uint64_t present;
	uint64_t word[];
};

struct flow_group;
struct flow_entry;

struct flow_table {
	struct hca_obj obj; /* its link: the table that a miss goes to */
	uint8_t type, level;
	uint32_t size;
	struct tree groups; /* by start */
	struct flow_group *first;
	struct tree_node start; /* in steer.starts; receive tables only */
	uint8_t ctx[PRM_SZ(flow_table_context)];
};

struct flow_group {
	struct hca_obj obj; /* its link: the table */
	struct tree_node by_start;
	struct flow_group *prev, *next; /* in the order of their indices */
	struct flow_table *table;
	uint32_t start, end;
	uint8_t enable;
	struct sparse *mask;  /* as set */
	uint64_t used;        /* the words of it that count */
	struct flow_entry ***pages; /* by index - start; NULL until the first entry */
	struct tree *buckets; /* by hash of the masked value */
	uint32_t n_buckets, n_entries;
};

struct fte_item {
	uint8_t raw[PRM_SZ(dest_format)];
	union {
		struct hca_obj *to;
		struct counter *counter;
	};
};

#define FTE_CTX 64u /* the bytes of a flow_context before its match value */

/* What MODIFY replaces as a whole. */
struct fte_actions {
	uint8_t ctx[FTE_CTX];
	uint16_t action;
	uint32_t n_dests, n_counters;
	struct hca_obj *reformat, *modify;
	struct fte_item item[]; /* destinations, then counters */
};

struct flow_entry {
	struct hca_obj obj; /* links: the group, then what the actions name */
	struct tree_node node;
	uint64_t hash;
	const uint64_t *key;  /* the masked value: behind value's words */
	struct flow_group *group;
	struct fte_actions *actions;
	struct sparse *value;
	uint32_t index, room; /* room: for links */
};

/* Types and anchors of packet reformats. Linux, include/linux/mlx5/mlx5_ifc.h. */
enum {
	REFORMAT_L2_TO_VXLAN = 0, REFORMAT_L2_TO_NVGRE = 1, REFORMAT_L2_TO_L2_TUNNEL = 2, REFORMAT_L3_TUNNEL_TO_L2 = 3,
	REFORMAT_L2_TO_L3_TUNNEL = 4, REFORMAT_INSERT_HDR = 0xf, REFORMAT_REMOVE_HDR = 0x10,
};
enum { ANCHOR_MAC = 1, ANCHOR_VLAN = 2, ANCHOR_IP = 7, ANCHOR_TCP_UDP = 9 };

struct reformat {
	struct hca_obj obj;
	uint8_t type, anchor, offset;
	uint16_t size;   /* of what is put in, or taken away */
	uint32_t n_data;
	uint8_t *ctx;    /* packet_reformat_context_in, its data behind it */
};

bool reformat_removes(const struct reformat *r);
const uint8_t *reformat_data(const struct reformat *r);

struct modify_header {
	struct hca_obj obj;
	uint8_t table_type, n;
	uint8_t *actions; /* n * 8 bytes */
};

struct l2_entry {
	struct hca_obj obj;
	uint8_t in[PRM_SZ(set_l2_table_entry_in)];
};

struct steer {
	uint64_t seed;       /* of tree priorities */
	uint64_t secret;     /* of hashes: what is matched comes from outside */
	struct image defined; /* ones where fte_match_param has fields: other bits are not kept */
	struct image known;   /* ones in the fields that can be matched */
	struct tree starts;  /* receive tables by (uid, level, id) */
	struct flow_table *root[FT_TYPES];
};

struct steer *steer_new(const void *salt); /* NULL: no memory */

void steer_clear(struct steer *s); /* its tables are gone with all objects */

void flow_group_fini(struct hca_obj *obj);
void flow_entry_fini(struct hca_obj *obj);
void reformat_fini(struct hca_obj *obj);
void modify_header_fini(struct hca_obj *obj);

/* By id; the driver (uid 0) reaches those of every user context. */
struct hca_obj *steer_find(struct hca *h, enum obj_type type, uint32_t id, uint16_t uid);
/* The table that an inbox names by table_type and table_id, which lie at the same place in all of them. */
enum syn flow_table_named(struct hca *h, struct call *c, struct flow_table **t);

/* The first receive table, of this user context or of the next that has one; NULL: none. */
struct flow_table *steer_first(const struct steer *s, uint32_t uid);

/* match.c. Of the bytes, what their layout defines is kept. */
struct sparse *sparse_new(const struct steer *st, const uint8_t *bytes, unsigned int more_words);
void sparse_put(const struct sparse *s, uint8_t *bytes);
/* Ones where no field lies that this device matches. */
bool match_unknown(const struct steer *s, const struct sparse *mask, uint64_t used);
/* The last group that begins at or before the index; NULL: none. */
struct flow_group *flow_group_before(const struct flow_table *t, uint32_t index);
void flow_group_insert(struct steer *s, struct flow_group *g);
void flow_group_remove(struct flow_group *g);
/* The place of an index; NULL: no memory (make) or nothing there yet. */
struct flow_entry **flow_entry_slot(struct flow_group *g, uint32_t index, bool make);
/* The words of a match value that the group's mask selects, written behind the value's own; their hash. */
uint64_t flow_value_key(const struct steer *s, const struct flow_group *g, struct sparse *value, const uint64_t **key);
bool flow_entry_insert(struct steer *s, struct flow_entry *e); /* key and hash are set; false: no memory */
void flow_entry_remove(struct flow_entry *e);
/* The entry of the lowest index that matches; NULL: none. */
struct flow_entry *flow_group_match(const struct steer *s, const struct flow_group *g, const struct image *image);

/* headers.c: the fields that modify header actions reach, and the frame that they change. */
#define FRAME_HEADROOM 10240u /* an encapsulation in each of as many tables as there are levels, tags included */
#define FRAME_WINDOW 2048u

struct frame {
	const uint8_t *p;
	uint32_t len;   /* bytes at p */
	uint32_t total; /* of the whole frame: after a change, only its first part is kept at p */
	uint32_t regs[METADATA_REGS];
	struct parsed parsed;
	struct image image;
	uint8_t own[FRAME_HEADROOM + FRAME_WINDOW]; /* what p points into once the frame was changed */
};

void frame_parse(struct hca *h, struct frame *f);
enum syn modify_action_check(const uint8_t action[8]);
void modify_action_copy(const uint8_t action[8], uint8_t to[8]); /* of one that was checked */
/* All that an entry does to the frame, which is parsed again. False: it cannot be done, and the packet is lost. */
bool frame_change(struct hca *h, struct frame *f, const struct fte_actions *a);
bool vxlan_port_known(const void *h, uint16_t port);

#endif
