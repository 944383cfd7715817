/* SPDX-License-Identifier: BSD-2-Clause */
/* Event queues of the program, and the MSI vectors that tell of them. */
#include "conf.h"

#include <sys/mman.h>

enum { PORT_CHANGE = 0x9, PORT_DOWN = 1, PORT_ACTIVE = 4 }; /* Linux, include/linux/mlx5/device.h */
#define LOG_EQES 4

static void end_vector(void *p)
{
	int err = mlx5dv_devx_free_msi_vector(p);

	if (!case_failed())
		CHECK_EQ(err, 0);
}

static void end_eq(void *p)
{
	int err = mlx5dv_devx_destroy_eq(p);

	if (!case_failed())
		CHECK_EQ(err, 0);
}

static struct mlx5dv_devx_msi_vector *vector(struct ibv_context *ctx)
{
	return own(mlx5dv_devx_alloc_msi_vector(ctx), end_vector);
}

static void end_uar(void *p)
{
	mlx5dv_devx_free_uar(p);
}

struct queue {
	struct ibv_device *dev;
	struct ibv_context *ctx;
	struct mlx5dv_devx_msi_vector *msi;
	struct mlx5dv_devx_uar *uar;
	struct mlx5dv_devx_eq *eq;
	uint32_t eqn, taken;
};

/* The queue itself: of port changes. */
static struct mlx5dv_devx_eq *create_eq(struct queue *q)
{
	INBOX(in, create_eq_in, CREATE_EQ);
	uint8_t out[SZ(create_eq_out)] = { 0 }, *eqc = IN(in, create_eq_in, eq_context_entry);
	struct mlx5dv_devx_eq *eq;

	SET(eqc, eqc, log_eq_size, LOG_EQES);
	SET(eqc, eqc, uar_page, q->uar->page_id);
	SET(eqc, eqc, intr, q->msi->vector);
	SET(in, create_eq_in, event_bitmask, UINT64_C(1) << PORT_CHANGE);
	eq = mlx5dv_devx_create_eq(q->ctx, in, sizeof(in), out, sizeof(out));
	q->eqn = (uint32_t)GET(out, create_eq_out, eq_number);
	return eq;
}

/* What a queue needs. */
static struct queue base(const char *spec)
{
	struct queue q = { .dev = soft(spec) };

	q.ctx = open_devx(q.dev);
	q.msi = vector(q.ctx);
	q.uar = own(mlx5dv_devx_alloc_uar(q.ctx, MLX5DV_UAR_ALLOC_TYPE_NC), end_uar);
	return q;
}

static struct queue queue(void)
{
	struct queue q = base("");

	q.eq = own(create_eq(&q), end_eq);
	return q;
}

/* The next event must be a change of the port; the device is told that it was taken. */
static void take(struct queue *q, uint8_t subtype)
{
	const uint32_t eqes = 1u << LOG_EQES, arm = 0x40;
	uint8_t *eqe = (uint8_t *)q->eq->vaddr + (size_t)(q->taken % eqes) * SZ(eqe);

	CHECK_EQ(__atomic_load_n(&eqe[SZ(eqe) - 1], __ATOMIC_ACQUIRE) & 1, q->taken / eqes & 1);
	CHECK_EQ(GET(eqe, eqe, event_type), PORT_CHANGE);
	CHECK_EQ(GET(eqe, eqe, event_sub_type), subtype);
	q->taken++;
	*(volatile uint32_t *)((char *)q->uar->base_addr + arm) = htobe32(q->eqn << 24 | q->taken);
}

CASE(kernel_has_none, "devx-abi 8", ANY,
     "On the kernel's devices vectors and event queues give NULL and EOPNOTSUPP; a software device has them.")
{
	struct ibv_context *ctx = context();
	INBOX(in, create_eq_in, CREATE_EQ);
	uint8_t out[SZ(create_eq_out)];

	if (is_soft()) {
		vector(ctx);
		return;
	}
	CHECK_NULL(mlx5dv_devx_alloc_msi_vector(ctx), EOPNOTSUPP);
	CHECK_NULL(mlx5dv_devx_create_eq(ctx, in, sizeof(in), out, sizeof(out)), EOPNOTSUPP);
}

CASE(vectors_differ, "mlx5dv_devx_alloc_msi_vector(3)", SOFT,
     "Each vector has a number and a descriptor of its own, which is not readable.")
{
	struct ibv_context *ctx = open_devx(soft(""));
	struct mlx5dv_devx_msi_vector *a = vector(ctx), *b = vector(ctx);

	CHECK_NE(a->vector, b->vector);
	CHECK_NE(a->fd, b->fd);
	CHECK_EQ(fcntl(a->fd, F_GETFD), FD_CLOEXEC);
	CHECK_EQ(ready(a->fd, POLLIN, 0), 0);
}

CASE(device_writes_events, "mlx5dv_devx_create_eq(3)", SOFT,
     "The device writes the events that were asked for in turn, round and round, and the vector's descriptor becomes "
     "readable.")
{
	struct queue q = queue();
	uint64_t n;

	CHECK_EQ(ready(q.msi->fd, POLLIN, 0), 0);
	for (int i = 0; i < 5 << LOG_EQES; i++) {
		NOTE("event %d", i);
		CHECK_EQ(odx_soft_port(q.dev, 1, i & 1), 0);
		CHECK(ready(q.msi->fd, POLLIN, PATIENCE_MS) & POLLIN);
		CHECK_EQ(read(q.msi->fd, &n, sizeof(n)), sizeof(n));
		take(&q, i & 1 ? PORT_ACTIVE : PORT_DOWN);
	}
	CHECK_EQ(ready(q.msi->fd, POLLIN, 0), 0);
}

CASE(vector_in_use_stays, "mlx5dv_devx_free_msi_vector(3)", SOFT, "A vector that an event queue uses is not freed: EBUSY.")
{
	struct queue q = queue();

	CHECK_EQ(mlx5dv_devx_free_msi_vector(q.msi), EBUSY);
}

CASE(lengths_and_commands, "mlx5dv_devx_create_eq(3)", SOFT, "A short box, or one with another command, gives EINVAL.")
{
	struct ibv_context *ctx = open_devx(soft(""));
	INBOX(in, create_eq_in, CREATE_EQ);
	uint8_t out[SZ(create_eq_out)];

	SET(IN(in, create_eq_in, eq_context_entry), eqc, intr, vector(ctx)->vector);
	CHECK_NULL(mlx5dv_devx_create_eq(ctx, in, sizeof(in) - 1, out, sizeof(out)), EINVAL);
	CHECK_NULL(mlx5dv_devx_create_eq(ctx, in, sizeof(in), out, sizeof(out) - 1), EINVAL);
	CHECK_NULL(mlx5dv_devx_create_eq(ctx, in, BOX_MAX + 1, out, sizeof(out)), EINVAL);
	set_opcode(in, PRM_OP_CREATE_CQ);
	CHECK_NULL(mlx5dv_devx_create_eq(ctx, in, sizeof(in), out, sizeof(out)), EINVAL);
}

CASE(null_arguments, "deviations 3", OURS, "Freeing or destroying NULL gives 0; any other NULL gives EINVAL.")
{
	INBOX(in, create_eq_in, CREATE_EQ);
	uint8_t out[SZ(create_eq_out)];

	CHECK_EQ(mlx5dv_devx_free_msi_vector(NULL), 0);
	CHECK_EQ(mlx5dv_devx_destroy_eq(NULL), 0);
	CHECK_NULL(mlx5dv_devx_alloc_msi_vector(NULL), EINVAL);
	CHECK_NULL(mlx5dv_devx_create_eq(NULL, in, sizeof(in), out, sizeof(out)), EINVAL);
}

CASE(full_queue_gets_nothing_more, "mlx5dv_devx_create_eq(3)", SOFT,
     "A queue whose program takes nothing fails when it is full: what is in it stays, and nothing more comes.")
{
	struct queue q = queue();
	uint64_t n = 0;

	for (uint32_t i = 0; i < (1u << LOG_EQES) + 5; i++)
		CHECK_EQ(odx_soft_port(q.dev, 1, i & 1), 0);
	CHECK_EQ(read(q.msi->fd, &n, sizeof(n)), sizeof(n));
	CHECK_EQ(n, 1u << LOG_EQES);
	for (uint32_t i = 0; i < 1u << LOG_EQES; i++)
		CHECK_EQ(GET((uint8_t *)q.eq->vaddr + i * SZ(eqe), eqe, event_sub_type), i & 1 ? PORT_ACTIVE : PORT_DOWN);
}

CASE(doorbell_page_may_be_unmapped, "mlx5dv_devx_create_eq(3)", SOFT,
     "A program that unmapped the page of its doorbells has told nothing: the queue fills up, and nobody gets a signal.")
{
	struct queue q = queue();
	uint64_t n = 0;

	CHECK_EQ(munmap(q.uar->base_addr, 4096), 0);
	for (uint32_t i = 0; i < (1u << LOG_EQES) + 5; i++)
		CHECK_EQ(odx_soft_port(q.dev, 1, i & 1), 0);
	CHECK_EQ(read(q.msi->fd, &n, sizeof(n)), sizeof(n));
	CHECK_EQ(n, 1u << LOG_EQES);
}

static void cq_inbox(void *in, struct ibv_context *ctx, uint32_t eqn)
{
	struct mlx5dv_devx_umem *umem = reg(ctx, zeroed(8192), 8192, IBV_ACCESS_LOCAL_WRITE);
	void *cqc = IN(in, create_cq_in, cq_context);

	SET(in, create_cq_in, cq_umem_id, umem->umem_id);
	SET(cqc, cqc, log_cq_size, 4);
	SET(cqc, cqc, c_eqn_or_apu_element, eqn);
	SET(cqc, cqc, dbr_umem_valid, 1);
	SET(cqc, cqc, dbr_umem_id, umem->umem_id);
	SET(cqc, cqc, dbr_addr, 4096);
}

CASE(cq_completes_to_its_queue, "mlx5dv_devx_create_eq(3)", SOFT,
     "A completion event of a CQ goes to the event queue that the CQ names, which cannot go meanwhile.")
{
	struct queue q = queue();
	struct ibv_context *ctx = q.ctx;
	INBOX(in, create_cq_in, CREATE_CQ);
	uint8_t out[SZ(create_cq_out)];
	struct mlx5dv_devx_obj *cq;

	cq_inbox(in, ctx, q.eqn);
	cq = create(ctx, in, sizeof(in), out, sizeof(out));
	CHECK_EQ(odx_soft_event(q.dev, cq, 0, 0), 0);
	CHECK_EQ(ready(q.msi->fd, POLLIN, PATIENCE_MS), POLLIN);
	CHECK_EQ(GET((uint8_t *)q.eq->vaddr, eqe, owner), 0);
	CHECK_EQ(GET((uint8_t *)q.eq->vaddr, eqe, event_type), 0);
	CHECK_EQ(mlx5dv_devx_destroy_eq(q.eq), EINVAL); /* as the status is mapped */
	CHECK_EQ(destroy(cq), 0);
}

CASE(queue_of_another_context_is_enoent, "devx-abi 4", SOFT, "A CQ cannot name the event queue of another context: ENOENT.")
{
	struct queue q = queue();
	struct ibv_context *other = open_devx(q.dev);
	INBOX(in, create_cq_in, CREATE_CQ);
	uint8_t out[SZ(create_cq_out)];

	cq_inbox(in, other, q.eqn);
	refuse(other, in, sizeof(in), out, sizeof(out), ENOENT);
}

CASE(close_takes_them_along, "mlx5dv_devx_destroy_eq(3)", OURS | SOFT,
     "Event queues and vectors that are left go with their context; what is gone is ENOENT.")
{
	struct queue q = queue();

	disown(q.eq);
	disown(q.msi);
	disown(q.uar);
	CHECK_EQ(close_context(q.ctx), 0);
	CHECK_EQ(mlx5dv_devx_destroy_eq(q.eq), ENOENT);
	CHECK_EQ(mlx5dv_devx_free_msi_vector(q.msi), ENOENT);
}

CASE(late_create_writes_to_nobodys_memory, "odx_soft_fault(3)", SOFT,
     "A queue whose creation was answered too late is not there: no event is written to memory that is registered next.")
{
	struct queue q = base("timeout=10ms");
	uint8_t *page = zeroed(4096);

	fault(q.dev, "opcode=0x301 delay=1s");
	CHECK_NULL(create_eq(&q), ETIMEDOUT);
	fault(q.dev, "clear");
	reg(q.ctx, page, 4096, IBV_ACCESS_LOCAL_WRITE);
	CHECK_EQ(odx_soft_port(q.dev, 1, 0), 0);
	for (unsigned int i = 0; i < 4096; i++)
		CHECK_EQ(page[i], 0);
}
