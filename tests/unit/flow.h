/* SPDX-License-Identifier: BSD-2-Clause */
/* Flow tables, groups and entries for tests. The inboxes are ready to run and to be changed before. */
#ifndef TEST_FLOW_H
#define TEST_FLOW_H

#include "dev.h"
#include "steer.h"

#define LOG_SIZE 10u /* of tables */

void table_cmd(struct cmd *c, uint16_t uid, uint32_t type, uint32_t level);
uint32_t new_table(struct dev *d, uint16_t uid, uint32_t type, uint32_t level);
void table_end(struct cmd *c, uint16_t uid, uint32_t type, uint32_t table);

/* Over the outer headers; mask names a field of fte_match_set_lyr_2_4 by its place (PRM_F_*). */
void group_cmd(struct cmd *c, uint16_t uid, uint32_t table, uint32_t start, uint32_t end);
uint32_t new_group(struct dev *d, uint16_t uid, uint32_t table, uint32_t start, uint32_t end);
void group_end(struct cmd *c, uint16_t uid, uint32_t table, uint32_t group);
struct prm_box criteria(struct cmd *c, uint32_t section_bit, uint32_t section_width);
#define CRITERIA(c, section) criteria(c, PRM_F_fte_match_param__##section)

/* Drops what it matches; no lists yet. */
void entry_cmd(struct cmd *c, uint16_t uid, uint32_t table, uint32_t group, uint32_t index);
struct prm_box entry_ctx(struct cmd *c);
struct prm_box entry_value(struct cmd *c, uint32_t section_bit, uint32_t section_width);
#define VALUE(c, section) entry_value(c, PRM_F_fte_match_param__##section)
void entry_action(struct cmd *c, uint32_t action);
/* Destinations before counters. */
void entry_dest(struct cmd *c, uint32_t type, uint32_t id);
void entry_counter(struct cmd *c, uint32_t id);
void entry_end(struct cmd *c, uint16_t uid, uint32_t table, uint32_t index);
void entry_query(struct cmd *c, uint16_t uid, uint32_t table, uint32_t index, uint32_t items);

uint32_t new_counter(struct dev *d, uint16_t uid);
uint64_t counted(struct dev *d, uint16_t uid, uint32_t id, bool octets);

void reformat_cmd(struct cmd *c, uint16_t uid, uint32_t type, const void *data, uint32_t size);
uint32_t new_reformat(struct dev *d, uint16_t uid, uint32_t type, const void *data, uint32_t size);
void modify_cmd(struct cmd *c, uint16_t uid, uint32_t type);
void modify_set(struct cmd *c, uint32_t field, uint32_t offset, uint32_t length, uint32_t data);
void modify_add(struct cmd *c, uint32_t field, uint32_t data);
void modify_copy(struct cmd *c, uint32_t from, uint32_t from_at, uint32_t length, uint32_t to, uint32_t to_at);
uint32_t made_modify(struct dev *d, struct cmd *c);

enum { DEST_TABLE = 1, DEST_TIR = 2 };

/* A frame under construction. */
struct pkt {
	uint8_t b[256];
	uint32_t n;
};

/* More bytes: hexadecimal, with blanks between them. */
void pkt_raw(struct pkt *p, const char *hex);
void pkt_eth(struct pkt *p, const char *type);

#define IPV4 "0800"
#define IPV6 "86dd"
/* Lengths of 0 stand for: as far as the frame goes. 192.0.2.1 to 192.0.2.2; 2001:db8::1 to ::2. */
#define IP4(proto) "4566 0000 0000 0000 40" proto "0000 c0000201 c0000202"
#define IP6(next) "6abcdef1 0000" next "ff 20010db8000000000000000000000001 20010db8000000000000000000000002"
#define TCP "1388 0050 01020304 05060708 5112 0000 0000 0000"
#define UDP(dport) "1389" dport "0000 0000"

#define L2_4(f) PRM_F_fte_match_set_lyr_2_4__##f
#define MISC(f) PRM_F_fte_match_set_misc__##f
#define OUTER PRM_F_fte_match_param__outer_headers
#define INNER PRM_F_fte_match_param__inner_headers
#define MISC_1 PRM_F_fte_match_param__misc_parameters
#define MISC_3 PRM_F_fte_match_param__misc_parameters_3

#define AT(section, field) AT_(section, field)
#define AT_(section, section_width, bit, width) (section) + (bit), (width)
#define DPORT AT(OUTER, L2_4(udp_dport))

/* A group over one field of the criteria, all of its bits. */
uint32_t group_by(struct dev *d, uint16_t uid, uint32_t table, uint32_t start, uint32_t end, uint8_t enable, uint32_t at,
		  uint32_t width);
/* An entry of such a group, ready to run, and a new counter, which is not in it yet. */
uint32_t entry_of(struct dev *d, struct cmd *c, uint16_t uid, uint32_t table, uint32_t group, uint32_t index, uint32_t at,
		  uint32_t width, uint64_t value);
/* An entry that drops and counts; its counter. */
uint32_t add_entry(struct dev *d, uint16_t uid, uint32_t table, uint32_t group, uint32_t index, uint32_t at, uint32_t width,
		   uint64_t value);
void pkt_send(struct dev *d, const struct pkt *p, struct hca_packet *r);
void pkt_udp(struct pkt *p, const char *dport);

#endif
