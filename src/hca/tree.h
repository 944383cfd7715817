/* SPDX-License-Identifier: BSD-2-Clause */
/* Ordered sets whose nodes lie inside what they order: a treap, whose priorities come from the model's own sequence. */
#ifndef HCA_TREE_H
#define HCA_TREE_H

#include <stddef.h>
#include <stdint.h>

struct tree_node {
	struct tree_node *child[2];
	uint64_t prio;
};

/* Negative: the node comes before the key; 0: it is the key's own; positive: after. */
typedef int (*tree_cmp)(const struct tree_node *node, const void *key);

struct tree {
	struct tree_node *root;
};

/* The key is the node's own, and no node in the tree has it. seed feeds the priorities. */
void tree_insert(struct tree *t, struct tree_node *node, tree_cmp cmp, const void *key, uint64_t *seed);
void tree_remove(struct tree *t, const struct tree_node *node, tree_cmp cmp, const void *key);
/* The last node at or before the key; the first at or after it. NULL: there is none. */
struct tree_node *tree_floor(const struct tree *t, tree_cmp cmp, const void *key);
struct tree_node *tree_ceiling(const struct tree *t, tree_cmp cmp, const void *key);

#define TREE_ENTRY(node, type, member) ((type *)((char *)(node) - offsetof(type, member)))

#endif
