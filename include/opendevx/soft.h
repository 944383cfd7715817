/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Control of a software device: for tests of programs that use DEVX. Every call may be used from any thread; none of them
 * waits for a command except where it says so. Calls that return int give 0 or a positive errno value:
 *   EINVAL  dev is NULL, or another argument is wrong
 *   ENODEV  dev is not a software device, or it was destroyed
 *   EIO     the process is a fork child and the device belongs to its parent
 * All since 0.1.0; the behaviour is OpenDEVX's own.
 */
#ifndef OPENDEVX_SOFT_H
#define OPENDEVX_SOFT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ibv_device;
struct mlx5dv_devx_obj;

/*
 * A new software device. spec has the grammar of OPENDEVX_SOFT (odx_soft_create(3)); "" or "on" is a device with all
 * defaults. The device is in the device list until it is destroyed. NULL with errno: EINVAL (a bad spec is also described
 * in one line on stderr; "off" gives ENODEV and prints nothing), ENOMEM.
 */
struct ibv_device *odx_soft_create(const char *spec);

/* Takes the device away, out of the device list too. EBUSY while contexts are open on it. NULL: 0. */
int odx_soft_destroy(struct ibv_device *dev);

/* From now on asynchronous commands queue up and none completes; synchronous ones and destroys go on. */
int odx_soft_hold(struct ibv_device *dev);

/*
 * Completes the n oldest held commands; their completions can be read when the call returns. UINT32_MAX: all, and holding
 * ends. Fewer than n held: all of them, and holding goes on.
 */
int odx_soft_release(struct ibv_device *dev, uint32_t n);

/*
 * Surprise removal. Queued completions stay readable, commands in flight complete as aborted, and later calls on the
 * device's contexts give EIO. Done when the call returns; a second call changes nothing.
 */
int odx_soft_remove(struct ibv_device *dev);

/*
 * Adds a fault rule: "opcode=0x93b nth=3 status=0x5 syndrome=0x2c4154", "opcode=0x93b hang", "nth=10 delay=5ms"; or "clear",
 * which takes all rules away. A rule that does not parse gives EINVAL, one line on stderr, and changes nothing.
 * EINVAL also for NULL; ENOMEM.
 */
int odx_soft_fault(struct ibv_device *dev, const char *rule);

/*
 * Moves the time of a device whose spec says clock=manual by ns nanoseconds; all that became due is delivered when the call
 * returns. EINVAL: the device's clock is not manual, or the time would overflow.
 */
int odx_soft_advance(struct ibv_device *dev, uint64_t ns);

/*
 * Adds packets and octets to a flow counter, as traffic through the NIC would; counters wrap at 2^64. counter_id may lie inside
 * a bulk. ENOENT: no such counter. EIO: the device was removed.
 */
int odx_soft_traffic(struct ibv_device *dev, uint32_t counter_id, uint64_t packets, uint64_t octets);

/*
 * An Ethernet frame arrives at a port, counted from 1, and takes its way through the NIC receive flow tables: entries match it,
 * counters count it (odx_soft_packet(3) says where it begins). EINVAL: frame is NULL, len is below 14 or above 65,535, or there
 * is no such port. ENETDOWN: the port's link is down. EIO: the device was removed.
 */
int odx_soft_packet(struct ibv_device *dev, const void *frame, size_t len, uint32_t port);

/*
 * Takes the link of a port down, or brings it up: commands that tell the port's state see it, and the device raises a port
 * change event, which programs receive as IBV_EVENT_PORT_ERR or IBV_EVENT_PORT_ACTIVE too. No event when it is so already.
 * Ports count from 1. EINVAL: no such port. EIO: the device was removed.
 */
int odx_soft_port(struct ibv_device *dev, uint32_t port, int up);

/*
 * An event on an object of the device, such as a CQ error or a fatal error of a QP, with its effect on the object's state as on a
 * real device. event: its number in the PRM (odx_soft_event(3) lists them); syndrome: of events that carry one, else 0.
 * EINVAL: obj is NULL, or such objects have no such event. EBUSY: not in the state of the object, or no such syndrome.
 * ENOENT: obj is not a live object of this device. EIO: the device was removed.
 */
int odx_soft_event(struct ibv_device *dev, struct mlx5dv_devx_obj *obj, uint16_t event, uint8_t syndrome);

/*
 * Writes the device's whole spec, defaults and seed included, as a string to buf: given to odx_soft_create it makes an equal
 * device. EINVAL: buf is NULL; ENOSPC: len is too small (512 always suffices).
 */
int odx_soft_spec(struct ibv_device *dev, char *buf, size_t len);

#ifdef __cplusplus
}
#endif

#endif
