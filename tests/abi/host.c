/* SPDX-License-Identifier: BSD-2-Clause */
/* A program that links to no RDMA library: one of its plugins does, and is loaded so that only it sees rdma-core. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	int (*body)(void);
	void *plugin;
	int ret;

	if (argc != 2)
		return 2;
	plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	if (!plugin) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	body = (int (*)(void))dlsym(plugin, "abi_body");
	if (!body)
		return 1;
	ret = body();
	/* The plugin may go, and its libraries with it, and come back. */
	dlclose(plugin);
	plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	if (!plugin)
		return 1;
	body = (int (*)(void))dlsym(plugin, "abi_body");
	return ret || !body || body();
}
