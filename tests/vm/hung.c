/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a program sees of commands that are never answered, and of a removal with commands in flight and readers asleep: on a
 * device of the kernel whose commands time out after 3 s, over our library or rdma-core's. hung CONTROL, as root. Prints a line
 * per observation: its name, a tab, what was seen. docs/hung.md has what each library is expected to show.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/mlx5dv.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "prm_gen.h"

#define QUERY_IN PRM_SZ_query_flow_counter_in
#define OUT_LEN (PRM_SZ_query_flow_counter_out + PRM_SZ_traffic_counter)
#define LIMIT 60000 /* ms: nothing takes so long */

struct record {
	uint64_t wr_id;
	uint8_t out[OUT_LEN];
};

static FILE *to, *from;
static struct ibv_context *ctx;
static struct mlx5dv_devx_obj *counter;
static uint32_t query[QUERY_IN / 4];
static char function[512]; /* in sysfs */

static _Noreturn void die(const char *what, int err)
{
	fprintf(stderr, "hung: %s: %s\n", what, strerror(err));
	exit(1);
}

static void show(const char *name, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void show(const char *name, const char *fmt, ...)
{
	va_list ap;

	printf("%s\t", name);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	fflush(stdout);
}

static const char *name_of(int err)
{
	return err ? strerrorname_np(err) : "0";
}

static void control_open(const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", path);
	if (fd < 0 || connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
		die(path, errno);
	to = fdopen(fd, "w");
	from = fdopen(dup(fd), "r");
	if (!to || !from)
		die(path, errno);
}

static void tell(const char *line)
{
	char reply[1024];

	fprintf(to, "%s\n", line);
	if (fflush(to) || !fgets(reply, sizeof(reply), from) || strncmp(reply, "ok", 2))
		die(line, EIO);
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* A span that a slow machine does not change: kernel timers are up to a quarter late. */
static const char *span(double s)
{
	return s < 2.5 ? "at once" : s < 6 ? "at the timeout" : s < 12 ? "5 s after the timeout" : "later";
}

static void open_device(void)
{
	struct mlx5dv_context_attr attr = { .flags = MLX5DV_CONTEXT_FLAGS_DEVX };
	struct ibv_device **list = ibv_get_device_list(NULL);
	uint32_t in[PRM_SZ_alloc_flow_counter_in / 4] = { htobe32(PRM_OP_ALLOC_FLOW_COUNTER << 16) };
	uint32_t out[PRM_SZ_alloc_flow_counter_out / 4] = { 0 };
	char link[256];

	if (!list || !list[0])
		die("no device", ENODEV);
	snprintf(link, sizeof(link), "/sys/class/infiniband/%s/device", ibv_get_device_name(list[0]));
	if (!realpath(link, function) || strlen(function) > sizeof(function) - 16)
		die(link, errno);
	ctx = mlx5dv_open_device(list[0], &attr);
	if (!ctx)
		die("open", errno);
	counter = mlx5dv_devx_obj_create(ctx, in, sizeof(in), out, sizeof(out));
	if (!counter)
		die("a flow counter", errno);
	query[0] = htobe32(PRM_OP_QUERY_FLOW_COUNTER << 16);
	query[QUERY_IN / 4 - 2] = htobe32(1); /* num_of_counters; then the id */
	query[QUERY_IN / 4 - 1] = out[2];
}

static struct mlx5dv_devx_cmd_comp *new_comp(void)
{
	struct mlx5dv_devx_cmd_comp *comp = mlx5dv_devx_create_cmd_comp(ctx);

	if (!comp)
		die("a completion", errno);
	return comp;
}

static int submit(struct mlx5dv_devx_cmd_comp *comp, uint64_t wr_id)
{
	return mlx5dv_devx_obj_query_async(counter, query, sizeof(query), OUT_LEN, wr_id, comp);
}

static int get(struct mlx5dv_devx_cmd_comp *comp, struct record *rec)
{
	memset(rec, 0xa5, sizeof(*rec));
	return mlx5dv_devx_get_async_cmd_comp(comp, (struct mlx5dv_devx_async_cmd_hdr *)rec, sizeof(*rec));
}

static const char *in_words(const struct record *rec, char text[64])
{
	uint32_t words[2];
	bool zero = true;

	memcpy(words, rec->out, sizeof(words));
	for (size_t i = 0; i < OUT_LEN; i++)
		zero = zero && !rec->out[i];
	snprintf(text, 64, "status 0x%x, syndrome 0x%x%s", rec->out[0], be32toh(words[1]), zero ? ", all zeros" : "");
	return text;
}

static int sync_query(void)
{
	uint8_t out[OUT_LEN];

	return mlx5dv_devx_obj_query(counter, query, sizeof(query), out, sizeof(out));
}

static void hang(void)
{
	struct mlx5dv_devx_cmd_comp *comp = new_comp();
	struct pollfd p = { .fd = comp->fd, .events = POLLIN };
	struct record rec;
	char text[64];
	double begin;
	int err;

	tell("fault opcode=0x93b nth=1 hang");
	begin = seconds();
	if (submit(comp, 7) || poll(&p, 1, LIMIT) != 1)
		die("a hung command", errno);
	show("hung asynchronous query, comes", "%s", span(seconds() - begin));
	err = get(comp, &rec);
	show("- get, wr_id", "%s, %s", name_of(err), rec.wr_id == 7 ? "its own" : "another");
	show("- outbox", "%s", in_words(&rec, text));
	tell("fault clear"); /* it is answered now */
	show("- a second record of the late answer", "%s", poll(&p, 1, 500) ? "yes" : "no");
	if (submit(comp, 8) || poll(&p, 1, LIMIT) != 1 || get(comp, &rec))
		die("the next command", errno);
	show("the next query", "status 0x%x", rec.out[0]);

	tell("fault opcode=0x93b nth=1 hang");
	begin = seconds();
	err = sync_query();
	show("hung synchronous query", "%s %s", name_of(err), span(seconds() - begin));
	tell("fault clear");
	show("the next synchronous query", "%s", name_of(sync_query()));
	mlx5dv_devx_destroy_cmd_comp(comp);
}

struct sleeper {
	pthread_t thread;
	struct mlx5dv_devx_cmd_comp *comp; /* NULL: it takes the device away */
	struct record rec;
	int err;
	bool done;
};

static void *sleeper_main(void *arg)
{
	struct sleeper *s = arg;
	char path[600];
	int fd;

	if (s->comp) {
		s->err = get(s->comp, &s->rec);
	} else {
		snprintf(path, sizeof(path), "%s/remove", function);
		fd = open(path, O_WRONLY | O_CLOEXEC);
		s->err = fd >= 0 && write(fd, "1", 1) == 1 ? 0 : errno;
	}
	__atomic_store_n(&s->done, true, __ATOMIC_RELEASE);
	return NULL;
}

static void start(struct sleeper *s, struct mlx5dv_devx_cmd_comp *comp)
{
	s->comp = comp;
	if (pthread_create(&s->thread, NULL, sleeper_main, s))
		die("a thread", errno);
}

static bool is_done(struct sleeper *s, int ms)
{
	for (; ms > 0 && !__atomic_load_n(&s->done, __ATOMIC_ACQUIRE); ms -= 10)
		poll(NULL, 0, 10);
	return __atomic_load_n(&s->done, __ATOMIC_ACQUIRE);
}

static void end(struct sleeper *s, const char *what)
{
	if (!is_done(s, LIMIT))
		die(what, ETIMEDOUT);
	pthread_join(s->thread, NULL);
}

static void removal(void)
{
	static struct sleeper busy, idle, remover;
	struct mlx5dv_devx_cmd_comp *with = new_comp(), *without = new_comp();
	int err;

	tell("hold 0x93b");
	start(&busy, with);
	start(&idle, without);
	if (submit(with, 20) || submit(with, 21))
		die("submit", errno);
	poll(NULL, 0, 300); /* both are asleep, and the device has the commands */
	start(&remover, NULL);
	show("removal with commands in flight ends before they do", "%s", is_done(&remover, 1500) ? "yes" : "no");
	show("- reader without commands in flight wakes", "%s", is_done(&idle, 1000) ? name_of(idle.err) : "no");
	show("- reader with commands in flight wakes", "%s", is_done(&busy, 1) ? name_of(busy.err) : "no");
	tell("release all");
	end(&remover, "the removal");
	show("- once they are answered, the removal ends", "%s", name_of(remover.err));
	end(&idle, "the idle reader");
	end(&busy, "the busy reader");
	show("- and its reader has", "%s", busy.err ? name_of(busy.err) : "a record");

	err = sync_query();
	show("after it, a query", "%s", name_of(err));
	show("- a submit", "%s", name_of(submit(with, 22)));
	show("- a destroy", "%s", name_of(mlx5dv_devx_obj_destroy(counter)));
	mlx5dv_devx_destroy_cmd_comp(with);
	mlx5dv_devx_destroy_cmd_comp(without);
	show("- closing the context", "%s", name_of(ibv_close_device(ctx)));
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: hung CONTROL\n");
		return 2;
	}
	control_open(argv[1]);
	open_device();
	hang();
	removal();
	printf("END\n");
	return 0;
}
