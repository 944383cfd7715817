# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Sourced by the scripts that look at $count cards in a guest, after tap.sh.
drv=/sys/bus/pci/drivers/mlx5_core

functions() { # PCI addresses of the devices, bound or not
	local d
	for d in /sys/bus/pci/devices/*; do
		[ "$(cat "$d/vendor")" = 0x15b3 ] && basename "$d"
	done
}
verbs() { # how many verbs devices there are
	find /sys/class/infiniband /sys/class/infiniband_verbs -mindepth 1 -maxdepth 1 \( -name 'mlx5_*' -o -name 'uverbs*' \) 2>/dev/null | wc -l
}
are() { # so many devices, each with its uverbs node
	local d
	[ "$(verbs)" -eq $((2 * $1)) ] || return 1
	for d in /sys/class/infiniband_verbs/uverbs*; do
		[ "$1" -eq 0 ] || [ -c "/dev/infiniband/$(basename "$d")" ] || return 1
	done
}
netdevs() { # each function has its Ethernet interface
	local f
	for f in $(functions); do
		[ -n "$(ls "/sys/bus/pci/devices/$f/net" 2>/dev/null)" ] || { echo "no interface: $f"; return 1; }
	done
}
devinfo() {
	local out
	out=$(ibv_devinfo -v) || return
	printf '%s\n' "$out"
	[ "$(printf '%s\n' "$out" | grep -c '^hca_id:')" -eq "$count" ]
}
links() {
	local out
	out=$(rdma link show) || return
	printf '%s\n' "$out"
	[ "$(printf '%s\n' "$out" | grep -c '^link mlx5_[0-9]*/1 .* netdev ')" -eq "$count" ]
}
usable() { await 20 are "$count" && netdevs && devinfo && links; }
quiet() { dmesg | python3 "$here/dmesg.py" "$here/../dmesg.allowed"; }
