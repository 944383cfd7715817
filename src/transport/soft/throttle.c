/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Permits: commands on general objects and SYNC_CRYPTO may take half of the slots, so that they cannot keep the others out
 * (Linux, drivers/net/ethernet/mellanox/mlx5/core/cmd.c). Asynchronous ones are refused when there is none; synchronous
 * ones wait, and get the next that comes back, in the order in which they came. A permit comes back when its command ends.
 * While the device holds, asynchronous ones may keep theirs for long, and synchronous ones must go on: they take what is not
 * there.
 */
#include "device.h"
#include "prm.h"

void soft_permits_init(struct soft_device *dev)
{
	dev->permits = (HCA_SLOTS + 1) / 2;
	dev->permits_held = false;
	dev->first_waiting = dev->last_waiting = NULL;
}

bool soft_wants_permit(uint16_t opcode)
{
	switch (opcode) {
	case PRM_OP_CREATE_GENERAL_OBJECT:
	case PRM_OP_MODIFY_GENERAL_OBJECT:
	case PRM_OP_QUERY_GENERAL_OBJECT:
	case PRM_OP_DESTROY_GENERAL_OBJECT:
	case PRM_OP_SYNC_CRYPTO:
		return true;
	default:
		return false;
	}
}

bool soft_permit_try(struct soft_device *dev)
{
	bool got;

	pthread_mutex_lock(&dev->queue_lock);
	got = dev->permits > 0;
	dev->permits -= got;
	pthread_mutex_unlock(&dev->queue_lock);
	return got;
}

void soft_permit_wait(struct soft_device *dev)
{
	struct soft_waiter w = { .cond = PTHREAD_COND_INITIALIZER };

	pthread_mutex_lock(&dev->queue_lock);
	if (dev->permits > 0 || dev->permits_held) {
		dev->permits--;
		w.done = true;
	} else if (dev->last_waiting) {
		dev->last_waiting->next = &w;
		dev->last_waiting = &w;
	} else {
		dev->first_waiting = dev->last_waiting = &w;
	}
	while (!w.done)
		pthread_cond_wait(&w.cond, &dev->queue_lock);
	pthread_mutex_unlock(&dev->queue_lock);
	pthread_cond_destroy(&w.cond);
}

/* Queue lock held. */
static void hand_out(struct soft_device *dev)
{
	struct soft_waiter *w;

	while ((w = dev->first_waiting) && (dev->permits > 0 || dev->permits_held)) {
		dev->permits--;
		dev->first_waiting = w->next;
		if (!w->next)
			dev->last_waiting = NULL;
		w->done = true;
		pthread_cond_signal(&w->cond);
	}
}

void soft_permit_back(struct soft_device *dev)
{
	pthread_mutex_lock(&dev->queue_lock);
	dev->permits++;
	hand_out(dev);
	pthread_mutex_unlock(&dev->queue_lock);
}

void soft_permits_hold(struct soft_device *dev, bool hold)
{
	pthread_mutex_lock(&dev->queue_lock);
	dev->permits_held = hold;
	hand_out(dev);
	pthread_mutex_unlock(&dev->queue_lock);
}
