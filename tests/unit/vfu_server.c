/* SPDX-License-Identifier: BSD-2-Clause */
/* Sockets, clients that come and go, several devices, timers, and control lines. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "vfu_fake.h"

static struct peer peer, *const p = &peer;
static char dir[] = "/tmp/vfu-XXXXXX", path[64];

static int make_dir(void **state)
{
	strcpy(dir + sizeof(dir) - 7, "XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/s", dir);
	return 0;
}

static int drop_dir(void **state)
{
	unlink(path);
	return rmdir(dir);
}

static int dial(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	return fd;
}

static void binding(void **state)
{
	char too_long[200];
	const char *why;
	int fd, other;

	memset(too_long, 'x', sizeof(too_long));
	too_long[108] = 0;
	assert_int_equal(vfu_bind(too_long, &why), -1);
	assert_non_null(strstr(why, "107"));
	assert_int_equal(vfu_bind("", &why), -1);
	assert_int_equal(vfu_bind("/nowhere/at/all", &why), -1);
	assert_int_equal(errno, ENOENT);
	fd = vfu_bind(path, &why);
	assert_true(fd >= 0);
	assert_int_equal(vfu_bind(path, &why), -1);
	assert_int_equal(errno, EADDRINUSE);
	assert_non_null(strstr(why, "in use"));
	for (other = 0; other < 20; other++) { /* also when its backlog is full */
		struct sockaddr_un a = { .sun_family = AF_UNIX };
		int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

		snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
		if (connect(s, (struct sockaddr *)&a, sizeof(a)))
			break;
	}
	assert_int_equal(vfu_bind(path, &why), -1);
	assert_int_equal(errno, EADDRINUSE);
	close(fd); /* stale */
	fd = vfu_bind(path, &why);
	assert_true(fd >= 0);
	close(fd);
	unlink(path);
	other = open(path, O_CREAT | O_WRONLY, 0600);
	assert_int_equal(vfu_bind(path, &why), -1);
	assert_int_equal(errno, EEXIST);
	assert_non_null(strstr(why, "no socket"));
	assert_int_equal(access(path, F_OK), 0);
	close(other);
}

static void one_at_a_time(void **state)
{
	const char *why;
	int second, third;
	char c;

	peer_open(p, NULL);
	vfu_listen(p->v, vfu_bind(path, &why));
	close(p->fd);
	run(p);
	p->fd = dial();
	greet(p, NULL);
	second = dial();
	run(p);
	assert_int_equal(recv(second, &c, 1, 0), 0); /* told at once */
	assert_int_equal(call(p, VFU_RESET, NULL, 0), 0);
	/* One that left makes way, though it left and the next came at the same time, and though it left words behind. */
	for (int i = 0; i < 10; i++)
		put(p, VFU_RESET, 0, NULL, 0);
	close(p->fd);
	third = dial();
	run(p);
	p->fd = third;
	greet(p, NULL);
	close(second);
	peer_close(p);
}

static void several_devices(void **state)
{
	static struct peer a, b;
	int fd = memory_file(4096, true);
	char c = 0;

	peer_open(&a, NULL);
	peer_open(&b, &(struct vfu_config){ .no_mmap = true });
	assert_int_equal(fake_alive, 2);
	assert_int_equal(map(&a, 0, 4096, 3, fd, 0), 0);
	assert_true(a.fn->ops.write(a.fn->host, 0, "x", 1));
	assert_false(b.fn->ops.read(b.fn->host, 0, &c, 1));
	assert_int_equal(reg_write(&a, PCI_BAR0, PCI_UAR_OFFSET, "1", 1), 0);
	assert_int_equal(reg_read(&b, PCI_BAR0, PCI_UAR_OFFSET, 1), 0);
	assert_int_equal(b.data[16], 0);
	peer_close(&a);
	assert_int_equal(call(&b, VFU_RESET, NULL, 0), 0);
	peer_close(&b);
	assert_int_equal(fake_alive, 0);
	close(fd);
}

static void timers(void **state)
{
	peer_open(p, NULL);
	p->fn->next = fake_now + 500;
	run(p);
	assert_int_equal(p->fn->n_due, 0);
	fake_now += 499;
	run(p);
	assert_int_equal(p->fn->n_due, 0);
	fake_now++;
	run(p);
	assert_int_equal(p->fn->n_due, 1);
	assert_int_equal(p->fn->due_at, fake_now);
	/* Also with no end of waiting allowed: it is due. */
	p->fn->next = 0;
	assert_true(vfu_step(p->v, -1));
	assert_int_equal(p->fn->n_due, 2);
	/* And while the client keeps it busy. */
	for (int i = 0; i < 40; i++)
		put(p, VFU_RESET, VFU_NO_REPLY, NULL, 0);
	run(p);
	peer_close(p);
}

static void stopping(void **state)
{
	int stop = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	uint64_t one = 1;

	peer_open(p, NULL);
	vfu_stop_at(p->v, stop);
	assert_true(vfu_step(p->v, 0));
	assert_int_equal(write(stop, &one, 8), 8);
	assert_false(vfu_step(p->v, -1));
	peer_close(p);
	close(stop);
}

static const char *answers(int fd)
{
	static char buf[1 << 17];
	ssize_t n = recv(fd, buf, sizeof(buf) - 1, 0);

	buf[n > 0 ? n : 0] = 0;
	return n && (n > 0 || errno != ECONNRESET) ? buf : "(closed)";
}

static void say(int fd, const char *text)
{
	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
	run(p);
}

static void control(void **state)
{
	static char line[160 << 10];
	const char *why;
	int a, b;

	peer_open(p, NULL);
	vfu_listen_control(p->v, vfu_bind(path, &why));
	a = dial();
	b = dial();
	run(p);
	say(a, "fault x\n");
	assert_string_equal(answers(a), "ok fault x\n");
	say(a, "one\ntwo\r\n\nthr");
	assert_string_equal(answers(a), "ok one\nok two\nok \n");
	say(b, "b\n");
	assert_string_equal(answers(b), "ok b\n");
	say(a, "ee\n");
	assert_string_equal(answers(a), "ok three\n");
	assert_int_equal(send(a, "a\0b\n", 4, 0), 4);
	run(p);
	assert_string_equal(answers(a), "error: a line has no NUL in it\n");
	memset(line, 'x', sizeof(line));
	line[131078] = '\n';
	line[131079] = 0;
	say(a, line);
	run(p);
	assert_int_equal(strlen(answers(a)), 65536); /* the reply is cut; the line was not */
	memset(line, 'y', sizeof(line));
	line[sizeof(line) - 1] = 0;
	say(a, line);
	run(p);
	assert_string_equal(answers(a), "error: the line is too long\n");
	assert_string_equal(answers(a), "(closed)");
	close(a);
	say(b, "still here\n");
	assert_string_equal(answers(b), "ok still here\n");
	say(b, "half a li");
	close(b);
	run(p);
	peer_close(p);
}

/* As many as there are places; the others are told. Who does not read loses nothing and holds up nobody. */
static void many_controls(void **state)
{
	unsigned int lines = 0, sent = 0;
	const char *why;
	int fds[18];

	peer_open(p, NULL);
	vfu_listen_control(p->v, vfu_bind(path, &why));
	for (int i = 0; i < 18; i++) {
		fds[i] = dial();
		run(p);
	}
	for (int i = 0; i < 18; i++) {
		if (i < 16) {
			say(fds[i], "x\n");
			assert_string_equal(answers(fds[i]), "ok x\n");
		} else {
			assert_string_equal(answers(fds[i]), "error: too many control connections\n");
			assert_string_equal(answers(fds[i]), "(closed)");
		}
	}
	for (; sent < 100000; sent++) {
		if (send(fds[0], "\n", 1, MSG_NOSIGNAL) != 1)
			break;
		if (sent % 100 == 0)
			vfu_step(p->v, 0);
	}
	say(fds[1], "x\n");
	assert_string_equal(answers(fds[1]), "ok x\n");
	for (int tries = 0; lines < sent && tries < 100000; tries++) {
		const char *text = answers(fds[0]);

		for (; *text; text++)
			lines += *text == '\n';
		vfu_step(p->v, 0);
	}
	assert_int_equal(lines, sent);
	for (int i = 0; i < 18; i++)
		close(fds[i]);
	run(p);
	fds[0] = dial();
	run(p);
	say(fds[0], "again\n");
	assert_string_equal(answers(fds[0]), "ok again\n");
	close(fds[0]);
	peer_close(p);
}

const struct CMUnitTest vfu_server_tests[] = {
	cmocka_unit_test_setup_teardown(binding, make_dir, drop_dir),
	cmocka_unit_test_setup_teardown(one_at_a_time, make_dir, drop_dir),
	cmocka_unit_test(several_devices), cmocka_unit_test(timers), cmocka_unit_test(stopping),
	cmocka_unit_test_setup_teardown(control, make_dir, drop_dir),
	cmocka_unit_test_setup_teardown(many_controls, make_dir, drop_dir),
};
const size_t vfu_n_server_tests = sizeof(vfu_server_tests) / sizeof(vfu_server_tests[0]);
