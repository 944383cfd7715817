/* SPDX-License-Identifier: BSD-2-Clause */
#include "tree.h"

/* splitmix64: priorities that nobody who chooses the keys can choose. */
static uint64_t next_prio(uint64_t *seed)
{
	uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* Goes down to where the priority belongs, and parts what is below by the key: one half left, one right of the new node. */
void tree_insert(struct tree *t, struct tree_node *node, tree_cmp cmp, const void *key, uint64_t *seed)
{
	struct tree_node **at = &t->root, *below, **left = &node->child[0], **right = &node->child[1];

	node->prio = next_prio(seed);
	while (*at && (*at)->prio >= node->prio)
		at = &(*at)->child[cmp(*at, key) < 0];
	below = *at;
	*at = node;
	while (below) {
		if (cmp(below, key) < 0) {
			*left = below;
			left = &below->child[1];
			below = *left;
		} else {
			*right = below;
			right = &below->child[0];
			below = *right;
		}
	}
	*left = *right = NULL;
}

void tree_remove(struct tree *t, const struct tree_node *node, tree_cmp cmp, const void *key)
{
	struct tree_node **at = &t->root, *left = node->child[0], *right = node->child[1];

	while (*at != node)
		at = &(*at)->child[cmp(*at, key) < 0];
	while (left && right) {
		struct tree_node **upper = left->prio >= right->prio ? &left : &right;
		int side = upper == &left;

		*at = *upper;
		at = &(*upper)->child[side];
		*upper = *at;
	}
	*at = left ? left : right;
}

struct tree_node *tree_floor(const struct tree *t, tree_cmp cmp, const void *key)
{
	struct tree_node *n = t->root, *best = NULL;

	while (n) {
		int c = cmp(n, key);

		if (c <= 0)
			best = n;
		if (!c)
			break;
		n = n->child[c < 0];
	}
	return best;
}

struct tree_node *tree_ceiling(const struct tree *t, tree_cmp cmp, const void *key)
{
	struct tree_node *n = t->root, *best = NULL;

	while (n) {
		int c = cmp(n, key);

		if (c >= 0)
			best = n;
		if (!c)
			break;
		n = n->child[c < 0];
	}
	return best;
}
