/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fork: the device thread does not exist in the child, and the parent's queues must not be touched. The child finds the
 * registry and the handle memory usable, no devices in it, and every handle of the parent's of an older generation.
 */
#include "device.h"

unsigned int soft_fork_gen;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int init_result;

static struct slab *const slabs[] = {
	&soft_handles, &soft_contexts, &soft_objs, &soft_umems, &soft_comps, &soft_channels, &soft_uars, &soft_pds, &soft_mrs,
	&soft_msis, &soft_eqs,
};
#define N_SLABS (sizeof(slabs) / sizeof(slabs[0]))

static void before_fork(void)
{
	pthread_mutex_lock(&soft_registry);
	for (size_t i = 0; i < N_SLABS; i++)
		pthread_mutex_lock(&slabs[i]->lock);
}

static void in_parent(void)
{
	for (size_t i = N_SLABS; i--;)
		pthread_mutex_unlock(&slabs[i]->lock);
	pthread_mutex_unlock(&soft_registry);
}

static void in_child(void)
{
	soft_fork_gen++;
	soft_devices_forget();
	in_parent();
}

static void init(void)
{
	init_result = pthread_atfork(before_fork, in_parent, in_child);
}

int soft_fork_init(void)
{
	pthread_once(&once, init);
	return init_result;
}
