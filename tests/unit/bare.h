/* SPDX-License-Identifier: BSD-2-Clause */
/* A bare device as a driver takes it into use. */
#ifndef TEST_BARE_H
#define TEST_BARE_H

#include "dev.h"
#include "init.h"

#define FIRST_PAGE UINT64_C(0x40000000)

/* n pages from that address on; an address of 1 stands for none. */
void pages_cmd(struct cmd *c, uint64_t first, uint32_t n);
void give_pages(struct dev *d, uint64_t first, uint32_t n);
/* Takes back up to n pages, and tells how many came. */
uint32_t take_pages(struct dev *d, uint32_t n);
int32_t want_pages(struct dev *d, uint16_t op_mod);

void enable(struct dev *d);
void set_up(struct dev *d); /* from the start to INIT_HCA */
void tear_down(struct dev *d);

void reg_cmd(struct cmd *c, uint16_t id, bool write, uint32_t bytes);
#define REG_CMD(c, id, write, layout) reg_cmd(c, id, write, PRM_SZ(layout))
struct prm_box reg_in(struct cmd *c);
struct prm_box reg_out(struct cmd *c);

/* An event queue over a page of the fake memory. */
uint32_t new_eq(struct dev *d, uint32_t page, uint32_t log_size, uint64_t mask, uint32_t vector, uint16_t uid);
/* Its n-th entry. */
struct prm_box eqe_at(struct dev *d, uint32_t page, uint32_t n);

#endif
