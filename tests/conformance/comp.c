/* SPDX-License-Identifier: BSD-2-Clause */
/* Completions: descriptor, readiness, records, budget (devx-abi 5). */
#include "old_conf.h"

#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>

/* devx-abi 5: O_CLOEXEC and blocking. */
static void fd_is_cloexec_and_blocking(void **state)
{
	struct rig *r = *state;

	assert_int_equal(fcntl(r->comp->fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(fcntl(r->comp->fd, F_GETFL) & O_NONBLOCK, 0);
}

static void empty_nonblocking_get_is_eagain(void **state)
{
	struct rig *r = *state;
	struct record rec;

	set_nonblock(r->comp->fd, true);
	assert_int_equal(get(r->comp, &rec), EAGAIN);
	assert_int_equal(submit(r, 32, 1), 0);
	expect_wr(r->comp, 1);
	assert_int_equal(get(r->comp, &rec), EAGAIN);
	set_nonblock(r->comp->fd, false);
}

static void blocking_get_sleeps_until_a_record_comes(void **state)
{
	struct rig *r = *state;
	struct getter *g;
	uint64_t wr_id;

	set_nonblock(r->comp->fd, true); /* on, and off again: the flag of now decides */
	set_nonblock(r->comp->fd, false);
	g = getter_start(r->comp);
	wait_asleep(&g->t);
	assert_int_equal(submit(r, 32, 77), 0);
	assert_int_equal(getter_end(g, &wr_id), 0);
	assert_int_equal(wr_id, 77);
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
	assert_int_equal(sigaction(SIGUSR1, &sa, NULL), 0);
}

/* devx-abi 5: empty and blocking: a signal gives EINTR, or a restart with SA_RESTART. */
static void signal_interrupts_get_with_eintr(void **state)
{
	struct rig *r = *state;
	struct getter *g;

	catch_signal(0);
	g = getter_start(r->comp);
	while (!atomic_load(&g->t.done)) { /* one that comes before it sleeps is lost: again */
		pthread_kill(g->t.thread, SIGUSR1);
		sched_yield();
	}
	assert_int_equal(getter_end(g, NULL), EINTR);
}

static void sa_restart_restarts_get(void **state)
{
	struct rig *r = *state;
	struct getter *g;
	uint64_t wr_id;

	catch_signal(SA_RESTART);
	g = getter_start(r->comp);
	wait_asleep(&g->t);
	pthread_kill(g->t.thread, SIGUSR1);
	wait_asleep(&g->t);
	assert_int_equal(submit(r, 32, 5), 0);
	assert_int_equal(getter_end(g, &wr_id), 0);
	assert_int_equal(wr_id, 5);
	assert_int_equal(atomic_load(&signals), 1);
}

static int get_sized(struct mlx5dv_devx_cmd_comp *comp, void *buf, size_t len)
{
	return mlx5dv_devx_get_async_cmd_comp(comp, buf, len);
}

/* devx-abi 5: a buffer that is too small gives ENOSPC, 0 to 8 bytes included, and the record stays. */
static void short_buffer_is_enospc_and_keeps_the_record(void **state)
{
	struct rig *r = *state;
	uint8_t buf[64];

	assert_int_equal(submit(r, 32, 9), 0);
	assert_true(ready(r->comp->fd, POLLIN, PATIENCE_MS) & POLLIN);
	for (size_t len = 0; len < 40; len++) {
		memset(buf, 0xa5, sizeof(buf));
		assert_int_equal(get_sized(r->comp, buf, len), ENOSPC);
		assert_int_equal(buf[0], 0xa5);
		assert_int_equal(ready(r->comp->fd, POLLIN, 0), POLLIN);
	}
	assert_int_equal(get_sized(r->comp, buf, 40), 0);
	expect_none(r->comp);
}

/* devx-abi 5: 8 + outlen bytes exactly; the tail of the buffer stays; never two records. */
static void one_record_per_call_and_tail_untouched(void **state)
{
	struct rig *r = *state;
	uint8_t buf[128];
	uint64_t wr_id;

	assert_int_equal(submit(r, 32, 1), 0);
	assert_int_equal(submit(r, 32, 2), 0);
	for (uint64_t i = 1; i <= 2; i++) {
		assert_true(ready(r->comp->fd, POLLIN, PATIENCE_MS) & POLLIN);
		memset(buf, 0xa5, sizeof(buf));
		assert_int_equal(get_sized(r->comp, buf, sizeof(buf)), 0);
		memcpy(&wr_id, buf, 8);
		assert_int_equal(wr_id, i);
		for (size_t k = 40; k < sizeof(buf); k++)
			assert_int_equal(buf[k], 0xa5);
	}
	expect_none(r->comp);
}

/* devx-abi 5: outlen has no minimum. */
static void outlen_0_to_16(void **state)
{
	struct rig *r = *state;
	uint8_t buf[32];

	for (size_t outlen = 0; outlen <= 16; outlen++) {
		assert_int_equal(submit(r, outlen, outlen), 0);
		assert_true(ready(r->comp->fd, POLLIN, PATIENCE_MS) & POLLIN);
		memset(buf, 0xa5, sizeof(buf));
		assert_int_equal(get_sized(r->comp, buf, 7 + outlen), ENOSPC);
		assert_int_equal(get_sized(r->comp, buf, 8 + outlen), 0);
		assert_int_equal(buf[8 + outlen], 0xa5);
		if (outlen) /* too short for a counter, and the status says so */
			assert_int_equal(buf[8], 0x51);
	}
}

static void wr_id_is_opaque_and_may_repeat(void **state)
{
	static const uint64_t ids[] = { 0, UINT64_MAX, UINT64_MAX, 0, 1, UINT64_C(1) << 63 };
	struct rig *r = *state;

	for (size_t i = 0; i < 6; i++)
		assert_int_equal(submit(r, 32, ids[i]), 0);
	for (size_t i = 0; i < 6; i++)
		expect_wr(r->comp, ids[i]);
}

static void completion_carries_the_data(void **state)
{
	struct rig *r = *state;
	struct record rec;

	assert_int_equal(odx_soft_traffic(r->dev, r->id, 4, 400), 0);
	assert_int_equal(submit(r, 32, 1), 0);
	get_ready(r->comp, &rec);
	assert_int_equal(status_of(rec.out), 0);
	assert_int_equal(get64(rec.out, 16), 4);
	assert_int_equal(get64(rec.out, 24), 400);
}

/* devx-abi 5: a failed command is a record; status and syndrome are in its outbox. */
static void firmware_failure_is_a_record(void **state)
{
	struct rig *r = *state;
	struct record rec;

	assert_int_equal(odx_soft_fault(r->dev, "opcode=0x93b nth=1 status=0x5 syndrome=0x2c4154"), 0);
	assert_int_equal(submit(r, 32, 1), 0);
	get_ready(r->comp, &rec);
	assert_int_equal(status_of(rec.out), 5);
	assert_int_equal(syndrome_of(rec.out), 0x2c4154);
	assert_int_equal(odx_soft_fault(r->dev, "clear"), 0);
}

/* devx-abi 5: only queries of the object's own ids, 16 to 65535 bytes in, up to 65535 out. */
static void submit_checks(void **state)
{
	struct rig *r = *state;
	uint8_t *in = calloc(1, 65536);
	struct mlx5dv_devx_cmd_comp no_fd = { .fd = -1 };
	struct record rec;

	query_inbox(in, r->id, 1);
	assert_int_equal(mlx5dv_devx_obj_query_async(r->obj, in, 0, 32, 1, r->comp), EINVAL);
	assert_int_equal(mlx5dv_devx_obj_query_async(r->obj, in, 15, 32, 1, r->comp), EINVAL);
	assert_int_equal(mlx5dv_devx_obj_query_async(r->obj, in, 16, 32, 1, r->comp), EINVAL);
	assert_int_equal(mlx5dv_devx_obj_query_async(r->obj, in, 65536, 32, 1, r->comp), EINVAL);
	assert_int_equal(mlx5dv_devx_obj_query_async(r->obj, in, 32, 65536, 1, r->comp), EINVAL);
	assert_int_equal(mlx5dv_devx_obj_query_async(r->obj, in, 32, 32, 1, &no_fd), EINVAL);
	query_inbox(in, r->id + 128, 1);
	assert_int_equal(mlx5dv_devx_obj_query_async(r->obj, in, 32, 32, 1, r->comp), EINVAL);
	query_inbox(in, r->id, 1);
	put16(in, 4, 1);
	assert_int_equal(mlx5dv_devx_obj_query_async(r->obj, in, 32, 32, 1, r->comp), EINVAL);
	query_inbox(in, r->id, 1);
	for (uint16_t op = ALLOC_FLOW_COUNTER; op <= DEALLOC_FLOW_COUNTER; op++) {
		put16(in, 0, op);
		assert_int_equal(mlx5dv_devx_obj_query_async(r->obj, in, 32, 32, 1, r->comp), EINVAL);
	}
	put16(in, 0, NOP);
	assert_int_equal(mlx5dv_devx_obj_query_async(r->obj, in, 32, 32, 1, r->comp), EINVAL);
	expect_none(r->comp);
	query_inbox(in, r->id + 127, 1);
	assert_int_equal(mlx5dv_devx_obj_query_async(r->obj, in, 65535, 65535, 1, r->comp), 0);
	get_ready(r->comp, &rec);
	assert_int_equal(status_of(rec.out), 0);
	free(in);
}

/* devx-abi 5: a descriptor that is no completion, and a completion of another context: EBADF. */
static void foreign_descriptor_is_ebadf(void **state)
{
	struct rig *r = *state;
	struct ibv_context *ctx = open_devx(r->dev);
	struct mlx5dv_devx_cmd_comp *other = mlx5dv_devx_create_cmd_comp(ctx), fake;
	int pair[2];

	assert_int_equal(submit_to(r, other, 32, 1), EBADF);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	fake.fd = pair[0];
	assert_int_equal(submit_to(r, &fake, 32, 1), EBADF);
	fake.fd = r->ctx->cmd_fd;
	assert_int_equal(submit_to(r, &fake, 32, 1), EBADF);
	close(pair[0]);
	close(pair[1]);
	mlx5dv_devx_destroy_cmd_comp(other);
	assert_int_equal(submit_to(r, other, 32, 1), EBADF); /* stale */
	assert_int_equal(ibv_close_device(ctx), 0);
}

/* The inbox was copied when submit returned: it may be reused. */
static void inbox_is_copied(void **state)
{
	struct rig *r = *state;
	uint8_t in[32];
	struct record rec;

	assert_int_equal(odx_soft_hold(r->dev), 0);
	query_inbox(in, r->id, 1);
	assert_int_equal(mlx5dv_devx_obj_query_async(r->obj, in, 32, 32, 3, r->comp), 0);
	memset(in, 0xff, sizeof(in));
	assert_int_equal(odx_soft_release(r->dev, UINT32_MAX), 0);
	get_ready(r->comp, &rec);
	assert_int_equal(status_of(rec.out), 0);
}

/* devx-abi 5: exactly 1,048,576 bytes fit, from submit until get; outlen 0 is free; a short get frees nothing. */
static void budget_is_one_mebibyte(void **state)
{
	struct rig *r = *state;
	uint8_t small[8];
	struct record rec;

	for (int i = 0; i < 16; i++)
		assert_int_equal(submit(r, 65535, 1), 0);
	assert_int_equal(submit(r, 17, 1), EAGAIN);
	assert_int_equal(submit(r, 16, 1), 0);
	assert_int_equal(submit(r, 1, 1), EAGAIN);
	assert_int_equal(submit(r, 0, 1), 0);
	assert_true(ready(r->comp->fd, POLLIN, PATIENCE_MS) & POLLIN);
	assert_int_equal(get_sized(r->comp, small, sizeof(small)), ENOSPC);
	assert_int_equal(submit(r, 1, 1), EAGAIN);
	get_ready(r->comp, &rec);
	assert_int_equal(submit(r, 65535, 1), 0);
	assert_int_equal(submit(r, 1, 1), EAGAIN);
	for (int i = 0; i < 18; i++)
		get_ready(r->comp, &rec);
	expect_none(r->comp);
}

/* The budget is of one descriptor. */
static void budgets_are_separate(void **state)
{
	struct rig *r = *state;
	struct mlx5dv_devx_cmd_comp *other = mlx5dv_devx_create_cmd_comp(r->ctx);
	struct record rec;

	for (int i = 0; i < 16; i++)
		assert_int_equal(submit(r, 65535, 1), 0);
	assert_int_equal(submit(r, 65535, 1), EAGAIN);
	assert_int_equal(submit_to(r, other, 65535, 1), 0);
	expect_wr(other, 1);
	mlx5dv_devx_destroy_cmd_comp(other);
	for (int i = 0; i < 16; i++)
		get_ready(r->comp, &rec);
}

/* devx-abi 5: POLLIN | POLLRDNORM while a record is queued, again and again. */
static void readiness_is_level_triggered(void **state)
{
	struct rig *r = *state;
	const short all = POLLIN | POLLRDNORM | POLLRDHUP | POLLPRI;
	struct timeval now = { 0 };
	fd_set set;

	assert_int_equal(ready(r->comp->fd, all, 0), 0);
	assert_int_equal(submit(r, 32, 1), 0);
	assert_int_equal(submit(r, 32, 2), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(ready(r->comp->fd, all, PATIENCE_MS), POLLIN | POLLRDNORM);
	FD_ZERO(&set);
	FD_SET(r->comp->fd, &set);
	assert_int_equal(select(r->comp->fd + 1, &set, NULL, NULL, &now), 1);
	expect_wr(r->comp, 1);
	expect_wr(r->comp, 2);
	FD_SET(r->comp->fd, &set);
	assert_int_equal(select(r->comp->fd + 1, &set, NULL, NULL, &now), 0);
}

/* 65,536 records queued at once: 16 bytes each fill the budget exactly. */
static void queue_of_65536_records(void **state)
{
	struct rig *r = *state;

	for (uint64_t i = 0; i < 65536; i++)
		assert_int_equal(submit(r, 16, i), 0);
	assert_int_equal(submit(r, 1, 0), EAGAIN);
	for (uint64_t i = 0; i < 65536; i++)
		expect_wr(r->comp, i);
	expect_none(r->comp);
}

struct flood {
	struct rig *r;
	uint64_t n;
};

static void flood_main(void *arg)
{
	struct flood *f = arg;

	for (uint64_t i = 0; i < f->n; i++)
		while (submit(f->r, 32, i) == EAGAIN)
			sched_yield();
}

/* design, exception 4: who drains until EAGAIN at each edge sees every record. */
static void edge_triggered_epoll_loses_nothing(void **state)
{
	struct rig *r = *state;
	struct flood f = { r, 100000 };
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET };
	struct runner t;
	struct record rec;
	uint64_t seen = 0;
	int ep = epoll_create1(0), err;

	set_nonblock(r->comp->fd, true);
	assert_int_equal(epoll_ctl(ep, EPOLL_CTL_ADD, r->comp->fd, &ev), 0);
	run(&t, flood_main, &f);
	while (seen < f.n) {
		assert_int_equal(epoll_wait(ep, &ev, 1, PATIENCE_MS), 1);
		assert_int_equal(ev.events, EPOLLIN);
		while (!(err = get(r->comp, &rec)))
			assert_int_equal(rec.wr_id, seen++);
		assert_int_equal(err, EAGAIN);
	}
	join(&t);
	close(ep);
	set_nonblock(r->comp->fd, false);
}

/* devx-abi 5: several readers: one gets the record, the other sleeps on. */
static void each_record_wakes_one_of_two_readers(void **state)
{
	struct rig *r = *state;
	struct getter *a = getter_start(r->comp), *b = getter_start(r->comp);
	uint64_t wr_a, wr_b;

	wait_asleep(&a->t);
	wait_asleep(&b->t);
	assert_int_equal(submit(r, 32, 1), 0);
	while (!atomic_load(&a->t.done) && !atomic_load(&b->t.done))
		sched_yield();
	wait_asleep(atomic_load(&a->t.done) ? &b->t : &a->t);
	assert_int_equal(submit(r, 32, 2), 0);
	assert_int_equal(getter_end(a, &wr_a), 0);
	assert_int_equal(getter_end(b, &wr_b), 0);
	assert_int_equal(wr_a + wr_b, 3);
}

/* devx-abi 5: dup: the same queue; the struct may be the program's own. */
static void dup_and_copied_struct_share_the_queue(void **state)
{
	struct rig *r = *state;
	struct mlx5dv_devx_cmd_comp same = *r->comp, dupped = { .fd = dup(r->comp->fd) };

	assert_int_equal(submit_to(r, &same, 32, 1), 0);
	assert_int_equal(ready(dupped.fd, POLLIN, PATIENCE_MS), POLLIN);
	expect_wr(&dupped, 1);
	assert_int_equal(submit_to(r, &dupped, 32, 2), 0);
	expect_wr(&same, 2);
	expect_none(r->comp);
	close(dupped.fd);
}

static void dup_delivers_after_the_first_fd_was_closed(void **state)
{
	struct rig *r = *state;
	struct mlx5dv_devx_cmd_comp *comp = mlx5dv_devx_create_cmd_comp(r->ctx), dupped = { .fd = dup(comp->fd) };

	close(comp->fd);
	assert_int_equal(submit_to(r, &dupped, 32, 1), 0);
	expect_wr(&dupped, 1);
	assert_int_equal(dup2(dupped.fd, comp->fd), comp->fd); /* destroy closes its own number */
	close(dupped.fd);
	mlx5dv_devx_destroy_cmd_comp(comp);
}

static void fd_passed_by_scm_rights_works(void **state)
{
	struct rig *r = *state;
	union {
		struct cmsghdr hdr;
		char room[CMSG_SPACE(sizeof(int))];
	} u = { .room = { 0 } };
	char byte = 0;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &u, .msg_controllen = sizeof(u) };
	struct mlx5dv_devx_cmd_comp passed;
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	u.hdr.cmsg_level = SOL_SOCKET;
	u.hdr.cmsg_type = SCM_RIGHTS;
	u.hdr.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&u.hdr), &r->comp->fd, sizeof(int));
	assert_int_equal(sendmsg(pair[0], &msg, 0), 1);
	assert_int_equal(recvmsg(pair[1], &msg, 0), 1);
	memcpy(&passed.fd, CMSG_DATA(&u.hdr), sizeof(int));
	assert_int_not_equal(passed.fd, r->comp->fd);
	assert_int_equal(submit_to(r, &passed, 32, 4), 0);
	expect_wr(&passed, 4);
	close(passed.fd);
	close(pair[0]);
	close(pair[1]);
}

/* design: in a fork child calls give EIO and never touch the parent's queues; the child may have a device of its own. */
static void fork_child_is_eio_and_may_have_its_own_device(void **state)
{
	struct rig *r = *state;
	int status;
	pid_t pid;

#ifdef __SANITIZE_THREAD__ /* it allows no threads in the child of a process that has some */
	skip();
#endif
	assert_int_equal(submit(r, 32, 8), 0);
	assert_true(ready(r->comp->fd, POLLIN, PATIENCE_MS) & POLLIN);
	pid = fork();
	if (!pid) {
		struct record rec;
		struct rig own;
		uint8_t in[32], out[32];
		int bad = 0;

		query_inbox(in, r->id, 1);
		bad |= get(r->comp, &rec) != EIO;
		bad |= (submit(r, 32, 9) != EIO) << 1;
		bad |= (mlx5dv_devx_obj_query(r->obj, in, 32, out, 32) != EIO) << 2;
		bad |= (mlx5dv_devx_obj_destroy(r->obj) != EIO) << 3;
		bad |= (ibv_close_device(r->ctx) != EIO) << 4;
		bad |= (odx_soft_hold(r->dev) != EIO) << 5;
		mlx5dv_devx_destroy_cmd_comp(r->comp);
		own = rig_up("");
		bad |= (submit(&own, 32, 1) != 0) << 6;
		bad |= (get(own.comp, &rec) != 0) << 7;
		bad |= submit_to(&own, r->comp, 32, 1) != EIO; /* an object of its own, the parent's completion */
		_exit(bad);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	expect_wr(r->comp, 8);
	assert_int_equal(submit(r, 32, 9), 0);
	expect_wr(r->comp, 9);
}

static void null_arguments(void **state)
{
	struct rig *r = *state;
	struct record rec;

	mlx5dv_devx_destroy_cmd_comp(NULL);
	errno = 0;
	assert_null(mlx5dv_devx_create_cmd_comp(NULL));
	assert_int_equal(errno, EINVAL);
	assert_int_equal(get(NULL, &rec), EINVAL);
	assert_int_equal(get(r->comp, NULL), EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fd_is_cloexec_and_blocking),
		cmocka_unit_test(empty_nonblocking_get_is_eagain),
		cmocka_unit_test(blocking_get_sleeps_until_a_record_comes),
		cmocka_unit_test(signal_interrupts_get_with_eintr),
		cmocka_unit_test(sa_restart_restarts_get),
		cmocka_unit_test(short_buffer_is_enospc_and_keeps_the_record),
		cmocka_unit_test(one_record_per_call_and_tail_untouched),
		cmocka_unit_test(outlen_0_to_16),
		cmocka_unit_test(wr_id_is_opaque_and_may_repeat),
		cmocka_unit_test(completion_carries_the_data),
		cmocka_unit_test(firmware_failure_is_a_record),
		cmocka_unit_test(submit_checks),
		cmocka_unit_test(foreign_descriptor_is_ebadf),
		cmocka_unit_test(inbox_is_copied),
		cmocka_unit_test(budget_is_one_mebibyte),
		cmocka_unit_test(budgets_are_separate),
		cmocka_unit_test(readiness_is_level_triggered),
		cmocka_unit_test(queue_of_65536_records),
		cmocka_unit_test(edge_triggered_epoll_loses_nothing),
		cmocka_unit_test(each_record_wakes_one_of_two_readers),
		cmocka_unit_test(dup_and_copied_struct_share_the_queue),
		cmocka_unit_test(dup_delivers_after_the_first_fd_was_closed),
		cmocka_unit_test(fd_passed_by_scm_rights_works),
		cmocka_unit_test(fork_child_is_eio_and_may_have_its_own_device),
		cmocka_unit_test(null_arguments),
	};

	return cmocka_run_group_tests(tests, group_up, group_down);
}
