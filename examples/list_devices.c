/* SPDX-License-Identifier: BSD-2-Clause */
/* The devices: name, GUID, and whether it is one for mlx5dv. */
#include <endian.h>
#include <err.h>
#include <infiniband/mlx5dv.h>
#include <stdio.h>

int main(void)
{
	int n;
	struct ibv_device **list = ibv_get_device_list(&n);

	if (!list)
		err(1, "ibv_get_device_list");
	for (int i = 0; i < n; i++)
		printf("%s guid 0x%016llx %s\n", ibv_get_device_name(list[i]),
		       (unsigned long long)be64toh(ibv_get_device_guid(list[i])),
		       mlx5dv_is_supported(list[i]) ? "mlx5" : "other");
	ibv_free_device_list(list);
	return 0;
}
