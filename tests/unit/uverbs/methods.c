/* SPDX-License-Identifier: BSD-2-Clause */
/* What the methods of the fake kernel do, once their frame was found right. */
#include "kernel.h"

static int do_context(int fd)
{
	uint8_t response[72];
	struct attr *req = fake_attr_of(0x1000), *arr = fake_attr_of(2);
	int err;

	if (!req || !fake_attr_of(0x1001))
		return EINVAL;
	fake.n_fds = arr ? arr->len / 4 : 0;
	err = fake_get_context(fd, (void *)(uintptr_t)req->data, req->len, response);
	if (err)
		return err;
	fake_output(0, &fake.vectors, 4);
	fake_output(0x1001, response, sizeof(response));
	return 0;
}

static void answer_box(uint16_t id)
{
	struct attr *a = fake_attr_of(id);

	memset((void *)(uintptr_t)a->data, 0, a->len);
	fake_output(id, fake.outbox, sizeof(fake.outbox));
}

static int do_async(void)
{
	struct fake_fd *f = &fake_fds[fake_attr_of(0x1002)->data];

	if (f->kind != FD_CMD)
		return EBADF;
	assert_in_range(f->n_waiting, 0, WAITING - 1);
	f->waiting[f->n_waiting].wr_id = fake_attr_of(0x1003)->data;
	f->waiting[f->n_waiting++].outlen = fake_attr_of(0x1004)->data;
	return 0;
}

/* The context as it was made: the shared file knows it. */
static int query_context(void)
{
	uint8_t response[72] = { 0 };
	uint32_t length = 72;

	memcpy(response + 4, &fake.bf_reg_size, 4);
	memcpy(response + 40, &length, 4);
	memcpy(response + 60, &fake.uars_per_page, 4);
	fake_output(0, &fake.vectors, 4);
	fake_output(0x1000, response, sizeof(response));
	return 0;
}

static int info_handles(int node)
{
	uint32_t list[HANDLES], n = 0;
	uint16_t object = (uint16_t)fake_attr_of(0)->data;

	for (uint32_t i = 0; i < HANDLES; i++)
		if (fake_handles[i].object == object && fake_handles[i].node == node)
			list[n++] = i;
	fake_output(1, &n, sizeof(n));
	fake_output(2, list, n * sizeof(list[0]));
	return 0;
}

/* Offset and page id tell the handle and the type. */
static void uar_alloc(void)
{
	uint64_t offset = 0x900000 + fake_attr_of(0x1000)->data * 0x1000;
	uint32_t length = fake.uars_per_page > 1 ? 0x1000 * fake.uars_per_page : 0x1000;
	uint32_t id = (uint32_t)(0x20 + fake_attr_of(0x1000)->data * 16 + fake_attr_of(0x1001)->data * 0x1000);

	fake_output(0x1002, &offset, sizeof(offset));
	fake_output(0x1003, &length, sizeof(length));
	fake_output(0x1004, &id, sizeof(id));
}

bool fake_lacks(const struct abi_method *m)
{
	return (fake.no_async_event && m->object == 0x10) || (fake.no_uar && m->object == 0x1008) ||
	       (!m->object && ((fake.no_verbs && (m->method == 0 || m->method == 2)) || (fake.no_info_handles && m->method == 1) ||
			       (fake.no_query_context && m->method == 4)));
}

int fake_method(const struct abi_method *m, int fd)
{
	uint32_t vec, eqn;
	int err = fake.err;

	fake.err = 0;
	if (err && !fake.outbox_anyway)
		return err;
	if (m->object == 0 && m->method == 3)
		return err ? err : do_context(fd);
	if (m->object == 0 && m->method == 4)
		return err ? err : query_context();
	if (m->object == 0 && m->method == 1)
		return err ? err : info_handles(fake_fds[fd].node);
	if (m->object == 0x1008 && m->method == 0x1000 && !err)
		uar_alloc();
	if (m->object == 0x1000 && m->method == 0x1000)
		answer_box(0x1001);
	if (m->object == 0x1000 && m->method == 0x1002 && !err) {
		vec = (uint32_t)fake_attr_of(0x1000)->data;
		eqn = vec + 5;
		if (vec >= (uint32_t)fake.vectors)
			return EINVAL;
		fake_output(0x1001, &eqn, sizeof(eqn));
	}
	if (m->object == 0x1001 && (m->method == 0x1000 || m->method == 0x1002 || m->method == 0x1003))
		answer_box(0x1002);
	if (m->object == 0x1001 && m->method == 0x1004 && !err)
		err = do_async();
	if (!err && fake.hook)
		err = fake.hook(&fake.last);
	return err;
}
