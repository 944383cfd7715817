/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef ABI_FAKE_H
#define ABI_FAKE_H

/* One of the fake libraries: what its last call was, and what the next ones shall do. */
struct fake {
	const char *name;
	unsigned int calls;
	long arg[6];
	long result;
	int err;            /* errno of the next calls; the device list then fails */
	void *devices[4];
	int n_devices;
	void **list;        /* the last list that was handed out */
	void *mlx5_device;  /* the one that mlx5dv_is_supported says yes to */
};

#endif
