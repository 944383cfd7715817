/* SPDX-License-Identifier: BSD-2-Clause */
/* A receive table whose one entry drops and counts IPv4, and two frames: an IPv4 one, and an ARP request. */
#include <endian.h>
#include <err.h>
#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <opendevx/soft.h>
#include <stdio.h>
#define MAKE(ctx, in, out) \
	do { if (!mlx5dv_devx_obj_create(ctx, in, sizeof(in), out, sizeof(out))) err(1, "opcode 0x%x", be32toh(in[0]) >> 16); } while (0)
int main(void)
{
	struct ibv_device *dev = odx_soft_create("");
	struct ibv_context *ctx = dev ? mlx5dv_open_device(dev, NULL) : NULL;
	__be32 counter[4] = { htobe32(0x939 << 16) }, id[4], query[8] = { htobe32(0x93b << 16) }, value[8];
	__be32 table[16] = { htobe32(0x930 << 16) }, made[4];   /* CREATE_FLOW_TABLE: NIC receive, level 0, one entry */
	__be32 group[256] = { htobe32(0x933 << 16) };           /* CREATE_FLOW_GROUP: index 0 */
	__be32 entry[210] = { htobe32(0x936 << 16) }, none[4];  /* SET_FLOW_TABLE_ENTRY, and one counter behind it */
	const unsigned char ip[64] = { [12] = 0x08, 0x00, 0x45 }, arp[64] = { [12] = 0x08, 0x06 };
	struct mlx5dv_devx_obj *obj;

	if (!ctx || !(obj = mlx5dv_devx_obj_create(ctx, counter, sizeof(counter), id, sizeof(id))))
		err(1, "open or ALLOC_FLOW_COUNTER");
	MAKE(ctx, table, made);
	group[5] = entry[5] = made[2];   /* table_id */
	group[15] = htobe32(1);          /* match_criteria_enable: outer headers */
	group[17] = htobe32(0xffff);     /* match_criteria: ethertype */
	MAKE(ctx, group, made);
	entry[17] = made[2];             /* group_id */
	entry[19] = htobe32(0x2 | 0x8);  /* action: drop, count */
	entry[21] = htobe32(1);          /* flow_counter_list_size */
	entry[33] = htobe32(0x0800);     /* match_value: ethertype */
	entry[208] = query[7] = id[2];   /* the counter */
	MAKE(ctx, entry, none);
	if ((errno = odx_soft_packet(dev, ip, sizeof(ip), 1)) || (errno = odx_soft_packet(dev, arp, sizeof(arp), 1)) ||
	    (errno = mlx5dv_devx_obj_query(obj, query, sizeof(query), value, sizeof(value))))
		err(1, "odx_soft_packet or QUERY_FLOW_COUNTER");
	printf("%u packet, %u octets\n", be32toh(value[5]), be32toh(value[7])); /* 1, 64 */
	return be32toh(value[5]) != 1 || ibv_close_device(ctx) || odx_soft_destroy(dev);
}
