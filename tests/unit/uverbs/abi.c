/* SPDX-License-Identifier: BSD-2-Clause */
/* The methods and their attributes, from devx-abi 2, 3 and 6; those of verbs from rdma-core's kernel-headers. */
#include "abi.h"

#define M true
#define O false
#define MBOX 16, 65535

const struct abi_method abi_methods[] = {
	{ 0x0000, 3, "GET_CONTEXT",
	  { { 0, OUT, 4, 4, O }, { 1, OUT, 8, 8, O }, { 2, IN, 4, 65535, O }, { 0x1000, IN, 8, 65535, O },
	    { 0x1001, OUT, 1, 65535, O } } },
	{ 0x0000, 0, "INVOKE_WRITE",
	  { { 0, IN, 4, 65535, O }, { 1, OUT, 4, 65535, O }, { 2, CONSTANT, 0, UINT32_MAX, M }, { 0x1000, IN, 1, 65535, O },
	    { 0x1001, OUT, 1, 65535, O } } },
	{ 0x0000, 1, "INFO_HANDLES", { { 0, CONSTANT, 0, UINT32_MAX, M }, { 1, OUT, 4, 4, O }, { 2, OUT, 4, 65535, M } } },
	{ 0x0000, 2, "QUERY_PORT", { { 0, CONSTANT, 0, 255, M }, { 1, OUT, 4, 65535, M } } },
	{ 0x0000, 4, "QUERY_CONTEXT", { { 0, OUT, 4, 4, O }, { 1, OUT, 8, 8, O }, { 0x1000, OUT, 72, 65535, M } } },
	{ 0x0012, 0, "DMABUF_ALLOC", { { 0, FD_NEW, 0, 0, M }, { 1, IN, 8, 8, M } } },
	{ 0x0010, 0, "ASYNC_EVENT_ALLOC", { { 0, FD_NEW, 0, 0, M } } },
	{ 0x1000, 0x1000, "DEVX_OTHER", { { 0x1000, IN, MBOX, M }, { 0x1001, OUT, MBOX, M } } },
	{ 0x1000, 0x1001, "DEVX_QUERY_UAR", { { 0x1000, IN, 4, 4, M }, { 0x1001, OUT, 4, 4, M } } },
	{ 0x1000, 0x1002, "DEVX_QUERY_EQN", { { 0x1000, IN, 4, 4, M }, { 0x1001, OUT, 4, 4, M } } },
	{ 0x1000, 0x1003, "DEVX_SUBSCRIBE_EVENT",
	  { { 0x1000, FD, 0, 0, M }, { 0x1001, IDR, 0, 0, O }, { 0x1002, IN, 2, 65535, M }, { 0x1003, IN, 4, 4, O },
	    { 0x1004, IN, 8, 8, O } } },
	{ 0x1001, 0x1000, "OBJ_CREATE", { { 0x1000, IDR_NEW, 0, 0, M }, { 0x1001, IN, MBOX, M }, { 0x1002, OUT, MBOX, M } } },
	{ 0x1001, 0x1001, "OBJ_DESTROY", { { 0x1000, IDR_END, 0, 0, M } } },
	{ 0x1001, 0x1002, "OBJ_MODIFY", { { 0x1000, IDR, 0, 0, M }, { 0x1001, IN, MBOX, M }, { 0x1002, OUT, MBOX, M } } },
	{ 0x1001, 0x1003, "OBJ_QUERY", { { 0x1000, IDR, 0, 0, M }, { 0x1001, IN, MBOX, M }, { 0x1002, OUT, MBOX, M } } },
	{ 0x1001, 0x1004, "OBJ_ASYNC_QUERY",
	  { { 0x1000, IDR, 0, 0, M }, { 0x1001, IN, MBOX, M }, { 0x1002, FD, 0, 0, M }, { 0x1003, IN, 8, 8, M },
	    { 0x1004, CONSTANT, 0, 65535, M } } },
	{ 0x1002, 0x1000, "UMEM_REG",
	  { { 0x1000, IDR_NEW, 0, 0, M }, { 0x1001, IN, 8, 8, M }, { 0x1002, IN, 8, 8, M }, { 0x1003, FLAGS, 0, 0x100007, O },
	    { 0x1004, OUT, 4, 4, M }, { 0x1005, CONSTANT, 0, UINT64_MAX, O }, { 0x1006, RAW_FD, 0, 0, O } } },
	{ 0x1002, 0x1001, "UMEM_DEREG", { { 0x1000, IDR_END, 0, 0, M } } },
	{ 0x1004, 0x1000, "ASYNC_CMD_FD_ALLOC", { { 0x1000, FD_NEW, 0, 0, M } } },
	{ 0x1005, 0x1000, "ASYNC_EVENT_FD_ALLOC", { { 0x1000, FD_NEW, 0, 0, M }, { 0x1001, FLAGS, 0, 1, M } } },
	{ 0x1008, 0x1000, "UAR_ALLOC",
	  { { 0x1000, IDR_NEW, 0, 0, M }, { 0x1001, CONSTANT, 0, 1, M }, { 0x1002, OUT, 8, 8, M }, { 0x1003, OUT, 4, 4, M },
	    { 0x1004, OUT, 4, 4, M } } },
	{ 0x1008, 0x1001, "UAR_DESTROY", { { 0x1000, IDR_END, 0, 0, M } } },
	{ 0, 0, NULL, { { 0, NONE, 0, 0, O } } },
};
