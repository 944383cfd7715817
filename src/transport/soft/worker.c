/* SPDX-License-Identifier: BSD-2-Clause */
/* The device thread, and the way of commands into the model and out of it. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "device.h"
#include "prm.h"

#define NS UINT64_C(1000000000)

uint64_t soft_now(struct soft_device *dev)
{
	struct timespec ts;

	if (dev->spec.manual_clock)
		return dev->manual_now;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS + (uint64_t)ts.tv_nsec;
}

/* Queue lock held. */
static void wake(struct soft_device *dev)
{
	if (dev->sleeping) {
		dev->sleeping = false;
		pthread_cond_signal(&dev->wake);
	}
}

static void wake_waiter(struct soft_cmd *cmd)
{
	cmd->waiter->done = true;
	pthread_cond_signal(&cmd->waiter->cond);
}

/* strict exists to find the bits that a program set by mistake, so it says which ones. */
static void tell_strict(struct soft_device *dev, const struct hca_cmd *cmd)
{
	struct prm_box b = prm_in(cmd->box, cmd->outlen);
	uint32_t syndrome = (uint32_t)PRM_GET(&b, nop_out, syndrome);
	const char *op = prm_opcode_name(cmd->opcode);
	char text[128];

	if (cmd->end == HCA_DONE && HCA_IS_STRICT(syndrome) && hca_syndrome_text(syndrome, text, sizeof(text)))
		fprintf(stderr, "opendevx: %s: %s: %s\n", dev->handle->ibv.name, op ? op : "unknown opcode", text);
}

/* Hands out all that is due; what belongs to one completion goes to it in one go. */
static void deliver(struct soft_device *dev, uint64_t now)
{
	struct hca_cmd *head = NULL, *tail = NULL, *cmd;
	unsigned int n = 0;

	while ((cmd = hca_due(dev->hca, now))) {
		if (dev->spec.hca.strict)
			tell_strict(dev, cmd);
		if (soft_wants_permit(cmd->opcode))
			soft_permit_back(dev);
		if (head && (!cmd->async || soft_cmd_of(cmd)->comp != soft_cmd_of(head)->comp)) {
			soft_comp_push(soft_cmd_of(head)->comp, head, tail, n);
			head = NULL;
			n = 0;
		}
		if (!cmd->async) {
			wake_waiter(soft_cmd_of(cmd));
			continue;
		}
		cmd->next = NULL;
		if (head)
			tail->next = cmd;
		else
			head = cmd;
		tail = cmd;
		n++;
	}
	if (head)
		soft_comp_push(soft_cmd_of(head)->comp, head, tail, n);
}

#define GROUP 16u

void soft_pump(struct soft_device *dev)
{
	struct hca_cmd *cmd, *next;
	uint64_t now = soft_now(dev), due;
	unsigned int n;

	pthread_mutex_lock(&dev->queue_lock);
	cmd = dev->queue_head;
	dev->queue_head = dev->queue_tail = NULL;
	pthread_mutex_unlock(&dev->queue_lock);
	do {
		/* In groups: what was fetched ahead is still in the cache, and the first completions need not wait for the last. */
		for (n = 0, next = cmd; next && n < GROUP; next = next->next)
			n++;
		if (n > 1)
			hca_prefetch(dev->hca, cmd, n);
		for (; n--; cmd = next) {
			next = cmd->next;
			hca_submit(dev->hca, cmd, now);
		}
		deliver(dev, now);
	} while (cmd);
	atomic_store(&dev->stalled, hca_stalled(dev->hca));
	due = dev->spec.manual_clock ? HCA_NEVER : hca_next(dev->hca);
	pthread_mutex_lock(&dev->queue_lock);
	if (due < dev->next_due)
		wake(dev); /* it sleeps for longer than that */
	dev->next_due = due;
	pthread_mutex_unlock(&dev->queue_lock);
}

/* Queue lock held: until there is something to do. */
static void sleep_until_due(struct soft_device *dev)
{
	while (!dev->stop && !dev->queue_head) {
		uint64_t due = dev->next_due;
		struct timespec ts = { .tv_sec = (time_t)(due / NS), .tv_nsec = (long)(due % NS) };

		dev->sleeping = true;
		if (due == HCA_NEVER)
			pthread_cond_wait(&dev->wake, &dev->queue_lock);
		else if (pthread_cond_timedwait(&dev->wake, &dev->queue_lock, &ts) == ETIMEDOUT)
			break;
	}
	dev->sleeping = false;
}

static void *worker(void *arg)
{
	struct soft_device *dev = arg;

	prctl(PR_SET_NAME, "opendevx");
	prctl(PR_SET_TIMERSLACK, 1); /* latencies of microseconds mean something */
	for (;;) {
		bool stop;

		pthread_mutex_lock(&dev->queue_lock);
		sleep_until_due(dev);
		stop = dev->stop;
		pthread_mutex_unlock(&dev->queue_lock);
		if (stop)
			return NULL;
		pthread_mutex_lock(&dev->model);
		soft_pump(dev);
		pthread_mutex_unlock(&dev->model);
	}
}

int soft_worker_start(struct soft_device *dev)
{
	sigset_t all, old;
	int err;

	dev->stop = false;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&dev->thread, NULL, worker, dev);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return err;
}

void soft_worker_stop(struct soft_device *dev)
{
	pthread_mutex_lock(&dev->queue_lock);
	dev->stop = true;
	pthread_cond_signal(&dev->wake);
	pthread_mutex_unlock(&dev->queue_lock);
	pthread_join(dev->thread, NULL);
}

void soft_submit(struct soft_device *dev, struct soft_cmd *cmd)
{
	cmd->hca.next = NULL;
	if (dev->spec.inline_cmds) {
		pthread_mutex_lock(&dev->model);
		hca_submit(dev->hca, &cmd->hca, soft_now(dev));
		soft_pump(dev);
		pthread_mutex_unlock(&dev->model);
		return;
	}
	pthread_mutex_lock(&dev->queue_lock);
	if (dev->queue_head)
		dev->queue_tail->next = &cmd->hca;
	else
		dev->queue_head = &cmd->hca;
	dev->queue_tail = &cmd->hca;
	wake(dev);
	pthread_mutex_unlock(&dev->queue_lock);
}

static int driver_error(enum hca_end end)
{
	switch (end) {
	case HCA_DONE:
		return 0;
	case HCA_TIMED_OUT:
		return ETIMEDOUT;
	case HCA_NO_SLOT:
		return EBUSY;
	case HCA_NOT_STARTED:
		return ECANCELED;
	default:
		return EIO;
	}
}

/*
 * The caller pumps itself: what was submitted before goes first, and a command that takes no time costs no switch of
 * threads. One that takes time is waited for, and the device thread ends it.
 */
static int run(struct soft_device *dev, struct soft_cmd *cmd)
{
	struct soft_waiter w = { .cond = PTHREAD_COND_INITIALIZER };
	struct prm_box in = prm_in(cmd->hca.box, cmd->hca.inlen);
	bool permit = soft_wants_permit((uint16_t)PRM_GET(&in, nop_in, opcode));

	if (permit)
		soft_permit_wait(dev);
	cmd->waiter = &w;
	pthread_mutex_lock(&dev->model);
	if (hca_stalled(dev->hca)) {
		pthread_mutex_unlock(&dev->model);
		if (permit)
			soft_permit_back(dev);
		return EAGAIN;
	}
	soft_pump(dev);
	hca_submit(dev->hca, &cmd->hca, soft_now(dev));
	soft_pump(dev);
	while (!w.done)
		pthread_cond_wait(&w.cond, &dev->model);
	pthread_mutex_unlock(&dev->model);
	pthread_cond_destroy(&w.cond);
	return driver_error(cmd->hca.end);
}

#define ON_STACK 512 /* box bytes that need no allocation */

int soft_command(struct soft_device *dev, uint16_t uid, const void *in, size_t inlen, void *out, size_t outlen)
{
	union {
		struct soft_cmd cmd;
		char room[sizeof(struct soft_cmd) + ON_STACK];
	} small;
	size_t box = inlen > outlen ? inlen : outlen;
	struct soft_cmd *cmd = box <= ON_STACK ? &small.cmd : malloc(sizeof(*cmd) + box);
	int err;

	if (!cmd)
		return ENOMEM;
	memset(cmd, 0, sizeof(*cmd));
	memcpy(cmd->hca.box, in, inlen);
	rules_stamp_uid(cmd->hca.box, uid);
	cmd->hca.inlen = (uint32_t)inlen;
	cmd->hca.outlen = (uint16_t)outlen;
	rules_force_umem(cmd->hca.box, inlen);
	err = run(dev, cmd);
	if (!err)
		memcpy(out, cmd->hca.box, outlen);
	if (cmd != &small.cmd)
		free(cmd);
	return err;
}

int soft_status(const void *out)
{
	struct prm_box b = prm_in(out, PRM_HDR_SZ);

	return prm_status_errno((uint8_t)PRM_GET(&b, nop_out, status));
}
