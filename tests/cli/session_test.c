/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tool makes of a device that fails: every failure is told, none passes for a count. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <netinet/in.h>
#include <opendevx/opendevx.h>
#include <opendevx/soft.h>
#include <pcap/dlt.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "devx.h"
#include "session.h"

#define N 2000u /* counters: bulks of 128, 128, 256, 512, 1024, of which 976 are used */
#define QUERIES (2 + 2 + 3 + 5 + 8) /* of 2000 / 16 + 1 = 126 counters */

static char said[1024];

void devx_error(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(said, sizeof(said), fmt, args);
	va_end(args);
}

struct fixture {
	struct ibv_device *dev;
	struct session s;
	uint32_t ids[N];
	struct session_counter values[N];
};

/* A device of its own, a session on it, and i + 1 frames of 100 octets on counter i % 10. */
static struct fixture *begin(const char *spec, uint32_t in_flight)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	said[0] = 0;
	f->dev = odx_soft_create(spec);
	assert_non_null(f->dev);
	assert_true(session_open(&f->s, ibv_get_device_name(f->dev), in_flight, NULL, NULL));
	for (uint32_t i = 0; i < N; i++) {
		assert_true(session_take(&f->s, &f->ids[i]));
		for (uint32_t k = 0; k <= i % 10; k++)
			assert_true(session_traffic(&f->s, f->ids[i], 100));
	}
	return f;
}

static void end(struct fixture *f)
{
	assert_true(session_close(&f->s));
	assert_int_equal(odx_soft_destroy(f->dev), 0);
	free(f);
}

static void check(struct fixture *f)
{
	memset(f->values, 0xff, sizeof(f->values));
	assert_true(session_read(&f->s, f->values));
	for (uint32_t i = 0; i < N; i++) {
		assert_int_equal(f->values[i].packets, i % 10 + 1);
		assert_int_equal(f->values[i].octets, (i % 10 + 1) * 100);
	}
}

static void counts(void **state)
{
	struct fixture *f = begin("seed=7", 4);

	for (uint32_t i = 0; i < N; i++)
		for (uint32_t k = 0; k < i && i < 200; k++)
			assert_int_not_equal(f->ids[i], f->ids[k]);
	check(f);
	assert_int_equal(f->s.n_queries, QUERIES);
	check(f);
	assert_int_equal(f->s.n_queries, 2 * QUERIES);
	assert_int_equal(f->s.n_samples, 2 * QUERIES);
	assert_true(session_percentile(&f->s, 50) <= session_percentile(&f->s, 100));
	assert_string_equal(said, "");
	end(f);
}

static void counts_out_of_order(void **state)
{
	struct fixture *f = begin("latency=200us,jitter=100us,reorder,seed=7", 6);

	check(f);
	/* The first query is the last to be answered. */
	assert_int_equal(odx_soft_fault(f->dev, "opcode=0x93b nth=1 delay=5ms"), 0);
	check(f);
	end(f);
}

/* A latency of 2 ms: no completion can have taken less. */
static void percentiles_are_times(void **state)
{
	struct fixture *f = begin("latency=2ms,seed=7", 4);

	check(f);
	assert_true(session_percentile(&f->s, 0) >= 2000000);
	assert_true(session_percentile(&f->s, 99) >= session_percentile(&f->s, 50));
	end(f);
}

static void failed_query(void **state)
{
	struct fixture *f = begin("seed=7", 4);

	assert_int_equal(odx_soft_fault(f->dev, "opcode=0x93b nth=3 status=0x5 syndrome=0x2c4154"), 0);
	assert_false(session_read(&f->s, f->values));
	assert_non_null(strstr(said, "status 0x5"));
	assert_non_null(strstr(said, "syndrome 0x2c4154"));
	end(f);
}

/* A query that the device never answered must not pass for a count. */
static void hanging_query(void **state)
{
	struct fixture *f = begin("timeout=20ms,seed=7", 4);

	assert_int_equal(odx_soft_fault(f->dev, "opcode=0x93b nth=2 hang"), 0);
	assert_false(session_read(&f->s, f->values));
	assert_non_null(strstr(said, "status 0xfe"));
	end(f);
}

static void no_more_counters(void **state)
{
	struct fixture *f = begin("seed=7", 1);
	uint32_t id;

	assert_int_equal(odx_soft_fault(f->dev, "opcode=0x939 status=0xf syndrome=0x77"), 0);
	for (uint32_t i = N; i < 2048; i++)
		assert_true(session_take(&f->s, &id));
	assert_false(session_take(&f->s, &id));
	assert_non_null(strstr(said, "status 0xf"));
	assert_non_null(strstr(said, "after 2048"));
	end(f);
}

static void removed_device(void **state)
{
	struct fixture *f = begin("seed=7", 4);

	assert_int_equal(odx_soft_remove(f->dev), 0);
	assert_false(session_read(&f->s, f->values));
	assert_string_not_equal(said, "");
	session_close(&f->s);
	assert_int_equal(odx_soft_destroy(f->dev), 0);
	free(f);
}

static void unknown_device(void **state)
{
	struct session s;

	assert_false(session_open(&s, "mlx5_nine", 4, NULL, NULL));
	assert_non_null(strstr(said, "mlx5_nine"));
	assert_true(session_close(&s));
}

static void unknown_counter(void **state)
{
	struct fixture *f = begin("seed=7", 4);

	assert_false(session_traffic(&f->s, 0xfffffe, 1));
	assert_non_null(strstr(said, "0xfffffe"));
	end(f);
}

/* An IPv4 packet of 28 bytes, at an offset of a frame of 64, and its flow. */
static void packet(uint8_t frame[64], size_t at, struct flow_key *key, uint8_t proto, uint8_t host)
{
	uint8_t ip[28] = { 0x45, 0, 0, 28, 0, 0, 0, 0, 64, proto, 0, 0, 10, 0, 0, host, 10, 0, 0, 1, 0x10, 0, 0, 53, 0, 8, 0, 0 };

	memset(frame, 0, 64);
	memcpy(frame + at, ip, sizeof(ip));
	memset(key, 0, sizeof(*key));
	key->family = 4;
	key->proto = proto;
	memcpy(key->src, ip + 12, 4);
	memcpy(key->dst, ip + 16, 4);
	if (flow_has_ports(proto)) {
		key->sport = 0x1000;
		key->dport = 53;
	}
}

/* Frames with link headers of several kinds, as they are and longer on the wire than captured. SCTP has no entry. */
static void frames_through_the_device(void **state)
{
	static const struct { int dlt; size_t at; uint8_t proto; } kinds[] = {
		{ DLT_EN10MB, 14, IPPROTO_UDP }, { DLT_EN10MB, 14, IPPROTO_TCP }, { DLT_EN10MB, 14, IPPROTO_ICMP }, { DLT_RAW, 0, IPPROTO_UDP },
		{ DLT_EN10MB, 22, IPPROTO_UDP }, { DLT_LINUX_SLL, 16, IPPROTO_TCP }, { DLT_RAW, 0, IPPROTO_SCTP },
	};
	enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };
	struct ibv_device *dev = odx_soft_create("seed=7");
	struct session_counter values[KINDS];
	struct flow_key keys[KINDS];
	uint32_t ids[KINDS];
	uint8_t frame[64];
	struct session s;

	said[0] = 0;
	assert_true(session_open(&s, ibv_get_device_name(dev), 4, NULL, NULL));
	for (uint8_t i = 0; i < KINDS; i++) {
		packet(frame, kinds[i].at, &keys[i], kinds[i].proto, i);
		assert_true(session_flow(&s, &keys[i], &ids[i]));
	}
	for (uint8_t i = 0; i < KINDS; i++) {
		packet(frame, kinds[i].at, &keys[i], kinds[i].proto, i);
		if (kinds[i].at == 14)
			frame[12] = 8;
		for (uint32_t k = 0; k < i + 1u; k++) {
			struct session_frame f = { .data = frame, .caplen = 64, .ip_at = kinds[i].at, .wire = k ? 1000 : 20, .dlt = kinds[i].dlt };

			assert_true(session_arrive(&s, &keys[i], ids[i], &f));
		}
	}
	assert_true(session_read(&s, values));
	for (uint32_t i = 0; i < KINDS; i++) {
		assert_int_equal(values[i].packets, i + 1);
		assert_int_equal(values[i].octets, 20 + i * 1000);
	}
	assert_string_equal(said, "");
	assert_true(session_close(&s));
	assert_int_equal(odx_soft_destroy(dev), 0);
}

/* Every command of steering is refused once: told, and nothing is left behind. */
static void refused_steering(void **state)
{
	static const char *const rules[] = {
		"opcode=0x930 nth=1 status=0xf syndrome=0x77", "opcode=0x930 nth=4 status=0xf syndrome=0x77",
		"opcode=0x933 nth=1 status=0xf syndrome=0x77", "opcode=0x933 nth=2 status=0xf syndrome=0x77",
		"opcode=0x933 nth=5 status=0xf syndrome=0x77", "opcode=0x936 nth=3 status=0xf syndrome=0x77",
		"opcode=0x936 nth=7 status=0xf syndrome=0x77",
	};
	struct flow_key key;
	uint8_t frame[64];
	struct session s;
	uint32_t id;

	packet(frame, 14, &key, IPPROTO_UDP, 9);
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		struct ibv_device *dev = odx_soft_create("seed=7");

		said[0] = 0;
		assert_true(session_open(&s, ibv_get_device_name(dev), 4, NULL, NULL));
		assert_int_equal(odx_soft_fault(dev, rules[i]), 0);
		assert_false(session_flow(&s, &key, &id));
		assert_non_null(strstr(said, "status 0xf"));
		assert_non_null(strstr(said, "syndrome 0x77"));
		assert_true(session_close(&s));
		assert_int_equal(odx_soft_destroy(dev), 0);
	}
}

/* What cannot be given back is told, and the context takes it with it. */
static void entry_stays(void **state)
{
	struct ibv_device *dev = odx_soft_create("seed=7");
	struct flow_key key;
	uint8_t frame[64];
	struct session s;
	uint32_t id;

	packet(frame, 14, &key, IPPROTO_UDP, 9);
	assert_true(session_open(&s, ibv_get_device_name(dev), 4, NULL, NULL));
	assert_true(session_flow(&s, &key, &id));
	assert_int_equal(odx_soft_fault(dev, "opcode=0x938 nth=1 status=0x6 syndrome=0x77"), 0);
	assert_false(session_close(&s));
	assert_non_null(strstr(said, "cannot give back"));
	assert_int_equal(odx_soft_destroy(dev), 0);
}

/* The other end of control lines: counts them, and puts what they say on the device. */
struct other {
	char dir[32], path[64];
	int listener;
	struct ibv_device *dev;
	unsigned int n_lines;
	unsigned int refuse; /* this line, from 1 on */
	bool hang_up;
	pthread_t thread;
};

static void *serve(void *arg)
{
	struct other *o = arg;
	int fd = accept(o->listener, NULL, NULL);
	FILE *f = fdopen(fd, "r+");
	char line[128];
	sigset_t pipes;

	/* Of this thread only: what devx writes must not end the process by itself. */
	sigemptyset(&pipes);
	sigaddset(&pipes, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &pipes, NULL);
	setvbuf(f, NULL, _IONBF, 0);
	while (!o->hang_up && fgets(line, sizeof(line), f)) {
		unsigned long long packets, octets;
		unsigned int id;

		assert_int_equal(sscanf(line, "traffic %u %llu %llu\n", &id, &packets, &octets), 3);
		if (++o->n_lines == o->refuse)
			fputs("error: no such counter\n", f);
		else
			fprintf(f, "%s", odx_soft_traffic(o->dev, id, packets, octets) ? "error: ?\n" : "ok\n");
	}
	fclose(f);
	return NULL;
}

static void other_begin(struct other *o)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };

	strcpy(o->dir, "/tmp/devx-control.XXXXXX");
	assert_non_null(mkdtemp(o->dir));
	snprintf(o->path, sizeof(o->path), "%s/s", o->dir);
	strcpy(addr.sun_path, o->path);
	o->listener = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(bind(o->listener, (struct sockaddr *)&addr, sizeof(addr)), 0);
	assert_int_equal(listen(o->listener, 1), 0);
	o->dev = odx_soft_create("seed=7");
	assert_int_equal(pthread_create(&o->thread, NULL, serve, o), 0);
}

static void other_end(struct other *o)
{
	pthread_join(o->thread, NULL);
	close(o->listener);
	unlink(o->path);
	rmdir(o->dir);
	assert_int_equal(odx_soft_destroy(o->dev), 0);
}

/* One line for each counter that met frames, whatever their number; the flow tables are left alone. */
static void frames_by_control(void **state)
{
	static struct session_counter values[N];
	static struct other o;
	struct session_frame f = { .wire = 60 };
	struct flow_key key;
	struct session s;
	uint8_t frame[64];
	uint32_t ids[N];

	other_begin(&o);
	said[0] = 0;
	packet(frame, 14, &key, IPPROTO_UDP, 9);
	assert_true(session_open(&s, ibv_get_device_name(o.dev), 4, o.path, NULL));
	for (uint32_t i = 0; i < N; i++)
		assert_true(session_flow(&s, &key, &ids[i]));
	assert_int_equal(s.steering.n_entries, 0);
	for (unsigned int round = 1; round <= 2; round++) {
		for (uint32_t i = 0; i < N; i++)
			for (uint32_t k = 0; k < i % 5; k++)
				assert_true(session_arrive(&s, &key, ids[i], &f));
		assert_true(session_read(&s, values));
		for (uint32_t i = 0; i < N; i++) {
			assert_int_equal(values[i].packets, i % 5 * round);
			assert_int_equal(values[i].octets, i % 5 * 60 * round);
		}
	}
	assert_string_equal(said, "");
	assert_false(session_traffic(&s, 0xfffffe, 1));
	assert_non_null(strstr(said, "0xfffffe"));
	assert_true(session_close(&s));
	other_end(&o);
	assert_int_equal(o.n_lines, 2 * N / 5 * 4);
}

/* An answer that is an error is told as it came, and so is an end that hangs up; neither passes for a count. */
static void control_refuses(void **state)
{
	static struct session_counter values[64];
	struct session s;
	uint32_t id;

	for (int hang_up = 0; hang_up < 2; hang_up++) {
		struct other o = { .refuse = 40, .hang_up = hang_up };

		other_begin(&o);
		assert_true(session_open(&s, ibv_get_device_name(o.dev), 4, o.path, NULL));
		for (uint32_t i = 0; i < 64; i++) {
			assert_true(session_take(&s, &id));
			assert_true(session_traffic(&s, id, 1));
		}
		assert_false(session_read(&s, values));
		assert_non_null(strstr(said, o.path));
		assert_true(hang_up || strstr(said, "no such counter"));
		assert_true(session_close(&s));
		other_end(&o);
	}
}

static void no_control(void **state)
{
	struct ibv_device *dev = odx_soft_create("seed=7");
	const char *name = ibv_get_device_name(dev);
	struct session s;

	assert_false(session_open(&s, name, 4, "/dev/null/none", NULL));
	assert_non_null(strstr(said, "/dev/null/none"));
	assert_true(session_close(&s));
	assert_false(session_open(&s, name, 4, "/tmp", NULL));
	assert_non_null(strstr(said, "neither"));
	assert_true(session_close(&s));
	/* The environment's is not for software devices. */
	assert_true(session_open(&s, name, 4, NULL, "/tmp"));
	assert_true(session_close(&s));
	assert_int_equal(odx_soft_destroy(dev), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts), cmocka_unit_test(counts_out_of_order), cmocka_unit_test(percentiles_are_times),
		cmocka_unit_test(failed_query), cmocka_unit_test(hanging_query), cmocka_unit_test(no_more_counters),
		cmocka_unit_test(removed_device), cmocka_unit_test(unknown_device), cmocka_unit_test(unknown_counter),
		cmocka_unit_test(frames_through_the_device), cmocka_unit_test(refused_steering), cmocka_unit_test(entry_stays),
		cmocka_unit_test(frames_by_control), cmocka_unit_test(control_refuses), cmocka_unit_test(no_control),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
