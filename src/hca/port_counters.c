/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * PPCNT: the counters of the port, in groups. What the port counts is what comes from the wire; it sends nothing, and meets no
 * errors, so all other counters of a group are zero.
 */
#include "context.h"
#include "registers.h"
#include "vport.h"

/* Groups. Linux, include/linux/mlx5/device.h: MLX5_*_COUNTERS_GROUP and MLX5_*_GROUP. */
enum {
	GROUP_802_3 = 0x00,
	GROUP_2863 = 0x01,
	GROUP_2819 = 0x02,
	GROUP_3635 = 0x03,
	GROUP_PRIORITY = 0x10,
	GROUP_PHYSICAL = 0x12,
	GROUP_IB = 0x20,
	GROUP_IB_EXTENDED = 0x21,
};

enum what { FRAMES, OCTETS, UNICAST, MULTICAST, BROADCAST, PRIO_FRAMES, PRIO_OCTETS, LINK_DOWNS, WORDS, SIZES };

/* A counter of a group: at a bit, so wide; a narrow one stays at its highest value. */
struct shown {
	uint8_t group, what, width;
	uint16_t bit;
};

/* Most are pairs of dwords, high and low. */
#define PAIR(group, layout, field, what) { group, what, 64, CTX_BIT_OF(PRM_F_##layout##__##field##_high) }
#define ONE(group, layout, field, what)                                                                              \
	{ group, what, CTX_WIDTH_OF(PRM_F_##layout##__##field), CTX_BIT_OF(PRM_F_##layout##__##field) }
#define SIZE(field, n) PAIR(GROUP_2819, eth_2819_cntrs_grp_data_layout, ether_stats_pkts##field##octets, SIZES + (n))

static const struct shown shown[] = {
	PAIR(GROUP_802_3, eth_802_3_cntrs_grp_data_layout, a_frames_received_ok, FRAMES),
	PAIR(GROUP_802_3, eth_802_3_cntrs_grp_data_layout, a_octets_received_ok, OCTETS),
	PAIR(GROUP_802_3, eth_802_3_cntrs_grp_data_layout, a_multicast_frames_received_ok, MULTICAST),
	PAIR(GROUP_802_3, eth_802_3_cntrs_grp_data_layout, a_broadcast_frames_received_ok, BROADCAST),
	PAIR(GROUP_2863, eth_2863_cntrs_grp_data_layout, if_in_octets, OCTETS),
	PAIR(GROUP_2863, eth_2863_cntrs_grp_data_layout, if_in_ucast_pkts, UNICAST),
	PAIR(GROUP_2863, eth_2863_cntrs_grp_data_layout, if_in_multicast_pkts, MULTICAST),
	PAIR(GROUP_2863, eth_2863_cntrs_grp_data_layout, if_in_broadcast_pkts, BROADCAST),
	PAIR(GROUP_2819, eth_2819_cntrs_grp_data_layout, ether_stats_octets, OCTETS),
	PAIR(GROUP_2819, eth_2819_cntrs_grp_data_layout, ether_stats_pkts, FRAMES),
	PAIR(GROUP_2819, eth_2819_cntrs_grp_data_layout, ether_stats_broadcast_pkts, BROADCAST),
	PAIR(GROUP_2819, eth_2819_cntrs_grp_data_layout, ether_stats_multicast_pkts, MULTICAST),
	SIZE(64, 0), SIZE(65to127, 1), SIZE(128to255, 2), SIZE(256to511, 3), SIZE(512to1023, 4), SIZE(1024to1518, 5),
	SIZE(1519to2047, 6), SIZE(2048to4095, 7), SIZE(4096to8191, 8), SIZE(8192to10239, 9),
	{ GROUP_3635, FRAMES, 0, 0 }, /* errors only */
	PAIR(GROUP_PRIORITY, eth_per_prio_grp_data_layout, rx_octets, PRIO_OCTETS),
	PAIR(GROUP_PRIORITY, eth_per_prio_grp_data_layout, rx_frames, PRIO_FRAMES),
	ONE(GROUP_PHYSICAL, phys_layer_cntrs, link_down_events, LINK_DOWNS),
	ONE(GROUP_IB, ib_port_cntrs_grp_data_layout, link_downed_counter, LINK_DOWNS),
	PAIR(GROUP_IB_EXTENDED, ib_ext_port_cntrs_grp_data_layout, port_rcv_data, WORDS),
	PAIR(GROUP_IB_EXTENDED, ib_ext_port_cntrs_grp_data_layout, port_rcv_pkts, FRAMES),
	PAIR(GROUP_IB_EXTENDED, ib_ext_port_cntrs_grp_data_layout, port_unicast_rcv_pkts, UNICAST),
	PAIR(GROUP_IB_EXTENDED, ib_ext_port_cntrs_grp_data_layout, port_multicast_rcv_pkts, MULTICAST),
};

/* The largest frame of each size that RFC 2819 tells apart; frames come without a checksum here, which is counted in. */
static const uint16_t size_limits[RX_SIZES] = { 64, 127, 255, 511, 1023, 1518, 2047, 4095, 8191, 10239 };
#define CHECKSUM 4u

#define ETHERTYPE 12u
#define PRIORITY_SHIFT 5

void port_counted(struct vport *v, const uint8_t *frame, uint32_t len)
{
	bool tagged = len > ETHERTYPE + 2 && ((frame[ETHERTYPE] == 0x81 && !frame[ETHERTYPE + 1]) || /* 802.1Q */
					      (frame[ETHERTYPE] == 0x88 && frame[ETHERTYPE + 1] == 0xa8)); /* 802.1ad */
	struct counter *prio = &v->rx_prio[tagged ? frame[ETHERTYPE + 2] >> PRIORITY_SHIFT : 0];
	unsigned int i = 0;

	prio->packets++;
	prio->octets += len;
	while (i < RX_SIZES && len + CHECKSUM > size_limits[i])
		i++;
	if (i < RX_SIZES)
		v->rx_sizes[i]++;
}

static uint64_t value(const struct vport *v, unsigned int what, uint64_t prio)
{
	uint64_t frames = 0, octets = 0;

	for (int i = 0; i < RX_KINDS; i++) {
		frames += v->rx[i].packets;
		octets += v->rx[i].octets;
	}
	switch (what) {
	case FRAMES: return frames;
	case OCTETS: return octets;
	case WORDS: return octets / 4; /* as InfiniBand counts */
	case UNICAST: return v->rx[RX_UNICAST].packets;
	case MULTICAST: return v->rx[RX_MULTICAST].packets;
	case BROADCAST: return v->rx[RX_BROADCAST].packets;
	case PRIO_FRAMES: return v->rx_prio[prio].packets;
	case PRIO_OCTETS: return v->rx_prio[prio].octets;
	case LINK_DOWNS: return v->link_downs;
	default: return v->rx_sizes[what - SIZES];
	}
}

enum syn read_ppcnt(struct hca *h, struct prm_box *in, struct prm_box *out)
{
	struct prm_box set = PRM_SUB(out, ppcnt_reg, counter_set);
	uint64_t group = PRM_GET(in, ppcnt_reg, grp), prio = PRM_GET(in, ppcnt_reg, prio_tc);
	bool known = false;

	if (prio >= PRIORITIES)
		return SYN_REG_PRIORITY;
	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++)
		known |= shown[i].group == group;
	if (!known)
		return SYN_REG_GROUP;
	if (PRM_GET(in, ppcnt_reg, clr))
		return SYN_REG_WRITE;
	PRM_SET(out, ppcnt_reg, local_port, NUM_PORTS);
	PRM_SET(out, ppcnt_reg, grp, group);
	PRM_SET(out, ppcnt_reg, prio_tc, prio);
	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
		uint64_t max = shown[i].width < 64 ? (UINT64_C(1) << shown[i].width) - 1 : UINT64_MAX, v;

		if (shown[i].group != group || !shown[i].width)
			continue;
		v = value(h->vport, shown[i].what, prio);
		prm_set(&set, shown[i].bit, shown[i].width, v < max ? v : max);
	}
	return SYN_OK;
}
