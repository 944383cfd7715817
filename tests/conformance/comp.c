/* SPDX-License-Identifier: BSD-2-Clause */
/* Completions: descriptor, readiness, records, passing on. */
#include "conf.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>

CASE(fd_is_cloexec_and_blocking, "devx-abi 5", ANY, "The descriptor of a completion has O_CLOEXEC and is blocking.")
{
	struct rig r = rig();

	CHECK_EQ(fcntl(r.comp->fd, F_GETFD), FD_CLOEXEC);
	CHECK_EQ(fcntl(r.comp->fd, F_GETFL) & O_NONBLOCK, 0);
}

CASE(empty_nonblocking_get_is_eagain, "devx-abi 5", ANY, "With O_NONBLOCK, get without a record gives EAGAIN.")
{
	struct rig r = rig();
	struct record rec;

	set_nonblock(r.comp->fd, true);
	CHECK_EQ(get(r.comp, &rec), EAGAIN);
	CHECK_EQ(submit(&r, OUTLEN, 1), 0);
	expect_wr(r.comp, 1);
	CHECK_EQ(get(r.comp, &rec), EAGAIN);
	set_nonblock(r.comp->fd, false);
}

CASE(blocking_get_sleeps_until_a_record_comes, "devx-abi 5", ANY, "Without O_NONBLOCK, get sleeps until a record comes.")
{
	struct rig r = rig();
	struct getter *g;
	uint64_t wr_id;

	set_nonblock(r.comp->fd, true); /* on, and off again: the flag of now decides */
	set_nonblock(r.comp->fd, false);
	g = getter_start(r.comp);
	wait_asleep(g->t);
	CHECK_EQ(submit(&r, OUTLEN, 77), 0);
	CHECK_EQ(getter_end(g, &wr_id), 0);
	CHECK_EQ(wr_id, 77);
}

static atomic_int signals;

static void on_signal(int sig)
{
	atomic_fetch_add(&signals, 1);
}

static void catch_signal(int flags)
{
	struct sigaction sa = { .sa_handler = on_signal, .sa_flags = flags };

	atomic_store(&signals, 0);
	CHECK_EQ(sigaction(SIGUSR1, &sa, NULL), 0);
}

CASE(signal_interrupts_get_with_eintr, "devx-abi 5", ANY, "A signal ends a get that sleeps with EINTR.")
{
	struct rig r = rig();
	struct getter *g;

	catch_signal(0);
	g = getter_start(r.comp);
	while (!is_done(g->t)) { /* one that comes before it sleeps is lost: again */
		pthread_kill(g->t->thread, SIGUSR1);
		sched_yield();
	}
	CHECK_EQ(getter_end(g, NULL), EINTR);
}

CASE(sa_restart_restarts_get, "devx-abi 5", ANY, "A signal whose handler has SA_RESTART does not end a get that sleeps.")
{
	struct rig r = rig();
	struct getter *g;
	uint64_t wr_id;

	catch_signal(SA_RESTART);
	g = getter_start(r.comp);
	wait_asleep(g->t);
	pthread_kill(g->t->thread, SIGUSR1);
	wait_asleep(g->t);
	CHECK_EQ(submit(&r, OUTLEN, 5), 0);
	CHECK_EQ(getter_end(g, &wr_id), 0);
	CHECK_EQ(wr_id, 5);
	CHECK_EQ(atomic_load(&signals), 1);
}

CASE(short_buffer_is_enospc_and_keeps_the_record, "devx-abi 5", ANY,
     "A buffer that is too small, down to 0 bytes, gives ENOSPC, stays as it is, and the record stays.")
{
	struct rig r = rig();
	uint8_t buf[64];

	CHECK_EQ(submit(&r, OUTLEN, 9), 0);
	CHECK(ready(r.comp->fd, POLLIN, PATIENCE_MS) & POLLIN);
	for (size_t len = 0; len < 8 + OUTLEN; len++) {
		memset(buf, 0xa5, sizeof(buf));
		CHECK_EQ(get_sized(r.comp, buf, len), ENOSPC);
		CHECK_EQ(buf[0], 0xa5);
		CHECK_EQ(ready(r.comp->fd, POLLIN, 0), POLLIN);
	}
	CHECK_EQ(get_sized(r.comp, buf, 8 + OUTLEN), 0);
	expect_none(r.comp);
}

CASE(one_record_per_call_and_tail_untouched, "devx-abi 5", ANY,
     "A get gives one record of 8 + outlen bytes; the rest of the buffer stays as it is.")
{
	struct rig r = rig();
	uint8_t buf[128];
	uint64_t wr_id;

	CHECK_EQ(submit(&r, OUTLEN, 1), 0);
	CHECK_EQ(submit(&r, OUTLEN, 2), 0);
	for (uint64_t i = 1; i <= 2; i++) {
		CHECK(ready(r.comp->fd, POLLIN, PATIENCE_MS) & POLLIN);
		memset(buf, 0xa5, sizeof(buf));
		CHECK_EQ(get_sized(r.comp, buf, sizeof(buf)), 0);
		memcpy(&wr_id, buf, 8);
		CHECK_EQ(wr_id, i);
		for (size_t k = 8 + OUTLEN; k < sizeof(buf); k++)
			CHECK_EQ(buf[k], 0xa5);
	}
	expect_none(r.comp);
}

CASE(outlen_0_to_16, "devx-abi 5", ANY, "An outlen has no minimum; a record has as much of the outbox.")
{
	struct rig r = rig();
	uint8_t buf[32];

	for (size_t outlen = 0; outlen <= 16; outlen++) {
		CHECK_EQ(submit(&r, outlen, outlen), 0);
		CHECK(ready(r.comp->fd, POLLIN, PATIENCE_MS) & POLLIN);
		memset(buf, 0xa5, sizeof(buf));
		CHECK_EQ(get_sized(r.comp, buf, 7 + outlen), ENOSPC);
		CHECK_EQ(get_sized(r.comp, buf, 8 + outlen), 0);
		CHECK_EQ(buf[8 + outlen], 0xa5);
		if (outlen) /* too short for a counter, and the status says so */
			CHECK_EQ(buf[8], 0x51);
	}
}

CASE(wr_id_is_opaque_and_may_repeat, "devx-abi 5", ANY, "A wr_id is any number, and may be in use already.")
{
	static const uint64_t ids[] = { 0, UINT64_MAX, UINT64_MAX, 0, 1, UINT64_C(1) << 63 };
	struct rig r = rig();

	for (size_t i = 0; i < 6; i++)
		CHECK_EQ(submit(&r, OUTLEN, ids[i]), 0);
	for (size_t i = 0; i < 6; i++)
		expect_wr(r.comp, ids[i]);
}

CASE(completion_carries_the_data, "devx-abi 5", CONTROL, "The record has the outbox of the query.")
{
	struct rig r = rig_soft("");
	struct record rec;

	CHECK_EQ(traffic(r.dev, r.id, 4, 400), 0);
	CHECK_EQ(submit(&r, OUTLEN, 1), 0);
	get_ready(r.comp, &rec);
	CHECK_EQ(status_of(rec.out), 0);
	CHECK_EQ(packets_of(rec.out, 0), 4);
	CHECK_EQ(octets_of(rec.out, 0), 400);
}

CASE(firmware_failure_is_a_record, "devx-abi 5", CONTROL,
     "A command that the device refuses is a record like others, with status and syndrome in its outbox.")
{
	struct rig r = rig_soft("");
	struct record rec;

	fault(r.dev, "opcode=0x93b nth=1 status=0x5 syndrome=0x2c4154");
	CHECK_EQ(submit(&r, OUTLEN, 1), 0);
	get_ready(r.comp, &rec);
	CHECK_EQ(status_of(rec.out), 5);
	CHECK_EQ(syndrome_of(rec.out), 0x2c4154);
	fault(r.dev, "clear");
}

CASE(destroy_leaves_the_context_alone, "devx-abi 5", ANY,
     "Destroying a completion does not touch the context or its objects.")
{
	struct rig r = rig();
	uint8_t out[COUNTERS_OUT(1)];

	CHECK_EQ(submit(&r, OUTLEN, 1), 0);
	destroy_comp(r.comp);
	CHECK_EQ(query_counters(r.obj, r.id, 1, out, sizeof(out)), 0);
	r.comp = new_comp(r.ctx);
	CHECK_EQ(submit(&r, OUTLEN, 2), 0);
	expect_wr(r.comp, 2);
}

CASE(completions_are_many, "devx-abi 5", ANY, "A context may have any number of completions, each with a queue of its own.")
{
	struct rig r = rig();
	struct mlx5dv_devx_cmd_comp *comp[100];

	for (size_t i = 0; i < N_OF(comp); i++)
		comp[i] = new_comp(r.ctx);
	for (size_t i = 0; i < N_OF(comp); i++)
		CHECK_EQ(submit_to(&r, comp[i], OUTLEN, i), 0);
	for (size_t i = 0; i < N_OF(comp); i++) {
		expect_wr(comp[i], i);
		expect_none(comp[i]);
	}
}

CASE(readiness_is_level_triggered, "devx-abi 5", ANY,
     "The descriptor is POLLIN and POLLRDNORM while a record is queued, and nothing else.")
{
	struct rig r = rig();
	const short all = POLLIN | POLLRDNORM | POLLRDHUP | POLLPRI;
	struct timeval now = { 0 };
	fd_set set;

	CHECK_EQ(ready(r.comp->fd, all, 0), 0);
	CHECK_EQ(submit(&r, OUTLEN, 1), 0);
	CHECK_EQ(submit(&r, OUTLEN, 2), 0);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(ready(r.comp->fd, all, PATIENCE_MS), POLLIN | POLLRDNORM);
	FD_ZERO(&set);
	FD_SET(r.comp->fd, &set);
	CHECK_EQ(select(r.comp->fd + 1, &set, NULL, NULL, &now), 1);
	expect_wr(r.comp, 1);
	expect_wr(r.comp, 2);
	FD_SET(r.comp->fd, &set);
	CHECK_EQ(select(r.comp->fd + 1, &set, NULL, NULL, &now), 0);
}

CASE(queue_of_65536_records, "devx-abi 5", ANY, "65,536 records of 16 bytes fill the budget exactly, and come in order.")
{
	struct rig r = rig();

	for (uint64_t i = 0; i < 65536; i++)
		CHECK_EQ(submit(&r, 16, i), 0);
	CHECK_EQ(submit(&r, 1, 0), EAGAIN);
	for (uint64_t i = 0; i < 65536; i++)
		expect_wr(r.comp, i);
	expect_none(r.comp);
}

struct flood {
	struct rig r;
	uint64_t n;
};

static void flood_main(void *arg)
{
	struct flood *f = arg;

	for (uint64_t i = 0; i < f->n; i++)
		while (submit(&f->r, OUTLEN, i) == EAGAIN)
			sched_yield();
}

CASE(edge_triggered_epoll_loses_nothing, "deviations 5", ANY,
     "Who takes records until EAGAIN at each edge of an edge-triggered epoll sees every record.")
{
	struct flood *f = zeroed(sizeof(*f));
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET };
	struct runner *t;
	struct record rec;
	uint64_t seen = 0;
	int ep = epoll_create1(0), err;

	*f = (struct flood){ rig(), is_soft() ? 100000 : 5000 }; /* an emulated machine takes its time */
	set_nonblock(f->r.comp->fd, true);
	CHECK_EQ(epoll_ctl(ep, EPOLL_CTL_ADD, f->r.comp->fd, &ev), 0);
	t = run(flood_main, f);
	while (seen < f->n) {
		CHECK_EQ(epoll_wait(ep, &ev, 1, PATIENCE_MS), 1);
		CHECK_EQ(ev.events, EPOLLIN);
		while (!(err = get(f->r.comp, &rec)))
			CHECK_EQ(rec.wr_id, seen++);
		CHECK_EQ(err, EAGAIN);
	}
	join(t);
	close(ep);
}

CASE(each_record_wakes_one_of_two_readers, "devx-abi 5", ANY,
     "Of several threads that sleep in get, one gets the record and the others sleep on.")
{
	struct rig r = rig();
	struct getter *a = getter_start(r.comp), *b = getter_start(r.comp);
	uint64_t wr_a, wr_b;

	wait_asleep(a->t);
	wait_asleep(b->t);
	CHECK_EQ(submit(&r, OUTLEN, 1), 0);
	while (!is_done(a->t) && !is_done(b->t))
		sched_yield();
	wait_asleep(is_done(a->t) ? b->t : a->t);
	CHECK_EQ(submit(&r, OUTLEN, 2), 0);
	CHECK_EQ(getter_end(a, &wr_a), 0);
	CHECK_EQ(getter_end(b, &wr_b), 0);
	CHECK_EQ(wr_a + wr_b, 3);
}

CASE(dup_and_copied_struct_share_the_queue, "devx-abi 5", ANY,
     "A duplicated descriptor, and a copy of the struct, are the same queue.")
{
	struct rig r = rig();
	struct mlx5dv_devx_cmd_comp same = *r.comp, dupped = { .fd = dup(r.comp->fd) };

	CHECK_EQ(submit_to(&r, &same, OUTLEN, 1), 0);
	CHECK_EQ(ready(dupped.fd, POLLIN, PATIENCE_MS), POLLIN);
	expect_wr(&dupped, 1);
	CHECK_EQ(submit_to(&r, &dupped, OUTLEN, 2), 0);
	expect_wr(&same, 2);
	expect_none(r.comp);
	close(dupped.fd);
}

CASE(dup_delivers_after_the_first_fd_was_closed, "devx-abi 5", ANY,
     "A duplicated descriptor delivers when the first was closed.")
{
	struct rig r = rig();
	struct mlx5dv_devx_cmd_comp *comp = new_comp(r.ctx), dupped = { .fd = dup(comp->fd) };

	close(comp->fd);
	CHECK_EQ(submit_to(&r, &dupped, OUTLEN, 1), 0);
	expect_wr(&dupped, 1);
	CHECK_EQ(dup2(dupped.fd, comp->fd), comp->fd); /* destroy closes its own number */
	close(dupped.fd);
	destroy_comp(comp);
}

CASE(fd_passed_by_scm_rights_works, "devx-abi 5", ANY, "A descriptor that was passed over a socket is the same queue.")
{
	struct rig r = rig();
	union {
		struct cmsghdr hdr;
		char room[CMSG_SPACE(sizeof(int))];
	} u = { .room = { 0 } };
	char byte = 0;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &u, .msg_controllen = sizeof(u) };
	struct mlx5dv_devx_cmd_comp passed;
	int pair[2];

	CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	u.hdr.cmsg_level = SOL_SOCKET;
	u.hdr.cmsg_type = SCM_RIGHTS;
	u.hdr.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&u.hdr), &r.comp->fd, sizeof(int));
	CHECK_EQ(sendmsg(pair[0], &msg, 0), 1);
	CHECK_EQ(recvmsg(pair[1], &msg, 0), 1);
	memcpy(&passed.fd, CMSG_DATA(&u.hdr), sizeof(int));
	CHECK_NE(passed.fd, r.comp->fd);
	CHECK_EQ(submit_to(&r, &passed, OUTLEN, 4), 0);
	expect_wr(&passed, 4);
	close(passed.fd);
	close(pair[0]);
	close(pair[1]);
}

/* What is wrong in the child, as a number that names the line. */
static int in_child(struct rig *r)
{
	uint8_t in[COUNTER_IN], out[COUNTERS_OUT(1)];
	struct record rec;
	struct rig own;

	query_inbox(in, r->id, 1);
	if (get(r->comp, &rec) != EIO)
		return 1;
	if (submit(r, OUTLEN, 9) != EIO)
		return 2;
	if (mlx5dv_devx_obj_query(r->obj, in, sizeof(in), out, sizeof(out)) != EIO)
		return 3;
	if (mlx5dv_devx_obj_destroy(r->obj) != EIO)
		return 4;
	if (ibv_close_device(r->ctx) != EIO)
		return 5;
	if (odx_soft_hold(r->dev) != EIO)
		return 6;
	mlx5dv_devx_destroy_cmd_comp(r->comp);
	own = rig_soft("");
	if (submit(&own, OUTLEN, 1))
		return 7;
	if (get(own.comp, &rec))
		return 8;
	return submit_to(&own, r->comp, OUTLEN, 1) == EIO ? 0 : 9; /* an object of its own, the parent's completion */
}

CASE(fork_child_is_eio_and_may_have_its_own_device, "deviations 16", SOFT,
     "In a forked child, calls on what the parent made give EIO and change nothing; the child may have a device of its "
     "own.")
{
	struct rig r = rig_soft("");
	int status;
	pid_t pid;

#ifdef __SANITIZE_THREAD__
	SKIP("the thread sanitizer allows no threads in the child of a process that has some");
#endif
	CHECK_EQ(submit(&r, OUTLEN, 8), 0);
	CHECK(ready(r.comp->fd, POLLIN, PATIENCE_MS) & POLLIN);
	pid = fork();
	if (!pid)
		_exit(in_child(&r));
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFEXITED(status));
	CHECK_EQ(WEXITSTATUS(status), 0);
	expect_wr(r.comp, 8);
	CHECK_EQ(submit(&r, OUTLEN, 9), 0);
	expect_wr(r.comp, 9);
}

CASE(null_arguments, "deviations 3", OURS, "Destroying a NULL completion does nothing; any other NULL gives EINVAL.")
{
	struct rig r = rig();
	struct record rec;

	mlx5dv_devx_destroy_cmd_comp(NULL);
	CHECK_NULL(mlx5dv_devx_create_cmd_comp(NULL), EINVAL);
	CHECK_EQ(get(NULL, &rec), EINVAL);
	CHECK_EQ(get(r.comp, NULL), EINVAL);
}
