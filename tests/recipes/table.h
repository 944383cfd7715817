/* SPDX-License-Identifier: BSD-2-Clause */
/* How the rows of recipes.c are written. */
#ifndef RECIPES_TABLE_H
#define RECIPES_TABLE_H

/* The head of a command, with its lengths, or those of its layout. The place of its id comes next, then its fields. */
#define CMD_LEN(op, layout, in, out) #layout "_in", PRM_OP_##op, 0, in, out
#define CMD(op, layout) CMD_LEN(op, layout, PRM_SZ_##layout##_in, PRM_SZ_##layout##_out)
#define NO_FIELDS { { 0 } }
#define SET(layout, field, v) { PRM_F_##layout##__##field, RCP_VALUE, v }
#define REF(layout, field, recipe) { PRM_F_##layout##__##field, RCP_PARENT, RCP_##recipe }

#define FIRST(...) FIRST_(__VA_ARGS__)
#define FIRST_(bit, width) (bit)

/* A field of a layout that lies inside another. */
#define NEST(...) NEST_(__VA_ARGS__)
#define NEST_(outer, outer_width, inner, inner_width) (outer) + (inner), (inner_width)
#define PLACE_IN(layout, field, inner, inner_field) { NEST(PRM_F_##layout##__##field, PRM_F_##inner##__##inner_field) }
#define IN(layout, field, inner, inner_field, v) \
	{ NEST(PRM_F_##layout##__##field, PRM_F_##inner##__##inner_field), RCP_VALUE, v }
#define IN_REF(layout, field, inner, inner_field, recipe) \
	{ NEST(PRM_F_##layout##__##field, PRM_F_##inner##__##inner_field), RCP_PARENT, RCP_##recipe }
#define IN_OPT(layout, field, inner, inner_field, recipe) \
	{ NEST(PRM_F_##layout##__##field, PRM_F_##inner##__##inner_field), RCP_OPTIONAL, RCP_##recipe }
#define IN_KIND(layout, field, inner, inner_field, kind) \
	{ NEST(PRM_F_##layout##__##field, PRM_F_##inner##__##inner_field), kind, 0 }

/* Command status. Linux, include/linux/mlx5/device.h. */
#define BAD_PARAM 0x3
#define BAD_RES 0x5
#define BAD_RES_STATE 0x9
#define BAD_QP_STATE 0x10

#endif
